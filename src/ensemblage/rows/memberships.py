"""Rows of soft memberships: what stands in the place of codes where partitions are soft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.rows.blocks import SUM_ROWS, row_blocks
from ensemblage.rows.distinct import DistinctRows
from ensemblage.rows.memory import MemoryRows
from ensemblage.rows.protocol import LabelRows, LabelVotes, map_rows
from ensemblage.rows.threads import one_native_thread, parallel_map


class MembershipRows(LabelRows):
    """The matrix H of memberships, (n, offsets[p]): ``rows[:]`` and the blocks of `map` are rows of it.

    The columns are those of a table over labels: partition j has ``offsets[j]`` to ``offsets[j + 1] - 1``, the last of
    them 1 where it says nothing of the object, else 0. So what is a look-up of an object's labels for codes, its sum
    over ``table[offsets[j] + code_j]``, is its row of H @ table here; where H holds zeros and ones both are the same.
    """

    random_access = True
    H: NDArray[np.float64]
    offsets: NDArray[np.int64]

    def __init__(self, H: NDArray[np.float64], offsets: NDArray[np.int64]) -> None:
        super().__init__((len(H), len(offsets) - 1), H.dtype)
        self.H, self.offsets = H, offsets

    def __getitem__(self, key: Any) -> Any:
        return self.H[key]

    def first(self, n_rows: int) -> MembershipRows:
        return MembershipRows(self.H[:n_rows], self.offsets)

    def take(self, index: NDArray[np.intp]) -> MembershipRows:
        return MembershipRows(self.H[index], self.offsets)

    def columns(self, index: ArrayLike) -> MembershipRows:
        blocks = [self.of_partition(j) for j in np.asarray(index, dtype=np.intp).tolist()]
        offsets = np.concatenate([[0], np.cumsum([block.stop - block.start for block in blocks])])
        return MembershipRows(np.hstack([self.H[:, block] for block in blocks]), offsets)

    def with_columns(self, more: Any) -> MembershipRows:
        offsets = np.concatenate([self.offsets, self.offsets[-1] + more.offsets[1:]])
        return MembershipRows(np.hstack([self.H, more.H]), offsets)

    def behind(self, first: Any) -> LabelRows:
        raise TypeError("Memberships must be combined with memberships only. Got labels. Give a SoftEnsemble.")

    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> LabelRows:
        raise TypeError("Memberships have no codes.")

    def distinct(self, radices: NDArray[np.int64]) -> DistinctRows:
        """In the order that rows of zeros and ones have as codes."""
        _, first, inverse, counts = np.unique(
            0 - self.H, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        return DistinctRows(self.take(first), counts.astype(np.int64), inverse.reshape(-1))

    def of_partition(self, j: int) -> slice:
        """Its columns, that of the missing entry included."""
        return slice(int(self.offsets[j]), int(self.offsets[j + 1]))

    def likeliest(self) -> NDArray[np.int32]:
        """(n, p) the cluster with the largest membership, the first on ties, as a code."""
        blocks = [self.H[:, self.of_partition(j)].argmax(axis=1) for j in range(self.shape[1])]
        return np.column_stack(blocks).astype(np.int32)

    def missing(self, n_clusters: NDArray[np.int64] | None = None) -> NDArray[np.bool_]:
        return np.asarray(self.H[:, self.offsets[1:] - 1] == 1)

    def sums(self, make: Callable[[slice], NDArray[np.float64]], n_jobs: int | None = None) -> NDArray[np.float64]:
        """Zᵀ H, of shape (q, offsets[p]); ``make(block)`` are rows of Z, (b, q). Fixed blocks, added in order."""

        def product(block: slice) -> NDArray[np.float64]:
            return np.asarray(make(block).T @ self.H[block])

        with one_native_thread():
            parts = parallel_map(product, row_blocks(len(self), SUM_ROWS), n_jobs)
        total: Any = parts[0]
        for part in parts[1:]:
            total += part
        return np.asarray(total)

    def profile(
        self,
        clusters: NDArray[Any],
        counts: NDArray[Any],
        offsets: NDArray[np.int64],
        n_clusters: int,
        n_jobs: int | None = None,
    ) -> NDArray[np.float64]:
        clusters = np.asarray(clusters)

        def members(block: slice) -> NDArray[np.float64]:
            return np.asarray((clusters[block, None] == np.arange(n_clusters)) * counts[block, None].astype(np.float64))

        return self.sums(members, n_jobs)

    def shared_with(
        self,
        j: int,
        others: NDArray[np.intp],
        counts: NDArray[np.int64],
        offsets: NDArray[np.int64],
        n_jobs: int | None = None,
    ) -> NDArray[Any]:
        return self._products(counts, self.of_partition(j), n_jobs)

    def products(self, counts: NDArray[Any], n_jobs: int | None = None) -> NDArray[np.float64]:
        return self._products(counts, slice(None), n_jobs)

    def _products(self, counts: NDArray[Any], columns: slice, n_jobs: int | None) -> NDArray[np.float64]:
        """Hᵀ diag(counts) H of all labels with some, (offsets[p], c): the contingency tables of soft partitions."""
        return np.asarray(self.sums(lambda block: self.H[block, columns] * counts[block, None], n_jobs).T)

    def of_column(self, j: int, table: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.H[:, self.of_partition(j)] @ table)

    def shared_with_itself(self, counts: NDArray[np.int64], sizes: NDArray[Any]) -> NDArray[np.float64]:
        squares, everything = MembershipRows(np.square(self.H), self.offsets), np.zeros(len(self), dtype=np.int32)
        return np.asarray(squares.profile(everything, counts, self.offsets, 1)[0])

    def bearers(self, counts: NDArray[np.int64], sizes: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(counts @ (self.H > 0))

    def count_votes(self, labels: LabelVotes) -> NDArray[np.float64]:
        means = labels.meant[:, None] == np.arange(labels.n_clusters)
        return product(self.H, np.repeat(labels.weights, np.diff(labels.offsets))[:, None] * means)

    def most_voted(self, labels: LabelVotes, n_jobs: int | None) -> NDArray[np.int64]:
        return np.asarray(self.count_votes(labels).argmax(axis=1))

    def embed(
        self,
        offsets: NDArray[np.int64],
        table: NDArray[np.float64],
        points: NDArray[np.float32],
        least: float,
        n_jobs: int | None,
    ) -> None:
        def embed(H: NDArray[np.float64], points: NDArray[np.float32]) -> None:
            sums = product(H, table)
            lengths = np.sqrt(np.square(sums).sum(axis=1))[:, None]
            points[:] = np.where(lengths > 0, sums / np.where(lengths > 0, lengths + least, 1), 0)

        map_rows(embed, [self.H, points], n_jobs=n_jobs)

    def of_labels(self, values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        return product(self.H, values)

    def _as_saved(self) -> tuple[str, dict[str, Any]]:
        return "memberships", {"H": self.H, "offsets": self.offsets}

    def harden(self) -> MemoryRows:
        return MemoryRows(self.likeliest())


def product(H: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """H @ table by one thread of BLAS: so it is the same whatever their number."""
    with one_native_thread():
        return np.asarray(H @ table)


def by_partition(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """The columns of each partition, without that of the missing entry."""
    return [values[:, start : stop - 1] for start, stop in pairwise(offsets.tolist())]


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
