"""Stability of a resampled ensemble: Monti's consensus distribution, its area, PAC, item and cluster consensus."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.validation import check_choice, format_value
from ensemblage.labels.blocks import in_memory
from ensemblage.labels.counts import count_labels
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.metrics._clustering import code_clustering
from ensemblage.metrics._coassociation import association_counts
from ensemblage.metrics._density import cluster_density, labelled_members, ratio

_N_BINS = 100


def consensus_cdf(labels: ArrayLike | Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Use it to see how clear an ensemble is: the distribution of the co-associations of all pairs.

    Of a stable number of clusters nearly all values are 0 or 1, so the curve is flat between.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble, as of `ResampledPartitions`: objects left out of a partition are missing (-1, NaN) in it.

    Returns
    -------
    values : ndarray of shape (v,)
        Consensus values that occur, ascending, from 0 to 1 (both are there always).
    cdf : ndarray of shape (v,)
        Share of the pairs i < j whose consensus is at most that. Pairs that no partition labels both of are left out.

    Raises
    ------
    ValueError
        If no partition labels two objects.

    Notes
    -----
    Exact, without the n × n matrix: O(m² p) time for m distinct label rows and O(n) memory (`association_counts`).

    References
    ----------
    S. Monti, P. Tamayo, J. Mesirov, T. Golub, "Consensus clustering: a resampling-based method for class discovery
    and visualization of gene expression microarray data", Machine Learning 52, 2003.

    Examples
    --------
    >>> from ensemblage.metrics import consensus_cdf
    >>> values, cdf = consensus_cdf([[0, 0], [0, 0], [1, 0]])
    >>> values, cdf.round(2)
    (array([0. , 0.5, 1. ]), array([0.  , 0.67, 1.  ]))
    """
    ensemble = as_ensemble(labels)
    name = "The consensus CDF, for consensus_cdf, pac and delta_area,"
    in_memory(ensemble.distinct.codes, name, "density")
    table = association_counts(ensemble)
    p = len(table) - 1
    joined = np.arange(p + 1)
    shares = joined / p if table.ndim == 1 else joined[:, None] / np.maximum(joined, 1)
    known = np.ones_like(table, dtype=bool) if table.ndim == 1 else np.broadcast_to(joined > 0, table.shape)
    chosen = known & (table > 0)
    if not chosen.any():
        raise ValueError(
            "At least one pair of objects must be labelled by the same partition. Got no such pair. Give larger "
            "subsamples or more objects."
        )
    values, index = np.unique(np.concatenate([shares[chosen], [0.0, 1.0]]), return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, index[:-2], table[chosen])
    return values, np.cumsum(counts) / counts.sum()


def pac(labels: ArrayLike | Any, *, lower: float = 0.1, upper: float = 0.9) -> float:
    """Use it to compare numbers of clusters: the proportion of ambiguous clustering, pairs neither near 0 nor near 1.

    Small is stable. It does not choose the number of clusters by itself: it falls as k grows, for small clusters are
    hardly ever joined, and is small wherever true clusters merge the same way every time. `choose_k` compares it with
    what it is on data without clusters.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    lower, upper : float, default 0.1 and 0.9
        Consensus values above ``lower`` and up to ``upper`` are ambiguous; 1, of pairs that are always joined, is not.

    Returns
    -------
    float
        CDF(upper) - CDF(lower), from 0 to 1; the CDF up to 1 is that just below 1.

    Raises
    ------
    ValueError
        If not 0 ≤ lower < upper ≤ 1.

    Notes
    -----
    O(m² p) time for m distinct label rows, O(n) memory.

    References
    ----------
    Y. Șenbabaoğlu, G. Michailidis, J. Z. Li, "Critical limitations of consensus clustering in class discovery",
    Scientific Reports 4, 2014.

    Examples
    --------
    >>> from ensemblage.metrics import pac
    >>> round(pac([[0, 0], [0, 0], [1, 0]]), 3)
    0.667
    """
    return pac_of(*consensus_cdf(labels), lower, upper)


