"""Label rows on the workers of a Dask cluster, and the workers for rows that are in memory."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.threads import SUM_ROWS, row_blocks
from ensemblage.base.validation import format_value
from ensemblage.labels.blocks import (
    DistinctRows,
    LabelRows,
    MemoryRows,
    R,
    _workers,
    distinct_rows,
    merge_piece,
    merge_runs,
    part_of_run,
    recode,
)
from ensemblage.labels.disk import BlockRows, small_in_memory

LOST = ("CancelledError", "FutureCancelledError", "KilledWorker", "FuturesCancelledError", "CommClosedError")
"""What Dask raises when workers are gone, or with them data that only they had."""
ATTEMPTS = 3
"""How often work is submitted when workers are lost together with data that only they had."""
SMALL_BYTES = 2**24
"""Distinct rows are brought here if they take at most so much."""
MOST_ROWS = 2**23
"""Rows of the largest block of distinct rows. Few blocks, for every call costs two tasks per block."""


class LostWorkersError(RuntimeError):
    """Workers were lost together with something that nothing can make again."""


@contextmanager
def _explained_loss(*also: type[Exception]) -> Iterator[None]:
    """Say in one sentence that workers were lost, whatever error of Dask that ends in: one of ``LOST``, or ``also``."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ not in LOST and not isinstance(error, also):
            raise
        raise LostWorkersError(
            "Workers of the Dask cluster must keep running while they hold label rows. "
            f"Got {type(error).__name__}: one was lost or ran out of memory. Fit again, with more memory per worker."
        ) from None


def gather(client: Any, futures: Any) -> Any:
    """The results of tasks, brought here."""
    with _explained_loss():
        return client.gather(futures)


def send(client: Any, array: NDArray[Any]) -> Any:
    """Send an array to a worker; the future of it."""
    # The scheduler looks up the worker when it has the data: one that was lost meanwhile is a KeyError, one that does
    # not answer an OSError. No task runs here whose own errors these could be.
    with _explained_loss(KeyError, OSError):
        return client.scatter(array, hash=False)


def scatter(client: Any, array: NDArray[Any], slices: Sequence[slice]) -> list[Any]:
    """Blocks of an array, sent to the workers."""
    return [send(client, array[rows]) for rows in slices]


class Blocks:
    """Consecutive blocks of rows on the workers, ``futures[i]`` from row ``edges[i]`` on."""

    client: Any
    futures: list[Any]
    edges: NDArray[np.int64]

    def __init__(self, client: Any, futures: list[Any], edges: NDArray[np.int64]) -> None:
        self.client, self.futures, self.edges = client, futures, edges

    def submit(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False, **options)

    def map(self, function: Callable[..., Any], futures: Iterable[Any], *arguments: Any) -> list[Any]:
        """Futures of ``function(future, *arguments)``."""
        return [self.submit(function, future, *arguments) for future in futures]

    def gather(self, function: Callable[..., Any], futures: Iterable[Any], *arguments: Any) -> list[Any]:
        """``function(future, *arguments)`` of some futures, brought here."""
        results: list[Any] = gather(self.client, self.map(function, futures, *arguments))
        return results

    @property
    def slices(self) -> list[slice]:
        return [slice(a, b) for a, b in pairwise(self.edges.tolist())]

    def overlapping(self, rows: slice) -> list[Any]:
        """Futures of the parts of all blocks that have some of the rows."""
        (start, stop, _), parts = rows.indices(int(self.edges[-1])), []
        for future, block in zip(self.futures, self.slices, strict=True):
            a, b = max(block.start, start), min(block.stop, stop)
            if a < b:
                parts.append(self.submit(part_of, future, slice(a - block.start, b - block.start)))
        return parts

    def read(self, slices: Sequence[slice]) -> list[NDArray[Any]]:
        """Several slices of rows, none of them empty, brought here in one go."""
        return [np.concatenate(parts) for parts in gather(self.client, [self.overlapping(rows) for rows in slices])]

    def rechunk(self, size: int) -> Blocks:
        """The same rows in blocks of ``size`` rows, dealt out to the workers; only the last one has fewer."""
        workers = cycle([address for address, threads in self.client.nthreads().items() for _ in range(threads)])
        slices = row_blocks(int(self.edges[-1]), size)
        blocks = [
            self.submit(concatenate, *self.overlapping(rows), workers=[next(workers)], allow_other_workers=True)
            for rows in slices
        ]
        return Blocks(self.client, blocks, np.array([0, *(rows.stop for rows in slices)]))


