"""Probability trajectories (Huang, Lai & Wang 2016): how alike random walks are that begin at two label rows.

The objects of a label row are the paper's microcluster. Rows are joined to their elite neighbours, those of largest
co-association; a walk goes from row to row by P, and a row's trajectory is its distribution after 1, 2, …, T steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._graphs import walk
from ensemblage.kernels._neighbours import find_elite, find_thresholds
from ensemblage.kernels._vectors import LANES
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import check_stopped, parallel_map, row_blocks, rows_per_call

MOST_ROWS = 64
"""Rows whose neighbours a thread looks for at a time."""
WIDTH = 32
"""Vectors that walk side by side. Sums over rows do not depend on it, so no result does."""
DIGITS = 12
"""Decimal places of a similarity: below them is rounding, which would break ties."""


class Walk(NamedTuple):
    """A sparse matrix, (m, m), times matrices: one step of as many walks as these have columns."""

    indptr: NDArray[np.int64]
    neighbours: NDArray[np.uint32]
    weights: NDArray[np.float64]
    after: NDArray[np.float64]
    """(m,) factor of each row, of what its entries add up to."""
    zeros: NDArray[np.uint64]
    """(r,) as many as a row has entries at most."""

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The matrix times one of shape (m, b)."""
        check_stopped()
        m, b = points.shape
        if b % LANES:
            points = np.hstack([points, np.zeros((m, -b % LANES))])
        points = np.ascontiguousarray(points)
        walked = np.empty_like(points)
        walk(*self, points, walked)
        return walked[:, :b]


