"""Features on the workers of a Dask cluster: the work goes to the blocks, and what is small comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import one_line, some
from ensemblage.io._feature_blocks import MOST_ROWS, FeatureBlocks, R, S, as_floats
from ensemblage.io._out_of_core import futures_of
from ensemblage.labels.dask import Blocks, LostWorkersError, RemoteRows, check_client, gather


class RemoteFeatures(FeatureBlocks):
    """Features on workers, in blocks of `MOST_ROWS` rows."""

    def __init__(self, rows: RemoteRows, names: list[str] | None, make: Any = None, m: int = 0) -> None:
        self._rows, self.names, self._make = rows, names, make
        self.shape = len(rows), m or rows.shape[1]

    @property
    def _blocks(self) -> Blocks:
        """The blocks; raises if their client is closed."""
        self._check_client()
        return self._rows.blocks

    def _check_client(self) -> None:
        """Refuse a client that was closed, or lost its scheduler."""
        status = getattr(self._rows.blocks.client, "status", "running")
        if status != "running":
            raise LostWorkersError(
                f"The Dask client must stay open while its features are used. Got one that is {status}. Connect again, "
                "and take the features again."
            )

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        self._check_client()
        return made(self._make, self._rows[np.asarray(rows)])

    def _fold(self, function: Callable[..., S], state: S, *arguments: Any, beside: FeatureBlocks | None = None) -> S:
        future: Any = state
        more = [()] * len(self._blocks.futures) if beside is None else [(block,) for block in beside._blocks.futures]  # type: ignore[attr-defined]
        for block, others in zip(self._blocks.futures, more, strict=True):
            future = self._blocks.submit(fold_made, self._make, function, future, block, *others, *arguments)
        found: S = gather(self._blocks.client, future)
        return found

    def _reduce(self, function: Callable[..., R], merge: Callable[[R, R], R], *arguments: Any) -> R:
        found = [
            self._blocks.submit(of_made, self._make, function, block, *arguments) for block in self._blocks.futures
        ]
        while len(found) > 1:  # pairs on the workers
            pairs = [self._blocks.submit(merge, *found[i : i + 2]) for i in range(0, len(found) - 1, 2)]
            found = pairs + found[2 * len(pairs) :]
        result: R = gather(self._blocks.client, found[0])
        return result

    def _each(self, function: Callable[..., R], *arguments: Any) -> Iterator[R]:
        for task in self._tasks(function, *arguments):
            yield gather(self._blocks.client, task)

    def _transformed(self, function: Callable[[NDArray[Any]], NDArray[Any]], n_features: int) -> FeatureBlocks:
        return RemoteFeatures(self._rows, self.names, function, n_features)

    def _kept(self, function: Callable[..., NDArray[Any]], dtype: Any, width: int, *arguments: Any) -> FeatureBlocks:
        blocks = Blocks(self._blocks.client, self._tasks(function, *arguments), self._blocks.edges)
        blocks = Blocks(blocks.client, blocks.map(astype, blocks.futures, dtype), blocks.edges)
        return RemoteFeatures(RemoteRows(blocks, width, np.dtype(dtype)), None)

    def _tasks(self, function: Callable[..., R], *arguments: Any) -> list[Any]:
        """Futures of ``function(block, start, *arguments)``."""
        return [
            self._blocks.submit(of_made, self._make, function, block, start, *arguments)
            for block, start in zip(self._blocks.futures, self._blocks.edges.tolist(), strict=False)
        ]


def features_on_cluster(parts: Any, client: Any) -> RemoteFeatures:
    """Do what `FeatureBlocks.from_dask` does."""
    client = check_client(client, "from_dask")
    given = futures_of(parts, client, "features")
    with _failures_told():
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
    return RemoteFeatures(rows, None if first.names is None else list(first.names))


@contextmanager
def _failures_told() -> Iterator[None]:
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


def made(make: Any, block: NDArray[Any]) -> NDArray[Any]:
    block = as_floats(block)
    return block if make is None else np.asarray(make(block))


def of_made(make: Any, function: Callable[..., R], block: NDArray[Any], *arguments: Any) -> R:
    return function(made(make, block), *arguments)


def fold_made(make: Any, function: Callable[..., S], state: S, block: NDArray[Any], *arguments: Any) -> S:
    return function(state, made(make, block), *arguments)
