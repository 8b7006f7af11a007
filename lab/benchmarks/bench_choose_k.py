"""What `choose_k` is worth: errors of its test on single clouds, its power, and the numbers it names.

    python lab/benchmarks/bench_choose_k.py null --draws 1000
    python lab/benchmarks/bench_choose_k.py designs --draws 60
    python lab/benchmarks/bench_choose_k.py sets --suite DIR --data DIR

Each appends one line per data set to lab/records/confidence/choose_k.jsonl and goes on where it was stopped; `python
lab/scripts/make_confidence.py` makes the tables. A data set is clustered by one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ensemblage import choose_k
from ensemblage.base.random import task_seeds
from ensemblage.stability._reference import UnimodalComponents
from ensemblage.stability._structure import ClusterStatistics, Stops, compare_with_cloud

RECORD = Path(__file__).parents[1] / "records" / "confidence" / "choose_k.jsonl"
N_REFERENCES = 99
MOST_K = 10


def cloud(kind: str, n: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """(n, d) objects without clusters."""
    if kind == "uniform":
        return rng.uniform(size=(n, d))
    normal = rng.normal(size=(n, d))
    if kind == "correlated":
        return normal @ rng.normal(size=(d, d))
    if kind == "t3":  # elliptical: one tail for all features
        return normal / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)
    if kind == "independent t3":
        return rng.standard_t(3, size=(n, d))
    return normal


CLOUDS = ("uniform", "Gaussian", "correlated", "t3", "independent t3")


def null_sets(n_draws: int) -> Iterator[tuple[str, dict[str, Any], NDArray[np.float64]]]:
    """Single clouds: every kind, size and dimension in turn."""
    for seed in range(-(-n_draws // 75)):
        for draw, (kind, n, d) in enumerate(product(CLOUDS, (100, 200, 500), (2, 5, 10, 20, 50))):
            rng = np.random.default_rng([draw, seed])
            about = {"kind": kind, "n": n, "d": d, "seed": seed}
            yield f"null {kind} {n} {d} {seed}", about, cloud(kind, n, d, rng)


def designs(n_draws: int) -> Iterator[tuple[str, dict[str, Any], NDArray[np.float64]]]:
    """Gaussians with 30 to 80 objects each, unit variance, the nearest centres at a distance."""
    for seed, (distance, k, d) in product(range(n_draws), product((6.0, 4.0), (2, 3, 4, 7, 10), (2, 10))):
        rng = np.random.default_rng([int(distance), k, d, seed])
        centres = rng.normal(size=(k, d))
        between = np.linalg.norm(centres[:, None] - centres, axis=2) + np.diag(np.full(k, np.inf))
        truth = np.repeat(np.arange(k), rng.integers(30, 81, size=k))
        X = (centres * distance / between.min())[truth] + rng.normal(size=(len(truth), d))
        yield f"design {distance} {k} {d} {seed}", {"distance": distance, "K": k, "d": d, "seed": seed}, X


def public_sets(suite: Path | None, data: Path | None) -> Iterator[tuple[str, dict[str, Any], NDArray[np.float64]]]:
    """Sets of a benchmark with 2 to 10 classes of at least 30 objects, scaled as `ensemblage run` does."""
    from ensemblage.preprocessing import Preprocessor
    from ensemblage_lab.benchmark._sets import find_sets

    for one in find_sets(suite, [data] if data else []):
        try:
            sizes = [np.bincount(reference)[1:] for reference in one.references]
        except ValueError:
            continue  # a set with gaps
        true = sorted({int((counts > 0).sum()) for counts in sizes if counts[counts > 0].min() >= 30})
        if true and max(true) <= MOST_K:
            yield f"set {one.name}", {"set": one.name, "K": true}, Preprocessor().fit_transform(one.X)


def structure(X: NDArray[np.float64]) -> dict[str, Any]:
    """The test alone, as `choose_k` makes it."""
    seeds = task_seeds(0, 1 + N_REFERENCES).tolist()
    found = compare_with_cloud(X, UnimodalComponents(X), MOST_K + 1, seeds, run_to_stop).structure
    return {"p": found.p_value, "references": found.n_references}


def run_to_stop(
    function: Callable[[int], ClusterStatistics], seeds: Sequence[int], stops: Stops
) -> list[ClusterStatistics]:
    """In the order of the seeds, to the reference at which the test stops."""
    found = []
    for seed in seeds:
        found.append(function(seed))
        if stops(found[-1]):
            break
    return found


def everything(X: NDArray[np.float64]) -> dict[str, Any]:
    """The whole choice."""
    found = choose_k(X, random_state=0)
    strong = [row.k for row in found.table if row.status]
    return {
        "p": found.structure.p_value, "references": found.structure.n_references, "best": found.best,
        "votes": found.votes, "evidence": found.evidence, "named": strong, "also": found.also_stable,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["null", "designs", "sets"])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--suite", type=Path)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    parts = {
        "null": (null_sets(given.draws), structure),
        "designs": (designs(given.draws), everything),
        "sets": (public_sets(given.suite, given.data), everything),
    }
    RECORD.parent.mkdir(exist_ok=True)
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    done = {json.loads(line)["key"] for line in lines}
    sets, measure = parts[given.part]
    with threadpool_limits(1):
        for key, about, X in sets:
            if key in done:
                continue
            start = time.process_time()
            found = measure(X)
            record = {"key": key, "part": given.part, **about, **found}
            record["seconds"] = round(time.process_time() - start, 2)
            with open(RECORD, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            print(key, found, flush=True)


if __name__ == "__main__":
    main()
