"""The nearest neighbours of rows, and the graph of them."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

Weights = Literal["umap", "unit"]
WEIGHTS = ("umap", "unit")
MOST_EXACT = 100_000
"""Rows of which all distances are computed, where pynndescent is at hand for more."""
STEPS, TOLERANCE = 64, 1e-5
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
    for _ in range(STEPS):
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
