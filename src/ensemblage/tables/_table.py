"""A table as it stands in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table. At least one of ``text`` and ``numbers`` is there."""

    name: str
    text: Sequence[str] | None
    """The cells as they stand in the file; None where only the numbers were kept."""
    numbers: NDArray[np.float64] | None
    """NaN where a cell is missing; None if a cell holds text."""

    def cells(self) -> Sequence[str]:
        """The cells as text."""
        if self.text is None:
            assert self.numbers is not None
            return ["" if np.isnan(v) else f"{v:.17g}" for v in self.numbers.tolist()]
        return self.text


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file."""

    source: str
    columns: list[Column]
    places: Sequence[int]
    """Where each row stands in the file ..."""
    unit: str
    """... as a number of a "line", or of a "column" if the table was transposed."""
    index: str | None
    """The column of row names, where the file's layout says that it is one."""
    notes: tuple[str, ...]
    """What was found out about the file."""

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, name: str) -> Column:
        return self.columns[self.names.index(name)]

    def where(self, row: int) -> str:
        """The place of a row in the file, for messages."""
        return f"{self.unit} {self.places[row]}"
