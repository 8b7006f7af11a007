"""Tables as text: CSV files, markdown."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
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
