"""Speed and memory of the foundation against what a user would do instead.

    python lab/benchmarks/bench_foundation.py [--small]

Every comparison runs in this process, both sides in turn; ratios are theirs / ours.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings

import numpy as np
from common import by_kmeans, distinct_share, extra_mb, in_fresh_process, paired, planted, seconds, table
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ensemblage import Ensemble
from ensemblage.consensus import KMeansConsensus
from ensemblage.metrics import density, kmeans_loss
from ensemblage.ranking import AverageAgreement

K, STEPS = 20, 10


def labels_of(kind, n):
    return planted(n, 20, K, 20, 100, 0.5)[0] if kind == "planted" else by_kmeans(n, 20, 20, 100)[0]


def kmeans_row(kind, n):
    """The same start and number of assignment steps as scikit-learn's KMeans on the binary matrix."""
    ensemble = Ensemble(labels_of(kind, n))
    start = start_of(ensemble)
    H = csr_matrix(ensemble.one_hot(np.float32))
    H.indices, H.indptr = H.indices.astype(np.int32), H.indptr.astype(np.int32)
    centres = np.vstack([np.asarray(H[start == c].mean(axis=0)) for c in range(K)])
    share, rows_s = distinct_share(ensemble), seconds(lambda: Ensemble(ensemble).distinct)
    # scikit-learn assigns once more after its last update.
    ours = KMeansConsensus(K, init=start, max_iter=STEPS + 1)
    theirs = KMeans(K, init=centres, n_init=1, max_iter=STEPS, tol=0)
    ours.fit(ensemble)
    a, b, ratio = paired(lambda: ours.fit(ensemble), lambda: theirs.fit(H))
    losses = [kmeans_loss(ensemble, model.labels_) for model in (ours, theirs)]
    extra = in_fresh_process(__file__, "--memory", kind, str(n))
    return {
        "ensemble": kind,
        "n": f"{n:,}",
        "distinct": f"{share:.1%}",
        "ours, s": f"{a:.2f}",
        "scikit-learn, s": f"{b:.2f}",
        "ratio": f"{ratio:.1f}",
        "distinct rows, s (once per ensemble)": f"{rows_s:.2f}",
        "ratio with them": f"{b / (a + rows_s):.1f}",
        "steps": f"{ours.n_iter_} / {theirs.n_iter_ + 1}",
        "loss differs by": f"{abs(losses[0] / losses[1] - 1):.1e}",
        "our extra memory": extra,
    }


def start_of(ensemble):
    """A partition to start from: k-means++ seeds, each row beside the nearest.

    The centres of a random partition are so alike that scikit-learn's float32 sends rows elsewhere than exact sums do.
    """
    return KMeansConsensus(K, n_init=1, max_iter=1, random_state=0).fit(ensemble).labels_


def memory(kind, n):
    """Print the extra memory of one fit, distinct rows included."""
    labels = labels_of(kind, n)
    KMeansConsensus(2, n_init=1).fit(labels[:1000])
    start = start_of(Ensemble(labels))
    ensemble = Ensemble(labels)
    print(f"{extra_mb(lambda: KMeansConsensus(K, init=start, max_iter=STEPS + 1).fit(ensemble)):.0f} MB")


def density_row(n):
    labels, truth = planted(n, 20, K, 20, 100, 0.5)
    ensemble = Ensemble(labels)
    density(ensemble, truth)
    times = [seconds(lambda: density(ensemble, truth)) for _ in range(5)]
    return {"n": f"{n:,}", "p": 20, "distinct": f"{distinct_share(ensemble):.1%}", "seconds": f"{min(times):.3f}"}


def agreement_row(T, n):
    labels, _ = planted(n, T, 10, 5, 20, 0.5)
    ensemble = Ensemble(labels)
    AverageAgreement().fit(ensemble)

    def double_loop():
        return [[adjusted_rand_score(a, b) for b in labels.T if b is not a] for a in labels.T[:4]]

    # Four of the T rows of the double loop stand for all of them.
    ours, theirs, ratio = paired(lambda: AverageAgreement().fit(ensemble), double_loop)
    return {
        "T": T,
        "n": f"{n:,}",
        "distinct": f"{distinct_share(ensemble):.1%}",
        "ours, s": f"{ours:.2f}",
        "scikit-learn, s (from 4 rows)": f"{theirs * T / 4:.0f}",
        "ratio": f"{ratio * T / 4:.0f}",
    }


def start_up_row(command):
    times = [seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(7)]
    bare = [seconds(lambda: subprocess.run([sys.executable, "-c", ""], check=True)) for _ in range(7)]
    shown = "import ensemblage" if "-c" in command else "ensemblage --help"
    return {
        "command": shown,
        "ms": f"{1000 * min(times):.0f}",
        "ms above an empty Python": f"{1000 * (min(times) - min(bare)):.0f}",
    }


def main(small):
    n = 10_000 if small else 1_000_000
    table("KMeansConsensus against KMeans on CSR float32", [kmeans_row(kind, n) for kind in ("k-means", "planted")])
    table("Density of a partition", [density_row(n)])
    table(
        "AverageAgreement against a double loop", [agreement_row(20 if small else 200, n // 100 if small else 10_000)]
    )
    python = [sys.executable, "-c", "import ensemblage"]
    table("Start-up", [start_up_row(python), start_up_row([sys.executable, "-m", "ensemblage", "--help"])])


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
