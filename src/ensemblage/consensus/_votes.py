"""Relabelling and aggregation by votes (Ayad & Kamel 2010): Ada-cVote and bVote on contingency tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ensemblage.consensus._base import Rows
from ensemblage.consensus._vote_order import Ballot, check_cells, entropy, tables_beside
from ensemblage.counting._contingency import ContingencyTables, tables_of_rows
from ensemblage.kernels._lanes import check_look_ups, whole_lanes
from ensemblage.kernels._votes import add_votes, mean_votes, sum_by_label, sum_entropies
from ensemblage.rows.blocks import row_blocks
from ensemblage.rows.slices import check_stopped, rows_of_slice

_ROWS_AT_ONCE = 1_024  # their memberships stay in the cache of a core


@dataclass(frozen=True)
class Votes:
    """The aggregated partition Ū as a table over labels: an object's row is the mean of its labels' rows."""

    table: NDArray[np.float64]
    """(offsets[p], k) what each label votes for, times the weight of its partition; 0 for missing."""
    order: NDArray[np.intp]
    """Partitions that vote, in the order in which they did."""
    weights: NDArray[np.float64]
    """(p,)"""
    offsets: NDArray[np.int64]
    """(p + 1,)"""

    def means(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """(n, k) rows of Ū; NaN where no partition votes. O(n p k)."""
        out = np.empty((len(codes), self.table.shape[1]))
        check_look_ups(codes, self.offsets, self._padded)
        mean_votes(codes, self.order, self.offsets, self._padded, out)
        return out

    @cached_property
    def _padded(self) -> NDArray[np.float64]:
        weights = np.repeat(self.weights, np.diff(self.offsets))
        weights[self.offsets[1:] - 1] = 0
        return whole_lanes(np.column_stack([self.table, weights]), 0)

    def merged(self, groups: NDArray[Any]) -> Votes:
        """The votes for groups of clusters: memberships add up."""
        table = [self.table[:, groups == g].sum(axis=1) for g in range(int(groups.max()) + 1)]
        return replace(self, table=np.ascontiguousarray(np.array(table).T))


class LabelSums(NamedTuple):
    """Sums of the aggregated partition's rows over the objects of each label."""

    rows: NDArray[np.float64]
    """(offsets[p], k)"""
    squares: NDArray[np.float64]
    """(offsets[p],) squared lengths."""
    masses: NDArray[np.float64]
    """(k,) column sums of the aggregated partition."""


class VotingLosses(NamedTuple):
    """How far each partition is from the aggregated partition Ū, once relabelled to it."""

    mse: NDArray[np.float64]
    """(p,) mean squared error of the relabelled partition (Ayad & Kamel Eq. 3), over the objects that it labels."""
    error_rate: NDArray[np.float64]
    """(p,) expected share of objects whose cluster in Ū is not the one that the partition says (Sec. 2.3)."""


def cumulative_votes(
    rows: Rows, ballot: Ballot, adaptive: bool, by_divergence: bool, n_jobs: int | None = None
) -> Votes:
    """Ada-cVote (Alg. 2): each label votes for the mean of the aggregate so far over its objects.

    ``ballot.partitions[0]`` is the reference. Each earlier vote counts once: an object that fewer partitions label
    weighs less. A label without any earlier vote on its objects votes as the reference's cluster sizes say.
    """
    check_cells(int(rows.offsets[-1] * (rows.n_clusters.max() + 1)))
    reference, *waiting = ballot.partitions.tolist()
    k, offsets = len(ballot.labels[reference]), rows.offsets
    first = offsets[reference] + ballot.labels[reference]
    prior = ballot.sizes[first] / ballot.sizes[first].sum()
    table, heard, voters = np.zeros((offsets[-1], k)), np.zeros((offsets[-1], k)), np.zeros(offsets[-1])
    table[first] = np.eye(k)
    order = [reference]
    while waiting:
        if adaptive or len(order) == 1:
            _listen(rows, ballot, order[-1], waiting, table, heard, voters, n_jobs)
        j = waiting.pop(_nearest(waiting, ballot, offsets, heard, voters) if by_divergence else 0)
        block = slice(offsets[j], offsets[j + 1] - 1)
        share = voters[block, None]
        table[block] = np.where(share > 0, heard[block] / np.where(share > 0, share, 1), prior)
        order.append(j)
    table *= np.repeat(rows.weights, np.diff(offsets))[:, None]
    return Votes(table, np.array(order), rows.weights, offsets)


