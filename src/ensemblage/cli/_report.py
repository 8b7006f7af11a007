"""The page of an analysis: what is wished for beside it, what describes its clusters, and the page made again."""

from __future__ import annotations

import math
import shlex
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from ensemblage import Ensemble, report
from ensemblage.base.text import write_csv
from ensemblage.cli._errors import ARGUMENTS
from ensemblage.cli._folder import (
    REPORT,
    check_free,
    check_suffix,
    check_summary_unchanged,
    open_finished_folder,
    read_finished_summary,
)
from ensemblage.cli._progress import announce, announce_notes
from ensemblage.cli._source import InputFile, rows_of_members
from ensemblage.io._features import Members
from ensemblage.io._read import read_table
from ensemblage.io._roles import assign_roles
from ensemblage.io._table import Table
from ensemblage.metrics._confidence import confidence_of
from ensemblage.pipeline._describe import drop_columns
from ensemblage.profiles._profile import profile
from ensemblage.profiles._record import Profile, VariableRow
from ensemblage.report._object_table import remove_objects
from ensemblage.tables.column import as_labels
from ensemblage.tables.formats import CELLS, format_of


class LabelModel(NamedTuple):
    """A partition of unknown origin, as the report wants it."""

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
    selective_markers: bool = False,
    **settings: Any,
) -> None:
    """Do what ``ensemblage report`` does."""
    options, objects, overwrite = PageOptions.of(settings), not settings.pop("no_objects"), settings.pop("overwrite")
    if source.is_dir():
        asked = (("--labels", labels), ("--features", features), ("--selective-markers", selective_markers or None))
        for name, given in asked:
            if given is not None:
                raise ValueError(
                    f"{name} must go with the file of an ensemble. Got the folder {source}. Leave the option out."
                )
        page = _report_folder(source, output, objects, options)
        click.echo(page)
        options.show(page)
        return
    if labels is None or output is None:
        raise ValueError(
            "A report must have a finished folder, or the file of an ensemble with --labels FILE and -o PAGE.html. "
            f"Got {source}. Add what is missing."
        )
    if selective_markers and features is None:
        raise ValueError(
            "--selective-markers must go with --features FILE, the variables that are tested. Got none. Add the file."
        )
    _check_page(output, overwrite)
    summary = _summarize_labels(InputFile.of(source, settings, "missing"), labels, features, selective_markers)
    summary = summary if objects else remove_objects(summary)
    options.save(summary, output.parent)
    click.echo(report.build(summary, path=output))
    options.show(output)


def _report_folder(path: Path, output: Path | None, objects: bool, options: PageOptions) -> Path:
    def drawn(summary: Mapping[str, Any], page: Path, beside: Path) -> Path:
        shown = summary if objects else remove_objects(summary)
        options.save(shown, beside)
        return report.build(shown, path=page)

    if output is not None:
        _check_page(output, options.overwrite)
        summary = read_finished_summary(path)
        with check_summary_unchanged(path):
            return drawn(summary, output, output.parent)
    with open_finished_folder(path, options.overwrite) as folder, check_summary_unchanged(path):
        folder.put(REPORT, lambda page: drawn(folder.summary, page, path))
    return path / REPORT


def _check_page(path: Path, overwrite: bool) -> None:
    check_suffix(path, ".html")
    check_free(path, overwrite)


def _summarize_labels(source: InputFile, labels: Path, features: Path | None, selective: bool) -> dict[str, Any]:
    members = source.members(source.read())
    announce_notes(source.path.name, members.notes)
    clusters = _clusters(labels, members)
    found = confidence_of(members.ensemble, clusters, np.ones(members.ensemble.shape[1]))
    given = LabelModel(clusters, found.confidence, found.runner_up, found.cohesion)
    profile = None if features is None else profile_of_table(features, members, source, given, selective)
    if profile is not None and profile.selective is not None:
        announce(profile.selective.sentence)
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


FIGURES = "figures"
NOT_REPEATED = frozenset({"output", "overwrite", "open_page", "figures", "n_jobs", "annotate", "scratch", "key_added"})
"""Parameters that change nothing of what is found."""


