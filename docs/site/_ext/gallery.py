"""The cards of the gallery: one for every cell of its pages that draws a figure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

GALLERY = Path(__file__).parents[1] / "gallery"
PAGES = {"objects": "Objects and clusters", "number": "The number of clusters"} | {
    "hierarchies": "Hierarchies, thresholds, splits",
    "members": "Members, stability, variables",
}
NO_FIGURE = {"cluster_colors"}


class Card(NamedTuple):
    """A figure of the gallery."""

    name: str
    """That of its picture in `_static/gallery`."""
    title: str
    anchor: str
    """Of the heading above its cell."""
    cell: str
    """Its code."""


def cards(text: str) -> list[Card]:
    """The cards of a page, in order; a cell below a heading draws a figure if it calls one."""
    found: list[Card] = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading = section.partition("\n")[0].strip()
        anchor = re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")
        for cell in re.findall(r"```\{code-cell\} python\n(.*?)```", section, flags=re.DOTALL):
            drawn = re.findall(r"plotting\.(\w+)\(|\.plot\(", cell)
            if not drawn or NO_FIGURE & set(drawn):
                continue
            title = drawn[-1] if drawn[-1] and drawn[-1] in heading else heading
            kind = re.search(r'kind="(\w+)"', cell)
            title = f"{title}, {kind[1]}" if kind else title
            found.append(Card(re.sub(r"\W+", "-", title.lower()), title, anchor, cell))
    return found


def cards_grid() -> str:
    """The cards of all pages, in grids with the titles of the pages."""
    lines = []
    for page, title in PAGES.items():
        lines += [f"## {title}", "", "::::{grid} 2 2 3 4", ":gutter: 3", ""]
        for card in cards((GALLERY / f"{page}.md").read_text(encoding="utf-8")):
            options = [f":link: {page}.html#{card.anchor}", f":img-top: ../_static/gallery/{card.name}.png"]
            shown = card.title.replace("_", "_\u200b")  # where a long name may break
            lines += [f":::{{grid-item-card}} {shown}", *options, f":img-alt: figure of {card.title}"]
            lines += [":class-card: gallery-card", ":text-align: center", ":::", ""]
        lines += ["::::", ""]
    return "\n".join(lines)
