"""Ayad & Kamel 2010, "On voting-based consensus of cluster ensembles": Table 1 and Figs. 1 to 7 (Sec. 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import entropy
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ensemblage._ensemble import Ensemble
from ensemblage.datasets import Dataset, make_2d2k, make_8d5k, make_two_gauss
from ensemblage.metrics import ensemble_nmi
from ensemblage.plotting._axes import label_ticks, new_axes, without_frame
from ensemblage.plotting._colors import PALETTE
from ensemblage.reproduce._claims import Verdict, holds, untested
from ensemblage.reproduce._experiment import Case, Experiment, FigureOf, Numbers, Paper, Run, TableOf
from ensemblage.reproduce._figures import Panel, boxes, lines
from ensemblage.reproduce._methods import fit_consensus, make_generator
from ensemblage.reproduce._published import number, published
from ensemblage.reproduce._results import Results
from ensemblage.reproduce._store import Made
from ensemblage.reproduce._tables import Cell

RUNS, SIZE = 25, 25
BASE, ESTIMATED, GIVEN = "ayad/k-means", "ayad/k estimated", "ayad/k given"
SIZES, SIZES_ESTIMATED = "ayad/sizes, k given", "ayad/sizes, k estimated"
VOTING = {"ACV": "acv", "BV": "bv"}
METHODS = {
    "ACV-k": "acv",
    "BV-k": "bv",
    "EAC-S": "eac-single",
    "EAC-A": "eac-average",
    "CSPA": "cspa",
    "HGPA": "hgpa",
    "MCLA": "mcla",
    "QMI": "qmi",
}
QUADRATIC = ("EAC-S", "EAC-A")
N_SIZES = (5, 10, 15, 25, 50)
PROPERTIES, REGRESSION, ROW_SUMS, MEANS, ORDER = "ayad/properties", "regression", "row sums", "means", "order"


GENERATED = {"2D2K": make_2d2k, "8D5K": make_8d5k, "Two Gauss": make_two_gauss}


def case(figure: str, dataset: str, k_min: int, k_max: int, size: int = SIZE) -> Case:
    """A setting of a figure."""
    settings = {"figure": figure, "k_min": k_min, "k_max": k_max, "size": size, "name": dataset}
    to_load = None if dataset in GENERATED else dataset
    return Case(f"{dataset}, k_i {k_min}-{k_max}, b {size}", to_load, settings)


def data_of(case: Case, dataset: Dataset | None, seed: int) -> Dataset:
    """The data set of a case; those that the authors generated are drawn anew for every run."""
    if dataset is not None:
        return dataset
    X, y = GENERATED[case.settings["name"]](random_state=seed)
    return Dataset(case.settings["name"], X, y, "generated")


LANDSAT, ECOLI = "Landsat (Statlog)", "E.coli proteins"
CASES = {
    "1": case("1", "2D2K", 6, 20),
    "2": case("2", "8D5K", 10, 30),
    "3": case("3", "Two Gauss", 8, 16),
    "4": case("4", "Yahoo!", 12, 24),
    "5": case("5", "Yahoo!", 24, 24),
    # The text has no ranges for Figs. 6 and 7: twice to four times k, as in the others.
    "6": case("6", LANDSAT, 12, 24),
    "7": case("7", ECOLI, 16, 32),
}
SIZE_CASES = tuple(
    case(f, d, a, b, n) for f, d, a, b in (("6", LANDSAT, 12, 24), ("7", ECOLI, 16, 32)) for n in N_SIZES
)


def make(case: Case, dataset: Dataset | None, seed: int) -> Made:
    """Sec. 4.3: k-means with k_i uniform in a range above k; spherical for text. No standardisation is mentioned."""
    data = data_of(case, dataset, seed)
    k_min, k_max, size = (case.settings[name] for name in ("k_min", "k_max", "size"))
    metric = "cosine" if data.name == "yahoo" else "euclidean"
    generator = make_generator("RandomKPartitions", size, seed=seed, k_min=k_min, k_max=k_max, metric=metric)
    return Made(generator.fit_transform(data.X), _truth(data))


def _truth(data: Dataset) -> Numbers:
    return {} if data.y is None or data.source != "generated" else {"truth": data.y}


def measure(run: Run, method: str, *, estimated: bool = False) -> Numbers:
    """Sec. 4.4: ARI with the classes, and mean geometric NMI with the members."""
    large = len(run.ensemble) > 2_000
    if large and method in QUADRATIC:
        return {}
    k = None if estimated else len(np.unique(run.classes))
    name = {**VOTING, **METHODS}.get(method, method)
    labels = fit_consensus(name, run.ensemble, k, run.seed).labels_
    return {
        "ari": adjusted_rand_score(run.classes, labels),
        "anmi": ensemble_nmi(run.ensemble, labels, average_method="geometric"),
        "k": len(np.unique(labels)),
    }


def _base_case(name: str) -> Case:
    return Case(name, None if name in GENERATED else name, {"name": name})


def make_base(case: Case, dataset: Dataset | None, seed: int) -> Made:
    """Table 1: one k-means with the true number of clusters."""
    data = data_of(case, dataset, seed)
    metric = "cosine" if data.name == "yahoo" else "euclidean"
    k = data.n_classes
    # Random objects as first centres: k-means++ gives clearly more on Landsat and E. coli than is printed.
    base = KMeans(n_init=1, init="random") if metric == "euclidean" else None
    generator = make_generator("RandomKPartitions", 1, seed=seed, k_min=k, k_max=k, metric=metric, estimator=base)
    return Made(generator.fit_transform(data.X), _truth(data))


def measure_base(run: Run, method: str) -> Numbers:
    """ARI of k-means with the classes."""
    return {"ari": adjusted_rand_score(run.classes, np.asarray(run.ensemble)[:, 0])}


def measure_property(run: Run, name: str) -> Numbers:
    """Sec. 2.3 and 3: whether a property of Ada-cVote holds on an ensemble, to 1e-9."""
    labels = np.asarray(run.ensemble)
    voting = fit_consensus("acv", run.ensemble, 2, run.seed)
    if name == ORDER:
        turned = fit_consensus("acv", Ensemble(labels[:, ::-1]), 2, run.seed)
        return {"error": float(np.max(voting.labels_ != turned.labels_))}
    if name == ROW_SUMS:
        return {"error": float(np.abs(voting.membership_.sum(axis=1) - 1).max())}
    if name == MEANS:
        entropies = [entropy(np.bincount(z)) for z in labels.T]
        reference = np.bincount(labels[:, int(np.argmax(entropies))]) / len(labels)
        return {"error": float(np.abs(np.sort(voting.aggregate_.mean(axis=0)) - np.sort(reference)).max())}
    U0, U = (np.equal.outer(z, np.unique(z)).astype(float) for z in labels.T[:2])
    by_regression = (U0 + U @ np.linalg.lstsq(U, U0, rcond=None)[0]) / 2
    given = fit_consensus("acv", Ensemble(labels[:, :2]), 2, run.seed, order="given").aggregate_
    return {"error": float(np.abs(np.sort(given, axis=1) - np.sort(by_regression, axis=1)).max())}


def _property(results: Results, name: str) -> Verdict:
    found = results.estimate(PROPERTIES, CASES["1"].name, name, "error")
    return untested("not run") if found is None else holds(found.mean < 1e-9, f"largest error {found.mean:.1g}")


def table1(results: Results) -> list[Cell]:
    """The ARI of k-means."""
    cells = []
    for row in published("ayad_table1_datasets"):
        ours = results.estimate(BASE, row["dataset"], "k-means", "ari")
        why_not = "" if ours else results.why_not(BASE, row["dataset"], "k-means")
        sd = number(row["kmeans_ari_std"]) or None
        mean = number(row["kmeans_ari_mean"])
        cells.append(Cell(row["dataset"], "k-means ARI", ours, mean, sd, published_n=RUNS, why_not=why_not))
    return cells


def estimated_panels(figure: str, results: Results) -> list[Panel]:
    """ARI and ANMI as boxes, the estimated k as a Pareto chart."""
    name = CASES[figure].name
    panels = _boxes(results, ESTIMATED, name, tuple(VOTING))
    for method in VOTING:
        ks = [int(k) for k in results.values(ESTIMATED, name, method, "k")]
        if ks:
            panels.append(pareto(f"k found by {method}", ks))
    return panels


def _boxes(results: Results, experiment: str, name: str, methods: Sequence[str]) -> list[Panel]:
    panels = []
    for measure_, title in (("ari", "ARI with the classes"), ("anmi", "ANMI with the members")):
        found = {m: values for m in methods if (values := results.values(experiment, name, m, measure_))}
        if found:
            panels.append(boxes(title, found, measure_.upper(), f"{name}; {len(next(iter(found.values())))} runs."))
    return panels


def pareto(title: str, ks: Sequence[int]) -> Panel:
    """How often each k was found, most frequent first, with the cumulative share (the first 95 %)."""
    ax = new_axes(4.8, 3.6)
    rows, total = [], 0
    for k, count in sorted(Counter(ks).items(), key=lambda item: (-item[1], item[0])):
        if total >= 0.95 * len(ks):
            break
        total += count
        rows.append({"k": k, "runs": count, "cumulative": total / len(ks)})
    places = range(len(rows))
    ax.bar(places, [row["runs"] for row in rows], color=PALETTE[0])
    label_ticks(ax, "x", places, [row["k"] for row in rows])
    ax.plot(places, [len(ks) * row["cumulative"] for row in rows], "o-", color=PALETTE[1], markersize=4)
    ax.set(xlabel="estimated k", ylabel="runs (line: cumulative)", ylim=(0, 1.05 * len(ks)))
    without_frame(ax)
    return Panel(title, ax, rows)


def given_panels(figure: str, results: Results) -> list[Panel]:
    """Boxes of all methods; Figs. 6 and 7 also ACV and BV over the size of the ensemble."""
    panels = _boxes(results, GIVEN, CASES[figure].name, (*METHODS, *results.extra(GIVEN)))
    sizes = [case for case in SIZE_CASES if case.settings["figure"] == figure]
    for measure_ in ("ari", "anmi") if sizes else ():
        curves: dict[str, Any] = {}
        for experiment, suffix in ((SIZES, "-k"), (SIZES_ESTIMATED, "")):
            for method in VOTING:
                found = {
                    c.settings["size"]: results.estimate(experiment, c.name, method + suffix, measure_) for c in sizes
                }
                curves[method + suffix] = {size: value for size, value in found.items() if value is not None}
        if any(curves.values()):
            panels.append(lines(f"{measure_.upper()} over b", curves, ("members b", measure_.upper()), "Band: one sd."))
    return panels


def claims(results: Results) -> Mapping[int, Verdict]:
    """Verdicts by row of ayad_claims.csv; properties that only the tests of the voting family look at are named."""
    verdicts = {i: untested("a property of the method, held by the tests of the voting family") for i in range(18, 29)}
    verdicts |= {i: untested("a setting of the protocol, taken over") for i in (28, 29, 30)}
    verdicts |= {
        i: _property(results, name) for i, name in ((18, REGRESSION), (20, ROW_SUMS), (22, MEANS), (24, ORDER))
    }
    verdicts[0], verdicts[1], verdicts[2], verdicts[3] = _estimated_claims(results, "1", 2)
    verdicts[4], verdicts[5], verdicts[6], _ = _estimated_claims(results, "2", 5)
    for row, figure in ((7, "3"), (9, "4"), (11, "5"), (13, "6")):
        verdicts[row] = _first(results, figure)
    for row, figure in ((8, "3"), (10, "4"), (12, "5")):
        verdicts[row] = _orders_differ(results, figure)
    verdicts[14], verdicts[17] = _above_at_each_size(results, "6"), _above_at_each_size(results, "7")
    verdicts[15], verdicts[16] = _ecoli(results)
    return verdicts


def _estimated_claims(results: Results, figure: str, k: int) -> list[Verdict]:
    name = CASES[figure].name
    acv, bv = (results.values(ESTIMATED, name, method, "k") for method in VOTING)
    if not acv or not bv:
        return [untested("not run")] * 4
    share = np.mean([found == k for found in acv])
    ari = {method: results.estimate(ESTIMATED, name, method, "ari") for method in VOTING}
    anmi = {method: results.estimate(ESTIMATED, name, method, "anmi") for method in VOTING}
    if not (ari["ACV"] and ari["BV"] and anmi["ACV"] and anmi["BV"]):
        return [untested("not run")] * 4
    high = ari["ACV"].mean >= (0.88 if figure == "1" else 0.98)
    bv_told = f"BV: ARI {ari['BV'].mean:.2f}, sd {ari['BV'].sd:.2f}, median k {np.median(bv):g}"
    return [
        holds(share == 1, f"{100 * share:.0f} % of {len(acv)} runs"),
        holds(high, f"mean ARI {ari['ACV'].mean:.3f}"),
        holds(ari["BV"].mean < ari["ACV"].mean - 0.1 and bool(np.median(bv) > k), bv_told),
        holds(
            anmi["BV"].mean > ari["BV"].mean and ari["BV"].mean < 0.5,
            f"BV: ANMI {anmi['BV'].mean:.2f}, ARI {ari['BV'].mean:.2f}; ACV: ANMI {anmi['ACV'].mean:.2f}",
        ),
    ]


def _means(results: Results, figure: str, measure_: str) -> dict[str, float]:
    found = {m: results.estimate(GIVEN, CASES[figure].name, m, measure_) for m in METHODS}
    return {method: value.mean for method, value in found.items() if value is not None}


def _first(results: Results, figure: str) -> Verdict:
    means = _means(results, figure, "ari")
    if "ACV-k" not in means or len(means) < 2:
        return untested("not run")
    others = {method: mean for method, mean in means.items() if method != "ACV-k"}
    return holds(means["ACV-k"] > max(others.values()), _told(means))


def _told(means: Mapping[str, float]) -> str:
    return ", ".join(f"{m} {v:.2f}" for m, v in sorted(means.items(), key=lambda item: -item[1]))


def _orders_differ(results: Results, figure: str) -> Verdict:
    ari, anmi = _means(results, figure, "ari"), _means(results, figure, "anmi")
    if len(ari) < 2:
        return untested("not run")
    orders = [sorted(means, key=lambda m: -means[m]) for means in (ari, anmi)]
    return holds(orders[0] != orders[1], f"by ARI {', '.join(orders[0])}; by ANMI {', '.join(orders[1])}")


def _above_at_each_size(results: Results, figure: str) -> Verdict:
    lower = []
    for experiment, suffix in ((SIZES, "-k"), (SIZES_ESTIMATED, "")):
        for case_ in SIZE_CASES:
            if case_.settings["figure"] != figure:
                continue
            acv, bv = (results.estimate(experiment, case_.name, m + suffix, "ari") for m in VOTING)
            if acv is None or bv is None:
                return untested("not run")
            if acv.mean <= bv.mean:
                lower.append(f"ACV{suffix} {acv.mean:.2f} ≤ BV{suffix} {bv.mean:.2f} at b = {case_.settings['size']}")
    return holds(not lower, "; ".join(lower) or f"ACV above BV at b = {', '.join(map(str, N_SIZES))}, k given or not")


def _ecoli(results: Results) -> tuple[Verdict, Verdict]:
    means = _means(results, "7", "ari")
    named = [m for m in ("CSPA", "HGPA", "MCLA", "QMI") if m in means]
    if "ACV-k" not in means or not named:
        return untested("not run"), untested("not run")
    rest = [m for m in ("BV-k", "EAC-S", "EAC-A") if m in means]
    better = [m for m in rest if means[m] > max(means[n] for n in named)]
    near = all(abs(means[m] - means["ACV-k"]) < 0.1 for m in better)
    return holds(all(means["ACV-k"] > means[m] for m in named), _told(means)), holds(near, _told(means))


def _experiment(name: str, cases: tuple[Case, ...], methods: tuple[str, ...], estimated: bool) -> Experiment:
    # Quick: the small sets, and Landsat and Yahoo! once.
    quick = tuple(c.name for c in cases)
    measure_ = partial(measure, estimated=estimated)
    takes = "" if estimated else "consensus"
    ensembles = "ayad"
    return Experiment(name, cases, methods, RUNS, make, measure_, quick, quick_runs=3, ensembles=ensembles, takes=takes)


PAPER = Paper(
    name="ayad",
    title="Ayad & Kamel 2010, On voting-based consensus of cluster ensembles",
    protocol=(
        "Features as they are; Yahoo! by spherical k-means. Every k-means is started once.",
        "25 members, 25 runs. NMI is geometric. EAC is left out where n is above 2,000, as in the paper.",
        "2D2K, 8D5K and Two Gauss are drawn anew for every run: the authors' draws are not known.",
        "Figures 6 and 7: k_i ranges and sizes are not in the text; here 12-24, 16-32, and 5 to 50 members.",
        "The figures' pictures are not at hand; what the text says of them is judged below.",
    ),
    experiments=(
        Experiment(
            BASE,
            tuple(_base_case(row["dataset"]) for row in published("ayad_table1_datasets")),
            ("k-means",),
            RUNS,
            make_base,
            measure_base,
            quick_runs=5,
        ),
        Experiment(
            PROPERTIES,
            (CASES["1"],),
            (REGRESSION, ROW_SUMS, MEANS, ORDER),
            1,
            make,
            measure_property,
            ensembles="ayad",
        ),
        _experiment(ESTIMATED, (CASES["1"], CASES["2"]), tuple(VOTING), estimated=True),
        _experiment(GIVEN, tuple(CASES[f] for f in "34567"), tuple(METHODS), estimated=False),
        _experiment(SIZES, SIZE_CASES, ("ACV-k", "BV-k"), estimated=False),
        _experiment(SIZES_ESTIMATED, SIZE_CASES, tuple(VOTING), estimated=True),
    ),
    tables=(TableOf("1", "ARI of k-means with the true number of clusters", {BASE: ()}, table1),),
    figures=(
        FigureOf("1", "2D2K, k estimated", {ESTIMATED: ()}, partial(estimated_panels, "1")),
        FigureOf("2", "8D5K, k estimated", {ESTIMATED: ()}, partial(estimated_panels, "2")),
        FigureOf("3", "Two Gauss, k = 2", {GIVEN: ()}, partial(given_panels, "3")),
        FigureOf("4", "Yahoo!, k = 6, members of 12 to 24 clusters", {GIVEN: ()}, partial(given_panels, "4")),
        FigureOf("5", "Yahoo!, k = 6, members of 24 clusters", {GIVEN: ()}, partial(given_panels, "5")),
        FigureOf("6", "Landsat, k = 6", {GIVEN: (), SIZES: (), SIZES_ESTIMATED: ()}, partial(given_panels, "6")),
        FigureOf("7", "E. coli, k = 8", {GIVEN: (), SIZES: (), SIZES_ESTIMATED: ()}, partial(given_panels, "7")),
    ),
    claims=claims,
)
