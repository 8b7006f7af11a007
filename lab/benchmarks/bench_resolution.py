"""Is what `choose_resolution` calls stable there? Single clouds, lines and planes, and Gaussians with known clusters.

``python lab/benchmarks/bench_resolution.py [SEEDS]``: a line per design, over that many data sets (default 5). "stable"
is the share of sets where a resolution is called stable, "doubtful" where the best is; "right" where the plateau that
is taken has as many clusters as were made, "told" where some stable plateau has.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ensemblage.n_clusters import choose_resolution

Set = tuple[np.ndarray, np.ndarray | None]


def gaussians(rng: np.random.Generator, k: int, n: int, d: int, distance: float) -> Set:
    """k Gaussians of deviation 1, the nearest two of whose centres are so far apart."""
    centres = rng.normal(size=(k, d))
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)
    centres *= distance / apart[np.triu_indices(k, 1)].min()
    truth = rng.integers(k, size=n)
    return centres[truth] + rng.normal(size=(n, d)), truth


def line(rng: np.random.Generator, n: int) -> Set:
    """Objects along a line, with noise in nine other dimensions."""
    X = rng.normal(size=(n, 10))
    X[:, 0] = rng.uniform(0, 40, n)
    return X, None


NOTHING: dict[str, Callable[[np.random.Generator], Set]] = {
    "Gaussian, n = 300, d = 2": lambda rng: (rng.normal(size=(300, 2)), None),
    "Gaussian, n = 300, d = 10": lambda rng: (rng.normal(size=(300, 10)), None),
    "Gaussian, n = 1,000, d = 30": lambda rng: (rng.normal(size=(1000, 30)), None),
    "uniform, n = 600, d = 2": lambda rng: (rng.uniform(size=(600, 2)), None),
    "t with 3 degrees, n = 600, d = 10": lambda rng: (rng.standard_t(3, size=(600, 10)), None),
    "a line, n = 600": lambda rng: line(rng, 600),
}
CLUSTERS: dict[str, Callable[[np.random.Generator], Set]] = {
    "3 Gaussians, 6 apart, n = 300, d = 10": lambda rng: gaussians(rng, 3, 300, 10, 6),
    "5 Gaussians, 6 apart, n = 600, d = 10": lambda rng: gaussians(rng, 5, 600, 10, 6),
    "5 Gaussians, 4 apart, n = 600, d = 10": lambda rng: gaussians(rng, 5, 600, 10, 4),
    "10 Gaussians, 6 apart, n = 1,000, d = 10": lambda rng: gaussians(rng, 10, 1000, 10, 6),
    "20 Gaussians, 6 apart, n = 2,000, d = 30": lambda rng: gaussians(rng, 20, 2000, 30, 6),
}


def found(make: Callable[[np.random.Generator], Set], n_sets: int) -> Iterator[tuple[float, ...]]:
    for seed in range(n_sets):
        X, truth = make(np.random.default_rng(seed))
        choice = choose_resolution(X, standardize=False, n_jobs=1, random_state=seed)
        k = 0 if truth is None else int(truth.max()) + 1
        several = max((row.stability for row in choice.table if row.n_clusters > 1), default=np.nan)
        stable = [plateau.n_clusters for plateau in choice.plateaus if plateau.verdict == "stable"]
        ari = np.nan if truth is None or not choice.plateaus else adjusted_rand_score(truth, choice.consensus.labels_)
        right = bool(choice.plateaus) and choice.plateau.n_clusters == k
        yield choice.evidence == "stable", choice.evidence == "doubtful", several, right, k in stable, ari


def main(n_sets: int) -> None:
    print("| data | stable | doubtful | most stable, ARI of two parts | right | told | ARI |")
    print(f"|{'---|' * 7}")
    for designs in (NOTHING, CLUSTERS):
        for name, make in designs.items():
            stable, doubtful, several, right, told, ari = np.nanmean(list(found(make, n_sets)), axis=0)
            of_clusters = "– | – | –" if designs is NOTHING else f"{right:.0%} | {told:.0%} | {ari:.2f}"
            print(f"| {name} | {stable:.0%} | {doubtful:.0%} | {several:.2f} | {of_clusters} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
