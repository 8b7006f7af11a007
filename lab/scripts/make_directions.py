"""Synthetic embeddings and many clusters: the worlds by which docs/default/many_objects.md was decided.

`world(kind, seed)` gives the features and the clusters of a world. The seed of world i of kind j, as KINDS lists them,
is 300,000 + 10 i + j.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from ensemblage.datasets import make_world

KINDS = ("clouds", "shapes", "numbers", "categories", "mixed", "directions", "many")


def directions(seed: int, n: int = 3_000, k: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit length, (n, 96 to 384), of topics that lie in groups, and the topic of each."""
    random = np.random.RandomState(seed)
    d = int(random.choice([96, 192, 256, 384]))
    k = k or int(random.randint(3, 25))
    n_groups = random.randint(1, max(2, k // 2) + 1)
    of_dimension = np.exp(random.uniform(0, 0.8) * random.standard_normal(d))
    common = random.standard_normal(d) * random.uniform(0, 1.2)
    groups = random.standard_normal((n_groups, d)) * random.uniform(0.3, 1)
    topics = random.standard_normal((k, d)) * random.uniform(0.5, 1.1)
    centres = common + groups[random.randint(n_groups, size=k)] + topics
    shares = np.maximum(random.dirichlet(np.full(k, random.choice([2.0, 5.0, 50.0]))), 12 / n)
    y = random.choice(k, size=n, p=shares / shares.sum())
    n_own = random.randint(2, 9)
    own = random.standard_normal((k, n_own, d))  # the dimensions in which the texts of a topic differ
    noise = np.exp(random.uniform(np.log(0.8), np.log(2.2)))
    of_topic = 0.35 * np.einsum("nf,nfd->nd", random.standard_normal((n, n_own)), own[y])
    of_all = random.standard_normal((n, d))
    X = (centres[y] + noise * (of_topic + of_all) * np.exp(0.2 * random.standard_normal(n))[:, None]) * of_dimension
    lies_between = random.uniform(size=n) < random.uniform(0, 0.15)
    other, part = random.randint(k, size=n), random.uniform(0.3, 0.5, size=n)[:, None]
    X = np.where(lies_between[:, None], X * (1 - part) + part * (centres[other] * of_dimension), X)
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float16).astype(float), y


def many(seed: int, n: int = 3_000) -> tuple[np.ndarray, np.ndarray]:
    """40 to 130 clusters: directions for odd seeds, clear clouds in 2 to 19 dimensions for even ones."""
    random = np.random.RandomState(seed)
    k = int(np.exp(random.uniform(np.log(40), np.log(130))))
    if seed % 2:
        return directions(seed, n, k)
    d = int(random.randint(2, 20))
    centres = random.standard_normal((k, d))
    distances = cdist(centres, centres)
    np.fill_diagonal(distances, np.inf)
    deviation = np.quantile(distances.min(1), 0.2) / random.uniform(4, 7) / (np.sqrt(d) / 2 + 0.5)
    shares = np.maximum(random.dirichlet(np.full(k, 5.0)), 10 / n)
    y = random.choice(k, size=n, p=shares / shares.sum())
    return centres[y] + deviation * random.standard_normal((n, d)), y


def world(kind: str, seed: int, n: int = 3_000) -> tuple[np.ndarray, np.ndarray]:
    """A world of one of KINDS, or "wide", which has sizes of its own."""
    if kind in ("directions", "many"):
        return {"directions": directions, "many": many}[kind](seed, n)
    made = make_world(kind, n_samples=None if kind == "wide" else n, random_state=seed)
    return made.X, np.asarray(made.labels)
