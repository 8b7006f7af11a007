"""The made documents of docs/ as pages, and tables made from the registries, where a page asks for them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

from gallery import cards_grid
from sphinx.application import Sphinx

DOCS = Path(__file__).parents[2]
BLOB = "https://github.com/ensemblage/ensemblage/blob/main/"
PAGES = {
    "BENCHMARKS.md": "evidence/benchmarks",
    "CONFIDENCE.md": "evidence/confidence",
    "DEFAULT.md": "evidence/default",
    "LEADERBOARD.md": "evidence/leaderboard",
    "RELIABILITY.md": "evidence/reliability",
    "REPRODUCTION.md": "evidence/reproduction",
    "SCALE.md": "howto/disk",
    "SINGLE_CELLS.md": "tutorials/single_cells",
    "SPLITS.md": "evidence/splits",
    "TABLES.md": "howto/tables",
    "voting.md": "evidence/voting",
    "site/evidence/board.md": "evidence/board",
    "site/howto/submit_method.md": "howto/submit_method",
    "../CHANGELOG.md": "changelog",
}
"""The page that shows a document."""


def include(app: Sphinx, page: str, content: list[str]) -> None:
    """Replace ``<!-- document: NAME -->``, ``<!-- table: NAME -->`` and ``<!-- methods of this page -->`` in a page.

    It is read anew when the documents change.
    """
    for name in re.findall(r"^<!-- document: (\S+) -->$", content[0], flags=re.MULTILINE):
        app.env.note_dependency(str(DOCS / name))
    if "<!-- table: " in content[0]:
        for name in ("LEADERBOARD.md", "REPRODUCTION.md"):
            app.env.note_dependency(str(DOCS / name))
    text = re.sub(r"^<!-- document: (\S+) -->$", lambda m: document(m[1], page), content[0], flags=re.MULTILINE)
    text = re.sub(r"^<!-- methods of this page -->$", lambda _: theory_table(page), text, flags=re.MULTILINE)
    content[0] = re.sub(r"^<!-- table: (\S+) -->$", lambda m: TABLES[m[1]](), text, flags=re.MULTILINE)


def document(name: str, page: str) -> str:
    """The text of a document, its links led to the site's pages or to the repository, its pictures to its folder."""
    text = (DOCS / name).read_text(encoding="utf-8")
    here = posixpath.dirname(name)

    def link(match: re.Match[str]) -> str:
        picture, shown, target, anchor = match[1], match[2], match[3], match[4] or ""
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = posixpath.normpath(posixpath.join(here, target))
        start = posixpath.dirname(page) or "."
        if picture:
            return f"![{shown}]({posixpath.relpath('../' + path, start)})"
        if path in PAGES:
            return f"[{shown}]({posixpath.relpath(PAGES[path], start)}.md{anchor})"
        return f"[{shown}]({BLOB}{posixpath.normpath(posixpath.join('docs', path))}{anchor})"

    return re.sub(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)", link, text)


def board(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading of the leaderboard, the head first."""
    text = (DOCS / "LEADERBOARD.md").read_text(encoding="utf-8").split(f"{heading}\n", 1)[1]
    lines = list(
        takewhile(lambda line: line.startswith("|"), dropwhile(lambda line: line[:1] != "|", text.splitlines()))
    )
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [cells[0], *cells[2:]]


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def names_of(name: str) -> str:
    """A method's name, and its other names."""
    from ensemblage import METHODS

    return ", ".join(f"`{one}`" for one in (name, *METHODS[name].aliases))


def class_of(method: Any) -> str:
    """A link to the class of a method."""
    return f"{{py:obj}}`~ensemblage.{method.estimator.__name__}`"


def capabilities_table() -> str:
    """A row per method: which weights, labels and pairs it takes, and what it does beside `fit`."""
    from ensemblage import METHODS
    from ensemblage.consensus._capabilities import Capabilities

    every = Capabilities(*(field.name != "in_memory" for field in fields(Capabilities))).words
    has = {name: method.capabilities.words for name, method in METHODS.items()}
    rows = [[names_of(name), *("✓" if word in words else "" for word in every)] for name, words in has.items()]
    return markdown(["", *every], rows)


def methods_table() -> str:
    """A row per method: when, what was measured, what it costs."""
    from ensemblage import METHODS

    told = {row[0]: row[1] for row in board("## With k given")}
    seconds = {row[0]: row[3] for row in board("## Stability, time and memory")}
    rows = []
    for name, method in METHODS.items():
        measured = [told.get(f"{name} on {pool}", "–").removeprefix("0") for pool in ("random-k", "diverse")]
        cost = seconds.get(f"{name} on random-k", "–")
        finds = method.finds_k or "no"
        rows.append([names_of(name), method.when, *measured, cost, method.complexity, finds, class_of(method)])
    head = ["name", "when", "50 k-means", "diverse", "CPU s", "time", "finds k", "class"]
    return markdown(head, rows)


def shapes_table() -> str:
    """Mean ARI by the shape of the classes, of the first entries of the leaderboard and the plain clusterers."""
    head, *rows = board("By shape:")
    plain = ("spectral", "mixture", "genie", "ward", "k-means", "average")
    first = [row for row in rows if row[0] not in plain][:8]
    return markdown(["", *head[1:]], [*first, *(row for row in rows if row[0] in plain)])


def rankers_table() -> str:
    """What the first of each ranking is worth."""
    _, *rows = board("### Rankers as selectors")
    wanted = ("aari", "anmi", "discotec", "discotec-tv", "silhouette")
    head = ["ranker", "partitions", "adjusted Rand index of its first", "below the best member"]
    return markdown(head, [[*row[:3], row[4]] for row in rows if row[0] in wanted])


def commands_table() -> str:
    """Every command with its help and its options, from the program itself."""
    import click

    from ensemblage.cli import main
    from ensemblage.cli._commands import LabCommand

    parts = []
    for name, listed in main.commands.items():
        command = listed.imported() if isinstance(listed, LabCommand) else listed
        context = click.Context(command, info_name=f"ensemblage {name}")
        parts.append(f"## {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def papers_table() -> str:
    """A row per method: its paper, memory."""
    from ensemblage import METHODS

    lines = ["| name | paper | memory |", "|---|---|---|"]
    for name, method in METHODS.items():
        papers = "; ".join((method.paper, *(alias.paper for alias in method.aliases.values())))
        lines.append(f"| {names_of(name)} | {papers} | {method.memory} |")
    return "\n".join(lines) + "\n"


def theory_table(page: str) -> str:
    """A row per method that a page of the theory explains: what it is, when, what it costs."""
    from ensemblage import METHODS

    rows = [
        [names_of(name), method.paper, method.when, method.complexity, class_of(method)]
        for name, method in METHODS.items()
        if f"theory/{method.theory}" == page
    ]
    return markdown(["name", "paper", "when", "time", "class"], rows)


def verdict_table() -> str:
    """The summary of the reproduction."""
    text = (DOCS / "REPRODUCTION.md").read_text(encoding="utf-8")
    return text.split("## Summary\n\n")[1].split("\n\n")[0] + "\n"


TABLES = {
    "methods": methods_table,
    "capabilities": capabilities_table,
    "papers": papers_table,
    "verdict": verdict_table,
    "shapes": shapes_table,
    "rankers": rankers_table,
    "commands": commands_table,
    "gallery": cards_grid,
}


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", include)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
