"""What the default is worth: `ConsensusClustering` beside plain clusterers, told the number of classes and not told it.

    python benchmarks/bench_default.py product --suite DIR --data DIR
    python benchmarks/bench_default.py search --suite DIR --data DIR --most 1500
    python benchmarks/bench_default.py words --suite DIR --most 1500

"product" appends one line per data set to docs/default/product.jsonl, "search" the candidates of docs/DEFAULT.md on
sets of up to so many objects to docs/default/search.jsonl, "words" how often core, border and undecided objects are
right; all go on where they were stopped. `python docs/make_default.py` makes the tables. A data set is clustered by one
thread.
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
from bench_certainty import measured
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from ensemblage import ConsensusClustering, Ensemble, Genie, Preprocessor, make_consensus
from ensemblage.benchmark._entries import BASELINES, RULES
from ensemblage.benchmark._scores import score
from ensemblage.benchmark._sets import BenchmarkSet, copies, find_sets
from ensemblage.generation import DiversePartitions

FOLDER = Path(__file__).parents[1] / "docs" / "default"
MOST_TREES = 10_000
"""Objects up to which Ward's and average linkage are run."""
MOST_FOUND = 8_200
"""Objects up to which numbers of clusters are looked for by mixtures, too."""
KNOWN = ("k-means", "mixture", "ward", "spectral")
FOUND = ("mixture by BIC", "k-means by silhouette", "hdbscan")
SCALINGS = {"given": False, "deviation 1": True}


def features(one: BenchmarkSet, standardize: bool | str) -> NDArray[np.float64]:
    """The features as they are clustered; one number divides those that keep their scales."""
    X = Preprocessor(standardize=standardize).fit_transform(one.X)
    return np.asarray(X if standardize else (X - X.mean(axis=0)) / X.std())


def timed(cluster: Callable[[], Any]) -> tuple[NDArray[np.int64] | None, float]:
    """Labels, None where it failed, and the seconds of the processor."""
    start = time.process_time()
    try:
        labels = np.asarray(cluster(), dtype=np.int64)
    except Exception as error:
        print("failed:", repr(error)[:200])
        return None, time.process_time() - start
    return labels, time.process_time() - start


