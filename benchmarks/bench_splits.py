"""What `merge_unsupported` and honest markers are worth: false splits of single clouds, power, and public sets.

    python benchmarks/bench_splits.py null --draws 1000      cuts of single clouds by k-means and Ward
    python benchmarks/bench_splits.py default --draws 150    the same for the clusters of ConsensusClustering
    python benchmarks/bench_splits.py power                  two Gaussians
    python benchmarks/bench_splits.py markers                p-values of markers of cut clouds, and their power
    python benchmarks/bench_splits.py sets --data DIR --cells FILE        gene expression and blood cells

Each appends one line per data set to docs/certainty/splits.jsonl and goes on where it was stopped; `python
docs/make_splits.py` makes the tables. One thread.
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
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ensemblage import profile
from ensemblage.io import Preprocessor
from ensemblage.profiles import thin_counts
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


def p_values(found: Any) -> NDArray[np.float64]:
    return np.array([row.p_value for row in found.table])


def markers_work(draws: int) -> Iterator[Work]:
    """Markers of cuts of one cloud, and of planted differences: by the dip, of thinned counts, and naive ones."""
    for key, about, X in null_sets(draws):

        def dips(X: Any = X, seed: int = about["seed"]) -> dict[str, Any]:
            found: dict[str, list[int]] = {"honest": [0, 0], "naive": [0, 0]}
            for k in (2, 4):
                for labels in cut(X, k, seed).values():
                    made = profile(labels, X, honest=True, max_depth=0)
                    naive = np.asarray(made.to_frame()["p_value"], dtype=np.float64)
                    for name, p in (("honest", p_values(made.honest)), ("naive", naive)):
                        found[name] = [found[name][0] + int((p <= 0.05).sum()), found[name][1] + len(p)]
            return found

        yield f"dip {key}", {**about, "of": "dip"}, dips
    for seed, distance, n in product(range(20), (2, 3, 4, 6), (200, 1000)):
        rng = np.random.default_rng([seed, distance, n])
        X = rng.normal(size=(n, 10))
        X[: n // 2, 0] += distance

        def planted(X: Any = X, seed: int = seed) -> dict[str, Any]:
            made = profile(cut(X, 2, seed)["k-means"], X, honest=True, max_depth=0)
            rows = [row for row in made.honest.table if row.cluster == 0]
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
            return {"p": [round(p, 5) for p in thinned_p(counts, None, seed)[:2]]}

        yield f"counts {kind} {seed}", {"of": "counts", "kind": kind, "seed": seed}, counted
    for seed in range(40):

        def markers(seed: int = seed) -> dict[str, Any]:
            """5 of 20 genes have three times the mean in half of the objects."""
            rng = np.random.default_rng([seed, 7])
            mean = np.where((np.arange(200) < 100)[:, None] & (np.arange(20) < 5), 15.0, 5.0)
            counts = rng.negative_binomial(2, 2 / (2 + mean))
            found = {}
            for name, dispersion in (("moments", None), ("true", 0.5), ("Poisson", 0.0)):
                p = thinned_p(counts, dispersion, seed)
                found[name] = [int((p[:5] <= 0.01).sum()), int((p[5:] <= 0.01).sum())]
            return found

        yield f"counts planted {seed}", {"of": "counts planted", "seed": seed}, markers


def thinned_p(counts: NDArray[np.int64], dispersion: Any, seed: int) -> NDArray[np.float64]:
    """(m,) p-values of the variables in one cluster of 2-means of the first part, in their order."""
    first, second = thin_counts(counts, dispersion=dispersion, random_state=seed)
    labels = KMeans(2, n_init=3, random_state=seed).fit_predict(np.log1p(first))
    found = profile(labels, counts, honest=True, thinned=second, max_depth=0).honest
    p = {row.variable: row.p_value for row in found.table if row.cluster == 0}
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
    }


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
                return merged_record(AgglomerativeClustering(len(names) * factor).fit_predict(X), X, classes)

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
        honest = profile(labels[0], counts, honest=True, thinned=second / depth[:, None], max_depth=0).honest
        naive = profile(labels[1], logs[1], max_depth=0).to_frame()
        names = [str(name) for name in adata.raw.var_names]
        best = {
            int(c): [names[int(row.variable[1:])] for row in honest.markers if row.cluster == c and row.difference > 0][
                :5
            ]
            for c in range(8)
        }
        return {
            **found,
            "markers": [len(honest.markers), len(honest.table)],
            "naive": [int((naive["p_adjusted"] <= 0.05).sum()), int(naive["p_adjusted"].notna().sum())],
            "best": best,
            "types": types_of(labels[0], classes),
        }

    yield "set blood cells", {"set": "blood cells", "factor": 1}, blood


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["null", "default", "power", "markers", "sets"])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--cells", type=Path, help="scanpy's 10x_pbmc68k_reduced.h5ad")
    given = parser.parse_args()
    works = {
        "null": lambda: null_work(given.draws),
        "default": lambda: default_work(given.draws),
        "power": power_work,
        "markers": lambda: markers_work(given.draws),
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
