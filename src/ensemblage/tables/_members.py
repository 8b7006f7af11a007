"""From a table of labels to an ensemble."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensemblage._ensemble import Ensemble
from ensemblage.tables._roles import all_distinct, as_labels, assign_roles
from ensemblage.tables._table import Column, Table


@dataclass(frozen=True)
class Members:
    """An ensemble, and what its rows are called."""

    ensemble: Ensemble
    ids: list[str]
    id_column: str | None
    truth: NDArray[np.object_] | None
    """(n,) classes, None where the class is missing."""
    notes: tuple[str, ...]


def members_of(
    table: Table,
    *,
    id_column: str | None = None,
    truth_column: str | None = None,
    drop_columns: tuple[str, ...] = (),
    missing: int | None = -1,
) -> Members:
    """Every column of a table as one partition, but for the id and the truth.

    Raises
    ------
    ValueError
        If a column has a different value in every row: it is an id, or says nothing.
    """
    roles = assign_roles(table, id_column, truth_column, drop_columns, guess_id=False)
    if not roles.rest:
        raise ValueError(
            f"{table.source} must have a column of labels beside its id and its truth. It has none. Add one."
        )
    for column in roles.rest:
        if len(table) > 2 and _differs_everywhere(column):
            raise ValueError(
                f"A member must put some objects together. Column {column.name!r} of {table.source} has a different "
                f"value in every row, like an id. Name it: --id-column {column.name!r}, or --drop-column."
            )
    ensemble = _ensemble(roles.rest, missing)
    return Members(ensemble, roles.ids, roles.id_column, roles.truth, (*table.notes, *roles.notes))


def _differs_everywhere(column: Column) -> bool:
    if column.numbers is None:
        return all_distinct(column.cells())
    values, n = column.numbers, len(column.numbers)
    whole = bool(np.all(values == np.floor(values)))
    if bool(np.isnan(values).any()) or (whole and np.ptp(values) < n - 1):
        return False
    return len(np.unique(values)) == n


def _ensemble(columns: list[Column], missing: int | None) -> Ensemble:
    names = [column.name for column in columns]
    for column in columns:
        if column.numbers is not None and (np.abs(column.numbers) >= 2**53).any():
            raise ValueError(
                "Numbers that are labels in a table must be below 2⁵³, where all their digits count. "
                f"Got {np.nanmax(np.abs(column.numbers)):.17g} in column {column.name!r}. Write c17 for 17."
            )
    numeric = [column.numbers for column in columns if column.numbers is not None]
    if len(numeric) < len(columns):
        return Ensemble.from_partitions(
            [as_labels(c.cells()) if c.numbers is None else c.numbers for c in columns], names=names, missing=missing
        )
    matrix = np.column_stack(numeric)
    whole = bool(np.all(matrix == np.floor(matrix)))
    return Ensemble(matrix.astype(np.int64) if whole else matrix, names=names, missing=missing)
