"""The made documents of docs/ as pages, and tables made from the registries, where a page asks for them."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).parents[2]
BLOB = "https://github.com/ensemblage/ensemblage/blob/main/"
PAGES = {
    "BENCHMARKS.md": "evidence/benchmarks",
    "CERTAINTY.md": "evidence/certainty",
    "DEFAULT.md": "evidence/default",
    "LEADERBOARD.md": "evidence/leaderboard",
    "RELIABILITY.md": "evidence/reliability",
    "REPRODUCTION.md": "evidence/reproduction",
    "SCALE.md": "howto/disk",
    "TABLES.md": "howto/tables",
    "voting.md": "evidence/voting",
    "../CHANGELOG.md": "changelog",
}
"""The page that shows a document."""


def include(app: Sphinx, page: str, content: list[str]) -> None:
    """Replace ``<!-- document: NAME -->`` and ``<!-- table: NAME -->`` in a page."""
    text = re.sub(r"^<!-- document: (\S+) -->$", lambda m: document(m[1], page), content[0], flags=re.MULTILINE)
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


def methods_table() -> str:
    """A row per method: when, what it costs."""
    from ensemblage import METHODS
    from ensemblage.consensus._when import WHEN

    lines = ["| name | class | when | time | number of clusters |", "|---|---|---|---|---|"]
    for name, method in METHODS.items():
        number = f"given, or {method.finds_k}" if method.finds_k else "given"
        link = f"{{py:obj}}`~ensemblage.{method.estimator.__name__}`"
        lines.append(f"| `{name}` | {link} | {WHEN[name]} | {method.complexity} | {number} |")
    return "\n".join(lines) + "\n"


def papers_table() -> str:
    """A row per method: its paper, memory."""
    from ensemblage import METHODS

    lines = ["| name | paper | memory |", "|---|---|---|"]
    lines += [f"| `{name}` | {method.paper} | {method.memory} |" for name, method in METHODS.items()]
    return "\n".join(lines) + "\n"


def verdict_table() -> str:
    """The summary of the reproduction."""
    text = (DOCS / "REPRODUCTION.md").read_text(encoding="utf-8")
    return text.split("## Summary\n\n")[1].split("\n\n")[0] + "\n"


TABLES = {"methods": methods_table, "papers": papers_table, "verdict": verdict_table}


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", include)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
