"""The formats of files: what a suffix means, for every reader and writer; labels are written and read by it.

Functions are named by their place in ``ensemblage.io``, and imported when they are used.
"""

import importlib
from collections.abc import Callable
from os import PathLike
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple

from ensemblage.base.validation import check_path
from ensemblage.labels.coding import CodedColumns, check_missing, check_noise, vote_noise


class Format(NamedTuple):
    """A format, and what reads and writes its files; "" where nothing does."""

    name: str
    """In messages."""
    suffixes: tuple[str, ...]
    """The first is the one that messages name."""
    cells: Literal["text", "workbook", "typed", ""] = ""
    """What `read_table` gets of it: rows of text, cells of a sheet, columns of one type each."""
    table: str = ""
    """The function that makes Arrow columns of the bytes."""
    load: str = ""
    """load(path, missing) → labels in memory, and the number that means missing."""
    open: str = ""
    """open(path) → `Source` of labels that stay on disk."""
    save: str = ""
    """save(coded, missing, path) writes labels."""
    annotates: bool = False
    """Whether the shell writes such a table again, with what was found beside it."""

    def function(self, of: Literal["table", "load", "open", "save"]) -> Callable[..., Any]:
        """What does this with a file."""
        module, _, name = getattr(self, of).partition(".")
        found: Callable[..., Any] = getattr(importlib.import_module(f"ensemblage.io.{module}"), name)
        return found


TEXT = Format(
    "text",
    (".csv",),
    "text",
    "_arrow.read_text",
    "_stored_labels.load_csv",
    save="_stored_labels.save_csv",
    annotates=True,
)
EXCEL = Format("Excel", (".xlsx",), "workbook", "_arrow.read_workbook", annotates=True)
CELLS = Format("AnnData", (".h5ad",))
GRAPH = Format("GraphML", (".graphml",))
FORMATS = (
    Format("archive of NumPy", (".npz",), load="_stored_labels.load_npz", save="_stored_labels.save_npz"),
    TEXT,
    Format("array of NumPy", (".npy",), open="_stored_labels.npy_source"),
    EXCEL,
    Format("workbook", (".xlsm", ".xlsb", ".xls", ".ods"), "workbook", "_arrow.read_workbook"),
    Format(
        "Parquet",
        (".parquet", ".pq"),
        "typed",
        "_arrow.parquet_columns",
        "_stored_labels.load_parquet",
        "_stored_labels.parquet_source",
        annotates=True,
    ),
    Format("Arrow", (".arrow", ".feather", ".ipc"), "typed", "_arrow.arrow_columns", annotates=True),
    Format("JSON lines", (".jsonl", ".ndjson"), "typed", "_arrow.json_columns", annotates=True),
    Format("JSON", (".json",), "typed", "_arrow.json_columns"),
    CELLS,
    GRAPH,
)
BY_SUFFIX = {suffix: form for form in FORMATS for suffix in form.suffixes}
PACKINGS = {".gz": "gzip", ".zst": "Zstandard"}
"""What a table may be packed in: its name has this suffix behind its own."""


def format_of(path: str | PathLike[str]) -> Format | None:
    """The format that the name of a file says, None if it is none of `FORMATS`."""
    return BY_SUFFIX.get(PurePath(path).suffix.lower())


def table_format(path: str | PathLike[str]) -> Format:
    """The format as which a table is read: text, unless the name says otherwise."""
    found = format_of(path)
    return found if found is not None and found.table else TEXT


def first_suffixes(of: Literal["load", "open", "save", "annotates"]) -> list[str]:
    """The suffixes that messages name of the formats with which this can be done."""
    return [form.suffixes[0] for form in FORMATS if getattr(form, of)]


def is_label_file(path: str | PathLike[str]) -> bool:
    """Whether the name is one of a file that holds labels and is no table."""
    found = format_of(path)
    return found is not None and bool(found.load) and not found.table


def save_labels(coded: CodedColumns, missing: int | None, path: str | PathLike[str]) -> None:
    """Write columns with names to a file that keeps everything (.npz), or to one that does not say ``missing``."""
    file = check_path(path, "path")
    _format_for(file, "save").function("save")(coded, missing, file)


def load_labels(path: str | PathLike[str], missing: int | None, noise: str) -> tuple[CodedColumns, int | None]:
    """The columns of a file and the number that means missing: its own in .npz, the one given in all others."""
    file, missing = check_path(path, "path"), check_missing(missing)
    load: Callable[[Path, int | None], tuple[CodedColumns, int | None]] = _format_for(file, "load").function("load")
    voted = check_noise(noise, missing)
    if voted is None:
        return load(file, missing)
    if is_label_file(file):
        raise ValueError(
            "noise of Ensemble.load must be 'missing' for a file that keeps an ensemble, whose noise is missing. "
            f"Got {noise!r} and {str(file)!r}. Make the ensemble with noise={noise!r}, then save it."
        )
    return vote_noise(load(file, None)[0], voted), missing


def _format_for(file: Path, use: Literal["load", "save"]) -> Format:
    """The format of the file, if its labels can be loaded or saved."""
    found = format_of(file)
    if found is None or not getattr(found, use):
        both = [suffix for suffix in first_suffixes("save") if suffix in first_suffixes("load")]
        read = [suffix for suffix in first_suffixes("load") if suffix not in both]
        raise ValueError(
            f"The name of an ensemble's file must end in {' or '.join(both)} ({' or '.join(read)} to load one). "
            f"Got {str(file)!r}. Use .npz to keep everything exactly, or .csv for other programs."
        )
    return found
