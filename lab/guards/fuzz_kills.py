"""``ensemblage run`` stopped at a random moment, again and again, until it ends: nothing is lost.

Most runs are forks of a process that has everything imported: real processes and real signals, at moments at which
something is read, computed or written. Every tenth is `python -m ensemblage`, whose imports are interrupted too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from random import Random

from fuzz import Failure

WRITTEN = ["ensemble.npz", "labels.csv", "model.npz", "report.html", "summary.json"]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CODES = {signal.SIGKILL: {-9, 0}, signal.SIGTERM: {143, -15, 0}, signal.SIGINT: {2, -2, 130, 0}}


def arguments(out: Path) -> list[str]:
    """Of a run on few objects, in the folder above that of its results."""
    table = out.parent / "table.csv"
    if not table.exists():
        draw = Random(0)
        rows = [f"{i % 3 * 5 + draw.random():.3f},{i % 3 * 4 + draw.random():.3f}" for i in range(45)]
        table.write_text("\n".join(["x,y", *rows, ""]), encoding="utf-8")
    return ["run", str(table), "-k", "3", "--partitions", "4", "--jobs", "1", "-o", str(out)]


class Running:
    """A run of the command line as a process of its own: a fork, or with an interpreter of its own."""

    def __init__(self, out: Path, forked: bool = True) -> None:
        given = arguments(out)
        self.errors, self.code = tempfile.TemporaryFile("w+", encoding="utf-8"), None  # noqa: SIM115
        if not forked:
            command = [sys.executable, "-m", "ensemblage", *given]
            self.pid = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self.errors).pid
            return
        _everything_imported(out.parent)
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.dup2(os.open(os.devnull, os.O_RDWR), 0)
                os.dup2(0, 1)
                os.dup2(self.errors.fileno(), 2)
                sys.stdin, sys.stdout, sys.stderr = (open(i, mode) for i, mode in enumerate("rww"))  # noqa: SIM115
                from ensemblage.cli import main

                main(given, prog_name="ensemblage")
                code = 0
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 1
            except KeyboardInterrupt:
                code = 130
            finally:
                sys.stderr.flush()
                os._exit(code)

    def ended(self) -> bool:
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code is not None

    def stop(self, number: signal.Signals) -> None:
        if not self.ended():
            os.kill(self.pid, number)

    def wait(self) -> tuple[int, str]:
        """How it ended, and what it said."""
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.errors.seek(0)
        told = self.errors.read()
        self.errors.close()
        return self.code, told


@cache
def _everything_imported(folder: Path) -> None:
    from click.testing import CliRunner

    from ensemblage.cli import main

    result = CliRunner().invoke(main, arguments(folder / "warm"))
    if result.exit_code != 0:
        raise Failure(f"Nobody stopped it, and it ended with {result.exit_code}: {result.stderr[-300:]}")


@cache
def whole(folder: Path, forked: bool = True) -> tuple[dict[str, bytes], float]:
    """What a run that nobody stops writes, and the seconds that it takes."""
    for name in ("first", "whole"):
        start = time.monotonic()
        code, told = Running(folder / f"{name}-{forked}", forked).wait()
        if code != 0:
            raise Failure(f"Nobody stopped it, and it ended with {code}: {told[-300:]}")
    out = folder / f"whole-{forked}"
    return {name: (out / name).read_bytes() for name in WRITTEN}, time.monotonic() - start


def case(draw: Random, folder: Path) -> str:
    """One stop. Every so often the run is let to its end, and what it wrote is looked at."""
    forked = draw.random() < 0.9
    expected, seconds = whole(folder, forked)
    out = folder / "out"
    number = draw.choice(SIGNALS)
    run = Running(out, forked)
    if draw.random() < 0.5:
        time.sleep(draw.uniform(0, 1.1 * seconds))
    else:  # while something is written
        end = time.monotonic() + 3 * seconds
        before = set(os.listdir(out)) if out.exists() else set()
        while not run.ended() and time.monotonic() < end:
            now = set(os.listdir(out)) if out.exists() else set()
            if now != before:
                break
            time.sleep(0.001)
        time.sleep(draw.choice([0, 0, 0.002, 0.02]))
    run.stop(number)
    code, told = run.wait()
    if code not in CODES[number]:
        raise Failure(f"{number.name} ended it with {code}: {told[-300:]}")
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
    return number.name if code != 0 else "ended before"


def finish(out: Path, expected: dict[str, bytes]) -> None:
    """Run to the end; nothing but the results is left, and they are the same."""
    code, told = Running(out).wait()
    if code != 0:
        raise Failure(f"Begun again, it ended with {code}: {told[-300:]}")
    found = sorted(path.name for path in out.iterdir())
    if found != WRITTEN:
        raise Failure(f"The folder holds {found}")
    for name in WRITTEN[:2]:
        if (out / name).read_bytes() != expected[name]:
            raise Failure(f"{name} differs after the stops")
