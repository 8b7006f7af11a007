"""Many cells: combining a sweep of partitions of a million, reading and writing .h5ad, and choosing a resolution.

``python lab/benchmarks/bench_cells.py combine`` (10⁶ cells, 50 partitions of 5 to 40 clusters, 90 % distinct rows),
``h5ad`` (the same through files) or ``sweep [N]`` (N cells × 50 components); each is a process of its own, so
that its peak of memory is.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import distinct_share, planted

from ensemblage import Ensemble, make_consensus
from ensemblage.metrics import verdicts
from ensemblage.n_clusters import choose_resolution

N, P = 10**6, 50


def peak() -> float:
    """Largest memory of the process so far, GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def labels_of(n: int) -> np.ndarray:
    """Partitions of 20 kinds of cells into 5 to 40 clusters, a tenth of the labels by chance."""
    coarse, truth = planted(n, P // 2, 20, 20, 40, 0.1)
    merged = [
        np.random.default_rng(j).integers(k, size=20)[truth]
        for j, k in enumerate(np.linspace(5, 19, P // 2).astype(int))
    ]
    rng = np.random.default_rng(1)
    for column in merged:
        wrong = rng.random(n) < 0.1
        column[wrong] = rng.integers(column.max() + 1, size=int(wrong.sum()))
    return np.column_stack([coarse, *merged]).astype(np.int16)


def combine(method: str) -> None:
    labels = labels_of(N)
    start, used, before = time.perf_counter(), time.process_time(), peak()
    ensemble = Ensemble(labels)
    share = distinct_share(ensemble)
    model = make_consensus(method, 20).set_params(n_jobs=2, random_state=0).fit(ensemble)
    words = verdicts(model.confidence_)
    print(
        f"{method}: {N:,} × {P}, {share:.0%} distinct rows, {ensemble.n_clusters.min()} to {ensemble.n_clusters.max()} "
        f"clusters: {time.perf_counter() - start:.1f} s ({time.process_time() - used:.1f} s of the processor), peak "
        f"{peak():.2f} GB ({before:.2f} before); "
        f"core {np.mean(words == 'core'):.0%}",
        flush=True,
    )


def h5ad(method: str) -> None:
    import anndata
    import pandas as pd

    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "cells.h5ad", Path(folder) / "out.h5ad"
        obs = pd.DataFrame(
            {
                f"leiden_{j}": pd.Categorical.from_codes(z, [str(c) for c in range(z.max() + 1)])
                for j, z in enumerate(labels_of(N).T)
            }
        )
        obs.index = [f"cell{i}" for i in range(N)]
        adata = anndata.AnnData(
            np.zeros((N, 200), dtype=np.float32), obs=obs, obsm={"X_pca": np.zeros((N, 50), np.float32)}
        )
        adata.write_h5ad(path)
        size = path.stat().st_size / 2**30
        start = time.perf_counter()
        command = [sys.executable, "-m", "ensemblage", "combine", path, "-k", "20", "--method", method, "-o", out]
        subprocess.run(list(map(str, command)), check=True)
        seconds, of = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"combine a .h5ad file of {size:.1f} GB, {method}: {seconds:.1f} s ({of.ru_utime + of.ru_stime:.1f} s of "
            f"the processor), peak {of.ru_maxrss / 2**20:.2f} GB",
            flush=True,
        )


def sweep(n: int) -> None:
    rng = np.random.default_rng(0)
    centres = 1.2 * rng.normal(size=(12, 50))
    X = centres[rng.integers(12, size=n)] + rng.normal(size=(n, 50))
    start, used = time.perf_counter(), time.process_time()
    choice = choose_resolution(X, n_jobs=2, random_state=0)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    print(f"{n:,} × 50: {seconds:.1f} s ({used:.1f} s of the processor), peak {peak():.2f} GB. {choice.sentence}")


if __name__ == "__main__":
    what, *given = sys.argv[1:] or ["combine"]
    if what == "sweep":
        sweep(int(given[0]) if given else 20_000)
    elif given:
        {"combine": combine, "h5ad": h5ad}[what](given[0])
    else:
        for name in ("km", "lwgp") if what == "combine" else ("km",):
            subprocess.run([sys.executable, __file__, what, name], check=True)
