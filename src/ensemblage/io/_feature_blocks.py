"""FeatureBlocks: features that stay on disk or on the workers of a cluster, and are read block by block.

On a Dask cluster the work goes to the blocks, and what is small comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.lazy import Registered
from ensemblage.base.options import Message, Option
from ensemblage.base.text import one_line, some
from ensemblage.base.validation import check_bytes, check_path
from ensemblage.labels.dask import Blocks, LostWorkersError, RemoteRows, check_client, futures_of, gather
from ensemblage.labels.disk import LIBRARIES, Scratch, StoredRows, write_array
from ensemblage.labels.threads import SUM_ROWS, row_blocks
from ensemblage.tables.archive import read_header

clusters_of_blocks: Registered[[Any, Any], NDArray[np.int32]] = Registered("clusters_of_blocks")
write_blocks: Registered[[Any, Any, Any], None] = Registered("write_blocks")
describe_blocks: Registered[[Any, Any], Any] = Registered("describe_blocks")
features_of_parts: Registered[[Any, Any, Any], Any] = Registered("features_of_parts")

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


class FeatureBlocks:
    """Use it for features that do not fit into memory: they stay on disk, or on the workers of a Dask cluster.

    `open` and `from_dask` make it, and ``ConsensusClustering.fit`` takes it. The result is bitwise identical to that of
    the same array in memory, with the same seed. The fitted model has an entry for each of the objects that were drawn
    and clustered; `clusters`, `write_clusters` and `profile` are of all.

    Attributes
    ----------
    shape : tuple (n_objects, n_features)
    names : list of str or None
        Names of the columns, where they have some.

    Notes
    -----
    Passes over the features: two to scale them, one that looks for copies, one for the drawn objects, one for the
    neighbours of these, and one that finds which of the clustered objects are nearest to each. They are kept, 4 bytes
    per object; `clusters` and `write_clusters` need no further search, `profile` needs one more pass.

    Columns of Parquet parts are used by their roles, as those of a table in memory; all other features are numbers.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from ensemblage import ConsensusClustering, FeatureBlocks
    >>> X = np.random.default_rng(0).normal(size=(12_000, 2)) + np.repeat([[0, 0], [9, 9]], 6_000, axis=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "X.npy"
    ...     np.save(path, X)
    ...     features = FeatureBlocks.open(path, memory="2GB")
    ...     model = ConsensusClustering(2, random_state=0).fit(features)
    ...     np.bincount(features.clusters(model))
    array([6000, 6000])
    """

    are_blocks: ClassVar[bool] = True
    shape: tuple[int, int]
    names: list[str] | None
    _nearest: tuple[list[NDArray[np.float64]], FeatureBlocks] | None = None
    """The objects of each sample that were clustered last, and for each object which of each is nearest to it."""

    @classmethod
    def open(
        cls, path: str | PathLike[str], *, memory: int | str = "1GB", scratch: str | PathLike[str] | None = None
    ) -> FeatureBlocks:
        """Open features that lie on disk.

        Parameters
        ----------
        path : path of a .npy file, of a .parquet file, or of a folder of .parquet files
            Objects by features: numbers, in C or Fortran order, in a .npy file; a table in Parquet parts, in the order
            of their names.
        memory : int or str, default "1GB"
            Bytes that the process may take, or text such as "500MB".
        scratch : path of a folder, optional
            Where a temporary folder holds what is found of each object, 4 bytes each, and the used columns of Parquet
            parts, 8 bytes per value. It goes with the object. Default: the system's folder for temporary files.

        Returns
        -------
        FeatureBlocks
            Which reads the file whenever it is used.

        Raises
        ------
        FileNotFoundError
            If there is nothing at ``path``.
        ValueError
            If a file is broken or holds no numbers, if parts differ in columns or types, if ``memory`` is too small for
            the objects or for a column of Parquet, or the disk is full.

        Notes
        -----
        Parquet: a column at a time is in memory. It takes up to 56 bytes per object of numbers, six times its size of
        text, or 96 bytes per object, and 160 for each different text. Medians that fill gaps are those of all objects.
        """
        n_bytes, where = check_bytes(memory, "memory"), check_path(path, "path")
        if where.is_dir() or where.suffix.lower() == ".parquet":
            found: FeatureBlocks = features_of_parts(where, n_bytes, scratch)
            return found
        return StoredFeatures(_npy_rows(where), None, n_bytes)

    @classmethod
    def from_dask(cls, parts: Any, *, client: Any) -> FeatureBlocks:
        """Take features on a Dask cluster; they stay there.

        Parameters
        ----------
        parts : Dask array or frame of shape (n_objects, n_features), or sequence of delayed parts, futures or arrays
            Cut by rows, columns of numbers or truth values. What a task made can be made again when a worker is lost;
            arrays are sent to the workers once.
        client : distributed.Client
            Where the parts are, or shall be. You close it.

        Returns
        -------
        FeatureBlocks
            Which holds the features as float64 or float32 on the workers.

        Raises
        ------
        ValueError
            If parts differ in columns or types, hold other than numbers, or a task that makes one fails.

        Notes
        -----
        Here are 8 bytes per object while objects are drawn, the drawn ones, and what `clusters` returns. Workers hold
        the features twice while they are cut into blocks, and up to six blocks of 262,144 rows while they work.
        """
        return features_on_cluster(parts, client)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, m = self.shape
        return f"{type(self).__name__}({n:,} objects, {m:,} feature{'s' * (m > 1)})"

    def clusters(self, model: Any) -> NDArray[np.int32]:
        """The cluster of every object, brought here.

        Parameters
        ----------
        model : ConsensusClustering
            Fitted to these features.

        Returns
        -------
        ndarray of shape (n_objects,), int32
            Numbered by decreasing size.
        """
        return clusters_of_blocks(self, model)

    def write_clusters(self, model: Any, folder: str | PathLike[str]) -> None:
        """Write the cluster and the confidence of every object, and the profile of the clusters, as Parquet.

        Parameters
        ----------
        model : ConsensusClustering
            Fitted to these features.
        folder : path of a new folder
            It appears when all is written: ``clusters/part-000000000000.parquet`` and so on, each with the number of
            its first object, with the columns of labels.csv (of Parquet parts without a column of ids, and of other
            features, all but the id), and ``profile.parquet``. Workers write the parts, so that the folder must be one
            that they see, too.

        Raises
        ------
        ValueError
            If the folder exists, or the disk is full: nothing is kept then.
        """
        write_blocks(self, model, folder)

    def profile(self, model: Any) -> Any:
        """What each cluster is like: a record for each cluster and variable.

        Parameters
        ----------
        model : ConsensusClustering
            Fitted to these features.

        Returns
        -------
        pyarrow.Table
            The columns of `ensemblage.profile`'s ``to_frame()``, the strongest effects of each cluster first: they
            compare all objects, or of more than 262,144, or 4,194,304 values, so many that are drawn. Of all objects
            are ``n_objects``, those of the cluster, and for numbers ``mean``, ``deviation``, ``least``, ``largest`` and
            ``difference``, that of the mean from the mean of all, in deviations of all.
        """
        return describe_blocks(self, model).table

    # -- what the steps of a fit ask for ---------------------------------------------------------------------------

    def __getitem__(self, rows: Any) -> Any:
        """(m, n_features) some objects, by their numbers, in memory."""
        raise NotImplementedError

    def _fold(self, function: Callable[..., S], state: S, *arguments: Any, beside: FeatureBlocks | None = None) -> S:
        """``state = function(state, block, *arguments)`` for every block, in order.

        ``beside`` are features of the same objects in blocks of as many rows: its blocks follow those of these.
        """
        raise NotImplementedError

    def _reduce(self, function: Callable[..., R], merge: Callable[[R, R], R], *arguments: Any) -> R:
        """``function(block, *arguments)`` of every block, merged in order; ``merge`` is associative."""
        raise NotImplementedError

    def _each(self, function: Callable[..., R], *arguments: Any) -> Iterator[R]:
        """``function(block, start, *arguments)`` of every block, in order; ``start`` is its first row."""
        raise NotImplementedError

    def _transformed(self, function: Callable[[NDArray[Any]], NDArray[Any]], n_features: int) -> FeatureBlocks:
        """The features that a function of rows makes of these."""
        raise NotImplementedError

    def _kept(self, function: Callable[..., NDArray[Any]], dtype: Any, width: int, *arguments: Any) -> FeatureBlocks:
        """``function(block, start, *arguments)`` of every block, (rows, width) of this type, kept where these are."""
        raise NotImplementedError


class StoredFeatures(FeatureBlocks):
    """Features in a file.

    Parameters
    ----------
    rows : the file
    names : of its columns
    memory : bytes that the process may take
    make : function of a block of rows to m features; None: they are the rows
    scratch : where what is found of each object is kept
    """

    def __init__(
        self,
        rows: StoredRows,
        names: list[str] | None,
        memory: int,
        make: Any = None,
        m: int = 0,
        scratch: str | PathLike[str] | None = None,
    ) -> None:
        self._rows, self.names, self._memory, self._make, self._scratch = rows, names, memory, make, scratch
        self.shape = len(rows), m or rows.shape[1]
        self._rows_at_once = check_memory(memory, len(rows), max(self.shape[1], rows.shape[1]))

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return self._made(self._rows[np.asarray(rows)])

    def _fold(self, function: Callable[..., S], state: S, *arguments: Any, beside: FeatureBlocks | None = None) -> S:
        for rows in self._slices():
            more = () if beside is None else (beside._rows[rows],)  # type: ignore[attr-defined]  # a file, too
            state = function(state, self._block(rows), *more, *arguments)
        return state

    def _reduce(self, function: Callable[..., R], merge: Callable[[R, R], R], *arguments: Any) -> R:
        first, *others = self._slices()
        found = function(self._block(first), *arguments)
        for rows in others:
            found = merge(found, function(self._block(rows), *arguments))
        return found

    def _each(self, function: Callable[..., R], *arguments: Any) -> Iterator[R]:
        for rows in self._slices():
            yield function(self._block(rows), rows.start, *arguments)

    def _transformed(self, function: Callable[[NDArray[Any]], NDArray[Any]], n_features: int) -> FeatureBlocks:
        return StoredFeatures(self._rows, self.names, self._memory, function, n_features, self._scratch)

    def _kept(self, function: Callable[..., NDArray[Any]], dtype: Any, width: int, *arguments: Any) -> FeatureBlocks:
        with Scratch(self._scratch, self._memory).or_removed() as place:
            place.check_room(len(self) * width * np.dtype(dtype).itemsize)
            with place.writing("kept") as file:
                for block in self._each(function, *arguments):
                    write_array(file, block.astype(dtype))
            rows = StoredRows(place.file("kept"), (len(self), width), np.dtype(dtype), scratch=place)
        return StoredFeatures(rows, None, self._memory)

    def _slices(self) -> list[slice]:
        return row_blocks(len(self), self._rows_at_once)

    def _block(self, rows: slice) -> NDArray[Any]:
        return self._made(self._rows[rows])

    def _made(self, block: NDArray[Any]) -> NDArray[Any]:
        block = as_floats(block)
        return block if self._make is None else np.asarray(self._make(block))


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


def _npy_rows(path: Path) -> StoredRows:
    """The rows of a .npy file of numbers."""
    subject = "A .npy file of features must be a matrix of numbers, objects by features, that numpy.save wrote."
    if path.suffix.lower() != ".npy":
        path.stat()
        raise ValueError(
            f"Features on disk must be a .npy file or a folder of .parquet files. Got {str(path)!r}. Save them in "
            f"one of these formats."
        )
    try:
        with open(path, "rb") as file:
            shape, fortran, dtype = read_header(file)
            offset = file.tell()
    except ValueError as error:
        raise ValueError(f"{subject} Got {str(path)!r} ({error}). Save it again.") from None
    if dtype.kind not in "iufb" or len(shape) != 2 or min(shape) == 0:
        raise ValueError(f"{subject} Got {dtype} of shape {shape} in {str(path)!r}. Save one row per object.")
    size, needed = path.stat().st_size, offset + shape[0] * shape[1] * dtype.itemsize
    if size < needed:
        raise ValueError(f"{subject} Got {size:,} of {needed:,} bytes in {str(path)!r}. Copy or save it again.")
    return StoredRows(path, shape, dtype, offset=offset, fortran=fortran)


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
