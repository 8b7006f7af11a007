"""Processor seconds of this tree and of another commit, in turn, each in its own process on one thread.

python lab/benchmarks/compare.py REF [--small] [--rounds 5] [--only NAME] [--record FILE] prints a table: seconds before
and now, the median of the ratios before / now with their range, memory beyond the input, and how the result's own score
changed.
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
from typing import Any

from common import COMPARISON, comparison_row, versions
from works import WORKS

HERE = Path(__file__).parents[2]


def run(name: str, tree: Path, cache: Path, small: bool) -> dict[str, float | None]:
    """One work with the source of one tree; the work itself is always this tree's."""
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(cache), "NUMBA_NUM_THREADS": "1"}
    env |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).with_name("works.py")), name, *(["--small"] if small else [])]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.strip().splitlines()[-1]}


def compared(name: str, before: list[dict], now: list[dict], small: bool) -> dict[str, Any]:
    """Medians, and the range of the ratios; of the first failure, if there is one, what was said."""
    found: dict[str, Any] = {"work": name, "n": WORKS[name][2 if small else 1]}
    for side, runs in (("before", before), ("now", now)):
        for failed in (r["failed"] for r in runs if "failed" in r):
            return found | {"failed": f"{side}: {failed}"}
    ratios = [a["seconds"] / b["seconds"] for a, b in zip(before, now, strict=True)]
    for what in ("seconds", "megabytes"):
        found[what] = [median(r[what] for r in runs) for runs in (before, now)]
    scores = [runs[0]["score"] for runs in (before, now)]
    found["score"] = None if scores[1] is None else scores[1] / scores[0] if scores[0] else 1.0
    return found | {"ratio": [median(ratios), min(ratios), max(ratios)], "rounds": len(ratios)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ref")
    parser.add_argument("--small", action="store_true", help="sizes that take seconds")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", choices=WORKS)
    parser.add_argument("--record", type=Path, help="a JSON file whose rows of these works are written anew")
    arguments = parser.parse_args()
    print(f"{versions()}; {arguments.rounds} rounds against {arguments.ref}, one thread each.\n\n{COMPARISON}")
    rows = []
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
                rows.append(compared(name, runs["before"], runs["now"], arguments.small))
                print(comparison_row(rows[-1]), flush=True)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", other], cwd=HERE, check=True)
    if arguments.record:
        write_record(arguments.record, rows, arguments.ref)


def write_record(path: Path, rows: list[dict[str, Any]], ref: str) -> None:
    """Rows of the same work and size are replaced."""
    kept = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    new = {(row["work"], row["n"]): row for row in kept + rows}
    path.write_text(
        json.dumps({"machine": versions(), "against": ref, "rows": list(new.values())}, indent=1) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
