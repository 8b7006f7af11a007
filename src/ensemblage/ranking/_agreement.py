"""Ranking by agreement with the other members (the AARI and ANMI of Ohl & Lindsten), or by distance from them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import Constraints, Words
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._agreement import AVERAGES, MEASURES, agreement_matrix, mean_agreement
from ensemblage.metrics._partition_distance import DISTANCES, distance_matrix
from ensemblage.ranking._base import BaseRanker


@dataclass(eq=False, repr=False)
class AverageAgreement(BaseRanker):
    """Use it to find members that agree with the others: mean adjusted Rand index or mutual information.

    Parameters
    ----------
    measure : {"ari", "nmi"}, default "ari"
        Adjusted Rand index or normalised mutual information: Ohl & Lindsten's AARI and ANMI.
    average_method : {"arithmetic", "geometric", "min", "max"}, default "arithmetic"
        Mean of the two entropies that normalises the mutual information. Ohl & Lindsten use the arithmetic one.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_partitions,)
        Mean agreement with the n_partitions - 1 others less ``violations_``, larger is better. NaN, with a warning,
        for a partition that shares no labelled object with any other.
    order_ : ndarray of shape (n_partitions,)
        Members, best first; ties by position, those without a score last.
    ranks_ : ndarray of shape (n_partitions,)
        Rank of each member, 1 = best; equal scores share the better rank.
    agreement_ : ndarray of shape (n_partitions, n_partitions)
        Agreement of every two members, 1 on the diagonal; NaN where they share no labelled object.
    violations_ : ndarray of shape (n_partitions,)
        Share of the constraints that each member violates (Ohl & Lindsten, Eq. 5); 0 without constraints.
    names_in_ : ndarray of str
        Names of the members.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ValueError
        In ``fit``: if there is one partition only, or a parameter is none of the above.

    Notes
    -----
    Two members are compared on the objects that both label. O(n p²) time, one contingency table at a time. Copies of
    a member, under whatever labels, have exactly the same score.

    As a choice of one member it tends to many clusters: of 50 k-means with k drawn from 2 to √n, the first has more
    clusters than there are classes on most public sets, by "nmi" more often than by "ari". Numbers:
    docs/LEADERBOARD.md, rankers as selectors.

    References
    ----------
    Ohl & Lindsten, DISCOTEC (2025), Eq. 6.

    Examples
    --------
    >>> from ensemblage.ranking import AverageAgreement
    >>> ranker = AverageAgreement().fit([[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]])
    >>> ranker.order_
    array([0, 1, 2])
    >>> ranker.ranks_
    array([1, 1, 3])
    """

    greater_is_better = True
    _parameter_constraints: ClassVar[Constraints] = {
        "measure": [Words(MEASURES)],
        "average_method": [Words(AVERAGES)],
    }

    measure: str = "ari"
    _: KW_ONLY
    average_method: str = "arithmetic"
    n_jobs: int | None = None

    agreement_: NDArray[np.float64] = field(init=False)

    def _score(self, ensemble: Ensemble, features: Any) -> NDArray[np.float64]:
        check_others(ensemble, "AverageAgreement")
        self.agreement_ = agreement_matrix(ensemble, self.measure, self.average_method, self.n_jobs)
        return mean_agreement(self.agreement_, np.ones(ensemble.shape[1]))


@dataclass(eq=False, repr=False)
class AverageDistance(BaseRanker):
    """Use it to rank members by a distance of your choice: the mean distance from the other members.

    The first is the medoid: the member that stands for all, by the dissimilarity that was chosen.

    Parameters
    ----------
    measure : str, default "vi"
        The dissimilarity: "euclidean", "manhattan", "ba-a", "gv1", "ba-c", "comembership", "symdiff", "rand",
        "jaccard", "vi" or "ba-e", as in `metrics.partition_distances`.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_partitions,)
        Mean distance from the n_partitions - 1 others, less is better. NaN, with a warning, for a partition that shares
        no labelled object with any other.
    order_ : ndarray of shape (n_partitions,)
        Members, best first; ties by position, those without a score last.
    ranks_ : ndarray of shape (n_partitions,)
        Rank of each member, 1 = best; equal scores share the better rank.
    distances_ : ndarray of shape (n_partitions, n_partitions)
        Distance of every two members; NaN where they share no labelled object.
    violations_ : ndarray of shape (n_partitions,)
        Share of the constraints that each member violates (Ohl & Lindsten, Eq. 5); 0 without constraints.
    names_in_ : ndarray of str
        Names of the members.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ValueError
        In ``fit``: if there is one partition only, or ``measure`` is none of the above.

    See Also
    --------
    AverageAgreement : By the adjusted Rand index or mutual information, which correct for numbers of clusters.

    Notes
    -----
    Time and memory are those of `metrics.partition_distances`. Violated constraints do not change the scores: they have
    another unit. Copies of a member, under whatever labels, have exactly the same score.

    References
    ----------
    K. Hornik, "A CLUE for CLUster Ensembles", Journal of Statistical Software 14(12), 2005.

    Examples
    --------
    >>> from ensemblage.ranking import AverageDistance
    >>> ranker = AverageDistance("manhattan").fit([[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]])
    >>> ranker.scores_
    array([2., 2., 4.])
    """

    greater_is_better = False
    _adds_violations = False
    _parameter_constraints: ClassVar[Constraints] = {"measure": [Words(DISTANCES)]}

    measure: str = "vi"
    _: KW_ONLY
    n_jobs: int | None = None

    distances_: NDArray[np.float64] = field(init=False)

    def _score(self, ensemble: Ensemble, features: Any) -> NDArray[np.float64]:
        check_others(ensemble, "AverageDistance")
        self.distances_ = distance_matrix(ensemble, self.measure, self.n_jobs)
        return mean_agreement(self.distances_, np.ones(ensemble.shape[1]))


def check_others(ensemble: Ensemble, name: str) -> None:
    """Raise unless there are partitions to compare with."""
    if ensemble.shape[1] < 2:
        raise ValueError(
            f"The label matrix of {name} must have at least 2 partitions (n_features=1). Got 1. "
            "Add partitions to compare it with."
        )
