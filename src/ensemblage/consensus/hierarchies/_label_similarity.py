"""Similarities of the labels of one partition, which make the co-association of separated objects more than 0.

ECPCS (Huang, Wang, Peng, Lai & Kwoh 2021, Eqs. 6-11). The clusters of all partitions are the vertices of a graph,
joined by their Jaccard similarities E. A walk goes from cluster to cluster in proportion to these, by P. Its trajectory
is the distributions after 1, 2, …, t steps, one after the other. Two clusters are as similar as the cosine of their
trajectories, Z: also where they share no object. ECPCS-HC takes the blocks of Z for an enhanced co-association
(Eqs. 12-15); ECPCS-MC cuts the graph of the clusters instead (`graphs/_mcla.py`).

WCT, WTQ and CTS (Iam-On et al. 2010, 2011) compare two clusters of one partition by the clusters that overlap with
both. CTS is that of LinkCluE, for linkage.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.labels.rows import Rows

STEPS = 20
"""Length of the random walks, t."""
DECAY = 0.8
"""Similarity of the most similar two labels of one partition in CTS (LinkCluE's DC)."""


class LabelSimilarity(NamedTuple):
    """Similarities of the labels within each partition, missing left out."""

    flat: NDArray[np.float64]
    """(k_t, k_t) blocks one after the other, 1 on their diagonals."""
    starts: NDArray[np.int64]
    """(p,) where each block begins."""

    def blocks(self, n_clusters: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        """The (k_t, k_t) similarities of each partition."""
        return [
            self.flat[start : start + k * k].reshape(k, k) for start, k in zip(self.starts, n_clusters, strict=True)
        ]


# ---- ECPCS ----


def ecpcs(rows: Rows) -> LabelSimilarity:
    """Z within each partition: what ECPCS-HC adds to the co-association."""
    Z = propagate(rows)
    return _flat([Z[a:b, a:b].copy() for a, b in pairwise(rows.starts)])


def propagate(rows: Rows) -> NDArray[np.float64]:
    """(d, d) Z of d clusters; one that no other partition's clusters overlap with has similarity 0, to itself too.

    E are the weights of the edges, P the steps of a walk. The inner products of trajectories are
    G = Σ_{s=1}^{t} P^s (P^s)ᵀ, and found by doubling: G_{a+b} = G_a + P^a G_b (P^a)ᵀ. O(d³ log t) time and four (d, d)
    matrices for walks of t = 20 steps.
    """
    E = cluster_jaccard(rows)
    out = E.sum(axis=1, keepdims=True)
    P = np.divide(E, out, out=np.zeros_like(E), where=out > 0)
    del E
    first = P @ P.T
    G, power = first, P
    for bit in bin(STEPS)[3:]:
        G, power = G + power @ G @ power.T, power @ power
        if bit == "1":
            G, power = first + P @ G @ P.T, power @ P
    norms = np.sqrt(np.diagonal(G))
    lengths = np.where(norms > 0, norms, 1)
    return np.asarray(np.clip(G / lengths[:, None] / lengths, 0, 1))


# ---- Links of clusters: WCT, WTQ, CTS ----


def cts(rows: Rows) -> LabelSimilarity:
    """Weight of connected triples, as in `link_similarity`, for linkage (LinkCluE's CTS)."""
    return link_similarity(rows, connected_triples, DECAY)


def link_similarity(rows: Rows, measure: LinkMeasure, decay: float) -> LabelSimilarity:
    """Links of the clusters of one partition, by the largest there is, times ``decay`` (Iam-On et al. 2010, 2011)."""
    jaccard = cluster_jaccard(rows)
    links = [measure(jaccard, slice(start, stop)) for start, stop in pairwise(rows.starts)]
    for block in links:
        np.fill_diagonal(block, 0)
    largest = max(block.max(initial=0) for block in links) or 1.0
    return _flat([decay * block / largest for block in links])


LinkMeasure = Callable[[NDArray[np.float64], slice], NDArray[np.float64]]
"""Of the Jaccard similarities and the clusters of one partition, k of the d, (k, k) links of these."""


def connected_triples(jaccard: NDArray[np.float64], clusters: slice) -> NDArray[np.float64]:
    """WCT: neighbours that two clusters share, Σ_c min(J_uc, J_vc) over all clusters c. O(d k²) time."""
    own = jaccard[clusters]
    return np.array([np.minimum(own[u], own).sum(axis=1) for u in range(len(own))]).reshape(len(own), len(own))


def triple_quality(jaccard: NDArray[np.float64], clusters: slice) -> NDArray[np.float64]:
    """WTQ: neighbours c that two clusters share, each counting 1 / Σ_t J_ct: less if it has many. O(d k²) time."""
    strength = jaccard.sum(axis=1)
    shared = (jaccard[clusters] > 0).astype(np.float64)
    return np.asarray((shared * np.divide(1.0, strength, out=strength, where=strength > 0)) @ shared.T)


def cluster_jaccard(rows: Rows) -> NDArray[np.float64]:
    """(d, d) Jaccard similarity of the clusters of all partitions as sets of objects; 0 on the diagonal.

    Of two partitions only the objects count that both label. O(p² m) time.
    """
    counted = rows.binary_matrix(rows.counts[:, None].astype(np.float64)).T
    both = (counted @ rows.binary_matrix()).toarray(order="C")
    # (d, p) members by who labels them
    labelled = counted @ (rows.codes[:] < rows.n_clusters).astype(np.float64)
    members = np.repeat(labelled, rows.n_clusters, axis=1)
    either = members + members.T
    del members  # the peak is here
    either -= both
    np.fill_diagonal(both, 0)
    # A label may occur only in objects that were left out: it has nothing in common with any.
    return np.asarray(np.divide(both, either, out=both, where=either > 0))


def _flat(blocks: list[NDArray[np.float64]]) -> LabelSimilarity:
    for block in blocks:
        np.fill_diagonal(block, 1)
    starts = np.concatenate([[0], np.cumsum([block.size for block in blocks])])[:-1]
    return LabelSimilarity(np.concatenate([block.ravel() for block in blocks]), starts)


MATRICES = {"coassociation": 0, "ecpcs": 8, "cts": 4}
"""(d, d) matrices of 8 bytes that are there at the same time at most."""
