"""What a command says of its seconds."""

import json
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from places import WINE

from ensemblage import ConsensusClustering, load
from ensemblage.cli._seconds import OTHER, START, Seconds
from ensemblage.consensus._saved import save_model


def passing(monkeypatch, times):
    """A clock that shows these times, one after the other."""
    clock = iter(times)
    monkeypatch.setattr("ensemblage.cli._seconds.time.perf_counter", lambda: next(clock))
    monkeypatch.setattr("ensemblage.cli._seconds.beginning.at", 0.0)


def test_nothing_passes_untold(monkeypatch):
    passing(monkeypatch, [3.0, 3.5, 5.5, 6.0, 9.0, 9.0])
    seconds = Seconds()
    seconds.started({})
    with seconds.spent_on("read"):
        pass
    with seconds.spent_on("consensus"):
        pass
    assert seconds == {START: 3.0, "read": 2.0, "consensus": 3.0, OTHER: 1.0}
    assert list(seconds)[-1] == OTHER
    assert sum(seconds.values()) == 9.0


def test_a_stage_within_another_interrupts_it(monkeypatch):
    passing(monkeypatch, [0.0, 1.0, 3.0, 7.0, 15.0])
    seconds = Seconds()
    seconds.started({})
    with seconds.spent_on("outer"), seconds.spent_on("inner"):
        pass
    assert seconds == {START: 0.0, OTHER: 1.0, "outer": 2.0 + 8.0, "inner": 4.0}


def test_a_stage_that_fails_is_counted(monkeypatch):
    passing(monkeypatch, [0.0, 1.0, 3.0])
    seconds = Seconds()
    seconds.started({})
    with pytest.raises(ValueError, match="no"), seconds.spent_on("read"):
        raise ValueError("no")
    assert seconds["read"] == 2.0


def test_what_an_earlier_run_did_keeps_its_seconds(monkeypatch):
    passing(monkeypatch, [2.0, 2.0, 3.0])
    seconds = Seconds()
    seconds.started({START: 9.0, "base clusterings": 40.0, "consensus": 8.0})
    with seconds.spent_on("consensus"):
        pass
    assert seconds == {START: 2.0, "base clusterings": 40.0, "consensus": 1.0, OTHER: 0.0}


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
