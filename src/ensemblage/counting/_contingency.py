"""Contingency tables of pairs of partitions, and the sums over them that agreement needs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.threads import parallel_map
from ensemblage.kernels._contingency import agreement_sums, contingency, contingency_of_pairs
from ensemblage.kernels._jit import is_small_work
from ensemblage.labels.blocks import LabelRows, MembershipRows
from ensemblage.labels.counts import SoftTables, shared_masses


class ContingencyTables(NamedTuple):
    """Contingency tables of all pairs i < j of partitions."""

    flat: NDArray[Any]
    """Tables one after the other, pairs in the order (0, 1), (0, 2), …, (1, 2), …; each (k_i + 1, k_j + 1) row by row,
    the last row and the last column for missing."""
    starts: NDArray[np.int64]
    """(p, p) where the table of i and j begins, i < j; -1 elsewhere."""
    n_clusters: NDArray[np.int64]
    """(p,) clusters of each partition."""

    def table(self, i: int, j: int) -> NDArray[Any]:
        """Table of partitions i and j in any order: a view of shape (k_i + 1, k_j + 1)."""
        if i > j:
            return self.table(j, i).T
        height, width = self.n_clusters[i] + 1, self.n_clusters[j] + 1
        return self.flat[self.starts[i, j] : self.starts[i, j] + height * width].reshape(height, width)

    def itself(self, j: int, sizes: NDArray[Any]) -> NDArray[Any]:
        """(k_j, k_j) what the labels of partition j, of these sizes, share with each other: nothing."""
        return np.diag(sizes)


def contingency_tables(
    columns: NDArray[Any], counts: NDArray[Any], n_clusters: NDArray[np.int64], n_jobs: int | None = None
) -> ContingencyTables:
    """Count the contingency tables of all pairs of partitions.

    ``columns`` is (p, n) codes, contiguous; ``counts`` the objects with each of the n rows, or other weights of them:
    the tables are of their type. O(p² n) time, 8 bytes per cell.
    """
    pairs, begins, starts = _layout(n_clusters)
    flat = np.zeros(begins[-1], dtype=counts.dtype)

    def count(pair: int) -> None:
        i, j = pairs[pair]
        table = flat[begins[pair] : begins[pair + 1]]
        contingency(columns[i], columns[j], counts, int(n_clusters[j]) + 1, table)

    parallel_map(count, range(len(pairs)), n_jobs)
    return ContingencyTables(flat, starts, n_clusters)


def table_cells(n_clusters: NDArray[np.int64]) -> int:
    """Cells of the contingency tables of all pairs of partitions; exact, however many."""
    sizes = [int(k) + 1 for k in n_clusters]
    return (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2


def all_pairs(p: int) -> NDArray[np.int64]:
    """(p (p - 1) / 2, 2) pairs i < j: (0, 1), (0, 2), …, (1, 2), …"""
    return np.column_stack(np.triu_indices(p, 1))


def _layout(n_clusters: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(q, 2) pairs i < j; (q + 1,) where the table of each begins and the last ends; `ContingencyTables.starts`."""
    p = len(n_clusters)
    pairs, starts = all_pairs(p), np.full((p, p), -1, dtype=np.int64)
    cells = (n_clusters[pairs] + 1).prod(axis=1, dtype=np.int64)
    begins = np.append(0, np.cumsum(cells, dtype=np.int64))
    starts[pairs[:, 0], pairs[:, 1]] = begins[:-1]
    return pairs, begins, starts


def tables_of_rows(
    codes: LabelRows, counts: NDArray[np.int64], n_clusters: NDArray[np.int64], n_jobs: int | None = None
) -> ContingencyTables:
    """`contingency_tables` of the columns of (n, p) codes, wherever they lie."""
    if codes.random_access:
        return contingency_tables(np.ascontiguousarray(codes[:].T), counts, n_clusters, n_jobs)
    pairs, begins, starts = _layout(n_clusters)
    return ContingencyTables(_count_pairs(codes, counts, n_clusters, pairs, begins, n_jobs), starts, n_clusters)


def any_tables(
    codes: LabelRows, counts: NDArray[np.int64], n_clusters: NDArray[np.int64], n_jobs: int | None = None
) -> ContingencyTables | SoftTables:
    """`tables_of_rows`, or the masses that the clusters of soft partitions share."""
    if isinstance(codes, MembershipRows):
        return SoftTables(shared_masses(codes, counts, n_jobs), codes.offsets)
    return tables_of_rows(codes, counts, n_clusters, n_jobs)


CELLS = 2**22
"""Cells of the tables that are counted at a time for rows without random access, one set per thread."""


def _count_pairs(
    codes: LabelRows,
    counts: NDArray[np.int64],
    n_clusters: NDArray[np.int64],
    pairs: NDArray[np.int64],
    begins: NDArray[np.int64],
    n_jobs: int | None,
) -> NDArray[np.int64]:
    """Tables of some pairs, flat, in one pass over the rows."""
    shape, threads = (int(begins[-1]),), 1 if begins[-1] > CELLS else n_jobs
    (flat,) = codes.add(_add_pairs, [shape], pairs, begins, n_clusters, reads=[counts], n_jobs=threads)
    return flat


def _add_pairs(codes: Any, counts: Any, flat: Any, pairs: Any, begins: Any, n_clusters: Any) -> None:
    contingency_of_pairs(np.ascontiguousarray(codes.T), counts, pairs, begins, n_clusters, flat)


