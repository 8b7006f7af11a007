"""What is written of each object: labels.csv, and the input table with labels beside it, in its own format."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import load
from ensemblage.base.atomic import atomic_write
from ensemblage.base.text import write_csv
from ensemblage.base.threads import row_blocks
from ensemblage.cli._folder import LABELS, MODEL, NOTHING_UNASKED, check_free
from ensemblage.cli._source import CellFile, InputFile
from ensemblage.io._table import Table
from ensemblage.metrics import verdicts
from ensemblage.pipeline._blocks import LABEL_COLUMNS
from ensemblage.pipeline._to_anndata import check_key, columns_of, has_columns, notes_of, write_copy
from ensemblage.stability._records import MergedClusters
from ensemblage.tables.formats import CELLS, EXCEL, FORMATS, TEXT, first_suffixes, format_of, table_format

MERGED_COLUMN = "merged_cluster"
"""With --merge-unsupported: the cluster, or the first of those that it was merged with."""


def numbers_of(consensus: Any) -> NDArray[np.int64]:
    """(k + 1,) what people call each cluster; at the place -1 that of none."""
    numbers = getattr(consensus, "cluster_numbers_", np.arange(consensus.labels_.max(initial=-1) + 1))
    return np.append(numbers, -1)


def write_labels(path: Path, ids: Sequence[Any], consensus: Any, merged: MergedClusters | None = None) -> None:
    """One line per object: id, cluster (−1: none), and `confidence_cells`; with merged clusters, that of each, too."""

    numbers = numbers_of(consensus)
    firsts = None if merged is None else np.append([group[0] for group in merged.groups], -1)[merged.labels]

    def lines() -> Iterator[tuple[Any, ...]]:
        for block in row_blocks(len(consensus.labels_)):
            clusters = numbers[consensus.labels_[block]].tolist()
            more = [] if firsts is None else [firsts[block].tolist()]
            yield from zip(ids[block], clusters, *confidence_cells(consensus, block, numbers), *more, strict=True)

    write_csv(path, ["id", *LABEL_COLUMNS, *[MERGED_COLUMN] * (merged is not None)], lines())


def confidence_cells(consensus: Any, block: slice, numbers: NDArray[Any]) -> tuple[list[Any], ...]:
    """Of some objects: confidence, its word, the next best cluster and its share, 1 − confidence; empty: none.

    ``numbers`` are those of the clusters, and -1 of none.
    """
    confidence = consensus.confidence_[block]
    others = ["" if r < 0 else r for r in numbers[consensus.runner_up_[block]].tolist()]
    values, places = np.unique(confidence, return_inverse=True)  # objects with the same labels have the same
    shown, shares = (
        np.array(["" if c != c else f"{c:.6g}" for c in of], dtype=object)[places].tolist()
        for of in (values.tolist(), (1 - values).tolist())
    )
    shares = ["" if r == "" else share for r, share in zip(others, shares, strict=True)]
    return shown, verdicts(confidence).tolist(), others, shares


NUMBERS: dict[str, Callable[[str], int | float]] = {
    "cluster": int,
    "confidence": float,
    "runner_up": int,
    "runner_up_share": float,
    MERGED_COLUMN: int,
}
LabelColumns = Mapping[str, Sequence[Any]]


def is_annotated_copy(output: Path) -> bool:
    """Whether the name of an output asks for the objects of the input with what was found beside, and nothing else."""
    return format_of(output) is CELLS


def check_folder(output: Path, option: str) -> None:
    """Refuse a copy of the input as output where an option has its results in further files and on the page."""
    if is_annotated_copy(output):
        raise ValueError(f"{option} must go with a folder. Got -o {output}. Name a folder.")


def check_copy(source: InputFile, output: Path, overwrite: bool) -> None:
    """Whether the input can be copied there, with columns beside."""
    if not isinstance(source, CellFile):
        raise ValueError(
            f"The output must be a folder, unless the input is a .h5ad file. Got {output} for {source.path.name}. "
            "Name a folder."
        )
    check_free(output, overwrite)
    adata = source.opened
    check_key(source.key_added, adata.obs.columns, adata.uns, overwrite)


def check_annotated(source: InputFile, output: Path) -> None:
    """Whether such a table can be written with columns beside."""
    if is_annotated_copy(output):
        raise ValueError(
            f"--annotate must go with a folder. Got -o {output}, which gets the columns in any case. "
            f"Leave --annotate out."
        )
    if isinstance(source, CellFile):
        adata = source.opened
        check_key(source.key_added, adata.obs.columns, adata.uns, False)
        return
    form, transposed = table_format(source.path), source.reading.get("transpose")
    if not form.annotates or transposed:
        *others, last = first_suffixes(form for form in FORMATS if form.annotates and form is not TEXT)
        got = "--transpose" if transposed else source.path.name
        raise ValueError(
            f"--annotate must be used with a text table, {', '.join(others)} or {last}, with the objects in rows. "
            f"Got {got}. Save the table in this form, or join labels.csv to it by the id."
        )
    if form is EXCEL:
        _openpyxl()


def write_annotated(source: InputFile, folder: Path, overwrite: bool) -> Path:
    """The table of the source and the columns of labels.csv but the id, as annotated.<its format> in the folder."""
    if isinstance(source, CellFile):
        return write_cells(source, folder, folder / f"annotated{CELLS.suffixes[0]}", overwrite)
    content = source.read()
    table, rows = source.table(content), source.features(content).rows
    found = _label_columns(folder / LABELS, len(table), rows, set(table.names))
    form = table_format(source.path)
    text = ".tsv" if table.delimiter == "\t" else ".csv"
    path = folder / f"annotated{text if form is TEXT else source.path.suffix.lower()}"
    write = {"workbook": _workbook_content, "typed": _typed_content}.get(form.cells, _text_content)
    made = write(table, found, content, source)
    if path.exists() and not overwrite and path.read_bytes() != made:
        raise ValueError(f"{NOTHING_UNASKED} {path} exists. Move it away, or add --overwrite.")
    with atomic_write(path, "wb") as file:
        file.write(made)
    return path


def write_cells(source: InputFile, folder: Path, path: Path, overwrite: bool) -> Path:
    """A copy of a .h5ad file with what the model in a folder says of each object in ``.obs``."""
    if not isinstance(source, CellFile):
        raise TypeError("Cells must be those of a .h5ad file.")
    model, n = load(folder / MODEL), source.opened.n_obs
    rows = source.features(b"").rows if len(model.labels_) < n else None
    columns = columns_of(model, source.key_added, rows, n)
    if path.exists() and not overwrite:
        if has_columns(path, columns):  # made by an earlier command
            return path
        raise ValueError(f"{NOTHING_UNASKED} {path} exists. Move it away, or add --overwrite.")
    write_copy(source.path, path, columns, source.key_added, notes_of(model))
    return path


def _label_columns(path: Path, n: int, rows: Any, taken: set[str]) -> dict[str, list[Any]]:
    """By name a cell for each of n rows of the table; None where a row was left out, or nothing is known."""
    with open(path, newline="", encoding="utf-8") as file:
        read = csv.DictReader(file)
        lines, columns = list(read), [*LABEL_COLUMNS, MERGED_COLUMN]
    columns = [name for name in columns if name in (read.fieldnames or ())]
    places = np.arange(n) if rows is None else rows
    found: dict[str, list[Any]] = {}
    for name in columns:
        cells: list[Any] = [None] * n
        for place, line in zip(places.tolist(), lines, strict=True):
            cells[place] = NUMBERS.get(name, str)(line[name]) if line[name] else None
        found[name if name not in taken else f"{name}_found"] = cells
    return found


def _text_content(table: Table, found: LabelColumns, content: bytes, source: InputFile) -> bytes:
    """UTF-8 with the table's delimiter and decimal mark; with a mark of its encoding where a spreadsheet needs it."""
    comma = any(column.decimal == "," for column in table.columns)

    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        return text.replace(".", ",") if comma and isinstance(value, float) else text

    columns = [column.cells() for column in table.columns] + [[cell(v) for v in values] for values in found.values()]
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=table.delimiter, lineterminator="\n")
    names = ["" if name == table.index else name for name in table.names]
    writer.writerow([*names, *found])
    writer.writerows(zip(*columns, strict=True))
    return file.getvalue().encode("utf-8-sig" if table.delimiter == ";" else "utf-8")


