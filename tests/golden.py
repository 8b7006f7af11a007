"""What every method, ranker and metric gives, of every kind of input: `python tests/golden.py` writes golden.npz.

A refactoring must change nothing. Write the file from the commit before it, on the same machine, and
`tests/test_golden.py` compares after it. The file is not in the repository: another processor breaks ties of
floating-point numbers in another way. `tests/golden_wide.py` does the same for the rest of the public interface.
"""

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import warnings
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from former import is_former
from limits import limit
from sklearn.model_selection import ParameterGrid
from strategies import few_starts, planted_labels, random_labels, usual, values_of, with_equal_rows

import ensemblage
from ensemblage import METHODS, Ensemble, metrics, posterior, ranking

REFERENCE = "c6206b5a97c5a62cfbfdc41af23aa5a884b9df2e"
"""Hash of the commit whose library both files are written from, once it is chosen. Empty: any commit."""
IS_GIVEN = "ENSEMBLAGE_GOLDEN" in os.environ
PATH = Path(os.environ.get("ENSEMBLAGE_GOLDEN", Path(__file__).with_name("golden.npz")))
PACKAGES = ("pymetis", "mtkahypar", "graspologic_native", "distributed")
"""The optional libraries that are compared. ``ENSEMBLAGE_GOLDEN_WITHOUT`` names those that may be missing, separated by
commas, and "file" if nothing need be compared at all."""
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", *PACKAGES)
"""Whose versions the results may depend on."""
MAY_MISS = set(os.environ.get("ENSEMBLAGE_GOLDEN_WITHOUT", "").split(","))
N_ENSEMBLES = 40


