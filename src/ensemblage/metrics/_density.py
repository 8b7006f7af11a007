"""Candel's density and k-means loss of a partition, from label counts: no n × n matrix."""

from __future__ import annotations

from functools import singledispatch
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.validation import check_weights, weight_unit
from ensemblage.counting._pairs import label_count_squares
from ensemblage.labels.blocks import LabelRows, MembershipRows
from ensemblage.labels.counts import by_partition, count_labels
from ensemblage.labels.ensemble import Ensemble, as_any_ensemble, as_ensemble
from ensemblage.metrics._clustering import code_clustering


@renamed_parameters(clustering="partition")
def density(labels: ArrayLike | Any, partition: ArrayLike | Any, *, weights: ArrayLike | None = None) -> float:
    """Use it to score a consensus without classes: mean co-association inside clusters (Candel, Eqs. 7 and 15).

    0 means that no partition joins objects of one cluster, 1 that every partition joins all of them. Do not compare
    partitions with different numbers of clusters by it (Candel, Sec. 3.5).

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
    float
        Between 0 and 1. Singletons count as 0. With missing labels, the density of a cluster is (pairs joined) /
        (pairs labelled), both summed over the partitions; 0 where no partition labels two members.

    Raises
    ------
    ValueError
        If the partition has another number of objects or assigns none, or the weights do not fit.

    Notes
    -----
    O(n p) time and O(n) memory. The sums are whole numbers: the order of the objects, the names of the labels and
    the number of threads do not change a bit of the result.

    Of memberships a partition joins two objects as far as their memberships agree, Σ u v; O(n d k) time for d
    clusters of all partitions.

    References
    ----------
    Candel, "Linear time evidence accumulation clustering with KMeans", Eqs. 3, 7, 15.

    Examples
    --------
    >>> from ensemblage.metrics import density
    >>> labels = [[0, 0], [0, 0], [1, 0], [1, 1]]
    >>> density(labels, [0, 0, 1, 1])
    0.75
    """
    ensemble = as_any_ensemble(labels)
    clusters, sizes = code_clustering(partition, len(ensemble))
    return density_of(ensemble, clusters, sizes, check_weights(weights, ensemble.shape[1], "density"))


def density_of(
    ensemble: Ensemble, clusters: NDArray[Any], sizes: NDArray[np.int64], weights: NDArray[np.float64]
) -> float:
    """`density` of clusters that are numbers already, -1 for none, with ``sizes`` objects each."""
    joined, labelled = pairs_within(ensemble.rows, clusters, sizes, ensemble.offsets)
    return fsum(sizes * ratio(weighted_sum(joined, weights), weighted_sum(labelled, weights))) / int(sizes.sum())


