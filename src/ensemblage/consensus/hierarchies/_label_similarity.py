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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

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

    @classmethod
    def of(cls, blocks: list[NDArray[np.float64]]) -> LabelSimilarity:
        """Of a block for each partition."""
        sizes = np.array(list(map(np.size, blocks)))
        return cls(np.concatenate(list(map(np.ravel, blocks))), np.cumsum(sizes) - sizes)


# ---- ECPCS ----


def ecpcs(H: csr_array, counts: NDArray[np.int64], n_clusters: NDArray[np.int64]) -> LabelSimilarity:
    """Z within each partition: what ECPCS-HC adds to the co-association. The arguments are as of `propagate`."""
    Z = propagate(H, counts, n_clusters)
    np.fill_diagonal(Z, 1)
    stops = np.cumsum(n_clusters)
    return LabelSimilarity.of([Z[a:b, a:b] for a, b in zip(stops - n_clusters, stops, strict=True)])


def propagate(H: csr_array, counts: NDArray[np.int64], n_clusters: NDArray[np.int64]) -> NDArray[np.float64]:
    """(d, d) Z of d clusters; one that no other partition's clusters overlap with has similarity 0, to itself too.

    H : (m, d), the binary matrix: 1 where a row is in a cluster
    counts : (m,) objects of each row
    n_clusters : (p,) of each partition; their clusters are columns of H one after the other

    The inner products of trajectories are G = Σ_{s=1}^{t} P^s (P^s)ᵀ, and found by doubling:
    G_{a+b} = G_a + P^a G_b (P^a)ᵀ. O(d³ log t) time and four (d, d) matrices for walks of t = 20 steps.
    """
    E = cluster_jaccard(H, counts, n_clusters)  # Eqs. 6, 7: the weights of the edges
    out = E.sum(axis=1, keepdims=True)
    P = np.divide(E, out, out=np.zeros_like(E), where=out > 0)  # 8: the steps of a walk
    del E
    first = P @ P.T
    G, power = first, P
    for bit in bin(STEPS)[3:]:  # 9, 10: the trajectories
        G, power = G + power @ G @ power.T, power @ power
        if bit == "1":
            G, power = first + P @ G @ P.T, power @ P
    norms = np.sqrt(np.diagonal(G))
    lengths = np.where(norms > 0, norms, 1)
    return np.asarray(np.clip(G / lengths[:, None] / lengths, 0, 1))  # 11: their cosines


# ---- Links of clusters: WCT, WTQ, CTS ----


def cts(H: csr_array, counts: NDArray[np.int64], n_clusters: NDArray[np.int64]) -> LabelSimilarity:
    """Weight of connected triples, as in `link_similarity`, for linkage (LinkCluE's CTS)."""
    return LabelSimilarity.of(link_similarity(H, counts, n_clusters, connected_triples, DECAY))


def link_similarity(
    H: csr_array, counts: NDArray[np.int64], n_clusters: NDArray[np.int64], measure: LinkMeasure, decay: float
) -> list[NDArray[np.float64]]:
    """(k_t, k_t) links of each partition's clusters, by the largest there is, times ``decay``; 1 on the diagonals.

    Iam-On et al. 2010, 2011. The other arguments are as of `propagate`.
    """
    jaccard = cluster_jaccard(H, counts, n_clusters)
    stops, links, largest = np.cumsum(n_clusters), [], 0.0
    for start, stop in zip(stops - n_clusters, stops, strict=True):
        block = measure(jaccard, slice(start, stop))
        np.fill_diagonal(block, 0)
        largest = max(largest, float(block.max()))
        links.append(block)
    for block in links:
        block *= decay
        block /= largest or 1.0
        np.fill_diagonal(block, 1)
    return links


LinkMeasure = Callable[[NDArray[np.float64], slice], NDArray[np.float64]]
"""Of the Jaccard similarities and the clusters of one partition, k of the d, (k, k) links of these."""


def connected_triples(jaccard: NDArray[np.float64], clusters: slice) -> NDArray[np.float64]:
    """WCT: neighbours that two clusters share, Σ_c min(J_uc, J_vc) over all clusters c. O(d k²) time."""
    own = jaccard[clusters]
    links = np.empty((len(own), len(own)))
    for u, of_u in enumerate(own):
        links[u] = np.minimum(of_u, own).sum(axis=1)
    return links


def triple_quality(jaccard: NDArray[np.float64], clusters: slice) -> NDArray[np.float64]:
    """WTQ: neighbours c that two clusters share, each counting 1 / Σ_t J_ct: less if it has many. O(d k²) time."""
    strength = jaccard.sum(axis=1)
    counts = np.divide(1.0, strength, out=np.zeros_like(strength), where=strength > 0)
    shared = (jaccard[clusters] > 0).astype(np.float64)
    return np.asarray((shared * counts) @ shared.T)


def cluster_jaccard(H: csr_array, counts: NDArray[np.int64], n_clusters: NDArray[np.int64]) -> NDArray[np.float64]:
    """(d, d) Jaccard similarity of the clusters of all partitions as sets of objects; 0 on the diagonal.

    Of two partitions only the objects count that both label. The arguments are as of `propagate`. O(p² m) time.
    """
    both = (H.multiply(counts[:, None]).T @ H).toarray(order="C")
    # (d, p) members of each cluster that each partition labels, sums over the clusters of that
    labelled = np.add.reduceat(both, np.cumsum(n_clusters) - n_clusters, axis=1)
    members = np.repeat(labelled, n_clusters, axis=1)
    either = members + members.T
    del members  # the peak is here
    either -= both
    np.fill_diagonal(both, 0)
    # A label may occur only in objects that were left out: it has nothing in common with any.
    return np.asarray(np.divide(both, either, out=both, where=either > 0))


MATRICES = {"coassociation": 0, "ecpcs": 8, "cts": 4}
"""(d, d) matrices of 8 bytes that are there at the same time at most."""
