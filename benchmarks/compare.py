"""Processor seconds of this tree and of another commit, in turn, each in its own process on one thread.

python benchmarks/compare.py REF [--small] [--rounds 5] [--only NAME] prints a table: seconds before and now, the
median of the ratios before / now with their range, memory beyond the input, and how the result's own score changed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from common import versions
from works import WORKS

HERE = Path(__file__).parents[1]


def run(name: str, tree: Path, cache: Path, small: bool) -> dict[str, float | None]:
    """One work with the source of one tree; the work itself is always this tree's."""
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(cache), "NUMBA_NUM_THREADS": "1"}
    env |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(HERE / "benchmarks" / "works.py"), name, *(["--small"] if small else [])]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.strip().splitlines()[-1]}


def row(name: str, before: list[dict], now: list[dict], small: bool) -> str:
    size = WORKS[name][2 if small else 1]
    for side, runs in (("before", before), ("now", now)):
        for failed in (r["failed"] for r in runs if "failed" in r):
            return f"| {name} | {size:,} | {side}: {failed} | | | | |"
    ratios = [a["seconds"] / b["seconds"] for a, b in zip(before, now, strict=True)]
    seconds = [median(r["seconds"] for r in runs) for runs in (before, now)]
    memory = [median(r["megabytes"] for r in runs) for runs in (before, now)]
    score = (
        "" if now[0]["score"] is None else f"{now[0]['score'] / before[0]['score'] if before[0]['score'] else 1:.5f}"
    )
    cells = [
        name,
        f"{size:,}",
        f"{seconds[0]:.2f}",
        f"{seconds[1]:.2f}",
        f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        f"{memory[0]:.0f}, {memory[1]:.0f}",
        score,
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ref")
    parser.add_argument("--small", action="store_true", help="sizes that take seconds")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", choices=WORKS)
    arguments = parser.parse_args()
    columns = ["work", "n", "before, s", "now, s", "before / now", "MB before, now", "score now / before"]
    print(f"{versions()}; {arguments.rounds} rounds against {arguments.ref}, one thread each.\n")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", other, arguments.ref], cwd=HERE, check=True)
        try:
            trees = {"before": other, "now": HERE}
            for name in arguments.only or WORKS:
                runs: dict[str, list] = {side: [] for side in trees}
                for _ in range(arguments.rounds):
                    for side, tree in trees.items():
                        runs[side].append(run(name, tree, Path(folder) / f"numba-{side}", arguments.small))
                print(row(name, runs["before"], runs["now"], arguments.small), flush=True)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", other], cwd=HERE, check=True)


if __name__ == "__main__":
    main()
