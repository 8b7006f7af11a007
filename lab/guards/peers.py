"""Our results beside those of other packages, run as black boxes: python lab/guards/peers.py

``nox -s peers`` installs them in an environment of its own; none is a dependency, and no source of theirs was read. A
record of `records/peers.json` is one comparison: how many cases, the largest difference, or who was better how often.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
import records
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from ensemblage import metrics, read_table
from ensemblage.consensus import KModesConsensus
from ensemblage.generation import Genie
from ensemblage.preprocessing import Preprocessor

PATH = records.FOLDER / "peers.json"
TIE = 1e-9
"""Costs that differ by less are equal."""


def shapes() -> Iterator[tuple[str, np.ndarray]]:
    """Points without equal distances: blobs of unequal size, moons, noise."""
    for seed in range(6):
        yield f"blobs {seed}", make_blobs([120, 40, 15], 3 + seed, random_state=seed)[0]
        yield f"moons {seed}", make_moons(150, noise=0.08, random_state=seed)[0]
        yield f"noise {seed}", np.random.default_rng(seed).normal(size=(100, 2 + seed))


def partitions() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of labels of the same objects, alike to a growing degree."""
    for seed in range(60):
        random = np.random.default_rng(seed)
        n, k = int(random.integers(10, 300)), int(random.integers(2, 9))
        first = random.integers(0, k, n)
        second = np.where(random.random(n) < seed / 60, first, random.integers(0, k + 2, n))
        yield first, second


def tables() -> Iterator[Any]:
    """Frames of numbers and categories without gaps."""
    import pandas as pd

    for seed in range(12):
        random = np.random.default_rng(seed)
        n, kind = 60, random.integers(0, 3, 60)
        numbers = {f"x{i}": random.normal(kind, 1 + i) for i in range(1 + seed % 4)}
        words = [f"level {i}" for i in range(5)]
        levels = {
            f"c{i}": np.array(words)[(kind + random.integers(0, 2 + i, n)) % (2 + i)] for i in range(1 + seed % 3)
        }
        yield pd.DataFrame(numbers | levels)


def genieclust() -> dict[str, Any]:
    """Labels of Genie, by every threshold and number of clusters."""
    from genieclust import Genie as Theirs

    found = []
    for _, X in shapes():
        for k in (2, 3, 5, 8):
            for gini in (0.1, 0.3, 0.5, 0.7, 1.0):
                theirs = Theirs(k, gini_threshold=gini).fit_predict(X)
                found.append(adjusted_rand_score(Genie(k, gini_threshold=gini).fit_predict(X), theirs))
    return {"what": "labels of Genie", "cases": len(found), "equal": int(np.sum(np.array(found) == 1))}


def clusim() -> dict[str, Any]:
    """Similarities of two partitions: Rand, adjusted Rand, Jaccard, mutual information, variation of information."""
    from clusim import sim
    from clusim.clustering import Clustering

    from ensemblage import Ensemble

    largest: dict[str, float] = {}
    for first, second in partitions():
        theirs = [Clustering().from_membership_list(labels.tolist()) for labels in (first, second)]
        of_all = Ensemble(np.column_stack([first]))
        pairs: dict[str, tuple[float, float]] = {
            "Rand": (1 - metrics.partition_distance(first, second, "rand"), sim.rand_index(*theirs)),
            "Jaccard": (1 - metrics.partition_distance(first, second, "jaccard"), sim.jaccard_index(*theirs)),
            "adjusted Rand": (metrics.ensemble_ari(of_all, second), sim.adjrand_index(*theirs)),
            "normalised mutual information": (
                metrics.ensemble_nmi(of_all, second),
                sim.nmi(*theirs, norm_type="sum"),
            ),
            "variation of information": (
                metrics.partition_distance(first, second, "vi") / np.log(2),
                sim.vi(*theirs, norm_type="none"),
            ),
        }
        for name, (ours, other) in pairs.items():
            largest[name] = max(largest.get(name, 0.0), float(np.max(np.abs(np.ravel(ours)[0] - other))))
    return {"what": "similarities of two partitions", "cases": 60, "largest difference": max(largest.values())}


def kmodes() -> dict[str, Any]:
    """The cost of k-modes, by our default starts and by a hundred of theirs."""
    from kmodes.kmodes import KModes

    counts = {"ours lower": 0, "equal": 0, "theirs lower": 0}
    for seed in range(42):
        random = np.random.default_rng(seed)
        n, p, k = (40, 100, 200)[seed % 3], (4, 8)[seed % 2], (2, 3, 5)[seed // 14]
        centres = random.integers(0, 4, (k, p))
        labels = np.where(
            random.random((n, p)) < 0.35, random.integers(0, 4, (n, p)), centres[random.integers(0, k, n)]
        )
        ours = cost_of_modes(labels, KModesConsensus(k, random_state=0).fit(labels).labels_)
        theirs = KModes(k, init="Huang", n_init=100, random_state=seed).fit(labels.astype(str)).cost_
        counts["equal" if abs(ours - theirs) < TIE else "ours lower" if ours < theirs else "theirs lower"] += 1
    return {"what": "cost of k-modes, our default starts and 100 of theirs", "cases": 42, **counts}


def cost_of_modes(labels: np.ndarray, clusters: np.ndarray) -> float:
    """Labels that differ from the mode of their cluster."""
    return float(
        sum(len(column) - np.bincount(column).max() for c in np.unique(clusters) for column in labels[clusters == c].T)
    )


def prince() -> dict[str, Any]:
    """Distances in all coordinates of the factor analysis of mixed data."""
    from prince import FAMD

    largest = 0.0
    for table in tables():
        ours = pdist(Preprocessor(standardize=True, category_scale="famd").fit_transform(table))
        theirs = FAMD(n_components=30, random_state=0).fit(table).row_coordinates(table).to_numpy()
        largest = max(largest, float(np.abs(ours - pdist(theirs)).max()))
    return {"what": "distances of the factor analysis of mixed data", "cases": 12, "largest difference": largest}


def gower() -> dict[str, Any]:
    """Gower's distances of all pairs; theirs are made of 32 bits."""
    from gower import gower_matrix

    largest = 0.0
    for table in tables():
        theirs = gower_matrix(table.to_numpy(dtype=object), cat_features=[name.startswith("c") for name in table])
        largest = max(largest, float(np.abs(read_table(table).features().distances() - theirs).max()))
    return {"what": "Gower's distances of all pairs", "cases": 12, "largest difference": largest}


COMPARED: tuple[Callable[[], dict[str, Any]], ...] = (genieclust, clusim, kmodes, prince, gower)


def main() -> None:
    """Compare with those that are named, or with all, and write the record."""
    wanted = sys.argv[1:] or [one.__name__ for one in COMPARED]
    known = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    for one in COMPARED:
        if one.__name__ in wanted:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                known[one.__name__] = {"version": version(one.__name__), **one(), "versions": records.versions()}
            sys.stdout.write(f"{one.__name__}: {known[one.__name__]}\n")
    PATH.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