def sums_of_pairs(
    codes: LabelRows,
    counts: NDArray[np.int64],
    n_clusters: NDArray[np.int64],
    f: NDArray[np.int64],
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """`sums_with` of all pairs i < j of the columns of (n, p) codes: (4, p, p), 0 elsewhere.

    Without random access, one pass over the rows for as many pairs as have `CELLS` cells. Tables far larger than the
    data are counted by sorting, pair by pair.
    """
    p = codes.shape[1]
    if codes.random_access:
        columns = np.ascontiguousarray(codes[:].T)

        def with_later(i: int) -> NDArray[np.int64]:
            return sums_with(columns[i], columns, counts, (int(n_clusters[i]), n_clusters), np.arange(i + 1, p), f)

        return np.stack(parallel_map(with_later, range(p), n_jobs), axis=1)
    sums = np.zeros((p, p, 4), dtype=np.int64)
    pairs = all_pairs(p)
    cells = (n_clusters[pairs] + 1).prod(axis=1, dtype=np.int64)
    large = cells > max(CELLS, 4 * len(codes))
    for i, j in pairs[large]:
        sums[i, j] = _sums_by_sorting(codes[:, i], codes[:, j], counts, n_clusters[i], n_clusters[j], f)
    pairs, cells = pairs[~large], cells[~large]
    edges = np.flatnonzero(np.diff(np.cumsum(cells) // CELLS)) + 1
    for some, of_some in zip(np.split(pairs, edges), np.split(cells, edges), strict=True):
        begins = np.append(0, np.cumsum(of_some))
        flat = _count_pairs(codes, counts, n_clusters, some, begins, n_jobs)
        for q, (i, j) in enumerate(some):
            table = flat[begins[q] : begins[q + 1]].reshape(n_clusters[i] + 1, n_clusters[j] + 1)
            sums[i, j] = sums_of_table(table[:-1, :-1], f)
    return np.moveaxis(sums, 2, 0)


def sums_with(
    a: NDArray[Any],
    columns: NDArray[Any],
    counts: NDArray[np.int64],
    n_clusters: tuple[int, NDArray[np.int64]],
    chosen: NDArray[np.intp],
    f: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Sums over the contingency tables of one partition with some others, on the objects that both label.

    ``n_clusters`` are the numbers of clusters of ``a`` and of all ``columns``. Returns (4, p): the sums of ``f[count]``
    (count² where f is empty) over cells, row totals and column totals, and the number of objects. One table at a time;
    one that would be far larger than the data is counted by sorting, in O(n log n).
    """
    height, widths = n_clusters
    sums = np.zeros((len(columns), 4), dtype=np.int64)
    n_cells = (height + 1) * (widths[chosen] + 1)
    dense = n_cells <= max(2**16, 4 * len(counts))
    if is_small_work(len(columns) ** 2 * (1_000 + len(counts))) and is_small_work(256 * len(counts)):
        for j in chosen[dense]:
            shape = height + 1, int(widths[j]) + 1
            cells = np.ravel_multi_index((a, columns[j]), shape)
            table = np.bincount(cells, counts, shape[0] * shape[1]).astype(np.int64)  # exact below 2⁵³
            sums[j] = sums_of_table(table.reshape(shape)[:-1, :-1], f)
    else:
        table = np.empty(int(n_cells[dense].max(initial=0)), dtype=np.int64)
        agreement_sums(a, columns, counts, height, widths, chosen[dense], f, table, sums)
    for j in chosen[~dense]:
        sums[j] = _sums_by_sorting(a, columns[j], counts, height, int(widths[j]), f)
    return sums.T


def cells_of_pair(
    a: NDArray[Any], b: NDArray[Any], counts: NDArray[np.int64], height: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells of the contingency table of two partitions that are not 0, row by row, and what they count.

    Objects that one of them does not label are left out. Sorted where the table would be far larger than the data.
    """
    if (height + 1) * (width + 1) <= max(2**16, 4 * len(counts)):
        table = np.zeros((height + 1) * (width + 1), dtype=counts.dtype)
        contingency(a, b, counts, width + 1, table)
        table = table.reshape(height + 1, width + 1)[:-1, :-1].ravel()
        cells = np.flatnonzero(table)
        return cells, table[cells]
    both = (a < height) & (b < width)
    cells, place = np.unique(a[both].astype(np.int64) * width + b[both], return_inverse=True)
    members = np.zeros(len(cells), dtype=counts.dtype)
    np.add.at(members, place, counts[both])
    return cells, members


def sums_of_table(table: NDArray[np.int64], f: NDArray[np.int64]) -> list[int]:
    """`sums_with` of one contingency table of clusters by clusters."""
    totals = table, table.sum(axis=1), table.sum(axis=0)
    return [*(_sum_of_counts(counts, f) for counts in totals), int(table.sum())]


def _sum_of_counts(counts: NDArray[np.int64], f: NDArray[np.int64]) -> int:
    return int((f[counts] if len(f) else counts**2).sum())


def _sums_by_sorting(
    a: NDArray[Any], b: NDArray[Any], counts: NDArray[np.int64], height: int, width: int, f: NDArray[np.int64]
) -> list[int]:
    both = (a < height) & (b < width)
    x, y, counts = a[both].astype(np.int64), b[both].astype(np.int64), counts[both]
    return [*(_sum_of_counts(_tally(values, counts), f) for values in (x * width + y, x, y)), int(counts.sum())]


def _tally(values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum of the counts of each distinct value."""
    order = np.argsort(values)
    starts = np.flatnonzero(np.diff(values[order], prepend=-1))
    return np.add.reduceat(counts[order], starts) if len(order) else counts