def state_of_library():
    """The commit of the library that is imported, with "+" if its files were edited; `REFERENCE` if it is the same."""
    package = Path(ensemblage.__file__).parent

    def git(*words):
        command = ["git", "-C", package, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", ".")
        if REFERENCE and not changed and not git("diff", "--name-only", REFERENCE, "HEAD", "--", "."):
            return REFERENCE
        return git("rev-parse", "HEAD") + "+" * bool(changed)
    except (OSError, subprocess.CalledProcessError):
        return "no commit"


def missing_packages():
    """Of `PACKAGES`, those that are not here; refused unless it is said that they may be missing."""
    missing = {name for name in PACKAGES if find_spec(name) is None}
    if missing - MAY_MISS:
        raise ImportError(
            f"Results of {', '.join(sorted(missing - MAY_MISS))} must be compared. Got no such package. Install it, or "
            f"set ENSEMBLAGE_GOLDEN_WITHOUT={','.join(sorted(missing))}."
        )
    return missing


def is_of(packages, key):
    """Whether a result needs one of the packages."""
    methods = {f"/{name}" for name, method in METHODS.items() if method.package in packages}
    return (
        any(key.endswith(name) or f"{name}/" in key or f"{name} " in key for name in methods)
        or ("pymetis" in packages and "'metis'" in key)
        or ("graspologic_native" in packages and "leiden" in key)
        or ("distributed" in packages and key.split("/")[1].startswith("dask"))
    )


def versions():
    """Library → version, of those that are compared."""
    return {name: version(name) for name in LIBRARIES if name not in missing_packages()}


# ---- What a result is ----


def flat(value, key):
    """Key → array or text of anything that the library returns: arrays, frames, records, dictionaries."""
    if dataclasses.is_dataclass(value) and not hasattr(value, "fit"):
        fields = [field.name for field in dataclasses.fields(value) if not field.name.startswith("_")]
        value = {name: getattr(value, name) for name in fields}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif hasattr(value, "toarray"):
        value = value.toarray()
    elif hasattr(value, "to_dict") and hasattr(value, "columns"):
        value = {str(name): value[name].to_numpy() for name in value.columns}
    if isinstance(value, list | tuple) and not all(isinstance(one, bool | int | float | str) for one in value):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        return {k: v for name, one in value.items() for k, v in flat(one, f"{key}/{name}").items()}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "OT":
        value = [str(one) for one in value.tolist()] if value.ndim else str(value)
    if isinstance(value, np.ndarray | np.generic | bool | int | float | str | list | tuple):
        return {key: np.asarray(value)}
    return {key: np.array(str(value) if value is None else type(value).__name__)}


def tried(call, *args, **options):
    """What it returns, or how it fails: that stays as it is, too."""
    try:
        return call(*args, **options)
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"}


def learned(model):
    """Every public attribute of a fit."""
    names = [
        name for name in dir(model) if name.endswith("_") and not name.startswith("_") and not is_former(model, name)
    ]
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def made(name, n_clusters=None, **parameters):
    """A method with a seed."""
    model = usual(name, n_clusters, **parameters)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


FORMER = {"diagnostics": "evidence"}
"""Names of methods as files of before 1.0 have them."""


def fitted(model, X, new=None, **given):
    """What is learned of X; with ``new`` rows, what every other public method of the model says, too."""
    found = tried(model.fit, X, **given)
    if found is not model:
        return found
    found = {"learned": learned(model)}
    if new is None:
        return found
    calls = {"assign": (new,), "predict": (new,), "predict_proba": (new,), "score": (new,), "association_shares": (X,),
             "diagnostics": (X,), "to_frame": (X,), "labels_at": (2,)}  # fmt: skip
    said = {name: tried(getattr(model, name), *args) for name, args in calls.items() if hasattr(model, name)}
    found |= {FORMER.get(name, name): value for name, value in said.items()}
    if hasattr(model, "predict"):
        found["score of classes"] = tried(model.score, new, np.arange(len(new)) % 3)
    if hasattr(model, "align"):  # it renumbers the clusters of the model itself
        found["aligned"] = tried(lambda: learned(model.align(np.arange(len(X)) % 3)))
    return found


# ---- Methods ----


def ensemble(i):
    """Labels (n, p), weights (p,) or None and number of clusters of random ensemble i."""
    random = np.random.default_rng(i)
    n, p, k = int(random.integers(20, 120)), int(random.integers(3, 14)), int(random.integers(2, 6))
    missing = (0.0, 0.25)[i % 2]
    if i % 4 < 2:
        labels = with_equal_rows(planted_labels(n, p, k, noise=0.3, missing=missing, seed=i)[0], 2 * n, seed=i)
    else:
        labels = random_labels(n, p, k + 1, missing=missing, seed=i)
    weights = random.integers(0, 4, size=p) + (np.arange(p) < 2) if i % 8 >= 6 else None
    return labels, weights, k


def ensembles(chosen=range(N_ENSEMBLES)):
    """Every method on random ensembles, with and without missing labels, equal rows and weights of the partitions."""
    for i in chosen:
        labels, weights, k = ensemble(i)
        for name in (*METHODS, *METHODS.aliases):
            options = {} if weights is None or name.startswith("negmm-wat") else {"weights": weights.tolist()}
            model = made(name, k, **options)  # the thresholds know no weights
            yield f"{i}/{name}", fitted(model if i < 8 else few_starts(model), labels)


def soft_blocks(n, p, k, missing=0.0, seed=0):
    """Memberships near planted labels, (n, k) and (n, k + 1) each; rows of NaN where a partition says nothing."""
    random = np.random.default_rng(seed)
    labels, blocks = planted_labels(n=n, p=p, k=k, noise=0.2, seed=seed)[0], []
    for j, z in enumerate(labels.T):
        block = random.dirichlet(np.full(k + j % 2, 0.4), size=n) * 0.6
        block[np.arange(n), z] += 0.4
        block[random.random(n) < missing] = np.nan
        blocks.append(block)
    return blocks


HARD = with_equal_rows(planted_labels(90, 6, 3, noise=0.3, seed=11)[0], 120, seed=11)
GAPS = with_equal_rows(planted_labels(90, 6, 3, noise=0.3, missing=0.2, seed=12)[0], 120, seed=12)
GAPS[7] = -1
NEW = planted_labels(30, 6, 3, noise=0.3, missing=0.1, seed=13)[0]
WEIGHT = np.random.default_rng(15).integers(0, 4, 120)
PARTITION_WEIGHTS = [3, 1, 0, 2, 1, 1]
MUST, CANNOT = [[0, 1], [1, 2], [30, 40], [50, 7]], [[0, 5], [30, 60], [61, 62]]


def names_for(labels):
    """The same as text in a data frame, as a file has it."""
    import pandas as pd

    text = pd.DataFrame(labels).astype(object).map(lambda label: None if label < 0 else f"cluster {label}")
    return text.set_axis([f"by {j}" for j in range(labels.shape[1])], axis=1)


@cache
def all_kinds():
    """Kind of input → labels, what else is given to the method, what is given to `fit`, new rows."""
    soft, new_soft = (Ensemble.from_memberships(soft_blocks(n, 6, 3, seed=n)) for n in (80, 20))
    soft_gaps = Ensemble.from_memberships(soft_blocks(80, 6, 3, missing=0.2, seed=14))
    return {
        "complete": (HARD, {}, {}, NEW),
        "missing": (GAPS, {}, {}, NEW),
        "names": (names_for(GAPS), {}, {}, names_for(NEW)),
        "k found": (HARD, {"n_clusters": None}, {}, NEW),
        "k found of missing": (GAPS, {"n_clusters": None}, {}, NEW),
        "one cluster": (HARD, {"n_clusters": 1}, {}, NEW),
        "one label": (np.zeros((20, 3), dtype=int), {"n_clusters": 1}, {}, np.zeros((4, 3), dtype=int)),
        "one partition": (HARD[:, :1], {}, {}, NEW[:, :1]),
        "weights": (GAPS, {"weights": PARTITION_WEIGHTS}, {}, NEW),
        "agreement": (GAPS, {"weights": "agreement"}, {}, NEW),
        "sample weight": (GAPS, {}, {"sample_weight": WEIGHT}, NEW),
        "both weights": (HARD, {"weights": PARTITION_WEIGHTS}, {"sample_weight": WEIGHT}, NEW),
        "must-link": (GAPS, {}, {"must_link": MUST}, NEW),
        "must-link, weights": (HARD, {"weights": PARTITION_WEIGHTS}, {"must_link": MUST, "sample_weight": WEIGHT}, NEW),
        "cannot-link": (HARD, {}, {"cannot_link": CANNOT}, NEW),
        "links": (GAPS, {"weights": PARTITION_WEIGHTS}, {"must_link": MUST, "cannot_link": CANNOT}, NEW),
        "links and weights": (HARD, {}, {"must_link": MUST, "cannot_link": CANNOT, "sample_weight": WEIGHT}, NEW),
        "links, k found": (HARD, {"n_clusters": None}, {"must_link": MUST, "cannot_link": CANNOT}, NEW),
        "soft": (soft, {}, {}, new_soft),
        "soft, missing": (soft_gaps, {"weights": PARTITION_WEIGHTS}, {}, new_soft),
        "soft, k found": (soft, {"n_clusters": None}, {}, new_soft),
        "soft, sample weight": (soft, {}, {"sample_weight": WEIGHT[:80]}, new_soft),
        "soft, links": (soft, {}, {"must_link": MUST, "cannot_link": CANNOT}, new_soft),
        "counted": (Ensemble.from_counts(names_for(GAPS)), {}, {}, names_for(NEW)),
        "published": (GAPS, {"published": True}, {}, NEW),
    }


LITTLE_ROOM = {
    "disk": {
        "rows of a block": 7,
        "rows that are sorted at once on disk": lambda *_: 23,
        "share of the memory for distinct rows on disk": 10**9,
        "rows that are coded at once": 13,
    },
    "dask": {"bytes of distinct rows that workers send": 0},
}
"""Sizes with which labels that lie elsewhere stay there, and go in several blocks."""


def kinds():
    """Every method on every kind of input that is in memory, and all that it says of it."""
    for kind, (X, parameters, given, new) in all_kinds().items():
        for name in METHODS:
            model = tried(made, name, **{"n_clusters": 3, **parameters})
            yield f"{kind}/{name}", model if isinstance(model, dict) else fitted(few_starts(model), X, new, **given)


@contextmanager
def workers():
    """A client of two workers: threads of this process that send each other bytes."""
    import distributed

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    cluster = distributed.LocalCluster(**options, processes=False, protocol="tcp")
    with cluster, distributed.Client(cluster) as client:
        yield client


@contextmanager
def placed(place, labels):
    """The labels as an ensemble on disk or on workers, with little room here."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for what, size in LITTLE_ROOM[place].items():
            limit(patch, what, size)
        if place == "disk":
            path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "labels.npy"
            np.save(path, labels)
            yield Ensemble.open(path)
        else:
            yield Ensemble.from_dask(np.array_split(labels, 4), client=stack.enter_context(workers()))


def places(chosen=tuple(LITTLE_ROOM)):
    """Every method, ranker and metric with the labels somewhere else."""
    for place in chosen:
        if place == "dask" and "distributed" in missing_packages():
            continue
        for kind, labels in {"complete": HARD, "missing": GAPS}.items():
            weighted = {"weights": PARTITION_WEIGHTS} if kind == "missing" else {}
            if (place, kind) == ("dask", "complete"):  # each step sends messages: that takes long
                continue
            with placed(place, labels) as E:
                for name in METHODS:
                    model = made(name, 3, **weighted)
                    starts = {"n_init": 2} if "n_init" in model.get_params() else {}
                    yield f"{place}, {kind}/{name}", fitted(model.set_params(**starts), E, NEW)
                yield f"{place}, {kind}/k found", fitted(made("acv"), E, NEW)
                yield f"{place}, {kind}/sample weight", fitted(made("km", 3, n_init=2), E, NEW, sample_weight=WEIGHT)
                for key, value in (*ranked(E), *measured(E)):
                    yield f"{place}, {kind}/{key}", value


OF_MANY = ("km", "ecc", "sec", "h-km", "acv", "bv", "majority", "mcla", "hbgf", "u-senc")


def large():
    """More objects: where other ways begin, such as kernels in the place of NumPy, sparse graphs and samples."""
    labels = planted_labels(1_300, 12, 6, noise=0.5, missing=0.05, seed=21)[0]
    for name in METHODS:
        yield f"1300/{name}", fitted(few_starts(made(name, 6)), labels)
    labels = planted_labels(9_000, 8, 12, noise=0.4, seed=22)[0]
    for name in (*OF_MANY, "eac-average", "eac-single"):
        yield f"9000/{name}", fitted(made(name, 12), labels)
    with pytest.MonkeyPatch.context() as patch:
        limit(patch, "operations that NumPy does", -1)
        for kind, labels in {"complete": HARD, "missing": GAPS}.items():
            for name in METHODS:
                yield f"kernels, {kind}/{name}", fitted(few_starts(made(name, 3)), labels)
            for key, value in (*ranked(labels), *measured(labels)):
                yield f"kernels, {kind}/{key}", value


# ---- Options ----

GIVEN = np.arange(120) % 3
CUT = {"imbalance": [None, 0.001, 0.9]}
OPTIONS = {  # of the estimator of the method: grids of parameters; each is tried on both matrices of `OF_OPTIONS`
    "km": [
        {"utility": ["category", "entropy", "cosine", "lp"], "normalize": [False, True], "refine": [None, "density"]},
        {"utility": ["lp"], "exponent": [3.0, 8.0]},
        {"utility": ["entropy"], "smoothing": [1e-16, 0.5]},
        {"init": ["k-means++", "random", GIVEN], "n_init": [1, 4], "max_iter": [1, 100], "tol": [0.0, 0.2]},
        {"init_size": ["auto", 40, None]},
        {"cluster_weights": [None, "eci", 0.2]},
    ],
    "h-km": [
        {"split_rule": ["loss", "size", "density", "gain"], "init": ["k-means++", "random"]},
        {"n_init": [1, 5], "max_iter": [1, 100], "tol": [0.0, 0.2]},
    ],
    "sec": [{"init": ["k-means++", "random", GIVEN], "n_init": [1, 4]}, {"max_iter": [1, 3], "tol": [0.0, 0.2]}],
    "eac-average": [
        {"linkage": ["single", "average", "complete"], "similarity": ["coassociation", "ecpcs", "cts"]},
        {"linkage": ["single", "average", "complete"], "cluster_weights": ["eci", 0.2], "distinct": [True, False]},
        {"linkage": ["single", "average", "complete"], "association_threshold": [None, 0.2, "kmeans", "gmm"]},
    ],
    "negmm": [
        {"association_threshold": ["search", 0.2, "kmeans", "gmm"], "distinct": [True, False]},
        {"n_neighbors": [3, 9], "association_threshold": ["search", "kmeans"]},
    ],
    "cspa": [
        {"partitioner": ["metis", "spectral"], "distinct": [True, False], "n_neighbors": ["auto", 5, None]},
        {"partitioner": ["metis", "spectral"], "association_threshold": [None, 0.2, "kmeans", "gmm"]},
        {"recursive": [True, False], "n_init": [1, 4], **CUT},
    ],
    "hgpa": [
        {"edge_weights": ["equal", "size"], "cut_cost": ["cut", "km1"], "distinct": [True, False]},
        {"partitioner": ["spectral"], "edge_weights": ["equal", "size"], "distinct": [True, False]},
        {"imbalance": [0.01, 0.9]},
    ],
    "mcla": [
        {"partitioner": ["metis", "spectral"], "similarity": ["jaccard", "ecpcs"], "ties": ["random", "first"]},
        {"vertex_weights": ["size", "equal"], "recursive": [True, False], **CUT},
    ],
    "hbgf": [
        {"partitioner": ["metis", "spectral", "transfer"], "cluster_weights": [None, "eci", 0.2]},
        {"partitioner": ["metis", "spectral", "transfer"], "distinct": [True, False]},
        {"partitioner": ["metis"], "recursive": [True, False], **CUT},
    ],
    "lce-wct": [{"similarity": ["wct", "wtq"], "decay": [0.8, 0.1]}],
    "pta-average": [
        {"linkage": ["single", "average", "complete"], "n_neighbors": [None, 3], "n_steps": [None, 3]},
    ],
    "ptgp": [{"n_neighbors": [None, 3], "n_steps": [None, 3]}],
    "majority": [{"n_clusters": [2, None]}],
    "k-modes": [{"init": ["k-means++", "random", GIVEN], "n_init": ["auto", 1]}, {"max_iter": [1], "tol": [0.0, 0.2]}],
    "lca": [
        {"init": ["k-means++", "random", GIVEN], "n_init": ["auto", 1]},
        {"n_init": [1], "max_iter": [1, 500], "tol": [1e-8, 0.5]},
        {"n_clusters": [None], "n_init": [3]},
    ],
    "salso-vi": [
        {"loss": ["vi", "gvi", "binder", "omari", "nvi", "id", "nid"], "n_clusters": [3, None]},
        {"loss": ["gvi", "binder"], "a": [0.5, 1.5]},
        {"loss": ["binder", "nid"], "n_init": [1, 10], "max_zealous": [0, 10], "n_rounds": [0, None]},
        {"n_init": [2], "n_rounds": [1], "n_searches": [1, 3], "max_iter": [1, 100]},
    ],
    "soft-euclidean": [
        {"prototype": ["soft", "hard"], "leave_one_out": [True, False], "n_init": [3], "n_clusters": [3, None]},
        {"n_init": ["auto", 1], "max_iter": [1, 100]},
    ],
    "gv3": [{"n_init": [1, 4], "max_iter": [1, 500], "tol": [1e-8, 0.5]}, {"n_clusters": [None]}],
    "acv": [
        {"order": ["entropy", "divergence", "given"], "voting": ["adaptive", "fixed"], "linkage": ["average", "aib"]},
        {"n_clusters": [None], "include_singletons": [False, True], "linkage": ["average", "aib"]},
    ],
    "bv": [
        {"n_init": [1, 4], "linkage": ["average", "aib"]},
        {"n_clusters": [None], "include_singletons": [False, True]},
    ],
}  # fmt: skip
NOT_OPTIONS = {"n_clusters", "weights", "random_state", "n_jobs", "progress", "max_bytes"}
"""Parameters that `kinds`, `ensembles` and `options` vary for every method, or that change no result."""


def grids():
    """`OPTIONS`, and of methods whose estimators it does not have, what follows from the constraints."""
    found, known = dict(OPTIONS), {METHODS[name].estimator for name in OPTIONS}
    for name, method in METHODS.items():
        if method.estimator not in known:
            known.add(method.estimator)
            parameters = sorted(set(method.estimator().get_params()) - NOT_OPTIONS)
            found[name] = [{parameter: list(values_of(method.estimator, parameter))} for parameter in parameters]
    return found


OF_OPTIONS = {"noise": (random_labels(n=120, p=6, k=5, seed=0), 4), "gaps": (GAPS, 3)}
"""Labels and a number of clusters."""
SEEDED = ("km", "hbgf", "salso-vi", "bv", "mcla")
"""Methods that are started with another seed, too."""


def options():
    """Every estimator with every value of every option."""
    for data, (labels, k) in OF_OPTIONS.items():
        for name, options in grids().items():
            cases = [{"random_state": 3}] * (name in SEEDED) + list(ParameterGrid(options))
            for parameters in cases:
                shown = {key: "given" if value is GIVEN else value for key, value in parameters.items()}
                model = made(name, 3 if parameters.get("init") is GIVEN else k).set_params(**parameters)
                yield f"{data}/{name} {shown}", fitted(model, labels)


def otherwise():
    """Methods that take more than one label matrix: partitions that are added, and similarities, dense and sparse."""
    from scipy.sparse import csr_array

    S = metrics.coassociation(HARD)
    of_thresholds = {"0.2": 0.2, "kmeans": "kmeans"}
    for name in METHODS:
        for k in (3, None):
            for kind, given in {"dense": S, "sparse": csr_array(S)}.items():
                model = made(name, k)
                if hasattr(model, "fit_similarity"):
                    yield f"{kind}/{name} {k}", tried(lambda m=model, s=given: learned(m.fit_similarity(s)))
        for key, threshold in of_thresholds.items():
            if "association_threshold" in made(name, 3).get_params():
                model = made(name, 3, association_threshold=threshold)
                yield f"threshold {key}/{name}", tried(lambda m=model: learned(m.fit_similarity(S)))
        for kind in ("complete", "missing", "soft"):
            X, _, _, new = all_kinds()[kind]
            parts = [Ensemble(X).select(some) if kind != "soft" else X.select(some) for some in ([0, 1], [2, 3, 4, 5])]
            model = few_starts(made(name, 3))
            if hasattr(model, "add_partitions"):
                found = [tried(lambda part=part, m=model: learned(m.add_partitions(part))) for part in parts]
                yield f"added, {kind}/{name}", {"parts": found, "assign": tried(model.assign, new)}


# ---- Estimators that are no method of `METHODS` ----

EDGES = [[i, j] for i in range(60) for j in range(i) if (i * j) % (3 if i // 20 == j // 20 else 97) == 1]
POINTS = np.random.default_rng(31).normal(size=(60, 3)) + 6 * (np.arange(60) % 3)[:, None] * [1, 0, 0.5]
DRAWS = np.concatenate([HARD, random_labels(120, 12, 3, seed=4)], axis=1)
OTHERS = {  # class: what it is fitted to, what else is given to `fit`, grids of parameters
    "CommunityConsensus": (
        HARD[:60],
        {"edges": EDGES},
        [
            {"method": ["ecg", "fast-ensemble", "lf"], "objective": [None, "modularity", "cpm"]},
            {"method": ["lf"], "pairs": ["edges", "all"], "min_association": [0.2, 0.5]},
            {"method": ["ecg"], "weights": [PARTITION_WEIGHTS], "resolution": [0.5, 2.0]},
            {"algorithm": ["leiden", "louvain", "label-propagation"], "n_init": [1, 10], "max_rounds": [1, 50]},
            {"method": ["ecg"], "min_weight": [0.2]},
        ],
    ),
    "ConsensusModes": (DRAWS, {}, [{}]),
    "WasabiModes": (
        DRAWS,
        {},
        [
            {"n_modes": [1, 2, 3], "n_clusters": [None, 3]},
            {"weights": [[1, 2, 0] * 6]},
            {"n_init": [2], "max_iter": [1, 5]},
        ],
    ),
    "Dune": (planted_labels(120, 5, 6, noise=0.3, missing=0.1, seed=5)[0], {}, [{"measure": ["ari", "nmi"]}]),
    "GreedyKMeansConsensus": (
        POINTS,
        {},
        [
            {"utility": ["category", "entropy", "cosine", "lp"], "normalize": [False, True], "n_candidates": [7]},
            {"augment": ["all", "last", None], "refine": [None, "density"], "n_candidates": [7]},
            {"partition_weight": [1.0, 5.0], "standardize": [False, True], "n_candidates": [7]},
            {"utility": ["lp"], "exponent": [8.0], "n_candidates": [5]},
            {"utility": ["entropy"], "smoothing": [0.5], "n_candidates": ["all"], "max_iter": [2, 300]},
        ],
    ),
}  # fmt: skip


def others():
    """The other estimators of `ensemblage.consensus`, with their options."""
    for name, (X, given, grids) in OTHERS.items():
        cls = getattr(ensemblage.consensus, name)
        for parameters in ParameterGrid(grids):
            model = cls(**parameters)
            of_all = {"n_clusters": 4, "random_state": 0} if name == "GreedyKMeansConsensus" else {"random_state": 0}
            model.set_params(**{key: value for key, value in of_all.items() if key in model.get_params()})
            yield f"{name} {parameters}", fitted(model, X, X[:10], **given)


# ---- Rankers and metrics ----


OF_KINDS = ("complete", "missing", "names", "soft", "soft, missing", "counted", "one label", "one partition")


def ranked(X, names=ranking.RANKERS, points=None):
    """Scores, order, violations, … of every ranker of the partitions."""
    for name in names:
        ranker = ranking.make_ranker(name)
        if "random_state" in ranker.get_params():
            ranker.set_params(random_state=0)
        features = {"features": points} if isinstance(ranker, ranking.InternalIndex) else {}
        if features and points is None:
            continue
        found = fitted(ranker, X, **features)
        if hasattr(ranker, "score_labels") and "learned" in found:
            found["score"] = tried(ranker.score_labels, np.arange(len(X)) % 4)
        yield f"rank {name}", found


KNOWN = {"must_link": MUST, "cannot_link": CANNOT, "known_labels": np.arange(120) % 4 - 1}
AVERAGES = ("arithmetic", "geometric", "min", "max")
VARIANTS = ("published", "ohl")
RANKINGS = {  # class: grids of parameters, and what is given to `fit`; with True the features
    "DISCOTEC": (
        [{"measure": ["binary", "tv", "kl", "hellinger"], "max_pairs": [0, 10**6], "n_sampled_pairs": [5_000]}],
        KNOWN,
    ),
    "AverageAgreement": ([{"measure": ["ari", "nmi"], "average_method": AVERAGES}], KNOWN),
    "InternalIndex": ([{"measure": [*metrics.INTERNAL_INDICES], "variant": VARIANTS}], {"features": True, **KNOWN}),
    "SelectPartitions": (
        [
            {"n_partitions": [0.5, 2], "rule": ["best", "joint", "cluster"]},
            {"rule": ["joint"], "alpha": [0.0, 0.9], "normalize": [False, True]},
            {"ranker": [ranking.AverageAgreement(), ranking.AverageDistance("vi")]},
        ],
        {},
    ),
}  # fmt: skip


def rankers():
    """Every ranker on every kind of labels, with options, known pairs and classes; the comparison of rankers."""
    points = np.random.default_rng(32).normal(size=(120, 4)) + 2.0 * (HARD[:, :1] == 1)
    for kind, X in {**{kind: all_kinds()[kind][0] for kind in OF_KINDS}, "twins": HARD[:, [0, 0, 1]]}.items():
        for key, value in ranked(X, points=points if len(X) == 120 else None):
            yield f"{kind}/{key}", value
    for kind, X in {"complete": HARD, "missing": GAPS}.items():
        for name, (grids, given) in RANKINGS.items():
            with_points = {**given, "features": points} if "features" in given else given
            for parameters in ParameterGrid(grids):
                model = getattr(ranking, name)(**parameters)
                if "random_state" in model.get_params():
                    model.set_params(random_state=0)
                found = fitted(model, X, **with_points)
                if hasattr(model, "transform") and "learned" in found:
                    found["kept"] = np.asarray(model.transform(X))
                yield f"{kind}/{name} {parameters}", found
        compared = ranking.compare_rankers(X, points, np.arange(120) % 3, **KNOWN)
        yield f"{kind}/compare", {"members": compared.partitions, "summary": compared.summary}


LOSSES = ("vi", "gvi", "binder", "omari", "nvi", "id", "nid")
DISTANCES = tuple(name.removeprefix("distance-") for name in ranking.RANKERS if name.startswith("distance-"))
METRICS = {  # public function of labels: grids of its options; True are weights of as many partitions as there are
    "agreement_weights": {"beta": [2.0, 5.0]},
    "association_counts": {},
    "confidence": {"weights": [None, True]},
    "chain_agreement": {"loss": LOSSES, "n_pairs": [40], "random_state": [0]},
    "chips": {"level": [0.5, 0.95], "n_init": [8], "weights": [None, True], "random_state": [0]},
    "cluster_consensus": {},
    "cluster_density": {"weights": [None, True]},
    "cluster_weights": {"theta": [0.2, 0.4], "weights": [None, True]},
    "coassociation": [
        {"weights": [None, True], "cluster_weights": [None, "eci", 0.2]},
        {"objects": [[5, 3, 3]]},
    ],
    "consensus_cdf": {},
    "credible_ball": {"level": [0.5, 0.95], "loss": LOSSES, "weights": [None, True]},
    "density": {"weights": [None, True]},
    "element_consistency": {"weights": [None, True]},
    "ensemble_ari": {"weights": [None, True]},
    "ensemble_baselines": {"measure": ["ari", "nmi", "density"], "weights": [None, True]},
    "ensemble_nmi": {"average_method": AVERAGES, "weights": [None, True]},
    "expected_loss": [
        {"loss": LOSSES, "weights": [None, True]},
        {"loss": ["gvi", "binder"], "a": [0.5, 1.5]},
    ],
    "item_consensus": {},
    "kmeans_loss": {"weights": [None, True]},
    "mm_index": {"n_neighbors": [3, 9], "weights": [None, True]},
    "pac": {"lower": [0.1, 0.3], "upper": [0.7, 0.9]},
    "partition_distances": {"measure": DISTANCES},
    "weak_association_threshold": [
        {"strategy": ["kmeans", "gmm"], "weights": [None, True], "include_diagonal": [False, True]},
        {"max_pairs": [100], "return_error": [True], "random_state": [0]},
    ],
}  # fmt: skip
WITH_CLUSTERING = {
    "confidence", "chain_agreement", "cluster_consensus", "cluster_density", "credible_ball", "density", "ensemble_ari",
    "ensemble_nmi", "expected_loss", "item_consensus", "kmeans_loss", "mm_index",
}  # fmt: skip
OTHERWISE = {
    "align_labels", "compare", "delta_area", "element_similarity", "internal_index", "membership_entropy",
    "partition_distance", "split_rhat", "verdicts",
}  # fmt: skip
"""Metrics that take no ensemble: `of_clusterings` calls them."""


def measured(X):
    """Every metric of an ensemble, with every option."""
    clustering = np.arange(len(X)) % 4 - (np.arange(len(X)) % 17 == 0)
    weights = np.resize(PARTITION_WEIGHTS, X.shape[1])
    for name, grids in METRICS.items():
        for parameters in ParameterGrid(grids):
            args = (X, clustering) if name in WITH_CLUSTERING else (X,)
            given = parameters | ({"weights": weights} if parameters.get("weights") else {})
            yield (
                f"{name} {parameters}",
                tried(getattr(posterior if name in posterior.__all__ else metrics, name), *args, **given),
            )


def of_clusterings():
    """Every metric of one partition, of two, or of something else."""
    a, b = HARD[:, 0], GAPS[:, 1]
    names = np.array(["ann", "bob", "cid"])[a]
    yield "align_labels", metrics.align_labels(a, b)
    yield "align_labels ids", metrics.align_labels(a, b, ids=np.arange(120), reference_ids=np.arange(120)[::-1])
    yield "compare_labels", metrics.compare(names, b)
    for variant in ("exact", "monti", "histogram"):
        given = {k: random_labels(40, 8, k, seed=k) for k in (2, 3, 4)}
        yield f"delta_area {variant}", tried(metrics.delta_area, given, variant=variant)
    yield "element_similarity", metrics.element_similarity(a, b)
    for name in metrics.INTERNAL_INDICES:
        for variant in VARIANTS:
            yield f"internal_index {name} {variant}", metrics.internal_index(POINTS, a[:60], name, variant=variant)
    yield "membership_entropy", metrics.membership_entropy(soft_blocks(40, 2, 3, missing=0.2)[0])
    for measure in DISTANCES:
        yield f"partition_distance {measure}", metrics.partition_distance(a, b, measure)
    draws = np.random.default_rng(33).normal(size=90).cumsum()
    yield "split_rhat", metrics.split_rhat(draws)
    yield "split_rhat chains", metrics.split_rhat(draws, np.arange(90) // 30)
    yield "verdicts", metrics.verdicts(np.array([0.0, 0.3, 0.5, 0.6, 0.8, 0.95, 1.0, np.nan]))


def of_ensembles():
    """Every metric on every kind of labels, and on random ensembles."""
    for kind, X in {**{kind: all_kinds()[kind][0] for kind in OF_KINDS}, "draws": DRAWS}.items():
        for key, value in measured(X):
            yield f"{kind}/{key}", value
    for i in range(0, N_ENSEMBLES, 5):
        for key, value in measured(ensemble(i)[0]):
            yield f"{i}/{key}", value


# ---- Label matrices ----


def matrices():
    """How labels of every kind are coded, and what an ensemble does with its rows and partitions."""
    import pandas as pd

    given = {
        "complete": HARD,
        "missing": GAPS,
        "names": names_for(GAPS),
        "categories": names_for(GAPS).astype("category"),
        "nullable": pd.DataFrame(GAPS).astype("Int64").mask(GAPS < 0),
        "wide": HARD * 10**12 - 5,
        "bytes": HARD.astype("i1"),
        "flags": HARD > 0,
        "floats": np.where(GAPS < 0, np.nan, GAPS),
        "text": HARD.astype(str),
        "masked": np.ma.masked_less(GAPS, 0),
        "lists": HARD.tolist(),
        "one": HARD[:1],
    }
    for name, labels in given.items():
        E = Ensemble(labels)
        calls = {
            "coded": lambda E=E: coded(E),
            "rows": lambda E=E: coded(E[[0, -1, 0]]),
            "slice": lambda E=E: coded(E[1:30:7]),
            "selected": lambda E=E: coded(E.select([2, 0])),
            "more": lambda E=E: coded(E.append_partitions(Ensemble(GAPS[: len(E)]))),
            "one-hot": E.one_hot,
            "encoded": lambda E=E, labels=labels: np.asarray(E.encode(labels)[:]),
            "repr": E.__repr__,
        }
        yield name, {key: tried(call) for key, call in calls.items()}
    yield "no missing", coded(Ensemble(GAPS, missing=None))
    yield "another missing", coded(Ensemble(GAPS, missing=2))
    yield "partitions", coded(Ensemble.from_partitions([GAPS[:, 0], names_for(HARD)["by 0"], HARD[:, 1].tolist()]))
    for kind in ("soft", "soft, missing"):
        E = all_kinds()[kind][0]
        found = {"memberships": E.memberships, "names": E.names, "likeliest": coded(E.to_labels()), "repr": repr(E)}
        yield kind, found | {"selected": E.select([2, 0]).memberships, "more": E.append_partitions(E).memberships}
    counted = all_kinds()["counted"][0]
    model = made("km", 3).fit(counted)
    of_counts = {"counts": counted.counts, "clusters": counted.clusters(model).to_pydict(), "repr": repr(counted)}
    yield "counted", of_counts | {"sql": counted.join_sql(), "polars": counted.join_polars()}
    for place in LITTLE_ROOM:
        if place == "disk" or "distributed" not in missing_packages():
            with placed(place, GAPS) as E:
                yield place, {"coded": coded(E), "rows": coded(E[[0, -1, 0]]), "selected": coded(E.select([2, 0]))}


def coded(E):
    """Codes and what they mean, and the distinct rows."""
    found = {name: np.asarray(getattr(E.distinct, name)[:]) for name in ("codes", "counts", "inverse")}
    return {"all": np.asarray(E.codes[:]), "labels": E.categories, "names": E.names, "missing": E.n_missing, **found}


PARTS = {
    "ensembles": ensembles,
    "kinds": kinds,
    "places": places,
    "large": large,
    "options": options,
    "otherwise": otherwise,
    "others": others,
    "rankers": rankers,
    "of_ensembles": of_ensembles,
    "of_clusterings": of_clusterings,
    "matrices": matrices,
}


def results(part, *chosen):
    """Key "part/…" → array of one part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pairs that no partition labels, clusters that stay empty, …
        return {k: v for key, value in PARTS[part](*chosen) for k, v in flat(value, f"{part}/{key}").items()}


def write(found):
    """All arrays one after the other, for there are about a hundred thousand, and where each is."""
    index = json.dumps([(key, value.dtype.str, value.shape) for key, value in found.items()])
    values = b"".join(value.tobytes() for value in found.values())
    np.savez_compressed(PATH, index=np.array(index), values=np.frombuffer(values, dtype=np.uint8))


def read():
    """Key → array."""
    with np.load(PATH, allow_pickle=False) as archive:
        index, values = json.loads(archive["index"].item()), archive["values"].tobytes()
    found, place = {}, 0
    for key, dtype, shape in index:
        found[key] = np.ndarray(shape, dtype, values, place)
        place += found[key].nbytes
    return found


def main():
    found = flat({"commit": state_of_library(), "versions": versions()}, "made")
    for part in PARTS:
        begun = process_time()
        found |= results(part)
        sys.stdout.write(f"{part:16}{process_time() - begun:6.0f} s\n")
    write(found)


if __name__ == "__main__":
    main()
