"""Ohl & Lindsten 2025, "Discriminative ordering through ensemble consensus": Sec. 4, App. B and D."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, pearsonr
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from ensemblage._ensemble import Ensemble
from ensemblage.datasets import Dataset, make_hub_partitions, make_partitions
from ensemblage.generation import make_pool
from ensemblage.metrics._agreement import agreement_with
from ensemblage.ranking import InternalIndex
from ensemblage.ranking._constraints import Constraints
from ensemblage.reproduce._experiment import Case, Experiment, FigureOf, Numbers, Paper, Run, TableOf
from ensemblage.reproduce._figures import Panel, lines
from ensemblage.reproduce._methods import make_generator, make_ranker
from ensemblage.reproduce._published import number, published
from ensemblage.reproduce._results import Estimate, Results, estimate
from ensemblage.reproduce._store import Made
from ensemblage.reproduce._tables import Cell

FIXED, FREE, CONSTRAINED = "ohl/fixed k", "ohl/free k", "ohl/constraints"
TEN_STARTS = "ohl/fixed k, ten starts"
"""k-means as scikit-learn started it until version 1.4; the paper tells neither version nor number of starts."""
UNIFORM, HUBS, HUBS_OF_CODE, SCALING = "ohl/uniform", "ohl/hubs", "ohl/hubs of the code", "ohl/scaling"
ENSEMBLE_BASED = {
    "AARI": "aari",
    "ANMI": "anmi",
    "H": "discotec-hellinger",
    "KL": "discotec-kl",
    "TV": "discotec-tv",
    "Binary": "discotec-binary",
}
SHOWN = ("AARI", "ANMI", "KL", "Binary")
DISTANCE_BASED = {
    "BHI": "ball_hall",
    "BRI": "banfield_raftery",
    "CHI": "calinski_harabasz",
    "CI": "c_index",
    "DBI": "davies_bouldin",
    "DHI": "duda_hart",
    "DI": "dunn",
    "DRI": "det_ratio",
    "HI": "hartigan",
    "KDI": "ksq_det_w",
    "LDRI": "log_det_ratio",
    "LSRI": "log_ss_ratio",
    "McRao": "mcclain_rao",
    "PBM": "pbm",
    "SI": "silhouette",
    "WGSS": "wgss",
    "XBI": "xie_beni",
    "WG": "wemmert_gancarski",
}
INDICES = (*ENSEMBLE_BASED, *DISTANCE_BASED)
FOUR = "agglomerative of the code"
"""Where the released notebook ran on UCI sets with k fixed: a slip leaves the last metric of each linkage only."""
POOLS = {True: ("agglomerative", FOUR, "kmeans"), False: ("agglomerative", "dbscan", "kmeans", "all")}
SLIPPED = ("uci", "agglomerative")
N_DRAWS, N_SETS = 50, 9
KNOWN = tuple(range(5, 51, 5))


class Scored(NamedTuple):
    """Scores of the members by one index, greater is better, and their ARI with the classes."""

    scores: NDArray[np.float64]
    ari: NDArray[np.float64]

    def numbers(self) -> dict[str, float]:
        """Kendall's τ-b and Pearson's correlation of both, and the ARI of the first member with the best score."""
        known = np.isfinite(self.scores)
        scores, ari = self.scores[known], self.ari[known]
        best = float(ari[np.argmax(scores)]) if len(scores) else math.nan
        if len(scores) < 2 or np.ptp(scores) == 0 or np.ptp(ari) == 0:
            return {"ari": best}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pearson = float(pearsonr(scores, ari).statistic)
        return {"kendall": float(kendalltau(scores, ari).statistic), "pearson": pearson, "ari": best}


def features_of(dataset: Dataset) -> NDArray[np.float64]:
    """App. A and the released code: columns with missing values left out, then z-scores."""
    X = dataset.X[:, ~np.isnan(dataset.X).any(axis=0)]
    scaled: NDArray[np.float64] = StandardScaler().fit_transform(X)
    return scaled


def make_members(case: Case, dataset: Dataset | None, seed: int) -> Made:
    """Sec. 4.3: the pool of the case, noise of DBSCAN as one cluster, members with a single cluster dropped."""
    assert dataset is not None
    k = dataset.n_classes if case.settings["fixed"] else None
    pool = make_pool(features_of(dataset), "all", n_clusters=k, standardize=False, n_jobs=1, random_state=seed)
    return Made(np.asarray(pool.ensemble), {"names": pool.ensemble.names, "dropped": len(pool.dropped)})


def make_ten_starts(case: Case, dataset: Dataset | None, seed: int) -> Made:
    """Fifty k-means of the true k, each the best of ten starts."""
    assert dataset is not None
    k, base = dataset.n_classes, KMeans(n_init=10)
    generator = make_generator("RandomKPartitions", 50, seed=seed, k_min=k, k_max=k, estimator=base)
    labels = generator.fit_transform(features_of(dataset))
    return Made(labels, {"names": [f"kmeans_k{k}_{run}" for run in range(50)], "dropped": 0})


def pool_of(name: str) -> str:
    """Which pool a member belongs to, by its name."""
    first = name.split("_")[0]
    return first if first in ("kmeans", "dbscan") else "agglomerative"


def measure_pools(run: Run, index: str) -> Numbers:
    """Sec. 4.1: correlation of an index with the ARI, and the ARI of the member it selects, in each pool."""
    ari = agreement_with(run.ensemble, run.classes, "ari")
    pools = np.array([pool_of(name) for name in run.facts["names"]])
    is_four = np.array(["manhattan" in name or name.startswith("ward") for name in run.facts["names"]])
    over_all = _internal(run, index) if index in DISTANCE_BASED else None
    numbers = {}
    for pool in POOLS[run.case.settings["fixed"]]:
        members = np.flatnonzero(is_four if pool == FOUR else (pools == pool) | (pool == "all"))
        if not len(members):
            continue
        scores = over_all[members] if over_all is not None else ranked(run.ensemble.select(members), index)
        numbers[pool] = Scored(scores, ari[members]).numbers()
    return numbers


def _internal(run: Run, index: str) -> NDArray[np.float64]:
    ranker = InternalIndex(DISTANCE_BASED[index], variant="ohl", n_jobs=1)
    return _oriented(ranker, run.ensemble, features_of(run.data))


def ranked(ensemble: Ensemble, index: str) -> NDArray[np.float64]:
    """Scores by an index that needs no features, greater is better."""
    return _oriented(make_ranker(ENSEMBLE_BASED.get(index, index)), ensemble, None)


def _oriented(ranker: Any, ensemble: Ensemble, features: Any) -> NDArray[np.float64]:
    with warnings.catch_warnings():
        # Members without a score are left out, as the paper does.
        warnings.simplefilter("ignore", UserWarning)
        ranker.fit(ensemble) if features is None else ranker.fit(ensemble, features=features)
    scores = np.asarray(ranker.scores_, dtype=np.float64)
    return scores if ranker.greater_is_better else -scores


def measure_constraints(run: Run, index: str) -> Numbers:
    """Sec. 4.4: Kendall's τ of score and violated constraints with the ARI, 50 draws of 5, 10, …, 50 known objects."""
    ari = agreement_with(run.ensemble, run.classes, "ari")
    scores = ranked(run.ensemble, index)
    source = np.random.default_rng(run.seed)
    numbers = {"0": Scored(scores, ari).numbers().get("kendall", math.nan)}
    for n_known in KNOWN:
        draws = [source.choice(len(run.classes), n_known, replace=False) for _ in range(N_DRAWS)]
        taus = [Scored(scores - _violations(run, known), ari).numbers().get("kendall", math.nan) for known in draws]
        numbers[str(n_known)] = float(np.nanmean(taus))
    return numbers


