"""How many clusters there are, or which resolution a graph has: records shown as text, data frame and figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.above import figure
from ensemblage.base.text import html_table, listing, text_table, to_frame
from ensemblage.labels.ensemble import Ensemble
from ensemblage.stability._structure import Structure

VOTERS = ("prediction strength", "lifetime", "gap", "components", "silhouette")
"""The five criteria; of numbers with as many votes the first one that names one of them decides."""
AGREED = "the number at which several algorithms agree most"
CLEAR, LIKELY = 4, 3
"""Least votes for a number of clusters to be called clear, and likely."""


class KRow(NamedTuple):
    """What a number of clusters is worth."""

    k: int
    log_within: float
    """ln W_k / W_1: of the sum of squares within the clusters of k-means, as a share of that of one cluster."""
    reference_low: float
    """5 % quantile of the same of single clouds of this shape."""
    reference_mean: float
    """Their mean."""
    reference_high: float
    """95 % quantile."""
    gap: float
    """How far that is below their mean."""
    gap_error: float
    """s_k, their standard deviation times √(1 + 1/R)."""
    p_value: float
    """Share of the single clouds, and the data themselves, with as small a value: of this number alone."""
    strength: float
    """Prediction strength of k-means, mean over halves."""
    strength_error: float
    """Its standard error."""
    stability: float
    """Mean adjusted Rand index of the clusters of a half with those transferred from the other."""
    silhouette: float
    """Mean silhouette of k-means' clusters."""
    ward: float
    """Adjusted Rand index of k-means' clusters with those of Ward's linkage."""
    average: float
    """The same with average linkage."""
    votes: tuple[str, ...]
    """Criteria that name this number."""
    status: str
    """"best", "supported" (a criterion names it, or a peak of prediction strength above .8) or ""."""


