"""What was found of stability and of splits: records that show themselves as text, data frame and figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.above import figure
from ensemblage.base.text import listing, some, text_table, to_frame
from ensemblage.stability._dip import limits_sentence

DISSOLVED, RECOVERED = 0.5, 0.75
"""A cluster is dissolved with a Jaccard similarity up to the one, recovered above the other (Hennig 2007)."""
VERDICTS = {"very stable": 0.85, "stable": 0.75, "doubtful": 0.6, "unstable": 0.0}
"""Least mean Jaccard similarity of each word: the conventions of fpc."""
MOST_NAMED, MOST_LINES = 8, 40
"""Clusters that a sentence names, and lines of a table as text."""


class ClusterRow(NamedTuple):
    """How stable a cluster is."""

    cluster: Any
    """Its label."""
    size: int
    """Its objects."""
    mean_jaccard: float
    """Mean over the comparisons of the largest Jaccard similarity with a cluster; NaN if there was none."""
    standard_error: float
    """Of that mean; NaN for fewer than two comparisons."""
    dissolved: int
    """Comparisons with a similarity of at most ½."""
    recovered: int
    """Comparisons with a similarity above ¾."""
    n_compared: int
    """Comparisons that it took part in."""
    n_not_drawn: int
    """Those in which none of its objects was drawn."""
    verdict: str
    """"very stable" (a mean of .85 or more), "stable" (.75), "doubtful" (.6), "unstable", or "not drawn"."""
    sentence: str
    """The same for people."""


def cluster_row(
    cluster: Any, size: int, jaccard: NDArray[np.float64], weights: NDArray[np.float64], places: str, *, zero: bool
) -> ClusterRow:
    """The row of a cluster from its (p,) similarities and their weights.

    NaN, where it was not drawn, is left out, or counts as 0 if ``zero``.
    """
    p, n_missed = len(jaccard), int(np.isnan(jaccard).sum())
    kept = np.full(p, True) if zero else ~np.isnan(jaccard)
    found, w = np.nan_to_num(jaccard[kept]), weights[kept] / max(weights[kept].sum(), 1e-300)
    mean = float((found * w).sum()) if len(found) else np.nan
    share = float((w**2).sum())  # 1 / len(found) for equal weights
    error = float(np.sqrt((w * (found - mean) ** 2).sum() * share / (1 - share))) if 0 < share < 1 else np.nan
    dissolved, recovered = int((found <= DISSOLVED).sum()), int((found > RECOVERED).sum())
    verdict = verdict_of(mean)
    absent = "not labelled" if places == "members" else "not drawn"
    subject = f"{'The noise' if cluster is None else f'Cluster {cluster}'} ({size:,} object{'s' * (size != 1)})"
    if not len(found):
        sentence = f"{subject} was {absent} in any of {count_text(p, places)}: nothing is known of it."
    else:
        doubt = ": there is a pattern, but which objects belong to it is open" if verdict == "doubtful" else ""
        missed = f", {absent} in {n_missed}" if n_missed else ""
        sentence = (
            f"{subject} is {verdict}{doubt}; mean Jaccard {mean:.2f}, dissolved in {dissolved} and recovered in "
            f"{recovered} of {count_text(p, places)}{missed}."
        )
    label = -1 if cluster is None else cluster
    return ClusterRow(label, size, mean, error, dissolved, recovered, len(found), n_missed, verdict, sentence)


def count_text(n: int, places: str) -> str:
    """1 bootstrap, 2 bootstraps."""
    return f"{n} {places}" if n != 1 else f"1 {places.replace('copies', 'copy').removesuffix('s')}"


def verdict_of(mean: float) -> str:
    """The word for a mean Jaccard similarity."""
    return next((word for word, least in VERDICTS.items() if mean >= least), "not drawn")


@dataclass(frozen=True, eq=False, repr=False)
class ClusterStability:
    """How stable the clusters are; `cluster_stability` and `partition_stability` make it."""

    table: list[ClusterRow]
    """One row per cluster, by its label."""
    noise: ClusterRow | None
    """The objects that are in no cluster, compared with those of each resample; None if there are none."""
    jaccard: NDArray[np.float64]
    """(k, p) the similarity of each cluster in each comparison, NaN where none of its objects was drawn."""
    labels: NDArray[Any]
    """(n,) the cluster of each object as its row in ``table``; -1 for none."""
    compared_with: str
    """"bootstraps", "subsamples", "jittered copies", "noisy copies", "given resamples" or "members"."""
    backend: str | None = None
    """Library of the data frames: that of X, else the first that is installed."""

    @property
    def mean_jaccard(self) -> NDArray[np.float64]:
        """(k,) that of each cluster."""
        return np.array([row.mean_jaccard for row in self.table])

    @property
    def sentence(self) -> str:
        """All clusters in a sentence."""
        if not self.table:
            return "There is no cluster."
        by_verdict = {
            word: [str(r.cluster) for r in self.table if r.verdict == word] for word in [*VERDICTS, "not drawn"]
        }
        parts = [
            f"cluster{'s' * (len(clusters) > 1)} {listing(clusters)} {word}"
            if len(clusters) <= MOST_NAMED
            else f"{len(clusters)} of them {word}"
            for word, clusters in by_verdict.items()
            if clusters
        ]
        k, p = self.jaccard.shape
        return f"{k} cluster{'s' * (k > 1)} in {count_text(p, self.compared_with)}: {'; '.join(parts)}."

    def to_frame(self) -> Any:
        """A data frame with a row per cluster, noise last.

        Returns
        -------
        data frame
            Of the library of X, or the first that is installed of pandas, polars and pyarrow; without any, a dict.
        """
        return to_frame(columns_of(self._rows()), self.backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the similarities of every cluster and the bounds of the verdicts.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        return figure(self, ax=ax)

    def _rows(self) -> list[ClusterRow]:
        return [*self.table, *([self.noise] if self.noise else [])]

    def __repr__(self) -> str:
        head = ("cluster", "size", "mean Jaccard", "dissolved", "recovered", "not drawn", "verdict")
        lines = [
            (
                row.cluster,
                row.size,
                f"{row.mean_jaccard:.3f}",
                row.dissolved,
                row.recovered,
                row.n_not_drawn,
                row.verdict,
            )
            for row in self._rows()
        ]
        return f"{type(self).__name__}: {self.sentence}\n{text_table([head, *lines], MOST_LINES)}"


class StrengthRow(NamedTuple):
    """What a number of clusters is worth."""

    k: int
    mean: float
    """Mean prediction strength over the splits."""
    standard_error: float
    """Of that mean over the splits; 0 for one split."""
    supported: bool
    """Whether mean and standard error together exceed 0.8."""
    agreement: float
    """Mean adjusted Rand index of the clusters of a half with those transferred from the other half."""


@dataclass(frozen=True, eq=False, repr=False)
class PredictionStrength:
    """How well the clusters of one half of the objects predict those of the other; `prediction_strength` makes it."""

    table: list[StrengthRow]
    """One row per number of clusters, ascending."""
    values: NDArray[np.float64]
    """(len(table), n_splits) the strength in each split, the mean of both directions."""
    transfer: str
    """How objects were given to clusters of the other half: "predict", "centroid", "nearest" or "average"."""
    backend: str | None = None
    """Library of the data frames: that of X, else the first that is installed."""

    @property
    def supported(self) -> list[int]:
        """The numbers of clusters whose mean and standard error together exceed 0.8, ascending."""
        return [row.k for row in self.table if row.supported]

    @property
    def best(self) -> int | None:
        """The largest number of clusters that is supported; None if none is."""
        return max(self.supported, default=None)

    @property
    def sentence(self) -> str:
        """What is supported, in a sentence."""
        ks = [row.k for row in self.table]
        asked = str(ks[0]) if len(ks) == 1 else f"{ks[0]} to {ks[-1]}"
        if self.best is None:
            return f"No number of clusters of {asked} is supported."
        found = f"{listing([str(k) for k in self.supported])} cluster{'s' * (self.supported != [1])}"
        several = len(self.supported) > 1
        most = f"; {self.best} are the most" * several
        return f"{found} {'are' if self.supported != [1] else 'is'} supported, of {asked}{most}."

    def to_frame(self) -> Any:
        """A data frame with a row per number of clusters.

        Returns
        -------
        data frame
            Of the library of X, or the first that is installed of pandas, polars and pyarrow; without any, a dict.
        """
        return to_frame(columns_of(self.table), self.backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the strength by the number of clusters.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        return figure(self, ax=ax)

    def __repr__(self) -> str:
        head = ("k", "mean", "standard error", "supported")
        lines = [(r.k, f"{r.mean:.3f}", f"{r.standard_error:.3f}", "yes" if r.supported else "no") for r in self.table]
        return f"{type(self).__name__}: {self.sentence}\n{text_table([head, *lines], MOST_LINES)}"


def columns_of(rows: Sequence[Any]) -> dict[str, list[Any]]:
    names = type(rows[0])._fields if rows else ()
    return {name: [getattr(row, name) for row in rows] for name in names}


LEAST_P = 1e-4
"""A smaller p-value is written so."""
TESTS = {"unimodal": "a linear test", "gaussian": "a test against one Gaussian"}


class SplitRow(NamedTuple):
    """What the test says of a split."""

    left: list[Any]
    """Labels of the clusters on one side ..."""
    right: list[Any]
    """... and on the other."""
    n: int
    """Objects on both sides."""
    p_value: float
    """NaN where it was not tested, since a split above it is not supported."""
    level: float
    """α (n − 1) / (all objects − 1): the split is supported by p ≤ level."""
    verdict: str
    """"supported", "not supported" or "not tested"."""
    sentence: str
    """The same for people."""

    @classmethod
    def of(cls, left: list[Any], right: list[Any], n: int, p_value: float, level: float) -> Self:
        """The row with its verdict and its sentence."""
        verdict = "not tested" if math.isnan(p_value) else "supported" if p_value <= level else "not supported"
        numbers = f"p {p_text(p_value)}, level {level:.2g}"
        why = "as a split above it is not supported" if verdict == "not tested" else numbers
        subject = f"{clusters_text(left)} from {clusters_text(right)}"
        return cls(left, right, n, p_value, level, verdict, f"The split of {subject}: {verdict} ({why}).")


def clusters_text(names: Sequence[Any]) -> str:
    """cluster 3; clusters 1, 4 and 5."""
    return f"cluster{'s' * (len(names) > 1)} {some(names)}"


def p_text(p: float) -> str:
    return f"< {LEAST_P:g}".replace("0.", ".") if p < LEAST_P else f"= {p:.2g}"


@dataclass(frozen=True, eq=False, repr=False)
class SplitSupport:
    """Which splits between clusters are supported; `split_support` makes it."""

    table: list[SplitRow]
    """One row per split of the tree of the clusters, the coarsest first."""
    alpha: float
    """Error of the first kind of all tests together."""
    null: str
    """"unimodal" or "gaussian"."""
    n_clusters: int
    n_objects: int
    """Objects in a cluster."""
    n_noise: int
    """Objects in none."""
    n_limited: int
    """Features with limits of what was measured or round numbers, which stand for ranges of values in the tests."""
    backend: str | None = None
    """Library of the data frames: that of X, else the first that is installed."""

    @property
    def n_supported(self) -> int:
        """Splits that are supported."""
        return sum(row.verdict == "supported" for row in self.table)

    @property
    def sentence(self) -> str:
        """All splits in a sentence."""
        if not self.table:
            return "There is one cluster, and no split."
        n, of = self.n_supported, len(self.table)
        return f"{n} of {of} split{'s' * (of > 1)} {'is' if n == 1 else 'are'} supported by {TESTS[self.null]}."

    @property
    def note(self) -> str:
        """What was done with limits of what was measured and round numbers; "" without any."""
        return limits_sentence(self.n_limited, "feature")

    def to_frame(self) -> Any:
        """A data frame with a row per split.

        Returns
        -------
        data frame
            Of the library of X, or the first that is installed of pandas, polars and pyarrow; without any, a dict. The
            clusters of a side stand in one text.
        """
        sides = {side: [_names(getattr(row, side)) for row in self.table] for side in ("left", "right")}
        return to_frame({**columns_of(self.table), **sides}, self.backend)

    def __repr__(self) -> str:
        head = ("left", "right", "n", "p", "level", "verdict")
        lines = []
        for row in self.table:
            p = "" if math.isnan(row.p_value) else p_text(row.p_value).replace("= ", "").replace(" ", "")
            lines.append((some(row.left), some(row.right), row.n, p, f"{row.level:.3g}", row.verdict))
        text = f"{type(self).__name__}: {self.sentence}"
        return f"{text}\n{text_table([head, *lines], MOST_LINES)}" if lines else text


def _names(names: Sequence[Any]) -> str:
    return ", ".join(map(str, names))


@dataclass(frozen=True, eq=False, repr=False)
class MergedClusters:
    """The clusters that are left when splits without support are merged; `merge_unsupported` makes it."""

    labels: NDArray[np.int32]
    """(n,) the cluster of each object, numbered by their first objects; -1 for none."""
    groups: list[list[Any]]
    """Labels of the clusters that each one is made of."""
    sizes: list[int]
    """Objects of each."""
    support: SplitSupport
    """What was tested."""

    @property
    def merged(self) -> list[list[Any]]:
        """The groups of more than one cluster."""
        return [group for group in self.groups if len(group) > 1]

    @property
    def sentence(self) -> str:
        """What was merged, in a sentence."""
        before, after = self.support.n_clusters, len(self.groups)
        test = TESTS[self.support.null]
        if before == after:
            clusters = f"All {before} clusters stay" if before > 1 else "The cluster stays"
            return f"{clusters}; every split is supported by {test}." if before > 1 else f"{clusters}."
        return f"{before} clusters became {after}; splits that {test} does not support were merged."

    @property
    def reasons(self) -> list[str]:
        """For each group of several clusters, the test because of which they were merged, in a sentence."""
        failed = [row for row in self.support.table if row.verdict == "not supported"]
        noted = []
        for group in self.merged:
            row = next(row for row in failed if {*row.left, *row.right} == set(group))
            noted.append(
                f"Clusters {listing(map(str, group))} were merged: the split of {clusters_text(row.left)} from "
                f"{clusters_text(row.right)} is not supported by {TESTS[self.support.null]} (p {p_text(row.p_value)}, "
                f"level {row.level:.2g})."
            )
        return noted

    def to_frame(self) -> Any:
        """A data frame with a row per cluster that is left.

        Returns
        -------
        data frame
            Of the library of X, or the first that is installed of pandas, polars and pyarrow; without any, a dict.
        """
        columns: dict[str, list[Any]] = {
            "cluster": list(range(len(self.groups))),
            "size": self.sizes,
            "made_of": [_names(group) for group in self.groups],
        }
        return to_frame(columns, self.support.backend)

    def __repr__(self) -> str:
        lines = [(g, size, some(group)) for g, (size, group) in enumerate(zip(self.sizes, self.groups, strict=True))]
        text = f"{type(self).__name__}: {self.sentence}"
        return f"{text}\n{text_table([('cluster', 'size', 'made of'), *lines], MOST_LINES)}"
