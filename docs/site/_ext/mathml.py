"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

LOGGER = getLogger(__name__)


def mathml(node: nodes.Element, as_block: bool) -> str:
    """The formula of a node; one that cannot be read is a warning, and stands as it was written."""
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        LOGGER.warning("formula: %s", error, location=node)
        return f"<code>{nodes.unescape(node.astext())}</code>"


def inline(self, node: nodes.math) -> None:
    self.body.append(mathml(node, False))
    raise nodes.SkipNode


def block(self, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(mathml(node, True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    app.connect("config-inited", lambda _, config: config.__setattr__("html_math_renderer", "mathml"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
