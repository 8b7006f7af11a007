"""A Dask cluster of two single-thread processes against two threads in memory, in turn, and what is moved.

python lab/benchmarks/bench_dask.py [--n 1e6] [--rounds 3] [--quiet-malloc]
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import cloudpickle
import dask
import numpy as np
from bench_stored import CLUSTERS, PARTITIONS, block, write_labels
from common import table
from distributed import Client, LocalCluster

from ensemblage import Ensemble
from ensemblage.consensus import CumulativeVoting, KMeansConsensus
from ensemblage.labels import dask as dask_rows
from ensemblage.metrics import density

PARTS = 10
METHODS = {
    "distinct rows": lambda E: E.distinct,
    "km": lambda E: KMeansConsensus(CLUSTERS, n_init=1, random_state=0, n_jobs=2).fit(E),
    "acv": lambda E: CumulativeVoting(CLUSTERS, n_jobs=2).fit(E),
    "density": lambda E: density(E, np.arange(len(E), dtype=np.int32) % CLUSTERS),
}


def part_of_file(path, i, n):
    labels = np.load(path, mmap_mode="r")
    edges = np.linspace(0, n, PARTS + 1).astype(int)
    return np.array(labels[edges[i] : edges[i + 1]])


@contextmanager
def counted(client):
    """Count the bytes that go to the workers and come back, in a list of one; that pickles everything once more."""
    moved, submit, gather, scatter = [0], client.submit, client.gather, client.scatter

    def counted_submit(function, *arguments, **options):
        small = [a for a in (function, *arguments) if not hasattr(a, "key")]
        moved[0] += len(cloudpickle.dumps(small))
        return submit(function, *arguments, **options)

    def counted_gather(futures, **options):
        results = gather(futures, **options)
        moved[0] += len(cloudpickle.dumps(results))
        return results

    def counted_scatter(data, **options):
        moved[0] += data.nbytes
        return scatter(data, **options)

    client.submit, client.gather, client.scatter = counted_submit, counted_gather, counted_scatter
    yield moved
    client.submit, client.gather, client.scatter = submit, gather, scatter


def remote_ensemble(path, n, client):
    futures = [client.submit(part_of_file, str(path), i, n, pure=False) for i in range(PARTS)]
    return Ensemble.from_dask(futures, client=client)


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def cpu_of_workers(client):
    return sum(client.run(time.process_time).values())


def warm_up(client):
    """Compile or load the kernels, here and there: distinct rows stay on the workers however few they are."""
    held, dask_rows.SMALL_BYTES = dask_rows.SMALL_BYTES, 0
    for method in METHODS.values():
        method(Ensemble(block(20_000, 0)))
        method(Ensemble.from_dask(np.array_split(block(20_000, 0), 2), client=client))
    dask_rows.SMALL_BYTES = held


def compare(path, n, client, rounds):
    """Rows of the table: every round does each work in memory and then on the cluster."""
    warm_up(client)
    moved, rows, remote = {}, [], remote_ensemble(path, n, client)
    for name, method in METHODS.items():
        with counted(client) as total:
            method(remote)
        moved[name] = f"{total[0] / 1e6:.1f} MB"
    for _ in range(rounds):
        ensemble, remote = Ensemble(np.load(path)), remote_ensemble(path, n, client)
        for name, method in METHODS.items():
            here = time.process_time()
            a, expected = seconds(method, ensemble)
            here, there = time.process_time() - here, cpu_of_workers(client)
            client_cpu = time.process_time()
            b, found = seconds(method, remote)
            client_cpu, there = time.process_time() - client_cpu, cpu_of_workers(client) - there
            same = np.array_equal(getattr(found, "labels_", 0), getattr(expected, "labels_", 0))
            row = {"work": name, "threads": f"{a:.1f} s", "processes": f"{b:.1f} s", "ratio": f"{b / a:.2f}"}
            row |= {
                "CPU of threads": f"{here:.1f} s",
                "of workers": f"{there:.1f} s",
                "of client": f"{client_cpu:.1f} s",
            }
            row |= {"moved": moved[name], "same labels": "yes" if same else "NO"}
            rows.append(row)
            print(row, file=sys.stderr)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=float, default=1e6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder")
    parser.add_argument("--quiet-malloc", action="store_true", help="workers keep the memory that they free")
    options = parser.parse_args()
    n = int(options.n)
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if options.quiet_malloc:
        for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"):
            dask.config.set({f"distributed.nanny.pre-spawn-environ.{name}": 2**30})
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(options.folder or temporary) / f"labels_{n}.npy"
        if not path.exists():
            write_labels(path, n)
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            os.environ.pop("OMP_NUM_THREADS", None)  # LocalCluster sets it here too
            rows = compare(path, n, client, options.rounds)
    table(f"Two threads in memory, two processes of Dask: {n:.0e} objects, {PARTITIONS} partitions", rows)
