"""Where features lie: in memory, in a file, or on the workers of a Dask cluster; read and worked on block by block.

`FeatureSource` says what any of them can do. On a cluster the work goes to the blocks, and what is small comes back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option
from ensemblage.base.text import one_line, some
from ensemblage.base.threads import SUM_ROWS, row_blocks
from ensemblage.labels.dask import Blocks, LostWorkersError, RemoteRows, check_client, futures_of, gather
from ensemblage.labels.disk import LIBRARIES, NpyRule, Scratch, StoredRows, npy_rows, write_array

S = TypeVar("S")
R = TypeVar("R")
MOST_ROWS = 2**18
"""Rows of a block, at most; a multiple of `SUM_ROWS`."""
COPIES = 6
"""Copies of a block, as float64, that a step holds at its peak at most, those of neighbours among them."""
PER_OBJECT = 16
"""Bytes per object while objects are drawn (a permutation), or clusters are returned."""
SAMPLE_BYTES = 250_000_000
"""Bytes that the clustering of the drawn objects takes at most."""


class FeatureSource(ABC):
    """Rows of features, (n, m), that are read and worked on in blocks.

    A block is an array of float32 or float64; what `kept` keeps has its own type where it lies beside. `SUM_ROWS`
    divides the rows of every block but the last, so that sums of fixed blocks are the same wherever the rows lie.
    Functions of blocks are sent to workers, and change nothing that they are given.

    Attributes
    ----------
    shape : (n, m)
    names : of the columns, where they have some
    by_column : whether sums of few rows are made column by column, as scikit-learn makes those of an array; else row by
        row, as those of a table
    """

    place: ClassVar[str]
    """Where the rows lie, in words."""

    shape: tuple[int, int]
    names: list[str] | None = None
    by_column: bool = False

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def __getitem__(self, key: Any) -> NDArray[Any]:
        """(r, m) some rows by their numbers, or (n,) a column ``[:, j]``, in memory."""

    @abstractmethod
    def columns(self, places: Sequence[int]) -> FeatureSource:
        """Some columns, in this order."""

    @abstractmethod
    def transformed(self, function: Callable[[NDArray[Any]], NDArray[Any]], n_features: int) -> FeatureSource:
        """The features that a function of rows makes of these."""

    @abstractmethod
    def fold(self, function: Callable[..., S], state: S, *arguments: Any, beside: FeatureSource | None = None) -> S:
        """``state = function(state, block, *arguments)`` for every block, in order.

        ``beside`` are rows of the same objects that `kept` has made of these: its blocks follow those of these.
        """

    @abstractmethod
    def reduce(self, function: Callable[..., R], merge: Callable[[R, R], R], *arguments: Any) -> R:
        """``function(block, *arguments)`` of every block, merged in order; ``merge`` is associative."""

    @abstractmethod
    def each(self, function: Callable[..., R], *arguments: Any) -> Iterator[R]:
        """``function(block, start, *arguments)`` of every block, in order; ``start`` is its first row."""

    @abstractmethod
    def kept(self, function: Callable[..., NDArray[Any]], dtype: Any, width: int, *arguments: Any) -> FeatureSource:
        """``function(block, start, *arguments)`` of every block, (rows, width) of this type, kept where these are."""


class MemoryFeatures(FeatureSource):
    """Features in an array, (n, m): one block."""

    place = "in memory"

    def __init__(self, X: NDArray[Any], names: list[str] | None = None, by_column: bool = False) -> None:
        self.X, self.names, self.by_column = X, names, by_column
        self.shape = X.shape

    def __getitem__(self, key: Any) -> NDArray[Any]:
        values: NDArray[Any] = self.X[key]
        return values

    def columns(self, places: Sequence[int]) -> MemoryFeatures:
        X = self.X[:, places] if self.by_column else np.take(self.X, places, axis=1)
        return MemoryFeatures(X, names_at(self.names, places), self.by_column)

    def transformed(self, function: Callable[[NDArray[Any]], NDArray[Any]], n_features: int) -> MemoryFeatures:
        return MemoryFeatures(function(self.X))

    def fold(self, function: Callable[..., S], state: S, *arguments: Any, beside: FeatureSource | None = None) -> S:
        return function(state, self.X, *([] if beside is None else [beside[:]]), *arguments)

    def reduce(self, function: Callable[..., R], merge: Callable[[R, R], R], *arguments: Any) -> R:
        return function(self.X, *arguments)

    def each(self, function: Callable[..., R], *arguments: Any) -> Iterator[R]:
        yield function(self.X, 0, *arguments)

    def kept(self, function: Callable[..., NDArray[Any]], dtype: Any, width: int, *arguments: Any) -> MemoryFeatures:
        return MemoryFeatures(function(self.X, 0, *arguments).astype(dtype))


@dataclass(frozen=True)
class Making:
    """What is made of a block of rows as it was read."""

    places: list[int] | None = None
    """Of the columns that are used; None: all."""
    function: Callable[[NDArray[Any]], NDArray[Any]] | None = None

    def __call__(self, block: NDArray[Any]) -> NDArray[Any]:
        block = as_floats(block)
        if self.places is not None and self.places != list(range(block.shape[1])):
            block = np.ascontiguousarray(block[:, self.places])
        return block if self.function is None else np.asarray(self.function(block))

    def columns(self, places: Sequence[int]) -> Making:
        """Some of the columns, of which nothing is made yet."""
        return Making(list(places) if self.places is None else [self.places[j] for j in places])


def names_at(names: list[str] | None, places: Sequence[int]) -> list[str] | None:
    return None if names is None else [names[j] for j in places]


class ReadFeatures(FeatureSource):
    """Features that are read: rows as they lie, and what is made of a block of them."""

    _rows: StoredRows | RemoteRows
    _making: Making

    def __getitem__(self, key: Any) -> NDArray[Any]:
        if isinstance(key, tuple):
            rows, j = key
            return np.asarray(self._rows[rows, j if self._making.places is None else self._making.places[j]])
        return self._making(self._rows[np.asarray(key)])

    def columns(self, places: Sequence[int]) -> ReadFeatures:
        return self._made(self._making.columns(places), len(places), names_at(self.names, places))

    def transformed(self, function: Callable[[NDArray[Any]], NDArray[Any]], n_features: int) -> ReadFeatures:
        return self._made(replace(self._making, function=function), n_features, None)

    @abstractmethod
    def _made(self, making: Making, m: int, names: list[str] | None) -> ReadFeatures:
        """The same rows, of which something else is made: m features."""


class StoredFeatures(ReadFeatures):
    """Features in a file.

    Parameters
    ----------
    rows : the file
    memory : bytes that the process may take
    scratch : where what is found of each object is kept
    names, by_column : see `FeatureSource`
    making : what is made of its rows: m features
    """

    place = "on disk"

    _rows: StoredRows

    def __init__(
        self,
        rows: StoredRows,
        memory: int,
        scratch: str | PathLike[str] | None = None,
        names: list[str] | None = None,
        by_column: bool = False,
        making: Making = Making(),
        m: int | None = None,
    ) -> None:
        self._rows, self._memory, self._scratch, self._making = rows, memory, scratch, making
        self.names, self.by_column = names, by_column
        self.shape = len(rows), rows.shape[1] if m is None else m
        self._rows_at_once = check_memory(memory, len(rows), max(self.shape[1], rows.shape[1]))

    def _made(self, making: Making, m: int, names: list[str] | None) -> StoredFeatures:
        return StoredFeatures(self._rows, self._memory, self._scratch, names, self.by_column, making, m)

    def fold(self, function: Callable[..., S], state: S, *arguments: Any, beside: FeatureSource | None = None) -> S:
        for rows in self._slices():
            more = () if beside is None else (beside._rows[rows],)  # type: ignore[attr-defined]  # a file, too
            state = function(state, self._block(rows), *more, *arguments)
        return state

    def reduce(self, function: Callable[..., R], merge: Callable[[R, R], R], *arguments: Any) -> R:
        first, *others = self._slices()
        found = function(self._block(first), *arguments)
        for rows in others:
            found = merge(found, function(self._block(rows), *arguments))
        return found

    def each(self, function: Callable[..., R], *arguments: Any) -> Iterator[R]:
        for rows in self._slices():
            yield function(self._block(rows), rows.start, *arguments)

    def kept(self, function: Callable[..., NDArray[Any]], dtype: Any, width: int, *arguments: Any) -> StoredFeatures:
        with Scratch(self._scratch, self._memory).or_removed() as place:
            place.check_room(len(self) * width * np.dtype(dtype).itemsize)
            with place.writing("kept") as file:
                for block in self.each(function, *arguments):
                    write_array(file, block.astype(dtype))
            rows = StoredRows(place.file("kept"), (len(self), width), np.dtype(dtype), scratch=place)
        return StoredFeatures(rows, self._memory, self._scratch)

    def check_width(self, n_features: int) -> None:
        """Refuse so many features of these rows that a block of them has no room."""
        check_memory(self._memory, len(self), n_features)

    def _slices(self) -> list[slice]:
        return row_blocks(len(self), self._rows_at_once)

    def _block(self, rows: slice) -> NDArray[Any]:
        return self._making(self._rows[rows])


def as_floats(block: NDArray[Any]) -> NDArray[Any]:
    """Rows of float64, or of float32 if they are, in C order."""
    kind = block.dtype if block.dtype in (np.float32, np.float64) else np.float64
    return np.ascontiguousarray(block, dtype=kind)


def check_memory(memory: int, n_objects: int, n_features: int) -> int:
    """The number of rows of a block that fits into ``memory`` together with everything else."""
    others, per_row = LIBRARIES + SAMPLE_BYTES + PER_OBJECT * n_objects, 8 * COPIES * (n_features + 4)
    rows = (memory - others) // per_row // SUM_ROWS * SUM_ROWS
    if rows < SUM_ROWS:
        least = -(-(others + per_row * SUM_ROWS) // 10**8) / 10
        rule = (
            f" must be ≥ {least:g} GB for {n_objects:,} objects of {n_features:,} features: {PER_OBJECT} bytes per "
            f"object, blocks of rows, and the libraries. Got {memory / 1e9:.3g} GB. Give more, or fewer objects."
        )
        raise ValueError(Message(Option("memory"), rule))
    return int(min(rows, MOST_ROWS))


SAVED = "A .npy file of features must be a matrix of numbers, objects by features, that numpy.save wrote."
NPY_FEATURES = NpyRule("iufb", 1, SAVED, SAVED, SAVED, "Save one row per object.")


def npy_features(path: Path, memory: int, scratch: str | PathLike[str] | None) -> StoredFeatures:
    """The rows of a .npy file of numbers; ``scratch`` as of `StoredFeatures`."""
    if path.suffix.lower() != ".npy":
        path.stat()
        raise ValueError(
            "Features on disk must be a .npy file, a .parquet file or a folder of .parquet files. Got "
            f"{str(path)!r}. Save them in one of these formats."
        )
    return StoredFeatures(npy_rows(path, NPY_FEATURES), memory, scratch, by_column=True)


class RemoteFeatures(ReadFeatures):
    """Features on workers, in blocks of `MOST_ROWS` rows."""

    place = "on workers"

    _rows: RemoteRows

    def __init__(
        self,
        rows: RemoteRows,
        names: list[str] | None = None,
        by_column: bool = False,
        making: Making = Making(),
        m: int | None = None,
    ) -> None:
        self._rows, self.names, self.by_column, self._making = rows, names, by_column, making
        self.shape = len(rows), rows.shape[1] if m is None else m

    @property
    def _blocks(self) -> Blocks:
        """The blocks; raises if their client was closed, or lost its scheduler."""
        status = getattr(self._rows.blocks.client, "status", "running")
        if status != "running":
            raise LostWorkersError(
                f"The Dask client must stay open while its features are used. Got one that is {status}. Connect again, "
                "and take the features again."
            )
        return self._rows.blocks

    def __getitem__(self, key: Any) -> NDArray[Any]:
        _ = self._blocks
        return super().__getitem__(key)

    def _made(self, making: Making, m: int, names: list[str] | None) -> RemoteFeatures:
        return RemoteFeatures(self._rows, names, self.by_column, making, m)

    def fold(self, function: Callable[..., S], state: S, *arguments: Any, beside: FeatureSource | None = None) -> S:
        future: Any = state
        more = [()] * len(self._blocks.futures) if beside is None else [(block,) for block in beside._blocks.futures]  # type: ignore[attr-defined]
        for block, others in zip(self._blocks.futures, more, strict=True):
            future = self._blocks.submit(fold_made, self._making, function, future, block, *others, *arguments)
        found: S = gather(self._blocks.client, future)
        return found

    def reduce(self, function: Callable[..., R], merge: Callable[[R, R], R], *arguments: Any) -> R:
        found = self._blocks.map(of_made, self._blocks.futures, self._making, function, *arguments)
        while len(found) > 1:  # pairs on the workers
            pairs = [self._blocks.submit(merge, *found[i : i + 2]) for i in range(0, len(found) - 1, 2)]
            found = pairs + found[2 * len(pairs) :]
        result: R = gather(self._blocks.client, found[0])
        return result

    def each(self, function: Callable[..., R], *arguments: Any) -> Iterator[R]:
        for task in self._tasks(function, *arguments):
            yield gather(self._blocks.client, task)

    def kept(self, function: Callable[..., NDArray[Any]], dtype: Any, width: int, *arguments: Any) -> RemoteFeatures:
        blocks = Blocks(self._blocks.client, self._tasks(function, *arguments), self._blocks.edges)
        blocks = Blocks(blocks.client, blocks.map(astype, blocks.futures, dtype), blocks.edges)
        return RemoteFeatures(RemoteRows(blocks, width, np.dtype(dtype)))

    def _tasks(self, function: Callable[..., R], *arguments: Any) -> list[Any]:
        """Futures of ``function(block, start, *arguments)``."""
        return [
            self._blocks.submit(of_made, block, self._making, function, start, *arguments)
            for block, start in zip(self._blocks.futures, self._blocks.edges.tolist(), strict=False)
        ]


def features_on_cluster(parts: Any, client: Any) -> RemoteFeatures:
    """Do what `FeatureBlocks.from_dask` does."""
    client = check_client(client, "from_dask")
    given = futures_of(parts, client, "features")
    with _explained_failures():
        kinds = gather(client, [client.submit(kind_of, part, pure=False) for part in given])
    first = kinds[0]
    for i, kind in enumerate(kinds):
        _check_kind(kind, first, i)
    used = [(part, kind.n_rows) for part, kind in zip(given, kinds, strict=True) if kind.n_rows]
    if not used or not first.types:
        raise ValueError("Features must have rows and columns. Got no rows or no columns. Give a row per object.")
    edges = np.concatenate([[0], np.cumsum([n for _, n in used], dtype=np.int64)])
    blocks = Blocks(client, [], edges)
    dtype = "float32" if set(first.types) == {"float32"} else "float64"
    futures = blocks.map(matrix_of_part, [part for part, _ in used], dtype)
    cut = Blocks(client, futures, edges).rechunk(MOST_ROWS)
    rows = RemoteRows(cut, len(first.types), np.dtype(dtype))
    return RemoteFeatures(rows, None if first.names is None else list(first.names), by_column=True)


@contextmanager
def _explained_failures() -> Iterator[None]:
    """Turn any error of a task of the user into one sentence."""
    try:
        yield
    except LostWorkersError:
        raise
    except Exception as error:
        raise ValueError(
            f"Parts of features must be made without an error. Got {type(error).__name__}: "
            f"{one_line(str(error), 100)}. Correct the tasks that make them."
        ) from error


class Kind(NamedTuple):
    """What a part is."""

    names: tuple[str, ...] | None
    types: tuple[str, ...]
    n_rows: int


def _check_kind(kind: Kind | None, first: Kind | None, i: int) -> None:
    """Refuse a part that is no matrix of numbers, or other than the first."""
    if kind is None or first is None:
        raise ValueError(
            f"Parts of features must be matrices or frames, cut by rows. Got something else in part {i}. Give arrays "
            "of two dimensions, or data frames."
        )
    if kind.names != first.names or len(kind.types) != len(first.types):
        names = [f"{len(k.types)} columns" if k.names is None else some(k.names, 5) for k in (kind, first)]
        raise ValueError(
            f"Parts of features must have the same columns. Got {names[0]} in part {i}, and {names[1]} in part 0. "
            "Select the same in each part."
        )
    for j, (got, known) in enumerate(zip(kind.types, first.types, strict=True)):
        title = j if kind.names is None else repr(kind.names[j])
        if got != known:
            raise ValueError(
                f"Parts of features must have the same types. Got {got} in column {title} of part {i}, and {known} in "
                "part 0. Cast that column in every part."
            )
        if not got.startswith(("int", "uint", "float", "bool", "Int", "UInt", "Float")):
            raise ValueError(
                f"Columns of features on a cluster must be numbers. Got {got} in column {title} of part {i}. Leave it "
                "out, or write the frame as a folder of Parquet parts, and open that: there categories have roles."
            )


# -- what workers do ---------------------------------------------------------------------------------------------------


def kind_of(part: Any) -> Kind | None:
    if len(getattr(part, "shape", ())) != 2:
        return None
    if hasattr(part, "columns"):
        return Kind(tuple(map(str, part.columns)), tuple(map(str, part.dtypes)), len(part))
    return Kind(None, (str(part.dtype),) * part.shape[1], len(part))


def matrix_of_part(part: Any, dtype: str) -> NDArray[Any]:
    values = part.to_numpy(dtype=dtype, na_value=np.nan) if hasattr(part, "columns") else part
    return np.ascontiguousarray(values, dtype=dtype)


def astype(block: NDArray[Any], dtype: Any) -> NDArray[Any]:
    return block.astype(dtype)


def of_made(block: NDArray[Any], making: Making, function: Callable[..., R], *arguments: Any) -> R:
    return function(making(block), *arguments)


def fold_made(making: Making, function: Callable[..., S], state: S, block: NDArray[Any], *arguments: Any) -> S:
    return function(state, making(block), *arguments)
