"""What a user may write to name rows or partitions: integers, slices, masks, index arrays, names."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_integer
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import format_value


def row_index(rows: Any, n_rows: int) -> NDArray[np.intp]:
    """Numbers from 0 of the rows that a mask or an index array means; a negative number counts from the end."""
    return _numbers(rows, _array(rows), n_rows, "Rows", "an integer", "Use select(partitions) for partitions.")


def partition_index(partitions: Any, names: Sequence[str]) -> NDArray[np.intp]:
    """Numbers from 0 of the partitions, one or more, that names, a slice, a mask or integers mean."""
    if isinstance(partitions, slice):
        index = np.arange(len(names))[check_slice(partitions, "partitions")]
    else:
        chosen = np.atleast_1d(_array(partitions))
        if chosen.dtype.kind in "UOT" and chosen.ndim == 1:
            index = _indices_by_name(chosen.tolist(), names)
        else:
            advice = "Name at least one partition."
            index = _numbers(partitions, chosen, len(names), "Partitions to select", "names", advice)
    if len(index) == 0:
        raise ValueError("Partitions to select must be at least one. Got none. Name at least one partition.")
    return index


def _numbers(given: Any, index: NDArray[Any], n: int, subject: str, others: str, advice: str) -> NDArray[np.intp]:
    """Numbers from 0 to n - 1 that ``index``, of ``given``, means: a mask or integers; errors name ``others`` too."""
    if index.dtype == bool and index.shape == (n,):
        return np.flatnonzero(index)
    if index.shape == (0,):
        return np.empty(0, dtype=np.intp)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise IndexError(
            f"{subject} must be {others}, a slice, a mask of {n:,} truth values or a list of integers. "
            f"Got {format_value(given)}. {advice}"
        )
    lowest, highest = int(index.min()), int(index.max())
    if not -n <= lowest <= highest < n:
        outside = lowest if lowest < -n else highest
        raise IndexError(
            f"{subject} must be from {-n} to {n - 1}. Got {outside}, which is out of bounds. "
            f"Name {subject.split()[0].lower()} within these bounds."
        )
    index = index.astype(np.intp)
    return np.where(index < 0, index + n, index)


def _array(given: Any) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except ValueError:  # lists of unequal length
        return np.array(given, dtype=object)


def _indices_by_name(chosen: Sequence[Any], names: Sequence[str]) -> NDArray[np.intp]:
    place = {name: j for j, name in enumerate(names)}
    unknown = [name for name in chosen if not isinstance(name, str) or name not in place]
    if unknown:
        raise ValueError(
            f"Partitions to select must be among the names of the ensemble. Got {format_value(unknown[0])}. "
            f"The names are {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}."
        )
    return np.array([place[name] for name in chosen], dtype=np.intp)


def check_slice(rows: slice, subject: str) -> slice:
    """A slice of whole numbers."""
    try:
        rows.indices(0)
    except (TypeError, ValueError):
        raise IndexError(
            f"A slice of {subject} must have whole numbers, and a step other than 0. Got {format_value(rows)}. "
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
