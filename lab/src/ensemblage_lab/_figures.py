"""Pictures of results: what the papers draw, from our numbers; entries of a benchmark; partitions of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.plotting._axes import PALETTE, UNLABELLED_COLOR, label_ticks, legend_above, new_axes, remove_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 1_500
"""Drawn of a set."""


@dataclass
class Panel:
    """One picture of a figure, and the numbers in it."""

    title: str
    ax: Axes
    numbers: Sequence[Mapping[str, Any]]
    """Rows of the CSV beside it."""
    sentence: str = ""


def boxes(title: str, values: Mapping[str, Sequence[float]], ylabel: str, sentence: str = "") -> Panel:
    """One box per name over its values."""
    ax = new_axes(4.8, 3.6)
    names = list(values)
    shown = ax.boxplot([values[name] for name in names], patch_artist=True, widths=0.6)
    for i, box in enumerate(shown["boxes"]):
        box.set(facecolor=PALETTE[i % len(PALETTE)], alpha=0.6)
    for line in shown["medians"]:
        line.set(color="#1f2328")
    label_ticks(ax, "x", range(1, len(names) + 1), names)
    if sum(map(len, names)) > 30:
        ax.tick_params(axis="x", labelrotation=30)
    remove_frame(ax, ylabel=ylabel)
    rows = [{"name": n, "run": i, "value": v} for n in names for i, v in enumerate(values[n])]
    return Panel(title, ax, rows, sentence)


def lines(title: str, curves: Mapping[str, Mapping[float, Any]], labels: tuple[str, str], sentence: str = "") -> Panel:
    """One line per name through the estimates (mean, sd, n) at its places; the band is one standard deviation."""
    ax = new_axes(4.8, 3.6)
    rows = []
    for i, (name, points) in enumerate(curves.items()):
        x = sorted(points)
        mean = np.array([points[at].mean for at in x])
        sd = np.array([0.0 if points[at].n < 2 else points[at].sd for at in x])
        color = PALETTE[i % len(PALETTE)]
        ax.plot(x, mean, "o-", color=color, markersize=4, linewidth=1.5, label=name)
        ax.fill_between(x, mean - sd, mean + sd, color=color, alpha=0.12, linewidth=0)
        rows += [{"name": name, "x": at, "mean": points[at].mean, "sd": points[at].sd, "n": points[at].n} for at in x]
    legend_above(ax)
    remove_frame(ax, xlabel=labels[0], ylabel=labels[1])
    return Panel(title, ax, rows, sentence)


def bars(title: str, groups: Mapping[str, Mapping[str, float]], ylabel: str, sentence: str = "") -> Panel:
    """For every group (a data set) one bar per name."""
    names = list(dict.fromkeys(name for values in groups.values() for name in values))
    ax = new_axes(max(4.8, 0.35 * len(groups) * max(1, len(names)) ** 0.5), 3.6)
    width = 0.8 / max(1, len(names))
    for i, name in enumerate(names):
        places = [g + (i + 0.5) * width - 0.4 for g in range(len(groups))]
        heights = [values.get(name, float("nan")) for values in groups.values()]
        ax.bar(places, heights, width, color=PALETTE[i % len(PALETTE)], label=name)
    label_ticks(ax, "x", range(len(groups)), list(groups), most=40)
    ax.tick_params(axis="x", labelrotation=60 if len(groups) > 4 else 0)
    ax.axhline(0, color="#57606a", linewidth=0.8)
    legend_above(ax)
    remove_frame(ax, ylabel=ylabel)
    rows = [{"group": g, "name": n, "value": v} for g, values in groups.items() for n, v in values.items()]
    return Panel(title, ax, rows, sentence)


def draw_ranking(
    values: Mapping[str, float],
    xlabel: str,
    colors: Sequence[str],
    *,
    intervals: Sequence[tuple[float, float]] | None = None,
    band: float | None = None,
) -> Axes:
    """One dot per name, the first on top, each with its interval; a grey band of this width begins at the first."""
    ax = new_axes(7.4, 0.6 + 0.22 * len(values))
    names = list(values)
    if band is not None:
        ax.axvspan(values[names[0]], values[names[0]] + band, color="#e6e6e6", zorder=0)
    for i, name in enumerate(names):
        place = len(names) - 1 - i
        if intervals is not None:
            ax.plot(intervals[i], [place, place], color=colors[i], linewidth=1.5)
        ax.plot([values[name]], [place], "o", color=colors[i], markersize=4)
    ax.set_yticks(range(len(names)), names[::-1], fontsize=7)
    return remove_frame(ax, xlabel=xlabel, ylim=(-0.7, len(names) - 0.3))


def partition_panels(X: NDArray[np.float64], panels: Sequence[tuple[str, NDArray[np.int64]]]) -> Figure:
    """One panel per labeling of (n, m) features: two of them, or their first two principal components."""
    from matplotlib.figure import Figure

    if X.shape[1] != 2:
        centred = X - X.mean(axis=0)
        left, scales, _ = np.linalg.svd(centred, full_matrices=False)
        X = left[:, :2] * scales[:2] if X.shape[1] > 2 else np.column_stack([centred, np.zeros(len(X))])
    drawn = np.random.default_rng(0).permutation(len(X))[:MOST_POINTS]
    figure = Figure(figsize=(2.6 * len(panels), 2.7), layout="constrained")
    for place, (title, labels) in enumerate(panels, 1):
        ax = figure.add_subplot(1, len(panels), place)
        shown = labels[drawn]
        colors = [UNLABELLED_COLOR if label < 0 else PALETTE[label % len(PALETTE)] for label in shown]
        ax.scatter(X[drawn, 0], X[drawn, 1], c=colors, s=4, linewidths=0, rasterized=True)
        ax.set_title(title, fontsize=8)
        ax.set_xticks([])
        ax.set_yticks([])
    return figure
