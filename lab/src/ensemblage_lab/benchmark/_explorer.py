"""The page of the leaderboard: one file with every score, whose means are those of the sets that are asked for.

Without its script the page has the methods with k given, the sets, and pictures of the generated ones. The script
computes the means again for the sets that are asked for, and draws the scores set by set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ensemblage.plotting._axes import PALETTE, UNLABELLED_COLOR
from ensemblage.preprocessing import Preprocessor
from ensemblage.report._layout import CopyText, Picture, Section, Table, plural, render_page, text_table
from ensemblage_lab.benchmark._board import PLAIN, SETTINGS, TIE, bootstrap, name_of
from ensemblage_lab.benchmark._entries import FORMER, OWN
from ensemblage_lab.benchmark._generated import GENERATED
from ensemblage_lab.benchmark._kinds import KINDS_OF_DATA
from ensemblage_lab.benchmark._sets import BenchmarkSet
from ensemblage_lab.benchmark._tables import StoredBoard, StoredLine

UNIT = 10_000
"""Scores stand in the page as whole numbers of this part."""
GRID = 100
"""Points of a picture lie on a grid of so many places in each direction."""
GROUPS = {
    "baseline": "plain clusterer",
    "consensus": "consensus",
    "pipeline": "consensus",
    "selector": "ranker",
    "clusterer": "submitted",
    "combiner": "submitted",
}
"""What the page calls the kinds of entries."""
TABLES = "tables"
"""The battery that is a board of its own."""
WHAT = (
    "Each method is scored by the adjusted Rand index (ARI) between its clusters and the known classes of a set: 1 if "
    "both are equal, 0 on average by chance. The table has means over sets. A method without a result counts as 0."
)
INTERVALS = (
    "The interval is that of the mean difference when sets are drawn with replacement, 2,000 times. An interval "
    "without 0 is no proof: it is not corrected for the number of methods, and the first was chosen after the fact."
)
CHOSEN = (
    "The default of ensemblage was checked on part of the sets from files. Its trees learned from the generator of the "
    "worlds, with other seeds. Its places here are no test of it."
)
COLLECTED = "Others collected the sets from files to compare clusterers. They are no sample of your data."
CLASS = (
    "A class with fit, and with fit_predict or labels_, joins by its import path. Its constructor gets the number of "
    "clusters as n_clusters or n_components if it has that parameter, and random_state and n_jobs=1 likewise. A cell "
    "has 60 seconds of the processor and 4 GB."
)
NO_DATA = (
    "The generated sets need no data. The first command runs all on them and writes submission.json. The second checks "
    "that file. The page “Submit a method” of the documentation has the details."
)
SUBMIT = """ensemblage benchmark --method package.module:Class --seeds 1 --no-parts --seconds 60 -o out
python lab/scripts/make_board.py --submission out/submission.json"""


def by_origin(board: StoredBoard) -> tuple[StoredBoard, StoredBoard]:
    """The board of the sets that have files, and that of the generated ones."""
    names = [one.name for one in board.sets]
    generated = [name for name in names if name in GENERATED]
    return _part(board, [name for name in names if name not in GENERATED]), _part(board, generated)


def _part(board: StoredBoard, names: Sequence[str]) -> StoredBoard:
    """The board of some of its sets, with the lines that have a result on all of them."""
    lines = [line for line in board.lines if names and set(names) <= set(line.scores)]
    return replace(board, sets=[one for one in board.sets if one.name in names], lines=lines)


def with_submissions(board: StoredBoard, lines: Sequence[StoredLine]) -> StoredBoard:
    """The board with the submitted methods that were tried on all of its sets."""
    names = {one.name for one in board.sets}
    return replace(board, lines=[*board.lines, *(line for line in lines if names <= set(line.scores))])


def points_of(sets: Mapping[str, BenchmarkSet]) -> dict[str, dict[str, list[int]]]:
    """The pictures of the generated sets: two features, or the first two principal components, and the classes."""
    return {name: _points(one) for name, one in sets.items() if name in GENERATED}


def _points(one: BenchmarkSet) -> dict[str, list[int]]:
    X = one.X if one.X.shape[1] == 2 else _components(Preprocessor(standardize=True).fit_transform(one.whole))
    middle, width = (X.min(axis=0) + X.max(axis=0)) / 2, max(np.ptp(X, axis=0).max(), np.finfo(float).tiny)
    places = np.clip(((X - middle) / width + 0.5) * GRID, 0, GRID - 1).astype(int)
    return {
        "x": places[:, 0].tolist(),
        "y": (GRID - 1 - places[:, 1]).tolist(),
        "cluster": (one.references[0] - 1).tolist(),
    }


def _components(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 2) the first two principal components; the sign of each makes its largest entry positive."""
    left, scales, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    found = left[:, :2] * scales[:2]
    return np.asarray(found * np.sign(found[np.abs(found).argmax(axis=0), [0, 1]]))


