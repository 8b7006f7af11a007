"""Contingency tables of pairs of partitions, and the sums over them that agreement needs."""

from typing import Any

import numpy as np

from ensemblage._jit import jit


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
def sum_table(
    flat: Any,  # IN (height + 1) * (width + 1) cells
    height: int,  # IN clusters of one partition
    width: int,  # IN clusters of the other
    f: Any,  # IN f[count], or empty for count²
    sums: Any,  # OUT (4,) sum of f over cells, row totals, column totals; objects that both label
) -> None:
    down = np.zeros(width, dtype=np.int64)
    sums[:] = 0
    for r in range(height):
        row = flat[r * (width + 1) : r * (width + 1) + width]
        across = np.int64(0)
        for c in range(width):
            across += row[c]
            down[c] += row[c]
        sums[0] += summed(row, f)
        sums[1] += across * across if f.shape[0] == 0 else f[across]
        sums[3] += across
    sums[2] = summed(down, f)


@jit
def contingency_of_pairs(
    columns: Any,  # IN (p, n) codes
    counts: Any,  # IN (n,) objects with each row
    pairs: Any,  # IN (q, 2) partitions
    begins: Any,  # IN (q + 1,) where the table of each pair begins
    n_clusters: Any,  # IN (p,)
    flat: Any,  # IN/OUT int64 tables
) -> None:
    for q in range(pairs.shape[0]):
        i, j = pairs[q]
        contingency(columns[i], columns[j], counts, n_clusters[j] + 1, flat[begins[q] : begins[q + 1]])


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
        flat = table[: (heights + 1) * (widths[j] + 1)]
        flat[:] = 0
        contingency(a, columns[j], counts, widths[j] + 1, flat)
        sum_table(flat, heights, widths[j], f, sums[:, j])
