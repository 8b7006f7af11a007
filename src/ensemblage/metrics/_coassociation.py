"""The co-association matrix, for those who ask for it, and the histogram of its values, for any number of objects."""

from __future__ import annotations

import logging
import warnings
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base import threads
from ensemblage.base.indexing import check_slice, row_index
from ensemblage.base.memory import MAX_BYTES, OVERHEAD, check_fits
from ensemblage.base.threads import (
    one_native_thread,
    parallel_map,
    row_blocks,
    rows_per_call,
    run_interruptibly,
    thread_count,
)
from ensemblage.base.validation import check_weights, format_value
from ensemblage.counting._bitmaps import Bitmaps, add_over_pairs, bitmaps_pay
from ensemblage.kernels._graphs import count_entries
from ensemblage.kernels._jit import is_small_work
from ensemblage.kernels._pairs import add_pairs, add_pairs_of_tile, associate, associate_levels
from ensemblage.labels.blocks import MembershipRows, in_memory, map_rows
from ensemblage.labels.ensemble import as_any_ensemble, as_ensemble
from ensemblage.labels.rows import Distinct
from ensemblage.metrics._cluster_weights import check_cluster_weights, table_of_labels

logger = logging.getLogger(__name__)

_ADVICE = (
    "Use density, cluster_density or association_counts, which need no matrix; take some objects with rows=; or raise "
    "max_bytes."
)


def coassociation(
    labels: ArrayLike | Any,
    *,
    weights: ArrayLike | None = None,
    cluster_weights: Any = None,
    objects: Any = None,
    max_bytes: int | str = MAX_BYTES,
) -> NDArray[np.float64]:
    """Use it for up to some thousand objects: the share of partitions that join each pair (Candel, Eq. 1).

    No method of ensemblage needs this matrix: it is for pictures and for small data.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions, ≥ 0. Default: equal.
    cluster_weights : {"eci"}, float or list of array-like, optional
        Weight of each cluster: "eci" or a number θ > 0 is that of `metrics.cluster_weights`, with θ = .4 or that
        number; a list has for each partition the numbers, from 0 to 1, of its clusters in the order of their labels.
        Default: 1.
        A pair that shares a cluster counts as much: LWCA of Huang, Wang & Lai (2018).
    objects : slice, or list or array of int or bool, optional
        The objects to take, in the order wanted. Default: all.
    max_bytes : int or str, default 2 GiB
        Most memory to take beyond the labels, in bytes or as "4GB": the matrix is 8 n² bytes, so the default allows
        about 16,300 objects.

    Returns
    -------
    ndarray of shape (n, n)
        Between 0 and 1, symmetric, 1 on the diagonal, also with ``cluster_weights``. Over the partitions that label
        both objects; 0, with a warning, where there is none.

    Raises
    ------
    ValueError
        If it would take more than ``max_bytes``, or the weights do not fit.

    Warns
    -----
    UserWarning
        If no partition labels some pair of objects.

    Notes
    -----
    O(n² p) time, 8 n² bytes. Of memberships two objects are joined as far as their memberships agree, Σ u v: O(n²
    d) for d clusters of all partitions, 24 n² bytes and twice the memberships.

    Examples
    --------
    >>> from ensemblage.metrics import coassociation
    >>> coassociation([[0, 0], [0, 1], [1, 1]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    ensemble = as_any_ensemble(labels)
    w = check_weights(weights, ensemble.shape[1], "coassociation")
    if isinstance(ensemble.rows, MembershipRows):
        chosen = np.arange(len(ensemble)) if objects is None else _row_numbers(objects, len(ensemble))
        if cluster_weights is not None:
            raise ValueError(
                "cluster_weights of coassociation must be None with memberships: clusters have no labels to weigh. "
                "Got weights. Leave them out."
            )
        n, d = len(chosen), int(ensemble.offsets[-1])
        check_fits(24 * n * n + 16 * n * d, max_bytes, "coassociation", f"the matrix of {n:,} objects", _ADVICE)
        return _warn_of_unknown(*soft_associations(ensemble.rows.take(chosen), w))
    if objects is None:
        codes = in_memory(ensemble.rows, "coassociation", "density or cluster_density")
    else:
        codes = ensemble.codes[_row_numbers(objects, len(ensemble))]
    n, p = codes.shape
    needed = association_bytes(n, p, codes.dtype.itemsize, 8, thread_count(None))
    check_fits(needed, max_bytes, "coassociation", f"the matrix of {n:,} objects", _ADVICE)
    local = None
    if cluster_weights is not None:
        local = table_of_labels(check_cluster_weights(cluster_weights, ensemble, w, "coassociation"))
    association, n_unknown = associations(codes, ensemble.n_clusters, w, local=local)
    if local is not None:
        diagonal = np.einsum("ii->i", association)
        diagonal[(codes < ensemble.n_clusters).any(axis=1)] = 1
    return _warn_of_unknown(association, n_unknown)


def _warn_of_unknown(association: NDArray[np.float64], n_unknown: int) -> NDArray[np.float64]:
    """The matrix, with a warning where entries are not known."""
    if n_unknown:
        warnings.warn(
            f"No partition labels both objects of {n_unknown:,} of the {association.size:,} entries of the "
            "co-association matrix: they are 0.",
            UserWarning,
            stacklevel=3,
        )
    return association


def soft_associations(rows: MembershipRows, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Σ_j w_j u_j · v_j / Σ_j w_j over the partitions with memberships of both objects; 1 with itself."""
    absent = rows.offsets[1:] - 1
    known, joins = 1 - rows.H[:, absent], np.repeat(weights, np.diff(rows.offsets))
    joins[absent] = 0
    with one_native_thread():
        association, pairs = (rows.H * joins) @ rows.H.T, (known * weights) @ known.T
    n_unknown = int(np.count_nonzero(pairs == 0))
    np.divide(association, pairs, out=association, where=pairs > 0)
    np.fill_diagonal(association, known.any(axis=1))
    return association, n_unknown


