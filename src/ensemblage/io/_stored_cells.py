"""The used columns of a table in Parquet parts, written as numbers to a file, and the features that they become."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ensemblage.io._categories import CategoryEncoder
from ensemblage.io._encoding import Cells, Encoded, Encoding
from ensemblage.io._feature_blocks import FeatureBlocks, StoredFeatures, check_memory
from ensemblage.io._scaling import BlockScaler, add_rows
from ensemblage.io._stored_table import Parts, StoredTable
from ensemblage.io._table import Table
from ensemblage.labels.disk import Scratch, StoredRows, write_array


class TableFeatures(FeatureBlocks):
    """Features in the columns of Parquet parts; some may be categories."""

    def __init__(self, parts: Parts, memory: int, scratch: str | PathLike[str] | None) -> None:
        check_memory(memory, parts.n_rows, len(parts.names))
        self.table = StoredTable.of(parts)
        self.names: list[str] | None = self.table.names
        self.shape = len(self.table), len(self.table.columns)
        self._memory, self._scratch = memory, scratch
        self._written: tuple[Any, list[Encoded], StoredCells] | None = None
        self.notes: tuple[Any, ...] = ()

    def __getitem__(self, rows: Any) -> Table:
        return self.table.take(np.asarray(rows))

    def cells(self, columns: Sequence[Encoded], table: Table, missing: Any) -> StoredCells:
        """The cells of the columns of the table, whose codes ``missing`` are gaps; `cells_of` knows them then."""
        with Scratch(self._scratch, self._memory).or_removed() as place:
            cells = StoredCells.write(columns, table, place, self._scratch)
        self._written = missing, _features_among(columns), cells
        return cells

    def cells_of(self, encoding: Encoding, table: Table, missing: Any) -> StoredCells:
        """The cells that a fitted encoding takes; read from disk if they were written for it."""
        wanted = _features_among(encoding.columns)
        if self._written is None or self._written[0] != missing or any(c not in self._written[1] for c in wanted):
            return self.cells(encoding.columns, table, missing)
        _, written, cells = self._written
        place_of = {column.name: j for j, column in enumerate(wanted)}
        kept = [place for place, j in enumerate(cells.of) if written[j].name in place_of]
        return cells.keep(kept, [place_of[written[cells.of[place]].name] for place in kept])


def features_of_parts(path: Path, memory: int, scratch: str | PathLike[str] | None) -> TableFeatures:
    """Do what `FeatureBlocks.open` does of Parquet."""
    return TableFeatures(Parts(path, memory), memory, scratch)


def _features_among(columns: Sequence[Encoded]) -> list[Encoded]:
    return [column for column in columns if column.kind != "member"]


class StoredCells(Cells):
    """Cells in a file, column after column.

    Parameters
    ----------
    rows : the file
    names, of : see `Cells`
    kinds : (c,) of the columns that are encoded
    places : (c,) which columns of the file are used
    memory : bytes that the process may take
    scratch : where what is found of each object is kept
    """

    def __init__(
        self,
        rows: StoredRows,
        names: list[str],
        of: list[int],
        kinds: list[str],
        places: list[int],
        memory: int,
        scratch: str | PathLike[str] | None,
    ) -> None:
        super().__init__(np.empty((0, 0)), names, of)
        self.rows, self.kinds, self.places, self.memory, self.scratch = rows, kinds, places, memory, scratch

    @classmethod
    def write(
        cls, columns: Sequence[Encoded], table: Table, place: Scratch, scratch: str | PathLike[str] | None
    ) -> StoredCells:
        """Those of the columns that are no members, written to a new file."""
        features = _features_among(columns)
        names, of, n_written = list[str](), list[int](), 0
        with place.writing("cells") as file:
            for j, column in enumerate(features):
                for name, values in column.values(table).items():
                    place.check_room(values.nbytes)
                    write_array(file, values)
                    names.append(name)
                    of.append(j)
                    n_written += 1
        rows = StoredRows(
            place.file("cells"), (len(table), n_written), np.dtype(np.float64), fortran=True, scratch=place
        )
        return cls(rows, names, of, [features[j].kind for j in of], list(range(n_written)), place.memory, scratch)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def numbers(self) -> FeatureBlocks | None:
        """The columns of numbers with their gaps, if there are any."""
        columns = [j for j, kind in enumerate(self.kinds) if kind == "number"]
        if not columns:
            return None
        names = [self.names[j] for j in columns]
        return StoredFeatures(self.rows, names, self.memory, _Filled(self.places, columns, None), len(names))

    def column(self, place: int) -> NDArray[np.float64]:
        return np.asarray(self.rows[:, self.places[place]])

    def keep(self, places: Sequence[int], of: list[int]) -> StoredCells:
        names, kinds = ([each[place] for place in places] for each in (self.names, self.kinds))
        kept = [self.places[place] for place in places]
        return StoredCells(self.rows, names, of, kinds, kept, self.memory, self.scratch)

    @cached_property
    def _summaries(self) -> list[tuple[float, float, int]]:
        """(c,) least and largest value of each column, and how many are missing."""
        columns = map(self.column, range(len(self.names)))
        return [
            (np.fmin.reduce(v, initial=np.nan), np.fmax.reduce(v, initial=np.nan), int(np.isnan(v).sum()))
            for v in columns
        ]

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        low, high, _ = zip(*self._summaries, strict=True) if self.names else ((), (), ())
        return np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)

    @property
    def n_missing(self) -> NDArray[np.int64]:
        return np.array([n for _, _, n in self._summaries], dtype=np.int64)

    def check_size(self, columns: Sequence[Encoded], source: str) -> None:
        check_memory(self.memory, len(self), sum(len(column.names()) for column in columns))

    def fit(self, transformer: Any) -> FeatureBlocks:
        """Fit a ColumnTransformer: to a few rows first, then each of its steps to all cells, as to those in memory."""
        transformer.fit(self._few_rows())
        for i, (name, step, places) in enumerate(transformer.transformers_):
            if name != "remainder":
                columns = np.arange(len(self.names))[places].tolist()
                transformer.transformers_[i] = name, self._fit_step(step, columns), places
        return self.blocks(transformer)

    def _few_rows(self) -> NDArray[np.float64]:
        """Some rows in which the least and the largest value of each column occur, and every category."""
        low, high = self.bounds
        codes = [high[j] for j, kind in enumerate(self.kinds) if kind == "category"]
        row = np.arange(2 + int(max(codes, default=0)))[:, None]
        is_category = np.array(self.kinds) == "category"
        return np.where(is_category, np.minimum(row, high), np.where(row % 2, high, low))

    def _fit_step(self, step: Any, columns: list[int]) -> Any:
        """What fills the gaps of some columns and what scales them, or one of these."""
        steps = [part for _, part in step.steps] if hasattr(step, "steps") else [step]
        filled = steps[0] if len(steps) > 1 else None
        if filled is not None:
            each = [clone(filled).fit(self.column(j)[:, None]) for j in columns]
            filled.statistics_ = np.concatenate([one.statistics_ for one in each])
        scaler = steps[-1]
        if isinstance(scaler, CategoryEncoder):
            fill = [None] * len(columns) if filled is None else filled.statistics_.tolist()
            shares = [
                clone(scaler).fit(_filled(self.column(j), value)[:, None]).shares_
                for j, value in zip(columns, fill, strict=True)
            ]
            scaler.shares_ = [share for one in shares for share in one]
        elif isinstance(scaler, BlockScaler):
            cells = StoredFeatures(self.rows, None, self.memory, _Filled(self.places, columns, filled), len(columns))
            steps[-1] = cells._fold(add_rows, clone(scaler), np.arange(len(columns))).finish()
        if filled is None:
            return steps[-1]
        step.steps[-1] = (step.steps[-1][0], steps[-1])
        return step

    def blocks(self, transformer: Any) -> FeatureBlocks:
        """The features that a fitted ColumnTransformer makes of the cells, read block by block."""
        m = transformer.transform(self._few_rows()).shape[1]
        return StoredFeatures(self.rows, None, self.memory, _Transformed(self.places, transformer), m, self.scratch)


def _filled(values: NDArray[np.float64], value: float | None) -> NDArray[np.float64]:
    """(n,) with this number where one is missing; None: as they are."""
    return values if value is None else np.where(np.isnan(values), value, values)


class _Filled:
    """Some columns of a block of cells, with their gaps filled."""

    def __init__(self, places: list[int], columns: list[int], imputer: Any) -> None:
        self.places, self.imputer = [places[j] for j in columns], imputer

    def __call__(self, block: NDArray[Any]) -> NDArray[Any]:
        cells = np.ascontiguousarray(block[:, self.places])
        return cells if self.imputer is None else np.ascontiguousarray(self.imputer.transform(cells))


class _Transformed:
    """The features of a block of cells."""

    def __init__(self, places: list[int], transformer: Any) -> None:
        self.places, self.transformer = places, transformer

    def __call__(self, block: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(self.transformer.transform(np.ascontiguousarray(block[:, self.places])))
