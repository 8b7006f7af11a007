"""Agreement of partitions: adjusted Rand index and normalised mutual information from contingency tables.

Then weights of partitions by their agreement with the others (Huang, Lai & Wang 2015), and what the members of an
ensemble score themselves (Candel, Sec. 5.4.3).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from itertools import pairwise
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.renamed import renamed_parameters
from ensemblage.base.threads import parallel_map, row_blocks
from ensemblage.base.validation import check_choice, check_number, check_weights
from ensemblage.counting._contingency import all_pairs, any_tables, sums_of_pairs, sums_of_table, sums_with
from ensemblage.counting._pairs import LARGE_TABLE
from ensemblage.labels.blocks import LabelRows, MembershipRows
from ensemblage.labels.counts import count_labels
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.labels.rows import Distinct
from ensemblage.metrics._clustering import code_clustering
from ensemblage.metrics._density import density_of

MEASURES = ("ari", "nmi")
AVERAGES: dict[str, Callable[[Any, Any], Any]] = {
    "arithmetic": lambda x, y: (x + y) / 2,
    "geometric": lambda x, y: np.sqrt(x * y),
    "min": np.minimum,
    "max": np.maximum,
}


@renamed_parameters(clustering="partition")
def ensemble_nmi(
    labels: ArrayLike | Any,
    partition: ArrayLike | Any,
    *,
    average_method: str = "arithmetic",
    weights: ArrayLike | None = None,
) -> float:
    """Use it to score a consensus without classes: its mean NMI with the members (Candel, Sec. 5.4.2).

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    partition : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.
    average_method : {"arithmetic", "geometric", "min", "max"}, default "arithmetic"
        Mean of the two entropies that normalises. Candel and Ohl & Lindsten use the arithmetic one, Ayad & Kamel
        and Li & Liu the geometric one.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions in the mean, ≥ 0. Default: equal.

    Returns
    -------
    float
        Between 0 and 1. Each of the ensemble is compared on the objects that it and the judged one label; one
        that shares no object with it is left out (NaN if all are).

    Raises
    ------
    ValueError
        If the partition has another number of objects or assigns none, or the weights do not fit.

    See Also
    --------
    sklearn.metrics.normalized_mutual_info_score : The same number for one pair without missing labels.

    Notes
    -----
    O(n p) time, one contingency table at a time.

    Examples
    --------
    >>> from ensemblage.metrics import ensemble_nmi
    >>> ensemble_nmi([[0, 1], [0, 1], [1, 0], [1, 0]], ["x", "x", "y", "y"])
    1.0
    """
    ensemble = as_ensemble(labels)
    w = check_weights(weights, ensemble.shape[1], "ensemble_nmi")
    return weighted_mean(agreement_with(ensemble, partition, "nmi", average_method), w)


@renamed_parameters(clustering="partition")
def ensemble_ari(labels: ArrayLike | Any, partition: ArrayLike | Any, *, weights: ArrayLike | None = None) -> float:
    """Use it to score a consensus without classes: its mean adjusted Rand index with the members.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    partition : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions in the mean, ≥ 0. Default: equal.

    Returns
    -------
    float
        At most 1; about 0 by chance. Each of the ensemble is compared on the objects that it and the judged one
        label; one that shares no object with it is left out (NaN if all are).

    Raises
    ------
    ValueError
        If the partition has another number of objects or assigns none, or the weights do not fit.

    See Also
    --------
    sklearn.metrics.adjusted_rand_score : The same number for one pair without missing labels.

    Notes
    -----
    O(n p) time, one contingency table at a time.

    References
    ----------
    Hubert & Arabie, "Comparing partitions", Journal of Classification 2, 1985.

    Examples
    --------
    >>> from ensemblage.metrics import ensemble_ari
    >>> round(ensemble_ari([[0, 0], [0, 0], [1, 0], [1, 0]], [0, 0, 1, 1]), 6)
    0.5
    """
    ensemble = as_ensemble(labels)
    w = check_weights(weights, ensemble.shape[1], "ensemble_ari")
    return weighted_mean(agreement_with(ensemble, partition, "ari"), w)


def agreement_with(
    ensemble: Ensemble, partition: ArrayLike | Any, measure: str, average_method: str = "arithmetic"
) -> NDArray[np.float64]:
    """Agreement of a partition with each partition: (p,), NaN where they share no object."""
    clusters, sizes = code_clustering(partition, len(ensemble))
    counts, f = np.ones(len(ensemble), dtype=np.int64), summand(measure, len(ensemble))
    sums = sums_of_clustering(ensemble.rows, counts, ensemble.offsets, clusters, len(sizes), f)
    return scores_of_sums(sums, f, measure, average_method)


def sums_of_clustering(
    codes: LabelRows,
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    clusters: NDArray[Any],
    n_clusters: int,
    f: NDArray[np.int64],
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """`sums_with` of a partition of the rows, -1 for none, and every partition: (4, p).

    In one pass over the rows, if the tables with all partitions have no more cells together than there are labels.
    """
    if n_clusters * offsets[-1] <= min(LARGE_TABLE, len(codes) * codes.shape[1]):
        return sums_of_profile(count_labels(codes, clusters, counts, offsets, n_clusters, n_jobs), offsets, f)
    a, widths = np.where(clusters < 0, n_clusters, clusters), np.diff(offsets) - 1

    def sums(j: int) -> NDArray[np.int64]:
        column = np.ascontiguousarray(codes[:, j])
        return sums_with(a, column[None], counts, (n_clusters, widths[[j]]), np.zeros(1, dtype=np.intp), f)

    return np.hstack(parallel_map(sums, range(len(widths)), n_jobs))


def sums_of_profile(profile: NDArray[np.int64], offsets: NDArray[np.int64], f: NDArray[np.int64]) -> NDArray[np.int64]:
    """`sums_with` from the label counts of the clusters, which are the tables with all partitions."""
    sums = np.empty((len(offsets) - 1, 4), dtype=np.int64)
    for j, (start, stop) in enumerate(pairwise(offsets.tolist())):
        sums[j] = sums_of_table(profile[:, start : stop - 1], f)
    return sums.T


def agreement_matrix(
    labels: Distinct, measure: str, average_method: str = "arithmetic", n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Agreement of every pair of partitions: (p, p), symmetric, 1 on the diagonal, NaN where they share no object.

    O(p² m) time for m distinct label rows; memory O(m p) and one contingency table per thread.
    """
    codes, counts, _ = labels.distinct
    return _agreement_of(codes, counts, labels.n_clusters, measure, average_method, n_jobs)


