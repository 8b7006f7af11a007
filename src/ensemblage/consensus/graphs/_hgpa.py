"""HGPA: clusters as hyperedges, cut as few as can be (Strehl & Ghosh 2003)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import task_seeds
from ensemblage.base.validation import Constraints, Flag, Number, Words
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.graphs._hbgf import hbgf
from ensemblage.consensus.graphs._partition_graph import (
    CUTS_OBJECTS,
    GRAPH_CONSTRAINTS,
    check_enough_labels,
    clusters_of_parts,
    joins_equal_rows,
    mtkahypar,
    vertices_of,
)
from ensemblage.labels.rows import Rows


def hyperedges(codes: NDArray[Any], n_clusters: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """The hyperedges h_1, ..., h_d of H (Sec. 3.1): the rows of each cluster of each partition, in increasing order.

    A missing label, the code n_clusters, is in none. HGPA (Sec. 3.3) cuts the hypergraph of the rows with these
    edges.
    """
    edges: list[NDArray[np.intp]] = []
    for column, k in zip(codes.T, n_clusters, strict=True):
        order = np.argsort(column, kind="stable")
        edges += np.split(order, np.searchsorted(column[order], np.arange(1, k + 1)))[:k]
    return edges


@dataclass(eq=False, repr=False)
class HGPA(BaseConsensus):
    """Use it for many objects in clusters of about the same size: a balanced cut of the hypergraph of clusters.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows.
    partitioner : {"mtkahypar", "spectral"}, default "mtkahypar"
        The graph partitioner. "mtkahypar", Mt-KaHyPar with its deterministic preset, makes parts of like size
        (the authors' hMETIS is a closed binary); "spectral", the normalised cut of the hypergraph (Zhou et al. 2006),
        does not insist.
    edge_weights : {"equal", "size"}, default "equal"
        Weight of a hyperedge: 1, as the paper says, or the objects of its cluster, as the authors' code does.
    cut_cost : {"cut", "km1"}, default "cut"
        Only for Mt-KaHyPar. What cut hyperedges cost: their weight, or that times the number of their parts less one.
    imbalance : float, default 0.05
        Share by which a part may exceed the mean. Only for Mt-KaHyPar.
    distinct : bool, default True
        Whether objects with equal labels stay together, as one vertex of that weight. False is the paper's hypergraph;
        Mt-KaHyPar may then part them for the balance. The normalised cut never does.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. "agreement": `metrics.agreement_weights`.
        It is that of its hyperedges. 2 costs what the partition twice does, but a search may end elsewhere.
    n_jobs : int, optional
        Threads of "spectral"; Mt-KaHyPar runs in one. The result does not depend on it.
    random_state : int, RandomState, Generator or None
        Seed of "spectral". Mt-KaHyPar's deterministic preset gives the same parts whatever the seed.

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
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows, or a parameter is out of its range.
    ImportError
        If Mt-KaHyPar is asked for and mtkahypar is not there (``pip install ensemblage[hypergraph]``).

    Notes
    -----
    Clusters that are noisy everywhere are cut whatever the parts are, and then nothing tells good parts from bad ones:
    the weakest of the graph methods, here as in the literature.

    Mt-KaHyPar takes about 1 kB per row (p = 20) and a minute for 10⁵ rows in one thread. "spectral" costs what `HBGF`
    does, and is the same with equal hyperedges.

    Mt-KaHyPar looks at rows and clusters in the order of their labels: with other names of these it may find another
    cut. So it may for copies of all objects, which scale the weights of the vertices. As many clusters as vertices are
    the vertices.

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster ensembles - a knowledge reuse framework for combining multiple partitions", JMLR 3,
    2002, Sec. 3.3.
    D. Zhou, J. Huang, B. Schölkopf, "Learning with hypergraphs", NIPS 2006.

    Examples
    --------
    >>> from ensemblage.consensus import HGPA
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> HGPA(n_clusters=2, partitioner="spectral", random_state=0).fit(labels).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(in_memory=CUTS_OBJECTS)
    _parameter_constraints: ClassVar[Constraints] = {
        **GRAPH_CONSTRAINTS,
        "distinct": [Flag()],
        "partitioner": [Words(["mtkahypar", "spectral"])],
        "edge_weights": [Words(["equal", "size"])],
        "cut_cost": [Words(["cut", "km1"])],
        "imbalance": [Number(above=0)],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    partitioner: str = "mtkahypar"
    edge_weights: str = "equal"
    cut_cost: str = "cut"
    imbalance: float = 0.05
    distinct: bool = True
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    def _restrict(self, able: Capabilities) -> Capabilities:
        return replace(able, sample_weight=joins_equal_rows(self), must_link=self.distinct)

    def _make_rows(self, rows: Rows) -> Rows:
        return vertices_of(self, rows)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = self._check_n_clusters(rows)
        check_enough_labels(self, rows, k)
        (seed,) = task_seeds(self.random_state, 1).tolist()
        edge_weights = np.repeat(rows.weights, rows.n_clusters)
        if self.edge_weights == "size":
            edge_weights = edge_weights * rows.label_sizes()[rows.labels]
        if self.partitioner == "spectral":
            given = rows.codes, rows.counts, rows.offsets
            parts = hbgf(*given, edge_weights, k, np.random.RandomState(seed), self.n_jobs)
        else:
            edges = hyperedges(rows.codes[:], rows.n_clusters)
            parts = mtkahypar(edges, edge_weights, rows.counts, k, seed, self.cut_cost, self.imbalance)
        return clusters_of_parts(parts, k)
