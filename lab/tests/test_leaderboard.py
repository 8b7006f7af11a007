"""The page of the leaderboard, the sets that are generated for it, and the results that others submit."""

import csv
import importlib.util
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import browser as chromium
import numpy as np
import pytest
from click.testing import CliRunner

from ensemblage.cli import main
from ensemblage_lab._methods import version_of
from ensemblage_lab._store import Result
from ensemblage_lab._worker import Limits
from ensemblage_lab.benchmark import Board, Request
from ensemblage_lab.benchmark._board import Row, Scope
from ensemblage_lab.benchmark._entries import FEATURES, Entry, entries_of, solve, try_outside
from ensemblage_lab.benchmark._explorer import by_origin, points_of, render_leaderboard, with_submissions
from ensemblage_lab.benchmark._generated import FIRST_SEED, GENERATED, WORLDS
from ensemblage_lab.benchmark._kinds import KINDS_OF_DATA, kind_of
from ensemblage_lab.benchmark._run import _choose_sets
from ensemblage_lab.benchmark._scores import numbers_of, pack_labels
from ensemblage_lab.benchmark._sets import find_sets, generated_sets
from ensemblage_lab.benchmark._submission import FILE, read_submission, write_submission
from ensemblage_lab.benchmark._tables import (
    FILES,
    SCHEMA,
    StoredBoard,
    StoredLine,
    StoredSet,
    read_board,
)

LAB = Path(__file__).parents[1]
ROOT = LAB.parent
TABLES = LAB / "records" / "leaderboard"


