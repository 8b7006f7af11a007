"""The three calls of packages above: a model's page, a record's figure, an ensemble's picture in a notebook.

Imports point downward. What is below shows itself by these, as `DataFrame.plot` of pandas does; each imports what it
calls when it is called.
"""

from typing import Any


def page(model: Any, X: Any, **details: Any) -> Any:
    """The `report.Report` of a fitted model and its data; ``details`` as of `report.summarize`."""
    from ensemblage.report._build import report_of

    return report_of(model, X, **details)


def figure(name: str, *numbers: Any, **options: Any) -> Any:
    """What the function of this name in `ensemblage.plotting` draws, or the panels of a profile: its axes."""
    from ensemblage import plotting
    from ensemblage.plotting._profiles import variable_panels

    draw = variable_panels if name == "variable_panels" else getattr(plotting, name)
    return draw(*numbers, **options)


def ensemble_html(ensemble: Any) -> str:
    """An ensemble in a notebook: its partitions, and a picture of their agreement."""
    from ensemblage.plotting import _html

    return _html.ensemble_html(ensemble)
