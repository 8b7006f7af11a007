"""Contingency tables of pairs of partitions, and the sums over them that agreement needs."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage._jit import jit
from ensemblage._parallel import parallel_map


@jit
def contingency(
    a: Any,  # IN (n,) codes of one partition
    b: Any,  # IN (n,) codes of another
    counts: Any,  # IN (n,) objects with that row
    width: int,  # IN codes of b, missing included
    table: Any,  # IN/OUT flat int64, cell a * width + b
) -> None:
    for i in range(a.shape[0]):
        table[np.int64(a[i]) * width + np.int64(b[i])] += counts[i]


@jit
def summed(counts: Any, f: Any) -> Any:
    """Sum of f[count]; of count² where f is empty."""
    total = np.int64(0)
    if f.shape[0] == 0:
        for count in counts:
            total += count * count
    else:
        for count in counts:
            total += f[count]
    return total


@jit
def agreement_sums(
    a: Any,  # IN (n,) codes of one partition
    columns: Any,  # IN (p, n) codes of the others
    counts: Any,  # IN (n,) objects with each row
    heights: int,  # IN clusters of a
    widths: Any,  # IN (p,) clusters of the others
    chosen: Any,  # IN the others to compare a with
    f: Any,  # IN f[count], or empty for count²
    table: Any,  # WORK flat int64, holds the largest table
    sums: Any,  # OUT (4, p) sum of f over cells, row totals, column totals; objects that both label
) -> None:
    for j in chosen:
        k, width = widths[j], widths[j] + 1
        flat = table[: (heights + 1) * width]
        flat[:] = 0
        contingency(a, columns[j], counts, width, flat)
        down = np.zeros(k, dtype=np.int64)
        sums[:, j] = 0
        for r in range(heights):
            row = flat[r * width : r * width + k]
            across = np.int64(0)
            for c in range(k):
                across += row[c]
                down[c] += row[c]
            sums[0, j] += summed(row, f)
            sums[1, j] += across * across if f.shape[0] == 0 else f[across]
            sums[3, j] += across
        sums[2, j] = summed(down, f)


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


def contingency_tables(
    columns: NDArray[Any], counts: NDArray[Any], n_clusters: NDArray[np.int64], n_jobs: int | None = None
) -> ContingencyTables:
    """Count the contingency tables of all pairs of partitions.

    ``columns`` is (p, n) codes, contiguous; ``counts`` the objects with each of the n rows, or other weights of them:
    the tables are of their type. O(p² n) time, 8 bytes per cell.
    """
    pairs = list(combinations(range(len(columns)), 2))
    sizes = [int((n_clusters[i] + 1) * (n_clusters[j] + 1)) for i, j in pairs]
    begins = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    starts = np.full((len(columns), len(columns)), -1, dtype=np.int64)
    for (i, j), begin in zip(pairs, begins, strict=False):
        starts[i, j] = begin
    tables = ContingencyTables(np.zeros(begins[-1], dtype=counts.dtype), starts, n_clusters)

    def count(pair: int) -> None:
        i, j = pairs[pair]
        flat = tables.flat[begins[pair] : begins[pair + 1]]
        contingency(columns[i], columns[j], counts, int(n_clusters[j]) + 1, flat)

    parallel_map(count, range(len(pairs)), n_jobs)
    return tables


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
    sums = np.zeros((4, len(columns)), dtype=np.int64)
    cells = (height + 1) * (widths[chosen] + 1)
    dense = cells <= max(2**16, 4 * len(counts))
    table = np.empty(int(cells[dense].max(initial=0)), dtype=np.int64)
    agreement_sums(a, columns, counts, height, widths, chosen[dense], f, table, sums)
    for j in chosen[~dense]:
        sums[:, j] = _sums_by_sorting(a, columns[j], counts, height, int(widths[j]), f)
    return sums


def _sums_by_sorting(
    a: NDArray[Any], b: NDArray[Any], counts: NDArray[np.int64], height: int, width: int, f: NDArray[np.int64]
) -> list[int]:
    both = (a < height) & (b < width)
    x, y, counts = a[both].astype(np.int64), b[both].astype(np.int64), counts[both]
    return [*(summed(_tally(values, counts), f) for values in (x * width + y, x, y)), int(counts.sum())]


def _tally(values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum of the counts of each distinct value."""
    order = np.argsort(values)
    starts = np.flatnonzero(np.diff(values[order], prepend=-1))
    return np.add.reduceat(counts[order], starts) if len(order) else counts
