"""Li & Liu 2018, Sec. 5.2 and Table 4: KCC and KCC++ against GKCC on the same partitions.

    python benchmarks/reproduce_li_losses.py --data DIR [--runs 20] [--standardize]

DIR holds NAME.csv.gz with the features and a column named label. Run r makes the partitions with seed r, and KCC and
KCC++ are one start each with seed r. KCC++ seeds as the paper says, by plain k-means++ on the binary matrix; the greedy
seeding of `KMeansConsensus` stands beside it. ARI is R_n of the paper, NMI is geometric.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from pathlib import Path

import numpy as np
from common import seconds, table
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from ensemblage import Ensemble, GreedyPartitions, KMeansConsensus

SETS = ("iris", "wine", "glass", "ecoli", "satimage", "balance", "waveform")


def read(path):
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    features = [name for name in rows[0] if name != "label"]
    X = np.array([[float(row[name]) for name in features] for row in rows])
    return X, np.unique([row["label"] for row in rows], return_inverse=True)[1]


def plain_seeds(ensemble, k, seed):
    """k-means++ of Arthur & Vassilvitskii on H: a clustering of k objects, -1 elsewhere."""
    codes, random = ensemble.codes, np.random.RandomState(seed)
    chosen = [random.randint(len(codes))]
    nearest = np.full(len(codes), np.inf)
    while len(chosen) < k:
        nearest = np.minimum(nearest, 2 * np.count_nonzero(codes != codes[chosen[-1]], axis=1))
        chosen.append(random.choice(len(codes), p=nearest / nearest.sum()))
    start = np.full(len(codes), -1)
    start[chosen] = np.arange(k)
    return start


def one_run(X, k, seed, standardize):
    generator = GreedyPartitions(k, standardize=standardize, random_state=seed)
    ensemble = Ensemble(generator.fit_transform(X))
    starts = {
        "KCC": "random",
        "KCC++": plain_seeds(ensemble, k, seed),
        "GKCC": generator.labels_,
        "greedy k-means++": "k-means++",
    }
    return {
        name: KMeansConsensus(k, init=init, n_init=1, random_state=seed).fit(ensemble) for name, init in starts.items()
    }


def measured(X, truth, k, runs, standardize):
    """Per method: the losses of all runs, mean R_n and mean NMI."""
    found = [one_run(X, k, seed, standardize) for seed in range(runs)]
    return {
        method: {
            "loss": np.array([run[method].objective_ for run in found]),
            "R_n": np.mean([adjusted_rand_score(truth, run[method].labels_) for run in found]),
            "NMI": np.mean(
                [normalized_mutual_info_score(truth, run[method].labels_, average_method="geometric") for run in found]
            ),
        }
        for method in found[0]
    }


def main(data, runs, standardize):
    losses, scores, total = [], [], []
    for name in SETS:
        (X, truth), numbers = read(data / f"{name}.csv.gz"), {}
        k = len(np.unique(truth))
        time = seconds(lambda X=X, y=truth, k=k, into=numbers: into.update(measured(X, y, k, runs, standardize)))
        mean = {method: values["loss"].mean() for method, values in numbers.items()}
        lowest = mean["GKCC"] <= min(mean["KCC"], mean["KCC++"]) * (1 + 1e-12)
        losses.append(
            {"set": name, "n": len(X), "K": k, "partitions": 59 * (k - 1)}
            | {method: f"{mean[method]:.1f} ± {values['loss'].std():.1f}" for method, values in numbers.items()}
            | {"GKCC lowest of the first three": "yes" if lowest else "no", "s per run": f"{time / runs:.2f}"}
        )
        scores.append({"set": name} | {f"{m} {v}": f"{numbers[m][v]:.3f}" for v in ("R_n", "NMI") for m in numbers})
        total.append(numbers)
    means = {f"{m} {v}": f"{np.mean([t[m][v] for t in total]):.4f}" for v in ("R_n", "NMI") for m in total[0]}
    features = "z-scores" if standardize else "features as they are"
    table(f"k-means loss on the binary matrix, mean ± deviation of {runs} runs, {features}", losses)
    table(f"Agreement with the classes, means of {runs} runs, {features}", [*scores, {"set": "mean"} | means])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--standardize", action="store_true")
    options = parser.parse_args()
    main(options.data, options.runs, options.standardize)
