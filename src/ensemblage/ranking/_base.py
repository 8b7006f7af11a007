"""What every ranker shares: validate once, score the members, order them; the pairs of objects that are known."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from ensemblage.base.sklearn import BaseEstimator
from ensemblage.base.text import some
from ensemblage.base.validation import Constraints, Jobs, check_parameters, takes_labels
from ensemblage.labels.counts import count_labels
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.labels.links import check_pairs
from ensemblage.metrics._agreement import sums_of_profile


@dataclass(frozen=True)
class KnownPairs:
    """What is known about pairs of objects, and how much of it each partition violates (Ohl & Lindsten, Eq. 5)."""

    must_link: NDArray[np.int64]
    """(a, 2) pairs of objects that belong together."""
    cannot_link: NDArray[np.int64]
    """(b, 2) pairs that do not."""
    known: Ensemble | None
    """Classes of some objects, as an ensemble of one: every pair of these objects is a constraint."""

    @classmethod
    def of(cls, n_objects: int, must_link: Any = None, cannot_link: Any = None, known_labels: Any = None) -> KnownPairs:
        """Check what the caller knows about ``n_objects`` objects."""
        pairs = check_pairs(must_link, "must_link", n_objects), check_pairs(cannot_link, "cannot_link", n_objects)
        known = None if known_labels is None else Ensemble.from_partitions([known_labels], names=["known_labels"])
        if known is not None and len(known) != n_objects:
            raise ValueError(
                f"known_labels must have one entry for each of the {n_objects} objects. Got {len(known)}. "
                "Mark objects whose class is not known as -1."
            )
        return cls(*pairs, known)

    def violations(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """(p,) share of the constraints that each partition violates, of those on pairs of objects that it labels.

        0 where it labels none of the pairs. O(p · constraints) time; constraints by classes O(n p) however many pairs
        they imply.
        """
        violated, stated = np.zeros((2, ensemble.shape[1]))
        for pairs, wrong in ((self.must_link, False), (self.cannot_link, True)):
            if len(pairs):
                left, right = ensemble.codes[pairs[:, 0]], ensemble.codes[pairs[:, 1]]
                labelled = (left != ensemble.n_clusters) & (right != ensemble.n_clusters)
                violated += np.count_nonzero(labelled & ((left == right) == wrong), axis=0)
                stated += np.count_nonzero(labelled, axis=0)
        if self.known is not None:
            # Pairs of known objects that a partition joins across classes or separates within one; and all pairs.
            classes, k = self.known.codes[:, 0].astype(np.int32), int(self.known.n_clusters[0])
            counts, squares = np.ones(len(classes), dtype=np.int64), np.empty(0, dtype=np.int64)
            classes[classes == k] = -1
            profile = count_labels(ensemble.rows, classes, counts, ensemble.offsets, k)
            both, same_class, same_cluster, n = sums_of_profile(profile, ensemble.offsets, squares)
            violated = violated + (same_class + same_cluster - 2 * both) // 2
            stated = stated + n * (n - 1) // 2
        return violated / np.maximum(stated, 1)


class BaseRanker(BaseEstimator):
    """An estimator that scores the members of an ensemble.

    A ranker implements ``_score(ensemble, features) -> scores`` and says in ``greater_is_better`` which end is good.
    Violated constraints make its scores worse, unless it says that they have another unit.
    """

    _parameter_constraints: ClassVar[Constraints] = {"n_jobs": [Jobs()]}
    _adds_violations = True
    scores_: NDArray[np.float64]
    violations_: NDArray[np.float64]
    order_: NDArray[np.intp]
    ranks_: NDArray[np.int64]
    names_in_: NDArray[Any]

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        features: Any = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        known_labels: ArrayLike | None = None,
    ) -> Self:
        """Score and order the partitions of a label matrix.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
            Labels. -1, NaN and None mean that the partition did not label the object.
        y : None
            Ignored.
        features : array-like of shape (n_objects, n_features), optional
            The objects themselves. `InternalIndex` needs them; other rankers do not use them.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), optional
            Pairs of objects, by row number, known to belong together or not to. They may contradict each other: then
            every member violates some.
        known_labels : array-like of shape (n_objects,), optional
            Classes of the objects as far as they are known, -1 or NaN elsewhere. Every pair of known objects counts as
            a constraint.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a constraint names an object that is not there or an object twice, or ``known_labels`` or ``features``
            are of another length.

        Warns
        -----
        UserWarning
            If a partition has no score. It comes last.

        Notes
        -----
        ``violations_`` holds the share of the constraints that each member violates, of those on pairs that it labels
        (Ohl & Lindsten, Eq. 5); it makes the score that much worse.
        """
        check_parameters(self)
        ensemble = as_ensemble(X)
        validate_data(self, X, skip_check_array=True)
        self._constraints = KnownPairs.of(len(ensemble), must_link, cannot_link, known_labels)
        self.names_in_ = np.array(ensemble.names, dtype=object)
        self.violations_ = self._constraints.violations(ensemble)
        scores = self._score(ensemble, features)
        if self._adds_violations:
            scores = scores - self.violations_ if self.greater_is_better else scores + self.violations_
        self.scores_ = scores
        unscored = self.names_in_[np.isnan(scores)]
        if len(unscored):
            warnings.warn(
                f"{type(self).__name__} cannot score {len(unscored)} partition{'s' * (len(unscored) > 1)}: "
                f"{some(unscored, 5)}. Ranked last.",
                UserWarning,
                stacklevel=2,
            )
        self.order_, self.ranks_ = order_and_ranks(scores, self.greater_is_better)
        return self

    @property
    def greater_is_better(self) -> bool:
        """Whether the member with the largest score is the best."""
        raise NotImplementedError

    def _score(self, ensemble: Ensemble, features: Any) -> NDArray[np.float64]:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        return takes_labels(super().__sklearn_tags__())


def order_and_ranks(scores: NDArray[np.float64], greater_is_better: bool) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Members from the best score down (ties by index, NaN last), and 1 + the number of members before each."""
    costs = -scores if greater_is_better else scores
    order = np.argsort(costs, kind="stable")
    in_order = costs[order]
    equal = (in_order[1:] == in_order[:-1]) | np.isnan(in_order[:-1])
    ranks = np.empty(len(costs), dtype=np.int64)
    ranks[order] = np.maximum.accumulate(np.append(1, np.where(equal, 1, np.arange(2, len(costs) + 1))))
    return order, ranks
