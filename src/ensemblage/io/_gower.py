"""Gower's distance between the rows of a table: for clusterers that take distances, and tables with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.io._column import Column
from ensemblage.io._encoding import Encoded, Options, plan_columns
from ensemblage.io._table import Table
from ensemblage.kernels._points import gower
from ensemblage.labels.threads import row_blocks

MOST_BYTES = 2 * 10**9


def gower_distances(
    table: Table | Any, columns: Sequence[Column] | None = None, *, dates: str = "drop"
) -> NDArray[np.float64]:
    """(n, n) Gower distances between the rows of a table in some columns, or of an array of numbers.

    The mean over the columns that both rows have: |x − y| / range of numbers, ranks of ordered categories and dates; 0
    or 1 of categories. Ids, free text and constant columns do not count.

    Raises
    ------
    ValueError
        If the matrix would take more than 2 GB, if no column is left, if two rows have no column in common.
    """
    numbers, categories, n, source = _columns_of(table, columns, dates)
    _check_comparable(numbers, categories, source)
    if 8 * n * n > MOST_BYTES:
        raise ValueError(
            f"Distances of all pairs must fit into {MOST_BYTES / 1e9:.0f} GB: at most {int((MOST_BYTES / 8) ** 0.5):,} "
            f"rows. {source} has {n:,}. Use another generator, which needs no distances."
        )
    with np.errstate(invalid="ignore"):
        spans = np.fmax.reduce(numbers, initial=-np.inf) - np.fmin.reduce(numbers, initial=np.inf)
    numbers = numbers[:, spans > 0] / spans[spans > 0]
    if numbers.shape[1] + categories.shape[1] == 0:
        raise ValueError(f"{source} must have a column that varies. It has none. Give other features.")
    distances = np.zeros((n, n))
    numbers, categories = np.ascontiguousarray(numbers), np.ascontiguousarray(categories)
    for rows in row_blocks(n, 256):  # so that Ctrl-C is heard
        gower(numbers, categories, rows.start, rows.stop, distances)
    return distances


def check_comparable(table: Table, columns: Sequence[Column], *, dates: str = "drop") -> None:
    """Refuse a table with two rows that have no column in common, before anything is computed."""
    numbers, categories, _, source = _columns_of(table, columns, dates)
    _check_comparable(numbers, categories, source)


def _check_comparable(numbers: NDArray[np.float64], categories: NDArray[np.int32], source: str) -> None:
    varies = np.fmax.reduce(numbers, initial=-np.inf) > np.fmin.reduce(numbers, initial=np.inf)
    known = np.column_stack([~np.isnan(numbers[:, varies]), categories >= 0])
    if known.all() or not known.shape[1]:
        return
    patterns, first, count = np.unique(known, axis=0, return_index=True, return_counts=True)
    for one, row, n_rows in zip(patterns, first, count, strict=True):
        others = first[~(patterns & one).any(axis=1)]
        others = others[others != row] if n_rows == 1 else others
        if len(others):
            alike = np.flatnonzero((known == one).all(axis=1))
            i, j = sorted(map(int, (row, alike[-1] if row in others else others[0])))
            raise ValueError(
                f"Any two rows of {source} must share a column in which both have a value, for Gower's distances. Rows "
                f"{i + 1} and {j + 1} share none. Fill missing values, or leave such rows out."
            )


def _columns_of(
    table: Table | Any, columns: Sequence[Column] | None, dates: str
) -> tuple[NDArray[np.float64], NDArray[np.int32], int, str]:
    """(n, a) numbers with NaN and (n, b) codes with −1 where they are missing, n, what messages call it."""
    if columns is None:
        X = np.asarray(table, dtype=np.float64)
        return X, np.empty((len(X), 0), dtype=np.int32), len(X), "X"
    plans = plan_columns(table, columns, Options(dates="days" if dates == "days" else "drop")).values()
    numbers, codes, n = [], [], len(table)
    for plan in plans:
        if isinstance(plan, Encoded):
            (values,) = plan.values(table).values()
            if plan.kind == "category":
                codes.append(np.nan_to_num(values, nan=-1).astype(np.int32))
            else:
                numbers.append(values)
    return (
        np.column_stack(numbers) if numbers else np.empty((n, 0)),
        np.column_stack(codes) if codes else np.empty((n, 0), dtype=np.int32),
        n,
        table.source,
    )
