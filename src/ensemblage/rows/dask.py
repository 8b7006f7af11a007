"""Rows on the workers of a Dask cluster: the work goes to the rows, and only what is summed comes back.

Of Dask, only ``Client.submit``, ``scatter`` and ``gather`` are used. Every block is the result of a task, and so is
every state that belongs to it: when a worker is lost, the scheduler makes its blocks again.
"""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage._validation import shown
from ensemblage.rows import blocks as row_sizes
from ensemblage.rows.blocks import SUM_ROWS, row_blocks
from ensemblage.rows.disk import BlockRows
from ensemblage.rows.memory import _workers, recoded
from ensemblage.rows.protocol import R, sum_of

LOST = ("CancelledError", "FutureCancelledError", "KilledWorker", "FuturesCancelledError", "CommClosedError")
"""What Dask raises when workers are gone, or with them data that only they had."""
ATTEMPTS = 3
"""How often work is given out when workers are lost together with data that only they had."""


class LostWorkersError(RuntimeError):
    """Workers were lost together with something that nothing can make again."""


def gathered(client: Any, futures: Any) -> Any:
    """The results of tasks, brought here."""
    try:
        return client.gather(futures)
    except Exception as error:
        if type(error).__name__ not in LOST:
            raise
        raise LostWorkersError(
            "Workers of the Dask cluster must stay while they hold label rows. "
            f"Got {type(error).__name__}: one was lost or ran out of memory. Fit again, with more memory per worker."
        ) from None


