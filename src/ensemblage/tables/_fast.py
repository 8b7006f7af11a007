"""Reading plain text tables column by column in C: ten times as fast as cell by cell."""

from __future__ import annotations

import itertools
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from ensemblage.tables._cells import numbers
from ensemblage.tables._layout import Layout
from ensemblage.tables._table import Column
from ensemblage.tables._text import text_lines

SAMPLE_ROWS = 100
USUAL_GAPS = ("", "NA", "N/A", "#N/A", "<NA>", "NULL", "null", "None", "?")
"""The usual spellings of `MISSING`."""


def read_plain(
    lines: list[str], layout: Layout, names: list[str], as_text: Collection[str]
) -> tuple[list[Column], list[int]] | None:
    """The columns and the numbers of the lines; None if the text has quotes, decimal commas or other surprises."""
    delimiter = layout.delimiter
    places = [place for place, line in enumerate(lines, start=1) if not line.isspace()][layout.n_header_rows :]
    body = [lines[place - 1] for place in places]
    if delimiter == " " or not body or any('"' in line for line in lines):
        return None
    if {line.count(delimiter) for line in body} != {layout.width - 1}:
        return None
    sample = [[cell.strip() for cell in line.split(delimiter)] for line in body[:SAMPLE_ROWS]]
    numeric = [j for j, cells in enumerate(zip(*sample, strict=True)) if numbers(cells) is not None]
    values = _numbers(body, delimiter, numeric)
    if values is None:
        return None
    values_of = dict(zip(numeric, values.T, strict=True))
    columns = []
    for j, name in enumerate(names):
        wanted = j == 0 or j not in values_of or name in as_text
        text = [line.split(delimiter, j + 1)[j].strip() for line in body] if wanted else None
        columns.append(Column(name, text, values_of.get(j)))
    return columns, places


def _numbers(body: list[str], delimiter: str, numeric: list[int]) -> NDArray[np.float64] | None:
    """(n, len(numeric)) values, NaN where a cell is missing; None if a cell is text."""
    if not numeric:
        return np.empty((len(body), 0))
    try:
        return _load(body, delimiter, numeric)
    except ValueError:
        pass
    try:
        return _load(_with_nan(body, delimiter), delimiter, numeric)
    except ValueError:
        return None


def _load(lines: list[str], delimiter: str, numeric: list[int]) -> NDArray[np.float64]:
    return np.loadtxt(lines, dtype=np.float64, delimiter=delimiter, comments=None, usecols=numeric, ndmin=2)


def _with_nan(body: list[str], delimiter: str) -> list[str]:
    text = f"\n{''.join(body)}\n"
    for gap in USUAL_GAPS:
        # Twice, for a delimiter between two gaps belongs to both.
        for before, after in itertools.product((delimiter, "\n"), repeat=2) if gap in text else ():
            if before + after != "\n\n" or gap:
                for _ in range(2):
                    text = text.replace(f"{before}{gap}{after}", f"{before}nan{after}")
    return text_lines(text.strip("\n"))
