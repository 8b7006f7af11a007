"""What Li & Liu 2018 measured (Sec. 5)."""

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from ensemblage.datasets._load import Dataset, printed_table
from ensemblage_lab.reproduce.papers import Case, Experiment, LabelMatrix, Numbers, PaperMethod, Run, make_generator

GREEDY, RPS, STANDARDISED = "li/greedy partitions", "li/random k", "li/greedy partitions, z-scores"
RUNS, N_SETS = 20, 36
MEASURES = ("R_n", "NMI")
METHODS = ("KCC", "KCC++", "GKCC")
CONSENSUS = {method: PaperMethod("kcc") for method in METHODS}


def _cases() -> tuple[Case, ...]:
    """The 36 sets; a name that is printed more than once gets that of its file."""
    lines = [line for line in printed_table() if line.paper == "li"]
    return tuple(Case(line.name, line.name, {"position": i}) for i, line in enumerate(lines, 1))


def make_greedy(standardise: bool, case: Case, dataset: Dataset | None, seed: int) -> LabelMatrix:
    """Algorithm 1: 59 (K - 1) partitions, K the number of classes."""
    assert dataset is not None
    generator = make_generator("GreedyPartitions", dataset.n_classes, seed=seed, standardize=standardise)
    return LabelMatrix(generator.fit_transform(dataset.X), {"winner": generator.winner_})


def make_random(case: Case, dataset: Dataset | None, seed: int) -> LabelMatrix:
    """Sec. 5.2: as many k-means partitions, each with k uniform in [2, K]."""
    assert dataset is not None
    K = dataset.n_classes or 2
    size = min(59, len(dataset.X)) * (K - 1)
    return LabelMatrix(
        make_generator("RandomKPartitions", size, seed=seed, k_min=2, k_max=K).fit_transform(dataset.X), {}
    )


def start_of(run: Run, method: str) -> Any:
    """Where the one k-means starts: random rows, k-means++, or the best greedy partition."""
    if method == "GKCC":
        return np.asarray(run.ensemble)[:, run.facts["winner"]]
    return "random" if method == "KCC" else plain_seeds(run.ensemble.codes, run.data.n_classes or 2, run.seed)


def plain_seeds(codes: NDArray[Any], k: int, seed: int) -> NDArray[np.int64]:
    """k-means++ (Arthur & Vassilvitskii 2007) on the binary matrix: a partition of k objects, −1 elsewhere."""
    source = np.random.default_rng(seed)
    chosen = [int(source.integers(len(codes)))]
    nearest = np.full(len(codes), np.inf)
    while len(chosen) < k:
        nearest = np.minimum(nearest, 2.0 * np.count_nonzero(codes != codes[chosen[-1]], axis=1))
        chosen.append(int(source.choice(len(codes), p=nearest / nearest.sum())))
    start = np.full(len(codes), -1)
    start[chosen] = np.arange(k)
    return start


def measure(run: Run, method: str) -> Numbers:
    """Sec. 5.1: one start of k-means on the binary matrix; R_n is the ARI, NMI geometric."""
    start = {"init": start_of(run, method)} if method in METHODS else {}
    fitted = run.fit(method, run.data.n_classes, **start)
    return {
        "R_n": adjusted_rand_score(run.classes, fitted.labels_),
        "NMI": normalized_mutual_info_score(run.classes, fitted.labels_, average_method="geometric"),
        "objective": getattr(fitted, "objective_", math.nan),
        "n": len(fitted.labels_),
        "p": run.ensemble.shape[1],
        "K": run.data.n_classes,
    }


QUICK = ("alizadeh-2000-v1", "alizadeh-2000-v2", "dyrskjot-2003", "balance", "ecoli", "glass", "iris", "wine")


def _experiment(name: str, methods: tuple[str, ...], make: Any, takes: str = "") -> Experiment:
    return Experiment(
        *(name, _cases(), methods, RUNS, make, measure, QUICK),
        quick_runs=3,
        one_ensemble=True,
        consensus=CONSENSUS,
        takes=takes,
    )


EXPERIMENTS = (
    _experiment(GREEDY, METHODS, partial(make_greedy, False), "consensus"),
    _experiment(STANDARDISED, METHODS, partial(make_greedy, True)),
    _experiment(RPS, ("KCC", "KCC++"), make_random),
)
