"""Ayad & Kamel 2010: Table 1 (k-means) and Figs. 1 to 7 (ARI, ANMI and the number of clusters found).

Run: python benchmarks/reproduce_ayad_voting.py --data DIR [--runs 25] [--only NAME ...] [--pareto FILE]

DIR holds ecoli, landsat and yahoo as <name>.csv.gz; the other sets are generated, anew in every run.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from common import table
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ensemblage import METHODS, Ensemble, RandomKPartitions, datasets, make_consensus, plotting
from ensemblage.generation._spherical import SphericalKMeans
from ensemblage.metrics import ensemble_nmi

B = 25
QUADRATIC = ("eac-single", "eac-average")
OTHERS = ("qmi", "mcla", "cspa", "hgpa", *QUADRATIC)


@dataclass(frozen=True)
class Setting:
    """One figure."""

    figure: str
    name: str
    k: int
    k_low: int
    k_high: int
    estimated: bool = False
    metric: str = "euclidean"
    sizes: tuple[int, ...] = (B,)
    """Numbers of partitions."""
    others: tuple[str, ...] = OTHERS


# The ranges of Figs. 6 and 7 are not stated: two to four times k, as in Fig. 4.
SETTINGS = (
    Setting("1", "2d2k", 2, 6, 20, estimated=True, others=()),
    Setting("2", "8d5k", 5, 10, 30, estimated=True, others=()),
    Setting("3", "two_gauss", 2, 8, 16),
    Setting("4", "yahoo", 6, 12, 24, metric="cosine", others=("qmi", "mcla", "hgpa")),
    Setting("5", "yahoo", 6, 24, 24, metric="cosine", others=("qmi", "mcla", "hgpa")),
    Setting("6", "landsat", 6, 12, 24, sizes=(5, 10, 25, 50), others=("qmi", "mcla", "hgpa")),
    Setting("7", "ecoli", 8, 16, 32, sizes=(5, 10, 25, 50)),
)
GENERATORS: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "2d2k": datasets.make_2d2k,
    "8d5k": datasets.make_8d5k,
    "two_gauss": datasets.make_two_gauss,
}
PRINTED = {
    "2d2k": "0.92 ± 0.00",
    "8d5k": "0.86 ± 0.16",
    "two_gauss": "0.81 ± 0.00",
    "yahoo": "0.42 ± 0.08",
    "landsat": "0.46 ± 0.08",
    "ecoli": "0.39 ± 0.04",
}


def data_of(name: str, folder: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    if name in GENERATORS:
        return GENERATORS[name](seed)
    found = datasets.load(name, folder, download=False)
    return found.X, found.y


def table_1(names: list[str], folder: str, runs: int) -> None:
    """k-means at the true number of clusters, one start from random objects."""
    rows = []
    for name, k in {s.name: s.k for s in SETTINGS if s.name in names}.items():
        scores = []
        for seed in range(runs):
            X, y = data_of(name, folder, seed)
            model = SphericalKMeans(k) if name == "yahoo" else KMeans(k, init="random", n_init=1)
            X = X / np.linalg.norm(X, axis=1, keepdims=True) if name == "yahoo" else X
            scores.append(adjusted_rand_score(y, model.set_params(random_state=seed).fit_predict(X)))
        rows.append(
            {"data set": name, "ARI here": f"{np.mean(scores):.2f} ± {np.std(scores):.2f}", "printed": PRINTED[name]}
        )
    table(f"Table 1: k-means, {runs} runs", rows)


def figure(setting: Setting, folder: str, runs: int) -> dict[tuple[str, int], list[tuple[float, float, int]]]:
    """(ARI, ANMI, k) of every run, per method and number of partitions."""
    found: dict[tuple[str, int], list[tuple[float, float, int]]] = {}
    others = [name for name in setting.others if name in METHODS]
    for seed in range(runs):
        X, y = data_of(setting.name, folder, seed)
        generator = RandomKPartitions(
            max(setting.sizes),
            k_min=setting.k_low,
            k_max=setting.k_high,
            metric=setting.metric,
            random_state=seed,
            n_jobs=2,
        )
        labels = generator.fit_transform(X)
        for b in setting.sizes:
            ensemble = Ensemble(labels[:, :b])
            asked = [] if setting.estimated else [(name, setting.k) for name in ("acv", "bv")]
            asked += [(name, None) for name in ("acv", "bv")] if setting.estimated or len(setting.sizes) > 1 else []
            asked += [(name, setting.k) for name in others] if b == B else []
            for name, k in asked:
                title = f"{name.upper()}-k" if k and name in ("acv", "bv") else name.upper()
                found.setdefault((title, b), []).append(score(name, k, ensemble, y, seed))
    return found


def score(name: str, k: int | None, ensemble: Ensemble, y: np.ndarray, seed: int) -> tuple[float, float, int]:
    model = make_consensus(name, k)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = model.fit(ensemble).labels_
    anmi = ensemble_nmi(ensemble, labels, average_method="geometric")
    return adjusted_rand_score(y, labels), anmi, int(labels.max()) + 1


def show(setting: Setting, found: dict[tuple[str, int], list[tuple[float, float, int]]], runs: int) -> None:
    rows = []
    for (title, b), scores in found.items():
        ari, anmi, k = (np.array(values) for values in zip(*scores, strict=True))
        ks, counts = np.unique(k.astype(int), return_counts=True)
        by_count = sorted(zip(ks.tolist(), counts.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
        rows.append(
            {
                "method": title,
                "b": b,
                "ARI": f"{ari.mean():.3f} ± {ari.std():.3f}",
                "ANMI": f"{anmi.mean():.3f} ± {anmi.std():.3f}",
                "k found (runs)": ", ".join(f"{k} ({n})" for k, n in by_count[:5])
                + (", …" if len(by_count) > 5 else ""),
            }
        )
    k_range = f"k_i in [{setting.k_low}, {setting.k_high}]"
    table(f"Fig. {setting.figure}: {setting.name}, {k_range}, {runs} runs, seeds 0 to {runs - 1}", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, metavar="DIR")
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--only", nargs="*", metavar="NAME", default=list(PRINTED))
    parser.add_argument("--pareto", metavar="FILE", help="Pareto charts of Figs. 1 and 2")
    chosen = parser.parse_args()
    table_1(chosen.only, chosen.data, chosen.runs)
    estimated = {}
    for setting in SETTINGS:
        if setting.name in chosen.only:
            found = figure(setting, chosen.data, chosen.runs)
            show(setting, found, chosen.runs)
            if setting.estimated:
                estimated |= {f"{setting.name}, {title}": [k for *_, k in s] for (title, _), s in found.items()}
    if chosen.pareto and estimated:
        draw(estimated, chosen.pareto)


def draw(estimated: dict[str, list[int]], path: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(estimated), 3), layout="constrained")
    for ax, (title, ks) in zip(np.atleast_1d(figure.subplots(1, len(estimated))), estimated.items(), strict=True):
        plotting.estimated_clusters(ks, ax=ax)
        ax.set_title(title)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
