"""What the benchmarks share: ensembles with mostly distinct rows, paired timings, a markdown table."""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.cluster import MiniBatchKMeans

import ensemblage
from ensemblage import Ensemble


def planted(n, p, k, k_low, k_high, noise, seed=0):
    """Labels of p partitions of k_low to k_high clusters around k true ones; `noise` of the labels are random."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    labels = np.empty((n, p), dtype=np.int32)
    for j, k_j in enumerate(rng.integers(k_low, k_high + 1, size=p)):
        # Every true cluster owns at least one label, the other labels are shared out at random.
        owner = np.concatenate([rng.permutation(k), rng.integers(k, size=max(k_j - k, 0))])
        order = np.argsort(owner, kind="stable")
        starts, sizes = np.searchsorted(owner[order], np.arange(k)), np.bincount(owner, minlength=k)
        labels[:, j] = order[starts[truth] + (rng.random(n) * sizes[truth]).astype(int)]
        random = rng.random(n) < noise
        labels[random, j] = rng.integers(max(k_j, k), size=np.count_nonzero(random))
    return labels, truth


def clouds(n, p, k):
    """(n, p) features of n objects in k clouds."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(k, p)) * 4 / np.sqrt(max(1, p / 20))
    return centres[rng.integers(k, size=n)] + rng.normal(size=(n, p))


def by_kmeans(n, p, k_low, k_high, n_features=16, seed=0):
    """Labels of p k-means partitions of overlapping blobs (centres from 20,000 of the objects)."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(50, n_features)) * 0.6
    X = (centres[rng.integers(50, size=n)] + rng.normal(size=(n, n_features))).astype(np.float32)
    labels = np.empty((n, p), dtype=np.int32)
    for j, k in enumerate(rng.integers(k_low, k_high + 1, size=p)):
        model = MiniBatchKMeans(int(k), n_init=1, max_iter=5, random_state=j).fit(X[:20_000])
        labels[:, j] = model.predict(X)
    return labels, X


def distinct_share(ensemble: Ensemble) -> float:
    return len(ensemble.distinct.counts) / len(ensemble)


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def paired(ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 3) -> tuple[float, float, float]:
    """Median seconds of both, taken in turn, and the median of the ratios theirs / ours."""
    times = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    return median(a for a, _ in times), median(b for _, b in times), median(b / a for a, b in times)


def extra_mb(function: Callable[[], object]) -> float:
    """Peak memory of a call above what the process held before it (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forget the peak so far
    before = _status_mb("VmRSS")
    function()
    return _status_mb("VmHWM") - before


def _status_mb(field: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(field))) / 1024


def in_fresh_process(script: str, *arguments: str) -> str:
    """What a new interpreter prints: its peak memory is nobody else's."""
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def versions() -> str:
    """What was measured, with what, on which processor."""
    names = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    python = f"ensemblage {ensemblage.__version__}, Python {platform.python_version()}"
    return f"{python}, {names}; {processor()}, {cores()} cores"


def processor() -> str:
    """Its name, and whether it has AVX2 and AVX-512."""
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    name = next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")), "")
    lanes = [shown for flag, shown in (("avx2", "AVX2"), ("avx512f", "AVX-512")) if f" {flag}" in text]
    return f"{name or platform.machine()} ({', '.join(lanes) or 'no AVX2'})"


def table(title: str, rows: list[dict[str, object]]) -> None:
    print(f"\n### {title}\n")
    print("| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")
    print(f"\n{versions()}.")


COLUMNS = ["work", "n", "before, s", "now, s", "before / now", "MB before, now", "score now / before"]
COMPARISON = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"
"""The head of the table of `compare.py`."""


def comparison_row(found: dict[str, Any]) -> str:
    """A row of it."""
    cells = [found["work"], f"{found['n']:,}"]
    if "failed" in found:
        cells += [found["failed"], "", "", "", ""]
    else:
        middle, low, high = found["ratio"]
        cells += [f"{seconds:.2f}" for seconds in found["seconds"]]
        cells += [f"{middle:.2f} ({low:.2f} to {high:.2f})", ", ".join(f"{mb:.0f}" for mb in found["megabytes"])]
        cells.append("" if found["score"] is None else f"{found['score']:.5f}")
    return f"| {' | '.join(cells)} |"


WAITS = ["run of", "kernels", "processor, s", "wall, s", "MB", "what the wall seconds are spent on now"]


def waits(rows: list[dict[str, Any]]) -> str:
    """The table of `person.py`: before → now, where there is a before."""
    lines = [f"| {' | '.join(WAITS)} |", f"|{'---|' * len(WAITS)}"]
    for row in rows:
        sides = [row[side] for side in ("before", "now") if side in row]
        cells = [row["work"], row["state"]]
        for what, digits in (("processor", 1), ("wall", 1), ("mb", 0)):
            cells.append(" → ".join(f"{side[what]:,.{digits}f}" if what in side else side["failed"] for side in sides))
        stages = row["now"].get("stages", {})
        cells.append(", ".join(f"{stage} {duration:.1f}" for stage, duration in stages.items()))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def cores() -> int:
    from ensemblage.base.threads import available_cores

    return available_cores()
