"""Parameter checks in one voice: subject, rule, what was got, next step."""

from __future__ import annotations

import inspect
import math
import numbers
import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = float(np.finfo(np.float64).max)
"""The largest finite number; whole numbers may be larger."""
MOST_TASKS = 1_000_000
"""Most partitions to make, or starts and passes of one fit."""
MOST_OBJECTS = 2**31 - 1


def check_whole(value: Any, subject: str, least: int, most: int | None = None) -> int:
    """A whole number of at least ``least`` (and at most ``most``)."""
    rule = f"≥ {least}" if most is None else f"from {least} to {most}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ValueError(f"{subject} must be a whole number {rule}. Got {shown(value)}. Give such a number.")
    if value < least or (most is not None and value > most):
        raise ValueError(f"{subject} must be a whole number {rule}. Got {shown(int(value))}. Give such a number.")
    return int(value)


def check_number(
    value: Any, subject: str, *, least: float | None = None, above: float | None = None, below: float = math.inf
) -> float:
    """A finite number ≥ ``least`` or > ``above``, and < ``below``."""
    rule = f"≥ {least}" if above is None else f"> {above}"
    rule += "" if below == math.inf else f" and < {below}"
    number = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    if not (
        number
        and -LARGEST <= value <= LARGEST
        and (least is None or value >= least)
        and (above is None or value > above)
        and value < below
    ):
        raise ValueError(f"{subject} must be a number {rule}. Got {shown(value)}. Give such a number.")
    return float(value)


def check_fraction(value: Any, subject: str) -> float:
    """A number > 0 and ≤ 1."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    if not (number and 0 < value <= 1):
        raise ValueError(f"{subject} must be a number > 0 and ≤ 1. Got {shown(value)}. Give the part, as 0.8.")
    return float(value)


def check_flag(value: Any, subject: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{subject} must be True or False. Got {shown(value)}. Give one of them.")
    return bool(value)


def check_progress(progress: Any, subject: str) -> None:
    """A function of what is done and of the total, or None."""
    if progress is not None and not callable(progress):
        raise TypeError(f"{subject} must be a function. Got {shown(progress)}. Give one, or None.")


def check_flags(estimator: Any) -> None:
    """Parameters of an estimator whose default is True or False are one of them."""
    for name, parameter in inspect.signature(type(estimator)).parameters.items():
        if isinstance(parameter.default, bool):
            check_flag(getattr(estimator, name), f"{name} of {type(estimator).__name__}")


def takes_labels(tags: Any) -> Any:
    """scikit-learn's tags of an estimator whose input is a label matrix."""
    tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
    return tags


def check_choice(value: Any, subject: str, choices: Collection[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        names = ("one of " if len(choices) > 1 else "") + ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{subject} must be {names}. Got {shown(value)}. Choose one of them.")
    return value


UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
MOST_BYTES = 2**63 - 1
"""More than any machine has: a larger limit means the same."""


def check_bytes(value: Any, subject: str) -> int:
    """A number of bytes ≥ 1: 2000000000 or "2GB"."""
    size: Any = _text_bytes(value) if isinstance(value, str) else value
    if (
        isinstance(size, bool | np.bool_)
        or not isinstance(size, int | float | np.integer | np.floating)
        or not size >= 1
    ):
        raise ValueError(
            f"{subject} must be a number of bytes ≥ 1, or text such as '2GB' or '500MB'. Got {shown(value)}. "
            "Give such a size."
        )
    return MOST_BYTES if size >= MOST_BYTES else int(size)


def _text_bytes(text: str) -> float | None:
    match = re.fullmatch(r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([KMGT]?I?B?)\s*", text.upper())
    if match is None:
        return None
    unit = match[2].replace("I", "")
    factor = UNITS.get(unit + "B" if unit in ("K", "M", "G", "T") else unit)
    return None if factor is None else round(float(match[1]) * factor)


def check_path(path: Any, subject: str) -> Path:
    """A path, as text or as an object that stands for one."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise TypeError(f"{subject} must be a path: text or a pathlib.Path. Got {shown(path)}. Name a file or folder.")
    return Path(text)


def shown(value: Any) -> str:
    """What to write after "Got": the value as Python writes it, cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # a number of more than 4,300 digits; an object that fails to describe itself
        text = f"a value of type {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= 100 else f"{text[:90]} … ({len(text):,} characters)"


def n_distinct_rows(X: NDArray[np.float64], most: int) -> int:
    """The number of different rows, counted up to ``most``."""
    distinct: set[bytes] = set()
    for row in X:
        distinct.add((row + 0.0).tobytes())  # -0.0 is 0.0
        if len(distinct) >= most:
            break
    return len(distinct)


Shape = tuple[int | str, ...]


def check_numbers(values: Any, subject: str, shape: Shape, least: int = 0) -> NDArray[np.float64]:
    """Numbers of a shape, a letter in which is any length (the same one for the same letter); at least so many rows."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{subject} must be numbers of shape {_shape_text(shape)}. Got {shown(values)}. Give such an array."
        ) from None
    lengths: dict[int | str, int] = {}
    fits = array.ndim == len(shape) and all(
        size == (axis if isinstance(axis, int) else lengths.setdefault(axis, size))
        for axis, size in zip(shape, array.shape, strict=True)
    )
    if not fits or len(array) < least:
        at_least = f" with {least} or more rows" if fits else ""
        raise ValueError(
            f"{subject} must be numbers of shape {_shape_text(shape)}{at_least}. Got shape {_shape_text(array.shape)}. "
            "Give such an array."
        )
    return array


def _shape_text(shape: Sequence[int | str]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def check_weights(weights: Any, n_partitions: int, subject: str) -> NDArray[np.float64]:
    """One finite weight ≥ 0 per partition, not all zero, in units of `weight_unit`; None is one each.

    What a weight is multiplied with stays finite in this way, in float32 as well. The units are exact, but that a
    weight > 0 counts as at least ``LEAST_WEIGHT`` of the largest.
    """
    if weights is None:
        return np.ones(n_partitions)
    rule = f"weights of {subject} must be {n_partitions} numbers ≥ 0, one per partition, not all 0"
    try:
        checked = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{rule}. Got {shown(weights)}. Give one weight per partition.") from None
    if checked.shape != (n_partitions,):
        raise ValueError(f"{rule}. Got shape {checked.shape}. Give one weight per partition.")
    if not (np.isfinite(checked).all() and (checked >= 0).all() and checked.any()):
        raise ValueError(f"{rule}. Got {checked.min():g} to {checked.max():g}. Leave partitions out with select().")
    scaled: NDArray[np.float64] = checked / weight_unit(checked)
    scaled[checked > 0] = np.maximum(scaled[checked > 0], LEAST_WEIGHT)
    return scaled


LEAST_WEIGHT = 2.0**-64
"""A weight smaller than this part of the largest counts as this part: it still decides where no other does."""


def weight_unit(weights: Any) -> float:
    """The weight that `check_weights` makes 1: what losses are multiplied with to be those of the given weights.

    The only weight > 0 if all are alike, so that the same weight for all partitions is no weight at all. Otherwise the
    power of two that brings the largest weight into (½, 1], or the largest power of two that there is.
    """
    if weights is None:
        return 1.0
    given = np.asarray(weights, dtype=np.float64)
    largest = float(given.max())
    if (given[given > 0] == largest).all():
        return largest
    mantissa, exponent = math.frexp(largest)
    return math.ldexp(1.0, min(exponent - (mantissa == 0.5), 1023))
