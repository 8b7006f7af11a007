"""Is there any structure: do k-means or dense components find more in the data than in a single cloud like them?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.random import task_seeds
from ensemblage.stability._gap import log_within_by_k
from ensemblage.stability._persistence import pad_persistences, persistences
from ensemblage.stability._reference import UnimodalComponents

N_STARTS = 4
"""Starts of k-means per number of clusters, on the data and on each reference."""
ALPHA = 0.05
"""Error of the first kind of the test."""
LEAST = -30.0
"""ln W_k / W_1 where W_k is smaller or 0."""


@dataclass(frozen=True)
class Structure:
    """Whether the data have clusters at all."""

    p_value: float
    """(1 + references that show at least as much) / (references + 1): the largest standardised statistic."""
    n_references: int
    """Single clouds that the data were compared with."""

    @property
    def found(self) -> bool:
        """Whether a single cloud would show as much in 5 % of cases at most."""
        return self.p_value <= ALPHA

    @property
    def sentence(self) -> str:
        """The same for people."""
        least = 1 / (self.n_references + 1)
        p = f"p ≤ {least:.2g}" if self.p_value <= least else f"p = {self.p_value:.2g}"
        if self.found:
            return f"There is structure: a single cloud of this shape hardly ever shows as much ({p})."
        return (
            f"No clear structure was found: a single cloud of this shape shows as much by chance ({p}). Clusters of it "
            "cut a continuum; classes that overlap cannot be excluded."
        )


class ClusterStatistics(NamedTuple):
    """What a data set shows of clusters."""

    log_within: NDArray[np.float64]
    """(K,) ln W_k / W_1 for k from 1."""
    persistences: NDArray[np.float64]
    """(P,) largest first."""

    @property
    def row(self) -> NDArray[np.float64]:
        """What is compared, large where there are clusters: -ln W_k / W_1, the largest persistence, the sum of all.

        Further persistences are mostly 0 in single clouds, so that one which is not would count as ∞.
        """
        return np.concatenate([-self.log_within[1:], [self.persistences[0], self.persistences.sum()]])


def cluster_statistics(X: NDArray[np.float64], most: int, seed: int) -> ClusterStatistics:
    """ln W_k / W_1 for k from 1 to ``most``, -30 at least, and as many persistences less one; X : (n, d)."""
    if X.shape[1] > len(X):
        # n points have the same distances in n coordinates.
        X = np.ascontiguousarray(np.asarray(np.linalg.qr(X.T, mode="r")).T)
    log_w = log_within_by_k(X, range(1, most + 1), N_STARTS, int(task_seeds(seed, 1)[0]))
    return ClusterStatistics(np.maximum(log_w - log_w[0], LEAST), pad_persistences(persistences(X), most - 1))


class Comparison(NamedTuple):
    """The test, and what the data and the first references show."""

    structure: Structure
    data: ClusterStatistics
    references: list[ClusterStatistics]


def compare_with_cloud(
    X: NDArray[np.float64],
    cloud: UnimodalComponents,
    most: int,
    seeds: Sequence[int],
    run: Callable[[Callable[[int], ClusterStatistics], Sequence[int]], Any],
) -> Comparison:
    """Test the data, (n, d), on the principal axes of their single cloud, against a draw of it per seed but the first.

    Where that finds structure, clouds whose features are made unimodal instead of the components must agree, and the
    larger p-value counts: the components of a cube, say, are rounder than the cube. ``run`` maps a function over seeds.
    """
    first, *others = seeds

    def against(cloud: UnimodalComponents) -> tuple[Structure, ClusterStatistics, list[ClusterStatistics]]:
        data = cluster_statistics(np.ascontiguousarray(cloud.of_data), most, first)
        references = run(lambda seed: cluster_statistics(cloud.scores(seed), most, seed), others)
        rows = np.array([reference.row for reference in references])
        return Structure(structure_p_value(data.row, rows), len(others)), data, references

    structure, data, references = against(cloud)
    if structure.found:
        by_features, *_ = against(UnimodalComponents(X, rotated=False))
        structure = max(structure, by_features, key=lambda test: test.p_value)
    return Comparison(structure, data, references)


def p_value_of(value: float, references: NDArray[np.float64]) -> float:
    """(1 + #{references ≥ value}) / (R + 1)."""
    return float((1 + np.count_nonzero(references >= value)) / (len(references) + 1))


def structure_p_value(statistics: NDArray[np.float64], references: NDArray[np.float64]) -> float:
    """(1 + #{T_ref ≥ T_data}) / (R + 1), T the largest standardised statistic of a data set.

    Data and references are exchangeable if there is no structure: each of the R + 1 sets is standardised by mean and
    standard deviation of all others, so that the p-value is valid for the largest of the columns without correction.

    statistics : (K,) of the data, large is structure
    references : (R, K), R ≥ 2
    """
    largest = largest_deviations(np.vstack([statistics, references]))
    return p_value_of(largest[0], largest[1:])


def largest_deviations(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R + 1,) T of each row: the largest entry in standard deviations of its column, both without that row.

    Where all other entries of a column are equal, a larger one is ∞ above them.
    """
    found = np.empty(len(statistics))
    for i, row in enumerate(statistics):
        others = np.delete(statistics, i, axis=0)
        above = row - others.mean(axis=0)
        alike = (others == others[0]).all(axis=0)
        above[alike] = row[alike] - others[0, alike]
        spread = np.where(alike, 1.0, others.std(axis=0, ddof=1))
        found[i] = np.where(alike & (above != 0), np.copysign(np.inf, above), above / spread).max()
    return found
