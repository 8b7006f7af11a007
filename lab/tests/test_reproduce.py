"""The harness of the papers (resume, failures, tables, page), and that the papers fit their published numbers."""

import collections
import csv
import gzip
import importlib
import inspect
import linecache
import math
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ensemblage import Ensemble, cli, consensus
from ensemblage.base.atomic import only_user
from ensemblage.consensus import METHODS, make_consensus
from ensemblage.datasets._load import Dataset
from ensemblage_lab import _store
from ensemblage_lab._store import Key, LabelMatrix, Origin, Result, Store
from ensemblage_lab.reproduce import PAPERS, Request, _page, _protocol, _reproduce, load_paper, reproduce, status
from ensemblage_lab.reproduce._cells import DIFFERS, UNKNOWN, WITHIN, Cell, Estimate, estimate
from ensemblage_lab.reproduce._experiment import Run
from ensemblage_lab.reproduce._paper import HOLDS, UNTESTED
from ensemblage_lab.reproduce._protocol import protocol_of, protocol_of_ensemble
from ensemblage_lab.reproduce._published import published
from ensemblage_lab.reproduce._results import Results
from ensemblage_lab.reproduce._runs import Data, Progress, complete_rows
from ensemblage_lab.reproduce._tables import exact_row, plot, to_markdown, write_rows
from ensemblage_lab.reproduce.papers import sinorina
from ensemblage_lab.reproduce.papers.sinorina import protocol as sinorina_protocol
from ensemblage_lab.reproduce.papers.sinorina import table as sinorina_table

TESTS = Path(__file__).parent
TOY = TESTS / "toy"
toy_paper = load_paper(TOY)
toy_module = sys.modules[toy_paper.package]
NAMES = (*METHODS, *METHODS.aliases)
PUBLISHED = {name: METHODS[name].published for name in NAMES if METHODS[name].published is not None}
KILLED = """
from pathlib import Path
from ensemblage_lab.reproduce import Request, reproduce
reproduce(Request((Path({toy!r}),), Path({output!r}), n_jobs=1), print)
"""


FIRST_PROTOCOLS = {
    "ayad": "38e4fa52b3fbbebb",
    "candel": "f4f6fd414815bcca",
    "li": "9894b63fd0616968",
    "ohl": "2488b72ba847e112",
    "sinorina": "08818c408c98c2c7",
}
"""Of the first experiment, case and method of each paper."""
HOLDER = """
import sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None)
file.execute("begin exclusive")
print("held", flush=True)
sys.stdin.read()
"""


class EvenOdd:
    """A method of a user."""

    def __init__(self, n_clusters):
        self.n_clusters = n_clusters

    def fit(self, labels):
        self.labels_ = np.arange(len(labels)) % 2
        return self


class NoFit:
    """Not a method."""


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """Where the toy writes; returns the log of what was done."""
    log = tmp_path / "log"
    log.touch()
    monkeypatch.setenv("TOY_LOG", str(log))
    return lambda: log.read_text(encoding="utf-8").splitlines()


def run(folder, told=None, **settings):
    return reproduce(Request((TOY,), folder, n_jobs=1, **settings), (told if told is not None else []).append)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_everything_is_done_once_and_shown(toy, tmp_path):
    told = []
    page = run(tmp_path / "out", told)
    done = toy()
    assert sum(line.startswith("make") for line in done) == 8
    assert sum("KM" in line for line in done) == 8
    assert "no such set: skipped, not at hand" in told
    assert "consensus method no-such-method is not available in this version" in told
    run(tmp_path / "out")
    assert toy() == done
    cells = {(row["row"], row["column"]): row for row in rows_of(tmp_path / "out" / "toy" / "table9.csv")}
    assert cells["easy", "KM"]["verdict"] == WITHIN
    assert cells["hard", "KM"]["verdict"] == DIFFERS
    assert cells["easy", "future"]["why_not"] == "not available"
    assert cells["hard", "broken"]["why_not"] == "failed"
    assert cells["absent", "KM"]["why_not"] == "no data"
    text = page.read_text(encoding="utf-8")
    assert "A toy &amp; its &lt;paper&gt;" in text
    assert "ArithmeticError: it broke" in text
    assert "&lt;b&gt;yes&lt;/b&gt;" in text
    assert "&lt;i&gt;easy" in text
    assert "<i>easy" not in text
    assert "src=" not in text
    assert {p.name for p in (tmp_path / "out" / "toy").iterdir()} >= {
        "table9.md",
        "table9.svg",
        "figure1.svg",
        "claims.csv",
    }


