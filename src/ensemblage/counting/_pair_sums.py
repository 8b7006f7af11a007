"""How many partitions join a pair of objects, summed over the pairs that each of some clusterings joins."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.counting._bitmaps import Bitmaps, add_over_pairs, bitmaps_pay
from ensemblage.kernels._jit import are_few
from ensemblage.kernels._pair_sums import CHUNK, sum_marked_pairs, sum_pairs
from ensemblage.labels.blocks import map_rows
from ensemblage.labels.threads import rows_per_call

logger = logging.getLogger(__name__)

TASK_ROWS = 128
"""Rows of one task, or fewer. Results do not depend on it."""


class Codes(NamedTuple):
    """Codes of some clusterings, by row and by column; two objects are together where one's equals the other's.

    A missing entry equals nothing: its code by row is none of those by column.
    """

    by_row: NDArray[Any]
    """(m, s)"""
    by_column: NDArray[Any]
    """(s, m)"""
    known_by_row: NDArray[np.uint8]
    """(m, s) 1 where labelled, else 2."""
    known_by_column: NDArray[np.uint8]
    """(s, m) 1 where labelled, else 0. Both empty, (m, 0) and (0, m), if every entry is."""

    @property
    def complete(self) -> bool:
        """Whether no label is missing."""
        return bool(self.known_by_row.shape[1] == 0)

    @classmethod
    def of(cls, codes: NDArray[Any], n_clusters: NDArray[np.int64]) -> Codes:
        """Of an (m, s) matrix in which ``n_clusters[j]`` means missing."""
        missing = codes == n_clusters.astype(codes.dtype)
        if not missing.any():
            nothing = np.empty((len(codes), 0), dtype=np.uint8)
            return cls(codes, np.ascontiguousarray(codes.T), nothing, nothing.T)
        dtype: Any = np.uint8 if n_clusters.max() < 255 else np.int32
        by_row = codes.astype(dtype) + dtype(1)
        by_column = np.ascontiguousarray((by_row * ~missing).T)
        known = np.where(missing, np.uint8(2), np.uint8(1))
        return cls(by_row, by_column, known, np.ascontiguousarray(known.T) % np.uint8(2))


class WideSums(NamedTuple):
    """Sums over ordered pairs of objects, themselves included; whole numbers beyond 2⁶³, as high · 2³¹ + low."""

    joined: NDArray[np.int64]
    """(s, 2) over the pairs that each clustering joins."""
    labelled: NDArray[np.int64]
    """(s, 2) over the pairs that it labels; (1, 2) if all label all."""


def runs_of_equal_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Edges of runs of at most CHUNK equal counts, of sorted counts."""
    starts = np.flatnonzero(np.diff(counts, prepend=-1))
    stops = np.append(starts[1:], len(counts))
    pieces = [np.arange(start, stop, CHUNK) for start, stop in zip(starts, stops, strict=True)]
    return np.append(np.concatenate(pieces), len(counts))


def wide_sums_over_pairs(
    ensemble: Codes,
    judged: Codes,
    counts: NDArray[np.int64],
    thresholds: NDArray[np.int64],
    tables: NDArray[np.int64],
    n_jobs: int | None = None,
) -> WideSums:
    """Sum a value of every pair of objects over the pairs that clusterings join, and over those that they label.

    Rows are in increasing order of ``counts``. The value depends on how many partitions of the ensemble label the pair,
    b, and how many join it, a: 1 if a ≥ ``thresholds[b]`` else 0, or, if there are ``tables``, ``tables[0, b, a]`` in
    the sum over joined pairs and ``tables[1, b, a]`` in that over labelled pairs. n · |value| must stay below 2⁶¹.
    O(m² (p + s)) time, m (p + s) bytes besides the codes.
    """
    p, s = len(ensemble.by_column), len(judged.by_column)
    if not len(tables) and ensemble.complete and judged.complete:
        if are_few(len(counts) ** 2 * (p + s)) and counts.sum() < 2**31:
            return _sums_of_few_rows(ensemble, judged, counts, int(thresholds[-1]))
        same = judged is ensemble
        both = ensemble.by_row if same else np.hstack([ensemble.by_row, judged.by_row])
        bitmaps = Bitmaps.of(both, counts)
        if bitmaps_pay(bitmaps):
            arguments = p, 0 if same else p, int(thresholds[-1])
            zeros = np.zeros((s, 2), np.int64), np.zeros((1, 2), np.int64)
            return WideSums(*add_over_pairs(bitmaps, sum_marked_pairs, arguments, zeros, 8 + p + s, n_jobs))
    edges = runs_of_equal_counts(counts)
    thresholds = thresholds.astype(np.uint8 if p < 256 else np.int32)
    if not len(tables):
        tables = tables.astype(np.uint8)
    codes = tuple(ensemble), tuple(judged)

    def of_task(rows: NDArray[np.int64]) -> WideSums:
        task = WideSums(np.zeros((s, 2), np.int64), np.zeros((s if judged.known_by_row.size else 1, 2), np.int64))
        first, last = int(rows[0]), int(rows[-1]) + 1
        logger.info("pairs of label rows: %d to %d of %d with those up to them", first + 1, last, len(counts))
        sum_pairs(*codes, counts, edges, thresholds, tables, first, last, *task)
        return task

    # Bytes are compared 16 at a time, values of 8 bytes one by one.
    operations = len(counts) * (1 + (p + (8 if len(tables) else 1) * s) // 8)
    tasks = map_rows(of_task, [np.arange(len(counts))], n_jobs=n_jobs, size=rows_per_call(operations, TASK_ROWS))
    return WideSums(*(np.sum(parts, axis=0) for parts in zip(*tasks, strict=True)))


def _sums_of_few_rows(ensemble: Codes, judged: Codes, counts: NDArray[np.int64], threshold: int) -> WideSums:
    """`wide_sums_over_pairs` of marks where nothing is missing, by (m, m) matrices."""

    def join(column: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(np.equal.outer(column, column))

    joined = np.zeros((len(counts), len(counts)), dtype=np.int32)
    for column in ensemble.by_column:
        joined += join(column)
    pairs = np.where(joined >= threshold, np.outer(counts, counts), 0)
    sums = np.array([(pairs * join(column)).sum() for column in judged.by_column]), pairs.sum()[None]
    return WideSums(*(np.column_stack(np.divmod(part, 2**31)) for part in sums))
