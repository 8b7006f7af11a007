"""What describes the clusters: standardised means of many variables, distributions of a few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_numbers, format_value

from ._axes import Axes, axes_or_new, check_length, cluster_colors, in_style, label_ticks, printable, remove_frame
from ._clusters import draw_boxes

_STRONG = 2.0
"""Standard deviations at which the colour is full."""
_MOST_NUMBERS = 16
"""Clusters of which the cells hold their numbers."""
_LUMINANCE = (0.2126, 0.7152, 0.0722)
LEVEL_COLORS = ("#08306b", "#1f68ab", "#4f9bcb", "#94c4df", "#c6dbef", "#e3eef9", "#f5f9fe")
"""Of the values of a variable in stacked bars, in their order."""
REST_COLOR = "#d9d9d9"
"""Of all other values together."""
_COLUMNS = 3
_WIDTH, _HEIGHT, _MARGINS = 3.2, 2.2, (0.62, 0.42, 0.08, 0.3)
"""Of a small figure, in inches: left, bottom, right, top."""


@in_style
def profile_heat_map(
    z: ArrayLike, variables: Sequence[object], *, names: Sequence[object] | None = None, ax: Axes | None = None
) -> Axes:
    """Standardised means of variables in clusters as colours: orange above the mean of all, purple below.

    Each cell holds its number with its sign, where there are at most 16 clusters, else the sign where it is ½ or more.

    Parameters
    ----------
    z : array-like of float, shape (m, k)
        Mean of each variable in each cluster, minus that of all, in standard deviations. NaN is grey.
    variables : sequence of m
        Their names.
    names : sequence of k, optional
        Names of the clusters. Default: their numbers.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting import profile_heat_map
    >>> ax = profile_heat_map([[1.2, -0.6], [-0.4, 0.2]], ["alcohol", "hue"])
    >>> [text.get_text() for text in ax.texts]
    ['+1.2', '−0.6', '−0.4', '+0.2']
    """
    means = check_numbers(z, "z of profile_heat_map", ("m", "k"))
    m, k = means.shape
    check_length(variables, m, "variables of profile_heat_map")
    check_length(names, k, "names of profile_heat_map")
    ax = axes_or_new(ax, min(10.0, 3.2 + 0.5 * k), 1.6 + (0.24 if m <= 20 else 0.19) * m)
    from matplotlib import colormaps

    colors = colormaps.get_cmap("PuOr_r").with_extremes(bad="0.8")
    image = ax.imshow(means, cmap=colors, vmin=-_STRONG, vmax=_STRONG, aspect="auto", interpolation="none")
    bar = ax.figure.colorbar(image, ax=ax, location="bottom", extend="both", fraction=0.03, aspect=25)
    bar.set_label("standard deviations from the mean of all", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    is_dark = image.to_rgba(means)[..., :3] @ np.array(_LUMINANCE) < 0.5
    for i, c in np.argwhere(np.isfinite(means)).tolist():
        if text := _cell_text(float(means[i, c]), k):
            color = "white" if is_dark[i, c] else "0.1"
            ax.text(c, i, text, ha="center", va="center", fontsize=7.5, color=color, in_layout=False)
    names = range(k) if names is None else names
    label_ticks(ax, "x", range(k), list(names), most=40)
    label_ticks(ax, "y", range(m), variables, most=60)
    ax.tick_params(length=0, labelsize=8)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("cluster", fontsize=8)
    return ax


def _cell_text(value: float, k: int) -> str:
    """The number with its sign; of many clusters the sign of what is far from 0."""
    if k > _MOST_NUMBERS:
        return "" if abs(value) < 0.5 else "+" if value > 0 else "−"
    return "0" if f"{value:+.1f}" in ("+0.0", "-0.0") else f"{value:+.1f}".replace("-", "−")


@in_style
def variable_panel(panel: Mapping[str, Any], *, ax: Axes | None = None) -> Axes:
    """Distribution of one variable in each cluster: boxes of a number, bars of the share of a category.

    A box holds the middle half of a cluster's objects, its black line is the median, the thin line reaches from the 5 %
    to the 95 % point.

    Parameters
    ----------
    panel : mapping
        ``variable`` and ``clusters``, their names; ``quantiles``, the 5, 25, 50, 75 and 95 % points of each cluster, or
        ``level`` and ``shares``, a category and its share in each cluster; ``stack``, where there are few values, drawn
        instead: their ``levels``, None for all others, and ``shares`` in each cluster; ``kind``, for a number "number",
        "date" for days since 1970-01-01, or "ordered" for places among ``levels``.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    Examples
    --------
    >>> from ensemblage.plotting._profiles import variable_panel
    >>> panel = {"variable": "smoker", "clusters": [0, 1], "level": "yes", "shares": [0.9, 0.2], "quantiles": None}
    >>> [float(bar.get_height()) for bar in variable_panel(panel).patches]
    [0.9, 0.2]
    """
    if not isinstance(panel, Mapping) or not {"variable", "clusters", "quantiles", "shares"} & panel.keys():
        raise TypeError(
            f"panel of variable_panel must be a dict that describes one variable. Got {format_value(panel)}. See "
            f"its docstring."
        )
    clusters, k = panel["clusters"], np.size(panel["clusters"])
    check_length(clusters, k, "clusters of variable_panel")
    ax = axes_or_new(ax, 3.4, 2.4)
    numbers = np.array([c if isinstance(c, int) else i for i, c in enumerate(clusters)], dtype=np.int64)
    x, colors = np.arange(k), cluster_colors(numbers)
    title = printable(panel["variable"], 34)
    if panel.get("stack"):
        _draw_stack(ax, panel["stack"], k)
    elif panel.get("quantiles") is None:
        _draw_shares(ax, check_numbers(panel["shares"], "shares of variable_panel", (k,)), colors)  # None is NaN
        title = f"{printable(panel['variable'], 24)}: {printable(panel['level'], 20)}"
    else:
        of = check_numbers(panel["quantiles"], "quantiles of variable_panel", (k, 5))  # None is NaN
        draw_boxes(ax, x, of.T, colors)
        ax.margins(y=0.06)
        _name_values(ax, panel)
    ax.set_title(title, fontsize=9, loc="left", parse_math=False)
    label_ticks(ax, "x", x.tolist(), clusters, most=16)
    ax.tick_params(labelsize=8)
    ax.set_xlim(-0.6, k - 0.4)
    return remove_frame(ax)


def _draw_shares(ax: Axes, shares: NDArray[np.float64], colors: NDArray[np.float64]) -> None:
    bars = ax.bar(np.arange(len(shares)), np.nan_to_num(shares), width=0.7, color=colors)
    if len(shares) <= 8:
        ax.bar_label(bars, labels=["–" if np.isnan(s) else f"{100 * s:.0f}%" for s in shares], padding=1, fontsize=8)
    ax.set_ylim(0, 1.12)
    ax.set_yticks([0, 0.5, 1], labels=["0%", "50%", "100%"])


def level_colors(levels: Sequence[str | None]) -> list[str]:
    """Colours of the values of a variable in stacked bars, in their order, far apart; None is all others."""
    n = sum(level is not None for level in levels)
    places = np.linspace(0.5, len(LEVEL_COLORS) - 2, n).round().astype(int).tolist()
    colors = iter([LEVEL_COLORS[place] for place in places])
    return [REST_COLOR if level is None else next(colors) for level in levels]


def _draw_stack(ax: Axes, stack: Mapping[str, Any], k: int) -> None:
    """Shares of the values one upon the other, and a legend beside."""
    shares = check_numbers(stack["shares"], "stack of variable_panel", (k, len(stack["levels"])))  # None is NaN
    below = np.zeros(k)
    for j, (level, color) in enumerate(zip(stack["levels"], level_colors(stack["levels"]), strict=True)):
        name = "other" if level is None else printable(level, 14)
        ax.bar(np.arange(k), np.nan_to_num(shares[:, j]), bottom=below, width=0.7, color=color, label=name)
        below += np.nan_to_num(shares[:, j])
    ax.set_ylim(0, 1)
    ax.set_yticks([0, 0.5, 1], labels=["0%", "50%", "100%"])
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=7, handlelength=1, borderpad=0)


def _name_values(ax: Axes, panel: Mapping[str, Any]) -> None:
    """Ticks as dates, or as the categories that the numbers are places of."""
    if panel.get("kind") == "date":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator(minticks=3, maxticks=6)  # type: ignore[no-untyped-call]
        ax.yaxis.set_major_locator(locator)
        ax.yaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    elif panel.get("kind") == "ordered":
        levels = panel["levels"]
        label_ticks(ax, "y", range(len(levels)), [printable(level, 9) for level in levels], most=8)
        ax.set_ylim(-0.5, len(levels) - 0.5)


def _place(i: int, rows: int, columns: int) -> tuple[float, float, float, float]:
    """Left, bottom, width and height of a panel as parts of the figure; an engine of layout takes longer."""
    left, bottom, right, top = _MARGINS
    x, y = _WIDTH * (i % columns) + left, _HEIGHT * (rows - 1 - i // columns) + bottom
    wide, high = _WIDTH * columns, _HEIGHT * rows
    return x / wide, y / high, (_WIDTH - left - right) / wide, (_HEIGHT - bottom - top) / high


@in_style
def variable_panels(panels: Sequence[Mapping[str, Any]]) -> list[Axes]:
    """Distributions of several variables in each cluster, side by side: small multiples.

    Parameters
    ----------
    panels : sequence of mapping
        Those of `variable_panel`.

    Returns
    -------
    list of matplotlib Axes
        One for each, in one new figure.

    Examples
    --------
    >>> from ensemblage.plotting._profiles import variable_panels
    >>> panel = {"variable": "hue", "clusters": [0], "quantiles": [[0.8, 0.9, 1, 1.1, 1.2]], "shares": None}
    >>> [ax.get_title(loc="left") for ax in variable_panels([panel, panel])]
    ['hue', 'hue']
    """
    from matplotlib.figure import Figure

    if isinstance(panels, Mapping | str) or not isinstance(panels, Sequence) or not panels:
        raise TypeError(
            f"panels of variable_panels must be a list of dicts. Got {format_value(panels)}. See variable_panel."
        )
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(_WIDTH * columns, _HEIGHT * rows))
    axes = [figure.add_axes(_place(i, rows, columns)) for i in range(len(panels))]
    drawn = [variable_panel(panel, ax=ax) for panel, ax in zip(panels, axes, strict=True)]
    for ax in axes[-columns:]:
        ax.set_xlabel("cluster", fontsize=8)
    return drawn
