"""Tables as text, and columns as a data frame: CSV files, markdown, HTML, the caller's library."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

from ensemblage.base.atomic import atomic_write


def write_csv(
    path: str | PathLike[str],
    header: Iterable[Any],
    rows: Iterable[Iterable[Any]],
    *,
    lineterminator: str = "\n",
    quoted_header: bool = False,
) -> None:
    """A header and rows, UTF-8; None is an empty cell."""
    with atomic_write(path, newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator=lineterminator)
        quoting = csv.writer(file, lineterminator=lineterminator, quoting=csv.QUOTE_ALL)
        (quoting if quoted_header else writer).writerow(header)
        writer.writerows(rows)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with atomic_write(path, encoding="utf-8") as file:
        file.write(text)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table in markdown."""
    return [_markdown_row(header), "|" + "---|" * len(header), *map(_markdown_row, rows)]


def _markdown_row(cells: Sequence[str]) -> str:
    # Without the blanks of an empty first cell.
    return f"| {' | '.join(cells).lstrip()} |"


def text_table(lines: Sequence[Sequence[Any]], most: int | None = None) -> str:
    """A table to print, columns to the right: its first line, and `most` others at most."""
    cells = [[str(cell) for cell in line] for line in (lines if most is None else lines[: most + 1])]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    text = ["  ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in cells]
    left = len(lines) - len(cells)
    return "\n".join([*text, *[f"… {left} more"] * (left > 0)])


MOST_SHOWN = 12
"""Rows of a table in a notebook."""
CELL = "padding:.2em .6em;text-align:"


def html_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    most: int = MOST_SHOWN,
    bold: Iterable[int] = (),
    is_text: bool = False,
) -> str:
    """Cells of text, escaped; the first column to the left, the others to the right unless all are text."""
    strong = set(bold)

    def line(cells: Sequence[str], tag: str, weight: str = "") -> str:
        sides = ["left", *["left" if is_text else "right"] * (len(cells) - 1)]
        return "".join(
            f'<{tag} style="{CELL}{side}{weight}">{escape(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )

    shown = [line(row, "td", ";font-weight:bold" * (i in strong)) for i, row in enumerate(rows[:most])]
    left = len(rows) - len(shown)
    more = f'<tr><td style="{CELL}left" colspan="{len(head)}">… {left:,} more</td></tr>' if left else ""
    body = "".join(f"<tr>{row}</tr>" for row in shown)
    return f'<table style="border-collapse:collapse;margin:.4em 0"><tr>{line(head, "th")}</tr>{body}{more}</table>'


def one_line(text: object, width: int) -> str:
    """Printable characters on one line, at most ``width``: the middle is left out."""
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    half = (width - 1) // 2
    return line if len(line) <= width else f"{line[: width - 1 - half]}…{line[-half:]}"


def listing(words: Iterable[Any]) -> str:
    """The words in a sentence: a, b and c."""
    texts = [str(word) for word in words]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def some(names: Iterable[Any], most: int = 8) -> str:
    """The first of some names, for messages."""
    known = [str(name) for name in names]
    return ", ".join(known[:most]) + (", ..." if len(known) > most else "") if known else "none"


Columns = Mapping[str, Sequence[Any]]
BACKENDS = ("pandas", "polars", "pyarrow")


def backend_of(*inputs: Any) -> str | None:
    """Library of the first data frame among the inputs, else the first that is installed, else None."""
    import narwhals as nw

    for given in inputs:
        frame = nw.from_native(given, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return frame.implementation.name.lower()
    return next((name for name in BACKENDS if find_spec(name)), None)


def to_frame(columns: Columns, backend: str | None) -> Any:
    """A data frame; without any such library the columns as a dict."""
    if backend is None:
        return dict(columns)
    import narwhals as nw

    library: Any = backend
    return nw.from_dict(dict(columns), backend=library).to_native()


def to_markdown(columns: Columns) -> str:
    """A table for people: numbers to four digits."""
    lines = [tuple(columns), *zip(*columns.values(), strict=True)]
    head, *rows = [[_cell(value) for value in line] for line in lines]
    return "\n".join(markdown_table(head, rows))


def _cell(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return " ".join(text.replace("|", "\\|").split())


def to_csv(columns: Columns, path: str | PathLike[str]) -> None:
    """Every digit of the numbers, empty where there is none."""
    rows = (["" if v != v else v for v in row] for row in zip(*columns.values(), strict=True))
    write_csv(path, columns, rows, lineterminator="\r\n")