@dataclass(frozen=True)
class PageOptions:
    """What to do when a page is done."""

    figures: Sequence[str]
    """Formats of files of its figures."""
    opens: bool
    overwrite: bool

    @classmethod
    def of(cls, settings: dict[str, Any]) -> PageOptions:
        """Take them out of the settings of a command."""
        return cls(settings.pop("figures"), settings.pop("open_page"), settings["overwrite"])

    def of_output(self, output: Path, no_objects: bool) -> PageOptions:
        """The same, refused where the output is a file of cells."""
        if format_of(output) is CELLS:
            self.refuse(no_objects, f"-o {output.name} writes none", "name a folder with -o")
        return self

    def refuse(
        self, no_objects: bool, why: str = "Labels on disk get none", advice: str = "combine them in memory"
    ) -> None:
        """Where no page is made, no option of it can be given."""
        given = {"--figures": self.figures, "--open": self.opens, "--no-objects": no_objects}
        if wished := [name for name, value in given.items() if value]:
            raise ValueError(f"{wished[0]} must go with a page. {why}. Leave it out, or {advice}.")

    def save_and_show(self, summary: Mapping[str, Any], folder: Path) -> None:
        """Save the figures of the page of a folder, and open it."""
        self.save(summary, folder)
        self.show(folder / REPORT)

    def save(self, summary: Mapping[str, Any], folder: Path) -> None:
        """Save the figures of a page."""
        if self.figures:
            files = report.save_figures(summary, folder / FIGURES, self.figures, overwrite=self.overwrite)
            announce(f"{folder / FIGURES}: {len(files)} files")

    def show(self, page: Path) -> None:
        """Open the page in the browser."""
        if self.opens and not webbrowser.open(page.resolve().as_uri()):
            announce(f"no browser was found: open {page}")


def repeated_command(inputs: Mapping[str, Path]) -> str | None:
    """The command that is being done, as it was typed but for what does not count; None outside of one.

    ``inputs`` are the files it reads, by parameter, with their folders as they were typed.
    """
    context = click.get_current_context(silent=True)
    arguments = None if context is None else context.meta.get(ARGUMENTS)
    if context is None or arguments is None:
        return None
    given, _, _ = context.command.make_parser(context).parse_args(list(arguments))
    words = ["ensemblage", str(context.info_name)]
    for parameter in context.command.get_params(context):
        name = str(parameter.name)
        if name in inputs:
            words.append(str(inputs[name]))
        elif isinstance(parameter, click.Option) and name in given and name not in NOT_REPEATED:
            values = given[name] if parameter.multiple else [given[name]]
            if parameter.is_flag:
                words.append((parameter.opts if given[name] else parameter.secondary_opts)[0])
            else:
                words += [word for value in values for word in (parameter.opts[0], str(value))]
    return shlex.join([*words, "-o", "out"])


TESTED = ("other", "test", "difference", "p_value", "p_adjusted")
"""What `write_profile` has of a test that holds."""
DESCRIBED = tuple(name for name in VariableRow._fields if name not in TESTED)


def write_profile(path: Path, found: Profile) -> None:
    """One line per cluster and variable: what describes it and, where it was tested, the p-values that hold."""
    selective = [] if found.selective is None else found.selective.table
    tested = {(row.cluster, row.variable): row for row in selective}

    def lines() -> Iterator[list[Any]]:
        for c in range(len(found.clusters)):
            for row in found._rows(c):
                of_test = tested.get((row.cluster, row.variable))
                test = [None if of_test is None else getattr(of_test, name) for name in TESTED]
                yield [_cell(value) for value in [*(getattr(row, name) for name in DESCRIBED), *test]]

    write_csv(path, [*DESCRIBED, *TESTED], lines())


def _cell(value: Any) -> Any:
    """A number with six digits, nothing for NaN."""
    if not isinstance(value, float):
        return value
    return None if math.isnan(value) else f"{value:.6g}"


def profile_of_table(
    path: Path, members: Members, source: InputFile, consensus: Any, selective: bool = False
) -> Profile:
    """From another table of the objects of an ensemble.

    selective : whether variables are tested
    """
    table = read_table(path, keep_empty=True, missing=source.missing_codes)
    id_column = members.id_column if members.id_column in table.names else None
    roles = assign_roles(table, id_column, None, (), guess_id=True)
    rows = rows_of_members(roles.ids, roles.id_column, path.name, members, source.path.name)
    table = table if np.array_equal(rows, np.arange(len(table))) else table.take(rows)
    kept = drop_columns(table, {source.truth_column, roles.id_column})
    if not kept.columns:
        raise ValueError(
            f"{path.name} must have a column besides ids and known classes. It has none. Name another file."
        )
    return profile(consensus, kept, ids=members.ids, selective=selective)
