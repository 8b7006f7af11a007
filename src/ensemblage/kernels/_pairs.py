"""Pairs of objects that partitions join, counted without listing the pairs."""

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import _parallel
from ensemblage._jit import jit
from ensemblage._rows import BlockRows
from ensemblage._slices import rows_of_slice
from ensemblage.kernels._profiles import label_profile


@jit
def group_objects(
    clusters: Any,  # IN (n,) cluster of each object, negative = none
    ends: Any,  # IN/OUT (k,) int64, where each cluster starts in `order`; afterwards where it ends
    order: Any,  # OUT the assigned objects, cluster by cluster
) -> None:
    for i in range(clusters.shape[0]):
        c = clusters[i]
        if c >= 0:
            order[ends[c]] = i
            ends[c] += 1


@jit
def square_label_counts(
    codes: Any,  # IN (n, p)
    order: Any,  # IN objects, cluster by cluster
    starts: Any,  # IN (k + 1,) int64
    offsets: Any,  # IN (p + 1,) int64
    alpha: Any,  # WORK (offsets[p],) int64, zeros before and after
    squares: Any,  # OUT (k, p) int64, sum of squared label counts
    labelled: Any,  # OUT (k, p) int64, members that the partition labels
) -> None:
    p = codes.shape[1]
    for c in range(squares.shape[0]):
        for t in range(p):
            squares[c, t] = 0
            labelled[c, t] = 0
        for s in range(starts[c], starts[c + 1]):
            i = order[s]
            for t in range(p):
                alpha[offsets[t] + codes[i, t]] += 1
        for t in range(p):
            labelled[c, t] = starts[c + 1] - starts[c] - alpha[offsets[t + 1] - 1]
            alpha[offsets[t + 1] - 1] = 0
        if starts[c + 1] - starts[c] < alpha.shape[0] // p:
            for s in range(starts[c], starts[c + 1]):
                i = order[s]
                for t in range(p):
                    f = offsets[t] + codes[i, t]
                    squares[c, t] += alpha[f] * alpha[f]
                    alpha[f] = 0
        else:
            for t in range(p):
                for f in range(offsets[t], offsets[t + 1]):
                    squares[c, t] += alpha[f] * alpha[f]
                    alpha[f] = 0


SMALL_TABLE = 2**20
"""Largest table of clusters by labels to count: faster than cluster after cluster while it fits into the cache."""


