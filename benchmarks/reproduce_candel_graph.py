"""Candel, Tables 2 and 3: NMI and density of MCLA and CSPA.

    python benchmarks/reproduce_candel_graph.py --data DIR [--runs 20]

DIR holds <name>.csv.gz with columns f0, f1, … and label. Prints a markdown table: mean over the runs, in percent, and
the published value. The ensembles are those of reproduce_candel_kmeans.py.
"""

from __future__ import annotations

import argparse
from math import isqrt
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from ensemblage import CSPA, MCLA, Ensemble, RandomKPartitions
from ensemblage.metrics import density, ensemble_nmi

PUBLISHED = {  # MCLA, CSPA: Table 2 (NMI), Table 3 (density)
    "ecoli": ([80.91, 71.23], [76.1, 72.3]),
    "glass": ([84.30, 61.03], [87.7, 84.7]),
    "ionosphere": ([74.14, 58.64], [81.0, 78.9]),
    "user_knowledge": ([74.50, 55.84], [71.7, 53.1]),
    "contraceptive": ([73.21, 70.39], [55.7, 55.3]),
}
METHODS = {
    "MCLA": lambda seed: MCLA(20, random_state=seed),
    "MCLA, bisection": lambda seed: MCLA(20, recursive=True, random_state=seed),
    "MCLA, equal vertices, bisection": lambda seed: MCLA(20, vertex_weights="equal", recursive=True, random_state=seed),
    "MCLA, spectral": lambda seed: MCLA(20, partitioner="spectral", random_state=seed),
    "CSPA": lambda seed: CSPA(20, random_state=seed),
    "CSPA, all objects": lambda seed: CSPA(20, distinct=False, n_neighbors=None, random_state=seed),
    "CSPA, spectral": lambda seed: CSPA(20, partitioner="spectral", random_state=seed),
}


def ensemble_of(X, k_low, seed):
    k_max = min(isqrt(len(X)), 100)
    base = KMeans(n_init=10)
    generator = RandomKPartitions(
        20, k_min=min(k_low, k_max), k_max=k_max, estimator=base, random_state=seed, n_jobs=-1
    )
    return Ensemble(generator.fit_transform(X))


def one_run(X, k_low, seed):
    """(method, 2): NMI with the members and density, in percent."""
    ensemble = ensemble_of(X, k_low, seed)
    models = [make(seed).fit(ensemble) for make in METHODS.values()]
    return [[100 * score(ensemble, model.labels_) for score in (ensemble_nmi, density)] for model in models]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    means = {}
    for name in PUBLISHED:
        table = pd.read_csv(options.data / f"{name}.csv.gz")
        features = table.drop(columns="label")
        X = StandardScaler().fit_transform(features.loc[:, features.nunique() > 1])
        means[name] = np.mean([one_run(X, table["label"].nunique(), seed) for seed in range(options.runs)], axis=0)
    for measure, title in enumerate(("NMI (Table 2)", "density (Table 3)")):
        print(f"\n| {title} | " + " | ".join([*METHODS, "MCLA, printed", "CSPA, printed"]) + " |")
        print("|" + "---|" * (len(METHODS) + 3))
        for name, published in PUBLISHED.items():
            cells = [f"{value:.1f}" for value in [*means[name][:, measure], *published[measure]]]
            print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
