"""What algorithms count on label rows, hard labels or soft memberships: functions on blocks.

A label of a table over labels has the row ``offsets[j] + code``. Where codes look a row up, memberships multiply: the
sum of the rows of an object's labels is its row of ``H @ table``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.base.threads import SUM_ROWS, one_native_thread, parallel_map, row_blocks
from ensemblage.kernels._contingency import add_labels
from ensemblage.kernels._jit import read_only
from ensemblage.kernels._points import embed_rows
from ensemblage.kernels._votes import assign_to_groups, count_contingency
from ensemblage.labels.blocks import LabelRows, MembershipRows, MemoryRows, map_rows


def count_labels(
    rows: LabelRows,
    clusters: NDArray[Any],
    counts: NDArray[Any],
    offsets: NDArray[np.int64],
    n_clusters: int,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Count, per cluster, the objects with each label: (k, sum(k_i + 1)) int64, Candel's alpha.

    The column ``offsets[j + 1] - 1`` counts the objects that partition j does not label. O(n p) time; memory one table
    per thread. Of soft partitions it is the mass of each label, in float64. A negative cluster is none.
    """
    if isinstance(rows, MembershipRows):
        clusters, places = np.asarray(clusters), np.arange(n_clusters)
        weights = counts.astype(np.float64)
        return sums_of_memberships(rows, lambda b: (clusters[b, None] == places) * weights[b, None], n_jobs)
    (table,) = rows.add(_add_labels, [(n_clusters, int(offsets[-1]))], offsets, reads=[clusters, counts], n_jobs=n_jobs)
    return table


def _add_labels(codes: Any, clusters: Any, counts: Any, table: Any, offsets: Any) -> None:
    # As one signature: the kernel is compiled once.
    codes, offsets = read_only(codes), read_only(offsets)
    add_labels(codes, clusters.astype(np.int32, copy=False), counts, offsets, table)


def label_sizes(
    rows: LabelRows, counts: NDArray[Any], offsets: NDArray[np.int64], n_jobs: int | None = None
) -> NDArray[Any]:
    """(offsets[p],) objects with each label, those without one included; of soft partitions their masses."""
    return np.asarray(count_labels(rows, rows.state(np.int32, 0), counts, offsets, 1, n_jobs)[0])


