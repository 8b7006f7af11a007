"""Some of many rows, without those that lie between clusters: what is clustered where all rows would take too long."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from ensemblage.base.threads import one_native_thread, parallel_map
from ensemblage.generation._nearest import are_for_cells, have_ties, nearest_by_cells, slack_of_products

Matrix = NDArray[np.float64]
MOST_WHOLE, SAMPLE_SIZE = 10_000, 5_000
"""Objects up to which the default clusters all, and how many it draws of more (docs/SCALE.md)."""
MOST_OF_SAMPLE = 200
"""Clusters that so many drawn objects can show."""
NTH = 15
"""Which neighbour's distance says how sparse a place is, and of how many neighbours the median of it is taken."""
MOST_OF_TREE = 15
"""Features up to which neighbours are found by a tree, as scikit-learn decides it, too."""
MOST_VALUES, LEAST_OTHERS = 10**7, 20_000
"""Values of the objects among which the neighbours of drawn rows are sought: of more, so many are drawn, and so many
objects at least."""
KEPT = 0.8
"""Part of the drawn rows that is clustered."""
ROWS_OF_CELL, LEAST_OF_CELL = 100, 20
"""Drawn rows of a cell on average, and how many of it stay at least."""


def size_of_sample(n: int) -> int | None:
    """How many of n objects the default draws; None: it clusters all."""
    return SAMPLE_SIZE if n > MOST_WHOLE else None


def dense_rows(X: Any, sample_size: int, seed: int, n_jobs: int | None = 1) -> tuple[NDArray[np.intp], Matrix]:
    """All of n rows, or of more than ``sample_size`` those that are clustered, ascending: their numbers, and they.

    X is an array, or features that are read by rows. So many are drawn by the seed, and the fifth in places that are
    sparse beside those of their neighbours is left out: it lies between clusters or at their edges more often than in
    them. A cluster that is sparse as a whole stays; in each of the cells of the drawn rows, 100 rows each on average,
    20 stay at least. O(n m log n) time in few dimensions, O(n m) for each drawn row in many; n is at most 10⁷ / m, and
    20,000 at least.
    """
    if len(X) <= sample_size:
        return np.arange(len(X)), X[np.arange(len(X))]
    rows, others = drawn_rows(len(X), X.shape[1], sample_size, seed)
    looked_at = X if isinstance(X, np.ndarray) and len(others) == len(X) else X[others]
    drawn = looked_at[np.searchsorted(others, rows)]
    kept = are_dense(drawn, looked_at, seed, n_jobs)
    return rows[kept], drawn[kept]


