"""Candel, "Linear time evidence accumulation clustering with KMeans": Tables 2 to 7 (Sec. 5 and 6)."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from ensemblage.datasets import Dataset
from ensemblage.metrics import density, ensemble_baselines, ensemble_nmi
from ensemblage.reproduce._experiment import Case, Experiment, Numbers, Paper, Run, TableOf
from ensemblage.reproduce._methods import fit_consensus, make_generator
from ensemblage.reproduce._published import number, published
from ensemblage.reproduce._results import Estimate, Results
from ensemblage.reproduce._store import Made
from ensemblage.reproduce._tables import Cell, ordered

N_PARTITIONS, N_CLUSTERS, RUNS, K_CAP = 20, 20, 20, 100
EXPERIMENT, STANDARDISED = "candel", "candel/z-scores"
NON_HIERARCHICAL = ("SEC", "MCLA", "ECC", "CSPA")
HIERARCHICAL = ("R-SL", "R-AL", "R-ML", "E-SL", "E-AL", "E-ML")
OWN = ("KM", "H-KM", "KM refined", "H-KM by loss")
BASELINES = "Max and Mean"
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "SEC": ("sec", {"init": "random"}),
    "MCLA": ("mcla", {"vertex_weights": "equal"}),
    "ECC": ("ecc", {"init": "random"}),
    "CSPA": ("cspa", {"distinct": False, "recursive": False}),
    "R-SL": ("eac-single", {}),
    "R-AL": ("eac-average", {}),
    "R-ML": ("eac-complete", {}),
    "E-SL": ("eac-single", {"similarity": "ecpcs"}),
    "E-AL": ("eac-average", {"similarity": "ecpcs"}),
    "E-ML": ("eac-complete", {"similarity": "ecpcs"}),
    "KM": ("km", {}),
    "H-KM": ("h-km", {"split_rule": "size"}),
    "H-KM by loss": ("h-km", {}),
    "KM refined": ("km", {"refine": "density"}),
}
TOO_LARGE_FOR_HIERARCHIES = 6_435
"""Sec. 6.2: not on sets larger than Landsat."""


def make(standardise: bool, case: Case, dataset: Dataset | None, seed: int) -> Made:
    """Sec. 5.3: 20 k-means, each with k uniform in [k0, min(√n, 100)]."""
    assert dataset is not None
    X = StandardScaler().fit_transform(dataset.X) if standardise else dataset.X
    k_max = min(math.isqrt(len(X)), K_CAP)
    # Two clusters at least where classes are not known; never more than the largest number.
    k_min = min(dataset.n_classes or 2, k_max)
    base = KMeans(n_init=1 if standardise else 10)
    generator = make_generator("RandomKPartitions", N_PARTITIONS, seed=seed, k_min=k_min, k_max=k_max, estimator=base)
    return Made(generator.fit_transform(X), {"k_min": k_min, "k_max": k_max})


def measure(run: Run, method: str) -> Numbers:
    """Sec. 5.5: a consensus of 20 clusters, its mean NMI with the ensemble (arithmetic) and its density, in percent."""
    if method == BASELINES:
        return _baselines(run)
    name, parameters = METHODS.get(method, (method, {}))
    if name in {"eac-single", "eac-average", "eac-complete"} and len(run.ensemble) > TOO_LARGE_FOR_HIERARCHIES:
        return {}
    labels = fit_consensus(name, run.ensemble, N_CLUSTERS, run.seed, **parameters).labels_
    return {
        "nmi": 100 * ensemble_nmi(run.ensemble, labels),
        "density": 100 * density(run.ensemble, labels),
        "clusters": len(set(labels.tolist())),
    }


def _baselines(run: Run) -> Numbers:
    """Sec. 5.4.3: what the members reach themselves."""
    numbers: dict[str, float] = {}
    for metric in ("nmi", "density"):
        mean, best = ensemble_baselines(run.ensemble, metric)
        numbers |= {f"{metric} Mean": 100 * mean, f"{metric} Max": 100 * best}
    return numbers


def own_table(file: str, metric: str) -> tuple[Cell, ...]:
    """The cells of a published table, without our numbers."""
    return tuple(
        Cell(
            row["dataset"],
            row["algorithm"],
            None,
            number(row["value"]),
            published_n=RUNS,
            unit=_unit(row["value"], metric),
        )
        for row in published(file)
    )


def _unit(value: str, metric: str) -> float:
    return 0.01 if metric == "nmi" else 0.1


def methods_table(file: str, metric: str, results: Results) -> list[Cell]:
    """Tables 2 to 5: one column per method."""
    cells = [_filled(cell, results, EXPERIMENT, cell.column, metric) for cell in own_table(file, metric)]
    rows = ordered(cell.row for cell in cells)
    return cells + [_extra(row, method, metric, results) for method in results.extra(EXPERIMENT) for row in rows]


def _filled(cell: Cell, results: Results, experiment: str, method: str, *path: str) -> Cell:
    ours = results.estimate(experiment, cell.row, method, *path)
    return replace(cell, ours=ours, why_not="" if ours else results.why_not(experiment, cell.row, method))


def _extra(row: str, method: str, metric: str, results: Results) -> Cell:
    ours = results.estimate(EXPERIMENT, row, method, metric)
    return Cell(row, method, ours, why_not="" if ours else results.why_not(EXPERIMENT, row, method))


def comparison_table(file: str, metric: str, results: Results) -> list[Cell]:
    """Tables 6 and 7: the members, KM, H-KM, and the best of either group; then what the text's z-scores give."""
    printed = own_table(file, metric)
    cells = [_compared(cell, metric, results) for cell in printed]
    own = [
        _extra(r, m, metric, results)
        for m in ("KM refined", "H-KM by loss", *results.extra(EXPERIMENT))
        for r in ordered(c.row for c in cells)
    ]
    standardised = [_standardised(cell, metric, results) for cell in printed if not cell.column.startswith("Best")]
    return [*cells, *own, *standardised]


