"""PTA: a hierarchy by probability trajectories (Huang, Lai & Wang 2016).

1. The n_i objects of a label row i are a microcluster. Two of them are as similar as their co-association.
2. A row's elite neighbours are those of its K largest co-associations. W has the co-association of two rows if either
   is an elite neighbour of the other, else 0 (Eqs. 5 to 9).
3. A walk goes from row i to row j with probability P_ij = n_j w_ij / Σ_l n_l w_il. A row's trajectory is its
   distribution after 1, 2, …, T steps. Two rows are as similar as the cosine of their trajectories (Eqs. 10 to 13).
4. A linkage of these similarities, in which each row counts once, is the consensus (Eq. 14). PTGP cuts the graph of
   rows and clusters instead (`graphs/_ptgp.py`).
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.memory import MAX_BYTES, OVERHEAD, Need
from ensemblage.base.threads import check_stopped, parallel_map, row_blocks, rows_per_call, thread_count
from ensemblage.base.validation import MOST_TASKS, Bytes, Constraints, Whole, Words
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._capabilities import COMPARES_ROWS, Capabilities
from ensemblage.consensus._lifetime import PER_OBJECT, PER_ROW, Hierarchy, hierarchy_of_rows, linkage_matrix
from ensemblage.consensus.diagnostics import Diagnostics
from ensemblage.consensus.hierarchies._linkage import LINKAGES, by_content, hierarchy_diagnostics, merges_of_matrix
from ensemblage.kernels._graphs import walk
from ensemblage.kernels._linkage import Condensed
from ensemblage.kernels._neighbours import find_elite, find_thresholds
from ensemblage.kernels._vectors import LANES
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows

MOST_ROWS = 64
"""Rows whose neighbours a thread looks for at a time."""
WIDTH = 32
"""Vectors that walk side by side. Sums over rows do not depend on it, so no result does."""
DIGITS = 12
"""Decimal places of a similarity: below them is rounding, which would break ties."""


def pta(W: EliteGraph, T: int, linkage: str, n_jobs: int | None = None) -> Hierarchy:
    """PTA of m label rows with the graph W of their elite neighbours, by walks of T steps."""
    similarities = trajectory_similarities(W, T, n_jobs)
    condensed = Condensed(similarities, np.empty(0), np.ones(len(W.counts)))
    return hierarchy_of_rows(merges_of_matrix(condensed, LINKAGES[linkage].kernel), W.counts)


# ---- 2. Elite neighbours ----


class Elites(NamedTuple):
    """How many elite neighbours rows have, and what it takes to find them: `elite_graph` does."""

    compared: tuple[Any, ...]
    """What kernels compare: columns of codes, codes of missing entries, weights and their sum."""
    work: Any
    """The type in which they count."""
    blocks: list[slice]
    """Rows that a thread takes at a time."""
    thresholds: NDArray[np.float64]
    """(m,) the K-th largest co-association of each row."""
    degrees: NDArray[np.int64]
    """(m,) rows of which either is an elite neighbour of the other."""


def find_elites(
    codes: NDArray[Any],
    n_clusters: NDArray[np.int64],
    weights: NDArray[np.float64],
    K: int,
    n_jobs: int | None = None,
) -> Elites:
    """The K-th largest co-association of each of m label rows. Rows that tie with it are elite neighbours, too.

    codes : (m, p), n_clusters where missing
    n_clusters : (p,)
    weights : (p,)
    """
    m, p = codes.shape
    absent = n_clusters.astype(codes.dtype)
    some_missing, plain = bool((codes == absent).any()), bool((weights == weights[0]).all())
    # The sum of the weights as the kernels make it, one after the other.
    total = float(p if plain else np.cumsum(weights)[-1])
    compared = codes.T.copy(order="C"), absent[: p if some_missing else 0], None if plain else weights, total
    blocks, work = row_blocks(m, rows_per_call(m * p, MOST_ROWS)), np.min_scalar_type(p) if plain else np.float64
    found = Elites(compared, work, blocks, np.empty(m), np.empty(m, dtype=np.int64))

    def find(rows: slice) -> None:
        counters = np.empty((2, m), dtype=work)
        find_thresholds(*compared, rows.start, rows.stop, min(K, m), counters, found.thresholds[rows])

    parallel_map(find, blocks, n_jobs)
    none = np.zeros(m + 1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)
    parallel_map(partial(fill_neighbours, found, *none), blocks, n_jobs)
    return found


def elite_graph(found: Elites, counts: NDArray[np.int64], n_jobs: int | None = None) -> EliteGraph:
    """W of m label rows that have (m,) ``counts`` objects."""
    indptr = np.concatenate([[0], np.cumsum(found.degrees)])
    neighbours, links = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
    parallel_map(partial(fill_neighbours, found, indptr, neighbours, links), found.blocks, n_jobs)
    return EliteGraph(indptr, neighbours.view(np.uint32), links, counts.astype(np.float64))


def fill_neighbours(
    found: Elites, indptr: NDArray[np.int64], neighbours: NDArray[np.int32], links: NDArray[np.float64], rows: slice
) -> None:
    """Elite neighbours of some rows, and of which they are, with co-associations; where no room is, their number."""
    counters, part = np.empty((2, len(found.degrees)), dtype=found.work), slice(indptr[rows.start], indptr[rows.stop])
    columns, absent, weights, total = found.compared
    given = columns, absent, weights, total, rows.start, rows.stop, found.thresholds, counters
    find_elite(*given, found.degrees[rows], neighbours[part], links[part])


class EliteGraph(NamedTuple):
    """Who is whose elite neighbour, W: symmetric, its diagonal 0, in CSR."""

    indptr: NDArray[np.int64]
    neighbours: NDArray[np.uint32]
    links: NDArray[np.float64]
    counts: NDArray[np.float64]
    """(m,) objects of each row, n."""


# ---- 3. Walks ----


class Walk(NamedTuple):
    """A sparse matrix, (m, m), times matrices: one step of as many walks as these have columns."""

    indptr: NDArray[np.int64]
    neighbours: NDArray[np.uint32]
    weights: NDArray[np.float64]
    after: NDArray[np.float64]
    """(m,) factor of each row, of what its entries add up to."""
    zeros: NDArray[np.uint64]
    """(r,) as many as a row has entries at most."""

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The matrix times one of shape (m, b)."""
        check_stopped()
        m, b = points.shape
        if b % LANES:
            points = np.hstack([points, np.zeros((m, -b % LANES))])
        points = np.ascontiguousarray(points)
        walked = np.empty_like(points)
        walk(*self, points, walked)
        return walked[:, :b]


