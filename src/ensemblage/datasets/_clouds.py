"""Clouds around centres, and what bends them; and sets of one cluster: single clouds, curves, gradients, tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ensemblage.datasets._draws import (
    MOST_OBJECTS,
    Drawn,
    Points,
    Random,
    cluster_sizes,
    draw_noise,
    log_uniform,
    number_of_clusters,
    rotation,
    separation,
    with_outliers,
    with_units,
)
from ensemblage.datasets._latent_tables import numbers


def clouds(random: Random, n_samples: int | None) -> Drawn:
    n = n_samples or int(log_uniform(random, 60, MOST_OBJECTS))
    d, k = round(log_uniform(random, 2, 20)), number_of_clusters(random, n)
    traits: list[str] = []
    sizes = cluster_sizes(random, n, k, traits)
    labels = np.repeat(np.arange(k), sizes)
    X = _points_of_clouds(random, sizes, d, traits)
    if random.uniform() < 0.2:
        traits.append("bent")
        W = random.standard_normal((d, d)) / np.sqrt(d) / X.std()
        X = X + random.uniform(0.2, 0.8) * X.std() * np.sin(2 * X @ W)
    if random.uniform() < 0.15:
        traits.append("irrelevant features")
        n_more = random.randint(1, max(2, d))
        X = np.hstack([X, X.std() * random.uniform(0.3, 1) * random.standard_normal((n, n_more))])
    return with_units(random, *with_outliers(random, X, labels, traits), traits)


def _points_of_clouds(random: Random, sizes: NDArray[np.int64], d: int, traits: list[str]) -> Points:
    """(n, d) clouds whose nearest centres have a drawn `separation`."""
    k, noise = len(sizes), draw_noise(random, traits)
    factors = _covariance_factors(random, k, d, traits)
    centres = _centres(random, k, d, traits)
    a, b = np.triu_indices(k, 1)
    between = centres[a] - centres[b]
    lengths = np.linalg.norm(between, axis=1)
    directions = between / np.maximum(lengths, 1e-9)[:, None]
    deviations = [
        (np.linalg.norm(factors[i].T @ u) + np.linalg.norm(factors[j].T @ u)) / 2
        for i, j, u in zip(a, b, directions, strict=True)
    ]
    centres *= separation(random) / max(np.quantile(lengths / deviations, random.uniform(0, 0.25)), 1e-9)
    blocks = [c + noise(random, (size, d)) @ F.T for c, F, size in zip(centres, factors, sizes.tolist(), strict=True)]
    return np.vstack(blocks)


def _covariance_factors(random: Random, k: int, d: int, traits: list[str]) -> list[Points]:
    """A factor F of the covariance F F' of each cluster."""
    kind = random.choice(["spherical", "diagonal", "full", "shared", "low rank"], p=[0.25, 0.2, 0.3, 0.15, 0.1])
    aspect, spread = np.log(log_uniform(random, 1.2, 12)) / 2, [0.0, 0.2, 0.6][random.randint(3)]
    traits.append(f"{kind} covariances")

    def factor() -> Points:
        if kind == "spherical":
            return np.eye(d)
        if kind == "low rank":
            scales = np.full(d, 0.15)
            scales[: random.randint(1, max(2, min(4, d)))] += 1
            return np.asarray(rotation(random, d) * scales)
        scales = np.exp(random.uniform(-aspect, aspect, d))
        return np.diag(scales) if kind == "diagonal" else rotation(random, d) * scales

    shared = factor()
    factors = [shared if kind == "shared" else factor() for _ in range(k)]
    return [F * np.exp(spread * random.standard_normal()) for F in factors]


def _centres(random: Random, k: int, d: int, traits: list[str]) -> Points:
    """(k, d) centres: normal, uniform, near a grid, or in groups of groups."""
    how = random.choice(["normal", "uniform", "grid", "hierarchy"], p=[0.35, 0.3, 0.15, 0.2])
    if how == "normal":
        return random.standard_normal((k, d))
    if how == "uniform":
        return random.uniform(-1, 1, (k, d))
    if how == "grid":
        used = min(d, 3)
        axes = np.meshgrid(*[np.arange(int(np.ceil(k ** (1 / used))))] * used)
        grid = np.stack(axes, axis=-1).reshape(-1, used).astype(np.float64)
        centres = 0.3 * random.standard_normal((k, d))
        centres[:, :used] = grid[random.permutation(len(grid))[:k]] + random.uniform(-0.25, 0.25, (k, used))
        return centres
    if k > 3:
        traits.append("hierarchy")
    groups = random.uniform(2, 5) * random.standard_normal((max(2, int(np.sqrt(k))), d))
    return np.asarray(groups[random.randint(len(groups), size=k)] + random.standard_normal((k, d)))


def single(random: Random, n_samples: int | None) -> Drawn:
    """One cluster."""
    n, d = n_samples or int(log_uniform(random, 60, MOST_OBJECTS)), round(log_uniform(random, 2, 20))
    how = random.choice(["cloud", "curve", "gradient", "table"], p=[0.4, 0.15, 0.2, 0.25])
    traits = [str(how)]
    if how == "table":
        return numbers(random, n_samples, 1)._replace(traits=traits)
    if how == "curve":
        along = random.uniform(-1, 1, n)
        bent = np.column_stack([along, along**2, np.sin(3 * along)])
        X = bent[:, : min(d, 3)] + random.uniform(0.03, 0.2) * random.standard_normal((n, min(d, 3)))
    elif how == "gradient":
        # Objects move along one direction, more of them at some places: an age, a degree of severity.
        along = random.beta(random.uniform(0.8, 3), random.uniform(0.8, 3), size=n) * random.uniform(3, 10)
        direction = random.standard_normal(d)
        X = np.outer(along, direction / np.linalg.norm(direction)) + draw_noise(random, traits)(random, (n, d))
    else:
        scales = np.exp(random.uniform(-1, 1, d))
        X = draw_noise(random, traits)(random, (n, d)) * scales @ rotation(random, d)
    return Drawn(X, np.zeros(len(X), dtype=np.int64), traits)
