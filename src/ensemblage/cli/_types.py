"""Types of the shell's options: what a value must be, in words, with what was got and the next step."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from ensemblage.base.options import suggestion

MOST = 2**31 - 1
"""The largest whole number that an option takes, unless it has a bound of its own."""


def parse_whole(text: str) -> int | None:
    """A whole number of 64 bits as people write it; None if the text is none. int() takes more than that: ²٣, 1_0."""
    number = int(text) if re.fullmatch(r"-?[0-9]{1,19}", text) else 2**63
    return number if -(2**63) <= number < 2**63 else None


def quote(value: str) -> str:
    return repr(value if len(value) <= 40 else f"{value[:40]}...")


def refuse(rule: str, value: Any, advice: str) -> NoReturn:
    """Raise for a value of an option, which click names: the message follows its name."""
    raise click.BadParameter(f"must be {rule}. Got {quote(str(value))}. {advice}")


class WholeNumber(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5
    """A whole number from ``least`` to ``most``; a message names `MOST` only to who exceeds it."""

    name = "N"

    def __init__(self, least: int, most: int = MOST) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = value if isinstance(value, int) else parse_whole(value)
        if number is None or not self.least <= number <= self.most:
            exceeds = number is not None and number > self.most
            is_open = self.most == MOST and not exceeds
            bounds = f"of at least {self.least:,}" if is_open else f"from {self.least:,} to {self.most:,}"
            refuse(f"a whole number {bounds}", value, "Give a number in this range.")
        return number


class Number(click.ParamType):  # type: ignore[type-arg]
    """A finite number above ``above``, or of at least ``least``, and of at most ``most``."""

    name = "NUMBER"

    def __init__(self, *, above: float | None = None, least: float | None = None, most: float = math.inf) -> None:
        self.above, self.least, self.most = above, least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        high_enough = number > self.above if self.above is not None else number >= (self.least or 0)
        if not high_enough or number > self.most or math.isinf(number):
            lower = f"above {self.above:g}" if self.above is not None else f"of at least {self.least or 0:g}"
            upper = f" and of at most {self.most:g}" if self.most < math.inf else ""
            refuse(f"a number {lower}{upper}", value, "Give a number in this range.")
        return number


class OneOf(click.Choice[str]):
    """One of a few words."""

    def __init__(self, choices: Sequence[str]) -> None:
        super().__init__(choices)

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        words = [str(choice) for choice in self.choices]
        advice = suggestion(str(value), words) or "Choose one of them."
        return f"must be one of {', '.join(words)}. Got {quote(str(value))}. {advice}"


class NonEmptyPath(click.Path):
    """A path; "" is what an unset variable of a shell leaves, and would be the folder one is in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            refuse("the name of a file or folder", value, "Give a name.")
        return super().convert(value, param, ctx)


class NonEmptyText(click.types.StringParamType):
    """Text of at least one character."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            refuse("text of at least one character", value, "Give a name.")
        return super().convert(value, param, ctx)
