"""What a page is made of, free of HTML: sections of sentences, figures and tables; and the page as one file.

Figures are SVG: the same bytes for the same numbers, no ids that clash. The file loads nothing, and its policy forbids
the network.
"""

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from markupsafe import Markup

from ensemblage._version import __version__
from ensemblage.choices._chooser import candidate_named, candidate_text
from ensemblage.plotting._axes import NO_METADATA, PALETTE, UNLABELLED_COLOR, figure_style, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ClusterCell:
    """A table cell that names a cluster beside its colour."""

    text: str
    color: str


@dataclass(frozen=True)
class BarCell:
    """A table cell with a number, and a bar as long as its share."""

    text: str
    color: str
    share: float


Cell = str | ClusterCell | BarCell


@dataclass
class Picture:
    """A figure, a word on what it shows, and what it says of these data."""

    title: str
    svg: Markup
    sentences: Sequence[str]
    wide: bool = False
    """Whether it takes the whole width of the page."""
    more: Sequence[str] = ()
    """How it is read, and what else is to say: folded away."""
    name: str = ""
    """What the script knows it by."""
    figures: Mapping[str, Any] = field(default_factory=dict)
    """What was drawn, by the names of their files in other formats; or a function that draws it for one."""

    @property
    def scrolls(self) -> bool:
        """Whether it has a least width: on a narrow screen it is scrolled, by the keyboard too."""
        return "min-width" in self.svg[: self.svg.find(">")]


def hand_drawn(
    title: str,
    svg: Markup,
    name: str,
    draw: Callable[[], Any],
    *sentences: str,
    more: Sequence[str] = (),
    wide: bool = False,
) -> Picture:
    """A picture that needs no drawing library; ``draw`` gives the ax of its figure for files in other formats."""
    return Picture(title, svg, sentences, wide=wide, more=more, name=name, figures={name: lambda: draw().figure})


@dataclass
class Table:
    """Rows of cells; those after ``shown`` are folded away."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    shown: int = 20
    text: Sequence[int] = (0,)
    """The columns that are text; the others are numbers."""
    wide: bool = False
    """Whether it takes the whole width of the page."""
    name: str = ""
    """What the script knows it by, if it is to put a table of all objects in its place."""


def text_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, shown: int = 20) -> Table:
    """A table of text, as wide as the page."""
    width = len(columns) or max(map(len, rows), default=0)
    return Table(title, columns, rows, shown=shown, text=tuple(range(width)), wide=True)


@dataclass(frozen=True)
class CopyText:
    """A text that readers take with them."""

    title: str
    text: str
    is_code: bool = True
    is_folded: bool = False


@dataclass
class Section:
    """One part of the page."""

    title: str
    sentences: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    parts: Sequence["Section"] = ()
    """Sections of a section, below what it says itself."""
    terms: Sequence[tuple[str, str]] = ()
    """Words of the field with what they mean: folded away."""
    more: Sequence[str] = ()
    """Sentences that are folded away."""
    copied: Sequence[CopyText] = ()
    """Texts that are to be taken along as they are."""
    name: str = ""
    """The anchor of the section; one that has it is in the table of contents."""


def pictures_of(section: Section) -> Iterator[Picture]:
    """The pictures of a section and of its parts."""
    yield from section.pictures
    for part in section.parts:
        yield from pictures_of(part)


def cluster_cell(cluster: int) -> ClusterCell:
    """The number of a cluster with its colour."""
    if cluster < 0:
        return ClusterCell("unlabelled", UNLABELLED_COLOR)
    return ClusterCell(str(cluster), PALETTE[cluster % len(PALETTE)])


def percent(share: float | None) -> str:
    """A share as people write it; 0% and 100% only where it is exact."""
    if share is None:
        return "–"
    if 0 < share < 0.01:
        return "<1%"
    if 0.99 < share < 1:
        return ">99%"
    return f"{100 * share:.0f}%"


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many decimals, or a dash."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def weight_text(weight: float) -> str:
    """The weight of a partition."""
    return "<0.001" if 0 < weight < 0.0005 else number(weight)


def is_full(confidence: float | None) -> bool:
    """Whether a confidence is written as 1.00: no other cluster is worth naming."""
    return number(confidence, 2) == "1.00"


def plural(n: int, noun: str) -> str:
    """The noun with its number: 1 object, 2,000 objects."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def member_text(name: Any) -> str:
    """A partition in a sentence: in words where its name is a code of ours, else its name in quotes."""
    candidate = candidate_named(name)
    return f"“{printable(name, 60)}”" if candidate is None else candidate_text(candidate)


# -- figures as SVG ----------------------------------------------------------------------------------------------------


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
        engine = figure.get_layout_engine()
        if engine is not None:  # once: to save a figure that lays itself out would draw it twice
            engine.execute(figure)
            figure.set_layout_engine(None)
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


def _own_ids(tag: str, name: str, used: set[str]) -> str:
    """Prefix the ids that something refers to, drop the others; text between tags is never touched."""
    tag = _ID.sub(lambda m: f'id="{name}-{m[1]}"' if m[1] in used else "", tag)
    return _REFERENCE.sub(lambda m: m.group().replace("#", f"#{name}-"), tag)


# -- one file that loads nothing ---------------------------------------------------------------------------------------


POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; style-src-elem 'sha256-{style}'; "
    "style-src-attr 'unsafe-inline'; script-src 'sha256-{script}'; base-uri 'none'; form-action 'none'"
)
"""Nothing is fetched or sent; of styles and scripts only those of the page itself. Figures have style attributes, which
can do nothing of the kind. Browsers that know no ``style-src-elem`` go by ``style-src``."""


def render_page(
    title: str,
    headline: str,
    facts: Sequence[tuple[str, str]],
    sections: Sequence[Section],
    data: Mapping[str, Any] | None = None,
    more: tuple[str, str] = ("", ""),
) -> str:
    """The page, as HTML.

    ``data`` is what the page's script shows of single objects; without it there is nothing to search or to select.
    ``more`` are rules and a script of a page of another kind, which follow those of all pages.
    """
    templates = _templates()
    style, script = (
        f"{templates.get_template(name).render().strip()}\n{own}".strip()
        for name, own in zip(("style.css", "script.js"), more, strict=True)
    )
    # A line at each end of what stands between the tags, as the policy's digest has it.
    style, script = Markup(f"\n{style}\n"), Markup(f"\n{script}\n")
    return str(
        templates.get_template("report.html").render(
            title=title,
            headline=headline,
            facts=facts,
            sections=sections,
            version=__version__,
            style=style,
            script=script,
            policy=POLICY.format(style=_digest(style), script=_digest(script)),
            data=None if data is None else script_json(data),
        )
    )


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(loader=PackageLoader("ensemblage.report"), autoescape=True, undefined=StrictUndefined)


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def script_json(values: Mapping[str, Any]) -> Markup:
    """JSON that can stand inside a script element: no text in it can end the element or begin a comment."""
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
