"""Confidence of each object, from label counts: no n × n matrix.

Where clusters are many, only label counts above 0 are held (`LinkAssociation`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack

from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.validation import check_numbers, check_weights
from ensemblage.kernels._confidence import ROUNDING, associations_of_rows, least_sure_by_links, least_sure_cluster
from ensemblage.labels.blocks import LabelRows, MembershipRows
from ensemblage.labels.counts import by_partition, count_labels, own_shares, product
from ensemblage.labels.ensemble import Ensemble, as_any_ensemble
from ensemblage.metrics._clustering import code_clustering
from ensemblage.metrics._density import ratio

CORE, BORDER = 0.9, 0.75
"""Least confidence of a core object (nine partitions support its cluster for each one against it) and of a border
object (three); docs/confidence/definition.md has the rule by which they were chosen."""
VERDICTS = ("core", "border", "undecided")
_AT_ONCE = 2**12
"""So many associations of soft rows with clusters are held, in several tables."""


@dataclass(frozen=True)
class Confidence:
    """Confidence, next best cluster and cohesion of each object; `confidence` returns it.

    Attributes
    ----------
    confidence : ndarray of shape (n_objects,)
        for / (for + against), of the partitions that join the object with its own cluster or with another one but not
        with both. 1: no partition supports another cluster. ½: two clusters have equal support, or there is no
        evidence. Below ½: another cluster has more support. NaN in no cluster.
    runner_up : ndarray of shape (n_objects,), int32
        The other cluster with the most support; -1 if there is none.
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
    """Use it to report confidence in words: core, border or undecided.

    Parameters
    ----------
    confidence : array-like of float, shape (n,)
        ``confidence_`` of a consensus.

    Returns
    -------
    ndarray of shape (n,), str
        "core" from .9 (nine times as much evidence for its cluster as against it), "border" from .75 (three times),
        "undecided" below; empty where the confidence is NaN.

    Notes
    -----
    The words mean that the partitions agree, not that they are right: they cannot detect an error that all members
    share.

    Examples
    --------
    >>> from ensemblage.metrics import verdicts
    >>> verdicts([1.0, 0.8, 0.5]).tolist()
    ['core', 'border', 'undecided']
    """
    given = check_numbers(confidence, "confidence of verdicts", ("n",))
    words = np.select([given >= CORE, given >= BORDER, given >= 0], VERDICTS, "")
    return np.asarray(words)


@renamed_parameters(clustering="partition")
def confidence(labels: ArrayLike | Any, partition: ArrayLike | Any, *, weights: ArrayLike | None = None) -> Confidence:
    """Use it to judge the place of each object in any partition: confidence, next best cluster and cohesion.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    partition : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions, ≥ 0. Default: equal.

    Returns
    -------
    Confidence
        The clusters of ``runner_up`` are numbered in sorted order of the labels of ``partition``.

    Raises
    ------
    ValueError
        If the partition has another number of objects or assigns none, or the weights do not fit.

    Notes
    -----
    A partition gives evidence on an object only if it separates clusters. For an object i of cluster C and another
    cluster D, it is evidence for C if it joins i with another member of C and not with one of D, and against C if it
    joins i with a member of D and not with one of C. If it joins i with both or neither, it gives no evidence.
    With α the other members of C that share the
    object's label, β the members of D that do, ν those labelled, and the weights u = w / e of the partitions::

        for = Σ u α (ν_D - β)    against = Σ u (ν_C - α) β    confidence = for / (for + against)

    of the cluster D with the least confidence (of equal ones, the one that most often shares a label with both). So a
    partition that splits clusters, or joins whole ones, lowers no confidence, whatever its number of clusters. Here e
    is the share of pairs of its labelled objects that a partition joins: so that fine and coarse
    partitions weigh equally. An object never counts itself. Without evidence the confidence is ½.

    One alone in its cluster has no other member to be joined with. There the confidence is own / (own + other): the
    share of the partitions, by u, in which it is alone, and its largest association Σ u β / Σ u ν with another cluster.

    With one cluster the confidence is 1. It cannot detect an error that all members share (one algorithm, one number of
    clusters). On random labels its mean is about ½.

    Of memberships α and β are masses of the memberships that the object and others share, Σ u v.

    O(n p k) time; memory two tables of Σ k_i × k numbers, and 1 MB for each thread.

    References
    ----------
    Cohesion: Candel, "Linear time evidence accumulation clustering with KMeans", Eq. 3.

    Examples
    --------
    >>> from ensemblage.metrics import confidence
    >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 1, 2], [1, 1, 2]]
    >>> found = confidence(labels, [0, 0, 0, 1, 1, 1])
    >>> found.confidence.round(2)
    array([1. , 1. , 0.7, 0.4, 1. , 1. ])
    >>> found.verdict.tolist()
    ['core', 'core', 'undecided', 'undecided', 'core', 'core']
    """
    ensemble = as_any_ensemble(labels)
    clusters, _ = code_clustering(partition, len(ensemble))
    return confidence_of(ensemble, clusters, check_weights(weights, ensemble.shape[1], "confidence"))


