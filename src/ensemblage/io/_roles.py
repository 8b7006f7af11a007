"""The columns that name the rows, those that are known classes, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option, of_columns
from ensemblage.io._column import Column
from ensemblage.io._labels import as_labels
from ensemblage.io._row_numbers import BY_VALUES
from ensemblage.io._table import Table, check_column, check_given, row_names


@dataclass(frozen=True)
class Roles:
    """The columns of a table by what they are for."""

    ids: list[str]
    """One per row: the cells of the id column, else the numbers of the file's rows from 1."""
    id_column: str | None
    truth: NDArray[np.object_] | None
    """(n,) class of each row as it stands in the file, None where it is missing."""
    rest: list[Column]
    notes: tuple[str, ...]


class Named(NamedTuple):
    """Which columns have which role."""

    id_column: str | None
    rest: list[Column]
    """Those that are no id and no known classes, and are not left out."""
    notes: tuple[str, ...]


def assign_roles(
    table: Table, id_column: str | None, truth_column: str | None, drop_columns: Sequence[str], *, guess_id: bool
) -> Roles:
    """Find the columns that the user named; an id that nobody named only where the layout or ``guess_id`` says so."""
    id_column, others, notes = name_columns(table, id_column, truth_column, drop_columns, guess_id=guess_id)
    if id_column is None:
        ids = list(map(str, range(1, len(table) + 1) if table.numbers is None else table.numbers.tolist()))
    else:
        ids = table[id_column].cells()
        _check_ids(ids, id_column, table)
    truth = None if truth_column is None else _classes(table[truth_column])
    return Roles(ids, id_column, truth, others, notes)


def name_columns(
    table: Table, id_column: str | None, truth_column: str | None, drop_columns: Sequence[str], *, guess_id: bool
) -> Named:
    """`assign_roles` without a look at ids and classes themselves."""
    given = check_given(table)
    drop_columns = [*drop_columns, *(name for name, role in given.items() if role == "drop")]
    said = next((name for name, role in given.items() if role == "id"), None)
    if id_column is not None and said not in (None, id_column):
        both = Option("id_column", id_column), " and ", Option("roles", {str(said): "id"})
        raise ValueError(Message("One column must be the id. Got ", *both, ". Drop one of them."))
    id_column = said if id_column is None else id_column
    for option, name in [("id_column", id_column), ("truth_column", truth_column)]:
        check_column(table, option, name)
    for name in drop_columns:
        check_column(table, "drop_columns", name)
    taken = {truth_column, *drop_columns}
    if id_column in taken - {None}:
        got = f"Got {id_column!r} for "
        raise ValueError(
            Message(
                f"A column must have one role. {got}",
                Option("id_column"),
                " and another option. Use one of these options.",
            )
        )
    notes: tuple[str, ...] = ()
    if id_column is None:
        id_column, notes = _find_id(table, taken, guess_id)
    rest = [c for c in table.columns if c.name not in taken | {id_column, table.index}]
    return Named(id_column, rest, notes)


def _find_id(table: Table, taken: set[str | None], guess: bool) -> tuple[str | None, tuple[str, ...]]:
    if table.index is not None and table.index not in taken:
        return table.index, (f"id: the {table.index}",)
    if not guess:
        return None, ()
    name = row_names(table.found_roles, taken)
    if name is None:
        return None, ("id: no column, the rows are numbered from 1",)
    said, reason = f"id: column {name!r}, {table.found_roles[name].reason}", table.found_roles[name].reason
    other = (" (else: ", of_columns("roles", {name: "number"}), ")") if reason in BY_VALUES else ()
    return name, (Message(said, *other),)


def _check_ids(ids: list[str], name: str, table: Table) -> None:
    row_of: dict[str, int] = {}
    for row, cell in enumerate(ids):
        other = row_of.setdefault(cell, row)
        if not cell or other != row:
            raise ids_must_differ(table, name, cell, other, row)


def ids_must_differ(table: Table, name: str, cell: str, first: int, second: int) -> ValueError:
    """The error for an empty id, or an id of two rows."""
    got = f"{cell!r} in {table.where(first)} and {table.where(second)}" if cell else f"none in {table.where(second)}"
    rule, other_id = f"The ids of {table.source} ({name}) must differ.", Option("roles", {"NAME": "id"})
    return ValueError(Message(f"{rule} Got {got}. Correct it, or name another column: ", other_id, "."))


def _classes(column: Column) -> NDArray[np.object_]:
    classes = as_labels(column)
    if not any(classes):
        raise ValueError(f"The truth column {column.name!r} must hold classes. It is empty. Name another column.")
    return classes
