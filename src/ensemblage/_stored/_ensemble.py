"""The ensemble whose codes lie on disk."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from ensemblage._ensemble import DistinctRows, Ensemble
from ensemblage._once import once
from ensemblage._stored._coding import code_on_disk
from ensemblage._stored._distinct import BYTES_PER_ROW, distinct_rows_on_disk
from ensemblage._stored._scratch import Scratch
from ensemblage._stored._sources import source_of
from ensemblage._validation import check_bytes, check_path
from ensemblage.labels._checks import check_each_labelled, check_missing, check_names
from ensemblage.labels._coding import CodedColumns

LIBRARIES = 250_000_000
"""Bytes of the interpreter and its libraries (measured)."""
STATE = 60
"""Most bytes per object that methods keep while they work (measured: docs/SCALE.md)."""
LEAST_ROOM = 32_000_000
"""Bytes for blocks of rows below which nothing works well."""

HELD = 8
"""Distinct rows are held in memory if they take at most this part of it."""
BATCH_ROWS = 2**18
"""Most rows that are read and coded at a time."""


class StoredEnsemble(Ensemble):
    """An ensemble whose labels lie on disk as codes, in a temporary folder that goes with it.

    Made by `Ensemble.open`. ``codes`` gives blocks of rows, or a few rows. Metrics, rankers and estimators that work by
    blocks of rows give the same result as in memory, bit by bit; others say that they cannot. Methods on distinct
    label rows run in any case if those fit into an eighth of ``memory``.
    """

    def __init__(self, coded: CodedColumns, scratch: Scratch, memory: int, missing: int | None) -> None:
        self.scratch, self.memory = scratch, memory
        self._set(coded, None, missing)

    @once
    def distinct(self) -> DistinctRows:
        """The distinct label rows, how many objects have each, and each object's place among them."""
        n, p = self.shape
        per_row = BYTES_PER_ROW + 2 * p * self.codes.dtype.itemsize
        room = self.memory - LIBRARIES - 24 * n
        with self.scratch.folder() as scratch:
            rows, counts, inverse = distinct_rows_on_disk(
                self.codes, self.n_clusters + 1, scratch, max(2**16, room // per_row)
            )
        fits = rows.shape[0] * p * rows.dtype.itemsize <= self.memory // HELD
        return DistinctRows(rows[:] if fits else rows, counts, inverse)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise ValueError(
            f"Labels on disk are not held in memory. Got {len(self):,} objects by {self.shape[1]} partitions. "
            "Take some of them: ensemble[rows]."
        )

    def _with(self, coded: CodedColumns, missing: int | None) -> StoredEnsemble:
        return StoredEnsemble(coded, Scratch(self.scratch.path.parent), self.memory, missing)


def open_ensemble(
    path: str | PathLike[str],
    names: Sequence[str] | None,
    missing: int | None,
    memory: int | str,
    scratch: str | PathLike[str] | None,
) -> StoredEnsemble:
    """Do what `Ensemble.open` does."""
    missing, n_bytes = check_missing(missing), check_bytes(memory, "memory")
    source = source_of(check_path(path, "path"))
    n, p = source.shape
    titles = None if names is None else check_names(names, p)
    room = check_memory(n_bytes, n)
    folder = Scratch(scratch)
    rows_at_once = max(1, min(BATCH_ROWS, room // (40 * p)))
    coded = code_on_disk(source, missing, folder, rows_at_once)
    ensemble = StoredEnsemble(coded._replace(names=titles or coded.names), folder, n_bytes, missing)
    check_each_labelled(ensemble.categories, ensemble.names)
    return ensemble


def check_memory(memory: int, n_objects: int) -> int:
    """Bytes for blocks of rows: what is left of ``memory`` besides the libraries and the state of the methods."""
    room = memory - LIBRARIES - STATE * n_objects
    if room < LEAST_ROOM:
        least = -(-(LIBRARIES + STATE * n_objects + LEAST_ROOM) // 10**8) / 10
        raise ValueError(
            f"memory must be ≥ {least:g} GB for {n_objects:,} objects: about {STATE} bytes each, and the libraries. "
            f"Got {memory / 1e9:.3g} GB. Give more, or fewer objects."
        )
    return room
