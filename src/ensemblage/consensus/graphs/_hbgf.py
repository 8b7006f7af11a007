"""HBGF: objects and clusters as the two sides of one graph (Fern & Brodley 2004), cut by one of three partitioners.

METIS and the singular vectors (`hbgf`) are those of the paper. The transfer cut (`transfer_cut`) makes it the consensus
of U-SENC (Huang et al. 2020, Sec. 4) and, with ECI as weights of the clusters, LWGP (Huang, Wang & Lai 2018). The other
half of U-SENC, many partitions by U-SPEC, is `generation/_uspec.py`; LWEA makes a hierarchy with the weights of LWGP.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csr_array, diags_array

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import Constraints, Flag, Words, format_value
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus._label_products import label_products, scale_both_sides
from ensemblage.consensus._local_weights import local_weights
from ensemblage.consensus.evidence import Cut, Evidence
from ensemblage.consensus.graphs._ncut import leading_eigenvectors, orthogonal_rows
from ensemblage.consensus.graphs._partition_graph import (
    CUTS_OBJECTS,
    GRAPH_CONSTRAINTS,
    METIS_CONSTRAINTS,
    check_enough_labels,
    clusters_of_parts,
    joins_twins,
    metis,
    vertices_of,
)
from ensemblage.consensus.graphs._transfer_cut import LabelGraph, transfer_cut
from ensemblage.consensus.kmeans._point_kmeans import kmeans_of_points
from ensemblage.labels.counts import embed, sums_of_labels
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import one_native_thread
from ensemblage.metrics._cluster_weights import CLUSTER_WEIGHTS

SMALLEST = 1e-10
"""Squared singular values below it, relative to the largest, are 0."""


def hbgf(
    rows: Rows, edge_weights: NDArray[np.float64], k: int, seed: int, n_jobs: int | None = None
) -> NDArray[np.int64]:
    """(m,) parts of the rows: k-means of rows and clusters as points on the sphere, from nearly orthogonal seeds.

    ``edge_weights``, (d,), are those of the clusters as columns of H, W. With D1 the sums of the weights in a row of H
    and D2 those in a column, M = D1^-1/2 H W D2^-1/2 over the objects (Fern & Brodley 2004: the normalised cut
    of the bipartite graph). Its right singular vectors V, of the clusters, are eigenvectors of M' M. Its left ones, of
    the objects, are M V / σ, a sum over the labels of an object. M M' is the normalised hypergraph of Zhou et al. 2006.
    """
    random, offsets = np.random.RandomState(seed), rows.offsets
    with one_native_thread():
        # M' M and its leading eigenvectors.
        every = np.zeros(offsets[-1])
        every[rows.labels] = edge_weights
        D1 = sums_of_labels(rows.codes, every, offsets)
        share = rows.counts / np.where(D1 > 0, D1, 1)
        scale = np.sqrt(edge_weights / rows.label_sizes()[rows.labels])  # W D2^-1/2, where D2 is W times the sizes
        MM = scale_both_sides(label_products(rows, share), scale)
        squares, V = leading_eigenvectors(MM, min(k, len(scale)), random)
        used = squares > SMALLEST * squares.max()
        V, sigma = V[:, used], np.sqrt(squares[used])
        # Points of rows and clusters, of length one.
        table = np.zeros((offsets[-1], V.shape[1]))
        table[rows.labels] = scale[:, None] * V / sigma
        lengths = np.sqrt((V**2).sum(axis=1))
        of_clusters = V / np.where(lengths > 0, lengths, 1)[:, None]
        points = np.empty((len(rows), V.shape[1]), dtype=np.float32)
        embed(rows.codes, offsets, table, points, 0.0, n_jobs)
        points = np.concatenate([points, of_clusters.astype(np.float32)])
        counts = np.concatenate([rows.counts, np.ones(len(of_clusters), dtype=np.int64)])
        # K-means of both.
        seeds = orthogonal_rows(points, counts, k, random)
        return kmeans_of_points(points, counts, seeds, n_jobs).clusters[: len(rows)]


def bipartite_graph(H: csr_array) -> csr_array:
    """W = [[0, H], [Hᵀ, 0]] (Fern & Brodley 2004) of the m rows and d clusters."""
    return csr_array(block_array([[None, H], [H.T, None]]))


@dataclass(eq=False, repr=False)
class HBGF(BaseConsensus):
    """Use it with k given, for many objects and any members: a cut of the bipartite graph of objects and clusters.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows and of clusters in the ensemble.
    partitioner : {"spectral", "metis", "transfer"}, default "spectral"
        The graph partitioner. "metis" makes parts of like size; "spectral" takes the leading singular vectors
        of the object-cluster matrix, then k-means of objects and clusters from nearly orthogonal seeds, as in the
        paper. "transfer" is the transfer cut of LWGP and U-SENC: k-means of the objects alone, the best of ten starts,
        on singular vectors that are not divided by their singular values.
    recursive : bool, default True
        Only for METIS: whether it bisects again and again, or makes all parts at once. The default is what was better
        on the real ensembles tried: True for objects as vertices (CSPA, HBGF), False for clusters weighted by their
        sizes (MCLA).
    imbalance : float, optional
        Share by which a part may exceed the mean. Only for METIS. Default: METIS' own, 0.03 (0.001 if recursive).
    distinct : bool, default True
        Only for METIS: whether objects with equal labels stay together, as one vertex of that weight. False is the
        paper's graph; the cut may then part them.
    cluster_weights : {"eci"}, float or list of array-like, optional
        Weight of each cluster: "eci" or a number θ > 0 is that of `metrics.cluster_weights`, with θ = .4 or that
        number; a list has for each partition the numbers, from 0 to 1, of its clusters in the order of their labels.
        Default: 1.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. "agreement": `metrics.agreement_weights`.
        It is that of its edges. "transfer" takes 2 for the partition twice. The others do not: to them a cluster is one
        point or vertex, whatever its weight.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the k-means or of METIS.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters numbered by decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Confidence: for / (for + against), over the partitions that join the object with members of its own cluster or
        of another one but not of both; see `metrics.certainty`. 1: no partition supports another cluster. ½: two
        clusters have equal support. 1 for all objects if there is one cluster. Not a probability of being correct.
    runner_up_ : ndarray of shape (n_objects,), int32
        The other cluster with the most support; -1 if there is none.
    cohesion_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1: small if the
        partitions are fine, even if they agree.
    n_clusters_ : int
    cluster_weights_ : list of ndarray of shape (n_clusters_of_partition,)
        The weights of each partition's clusters, none for a partition of weight 0. Only with ``cluster_weights``.
    normalized_association_ : float
        Only with "transfer": sum over the clusters of the share of their weight in the graph that stays among their own
        objects, by way of the clusters of the ensemble; from 0 to ``n_clusters_``.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows or of clusters, or a parameter is out
        of its range.
    ImportError
        If METIS is asked for and pymetis is not there.

    Notes
    -----
    "spectral": O(p² m + d² k + m p k + m k² t) time for m distinct label rows, d = Σ k_i clusters and t steps of
    k-means; 4 m k bytes for the points and 8 d² for the products of the clusters' columns (d ≤ 3000; above, the matrix
    is kept sparse, 24 m p bytes). On distinct rows it is exact. With missing labels, objects have unequal degrees, by
    which their rows are divided.

    "metis": METIS and its copies of the m p edges take about 4 kB per row and longer than linear time: 400 MB and some
    seconds for m = 10⁵ and p = 20, 4 GB and minutes for 10⁶. It copes badly with the few vertices of very many edges
    that clusters of large ensembles are.

    "transfer": the same, but d³ where d ≤ 3000 and k-means starts on 8,192 points at most.

    As many clusters as vertices of objects are these. Copies of all objects change "spectral" and "metis", to which a
    cluster stays one point or vertex beside more objects. Other names of the labels are as another seed.

    References
    ----------
    X. Z. Fern, C. E. Brodley, "Solving cluster ensemble problems by bipartite graph partitioning", ICML 2004.
    Z. Li, X.-M. Wu, S.-F. Chang, "Segmentation using superpixels: a bipartite graph partitioning approach", CVPR 2012.
    D. Huang, C.-D. Wang, J.-H. Lai, "Locally weighted ensemble clustering", IEEE Transactions on Cybernetics 48(5),
    2018: LWGP.
    D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh, "Ultra-scalable spectral clustering and ensemble clustering",
    IEEE TKDE 32(6), 2020: U-SENC.

    Examples
    --------
    >>> from ensemblage import HBGF
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> HBGF(n_clusters=2, random_state=0).fit(labels).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **GRAPH_CONSTRAINTS,
        **METIS_CONSTRAINTS,
        "cluster_weights": CLUSTER_WEIGHTS,
        "distinct": [Flag()],
        "partitioner": [Words(["metis", "spectral", "transfer"])],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    partitioner: str = "spectral"
    recursive: bool = True
    imbalance: float | None = None
    distinct: bool = True
    cluster_weights: Any = None
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    cluster_weights_: list[NDArray[np.float64]] = field(init=False)
    normalized_association_: float = field(init=False)

    _capabilities: ClassVar[Capabilities] = Capabilities(memberships=True, in_memory=CUTS_OBJECTS)

    def _restrict(self, able: Capabilities) -> Capabilities:
        memberships = not any(self._against_memberships())
        return replace(able, sample_weight=joins_twins(self), must_link=self.distinct, memberships=memberships)

    def _make_rows(self, rows: Rows) -> Rows:
        return vertices_of(self, rows)

    def _against_memberships(self) -> Iterator[tuple[str, str]]:
        """Parameters with which memberships cannot be counted, and what they must be."""
        if self.partitioner == "metis":
            yield "partitioner", "'spectral' or 'transfer'"
        if self.cluster_weights is not None:
            yield "cluster_weights", "None"

    def _check_memberships(self, ensemble: Any) -> None:
        for name, rule in self._against_memberships():
            raise ValueError(
                f"{name} of HBGF must be {rule} with a SoftEnsemble. Got {format_value(getattr(self, name))}. "
                "Change this parameter, or give soft.to_labels()."
            )

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = self._check_n_clusters(rows)
        self.__dict__.pop("normalized_association_", None)  # of an earlier fit
        (seed,) = task_seeds(self.random_state, 1).tolist()
        check_enough_labels(self, rows, k)
        local = local_weights(self, rows)
        of_clusters: Any = 1.0 if local is None else local[rows.labels]
        edge_weights = np.repeat(rows.weights, rows.n_clusters) * of_clusters
        if self.partitioner == "transfer":
            found = transfer_cut(LabelGraph(rows, csr_array(diags_array(edge_weights)), self.n_jobs), k, seed)
            self.normalized_association_, parts = found.association, found.parts
        elif self.partitioner == "spectral":
            parts = hbgf(rows, edge_weights, k, seed, self.n_jobs)
        else:
            H = rows.binary_matrix(rows.counts[:, None] * rows.weights)
            if local is not None:
                H = csr_array(H @ diags_array(of_clusters))
            sizes = np.append(rows.counts, np.ones(H.shape[1], dtype=np.int64))
            parts = metis(bipartite_graph(H), sizes, k, seed, self.recursive, self.imbalance, 1, "HBGF")[: len(rows)]
        return clusters_of_parts(parts, k)

    def _evidence(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Evidence, ...]:
        if self.partitioner != "transfer":
            return ()
        return (Cut("normalized association", self.normalized_association_, float(self.n_clusters_)),)
