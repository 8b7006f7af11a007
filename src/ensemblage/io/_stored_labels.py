"""Labels in files: .csv, readable; .npz, exact; label matrices with types, .npy and Parquet, that stay on disk."""

from __future__ import annotations

import errno
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.atomic import atomic_write
from ensemblage.base.text import some, write_csv
from ensemblage.base.validation import format_value
from ensemblage.tables.archive import is_damage, new_zip, read_array, read_header
from ensemblage.tables.column import code_columns, label_values
from ensemblage.tables.formats import first_suffixes, format_of
from ensemblage.tables.numbers import is_missing
from ensemblage.io._read import read_rows
from ensemblage.labels.blocks import LabelRows, MemoryRows
from ensemblage.labels.coding import CodedColumns, check_labelled, check_names, code_dtype, code_labels
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


FORMAT = 1
WRITTEN_BYTES = 2**24
"""Most bytes of codes that are written at once."""


def save_npz(coded: CodedColumns, missing: int | None, path: Path) -> None:
    """Write format 1: codes, categories, names and the number that means missing, one .npy member each."""
    arrays: dict[str, Any] = {f"categories_{j}": c for j, c in enumerate(coded.categories)}
    arrays["ensemblage_format"] = np.array(FORMAT)
    arrays["names"] = np.array(coded.names, dtype=str)
    arrays["missing"] = np.array([] if missing is None else [missing], dtype=np.int64)
    with atomic_write(path, "wb") as file, new_zip(file) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        with archive.open("codes.npy", "w", force_zip64=True) as member:
            _write_rows(member, coded.codes)


