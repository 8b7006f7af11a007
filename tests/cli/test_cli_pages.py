"""What the shell can wish for beside a page: figures, no objects, to see it; and the command on it."""

import html
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from shell import call, contents, fail, run, succeed
from strategies import planted_labels

ID = "person-"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Labels with ids, as a table."""
    path = tmp_path_factory.mktemp("tables") / "labels of mine.csv"
    labels = planted_labels(n=60, p=6, k=3, noise=0.15, seed=0)[0]
    lines = [f"{ID}{i},{','.join(map(str, row))}" for i, row in enumerate(labels.tolist())]
    path.write_text("\n".join(["who,a,b,c,d,e,f", *lines]), encoding="utf-8")
    return path


def combine(table, output, *more):
    return ("combine", table, "--id-column", "who", "-k", 3, "-o", output, *more)


@pytest.fixture(scope="module")
def finished(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "out"
    succeed(*combine(table, folder))
    return folder


def command_of(page):
    return html.unescape(re.search(r"<pre>(ensemblage .*?)</pre>", page.read_text(encoding="utf-8"))[1])


def test_without_objects_no_id_is_in_page_and_summary(table, finished, tmp_path):
    assert ID in (finished / "report.html").read_text(encoding="utf-8")
    succeed(*combine(table, tmp_path / "out", "--no-objects"))
    assert ID in (tmp_path / "out" / "labels.csv").read_text(encoding="utf-8")
    for name in ("report.html", "summary.json"):
        assert ID not in (tmp_path / "out" / name).read_text(encoding="utf-8")
    assert "no_objects" in fail(*combine(table, tmp_path / "out"))
    succeed("report", finished, "-o", tmp_path / "page.html", "--no-objects")
    assert ID not in (tmp_path / "page.html").read_text(encoding="utf-8")
    succeed(
        "report",
        table,
        "--labels",
        finished / "labels.csv",
        "--id-column",
        "who",
        "-o",
        tmp_path / "q.html",
        "--no-objects",
    )
    assert ID not in (tmp_path / "q.html").read_text(encoding="utf-8")


def test_a_page_is_drawn_again_from_what_the_folder_keeps(finished, tmp_path):
    succeed("report", finished, "-o", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (finished / "report.html").read_bytes()


@pytest.mark.slow
def test_figures_beside_the_page(table, finished, tmp_path):
    out = tmp_path / "out"
    before = contents(finished)
    result = succeed(*combine(table, out, "--figures", "svg, PDF"))
    made = {path.name for path in (out / "figures").iterdir()}
    assert {"matrix.svg", "matrix.pdf", "confidence.svg"} <= made
    assert f"figures: {len(made)} files" in result.stderr
    assert contents(finished) == before
    succeed(*combine(table, out, "--figures", "svg"))  # the same ones
    (out / "figures" / "matrix.svg").write_text("mine", encoding="utf-8")
    assert "another file" in fail("report", out, "--figures", "svg")
    succeed("report", out, "--figures", "svg", "--overwrite")
    succeed("report", finished, "-o", tmp_path / "p.html", "--figures", "png")
    assert (tmp_path / "figures" / "matrix.png").exists()
    assert "one or more of svg, png, pdf, with commas. Got 'gif'" in fail(*combine(table, out, "--figures", "svg,gif"))


def test_the_page_is_opened(finished, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or len(opened) == 1)
    succeed("report", finished, "-o", tmp_path / "a page.html", "--open")
    assert opened == [(tmp_path / "a page.html").resolve().as_uri()]
    result = succeed("report", finished, "-o", tmp_path / "b.html", "--open")
    assert "no browser was found" in result.stderr


def test_the_command_on_the_page_repeats_it(table, finished, tmp_path, monkeypatch):
    command = command_of(finished / "report.html")
    assert command == f"ensemblage combine {shlex.quote(str(table))} -k 3 --id-column who -o out"
    monkeypatch.chdir(tmp_path)
    succeed(*shlex.split(command)[1:])
    assert Path("out/labels.csv").read_bytes() == (finished / "labels.csv").read_bytes()
    assert command_of(Path("out/report.html")) == command


def test_the_command_names_the_folder_of_its_table_as_it_was_typed(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("labels").mkdir()
    Path("labels/of mine.csv").write_bytes(table.read_bytes())
    succeed(*combine(Path("labels/of mine.csv"), Path("first")))
    command = command_of(Path("first/report.html"))
    assert command.startswith("ensemblage combine 'labels/of mine.csv' ")
    succeed(*shlex.split(command)[1:])
    assert Path("out/labels.csv").read_bytes() == Path("first/labels.csv").read_bytes()


def test_the_command_has_flags_and_lists(tmp_path):
    data = tmp_path / "numbers.csv"
    np.savetxt(data, np.random.default_rng(0).normal(size=(40, 3)), delimiter=",", fmt="%.3f")
    wished = ["--no-header", "--no-standardize", "--drop-column", "column_3", "--set", "n_init=2", "--method", "km"]
    succeed(*run(tmp_path / "out", *wished, "--jobs", 1, "--overwrite", "--stability", 0, data=data, k=2))
    said = shlex.split(command_of(tmp_path / "out" / "report.html"))
    assert said[:3] == ["ensemblage", "run", str(data)]
    assert {"--no-header", "--no-standardize", "column_3", "n_init=2"} <= set(said)
    assert not {"--jobs", "--overwrite", str(tmp_path / "out")} & set(said)
    assert said[-2:] == ["-o", "out"]


def test_labels_on_disk_have_no_page_to_wish_for(tmp_path):
    np.save(tmp_path / "labels.npy", np.zeros((10, 3), dtype=np.int32))
    for wish in (["--figures", "svg"], ["--open"], ["--no-objects"]):
        result = call("combine", tmp_path / "labels.npy", "-k", 2, "-o", tmp_path / "out.npy", *wish)
        assert result.exit_code == 2
        assert f"{wish[0]} must go with a page" in result.stderr


def test_nothing_is_coloured(finished, tmp_path, monkeypatch):
    """So that there is nothing for NO_COLOR to turn off."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = succeed("report", finished, "-o", tmp_path / "page.html")
    assert "\x1b[" not in result.stdout + result.stderr
