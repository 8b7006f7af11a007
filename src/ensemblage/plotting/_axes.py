"""What every figure needs: an ax, readable names, ticks that do not collide; one style, one colour per cluster, checks.

The style is one sheet in a context, so that nobody's settings change.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cache, wraps
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.text import one_line
from ensemblage.base.validation import MOST_OBJECTS, Shape, Whole, check_numbers, check_value, check_whole, format_value

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


# -- style -------------------------------------------------------------------------------------------------------------


SHEET = "ensemblage.plotting.ensemblage"
"""The file ``ensemblage.mplstyle`` of this package, as ``plt.style.use`` names it."""
NO_METADATA: dict[str, Any] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
"""Of an SVG: the same figure has the same bytes."""
_TICKS = {
    "color": "color",
    "labelcolor": "labelcolor",
    "labelsize": "labelsize",
    "direction": "direction",
    "length": "major.size",
    "width": "major.width",
    "pad": "major.pad",
}
"""Properties of ticks with their names among the settings."""

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def figure_style() -> Iterator[None]:
    """Matplotlib's own defaults with the style sheet, whatever the user's settings are."""
    from matplotlib import style

    with style.context(["default", SHEET]), warnings.catch_warnings():
        # Widths are measured in a font that lacks many scripts; the reader's browser has others.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def in_style(draw: Callable[P, R]) -> Callable[P, R]:
    """The function with the style sheet where it makes a figure; an ``ax`` that is given keeps its owner's style."""

    @wraps(draw)
    def draw_in_style(*args: P.args, **kwargs: P.kwargs) -> R:
        if kwargs.get("ax") is not None or kwargs.get("axes") is not None:
            return draw(*args, **kwargs)
        with figure_style():
            drawn = draw(*args, **kwargs)
            keep_ticks(drawn)
        return drawn

    return draw_in_style


def keep_ticks(drawn: Any) -> None:
    """Set the style of ticks that are made only when the figure is rendered: the context has ended by then.

    ``drawn`` is an ax or several; all axes of their figures are set, but what a function chose itself stays.
    """
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    settings: dict[str, Any] = dict(zip(rcParams.keys(), rcParams.values(), strict=True))
    for name in ("xtick.labelsize", "ytick.labelsize"):  # in points: "small" is that of the settings of the moment
        settings[name] = FontProperties(size=settings[name]).get_size_in_points()
    some = drawn if isinstance(drawn, Iterable) else [drawn]
    for ax in {ax for one in some for ax in one.figure.axes}:
        for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
            known = axis.get_tick_params()
            style = {key: settings[f"{name}tick.{setting}"] for key, setting in _TICKS.items() if key not in known}
            ax.tick_params(axis=name, **style)


# -- colours -----------------------------------------------------------------------------------------------------------


# Eight colours after Okabe & Ito and Tol; the others chosen one by one, each as far as possible (OKLab) from all
# before it and from grey, seen with normal vision and with the three colour blindnesses (Machado et al. 2009).
PALETTE = (
    *("#0072b2", "#d55e00", "#009e73", "#882255", "#56b4e9", "#e69f00", "#332288", "#cc79a7"),
    *("#8f7aff", "#7a5200", "#85c27a", "#ad3385", "#294700", "#4747cc", "#ff7acc", "#995252"),
    *("#c25cd6", "#ad9952", "#5c3d70", "#0a8f14", "#f5a3b8", "#997099", "#663da3", "#1f667a"),
    *("#8f0014", "#eb4770", "#705ce0", "#667ab8", "#7a99f5", "#00adc2", "#e08514", "#3d85e0"),
)
"""The colours of clusters 0, 1, …; after the last they start again."""

UNLABELLED_COLOR = "#8c8c8c"
"""The colour of objects that no partition labels."""


def cluster_colors(clusters: ArrayLike) -> NDArray[np.float64]:
    """The colour of each cluster number.

    Parameters
    ----------
    clusters : array-like of int, shape (n,)
        Cluster numbers; negative ones mean "unlabelled" and are grey.

    Returns
    -------
    ndarray of shape (n, 3)
        Red, green and blue in [0, 1].

    Examples
    --------
    >>> from ensemblage.plotting import cluster_colors
    >>> cluster_colors([0, 32, -1]).round(2)
    array([[0.  , 0.45, 0.7 ],
           [0.  , 0.45, 0.7 ],
           [0.55, 0.55, 0.55]])
    """
    numbers = whole_numbers(clusters, "clusters of cluster_colors", axes_of(clusters))
    table = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in (*PALETTE, UNLABELLED_COLOR)])
    return table[np.where(numbers < 0, len(PALETTE), numbers % len(PALETTE))]


# -- checks of what figures are given ----------------------------------------------------------------------------------


def whole_numbers(values: Any, subject: str, shape: Shape, least: int = 0) -> NDArray[np.int64]:
    """Whole numbers of a shape, as `check_numbers`."""
    array = np.asarray(values) if isinstance(values, np.ndarray) and values.dtype.kind in "iu" else None
    checked = check_numbers(values, subject, shape, least)
    if array is None and not (np.isfinite(checked).all() and (checked == np.rint(checked)).all()):
        raise ValueError(
            f"{subject} must be whole numbers. Got {format_value(values)}. Use -1 for objects without a cluster."
        )
    return (checked if array is None else array).astype(np.int64)


def axes_of(values: Any) -> Shape:
    """A letter for each axis, to be checked with; one if it is no array."""
    try:
        n_axes = np.ndim(values)
    except ValueError:  # lists of unlike lengths
        n_axes = 1
    return tuple(f"n{axis}" for axis in range(n_axes)) if n_axes > 1 else ("n",) * n_axes


def check_sizes(sizes: Any, n: int, subject: str) -> NDArray[np.float64]:
    """How many objects each of n rows stands for: one, if nothing is said."""
    checked = check_numbers(np.ones(n) if sizes is None else sizes, subject, (n,))
    if not (np.isfinite(checked).all() and (checked >= 0).all() and (n == 0 or checked.any())):
        raise ValueError(
            f"{subject} must be numbers ≥ 0, not all 0. Got {format_value(sizes)}. Give the numbers of objects."
        )
    return checked


def check_length(values: Sequence[Any] | None, n: int, subject: str) -> None:
    """One entry each, in an order, if there are any."""
    try:
        got = n if values is None else len(values)
        if isinstance(values, Set | Mapping):
            raise TypeError
    except TypeError:
        raise ValueError(
            f"{subject} must be a list of {n} entries. Got {format_value(values)}. Give one each."
        ) from None
    if got != n:
        raise ValueError(f"{subject} must be {n} entries. Got {got}. Give one each.")


def check_mapping(values: Any, subject: str) -> None:
    """A dict that is not empty."""
    if not isinstance(values, Mapping) or not values:
        raise TypeError(
            f"{subject} must be a dict with at least one entry. Got {format_value(values)}. Give numbers by k."
        )


def check_marked_k(n_clusters: Any) -> None:
    """The number of clusters to mark, or None."""
    check_value(n_clusters, "n_clusters to mark", [Whole(1, MOST_OBJECTS), None])
