"""The page of an analysis, made again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from ensemblage import Ensemble, report
from ensemblage.cli._folder import (
    REPORT,
    check_free,
    check_suffix,
    check_summary_unchanged,
    open_finished_folder,
    read_finished_summary,
)
from ensemblage.cli._pages import PageWishes
from ensemblage.cli._profile import profile_of_table
from ensemblage.cli._progress import tell, tell_notes
from ensemblage.cli._source import Source
from ensemblage.io import Table, read_table
from ensemblage.io._column import as_labels
from ensemblage.io._features import Members
from ensemblage.metrics._certainty import certainty_of
from ensemblage.report._object_table import remove_objects


class LabelModel(NamedTuple):
    """A clustering of unknown origin, as the report wants it."""

    labels_: NDArray[np.int64]
    confidence_: NDArray[np.float64]
    runner_up_: NDArray[np.int32]
    cohesion_: NDArray[np.float64]


def make_report(
    source: Path,
    labels: Path | None,
    output: Path | None,
    *,
    features: Path | None = None,
    honest_markers: bool = False,
    **settings: Any,
) -> None:
    """Do what ``ensemblage report`` does."""
    wishes, objects, overwrite = PageWishes.of(settings), not settings.pop("no_objects"), settings.pop("overwrite")
    if source.is_dir():
        asked = (("--labels", labels), ("--features", features), ("--honest-markers", honest_markers or None))
        for name, given in asked:
            if given is not None:
                raise ValueError(
                    f"{name} must go with the file of an ensemble. Got the folder {source}. Leave the option out."
                )
        page = _report_folder(source, output, objects, wishes)
        click.echo(page)
        wishes.show(page)
        return
    if labels is None or output is None:
        raise ValueError(
            "A report must have a finished folder, or the file of an ensemble with --labels FILE and -o PAGE.html. "
            f"Got {source}. Add what is missing."
        )
    if honest_markers and features is None:
        raise ValueError(
            "--honest-markers must go with --features FILE, the variables that are tested. Got none. Add the file."
        )
    _check_page(output, overwrite)
    summary = _summarize_labels(Source.of(source, settings, "missing"), labels, features, honest_markers)
    summary = summary if objects else remove_objects(summary)
    wishes.save(summary, output.parent)
    click.echo(report.build(summary, path=output))
    wishes.show(output)


def _report_folder(path: Path, output: Path | None, objects: bool, wishes: PageWishes) -> Path:
    def drawn(summary: Mapping[str, Any], page: Path, beside: Path) -> Path:
        shown = summary if objects else remove_objects(summary)
        wishes.save(shown, beside)
        return report.build(shown, path=page)

    if output is not None:
        _check_page(output, wishes.overwrite)
        summary = read_finished_summary(path)
        with check_summary_unchanged(path):
            return drawn(summary, output, output.parent)
    with open_finished_folder(path, wishes.overwrite) as folder, check_summary_unchanged(path):
        folder.put(REPORT, lambda page: drawn(folder.summary, page, path))
    return path / REPORT


def _check_page(path: Path, overwrite: bool) -> None:
    check_suffix(path, ".html")
    check_free(path, overwrite)


def _summarize_labels(source: Source, labels: Path, features: Path | None, honest: bool) -> dict[str, Any]:
    members = source.members(source.read())
    tell_notes(source.path.name, members.notes)
    clusters = _clusters(labels, members)
    found = certainty_of(members.ensemble, clusters, np.ones(members.ensemble.shape[1]))
    given = LabelModel(clusters, found.confidence, found.runner_up, found.cohesion)
    profile = None if features is None else profile_of_table(features, members, source, given, honest)
    if profile is not None and profile.honest is not None:
        tell(profile.honest.sentence)
    return report.summarize(
        members.ensemble,
        given,
        profile=profile,
        ids=members.ids,
        truth=members.truth,
        settings={"ensemble": source.path.name, "labels": labels.name},
        title=f"Consensus clustering of {source.path.name}",
    )


def _clusters(path: Path, members: Members) -> NDArray[np.int64]:
    """The column "cluster" of a table of labels, in the order of the members, numbered by decreasing size."""
    table = read_table(path)
    if "cluster" not in table.names:
        raise ValueError(f"{path.name} must have a column named cluster. Its columns are {', '.join(table.names[:8])}.")
    column = table["cluster"]
    labels = as_labels(column) if column.numbers is None else column.numbers
    coded = Ensemble.from_partitions([labels[_rows(table, members)]])
    codes = coded.codes[:, 0].astype(np.int64)
    sizes = np.bincount(codes, minlength=coded.n_clusters[0] + 1)[:-1]
    number = np.empty(len(sizes) + 1, dtype=np.int64)
    number[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    number[-1] = -1
    numbers: NDArray[np.int64] = number[codes]
    return numbers


def _rows(table: Table, members: Members) -> NDArray[np.intp]:
    """The row of each member's object: found by its id where both files have ids."""
    rows = np.arange(len(table))
    if "id" in table.names and members.id_column is not None:
        row_of = {name: row for row, name in enumerate(table["id"].cells())}
        rows = np.array([row_of.get(name, -1) for name in members.ids])
    if len(table) != len(members.ids) or rows.min() < 0:
        raise ValueError(
            f"{table.source} must have one row for each of the {len(members.ids)} objects of the ensemble. "
            f"Got {len(table)} rows, or other ids. Give labels of the same objects."
        )
    return rows
