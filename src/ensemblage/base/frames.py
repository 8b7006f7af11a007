"""Columns to a data frame of the caller's library, to markdown, to CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from os import PathLike
from typing import Any

import narwhals as nw

from ensemblage.base.text import markdown_table, write_csv

Columns = Mapping[str, Sequence[Any]]
BACKENDS = ("pandas", "polars", "pyarrow")


def backend_of(*inputs: Any) -> str | None:
    """Library of the first data frame among the inputs, else the first that is installed, else None."""
    for given in inputs:
        frame = nw.from_native(given, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return frame.implementation.name.lower()
    return next((name for name in BACKENDS if find_spec(name)), None)


def to_frame(columns: Columns, backend: str | None) -> Any:
    """A data frame; without any such library the columns as a dict."""
    if backend is None:
        return dict(columns)
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