def _row_numbers(rows: Any, n_objects: int) -> NDArray[np.intp]:
    """Numbers of the objects that a slice, a mask or whole numbers mean."""
    try:
        return (
            np.arange(n_objects)[check_slice(rows, "rows")] if isinstance(rows, slice) else row_index(rows, n_objects)
        )
    except (IndexError, ValueError, TypeError, OverflowError):
        raise ValueError(
            f"rows of coassociation must be a slice, a mask of {n_objects:,} truth values or a list of whole numbers "
            f"from {-n_objects} to {n_objects - 1}. Got {format_value(rows)}. Name objects that are there."
        ) from None


def associations(
    codes: NDArray[Any],
    n_clusters: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_jobs: int | None = None,
    local: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], int]:
    """`coassociation` of coded rows, and the number of its entries that no partition labels.

    ``local`` are weights of the labels, (offsets[p],); with them a pair of equal rows has less than 1.
    """
    n = len(codes)
    association, absent = np.empty((n, n)), n_clusters.astype(codes.dtype)
    joins = np.tile(weights, (n, 1))
    if local is not None:
        joins *= local[codes + np.cumsum(n_clusters + 1) - n_clusters - 1]
    if is_small_work(n**2 * codes.shape[1]):
        return _small_associations(codes, absent, weights, joins)
    columns = np.ascontiguousarray(codes.T)

    def fill(block: NDArray[Any], joins: NDArray[np.float64], out: NDArray[np.float64]) -> int:
        return associate(block, columns, absent, weights, joins, np.empty(n), out)

    size = rows_per_call(n * codes.shape[1], 64)
    return association, sum(map_rows(fill, (codes, joins, association), n_jobs=n_jobs, size=size))


def _small_associations(
    codes: NDArray[Any], absent: NDArray[Any], weights: NDArray[np.float64], joins: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int]:
    """`associations` without a kernel: the sums are added in the same order."""
    joined, labelled = np.zeros((2, len(codes), len(codes)))
    for column, none, weight, own in zip(codes.T, absent, weights, joins.T, strict=True):
        both = np.logical_and.outer(column != none, column != none)
        joined += own[:, None] * (np.equal.outer(column, column) & both)
        labelled += weight * both
    unknown = labelled == 0
    return joined / np.where(unknown, 1, labelled), int(unknown.sum())


