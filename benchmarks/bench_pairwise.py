"""What compares every pair of rows, against another checkout: processor time of one thread in interleaved pairs of
processes, and memory above what the process held before.

    python benchmarks/bench_pairwise.py OTHER_CHECKOUT [WORK ...]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np
from common import by_kmeans, extra_mb, planted

PAIRS = int(os.environ.get("PAIRS", "5"))


def ensemble_of(n, p):
    from ensemblage import Ensemble

    return Ensemble(planted(n, p, 10, 8, 30, 0.3)[0])


def discotec(n, p=50):
    from ensemblage.ranking._discotec import ConsensusMatrix, exact_means
    from ensemblage.ranking._pair_means import Judged

    ensemble = ensemble_of(n, p)
    rows, C = Judged.members(ensemble), ConsensusMatrix.of(ensemble)
    return lambda: exact_means(rows, C, "binary", n_jobs=1)


def histogram(n, p=50):
    from ensemblage.counting._pairs import pair_histogram

    ensemble = ensemble_of(n, p)
    codes, counts, _ = ensemble.distinct
    return lambda: pair_histogram(codes[:], counts, ensemble.n_clusters, True, n_jobs=1)


def _rows(labels):
    from ensemblage import Ensemble
    from ensemblage.consensus._base import labelled_rows

    ensemble = Ensemble(labels)
    return labelled_rows(ensemble, np.ones(ensemble.shape[1]))


def neighbours(n, p=20):
    from ensemblage.consensus._cspa import association_graph

    rows = _rows(planted(n, p, 10, 8, 30, 0.3)[0])
    codes = rows.codes[np.random.RandomState(0).permutation(len(rows))]
    return lambda: association_graph(codes, rows, 0.0, 100, n_jobs=1)


def single(n, p=20, blobs=False):
    from ensemblage.consensus._label_similarity import no_similarity
    from ensemblage.consensus._linkage import RowSimilarity, single_linkage

    rows = _rows(by_kmeans(n, p, 10, 30)[0] if blobs else planted(n, p, 10, 8, 30, 0.3)[0])
    similarity = RowSimilarity(rows, no_similarity(rows), None, 1)
    return lambda: single_linkage(similarity)


WORK = {
    "DISCOTEC binary, n = 20,000, T = 50": lambda: discotec(20_000),
    "DISCOTEC binary, n = 100,000, T = 50": lambda: discotec(100_000),
    "pair histogram, n = 60,000, p = 50": lambda: histogram(60_000),
    "CSPA neighbours, n = 20,000, p = 20": lambda: neighbours(20_000),
    "CSPA neighbours, n = 50,000, p = 20": lambda: neighbours(50_000),
    "single linkage, n = 20,000, p = 20": lambda: single(20_000),
    "single linkage, n = 100,000, p = 20": lambda: single(100_000),
    "single linkage, n = 100,000, p = 20, k-means": lambda: single(100_000, blobs=True),
    "single linkage, n = 1,000,000, p = 20": lambda: single(1_000_000),
}


def measure(name: str) -> None:
    """Print the processor time and the memory of one piece of work, the kernels compiled before."""
    small = {"DISCOTEC": discotec, "pair his": histogram, "CSPA nei": neighbours, "single l": single}[name[:8]]
    small(1_100)()
    work = WORK[name]()
    used = []

    def timed():
        start = time.process_time()
        work()
        used.append(time.process_time() - start)

    print(used.append(extra_mb(timed)) or used[0], used[1])


def in_checkout(checkout: Path, name: str) -> tuple[float, float]:
    environment = dict(os.environ, PYTHONPATH=str(checkout / "src"), NUMBA_CACHE_DIR=f"/tmp/numba-{checkout.name}")
    command = [sys.executable, __file__, "--one", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    seconds, memory = done.stdout.split()
    return float(seconds), float(memory)


def main() -> None:
    if sys.argv[1] == "--one":
        measure(sys.argv[2])
        return
    other, ours = Path(sys.argv[1]).resolve(), Path(__file__).resolve().parents[1]
    print("| work | before | now | ratio (range) | MB before | MB now |\n|---|---|---|---|---|---|")
    for name in WORK:
        if any(part not in name for part in sys.argv[2:]):
            continue
        found = [(*in_checkout(other, name), *in_checkout(ours, name)) for _ in range(PAIRS)]
        before, mb_before, now, mb_now = (median(values) for values in zip(*found, strict=True))
        ratios = sorted(a / b for a, _, b, _ in found)
        spread = f"{median(ratios):.1f} ({ratios[0]:.1f}-{ratios[-1]:.1f})"
        print(f"| {name} | {before:.2f} | {now:.2f} | {spread} | {mb_before:.0f} | {mb_now:.0f} |", flush=True)


if __name__ == "__main__":
    main()
