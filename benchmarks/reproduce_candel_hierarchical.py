"""Candel, Tables 4 and 5: NMI and density of hierarchical methods, with the raw (R-) and the enhanced (E-) matrix.

    python benchmarks/reproduce_candel_hierarchical.py --data DIR [--runs 20] [--similarity ecpcs|cts] [--k-low 2]

DIR holds <name>.csv.gz with columns f0, f1, … and label. Prints a markdown table: mean over the runs, in percent.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from ensemblage import Ensemble, EvidenceAccumulation, RandomKPartitions
from ensemblage.metrics import density, ensemble_nmi

PUBLISHED = {  # R-SL, R-AL, R-ML, E-SL, E-AL, E-ML: Table 4 (NMI), Table 5 (density)
    "ecoli": ([80.68, 82.61, 81.78, 76.9, 82.62, 82.23], [65.4, 80.4, 81.4, 56.6, 73.2, 75.6]),
    "glass": ([83.07, 81.67, 81.22, 84.0, 84.01, 83.48], [92.1, 93.7, 94.6, 85.5, 89.5, 90.1]),
    "ionosphere": ([71.94, 76.47, 74.18, 73.52, 76.19, 75.66], [66.8, 85.1, 87.5, 69.9, 78.3, 82.5]),
    "user_knowledge": ([69.66, 77.89, 77.34, 67.27, 76.83, 77.02], [53.4, 76.9, 77.34, 47.70, 67.00, 72.6]),
    "contraceptive": ([45.87, 75.28, 72.6, 50.09, 74.69, 73.7], [22.6, 57.6, 54.6, 16.5, 49.7, 54.4]),
}
COLUMNS = [f"{matrix}-{linkage}" for matrix in "RE" for linkage in ("SL", "AL", "ML")]
LINKAGES = {"SL": "single", "AL": "average", "ML": "complete"}


def ensemble_of(X: np.ndarray, k_low: int, seed: int) -> Ensemble:
    k_high = min(int(np.sqrt(len(X))), 100)
    generator = RandomKPartitions(20, k_min=k_low, k_max=k_high, random_state=seed)
    return Ensemble(generator.fit_transform(X))


def scores(ensemble: Ensemble, similarity: str) -> list[tuple[float, float]]:
    found = []
    for column in COLUMNS:
        kind = similarity if column[0] == "E" else "coassociation"
        model = EvidenceAccumulation(20, linkage=LINKAGES[column[2:]], similarity=kind).fit(ensemble)
        found.append((ensemble_nmi(ensemble, model.labels_), density(ensemble, model.labels_)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--similarity", default="ecpcs", choices=["ecpcs", "cts"])
    parser.add_argument("--k-low", type=int, help="least clusters of a base partition; default: number of classes")
    options = parser.parse_args()
    for measure, title in enumerate(("NMI (Table 4)", "density (Table 5)")):
        print(f"\n| {title}, E = {options.similarity} | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (len(COLUMNS) + 1))
        for name, published in PUBLISHED.items():
            table = pd.read_csv(options.data / f"{name}.csv.gz")
            features = table.drop(columns="label")
            X = StandardScaler().fit_transform(features.loc[:, features.nunique() > 1])
            runs = [
                scores(ensemble_of(X, options.k_low or table["label"].nunique(), seed), options.similarity)
                for seed in range(options.runs)
            ]
            means = 100 * np.mean(runs, axis=0)[:, measure]
            cells = [f"{ours:.1f} ({theirs:.1f})" for ours, theirs in zip(means, published[measure], strict=True)]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
