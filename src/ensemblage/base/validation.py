"""Parameter checks in one voice: subject, rule, what was got, next step."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option
from ensemblage.base.parameters import (
    Bytes,
    Constraint,
    Flag,
    Function,
    Number,
    Whole,
    Words,
    bytes_of,
    parameter_constraints,
    rule_text,
)

MOST_OBJECTS = 2**31 - 1


def check_parameters(estimator: Any) -> None:
    """Raise unless every parameter is what the class of the estimator declares; the only place that compares them."""
    name = type(estimator).__name__
    for parameter, constraints in parameter_constraints(type(estimator)).items():
        value = getattr(estimator, parameter)
        if value is not None or None not in constraints:
            check_value(value, f"{parameter} of {name}", constraints)


def check_value(value: Any, subject: str, constraints: Sequence[Constraint | None]) -> None:
    """Raise unless a value fits one of the constraints."""
    for constraint in constraints:
        if value is None if constraint is None else constraint.fits(value):
            return
    first = next(constraint for constraint in constraints if constraint is not None)
    told = next((found for constraint in constraints if constraint and (found := constraint.why_not(value))), "")
    end = f", {told}" if told else f". {first.next_step(value)}"
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
    """(n,) numbers of any value; otherwise the rule and the advice are told."""
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
