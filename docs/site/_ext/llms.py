"""`llms.txt`: every page with its first sentence, for readers that are programs."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

SUMMARY = "Consensus clustering: many partitions of the same objects in; what they agree on, and how much, out."


def first_sentence(tree: nodes.document) -> str:
    """The first sentence of a page's first paragraph."""
    paragraph = next(iter(tree.findall(nodes.paragraph)), None)
    text = " ".join(paragraph.astext().split()) if paragraph is not None else ""
    return text.split(". ")[0].rstrip(".:")


def write(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.name not in ("html", "dirhtml"):
        return
    config = app.config
    lines = [f"# {config.project} {config.release}", "", f"> {SUMMARY}", ""]
    for docname in sorted(app.env.found_docs, key=lambda name: (name.startswith("api/"), name)):
        tree = app.env.get_doctree(docname)
        title = app.env.titles[docname].astext()
        lines.append(f"- [{title}]({app.builder.get_target_uri(docname)}): {first_sentence(tree)}")
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
