"""MCLA: clusters of clusters (Strehl & Ghosh 2003), and ECPCS-MC (Huang, Wang, Peng, Lai & Kwoh 2021).

MCLA (Sec. 3.4) has four steps: the meta-graph of all clusters (`meta_graph`), its parts, the meta-clusters, by METIS or
the normalised cut (`cut_graph`), the mean indicator of the clusters of each meta-cluster, and the competition of the
meta-clusters for the objects (`compete`).

ECPCS-MC takes another graph. Two clusters are as similar as the trajectories of random walks that start at them, Z
(Eqs. 6 to 11, `propagate`); it is cut by the normalised cut. Of equal meta-clusters an object goes to the first, and
the largest comes first.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from ensemblage.base.memory import MAX_BYTES, OVERHEAD, Need
from ensemblage.base.random import task_seeds
from ensemblage.base.threads import one_native_thread
from ensemblage.base.validation import Bytes, Constraints, Words
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.graphs._partition_graph import (
    GRAPH_CONSTRAINTS,
    METIS_CONSTRAINTS,
    check_enough_labels,
    clusters_of_parts,
    cut_bytes,
    cut_graph,
    metis_bytes,
    whole_weights,
)
from ensemblage.consensus.hierarchies._label_similarity import MATRICES, propagate
from ensemblage.counting._contingency import ContingencyTables, table_cells, tables_of_rows
from ensemblage.kernels._votes import assign_to_groups
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.counts import places_of_labels
from ensemblage.labels.rows import Rows

ADVICE = "Raise max_bytes, or use HBGF or KMeansConsensus, which need no table of pairs of clusters."
EDGE_BYTES = 150
"""Most bytes per edge of the graph while it is made (measured)."""


def meta_graph(tables: ContingencyTables, sizes: NDArray[np.int64]) -> csr_array:
    """Jaccard similarities |h_a ∩ h_b| / |h_a ∪ h_b| of the clusters of different partitions, (d, d) without diagonal.

    ``tables`` have the sizes of the intersections, ``sizes``, (d,), are those of the clusters.
    """
    starts, edges = np.concatenate([[0], np.cumsum(tables.n_clusters)]), [np.empty((3, 0))]
    for i, j in combinations(range(len(tables.n_clusters)), 2):
        both = tables.table(i, j)[:-1, :-1]
        a, b = np.nonzero(both)
        shared, a, b = both[a, b], starts[i] + a, starts[j] + b
        edges.append(np.array([a, b, shared / (sizes[a] + sizes[b] - shared)]))
    a, b, similarity = np.concatenate(edges, axis=1)
    upper = coo_array((similarity, (a.astype(np.int64), b.astype(np.int64))), shape=(len(sizes), len(sizes)))
    return csr_array(upper + upper.T)


def compete(
    codes: LabelRows,
    offsets: NDArray[np.int64],
    meta_clusters: NDArray[np.int64],
    weights: NDArray[np.float64],
    k: int,
    draws: NDArray[np.float64],
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """(m,) the meta-cluster of each row with the largest mean, over its clusters by weight, of their indicators.

    ``meta_clusters`` are those of the d clusters, ``weights`` those of the partitions. ``draws``, (m,) from 0 to below
    1, choose among equal ones; 0 is the first.
    """
    labels = places_of_labels(offsets)
    votes, group_of = np.repeat(weights, np.diff(offsets)), np.full(offsets[-1], -1)
    group_of[labels] = meta_clusters
    capacity = np.bincount(meta_clusters, weights=votes[labels], minlength=k)
    groups = np.empty(len(codes), dtype=np.int64)

    def assign(codes: Any, draws: Any, groups: Any) -> None:
        assign_to_groups(codes, offsets, group_of, votes, capacity, draws, groups)

    codes.map(assign, reads=[draws], writes=[groups], n_jobs=n_jobs)
    return groups


@dataclass(eq=False, repr=False)
class MCLA(BaseConsensus):
    """Use it for members whose clusters match each other: a cut of the graph of clusters into meta-clusters.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows and of clusters in the ensemble.
        A part of the graph may win no object, so there may be fewer.
    partitioner : {"metis", "spectral"}, default "metis"
        The graph partitioner. "metis" makes parts of like size; "spectral", the normalised cut, does not
        insist.
    vertex_weights : {"size", "equal"}, default "size"
        What METIS balances over the parts: the objects of their clusters (Strehl & Ghosh), or the number of clusters,
        which finds clusters of unlike sizes as well.
    recursive : bool, default False
        Only for METIS: whether it bisects again and again, or makes all parts at once. The default is what was better
        on the real ensembles tried: True for objects as vertices (CSPA, HBGF), False for clusters weighted by their
        sizes (MCLA).
        The authors' code bisects, which is better with equal vertex weights too.
    imbalance : float, optional
        Share by which a part may exceed the mean. Only for METIS. Default: METIS' own, 0.03 (0.001 if recursive).
    similarity : {"jaccard", "ecpcs"}, default "jaccard"
        How similar two clusters are: the share of their objects that they have in common, or the cosine of random walks
        of 20 steps that start at them, which makes clusters without a common object similar, too. "ecpcs" with the
        normalised cut and ``ties="first"`` is ECPCS-MC.
    ties : {"random", "first"}, default "random"
        Where an object goes that is associated equally with two parts. Objects with equal labels go to the same one.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
        It takes 8 bytes for each pair of clusters of different partitions, and about 150 for each such pair that shares
        objects.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. "agreement": `metrics.agreement_weights`.
        It counts in the votes, and in what METIS balances. The graph has the clusters of a partition once, so 2 is not
        the partition twice.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the partitioner and of the ties.

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
    meta_clusters_ : list of ndarray of shape (n_clusters_of_partition,), int64
        For each partition, the part (0 … ``n_clusters`` - 1) of each of its clusters, in the order of their labels;
        empty for a partition of weight 0.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows or of clusters, a parameter is out
        of its range, or the fit would take more than ``max_bytes``.
    ImportError
        If METIS is asked for and pymetis is not there.

    Notes
    -----
    Edges are Jaccard similarities of the clusters (of different partitions), from the contingency tables; an object's
    association with a part is the mean of the part's clusters' indicators, weighted by ``weights``. O(p² m + d²) time
    and O(m p + d²) memory for m distinct label rows and d = Σ k_i clusters. It works on distinct label rows, which is
    exact but for ties. As many clusters as distinct rows are the rows.

    METIS balances the parts, so a cluster of few objects may be joined to another although all partitions have it.
    METIS and the draws that break ties go by the order of the labels: other names of them are as another seed. Copies
    of all objects scale the graph's weights, and METIS may find another cut of it.

    "ecpcs" takes O(p² m + d³) time and eight (d, d) matrices of 8 bytes. The partitions' weights count in the
    association with a part, not in how similar clusters are. A cluster that overlaps with none of another partition is
    similar to none.

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster ensembles - a knowledge reuse framework for combining multiple partitions", JMLR 3,
    2002, Sec. 3.4.
    D. Huang, C.-D. Wang, H. Peng, J. Lai, C.-K. Kwoh, "Enhanced ensemble clustering via fast propagation of
    cluster-wise similarities", IEEE TSMC: Systems 51(1), 2021: ECPCS-MC.

    Examples
    --------
    >>> from ensemblage.consensus import MCLA
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> MCLA(n_clusters=2, random_state=0).fit(labels).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **GRAPH_CONSTRAINTS,
        **METIS_CONSTRAINTS,
        "vertex_weights": [Words(["size", "equal"])],
        "similarity": [Words(["jaccard", "ecpcs"])],
        "ties": [Words(["random", "first"])],
        "max_bytes": [Bytes()],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    partitioner: str = "metis"
    vertex_weights: str = "size"
    recursive: bool = False
    imbalance: float | None = None
    similarity: str = "jaccard"
    ties: str = "random"
    max_bytes: int | str = MAX_BYTES
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    meta_clusters_: list[NDArray[np.int64]] = field(init=False)

    _capabilities: ClassVar[Capabilities] = Capabilities(in_memory="")

    def _restrict(self, able: Capabilities) -> Capabilities:
        why = "counts the overlaps of all clusters at once" if self.similarity == "ecpcs" else ""
        return replace(able, in_memory=why)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = self._check_n_clusters(rows)
        (seed,) = task_seeds(self.random_state, 1).tolist()
        check_enough_labels(self, rows, k)
        sizes = rows.label_sizes()[rows.labels]
        if self.similarity == "ecpcs":
            with one_native_thread():
                Z = propagate(rows.binary_matrix(), rows.counts, rows.n_clusters)
            loops = np.diagonal(Z).copy()
            np.fill_diagonal(Z, 0)
            parts = cut_graph(self, rows, csr_array(Z), self._vertex_weights(sizes, rows), k, loops, seed)
            of_parts = np.bincount(parts, weights=sizes, minlength=k)  # numbered by decreasing size
            meta_clusters = np.argsort(np.argsort(-of_parts, kind="stable"))[parts]
        else:
            p = rows.codes.shape[1]
            tables = tables_of_rows(rows.codes, rows.counts, rows.n_clusters, self.n_jobs)
            n_edges = sum(int(np.count_nonzero(tables.table(i, j)[:-1, :-1])) for i, j in combinations(range(p), 2))
            self._check_bytes(rows, k, 2 * n_edges)
            graph = meta_graph(tables, sizes)
            del tables
            meta_clusters = cut_graph(self, rows, graph, self._vertex_weights(sizes, rows), k, 1.0, seed)
        draws = np.zeros(len(rows))
        if self.ties == "random":
            draws = np.random.RandomState(seed).uniform(size=len(rows))
        groups = compete(rows.codes, rows.offsets, meta_clusters, rows.weights, k, draws, self.n_jobs)
        by_partition = np.split(meta_clusters, rows.starts[1:-1])
        parts_of = dict(zip(self._voting.tolist(), by_partition, strict=True))
        self.meta_clusters_ = [parts_of.get(j, np.empty(0, dtype=np.int64)) for j in range(self.n_features_in_)]
        return clusters_of_parts(groups, k)

    def _vertex_weights(self, sizes: NDArray[np.int64], rows: Rows) -> NDArray[np.int64]:
        """Sizes, or ones, times the weights of the partitions, as whole numbers."""
        if self.vertex_weights == "equal" or self.partitioner == "spectral":
            sizes = np.ones_like(sizes)
        if self.partitioner == "spectral" or (rows.weights == 1).all():
            return sizes
        return np.maximum(whole_weights(sizes * np.repeat(rows.weights, rows.n_clusters)), 1)

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need:
        """Of the propagated similarities, or of the tables with the edges, two entries each, and their cut."""
        (m, p), d = rows.codes.shape, int(rows.n_clusters.sum())
        if self.similarity == "ecpcs":
            n_bytes = OVERHEAD + 8 * MATRICES["ecpcs"] * d * d + 16 * m * p + more
            return Need(n_bytes, f"the similarities of {d:,} clusters", ADVICE)
        n_edges = (n_entries or 0) // 2
        of_rows = OVERHEAD + m * (2 * p * rows.codes.dtype.itemsize + 32) + 200 * d
        of_tables = of_rows + 8 * table_cells(rows.n_clusters)
        cut = metis_bytes(d, 2 * n_edges) if self.partitioner == "metis" else 72 * n_edges + cut_bytes(d, k) + more
        n_bytes = max(of_tables + EDGE_BYTES * n_edges, of_rows + cut if n_edges else 0)
        return Need(n_bytes, f"the pairs of {d:,} clusters", ADVICE)
