"""Processor time of SALSO's estimate of draws from a posterior, and its expected losses per second.

python lab/benchmarks/bench_salso.py [--n 10000] [--p 2000] [--k 12] [--noise 0.2] [--starts 16] [--loss vi]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from ensemblage import Ensemble
from ensemblage.consensus import SalsoConsensus
from ensemblage.consensus.posterior import _salso


def planted(n: int, p: int, k: int, noise: float) -> Ensemble:
    """Draws around one partition: a share of the labels of each is drawn anew."""
    rng = np.random.default_rng(1)
    truth = rng.integers(k, size=n).astype(np.int16)
    draws = np.tile(truth, (p, 1))
    moved = rng.random(draws.shape) < noise
    draws[moved] = rng.integers(k, size=np.count_nonzero(moved))
    return Ensemble(np.ascontiguousarray(draws.T))


def main() -> None:
    """Print the time of a fit, how many rows it placed, and how many expected losses that are at the least."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--p", type=int, default=2_000)
    parser.add_argument("--k", type=int, default=12)
    parser.add_argument("--noise", type=float, default=0.2)
    parser.add_argument("--starts", type=int, default=16)
    parser.add_argument("--loss", default="vi")
    args = parser.parse_args()
    ensemble = planted(args.n, args.p, args.k, args.noise)
    model = SalsoConsensus(loss=args.loss, n_init=args.starts, n_jobs=1, random_state=0)
    model.fit(ensemble[:100])  # compiled now
    placed = []
    place = _salso.Search.place

    def counted(search: _salso.Search, order: np.ndarray) -> int:
        placed.append(len(order))
        return place(search, order)

    _salso.Search.place = counted  # type: ignore[method-assign]
    started = time.process_time()
    model.fit(ensemble)
    seconds = time.process_time() - started
    reached = np.count_nonzero(model.losses_ <= model.losses_.min() + 1e-9)
    print(
        f"{args.loss}: {args.n:,} objects, {args.p:,} draws, {args.starts} starts: {seconds:.1f} s of processor, "
        f"{sum(placed):,} rows placed, {args.k * sum(placed) / seconds:,.0f} expected losses per second; "
        f"loss {model.objective_:.6f}, reached by {reached} starts"
    )


if __name__ == "__main__":
    main()
