"""Element-centric similarity of the partitions of an ensemble, object by object."""

from typing import Any

from ensemblage.kernels._jit import jit


@jit
def add_element_similarities(
    columns: Any, counts: Any, n_clusters: Any, weights: Any, a: int, table: Any, sums: Any, known: Any
) -> None:
    """columns : IN (p, m) codes
    counts : IN (m,) objects with each row
    n_clusters : IN (p,); a code of so much is a missing label
    weights : IN (p,)
    a : IN the partition that is compared with all after it
    table : IN/OUT (≥ (k_a + 1) (k_b + 1) + k_a + k_b + 2,) int64 scratch
    sums : IN/OUT (m,) weighted similarities
    known : IN/OUT (m,) weights of the pairs of partitions that both label the row
    """
    p, m = columns.shape
    height = n_clusters[a] + 1
    for b in range(a + 1, p):
        width, w = n_clusters[b] + 1, weights[a] * weights[b]
        cells = table[: height * width]
        of_a = table[height * width : height * width + height]
        of_b = table[height * width + height : height * width + height + width]
        cells[:] = 0
        of_a[:] = 0
        of_b[:] = 0
        for i in range(m):
            x, y = columns[a, i], columns[b, i]
            if x < height - 1 and y < width - 1:
                cells[x * width + y] += counts[i]
                of_a[x] += counts[i]
                of_b[y] += counts[i]
        for i in range(m):
            x, y = columns[a, i], columns[b, i]
            if x < height - 1 and y < width - 1:
                sums[i] += w * cells[x * width + y] / max(of_a[x], of_b[y])
                known[i] += w
