"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def inline(self, node: nodes.math) -> None:
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def block(self, node: nodes.math_block) -> None:
    environment = "{aligned}" if "\\\\" in node.astext() and "\\begin" not in node.astext() else ""
    text = f"\\begin{environment}{node.astext()}\\end{environment}" if environment else node.astext()
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(tex2mathml(text, as_block=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    app.connect("config-inited", lambda _, config: config.__setattr__("html_math_renderer", "mathml"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
