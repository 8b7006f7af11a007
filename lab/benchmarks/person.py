"""What a person waits for: `ensemblage run` as whole processes, cold (nothing compiled yet) and warm; calls in Python.

python person.py [--against REV] [--only NAME] [--million] [--rounds 1] [--selection NAME] [--record FILE]
prints processor and wall seconds and the peak of memory of this tree, those of another commit beside, and what the
wall seconds were spent on as the command says itself; "not reported" is what it does not say. Of a call in Python it
is the second one in a process: the first loads or compiles the kernels.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from common import clouds, versions, waits

HERE = Path(__file__).parents[2]
WINE = HERE / "examples" / "wine.csv"
KEPT = 0.05
"""Seconds of a stage from which it is named."""


class Work(NamedTuple):
    """A run of a table, planted, or of wine where there is no size; or a call in Python with planted features."""

    size: tuple[int, int] | None
    k: int | None
    call: str | None = None
    """"fit" or "choose_k"."""


WORKS = {
    "wine, k given": Work(None, 3),
    "wine": Work(None, None),
    "958 × 800": Work((958, 800), None),
    "20,000 × 10": Work((20_000, 10), None),
    "200,000 × 20, k given": Work((200_000, 20), 6),
    "1,000,000 × 20, k given": Work((1_000_000, 20), 6),
    "3,000 × 10, fit in Python": Work((3_000, 10), None, "fit"),
    "20,000 × 10, fit in Python, k given": Work((20_000, 10), 6, "fit"),
    "20,000 × 10, fit in Python": Work((20_000, 10), None, "fit"),
    "100,000 × 10, fit in Python": Work((100_000, 10), None, "fit"),
    "1,000 × 10, choose_k in Python": Work((1_000, 10), None, "choose_k"),
    "958 × 800, choose_k in Python": Work((958, 800), None, "choose_k"),
}
MILLION = "1,000,000 × 20, k given"


def table_of(work: Work, folder: Path) -> Path:
    """The file to read: six clouds, as text."""
    if work.size is None:
        return WINE
    n, p = work.size
    path = folder / f"{n}x{p}.csv"
    if not path.exists():
        np.savetxt(
            path, clouds(n, p, 6), fmt="%.4f", delimiter=",", header=",".join(f"x{j}" for j in range(p)), comments=""
        )
    return path


def run(work: Work, tree: Path, folder: Path, cache: Path, selection: str) -> dict[str, Any]:
    """One process: processor and wall seconds, megabytes, and the stages that it tells."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    given = [] if work.k is None else ["-k", str(work.k)]
    command = [sys.executable, "-m", "ensemblage", "run", str(table_of(work, folder)), *given]
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(cache)}
    with open(folder / "said", "w+", encoding="utf-8") as said:
        begin = time.perf_counter()
        process = subprocess.Popen(
            [*command, "--selection", selection, "-o", str(out)], env=env, cwd=folder, stdout=said, stderr=said
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            return {"failed": said.read().strip().splitlines()[-1]}
    stages = json.loads((out / "summary.json").read_text(encoding="utf-8"))["seconds"]
    stages["not reported"] = round(wall - sum(stages.values()), 3)
    return {"processor": used.ru_utime + used.ru_stime, "wall": wall, "mb": used.ru_maxrss / 1024, "stages": stages}


def call(name: str, tree: Path, cache: Path) -> dict[str, Any]:
    """The same of a call in Python, made in another process by `second_call`."""
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, __file__, "--call", name], env=env, capture_output=True, text=True)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1]}
    return {**json.loads(done.stdout.splitlines()[-1]), "stages": {}}


