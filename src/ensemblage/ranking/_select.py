"""The best members of an ensemble, as a step of a pipeline."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage
from sklearn.base import clone
from sklearn.utils.validation import check_array, validate_data

from ensemblage.base.features import columns_checked
from ensemblage.base.frames import check_in_memory
from ensemblage.base.indexing import is_integer
from ensemblage.base.renamed import renamed_fields
from ensemblage.base.sklearn import BaseEstimator, TransformerMixin
from ensemblage.base.validation import (
    FRACTION,
    Constraints,
    Estimator,
    Flag,
    Number,
    Whole,
    Words,
    check_fitted,
    check_parameters,
    takes_labels,
)
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.ranking._agreement import AverageAgreement
from ensemblage.ranking._discotec import DISCOTEC


def joint_choice(
    agreement: NDArray[np.float64], n_partitions: int, alpha: float, normalize: bool
) -> tuple[list[int], list[float]]:
    """The members in the order in which the joint criterion takes them, and its value with each (Fern & Lin 2008).

    ``agreement`` is (p, p) with 1 on the diagonal. Quality is the sum of a member's agreements, its own included,
    diversity that of 1 - agreement over the pairs that were taken; with ``normalize`` both are means.
    """
    p, quality = len(agreement), agreement.sum(axis=1)
    chosen, values = [int(np.argmax(quality))], [alpha * float(quality.max()) / (p if normalize else 1)]
    while len(chosen) < n_partitions:
        n_pairs = len(chosen) * (len(chosen) + 1) / 2
        qualities = quality[chosen].sum() + quality
        pairs = (1 - agreement[np.ix_(chosen, chosen)]).sum() / 2 + (1 - agreement[chosen]).sum(axis=0)
        if normalize:
            qualities, pairs = qualities / (p * (len(chosen) + 1)), pairs / n_pairs
        criterion = alpha * qualities + (1 - alpha) * pairs
        criterion[chosen] = -np.inf
        chosen.append(int(np.argmax(criterion)))
        values.append(float(criterion[chosen[-1]]))
    return chosen, values


def best_of_groups(agreement: NDArray[np.float64], n_partitions: int) -> list[int]:
    """Of each of so many groups of members alike, by average linkage of 1 - agreement, the one of the best quality."""
    hierarchy = linkage(1 - agreement[np.triu_indices(len(agreement), 1)], "average")
    groups, quality = cut_tree(hierarchy, n_partitions)[:, 0], agreement.sum(axis=1)
    return [int(max(np.flatnonzero(groups == g), key=lambda j: (quality[j], -j))) for g in np.unique(groups)]


@renamed_fields(n_members="n_partitions")
@dataclass(eq=False, repr=False)
class SelectPartitions(TransformerMixin, BaseEstimator):
    """Use it in a pipeline to keep the best members: a label matrix with fewer columns.

    Parameters
    ----------
    ranker : ranking estimator, optional
        Puts the partitions in order. Default: ``DISCOTEC(random_state=0)``; for the rules other than "best", which go
        by its ``agreement_``, ``AverageAgreement("nmi", average_method="geometric")``.
    n_partitions : int or float, default 0.5
        How many to keep: a whole number from 1 on (all, if there are fewer), or a share of them above 0 and up to 1
        (rounded to the nearest number, at least one).
    rule : {"best", "joint", "cluster"}, default "best"
        Those that the ranking puts first; or, by Fern & Lin [2]_, those that agree with all and differ from each other:
        "joint" (JC) takes one after the other so that the sum of their agreements with all members, and that of their
        differences from each other, is largest; "cluster" (CAS) groups the members by average linkage of their
        differences and takes the one of each group that agrees most with all.
    alpha : float, default 0.5
        Weight of the agreement with all in "joint", from 0 to 1; that of the differences is 1 - ``alpha``.
    normalize : bool, default False
        Whether "joint" takes means instead of sums: of differences there are more, the more members are taken.

    Attributes
    ----------
    ranker_ : ranking estimator
        Fitted; its ``scores_`` and ``order_`` say more, ``agreement_`` what the other rules went by.
    selected_ : ndarray of int
        Columns that are kept, in the order of the label matrix.
    n_features_in_, feature_names_in_
        As in scikit-learn: partitions and their names.

    Raises
    ------
    TypeError
        If ``ranker`` is no ranking estimator.
    ValueError
        If a parameter is out of its range, or ``ranker`` is no `AverageAgreement` for a rule that needs agreements.

    Notes
    -----
    Time and memory are those of the ranking; the other rules add O(p³) for p partitions. Ties go to the partition that
    comes first. Partitions that share no labelled object agree by 0. Fern & Lin cut the groups by spectral clustering;
    average linkage draws nothing at random.

    References
    ----------
    .. [1] L. Ohl, F. Lindsten, "Discriminative ordering through ensemble consensus", 2025 (the ranking of the default).
    .. [2] X. Z. Fern, W. Lin, "Cluster ensemble selection", Statistical Analysis and Data Mining 1(3), 2008.

    Examples
    --------
    >>> from ensemblage.consensus import KMeansConsensus
    >>> from ensemblage.ranking import AverageAgreement, SelectPartitions
    >>> from sklearn.pipeline import make_pipeline
    >>> labels = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> SelectPartitions(AverageAgreement(), 2).fit(labels).selected_
    array([0, 1])
    >>> consensus = KMeansConsensus(2, random_state=0)
    >>> make_pipeline(SelectPartitions(AverageAgreement(), 2), consensus).fit(labels)[-1].labels_
    array([0, 0, 1, 1], dtype=int32)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "ranker": [
            Estimator("a ranking estimator", "_score", "Give DISCOTEC(), AverageAgreement() or InternalIndex()."),
            None,
        ],
        "n_partitions": [Whole(1), FRACTION],
        "rule": [Words(["best", "joint", "cluster"])],
        "alpha": [Number(least=0, most=1)],
        "normalize": [Flag()],
    }

    ranker: Any = None
    n_partitions: Any = 0.5
    _: KW_ONLY
    rule: str = "best"
    alpha: float = 0.5
    normalize: bool = False

    ranker_: Any = field(init=False)
    selected_: NDArray[np.intp] = field(init=False)

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Rank the partitions of a label matrix.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
            Labels. -1, NaN and None mean that the partition did not label the object.
        y : None
            Ignored.
        **fit_params
            What the ranking's ``fit`` takes: ``features``, ``must_link``, ``cannot_link``, ``known_labels``.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self)
        ensemble = as_ensemble(X)
        validate_data(self, X, skip_check_array=True)
        self.ranker_ = self._ranking().fit(ensemble, **fit_params)
        p, n_partitions = ensemble.shape[1], self.n_partitions
        n_kept = min(n_partitions, p) if is_integer(n_partitions) else max(1, round(n_partitions * p))
        self.selected_ = np.sort(self._choose(n_kept))
        return self

    def _ranking(self) -> Any:
        if self.rule == "best":
            return DISCOTEC(random_state=0) if self.ranker is None else clone(self.ranker)
        if self.ranker is None:
            return AverageAgreement("nmi", average_method="geometric")
        if not isinstance(self.ranker, AverageAgreement):
            raise ValueError(
                f"ranker of SelectPartitions must be an AverageAgreement for rule={self.rule!r}, which uses its "
                f"agreements. Got {type(self.ranker).__name__}. Leave it out, or use rule='best'."
            )
        return clone(self.ranker)

    def _choose(self, n_partitions: int) -> Any:
        if self.rule == "best":
            return self.ranker_.order_[:n_partitions]
        agreement = np.nan_to_num(self.ranker_.agreement_, nan=0.0)
        if self.rule == "joint":
            return joint_choice(agreement, n_partitions, self.alpha, self.normalize)[0]
        return best_of_groups(agreement, n_partitions)

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
        check_fitted(self)
        check_in_memory(X)
        if isinstance(X, Ensemble):
            self._check_columns(X)
            return X.select(self.selected_)
        frame = nw.from_native(X, pass_through=True)
        is_frame = isinstance(frame, nw.DataFrame)
        X = X if is_frame else check_array(X, dtype=None, ensure_all_finite=False)
        self._check_columns(X)
        return frame[:, self.selected_.tolist()].to_native() if is_frame else X[:, self.selected_]

    def _check_columns(self, X: Any) -> None:
        """Raise unless X has the columns of fit."""
        with columns_checked("X of SelectPartitions"):
            validate_data(self, X, reset=False, skip_check_array=True)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the partitions that are kept.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str objects
            In the order of the label matrix.
        """
        check_fitted(self)
        names: NDArray[Any] = self.ranker_.names_in_[self.selected_]
        return names

    def __sklearn_tags__(self) -> Any:
        tags = takes_labels(super().__sklearn_tags__())
        tags.transformer_tags.preserves_dtype = []
        return tags