@singledispatch
def pairs_within(
    rows: LabelRows, clusters: NDArray[Any], sizes: NDArray[np.int64], offsets: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """(k, p) ordered pairs of different members of each cluster that each partition joins, and that it labels.

    A soft partition joins Σ u · v of them.
    """
    squares, labelled = label_count_squares(rows, clusters, sizes, offsets)
    return squares - labelled, labelled * (labelled - 1)


@pairs_within.register
def _(
    rows: MembershipRows, clusters: NDArray[Any], sizes: NDArray[np.int64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    n_clusters, ones = len(sizes), np.ones(len(rows), dtype=np.int64)
    profile = count_labels(rows, clusters, ones, rows.offsets, n_clusters)
    own = count_labels(MembershipRows(np.square(rows.H), rows.offsets), clusters, ones, rows.offsets, n_clusters)
    absent = profile[:, rows.offsets[1:] - 1]
    labelled = np.bincount(clusters[clusters >= 0], minlength=n_clusters)[:, None] - absent
    alike = [values.sum(axis=1) for values in by_partition(np.square(profile) - own, rows.offsets)]
    return np.maximum(np.column_stack(alike), 0), labelled * (labelled - 1)


def weighted_sum(counts: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[Any]:
    """Sum of the counts over the last axis, the partitions: whole numbers of any size while every weight is 1."""
    if not (weights == 1).all():
        # Not matmul: BLAS may add in another order on another number of threads.
        return np.asarray((counts * weights).sum(axis=-1))
    if counts.size and int(counts.max()) * len(weights) >= 2**63:
        counts = counts.astype(object)
    return np.asarray(counts.sum(axis=-1))


def ratio(joined: NDArray[Any], pairs: NDArray[Any]) -> NDArray[np.float64]:
    """joined / pairs, 0 where there are no pairs."""
    return np.where(pairs > 0, joined / np.where(pairs > 0, pairs, 1), 0).astype(np.float64)


def labelled_members(profile: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """(k, p) members of each cluster that each partition labels."""
    return np.add.reduceat(profile, offsets[:-1], axis=1) - profile[:, offsets[1:] - 1]


@renamed_parameters(clustering="partition")
def cluster_density(
    labels: ArrayLike | Any, partition: ArrayLike | Any, *, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Use it to see which clusters overlap: mean co-association within each cluster and between each two.

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
    ndarray of shape (k, k)
        Clusters in sorted order of their labels. The diagonal is D(C) (Eq. 3: pairs of different objects; 0 for a
        singleton), the rest D(C, C') (Eq. 5). With missing labels: (pairs joined) / (pairs labelled), both summed over
        the partitions; 0 where no partition labels a pair.

    Raises
    ------
    ValueError
        If the partition has another number of objects or assigns none, or the weights do not fit.

    Notes
    -----
    O(n p + k² d) time and O(k d + k²) memory for d clusters in all partitions.

    References
    ----------
    Candel, "Linear time evidence accumulation clustering with KMeans", Eqs. 3 and 5.

    Examples
    --------
    >>> from ensemblage.metrics import cluster_density
    >>> cluster_density([[0, 0], [0, 0], [1, 0], [1, 1]], ["b", "b", "a", "a"])
    array([[0.5 , 0.25],
           [0.25, 1.  ]])
    """
    ensemble = as_ensemble(labels)
    clusters, sizes = code_clustering(partition, len(ensemble))
    w = check_weights(weights, ensemble.shape[1], "cluster_density")
    counts = np.ones(len(ensemble), dtype=np.int64)
    profile = count_labels(ensemble.rows, clusters, counts, ensemble.offsets, len(sizes))
    labelled = labelled_members(profile, ensemble.offsets)
    joined, pairs = np.zeros((2, len(sizes), len(sizes)))
    for t, weight in enumerate(w):
        members = labelled[:, t]
        joined += weight * _pairs(profile[:, ensemble.offsets[t] : ensemble.offsets[t + 1] - 1], members)
        pairs += weight * _pairs(members[:, None], members)
    return ratio(joined, pairs)


def _pairs(counts: NDArray[np.int64], members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs of members of two clusters (ordered pairs of different members of one) in the same columns of counts."""
    # Sums of whole numbers below 2⁵³ are exact in floating point, where BLAS is far faster.
    factor = counts.astype(np.float64) if int(members.max()) ** 2 < 2**53 else counts
    pairs = (factor @ factor.T).astype(np.int64)
    pairs[np.diag_indices_from(pairs)] -= members
    return pairs


@renamed_parameters(clustering="partition")
def kmeans_loss(labels: ArrayLike | Any, partition: ArrayLike | Any, *, weights: ArrayLike | None = None) -> float:
    """Use it to compare results of k-means methods: squared distances of label rows to their centres (Candel, Eq. 16).

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    partition : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions, ≥ 0. Default: 1 each.

    Returns
    -------
    float
        Σ_t w_t Σ_C (n_C − Σ_f α_f² / n_C), with n_C the members of C that partition t labels and α_f those among them
        with label f. 0 if all members of each cluster have the same labels, infinite beyond the largest float.

    Raises
    ------
    ValueError
        If the partition has another number of objects or assigns none, or the weights do not fit.

    Notes
    -----
    O(n p) time and O(n + k p) memory. Exact up to the last division: scikit-learn's float32 inertia is off by 3e-4 at
    a million objects.

    References
    ----------
    Candel, "Linear time evidence accumulation clustering with KMeans", Eqs. 16 and 19.

    Examples
    --------
    >>> from ensemblage.metrics import kmeans_loss
    >>> kmeans_loss([[0, 0], [0, 0], [1, 0], [1, 1]], [0, 0, 1, 1])
    1.0
    """
    ensemble = as_ensemble(labels)
    clusters, sizes = code_clustering(partition, len(ensemble))
    w = check_weights(weights, ensemble.shape[1], "kmeans_loss")
    squares, labelled = label_count_squares(ensemble.rows, clusters, sizes, ensemble.offsets)
    per_cluster = ((labelled * labelled - squares) / np.maximum(labelled, 1) * w).sum(axis=1)
    return fsum(per_cluster) * weight_unit(weights)
