"""``ensemblage run`` stopped at a random moment, again and again, until it ends: nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from random import Random

from fuzz import Failure

WINE = Path(__file__).parents[2] / "examples" / "wine.csv"
WRITTEN = ["ensemble.npz", "labels.csv", "report.html", "summary.json"]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CODES = {signal.SIGKILL: {-9, 0}, signal.SIGTERM: {143, -15, 0}, signal.SIGINT: {2, -2, 130, 0}}


def command(out: Path) -> list[str]:
    return [sys.executable, "-m", "ensemblage", "run", str(WINE), "-k", "3", "--partitions", "8", "--jobs", "1",
            "-o", str(out)]  # fmt: skip


@cache
def whole(folder: Path) -> tuple[dict[str, bytes], float]:
    """What a run that nobody stops writes, and the seconds that it takes."""
    for name in ("warm", "whole"):
        start = time.monotonic()
        subprocess.run(command(folder / name), check=True, capture_output=True)
    return {name: (folder / "whole" / name).read_bytes() for name in WRITTEN}, time.monotonic() - start


def case(draw: Random, folder: Path) -> str:
    """One stop. Every so often the run is let to its end, and what it wrote is looked at."""
    expected, seconds = whole(folder)
    out = folder / "out"
    number = draw.choice(SIGNALS)
    process = subprocess.Popen(command(out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    early = draw.random() < 0.5
    if early:
        time.sleep(draw.uniform(0, 1.1 * seconds))
    else:  # while something is written
        end = time.monotonic() + 3 * seconds
        before = set(os.listdir(out)) if out.exists() else set()
        while process.poll() is None and time.monotonic() < end:
            now = set(os.listdir(out)) if out.exists() else set()
            if now != before:
                break
            time.sleep(0.001)
        time.sleep(draw.choice([0, 0, 0.002, 0.02]))
    process.send_signal(number)
    told = process.communicate()[1]
    if process.returncode not in CODES[number]:
        raise Failure(f"{number.name} ended it with {process.returncode}: {told[-300:]}")
    if "Traceback" in told or "defect" in told:
        raise Failure(f"{number.name}: {told[-300:]}")
    kept = {name: (out / name).read_bytes() for name in WRITTEN[:2] if (out / name).exists()}
    for name, content in kept.items():
        if content != expected[name]:
            raise Failure(f"{number.name}: {name} is not what the whole run writes")
    if draw.random() < 0.25:
        finish(out, expected)
        for path in out.iterdir():
            path.unlink()
        out.rmdir()
    return number.name


def finish(out: Path, expected: dict[str, bytes]) -> None:
    """Run to the end; nothing but the results is left, and they are the same."""
    done = subprocess.run(command(out), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"Begun again, it ended with {done.returncode}: {done.stderr[-300:]}")
    found = sorted(path.name for path in out.iterdir())
    if found != WRITTEN:
        raise Failure(f"The folder holds {found}")
    for name in WRITTEN[:2]:
        if (out / name).read_bytes() != expected[name]:
            raise Failure(f"{name} differs after the stops")
