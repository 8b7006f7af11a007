"""Element-centric similarity (Gates et al. 2019) of partitions, object by object, in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_weights, weight_unit
from ensemblage.kernels._element_similarity import add_element_similarities
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.labels.threads import check_stopped, parallel_map

BLOCKS = 16
"""Sums that are added in order, whatever the number of threads."""


def element_similarity(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Use it to see where two partitions differ: agreement of the clusters of each object (element-centric).

    Parameters
    ----------
    first, second : array-like of shape (n_objects,)
        Labels; -1 and NaN are missing.

    Returns
    -------
    ndarray of shape (n_objects,)
        For each object the share that its two clusters have in common: objects in both over those in the larger one.
        Above 0, at most 1; 1 everywhere if the partitions are equal; NaN where a label is missing. The mean is the
        similarity of the partitions. It is not corrected for chance.

    Raises
    ------
    ValueError
        If the lengths differ.

    See Also
    --------
    element_consistency : Of all pairs of the partitions of an ensemble.

    Notes
    -----
    O(n) time and memory. Of partitions, the personalised PageRank of the paper has this closed form for any damping.
    Only objects that both label count.

    References
    ----------
    A. J. Gates, I. B. Wood, W. P. Hetrick and Y.-Y. Ahn, "Element-centric clustering comparison unifies overlaps and
    hierarchy", Scientific Reports 9, 8574, 2019.

    Examples
    --------
    >>> from ensemblage.metrics import element_similarity
    >>> element_similarity([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]).round(3)
    array([0.75 , 0.75 , 0.75 , 0.25 , 0.667, 0.667])
    """
    sums, known = _similarities(Ensemble.from_partitions([first, second]), np.ones(2), 1)
    return _ratio(sums, known)


def element_consistency(
    labels: ArrayLike | Any, *, weights: ArrayLike | None = None, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Use it to find unstable objects: agreement of their clusters over all pairs of partitions (element-centric).

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    weights : array-like of shape (n_partitions,), optional
        How often each partition counts: whole numbers ≥ 0, two or more in all. Default: once.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Returns
    -------
    ndarray of shape (n_objects,)
        Mean `element_similarity` over the pairs of partitions that both label the object; at most 1, NaN where there
        is no such pair.

    Raises
    ------
    ValueError
        If there are fewer than two partitions, or the weights are not such numbers.

    See Also
    --------
    certainty : Certainty of each object of a clustering.

    Notes
    -----
    O(m p²) time for m distinct label rows, 8 m bytes for each of 16 blocks of pairs.

    The inconsistency of scICE is p / (1 + (p - 1) c) for p partitions and the mean consistency c: 1 if all are equal.

    References
    ----------
    A. J. Gates, I. B. Wood, W. P. Hetrick and Y.-Y. Ahn, "Element-centric clustering comparison unifies overlaps and
    hierarchy", Scientific Reports 9, 8574, 2019. A. Munteanu, A. Shahsavari and others: ``element_consistency`` of
    ClustAssess for R. H. Kim, I. Park, J.-E. Park, J. K. Kim, M. Seo and J. K. Kim, "scICE: enhancing clustering
    reliability and efficiency of scRNA-seq data with multi-cluster label consistency evaluation", Nature Communications
    16, 2025.

    Examples
    --------
    >>> from ensemblage.metrics import element_consistency
    >>> element_consistency([[0, 0, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0]]).round(3)
    array([0.778, 0.778, 0.667, 0.556])
    """
    ensemble = as_ensemble(labels)
    copies = _check_copies(weights, ensemble.shape[1])
    sums, known = _similarities(ensemble, copies, n_jobs)
    codes, _, inverse = ensemble.distinct
    labelled = (codes[:] < ensemble.n_clusters) @ (copies * (copies - 1) / 2)
    return _ratio(sums + labelled[inverse], known + labelled[inverse])


def inconsistency(ensemble: Ensemble, n_jobs: int | None = None) -> float:
    """That of scICE: 1 / the mean similarity of all ordered pairs of partitions, each with itself included.

    1 if all are equal. With missing labels, the mean consistency of the objects that two partitions label stands for
    the pairs of different partitions; 1 where there are no such objects.
    """
    p, consistency = ensemble.shape[1], element_consistency(ensemble, n_jobs=n_jobs)
    known = ~np.isnan(consistency)
    mean = float(consistency[known].mean()) if known.any() else 1.0
    return p / (1 + (p - 1) * mean)


def _check_copies(weights: Any, p: int) -> NDArray[np.float64]:
    """How often each partition counts."""
    copies = check_weights(weights, p, "element_consistency") * weight_unit(weights)
    if (copies != np.rint(copies)).any() or copies.sum() < 2:
        raise ValueError(
            "weights of element_consistency must be whole numbers ≥ 0 with a sum of at least 2. Got "
            f"{copies.sum():g} as their sum. Give the count of each partition."
        )
    return copies


def _similarities(
    ensemble: Ensemble, weights: NDArray[np.float64], n_jobs: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n,) weighted sum over the pairs of partitions of the similarities of each object, and of the weights."""
    codes, counts, inverse = ensemble.distinct
    columns, n_clusters = np.ascontiguousarray(codes[:].T), np.asarray(ensemble.n_clusters, dtype=np.int64)
    p, (largest, second) = len(columns), np.sort(np.append(n_clusters, 0))[[-1, -2]] + 1

    def of_block(block: int) -> NDArray[np.float64]:
        found = np.zeros((2, columns.shape[1]))
        table = np.empty(largest * second + largest + second, dtype=np.int64)
        for a in range(block, p, BLOCKS):
            check_stopped()
            add_element_similarities(columns, counts, n_clusters, weights, a, table, *found)
        return found

    sums, known = np.zeros((2, columns.shape[1]))
    for found in parallel_map(of_block, range(min(p, BLOCKS)), n_jobs):
        sums += found[0]
        known += found[1]
    return sums[inverse], known[inverse]


def _ratio(sums: NDArray[np.float64], known: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(known > 0, sums / np.where(known > 0, known, 1), np.nan)
