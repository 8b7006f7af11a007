"""What Sinorina, Hamilton & Zilles 2022 say of their tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ensemblage.report._layout import counted
from ensemblage.reproduce.papers import Judge, NotRunError, Results, Verdict, holds, published, untested
from ensemblage.reproduce.papers.sinorina import protocol
from ensemblage.reproduce.papers.sinorina.tables import seconds_of, slope_and_ratio


def _slopes_and_ratios(results: Results) -> list[tuple[float, float]]:
    """Of each of the first three setups."""
    found = [slope_and_ratio(rows) for setup in protocol.SETUPS[:3] if (rows := seconds_of(setup, results))]
    if len(found) < 3:
        raise NotRunError
    return found


def time(setup: int, which: int, printed: float, results: Results) -> Verdict:
    """The slope (0) or the ratio (1) of a setup is the printed one within a factor of two."""
    ours = _slopes_and_ratios(results)[setup][which]
    told = f"{ours:.3g}, judged within a factor of two: another program and machine"
    return holds(0.5 <= ours / printed <= 2, told)


def ratio_rises(results: Results) -> Verdict:
    """The fewer members, the larger the ratio."""
    ratios = [ratio for _, ratio in _slopes_and_ratios(results)]
    return holds(ratios[0] < ratios[1] < ratios[2], f"ratios {', '.join(f'{ratio:.1f}' for ratio in ratios)}")


def threshold(
    experiment: str, case: str, method: str, name: str, value: float, within: float, results: Results
) -> Verdict:
    """A threshold is near the printed one."""
    found = results.estimate(experiment, case, method, name)
    if found is None:
        return untested(results.why_not(experiment, case, method))
    return holds(abs(found.mean - value) <= within, f"{found.mean:.2f}")


def both_half(case: str, results: Results) -> Verdict:
    """With ten members the thresholds of both WAT variants are about 0.5."""
    taus = [results.need(protocol.SETUPS[2], case, method, "tau").mean for method in protocol.COMPARED[1:]]
    return holds(all(abs(tau - 0.5) <= 0.1 for tau in taus), ", ".join(f"{tau:.2f}" for tau in taus))


def compared(
    setup: str,
    names: Sequence[str],
    methods: Sequence[str],
    rule: Callable[[float, float], bool],
    measures: Sequence[str],
    results: Results,
) -> Verdict:
    """Whether a rule on (NegMM, variant) holds for every set at hand, method and measure."""
    seen, broken = 0, []
    for place in ((name, method, measure) for name in names for method in methods for measure in measures):
        name, method, measure = place
        negmm, wat = (results.estimate(setup, name, m, measure) for m in ("NegMM", method))
        if negmm is None or wat is None:
            continue
        seen += 1
        if not rule(negmm.mean, wat.mean):
            broken.append(f"{name} {method} {measure.upper()} {negmm.mean:.2f} to {wat.mean:.2f}")
    if not seen:
        return untested("no set at hand")
    return holds(not broken, "; ".join(broken[:4]) + (", …" if len(broken) > 4 else "") or counted(seen, "comparison"))


def close(negmm: float, wat: float) -> bool:
    return abs(negmm - wat) <= 0.05


def not_below(negmm: float, wat: float) -> bool:
    return wat >= negmm - 0.01


def above(negmm: float, wat: float) -> bool:
    return wat > negmm


def below(negmm: float, wat: float) -> bool:
    return wat < negmm


def perfect_and_below(negmm: float, wat: float) -> bool:
    return negmm > 0.995 and wat < negmm


def _compared(
    setup: str,
    names: str,
    methods: Sequence[str],
    rule: Callable[[float, float], bool],
    measures: Sequence[str] = protocol.MEASURES,
) -> Judge:
    return partial(compared, setup, names.split(), methods, rule, measures)


def _all_but(*names: str) -> str:
    return " ".join(row["dataset"] for row in published(__package__, "table1_datasets") if row["dataset"] not in names)


BOTH, K, GMM = protocol.COMPARED[1:], protocol.COMPARED[1:2], protocol.COMPARED[2:]
_, HUNDRED, TEN, _ = protocol.SETUPS
ARI, NMI = ("ari",), ("nmi",)
JAIN = (protocol.HISTOGRAMS, "Jain, K = √N", protocol.HISTOGRAM)
CLAIMS: Mapping[str, Judge] = {
    "sinorina.f5.slope-1000": partial(time, 0, 0, 0.129),
    "sinorina.f5.ratio-1000": partial(time, 0, 1, 7.7),
    "sinorina.f5.slope-100": partial(time, 1, 0, 0.012),
    "sinorina.f5.ratio-100": partial(time, 1, 1, 51.4),
    "sinorina.f5.ratio-10": partial(time, 2, 1, 233.0),
    "sinorina.f5.ratios": ratio_rises,
    "sinorina.f2.kmeans": partial(threshold, *JAIN, "2-means", 0.46, 0.05),
    "sinorina.f2.gmm": partial(threshold, *JAIN, "two Gaussians", 0.33, 0.1),
    "sinorina.f3.negmm": partial(threshold, HUNDRED, "Seeds", "NegMM", "tau", 0.4, 0.05),
    "sinorina.f3.wat-kmeans": partial(threshold, HUNDRED, "Seeds", "NegMM-WAT(K)", "tau", 0.44, 0.05),
    "sinorina.f3.wat-gmm": partial(threshold, HUNDRED, "Seeds", "NegMM-WAT(GMM)", "tau", 0.05, 0.05),
    "sinorina.f4.negmm-jain": partial(threshold, TEN, "Jain", "NegMM", "tau", 0.0, 0.05),
    "sinorina.f4.negmm-r15": partial(threshold, TEN, "R15", "NegMM", "tau", 0.0, 0.05),
    "sinorina.f4.wat-jain": partial(both_half, "Jain"),
    "sinorina.f4.wat-r15": partial(both_half, "R15"),
    "sinorina.t2.wat-kmeans": _compared(protocol.CLASSES, _all_but("AG", "IS"), K, not_below),
    "sinorina.t2.wat-gmm": _compared(protocol.CLASSES, _all_but("AG"), GMM, not_below),
    "sinorina.t3.equal": _compared(HUNDRED, "Jain R15 Iris Wine Glass", BOTH, close),
    "sinorina.t3.above": _compared(HUNDRED, "Flame PB Blobs", BOTH, above),
    "sinorina.t3.seeds-ari": _compared(HUNDRED, "Seeds", GMM, above, ARI),
    "sinorina.t3.seeds-ami": _compared(HUNDRED, "Seeds", GMM, above, NMI),
    "sinorina.t3.below": _compared(HUNDRED, "IS CM", BOTH, below),
    "sinorina.t3.ag": _compared(HUNDRED, "AG", K, close),
    "sinorina.t4.close": _compared(TEN, "Flame CM Iris Wine Ecoli Yeast", BOTH, close),
    "sinorina.t4.ukm": _compared(TEN, "UKM", BOTH, above),
    "sinorina.t4.above": _compared(TEN, "PB LM", BOTH, above),
    "sinorina.t4.wat-kmeans": _compared(TEN, "Blobs Glass", K, close),
    "sinorina.t4.seeds-ari": _compared(TEN, "Seeds", GMM, above, ARI),
    "sinorina.t4.seeds-ami": _compared(TEN, "Seeds", GMM, above, NMI),
    "sinorina.t4.perfect": _compared(TEN, "Jain R15", BOTH, perfect_and_below),
    "sinorina.t5.iris-ari": _compared(protocol.SCALED, "Iris", K, below, ARI),
    "sinorina.t5.iris-ami": _compared(protocol.SCALED, "Iris", K, close, NMI),
    "sinorina.t5.glass": _compared(protocol.SCALED, "Glass", GMM, above, ARI),
    "sinorina.t5.cm": _compared(protocol.SCALED, "CM", GMM, above, ARI),
    "sinorina.t5.yeast": _compared(protocol.SCALED, "Yeast", BOTH, above),
    "sinorina.t5.wine": _compared(protocol.SCALED, "Wine", BOTH, below),
}
