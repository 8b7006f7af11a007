"""The transfer cut (Li, Wu & Chang 2012): a bipartite graph of objects and clusters, cut by way of the clusters alone.

B ≥ 0 holds the weight of each edge, objects by clusters. With D_x the sums of its rows and D_y those of its columns,
the leading eigenvectors of the walk from clusters to objects and back, D_y^-1/2 B' D_x^-1 B D_y^-1/2, have the length
of the clusters; D_x^-1 B carries them over to the objects, where k-means of the directions finds the parts. As the
authors' code does, and not their text, no eigenvector is divided by the root of its eigenvalue.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.consensus._label_products import label_products, products_through, scale_both_sides
from ensemblage.consensus.graphs._ncut import leading_eigenvectors
from ensemblage.consensus.kmeans._point_kmeans import best_kmeans
from ensemblage.ensemble._rows import Rows
from ensemblage.rows.threads import one_native_thread

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


def cut_by_labels(
    rows: Rows, links: Any, n_clusters: int, seed: int, n_init: int | None = None, n_jobs: int | None = None
) -> TransferCut:
    """Transfer cut of B = H S: an object's weights are the sum of the rows of S of its labels.

    ``links`` is S, (d, d) and sparse, ≥ 0. Beyond the points, (m, k) in float32, nothing is as long as the rows: W is
    S' (H' D_x^-1 H) S, and H' D_x^-1 H the contingency tables of the objects weighted by 1 / D_x. O(m p² + d³) time.
    """
    random, offsets, labels = np.random.RandomState(seed), rows.offsets, rows.labels
    S = csr_array(links)
    out = np.zeros(offsets[-1])
    out[labels] = S.sum(axis=1)
    degrees = rows.codes.of_labels(out, offsets)
    with one_native_thread():
        walk = products_through(label_products(rows, rows.counts / _positive(degrees)), S)
        sizes = S.T @ rows.label_sizes()[labels].astype(np.float64)
        values, V = leading_coordinates(walk, sizes, n_clusters, random)
        table = np.zeros((offsets[-1], V.shape[1]))
        table[labels] = S @ V
        points = np.empty((len(rows), V.shape[1]), dtype=np.float32)
        rows.codes.embed(offsets, table, points, LEAST, n_jobs)
        found = best_kmeans(points, rows.counts, n_clusters, n_init or _starts(len(rows)), random, n_jobs)
    members = rows.codes.profile(found.clusters, rows.counts, offsets, n_clusters, 1)[:, labels]
    inertia = found.inertia(points, rows.counts)
    return TransferCut(found.clusters, values, inertia, _association(members @ S, sizes))


def cut_by_matrix(
    B: Any,
    counts: NDArray[np.int64],
    n_clusters: int,
    seed: int,
    n_init: int | None = None,
    n_jobs: int | None = None,
) -> TransferCut:
    """Transfer cut of any (m, c) matrix B ≥ 0, dense or sparse, whose rows stand for ``counts`` objects each."""
    random = np.random.RandomState(seed)
    share = counts / _positive(np.asarray(B.sum(axis=1)).ravel())
    with one_native_thread():
        walk = B.T @ (csr_array(B).multiply(share[:, None]) if hasattr(B, "tocsr") else share[:, None] * B)
        walk = walk.toarray() if hasattr(walk, "toarray") else walk
        sizes = B.T @ counts.astype(np.float64)
        values, V = leading_coordinates(walk, sizes, n_clusters, random)
        U = (B @ V) * (share / counts)[:, None]
        points = (U / (np.sqrt((U**2).sum(axis=1)) + LEAST)[:, None]).astype(np.float32)
        found = best_kmeans(points, counts, n_clusters, n_init or _starts(len(counts)), random, n_jobs)
    member_of = csr_array((counts, (found.clusters, np.arange(len(counts)))), shape=(n_clusters, len(counts)))
    return TransferCut(found.clusters, values, found.inertia(points, counts), _association(member_of @ B, sizes))


def _starts(n_rows: int) -> int:
    return STARTS_OF_FEW if n_rows <= FEW else STARTS


def leading_coordinates(
    walk: Any, sizes: NDArray[np.float64], n_clusters: int, random: np.random.RandomState
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leading eigenvalues of the walk, and what they say of each cluster, (c, k): the constant one is 1 everywhere.

    ``walk`` is W, a (c, c) array or operator, and ``sizes`` its row sums; a cluster of size 0 has no coordinates.
    """
    scale = np.sqrt(np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0))
    n_filled = int(np.count_nonzero(sizes))
    values, vectors = leading_eigenvectors(scale_both_sides(walk, scale), min(n_clusters, n_filled), random)
    return values, np.sqrt(sizes.sum()) * scale[:, None] * vectors


def _positive(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(sums > 0, sums, LEAST)


def _association(weights: Any, sizes: NDArray[np.float64]) -> float:
    """Of the weights of k parts with c clusters, (k, c), and the sizes of the clusters."""
    weights = weights.toarray() if hasattr(weights, "toarray") else weights
    within = np.divide(weights**2, sizes, out=np.zeros_like(weights), where=sizes > 0).sum(axis=1)
    volumes = weights.sum(axis=1)
    return float(np.divide(within, volumes, out=np.zeros_like(within), where=volumes > 0).sum())
