"""Ayad & Kamel 2010, "On voting-based consensus of cluster ensembles": Table 1 and Figs. 1 to 7 (Sec. 4)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ensemblage.plotting._k_curves import estimated_clusters
from ensemblage_lab.reproduce.papers import (
    Cell,
    NotRunError,
    Panel,
    Paper,
    Results,
    Verdict,
    boxes,
    holds,
    lines,
    number,
    published,
)
from ensemblage_lab.reproduce.papers.ayad import protocol

# ---- Tables and figures ----


def table1(results: Results) -> list[Cell]:
    """The ARI of k-means."""
    return [
        results.cell(
            *(row["dataset"], "k-means ARI", (protocol.BASE, row["dataset"], "k-means", "ari")),
            published=number(row["kmeans_ari_mean"]),
            published_sd=number(row["kmeans_ari_std"]) or None,
            published_n=protocol.RUNS,
        )
        for row in published(__package__, "table1_datasets")
    ]


def estimated_panels(figure: str, results: Results) -> list[Panel]:
    """ARI and ANMI as boxes, the estimated k as a Pareto chart."""
    name = protocol.CASES[figure].name
    panels = _boxes(results, protocol.ESTIMATED, name, protocol.VOTING)
    for method in protocol.VOTING:
        ks = [int(k) for k in results.values(protocol.ESTIMATED, name, method, "k")]
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
    counts, ax = sorted(Counter(ks).items(), key=lambda item: (-item[1], item[0])), estimated_clusters(ks)
    covered = (np.cumsum([runs for _, runs in counts]) / len(ks)).tolist()
    rows = [{"k": k, "runs": runs, "cumulative": share} for (k, runs), share in zip(counts, covered, strict=True)]
    return Panel(title, ax, rows[: len(ax.patches)])


def given_panels(figure: str, results: Results) -> list[Panel]:
    """Boxes of all methods; Figs. 6 and 7 also ACV and BV over the size of the ensemble."""
    panels = _boxes(
        results, protocol.GIVEN, protocol.CASES[figure].name, (*protocol.METHODS, *results.extra(protocol.GIVEN))
    )
    sizes = [case for case in protocol.SIZE_CASES if case.settings["figure"] == figure]
    for measure_ in ("ari", "anmi") if sizes else ():
        curves: dict[str, Any] = {}
        for experiment, suffix in ((protocol.SIZES, "-k"), (protocol.SIZES_ESTIMATED, "")):
            for method in protocol.VOTING:
                found = {
                    c.settings["size"]: results.estimate(experiment, c.name, method + suffix, measure_) for c in sizes
                }
                curves[method + suffix] = {size: value for size, value in found.items() if value is not None}
        if any(curves.values()):
            panels.append(lines(f"{measure_.upper()} over b", curves, ("members b", measure_.upper()), "Band: one sd."))
    return panels


# ---- Claims of the text ----


def finds_k(figure: str, k: int, results: Results) -> Verdict:
    """ACV finds k in every run."""
    found = results.values(protocol.ESTIMATED, protocol.CASES[figure].name, "ACV", "k")
    if not found:
        raise NotRunError
    share = np.mean([value == k for value in found])
    return holds(share == 1, f"{100 * share:.0f} % of {len(found)} runs")


def _both_estimated(figure: str, results: Results) -> tuple[float, float, float, float]:
    """Means of ACV's and BV's ARI, then of their ANMI."""
    name = protocol.CASES[figure].name
    a, b, c, d = (
        results.need(protocol.ESTIMATED, name, m, measure).mean for measure in ("ari", "anmi") for m in protocol.VOTING
    )
    return a, b, c, d


def is_high(figure: str, least: float, results: Results) -> Verdict:
    """The ARI of ACV is at least that."""
    acv, *_ = _both_estimated(figure, results)
    return holds(acv >= least, f"mean ARI {acv:.3f}")


def bv_is_low(figure: str, k: int, results: Results) -> Verdict:
    """The ARI of BV is lower by a tenth, and the k it finds too large."""
    acv, *_ = _both_estimated(figure, results)
    bv = results.need(protocol.ESTIMATED, protocol.CASES[figure].name, "BV", "ari")
    found = np.median(results.values(protocol.ESTIMATED, protocol.CASES[figure].name, "BV", "k"))
    told = f"BV: ARI {bv.mean:.2f}, sd {bv.sd:.2f}, median k {found:g}"
    return holds(bv.mean < acv - 0.1 and bool(found > k), told)


def anmi_is_high(figure: str, results: Results) -> Verdict:
    """The ANMI of BV is high, its ARI low."""
    _, ari, acv, anmi = _both_estimated(figure, results)
    return holds(anmi > ari and ari < 0.5, f"BV: ANMI {anmi:.2f}, ARI {ari:.2f}; ACV: ANMI {acv:.2f}")


def _means(results: Results, figure: str, measure: str) -> dict[str, float]:
    """Of the methods that were run, the best first; two at least."""
    found = {m: results.estimate(protocol.GIVEN, protocol.CASES[figure].name, m, measure) for m in protocol.METHODS}
    means = {method: value.mean for method, value in found.items() if value is not None}
    if len(means) < 2:
        raise NotRunError
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def _means_text(means: Mapping[str, float]) -> str:
    return ", ".join(f"{method} {mean:.2f}" for method, mean in means.items())


def acv_is_first(figure: str, results: Results) -> Verdict:
    """The ARI of ACV-k is above that of every other."""
    means = _means(results, figure, "ari")
    if "ACV-k" not in means:
        raise NotRunError
    return holds(means["ACV-k"] > max(mean for m, mean in means.items() if m != "ACV-k"), _means_text(means))


def orders_differ(figure: str, results: Results) -> Verdict:
    """The order by ANMI is not that by ARI."""
    ari, anmi = (list(_means(results, figure, measure)) for measure in ("ari", "anmi"))
    return holds(ari != anmi, f"by ARI {', '.join(ari)}; by ANMI {', '.join(anmi)}")


def above_at_each_size(figure: str, results: Results) -> Verdict:
    """ACV above BV at each number of members, k given or not."""
    lower = []
    for experiment, suffix in ((protocol.SIZES, "-k"), (protocol.SIZES_ESTIMATED, "")):
        for case in protocol.SIZE_CASES:
            if case.settings["figure"] != figure:
                continue
            acv, bv = (results.need(experiment, case.name, method + suffix, "ari").mean for method in protocol.VOTING)
            if acv <= bv:
                lower.append(f"ACV{suffix} {acv:.2f} ≤ BV{suffix} {bv:.2f} at b = {case.settings['size']}")
    return holds(
        not lower, "; ".join(lower) or f"ACV above BV at b = {', '.join(map(str, protocol.N_SIZES))}, k given or not"
    )


def ecoli(is_near: bool, results: Results) -> Verdict:
    """ACV-k is above CSPA, HGPA, MCLA and QMI; and near what is better than these."""
    means = _means(results, "7", "ari")
    named = [mean for m, mean in means.items() if m in ("CSPA", "HGPA", "MCLA", "QMI")]
    if "ACV-k" not in means or not named:
        raise NotRunError
    acv = means["ACV-k"]
    better = [mean for m, mean in means.items() if m in ("BV-k", "EAC-S", "EAC-A") and mean > max(named)]
    return holds(all(abs(mean - acv) < 0.1 for mean in better) if is_near else acv > max(named), _means_text(means))


def has_property(name: str, results: Results) -> Verdict:
    """A property of Ada-cVote holds to 1e-9."""
    error = results.need(protocol.PROPERTIES, protocol.CASES["1"].name, name, "error").mean
    return holds(error < 1e-9, f"largest error {error:.1g}")


PAPER = Paper(__name__, protocol.EXPERIMENTS)