def _violations(run: Run, known: NDArray[np.int64]) -> NDArray[np.float64]:
    labels = np.full(len(run.classes), -1)
    labels[known] = run.classes[known]
    return Constraints.of(len(labels), known_labels=labels).violations(run.ensemble)


def make_uniform(case: Case, dataset: Dataset | None, seed: int) -> Made:
    """Sec. 4.2, first scenario: n = 200, K = 10, T members, conservation uniform in [0.1, ρ_max]."""
    T, rho = case.settings["T"], case.settings["rho"]
    labels, truth = make_partitions(200, 10, T, rho, random_state=seed)
    return Made(labels, {"truth": truth})


def make_hubs(case: Case, dataset: Dataset | None, seed: int, draw: str = "paper") -> Made:
    """Sec. 4.2, second scenario: 50 members around a bad hub (a share α) and a good one."""
    labels, truth = make_hub_partitions(case.settings["alpha"], draw=draw, random_state=seed)
    return Made(labels, {"truth": truth})


def measure_synthetic(run: Run, index: str) -> Numbers:
    """Correlations of an index with the ARI of synthetic members."""
    ari = agreement_with(run.ensemble, np.asarray(run.facts["truth"]), "ari")
    return Scored(ranked(run.ensemble, index), ari).numbers()