def script(name):
    spec = importlib.util.spec_from_file_location(name, LAB / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def records(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# -- generated sets ----------------------------------------------------------------------------------------------------


def test_generated_sets_are_the_same_twice_and_can_be_scored():
    kinds = set()
    for one, again in zip(generated_sets(), generated_sets(), strict=True):
        assert one.fingerprint == again.fingerprint
        assert one.k >= 2
        assert one.whole.shape[0] == len(one.X) == len(one.references[0]) <= 200
        assert np.isfinite(one.whole).all()
        rows = np.arange(0, len(one.X), 2)
        assert len(one.features(rows)) == len(rows)
        kinds.add(one.kind)
    assert kinds == set(KINDS_OF_DATA)
    assert len({one.fingerprint for one in generated_sets()}) == len(GENERATED) == 6 + 2 * len(WORLDS)


def test_worlds_are_none_of_those_that_the_trees_know():
    score_worlds = (LAB / "scripts" / "score_worlds.py").read_text(encoding="utf-8")
    first, n = map(int, re.search(r"FIRST_TEST, N_TEST = ([\d_]+), (\d+)", score_worlds).groups())
    assert first + n <= FIRST_SEED


def test_without_folders_the_sets_are_the_generated_ones(tmp_path):
    chosen = _choose_sets(Request(tmp_path / "out"))
    assert set(chosen.sets) == set(GENERATED)
    assert chosen.left_out == {}
    (tmp_path / "worlds").mkdir()
    (tmp_path / "own").mkdir()
    np.savetxt(
        tmp_path / "own" / "t.csv.gz",
        np.c_[np.arange(8) ** 2, np.arange(8) % 2],
        "%d",
        ",",
        header="x,label",
        comments="",
    )
    assert set(_choose_sets(Request(tmp_path / "out", data=(tmp_path / "own",))).sets) == {"own/t"}
    both = _choose_sets(Request(tmp_path / "out", data=(tmp_path / "own",), generated=True)).sets
    assert set(both) == {"own/t", *GENERATED}
    (tmp_path / "own" / "t.csv.gz").rename(tmp_path / "worlds" / "t.csv.gz")
    with pytest.raises(ValueError, match=r"other names than the batteries of generated sets\. Got worlds"):
        find_sets(None, [tmp_path / "worlds"], generated=True)


def test_the_option_generated(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr("ensemblage_lab._benchmark.benchmark", lambda request, tell: asked.append(request) or tmp_path)
    for option in ([], ["--generated"]):
        done = CliRunner().invoke(main, ["benchmark", *option, "-o", str(tmp_path / "out")])
        assert done.exit_code == 0, done.stderr
    assert [request.generated for request in asked] == [False, True]


@pytest.mark.parametrize(
    ("n", "m", "n_numeric", "kind"),
    [
        (900, 3, 3, "drawings"),
        (900, 4, 4, "numbers"),
        (500, 51, 20, "wide"),
        (501, 51, 51, "numbers"),
        (500, 50, 45, "numbers"),
        (500, 50, 44, "categories"),
        (100, 2, 1, "categories"),
    ],
)
def test_kinds_of_data(n, m, n_numeric, kind):
    assert kind_of(n, [i < n_numeric for i in range(m)]) == kind


def test_the_kind_of_a_table_goes_by_its_columns(tmp_path):
    import gzip

    text = "a,b,c,d,label\n" + "".join(f"{i},{i * i % 7},{'xy'[i % 2]},{'uvw'[i % 3]},{i % 2}\n" for i in range(12))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    (one,) = find_sets(None, [tmp_path])
    assert one.kind == "categories"


# -- tables ------------------------------------------------------------------------------------------------------------


def copy_tables(folder):
    folder.mkdir()
    for name in FILES:
        (folder / name).write_bytes((TABLES / name).read_bytes())
    return folder


def test_tables_of_an_unknown_schema_are_refused(tmp_path):
    folder = copy_tables(tmp_path / "tables")
    assert json.loads((folder / "run.json").read_text())["schema"] == SCHEMA
    run = json.loads((folder / "run.json").read_text())
    for schema, got in ((SCHEMA + 1, str(SCHEMA + 1)), ("1", "'1'"), (None, "none")):
        (folder / "run.json").write_text(json.dumps({**run, "schema": schema}))
        with pytest.raises(ValueError, match=rf"run\.json must have schema {SCHEMA}\. Got {got}\. Make it"):
            read_board(folder)
    (folder / "seconds.csv").unlink()
    with pytest.raises(ValueError, match=r"It has no seconds\.csv"):
        read_board(folder)


def test_stored_lines_have_the_means_and_times_of_the_document():
    board = read_board(TABLES)
    assert len(board.sets) == 81
    lines = {(line.setting, line.entry, line.pool): line for line in board.lines}
    of = {"k is known": "k known", "k is found": "k found"}
    told = [row for row in records(TABLES / "leaderboard.csv") if row["scope"] in of]
    assert len(told) == len(lines) == 145
    for row in told:
        line = lines[of[row["scope"]], row["entry"], row["pool"]]
        assert np.mean([value or 0 for value in line.scores.values()]) == pytest.approx(
            float(row["over_all"]), abs=1e-4
        )
        assert np.median(list(line.seconds.values())) == pytest.approx(float(row["seconds"]), abs=1e-4)
        assert sum(value is not None for value in line.scores.values()) == int(row["n_finished"])
    kinds = {}
    for line in (LAB / "records" / "default" / "first_default.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        kinds[record["set"]] = record["kind"]
    assert all(kinds.get(one.name, one.kind) == one.kind for one in board.sets)


def test_seconds_are_of_the_first_seed():
    def row(name, seed, seconds, part=False):
        numbers = {"ari": 0.5, "ami": 0.5, "nca": 0.5, "k": 2, "true_k": 2, "labels": pack_labels(np.array([0, 1]))}
        return Row(name, "p", Entry("m", "consensus", True), seed, part, np.arange(2), Result(numbers, None, seconds))

    board = Board(
        [row("a/1", 0, 1.5), row("a/1", 1, 9.0), row("a/1", 0, 8.0, part=True), row("a/2", 0, 2.5), row("a/2", 1, 1.0)]
    )
    assert board.seconds(Scope("k known", ("p",))) == {("m", "p"): {"a/1": 1.5, "a/2": 2.5}}


# -- the page ----------------------------------------------------------------------------------------------------------


def stored(names, lines, kind="numbers", points=None):
    """A board of lines given as (entry, pool, kind, setting, scores)."""
    sets = [
        StoredSet(name, 10 * i + 10, 2, 2, kind if isinstance(kind, str) else kind[i]) for i, name in enumerate(names)
    ]
    made = [
        StoredLine(entry, pool, of, setting, dict(zip(names, scores, strict=True)), dict.fromkeys(names, 0.5))
        for entry, pool, of, setting, scores in lines
    ]
    return StoredBoard(sets, made, ["One note."], points or {})


EMPTY = StoredBoard([], [], [], {})


def test_the_stored_page_is_that_of_the_tables():
    made = script("make_board")
    page = made.page()
    assert page == made.PAGE.read_text(encoding="utf-8"), "python lab/scripts/make_board.py"
    assert len(page.encode()) < 500_000
    assert not re.findall(r"(?:src|href)=[\"'](?!#)", page)
    assert "default-src &#39;none&#39;" in page


def test_names_are_escaped():
    bad = "<script>alert(1)</script>"
    board = stored([f"a/{bad}", "a/2"], [(bad, FEATURES, "baseline", "k known", [0.5, 0.1])], points={})
    page = render_leaderboard(board, EMPTY)
    assert bad not in page
    assert "alert(1)" in page


def test_a_page_of_nothing_says_so():
    assert "Nothing yet" in render_leaderboard(EMPTY, EMPTY)


def test_a_run_is_divided_into_files_and_generated_sets():
    names = ["a/1", "formulas/moons"]
    board = stored(names, [("m", FEATURES, "baseline", "k known", [0.5, 0.1])])
    part = replace(board.lines[0], entry="part", scores={"a/1": 0.3})
    public, made = by_origin(replace(board, lines=[*board.lines, part]))
    assert [one.name for one in public.sets] == ["a/1"]
    assert [one.name for one in made.sets] == ["formulas/moons"]
    assert [line.entry for line in public.lines] == ["m", "part"]
    assert [line.entry for line in made.lines] == ["m"]
    joined = with_submissions(made, [replace(part, scores={"formulas/moons": 1.0}), part])
    assert [dict(line.scores) for line in joined.lines[1:]] == [{"formulas/moons": 1.0}]


def test_points_lie_on_a_grid():
    sets = {one.name: one for one in generated_sets() if one.name in ("formulas/moons", "worlds/mixed-1")}
    for name, points in points_of(sets).items():
        values = np.array([points["x"], points["y"]])
        assert values.min() >= 0
        assert values.max() <= 99
        assert np.ptp(values, axis=1).max() >= 98
        assert len(points["cluster"]) == len(sets[name].X)


needs_browser = pytest.mark.skipif(chromium.found() is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def tab():
    with chromium.browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Three methods on four sets from files, two of them drawings, and two methods on a generated set."""
    names = ["tables/1", "tables/2", "a/3", "a/4"]
    lines = [
        ("ward", FEATURES, "baseline", "k known", [0.1, 0.2, 0.3, 0.4]),
        ("k-means", FEATURES, "baseline", "k known", [0.9, 0.1, 0.0, None]),
        ("km", "diverse", "consensus", "k known", [0.2, 0.3, 0.4, 0.5]),
        ("hdbscan", FEATURES, "baseline", "k found", [0.0, 0.0, 0.5, 0.5]),
    ]
    made = stored(
        ["formulas/moons"],
        [("ward", FEATURES, "baseline", "k known", [0.25]), ("default", FEATURES, "baseline", "k known", [1.0])],
        "drawings",
        {"formulas/moons": {"x": [0, 50, 99], "y": [0, 50, 99], "cluster": [0, 1, -1]}},
    )
    made = with_submissions(
        made,
        [
            StoredLine(
                "own:Class", FEATURES, "clusterer", "k known", {"formulas/moons": 0.5}, {"formulas/moons": None}, "1.2"
            )
        ],
    )
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(
        render_leaderboard(stored(names, lines, ["numbers", "numbers", "drawings", "drawings"]), made), encoding="utf-8"
    )
    return path


ROWS = "[...document.querySelectorAll('[data-method]')].map((row) => [...row.children].map((cell) => cell.textContent))"


def choose(tab, label, value):
    """Set one of the boxes by its label."""
    tab.run(
        f"""(() => {{ const label = [...document.querySelectorAll('.controls label')]
            .find((one) => one.firstChild.textContent === {json.dumps(label)});
        const box = label.querySelector('select, input'); box.value = {json.dumps(value)};
        box.dispatchEvent(new Event(box.tagName === 'SELECT' ? 'change' : 'input')); }})()"""
    )


def names_of(tab):
    return [row[0] for row in tab.run(ROWS)]


@needs_browser
def test_means_and_differences_follow_the_filters(tab, small):
    tab.open(small)
    rows = tab.run(ROWS)
    assert [row[:3] for row in rows] == [
        ["1km on diverse", "0.350", "+0.100"],
        ["2ward", "0.250", "reference"],
        ["3k-means", "0.250", "+0.000"],
    ]
    # km is .1 above ward everywhere: no draw of the sets says anything else.
    assert rows[0][3:6] == ["+0.100 to +0.100", "4, 0, 0", "4 of 4"]
    assert rows[2][4:6] == ["1, 0, 3", "3 of 4"]
    choose(tab, "Kind of data", "drawings")
    assert [row[:3] for row in tab.run(ROWS)] == [
        ["1km on diverse", "0.450", "+0.100"],
        ["2ward", "0.350", "reference"],
        ["3k-means", "0.000", "−0.350"],
    ]
    choose(tab, "Kind of data", "")
    choose(tab, "Board", "1")  # tables
    assert [row[1] for row in tab.run(ROWS)] == ["0.500", "0.250", "0.150"]
    assert names_of(tab)[0] == "1k-means"
    assert tab.run("document.querySelectorAll('.cards li').length") == 2
    choose(tab, "Compare with", "ward")
    assert [row[2] for row in tab.run(ROWS)] == ["+0.350", "+0.100", "reference"]
    choose(tab, "Board", "0")
    choose(tab, "Number of clusters", "k found")
    assert [row[:3] for row in tab.run(ROWS)] == [["1hdbscan", "0.250", "reference"]]
    assert tab.complaints() == []


@needs_browser
def test_generated_sets_have_pictures_and_submitted_methods(tab, small):
    tab.open(small)
    choose(tab, "Board", "2")
    assert [row[:4] for row in tab.run(ROWS)] == [
        ["1default", "1.000", "+0.750", "–"],
        ["2own:Classsubmitted, version 1.2", "0.500", "+0.250", "–"],
        ["3ward", "0.250", "reference", "–"],
    ]
    assert tab.run("document.querySelectorAll('.cards li svg.points path').length") == 3
    assert "So few sets say little" in tab.run("document.querySelector('[role=status]').textContent")
    choose(tab, "Methods", "submitted")
    assert len(names_of(tab)) == 1
    choose(tab, "Methods", "")
    choose(tab, "Search a method", "DEF")
    assert names_of(tab) == ["1default"]


@needs_browser
def test_columns_sort_and_a_method_is_shown_set_by_set_with_the_keyboard(tab, small):
    tab.open(small)
    heads = "[...document.querySelectorAll('thead th')].filter((head) => head.hasAttribute('aria-sort'))"
    assert tab.run(f"{heads}.map((head) => head.getAttribute('aria-sort'))")[1] == "descending"
    tab.run(f"{heads}[0].querySelector('button').focus()")
    tab.press("Enter")
    tab.run("document.activeElement.click()") if names_of(tab)[0] != "3k-means" else None
    assert [name[1:] for name in names_of(tab)] == ["k-means", "km on diverse", "ward"]
    assert tab.run(f"{heads}[0].getAttribute('aria-sort')") == "ascending"
    tab.run(f"{heads}[1].querySelector('button').click()")
    tab.run(f"{heads}[1].querySelector('button').click()")
    assert [name[1:] for name in names_of(tab)][-1] == "km on diverse"
    tab.run("[...document.querySelectorAll('[data-method] button')].find((b) => b.textContent === 'k-means').click()")
    assert tab.run("document.activeElement.textContent") == "k-means"
    cards = tab.run(
        "[...document.querySelectorAll('.cards li')].map((card) => [card.dataset.set, card.lastChild.textContent])"
    )
    assert cards[0] == ["a/4", "k-means no result, ward 0.400"]
    assert cards[-1] == ["tables/1", "k-means 0.900, ward 0.100"]
    choose(tab, "Order", "name")
    assert tab.run("[...document.querySelectorAll('.cards li')].map((card) => card.dataset.set)") == [
        "a/3",
        "a/4",
        "tables/1",
        "tables/2",
    ]


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_the_stored_page_fits_and_asks_for_nothing(tab, width, dark):
    tab.open(script("make_board").PAGE, width=width, dark=dark)
    assert tab.run("document.documentElement.scrollWidth") <= width
    assert len(tab.run(ROWS)) >= 82
    assert tab.complaints() == []
    color = tab.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", color)[:3])) < 200) == dark


@needs_browser
def test_intervals_of_the_page_are_those_of_the_tables(tab):
    tab.open(script("make_board").PAGE)
    rows = {row[0]: row for row in tab.run(ROWS)}
    stored_rows = [row for row in records(TABLES / "comparisons.csv") if row["scope"] == "k is known"]
    plain = stored_rows[-1]["first"]
    told = {row["second"]: row for row in stored_rows if row["first"] == plain}
    assert any(row[2] == "reference" and name.endswith(plain) for name, row in rows.items())
    for name, row in rows.items():
        of = told.get(name.lstrip("0123456789"))
        if of is None:
            continue
        low, high = (float(value.replace("−", "-")) for value in row[3].split(" to "))
        # The first less the other in the table, the other less the first on the page; other draws of the sets.
        assert float(row[2].replace("−", "-")) == pytest.approx(-float(of["difference"]), abs=1e-3)
        assert (low, high) == pytest.approx((-float(of["high"]), -float(of["low"])), abs=0.012)
        won, _, lost = map(int, row[4].split(", "))
        assert (won, lost) == pytest.approx((int(of["losses"]), int(of["wins"])), abs=2)
    assert len(told) > 70


@needs_browser
def test_without_its_script_the_page_has_the_methods(tab, small):
    tab.open(small, script=False)
    text = tab.call("DOM.getOuterHTML", nodeId=tab.call("DOM.getDocument", depth=-1)["root"]["nodeId"])["outerHTML"]
    tab.open(small)
    assert "interactive" not in text.split("<script")[0].split("<main>")[1]
    row = '<th scope="row" class="phrase">km on diverse</th><td class="number">0.350</td><td class="number">+0.100</td>'
    assert row in text


# -- methods from outside ----------------------------------------------------------------------------------------------


class Half:
    """A user's class: clusters by the first feature."""

    def __init__(self, n_clusters=2):
        pass

    def fit(self, X):
        return self

    def fit_predict(self, X):
        return (np.asarray(X)[:, 0] > 0).astype(float)


class Bad(Half):
    """One that returns what its subclass says."""

    def fit_predict(self, X):
        return self.given(len(X))


class Short(Bad):
    given = staticmethod(lambda n: np.zeros(n - 1))


class Between(Bad):
    given = staticmethod(lambda n: np.arange(n) / 2)


class Words(Bad):
    given = staticmethod(lambda n: np.array(["a"] * n))


class Matrix(Bad):
    given = staticmethod(lambda n: np.zeros((n, 1)))


class Gaps(Bad):
    given = staticmethod(lambda n: np.full(n, np.nan))


class Nothing:
    def fit(self, X):
        return self


@pytest.mark.parametrize("name", ["Short", "Between", "Words", "Matrix", "Gaps"])
def test_labels_that_are_none_are_refused(name):
    with pytest.raises(ValueError, match=r"must be a whole number for each of the 24 objects\. Got shape"):
        try_outside(Entry(f"test_leaderboard:{name}", "clusterer", True))


def test_a_class_is_tried_on_features_or_on_labels():
    assert try_outside(Entry("test_leaderboard:Half", "clusterer", True)) == 2
    assert try_outside(Entry("ensemblage.consensus:KMeansConsensus", "combiner", True)) == 2
    with pytest.raises(AttributeError, match="labels_"):
        try_outside(Entry("test_leaderboard:Nothing", "clusterer", False))


@pytest.mark.slow
def test_a_class_that_does_not_cluster_is_refused_before_the_run(tmp_path):
    arguments = [
        "benchmark",
        "--method",
        "test_leaderboard:Words",
        "--sets",
        "formulas/moons",
        "-o",
        str(tmp_path / "out"),
    ]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert "--method must name classes that cluster 24 objects" in done.stderr
    assert "type <U1. Give one for each row of the labels, -1 for no cluster. Correct the class, or" in done.stderr
    assert not (tmp_path / "out").exists()


def test_results_are_kept_by_the_version_of_the_class(tmp_path, monkeypatch):
    (entry,) = (e for e in entries_of(FEATURES, ("sklearn.cluster:Birch",)) if e.is_outside)
    import sklearn

    assert entry.key == f"sklearn.cluster:Birch {sklearn.__version__}, k known"
    assert next(e.key for e in entries_of(FEATURES)) == "k-means, k known"
    monkeypatch.syspath_prepend(tmp_path)
    text = "class Own:\n    def fit(self, X):\n        return self\n"
    versions = []
    for module, more in (("own_a", ""), ("own_b", ""), ("own_c", "\n# edited\n")):
        (tmp_path / f"{module}.py").write_text(text + more)
        versions.append(version_of(f"{module}:Own"))
    assert versions[0] == versions[1] != versions[2]
    assert versions[0].startswith("file ")


def rows_of_half():
    entry = Entry("test_leaderboard:Half", "clusterer", True, "1.0")
    for one in generated_sets():
        labels = solve(entry, one.whole, None, one.k, 0)
        numbers = numbers_of(one.references, labels, None) | {"true_k": one.k, "megabytes": 1.0}
        yield Row(one.name, FEATURES, entry, 0, False, np.arange(len(one.X)), Result(numbers, None, 0.25))


@pytest.fixture(scope="module")
def submission(tmp_path_factory):
    rows = list(rows_of_half())
    failed = rows[3]._replace(result=Result(None, "ValueError: no", 0.5))
    seed = rows[0]._replace(seed=1)
    part = rows[0]._replace(is_part=True)
    builtin = rows[0]._replace(entry=Entry("ward", "baseline", True))
    return write_submission(
        [*rows[:3], failed, *rows[4:], seed, part, builtin], Limits(60, 4), "5", tmp_path_factory.mktemp("out")
    )


@cache
def sizes():
    """Objects with a label of each generated set."""
    return {one.name: int((one.references[0] > 0).sum()) for one in generated_sets()}


def test_a_submission_comes_back(submission):
    (line,) = read_submission(submission, "5", sizes())
    assert (line.entry, line.version, line.kind, line.setting, line.pool) == (
        *("test_leaderboard:Half", "1.0", "clusterer", "k known", FEATURES),
    )
    assert set(line.scores) == set(GENERATED)
    failed = list(GENERATED)[3]
    assert [name for name, value in line.scores.items() if value is None] == [failed]
    assert line.seconds[failed] == 0.5
    assert json.loads(submission.read_text())["schema"] == SCHEMA
    assert write_submission([], Limits(), "5", submission.parent) is None


def test_results_on_sets_from_files_have_as_many_labels(submission, tmp_path):
    found = json.loads(submission.read_text())
    result = {"ari": 0.5, "ami": 0.5, "nca": 0.5, "k": 1, "seconds": 1.0, "megabytes": 1.0}
    for n, is_right in ((9, False), (10, True), (12, True), (21, False)):
        labels = {"labels": pack_labels(np.zeros(n, dtype=int))}
        found["methods"][0]["results"]["a/file"] = result | labels
        (tmp_path / FILE).write_text(json.dumps(found))
        if is_right:
            (line,) = read_submission(tmp_path / FILE, "5", sizes() | {"a/file": 10})
            assert line.scores["a/file"] == 0.5
        else:
            with pytest.raises(ValueError, match=r"on a/file must have the labels of 10 objects"):
                read_submission(tmp_path / FILE, "5", sizes() | {"a/file": 10})


FIRST = next(iter(GENERATED))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x: x.update(schema=SCHEMA + 1), "must have schema"),
        (lambda x: x.update(protocol="4"), "must be made by protocol 5"),
        (lambda x: x.pop("limits"), "must have 'limits' of type dict"),
        (lambda x: x["limits"].update(seconds=600), "Got 600. Run the benchmark with a limit of 60 seconds"),
        (lambda x: x["limits"].update(gigabytes="4"), "at most 4 gigabytes"),
        (lambda x: x.update(methods=[]), "must hold a method"),
        (lambda x: x.update(methods=[1]), "methods that are objects"),
        (lambda x: x["methods"][0].pop("version"), "must have 'version' of type str"),
        (lambda x: x["methods"][0].update(version="1" * 41), "at most 40 characters"),
        (lambda x: x["methods"][0].update(name="<b>:x"), "must name methods as package.module:Class"),
        (lambda x: x["methods"][0].update(kind="baseline"), "known kind, pool and setting"),
        (lambda x: x["methods"][0].update(pool="diverse"), "known kind, pool and setting"),
        (lambda x: x["methods"][0].update(setting="k"), "known kind, pool and setting"),
        (lambda x: x["methods"][0]["results"].pop(FIRST), f"Got none on {FIRST}"),
        (lambda x: x["methods"][0]["results"].update({"a/b": {}}), "sets of the leaderboard. Got 'a/b'"),
        (lambda x: x["methods"][0]["results"][FIRST].update(ari=1.0), "must have the ari of its labels"),
        (lambda x: x["methods"][0]["results"][FIRST].update(nca=0.123), "must have the nca of its labels"),
        (lambda x: x["methods"][0]["results"][FIRST].update(ari=float("nan")), "from -1 to 1"),
        (lambda x: x["methods"][0]["results"][FIRST].update(ari=True), "from -1 to 1"),
        (lambda x: x["methods"][0]["results"][FIRST].update(seconds=-1), "must have seconds"),
        (lambda x: x["methods"][0]["results"][FIRST].update(labels="x"), "the labels of 200 objects"),
        (
            lambda x: x["methods"][0]["results"][FIRST].update(labels=pack_labels(np.zeros(199, dtype=int))),
            "the labels of 200",
        ),
        (
            lambda x: x["methods"][0]["results"][FIRST].update(labels=pack_labels(np.zeros(10**6, dtype=int))),
            "the labels of 200",
        ),
        (lambda x: x["methods"][0]["results"][FIRST].pop("labels"), "the labels of 200 objects"),
    ],
)
def test_a_submission_that_is_not_as_it_must_be_is_refused(submission, tmp_path, change, said):
    found = json.loads(submission.read_text())
    change(found)
    (tmp_path / FILE).write_text(json.dumps(found))
    with pytest.raises(ValueError, match=re.escape(said)):
        read_submission(tmp_path / FILE, "5", sizes())


@pytest.mark.parametrize(
    ("data", "said"), [(b"[1]", "must be a JSON object"), (b"{", "must be JSON"), (b"\xff", "must be JSON")]
)
def test_a_file_that_is_no_submission_is_refused(tmp_path, data, said):
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(ValueError, match=said):
        read_submission(tmp_path / FILE, "5", sizes())
    (tmp_path / FILE).write_bytes(b" " * 5_000_001)
    with pytest.raises(ValueError, match="at most 5,000,000 bytes"):
        read_submission(tmp_path / FILE, "5", sizes())


def test_the_script_takes_a_submission_in(submission, tmp_path, monkeypatch):
    made = script("make_board")
    monkeypatch.setattr(made, "SUBMISSIONS", tmp_path / "submissions")
    kept = made.take_submission(submission)
    assert kept == tmp_path / "submissions" / "test_leaderboard_Half.json"
    assert "test_leaderboard:Half" in made.page()
    bad = tmp_path / FILE
    bad.write_text("{}")
    with pytest.raises(ValueError, match="must have schema"):
        made.take_submission(bad)
    assert [path.name for path in (tmp_path / "submissions").iterdir()] == [kept.name]


@pytest.mark.slow
def test_a_run_without_data_leaves_its_page_and_its_submission(tmp_path):
    arguments = [
        "benchmark",
        "--method",
        "test_leaderboard:Half",
        "--only",
        "test_leaderboard:Half,ward",
        "--sets",
        "formulas",
    ]
    done = CliRunner().invoke(
        main, [*arguments, "--seeds", "1", "--no-parts", "--pools", "random-k", "-o", str(tmp_path)]
    )
    assert done.exit_code == 0, done.stderr
    assert "has the results of your methods" in done.stderr
    board = read_board(tmp_path)
    assert {line.entry for line in board.lines} == {"test_leaderboard:Half", "ward"}
    assert [one.name.partition("/")[0] for one in board.sets] == ["formulas"] * 6
    assert set(board.points) == {one.name for one in board.sets}
    assert "test_leaderboard:Half" in (tmp_path / "leaderboard.html").read_text(encoding="utf-8")
    found = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    assert set(found["methods"][0]["results"]) == {one.name for one in board.sets}
