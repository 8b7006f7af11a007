"""Label rows wherever they lie, in blocks; those in memory: codes, or soft memberships in their place; distinct ones.

Distinct rows are found by a hash table that compares whole rows, then a sort of them. Rows that are read block by block
become runs, the distinct rows of one block each. The runs are cut at regular samples of all of them (Shi & Schaeffer,
"Parallel sorting by regular sampling", 1992), so that every piece of the merge fits the memory too, however the rows
are distributed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base import threads
from ensemblage.base.threads import parallel_map, parts_of, row_blocks, thread_count
from ensemblage.kernels._codes import group_rows, pack_rows, sort_ties
from ensemblage.kernels._jit import is_small_work

R = TypeVar("R")

LONGEST_RUN = 4_096
"""Rows with the same first word that a Shell sort orders faster than NumPy sorts everything by every word."""


class DistinctRows(NamedTuple):
    """The distinct rows of a code matrix, in lexicographic order: ``codes[inverse]`` is the matrix."""

    codes: Any
    """(m, p) the distinct rows: `LabelRows`, an array in a run or of `distinct_rows`."""
    counts: NDArray[np.int64]
    """(m,) how often each occurs."""
    inverse: NDArray[Any]
    """(n,) the distinct row of each row."""

    def with_weights(self, weights: NDArray[np.int64]) -> DistinctRows:
        """Those that some row of weight > 0 is, with sums of the weights, (n,), as counts; m is the place of others."""
        counts = np.bincount(self.inverse, weights=weights, minlength=len(self.codes)).astype(np.int64)  # exact < 2⁵³
        kept = np.flatnonzero(counts)
        if len(kept) == len(counts):
            return self._replace(counts=counts)
        place = np.full(len(counts), len(kept), dtype=self.inverse.dtype)
        place[kept] = np.arange(len(kept))
        return DistinctRows(self.codes.take(kept), counts[kept], place[self.inverse])


class LabelRows(ABC):
    """A matrix of codes, (n, p), that is read by rows: ``rows[a:b]`` and ``rows[index array]`` are arrays.

    Memberships stand in the place of codes in `MembershipRows`, whose rows are wider: (n, offsets[p]).
    """

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

    @abstractmethod
    def __getitem__(self, key: Any) -> Any:
        """Rows, or a column, as an array in memory."""

    @abstractmethod
    def take(self, index: NDArray[np.intp] | slice) -> LabelRows:
        """Some rows, in the order of ``index``, or the first ones; they stay where they are while they are many."""

    @abstractmethod
    def columns(self, index: ArrayLike) -> LabelRows:
        """Some columns, in the order of ``index``."""

    @abstractmethod
    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> LabelRows:
        """The codes that ``tables[j]`` gives for those of column j."""

    @abstractmethod
    def distinct(self, radices: NDArray[np.int64]) -> DistinctRows:
        """The distinct rows; codes of column j are below ``radices[j]``."""

    def _as_saved(self) -> tuple[str, dict[str, Any]]:
        """Its name and its parts in the file of a model."""
        return "rows", {"codes": np.asarray(self[:])}

    def state(self, dtype: Any, fill: Any) -> Any:
        """(n,) numbers for `map` to read and write: they lie where the rows lie. ``np.asarray`` brings them here."""
        return np.full(len(self), fill, dtype=dtype)

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
        self.shape, self.dtype, self.array = array.shape, array.dtype, array

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.array if dtype is None else self.array.astype(dtype)

    def take(self, index: NDArray[np.intp] | slice) -> MemoryRows:
        return MemoryRows(self.array[index])

    def columns(self, index: ArrayLike) -> MemoryRows:
        return MemoryRows(np.ascontiguousarray(self.array[:, np.asarray(index, dtype=np.intp)]))

    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> MemoryRows:
        return MemoryRows(recode(self.array, tables, dtype))

    def distinct(self, radices: NDArray[np.int64]) -> DistinctRows:
        codes, counts, inverse = distinct_rows(self.array, radices)
        return DistinctRows(MemoryRows(codes), counts, inverse)


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

    def take(self, index: NDArray[np.intp] | slice) -> MembershipRows:
        return MembershipRows(self.H[index], self.offsets)

    def columns(self, index: ArrayLike) -> MembershipRows:
        blocks = [self.of_partition(j) for j in np.asarray(index, dtype=np.intp).tolist()]
        offsets = np.concatenate([[0], np.cumsum([block.stop - block.start for block in blocks])])
        return MembershipRows(np.hstack([self.H[:, block] for block in blocks]), offsets)

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

    def _as_saved(self) -> tuple[str, dict[str, Any]]:
        return "memberships", {"H": self.H, "offsets": self.offsets}


def in_memory(rows: LabelRows, name: str, instead: str, because: str = "") -> NDArray[Any]:
    """The whole matrix; an error that names the function and what to use instead, if it is not in memory."""
    if not rows.random_access:
        raise ValueError(
            f"{name} must hold all label rows in memory{because}. Got {len(rows):,} rows of {rows.shape[1]} labels "
            f"{rows.where}. Use {instead}, or select objects with ensemble[rows]."
        )
    array: NDArray[Any] = rows[:]
    return array


def on_workers(rows: LabelRows) -> LabelRows:
    """The same rows, on the workers of a `parallel_backend` if there is one."""
    workers = _workers.get()
    return rows if workers is None or not isinstance(rows, MemoryRows) else workers.scatter(rows)


def recode(codes: NDArray[Any], tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    """(n, p) codes looked up in one table per column; the same array, if nothing changes."""
    if codes.dtype == dtype and all(np.array_equal(table, np.arange(len(table))) for table in tables):
        return codes
    new = np.empty(codes.shape, dtype=dtype)
    for j, table in enumerate(tables):
        new[:, j] = table[codes[:, j]]
    return new


def distinct_rows(codes: NDArray[Any], radices: NDArray[np.int64]) -> DistinctRows:
    """Distinct rows of an (n, p) array whose column j has codes below ``radices[j]``.

    O(n p) for the hashing, O(m log m) for the order of the m distinct rows; memory O(n p).
    """
    n, index = len(codes), _index_type(len(codes))
    if codes.size and is_small_work(128 * codes.size):
        return _distinct_by_sorting(codes)
    word, limits = words_of_columns(radices), radices.astype(np.uint64)
    words = np.empty((n, word[-1] + 1), dtype=np.uint64)
    parallel_map(lambda block: pack_rows(codes[block], limits, word, words[block]), row_blocks(n))
    table = np.full(1 << int(2 * n - 1).bit_length(), -1, dtype=index)
    group, first = np.empty(n, dtype=index), np.empty(n, dtype=index)
    m = group_rows(words, table, group, first)
    del table
    first = first[:m]
    words = words[first]
    # NumPy sorts one word far faster than several, and most rows differ in their first.
    order = np.argsort(words[:, 0])
    if not sort_ties(words, order, LONGEST_RUN):
        order = np.lexsort(words.T[::-1])
    rank = np.empty(m, dtype=index)
    rank[order] = np.arange(m, dtype=index)
    inverse = rank[group]
    return DistinctRows(np.take(codes, first[order], axis=0), np.bincount(inverse, minlength=m), inverse)


def order_of_rows(codes: NDArray[Any], radices: NDArray[np.int64]) -> NDArray[np.intp]:
    """(n,) the rows of an (n, p) array in lexicographic order; equal ones as they stand."""
    if is_small_work(128 * codes.size):
        return np.lexsort(codes.T[::-1])
    word = words_of_columns(radices)
    words = np.empty((len(codes), word[-1] + 1), dtype=np.uint64)
    pack_rows(codes, radices.astype(np.uint64), word, words)
    return np.lexsort(words.T[::-1])


def _distinct_by_sorting(codes: NDArray[Any]) -> DistinctRows:
    """`distinct_rows` without a kernel. O(p n log n)."""
    order = np.lexsort(codes.T[::-1])
    ordered = codes[order]
    is_new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    inverse = np.empty(len(codes), dtype=_index_type(len(codes)))
    inverse[order] = np.cumsum(is_new) - 1
    return DistinctRows(ordered[is_new], np.bincount(inverse), inverse)


def words_of_columns(radices: NDArray[np.int64]) -> NDArray[np.intp]:
    """(p,) the 64-bit word of each column: as many columns to a word as fit."""
    word, current, size = np.empty(len(radices), dtype=np.intp), 0, 1
    for j, radix in enumerate(radices.tolist()):
        size *= radix
        if size > 2**64:
            current, size = current + 1, radix
        word[j] = current
    return word


def _index_type(n_rows: int) -> Any:
    return np.int32 if n_rows < 2**31 else np.int64


class Runs(Protocol):
    """The distinct rows of consecutive blocks of rows, one run per block, where the rows lie."""

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """``function(run, *arguments)`` of every run, a `DistinctRows`; the results are brought here."""

    def merge(self, pieces: list[list[slice]]) -> Iterable[tuple[NDArray[np.int64], list[NDArray[Any]]]]:
        """`merge_piece` of every piece, the slices of all runs; the rows stay, their counts and places come here."""

    def merged_rows(self) -> Any:
        """(m, p) the rows of all pieces, one after the other, after `merge`."""


def merge_runs(runs: Runs, n_rows: int) -> DistinctRows:
    """The distinct rows of all runs of ``n_rows`` rows. Here are 8 bytes per row and 8 per row of a run."""
    sizes = runs.each(_size)
    n_runs, index = len(sizes), _index_type(n_rows)
    step = max(1, -(-sum(sizes) // n_runs) // (2 * n_runs))
    samples = sorted(chain.from_iterable(runs.each(_sample, step))) if n_runs > 1 else []
    edges = np.array(runs.each(_edges, samples[n_runs::n_runs]))
    pieces = [list(map(slice, *bounds)) for bounds in pairwise(edges.T.tolist())]
    places, n_distinct = [np.empty(size, dtype=index) for size in sizes], 0
    counts = np.empty(sum(sizes), dtype=np.int64)
    for piece, (of_piece, within) in zip(pieces, runs.merge(pieces), strict=True):
        for place, rows, part in zip(places, piece, within, strict=True):
            place[rows] = n_distinct + part
        counts[n_distinct : n_distinct + len(of_piece)] = of_piece
        n_distinct += len(of_piece)
    counts.resize(n_distinct, refcheck=False)
    inverse, start = np.empty(n_rows, dtype=index), 0
    for place, own in zip(places, runs.each(_inverse), strict=True):
        np.take(place, own, out=inverse[start : start + len(own)])
        start += len(own)
    return DistinctRows(runs.merged_rows(), counts, inverse)


def part_of_run(run: DistinctRows, rows: slice) -> tuple[NDArray[Any], NDArray[Any]]:
    """Some rows of a run, in memory, and their counts."""
    return run.codes[rows], run.counts[rows]


def merge_piece(
    radices: NDArray[np.int64], *parts: tuple[NDArray[Any], NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[np.int64], list[NDArray[Any]]]:
    """Distinct rows of the same piece of every run, their counts, and the place of each run's rows among them."""
    codes, weights = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    if len(parts) == 1:
        return codes, weights, [np.arange(len(codes))]
    rows, _, inverse = distinct_rows(codes, radices)
    counts = np.bincount(inverse, weights=weights, minlength=len(rows)).astype(np.int64)  # exact below 2⁵³
    return rows, counts, np.split(inverse, np.cumsum([len(part) for part, _ in parts])[:-1])


def _size(run: DistinctRows) -> int:
    return len(run.counts)


def _sample(run: DistinctRows, step: int) -> list[tuple[int, ...]]:
    return [tuple(row) for row in run.codes[::step].tolist()]


def _edges(run: DistinctRows, cuts: list[tuple[int, ...]]) -> list[int]:
    """Where the pieces of a run begin, which the cuts begin, and its end."""
    firsts = (bisect_left(range(_size(run)), cut, key=lambda i: tuple(run.codes[i].tolist())) for cut in cuts)
    return [0, *firsts, _size(run)]


def _inverse(run: DistinctRows) -> NDArray[Any]:
    return run.inverse
