"""Latent classes (Topchy, Jain & Punch 2004): a mixture of products of multinomials, fitted to the label rows by EM."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from heapq import nsmallest
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ensemblage.base.random import task_seeds
from ensemblage.base.threads import BLOCK_ROWS, SUM_ROWS, parallel_map
from ensemblage.base.validation import Constraints, Number, Seed, Values, Whole
from ensemblage.consensus._base import InductiveConsensus, renumber_parts
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.consensus.diagnostics import Candidates, Diagnostics
from ensemblage.consensus.kmeans._k_modes import ModeUtility
from ensemblage.consensus.kmeans._label_kmeans import (
    LEAST_STARTS,
    N_INIT,
    STARTS,
    number_of_starts,
    profile_of_init,
    seed_at_random,
    seed_far_apart,
)
from ensemblage.kernels._votes import expect_rows
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.rows import Rows

logger = logging.getLogger(__name__)

OWN = 0.8
"""Share of an object that a given start leaves in its class: where a class has none of a label, it never gets any."""
BEGUN = 20
"""Iterations after which the starts of least loss are chosen that go on."""
FINISHED = LEAST_STARTS
"""Starts that go on, where there are more."""
PATIENCE = 3
"""Numbers of classes without a better BIC, one after the other, after which no larger one is tried."""


class Expected(NamedTuple):
    """Objects that are expected of each of k classes."""

    labels: NDArray[np.float64]
    """(d, k) with each label; a missing entry is one."""
    shares: NDArray[np.float64]
    """(k,) in all."""


class Classes(NamedTuple):
    """a_g and θ_gm of k classes, as logarithms."""

    log_prior: NDArray[np.float64]
    """(k,)"""
    table: NDArray[np.float64]
    """(d, k) of each label, times the weight of its partition; 0 for a missing entry."""
    offsets: NDArray[np.int64]
    """(p + 1,) rows of each partition in the table."""

    def scores(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """(n, k) log-probability of each row of codes with each class."""
        scores = np.repeat(self.log_prior[None], len(codes), axis=0)
        for j, offset in enumerate(self.offsets[:-1]):
            scores += self.table[offset + codes[:, j]]
        return scores

    def likeliest(self, codes: NDArray[Any], classes: NDArray[np.int32]) -> None:
        """The likeliest class of each row of codes into ``classes``, the first one on ties."""
        classes[:] = self.scores(codes).argmax(axis=1)


class Mixture(NamedTuple):
    """The classes after some iterations."""

    expected: Expected
    """Of these classes; before the first iteration, of a start."""
    classes: Classes | None = None
    """None before the first iteration."""
    trace: tuple[float, ...] = ()
    """Log-likelihood before and after each iteration."""

    @property
    def loss(self) -> float:
        return -self.trace[-1]


def em(
    codes: LabelRows,
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    sizes: NDArray[np.int64],
    n_jobs: int | None,
    tol: float,
    mixture: Mixture,
    max_iter: int,
) -> Mixture:
    """EM for a mixture of products of multinomials (Topchy et al., Sec. 3): a row has p(y) = Σ_g a_g Π_m θ_gm(y_m).

    - E: z_ig ∝ a_g Π_m θ_gm(y_im) over the partitions m that label object i, each θ to the power of its weight.
    - M: a_g is the mean of z_ig, and θ_gm(c) = Σ_i z_ig [y_im = c] / Σ_i z_ig [y_im is known].

    ``codes``, (m, p), are distinct rows of ``counts`` objects each; ``weights``, (p,), have mean 1, and ``sizes``,
    (d,), are the objects with each label. The iterations, ``max_iter`` in all, go on from ``mixture`` until the
    log-likelihood gains no more than ``tol`` times itself. O(m p k) time per iteration.
    """
    expected, classes, trace = mixture
    while len(trace) <= max_iter:
        if len(trace) > 1 and trace[-1] - trace[-2] <= tol * abs(trace[-1]):
            break
        following = maximise(expected, offsets, weights, sizes)
        log_likelihood, then = expect(codes, counts, following, n_jobs)
        if trace and log_likelihood <= trace[-1]:
            break  # rounding alone: EM never loses
        expected, classes, trace = then, following, (*trace, log_likelihood)
    return Mixture(expected, classes, trace)


def expect(codes: LabelRows, counts: NDArray[np.int64], classes: Classes, n_jobs: int | None) -> tuple[float, Expected]:
    """E step: the log-likelihood, and what is expected of every class, Σ_i z_ig and Σ_i z_ig [y_im = c]."""
    shape, plain = classes.table.shape, (classes.offsets, classes.log_prior, classes.table)

    def add(codes: Any, counts: Any) -> tuple[float, Any, Any]:
        sums, shares = np.zeros(shape), np.zeros(shape[1])
        return expect_rows(codes, counts, *plain, sums, shares), sums, shares

    total, sums, shares = 0.0, np.zeros(shape), np.zeros(shape[1])
    for log_likelihood, part, its_shares in codes.map(add, reads=[counts], n_jobs=n_jobs, size=SUM_ROWS):
        total += log_likelihood
        sums += part
        shares += its_shares
    return total, Expected(sums, shares)


def maximise(
    expected: Expected, offsets: NDArray[np.int64], weights: NDArray[np.float64], sizes: NDArray[np.int64]
) -> Classes:
    """M step: shares of the classes, and proportions of the labels over what each partition labels of a class."""
    theta = proportions_of(expected.labels, offsets, sizes[:, None])
    tiny = np.finfo(np.float64).tiny  # a label that no member has: e⁻⁷⁰⁸, and not log 0
    table = np.log(np.maximum(theta, tiny)) * np.repeat(weights, np.diff(offsets))[:, None]
    table[offsets[1:] - 1] = 0
    prior = expected.shares / expected.shares.sum()
    return Classes(np.log(np.maximum(prior, tiny)), np.ascontiguousarray(table), offsets)


def proportions_of(
    expected: NDArray[Any], offsets: NDArray[np.int64], otherwise: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(d, k) share of each label in its partition's labels of a class; of ``otherwise``, (d, 1), if there are none."""
    known = expected.astype(np.float64)
    known[offsets[1:] - 1] = 0
    labelled = np.add.reduceat(known, offsets[:-1], axis=0)
    if not labelled.all():
        of_all = otherwise.astype(np.float64)
        of_all[offsets[1:] - 1] = 0
        known = np.where(np.repeat(labelled > 0, np.diff(offsets), axis=0), known, of_all)
        labelled = np.add.reduceat(known, offsets[:-1], axis=0)
    return np.asarray(known / np.repeat(labelled, np.diff(offsets), axis=0))


