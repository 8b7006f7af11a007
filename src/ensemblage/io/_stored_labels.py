"""Label matrices with types: .npy files of whole numbers, Parquet files and folders of them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ensemblage.base.text import some
from ensemblage.io._archive import is_damage, read_header
from ensemblage.io._formats import first_suffixes, format_of
from ensemblage.labels.coding import CodedColumns, code_labels
from ensemblage.labels.disk import StoredRows
from ensemblage.labels.threads import row_blocks


class Source(NamedTuple):
    """A label matrix that is read from its beginning to its end, several times."""

    path: Path
    shape: tuple[int, int]
    names: list[str] | None
    read: Any
    """read(rows) → iterator over matrices or tables of at most so many rows."""


def source_of(path: str | PathLike[str]) -> Source:
    """A .npy file, a Parquet file, or a folder of Parquet files in the order of their names."""
    where = Path(path)
    if not where.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if where.is_dir():
        parts = sorted(part for part in where.iterdir() if part.suffix == ".parquet")
        if not parts:
            raise ValueError(
                f"A folder of labels must hold .parquet files. Got none in {str(path)!r}. Write one per part."
            )
        return _source_of_parts(where, parts)
    found = format_of(where)
    if found is None or not found.open:
        files = ", ".join(f"a {suffix} file" for suffix in first_suffixes("open"))
        others = [suffix for suffix in first_suffixes("load") if suffix not in first_suffixes("open")]
        raise ValueError(
            f"Labels on disk must be {files} or a folder of them. Got {str(path)!r}. "
            f"Use Ensemble.load for {' and '.join(others)} files."
        )
    source: Source = found.function("open")(where)
    return source


def npy_source(path: Path) -> Source:
    """The rows of a .npy file."""
    rows = npy_rows(path)
    check_shape(rows.shape, path)
    return Source(path, rows.shape, None, lambda most: (rows[block] for block in row_blocks(len(rows), most)))


def check_shape(shape: tuple[int, int], path: Path) -> None:
    """Refuse a label matrix without objects or without partitions."""
    if min(shape) == 0:
        raise ValueError(
            f"A label matrix must have objects and partitions. Got shape {shape} in {str(path)!r}. "
            "Give one row per object, one column per partition."
        )


def npy_rows(path: Path) -> StoredRows:
    """The rows of a .npy file: a matrix of whole numbers."""
    try:
        with open(path, "rb") as file:
            shape, fortran, dtype = read_header(file)
            offset = file.tell()
    except ValueError as error:
        raise ValueError(
            f"A .npy file of labels must be one that numpy.save wrote. Got {str(path)!r} ({error}). Save it again."
        ) from None
    if dtype.kind not in "iub" or len(shape) != 2:
        raise ValueError(
            f"A .npy file of labels must be a matrix of whole numbers, objects by partitions. Got {dtype} of shape "
            f"{shape} in {str(path)!r}. Save whole numbers (-1 for missing) of one row per object."
        )
    size, needed = path.stat().st_size, offset + shape[0] * shape[1] * dtype.itemsize
    if size < needed:
        raise ValueError(
            f"A .npy file must be complete. Got {size:,} of {needed:,} bytes in {str(path)!r}. Copy or save it again."
        )
    return StoredRows(path, shape, dtype, offset=offset, fortran=fortran)


def parquet_source(path: Path) -> Source:
    """The rows of a Parquet file."""
    return _source_of_parts(path, [path])


def load_parquet(path: Path, missing: int | None) -> tuple[CodedColumns, int | None]:
    """The columns of a Parquet file in memory, with the labels that `Ensemble.open` finds in it, and ``missing``."""
    import pyarrow as pa

    source = parquet_source(path)
    table = pa.concat_tables(source.read(source.shape[0])).unify_dictionaries()
    return code_labels(table, missing), missing


def _source_of_parts(path: Path, parts: list[Path]) -> Source:
    headers = [_parquet_header(part) for part in parts]
    names = headers[0][0]
    for part, (got, _) in zip(parts, headers, strict=True):
        if got != names:
            what = f"{len(got)} columns instead of {len(names)}" if len(got) != len(names) else "other column names"
            raise ValueError(
                f"Parts of a label matrix must have the same columns. Got {what} in {part.name!r}. "
                f"The columns of {parts[0].name!r} are {some(names, 5)}."
            )
    shape = sum(n for _, n in headers), len(names)
    check_shape(shape, path)
    return Source(path, shape, names, lambda most: (batch for part in parts for batch in batches(part, most)))


def _parquet_header(path: Path) -> tuple[list[str], int]:
    """Names of the columns, number of rows."""
    import pyarrow.parquet as pq

    with whole(path), pq.ParquetFile(path) as file:
        return list(file.schema_arrow.names), int(file.metadata.num_rows)


def batches(path: Path, most: int) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with whole(path), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=most):
            batch.validate(full=True)
            if batch.num_rows:
                yield pa.table(batch)


@contextmanager
def whole(path: Path) -> Iterator[None]:
    """Say of a Parquet file that it is damaged, in whatever error of pyarrow that ends; the system's errors stay."""
    try:
        yield
    except Exception as error:
        if not is_damage(error):
            raise
        raise ValueError(
            f"A .parquet file must be of the format of its name. Got {str(path)!r}, which is not a complete Parquet "
            "file. Save it again."
        ) from None
