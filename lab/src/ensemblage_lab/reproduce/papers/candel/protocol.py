"""What Candel measured (Sec. 5)."""

import math
from functools import partial

from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from ensemblage.datasets._load import Dataset
from ensemblage.metrics import density, ensemble_nmi
from ensemblage.metrics._agreement import ensemble_baselines
from ensemblage_lab.reproduce.papers import (
    Case,
    Experiment,
    LabelMatrix,
    Numbers,
    PaperMethod,
    Run,
    make_generator,
    ordered,
    published,
)

N_PARTITIONS, N_CLUSTERS, RUNS, K_CAP = 20, 20, 20, 100
EXPERIMENT, STANDARDISED = "candel", "candel/z-scores"
NON_HIERARCHICAL = ("SEC", "MCLA", "ECC", "CSPA")
HIERARCHICAL = ("R-SL", "R-AL", "R-ML", "E-SL", "E-AL", "E-ML")
OWN = ("KM", "H-KM", "KM refined", "H-KM by loss")
BASELINES = "Max and Mean"
CONSENSUS = {
    "SEC": PaperMethod("sec"),
    "MCLA": PaperMethod("mcla"),
    "ECC": PaperMethod("ecc"),
    "CSPA": PaperMethod("cspa"),
    "R-SL": PaperMethod("eac-single"),
    "R-AL": PaperMethod("eac-average"),
    "R-ML": PaperMethod("eac-complete"),
    "E-SL": PaperMethod("eac-single", {"similarity": "ecpcs"}),
    "E-AL": PaperMethod("eac-average", {"similarity": "ecpcs"}),
    "E-ML": PaperMethod("eac-complete", {"similarity": "ecpcs"}),
    "KM": PaperMethod("km"),
    "H-KM": PaperMethod("h-km"),
    # Not in the paper.
    "H-KM by loss": PaperMethod("h-km", {"split_rule": "loss"}),
    "KM refined": PaperMethod("km", {"refine": "density"}),
}
TOO_LARGE_FOR_HIERARCHIES = 6_435
"""Sec. 6.2: not on sets larger than Landsat."""


def make(standardise: bool, case: Case, dataset: Dataset | None, seed: int) -> LabelMatrix:
    """Sec. 5.3: 20 k-means, each with k uniform in [k0, min(√n, 100)]."""
    assert dataset is not None
    X = StandardScaler().fit_transform(dataset.X) if standardise else dataset.X
    k_max = min(math.isqrt(len(X)), K_CAP)
    # Two clusters at least where classes are not known; never more than the largest number.
    k_min = min(dataset.n_classes or 2, k_max)
    base = KMeans(n_init=1 if standardise else 10)
    generator = make_generator("RandomKPartitions", N_PARTITIONS, seed=seed, k_min=k_min, k_max=k_max, estimator=base)
    return LabelMatrix(generator.fit_transform(X), {"k_min": k_min, "k_max": k_max})


def measure(run: Run, method: str) -> Numbers:
    """Sec. 5.5: a consensus of 20 clusters, its mean NMI with the ensemble (arithmetic) and its density, in percent."""
    if method == BASELINES:
        return _baselines(run)
    if method in HIERARCHICAL and len(run.ensemble) > TOO_LARGE_FOR_HIERARCHIES:
        return {}
    labels = run.fit(method, N_CLUSTERS).labels_
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


SETS = ordered(row["dataset"] for row in published(__package__, "table2_nmi_nonhierarchical"))
QUICK = ("ecoli", "glass", "ionosphere", "user_knowledge")


def _experiment(name: str, methods: tuple[str, ...], standardise: bool) -> Experiment:
    return Experiment(
        *(name, tuple(Case(name, name) for name in SETS), methods, RUNS, partial(make, standardise), measure, QUICK),
        quick_runs=5,
        consensus=CONSENSUS,
        takes="" if standardise else "consensus",
    )


EXPERIMENTS = (
    _experiment(EXPERIMENT, (*NON_HIERARCHICAL, *HIERARCHICAL, *OWN, BASELINES), standardise=False),
    _experiment(STANDARDISED, ("KM", "H-KM", BASELINES), standardise=True),
)