def test_a_failure_is_kept_and_tried_again_only_when_asked(toy, tmp_path):
    told = []
    run(tmp_path / "out", told)
    assert sum("it broke" in line for line in told) == 4
    told.clear()
    run(tmp_path / "out", told)
    assert not any("it broke" in line for line in told)
    run(tmp_path / "out", told, retry=True)
    assert sum("it broke" in line for line in told) == 4


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_a_killed_run_goes_on(toy, tmp_path):
    output = tmp_path / "out"
    code = KILLED.format(toy=str(TOY), output=str(output))
    process = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "TOY_SLEEP": "0.1"}, stdout=subprocess.PIPE
    )
    while sum(line.startswith("measure") for line in toy()) < 3 and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert not (output / "index.html").exists()
    with sqlite3.connect(output / "results.sqlite") as file:
        (kept,) = file.execute("select count(*) from results where error is null").fetchone()
    assert kept >= 2
    before = collections.Counter(toy())
    run(output)
    after = collections.Counter(toy())
    assert (output / "index.html").exists()
    twice = [line for line, count in after.items() if count > 1]
    # At most what was under way when it was killed.
    assert sum(before.values()) + 1 >= kept
    assert len(twice) <= 1
    assert sum(line.startswith("measure") for line in after) == 12


def test_threads_and_order_change_nothing(toy, tmp_path):
    pages = []
    for n_jobs in (1, 3):
        folder = tmp_path / str(n_jobs)
        reproduce(Request((TOY,), folder, n_jobs=n_jobs), print)
        pages.append((folder / "toy" / "table9.csv").read_bytes())
    assert pages[0] == pages[1]


def test_quick_runs_are_a_part_of_the_full_ones(toy, tmp_path):
    run(tmp_path / "out", quick=True)
    assert sum(line.startswith("make") for line in toy()) == 2
    run(tmp_path / "out", runs=3)
    assert sum(line.startswith("make") for line in toy()) == 6


def test_a_table_or_figure_needs_only_its_methods(toy, tmp_path):
    run(tmp_path / "out", table="10")
    assert {line.split()[2] for line in toy() if line.startswith("measure")} == {"KM"}
    with pytest.raises(ValueError, match=r"table must be one .* of toy\. Got 3\. There is table 9, 10\."):
        run(tmp_path / "out", table="3")
    with pytest.raises(ValueError, match=r"figure .* There is figure 1\."):
        run(tmp_path / "out", figure="x")


def test_a_method_of_the_user_is_a_column(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(consensus, "EvenOdd", EvenOdd, raising=False)
    name = "ensemblage.consensus:EvenOdd"
    run(tmp_path / "out", method=name, quick=True)
    cells = {(row["row"], row["column"]): row for row in rows_of(tmp_path / "out" / "toy" / "table9.csv")}
    assert float(cells["easy", name]["ours"]) == 2.0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere_at_all:Method", "ModuleNotFoundError"),
        ("ensemblage.consensus:Nothing", "AttributeError"),
        ("ensemblage.consensus:METHODS", "class with a method fit"),
        ("nothing", "Got nothing"),
    ],
)
def test_a_method_that_cannot_be_had(toy, tmp_path, name, told):
    with pytest.raises(ValueError, match=rf"method must .*{told}"):
        run(tmp_path / "out", method=name)
    assert toy() == []


def test_results_of_another_version_stay_and_are_not_used(toy, tmp_path, monkeypatch):
    run(tmp_path / "out", quick=True)
    monkeypatch.setattr(_reproduce, "__version__", "99.0")
    told = []
    run(tmp_path / "out", told, quick=True)
    assert any("4 results of version" in line and "this is 99.0" in line for line in told)
    assert collections.Counter(toy())["measure easy KM 0"] == 2


def test_a_file_of_another_format_is_refused(toy, tmp_path):
    run(tmp_path / "out", quick=True)
    with sqlite3.connect(tmp_path / "out" / "results.sqlite") as file:
        file.execute("pragma user_version = 7")
    with pytest.raises(ValueError, match=r"format 2\. Got format 7, of another version"):
        run(tmp_path / "out")
    (tmp_path / "out" / "results.sqlite").write_text(
        "not a database, but a text that is long enough to be looked at", encoding="utf-8"
    )
    with pytest.raises(ValueError, match="must be a results file"):
        run(tmp_path / "out")


def test_a_folder_that_cannot_be_used(toy, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"^The output must be a folder\. .*file is a file\."):
        run(tmp_path / "file")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(toy, tmp_path):
    (tmp_path / "out").mkdir(mode=0o555)
    with pytest.raises(ValueError, match="can be written"):
        run(tmp_path / "out")


