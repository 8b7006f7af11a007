"""Processor time of the newer methods over that of the older ones they resemble: HBGF and average linkage, in turn.

python lab/benchmarks/bench_modern.py [--n 100000] [--p 20] [--k 10] [--pairs 5]
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from ensemblage import Ensemble, make_consensus
from ensemblage.consensus import HBGF, EvidenceAccumulation

NOISE = (0.1, 0.3, 0.6)
"""Share of the objects that a partition gives any label."""
OF_LINKAGE = 10_000
"""Objects of hierarchies."""


def planted(n: int, p: int, k: int, noise: float) -> Ensemble:
    """An ensemble around a true partition."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % k
    labels = np.column_stack([rng.permutation(k)[truth] for _ in range(p)])
    moved = rng.random((n, p)) < noise
    labels[moved] = rng.integers(k, size=np.count_nonzero(moved))
    return Ensemble(labels)


def seconds(model, ensemble: Ensemble) -> float:
    """Processor time of a fit in one thread."""
    model.set_params(n_jobs=1)
    started = time.process_time()
    model.fit(ensemble)
    return time.process_time() - started


def compare(model, base, ensemble: Ensemble, pairs: int) -> str:
    """Median of the ratios of fits in turn, and the median time of either."""
    small = ensemble[:500]
    model.fit(small), base.fit(small)  # compiled now
    seconds(base, ensemble)
    times = [(seconds(model, ensemble), seconds(base, ensemble)) for _ in range(pairs)]
    ratios = [ours / theirs for ours, theirs in times]
    ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})  {ours:.2f} s, {theirs:.2f} s"


def main() -> None:
    """Print a line for each method and noise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--p", type=int, default=20)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=5)
    args = parser.parse_args()
    for noise in NOISE:
        ensemble = planted(args.n, args.p, args.k, noise)
        ensemble.distinct  # noqa: B018 - found once, for both
        print(f"noise {noise}, {len(ensemble.distinct.codes):,} distinct rows of {args.n:,}; HBGF = 1", flush=True)
        for name in ("lwgp", "ecpcs-mc", "lce-wct", "lce-wtq"):
            base = HBGF(args.k, random_state=0)
            found = compare(make_consensus(name, args.k, random_state=0), base, ensemble, args.pairs)
            print(f"  {name:9} {found}", flush=True)
        few = planted(OF_LINKAGE, args.p, args.k, noise)
        found = compare(make_consensus("lwea", args.k), EvidenceAccumulation(args.k), few, args.pairs)
        print(f"  lwea, {OF_LINKAGE:,} objects; average linkage = 1: {found}", flush=True)


if __name__ == "__main__":
    main()
