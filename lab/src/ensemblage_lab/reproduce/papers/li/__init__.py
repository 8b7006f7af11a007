"""Li & Liu 2018, "Greedy optimization for K-means-based consensus clustering" (Sec. 5)."""

import math
from dataclasses import replace

import numpy as np

from ensemblage.generation import GreedyPartitions
from ensemblage_lab.reproduce.papers import (
    Cell,
    NotRunError,
    Panel,
    Paper,
    Results,
    Verdict,
    bars,
    holds,
    number,
    published,
)
from ensemblage_lab.reproduce.papers.li import protocol

# ---- Tables and figures ----


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


# ---- Claims of the text ----


def _require(results: Results, *experiments: str) -> None:
    if not all(results.cases(experiment) for experiment in experiments):
        raise NotRunError


def lowest_loss(results: Results) -> Verdict:
    """GKCC has the lowest loss on most sets."""
    _require(results, protocol.GREEDY)
    means = by_set(results, protocol.GREEDY, "objective", protocol.METHODS)
    lowest = [name for name, v in means.items() if len(v) == 3 and v["GKCC"] <= min(v["KCC"], v["KCC++"]) * (1 + 1e-9)]
    return holds(len(lowest) > len(means) / 2, f"GKCC lowest on {len(lowest)} of {len(means)} sets")


def _deviations(results: Results) -> dict[str, list[float]]:
    """Of the loss over runs, by method; those of GKCC must be known."""
    estimates = {
        m: [results.estimate(protocol.GREEDY, c.name, m, "objective") for c in results.cases(protocol.GREEDY)]
        for m in protocol.METHODS
    }
    found = {m: [e.sd for e in known if e is not None and not math.isnan(e.sd)] for m, known in estimates.items()}
    if not found["GKCC"]:
        raise NotRunError
    return found


def gkcc_is_constant(results: Results) -> Verdict:
    """Equal losses leave a deviation of rounding."""
    largest = max(_deviations(results)["GKCC"])
    return holds(largest < 1e-9, f"largest standard deviation {largest:.1g}")


def others_vary(results: Results) -> Verdict:
    """KCC and KCC++ differ from run to run."""
    varying = {m: sum(sd > 0 for sd in sds) for m, sds in _deviations(results).items() if m != "GKCC"}
    n_sets = len(results.cases(protocol.GREEDY))
    return holds(
        min(varying.values()) > 0, "above 0: " + ", ".join(f"{m} on {n} of {n_sets}" for m, n in varying.items())
    )


def n_partitions(results: Results) -> Verdict:
    """59 (K - 1) partitions, fewer where there are fewer objects."""
    _deviations(results)
    runs = [run for case in results.cases(protocol.GREEDY) for run in results.runs(protocol.GREEDY, case.name, "GKCC")]
    return holds(all(run["p"] == min(59, run["n"]) * (run["K"] - 1) for run in runs), "min(59, n) (K - 1) on every set")


def gkcc_is_first(results: Results) -> Verdict:
    """On four sets of five, by both measures."""
    _require(results, protocol.GREEDY)
    first = {}
    for measure in protocol.MEASURES:
        means = by_set(results, protocol.GREEDY, measure, protocol.METHODS)
        first[measure] = sum(len(v) == 3 and v["GKCC"] >= max(v.values()) - 1e-12 for v in means.values())
    total = len(results.cases(protocol.GREEDY))
    told = f"GKCC first on {first['R_n']} (R_n) and {first['NMI']} (NMI) of {total} sets"
    return holds(min(first.values()) >= 0.8 * total, told)


def gain(name: str, low: tuple[str, str], high: tuple[str, str], least: float, results: Results) -> Verdict:
    """The R_n of one (experiment, method) is above that of another by so much, absolute or relative."""
    a, b = (results.need(experiment, name, method, "R_n").mean for experiment, method in (low, high))
    relative = (b - a) / a if a > 0 else math.inf
    return holds(b - a > least or relative > least, f"{a:.3f} to {b:.3f}")


def _mean(results: Results, experiment: str, method: str, measure: str) -> float:
    """Over the data sets."""
    return float(np.mean([v[method] for v in by_set(results, experiment, measure, (method,)).values() if v]))


def order_of_means(results: Results) -> Verdict:
    """GKCC above KCC++ above KCC."""
    _require(results, protocol.GREEDY)
    means = {(m, s): _mean(results, protocol.GREEDY, m, s) for m in protocol.METHODS for s in protocol.MEASURES}
    order = all(means["GKCC", s] > means["KCC++", s] > means["KCC", s] for s in protocol.MEASURES)
    return holds(order, ", ".join(f"{m} {s} {v:.3f}" for (m, s), v in means.items()))


def neither_wins(results: Results) -> Verdict:
    """Each strategy is better on some set."""
    _require(results, protocol.GREEDY, protocol.RPS)
    pairs = [(found["greedy"], found["RPS"]) for found in by_strategy(results, "R_n").values()]
    greedy, random = sum(g > r for g, r in pairs), sum(r > g for g, r in pairs)
    return holds(min(greedy, random) > 0, f"greedy on {greedy}, RPS on {random} sets")


def greedy_is_better(results: Results) -> Verdict:
    """By the mean over sets of both measures."""
    _require(results, protocol.GREEDY, protocol.RPS)
    means = {
        s: (_mean(results, protocol.GREEDY, "GKCC", s), _mean(results, protocol.RPS, "KCC++", s))
        for s in protocol.MEASURES
    }
    told = ", ".join(f"{s} greedy {g:.3f}, RPS {r:.3f}" for s, (g, r) in means.items())
    return holds(all(g > r for g, r in means.values()), told)


def sample_size(results: Results) -> Verdict:
    """Lemma 1."""
    tried = GreedyPartitions.n_candidates_for(0.95, 0.05)
    return holds(tried == 59, str(tried))


PAPER = Paper(__name__, protocol.EXPERIMENTS)
