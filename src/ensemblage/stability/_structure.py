"""Is there structure at all: one p-value for many statistics, against data without clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