def _listen(
    rows: Rows,
    ballot: Ballot,
    j: int,
    waiting: list[int],
    table: NDArray[np.float64],
    heard: NDArray[np.float64],
    voters: NDArray[np.float64],
    n_jobs: int | None,
) -> None:
    """Add partition j's votes to the labels of the partitions that have not voted yet."""
    votes = table[rows.offsets[j] : rows.offsets[j + 1] - 1]
    beside = tables_beside(rows, j, np.array(waiting), n_jobs)
    add_votes(beside, ballot.labels[j], votes, float(rows.weights[j]), heard, voters)


def _nearest(
    waiting: list[int],
    ballot: Ballot,
    offsets: NDArray[np.int64],
    heard: NDArray[np.float64],
    voters: NDArray[np.float64],
) -> int:
    """Place of the partition whose votes have the least Kullback-Leibler divergence from the aggregate so far.

    KL(Ū ‖ V) is H(C | labels) less H(C | X), which is the same for all of them.
    """
    conditional = []
    for j in waiting:
        labels = offsets[j] + ballot.labels[j]
        parts = [n * entropy(votes) for n, votes in zip(voters[labels], heard[labels], strict=True) if n > 0]
        conditional.append(sum(parts) / max(float(voters[labels].sum()), 1e-300))
    return int(np.argmin(conditional))


class Ballots(NamedTuple):
    """What every pass of bVote needs."""

    tables: ContingencyTables
    """Between all partitions, labels in the order of the ballot."""
    ballot: Ballot
    weights: NDArray[np.float64]
    n_columns: int
    """Clusters of the largest partition that votes: smaller ones are padded with dummy clusters."""