def _write_rows(file: IO[bytes], codes: LabelRows) -> None:
    """What numpy.save writes, of codes that are in memory block by block only."""
    descr = np.lib.format.dtype_to_descr(codes.dtype)
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": codes.shape})
    for rows in row_blocks(len(codes), max(1, WRITTEN_BYTES // (codes.shape[1] * codes.dtype.itemsize))):
        file.write(np.ascontiguousarray(codes[rows]).data)


def load_npz(path: Path, _: int | None) -> tuple[CodedColumns, int | None]:
    """The columns, checked, and the number that means missing there; ValueError if the file is damaged or too new."""
    with open(path, "rb") as file:  # what the system says of the file is its own error
        try:
            with zipfile.ZipFile(file) as archive:
                version = int(read_array(archive, "ensemblage_format").item())
                if version <= FORMAT:
                    return _read_format_1(archive)
        except Exception as error:
            if not is_damage(error):
                raise
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(
                f"A .npz file must be one that Ensemble.save wrote. Got {str(path)!r} ({reason[:200]}). "
                "Save the ensemble again."
            ) from None
    raise ValueError(
        f"{str(path)!r} must be of format {FORMAT}, the newest that this version of ensemblage knows. Got format "
        f"{version}, which a newer ensemblage wrote. Upgrade ensemblage."
    )


def _read_format_1(archive: zipfile.ZipFile) -> tuple[CodedColumns, int | None]:
    codes, names, missing = (read_array(archive, name) for name in ("codes", "names", "missing"))
    if names.dtype.kind != "U" or names.shape != codes.shape[1:]:
        raise ValueError("names are not one text per partition")
    if missing.dtype != np.int64 or missing.ndim != 1 or len(missing) > 1:
        raise ValueError("missing is not a whole number")
    categories = tuple(read_array(archive, f"categories_{j}") for j in range(len(names)))
    check_coded(codes, categories, names.tolist())
    coded = CodedColumns(MemoryRows(np.ascontiguousarray(codes)), categories, names.tolist())
    return coded, missing.tolist()[0] if len(missing) else None


def check_coded(codes: NDArray[Any], categories: tuple[NDArray[Any], ...], names: list[str]) -> None:
    """Refuse what `code_labels` never returns, and names that are none."""
    for labels in categories:
        if labels.ndim != 1 or labels.dtype.kind not in "iufU" or not labels.dtype.isnative:
            raise ValueError("categories are no labels")
        labels.tolist()  # fails where a character is none
        if not (labels[:-1] < labels[1:]).all() or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
            raise ValueError("categories are not distinct labels in sorted order")
    limits = np.array([len(labels) for labels in categories])
    if codes.ndim != 2 or codes.dtype != code_dtype(categories) or (codes > limits).any() or codes.min() < 0:
        raise ValueError("codes do not fit the categories")
    check_labelled(categories, check_names(names, len(categories)))


SAMPLE_BYTES = 1 << 16
QUOTED = re.compile(rb'"[^"]*(?:"|$)')


def save_csv(coded: CodedColumns, _: int | None, path: Path) -> None:
    """Write the names as header, then one line per object; missing entries are empty."""
    names = coded.names or []
    texts = [np.array([*map(_label_text, c.tolist()), ""], dtype=object) for c in coded.categories]
    for j, (name, column) in enumerate(zip(names, texts, strict=True)):
        _check_comes_back(name, column[:-1].tolist(), is_first=j == 0)
    lines = (
        line
        for rows in row_blocks(len(coded.codes))
        for line in zip(*(text[codes] for text, codes in zip(texts, coded.codes[rows].T, strict=True)), strict=True)
    )
    # Without a comma in the line, what looks like another separator must be seen to be none.
    looks_separated = len(names) == 1 and any(character in names[0] for character in ";\t|")
    write_csv(path, names, lines, lineterminator="\r\n", quoted_header=looks_separated)


def _check_comes_back(name: str, labels: list[str], *, is_first: bool) -> None:
    """A table is read without the spaces around its cells, a CSV file has no missing labels but blank ones."""
    if not _is_writable("".join([name, *labels])):
        raise ValueError(
            f"A .csv file must be UTF-8 text. Got half of a surrogate pair in partition {format_value(name)}. "
            "Use .npz, or give that label another name."
        )
    if not all(map(str.strip, labels)):
        raise ValueError(
            f"A .csv file marks missing labels by blank fields. Got a blank label in partition {name!r}. "
            "Use .npz, or give that label a name."
        )
    odd = next((text for text in [name, *labels] if text != text.strip() or "\0" in text), None)
    odd = next(filter(is_missing, labels), odd) if odd is None else odd
    if odd is not None or (is_first and not name):
        raise ValueError(
            "A .csv file must be read back unchanged: no label NA, no spaces around a text, no empty first name. "
            f"Got {format_value(odd or name)} in partition {format_value(name)}. Use .npz, or give it another name."
        )
    text_of: dict[Any, str] = {}
    for value, text in zip(label_values(labels), labels, strict=True):
        if isinstance(value, float) and not value.is_integer():
            raise ValueError(
                "A .csv file must be read back unchanged: no labels that are numbers with fractions, which look like "
                f"features. Got {format_value(text)} in partition {format_value(name)}. Use .npz, or number the labels."
            )
        if text_of.setdefault(value, text) != text:
            raise ValueError(
                "A .csv file must be read back unchanged: no two labels that are the same whole number. "
                f"Got {format_value(text_of[value])} and {format_value(text)} in partition {format_value(name)}. Use "
                ".npz, or give one of them another name."
            )


def _label_text(label: int | float | str) -> str:
    """Without an exponent: labels with one are text to the reader."""
    if isinstance(label, float) and "e" in str(label):
        return np.format_float_positional(label, trim="0")
    return str(label)


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def load_csv(path: Path, missing: int | None) -> tuple[CodedColumns, int | None]:
    """The columns of a CSV file with a header, every partition with labels, and ``missing``.

    An unnamed first column holds ids.
    """
    content = path.read_bytes()
    first_line = content[:SAMPLE_BYTES].lstrip(b"\xef\xbb\xbf\r\n").partition(b"\n")[0]
    unquoted = QUOTED.sub(b"", first_line)
    delimiter = None if not unquoted.count(b",") and any(map(unquoted.count, (b";", b"\t", b"|"))) else ","
    try:
        table = read_rows(content, name=f"{path.stem}.csv", has_header=True, delimiter=delimiter, decimal=".")
    except ValueError as error:
        raise ValueError(
            f"A .csv file of labels must be a table with a header line. Got {str(path)!r}: {error}"
        ) from None
    coded = code_columns([column for column in table.columns if column.name != table.index], missing)
    check_labelled(coded.categories, check_names(coded.names, len(coded.categories)), each=True)
    return coded, missing
