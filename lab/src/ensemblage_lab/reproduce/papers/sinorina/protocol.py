"""What Sinorina, Hamilton & Zilles 2022 measured (Sec. 5)."""

import math
import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans, MeanShift, MiniBatchKMeans
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, normalized_mutual_info_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.preprocessing import StandardScaler

from ensemblage.datasets._load import Dataset
from ensemblage.metrics._agreement import agreement_with
from ensemblage.metrics._coassociation import association_counts
from ensemblage.metrics._wat import weak_association_threshold
from ensemblage_lab.reproduce.papers import (
    Case,
    Experiment,
    LabelMatrix,
    Numbers,
    PaperMethod,
    Run,
    make_generator,
    published,
)

SETUPS = ("sinorina/setup 1", "sinorina/setup 2", "sinorina/setup 3", "sinorina/setup 4")
CLASSES, SCALED = "sinorina/setup 1, K = classes", "sinorina/setup 4, z-scores"
ROWS_OF_CLASSES = {SETUPS[1]: "sinorina/setup 2, K = classes", SETUPS[2]: "sinorina/setup 3, K = classes"}
OF_CLASSES = ("Wine", "UKM", "Ecoli", "Yeast")
"""Rows of Tables 3 and 4 whose members spread as those of one K do: on Wine 0.01, with random K 0.08."""
CUTS, HISTOGRAMS = "sinorina/times", "sinorina/histogram"
CONSENSUS = {
    "NegMM": PaperMethod("negmm"),
    "NegMM-WAT(K)": PaperMethod("negmm-wat-kmeans"),
    "NegMM-WAT(GMM)": PaperMethod("negmm-wat-gmm"),
    "NegMM, every cut": PaperMethod("negmm", {"distinct": False}),
}
COMPARED, BASE, HISTOGRAM = ("NegMM", "NegMM-WAT(K)", "NegMM-WAT(GMM)"), "AvgBase", "associations"
MEASURES = ("ari", "nmi")
SIZES = {SETUPS[0]: 1000, SETUPS[1]: 100, SETUPS[2]: 10}
FIXED_SIZES = {CLASSES: 1000, **{ROWS_OF_CLASSES[setup]: SIZES[setup] for setup in ROWS_OF_CLASSES}}
GLASS, PLAIN_GLASS = Case("Glass", "Glass", {"with_id": True}), Case("Glass without its Id", "Glass")
N_BINS = 50


def make(setup: str, case: Case, dataset: Dataset | None, seed: int) -> LabelMatrix:
    """Sec. 5.1: raw features; k-means with 4 iterations and one start, or ten algorithms."""
    assert dataset is not None
    X = features_of(setup, case, dataset)
    k: Any = dataset.n_classes
    if setup in (SETUPS[3], SCALED):
        # The paper tells no K; the mean members of Table 5 are those of the number of classes.
        generator = make_generator("MixedPartitions", k, seed=seed, estimators=ten_algorithms())
    else:
        k_min, k_max = ("sqrt", "sqrt") if setup == SETUPS[0] else (k, k) if setup in FIXED_SIZES else (2, "sqrt")
        base = KMeans(n_init=1, max_iter=4)
        size = {**SIZES, **FIXED_SIZES}[setup]
        generator = make_generator("RandomKPartitions", size, seed=seed, k_min=k_min, k_max=k_max, estimator=base)
    with warnings.catch_warnings():
        # Four iterations are meant to be too few.
        warnings.simplefilter("ignore")
        return LabelMatrix(generator.fit_transform(X), {})


def features_of(setup: str, case: Case, dataset: Dataset) -> NDArray[np.float64]:
    """The features, as they are or as z-scores.

    Glass has its Id as one more: 1, 2, … in UCI's file, which is sorted by class. The paper lists 9 attributes, but
    only with the Id the members of all four tables are those it prints (ARI 0.49 in Table 2, 0.25 without).
    """
    X = dataset.X
    if case.settings.get("with_id"):
        assert dataset.y is not None
        X = np.column_stack([1 + np.argsort(np.argsort(dataset.y, kind="stable")), X])
    scaled: NDArray[np.float64] = StandardScaler().fit_transform(X) if setup == SCALED else X
    return scaled


def ten_algorithms() -> list[Any]:
    """Sec. 5.1, setup 4, in the paper's order; what it does not tell is scikit-learn's default."""
    linkages = [AgglomerativeClustering(linkage=linkage) for linkage in ("ward", "complete", "average")]
    mixtures = [GaussianMixture(), BayesianGaussianMixture()]
    return [KMeans(n_init=10), MiniBatchKMeans(n_init=3), DBSCAN(), *linkages, MeanShift(), Birch(), *mixtures]


