"""The table and the figures of Ayad & Kamel 2010."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ensemblage.lab.reproduce.papers import Cell, Panel, Results, boxes, lines, number, published
from ensemblage.lab.reproduce.papers.ayad import protocol
from ensemblage.plotting import estimated_clusters


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
