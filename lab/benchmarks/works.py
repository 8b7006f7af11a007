"""The work that `compare.py` times, one process each: python lab/benchmarks/works.py NAME [--small] prints JSON."""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import planted

from ensemblage import ConsensusClustering, Ensemble, choose_k
from ensemblage.consensus import CSPA, CumulativeVoting, EvidenceAccumulation, KMeansConsensus, NegMM
from ensemblage.generation import RandomKPartitions
from ensemblage.metrics._coassociation import association_counts
from ensemblage.ranking import DISCOTEC


def ensemble(n: int, p: int, k: int, k_low: int, k_high: int) -> Ensemble:
    labels, _ = planted(n, p, k, k_low, k_high, 0.2)
    made = Ensemble(labels)
    _ = made.distinct
    return made


def blobs(n: int, k: int, d: int = 20) -> Any:
    random = np.random.default_rng(0)
    centres = random.normal(size=(k, d))
    return centres[random.integers(k, size=n)] + 0.7 * random.normal(size=(n, d))


def base_kmeans(n: int) -> tuple[Callable[[], Any], Callable[[Any], float]]:
    X, generator = blobs(n, 20), RandomKPartitions(2, k_min=20, k_max=20, random_state=0, n_jobs=1)
    return lambda: generator.fit(X), lambda fitted: float(np.mean([e.inertia_ for e in fitted.estimators_]))


def fit(estimator: Any, of: Ensemble, loss: str | None = None) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    return lambda: estimator.fit(of), lambda fitted: None if loss is None else float(getattr(fitted, loss))


def counts(n: int) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    of = ensemble(n, 50, 10, 10, 30)
    return lambda: association_counts(of), lambda found: int(np.asarray(found).sum())


def discotec(n: int) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    return fit(DISCOTEC(n_jobs=1, random_state=0), ensemble(n, 50, 10, 10, 30))


def linkage(kind: str, n: int) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    return fit(EvidenceAccumulation(10, linkage=kind, n_jobs=1), ensemble(n, 20, 10, 10, 30))


def whole_run(n: int) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    X, model = blobs(n, 10), ConsensusClustering(10, n_jobs=1, random_state=0)
    return lambda: model.fit(X), lambda fitted: None


def number_of_clusters(n: int) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    X = blobs(n, 3, 1_500)
    return lambda: choose_k(X, n_jobs=1, random_state=0), lambda choice: choice.best


# What is done; whole and small size.
WORKS: dict[str, tuple[Callable[[int], Any], int, int]] = {
    "base k-means, k = 20": (base_kmeans, 1_000_000, 60_000),
    "KMeansConsensus, ten starts": (
        lambda n: fit(KMeansConsensus(20, n_jobs=1, random_state=0), ensemble(n, 20, 20, 20, 60), "objective_"),
        1_000_000,
        300_000,
    ),
    "KMeansConsensus, one start": (
        lambda n: fit(
            KMeansConsensus(20, n_init=1, n_jobs=1, random_state=0), ensemble(n, 20, 20, 20, 60), "objective_"
        ),
        1_000_000,
        100_000,
    ),
    "average linkage": (lambda n: linkage("average", n), 20_000, 4_000),
    "single linkage": (lambda n: linkage("single", n), 100_000, 10_000),
    "complete linkage": (lambda n: linkage("complete", n), 20_000, 4_000),
    "DISCOTEC binary, T = 50": (discotec, 20_000, 6_000),
    "pair histogram, p = 50": (counts, 60_000, 10_000),
    "CSPA": (lambda n: fit(CSPA(10, n_jobs=1, n_init=1, random_state=0), ensemble(n, 20, 10, 10, 30)), 10_000, 3_000),
    "NegMM, WAT by k-means": (
        lambda n: fit(NegMM(10, association_threshold="kmeans", n_jobs=1, random_state=0), ensemble(n, 20, 10, 10, 30)),
        5_000,
        2_000,
    ),
    "CumulativeVoting, k_i 20 to 100": (
        lambda n: fit(CumulativeVoting(20, n_jobs=1), ensemble(n, 25, 20, 20, 100)),
        1_000_000,
        100_000,
    ),
    "choose_k, 1,500 features": (number_of_clusters, 200, 60),
    "ConsensusClustering, 50 partitions": (whole_run, 200_000, 5_000),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=WORKS)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    make, whole, small = WORKS[arguments.name]
    compile_first, _ = make(600)
    compile_first()
    work, score = make(small if arguments.small else whole)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    done = work()
    seconds = time.process_time() - start
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    json.dump({"seconds": seconds, "megabytes": more / 1024, "score": score(done)}, sys.stdout)


if __name__ == "__main__":
    main()
