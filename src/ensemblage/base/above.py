"""The three calls of packages above: a model's page, a record's figure, an ensemble's picture in a notebook.

Imports point downward. What is below shows itself by these, as `DataFrame.plot` of pandas does; each imports what it
calls when it is called.
"""

from typing import Any


def page(model: Any, X: Any, **details: Any) -> Any:
    """The `report.Report` of a fitted model and its data; ``details`` as of `report.summarize`."""
    from ensemblage.report._build import report_of

    return report_of(model, X, **details)


def figure(shown: Any, kind: str | None = None, *, ax: Any = None, **data: Any) -> Any:
    """The axes of a record's picture, or of that of a fitted model and its ``X``; ``kind`` where it has several."""
    from ensemblage.plotting._records import draw

    return draw(shown, kind, ax, **data)


def ensemble_html(ensemble: Any) -> str:
    """An ensemble in a notebook: its partitions, and a picture of their agreement."""
    from ensemblage.plotting import _html

    return _html.ensemble_html(ensemble)