def render_leaderboard(public: StoredBoard, generated: StoredBoard) -> str:
    """The page, as HTML."""
    boards = [board for board in (public, generated) if board.sets]
    if not boards or not any(board.lines for board in boards):
        return render_page("Leaderboard of clustering methods", "Nothing yet", [], [])
    first = boards[0]
    submitted = {line.entry for board in boards for line in board.lines if GROUPS[line.kind] == "submitted"}
    methods = {name_of(line.entry, line.pool) for board in boards for line in board.lines}
    return render_page(
        title="Leaderboard of clustering methods",
        headline=f"{plural(len(methods), 'method')} on {plural(sum(len(b.sets) for b in boards), 'set')}",
        facts=[
            ("sets from files", f"{len(public.sets):,}"),
            ("generated sets", f"{len(generated.sets):,}"),
            ("scores", f"{sum(len(line.scores) for b in boards for line in b.lines):,}"),
            ("submitted methods", f"{len(submitted):,}"),
        ],
        sections=[_methods(first), _sets(first, generated), _reading(), _runs(boards), _submitting()],
        data=_data(boards),
        more=(_own("leaderboard.css"), _own("leaderboard.js")),
    )


def _own(name: str) -> str:
    """The text of a file of this page alone."""
    return files("ensemblage_lab.benchmark").joinpath("templates", name).read_text(encoding="utf-8")


def _data(boards: Sequence[StoredBoard]) -> dict[str, Any]:
    """What the script computes with: every score, and the seconds of each."""
    views = []
    for place, board in enumerate(boards):
        is_made = board.sets[0].name in GENERATED
        title = "Generated sets" if is_made else "All sets from files"
        views.append({"title": f"{title} ({len(board.sets)})", "board": place, "battery": ""})
        of_tables = [one for one in board.sets if one.battery == TABLES]
        if 0 < len(of_tables) < len(board.sets):
            views.append({"title": f"Real tables ({len(of_tables)})", "board": place, "battery": TABLES})
    return {
        "unit": UNIT,
        "tie": round(TIE * UNIT),
        "plain": list(PLAIN),
        "chosen": OWN,
        "own": [OWN, FORMER],
        "kinds": list(KINDS_OF_DATA),
        "settings": list(SETTINGS),
        "views": views,
        "boards": [
            {
                "sets": [[one.name, one.n, one.m, one.k, one.kind, one.battery] for one in board.sets],
                "lines": [_line(line, board) for line in board.lines],
            }
            for board in boards
        ],
    }


def _line(line: StoredLine, board: StoredBoard) -> list[Any]:
    scores = [line.scores[one.name] for one in board.sets]
    seconds = [line.seconds.get(one.name) for one in board.sets]
    return [
        *(line.entry, line.pool, GROUPS[line.kind], line.setting, line.version),
        [None if value is None else round(value * UNIT) for value in scores],
        [None if value is None else float(f"{value:.3g}") for value in seconds],
    ]


