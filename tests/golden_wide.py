"""What the rest of the public interface gives: `python tests/golden_wide.py` writes golden_wide.json.gz.

Generators, clustering of features, numbers of clusters, tables, saved models, stability, profiles, commands. Write the
file before a refactoring; `tests/test_golden_wide.py` compares after it, and ``--names`` prints the keys that differ.
The file is not in the repository: another processor breaks ties of floating-point numbers in another way.
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

import numpy as np
from sklearn.datasets import load_wine, make_blobs, make_moons
from strategies import planted_labels

PATH = Path(__file__).with_name("golden_wide.json.gz")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow", "pandas", "pymetis", "mtkahypar", "graspologic-native")
"""Whose versions the results may depend on."""
LARGE = 400
"""Arrays of more values are kept as a digest; of floats their sum and their extremes, too."""


def plain(value):
    """Anything that a public function returns, as JSON has it: arrays, frames, records."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > LARGE:
        return {"shape": list(value.shape), "numbers": [plain(f(value)) for f in (np.nansum, np.nanmin, np.nanmax)]}
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
    if dataclasses.is_dataclass(value):
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
        "subspace": g.SubspacePartitions(6, **common),
        "projection": g.ProjectionPartitions(6, **common),
        "resampled": g.ResampledPartitions(6, **common),
        "mixed": g.MixedPartitions(n_clusters=3, **common),
        "greedy": g.GreedyPartitions(3, n_candidates=7, **common),
        "diverse": g.DiversePartitions([2, 3, 4], **common),
        "bootstrap": g.ResampledPartitions(6, n_clusters=3, bootstrap=True, feature_fraction=0.5, **common),
        "genie": g.GeniePartitions(6),
        "uspec": g.USpecPartitions(4, k_min=2, k_max=5, n_representatives=30, **common),
        "louvain": g.LeidenPartitions(4, n_neighbors=8, algorithm="louvain", **common),
    }
    sets = {"wine": (WINE - WINE.mean(0)) / WINE.std(0), "blobs": BLOBS, "wide": WIDE}
    for name, X in sets.items():
        new = X[:20] + random.normal(0, 0.01, X[:20].shape)
        for key, generator in made.items():
            yield f"{name}/{key}", {"labels": generator.fit_transform(X), "new": generator.transform(new)}
    for pool in ("kmeans", "agglomerative", "dbscan", "all"):
        found = g.make_pool(BLOBS, pool, random_state=0)
        yield f"pool/{pool}", {"codes": found.ensemble.codes, "names": found.ensemble.names, "dropped": found.dropped}
    yield "pool/k", g.make_pool(BLOBS, "all", n_clusters=3, random_state=0).ensemble.codes


def clustering():
    """`ConsensusClustering` of features: k given and unknown, categories, wide data, other plans."""
    from ensemblage import ConsensusClustering, generation

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
    }
    for name, (X, options) in given.items():
        model = ConsensusClustering(random_state=0, selection="consensus", **options).fit(X)
        yield name, results_of(model) | {"codes": model.ensemble_.codes, "new": model.predict(X[:10])}


def results_of(model):
    """What every fitted consensus has."""
    names = ("labels_", "confidence_", "cohesion_", "runner_up_", "n_clusters_")
    return {name: getattr(model, name) for name in names}


def above_20000():
    """The plan for many objects."""
    from ensemblage import ConsensusClustering

    X = make_blobs(21_000, 4, centers=5, random_state=0)[0]
    yield "k", results_of(ConsensusClustering(5, random_state=0).fit(X))


def numbers_of_clusters():
    """`choose_k` and its kin."""
    from sklearn.cluster import KMeans

    from ensemblage.answer import choose_k, choose_k_monti
    from ensemblage.stability import prediction_strength

    for name, X in {"blobs": BLOBS, "moons": MOONS, "wide": WIDE}.items():
        yield f"choose_k {name}", choose_k(X, range(2, 6), n_references=19, n_partitions=10, random_state=0)
    yield "monti", choose_k_monti(BLOBS, range(2, 5), n_partitions=10, n_references=5, random_state=0)
    yield "strength", prediction_strength(KMeans(2, n_init=2, random_state=0), BLOBS, range(2, 5), random_state=0)


def stability():
    """Clusters under resampling, and descriptions of them."""
    from sklearn.cluster import KMeans

    from ensemblage import ConsensusClustering, profile
    from ensemblage.stability import cluster_stability

    for scheme in ("bootstrap", "subsample", "jitter", "noise"):
        options = {"scheme": scheme, "n_resamples": 8, "random_state": 0}
        yield scheme, cluster_stability(KMeans(3, n_init=2, random_state=0), BLOBS, **options)
    table = frame().drop(columns="patient")
    labels = ConsensusClustering(3, selection="consensus", random_state=0).fit(table.fillna(2.5)).labels_
    yield "profile", profile(labels, table)