class Blocks:
    """Consecutive blocks of rows on the workers."""

    def __init__(self, client: Any, futures: list[Any], edges: NDArray[np.int64]) -> None:
        self.client, self.futures, self.edges = client, futures, edges

    def submit(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False, **options)

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Rows ``start`` to ``stop - 1``, brought here."""
        parts = [self.submit(part_of, *piece) for piece in self.overlapping(slice(start, stop))]
        return np.concatenate(gathered(self.client, parts)) if parts else np.empty(0)

    def overlapping(self, rows: slice) -> list[tuple[Any, int, int]]:
        """The blocks that hold some rows, and which of their own rows these are."""
        (start, stop, _), found = rows.indices(int(self.edges[-1])), []
        for future, a, b in zip(self.futures, self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True):
            if max(a, start) < min(b, stop):
                found.append((future, max(a, start) - a, min(b, stop) - a))
        return found

    def aligned(self, size: int) -> Blocks:
        """The same rows in blocks of ``size`` rows, dealt out to the workers; only the last one has fewer."""
        workers = cycle([address for address, threads in self.client.nthreads().items() for _ in range(threads)])
        edges = np.append(np.arange(0, self.edges[-1], size), self.edges[-1])
        blocks = []
        for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            pieces = [self.submit(part_of, *piece) for piece in self.overlapping(slice(a, b))]
            blocks.append(self.submit(joined, *pieces, workers=[next(workers)], allow_other_workers=True))
        return Blocks(self.client, blocks, edges)


class RemoteRows(BlockRows):
    """A code matrix on the workers."""

    def __init__(self, blocks: Blocks, n_columns: int, dtype: np.dtype[Any]) -> None:
        self.blocks = blocks
        self.shape, self.dtype = (int(blocks.edges[-1]), n_columns), dtype
        self._sent: dict[int, tuple[Any, list[Any]]] = {}

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        return self.blocks.rows(start, stop) if start < stop else np.empty((0, self.shape[1]), self.dtype)

    def _column(self, rows: Any, column: int) -> NDArray[Any]:
        if rows != slice(None):
            return super()._column(rows, column)
        columns = [self.blocks.submit(column_of, future, column) for future in self.blocks.futures]
        return np.concatenate(gathered(self.blocks.client, columns))

    def _take(self, index: NDArray[Any]) -> NDArray[Any]:
        block = np.searchsorted(self.blocks.edges, index, side="right") - 1
        taken = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        wanted = {b: np.flatnonzero(block == b) for b in np.unique(block).tolist()}
        futures = self.blocks.futures
        parts = [
            self.blocks.submit(itemgetter(index[places] - self.blocks.edges[b]), futures[b])
            for b, places in wanted.items()
        ]
        for places, part in zip(wanted.values(), gathered(self.blocks.client, parts), strict=True):
            taken[places] = part
        return taken

    def changed(
        self, function: Callable[..., Any], n_columns: int, dtype: np.dtype[Any], *arguments: Any
    ) -> RemoteRows:
        """The matrix with a function applied to every block, on the workers."""
        futures = [self.blocks.submit(function, future, *arguments) for future in self.blocks.futures]
        return RemoteRows(Blocks(self.blocks.client, futures, self.blocks.edges), n_columns, dtype)

    def first(self, n_rows: int) -> RemoteRows:
        if n_rows == len(self):
            return self
        edges = np.append(self.blocks.edges[self.blocks.edges < n_rows], n_rows)
        *futures, last = self.blocks.futures[: len(edges) - 1]
        last = self.blocks.submit(part_of, last, 0, int(edges[-1] - edges[-2]))
        return RemoteRows(Blocks(self.blocks.client, [*futures, last], edges), self.shape[1], self.dtype)

    def columns(self, index: ArrayLike) -> RemoteRows:
        chosen = np.asarray(index, dtype=np.intp)
        return self.changed(columns_of, len(chosen), self.dtype, chosen)

    def with_columns(self, more: Any) -> BlockRows:
        raise self._refuse()

    def recode(self, tables: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> RemoteRows:
        return self.changed(recoded, self.shape[1], dtype, tables, dtype)

    def state(self, dtype: Any, fill: Any) -> RemoteState:
        sizes = np.diff(self.blocks.edges).tolist()
        return RemoteState(self.blocks, [Fill(size, fill, np.dtype(dtype)) for size in sizes], np.dtype(dtype))

    def slices(self, state: RemoteState, slices: Sequence[slice]) -> list[NDArray[Any]]:
        return state.slices(slices)

    def map(
        self,
        function: Callable[..., R],
        *shared: Any,
        reads: Sequence[Any] = (),
        writes: Sequence[Any] = (),
        n_jobs: int | None = None,
        size: int | None = None,
    ) -> list[R]:
        """`LabelRows.map` on the workers. Arrays here are sent, and what changed in ``writes`` comes back; states stay
        there.
        """
        parts = self._done(call_by_rows, reads, writes, function, shared, size or row_sizes.BLOCK_ROWS)
        return [result for part in parts for result in part]

    def add(
        self,
        function: Callable[..., object],
        shapes: Sequence[tuple[int, ...]],
        *shared: Any,
        reads: Sequence[Any] = (),
        n_jobs: int | None = None,
    ) -> list[NDArray[np.int64]]:
        """`LabelRows.add` on the workers, one set of totals per block."""
        return sum_of(self._done(add_by_rows, reads, (), function, list(shapes), shared, row_sizes.BLOCK_ROWS))

    def _done(self, work: Any, reads: Sequence[Any], writes: Sequence[Any], *arguments: Any) -> list[Any]:
        """The results of ``work`` on every block; ``writes`` are what it left."""
        for left in range(ATTEMPTS - 1, -1, -1):
            try:
                return self._given_out(work, reads, writes, *arguments)
            except LostWorkersError:
                # Data sent from here are lost with the worker that has them: they are sent again.
                if not left:
                    raise
                self._sent.clear()
        raise AssertionError

    def _given_out(self, work: Any, reads: Sequence[Any], writes: Sequence[Any], *arguments: Any) -> list[Any]:
        # Dask would pickle the function once per task, and results array by array: that takes longer than the rest.
        import cloudpickle  # type: ignore[import-untyped]

        client, edges = self.blocks.client, self.blocks.edges
        slices = [slice(a, b) for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
        stay = [isinstance(array, RemoteState) for array in writes]
        packed = cloudpickle.dumps((*arguments, stay))
        places = [self.blocks.futures, *(self._read_places(array, slices) for array in reads)]
        places += [
            array.places if there else self._send(array, slices) for array, there in zip(writes, stay, strict=True)
        ]
        tasks = [self.blocks.submit(work, packed, *block) for block in zip(*places, strict=True)]
        results = [self.blocks.submit(itemgetter(0), task) for task in tasks]
        changed = [] if all(stay) else [self.blocks.submit(itemgetter(1), task) for task in tasks]
        found, back = gathered(client, results), gathered(client, changed)
        for j, (array, there) in enumerate(zip(writes, stay, strict=True)):
            if there:
                array.places = [(task, j) for task in tasks]
            for rows, new in zip(slices, back, strict=False):
                if j in new:
                    array[rows] = new[j]
        return [pickle.loads(result) for result in found]

    def _read_places(self, array: Any, slices: list[slice]) -> list[Any]:
        """The blocks of an array on the workers that is only read: one that is here is sent once."""
        if isinstance(array, RemoteState):
            return array.places
        known = self._sent.get(id(array))
        if known is None or known[0]() is not array:
            key, forget = id(array), self._sent.pop
            known = weakref.ref(array, lambda _: forget(key, None)), self._send(array, slices)
            self._sent[key] = known
        return known[1]

    def _send(self, array: NDArray[Any], slices: list[slice]) -> list[Any]:
        return [self.blocks.client.scatter(array[rows], hash=False) for rows in slices]


class SentRows:
    """Code matrices that are here and were sent to the workers, each of them once."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._sent: list[tuple[NDArray[Any], RemoteRows]] = []

    def of(self, codes: NDArray[Any]) -> Any:
        """The matrix on the workers, in one block per thread; a small one stays here."""
        n_rows, n_columns = codes.shape
        if n_rows <= SUM_ROWS:
            return codes
        for known, rows in self._sent:
            if known.__array_interface__ == codes.__array_interface__:
                return rows
        # Float sums are cut as here.
        size = -(-n_rows // (SUM_ROWS * sum(self.client.nthreads().values()))) * SUM_ROWS
        slices = row_blocks(n_rows, size)
        futures = [self.client.scatter(codes[rows], hash=False) for rows in slices]
        edges = np.array([0, *(rows.stop for rows in slices)])
        self._sent.append((codes, RemoteRows(Blocks(self.client, futures, edges), n_columns, codes.dtype)))
        return self._sent[-1][1]


@contextmanager
def parallel_backend(client: Any) -> Iterator[None]:
    """Let the workers of a Dask cluster do the work of the consensus estimators that are fitted in the block.

    For label matrices that fit the memory here. Their distinct rows are found here and sent to the workers once; then
    every pass over them runs there. The result is the same, bit by bit, and ``n_jobs`` has no effect. Labels that do
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
    so do metrics, rankers, base clusterings and ``predict``. What was sent lives as long as the block. If a worker is
    lost, the fit fails with a RuntimeError that says so and has to be done again: nothing else has the rows, unlike
    those of `Ensemble.from_dask`.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> with Client() as client, ensemblage.parallel_backend(client=client):  # doctest: +SKIP
    ...     labels = KMeansConsensus(20).fit_predict(ensemble)
    """
    check_client(client, "parallel_backend")
    token = _workers.set(SentRows(client))
    try:
        yield
    finally:
        _workers.reset(token)


def check_client(client: Any, name: str) -> Any:
    """What has the methods of a `distributed.Client` that are used."""
    if isinstance(client, type) or not all(hasattr(client, m) for m in ("submit", "scatter", "gather", "nthreads")):
        raise ValueError(
            f"client of {name} must be a Client of dask.distributed. Got {shown(client)}. Give the one you work with."
        )
    return client


class Fill(NamedTuple):
    """A block of a state that nobody has written to yet."""

    size: int
    value: Any
    dtype: np.dtype[Any]


class RemoteState:
    """One number per row, on the workers: a block is a `Fill`, or what a task left, or one of the things it left."""

    def __init__(self, blocks: Blocks, places: list[Any], dtype: np.dtype[Any]) -> None:
        self.blocks, self.places, self.dtype = blocks, places, dtype
        self.shape = (int(blocks.edges[-1]),)

    def __len__(self) -> int:
        return self.shape[0]

    def _blocks(self) -> Blocks:
        return Blocks(self.blocks.client, self.places, self.blocks.edges)

    def slices(self, slices: Sequence[slice]) -> list[NDArray[Any]]:
        """Several short slices in one go."""
        pieces = [[self._blocks().submit(part_of, *p) for p in self._blocks().overlapping(s)] for s in slices]
        return [np.concatenate(parts) for parts in gathered(self.blocks.client, pieces)]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        return self.slices([rows])[0]

    def __setitem__(self, row: int, value: Any) -> None:
        block = int(np.searchsorted(self.blocks.edges, row, side="right")) - 1
        place = row - int(self.blocks.edges[block])
        self.places = list(self.places)
        self.places[block] = self.blocks.submit(with_value, self.places[block], place, value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = self._blocks().rows(0, len(self))
        return values if dtype is None else values.astype(dtype)


# -- What workers do --------------------------------------------------------------------------------------------------


def call_by_rows(packed: bytes, *arrays: Any) -> tuple[bytes, dict[int, Any], dict[int, Any]]:
    """Results by blocks of rows; by place in ``writes``, which come last: the arrays that changed, and the states."""
    function, shared, size, stay = pickle.loads(packed)
    n_reads = len(arrays) - len(stay)
    # What a worker holds must not change: another task may need it, or the same one again.
    writes = [content(a) if isinstance(a, Fill) else np.array(content(a)) for a in arrays[n_reads:]]
    own = [*(content(a) for a in arrays[:n_reads]), *writes]
    results = [function(*(a[block] for a in own), *shared) for block in row_blocks(len(own[0]), size)]
    changed = {
        j: new
        for j, (new, old, there) in enumerate(zip(writes, arrays[n_reads:], stay, strict=True))
        if not there and not np.array_equal(new.view(np.uint8), np.asarray(old).view(np.uint8))
    }
    return pickle.dumps(results), changed, {j: array for j, array in enumerate(writes) if stay[j]}


def add_by_rows(packed: bytes, *arrays: Any) -> tuple[bytes]:
    """Totals."""
    function, shapes, shared, size, _ = pickle.loads(packed)
    own, totals = [content(array) for array in arrays], [np.zeros(shape, dtype=np.int64) for shape in shapes]
    for block in row_blocks(len(own[0]), size):
        function(*(a[block] for a in own), *totals, *shared)
    return (pickle.dumps(totals),)


def content(block: Any) -> Any:
    """The array that a block of a state stands for; an array stands for itself."""
    if isinstance(block, Fill):
        return np.full(block.size, block.value, dtype=block.dtype)
    if isinstance(block, tuple):
        done, j = block
        return done[2][j]
    return block


def part_of(block: Any, start: int, stop: int) -> Any:
    return content(block)[start:stop]


def joined(*arrays: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate(arrays)


def column_of(array: NDArray[Any], column: int) -> NDArray[Any]:
    return array[:, column].copy()


def columns_of(array: NDArray[Any], columns: NDArray[np.intp]) -> NDArray[Any]:
    return np.ascontiguousarray(array[:, columns])


def with_value(block: Any, place: int, value: Any) -> NDArray[Any]:
    new: NDArray[Any] = np.array(content(block))
    new[place] = value
    return new
