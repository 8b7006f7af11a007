"""Agglomerative hierarchies of label rows: single, average and complete linkage.

Rows are numbered in lexicographic order of their codes, and a cluster by its smallest row. Of equally similar pairs of
clusters the one with the smallest numbers (i, j), i < j, is merged first; with single linkage the numbers are those of
the two rows that are most similar. So no result depends on the order of the objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage._parallel import parallel_map, row_blocks
from ensemblage.consensus._base import Rows
from ensemblage.consensus._label_similarity import LabelSimilarity
from ensemblage.kernels._average import average_chain
from ensemblage.kernels._condensed import condensed_chain
from ensemblage.kernels._counts import BLOCK, fill_levels, spanning_tree_of_counts
from ensemblage.kernels._dendrogram import children_first, cut_merges, number_merges, raise_heights
from ensemblage.kernels._similarities import fill_similarities, spanning_tree_of_similarities

ROUNDING = 1e-12
"""A similarity this little above a threshold counts as equal to it."""


class Merges(NamedTuple):
    """A hierarchy over m rows, from the first merge to the last."""

    pairs: NDArray[np.int64]
    """(m - 1, 2) a row of either cluster."""
    heights: NDArray[np.float64]
    """(m - 1,) 1 - similarity, none below the one before."""


@dataclass(frozen=True)
class Evidence:
    """Distinct rows and what makes two of them similar."""

    rows: Rows
    labels: LabelSimilarity
    threshold: float | None
    """Similarities up to it are 0."""
    n_jobs: int | None

    @property
    def complete(self) -> bool:
        return not (self.rows.codes == self.rows.n_clusters).any()

    @property
    def countable(self) -> bool:
        """Whether a similarity is a number of partitions over another."""
        return not len(self.labels.flat) and bool((self.rows.weights == self.rows.weights[0]).all())

    @property
    def weights(self) -> NDArray[np.float64]:
        """Equal weights are 1: sums of them are whole numbers."""
        return np.ones_like(self.rows.weights) if self.countable else self.rows.weights

    def levels(self) -> Levels:
        """The similarities there can be, by the partitions that join two rows and that label both."""
        p = len(self.rows.weights)
        joined = np.arange(p + 1)
        if self.complete:
            return Levels(joined / p, joined)
        pairs = np.minimum.outer(joined, joined) / np.maximum(joined, 1)
        values, index = np.unique(pairs, return_inverse=True)
        return Levels(values, index.reshape(-1))

    def missing(self) -> NDArray[Any]:
        """Code of the missing entry of each partition; empty if there is none."""
        n_clusters = self.rows.n_clusters.astype(self.rows.codes.dtype)
        return n_clusters[:0] if self.complete else n_clusters

    def tables(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """What the kernels need to compare labels: offsets, weights, similarities and where those begin."""
        return self.rows.offsets, self.weights, self.labels.flat, self.labels.starts


class Levels(NamedTuple):
    """The different similarities, numbered from the smallest."""

    values: NDArray[np.float64]
    of_counts: NDArray[np.int64]
    """Number of the similarity of a pair that c partitions join: entry c; or, with missing labels, of a pair that l
    label: entry c (p + 1) + l."""


def single_linkage(evidence: Evidence) -> Merges:
    """Minimum spanning tree. O(m² p) time and O(m p) memory for m rows."""
    pairs, similarities = _tree_of_counts(evidence) if evidence.countable else _tree_of_similarities(evidence)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -similarities))
    pairs, similarities = pairs[order], similarities[order]
    least = 0.0 if evidence.threshold is None else evidence.threshold + ROUNDING
    # All clusters that are left have similarity 0 to each other: the first one takes the others in turn.
    n_joined = int(np.count_nonzero(similarities > least))
    clusters = np.empty(len(pairs) + 1, dtype=np.int64)
    cut_merges(pairs[:n_joined], clusters)
    pairs[n_joined:, 0], pairs[n_joined:, 1] = 0, np.unique(clusters, return_index=True)[1][1:]
    similarities[n_joined:] = 0
    return Merges(pairs, 1 - similarities)


def _tree_of_counts(evidence: Evidence) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    m, p = evidence.rows.codes.shape
    levels = evidence.levels()
    most, bits = len(levels.values) - 1, (m - 1).bit_length()
    # The largest key stands for "no edge yet".
    key = np.uint32 if (most + 1) << bits < 2**32 else np.uint64
    keys = np.full(m, np.iinfo(key).max, dtype=key)
    counter = np.empty((2, BLOCK), dtype=np.min_scalar_type(p))
    pairs, ranks = _merge_arrays(m, np.int64)
    columns = evidence.rows.codes.T.copy(order="C")
    spanning_tree_of_counts(columns, evidence.missing(), most - levels.of_counts, bits, keys, counter, pairs, ranks)
    return pairs, levels.values[most - ranks]


def _tree_of_similarities(evidence: Evidence) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    pairs, similarities = _merge_arrays(len(evidence.rows), np.float64)
    spanning_tree_of_similarities(evidence.rows.codes, *evidence.tables(), pairs, similarities)
    return pairs, similarities


def average_linkage(evidence: Evidence) -> Merges:
    """Group average from the label counts of the clusters (Candel Eqs. 4, 5 and 14); Σ joined / Σ labelled.

    O(m² p) time as a rule, O(m p + d) memory for m rows and d labels. The mean similarity to a union lies between those
    to its parts, ratio of sums or not, so the chain of nearest neighbours finds a closest pair at every merge.
    """
    evidence, complete = _finest_first(evidence), evidence.complete
    rows = evidence.rows
    m, p = rows.codes.shape
    as_counts = evidence.countable and complete
    columns = rows.codes.T.copy(order="C") if as_counts else np.empty((0, 0), dtype=rows.codes.dtype)
    # Every search reads them all: half the bytes are half the time where they do not fit into the cache.
    flat_labels = np.empty(2 * m * p + 8 * p, dtype=np.min_scalar_type(int(rows.offsets[-1])))
    flat_counts = np.empty(len(flat_labels), dtype=np.float32 if rows.counts.sum() < 2**24 else np.float64)
    joined = np.empty(BLOCK, dtype=np.min_scalar_type(p))
    pairs, similarities = _merge_arrays(m, np.float64)
    average_chain(
        rows.codes.copy(order="C"),
        columns,
        rows.counts.astype(np.float64),
        *evidence.tables(),
        complete,
        flat_labels,
        flat_counts,
        joined,
        pairs,
        similarities,
    )
    return _in_order(pairs, similarities)


def _finest_first(evidence: Evidence) -> Evidence:
    """The partitions with the most clusters first: their labels tell most about a pair."""
    rows, labels = evidence.rows, evidence.labels
    order = np.argsort(-rows.n_clusters, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(rows.n_clusters[order] + 1)])
    ordered = Rows(rows.codes[:, order], rows.counts, offsets, rows.inverse, rows.weights[order])
    return Evidence(ordered, LabelSimilarity(labels.flat, labels.starts[order]), evidence.threshold, evidence.n_jobs)


def complete_linkage(evidence: Evidence, max_bytes: int) -> Merges:
    """The least similar pair of two clusters decides. O(m² p) time, one condensed matrix for m rows."""
    m = len(evidence.rows)
    if not evidence.countable:
        matrix = _condensed(m, np.float32, max_bytes)
        _fill_similarities(evidence, matrix, np.ones(m))
        return _chain(evidence, matrix, average=False)
    levels = evidence.levels()
    matrix = _condensed(m, np.min_scalar_type(len(levels.values)), max_bytes)
    _fill_levels(evidence, matrix, _thresholded(evidence, levels), np.ones(m, dtype=np.int64))
    return _chain(evidence, matrix, average=False, values=levels.values)


def average_linkage_of_matrix(evidence: Evidence, max_bytes: int) -> Merges:
    """Group average where a threshold was applied pair by pair. O(m² p) time, one condensed matrix for m rows."""
    (m, p), counts = evidence.rows.codes.shape, evidence.rows.counts
    if not (evidence.countable and evidence.complete):
        matrix = _condensed(m, np.float32, max_bytes)
        _fill_similarities(evidence, matrix, counts.astype(np.float64))
        return _chain(evidence, matrix, average=True)
    most = p * int(counts.sum()) ** 2 // 4
    matrix = _condensed(m, np.uint32 if most < 2**32 else np.float64, max_bytes)
    _fill_levels(evidence, matrix, _thresholded(evidence, evidence.levels()), counts)
    return _chain(evidence, matrix, average=True, scale=p)


def _condensed(m: int, dtype: Any, max_bytes: int) -> NDArray[Any]:
    n_bytes = m * (m - 1) // 2 * np.dtype(dtype).itemsize
    if n_bytes > max_bytes:
        raise ValueError(
            f"The similarities of all pairs of distinct label rows must fit into max_bytes = {max_bytes:,}. Got "
            f"{n_bytes:,} bytes for {m:,} rows. Use linkage='single', or 'average' without a threshold: they need no "
            "matrix. Or raise max_bytes."
        )
    return np.empty(m * (m - 1) // 2, dtype=dtype)


def _thresholded(evidence: Evidence, levels: Levels) -> NDArray[np.int64]:
    if evidence.threshold is None:
        return levels.of_counts
    return np.where(levels.values[levels.of_counts] <= evidence.threshold + ROUNDING, 0, levels.of_counts)


def _fill_levels(
    evidence: Evidence, matrix: NDArray[Any], level: NDArray[np.int64], members: NDArray[np.int64]
) -> None:
    columns, missing = evidence.rows.codes.T.copy(order="C"), evidence.missing()

    def fill(block: slice) -> None:
        counter = np.empty((2, BLOCK), dtype=np.min_scalar_type(len(columns)))
        fill_levels(columns, missing, level, members, block.start, block.stop, counter, matrix)

    parallel_map(fill, row_blocks(len(members), 64), evidence.n_jobs)


def _fill_similarities(evidence: Evidence, matrix: NDArray[Any], members: NDArray[np.float64]) -> None:
    least = -1.0 if evidence.threshold is None else evidence.threshold + ROUNDING
    codes, tables = evidence.rows.codes, evidence.tables()

    def fill(block: slice) -> None:
        fill_similarities(codes, block.start, block.stop, *tables, least, members, matrix)

    parallel_map(fill, row_blocks(len(members), 64), evidence.n_jobs)


def _chain(
    evidence: Evidence,
    matrix: NDArray[Any],
    *,
    average: bool,
    scale: float = 1.0,
    values: NDArray[np.float64] | None = None,
) -> Merges:
    """Merges of a matrix in units of 1 / ``scale``, or of numbers of ``values``."""
    pairs, found = _merge_arrays(len(evidence.rows), np.float64)
    condensed_chain(matrix, evidence.rows.counts.astype(np.float64), average, pairs, found)
    return _in_order(pairs, found / scale if values is None else values[found.astype(np.int64)])


def _merge_arrays(m: int, dtype: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    return np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1, dtype=dtype)


def _in_order(pairs: NDArray[np.int64], similarities: NDArray[np.float64]) -> Merges:
    """Merges of a chain from the most similar pair on."""
    heights = 1 - np.minimum(similarities, 1)
    # Rounding may put a merge below one that it contains.
    raise_heights(pairs, heights)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], heights))
    if not children_first(pairs, order):
        order = np.argsort(heights, kind="stable")
    return Merges(pairs[order], heights[order])


def cut(merges: Merges, n_clusters: int) -> NDArray[np.int64]:
    """Cluster of each row after the first merges: exactly ``n_clusters`` of them, also where heights are tied."""
    clusters = np.empty(len(merges.pairs) + 1, dtype=np.int64)
    cut_merges(merges.pairs[: len(clusters) - n_clusters], clusters)
    return clusters


def linkage_matrix(merges: Merges, rows: Rows) -> NDArray[np.float64]:
    """The hierarchy over the objects in SciPy's format.

    Objects with equal rows merge first, at height 0; those that no partition labels last, at height 1.
    """
    n, m = len(rows.inverse), len(rows)
    objects = np.argsort(rows.inverse, kind="stable")
    row = rows.inverse[objects]
    first = objects[np.searchsorted(row, np.arange(m))]
    twins = (row[1:] == row[:-1]) & (row[1:] < m)
    unlabelled = objects[row == m]
    pairs = np.concatenate(
        [
            np.column_stack([objects[:-1][twins], objects[1:][twins]]),
            first[merges.pairs],
            np.column_stack([np.full(len(unlabelled), objects[0]), unlabelled]),
        ]
    )
    heights = np.ones(n - 1)
    heights[: twins.sum()] = 0
    heights[twins.sum() : twins.sum() + m - 1] = merges.heights
    numbers, sizes = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1, dtype=np.int64)
    number_merges(pairs.astype(np.int64), n, numbers, sizes)
    return np.column_stack([numbers, heights, sizes]).astype(np.float64)
