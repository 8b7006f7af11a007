"""New objects in the clusters that an earlier command found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage import ConsensusClustering, Ensemble, load
from ensemblage.cli._answer import confidence_text, show_lines
from ensemblage.cli._folder import ENSEMBLE, MODEL, check_finished_files, check_free, check_suffix
from ensemblage.cli._labels import write_labels
from ensemblage.cli._options import option_name
from ensemblage.cli._progress import announce, announce_notes
from ensemblage.cli._source import READING, InputFile
from ensemblage.consensus._model import BY_RULE, Assignment
from ensemblage.io._anndata import table_of
from ensemblage.io._encoding import shorten
from ensemblage.io._read import read_table
from ensemblage.io._roles import assign_roles
from ensemblage.io._table import Table
from ensemblage.labels.files import code_columns
from ensemblage.metrics._confidence import VERDICTS
from ensemblage.report._layout import plural
from ensemblage.tables.bytes import base_name
from ensemblage.tables.formats import CELLS, format_of, is_label_file, table_format
from ensemblage.tables.h5ad import open_file

ID_USE = "id of the rows"
"""What `columns_` says of the column that names the objects."""
MOST_NAMED = 3
"""Categories that a note names."""


class AssignmentModel(NamedTuple):
    """An assignment by the names that a fitted consensus has."""

    labels_: NDArray[np.int32]
    confidence_: NDArray[np.float64]
    runner_up_: NDArray[np.int32]
    cluster_numbers_: NDArray[np.int64]


def assign_objects(
    folder: Path, new: Path, output: Path, overwrite: bool, n_jobs: int, id_column: str | None, **reading: Any
) -> None:
    """Do what ``ensemblage assign`` does."""
    check_suffix(output, ".csv")
    check_free(output, overwrite)
    record = check_finished_files(folder, MODEL, ENSEMBLE)
    if record.get("thin_counts"):
        raise ValueError(
            f"New objects must have what was clustered. {folder} has clusters of one part of each count "
            "(--thin-counts), which they have not. Run again without it, into a new folder."
        )
    model = load(folder / MODEL)
    is_run = isinstance(model, ConsensusClustering)
    if not is_run:
        model._names = Ensemble.load(folder / ENSEMBLE).names  # which a model of an earlier version does not know
    if is_label_file(new) and not is_run:
        _refuse_table_options({"id_column": id_column, **reading}, new)
        labels = Ensemble.load(new)
        ids, found = list(map(str, range(1, len(labels) + 1))), model.assign(labels)
    else:
        table = _table(new, reading, record, is_run)
        announce_notes(new.name, table.notes)
        if not is_run and record["command"] == "run":
            raise ValueError(
                f"The base partitions of {folder} must be able to label new objects. Partitions of distances "
                f"(gower) and those of an older version cannot. Run again with another --generator, into a new folder."
            )
        known = record.get("id-column")
        if is_run:
            known = next((use.column for use in model.preprocessor_.columns_ if use.use == ID_USE), None)
        ids = _ids(table, id_column, known)
        found = _assign_features(model, table, n_jobs) if is_run else _assign_labels(model, table, folder, new.name)
    write_labels(output, ids, AssignmentModel(found.labels, found.confidence, found.runner_up, model.cluster_numbers_))
    show_lines(_lines(found, model.cluster_numbers_, output))


def _refuse_table_options(options: Mapping[str, Any], new: Path) -> None:
    """Options about tables say nothing of a file that is none."""
    if said := [name for name, value in options.items() if value is not None]:
        raise ValueError(f"{option_name(said[0])} is for tables. Got {new.name}. Leave it out.")


def _table(new: Path, reading: Mapping[str, Any], record: Mapping[str, Any], is_run: bool) -> Table:
    """The columns of the new objects: what the run clustered, or labels in the partitions that were combined."""
    if format_of(new) is CELLS:
        _refuse_table_options(reading, new)
        adata = open_file(new)
        return table_of(adata, record.get("use")) if is_run else read_table(adata.obs, name=new.name)
    drops = record.get("drop-column", ()) if record.get("transpose") else ()
    source = InputFile(new, drop_columns=drops, reading=_reading_options(new, reading, record))
    return source.table(source.read())


def _reading_options(new: Path, given: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """How the file is read: as it is said; else as the file of the run was, where it is a text file too."""
    names = {"has_header": "header"}
    as_before = {name: record.get(names.get(name, name)) for name in READING if name != "skip_rows"}
    cells = table_format(base_name(new)).cells
    of_text = ("encoding", "delimiter", "decimal")
    if cells != "text":
        as_before |= dict.fromkeys(of_text)
    if cells != "workbook":
        as_before["sheet"] = None
    said = {name: value for name, value in given.items() if value is not None}
    return {**{name: value for name, value in as_before.items() if value is not None}, **said}


def _ids(table: Table, given: str | None, known: str | None) -> list[str]:
    """What the objects are called: by the column that was said, or that of the run, or the numbers of the rows."""
    name = known if given is None and known in table.names else given
    return assign_roles(table, name, None, (), guess_id=False).ids


def _assign_features(model: ConsensusClustering, table: Table, n_jobs: int) -> Assignment:
    """Where the rows of a table belong; -1 where numbers are missing that the run did not fill."""
    for part in (model.generator_, model.consensus_):
        if part is not None and "n_jobs" in part.get_params():
            part.set_params(n_jobs=n_jobs)
    preprocessor = model.preprocessor_
    known = preprocessor._known_table(table)
    fitted, used = set(preprocessor.feature_names_in_), {c.name for c in preprocessor._encoding.columns}
    extra = [repr(name) for name in known.names if name not in fitted]
    if extra:
        announce(
            f"{table.source}: not used, for the run did not have {'them' if len(extra) > 1 else 'it'}: {shorten(extra)}"
        )
    for name, levels in preprocessor._unseen(known).items():
        shown = ", ".join(map(repr, levels[:MOST_NAMED])) + (", ..." if len(levels) > MOST_NAMED else "")
        announce(f"{table.source}: column {name!r} has categories that the run did not have: {shown}")
    rows = preprocessor._complete_rows(known)
    if len(rows) == len(known):
        found: Assignment = model.assign(known)
        return found
    announce(
        f"{table.source}: {plural(len(known) - len(rows), 'row')} with missing values in "
        f"{plural(len(used), 'column')} that are clustered: cluster -1. A run with --impute median fills them"
    )
    nowhere = np.full(len(known), -1, dtype=np.int32)
    of_all = Assignment(nowhere, np.full(len(known), np.nan), nowhere.copy(), BY_RULE)
    if not len(rows):
        return of_all
    of_some = model.assign(known.take(rows))
    for name in ("labels", "confidence", "runner_up"):
        getattr(of_all, name)[rows] = getattr(of_some, name)
    return replace(of_all, by=of_some.by)


def _assign_labels(model: Any, table: Table, folder: Path, name: str) -> Assignment:
    """Where objects belong by their labels in the partitions that were combined."""
    partitions = model._names
    lost = [repr(column) for column in partitions if column not in table.names]
    if lost:
        raise ValueError(
            f"{name} must have a column of labels for each partition that {folder} combined. It has no "
            f"{shorten(lost)}. Label the new objects by the same partitions, or give the folder of a run."
        )
    missing = model._coding.missing
    coded = code_columns([table[column] for column in partitions], missing)
    found: Assignment = model.assign(Ensemble._of(coded, missing))
    return found


def _lines(found: Assignment, numbers: NDArray[np.int64], output: Path) -> Sequence[tuple[str, str]]:
    n_clusters = len(numbers)
    sizes = np.bincount(found.labels[found.labels >= 0], minlength=n_clusters).tolist()
    given = "" if numbers.tolist() == list(range(n_clusters)) else f" {', '.join(map(str, numbers.tolist()))}"
    n_none = int((found.labels < 0).sum())
    none = f"; {n_none:,} in none" if n_none else ""
    words = found.verdict
    rule = "by the method's own rule for new objects"
    association = "the cluster that the base partitions join them with most often: the method has no rule of its own"
    return [
        ("objects", f"{len(found.labels):,}"),
        (
            "assigned",
            f"{', '.join(f'{size:,}' for size in sizes)} to the {plural(n_clusters, 'cluster')}{given}{none}",
        ),
        ("confidence", confidence_text([{word: int((words == word).sum()) for word in VERDICTS}])),
        ("decided", rule if found.by == BY_RULE else association),
        ("written", str(output)),
    ]
