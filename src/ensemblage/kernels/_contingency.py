"""Counts of objects by label: of the members of clusters (profiles), and of pairs of partitions (contingency tables).

Profiles are the sufficient statistic of densities, losses and centroids; agreement needs sums over contingency tables.
"""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit


@jit
def add_labels(codes: Any, clusters: Any, counts: Any, offsets: Any, profile: Any) -> None:
    """codes : IN (n, p)
    clusters : IN (n,) cluster of each row, negative = none
    counts : IN (n,) objects with that row
    offsets : IN (p + 1,)
    profile : IN/OUT (k, offsets[p]) int64
    """
    for i in range(codes.shape[0]):
        c = clusters[i]
        if c >= 0:
            for j in range(codes.shape[1]):
                profile[c, offsets[j] + codes[i, j]] += counts[i]


@jit
def tally_clusters(clusters: Any, counts: Any, sizes: Any, first: Any) -> None:
    """clusters : IN (n,) cluster of each row, negative = none
    counts : IN (n,) objects with that row
    sizes : IN/OUT (k,) int64, objects
    first : IN/OUT (k,) int64, first row of each cluster; negative before
    """
    for i in range(clusters.shape[0]):
        c = clusters[i]
        if c >= 0:
            sizes[c] += counts[i]
            if first[c] < 0:
                first[c] = i


@jit
def contingency(a: Any, b: Any, counts: Any, width: int, table: Any) -> None:
    """a : IN (n,) codes of one partition
    b : IN (n,) codes of another
    counts : IN (n,) objects with that row
    width : IN codes of b, missing included
    table : IN/OUT flat int64, cell a * width + b
    """
    for i in range(a.shape[0]):
        table[np.int64(a[i]) * width + np.int64(b[i])] += counts[i]


@inner_jit
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


@inner_jit
def sum_table(flat: Any, height: int, width: int, f: Any, sums: Any) -> None:
    """flat : IN (height + 1) * (width + 1) cells
    height : IN clusters of one partition
    width : IN clusters of the other
    f : IN f[count], or empty for count²
    sums : OUT (4,) sum of f over cells, row totals, column totals; objects that both label
    """
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
def contingency_of_pairs(columns: Any, counts: Any, pairs: Any, begins: Any, n_clusters: Any, flat: Any) -> None:
    """columns : IN (p, n) codes
    counts : IN (n,) objects with each row
    pairs : IN (q, 2) partitions
    begins : IN (q + 1,) where the table of each pair begins
    n_clusters : IN (p,)
    flat : IN/OUT int64 tables
    """
    for q in range(pairs.shape[0]):
        i, j = pairs[q]
        contingency(columns[i], columns[j], counts, n_clusters[j] + 1, flat[begins[q] : begins[q + 1]])


@jit
def agreement_sums(
    a: Any, columns: Any, counts: Any, heights: int, widths: Any, chosen: Any, f: Any, table: Any, sums: Any
) -> None:
    """a : IN (n,) codes of one partition
    columns : IN (p, n) codes of the others
    counts : IN (n,) objects with each row
    heights : IN clusters of a
    widths : IN (p,) clusters of the others
    chosen : IN the others to compare a with
    f : IN f[count], or empty for count²
    table : WORK flat int64, holds the largest table
    sums : OUT (p, 4) sum of f over cells, row totals, column totals; objects that both label
    """
    for j in chosen:
        flat = table[: (heights + 1) * (widths[j] + 1)]
        flat[:] = 0
        contingency(a, columns[j], counts, widths[j] + 1, flat)
        sum_table(flat, heights, widths[j], f, sums[j])
