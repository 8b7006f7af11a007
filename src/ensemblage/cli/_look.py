"""What ``run`` would do with each column of a table, before anything is clustered, and the command that follows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Option
from ensemblage.cli._answer import alert_lines, show_lines, show_table, spelled_alerts
from ensemblage.cli._errors import ARGUMENTS
from ensemblage.cli._options import option_text, shell_text
from ensemblage.cli._source import FEATURE_OPTIONS, CellFile, InputFile
from ensemblage.io._alerts import CONSTANTS, GENES
from ensemblage.io._encoding import KNOWN_CLASSES
from ensemblage.io._features import Features
from ensemblage.io._missing import codes_in
from ensemblage.io._roles import name_columns
from ensemblage.io._table import Table
from ensemblage.report._layout import percent, plural

MOST_COLUMNS = 200
"""In the list: the first."""
MOST_NAMED = 5
DOMINATES = 0.5
"""Share of the variance of all numbers from which one column dominates."""
SKEWED, LESS_SKEWED = 2.0, 0.5
"""Skewness from which a column has a long tail, and the part of it that may be left where a logarithm helps."""


def look_at_table(path: Path, **settings: Any) -> None:
    """Do what ``ensemblage look`` does."""
    source = InputFile.of(path, settings, *FEATURE_OPTIONS)
    if isinstance(source, CellFile):
        raise ValueError(
            f"look must get a table. Got {path.name}. ensemblage run --help describes how such files are read."
        )
    content = source.read()
    table = source.table(content)
    name_columns(source.features_table(content), **source.roles(), guess_id=True)  # refuses names that are none
    features, refused = None, None
    try:
        features = source.features(content)
    except ValueError as error:  # what run would refuse, with its way out
        refused = error
        features = _with_gaps_filled(source, content)
    lines = [("objects", f"{len(table):,}"), ("columns", f"{len(table.names):,}")]
    if features is not None:
        lines = [*alert_lines(spelled_alerts(alert.as_dict() for alert in features.alerts)), *lines]
        _show_columns(features)
        lines += [("features", f"{features.X.shape[1]:,} from {plural(features.n_columns, 'column')}")]
        lines += [("then" if refused else "done", note) for note in map(str, features.notes)]
    numbers = _numbers(table, features)
    lines += [("dominates", text) for text in _dominating(numbers)]
    lines += [("logarithm", text) for text in _long_tails(numbers)]
    lines += [] if refused is None else [("refused", shell_text(refused))]
    if features is not None:  # else no command of ours follows: what is refused says what to do
        lines += [("next", _command(path, source, content, features, numbers, refused))]
    show_lines(lines)


def _with_gaps_filled(source: InputFile, content: bytes) -> Features | None:
    """The features, with gaps filled if gaps alone prevent them: as `run` would not, so that nothing is said of it."""
    try:
        features = replace(source, options={**source.options, "impute": "median"}).features(content)
    except ValueError:
        return None
    return replace(features, alerts=tuple(alert for alert in features.alerts if alert.what != CONSTANTS))


def _show_columns(features: Features) -> None:
    """A line for each column: what it is, what is done with it, and why."""
    rows = [[use.column, use.role, use.use, use.reason] for use in features.columns[:MOST_COLUMNS]]
    show_table(["column", "role", "what is done", "why this role"], rows)
    if (left := len(features.columns) - MOST_COLUMNS) > 0:
        click.echo(f"... and {left:,} more")
    click.echo()


def _numbers(table: Table, features: Features | None) -> dict[str, NDArray[np.float64]]:
    """By name the values of the columns that are clustered as numbers, NaN where they are missing."""
    if features is None or features.encoding is None:
        return {}
    names = [column.name for column in features.encoding.columns if column.kind == "number"]
    found = {name: table[name].numbers for name in names}
    return {name: values for name, values in found.items() if values is not None}


def _dominating(numbers: dict[str, NDArray[np.float64]]) -> Iterator[str]:
    """The column that would outweigh the others in its own unit."""
    if len(numbers) < 2:
        return
    spread = {name: float(np.nanvar(values)) for name, values in numbers.items()}
    total, largest = sum(spread.values()), max(spread, key=lambda name: spread[name])
    if total > 0 and spread[largest] > DOMINATES * total:
        yield (
            f"{largest!r} has {percent(spread[largest] / total)} of the variance of all numbers in their own units, "
            "which counts with --no-standardize"
        )


def _skewness(values: NDArray[np.float64]) -> float:
    centred = values - values.mean()
    deviation = values.std()
    return float((centred**3).mean() / deviation**3) if deviation > 0 else 0.0


def _long_tails(numbers: dict[str, NDArray[np.float64]]) -> Iterator[str]:
    """Columns without negative values whose long tail a logarithm takes away."""
    found = []
    for name, values in numbers.items():
        known = values[np.isfinite(values)]
        if len(known) > 2 and known.min() >= 0:
            skewed = _skewness(known)
            if skewed > SKEWED and abs(_skewness(np.log1p(known))) < LESS_SKEWED * skewed:
                found.append(name)
    if found:
        yield f"would draw in the long {'tail' if len(found) == 1 else 'tails'} of {_some(found)}: the default tries it"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _command(
    path: Path,
    source: InputFile,
    content: bytes,
    features: Features,
    numbers: dict[str, NDArray[np.float64]],
    refused: ValueError | None,
) -> str:
    """The command that follows: what was typed, what was found, and what it would be refused without."""
    context = click.get_current_context(silent=True)
    typed = list(context.meta.get(ARGUMENTS, ())) if context is not None else []
    words = ["ensemblage", "run", *(typed or [str(path)])]
    if source.truth_column is None:
        classes = [use.column for use in features.columns if use.use.endswith(KNOWN_CLASSES)]
        words += ["--truth-column", *classes[:1]] if classes else []
    codes = codes_in(numbers.items())
    if codes and not source.missing_codes:
        given = [f"{code:.15g}" for code in codes]
        words += shlex.split(option_text(Option("missing", given)))
        try:
            refused = None
            replace(source, reading={**source.reading, "missing_codes": given}).features(content)
        except ValueError as error:
            refused = error
    if any(alert.what == GENES for alert in features.alerts):
        words += ["--transpose"]
    pieces = getattr(refused.args[0], "pieces", ()) if refused is not None and refused.args else ()
    rule = next((piece for piece in pieces if isinstance(piece, Option) and piece.name == "impute"), None)
    if rule is not None and source.options.get("impute") is None:
        words += shlex.split(option_text(rule))
    return shlex.join([*words, "-o", "out"])
