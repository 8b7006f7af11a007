"""Parts of pages that benchmark and reproduce share; the others are those of the report."""

from __future__ import annotations

from collections.abc import Sequence

from ensemblage.report._layout import Cell, Table


def text_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, shown: int = 20) -> Table:
    """A table of text, as wide as the page."""
    width = len(columns) or max(map(len, rows), default=0)
    return Table(title, columns, rows, shown=shown, text=tuple(range(width)), wide=True)
