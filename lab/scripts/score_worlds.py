"""What the chooser owes to each kind of synthetic world, and whether it sees structure.

score_worlds.py without DIR RECORD   trained without each kind in turn, scored on the worlds of validation
score_worlds.py structure RECORD     clear or not, in 168 worlds of the test part, beside choose_k's test

DIR is that of lab/scripts/train_chooser.py. A line of JSON each; what is in RECORD is not made again.
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from train_chooser import by_kind, fitted, gathered

from ensemblage import choose_k
from ensemblage.choices._chooser import choose_candidate
from ensemblage.datasets import make_world
from ensemblage.datasets._worlds import KINDS
from ensemblage.pipeline._decisions import units_of
from ensemblage.preprocessing import Preprocessor

FIRST_TEST, N_TEST = 200_000, 168


def without_each(folder: Path, done: set[Any]) -> Iterator[dict[str, Any]]:
    """Means over kinds of the best candidate by trees that did not see one of the kinds."""
    train, held_out = gathered(folder, is_held_out=False), gathered(folder, is_held_out=True)
    kinds = list(KINDS)
    for kind in [None, *kinds]:
        if kind not in done:
            seen = train["seed"] % len(kinds) != (-1 if kind is None else kinds.index(kind))
            predicted = fitted(train, np.flatnonzero(seen)).predict(held_out["X"])
            yield {"without": kind, **{task: by_kind(held_out, predicted, task) for task in ("k given", "k unknown")}}


def structure(done: set[Any]) -> Iterator[dict[str, Any]]:
    """The verdicts of the rating and of the test of `choose_k`, and their numbers of clusters."""
    for seed in range(FIRST_TEST, FIRST_TEST + N_TEST):
        kind = list(KINDS)[seed % len(KINDS)]
        if seed not in done:
            world, preprocessor = make_world(kind, random_state=seed), Preprocessor(impute="median")
            X = preprocessor.fit_transform(world.X)
            chosen = choose_candidate(X, units=units_of(preprocessor))
            choice = choose_k(X, standardize=False, random_state=0, n_jobs=1)
            yield {
                "seed": seed,
                "kind": kind,
                "rating": chosen.rating,
                "clear": chosen.is_clear,
                "choose_k_finds": choice.n_clusters(allow_one=True) > 1,
                "k": chosen.n_clusters,
                "choose_k": choice.n_clusters(),
                "true": len(np.unique(world.labels[world.labels >= 0])),
            }


def main() -> None:
    warnings.simplefilter("ignore")
    command, *folder, record = sys.argv[1:]
    path, key = Path(record), {"without": "without", "structure": "seed"}[command]
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    done = {json.loads(line)[key] for line in lines}
    rows = without_each(Path(folder[0]), done) if command == "without" else structure(done)
    for row in rows:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(row[key], flush=True)


if __name__ == "__main__":
    main()