@singledispatch
def _agreement_of(
    codes: LabelRows,
    counts: NDArray[np.int64],
    n_clusters: NDArray[np.int64],
    measure: str,
    average_method: str,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    p, f = len(n_clusters), summand(measure, int(counts.sum()))
    sums = sums_of_pairs(codes, counts, n_clusters, f, n_jobs)
    agreement = np.eye(p)
    for i in range(p):
        agreement[i, i + 1 :] = agreement[i + 1 :, i] = scores_of_sums(sums[:, i, i + 1 :], f, measure, average_method)
    return agreement


@_agreement_of.register
def _(
    codes: MembershipRows,
    counts: NDArray[np.int64],
    n_clusters: NDArray[np.int64],
    measure: str,
    average_method: str,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    # From the masses that clusters share instead of counts.
    tables, p = any_tables(codes, counts, n_clusters, n_jobs), len(n_clusters)
    agreement = np.eye(p)
    for i, j in all_pairs(p):
        table = tables.table(i, j)[:-1, :-1].astype(np.float64)
        n, margins = table.sum(), (table.sum(axis=1), table.sum(axis=0))
        if n == 0:
            score = np.nan
        elif measure == "ari":
            squares = [np.square(values).sum() for values in (table, *margins)]
            score = float(_ari(np.array([*squares, n])[:, None])[0])
        else:
            both, first, second = (_entropy(values[values > 0] / n) for values in (table, *margins))
            below = AVERAGES[average_method](first, second)
            score = 1.0 if first == second == 0 else min(max(first + second - both, 0.0) / (below or 1.0), 1.0)
        agreement[i, j] = agreement[j, i] = score
    return agreement


def _entropy(shares: NDArray[np.float64]) -> float:
    return float(-(shares * np.log(shares)).sum())


def summand(measure: str, n_objects: int) -> NDArray[np.int64]:
    """What is summed over a contingency table: count² for the ARI (an empty array), count log count for the NMI.

    The logarithms are whole multiples of a tiny unit: sums of whole numbers do not depend on the order of the labels,
    so copies of a partition under other names tie exactly. The largest, n log n, stays below 2⁶².
    """
    if check_choice(measure, "measure of agreement", MEASURES) == "ari":
        return np.empty(0, dtype=np.int64)
    f, bits = np.empty(n_objects + 1, dtype=np.int64), fraction_bits(n_objects)
    for block in row_blocks(len(f)):
        count = np.arange(block.start, block.stop, dtype=np.float64)
        f[block] = np.rint(np.ldexp(count * np.log(np.maximum(count, 1)), bits))
    return f


def fraction_bits(n_objects: int) -> int:
    return 61 - int(np.ceil(np.log2(max(2.0, n_objects * np.log(max(2, n_objects))))))


def scores_of_sums(
    sums: NDArray[np.int64], f: NDArray[np.int64], measure: str, average_method: str = "arithmetic"
) -> NDArray[np.float64]:
    """Agreement from sums over contingency tables, (4, p) by `sums_with`; NaN where no object is shared."""
    shared = sums[3] > 0
    scores = np.full(sums.shape[1], np.nan)
    scores[shared] = _ari(sums[:, shared]) if measure == "ari" else _nmi(sums[:, shared], f, average_method)
    return scores


def _ari(sums: NDArray[np.int64]) -> NDArray[np.float64]:
    """Adjusted Rand index from ordered pairs: joined by both, by one of them, by neither."""
    cells, rows, columns, n = sums
    only_first, only_second = (rows - cells).astype(float), (columns - cells).astype(float)
    both, neither = (cells - n).astype(float), (n * n - rows - columns + cells).astype(float)
    above = 2 * (both * neither - only_first * only_second)
    below = (both + only_first) * (only_first + neither) + (both + only_second) * (only_second + neither)
    equal = (only_first == 0) & (only_second == 0)
    return np.where(equal, 1.0, above / np.where(equal, 1, below))


def _nmi(sums: NDArray[np.int64], f: NDArray[np.int64], average_method: str) -> NDArray[np.float64]:
    """Mutual information over a mean of the entropies; 1 for two partitions of one cluster each, as in scikit-learn."""
    average = AVERAGES[check_choice(average_method, "average_method", tuple(AVERAGES))]
    first, second, shared = information(sums, f)
    trivial = (first == 0) & (second == 0)
    below = average(first, second)
    return np.where(trivial, 1.0, np.minimum(shared / np.where(below > 0, below, 1), 1.0))


def information(sums: NDArray[np.int64], f: NDArray[np.int64]) -> tuple[Any, Any, Any]:
    """Entropies of both partitions and their mutual information in nats, from sums over their tables by `summand`."""
    cells, rows, columns, n = sums
    all_in_one = f[n]
    unit = n * 2.0 ** fraction_bits(len(f) - 1)
    first, second = (all_in_one - rows) / unit, (all_in_one - columns) / unit
    shared = (all_in_one - rows - columns + cells) / unit
    # Four sums of logarithms, each right to one unit in the last place: so little may be left where nothing is shared.
    shared = np.where(shared <= 4 * np.finfo(float).eps * np.log(np.maximum(n, 3)), 0.0, shared)
    return first, second, shared


def mean_agreement(agreement: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted mean agreement of each partition with the others: (p,)."""
    rows = enumerate(agreement)
    return np.array([weighted_mean(np.delete(row, j), np.delete(weights, j)) for j, row in rows])


def weighted_mean(scores: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Weighted mean of the scores that are not NaN; NaN if there are none. Equal scores in any order: equal means."""
    known = ~np.isnan(scores)
    total = fsum(weights[known])
    return fsum(scores[known] * weights[known]) / total if total > 0 else float("nan")


BETA = 2.0


def agreement_weights(labels: ArrayLike | Any, beta: float = BETA, *, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Use it to give outlying partitions less weight: weights by the mean agreement with the others.

    The mean normalised mutual information of each partition with the others, over the larger of the two entropies, is
    divided by the largest of them and raised to the power ``beta`` [1]_.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    beta : float, default 2
        How much it counts, ≥ 0; 0 makes equal weights.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Returns
    -------
    ndarray of shape (n_partitions,)
        From 0 to 1, for the partition that agrees most; all 1 if none agrees with any.

    Raises
    ------
    ValueError
        If ``beta`` is no number ≥ 0.

    See Also
    --------
    ensemblage.ranking.AverageAgreement : The order of the partitions by it.

    Notes
    -----
    Of two partitions the objects count that both label; two without any agree by 0. O(n p²) time.

    ``weights="agreement"`` in a consensus method is this with ``beta=2``: WEAC's weights, in any method.

    References
    ----------
    .. [1] D. Huang, J.-H. Lai, C.-D. Wang, "Combining multiple clusterings via crowd agreement estimation and
       multi-granularity link analysis", Neurocomputing 170, 2015.

    Examples
    --------
    >>> from ensemblage.metrics import agreement_weights
    >>> agreement_weights([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    array([1., 1., 0.])
    """
    return weights_by_agreement(as_ensemble(labels), check_number(beta, "beta of agreement_weights", least=0), n_jobs)


def weights_by_agreement(labels: Distinct, beta: float = BETA, n_jobs: int | None = None) -> NDArray[np.float64]:
    """`agreement_weights` of partitions whose distinct rows are known."""
    p = len(labels.n_clusters)
    agreement = np.nan_to_num(agreement_matrix(labels, "nmi", "max", n_jobs), nan=0.0)
    others = (agreement.sum(axis=1) - 1) / max(p - 1, 1)
    largest = others.max()
    # Rounding of a sum is no agreement.
    return (others / largest) ** beta if largest > 1e-12 else np.ones(p)


def ensemble_baselines(
    labels: ArrayLike | Any,
    measure: str = "nmi",
    *,
    average_method: str = "arithmetic",
    weights: ArrayLike | None = None,
) -> tuple[float, float]:
    """Use it to judge a consensus: the scores of the mean member and of the best member.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    measure : {"nmi", "ari", "density"}, default "nmi"
        For "nmi" and "ari" a member is compared with the others (ordered pairs i ≠ j); its density is taken in the
        whole ensemble, itself included, on the objects that it labels.
    average_method : {"arithmetic", "geometric", "min", "max"}, default "arithmetic"
        As in `ensemble_nmi`.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions that a member is compared with; 0 leaves a partition out, as a member too. Default:
        equal.

    Returns
    -------
    mean : float
        Mean score of the members.
    best : float
        The largest.

    Raises
    ------
    ValueError
        If there is one partition only (of weight above 0), or an argument is none of the above.

    Notes
    -----
    O(n p²) time.

    References
    ----------
    Candel, "Linear time evidence accumulation clustering with KMeans", Sec. 5.4.3 and 5.4.4.

    Examples
    --------
    >>> from ensemblage.metrics._agreement import ensemble_baselines
    >>> ensemble_baselines([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0]], "nmi")
    (0.3333333333333333, 0.5)
    """
    ensemble = as_ensemble(labels)
    check_choice(measure, "measure of ensemble_baselines", (*MEASURES, "density"))
    w = check_weights(weights, ensemble.shape[1], "ensemble_baselines")
    ensemble, w = ensemble.select(w > 0), w[w > 0]
    p = len(w)
    if p < 2:
        raise ValueError(
            "labels of ensemble_baselines must have at least 2 partitions. Got 1. Add partitions of weight above 0 to "
            "compare it with."
        )
    if measure == "density":
        scores = np.array([_member_density(ensemble, j, w) for j in range(p)])
    else:
        scores = mean_agreement(agreement_matrix(ensemble, measure, average_method), w)
    return weighted_mean(scores, np.ones(p)), float(np.fmax.reduce(scores))


def _member_density(ensemble: Ensemble, j: int, weights: NDArray[np.float64]) -> float:
    clusters = ensemble.codes[:, j].astype(np.int32)
    sizes = np.bincount(clusters)[: ensemble.n_clusters[j]]
    if not len(sizes):
        return np.nan
    clusters[clusters == len(sizes)] = -1
    return density_of(ensemble, clusters, sizes, weights)
