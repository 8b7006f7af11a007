"""From a table of labels to an ensemble."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Alert, Message, Option, of_columns
from ensemblage.io._column import Column
from ensemblage.io._column_role import has_repeated_ids
from ensemblage.io._encoding import ColumnUse, column_uses
from ensemblage.io._labels import code_columns
from ensemblage.io._roles import assign_roles
from ensemblage.io._table import Table, check_given
from ensemblage.labels.alerts import label_alerts
from ensemblage.labels.coding import check_missing, code_with_noise
from ensemblage.labels.ensemble import Ensemble


@dataclass(frozen=True)
class Members:
    """An ensemble, and what its rows are called."""

    ensemble: Ensemble
    ids: list[str]
    id_column: str | None
    truth: NDArray[np.object_] | None
    """(n,) classes, None where the class is missing."""
    notes: tuple[str, ...]
    columns: list[ColumnUse] = field(default_factory=list)
    """What was done with each column of the table."""
    alerts: tuple[Alert, ...] = ()
    """What probably makes a wrong answer."""


def members_of(
    table: Table,
    *,
    id_column: str | None = None,
    truth_column: str | None = None,
    drop_columns: tuple[str, ...] = (),
    missing: int | None = -1,
    noise: str = "missing",
) -> Members:
    """Every column of a table as one partition, but for the id and the truth.

    The first column is the id if nobody named one and it has another text or whole number in every row.

    Raises
    ------
    ValueError
        If a column has a different value in every row: it is an id, or says nothing.
    """
    given = check_given(table)
    notes: tuple[str, ...] = ()
    doubts: list[Alert] = []
    if id_column is None and table.index is None and "id" not in given.values() and len(table) > 2:
        first, named = table.columns[0], {truth_column, *drop_columns, *given}
        is_whole = first.numbers is None or bool(np.all(first.numbers == np.floor(first.numbers)))
        if first.name not in named and is_whole and _differs_everywhere(first):
            id_column, notes = first.name, (f"id: column {first.name!r}, the first, which differs in every row",)
        elif first.name not in named and has_repeated_ids(first, table.found_roles[first.name]):
            why = f"it is a partition with {len(first.distinct[1]):,} clusters, although its name is that of ids"
            cure = Message("If it is no clustering, add ", of_columns("roles", {first.name: "drop"}), ".")
            doubts.append(Alert("repeated ids", f"column {first.name!r}", why, cure))
    roles = assign_roles(table, id_column, truth_column, drop_columns, guess_id=False)
    if not roles.rest:
        raise ValueError(
            f"{table.source} must have a column of labels besides its ids and known classes. It has none. Add a "
            f"column of labels."
        )
    for column in roles.rest:
        if len(table) > 2 and _differs_everywhere(column):
            rule = "A member must put some objects together."
            got = f"Column {column.name!r} of {table.source} has a different value in every row, like an id."
            is_id, is_none = (Option("roles", {column.name: role}) for role in ("id", "drop"))
            turned = " If the rows are the clusterings, turn the table." * (len(roles.rest) > len(table))
            raise ValueError(Message(f"{rule} {got} Give it a role: ", is_id, ", or ", is_none, f".{turned}"))
    coded = code_with_noise(code_columns, roles.rest, check_missing(missing), noise)
    ensemble = Ensemble._of(coded, missing, is_new=True)
    uses = column_uses(table, [ColumnUse(c.name, "labels", "", "partition") for c in roles.rest], roles, truth_column)
    return Members(
        ensemble,
        roles.ids,
        roles.id_column,
        roles.truth,
        (*table.notes, *notes, *roles.notes),
        uses,
        (*doubts, *label_alerts(coded)),
    )


def _differs_everywhere(column: Column) -> bool:
    """Whether a column is like an id; whole numbers from 1 to n say that every object is a cluster."""
    values = column.numbers
    if values is None or not column.differs_everywhere():
        return values is None and column.differs_everywhere()
    return not (bool(np.all(values == np.floor(values))) and np.ptp(values) < len(values) - 1)
