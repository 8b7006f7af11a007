"""The k-means family: utilities and SEC against the category iteration, H-KM, GKCC, the climb of the density.

    python lab/benchmarks/bench_kmeans_family.py [--small]

Every comparison runs in this process, both sides in turn; memory is that of a process of its own.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from common import distinct_share, extra_mb, in_fresh_process, paired, planted, seconds, table
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from ensemblage import Ensemble
from ensemblage.consensus import BisectingKMeansConsensus, KMeansConsensus, SpectralEnsembleClustering
from ensemblage.consensus.kmeans._km import UTILITIES
from ensemblage.consensus.kmeans._label_kmeans import kmeans, seed_at_random
from ensemblage.consensus.kmeans._sec import AssociationUtility
from ensemblage.generation import GreedyPartitions
from ensemblage.labels.rows import labelled_rows

K, STEPS = 20, 10
KINDS = [*UTILITIES, "sec"]


def labels_of(n):
    return planted(n, 20, K, 20, 100, 0.5)[0]


def start_of(kind):
    """One start of the method, as a user calls it."""
    if kind == "sec":
        return SpectralEnsembleClustering(K, n_init=1, random_state=0)
    return KMeansConsensus(K, utility=kind, n_init=1, random_state=0)


def utility_rows(n):
    """Ten iterations from the same start, no bounds; and one whole start with its seeding."""
    ensemble = Ensemble(labels_of(n))
    rows = labelled_rows(ensemble, np.ones(20))
    seeds = seed_at_random(rows.codes, rows.counts, rows.offsets, K, np.random.RandomState(0))
    of_rows = rows.offsets, rows.weights, rows.label_sizes()
    utilities = {kind: type(kind, (utility,), {"bounded": False})(*of_rows) for kind, utility in UTILITIES.items()}
    utilities["sec"] = AssociationUtility.of(rows)

    def iterations(kind):
        return lambda: kmeans(rows.codes, rows.counts, utilities[kind], K, seeds, STEPS, 0.0, None)

    result = []
    for kind in KINDS:
        iterations(kind)()
        other, base, _ = paired(iterations(kind), iterations("category"))
        model = start_of(kind)
        result.append(
            {
                "utility": kind,
                "n": f"{n:,}",
                "p": 20,
                "k": K,
                "distinct": f"{distinct_share(ensemble):.1%}",
                f"{STEPS} iterations, s": f"{other:.2f}",
                "category, s": f"{base:.2f}",
                "ratio": f"{other / base:.2f}",
                "a start, s": f"{seconds(lambda model=model: model.fit(ensemble)):.1f}",
                "its iterations": model.n_iter_,
                "its extra memory": in_fresh_process(__file__, "--memory", kind, str(n)),
            }
        )
    return result


def memory(kind, n):
    """Print the extra memory of one start, distinct rows included."""
    labels = labels_of(n)
    start_of(kind).fit(labels[:1000])
    ensemble = Ensemble(labels)
    print(f"{extra_mb(lambda: start_of(kind).fit(ensemble)):.0f} MB")


def bisecting_row(n, k):
    ensemble = Ensemble(planted(n, 20, k, 20, 100, 0.5)[0])
    share = distinct_share(ensemble)
    tree, flat = BisectingKMeansConsensus(k, random_state=0), KMeansConsensus(k, random_state=0)
    BisectingKMeansConsensus(4, random_state=0).fit(ensemble[:1000])
    ours, theirs = seconds(lambda: tree.fit(ensemble)), seconds(lambda: flat.fit(ensemble))
    return {
        "n": f"{n:,}",
        "p": 20,
        "k": k,
        "distinct": f"{share:.1%}",
        "H-KM, s": f"{ours:.1f}",
        "KM, ten starts, s": f"{theirs:.1f}",
        "ratio": f"{theirs / ours:.1f}",
        "loss against KM's": f"{tree.objective_ / flat.objective_:.4f}",
    }


def refine_row(n):
    ensemble = Ensemble(labels_of(n))
    start = KMeansConsensus(K, n_init=1, random_state=0)
    refined = KMeansConsensus(K, n_init=1, random_state=0, refine="density")
    refined.fit(ensemble[:1000])
    plain, both = seconds(lambda: start.fit(ensemble)), seconds(lambda: refined.fit(ensemble))
    trace = refined.density_trace_
    return {
        "n": f"{n:,}",
        "p": 20,
        "k": K,
        "distinct": f"{distinct_share(ensemble):.1%}",
        "one start, s": f"{plain:.1f}",
        "with refine, s": f"{both:.1f}",
        "passes": len(trace),
        "density before": f"{trace[0]:.6f}",
        "after": f"{trace[-1]:.6f}",
    }


def straightforward(X, n_clusters, candidates):
    """Algorithm 1 of Li & Liu on the stacked matrix, by scikit-learn's KMeans; the loss of the winner of each stage."""
    W, centres, losses = X, X.mean(axis=0)[None], []
    for k, rows in zip(range(2, n_clusters + 1), candidates, strict=True):
        starts = [np.vstack([centres, W[row]]) for row in rows]
        models = [KMeans(k, init=start, n_init=1, tol=0).fit(W) for start in starts]
        winner = min(models, key=lambda model: model.inertia_)
        losses.append(winner.inertia_)
        W = np.hstack([W, *(np.eye(k)[model.labels_] for model in models)])
        means = np.array([W[winner.labels_ == c].mean(axis=0) for c in range(k)])
        if k < n_clusters:
            centres = KMeans(k, init=means, n_init=1, tol=0).fit(W).cluster_centers_
    return losses


def greedy_row(n, n_clusters):
    X = StandardScaler().fit_transform(make_blobs(n, 16, centers=30, cluster_std=4, random_state=0)[0])
    model = GreedyPartitions(n_clusters, random_state=0)
    GreedyPartitions(3, random_state=0).fit(X[:200])
    ours = seconds(lambda: model.fit(X))
    losses = []
    stages = model.candidates_.reshape(n_clusters - 1, -1)
    theirs = seconds(lambda: losses.extend(straightforward(X, n_clusters, stages)))
    own = model.losses_.reshape(n_clusters - 1, -1).min(axis=1)
    return {
        "n": f"{n:,}",
        "m": 16,
        "K": n_clusters,
        "partitions": len(model.losses_),
        "distinct ones": sum(stage.labels.shape[1] for stage in model._stages),
        "GreedyPartitions, s": f"{ours:.2f}",
        "KMeans on the stacked matrix, s": f"{theirs:.1f}",
        "ratio": f"{theirs / ours:.1f}",
        "losses of the winners differ by": f"{np.abs(own / losses - 1).max():.0e}",
    }


def main(small):
    n = 10_000 if small else 1_000_000
    table("Utilities and SEC against the category utility, without bounds", utility_rows(n))
    table("Bisecting k-means to many clusters", [bisecting_row(n, 20 if small else 100)])
    table("Climb of the exact density after one start", [refine_row(n)])
    table("Greedy partitions", [greedy_row(500 if small else 5_000, 5 if small else 10)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a hundredth of the size")
    parser.add_argument("--memory", nargs=2, metavar=("KIND", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.memory:
        memory(options.memory[0], int(options.memory[1]))
    else:
        main(options.small)
