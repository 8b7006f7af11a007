"""What parameters may be, and their checks in one voice: subject, rule, what was got, next step.

Estimators declare constraints as ``_parameter_constraints``; `check_parameters` is the only place that compares them.
"""

from __future__ import annotations

import math
import numbers
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option, suggestion

LARGEST = float(np.finfo(np.float64).max)
"""The largest finite number; whole numbers may be larger."""
MOST_LISTED = 20
"""Most words that a message lists."""
MOST_TASKS = 1_000_000
"""Most partitions to make, or starts and passes of one fit."""
MOST_JOBS = 1_000
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
MOST_BYTES = 2**63 - 1
"""More than any machine has: a larger limit means the same."""


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

    def next_step(self, value: Any) -> str:
        """What to do after a value was refused: `advice`, unless the value itself shows what was meant."""
        return self.advice


@dataclass(frozen=True)
class Whole(Constraint):
    """A whole number of at least ``least`` (and at most ``most``)."""

    least: int
    most: int | None = None

    advice = "Give a number in this range."

    def rule(self) -> str:
        return f"a whole number {f'≥ {self.least:,}' if self.most is None else f'from {self.least:,} to {self.most:,}'}"

    def fits(self, value: Any) -> bool:
        whole = isinstance(value, int | np.integer) and not is_flag(value)
        return whole and self.least <= value and (self.most is None or bool(value <= self.most))


@dataclass(frozen=True)
class Number(Constraint):
    """A finite number ≥ ``least`` or > ``above``, and < ``below`` or ≤ ``most``."""

    least: float | None = None
    above: float | None = None
    below: float = math.inf
    most: float = math.inf

    advice = "Give a number in this range."

    def rule(self) -> str:
        lower = f"≥ {self.least}" if self.above is None else f"> {self.above}"
        upper = [f" and {sign} {bound}" for sign, bound in (("<", self.below), ("≤", self.most)) if bound != math.inf]
        return f"a number {lower}{''.join(upper)}"

    def fits(self, value: Any) -> bool:
        if not is_number(value):
            return False
        high_enough = (self.least is None or value >= self.least) and (self.above is None or value > self.above)
        return bool(high_enough and value < self.below and value <= self.most)


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
    called: str = ""
    """What many words are together, said instead of them."""

    advice = "Choose one of them."

    def rule(self) -> str:
        quoted = [repr(choice) for choice in self.choices]
        if len(quoted) > MOST_LISTED:
            return self.called or f"one of {len(quoted)} names, such as {', '.join(quoted[:3])}"
        return self.called or ("one of " if len(quoted) > 1 else "") + ", ".join(quoted)

    def next_step(self, value: Any) -> str:
        return (suggestion(value, self.choices) if isinstance(value, str) else "") or self.advice

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
        return bytes_of(value) is not None


SEEDS = Whole(0, 2**32 - 1)
"""Whole numbers that seed NumPy's RandomState."""


@dataclass(frozen=True)
class Seed(Constraint):
    """What `random_source` takes."""

    advice = "Give such a seed."

    def rule(self) -> str:
        return "None, a whole number from 0 to 4,294,967,295 or a numpy RandomState or Generator"

    def fits(self, value: Any) -> bool:
        is_source = (
            value is None or value is np.random or isinstance(value, np.random.RandomState | np.random.Generator)
        )
        return is_source or SEEDS.fits(value)


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
class Lists(Constraint):
    """A list of lists of numbers, of different lengths perhaps; how many and which, depends on the data."""

    text: str
    advice: str

    def rule(self) -> str:
        return self.text

    def fits(self, value: Any) -> bool:
        return isinstance(value, list | tuple) and all(Values("").fits(one) for one in value)


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


