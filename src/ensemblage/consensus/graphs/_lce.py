"""LCE, the link-based cluster ensemble (Iam-On, Boongoen, Garrett & Price 2010, 2011).

The refined matrix RM = H S says of an object and any cluster how similar the object's own cluster in that partition is
to it, by the links of the two (WCT or WTQ, `link_similarity`). The bipartite graph of objects and clusters with these
weights is cut; here by the transfer cut.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array

from ensemblage.base.memory import MAX_BYTES, OVERHEAD, Need
from ensemblage.base.random import task_seeds
from ensemblage.base.validation import Bytes, Constraints, Number, Words
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.diagnostics import Cut, Diagnostics
from ensemblage.consensus.graphs._hbgf import TransferCut, transfer_cut
from ensemblage.consensus.graphs._partition_graph import GRAPH_CONSTRAINTS, check_enough_labels, clusters_of_parts
from ensemblage.consensus.hierarchies._label_similarity import (
    DECAY,
    MATRICES,
    LinkMeasure,
    connected_triples,
    link_similarity,
    triple_quality,
)
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows

MEASURES: dict[str, LinkMeasure] = {"wct": connected_triples, "wtq": triple_quality}


def lce(
    codes: LabelRows,
    H: csr_array,
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    measure: LinkMeasure,
    decay: float,
    k: int,
    random: np.random.RandomState,
    n_jobs: int | None = None,
) -> TransferCut:
    """LCE: parts of m label rows of p partitions with d clusters.

    1. Clusters are linked by the share of objects that they have in common, and two of one partition are as similar as
       the ``measure`` of their links says, the most similar two ``decay``: S, (d, d).
    2. The refined matrix is RM = H S. A partition's block of S counts by its weight.
    3. The bipartite graph with the weights RM is cut.

    codes : (m, p)
    H : (m, d), the binary matrix of these
    counts : (m,) objects of each row
    offsets : (p + 1,) first label of each partition, with one for missing
    weights : (p,)
    """
    blocks = link_similarity(H, counts, np.diff(offsets) - 1, measure, decay)  # 1
    S = block_diag([csr_array(weight * block) for block, weight in zip(blocks, weights, strict=True)])
    return transfer_cut(codes, counts, offsets, csr_array(S), k, random, n_jobs)  # 2 and 3: H S is never made


@dataclass(eq=False, repr=False)
class LCE(BaseConsensus):
    """Use it for members with many small clusters that overlap: a cut of a graph refined by links of clusters.

    The refined matrix says of an object and any cluster how similar the object's own cluster in that partition is to
    it; the bipartite graph with these weights is cut.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows and of clusters in the ensemble.
    similarity : {"wct", "wtq"}, default "wct"
        How similar two clusters of one partition are, by the clusters that overlap with both of them: weighted
        connected triples sum the smaller of the two Jaccard similarities, weighted triple quality counts each of these
        clusters by how few others it overlaps with.
    decay : float, default 0.8
        Similarity of the most similar two clusters of one partition, > 0 and at most 1. The authors' software has .8.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
        Only the matrices of the pairs of clusters are looked at.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. "agreement": `metrics.agreement_weights`.
        It is that of the edges of the graph. How similar clusters are counts each partition once, so 2 is not the
        partition twice.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters numbered by decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Confidence: for / (for + against), over the partitions that join the object with members of its own cluster or
        of another one but not of both; see `metrics.confidence`. 1: no partition supports another cluster. ½: two
        clusters have equal support. 1 for all objects if there is one cluster. Not a probability of being correct.
    runner_up_ : ndarray of shape (n_objects,), int32
        The other cluster with the most support; -1 if there is none.
    cohesion_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1: small if the
        partitions are fine, even if they agree.
    n_clusters_ : int
    normalized_association_ : float
        Sum over the clusters of the share of their weight in the graph that stays among their own objects, by way of
        the clusters of the ensemble; from 0 to ``n_clusters_``.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows or of clusters, a parameter is out
        of its range, or the fit would take more than ``max_bytes``.

    Notes
    -----
    O(p² m + d² max k_i + d³ + m k² t) time for m distinct label rows, d = Σ k_i clusters and t steps of k-means; 4 m k
    bytes for the points and four (d, d) matrices of 8 bytes. The graph is cut by the transfer cut (Li, Wu & Chang
    2012), whose eigenvectors span what those of the whole graph do; k-means is the best of ten starts. On distinct rows
    it is exact. No public code of the refined matrix is known: it is made as the papers describe it.

    Missing labels: Jaccard similarities are over the objects that both partitions label; a partition that does not
    label an object joins it to none of its clusters.

    References
    ----------
    N. Iam-On, T. Boongoen, S. Garrett, "LCE: a link-based cluster ensemble method for improved gene expression data
    analysis", Bioinformatics 26(12), 2010.
    N. Iam-On, T. Boongoen, S. Garrett, C. Price, "A link-based approach to the cluster ensemble problem", TPAMI 33(12),
    2011.

    Examples
    --------
    >>> from ensemblage.consensus import LCE
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> LCE(n_clusters=2, random_state=0).fit(labels).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **GRAPH_CONSTRAINTS,
        "similarity": [Words(MEASURES)],
        "decay": [Number(above=0, most=1)],
        "max_bytes": [Bytes()],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    similarity: str = "wct"
    decay: float = DECAY
    max_bytes: int | str = MAX_BYTES
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    normalized_association_: float = field(init=False)

    _capabilities: ClassVar[Capabilities] = Capabilities(in_memory="makes a point of every row")

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = self._check_n_clusters(rows)
        (seed,) = task_seeds(self.random_state, 1).tolist()
        check_enough_labels(self, rows, k)
        given = rows.codes, rows.binary_matrix(), rows.counts, rows.offsets, rows.weights
        options = MEASURES[self.similarity], float(self.decay)
        found = lce(*given, *options, k, np.random.RandomState(seed), self.n_jobs)
        self.normalized_association_ = found.association
        return clusters_of_parts(found.parts, k)

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need:
        d = int(rows.n_clusters.sum())
        advice = "Use HBGF or KMeansConsensus, which need no such matrix, or raise max_bytes."
        return Need(OVERHEAD + MATRICES["cts"] * 8 * d * d, f"the similarities of {d:,} clusters", advice)

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        return (Cut("normalized association", self.normalized_association_, float(self.n_clusters_)),)
