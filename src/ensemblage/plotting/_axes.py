"""What every figure needs: an ax, readable names, ticks that do not collide."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import one_line
from ensemblage.base.validation import check_whole, format_value

from ._colors import PALETTE
from ._style import NO_METADATA, figure_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = "matplotlib.axes.Axes"  # takes its time, and is imported where something is drawn

DOTS = 144
"""Of images in a figure of a notebook, per inch; all else is vectors."""
_LETTERS = 58
"""Of a legend as wide as the axes; a line with its space is as wide as six."""


def new_axes(width: float = 4.8, height: float = 3.6) -> Axes:
    """The ax of a new figure that belongs to nobody else (inches); a notebook shows it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure.subplots(subplot_kw={"axes_class": self_showing_axes()})


@cache
def self_showing_axes() -> Any:
    """A class of axes that show their figure where a cell of a notebook ends with them."""
    from matplotlib.axes import Axes

    class ShownAxes(Axes):
        def _repr_svg_(self) -> str:
            file, figure = StringIO(), cast(Any, self.figure)
            with figure_style():
                figure.savefig(file, format="svg", dpi=DOTS, metadata=NO_METADATA)
            text = file.getvalue()
            return text[text.index("<svg") :]

    ShownAxes.__qualname__ = "ShownAxes"  # where pickle finds it
    return ShownAxes


def __getattr__(name: str) -> Any:
    if name == "ShownAxes":
        return self_showing_axes()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def axes_or_new(ax: Axes | None, width: float = 4.8, height: float = 3.6) -> Axes:
    """The ax that was given, if it is one; that of a new figure where there is none."""
    if ax is None:
        return new_axes(width, height)
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(
            f"ax must be one matplotlib Axes, or None for a new figure. Got {format_value(ax)}. "
            "Give what plt.subplots() returns as its second value."
        )
    return ax


def curve(ax: Axes, x: Any, y: Any) -> None:
    """A line through points."""
    ax.plot(x, y, color=PALETTE[0], marker="o", markersize=3.5, linewidth=1.2)


def legend_above(ax: Axes) -> None:
    """The names of what is drawn, above the axes: they hide no curve."""
    names = ax.get_legend_handles_labels()[1]
    columns = max(1, _LETTERS // (max(map(len, names), default=1) + 6))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=min(columns, len(names) or 1), borderaxespad=0.2)


def heat_map(ax: Axes, shares: NDArray[np.float64], extent: Any, label: str, cmap: Any) -> None:
    """Shares as colours from 0 to 1, NaN grey, and a bar that explains them."""
    from matplotlib import colormaps

    colors = colormaps.get_cmap(cmap).with_extremes(bad="0.8")
    image = ax.imshow(shares, cmap=colors, vmin=0, vmax=1, extent=extent, interpolation="none", aspect="auto")
    ax.figure.colorbar(image, ax=ax, label=label, fraction=0.05, pad=0.03)


def remove_frame(ax: Axes, **properties: Any) -> Axes:
    """The ax with these properties, and only the axes that carry numbers."""
    ax.set(**properties)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def printable(name: object, width: int = 24) -> str:
    """The name on one line, its middle left out when it is longer than ``width``.

    Parameters
    ----------
    name : object
        Anything that `str` takes.
    width : int, default 24
        Most characters.

    Returns
    -------
    str
        At most ``width`` printable characters.

    Examples
    --------
    >>> from ensemblage.plotting._axes import printable
    >>> printable("a very long name of a partition", 16)
    'a very l…rtition'
    """
    check_whole(width, "width of printable", 3)
    return one_line(name, width)


def whole_ticks(axis: Any) -> None:
    """Let the ticks of an axis be whole numbers, be there only one."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def label_ticks(
    ax: Axes, axis: Literal["x", "y"], positions: Sequence[float], names: Sequence[object], most: int = 30
) -> None:
    """Name the ticks; with more than ``most`` of them only every second, third, …"""
    step = -(-len(positions) // most) if len(positions) else 1
    labels = [printable(name) for name in names][::step]
    set_ticks = ax.set_xticks if axis == "x" else ax.set_yticks
    set_ticks(positions[::step], labels=labels, parse_math=False)
