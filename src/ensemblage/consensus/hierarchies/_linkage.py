"""Agglomerative hierarchies of label rows: single, average and complete linkage.

Rows are numbered as they stand, in a consensus by their content (`_content_order.py`), and a cluster by its smallest
row. Of equally similar pairs of clusters the one with the smallest numbers (i, j), i < j, is merged first; with single
linkage the numbers are those of the two rows that are most similar. So no result depends on the order of the objects.

Average linkage goes along chains of nearest neighbours. Rows i and k may be similar by 0 for want of a partition that
labels both: then {i, j} is as similar to k as j was, under the smaller number i, and another equally similar pair may
have gone first. Where all pairs are compared, a union is as similar as its nearer part only if both parts are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.memory import MAX_BYTES, OVERHEAD
from ensemblage.base.validation import check_bytes
from ensemblage.consensus.hierarchies._linkage_of_few import EXACT, chain_of_few, greedy_merges
from ensemblage.consensus.hierarchies._linkage_rounds import merges_in_rounds
from ensemblage.consensus.hierarchies._row_similarity import ROUNDING, Levels, RowSimilarity, levels_of
from ensemblage.counting._bitmaps import MOST_BYTES, bytes_of_maps, maps_of
from ensemblage.kernels._average_linkage import Clusters, Nearest, average_chain
from ensemblage.kernels._bitmaps import BLOCK_BITS, WORDS, plane_count
from ensemblage.kernels._dendrogram import cut_merges, number_merges, raise_heights
from ensemblage.kernels._jit import are_few
from ensemblage.kernels._linkage import (
    AVERAGE,
    COMPLETE,
    MOST_LEVELS,
    TILE,
    Chain,
    Condensed,
    LevelRows,
    complete_chain,
    condensed_chain,
    fill_levels,
    fill_similarities,
)
from ensemblage.kernels._pairs import ROWS_AT_ONCE
from ensemblage.kernels._spanning_trees import (
    JOINED,
    fill_planes,
    grow_tree_of_bitmaps,
    spanning_tree_of_counts,
    spanning_tree_of_similarities,
)
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import parallel_map, row_blocks, rows_per_call, run_interruptibly, thread_count

MOST_ROWS = 64
"""Rows of a matrix that a thread fills at a time, if a slice of the kernel allows so many."""


class Merges(NamedTuple):
    """A hierarchy over m rows, from the first merge to the last."""

    pairs: NDArray[np.int64]
    """(m - 1, 2) a row of either cluster."""
    heights: NDArray[np.float64]
    """(m - 1,) 1 - similarity, none below the one before."""


class PairMatrices(NamedTuple):
    """The condensed matrices of all pairs of rows that a linkage keeps."""

    number: int
    dtype: Any = np.float64

    def n_bytes(self, m: int) -> int:
        """Of m rows."""
        return self.number * (m * (m - 1) // 2) * int(np.dtype(self.dtype).itemsize)


def single_linkage(similarity: RowSimilarity, max_bytes: int | str = MAX_BYTES) -> Merges:
    """Minimum spanning tree. O(m² p) time and O(m p) memory for m rows.

    Where counts of d labels decide and none is missing, O(m² p / 64) operations on bitmaps of m d / 8 bytes, if these
    are no more than ``MOST_BYTES`` and a quarter of ``max_bytes``.
    """
    if not similarity.countable:
        pairs, similarities = _tree_of_similarities(similarity)
    elif _has_bitmaps(similarity, check_bytes(max_bytes, "max_bytes of EvidenceAccumulation")):
        pairs, similarities = _tree_of_bitmaps(similarity)
    else:
        pairs, similarities = _tree_of_counts(similarity)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -similarities))
    pairs, similarities = pairs[order], similarities[order]
    least = 0.0 if similarity.threshold is None else similarity.threshold + ROUNDING
    # All clusters that are left have similarity 0 to each other: the first one takes the others in turn.
    n_joined = int(np.count_nonzero(similarities > least))
    clusters = np.empty(len(pairs) + 1, dtype=np.int64)
    cut_merges(pairs[:n_joined], clusters)
    pairs[n_joined:, 0], pairs[n_joined:, 1] = 0, np.unique(clusters, return_index=True)[1][1:]
    similarities[n_joined:] = 0
    return Merges(pairs, 1 - similarities)


def _tree_of_counts(similarity: RowSimilarity) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    m, p = similarity.rows.codes.shape
    levels = similarity.levels()
    most, bits = len(levels.values) - 1, (m - 1).bit_length()
    # The largest key stands for "no edge yet".
    key = np.uint32 if (most + 1) << bits < 2**32 else np.uint64
    keys = np.full(m, np.iinfo(key).max, dtype=key)
    counters = np.empty((2, ROWS_AT_ONCE), dtype=np.min_scalar_type(p))
    pairs, ranks = _merge_arrays(m, np.int64)
    columns, rank = similarity.rows.codes[:].T.copy(order="C"), most - levels.of_counts
    state = (np.arange(m), keys, counters, np.zeros(2, dtype=np.int64))
    run_interruptibly(spanning_tree_of_counts, columns, similarity.missing(), rank, bits, *state, pairs, ranks)
    return pairs, levels.values[most - ranks]


def _has_bitmaps(similarity: RowSimilarity, max_bytes: int) -> bool:
    m, p = similarity.rows.codes.shape
    one_key = p.bit_length() + 2 * (m - 1).bit_length() <= 64
    n_bytes = bytes_of_maps(m, int(similarity.rows.offsets[-1]))
    return one_key and n_bytes <= min(MOST_BYTES, max_bytes // 4) and similarity.complete


def _tree_of_bitmaps(similarity: RowSimilarity) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The maps are those of the rows that are left, made anew when a quarter of these is in the tree."""
    codes, offsets = similarity.rows.codes[:], similarity.rows.offsets
    m, p = codes.shape
    bits = (m - 1).bit_length()
    pairs, ranks = _merge_arrays(m, np.int64)
    rows, progress = np.arange(1, m), np.zeros(2, dtype=np.int64)
    keys = rows.astype(np.uint64) | np.uint64(p << 2 * bits)  # the edge to row 0, joined by none
    while len(rows):
        maps = maps_of(codes[rows], offsets, int(offsets[-1]))
        best = np.zeros((-(-len(rows) // BLOCK_BITS), plane_count(p), WORDS), dtype=np.uint64)
        fill_planes(p - (keys >> np.uint64(2 * bits)).astype(np.int64), best)
        stop = min(m - 1, int(progress[0]) + max(BLOCK_BITS, len(rows) // 4))
        run_interruptibly(
            grow_tree_of_bitmaps, codes, offsets, maps, rows, keys, best, bits, progress, pairs, ranks, stop
        )
        left = keys != JOINED
        rows, keys = rows[left], keys[left]
        del maps, best  # before the next ones are made
    return pairs, similarity.levels().values[p - ranks]


def _tree_of_similarities(similarity: RowSimilarity) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    m = len(similarity.rows)
    pairs, similarities = _merge_arrays(m, np.float64)
    state = (np.arange(m), np.zeros(m, dtype=np.int64), np.full(m, -1.0), np.zeros(2, dtype=np.int64))
    codes = similarity.rows.codes[:]
    run_interruptibly(spanning_tree_of_similarities, codes, similarity.comparison(), *state, pairs, similarities)
    return pairs, similarities


def average_linkage(similarity: RowSimilarity) -> Merges:
    """Group average from the label counts of the clusters (Candel Eqs. 4, 5 and 14); Σ joined / Σ labelled.

    O(m² p) time as a rule, O(m p + d) memory for m rows and d labels. The mean similarity to a union lies between those
    to its parts, ratio of sums or not, so what are the nearest to each other merge, whatever else does before them.
    """
    similarity = similarity.with_most_clusters_first()
    rows, compared = similarity.rows, similarity.comparison()
    codes, counts = rows.codes[:], rows.counts
    m, d = len(codes), int(rows.offsets[-1])
    is_whole = similarity.countable and codes.shape[1] * int(counts.sum()) ** 2 < EXACT
    if similarity.complete and is_whole and are_few(m * m * (m + d) // 4):
        return _sort_merges(*greedy_merges(codes, counts, rows.offsets))
    if similarity.complete and (similarity.countable or similarity.local is not None):
        joins = None if similarity.countable else compared.joins
        whole = float(similarity.weights.sum())
        return _sort_merges(*merges_in_rounds(codes, counts, rows.offsets, similarity.n_jobs, joins, whole))
    if similarity.complete and not len(compared.similar) and are_few(8 * codes.shape[1] * m * m):
        return _sort_merges(*chain_of_few(codes, counts, compared))
    pairs, similarities = _merge_arrays(m, np.float64)
    state = (Clusters.of(codes, counts, compared), Chain.of(m), Nearest.of(m))
    run_interruptibly(average_chain, compared, *state, pairs, similarities)
    return _sort_merges(pairs, similarities)


def complete_linkage(similarity: RowSimilarity, max_bytes: int | str) -> Merges:
    """The least similar pair of two clusters decides. O(m² p) time, one condensed matrix for m rows.

    Where there are few different similarities, a square matrix of bytes, if it fits: several times as fast.
    """
    rows, m = similarity.rows, len(similarity.rows)
    if not similarity.countable:
        condensed = _allocate_condensed(rows, complete_matrices(rows, countable=False))
        _fill_similarities(similarity, np.empty(0), condensed)
        return merges_of_matrix(condensed, COMPLETE)
    levels = similarity.levels()
    needed = bytes_with_pairs(rows, m * (m + TILE), similarity.n_jobs)
    if len(levels.values) <= MOST_LEVELS and needed <= check_bytes(max_bytes, "max_bytes of EvidenceAccumulation"):
        return _complete_by_bytes(similarity, levels)
    condensed = _allocate_condensed(rows, complete_matrices(rows, countable=True))
    _fill_levels(similarity, levels.of_counts, np.ones(len(similarity.rows), dtype=np.int64), condensed)
    return merges_of_matrix(condensed, COMPLETE, values=levels.values)


def complete_matrices(rows: Rows, countable: bool) -> PairMatrices:
    """Of complete linkage, whose similarities are numbers of partitions over others if they are ``countable``."""
    return PairMatrices(1, np.min_scalar_type(len(levels_of(rows).values)) if countable else np.float32)


def _complete_by_bytes(similarity: RowSimilarity, levels: Levels) -> Merges:
    m = len(similarity.rows)
    columns = similarity.rows.codes[:].T.copy(order="C")
    level = np.where(levels.values[levels.of_counts] <= similarity.least, 0, levels.of_counts).astype(np.uint8) + 1
    pairs, found = _merge_arrays(m, np.float64)
    compared = columns, similarity.missing(), level.astype(np.uint8)
    run_interruptibly(complete_chain, compared, LevelRows.of(m), Chain.of(m), np.zeros(1, dtype=np.int64), pairs, found)
    return _sort_merges(pairs, levels.values[found.astype(np.int64) - 1])


def average_linkage_of_matrix(similarity: RowSimilarity) -> Merges:
    """Group average where a threshold was applied pair by pair: Σ joined / Σ labelled, as without one.

    A pair up to the threshold adds nothing to the first sum. Where the weights are equal both sums are counts, so ties
    are ties; sums of other weights go in a fixed order, that of the partitions and of the merges. O(m² p) time, one
    condensed matrix for m rows, two where labels are missing.
    """
    p, counts, complete = len(similarity.weights), similarity.rows.counts, similarity.complete
    condensed = _allocate_condensed(similarity.rows, average_matrices(similarity.rows, similarity.countable))
    if not similarity.countable:
        _fill_similarities(similarity, condensed.sizes, condensed)
        # The sum of the weights as the kernels make it, one after the other.
        return merges_of_matrix(condensed, AVERAGE, scale=float(np.cumsum(similarity.weights)[-1]) if complete else 1.0)
    _fill_levels(similarity, np.arange(p + 1)[:, None], counts, condensed)
    return merges_of_matrix(condensed, AVERAGE, scale=p if complete else 1.0)


def average_matrices(rows: Rows, countable: bool) -> PairMatrices:
    """Of average linkage with a threshold: the sums, and where labels are missing what to divide them by."""
    most = len(rows.weights) * int(rows.counts.sum()) ** 2 // 4
    return PairMatrices(1 if rows.complete else 2, np.uint32 if countable and most < 2**32 else np.float64)


PER_ROW = 160
"""Bytes per distinct row besides the matrix and a copy of the codes: the state of the chain, the merges."""
PER_OBJECT = 80
"""Bytes per object for the hierarchy of the objects and the results; the matrix is gone by then."""


def _allocate_condensed(rows: Rows, matrices: PairMatrices) -> Condensed:
    """One matrix, and a second one if there are two."""
    entries = len(rows) * (len(rows) - 1) // 2
    known = np.empty(entries if matrices.number == 2 else 0, dtype=matrices.dtype)
    return Condensed(np.empty(entries, dtype=matrices.dtype), known, rows.counts.astype(np.float64))


def bytes_with_pairs(rows: Rows, of_pairs: int, n_jobs: int | None) -> int:
    """Peak of a fit with so many bytes for pairs of rows."""
    m, p = rows.codes.shape
    of_rows = m * (p * int(rows.codes.dtype.itemsize) + PER_ROW)
    of_labels = 16 * int(rows.offsets[-1]) * min(thread_count(n_jobs), m)
    return OVERHEAD + max(of_pairs + of_rows + of_labels, PER_OBJECT * len(rows.inverse))


def _fill_levels(
    similarity: RowSimilarity, level: NDArray[np.int64], members: NDArray[np.int64], condensed: Condensed
) -> None:
    """``level`` of the counts of each pair, 0 up to the threshold."""
    levels = similarity.levels()
    level = np.where(levels.values[levels.of_counts] <= similarity.least, 0, level)
    columns, missing = similarity.rows.codes[:].T.copy(order="C"), similarity.missing()

    def fill(rows: slice) -> None:
        counters = np.empty((2, ROWS_AT_ONCE), dtype=np.min_scalar_type(len(columns)))
        matrices = condensed.matrix, condensed.known
        fill_levels(columns, missing, level, members, rows.start, rows.stop, counters, *matrices)

    _fill_rows(similarity, fill)


def _fill_similarities(similarity: RowSimilarity, members: NDArray[np.float64], condensed: Condensed) -> None:
    """Sums over the pairs of ``members``, or similarities if there are none; 0 up to the threshold."""
    codes, compared = similarity.rows.codes[:], tuple(similarity.comparison())

    def fill(rows: slice) -> None:
        matrices = condensed.matrix, condensed.known
        fill_similarities(codes, compared, rows.start, rows.stop, similarity.least, members, *matrices)

    _fill_rows(similarity, fill)


def _fill_rows(similarity: RowSimilarity, fill: Callable[[slice], None]) -> None:
    """Every row of a condensed matrix, a slice of a kernel at a time."""
    m, p = similarity.rows.codes.shape
    parallel_map(fill, row_blocks(m, rows_per_call(m * p, MOST_ROWS)), similarity.n_jobs)


def sums_of_pairs(similarity: RowSimilarity, summed: bool) -> Condensed:
    """Similarities of all pairs of rows; or, ``summed`` over their objects, what is divided by what in them."""
    m = len(similarity.rows)
    entries = m * (m - 1) // 2
    sizes = similarity.rows.counts.astype(np.float64)
    known = np.empty(entries if summed and not similarity.complete else 0)
    condensed = Condensed(np.empty(entries), known, sizes)
    _fill_similarities(similarity, sizes if summed else np.empty(0), condensed)
    return condensed


def merges_of_matrix(
    condensed: Condensed, linkage: int, *, scale: float = 1.0, values: NDArray[np.float64] | None = None
) -> Merges:
    """Merges of a matrix in units of 1 / ``scale``, or of numbers of ``values``; the matrix is used up."""
    m = len(condensed.sizes)
    pairs, found = _merge_arrays(m, np.float64)
    state = (Chain.of(m), np.arange(m), np.full(1, m))
    run_interruptibly(condensed_chain, condensed, linkage, *state, pairs, found)
    return _sort_merges(pairs, found / scale if values is None else values[found.astype(np.int64)])


def _merge_arrays(m: int, dtype: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    return np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1, dtype=dtype)


def _sort_merges(pairs: NDArray[np.int64], similarities: NDArray[np.float64]) -> Merges:
    """Merges of a chain from the most similar pair on."""
    heights = 1 - np.minimum(similarities, 1)
    if not _ascends(pairs, heights):  # by rounding
        raise_heights(pairs, np.zeros(len(pairs) + 1), heights)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], heights))
    if not _ascends(pairs, np.argsort(order)):
        order = np.argsort(heights, kind="stable")
    return Merges(pairs[order], heights[order])


def _ascends(pairs: NDArray[np.int64], values: NDArray[Any]) -> bool:
    """Whether the values of merges, (m - 1,), never decrease from a part to its merge; parts come first."""
    merges = np.argsort(pairs.ravel(), kind="stable")  # of each row, one after another
    rows, values = pairs.ravel()[merges], values[merges // 2]
    return bool((values[1:] >= values[:-1])[rows[1:] == rows[:-1]].all())


def cut(merges: Merges, n_clusters: int) -> NDArray[np.int64]:
    """Cluster of each row after the first merges: exactly ``n_clusters`` of them, also where heights are tied."""
    clusters = np.empty(len(merges.pairs) + 1, dtype=np.int64)
    cut_merges(merges.pairs[: len(clusters) - n_clusters], clusters)
    return clusters


def merges_of_scipy(matrix: NDArray[np.float64]) -> Merges:
    """The merges of a linkage matrix in SciPy's format, (m - 1, 4)."""
    row = [*range(len(matrix) + 1)]
    pairs = []
    for first, second in matrix[:, :2].astype(np.int64):
        pairs.append((row[first], row[second]))
        row.append(row[first])
    return Merges(np.array(pairs, dtype=np.int64).reshape(-1, 2), matrix[:, 2])


def twin_heights(similarity: RowSimilarity, merges: Merges) -> NDArray[np.float64]:
    """(m,) height at which the objects of a row merge: 1 - the mean weight of their labels.

    With all labels no other row is as similar to a row as its objects are to each other. Where labels are missing one
    may be: then they merge when the row does.
    """
    codes, offsets, joins = similarity.rows.codes[:], similarity.rows.offsets, similarity.joins
    joined, labelled = np.zeros((2, len(codes)))
    for t, (column, weight) in enumerate(zip(codes.T, similarity.weights, strict=True)):
        joined += joins[offsets[t] + column]
        labelled += np.where(column < similarity.rows.n_clusters[t], weight, 0.0)
    heights = 1 - np.minimum(joined / labelled, 1)
    first = np.ones(len(codes))
    np.minimum.at(first, merges.pairs.ravel(), np.repeat(merges.heights, 2))
    return np.asarray(np.minimum(heights, first))


def linkage_matrix(merges: Merges, rows: Rows, of_twins: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """The hierarchy over the objects in SciPy's format.

    Objects with equal rows merge first, at height 0 or that of their row, ``of_twins``, which is no more than the
    heights of the merges with that row; those that have none of the rows last, at height 1.
    """
    n, m = len(rows.inverse), len(rows)
    # An object of either cluster: twins, then rows, then objects that have none of these.
    objects = np.argsort(rows.inverse, kind="stable")
    row = rows.inverse[objects]
    twins = np.flatnonzero((row[1:] == row[:-1]) & (row[1:] < m))
    n_twins = len(twins)
    of_rows = slice(n_twins, n_twins + m - 1)
    pairs = np.empty((n - 1, 2), dtype=np.int64)
    pairs[:n_twins, 0], pairs[:n_twins, 1] = objects[twins], objects[twins + 1]
    pairs[of_rows] = objects[np.searchsorted(row, np.arange(m))][merges.pairs]
    pairs[of_rows.stop :, 0], pairs[of_rows.stop :, 1] = objects[0], objects[row >= m]
    heights = np.ones(n - 1)
    heights[:n_twins] = 0 if of_twins is None else of_twins[row[twins]]
    heights[of_rows] = merges.heights
    del objects, row, twins  # an entry per object each: the peak is below
    if of_twins is not None:
        order = np.argsort(heights, kind="stable")
        pairs, heights = pairs[order], heights[order]
    matrix = np.empty((n - 1, 4))
    matrix[:, 2] = heights
    del heights
    state = (np.arange(n), np.arange(n), np.ones(n, dtype=np.int64), np.zeros(1, dtype=np.int64))
    run_interruptibly(number_merges, pairs, *state, matrix)
    return matrix
