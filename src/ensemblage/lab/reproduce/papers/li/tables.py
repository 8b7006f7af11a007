"""Tables and figures of Li & Liu 2018: means over data sets, and data set by data set."""

from dataclasses import replace

from ensemblage.lab.reproduce.papers import Cell, Panel, Results, bars, number, published
from ensemblage.lab.reproduce.papers.li import protocol


def _cell(results: Results, experiment: str, method: str, measure: str, row: str, value: float | None) -> Cell:
    found = [results.estimate(experiment, case.name, method, measure) for case in results.cases(experiment)]
    known = [estimate for estimate in found if estimate is not None]
    return results.cell_over_sets(row, measure, (experiment, method), known, value, protocol.N_SETS, unit=1e-4)


def table4(results: Results) -> list[Cell]:
    """Mean over the data sets of KCC, KCC++ and GKCC on the same partitions; beside it, that of z-scores."""
    rows = [
        (r["algorithm"], r["metric"], number(r["value"])) for r in published(__package__, "table4_mean_performance")
    ]
    cells = [_cell(results, protocol.GREEDY, method, measure, method, value) for method, measure, value in rows]
    for method, measure, value in rows:
        cell = _cell(results, protocol.STANDARDISED, method, measure, f"{method}, z-scores", value)
        cells.append(replace(cell, is_alternative=True))
    return cells + [
        _cell(results, protocol.GREEDY, m, s, m, None)
        for m in results.extra(protocol.GREEDY)
        for s in protocol.MEASURES
    ]


def table5(results: Results) -> list[Cell]:
    """Random numbers of clusters against greedy partitions; the consensus of the former is not named in the paper."""
    cells = []
    for row in published(__package__, "table5_basic_partition_strategy"):
        value, measure = number(row["value"]), row["metric"]
        if row["strategy"] == "RPS":
            cells.append(_cell(results, protocol.RPS, "KCC", measure, "RPS, KCC", value))
            cells.append(
                replace(_cell(results, protocol.RPS, "KCC++", measure, "RPS, KCC++", value), is_alternative=True)
            )
        else:
            cells.append(_cell(results, protocol.GREEDY, "GKCC", measure, "Greedy, GKCC", value))
    return cells


def by_set(results: Results, experiment: str, measure: str, methods: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Of each data set the mean of each method."""
    return {
        case.name: {
            method: found.mean
            for method in methods
            if (found := results.estimate(experiment, case.name, method, measure)) is not None
        }
        for case in results.cases(experiment)
    }


def objective_panels(results: Results) -> list[Panel]:
    """Fig. 3: how much larger the loss of KCC and KCC++ is than that of GKCC, over n²; and its deviation."""
    differences, deviations = {}, {}
    for case in results.cases(protocol.GREEDY):
        found = {m: results.estimate(protocol.GREEDY, case.name, m, "objective") for m in protocol.METHODS}
        size = results.values(protocol.GREEDY, case.name, "GKCC", "n")
        gkcc = found["GKCC"]
        if gkcc is not None and size:
            others = {m: value for m in ("KCC", "KCC++") if (value := found[m]) is not None}
            differences[case.name] = {m: (value.mean - gkcc.mean) / size[0] ** 2 for m, value in others.items()}
            deviations[case.name] = {m: value.sd / size[0] ** 2 for m, value in {**others, "GKCC": gkcc}.items()}
    if not differences:
        return []
    return [
        bars("Loss above that of GKCC, over n²", differences, "difference / n²", "Above 0: GKCC has the lower loss."),
        bars(
            "Standard deviation of the loss over runs, over n²", deviations, "sd / n²", "The same partitions each run."
        ),
    ]


def performance_panels(results: Results) -> list[Panel]:
    """Fig. 4: R_n and NMI of the three methods on every set."""
    found = {measure: by_set(results, protocol.GREEDY, measure, protocol.METHODS) for measure in protocol.MEASURES}
    return [bars(f"{measure} by data set", values, measure) for measure, values in found.items() if values]


def by_strategy(results: Results, measure: str) -> dict[str, dict[str, float]]:
    """Of each data set the mean of random partitions with KCC++ and of greedy ones with GKCC."""
    random, greedy = (
        by_set(results, protocol.RPS, measure, ("KCC++",)),
        by_set(results, protocol.GREEDY, measure, ("GKCC",)),
    )
    return {
        name: {"RPS": found["KCC++"], "greedy": greedy[name]["GKCC"]}
        for name, found in random.items()
        if found and greedy.get(name)
    }


def strategy_panels(results: Results) -> list[Panel]:
    """Fig. 5: both strategies on the first ten sets."""
    found = {measure: by_strategy(results, measure) for measure in protocol.MEASURES}
    return [
        bars(f"{measure} by strategy", dict(list(groups.items())[:10]), measure)
        for measure, groups in found.items()
        if groups
    ]
