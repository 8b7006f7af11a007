"""FeatureBlocks: features that stay on disk or on the workers of a cluster, and are read block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.lazy import Registered
from ensemblage.base.options import Message, Option
from ensemblage.base.validation import check_bytes, check_path
from ensemblage.io._archive import read_header
from ensemblage.labels.disk import LIBRARIES, Scratch, StoredRows, write_array
from ensemblage.labels.threads import SUM_ROWS, row_blocks

clusters_of_blocks: Registered[[Any, Any], NDArray[np.int32]] = Registered("clusters_of_blocks")
write_blocks: Registered[[Any, Any, Any], None] = Registered("write_blocks")
describe_blocks: Registered[[Any, Any], Any] = Registered("describe_blocks")
features_of_parts: Registered[[Any, Any, Any], Any] = Registered("features_of_parts")
features_on_workers: Registered[[Any, Any], Any] = Registered("features_on_workers")

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
        found: FeatureBlocks = features_on_workers(parts, client)
        return found

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
