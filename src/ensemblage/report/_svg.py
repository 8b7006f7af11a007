"""Figures as SVG that can stand inside a page: the same bytes for the same numbers, no ids that clash."""

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from markupsafe import Markup

from ensemblage.plotting._axes import NO_METADATA, figure_style
from ensemblage.report._layout import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NO_DATES: dict[str, Any] = dict.fromkeys(("Creator", "Producer", "CreationDate"))
FORMATS = ("svg", "png", "pdf")
_PAGE_STYLE = re.compile(r"<style type=.*?</style>", re.DOTALL)
_TAG = re.compile(r"<[a-zA-Z][^>]*>")
_ID = re.compile(r'\bid="([^"]*)"')
_REFERENCE = re.compile(r'url\(#([^)]*)\)|href="#([^"]*)"')


def picture(title: str, ax: "Axes", name: str, *sentences: str, more: Sequence[str] = ()) -> Picture:
    """The ax's figure, with ids that start with ``name``, and what it says of these data."""
    return Picture(title, to_svg(ax, name), sentences, more=more, name=name, figures={name: ax.figure})


def to_svg(ax: "Axes", name: str, ground: str = "none") -> Markup:
    """The ax's figure as an ``<svg>`` element whose ids start with ``name``; on no ground, as a page has its own."""
    buffer, figure = io.StringIO(), cast("Figure", ax.figure)
    with figure_style():
        _lay_out(figure)
        figure.savefig(buffer, format="svg", dpi=144, facecolor=ground, metadata=NO_METADATA)
    text = buffer.getvalue()
    text = _PAGE_STYLE.sub("", text[text.index("<svg") :])
    used = {a or b for a, b in _REFERENCE.findall(text)}
    # Matplotlib has escaped every text in it.
    return Markup(_TAG.sub(lambda tag: _own_ids(tag.group(), name, used), text))


def figure_bytes(figure: "Figure", name: str) -> bytes:
    """The content of a file of a figure, on white; the same for the same numbers."""
    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"svg": NO_METADATA, "png": {"Software": None}, "pdf": _NO_DATES}[name]
    with figure_style():
        figure.savefig(buffer, format=name, facecolor="white", metadata=metadata)
    return buffer.getvalue()


def _lay_out(figure: "Figure") -> None:
    """Place the axes once: to save a figure that lays itself out would draw it twice."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)


def _own_ids(tag: str, name: str, used: set[str]) -> str:
    """Prefix the ids that something refers to, drop the others; text between tags is never touched."""
    tag = _ID.sub(lambda m: f'id="{name}-{m[1]}"' if m[1] in used else "", tag)
    return _REFERENCE.sub(lambda m: m.group().replace("#", f"#{name}-"), tag)
