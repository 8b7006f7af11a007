"""What a user may write to name rows or partitions: integers, slices, masks, index arrays, names."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_integer
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._validation import shown


def row_index(rows: Any, n_rows: int) -> NDArray[np.intp]:
    """Numbers from 0 of the rows that a mask or an index array means; a negative number counts from the end."""
    index = _array(rows)
    if index.dtype == bool and index.shape == (n_rows,):
        return np.flatnonzero(index)
    if index.shape == (0,):
        return np.empty(0, dtype=np.intp)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise IndexError(
            f"Rows must be an integer, a slice, a mask of {n_rows:,} truth values or a list of integers. "
            f"Got {shown(rows)}. Use select(partitions) for partitions."
        )
    lowest, highest = int(index.min()), int(index.max())
    if not -n_rows <= lowest <= highest < n_rows:
        raise IndexError(
            f"Rows must be from {-n_rows} to {n_rows - 1}. Got {lowest if lowest < -n_rows else highest}, which is out "
            "of bounds. Name rows that are there."
        )
    index = index.astype(np.intp)
    return np.where(index < 0, index + n_rows, index)


def _array(given: Any) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except ValueError:  # lists of unequal length
        return np.array(given, dtype=object)


def partition_index(partitions: Any, names: Sequence[str]) -> NDArray[np.intp]:
    """Numbers from 0 of the partitions, one or more, that names, a slice, a mask or integers mean."""
    index = _partition_numbers(partitions, names)
    if len(index) == 0:
        raise ValueError("Partitions to select must be at least one. Got none. Name one or more of them.")
    return index


def _partition_numbers(partitions: Any, names: Sequence[str]) -> NDArray[np.intp]:
    p = len(names)
    if isinstance(partitions, slice):
        return np.arange(p)[check_slice(partitions, "partitions")]
    chosen = np.atleast_1d(_array(partitions))
    if chosen.dtype.kind in "UOT" and chosen.ndim == 1:
        return _named(chosen.tolist(), names)
    is_mask = chosen.dtype == bool and chosen.shape == (p,)
    if chosen.size and not is_mask and (chosen.ndim != 1 or chosen.dtype.kind not in "iu"):
        raise IndexError(
            f"Partitions to select must be names, a slice, a mask of {p} truth values or a list of integers. "
            f"Got {shown(partitions)}. Name one or more of them."
        )
    if chosen.size and not is_mask and not -p <= int(chosen.min()) <= int(chosen.max()) < p:
        raise IndexError(
            f"Partitions to select must be from {-p} to {p - 1}. Got {shown(partitions)}, which is out of bounds. "
            "Name partitions that are there."
        )
    return np.arange(p)[chosen] if chosen.size else np.arange(0)


def _named(chosen: Sequence[Any], names: Sequence[str]) -> NDArray[np.intp]:
    place = {name: j for j, name in enumerate(names)}
    unknown = [name for name in chosen if not isinstance(name, str) or name not in place]
    if unknown:
        raise ValueError(
            f"Partitions to select must be among the names of the ensemble. Got {shown(unknown[0])}. "
            f"The names are {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}."
        )
    return np.array([place[name] for name in chosen], dtype=np.intp)


def check_slice(rows: slice, subject: str) -> slice:
    """A slice of whole numbers."""
    try:
        rows.indices(0)
    except (TypeError, ValueError):
        raise IndexError(
            f"A slice of {subject} must have whole numbers, and a step other than 0. Got {shown(rows)}. "
            f"Use start:stop:step."
        ) from None
    return rows


def is_integer(rows: Any) -> bool:
    """Whether one row is named."""
    if isinstance(rows, bool | np.bool_) or (isinstance(rows, np.ndarray) and rows.dtype == bool):
        return False
    try:
        as_integer(rows)
    except TypeError:
        return False
    return True
