"""Partitions by greedy k-means in a space that they enrich themselves (Li & Liu 2018, first stage of GKCC)."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ensemblage.base.random import task_seeds
from ensemblage.base.threads import parallel_map
from ensemblage.base.validation import (
    Constraints,
    Flag,
    Function,
    Jobs,
    Number,
    Seed,
    Whole,
    Words,
    check_number,
    check_parameters,
    n_distinct_rows,
)
from ensemblage.generation._base import LabelTransformer
from ensemblage.generation._clusterers import Labels
from ensemblage.generation._greedy_stages import Space, Stage, grow_stage, settle, shift_progress

logger = logging.getLogger(__name__)


def greedy_partitions(
    X: NDArray[np.float64],
    K: int,
    candidates: Iterable[NDArray[np.intp]],
    augment: str | None = "all",
    partition_weight: float = 1.0,
    max_iter: int = 300,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Stage]:
    """GKCC without its last step (Alg. 1): the partitions Π of n objects, a stage for each k = 2, …, K.

    X : (n, m), centred
    candidates : the numbers of the objects that are tried in each stage, the paper's 59 sampled points
    augment, partition_weight : what a stage sees of Π beside the features, as of `space_of`
    """
    Pi: list[Stage] = []
    space = space_of(X, Pi, [], augment, partition_weight)
    labels = np.zeros(len(X), dtype=np.int32)  # C: the centre of X
    for k, sampled in zip(range(2, K + 1), candidates, strict=True):  # Step 1
        logger.info("base partitions into %d of %d clusters, from %d objects", k, K, len(sampled))
        shifted = shift_progress(progress, (k - 2) * len(sampled), (K - 1) * len(sampled))
        # Step 2: k-means from C and each of the points, then X = [X S_b], and k-means from the partition of min objC_i.
        Pi.append(grow_stage(space, space.centres(labels, k - 1), sampled, max_iter, n_jobs, shifted))
        space = space_of(X, Pi, [stage.labels for stage in Pi], augment, partition_weight)
        labels = Pi[-1].best()
        if k < K and augment is not None:
            settle(space, labels, k, max_iter)
    return Pi


def space_of(
    X: NDArray[np.float64],
    stages: Sequence[Stage],
    labels: Sequence[NDArray[Any]],
    augment: str | None,
    partition_weight: float,
) -> Space:
    """What the stage after ``labels`` sees, those of the stages before it: of "all" or the "last", or of none."""
    space = Space(X, np.empty((len(X), 0), dtype=np.uint8), np.zeros(1, dtype=np.int64), np.empty(0))
    seen = {"all": slice(None), "last": slice(-1, None), None: slice(0, 0)}[augment]
    for stage, partitions in list(zip(stages, labels, strict=False))[seen]:
        weights = partition_weight * np.bincount(stage.which).astype(np.float64)
        space = space.with_partitions(partitions, stage.n_clusters, weights)
    return space


@dataclass(eq=False, repr=False)
class GreedyParameters:
    """Those of `GreedyPartitions`, and of what makes one."""

    _parameter_constraints: ClassVar[Constraints] = {
        "n_clusters": [Whole(1)],
        "n_candidates": [Whole(1), Words(["all"])],
        "augment": [Words(["all", "last"]), None],
        "partition_weight": [Number(least=0)],
        "standardize": [Flag()],
        "max_iter": [Whole(1, 2**31 - 1)],
        "n_jobs": [Jobs()],
        "random_state": [Seed()],
        "progress": [Function(), None],
    }

    n_clusters: int | None = None
    _: KW_ONLY
    n_candidates: int | Literal["all"] = 59
    augment: Literal["all", "last"] | None = "all"
    partition_weight: float = 1.0
    standardize: bool = False


@dataclass(eq=False, repr=False)
class GreedyPartitions(GreedyParameters, LabelTransformer):
    """Use it for the partitions of GKCC: greedy k-means, in which each stage uses the partitions before it.

    The first half of GKCC (Li & Liu, Algorithm 1). Clusters are added one by one: with the k − 1 best centres so far
    as a start, each of 59 random objects in turn is tried as the k-th, and k-means runs from there. That gives 59
    partitions into 2 clusters, 59 into 3, and so on. The one with the least loss provides the centres for the next
    stage; all of them become features of it, one column of zeros and ones per cluster.

    With ``augment=None, n_candidates="all"`` this is the global k-means of Likas et al., and ``labels_`` its result.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of the last stage, at most the number of distinct rows of X. 1 gives the one partition that
        separates nothing.
    n_candidates : int or "all", default=59
        Objects tried per stage, drawn without replacement; all of them if there are fewer. 59 contain one of the best
        5 % with a probability of 95 %, see ``n_candidates_for``.
    augment : {"all", "last"} or None, default="all"
        The partitions that a stage sees beside the features: those of all stages before it (the published algorithm),
        those of the last one, or none.
    partition_weight : float, default=1.0
        Weight of a partition in squared distances, ≥ 0. Two objects that it separates are 2 × this apart, so 59
        partitions soon outweigh standardised features.
    standardize : bool, default=False
        Whether features are brought to mean 0 and variance 1 first. Their scale also weighs them against the
        partitions; the paper says nothing of it.
    max_iter : int, default=300
        Most iterations of each k-means, which ends when no object moves.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the candidates.
    progress : callable or None, default=None
        Called as ``progress(done, total)`` after every base partition, by the thread that called ``fit``. An error
        that it raises ends the work. No result depends on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The best partition of the last stage.
    centers_ : ndarray of shape (n_clusters, n_features)
        Means of its clusters, in the units of X.
    inertia_ : float
        Sum of the squared distances of the (standardised) features to them.
    winner_ : int
        Its column in the label matrix.
    losses_ : ndarray of shape (n_partitions,)
        Loss of each partition in the space of its stage: comparable within a stage.
    candidates_ : ndarray of shape (n_partitions,)
        Object from which each partition started.
    n_clusters_ : ndarray of shape (n_partitions,)
        Number of clusters of each partition.
    n_iter_ : int
        Iterations of the k-means that won the last stage.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X has any.

    Raises
    ------
    ValueError
        If X has fewer distinct rows than clusters, or a parameter is out of its range.

    Notes
    -----
    With u distinct partitions so far, an iteration is O(n (m + u) k), less when few objects move: many candidates lead
    to the same partition, which is a column with a weight then, and bounds skip the objects whose centre cannot have
    changed. A stage takes that times n_candidates, over ``n_jobs`` threads. Memory: the distinct partitions at one
    byte per object, and 8 (m + d) k bytes per thread for d labels in all.

    ``transform`` puts new rows through the stages: nearest centre in the first one, and so on. It computes the centres
    anew from X and the labels, which the generator keeps; what it gives for the rows of ``fit`` are their labels.

    Printed, Algorithm 1 empties its set of partitions within the loop over the candidates; the text says before it.

    References
    ----------
    X. Li and H. Liu, "Greedy optimization for k-means-based consensus clustering", Tsinghua Science and Technology
    23(2), 2018, Sec. 4, Algorithm 1, Lemma 1.
    A. Likas, N. Vlassis and J. Verbeek, "The global k-means clustering algorithm", Pattern Recognition 36(2), 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage.generation import GreedyPartitions
    >>> generator = GreedyPartitions(3, random_state=0)
    >>> generator.fit_transform(load_iris().data).shape
    (150, 118)
    >>> generator.n_clusters_[[0, 58, 59, 117]]
    array([2, 2, 3, 3])
    """

    _: KW_ONLY
    max_iter: int = 300
    n_jobs: int | None = None
    random_state: Any = None
    progress: Callable[[int, int], None] | None = None

    labels_: NDArray[np.int32] = field(init=False)
    centers_: NDArray[np.float64] = field(init=False)
    inertia_: float = field(init=False)
    winner_: int = field(init=False)
    losses_: NDArray[np.float64] = field(init=False)
    candidates_: NDArray[np.intp] = field(init=False)
    n_clusters_: NDArray[np.int64] = field(init=False)
    n_iter_: int = field(init=False)

    @staticmethod
    def n_candidates_for(delta: float = 0.95, p: float = 0.05) -> int:
        """Objects to try so that one of the best share ``p`` is among them with a probability of at least ``delta``.

        Parameters
        ----------
        delta, p : float
            In (0, 1).

        Returns
        -------
        int
            ⌈log(1 − delta) / log(1 − p)⌉ (Li & Liu, Lemma 1). Drawn without replacement, as here, it is a bound.

        Examples
        --------
        >>> GreedyPartitions.n_candidates_for(), GreedyPartitions.n_candidates_for(0.99, 0.01)
        (59, 459)
        """
        for name, value in (("delta", delta), ("p", p)):
            check_number(value, f"{name} of n_candidates_for", above=0, below=1)
        return math.ceil(math.log1p(-delta) / math.log1p(-p))

    def _generate(self, X: Any) -> list[Stage]:
        X = self._validate(X, reset=True)
        k = check_greedy(self, X, "GreedyPartitions")
        (self._seed,) = task_seeds(self.random_state, 1).tolist()
        self._center = X.mean(axis=0)
        self._scale = _deviations(X) if self.standardize else np.ones(X.shape[1])
        self._X = self._scale_features(X)
        if k == 1:
            if self.progress is not None:
                self.progress(1, 1)
            self._stages = [_whole(self._X)]
        else:
            given = self._candidates(k), self.augment, self.partition_weight, self.max_iter
            self._stages = greedy_partitions(self._X, k, *given, self.n_jobs, self.progress)
        self._describe(X)
        return self._stages

    def _matrix(self, made: Sequence[Stage]) -> Labels:
        return _candidate_labels(made, [stage.labels for stage in made])

    def _transform(self, X: Any) -> Labels:
        """Labels by the nearest centre, stage by stage."""
        new: list[NDArray[Any]] = []
        for stage, space in zip(self._stages, self._spaces(), strict=True):
            here = self._space_after(self._scale_features(X), new)
            new.append(self._labels_of(stage, space, here))
        return _candidate_labels(self._stages, new)

    def _names(self) -> list[str]:
        return [f"greedy_k{stage.n_clusters}_{i}" for stage in self._stages for i in range(len(stage.which))]

    def _validate(self, X: Any, reset: bool, **options: Any) -> Any:
        return super()._validate(X, reset, dtype=np.float64, order="C", **options)

    def _scale_features(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        # Centred in any case: distances do not change and lose fewer digits.
        return np.ascontiguousarray((X - self._center) / self._scale)

    def _candidates(self, n_clusters: int) -> Iterator[NDArray[np.intp]]:
        """Objects to try in each stage."""
        n, random = len(self._X), check_random_state(self._seed)
        if n_clusters == 1:
            yield np.zeros(1, dtype=np.intp)
        for _ in range(n_clusters - 1):
            if self.n_candidates == "all" or self.n_candidates >= n:
                yield np.arange(n)
            else:
                yield random.choice(n, self.n_candidates, replace=False)

    def _spaces(self) -> Iterator[Space]:
        """The space of each stage, for the rows of ``fit``."""
        for t in range(len(self._stages)):
            yield self._space_after(self._X, [stage.labels for stage in self._stages[:t]])

    def _space_after(self, X: NDArray[np.float64], labels: Sequence[NDArray[Any]]) -> Space:
        """What the stage after the first ones, with these labels, sees of X."""
        return space_of(X, self._stages, labels, self.augment, self.partition_weight)

    def _labels_of(self, stage: Stage, space: Space, here: Space) -> NDArray[Any]:
        """Labels of new rows by the distinct partitions of a stage."""

        def label(partition: int) -> NDArray[Any]:
            labels = stage.labels[:, partition].astype(np.int32)
            return here.nearest(space.centres(labels, stage.n_clusters)).labels.astype(stage.labels.dtype)

        return np.stack(parallel_map(label, range(stage.labels.shape[1]), self.n_jobs), axis=1)

    def _describe(self, X: NDArray[np.float64]) -> None:
        last = self._stages[-1]
        self.labels_ = last.best()
        self.losses_ = np.concatenate([stage.losses for stage in self._stages])
        self.n_iter_ = int(last.n_iter[last.winner])
        self.candidates_ = np.concatenate(list(self._candidates(last.n_clusters)))
        self.winner_ = len(self.losses_) - len(last.losses) + last.winner
        self.n_clusters_ = np.repeat([stage.n_clusters for stage in self._stages], [len(s.which) for s in self._stages])
        features = self._space_after(self._X, []).centres(self.labels_, last.n_clusters).features
        self.inertia_ = float(np.square(self._X - features.T[self.labels_]).sum())
        self.centers_ = features.T * self._scale + self._center


def check_greedy(estimator: Any, X: NDArray[np.float64], name: str) -> int:
    """Check the parameters of an estimator with those of `GreedyPartitions`, and them against X; ``n_clusters``."""
    check_parameters(estimator)
    k, weight = int(estimator.n_clusters), float(estimator.partition_weight)
    if (n_distinct := n_distinct_rows(X, k)) < k:
        raise ValueError(
            f"n_clusters of {name} must be ≤ the {n_distinct} distinct rows of X (n_samples={len(X)}). "
            f"Got {k}. Ask for fewer clusters."
        )
    if (largest := float(np.abs(X).max())) > MOST:
        raise ValueError(
            f"X of {name} must be between -{MOST:g} and {MOST:g}, since distances are squared. Got {largest:g}. "
            "Divide the features by a constant."
        )
    if weight > MOST:
        raise ValueError(
            f"partition_weight of {name} must be ≤ {MOST:g}, since distances add up. Got {weight:g}. Give a smaller "
            f"number."
        )
    return k


def _whole(X: NDArray[np.float64]) -> Stage:
    """All objects in one cluster, which the first of them stands for."""
    labels = np.zeros((len(X), 1), dtype=np.uint8)
    loss = float(np.square(X).sum())
    return Stage(1, labels, np.zeros(1, dtype=np.intp), np.array([loss]), np.ones(1, dtype=np.intp))


MOST = 1e140
"""Sums of squares of such numbers are finite in float64."""


def _deviations(X: NDArray[np.float64]) -> NDArray[np.float64]:
    deviations: NDArray[np.float64] = X.std(axis=0)
    # A constant feature tells nothing, whatever the rounding of its mean.
    return np.where((X.max(axis=0) > X.min(axis=0)) & (deviations > 0), deviations, 1.0)


def _candidate_labels(stages: Sequence[Stage], labels: Sequence[NDArray[Any]]) -> NDArray[np.int32]:
    """One column per candidate."""
    n_partitions = sum(len(stage.which) for stage in stages)
    matrix = np.empty((len(labels[0]), n_partitions), dtype=np.int32, order="F")
    start = 0
    for stage, partitions in zip(stages, labels, strict=True):
        matrix[:, start : start + len(stage.which)] = partitions[:, stage.which]
        start += len(stage.which)
    return matrix
