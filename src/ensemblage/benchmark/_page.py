"""The tables of a benchmark as CSV, markdown, label files and one page."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ensemblage._version import __version__
from ensemblage.benchmark._board import Board, Comparison, Line
from ensemblage.benchmark._entries import FEATURES
from ensemblage.files._atomic import atomic_write
from ensemblage.files._text import markdown_table, write_csv, write_text
from ensemblage.plotting import PALETTE
from ensemblage.plotting._axes import new_axes, without_frame
from ensemblage.report._layout import Picture, Section, Table, counted
from ensemblage.report._svg import figure_style, to_svg

SETTINGS = ("k known", "k found")
COLUMNS = [
    *("entry", "pool", "mean", "95 % of it", "sets", "of finished", "AMI", "NCA", "regret", "gain"),
    *("k − true k", "k right", "two seeds", "nine tenths", "CPU s", "MB"),
]
NOTE = (
    "Mean of the adjusted Rand index over all sets, 0 where an entry failed or was not finished; its 95 % interval is "
    "that of sets drawn with replacement. Regret: below the best member of the pool; gain: above the mean member. Two "
    "seeds, nine tenths: ARI between the answers with another seed, and without a tenth of the objects."
)


def write_board(board: Board, folder: Path, seconds: float) -> Path:
    """Write ``leaderboard.csv``, ``leaderboard.md``, ``comparisons.csv``, ``cells.csv``, label files and the page."""
    lines = board.table()
    write_csv(folder / "leaderboard.csv", ["setting", *COLUMNS], ([x.column, *_cells(x)] for x in lines))
    write_text(folder / "leaderboard.md", "\n".join(_markdown(board)) + "\n")
    compared = {column: board.compare(column, _pools(board)) for column in SETTINGS}
    header = ["setting", *Comparison._fields]
    write_csv(folder / "comparisons.csv", header, ([c, *row] for c, rows in compared.items() for row in rows))
    _write_cells(board, folder / "cells.csv")
    _write_labels(board, folder / "labels")
    with figure_style():
        page = _render(board, compared, seconds)
    write_text(folder / "index.html", page)
    return folder / "index.html"


def _pools(board: Board) -> list[str]:
    return list(dict.fromkeys(row.pool for row in board.rows if row.pool != "published"))


def _number(value: float, digits: int = 3) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _cells(line: Line) -> list[str]:
    return [
        *(line.entry, line.pool, _number(line.over_all), f"{line.low:.3f} to {line.high:.3f}"),
        *(f"{line.n_finished} of {line.n_sets}", _number(line.over_finished)),
        *(_number(line.scores["ami"]), _number(line.scores["nca"]), _number(line.regret), _number(line.gain)),
        *(_number(line.k_error, 1), _number(line.k_right, 2), _number(line.seeds, 2), _number(line.part, 2)),
        *(_number(line.seconds, 2), _number(line.megabytes, 0)),
    ]


def _markdown(board: Board) -> list[str]:
    found = [f"ensemblage {__version__}, {counted(len(board.sets), 'set')}. {NOTE}", ""]
    for setting in SETTINGS:
        rows = [_cells(line) for line in board.table() if line.column == setting]
        if rows:
            found += [f"## {setting}", "", *markdown_table(COLUMNS, rows), ""]
    return found


def _write_cells(board: Board, path: Path) -> None:
    """Every result: its scores, or why there are none."""
    names = ["ari", "ami", "nca", "k", "true_k", "best_member", "mean_member", "megabytes"]
    header = ["set", "pool", "entry", "setting", "seed", "part", *names, "seconds", "error"]

    def cells(row: Any) -> list[Any]:
        numbers = row.result.numbers or {}
        of = [row.set, row.pool, row.entry.name, row.entry.column, row.seed, int(row.is_part)]
        return [*of, *(numbers.get(name) for name in names), row.result.seconds, row.result.error]

    write_csv(path, header, map(cells, board.rows))


def _write_labels(board: Board, folder: Path) -> None:
    """Labelings of seed 0 as suites have them: <entry and pool>/<battery>/<set>.result<K>.gz, clusters from 1."""
    for row in board.rows:
        numbers = row.result.numbers
        if numbers is None or row.is_part or row.seed or not row.entry.knows_k or "/" not in row.set:
            continue
        name = re.sub(r"\W+", "_", f"{row.entry.name} {'' if row.pool == FEATURES else row.pool}").strip("_")
        path = folder / name / f"{row.set}.result{numbers['true_k']}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = f'"{name}"\n' + "".join(f"{label + 1}\n" for label in row.labels.tolist())
        with atomic_write(path, "wb") as file:
            file.write(gzip.compress(text.encode(), mtime=0))


def _render(board: Board, compared: dict[str, list[Comparison]], seconds: float) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("ensemblage.report"), autoescape=True, undefined=StrictUndefined)
    sections = [section for setting in SETTINGS for section in _setting(board, setting, compared[setting])]
    failures = [list(map(str, row)) for row in board.failures()]
    if failures:
        table = Table("", ["Set", "Pool", "Entry", "Reason"], failures, shown=12, text=(0, 1, 2, 3), wide=True)
        sections.append(Section("What has no number", ["It counts as 0 in the means over all sets."], tables=[table]))
    known = [line for line in board.table() if line.column == SETTINGS[0]]
    first = f"{known[0].entry} on {known[0].pool}" if known else "nothing yet"
    return environment.get_template("report.html").render(
        title="Benchmark of consensus clustering",
        headline=f"First of {len(known)} where k is known: {first}",
        facts=[
            ("sets", f"{len(board.sets):,}"),
            ("results", f"{len(board.rows):,}"),
            ("without a number", f"{len(failures):,}"),
            ("minutes of this run", f"{seconds / 60:.1f}"),
        ],
        sections=sections,
        version=__version__,
    )


def _setting(board: Board, setting: str, compared: Sequence[Comparison]) -> list[Section]:
    lines = [line for line in board.table() if line.column == setting]
    if not lines:
        return []
    pictures = [_intervals(lines, setting), *_rank_picture(board, setting)]
    tables = [_table("", lines)]
    batteries = sorted({name.partition("/")[0] for name in board.sets})
    for battery in batteries if len(batteries) > 1 else []:
        own = [line for line in board.table(battery) if line.column == setting]
        tables += [_table(f"Sets of {battery}", own)] if own else []
    if compared:
        rows = [
            [
                c.second,
                f"{c.difference:+.3f}",
                f"{c.low:+.3f} to {c.high:+.3f}",
                f"{c.wins} / {c.ties} / {c.losses}",
                f"{c.p_value:.3f}",
            ]
            for c in compared
        ]
        columns = ["Below it", "Difference", "95 %", "Wins, ties, losses", "Wilcoxon, Holm"]
        tables.append(Table(f"{compared[0].first} and the others", columns, rows, shown=12, wide=True))
    return [Section(f"Where {setting.replace(' ', ' is ')}", [NOTE], pictures, tables)]


def _table(title: str, lines: Sequence[Line]) -> Table:
    return Table(title, COLUMNS, [_cells(line) for line in lines], shown=25, text=(0, 1), wide=True)


def _intervals(lines: Sequence[Line], setting: str) -> Picture:
    """The mean of each entry with its interval."""
    shown = list(lines[:30])[::-1]
    ax = new_axes(7.4, 0.6 + 0.22 * len(shown))
    pools = list(dict.fromkeys(line.pool for line in lines))
    for place, line in enumerate(shown):
        color = PALETTE[pools.index(line.pool) % len(PALETTE)]
        ax.plot([line.low, line.high], [place, place], color=color, linewidth=1.5)
        ax.plot([line.over_all], [place], "o", color=color, markersize=4)
    ax.set_yticks(range(len(shown)), [f"{line.entry} on {line.pool}" for line in shown], fontsize=7)
    without_frame(ax, xlabel="mean adjusted Rand index over all sets", ylim=(-0.7, len(shown) - 0.3))
    title = f"Means and their 95 % intervals, {setting}"
    return Picture(title, to_svg(ax, f"means-{setting.replace(' ', '-')}"), [], wide=True)


def _rank_picture(board: Board, setting: str) -> list[Picture]:
    """Mean ranks over the common sets, and how far apart they must be."""
    ranks, difference = board.mean_ranks(setting, _pools(board))
    if len(ranks) < 3:
        return []
    shown = sorted(ranks.items(), key=lambda pair: pair[1])[:30][::-1]
    ax = new_axes(7.4, 0.6 + 0.22 * len(shown))
    best = shown[-1][1]
    ax.axvspan(best, best + difference, color="#e6e6e6", zorder=0)
    ax.plot([rank for _, rank in shown], range(len(shown)), "o", color=PALETTE[0], markersize=4)
    ax.set_yticks(range(len(shown)), [name for name, _ in shown], fontsize=7)
    without_frame(ax, xlabel="mean rank, 1 is best", ylim=(-0.7, len(shown) - 0.3))
    sentence = f"Grey: within Nemenyi's critical difference of the first, {difference:.2f} at 5 %: not told from it."
    name = f"ranks-{setting.replace(' ', '-')}"
    return [Picture(f"Mean ranks, {setting}", to_svg(ax, name), [sentence], wide=True)]
