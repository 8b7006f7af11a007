"""Labels or features in some guise, a method, legal parameters: the fit is sound, or refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from fuzz import Failure, sentence_of
from scipy.sparse import csr_array, issparse

from ensemblage import METHODS, ConsensusClustering, Ensemble, make_consensus
from ensemblage.base.validation import (
    Bytes,
    Flag,
    Function,
    Jobs,
    Lists,
    Number,
    Seed,
    Values,
    Whole,
    Words,
    parameter_constraints,
)
from ensemblage.consensus import CommunityConsensus
from ensemblage.consensus.kmeans import _label_kmeans
from ensemblage.generation import LeidenPartitions, RandomKPartitions, SubspacePartitions
from ensemblage.metrics import cluster_weights, density
from ensemblage.preprocessing import Preprocessor

MANY = _label_kmeans.LABELS_OF_SHORT_TABLE
NEEDS = {"cspa": "pymetis", "mcla": "pymetis", "hgpa": "mtkahypar"}
NAMES = [name for name in METHODS if name not in NEEDS or find_spec(NEEDS[name])]


def matrix(draw: Random) -> np.ndarray:
    """(n, p) labels from 0 on, -1 = missing; from nothing but ties to nothing alike."""
    rng = np.random.default_rng(draw.getrandbits(32))
    n, p = draw.choice([1, 2, 3, 5, 20, 60, 130, 300]), draw.choice([1, 2, 3, 6, 9, 17])
    k = draw.choice([1, 2, 3, 5, 12, 40, n])
    shape = draw.choice(["noise", "planted", "one row", "all apart", "nested", "one odd"])
    if shape == "noise":
        labels = rng.integers(k, size=(n, p))
    elif shape == "planted":
        truth = rng.integers(k, size=n)
        labels = np.column_stack([rng.permutation(k)[truth] for _ in range(p)])
        moved = rng.random((n, p)) < draw.choice([0.01, 0.2])
        labels[moved] = rng.integers(k, size=np.count_nonzero(moved))
    elif shape == "one row":
        labels = np.zeros((n, p), dtype=int)
    elif shape == "all apart":
        labels = np.tile(np.arange(n)[:, None], (1, p))
    elif shape == "nested":
        labels = np.arange(n)[:, None] // np.arange(1, p + 1)
    else:
        labels = np.zeros((n, p), dtype=int)
        labels[rng.integers(n), rng.integers(p)] = 1
    missing = draw.choice([0, 0, 0.1, 0.6, 0.95])
    labels = np.where(rng.random((n, p)) < missing, -1, labels)
    if draw.random() < 0.2:
        labels[rng.integers(n)] = -1
    if draw.random() < 0.9:
        labels[0, (labels < 0).all(axis=0)] = 0
    return labels


def in_a_guise(labels: np.ndarray, draw: Random, folder: Path) -> tuple[str, Any]:
    """The same labels as somebody may have them."""
    guise = draw.choice(["int64", "int8", "int32F", "uint", "float", "list", "text", "object", "pandas", "polars",
                         "categorical", "arrow", "ensemble", "strided", "far apart", "disk", "bool"])  # fmt: skip
    columns = {f"p{j}": z for j, z in enumerate(labels.T)}
    gaps = {name: [None if v < 0 else int(v) for v in z] for name, z in columns.items()}
    text = {name: [None if v < 0 else f"c{v}" for v in z] for name, z in columns.items()}
    if guise == "int8":
        return guise, labels.astype(np.int8) if labels.max() < 127 else labels
    if guise == "int32F":
        return guise, np.asfortranarray(labels.astype(np.int32))
    if guise == "uint":
        return guise, (labels + 1).astype(
            draw.choice([np.uint8, np.uint16, np.uint64])
        ) if labels.max() < 250 else labels
    if guise == "float":
        return guise, np.where(labels < 0, np.nan, labels).astype(draw.choice([np.float32, np.float64]))
    if guise == "list":
        return guise, labels.tolist()
    if guise == "text":
        return guise, np.array([f"c{v}" for v in labels.ravel()]).reshape(labels.shape)
    if guise == "object":
        return guise, np.array([None if v < 0 else int(v) for v in labels.ravel()], dtype=object).reshape(labels.shape)
    if guise == "pandas":
        return guise, pd.DataFrame(draw.choice([columns, gaps, text]))
    if guise == "polars":
        return guise, pl.DataFrame(draw.choice([columns, gaps, text]))
    if guise == "categorical":
        return guise, pd.DataFrame(text).astype("category")
    if guise == "arrow":
        return guise, pa.table(draw.choice([gaps, text]))
    if guise == "ensemble":
        return guise, Ensemble(labels)
    if guise == "strided":
        return guise, np.repeat(labels, 2, axis=0)[::2][::-1]
    if guise == "far apart":
        return guise, np.where(labels < 0, -1, labels.astype(np.int64) * 10**15 + 3)
    if guise == "disk":
        np.save(folder / "labels.npy", labels)
        return guise, Ensemble.open(folder / "labels.npy", scratch=folder)
    if guise == "bool":
        return guise, labels > 0
    return guise, labels


def legal(constraint: Any, draw: Random, name: str, n: int, p: int) -> Any:
    """A value that a constraint allows, extreme ones included."""
    if constraint is None or isinstance(constraint, Function):
        return None
    if isinstance(constraint, Words):
        return draw.choice(sorted(constraint.choices))
    if isinstance(constraint, Flag):
        return draw.choice([True, False, np.True_])
    if isinstance(constraint, Bytes):
        return draw.choice(["2GB", "1TB", 10**30, 2e9, "1GB", 10**8, 1, 20_000, "500KB"])
    if isinstance(constraint, Seed):
        return draw.choice([0, 1, 2**32 - 1, None, np.int64(5), np.random.RandomState(3)])
    if isinstance(constraint, Jobs):
        return draw.choice([None, 1, 2, 3, -1, -2, -(10**9), 1000])
    if isinstance(constraint, Values):
        if name == "init":
            return [draw.randrange(3) for _ in range(n + (draw.random() < 0.1))]
        exponent = draw.choice([0, 0, 0, 150, 300, -300])
        weights = [draw.choice([1, 1, 1, 0, 0.5, 3.7, draw.random()]) * 10.0**exponent for _ in range(p)]
        if draw.random() < 0.9:
            weights[draw.randrange(p)] = 10.0**exponent
        return draw.choice([weights, np.array(weights), tuple(weights), pd.Series(weights)])
    if isinstance(constraint, Lists):  # what fits some labels; those of a case are refused, or given by its caller
        return [[draw.random() for _ in range(draw.choice([1, 2, 3]))] for _ in range(p)]
    if isinstance(constraint, Number):
        low = constraint.least if constraint.above is None else np.nextafter(constraint.above, np.inf)
        high = 1e300 if constraint.below == np.inf else float(np.nextafter(constraint.below, -np.inf))
        return draw.choice([low, high, draw.uniform(low or 0, min(high, 2)), min(max(1, low), high)])
    if isinstance(constraint, Whole):
        slow = name in ("n_init", "n_candidates", "n_steps")
        most = constraint.most or 2**62
        least = constraint.least
        return draw.choice([least, least + 1, min(3, most) if most >= 3 else least, *([] if slow else [most, 7])])
    raise NotImplementedError(constraint)


VOTING = ("acv", "bv", "majority")
"""They find at most as many clusters as the largest partition has."""
MEDIANS = ("soft-euclidean", "hard-euclidean")


MOST_WALKED = 1_000
"""Clusters up to which random walks among them take less than a second: their time grows with the third power."""


MOST_STEPS = 1_000
"""Where no tolerance ends them."""


def number_of_clusters(name: str, labels: np.ndarray, draw: Random) -> int | None:
    """Mostly one that the method can find in these labels."""
    if draw.random() < 0.1:
        return draw.choice([1, 2, 3, 7, len(labels), len(labels) + 1, None])
    if METHODS[name].finds_k and draw.random() < 0.2:
        return None
    ensemble = Ensemble(labels)
    known = len(np.unique(labels[(labels >= 0).any(axis=1)], axis=0))
    most = int(ensemble.n_clusters.max()) if name in VOTING else known
    return max(1, min(most, draw.choice([1, 2, 2, 2, 3, 3, 4, 7, most])))


def case(draw: Random, folder: Path) -> str:
    many = draw.random() < 0.5  # the ways that are for many labels, of few
    _label_kmeans.LABELS_OF_SHORT_TABLE = (0, 0) if many else MANY
    kind = draw.random()
    if kind < 0.08:
        return case_of_features(draw)
    if kind < 0.13:
        return case_of_a_graph(draw)
    return case_of_memberships(draw) if kind < 0.18 else case_of_labels(draw, folder)


def case_of_labels(draw: Random, folder: Path) -> str:
    labels = matrix(draw)
    n, p = labels.shape
    try:
        Ensemble(labels)
        guise, given = in_a_guise(labels, draw, folder)
    except ValueError as error:  # a partition that labels nothing
        return sentence_of(error)
    name = draw.choice(NAMES)
    sample_weight = None
    if draw.random() < 0.15:
        sample_weight = [draw.choice([0, 1, 1, 2, 5, 10**6]) for _ in range(n)]
    counted = np.ones(n, dtype=bool) if sample_weight is None or not any(sample_weight) else np.array(sample_weight) > 0
    try:
        k = number_of_clusters(name, labels[counted] > 0 if guise == "bool" else labels[counted], draw)
    except ValueError as error:  # the objects of weight 0 were the only ones of a partition
        return sentence_of(error)
    model = make_consensus(name, k)
    constraints = parameter_constraints(type(model))
    chosen: dict[str, Any] = {}
    for parameter, kinds in constraints.items():
        if parameter in METHODS[name].parameters or parameter == "n_clusters" or draw.random() < 0.6:
            continue
        chosen[parameter] = legal(draw.choice(list(kinds)), draw, parameter, n, p)
    if chosen.get("tol") == 0 and chosen.get("max_iter", 0) > MOST_STEPS:  # as long as anything falls: for hours
        chosen["max_iter"] = MOST_STEPS
    links = pairs(draw, n) if draw.random() < 0.15 else {}
    if isinstance(chosen.get("cluster_weights"), list) and draw.random() < 0.8:
        chosen["cluster_weights"] = cluster_weights(labels)
    if chosen.get("similarity") == "ecpcs" and Ensemble(labels).n_clusters.sum() > MOST_WALKED:
        chosen["similarity"] = "cts"
    told = f"{name} k={k} {chosen} {guise} {labels.shape} weights={sample_weight is not None} {links or ''}"

    def check(model: Any) -> None:
        sound(model, n, k)
        kept(model.labels_, links)
        moved = getattr(model, "refine", None) is not None  # single rows leave the nearest centre
        moved = moved or isinstance(chosen.get("init"), list) or chosen.get("max_iter") == 1 or bool(links)
        if hasattr(model, "predict") and sample_weight is None and guise != "disk" and not moved:
            assert np.array_equal(model.predict(given), model.labels_), "predict"
        if draw.random() < 0.05:
            model.diagnostics(given)

    return outcome(told, lambda: model.set_params(**chosen).fit(given, sample_weight=sample_weight, **links), check)


def features(draw: Random) -> tuple[str, Any]:
    """A table or an array of numbers, with columns of several kinds where it is a table."""
    rng = np.random.default_rng(draw.getrandbits(32))
    n, m = draw.choice([2, 3, 20, 60, 130]), draw.choice([1, 2, 5])
    X = np.where(rng.random((n, m)) < draw.choice([0, 0, 0, 0.1]), np.nan, rng.normal(size=(n, m)))
    X = X * 10.0 ** draw.choice([0, 0, 100, -100, -300]) + draw.choice([0, 0, 10**6])
    guise = draw.choice(["array", "float32", "list", "csr", "pandas", "polars", "arrow"])
    if guise in ("array", "float32", "list", "csr"):
        make = {"float32": np.float32, "list": np.ndarray.tolist, "csr": csr_array}
        return guise, make.get(guise, np.array)(X)
    columns: dict[str, Any] = {f"x{j}": [None if np.isnan(v) else v for v in x] for j, x in enumerate(X.T.tolist())}
    missing = draw.choice([0, 0, 0.2])
    for name, values in {
        "colour": ["red", "green", "blue"], "size": ["small", "medium", "large"], "member": ["yes", "no"],
        "date": ["2020-01-01", "2021-03-05", "2022-12-31"], "one": ["same"], "zip": ["01234", "99999", "10000"],
    }.items():  # fmt: skip
        if draw.random() < 0.4:
            columns[name] = [None if draw.random() < missing else draw.choice(values) for _ in range(n)]
    return guise, {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[guise](columns)


ROLES = ("number", "category", "ordered", "id", "drop")


def case_of_features(draw: Random) -> str:
    """`Preprocessor` alone or in a `ConsensusClustering`."""
    guise, X = features(draw)
    given: dict[str, Any] = {}
    for parameter, kinds in parameter_constraints(Preprocessor).items():
        if parameter != "roles" and draw.random() < 0.5:
            given[parameter] = legal(draw.choice(list(kinds)), draw, parameter, 0, 0)
    if draw.random() < 0.6:
        given["impute"] = draw.choice(["median", "mean", "most-frequent", "knn"])
    if hasattr(X, "columns") and draw.random() < 0.3:
        names = X.column_names if guise == "arrow" else list(X.columns)
        given["roles"] = {draw.choice(names): draw.choice(ROLES)}
    preprocessor = Preprocessor(**given)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    k, name = draw.choice([1, 2, 2, 3, n, None]), draw.choice(NAMES)
    alone, options = draw.random() < 0.5, {}
    if not alone:
        generator = draw.choice([RandomKPartitions(4, random_state=0), SubspacePartitions(3, random_state=0)])
        options = {"generator": generator, "consensus": draw.choice([None, name, make_consensus(name)]),
                   "standardize": draw.random() < 0.5, "random_state": draw.choice([0, None]),
                   "n_jobs": draw.choice([None, 1, 2, -1]),
                   "preprocessor": draw.choice([preprocessor, preprocessor, None])}  # fmt: skip
    told = f"{preprocessor} {guise} {n} {'' if alone else f'k={k} {options}'}"
    if not alone:
        return outcome(told, lambda: ConsensusClustering(k, **options).fit(X), lambda model: sound(model, n, k))

    def check(found: Any) -> None:
        assert found.shape == (n, len(preprocessor.get_feature_names_out())), "shape"
        values = found.data if issparse(found) else found
        assert np.isfinite(values).all(), "finite"
        again = preprocessor.transform(X)
        assert np.allclose(values, again.data if issparse(again) else again, rtol=1e-9, atol=1e-9), "transform"

    return outcome(told, lambda: preprocessor.fit_transform(X), check)


def case_of_memberships(draw: Random) -> str:
    """Soft members: of no cluster, of one, of all alike, and anything between."""
    labels = matrix(draw)
    n, rng = len(labels), np.random.default_rng(draw.getrandbits(32))
    members: list[Any] = []
    for z in labels.T:
        hard = np.zeros((n, max(z.max() + 1, 1)))
        hard[np.flatnonzero(z >= 0), z[z >= 0]] = 1
        share = draw.choice([0, 0.01, 0.3, 1])
        soft = rng.dirichlet(np.full(hard.shape[1], draw.choice([1e-3, 0.3, 1, 50])), size=n)
        soft = np.where(hard.any(axis=1, keepdims=True), (1 - share) * hard + share * soft, 0)
        members.append(draw.choice([np.array, np.ndarray.tolist, pd.DataFrame, np.asfortranarray])(soft))
    name = draw.choice(NAMES if draw.random() < 0.1 else [*VOTING, *MEDIANS, "hbgf", "gv3"])
    k = draw.choice([1, 2, 2, 3, 7, int(labels.max()) + 1, *([None] if METHODS[name].finds_k else [])])
    links = pairs(draw, n) if draw.random() < 0.1 else {}
    told = f"soft {name} k={k} {labels.shape} {links or ''}"

    def check(model: Any) -> None:
        sound(model, n, k)
        kept(model.labels_, links)
        ensemble = Ensemble.from_memberships(members)
        density(ensemble, model.labels_)
        assert len(ensemble.to_labels()) == n, "to_labels"

    return outcome(told, lambda: make_consensus(name, k).fit(Ensemble.from_memberships(members), **links), check)


def case_of_a_graph(draw: Random) -> str:
    """Partitions of a graph, and the communities that they agree about."""
    rng = np.random.default_rng(draw.getrandbits(32))
    n, share = draw.choice([1, 2, 3, 20, 60, 130]), draw.choice([0.02, 0.1, 0.5, 1])
    weights = np.triu(rng.random((n, n)) < share, k=draw.choice([0, 1, 1]))
    weights = weights * draw.choice([np.ones((n, n)), rng.random((n, n)) * 10.0 ** draw.choice([0, 0, -300, 300])])
    graph = edges = csr_array(weights + weights.T)
    if draw.random() < 0.3:
        edges = np.column_stack([*graph.nonzero(), graph.data])
    algorithm = draw.choice(["louvain", "leiden", "label-propagation"])
    given: dict[str, Any] = {"algorithm": algorithm, "random_state": 0, "n_jobs": draw.choice([None, 1, 2])}
    if algorithm != "label-propagation":
        given["objective"] = draw.choice(["modularity", "cpm"])
    options: dict[str, Any] = {"n_init": draw.choice([1, 2, 3])}
    for name, values in {
        "method": ["ecg", "fast-ensemble", "lf"], "resolution": [0.01, 0.5, 1.0, 5.0], "pairs": ["edges", "all"],
        "min_association": [0.0, 0.5, 1.0], "min_weight": [0.0, 0.05, 0.5, 1.0], "max_rounds": [1, 2, 50],
        "max_bytes": ["2GB", 1, 20_000], "weights": [None, [1, 2, 0.5], [1, 0, 0]],
    }.items():  # fmt: skip
        if draw.random() < 0.3:
            options[name] = draw.choice(values)
    told = f"graph {n} {share} {type(edges).__name__} {given} {options}"
    resolutions = draw.choice([(1.0,), (0.25, 1.0, 2.0), (1e-3, 1e3)])

    def communities() -> CommunityConsensus:
        generator = LeidenPartitions(3, affinity="precomputed", resolutions=resolutions, **given)
        return CommunityConsensus(**given, **options).fit(generator.fit_transform(edges), edges=edges)

    def check(model: CommunityConsensus) -> None:
        nodes = edges.shape[0] if issparse(edges) else int(edges[:, :2].max()) + 1
        assert model.labels_.shape == model.confidence_.shape == (nodes,), "shape"
        assert model.labels_.min() >= 0, "labels"
        known = model.confidence_[~np.isnan(model.confidence_)]
        assert ((known >= 0) & (known <= 1)).all(), "confidence"

    return outcome(told, communities, check)


def outcome(told: str, work: Callable[[], Any], check: Callable[[Any], None]) -> str:
    """ "result" of work whose answer is as it should be, or what the refusal is; a failure names the case."""
    try:
        try:
            answer = work()
        except (ValueError, TypeError, ImportError) as error:
            return sentence_of(error)
        check(answer)
    except Exception as error:
        raise Failure(f"{told}: {type(error).__name__}: {error}") from error
    return "result"


def pairs(draw: Random, n: int) -> dict[str, list[tuple[int, int]]]:
    """Pairs of objects that must, or cannot, be in one cluster; mostly few, and mostly none that contradict."""
    links: dict[str, list[tuple[int, int]]] = {}
    for name in draw.choice([("must_link",), ("cannot_link",), ("must_link", "cannot_link")]):
        links[name] = [(draw.randrange(n), draw.randrange(n)) for _ in range(draw.choice([0, 1, 2, 5, n]))]
        if draw.random() < 0.9:
            links[name] = [(a, b) for a, b in links[name] if a != b]
    return links


def kept(z: np.ndarray, links: dict[str, list[tuple[int, int]]]) -> None:
    """Every pair is as it was asked for, where both objects have a cluster."""
    for name, linked in links.items():
        for a, b in linked:
            if min(z[a], z[b]) >= 0:
                assert (z[a] == z[b]) == (name == "must_link"), f"{name} {a} {b}"


def sound(model: Any, n: int, k: int | None) -> None:
    z, confidence = model.labels_, model.confidence_
    assert z.shape == confidence.shape == (n,), "shape"
    assert z.dtype == np.int32, "dtype"
    sizes = np.bincount(z[z >= 0])
    assert z.min() >= -1, "labels"
    assert k is None or len(sizes) <= k, "more clusters than asked for"
    known = confidence[~np.isnan(confidence)]
    assert ((known >= 0) & (known <= 1)).all(), f"confidence from {known.min()} to {known.max()}"
    for name, value in vars(model).items():
        if name.endswith("_") and isinstance(value, float) and name not in ("objective_", "utility_"):
            assert not np.isnan(value), name
