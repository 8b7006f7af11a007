"""Communities of a graph at several resolutions, each by a seed of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import (
    MOST_TASKS,
    Constraints,
    Function,
    Jobs,
    Number,
    Seed,
    Several,
    Whole,
    Words,
    check_parameters,
)
from ensemblage.generation._base import LabelTransformer, label_matrix
from ensemblage.generation._clusterers import Labels, nearest_rows, run_all
from ensemblage.generation._communities import ALGORITHMS, OBJECTIVES, Algorithm, Objective, communities
from ensemblage.generation._graphs import Graph, as_graph
from ensemblage.generation._nearest import WEIGHTS, Weights, nearest_neighbours, neighbour_graph


class Task(NamedTuple):
    """What makes one partition."""

    resolution: float
    seed: int


@dataclass(eq=False, repr=False)
class LeidenPartitions(LabelTransformer):
    """Use it for communities of a graph: Leiden, Louvain or label propagation, at several resolutions.

    The graph is given (``affinity="precomputed"``) or is that of the nearest neighbours of the rows. The higher the
    resolution, the more and the smaller the communities; several of them tell at which the communities persist.

    Parameters
    ----------
    n_partitions : int, default=50
        Number of partitions. Each resolution gets the same number, the first ones one more where they do not divide it.
    resolutions : sequence of float, default=(0.25, 0.5, 1.0, 1.5, 2.0)
        Numbers > 0. With "modularity" 1 is Newman's; with "cpm" a community's nodes are denser linked than this.
    affinity : {"nearest_neighbors", "precomputed"}, default="nearest_neighbors"
        Whether X is features, or a graph: a square sparse matrix, a graph of networkx or igraph, columns of node, node
        and perhaps weight (an array or a data frame), or the path of a table of these or of GraphML.
    n_neighbors : int, default=15
        Neighbours of each row, which does not count itself, at most one less than there are rows; an edge joins two
        rows if either is a neighbour of the other. For "nearest_neighbors".
    edge_weights : {"umap", "unit"}, default="umap"
        Of the edges between neighbours. "unit": 1. "umap": as the connectivities of scanpy, the memberships of the
        fuzzy simplicial set of UMAP [4]_. For "nearest_neighbors".
    algorithm : {"leiden", "louvain", "label-propagation"}, default="leiden"
        Leiden needs graspologic-native (``pip install ensemblage[graphs]``), the others nothing. Label propagation has
        no resolution.
    objective : {"modularity", "cpm"}, default="modularity"
        "cpm" is the constant Potts model.
    levels : int, optional
        Most levels of Louvain; 1 gives the small communities that ECG combines. Default: until nothing is gained.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.
    progress : callable or None, default=None
        Called as ``progress(done, total)`` after every base partition, by the thread that called ``fit``. An error
        that it raises ends the work. No result depends on it.

    Attributes
    ----------
    graph_ : sparse array of shape (n_samples, n_samples)
        Symmetric, of weights ≥ 0.
    resolutions_ : ndarray of shape (n_partitions,)
        Resolution of each partition.
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of communities of each partition.
    node_names_ : list
        Of a graph: the names of its nodes, in the order of the rows of the labels.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    Raises
    ------
    ImportError
        If Leiden is asked for and graspologic-native is not there.
    ValueError
        If X is no graph, has a negative weight or no edge.

    See Also
    --------
    ensemblage.consensus.CommunityConsensus : The consensus of such partitions, on the edges of their graph.

    Notes
    -----
    Of a graph, edges from a node to itself are left out, and a directed graph is made undirected: a pair gets the
    larger weight of its two directions. Pairs that an edge list names again are added up, or count once if it has no
    weights. Weights say how close two nodes are, and count. The same labels for any ``n_jobs``.

    Leiden takes about 0.7 µs per edge and partition, Louvain 0.25 µs; 32 bytes per edge and thread beside the graph. An
    isolated node is a community of its own. ``transform`` gives a new row the labels of its nearest training row; of a
    graph, whose new rows are the weights of their edges to the fitted nodes, (n_new, n_samples), the label to which
    most weight goes, -1 if there is none.

    References
    ----------
    .. [1] V. A. Traag, L. Waltman and N. J. van Eck, "From Louvain to Leiden: guaranteeing well-connected communities",
       Scientific Reports 9, 2019.
    .. [2] V. D. Blondel et al., "Fast unfolding of communities in large networks", J. Stat. Mech. P10008, 2008.
    .. [3] U. N. Raghavan, R. Albert and S. Kumara, "Near linear time algorithm to detect community structures in
       large-scale networks", Phys. Rev. E 76, 036106, 2007.
    .. [4] L. McInnes, J. Healy and J. Melville, "UMAP: uniform manifold approximation and projection for dimension
       reduction", 2018, Sec. 3.1.

    Examples
    --------
    >>> from ensemblage.generation import LeidenPartitions
    >>> edges = [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [3, 5], [4, 5]]
    >>> generator = LeidenPartitions(2, resolutions=[1.0], affinity="precomputed", algorithm="louvain", random_state=0)
    >>> generator.fit_transform(edges).T
    array([[0, 0, 0, 1, 1, 1],
           [0, 0, 0, 1, 1, 1]], dtype=int32)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_partitions": [Whole(1, MOST_TASKS)],
        "resolutions": [Several(Number(above=0))],
        "affinity": [Words(["nearest_neighbors", "precomputed"])],
        "n_neighbors": [Whole(1)],
        "edge_weights": [Words(WEIGHTS)],
        "algorithm": [Words(ALGORITHMS)],
        "objective": [Words(OBJECTIVES)],
        "levels": [Whole(1), None],
        "n_jobs": [Jobs()],
        "random_state": [Seed()],
        "progress": [Function(), None],
    }

    n_partitions: int = 50
    _: KW_ONLY
    resolutions: Sequence[float] = (0.25, 0.5, 1.0, 1.5, 2.0)
    affinity: Literal["nearest_neighbors", "precomputed"] = "nearest_neighbors"
    n_neighbors: int = 15
    edge_weights: Weights = "umap"
    algorithm: Algorithm = "leiden"
    objective: Objective = "modularity"
    levels: int | None = None
    n_jobs: int | None = None
    random_state: Any = None
    progress: Callable[[int, int], None] | None = None

    graph_: csr_array = field(init=False)
    resolutions_: NDArray[np.float64] = field(init=False)
    n_clusters_: NDArray[np.int32] = field(init=False)
    node_names_: list[Any] = field(init=False)
    n_features_in_: int = field(init=False)

    def fit(self, X: Any, y: None = None) -> Self:
        """Make the partitions.

        Parameters
        ----------
        X : array-like, sparse matrix, graph or path
            Features of shape (n_samples, n_features), or a graph, as ``affinity`` says.
        y : None
            Ignored.

        Returns
        -------
        self
            Fitted.
        """
        return super().fit(X)

    def _generate(self, X: Any) -> Labels:
        check_parameters(self)
        graph = self._graph(X)
        tasks = self._tasks()
        labels = label_matrix(run_all(partial(self._communities, graph), tasks, self.n_jobs, progress=self.progress))
        self.graph_, self._labels = graph, labels
        self.resolutions_ = np.array([task.resolution for task in tasks])
        self.n_clusters_ = labels.max(axis=0) + 1
        return labels

    def _tasks(self) -> list[Task]:
        seeds, n = task_seeds(self.random_state, self.n_partitions).tolist(), len(self.resolutions)
        resolutions = [float(r) for i, r in enumerate(self.resolutions) for _ in range(i, self.n_partitions, n)]
        return [Task(resolution, seed) for resolution, seed in zip(resolutions, seeds, strict=True)]

    def _communities(self, graph: csr_array, task: Task) -> Labels:
        return communities(graph, task.resolution, self.objective, task.seed, self.algorithm, self.levels)

    def _graph(self, X: Any) -> csr_array:
        """(n, n) symmetric, nothing on the diagonal."""
        if self.affinity != "nearest_neighbors":
            graph: Graph = as_graph(X, "X of LeidenPartitions")
            self.node_names_, self.n_features_in_ = list(graph.names), graph.matrix.shape[0]
            return graph.matrix
        self._fit_X = X = self._validate(X, reset=True)
        if self.n_neighbors >= X.shape[0]:
            raise ValueError(
                f"n_neighbors of LeidenPartitions must be < the {X.shape[0]} rows of X (n_samples={X.shape[0]}). "
                f"Got {self.n_neighbors}. Ask for fewer neighbours."
            )
        return neighbour_graph(nearest_neighbours(X, self.n_neighbors), self.edge_weights)

    def _validate(self, X: Any, reset: bool, **options: Any) -> Any:
        return super()._validate(X, reset, accept_sparse="csr", dtype=[np.float64, np.float32], **options)

    def _matrix(self, made: Labels) -> Labels:
        return made.copy(order="F")

    def transform(self, X: Any) -> Labels:
        """Label rows that are new, by their nearest training row or by the edges that they have.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_features_in_)
            Features; or the weights of the edges to the nodes of the graph.

        Returns
        -------
        ndarray of shape (n_samples, n_partitions), int32
            One column per partition, −1 where a partition gives an object no label.
        """
        return super().transform(X)

    def _transform(self, X: Any) -> Labels:
        if self.affinity == "nearest_neighbors":
            return self._labels[nearest_rows(self._fit_X, X)]
        return label_matrix([_most_linked(csr_array(X), column) for column in self._labels.T])

    def _names(self) -> list[str]:
        return [f"{self.algorithm}_r{r:g}_{i}" for i, r in enumerate(self.resolutions_.tolist())]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags


def _most_linked(links: csr_array, labels: NDArray[np.int32]) -> Labels:
    """(n_new,) the community that each row of links is tied to most, the first one on ties; -1 where it has no link."""
    n = len(labels)
    members = csr_array((np.ones(n), labels, np.arange(n + 1)))
    weights = csr_array(links @ members)
    weights.sort_indices()
    found = np.full(links.shape[0], -1, dtype=np.int32)
    for i in np.flatnonzero(np.diff(weights.indptr)):
        row = slice(weights.indptr[i], weights.indptr[i + 1])
        found[i] = weights.indices[row][weights.data[row].argmax()]
    return found
