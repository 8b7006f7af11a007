"""The co-association matrix, for those who ask for it, and the histogram of its values, for any number of objects."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage._ensemble import as_ensemble
from ensemblage._parallel import map_rows
from ensemblage._rows import held
from ensemblage._slices import rows_of_slice
from ensemblage._validation import check_weights
from ensemblage.kernels._pairs import associate, pair_histogram

_ADVICE = (
    "Use density, cluster_density or association_counts, which need no matrix; take some objects with rows=; or raise "
    "max_bytes."
)


def coassociation(
    labels: ArrayLike | Any,
    *,
    weights: ArrayLike | None = None,
    rows: Any = None,
    max_bytes: int = 2**31,
) -> NDArray[np.float64]:
    """Share of the partitions that put two objects into one cluster, for every pair of objects (Candel, Eq. 1).

    No method of ensemblage needs this matrix: it is for pictures and for small data.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions, ≥ 0. Default: equal.
    rows : slice, or list or array of int or bool, optional
        The objects to take, in the order wanted. Default: all.
    max_bytes : int, default 2 GiB
        Largest matrix to make, in bytes: 8 n². The default allows 16,384 objects.

    Returns
    -------
    ndarray of shape (n, n)
        Between 0 and 1, symmetric, 1 on the diagonal. Over the partitions that label both objects; 0, with a warning,
        where there is none.

    Raises
    ------
    ValueError
        If the matrix would be larger than ``max_bytes``, or the weights do not fit.

    Warns
    -----
    UserWarning
        If no partition labels some pair of objects.

    Notes
    -----
    O(n² p) time, 8 n² bytes.

    Examples
    --------
    >>> from ensemblage.metrics import coassociation
    >>> coassociation([[0, 0], [0, 1], [1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    ensemble = as_ensemble(labels)
    w = check_weights(weights, ensemble.shape[1], "coassociation")
    codes = (
        held(ensemble.codes, "coassociation", "density or cluster_density") if rows is None else ensemble.codes[rows]
    )
    association, n_unknown = associations(codes, ensemble.n_clusters, w, max_bytes, _ADVICE)
    if n_unknown:
        warnings.warn(
            f"No partition labels both objects of {n_unknown:,} of the {association.size:,} entries of the "
            "co-association matrix: they are 0.",
            UserWarning,
            stacklevel=2,
        )
    return association


def associations(
    codes: NDArray[Any],
    n_clusters: NDArray[np.int64],
    weights: NDArray[np.float64],
    max_bytes: int,
    advice: str,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.float64], int]:
    """`coassociation` of coded rows, and the number of its entries that no partition labels."""
    n = len(codes)
    if 8 * n * n > max_bytes:
        raise ValueError(
            f"The co-association matrix must fit into max_bytes = {_size(max_bytes)}. Got {_size(8 * n * n)} for {n:,} "
            f"objects. {advice}"
        )
    association, absent = np.empty((n, n)), n_clusters.astype(codes.dtype)
    columns = np.ascontiguousarray(codes.T)

    def fill(block: NDArray[Any], out: NDArray[np.float64]) -> int:
        return associate(block, columns, absent, weights, np.empty(n), out)

    size = rows_of_slice(n * codes.shape[1], 64)
    return association, sum(map_rows(fill, (codes, association), n_jobs=n_jobs, size=size))


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes:,} bytes"


def association_counts(labels: ArrayLike | Any) -> NDArray[np.int64]:
    """Count the pairs of objects by the number of partitions that join them: the exact histogram of co-association.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.

    Returns
    -------
    ndarray of int64
        Without missing labels of shape (p + 1,): entry c counts the pairs i < j that c partitions join, whose
        co-association is c / p. With missing labels of shape (p + 1, p + 1): entry (c, m) counts the pairs that c
        partitions join and m label both. Sums to n (n − 1) / 2.

    Notes
    -----
    All pairs of distinct label rows are compared, in blocks: O(m² p) time for m distinct rows, about a second for
    m = 50,000 and p = 50 on two cores, and O(n) memory.

    Examples
    --------
    >>> from ensemblage.metrics import association_counts
    >>> association_counts([[0, 0], [0, 1], [1, 1]])
    array([1, 2, 0])
    """
    ensemble = as_ensemble(labels)
    codes, counts, _ = ensemble.distinct
    held(codes, "association_counts", "density or Discotec with max_pairs=0")
    complete = ensemble.n_missing == 0
    histogram = pair_histogram(codes, counts, ensemble.n_clusters, complete)
    labelled = np.count_nonzero(codes != ensemble.n_clusters, axis=1)
    twins = counts * (counts - 1) // 2
    np.add.at(histogram, (labelled, 0 if complete else labelled), twins)
    return histogram[:, 0] if complete else histogram
