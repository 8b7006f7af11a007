"""One self-contained HTML file of an analysis; and as an object that shows itself in a notebook."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from errno import EEXIST
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ensemblage.base.atomic import atomic_write
from ensemblage.base.options import Message, Option
from ensemblage.base.sklearn import transform_named
from ensemblage.base.text import write_text
from ensemblage.base.validation import Several, Words, check_path, check_value, format_value
from ensemblage.labels.ensemble import as_any_ensemble
from ensemblage.profiles._profile import profile
from ensemblage.ranking import DISCOTEC, AverageAgreement
from ensemblage.report._answer import facts, headline
from ensemblage.report._diagnostics import upgrade_first_schema
from ensemblage.report._layout import FORMATS, figure_bytes, pictures_of, render_page
from ensemblage.report._object_table import data_of_objects, remove_objects
from ensemblage.report._profile import MOST_CELLS
from ensemblage.report._sections import sections_of
from ensemblage.report._summary import FORMAT, SCHEMA, summarize


def build(
    ensemble: ArrayLike | Any,
    model: Any = None,
    *,
    path: str | PathLike[str] = "report.html",
    json_path: str | PathLike[str] | None = None,
    include_objects: bool = True,
    **details: Any,
) -> Path:
    """Use it to share an analysis: one HTML file with the answer, figures and all numbers, which loads nothing.

    Parameters
    ----------
    ensemble : array-like, data frame or Ensemble of shape (n_objects, n_partitions), or dict
        The label matrix; or what `summarize` returned, as it is or read back from JSON, and nothing else.
    model : fitted estimator
        Its ``labels_`` and ``confidence_`` are shown.
    path : path, default "report.html"
        Where to write. A file of that name is replaced, once the new one is whole.
    json_path : path, optional
        Where to write the numbers of the page as JSON.
    include_objects : bool, default True
        Whether ids and values of single objects may be in the page, and in the JSON.
    **details
        Keyword parameters of `summarize`: ``features``, ``ids``, ``truth``, ``ranking``, ``seconds``, ``settings``,
        ``versions``, ``title``, ``command``, ``k_choice``, ``chosen``, ``cluster_stability``, ``merged``,
        ``column_uses``, ``plan``, ``profile``, ``modes``, ``method_comparison``, ``without_columns``, ``n_refits``,
        ``random_state``.

    Returns
    -------
    pathlib.Path
        The file that was written.

    Raises
    ------
    TypeError, ValueError
        As `summarize`; or if a path is none, or the dict is not one of its summaries.

    Notes
    -----
    The same arguments give the same bytes. The time of `summarize`, which refits nothing unless ``n_refits`` asks for
    it, and a second or two for the figures.

    Examples
    --------
    >>> import tempfile
    >>> from ensemblage import Ensemble, report
    >>> from ensemblage.consensus import KMeansConsensus
    >>> ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [1, 0]])
    >>> consensus = KMeansConsensus(n_clusters=2, random_state=0).fit(ensemble)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report.build(ensemble, consensus, path=f"{folder}/report.html").name
    'report.html'
    """
    for name, value in (("path", path), ("json_path", json_path)):
        if not isinstance(value, str | PathLike) and (name == "path" or value is not None):
            raise TypeError(f"{name} of report.build must be a path. Got {value!r}. Give a name as 'report.html'.")
    if isinstance(ensemble, Mapping):
        if model is not None or details:
            raise TypeError(
                "A summary must be given alone. Got other descriptions of the analysis, too. Leave these out."
            )
        summary: Mapping[str, Any] = ensemble
    elif model is None:
        raise TypeError("model of report.build must be a fitted estimator. Got None. Fit one to the ensemble.")
    else:
        summary = summarize(ensemble, model, **details)
    if not include_objects:
        summary = remove_objects(summary)
    page = render(summary)
    if json_path is not None:
        with atomic_write(json_path, encoding="utf-8", errors="backslashreplace") as file:
            file.write(to_json(summary))
    with atomic_write(path, encoding="utf-8", errors="replace") as file:
        file.write(page)
    return Path(path)


def render(summary: Mapping[str, Any]) -> str:
    """Use it to get the page of a summary as HTML text.

    Parameters
    ----------
    summary : dict
        What `summarize` returned, as it is or read back from JSON.

    Returns
    -------
    str
        A whole document.

    Raises
    ------
    ValueError
        If it is not a summary, or one of another version.

    Examples
    --------
    >>> from ensemblage import Ensemble, report
    >>> from ensemblage.consensus import KMeansConsensus
    >>> ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [1, 0]])
    >>> consensus = KMeansConsensus(n_clusters=2, random_state=0).fit(ensemble)
    >>> report.render(report.summarize(ensemble, consensus))[:15]
    '<!DOCTYPE html>'
    """
    summary = _upgrade_summary(summary)
    sections = sections_of(summary)
    data = data_of_objects(summary, sections)
    return render_page(summary["title"], headline(summary), facts(summary), sections, data)


def save_figures(
    summary: Mapping[str, Any],
    folder: str | PathLike[str],
    formats: Sequence[str] = ("svg",),
    *,
    overwrite: bool = True,
) -> list[Path]:
    """Use it to save each figure of the page of a summary as files.

    Parameters
    ----------
    summary : dict
        What `summarize` returned, as it is or read back from JSON.
    folder : path
        Where to write; it is made if need be. The files are called by what they show: ``points.svg``.
    formats : sequence of str, default ("svg",)
        "svg", "png" or "pdf": one file per figure and format.
    overwrite : bool, default True
        Whether files of other content may be replaced.

    Returns
    -------
    list of pathlib.Path
        The files, in the order of the page.

    Raises
    ------
    ValueError
        If it is not a summary, or a format is none of these.
    FileExistsError
        If there is a file of other content, and ``overwrite`` is False.

    Examples
    --------
    >>> import tempfile
    >>> from ensemblage import Ensemble, report
    >>> from ensemblage.consensus import KMeansConsensus
    >>> ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [1, 0]])
    >>> consensus = KMeansConsensus(n_clusters=2, random_state=0).fit(ensemble)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = report.save_figures(report.summarize(ensemble, consensus), folder, ["png"])
    >>> [file.name for file in files]
    ['confidence.png', 'matrix.png', 'agreement.png']
    """
    check_value(formats, "formats of save_figures", [Several(Words(FORMATS))])
    summary = _upgrade_summary(summary)
    pictures = [picture for section in sections_of(summary) for picture in pictures_of(section)]
    found = {name: figure for picture in pictures for name, figure in picture.figures.items()}
    drawn = {name: figure() if callable(figure) else figure for name, figure in found.items()}
    wanted = list(dict.fromkeys(formats))
    files = {Path(folder) / f"{name}.{of}": figure_bytes(drawn[name], of) for name in drawn for of in wanted}
    for path, content in files.items():
        if not overwrite and path.exists() and path.read_bytes() != content:
            rule = Message("It is another file. Move it away, or add ", Option("overwrite", True))
            raise FileExistsError(EEXIST, rule, str(path))
    Path(folder).mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        with atomic_write(path, "wb") as file:
            file.write(content)
    return list(files)


def _upgrade_summary(summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """A summary of this version's keys."""
    if not isinstance(summary, Mapping):
        raise TypeError(
            f"A summary must be one that report.summarize made. Got {format_value(summary)}. Call report.summarize."
        )
    if summary.get("format") != FORMAT:
        raise ValueError(
            f"A summary must be one that report.summarize made, of format {FORMAT}. Got format "
            f"{summary.get('format')!r}. Call report.summarize of this version."
        )
    if summary.get("schema", 1) > SCHEMA:
        raise ValueError(
            f"A summary must be of a schema that this version knows, at most {SCHEMA}. Got {summary['schema']!r}. "
            "Use the version of ensemblage that made it, or a newer one."
        )
    return upgrade_first_schema(summary) if "evidence" not in summary else summary


def to_json(summary: Mapping[str, Any]) -> str:
    """JSON with one line per top-level entry: compact, and still readable."""
    lines = [
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}" for key, value in summary.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


# -- the page as an object ---------------------------------------------------------------------------------------------


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
    return [ranker.fit(ensemble) for ranker in [DISCOTEC(random_state=0), AverageAgreement()][ensemble.shape[1] < 3 :]]


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
