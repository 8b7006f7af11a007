"""NegMM (Zhong et al. 2019) and NegMM-WAT (Sinorina et al. 2022): normalised cuts without the weak associations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.base.memory import MAX_BYTES, Need
from ensemblage.base.random import task_seeds
from ensemblage.base.renamed import renamed_fields
from ensemblage.base.threads import one_native_thread, parallel_map, run_interruptibly, thread_count
from ensemblage.base.validation import Bytes, Constraints, Flag, Function, Seed, Whole, check_bytes
from ensemblage.consensus._base import numbers_by_size
from ensemblage.consensus._capabilities import COMPARES_ROWS, Capabilities
from ensemblage.consensus._precomputed import SimilarityConsensus, number_given
from ensemblage.consensus.diagnostics import Candidates, Diagnostics
from ensemblage.consensus.graphs._partition_graph import LEAST, NoConvergence, cut_bytes, fallback_bytes, normalized_cut
from ensemblage.kernels._graphs import count_strong, fill_strong
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows
from ensemblage.metrics._coassociation import Associations, association_bytes, bytes_per_pair, compact_associations
from ensemblage.metrics._wat import association_threshold, mm_index_of, threshold_constraints, weights_of

THRESHOLDS = tuple(s / 100 for s in range(51))
"""0, 0.01, …, 0.50, each the float nearest to it: a sum of steps of 0.01 would miss counts that are equal to one."""
ROUNDING = 1e-12
"""With weights, an association this little above a threshold counts as equal to it."""


class Candidate(NamedTuple):
    """The consensus with one threshold."""

    threshold: float
    labels: NDArray[np.int32]
    """(n,) clusters numbered by decreasing size; -1 for an object that no partition labels. Of `negmm`: (m,) parts of
    the rows, as the cut numbers them."""
    mm_index: float


def negmm(
    AM: Associations,
    counts: NDArray[np.int64],
    K: int,
    thresholds: Sequence[float],
    n_neighbors: int,
    seed: int,
    n_jobs: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
    may_be_dense: bool = True,
) -> tuple[Candidate, list[Candidate]]:
    """NegMM (Alg. 1) of the pairwise associations AM (line 1), and the consensus of each of the thresholds (line 2).

    ``AM`` is (m, m), of rows that stand for ``counts`` objects each; ``n_neighbors`` is the l of the MM index (Sec. 3,
    Eqs. 2-6). Every cut has the same ``seed``: so equal graphs give equal cuts. One threshold that WAT finds (Alg. 2)
    makes it NegMM-WAT. The last three are of `parallel_map` and `normalized_cut`. Candidates have labels of the rows.
    """
    w = weights_of(AM, counts, np.zeros(len(counts), dtype=np.int64), n_neighbors)  # of Eq. 6, whatever the partition

    def candidate(tau: float) -> Candidate:  # 3: for τ in thresholds
        AM_tau = strong_graph(AM, tau)  # 4-7: 0 where AM_ij ≤ τ
        # 8; AM places the rows that the graph leaves without a neighbour
        C = normalized_cut(AM_tau, counts, K, np.random.RandomState(seed), AM, may_be_dense)
        return Candidate(tau, C.astype(np.int32), mm_index_of(AM, counts, C, n_neighbors, w))  # 9, 11

    with one_native_thread():
        candidates = parallel_map(candidate, thresholds, n_jobs, progress)
    return min(candidates, key=lambda candidate: candidate.mm_index), candidates  # 12


def strong_graph(similarity: Associations, threshold: float) -> csr_array:
    """Associations above a threshold, and those of each row with itself.

    An association and a threshold that are equal fractions are equal floats, and unequal ones differ by far more than a
    rounding; only sums of weights need the tolerance.
    """
    matrix, values = similarity
    m, weak = len(matrix), max(threshold + ROUNDING, np.nextafter(LEAST, 0))
    most = matrix.dtype.type(np.searchsorted(values, weak, side="right") - 1 if len(values) else weak)
    degrees = np.empty(m, dtype=np.int64)
    run_interruptibly(count_strong, matrix, most, degrees, operations=matrix.size)
    n_entries = int(degrees.sum())
    places = np.int32 if n_entries < 2**31 else np.int64
    indices, data = np.empty(n_entries + 1, dtype=places), np.empty(n_entries)
    run_interruptibly(fill_strong, matrix, values, most, indices, data, operations=2 * matrix.size)
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(places)
    return csr_array((data, indices[:n_entries], indptr), shape=(m, m))


@renamed_fields(deduplicate="distinct")
@dataclass(eq=False, repr=False)
class NegMM(SimilarityConsensus):
    """Use it if weak associations blur the clusters, up to some thousand objects: a cut of the graph without them.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows. The cut may give fewer.
    association_threshold : {"search", "kmeans", "gmm"} or float, default "search"
        Co-associations up to it count as 0: the weighted ones, of the partitions that label both objects. A number is
        at least 0 and below 1. "search" is NegMM: of 0, 0.01, …, 0.50 the one whose consensus has the least `mm_index`,
        the smallest on ties. "kmeans" and "gmm" are NegMM-WAT(K) and NegMM-WAT(GMM): the number that
        `weak_association_threshold` finds by that method, and a single cut.
    n_neighbors : int, default 3
        How many of a row's largest co-associations count. They are the weight of an object in `mm_index`, whose l this
        is.
    distinct : bool, default True
        Whether thresholds that leave the same graph are tried once. The result is the same.
    max_bytes : int or str, default 2 GiB
        Most memory that the fit takes at its peak beyond the labels, in bytes or as text such as "4GB"; a fit that
        would take more is refused.
        Fewer thresholds are tried at the same time where that is what it takes. See Notes.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out, 2 is the partition twice. Default: one each. "agreement":
        `metrics.agreement_weights`.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the cuts.
    progress : callable, optional
        Called as ``progress(done, total)`` after every threshold, by the thread that called ``fit``.
        An error that it raises ends the work. No result depends on it.

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
        Number of clusters found.
    association_threshold_ : float
    mm_index_ : float
        The index of the consensus, on the whole matrix of co-associations. Infinite if each candidate has a cluster of
        ``n_neighbors`` objects or fewer, or one that falls apart.
    candidates_ : list of Candidate
        ``(threshold, labels, mm_index)`` for each threshold tried, in increasing order.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows, a parameter is out of its range, or
        the fit would take more than ``max_bytes``.

    Notes
    -----
    O(m² (p + t)) time for m distinct label rows, with t matrix products per cut, up to 51 cuts. It works on distinct
    label rows, which is exact: Ncut never parts objects with equal labels.

    Memory: 1 byte per pair of rows (2 with missing labels or more than 255 partitions, 8 with unequal weights), and for
    each threshold that is tried at the same time 12 bytes per pair that it leaves. 2 GiB are enough for 12,700 rows if
    some partition joins each pair, for 17,000 if half of the pairs are joined.

    Objects that a threshold isolates, and those of small components that no eigenvector shows, go to the cluster with
    the largest mean association before the threshold.

    Copies of all objects change the result: a threshold by a rule sees their pairs, which are fully similar, and the
    cut adds the same number to the degree of every object, however many there are.

    References
    ----------
    C. Zhong, L. Hu, X. Yue, T. Luo, Q. Fu, H. Xu, "Ensemble clustering based on evidence extracted from the
    co-association matrix", Pattern Recognition 92, 2019.
    N. C. R. Sinorina, H. J. Hamilton, S. Zilles, "Efficient removal of weak associations in consensus clustering",
    ICAART 2022, Algorithms 1 and 2.

    Examples
    --------
    >>> from ensemblage.consensus import NegMM
    >>> labels = [[0, 0, 0, 0]] * 4 + [[0, 0, 0, 1], [1, 1, 1, 1]] + [[1, 1, 1, 1]] * 4
    >>> model = NegMM(n_clusters=2, random_state=0).fit(labels)
    >>> model.labels_
    array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1], dtype=int32)
    >>> model.association_threshold_, round(model.mm_index_, 3)
    (0.0, 0.521)
    >>> NegMM(n_clusters=2, association_threshold="kmeans", random_state=0).fit(labels).association_threshold_
    0.25
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [Whole(1)],
        "association_threshold": threshold_constraints("search"),
        "n_neighbors": [Whole(1)],
        "distinct": [Flag()],
        "max_bytes": [Bytes()],
        "random_state": [Seed()],
        "progress": [Function(), None],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    association_threshold: str | float = "search"
    n_neighbors: int = 3
    distinct: bool = True
    max_bytes: int | str = MAX_BYTES
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None
    progress: Any = None

    association_threshold_: float = field(init=False)
    mm_index_: float = field(init=False)
    candidates_: list[Candidate] = field(init=False)

    _capabilities: ClassVar[Capabilities] = Capabilities(
        in_memory=COMPARES_ROWS, compares_pairs=True, similarities=True
    )

    def _restrict(self, able: Capabilities) -> Capabilities:
        by_rule = isinstance(self.association_threshold, str) and self.association_threshold != "search"
        return replace(able, similarities=False) if by_rule else able

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k = self._check_n_clusters(rows)
        thresholds: Sequence[float] = THRESHOLDS
        if self.association_threshold != "search":
            thresholds = [association_threshold(self.association_threshold, rows, self.random_state, self.n_jobs)]
        AM = compact_associations(rows.codes[:], rows.n_clusters, rows.weights, self.n_jobs)
        return self._best_cut(AM, rows, thresholds, k)

    def _fit_similarity(self, S: Any, rows: Rows) -> NDArray[Any]:
        k = self._check_n_clusters(rows)
        thresholds: Sequence[float] = THRESHOLDS
        if self.association_threshold != "search":
            thresholds = [number_given(self.association_threshold, "association_threshold of NegMM")]
        return self._best_cut(Associations(S, np.empty(0)), rows, thresholds, k)

    def _best_cut(self, AM: Associations, rows: Rows, thresholds: Sequence[float], k: int) -> NDArray[np.int32]:
        """(m,) clusters of the best candidate; as many are made at the same time as fit ``max_bytes``."""
        tau = np.array(thresholds)
        n_weak = AM.counts_up_to(tau + ROUNDING)
        if self.distinct:  # what a threshold leaves shrinks as they grow: equal numbers are equal graphs
            thresholds = tau[np.unique(n_weak, return_index=True)[1]].tolist()
        m, taken, limit = len(rows), self._bytes(rows, k).n_bytes, check_bytes(self.max_bytes, "max_bytes of NegMM")
        # One cut: its graph, which the random walk overwrites, and the eigenvectors.
        each = 12 * (m**2 - int(n_weak[0]) + 2 * m) + cut_bytes(m, k)
        at_most = each + fallback_bytes(m, k)
        self._check_bytes(rows, k, more=each)
        n_together = max(1, min(thread_count(self.n_jobs), (limit - taken) // at_most))
        (seed,) = task_seeds(self.random_state, 1).tolist()
        given = AM, rows.counts, k, thresholds, self.n_neighbors, seed
        try:
            best, found = negmm(*given, n_together, self.progress, may_be_dense=taken + at_most <= limit)
        except NoConvergence:
            self._check_bytes(rows, k, more=at_most)
            raise
        self.association_threshold_, _, self.mm_index_ = best
        self.candidates_ = []
        for threshold, clusters, index in found:
            numbers = numbers_by_size(clusters, rows.counts).astype(np.int32)
            labels = rows.of_objects(numbers[clusters], -1)
            self.candidates_.append(Candidate(threshold, labels, index))
        return best.labels

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need:
        """Of the associations, all labelings found, and what has a number for each row or object."""
        (m, p), n = rows.codes.shape, len(rows.inverse)
        if p == 0:  # similarities are given
            n_bytes = 8 * m * m + 8 * m * (len(THRESHOLDS) + 16)
        else:
            per_pair = bytes_per_pair(rows.codes[:], rows.n_clusters, rows.weights)
            pairs = association_bytes(m, p, rows.codes.dtype.itemsize, per_pair, thread_count(self.n_jobs))
            n_bytes = int(pairs + 4 * len(THRESHOLDS) * (m + n) + 64 * (m + n))
        advice = (
            "Raise max_bytes, take some of the objects, or use CSPA(partitioner='spectral'), which keeps a row's "
            "largest associations only."
        )
        return Need(n_bytes + more, f"the co-associations of {m:,} label rows", advice)

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        thresholds = np.array([candidate.threshold for candidate in self.candidates_])
        indices = np.array([candidate.mm_index for candidate in self.candidates_])
        scores = np.where(np.isfinite(indices), indices, np.nan)
        return (Candidates("threshold on the co-associations", thresholds, "MM index", scores, "graphs"),)