def all_tables(rows: Rows, ballot: Ballot, n_jobs: int | None = None) -> Ballots:
    """Contingency tables of all pairs: O(n p²) time, O((Σk_i)² + n p) memory."""
    check_cells(int(rows.offsets[-1]) ** 2 // 2)
    tables = tables_of_rows(rows.codes, rows.counts, rows.n_clusters, n_jobs)
    order = [np.append(labels, len(labels)) for labels in ballot.labels]
    for i, j in combinations(range(len(order)), 2):
        table = tables.table(i, j)
        table[:] = table[np.ix_(order[i], order[j])]
    return Ballots(tables, ballot, rows.weights, max(len(ballot.labels[j]) for j in ballot.partitions))


def bipartite_votes(ballots: Ballots, order: NDArray[np.intp], offsets: NDArray[np.int64]) -> Votes:
    """bVote (Alg. 1): each cluster votes for one column, by the best assignment to the aggregate so far.

    The first reference of Alg. 1 only names the columns: its weight is 0 after the first step.
    """
    matched: dict[int, NDArray[np.intp]] = {}
    table = np.zeros((offsets[-1], ballots.n_columns))
    for i in order.tolist():
        gain = np.zeros((len(ballots.ballot.labels[i]), ballots.n_columns))
        for j, columns in matched.items():
            gain[:, columns] += ballots.weights[j] * ballots.tables.table(i, j)[:-1, :-1]
        matched[i] = linear_sum_assignment(gain, maximize=True)[1]
        table[offsets[i] + ballots.ballot.labels[i], matched[i]] = ballots.weights[i]
    return Votes(table, order, ballots.weights, offsets)


def by_mass(votes: Votes, masses: NDArray[np.float64]) -> Votes:
    """Columns by decreasing mass, without the empty ones (dummy clusters that nobody voted for)."""
    columns = np.argsort(-masses, kind="stable")
    return replace(votes, table=np.ascontiguousarray(votes.table[:, columns[masses[columns] > 0]]))


def sum_labels(rows: Rows, votes: Votes, n_jobs: int | None = None) -> LabelSums:
    """Sum the rows of Ū over the objects of every label, none of them stored: O(n p k), one table per thread."""
    (d, k), scale = votes.table.shape, _scale(rows)
    shapes = [(d, k), (d,)]
    sums, squares = rows.codes.add(_add_labels, shapes, votes, scale, reads=[rows.counts], n_jobs=n_jobs)
    return LabelSums(sums / scale, squares / scale, sums[: rows.offsets[1]].sum(axis=0) / scale)


def _add_labels(codes: Any, counts: Any, sums: Any, squares: Any, votes: Votes, scale: float) -> None:
    for few in row_blocks(len(codes), _ROWS_AT_ONCE):
        sum_by_label(codes[few], votes.means(codes[few]), counts[few], votes.offsets, scale, sums, squares)


def sum_of_entropies(rows: Rows, votes: Votes, n_jobs: int | None = None) -> NDArray[np.float64]:
    """(k, k) sums over the objects: -u log u on the diagonal, (u + v) log(u + v) - u log u - v log v below it.

    O(n k²) logarithms for n objects; memory one (k, k) table per thread.
    """
    k, scale = votes.table.shape[1], _scale(rows)
    (sums,) = rows.codes.add(_add_entropies, [(k, k)], votes, scale, reads=[rows.counts], n_jobs=n_jobs)
    own = np.diag(sums).copy()
    np.fill_diagonal(sums, 0)
    return (np.tril(sums - own[:, None] - own, -1) - np.diag(own)) / scale


def _add_entropies(codes: Any, counts: Any, sums: Any, votes: Votes, scale: float) -> None:
    k = len(sums)
    for few in row_blocks(len(codes), rows_of_slice(2 * k * (k + 1), _ROWS_AT_ONCE)):
        check_stopped()
        sum_entropies(votes.means(codes[few]), counts[few], scale, sums)


def _scale(rows: Rows) -> float:
    """The power of two that makes terms up to 1, summed over all objects, fill an int64, and one term 50 bits."""
    return float(2.0 ** min(62 - int(rows.counts.sum()).bit_length(), 50))


def cumulative_losses(sums: LabelSums, ballot: Ballot, offsets: NDArray[np.int64]) -> VotingLosses:
    """Losses of the least-squares relabelling: each label becomes the mean of Ū over its objects."""

    def losses(rows: NDArray[np.float64], squares: NDArray[np.float64]) -> tuple[float, float]:
        sizes = rows.sum(axis=1)
        explained = np.square(rows).sum(axis=1) / np.where(sizes > 0, sizes, 1)
        return squares.sum() - explained.sum(), sizes.sum() - rows.max(axis=1).sum()

    return _losses(sums, ballot, offsets, losses)


def bipartite_losses(sums: LabelSums, ballot: Ballot, offsets: NDArray[np.int64]) -> VotingLosses:
    """Losses of the best one-to-one relabelling, matched to Ū itself (Eq. 6)."""

    def losses(rows: NDArray[np.float64], squares: NDArray[np.float64]) -> tuple[float, float]:
        width = max(rows.shape)
        gain = np.zeros((len(rows), width))
        gain[:, : rows.shape[1]] = rows
        agreed = gain[linear_sum_assignment(gain, maximize=True)].sum()
        return squares.sum() - 2 * agreed + rows.sum(), rows.sum() - agreed

    return _losses(sums, ballot, offsets, losses)


def _losses(sums: LabelSums, ballot: Ballot, offsets: NDArray[np.int64], losses: Any) -> VotingLosses:
    found = np.empty((2, len(offsets) - 1))
    for j in range(found.shape[1]):
        labels = offsets[j] + ballot.labels[j]
        n = sums.rows[labels].sum()
        found[:, j] = np.maximum(losses(sums.rows[labels], sums.squares[labels]), 0) / n if n > 0 else np.nan
    return VotingLosses(*found)
