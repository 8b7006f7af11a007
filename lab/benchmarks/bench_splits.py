"""What `merge_unsupported` and selective markers are worth: false splits of single clouds, power, and public sets.

    python lab/benchmarks/bench_splits.py null --draws 1000      cuts of single clouds by k-means and Ward
    python lab/benchmarks/bench_splits.py default --draws 1000   the same for the clusters of ConsensusClustering
    python lab/benchmarks/bench_splits.py power                  two Gaussians
    python lab/benchmarks/bench_splits.py default-power          the same for the clusters of ConsensusClustering
    python lab/benchmarks/bench_splits.py known                  two Gaussians whose clusters and line are known
    python lab/benchmarks/bench_splits.py markers                p-values of markers of cut clouds, and their power
    python lab/benchmarks/bench_splits.py limits                 values at a limit and round numbers, by themselves
    python lab/benchmarks/bench_splits.py wide                   more features than objects
    python lab/benchmarks/bench_splits.py speed                  time of merging
    python lab/benchmarks/bench_splits.py sets --data DIR --cells FILE        gene expression and blood cells

Each appends one line per data set to lab/records/confidence/splits.jsonl and goes on where it was stopped; `python
lab/scripts/make_splits.py` makes the tables. One thread.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from bench_choose_k import null_sets
from numpy.typing import NDArray
from scipy.stats import norm, poisson
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ensemblage import profile
from ensemblage.preprocessing import Preprocessor, thin_counts
from ensemblage.profiles._effects import benjamini_hochberg
from ensemblage.stability import merge_unsupported

RECORD = Path(__file__).parents[1] / "records" / "confidence" / "splits.jsonl"
NUMBERS = (2, 3, 4, 6)
"""Numbers of clusters that single clouds are cut into."""
FACTORS, DISPERSIONS = (1.5, 2, 3), {"moments": None, "true": 0.5, "Poisson": 0.0}
"""How many times the mean of other objects planted counts have; by name, what thinning is given."""
VALUES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "as drawn": lambda X: X,
    "one decimal": lambda X: X.round(1),
    "whole numbers": lambda X: X.round(),
    "five answers": lambda X: np.clip(X.round(), -2, 2),
    "5 % at a limit": lambda X: np.maximum(X, np.quantile(X, 0.05, axis=0)),
    "20 % at a limit": lambda X: np.maximum(X, np.quantile(X, 0.2, axis=0)),
    "counts of mean 2": lambda X: poisson.ppf(norm.cdf(X), 2),
    "logarithms of counts": lambda X: np.log1p(poisson.ppf(norm.cdf(X), 2)),
    "a third at tens": lambda X: np.where(X % 0.03 < 0.01, (20 * X).round(-1), (20 * X).round()),
}
"""What is made of normal values, by name."""
Values = NDArray[np.float64]
CLOUDS: dict[str, Callable[[np.random.Generator, int], Values]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "40 whole numbers": lambda rng, n: whole_numbers(rng.normal(size=n)),
}
LIMITS: dict[str, Callable[[Values], Values]] = {
    "5 % at a floor": lambda x: np.maximum(x, np.quantile(x, 0.05)),
    "20 % at a floor": lambda x: np.maximum(x, np.quantile(x, 0.2)),
    "50 % at a floor": lambda x: np.maximum(x, np.quantile(x, 0.5)),
    "80 % at a floor": lambda x: np.maximum(x, np.quantile(x, 0.8)),
    "20 % at a ceiling": lambda x: np.minimum(x, np.quantile(x, 0.8)),
    "10 % at both": lambda x: np.clip(x, np.quantile(x, 0.1), np.quantile(x, 0.9)),
    "20 % replaced": lambda x: np.where(x < np.quantile(x, 0.2), np.quantile(x, 0.2) - 0.1 * np.ptp(x), x),
}
"""What is made of the values of a cloud, by name; *replaced*: what lies below the limit is a value further down."""
OTHERS: dict[str, Callable[[np.random.Generator, int], Values]] = {
    "logarithms of counts": lambda rng, n: np.log1p(rng.negative_binomial(2, 0.5, size=n)),
    "logarithms of rare counts": lambda rng, n: np.log1p(rng.negative_binomial(2, 0.8, size=n)),
    "logarithms of large counts": lambda rng, n: np.log1p(rng.negative_binomial(2, 0.2, size=n)),
    "a third at tens": lambda rng, n: at_tens(rng, (20 * rng.normal(size=n)).round()),
    "a third at tens, others fine": lambda rng, n: at_tens(rng, 20 * rng.normal(size=n)),
    "10 % at one value inside": lambda rng, n: with_default(rng, rng.normal(size=n)),
}
"""Other values that many objects share, by name."""
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


def whole_numbers(x: Values) -> Values:
    """The values in 40 steps."""
    return (x / (np.ptp(x) / 40)).round()


def at_tens(rng: np.random.Generator, x: Values) -> Values:
    return np.where(rng.uniform(size=len(x)) < 1 / 3, x.round(-1), x)


def with_default(rng: np.random.Generator, x: Values) -> Values:
    return np.where(rng.uniform(size=len(x)) < 0.1, np.quantile(x, 0.9), x)


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
    """The clusters of the default, one cloud of each kind in turn, so that any number of them is fair."""
    from ensemblage import ConsensusClustering

    clouds = list(null_sets(draws))
    shapes = list(product((100, 200, 500), (2, 5, 10, 20, 50)))
    place = dict(zip(shapes, np.random.default_rng(0).permutation(len(shapes)).tolist(), strict=True))
    for key, about, X in sorted(clouds, key=lambda one: (one[1]["seed"], place[one[1]["n"], one[1]["d"]])):

        def measured(X: Any = X) -> dict[str, Any]:
            model = ConsensusClustering(random_state=0).fit(X)
            scaled = np.asarray(Preprocessor().fit_transform(X))
            return {"k": model.n_clusters_, "left": left(model.labels_, scaled, 0)}

        yield f"default {key}", about, measured


def two_clusters(seed: int, distance: int, n: int, d: int) -> tuple[Any, Any]:
    """(n, d) two Gaussians, so many deviations apart in the first feature, and which objects are of the first."""
    X = np.random.default_rng([seed, distance, n, d]).normal(size=(n, d))
    X[: n // 2, 0] += distance
    return X, np.arange(n) < n // 2


def power_work() -> Iterator[Work]:
    """As the sheet has it: n = 200 and 1000, d = 2, 10 and 50, clusters of k-means and Ward for k = 2 and 4."""
    for seed, distance, n, d in product(range(10), (2, 3, 4, 6), (200, 1000), (2, 10, 50)):
        X, truth = two_clusters(seed, distance, n, d)

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


def default_power_work() -> Iterator[Work]:
    """The same for the clusters of ConsensusClustering."""
    from ensemblage import ConsensusClustering

    for seed, distance, n, d in product(range(1), (2, 3, 4, 6), (200, 1000), (2, 10, 50)):
        X, truth = two_clusters(seed, distance, n, d)

        def measured(X: Any = X, truth: Any = truth, seed: int = seed) -> dict[str, Any]:
            model = ConsensusClustering(random_state=0).fit(X)
            merged = merge_unsupported(model.labels_, np.asarray(Preprocessor().fit_transform(X)), random_state=seed)
            ari = [round(float(adjusted_rand_score(truth, found)), 3) for found in (model.labels_, merged.labels)]
            return {"k": model.n_clusters_, "left": len(merged.groups), "ari": ari}

        about = {"distance": distance, "n": n, "d": d, "seed": seed}
        yield f"default power {distance} {n} {d} {seed}", about, measured


def known_work() -> Iterator[Work]:
    """How often the same test finds two Gaussians where clusters and line are known: 500 draws of one feature."""
    for distance, n in product((2, 3, 4, 6), (200, 1000)):

        def measured(distance: int = distance, n: int = n) -> dict[str, Any]:
            rng, truth, found = np.random.default_rng([distance, n]), np.arange(n) < n // 2, 0
            for seed in range(500):
                X = rng.normal(size=(n, 1))
                X[truth] += distance
                found += left(truth.astype(int), X, seed) > 1
            return {"found": [found, 500]}

        yield f"known {distance} {n}", {"distance": distance, "n": n}, measured


def p_values(found: Any) -> NDArray[np.float64]:
    return np.array([row.p_value for row in found.table])


def markers_work(draws: int) -> Iterator[Work]:
    """Markers of cuts of one cloud, and of planted differences: by the dip, of thinned counts, and naive ones."""
    for key, about, X in null_sets(draws):

        def dips(X: Any = X, seed: int = about["seed"]) -> dict[str, Any]:
            found: dict[str, list[int]] = {"honest": [0, 0], "naive": [0, 0]}
            for k in (2, 4):
                for labels in cut(X, k, seed).values():
                    made = profile(labels, X, selective=True, max_depth=0)
                    naive = np.asarray(made.to_frame()["p_value"], dtype=np.float64)
                    for name, p in (("honest", p_values(made.selective)), ("naive", naive)):
                        found[name] = [found[name][0] + int((p <= 0.05).sum()), found[name][1] + len(p)]
            return found

        yield f"dip {key}", {**about, "of": "dip"}, dips
    for seed, n, kind in product(range(20), (200, 1000), VALUES):

        def of_values(seed: int = seed, n: int = n, kind: str = kind) -> dict[str, Any]:
            X = VALUES[kind](np.random.default_rng([seed, n]).normal(size=(n, 5)))
            scaled = StandardScaler().fit_transform(X)
            made = profile(cut(scaled, 3, seed)["k-means"], X, selective=True, max_depth=0)
            p, some = p_values(made.selective), {d: scaled[:, :d] for d in (1, 2, 5)}
            return {
                "honest": [int((p <= 0.05).sum()), len(p)],
                "left_out": len(made.selective.left_out),
                "left": {d: left(cut(Z, 3, seed)["k-means"], Z, seed) for d, Z in some.items()},
            }

        yield f"values {kind} {n} {seed}", {"of": "values", "kind": kind, "n": n, "seed": seed}, of_values
    for seed, distance, n in product(range(20), (2, 3, 4, 6), (200, 1000)):
        rng = np.random.default_rng([seed, distance, n])
        X = rng.normal(size=(n, 10))
        X[: n // 2, 0] += distance

        def planted(X: Any = X, seed: int = seed) -> dict[str, Any]:
            made = profile(cut(X, 2, seed)["k-means"], X, selective=True, max_depth=0)
            rows = [row for row in made.selective.table if row.cluster == 0]
            naive = {row.variable: row.p_adjusted for row in made._rows(0)}
            return {
                "honest": [
                    sum((row.variable == "x0") == own and row.p_adjusted <= 0.05 for row in rows) for own in (1, 0)
                ],
                "naive": [sum((name == "x0") == own and p <= 0.05 for name, p in naive.items()) for own in (1, 0)],
            }

        yield f"planted {distance} {n} {seed}", {"of": "planted", "distance": distance, "n": n, "seed": seed}, planted
    for seed, kind in product(range(1000), ("Poisson", "negative binomial")):

        def counted(seed: int = seed, kind: str = kind) -> dict[str, Any]:
            rng = np.random.default_rng([seed, kind == "Poisson"])
            size = (200, 20)
            counts = rng.poisson(5, size) if kind == "Poisson" else rng.negative_binomial(2, 2 / 7, size)
            p = {"p": thinned_p(counts, None, seed), "naive": naive_p(counts, seed)}
            return {name: [round(one, 5) for one in values[:2].tolist()] for name, values in p.items()}

        yield f"counts {kind} {seed}", {"of": "counts", "kind": kind, "seed": seed}, counted
    for seed, factor in product(range(40), FACTORS):

        def markers(seed: int = seed, factor: float = factor) -> dict[str, Any]:
            """5 of 20 genes have so many times the mean in half of the objects."""
            rng = np.random.default_rng([seed, 7])
            mean = np.where((np.arange(200) < 100)[:, None] & (np.arange(20) < 5), 5.0 * factor, 5.0)
            counts = rng.negative_binomial(2, 2 / (2 + mean))
            p = {name: thinned_p(counts, d, seed) for name, d in DISPERSIONS.items()} | {"naive": naive_p(counts, seed)}
            are_found = {name: benjamini_hochberg(values[:, None])[:, 0] <= 0.05 for name, values in p.items()}
            return {name: [int(found[:5].sum()), int(found[5:].sum())] for name, found in are_found.items()}

        yield f"counts planted {factor} {seed}", {"of": "counts planted", "factor": factor, "seed": seed}, markers


SETTINGS = ("1 feature", "of 2", "of 5")
"""A limited feature alone; with one of a third of its deviation; with four like it."""
DRAWS, SEED = 50, 2000
"""Clouds of each kind and size with limits, and the first seed; docs/confidence/limits.md used others before."""


def limits_work() -> Iterator[Work]:
    """Cuts of single clouds with values at a limit, and two clusters with them."""
    kinds = {f"{cloud}, {limit}": (cloud, limit) for cloud, limit in product(CLOUDS, LIMITS)} | dict.fromkeys(OTHERS)
    for (kind, of), n in product(kinds.items(), (50, 100, 200, 1000)):

        def values(rng: np.random.Generator, n: int, kind: str = kind, of: Any = of) -> Values:
            return OTHERS[kind](rng, n) if of is None else LIMITS[of[1]](CLOUDS[of[0]](rng, n))

        def cuts(values: Any = values, n: int = n) -> dict[str, Any]:
            wrong, markers = dict.fromkeys(SETTINGS, 0), np.zeros(3, dtype=int)
            for seed in range(SEED, SEED + DRAWS):
                rng = np.random.default_rng([seed, n])
                x = values(rng, n)
                scaled = StandardScaler().fit_transform(x[:, None])
                sets = (scaled, np.c_[scaled, rng.normal(size=n) / 3], np.c_[scaled, rng.normal(size=(n, 4))])
                for name, X in zip(SETTINGS, sets, strict=True):
                    labels = KMeans(3, n_init=1, random_state=seed).fit_predict(X)
                    wrong[name] += left(labels, X, seed) > 1
                    if name == SETTINGS[0]:
                        found = profile(labels, x[:, None], selective=True, max_depth=0).selective
                        markers += [(p_values(found) <= 0.05).sum(), len(found.table), len(found.left_out)]
            return {"wrong": wrong, "markers": markers.tolist(), "draws": DRAWS}

        yield f"limits {kind} {n}", {"of": "null", "kind": kind, "limit": of and of[1], "n": n}, cuts
    for limit, distance, n in product(["none", *LIMITS, "all of one cluster"], (3, 4, 6), (200, 1000)):

        def two(limit: str = limit, distance: int = distance, n: int = n) -> dict[str, Any]:
            found = np.zeros(2, dtype=int)
            for seed in range(SEED, SEED + DRAWS):
                truth = np.arange(n) < n // 2
                x = np.random.default_rng([seed, distance, n]).normal(size=n) + distance * truth
                x = np.where(truth, x, 0) if limit == "all of one cluster" else LIMITS.get(limit, np.asarray)(x)
                labels = KMeans(2, n_init=3, random_state=seed).fit_predict(x[:, None])
                marked = profile(labels, x[:, None], selective=True, max_depth=0).selective
                found += [left(labels, x[:, None], seed) > 1, len(marked.markers) > 0]
            return {"found": found.tolist(), "draws": DRAWS}

        about = {"of": "two", "limit": limit, "distance": distance, "n": n}
        yield f"limits two {limit} {distance} {n}", about, two


def wide_work() -> Iterator[Work]:
    """Two Gaussians in as many features as gene expression has, of as few objects; and single clouds."""
    for n, distance in product((60, 100, 200), (0, 4, 6, 8, 10, 14)):

        def cuts(n: int = n, distance: int = distance) -> dict[str, Any]:
            found: dict[str, int] = dict.fromkeys(("known", "Ward", "known, 10 components", "Ward, 10 components"), 0)
            truth, apart = (np.arange(n) < n // 2).astype(int), []
            for seed in range(30):
                X = np.random.default_rng([seed, distance, n]).normal(size=(n, 1000))
                X[truth == 1, 0] += distance
                for name, Z in (("", X), (", 10 components", PCA(10, random_state=0).fit_transform(X))):
                    for method, labels in (("known", truth), ("Ward", AgglomerativeClustering(2).fit_predict(Z))):
                        found[method + name] += left(labels, Z, seed) > 1
                apart.append(distance_on_line(truth, X, seed))
            return {"found": found, "draws": 30, "apart": round(float(np.mean(apart)), 2)}

        yield f"wide {n} {distance}", {"n": n, "d": 1000, "distance": distance}, cuts


def distance_on_line(is_b: NDArray[np.int64], X: NDArray[np.float64], seed: int) -> float:
    """Of two clusters along the line between their means of one half, in deviations of the other half; both ways."""
    half, found = np.random.default_rng(seed).random(len(X)) < 0.5, []
    for of in (half, ~half):
        towards = X[of & (is_b == 1)].mean(axis=0) - X[of & (is_b == 0)].mean(axis=0)
        a, b = (X[~of & (is_b == c)] @ towards for c in (0, 1))
        found.append((b.mean() - a.mean()) / np.sqrt((a.var() * len(a) + b.var() * len(b)) / (len(a) + len(b))))
    return float(np.mean(found))


def thinned_p(counts: NDArray[np.int64], dispersion: Any, seed: int) -> NDArray[np.float64]:
    """(m,) p-values of the variables in one cluster of 2-means of the first part, in their order."""
    first, second = thin_counts(counts, dispersion=dispersion, random_state=seed)
    labels = KMeans(2, n_init=3, random_state=seed).fit_predict(np.log1p(first))
    found = profile(labels, counts, selective=True, thinned=second, max_depth=0).selective
    p = {row.variable: row.p_value for row in found.table if row.cluster == 0}
    return np.array([p[f"x{j}"] for j in range(counts.shape[1])])


def naive_p(counts: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """(m,) p-values of rank sums in one cluster of 2-means of all counts, in the order of the variables."""
    logs = np.log1p(counts)
    found = profile(KMeans(2, n_init=3, random_state=seed).fit_predict(logs), logs, max_depth=0)
    p = {row.variable: row.p_value for row in found._rows(0)}
    return np.array([p[f"x{j}"] for j in range(counts.shape[1])])


def types_of(labels: Any, classes: Any) -> list[str]:
    """For each cluster how many objects of each class it has."""
    return [
        ", ".join(f"{count} {name}" for name, count in Counter(np.asarray(classes)[labels == c].tolist()).most_common())
        for c in np.unique(labels[labels >= 0])
    ]


def merged_record(labels: Any, X: Any, classes: Any) -> dict[str, Any]:
    """Before and after, in the terms of the set."""
    merged = merge_unsupported(labels, X, random_state=0)
    return {
        "k": len(merged.support.table) + 1,
        "left": len(merged.groups),
        "ari": [round(float(adjusted_rand_score(classes, found)), 3) for found in (labels, merged.labels)],
        "before": types_of(labels, classes),
        "after": types_of(merged.labels, classes),
        "groups": [np.searchsorted(np.unique(labels), group).tolist() for group in merged.groups],
    }


def known_record(classes: Any, X: NDArray[np.float64]) -> dict[str, Any]:
    """The same for the known types: those that are left, p of the first split and how far apart its sides are."""
    merged = merge_unsupported(np.array(classes), X, random_state=0)
    first = merged.support.table[0]
    among = np.isin(classes, [*first.left, *first.right])
    is_b = np.isin(np.array(classes)[among], first.right).astype(int)
    components = PCA(10, random_state=0).fit_transform(X)
    return {
        "n": len(X),
        "known": [len(set(classes)), len(merged.groups)],
        "known_components": len(merge_unsupported(np.array(classes), components, random_state=0).groups),
        "p": round(first.p_value, 5),
        "apart": round(distance_on_line(is_b, X[among], 0), 2),
    }


def markers_record(labels: Any, X: NDArray[np.float64]) -> dict[str, Any]:
    """Comparisons of a variable that show a difference and all of them, by the dip and by rank sums."""
    made = profile(labels, X, selective=True, max_depth=0)
    naive = np.asarray(made.to_frame()["p_adjusted"], dtype=np.float64)
    return {
        "markers": [len(made.selective.markers), len(made.selective.table)],
        "naive": [int((naive <= 0.05).sum()), int((~np.isnan(naive)).sum())],
    }


def speed_work() -> Iterator[Work]:
    """What is paid for 10 Gaussians cut into more clusters, in processor seconds, the labels given."""
    for n, d, k in ((10_000, 20, 15), (100_000, 20, 15), (100_000, 50, 15), (100_000, 20, 100), (1_000_000, 20, 15)):

        def timed(n: int = n, d: int = d, k: int = k) -> dict[str, Any]:
            rng = np.random.default_rng(0)
            X = rng.normal(size=(10, d))[rng.integers(10, size=n)] * 4 + rng.normal(size=(n, d))
            labels = KMeans(k, n_init=1, random_state=0).fit(X[:20_000]).predict(X)
            found: dict[str, Any] = {}
            for null in ("unimodal", "gaussian"):
                left(labels[:500], X[:500], 0, null)  # compiled
                start = time.process_time()
                found[null] = [left(labels, X, 0, null), round(time.process_time() - start, 2)]
            return found

        yield f"speed {n} {d} {k}", {"n": n, "d": d, "k": k}, timed


def sets_work(data: Path, cells: Path) -> Iterator[Work]:
    """Ward's clusters of gene expression, as many as there are classes and twice as many; scanpy's of blood cells."""
    with open(data / "MANIFEST.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if "cancer_benchmark" in row["path"]]
    for row in rows:
        if not (data / f"{row['name']}.csv.gz").exists():
            continue
        for factor in (1, 2):

            def expression(row: Any = row, factor: int = factor) -> dict[str, Any]:
                table = np.genfromtxt(data / f"{row['name']}.csv.gz", delimiter=",", skip_header=1)
                X, y = table[:, :-1], table[:, -1].astype(int)
                names = dict(part.strip().split("=", 1) for part in row["classes"].split(";"))
                classes = [names[str(c)].rsplit(":", 1)[0] for c in y]
                if X.min() > 0:  # intensities; the others are logarithms of ratios
                    X = np.log2(X)
                X = StandardScaler().fit_transform(X)
                labels = AgglomerativeClustering(len(names) * factor).fit_predict(X)
                return merged_record(labels, X, classes) | markers_record(labels, X) | known_record(classes, X)

            yield f"set {row['name']} {factor}", {"set": row["name"], "factor": factor}, expression

    def blood() -> dict[str, Any]:
        import anndata

        adata = anndata.read_h5ad(cells)
        classes = adata.obs["bulk_labels"].astype(str).to_numpy()
        louvain = adata.obs["louvain"].astype(int).to_numpy()
        found = merged_record(louvain, adata.obsm["X_pca"][:, :30], classes)
        # The counts of each cell: its least value is that of a count of 1.
        values = np.expm1(adata.raw.X.toarray())
        counts = np.rint(values / np.where(values > 0, values, np.inf).min(axis=1)[:, None]).astype(int)
        first, second = thin_counts(counts, random_state=0)
        logs = [np.log1p(part / np.maximum(part.sum(axis=1), 1)[:, None] * 1000) for part in (first, counts)]
        scores = [PCA(20, random_state=0).fit_transform(part) for part in logs]
        labels = [KMeans(8, n_init=10, random_state=0).fit_predict(part) for part in scores]
        depth = second.sum(axis=1) / second.sum(axis=1).mean()
        selective = profile(labels[0], counts, selective=True, thinned=second / depth[:, None], max_depth=0).selective
        naive = profile(labels[1], logs[1], max_depth=0).to_frame()
        names = [str(name) for name in adata.raw.var_names]
        best = {
            int(c): [
                names[int(row.variable[1:])] for row in selective.markers if row.cluster == c and row.difference > 0
            ][:5]
            for c in range(8)
        }
        return {
            **found,
            "markers": [len(selective.markers), len(selective.table)],
            "naive": [int((naive["p_adjusted"] <= 0.05).sum()), int(naive["p_adjusted"].notna().sum())],
            "best": best,
            "types": types_of(labels[0], classes),
        }

    yield "set blood cells", {"set": "blood cells", "factor": 1}, blood


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "part",
        choices=["null", "default", "power", "default-power", "known", "markers", "limits", "wide", "speed", "sets"],
    )
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--cells", type=Path, help="scanpy's 10x_pbmc68k_reduced.h5ad")
    given = parser.parse_args()
    works = {
        "null": lambda: null_work(given.draws),
        "default": lambda: default_work(given.draws),
        "power": power_work,
        "default-power": default_power_work,
        "known": known_work,
        "markers": lambda: markers_work(given.draws),
        "limits": limits_work,
        "wide": wide_work,
        "speed": speed_work,
        "sets": lambda: sets_work(given.data, given.cells),
    }
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
