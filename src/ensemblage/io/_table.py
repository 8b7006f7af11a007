"""A table as it stands in a file, and what it is used for: columns that name the rows, known classes, and the rest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.lazy import Registered
from ensemblage.base.options import Message, Option, of_columns, suggestion
from ensemblage.base.text import some
from ensemblage.io._column import Column, Dates, as_labels, parse_dates
from ensemblage.io._column_role import BY_VALUES, GIVEN, MOST_IDS, Role, given_role, is_given_role, role_of

if TYPE_CHECKING:
    from ensemblage.io._features import Features

features_of: Registered[..., Features] = Registered("features_of")
TOO_MANY_IDS = "whole numbers that differ in every row, as those of other columns do"


@dataclass(eq=False, repr=False)
class Table:
    """The columns of a file with their roles, and the notes on the file.

    Examples
    --------
    >>> import pyarrow
    >>> columns = [Column("who", pyarrow.array(["ann", "bob", "cid"])), Column("x", pyarrow.array(["1.5", "2.0", "3"]))]
    >>> table = Table("data.csv", columns)
    >>> table.names, len(table)
    (['who', 'x'], 3)
    >>> table
    Table('data.csv', 3 rows: who (id), x (number))
    """

    source: str
    """The name of the file."""
    columns: list[Column]
    places: Callable[[], Sequence[int]] = field(default=lambda: ())
    """Where the rows stand in the file ..."""
    unit: str = "row"
    """... as numbers of a "line", of a "row", or of a "column" if the table was transposed."""
    index: str | None = None
    """The column of row names, where the file's layout says that it is one."""
    notes: tuple[str, ...] = ()
    """What was found out about the file."""
    delimiter: str = ","
    """What stands between the cells of a text file."""
    given_roles: Mapping[str, str] = field(default_factory=dict)
    """Roles that the user gave."""
    numbers: NDArray[np.intp] | None = None
    """(n,) the number of each row of the file from 1, where some were left out."""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @cached_property
    def found_roles(self) -> dict[str, Role]:
        """What each column is for, and why."""
        return find_roles(self)

    @property
    def roles(self) -> dict[str, str]:
        """What each column is for: number, category, ordered, yes/no, date, code, id, text, constant, mostly empty."""
        return {name: role.name for name, role in self.found_roles.items()}

    def features(
        self,
        *,
        impute: Literal["median", "mean", "most-frequent", "knn", "drop"] | None = None,
        standardize: bool = False,
        categories: Literal["encode", "member", "drop"] = "encode",
        dates: Literal["drop", "days", "parts"] = "drop",
    ) -> Features:
        """What is clustered: ``names`` and the float matrix ``X``, and in ``columns`` what was done with each column.

        Parameters
        ----------
        impute : {"median", "mean", "most-frequent", "knn", "drop"}, optional
            What to do about missing values; without it the few of a table (at most 5 % of each column) become medians,
            and more are refused. "drop" leaves out their rows.
        standardize : bool, default False
            Bring the numbers to mean 0 and deviation 1, as the commands do.
        categories : {"encode", "member", "drop"}, default "encode"
            What to do with categories: see `Preprocessor`.
        dates : {"drop", "days", "parts"}, default "drop"
            What to do with dates: see `Preprocessor`.
        """
        return features_of(self, impute=impute, standardize=standardize, categories=categories, dates=dates)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """The table of some rows; its columns keep their roles."""
        columns, places = [column.take(rows) for column in self.columns], self.places
        numbers = None if self.numbers is None else self.numbers[rows]
        taken = replace(self, columns=columns, places=lambda: _some_places(places(), rows), numbers=numbers)
        taken.found_roles = self.found_roles
        return taken

    def _check_ids(self, name: str) -> None:
        """Refuse ids that are empty, or that two rows have."""
        _check_ids(self[name].cells(), name, self)

    def to_frame(self) -> Any:
        """The table as a pyarrow table, which every library of data frames reads: numbers as float64, all else as text.

        Columns whose role is code or id stay text.
        """
        import pyarrow as pa

        roles = self.roles
        return pa.table(
            {
                c.name: pa.array(c.numbers, from_pandas=True)
                if roles[c.name] == "number" and c.numbers is not None
                else c.text
                for c in self.columns
            }
        )

    def dates(self, name: str) -> Dates:
        """The dates of a column, parsed once."""
        if name not in self._dates:
            self._dates[name] = parse_dates(self[name], self.source)
        return self._dates[name]

    @cached_property
    def _dates(self) -> dict[str, Dates]:
        return {}

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} ({role})" for name, role in self.roles.items())
        return f"Table({self.source!r}, {len(self):,} rows: {columns})"

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def where(self, row: int) -> str:
        """The place of a row in the file, for messages."""
        return f"{self.unit} {self.places()[row]}"


def _some_places(places: Sequence[int], rows: NDArray[np.intp]) -> list[int]:
    return [places[row] for row in rows.tolist()]


def find_roles(table: Table) -> dict[str, Role]:
    """The role of each column; the id of the rows is the layout's, or the first that is one (see `row_names`)."""
    given = {name: role.partition(":")[0] for name, role in check_given(table).items()}
    roles = {c.name: given_role(c, given[c.name]) if c.name in given else role_of(c) for c in table.columns}
    by_values = [name for name, role in roles.items() if role.reason in BY_VALUES]
    if len(by_values) > MOST_IDS:
        roles |= dict.fromkeys(by_values, Role("number", TOO_MANY_IDS))
    named = row_names(roles)
    if table.index is not None and table.index not in given:
        roles[table.index] = Role("id", "row names")
    elif "id" not in given.values() and (named is None or named in by_values):
        first = table.columns[0]
        found = next((c for c in table.columns if roles[c.name].name == "text" and c.differs_everywhere()), None)
        if found is not None:
            roles[found.name] = Role("id", "text that differs in every row")
        elif named is None and first.name not in given and _counts_rows(first):
            roles[first.name] = Role("id", "which counts the rows")
    return roles


def row_names(roles: Mapping[str, Role], taken: Collection[str | None] = ()) -> str | None:
    """The first column that is an id, not among those taken; one by its values alone only where there is no other."""
    ids = [name for name, role in roles.items() if role.name == "id" and name not in taken]
    return next((name for name in ids if roles[name].reason not in BY_VALUES), ids[0] if ids else None)


def _counts_rows(column: Column) -> bool:
    values = column.numbers
    return values is not None and len(values) > 2 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1))


def check_given(table: Table) -> Mapping[str, str]:
    """The roles that the user gave."""
    for name, role in table.given_roles.items():
        check_column(table, "roles", name)
        if not is_given_role(role):
            got = f" must be one of {', '.join(GIVEN)}. Got {role!r} for {name!r}. Choose among these."
            raise ValueError(Message(Option("roles"), got))
    ids = [name for name, role in table.given_roles.items() if role == "id"]
    if len(ids) > 1:
        raise ValueError(f"One column must be the id. Got the role id for {ids[0]!r} and {ids[1]!r}. Drop one of them.")
    return table.given_roles


def check_column(table: Table, option: str, name: str | None) -> None:
    """A name that the user gave for this option is one of a column."""
    if name is None or name in table.names:
        return
    advice = suggestion(name, table.names) or f"Its columns are {some(table.names)}."
    raise ValueError(Message(Option(option), f" must name a column of {table.source}. Got {name!r}. {advice}"))


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
