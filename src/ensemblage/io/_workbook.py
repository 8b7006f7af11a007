"""From the bytes of a workbook to Arrow columns: fastexcel reads the cells."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import fromstring

from ensemblage.base.options import Message, Option
from ensemblage.io._archive import is_damage
from ensemblage.io._column import short_times
from ensemblage.io._layout import SAMPLE_ROWS, Layout, layout_of_rows


def read_workbook(
    content: bytes, name: str, sheet: str | None, has_header: bool | None, skip_rows: int
) -> tuple[Any, Layout]:
    """The rows below the header of a sheet of Excel or OpenDocument as Arrow text, and its layout."""
    import pyarrow as pa

    cells = _sheet(content, name, sheet)
    rows = list(zip(*(column.to_pylist() for column in cells.columns), strict=True))
    places = [place for place, row in enumerate(rows, start=1) if any(row) and place > skip_rows]
    sample = [(place, [(cell or "").strip() for cell in rows[place - 1]]) for place in places[:SAMPLE_ROWS]]
    layout = layout_of_rows(sample, name, ",", has_header, skip_rows)
    columns = list(zip(*rows[layout.header_lines :], strict=True)) or [()] * layout.width
    names = [str(j) for j in range(layout.width)]
    return pa.table([short_times(pa.array(column, pa.string())) for column in columns], names), layout


def _sheet(content: bytes, name: str, sheet: str | None) -> Any:
    import fastexcel

    if _is_encrypted(content):
        raise ValueError(f"{name} must open without a password. It needs one. Save it without a password.")
    try:
        book = fastexcel.read_excel(content)
        sheets = {
            s: book.load_sheet(s, header_row=None, skip_rows=0, dtypes="string")
            for s in book.sheet_names
            if sheet in (None, s)
        }
    except Exception as error:
        if not is_damage(error):
            raise
        raise ValueError(
            f"{name} must be a workbook of Excel or OpenDocument. It is another kind of file, or damaged. Save the "
            f"table again."
        ) from None
    filled = [s for s, cells in sheets.items() if cells.total_height] if sheet is None else [sheet]
    if len(filled) != 1 or filled[0] not in sheets:
        got = f"{sheet!r}" if sheet is not None else f"{len(filled)} with cells" if filled else "no cells at all"
        known = f"Its sheets are {', '.join(book.sheet_names[:8])}."
        rule = "A workbook must have one sheet with cells, or ", Option("sheet"), " must name one."
        raise ValueError(Message(*rule, f" Got {got} for {name}. {known}"))
    _check_formulas(content, name, filled[0])
    return sheets[filled[0]].to_arrow()


def _is_encrypted(content: bytes) -> bool:
    """Whether a workbook needs a password: of Excel since 2007, of OpenDocument, of Excel before (FilePass)."""
    return (
        "EncryptedPackage".encode("utf-16-le") in content
        or b"encryption-data" in _part(content, "META-INF/manifest.xml")
        or re.search(rb"\x09\x08\x10\0.{16}(?:\x86\0\0\0)?\x2f\0", content, re.DOTALL) is not None
    )


def _part(content: bytes, part: str) -> bytes:
    """A file in a ZIP archive, nothing if there is none."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            return archive.read(part)
    except (zipfile.BadZipFile, OSError, KeyError, RuntimeError):
        return b""


def _check_formulas(content: bytes, name: str, sheet: str) -> None:
    """Formulas of Excel whose results a program did not store are no cells."""
    book, relations = (_part(content, f"xl/{part}") for part in ("workbook.xml", "_rels/workbook.xml.rels"))
    if not (book and relations):
        return
    found = next(s for s in fromstring(book).iterfind(".//{*}sheet") if s.get("name") == sheet)
    key = next(value for name, value in found.items() if name.endswith("}id"))
    target = next(r.get("Target", "") for r in fromstring(relations) if r.get("Id") == key)
    cells = _part(content, f"xl/{target.removeprefix('/xl/')}")
    empty = re.search(rb'<c r="(\w+)"[^>]*><f[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>|</c>)', cells)
    if empty:
        raise ValueError(
            f"The formulas of {name} must have results. Got none in cell {empty[1].decode()}. "
            "Open the workbook in a spreadsheet program and save it again."
        )