def confidence_of(ensemble: Ensemble, clusters: NDArray[Any], weights: NDArray[np.float64]) -> Confidence:
    """`confidence` of clusters that are numbers already, -1 for none."""
    counts, k = np.ones(len(ensemble), dtype=np.int64), int(clusters.max(initial=0)) + 1
    association = Association.of(ensemble.rows, counts, clusters, k, ensemble.offsets, weights)
    return confidence_of_rows(ensemble.rows, clusters, association)


class Association(NamedTuple):
    """Label counts of the clusters, by which rows are compared with them."""

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
        profile = count_labels(codes, clusters, counts, offsets, n_clusters, n_jobs)
        present, absent = profile.sum(axis=0), offsets[1:] - 1
        if (clusters < 0).any():
            present = count_labels(codes, np.zeros_like(clusters), counts, offsets, 1, n_jobs)[0]
        itself, bearers = own_shares(codes, counts, present, offsets, n_jobs)
        shared = np.square(present) - itself
        joined = [shared[start : stop - 1].sum() for start, stop in pairwise(offsets.tolist())]
        # The first partition gives every object a label, or lacks one: masses of memberships miss that by rounding.
        n_objects, sizes = np.rint(present[: offsets[1]].sum()), np.rint(profile[:, : offsets[1]].sum(axis=1))
        alone = bearers == 1
        alone[absent] = False
        return cls(
            np.ascontiguousarray(profile.T, dtype=np.float64),
            np.ascontiguousarray((sizes[:, None] - profile[:, absent]).T),
            offsets,
            weights,
            lift_of(n_objects - present[absent], np.array(joined, dtype=np.float64), weights),
            alone,
            sizes.astype(np.int64),
        )

    def reorder(self, order: NDArray[np.int64]) -> Association:
        """With cluster ``order[c]`` as cluster c."""
        profile, labelled = (np.ascontiguousarray(table[:, order]) for table in (self.profile, self.labelled))
        return self._replace(profile=profile, labelled=labelled, sizes=self.sizes[order])

    def beside(self, other: Association) -> Association:
        """Of the same clusters, with the partitions of both; their weights are on one scale."""
        scale = other.weights.max() / self.weights.max()  # a lift is of weights whose largest is 1
        return self._replace(
            profile=np.vstack([self.profile, other.profile]),
            labelled=np.vstack([self.labelled, other.labelled]),
            offsets=np.append(self.offsets, self.offsets[-1] + other.offsets[1:]),
            weights=np.append(self.weights, other.weights),
            lift=np.append(self.lift, scale * other.lift),
            alone=np.append(self.alone, other.alone),
        )

    def with_clusters(self, codes: NDArray[Any], clusters: NDArray[Any]) -> NDArray[np.float64]:
        """(m, k) association of some rows with every cluster, -1 of those that no partition labels."""
        k = self.profile.shape[1]
        association = np.empty((len(codes), k))
        associations_of_rows(
            codes, clusters, self.profile, self.labelled, self.offsets, self.lift, association, np.empty(k)
        )
        single = np.flatnonzero((clusters >= 0) & (self.sizes[clusters] == 1) & (association[:, 0] >= 0))
        association[single, clusters[single]] = self.share_alone(codes[single])
        return association

    def assign_rows(
        self, codes: NDArray[Any], clusters: NDArray[Any], counted: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """(m,) confidence of some rows in the clusters that they were given, runner-up and cohesion.

        ``counted`` says whether the rows are among those that were counted. NaN, -1 and NaN in no cluster, or labelled
        by no partition.
        """
        found = np.empty(len(codes)), np.empty(len(codes), np.int32), np.empty(len(codes))
        given = (self.profile, self.labelled, self.sizes, self.offsets, self.weights, self.lift)
        complete = bool((self.labelled == self.sizes).all())
        least_sure_cluster(codes, clusters, *given, float(counted), complete, found)
        return finish_alone(self, codes, clusters, found) if counted else found

    def share_alone(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """`share_alone` of some rows."""
        return share_alone(self, codes)

    def memberships(self, codes: NDArray[Any], clusters: NDArray[Any]) -> NDArray[np.float64]:
        """(m, k) association of some rows with every cluster as shares that sum to 1; NaN where nothing is known."""
        association = self.with_clusters(codes, clusters)
        association[association < 0] = np.nan
        return as_shares(association)


class SoftAssociation(Association):
    """The same for rows of soft memberships, (m, offsets[p]): a profile is the masses that they add up to."""

    def with_clusters(self, H: NDArray[np.float64], clusters: NDArray[Any]) -> NDArray[np.float64]:
        known = 1 - H[:, self.offsets[1:] - 1]
        own = np.column_stack([np.square(part).sum(axis=1) for part in by_partition(H, self.offsets)])
        placed, seen = np.flatnonzero(clusters >= 0), np.asarray(known.any(axis=1))
        at = (placed, clusters[placed])
        of_labels = np.repeat(self.lift, np.diff(self.offsets))[:, None]
        of_labels[self.offsets[1:] - 1] = 0
        joined, pairs = product(H, of_labels * self.profile), product(known, self.lift[:, None] * self.labelled)
        joined[at] = np.maximum(joined[at] - own[placed] @ self.lift, 0)
        pairs[at] -= known[placed] @ self.lift
        association = ratio(joined, pairs)
        association[~seen] = -1
        single = placed[seen[placed] & (self.sizes[clusters[placed]] == 1)]
        association[single, clusters[single]] = self.share_alone(H[single])
        return association

    def assign_rows(
        self, H: NDArray[np.float64], clusters: NDArray[Any], counted: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """`least_sure_cluster` in NumPy; so few rows at once that several tables of them with the clusters are held."""
        step = max(1, _AT_ONCE // len(self.sizes))
        parts = [
            self._assign_few(H[a : a + step], clusters[a : a + step], counted) for a in range(0, len(H) or 1, step)
        ]
        confidence, runner_up, cohesion = map(np.concatenate, zip(*parts, strict=True))
        found = confidence, runner_up, cohesion
        return finish_alone(self, H, clusters, found) if counted else found

    def _assign_few(
        self, H: NDArray[np.float64], clusters: NDArray[Any], counted: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """For and against, added partition by partition, then the least confidence."""
        m, k, rows = len(H), len(self.sizes), np.flatnonzero(clusters >= 0)
        own = clusters[rows]
        alone = (self.sizes[own] == 1) & counted
        joined, against, pairs = np.zeros((3, len(rows), k))
        total, plain_joined, plain_pairs, seen = np.zeros((4, len(rows)))
        for t, (start, stop) in enumerate(pairwise(self.offsets.tolist())):
            part = H[rows, start : stop - 1]
            known, itself = 1 - H[rows, stop - 1], np.square(part).sum(axis=1)
            shared = product(part, self.profile[start : stop - 1])
            alpha = np.maximum(shared[np.arange(len(rows)), own] - counted * itself, 0)
            nu = known * self.labelled[t, own] - counted * known
            w = self.lift[t] * np.where(alone, known, alpha)
            v = self.lift[t] * np.where(alone, known, np.maximum(nu - alpha, 0))
            joined += w[:, None] * shared
            against += v[:, None] * shared
            pairs += w[:, None] * (known[:, None] * self.labelled[t])
            total += w
            plain_joined += self.weights[t] * alpha
            plain_pairs += self.weights[t] * nu
            seen += known
        if (self.labelled == self.sizes).all():
            pairs = total[:, None] * self.sizes
        confidence, runner_up, cohesion = np.full(m, np.nan), np.full(m, -1, np.int32), np.full(m, np.nan)
        labelled = seen > 0
        least = _least_sure(joined[labelled], against[labelled], pairs[labelled], own[labelled], alone[labelled])
        confidence[rows[labelled]], runner_up[rows[labelled]] = least
        cohesion[rows[labelled]] = ratio(plain_joined[labelled], plain_pairs[labelled])
        return confidence, runner_up, cohesion

    def share_alone(self, H: NDArray[np.float64]) -> NDArray[np.float64]:
        u, offsets = effective_weights(self), self.offsets
        alone = np.column_stack([part.sum(axis=1) for part in by_partition(H * self.alone, offsets)])
        return ratio(alone @ u, (1 - H[:, offsets[1:] - 1]) @ u)


def association_with(codes: LabelRows, association: Any) -> Any:
    """The association as rows of this kind are compared with it."""
    return SoftAssociation(*association) if isinstance(codes, MembershipRows) else association


def as_shares(association: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m, k) divided by the sums of the rows; equal ones where all are 0."""
    total = association.sum(axis=1, keepdims=True)
    equal = 1 / association.shape[1]
    return np.where(total == 0, equal, association / np.where(total == 0, 1, total))


def _least_sure(
    joined: NDArray[np.float64],
    against: NDArray[np.float64],
    pairs: NDArray[np.float64],
    own: NDArray[Any],
    alone: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """(m,) least confidence of rows, by their sums with every cluster, (m, k), and the cluster where it is.

    Of those alone in their clusters the largest association.
    """
    m, k = joined.shape
    if k == 1:
        return np.ones(m), np.full(m, -1, dtype=np.int32)
    with_both = ratio(joined, pairs)
    speaks_for = np.maximum(pairs - joined, 0)
    spoken = speaks_for + against
    silent = spoken <= ROUNDING * pairs
    sure = np.where(silent, 0.5, speaks_for / np.where(silent, 1, spoken))
    sure[alone] = 0.0
    sure[np.arange(m), own] = 2.0
    least = sure.min(axis=1)
    runner_up = np.where(sure <= least[:, None] + ROUNDING, with_both, -1.0).argmax(axis=1)
    return np.where(alone, with_both[np.arange(m), runner_up], least), runner_up.astype(np.int32)


def finish_alone(
    association: Any,
    codes: NDArray[Any],
    clusters: NDArray[Any],
    found: tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
    """The same, with own / (own + other) of rows alone in their clusters, in the place of their largest association."""
    confidence, runner_up, cohesion = found
    single = np.flatnonzero(~np.isnan(cohesion) & (association.sizes[clusters] == 1) & (runner_up >= 0))
    if not len(single):
        return found
    own, other = association.share_alone(codes[single]), confidence[single]
    confidence[single] = np.where(own + other > 0, ratio(own, own + other), 0.5)
    return confidence, runner_up, cohesion


def share_alone(association: Any, codes: NDArray[Any]) -> NDArray[np.float64]:
    """(m,) share of the partitions that label a row, by u, in which no other object has its label."""
    u = effective_weights(association)
    alone, labels = association.alone[codes + association.offsets[:-1]], codes < np.diff(association.offsets) - 1
    return ratio(np.where(alone, u, 0).sum(axis=1), np.where(labels, u, 0).sum(axis=1))


def effective_weights(association: Any) -> NDArray[np.float64]:
    """(p,) u, or w where no partition joins any two objects."""
    lift: NDArray[np.float64] = association.lift
    return lift if lift.any() else np.asarray(association.weights)


def lift_of(
    labelled: NDArray[np.float64], joined: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(p,) u = w / e of partitions, by the objects that each labels and the ordered pairs that it joins; 0 if none."""
    w = weights / weights.max()  # only ratios matter, and these do not overflow
    return np.where(joined > 0, w * (labelled * (labelled - 1)) / np.where(joined > 0, joined, 1), 0.0)


def confidence_of_rows(
    codes: LabelRows, clusters: NDArray[Any], association: Association, n_jobs: int | None = None
) -> Confidence:
    """Confidence of each row, (m, p), in its cluster, (m,), negative for none; cohesion is Σ w (α − 1) /
    Σ w (n_C − 1) over the partitions that label the row, 0 alone in a cluster."""
    of_rows = [codes.state(np.float64, 0), codes.state(np.int32, 0), codes.state(np.float64, 0)]
    association = association_with(codes, association)
    codes.map(_confidence_of_block, association, reads=[clusters], writes=of_rows, n_jobs=n_jobs)
    return Confidence(*map(np.asarray, of_rows))


def _confidence_of_block(
    codes: Any, clusters: Any, confidence: Any, runner_up: Any, cohesion: Any, association: Association
) -> None:
    confidence[:], runner_up[:], cohesion[:] = association.assign_rows(codes, clusters, True)


def confidence_of_new(
    codes: NDArray[Any], clusters: NDArray[Any], association: Association
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """(m,) confidence and runner-up of some rows, (m, p), that are none of those counted, in clusters given to them."""
    confidence, runner_up, _ = association.assign_rows(codes, clusters, False)
    return confidence, runner_up


class LinkAssociation(NamedTuple):
    """`Association` from a table without zeros; the results are bitwise identical.

    Where communities are thousands, most share no label: O(n p) memory instead of O(k Σ k_i), and as much time as the
    labels of a row have clusters.
    """

    profile: csr_array
    """(offsets[p], k) objects of each cluster with each label."""
    labelled: NDArray[np.float64]
    """(p, k) members of each cluster that each partition labels."""
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    lift: NDArray[np.float64]
    alone: NDArray[np.bool_]
    sizes: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        codes: NDArray[Any],
        counts: NDArray[np.int64],
        clusters: NDArray[Any],
        n_clusters: int,
        offsets: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> LinkAssociation:
        """Of rows in memory, each in a cluster; the arguments are those of `Association.of`."""
        by_partition, labelled = [], np.zeros((len(weights), n_clusters))
        present = np.zeros(int(offsets[-1]), dtype=np.int64)
        for t in range(len(weights)):
            n_labels, column = int(offsets[t + 1] - offsets[t]), codes[:, t].astype(np.int64)
            known = column < n_labels - 1
            present[offsets[t] : offsets[t + 1]] = np.bincount(column[known], counts[known], n_labels)
            entries = counts[known].astype(np.float64), (column[known], clusters[known])
            by_partition.append(csr_array(entries, shape=(n_labels, n_clusters)))
            labelled[t] = np.bincount(clusters[known], counts[known], n_clusters)
        n_labelled = np.add.reduceat(present, offsets[:-1]).astype(np.float64)
        n_joined = np.add.reduceat(present * (present - 1), offsets[:-1]).astype(np.float64)
        return cls(
            csr_array(vstack(by_partition, format="csr")),
            labelled,
            offsets,
            weights,
            lift_of(n_labelled, n_joined, weights),
            present == 1,
            np.bincount(clusters, counts, n_clusters).astype(np.int64),
        )

    def reorder(self, order: NDArray[np.int64]) -> LinkAssociation:
        """With cluster ``order[c]`` as cluster c."""
        return self._replace(
            profile=csr_array(self.profile[:, order]), labelled=self.labelled[:, order], sizes=self.sizes[order]
        )

    def assign_rows(
        self, codes: NDArray[Any], clusters: NDArray[Any], counted: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """(m,) as `Association.assign_rows`."""
        m, (p, k) = len(codes), self.labelled.shape
        complete = bool((self.labelled == self.sizes).all())
        found = np.empty(m), np.empty(m, dtype=np.int32), np.empty(m)
        table = self.profile.indptr, self.profile.indices, self.profile.data
        given = (self.labelled, self.sizes, self.offsets, self.weights, self.lift, float(counted), complete)
        partly = np.flatnonzero((self.labelled == 0).any(axis=0))
        work = np.zeros((3, k)), np.zeros(k, dtype=bool), np.empty(k, dtype=np.int64), np.empty((2, p))
        least_sure_by_links(codes, clusters, table, *given, partly, work, found)
        return finish_alone(self, codes, clusters, found) if counted else found

    def share_alone(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) as `Association.share_alone`."""
        return share_alone(self, codes)

    def memberships(self, codes: NDArray[Any], clusters: NDArray[Any]) -> NDArray[np.float64]:
        """(m, k) as `Association.memberships`."""
        known = codes < np.diff(self.offsets) - 1
        u = np.where(known, self.lift, 0.0)
        indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        labels = csr_array((u[known], (codes + self.offsets[:-1])[known], indptr), (len(codes), self.profile.shape[0]))
        joined, pairs = (labels @ self.profile).toarray(), u @ self.labelled
        rows = np.flatnonzero(clusters >= 0)
        joined[rows, clusters[rows]] -= u[rows].sum(axis=1)
        pairs[rows, clusters[rows]] -= u[rows].sum(axis=1)
        association = ratio(joined, pairs)
        single = rows[self.sizes[clusters[rows]] == 1]
        association[single, clusters[single]] = self.share_alone(codes[single])
        association[~known.any(axis=1)] = np.nan
        return as_shares(association)


def membership_entropy(membership: ArrayLike) -> NDArray[np.float64]:
    """Use it to find objects between clusters: the entropy of each membership, from 0 to 1.

    Parameters
    ----------
    membership : array-like of shape (n_objects, k)
        ``membership_`` of a consensus: rows ≥ 0 that sum to 1, or NaN.

    Returns
    -------
    ndarray of shape (n_objects,)
        From 0, one cluster for sure, to 1, all clusters alike; 0 where k = 1, NaN where the row is.

    Notes
    -----
    O(n k) time and memory.

    Examples
    --------
    >>> from ensemblage.metrics import membership_entropy
    >>> membership_entropy([[1, 0], [0.5, 0.5]])
    array([0., 1.])
    """
    shares = check_numbers(membership, "membership of membership_entropy", ("n", "k"))
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1)
    relative: NDArray[np.float64] = np.clip(entropy / np.log(max(shares.shape[1], 2)), 0, 1) + 0.0
    return relative
