"""What Li & Liu 2018 say of their tables and figures."""

import math

import numpy as np

from ensemblage.generation import GreedyPartitions
from ensemblage.lab.reproduce.papers import NotRunError, Results, Verdict, holds
from ensemblage.lab.reproduce.papers.li import protocol
from ensemblage.lab.reproduce.papers.li.tables import by_set, by_strategy


def _needed(results: Results, *experiments: str) -> None:
    if not all(results.cases(experiment) for experiment in experiments):
        raise NotRunError


def lowest_loss(results: Results) -> Verdict:
    """GKCC has the lowest loss on most sets."""
    _needed(results, protocol.GREEDY)
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
    _needed(results, protocol.GREEDY)
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
    _needed(results, protocol.GREEDY)
    means = {(m, s): _mean(results, protocol.GREEDY, m, s) for m in protocol.METHODS for s in protocol.MEASURES}
    order = all(means["GKCC", s] > means["KCC++", s] > means["KCC", s] for s in protocol.MEASURES)
    return holds(order, ", ".join(f"{m} {s} {v:.3f}" for (m, s), v in means.items()))


def neither_wins(results: Results) -> Verdict:
    """Each strategy is better on some set."""
    _needed(results, protocol.GREEDY, protocol.RPS)
    pairs = [(found["greedy"], found["RPS"]) for found in by_strategy(results, "R_n").values()]
    greedy, random = sum(g > r for g, r in pairs), sum(r > g for g, r in pairs)
    return holds(min(greedy, random) > 0, f"greedy on {greedy}, RPS on {random} sets")


def greedy_is_better(results: Results) -> Verdict:
    """By the mean over sets of both measures."""
    _needed(results, protocol.GREEDY, protocol.RPS)
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