def from_seeds(profile: NDArray[np.int64], offsets: NDArray[np.int64], sizes: NDArray[np.int64]) -> Mixture:
    """A start from k objects: half of a class is its object, half has the proportions of all."""
    of_all = sizes[:, None]
    return Mixture(Expected(profile.T + proportions_of(of_all, offsets, of_all), np.ones(len(profile))))


def from_clusters(profile: NDArray[np.int64], offsets: NDArray[np.int64]) -> Mixture:
    """A start from a partition: each object belongs to its cluster for the greater part, and to all others."""
    k, labels = len(profile), profile.T.astype(np.float64)
    other = (1 - OWN) / max(k - 1, 1)
    spread = (OWN - other) * labels + other * labels.sum(axis=1, keepdims=True) if k > 1 else labels
    # Each object has one entry of the first partition, be it that of the missing labels.
    return Mixture(Expected(spread, spread[: offsets[1]].sum(axis=0)))


def bic(mixture: Mixture, n_labels: NDArray[np.int64], n_objects: int) -> float:
    """-2 log L + parameters · log n."""
    k = len(mixture.expected.shares)
    n_parameters = k - 1 + k * int((n_labels - 1).sum())
    return float(2 * mixture.loss + n_parameters * np.log(n_objects))


@dataclass(eq=False, repr=False)
class LatentClassConsensus(InductiveConsensus):
    """Use it for probabilities of clusters, or with k unknown: a mixture of latent classes, k by BIC.

    In a class, the labels that the partitions give are independent of each other, each with probabilities of its own:
    a row y has the probability Σ_g a_g Π_m θ_gm(y_m) [1]_. EM estimates the shares a and the probabilities θ.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters of the consensus: of classes, some of which may be the likeliest of no object. None: the
        number with the least BIC, from 1 up to the clusters of the largest partition, until 3 numbers in a row bring no
        lower one; that of a given ``init``.
    init : {"k-means++", "random"} or array-like of shape (n_objects,), default "k-means++"
        Objects that the classes start from, half and half with the proportions of all: greedy k-means++ by the numbers
        of labels that differ, or distinct random ones. Or a partition, whose objects start with .8 in their class and
        the rest in the others (-1: object without a cluster).
    n_init : int or "auto", default "auto"
        Number of starts, the one with the least loss wins, minus the log-likelihood. Of more than 10 those 10 go on
        that have the least after 20 iterations. "auto": 1.5·10⁶ / (m p k) for m distinct rows of p labels, but at
        least 10 and at most 300. A given ``init`` makes one start.
    max_iter : int, default 500
        Most iterations per start.
    tol : float, default 1e-8
        A start ends when the log-likelihood gains no more than ``tol`` times itself.
    weights : array-like of shape (n_partitions,) or "agreement", optional
        Weight of each partition; 0 leaves it out. Default: one each. "agreement": `metrics.agreement_weights`.
        An object's label counts in the log-likelihood as often as the weight of its partition, where these have mean 1:
        2 is not the partition twice, which would make the classes surer.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the starts.

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
    log_likelihood_ : float
        Of the objects, natural logarithm.
    log_likelihood_trace_ : list of float
        Before and after each iteration of the best start. It never falls.
    bic_ : dict of int to float
        -2 ``log_likelihood_`` + (k - 1 + k Σ (k_m - 1)) log n of each number of classes k that was tried, for n objects
        and partitions of k_m labels.
    n_iter_ : int
        Iterations of the best start.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    ValueError
        If ``n_clusters`` is missing or exceeds the number of distinct label rows, or a parameter is out of its range.

    Notes
    -----
    O(m p k) time per iteration and O(d k) memory for m distinct label rows of p labels, on which it is exact, and d
    labels in all; a block of 16,384 rows takes as much.

    A missing label is left out of the product, which is exact where labels are missing at random. BIC counts every
    label as a parameter; with many small labels it finds few classes.

    ``predict`` of the rows of ``fit`` gives ``labels_``.

    References
    ----------
    .. [1] A. Topchy, A. K. Jain, W. Punch, "A mixture model for clustering ensembles", SDM 2004.

    Examples
    --------
    >>> from ensemblage.consensus import LatentClassConsensus
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    >>> lca = LatentClassConsensus(random_state=0).fit(labels)
    >>> lca.labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> lca.predict_proba([[1, None, 1], [0, None, 1]]).round(2)
    array([[0., 1.],
           [1., 0.]])
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "init": [STARTS, Values("a partition of the objects")],
        "n_init": N_INIT,
        "max_iter": [Whole(1)],
        "tol": [Number(least=0)],
        "random_state": [Seed()],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    init: Any = "k-means++"
    n_init: int | str = "auto"
    max_iter: int = 500
    tol: float = 1e-8
    weights: Any = None
    n_jobs: int | None = None
    random_state: Any = None

    log_likelihood_: float = field(init=False)
    log_likelihood_trace_: list[float] = field(init=False)
    bic_: dict[int, float] = field(init=False)
    n_iter_: int = field(init=False)

    _capabilities: ClassVar[Capabilities] = Capabilities(in_memory="", finds_n_clusters=True, predict=True)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        self.bic_ = {}
        weights, sizes = rows.weights / rows.weights.mean(), rows.label_sizes(self.n_jobs)
        run = partial(em, rows.codes, rows.counts, rows.offsets, weights, sizes, self.n_jobs, self.tol)
        best: Mixture | None = None
        for k in self._numbers_of_classes(rows):
            if isinstance(self.init, str):
                mixture = self._best_start(rows, ModeUtility(rows.offsets, weights, sizes), k, run)
            else:
                mixture = run(from_clusters(profile_of_init(self, rows, k), rows.offsets), self.max_iter)
            self.bic_[k] = bic(mixture, rows.n_clusters, int(rows.counts.sum()))
            if best is None or self.bic_[k] < min(self.bic_[other] for other in self.bic_ if other < k):
                best = mixture
        assert best is not None
        assert best.classes is not None
        self.log_likelihood_trace_ = list(best.trace)
        self.log_likelihood_, self.n_iter_ = best.trace[-1], len(best.trace) - 1
        found = np.empty(len(rows), dtype=np.int32)
        rows.codes.map(best.classes.likeliest, writes=[found], n_jobs=self.n_jobs)
        # Clusters without gaps, of the classes that are the likeliest of some object.
        kept, (log_prior, table, offsets) = np.unique(found), best.classes
        self._classes = Classes(log_prior[kept], np.ascontiguousarray(table[:, kept]), offsets)
        return renumber_parts(found)

    def _numbers_of_classes(self, rows: Rows) -> Iterator[int]:
        if self.n_clusters is not None:
            yield self._check_n_clusters(rows)
            return
        if not isinstance(self.init, str):
            yield int(Ensemble.from_partitions([self.init]).n_clusters[0])
            return
        for k in range(1, min(len(rows), int(rows.n_clusters.max())) + 1):
            if k - min(self.bic_, key=self.bic_.__getitem__, default=k) > PATIENCE:
                return
            logger.info("latent classes: %d", k)
            yield k

    def _best_start(
        self, rows: Rows, distances: ModeUtility, k: int, run: Callable[[Mixture, int], Mixture]
    ) -> Mixture:
        """The start of least loss; of many, those of least loss after some iterations go on."""
        n_init = number_of_starts(self.n_init, rows, k, LEAST_STARTS)
        n_iter = min(BEGUN, self.max_iter) if n_init > FINISHED else self.max_iter

        def start(seed: int) -> Mixture:
            random = np.random.RandomState(int(seed))
            if self.init == "random":
                profile = seed_at_random(rows.codes, rows.counts, rows.offsets, k, random)
            else:
                profile = seed_far_apart(rows.codes, rows.counts, distances, k, random, self.n_jobs)
            return run(from_seeds(profile, rows.offsets, distances.counts), n_iter)

        # Few rows: one start per thread. Many: every start uses all threads, and only the best are kept.
        each: Any = partial(parallel_map, n_jobs=self.n_jobs) if len(rows) <= BLOCK_ROWS else map
        begun = nsmallest(FINISHED, each(start, task_seeds(self.random_state, n_init)), key=lambda one: one.loss)
        ended: Iterable[Mixture] = each(lambda one: run(one, self.max_iter), begun)
        return min(ended, key=lambda one: one.loss)

    def _predict_codes(self, codes: LabelRows) -> NDArray[np.int32]:
        found, classes = np.empty(len(codes), dtype=np.int32), self._classes

        def place(codes: NDArray[Any], found: NDArray[np.int32]) -> None:
            classes.likeliest(codes, found)
            found[(codes == np.diff(classes.offsets) - 1).all(axis=1)] = -1

        codes.map(place, writes=[found], n_jobs=self.n_jobs)
        return np.append(self._number, -1)[found].astype(np.int32)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each cluster for new label rows.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_new, n_partitions)
            Columns of a data frame or an Ensemble are found by their names if what was fitted had names too; further
            ones are ignored. A label not seen in ``fit`` counts as missing, with one warning.

        Returns
        -------
        ndarray of shape (n_new, k)
            Rows sum to 1; the shares of the classes where no partition labels an object.
        """
        scores = self._encode(X).map(self._classes.scores, n_jobs=self.n_jobs)
        order = np.argsort(self._number)
        return np.concatenate([softmax(part[:, order], axis=1) for part in scores])

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        if self.n_clusters is not None:
            return ()
        numbers, scores = np.array([*self.bic_], dtype=np.float64), np.array([*self.bic_.values()])
        return (Candidates("number of classes", numbers, "BIC", scores),)
