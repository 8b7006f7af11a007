"""Labels in files: .csv, readable; .npz, exact; Parquet in memory; and partitions of objects in AnnData."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Container, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.atomic import atomic_write
from ensemblage.base.options import Message, NoteWarning, Option, suggestion
from ensemblage.base.text import some, write_csv
from ensemblage.base.threads import row_blocks
from ensemblage.base.validation import check_path, format_value
from ensemblage.labels.blocks import LabelRows, MemoryRows
from ensemblage.labels.coding import (
    CodedColumn,
    CodedColumns,
    check_labelled,
    check_missing,
    check_names,
    check_noise,
    code_dtype,
    code_labels,
    code_objects,
    code_with_noise,
    stack_columns,
    vote_noise,
)
from ensemblage.labels.out_of_core import parquet_source
from ensemblage.tables.archive import is_damage, new_zip, read_array
from ensemblage.tables.arrow import read_text
from ensemblage.tables.bytes import text_bytes
from ensemblage.tables.cells import may_have_spaces, text_columns
from ensemblage.tables.column import Column, label_values
from ensemblage.tables.formats import ENSEMBLE, PARQUET, TEXT, Format, first_suffixes, format_of, is_label_file
from ensemblage.tables.h5ad import name_of, open_anndata
from ensemblage.tables.numbers import is_missing


def save_labels(coded: CodedColumns, missing: int | None, path: str | PathLike[str]) -> None:
    """Write columns with names to a file that keeps everything (.npz), or to one that does not say ``missing``."""
    file = check_path(path, "path")
    WRITERS[_known_format(file, WRITERS)](coded, missing, file)


def load_labels(path: str | PathLike[str], missing: int | None, noise: str) -> tuple[CodedColumns, int | None]:
    """The columns of a file and the number that means missing: its own in .npz, the one given in all others."""
    file, missing = check_path(path, "path"), check_missing(missing)
    load = READERS[_known_format(file, READERS)]
    voted = check_noise(noise, missing)
    if voted is None:
        return load(file, missing)
    if is_label_file(file):
        raise ValueError(
            "noise of Ensemble.load must be 'missing' for a file that keeps an ensemble, whose noise is missing. "
            f"Got {noise!r} and {str(file)!r}. Make the ensemble with noise={noise!r}, then save it."
        )
    return vote_noise(load(file, None)[0], voted), missing


def _known_format(file: Path, known: Container[Format]) -> Format:
    """The format of the file, if it is one of those in which labels can be loaded or saved."""
    found = format_of(file)
    if found is None or found not in known:
        both, read = first_suffixes(WRITERS), first_suffixes(form for form in READERS if form not in WRITERS)
        raise ValueError(
            f"The name of an ensemble's file must end in {' or '.join(both)} ({' or '.join(read)} to load one). "
            f"Got {str(file)!r}. Use .npz to keep everything exactly, or .csv for other programs."
        )
    return found


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
    lines: Iterator[tuple[str, ...]] = (
        line
        for rows in row_blocks(len(coded.codes))
        for line in zip(*(text[codes] for text, codes in zip(texts, coded.codes[rows].T, strict=True)), strict=True)
    )
    differs = len(coded.categories[0]) == len(coded.codes) > 2
    if differs and len(names) > 1 and not OWN_NAME.fullmatch(names[0]):  # it would name the rows: see first_names_rows
        names = ["", *names]
        lines = ((str(i), *line) for i, line in enumerate(lines, start=1))
    # Without a comma in the line, what looks like another separator must be seen to be none.
    looks_separated = len(names) == 1 and any(character in names[0] for character in ";\t|")
    write_csv(path, names, lines, lineterminator="\r\n", quoted_header=looks_separated)


def _check_comes_back(name: str, labels: list[str], *, is_first: bool) -> None:
    """A table is read without the spaces around its cells, a CSV file has no missing labels but blank ones."""
    try:
        "".join([name, *labels]).encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"A .csv file must be UTF-8 text. Got half of a surrogate pair in partition {format_value(name)}. "
            "Use .npz, or give that label another name."
        ) from None
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


def load_csv(path: Path, missing: int | None) -> tuple[CodedColumns, int | None]:
    """The columns of a CSV file with a header, every partition with labels, and ``missing``.

    An unnamed first column holds ids, and so does one that `first_names_rows` finds.
    """
    content = path.read_bytes()
    first_line = content[:SAMPLE_BYTES].lstrip(b"\xef\xbb\xbf\r\n").partition(b"\n")[0]
    unquoted = QUOTED.sub(b"", first_line)
    delimiter = None if not unquoted.count(b",") and any(map(unquoted.count, (b";", b"\t", b"|"))) else ","
    name = f"{path.stem}.csv"
    try:
        text = text_bytes(content, name)
        split, layout = read_text(text, name, delimiter, True)
        columns = text_columns(split, layout, name, may_have_spaces(text))
    except ValueError as error:
        raise ValueError(
            f"A .csv file of labels must be a table with a header line. Got {str(path)!r}: {error}"
        ) from None
    if not layout.header[0]:
        columns = columns[1:]
    elif first_names_rows(columns):
        warnings.warn(
            f"The ids of {name} are {said_of_ids(columns[0].name)}. If it is a partition, move it to another place.",
            NoteWarning,
            stacklevel=4,
        )
        columns = columns[1:]
    coded = code_columns(columns, missing)
    check_labelled(coded.categories, check_names(coded.names, len(coded.categories)), each=True)
    return coded, missing


OWN_NAME = re.compile(r"partition_\d+")
"""What `Ensemble` calls a partition that has no name."""


def first_names_rows(columns: Sequence[Column]) -> bool:
    """Whether the first of several columns of labels holds the ids of the rows, of which there are more than two.

    It holds text or whole numbers, and no two are the same; a name that `Ensemble` gives says that it is a partition.
    """
    first = columns[0]
    is_whole = first.numbers is None or bool(np.all(first.numbers == np.floor(first.numbers)))
    may_be = len(columns) > 1 and len(first.values) > 2 and is_whole and not OWN_NAME.fullmatch(first.name)
    return may_be and differs_everywhere(first)


def said_of_ids(name: str) -> str:
    return f"column {name!r}, the first, which differs in every row"


def differs_everywhere(column: Column) -> bool:
    """Whether a column is like an id; whole numbers that are the same, though their texts differ, are not."""
    values = column.numbers
    if values is None or not column.differs_everywhere():
        return column.differs_everywhere()
    return bool(np.any(values != np.floor(values)) or np.ptp(values) >= len(values) - 1)


def code_columns(columns: Sequence[Column], missing: int | None) -> CodedColumns:
    """Each column as a partition."""
    return code_texts([column.name for column in columns], [column.distinct for column in columns], missing)


def code_texts(
    names: Sequence[str], numbered: Sequence[tuple[NDArray[np.int32], list[str]]], missing: int | None
) -> CodedColumns:
    """Each column as a partition, of (n,) the number of each object's text, and the texts: their number means none."""
    coded = [
        code_objects([*label_values(texts), None], name, missing)
        for name, (_, texts) in zip(names, numbered, strict=True)
    ]
    dtype = code_dtype([column.categories for column in coded])
    codes = [column.codes.astype(dtype)[numbers] for column, (numbers, _) in zip(coded, numbered, strict=True)]
    partitions = [CodedColumn(code, column.categories) for code, column in zip(codes, coded, strict=True)]
    return stack_columns(partitions, list(names))


