"""Does the default KMeansConsensus find planted clusters? Five sizes, 20 seeds each, beside a single start.

python lab/benchmarks/bench_recovery.py [--small]
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
from common import distinct_share, planted, seconds, table
from sklearn.metrics import adjusted_rand_score

from ensemblage import Ensemble
from ensemblage.consensus import KMeansConsensus

SIZES = (1_000, 5_000, 20_000, 100_000, 1_000_000)
K, SEEDS = 10, 20


def row(n):
    scores, single, times, shares = [], [], [], []
    for seed in range(SEEDS):
        labels, truth = planted(n, 20, K, K, 30, 0.3, seed=seed)
        ensemble = Ensemble(labels)
        shares.append(distinct_share(ensemble))
        model = KMeansConsensus(K, random_state=seed)
        times.append(seconds(partial(model.fit, ensemble)))
        scores.append(adjusted_rand_score(truth, model.labels_))
        one = KMeansConsensus(K, n_init=1, init="random", random_state=seed).fit(ensemble)
        single.append(adjusted_rand_score(truth, one.labels_))
    return {
        "n": f"{n:,}",
        "distinct": f"{np.mean(shares):.1%}",
        "least ARI": f"{min(scores):.4f}",
        "mean ARI": f"{np.mean(scores):.4f}",
        "mean ARI, one random start": f"{np.mean(single):.3f}",
        "seconds (ten starts)": f"{np.median(times):.2f}",
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="only up to 20,000 objects")
    sizes = [n for n in SIZES if n <= (20_000 if parser.parse_args().small else n)]
    table(f"Planted ensembles, p = 20, {K} clusters, 30 % of the labels random", [row(n) for n in sizes])
