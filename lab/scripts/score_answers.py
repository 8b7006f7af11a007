"""Score answers to real sets with known classes: the single algorithms, the first default, and the chooser.

python lab/scripts/score_answers.py SUITE DATA TABLES PART RECORD METHOD ... appends a line of JSON per set, task,
method and seed to RECORD. PART is "development" or "sealed", which is of the tables alone; METHOD a name of `METHODS`.
What is in RECORD is not run again. With "stability" as the only METHOD: how much the labels of ConsensusClustering
agree with those of another seed, another order of the rows, a little noise, and nine tenths of the objects.
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.cluster import AgglomerativeClustering as Hierarchy
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from bench_confidence import measured

from ensemblage import ConsensusClustering, read_table
from ensemblage.generation import Genie
from ensemblage.io._features import features_of
from ensemblage.preprocessing import Preprocessor
from ensemblage_lab.benchmark._sets import copies, find_sets

MOST_OBJECTS, MOST_SECONDS, SEED = 2_500, 120, 20261123
PLANE, MANY, FEW = 3, 50, 500
"""Features of a drawing at most; features and objects of a wide set."""


class Scored(NamedTuple):
    """A set with known classes."""

    name: str
    kind: str
    X: Any
    """An array or a Table."""
    references: list[NDArray[np.int64]]
    """(n,) each, 0 for objects without a class."""

    def score(self, labels: NDArray[Any]) -> float:
        """The adjusted Rand index with the best of the references."""
        return max(adjusted_rand_score(y[y > 0], labels[y > 0]) for y in self.references)

    @property
    def k(self) -> int:
        return len(np.unique(self.references[0][self.references[0] > 0]))


def sets(suite: Path, data: Path, tables: Path, part: str) -> Iterator[Scored]:
    """The sets of one part, at most 2,500 objects of each."""
    if part == "development":
        found = find_sets(suite, [data])
        again = copies(found)
        for one in (one for one in found if one.name not in again):
            n, m = one.X.shape
            if one.battery == "data":
                yield of_table(one.name, one.path, "label", "drawings" if m <= PLANE else None)
            else:
                rows = drawn(n)
                kind = "drawings" if m <= PLANE else kind_of(n, m, 1.0)
                yield Scored(one.name, kind, one.X[rows], [y[rows] for y in one.references])
    path = Path(__file__).parents[1] / "records" / "default" / "division.json"
    division = json.loads(path.read_text(encoding="utf-8"))["kinds"]
    for name in sorted(name for parts in division.values() for name in parts[part]):
        yield of_table(f"tables/{name}", tables / f"{name}.csv.gz", "class")


def of_table(name: str, path: Path, column: str, kind: str | None = None) -> Scored:
    """A set from a file with a column of known classes."""
    table = read_table(path)
    given = [c.is_numeric for c in table.columns if c.name != column]
    kind = kind_of(len(table), len(given), float(np.mean(given))) if kind is None else kind
    table = table.take(drawn(len(table)))
    truth = features_of(table, truth_column=column, impute="median").truth
    known = np.array([label is not None for label in truth])
    y = np.zeros(len(truth), dtype=np.int64)
    y[known] = np.unique(truth[known].astype(str), return_inverse=True)[1] + 1
    return Scored(name, kind, replace(table, columns=[c for c in table.columns if c.name != column]), [y])


def kind_of(n: int, m: int, numeric: float) -> str:
    if m > MANY and n <= FEW:
        return "wide"
    return "numbers" if numeric >= 0.9 else "categories"


def drawn(n: int) -> NDArray[np.intp]:
    return np.sort(np.random.RandomState(SEED).permutation(n)[:MOST_OBJECTS])


# -- answers: from a set, the number of clusters or None, and a seed, to labels ----------------------------------------


def features(one: Scored, standardize: Any = "auto") -> NDArray[np.float64]:
    return np.asarray(Preprocessor(standardize=standardize, impute="median").fit_transform(one.X))


def single(fit: Callable[[NDArray[np.float64], int, int], NDArray[Any]], standardize: bool) -> Answer:
    """A single algorithm, which is told the number of clusters."""

    def answer(one: Scored, k: int | None, seed: int) -> NDArray[Any] | None:
        return None if k is None else fit(features(one, standardize), k, seed)

    return answer


def kmeans(X: NDArray[np.float64], k: int, seed: int) -> NDArray[Any]:
    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


def mixture(X: NDArray[np.float64], k: int, seed: int) -> NDArray[Any]:
    return fitted_mixture(X, k, seed).predict(X)


def fitted_mixture(X: NDArray[np.float64], k: int, seed: int) -> GaussianMixture:
    shape = "full" if X.shape[1] <= MANY else "diag"
    ridge = 1e-4 * float(X.var(axis=0).mean())
    return GaussianMixture(k, covariance_type=shape, n_init=3, reg_covar=max(ridge, 1e-10), random_state=seed).fit(X)


def ward(X: NDArray[np.float64], k: int, seed: int) -> NDArray[Any]:
    return Hierarchy(k).fit_predict(X)


def spectral(X: NDArray[np.float64], k: int, seed: int) -> NDArray[Any]:
    neighbours = min(10, len(X) - 1)
    return SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=neighbours, random_state=seed).fit_predict(X)


def genie(X: NDArray[np.float64], k: int, seed: int) -> NDArray[Any]:
    return Genie(k, gini_threshold=0.3).fit_predict(X)


def numbers_up_to(n: int) -> list[int]:
    return [k for k in (*range(2, 11), 12, 14, 17, 20, 24, 28, 33, 39, 47, 56) if k * k <= max(n, 25) and k < n]


def bic(one: Scored, k: int | None, seed: int) -> NDArray[Any] | None:
    if k is not None:
        return None
    X = features(one, True)
    fitted = [fitted_mixture(X, k, seed) for k in numbers_up_to(len(X))]
    return min(fitted, key=lambda model: model.bic(X)).predict(X)


def by_silhouette(one: Scored, k: int | None, seed: int) -> NDArray[Any] | None:
    if k is not None:
        return None
    X = features(one, True)
    found = [kmeans(X, k, seed) for k in numbers_up_to(len(X))]
    return max(found, key=lambda labels: silhouette_score(X, labels))


def hdbscan(one: Scored, k: int | None, seed: int) -> NDArray[Any] | None:
    if k is not None:
        return None
    X = features(one, True)
    return HDBSCAN(min_cluster_size=int(np.clip(len(X) / 50, 5, 50)), copy=True).fit_predict(X)


def ours(**options: Any) -> Answer:
    def answer(one: Scored, k: int | None, seed: int) -> ConsensusClustering:
        return ConsensusClustering(k, impute="median", random_state=seed, **options).fit(one.X)

    return answer


def what_it_says(model: ConsensusClustering, one: Scored) -> dict[str, Any]:
    """The choice of a fitted model, and how often the objects with each word of confidence are right."""
    of = measured(model, one.references[0])
    found: dict[str, Any] = {"words": of["words"]}
    if "auc" in of:
        found["auc"] = round(of["auc"]["confidence_"], 4)
    if model.chosen_ is not None:
        found |= {"rating": round(model.chosen_.rating, 4), "best": f"{model.chosen_.view} {model.chosen_.family}"}
    return found


Answer = Callable[[Scored, int | None, int], Any]
"""Labels, a fitted ConsensusClustering, or None."""
ALGORITHMS = {"kmeans": kmeans, "mixture": mixture, "ward": ward, "spectral": spectral, "genie": genie}
METHODS: dict[str, Answer] = {
    **{f"{name}, as given": single(fit, False) for name, fit in ALGORITHMS.items()},
    **{f"{name}, deviation 1": single(fit, True) for name, fit in ALGORITHMS.items()},
    "BIC": bic,
    "silhouette": by_silhouette,
    "HDBSCAN": hdbscan,
    "first default": ours(selection="consensus"),
    "learned": ours(selection="learned"),
}
SEEDLESS = ("ward", "spectral", "genie", "HDBSCAN")


def stability(one: Scored) -> dict[str, float]:
    """Adjusted Rand indices with the labels of seed 0, number of clusters given."""
    X, random = features(one, False), np.random.RandomState(SEED)
    n, deviations = len(X), X.std(axis=0)

    def labels(X: NDArray[np.float64], seed: int = 0) -> NDArray[Any]:
        return ConsensusClustering(one.k, random_state=seed).fit(X).labels_

    first, order, tenths = labels(X), random.permutation(n), np.sort(random.permutation(n)[: n - n // 10])
    noise = 1e-6 * deviations * random.standard_normal(X.shape)
    return {
        "seed": float(adjusted_rand_score(first, labels(X, 1))),
        "order": float(adjusted_rand_score(first[order], labels(X[order]))),
        "noise": float(adjusted_rand_score(first, labels(X + noise))),
        "tenths": float(adjusted_rand_score(first[tenths], labels(X[tenths]))),
    }


def record_stability(found: list[Scored], record: Path) -> None:
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    done = {json.loads(line)["set"] for line in lines}
    for one in (one for one in found if one.name not in done):
        row = {"set": one.name, "kind": one.kind, **{name: round(v, 4) for name, v in stability(one).items()}}
        with record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(one.name, flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    suite, data, tables = map(Path, sys.argv[1:4])
    part, record, chosen = sys.argv[4], Path(sys.argv[5]), sys.argv[6:]
    found = list(sets(suite, data, tables, part))
    if chosen == ["stability"]:
        record_stability(found, record)
        return
    done = set()
    if record.exists():
        lines = map(json.loads, record.read_text(encoding="utf-8").splitlines())
        done = {tuple(line[key] for key in ("set", "task", "method", "seed")) for line in lines}
    for seed, one, method in product(range(3), found, chosen):
        if seed and method.startswith(SEEDLESS):
            continue
        for task, k in (("k given", one.k), ("k unknown", None)):
            if (one.name, task, method, seed) not in done and (row := scored(one, METHODS[method], k, seed)):
                row = {"set": one.name, "kind": one.kind, "task": task, "method": method, "seed": seed, **row}
                with record.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        print(seed, one.name, one.kind, len(one.references[0]), flush=True)


def scored(one: Scored, answer: Answer, k: int | None, seed: int) -> dict[str, Any]:
    """The score of an answer, its seconds and number of clusters; nothing if the method has no answer to the task."""
    began = time.perf_counter()
    try:
        labels = answer(one, k, seed)
    except Exception as error:
        return {"ari": 0.0, "seconds": round(time.perf_counter() - began, 2), "failure": repr(error)[:200]}
    seconds = time.perf_counter() - began
    if labels is None:
        return {}
    more = {}
    if isinstance(labels, ConsensusClustering):
        labels, more = labels.labels_, what_it_says(labels, one)
    ari = one.score(labels) if seconds <= MOST_SECONDS else 0.0
    return {"ari": round(float(ari), 4), "seconds": round(seconds, 2), "clusters": len(np.unique(labels)), **more}


if __name__ == "__main__":
    main()