class RemoteRows(BlockRows):
    """A code matrix on the workers."""

    where = "on a Dask cluster"
    blocks: Blocks

    def __init__(self, blocks: Blocks, n_columns: int, dtype: np.dtype[Any]) -> None:
        super().__init__((int(blocks.edges[-1]), n_columns), dtype)
        self.blocks = blocks
        self._scattered: dict[int, tuple[Any, list[Any]]] = {}

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        return self.blocks.read([slice(start, stop)])[0] if start < stop else np.empty((0, self.shape[1]), self.dtype)

    def _column(self, rows: Any, column: int) -> NDArray[Any]:
        if rows != slice(None):
            return super()._column(rows, column)
        return np.concatenate(self.blocks.gather(column_of, self.blocks.futures, column))

    def _take(self, index: NDArray[Any]) -> NDArray[Any]:
        block = np.searchsorted(self.blocks.edges, index, side="right") - 1
        taken = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        places = {b: np.flatnonzero(block == b) for b in np.unique(block).tolist()}
        parts = [
            self.blocks.submit(itemgetter(index[rows] - self.blocks.edges[b]), self.blocks.futures[b])
            for b, rows in places.items()
        ]
        for rows, part in zip(places.values(), gather(self.blocks.client, parts), strict=True):
            taken[rows] = part
        return taken

    def map_blocks(
        self, function: Callable[..., Any], n_columns: int, dtype: np.dtype[Any], *arguments: Any
    ) -> RemoteRows:
        """The matrix with a function applied to every block, on the workers."""
        futures = self.blocks.map(function, self.blocks.futures, *arguments)
        return RemoteRows(Blocks(self.blocks.client, futures, self.blocks.edges), n_columns, dtype)

    def take(self, index: NDArray[np.intp] | slice) -> LabelRows:
        if not isinstance(index, slice):
            return super().take(index)
        n_rows = len(range(len(self))[index])
        edges = np.append(self.blocks.edges[self.blocks.edges < n_rows], n_rows)
        *futures, last = self.blocks.futures[: len(edges) - 1]
        last = self.blocks.submit(part_of, last, slice(0, int(edges[-1] - edges[-2])))
        return RemoteRows(Blocks(self.blocks.client, [*futures, last], edges), self.shape[1], self.dtype)

    def columns(self, index: ArrayLike) -> RemoteRows:
        chosen = np.asarray(index, dtype=np.intp)
        return self.map_blocks(columns_of, len(chosen), self.dtype, chosen)

    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> RemoteRows:
        return self.map_blocks(recode, self.shape[1], dtype, tables, dtype)

    def distinct(self, radices: NDArray[np.int64]) -> DistinctRows:
        codes, counts, inverse = merge_runs(RemoteRuns(self, radices), len(self))
        return DistinctRows(small_in_memory(codes, SMALL_BYTES), counts, inverse)

    def state(self, dtype: Any, fill: Any) -> RemoteState:
        full = [Full(rows.stop - rows.start, fill, np.dtype(dtype)) for rows in self.blocks.slices]
        return RemoteState(Blocks(self.blocks.client, full, self.blocks.edges), np.dtype(dtype))

    def _run(
        self, work: Callable[..., R], reads: Sequence[Any], writes: Sequence[Any], n_jobs: int | None, size: int
    ) -> list[R]:
        """The base class's, on every block. Arrays are sent, and what changed in ``writes`` comes back; states stay."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._submit(work, reads, writes)
            except LostWorkersError:
                # Data sent from here are lost with the worker that has them: they are sent again.
                self._scattered.clear()
                if attempt == ATTEMPTS:
                    raise
        raise AssertionError

    def _submit(self, work: Callable[..., R], reads: Sequence[Any], writes: Sequence[Any]) -> list[R]:
        # Dask would pickle the function once per task, and results array by array: that takes longer than the rest.
        import cloudpickle  # type: ignore[import-untyped]

        blocks = self.blocks
        remote = [isinstance(array, RemoteState) for array in writes]
        packed = cloudpickle.dumps((work, remote))
        arguments = [blocks.futures, *map(self._scatter_once, reads)]
        arguments += [a.blocks.futures if there else self._scatter(a) for a, there in zip(writes, remote, strict=True)]
        tasks = [blocks.submit(run_on_block, packed, *block) for block in zip(*arguments, strict=True)]
        results = blocks.map(itemgetter(0), tasks)
        changed = [] if all(remote) else blocks.map(itemgetter(1), tasks)
        found, back = gather(blocks.client, results), gather(blocks.client, changed)
        for j, (array, there) in enumerate(zip(writes, remote, strict=True)):
            if there:
                array.blocks = Blocks(blocks.client, [(task, j) for task in tasks], blocks.edges)
            for rows, new in zip(blocks.slices, back, strict=False):
                if j in new:
                    array[rows] = new[j]
        return [pickle.loads(result) for result in found]

    def _scatter_once(self, array: Any) -> list[Any]:
        """The blocks of an array on the workers that is only read: one that is here is sent once."""
        if isinstance(array, RemoteState):
            return array.blocks.futures
        known = self._scattered.get(id(array))
        if known is None or known[0]() is not array:
            key, forget = id(array), self._scattered.pop
            known = weakref.ref(array, lambda _: forget(key, None)), self._scatter(array)
            self._scattered[key] = known
        return known[1]

    def _scatter(self, array: NDArray[Any]) -> list[Any]:
        return scatter(self.blocks.client, array, self.blocks.slices)


class RemoteRuns:
    """Runs on the workers, one per block of rows. Pieces are joined to blocks of a multiple of `SUM_ROWS` rows, so that
    float sums are cut as in memory.
    """

    rows: RemoteRows
    blocks: Blocks
    radices: NDArray[np.int64]
    runs: list[Any]
    merged: Blocks

    def __init__(self, rows: RemoteRows, radices: NDArray[np.int64]) -> None:
        self.rows, self.blocks, self.radices = rows, rows.blocks, radices
        self.runs = self.blocks.map(distinct_rows, self.blocks.futures, radices)

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return self.blocks.gather(function, self.runs, *arguments)

    def merge(self, pieces: list[list[slice]]) -> Iterable[tuple[NDArray[np.int64], list[NDArray[Any]]]]:
        submit = self.blocks.submit
        merged = [
            submit(merge_piece, self.radices, *map(submit, [part_of_run] * len(piece), self.runs, piece))
            for piece in pieces
        ]
        counts = self.blocks.gather(itemgetter(1), merged)
        edges = np.concatenate([[0], np.cumsum([len(c) for c in counts])])
        self.merged = Blocks(self.blocks.client, self.blocks.map(itemgetter(0), merged), edges)
        return zip(counts, self.blocks.gather(itemgetter(2), merged), strict=True)

    def merged_rows(self) -> RemoteRows:
        per_thread = -(-int(self.merged.edges[-1]) // sum(self.blocks.client.nthreads().values()))
        size = max(1, -(-min(per_thread, MOST_ROWS) // SUM_ROWS)) * SUM_ROWS
        return RemoteRows(self.merged.rechunk(size), self.rows.shape[1], self.rows.dtype)


class Full(NamedTuple):
    """A block of a state that nobody has written to yet: numpy.full of these."""

    size: int
    value: Any
    dtype: np.dtype[Any]


class RemoteState:
    """One number per row, on the workers: a block is a `Full`, or what a task left, or one of the things it left."""

    shape: tuple[int]
    dtype: np.dtype[Any]
    blocks: Blocks

    def __init__(self, blocks: Blocks, dtype: np.dtype[Any]) -> None:
        self.blocks, self.dtype = blocks, dtype
        self.shape = (int(blocks.edges[-1]),)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        return self.blocks.read([rows])[0]

    def read(self, slices: Sequence[slice]) -> list[NDArray[Any]]:
        return self.blocks.read(slices)

    def __setitem__(self, row: int, value: Any) -> None:
        edges, futures = self.blocks.edges, list(self.blocks.futures)
        block = int(np.searchsorted(edges, row, side="right")) - 1
        futures[block] = self.blocks.submit(set_item, futures[block], row - int(edges[block]), value)
        self.blocks = Blocks(self.blocks.client, futures, edges)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = self[:]
        return values if dtype is None else values.astype(dtype)


# -- What workers do --------------------------------------------------------------------------------------------------


def run_on_block(packed: bytes, *blocks: Any) -> tuple[bytes, dict[int, Any], dict[int, Any]]:
    """The result of the work on a block of rows; by place in ``writes``, which come last: the arrays that changed, and
    the states.
    """
    work, remote = pickle.loads(packed)
    arrays = list(map(as_array, blocks))
    # What a worker holds must not change: another task may need it, or the same one again.
    for i, block in enumerate(blocks[len(blocks) - len(remote) :], start=len(blocks) - len(remote)):
        arrays[i] = arrays[i] if isinstance(block, Full) else arrays[i].copy()
    result = work(arrays, slice(0, len(arrays[0])))
    changed, states = {}, {}
    for j, there in enumerate(remote):
        new, old = arrays[j - len(remote)], blocks[j - len(remote)]
        if there:
            states[j] = new
        elif not np.array_equal(new.view(np.uint8), old.view(np.uint8)):
            changed[j] = new
    return pickle.dumps(result), changed, states


def as_array(block: Any) -> Any:
    """The array that a block of a state stands for; an array stands for itself."""
    if isinstance(block, Full):
        return np.full(block.size, block.value, dtype=block.dtype)
    if isinstance(block, tuple):
        (_, _, states), j = block
        return states[j]
    return block


def part_of(block: Any, rows: slice) -> Any:
    return as_array(block)[rows]


def concatenate(*arrays: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate(arrays)


def column_of(array: NDArray[Any], column: int) -> NDArray[Any]:
    return array[:, column].copy()


def columns_of(array: NDArray[Any], columns: NDArray[np.intp]) -> NDArray[Any]:
    return np.ascontiguousarray(array[:, columns])


def set_item(block: Any, place: int, value: Any) -> NDArray[Any]:
    new: NDArray[Any] = np.array(as_array(block))
    new[place] = value
    return new


class ScatteredRows:
    """Code matrices that are here and were sent to the workers, each of them once."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._scattered: list[tuple[NDArray[Any], RemoteRows]] = []

    def scatter(self, rows: MemoryRows) -> LabelRows:
        """The rows on the workers, in one block per thread; a small matrix stays here."""
        n_rows, n_columns = rows.shape
        if n_rows <= SUM_ROWS:
            return rows
        array = rows[:]
        for known, remote in self._scattered:
            if known.__array_interface__ == array.__array_interface__:
                return remote
        # Float sums are cut as here.
        size = -(-n_rows // (SUM_ROWS * sum(self.client.nthreads().values()))) * SUM_ROWS
        slices = row_blocks(n_rows, size)
        futures = scatter(self.client, array, slices)
        edges = np.array([0, *(block.stop for block in slices)])
        self._scattered.append((array, RemoteRows(Blocks(self.client, futures, edges), n_columns, array.dtype)))
        return self._scattered[-1][1]


@contextmanager
def parallel_backend(client: Any) -> Iterator[None]:
    """Use it to run consensus methods on a Dask cluster: the workers do the passes of the fits inside the block.

    For label matrices that fit the memory here. Their distinct rows are found here and sent to the workers once; then
    every pass over them runs there. The result is bitwise identical, and ``n_jobs`` has no effect. Labels that do
    not fit the memory, or lie on the cluster already, are for `Ensemble.from_dask`.

    Parameters
    ----------
    client : distributed.Client
        Yours to open and to close. Only its ``submit``, ``scatter``, ``gather`` and ``nthreads`` are used.

    Yields
    ------
    None
        The workers are used until the block ends.

    Raises
    ------
    ValueError
        If ``client`` is not a client.

    Notes
    -----
    Methods that must see all rows at once (docs/SCALE.md) and ensembles of at most 16,384 distinct rows stay here, and
    so do metrics, rankers, base partitions and ``predict``. What was sent lives as long as the block. If a worker is
    lost, the fit fails with a RuntimeError that says so and has to be done again: nothing else has the rows, unlike
    those of `Ensemble.from_dask`.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> with Client() as client, ensemblage.parallel_backend(client=client):  # doctest: +SKIP
    ...     labels = KMeansConsensus(20).fit_predict(ensemble)
    """
    check_client(client, "parallel_backend")
    token = _workers.set(ScatteredRows(client))
    try:
        yield
    finally:
        _workers.reset(token)


def check_client(client: Any, name: str) -> Any:
    """What has the methods of a `distributed.Client` that are used."""
    if isinstance(client, type) or not all(hasattr(client, m) for m in ("submit", "scatter", "gather", "nthreads")):
        raise ValueError(
            f"client of {name} must be a Client of dask.distributed. Got {format_value(client)}. Give the client of "
            f"your cluster."
        )
    return client


NAMED = {"labels": "a label matrix", "features": "features"}
"""What parts are of, in messages."""


def futures_of(parts: Any, client: Any, what: str = "labels") -> list[Any]:
    """Parts as futures: what Dask can make again stays so, arrays are sent to the workers."""
    if hasattr(parts, "to_delayed"):
        delayed = np.asarray(parts.to_delayed())
        if delayed.ndim == 2 and delayed.shape[1] > 1:
            raise ValueError(
                f"A Dask array of {what} must be cut by rows only. "
                f"Got {delayed.shape[1]} blocks of columns. Use array.rechunk({{1: -1}})."
            )
        parts = delayed.ravel().tolist()
    if not isinstance(parts, Iterable):
        raise TypeError(
            f"Parts of {NAMED[what]} must be a Dask array or a list of matrices. Got {format_value(parts)}. Give a "
            f"Dask array or a list of matrices."
        )
    parts = list(parts)
    if not parts:
        raise ValueError(f"Parts of {NAMED[what]} must be at least one. Got none. Give one matrix or more.")
    return [_future(part, client, what == "features") for part in parts]


def _future(part: Any, client: Any, keeps_frames: bool) -> Any:
    if hasattr(part, "__dask_graph__"):
        return client.compute(part)
    if hasattr(part, "key") and hasattr(part, "status"):
        return part
    return send(client, part if keeps_frames and hasattr(part, "columns") else np.asarray(part))
