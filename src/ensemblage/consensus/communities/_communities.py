"""Consensus of communities on the edges of their graph: ECG, FastEnsemble, Lancichinetti & Fortunato's iteration."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from ensemblage.base.memory import MAX_BYTES, Need
from ensemblage.base.random import task_seeds
from ensemblage.base.threads import parallel_map, row_blocks
from ensemblage.base.validation import (
    FRACTION,
    Bytes,
    Constraints,
    Edges,
    Number,
    Seed,
    Values,
    Whole,
    Words,
    check_bytes,
    check_parameters,
    check_value,
)
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.generation._communities import ALGORITHMS, OBJECTIVES, Objective, communities, quality
from ensemblage.generation._graphs import Graph, as_graph
from ensemblage.kernels._graphs import count_joined_ends, peel
from ensemblage.labels.rows import Rows, object_rows
from ensemblage.metrics._confidence import LinkAssociation

logger = logging.getLogger(__name__)

METHODS_ON_GRAPHS = ("ecg", "fast-ensemble", "lf")
LEAST = {"lf": 0.2, "fast-ensemble": 0.8}
"""The default thresholds."""
CPM_RESOLUTION = 0.01
"""FastEnsemble's."""
PAIR_BYTES = 40
"""Bytes for each entry of a matrix of all pairs that are joined, and of what is made of it."""
EDGES = "edges of CommunityConsensus"
NODES = Values("the names of the objects", "Give one for each row of the labels.")
MOST_COUNTS = 2**22
"""Numbers in a table of labels by communities, above which only those that are not 0 are held."""


class TooManyPairs(Exception):
    """Partitions join more pairs than they may."""


class Detector(NamedTuple):
    """Who finds the communities of a weighted graph."""

    algorithm: Any
    objective: Objective
    resolution: float
    n_jobs: int | None

    def runs(self, graph: csr_array, seeds: Sequence[int]) -> list[NDArray[np.int32]]:
        """Communities, one run for each seed."""

        def run(seed: int) -> NDArray[np.int32]:
            return communities(graph, self.resolution, self.objective, seed, self.algorithm)

        return parallel_map(run, seeds, self.n_jobs)

    def best_of(self, graph: csr_array, seeds: Sequence[int]) -> NDArray[np.int32]:
        """The run whose objective is largest, the first one on ties."""
        runs = self.runs(graph, seeds)
        if graph.nnz == 0:
            return runs[0]
        return max(runs, key=lambda labels: round(quality(graph, labels, self.resolution, self.objective), 12))


def ecg(
    graph: csr_array, C: NDArray[np.float64], min_weight: float, detector: Detector, seeds: Sequence[int]
) -> tuple[NDArray[np.int32], float]:
    """ECG (Poulin & Théberge 2019): communities of the graph with its weights, and the community strength index.

    ``C``, (nnz,), are the shares of the partitions that join the ends of the edges. CSI is 1 - 2 times the mean of
    min(w, 1 - w).
    """
    w = ecg_weights(graph, C, min_weight)
    csi = float(1 - 2 * np.minimum(w, 1 - w).mean())
    return detector.best_of(replace_values(graph, w), seeds), csi


def ecg_weights(graph: csr_array, associations: NDArray[np.float64], min_weight: float) -> NDArray[np.float64]:
    """(nnz,) ECG's weights: w* + (1 - w*) c for the edges of the 2-core, w* for the others."""
    degrees = np.diff(graph.indptr).astype(np.int64)
    peel(graph.indptr, graph.indices, 2, degrees, np.empty(len(degrees), dtype=np.int64))
    in_core = degrees >= 0
    inside = np.repeat(in_core, np.diff(graph.indptr)) & in_core[graph.indices]
    return np.where(inside, min_weight + (1 - min_weight) * np.nan_to_num(associations), min_weight)


def fast_ensemble(
    graph: csr_array, C: NDArray[np.float64], threshold: float, detector: Detector, seeds: Sequence[int]
) -> NDArray[np.int32]:
    """FastEnsemble (Tabatabaee et al. 2025): edges with a share below the threshold go, the others weigh as much."""
    C = np.nan_to_num(C)
    return detector.best_of(replace_values(graph, C, threshold <= C), seeds)


