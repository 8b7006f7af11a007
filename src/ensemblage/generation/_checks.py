"""Checks of the generators' parameters, in the project's one voice."""

from __future__ import annotations

import numbers
from typing import Any


def check_whole(estimator: Any, name: str, minimum: int) -> int:
    """Parameter ``name`` of ``estimator`` as an int, if it is a whole number of at least ``minimum``."""
    owner, value = type(estimator).__name__, getattr(estimator, name)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} of {owner} must be a whole number ≥ {minimum}. Got {value!r}. Give an int.")
    if value < minimum:
        raise ValueError(f"{name} of {owner} must be ≥ {minimum}. Got {value}. Give a larger number.")
    return int(value)


def check_choice(estimator: Any, name: str, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless parameter ``name`` of ``estimator`` is one of ``choices``."""
    owner, value = type(estimator).__name__, getattr(estimator, name)
    if not (isinstance(value, str) and value in choices):
        listed = " or ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} of {owner} must be {listed}. Got {value!r}. Choose one of them.")


def check_fraction(estimator: Any, name: str) -> None:
    """Raise unless parameter ``name`` of ``estimator`` is a number in (0, 1]."""
    owner, value = type(estimator).__name__, getattr(estimator, name)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} of {owner} must be a number in (0, 1]. Got {value!r}. Give a float.")
    if not 0 < float(value) <= 1:
        raise ValueError(f"{name} of {owner} must be in (0, 1]. Got {value}. Give the part to draw, as 0.8.")
