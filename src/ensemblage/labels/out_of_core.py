"""Label matrices that are not brought into memory: coded from file to disk, or on the workers of a Dask cluster."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import some
from ensemblage.base.threads import row_blocks
from ensemblage.base.validation import check_bytes, check_path
from ensemblage.labels.coding import (
    CodedColumns,
    Coding,
    check_missing,
    check_names,
    check_noise,
    check_size,
    code_dtype,
    code_labels,
    vote_noise,
)
from ensemblage.labels.dask import Blocks, RemoteRows, check_client, futures_of, gather
from ensemblage.labels.disk import NpyRule, Scratch, StoredRows, npy_rows, room_beside_state, write_array
from ensemblage.tables.arrow import parquet_parts, whole
from ensemblage.tables.formats import ENSEMBLE, NPY, PARQUET, TEXT, first_suffixes, format_of

STATE = 36
"""Most bytes per object that methods keep while they work, `h-km` left out (measured: docs/SCALE.md)."""
BATCH_ROWS = 2**18
"""Most rows that are read and coded at a time."""


def open_labels(
    path: str | PathLike[str],
    names: Sequence[str] | None,
    missing: int | None,
    noise: str,
    memory: int | str,
    scratch: str | PathLike[str] | None,
) -> tuple[CodedColumns, int | None]:
    """The labels of a file as codes on disk, and ``missing``: two passes, with as many rows as ``memory`` allows."""
    missing, n_bytes = check_missing(missing), check_bytes(memory, "memory")
    voted = check_noise(noise, missing)
    source = source_of(check_path(path, "path"))
    n, p = source.shape
    names = source.names if names is None else check_names(names, p)
    rows_at_once = max(1, min(BATCH_ROWS, room_beside_state(n_bytes, n, STATE) // (40 * p)))
    with Scratch(scratch, n_bytes).or_removed() as folder:
        titles = [f"{name!r} of {str(source.path)!r}" for name in source.names or range(p)]
        of_batches = (categories_of_part(batch, voted) for batch in _batches(source, rows_at_once))
        categories = union_of_parts(of_batches, titles, missing)
        dtype = code_dtype(categories)
        folder.check_room(n * p * dtype.itemsize)
        with folder.writing("codes") as file:
            for batch in _batches(source, rows_at_once):
                write_array(file, codes_of_part(batch, categories, voted))
    rows = StoredRows(folder.file("codes"), (n, p), dtype, scratch=folder)
    return CodedColumns(rows, categories, names), missing


def _batches(source: LabelSource, rows_at_once: int) -> Iterator[Any]:
    """Matrices or tables of at most so many rows; an error at the end if they were not those announced."""
    n_read = 0
    for batch in source.read(rows_at_once):
        n_read += len(batch)
        yield batch
    if n_read != source.shape[0]:
        raise ValueError(
            f"{str(source.path)!r} must hold the {source.shape[0]:,} rows of its header. Got {n_read:,}. Save it again."
        )


class LabelSource(NamedTuple):
    """A label matrix that is read from its beginning to its end, several times."""

    path: Path
    shape: tuple[int, int]
    names: list[str] | None
    read: Any
    """read(rows) → iterator over matrices or tables of at most so many rows."""


def source_of(path: str | PathLike[str]) -> LabelSource:
    """A .npy file, a Parquet file, or a folder of Parquet files in the order of their names."""
    where = Path(path)
    if not where.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if where.is_dir():
        return parquet_source(where)
    found = format_of(where)
    if found not in OPENERS:
        files = ", ".join(f"a {suffix} file" for suffix in first_suffixes(OPENERS))
        raise ValueError(
            f"Labels on disk must be {files} or a folder of them. Got {str(path)!r}. "
            f"Use Ensemble.load for {' and '.join(first_suffixes([ENSEMBLE, TEXT]))} files."
        )
    return OPENERS[found](where)


NPY_LABELS = NpyRule(
    kinds="iub",
    least=0,
    written="A .npy file of labels must be one that numpy.save wrote.",
    matrix="A .npy file of labels must be a matrix of whole numbers, objects by partitions.",
    complete="A .npy file must be complete.",
    advice="Save whole numbers (-1 for missing) of one row per object.",
)


def npy_source(path: Path) -> LabelSource:
    """The rows of a .npy file."""
    rows = npy_rows(path, NPY_LABELS)
    check_shape(rows.shape, path)
    return LabelSource(path, rows.shape, None, lambda most: (rows[block] for block in row_blocks(len(rows), most)))


def check_shape(shape: tuple[int, int], path: Path) -> None:
    """Refuse a label matrix without objects or without partitions."""
    if min(shape) == 0:
        raise ValueError(
            f"A label matrix must have objects and partitions. Got shape {shape} in {str(path)!r}. "
            "Give one row per object, one column per partition."
        )


def parquet_source(path: Path) -> LabelSource:
    """The rows of a Parquet file, or of those of a folder."""
    parts = parquet_parts(path, "labels")
    names = list(parts[0].schema.names)
    for part in parts:
        got = part.schema.names
        if got != names:
            what = f"{len(got)} columns instead of {len(names)}" if len(got) != len(names) else "other column names"
            raise ValueError(
                f"Parts of a label matrix must have the same columns. Got {what} in {part.path.name!r}. "
                f"The columns of {parts[0].path.name!r} are {some(names, 5)}."
            )
    shape = sum(part.n_rows for part in parts), len(names)
    check_shape(shape, path)
    return LabelSource(path, shape, names, lambda most: (batch for part in parts for batch in batches(part.path, most)))


def batches(path: Path, most: int) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with whole(path), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=most):
            batch.validate(full=True)
            if batch.num_rows:
                yield pa.table(batch)


OPENERS = {NPY: npy_source, PARQUET: parquet_source}
"""open(path) → what is read in parts"""


def labels_on_cluster(
    parts: Any, client: Any, names: Sequence[str] | None, missing: int | None, noise: str
) -> tuple[CodedColumns, int | None]:
    """The labels of the parts as codes on the workers, and ``missing``."""
    missing, client = check_missing(missing), check_client(client, "from_dask")
    voted = check_noise(noise, missing)
    given = futures_of(parts, client)
    shapes = gather(client, [client.submit(shape_of, part, pure=False) for part in given])
    widths = sorted({len(shape) > 1 and shape[1] for shape in shapes})
    if len(widths) > 1 or not widths[0]:
        got = f"{widths[0]} and {widths[-1]} columns" if widths[0] else "a part that is no matrix"
        raise ValueError(
            f"Parts of a label matrix must have the same columns. Got {got}. "
            "Give matrices of objects by partitions, cut by rows only."
        )
    p, lengths = int(widths[0]), [shape[0] for shape in shapes if shape[0]]
    names = None if names is None else check_names(names, p)
    check_size(len(lengths), p)
    futures = [part for part, shape in zip(given, shapes, strict=True) if shape[0]]
    parts = Blocks(client, futures, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
    found = parts.gather(categories_of_part, futures, voted)
    categories = union_of_parts(found, [str(j) for j in range(p)], missing)
    codes = Blocks(client, parts.map(codes_of_part, futures, categories, voted), parts.edges)
    rows = RemoteRows(codes, p, code_dtype(categories))
    return CodedColumns(rows, categories, names), missing


def shape_of(part: Any) -> tuple[int, ...]:
    return tuple(getattr(part, "shape", ()))


def categories_of_part(part: Any, noise: int | None = None) -> tuple[NDArray[Any], ...]:
    """The labels in each column of a part; a number that means "missing" is still one of them, unless it is voted on.

    noise : label of the objects in no cluster on which partitions vote; None: they do not
    """
    return _code_part(part, noise).categories


def union_of_parts(
    of_parts: Iterable[tuple[NDArray[Any], ...]], titles: Sequence[str], missing: int | None
) -> tuple[NDArray[Any], ...]:
    """The labels in each column of all parts, as of one matrix; ``titles`` say in errors which column it is."""
    parts = iter(of_parts)
    found = list(next(parts))
    for part in parts:
        found = [_union(*labels) for labels in zip(found, part, titles, strict=True)]
    if missing is None:
        return tuple(found)
    return tuple(labels if labels.dtype.kind == "U" else labels[labels != missing] for labels in found)


def codes_of_part(part: Any, categories: tuple[NDArray[Any], ...], noise: int | None = None) -> NDArray[Any]:
    """(n, p) codes of a part; those that the whole matrix would have."""
    codes: NDArray[Any] = Coding(categories, None).encode(_code_part(part, noise), warn=False)[:]
    return codes


def _code_part(part: Any, noise: int | None) -> CodedColumns:
    """The rows of a part as codes of their own; votes are of one row each, so that a part has those of the whole."""
    coded = code_labels(part, None)
    return coded if noise is None else vote_noise(coded, noise)


def _union(known: NDArray[Any], new: NDArray[Any], title: str) -> NDArray[Any]:
    """The labels of two parts of a column."""
    if not len(known):
        return new
    if not len(new) or np.array_equal(known, new):
        return known
    if "U" in (known.dtype.kind, new.dtype.kind) and known.dtype.kind != new.dtype.kind:
        raise ValueError(
            f"Labels of one partition must be all numbers or all text. Got both in partition {title}. "
            "Write that column as text in every part."
        )
    known, new = _as_signed(known), _as_signed(new)
    if "u" in (known.dtype.kind, new.dtype.kind):
        least = min(known[0], new[0])
        if "f" in (known.dtype.kind, new.dtype.kind) or least < 0:
            raise ValueError(
                f"Whole numbers that are labels must be from −2⁶³ to 2⁶³ − 1, or from 0 to 2⁶⁴ − 1. Got {least} and "
                f"{max(known[-1], new[-1])} in partition {title}. Convert that column to text in every part."
            )
        known, new = known.astype(np.uint64), new.astype(np.uint64)
    return np.union1d(known, new)


def _as_signed(labels: NDArray[Any]) -> NDArray[Any]:
    """Sorted labels, as int64 if they are unsigned and fit."""
    return labels.astype(np.int64) if labels.dtype.kind == "u" and labels[-1] < 2**63 else labels
