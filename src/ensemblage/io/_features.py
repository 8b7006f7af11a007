"""From a table to what is clustered: features, distances, or labels.

Which columns name the rows, which are known classes, and the rest as numbers. Gower's distance between the rows is for
clusterers that take distances, and for tables with gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Alert, Message, Option, of_columns
from ensemblage.base.threads import row_blocks
from ensemblage.io._cells import cells_in_memory
from ensemblage.io._encoding import (
    ColumnUse,
    Encoded,
    Encoding,
    column_uses,
    complete_rows,
    fit_encoding,
    mostly_gaps,
    notes_of_gaps,
    plan_columns,
    said_of_gaps,
)
from ensemblage.io._roles import assign_roles, check_given, has_repeated_ids
from ensemblage.io._scaling import Options
from ensemblage.kernels._points import gower
from ensemblage.labels.alerts import label_alerts
from ensemblage.labels.coding import check_missing, code_with_noise
from ensemblage.labels.ensemble import Ensemble
from ensemblage.labels.files import code_columns, differs_everywhere, first_names_rows, said_of_ids
from ensemblage.tables.column import Column

if TYPE_CHECKING:
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
    encoding, made = fit_encoding(table, columns, chosen, by_distance)
    X = made[:]
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


MOST_BYTES = 2 * 10**9


def gower_distances(
    table: Table | Any, columns: Sequence[Column] | None = None, *, dates: str = "drop"
) -> NDArray[np.float64]:
    """(n, n) Gower distances between the rows of a table in some columns, or of an array of numbers.

    The mean over the columns that both rows have: |x − y| / range of numbers, ranks of ordered categories and dates; 0
    or 1 of categories. Ids, free text and constant columns do not count.

    Raises
    ------
    ValueError
        If the matrix would take more than 2 GB, if no column is left, if two rows have no column in common.
    """
    numbers, categories, n, source = _columns_of(table, columns, dates)
    _check_comparable(numbers, categories, source)
    if 8 * n * n > MOST_BYTES:
        raise ValueError(
            f"Distances of all pairs must fit into {MOST_BYTES / 1e9:.0f} GB: at most {int((MOST_BYTES / 8) ** 0.5):,} "
            f"rows. {source} has {n:,}. Use another generator, which needs no distances."
        )
    with np.errstate(invalid="ignore"):
        spans = np.fmax.reduce(numbers, initial=-np.inf) - np.fmin.reduce(numbers, initial=np.inf)
    numbers = numbers[:, spans > 0] / spans[spans > 0]
    if numbers.shape[1] + categories.shape[1] == 0:
        raise ValueError(f"{source} must have a column that varies. It has none. Give other features.")
    distances = np.zeros((n, n))
    numbers, categories = np.ascontiguousarray(numbers), np.ascontiguousarray(categories)
    for rows in row_blocks(n, 256):  # so that Ctrl-C is heard
        gower(numbers, categories, rows.start, rows.stop, distances)
    return distances


def check_comparable(table: Table, columns: Sequence[Column], *, dates: str = "drop") -> None:
    """Refuse a table with two rows that have no column in common, before anything is computed."""
    numbers, categories, _, source = _columns_of(table, columns, dates)
    _check_comparable(numbers, categories, source)


def _check_comparable(numbers: NDArray[np.float64], categories: NDArray[np.int32], source: str) -> None:
    varies = np.fmax.reduce(numbers, initial=-np.inf) > np.fmin.reduce(numbers, initial=np.inf)
    known = np.column_stack([~np.isnan(numbers[:, varies]), categories >= 0])
    if known.all() or not known.shape[1]:
        return
    patterns, first, count = np.unique(known, axis=0, return_index=True, return_counts=True)
    for one, row, n_rows in zip(patterns, first, count, strict=True):
        others = first[~(patterns & one).any(axis=1)]
        others = others[others != row] if n_rows == 1 else others
        if len(others):
            alike = np.flatnonzero((known == one).all(axis=1))
            i, j = sorted(map(int, (row, alike[-1] if row in others else others[0])))
            raise ValueError(
                f"Any two rows of {source} must share a column in which both have a value, for Gower's distances. Rows "
                f"{i + 1} and {j + 1} share none. Fill missing values, or leave such rows out."
            )


def _columns_of(
    table: Table | Any, columns: Sequence[Column] | None, dates: str
) -> tuple[NDArray[np.float64], NDArray[np.int32], int, str]:
    """(n, a) numbers with NaN and (n, b) codes with −1 where they are missing, n, what messages call it."""
    if columns is None:
        X = np.asarray(table, dtype=np.float64)
        return X, np.empty((len(X), 0), dtype=np.int32), len(X), "X"
    plans = plan_columns(table, columns, Options(dates="days" if dates == "days" else "drop")).values()
    numbers, codes, n = [], [], len(table)
    for plan in plans:
        if isinstance(plan, Encoded):
            (values,) = plan.values(table).values()
            if plan.kind == "category":
                codes.append(np.nan_to_num(values, nan=-1).astype(np.int32))
            else:
                numbers.append(values)
    return (
        np.column_stack(numbers) if numbers else np.empty((n, 0)),
        np.column_stack(codes) if codes else np.empty((n, 0), dtype=np.int32),
        n,
        table.source,
    )


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

    The first column is the id if nobody named one and `first_names_rows`.

    Raises
    ------
    ValueError
        If a column has a different value in every row: it is an id, or says nothing.
    """
    given = check_given(table)
    notes: tuple[str, ...] = ()
    doubts: list[Alert] = []
    if id_column is None and table.index is None and "id" not in given.values():
        first, named = table.columns[0], {truth_column, *drop_columns, *given}
        if first.name not in named and first_names_rows(table.columns):
            id_column, notes = first.name, (f"id: {said_of_ids(first.name)}",)
        elif first.name not in named and has_repeated_ids(first, table.found_roles[first.name]):
            why = f"it is a partition with {len(first.distinct[1]):,} clusters, although its name is that of ids"
            cure = Message("If it is no partition, add ", of_columns("roles", {first.name: "drop"}), ".")
            doubts.append(Alert("repeated ids", f"column {first.name!r}", why, cure))
    roles = assign_roles(table, id_column, truth_column, drop_columns, guess_id=False)
    if not roles.rest:
        raise ValueError(
            f"{table.source} must have a column of labels besides its ids and known classes. It has none. Add a "
            f"column of labels."
        )
    for column in roles.rest:
        if len(table) > 2 and differs_everywhere(column):
            rule = "A member must put some objects together."
            got = f"Column {column.name!r} of {table.source} has a different value in every row, like an id."
            is_id, is_none = (Option("roles", {column.name: role}) for role in ("id", "drop"))
            turned = " If the rows are the partitions, turn the table." * (len(roles.rest) > len(table))
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
