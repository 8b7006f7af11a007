"""The tables of a benchmark as CSV, markdown, label files and one page."""

from __future__ import annotations

import gzip
import json
import math
import os
import platform
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._version import __version__
from ensemblage.base.atomic import atomic_write
from ensemblage.base.text import markdown_table, write_csv, write_text
from ensemblage.plotting._axes import PALETTE, figure_style
from ensemblage.report._layout import Picture, Section, Table, plural, render_page, text_table, to_svg
from ensemblage_lab._figures import draw_ranking, partition_panels
from ensemblage_lab.benchmark._board import Board, Comparison, Line, Loss, Scope, name_of
from ensemblage_lab.benchmark._entries import FEATURES
from ensemblage_lab.benchmark._explorer import by_origin, points_of, render_leaderboard
from ensemblage_lab.benchmark._kinds import RULES, Traits
from ensemblage_lab.benchmark._sets import BenchmarkSet
from ensemblage_lab.benchmark._tables import POINTS, SCHEMA, SCOPES, read_board

COLUMNS = [
    *("entry", "pool", "mean", "95 % of it", "finished", "of common", "AMI", "NCA", "regret", "gain"),
    *("two seeds", "nine tenths", "CPU s", "most", "MB", "most"),
]
K_COLUMNS = ["entry", "pool", "k right", "too few", "too many", "k − true k", "distance", "mean"]
NOTE = (
    "Means over all sets, of the adjusted Rand index, AMI and NCA, 0 where an entry failed or was not finished; the "
    "95 % interval is that of sets drawn with replacement. Of common: over the sets where every entry has a number "
    "that has one on half of them. Regret: below the best member of the pool; gain: above the mean member. Two seeds, "
    "nine tenths: ARI between the answers with another seed, and without a tenth of the objects. CPU seconds, and peak "
    "memory beyond what was there before: median and largest of a cell with seed 0. Shares of numbers of clusters are "
    "of all sets, their means of the sets with one. Objects that are in no cluster (HDBSCAN) are scored as one more."
)
MOST_RANKED = 30
"""Entries in a picture."""
SHOWN_LOSSES = 3
"""Pictures of sets where the first loses."""


def write_board(
    board: Board,
    sets: Mapping[str, BenchmarkSet],
    folder: Path,
    seconds: float,
    notes: Sequence[str],
    left_out: Mapping[str, str],
) -> Path:
    """Write the tables as CSV and markdown, the labels, and the page.

    ``notes`` say what was run, ``left_out`` which sets were not scored on, and why.
    """
    scopes = board.scopes()
    notes = [*notes, _machine(board)]
    write_text(folder / "run.json", json.dumps({"schema": SCHEMA, "notes": notes}, indent=1) + "\n")
    _write_tables(board, scopes, sets, folder)
    write_text(folder / POINTS, json.dumps(points_of(sets), separators=(",", ":")) + "\n")
    write_text(folder / "leaderboard.md", "\n".join(_markdown(board, scopes, notes)) + "\n")
    _write_cells(board, folder / "cells.csv")
    write_csv(folder / "left_out.csv", ["set", "reason"], left_out.items())
    _write_labels(board, folder / "labels")
    with figure_style():
        page = _render(board, scopes, sets, seconds, notes, left_out)
    write_text(folder / "index.html", page)
    write_text(folder / "leaderboard.html", render_leaderboard(*by_origin(read_board(folder))))
    return folder / "index.html"


def _machine(board: Board) -> str:
    import numpy
    import scipy
    import sklearn

    versions = f"NumPy {numpy.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    seconds = sum(row.result.seconds for row in board.rows)
    return (
        f"{len(board.rows):,} cells, {seconds / 60:.0f} minutes of the processor without making pools and scoring. "
        f"ensemblage {__version__}, Python {platform.python_version()}, {versions}; {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores."
    )