MOST_LEVELS = 2**16
"""Different co-associations up to which their numbers are kept: 1 or 2 bytes per pair, not 8."""
COUNTED_ROWS = 64
"""Rows of co-associations that are looked at at once."""


class Associations(NamedTuple):
    """The co-associations of m rows, as numbers of their few different values or as they are."""

    matrix: NDArray[Any]
    """(m, m) number of the value; the co-association itself if ``values`` is empty."""
    values: NDArray[np.float64]
    """Ascending."""

    def rows(self, chosen: Any) -> NDArray[np.float64]:
        """Some rows of the matrix of co-associations."""
        part: NDArray[np.float64] = self.values[self.matrix[chosen]] if len(self.values) else self.matrix[chosen]
        return part

    def counts_up_to(self, limits: NDArray[np.float64]) -> NDArray[np.int64]:
        """Entries at most as large as each of the ascending limits."""
        n_within = np.zeros(len(limits) + 1, dtype=np.int64)
        if len(self.values):
            tables = np.zeros((4, len(self.values)), dtype=np.int64)
            run_interruptibly(count_entries, self.matrix, tables, operations=self.matrix.size)
            np.add.at(n_within, np.searchsorted(limits, self.values), tables.sum(axis=0))
        else:
            for block in row_blocks(len(self.matrix), COUNTED_ROWS):
                places = np.searchsorted(limits, self.matrix[block].ravel())
                n_within += np.bincount(places, minlength=len(n_within))
        return np.cumsum(n_within[:-1])


