"""The nearest of rows that lie in cells: a cell that is farther than what was found is left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._points import squared_distances

ROWS_AT_ONCE = 512
"""Rows of a cell whose distances are computed at once."""
MARGIN = 1e-9
"""By how much a bound is less, as a part of it: its own rounding leaves out no row."""


@jit
def nearest_in_cells(
    queries: Any,
    columns: Any,
    names: Any,
    starts: Any,
    centres: Any,
    radii: Any,
    room: Any,
    lower: Any,
    home: Any,
    squares: Any,
    nearest: Any,
) -> None:
    """The K nearest rows of each query by (squared distance, number), exactly; O(q n d) time at most.

    By the triangle inequality no row of a cell is nearer than the distance to its centre less its radius.

    queries : IN (q, d)
    columns : IN (d, n) features of the rows, cell after cell
    names : IN (n,) int64 their numbers
    starts : IN (C + 1,) int64 first row of each cell
    centres : IN (d, C)
    radii : IN (C,) a little more than the distance of the farthest row to its centre
    room : WORK (max(C, ROWS_AT_ONCE),)
    lower : WORK (q, C) squared distances that no row of a cell is below
    home : WORK (q,) int64 the cell with the nearest centre
    squares : OUT (q, K) squared distances, summed in the order of the features; infinite after the n-th
    nearest : OUT (q, K) int64 numbers of the rows; n after the n-th
    """
    n_queries, n_cells, last = queries.shape[0], radii.shape[0], squares.shape[1] - 1
    squares[:] = np.inf
    nearest[:] = names.shape[0]
    for i in range(n_queries):
        apart = room[:n_cells].reshape(1, n_cells)
        squared_distances(centres, np.int64(0), queries[i : i + 1], apart)
        own = 0
        for c in range(n_cells):
            if apart[0, c] < apart[0, own]:
                own = c
            bound = max(0.0, np.sqrt(apart[0, c]) * (1 - MARGIN) - radii[c])
            lower[i, c] = bound * bound * (1 - MARGIN)
        home[i] = own
    for step in range(2):  # the cell of each query first, which shows what of the others is too far
        for c in range(n_cells):  # cell after cell, so that its rows stay in the cache for all queries
            for i in range(n_queries):
                if (home[i] == c) == (step == 0) and lower[i, c] <= squares[i, last]:
                    query, cell = queries[i : i + 1], (starts[c], starts[c + 1])
                    search_cell(columns, names, cell, query, room, squares[i], nearest[i])


@inner_jit
def search_cell(columns: Any, names: Any, cell: Any, query: Any, room: Any, squares: Any, nearest: Any) -> None:
    """Put rows of a cell that are nearer among the K nearest of a query.

    columns, names, room : as in `nearest_in_cells`
    cell : IN first of its rows, and the one after its last
    query : IN (1, d)
    squares, nearest : IN/OUT (K,) ascending by squared distance and number
    """
    last = squares.shape[0] - 1
    for first in range(cell[0], cell[1], ROWS_AT_ONCE):
        size = min(ROWS_AT_ONCE, cell[1] - first)
        found = room[:size].reshape(1, size)
        squared_distances(columns, first, query, found)
        for j in range(size):
            square = found[0, j]
            if square > squares[last]:
                continue
            name, place = names[first + j], last
            if square == squares[last] and name > nearest[last]:
                continue
            while place > 0 and (
                squares[place - 1] > square or (squares[place - 1] == square and nearest[place - 1] > name)
            ):
                squares[place], nearest[place] = squares[place - 1], nearest[place - 1]
                place -= 1
            squares[place], nearest[place] = square, name