def places_of_labels(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """(d,) rows of the labels in a table over labels, without those of the missing entries."""
    return np.delete(np.arange(offsets[-1]), offsets[1:] - 1)


def binary_matrix(codes: NDArray[Any], n_clusters: NDArray[np.int64], entries: Any = 1.0) -> csr_array:
    """H, (m, d): an entry, of shape (m, p), where a partition gives a row that label; else 0."""
    labelled, starts = codes < n_clusters, np.concatenate([[0], np.cumsum(n_clusters)])
    indptr = np.concatenate([[0], np.cumsum(labelled.sum(axis=1))])
    columns = (codes + starts[:-1])[labelled]
    shape = len(codes), int(starts[-1])
    return csr_array((np.broadcast_to(entries, labelled.shape)[labelled], columns, indptr), shape=shape)


def sums_of_memberships(
    rows: MembershipRows, make: Callable[[slice], NDArray[np.float64]], n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Zᵀ H, of shape (q, offsets[p]); ``make(block)`` are rows of Z, (b, q). Fixed blocks, added in order."""

    def of_block(block: slice) -> NDArray[np.float64]:
        return np.asarray(make(block).T @ rows.H[block])

    with one_native_thread():
        parts = parallel_map(of_block, row_blocks(len(rows), SUM_ROWS), n_jobs)
    total: Any = parts[0]
    for part in parts[1:]:
        total += part
    return np.asarray(total)


def count_shared(
    rows: LabelRows,
    j: int,
    others: NDArray[np.intp],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """(offsets[p], k_j + 1) objects with each label of the other partitions, by the label of partition j."""
    if isinstance(rows, MembershipRows):
        return shared_masses(rows, counts, n_jobs, rows.of_partition(j))
    shape = (int(offsets[-1]), int(offsets[j + 1] - offsets[j]))
    (table,) = rows.add(_add_pairs, [shape], j, others, offsets, reads=[counts], n_jobs=n_jobs)
    return table


def _add_pairs(codes: Any, counts: Any, table: Any, j: int, others: Any, offsets: Any) -> None:
    count_contingency(codes, counts, j, others, offsets, table)


@overload
def shared_masses(
    rows: MembershipRows, counts: NDArray[Any], n_jobs: int | None = None, columns: slice = ...
) -> NDArray[np.float64]: ...
@overload
def shared_masses(
    rows: LabelRows, counts: NDArray[Any], n_jobs: int | None = None, columns: slice = ...
) -> NDArray[np.float64] | None: ...
def shared_masses(
    rows: LabelRows, counts: NDArray[Any], n_jobs: int | None = None, columns: slice = slice(None)
) -> NDArray[np.float64] | None:
    """Hᵀ diag(counts) H of all soft labels with some, (offsets[p], c): their contingency tables.

    None for hard labels, of which two of one partition share nothing.
    """
    if not isinstance(rows, MembershipRows):
        return None
    H = rows.H
    return np.asarray(sums_of_memberships(rows, lambda block: H[block, columns] * counts[block, None], n_jobs).T)


class SoftTables:
    """Contingency tables of all pairs of soft partitions, as `ContingencyTables` has them."""

    products: NDArray[np.float64]
    offsets: NDArray[np.int64]

    def __init__(self, products: NDArray[np.float64], offsets: NDArray[np.int64]) -> None:
        self.products, self.offsets = products, offsets

    def table(self, i: int, j: int) -> NDArray[np.float64]:
        """Of partitions i and j in any order, the last row and column for missing; i = j: what i shares with itself."""
        rows, columns = (slice(int(self.offsets[b]), int(self.offsets[b + 1])) for b in (i, j))
        return self.products[rows, columns]

    def itself(self, j: int, sizes: NDArray[Any]) -> NDArray[np.float64]:
        """(k_j, k_j) masses that the labels of partition j share with each other."""
        return self.table(j, j)[:-1, :-1]


def own_shares(
    rows: LabelRows,
    counts: NDArray[np.int64],
    sizes: NDArray[Any],
    offsets: NDArray[np.int64],
    n_jobs: int | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of each label, (offsets[p],), what objects share with themselves, and how many objects have some of it.

    sizes : (offsets[p],) those of the labels, which are both for hard labels
    """
    if not isinstance(rows, MembershipRows):
        return sizes, sizes
    squares = MembershipRows(np.square(rows.H), offsets)
    itself = label_sizes(squares, counts, offsets, n_jobs)
    return itself, np.asarray(counts @ (rows.H > 0))


def rows_of_column(rows: LabelRows, j: int, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, k) the row of each object's label in a table over those of partition j, whose last one is for missing."""
    if isinstance(rows, MembershipRows):
        return np.asarray(rows.H[:, rows.of_partition(j)] @ table)
    return np.asarray(table[rows[:, j]])


def sums_of_labels(rows: LabelRows, values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n,) sums of values over the labels of each row; of soft memberships each label as much as it has."""
    if isinstance(rows, MembershipRows):
        return product(rows.H, values)
    sums = np.zeros(len(rows))
    for offset, column in zip(offsets, rows[:].T, strict=False):
        sums += values[offset + column]
    return sums


def embed(
    rows: LabelRows,
    offsets: NDArray[np.int64],
    table: NDArray[np.float64],
    points: NDArray[np.float32],
    least: float,
    n_jobs: int | None,
) -> None:
    """Write to ``points``, (n, k), the sum over the rows of ``table`` of each row's labels, divided by its length.

    ``least`` is added to the length. The rows must be in memory.
    """

    def of_block(block: NDArray[Any], points: NDArray[np.float32]) -> None:
        if not isinstance(rows, MembershipRows):
            embed_rows(block, offsets, table, points, least)
            return
        sums = product(block, table)
        lengths = np.sqrt(np.square(sums).sum(axis=1))[:, None]
        points[:] = np.where(lengths > 0, sums / np.where(lengths > 0, lengths + least, 1), 0)

    map_rows(of_block, [rows[:], points], n_jobs=n_jobs)


class LabelVotes(NamedTuple):
    """What each label of p partitions votes for, in a vote on k clusters."""

    meant: NDArray[np.int64]
    """(offsets[p],) the cluster that each label means, -1 for none."""
    weights: NDArray[np.float64]
    """(p,) votes of each partition."""
    offsets: NDArray[np.int64]
    """(p + 1,) first label of each partition."""
    order: NDArray[np.intp]
    """(p,) the partitions in the order in which votes are added: float sums may differ by rounding."""
    n_clusters: int
    """k."""


def count_votes(rows: LabelRows, labels: LabelVotes) -> NDArray[np.float64]:
    """(n, k) votes of each row's labels for each cluster."""
    if isinstance(rows, MembershipRows):
        means = labels.meant[:, None] == np.arange(labels.n_clusters)
        return product(rows.H, np.repeat(labels.weights, np.diff(labels.offsets))[:, None] * means)
    codes, votes = rows[:], np.zeros((len(rows), labels.n_clusters))
    for j in labels.order:
        means = labels.meant[labels.offsets[j] + codes[:, j]]
        voting = np.flatnonzero(means >= 0)
        votes[voting, means[voting]] += labels.weights[j]
    return votes


def most_voted(rows: LabelRows, labels: LabelVotes, n_jobs: int | None) -> NDArray[np.int64]:
    """(n,) the cluster with the most votes, the first one on ties."""
    if isinstance(rows, MembershipRows):
        return np.asarray(count_votes(rows, labels).argmax(axis=1))
    offsets, order = labels.offsets, labels.order
    places = [np.arange(offsets[j], offsets[j + 1]) for j in order]
    starts = np.concatenate([[0], np.cumsum([len(some) for some in places])])
    votes, meant = np.repeat(labels.weights[order], np.diff(starts)), labels.meant[np.concatenate(places)]
    ones = np.ones(labels.n_clusters)
    clusters = np.empty(len(rows), dtype=np.int64)

    def count(codes: Any, clusters: Any) -> None:
        assign_to_groups(codes, starts, meant, votes, ones, np.zeros(len(codes)), clusters)

    rows.columns(order).map(count, writes=[clusters], n_jobs=n_jobs)
    return clusters


def is_missing(rows: LabelRows, n_clusters: NDArray[np.int64], part: slice = slice(None)) -> NDArray[np.bool_]:
    """(n, p) where a partition says nothing of an object, of some rows."""
    if isinstance(rows, MembershipRows):
        return np.asarray(rows.H[part, rows.offsets[1:] - 1] == 1)
    return np.asarray(rows[part] == n_clusters)


def likeliest_labels(rows: LabelRows) -> LabelRows:
    """These rows, or of memberships the likeliest labels."""
    return MemoryRows(rows.likeliest()) if isinstance(rows, MembershipRows) else rows


def product(H: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """H @ table by one thread of BLAS: so it is the same whatever their number."""
    with one_native_thread():
        return np.asarray(H @ table)


def by_partition(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """The columns of each partition, without that of the missing entry."""
    return [values[:, start : stop - 1] for start, stop in pairwise(offsets.tolist())]
