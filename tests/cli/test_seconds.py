"""What a command says of its seconds."""

import json
import subprocess
import sys
import time
import zipfile

import click
import numpy as np
import pytest
from places import WINE
from shell import call, succeed

from ensemblage import ConsensusClustering, Ensemble, load
from ensemblage.consensus import KMeansConsensus
from ensemblage.consensus._saved import save_model
from ensemblage.generation import RandomKPartitions

COMMAND = ("run", WINE, "-k", 3, "--generator", "random-k", "--partitions", 4, "--method", "km", "--stability", 0)


@pytest.fixture
def takes(monkeypatch):
    """A clock that shows what named functions have taken so far: those of whoever calls this."""
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    succeed("methods")  # the first command of a process has begun with its imports

    def take(seconds, where, name):
        real = getattr(where, name)

        def taking(*args, **options):
            now[0] += seconds
            return real(*args, **options)

        monkeypatch.setattr(where, name, taking)

    return take


def fail(*_, **__):
    raise ValueError("no")


def seconds_of(folder):
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))["seconds"]


def test_nothing_passes_untold(takes, tmp_path):
    """What is in no stage is that of the start, up to the folder, and then that of the last one, other."""
    takes(3.0, click.Group, "parse_args")
    takes(40.0, RandomKPartitions, "fit_transform")
    takes(8.0, KMeansConsensus, "fit")
    takes(2.0, Ensemble, "save")
    takes(0.5, click, "echo")
    told = succeed(*COMMAND, "-o", tmp_path / "out").stderr.splitlines()
    seconds = seconds_of(tmp_path / "out")
    assert list(seconds) == [
        *("start", "read", "base partitions", "write", "consensus", "ranking", "profile", "report", "other")
    ]
    partitions, other = seconds["base partitions"], seconds["other"]
    assert 40 <= partitions < partitions + other == 40 + 0.5 * len(told)
    others = {stage: seconds[stage] for stage in seconds if stage not in ("base partitions", "other")}
    assert others == {"start": 3, "read": 0, "write": 2, "consensus": 8, "ranking": 0, "profile": 0, "report": 0}


def test_what_an_earlier_run_did_keeps_its_seconds(takes, monkeypatch, tmp_path):
    takes(40.0, RandomKPartitions, "fit_transform")
    takes(7.0, click.Group, "parse_args")
    with monkeypatch.context() as patch:
        patch.setattr(KMeansConsensus, "fit", fail)
        assert call(*COMMAND, "-o", tmp_path / "out").exit_code == 2
    assert seconds_of(tmp_path / "out")["base partitions"] == 40
    takes(1.0, KMeansConsensus, "fit")
    takes(2.0, click.Group, "parse_args")
    succeed(*COMMAND, "-o", tmp_path / "out")
    seconds = seconds_of(tmp_path / "out")
    assert {stage: spent for stage, spent in seconds.items() if spent} == {
        "start": 9,
        "base partitions": 40,
        "consensus": 1,
    }
    assert list(seconds)[-1] == "other"


@pytest.mark.slow
def test_the_seconds_of_a_run_sum_to_its_wall_time(tmp_path):
    command = [sys.executable, "-m", "ensemblage", "run", WINE, "-k", "3", "--selection", "consensus"]
    begin = time.perf_counter()
    done = subprocess.run([*command, "-o", tmp_path / "out"], check=True, capture_output=True, text=True)
    wall = time.perf_counter() - begin
    seconds = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["seconds"]
    assert 0.7 * wall < sum(seconds.values()) <= wall  # 0.95 on a machine that does nothing else
    line = next(line for line in done.stdout.splitlines() if line.startswith("seconds"))
    assert [part.strip().rpartition(" ")[0] for part in line.removeprefix("seconds").split(",")] == list(seconds)


def test_a_model_that_is_not_compressed_is_the_same(tmp_path):
    model = ConsensusClustering(3, selection="consensus", random_state=0).fit(
        np.random.default_rng(0).normal(size=(40, 3))
    )
    save_model(model, tmp_path / "small.npz")
    save_model(model, tmp_path / "large.npz", is_compressed=False)
    for name, kind in (("small.npz", zipfile.ZIP_DEFLATED), ("large.npz", zipfile.ZIP_STORED)):
        with zipfile.ZipFile(tmp_path / name) as archive:
            assert {info.compress_type for info in archive.infolist()} == {kind}
        save_model(load(tmp_path / name), tmp_path / f"again {name}")
    assert (tmp_path / "again large.npz").read_bytes() == (tmp_path / "again small.npz").read_bytes()
