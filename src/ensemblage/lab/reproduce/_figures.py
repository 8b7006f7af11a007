"""Pictures that the papers draw, from our numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage.plotting import PALETTE
from ensemblage.plotting._axes import label_ticks, new_axes, remove_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    ax.legend(frameon=False, fontsize=8)
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
    ax.legend(frameon=False, fontsize=8)
    remove_frame(ax, ylabel=ylabel)
    rows = [{"group": g, "name": n, "value": v} for g, values in groups.items() for n, v in values.items()]
    return Panel(title, ax, rows, sentence)
