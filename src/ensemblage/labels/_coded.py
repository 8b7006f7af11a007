"""Labels as codes: a label vector, a label matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.rows.disk import take_columns


class CodedColumn(NamedTuple):
    """A label vector as codes; the code ``len(categories)`` means missing."""

    codes: NDArray[Any]
    """(n,) whole numbers."""
    categories: NDArray[Any]
    """(k,) the distinct labels, sorted."""


class CodedColumns(NamedTuple):
    """A label matrix as codes; the code ``len(categories[j])`` means missing in column j."""

    codes: Any
    """(n, p), in memory or on disk (`BlockRows`)."""
    categories: tuple[NDArray[Any], ...]
    names: list[str] | None

    def select(self, columns: NDArray[np.intp]) -> CodedColumns:
        """Some of the columns, by number."""
        names = None if self.names is None else [self.names[j] for j in columns]
        return CodedColumns(take_columns(self.codes, columns), tuple(self.categories[j] for j in columns), names)


def stack_columns(columns: Sequence[CodedColumn], names: list[str] | None) -> CodedColumns:
    """The label matrix of some label vectors."""
    categories = tuple(column.categories for column in columns)
    codes = np.empty((len(columns[0].codes), len(columns)), dtype=code_dtype(categories))
    for j, column in enumerate(columns):
        codes[:, j] = column.codes
    return CodedColumns(codes, categories, names)


def code_dtype(categories: Sequence[NDArray[Any]]) -> np.dtype[Any]:
    """Smallest type that holds every code and the code for missing."""
    largest = max(len(c) for c in categories)
    return np.dtype(np.uint8 if largest <= 255 else np.uint16 if largest <= 65_535 else np.int32)
