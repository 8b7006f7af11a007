"""Tables whose columns show a latent score: numbers in units, counts, grades, categories; and wide data.

Behind each column an object has a score: the mean of its cluster, if the column is informative, common factors, which
correlate blocks of columns, a batch, and noise. The type of the column says how the score is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
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
    separation,
)

# How a score, (n,) of mean 0 and deviation 1, is seen.


def real(random: Random, score: Points) -> Points:
    """In a unit of its own, rounded as instruments round."""
    scale = np.exp(random.uniform(-3, 5))
    values = scale * (random.uniform(-3, 6) + score)
    return np.asarray(np.round(values, int(random.randint(1, 4)) - int(np.floor(np.log10(scale)))))


def skewed(random: Random, score: Points) -> Points:
    """An amount: the logarithm is the score."""
    return np.asarray(np.exp(random.uniform(-2, 4) + np.minimum(random.uniform(0.4, 1.3) * score, 20)))


def count(random: Random, score: Points) -> Points:
    """Counts whose logarithmic rate is the score, with more spread than Poisson's half of the time."""
    rate = log_uniform(random, 0.5, 50) * np.exp(np.minimum(random.uniform(0.3, 0.9) * score, 10))
    if random.uniform() < 0.5:
        rate = rate * random.gamma(2, 0.5, len(score))
    return np.asarray(random.poisson(np.minimum(rate, 1e6)), dtype=np.float64)


def mostly_zero(random: Random, score: Points) -> Points:
    """An amount or a count that is 0 for many objects, more often for those with low scores."""
    values = skewed(random, score) if random.uniform() < 0.5 else count(random, score)
    return np.where(
        score + random.logistic(size=len(score)) * 0.7 < np.quantile(score, random.uniform(0.3, 0.85)), 0.0, values
    )


def grade(random: Random, score: Points) -> Points:
    """Whole grades from 1: the score cut at unequal shares."""
    shares = random.dirichlet(np.full(random.randint(3, 11), 3.0))
    return np.searchsorted(np.quantile(score, np.cumsum(shares)[:-1]), score).astype(np.float64) + 1


def yes_or_no(random: Random, score: Points) -> Points:
    threshold = np.quantile(score, random.uniform(0.15, 0.85))
    return (score + 0.5 * random.logistic(size=len(score)) > threshold).astype(np.float64)


NUMBERS: Mapping[str, tuple[Callable[[Random, Points], Points], float]] = MappingProxyType(
    {
        "real numbers": (real, 0.4),
        "skewed": (skewed, 0.22),
        "counts": (count, 0.12),
        "zero-inflated": (mostly_zero, 0.08),
        "grades": (grade, 0.1),
        "yes or no": (yes_or_no, 0.08),
    }
)
"""How a score is seen as a number, and how often."""


def levels(random: Random, score: Points) -> NDArray[np.int64]:
    """(n,) a level of a category with unequal levels: each has a score that it goes with, and a share."""
    n_levels = random.randint(2, 13)
    shares = random.dirichlet(np.full(n_levels, random.uniform(0.7, 4)))
    at = random.standard_normal(n_levels)
    fit = np.log(shares + 1e-6) - (score[:, None] - at) ** 2 * random.uniform(1, 6)
    return np.asarray(np.argmax(fit + random.gumbel(size=fit.shape), axis=1))


# Scores