def step_of(W: EliteGraph, *, back: bool = False) -> Walk:
    """P: P_ij = n_j w_ij / Σ_l n_l w_il, a row of 0 for a row without neighbours; or Pᵀ."""
    zeros = np.zeros(np.diff(W.indptr).max(initial=0), dtype=np.uint64)
    weights, ones = W.counts[W.neighbours], np.ones((len(W.counts), 1))
    weights *= W.links
    there = Walk(W.indptr, W.neighbours, weights, ones[:, 0], zeros)
    degrees = there(ones)[:, 0]
    out = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
    if not back:
        return there._replace(after=out)
    np.take(out, W.neighbours, out=weights)
    weights *= W.links
    return there._replace(after=W.counts)


def trajectory_similarities(W: EliteGraph, T: int, n_jobs: int | None) -> NDArray[np.float64]:
    """Cosines of the trajectories of all pairs, condensed; 0 with a row that has no neighbours.

    G = Σ_{t=1}^{T} P^t (P^t)ᵀ is P (I + P (I + …) Pᵀ) Pᵀ, T times over: O(r nnz T) time, one (r, r) matrix.
    """
    m, P = len(W.counts), step_of(W)
    G, blocks = np.zeros((m, m)), row_blocks(m, WIDTH)

    def walk_columns(columns: slice, H: NDArray[np.float64]) -> None:
        H[:, columns] = P(H[:, columns])

    for _ in range(T):
        G.flat[:: m + 1] += 1
        for H in (G.T, G):  # G Pᵀ, then P times it
            parallel_map(partial(walk_columns, H=H), blocks, n_jobs)
    squares = G.diagonal()
    scale = np.sqrt(np.divide(1.0, squares, out=np.zeros(m), where=squares > 0))
    # An entry goes to where none stands that is still to be read.
    condensed, start = G.reshape(-1), 0
    for i in range(m - 1):
        similarity = np.round(G[i, i + 1 :] * scale[i] * scale[i + 1 :], DIGITS)
        condensed[start : start + m - 1 - i] = np.minimum(similarity, 1)
        start += m - 1 - i
    return condensed[:start]