@dataclass(frozen=True, repr=False, eq=False)
class KChoice:
    """The suggested numbers of clusters and how clear they are; `choose_k` makes it."""

    structure: Structure
    """Whether there are clusters at all: ``p_value``, ``found``, ``sentence``."""
    best: int
    """The number of clusters that most criteria name, or more than they looked at, by ``agreement``; 2 or more, also
    where no structure was found."""
    votes: dict[str, int | None]
    """What each criterion names; 1 for one cluster, None for no vote."""
    also_stable: list[int]
    """Other numbers at a peak of prediction strength above .8: groups of clusters, or parts."""
    table: list[KRow]
    """One row per number of clusters, ascending."""
    labels: dict[int, NDArray[np.int32]]
    """The clusters of k-means for each number, of ``objects``."""
    objects: NDArray[np.intp]
    """The objects that were looked at: all, or a sample."""
    notes: list[str]
    """What limits the answer."""
    agreement: dict[int, float] = field(default_factory=dict)
    """For each number the mean adjusted Rand index of several algorithms with their consensus; only where that speaks
    for more clusters than the criteria looked at, and these disagree."""
    backend: str | None = None
    """Library of the data frames: that of X, else the first that is installed."""

    @property
    def n_votes(self) -> int:
        """Criteria that name ``best``."""
        return sum(k == self.best for k in self.votes.values())

    @property
    def evidence(self) -> str:
        """ "clear" (4 or 5 criteria agree), "likely" (3), "ambiguous", or "none" where no structure was found."""
        if not self.structure.found:
            return "none"
        return "clear" if self.n_votes >= CLEAR else "likely" if self.n_votes >= LIKELY else "ambiguous"

    @property
    def sentence(self) -> str:
        """The answer for people."""
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        k, n = self.best, self.n_votes
        others = {named: [v for v in self.votes if self.votes[v] == named] for named in set(self.votes.values())}
        if self.evidence == "none":
            yield self.structure.sentence
            because = f"which {n} of {len(self.votes)} criteria name{'s' * (n == 1)}"
            yield f"If there must be clusters: {k}, {AGREED if self.agreement else because}."
        elif self.evidence == "clear":
            yield f"{k} clusters: {'all five' if n == len(self.votes) else 'four of five'} criteria agree."
        elif self.evidence == "likely":
            for_others = sorted((named, who) for named, who in others.items() if named is not None and named != k)
            said = [f"{' and '.join(who)} say{'s' * (len(who) == 1)} {named}" for named, who in for_others]
            yield f"Probably {k} clusters, which three of five criteria name{': ' * bool(said)}{'; '.join(said)}."
        else:
            named = sorted({v for v in self.votes.values() if v is not None})
            because = f", {AGREED}" if self.agreement else ""
            yield (
                f"The criteria disagree: {listing(named)} are named. {k} is taken{because}. "
                "Choose by use, or by the stability of the clusters of each."
            )
        if self.also_stable and self.structure.found:
            yield f"Also stable: {listing(self.also_stable)} groups."

    def n_clusters(self, allow_one: bool = False) -> int:
        """How many clusters to make: ``best``, or 1 where no structure was found.

        Parameters
        ----------
        allow_one : bool, default False
            Whether 1 is an answer.

        Returns
        -------
        int
            Number of clusters.
        """
        return 1 if allow_one and not self.structure.found else self.best

    def to_frame(self) -> Any:
        """A data frame with a row per number of clusters.

        Returns
        -------
        data frame
            Of the library of X, or the first that is installed of pandas, polars and pyarrow; without any, a dict.
        """
        columns = {name: [getattr(row, name) for row in self.table] for name in KRow._fields}
        return to_frame(columns | {"votes": [", ".join(row.votes) for row in self.table]}, self.backend)

    def plot(self, kind: str = "gap", *, ax: Any = None) -> Any:
        """Draw what speaks for each number of clusters.

        Parameters
        ----------
        kind : {"gap", "criteria", "strength"}, default "gap"
            "gap": ln W_k / W_1 against that of single clouds. "criteria": those that are at most 1, a line each.
            "strength": the prediction strength with its standard error.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        return figure(self, kind, ax=ax)

    def _repr_html_(self) -> str:
        head = ["k", "gap", "p", "strength", "silhouette", "named by", ""]
        rows, bold = [], []
        for i, row in enumerate(self.table):
            bold += [i] * (row.k == self.best)
            numbers = [f"{row.gap:.3f} ± {row.gap_error:.3f}", f"{row.p_value:.2f}"]
            numbers += [f"{row.strength:.2f} ± {row.strength_error:.2f}", f"{row.silhouette:.2f}"]
            rows.append([str(row.k), *numbers, ", ".join(row.votes), row.status])
        notes = "".join(f"<br>{escape(note)}" for note in self.notes)
        return f"<div><b>{escape(self.sentence)}</b>{html_table(head, rows, len(rows), bold)}{notes}</div>"

    def __repr__(self) -> str:
        head = ("k", "gap", "p", "strength", "silhouette", "votes", "")
        lines = [
            (
                str(row.k), f"{row.gap:.3f} ± {row.gap_error:.3f}", f"{row.p_value:.2f}",
                f"{row.strength:.2f} ± {row.strength_error:.2f}", f"{row.silhouette:.2f}", str(len(row.votes)),
                row.status,
            )
            for row in self.table
        ]  # fmt: skip
        return "\n".join([f"KChoice: {self.sentence}", text_table([head, *lines]), *self.notes])


STABLE, DOUBTFUL = 0.85, 0.7
"""Least stability that is called so. Of single clouds it is .5 and less in many dimensions, up to .8 in one and two."""

LEAST_JACCARD, LEAST_SHARE = 0.75, 0.9
"""Least mean similarity of a reproduced cluster, and least share of the objects in such clusters."""
LEAST_WEIGHT = 0.1
"""Of a story that is told."""


class ResolutionRow(NamedTuple):
    """What a resolution is worth."""

    resolution: float
    n_clusters: int
    """Of all objects."""
    stability: float
    """Mean adjusted Rand index of the partitions of two resamples, on the objects that are in both."""
    lowest: float
    """The mean of the resample that agrees least with the others."""
    found_again: float
    """Share of the objects in reproduced clusters: of a mean Jaccard similarity of .75 or more."""
    agreement: float
    """Adjusted Rand index of the clusters of all objects with those at the resolution before; NaN of the first."""
    plateau: int | None
    """Its place among the plateaus; None where there is one cluster."""
    status: str
    """"best", "stable", "doubtful", "unstable", or "" where there is one cluster."""


@dataclass(frozen=True, repr=False, eq=False)
class Plateau:
    """Successive resolutions at which the clusters are about the same, and the consensus of their resamples."""

    resolutions: tuple[float, ...]
    stability: float
    """Mean over its resolutions."""
    found_again: float
    """Likewise the share of the objects in reproduced clusters."""
    n_clusters: int
    """At its most stable resolution."""
    resolution: float
    """That one."""
    consensus: Any
    """The fitted consensus of all its partitions: ``labels_``, ``confidence_``, ``runner_up_``."""
    ensemble: Any
    """These partitions, an `Ensemble`."""
    modes: Any
    """`ConsensusModes` of its partitions: whether they tell one story; None where that takes too long."""

    @property
    def verdict(self) -> str:
        """ "stable", "doubtful" or "unstable"."""
        if self.stability >= STABLE and self.found_again >= LEAST_SHARE:
            return "stable"
        return "doubtful" if self.stability >= DOUBTFUL else "unstable"

    @property
    def n_modes(self) -> int:
        """Stories that at least a tenth of its partitions tell each; 1 where nobody looked."""
        return 1 if self.modes is None else max(1, int((np.asarray(self.modes.weights_) >= LEAST_WEIGHT).sum()))

    @property
    def interval(self) -> str:
        """From which resolution to which."""
        low, high = self.resolutions[0], self.resolutions[-1]
        return f"{low:g}" if low == high else f"{low:g} to {high:g}"

    def __repr__(self) -> str:
        stories = "" if self.n_modes == 1 else f", {self.n_modes} stories"
        return (
            f"Plateau({self.interval}: {self.n_clusters} clusters, stability {self.stability:.2f}, "
            f"{self.verdict}{stories})"
        )


@dataclass(frozen=True, repr=False, eq=False)
class ResolutionChoice:
    """The resolutions with reproducible clusters, and the chosen one; made by `choose_resolution`."""

    table: list[ResolutionRow]
    """A row per resolution, ascending."""
    plateaus: list[Plateau]
    """Runs of resolutions with more than one cluster, ascending."""
    best: int | None
    """The plateau to take: of the stable ones that with most clusters, else as `choose_resolution` says."""
    labels: dict[float, NDArray[np.int32]]
    """(n,) the clusters of all objects at each resolution."""
    cluster_stability: dict[float, NDArray[np.float64]]
    """(k,) how well the resamples find each of them again: the mean of the largest Jaccard similarities."""
    n_resamples: int
    notes: list[str]
    """What was clustered, and what limits the answer."""
    backend: str | None = None
    """Library of the data frames."""
    inconsistency: dict[float, float] = field(default_factory=dict)
    """That of scICE, of the partitions of the resamples at each resolution: 1 if all are equal, else larger; computed
    from the objects that two of them share."""

    @property
    def plateau(self) -> Plateau | None:
        """The plateau to take."""
        return None if self.best is None else self.plateaus[self.best]

    @property
    def consensus(self) -> Any:
        """Its consensus, for `to_anndata` and all that takes a fitted model; None where there are no clusters."""
        return None if self.plateau is None else self.plateau.consensus

    @property
    def ensemble(self) -> Any:
        """What was combined; without a plateau the partitions of all objects."""
        return (
            Ensemble._made(np.column_stack(list(self.labels.values())))
            if self.plateau is None
            else self.plateau.ensemble
        )

    @property
    def resolution(self) -> float | None:
        """Its most stable resolution."""
        return None if self.plateau is None else self.plateau.resolution

    @property
    def evidence(self) -> str:
        """ "stable", "doubtful" or "unstable", as the plateau to take; "none" without clusters."""
        return "none" if self.plateau is None else self.plateau.verdict

    @property
    def sentence(self) -> str:
        """The answer for people."""
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        chosen = self.plateau
        if chosen is None:
            yield "There is one cluster at all of these resolutions. Higher resolutions may have more."
            return
        found = self._clusters_at(chosen, "resolution ")
        number = f"mean ARI of two resamples {chosen.stability:.2f}"
        if chosen.verdict == "stable":
            yield f"{found} are reproduced in resamples ({number})."
        elif chosen.verdict == "doubtful":
            yield f"No resolution is stable. {found} are nearest to it ({number})."
            yield "The assignment of objects is uncertain."
        else:
            yield "At no resolution are clusters reproduced: they may cut a continuum."
            yield f"If clusters are needed: {found} ({number})."
        others = [p for p in self.plateaus if p is not chosen and p.verdict == "stable"]
        if others:
            yield f"Also stable: {listing([self._clusters_at(p) for p in others])}."
        if chosen.n_modes > 1:
            shares = listing([f"{weight:.0%}" for weight in chosen.modes.weights_ if weight >= LEAST_WEIGHT])
            yield f"One consensus is not all: the partitions tell {chosen.n_modes} stories ({shares} of them)."

    def _numbers_of(self, plateau: Plateau) -> tuple[int, int]:
        """The least and the largest number of clusters of all objects at its resolutions."""
        found = [row.n_clusters for row in self.table if row.resolution in plateau.resolutions]
        return min(found), max(found)

    def _clusters_at(self, plateau: Plateau, word: str = "") -> str:
        """How many clusters a plateau has, and where; where its resolutions differ, those at the most stable one."""
        least, most = self._numbers_of(plateau)
        if least == most:
            return f"{most} clusters at {word}{plateau.interval}"
        return (
            f"{plateau.n_clusters} clusters at {word}{plateau.resolution:g} ({least} to {most} at {plateau.interval})"
        )

    def to_frame(self) -> Any:
        """A data frame with a row per resolution.

        Returns
        -------
        data frame
            Of the first library that is installed of pandas, polars and pyarrow; without any, a dict.
        """
        return to_frame(
            {name: [getattr(row, name) for row in self.table] for name in ResolutionRow._fields}, self.backend
        )

    def plot(self, kind: str = "clustree", *, ax: Any = None) -> Any:
        """Draw the clusters or their stability, by resolution.

        Parameters
        ----------
        kind : {"clustree", "stability"}, default "clustree"
            "clustree": the clustering tree, its clusters coloured by how well resamples find them again. "stability":
            how well the partitions of resamples agree, and the plateaus.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        return figure(self, kind, ax=ax)

    def __repr__(self) -> str:
        head = ("resolution", "clusters", "stability", "lowest", "reproduced", "as before", "plateau", "")
        lines = [
            (
                f"{row.resolution:g}", str(row.n_clusters), f"{row.stability:.2f}", f"{row.lowest:.2f}",
                f"{row.found_again:.0%}",
                "" if row.agreement != row.agreement else f"{row.agreement:.2f}",
                "" if row.plateau is None else str(row.plateau + 1), row.status,
            )
            for row in self.table
        ]  # fmt: skip
        return "\n".join([f"ResolutionChoice: {self.sentence}", text_table([head, *lines]), *self.notes])
