"""Which column names the objects, which holds the truth, which are left for the rest."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemblage.tables._cells import is_missing, number
from ensemblage.tables._table import Column, Table


@dataclass(frozen=True)
class Roles:
    """The columns of a table by what they are for."""

    ids: list[str]
    """One per row: the cells of the id column, else the numbers of the rows from 1."""
    id_column: str | None
    truth: NDArray[np.object_] | None
    """(n,) class of each row as it stands in the file, None where it is missing."""
    rest: list[Column]
    notes: tuple[str, ...]


def assign_roles(
    table: Table, id_column: str | None, truth_column: str | None, drop_columns: Sequence[str], *, guess_id: bool
) -> Roles:
    """Find the columns that the user named; an id that nobody named only where the layout or ``guess_id`` says so."""
    for option, name in [("--id-column", id_column), ("--truth-column", truth_column)]:
        check_column(table, option, name)
    for name in drop_columns:
        check_column(table, "--drop-column", name)
    taken = {truth_column, *drop_columns}
    if id_column in taken - {None}:
        raise ValueError(
            f"A column must have one role. Got {id_column!r} for --id-column and another option. Name it once."
        )
    notes: tuple[str, ...] = ()
    if id_column is None:
        id_column, notes = _find_id(table, taken, guess_id)
    ids = [str(row) for row in range(1, len(table) + 1)]
    if id_column is not None:
        ids = list(table[id_column].cells())
        _check_ids(ids, id_column, table)
    others = [c for c in table.columns if c.name not in taken | {id_column, table.index}]
    truth = None if truth_column is None else _classes(table[truth_column])
    return Roles(ids, id_column, truth, others, notes)


def check_column(table: Table, option: str, name: str | None) -> None:
    if name is None or name in table.names:
        return
    near = difflib.get_close_matches(name, table.names, n=1)
    known = ", ".join(table.names[:8]) + (", ..." if len(table.names) > 8 else "")
    advice = f"Did you mean {near[0]!r}?" if near else f"Its columns are {known}."
    raise ValueError(f"{option} must name a column of {table.source}. Got {name!r}. {advice}")


def _find_id(table: Table, taken: set[str | None], guess: bool) -> tuple[str | None, tuple[str, ...]]:
    if table.index is not None and table.index not in taken:
        return table.index, (f"id: the {table.index}",)
    if not guess:
        return None, ()
    for column in table.columns:
        if column.name not in taken and is_text(column) and all_distinct(column.cells()):
            return column.name, (f"id: column {column.name!r}, text that differs in every row",)
    first = table.columns[0]
    if first.name not in taken and _counts_rows(first):
        return first.name, (f"id: column {first.name!r}, which counts the rows",)
    return None, ("id: no column, the rows are numbered from 1",)


def is_text(column: Column) -> bool:
    """Whether fewer than half of the cells that hold anything are numbers."""
    if column.numbers is not None:
        return False
    filled = [cell for cell in column.cells() if not is_missing(cell)]
    return 2 * sum(number(cell) is not None for cell in filled) < len(filled)


def all_distinct(cells: Sequence[str]) -> bool:
    return len(set(cells)) == len(cells) and not any(map(is_missing, cells))


def _counts_rows(column: Column) -> bool:
    values = column.numbers
    return values is not None and len(values) > 2 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1))


def _check_ids(ids: list[str], name: str, table: Table) -> None:
    row_of: dict[str, int] = {}
    for row, cell in enumerate(ids):
        other = row_of.setdefault(cell, row)
        if not cell or other != row:
            got = f"{cell!r} in {table.where(other)} and {table.where(row)}" if cell else f"none in {table.where(row)}"
            raise ValueError(
                f"The ids of {table.source} ({name}) must differ. Got {got}. "
                "Correct it, or name another column with --id-column."
            )


def _classes(column: Column) -> NDArray[np.object_]:
    classes = as_labels(column.cells())
    if not any(classes):
        raise ValueError(f"The truth column {column.name!r} must hold classes. It is empty. Name another column.")
    return classes


def as_labels(cells: Sequence[str]) -> NDArray[np.object_]:
    """Cells as text, None where they are missing."""
    label_of = {cell: None if is_missing(cell) else cell for cell in set(cells)}
    labels = np.empty(len(cells), dtype=object)
    labels[:] = [label_of[cell] for cell in cells]
    return labels