def second_call(work: Work) -> dict[str, float]:
    """Processor and wall seconds of the second of two calls, and megabytes at the peak of this process."""
    from ensemblage import ConsensusClustering, choose_k

    X = clouds(*(work.size or ()), 6)
    for _ in range(2):
        wall, processor = time.perf_counter(), time.process_time()
        if work.call == "fit":
            ConsensusClustering(work.k, random_state=0).fit(X)
        else:
            choose_k(X, random_state=0)
        found = {"processor": time.process_time() - processor, "wall": time.perf_counter() - wall}
    return {**found, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def middle(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians, and the stages of the run whose wall seconds are the median; of the first failure, what was said."""
    for one in runs:
        if "failed" in one:
            return one
    usual = sorted(runs, key=lambda one: one["wall"])[(len(runs) - 1) // 2]
    found = {what: round(median(one[what] for one in runs), 2) for what in ("processor", "wall", "mb")}
    return {**found, "stages": {stage: s for stage, s in usual["stages"].items() if abs(s) >= KEPT}}


@contextmanager
def trees(ref: str | None) -> Iterator[dict[str, Path]]:
    """This tree, and before it one of another commit, both with their bytecode."""
    with tempfile.TemporaryDirectory() as folder:
        found = {"now": HERE} if ref is None else {"before": Path(folder) / "tree", "now": HERE}
        if ref is not None:
            subprocess.run(
                ["git", "worktree", "add", "--quiet", "--detach", found["before"], ref], cwd=HERE, check=True
            )
        try:
            for tree in found.values():
                compileall.compile_dir(tree / "src", quiet=2)
            yield found
        finally:
            if ref is not None:
                subprocess.run(["git", "worktree", "remove", "--force", found["before"]], cwd=HERE, check=True)


def measured(name: str, sides: dict[str, Path], folder: Path, rounds: int, selection: str) -> list[dict[str, Any]]:
    """The rows of a work, cold and warm, or warm alone of a call; the sides take turns."""
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for _ in range(rounds):
        for side, tree in sides.items():
            if WORKS[name].call:  # calls share what was compiled
                runs.setdefault(("warm", side), []).append(call(name, tree, folder / side))
                continue
            with tempfile.TemporaryDirectory(dir=folder) as cache:
                for state in ("cold", "warm"):
                    one = run(WORKS[name], tree, folder, Path(cache), selection)
                    runs.setdefault((state, side), []).append(one)
    base = {"work": name, "selection": selection, "rounds": rounds}
    states = [state for state in ("cold", "warm") if any((state, side) in runs for side in sides)]
    return [{**base, "state": state, **{s: middle(runs[state, s]) for s in sides}} for state in states]


def write_record(path: Path, rows: list[dict[str, Any]], ref: str | None) -> None:
    """Rows of the same work and state are replaced; they stand in the order of the works."""
    kept = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    new = {(row["work"], row["state"]): row for row in kept + rows}
    ordered = sorted(new.values(), key=lambda row: list(WORKS).index(row["work"]))
    record = {"machine": versions(), "against": ref, "rows": ordered}
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", metavar="REV", help="another commit")
    parser.add_argument("--only", action="append", choices=WORKS)
    parser.add_argument("--million", action="store_true", help="10⁶ objects, too: minutes")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--selection", choices=["learned", "consensus"], default="learned")
    parser.add_argument("--record", type=Path, help="a JSON file whose rows of these works are written anew")
    parser.add_argument("--call", choices=WORKS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.call:
        print(json.dumps(second_call(WORKS[asked.call])))
        return
    ref = (
        asked.against
        and subprocess.run(
            ["git", "rev-parse", "--short", asked.against], cwd=HERE, check=True, capture_output=True, text=True
        ).stdout.strip()
    )
    names = asked.only or [name for name in WORKS if asked.million or name != MILLION]
    with trees(ref) as sides, tempfile.TemporaryDirectory() as folder:
        for name in names:
            rows = measured(name, sides, Path(folder), asked.rounds, asked.selection)
            print(waits(rows), flush=True)
            if asked.record:
                write_record(asked.record, rows, ref)


if __name__ == "__main__":
    main()
