"""The used columns of a table, or of a matrix, as numbers; what is fitted to them before they are features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline

from ensemblage.io._feature_sources import FeatureSource, MemoryFeatures, StoredFeatures, as_floats
from ensemblage.io._scaling import add_rows
from ensemblage.labels.disk import Scratch, StoredRows, write_array

if TYPE_CHECKING:
    from ensemblage.io._encoding import Encoded
    from ensemblage.io._table import Table


class ColumnSummary(NamedTuple):
    """Of the columns of some rows, (c,) each."""

    low: NDArray[Any]
    high: NDArray[Any]
    """Least and largest values that are there, NaN if there is none."""
    n_missing: NDArray[np.int64]

    @classmethod
    def of(cls, block: NDArray[Any]) -> ColumnSummary:
        are_missing = np.isnan(block)
        n_missing = are_missing.sum(axis=0) if are_missing.any() else np.zeros(block.shape[1], dtype=np.int64)
        return cls(np.fmin.reduce(block, initial=np.nan), np.fmax.reduce(block, initial=np.nan), n_missing)

    @classmethod
    def of_finite(cls, block: NDArray[Any], names: Sequence[str] | None) -> ColumnSummary:
        """The same; missing and infinite numbers are refused."""
        if not np.isfinite(block).all():
            j = int(np.flatnonzero(~np.isfinite(block).all(axis=0))[0])
            column = repr(f"x{j}" if names is None else names[j])
            raise ValueError(
                "Features must have no missing and no infinite numbers if they are not in memory. Got some in column "
                f"{column}. Fill them first, or leave these objects out."
            )
        return cls(np.fmin.reduce(block), np.fmax.reduce(block), np.zeros(block.shape[1], dtype=np.int64))

    def joined(self, other: ColumnSummary) -> ColumnSummary:
        """Of the rows of both."""
        low, high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        return ColumnSummary(low, high, self.n_missing + other.n_missing)

    def at(self, places: Any) -> ColumnSummary:
        """Of some columns."""
        return ColumnSummary(*(values[places] for values in self))


class Cells:
    """Columns as numbers, before missing values are filled and scales changed.

    Parameters
    ----------
    rows : (n, c) where they lie; NaN where a value is missing
    names : (c,) for messages
    of : (c,) the place of each one's column among those encoded
    kinds : (c,) as of `Encoded`
    summary : of the rows, if it is known
    """

    def __init__(
        self,
        rows: FeatureSource,
        names: list[str],
        of: list[int],
        kinds: list[str],
        summary: ColumnSummary | None = None,
    ) -> None:
        self.rows, self.names, self.of, self.kinds = rows, names, of, kinds
        if summary is not None:
            self.summary = summary

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def X(self) -> NDArray[np.float64]:
        """(n, c) in memory; (0, 0) if they lie elsewhere."""
        return self.rows.X if isinstance(self.rows, MemoryFeatures) else np.empty((0, 0))

    def column(self, place: int) -> NDArray[np.float64]:
        """(n,) the values of a column, NaN where one is missing."""
        return self.rows[:, place]

    def of_columns(self, known: Sequence[str], wanted: Sequence[str]) -> Cells:
        """The cells of some of the columns that were encoded, by the names of all and of those."""
        place_of = {name: j for j, name in enumerate(wanted)}
        kept = [place for place, j in enumerate(self.of) if known[j] in place_of]
        names, kinds = ([each[place] for place in kept] for each in (self.names, self.kinds))
        of = [place_of[known[self.of[place]]] for place in kept]
        return Cells(self.rows.columns(kept), names, of, kinds, self.summary.at(kept))

    @property
    def numbers(self) -> FeatureSource | None:
        """The columns of numbers with their gaps, if there are any."""
        places = [j for j, kind in enumerate(self.kinds) if kind == "number"]
        return self.rows.columns(places) if places else None

    @cached_property
    def summary(self) -> ColumnSummary:
        """(c,) least and largest values, and how many are missing."""
        return self.rows.reduce(ColumnSummary.of, ColumnSummary.joined)

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(c,) least and largest values that are there, NaN if there is none."""
        return self.summary.low, self.summary.high

    @property
    def n_missing(self) -> NDArray[np.int64]:
        """(c,) how many values are missing."""
        return self.summary.n_missing

    def rows_with_gaps(self, places: Iterable[int]) -> NDArray[np.intp]:
        """The rows in which a value of these columns is missing."""
        missing = np.zeros(len(self), dtype=bool)
        for place in places:
            missing |= np.isnan(self.column(place))
        return np.flatnonzero(missing)

    def fit(self, transformer: Any, n_features: int) -> FeatureSource:
        """Fit a ColumnTransformer to the cells; the features that it makes of them.

        Cells that are not in memory: its steps are fitted block by block, and frozen; then one row makes it fitted.
        """
        if isinstance(self.rows, MemoryFeatures):
            return MemoryFeatures(np.ascontiguousarray(transformer.fit_transform(self.X)))
        steps = [
            (name, FrozenEstimator(self._fitted(step, np.arange(len(self.names))[places].tolist())), places)
            for name, step, places in transformer.transformers
        ]
        transformer.set_params(transformers=steps).fit(self.rows[[0]])
        return self.rows.transformed(Transformed(transformer), n_features)

    def _fitted(self, step: Any, columns: list[int]) -> Any:
        """A step that was fitted to some columns; what fills their gaps, to one column after the other."""
        rows = self.rows.columns(columns)
        if not isinstance(step, Pipeline):
            return fitted_by_blocks(step, rows)
        filling, scaler = (part for _, part in step.steps)
        fills = [clone(filling).fit(self.column(j)[:, None]).statistics_ for j in columns]
        filling = clone(filling).fit(as_floats(np.transpose(fills)))  # the fills of a single row are the row
        filled = rows.transformed(Transformed(filling), len(columns))
        return make_pipeline(filling, fitted_by_blocks(scaler, filled))