def refuse(*args, **options):
    raise PermissionError(13, "Permission denied")


def test_a_read_only_folder_by_its_permission(toy, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(ValueError, match="can be written"):
        run(tmp_path / "out")
    assert toy() == []


def test_a_folder_in_use(toy, tmp_path):
    (tmp_path / "out").mkdir()
    with (
        only_user(tmp_path / "out"),
        pytest.raises(ValueError, match=r"one command at a time\. .*out is in use by process \d+ on "),
    ):
        run(tmp_path / "out")


def test_status(toy, tmp_path):
    request = Request((TOY,), tmp_path / "out", n_jobs=1, quick=True)
    with pytest.raises(ValueError, match=r"must hold results\.sqlite"):
        status(request)
    run(tmp_path / "out", runs=1)
    assert status(request) == [("toy", "2", "6", "0")]
    assert status(Request((TOY,), tmp_path / "out")) == [("toy", "4", "36", "1")]


def test_store_gives_back_what_it_was_given(tmp_path):
    store = Store(tmp_path / "x.sqlite", "1")
    key, labels = Key("e", "d", "m", 0), np.array([[0, -1], [3, 2]], dtype=np.int32)
    origin = Origin("print", "protocol")
    store.put(key, origin, Result({"a": np.float64(0.1), "b": np.arange(2)}, None, 1.5))
    store.put_ensemble(key, origin, LabelMatrix(labels, {"winner": np.int64(3)}), 0.1)
    assert store.results("e") == {(key, origin): Result({"a": 0.1, "b": [0, 1]}, None, 1.5)}
    made = store.ensemble(key, origin)
    np.testing.assert_array_equal(made.labels, labels)
    assert made.labels.dtype == np.int32
    assert made.facts == {"winner": 3}
    assert store.ensemble(key, origin._replace(data="other")) is None
    assert store.ensemble(key, origin._replace(protocol="other")) is None
    store.put(key, origin._replace(protocol="other"), Result({"a": 2.0}, None, 1.5))
    assert sorted(result.numbers["a"] for result in store.results("e").values()) == [0.1, 2.0]
    store._file.execute("update ensembles set labels = 'damaged'")
    assert store.ensemble(key, origin) is None
    store._file.execute("update results set numbers = '{'")
    with pytest.raises(ValueError, match=r"must be a results file that can be written\. It cannot: Expecting"):
        store.results("e")
    store.close()


def test_an_edited_protocol_is_measured_anew_and_the_old_results_are_kept_aside(toy, tmp_path, monkeypatch):
    told = []
    run(tmp_path / "out", told, table="10")
    before = toy()
    paper = toy_paper
    (experiment,) = paper.experiments

    def measure(run, method):
        return {"k": 40.0, "right": 0.0}

    def use(**changes):
        changed = replace(paper, experiments=(replace(experiment, **changes),))
        monkeypatch.setattr(toy_module, "PAPER", changed)
        told.clear()
        run(tmp_path / "out", told, table="10")
        return [line for line in told if "aside" in line or "to do" in line]

    assert use() == ["8 results are there, 0 to do"]
    edited = ["8 results of an earlier protocol are kept aside", "0 results are there, 8 to do"]
    assert use(measure=measure) == edited
    cells = {(row["row"], row["column"]): row for row in rows_of(tmp_path / "out" / "toy" / "table10.csv")}
    assert float(cells["easy", "KM"]["ours"]) == 40.0
    assert toy() == before  # the ensembles were there
    settings = tuple(replace(case, settings={**case.settings, "more": 1}) for case in experiment.cases)
    assert use(cases=settings)[1] == "0 results are there, 8 to do"
    assert len(toy()) == 2 * len(before)  # and are made anew
    assert use(noise_is_cluster=True)[1] == "0 results are there, 8 to do"
    # The old ones are still there.
    assert use()[1] == "8 results are there, 0 to do"
    assert status(Request((TOY,), tmp_path / "out"))[0][1] == "8"


def test_the_protocol_is_the_code_without_its_comments(tmp_path, monkeypatch):
    experiment, case = toy_paper.experiments[0], toy_module.CASES[0]
    source = inspect.getsource(toy_module)
    codes = {}
    for name, text in (
        ("same", source.replace("def make(", "# A comment.\n\ndef make(").replace('"""A paper', '"""Another paper')),
        ("other", source.replace("labels[0])", "labels[1])")),
    ):
        (tmp_path / f"toy_{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        module = importlib.import_module(f"toy_{name}")
        codes[name] = protocol_of(module.PAPER.experiments[0], case, "KM")
    assert codes["same"] == protocol_of(experiment, case, "KM") != codes["other"]
    monkeypatch.setattr(_protocol, "SHARED", ())
    assert protocol_of(experiment, case, "KM") != codes["same"]


def test_the_code_of_a_users_method_is_part_of_the_protocol(tmp_path, monkeypatch):
    experiment, case = toy_paper.experiments[0], toy_module.CASES[0]
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for body in ("1", "2"):
        (tmp_path / "users.py").write_text(f"class Method:\n    k = {body}\n", encoding="utf-8")
        _protocol._code_of.cache_clear()
        monkeypatch.delitem(sys.modules, "users", raising=False)
        linecache.clearcache()
        found.append(protocol_of(experiment, case, "users:Method"))
    assert found[0] != found[1]


@pytest.mark.parametrize("name", PAPERS)
def test_protocols_are_the_same_in_every_process(name):
    for experiment in load_paper(name).experiments:
        parts = [
            _protocol._of_function(experiment.make),
            _protocol._of_function(experiment.measure),
            *map(_protocol._of_case, experiment.cases),
        ]
        assert " at 0x" not in repr(parts)
        assert not any(
            isinstance(value, set | frozenset) for case in experiment.cases for value in case.settings.values()
        )


def test_experiments_that_share_ensembles_share_their_protocol():
    for name in PAPERS:
        made = collections.defaultdict(set)
        for experiment in load_paper(name).experiments:
            for case in experiment.cases:
                place = experiment.ensembles or experiment.name, case.name
                made[place].add(protocol_of_ensemble(experiment, case))
        assert {len(protocols) for protocols in made.values()} == {1}


def test_sets_with_missing_features_are_used_without_their_gaps(tmp_path):
    rows = "".join(f"{i % 3 * 10 + i / 100},{'' if i in (3, 4) else i},{i % 3}\n" for i in range(60))
    write_set(tmp_path, "ecoli", f"f0,f1,label\n{rows}")
    data = Data(tmp_path, download=False)
    complete, print_ = data.get("ecoli")
    assert complete.X.shape == (58, 2)
    assert not np.isnan(complete.X).any()
    assert len(complete.y) == 58
    whole, other = data.get("ecoli", keeps_gaps=True)
    assert whole.X.shape == (60, 2)
    assert print_ != other
    assert "2 of 60 objects have missing features and are left out." in data.notes()["ecoli"]
    lost = complete_rows(Dataset("x", np.array([[1.0], [np.nan], [2.0]]), np.array([0, 1, 2]), "here"))
    assert lost.y.tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"x must have objects without missing features\. Each of its 1 has some"):
        complete_rows(Dataset("x", np.array([[np.nan]]), None, "here"))
    asked = ("ayad", "--table", "1", "--runs", "1", "--data", tmp_path, "-o", tmp_path / "out")
    result = invoke("reproduce", *asked)
    assert result.exit_code == 0, result.output
    assert "failed" not in result.output
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "2 of 60 objects have missing features and are left out." in page


@pytest.mark.parametrize(
    ("values", "published_value", "verdict"),
    [
        ([1.0, 1.2, 0.8], 1.1, WITHIN),
        ([1.0, 1.001, 0.999], 1.1, DIFFERS),
        ([1.0, 1.0, 1.0], 1.004, WITHIN),
        ([1.0, 1.0, 1.0], 1.006, DIFFERS),
        ([1.0], 1.004, WITHIN),
        ([1.0], 1.2, UNKNOWN),
        ([], 1.2, ""),
        ([1.0, 2.0], None, ""),
    ],
)
def test_noise(values, published_value, verdict):
    assert Cell("r", "c", estimate(values), published_value, published_n=3).verdict == verdict


def test_the_overview_counts_published_numbers_only():
    table = toy_paper.tables[0]
    ours = Estimate(1.0, 0.1, 4)
    cells = [
        Cell("a", "X", ours, 1.0, published_n=4),
        Cell("a", "Y", None, 1.0),
        Cell("a", "Y, otherwise", None, 1.0, is_alternative=True),
        Cell("a", "Z", None),
    ]
    results = Results({experiment.name: experiment for experiment in toy_paper.experiments}, {})
    outcome = _page.Outcome(toy_paper, results, [(table, cells)], [], [])
    overview = _page._overview([outcome]).tables[0]
    assert overview.rows[0][2:] == ["1", "0", "0", "1"]
    assert overview.note == ""
    assert not any("claims" in name or name == "figures" for name, _ in _reproduce._facts([outcome], 1.0))


def test_noise_is_that_of_a_two_sample_interval():
    cell = Cell("r", "c", Estimate(0.0, 2.0, 4), 0.0, published_sd=3.0, published_n=9, unit=0.0)
    assert cell.noise() == pytest.approx(3.1824463 * math.sqrt(2**2 / 4 + 3**2 / 9))


def test_tables_as_text(tmp_path):
    cells = [
        Cell("a", "X", Estimate(1.0, 0.1, 4), 2.0, published_n=4),
        Cell("a", "Y", None, 2.0, why_not="no data"),
        Cell("b", "X", Estimate(1.0, math.nan, 1)),
    ]
    lines = to_markdown("T", cells, 2).splitlines()
    assert lines[2:6] == [
        "| | X | Y |",
        "|---|---|---|",
        "| a | **1.00 ± 0.05 (2.00)** | no data (2.00) |",
        "| b | 1.00 |  |",
    ]
    write_rows(tmp_path / "cells.csv", [exact_row(cell) for cell in cells])
    assert (tmp_path / "cells.csv").read_text(encoding="utf-8").splitlines()[1] == "a,X,2,1,0.05,4,-1,0.230033,differs,"


def test_the_plot_leaves_other_readings_out():
    ours = Estimate(1.0, 0.1, 4)
    cells = [
        Cell("a", "X", ours, 2.0),
        Cell("a", "X, otherwise", ours, 2.0, is_alternative=True),
        Cell("a", "Y", None, 2.0),
    ]
    assert [text.get_text() for text in plot(cells).get_legend().get_texts()] == ["X"]
    assert plot(cells[1:]) is None


@pytest.mark.parametrize(
    ("request_", "error", "told"),
    [
        ("ayad", TypeError, r"request of reproduce must be a Request\. Got 'ayad'"),
        (Request("ayad", Path("x")), ValueError, r"papers of a Request must be names of papers\. Got 'ayad'"),
        (Request((), Path("x")), ValueError, r"papers of a Request must be names of papers\. Got \(\)"),
        (Request(("x",), Path("x")), ValueError, r"A paper must be one of 'ayad', .* Got 'x'"),
        (Request(("ayad",), "x"), TypeError, r"output of a Request must be a pathlib\.Path\. Got 'x'"),
        (Request(("ayad",), Path("x"), data=5), TypeError, r"data of a Request must be a pathlib\.Path\. Got 5"),
        (Request(("ayad",), Path("x"), runs=0), ValueError, r"runs of a Request must be a whole number ≥ 1\. Got 0"),
        (
            Request(("ayad",), Path("x"), runs="2"),
            ValueError,
            r"runs of a Request must be .* ≥ 1\. Got '2'",
        ),
        (Request(("ayad",), Path("x"), n_jobs=0), ValueError, r"n_jobs must be None or a whole number other than 0"),
        (Request(("ayad",), Path("x"), method=5), TypeError, r"method of a Request must be package\.module:Class"),
    ],
)
@pytest.mark.parametrize("does", [lambda request: reproduce(request, print), status])
def test_a_request_that_cannot_be_met(request_, error, told, does, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=told):
        does(request_)
    assert list(tmp_path.iterdir()) == []


def test_progress_knows_the_time_left():
    told = []
    progress = Progress(told.append, total=4, n_jobs=2)
    progress.rest["e", "d", "slow"], progress.rest["e", "d", "fast"] = 2, 2
    progress.finished(("e", "d", "slow"), 100.0)
    assert progress.time_left() is None  # another method, and as yet no time of its own
    assert str(progress) == "1 of 4 results"
    progress.finished(("e", "d", "fast"), 2.0)
    assert progress.time_left() == pytest.approx((100 + 2) / 2)
    assert str(progress) == "2 of 4 results, 51 s left"
    progress.finished(("e", "d", "slow"), 100.0)
    progress.finished(("e", "d", "fast"), 2.0, failed=True)
    assert told[-1] == "4 of 4 results, 1 failed"


@pytest.mark.parametrize("name", PAPERS)
def test_papers_without_results_have_their_published_cells(name):
    paper = load_paper(name)
    results = Results({experiment.name: experiment for experiment in paper.experiments}, {})
    for table in paper.tables:
        cells = table.draw(results)
        assert sum(cell.published is not None for cell in cells if not cell.is_alternative) > 0
        assert len({(cell.row, cell.column) for cell in cells}) == len(cells)
        assert all(cell.ours is None and cell.why_not for cell in cells)
        assert set(table.needs) <= set(results.experiments)
    for figure in paper.figures:
        assert figure.draw(results) == []
        assert set(figure.needs) <= set(results.experiments)
    rows = published(paper.package, "claims")
    ids = [row["id"] for row in rows]
    assert len(set(ids)) == len(ids) == len(paper.judge(results))
    assert all(id_.startswith(f"{name}.") for id_ in ids)
    assert all(bool(row["untested"]) != bool(row["function"]) for row in rows)


@pytest.mark.parametrize("name", PAPERS)
def test_experiments_name_each_case_once_and_quick_ones_are_among_them(name):
    for experiment in load_paper(name).experiments:
        names = [case.name for case in experiment.cases]
        assert len(set(names)) == len(names)
        assert set(experiment.quick_cases) <= set(names)
        assert len(set(experiment.methods)) == len(experiment.methods)


def test_every_published_cell_has_its_place():
    """A cell of the papers' tables that no table shows would be lost in silence."""
    for name, prefix in (("candel", "table[2-7]"), ("sinorina", "table[2-5]"), ("ohl", "table*k")):
        paper = load_paper(name)
        results = Results({experiment.name: experiment for experiment in paper.experiments}, {})
        shown = sum(len([c for c in t.draw(results) if not c.is_alternative]) for t in paper.tables)
        folder = Path(_reproduce.__file__).parent / "papers" / name / "published"
        files = [f for f in folder.glob(f"{prefix}*.csv") if "datasets" not in f.name]
        lines = sum(len(published(paper.package, f.stem)) for f in files)
        own = sum(
            c.published is None and c.column in ("KM refined", "H-KM by loss")
            for t in paper.tables
            for c in t.draw(results)
        )
        assert shown - own == lines, name


def test_sinorinas_amis_are_read_as_geometric_nmi():
    truth = np.repeat([0, 1], 50)
    fine = np.arange(100) // 5
    scores = sinorina_protocol.own_scores(truth, fine)
    # H(truth) = ln 2 is all shared; H(fine) = ln 20.
    assert scores["nmi"] == pytest.approx(math.sqrt(math.log(2) / math.log(20)))
    assert scores["ami"] < scores["nmi"] - 0.05
    data = Dataset("made", np.zeros((100, 1)), truth, "made")
    labels = np.column_stack([fine, truth, np.arange(100) % 3])
    members = sinorina_protocol.scores_of_members(Run(sinorina_protocol.PLAIN_GLASS, data, Ensemble(labels), {}, 0))
    for name, mean in members.items():
        assert mean == pytest.approx(np.mean([sinorina_protocol.own_scores(truth, z)[name] for z in labels.T]))
    results = Results({experiment.name: experiment for experiment in sinorina.PAPER.experiments}, {})
    cells = {(c.row, c.column): c for c in sinorina_table(sinorina_protocol.SETUPS[1], results)}
    assert cells["Jain", "AvgBase NMI"].published == cells["Jain", "AvgBase AMI"].published == 0.46
    assert not cells["Jain", "AvgBase NMI"].is_alternative
    assert cells["Jain", "AvgBase AMI"].is_alternative
    assert cells["Glass without its Id", "AvgBase ARI"].is_alternative
    assert cells["Wine", "AvgBase, K = classes ARI"].is_alternative
    assert ("Iris", "AvgBase, K = classes ARI") not in cells


def test_sinorinas_claims_are_judged_by_the_measure_they_name():
    def run_of(ari, nmi):
        return [Result({"ari": ari, "nmi": nmi}, None, 1.0)]

    scores = {"NegMM": (0.7, 0.7), "NegMM-WAT(K)": (0.5, 0.69), "NegMM-WAT(GMM)": (0.8, 0.6)}
    found = {(sinorina_protocol.SCALED, "Iris", m): run_of(*pair) for m, pair in scores.items()}
    found |= {(sinorina_protocol.SCALED, "Glass", m): run_of(*pair) for m, pair in scores.items()}
    results = Results({experiment.name: experiment for experiment in sinorina.PAPER.experiments}, found)
    claims = {claim.id: claim for claim in sinorina.PAPER.judge(results)}
    assert [claims[f"sinorina.t5.{name}"].verdict for name in ("iris-ari", "iris-ami", "glass")] == [HOLDS] * 3
    assert claims["sinorina.t5.iris-ari"].ours == "1 comparison"


def test_sinorinas_glass_has_its_id_sorted_by_class():
    glass = Dataset("glass", np.zeros((4, 1)), np.array([1, 0, 1, 0]), "made")
    with_id = sinorina_protocol.features_of(sinorina_protocol.SETUPS[0], sinorina_protocol.GLASS, glass)
    np.testing.assert_array_equal(with_id[:, 0], [3, 1, 4, 2])
    assert sinorina_protocol.features_of(sinorina_protocol.SETUPS[0], sinorina_protocol.PLAIN_GLASS, glass).shape == (
        4,
        1,
    )
    scaled = sinorina_protocol.features_of(sinorina_protocol.SCALED, sinorina_protocol.GLASS, glass)
    np.testing.assert_allclose(scaled[:, 0].std(), 1)


def invoke(*arguments):
    return CliRunner().invoke(cli.main, [*map(str, arguments)])


def test_command_line_errors_are_one_sentence(tmp_path):
    for arguments, told in (
        (["nobody"], "PAPER must be one of ayad, candel, li, ohl, sinorina, all. Got nobody."),
        (["all", "--table", "2"], "--table and --figure must go with one paper."),
        (["candel", "--table", "99"], "There is table 2, 3, 4, 5, 6, 7."),
        (["candel", "--method", "no:thing"], "--method must be package.module:Class"),
        (["candel", "--status"], "must hold results.sqlite"),
        (["candel", "--data", tmp_path / "none"], "The folder of the data sets must exist."),
    ):
        result = invoke("reproduce", *arguments, "-o", tmp_path / "out")
        assert result.exit_code == 2, result.output
        assert told in result.output
        assert result.output.count("\n") == 1


def refused(told, folder, *arguments):
    """The command ends with one sentence and exit code 2."""
    result = invoke("reproduce", *(arguments or ("ohl", "--figure", "2", "--quick")), "--runs", "1", "-o", folder)
    assert result.exit_code == 2, result.output
    assert told in result.output
    assert result.output.count("\n") == 1
    assert result.output.startswith("error: ")


def test_a_results_file_that_another_process_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(_store, "SECONDS_TO_WAIT", 0.05)
    Store(tmp_path / "results.sqlite", "1").close()
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path / "results.sqlite"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout.readline().strip() == b"held"
        refused(
            "It cannot: database is locked. End the process that uses it, or name another folder with -o.", tmp_path
        )
    finally:
        process.communicate(b"enough")


def test_a_results_file_of_another_version(tmp_path):
    with sqlite3.connect(tmp_path / "results.sqlite") as file:
        file.execute("pragma user_version = 7")
    file.close()
    refused("must be a results file of format 2. Got format 7, of another version of ensemblage.", tmp_path)


def test_a_results_file_that_is_none(tmp_path):
    (tmp_path / "results.sqlite").mkdir()
    refused("must be a results file that can be written. It cannot: unable to open database file.", tmp_path)


def test_an_output_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    refused("The output must be a folder.", tmp_path / "file")
    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    refused("The output must be a folder that can be written.", tmp_path / "out")


def write_set(folder, name, text):
    with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
        file.write(text)


def test_a_data_file_of_another_shape_is_used_and_named_on_the_page(tmp_path):
    write_set(tmp_path, "ecoli", "f0,label\n" + "".join(f"{i},{i % 3}\n" for i in range(30)))
    asked = ("ayad", "--table", "1", "--runs", "1", "--data", tmp_path, "-o", tmp_path / "out")
    result = invoke("reproduce", *asked)
    assert result.exit_code == 0, result.output
    cells = {row["row"]: row for row in rows_of(tmp_path / "out" / "ayad" / "table1.csv")}
    assert cells["E.coli proteins"]["ours"] != ""
    assert cells["Landsat (Statlog)"]["why_not"] == "no data"
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "This copy is 30 × 1 of 3 classes." in page


def test_a_data_file_of_another_form_ends_the_run(tmp_path):
    write_set(tmp_path, "ecoli", "f0,f1\n1,2\n")
    told = "ecoli.csv.gz must have columns of numbers and one named label."
    refused(told, tmp_path / "out", "ayad", "--table", "1", "--data", tmp_path)


def test_a_tiny_run_of_a_paper(tmp_path):
    asked = ("reproduce", "ohl", "--figure", "2", "--quick", "--runs", "2", "-o", tmp_path / "out")
    result = invoke(*asked, "--jobs", "1")
    assert result.exit_code == 0, result.output
    rows = rows_of(tmp_path / "out" / "ohl" / "figure2a.csv")
    binary = {float(row["x"]): float(row["mean"]) for row in rows if row["name"] == "Binary"}
    assert binary[0.0] > 0.8 > 0.5 > binary[1.0]
    assert "Figure 2" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    shown = invoke(*asked, "--status")
    assert "ohl/hubs                   88  88       0" in shown.output


def test_another_paper_is_its_folder_and_nothing_else(tmp_path):
    folder = tmp_path / "another"
    shutil.copytree(TOY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    page = reproduce(Request((folder, "ohl"), tmp_path / "out", figure="1", n_jobs=1, quick=True, runs=1), print)
    assert "A toy &amp; its &lt;paper&gt;" in page.read_text(encoding="utf-8")
    claims = {row["id"]: row["verdict"] for row in rows_of(tmp_path / "out" / "another" / "claims.csv")}
    assert claims["toy.f1.right"] == HOLDS
    assert claims["toy.f1.there"] == claims["toy.s1.time"] == UNTESTED
    assert load_paper(sys.modules["ensemblage_lab.reproduce.papers.another"]).name == "another"
    assert "another" not in PAPERS


def test_a_folder_that_is_no_paper(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"must be a folder with __init__\.py .*empty has no __init__\.py"):
        load_paper(tmp_path / "empty")
    (tmp_path / "candel").mkdir()
    with pytest.raises(ValueError, match=r"candel is the name of another"):
        load_paper(tmp_path / "candel")
    with pytest.raises(ValueError, match=r"Paper named PAPER\. ensemblage\.consensus has none"):
        load_paper(consensus)


@pytest.mark.parametrize("name", PUBLISHED)
def test_reproduce_uses_the_published_settings(name, monkeypatch):
    """What a paper's method is fitted with: the published settings, under what the paper changes."""
    ensemble = Ensemble(np.arange(24).reshape(12, 2) % 3)
    used = [
        (method, {**METHODS[name].parameters, **PUBLISHED[name], **method.changes})
        for paper in PAPERS
        for experiment in load_paper(paper).experiments
        for method in experiment.consensus.values()
        if method.name == name
    ]
    assert any(not method.changes or name == "mcla" for method, _ in used)
    fitted = []
    monkeypatch.setattr(METHODS[name].estimator, "fit", lambda self, ensemble: fitted.append(self) or self)
    for method, settings in used:
        Run(toy_module.CASES[0], None, ensemble, {}, 0, {"M": method}).fit("M", 2)
        parameters = fitted[-1].get_params()
        assert {key: parameters[key] for key in settings} == settings
    made = make_consensus(name, 2, published=True).get_params()
    assert {key: made[key] for key in PUBLISHED[name]} == dict(PUBLISHED[name])


def test_published_settings_are_those_of_candels_tables():
    """What differs from the defaults; a parameter of the caller is above it."""
    differ = {}
    for name, settings in PUBLISHED.items():
        defaults = make_consensus(name, 2).get_params()
        if any(defaults[key] != value for key, value in settings.items()):
            differ[name] = dict(settings)
    assert differ == {
        "h-km": {"split_rule": "size"},
        "sec": {"init": "random"},
        "ecc": {"init": "random"},
        "mcla": {"vertex_weights": "equal"},
        "cspa": {"distinct": False, "recursive": False},
        "kcc": {"n_init": 1, "init": "random"},
    }
    assert make_consensus("mcla", 2, published=True, vertex_weights="size").vertex_weights == "size"
    with pytest.raises(ValueError, match=r"published=True needs a method .*: km, h-km, .*\. Got hbgf\. Leave"):
        make_consensus("hbgf", 2, published=True)
    with pytest.raises(ValueError, match=r"published of make_consensus must be True or False\. Got 'yes'"):
        make_consensus("km", 2, published="yes")


def test_settings_of_methods_are_part_of_the_protocol(monkeypatch):
    (experiment, *_), (case, *_) = load_paper("candel").experiments, load_paper("candel").experiments[0].cases
    before = protocol_of(experiment, case, "KM")
    changed = {**experiment.consensus, "KM": replace(experiment.consensus["KM"], changes={"n_init": 3})}
    assert protocol_of(replace(experiment, consensus=changed), case, "KM") != before


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the fingerprint of code depends on Python's version")
def test_protocols_are_those_of_the_results_that_are_kept():
    """An identifier changes only with what is measured: then this is to be changed, too, and results are made anew."""
    first = {name: load_paper(name).experiments[0] for name in PAPERS}
    found = {name: protocol_of(e, e.cases[0], e.methods[0]) for name, e in first.items()}
    assert found == FIRST_PROTOCOLS
