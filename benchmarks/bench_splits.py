"""What `merge_unsupported` and honest markers are worth: false splits of single clouds, power, and public sets.

    python benchmarks/bench_splits.py null --draws 1000      cuts of single clouds by k-means and Ward
    python benchmarks/bench_splits.py default --draws 150    the same for the clusters of ConsensusClustering
    python benchmarks/bench_splits.py power                  two Gaussians
    python benchmarks/bench_splits.py markers                p-values of markers of cut clouds, and their power
    python benchmarks/bench_splits.py sets --data DIR        gene expression and blood cells

Each appends one line per data set to docs/certainty/splits.jsonl and goes on where it was stopped; `python
docs/make_splits.py` makes the tables. One thread.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from bench_choose_k import null_sets
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from ensemblage.io import Preprocessor
from ensemblage.stability import merge_unsupported

RECORD = Path(__file__).parents[1] / "docs" / "certainty" / "splits.jsonl"
NUMBERS = (2, 3, 4, 6)
"""Numbers of clusters that single clouds are cut into."""
Work = tuple[str, dict[str, Any], Callable[[], dict[str, Any]]]
"""A name, what it is, and what is measured."""


def cut(X: NDArray[np.float64], k: int, seed: int) -> dict[str, NDArray[np.int64]]:
    """The clusters of two methods."""
    return {
        "k-means": KMeans(k, n_init=3, random_state=seed).fit_predict(X),
        "Ward": AgglomerativeClustering(k).fit_predict(X),
    }


def left(labels: NDArray[np.int64], X: NDArray[np.float64], seed: int, null: Any = "unimodal") -> int:
    """Clusters that are left."""
    return len(merge_unsupported(labels, X, null=null, random_state=seed).groups)


def null_work(draws: int) -> Iterator[Work]:
    for key, about, X in null_sets(draws):

        def measured(X: Any = X, seed: int = about["seed"]) -> dict[str, Any]:
            found: dict[str, list[int]] = {"k-means": [], "Ward": []}
            for k in NUMBERS:
                for method, labels in cut(X, k, seed).items():
                    found[method].append(left(labels, X, seed))
            return {"left": found}

        yield key, about, measured


def default_work(draws: int) -> Iterator[Work]:
    """The clouds in a random order, so that any number of them is fair; learned weights for a fifth."""
    from ensemblage import ConsensusClustering

    clouds = list(null_sets(draws))
    for place, i in enumerate(np.random.default_rng(0).permutation(len(clouds)).tolist()):
        key, about, X = clouds[i]
        for selection in ("consensus", "learned")[: 1 + (place % 5 == 0)]:

            def measured(X: Any = X, selection: Any = selection) -> dict[str, Any]:
                model = ConsensusClustering(selection=selection, random_state=0).fit(X)
                scaled = Preprocessor().fit_transform(X)
                return {"k": model.n_clusters_, "left": left(model.labels_, np.asarray(scaled), 0)}

            yield f"default {selection} {key}", {**about, "selection": selection}, measured


def power_work() -> Iterator[Work]:
    """As the sheet has it: n = 200 and 1000, d = 2, 10 and 50, clusters of k-means and Ward for k = 2 and 4."""
    for seed, distance, n, d in product(range(10), (2, 3, 4, 6), (200, 1000), (2, 10, 50)):
        rng = np.random.default_rng([seed, distance, n, d])
        X = rng.normal(size=(n, d))
        X[: n // 2, 0] += distance
        truth = np.arange(n) < n // 2

        def measured(X: Any = X, truth: Any = truth, seed: int = seed) -> dict[str, Any]:
            found: dict[str, Any] = {"unimodal": [], "gaussian": [], "ari": []}
            for k in (2, 4):
                for labels in cut(X, k, seed).values():
                    merged = merge_unsupported(labels, X, random_state=seed)
                    found["unimodal"].append(len(merged.groups))
                    found["ari"].append(round(float(adjusted_rand_score(truth, merged.labels)), 3))
                    if seed < 3:
                        found["gaussian"].append(left(labels, X, seed, "gaussian"))
            return found

        yield f"power {distance} {n} {d} {seed}", {"distance": distance, "n": n, "d": d, "seed": seed}, measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["null", "default", "power"])
    parser.add_argument("--draws", type=int, default=1000)
    given = parser.parse_args()
    works = {"null": lambda: null_work(given.draws), "default": lambda: default_work(given.draws), "power": power_work}
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    done = {json.loads(line)["key"] for line in lines}
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for key, about, measured in works[given.part]():
            if key in done:
                continue
            start = time.process_time()
            record = {"key": key, "part": given.part, **about, **measured()}
            record["seconds"] = round(time.process_time() - start, 2)
            with open(RECORD, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            print(key, flush=True)


if __name__ == "__main__":
    main()
