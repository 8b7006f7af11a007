"""What the verdicts of `cluster_stability` and the choice of `prediction_strength` are worth on Gaussian designs.

    python lab/benchmarks/bench_stability.py [seeds]

Some three minutes for the default of 2 seeds. Writes lab/records/confidence/clusters.json, of which `python
lab/scripts/make_confidence.py` makes the tables of docs/CONFIDENCE.md.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics.cluster import contingency_matrix

from ensemblage.stability import cluster_stability, prediction_strength

RECORD = Path(__file__).parents[1] / "records" / "confidence" / "clusters.json"
N_MEMBERS = 50
N_RESAMPLES = 30
N_SPLITS = 10
LEAST = 0.9
"""Of a cluster, for it to be called a planted one, several of them or a part of one."""
METHODS = {
    "k-means": KMeans(n_init=5),
    "Ward": AgglomerativeClustering(),
}
RUNS = [
    ("k-means", "bootstrap"),
    ("k-means", "subsample"),
    *(("Ward", s) for s in ("bootstrap", "subsample", "jitter", "noise")),
]


def centres_at_random(k: int, d: int, distance: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """(k, d) normal centres, the nearest two at a distance."""
    centres = rng.normal(size=(k, d))
    between = np.linalg.norm(centres[:, None] - centres, axis=2) + np.diag(np.full(k, np.inf))
    return np.asarray(centres * distance / between.min())


def centres_alike(k: int, d: int, distance: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """(k, d) centres, all pairs at the same distance; k ≤ d."""
    return np.eye(k, d) * distance / np.sqrt(2)


LAYOUTS = {"equal distances": centres_alike, "centres at random": centres_at_random}


def designs(n_seeds: int) -> Any:
    """Names and features of the data sets, and the planted clusters."""
    for (layout, centres), k, d, distance, seed in product(
        LAYOUTS.items(), (3, 6), (2, 10), (6.0, 4.0), range(n_seeds)
    ):
        if layout == "equal distances" and d < k:
            continue
        rng = np.random.default_rng([k, d, int(distance), seed])
        truth = np.repeat(np.arange(k), N_MEMBERS)
        yield (layout, k, distance), centres(k, d, distance, rng)[truth] + rng.normal(size=(len(truth), d)), truth


def kinds_of(truth: NDArray[np.int64], labels: NDArray[np.int32]) -> list[str]:
    """What each cluster is: a planted one, several of them, a part of one, or a mixture of parts."""
    table = contingency_matrix(truth, labels)
    kinds = []
    for column in table.T:
        whole = column >= LEAST * N_MEMBERS
        pure = column[whole].sum() >= LEAST * column.sum()
        if whole.sum() == 1 and pure:
            kinds.append("planted")
        elif whole.sum() > 1 and pure:
            kinds.append("merged")
        elif column.max() >= LEAST * column.sum():
            kinds.append("part of one")
        else:
            kinds.append("mixture")
    return kinds


def verdicts(n_seeds: int) -> dict[tuple[str, ...], Counter[str]]:
    """Verdicts by method, scheme, layout, distance and kind of cluster."""
    found: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for (layout, k, distance), X, truth in designs(n_seeds):
        for (method, scheme), asked in product(RUNS, (k - 1, k, k + 1)):
            estimator = METHODS[method].set_params(n_clusters=asked)
            stability = cluster_stability(estimator, X, scheme=scheme, n_resamples=N_RESAMPLES, random_state=0)
            for kind, row in zip(kinds_of(truth, stability.labels), stability.table, strict=True):
                found[method, scheme, layout, f"{distance:g}", kind][row.verdict] += 1
    return found


def strengths(n_seeds: int) -> list[dict[str, Any]]:
    """For each layout and distance: how often the planted number is the one that is named, or is supported."""
    found: dict[tuple[str, float], Counter[str]] = defaultdict(Counter)
    for (layout, k, distance), X, _ in designs(n_seeds):
        strength = prediction_strength(KMeans(n_init=10), X, range(2, 9), n_splits=N_SPLITS, random_state=0)
        counted = {
            "sets": 1,
            "best": strength.best == k,
            "supported": k in strength.supported,
            "none": not strength.supported,
        }
        found[layout, distance].update({name: int(value) for name, value in counted.items()})
    return [{"layout": layout, "distance": distance, **counts} for (layout, distance), counts in found.items()]


def cloud(n_seeds: int) -> list[dict[str, Any]]:
    """Verdicts of the parts of one Gaussian: there is nothing to find."""
    found = []
    for d, k in product((2, 10), (2, 3, 5)):
        words: Counter[str] = Counter()
        for seed in range(n_seeds):
            X = np.random.default_rng([d, k, seed]).normal(size=(200, d)) * np.where(np.arange(d) == 0, 3.0, 1.0)
            stability = cluster_stability(KMeans(k, n_init=5), X, n_resamples=N_RESAMPLES, random_state=0)
            words.update(row.verdict for row in stability.table)
        found.append({"features": d, "k": k, **words})
    return found


def main(n_seeds: int = 2) -> None:
    start = time.process_time()
    names = ("method", "scheme", "layout", "distance", "kind")
    rows = [{**dict(zip(names, key, strict=True)), **counts} for key, counts in verdicts(n_seeds).items()]
    record = {
        "seeds": n_seeds,
        "members": N_MEMBERS,
        "resamples": N_RESAMPLES,
        "splits": N_SPLITS,
        "verdicts": rows,
        "strengths": strengths(n_seeds),
        "cloud": cloud(n_seeds),
    }
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{time.process_time() - start:.0f} s of one core")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