def pac_of(values: NDArray[np.float64], cdf: NDArray[np.float64], lower: float = 0.1, upper: float = 0.9) -> float:
    """`pac` of a distribution."""
    limits: tuple[Any, Any] = (lower, upper)
    numeric = all(isinstance(value, numbers.Real) and not isinstance(value, bool) for value in limits)
    if not numeric or not 0 <= lower < upper <= 1:
        raise ValueError(
            f"lower and upper of pac must be 0 ≤ lower < upper ≤ 1. Got {format_value(lower)} and "
            f"{format_value(upper)}. Values between them are ambiguous."
        )
    # Shares of partitions and limits such as 0.1 are rounded numbers. Pairs that are always joined are not ambiguous.
    limits = lower + 1e-12, min(upper + 1e-12, 1 - 1e-12)
    places = np.searchsorted(values, limits, side="right") - 1
    return float(cdf[places[1]] - cdf[places[0]])


def cdf_area(values: NDArray[np.float64], cdf: NDArray[np.float64]) -> float:
    """∫ CDF over [0, 1], which is 1 less the mean consensus: each step of the staircase has its left height."""
    return float((np.diff(values) * cdf[:-1]).sum())


def monti_area(values: NDArray[np.float64], cdf: NDArray[np.float64]) -> float:
    """Σ (x_i - x_{i-1}) CDF(x_i), i ≥ 2, over the values x_1 < … < x_m that occur: each step has its right height."""
    occurs = np.diff(cdf, prepend=0.0) > 0
    return float((np.diff(values[occurs]) * cdf[occurs][1:]).sum())


def histogram_area(values: NDArray[np.float64], cdf: NDArray[np.float64]) -> float:
    """Σ CDF(i / 100) / 100, i = 1, …, 100: heights times widths of the cumulated histogram of 100 bins.

    A value on an edge is in the bin below it, a value of 0 in the first.
    """
    edges = np.arange(1, _N_BINS + 1) / _N_BINS
    heights = cdf[np.searchsorted(values, edges + 1e-12, side="right") - 1]
    return float(heights.sum() / _N_BINS)


AREAS: Mapping[str, Callable[[NDArray[np.float64], NDArray[np.float64]], float]] = {
    "exact": cdf_area,
    "monti": monti_area,
    "histogram": histogram_area,
}


def delta_area(ensembles: Mapping[int, ArrayLike | Any], *, variant: str = "exact") -> dict[int, float]:
    """Use it for the area criterion of Monti: growth of the area under the consensus distribution with k.

    The number of clusters is where it stops growing, read by eye from the curve. Its largest value is no rule: that is
    the smallest k by construction, and often on data without any clusters too.

    Parameters
    ----------
    ensembles : mapping of int to array-like, data frame or Ensemble
        The label matrix of each number of clusters k.
    variant : {"exact", "monti", "histogram"}, default "exact"
        How the area A(k) is computed. "exact" is the integral of the CDF from 0 to 1, which is 1 less the mean
        consensus. "monti" is the sum of Monti et al., Σ (x_i - x_{i-1}) CDF(x_i) for i = 2, …, m over the sorted values
        x_1, …, x_m that occur: each step of the CDF counts with its right height, and what lies beyond
        the largest value is left out. "histogram" is what ConsensusClusterPlus adds up: the heights of the
        cumulated histogram of 100 bins of equal width from 0 to 1, times that width; a value on an edge is in the bin
        below it, a value of 0 in the first.

    Returns
    -------
    dict of int to float
        By ascending k: the area itself for the smallest k, (A(k) - A(k')) / A(k') for the others, with k' the one
        before; 0 where A(k') is 0.

    Raises
    ------
    TypeError
        If ``ensembles`` is no mapping.
    ValueError
        If there is no ensemble, or no such variant.

    Notes
    -----
    O(m² p) time per ensemble of m distinct label rows, O(n) memory.

    References
    ----------
    Monti et al. 2003 (see `consensus_cdf`), the definition of A(K) and Δ(K).

    Examples
    --------
    >>> from ensemblage.metrics import delta_area
    >>> delta_area({2: [[0, 0], [0, 0], [1, 1], [1, 0]], 3: [[0, 0], [0, 0], [1, 1], [2, 2]]})
    {2: 0.5833333333333334, 3: 0.42857142857142855}
    """
    if not isinstance(ensembles, Mapping):
        raise TypeError(
            f"ensembles of delta_area must be a dict of label matrices by k. Got {type(ensembles).__name__}. "
            "Give {2: labels, 3: labels}, for example."
        )
    area = AREAS[check_choice(variant, "variant of delta_area", tuple(AREAS))]
    if not ensembles:
        raise ValueError(
            "ensembles of delta_area must hold at least one ensemble. Got none. Give one ensemble per "
            "number of clusters."
        )
    return delta_of_areas({k: area(*consensus_cdf(ensembles[k])) for k in sorted(ensembles)})


