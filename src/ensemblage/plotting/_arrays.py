"""What the figures are given, checked in one place."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._validation import shown

Shape = tuple[int | str, ...]


def numbers(values: Any, subject: str, shape: Shape, least: int = 0) -> NDArray[np.float64]:
    """Numbers of a shape, a letter in which is any length (the same one for the same letter); at least so many rows."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{subject} must be numbers of shape {_text(shape)}. Got {shown(values)}. Give such an array."
        ) from None
    lengths: dict[int | str, int] = {}
    fits = array.ndim == len(shape) and all(
        size == (axis if isinstance(axis, int) else lengths.setdefault(axis, size))
        for axis, size in zip(shape, array.shape, strict=True)
    )
    if not fits or len(array) < least:
        at_least = f" with {least} or more rows" if fits else ""
        raise ValueError(
            f"{subject} must be numbers of shape {_text(shape)}{at_least}. Got shape {_text(array.shape)}. "
            "Give such an array."
        )
    return array


def whole_numbers(values: Any, subject: str, shape: Shape, least: int = 0) -> NDArray[np.int64]:
    """Whole numbers of a shape, as `numbers`."""
    array = np.asarray(values) if isinstance(values, np.ndarray) and values.dtype.kind in "iu" else None
    checked = numbers(values, subject, shape, least)
    if array is None and not (np.isfinite(checked).all() and (checked == np.rint(checked)).all()):
        raise ValueError(f"{subject} must be whole numbers. Got {shown(values)}. Negative ones stand for none.")
    return (checked if array is None else array).astype(np.int64)


def check_length(values: Sequence[Any] | None, n: int, subject: str) -> None:
    """One entry each, if there are any."""
    if values is not None and len(values) != n:
        raise ValueError(f"{subject} must be {n} entries. Got {len(values)}. Give one each.")


def check_mapping(values: Any, subject: str) -> None:
    """A dict that is not empty."""
    if not isinstance(values, Mapping) or not values:
        raise TypeError(f"{subject} must be a dict with at least one entry. Got {shown(values)}. Give numbers by k.")


def _text(shape: Sequence[int | str]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
