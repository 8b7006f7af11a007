"""Tables 2 to 17 of Ohl & Lindsten 2025: means over the data sets of a suite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from ensemblage.reproduce.papers import (
    Case,
    Cell,
    Estimate,
    FigureOf,
    Panel,
    Results,
    TableOf,
    estimate,
    lines,
    number,
    published,
)
from ensemblage.reproduce.papers.ohl import protocol


def table(file: str, statistic: str, regret: bool, fixed: bool, results: Results) -> list[Cell]:
    """Mean and standard deviation over the data sets of a suite; columns are suite and pool, rows indices."""
    experiment = protocol.FIXED if fixed else protocol.FREE
    rows = published(__package__, file)

    def found_in(experiment: str, suite: str, pool: str) -> dict[str, list[Estimate]]:
        return per_index(results, experiment, suite, pool, statistic, regret)

    def beside(source: str, told: str, found: Mapping[str, Mapping[str, Sequence[Estimate]]]) -> list[Cell]:
        """Another reading of a pool, by suite."""
        pool = protocol.SLIPPED[1] if source == experiment else "kmeans"
        chosen = [row for row in rows if row["pool"] == pool and row["suite"] in found]
        cells = [_cell(row, found[row["suite"]], source, results) for row in chosen]
        return [replace(cell, column=f"{cell.column}, {told}", is_alternative=True) for cell in cells]

    places = list(dict.fromkeys((row["suite"], row["pool"]) for row in rows))
    as_run = {place: protocol.FOUR if fixed and place == protocol.SLIPPED else place[1] for place in places}
    found = {place: found_in(experiment, place[0], as_run[place]) for place in places}
    cells = [_cell(row, found[row["suite"], row["pool"]], experiment, results) for row in rows]
    if fixed:
        cells += beside(experiment, "all seven", {protocol.SLIPPED[0]: found_in(experiment, *protocol.SLIPPED)})
        started = {suite: found_in(protocol.TEN_STARTS, suite, "kmeans") for suite in ("fcps", "uci")}
        cells += beside(protocol.TEN_STARTS, "ten starts", started)
    for method in results.extra(experiment):
        over_sets = {place: [value.mean for value in found[place].get(method, ())] for place in places}
        cells += [Cell(method, " ".join(place), estimate(means)) for place, means in over_sets.items()]
    return cells


def _cell(row: Mapping[str, str], found: Mapping[str, Sequence[Estimate]], experiment: str, results: Results) -> Cell:
    return results.cell_over_sets(
        *(row["index"], f"{row['suite']} {row['pool']}", (experiment, row["index"]), found.get(row["index"], ())),
        *(number(row["mean"]), protocol.N_SETS),
        published_runs=1,
        published_sd=number(row["std"]),
    )


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
            for index in (*protocol.INDICES, *results.extra(experiment))
            if (value := results.estimate(experiment, case.name, index, pool, statistic)) is not None
        }
        best = max((value.mean for value in means.values()), default=math.nan)
        for index, value in means.items():
            found.setdefault(index, []).append(value._replace(mean=best - value.mean) if regret else value)
    return found


TITLES = {
    "kendall": "Kendall's τ",
    "pearson": "Pearson's correlation",
    "ari": "ARI",
    "regret_kendall": "Regret on Kendall's τ",
    "regret_pearson": "Regret on Pearson's",
    "regret_ari": "Regret on the ARI",
}
K = {"fixedk": "k = number of classes", "freek": "k free"}
TABLES_PRINTED = (
    *("2_kendall_fixedk", "3_regret_ari_fixedk", "4_kendall_freek", "5_regret_ari_freek", "8_kendall_fixedk"),
    *("9_regret_kendall_fixedk", "10_kendall_freek", "11_regret_kendall_freek", "12_pearson_fixedk"),
    *("13_regret_pearson_fixedk", "14_pearson_freek", "15_regret_pearson_freek", "16_regret_ari_freek"),
    "17_regret_ari_fixedk",
)


def _table(file: str) -> TableOf:
    """The table of a published file."""
    n, what, k = file.split("_", 1)[0], file.split("_", 1)[1].rpartition("_")[0], file.rpartition("_")[2]
    title = f"{TITLES[what]}, {K[k]}{', short' if int(n) <= 5 else ''}"
    is_regret, fixed = what.startswith("regret_"), k == "fixedk"
    cells = partial(table, f"table{file}", what.removeprefix("regret_"), is_regret, fixed)
    return TableOf(n, title, {protocol.FIXED: (), protocol.TEN_STARTS: ()} if fixed else {protocol.FREE: ()}, cells)


TABLES = tuple(_table(file) for file in TABLES_PRINTED)


NAMES = {"kendall": "Kendall's τ", "pearson": "Pearson's correlation"}
SIZES = {f"{T} members": {"T": T} for T in (5, 25, 50)}
RHOS = {f"ρ_max = {rho}": {"rho": rho} for rho in (0.2, 0.5, 0.9)}


def panels(
    experiment: str,
    setting: str,
    groups: Mapping[str, Mapping[str, float]],
    axis: str,
    results: Results,
    statistic: str = "kendall",
) -> list[Panel]:
    """One panel per group, its title with the settings that its cases have: the mean of each index over one setting."""
    shown = []
    for title, fixed in groups.items():
        cases = [case for case in results.cases(experiment) if fixed.items() <= case.settings.items()]
        curves = {index: _curve(results, experiment, cases, index, setting, statistic) for index in protocol.SHOWN}
        curves = {index: points for index, points in curves.items() if points}
        if curves:
            labels = (axis, NAMES[statistic])
            shown.append(lines(title, curves, labels, "Mean over runs; the band is one standard deviation."))
    return shown


def _curve(
    results: Results, experiment: str, cases: Sequence[Case], index: str, setting: str, statistic: str
) -> dict[float, Estimate]:
    found = {case.settings[setting]: results.estimate(experiment, case.name, index, statistic) for case in cases}
    return {at: value for at, value in found.items() if value is not None}


def hub_panels(results: Results) -> list[Panel]:
    """Fig. 2, by the text and by the released code."""
    text, code = "conservation in [0.2, 0.9]", "conservation in [0, 1]"
    return [
        *panels(protocol.HUBS, "alpha", {text: {}}, "α", results),
        *panels(protocol.HUBS_OF_CODE, "alpha", {code: {}}, "α", results),
    ]


def constraint_panels(results: Results) -> list[Panel]:
    """Fig. 3: one panel per data set of the UCI suite with more than 100 objects."""
    shown = []
    for case in results.cases(protocol.CONSTRAINED):
        curves = {
            index: {
                float(n): value
                for n in (0, *protocol.KNOWN)
                if (value := results.estimate(protocol.CONSTRAINED, case.name, index, str(n))) is not None
            }
            for index in protocol.SHOWN
        }
        if any(curves.values()):
            shown.append(lines(case.name, curves, ("objects of known class", "Kendall's τ"), "Mean over 50 draws."))
    return shown


FIGURES = (
    FigureOf(
        *("1", "Kendall's τ over the largest conservation", {protocol.UNIFORM: ()}),
        partial(panels, protocol.UNIFORM, "rho", SIZES, "ρ_max"),
    ),
    FigureOf(
        *(
            "2",
            "Kendall's τ over the share of members at a bad hub",
            {protocol.HUBS: (), protocol.HUBS_OF_CODE: ()},
            hub_panels,
        ),
        note="The paper's text draws the conservation from [0.2, 0.9], its released code from [0, 1].",
    ),
    FigureOf("3", "Kendall's τ with constraints", {protocol.CONSTRAINED: ()}, constraint_panels),
    FigureOf(
        *("4", "Pearson's correlation over the number of members", {protocol.SCALING: ()}),
        partial(panels, protocol.SCALING, "T", RHOS, "members", statistic="pearson"),
    ),
    FigureOf(
        *("5", "Kendall's τ over the number of members", {protocol.SCALING: ()}),
        partial(panels, protocol.SCALING, "T", RHOS, "members"),
    ),
)
