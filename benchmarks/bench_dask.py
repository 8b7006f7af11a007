"""A Dask cluster of two single-thread processes against two threads in memory, and what is moved.

python benchmarks/bench_dask.py [--n 1e6]
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from pathlib import Path

import cloudpickle
import numpy as np
from bench_stored import CLUSTERS, PARTITIONS, block, write_labels
from common import table
from distributed import Client, LocalCluster

from ensemblage import CumulativeVoting, Ensemble, KMeansConsensus
from ensemblage.metrics import density

PARTS = 10
METHODS = {
    "distinct rows": lambda E: E.distinct,
    "km": lambda E: KMeansConsensus(CLUSTERS, n_init=1, random_state=0).fit(E),
    "acv": lambda E: CumulativeVoting(CLUSTERS).fit(E),
    "density": lambda E: density(E, np.arange(len(E), dtype=np.int32) % CLUSTERS),
}


def part_of_file(path, i, n):
    labels = np.load(path, mmap_mode="r")
    edges = np.linspace(0, n, PARTS + 1).astype(int)
    return np.array(labels[edges[i] : edges[i + 1]])


class Moved:
    """Bytes that go to the workers and come back, between the client and them."""

    def __init__(self, client):
        self.bytes = 0
        submit, gather, scatter = client.submit, client.gather, client.scatter

        def counted_submit(function, *arguments, **options):
            small = [a for a in (function, *arguments) if not hasattr(a, "key")]
            self.bytes += len(cloudpickle.dumps(small))
            return submit(function, *arguments, **options)

        def counted_gather(futures, **options):
            results = gather(futures, **options)
            self.bytes += len(cloudpickle.dumps(results))
            return results

        def counted_scatter(data, **options):
            self.bytes += data.nbytes
            return scatter(data, **options)

        client.submit, client.gather, client.scatter = counted_submit, counted_gather, counted_scatter


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def in_memory(path):
    """Seconds and labels with two threads; before there is a cluster, which sets OMP_NUM_THREADS."""
    for method in METHODS.values():
        method(Ensemble(block(20_000, 0)))
    took, ensemble = seconds(lambda: Ensemble(np.load(path)))
    return {"read and code": (took, None)} | {name: seconds(method, ensemble) for name, method in METHODS.items()}


def on_cluster(path, n, client):
    """Seconds, labels, and bytes that were moved."""
    for method in METHODS.values():
        method(Ensemble.from_dask(np.array_split(block(20_000, 0), 2), client=client))
    moved = Moved(client)
    futures = [client.submit(part_of_file, str(path), i, n) for i in range(PARTS)]
    took, ensemble = seconds(lambda: Ensemble.from_dask(futures, client=client))
    found = {"read and code": (took, None, moved.bytes)}
    for name, method in METHODS.items():
        moved.bytes = 0
        found[name] = (*seconds(method, ensemble), moved.bytes)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=float, default=1e6)
    parser.add_argument("--folder")
    options = parser.parse_args()
    n = int(options.n)
    logging.getLogger("distributed").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(options.folder or temporary) / f"labels_{n}.npy"
        if not path.exists():
            write_labels(path, n)
        threads = in_memory(path)
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            processes = on_cluster(path, n, client)
    rows = []
    for name, (a, expected) in threads.items():
        b, found, size = processes[name]
        same = "yes" if np.array_equal(getattr(found, "labels_", 0), getattr(expected, "labels_", 0)) else "NO"
        ratio = f"{b / a:.2f}"
        rows.append({"work": name, "threads": f"{a:.1f} s", "processes": f"{b:.1f} s", "ratio": ratio})
        rows[-1] |= {"moved": f"{size / 1e6:.1f} MB", "same labels": same}
    print("iterations of km:", threads["km"][1].n_iter_)
    table(f"Two threads in memory, two processes of Dask: {n:.0e} objects, {PARTITIONS} partitions", rows)
