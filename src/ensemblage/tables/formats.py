"""The formats of files: what a suffix means, for every reader and writer."""

from collections.abc import Iterable
from os import PathLike
from pathlib import PurePath
from typing import Literal, NamedTuple


class Format(NamedTuple):
    """A format. What reads or writes it stands in a table of the module that does so, as ``TYPED`` of `arrow`."""

    name: str
    """In messages."""
    suffixes: tuple[str, ...]
    """The first is the one that messages name."""
    cells: Literal["text", "workbook", "typed", ""] = ""
    """What `read_table` gets of it: rows of text, cells of a sheet, columns of one type each; "": it is no table."""
    annotates: bool = False
    """Whether the shell writes such a table again, with what was found beside it."""


ENSEMBLE = Format("archive of NumPy", (".npz",))
TEXT = Format("text", (".csv",), "text", annotates=True)
NPY = Format("array of NumPy", (".npy",))
EXCEL = Format("Excel", (".xlsx",), "workbook", annotates=True)
WORKBOOK = Format("workbook", (".xlsm", ".xlsb", ".xls", ".ods"), "workbook")
PARQUET = Format("Parquet", (".parquet", ".pq"), "typed", annotates=True)
ARROW = Format("Arrow", (".arrow", ".feather", ".ipc"), "typed", annotates=True)
JSON_LINES = Format("JSON lines", (".jsonl", ".ndjson"), "typed", annotates=True)
JSON = Format("JSON", (".json",), "typed")
CELLS = Format("AnnData", (".h5ad",))
GRAPH = Format("GraphML", (".graphml",))
FORMATS = (ENSEMBLE, TEXT, NPY, EXCEL, WORKBOOK, PARQUET, ARROW, JSON_LINES, JSON, CELLS, GRAPH)
BY_SUFFIX = {suffix: form for form in FORMATS for suffix in form.suffixes}
PACKINGS = {".gz": "gzip", ".zst": "Zstandard"}
"""What a table may be packed in: its name has this suffix behind its own."""


def format_of(path: str | PathLike[str]) -> Format | None:
    """The format that the name of a file says, None if it is none of `FORMATS`."""
    return BY_SUFFIX.get(PurePath(path).suffix.lower())


def table_format(path: str | PathLike[str]) -> Format:
    """The format as which a table is read: text, unless the name says otherwise."""
    found = format_of(path)
    return found if found is not None and found.cells else TEXT


def first_suffixes(formats: Iterable[Format]) -> list[str]:
    """The suffixes that messages name of some formats."""
    return [form.suffixes[0] for form in formats]


def is_label_file(path: str | PathLike[str]) -> bool:
    """Whether the name is one of a file that holds labels and is no table."""
    return format_of(path) is ENSEMBLE
