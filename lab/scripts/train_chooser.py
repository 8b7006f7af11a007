"""Train the chooser of candidate partitions on synthetic worlds alone.

python lab/scripts/train_chooser.py worlds DIR FIRST LAST   features and scores of the candidates of these worlds
python lab/scripts/train_chooser.py train DIR   train on the worlds below 100,000 and write the arrays that are shipped
python lab/scripts/train_chooser.py score DIR   score the shipped arrays on the other worlds, as JSON

docs/DEFAULT.md tells which worlds train, validate and test.
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import hashlib
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor

import ensemblage.choices
from ensemblage.choices._candidate_features import FAMILIES, all_candidates, describe, feature_names
from ensemblage.choices._chooser import ARRAYS, Trees, trained_trees
from ensemblage.datasets import make_world
from ensemblage.datasets._worlds import KINDS
from ensemblage.generation._views import VIEWS
from ensemblage.kernels._partition_features import pair_agreement
from ensemblage.pipeline._decisions import units_of
from ensemblage.preprocessing import Preprocessor

CHUNK = 25
"""Worlds of a file."""


def scores(labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """(p,) adjusted Rand indices; objects without a class are left out, and with one class all is 0."""
    known = truth >= 0
    classes = np.unique(truth[known], return_inverse=True)[1].astype(np.int32)[None]
    if classes.max() < 1:
        return np.zeros(len(labels))
    labels = np.ascontiguousarray(labels[:, known])
    ari, shared = np.empty((len(labels), 1)), np.empty((len(labels), 1))
    pair_agreement(labels, labels.max(axis=1) + 1, classes, classes.max(axis=1) + 1, ari, shared)
    return ari[:, 0]


def worlds(folder: Path, first: int, last: int) -> None:
    """Features and scores of the candidates of worlds, a file per chunk; what is there is not made again."""
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(first, last, CHUNK):
        path = folder / f"{start:06d}.npz"
        if path.exists():
            continue
        began, parts = time.perf_counter(), []
        for seed in range(start, min(start + CHUNK, last)):
            world = make_world(list(KINDS)[seed % len(KINDS)], random_state=seed)
            try:
                preprocessor = Preprocessor(impute="median")
                features = preprocessor.fit_transform(world.X)
                units = units_of(preprocessor)
                pool = all_candidates(features, units=units)
                described = describe(pool, features, units)
            except Exception as error:
                print("failed", seed, repr(error)[:200], flush=True)
                continue
            of = pool.candidates
            parts.append(
                {
                    "X": described.X,
                    "y": scores(pool.labels, world.labels),
                    "seed": np.full(len(of), seed),
                    "view": np.array([VIEWS.index(c.view) for c in of]),
                    "family": np.array([FAMILIES.index(c.family) for c in of]),
                    "k": np.array([c.n_clusters for c in of]),
                    "true_k": np.full(len(of), len(np.unique(world.labels[world.labels >= 0]))),
                    **(
                        {
                            "n": np.array([len(features)]),
                            "labels": pool.labels.astype(np.uint8).ravel(),
                            "truth": world.labels,
                        }
                        if start >= FIRST_HELD_OUT
                        else {}
                    ),
                }
            )
        with path.with_suffix(".part").open("wb") as file:
            np.savez_compressed(file, **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
        path.with_suffix(".part").rename(path)
        print(start, f"{time.perf_counter() - began:.0f} s", flush=True)


# -- training ----------------------------------------------------------------------------------------------------------

FIRST_HELD_OUT = 100_000
SETTINGS = {
    "learning_rate": 0.08,
    "max_iter": 150,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 80,
    "l2_regularization": 5.0,
    "max_features": 0.3,
    "early_stopping": False,
    "random_state": 0,
}
"""Of HistGradientBoostingRegressor."""
N_FOLDS, MOST_SPLIT = 5, 0.04
"""Of training worlds, for the rating of single clouds; the share of them with a higher one, with room for 5 %."""
FIELDS = ("X", "y", "seed", "view", "family", "k", "true_k")


def gathered(folder: Path, is_held_out: bool) -> dict[str, np.ndarray]:
    """The candidates of all worlds of one part."""
    parts = []
    for path in sorted(folder.glob("*.npz")):
        if (int(path.stem) >= FIRST_HELD_OUT) == is_held_out:
            with np.load(path) as archive:
                parts.append({name: archive[name] for name in FIELDS})
    return {name: np.concatenate([part[name] for part in parts]) for name in FIELDS}


def trees_of(model: HistGradientBoostingRegressor) -> Trees:
    """The trees of a fitted model."""
    parts, roots, start = [], [], 0
    for (predictor,) in model._predictors:
        order = children_together(predictor.nodes)
        nodes, place = predictor.nodes[order], np.argsort(order)
        is_leaf = nodes["is_leaf"].astype(bool)
        parts.append(
            (
                np.where(is_leaf, -1, nodes["feature_idx"]).astype(np.int16),
                np.where(is_leaf, nodes["value"], nodes["num_threshold"]),
                np.where(is_leaf, 0, place[nodes["left"]]).astype(np.int16),
                nodes["missing_go_to_left"].astype(bool),
            )
        )
        roots.append(start)
        start += len(nodes)
    joined = [np.concatenate(part) for part in zip(*parts, strict=True)]
    return Trees(*joined, np.array(roots), float(np.ravel(model._baseline_prediction)[0]))


def children_together(nodes: np.ndarray) -> np.ndarray:
    """The numbers of the nodes of a tree by levels, each right child after its left sibling."""
    order = [0]
    for i in order:
        if not nodes["is_leaf"][i]:
            order += [int(nodes["left"][i]), int(nodes["right"][i])]
    return np.array(order)


def fitted(of: dict[str, np.ndarray], rows: np.ndarray) -> HistGradientBoostingRegressor:
    """The model of some candidates, in which every world weighs the same."""
    _, place, counts = np.unique(of["seed"][rows], return_inverse=True, return_counts=True)
    model = HistGradientBoostingRegressor(**SETTINGS)
    return model.fit(of["X"][rows], of["y"][rows], sample_weight=1 / counts[place])


def rating_of_single_clouds(of: dict[str, np.ndarray]) -> float:
    """The rating that 5 % of the single clouds exceed, each rated by trees that learned from other worlds."""
    fold, ratings = of["seed"] % N_FOLDS, []
    is_single = of["seed"] % len(KINDS) == list(KINDS).index("single")
    for one in range(N_FOLDS):
        at = np.flatnonzero((fold == one) & is_single)
        predicted = fitted(of, np.flatnonzero(fold != one)).predict(of["X"][at])
        ratings += [predicted[of["seed"][at] == seed].max() for seed in np.unique(of["seed"][at])]
    return round(float(np.quantile(ratings, 1 - MOST_SPLIT)), 4)


def train(folder: Path) -> None:
    """Train on all worlds, and find the rating of single clouds."""
    of = gathered(folder, is_held_out=False)
    seeds, trees = np.unique(of["seed"]), trees_of(fitted(of, np.arange(len(of["y"]))))
    clear = rating_of_single_clouds(of)
    script = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    version = f"2, {len(seeds)} worlds, script {script}, scikit-learn {sklearn.__version__}"
    path = Path(ensemblage.choices.__file__).parent / ARRAYS
    np.savez_compressed(
        path, **trees._asdict(), names=np.array(feature_names()), version=np.array(version), clear=clear
    )
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {version}, clear above {clear}")


def score(folder: Path) -> None:
    """Means over the worlds of each kind, and over kinds: of the answer, of the best candidate, of single families."""
    of = gathered(folder, is_held_out=True)
    shipped = trained_trees()
    predicted = np.concatenate([shipped.trees.predict(X) for X in np.array_split(of["X"], 50)])
    rules = {"chooser": predicted, "best candidate": of["y"]}
    for family in FAMILIES:
        rules[f"{family} at its best"] = np.where(of["family"] == FAMILIES.index(family), of["y"], -np.inf)
    found = {name: {task: by_kind(of, rule, task) for task in ("k given", "k unknown")} for name, rule in rules.items()}
    found["clear"] = {kind: round(float(np.mean(values)), 4) for kind, values in clear_worlds(of, predicted).items()}
    print(json.dumps(found, indent=1))


def clear_worlds(of: dict[str, np.ndarray], predicted: np.ndarray) -> dict[str, list[bool]]:
    """By kind, whether the best candidate of each world is rated above single clouds."""
    found: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for seed in np.unique(of["seed"]):
        rating = predicted[of["seed"] == seed].max()
        found[list(KINDS)[seed % len(KINDS)]].append(bool(rating > trained_trees().clear))
    return found


def by_kind(of: dict[str, np.ndarray], rule: np.ndarray, task: str) -> dict[str, float]:
    """The mean score of the candidates with the highest value of a rule."""
    allowed = of["k"] == of["true_k"] if task == "k given" else np.ones(len(rule), dtype=bool)
    at = np.flatnonzero(allowed & (rule > -np.inf))
    order = at[np.lexsort((-rule[at], of["seed"][at]))]
    seeds, first = np.unique(of["seed"][order], return_index=True)
    scored = of["y"][order[first]]
    kinds = {kind: scored[seeds % len(KINDS) == i] for i, kind in enumerate(KINDS) if kind != "single"}
    means = {kind: round(float(values.mean()), 4) for kind, values in kinds.items() if len(values)}
    return means | {"mean": round(float(np.mean(list(means.values()))), 4)}


def main() -> None:
    warnings.simplefilter("ignore")
    match sys.argv[1:]:
        case ["worlds", folder, first, last]:
            worlds(Path(folder), int(first), int(last))
        case ["train", folder]:
            train(Path(folder))
        case ["score", folder]:
            score(Path(folder))
        case _:
            print(__doc__)


if __name__ == "__main__":
    main()