def methods():
    """Labels of new rows, a saved and loaded model, for every method; soft members; links."""
    from golden import NEEDS

    from ensemblage import METHODS, SoftEnsemble, load, make_consensus

    train, new = planted_labels(80, 6, 3, noise=0.25, missing=0.1, seed=3)[0], planted_labels(20, 6, 3, seed=4)[0]
    soft = [np.random.default_rng(i).dirichlet(np.ones(3) * 0.3, 60) for i in range(4)]
    for name in (*METHODS, *METHODS.aliases):  # the file has them under every name
        if name in NEEDS:
            continue
        model = make_consensus(name, 3)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        model.fit(train)
        found = {"predict": model.predict(new)} if hasattr(model, "predict") else {}
        with tempfile.TemporaryDirectory() as folder:
            try:
                model.save(Path(folder) / "m.npz")
                found["saved"] = results_of(load(Path(folder) / "m.npz"))
            except (ValueError, TypeError, AttributeError) as error:
                found["saved"] = str(error)
        for key, given, links in [
            ("soft", SoftEnsemble(soft), {}),
            ("links", train, {"must_link": [[0, 1], [2, 3]], "cannot_link": [[0, 4]]}),
            ("weights", train, {"sample_weight": np.arange(80) % 3 + 1.0}),
        ]:
            try:
                found[key] = results_of(model.fit(given, **links))
            except (ValueError, TypeError) as error:
                found[key] = str(error)
        yield name, found


def tables():
    """Every table of the corpus: roles, notes, features; label tables as coded columns."""
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
    "run table.csv --k-range 2:5 --stability 2 --impute median -o found",
    "run wine.csv --generator subspace --partitions 8 --method km -k 3 --stability 0 -o other",
    "generate wine.csv --partitions 5 --generator random-k -o made.csv",
    "combine made.csv -k 3 -o combined",
    "rank made.csv -o ranked.csv",
    "assign given wine.csv -o assigned.csv",
    "compare given/labels.csv combined/labels.csv",
    "communities edges.csv --partitions 5 -o communities.csv",
    "sweep wine.csv --algorithm louvain --resolutions 0.5,1 --resamples 4 -o swept",
    "cite km",
]
NOT_COMPARED = ("commands/methods", "commands/methods km")
"""The file has the list of methods when each alias was a line of it: words, not results."""
VOLATILE = re.compile(r"^(seconds|versions|ensemblage|input|created|figures|files|plan|chosen)$")
"""Keys of JSON that hold times, versions or pictures; plan and choice, which the file was written without."""
SCHEMA_OF_THE_FILE = 6
UNSAID = " --selection consensus"
"""Of every run: the file has what the first default gave, when there was no option."""
NAMES_OF_THE_FILE = {"normalize": "normalized"}
"""Parameters that had another name when the file was written."""


def commands():
    """What each command prints and writes."""
    from click.testing import CliRunner

    from ensemblage.cli import main

    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        (Path("wine.csv")).write_bytes((PATH.parent / "files" / "wine_45.csv").read_bytes())
        frame().to_csv("table.csv", index=False)
        edges = [(i, j) for i in range(24) for j in range(i) if i // 8 == j // 8 or (i * j) % 23 == 1]
        Path("edges.csv").write_text("from,to\n" + "".join(f"n{i},n{j}\n" for i, j in edges), encoding="utf-8")
        for command in COMMANDS:
            before = {path: os.stat(path).st_mtime_ns for path in Path().rglob("*") if path.is_file()}
            said = f"{command}{UNSAID}" if command.startswith("run ") else command
            result = CliRunner().invoke(main, said.split(), catch_exceptions=False)
            found = {"exit": result.exit_code, "out": without_times(result.stdout)}
            for path in sorted(Path().rglob("*")):
                if path.is_file() and before.get(path) != os.stat(path).st_mtime_ns:
                    found[path.as_posix()] = content(path)
            yield command, found


def without_times(text):
    return re.sub(r"(?m)^seconds .*$|\d+(\.\d+)? s\b", "…", text)


def content(path):
    """Of a file: JSON without times and versions, CSV as it is, else only that it is there."""
    if path.suffix == ".csv":
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        return [[number(cell) for cell in row] for row in rows]
    if path.suffix != ".json":
        return None
    found = steady(json.loads(path.read_text(encoding="utf-8").replace(UNSAID, "")))
    return found | {"schema": SCHEMA_OF_THE_FILE} if "schema" in found else found


def number(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


def steady(value):
    if isinstance(value, dict):
        return {NAMES_OF_THE_FILE.get(key, key): steady(one) for key, one in value.items() if not VOLATILE.match(key)}
    return [steady(one) for one in value] if isinstance(value, list) else value


PARTS = {
    part.__name__: part
    for part in (generators, clustering, above_20000, numbers_of_clusters, stability, methods, tables, commands)
}


def results(part):
    """Key → plain value of one part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return json.loads(json.dumps({f"{part}/{key}": plain(value) for key, value in PARTS[part]()}))


def versions():
    return {name: version(name) for name in LIBRARIES}


def known():
    """What the file holds of what is compared."""
    found = json.loads(gzip.decompress(PATH.read_bytes()))
    for key in NOT_COMPARED:
        del found["results"][key]
    return found


def main(only_names=False):
    found = {key: value for part in PARTS for key, value in results(part).items()}
    before = known()["results"] if PATH.exists() else found
    for key in sorted(found.keys() | before.keys()):
        for line in differences(found.get(key, "nothing"), before.get(key, "nothing"), key)[:3]:
            sys.stdout.write(line + "\n")
    if not only_names:
        text = json.dumps({"versions": versions(), "results": found}, ensure_ascii=False, sort_keys=True, indent=0)
        PATH.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(only_names="--names" in sys.argv)
