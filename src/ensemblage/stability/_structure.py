"""Is there any structure: do k-means or dense components find more in the data than in a single cloud like them?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage._random import task_seeds
from ensemblage.stability._gap import log_within_by_k
from ensemblage.stability._persistence import padded, persistences

N_STARTS = 4
"""Starts of k-means per number of clusters, on the data and on each reference."""
ALPHA = 0.05
"""Error of the first kind of the test."""
_FLOOR = 30.0
"""ln of how much smaller than the total sum of squares W_k counts, so that ln 0 does not come up."""


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


class Shown(NamedTuple):
    """What a data set shows of clusters."""

    log_within: NDArray[np.float64]
    """(K,) ln W_k."""
    persistences: NDArray[np.float64]
    """(P,) largest first."""

    @property
    def row(self) -> NDArray[np.float64]:
        """All of it, large where there are clusters."""
        return np.concatenate([-self.log_within, self.persistences])


def shown_by(X: NDArray[np.float64], most: int, seed: int) -> Shown:
    """ln W_k for k from 1 to ``most``, and as many persistences less one; X : (n, d). W_k of 0 counts as e⁻³⁰ W_1."""
    log_w = log_within_by_k(X, range(1, most + 1), N_STARTS, int(task_seeds(seed, 1)[0]))
    return Shown(np.maximum(log_w, log_w[0] - _FLOOR), padded(persistences(X), most - 1))


def structure_of(data: Shown, references: list[Shown]) -> Structure:
    """One test for all numbers of clusters and both kinds of statistics."""
    rows = np.array([reference.row for reference in references])
    return Structure(structure_p_value(data.row, rows), len(references))


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
    return float((largest[1:] >= largest[0]).sum() + 1) / len(largest)


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
