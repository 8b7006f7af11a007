"""Parameter checks in one voice: subject, rule, what was got, next step."""

from __future__ import annotations

import inspect
import math
import numbers
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = float(np.finfo(np.float64).max)
"""The largest finite number; whole numbers may be larger."""
MOST_TASKS = 1_000_000
"""Most partitions to make, or starts and passes of one fit."""
MOST_OBJECTS = 2**31 - 1
MOST_JOBS = 1_000


def is_number(value: Any) -> bool:
    """Whether it is a finite number; True and False are none."""
    real = isinstance(value, numbers.Real) and not is_flag(value)
    # A float32 would make the bounds infinite.
    return real and bool(-LARGEST <= (float(value) if isinstance(value, np.floating) else value) <= LARGEST)


def is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


class Constraint:
    """What a parameter may be: ``rule`` follows "must be", ``advice`` is the next step."""

    advice: str = "Give such a value."
    error: type[Exception] = ValueError

    def rule(self) -> str:
        raise NotImplementedError

    def fits(self, value: Any) -> bool:
        raise NotImplementedError

    def why_not(self, value: Any) -> str:
        """What to say after what was got, if there is more to say about that value than the rule."""
        return ""


@dataclass(frozen=True)
class Whole(Constraint):
    """A whole number of at least ``least`` (and at most ``most``)."""

    least: int
    most: int | None = None

    advice = "Give such a number."

    def rule(self) -> str:
        return f"a whole number {f'≥ {self.least}' if self.most is None else f'from {self.least} to {self.most}'}"

    def fits(self, value: Any) -> bool:
        whole = isinstance(value, int | np.integer) and not is_flag(value)
        return whole and self.least <= value and (self.most is None or bool(value <= self.most))


@dataclass(frozen=True)
class Number(Constraint):
    """A finite number ≥ ``least`` or > ``above``, and < ``below``."""

    least: float | None = None
    above: float | None = None
    below: float = math.inf

    advice = "Give such a number."

    def rule(self) -> str:
        lower = f"≥ {self.least}" if self.above is None else f"> {self.above}"
        return f"a number {lower}{'' if self.below == math.inf else f' and < {self.below}'}"

    def fits(self, value: Any) -> bool:
        if not is_number(value):
            return False
        high_enough = (self.least is None or value >= self.least) and (self.above is None or value > self.above)
        return bool(high_enough and value < self.below)


@dataclass(frozen=True)
class Flag(Constraint):
    """True or False."""

    advice = "Give one of them."

    def rule(self) -> str:
        return "True or False"

    def fits(self, value: Any) -> bool:
        return is_flag(value)


