"""A table as it stands in a file: its columns, their roles, and what of it is clustered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ensemblage.io._features import Features, features_of
from ensemblage.io._roles import Role, check_ids, find_roles
from ensemblage.tables.column import Column, Dates, parse_dates


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
        taken = replace(self, columns=columns, numbers=numbers)
        taken.places = lambda: list(map(places().__getitem__, rows.tolist()))
        taken.found_roles = self.found_roles
        return taken

    def _check_ids(self, name: str) -> None:
        """Refuse ids that are empty, or that two rows have."""
        check_ids(self[name].cells(), name, self)

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
