"""The best members of an ensemble, as a step of a pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ensemblage._constraints import FRACTION, Constraints, Estimator, Whole
from ensemblage._ensemble import Ensemble, as_ensemble
from ensemblage._index import is_integer
from ensemblage._validation import check_parameters, takes_labels
from ensemblage.ranking._discotec import Discotec


@dataclass(eq=False, repr=False)
class SelectMembers(TransformerMixin, BaseEstimator):
    """Keep the partitions that a ranking puts first: a label matrix in, one with fewer columns out.

    Parameters
    ----------
    ranker : ranking estimator, optional
        Puts the partitions in order. Default: ``Discotec(random_state=0)``.
    n_members : int or float, default 0.5
        How many to keep: a whole number from 1 on (all, if there are fewer), or a share of them above 0 and up to 1
        (rounded to the nearest number, at least one).

    Attributes
    ----------
    ranker_ : ranking estimator
        Fitted; its ``scores_`` and ``order_`` say more.
    selected_ : ndarray of int
        Columns that are kept, in the order of the label matrix.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    TypeError
        If ``ranker`` is no ranking estimator.
    ValueError
        If ``n_members`` is out of its range.

    Notes
    -----
    Time and memory are those of the ranking. Ties go to the partition that comes first.

    References
    ----------
    L. Ohl, F. Lindsten, "Discriminative ordering through ensemble consensus", 2025 (the ranking of the default).

    Examples
    --------
    >>> from ensemblage import AverageAgreement, KMeansConsensus, SelectMembers
    >>> from sklearn.pipeline import make_pipeline
    >>> labels = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> SelectMembers(AverageAgreement(), 2).fit(labels).selected_
    array([0, 1])
    >>> consensus = KMeansConsensus(2, random_state=0)
    >>> make_pipeline(SelectMembers(AverageAgreement(), 2), consensus).fit(labels)[-1].labels_
    array([0, 0, 1, 1], dtype=int32)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "ranker": [
            Estimator("a ranking estimator", "_score", "Give Discotec(), AverageAgreement() or InternalIndex()."),
            None,
        ],
        "n_members": [Whole(1), FRACTION],
    }

    ranker: Any = None
    n_members: Any = 0.5

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Rank the partitions of a label matrix.

        Parameters
        ----------
        {X}
        {y}
        **fit_params
            What the ranking's ``fit`` takes: ``features``, ``must_link``, ``cannot_link``, ``known_labels``.

        {self}
        """
        check_parameters(self)
        ensemble = as_ensemble(X)
        validate_data(self, X, skip_check_array=True)
        ranker = Discotec(random_state=0) if self.ranker is None else clone(self.ranker)
        self.ranker_ = ranker.fit(ensemble, **fit_params)
        p, n_members = ensemble.shape[1], self.n_members
        n_kept = min(n_members, p) if is_integer(n_members) else max(1, round(n_members * p))
        self.selected_ = np.sort(self.ranker_.order_[:n_kept])
        return self

    def transform(self, X: Any) -> Any:
        """The columns that are kept.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_new, n_partitions)
            Labels by the partitions of ``fit``, in their order.

        Returns
        -------
        ndarray, data frame or Ensemble of shape (n_new, n_selected)
            Of the kind of ``X``.
        """
        check_is_fitted(self)
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        known = isinstance(X, Ensemble) or isinstance(frame, nw.DataFrame)
        X = X if known else check_array(X, dtype=None, ensure_all_finite=False)
        validate_data(self, X, reset=False, skip_check_array=True)
        if isinstance(X, Ensemble):
            return X.select(self.selected_)
        return frame[:, self.selected_.tolist()].to_native() if known else X[:, self.selected_]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the partitions that are kept.

        Parameters
        ----------
        {input_features}

        Returns
        -------
        ndarray of str objects
            In the order of the label matrix.
        """
        check_is_fitted(self)
        names: NDArray[Any] = self.ranker_.names_in_[self.selected_]
        return names

    def __sklearn_tags__(self) -> Any:
        tags = takes_labels(super().__sklearn_tags__())
        tags.transformer_tags.preserves_dtype = []
        return tags
