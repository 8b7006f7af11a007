"""The nearest of many rows to many others, and the graph of the nearest neighbours.

The search by cells is exact: the triangle inequality leaves rows out.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from ensemblage.base.threads import one_native_thread, parallel_map, row_blocks
from ensemblage.kernels._cells import MARGIN, ROWS_AT_ONCE, nearest_in_cells

Matrix = NDArray[np.float64]
LEAST_PAIRS = 2**25
"""Pairs of rows from which on cells are faster, the compiling of their kernels counted, too."""
MOST_FEATURES = 40
"""With more the products of matrices by which scikit-learn finds neighbours are as fast."""
STEPS, ROWS_OF_CELL = 3, 32
"""Steps of k-means that make the cells, and rows that it looks at for each."""
CELLS_HALVED = 10
"""Features from which on half as many cells are faster."""
QUERIES_AT_ONCE = 256
ROUNDING = 1e-12
"""Of a squared distance that is computed as a difference of products, in squares of the rows' lengths."""


class RowCells(NamedTuple):
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
    def of(cls, X: Matrix, n_jobs: int | None = 1) -> RowCells:
        """About 2 n^(1/3) cells, half as many with many features: they decide how long a search takes, not its result.

        O(n^(4/3) d) time, 8 n d bytes.
        """
        n = len(X)
        # With many features few cells are left out, and each costs the distance to its centre.
        n_cells = min(n, round((2 if X.shape[1] < CELLS_HALVED else 1) * n ** (1 / 3)))
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
    cells = RowCells.of(X, n_jobs)
    found = parallel_map(lambda rows: cells.nearest(queries[rows], k), _blocks(0, len(queries)), n_jobs)
    squares, nearest = zip(*found, strict=True)
    return np.concatenate(squares), np.concatenate(nearest)


def clearly_nearest(X: Matrix, queries: Matrix, n_jobs: int | None = 1) -> NDArray[np.intp] | None:
    """(q,) the row of X that is nearest to each query; None where for some query two are as near but for rounding.

    Whoever computes the distances in another way finds the same rows, unless this is None.
    """
    cells, found = RowCells.of(X, n_jobs), list[NDArray[np.intp]]()

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


Weights = Literal["umap", "unit"]
WEIGHTS = ("umap", "unit")
MOST_EXACT = 100_000
"""Rows of which all distances are computed, where pynndescent is at hand for more."""
SIGMA_STEPS, TOLERANCE = 64, 1e-5
"""Of the search for σ, as umap-learn's."""
LEAST_SIGMA = 1e-3
"""As a part of the mean distance."""


class Neighbours(NamedTuple):
    """The nearest other rows of each row, nearest first."""

    rows: NDArray[np.int64]
    """(n, K)"""
    distances: NDArray[np.float64]
    """(n, K)"""

    def among(self, objects: NDArray[np.intp], k: int) -> Neighbours:
        """The k nearest of each of some rows among them, by their places there.

        A row of which fewer than k are among its K nearest of all has these; the places of the others are -1.
        """
        place = np.full(len(self.rows), -1, dtype=np.int64)
        place[objects] = np.arange(len(objects))
        found = place[self.rows[objects]]
        order = np.argsort(found < 0, axis=1, kind="stable")[:, :k]  # those that are there first, in their order
        return Neighbours(
            np.take_along_axis(found, order, axis=1), np.take_along_axis(self.distances[objects], order, axis=1)
        )


def nearest_neighbours(X: Any, k: int, seed: int = 0) -> Neighbours:
    """The k nearest other rows of each row of X, Euclidean.

    Exact by scikit-learn's NearestNeighbors; of more than 100,000 rows by pynndescent where it is installed, which
    misses one neighbour in a hundred or so. O(n² m) time, or about O(n^1.2); 16 n k bytes.
    """
    if X.shape[0] > MOST_EXACT and find_spec("pynndescent"):
        search = importlib.import_module("pynndescent").NNDescent
        rows, distances = search(X, n_neighbors=k + 1, random_state=seed, n_jobs=1).neighbor_graph
        return _drop_self(rows.astype(np.int64), distances.astype(np.float64))
    distances, rows = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    return Neighbours(rows.astype(np.int64), distances.astype(np.float64))


def _drop_self(rows: NDArray[np.int64], distances: NDArray[np.float64]) -> Neighbours:
    """One neighbour less: the row itself, or the last where it is not among them."""
    is_self = rows == np.arange(len(rows))[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    is_self &= np.cumsum(is_self, axis=1) == 1
    shape = (len(rows), rows.shape[1] - 1)
    return Neighbours(rows[~is_self].reshape(shape), distances[~is_self].reshape(shape))


def neighbour_graph(neighbours: Neighbours, weights: Weights = "umap") -> csr_array:
    """(n, n) symmetric graph of two rows one of which is a neighbour of the other, nothing on the diagonal.

    "unit" gives each edge 1. "umap" gives what scanpy's ``connectivities`` are (McInnes, Healy & Melville 2018, Sec.
    3.1): with ρ_i the distance to the nearest neighbour that is not at 0, and σ_i such that over the k neighbours
    Σ_j exp(-max(0, d_ij - ρ_i) / σ_i) = log₂(k + 1), a_ij is this exponential and the weight a_ij + a_ji - a_ij a_ji.
    """
    is_there = neighbours.rows >= 0
    values = memberships(neighbours.distances, is_there) if weights == "umap" else np.ones(neighbours.rows.shape)
    n = len(neighbours.rows)
    indptr = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
    one_way = csr_array((values[is_there], neighbours.rows[is_there], indptr), shape=(n, n))
    if weights == "umap":
        graph = csr_array(one_way + one_way.T - one_way.multiply(one_way.T))
    else:
        graph = csr_array(one_way.maximum(one_way.T))
    graph.sum_duplicates()
    graph.sort_indices()
    return graph


def memberships(distances: NDArray[np.float64], is_there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(n, k) exp(-max(0, d - ρ) / σ) of each neighbour that is there, σ found by bisection as umap-learn does."""
    filled = np.where(is_there, distances, np.inf)
    positive = np.where(filled > 0, filled, np.inf).min(axis=1)
    rho = np.where(np.isfinite(positive), positive, 0.0)[:, None]
    excess = np.maximum(filled - rho, 0.0)
    target = np.log2(is_there.sum(axis=1) + 1.0)  # umap-learn counts the row itself among its neighbours
    sigma, low, high = np.ones(len(filled)), np.zeros(len(filled)), np.full(len(filled), np.inf)
    for _ in range(SIGMA_STEPS):
        off = np.exp(-excess / sigma[:, None]).sum(axis=1) - target
        open_ = np.abs(off) >= TOLERANCE
        if not open_.any():
            break
        too_wide = off > 0
        high, low = np.where(too_wide, sigma, high), np.where(too_wide, low, sigma)
        wider = np.where(np.isinf(high), sigma * 2, (low + high) / 2)
        sigma = np.where(open_, wider, sigma)
    finite = np.where(is_there, distances, 0.0)
    of_row = finite.sum(axis=1) / (is_there.sum(axis=1) + 1)
    overall = finite.sum() / (is_there.sum() + len(finite))
    sigma = np.maximum(sigma, LEAST_SIGMA * np.where(rho[:, 0] > 0, of_row, overall))
    return np.asarray(np.where(is_there, np.exp(-excess / sigma[:, None]), 0.0))
