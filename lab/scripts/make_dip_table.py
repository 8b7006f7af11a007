"""Write the quantiles of the dip that `ensemblage.stability` reads: python lab/scripts/make_dip_table.py

For each size n, √n times the dip of n uniform values, drawn in order as partial sums of exponential ones. Some minutes.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._dip import dip_of_steps

TABLE = Path(__file__).parents[2] / "src" / "ensemblage" / "stability" / "dip_quantiles.csv"
DRAWS = 1_000_000
SEED = 1985
SIZES = (8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 500, 1000, 2000, 5000)
P_VALUES = (
    *(1, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.025),
    *(0.02, 0.015, 0.01, 0.005, 0.002, 0.001, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5),
)


def dips(n: int, draws: int) -> NDArray[np.float64]:
    """(draws,) √n dip of uniform samples of n."""
    random = np.random.default_rng([SEED, n])
    upto, before = np.arange(1.0, n + 1), np.arange(1.0, n + 1)
    hulls = np.empty((2, n), dtype=np.int64)
    found = [dip_of_steps(np.cumsum(random.exponential(size=n)), before, upto, *hulls) for _ in range(draws)]
    return np.array(found) / (2 * np.sqrt(n))


def main() -> None:
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["n", *P_VALUES])
        for n in SIZES:
            writer.writerow([n, *(f"{q:.5f}" for q in np.quantile(dips(n, DRAWS), 1 - np.array(P_VALUES)))])
            file.flush()


if __name__ == "__main__":
    main()