def _typed_content(table: Table, found: LabelColumns, content: bytes, source: InputFile) -> bytes:
    import pyarrow as pa

    types = {name: pa.int32() if kind is int else pa.float64() for name, kind in NUMBERS.items()}
    columns = {column.name: column.values for column in table.columns}
    columns |= {name: pa.array(v, types.get(name.removesuffix("_found"), pa.string())) for name, v in found.items()}
    frame, file = pa.table(columns), io.BytesIO()
    kind = table_format(source.path).name
    if kind == "Parquet":
        import pyarrow.parquet as pq

        pq.write_table(frame, file)
    elif kind == "Arrow":
        with pa.ipc.new_file(file, frame.schema) as writer:
            writer.write_table(frame)
    else:
        import json

        for row in frame.to_pylist():
            file.write(json.dumps(row, default=str, ensure_ascii=False).encode() + b"\n")
    return file.getvalue()


def _workbook_content(table: Table, found: LabelColumns, content: bytes, source: InputFile) -> bytes:
    """The workbook as it is, with the columns at the right of the sheet that was read."""
    book = _openpyxl().load_workbook(io.BytesIO(content))
    with_cells = (sheet for sheet in book.worksheets if sheet.max_row > 1 or sheet.cell(1, 1).value is not None)
    named = source.reading.get("sheet")
    sheet = book[named] if named else next(with_cells, book.worksheets[0])
    places = table.places()
    right = sheet.max_column
    has_header = min(places) > 1
    for j, (name, values) in enumerate(found.items(), start=1):
        if has_header:
            sheet.cell(min(places) - 1, right + j, name)
        for place, value in zip(places, values, strict=True):
            sheet.cell(place, right + j, value)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _openpyxl() -> Any:
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError:
        raise ValueError(
            "--annotate needs openpyxl to write a workbook. It is not installed. "
            "Run `pip install ensemblage[excel]`, or save the table as CSV."
        ) from None
    return openpyxl
