"""The style of all figures: one style sheet in a context, so that nobody's settings change."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

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
