"""The aggregated partition Ū (Ayad & Kamel 2010, Sec. 3.1): its table over labels, its losses, the partitions' order.

Ū is the mean of the relabelled partitions V^i = U^i W^i, with the binary matrix U^i of partition i, (n, k_i), and the
coefficients W^i, (k_i, k). None of the n x k matrices is made: a row of V^i is the row of W^i of the object's label.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.cached import once
from ensemblage.consensus._short_tables import check_look_ups, whole_lanes
from ensemblage.consensus.voting._colour_refinement import content_of
from ensemblage.kernels._votes import mean_votes, sum_by_label
from ensemblage.labels.blocks import LabelRows
from ensemblage.labels.rows import Rows
from ensemblage.labels.soft import MembershipRows, product
from ensemblage.labels.threads import row_blocks
from ensemblage.metrics._agreement import agreement_matrix, weighted_mean

ROWS_AT_ONCE = 1_024
"""Rows of Ū that are made at once: they stay in the cache of a core."""
_MOST_CELLS = 2**28  # two gigabytes


class PartitionOrder(NamedTuple):
    """The partitions and their labels, in an order that does not depend on names and places."""

    partitions: NDArray[np.intp]
    """By decreasing entropy."""
    labels: list[NDArray[np.intp]]
    """Per partition its codes, by decreasing cluster size."""
    sizes: NDArray[np.int64]
    """(offsets[p],) objects of each label."""


def order_by_entropy(rows: Rows, n_jobs: int | None = None) -> PartitionOrder:
    """Order the partitions by decreasing entropy (Alg. 2, line 1) and the labels by decreasing size.

    Partitions of equal entropy go by decreasing agreement with all of them. Those that still tie, and labels of equal
    size, go by `content_of`: an order without meaning that depends on neither names nor places, but of what nothing
    else tells apart. O(n p), and with ties up to O(n p²) more.
    """
    sizes = rows.label_sizes(n_jobs)
    blocks = [rows.of_partition(j) for j in range(len(rows.weights))]
    by_partition = [sizes[block] for block in blocks]
    keys: list[tuple[Any, ...]] = [(-entropy(np.sort(s)),) for s in by_partition]
    if len(set(keys)) < len(keys):
        keys = [(*key, -mean) for key, mean in zip(keys, agreements(rows, n_jobs), strict=True)]
    if len(set(keys)) == len(keys) and all(len(np.unique(s)) == len(s) for s in by_partition):
        labels = [np.argsort(-s) for s in by_partition]
    else:
        content = content_of(replace(rows, codes=rows.codes.harden()), sizes, n_jobs)
        of_labels = [content.labels[block].T for block in blocks]
        labels = [np.lexsort((first, colour, -s)) for s, (colour, first) in zip(by_partition, of_labels, strict=True)]
        keys = [key + more for key, more in zip(keys, content.partitions, strict=True)]
    return PartitionOrder(np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp), labels, sizes)


def agreements(rows: Rows, n_jobs: int | None = None) -> NDArray[np.float64]:
    """(p,) weighted mean adjusted Rand index of each partition with all of them, itself included.

    So a weight of 2 is the partition twice. Of two partitions the objects count that both label. Sums are exact: means
    of the same numbers in any order are equal. O(m p²) for m distinct rows.
    """
    return np.array([weighted_mean(row, rows.weights) for row in agreement_matrix(rows, "ari", n_jobs=n_jobs)])


def entropy(masses: NDArray[Any]) -> float:
    """Shannon entropy in nats of the distribution proportional to ``masses``."""
    share = masses[masses > 0] / masses.sum()
    return float(-(share * np.log(share)).sum()) + 0.0


def check_cells(cells: int) -> None:
    """Refuse a table that does not fit, before it is made."""
    if cells > _MOST_CELLS:
        raise ValueError(
            f"Voting must keep its contingency tables below {_MOST_CELLS:,} cells. Got {cells:,}. "
            "Leave out the partitions with the most clusters: they may be ids of the objects."
        )


def contingency_with(rows: Rows, j: int, others: NDArray[np.intp], n_jobs: int | None = None) -> NDArray[Any]:
    """N^ij = U^iᵀ U^j of partition j with others i, one below the other: objects by (label, code of j).

    (offsets[p], k_j + 1). O(n) per partition; memory one such table per thread.
    """
    offsets, shape = rows.offsets, (int(rows.offsets[-1]), int(rows.n_clusters[j]) + 1)
    check_cells(shape[0] * shape[1])
    return rows.codes.shared_with(j, others, rows.counts, offsets, n_jobs)


@dataclass(frozen=True)
class AggregatedPartition:
    """Ū as a table over labels: an object's row is the mean of its labels' rows."""

    W: NDArray[np.float64]
    """(offsets[p], k) rows of W^1, ..., W^b, times the weight of their partition; 0 for missing."""
    order: NDArray[np.intp]
    """The partitions in the order in which they were aggregated."""
    weights: NDArray[np.float64]
    """(p,)"""
    offsets: NDArray[np.int64]
    """(p + 1,)"""

    def rows_of(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """(n, k) rows of Ū; NaN where no partition labels. O(n p k)."""
        out = np.empty((len(codes), self.W.shape[1]))
        check_look_ups(codes, self.offsets, self._pad)
        mean_votes(codes, self.order, self.offsets, self._pad, out)
        return out

    @once
    def _of_labels(self) -> NDArray[np.float64]:
        """(offsets[p],) weight of each label's partition, 0 for missing."""
        weights = np.repeat(self.weights, np.diff(self.offsets))
        weights[self.offsets[1:] - 1] = 0
        return weights

    @once
    def _pad(self) -> NDArray[np.float64]:
        return whole_lanes(np.column_stack([self.W, self._of_labels]), 0)

    def merge(self, groups: NDArray[Any]) -> AggregatedPartition:
        """Ū of groups of clusters: memberships add up."""
        W = [self.W[:, groups == g].sum(axis=1) for g in range(int(groups.max()) + 1)]
        return replace(self, W=np.ascontiguousarray(np.array(W).T))


