"""How similar two distinct label rows are: by the labels that they share, or by how similar their labels are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.consensus.hierarchies._label_similarity import LabelSimilarity
from ensemblage.kernels._average_linkage import Compared
from ensemblage.labels.rows import Rows

ROUNDING = 1e-12
"""A similarity this little above a threshold counts as equal to it."""


@dataclass(frozen=True)
class RowSimilarity:
    """Distinct rows and what makes two of them similar."""

    rows: Rows
    labels: LabelSimilarity
    threshold: float | None
    """Similarities up to it are 0."""
    n_jobs: int | None
    local: NDArray[np.float64] | None = None
    """(offsets[p],) weight of each label, 0 for missing; None: 1 for all."""

    @property
    def complete(self) -> bool:
        return self.rows.complete

    @property
    def countable(self) -> bool:
        """Whether a similarity is a number of partitions over another."""
        return not len(self.labels.flat) and self.local is None and self.rows.equally_weighted

    @property
    def weights(self) -> NDArray[np.float64]:
        """Equal weights are 1: sums of them are whole numbers."""
        return np.ones_like(self.rows.weights) if self.countable else self.rows.weights

    @property
    def joins(self) -> NDArray[np.float64]:
        """(offsets[p],) what a pair of rows that shares a label adds to its similarity, 0 for missing."""
        joins = np.repeat(self.weights, np.diff(self.rows.offsets))
        joins[self.rows.offsets[1:] - 1] = 0
        return joins if self.local is None else joins * self.local

    def with_most_clusters_first(self) -> RowSimilarity:
        """The same, with the partitions in another order: labels of many clusters tell most about a pair."""
        rows, labels, order = self.rows, self.labels, np.argsort(-self.rows.n_clusters, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(rows.n_clusters[order] + 1)])
        local = self.local
        if local is not None:
            of_partitions = np.split(local, rows.offsets[1:-1])
            local = np.concatenate([of_partitions[j] for j in order])
        rows = replace(rows, codes=rows.codes.columns(order), offsets=offsets, weights=rows.weights[order])
        return replace(self, rows=rows, labels=labels._replace(starts=labels.starts[order]), local=local)

    def levels(self) -> Levels:
        return levels_of(self.rows)

    @property
    def least(self) -> float:
        """Similarities up to it are 0; negative: none is made so."""
        return -1.0 if self.threshold is None else self.threshold + ROUNDING

    def missing(self) -> NDArray[Any]:
        """Code of the missing entry of each partition; empty if there is none."""
        n_clusters = self.rows.n_clusters.astype(self.rows.codes.dtype)
        return n_clusters[:0] if self.complete else n_clusters

    def comparison(self) -> Compared:
        """What the kernels need to compare labels."""
        flat, starts = self.labels
        return Compared(self.rows.offsets, self.weights, self.joins, flat, starts, self.complete)


class Levels(NamedTuple):
    """The different similarities, numbered from the smallest."""

    values: NDArray[np.float64]
    of_counts: NDArray[np.int64]
    """(p + 1, p + 1) number of the similarity of a pair that c partitions join and l label: entry (c, l); (p + 1, 1) if
    nothing is missing."""


def levels_of(rows: Rows) -> Levels:
    """The similarities there can be, by the partitions that join two rows and that label both."""
    p = len(rows.weights)
    joined = np.arange(p + 1)
    if rows.complete:
        return Levels(joined / p, joined[:, None])
    pairs = np.minimum.outer(joined, joined) / np.maximum(joined, 1)
    values, index = np.unique(pairs, return_inverse=True)
    return Levels(values, index.reshape(p + 1, p + 1))