Statistic = Literal["kendall", "pearson", "ari"]


def table(file: str, statistic: Statistic, regret: bool, fixed: bool, results: Results) -> list[Cell]:
    """Mean and standard deviation over the data sets of a suite; columns are suite and pool, rows indices."""
    experiment = FIXED if fixed else FREE
    rows = published(file)
    places = list(dict.fromkeys((row["suite"], row["pool"]) for row in rows))
    as_run = {place: FOUR if fixed and place == SLIPPED else place[1] for place in places}
    found = {place: per_index(results, experiment, place[0], as_run[place], statistic, regret) for place in places}
    cells = [_table_cell(row, found[row["suite"], row["pool"]], experiment, results) for row in rows]
    if fixed:
        seven = per_index(results, experiment, *SLIPPED, statistic, regret)
        slipped = [
            _table_cell(row, seven, experiment, results) for row in rows if (row["suite"], row["pool"]) == SLIPPED
        ]
        cells += [replace(cell, column=f"{cell.column}, all seven", is_alternative=True) for cell in slipped]
        ten = {suite: per_index(results, TEN_STARTS, suite, "kmeans", statistic, regret) for suite in ("fcps", "uci")}
        started = [_table_cell(row, ten[row["suite"]], TEN_STARTS, results) for row in rows if row["pool"] == "kmeans"]
        cells += [replace(cell, column=f"{cell.column}, ten starts", is_alternative=True) for cell in started]
    for method in results.extra(experiment):
        cells += [Cell(method, " ".join(place), estimate(_means(found[place].get(method)))) for place in places]
    return cells


def _table_cell(
    row: Mapping[str, str], found: Mapping[str, Sequence[Estimate]], experiment: str, results: Results
) -> Cell:
    over_sets = found.get(row["index"])
    ours = estimate(_means(over_sets))
    cases = results.cases(experiment)
    why_not = "" if ours else results.why_not(experiment, cases[0].name, row["index"]) if cases else "not run"
    return Cell(
        row["index"],
        f"{row['suite']} {row['pool']}",
        ours,
        number(row["mean"]),
        number(row["std"]),
        published_n=N_SETS,
        why_not=why_not,
        is_subset=True,
        run_variance=_run_variance(over_sets),
    )


def _means(over_sets: Sequence[Estimate] | None) -> list[float]:
    return [found.mean for found in over_sets or ()]


def _run_variance(over_sets: Sequence[Estimate] | None) -> float:
    """Of the difference of our mean over runs and sets, and that of one run on each of nine sets."""
    repeated = [found for found in over_sets or () if found.n > 1]
    if not repeated:
        return 0.0
    m = len(repeated)
    return sum(e.sd**2 / e.n for e in repeated) / m**2 + sum(e.sd**2 for e in repeated) / (m * N_SETS)


def per_index(
    results: Results, experiment: str, suite: str, pool: str, statistic: str, regret: bool
) -> dict[str, list[Estimate]]:
    """Of every index the estimates over runs on the data sets of a suite."""
    found: dict[str, list[Estimate]] = {}
    for case in results.cases(experiment):
        if case.settings["suite"] != suite:
            continue
        means = {
            index: value
            for index in (*INDICES, *results.extra(experiment))
            if (value := results.estimate(experiment, case.name, index, pool, statistic)) is not None
        }
        best = max((value.mean for value in means.values()), default=math.nan)
        for index, value in means.items():
            found.setdefault(index, []).append(value._replace(mean=best - value.mean) if regret else value)
    return found


def correlation_figure(experiment: str, setting: str, groups: Mapping[str, Callable[[Case], bool]], axis: str) -> Any:
    """One panel per group: the mean correlation of each index over one setting."""

    def panels(results: Results, statistic: str = "kendall") -> list[Panel]:
        shown = []
        for title, belongs in groups.items():
            cases = [case for case in results.cases(experiment) if belongs(case)]
            curves = {index: _curve(results, experiment, cases, index, setting, statistic) for index in SHOWN}
            curves = {index: points for index, points in curves.items() if points}
            if curves:
                label = "Kendall's τ" if statistic == "kendall" else "Pearson's correlation"
                shown.append(lines(title, curves, (axis, label), "Mean over runs; the band is one standard deviation."))
        return shown

    return panels


