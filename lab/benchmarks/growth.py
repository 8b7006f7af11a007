"""How processor seconds grow with objects, partitions and clusters: python lab/benchmarks/growth.py RECORD.json

One thread; label rows are planted and nearly all distinct, and made distinct before; the faster of two runs counts.
Sizes that do not vary are n = 20,000, p = 20 and k = 20 true clusters, in partitions of k to 2 k.

python lab/benchmarks/growth.py --default RECORD.json measures `ConsensusClustering` with its defaults instead: six
clouds with ten features, each number of objects in a process of its own, whose peak of memory is told, too.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import clouds, planted, versions

from ensemblage import ConsensusClustering, Ensemble
from ensemblage.consensus import CumulativeVoting, EvidenceAccumulation, KMeansConsensus
from ensemblage.metrics._coassociation import association_counts
from ensemblage.ranking import DISCOTEC

WORKS: dict[str, Any] = {
    "KMeansConsensus, one start": lambda e, k: KMeansConsensus(k, n_init=1, n_jobs=1, random_state=0).fit(e),
    "CumulativeVoting": lambda e, k: CumulativeVoting(k, n_jobs=1).fit(e),
    "single linkage": lambda e, k: EvidenceAccumulation(k, linkage="single", n_jobs=1).fit(e),
    "average linkage": lambda e, k: EvidenceAccumulation(k, linkage="average", n_jobs=1).fit(e),
    "complete linkage": lambda e, k: EvidenceAccumulation(k, linkage="complete", n_jobs=1).fit(e),
    "DISCOTEC": lambda e, k: DISCOTEC(n_jobs=1).fit(e),
    "pair histogram": lambda e, k: association_counts(e),
}
LINEAR = ("KMeansConsensus, one start", "CumulativeVoting")
USUAL = {"n": 20_000, "p": 20, "k": 20}
SIZES = {"n": [5_000, 10_000, 20_000, 40_000], "p": [10, 20, 50, 100], "k": [5, 10, 20, 50, 100]}
MORE_OBJECTS = [100_000, 300_000, 1_000_000]
"""Only for work that is linear in the objects."""


def measured() -> list[dict[str, Any]]:
    rows = []
    for name, work in WORKS.items():
        for what, sizes in SIZES.items():
            for size in sizes + (MORE_OBJECTS if what == "n" and name in LINEAR else []):
                n, p, k = ({**USUAL, what: size}[part] for part in "npk")
                ensemble = Ensemble(planted(n, p, k, k, 2 * k, 0.2)[0])
                _ = ensemble.distinct
                times = []
                for _ in range(2):  # the first one may compile
                    start = time.process_time()
                    work(ensemble, k)
                    times.append(time.process_time() - start)
                rows.append({"work": name, "over": what, "size": size, "seconds": round(min(times), 4)})
                print(rows[-1], flush=True)
    return rows


DEFAULT_SIZES = [1_000, 3_000, 10_000, 10_001, 30_000, 100_000, 300_000, 1_000_000]
N_FEATURES, N_CLUSTERS = 10, 6


def fits_of_default(n: int) -> dict[str, Any]:
    """Processor seconds of fits with k unknown and k given, and megabytes at their peak; all in this process."""
    X, seconds = clouds(n, N_FEATURES, N_CLUSTERS), []
    for k in (None, None, N_CLUSTERS):  # the first fit loads the kernels
        start = time.process_time()
        ConsensusClustering(k, n_jobs=1, random_state=0).fit(X)
        seconds.append(round(time.process_time() - start, 2))
    mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"size": n, "unknown": min(seconds[:2]), "given": seconds[2], "mb": round(mb)}


def measured_default() -> list[dict[str, Any]]:
    rows = []
    for n in DEFAULT_SIZES:
        said = subprocess.run([sys.executable, __file__, "--fits", str(n)], check=True, capture_output=True, text=True)
        rows.append(json.loads(said.stdout.splitlines()[-1]))
        print(rows[-1], flush=True)
    return rows


def exponent(points: list[tuple[float, float]]) -> float:
    """Slope of log seconds over log size, by least squares."""
    return float(np.polyfit(*np.log(np.array(points).T), 1)[0])


if __name__ == "__main__":
    if sys.argv[1] == "--fits":
        print(json.dumps(fits_of_default(int(sys.argv[2]))))
    else:
        measure = measured_default if sys.argv[1] == "--default" else measured
        record = {"machine": versions(), "rows": measure()}
        Path(sys.argv[-1]).write_text(json.dumps(record, indent=0) + "\n", encoding="utf-8")
