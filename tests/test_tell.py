"""What is said while a command works: what it is going to do, how long the rest may take, in colour or not."""

import os
import subprocess
import sys
from dataclasses import replace

import click
import pytest
from test_cli import WINE, succeed

from ensemblage.cli import _progress
from ensemblage.cli._errors import color_choice, say
from ensemblage.cli._generation import Generation
from ensemblage.cli._plan import duration_range_text, estimate_seconds


def test_a_run_says_what_it_is_going_to_do(tmp_path):
    command = ("run", WINE, "--truth-column", "cultivar", "-k", 3, "--stability", 2)
    told = succeed(*command, "-o", tmp_path / "out").stderr
    assert (
        "178 objects × 13 features; trees that learned on synthetic sets rate candidate partitions; base clusterings "
        "by several algorithms in several scales; eac-average combines them; all of this is repeated for 2 resamples; "
        "some seconds\n"
    ) in told
    told = succeed(*command, "--selection", "consensus", "-o", tmp_path / "consensus").stderr
    assert (
        "178 objects × 13 features; base clusterings by mixtures, spectral clustering and Genie; eac-average combines "
        "them; all of this is repeated for 2 resamples; some seconds\n"
    ) in told
    command = ("run", WINE, "-k", 3, "--generator", "random-k", "--partitions", 4, "--stability", 0, "--method", "acv")
    told = succeed(*command, "-o", tmp_path / "other").stderr
    assert "; 4 base clusterings by random-k; acv combines them\n" in told


def test_how_long_the_rest_may_take(monkeypatch):
    now, told = [100.0], []
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(_progress, "tell", told.append)
    remaining = _progress.RemainingTime("base clusterings")
    for seconds, done in ((0, 0), (5, 1), (20, 2), (200, 7)):
        now[0] = 100.0 + seconds
        remaining(done, 12)
    # Once, judged by what is done after the first step: four times 150 s, for later steps may be longer.
    assert told == ["base clusterings: 2 of 12 done in 20 s, the rest takes up to about 10 min"]
    quick = _progress.RemainingTime("quick")
    now[0] += 30
    quick(5, 5)
    assert len(told) == 1


def test_what_compiles_before_the_first_step_is_no_part_of_the_pace(monkeypatch):
    now, told = [0.0], []
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(_progress, "tell", told.append)
    remaining = _progress.RemainingTime("number of clusters")
    for seconds, done in ((15, 1), (16, 11), (17, 21)):
        now[0] = seconds
        remaining(done, 101)
    assert told == ["number of clusters: 21 of 101 done in 17 s, the rest takes up to about 32 s"]


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "1 s"), (89, "89 s"), (100, "2 min"), (7200, "2.0 h")])
def test_durations(seconds, text):
    assert _progress.duration(seconds) == text


def test_no_color(monkeypatch, capsys):
    monkeypatch.setenv("NO_COLOR", "1")
    assert color_choice() is False
    say(click.style("red", fg="red"))
    assert capsys.readouterr().err == "red\n"
    monkeypatch.setenv("NO_COLOR", "")
    assert color_choice() is None


def test_no_color_reaches_the_commands():
    code = "import click; from ensemblage.cli import main; main.add_command(click.Command('x', callback=lambda: "
    code += "click.echo(click.style('red', fg='red'), color=click.get_current_context().color))); main(['x'])"
    for value, expected in (("1", "red\n"), ("", "red\n")):
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "NO_COLOR": value}, capture_output=True)
        assert done.stdout.decode() == expected


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "some seconds"),
        (6, "some seconds"),
        (14, "up to 45 seconds"),
        (30, "15 to 90 seconds"),
        (100, "45 seconds to 5 minutes"),
        (300, "2 to 15 minutes"),
        (3_000, "20 minutes or more"),
        (9_000, "60 minutes or more"),
    ],
)
def test_time_is_said_in_round_numbers(seconds, words):
    assert duration_range_text(seconds) == words


def test_time_grows_with_what_is_done():
    diverse = Generation("diverse", 50, None, seed=0, n_jobs=1)
    fast = replace(diverse, generator="random-k")
    least = estimate_seconds(1_000, 10, diverse, None, 0)
    assert least < estimate_seconds(10_000, 10, diverse, None, 0)
    assert least < estimate_seconds(1_000, 500, diverse, None, 0)
    assert least < estimate_seconds(1_000, 10, diverse, None, 20)
    assert least < estimate_seconds(1_000, 10, diverse, (2, 10), 0) < estimate_seconds(1_000, 10, diverse, (2, 30), 0)
    assert estimate_seconds(10**6, 10, fast, None, 0) < estimate_seconds(
        10**6, 10, replace(fast, partitions=500), None, 0
    )


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
