"""One argument of a public function or estimator is something that nobody should give: a result, or one sentence."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import matplotlib

matplotlib.use("agg")

import numpy as np
import pandas as pd
from fuzz import Failure, sentence_of
from fuzz_calls import NAMES
from sklearn.cluster import KMeans

from ensemblage import Ensemble, generation, make_consensus, metrics, plotting, ranking, report, stability
from ensemblage.ranking import RANKERS, make_ranker

LABELS = np.array([[0, 0, 1], [0, 0, 1], [0, 1, 0], [1, 1, 0], [1, 2, 2], [1, 2, 2]] * 2)
CLUSTERING = [0, 0, 0, 1, 1, 1] * 2
FEATURES = np.random.default_rng(0).normal(size=(12, 2))
MATRIX = [[1.0, 0.2], [0.2, 1.0]]

WRONG: list[Callable[[], Any]] = [
    lambda: 10**400, lambda: -(10**400), lambda: 2**63, lambda: -(2**63), lambda: float("nan"), lambda: float("inf"),
    lambda: -1, lambda: 0, lambda: 1.5, lambda: "3", lambda: "x", lambda: b"x", lambda: None, lambda: True, lambda: 1j,
    lambda: [1], list, dict, object, lambda: np.array([1, 2]), lambda: np.array([[1.0]]),
    lambda: np.int64(2**62), lambda: np.datetime64("2020"), lambda: [[1], [1, 2]], lambda: np.array(3),
    lambda: np.array("x"), lambda: [[10**400, 1]] * 12, lambda: [[0, 10**400]], lambda: np.zeros((0, 3)),
    lambda: np.zeros((12, 0)), lambda: np.zeros((3, 3, 3)), lambda: np.full((12, 3), np.nan),
    lambda: np.full((12, 3), np.inf), lambda: pd.DataFrame({"a": [1, "x"] * 6}), lambda: pd.NA,
    lambda: np.array([None] * 12, dtype=object), lambda: (i for i in range(12)), lambda: range(12), lambda: {1, 2},
    lambda: "a" * 10_000, lambda: np.ma.masked, lambda: np.array([(1, 2)], dtype=[("a", int), ("b", int)]),
    lambda: np.array(["2020-01-01"] * 12, dtype="M8[D]"), lambda: [[object()]] * 12, lambda: int, lambda: lambda: 1,
]  # fmt: skip


def targets() -> list[tuple[str, Callable[..., Any], list[str], dict[str, Any]]]:
    """Name, what to call, the arguments to spoil, and sound values of the required ones."""
    found: list[tuple[str, Callable[..., Any], list[str], dict[str, Any]]] = []

    def fit(make: Callable[[], Any], X: Any, **more: Any) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            data = arguments.pop("X", X)
            fitting = {k: arguments.pop(k) for k in ("sample_weight", "must_link", "features", "known_labels")
                       if k in arguments}  # fmt: skip
            return make().set_params(**arguments).fit(data, **{**more, **fitting})

        return call

    for name in NAMES:
        make = lambda name=name: make_consensus(name, 2)  # noqa: E731
        found.append((name, fit(make, LABELS), ["X", "sample_weight", *make().get_params()], {}))
    for name in RANKERS:
        make = lambda name=name: make_ranker(name)  # noqa: E731
        spoiled = ["X", "features", "must_link", "known_labels", *make().get_params()]
        found.append((name, fit(make, LABELS, features=FEATURES), spoiled, {}))
    small = {"GreedyPartitions": {"n_clusters": 2}, "MixedPartitions": {"n_clusters": 2},
             "ResampledPartitions": {"n_partitions": 2, "n_clusters": 2}}  # fmt: skip
    for name in generation.__all__:
        cls = getattr(generation, name)
        if name.endswith("Partitions"):
            few = {"n_partitions": 2} if "n_partitions" in inspect.signature(cls).parameters else {"n_clusters": 2}
            make = lambda cls=cls, name=name, few=few: cls(**small.get(name, few))  # noqa: E731
            found.append((name, fit(make, FEATURES), ["X", *make().get_params(deep=False)], {}))
    for module in (metrics, plotting, ranking, report, generation):
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function) and name not in ("write_partitions", "make_pool"):
                parameters = inspect.signature(function).parameters
                spoiled = [p for p, v in parameters.items() if v.kind is not v.VAR_KEYWORD]
                found.append((f"{module.__name__}.{name}", function, spoiled, sound_arguments(name, parameters)))
    fewer = {"cluster_stability": {"n_resamples": 3}, "prediction_strength": {"n_splits": 2, "k_range": [2, 3]}}
    for name in ("cluster_stability", "partition_stability", "prediction_strength"):
        function = getattr(stability, name)
        parameters = inspect.signature(function).parameters
        given = {**sound_arguments(name, parameters), **fewer.get(name, {}), "labels": None}
        given = {**given, "labels": LABELS} if name == "partition_stability" else given
        given = {parameter: value for parameter, value in given.items() if parameter in parameters}
        found.append((f"ensemblage.stability.{name}", function, list(parameters), given))
    found.append(("Ensemble", Ensemble, ["labels", "names", "missing"], {"labels": LABELS}))
    taken = Ensemble(LABELS)
    for name in ("select", "one_hot", "append_partitions"):
        method = getattr(taken, name, None)
        if method is not None:
            spoiled = list(inspect.signature(method).parameters)
            given = {p: [0] for p in spoiled[:1] if name == "select"}
            found.append((f"Ensemble.{name}", method, spoiled, given))
    return found


SOUND = {
    "labels": LABELS, "ensemble": LABELS, "partition": CLUSTERING, "X": FEATURES, "measure": "dunn", "name": "aari",
    "matrix": MATRIX, "clusters": [0, 1], "membership": MATRIX, "cdfs": {2: [0.1] * 101}, "curves": {2: 0.1},
    "lifetimes": {2: 0.1}, "counts": [1, 2, 3], "scores": [1, 2], "sizes": None, "consensus": None,
    "estimator": KMeans(2, n_init=1),
}  # fmt: skip


def sound_arguments(name: str, parameters: Any) -> dict[str, Any]:
    required = [p for p, v in parameters.items() if v.default is v.empty and v.kind is not v.VAR_KEYWORD]
    return {p: SOUND.get(p, CLUSTERING) for p in required}


TARGETS = targets()


def case(draw: Random, folder: Path) -> str:
    name, call, spoiled, given = draw.choice(TARGETS)
    if not spoiled:
        return "nothing to spoil"
    parameter, number = draw.choice(spoiled), draw.randrange(len(WRONG))
    value = WRONG[number]()
    if parameter in ("progress", "check_input") and callable(value):
        return "a function is none of ours"
    if name.startswith("ensemblage.report.build") or parameter in ("path", "json_path"):
        given = {**given, "path": Path(tempfile.gettempdir()) / "ensemblage-fuzz.html"}
        if parameter in ("path", "json_path"):
            return "paths are left alone"
    arguments = {**given, parameter: value}
    try:
        call(**arguments)
    except Exception as error:
        try:
            return sentence_of(error)
        except Failure as failure:
            shown = repr(value)[:80].replace("\n", " ")
            raise Failure(f"{name}({parameter}={shown}): {failure}") from error
    finally:
        import matplotlib.pyplot as plt

        plt.close("all")
    return "result"
