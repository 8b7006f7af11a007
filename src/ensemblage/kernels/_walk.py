"""The random walk on a graph, in the place of the graph: sparse matrices of which no second copy fits the memory."""

from typing import Any

from ensemblage.kernels._jit import jit
from ensemblage.kernels._minimax import association
from ensemblage.kernels._slices import next_rows


@jit
def walk_in_place(indptr: Any, indices: Any, data: Any, scale: Any, offset: Any, number: Any) -> int:
    """Scale rows and columns and add to the diagonal, whose entries must all be there. Returns the entries kept.

    indptr : IN/OUT (m + 1,) where each row begins; afterwards the first r + 1 for the r rows kept
    indices : IN/OUT columns; afterwards those of the rows kept
    data : IN/OUT similarities; afterwards scaled, with the offset on the diagonal
    scale : IN (m,) float64
    offset : IN (m,) float64, added to the diagonal
    number : IN (m,) new number of each row, ascending; -1 = left out (nothing but its diagonal entry)
    """
    kept, row, start = 0, 0, indptr[0]
    for i in range(number.shape[0]):
        stop = indptr[i + 1]
        if number[i] >= 0:
            for s in range(start, stop):
                j = indices[s]
                value = scale[i] * data[s] * scale[j]
                if j == i:
                    value += offset[i]
                data[kept], indices[kept] = value, number[j]
                kept += 1
            row += 1
            indptr[row] = kept
        start = stop
    return kept


@jit
def mark_diagonal(indptr: Any, indices: Any, present: Any) -> None:
    """indptr : IN (m + 1,)
    indices : IN
    present : OUT (m,) bool, rows that have an entry on the diagonal
    """
    for i in range(present.shape[0]):
        present[i] = False
        for s in range(indptr[i], indptr[i + 1]):
            present[i] |= indices[s] == i


@jit
def count_strong(matrix: Any, values: Any, least: float, progress: Any, degrees: Any, budget: int) -> bool:
    """Returns whether rows are left to count.

    matrix : IN (m, m) levels, or associations if values is empty
    values : IN association of each level
    least : IN associations up to it are no edges; the diagonal always is one
    progress : WORK (1,) zero; rows counted
    degrees : OUT (m,) entries of each row
    budget : IN operations of this slice
    """
    m = matrix.shape[0]
    first, last = next_rows(m, 2 * m, budget, progress)
    for i in range(first, last):
        degrees[i] = 0
        for j in range(m):
            degrees[i] += i == j or association(matrix, values, i, j) > least
    return bool(last < m)


@jit
def fill_strong(matrix: Any, values: Any, least: float, progress: Any, indices: Any, data: Any, budget: int) -> bool:
    """Returns whether rows are left.

    matrix : IN as in count_strong
    values : IN
    least : IN
    progress : WORK (2,) zeros; rows done, entries found
    indices : OUT columns, ascending in each row
    data : OUT float64 associations
    budget : IN operations of this slice
    """
    m, n_found = matrix.shape[0], progress[1]
    first, last = next_rows(m, 2 * m, budget, progress)
    for i in range(first, last):
        for j in range(m):
            value = association(matrix, values, i, j)
            if i == j or value > least:
                indices[n_found], data[n_found] = j, value
                n_found += 1
    progress[1] = n_found
    return bool(last < m)