def _methods(board: StoredBoard) -> Section:
    """The methods with k given, compared with the best plain clusterer."""
    names = [one.name for one in board.sets]
    of = {
        name_of(line.entry, line.pool): (line, np.array([line.scores[name] or 0.0 for name in names]))
        for line in board.lines
        if line.setting == SETTINGS[0]
    }
    plain = max((name for name in of if name in PLAIN), key=lambda name: of[name][1].mean(), default=None)
    rows = []
    for name, (line, scores) in sorted(of.items(), key=lambda pair: -pair[1][1].mean()):
        difference = None if plain in (None, name) else scores - of[plain][1]
        finished = sum(line.scores[one] is not None for one in names)
        seconds = [value for one in names if (value := line.seconds.get(one)) is not None]
        rows.append(
            [
                *(name, f"{scores.mean():.3f}"),
                *(("–", "–") if difference is None else (f"{difference.mean():+.3f}", _interval(difference))),
                *(f"{finished} of {len(names)}", f"{np.median(seconds):.2f}" if seconds else "–"),
            ]
        )
    columns = ["Method", "Mean ARI", f"Less {plain}" if plain else "Difference", "95 %", "Finished", "CPU s"]
    table = Table("With the number of clusters given", columns, rows, shown=25, wide=True, name="methods")
    return Section("Methods", [WHAT], tables=[table], name="methods")


def _interval(difference: NDArray[np.float64]) -> str:
    low, high = bootstrap(difference)
    return f"{low:+.3f} to {high:+.3f}"


def _sets(first: StoredBoard, generated: StoredBoard) -> Section:
    rows = [[one.name, one.kind, f"{one.n:,}", f"{one.m:,}", str(one.k)] for one in first.sets]
    columns = ["Set", "Kind of data", "Objects", "Features", "Classes"]
    table = Table("Sets", columns, rows, shown=12, text=(0, 1), wide=True, name="sets")
    pictures = []
    if generated.points:
        drawn = Markup("").join(_picture(name, points) for name, points in generated.points.items())
        sentence = "Known classes of the generated sets: two features, or the first two principal components."
        svg = Markup('<div class="multiples">{}</div>').format(drawn)
        pictures = [Picture("The generated sets", svg, [sentence], wide=True, name="generated")]
    return Section("Set by set", [], pictures, [table], name="sets")


def _picture(name: str, points: Mapping[str, Sequence[int]]) -> Markup:
    """A small picture of a set: a path of dots for each class."""
    dots: dict[int, list[str]] = {}
    for x, y, cluster in zip(points["x"], points["y"], points["cluster"], strict=True):
        dots.setdefault(cluster, []).append(f"M{x} {y}h0")
    path = Markup('<path stroke="{}" d="{}"/>')
    drawn = Markup("").join(
        path.format(UNLABELLED_COLOR if cluster < 0 else PALETTE[cluster % len(PALETTE)], "".join(of))
        for cluster, of in sorted(dots.items())
    )
    svg = Markup(
        '<div><svg class="points" data-set="{}" viewBox="-4 -4 107 107" aria-hidden="true">{}</svg><p>{}</p></div>'
    )
    return svg.format(name, drawn, name)


def _reading() -> Section:
    terms = [
        ("default, first default", 'ConsensusClustering(), and the same with selection="consensus".'),
        ("a name alone", "The method gets the objects. All other methods get labels: a pool of partitions."),
        ("on random-k", "A pool of 50 k-means with numbers of clusters drawn from 2 to √n."),
        ("on diverse", "A pool of five algorithms, each with up to eight numbers of clusters from 2 to 28."),
        ("won, tied, lost", f"Sets where the score is higher, alike up to {TIE}, or lower."),
        ("CPU s", "Median over the sets, in seconds of the processor, without making the pool."),
        *KINDS_OF_DATA.items(),
    ]
    return Section("How to read it", [INTERVALS, CHOSEN, COLLECTED], terms=terms, name="reading")


def _runs(boards: Sequence[StoredBoard]) -> Section:
    rows = [
        ["generated sets" if board.sets[0].name in GENERATED else "sets from files", note]
        for board in boards
        for note in board.notes
    ]
    return Section("What was run", tables=[text_table("", ["Sets", ""], rows, shown=20)], name="runs")


def _submitting() -> Section:
    return Section("Submit a method", [CLASS, NO_DATA], copied=[CopyText("Commands", SUBMIT)], name="submit")
