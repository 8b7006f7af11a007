"""What the confidence of objects is worth: does it tell those that are right from those that are wrong?

    python lab/benchmarks/bench_confidence.py --suite DIR

Sets of a suite with at most 1,500 objects; two kinds of ensembles, two seeds, four methods at the true number of
clusters. An object is right if its cluster is the one that is matched with its class. Writes one line per run to
lab/records/confidence/objects.jsonl and goes on where it was stopped; `python
lab/scripts/make_confidence.py` makes the tables.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import AgglomerativeClustering, Birch, BisectingKMeans, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ensemblage import Ensemble, make_consensus
from ensemblage.generation import RandomKPartitions
from ensemblage.metrics import verdicts
from ensemblage_lab.benchmark._sets import find_sets

RECORD = Path(__file__).parents[1] / "records" / "confidence" / "objects.jsonl"
MOST_OBJECTS = 1_500
METHODS = ("km", "negmm-wat-kmeans", "hbgf", "acv")
SEEDS = (0, 1)
WORDS = ("core", "border", "undecided")


def random_k(X: NDArray[np.float64], k: int, seed: int) -> NDArray[np.int64]:
    return np.asarray(RandomKPartitions(50, random_state=seed).fit_transform(X))


def diverse(X: NDArray[np.float64], k: int, seed: int) -> NDArray[np.int64]:
    """13 members at the true number of clusters."""
    neighbours = min(10, len(X) - 1)
    members = [
        *(KMeans(k, n_init=1, random_state=4 * seed + i) for i in range(4)),
        *(GaussianMixture(k, reg_covar=1e-4, random_state=3 * seed + i) for i in range(3)),
        *(AgglomerativeClustering(k, linkage=linkage) for linkage in ("ward", "average", "complete")),
        SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=neighbours, random_state=seed),
        Birch(n_clusters=k, threshold=0.1 * X.std()),
        BisectingKMeans(k, random_state=seed),
    ]
    return np.column_stack([member.fit_predict(X) for member in members])


ENSEMBLES = {"random-k": random_k, "diverse": diverse}


def right(classes: NDArray[np.int64], labels: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each object's cluster is the one that is matched with its class."""
    table = contingency_matrix(classes, labels)
    rows, columns = linear_sum_assignment(table, maximize=True)
    class_of = dict(zip(np.unique(labels)[columns].tolist(), np.unique(classes)[rows].tolist(), strict=True))
    return np.array([class_of.get(z) == c for z, c in zip(labels.tolist(), classes.tolist(), strict=True)])


def measured(model: Any, classes: NDArray[np.int64]) -> dict[str, Any]:
    """Scores of a fitted consensus on the objects with a class."""
    known = (classes > 0) & (model.labels_ >= 0)
    good = right(classes[known], model.labels_[known])
    words = verdicts(model.confidence_[known])
    found: dict[str, Any] = {
        "n": int(known.sum()),
        "accuracy": float(good.mean()),
        "ari": float(adjusted_rand_score(classes[known], model.labels_[known])),
        "mean": {name: float(np.nanmean(getattr(model, name)[known])) for name in ("confidence_", "cohesion_")},
        "words": {word: [int((words == word).sum()), int(good[words == word].sum())] for word in WORDS},
    }
    if 0 < good.sum() < len(good):
        auc = {name: roc_auc_score(good, getattr(model, name)[known]) for name in ("confidence_", "cohesion_")}
        found["auc"] = {name: float(value) for name, value in auc.items()}
    return found


def runs(suite: Path) -> Iterator[tuple[str, Any]]:
    """A name for each run, and a function that makes it."""
    for one in find_sets(suite):
        if len(one.X) > MOST_OBJECTS:
            continue
        X = StandardScaler().fit_transform(one.X) if one.battery == "uci" else np.asarray(one.X)
        classes = one.references[0]
        k = int((np.bincount(classes)[1:] > 0).sum())
        for kind, seed in ((kind, seed) for kind in ENSEMBLES for seed in SEEDS):
            made: list[Ensemble] = []

            def run(method: str, X: Any = X, k: int = k, kind: str = kind, seed: int = seed, made: Any = made) -> Any:
                if not made:
                    made.append(Ensemble(ENSEMBLES[kind](X, k, seed)))
                model = make_consensus(method, k)
                if "random_state" in model.get_params():
                    model.set_params(random_state=seed)
                return model.fit(made[0])

            for method in METHODS:
                about = {"set": one.name, "ensemble": kind, "seed": seed, "method": method}
                yield f"{one.name} {kind} {seed} {method}", (about, classes, lambda run=run, m=method: run(m))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path, required=True)
    given = parser.parse_args()
    RECORD.parent.mkdir(exist_ok=True)
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    done = {json.loads(line)["key"] for line in lines}
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for key, (about, classes, fitted) in runs(given.suite):
            if key in done:
                continue
            record = {"key": key, **about, **measured(fitted(), classes)}
            with open(RECORD, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            print(key, record.get("auc"), flush=True)


if __name__ == "__main__":
    main()
