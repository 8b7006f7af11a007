"""Figures and pages of records: `ensemblage.plotting` and `report`, which stand above the rooms that have records.

They are loaded when something is shown. Like the facade of `_ensemble.py`, an import that points back.
"""

from __future__ import annotations

from typing import Any


def html(name: str, record: Any) -> str:
    """How a record shows itself in a notebook."""
    from ensemblage.plotting import _html

    shown: str = getattr(_html, name)(record)
    return shown


def page(model: Any, X: Any, **details: Any) -> Any:
    """The page of a fitted model."""
    from ensemblage.report._notebook import report_of

    return report_of(model, X, **details)


def figure(name: str, *numbers: Any, **options: Any) -> Any:
    """What the function of `ensemblage.plotting` of this name draws."""
    from ensemblage import plotting

    return getattr(plotting, name)(*numbers, **options)
