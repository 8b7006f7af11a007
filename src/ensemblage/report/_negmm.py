"""The search of NegMM for a threshold on the associations."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from ensemblage import plotting
from ensemblage.consensus import NegMM
from ensemblage.report._layout import Picture, Section, counted, number
from ensemblage.report._svg import to_svg

Summary = Mapping[str, Any]


def search_shown(consensus: Any) -> list[list[float | None]] | None:
    """Threshold and index of each candidate, None for an infinite index; None for other methods."""
    if not isinstance(consensus, NegMM):
        return None
    return [[float(c.threshold), float(c.mm_index) if isfinite(c.mm_index) else None] for c in consensus.candidates_]


def search_section(summary: Summary) -> Section | None:
    """Which associations counted as weak, and how the threshold was found."""
    search = summary["figures"].get("search")
    if not search:
        return None
    if len(search) == 1:
        return Section("Weak associations", [_single(*search[0])])
    found = [(threshold, index) for threshold, index in search if index is not None]
    if not found:
        sentence = (
            f"{counted(len(search), 'threshold')} left different graphs. With each of them a cluster was too small to "
            f"be judged or fell apart, so the smallest threshold was kept: {number(search[0][0])}."
        )
        return Section("Weak associations", [sentence])
    best, least = min(found, key=lambda pair: pair[1])
    sentence = (
        f"{counted(len(search), 'threshold')} left different graphs. Co-associations up to {number(best)} were taken "
        f"out: there the clusters are densest and farthest apart (MM index {number(least)}; the less, the better)."
    )
    thresholds = [threshold for threshold, _ in search]
    indices = [float("inf") if index is None else index for _, index in search]
    picture = to_svg(plotting.threshold_search(thresholds, indices), "threshold_search")
    note = ["Ticks at the upper edge: a cluster that is too small to be judged or falls apart."]
    told = note if len(found) < len(search) else []
    return Section("Weak associations", [sentence], [Picture("The thresholds that were tried", picture, told)])


def _single(threshold: float, index: float | None) -> str:
    told = "infinite: a cluster is too small to be judged or falls apart" if index is None else number(index)
    return f"Co-associations up to {number(threshold)} were taken out. MM index of the clusters: {told}."
