"""The edges of a graph: how often partitions join their ends, and the core of the graph."""

from typing import Any

from ensemblage.kernels._jit import jit


@jit
def count_joined(
    indptr: Any, indices: Any, start: int, codes: Any, missing: Any, weights: Any, joined: Any, both: Any
) -> None:
    """Weight of the partitions that join the two nodes of each entry of a matrix, and of those that label both.

    indptr : IN (r + 1,) where each of r rows begins, of which the first is row ``start``
    indices : IN (nnz,) columns of all rows
    codes : IN (n, p) whole numbers
    missing : IN (p,) of the same type, what stands for no label
    weights : IN (p,) float64; sums of ones are whole, and those of others go in the order of the partitions
    joined, both : OUT (nnz,) float64; entries of these rows alone are written
    """
    p = codes.shape[1]
    for i in range(indptr.shape[0] - 1):
        row = codes[start + i]
        for s in range(indptr[i], indptr[i + 1]):
            other = codes[indices[s]]
            n_joined, n_both = 0.0, 0.0
            for j in range(p):
                labelled = (row[j] != missing[j]) & (other[j] != missing[j])
                n_joined += weights[j] * (labelled & (row[j] == other[j]))
                n_both += weights[j] * labelled
            joined[s], both[s] = n_joined, n_both


@jit
def peel(indptr: Any, indices: Any, least: int, degrees: Any, stack: Any) -> None:
    """Take out nodes with fewer than ``least`` neighbours until none is left: the others are the core.

    indptr, indices : IN a symmetric matrix without diagonal
    degrees : IN/OUT (n,) int64 neighbours of each node; afterwards those in the core, -1 of a node outside it
    stack : WORK (n,) int64
    """
    n_stacked = 0
    for i in range(degrees.shape[0]):
        if degrees[i] < least:
            degrees[i] = -1
            stack[n_stacked] = i
            n_stacked += 1
    while n_stacked > 0:
        n_stacked -= 1
        i = stack[n_stacked]
        for s in range(indptr[i], indptr[i + 1]):
            j = indices[s]
            if degrees[j] >= 0:
                degrees[j] -= 1
                if degrees[j] < least:
                    degrees[j] = -1
                    stack[n_stacked] = j
                    n_stacked += 1