class EliteGraph(NamedTuple):
    """Who is whose elite neighbour, W: symmetric, its diagonal 0, in CSR."""

    indptr: NDArray[np.int64]
    neighbours: NDArray[np.uint32]
    links: NDArray[np.float64]
    counts: NDArray[np.float64]
    """(m,) objects of each row, n."""

    def out(self) -> NDArray[np.float64]:
        """(m,) 1 over the degree, the sum of n_l w_il over the rows l; 0 for a row without neighbours."""
        ones = np.ones((len(self.counts), 1))
        degrees = self._walk(self.counts, ones[:, 0])(ones)[:, 0]
        return np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)

    def forth(self) -> Walk:
        """P: P_ij = n_j w_ij / degree of i."""
        return self._walk(self.counts, self.out())

    def back(self) -> Walk:
        """P'."""
        return self._walk(self.out(), self.counts)

    def _walk(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> Walk:
        """diag(after) W diag(before)."""
        weights = before[self.neighbours]
        weights *= self.links
        zeros = np.zeros(np.diff(self.indptr).max(initial=0), dtype=np.uint64)
        return Walk(self.indptr, self.neighbours, weights, after, zeros)


def default_number(m: int) -> int:
    """Elite neighbours and steps for m rows: min(20, ⌊√m / 2⌋), at least 2."""
    return max(2, min(20, math.isqrt(m) // 2))


class AssociationColumns(NamedTuple):
    """What co-associations are counted from."""

    columns: NDArray[np.generic]
    """(p, m) codes"""
    absent: NDArray[np.generic]
    """(p,) code for missing, or none if nothing is"""
    weights: NDArray[np.float64] | None
    """None: 1 each"""
    total: float

    @classmethod
    def of(cls, rows: Rows) -> AssociationColumns:
        codes = rows.codes[:]
        absent = rows.n_clusters.astype(codes.dtype)
        some_missing = bool((codes == absent).any())
        weights = None if rows.equally_weighted else rows.weights
        # The sum of the weights as the kernels make it, one after the other.
        total = float(len(rows.weights) if weights is None else np.cumsum(weights)[-1])
        return cls(codes.T.copy(order="C"), absent[: len(absent) if some_missing else 0], weights, total)

    def counters(self) -> NDArray[np.generic]:
        p, m = self.columns.shape
        return np.empty((2, m), dtype=np.min_scalar_type(p) if self.weights is None else np.float64)

    def blocks(self) -> list[slice]:
        p, m = self.columns.shape
        return row_blocks(m, rows_per_call(m * p, MOST_ROWS))


def elite_thresholds(associated: AssociationColumns, n_neighbors: int, n_jobs: int | None) -> NDArray[np.float64]:
    """(m,) co-association that an elite neighbour of each row has at least, the K-th largest: ties are neighbours."""
    m = associated.columns.shape[1]
    thresholds = np.empty(m)

    def find(rows: slice) -> None:
        K, counters = min(n_neighbors, m), associated.counters()
        find_thresholds(*associated, rows.start, rows.stop, K, counters, thresholds[rows])

    parallel_map(find, associated.blocks(), n_jobs)
    return thresholds


def elite_degrees(
    associated: AssociationColumns, thresholds: NDArray[np.float64], n_jobs: int | None
) -> NDArray[np.int64]:
    """(m,) elite neighbours of each row, and rows that it is one of."""
    degrees = np.empty(len(thresholds), dtype=np.int64)
    none = np.empty(0, dtype=np.int32), np.empty(0)

    def count(rows: slice) -> None:
        counters = associated.counters()
        find_elite(*associated, rows.start, rows.stop, thresholds, counters, degrees[rows], *none)

    parallel_map(count, associated.blocks(), n_jobs)
    return degrees


def elite_graph(
    associated: AssociationColumns,
    thresholds: NDArray[np.float64],
    degrees: NDArray[np.int64],
    counts: NDArray[np.int64],
    n_jobs: int | None,
) -> EliteGraph:
    """The graph of the rows, which stand for ``counts`` objects each; as many entries as the degrees say."""
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    neighbours, links = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])

    def fill(rows: slice) -> None:
        counters, part = associated.counters(), slice(indptr[rows.start], indptr[rows.stop])
        if part.start < part.stop:
            found = np.empty(rows.stop - rows.start, dtype=np.int64)
            find_elite(*associated, rows.start, rows.stop, thresholds, counters, found, neighbours[part], links[part])

    parallel_map(fill, associated.blocks(), n_jobs)
    return EliteGraph(indptr, neighbours.view(np.uint32), links, counts.astype(np.float64))


def trajectory_similarities(graph: EliteGraph, n_steps: int, n_jobs: int | None) -> NDArray[np.float64]:
    """Cosines of the trajectories of all pairs, condensed; 0 with a row that has no neighbours.

    G = sum over t of P^t (P^t)' is P (I + P (I + ...) P') P', T times over: O(r nnz T) time, one (r, r) matrix.
    """
    m, P = len(graph.counts), graph.forth()
    G, blocks = np.zeros((m, m)), row_blocks(m, WIDTH)

    def walk_rows(rows: slice) -> None:
        G[rows] = P(G[rows].T).T

    def walk_columns(columns: slice) -> None:
        G[:, columns] = P(G[:, columns])

    for _ in range(n_steps):
        G.flat[:: m + 1] += 1
        parallel_map(walk_rows, blocks, n_jobs)
        parallel_map(walk_columns, blocks, n_jobs)
    scale = _inverse_roots(G.diagonal())
    # An entry goes to where none stands that is still to be read.
    condensed, start = G.reshape(-1), 0
    for i in range(m - 1):
        similarity = np.round(G[i, i + 1 :] * scale[i] * scale[i + 1 :], DIGITS)
        condensed[start : start + m - 1 - i] = np.minimum(similarity, 1)
        start += m - 1 - i
    return condensed[:start]


def _inverse_roots(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(np.divide(1.0, squares, out=np.zeros(len(squares)), where=squares > 0))


def cluster_similarities(graph: EliteGraph, rows: Rows, n_steps: int, n_jobs: int | None) -> NDArray[np.float64]:
    """B, (r, d): mean cosine of a row's trajectory with those of the rows of each cluster, without all pairs of rows.

    A row without neighbours is like itself alone. With Y = G_ii^-1/2 times H, its columns divided by their sums, B is
    G_ii^-1/2 times the sum over t of P^t (P^t)' Y. O(r nnz T) time for G_ii, O(d nnz T) for the rest.
    """
    m, forth, back = len(rows), graph.forth(), graph.back()
    H = rows.binary_matrix()
    H = (H / H.sum(axis=0)).tocsc()
    squares = np.zeros(m)

    def square(block: slice) -> None:
        points = np.zeros((m, block.stop - block.start))
        points[np.arange(block.start, block.stop), np.arange(points.shape[1])] = 1
        for _ in range(n_steps):
            points = back(points)
            squares[block] += np.einsum("ij,ij->j", points, points)

    parallel_map(square, row_blocks(m, WIDTH), n_jobs)
    scale = _inverse_roots(squares)
    B = np.empty(H.shape)

    def fill(block: slice) -> None:
        share = H[:, block].toarray()
        steps = [scale[:, None] * share]
        for _ in range(n_steps):
            steps.append(back(steps[-1]))
        points = np.zeros_like(share)
        while len(steps) > 1:
            points = forth(points + steps.pop())
        B[:, block] = np.where(scale[:, None] > 0, scale[:, None] * points, share)

    parallel_map(fill, row_blocks(H.shape[1], WIDTH), n_jobs)
    return B
