"""Evidence accumulation against another state of the package: interleaved pairs, one thread, processor time.

    python benchmarks/bench_linkage.py OTHER [--n 20000] [--p 20] [--linkage average] [--pairs 5]

OTHER is the folder with the other package (its ``src``). Every run is a process of its own with its kernels warm. The
hierarchies must be the same to the bit.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from common import by_kmeans, extra_mb, table

import ensemblage
from ensemblage import Ensemble, EvidenceAccumulation


def fit(labels: np.ndarray, linkage: str) -> EvidenceAccumulation:
    return EvidenceAccumulation(10, linkage=linkage, n_jobs=1, max_bytes="16GB").fit(Ensemble(labels))


def run_once(file: str, linkage: str) -> None:
    """Seconds of processor time, MB above what the process held, and a digest of the hierarchy."""
    labels = np.load(file)
    for n in (600, 5_000):
        fit(labels[:n], linkage)
    found: list[EvidenceAccumulation] = []
    start = time.process_time()
    megabytes = extra_mb(lambda: found.append(fit(labels, linkage)))
    spent = time.process_time() - start
    print(f"{spent:.3f} {megabytes:.0f} {hashlib.sha256(found[0].linkage_matrix_.tobytes()).hexdigest()}")


def result_of(source: Path, file: str, linkage: str, cache: str) -> tuple[float, float, str]:
    environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, __file__, "--once", file, linkage]
    spent, megabytes, digest = subprocess.check_output(command, env=environment, text=True).split()
    return float(spent), float(megabytes), digest


def main() -> None:
    if sys.argv[1:2] == ["--once"]:
        return run_once(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--p", type=int, default=20)
    parser.add_argument("--linkage", default="average")
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args()
    sources = [given.other / "src", Path(ensemblage.__file__).parents[1]]
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/labels.npy"
        np.save(file, by_kmeans(given.n, given.p, 10, 100)[0])
        rounds = [
            [result_of(source, file, given.linkage, f"{folder}/{i}") for i, source in enumerate(sources)]
            for _ in range(given.pairs)
        ]
    if len({digest for pair in rounds for _, _, digest in pair}) > 1:
        raise SystemExit("the hierarchies differ")
    ratios = sorted(old[0] / new[0] for old, new in rounds)
    seconds = [median(pair[i][0] for pair in rounds) for i in range(2)]
    megabytes = [max(pair[i][1] for pair in rounds) for i in range(2)]
    row = {
        "linkage": given.linkage,
        "n": f"{given.n:,}",
        "p": given.p,
        "other s": f"{seconds[0]:.2f}",
        "this s": f"{seconds[1]:.2f}",
        "ratio (range)": f"{median(ratios):.1f} ({ratios[0]:.1f}-{ratios[-1]:.1f})",
        "other MB": f"{megabytes[0]:.0f}",
        "this MB": f"{megabytes[1]:.0f}",
    }
    return table("Processor time of one thread", [row])


if __name__ == "__main__":
    main()