def _curve(
    results: Results, experiment: str, cases: Sequence[Case], index: str, setting: str, statistic: str
) -> dict[float, Estimate]:
    found = {case.settings[setting]: results.estimate(experiment, case.name, index, statistic) for case in cases}
    return {at: value for at, value in found.items() if value is not None}


def constraint_panels(results: Results) -> list[Panel]:
    """Fig. 3: one panel per data set of the UCI suite with more than 100 objects."""
    shown = []
    for case in results.cases(CONSTRAINED):
        curves = {
            index: {
                float(n): value
                for n in (0, *KNOWN)
                if (value := results.estimate(CONSTRAINED, case.name, index, str(n))) is not None
            }
            for index in SHOWN
        }
        if any(curves.values()):
            shown.append(lines(case.name, curves, ("objects of known class", "Kendall's τ"), "Mean over 50 draws."))
    return shown


def _sets(fixed: bool) -> tuple[Case, ...]:
    return tuple(
        Case(row["dataset"], row["dataset"], {"suite": row["suite"], "fixed": fixed})
        for row in published("ohl_table6_datasets")
    )


def _constrained_sets() -> tuple[Case, ...]:
    """n/2 > 50, as in the released code."""
    large = {row["dataset"] for row in published("ohl_table6_datasets") if int(row["n"]) > 100}
    return tuple(case for case in _sets(fixed=False) if case.settings["suite"] == "uci" and case.name in large)


RHOS = tuple(round(0.1 * i, 1) for i in range(2, 11))
SIZES = (5, 10, 20, 35, 50, 75, 100, 150, 200)
ALPHAS = tuple(round(0.1 * i, 1) for i in range(11))
UNIFORM_CASES = tuple(Case(f"T={T} rho={rho}", None, {"T": T, "rho": rho}) for T in (5, 25, 50) for rho in RHOS)
SCALING_CASES = tuple(Case(f"T={T} rho={rho}", None, {"T": T, "rho": rho}) for rho in (0.2, 0.5, 0.9) for T in SIZES)
HUB_CASES = tuple(Case(f"alpha={alpha}", None, {"alpha": alpha}) for alpha in ALPHAS)
QUICK_SETS = ("Atom", "Hepta", "Tetra", "TwoDiamonds", "Glass", "Ionosphere", "Iris", "Lung", "Wine")


def _group(setting: str, value: float) -> Callable[[Case], bool]:
    return lambda case: bool(case.settings[setting] == value)


def _table(n: str, title: str, file: str, statistic: Statistic, regret: bool, fixed: bool) -> TableOf:
    cells = partial(table, file, statistic, regret, fixed)
    return TableOf(n, title, {FIXED: (), TEN_STARTS: ()} if fixed else {FREE: ()}, cells)


def _tables() -> tuple[TableOf, ...]:
    fixed, free = "k = number of classes", "k free"
    return (
        _table("2", f"Kendall's τ, {fixed}, short", "ohl_table2_kendall_fixedk", "kendall", False, True),
        _table("3", f"Regret on the ARI, {fixed}, short", "ohl_table3_regret_ari_fixedk", "ari", True, True),
        _table("4", f"Kendall's τ, {free}, short", "ohl_table4_kendall_freek", "kendall", False, False),
        _table("5", f"Regret on the ARI, {free}, short", "ohl_table5_regret_ari_freek", "ari", True, False),
        _table("8", f"Kendall's τ, {fixed}", "ohl_table8_kendall_fixedk", "kendall", False, True),
        _table("9", f"Regret on Kendall's τ, {fixed}", "ohl_table9_regret_kendall_fixedk", "kendall", True, True),
        _table("10", f"Kendall's τ, {free}", "ohl_table10_kendall_freek", "kendall", False, False),
        _table("11", f"Regret on Kendall's τ, {free}", "ohl_table11_regret_kendall_freek", "kendall", True, False),
        _table("12", f"Pearson's correlation, {fixed}", "ohl_table12_pearson_fixedk", "pearson", False, True),
        _table("13", f"Regret on Pearson's, {fixed}", "ohl_table13_regret_pearson_fixedk", "pearson", True, True),
        _table("14", f"Pearson's correlation, {free}", "ohl_table14_pearson_freek", "pearson", False, False),
        _table("15", f"Regret on Pearson's, {free}", "ohl_table15_regret_pearson_freek", "pearson", True, False),
        _table("16", f"Regret on the ARI, {free}", "ohl_table16_regret_ari_freek", "ari", True, False),
        _table("17", f"Regret on the ARI, {fixed}", "ohl_table17_regret_ari_fixedk", "ari", True, True),
    )