def of_product(one: BenchmarkSet) -> dict[str, Any]:
    """Every answer with its ARI and seconds, and how much the default differs by seed and objects."""
    found: dict[str, Any] = {"ari": {}, "seconds": {}, "k": {}}
    n, k = len(one.X), one.k

    def put(name: str, cluster: Callable[[], Any]) -> NDArray[np.int64] | None:
        labels, seconds = timed(cluster)
        found["ari"][name] = 0.0 if labels is None else score(one.references, labels)["ari"]
        found["seconds"][name] = round(seconds, 2)
        found["k"][name] = 0 if labels is None else len(np.unique(labels[labels >= 0]))
        return labels

    def model(n_clusters: int | None, seed: int = 0, quality: Any = "default") -> ConsensusClustering:
        return ConsensusClustering(n_clusters, quality=quality, n_jobs=1, random_state=seed)

    first = put("default", lambda: model(k).fit_predict(one.X))
    for quality in ("fast", "best"):
        put(f"{quality}", lambda quality=quality: model(k, quality=quality).fit_predict(one.X))
    put("default, k found", lambda: model(None).fit_predict(one.X))
    rows = np.sort(np.random.default_rng(0).permutation(n)[: n - n // 10])
    other, part = timed(lambda: model(k, 1).fit_predict(one.X))[0], timed(lambda: model(k).fit_predict(one.X[rows]))[0]
    if first is not None:
        found["again"] = 0.0 if other is None else adjusted_rand_score(first, other)
        found["left out"] = 0.0 if part is None else adjusted_rand_score(first[rows], part)
    for scaling, standardize in SCALINGS.items():
        X = features(one, standardize)
        for name in KNOWN:
            if name != "ward" or n <= MOST_TREES:
                put(f"{name}, {scaling}", lambda name=name, X=X: BASELINES[name](X, k, 0))
        put(f"genie, {scaling}", lambda X=X: Genie(k).fit_predict(X))
        for name in FOUND:
            if n <= MOST_FOUND or name == "hdbscan":
                put(f"{name}, {scaling}", lambda name=name, X=X: RULES[name](X, k, 0))
    return found


FAMILIES = ("k-means", "mixture", "diagonal mixture", "ward", "average", "spectral 10", "spectral 5", "genie .3")
SETS_OF_FAMILIES = (
    *((family,) for family in FAMILIES),
    ("mixture", "spectral 10", "genie .3"),
    ("mixture", "spectral 5", "genie .3"),
    ("mixture", "spectral 10", "spectral 5", "genie .3"),
    ("k-means", "mixture", "spectral 10", "genie .3"),
    ("k-means", "mixture", "spectral 10", "spectral 5", "genie .3"),
    ("mixture", "ward", "spectral 5", "genie .3"),
    ("mixture", "average", "spectral 10", "genie .3"),
    ("k-means", "mixture", "ward", "average", "spectral 10"),
    FAMILIES,
)
COMBINERS = ("km", "eac-average", "negmm-wat-kmeans", "hbgf", "mcla", "ecc", "eac-single")


def partition(family: str, X: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """(n,) labels of one family."""
    if family == "k-means":
        return np.asarray(KMeans(k, n_init=10, random_state=0).fit_predict(X))
    if family.endswith("mixture"):
        kind = "full" if family == "mixture" and X.shape[1] <= 50 else "diag"
        return np.asarray(GaussianMixture(k, covariance_type=kind, reg_covar=1e-4, random_state=0).fit_predict(X))
    if family in ("ward", "average"):
        return np.asarray(BASELINES[family](X, k, 0))
    made = DiversePartitions([k], families=[family.split()[0]], random_state=0).fit_transform(X)
    return np.asarray(made[:, int(family == "spectral 5")], dtype=np.int64)


def numbers_near(k: int) -> dict[str, list[int]]:
    """Numbers of clusters of the members, by the name of the grid."""
    around = sorted({max(k - 1, 2), k, k + 1})
    return {"k": [k], "k ± 1": around, "k to 2k": sorted({k, -(-5 * k // 4), -(-3 * k // 2), 2 * k})}


def of_search(one: BenchmarkSet) -> dict[str, Any]:
    """ARI of every scaling, set of families, grid and combiner, told the number of classes."""
    found: dict[str, float] = {}
    grids = numbers_near(one.k)
    members: dict[tuple[str, str, int], NDArray[np.int64]] = {}
    for scaling, standardize in SCALINGS.items():
        X = features(one, standardize)
        for family, k in product(FAMILIES, sorted({k for grid in grids.values() for k in grid})):
            labels, _ = timed(lambda family=family, X=X, k=k: partition(family, X, k))
            if labels is not None:
                members[scaling, family, k] = labels
    for scaling, families, (grid, ks) in product((*SCALINGS, "both"), SETS_OF_FAMILIES, grids.items()):
        used = [name for name in SCALINGS if scaling in (name, "both")]
        chosen = [members[key] for key in product(used, families, ks) if key in members]
        for combiner in COMBINERS if chosen else ():
            labels, _ = timed(lambda combiner=combiner, chosen=chosen: combined(combiner, chosen, one.k))
            name = "; ".join([scaling, " + ".join(families), grid, combiner])
            found[name] = 0.0 if labels is None else round(score(one.references, labels)["ari"], 4)
    return {"ari": found}


def combined(combiner: str, members: list[NDArray[np.int64]], k: int) -> Any:
    """(n,) labels of the consensus."""
    estimator = make_consensus(combiner, k)
    known = estimator.get_params()
    settings = {name: value for name, value in (("random_state", 0), ("n_jobs", 1)) if name in known}
    return estimator.set_params(**settings).fit(Ensemble(np.column_stack(members))).labels_


def of_words(one: BenchmarkSet) -> dict[str, Any]:
    """Objects with each word and how many of them are right, told the number of classes; areas under the curve."""
    model = ConsensusClustering(one.k, n_jobs=1, random_state=0).fit(one.X)
    found = measured(model, one.references[0])
    return {name: found[name] for name in ("words", "auc") if name in found}


PARTS = {"product": of_product, "search": of_search, "words": of_words}


def spread(one: BenchmarkSet) -> float:
    """The ratio of deviations by which "auto" decides."""
    deviations = np.sort(one.X.std(axis=0)[np.ptp(one.X, axis=0) > 0])
    cut = (len(deviations) - 1) // 10
    return float(deviations[-1 - cut] / deviations[cut])


def sets_of(suite: Path | None, data: Path | None, most: int) -> Iterator[BenchmarkSet]:
    """The smallest first; sets that stand twice once."""
    sets = find_sets(suite, data)
    twice = copies(sets)
    chosen = [one for one in sets if one.name not in twice and len(one.X) <= most]
    yield from sorted(chosen, key=lambda one: one.X.shape[0] * min(one.X.shape[1], 50))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--suite", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--most", type=int, default=20_000)
    given = parser.parse_args()
    record = FOLDER / f"{given.part}.jsonl"
    FOLDER.mkdir(exist_ok=True)
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    done = {json.loads(line)["set"] for line in lines}
    measure = PARTS[given.part]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in sets_of(given.suite, given.data, given.most):
            if one.name in done:
                continue
            n, d = one.X.shape
            about = {"set": one.name, "n": n, "d": d, "K": one.k, "spread": round(spread(one), 2)}
            with open(record, "a", encoding="utf-8") as file:
                file.write(json.dumps(about | measure(one)) + "\n")
            print(one.name, flush=True)


if __name__ == "__main__":
    main()
