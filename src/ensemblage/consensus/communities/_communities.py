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
    check_parameters,
    check_value,
)
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.communities._edge_weights import (
    PAIR_BYTES,
    Detector,
    EdgeLabels,
    ecg_weights,
    lf_graph,
    most_joined,
    replace_values,
    support,
)
from ensemblage.generation._communities import ALGORITHMS, OBJECTIVES
from ensemblage.generation._graphs import Graph, as_graph
from ensemblage.labels.rows import Rows, object_rows
from ensemblage.metrics._link_association import LinkAssociation

logger = logging.getLogger(__name__)

METHODS_ON_GRAPHS = ("ecg", "fast-ensemble", "lf")
LEAST = {"lf": 0.2, "fast-ensemble": 0.8}
"""The default thresholds."""
CPM_RESOLUTION = 0.01
"""FastEnsemble's."""
EDGES = "edges of CommunityConsensus"
NODES = Values("the names of the objects", "Give one for each row of the labels.")
MOST_COUNTS = 2**22
"""Numbers in a table of labels by communities, above which only those that are not 0 are held."""


class Problem(NamedTuple):
    """What a method finds the communities of, and by."""

    rows: Rows
    graph: csr_array
    partitions: EdgeLabels
    associations: NDArray[np.float64]
    """(nnz,) of the ends of the edges."""
    detector: Detector
    seeds: Sequence[int]


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
        Of "lf": which pairs count. "all", those of the paper, are all that some partition joins, edge or not: their
        number grows with the squares of the communities' sizes.
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
        of another one but not of both; see `metrics.certainty`. 1: no partition supports another cluster. ½: two
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

    See Also
    --------
    ensemblage.LeidenPartitions : Makes the partitions of a graph.

    Notes
    -----
    On ten LFR graphs of 1,000 nodes, of whose edges 57 % cross planted communities, the adjusted mutual information
    with these is .84 of a run of Louvain, .88 of the one with the largest modularity of 50, .89 of "ecg" and
    "fast-ensemble", .87 of "lf"; of 69 % .42, .47, .54, .47 and .53. There "fast-ensemble" leaves half of the nodes
    alone, and "ecg" finds 15 of the 21 communities, a run 12.

    "lf" on all pairs merges communities: at its threshold of 0.2 many pairs of neighbouring ones are left, and
    modularity does not tell small communities apart in a graph that is so dense. On five LFR graphs of 600 nodes, 45 %
    of whose edges cross communities, the mean is .54 of a run of Louvain (20 each), .63 of "lf" on edges and .58 on all
    pairs, with 9 communities of 14; with ``min_association=0.5`` it is .63.

    O(m p) time and O(m) memory for m edges, nothing n × n; and the runs of the detector, and with k communities at most
    O(n p k) time for the certainty of the objects. 14 million edges of a million nodes, 50 partitions, 5,000
    communities: 50 s of the processor and 2.7 GB beside the graph, of which 9 s are spent on who joins the ends of each
    edge. Weights of the given graph do not count here, only in making partitions: that is so in all three papers' code.
    A directed graph is made undirected, loops are left out.

    Two objects with equal labels may come into different clusters, as no edge joins them. ``confidence_`` is that of
    every consensus, `metrics.certainty`, from the labels alone; ``support_`` is by the edges.

    "lf" on edges differs from the paper in that D has no pair that is no edge, as has the fast consensus of Tandon et
    al. (Phys. Rev. E 99, 042301, 2019) without its triangles. A node whose edges all fall below the threshold keeps its
    strongest, the first on ties. FastEnsemble's code compares floating point numbers: with 20, 50 or 100 partitions and
    0.8 it drops an edge that exactly 80 % join; here it stays.

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
    >>> from ensemblage import CommunityConsensus, LeidenPartitions
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
        graph = self._graph(len(rows.inverse))
        partitions = EdgeLabels.of_objects(rows)
        associations = partitions.associations(graph.matrix, self.n_jobs)
        seeds = task_seeds(self.random_state, 1 + self.n_init).tolist()
        of_this = {"ecg": self._ecg, "fast-ensemble": self._fast_ensemble, "lf": self._lf}
        labels = of_this[self.method](Problem(rows, graph.matrix, partitions, associations, self._detector(), seeds))
        self.associations_, self.graph_notes_ = replace_values(graph.matrix, associations), graph.notes
        labels = np.where(rows.inverse < len(rows), labels, -1)
        self.support_ = support(graph.matrix, associations, labels)
        clusters = np.empty(len(rows), dtype=np.int64)
        clusters[rows.inverse[labels >= 0]] = labels[labels >= 0]
        return np.asarray(np.unique(clusters, return_inverse=True)[1])

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

    def _detector(self) -> Detector:
        objective: Any = self.objective or ("cpm" if self.method == "fast-ensemble" else "modularity")
        resolution = CPM_RESOLUTION if objective == "cpm" else 1.0
        if self.resolution is not None:
            resolution = float(self.resolution)
        return Detector(self.algorithm, objective, resolution, self.n_jobs)

    def _threshold(self) -> float:
        return LEAST[self.method] if self.min_association is None else float(self.min_association)

    def _ecg(self, given: Problem) -> NDArray[np.int32]:
        """Poulin & Théberge 2019."""
        w = ecg_weights(given.graph, given.associations, float(self.min_weight))
        self.csi_ = float(1 - 2 * np.minimum(w, 1 - w).mean())
        return given.detector.best_of(replace_values(given.graph, w), given.seeds[1:])

    def _fast_ensemble(self, given: Problem) -> NDArray[np.int32]:
        """Tabatabaee et al. 2025."""
        c = np.nan_to_num(given.associations)
        return given.detector.best_of(replace_values(given.graph, c, c >= self._threshold()), given.seeds[1:])

    def _lf(self, given: Problem) -> NDArray[np.int32]:
        """Lancichinetti & Fortunato 2012: until the partitions agree on every pair of D."""
        random, n_runs = np.random.RandomState(given.seeds[0]), given.partitions.codes.shape[1]
        self.n_rounds_, D = 0, self._lf_graph(given, given.partitions)
        while self.n_rounds_ < self.max_rounds and not (D.data == 1).all():
            runs = given.detector.runs(D, task_seeds(random, n_runs).tolist())
            D = self._lf_graph(given, EdgeLabels.of_runs(runs))
            self.n_rounds_ += 1
            logger.info("round %d: %d of %d pairs agreed on", self.n_rounds_, (D.data == 1).sum() // 2, D.nnz // 2)
        self.converged_ = bool((D.data == 1).all())
        return given.detector.best_of(D, given.seeds[1:])

    def _lf_graph(self, given: Problem, partitions: EdgeLabels) -> csr_array:
        pattern = given.graph
        if self.pairs == "all":
            pattern = partitions.joined_pairs(lambda n_entries: self._check_bytes(given.rows, 0, n_entries))
        return lf_graph(pattern, partitions.associations(pattern, self.n_jobs), self._threshold())
