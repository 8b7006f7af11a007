"""Similarities of the labels of one partition, which make the co-association of separated objects more than 0."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.consensus._label_products import dense_label_products
from ensemblage.labels.rows import Rows

DECAY = 0.8
"""Similarity of the most similar two labels of one partition in CTS (LinkCluE's DC)."""


class LabelSimilarity(NamedTuple):
    """Similarities of the labels within each partition, missing left out."""

    flat: NDArray[np.float64]
    """(k_t, k_t) blocks one after the other, 1 on their diagonals; empty for plain co-association."""
    starts: NDArray[np.int64]
    """(p,) where each block begins."""

    def blocks(self, n_clusters: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        """The (k_t, k_t) similarities of each partition."""
        return [
            self.flat[start : start + k * k].reshape(k, k) for start, k in zip(self.starts, n_clusters, strict=True)
        ]


def no_similarity(rows: Rows) -> LabelSimilarity:
    """Plain co-association: different labels have similarity 0."""
    return LabelSimilarity(np.empty(0), np.zeros(len(rows.n_clusters), dtype=np.int64))


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
    both = dense_label_products(rows, rows.counts)
    known = (rows.codes[:] < rows.n_clusters).astype(np.float64)
    # (d, p) members by who labels them
    labelled = rows.binary_matrix(rows.counts[:, None].astype(np.float64)).T @ known
    members = np.repeat(labelled, rows.n_clusters, axis=1)
    either = members + members.T
    del members  # the peak is here
    either -= both
    np.fill_diagonal(both, 0)
    # A label may occur only in objects that were left out: it has nothing in common with any.
    return np.asarray(np.divide(both, either, out=both, where=either > 0))


def blocks_of(similarity: NDArray[np.float64], rows: Rows) -> LabelSimilarity:
    """The similarities within each partition, of those of all (d, d)."""
    return _flat([similarity[a:b, a:b].copy() for a, b in pairwise(rows.starts)])


def _flat(blocks: list[NDArray[np.float64]]) -> LabelSimilarity:
    for block in blocks:
        np.fill_diagonal(block, 1)
    starts = np.concatenate([[0], np.cumsum([block.size for block in blocks])])[:-1]
    return LabelSimilarity(np.concatenate([block.ravel() for block in blocks]), starts)


MATRICES = {"coassociation": 0, "ecpcs": 8, "cts": 4}
"""(d, d) matrices of 8 bytes that are there at the same time at most."""
