"""What describes the objects: the columns of a table, a data frame or an array as numbers, dates and categories."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ensemblage.base.frames import as_frame
from ensemblage.base.validation import format_value
from ensemblage.io._missing import Gaps, with_gaps
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.io._read import read_table
from ensemblage.io._roles import AS_SAID, CLASSES_NAME, MOST_CODES, ordered_levels, role_of, row_names
from ensemblage.io._scaling import level_codes, levels_of
from ensemblage.io._table import Table
from ensemblage.tables.column import Column

NUMBERS = ("number", "date", "ordered")
"""Kinds whose values have an order."""
MOST_LEVELS = 100
"""A column of more different categories describes no cluster."""


@dataclass(frozen=True, eq=False)
class Variable:
    """One property of the objects."""

    name: str
    kind: str
    """"number", "date" (days since 1970-01-01), "ordered" or "category" (places among the levels)."""
    values: NDArray[np.float64]
    """(n,) NaN where it is missing."""
    levels: tuple[str, ...] = ()
    is_yes_no: bool = False
    """Whether the last of two levels says that something is so."""
    clustered: bool = True
    """Whether it helped to make the clusters."""


@dataclass(frozen=True, eq=False)
class VariableTable:
    """The objects and what is known of them."""

    variables: list[Variable]
    ids: list[str]
    left_out: dict[str, str]
    """By name of the columns that describe nothing, why."""

    def with_clustered(self, names: Collection[str] | None) -> VariableTable:
        """The same, if the variables of these names were clustered; None: as it is."""
        if names is None:
            return self
        return replace(self, variables=[replace(v, clustered=v.name in names) for v in self.variables])


YES = {"yes", "y", "true", "t", "ja", "wahr", "oui", "si", "sí", "on", "1"}


def describe_objects(X: Any, preprocessor: Any = None) -> VariableTable:
    """The variables of what the user gave; what they said of its columns before stands in a fitted preprocessor."""
    is_ours = isinstance(preprocessor, Preprocessor)
    roles, missing = (preprocessor.roles or {}, preprocessor.missing) if is_ours else ({}, None)
    is_table = isinstance(X, Table)
    if not is_table and (sparse.issparse(X) or as_frame(X) is None):
        return _variables_from_array(X, missing)
    table = X if is_table else read_table(X, keep_empty=True)
    given = {**table.given_roles, **{name: role for name, role in roles.items() if name in table.names}}
    table = table if given == table.given_roles else replace(table, given_roles=given)
    return _variables_from_table(with_gaps(table, missing), 1 if is_table else 0)


def _variables_from_table(table: Table, first_row: int) -> VariableTable:
    """The columns by their roles; rows without an id are numbered from ``first_row``."""
    roles = table.found_roles
    id_column = row_names(roles)
    rows = map(str, range(first_row, len(table) + first_row))
    ids = list(rows) if id_column is None else table[id_column].cells()
    variables, left_out = [], {}
    for column in table.columns:
        role = roles[column.name]
        is_class = bool(CLASSES_NAME.fullmatch(column.name.strip())) and role.reason != AS_SAID
        found = _variable(column, role.name, table, not is_class)
        if isinstance(found, str):
            left_out[column.name] = found
        elif np.fmin.reduce(found.values, initial=np.nan) < np.fmax.reduce(found.values, initial=np.nan):
            variables.append(found)
        else:
            left_out[column.name] = "constant"
    return VariableTable(variables, ids, left_out)


def _numeric(name: str, values: NDArray[np.float64], clustered: bool = True) -> Variable:
    """Numbers; those that are 0 and 1 alone say whether something is so."""
    is_one = values == 1
    if np.all(is_one | (values == 0) | np.isnan(values)):
        return Variable(name, "category", values, ("0", "1"), True, clustered)
    return Variable(name, "number", values, clustered=clustered)


def _variable(column: Column, role: str, table: Table, clustered: bool) -> Variable | str:
    """The column as a variable, or why it is none."""
    if role == "drop":
        return AS_SAID
    if role == "date" or (role == "number" and column.name in table.given_roles and role_of(column).name == "date"):
        try:
            return Variable(column.name, "date", table.dates(column.name).days, clustered=clustered)
        except ValueError:
            return "dates that are none of the calendar"
    if role == "number" or (role == "mostly empty" and column.is_numeric):
        return _numeric(column.name, column.parsed.values, clustered)
    if role not in ("category", "ordered", "yes/no", "code", "mostly empty"):
        return role
    levels = levels_of(column)
    if len(levels) > (MOST_CODES if role == "code" else MOST_LEVELS) or 2 * len(levels) > max(column.n_filled, 4):
        return f"{role}, {len(levels):,} different"
    if role == "ordered":
        levels = ordered_levels(column, table.given_roles.get(column.name, ""), table.source)
    is_yes_no = role == "yes/no" or (
        len(levels) == 2 and {v.casefold() for v in levels} in ({"0", "1"}, {"0.0", "1.0"})
    )
    if is_yes_no:
        levels = sorted(levels, key=lambda level: level.casefold() in YES)
    values = level_codes(column, levels)
    return Variable(
        column.name, "ordered" if role == "ordered" else "category", values, tuple(levels), is_yes_no, clustered
    )


def _variables_from_array(X: Any, missing: Sequence[str | float] | None = None) -> VariableTable:
    """The columns of an array of numbers, or of objects as those of a table."""
    try:
        dense = (
            X.toarray() if sparse.issparse(X) else np.ma.filled(X, np.nan) if np.ma.isMaskedArray(X) else np.asarray(X)
        )
    except ValueError:  # rows of unlike lengths
        dense = np.empty(0)
    if dense.ndim != 2 or 0 in dense.shape:
        raise ValueError(
            f"X of profile must be a table of objects and variables. Got {format_value(X)}. Give a data frame or a "
            "matrix."
        )
    if dense.dtype.kind not in "biuf":
        return _variables_from_table(read_table(_arrow_table(dense), keep_empty=True), 0)
    numbers = np.asfortranarray(dense, dtype=np.float64)
    if missing is not None:
        numbers = np.where(Gaps(missing).are(numbers), np.nan, numbers)
    low, high = np.fmin.reduce(numbers), np.fmax.reduce(numbers)
    names = [f"x{j}" for j in range(numbers.shape[1])]
    varies = (low < high).tolist()
    variables = [_numeric(name, numbers[:, j]) for j, name in enumerate(names) if varies[j]]
    left_out = {name: "constant" for name, is_varying in zip(names, varies, strict=True) if not is_varying}
    return VariableTable(variables, [str(i) for i in range(len(numbers))], left_out)


def _arrow_table(cells: NDArray[Any]) -> Any:
    """The Arrow table of an array of text or objects: a column of numbers where all are, else of text."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for j, column in enumerate(cells.T.tolist()):
        kept = [None if value is None or value != value else value for value in column]
        is_number = all(
            isinstance(value, int | float) and not isinstance(value, bool) for value in kept if value is not None
        )
        texts: Sequence[Any] = [None if value is None else value if is_number else str(value) for value in kept]
        columns[f"x{j}"] = pa.array(texts, pa.float64() if is_number else pa.string())
    return pa.table(columns)
