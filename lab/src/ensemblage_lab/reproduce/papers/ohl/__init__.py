"""Ohl & Lindsten 2025, "Discriminative ordering through ensemble consensus": Sec. 4, App. B and D."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ensemblage_lab.reproduce.papers import (
    Case,
    Cell,
    Estimate,
    Panel,
    Paper,
    Results,
    estimate,
    lines,
    number,
    published,
)
from ensemblage_lab.reproduce.papers.ohl import protocol


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


NAMES = {"kendall": "Kendall's τ", "pearson": "Pearson's correlation"}


def panels(
    experiment: str,
    setting: str,
    groups: Mapping[str, Mapping[str, float]],
    axis: str,
    statistic: str,
    results: Results,
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
        *panels(protocol.HUBS, "alpha", {text: {}}, "α", "kendall", results),
        *panels(protocol.HUBS_OF_CODE, "alpha", {code: {}}, "α", "kendall", results),
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


PAPER = Paper(__name__, protocol.EXPERIMENTS)
