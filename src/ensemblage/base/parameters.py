"""What a parameter may be: the kinds of constraints that estimators declare as ``_parameter_constraints``."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from ensemblage.base.suggestions import suggestion

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