def _standardised(cell: Cell, metric: str, results: Results) -> Cell:
    is_baseline = cell.column in ("Max", "Mean")
    method, name = (BASELINES, f"{metric} {cell.column}") if is_baseline else (cell.column, metric)
    filled = _filled(cell, results, STANDARDISED, method, name)
    return replace(filled, column=f"{cell.column}, z-scores", is_alternative=True)


def _compared(cell: Cell, metric: str, results: Results) -> Cell:
    if cell.column in ("Max", "Mean"):
        return _filled(cell, results, EXPERIMENT, BASELINES, f"{metric} {cell.column}")
    if cell.published is None:
        return replace(cell, why_not="NA")
    group = {"Best-NH": NON_HIERARCHICAL, "Best-H": HIERARCHICAL}.get(cell.column, (cell.column,))
    best = max(group, key=lambda method: _mean(results.estimate(EXPERIMENT, cell.row, method, metric)))
    return _filled(cell, results, EXPERIMENT, best, metric)


def _mean(found: Estimate | None) -> float:
    return -math.inf if found is None else found.mean


def _table(n: str, title: str, file: str, metric: str, methods: tuple[str, ...]) -> TableOf:
    return TableOf(
        n,
        title,
        {EXPERIMENT: methods},
        lambda results: methods_table(file, metric, results),
        digits=2 if metric == "nmi" else 1,
    )


CASES = tuple(
    Case(name, name) for name in ordered(c.row for c in own_table("candel_table2_nmi_nonhierarchical", "nmi"))
)
QUICK = ("ecoli", "glass", "ionosphere", "user_knowledge")

PAPER = Paper(
    name="candel",
    title="Candel, Linear time evidence accumulation clustering with KMeans",
    protocol=(
        "Base clusterings: 20 times k-means, k uniform in [number of classes, min(√n, 100)].",
        "Features as they are, ten starts: that reproduces what the members score (Max, Mean) on most sets.",
        "The text says z-scores and no number of starts: columns marked z-scores (one start), in Tables 6 and 7.",
        "The consensus has 20 clusters; means over 20 ensembles. NMI is arithmetic; both measures are percent.",
        "E- is the enhanced co-association by ECPCS: the reference cannot be resolved, the numbers agree.",
        "Not in the text, taken because it reproduces: ten starts, k-means++ for KM, random ones for SEC and ECC.",
        "H-KM splits the largest cluster; MCLA has equal vertex weights; CSPA is METIS' k-way cut of all objects.",
        "Not in the paper: KM refined climbs the exact density after KM; H-KM by loss splits the largest k-means loss.",
    ),
    experiments=(
        Experiment(
            EXPERIMENT,
            CASES,
            (*NON_HIERARCHICAL, *HIERARCHICAL, *OWN, BASELINES),
            RUNS,
            partial(make, False),
            measure,
            QUICK,
            quick_runs=5,
            takes="consensus",
        ),
        Experiment(STANDARDISED, CASES, ("KM", "H-KM", BASELINES), RUNS, partial(make, True), measure, QUICK, 5),
    ),
    tables=(
        _table(
            "2", "NMI of the non-hierarchical methods", "candel_table2_nmi_nonhierarchical", "nmi", NON_HIERARCHICAL
        ),
        _table(
            "3",
            "Density of the non-hierarchical methods",
            "candel_table3_density_nonhierarchical",
            "density",
            NON_HIERARCHICAL,
        ),
        _table("4", "NMI of the hierarchical methods", "candel_table4_nmi_hierarchical", "nmi", HIERARCHICAL),
        _table(
            "5", "Density of the hierarchical methods", "candel_table5_density_hierarchical", "density", HIERARCHICAL
        ),
        TableOf(
            "6",
            "NMI of KM and H-KM compared",
            {EXPERIMENT: (), STANDARDISED: ()},
            lambda results: comparison_table("candel_table6_nmi_comparison", "nmi", results),
            note="Max and Mean are what the members reach themselves.",
        ),
        TableOf(
            "7",
            "Density of KM and H-KM compared",
            {EXPERIMENT: (), STANDARDISED: ()},
            lambda results: comparison_table("candel_table7_density_comparison", "density", results),
            note="The paper's caption says NMI; its numbers are densities.",
            digits=1,
        ),
    ),
)
