"""What Sinorina, Hamilton & Zilles 2022 say of their tables and figures."""

from collections.abc import Callable, Mapping, Sequence

from ensemblage.lab.reproduce.papers import NotRunError, Results, Verdict, holds, untested
from ensemblage.lab.reproduce.papers.sinorina import protocol
from ensemblage.lab.reproduce.papers.sinorina.tables import seconds_of, slope_and_ratio
from ensemblage.report._layout import plural

RULES: Mapping[str, Callable[[float, float], bool]] = {
    "close": lambda negmm, wat: abs(negmm - wat) <= 0.05,
    "not_below": lambda negmm, wat: wat >= negmm - 0.01,
    "above": lambda negmm, wat: wat > negmm,
    "below": lambda negmm, wat: wat < negmm,
    "perfect_and_below": lambda negmm, wat: negmm > 0.995 and wat < negmm,
}


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
    rule: str,
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
        if not RULES[rule](negmm.mean, wat.mean):
            broken.append(f"{name} {method} {measure.upper()} {negmm.mean:.2f} to {wat.mean:.2f}")
    if not seen:
        return untested("no set at hand")
    return holds(not broken, "; ".join(broken[:4]) + (", …" if len(broken) > 4 else "") or plural(seen, "comparison"))
