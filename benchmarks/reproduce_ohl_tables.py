"""Ohl & Lindsten 2025, Tables 4 and 5 (10 and 16): rankings of pools with free numbers of clusters, set by set.

Run: python benchmarks/reproduce_ohl_tables.py --data DIR [--seed 0] [--published DIR]

DIR holds the sets as <name>.csv.gz, features f0, f1, ... and label; those that are missing are left out. --published
holds ohl_table10_kendall_freek.csv and ohl_table16_regret_ari_freek.csv, to print the paper's means beside ours.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np

from ensemblage import AverageAgreement, Discotec, InternalIndex, datasets, ranking
from ensemblage.generation import make_pool
from ensemblage.metrics import INTERNAL_INDICES

SETS = {
    "fcps": ["atom", "chainlink", "engytime", "hepta", "lsun3d", "target", "tetra", "twodiamonds", "wingnut"],
    "uci": ["dermatology", "digits", "glass", "ionosphere", "iris_uci", "lung", "segmentation", "wdbc", "wine"],
}
POOLS = ("agglomerative", "dbscan", "kmeans", "all")
MAIN = ("AARI", "ANMI", "CHI", "SI", "WGSS", "KL", "Binary")
CONSENSUS = {
    "AARI": AverageAgreement(),
    "ANMI": AverageAgreement("nmi"),
    "H": Discotec("hellinger"),
    "KL": Discotec("kl"),
    "TV": Discotec("tv"),
    "Binary": Discotec(),
}
DISTANCES = {info.acronym: InternalIndex(name, variant="ohl") for name, info in INTERNAL_INDICES.items()}


def load(folder, suite, name):
    path = folder / f"{'fcps_' if suite == 'fcps' else ''}{name}.csv.gz"
    return datasets.load(path.name.removesuffix(".csv.gz"), folder, download=False) if path.exists() else None


def pools_of(ensemble):
    """Members of each pool, by their names."""
    kind = [n.split("_")[0] if n.startswith(("kmeans", "dbscan")) else "agglomerative" for n in ensemble.names]
    return {pool: [j for j, k in enumerate(kind) if pool in (k, "all")] for pool in POOLS}


def measured(X, truth, seed):
    """Kendall's tau with the ARI and regret on the selected ARI, by pool and index."""
    X = X[:, ~np.isnan(X).any(axis=0)]  # as in the released code
    pool = make_pool(X, random_state=seed, n_jobs=-1)
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    found = {}
    for name, members in pools_of(pool.ensemble).items():
        table = ranking.compare(pool.ensemble.select(members), X, truth, CONSENSUS | DISTANCES).ranker_columns
        for i, index in enumerate(table["ranker"]):
            found[name, index] = table["kendall"][i], table["selected_ari_regret"][i]
    return found


def printed(folder):
    """The paper's means, by statistic, suite, pool and index."""
    means = {}
    for name in ("ohl_table10_kendall_freek.csv", "ohl_table16_regret_ari_freek.csv") if folder else ():
        with (folder / name).open() as file:
            for row in csv.DictReader(file):
                means[row["statistic"], row["suite"], row["pool"], row["index"]] = row["mean"]
    return means


def lines(header, rows):
    return ["| " + " | ".join(header) + " |", "|---" * len(header) + "|", *("| " + " | ".join(r) + " |" for r in rows)]


def mean_table(title, statistic, place, results, paper):
    """Mean over the sets, and in brackets the paper's over nine."""
    columns = [(suite, pool) for suite in SETS for pool in POOLS]
    rows = []
    for index in (*CONSENSUS, *DISTANCES):
        cells = []
        for suite, pool in columns:
            values = [found[pool, index][place] for (s, _), found in results.items() if s == suite]
            theirs = paper.get((statistic, suite, pool, index))
            cells.append(f"{np.nanmean(values):.2f}" + (f" ({theirs})" if theirs else ""))
        rows.append([index, *cells])
    return [f"\n#### {title}\n", *lines(["index", *(f"{s} {p}" for s, p in columns)], rows)]


def set_table(title, place, results):
    rows = [
        [name, pool, *(f"{found[pool, index][place]:.2f}" for index in MAIN)]
        for (_, name), found in results.items()
        for pool in POOLS
    ]
    return [f"\n#### {title}\n", *lines(["set", "pool", *MAIN], rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--published", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    results = {}
    for suite, names in SETS.items():
        for name in names:
            data = load(options.data, suite, name)
            if data is not None:
                results[suite, name] = measured(data.X, data.y, options.seed)
    paper = printed(options.published)
    print(*mean_table("Kendall's tau (Tables 4 and 10)", "kendall", 0, results, paper), sep="\n")
    print(*mean_table("Regret on the selected ARI (Tables 5 and 16)", "regret_ari", 1, results, paper), sep="\n")
    print(*set_table("Kendall's tau, set by set", 0, results), sep="\n")
    print(*set_table("Regret on the selected ARI, set by set", 1, results), sep="\n")


if __name__ == "__main__":
    main()
