"""What is said while a command works: what it is going to do, how long the rest may take, in colour or not."""

import itertools

import click
import pytest
from click.testing import CliRunner
from places import WINE
from shell import succeed

from ensemblage.cli import _generation, main
from ensemblage.cli._generation import duration_range_text, estimate_seconds
from ensemblage.generation import RandomKPartitions
from ensemblage.kernels._jit import compiling


def test_a_run_says_what_it_is_going_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(_generation, "may_try_umap", lambda n, m: False)
    command = ("run", WINE, "--truth-column", "cultivar", "-k", 3, "--stability", 2)
    told = succeed(*command, "-o", tmp_path / "out").stderr
    assert (
        "178 objects × 13 features; trees that learned on synthetic sets rate candidate partitions; base partitions "
        "by several algorithms in several scales; eac-average combines them; all of this is repeated for 2 resamples; "
        "up to 10 seconds on a free core\n"
    ) in told
    told = succeed(*command, "--selection", "consensus", "-o", tmp_path / "consensus").stderr
    assert (
        "178 objects × 13 features; base partitions by mixtures, spectral clustering and Genie; eac-average combines "
        "them; all of this is repeated for 2 resamples\n"
    ) in told
    monkeypatch.setattr(_generation, "may_try_umap", lambda n, m: True)
    told = succeed(*command, "--without-columns", "-o", tmp_path / "columns").stderr
    assert "repeated for 2 resamples and without each of 13 columns; up to 20 seconds on a free core\n" in told
    command = ("run", WINE, "-k", 3, "--generator", "random-k", "--partitions", 4, "--stability", 0, "--method", "acv")
    told = succeed(*command, "-o", tmp_path / "other").stderr
    assert "; 4 base partitions by random-k; acv combines them\n" in told


@pytest.fixture
def told_of_the_rest(monkeypatch, tmp_path):
    """What `generate` says of the rest, where partitions are finished at given seconds: pairs of (seconds, done)."""
    now, make = [100.0], RandomKPartitions.fit_transform
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def told(total, *finished, while_compiling=0.0):
        start = now[0]

        def fit_transform(self, X, y=None):
            for seconds, done in finished:
                now[0] = start + seconds
                self.progress(done, total)
                if while_compiling:
                    compiling.begin()
                    compiling.begin()
                    now[0] += while_compiling
                    compiling.end()
                    compiling.end()
            return make(self.set_params(progress=None), X)

        monkeypatch.setattr(RandomKPartitions, "fit_transform", fit_transform)
        command = ("generate", WINE, "--generator", "random-k", "--partitions", 2, "-o", tmp_path / "e.npz")
        said = succeed(*command, "--overwrite").stderr
        return [line for line in said.splitlines() if line.startswith("base partitions: ") and " done in " in line]

    return told


def test_how_long_the_rest_takes(told_of_the_rest):
    """It is judged after the first step."""
    said = told_of_the_rest(12, (0, 0), (5, 1), (20, 2), (35, 3), (200, 7))
    assert said == ["base partitions: 3 of 12 done in 35 s, the rest takes about 2 min"]
    assert told_of_the_rest(4, (1, 1), (5, 2), (30, 4)) == []


def test_compiling_is_no_part_of_the_pace(told_of_the_rest):
    said = told_of_the_rest(101, (15, 1), (16, 11), (17, 31))
    assert said == ["base partitions: 31 of 101 done in 17 s, the rest takes about 5 s"]
    said = told_of_the_rest(61, (3, 1), (43, 31), while_compiling=30.0)
    assert said == ["base partitions: 31 of 61 done in 43 s, the rest takes about 10 s"]


def test_steps_that_are_not_alike_promise_nothing(monkeypatch, tmp_path):
    """A reading of the clock takes a minute."""
    seconds = itertools.count(0, 60)
    monkeypatch.setattr("time.perf_counter", lambda: next(seconds))
    for name, promised in (("random-k", True), ("mixed", False)):
        command = ("generate", WINE, "--generator", name, "--jobs", 1, "-o", tmp_path / f"{name}.npz")
        assert (", the rest takes about " in succeed(*command).stderr) == promised


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "1 s"), (89, "89 s"), (100, "2 min"), (7200, "2.0 h")])
def test_durations(told_of_the_rest, seconds, text):
    (said,) = told_of_the_rest(3, (10, 1), (10 + seconds, 2))
    assert said.endswith(f", the rest takes about {text}")


def test_no_color(monkeypatch):
    """On a terminal that has colours."""

    def fail_in_red():
        click.echo(click.style("red", fg="red"))
        raise ValueError(click.style("red", fg="red"))

    monkeypatch.setitem(main.commands, "x", click.Command("x", callback=fail_in_red))
    for value, is_red in (("1", False), ("", True)):
        monkeypatch.setenv("NO_COLOR", value)
        done = CliRunner().invoke(main, ["x"], color=True)
        assert ["\x1b[31mred" in stream for stream in (done.stdout, done.stderr)] == [is_red, is_red]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "up to 10 seconds"),
        (6, "up to 15 seconds"),
        (14, "up to 30 seconds"),
        (30, "15 to 60 seconds"),
        (100, "45 seconds to 5 minutes"),
        (300, "2 to 10 minutes"),
        (3_000, "20 minutes or more"),
        (9_000, "60 minutes or more"),
    ],
)
def test_time_is_said_in_round_numbers(seconds, words):
    assert duration_range_text(seconds) == words


def test_time_grows_with_what_is_done():
    least = estimate_seconds(1_000, 10, 0)
    for more in ((10_000, 10, 0), (1_000, 500, 0), (1_000, 10, 20)):
        assert least < estimate_seconds(*more)
    assert estimate_seconds(10**5, 10, 0) < estimate_seconds(10**6, 10, 0)


def test_each_repeat_takes_as_long():
    once, some, more = (estimate_seconds(5_000, 10, n_repeats) for n_repeats in (0, 10, 20))
    assert more - some == pytest.approx(some - once)
    # A repeat costs as many operations as there are pairs of objects, so ten of them take longer than all the rest.
    assert some - once > once


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_fewer_clusters_than_were_asked_for_are_told(tmp_path):
    """K-means of three different rows has no five clusters: said on stderr and on the page."""
    table, page = tmp_path / "three.csv", tmp_path / "out" / "report.html"
    table.write_text("a,b\n" + "0,0\n0,9\n9,0\n" * 10)
    told = "fewer clusters than were asked for: kmeans_k5_1 has 3 of 5"
    command = ("run", table, "-k", 2, "--partitions", 4, "--method", "km")
    assert f"three.csv: {told}\n" in succeed(*command, "-o", tmp_path / "out").stderr
    assert told in page.read_text(encoding="utf-8")
    made = succeed("generate", table, "--generator", "random-k", "--partitions", 4, "-o", tmp_path / "made.npz")
    assert f"three.csv: {told}\n" in made.stderr
    assert "fewer" not in succeed("run", WINE, "-k", 3, "-o", tmp_path / "wine").stderr
