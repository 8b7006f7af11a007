"""Which splits are supported, and what is left: records that show themselves as text and data frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import listing, some, text_table, to_frame
from ensemblage.stability._cells import limits_sentence
from ensemblage.stability._records import MOST_LINES, columns_of

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
        lines = [
            (some(row.left), some(row.right), row.n, _p_cell(row.p_value), f"{row.level:.3g}", row.verdict)
            for row in self.table
        ]
        text = f"{type(self).__name__}: {self.sentence}"
        return f"{text}\n{text_table([head, *lines], MOST_LINES)}" if lines else text


def _p_cell(p: float) -> str:
    return "" if math.isnan(p) else p_text(p).replace("= ", "").replace(" ", "")


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
        told = []
        for group in self.merged:
            row = next(row for row in failed if {*row.left, *row.right} == set(group))
            told.append(
                f"Clusters {listing(map(str, group))} were merged: the split of {clusters_text(row.left)} from "
                f"{clusters_text(row.right)} is not supported by {TESTS[self.support.null]} (p {p_text(row.p_value)}, "
                f"level {row.level:.2g})."
            )
        return told

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
