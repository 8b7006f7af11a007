"""CSPA: the co-association graph cut into parts (Strehl & Ghosh 2003)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage._ensemble import Ensemble
from ensemblage._parallel import parallel_map, row_blocks
from ensemblage._slices import rows_of_slice
from ensemblage._validation import check_choice, check_number, check_whole
from ensemblage.consensus._base import Rows
from ensemblage.consensus._partition_graph import Cutter, ObjectGraph, without_gaps
from ensemblage.kernels._neighbours import find_neighbours
from ensemblage.metrics._threshold import weak_association_threshold

MOST_COMPLETE = 1_000
"""Rows up to which "auto" takes every pair: the size up to which the authors run CSPA."""
NEIGHBORS = 100
ROUNDING = 1e-12


class CSPA(ObjectGraph):
    """Cut of the graph whose edges are the co-associations, into parts of like size.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows.
    partitioner : {"metis", "spectral"}, default "metis"
        METIS makes parts of like size; the normalised cut ("spectral") does not insist, and mostly finds better ones.
    n_neighbors : "auto", int or None, default "auto"
        Most neighbours of a row: those with the largest co-association, of equal ones a random choice. None takes all
        pairs with a positive one, as the paper does. "auto" is None up to 1,000 rows and 100 above.
    association_threshold : {"kmeans", "gmm"} or float, optional
        Co-associations up to it are no edges; the words find it by `weak_association_threshold`.
    distinct : bool, default True
        Whether objects with equal labels stay together, as one vertex of that weight. False is the paper's graph; METIS
        may then part them for the balance, by their order. The normalised cut never does. With n_neighbors=None too it
        is CSPA to the letter.
    recursive : bool, default True
        Only for METIS: whether it bisects again and again, as the authors' code does, or makes all parts at once, which
        was worse on every real ensemble tried.
    imbalance : float, optional
        Only for METIS: share by which a part may exceed the mean. Default: METIS' own, 0.03 (0.001 if recursive).
    weights : array-like of shape (n_partitions,), optional
        Weight of each partition. Default: one each.
    n_jobs : int, optional
        Threads. Default: every core. The result does not depend on it.
    random_state : int, RandomState or None
        Seed of the partitioner and of the choice of neighbours.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters numbered by decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1.
    n_clusters_ : int
    n_edges_ : int
        Edges of the graph.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows, or a parameter is out of its range.
    ImportError
        If METIS is asked for and pymetis is not there.

    Notes
    -----
    O(m² p) time to find the edges of m rows: with 100 neighbours and p = 20 a few seconds for m = 20,000, under half a
    minute for 50,000, hours for 10⁶. About 12 kB per row with 100 neighbours: 600 MB for 50,000. All pairs of 5,000
    rows (6 million edges) take 700 MB. The co-association is the share of all partitions that join the pair: a missing
    label joins with nobody.

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster ensembles - a knowledge reuse framework for combining multiple partitions", JMLR 3,
    2002, Sec. 3.2.

    Examples
    --------
    >>> from ensemblage import CSPA
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> CSPA(n_clusters=2, random_state=0).fit(labels).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        partitioner: str = "metis",
        n_neighbors: Any = "auto",
        association_threshold: str | float | None = None,
        distinct: bool = True,
        recursive: bool = True,
        imbalance: float | None = None,
        weights: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.partitioner = partitioner
        self.n_neighbors = n_neighbors
        self.association_threshold = association_threshold
        self.distinct = distinct
        self.recursive = recursive
        self.imbalance = imbalance
        self.weights = weights
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _holds_rows(self) -> str:
        return "compares every object with every other"

    def _fit(self, rows: Rows, ensemble: Ensemble) -> NDArray[Any]:
        k = self._check_n_clusters(len(rows))
        cutter = Cutter.of(self)
        # A random order, so that the choice among equal neighbours follows no partition.
        order = np.random.RandomState(cutter.seed).permutation(len(rows))
        codes, counts = rows.codes[order], rows.counts[order]
        graph = association_graph(codes, rows, self._threshold(ensemble), self._most_neighbors(len(rows)), self.n_jobs)
        self.n_edges_ = graph.nnz // 2
        if cutter.partitioner == "metis":
            objects = np.repeat(counts, np.diff(graph.indptr)) * counts[graph.indices]
            graph = csr_array((graph.data * objects, graph.indices, graph.indptr), shape=graph.shape)
        itself = np.where(codes < rows.n_clusters, rows.weights, 0).sum(axis=1) / rows.weights.sum()
        parts = np.empty(len(rows), dtype=np.int64)
        parts[order] = cutter.cut(graph, counts, k, itself)
        return without_gaps(parts)

    def _most_neighbors(self, m: int) -> int:
        """0 for all."""
        if self.n_neighbors is None:
            return 0
        if isinstance(self.n_neighbors, str):
            check_choice(self.n_neighbors, "n_neighbors of CSPA, if it is a word,", ["auto"])
            return 0 if m <= MOST_COMPLETE else NEIGHBORS
        return check_whole(self.n_neighbors, "n_neighbors of CSPA", 1)

    def _threshold(self, ensemble: Ensemble) -> float:
        given = self.association_threshold
        if given is None:
            return 0.0
        if not isinstance(given, str):
            return check_number(given, "association_threshold of CSPA", least=0, below=1)
        check_choice(given, "association_threshold of CSPA, if it is a word,", ["kmeans", "gmm"])
        return weak_association_threshold(ensemble, given, random_state=self.random_state)


def association_graph(
    codes: NDArray[Any], rows: Rows, threshold: float, n_neighbors: int, n_jobs: int | None = None
) -> csr_array:
    """Co-associations above a threshold, (m, m) without diagonal; of those of each row the largest, if not 0 of them.

    ``codes`` are those of ``rows`` in any order. An edge is there if either end counts the other among its neighbours.
    """
    m, p = codes.shape
    columns, absent = np.ascontiguousarray(codes.T), rows.n_clusters.astype(codes.dtype)
    weights = np.empty(0) if (rows.weights == 1).all() else rows.weights
    dtype = np.float64 if len(weights) else np.min_scalar_type(p)
    total = float(rows.weights.sum())
    most = m - 1 if n_neighbors == 0 else min(n_neighbors, m - 1)

    def find(block: slice) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        size = block.stop - block.start
        ends, joined = np.empty(size, dtype=np.int64), np.empty(m, dtype=dtype)
        neighbours, links = np.empty(size * most, dtype=np.int32), np.empty(size * most)
        n_found = find_neighbours(
            columns, absent, weights, block.start, block.stop, threshold * total + ROUNDING, n_neighbors, joined, ends,
            neighbours, links,
        )  # fmt: skip
        return np.diff(ends, prepend=0), neighbours[:n_found].copy(), links[:n_found].copy()

    found = parallel_map(find, row_blocks(m, rows_of_slice(m * (8 + p), 64)), n_jobs)
    degrees, neighbours, links = (np.concatenate(parts) for parts in zip(*found, strict=True))
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    graph = csr_array((links / total, neighbours, indptr), shape=(m, m))
    graph.sort_indices()
    return graph if n_neighbors == 0 else csr_array(graph.maximum(graph.T))
