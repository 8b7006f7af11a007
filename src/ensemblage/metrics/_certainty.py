"""How sure the place of each object is, from label counts: no n × n matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage._ensemble import Ensemble
from ensemblage._soft_ensemble import SoftEnsemble, as_any_ensemble
from ensemblage._validation import check_numbers, check_weights
from ensemblage.counting._profiles import label_profile
from ensemblage.kernels._certainty import associations_of_rows, best_associations
from ensemblage.metrics._clustering import code_clustering
from ensemblage.metrics._density import labelled_members, ratio
from ensemblage.rows.memberships import MembershipRows, by_partition, is_soft, product
from ensemblage.rows.protocol import LabelRows

CORE, BORDER = 0.9, 2 / 3
"""Least confidence of a core object (the own cluster nine times the runner-up) and of a border object (twice)."""
VERDICTS = ("core", "border", "undecided")
LEAST_LABELS = 2**20
"""Labels of objects from which on the faster kernel is worth the time to compile it."""
_AT_ONCE = 2**17
"""So many associations of rows with clusters are held, 1 MB."""


@dataclass(frozen=True)
class Certainty:
    """How sure the place of each object is.

    Attributes
    ----------
    confidence : ndarray of shape (n_objects,)
        own / (own + other), with the weighted shares of the members of its own cluster, and of the one that fits best
        among the others, that have the object's labels. 1: no partition speaks for another cluster. ½: torn between
        two. Below: the partitions would rather have it elsewhere. NaN in no cluster.
    runner_up : ndarray of shape (n_objects,), int32
        The cluster that fits best among the others; -1 if there is none.
    cohesion : ndarray of shape (n_objects,)
        Mean co-association with the other members of its cluster; its mean is `density`.
    """

    confidence: NDArray[np.float64]
    runner_up: NDArray[np.int32]
    cohesion: NDArray[np.float64]

    @property
    def verdict(self) -> NDArray[Any]:
        """Word for each object: `verdicts` of the confidence."""
        return verdicts(self.confidence)


def verdicts(confidence: ArrayLike) -> NDArray[Any]:
    """Confidence in words.

    Parameters
    ----------
    confidence : array-like of float, shape (n,)
        ``confidence_`` of a consensus.

    Returns
    -------
    ndarray of shape (n,), str
        "core" from .9 (the own cluster has nine times the share of the next one), "border" from ⅔ (twice),
        "undecided" below; empty where the confidence is NaN.

    Notes
    -----
    The words promise that the partitions agree, not that they are right: what all of them do alike, no number made of
    them can see.

    Examples
    --------
    >>> from ensemblage.metrics import verdicts
    >>> verdicts([1.0, 0.7, 0.5]).tolist()
    ['core', 'border', 'undecided']
    """
    given = check_numbers(confidence, "confidence of verdicts", ("n",))
    words = np.select([given >= CORE, given >= BORDER, given >= 0], VERDICTS, "")
    return np.asarray(words)


def certainty(labels: ArrayLike | Any, clustering: ArrayLike | Any, *, weights: ArrayLike | None = None) -> Certainty:
    """How sure the place of each object in a clustering is, by an ensemble.

    Parameters
    ----------
    {weighted_clustering}

    Returns
    -------
    Certainty
        The clusters of ``runner_up`` are numbered in sorted order of the labels of ``clustering``.

    {clustering_raises}

    Notes
    -----
    A member t has weight u = w / e, with e the share of pairs of its labelled objects that it joins: fine members speak
    as loud as coarse ones. With α the other members of a cluster that share the object's label and ν those labelled,
    the association with a cluster is Σ u α / Σ u ν. An object never counts itself. One alone in its cluster: the share
    of the members, by u, in which it is alone. Splitting a member's labels inside the clusters changes next to nothing.

    With one cluster it says nothing: 1. Where all members cut alike (one algorithm, one number of clusters) it is sure
    of their common error. On random labels its mean is about ½.

    Of a `SoftEnsemble` α is the mass of the memberships that the other members share with the object, Σ u v.

    O(n p k) time; memory two tables of Σ k_i × k numbers, and 1 MB for each thread.

    References
    ----------
    Cohesion: Candel, "Linear time evidence accumulation clustering with KMeans", Eq. 3.

    Examples
    --------
    >>> from ensemblage.metrics import certainty
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 1, 2], [1, 1, 2]]
    >>> found = certainty(labels, [0, 0, 0, 1, 1, 1])
    >>> found.confidence.round(2)
    array([0.91, 0.91, 0.66, 0.4 , 1.  , 1.  ])
    >>> found.verdict.tolist()
    ['core', 'core', 'undecided', 'undecided', 'core', 'core']
    """
    ensemble = as_any_ensemble(labels)
    clusters, _ = code_clustering(clustering, len(ensemble))
    return certainty_of(ensemble, clusters, check_weights(weights, ensemble.shape[1], "certainty"))


def certainty_of(ensemble: Ensemble | SoftEnsemble, clusters: NDArray[Any], weights: NDArray[np.float64]) -> Certainty:
    """`certainty` of clusters that are numbers already, -1 for none."""
    counts, k = np.ones(len(ensemble), dtype=np.int64), int(clusters.max(initial=0)) + 1
    association = Association.of(ensemble.rows, counts, clusters, k, ensemble.offsets, weights)
    return certainty_of_rows(ensemble.rows, clusters, association)


class Association(NamedTuple):
    """Label counts of the clusters, as the association of rows with them is counted."""

    profile: NDArray[np.float64]
    """(offsets[p], k) objects of each cluster with each label."""
    labelled: NDArray[np.float64]
    """(p, k) members of each cluster that each partition labels."""
    offsets: NDArray[np.int64]
    """(p + 1,)"""
    weights: NDArray[np.float64]
    """(p,)"""
    lift: NDArray[np.float64]
    """(p,) u = w / e."""
    alone: NDArray[np.bool_]
    """(offsets[p],) labels that one object has."""
    sizes: NDArray[np.int64]
    """(k,) members of each cluster."""

    @property
    def n_at_once(self) -> int:
        """How many rows to look at."""
        return max(1, _AT_ONCE // len(self.sizes))

    @classmethod
    def of(
        cls,
        codes: LabelRows,
        counts: NDArray[np.int64],
        clusters: NDArray[Any],
        n_clusters: int,
        offsets: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_jobs: int | None = None,
    ) -> Association:
        """Of distinct rows, (m, p), that stand for ``counts`` objects each, with their clusters; negative = none."""
        profile = label_profile(codes, clusters, counts, offsets, n_clusters, n_jobs)
        if isinstance(codes, MembershipRows):
            return cls._of_memberships(codes, counts, np.asarray(clusters), profile, weights)
        present = profile.sum(axis=0)
        if (clusters < 0).any():
            present = label_profile(codes, np.zeros_like(clusters), counts, offsets, 1, n_jobs)[0]
        present[offsets[1:] - 1] = 0
        return cls(
            np.ascontiguousarray(profile.T, dtype=np.float64),
            np.ascontiguousarray(labelled_members(profile, offsets).T, dtype=np.float64),
            offsets,
            weights,
            lift_of(present, offsets, weights),
            present == 1,
            profile[:, : offsets[1]].sum(axis=1),  # the first partition gives every member a label, or lacks one
        )

    @classmethod
    def _of_memberships(
        cls,
        codes: MembershipRows,
        counts: NDArray[np.int64],
        clusters: NDArray[Any],
        profile: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> Association:
        """The same of soft partitions, whose objects share Σ_c u_c v_c of a partition; profiles are masses."""
        offsets = codes.offsets
        absent = offsets[1:] - 1
        sizes = np.bincount(clusters[clusters >= 0], weights=counts[clusters >= 0], minlength=len(profile))
        present = (profile if (clusters >= 0).all() else codes.profile(np.zeros_like(clusters), counts, 1)).sum(axis=0)
        labelled = counts.sum() - present[absent]
        own = MembershipRows(np.square(codes.H), offsets).profile(np.zeros_like(clusters), counts, 1)
        joined = [part.sum() for part in by_partition(np.square(present)[None] - own, offsets)]
        u = _lift_of(labelled, np.array(joined), weights)
        of_clusters = (sizes[:, None] - profile[:, absent]).T
        profile[:, absent] = 0
        n_bearers = counts @ (codes.H > 0)
        return cls(
            np.ascontiguousarray(profile.T),
            np.ascontiguousarray(of_clusters),
            offsets,
            weights,
            u,
            n_bearers == 1,
            np.rint(sizes).astype(np.int64),
        )

    def reordered(self, order: NDArray[np.int64]) -> Association:
        """With cluster ``order[c]`` as cluster c."""
        profile, labelled = (np.ascontiguousarray(table[:, order]) for table in (self.profile, self.labelled))
        return self._replace(profile=profile, labelled=labelled, sizes=self.sizes[order])

    def with_clusters(
        self, codes: NDArray[Any], clusters: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(m, k) association of some rows with every cluster, -1 of those that no partition labels; (m,) cohesion."""
        if is_soft(codes):
            return self._of_memberships_with_clusters(codes, clusters)
        k = self.profile.shape[1]
        association, cohesion = np.empty((len(codes), k)), np.empty(len(codes))
        given = (self.profile, self.labelled, self.offsets, self.weights, self.lift)
        associations_of_rows(codes, clusters, *given, association, cohesion, np.empty(k))
        single = np.flatnonzero((clusters >= 0) & (self.sizes[clusters] == 1) & ~np.isnan(cohesion))
        association[single, clusters[single]] = share_alone(self, codes[single])
        return association, cohesion

    def _of_memberships_with_clusters(
        self, H: NDArray[np.float64], clusters: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same of soft memberships, (m, offsets[p])."""
        known = 1 - H[:, self.offsets[1:] - 1]
        own = np.column_stack([np.square(part).sum(axis=1) for part in by_partition(H, self.offsets)])
        placed, seen = np.flatnonzero(clusters >= 0), np.asarray(known.any(axis=1))
        at = (placed, clusters[placed])

        def sums(w: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            of_labels = np.repeat(w, np.diff(self.offsets))[:, None]
            joined, pairs = product(H, of_labels * self.profile), product(known, w[:, None] * self.labelled)
            joined[at] = np.maximum(joined[at] - own[placed] @ w, 0)
            pairs[at] -= known[placed] @ w
            return joined, pairs

        association = ratio(*sums(self.lift))
        association[~seen] = -1
        plain = ratio(*sums(self.weights))
        cohesion = np.full(len(H), np.nan)
        cohesion[placed] = plain[at]
        cohesion[~seen] = np.nan
        single = placed[seen[placed] & (self.sizes[clusters[placed]] == 1)]
        u = self.lift if self.lift.any() else self.weights
        alone = np.column_stack([part.sum(axis=1) for part in by_partition(H[single] * self.alone, self.offsets)])
        association[single, clusters[single]] = ratio(alone @ u, known[single] @ u)
        return association, cohesion

    def placed(
        self, codes: NDArray[Any], clusters: NDArray[Any], counted: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """(m,) `own_and_other` of some rows in clusters that are given, and their cohesion.

        ``counted`` says whether the rows are among those that were counted.
        """
        if is_soft(codes) or self.labelled.sum() < LEAST_LABELS:
            association, cohesion = self.with_clusters(codes, clusters if counted else np.full(len(codes), -1))
            return *own_and_other(association, clusters), cohesion
        shares, runner_up, cohesion = np.empty((2, len(codes))), np.empty(len(codes), np.int32), np.empty(len(codes))
        given = (self.profile, self.labelled, self.offsets, self.weights, self.lift, float(counted))
        best_associations(codes, clusters, *given, shares, (runner_up, cohesion))
        if counted:
            single = np.flatnonzero(~np.isnan(cohesion) & (self.sizes[clusters] == 1))
            shares[0, single] = share_alone(self, codes[single])
        return shares[0], shares[1], runner_up, cohesion

    def memberships(self, codes: NDArray[Any], clusters: NDArray[Any]) -> NDArray[np.float64]:
        """(m, k) association of some rows with every cluster as shares that sum to 1; NaN where nothing is known."""
        association, _ = self.with_clusters(codes, clusters)
        association[association < 0] = np.nan
        return as_shares(association)


def as_shares(association: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m, k) divided by the sums of the rows; equal ones where all are 0."""
    total = association.sum(axis=1, keepdims=True)
    equal = 1 / association.shape[1]
    return np.where(total == 0, equal, association / np.where(total == 0, 1, total))


def share_alone(association: Any, codes: NDArray[Any]) -> NDArray[np.float64]:
    """(m,) share of the partitions that label a row, by u, in which no other object has its label."""
    alone, labels = association.alone[codes + association.offsets[:-1]], codes < np.diff(association.offsets) - 1
    u = association.lift if association.lift.any() else association.weights  # no partition joins any two objects
    return ratio(np.where(alone, u, 0).sum(axis=1), np.where(labels, u, 0).sum(axis=1))


def lift_of(
    present: NDArray[np.int64], offsets: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(p,) u = w / e of partitions whose labels are of these sizes; 0 of one that joins no two objects."""
    labelled = np.add.reduceat(present, offsets[:-1]).astype(np.float64)
    joined = np.add.reduceat(present * (present - 1), offsets[:-1]).astype(np.float64)
    return _lift_of(labelled, joined, weights)


def _lift_of(
    labelled: NDArray[np.float64], joined: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The same, from the objects that each labels and the ordered pairs that it joins."""
    w = weights / weights.max()  # only ratios matter, and these do not overflow
    return np.where(joined > 0, w * (labelled * (labelled - 1)) / np.where(joined > 0, joined, 1), 0.0)


def certainty_of_rows(
    codes: LabelRows, clusters: NDArray[Any], association: Association, n_jobs: int | None = None
) -> Certainty:
    """How sure the place of each row, (m, p), is in its cluster, (m,), negative for none; cohesion is Σ w (α − 1) /
    Σ w (n_C − 1) over the partitions that label the row, 0 alone in a cluster."""
    of_rows = [codes.state(np.float64, 0), codes.state(np.int32, 0), codes.state(np.float64, 0)]
    codes.map(_certainty_of_block, association, reads=[clusters], writes=of_rows, n_jobs=n_jobs)
    return Certainty(*map(np.asarray, of_rows))


def _certainty_of_block(
    codes: Any, clusters: Any, confidence: Any, runner_up: Any, cohesion: Any, association: Association
) -> None:
    for start in range(0, len(codes), association.n_at_once):
        rows = slice(start, start + association.n_at_once)
        own, other, runner_up[rows], cohesion[rows] = association.placed(codes[rows], clusters[rows], True)
        confidence[rows] = _confidence_of(own, other, runner_up[rows])


def certainty_of_new(
    codes: NDArray[Any], clusters: NDArray[Any], association: Association
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """(m,) confidence and runner-up of some rows, (m, p), that are none of those counted, in clusters given to them."""
    confidence, runner_up = np.empty(len(codes)), np.empty(len(codes), dtype=np.int32)
    for start in range(0, len(codes), association.n_at_once):
        rows = slice(start, start + association.n_at_once)
        own, other, runner_up[rows], _ = association.placed(codes[rows], clusters[rows], False)
        confidence[rows] = _confidence_of(own, other, runner_up[rows])
    return confidence, runner_up


def _confidence_of(
    own: NDArray[np.float64], other: NDArray[np.float64], runner_up: NDArray[np.int32]
) -> NDArray[np.float64]:
    """(m,) own / (own + other) of rows; 1 where there is one cluster only, NaN in none."""
    total = own + other
    sure = np.where(total > 0, own / np.where(total > 0, total, 1), 0.5)
    sure[runner_up < 0] = 1.0
    sure[np.isnan(own)] = np.nan
    return sure


def own_and_other(
    association: NDArray[np.float64], clusters: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
    """(m,) association of each row with its cluster, with the best of the others, and that one's number.

    NaN, 0 and -1 in no cluster, or labelled by no partition; 0 and -1 where there is one cluster only.
    """
    shares, rows = association.copy(), np.arange(len(association))
    own = shares[rows, clusters]
    placed = (clusters >= 0) & (own >= 0)
    shares[rows, clusters] = -1
    runner_up = shares.argmax(axis=1)
    known = placed & (shares.shape[1] > 1)
    other = np.where(known, shares[rows, runner_up], 0.0)
    return np.where(placed, own, np.nan), other, np.where(known, runner_up, -1).astype(np.int32)