class Scores:
    """The latent scores of a table, and which columns say something of the clusters."""

    def __init__(self, random: Random, sizes: NDArray[np.int64], d: int, traits: list[str]) -> None:
        self.random, self.traits = random, traits
        self.labels, self.d, n = np.repeat(np.arange(len(sizes)), sizes), d, int(sizes.sum())
        share = random.beta(2, 1.5)
        self.informative = random.permutation(d) < max(2, round(share * d))
        if not self.informative.all():
            traits.append("irrelevant columns")
        noise = draw_noise(random, traits)(random, (n, d))
        self.values = noise * self._spreads(len(sizes)) + self._factors(n) + self._batches(n)
        if len(sizes) > 1:
            self.values += self._means(len(sizes))[self.labels]
        self._repeat_columns()
        deviations = self.values.std(axis=0)
        self.values = (self.values - self.values.mean(axis=0)) / np.where(deviations > 0, deviations, 1)

    def _means(self, k: int) -> Points:
        """(k, d) means of the clusters, of which near ones have a drawn `separation`; 0 where not informative."""
        means = self.random.standard_normal((k, self.d)) * self.informative
        if self.random.uniform() < 0.3:
            self.traits.append("markers")  # a column tells one cluster from all others
            means *= self.random.randint(k, size=self.d) == np.arange(k)[:, None]
        if k > 3 and self.random.uniform() < 0.25:
            self.traits.append("hierarchy")
            groups = self.random.standard_normal((int(np.sqrt(k)) + 1, self.d)) * self.informative
            means = 0.6 * means + groups[self.random.randint(len(groups), size=k)]
        a, b = np.triu_indices(k, 1)
        near = np.quantile(np.linalg.norm(means[a] - means[b], axis=1), self.random.uniform(0.1, 0.5))
        return means * (separation(self.random) / max(float(near), 1e-9))

    def _spreads(self, k: int) -> Points:
        """(n, d) standard deviations of the noise, which may differ between clusters."""
        if self.random.uniform() < 0.5:
            return np.ones((1, self.d))
        of_cluster = np.exp(self.random.uniform(0.1, 0.5) * self.random.standard_normal((k, self.d)))
        return of_cluster[self.labels]

    def _factors(self, n: int) -> Points:
        """Common factors, each of a block of columns."""
        if self.random.uniform() < 0.3:
            return np.zeros((1, self.d))
        self.traits.append("correlated blocks")
        n_factors = self.random.randint(1, max(2, min(6, self.d // 2)))
        blocks = self.random.uniform(size=(n_factors, self.d)) < self.random.uniform(0.1, 0.7)
        loadings = self.random.uniform(0.3, 1.3) * self.random.standard_normal((n_factors, self.d)) * blocks
        return np.asarray(self.random.standard_normal((n, n_factors)) @ loadings)

    def _batches(self, n: int) -> Points:
        """Two to four groups across the clusters that shift some columns: sex, site, instrument."""
        if self.random.uniform() < 0.75:
            return np.zeros((1, self.d))
        self.traits.append("batches")
        groups = self.random.randint(self.random.randint(2, 5), size=n)
        shifts = self.random.uniform(0.3, 1.2) * self.random.standard_normal((4, self.d))
        return np.asarray((shifts * (self.random.uniform(size=self.d) < 0.3))[groups])

    def _repeat_columns(self) -> None:
        """Some columns are others with little noise."""
        if self.d < 4 or self.random.uniform() < 0.75:
            return
        self.traits.append("redundant columns")
        n_copies = self.random.randint(1, self.d // 3 + 1)
        copies, of = self.random.permutation(self.d)[:n_copies], self.random.randint(self.d, size=n_copies)
        more = self.random.uniform(0.05, 0.4) * self.random.standard_normal((len(self.values), n_copies))
        self.values[:, copies] = self.values[:, of] + more


def _scores(random: Random, n_samples: int | None, d: int, k: int | None = None) -> Scores:
    traits: list[str] = []
    n = n_samples or int(log_uniform(random, 60, MOST_OBJECTS))
    sizes = cluster_sizes(random, n, number_of_clusters(random, n, 12) if k is None else k, traits)
    return Scores(random, sizes, d, traits)


def _as_numbers(random: Random, scores: Scores) -> Points:
    """(n, d) each score as a number of a drawn type; one type alone a third of the time."""
    names, shares = list(NUMBERS), np.array([share for _, share in NUMBERS.values()])
    only = random.choice(names, p=shares) if random.uniform() < 0.35 else None
    columns = []
    for score in scores.values.T:
        name = str(only or random.choice(names, p=shares))
        scores.traits.append(name)
        columns.append(NUMBERS[name][0](random, score))
    return np.column_stack(columns)


def numbers(random: Random, n_samples: int | None, k: int | None = None) -> Drawn:
    scores = _scores(random, n_samples, round(log_uniform(random, 3, 40)), k)
    X = _as_numbers(random, scores)
    return Drawn(_with_gross_errors(random, X, scores.traits), scores.labels, scores.traits)


def _with_gross_errors(random: Random, X: Points, traits: list[str]) -> Points:
    """Sometimes a few cells are far off: typing errors, another unit."""
    if random.uniform() < 0.85:
        return X
    traits.append("outliers")
    cells = random.uniform(size=X.shape) < random.uniform(0.001, 0.01)
    return np.where(cells, X * random.uniform(3, 20), X)


def categories(random: Random, n_samples: int | None) -> Drawn:
    scores = _scores(random, n_samples, round(log_uniform(random, 4, 30)))
    share = [0.0, 0.3, 1.0][random.randint(3)]
    is_ordered = random.uniform(size=scores.d) < share
    columns = [_category(random, s, ordered) for s, ordered in zip(scores.values.T, is_ordered.tolist(), strict=True)]
    return Drawn(_table(columns), scores.labels, [*scores.traits, "categories"])


def mixed(random: Random, n_samples: int | None) -> Drawn:
    scores = _scores(random, n_samples, round(log_uniform(random, 5, 35)))
    is_category = random.uniform(size=scores.d) < random.uniform(0.2, 0.8)
    is_category[:2] = [True, False]
    X = _as_numbers(random, scores)
    columns = [
        _category(random, score, random.uniform() < 0.25) if category else pa.array(column)
        for score, column, category in zip(scores.values.T, X.T, is_category.tolist(), strict=True)
    ]
    return Drawn(_table(columns), scores.labels, [*scores.traits, "categories"])


def _category(random: Random, score: Points, ordered: bool) -> Any:
    """An Arrow array of categories; of an ordered one the order is that of the score."""
    codes = grade(random, score).astype(np.int32) - 1 if ordered else levels(random, score).astype(np.int32)
    words = [f"level {i + 1}" for i in range(int(codes.max()) + 1)]
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(words), ordered=ordered)


def _table(columns: list[Any]) -> Any:
    return pa.table({f"x{i + 1}": column for i, column in enumerate(columns)})


def wide(random: Random, n_samples: int | None) -> Drawn:
    """Few objects with many features."""
    traits: list[str] = []
    n = n_samples or int(log_uniform(random, 30, 250))
    d, k = int(log_uniform(random, 60, 1_200)), min(int(random.randint(2, 8)), n // 6)
    sizes = cluster_sizes(random, n, k, traits)
    labels = np.repeat(np.arange(k), sizes)
    spread = np.exp(random.uniform(0, 0.7) * random.standard_normal(d))
    X = draw_noise(random, traits)(random, (n, d)) * spread
    n_factors = random.randint(1, 8)
    blocks = random.uniform(size=(n_factors, d)) < random.uniform(0.05, 0.8)
    X += (
        random.uniform(0.1, 1.2)
        * random.standard_normal((n, n_factors))
        @ (random.standard_normal((n_factors, d)) * blocks)
    )
    share, strength = log_uniform(random, 0.02, 0.3), random.uniform(1, 3)
    modules = random.uniform(size=(k, d)) < share
    X += (strength * random.standard_normal((k, d)) * modules)[labels]
    if random.uniform() < 0.3:
        traits.append("batches")
        shifts = random.uniform(0.2, 0.9) * random.standard_normal((3, d)) * (random.uniform(size=d) < 0.3)
        X += shifts[random.randint(random.randint(2, 4), size=n)]
    seen = random.choice(["logarithms", "amounts", "counts"], p=[0.6, 0.2, 0.2])
    traits.append(str(seen))
    if seen == "amounts":
        X = np.exp(random.uniform(2, 6) + 0.7 * np.minimum(X, 20))
    elif seen == "counts":
        depth = np.exp(random.uniform(0, 0.5) * random.standard_normal((n, 1)))
        X = random.poisson(np.minimum(depth * np.exp(random.uniform(-1, 2) + 0.7 * np.minimum(X, 20)), 1e6)).astype(
            np.float64
        )
    return Drawn(X, labels, traits)