def drawn_rows(n: int, m: int, sample_size: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The drawn rows of n with m features, and the rows searched for their neighbours; ascending."""
    order = np.random.RandomState(seed).permutation(n)
    most = max(LEAST_OTHERS, sample_size, MOST_VALUES // m)
    return np.sort(order[:sample_size]), np.sort(order[:most])


def are_dense(drawn: Matrix, others: Matrix, seed: int, n_jobs: int | None = 1) -> NDArray[np.bool_]:
    """(m,) which of the drawn rows are clustered, by their neighbours among other rows, of which they are some."""
    size, by_tree = min(NTH + 1, len(others)), drawn.shape[1] <= MOST_OF_TREE
    by_cells = are_for_cells(others, drawn) and (by_tree or not have_ties(drawn))
    steps: list[Callable[[], Any]] = [
        partial(_cells, drawn, seed),
        partial(_near, drawn, by_cells and by_tree, n_jobs),
        partial(_squares, drawn, others, size if by_cells else 0, n_jobs),
    ]
    with one_native_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal rows are no fault of k-means here
        cells, near, squares = parallel_map(lambda step: step(), steps, n_jobs)
    if by_cells:
        sparsity = _sparsity(np.sqrt(squares), near)
        if by_tree or _are_clearly_kept(sparsity, _errors(drawn, squares, near), cells):
            return _are_kept(sparsity, cells)
    with one_native_thread():
        return _are_kept(_sparsity(_far(drawn, others, size), near), cells)


def _squares(drawn: Matrix, others: Matrix, size: int, n_jobs: int | None) -> Matrix:
    """(m,) squared distance of drawn rows to the last of so many nearest other rows, found by cells; 0: none."""
    return nearest_by_cells(others, drawn, size, n_jobs)[0][:, -1] if size else np.empty(0)


def _near(drawn: Matrix, by_cells: bool, n_jobs: int | None) -> NDArray[np.intp]:
    """(m, 15) the nearest other drawn rows of each, in any order; by cells where these tell them for sure."""
    k = min(NTH, len(drawn) - 1)
    if by_cells and k + 2 <= len(drawn):
        squares, rows = nearest_by_cells(drawn, drawn, k + 2, n_jobs)
        if (squares[:, -1] - squares[:, -2] > slack_of_products(drawn, squares[:, -1])).all():
            with_self = rows[:, :-1]
            others: NDArray[np.intp] = with_self[with_self != np.arange(len(drawn))[:, None]].reshape(len(drawn), k)
            return others
    with one_native_thread():
        nearest: NDArray[np.intp] = NearestNeighbors(n_neighbors=k).fit(drawn).kneighbors(return_distance=False)
    return nearest


def _far(drawn: Matrix, others: Matrix, size: int) -> Matrix:
    """(m,) distance of drawn rows to the last of so many nearest other rows, themselves the first."""
    rule = "brute" if others.shape[1] > MOST_OF_TREE else "kd_tree"
    distances: Matrix = NearestNeighbors(n_neighbors=size, algorithm=rule).fit(others).kneighbors(drawn)[0]
    return distances[:, -1]


def _sparsity(far: Matrix, near: NDArray[np.intp]) -> Matrix:
    """(m,) the distance of drawn rows to the 15th nearest other of all, over its median in the neighbourhood."""
    usual = np.median(far[near], axis=1)
    ratios: Matrix = np.divide(far, usual, out=np.where(far > 0, np.inf, 1.0), where=usual > 0)
    return ratios


def _are_kept(sparsity: Matrix, cells: NDArray[np.int32]) -> NDArray[np.bool_]:
    """(m,) four fifths of all, and 20 of each cell: those in the least sparse places."""
    order = np.argsort(sparsity, kind="stable")
    is_kept = np.zeros(len(order), dtype=bool)
    is_kept[order[: int(KEPT * len(order))]] = True
    for cell in np.unique(cells):
        is_kept[order[cells[order] == cell][:LEAST_OF_CELL]] = True
    return is_kept


def _errors(drawn: Matrix, squares: Matrix, near: NDArray[np.intp]) -> Matrix:
    """(m,) relative error of each sparsity at most, where distances are differences of products.

    ``squares``, (m,), are the squared distances to the 15th nearest.
    """
    of_squares = np.full(len(drawn), np.inf)
    np.divide(slack_of_products(drawn, squares), squares, out=of_squares, where=squares > 0)
    return np.asarray(of_squares + of_squares[near].max(axis=1))


def _are_clearly_kept(sparsity: Matrix, errors: Matrix, cells: NDArray[np.int32]) -> bool:
    """Whether errors of the sparsity, relative to it, (m,), change none of `_are_kept`."""
    with np.errstate(invalid="ignore"):
        low, high = sparsity * (1 - errors), sparsity * (1 + errors)
    order = np.argsort(sparsity, kind="stable")
    ranks = [order, *(order[cells[order] == cell] for cell in np.unique(cells))]
    parts = zip(ranks, [int(KEPT * len(order)), *[LEAST_OF_CELL] * (len(ranks) - 1)], strict=True)
    return all(len(of) <= n or high[of[:n]].max() < low[of[n:]].min() for of, n in parts)


def _cells(drawn: Matrix, seed: int) -> NDArray[np.int32]:
    """(m,) clusters of k-means."""
    n_cells = max(1, len(drawn) // ROWS_OF_CELL)
    with one_native_thread():  # sums of k-means depend on the number of threads
        cells: NDArray[np.int32] = KMeans(n_cells, n_init=1, random_state=seed).fit_predict(drawn)
    return cells
