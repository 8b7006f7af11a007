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
    """One test for all numbers of clusters and both kinds of statistics: the largest of them, each standardised."""
    largest = largest_standardised(np.array([data.row, *(reference.row for reference in references)]))
    return Structure(p_value_of(largest[0], largest[1:]), len(references))


def p_value_of(value: float, references: NDArray[np.float64]) -> float:
    """(1 + #{references ≥ value}) / (R + 1)."""
    return float((1 + np.count_nonzero(references >= value)) / (len(references) + 1))


def largest_standardised(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R + 1,) the largest entry of each row of (R + 1, C) statistics, each less the mean of the other rows and divided
    by their standard deviation; where these are all equal, ∞ above them, 0 at them and -∞ below.
    """
    largest = np.empty(len(rows))
    for r, row in enumerate(rows):
        others = np.delete(rows, r, axis=0)
        above, spread = row - others.mean(axis=0), others.std(axis=0, ddof=1)
        equal = np.ptp(others, axis=0) == 0
        above[equal & (row == others[0])] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            standardised = np.where(equal, np.where(above == 0, 0.0, np.sign(above) * np.inf), above / spread)
        largest[r] = standardised.max()
    return largest