def delta_of_areas(areas: Mapping[int, float]) -> dict[int, float]:
    """`delta_area` of areas by ascending k."""
    found, before = {}, None
    for k, area in areas.items():
        found[k] = area if before is None else (area - before) / before if before > 0 else 0.0
        before = area
    return found


@renamed_parameters(clustering="partition")
def item_consensus(labels: ArrayLike | Any, partition: ArrayLike | Any) -> NDArray[np.float64]:
    """Use it to see where each object belongs: its mean consensus with the members of each cluster.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    partition : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are members of none, but have a consensus with each.

    Returns
    -------
    ndarray of shape (n_objects, k)
        From 0 to 1, clusters in sorted order of their labels: (times joined) / (times both labelled), each summed over
        members and partitions; 0 where there is nobody to compare with, NaN for an object that no partition labels.

    Raises
    ------
    ValueError
        If the partition has another number of objects or assigns none.

    Notes
    -----
    Monti averages the ratios of the pairs; the ratio of the sums needs label counts only, weighs pairs by how often
    they are seen together, and is the same where nothing is missing. O(n p k) time, O(n k + k d) memory.

    Examples
    --------
    >>> from ensemblage.metrics import item_consensus
    >>> item_consensus([[0, 0], [0, 0], [1, 1], [1, 0]], [0, 0, 1, 1])
    array([[1.  , 0.25],
           [1.  , 0.25],
           [0.  , 0.5 ],
           [0.5 , 0.5 ]])
    """
    ensemble = as_ensemble(labels)
    clusters, sizes = code_clustering(partition, len(ensemble))
    counts = np.ones(len(ensemble), dtype=np.int64)
    profile = count_labels(ensemble.rows, clusters, counts, ensemble.offsets, len(sizes))
    return _consensus_with(ensemble, clusters, profile)


def _consensus_with(ensemble: Ensemble, clusters: NDArray[Any], profile: NDArray[np.int64]) -> NDArray[np.float64]:
    labelled = labelled_members(profile, ensemble.offsets)
    inside = clusters[:, None] == np.arange(len(profile))
    joined, pairs = np.zeros(inside.shape, dtype=np.int64), np.zeros(inside.shape, dtype=np.int64)
    anywhere = np.zeros((len(clusters), 1), dtype=bool)
    for t in range(ensemble.shape[1]):
        codes = ensemble.codes[:, t]
        known = (codes < ensemble.n_clusters[t])[:, None]
        anywhere |= known
        joined += known * (profile[:, ensemble.offsets[t] + codes].T - inside)
        pairs += known * (labelled[:, t] - inside)
    consensus = ratio(joined, pairs)
    consensus[~anywhere[:, 0]] = np.nan
    return consensus


@renamed_parameters(clustering="partition")
def cluster_consensus(labels: ArrayLike | Any, partition: ArrayLike | Any) -> NDArray[np.float64]:
    """Use it to compare clusters: mean consensus of the pairs within each, the diagonal of `cluster_density`.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    partition : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.

    Returns
    -------
    ndarray of shape (k,)
        From 0 to 1, clusters in sorted order of their labels; 0 for a singleton. A ratio of sums as `item_consensus`.

    Notes
    -----
    O(n p + k² d) time for d clusters in all partitions.

    Examples
    --------
    >>> from ensemblage.metrics._monti import cluster_consensus
    >>> cluster_consensus([[0, 0], [0, 0], [1, 1], [1, 0]], [0, 0, 1, 1])
    array([1. , 0.5])
    """
    return np.diagonal(cluster_density(labels, partition)).copy()