@dataclass(frozen=True)
class Edges(Constraint):
    """A graph in one of the ways in which it can be given."""

    advice = "Give one of these."

    def rule(self) -> str:
        return (
            "a graph: a square sparse matrix, columns of node, node and perhaps weight (an array, a data frame or the "
            "path of a table), or a graph of networkx or igraph or the path of one in GraphML"
        )

    def fits(self, value: Any) -> bool:
        ways = (("tocsr",), ("nodes", "is_directed"), ("get_edgelist", "vs"), ("columns",))
        if isinstance(value, str | PathLike) or any(all(hasattr(value, name) for name in way) for way in ways):
            return True
        try:
            return not isinstance(value, bytes | Mapping) and np.ndim(value) == 2 and np.shape(value)[1] in (2, 3)
        except ValueError:  # ragged
            return False


@dataclass(frozen=True)
class Mapped(Constraint):
    """A mapping."""

    text: str
    advice: str

    error = TypeError

    def rule(self) -> str:
        return self.text

    def fits(self, value: Any) -> bool:
        return isinstance(value, Mapping)


@dataclass(frozen=True)
class Several(Constraint):
    """A list of one or more values that fit a constraint."""

    each: Constraint

    advice = "Give such a list, or leave it out."

    def rule(self) -> str:
        return f"a list of one or more, each {self.each.rule()}"

    def fits(self, value: Any) -> bool:
        return isinstance(value, Sequence) and len(value) > 0 and all(self.each.fits(one) for one in value)


@dataclass(frozen=True)
class Codes(Constraint):
    """A list of one or more numbers and texts."""

    advice = "Give [-999, 'n/a'], for example, or leave it out."

    def rule(self) -> str:
        return "a list of one or more numbers and texts"

    def fits(self, value: Any) -> bool:
        is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes)
        return is_list and len(value) > 0 and all(isinstance(one, str) or is_number(one) for one in value)


FRACTION = Number(above=0, most=1)

Constraints = Mapping[str, Sequence[Constraint | None]]
"""By the name of a parameter what it may be; one of these suffices."""


def parameter_constraints(cls: type) -> Constraints:
    """Those that a class and its bases declare as ``_parameter_constraints``; the class nearest to it decides."""
    merged: dict[str, Sequence[Constraint | None]] = {}
    for base in reversed(cls.__mro__):
        merged |= vars(base).get("_parameter_constraints", {})
    return merged


def rule_text(constraints: Sequence[Constraint | None]) -> str:
    """What a value must be to fit one of the constraints."""
    return ", or ".join("None" if constraint is None else constraint.rule() for constraint in constraints)


def bytes_of(value: Any) -> int | None:
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


MOST_OBJECTS = 2**31 - 1


def check_parameters(estimator: Any) -> None:
    """Raise unless every parameter is what the class of the estimator declares; the only place that compares them."""
    name = type(estimator).__name__
    for parameter, constraints in parameter_constraints(type(estimator)).items():
        check_value(getattr(estimator, parameter), f"{parameter} of {name}", constraints)


def check_value(value: Any, subject: str, constraints: Sequence[Constraint | None]) -> None:
    """Raise unless a value fits one of the constraints."""
    for constraint in reversed(constraints):  # None, the most frequent one, stands last
        if value is None if constraint is None else constraint.fits(value):
            return
    first = next(constraint for constraint in constraints if constraint is not None)
    reason = next((found for constraint in constraints if constraint and (found := constraint.why_not(value))), "")
    end = f", {reason}" if reason else f". {first.next_step(value)}"
    raise first.error(f"{subject} must be {rule_text(constraints)}. Got {format_value(value)}{end}")


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


def check_flag(value: Any, subject: str) -> bool:
    """True or False."""
    check_value(value, subject, [Flag()])
    return bool(value)


def check_progress(progress: Any, subject: str) -> None:
    """A function of what is done and of the total, or None."""
    check_value(progress, subject, [Function(), None])


def takes_labels(tags: Any) -> Any:
    """scikit-learn's tags of an estimator whose input is a label matrix."""
    tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
    return tags


def check_choice(value: Any, subject: str, choices: Collection[str], listed: str = "") -> str:
    """One of a few words; of many, an error names what lists them (see `Message`) unless it can suggest some."""
    words = Words(choices)
    if not words.fits(value):
        advice = words.next_step(value)
        next_step = (Option(listed), " lists them.") if listed and advice == words.advice else (advice,)
        raise ValueError(Message(f"{subject} must be {words.rule()}. Got {format_value(value)}. ", *next_step))
    return str(value)


