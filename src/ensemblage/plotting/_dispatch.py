"""How records below this package show themselves: the function of the name that they give."""

from __future__ import annotations

from typing import Any

from ensemblage import plotting
from ensemblage.plotting import _html


def figure(name: str, *numbers: Any, **options: Any) -> Any:
    """What the public function of this name draws."""
    return getattr(plotting, name)(*numbers, **options)


def html(name: str, record: Any) -> str:
    """What the function of `_html.py` of this name writes: the record in a notebook."""
    shown: str = getattr(_html, name)(record)
    return shown
