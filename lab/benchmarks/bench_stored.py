"""Labels on disk: seconds and peak memory from 10⁵ to 10⁷ objects, each method in a process of its own.

python lab/benchmarks/bench_stored.py [--most 1e7] [--folder DIR] [--figure scale.png] [--voting 1e7]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import _status_mb, in_fresh_process, table

PARTITIONS, CLUSTERS, MEMORY = 20, 20, "1GB"
METHODS = ["km", "acv", "rank", "density"]


def write_labels(path, n):
    """Planted labels with 30 % noise, written in blocks: the generator does not need the memory either."""
    labels = np.lib.format.open_memmap(path, "w+", np.int8, (n, PARTITIONS))
    for i, start in enumerate(range(0, n, 10**6)):
        stop = min(start + 10**6, n)
        labels[start:stop] = block(stop - start, i)
    labels.flush()


def write_varied(path, n):
    """25 partitions of 12 to 24 clusters, in each of which several clusters share out one of six true ones."""
    rng = np.random.default_rng(0)
    ks = rng.integers(12, 25, size=25)
    owners = [np.sort(np.append(np.arange(6), rng.integers(6, size=k - 6))) for k in ks]
    labels = np.lib.format.open_memmap(path, "w+", np.int8, (n, 25))
    for start in range(0, n, 10**6):
        truth = rng.integers(6, size=min(10**6, n - start))
        for j, (k, owner) in enumerate(zip(ks, owners, strict=True)):
            first, size = np.searchsorted(owner, np.arange(6)), np.bincount(owner, minlength=6)
            column = first[truth] + (rng.random(len(truth)) * size[truth]).astype(int)
            noise = rng.random(len(truth)) < 0.3
            column[noise] = rng.integers(k, size=np.count_nonzero(noise))
            labels[start : start + len(truth), j] = column
    labels.flush()


def block(n, seed):
    """The true clusters have the same names in every block."""
    rng = np.random.default_rng(seed + 1)
    names = np.random.default_rng(0).permuted(np.tile(np.arange(CLUSTERS, dtype=np.int8), (PARTITIONS, 1)), axis=1).T
    labels = names[rng.integers(CLUSTERS, size=n)]
    noise = rng.random((n, PARTITIONS), dtype=np.float32) < 0.3
    labels[noise] = rng.integers(CLUSTERS, size=int(noise.sum()), dtype=np.int8)
    return labels


def run(path, method, on_disk):
    """One method in this process: seconds of its stages, and the process's peak memory."""
    from ensemblage import Ensemble
    from ensemblage.consensus import CumulativeVoting, KMeansConsensus
    from ensemblage.metrics import density
    from ensemblage.ranking import AverageAgreement

    warm_up()
    seconds, before = {}, time.process_time()

    def timed(stage, function):
        start = time.perf_counter()
        result = function()
        seconds[stage] = time.perf_counter() - start
        return result

    ensemble = timed("open", lambda: Ensemble.open(path, memory=MEMORY) if on_disk else Ensemble(np.load(path)))
    if method != "density":
        timed("distinct rows", lambda: ensemble.distinct)
        seconds["share"] = len(ensemble.distinct.counts) / len(ensemble)
    methods = {
        "km": lambda: KMeansConsensus(CLUSTERS, n_init=1, random_state=0).fit(ensemble).labels_,
        "acv": lambda: CumulativeVoting(CLUSTERS).fit(ensemble).labels_,
        "acv, k found": lambda: CumulativeVoting().fit(ensemble).labels_,
        "rank": lambda: AverageAgreement().fit(ensemble).scores_,
        "density": lambda: density(ensemble, np.arange(len(ensemble), dtype=np.int32) % CLUSTERS),
    }
    result = timed("work", methods[method])
    seconds["cpu"] = time.process_time() - before
    digest = hashlib.sha256(np.asarray(result).tobytes()).hexdigest()
    print(json.dumps({**seconds, "peak": _status_mb("VmHWM") * 2**20 / 1e6, "result": digest}))