def load_parquet(path: Path, missing: int | None) -> tuple[CodedColumns, int | None]:
    """The columns of a Parquet file in memory, with the labels that `Ensemble.open` finds in it, and ``missing``."""
    import pyarrow as pa

    source = parquet_source(path)
    table = pa.concat_tables(source.read(source.shape[0])).unify_dictionaries()
    return code_labels(table, missing), missing


WRITERS = {ENSEMBLE: save_npz, TEXT: save_csv}
"""write(coded, missing, path)"""
READERS = {ENSEMBLE: load_npz, TEXT: load_csv, PARQUET: load_parquet}
"""read(path, missing) → columns, and the number that means missing"""

LEIDEN = "leiden_*"
"""How scanpy's users name the partitions of a sweep."""


def labels_of_anndata(
    source: Any, columns: str | Sequence[str], missing: int | None, noise: str
) -> tuple[CodedColumns, int | None]:
    """The partitions in ``.obs``, as `Ensemble.from_anndata` has them, and ``missing``."""
    adata, missing = open_anndata(source), check_missing(missing)
    names = matching_columns(adata, columns)
    numbered = [_number_labels(adata.obs[name], name, name_of(adata)) for name in names]
    return code_with_noise(partial(code_texts, names), numbered, missing, noise), missing


def matching_columns(adata: Any, columns: str | Sequence[str]) -> list[str]:
    """Names of columns of ``.obs``, in their order there for each pattern; each once."""
    asked: Any = [columns] if isinstance(columns, str) else columns
    if not isinstance(asked, Sequence) or not asked or not all(isinstance(name, str) for name in asked):
        raise TypeError(
            "columns must be the name of a column of .obs, a pattern such as 'leiden_*', or a list of such. "
            f"Got {format_value(columns)}. Give 'leiden_*', for example."
        )
    present = [str(name) for name in adata.obs.columns]
    found: dict[str, None] = {}
    for pattern in asked:
        matched = [pattern] if pattern in present else [name for name in present if fnmatchcase(name, pattern)]
        if not matched:
            rule = "match" if any(sign in pattern for sign in "*?[") else "name"
            got = f"Got {pattern!r}. {suggestion(pattern, present) or f'Its columns are {some(present)}.'}"
            raise ValueError(Message(Option("columns"), f" must {rule} columns of .obs of {name_of(adata)}. {got}"))
        found |= dict.fromkeys(matched)
    return list(found)


def _number_labels(column: Any, name: str, source: str) -> tuple[NDArray[np.int32], list[str]]:
    """(n,) number of each object's label, the number of labels where it has none; the labels as text.

    Categories, text, whole numbers and truth values are labels; numbers with fractions are measurements.
    """
    if getattr(column, "ndim", 1) != 1:
        raise ValueError(
            f"The columns of .obs of {source} must have different names. Got {name!r} more than once. Rename one of "
            f"them."
        )
    categories = column.astype("category").cat.remove_unused_categories()
    codes, values = categories.cat.codes.to_numpy(), categories.cat.categories
    if values.dtype.kind == "f":
        fractions = [value for value in values if not np.isfinite(value) or value != np.floor(value)]
        if fractions:
            raise ValueError(
                f"A column of clusters must hold categories, text or whole numbers. Got {fractions[0]:g} in .obs "
                f"{name!r} of {source}. Name only columns of partitions."
            )
        values = values.astype(np.int64)
    texts = [str(value) for value in values]
    if len(column) > 2 and len(texts) == len(column):
        raise ValueError(
            f"A partition must put some objects together. Got a different value for every object in .obs {name!r} of "
            f"{source}. Name only columns of partitions."
        )
    return np.where(codes < 0, len(texts), codes).astype(np.int32), texts
