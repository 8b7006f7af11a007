"""Figures of records: `ensemblage.plotting`, which stands above the rooms that have records, loaded when one is drawn.

Like the facade of `_ensemble.py`, an import that points back.
"""

from __future__ import annotations

from typing import Any


def figure(name: str, *numbers: Any, **options: Any) -> Any:
    """What the function of `ensemblage.plotting` of this name draws."""
    from ensemblage import plotting

    return getattr(plotting, name)(*numbers, **options)