def own_scores(classes: NDArray[Any], labels: NDArray[Any]) -> dict[str, float]:
    """ARI, AMI as the paper names it, and the geometric NMI, which is what its columns of AMI hold.

    The mean of the members tells them apart where they have more clusters than there are classes: on Jain in Table 3
    AMI is 0.38, geometric NMI 0.47, printed 0.46. (scikit-learn's NMI was the geometric one until version 0.22.)
    """
    return {
        "ari": float(adjusted_rand_score(classes, labels)),
        "ami": float(adjusted_mutual_info_score(classes, labels)),
        "nmi": float(normalized_mutual_info_score(classes, labels, average_method="geometric")),
    }


def scores_of_members(run: Run) -> Numbers:
    """Their means; AMI, which costs most, over the first hundred."""
    some = np.asarray(run.ensemble).T[:100]
    return {
        "ari": float(agreement_with(run.ensemble, run.classes, "ari").mean()),
        "ami": float(np.mean([adjusted_mutual_info_score(run.classes, z) for z in some])),
        "nmi": float(agreement_with(run.ensemble, run.classes, "nmi", "geometric").mean()),
    }


def measure(run: Run, method: str) -> Numbers:
    """Sec. 5.1: agreement with the classes, the threshold, and the seconds of processor time."""
    if method == BASE:
        return scores_of_members(run)
    if method == HISTOGRAM:
        return histogram(run)
    # Of this thread, which does all the work: what else the machine does leaves it as it is.
    start = time.thread_time()
    fitted = run.fit(method, run.data.n_classes)
    seconds = time.thread_time() - start
    return {
        **own_scores(run.classes, fitted.labels_),
        "tau": getattr(fitted, "association_threshold_", math.nan),
        "seconds": seconds,
    }


def histogram(run: Run) -> Numbers:
    """Figs. 2 to 4: the positive associations of pairs in 50 bins, and the thresholds on them."""
    counts = association_counts(run.ensemble)
    p = run.ensemble.shape[1]
    values = np.arange(1, p + 1) / p
    heights = np.histogram(values, bins=N_BINS, range=(0, 1), weights=counts[1:])[0]
    return {
        "bins": heights.tolist(),
        "2-means": weak_association_threshold(run.ensemble, "kmeans"),
        "two Gaussians": weak_association_threshold(run.ensemble, "gmm"),
    }


def _cases() -> tuple[Case, ...]:
    names = [row["dataset"] for row in published(__package__, "table1_datasets")]
    return (*(GLASS if name == GLASS.name else Case(name, name) for name in names), PLAIN_GLASS)


TIMED = tuple(
    Case(f"{case.name}, b = {SIZES[setup]}", case.dataset, {"setup": setup})
    for setup in SETUPS[:3]
    for case in _cases()
    if case != PLAIN_GLASS
)
HISTOGRAM_CASES = (Case("Jain, K = √N", "Jain", {"told": "b = 100, K = √N"}),)
QUICK = ("Iris", "Wine", "Jain")


def _make_timed(case: Case, dataset: Dataset | None, seed: int) -> LabelMatrix:
    return make(case.settings["setup"], case, dataset, seed)


def _make_fig2(case: Case, dataset: Dataset | None, seed: int) -> LabelMatrix:
    """Fig. 2: b = 100 with K = √N, which is none of the four setups."""
    assert dataset is not None
    base = KMeans(n_init=1, max_iter=4)
    generator = make_generator("RandomKPartitions", 100, seed=seed, k_min="sqrt", k_max="sqrt", estimator=base)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LabelMatrix(generator.fit_transform(dataset.X), {})


def _experiment(setup: str, runs: int, quick_runs: int, names: Sequence[str] = ()) -> Experiment:
    methods = (*COMPARED, BASE, HISTOGRAM) if setup in SETUPS[1:3] else (*COMPARED, BASE)
    quick = tuple(name for name in QUICK if not names or name in names)
    return Experiment(
        *(setup, tuple(case for case in _cases() if not names or case.name in names), methods, runs),
        *(partial(make, setup), measure, quick, quick_runs),
        # DBSCAN's noise has a label as in scikit-learn.
        noise_is_cluster=setup in (SETUPS[3], SCALED),
        consensus=CONSENSUS,
        takes="consensus",
    )


QUICK_TIMED = tuple(case.name for case in TIMED if case.dataset in QUICK)
EXPERIMENTS = (
    _experiment(SETUPS[0], 5, 2),
    _experiment(CLASSES, 5, 2),
    _experiment(SETUPS[1], 10, 3),
    _experiment(SETUPS[2], 10, 3),
    *(_experiment(setup, 10, 3, OF_CLASSES) for setup in ROWS_OF_CLASSES.values()),
    _experiment(SETUPS[3], 5, 3),
    _experiment(SCALED, 5, 3),
    Experiment(
        *(CUTS, TIMED, ("NegMM, every cut", *COMPARED), 2, _make_timed, measure, QUICK_TIMED, 1), consensus=CONSENSUS
    ),
    Experiment(HISTOGRAMS, HISTOGRAM_CASES, (HISTOGRAM,), 5, _make_fig2, measure, (), 2, consensus=CONSENSUS),
)
