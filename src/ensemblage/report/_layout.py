"""What a page is made of: sections of sentences, figures and tables, free of HTML."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from ensemblage.answer._chooser import candidate_named, candidate_text
from ensemblage.plotting import PALETTE
from ensemblage.plotting._axes import UNLABELLED_COLOR, printable


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


def is_full(certainty: float | None) -> bool:
    """Whether a certainty is written as 1.00: no other cluster is worth naming."""
    return number(certainty, 2) == "1.00"


def plural(n: int, noun: str) -> str:
    """The noun with its number: 1 object, 2,000 objects."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def member_text(name: Any) -> str:
    """A partition in a sentence: in words where its name is a code of ours, else its name in quotes."""
    candidate = candidate_named(name)
    return f"“{printable(name, 60)}”" if candidate is None else candidate_text(candidate)
