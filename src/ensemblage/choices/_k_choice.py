"""How many clusters there are, as a record that shows itself as text, data frame and figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.lazy import figure, html
from ensemblage.base.text import listing, text_table, to_frame
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

    def plot(self, *, ax: Any = None) -> Any:
        """Draw ln W_k / W_1 against that of single clouds, by the number of clusters.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        return figure("evidence_by_number", *self._curves(), n_clusters=self.best, ax=ax)

    def _curves(self) -> tuple[dict[int, float], dict[int, tuple[float, float, float]]]:
        rows = self.table
        bands = {row.k: (row.reference_low, row.reference_mean, row.reference_high) for row in rows}
        return {row.k: row.log_within for row in rows}, bands

    def _repr_html_(self) -> str:
        return html("choice_html", self)

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
