"""Sinorina et al. 2022, Tables 2 to 5 on six of her data sets, and the run times of Fig. 5.

    python benchmarks/reproduce_sinorina_negmm.py --data DIR [--runs 5]

DIR holds <name>.csv.gz with columns f0, f1, … and label. Features as they are. Prints markdown tables: mean ± standard
deviation over the runs (seeds 0, 1, …), the printed value in brackets.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from ensemblage import Ensemble, MixedPartitions, NegMM, RandomKPartitions

SETS = {
    "jain": "Jain",
    "pathbased": "PB",
    "r15": "R15",
    "iris": "Iris",
    "wine": "Wine",
    "image_segmentation": "IS",
}
# ARI and AMI of NegMM, NegMM-WAT(K), NegMM-WAT(GMM), the mean member.
PRINTED = {
    "2": {
        "Jain": ([0.32, 0.32, 0.32, 0.32], [0.37, 0.37, 0.37, 0.37]),
        "PB": ([0.46, 0.46, 0.46, 0.43], [0.55, 0.55, 0.55, 0.51]),
        "R15": ([1, 1, 1, 1], [1, 1, 1, 1]),
        "Iris": ([0.72, 0.73, 0.73, 0.73], [0.74, 0.76, 0.76, 0.75]),
        "Wine": ([0.37, 0.37, 0.37, 0.36], [0.43, 0.43, 0.43, 0.43]),
        "IS": ([0.51, 0.45, 0.51, 0.40], [0.66, 0.65, 0.66, 0.57]),
    },
    "3": {
        "Jain": ([1, 1, 1, 0.15], [1, 1, 1, 0.46]),
        "PB": ([0.49, 0.50, 0.50, 0.34], [0.57, 0.57, 0.57, 0.55]),
        "R15": ([1, 1, 1, 0.66], [1, 1, 1, 0.87]),
        "Iris": ([0.57, 0.57, 0.57, 0.46], [0.71, 0.71, 0.71, 0.67]),
        "Wine": ([0.37, 0.37, 0.37, 0.36], [0.43, 0.43, 0.43, 0.43]),
        "IS": ([0.46, 0.40, 0.40, 0.32], [0.59, 0.58, 0.58, 0.52]),
    },
    "4": {
        "Jain": ([1, 0.08, 0.72, 0.13], [1, 0.25, 0.64, 0.49]),
        "PB": ([0.44, 0.47, 0.52, 0.37], [0.53, 0.52, 0.59, 0.57]),
        "R15": ([1, 0.79, 0.83, 0.63], [1, 0.93, 0.90, 0.84]),
        "Iris": ([0.57, 0.57, 0.57, 0.50], [0.71, 0.71, 0.71, 0.68]),
        "Wine": ([0.37, 0.37, 0.37, 0.37], [0.43, 0.43, 0.43, 0.43]),
        "IS": ([0.44, 0.38, 0.39, 0.33], [0.60, 0.57, 0.57, 0.55]),
    },
    "5": {
        "Jain": ([0.56, 0.56, 0.56, 0.39], [0.54, 0.54, 0.54, 0.45]),
        "PB": ([0.48, 0.48, 0.48, 0.32], [0.56, 0.56, 0.56, 0.40]),
        "R15": ([1, 1, 1, 0.78], [1, 1, 1, 0.94]),
        "Iris": ([0.69, 0.56, 0.59, 0.59], [0.74, 0.74, 0.62, 0.69]),
        "Wine": ([0.91, 0.55, 0.55, 0.55], [0.89, 0.68, 0.68, 0.62]),
        "IS": ([0.48, 0.47, 0.46, 0.28], [0.62, 0.63, 0.61, 0.50]),
    },
}
SETUPS = {
    "Table 2, K = ⌊√N⌋ (1000 partitions)": ("2", 1000, "sqrt", "sqrt"),
    "Table 2, K = classes (1000 partitions)": ("2", 1000, "classes", "classes"),
    "Table 3 (100 partitions)": ("3", 100, 2, "sqrt"),
    "Table 4 (10 partitions)": ("4", 10, 2, "sqrt"),
    "Table 5, K = classes (10 algorithms)": ("5", 0, "classes", "classes"),
    "Table 5, K = ⌊√N⌋ (10 algorithms)": ("5", 0, "sqrt", "sqrt"),
}
THRESHOLDS = ("search", "kmeans", "gmm")


def members(X, n_classes, setup, seed):
    _, n_partitions, low, high = setup
    low, high = (n_classes if k == "classes" else k for k in (low, high))
    if not n_partitions:
        return MixedPartitions(low, random_state=seed, n_jobs=-1).fit_transform(X)
    base = KMeans(n_init=1, max_iter=4)
    generator = RandomKPartitions(n_partitions, k_min=low, k_max=high, estimator=base, random_state=seed, n_jobs=-1)
    return generator.fit_transform(X)


def one_run(X, truth, setup, seed):
    """ARI and AMI of the three methods and the mean member, (2, 4); thresholds; seconds, every cut first."""
    labels = members(X, len(np.unique(truth)), setup, seed)
    ensemble, k = Ensemble(labels), len(np.unique(truth))
    models, seconds = [], []
    for threshold in ("every", *THRESHOLDS):
        every = threshold == "every"
        start = perf_counter()
        models.append(
            NegMM(k, threshold="search" if every else threshold, deduplicate=not every, random_state=seed).fit(ensemble)
        )
        seconds.append(perf_counter() - start)
    scores = [
        [score(truth, model.labels_) for model in models[1:]] + [np.mean([score(truth, z) for z in labels.T])]
        for score in (adjusted_rand_score, adjusted_mutual_info_score)
    ]
    return np.array(scores), [model.threshold_ for model in models[1:]], seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    NegMM(2).fit(np.repeat([0, 1], 5)[:, None])
    times = {}
    for title, setup in SETUPS.items():
        columns = [f"{m} {n}" for m in ("ARI", "AMI") for n in ("NegMM", "WAT(K)", "WAT(GMM)", "members")]
        print(f"\n| {title} | " + " | ".join([*columns, "thresholds"]) + " |\n|" + "---|" * (len(columns) + 2))
        for file, name in SETS.items():
            table = pd.read_csv(options.data / f"{file}.csv.gz")
            X, truth = table.drop(columns="label").to_numpy(float), table["label"].to_numpy()
            runs = [one_run(X, truth, setup, seed) for seed in range(options.runs)]
            scores = np.array([run[0] for run in runs])
            mean, sd = scores.mean(axis=0), scores.std(axis=0)
            cells = [
                f"{mean[m, c]:.2f} ± {sd[m, c]:.2f} ({PRINTED[setup[0]][name][m][c]:.2f})"
                for m in range(2)
                for c in range(4)
            ]
            taus = np.mean([run[1] for run in runs], axis=0)
            print(f"| {name} | " + " | ".join([*cells, ", ".join(f"{t:.2f}" for t in taus)]) + " |", flush=True)
            if "classes" not in setup and setup[1]:
                times.setdefault(setup[1], []).append(np.median([run[2] for run in runs], axis=0))
    print(
        "\n| partitions | every cut / WAT(K) | every cut / WAT(GMM) | search / WAT(K) | every cut / search | printed |"
    )
    print("|" + "---|" * 6)
    for p, found in times.items():
        every, search, k, gmm = np.array(found).T
        ratios = [np.mean(every / k), np.mean(every / gmm), np.mean(search / k), np.mean(every / search)]
        printed = {1000: 7.7, 100: 51.4, 10: 233}[p]
        print(f"| {p} | " + " | ".join(f"{r:.1f}" for r in ratios) + f" | {printed} |")


if __name__ == "__main__":
    main()