def label_count_squares(
    codes: Any,
    clusters: NDArray[Any],
    sizes: NDArray[np.int64],
    offsets: NDArray[np.int64],
    n_jobs: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per cluster and partition: the sum of alpha² over its labels, and the members it labels; both (k, p) int64.

    ``sizes`` is the number of objects of each cluster. O(n p) time and O(n + k p) memory however many clusters there
    are. Exact to n = 3·10⁹.
    """
    if len(sizes) * offsets[-1] <= SMALL_TABLE:
        return _squares_of_profile(codes, clusters, len(sizes), offsets, n_jobs)
    if isinstance(codes, BlockRows):
        return _squares_by_rows(codes, clusters, len(sizes), offsets, n_jobs)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    order = np.empty(starts[-1], dtype=np.int32 if len(codes) < 2**31 else np.int64)
    group_objects(clusters, starts[:-1].copy(), order)
    shape = (len(sizes), codes.shape[1])
    squares, labelled = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)

    def count(block: slice) -> None:
        alpha = np.zeros(offsets[-1], dtype=np.int64)
        bounds = starts[block.start : block.stop + 1]
        square_label_counts(codes, order, bounds, offsets, alpha, squares[block], labelled[block])

    _parallel.parallel_map(count, _blocks_of_clusters(starts), n_jobs)
    return squares, labelled


def _squares_of_profile(
    codes: Any, clusters: NDArray[Any], n_clusters: int, offsets: NDArray[np.int64], n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ones = np.ones(len(codes), dtype=np.int64)
    profile = label_profile(codes, clusters, ones, offsets, n_clusters, n_jobs)
    profile[:, offsets[1:] - 1] = 0
    return np.add.reduceat(profile**2, offsets[:-1], axis=1), np.add.reduceat(profile, offsets[:-1], axis=1)


LARGE_TABLE = 2**23
"""Largest such table for rows on disk, which are read once per table: as many clusters at a time."""


def _squares_by_rows(
    codes: BlockRows, clusters: NDArray[Any], n_clusters: int, offsets: NDArray[np.int64], n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    found = []
    for some in _parallel.row_blocks(n_clusters, max(1, LARGE_TABLE // int(offsets[-1]))):
        numbers = np.where((clusters >= some.start) & (clusters < some.stop), clusters - some.start, -1)
        found.append(_squares_of_profile(codes, numbers, some.stop - some.start, offsets, n_jobs))
    squares, labelled = zip(*found, strict=True)
    return np.concatenate(squares), np.concatenate(labelled)


def _blocks_of_clusters(starts: NDArray[np.int64]) -> list[slice]:
    """Runs of clusters that start within the same ``BLOCK_ROWS`` objects."""
    first = np.flatnonzero(np.diff(starts[:-1] // _parallel.BLOCK_ROWS, prepend=-1))
    return [slice(a, b) for a, b in zip(first, [*first[1:], len(starts) - 1], strict=True)]


@jit
def agreement_of_rows(
    codes: Any,  # IN (m, p)
    clusters: Any,  # IN (m,) cluster of each row, negative = none
    profile: Any,  # IN (k, offsets[p]) int64 label counts
    labelled: Any,  # IN (k, p) int64, members that each partition labels
    offsets: Any,  # IN (p + 1,) int64
    weights: Any,  # IN (p,) float64
    joined: Any,  # OUT (m,) float64, other members it is joined with, over the partitions
    pairs: Any,  # OUT (m,) float64, other members labelled with it; -1 if no partition labels it
) -> None:
    for i in range(codes.shape[0]):
        c = clusters[i]
        joined[i] = 0
        pairs[i] = 0
        seen = False
        if c >= 0:
            for t in range(codes.shape[1]):
                f = offsets[t] + codes[i, t]
                if f < offsets[t + 1] - 1:
                    seen = True
                    joined[i] += weights[t] * (profile[c, f] - 1)
                    pairs[i] += weights[t] * (labelled[c, t] - 1)
        if not seen:
            pairs[i] = -1


@jit
def count_joined(
    columns: Any,  # IN (p, m) codes
    row: Any,  # IN (p,) codes of one row
    absent: Any,  # IN (p,) code for missing
    joined: Any,  # OUT (m,) unsigned, partitions that join each column's row with this one
) -> None:
    joined[:] = 0
    for t in range(columns.shape[0]):
        code, column = row[t], columns[t]
        if code != absent[t]:
            for j in range(joined.shape[0]):
                joined[j] += np.uint8(column[j] == code)


@jit
def count_labelled(
    columns: Any,  # IN (p, m) codes
    row: Any,  # IN (p,) codes of one row
    absent: Any,  # IN (p,) code for missing
    labelled: Any,  # OUT (m,) unsigned, partitions that label both
) -> None:
    labelled[:] = 0
    for t in range(columns.shape[0]):
        code, column = absent[t], columns[t]
        if row[t] != code:
            for j in range(labelled.shape[0]):
                labelled[j] += np.uint8(column[j] != code)


@jit
def add_pairs(
    columns: Any,  # IN (p, m) codes of distinct rows
    absent: Any,  # IN (p,) code for missing
    counts: Any,  # IN (m,) objects with each row
    first: int,  # IN pairs i < j with first ≤ i < last
    last: int,
    joined: Any,  # WORK (block,) unsigned
    labelled: Any,  # WORK (block,) unsigned; empty if nothing is missing
    histogram: Any,  # IN/OUT (p + 1, p + 1) pairs by (joined, labelled); (p + 1, 1) if nothing is missing
) -> None:
    m, row = columns.shape[1], np.empty(columns.shape[0], columns.dtype)
    for start in range(first + 1, m, joined.shape[0]):
        stop = min(start + joined.shape[0], m)
        for i in range(first, min(last, stop - 1)):
            begin = max(start, i + 1)
            row[:] = columns[:, i]
            others = columns[:, begin:stop]
            count_joined(others, row, absent, joined[: stop - begin])
            if labelled.shape[0] == 0:
                for j in range(stop - begin):
                    histogram[joined[j], 0] += counts[i] * counts[begin + j]
            else:
                count_labelled(others, row, absent, labelled[: stop - begin])
                for j in range(stop - begin):
                    histogram[joined[j], labelled[j]] += counts[i] * counts[begin + j]


PAIR_BLOCK = 8_192
"""Rows that one row is compared with at a time: their counters stay in the first-level cache."""


def pair_histogram(
    codes: NDArray[Any],
    counts: NDArray[np.int64],
    n_clusters: NDArray[np.int64],
    complete: bool,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """Pairs of objects in different distinct rows, by the partitions that join and (columns) that label both.

    (p + 1, p + 1) int64; (p + 1, 1), by the partitions that join, if ``complete``. O(m² p) time for m rows, O(m p)
    memory; one histogram per thread.
    """
    m, p = codes.shape
    columns = np.ascontiguousarray(codes.T)
    absent = n_clusters.astype(codes.dtype)
    total = np.zeros((p + 1, 1 if complete else p + 1), dtype=np.int64)
    lock, counter = Lock(), np.min_scalar_type(p)

    def add(rows: slice) -> None:
        histogram = np.zeros_like(total)
        joined = np.empty(PAIR_BLOCK, dtype=counter)
        labelled = np.empty(0 if complete else PAIR_BLOCK, dtype=counter)
        add_pairs(columns, absent, counts, rows.start, rows.stop, joined, labelled, histogram)
        with lock:
            np.add(total, histogram, out=total)

    # A comparison is a sixteenth of an operation; adding a pair to the histogram is one.
    most = max(1, _parallel.BLOCK_ROWS // 64)
    _parallel.parallel_map(add, _parallel.row_blocks(m, rows_of_slice(m * (1 + p // 8), most)), n_jobs)
    return total


@jit
def associate(
    rows: Any,  # IN (b, p) codes
    columns: Any,  # IN (p, n) codes
    absent: Any,  # IN (p,) code for missing
    weights: Any,  # IN (p,) float64
    labelled: Any,  # WORK (n,) float64
    association: Any,  # OUT (b, n) float64, weight of the partitions that join / weight of those that label both
) -> int:
    """Returns the number of pairs that no partition labels."""
    n_unknown = 0
    for i in range(rows.shape[0]):
        joined = association[i]
        joined[:] = 0
        labelled[:] = 0
        for t in range(rows.shape[1]):
            code, none, weight, column = rows[i, t], absent[t], weights[t], columns[t]
            if code != none:
                for j in range(joined.shape[0]):
                    joined[j] += weight * (column[j] == code)
                    labelled[j] += weight * (column[j] != none)
        for j in range(joined.shape[0]):
            if labelled[j] > 0:
                joined[j] /= labelled[j]
            else:
                n_unknown += 1
    return n_unknown


@jit
def associate_levels(
    rows: Any,  # IN (b, p) codes
    columns: Any,  # IN (p, n) codes
    absent: Any,  # IN (p,) code for missing
    level_of: Any,  # IN (p + 1, p + 1) level by partitions that join and that label both; empty: those that join
    joined: Any,  # WORK (n,) unsigned
    labelled: Any,  # WORK (n,) unsigned
    levels: Any,  # OUT (b, n) unsigned
) -> None:
    for i in range(rows.shape[0]):
        count_joined(columns, rows[i], absent, joined)
        if level_of.shape[0] == 0:
            levels[i] = joined
        else:
            count_labelled(columns, rows[i], absent, labelled)
            for j in range(joined.shape[0]):
                levels[i, j] = level_of[joined[j], labelled[j]]
