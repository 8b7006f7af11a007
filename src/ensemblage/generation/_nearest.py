"""The nearest of many rows to many others: exact, by cells of rows that the triangle inequality leaves out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ensemblage.kernels._cells import MARGIN, ROWS_AT_ONCE, nearest_in_cells
from ensemblage.labels.threads import one_native_thread, parallel_map, row_blocks

Matrix = NDArray[np.float64]
LEAST_PAIRS = 2**25
"""Pairs of rows from which on cells are faster, the compiling of their kernels counted, too."""
MOST_FEATURES = 40
"""With more the products of matrices by which scikit-learn finds neighbours are as fast."""
STEPS, ROWS_OF_CELL = 3, 32
"""Steps of k-means that make the cells, and rows that it looks at for each."""
QUERIES_AT_ONCE = 256
ROUNDING = 1e-12
"""Of a squared distance that is computed as a difference of products, in squares of the rows' lengths."""


class Cells(NamedTuple):
    """Rows, (n, d), in the order of the cells that they lie in."""

    columns: Matrix
    """(d, n)"""
    names: NDArray[np.intp]
    """(n,) their numbers."""
    starts: NDArray[np.int64]
    """(C + 1,) the first of each cell."""
    centres: Matrix
    """(d, C)"""
    radii: Matrix
    """(C,) no row of a cell is farther from its centre."""

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")  # then no cell is left out
    def of(cls, X: Matrix, n_jobs: int | None = 1) -> Cells:
        """About 2 n^(1/3) cells, which decide how long a search takes, never its result.

        O(n^(4/3) d) time, 8 n d bytes.
        """
        n = len(X)
        n_cells = min(n, round(2 * n ** (1 / 3)))
        some = X[np.linspace(0, n - 1, min(n, ROWS_OF_CELL * n_cells)).astype(np.intp)]
        centres = some[np.linspace(0, len(some) - 1, n_cells).astype(np.intp)].copy()
        for _ in range(STEPS):
            order, counts = _in_cells(_nearest_centres(some, centres), n_cells)
            filled = counts > 0
            starts = np.cumsum(counts) - counts
            centres[filled] = np.add.reduceat(some[order], starts[filled]) / counts[filled, None]
        blocks = row_blocks(n)
        with one_native_thread():
            nearest = parallel_map(lambda rows: _nearest_centres(X[rows], centres), blocks, n_jobs)
        order, counts = _in_cells(np.concatenate(nearest), n_cells)
        columns, starts = np.empty((X.shape[1], n)), np.append(0, np.cumsum(counts))
        parallel_map(lambda rows: np.copyto(columns[:, rows], X[order[rows]].T), blocks, n_jobs)
        parts = zip(centres, starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        squares = [((columns[:, i:j] - centre[:, None]) ** 2).sum(axis=0).max(initial=0.0) for centre, i, j in parts]
        return cls(columns, order, starts, np.ascontiguousarray(centres.T), np.sqrt(squares) * (1 + MARGIN))

    def nearest(self, queries: Matrix, k: int) -> tuple[Matrix, NDArray[np.int64]]:
        """(q, k) squared distances of the k nearest rows of each query, (q, d), and their numbers; ascending."""
        n_queries, n_cells = len(queries), len(self.radii)
        squares, nearest = np.empty((n_queries, k)), np.empty((n_queries, k), dtype=np.int64)
        room, lower = np.empty(max(n_cells, ROWS_AT_ONCE)), np.empty((n_queries, n_cells))
        home = np.empty(n_queries, dtype=np.int64)
        nearest_in_cells(np.ascontiguousarray(queries), *self, room, lower, home, squares, nearest)
        return squares, nearest


def are_for_cells(X: Any, queries: Any) -> bool:
    """Whether the nearest rows of X, (n, d), to queries, (q, d), are found by cells."""
    are_rows = isinstance(X, np.ndarray) and isinstance(queries, np.ndarray) and X.dtype == queries.dtype == np.float64
    return are_rows and X.shape[1] <= MOST_FEATURES and len(X) * len(queries) >= LEAST_PAIRS


def nearest_by_cells(X: Matrix, queries: Matrix, k: int, n_jobs: int | None = 1) -> tuple[Matrix, NDArray[np.int64]]:
    """(q, k) squared distances of the k nearest rows of X to each query, and their numbers; ascending."""
    cells = Cells.of(X, n_jobs)
    found = parallel_map(lambda rows: cells.nearest(queries[rows], k), _blocks(0, len(queries)), n_jobs)
    squares, nearest = zip(*found, strict=True)
    return np.concatenate(squares), np.concatenate(nearest)


def clearly_nearest(X: Matrix, queries: Matrix, n_jobs: int | None = 1) -> NDArray[np.intp] | None:
    """(q,) the row of X that is nearest to each query; None where for some query two are as near but for rounding.

    Whoever computes the distances in another way finds the same rows, unless this is None.
    """
    cells, found = Cells.of(X, n_jobs), list[NDArray[np.intp]]()

    @np.errstate(over="ignore", invalid="ignore")
    def nearest_of(rows: slice) -> NDArray[np.intp] | None:
        some = queries[rows]
        squares, nearest = cells.nearest(some, 2)
        are_clear = squares[:, 1] - squares[:, 0] > slack_of_products(some, squares[:, 1])
        return nearest[:, 0] if are_clear.all() else None

    done, step = 0, 4 * QUERIES_AT_ONCE
    while done < len(queries):  # few at first, for where some are as near these are mostly among them
        of_step = parallel_map(nearest_of, _blocks(done, min(len(queries), done + step)), n_jobs)
        clear = [part for part in of_step if part is not None]
        if len(clear) < len(of_step):
            return None
        found, done, step = found + clear, done + step, 2 * step
    return np.concatenate(found)


def slack_of_products(X: Matrix, squares: Matrix) -> Matrix:
    """(n,) by how much squared distances to a row differ if products of matrices give them in the same order.

    ``squares``, (n,), are the larger ones that are compared.
    """
    return np.asarray(ROUNDING * (8 * (X**2).sum(axis=1) + 2 * squares))


def have_ties(X: Matrix) -> bool:
    """Whether from one of the first 100 rows of X two others are as far but for rounding, as from copies."""
    squares = np.sort(cdist(X[:100], X, "sqeuclidean"), axis=1)
    return bool((np.diff(squares, axis=1) <= ROUNDING * squares[:, 1:]).any())


def _blocks(first: int, last: int) -> list[slice]:
    return [slice(i, min(last, i + QUERIES_AT_ONCE)) for i in range(first, last, QUERIES_AT_ONCE)]


@np.errstate(over="ignore", invalid="ignore")
def _nearest_centres(X: Matrix, centres: Matrix) -> NDArray[np.intp]:
    """(n,) but for rounding."""
    halves = (centres**2).sum(axis=1) / 2
    return np.asarray((X @ centres.T - halves).argmax(axis=1))


def _in_cells(cells: NDArray[np.intp], n_cells: int) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The rows, cell after cell, and how many each has."""
    return np.argsort(cells, kind="stable"), np.bincount(cells, minlength=n_cells)
