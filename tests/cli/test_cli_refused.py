"""Whatever the command line is given, what is wrong is one sentence: exit code 2, one line on stderr, no file."""

import gzip
import json
import os
import shutil

import numpy as np
import pytest
from click.testing import CliRunner
from places import FILES

from ensemblage import Ensemble
from ensemblage.cli import main

FOLDER_V1 = FILES / "folder_v1"
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
HUGE = "9" * 5000


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder of good and bad inputs; not to be written to."""
    folder = tmp_path_factory.mktemp("inputs")
    random = np.random.default_rng(0)
    X = np.repeat([[0.0, 0], [9, 9], [0, 9]], 5, axis=0) + random.normal(size=(15, 2)).round(3)
    labels = np.column_stack([np.arange(15) // 5, np.arange(15) // 4, np.arange(15) % 3]).astype(np.int32)

    def lines(header, rows):
        return "\n".join([header, *(",".join(map(str, row)) for row in rows), ""])

    (folder / "x.csv").write_text(lines("a,b", X), encoding="utf-8")
    (folder / "e.csv").write_text(lines("p,q,r", labels), encoding="utf-8")
    (folder / "short.csv").write_text(lines("p,q,r", labels[:9]), encoding="utf-8")
    (folder / "clusters.csv").write_text(
        lines("id,cluster", zip(range(1, 16), labels[:, 0], strict=True)), encoding="utf-8"
    )
    Ensemble(labels).save(folder / "e.npz")
    whole = (folder / "e.npz").read_bytes()
    (folder / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (folder / "text.npz").write_text("no archive", encoding="utf-8")
    np.savez(folder / "other.npz", a=labels)
    (folder / "empty.npz").touch()
    np.save(folder / "x.npy", X)
    np.save(folder / "e.npy", labels)
    (folder / "cut.npy").write_bytes((folder / "e.npy").read_bytes()[:-9])
    (folder / "text.npy").write_text("no array", encoding="utf-8")
    (folder / "empty.npy").touch()
    np.save(folder / "vector.npy", labels[:, 0])
    np.save(folder / "words.npy", labels.astype(str))
    np.save(folder / "complex.npy", X.astype(complex))
    np.save(folder / "objects.npy", X.astype(object), allow_pickle=True)
    (folder / "empty.csv").touch()
    (folder / "header.csv").write_text("a,b\n", encoding="utf-8")
    (folder / "latin.csv").write_bytes("a,größe\n1,2\n3,4\n".encode("latin-1"))
    (folder / "words.csv").write_text("a,b\nx,y\nz,w\nx,w\n", encoding="utf-8")
    (folder / "infinite.csv").write_text("a,b\n1,inf\n2,3\n4,5\n6,7\n", encoding="utf-8")
    (folder / "one.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (folder / "same.csv").write_text("a,b\n" + "1,2\n" * 9, encoding="utf-8")
    (folder / "bytes.csv").write_bytes(bytes(range(256)))
    (folder / "cut.csv.gz").write_bytes(gzip.compress((folder / "x.csv").read_bytes())[:-20])
    (folder / "text.csv.gz").write_text("a,b\n1,2\n", encoding="utf-8")
    (folder / "text.parquet").write_text("no table", encoding="utf-8")
    (folder / "empty").mkdir()
    (folder / "parts").mkdir()
    (folder / "parts" / "part-0.parquet").write_text("no table", encoding="utf-8")
    (folder / "pairs.csv").write_text("1,2\n3,4\n", encoding="utf-8")
    (folder / "triples.csv").write_text("1,2,3\n", encoding="utf-8")
    (folder / "strangers.csv").write_text("1,2\n77,78\n", encoding="utf-8")
    (folder / "latin-pairs.csv").write_bytes("ä,ö\n".encode("latin-1"))
    return folder


@pytest.fixture
def here(inputs, tmp_path, monkeypatch):
    """An empty folder for the outputs, beside ``in``."""
    (tmp_path / "in").symlink_to(inputs, target_is_directory=True)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def refused(args, *message):
    """The command is refused by one line on stderr."""
    result = CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)
    *said, error = result.stderr.splitlines()
    assert (result.exit_code, result.stdout) == (2, ""), result.stderr
    assert error.startswith("error: ")
    assert not any(line.startswith(("error", "Traceback")) for line in said)
    assert all(words in error for words in message), error


# Options that every command has which takes them: bad values are refused before any file is looked at.
COUNTS = ["0", "-1", "1", "²", "x", "", "1.5", "nan", "1e3", HUGE, "-9223372036854775809"]
VALUES = {
    "-k": COUNTS,
    "--partitions": [*COUNTS, "1000000000"],
    "--seed": ["-1", "4294967296", "x", "", "1.5", HUGE],
    "--jobs": ["0", "-1", "²", "٣", "x", "", "1.5", "1_0", "ALL", "1001", HUGE],
    "--missing": ["²", "٣", "x", "", "1.5", "--1", "nan", "1_0", "9223372036854775808", HUGE],
    "--memory": ["0", "-1GB", "", "x", "GB", "1 2GB", "nan", "inf", "1XB", "²GB", "9" * 400],
    "--k-range": ["2", "2:", ":9", "9:2", "1:4", "2:3:4", "²:³", "a:b", "", "-2:4", f"2:{HUGE}"],
    "--generator": ["", "magic", "RANDOM-K"],
    "--impute": ["", "zero"],
}
TAKES = {
    "run": ["-k", "--partitions", "--seed", "--jobs", "--memory", "--k-range", "--generator", "--impute"],
    "generate": ["-k", "--partitions", "--seed", "--jobs", "--generator", "--impute"],
    "combine": ["-k", "--seed", "--jobs", "--missing", "--memory"],
    "rank": ["--jobs", "--missing", "--memory", "--impute"],
    "report": ["--missing"],
}
GOOD = {
    "run": ["../in/x.csv", "-o", "out"],
    "generate": ["../in/x.csv", "-o", "out.npz"],
    "combine": ["../in/e.csv", "-o", "out"],
    "rank": ["../in/e.csv"],
    "report": ["../in/e.csv", "--labels", "../in/clusters.csv", "-o", "out.html"],
}


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        pytest.param(command, option, value, id=f"{command} {option} {value[:30]}")
        for command, options in TAKES.items()
        for option in options
        for value in VALUES[option]
    ],
)
def test_values_of_options(here, command, option, value):
    refused([command, *GOOD[command], f"{option}={value}" if option.startswith("--") else option + value])
    assert not list(here.iterdir())


NEAR = [
    (["run", "../in/x.csv", "-o", "out", "--generator", "randomk"], "Did you mean 'random-k'?"),
    (["run", "../in/x.csv", "-o", "out", "--qualty", "best"], "No such option: --qualty. Did you mean --quality?"),
    (["run", "../in/x.csv", "-o", "out", "--method", "kmeans"], "Did you mean 'km' or 'k-modes'?"),
    (["run", "../in/x.csv", "-o", "out", "--method", "magic"], "ensemblage methods lists them."),
    (["run", "../in/x.csv", "-o", "out", "--truth-column", "B"], "Did you mean 'b'?"),
    (["run", "../in/x.csv", "-o", "out", "--method", "km", "--set", "ninit=3"], "Did you mean 'n_init'?"),
    (["run", "../in/x.csv", "-o", "out", "--role", "a=categorical"], "Did you mean 'category'?"),
    (["rank", "../in/e.csv", "--by", "silhouet"], "Did you mean 'silhouette'?"),
    (["rank", "../in/e.csv", "--by", "magic"], "Choose among discotec, "),
    (["methods", "eac"], "Did you mean 'eac-single', 'eac-average' or 'eac-complete'?"),
]


@pytest.mark.parametrize(
    ("args", "said"), NEAR, ids=lambda value: " ".join(value)[-40:] if isinstance(value, list) else ""
)
def test_what_was_meant_is_suggested(here, args, said):
    refused(args, said)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("-k", "1", "-k must be a whole number of at least 2. Got '1'. "),
        ("-k", HUGE[:15], "-k must be a whole number from 2 to 2,147,483,647. Got '999999999999999'. "),
        ("--partitions", "1", "--partitions must be a whole number from 2 to 1,000,000. Got '1'. "),
        ("--seed", "-1", "--seed must be a whole number from 0 to 4,294,967,295. Got '-1'. "),
        ("--category-weight", "0", "--category-weight must be a number above 0. Got '0'. "),
        ("--quality", "", "--quality must be one of fast, default, best. Got ''. Choose one of them."),
        ("--memory", "lots", "--memory must be a size. Got 'lots'. Write 500MB or 4GB, for example."),
    ],
)
def test_rules_of_options_are_in_words(here, option, value, said):
    refused(["run", *GOOD["run"], option, value], said, "See ensemblage run --help.")


@pytest.mark.parametrize("command", sorted(name for name in main.commands if main.commands[name].callback))
def test_help_names_no_types_of_click(command):
    shown = CliRunner().invoke(main, [command, "--help"], catch_exceptions=False).stdout
    assert not any(word in shown for word in ("RANGE", "<=x", "INTEGER", "FLOAT", "TEXT"))


@pytest.mark.parametrize("command", [*TAKES, "methods"])
def test_usage(here, command):
    good = GOOD.get(command, [])
    refused([command, *good, "--nonsense"], "No such option", f"See ensemblage {command} --help")
    refused([command, *good, "too", "much"], "unexpected extra argument")
    if good:
        refused([command], "must be given. Got none.")
        refused([command, *good, "--overwrite=yes"], "does not take a value")
    assert not list(here.iterdir())


BAD_TABLES = [
    "none.csv",
    "empty",
    "empty.csv",
    "header.csv",
    "latin.csv",
    "one.csv",
    "bytes.csv",
    "cut.csv.gz",
    "text.csv.gz",
    "text.parquet",
    "cut.npz",
    "x.csv/x.csv",
    "\0.csv",
    "a" * 300 + ".csv",
]
BAD_FEATURES = [*BAD_TABLES, "e.npz", "words.csv", "infinite.csv", "same.csv", "x.npy"]
BAD_LABELS = [
    *BAD_TABLES,
    *("text.npz", "other.npz", "empty.npz", "cut.npy", "text.npy", "empty.npy", "vector.npy", "words.npy"),
    *("complex.npy", "objects.npy", "x.npy", "x.csv", "parts", "none.npy", "none.npz", "none.parquet"),
]


# Three objects can be two clusters of "run", but no partitions of "generate"; "run" takes a matrix on disk.
@pytest.mark.parametrize(
    ("command", "name"),
    [
        (c, n)
        for c in ("run", "generate")
        for n in BAD_FEATURES
        if n not in {"run": ("words.csv", "x.npy"), "generate": ()}[c]
    ],
)
def test_features(here, command, name):
    refused([command, f"../in/{name}", *GOOD[command][1:], *(["-k", "2"] if command == "run" else [])])
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    "name", ["none.npy", "cut.npy", "text.npy", "empty.npy", "vector.npy", "words.npy", "complex.npy"]
)
def test_features_on_disk(here, name):
    refused(["generate", f"../in/{name}.npy", "-o", "out.npy"])
    assert not list(here.iterdir())


@pytest.mark.parametrize("name", BAD_LABELS)
@pytest.mark.parametrize("command", ["combine", "rank", "report"])
def test_labels(here, command, name):
    more = {"combine": ["-k", "2", "-o", "out"], "rank": [], "report": GOOD["report"][1:]}[command]
    if (command, name) in {("combine", "one.csv"), ("rank", "one.csv"), ("report", "one.csv")}:
        return  # one object is an ensemble
    refused([command, f"../in/{name}", *more])
    assert not list(here.iterdir())


ARGUMENTS = [
    ["run", "../in/x.csv", "-k", "2", "-o", ""],
    ["run", "../in/x.csv", "-k", "2", "-o", "../in/x.csv"],
    ["run", "../in/x.csv", "-k", "2", "-o", "../in/x.csv/out"],
    ["run", "../in/x.csv", "-k", "2", "-o", "\0"],
    ["run", "../in/x.csv", "-k", "2", "-o", "a" * 300],
    ["run", "../in/x.csv", "-k", "16", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--k-range", "2:3", "-o", "out"],
    ["run", "../in/x.csv", "--k-range", "2:300", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--method", "", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--method", "magic", "-o", "out"],
    ["run", "../in/x.csv", "--method", "hbgf", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--id-column", "z", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--id-column", "", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--drop-column", "z", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--drop-column", "a", "--drop-column", "b", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--truth-column", "a", "--id-column", "a", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--encoding", "magic", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--encoding", "", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--encoding", "hex", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--encoding", "a\0b", "-o", "out"],
    [
        "run",
        "../in/x.csv",
        "-k",
        "2",
        "--transpose",
        "--no-header",
        "--generator",
        "greedy",
        "--truth-column",
        "q",
        "-o",
        "o",
    ],
    ["generate", "../in/x.csv", "-o", "out.txt"],
    ["generate", "../in/x.csv", "-o", ""],
    ["generate", "../in/x.csv", "-o", "."],
    ["generate", "../in/x.csv", "-o", "none/out.npz"],
    ["generate", "../in/x.csv", "-o", "../in/empty/../x.csv"],
    ["generate", "../in/x.csv", "-o", "a" * 300 + ".npz"],
    ["generate", "../in/x.csv", "-o", "\0.npz"],
    ["generate", "../in/x.csv", "--generator", "greedy", "-o", "out.npz"],
    ["generate", "../in/x.csv", "--generator", "greedy", "-k", "2147483647", "-o", "out.npz"],
    ["generate", "../in/x.csv", "--generator", "mixed", "-k", "2147483647", "-o", "out.npz"],
    ["generate", "../in/x.csv", "--generator", "mixed", "-o", "out.npy"],
    ["generate", "../in/x.npy", "--transpose", "-o", "out.npy"],
    ["generate", "../in/x.npy", "-o", "none/out.npy"],
    ["generate", "../in/x.npy", "-o", "../in/e.npy"],
    ["combine", "../in/e.csv", "-k", "2147483648", "-o", "out"],
    ["combine", "../in/e.csv", "-k", "2147483647", "-o", "out"],
    ["combine", "../in/e.csv", "-k", "50", "-o", "out"],
    ["combine", "../in/e.csv", "-k", "50", "--method", "acv", "-o", "out"],
    ["combine", "../in/e.npz", "-k", "2", "--id-column", "p", "-o", "out"],
    ["combine", "../in/e.npz", "-k", "2", "--memory", "1", "--method", "eac-complete", "-o", "out"],
    ["combine", "../in/e.npy", "-k", "2", "-o", "out.txt"],
    ["combine", "../in/e.npy", "-k", "2", "-o", "none/out.npy"],
    ["combine", "../in/e.npy", "-k", "2", "-o", "../in/e.npy"],
    ["combine", "../in/e.npy", "-k", "2", "--memory", "1MB", "-o", "out.npy"],
    ["combine", "../in/e.npy", "-k", "2", "--scratch", "none", "-o", "out.npy"],
    ["combine", "../in/e.npy", "-k", "2", "--scratch", "../in/e.npy", "-o", "out.npy"],
    ["combine", "../in/e.npy", "-k", "2", "--header", "-o", "out.npy"],
    ["combine", "../in/e.npy", "-k", "50", "-o", "out.npy"],
    ["combine", "../in/e.csv", "-k", "2", "--must-link", "../in/none.csv", "-o", "out"],
    ["combine", "../in/e.csv", "-k", "2", "--must-link", "../in/bytes.csv", "-o", "out"],
    ["combine", "../in/e.csv", "-k", "2", "--cannot-link", "../in/strangers.csv", "-o", "out"],
    [
        "combine",
        "../in/e.csv",
        "-k",
        "2",
        "--must-link",
        "../in/pairs.csv",
        "--cannot-link",
        "../in/pairs.csv",
        "-o",
        "out",
    ],
    ["combine", "../in/e.csv", "-k", "2", "--method", "lca", "--cannot-link", "../in/pairs.csv", "-o", "out"],
    ["combine", "../in/e.npy", "-k", "2", "--must-link", "../in/pairs.csv", "-o", "out.npy"],
    ["run", "../in/x.csv", "-k", "2", "--must-link", "../in/triples.csv", "-o", "out"],
    ["run", "../in/x.csv", "-k", "2", "--must-link", "", "-o", "out"],
    ["rank", "../in/e.csv", "--by", ""],
    ["rank", "../in/e.csv", "-o", ""],
    ["rank", ""],
    ["rank", "../in/e.csv", "--by", ","],
    ["rank", "../in/e.csv", "--by", "beauty"],
    ["rank", "../in/e.csv", "--by", "aari,aari"],
    ["rank", "../in/e.csv", "--by", "silhouette"],
    ["rank", "../in/e.csv", "--by", "silhouette", "--features", "../in/none.csv"],
    ["rank", "../in/e.csv", "--by", "silhouette", "--features", "../in/words.csv"],
    ["rank", "../in/short.csv", "--by", "silhouette", "--features", "../in/x.csv"],
    ["rank", "../in/e.csv", "--must-link", "../in/none.csv"],
    ["rank", "../in/e.csv", "--must-link", "../in/empty"],
    ["rank", "../in/e.csv", "--must-link", "../in/triples.csv"],
    ["rank", "../in/e.csv", "--cannot-link", "../in/strangers.csv"],
    ["rank", "../in/e.csv", "--cannot-link", "../in/bytes.csv"],
    ["rank", "../in/e.csv", "--must-link", "../in/latin-pairs.csv"],
    ["rank", "../in/e.npy", "--must-link", "../in/pairs.csv"],
    ["rank", "../in/e.csv", "-o", "out.txt"],
    ["rank", "../in/e.csv", "-o", "none/out.csv"],
    ["rank", "../in/e.csv", "-o", "../in/e.csv"],
    ["report", "../in/e.csv"],
    ["report", "../in/e.csv", "--labels", "../in/clusters.csv"],
    ["report", "../in/e.csv", "--labels", "../in/none.csv", "-o", "out.html"],
    ["report", "../in/e.csv", "--labels", "../in/e.csv", "-o", "out.html"],
    ["report", "../in/short.csv", "--labels", "../in/clusters.csv", "-o", "out.html"],
    ["report", "../in/e.csv", "--labels", "../in/clusters.csv", "-o", "out.txt"],
    ["report", "../in/e.csv", "--labels", "../in/clusters.csv", "-o", "none/out.html"],
    ["report", "../in/e.csv", "--labels", "../in/clusters.csv", "-o", "../in/e.csv"],
    ["report", "../in/none", "-o", "out.html"],
    ["report", "../in/empty", "-o", "out.html"],
    ["report", "../in/empty", "--labels", "../in/clusters.csv"],
    ["magic"],
    [""],
    ["--magic"],
]


@pytest.mark.parametrize("args", ARGUMENTS, ids=lambda args: " ".join(args)[:80].replace("\0", "NUL"))
def test_arguments(here, inputs, args):
    before = {path: path.stat().st_mtime_ns for path in inputs.iterdir()}
    refused(args)
    assert not list(here.iterdir())
    assert {path: path.stat().st_mtime_ns for path in inputs.iterdir()} == before


def finished(here):
    shutil.copytree(FOLDER_V1, here / "out")
    (here / "wine_45.csv").write_bytes((FOLDER_V1.parent / "wine_45.csv").read_bytes())
    return json.loads((here / "out" / "summary.json").read_text(encoding="utf-8"))


RUN = ["run", "wine_45.csv", "--partitions", "6", "--truth-column", "cultivar", "-o", "out"]
SUMMARIES = {
    "empty": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "a number": b"3",
    "no keys": b"{}",
    "no run": b'{"format": 1}',
    "a run of another kind": b'{"run": 3}',
    "files of another kind": b'{"run": {"files": []}}',
    "seconds of another kind": b'{"run": {}, "seconds": 3}',
    "deep": b"[" * 100_000,
    "not UTF-8": b"\xff\xfe\x00",
    "nothing else": b'{"run": {"files": {}}}',
    "another schema": b'{"run": {"files": {}}, "schema": "x", "clusters": []}',
}


@pytest.mark.parametrize("content", SUMMARIES.values(), ids=SUMMARIES)
def test_summaries_that_are_none(here, content):
    finished(here)
    (here / "out" / "summary.json").write_bytes(content)
    refused(["report", "out"], "must be the folder of a finished run")
    refused(["report", "out", "-o", "page.html"], "must be the folder of a finished run")
    refused(RUN, "--overwrite")
    assert (here / "out" / "summary.json").read_bytes() == content
    assert sorted(path.name for path in (here / "out").iterdir()) == ["ensemble.npz", "labels.csv", "summary.json"]


@pytest.mark.parametrize("key", ["clusters", "data", "figures", "settings"])
@pytest.mark.parametrize("value", [None, 3, {"a": "b"}])
def test_summaries_that_were_changed(here, key, value):
    """A page, or one sentence."""
    summary = {**finished(here), key: value}
    (here / "out" / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    result = CliRunner().invoke(main, ["report", "out", "-o", "page.html"], catch_exceptions=False)
    assert result.exit_code in (0, 2), result.stderr
    assert len(result.stderr.splitlines()) == (result.exit_code > 0)
    assert (here / "page.html").exists() == (result.exit_code == 0)
    assert sorted(path.name for path in (here / "out").iterdir()) == ["ensemble.npz", "labels.csv", "summary.json"]


def test_a_newer_schema(here):
    summary = {**finished(here), "schema": 99}
    (here / "out" / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    for args in (["report", "out"], ["report", "out", "-o", "page.html"], RUN, [*RUN, "--overwrite"]):
        refused(args, "must be of a schema that this version knows", "Got 99 in out")
    assert not (here / "page.html").exists()


@pytest.mark.parametrize("name", ["ensemble.npz", "labels.csv", "summary.json", "report.html"])
def test_folders_where_files_belong(here, name):
    (here / "out" / name).mkdir(parents=True)
    for args in (
        ["run", "../in/x.csv", "-k", "2", "--partitions", "3", "-o", "out", "--overwrite"],
        ["combine", "../in/e.csv", "-k", "2", "-o", "out", "--overwrite"],
        ["report", "out"],
    ):
        refused(args)
    assert (here / "out" / name).is_dir()


@pytest.mark.skipif(ROOT, reason="root may read and write everywhere")
def test_files_without_rights(here, inputs):
    for name in ("x.csv", "e.csv", "e.npz", "e.npy"):
        shutil.copy(inputs / name, here / name)
        (here / name).chmod(0)
    refused(["run", "x.csv", "-k", "2", "-o", "out"], "Permission denied")
    for name in ("e.csv", "e.npz", "e.npy"):
        refused(["combine", name, "-k", "2", "-o", "out"], "Permission denied")
        refused(["rank", name], "Permission denied")


def test_names_that_are_no_text(here, inputs):
    name = os.fsdecode(b"\xff.csv")
    try:
        shutil.copy(inputs / "one.csv", here / name)
    except OSError:
        pytest.skip("the file system wants text")
    refused(["run", name, "-k", "2", "-o", "out"])
    shutil.copy(inputs / "x.csv", here / name)
    result = CliRunner().invoke(main, ["run", name, "-k", "2", "--partitions", "3", "-o", os.fsdecode(b"out\xff")])
    assert result.exit_code == 0, result.stderr
    assert len(list((here / os.fsdecode(b"out\xff")).iterdir())) == 5
