"""NegMM (Zhong et al. 2019) and NegMM-WAT (Sinorina et al. 2022): normalised cuts without the weak associations."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble
from ensemblage._parallel import one_native_thread, parallel_map
from ensemblage._random import task_seeds
from ensemblage._validation import check_choice, check_number, check_whole
from ensemblage.consensus._base import BaseConsensus, Rows, numbers_by_size
from ensemblage.consensus._ncut import normalized_cut
from ensemblage.metrics._coassociation import associations
from ensemblage.metrics._mm_index import mm_index_of, weights_of
from ensemblage.metrics._threshold import weak_association_threshold

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


class NegMM(BaseConsensus):
    """Normalised cut of the co-association graph without its weak associations.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the consensus, at most the number of distinct label rows. The cut may give fewer.
    threshold : {"search", "kmeans", "gmm"} or float, default "search"
        Associations up to it count as 0. "search" is NegMM: of 0, 0.01, …, 0.50 the one whose consensus has the least
        `mm_index`, the smallest on ties. "kmeans" and "gmm" are NegMM-WAT(K) and NegMM-WAT(GMM): the threshold that
        `weak_association_threshold` finds by that method, and a single cut.
    n_neighbors : int, default 3
        The l of `mm_index`.
    deduplicate : bool, default True
        Whether thresholds that leave the same graph are tried once. The result is the same.
    weights : array-like of shape (n_partitions,), optional
        Weight of each partition. Default: one each.
    max_bytes : int, default 2 GiB
        Largest matrix of co-associations to make: 8 m² bytes for m distinct label rows.
    n_jobs : int, optional
        Threads. Default: every core. The result does not depend on it.
    random_state : int, RandomState or None
        Seed of the cuts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters numbered by decreasing size; -1 for an object that no partition labels.
    confidence_ : ndarray of shape (n_objects,)
        Mean co-association of the object with the other members of its cluster, from 0 to 1.
    n_clusters_ : int
        Number of clusters found.
    threshold_ : float
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
        If ``n_clusters`` is missing or exceeds the number of distinct label rows, a parameter is out of its range, the
        matrix would be larger than ``max_bytes``, or the threshold is a word and the weights are not equal.

    Notes
    -----
    O(m² (p + t)) time and O(m²) memory for m distinct label rows, with t matrix products per cut, up to 51 cuts. It
    works on distinct label rows, which is exact: Ncut never parts objects with equal labels.

    Objects that a threshold isolates, and those of small components that no eigenvector shows, go to the cluster with
    the largest mean association before the threshold.

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
    >>> model.threshold_, round(model.mm_index_, 3)
    (0.0, 0.521)
    >>> NegMM(n_clusters=2, threshold="kmeans", random_state=0).fit(labels).threshold_
    0.25
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        threshold: str | float = "search",
        n_neighbors: int = 3,
        deduplicate: bool = True,
        weights: Any = None,
        max_bytes: int = 2**31,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.deduplicate = deduplicate
        self.weights = weights
        self.max_bytes = max_bytes
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _holds_rows(self) -> str:
        return "compares every row with every other"

    def _fit(self, rows: Rows, ensemble: Ensemble) -> NDArray[Any]:
        k = self._check_n_clusters(len(rows))
        check_whole(self.n_neighbors, "n_neighbors of NegMM", 1)
        similarity, _ = associations(
            rows.codes, rows.n_clusters, rows.weights, self.max_bytes, "Raise max_bytes.", self.n_jobs
        )
        thresholds = self._thresholds(rows, ensemble)
        tried = _different(similarity, thresholds) if self.deduplicate else thresholds
        seed = int(task_seeds(self.random_state, 1)[0])
        everywhere = weights_of(similarity, rows.counts, np.zeros(len(rows), dtype=np.int64), self.n_neighbors)
        evaluate = partial(self._candidate, similarity, rows, everywhere, k, seed)
        with one_native_thread():
            found = parallel_map(evaluate, tried, self.n_jobs)
        best = min(range(len(found)), key=lambda c: found[c].mm_index)
        self.candidates_ = [_public(candidate, rows) for candidate in found]
        self.threshold_, _, self.mm_index_ = found[best]
        return found[best].labels

    def _thresholds(self, rows: Rows, ensemble: Ensemble) -> list[float]:
        if not isinstance(self.threshold, str):
            return [check_number(self.threshold, "threshold of NegMM, if it is a number,", least=0, below=1)]
        check_choice(self.threshold, "threshold of NegMM, if it is a word,", ["search", "kmeans", "gmm"])
        if self.threshold == "search":
            return list(THRESHOLDS)
        if (rows.weights != rows.weights[0]).any():
            raise ValueError(
                f"threshold of NegMM must be 'search' or a number where weights are unequal. Got {self.threshold!r}. "
                "Give a number."
            )
        return [weak_association_threshold(ensemble, self.threshold, random_state=self.random_state)]

    def _candidate(
        self,
        similarity: NDArray[np.float64],
        rows: Rows,
        everywhere: NDArray[np.float64],
        k: int,
        seed: int,
        threshold: float,
    ) -> Candidate:
        """The cut with one threshold. All have the same seed: equal graphs give equal cuts."""
        strong = np.where(_is_strong(similarity, threshold), similarity, 0)
        clusters = normalized_cut(strong, rows.counts, k, np.random.RandomState(seed), similarity)
        index = mm_index_of(similarity, rows.counts, clusters, self.n_neighbors, everywhere)
        return Candidate(threshold, clusters.astype(np.int32), index)


def _is_strong(similarity: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    # An association and a threshold that are equal fractions are equal floats, and unequal ones differ by far more
    # than a rounding; only sums of weights need the tolerance.
    strong: NDArray[np.bool_] = similarity > threshold + ROUNDING
    np.fill_diagonal(strong, True)
    return strong


def _different(similarity: NDArray[np.float64], thresholds: list[float]) -> list[float]:
    """The first of each run of thresholds that leave the same graph: what is left shrinks as they grow."""
    levels = np.unique(similarity)
    weak = np.searchsorted(levels, np.array(thresholds) + ROUNDING, side="right")
    return [thresholds[s] for s in np.unique(weak, return_index=True)[1]]


def _public(candidate: Candidate, rows: Rows) -> Candidate:
    """Clusters of the rows as labels of the objects."""
    number = numbers_by_size(candidate.labels, rows.counts)
    labels = np.append(number[candidate.labels], -1)[rows.inverse]
    return candidate._replace(labels=labels.astype(np.int32))