def warm_up():
    """Compile or load the kernels."""
    from ensemblage import Ensemble
    from ensemblage.consensus import CumulativeVoting, KMeansConsensus
    from ensemblage.metrics import density
    from ensemblage.ranking import AverageAgreement

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.npy"
        np.save(path, block(50_000, 0))
        ensemble = Ensemble.open(path, memory=MEMORY)
        KMeansConsensus(3, n_init=1, random_state=0).fit(ensemble)
        CumulativeVoting(3).fit(ensemble)
        AverageAgreement().fit(ensemble)
        density(ensemble, np.arange(50_000) % 3)


def measure(folder, sizes):
    rows = []
    for n in sizes:
        path = Path(folder) / f"labels_{n}.npy"
        if not path.exists():
            write_labels(path, n)
        for method in METHODS:
            found = json.loads(in_fresh_process(__file__, "--run", str(path), method, "disk"))
            row = {"n": f"{n:.0e}", "method": method, "distinct": f"{found['share']:.0%}" if "share" in found else "–"}
            row |= {stage: f"{found[stage]:.1f} s" if stage in found else "–" for stage in STAGES}
            row["in all"] = f"{sum(found.get(stage, 0) for stage in STAGES):.2f} s"
            row["peak"] = f"{found['peak']:.0f} MB"
            memory = json.loads(in_fresh_process(__file__, "--run", str(path), method, "memory"))
            row["in memory"] = f"{sum(memory.get(stage, 0) for stage in STAGES):.1f} s, {memory['peak']:.0f} MB"
            row["same bits"] = "yes" if memory["result"] == found["result"] else "NO"
            rows.append(row)
            print(row, file=sys.stderr)
    return rows


STAGES = ["open", "distinct rows", "work"]


def voting(folder, n, rounds=3):
    """Ada-cVote with 25 partitions of 12 to 24 clusters, from the file to the labels."""
    path = Path(folder) / f"varied_{n}.npy"
    if not path.exists():
        write_varied(path, n)
    rows = []
    for _ in range(rounds):
        found = json.loads(in_fresh_process(__file__, "--run", str(path), "acv, k found", "disk"))
        row = {stage: f"{found[stage]:.1f} s" for stage in STAGES}
        row |= {"in all": f"{sum(found[stage] for stage in STAGES):.1f} s", "CPU": f"{found['cpu']:.1f} s"}
        rows.append(row | {"distinct": f"{found['share']:.1%}", "peak": f"{found['peak']:.0f} MB"})
        print(rows[-1], file=sys.stderr)
    return rows


def figure(rows, path):
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(5, 3.6))
    for method in METHODS:
        own = [row for row in rows if row["method"] == method]
        ax.loglog([float(r["n"]) for r in own], [float(r["in all"][:-2]) for r in own], marker="o", label=method)
    ax.set(xlabel="objects", ylabel="seconds, reading included")
    ax.legend(frameon=False)
    fig.savefig(path, dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=float, default=1e6)
    parser.add_argument("--folder")
    parser.add_argument("--figure")
    parser.add_argument("--voting", type=float)
    parser.add_argument("--run", nargs=3)
    options = parser.parse_args()
    if options.run:
        path, method, place = options.run
        run(path, method, place == "disk")
    elif options.voting:
        with tempfile.TemporaryDirectory() as temporary:
            found = voting(options.folder or temporary, int(options.voting))
        table(f"CumulativeVoting from disk: {options.voting:.0e} objects, 25 partitions of 12 to 24 clusters", found)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            sizes = [n for n in (10**5, 10**6, 10**7) if n <= options.most]
            found = measure(options.folder or temporary, sizes)
        table(f"Labels on disk: {PARTITIONS} partitions of {CLUSTERS} clusters, --memory {MEMORY}", found)
        if options.figure:
            figure(found, options.figure)
