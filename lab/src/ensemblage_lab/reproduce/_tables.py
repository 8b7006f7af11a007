"""The cells of a table as CSV, markdown and a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensemblage.base.text import markdown_table, write_csv
from ensemblage.plotting._axes import PALETTE, new_axes, remove_frame
from ensemblage_lab.reproduce._cells import DIFFERS, Cell, ordered

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """The rows under the names of their columns, in the order of first appearance; what a row has not is empty."""
    names = ordered(name for row in rows for name in row)
    write_csv(path, names, ([row.get(name) for name in names] for row in rows))


def exact_row(cell: Cell) -> dict[str, Any]:
    """What a cell holds, to six digits."""
    ours = cell.ours
    return {
        "row": cell.row,
        "column": cell.column,
        "published": _exact(cell.published),
        "ours": _exact(ours and ours.mean),
        "se": _exact(ours and ours.se),
        "n": ours.n if ours else 0,
        "difference": _exact(cell.difference),
        "noise": _exact(cell.noise()),
        "verdict": cell.verdict,
        "why_not": cell.why_not,
    }


def _exact(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.6g}"


def to_markdown(title: str, cells: Sequence[Cell], digits: int) -> str:
    """Rows by columns: ours ± standard error (published), marked where the difference is beyond noise."""
    rows, columns = ordered(c.row for c in cells), ordered(c.column for c in cells)
    at = {(c.row, c.column): c for c in cells}
    shown = [[row, *(_markdown_cell(at.get((row, column)), digits) for column in columns)] for row in rows]
    note = "Ours ± standard error (published); **bold**: beyond noise."
    return "\n".join([f"### {title}", "", *markdown_table(["", *columns], shown), "", note, ""])


def _markdown_cell(cell: Cell | None, digits: int) -> str:
    if cell is None:
        return ""
    ours, published = ours_text(cell, digits), published_text(cell, digits)
    text = f"{ours} ({published})" if published else ours
    return f"**{text}**" if cell.verdict == DIFFERS else text


def ours_text(cell: Cell, digits: int) -> str:
    """Our number with its standard error, or why there is none."""
    if cell.ours is None:
        return cell.why_not or "–"
    error = "" if math.isnan(cell.ours.se) else f" ± {cell.ours.se:.{digits}f}"
    return f"{cell.ours.mean:.{digits}f}{error}"


def published_text(cell: Cell, digits: int) -> str:
    """The published number as the paper prints it, so far as digits go."""
    return "" if cell.published is None else f"{cell.published:.{digits}f}"


def plot(cells: Sequence[Cell]) -> Axes | None:
    """Ours over published with our standard errors, one colour per column; None if there is nothing to compare.

    Other readings of a number are in the table only.
    """
    shown = [c for c in cells if c.difference is not None and c.ours is not None and not c.is_alternative]
    if not shown:
        return None
    ax = new_axes(5.2, 4.4)
    values = [v for c in shown for v in (c.published, c.ours.mean if c.ours else None) if v is not None]
    low, high = min(values), max(values)
    margin = 0.05 * (high - low) or 0.05
    ends = (low - margin, high + margin)
    ax.plot(ends, ends, color="#8c8c8c", linewidth=1, zorder=0)
    for i, column in enumerate(ordered(c.column for c in shown)):
        _plot_column(ax, [c for c in shown if c.column == column], column, PALETTE[i % len(PALETTE)])
    ax.legend(frameon=False, fontsize=8, ncols=1 if len(ordered(c.column for c in shown)) < 10 else 2)
    return remove_frame(ax, xlabel="published", ylabel="ours", xlim=ends, ylim=ends)


def _plot_column(ax: Any, cells: Sequence[Cell], column: str, color: str) -> None:
    ours = [c.ours for c in cells if c.ours is not None]
    errors = [0.0 if math.isnan(o.se) else o.se for o in ours]
    published = [c.published for c in cells]
    ax.errorbar(published, [o.mean for o in ours], yerr=errors, fmt="o", color=color, markersize=4, elinewidth=1)
    beyond = [(c.published, c.ours.mean) for c in cells if c.verdict == DIFFERS and c.ours is not None]
    if beyond:
        ax.plot(*zip(*beyond, strict=True), "o", color=color, markersize=9, fillstyle="none")
    ax.plot([], [], "o", color=color, markersize=4, label=column)
