"""A page as one file that loads nothing: sections in, HTML out, with a policy that forbids the network."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from markupsafe import Markup

from ensemblage._version import __version__
from ensemblage.report._layout import Section

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
        _inline(templates.get_template(name).render().strip() + f"\n{own}")
        for name, own in zip(("style.css", "script.js"), more, strict=True)
    )
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


def _inline(text: str) -> Markup:
    """What stands between the tags of a style or a script: a line at each end, as the policy's digest has it."""
    return Markup(f"\n{text.strip()}\n")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def script_json(values: Mapping[str, Any]) -> Markup:
    """JSON that can stand inside a script element: no text in it can end the element or begin a comment."""
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
