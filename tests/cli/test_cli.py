"""The command line, end to end: what it writes, what it uses again, what it refuses."""

import gzip
import json
import re
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import click
import numpy as np
import pytest
from limits import limit
from places import WINE
from shell import call, contents, fail, rows_of, run, succeed
from sklearn.datasets import load_wine

from ensemblage import Ensemble, make_consensus
from ensemblage.cli import main
from ensemblage.consensus import METHODS, KMeansConsensus
from ensemblage.generation import RandomKPartitions
from ensemblage.metrics import verdicts
from ensemblage.ranking import DISCOTEC

LAB_COMMANDS = [name for name, command in main.commands.items() if command.callback is None]
"""Those that another distribution has."""
FILES = ["ensemble.npz", "labels.csv", "model.npz", "report.html", "summary.json"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder that a run has finished; not to be written to."""
    folder = tmp_path_factory.mktemp("finished") / "out"
    succeed(*run(folder, "--truth-column", "cultivar"))
    return folder


@pytest.fixture
def no_generation(monkeypatch):
    """Whoever makes an ensemble again is caught."""

    def fit_transform(self, X, y=None):
        raise AssertionError("base partitions are made again")

    monkeypatch.setattr(RandomKPartitions, "fit_transform", fit_transform)


@pytest.fixture
def interrupt(monkeypatch):
    """Ctrl-C once the ensemble is made; no signal ends this process."""

    def interrupted(self, X, y=None):
        raise KeyboardInterrupt

    monkeypatch.setattr("signal.signal", lambda number, handler: None)
    monkeypatch.setattr("signal.raise_signal", lambda number: None)
    with monkeypatch.context() as patch:
        patch.setattr(KMeansConsensus, "fit", interrupted)
        yield patch


# -- help --------------------------------------------------------------------------------------------------------------


def commands(group=main, path=()):
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


@pytest.mark.parametrize("path", [path for path, _ in commands()])
def test_every_command_and_option_has_help(path):
    command = dict(commands())[path]
    assert command.help
    if path and path[-1] in LAB_COMMANDS:
        return
    assert all(option.help for option in command.params if isinstance(option, click.Option))
    assert succeed(*path, "--help").stdout.startswith("Usage: ")


def test_no_arguments_show_the_help():
    assert succeed().stdout == succeed("--help").stdout
    assert succeed("--version").stdout.startswith("ensemblage, version ")


def test_help_imports_nothing_that_takes_time():
    code = "import sys, ensemblage.cli; print({'numpy', 'sklearn', 'numba', 'matplotlib'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


@pytest.mark.parametrize("name", LAB_COMMANDS)
def test_a_command_of_the_laboratory_says_how_to_install_it(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "ensemblage_lab", None)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    assert f"\n  {name} " not in succeed("--help").stdout
    for args in ([name], [name, "--help"], [name, "ayad", "-o", "out"]):
        assert fail(*args) == (
            f"error: ensemblage {name} is a command of the laboratory, which is not installed: type pip install -e lab "
            "in a clone of ensemblage."
        )


def test_methods_are_listed():
    lines = succeed("methods").stdout.splitlines()
    assert [line.split()[0] for line in lines[:-2] if not line.startswith(" ")] == list(METHODS)
    assert max(map(len, lines)) <= 80
    assert "KMeansConsensus(init='random')" in succeed("methods", "kcc").stdout


HEADINGS = (
    *("Result", "Method", "Draws", "Estimate", "Base partitions", "Constraints and earlier runs", "Columns", "Values"),
    *("File format", "Markers", "Page", "Computation", "Other"),
)


@pytest.mark.parametrize("name", ["run", "combine"])
def test_every_option_of_the_help_stands_in_a_group(name):
    text, command = succeed(name, "--help").stdout, main.commands[name]
    headings = re.findall(r"^(\w[\w ]+):$", text, flags=re.MULTILINE)
    assert headings == [heading for heading in HEADINGS if heading in headings]
    assert text.split("\nOther:\n")[1].split() == ["-h,", "--help", "Show", "this", "message", "and", "exit."]
    shown = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, flags=re.MULTILINE)
    assert len(shown) == len(set(shown)) == len([p for p in command.params if isinstance(p, click.Option)]) + 1


# -- run ---------------------------------------------------------------------------------------------------------------


def test_run_writes_all_it_promises(finished):
    assert sorted(path.name for path in finished.iterdir()) == FILES
    header, *rows = rows_of(finished / "labels.csv")
    assert header == ["id", "cluster", "confidence", "verdict", "runner_up", "runner_up_share"]
    assert all(row[3] == verdicts([float(row[2])])[0] for row in rows)
    assert all(row[4] in "012" and row[4] != row[1] for row in rows)
    assert all(float(row[2]) + float(row[5]) == pytest.approx(1, abs=2e-6) for row in rows)
    assert [row[0] for row in rows] == [f"wine_{i:03}" for i in range(1, 179)]
    sizes = np.bincount([int(row[1]) for row in rows])
    assert len(sizes) == 3
    assert sizes.tolist() == sorted(sizes, reverse=True)
    summary = json.loads((finished / "summary.json").read_text(encoding="utf-8"))
    assert summary["consensus"]["mean_confidence"] == pytest.approx(np.mean([float(row[2]) for row in rows]), abs=1e-5)
    assert summary["truth"]["ari"]["consensus"] > 0.8
    assert summary["settings"]["seed"] == "0"
    assert next(iter(summary["seconds"])) == "start"
    assert set(summary["seconds"]) == {
        "start",
        "read",
        "base partitions",
        "consensus",
        "ranking",
        "stability",
        "write",
        "profile",
        "report",
        "other",
    }
    assert Ensemble.load(finished / "ensemble.npz").shape == (178, 8)
    assert "<svg" in (finished / "report.html").read_text(encoding="utf-8")


def test_run_says_what_it_did(tmp_path):
    result = succeed(*run(tmp_path / "out", "--truth-column", "cultivar", "--seed", 3))
    assert "wine.csv: id: column 'wine'" in result.stderr
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert lines["objects"] == "178, 13 features"
    assert "with the truth; members" in lines["ARI"]
    assert "report.html" in lines["written"]


def test_the_truth_is_no_feature(finished):
    assert json.loads((finished / "summary.json").read_text(encoding="utf-8"))["data"]["n_features"] == 13


def test_jobs_change_nothing(finished, tmp_path):
    succeed(*run(tmp_path, "--truth-column", "cultivar", "--jobs", 1))
    assert (tmp_path / "labels.csv").read_bytes() == (finished / "labels.csv").read_bytes()


def test_finished_work_is_not_done_again(finished, no_generation):
    before = {path: path.stat().st_mtime_ns for path in finished.iterdir()}
    result = succeed(*run(finished, "--truth-column", "cultivar"))
    assert "finished by an earlier run" in result.stderr
    assert "178, 13 features" in result.stdout
    assert {path: path.stat().st_mtime_ns for path in finished.iterdir()} == before


def test_a_lost_file_is_made_again_from_the_ensemble(finished, tmp_path, no_generation):
    for path in finished.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "labels.csv").unlink()
    succeed(*run(tmp_path, "--truth-column", "cultivar"))
    assert (tmp_path / "labels.csv").read_bytes() == (finished / "labels.csv").read_bytes()


def test_ctrl_c_keeps_the_ensemble(finished, tmp_path, interrupt, request):
    command = run(tmp_path / "out", "--truth-column", "cultivar")
    stopped = call(*command)
    assert stopped.exit_code == 130
    assert "keeps model.npz, ensemble.npz" in stopped.stderr
    assert not (tmp_path / "out" / "labels.csv").exists()
    interrupt.undo()
    request.getfixturevalue("no_generation")
    assert "made by an earlier run" in succeed(*command).stderr
    for name in ["ensemble.npz", "labels.csv"]:
        assert (tmp_path / "out" / name).read_bytes() == (finished / name).read_bytes()


def test_a_real_ctrl_c(tmp_path):
    """The process ends at once with one sentence, although base partitions are running in other threads."""
    X = np.random.default_rng(0).normal(size=(20_000, 10)).round(3)
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header=",".join("abcdefghij"), comments="", fmt="%g")
    command = [sys.executable, "-m", "ensemblage", "run", "x.csv", "-k", "3", "-o", "out"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert any(line.startswith("base partitions") for line in iter(process.stderr.readline, ""))
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "Interrupted. Nothing was written.\n"
    assert process.returncode == -signal.SIGINT
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_other_settings_need_overwrite(finished, tmp_path, monkeypatch):
    for path in finished.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    before = contents(tmp_path)
    other = run(tmp_path, "--truth-column", "cultivar", k=4)
    assert "holds one with k 3 instead of 4. Choose another folder, or add --overwrite." in fail(*other)
    assert contents(tmp_path) == before
    with monkeypatch.context() as patch:
        patch.setattr(RandomKPartitions, "fit_transform", None)  # the same ensemble serves another k
        succeed(*other, "--overwrite")
    assert len({row[1] for row in rows_of(tmp_path / "labels.csv")[1:]}) == 4
    assert "seed 0 instead of 1" in fail(*other, "--seed", 1)
    succeed(*other, "--seed", 1, "--overwrite")
    assert (tmp_path / "ensemble.npz").read_bytes() != before["ensemble.npz"]


def test_an_edited_input_is_another_input(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,y\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(40)), encoding="utf-8")
    succeed(*run(tmp_path / "out", data=data))
    data.write_text(data.read_text(encoding="utf-8") + "3,3\n", encoding="utf-8")
    said = fail(*run(tmp_path / "out", data=data))
    assert "out holds one of another input, or of this one before it was changed. Choose another folder" in said
    links = tmp_path / "links.csv"
    links.write_text("1,2\n", encoding="utf-8")
    said = fail(*run(tmp_path / "out", "--must-link", links, data=data, k=4))
    assert re.search(r"changed, with k 3 instead of 4, must_link none instead of a file\. Choose", said)
    succeed(*run(tmp_path / "other", data=data))
    said = fail("run", data, "--partitions", 8, "-o", tmp_path / "other")  # nor what follows from the number
    assert "other holds one with k 3 instead of found. Choose" in said


@pytest.mark.parametrize("name", FILES)
def test_foreign_files_are_not_touched(tmp_path, name):
    (tmp_path / name).write_text("mine", encoding="utf-8")
    assert "--overwrite" in fail(*run(tmp_path))
    assert contents(tmp_path) == {name: b"mine"}


def test_a_result_that_was_edited_is_foreign(finished, tmp_path):
    for path in finished.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "labels.csv").write_text("mine", encoding="utf-8")
    assert "labels.csv is not (or no longer)" in fail(*run(tmp_path, "--truth-column", "cultivar"))
    assert (tmp_path / "labels.csv").read_text(encoding="utf-8") == "mine"


def test_other_files_in_the_folder_stay(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    succeed(*run(tmp_path))
    succeed(*run(tmp_path, "--overwrite", "--seed", 1))
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_rows_without_values_can_be_dropped(tmp_path):
    lines = WINE.read_text(encoding="utf-8").splitlines()
    for i in range(1, 14):  # more than the few that are filled
        lines[i] = re.sub(r"^([^,]*),[^,]*,", r"\1,,", lines[i])
    (tmp_path / "gaps.csv").write_text("\n".join(lines), encoding="utf-8")
    assert "--impute median" in fail(*run(tmp_path / "out", data=tmp_path / "gaps.csv"))
    succeed(*run(tmp_path / "out", "--impute", "drop", data=tmp_path / "gaps.csv"))
    assert rows_of(tmp_path / "out" / "labels.csv")[1][0] == "wine_014"


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if "n_clusters" not in method.needs])
def test_methods_that_find_the_number_of_clusters(tmp_path, name):
    result = succeed("run", WINE, "--partitions", 8, "--method", name, "-o", tmp_path / name)
    assert "clusters of" in result.stdout


def test_run_without_k_finds_it_and_says_how_clear_it_is(tmp_path):
    result = succeed("run", WINE, "--method", "acv", "-o", tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["consensus"]["method"] == "CumulativeVoting"
    (k, longest), (second, shorter), *_ = summary["choice"]["lifetimes"]
    assert len(summary["clusters"]) == k
    assert f"{k} clusters live {longest / shorter:.3g} times as long as the next best, {second}" in result.stdout
    assert f"-k with its lifetime: {second} ({shorter:.3f})" in result.stdout
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "How many clusters" in page
    assert "times as long as the next best" in page


def test_a_given_k_is_not_called_a_choice(tmp_path):
    result = succeed(*run(tmp_path / "out", "--method", "acv"))
    assert "choice" not in result.stdout
    assert "3 clusters were asked for" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def settings_of(folder):
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))["settings"]


def test_the_settings_are_those_that_were_used(tmp_path, monkeypatch):
    """Where the data decide, the page does not tell of what was only wanted."""
    succeed("run", WINE, "-k", 3, "--selection", "consensus", "-o", tmp_path / "default")
    settings, page = (
        settings_of(tmp_path / "default"),
        (tmp_path / "default" / "report.html").read_text(encoding="utf-8"),
    )
    assert (settings["generator"], settings["method"], settings["diverse_k"]) == ("diverse", "eac-average", "3")
    assert page.count("Mixtures, spectral clustering and Genie") == 1  # the reason for the members, with the plan

    limit(monkeypatch, "objects clustered by different algorithms", 100)
    succeed("run", WINE, "-k", 3, "--selection", "consensus", "-o", tmp_path / "large")
    settings, page = settings_of(tmp_path / "large"), (tmp_path / "large" / "report.html").read_text(encoding="utf-8")
    assert (settings["method"], settings["partitions"]) == ("km", "50")
    assert settings.keys().isdisjoint(["generator", "quality", "diverse_k"])
    assert "Mixtures, spectral clustering and Genie" not in page


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,b\n", "at least one row below its header"),
        (b"a,b\n1,2\n", "at least 2 complete rows"),
        (b"1,5;2,5", "at least 2 complete rows"),
        (b"a,b\n1,2\n1,2\n1,2\n1,2\n", "a column of numbers that vary"),
        (b"a,b\n1,2\n2,oops\n3,4\n4,5\n", "Got 'oops' in line 3"),
        (b"a;b\n1,5;2\n2.5;3\n", "one decimal mark"),
        (b"a,b\n1,2\n2,3\n", "-k must be"),
        (b"a,b\n" + b"1,2\n2,3\n" * 9, "must be ≤ the 2 different rows of data.csv. Got 3. Ask for fewer clusters."),
        (b"a,b\n1,2,3\n2,3\n1,2\n4,4\n", "Got 3 in line 2"),
        (b"a,a\n1,2\n2,3\n1,3\n", "Got 'a' 2 times"),
        (b"a,b\n1,\xe9\n2,3\n1,3\n", "--encoding latin-1"),
        (b"a,b\n1,\x00\n2,3\n1,3\n", "NUL byte in line 2"),
        (b"\x89PNG\r\n\x1a\n" + bytes(99), "Got a PNG image"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "Got a gzip file"),
        (b"PK\x03\x04" + bytes(99), "Got a ZIP archive"),
        (b",a\nx,1\ny,2\nx,3\nz,4\n", "Got 'x' in line 2 and line 4"),
    ],
)
def test_bad_input_is_one_sentence_and_no_folder(tmp_path, content, message):
    data = tmp_path / "data.csv"
    data.write_bytes(content)
    assert message in fail(*run(tmp_path / "out", data=data))
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["run", "missing.csv", "-k", "3", "-o", "out"], "missing.csv does not exist"),
        (["run", ".", "-k", "3", "-o", "out"], "must hold .parquet files"),
        (["run", "x.csv", "-k", "1", "-o", "out"], "-k must be a whole number of at least 2. Got '1'. "),
        (["run", "x.csv", "-k", "0", "-o", "out"], "-k must be a whole number of at least 2. Got '0'. "),
        (["run", "x.csv", "--method", "hbgf", "-o", "out"], "-k must be given for the method hbgf"),
        (["run", "x.csv", "-k", "2"], "-o FOLDER must be given. Got none. See ensemblage run --help."),
        (["run", "x.csv", "-k", "2", "-o", "x.csv"], "x.csv is a file"),
        (["run", "x.csv", "-k", "2", "-o", "x.csv/out"], "The output must be a folder that can be written"),
        (["run", "x.csv", "-k", "2", "-o", "out", "--method", "magic"], "must be one of 40 names, such as 'km'"),
        (["run", "x.csv", "-k", "2", "-o", "out", "--jobs", "0"], "--jobs must be a whole number from 1 to 1,000"),
        (["run", "x.csv", "-k", "2", "-o", "out", "--truth-column", "c"], "--truth-column must name a column of x.csv"),
        (["generate", "x.csv", "-o", "e.txt"], "must end in .npz or .csv"),
        (["generate", "x.csv", "-o", "nowhere/e.npz"], "nowhere does not"),
        (["generate", "x.csv", "-o", "x.csv"], "x.csv exists"),
        (["combine", "x.csv", "-k", "2", "-o", "out", "--missing", "x"], "--missing must be a whole number, or none"),
        (
            ["combine", "x.csv", "-k", "2", "-o", "out"],
            "x.csv must have two columns of labels or more, one per partition. Got one besides the id 'a': 'b'",
        ),
        (["rank", "x.csv", "--by", "beauty"], "Got 'beauty'"),
        (["rank", "fake.npz"], "must be one that Ensemble.save wrote"),
        (["report", "."], "must be the folder of a finished run"),
        (["report", "x.csv"], "--labels FILE and -o PAGE.html"),
        (["magic"], "No such command 'magic'. See ensemblage --help."),
    ],
)
def test_bad_arguments_are_one_sentence(tmp_path, monkeypatch, args, message):
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("a,b\n1,5\n2,4\n4,5\n", encoding="utf-8")
    Path("fake.npz").write_text("no archive", encoding="utf-8")
    before = contents(tmp_path)
    assert message in fail(*args)
    assert contents(tmp_path) == before


def test_a_folder_without_rights(tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    assert "cannot: Permission denied" in fail(*run(tmp_path / "out"))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing_half_written(finished, tmp_path, monkeypatch):
    def fill(self, path, **options):
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Ensemble, "save", fill)
    assert "No space left on device" in fail("combine", finished / "ensemble.npz", "-k", 3, "-o", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_warnings_are_one_line_each(finished, monkeypatch):
    def fit_badly(*args, **options):
        warnings.warn("this is\nodd", UserWarning, stacklevel=1)
        raise ValueError("and\nthis is wrong")

    monkeypatch.setattr(DISCOTEC, "fit", fit_badly)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = call("rank", finished / "ensemble.npz")
    assert result.stderr.splitlines() == ["warning: this is odd", "error: and this is wrong"]


# -- the other commands ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_generate_combine_rank_report(tmp_path, monkeypatch, finished, suffix):
    monkeypatch.chdir(tmp_path)
    ensemble = f"ensemble{suffix}"
    succeed("generate", WINE, "--truth-column", "cultivar", "--partitions", 8, "-o", ensemble)
    assert "ensemble" in fail("generate", WINE, "--partitions", 8, "-o", ensemble)
    succeed("combine", ensemble, "-k", 3, "-o", "out")
    ours, theirs = rows_of("out/labels.csv"), rows_of(finished / "labels.csv")
    assert [row[1:] for row in ours] == [row[1:] for row in theirs]
    assert ours[1][0] == ("wine_001" if suffix == ".csv" else "1")
    table = succeed("rank", ensemble, "-o", "ranks.csv").stdout.splitlines()
    assert [line.split() for line in table] == rows_of("ranks.csv")
    scores = [float(row[3]) for row in rows_of("ranks.csv")[1:]]
    assert scores == sorted(scores)  # discotec: lower is better
    succeed("report", ensemble, "--labels", "out/labels.csv", "-o", "page.html")
    assert "<svg" in Path("page.html").read_text(encoding="utf-8")


def test_report_of_a_folder(finished, tmp_path):
    for path in finished.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "report.html").unlink()
    succeed("report", tmp_path)
    assert "finished by an earlier run" in succeed(*run(tmp_path, "--truth-column", "cultivar")).stderr
    (tmp_path / "report.html").write_text("mine", encoding="utf-8")
    assert "Add --overwrite" in fail("report", tmp_path)
    succeed("report", tmp_path, "-o", tmp_path / "other.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "mine"
    succeed("report", tmp_path, "--overwrite")
    assert (tmp_path / "report.html").read_bytes() == (tmp_path / "other.html").read_bytes()


def test_labels_of_a_report_are_matched_by_id(tmp_path):
    table = tmp_path / "e.csv"
    table.write_text(",p,q\na,1,1\nb,1,1\nc,2,2\nd,2,1\n", encoding="utf-8")
    (tmp_path / "l.csv").write_text("id,cluster\nd,x\nc,x\nb,y\na,y\n", encoding="utf-8")
    (tmp_path / "m.csv").write_text("id,cluster\nd,x\nc,x\nb,y\nz,y\n", encoding="utf-8")
    succeed("report", table, "--labels", tmp_path / "l.csv", "-o", tmp_path / "p.html")
    assert "or other ids" in fail("report", table, "--labels", tmp_path / "m.csv", "-o", tmp_path / "q.html")
    assert "column named cluster" in fail("report", table, "--labels", table, "-o", tmp_path / "q.html")


def test_combine_text_labels_with_gaps_and_truth(tmp_path):
    lines = ["who,p,q,kind"] + [f"o{i},{'ab'[i % 2]},{'' if i == 3 else i % 2},{'uv'[i % 2]}" for i in range(12)]
    (tmp_path / "e.tsv").write_text("\n".join(lines).replace(",", "\t"), encoding="utf-8")
    result = succeed(
        *("combine", tmp_path / "e.tsv", "-k", 2, "-o", tmp_path / "out"),
        *("--id-column", "who", "--truth-column", "kind"),
    )
    assert "ARI         1.000 with the truth" in result.stdout
    assert rows_of(tmp_path / "out" / "labels.csv")[4][0] == "o3"


def test_minus_one_is_missing_unless_told(tmp_path):
    (tmp_path / "e.csv").write_text("p,q\n" + "1,1\n-1,2\n-1,2\n1,1\n-1,-1\n", encoding="utf-8")
    succeed("combine", tmp_path / "e.csv", "-k", 2, "-o", tmp_path / "one")
    succeed("combine", tmp_path / "e.csv", "-k", 2, "-o", tmp_path / "two", "--missing", "none")
    assert rows_of(tmp_path / "one" / "labels.csv")[5] == ["5", "-1", "", "", "", ""]
    assert rows_of(tmp_path / "two" / "labels.csv")[5][1] != "-1"


# -- the example -------------------------------------------------------------------------------------------------------


def test_the_example_is_scikit_learns_wine():
    wine = load_wine()
    header, *rows = rows_of(WINE)
    assert header == ["wine", *wine.feature_names, "cultivar"]
    np.testing.assert_allclose(np.array([row[1:-1] for row in rows], dtype=float), wine.data, rtol=1e-6)
    assert [row[-1] for row in rows] == [wine.target_names[t] for t in wine.target]


@pytest.mark.parametrize(
    ("generator", "shape"),
    [
        ("subspace", (178, 8)),
        ("projection", (178, 8)),
        ("greedy", (178, 118)),
        ("mixed", (178, 10)),
        ("genie", (178, 8)),
    ],
)
def test_generators(tmp_path, generator, shape):
    succeed("generate", WINE, "--generator", generator, "-k", 3, "--partitions", 8, "-o", tmp_path / "members.npz")
    members = Ensemble.load(tmp_path / "members.npz")
    assert members.shape == shape
    succeed(*run(tmp_path / "out", "--generator", generator))
    assert np.array_equal(Ensemble.load(tmp_path / "out" / "ensemble.npz").codes, members.codes)
    assert "one analysis" in fail(*run(tmp_path / "out"))


def test_generator_greedy_needs_k(tmp_path):
    assert "-k must be given for the generator greedy" in fail(
        "run", WINE, "--generator", "greedy", "-o", tmp_path / "out"
    )


def summary_of(folder):
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def test_set_reaches_the_method_and_is_recorded(tmp_path):
    output = tmp_path / "out"
    succeed(*run(output, "--set", "utility=lp", "--set", "exponent=8", "--set", "normalize=true"))
    summary = summary_of(output)
    text = "exponent=8, normalize=true, utility=lp"
    assert summary["run"]["set"] == summary["settings"]["set"] == text
    assert text in (output / "report.html").read_text(encoding="utf-8")
    ensemble = Ensemble.load(output / "ensemble.npz")
    options = {"utility": "lp", "exponent": 8, "normalize": True, "random_state": 0}
    expected = KMeansConsensus(3, **options).fit(ensemble)
    assert [int(row[1]) for row in rows_of(output / "labels.csv")[1:]] == expected.labels_.tolist()


def test_another_set_is_another_run(tmp_path):
    output = tmp_path / "out"
    succeed(*run(output, "--set", "n_init=2"))
    before = contents(output)
    assert "set n_init=2 instead of n_init=3" in fail(*run(output, "--set", "n_init=3"))
    assert "set n_init=2 instead of none" in fail(*run(output))
    assert contents(output) == before
    assert "same settings" in succeed(*run(output, "--set", "n_init=2")).stderr
    succeed(*run(output, "--set", "n_init=3", "--overwrite"))
    assert summary_of(output)["run"]["set"] == "n_init=3"


def test_set_in_combine(finished, tmp_path):
    output = tmp_path / "out"
    members = finished / "ensemble.npz"
    succeed("combine", members, "-k", 3, "--set", "weights=0,0,1,1,2,1,1,0.5", "-o", output)
    expected = KMeansConsensus(3, weights=[0, 0, 1, 1, 2, 1, 1, 0.5], random_state=0).fit(Ensemble.load(members))
    assert [int(row[1]) for row in rows_of(output / "labels.csv")[1:]] == expected.labels_.tolist()
    assert summary_of(output)["settings"]["set"] == "weights=0,0,1,1,2,1,1,0.5"
    on_disk = tmp_path / "e.npy"
    np.save(on_disk, np.asarray(Ensemble.load(members).codes, dtype=np.int32))
    options, labels = {"n_init": 1, "init": "random", "max_iter": 1}, tmp_path / "labels.npy"
    given = [word for name, value in options.items() for word in ("--set", f"{name}={value}")]
    succeed("combine", on_disk, "-k", 3, *given, "-o", labels)
    expected = KMeansConsensus(3, random_state=0, **options).fit(np.load(on_disk))
    assert np.array_equal(np.load(labels), expected.labels_)
    assert not np.array_equal(expected.labels_, KMeansConsensus(3, random_state=0).fit(np.load(on_disk)).labels_)


def test_another_set_keeps_the_ensemble(finished, tmp_path, no_generation):
    output = tmp_path / "out"
    shutil.copytree(finished, output)
    succeed(*run(output, "--truth-column", "cultivar", "--set", "n_init=3", "--overwrite"))
    assert summary_of(output)["run"]["set"] == "n_init=3"
    succeed(*run(output, "--truth-column", "cultivar", "--method", "all", "--overwrite"))
    assert summary_of(output)["methods"]["table"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["init_sizes=3"],
            r"--set must name a parameter of km: .*\. Got 'init_sizes'\. Did you mean 'init_size' or 'init'",
        ),
        (["n_clusters=3"], r"--set must name a parameter without an option of its own\. Got n_clusters\. Use -k\."),
        (["random_state=3"], r"Use --seed\."),
        (["n_init=many"], r"n_init of KMeansConsensus must be a whole number from 1 to 1,000,000\. Got 'many'\."),
        (["n_init=0"], r"n_init of KMeansConsensus must be .* Got 0\."),
        (["tol=nan"], r"tol of KMeansConsensus must be a number ≥ 0\. Got nan\."),
        (["refine=true"], r"refine of KMeansConsensus must be 'density', or None\. Got True\."),
        (
            ["weights=1,2"],
            r"weights of KMeansConsensus must be 8 numbers ≥ 0, one per partition, not all 0\. Got",
        ),
        (["weights=1,1,1,1,1,1,1,-1"], r"weights of KMeansConsensus must be 8 numbers ≥ 0.* Got -1 to 1"),
        (["n_init"], r"--set must be NAME=VALUE\. Got 'n_init'\."),
        (["=3"], r"--set must be NAME=VALUE\. Got '=3'\."),
        (["n_init=1", "n_init=2"], r"--set must be given once for each parameter\. Got 'n_init=2'\."),
    ],
)
def test_set_is_refused_before_any_work(tmp_path, no_generation, given, message):
    output = tmp_path / "out"
    options = [word for text in given for word in ("--set", text)]
    assert re.search(message, fail(*run(output, *options)))
    assert not output.exists()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-1", -1),
        ("0.5", 0.5),
        ("1e-3", 1e-3),
        ("none", None),
        ("true", True),
        ("false", False),
        ("k-means++", "k-means++"),
        ("4GB", "4GB"),
        ("1,0,2.5", [1, 0, 2.5]),
    ],
)
def test_values_in_the_shell(text, value):
    (option,) = (option for option in main.commands["combine"].params if "--set" in option.opts)
    found = option.callback(None, option, (f"n={text}",))
    assert found == {"n": value}
    assert type(found["n"]) is type(value)


@pytest.mark.parametrize("name", METHODS)
def test_parameters_of_a_method_are_listed(name):
    said = succeed("methods", name).stdout
    estimator = make_consensus(name)
    shown, words = " ".join(said.split()), {None: "none", True: "true", False: "false"}
    for parameter, value in estimator.get_params().items():
        text = words[value] if value is None or isinstance(value, bool) else str(value)
        pattern = rf" {parameter}={re.escape(text)} ((?! \w+=\w).)+\. It is "
        assert bool(re.search(pattern, shown)) == (parameter != "progress")


def test_an_unknown_method_is_one_sentence():
    assert "The name of a consensus method must be one of 40 names, such as 'km'" in fail("methods", "kmm")


def test_no_text_is_a_function():
    said = fail("run", WINE, "-k", 3, "--method", "negmm", "--set", "progress=print", "-o", "out")
    assert "--set must name a parameter of negmm" in said
