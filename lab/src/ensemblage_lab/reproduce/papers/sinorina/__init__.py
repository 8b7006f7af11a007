"""Sinorina, Hamilton & Zilles 2022, "Efficient removal of weak associations in consensus clustering" (Sec. 5)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ensemblage.plotting._axes import PALETTE, new_axes, remove_frame
from ensemblage.report._layout import plural
from ensemblage_lab.reproduce.papers import (
    Cell,
    NotRunError,
    Panel,
    Paper,
    Results,
    Verdict,
    holds,
    number,
    published,
    untested,
)
from ensemblage_lab.reproduce.papers.sinorina import protocol

# ---- Tables and figures ----

FILES = {
    protocol.SETUPS[0]: "table2_b1000_fixedk",
    protocol.SETUPS[1]: "table3_b100_randomk",
    protocol.SETUPS[2]: "table4_b10_randomk",
    protocol.SETUPS[3]: "table5_b10_diverse",
}
READ_AS = {"ari": "ari", "ami": "nmi"}
"""What is printed as AMI agrees with the geometric NMI: see `own_scores`."""
MAIN = {protocol.SETUPS[0]: (protocol.CLASSES, "K = √N"), protocol.SETUPS[3]: (protocol.SCALED, "as they are")}
"""What reproduces the tables of these setups, and how the columns of the setup itself are marked."""


def table(setup: str, results: Results) -> list[Cell]:
    """One row per set, for both measures the three methods and the mean of the members; then other readings."""
    main, told = MAIN.get(setup, (setup, ""))
    rows = published(__package__, FILES[setup])

    def beside(rows: Sequence[Mapping[str, str]], experiment: str = main, told: str = "", **other: str) -> list[Cell]:
        """Another experiment, or another case or measure of the main one."""
        return [replace(_cell(results, experiment, row, told, **other), is_alternative=True) for row in rows]

    cells = [_cell(results, main, row) for row in rows]
    cells += beside([row for row in rows if row["metric"] == "ami"], measure="ami")
    cells += beside([row for row in rows if row["dataset"] == protocol.GLASS.name], case=protocol.PLAIN_GLASS.name)
    if main != setup:
        cells += beside(rows, setup, told)
    if setup in protocol.ROWS_OF_CLASSES:
        cells += beside(
            [row for row in rows if row["dataset"] in protocol.OF_CLASSES],
            protocol.ROWS_OF_CLASSES[setup],
            "K = classes",
        )
    sets = list(dict.fromkeys((row["dataset"], row["metric"]) for row in rows))
    for method in results.extra(main):
        own = [{"dataset": name, "metric": metric, "method": method, "value": ""} for name, metric in sets]
        cells += [_cell(results, main, row) for row in own]
    return cells


def _cell(
    results: Results, experiment: str, row: Mapping[str, str], told: str = "", *, case: str = "", measure: str = ""
) -> Cell:
    """The cell of a printed row, or of another case or measure beside it."""
    case, measure = case or row["dataset"], measure or READ_AS[row["metric"]]
    column = f"{row['method']}{', ' if told else ''}{told} {measure.upper()}"
    return results.cell(case, column, (experiment, case, row["method"], measure), number(row["value"]))


def histogram_panels(results: Results) -> list[Panel]:
    """The associations of the first run, with the thresholds."""
    panels = []
    for case in results.cases(protocol.HISTOGRAMS):
        runs = results.runs(protocol.HISTOGRAMS, case.name, protocol.HISTOGRAM)
        if runs:
            thresholds = {"2-means": runs[0]["2-means"], "two Gaussians": runs[0]["two Gaussians"]}
            panels.append(draw_histogram(f"{case.dataset}, {case.settings['told']}", runs[0]["bins"], thresholds))
    return panels


def chosen_panels(setup: str, names: Sequence[str], results: Results) -> list[Panel]:
    """The associations in a setup with the thresholds that the three methods chose."""
    panels = []
    for name in names:
        runs = results.runs(setup, name, protocol.HISTOGRAM)
        taus = {m: values[0] for m in protocol.COMPARED if (values := results.values(setup, name, m, "tau"))}
        if runs:
            panels.append(draw_histogram(f"{name}, b = {protocol.SIZES[setup]}", runs[0]["bins"], taus))
    return panels


def draw_histogram(title: str, heights: Sequence[float], thresholds: Mapping[str, float]) -> Panel:
    """Bars of pair counts, one line per threshold."""
    ax = new_axes(4.8, 3.2)
    edges = np.linspace(0, 1, protocol.N_BINS + 1)
    ax.bar(edges[:-1], heights, width=1 / protocol.N_BINS, align="edge", color="#b4bcc4")
    for i, (name, tau) in enumerate(thresholds.items()):
        ax.axvline(tau, color=PALETTE[i], linestyle=("-", "--", ":")[i % 3], label=f"{name}: {tau:.2f}")
    ax.legend(frameon=False, fontsize=8)
    remove_frame(ax, xlabel="association", ylabel="pairs", xlim=(0, 1))
    rows = [{"from": float(a), "pairs": h} for a, h in zip(edges[:-1], heights, strict=True)]
    return Panel(title, ax, [*rows, *({"threshold": name, "from": tau} for name, tau in thresholds.items())])


def time_panels(results: Results) -> list[Panel]:
    """Fig. 5: seconds of both WAT variants over those of NegMM, trying every cut as the paper does."""
    return [panel for setup in protocol.SETUPS[:3] if (panel := _time_panel(setup, results)) is not None]


def seconds_of(setup: str, results: Results) -> list[tuple[str, str, float, float]]:
    """(set, WAT variant, seconds of NegMM with every cut, seconds of WAT); the least over the runs."""
    rows = []
    for case in results.cases(protocol.CUTS):
        if case.settings["setup"] != setup:
            continue
        times = {
            m: results.values(protocol.CUTS, case.name, m, "seconds") for m in ("NegMM, every cut", *protocol.COMPARED)
        }
        for wat in protocol.COMPARED[1:]:
            if times["NegMM, every cut"] and times[wat]:
                rows.append((str(case.dataset), wat, min(times["NegMM, every cut"]), min(times[wat])))
    return rows


def slope_and_ratio(rows: Sequence[tuple[str, str, float, float]]) -> tuple[float, float]:
    """Slope of WAT's seconds over NegMM's (least squares), and the mean of NegMM's over WAT's."""
    x, y = np.array([row[2] for row in rows]), np.array([row[3] for row in rows])
    slope = float(np.polyfit(x, y, 1)[0]) if len(set(x.tolist())) > 1 else math.nan
    return slope, float(np.mean(x / y))


def _time_panel(setup: str, results: Results) -> Panel | None:
    rows = seconds_of(setup, results)
    if not rows:
        return None
    ax = new_axes(4.4, 3.6)
    for i, wat in enumerate(protocol.COMPARED[1:]):
        points = [(row[2], row[3]) for row in rows if row[1] == wat]
        ax.plot(*zip(*points, strict=True), "os"[i], color=PALETTE[i], label=wat)
    slope, ratio = slope_and_ratio(rows)
    ax.set(
        xlabel="processor seconds of NegMM, every cut",
        ylabel="processor seconds of WAT",
        xlim=(0, None),
        ylim=(0, None),
    )
    ax.legend(frameon=False, fontsize=8)
    remove_frame(ax)
    numbers = [dict(zip(("dataset", "method", "negmm", "wat"), row, strict=True)) for row in rows]
    told = "" if math.isnan(slope) else f"Slope {slope:.3f}; "
    return Panel(
        f"b = {protocol.SIZES[setup]}", ax, numbers, f"{told}NegMM takes {ratio:.0f} times as long on average."
    )


# ---- Claims of the text ----

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


PAPER = Paper(__name__, protocol.EXPERIMENTS)