def _write_tables(board: Board, scopes: Sequence[Scope], sets: Mapping[str, BenchmarkSet], folder: Path) -> None:
    """One row per scope and entry, pair, loss; per set; per pool."""

    def write(name: str, header: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
        write_csv(folder / f"{name}.csv", header, ([_round_cell(cell) for cell in row] for row in rows))

    write("leaderboard", ["scope", *Line._fields], ([s.title, *line] for s in scopes for line in board.table(s)))
    _write_wide(write, "parts", {scope: board.by_part(scope) for scope in scopes})
    compared = ([s.title, *row] for s in scopes for rows in _comparisons(board, s) for row in rows)
    write("comparisons", ["scope", *Comparison._fields], compared)
    write("losses", ["scope", *Loss._fields], ([s.title, *loss] for s in scopes for loss in board.losses(s)))
    ranks = ((s.title, *board.mean_ranks(s)) for s in scopes)
    rows = (
        [title, *pair, apart] for title, of, apart in ranks for pair in sorted(of.items(), key=lambda pair: pair[1])
    )
    write("ranks", ["scope", "entry", "mean_rank", "critical_difference"], rows)
    write("pools", ["pool", "sets", "mean_member", "best_member"], board.pools())
    traits = board.traits
    kinds = ([name, *of, *of.kinds().values(), sets[name].kind] for name, of in traits.items())
    write("sets", ["set", *Traits._fields, *RULES, "kind"], kinds)
    write("failures", ["set", "pool", "entry", "reason", "cells"], _failures(board))
    scores = {}
    for scope in scopes:
        names, values = board.values(scope)
        scores[scope] = {key: dict(zip(names, of.tolist(), strict=True)) for key, of in values.items()}
    _write_wide(write, "scores", scores)
    whole = [scope for scope in scopes if scope.title in SCOPES]
    _write_wide(write, "seconds", {scope: board.seconds(scope) for scope in whole})


def _write_wide(
    write: Callable[..., None], name: str, numbers: Mapping[Scope, Mapping[tuple[str, str], Mapping[str, float]]]
) -> None:
    """A row per scope, entry and pool, a column per set or part."""
    columns = dict.fromkeys(column for of_scope in numbers.values() for of in of_scope.values() for column in of)
    entries = ((scope.title, *key, of) for scope, of_scope in numbers.items() for key, of in of_scope.items())
    rows = ([*names, *(of.get(column) for column in columns)] for *names, of in entries)
    write(name, ["scope", "entry", "pool", *columns], rows)


def _failures(board: Board) -> Iterable[list[Any]]:
    """What has no number, seeds and parts plural together."""
    return ([*failure, n] for failure, n in Counter(board.failures()).items())


def _comparisons(board: Board, scope: Scope) -> list[list[Comparison]]:
    """The best entry with the others, and the best baseline, where it is another."""
    found = [board.compare(scope)]
    baseline = board.best_baseline(scope)
    if baseline is not None and found[0] and found[0][0].first != name_of(*baseline):
        found.append(board.compare(scope, baseline))
    return [rows for rows in found if rows]


def _round_cell(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return None if math.isnan(value) else round(value, 4)


def _number(value: float, digits: int = 3) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _cells(line: Line) -> list[str]:
    return [
        *(line.entry, line.pool, _number(line.over_all), f"{line.low:.3f} to {line.high:.3f}"),
        *(f"{line.n_finished} of {line.n_sets}", _number(line.over_common), _number(line.ami), _number(line.nca)),
        *(_number(line.regret), _number(line.gain), _number(line.seeds, 2), _number(line.part, 2)),
        *(_number(line.seconds, 2), _number(line.most_seconds, 1)),
        *(_number(line.megabytes, 0), _number(line.most_megabytes, 0)),
    ]


def _k_rows(lines: Sequence[Line]) -> list[list[str]]:
    """The rules for the number of clusters, the most often right first."""
    return [
        [
            *(line.entry, line.pool, _number(line.k_right, 2), _number(line.k_few, 2)),
            *(_number(line.k_many, 2), f"{line.k_error:+.1f}", _number(line.k_far, 1)),
            _number(line.over_all),
        ]
        for line in sorted(lines, key=lambda line: (-line.k_right, line.k_far))
        if line.n_finished
    ]


def _markdown(board: Board, scopes: Sequence[Scope], notes: Sequence[str]) -> list[str]:
    found = [f"ensemblage {__version__}, {plural(len(board.sets), 'set')}. {NOTE}", "", *notes, ""]
    for scope in scopes:
        lines = board.table(scope)
        if lines:
            found += [f"## Where {scope.title}", "", *markdown_table(COLUMNS, map(_cells, lines)), ""]
            if scope.setting == "k found":
                found += ["### Numbers of clusters", "", *markdown_table(K_COLUMNS, _k_rows(lines)), ""]
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


def _render(
    board: Board,
    scopes: Sequence[Scope],
    sets: Mapping[str, BenchmarkSet],
    seconds: float,
    notes: Sequence[str],
    left_out: Mapping[str, str],
) -> str:
    rows = [list(row) for row in left_out.items()]
    others = [text_table("Sets that were left out", ["set", "reason"], rows, shown=10)] if rows else []
    sections = [Section("What was run", [NOTE, *notes], tables=[_pools(board), *_sets(board), *others])]
    sections += [section for scope in scopes for section in _scope(board, scope, sets)]
    failures = [list(map(str, row)) for row in board.failures()]
    if failures:
        table = text_table("", ["Set", "Pool", "Entry", "Reason"], failures, shown=12)
        sections.append(Section("What has no number", ["It counts as 0 in the means over all sets."], tables=[table]))
    known = board.table(scopes[0]) if scopes else []
    return render_page(
        title="Benchmark of consensus clustering",
        headline=f"First of {len(known)} where {scopes[0].title}: {known[0].name}" if known else "Nothing yet",
        facts=[
            ("sets", f"{len(board.sets):,}"),
            ("results", f"{len(board.rows):,}"),
            ("without a number", f"{len(failures):,}"),
            ("minutes of this run", f"{seconds / 60:.1f}"),
        ],
        sections=sections,
    )


def _pools(board: Board) -> Table:
    rows = [[pool, str(n), _number(mean), _number(best)] for pool, n, mean, best in board.pools()]
    return Table("Pools: mean ARI of their members", ["pool", "sets", "mean member", "best member"], rows)


def _sets(board: Board) -> list[Table]:
    """The sets by kind, and the rules."""
    if not board.traits:
        return []
    rows = [
        [name, *(str(x) for x in of[:3]), *(_number(x, 2) for x in of[3:]), of.kinds()["shape"]]
        for name, of in board.traits.items()
    ]
    columns = ["set", "objects", "features", "classes", "imbalance", "near its mean", "near its like", "shape"]
    rules = [[name, rule] for name, rule in RULES.items()]
    return [
        text_table("Kinds of sets", ["by", "rule"], rules),
        Table("The sets", columns, rows, shown=10, text=(0, 7), wide=True),
    ]


def _scope(board: Board, scope: Scope, sets: Mapping[str, BenchmarkSet]) -> list[Section]:
    lines = board.table(scope)
    if not lines:
        return []
    name = re.sub(r"\W+", "-", scope.title)
    pictures = [_intervals(lines, scope, name), *_rank_picture(board, scope, name)]
    tables = [Table("", COLUMNS, [_cells(line) for line in lines], shown=25, text=(0, 1), wide=True)]
    if scope.setting == "k found":
        tables.append(Table("Numbers of clusters", K_COLUMNS, _k_rows(lines), shown=25, text=(0, 1), wide=True))
    tables += [*_by_part(board, scope, lines), *(_comparison_table(rows) for rows in _comparisons(board, scope))]
    losses = board.losses(scope)
    if losses:
        rows = [[loss.entry, loss.set, _number(loss.score), _number(loss.baseline)] for loss in losses]
        baseline = name_of(*(board.best_baseline(scope) or ("", FEATURES)))
        tables.append(Table(f"Far below {baseline}", ["entry", "set", "ARI", baseline], rows, shown=12, text=(0, 1)))
    shown = [loss for loss in losses if loss.entry == lines[0].name][:SHOWN_LOSSES]
    pictures += [p for i, loss in enumerate(shown) if (p := _picture_of_loss(board, scope, loss, sets, f"{name}-{i}"))]
    left_out = [f"{entry} ({n} sets)" for entry, n in board.incomplete_entries(scope).items()]
    sentences = [f"All that have a number on half of the {lines[0].n_sets} sets have one on {lines[0].n_common}."]
    sentences += [f"Not compared, as tried on too few sets yet: {', '.join(left_out)}."] if left_out else []
    return [Section(f"Where {scope.title}", sentences, pictures, tables)]


def _by_part(board: Board, scope: Scope, lines: Sequence[Line]) -> list[Table]:
    """Means by battery and by kind of set."""
    parts, means = board.parts(scope), board.by_part(scope)
    tables = []
    for by in dict.fromkeys(part.partition(":")[0] for part in parts):
        own = [part for part in parts if part.startswith(f"{by}:")]
        if len(own) < 2:
            continue
        columns = ["entry", "pool", *(f"{part.partition(': ')[2]} ({len(parts[part])})" for part in own)]
        rows = [
            [line.entry, line.pool, *(_number(means[line.entry, line.pool][part]) for part in own)] for line in lines
        ]
        tables.append(Table(f"By {by} (number of sets)", columns, rows, shown=12, text=(0, 1), wide=True))
    return tables


def _comparison_table(compared: Sequence[Comparison]) -> Table:
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
    columns = ["Against", "Difference", "95 %", "Wins, ties, losses", "Wilcoxon, Holm"]
    return Table(f"{compared[0].first} and the others", columns, rows, shown=12, wide=True)


def _intervals(lines: Sequence[Line], scope: Scope, name: str) -> Picture:
    """The mean of each entry with its interval."""
    shown = lines[:MOST_RANKED]
    ax = draw_ranking(
        {line.name: line.over_all for line in shown},
        "mean adjusted Rand index over all sets",
        [PALETTE[scope.pools.index(line.pool) % len(PALETTE)] for line in shown],
        intervals=[(line.low, line.high) for line in shown],
    )
    return Picture(f"Means and their 95 % intervals, {scope.title}", to_svg(ax, f"means-{name}"), [], wide=True)


def _rank_picture(board: Board, scope: Scope, name: str) -> list[Picture]:
    """Mean ranks, and how far apart they must be."""
    ranks, difference = board.mean_ranks(scope)
    if len(ranks) < 3:
        return []
    shown = dict(sorted(ranks.items(), key=lambda pair: pair[1])[:MOST_RANKED])
    ax = draw_ranking(shown, "mean rank, 1 is best", [PALETTE[0]] * len(shown), band=difference)
    sentence = f"Grey: within Nemenyi's critical difference of the first, {difference:.2f} at 5 %."
    return [Picture(f"Mean ranks, {scope.title}", to_svg(ax, f"ranks-{name}"), [sentence], wide=True)]


def _picture_of_loss(
    board: Board, scope: Scope, loss: Loss, sets: Mapping[str, BenchmarkSet], name: str
) -> Picture | None:
    """The picture of a set where an entry is far below the best baseline, None if one of them has no labels."""
    baseline = board.best_baseline(scope)
    if baseline is None or loss.set not in sets:
        return None
    one = sets[loss.set]
    panels = [("known classes", one.references[0] - 1)]
    for entry in (loss.entry, name_of(*baseline)):
        labels = _labels_of(board, scope, entry, loss.set)
        if labels is None:
            return None
        panels.append((entry, labels))
    figure = partition_panels(one.whole, panels)
    sentence = f"ARI {loss.score:.3f}, {name_of(*baseline)} {loss.baseline:.3f}."
    return Picture(f"{loss.entry} loses on {loss.set}", to_svg(figure.axes[0], f"loss-{name}"), [sentence], wide=True)


def _labels_of(board: Board, scope: Scope, entry: str, name: str) -> NDArray[np.int64] | None:
    """The labels of seed 0, None if there are none."""
    for row in board.rows:
        of = (row.set, name_of(row.entry.name, row.pool), row.entry.column, row.seed, row.is_part)
        if of == (name, entry, scope.setting, 0, False) and row.result.numbers is not None:
            return row.labels
    return None