def default_number(m: int) -> int:
    """Elite neighbours and steps for m rows: min(20, ⌊√m / 2⌋), at least 2."""
    return max(2, min(20, math.isqrt(m) // 2))


class TrajectoryConsensus(BaseConsensus):
    """A method that compares label rows by their probability trajectories."""

    _parameter_constraints: ClassVar[Constraints] = {
        "n_neighbors": [Whole(1), None],
        "n_steps": [Whole(1, MOST_TASKS), None],
        "max_bytes": [Bytes()],
    }

    _bytes_per_entry: ClassVar[int]
    """Of the graph of elite neighbours and its walks."""

    n_neighbors: int | None
    n_steps: int | None
    max_bytes: int | str
    n_neighbors_: int
    n_steps_: int

    def _elite_graph(self, rows: Rows) -> EliteGraph:
        """The graph of elite neighbours; an error where it or what follows takes too much memory."""
        m = len(rows)
        self.n_neighbors_ = default_number(m) if self.n_neighbors is None else int(self.n_neighbors)
        self.n_steps_ = self._count_steps(m)
        found = find_elites(rows.codes[:], rows.n_clusters, rows.weights, self.n_neighbors_, self.n_jobs)
        self._check_bytes(rows, int(self.n_clusters or 0), int(found.degrees.sum()))
        return elite_graph(found, rows.counts, self.n_jobs)

    def _count_steps(self, m: int) -> int:
        """Of each walk."""
        return default_number(m) if self.n_steps is None else int(self.n_steps)

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need:
        """Of the graph of elite neighbours, with so many links, and of what the class makes of it."""
        (m, p), d, n_threads = rows.codes.shape, int(rows.n_clusters.sum()), thread_count(self.n_jobs)
        of_rows = m * (2 * p * rows.codes.dtype.itemsize + PER_ROW + 40 * n_threads) + PER_OBJECT * len(rows.inverse)
        needed = OVERHEAD + of_rows + self._bytes_of_pairs(m, d, n_threads) + self._bytes_per_entry * (n_entries or 0)
        what = f"{m:,} label rows and {d:,} clusters"
        if n_entries is not None:
            what = f"{n_entries:,} elite neighbours of {m:,} label rows"
        advice = "Raise max_bytes, take some of the objects, or use KMeansConsensus, which compares no pairs."
        return Need(needed, what, advice)

    def _bytes_of_pairs(self, m: int, d: int, n_threads: int) -> int:
        """Besides the graph, for m rows and d clusters."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class PTA(TrajectoryConsensus):
    """Use it for few partitions with unreliable pairs: linkage of objects by their random walks.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus, at most the number of distinct label rows. None: the number with the
        longest lifetime, as in `EvidenceAccumulation`.
    linkage : {"single", "average", "complete"}, default "average"
        Clusters are as similar as their most similar label rows, all of them on average, or their least similar ones.
    n_neighbors : int, optional
        How many of a row's largest co-associations count. These K are its elite neighbours, and so are all that tie
        with the last of them. Default: min(20, ⌊√m / 2⌋) for m distinct label rows, at least 2; the paper advises 5 to
        20.
    n_steps : int, optional
        Steps of a random walk, T. Default: as many.
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
    n_neighbors_, n_steps_ : int
        The numbers that were used.
    linkage_matrix_ : ndarray of shape (n_objects - 1, 4)
        The hierarchy in SciPy's format, heights 1 - similarity. Objects with equal labels merge first, at height 0;
        objects that no partition labels last, at height 1.
    lifetimes_ : dict of int to float
        Lifetime of each number of clusters that has one above 0, by decreasing number.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` exceeds the number of distinct label rows, a parameter is out of its range, or the fit would
        take more than ``max_bytes``.

    Notes
    -----
    Objects with equal labels are one vertex, the paper's microcluster. Two of them are joined, by their co-association,
    if either is an elite neighbour of the other; a random walk goes to a neighbour in proportion to that times its
    objects. Two are as similar as the cosine of their trajectories, the distributions after 1, 2, …, T steps, one after
    the other. One that shares no label with any other is similar to itself alone. With missing labels the co-
    association is that of the partitions that label both. Ties are the rule: of p partitions the co-association has p +
    1 values, so that K neighbours may be thousands.

    The mean similarity of two clusters counts each label row once, however many objects have it (Eq. 14). Similarities
    are rounded to 12 decimal places; of equally similar pairs the one with the first rows is merged first,
    numbered as in `EvidenceAccumulation`.

    O(m² p + m e T) time for m distinct label rows with e elite neighbours in all and T steps; 8 m² + 20 e bytes.

    References
    ----------
    D. Huang, J.-H. Lai, C.-D. Wang, "Robust ensemble clustering using probability trajectories", IEEE TKDE 28(5), 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from ensemblage.consensus import PTA
    >>> members = ["1111222332", "1112222333", "1122233444", "1111122221"]
    >>> labels = np.array([[int(label) for label in member] for member in members]).T
    >>> pta = PTA(3, n_neighbors=2, n_steps=3).fit(labels)
    >>> pta.labels_
    array([0, 0, 0, 0, 1, 2, 2, 1, 1, 2], dtype=int32)
    >>> pta.linkage_matrix_[3:, 2].round(3)
    array([0.115, 0.166, 0.196, 0.487, 0.541, 0.607])
    """

    _parameter_constraints: ClassVar[Constraints] = {"linkage": [Words(LINKAGES)]}

    _capabilities: ClassVar[Capabilities] = Capabilities(
        in_memory=COMPARES_ROWS, compares_pairs=True, finds_n_clusters=True
    )

    _bytes_per_entry: ClassVar[int] = 20

    n_clusters: int | None = None
    _: KW_ONLY
    linkage: str = "average"
    n_neighbors: int | None = None
    n_steps: int | None = None
    max_bytes: int | str = MAX_BYTES
    weights: Any = None
    n_jobs: int | None = None

    linkage_matrix_: NDArray[np.float64] = field(init=False)
    lifetimes_: dict[int, float] = field(init=False)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        """By rows and labels in the order of their content: ties are the rule, and no name of a label decides them."""
        k = None if self.n_clusters is None else self._check_n_clusters(rows)
        ordered, order, _ = by_content(rows)
        found = pta(self._elite_graph(ordered), self.n_steps_, self.linkage, self.n_jobs)
        self.linkage_matrix_ = linkage_matrix(found.merges, ordered.inverse)
        self.lifetimes_ = {number: life for number, life in found.lives.items() if life > 0}
        clusters = np.empty(len(rows), dtype=np.int64)
        clusters[order] = found.cut(k)
        return clusters

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        return tuple(hierarchy_diagnostics(self))

    def _bytes_of_pairs(self, m: int, d: int, n_threads: int) -> int:
        return 8 * m * m + 24 * WIDTH * m * n_threads
