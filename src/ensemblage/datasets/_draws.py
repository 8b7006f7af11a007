"""What every synthetic world draws: numbers and sizes of clusters, noise, separation, outliers, units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Random = np.random.RandomState
Points = NDArray[np.float64]

MOST_OBJECTS = 1_500
MOST_CLUSTERS = 25


class Drawn(NamedTuple):
    """What a kind draws."""

    X: Any
    labels: NDArray[np.int64]
    traits: list[str]


def log_uniform(random: Random, low: float, high: float) -> float:
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def number_of_clusters(random: Random, n: int, most: int = MOST_CLUSTERS) -> int:
    """From 2, few more often than many, with 12 objects each on average."""
    low, high = [(2, 6), (5, 11), (10, MOST_CLUSTERS + 1)][random.choice(3, p=[0.6, 0.28, 0.12])]
    return max(2, min(int(random.randint(low, high)), most, n // 12))


def cluster_sizes(random: Random, n: int, k: int, traits: list[str], least: int = 4) -> NDArray[np.int64]:
    """(k,) sizes whose sum is n: alike, or unequal as a Dirichlet distribution has them."""
    concentration = [0.7, 2.0, 8.0, np.inf][random.choice(4, p=[0.15, 0.25, 0.3, 0.3])]
    if concentration <= 2:
        traits.append("unequal sizes")
    shares = np.full(k, 1 / k) if concentration == np.inf else random.dirichlet(np.full(k, concentration))
    sizes = np.full(k, min(least, n // k)) + np.floor(shares * (n - k * min(least, n // k))).astype(np.int64)
    sizes[np.argmax(sizes)] += n - sizes.sum()
    return sizes.astype(np.int64)


NOISE: Mapping[str, Callable[[Random, tuple[int, int]], Points]] = MappingProxyType(
    {
        "normal": lambda random, shape: random.standard_normal(shape),
        "heavy tails": lambda random, shape: random.standard_t(3, shape) / np.sqrt(3),
        "bounded": lambda random, shape: random.uniform(-np.sqrt(3), np.sqrt(3), shape),
        "skewed": lambda random, shape: (random.gamma(2, 1, shape) - 2) / np.sqrt(2),
        "peaked": lambda random, shape: random.laplace(size=shape) / np.sqrt(2),
    }
)
"""Of mean 0 and variance 1."""


def draw_noise(random: Random, traits: list[str]) -> Callable[[Random, tuple[int, int]], Points]:
    name = random.choice(list(NOISE), p=[0.55, 0.15, 0.1, 0.12, 0.08])
    if name != "normal":
        traits.append(str(name))
    return NOISE[name]


def separation(random: Random) -> float:
    """Distance between near centres in common standard deviations."""
    low, high = [(1.2, 3.0), (2.5, 5.0), (4.0, 9.0)][random.choice(3, p=[0.35, 0.45, 0.2])]
    return float(random.uniform(low, high))


def rotation(random: Random, d: int) -> Points:
    """(d, d) a rotation drawn uniformly."""
    q, r = np.linalg.qr(random.standard_normal((d, d)))
    return np.asarray(q * np.sign(np.diag(r)))


def with_outliers(
    random: Random, X: Points, labels: NDArray[np.int64], traits: list[str]
) -> tuple[Points, NDArray[np.int64]]:
    """Sometimes a few objects are of no cluster: anywhere in the range of the data."""
    if random.uniform() < 0.85:
        return X, labels
    traits.append("outliers")
    n = len(X)
    strays = random.choice(n, max(2, int(n * random.uniform(0.01, 0.12))), replace=False)
    X, labels = X.copy(), labels.copy()
    X[strays] = random.uniform(X.min(axis=0), X.max(axis=0), (len(strays), X.shape[1]))
    labels[strays] = -1
    return X, labels


def with_units(random: Random, X: Points, labels: NDArray[np.int64], traits: list[str]) -> Drawn:
    """Sometimes the features are in units of their own."""
    if random.uniform() < 0.35:
        traits.append("units")
        X = X * np.exp([0.3, 1.0, 2.0][random.randint(3)] * random.standard_normal(X.shape[1]))
    return Drawn(X, labels, traits)
