"""What the rest of the public interface gives: `python tests/golden_wide.py` writes golden_wide.json.gz.

Generators, clustering of features, numbers of clusters, tables, saved models, draws, stability, profiles, commands.
Write the file from the commit before a refactoring; `tests/test_golden_wide.py` compares after it, and ``--names``
prints the keys that differ. The file is not in the repository: another processor breaks ties of floating-point numbers
in another way. `tests/golden.py` does the same for methods, rankers and metrics, and says what may be missing.
"""

import csv
import dataclasses
import gzip
import hashlib
import json
import math
import os
import re
import sys
import tempfile
import warnings
from contextlib import chdir
from importlib.metadata import version
from pathlib import Path
from time import process_time

import golden
import numpy as np
import pytest
from limits import limit
from pyarrow import parquet
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine, make_blobs, make_moons
from strategies import few_starts

PATH = Path(__file__).with_name("golden_wide.json.gz")
LIBRARIES = ("pyarrow", "pandas", "polars", *golden.LIBRARIES)
"""Whose versions the results may depend on."""
LARGE = 400
"""Of larger arrays a digest is kept; of floats two sums, of which one depends on their order, and their extremes."""


def plain(value):
    """Anything that a public function returns, as JSON has it: arrays, frames, records."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > LARGE:
        weighted = np.nansum(value.ravel() * np.cos(np.arange(value.size)))
        numbers = [*(f(value) for f in (np.nansum, np.nanmin, np.nanmax)), weighted]
        return {"shape": list(value.shape), "missing": int(np.isnan(value).sum()), "numbers": plain(numbers)}
    if isinstance(value, np.ndarray) and value.size > LARGE:
        return {"shape": list(value.shape), "digest": hashlib.sha256(repr(value.tolist()).encode()).hexdigest()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if hasattr(value, "toarray"):
        return plain(value.toarray())
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if dataclasses.is_dataclass(value) and not hasattr(value, "fit"):
        fields = [field.name for field in dataclasses.fields(value) if not field.name.startswith("_")]
        return {name: plain(getattr(value, name)) for name in fields}
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool | None) else type(value).__name__


def differences(found, expected, place=""):
    """Where two results differ: integers and text at all, floats by more than 1e-9 of their size."""
    if isinstance(found, float | int) and isinstance(expected, float) and not isinstance(found, bool):
        return [] if math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12) else [f"{place}: {expected} → {found}"]
    if isinstance(found, dict) and isinstance(expected, dict):
        keys = sorted(found.keys() | expected.keys())
        pairs = [(key, found.get(key, "nothing"), expected.get(key, "nothing")) for key in keys]
        return [line for key, a, b in pairs for line in differences(a, b, f"{place}/{key}")]
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = enumerate(zip(found, expected, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, f"{place}/{i}")]
    same = type(found) is type(expected) and found == expected
    return [] if same else [f"{place}: {str(expected)[:200]} → {str(found)[:200]}"]


# ---- What is clustered ----

WINE = load_wine().data
BLOBS = make_blobs([40, 30, 20], 3, cluster_std=0.8, random_state=1)[0]
MOONS = make_moons(120, noise=0.06, random_state=2)[0]
OUTLIER = np.concatenate([BLOBS, [[500.0] * 3]])
WIDE = make_blobs([15, 15, 10], 300, cluster_std=6, random_state=3)[0]


def frame(n=90):
    """A table of numbers, categories, gaps and ids."""
    import pandas as pd

    random = np.random.default_rng(7)
    kind = random.integers(0, 3, n)
    columns = {
        "patient": [f"p{i:03}" for i in range(n)],
        "age": 30 + 15 * kind + random.normal(0, 3, n).round(1),
        "dose": np.where(random.random(n) < 0.1, np.nan, kind * 2.5 + random.normal(0, 0.5, n)).round(2),
        "colour": np.array(["red", "green", "blue"])[(kind + (random.random(n) < 0.15)) % 3],
        "size": np.array(["S", "M", "L"])[np.clip(kind + (random.random(n) < 0.1), 0, 2)],
    }
    return pd.DataFrame(columns)


# ---- The parts ----


def generators():
    """Labels of every generator, and of new rows."""
    from ensemblage import generation as g

    random = np.random.default_rng(5)
    common = {"random_state": 0}
    made = {
        "random-k": g.RandomKPartitions(6, **common),
        "random-k cosine": g.RandomKPartitions(6, k_min=3, k_max=8, metric="cosine", **common),
        "random-k of some": g.RandomKPartitions(6, k_min=3, k_max=5, k_cap=4, sample_size=30, **common),
        "random-k other": g.RandomKPartitions(4, k_min=3, k_max=4, estimator=AgglomerativeClustering(), **common),
        "subspace": g.SubspacePartitions(6, **common),
        "subspace of some": g.SubspacePartitions(6, feature_fraction=0.7, sample_size=30, **common),
        "projection": g.ProjectionPartitions(6, **common),
        "projection 2": g.ProjectionPartitions(6, n_components=2, sample_size=30, **common),
        "resampled": g.ResampledPartitions(6, **common),
        "mixed": g.MixedPartitions(n_clusters=3, **common),
        "mixed sqrt": g.MixedPartitions(min_samples=4, eps_quantile=0.7, bandwidth_quantile=0.3, **common),
        "mixed given": g.MixedPartitions(None, estimators=[DBSCAN(eps=1.5), KMeans(4, n_init=1)], **common),
        "greedy": g.GreedyPartitions(3, n_candidates=7, **common),
        "greedy last": g.GreedyPartitions(3, n_candidates=5, augment="last", standardize=True, max_iter=5, **common),
        "greedy none": g.GreedyPartitions(3, n_candidates=5, augment=None, partition_weight=3.0, **common),
        "diverse": g.DiversePartitions([2, 3, 4], **common),
        "diverse others": g.DiversePartitions(3, families=("genie", "mixture"), standardized_too=True, **common),
        "scaled": g.ScaledPartitions([2, 3], **common),
        "bootstrap": g.ResampledPartitions(6, n_clusters=3, bootstrap=True, feature_fraction=0.5, **common),
        "genie": g.GeniePartitions(6),
        "genie gini": g.GeniePartitions(4, k_min=3, k_max=5, gini_thresholds=(0.2, 0.8)),
        "uspec": g.USpecPartitions(4, k_min=2, k_max=5, n_representatives=30, **common),
        "louvain": g.LeidenPartitions(4, n_neighbors=8, algorithm="louvain", **common),
        "louvain cpm": g.LeidenPartitions(3, n_neighbors=8, algorithm="louvain", objective="cpm", levels=1, **common),
        "leiden": g.LeidenPartitions(3, n_neighbors=8, resolutions=(0.5, 1.0), **common),
        "one uspec": g.USpec(3, n_representatives=30, n_neighbors=4, **common),
        "one genie": g.Genie(3, gini_threshold=0.2),
    }
    sets = {"wine": (WINE - WINE.mean(0)) / WINE.std(0), "blobs": BLOBS, "wide": WIDE}
    for name, X in sets.items():
        new = X[:20] + random.normal(0, 0.01, X[:20].shape)
        for key, generator in made.items():
            fit = generator.fit_transform if hasattr(generator, "fit_transform") else generator.fit_predict
            found = {"labels": golden.tried(fit, X)}
            for later in ("transform", "predict"):
                if hasattr(generator, later):
                    found[later] = golden.tried(getattr(generator, later), new)
            yield f"{name}/{key}", found
    for pool in ("kmeans", "agglomerative", "dbscan", "all"):
        found = g.make_pool(BLOBS, pool, random_state=0)
        yield f"pool/{pool}", {"codes": found.ensemble.codes, "names": found.ensemble.names, "dropped": found.dropped}
    yield "pool/k", g.make_pool(BLOBS, "all", n_clusters=3, random_state=0).ensemble.codes


def clustering():
    """`ConsensusClustering` of features: k given and unknown, categories, wide data, other plans."""
    from ensemblage import ConsensusClustering, generation

    density = generation.MixedPartitions(None, estimators=[DBSCAN(eps=eps) for eps in (1.0, 2.0, 3.0)])
    given = {
        "blobs k": (BLOBS, {"n_clusters": 3}),
        "blobs": (BLOBS, {}),
        "moons k": (MOONS, {"n_clusters": 2}),
        "wine": (WINE, {}),
        "wide k": (WIDE, {"n_clusters": 3}),
        "table k": (frame().drop(columns="patient").fillna(2.5), {"n_clusters": 3}),
        "fast": (BLOBS, {"n_clusters": 3, "quality": "fast"}),
        "best": (BLOBS, {"n_clusters": 3, "quality": "best"}),
        "standardised": (WINE, {"n_clusters": 3, "standardize": True}),
        "as given": (WINE, {"n_clusters": 3, "standardize": False}),
        "acv": (BLOBS, {"consensus": "acv"}),
        "subspace km": (WINE, {"n_clusters": 3, "consensus": "km", "generator": generation.SubspacePartitions(9)}),
        "gaps": (np.where(WINE.mean(0) * 1.8 < WINE, np.nan, WINE), {"n_clusters": 3, "impute": "median"}),
        "one": (np.random.default_rng(0).normal(size=(60, 3)), {"allow_one": True}),
        "noise": (OUTLIER, {"n_clusters": 3, "noise": "vote", "generator": density, "standardize": False}),
        "noise missing": (OUTLIER, {"n_clusters": 3, "generator": density, "standardize": False}),
    }
    for selection in ("consensus", "learned"):
        for name, (X, options) in given.items():
            model = ConsensusClustering(random_state=0, selection=selection, **options).fit(X)
            found = results_of(model) | {"codes": model.ensemble_.codes, "new": golden.tried(model.predict, X[:10])}
            found |= {"objective": getattr(model.consensus_, "objective_", None), "consensus": repr(model.consensus_)}
            yield f"{selection}/{name}", found | {"assign": golden.tried(model.assign, X[:10])}
        weight = np.arange(90) % 3
        model = ConsensusClustering(3, random_state=0, selection=selection).fit(BLOBS, sample_weight=weight)
        yield f"{selection}/sample weight", results_of(model)
        links = {"must_link": [[0, 1], [1, 2]], "cannot_link": [[0, 5]]}
        model = ConsensusClustering(3, random_state=0, selection=selection)
        yield f"{selection}/links", golden.tried(lambda m=model, links=links: results_of(m.fit(BLOBS, **links)))


def results_of(model):
    """What every fitted consensus has."""
    names = ("labels_", "confidence_", "cohesion_", "runner_up_", "n_clusters_")
    return {name: getattr(model, name) for name in names}


def blocks():
    """Clustering of features on disk and on workers, which are too many to be held."""
    from ensemblage import ConsensusClustering
    from ensemblage.preprocessing import FeatureBlocks

    X = np.concatenate([make_blobs(3_000, 3, centers=3, random_state=i)[0] * [1, 40, 1] for i in range(2)])
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        limit(patch, "objects drawn of more", 600)
        limit(patch, "objects compared by the trees", 300)
        np.save(Path(folder) / "X.npy", X)
        model = ConsensusClustering(3, random_state=0).fit(FeatureBlocks.open(Path(folder) / "X.npy"))
        yield "disk", golden.learned(model) | {"new": model.predict(X[:50])}
        if "distributed" not in golden.missing_packages():
            with golden.workers() as client:
                model = ConsensusClustering(3, random_state=0).fit(
                    FeatureBlocks.from_dask(np.array_split(X, 4), client=client)
                )
                yield "dask", golden.learned(model) | {"new": model.predict(X[:50])}


def above_20000():
    """The plan for many objects."""
    from ensemblage import ConsensusClustering

    X = make_blobs(21_000, 4, centers=5, random_state=0)[0]
    yield "k", results_of(ConsensusClustering(5, random_state=0).fit(X))


def numbers_of_clusters():
    """`choose_k` and its kin."""
    from ensemblage import choose_k
    from ensemblage.choices._monti_choice import choose_k_monti
    from ensemblage.stability import prediction_strength

    for name, X in {"blobs": BLOBS, "moons": MOONS, "wide": WIDE}.items():
        yield f"choose_k {name}", choose_k(X, range(2, 6), n_references=19, n_partitions=10, random_state=0)
    yield "monti", choose_k_monti(BLOBS, range(2, 5), n_partitions=10, n_references=5, random_state=0)
    yield "strength", prediction_strength(KMeans(2, n_init=2, random_state=0), BLOBS, range(2, 5), random_state=0)


def choices():
    """Resolutions, methods side by side, the plan, summaries of draws, support of splits."""
    from inside import default_plan

    from ensemblage import ConsensusClustering
    from ensemblage.consensus import compare_methods
    from ensemblage.n_clusters import choose_resolution
    from ensemblage.posterior import read_draws, summarize_draws
    from ensemblage.stability import merge_unsupported, partition_stability, split_support

    options = {"algorithm": "louvain", "n_resamples": 4, "random_state": 0}
    yield "choose_resolution", choose_resolution(BLOBS, (0.5, 1.0), **options)
    yield "compare_methods", compare_methods(golden.HARD, 3)
    for name, X in {"blobs": BLOBS, "wide": WIDE, "moons": MOONS}.items():
        yield f"default_plan {name}", str(default_plan(X))
    draws = read_draws([golden.HARD.T, golden.HARD.T[::-1]], draws_axis="rows")
    for loss in ("vi", "binder"):
        yield f"summarize_draws {loss}", of_draws(summarize_draws(draws, loss=loss, random_state=0))
    truth = np.repeat([0, 1, 2, 3], [20, 20, 30, 20])
    for null in ("unimodal", "gaussian"):
        yield f"split_support {null}", split_support(truth, BLOBS, null=null, random_state=0)
        yield f"merge_unsupported {null}", merge_unsupported(truth, BLOBS, null=null, random_state=0)
    yield "partition_stability", partition_stability(golden.HARD[:, 0], golden.HARD)
    model = ConsensusClustering(3, random_state=0).fit(BLOBS)
    yield "partition_stability of a model", partition_stability(model)


def of_draws(summary):
    fields = ("ball", "agreement", "probabilities", "next_clusters", "next_probabilities")
    return {name: getattr(summary, name) for name in fields} | {"estimate": golden.learned(summary.estimate)}


def stability():
    """Clusters under resampling, and descriptions of them."""
    from ensemblage import ConsensusClustering, profile
    from ensemblage.stability import cluster_stability

    for scheme in ("bootstrap", "subsample", "jitter", "noise"):
        options = {"scheme": scheme, "n_resamples": 8, "random_state": 0}
        yield scheme, cluster_stability(KMeans(3, n_init=2, random_state=0), BLOBS, **options)
    table = frame().drop(columns="patient")
    labels = ConsensusClustering(3, selection="consensus", random_state=0).fit(table.fillna(2.5)).labels_
    yield "profile", profile(labels, table)


def saved():
    """Every method that was saved and loaded: its labels, and those of new rows."""
    from ensemblage import METHODS, load

    with tempfile.TemporaryDirectory() as folder:
        for kind in ("missing", "names", "both weights", "soft"):
            X, parameters, given, new = golden.all_kinds()[kind]
            for name in METHODS:
                model = few_starts(golden.made(name, 3, **parameters))
                if "learned" in golden.fitted(model, X, **given):
                    path = Path(folder) / "model.npz"
                    model.save(path)
                    again = load(path)
                    found = results_of(again) | {"parameters": again.get_params(), "assign": again.assign(new)}
                    predicted = {"predict": again.predict(new)} if hasattr(again, "predict") else {}
                    yield f"{kind}/{name}", found | predicted


def tables():
    """Every table of the corpus: roles, notes, features; label tables as coded columns."""
    sys.path.append(str(Path(__file__).with_name("io")))
    import test_tables_corpus as corpus

    from ensemblage import Ensemble, read_table

    texts = {f"column/{name}": case[0] for name, case in corpus.ONE_COLUMN.items()}
    texts |= {f"refused/{name}": case[0] for name, case in corpus.REFUSED.items()}
    for name, (cells, _) in corpus.ROLES.items():
        rows = [("who", name, "y"), *zip(["ann", "bob", "cid", "dan"], cells, [0.5, 1.5, 2.25, 9], strict=True)]
        texts[f"role/{name}"] = "".join(",".join(map(str, row)) + "\n" for row in rows)
    for name, text in texts.items():
        try:
            table = read_table(text.encode(), name="t.csv")
            found = {"roles": table.roles, "notes": table.notes, "columns": [table[n].cells() for n in table.names]}
            features = table.features()
            yield name, found | {"X": features.X, "names": features.names, "ids": features.ids}
        except ValueError as error:
            yield name, str(error)
    with tempfile.TemporaryDirectory() as folder:
        for name, (cells, _) in corpus.LABELS.items():
            path = Path(folder) / "labels.csv"
            with open(path, "w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([["", "p"], *zip(["r1", "r2", "r3"], cells, strict=True)])
            ensemble = Ensemble.load(path)
            yield f"labels/{name}", {"codes": ensemble.codes, "labels": ensemble.categories, "names": ensemble.names}


COMMANDS = [
    "run wine.csv -k 3 --stability 2 -o given",
    "run wine.csv -k 3 --stability 2 --selection consensus -o former",
    "run table.csv --k-range 2:5 --stability 2 --impute median -o found",
    "run wine.csv --generator subspace --partitions 8 --method km -k 3 --stability 0 -o other",
    "generate wine.csv --partitions 5 --generator random-k -o made.csv",
    "combine made.csv -k 3 -o combined",
    "combine made.csv --method acv -o combined-acv",
    "combine made.csv -k 3 --method eac-average --must-link must.csv --cannot-link cannot.csv -o linked",
    "combine labels.npy -k 3 --method km --memory 1GB -o stored",
    "rank made.csv -o ranked.csv",
    "rank made.csv --by silhouette --features wine.csv -o ranked-silhouette.csv",
    "assign given wine.csv -o assigned.csv",
    "compare given/labels.csv combined/labels.csv",
    "communities edges.csv --partitions 5 -o communities.csv",
    "sweep wine.csv --algorithm louvain --resolutions 0.5,1 --resamples 4 -o swept",
    "summarize draws.csv --draws-axis rows --no-header -o summarized",
    "look table.csv",
    "methods",
    "methods km",
    "cite km",
]
VOLATILE = re.compile(r"^(seconds|versions|ensemblage|input|created|figures|files)$")
"""Keys of JSON that hold times, versions or pictures."""


def commands():
    """What each command prints and writes."""
    from click.testing import CliRunner

    from ensemblage.cli import main

    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        (Path("wine.csv")).write_bytes((PATH.parent / "files" / "wine_45.csv").read_bytes())
        frame().to_csv("table.csv", index=False)
        edges = [(i, j) for i in range(24) for j in range(i) if i // 8 == j // 8 or (i * j) % 23 == 1]
        Path("edges.csv").write_text("from,to\n" + "".join(f"n{i},n{j}\n" for i, j in edges), encoding="utf-8")
        wines = [line.split(",")[0] for line in Path("wine.csv").read_text(encoding="utf-8").splitlines()[1:]]
        for name, pairs in {"must": [(0, 1), (1, 2)], "cannot": [(0, 40)]}.items():
            lines = [f"{wines[i]},{wines[j]}\n" for i, j in pairs]
            Path(f"{name}.csv").write_text("".join(lines), encoding="utf-8")
        np.save("labels.npy", golden.HARD)
        np.savetxt("draws.csv", golden.HARD.T[:, :40], fmt="%d", delimiter=",")
        for command in COMMANDS:
            before = {path: os.stat(path).st_mtime_ns for path in Path().rglob("*") if path.is_file()}
            result = CliRunner().invoke(main, command.split(), catch_exceptions=False)
            assert result.exit_code == 0, f"{command}: {result.output}"
            found = {"out": without_times(result.stdout)}
            for path in sorted(Path().rglob("*")):
                if path.is_file() and before.get(path) != os.stat(path).st_mtime_ns:
                    found[path.as_posix()] = content(path)
            yield command, found


def without_times(text):
    return re.sub(r"(?m)^seconds .*$|\d+(\.\d+)? s\b", "…", text)


def content(path):
    """Of a file: JSON without times and versions, CSV and Parquet as they are, else only that it is there."""
    if path.suffix == ".csv":
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        return [[number(cell) for cell in row] for row in rows]
    if path.suffix == ".parquet":
        return parquet.read_table(path).to_pydict()
    if path.suffix != ".json":
        return None
    return steady(json.loads(path.read_text(encoding="utf-8")))


def number(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


def steady(value):
    if isinstance(value, dict):
        return {key: steady(one) for key, one in value.items() if not VOLATILE.match(key)}
    return [steady(one) for one in value] if isinstance(value, list) else value


PARTS = {
    "generators": generators,
    "clustering": clustering,
    "blocks": blocks,
    "above_20000": above_20000,
    "numbers_of_clusters": numbers_of_clusters,
    "choices": choices,
    "stability": stability,
    "saved": saved,
    "tables": tables,
    "commands": commands,
}


def results(part):
    """Key → plain value of one part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return json.loads(json.dumps({f"{part}/{key}": plain(value) for key, value in PARTS[part]()}))


def versions():
    return {name: version(name) for name in LIBRARIES if name not in golden.missing_packages()}


def known():
    """What the file holds: commit, versions and results."""
    return json.loads(gzip.decompress(PATH.read_bytes()))


def main(only_names=False):
    made = {"commit": golden.state_of_library(), "versions": versions()}
    found = {}
    for part in PARTS:
        begun = process_time()
        found |= results(part)
        sys.stdout.write(f"{part:20}{process_time() - begun:6.0f} s\n")
    before = known()["results"] if PATH.exists() else found
    for key in sorted(found.keys() | before.keys()):
        for line in differences(found.get(key, "nothing"), before.get(key, "nothing"), key)[:3]:
            sys.stdout.write(line + "\n")
    if not only_names:
        text = json.dumps({**made, "results": found}, ensure_ascii=False, sort_keys=True, indent=0)
        PATH.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(only_names="--names" in sys.argv)
