"""The transfer cut (Li, Wu & Chang 2012): a bipartite graph of objects and clusters, cut by way of the clusters alone.

B ≥ 0 holds the weight of each edge, objects by clusters. With D_x the sums of its rows and D_y those of its columns,
the leading eigenvectors of the walk from clusters to objects and back, D_y^-1/2 B' D_x^-1 B D_y^-1/2, have the length
of the clusters; D_x^-1 B carries them over to the objects, where k-means of the directions finds the parts. As the
authors' code does, and not their text, no eigenvector is divided by the root of its eigenvalue.

Methods that cut such a graph differ in B alone. An object is joined to the cluster that it has in each partition, by
the same weight in U-SENC (Huang et al. 2020, Eqs. 15-19) and by the reliability of the cluster in LWGP (Huang, Wang &
Lai 2018, Eqs. 5-8); both are a partitioner of `HBGF`. In LCE it is also joined to the clusters that are linked to its
own, in PTGP to every cluster that random walks find similar.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.consensus._label_products import label_products, products_through, scale_both_sides
from ensemblage.consensus.graphs._ncut import leading_eigenvectors
from ensemblage.consensus.kmeans._point_kmeans import best_kmeans
from ensemblage.labels.counts import count_labels, embed, sums_of_labels
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import once, one_native_thread

LEAST = 1e-10
"""What a sum of no weights is taken for, and what is added to the length of a point."""
STARTS, STARTS_OF_FEW, FEW = 10, 100, 1_000
"""Of k-means, and of few rows, where they cost nothing; the published three often end in the second-best answer."""


class TransferCut(NamedTuple):
    """What the cut found."""

    parts: NDArray[np.int64]
    """(m,) part of each row; some may be empty."""
    values: NDArray[np.float64]
    """(k,) leading eigenvalues, from the largest, which is 1."""
    inertia: float
    """Of the points in k-means, each row as often as it counts."""
    association: float
    """Normalised association of the parts in the graph of the objects that the clusters make, B D_y^-1 B': k at most,
    and at most the sum of the eigenvalues."""


@dataclass(frozen=True)
class LabelGraph:
    """B = H S of m label rows: an object's weights are the sum of the rows of S of its labels.

    Beyond the points, (m, k) in float32, nothing is as long as the rows: W is S' (H' D_x^-1 H) S, and H' D_x^-1 H the
    contingency tables of the objects weighted by 1 / D_x. O(m p² + d³) time.
    """

    rows: Rows
    S: Any
    """(d, d) ≥ 0, sparse"""
    n_jobs: int | None = None

    @property
    def counts(self) -> NDArray[np.int64]:
        return self.rows.counts

    def walk(self) -> Any:
        """W = B' D_x^-1 B, (c, c), an array or operator."""
        out = np.zeros(self.rows.offsets[-1])
        out[self.rows.labels] = self.S.sum(axis=1)
        D_x = sums_of_labels(self.rows.codes, out, self.rows.offsets)
        return products_through(label_products(self.rows, self.counts / np.where(D_x > 0, D_x, LEAST)), self.S)

    def sizes(self) -> NDArray[np.float64]:
        """(c,) D_y, the row sums of W."""
        return np.asarray(self.S.T @ self.rows.label_sizes()[self.rows.labels].astype(np.float64))

    def points(self, V: NDArray[np.float64]) -> NDArray[np.float32]:
        """(m, k) directions of D_x^-1 B V."""
        table = np.zeros((self.rows.offsets[-1], V.shape[1]))
        table[self.rows.labels] = self.S @ V
        points = np.empty((len(self.rows), V.shape[1]), dtype=np.float32)
        embed(self.rows.codes, self.rows.offsets, table, points, LEAST, self.n_jobs)
        return points

    def weights(self, parts: NDArray[np.int64], n_parts: int) -> Any:
        """(n_parts, c) weight of the edges between each part and each cluster."""
        members = count_labels(self.rows.codes, parts, self.counts, self.rows.offsets, n_parts, 1)
        return members[:, self.rows.labels] @ self.S


@dataclass(frozen=True)
class MatrixGraph:
    """Any (m, c) matrix B ≥ 0, dense or sparse, whose rows stand for ``counts`` objects each; as `LabelGraph`."""

    B: Any
    counts: NDArray[np.int64]
    n_jobs: int | None = None

    @once
    def share(self) -> NDArray[np.float64]:
        """(m,) counts over D_x."""
        D_x = np.asarray(self.B.sum(axis=1)).ravel()
        return np.asarray(self.counts / np.where(D_x > 0, D_x, LEAST))

    def walk(self) -> Any:
        B, share = self.B, self.share[:, None]
        W = B.T @ (csr_array(B).multiply(share) if hasattr(B, "tocsr") else share * B)
        return W.toarray() if hasattr(W, "toarray") else W

    def sizes(self) -> NDArray[np.float64]:
        return np.asarray(self.B.T @ self.counts.astype(np.float64))

    def points(self, V: NDArray[np.float64]) -> NDArray[np.float32]:
        U = (self.B @ V) * (self.share / self.counts)[:, None]
        return np.asarray(U / (np.sqrt((U**2).sum(axis=1)) + LEAST)[:, None], dtype=np.float32)

    def weights(self, parts: NDArray[np.int64], n_parts: int) -> Any:
        m = len(self.counts)
        return csr_array((self.counts, (parts, np.arange(m))), shape=(n_parts, m)) @ self.B


def transfer_cut(graph: LabelGraph | MatrixGraph, k: int, seed: int) -> TransferCut:
    """Cut of a bipartite graph into k parts of its rows.

    An eigenvector v of the walk says D_y^-1/2 v of each cluster: the constant one is 1 everywhere. A cluster of size 0
    has no coordinates.
    """
    random = np.random.RandomState(seed)
    with one_native_thread():
        W, D_y = graph.walk(), graph.sizes()
        scale = np.sqrt(np.divide(1.0, D_y, out=np.zeros_like(D_y), where=D_y > 0))
        k_found = min(k, int(np.count_nonzero(D_y)))
        values, V = leading_eigenvectors(scale_both_sides(W, scale), k_found, random)
        points = graph.points(np.sqrt(D_y.sum()) * scale[:, None] * V)
        n_starts = STARTS_OF_FEW if len(points) <= FEW else STARTS
        found = best_kmeans(points, graph.counts, k, n_starts, random, graph.n_jobs)
    weights = graph.weights(found.clusters, k)
    weights = weights.toarray() if hasattr(weights, "toarray") else weights
    within = np.divide(weights**2, D_y, out=np.zeros_like(weights), where=D_y > 0).sum(axis=1)
    volumes = weights.sum(axis=1)
    association = np.divide(within, volumes, out=np.zeros_like(within), where=volumes > 0).sum()
    return TransferCut(found.clusters, values, found.inertia(points, graph.counts), float(association))