@dataclass(frozen=True)
class Words(Constraint):
    """One of a few words; ``refused`` are words that somebody may try, with what is to be said about them."""

    choices: Collection[str]
    refused: Mapping[str, str] = field(default_factory=dict)

    advice = "Choose one of them."

    def rule(self) -> str:
        return ("one of " if len(self.choices) > 1 else "") + ", ".join(repr(choice) for choice in self.choices)

    def fits(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.choices

    def why_not(self, value: Any) -> str:
        return self.refused.get(value, "") if isinstance(value, str) else ""


@dataclass(frozen=True)
class Bytes(Constraint):
    """A number of bytes ≥ 1: 2000000000 or "2GB"."""

    advice = "Give such a size."

    def rule(self) -> str:
        return "a number of bytes ≥ 1, or text such as '2GB' or '500MB'"

    def fits(self, value: Any) -> bool:
        return _bytes_of(value) is not None


@dataclass(frozen=True)
class Seed(Constraint):
    """What `random_source` takes."""

    advice = "Give such a seed."

    def rule(self) -> str:
        return "None, a whole number from 0 to 4294967295 or a numpy RandomState"

    def fits(self, value: Any) -> bool:
        is_source = value is None or value is np.random or isinstance(value, np.random.RandomState)
        return is_source or Whole(0, 2**32 - 1).fits(value)


@dataclass(frozen=True)
class Jobs(Constraint):
    """What `thread_count` takes."""

    advice = "-1 uses every core."

    def rule(self) -> str:
        return f"None or a whole number other than 0, at most {MOST_JOBS:,}"

    def fits(self, value: Any) -> bool:
        whole = isinstance(value, int | np.integer) and not is_flag(value)
        return value is None or (whole and bool(value != 0 and value <= MOST_JOBS))


@dataclass(frozen=True)
class Values(Constraint):
    """Values in one dimension; how many and which, depends on the data."""

    text: str
    advice: str = "Give such values."

    def rule(self) -> str:
        return self.text

    def fits(self, value: Any) -> bool:
        if isinstance(value, str | bytes):
            return False
        try:
            return np.ndim(value) == 1
        except ValueError:  # ragged
            return False


@dataclass(frozen=True)
class Estimator(Constraint):
    """An estimator that has a method."""

    text: str
    method: str
    advice: str

    error = TypeError

    def rule(self) -> str:
        return self.text

    def fits(self, value: Any) -> bool:
        return not isinstance(value, type) and hasattr(value, "get_params") and hasattr(value, self.method)


@dataclass(frozen=True)
class Function(Constraint):
    """Something to call."""

    advice = "Give one, or leave it out."
    error = TypeError

    def rule(self) -> str:
        return "a function"

    def fits(self, value: Any) -> bool:
        return callable(value)


Constraints = Mapping[str, Sequence[Constraint | None]]
"""By the name of a parameter what it may be; one of these suffices."""


def parameter_constraints(cls: type) -> Constraints:
    """Those that a class and its bases declare as ``_parameter_constraints``; the class nearest to it decides."""
    merged: dict[str, Sequence[Constraint | None]] = {}
    for base in reversed(cls.__mro__):
        merged |= vars(base).get("_parameter_constraints", {})
    return merged


def check_parameters(estimator: Any) -> None:
    """Raise unless every parameter is what the class of the estimator declares; the only place that compares them."""
    name = type(estimator).__name__
    for parameter, constraints in parameter_constraints(type(estimator)).items():
        check_value(getattr(estimator, parameter), f"{parameter} of {name}", constraints)


def check_value(value: Any, subject: str, constraints: Sequence[Constraint | None]) -> None:
    """Raise unless a value fits one of the constraints."""
    if any(value is None if constraint is None else constraint.fits(value) for constraint in constraints):
        return
    first = next(constraint for constraint in constraints if constraint is not None)
    told = next((found for constraint in constraints if constraint and (found := constraint.why_not(value))), "")
    end = f", {told}" if told else f". {first.advice}"
    raise first.error(f"{subject} must be {rule_text(constraints)}. Got {shown(value)}{end}")


def rule_text(constraints: Sequence[Constraint | None]) -> str:
    """What a value must be to fit one of the constraints."""
    return ", or ".join("None" if constraint is None else constraint.rule() for constraint in constraints)


def check_whole(value: Any, subject: str, least: int, most: int | None = None) -> int:
    """A whole number of at least ``least`` (and at most ``most``)."""
    check_value(value, subject, [Whole(least, most)])
    return int(value)


def check_number(
    value: Any, subject: str, *, least: float | None = None, above: float | None = None, below: float = math.inf
) -> float:
    """A finite number ≥ ``least`` or > ``above``, and < ``below``."""
    check_value(value, subject, [Number(least, above, below)])
    return float(value)


def check_fraction(value: Any, subject: str) -> float:
    """A number > 0 and ≤ 1."""
    if not (is_number(value) and 0 < value <= 1):
        raise ValueError(f"{subject} must be a number > 0 and ≤ 1. Got {shown(value)}. Give the part, as 0.8.")
    return float(value)


def check_flag(value: Any, subject: str) -> bool:
    """True or False."""
    check_value(value, subject, [Flag()])
    return bool(value)


def check_progress(progress: Any, subject: str) -> None:
    """A function of what is done and of the total, or None."""
    check_value(progress, subject, [Function(), None])


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
    check_value(value, subject, [Words(choices)])
    return str(value)


UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
MOST_BYTES = 2**63 - 1
"""More than any machine has: a larger limit means the same."""


def check_bytes(value: Any, subject: str) -> int:
    """A number of bytes ≥ 1: 2000000000 or "2GB"."""
    check_value(value, subject, [Bytes()])
    return int(_bytes_of(value) or 0)


def _bytes_of(value: Any) -> int | None:
    """The number of bytes, at most `MOST_BYTES`; None if the value is no size."""
    size: Any = _text_bytes(value) if isinstance(value, str) else value
    if is_flag(size) or not isinstance(size, int | float | np.integer | np.floating) or not size >= 1:
        return None
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
