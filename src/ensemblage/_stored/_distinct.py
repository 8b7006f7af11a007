"""Distinct rows of a code matrix on disk: sorted runs that fit the memory, merged in the order of the rows.

The runs are cut at regular samples of all of them (Shi & Schaeffer, "Parallel sorting by regular sampling", 1992), so
that every piece of the merge fits the memory too, however the rows are distributed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._stored._scratch import Scratch, write_array
from ensemblage.counting._distinct import distinct_rows
from ensemblage.rows.blocks import row_blocks
from ensemblage.rows.disk import StoredRows
from ensemblage.rows.threads import parallel_map, thread_count

BYTES_PER_ROW = 120
"""Memory of `distinct_rows` per row of 20 labels, all of them distinct (measured)."""


@dataclass
class Run:
    """Distinct rows of one block of rows, in order."""

    rows: Any
    """(m, p)"""
    counts: NDArray[Any]
    """(m,)"""
    places: NDArray[Any]
    """(m,) where each row stands among the distinct rows of all runs."""


def distinct_rows_on_disk(
    codes: Any, radices: NDArray[np.int64], scratch: Scratch, rows_at_once: int, n_jobs: int | None = None
) -> tuple[StoredRows, NDArray[np.int64], NDArray[Any]]:
    """What `distinct_rows` returns, with the rows on disk. O(n p) reading and writing, twice.

    Memory: about 8 bytes per row and 16 per distinct row, and `BYTES_PER_ROW` for each of ``rows_at_once``.
    """
    if len(codes) <= rows_at_once:
        rows, counts, inverse = distinct_rows(codes[:], radices)
        with scratch.writing("distinct") as file:
            write_array(file, rows)
        return scratch.rows("distinct", rows.shape, rows.dtype), counts, inverse
    most = max(1, rows_at_once // thread_count(n_jobs))
    blocks = row_blocks(len(codes), most)
    index: Any = np.int32 if len(codes) < 2**31 else np.int64
    inverse = np.empty(len(codes), dtype=index)

    def sorted_run(i: int) -> Run:
        rows, counts, inverse[blocks[i]] = distinct_rows(codes[blocks[i]], radices)
        with scratch.writing(f"run-{i}") as file:
            write_array(file, rows)
        stored = scratch.rows(f"run-{i}", rows.shape, rows.dtype)
        return Run(stored, counts.astype(index), np.empty(len(rows), dtype=index))

    runs = parallel_map(sorted_run, range(len(blocks)), n_jobs)
    counts = _merge(runs, most, radices, scratch, n_jobs)
    for i, block in enumerate(blocks):
        inverse[block] = runs[i].places[inverse[block]]
        scratch.remove(f"run-{i}")
    return scratch.rows("distinct", (len(counts), codes.shape[1]), codes.dtype), counts, inverse


def _merge(
    runs: list[Run], most: int, radices: NDArray[np.int64], scratch: Scratch, n_jobs: int | None
) -> NDArray[np.int64]:
    """Write the distinct rows of all runs; returns their counts, and leaves their places in the runs."""
    pieces, threads = list(pieces_of_runs(runs, most)), thread_count(n_jobs)
    counts: list[NDArray[np.int64]] = []
    n_rows = 0
    with scratch.writing("distinct") as file:
        for start in range(0, len(pieces), threads):
            some = pieces[start : start + threads]
            merged = parallel_map(lambda piece: merged_piece(runs, piece, radices), some, n_jobs)
            for piece, (rows, piece_counts, places) in zip(some, merged, strict=True):
                write_array(file, rows)
                for run, part, place in zip(runs, piece, places, strict=True):
                    run.places[part] = n_rows + place
                n_rows += len(rows)
                counts.append(piece_counts)
    return np.concatenate(counts)


def pieces_of_runs(runs: list[Run], most: int) -> Iterator[list[slice]]:
    """Slices of every run, piece by piece in the order of the rows; a piece has at most ``most`` rows, or two a run."""
    step = max(1, most // (2 * len(runs)))
    samples = sorted(tuple(row) for run in runs for row in run.rows[::step].tolist())
    cuts = samples[len(runs) :: len(runs)]
    bounds = [[0, *(first_at_least(run.rows, cut) for cut in cuts), len(run.rows)] for run in runs]
    for i in range(len(cuts) + 1):
        yield [slice(bound[i], bound[i + 1]) for bound in bounds]


def first_at_least(rows: Any, cut: tuple[int, ...]) -> int:
    return bisect_left(range(len(rows)), cut, key=lambda i: tuple(rows[i].tolist()))


def merged_piece(
    runs: list[Run], piece: list[slice], radices: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64], list[NDArray[Any]]]:
    """Distinct rows of a piece, their counts, and the place of each run's rows among them."""
    parts = [run.rows[part] for run, part in zip(runs, piece, strict=True)]
    return merged(radices, parts, [run.counts[part] for run, part in zip(runs, piece, strict=True)])


def merged(
    radices: NDArray[np.int64], parts: list[NDArray[Any]], counts_of_parts: list[NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[np.int64], list[NDArray[Any]]]:
    """Distinct rows of several matrices whose rows have counts, their counts, and the place of each matrix's rows."""
    rows, _, inverse = distinct_rows(np.concatenate(parts), radices)
    weights = np.concatenate(counts_of_parts)
    counts = np.bincount(inverse, weights=weights, minlength=len(rows)).astype(np.int64)  # exact below 2⁵³
    return rows, counts, np.split(inverse, np.cumsum([len(part) for part in parts])[:-1])
