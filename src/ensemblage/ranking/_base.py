"""What every ranker shares: validate once, score the members, order them."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ensemblage._ensemble import Ensemble, as_ensemble


class BaseRanker(BaseEstimator):
    """An estimator that scores the members of an ensemble.

    A ranker implements ``_score(ensemble) -> scores`` and says in ``greater_is_better`` which end is good.
    """

    scores_: NDArray[np.float64]
    order_: NDArray[np.intp]
    ranks_: NDArray[np.int64]
    names_in_: NDArray[Any]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Score and order the partitions of a label matrix.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
            Labels. -1, NaN and None mean that the partition did not label the object.
        y : ignored

        Returns
        -------
        self

        Warns
        -----
        UserWarning
            If a partition has no score. It comes last.
        """
        ensemble = as_ensemble(X)
        validate_data(self, X, skip_check_array=True)
        self.names_in_ = np.array(ensemble.names, dtype=object)
        self.scores_ = self._score(ensemble)
        self._warn_of_unscored()
        self.order_, self.ranks_ = _order_and_ranks(-self.scores_ if self.greater_is_better else self.scores_)
        return self

    @property
    def greater_is_better(self) -> bool:
        """Whether the member with the largest score is the best."""
        raise NotImplementedError

    def _score(self, ensemble: Ensemble) -> NDArray[np.float64]:
        raise NotImplementedError

    def _warn_of_unscored(self) -> None:
        unscored = self.names_in_[np.isnan(self.scores_)]
        if len(unscored):
            named = ", ".join(unscored[:5]) + (", ..." if len(unscored) > 5 else "")
            warnings.warn(
                f"{type(self).__name__} cannot score {len(unscored)} partition{'s' * (len(unscored) > 1)}: {named}. "
                "Ranked last.",
                UserWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _order_and_ranks(costs: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Members from the lowest cost up (ties by index, NaN last), and 1 + the number of members before each."""
    order = np.argsort(costs, kind="stable")
    in_order = costs[order]
    equal = (in_order[1:] == in_order[:-1]) | np.isnan(in_order[:-1])
    ranks = np.empty(len(costs), dtype=np.int64)
    ranks[order] = np.maximum.accumulate(np.append(1, np.where(equal, 1, np.arange(2, len(costs) + 1))))
    return order, ranks
