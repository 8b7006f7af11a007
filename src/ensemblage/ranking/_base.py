"""What every ranker shares: validate once, score the members, order them."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from ensemblage.base.sklearn import BaseEstimator
from ensemblage.base.text import some
from ensemblage.base.validation import Constraints, Jobs, check_parameters, takes_labels
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.ranking._known_pairs import KnownPairs as PairConstraints


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
        self._constraints = PairConstraints.of(len(ensemble), must_link, cannot_link, known_labels)
        self.names_in_ = np.array(ensemble.names, dtype=object)
        self.violations_ = self._constraints.violations(ensemble)
        self.scores_ = self._score(ensemble, features) + self._penalties()
        self._warn_of_unscored()
        self.order_, self.ranks_ = order_and_ranks(self.scores_, self.greater_is_better)
        return self

    def _penalties(self) -> NDArray[np.float64]:
        if not self._adds_violations:
            return np.zeros(len(self.violations_))
        return -self.violations_ if self.greater_is_better else self.violations_

    @property
    def greater_is_better(self) -> bool:
        """Whether the member with the largest score is the best."""
        raise NotImplementedError

    def _score(self, ensemble: Ensemble, features: Any) -> NDArray[np.float64]:
        raise NotImplementedError

    def _warn_of_unscored(self) -> None:
        unscored = self.names_in_[np.isnan(self.scores_)]
        if len(unscored):
            named = some(unscored, 5)
            warnings.warn(
                f"{type(self).__name__} cannot score {len(unscored)} partition{'s' * (len(unscored) > 1)}: {named}. "
                "Ranked last.",
                UserWarning,
                stacklevel=3,
            )

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
