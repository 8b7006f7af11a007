"""Ranking by an internal index of each member."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.threads import one_native_thread, parallel_map
from ensemblage.base.validation import Constraints, Words
from ensemblage.counting._pairs import distance_sums
from ensemblage.labels.ensemble import Ensemble
from ensemblage.metrics._internal._geometry import PairSums, SortedDistances
from ensemblage.metrics._internal._indices import INTERNAL_INDICES, VARIANTS, check_features, geometry_of
from ensemblage.ranking._base import BaseRanker


@dataclass(eq=False, repr=False)
class InternalIndex(BaseRanker):
    """Use it to rank members by the features: an internal index, such as the silhouette.

    Parameters
    ----------
    measure : str, default "silhouette"
        A key of ``metrics.INTERNAL_INDICES``.
    variant : {"published", "ohl"}, default "published"
        "ohl" is the index as Ohl & Lindsten ran it, where that differs.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_partitions,)
        The index of each member; ``greater_is_better`` tells which end is good. NaN, with a warning, where it is not
        defined, as for a single cluster.
    order_ : ndarray of shape (n_partitions,)
        Members, best first; ties by position, those without a score last.
    ranks_ : ndarray of shape (n_partitions,)
        Rank of each member, 1 = best; equal scores share the better rank.
    violations_ : ndarray of shape (n_partitions,)
        Share of the constraints that each member violates. It is not added to the scores: they have other units
        (Ohl & Lindsten, Sec. 4.4).
    names_in_ : ndarray of str
        Names of the members.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ValueError
        In ``fit``: without ``features``, or if they are of another length than the labels or not finite numbers.

    Notes
    -----
    A member is judged on the objects that it labels. Time and memory as in ``metrics.internal_index``; the distances
    of all pairs are gone through once for all members.

    References
    ----------
    Ohl & Lindsten 2025, Table 7.

    Examples
    --------
    >>> from ensemblage.ranking import InternalIndex
    >>> labels = [[0, 0], [0, 0], [0, 1], [1, 1], [1, 1]]
    >>> InternalIndex("dunn").fit(labels, features=[[0], [1], [2], [10], [11]]).scores_.round(3)
    array([4.   , 0.111])
    """

    _parameter_constraints: ClassVar[Constraints] = {"measure": [Words(INTERNAL_INDICES)], "variant": [Words(VARIANTS)]}
    _adds_violations = False

    measure: str = "silhouette"
    _: KW_ONLY
    variant: str = "published"
    n_jobs: int | None = None

    @property
    def greater_is_better(self) -> bool:
        """As ``metrics.INTERNAL_INDICES`` says."""
        return INTERNAL_INDICES[self.measure].better(self.variant)

    def _score(self, ensemble: Ensemble, features: Any) -> NDArray[np.float64]:
        info = INTERNAL_INDICES[self.measure]
        X = _check_features(features, len(ensemble))
        known: list[dict[str, Any]] = [{} for _ in range(ensemble.shape[1])]
        if info.quadratic:
            known = _shared_distances(X, ensemble, self.n_jobs)

        def score(t: int) -> float:
            clusters = ensemble.codes[:, t].astype(np.int64)
            clusters[clusters == ensemble.n_clusters[t]] = -1
            with one_native_thread():
                return info.score(geometry_of(X, clusters, **known[t]), self.variant)

        return np.array(parallel_map(score, range(ensemble.shape[1]), self.n_jobs))


def _check_features(features: Any, n_objects: int) -> NDArray[np.float64]:
    if features is None:
        raise ValueError("features of InternalIndex must be given. Got None. Call fit(labels, features=X).")
    X = check_features(features)
    if len(X) != n_objects:
        raise ValueError(
            f"features must have one row for each of the {n_objects} objects of the label matrix. Got {len(X)}. "
            "Give the rows that were clustered, in the same order."
        )
    return X


def _shared_distances(X: NDArray[np.float64], ensemble: Ensemble, n_jobs: int | None) -> list[dict[str, Any]]:
    """What the members share: one pass over all pairs, and the sorted distances of those that label every object."""
    codes = ensemble.codes[:]  # in memory, as the features are
    sums = distance_sums(X, codes, ensemble.n_clusters, n_jobs)
    shared = SortedDistances(X)
    complete = (codes != ensemble.n_clusters).all(axis=0)
    return [
        {"pairs": PairSums(*column.tolist()), "distances": shared if complete[t] else None}
        for t, column in enumerate(sums.T)
    ]