_uniform = correlation_figure(UNIFORM, "rho", {f"{T} members": _group("T", T) for T in (5, 25, 50)}, "ρ_max")
_hubs = correlation_figure(HUBS, "alpha", {"conservation in [0.2, 0.9]": lambda case: True}, "α")
_hubs_of_code = correlation_figure(HUBS_OF_CODE, "alpha", {"conservation in [0, 1]": lambda case: True}, "α")
_scaling = correlation_figure(SCALING, "T", {f"ρ_max = {r}": _group("rho", r) for r in (0.2, 0.5, 0.9)}, "members")
_scaling_pearson = partial(_scaling, statistic="pearson")


def _synthetic(name: str, cases: tuple[Case, ...], make: Any) -> Experiment:
    return Experiment(name, cases, SHOWN, 50, make, measure_synthetic, quick_runs=5, takes="ranker")


PAPER = Paper(
    name="ohl",
    title="Ohl & Lindsten 2025, Discriminative ordering through ensemble consensus",
    protocol=(
        "Features are brought to mean 0 and deviation 1; Lung's two columns with missing values are left out.",
        "DBSCAN's noise is one cluster. Members with a single cluster are dropped. NMI is arithmetic, as in the code.",
        "With k fixed, UCI has the four agglomerative members that the released code kept of the seven in the text.",
        "k-means is started once, as scikit-learn does by default; columns marked ten starts have its former default.",
        "A correlation is that of the scores of a pool's members with their ARI (Kendall's τ-b, Pearson's).",
        "Scores to be minimised are negated. Regret is the best index's value minus this one's, on a set and a pool.",
        "Internal indices are those that the authors ran (permetrics 2.0.0, their notebook), not always as published.",
        "A mean is over the data sets at hand, the published one over nine per suite: noise is their spread.",
    ),
    experiments=(
        Experiment(
            FIXED,
            _sets(fixed=True),
            INDICES,
            3,
            make_members,
            measure_pools,
            keeps_gaps=True,
            quick_cases=QUICK_SETS,
            quick_runs=2,
            noise_is_cluster=True,
            takes="ranker",
        ),
        Experiment(
            TEN_STARTS,
            _sets(fixed=True),
            INDICES,
            2,
            make_ten_starts,
            measure_pools,
            keeps_gaps=True,
            quick_cases=QUICK_SETS,
            quick_runs=1,
            noise_is_cluster=True,
        ),
        Experiment(
            FREE,
            _sets(fixed=False),
            INDICES,
            3,
            make_members,
            measure_pools,
            keeps_gaps=True,
            quick_cases=QUICK_SETS,
            quick_runs=2,
            noise_is_cluster=True,
            takes="ranker",
        ),
        _synthetic(UNIFORM, UNIFORM_CASES, make_uniform),
        _synthetic(HUBS, HUB_CASES, make_hubs),
        _synthetic(HUBS_OF_CODE, HUB_CASES, partial(make_hubs, draw="code")),
        _synthetic(SCALING, SCALING_CASES, make_uniform),
        Experiment(
            CONSTRAINED,
            _constrained_sets(),
            SHOWN,
            1,
            make_members,
            measure_constraints,
            keeps_gaps=True,
            quick_cases=("Iris", "Wine"),
            quick_runs=1,
            ensembles=FREE,
            noise_is_cluster=True,
            takes="ranker",
        ),
    ),
    tables=_tables(),
    figures=(
        FigureOf("1", "Kendall's τ over the largest conservation", {UNIFORM: ()}, _uniform),
        FigureOf(
            "2",
            "Kendall's τ over the share of members at a bad hub",
            {HUBS: (), HUBS_OF_CODE: ()},
            lambda results: [*_hubs(results), *_hubs_of_code(results)],
            note="The paper's text draws the conservation from [0.2, 0.9], its released code from [0, 1].",
        ),
        FigureOf("3", "Kendall's τ with constraints", {CONSTRAINED: ()}, constraint_panels),
        FigureOf(
            "4",
            "Pearson's correlation over the number of members",
            {SCALING: ()},
            partial(_scaling, statistic="pearson"),
        ),
        FigureOf("5", "Kendall's τ over the number of members", {SCALING: ()}, _scaling),
    ),
)