@dataclass(frozen=True)
class Transformed:
    """The function of rows that a fitted transformer is."""

    transformer: Any

    def __call__(self, block: NDArray[Any]) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.transformer.transform(block), dtype=np.float64)


def fitted_by_blocks(step: Any, rows: FeatureSource) -> Any:
    """A copy of a step that was fitted to rows, wherever they lie; a function has nothing to fit."""
    step = clone(step)
    return rows.fold(add_rows, step, rows.by_column).finish() if hasattr(step, "partial_fit") else step


class Values(NamedTuple):
    """The numbers of one of the cells' columns."""

    name: str
    of: int
    """The place of the column among those encoded."""
    kind: str
    values: NDArray[np.float64]
    """(n,)"""


def _values(columns: Sequence[Encoded], table: Table) -> Iterator[Values]:
    """Of the columns that are no members, one after the other."""
    for j, column in enumerate(column for column in columns if column.kind != "member"):
        for name, values in column.values(table).items():
            yield Values(name, j, column.kind, values)


def cells_in_memory(columns: Sequence[Encoded], table: Table) -> Cells:
    """The columns that are no members, as numbers."""
    found = list(_values(columns, table))
    X = np.column_stack([one.values for one in found]) if found else np.empty((len(table), 0))
    return Cells(MemoryFeatures(X), [one.name for one in found], [one.of for one in found], [one.kind for one in found])


class StoredCells:
    """The cells of a table that is not in memory, in a file. Those that were written last are read again.

    Parameters
    ----------
    memory : bytes that the process may take
    scratch : where the file is
    """

    def __init__(self, memory: int, scratch: str | PathLike[str] | None) -> None:
        self._memory, self._scratch = memory, scratch
        self._written: tuple[list[Encoded], Any, Cells] | None = None

    def write(self, columns: Sequence[Encoded], table: Table, missing: Any) -> Cells:
        """Those of the columns that are no members, column after column, whose codes ``missing`` are gaps; one column
        is in memory.
        """
        names, of, kinds = list[str](), list[int](), list[str]()
        with Scratch(self._scratch, self._memory).or_removed() as place:
            with place.writing("cells") as file:
                for one in _values(columns, table):
                    place.check_room(one.values.nbytes)
                    write_array(file, one.values)
                    names.append(one.name)
                    of.append(one.of)
                    kinds.append(one.kind)
            shape = len(table), len(names)
            rows = StoredRows(place.file("cells"), shape, np.dtype(np.float64), fortran=True, scratch=place)
            cells = Cells(StoredFeatures(rows, self._memory, self._scratch, names), names, of, kinds)
        self._written = [column for column in columns if column.kind != "member"], missing, cells
        return cells

    def of(self, columns: Sequence[Encoded], table: Table, missing: Any) -> Cells:
        """The same, written only if they are not among the last ones."""
        wanted = [column for column in columns if column.kind != "member"]
        if self._written is not None:
            known, gaps, cells = self._written
            if gaps == missing and all(column in known for column in wanted):
                return cells.of_columns([column.name for column in known], [column.name for column in wanted])
        return self.write(columns, table, missing)
