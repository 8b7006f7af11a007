"""Ours beside the published, cell by cell, and whether the difference is within noise."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy.stats import t as student

from ensemblage.files._atomic import atomic_write
from ensemblage.plotting import PALETTE
from ensemblage.plotting._axes import new_axes, without_frame
from ensemblage.reproduce._results import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WITHIN, DIFFERS, UNKNOWN = "within noise", "differs", "no verdict"
LEVEL = 0.95
NOISE_RULE = (
    "A difference is within noise if it is at most t · √(s²/n + s₀²/n₀) plus half a unit of the last printed digit. "
    "s and n are standard deviation and number of our values, s₀ and n₀ those of the published mean (s again where it "
    "is not printed), t is Student's 97.5 % quantile. Where both are means over data sets and ours is over some of "
    "theirs, the root is of s₀² (n₀ − n) / (n₀ n), what the sets that are not at hand may change, and what runs add. "
    "About one cell in twenty falls outside by chance alone."
)


@dataclass(frozen=True)
class Cell:
    """One number of a table."""

    row: str
    column: str
    ours: Estimate | None
    published: float | None = None
    published_sd: float | None = None
    published_n: int = 1
    """Number of runs, or of data sets, that the published value is a mean of."""
    why_not: str = ""
    """Why ours is not there."""
    unit: float = 0.01
    """Of the last printed digit."""
    is_subset: bool = False
    """Whether ours is a mean over some of the data sets that the published mean is over."""
    run_variance: float = 0.0
    """What the chance of single runs adds to the variance of the difference, where ``n`` counts data sets."""
    is_alternative: bool = False
    """Whether it is another reading of a number that is compared elsewhere: shown, not counted."""

    @property
    def difference(self) -> float | None:
        """Ours minus the published."""
        return None if self.ours is None or self.published is None else self.ours.mean - self.published

    @property
    def verdict(self) -> str:
        """Whether the difference is within noise; empty if there is nothing to compare."""
        if self.ours is None or self.difference is None:
            return ""
        allowed = self.noise()
        if math.isnan(allowed):
            return WITHIN if abs(self.difference) <= self.unit / 2 else UNKNOWN
        return WITHIN if abs(self.difference) <= allowed else DIFFERS

    def noise(self) -> float:
        """The largest difference that is within noise; NaN with too few values of ours."""
        if self.ours is None or self.ours.n < (3 if self.is_subset else 2):
            return math.nan
        n, n0 = self.ours.n, self.published_n
        other = self.ours.sd if self.published_sd is None else self.published_sd
        if self.is_subset:
            variance, degrees = other**2 * max(0, n0 - n) / (n0 * n) + self.run_variance, n - 1
        else:
            variance, degrees = self.ours.sd**2 / n + other**2 / n0, n - 1
        return float(student.ppf((1 + LEVEL) / 2, degrees)) * math.sqrt(variance) + self.unit / 2


def ordered(names: Iterable[str]) -> list[str]:
    """The names, each once, in the order of their first appearance."""
    return list(dict.fromkeys(names))


def counts(cells: Sequence[Cell]) -> dict[str, int]:
    """Number of cells by verdict."""
    counted = [cell for cell in cells if not cell.is_alternative]
    return {verdict: sum(cell.verdict == verdict for cell in counted) for verdict in (WITHIN, DIFFERS, UNKNOWN)}


def to_csv(cells: Sequence[Cell]) -> str:
    """One line per cell."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["row", "column", "published", "ours", "se", "n", "difference", "noise", "verdict", "why_not"])
    for cell in cells:
        ours = ("", "", 0) if cell.ours is None else (_exact(cell.ours.mean), _exact(cell.ours.se), cell.ours.n)
        writer.writerow(
            [
                *(cell.row, cell.column, _exact(cell.published), *ours),
                *(_exact(cell.difference), _exact(cell.noise()), cell.verdict, cell.why_not),
            ]
        )
    return buffer.getvalue()


def _exact(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.6g}"


def to_markdown(title: str, cells: Sequence[Cell], digits: int) -> str:
    """Rows by columns: ours ± standard error (published), marked where the difference is beyond noise."""
    rows, columns = ordered(c.row for c in cells), ordered(c.column for c in cells)
    at = {(c.row, c.column): c for c in cells}
    lines = [f"### {title}", "", f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        shown = [_markdown_cell(at.get((row, column)), digits) for column in columns]
        lines.append(f"| {row} | {' | '.join(shown)} |")
    lines += ["", "Ours ± standard error (published); **bold**: beyond noise.", ""]
    return "\n".join(lines)


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
    ax.set(xlabel="published", ylabel="ours", xlim=ends, ylim=ends)
    ax.legend(frameon=False, fontsize=8, ncols=1 if len(ordered(c.column for c in shown)) < 10 else 2)
    without_frame(ax)
    return ax


def _plot_column(ax: Any, cells: Sequence[Cell], column: str, color: str) -> None:
    ours = [c.ours for c in cells if c.ours is not None]
    errors = [0.0 if math.isnan(o.se) else o.se for o in ours]
    published = [c.published for c in cells]
    ax.errorbar(published, [o.mean for o in ours], yerr=errors, fmt="o", color=color, markersize=4, elinewidth=1)
    beyond = [(c.published, c.ours.mean) for c in cells if c.verdict == DIFFERS and c.ours is not None]
    if beyond:
        ax.plot(*zip(*beyond, strict=True), "o", color=color, markersize=9, fillstyle="none")
    ax.plot([], [], "o", color=color, markersize=4, label=column)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with atomic_write(path, encoding="utf-8") as file:
        file.write(text)