class SoftAggregate(AggregatedPartition):
    """The same for rows of soft memberships: an object's row is the mean of all labels' rows, by its memberships."""

    def rows_of(self, H: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = product(H, self.W)
        with np.errstate(invalid="ignore"):
            return np.asarray(sums / product(H, self._of_labels)[:, None])


@singledispatch
def aggregate_with(codes: LabelRows, aggregate: AggregatedPartition) -> AggregatedPartition:
    """The aggregated partition as rows of this kind are looked up in it."""
    return aggregate


@aggregate_with.register
def _(codes: MembershipRows, aggregate: AggregatedPartition) -> SoftAggregate:
    return SoftAggregate(aggregate.W, aggregate.order, aggregate.weights, aggregate.offsets)


class LabelSums(NamedTuple):
    """Sums of the rows of Ū over the objects of each label."""

    rows: NDArray[np.float64]
    """(offsets[p], k), U^iᵀ Ū of every partition, one below the other"""
    squares: NDArray[np.float64]
    """(offsets[p],) squared lengths."""
    masses: NDArray[np.float64]
    """(k,) column sums of Ū."""


def sum_labels(rows: Rows, aggregate: AggregatedPartition, n_jobs: int | None = None) -> LabelSums:
    """Sum the rows of Ū over the objects of every label, none of them stored: O(n p k), one table per thread."""
    return _sum_labels(rows.codes, rows, aggregate_with(rows.codes, aggregate), n_jobs)


@singledispatch
def _sum_labels(codes: LabelRows, rows: Rows, aggregate: AggregatedPartition, n_jobs: int | None) -> LabelSums:
    (d, k), scale, offsets = aggregate.W.shape, scale_of(rows), rows.offsets

    def add(codes: Any, counts: Any, sums: Any, squares: Any) -> None:
        for few in row_blocks(len(codes), ROWS_AT_ONCE):
            sum_by_label(codes[few], aggregate.rows_of(codes[few]), counts[few], offsets, scale, sums, squares)

    sums, squares = codes.add(add, [(d, k), (d,)], reads=[rows.counts], n_jobs=n_jobs)
    return LabelSums(sums / scale, squares / scale, sums[: rows.offsets[1]].sum(axis=0) / scale)


@_sum_labels.register
def _(codes: MembershipRows, rows: Rows, aggregate: AggregatedPartition, n_jobs: int | None) -> LabelSums:
    # Hᵀ Ū.
    def means(block: slice) -> NDArray[np.float64]:
        U = np.nan_to_num(aggregate.rows_of(codes[block]))
        return np.column_stack([U, np.square(U).sum(axis=1)]) * rows.counts[block, None]

    sums = codes.sums(means, n_jobs).T
    of_labels = np.ascontiguousarray(sums[:, :-1])
    return LabelSums(of_labels, sums[:, -1], of_labels[: codes.offsets[1]].sum(axis=0))


def scale_of(rows: Rows) -> float:
    """The power of two that makes terms up to 1, summed over all objects, fill an int64, and one term 50 bits."""
    return float(2.0 ** min(62 - int(rows.counts.sum()).bit_length(), 50))


class VotingLosses(NamedTuple):
    """How far each partition is from the aggregated partition Ū, once relabelled to it."""

    mse: NDArray[np.float64]
    """(p,) mean squared error of the relabelled partition (Ayad & Kamel Eq. 3), over the objects that it labels."""
    error_rate: NDArray[np.float64]
    """(p,) expected share of objects whose cluster in Ū is not the one that the partition says (Sec. 2.3)."""


def relabelling_losses(
    sums: LabelSums,
    order: PartitionOrder,
    offsets: NDArray[np.int64],
    losses: Callable[..., tuple[float, float]],
    products: NDArray[np.float64] | None = None,
) -> VotingLosses:
    """The losses of Eq. 6's terms: each partition is relabelled to Ū in the way that ``losses`` knows.

    It gets a partition's part of `LabelSums.rows` and of ``squares``, and of ``products``, those of soft partitions.
    """
    found = np.empty((2, len(offsets) - 1))
    for j in range(found.shape[1]):
        labels = offsets[j] + order.labels[j]
        n = sums.rows[labels].sum()
        own = () if products is None else (products[np.ix_(labels, labels)],)
        found[:, j] = np.maximum(losses(sums.rows[labels], sums.squares[labels], *own), 0) / n if n > 0 else np.nan
    return VotingLosses(*found)
