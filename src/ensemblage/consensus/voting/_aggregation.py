"""The aggregated partition Ū (Ayad & Kamel 2010, Sec. 3.1), and the estimators whose clusters are its columns.

The order of the partitions; Ū as a table over labels; its losses; the base class. Ū is the mean of the relabelled
partitions V^i = U^i W^i, with the binary matrix U^i of partition i, (n, k_i), and the coefficients W^i, (k_i, k). None
of the n x k matrices is made: a row of V^i is the row of W^i of the object's label.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.threads import locked_property, row_blocks
from ensemblage.base.validation import check_fitted
from ensemblage.consensus._base import BaseConsensus, InductiveConsensus
from ensemblage.consensus.diagnostics import Diagnostics, Memberships
from ensemblage.consensus.voting._colour_refinement import content_of
from ensemblage.kernels._contingency import tally_clusters
from ensemblage.kernels._table_rows import check_look_ups, whole_lanes
from ensemblage.kernels._votes import mean_votes, sum_by_label
from ensemblage.labels.blocks import LabelRows, MembershipRows, map_rows
from ensemblage.labels.counts import count_shared, likeliest_labels, product, sums_of_memberships
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.links import Units
from ensemblage.labels.rows import Rows
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
    sizes, by_partition, keys, ties = rows.label_sizes(n_jobs), list[NDArray[np.int64]](), list[Any](), False
    for j in range(len(rows.weights)):
        of_j = sizes[rows.of_partition(j)]
        by_partition.append(of_j)
        keys.append((-entropy(np.sort(of_j)),))
        ties |= len(set(of_j.tolist())) < len(of_j)
    if len(set(keys)) < len(keys):
        keys = [(*key, -mean) for key, mean in zip(keys, agreements(rows, n_jobs), strict=True)]
    if not ties and len(set(keys)) == len(keys):
        labels = [np.argsort(-of_j) for of_j in by_partition]
    else:
        content, labels = content_of(replace(rows, codes=likeliest_labels(rows.codes)), sizes, n_jobs), []
        for j, of_j in enumerate(by_partition):
            colours, firsts = content.labels[rows.of_partition(j)].T
            labels.append(np.lexsort((firsts, colours, -of_j)))
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
    return count_shared(rows.codes, j, others, rows.counts, offsets, n_jobs)


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
        """(n, k) rows of Ū for rows of codes, or of soft memberships; NaN where no partition labels. O(n p k)."""
        if codes.dtype.kind == "f":  # the mean of all labels' rows, by the memberships
            with np.errstate(invalid="ignore"):
                return np.asarray(product(codes, self.W) / product(codes, self._of_labels)[:, None])
        out = np.empty((len(codes), self.W.shape[1]))
        check_look_ups(codes, self.offsets, self._pad)
        mean_votes(codes, self.order, self.offsets, self._pad, out)
        return out

    @locked_property
    def _of_labels(self) -> NDArray[np.float64]:
        """(offsets[p],) weight of each label's partition, 0 for missing."""
        weights = np.repeat(self.weights, np.diff(self.offsets))
        weights[self.offsets[1:] - 1] = 0
        return weights

    @locked_property
    def _pad(self) -> NDArray[np.float64]:
        return whole_lanes(np.column_stack([self.W, self._of_labels]), 0)

    def merge(self, groups: NDArray[Any]) -> AggregatedPartition:
        """Ū of groups of clusters: memberships add up."""
        W = np.empty((len(self.W), int(groups.max()) + 1))
        for g in range(W.shape[1]):
            W[:, g] = self.W[:, groups == g].sum(axis=1)
        return replace(self, W=W)


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
    codes, (d, k), scale, offsets = rows.codes, aggregate.W.shape, scale_of(rows), rows.offsets
    if isinstance(codes, MembershipRows):  # Hᵀ Ū

        def means(block: slice) -> NDArray[np.float64]:
            U = np.nan_to_num(aggregate.rows_of(codes[block]))
            return np.column_stack([U, np.square(U).sum(axis=1)]) * rows.counts[block, None]

        products = sums_of_memberships(codes, means, n_jobs).T
        of_labels = np.ascontiguousarray(products[:, :-1])
        return LabelSums(of_labels, products[:, -1], of_labels[: offsets[1]].sum(axis=0))

    def add(codes: Any, counts: Any, sums: Any, squares: Any) -> None:
        for few in row_blocks(len(codes), ROWS_AT_ONCE):
            sum_by_label(codes[few], aggregate.rows_of(codes[few]), counts[few], offsets, scale, sums, squares)

    sums, squares = codes.add(add, [(d, k), (d,)], reads=[rows.counts], n_jobs=n_jobs)
    return LabelSums(sums / scale, squares / scale, sums[: offsets[1]].sum(axis=0) / scale)


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


def number_wanted(estimator: BaseConsensus, rows: Rows, because: str, least_partitions: int = 1) -> int | None:
    """The number of clusters that was given, refused where no partition has as many; None if none was."""
    name, most = type(estimator).__name__, int(rows.n_clusters.max())
    if len(rows.weights) < least_partitions:
        one = " (n_features=1)" if estimator.n_features_in_ == 1 else " with a weight above 0"
        raise ValueError(
            f"{name} must have at least 2 partitions that vote. Got 1{one}. Add partitions, or use that "
            f"partition unchanged."
        )
    k = estimator.n_clusters
    if k is not None and k > most:
        one = " (n_samples=1)" if len(rows) == 1 else ""
        raise ValueError(
            f"n_clusters of {name} must be ≤ the {most} clusters of the largest partition{one}. Got {k}. "
            f"Ask for fewer clusters or add partitions with more: {because}."
        )
    return k


