"""What a page of `report.render` says, read back from its HTML: sections with their sentences, figures and tables."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "link", "img", "input"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}


class Element:
    """An element of the page, with its elements and texts in their order."""

    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.children = tag, dict(attributes), []

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children).strip()

    @property
    def elements(self):
        return [child for child in self.children if not isinstance(child, str)]


class Tree(HTMLParser):
    """The elements of a page."""

    def __init__(self, html):
        super().__init__()
        self.root = Element("document", [])
        self.open = [self.root]
        self.feed(html)
        assert self.open == [self.root]

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(self.open[-1].elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Element(tag, attrs))

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].children.append(data)


@dataclass
class Section:
    """A section of the page, or a figure or a table of one."""

    title: str
    sentences: list = field(default_factory=list)
    more: list = field(default_factory=list)
    """Sentences that are folded away."""
    pictures: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    """Texts of the cells of a table, those that are folded away too."""
    copied: list = field(default_factory=list)
    """Texts to take along."""
    parts: list = field(default_factory=list)

    def walk(self):
        yield self
        for part in self.parts:
            yield from part.walk()


def title_of(element):
    return next((child.text for child in element.elements if child.tag in HEADINGS), "")


def folded(element):
    return [p.text for part in element.elements if part.tag == "details" for p in part.elements if p.tag == "p"]


def picture_of(figure):
    caption = next(all_inside(figure, "figcaption"))
    return Section(title_of(figure), [p.text for p in caption.elements if p.tag == "p"], folded(caption))


def table_of(element):
    rows = [[cell.text for cell in row.elements] for body in all_inside(element, "tbody") for row in body.elements]
    notes = [p.text for p in element.elements if p.tag == "p"]
    return Section(title_of(element), notes, rows=rows)


def all_inside(element, tag):
    for child in element.elements:
        if child.tag == tag:
            yield child
        yield from all_inside(child, tag)


def section_of(element):
    grids = [child for child in element.elements if child.attributes.get("class") == "grid"]
    blocks = [block for grid in grids for block in grid.elements]
    by_class = lambda name: [child for child in element.elements if child.attributes.get("class") == name]  # noqa: E731
    return Section(
        title_of(element),
        [child.text for child in element.elements if child.tag == "p"],
        folded(element),
        [picture_of(block) for block in blocks if block.tag == "figure"],
        [table_of(block) for block in blocks if block.tag == "div"],
        copied=[
            next(child for tag in ("pre", "p") for child in all_inside(box, tag)).text for box in by_class("copied")
        ],
        parts=[section_of(part) for part in by_class("part")],
    )


def sections_of(html):
    """The sections of a page, with their parts below them."""
    (main,) = all_inside(Tree(html).root, "main")
    return [section_of(child) for child in main.elements if child.tag == "section"]


def find(html, title):
    """The section or part of this title; None if there is none."""
    return next((part for section in sections_of(html) for part in section.walk() if part.title == title), None)


def svgs_of(html, title):
    """What a figure of this title is drawn with."""
    (figure,) = (text for text in re.findall("<figure.*?</figure>", html, re.DOTALL) if f">{title}</h" in text)
    return re.findall("<svg.*?</svg>", figure, re.DOTALL)
