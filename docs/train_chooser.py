"""Train the chooser of candidate partitions on synthetic worlds alone.

python docs/train_chooser.py worlds DIR FIRST LAST   candidates of the worlds FIRST … LAST - 1, with their features and scores
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import sys
import time
import warnings
from pathlib import Path

import numpy as np

from ensemblage import Preprocessor
from ensemblage.answer._candidate_features import FAMILIES, describe
from ensemblage.answer._candidate_pool import all_candidates
from ensemblage.datasets import make_world
from ensemblage.datasets._worlds import KINDS
from ensemblage.generation._views import VIEWS
from ensemblage.kernels._partition_features import pair_agreement

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
                features = Preprocessor(impute="median").fit_transform(world.X)
                pool = all_candidates(features)
                described = describe(pool, features)
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
                    **({"n": np.array([len(features)]), "labels": pool.labels.astype(np.uint8).ravel(), "truth": world.labels}
                       if start >= 100_000 else {}),
                }
            )
        with path.with_suffix(".part").open("wb") as file:
            np.savez_compressed(file, **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
        path.with_suffix(".part").rename(path)
        print(start, f"{time.perf_counter() - began:.0f} s", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    match sys.argv[1:]:
        case ["worlds", folder, first, last]:
            worlds(Path(folder), int(first), int(last))
        case _:
            print(__doc__)


if __name__ == "__main__":
    main()
