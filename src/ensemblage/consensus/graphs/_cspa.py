"""CSPA: the co-association graph cut into parts (Strehl & Ghosh 2003)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import pairwise
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from ensemblage.base.memory import MAX_BYTES, OVERHEAD, Need
from ensemblage.base.random import task_seeds
from ensemblage.base.threads import parallel_map, row_blocks, rows_per_call, thread_count
from ensemblage.base.validation import Bytes, Constraints, Flag, Whole, Words, check_bytes
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus._precomputed import THRESHOLD_CONSTRAINTS, SimilarityConsensus, threshold_of
from ensemblage.consensus.graphs._partition_graph import (
    GRAPH_CONSTRAINTS,
    METIS_CONSTRAINTS,
    clusters_of_parts,
    cut_bytes,
    cut_graph,
    joins_equal_rows,
    metis_bytes,
    vertices_of,
)
from ensemblage.counting._bitmaps import MOST_BYTES, bytes_of_maps, maps_of
from ensemblage.kernels._neighbours import find_neighbours, find_neighbours_by_bits
from ensemblage.labels.rows import Rows

MOST_COMPLETE = 1_000
"""Rows up to which "auto" takes every pair: the size up to which the authors run CSPA."""
NEIGHBORS = 100
ROUNDING = 1e-12
BLOCK = 64
"""Rows whose neighbours are found at once."""
ENTRY_BYTES = 48
"""Bytes of an entry of the graph while it is made."""


class TooManyEntries(Exception):
    """A graph has more entries than it may have."""


def association_graph(
    codes: NDArray[Any],
    n_clusters: NDArray[np.int64],
    weights: NDArray[np.float64],
    threshold: float = 0.0,
    n_neighbors: int = 0,
    most_entries: float = np.inf,
    n_jobs: int | None = None,
) -> csr_array:
    """S = H Hᵀ / r of r partitions (Sec. 3.2), (m, m) without diagonal: the shares of all weights that join two rows.

    ``codes`` are (m, r), n_clusters for a missing label, which joins with none. Only pairs of a co-association above
    the ``threshold`` are in S. The paper has no ``n_neighbors``: of each row so many of its largest entries, of equal
    ones the first, 0 for all; an edge is there if either end counts the other among its neighbours. Raises
    `TooManyEntries`, with their number so far, where it finds more than ``most_entries``.
    """
    m, p = codes.shape
    complete = not (codes == n_clusters).any()
    columns, absent = np.ascontiguousarray(codes.T), n_clusters[: 0 if complete else p].astype(codes.dtype)
    offsets = np.concatenate([[0], np.cumsum(n_clusters + 1)])
    plain = bool((weights == weights[0]).all())
    dtype = np.min_scalar_type(p) if plain else np.float64
    total = float(p if plain else weights.sum())
    least = threshold + ROUNDING if threshold > 0 else 0.0
    most = m - 1 if n_neighbors == 0 else min(n_neighbors, m - 1)
    by_bits = complete and plain and most < m - 1 and bytes_of_maps(m, int(offsets[-1])) <= MOST_BYTES
    maps = maps_of(codes, offsets, int(offsets[-1])) if by_bits else np.empty((0, 0, 0), dtype=np.uint64)
    # The least number of partitions that is above the threshold.
    n_least = max(1, int(np.count_nonzero(np.arange(p + 1) / total <= least)))
    n_entries, lock = 0, Lock()

    def find(block: slice) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        nonlocal n_entries
        size = block.stop - block.start
        ends, neighbours, links = np.empty(size, dtype=np.int64), np.empty(size * most, np.int32), np.empty(size * most)
        found, part = (ends, neighbours, links), (block.start, block.stop)
        if by_bits:
            n_found = find_neighbours_by_bits(codes, offsets, maps, *part, n_least, most, *found)
        else:
            counters = np.empty((2, m), dtype=dtype)
            of_pairs = None if plain else weights
            n_found = find_neighbours(columns, absent, of_pairs, *part, total, least, n_neighbors, counters, *found)
        with lock:
            n_entries += n_found
            if n_entries > most_entries:
                raise TooManyEntries(n_entries)
        return np.diff(ends, prepend=0), neighbours[:n_found].copy(), links[:n_found].copy()

    blocks = parallel_map(find, row_blocks(m, rows_per_call(m * (8 + p), BLOCK)), n_jobs)
    places = np.int32 if n_entries < 2**31 else np.int64
    degrees = np.concatenate([block[0] for block in blocks])
    indices, data, stop = np.empty(n_entries, dtype=places), np.empty(n_entries), n_entries
    while blocks:  # the memory of a block is free when it is copied
        _, neighbours, links = blocks.pop()
        start = stop - len(links)
        indices[start:stop], data[start:stop] = neighbours, links / total
        stop = start
    graph = csr_array((data, indices, np.concatenate([[0], np.cumsum(degrees)]).astype(places)), shape=(m, m))
    graph.sort_indices()
    return graph if n_neighbors == 0 else csr_array(graph.maximum(graph.T))


def times_objects(graph: csr_array, counts: NDArray[np.int64]) -> None:
    """Make every entry the sum of those of the objects for which its two rows stand."""
    for block in row_blocks(len(counts)):
        part = slice(graph.indptr[block.start], graph.indptr[block.stop])
        objects = np.repeat(counts[block], np.diff(graph.indptr[block.start : block.stop + 1]))
        graph.data[part] *= objects * counts[graph.indices[part]]


def nearest_neighbours(graph: csr_array, most: int) -> csr_array:
    """The largest entries of each row, the first on ties; an edge is there if either end has it."""
    kept = np.zeros(graph.nnz, dtype=np.bool_)
    for start, stop in pairwise(graph.indptr.tolist()):
        kept[start + np.argsort(-graph.data[start:stop], kind="stable")[:most]] = True
    graph.data[~kept] = 0
    graph.eliminate_zeros()
    return csr_array(graph.maximum(graph.T))


def fewest_entries(rows: Rows, n_neighbors: int) -> int:
    """Entries that the graph has at least: of each partition the pairs of rows that it joins; the largest number."""
    fewest = 0
    for column, k in zip(rows.codes[:].T, rows.n_clusters, strict=True):
        sizes = np.bincount(column, minlength=k)[:k]
        others = np.maximum(sizes - 1, 0) if n_neighbors == 0 else np.clip(sizes - 1, 0, n_neighbors)
        fewest = max(fewest, int((sizes * others).sum()))
    return fewest


@dataclass(eq=False, repr=False)
class CSPA(SimilarityConsensus):
    """Use it for clusters of about the same size: a balanced cut of the co-association graph.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows.
    partitioner : {"metis", "spectral"}, default "metis"
        The graph partitioner. "metis" makes parts of like size; "spectral", the normalised cut, does not
        insist, and mostly finds better ones.
    n_neighbors : "auto", int or None, default "auto"
        How many of a row's largest co-associations count. They are its edges, of equal ones a random choice. None takes
        all pairs that some partition joins, as the paper does. "auto" is None up to 1,000 rows and 100 above.
    association_threshold : {"kmeans", "gmm"} or float, optional
        Co-associations up to it count as 0: the weighted ones, of the partitions that label both objects. A number is
        at least 0 and below 1. A word: the number that `weak_association_threshold` finds by that method.
    distinct : bool, default True
        Whether objects with equal labels stay together, as one vertex of that weight. False is the paper's graph; METIS
        may then part them for the balance, by their order. The normalised cut never does. With n_neighbors=None too it
        is CSPA to the letter.
    recursive : bool, default True
        Only for METIS: whether it bisects again and again, or makes all parts at once. The default is what was better
        on the real ensembles tried: True for objects as vertices (CSPA, HBGF), False for clusters weighted by their
        sizes (MCLA).
        The authors' code bisects.
    imbalance : float, optional
        Share by which a part may exceed the mean. Only for METIS. Default: METIS' own, 0.03 (0.001 if recursive).
    n_init : int, default 4
        Number of starts, the one with the least loss wins: of METIS the one that cuts the least. Runs whose largest
        part is larger than that of the first one, and than ``imbalance`` (or 0.03) allows, do not count. 4 is the least
        power of two whose cuts were within 1 % of those of 16 runs, on average over 13 ensembles. At most 1,000.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out, 2 is the partition twice. Default: one each. "agreement":
        `metrics.agreement_weights`.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the partitioner and of the choice of neighbours.

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
    n_edges_ : int
        Edges of the graph.
    association_threshold_ : float
        Co-associations up to it are no edges. Only with ``association_threshold``.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows, a parameter is out of its range, or
        the fit would take more than ``max_bytes``.
    ImportError
        If METIS is asked for and pymetis is not there.

    Notes
    -----
    O(m² p) time to find the edges of m rows: with 100 neighbours and p = 20 a few seconds for m = 20,000, under half a
    minute for 50,000, hours for 10⁶. Memory: 48 to 140 bytes for each end of an edge, the more the fewer edges there
    are. 2 GiB are enough for 5,900 rows if some partition joins each pair, and for 78,000 or more with 100 neighbours.
    Edges are counted as they are found, and a fit that would pass ``max_bytes`` ends then.

    The weight of an edge is the share of all partitions that join the pair, weighted by ``weights``: H Hᵀ / p, as in
    the paper, where the row of an object that a partition does not label is zero. So a pair that few partitions label
    weighs little, however often they agree. The threshold is on the other scale, that of
    `ensemblage.metrics.coassociation`. Without missing labels both are the same.

    As many clusters as vertices are the vertices. An order of the rows is drawn, from that of their labels: other names
    of these are as another seed. Copies of all objects scale the graph's weights, and METIS may find another cut of it.

    References
    ----------
    A. Strehl, J. Ghosh, "Cluster ensembles - a knowledge reuse framework for combining multiple partitions", JMLR 3,
    2002, Sec. 3.2.

    Examples
    --------
    >>> from ensemblage.consensus import CSPA
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> CSPA(n_clusters=2, random_state=0).fit(labels).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **GRAPH_CONSTRAINTS,
        **METIS_CONSTRAINTS,
        **THRESHOLD_CONSTRAINTS,
        "distinct": [Flag()],
        "n_neighbors": [Words(["auto"]), Whole(1), None],
        "n_init": [Whole(1, 1000)],
        "max_bytes": [Bytes()],
    }

    _capabilities: ClassVar[Capabilities] = Capabilities(
        in_memory="compares every object with every other",
        compares_pairs=True,
        similarities=True,
        sparse_similarities=True,
    )

    n_clusters: int | None = None
    _: KW_ONLY
    partitioner: str = "metis"
    n_neighbors: Any = "auto"
    association_threshold: str | float | None = None
    distinct: bool = True
    recursive: bool = True
    imbalance: float | None = None
    n_init: int = 4
    max_bytes: int | str = MAX_BYTES
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    n_edges_: int = field(init=False)
    association_threshold_: float = field(init=False)

    def _restrict(self, able: Capabilities) -> Capabilities:
        if isinstance(self.association_threshold, str):
            able = replace(able, similarities=False, sparse_similarities=False)
        return replace(able, sample_weight=joins_equal_rows(self), must_link=self.distinct)

    def _make_rows(self, rows: Rows) -> Rows:
        return vertices_of(self, rows)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k, m = self._check_n_clusters(rows), len(rows)
        (seed,) = task_seeds(self.random_state, 1).tolist()
        threshold = threshold_of(self, rows) or 0.0
        limit = check_bytes(self.max_bytes, "max_bytes of CSPA") - OVERHEAD - self._bytes_of_rows(rows)
        # A random order, so that the choice among equal neighbours follows no partition.
        order = np.random.RandomState(seed).permutation(m)
        codes, counts, n_neighbors = rows.codes[order], rows.counts[order], self._most_neighbors(m)
        try:
            S = association_graph(
                codes, rows.n_clusters, rows.weights, threshold, n_neighbors, limit // ENTRY_BYTES, self.n_jobs
            )
        except TooManyEntries as error:
            self._check_bytes(rows, k, *error.args)
            raise
        self.n_edges_ = S.nnz // 2
        self._check_bytes(rows, k, S.nnz)
        if self.partitioner == "metis":
            times_objects(S, counts)
        itself = np.where(codes < rows.n_clusters, rows.weights, 0).sum(axis=1) / rows.weights.sum()
        parts = np.empty(m, dtype=np.int64)
        parts[order] = cut_graph(self, rows, S, counts, k, itself, seed, self.n_init)
        return clusters_of_parts(parts, k)

    def _fit_similarity(self, S: Any, rows: Rows) -> NDArray[Any]:
        k, n = self._check_n_clusters(rows), len(rows)
        (seed,) = task_seeds(self.random_state, 1).tolist()
        itself = S.diagonal()
        graph = csr_array(S - diags_array(itself))
        if (threshold := threshold_of(self)) is not None:
            graph.data[graph.data <= threshold] = 0
        graph.eliminate_zeros()
        graph.sort_indices()
        if most := self._most_neighbors(n):
            graph = nearest_neighbours(graph, most)
        self.n_edges_ = graph.nnz // 2
        self._check_bytes(rows, k, graph.nnz)
        parts = cut_graph(self, rows, graph, rows.counts, k, itself, seed, self.n_init)
        return np.unique(parts, return_inverse=True)[1]

    def _most_neighbors(self, m: int) -> int:
        """0 for all."""
        if self.n_neighbors is None:
            return 0
        if self.n_neighbors == "auto":
            return 0 if m <= MOST_COMPLETE else NEIGHBORS
        return min(int(self.n_neighbors), m)

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need:
        """Of a graph with so many entries, two per edge, and all that is made of it."""
        m = len(rows)
        if n_entries is None:
            n_entries = fewest_entries(rows, self._most_neighbors(m)) if self.association_threshold is None else 0
        if self.partitioner == "metis":
            cut = metis_bytes(m, n_entries)
        else:  # a graph, its copy with the diagonal, and the normalised cut of another copy
            cut = 36 * (n_entries + 2 * m) + cut_bytes(m, k) + more
        fewer = "n_neighbors=100" if self.n_neighbors is None else "fewer n_neighbors"
        advice = f"Give {fewer}, raise max_bytes, or use HBGF or KMeansConsensus, which compare no pairs."
        what = f"at least {n_entries // 2:,} edges of {m:,} label rows"
        n_bytes = OVERHEAD + self._bytes_of_rows(rows) + max(ENTRY_BYTES * n_entries, cut)
        return Need(int(n_bytes), what, advice)

    def _bytes_of_rows(self, rows: Rows) -> int:
        """What `association_graph` has beside its entries, and the fit for each row and object."""
        m, p = rows.codes.shape
        of_rows = m * (3 * p * rows.codes.dtype.itemsize + 9 * p + 128) + 64 * len(rows.inverse)
        of_rows += thread_count(self.n_jobs) * (16 * m + 12 * BLOCK * (self._most_neighbors(m) or m))
        maps = bytes_of_maps(m, int(rows.offsets[-1]))
        return of_rows + (maps if maps <= MOST_BYTES else 0)
