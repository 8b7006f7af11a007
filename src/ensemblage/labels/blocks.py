"""Label rows wherever they lie: what algorithms ask of them, and the rows in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.kernels._contingency import add_labels
from ensemblage.kernels._jit import read_only
from ensemblage.kernels._points import embed_rows
from ensemblage.kernels._votes import assign_to_groups, count_contingency
from ensemblage.labels import threads
from ensemblage.labels.distinct import DistinctRows, distinct_rows
from ensemblage.labels.threads import parallel_map, parts_of, row_blocks, thread_count

R = TypeVar("R")


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


class LabelRows(ABC):
    """A matrix of codes, (n, p), that is read by rows: ``rows[a:b]`` and ``rows[index array]`` are arrays."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    random_access = False
    """Whether rows and columns cost no more in any order than in their own; ``rows[:]`` then costs nothing."""
    take_size: int | None = None
    """Rows in no order to take at once, where taking fewer would be slow."""
    where = "in memory"
    """Where they are, in words."""

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype

    def __len__(self) -> int:
        return self.shape[0]

    def check_state(self, n_objects: int, n_bytes: int) -> None:  # noqa: B027  # rows in memory have no limit
        """Refuse work that keeps so many bytes per object, where the memory that was given has no room for them."""

    @abstractmethod
    def __getitem__(self, key: Any) -> Any:
        """Rows, or a column, as an array in memory."""

    @abstractmethod
    def first(self, n_rows: int) -> LabelRows:
        """The first rows."""

    @abstractmethod
    def take(self, index: NDArray[np.intp]) -> LabelRows:
        """Some rows, in the order of ``index``; they stay where they are while they are many."""

    @abstractmethod
    def columns(self, index: ArrayLike) -> LabelRows:
        """Some columns, in the order of ``index``."""

    @abstractmethod
    def with_columns(self, more: LabelRows) -> LabelRows:
        """These columns and, after them, others of the same objects."""

    @abstractmethod
    def behind(self, first: Any) -> LabelRows:
        """These columns behind those of `MemoryRows` of the same objects; what is not in memory stays where it is."""

    @abstractmethod
    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> LabelRows:
        """The codes that ``tables[j]`` gives for those of column j."""

    @abstractmethod
    def distinct(self, radices: NDArray[np.int64]) -> DistinctRows:
        """The distinct rows; codes of column j are below ``radices[j]``."""

    def missing(self, n_clusters: NDArray[np.int64], rows: slice = slice(None)) -> NDArray[np.bool_]:
        """(n, p) where a partition says nothing of an object, of some rows."""
        return np.asarray(self[rows] == n_clusters)

    def profile(
        self,
        clusters: NDArray[Any],
        counts: NDArray[np.int64],
        offsets: NDArray[np.int64],
        n_clusters: int,
        n_jobs: int | None = None,
    ) -> NDArray[Any]:
        """Count, per cluster, the objects with each label: (k, sum(k_i + 1)) int64, Candel's alpha.

        The column ``offsets[j + 1] - 1`` counts the objects that partition j does not label. O(n p) time; memory one
        profile per thread. Of soft partitions it is the mass of each label, in float64. A negative cluster is none.
        """
        shape = (n_clusters, int(offsets[-1]))
        (profile,) = self.add(_add_labels, [shape], offsets, reads=[clusters, counts], n_jobs=n_jobs)
        return profile

    def shared_with(
        self,
        j: int,
        others: NDArray[np.intp],
        counts: NDArray[np.int64],
        offsets: NDArray[np.int64],
        n_jobs: int | None = None,
    ) -> NDArray[Any]:
        """(offsets[p], k_j + 1) objects with each label of the other partitions, by the label of partition j."""
        shape = (int(offsets[-1]), int(offsets[j + 1] - offsets[j]))
        (table,) = self.add(_add_pairs, [shape], j, others, offsets, reads=[counts], n_jobs=n_jobs)
        return table

    def products(self, counts: NDArray[Any], n_jobs: int | None = None) -> NDArray[np.float64] | None:
        """(offsets[p], offsets[p]) masses that any two labels share; None where two of a partition share nothing."""
        return None

    def of_column(self, j: int, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, k) the row of each object's label in a table over those of partition j, whose last one is for missing."""
        return np.asarray(table[self[:, j]])

    def own_shares(self, counts: NDArray[np.int64], sizes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Of each label, (offsets[p],), what objects share with themselves, and how many objects have some of it.

        sizes : (offsets[p],) those of the labels
        """
        return sizes, sizes

    def count_votes(self, labels: LabelVotes) -> NDArray[np.float64]:
        """(n, k) votes of each row's labels for each cluster."""
        codes, votes = self[:], np.zeros((len(self), labels.n_clusters))
        for j in labels.order:
            means = labels.meant[labels.offsets[j] + codes[:, j]]
            voting = np.flatnonzero(means >= 0)
            votes[voting, means[voting]] += labels.weights[j]
        return votes

    def most_voted(self, labels: LabelVotes, n_jobs: int | None) -> NDArray[np.int64]:
        """(n,) the cluster with the most votes, the first one on ties."""
        offsets, order = labels.offsets, labels.order
        places = [np.arange(offsets[j], offsets[j + 1]) for j in order]
        starts = np.concatenate([[0], np.cumsum([len(some) for some in places])])
        votes, meant = np.repeat(labels.weights[order], np.diff(starts)), labels.meant[np.concatenate(places)]
        ones = np.ones(labels.n_clusters)
        clusters = np.empty(len(self), dtype=np.int64)

        def count(codes: Any, clusters: Any) -> None:
            assign_to_groups(codes, starts, meant, votes, ones, np.zeros(len(codes)), clusters)

        self.columns(order).map(count, writes=[clusters], n_jobs=n_jobs)
        return clusters

    def embed(
        self,
        offsets: NDArray[np.int64],
        table: NDArray[np.float64],
        points: NDArray[np.float32],
        least: float,
        n_jobs: int | None,
    ) -> None:
        """Write to ``points``, (n, k), the sum over the rows of ``table`` of each row's labels, divided by its length.

        ``least`` is added to the length. The rows must be in memory.
        """
        map_rows(
            lambda codes, points: embed_rows(codes, offsets, table, points, least), [self[:], points], n_jobs=n_jobs
        )

    def of_labels(self, values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n,) sums of values over the labels of each row; of soft memberships each label as much as it has."""
        sums = np.zeros(len(self))
        for offset, column in zip(offsets, self[:].T, strict=False):
            sums += values[offset + column]
        return sums

    def _as_saved(self) -> tuple[str, dict[str, Any]]:
        """Its name and its parts in the file of a model."""
        return "rows", {"codes": np.asarray(self[:])}

    def harden(self) -> LabelRows:
        """These rows, or of memberships the likeliest labels."""
        return self

    def unwrap(self) -> Any:
        """What a user sees as codes: the array that is in memory, else these rows."""
        return self

    def in_memory(self, name: str, instead: str, because: str = "") -> NDArray[Any]:
        """The whole matrix; an error that names the function and what to use instead, if it is not in memory."""
        if not self.random_access:
            raise ValueError(
                f"{name} must hold all label rows in memory{because}. Got {len(self):,} rows of {self.shape[1]} labels "
                f"{self.where}. Use {instead}, or select objects with ensemble[rows]."
            )
        array: NDArray[Any] = self[:]
        return array

    def gather(self, index: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """An array that has the rows ``index``, and their places in it."""
        return self[index], np.arange(len(index))

    def on_workers(self) -> LabelRows:
        """The same rows, on the workers of a `parallel_backend` if there is one."""
        return self

    def state(self, dtype: Any, fill: Any) -> Any:
        """(n,) numbers for `map` to read and write: they lie where the rows lie. ``np.asarray`` brings them here."""
        return np.full(len(self), fill, dtype=dtype)

    def slices(self, state: Any, slices: Sequence[slice]) -> list[NDArray[Any]]:
        """Several short slices of a `state`, here."""
        return [state[part] for part in slices]

    def map(
        self,
        function: Callable[..., R],
        *shared: Any,
        reads: Sequence[Any] = (),
        writes: Sequence[Any] = (),
        n_jobs: int | None = None,
        size: int | None = None,
    ) -> list[R]:
        """``function(codes, *reads, *writes, *shared)`` for every block of rows; results in order of the blocks.

        ``reads`` and ``writes`` are arrays or states of n rows, given block by block. The function changes nothing but
        ``writes``. Workers are sent an array of ``reads`` once: it must not change before a later call that reads it.
        """
        size = size or threads.BLOCK_ROWS
        if self.random_access and 0 < len(self) <= size:
            return [function(self[:], *reads, *writes, *shared)]
        work = partial(map_blocks, function, shared, size)
        return [result for results in self._run(work, reads, writes, n_jobs, size) for result in results]

    def add(
        self,
        function: Callable[..., object],
        shapes: Sequence[tuple[int, ...]],
        *shared: Any,
        reads: Sequence[Any] = (),
        n_jobs: int | None = None,
    ) -> list[NDArray[np.int64]]:
        """Sums of whole numbers over rows: ``function(codes, *reads, *totals, *shared)`` adds to ``totals``.

        ``shapes`` are those of the totals; each thread has its own, so that they may be large, and threads are few.
        ``reads`` are as in `map`.
        """
        if self.random_access and len(self) <= min(threads.BLOCK_ROWS, threads.LEAST_ROWS):
            totals = [np.zeros(shape, dtype=np.int64) for shape in shapes]
            function(self[:], *reads, *totals, *shared)
            return totals
        work = partial(add_blocks, function, shared, threads.BLOCK_ROWS, list(shapes))
        size = max(-(-len(self) // thread_count(n_jobs)), threads.LEAST_ROWS)
        first, *rest = self._run(work, reads, (), n_jobs, size)
        for totals in rest:
            for total, more in zip(first, totals, strict=True):
                total += more
        return first

    def _run(
        self, work: Callable[..., R], reads: Sequence[Any], writes: Sequence[Any], n_jobs: int | None, size: int
    ) -> list[R]:
        """``work([codes, *reads, *writes], rows)`` for slices of the rows, of ``size`` here; results in their order."""
        arrays = [self, *reads, *writes]
        return parallel_map(lambda rows: work(arrays, rows), row_blocks(len(self), size), n_jobs)


def _add_labels(codes: Any, clusters: Any, counts: Any, profile: Any, offsets: Any) -> None:
    # As one signature: the kernel is compiled once.
    codes, offsets = read_only(codes), read_only(offsets)
    add_labels(codes, clusters.astype(np.int32, copy=False), counts, offsets, profile)


def _add_pairs(codes: Any, counts: Any, table: Any, j: int, others: Any, offsets: Any) -> None:
    count_contingency(codes, counts, j, others, offsets, table)


def map_blocks(
    function: Callable[..., R], shared: tuple[Any, ...], size: int, arrays: Sequence[Any], rows: slice
) -> list[R]:
    """``function(*arrays, *shared)`` for every block of ``size`` of the rows."""
    return [function(*(a[block] for a in arrays), *shared) for block in parts_of(rows, size)]


def add_blocks(
    function: Callable[..., object],
    shared: tuple[Any, ...],
    size: int,
    shapes: list[tuple[int, ...]],
    arrays: Sequence[Any],
    rows: slice,
) -> list[NDArray[np.int64]]:
    """The totals of the given shapes, to which the function adds every block of ``size`` of the rows."""
    totals = [np.zeros(shape, dtype=np.int64) for shape in shapes]
    map_blocks(function, (*totals, *shared), size, arrays, rows)
    return totals


def map_rows(
    function: Callable[..., R], arrays: Sequence[Any], *shared: Any, n_jobs: int | None = None, size: int | None = None
) -> list[R]:
    """``function(*(a[block] for a in arrays), *shared)`` for every block of rows of the arrays, by threads; results in
    order of the blocks.

    ``arrays`` share their first axis. ``function`` may write to the blocks it is given, and should release the GIL.
    """
    if 0 < len(arrays[0]) <= (size or threads.BLOCK_ROWS):
        return [function(*arrays, *shared)]
    tasks = row_blocks(len(arrays[0]), size)
    return parallel_map(lambda block: function(*(a[block] for a in arrays), *shared), tasks, n_jobs)


_workers: ContextVar[Any] = ContextVar("workers", default=None)


class MemoryRows(LabelRows):
    """A code matrix in memory."""

    random_access = True

    def __init__(self, array: NDArray[Any]) -> None:
        self.shape, self.dtype, self._array = array.shape, array.dtype, array

    def __getitem__(self, key: Any) -> Any:
        return self._array[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self._array if dtype is None else self._array.astype(dtype)

    def unwrap(self) -> NDArray[Any]:
        return self._array

    def first(self, n_rows: int) -> MemoryRows:
        return MemoryRows(self._array[:n_rows])

    def take(self, index: NDArray[np.intp]) -> MemoryRows:
        return MemoryRows(self._array[index])

    def gather(self, index: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.intp]]:
        return self._array, index

    def columns(self, index: ArrayLike) -> MemoryRows:
        return MemoryRows(np.ascontiguousarray(self._array[:, np.asarray(index, dtype=np.intp)]))

    def with_columns(self, more: LabelRows) -> LabelRows:
        return more.behind(self)

    def behind(self, first: MemoryRows) -> MemoryRows:
        return MemoryRows(np.column_stack([first.unwrap(), self._array]))

    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> MemoryRows:
        return MemoryRows(recode(self._array, tables, dtype))

    def distinct(self, radices: NDArray[np.int64]) -> DistinctRows:
        codes, counts, inverse = distinct_rows(self._array, radices)
        return DistinctRows(MemoryRows(codes), counts, inverse)

    def on_workers(self) -> LabelRows:
        workers = _workers.get()
        return self if workers is None else workers.scatter(self)


def recode(codes: NDArray[Any], tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    """(n, p) codes looked up in one table per column; the same array, if nothing changes."""
    if codes.dtype == dtype and all(np.array_equal(table, np.arange(len(table))) for table in tables):
        return codes
    new = np.empty(codes.shape, dtype=dtype)
    for j, table in enumerate(tables):
        new[:, j] = table[codes[:, j]]
    return new
