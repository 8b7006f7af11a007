"""Similarities of the labels of one partition, which make the co-association of separated objects more than 0."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.consensus._base import Rows

DECAY = 0.8
"""Similarity of the most similar two labels of one partition in CTS (LinkCluE's DC)."""

STEPS = 20
"""Length of the random walks of ECPCS."""


class LabelSimilarity(NamedTuple):
    """Similarities of the labels within each partition, missing left out."""

    flat: NDArray[np.float64]
    """(k_t, k_t) blocks one after the other, 1 on their diagonals; empty for plain co-association."""
    starts: NDArray[np.int64]
    """(p,) where each block begins."""


def no_similarity(rows: Rows) -> LabelSimilarity:
    """Plain co-association: different labels have similarity 0."""
    return LabelSimilarity(np.empty(0), np.zeros(len(rows.n_clusters), dtype=np.int64))


def ecpcs(rows: Rows) -> LabelSimilarity:
    """Cosine of the trajectories of random walks that start at two clusters (Huang et al., ECPCS, Eqs. 6 to 15).

    Walks go from cluster to cluster with probabilities proportional to their Jaccard similarity. O(d³ log t) time and
    four (d, d) matrices for d clusters and walks of t = 20 steps.
    """
    jaccard = cluster_jaccard(rows)
    out = jaccard.sum(axis=1, keepdims=True)
    inner = _trajectory_products(np.divide(jaccard, out, out=np.zeros_like(jaccard), where=out > 0), STEPS)
    norms = np.sqrt(np.diagonal(inner))
    lengths = np.where(norms > 0, norms, 1)
    return _blocks(rows, np.clip(inner / lengths[:, None] / lengths, 0, 1))


def cts(rows: Rows) -> LabelSimilarity:
    """Weight of connected triples: neighbours that two clusters share (Iam-On et al.; LinkCluE's CTS).

    Σ_c min(J_uc, J_vc) over all clusters c, by the largest such sum, times 0.8. O(d² max k) time, one (d, d) matrix.
    """
    jaccard = cluster_jaccard(rows)
    shared = np.zeros_like(jaccard)
    for start, stop in pairwise(rows.starts):
        for u in range(start, stop):
            shared[u, start:stop] = np.minimum(jaccard[u], jaccard[start:stop]).sum(axis=1)
    np.fill_diagonal(shared, 0)
    return _blocks(rows, DECAY * shared / (shared.max() or 1.0))


def cluster_jaccard(rows: Rows) -> NDArray[np.float64]:
    """(d, d) Jaccard similarity of the clusters of all partitions as sets of objects; 0 on the diagonal."""
    both = (rows.binary_matrix().T @ rows.binary_matrix(rows.counts[:, None].astype(np.float64))).toarray()
    sizes = np.diagonal(both).copy()
    either = sizes[:, None] + sizes - both
    np.fill_diagonal(both, 0)
    # A label may occur only in objects that were left out.
    return np.asarray(np.divide(both, either, out=np.zeros_like(both), where=either > 0))


def _trajectory_products(step: NDArray[np.float64], n_steps: int) -> NDArray[np.float64]:
    """Σ_{s = 1}^{n_steps} P^s (P^s)ᵀ by doubling: G_{a + b} = G_a + P^a G_b (P^a)ᵀ."""
    first = step @ step.T
    inner, power = first, step
    for bit in bin(n_steps)[3:]:
        inner, power = inner + power @ inner @ power.T, power @ power
        if bit == "1":
            inner, power = first + step @ inner @ step.T, power @ step
    return inner


def _blocks(rows: Rows, similarity: NDArray[np.float64]) -> LabelSimilarity:
    blocks = [similarity[a:b, a:b].copy() for a, b in pairwise(rows.starts)]
    for block in blocks:
        np.fill_diagonal(block, 1)
    starts = np.concatenate([[0], np.cumsum([block.size for block in blocks])])[:-1]
    return LabelSimilarity(np.concatenate([block.ravel() for block in blocks]), starts)


MATRICES = {"coassociation": 0, "ecpcs": 8, "cts": 4}
"""(d, d) matrices of 8 bytes that are there at the same time at most."""
SIMILARITIES = {"coassociation": no_similarity, "ecpcs": ecpcs, "cts": cts}
