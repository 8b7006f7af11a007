"""A page as an object: it shows itself in a notebook, and is saved where one wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ensemblage.base.sklearn import transform_named
from ensemblage.base.text import write_text
from ensemblage.base.validation import check_path
from ensemblage.labels.ensemble import as_any_ensemble
from ensemblage.profiles import profile
from ensemblage.ranking import AverageAgreement, Discotec
from ensemblage.report._answer import headline
from ensemblage.report._build import render
from ensemblage.report._profile import MOST_CELLS
from ensemblage.report._summary import summarize

HEIGHT = 720
"""Of the frame in a notebook that reads no style."""
_LIGHT = ('[data-jp-theme-light="true"]', ".vscode-light", '[data-theme="light"]', '[theme="light"]')
_DARK = ('[data-jp-theme-light="false"]', ".vscode-dark", '[data-theme="dark"]', '[theme="dark"]')
"""What JupyterLab, VS Code, the pages of documentation and Colab say of their colours."""


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The page of a fitted model; ``model.report(X)`` makes it."""

    summary: Mapping[str, Any]
    """All its numbers, as `summarize` returns them."""

    @cached_property
    def html(self) -> str:
        """The whole page, in which nothing is loaded from elsewhere."""
        return render(self.summary)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page. The file is written under another name first and then renamed; one of that name is replaced.

        Parameters
        ----------
        path : path
            Of the file.

        Returns
        -------
        pathlib.Path
            The file that was written.
        """
        file = check_path(path, "path")
        write_text(file, self.html)
        return file

    def _repr_html_(self) -> str:
        """A frame as high as there is room, at most 1,100 pixels, that scrolls; light or dark as the notebook is.

        No widget and no script of the notebook is needed: browsers hand the colour scheme of a frame on to its page.
        """
        size = "width:100%;height:min(85vh,1100px);min-height:480px;resize:vertical;border:1px solid #8c959f"
        frame = f'class="ensemblage-page" sandbox="allow-scripts allow-downloads" loading="lazy" style="{size}"'
        schemes = (("light", _LIGHT), ("dark", _DARK))
        style = "".join(f":is({','.join(of)}) .ensemblage-page{{color-scheme:{scheme}}}" for scheme, of in schemes)
        title = escape(self.summary["title"])
        page = f'<iframe title="{title}" srcdoc="{escape(self.html)}" height="{HEIGHT}" {frame}></iframe>'
        return f"<style>{style}</style>{page}"

    def __repr__(self) -> str:
        return f"Report({headline(self.summary)}; .save(path) writes the page)"


def rankings_of(ensemble: Any) -> list[Any]:
    """The rankings of its partitions that a page shows."""
    # Of fewer than three members there is no consensus to measure them by.
    return [ranker.fit(ensemble) for ranker in [Discotec(random_state=0), AverageAgreement()][ensemble.shape[1] < 3 :]]


def report_of(model: Any, X: Any = None, **details: Any) -> Report:
    """The page of a fitted model; see `Model.report`."""
    found: dict[str, Any] = {}
    if hasattr(model, "ensemble_"):
        ensemble = model.ensemble_
        preprocessor = getattr(model, "preprocessor_", None)
        if X is not None:
            found["features"] = X if preprocessor is None else transform_named(preprocessor, X)
        found["column_uses"] = getattr(preprocessor, "columns_", [])
        found["k_choice"] = getattr(model, "choice_", None)
        found["ranking"] = details.get("ranking") or rankings_of(ensemble)
    elif X is None:
        raise ValueError(
            f"X of report must be the label matrix that {type(model).__name__} was fitted to. Got none. Give it."
        )
    else:
        ensemble = as_any_ensemble(X)
    ids = model._ids(X)
    found |= {} if ids is None else {"ids": ids}
    is_described = X is not None and getattr(model, "preprocessor_", None) is not None
    if is_described and "profile" not in details and np.prod(np.shape(found["features"]), dtype=float) <= MOST_CELLS:
        found["profile"] = profile(model, X, ids={**found, **details}.get("ids"))  # the columns as they were given
    return Report(summarize(ensemble, model, **{**found, **details}))
