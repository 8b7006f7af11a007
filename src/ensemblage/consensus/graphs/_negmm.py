"""NegMM (Zhong et al. 2019) and NegMM-WAT (Sinorina et al. 2022): normalised cuts without the weak associations."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.base.memory import MAX_BYTES, Need, check_fits
from ensemblage.base.random import task_seeds
from ensemblage.base.validation import Bytes, Constraints, Flag, Function, Seed, Whole, check_bytes
from ensemblage.consensus._base import numbers_by_size
from ensemblage.consensus._capabilities import COMPARES_ROWS, Capabilities
from ensemblage.consensus._precomputed import SimilarityConsensus, number_given
from ensemblage.consensus.evidence import Candidates, Evidence
from ensemblage.consensus.graphs._ncut import LEAST, MOST_DENSE_ROWS, cut_bytes, dense_bytes, normalized_cut
from ensemblage.kernels._graphs import count_strong, fill_strong
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import one_native_thread, parallel_map, run_interruptibly, thread_count
from ensemblage.metrics._coassociation import Associations, association_bytes, bytes_per_pair, compact_associations
from ensemblage.metrics._mm_index import mm_index_of, weights_of
from ensemblage.metrics._wat import association_threshold, threshold_constraints

THRESHOLDS = tuple(s / 100 for s in range(51))
"""0, 0.01, …, 0.50, each the float nearest to it: a sum of steps of 0.01 would miss counts that are equal to one."""
ROUNDING = 1e-12
"""With weights, an association this little above a threshold counts as equal to it."""


class Candidate(NamedTuple):
    """The consensus with one threshold."""

    threshold: float
    labels: NDArray[np.int32]
    """(n,) clusters numbered by decreasing size; -1 for an object that no partition labels."""
    mm_index: float


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
    deduplicate : bool, default True
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
        of another one but not of both; see `metrics.certainty`. 1: no partition supports another cluster. ½: two
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
    >>> from ensemblage import NegMM
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
        "deduplicate": [Flag()],
        "max_bytes": [Bytes()],
        "random_state": [Seed()],
        "progress": [Function(), None],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    association_threshold: str | float = "search"
    n_neighbors: int = 3
    deduplicate: bool = True
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
        return (
            able
            if self.association_threshold == "search" or not isinstance(self.association_threshold, str)
            else able.without_similarities
        )

    def _fit(self, rows: Rows) -> NDArray[Any]:
        k, thresholds = self._check_n_clusters(rows), self._thresholds(rows)
        shared = self._bytes(rows, k).n_bytes
        similarity = compact_associations(rows.codes[:], rows.n_clusters, rows.weights, self.n_jobs)
        return self._best_cut(similarity, rows, thresholds, k, shared)

    def _bytes(self, rows: Rows, k: int, n_entries: int | None = None, more: int = 0) -> Need:
        """Of the co-associations, all labelings found, and what has a number for each row or object."""
        (m, p), n = rows.codes.shape, len(rows.inverse)
        per_pair = bytes_per_pair(rows.codes[:], rows.n_clusters, rows.weights)
        pairs = association_bytes(m, p, rows.codes.dtype.itemsize, per_pair, thread_count(self.n_jobs))
        return need_of(int(pairs + 4 * len(THRESHOLDS) * (m + n) + 64 * (m + n)) + more, m)

    def _fit_similarity(self, S: Any, rows: Rows) -> NDArray[Any]:
        n, k = len(rows), self._check_n_clusters(rows)
        name = "association_threshold of NegMM"
        thresholds = (
            [*THRESHOLDS]
            if self.association_threshold == "search"
            else [number_given(self.association_threshold, name)]
        )
        # With a number for each pair and threshold.
        return self._best_cut(
            Associations(S, np.empty(0)), rows, thresholds, k, 8 * n * n + 8 * n * (len(THRESHOLDS) + 16)
        )

    def _best_cut(
        self, similarity: Associations, rows: Rows, thresholds: list[float], k: int, shared: int
    ) -> NDArray[Any]:
        """(m,) clusters of the cut with the least index; ``shared`` bytes are taken already."""
        m, limit = len(rows), check_bytes(self.max_bytes, "max_bytes of NegMM")
        n_threads = thread_count(self.n_jobs)
        n_weak = similarity.counts_up_to(np.array(thresholds) + ROUNDING)
        # What a threshold leaves shrinks as they grow: equal numbers of weak associations are equal graphs.
        first = np.unique(n_weak, return_index=True)[1] if self.deduplicate else range(len(thresholds))
        # One cut: its graph, which the random walk overwrites, and the eigenvectors.
        each = 12 * (m**2 - int(n_weak[0]) + 2 * m) + cut_bytes(m, k)
        self._check_cut(shared + each, m)
        at_most = each + (dense_bytes(m, k) if m <= MOST_DENSE_ROWS else 0)
        seed = int(task_seeds(self.random_state, 1)[0])
        everywhere = weights_of(similarity, rows.counts, np.zeros(m, dtype=np.int64), self.n_neighbors)

        def check_more(n_bytes: int) -> None:
            self._check_cut(shared + each + n_bytes, m)

        def candidate(threshold: float) -> Candidate:
            """The cut with one threshold. All have the same seed: equal graphs give equal cuts."""
            graph = strong_graph(similarity, threshold)
            random = np.random.RandomState(seed)
            clusters = normalized_cut(graph, rows.counts, k, random, similarity, check_more)
            index = mm_index_of(similarity, rows.counts, clusters, self.n_neighbors, everywhere)
            return Candidate(threshold, clusters.astype(np.int32), index)

        with one_native_thread():
            n_together = max(1, min(n_threads, (limit - shared) // at_most))
            found = parallel_map(candidate, [thresholds[s] for s in first], n_together, self.progress)
        best = min(found, key=lambda candidate: candidate.mm_index)
        self.association_threshold_, _, self.mm_index_ = best
        self.candidates_ = []
        for threshold, clusters, index in found:
            number = numbers_by_size(clusters, rows.counts)
            self.candidates_.append(Candidate(threshold, rows.of_objects(number.astype(np.int32)[clusters], -1), index))
        return best.labels

    def _evidence(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Evidence, ...]:
        thresholds = np.array([candidate.threshold for candidate in self.candidates_])
        indices = np.array([candidate.mm_index for candidate in self.candidates_])
        scores = np.where(np.isfinite(indices), indices, np.nan)
        return (Candidates("threshold on the co-associations", thresholds, "MM index", scores, "graphs"),)

    def _thresholds(self, rows: Rows) -> list[float]:
        if self.association_threshold == "search":
            return list(THRESHOLDS)
        return [association_threshold(self.association_threshold, rows, self.random_state, self.n_jobs)]

    def _check_cut(self, n_bytes: int, m: int) -> None:
        """Raise unless the similarities, of labels or given, fit with what a cut of them takes."""
        need = need_of(n_bytes, m)
        check_fits(need.n_bytes, self.max_bytes, "NegMM", need.what, need.advice)


def need_of(n_bytes: int, m: int) -> Need:
    """So many bytes for m rows."""
    advice = (
        "Raise max_bytes, take some of the objects, or use CSPA(partitioner='spectral'), which keeps a row's "
        "largest associations only."
    )
    return Need(n_bytes, f"the co-associations of {m:,} label rows", advice)


def strong_graph(similarity: Associations, threshold: float) -> csr_array:
    """Associations above a threshold, and those of each row with itself."""
    # An association and a threshold that are equal fractions are equal floats, and unequal ones differ by far more
    # than a rounding; only sums of weights need the tolerance.
    matrix, values = similarity
    m, weak = len(matrix), max(threshold + ROUNDING, np.nextafter(LEAST, 0))
    most = matrix.dtype.type(np.searchsorted(values, weak, side="right") - 1 if len(values) else weak)
    degrees = np.empty(m, dtype=np.int64)
    run_interruptibly(count_strong, matrix, most, np.zeros(1, dtype=np.int64), degrees)
    n_entries = int(degrees.sum())
    places = np.int32 if n_entries < 2**31 else np.int64
    indices, data = np.empty(n_entries + 1, dtype=places), np.empty(n_entries)
    run_interruptibly(fill_strong, matrix, values, most, np.zeros(2, dtype=np.int64), indices, data)
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(places)
    return csr_array((data, indices[:n_entries], indptr), shape=(m, m))