def levels_of(p: int, complete: bool) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The co-associations there can be with p equal partitions, and their numbers by (joined, labelled).

    The numbers are (p + 1, p + 1), or empty if nothing is missing: then they are the partitions that join the pair.
    """
    joined = np.arange(p + 1)
    if complete:
        return joined / p, np.empty((0, 0), dtype=np.uint8)
    values, index = np.unique(np.minimum.outer(joined, joined) / np.maximum(joined, 1), return_inverse=True)
    return values, index.reshape(p + 1, p + 1).astype(np.min_scalar_type(len(values) - 1))


def bytes_per_pair(codes: NDArray[Any], n_clusters: NDArray[np.int64], weights: NDArray[np.float64]) -> int:
    """Bytes of an entry of the `Associations` of these rows."""
    p = codes.shape[1]
    if (weights != weights[0]).any():
        return 8
    if not (codes == n_clusters).any():
        return int(np.min_scalar_type(p).itemsize)
    # Fractions in lowest terms: about 3 / π² of all pairs; and their table must stay small.
    return 8 if p * p > 3 * MOST_LEVELS else int(levels_of(p, False)[1].itemsize)


def association_bytes(m: int, p: int, code_bytes: int, pair_bytes: int, n_threads: int) -> int:
    """Bytes that `compact_associations` of m rows takes at most: the matrix, the codes turned, work of each thread."""
    return m * m * pair_bytes + 2 * m * p * code_bytes + 24 * m * n_threads + OVERHEAD


def compact_associations(
    codes: NDArray[Any], n_clusters: NDArray[np.int64], weights: NDArray[np.float64], n_jobs: int | None = None
) -> Associations:
    """Co-associations of coded rows in as few bytes as they need: see `bytes_per_pair`."""
    if bytes_per_pair(codes, n_clusters, weights) == 8:
        return Associations(associations(codes, n_clusters, weights, n_jobs)[0], np.empty(0))
    m, p = codes.shape
    values, level_of = levels_of(p, not (codes == n_clusters).any())
    counter = np.min_scalar_type(p)
    matrix = np.empty((m, m), dtype=level_of.dtype if len(level_of) else counter)
    columns, absent = np.ascontiguousarray(codes.T), n_clusters[: p if len(level_of) else 0].astype(codes.dtype)

    def fill(block: NDArray[Any], out: NDArray[Any]) -> None:
        associate_levels(block, columns, absent, level_of, np.empty((2, m), dtype=counter), out)

    map_rows(fill, (codes, matrix), n_jobs=n_jobs, size=rows_per_call(len(codes) * codes.shape[1], 64))
    return Associations(matrix, values)


def association_counts(labels: ArrayLike | Any, *, n_jobs: int | None = None) -> NDArray[np.int64]:
    """Use it for all pairs without an n × n matrix: the exact histogram of the co-association.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    n_jobs : int, optional
        Threads. -1: every core that this process may use; -2: all but one. None: what a ``joblib.parallel_config``
        says; without one every core, or 1 inside a parallel loop of joblib or scikit-learn. The result does not depend
        on it.

    Returns
    -------
    ndarray of int64
        Without missing labels of shape (p + 1,): entry c counts the pairs i < j that c partitions join, whose
        co-association is c / p. With missing labels of shape (p + 1, p + 1): entry (c, m) counts the pairs that c
        partitions join and m label both. Sums to n (n − 1) / 2.

    Notes
    -----
    All pairs of distinct label rows are compared, in blocks: O(m² p) time for m distinct rows, .9 s of
    one core for m = 50,000 and p = 50 (four times as long if labels are missing), O(n) memory, and up to 64 MB of
    bitmaps.

    Examples
    --------
    >>> from ensemblage.metrics._coassociation import association_counts
    >>> association_counts([[0, 0], [0, 1], [1, 1]])
    array([1, 2, 0])
    """
    return pairs_by_association(as_ensemble(labels), n_jobs)


def pairs_by_association(labels: Distinct, n_jobs: int | None = None) -> NDArray[np.int64]:
    """`association_counts` of partitions whose distinct rows are known."""
    codes, counts, _ = labels.distinct
    codes = in_memory(codes, "association_counts", "density or DISCOTEC with max_pairs=0")
    labelled = np.count_nonzero(codes != labels.n_clusters, axis=1)
    complete = bool((labelled == codes.shape[1]).all())
    histogram = pair_histogram(codes, counts, labels.n_clusters, complete, n_jobs)
    duplicates = counts * (counts - 1) // 2
    np.add.at(histogram, (labelled, 0 if complete else labelled), duplicates)
    return histogram[:, 0] if complete else histogram


PAIR_BLOCK = 8_192
"""Rows that one row is compared with at a time: their counters stay in the first-level cache."""


def pair_histogram(
    codes: NDArray[Any],
    counts: NDArray[np.int64],
    n_clusters: NDArray[np.int64],
    complete: bool,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """Pairs of objects in different distinct rows, by the partitions that join and (columns) that label both.

    (p + 1, p + 1) int64; (p + 1, 1), by the partitions that join, if ``complete``. O(m² p) time for m rows, O(m p)
    memory; one histogram per thread.
    """
    m, p = codes.shape
    order = np.argsort(counts, kind="stable")
    if complete and bitmaps_pay(bitmaps := Bitmaps.of(codes[order], counts[order])):
        zeros = [np.zeros((p + 1, 1), np.int64)]
        return add_over_pairs(bitmaps, add_pairs_of_tile, (), zeros, 8 + 2 * p, n_jobs)[0]
    columns = np.ascontiguousarray(codes.T)
    absent = n_clusters[: 0 if complete else p].astype(codes.dtype)
    total = np.zeros((p + 1, 1 if complete else p + 1), dtype=np.int64)
    lock, counter = Lock(), np.min_scalar_type(p)

    def add(rows: slice) -> None:
        logger.info("pairs of label rows: %d to %d of %d with those before", rows.start + 1, rows.stop, m)
        histogram = np.zeros_like(total)
        add_pairs(columns, absent, counts, rows.start, rows.stop, np.empty((2, PAIR_BLOCK), dtype=counter), histogram)
        with lock:
            np.add(total, histogram, out=total)

    # A comparison is a sixteenth of an operation; adding a pair to the histogram is one.
    size = rows_per_call(m * (1 + p // 8), threads.BLOCK_ROWS // 64)
    parallel_map(add, row_blocks(m, size), n_jobs)
    return total