def check_bytes(value: Any, subject: str) -> int:
    """A number of bytes ≥ 1: 2000000000 or "2GB"."""
    check_value(value, subject, [Bytes()])
    return int(bytes_of(value) or 0)


def check_path(path: Any, subject: str) -> Path:
    """A path, as text or as an object that stands for one."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise TypeError(
            f"{subject} must be a path: text or a pathlib.Path. Got {format_value(path)}. Name a file or folder."
        )
    return Path(text)


def format_value(value: Any) -> str:
    """What to write after "Got": the value as Python writes it, cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # a number of more than 4,300 digits; an object that fails to describe itself
        text = f"a value of type {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= 100 else f"{text[:90]} … ({len(text):,} characters)"


def check_fitted(model: Any, attributes: str | None = None) -> None:
    """Raise scikit-learn's NotFittedError, in a sentence of ours, unless a model is fitted."""
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(model, "fit"):
        raise TypeError(f"The model must be an estimator. Got {format_value(model)}. Give a fitted one.")
    message = "%(name)s must be fitted first. It is not fitted yet. Call fit with your data."
    check_is_fitted(model, attributes, msg=message)


ROWS_COMPARED = 256
"""At once, where different rows are counted until there are enough."""


def n_distinct_rows(X: NDArray[np.float64], most: int) -> int:
    """The number of different rows, counted up to ``most``."""
    distinct: set[bytes] = set()
    for start in range(0, len(X), ROWS_COMPARED):
        distinct.update(map(np.ndarray.tobytes, X[start : start + ROWS_COMPARED] + 0.0))  # -0.0 is 0.0
        if len(distinct) >= most:
            return most
    return len(distinct)


Shape = tuple[int | str, ...]


def check_numbers(values: Any, subject: str, shape: Shape, least: int = 0) -> NDArray[np.float64]:
    """Numbers of a shape, a letter in which is any length (the same one for the same letter); at least so many rows."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{subject} must be numbers of shape {_shape_text(shape)}. Got {format_value(values)}. "
            "Give an array of this shape."
        ) from None
    lengths: dict[int | str, int] = {}
    fits = array.ndim == len(shape) and all(
        size == (axis if isinstance(axis, int) else lengths.setdefault(axis, size))
        for axis, size in zip(shape, array.shape, strict=True)
    )
    if not fits or (array.ndim and len(array) < least):
        at_least = f" with {least} or more rows" if fits else ""
        raise ValueError(
            f"{subject} must be numbers of shape {_shape_text(shape)}{at_least}. Got shape {_shape_text(array.shape)}. "
            "Give an array of this shape."
        )
    return array


def _shape_text(shape: Sequence[int | str]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def check_vector(values: Any, n: int, rule: str, advice: str) -> NDArray[np.float64]:
    """(n,) numbers of any value; otherwise the error has the rule and the advice."""
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{rule}. Got {format_value(values)}. {advice}") from None
    if vector.shape != (n,):
        raise ValueError(f"{rule}. Got shape {vector.shape}. {advice}")
    return vector


def check_weights(weights: Any, n_partitions: int, subject: str) -> NDArray[np.float64]:
    """One finite weight ≥ 0 per partition, not all zero, in units of `weight_unit`; None is one each.

    What a weight is multiplied with stays finite in this way, in float32 as well. The units are exact, but that a
    weight > 0 counts as at least ``LEAST_WEIGHT`` of the largest.
    """
    if weights is None:
        return np.ones(n_partitions)
    rule = f"weights of {subject} must be {n_partitions} numbers ≥ 0, one per partition, not all 0"
    checked = check_vector(weights, n_partitions, rule, "Give one weight per partition.")
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
    if weights is None or isinstance(weights, str):  # weights by a rule: the largest is 1
        return 1.0
    given = np.asarray(weights, dtype=np.float64)
    largest = float(given.max())
    if (given[given > 0] == largest).all():
        return largest
    mantissa, exponent = math.frexp(largest)
    return math.ldexp(1.0, min(exponent - (mantissa == 0.5), 1023))