def lf(
    graph: csr_array | None,
    partitions: EdgeLabels,
    threshold: float,
    max_rounds: int,
    detector: Detector,
    seeds: Sequence[int],
    most_pairs: float = np.inf,
) -> tuple[NDArray[np.int32], int, bool]:
    """Lancichinetti & Fortunato 2012: communities, the number of rounds, and whether the partitions came to agree.

    Its step 1 made the ``partitions``, p of them. D has the edges of the ``graph``, or all pairs (None: the paper).
    The first seed is that of the rounds, the others are for the last runs.
    """
    random, p, n_rounds = np.random.RandomState(seeds[0]), len(partitions.n_clusters), 0

    def consensus_matrix(partitions: EdgeLabels) -> csr_array:
        pattern = partitions.joined_pairs(most_pairs) if graph is None else graph
        return lf_graph(pattern, partitions.associations(pattern, detector.n_jobs), threshold)

    D = consensus_matrix(partitions)  # 2, 3: shares, below the threshold 0
    while n_rounds < max_rounds and not (D.data == 1).all():  # 5: until the partitions agree on every pair
        runs = detector.runs(D, task_seeds(random, p).tolist())  # 4: p partitions of D
        D = consensus_matrix(EdgeLabels.of_runs(runs))
        n_rounds += 1
        logger.info("round %d: %d of %d pairs agreed on", n_rounds, (D.data == 1).sum() // 2, D.nnz // 2)
    return detector.best_of(D, seeds[1:]), n_rounds, bool((D.data == 1).all())


def lf_graph(pattern: csr_array, associations: NDArray[np.float64], threshold: float) -> csr_array:
    """Lancichinetti & Fortunato's D: associations of at least the threshold; of a node that has none, its largest."""
    c = np.nan_to_num(associations)
    kept = c >= threshold
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    alone = np.bincount(rows[kept], minlength=pattern.shape[0]) == 0
    candidates = np.flatnonzero(alone[rows] & (c > 0))
    order = candidates[np.lexsort((candidates, -c[candidates], rows[candidates]))]
    first = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
    kept[first] = True
    matrix = replace_values(pattern, c, kept)
    return csr_array(matrix.maximum(matrix.T))


class EdgeLabels(NamedTuple):
    """Partitions of the nodes."""

    codes: NDArray[Any]
    """(n, p)"""
    n_clusters: NDArray[np.int64]
    """(p,) clusters per partition, and the code of a missing entry."""
    weights: NDArray[np.float64]
    """(p,)"""

    @classmethod
    def of_objects(cls, rows: Rows) -> EdgeLabels:
        """Of `object_rows` in memory; an object that no partition labels has missing entries alone."""
        labelled = rows.inverse < len(rows)
        codes = np.empty((len(labelled), len(rows.n_clusters)), dtype=rows.codes.dtype)
        codes[:] = rows.n_clusters
        codes[labelled] = rows.codes[:][rows.inverse[labelled]]
        return cls(codes, rows.n_clusters, rows.weights)

    @classmethod
    def of_runs(cls, labels: Sequence[NDArray[np.int32]]) -> EdgeLabels:
        """Partitions of equal weight without missing entries."""
        codes = np.column_stack(labels)
        return cls(codes, codes.max(axis=0).astype(np.int64) + 1, np.ones(codes.shape[1]))

    def associations(self, pattern: csr_array, n_jobs: int | None) -> NDArray[np.float64]:
        """(nnz,) for each entry of a matrix the weight of the partitions that join its nodes, by that of those that
        label both; NaN where none does. Equal weights give the number nearest to the share."""
        joined, both = np.empty(pattern.nnz), np.empty(pattern.nnz)
        missing = self.n_clusters.astype(self.codes.dtype)

        def count(rows: slice) -> None:
            indptr = pattern.indptr[rows.start : rows.stop + 1]
            count_joined_ends(indptr, pattern.indices, rows.start, self.codes, missing, self.weights, joined, both)

        parallel_map(count, row_blocks(pattern.shape[0]), n_jobs)
        with np.errstate(invalid="ignore"):
            return np.asarray(joined / both)

    def joined_pairs(self, most_entries: float = np.inf) -> csr_array:
        """(n, n) an entry for each pair that some partition joins; `TooManyPairs` where there may be more of them."""
        labelled = self.codes < self.n_clusters
        columns = (self.codes + np.concatenate([[0], np.cumsum(self.n_clusters[:-1])]))[labelled]
        if (n_entries := most_joined(np.bincount(columns), len(labelled))) > most_entries:
            raise TooManyPairs(n_entries)
        indptr = np.concatenate([[0], np.cumsum(labelled.sum(axis=1))])
        members = csr_array((np.ones(len(columns), dtype=np.int32), columns, indptr))
        pairs = csr_array(members @ members.T)
        pairs.setdiag(0)
        pairs.eliminate_zeros()
        pairs.sort_indices()
        return pairs


def most_joined(sizes: NDArray[np.int64], n: int) -> int:
    """Entries of the pairs of n objects that clusters of these sizes join: fewer where several join the same pair."""
    n_pairs: int = sum(size * size for size in sizes.tolist())
    return min(n_pairs, n * n)


def replace_values(pattern: csr_array, values: NDArray[np.float64], kept: NDArray[np.bool_] | None = None) -> csr_array:
    """The matrix with other values, and only the entries that are kept."""
    matrix = csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
    if kept is not None:
        matrix = csr_array((np.where(kept, values, 0.0), pattern.indices.copy(), pattern.indptr.copy()), pattern.shape)
        matrix.eliminate_zeros()
    return matrix


def support(graph: csr_array, associations: NDArray[np.float64], labels: NDArray[Any]) -> NDArray[np.float64]:
    """(n,) mean association of each node's edges within its cluster, NaN where it has none."""
    rows = np.repeat(np.arange(len(labels)), np.diff(graph.indptr))
    inside = (labels[rows] == labels[graph.indices]) & (labels[rows] >= 0) & ~np.isnan(associations)
    n_inside = np.bincount(rows[inside], minlength=len(labels))
    with np.errstate(invalid="ignore"):
        return np.bincount(rows[inside], associations[inside], minlength=len(labels)) / n_inside


@dataclass(eq=False, repr=False)
class CommunityConsensus(BaseConsensus):
    """Use it for the nodes of a graph: consensus communities, from the pairs that an edge joins alone.

    The share of partitions that join the two ends of an edge is the weight of the edge: how likely it lies within a
    community. The communities of the weighted graph are the consensus.

    Parameters
    ----------
    method : {"ecg", "fast-ensemble", "lf"}, default "ecg"
        "ecg" [1]_ weights each edge by ``min_weight`` + (1 - ``min_weight``) times the share of the partitions that
        join it, and an edge outside the 2-core by ``min_weight``. "fast-ensemble" [2]_ drops the edges that a share
        below ``min_association`` joins, and weights the others by it. "lf" [3]_ does so too, keeps the strongest edge
        of a node that would lose all, makes as many partitions as were given, of the weighted graph, and begins again
        with these until they agree on every edge.
    algorithm : {"louvain", "leiden", "label-propagation"}, default "louvain"
        Who finds the communities of the weighted graph. Leiden needs graspologic-native
        (``pip install ensemblage[graphs]``), the others nothing.
    objective : {"modularity", "cpm"}, optional
        What it maximises. Default: modularity; of "fast-ensemble" "cpm", the constant Potts model.
    resolution : float, optional
        The higher, the smaller the communities. Default: 1; of "cpm" 0.01.
    min_association : float, optional
        Of "fast-ensemble" and "lf", their threshold: edges that a smaller share joins are dropped, equal ones stay.
        Default: 0.8 and 0.2.
    min_weight : float, default 0.05
        Of "ecg": the weight w* of an edge that no partition joins.
    pairs : {"edges", "all"}, default "edges"
        Of "lf": which pairs count. "all", as in the paper: all that some partition joins, edge or not, which are many.
    n_init : int, default 10
        Number of starts, the one with the least loss wins: runs of the last step, the loss is the negative objective.
    max_rounds : int, default 50
        Of "lf": most rounds.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. "agreement": `metrics.agreement_weights`.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the runs.

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
    associations_ : sparse array of shape (n_objects, n_objects)
        For each edge, both ways, the share of the partitions that join its ends, of those that label both, by weight;
        NaN where none labels both. In "lf" of the partitions that were given.
    support_ : ndarray of shape (n_objects,)
        Mean of these over an object's edges within its cluster; NaN where it has none.
    csi_ : float
        Of "ecg", the community strength index: 1 - 2 times the mean of min(w, 1 - w) over the edges. 1: the partitions
        agree on every edge; 0: each edge is tossed up.
    n_rounds_ : int
        Of "lf": rounds.
    converged_ : bool
        Of "lf": whether the partitions agreed at the end.
    graph_notes_ : tuple of str
        What was done with the graph that was given, such as loops left out.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or the pairs of "all" would take more than ``max_bytes``.
    ImportError
        If Leiden is asked for and graspologic-native is not there.

    Notes
    -----
    O(m p) time and O(m) memory for m edges, nothing n × n; and the runs of the detector, and with k communities at most
    O(n p k) time for the confidence of the objects. Weights of the given graph do not count here, only in making
    partitions: that is so in all three papers' code. A directed graph is made undirected, loops are left out.

    Two objects with equal labels may come into different clusters, as no edge joins them. ``confidence_`` is that of
    every consensus, `metrics.confidence`, from the labels alone; ``support_`` is by the edges.

    Comparisons, and differences from the papers, are in the documentation: Theory, "Communities of a graph".

    References
    ----------
    .. [1] V. Poulin and F. Théberge, "Ensemble clustering for graphs: comparisons and applications", Applied Network
       Science 4:51, 2019.
    .. [2] Y. Tabatabaee, E. Wedell, M. Park and T. Warnow, "FastEnsemble: scalable ensemble clustering on large
       networks", PLOS Complex Systems 2(10), e0000069, 2025.
    .. [3] A. Lancichinetti and S. Fortunato, "Consensus clustering in complex networks", Scientific Reports 2:336,
       2012.

    Examples
    --------
    >>> from ensemblage.consensus import CommunityConsensus
    >>> from ensemblage.generation import LeidenPartitions
    >>> edges = [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [3, 5], [4, 5]]
    >>> generator = LeidenPartitions(8, affinity="precomputed", algorithm="louvain", levels=1, random_state=0)
    >>> model = CommunityConsensus(random_state=0).fit(generator.fit_transform(edges), edges=edges)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "method": [Words(METHODS_ON_GRAPHS)],
        "algorithm": [Words(ALGORITHMS)],
        "objective": [Words(OBJECTIVES), None],
        "resolution": [Number(above=0), None],
        "min_association": [FRACTION, None],
        "min_weight": [Number(above=0, below=1)],
        "pairs": [Words(["edges", "all"])],
        "n_init": [Whole(1, 1000)],
        "max_rounds": [Whole(1, 1_000_000)],
        "max_bytes": [Bytes()],
        "random_state": [Seed()],
    }

    n_clusters: int | None = field(default=None, init=False)
    """The detector finds it."""

    method: Literal["ecg", "fast-ensemble", "lf"] = "ecg"
    _: KW_ONLY
    algorithm: Literal["louvain", "leiden", "label-propagation"] = "louvain"
    objective: Literal["modularity", "cpm"] | None = None
    resolution: float | None = None
    min_association: float | None = None
    min_weight: float = 0.05
    pairs: Literal["edges", "all"] = "edges"
    n_init: int = 10
    max_rounds: int = 50
    max_bytes: int | str = MAX_BYTES
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    associations_: csr_array = field(init=False)
    support_: NDArray[np.float64] = field(init=False)
    csi_: float = field(init=False)
    n_rounds_: int = field(init=False)
    converged_: bool = field(init=False)
    graph_notes_: tuple[str, ...] = field(init=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        edges: Any = None,
        nodes: Sequence[Any] | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> Self:
        """Find the consensus of the labels of the nodes.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
            Labels. -1, NaN and None mean that the partition did not label the object.
        y : None
            Ignored.
        sample_weight : None
            A graph has every node once: nothing else is taken.
        edges : sparse array, array-like, data frame, graph or path
            The graph: a square sparse matrix, the columns node, node and perhaps weight, a graph of networkx or igraph,
            or the path of such a table or of GraphML. The first row of a table is an edge, unless it holds no number
            above numbers, or names such as source and target; ``read_table(path, has_header=False)`` reads it as one in
            any case. Nodes are the rows of the labels by their numbers from 0, or by name: by ``nodes``, the index of
            labels in a data frame of pandas, or the order of a named graph.
        nodes : sequence, optional
            Names of the objects, in the order of the rows of the labels. They are compared with those of the edges as
            text.
        must_link, cannot_link : None
            Communities follow the edges: nothing else is taken.

        Returns
        -------
        self
            Fitted.

        Raises
        ------
        ValueError
            If ``edges`` is missing, is no graph, has no edges, a weight < 0 or a node that has no labels; if there is
            not one of ``nodes`` for each object; and as the class says.
        """
        if must_link is not None or cannot_link is not None:
            raise ValueError(
                "must_link and cannot_link of CommunityConsensus must be None: communities follow the edges. Got "
                "pairs. Leave them out, or use KMeansConsensus."
            )
        if edges is None:
            raise ValueError(
                "edges of CommunityConsensus must be given to fit: communities follow them. Got None. Give the "
                "graph of the labelled nodes: fit(labels, edges=graph)."
            )
        check_value(edges, EDGES, [Edges()])
        check_value(nodes, "nodes of CommunityConsensus", [NODES, None])
        self._given_graph = edges, getattr(X, "index", None) if nodes is None else nodes, nodes is not None
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._given_graph

    def _check_parameters(self) -> None:
        check_parameters(self)

    _capabilities: ClassVar[Capabilities] = Capabilities(
        sample_weight=False,
        must_link=False,
        in_memory="looks up the labels of the ends of every edge",
        takes_n_clusters=False,
        finds_n_clusters=True,
    )

    def _make_rows(self, rows: Rows) -> Rows:
        return object_rows(rows)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        given = self._graph(len(rows.inverse))
        graph, partitions = given.matrix, EdgeLabels.of_objects(rows)
        C = partitions.associations(graph, self.n_jobs)
        seeds = task_seeds(self.random_state, 1 + self.n_init).tolist()
        threshold = LEAST.get(self.method, 0.0) if self.min_association is None else float(self.min_association)
        detector = self._detector()
        if self.method == "ecg":
            labels, self.csi_ = ecg(graph, C, float(self.min_weight), detector, seeds[1:])
        elif self.method == "fast-ensemble":
            labels = fast_ensemble(graph, C, threshold, detector, seeds[1:])
        else:
            most = check_bytes(self.max_bytes, "max_bytes of CommunityConsensus") // PAIR_BYTES
            pairs = None if self.pairs == "all" else graph
            try:
                found = lf(pairs, partitions, threshold, self.max_rounds, detector, seeds, most)
            except TooManyPairs as error:
                self._check_bytes(rows, 0, *error.args)
                raise
            labels, self.n_rounds_, self.converged_ = found
        self.associations_, self.graph_notes_ = replace_values(graph, C), given.notes
        labels = np.where(rows.inverse < len(rows), labels, -1)
        self.support_ = support(graph, C, labels)
        clusters = np.empty(len(rows), dtype=np.int64)
        clusters[rows.inverse[labels >= 0]] = labels[labels >= 0]
        return np.asarray(np.unique(clusters, return_inverse=True)[1])

    def _detector(self) -> Detector:
        objective: Any = self.objective or ("cpm" if self.method == "fast-ensemble" else "modularity")
        resolution = CPM_RESOLUTION if objective == "cpm" else 1.0
        if self.resolution is not None:
            resolution = float(self.resolution)
        return Detector(self.algorithm, objective, resolution, self.n_jobs)

    def _graph(self, n_objects: int) -> Graph:
        """Its nodes are the objects."""
        if n_objects < 2:
            raise ValueError(
                "X of CommunityConsensus must have at least 2 objects, since an edge joins two (n_samples=1). Got 1. "
                "Give the labels of every node."
            )
        edges, given, named = self._given_graph
        # A list has a method of that name, and most frames of pandas an index that only counts the rows.
        nodes: Sequence[Any] = [] if given is None or callable(given) else list(given)
        if not named and (not nodes or nodes == list(range(n_objects))):
            nodes = range(n_objects)
        if len(nodes) != n_objects:
            raise ValueError(
                f"nodes of CommunityConsensus must be the names of the {n_objects:,} objects. Got {len(nodes):,}. Give "
                "one for each row of the labels."
            )
        return as_graph(edges, EDGES, nodes)

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need | None:
        """Of the pairs that the partitions join, where all are compared; those of later rounds are counted then."""
        if self.method != "lf" or self.pairs != "all":
            return None
        if n_entries is None:
            n_entries = most_joined(rows.label_sizes(self.n_jobs)[rows.labels], len(rows.inverse))
        advice = "Raise max_bytes, or give pairs='edges'."
        return Need(n_entries * PAIR_BYTES, "all pairs that some partition joins", advice)

    def _association_of(self, rows: Rows, clusters: NDArray[Any], n_clusters: int) -> Any:
        if n_clusters * int(rows.offsets[-1]) <= MOST_COUNTS:
            return super()._association_of(rows, clusters, n_clusters)
        return LinkAssociation.of(rows.codes[:], rows.counts, clusters, n_clusters, rows.offsets, rows.weights)
