"""From a table to features: which columns are used, what is done about missing values, on what scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ensemblage.tables._column import Column
from ensemblage.tables._roles import Role, assign_roles

if TYPE_CHECKING:
    from ensemblage.tables._table import Table

SHOWN = 20
"""How many names of columns a note lists."""
Imputation: TypeAlias = Literal["median", "mean", "drop"]


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
    columns: dict[str, str] = field(default_factory=dict)
    """What was done with each column of the table: its role, and whether it was used."""


def features_of(
    table: Table,
    *,
    id_column: str | None = None,
    truth_column: str | None = None,
    drop_columns: Sequence[str] = (),
    impute: Imputation | None = None,
    standardize: bool = True,
) -> Features:
    """The columns of a table whose role is number as features.

    All others and constant ones are left out. Truth and id are never features.

    Raises
    ------
    ValueError
        If a value is missing and ``impute`` does not say what to do, if text stands among numbers, if nothing is left.
    """
    roles = assign_roles(table, id_column, truth_column, drop_columns, guess_id=True)
    role_of = table.found_roles
    numeric = [c for c in roles.rest if role_of[c.name].name == "number"]
    left = [c for c in roles.rest if role_of[c.name].name != "number"]
    notes = [*table.notes, *roles.notes]
    for name in dict.fromkeys(role_of[c.name].name for c in left):
        notes += _left_out(name, [c for c in left if role_of[c.name].name == name])
    constant = any(role_of[c.name].name == "constant" and c.is_numeric for c in left)
    _check_any(numeric, table, "numbers that vary" if constant else "numbers")
    for column in numeric:
        _check_numbers(column, table)
    X = np.column_stack([column.numbers for column in numeric if column.numbers is not None])
    rows, X = _complete(X, numeric, table, impute, notes)
    _check_rows(rows, table)
    varying = (X[0] != X).any(axis=0)
    used = [numeric[j] for j in np.flatnonzero(varying)]
    notes += _left_out("constant", [numeric[j] for j in np.flatnonzero(~varying)])
    _check_any(used, table, "numbers that vary")
    X = X if varying.all() else np.ascontiguousarray(X[:, varying])
    if standardize:
        X = _standardized(X, used)
        notes.append("features have mean 0 and standard deviation 1")
    if X.shape[1] > X.shape[0] and table.unit != "column":
        notes.append(
            f"more columns ({X.shape[1]}) than rows ({X.shape[0]}): if the objects are the columns, add --transpose"
        )
    truth = None if roles.truth is None else roles.truth[rows]
    done = _done_with(role_of, {c.name for c in used}, roles.id_column, truth_column, drop_columns)
    ids = roles.ids if len(rows) == len(table) else [roles.ids[i] for i in rows]
    return Features(X, [c.name for c in used], ids, roles.id_column, truth, tuple(notes), done)


def _left_out(reason: str, columns: Sequence[Column]) -> list[str]:
    if not columns:
        return []
    names = ", ".join(column.name for column in columns[:SHOWN])
    more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN else ""
    change = f" (else: --role {columns[0].name}=number)" if reason in ("code", "id") else ""
    return [f"left out, {reason}: {names}{more}{change}"]


def _done_with(
    role_of: Mapping[str, Role], used: set[str], id_column: str | None, truth_column: str | None, drop: Sequence[str]
) -> dict[str, str]:
    """The role of each column and what was done with it."""
    special: dict[str | None, str] = dict.fromkeys(drop, "drop, as you said")
    special |= {id_column: "id of the rows", truth_column: "known classes"}
    return {
        name: special.get(name)
        or (role.name + (f" ({role.reason})" if role.reason else "") + (", used" if name in used else ", left out"))
        for name, role in role_of.items()
    }


def _check_any(columns: Sequence[Column], table: Table, kind: str) -> None:
    if not columns:
        raise ValueError(
            f"{table.source} must have a column of {kind} beside its id and its truth. It has none. "
            "Code text as numbers first."
        )


def _check_numbers(column: Column, table: Table) -> None:
    advice = f"Correct it, or leave the column out: --drop-column {column.name!r}."
    if column.numbers is None:
        row = int(column.not_numbers[0])
        cell = column.text[row].as_py()
        raise ValueError(
            f"Column {column.name!r} of {table.source} must hold numbers, as most of its cells do. "
            f"Got {cell!r} in {table.where(row)}. {advice}"
        )
    infinite = np.flatnonzero(np.isinf(column.numbers))
    if len(infinite):
        raise ValueError(
            f"Column {column.name!r} of {table.source} must hold finite numbers. "
            f"Got infinity in {table.where(int(infinite[0]))}. {advice}"
        )


def _complete(
    X: NDArray[np.float64], columns: Sequence[Column], table: Table, impute: Imputation | None, notes: list[str]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Fill missing values, or leave out the rows that have some."""
    missing = np.isnan(X)
    rows, count = np.arange(len(X)), int(missing.sum())
    if not count:
        return rows, X
    if impute is None:
        i, j = (int(v) for v in np.argwhere(missing)[0])
        raise ValueError(
            f"The features of {table.source} must have no missing values. Got {count}, the first in {table.where(i)}, "
            f"column {columns[j].name!r}. Fill them with --impute median, or leave those rows out with --impute drop."
        )
    if impute == "drop":
        rows = np.flatnonzero(~missing.any(axis=1))
        notes.append(f"left out, missing values: {len(X) - len(rows)} of {len(X)} rows")
        return rows, X[rows]
    centre = np.nanmedian(X, axis=0) if impute == "median" else np.nanmean(X, axis=0)
    notes.append(f"filled: {count} missing values, each with the {impute} of its column")
    return rows, np.where(missing, centre, X)


def _check_rows(rows: NDArray[np.intp], table: Table) -> None:
    if len(rows) < 2:
        raise ValueError(
            f"{table.source} must have at least 2 complete rows to cluster. It has {len(rows)}. "
            "Give one row per object; objects in columns need --transpose."
        )


def _standardized(X: NDArray[np.float64], columns: Sequence[Column]) -> NDArray[np.float64]:
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = X.mean(axis=0), X.std(axis=0)
    bad = np.flatnonzero(~(np.isfinite(spread) & (spread > 0)))
    if len(bad):
        raise ValueError(
            f"Column {columns[bad[0]].name!r} must have a standard deviation that is a number. Its values are too "
            "large or too close together. Use other units."
        )
    scaled: NDArray[np.float64] = (X - mean) / spread
    return scaled
