"""Work that a user waits for, timed here and in another clone (or by scikit-learn), in interleaved pairs.

    python benchmarks/bench_speed.py OTHER_CLONE [NAME ...] [--pairs 5] [--small]

A line is a function that prepares its data and returns what is to be timed; what that returns is compared with the
other clone's: labels must be equal, or losses are divided. Each run is a process of its own with one thread, whose
kernels are warm; the times are of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

Timed = Callable[[], Any]
LINES: dict[str, Callable[[bool, bool], Timed]] = {}
"""By its name what prepares a line: of the size (small or not), and whether it is for the other clone."""


def line(function: Callable[[bool, bool], Timed]) -> Callable[[bool, bool], Timed]:
    LINES[function.__name__.replace("_", "-")] = function
    return function


def mixture(n: int, m: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return 0.6 * rng.normal(size=(50, m))[rng.integers(50, size=n)] + rng.normal(size=(n, m))


def base_k_means(n: int, k: int, n_partitions: int, other: bool) -> Timed:
    """k-means of a generator; the other is scikit-learn's on all rows, in any clone. Compared: their inertias."""
    from ensemblage.generation import RandomKPartitions

    X = mixture(n, 20)
    options: dict[str, Any] = {"k_min": k, "k_max": k, "n_jobs": 1, "random_state": 0}
    if "fit_on" in RandomKPartitions().get_params():
        options["fit_on"] = None if other else "auto"
    RandomKPartitions(1, **{**options, "fit_on": 1_000} if "fit_on" in options else options).fit(X[:5_000])

    def fit() -> float:
        return sum(model.inertia_ for model in RandomKPartitions(n_partitions, **options).fit(X).estimators_)

    return fit


@line
def base_k_means_million(small: bool, other: bool) -> Timed:
    return base_k_means(10**5 if small else 10**6, 20, 1, other)


@line
def base_k_means_50_clusters(small: bool, other: bool) -> Timed:
    return base_k_means(10**5, 50, 1 if small else 4, other)


def default_fit(kind: str, n: int) -> Timed:
    """`KMeansConsensus` with ten starts. Compared: losses."""
    from common import by_kmeans, planted

    from ensemblage import Ensemble, KMeansConsensus

    labels = planted(n, 20, 20, 20, 100, 0.5)[0] if kind == "planted" else by_kmeans(n, 20, 20, 100)[0]
    ensemble = Ensemble(labels)
    _ = ensemble.distinct
    KMeansConsensus(3, n_init=1, n_jobs=1).fit(labels[:1_000])
    return lambda: KMeansConsensus(20, random_state=0, n_jobs=1).fit(ensemble).objective_


@line
def default_fit_planted(small: bool, other: bool) -> Timed:
    return default_fit("planted", 200_000 if small else 10**6)


@line
def default_fit_k_means(small: bool, other: bool) -> Timed:
    return default_fit("k-means", 200_000 if small else 10**6)


@line
def seeding(small: bool, other: bool) -> Timed:
    """Greedy k-means++ of one start. Compared: the seeds."""
    from common import planted

    from ensemblage import Ensemble, KMeansConsensus
    from ensemblage.consensus._base import labelled_rows
    from ensemblage.consensus._lloyd import seed_far_apart

    def seeds_of(labels: Any) -> Timed:
        rows = labelled_rows(Ensemble(labels), np.ones(20))
        utility = KMeansConsensus(20)._make_utility(rows)
        return lambda: np.flatnonzero(seed_far_apart(rows, utility, 20, np.random.RandomState(0), 1)).tolist()

    labels = planted(10**5 if small else 10**6, 20, 20, 20, 100, 0.5)[0]
    seeds_of(labels[:1_000])()
    return seeds_of(labels)


def measured(name: str, small: bool, other: bool) -> None:
    """Print the time, the peak and the result of a line, as JSON."""
    warnings.simplefilter("ignore")
    timed = LINES[name](small, other)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    result = timed()
    seconds = time.process_time() - start
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"seconds": seconds, "megabytes": more / 1024, "result": result}))


def run(name: str, clone: Path, small: bool, other: bool) -> dict[str, Any]:
    here = Path(__file__).resolve()
    cache = str(Path(tempfile.gettempdir()) / f"bench-speed-{clone.name}")
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    paths = {"PYTHONPATH": f"{clone / 'src'}{os.pathsep}{here.parent}", "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, str(here), "--one", name, *["--small"] * small, *["--other"] * other]
    done = subprocess.run(command, env=os.environ | threads | paths, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def compare(name: str, here: Path, other: Path, pairs: int, small: bool) -> str:
    runs = [(run(name, other, small, True), run(name, here, small, False)) for _ in range(pairs)]
    times = [[one["seconds"] for one in of] for of in zip(*runs, strict=True)]
    ratios = sorted(old["seconds"] / new["seconds"] for old, new in runs)
    old, new = runs[0]
    is_loss = isinstance(old["result"], float)
    told = f"{new['result'] / old['result']:.5f}" if is_loss else "equal" if old["result"] == new["result"] else "OTHER"
    peaks = " / ".join(f"{one['megabytes']:.0f}" for one in (old, new))
    spread = f"{median(ratios):.1f} ({ratios[0]:.1f}–{ratios[-1]:.1f})"
    return f"| {name} | {median(times[0]):.2f} | {median(times[1]):.2f} | {spread} | {told} | {peaks} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", nargs="?", type=Path, help="the clone to compare with")
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(LINES)}")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="a fraction of the size")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--other", action="store_true", dest="is_other", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        measured(given.one, given.small, given.is_other)
    else:
        print(
            "| work | before, s | after, s | ratio (range) | result after / before | memory, MB |\n" + "|---" * 6 + "|"
        )
        for name in given.names or LINES:
            here = Path(__file__).resolve().parents[1]
            print(compare(name, here, given.other.resolve(), given.pairs, given.small), flush=True)
