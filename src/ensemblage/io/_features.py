"""From a table to features: which columns name the rows, which are known classes, and the rest as numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Alert, Message, Option
from ensemblage.io._encoding import (
    ColumnUse,
    Encoded,
    Encoding,
    Options,
    cells_in_memory,
    column_uses,
    complete_rows,
    fit_encoding,
    mostly_gaps,
    notes_of_gaps,
    plan_columns,
    said_of_gaps,
)
from ensemblage.io._gower import check_comparable, gower_distances
from ensemblage.io._roles import assign_roles
from ensemblage.io._table import Table


@dataclass(frozen=True)
class Features:
    """What is clustered, and what its rows are called."""

    X: NDArray[np.float64]
    """(n, m), complete."""
    names: list[str]
    """(m,)"""
    ids: list[str]
    """(n,)"""
    id_column: str | None
    truth: NDArray[np.object_] | None
    """(n,) classes, None where the class is missing."""
    notes: tuple[str, ...]
    """What was done, in sentences."""
    columns: list[ColumnUse] = field(default_factory=list)
    """What was done with each column of the table."""
    members: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)
    """By the name of a category that is a member of the ensemble, (n,) labels, −1 where it has none."""
    n_columns: int = 0
    """How many columns the features are made of."""
    distances: Callable[[], NDArray[np.float64]] = lambda: np.empty((0, 0))
    """Gower's, in all columns that are no id and no known classes ..."""
    check_comparable: Callable[[], None] = lambda: None
    """... which refuse two rows that have no column in common."""
    rows: NDArray[np.intp] | None = None
    """(n,) rows of the table; None: all."""
    table: Table | None = None
    """What the features were made from, those rows alone."""
    encoding: Encoding | None = None
    """How the columns became ``X`` and ``members``."""
    alerts: tuple[Alert, ...] = ()
    """What probably makes a wrong answer."""


def features_of(
    table: Table,
    *,
    id_column: str | None = None,
    truth_column: str | None = None,
    drop_columns: Sequence[str] = (),
    impute: str | None = None,
    by_distance: bool = False,
    **options: Any,
) -> Features:
    """The columns of a table as features, as `Preprocessor` makes them; truth and id are never among them.

    ``impute="drop"`` leaves out the rows in which a number is missing; ``by_distance`` says that what is clustered are
    the distances, and what is filled is for pictures.

    Raises
    ------
    ValueError
        If a value is missing and ``impute`` does not say what to do, if text stands among numbers, if nothing is left.
    """
    roles = assign_roles(table, id_column, truth_column, drop_columns, guess_id=True)
    chosen = Options(**options, impute=None if impute == "drop" else impute)
    rows, notes, gaps = np.arange(len(table)), [*table.notes, *roles.notes], list[Message]()
    if impute == "drop":
        planned = plan_columns(table, roles.rest, chosen).values()
        encoded = [plan for plan in planned if isinstance(plan, Encoded)]
        rows = complete_rows(table, encoded)
        if len(rows) < len(table):
            features = [column for column in encoded if column.kind != "member"]
            gaps = notes_of_gaps(mostly_gaps(cells_in_memory(features, table), features))
            notes += [f"left out, missing values: {len(table) - len(rows)} of {len(table)} rows", *gaps]
            table = table.take(rows)
    if len(rows) < 2:
        raise ValueError(
            Message(
                f"{table.source} must have at least 2 complete rows to cluster. It has {len(rows)}. "
                "Give one row per object; objects in columns need ",
                Option("transpose", True),
                ".",
                *said_of_gaps(gaps),
            )
        )
    columns = [table[column.name] for column in roles.rest]
    encoding, X = fit_encoding(table, columns, chosen, by_distance)
    notes = [*encoding.set_aside, *notes, *encoding.notes]
    if X.shape[1] > X.shape[0] and table.unit != "column":
        shape = f"more columns ({X.shape[1]}) than rows ({X.shape[0]})"
        notes.append(Message(f"{shape}: if the objects are the columns, add ", Option("transpose", True)))
    n_columns = sum(column.kind != "member" for column in encoding.columns)
    truth = None if roles.truth is None else roles.truth[rows]
    uses = column_uses(table, encoding.uses, roles, truth_column)
    ids = roles.ids if len(rows) == len(roles.ids) else [roles.ids[i] for i in rows]
    return Features(
        X,
        encoding.names,
        ids,
        roles.id_column,
        truth,
        tuple(notes),
        uses,
        encoding.members(table),
        n_columns,
        partial(gower_distances, table, columns, dates=chosen.dates),
        partial(check_comparable, table, columns, dates=chosen.dates),
        rows,
        table,
        encoding,
        encoding.alerts,
    )