def assign_units(
    rows: Rows, units: Units, clusters: NDArray[Any], votes_of: Callable[[LabelRows], NDArray[np.float64]], owner: str
) -> None:
    """Give the rows that links bind the cluster with the most votes of their unit: in ``clusters``, (m,), itself.

    ``votes_of`` some rows is (b, k), the votes of one object of each.
    """
    votes = votes_of(rows.codes.take(units.bound)) * rows.counts[units.bound, None]
    clusters[units.bound] = units.assign(-votes, owner)


class SoftConsensus(InductiveConsensus):
    """The cluster of an object is the likeliest column of an aggregated partition, the first one on ties."""

    _of_columns: ClassVar[tuple[str, ...]] = ("_cluster_of",)
    """The attributes that hold numbers of clusters, those without objects among them."""

    _rows: Rows
    _votes: AggregatedPartition
    """Its largest entry is the cluster."""
    _cluster_of: NDArray[np.int32]
    """(k,) number of each of its columns as a cluster."""
    _memberships: AggregatedPartition
    """Columns by the numbers of the clusters; rows sum to 1."""

    def _place(self, rows: Rows, votes: AggregatedPartition, memberships: AggregatedPartition) -> NDArray[np.int32]:
        """Cluster of each row, numbered by size, ties by the columns; -1 = none. ``memberships`` are the votes as
        shares.
        """
        self._rows, self._votes = rows.for_model(), votes
        k = votes.W.shape[1]
        column = self._most_likely(rows.codes)
        if rows.units is not None:
            assign_units(rows, rows.units, column, lambda bound: votes.rows_of(bound[:]), type(self).__name__)
        sizes, first = np.zeros(k, dtype=np.int64), np.full(k, -1, dtype=np.int64)
        tally_clusters(column, rows.counts, sizes, first)
        self._cluster_of = np.argsort(np.argsort(-sizes, kind="stable")).astype(np.int32)
        self._memberships = memberships.merge(self._cluster_of)
        return np.append(self._cluster_of, np.int32(-1))[column]

    def _numbers(self, rows: Rows, clusters: NDArray[Any]) -> NDArray[np.int64]:
        return np.arange(int(clusters.max()) + 1)  # numbered already

    def _renumber(self, places: NDArray[np.int64]) -> None:
        super()._renumber(places)
        empty = np.arange(len(places), len(self._cluster_of))
        of_columns = np.append(places, empty).astype(np.int32)
        for name in self._of_columns:
            setattr(self, name, of_columns[getattr(self, name)])
        self._memberships = self._memberships.merge(of_columns)

    def _most_likely(self, codes: LabelRows) -> NDArray[np.int32]:
        """Column of each row, -1 = none."""
        column, votes = np.empty(len(codes), dtype=np.int32), self._votes

        def place(codes: NDArray[Any], column: NDArray[np.int32]) -> None:
            means = votes.rows_of(codes)
            column[:] = np.where(np.isnan(means[:, 0]), -1, means.argmax(axis=1))

        codes.map(place, writes=[column], n_jobs=self.n_jobs)
        return column

    def _diagnostics(self, ensemble: Ensemble, objects: NDArray[np.intp]) -> tuple[Diagnostics, ...]:
        membership, sizes = self.predict_proba(ensemble[objects]), np.ones(len(objects))
        return (Memberships(membership, self.labels_[objects].astype(np.int64), sizes),)

    def _of_objects(self, aggregate: AggregatedPartition) -> NDArray[np.float64]:
        """The row of Ū of every object that was fitted."""
        check_fitted(self)
        rows = self._rows
        soft = np.full((len(rows.inverse), aggregate.W.shape[1]), np.nan)

        def fill(inverse: NDArray[Any], soft: NDArray[np.float64]) -> None:
            labelled = inverse < len(rows)
            soft[labelled] = aggregate.rows_of(rows.codes[inverse[labelled]])

        # Objects are in no order of their rows: rows on disk are read once for each block of objects.
        map_rows(fill, [rows.inverse, soft], n_jobs=self.n_jobs, size=rows.codes.take_size)
        return soft

    @property
    def membership_(self) -> NDArray[np.float64]:
        """Memberships of the objects in the clusters, (n_objects, k): computed at every access."""
        return self._of_objects(self._memberships)

    def _predict_codes(self, codes: LabelRows) -> NDArray[np.int32]:
        return np.append(self._cluster_of, np.int32(-1))[self._most_likely(codes)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Memberships of new label rows in the clusters.

        Parameters
        ----------
        X : array-like, data frame or Ensemble of shape (n_new, n_partitions)
            Columns of a data frame or an Ensemble are found by their names if what was fitted had names too; further
            ones are ignored. A label not seen in ``fit`` counts as missing, with one warning.

        Returns
        -------
        ndarray of shape (n_new, k)
            Rows sum to 1; NaN where no partition votes. Shares of votes, no probabilities of being right.
        """
        codes = self._encode(X)
        return np.concatenate(codes.map(self._memberships.rows_of, n_jobs=self.n_jobs))
