"""What the figures are given, checked in one place."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import MOST_OBJECTS, Shape, Whole, check_numbers, check_value, format_value


def whole_numbers(values: Any, subject: str, shape: Shape, least: int = 0) -> NDArray[np.int64]:
    """Whole numbers of a shape, as `check_numbers`."""
    array = np.asarray(values) if isinstance(values, np.ndarray) and values.dtype.kind in "iu" else None
    checked = check_numbers(values, subject, shape, least)
    if array is None and not (np.isfinite(checked).all() and (checked == np.rint(checked)).all()):
        raise ValueError(
            f"{subject} must be whole numbers. Got {format_value(values)}. Use -1 for objects without a cluster."
        )
    return (checked if array is None else array).astype(np.int64)


def axes_of(values: Any) -> Shape:
    """A letter for each axis, to be checked with; one if it is no array."""
    try:
        n_axes = np.ndim(values)
    except ValueError:  # lists of unlike lengths
        n_axes = 1
    return tuple(f"n{axis}" for axis in range(n_axes)) if n_axes > 1 else ("n",) * n_axes


def check_sizes(sizes: Any, n: int, subject: str) -> NDArray[np.float64]:
    """How many objects each of n rows stands for: one, if nothing is said."""
    checked = check_numbers(np.ones(n) if sizes is None else sizes, subject, (n,))
    if not (np.isfinite(checked).all() and (checked >= 0).all() and (n == 0 or checked.any())):
        raise ValueError(
            f"{subject} must be numbers ≥ 0, not all 0. Got {format_value(sizes)}. Give the numbers of objects."
        )
    return checked


def check_length(values: Sequence[Any] | None, n: int, subject: str) -> None:
    """One entry each, in an order, if there are any."""
    try:
        got = n if values is None else len(values)
        if isinstance(values, Set | Mapping):
            raise TypeError
    except TypeError:
        raise ValueError(
            f"{subject} must be a list of {n} entries. Got {format_value(values)}. Give one each."
        ) from None
    if got != n:
        raise ValueError(f"{subject} must be {n} entries. Got {got}. Give one each.")


def check_mapping(values: Any, subject: str) -> None:
    """A dict that is not empty."""
    if not isinstance(values, Mapping) or not values:
        raise TypeError(
            f"{subject} must be a dict with at least one entry. Got {format_value(values)}. Give numbers by k."
        )


def check_marked_k(n_clusters: Any) -> None:
    """The number of clusters to mark, or None."""
    check_value(n_clusters, "n_clusters to mark", [Whole(1, MOST_OBJECTS), None])
