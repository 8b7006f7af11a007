"""Options of the shell: what a value must be, how it is read, and how an option is written in messages."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from ensemblage.base.options import Message, Option, suggestion

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


NAMES: Mapping[str, str] = {
    "has_header": "header",
    "roles": "role",
    "given_roles": "role",
    "drop_columns": "drop-column",
    "n_jobs": "jobs",
    "methods": "method",
    "missing_codes": "missing",
    "max_bytes": "memory",
}
"""Options that are called otherwise than their parameters."""
FORMER_OPTIONS: Mapping[str, str] = {
    "--fit-on": "--sample-size",
    "--honest-markers": "--selective-markers",
    "--key": "--key-added",
    "--category-weight": "--category-weight",
    "--use": "--use-rep",
}
"""Options of before 1.0, and what they are called now: these work for one release, and no help shows them."""
COMMANDS: Mapping[str, str] = {
    "METHODS": "ensemblage methods",
    "ConsensusClustering": "ensemblage run",
    "DiversePartitions": "ensemblage generate",
}
"""Names of Python for which the shell has a command."""
ROLES = ("id", "number", "category", "ordered", "feature", "drop")
MOST_JOBS, MOST_PARTITIONS, MOST_RUNS = 1_000, 1_000_000, 1_000_000
FIGURE_FORMATS = ("svg", "png", "pdf")
STANDARD_INPUT = Path("/dev/stdin")


def option_name(name: str) -> str:
    """How the option behind a parameter is written."""
    return "-k" if name == "n_clusters" else f"--{NAMES.get(name, name).replace('_', '-')}"


def option_text(option: Option) -> str:
    """An option as it is typed: ``--impute median``, ``--role zip=category``, ``--no-header``."""
    flag, value = option_name(option.name), option.value
    if value is ...:
        return COMMANDS.get(option.name, flag)
    if value is None:
        return f"{flag} none"
    if isinstance(value, bool):
        return flag if value else f"--no-{flag.removeprefix('--')}"
    if isinstance(value, Mapping):
        return " ".join(f"{flag} {_quoted(f'{name}={each}')}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return f"{flag} {_quoted(','.join(map(str, value)))}"
    return f"{flag} {_quoted(str(value))}"


def _quoted(word: str) -> str:
    """As a shell reads it; with quotes, too, where its last full stop could be that of the sentence."""
    return f"'{word}'" if word.endswith(".") and shlex.quote(word) == word else shlex.quote(word)


def shell_text(text: Any) -> str:
    """A message, or an error or warning with one, as the shell says it."""
    if isinstance(text, BaseException) and len(text.args) == 1:
        text = text.args[0]
    return text.spelled(option_text) if isinstance(text, Message) else str(text)


def parse_jobs(ctx: click.Context, param: click.Parameter, value: str) -> int:
    if value == "all":
        return -1
    jobs = parse_whole(value)
    if jobs is None or not 1 <= jobs <= MOST_JOBS:
        refuse(f"a whole number from 1 to {MOST_JOBS:,}, or all", value, "all uses every core.")
    return jobs


def parse_sample_size(ctx: click.Context, param: click.Parameter, value: str) -> int | str | None:
    if value in ("auto", "all"):
        return None if value == "all" else value
    rows = parse_whole(value)
    if rows is None or rows < 1:
        refuse("a number of rows, auto, or all", value, "Leave it out for auto.")
    return rows


def parse_missing(ctx: click.Context, param: click.Parameter, value: str) -> int | None:
    """The first whole number, or none, is the label; what else stands there means missing in the table."""
    codes = parse_codes(ctx, param, value) or []
    label = next((code for code in codes if code == "none" or parse_whole(code) is not None), None)
    if label is None:
        refuse(
            "a whole number, or none, perhaps with other values after commas", value, "Give -1 or none, for example."
        )
    codes.remove(label)
    ctx.params["missing_codes"] = codes or None
    return None if label == "none" else parse_whole(label)


def parse_missing_label(ctx: click.Context, param: click.Parameter, value: str) -> int | None:
    """A whole number, or none."""
    label = parse_whole(value)
    if label is None and value != "none":
        refuse("a whole number, or none", value, "Give the label that means “not labelled”.")
    return label


def parse_codes(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    """Values with commas between."""
    codes = [code.strip() for code in value.split(",")] if value is not None else None
    if codes is not None and not all(codes):
        refuse("values with commas between them", value, "Leave empty values out: empty cells are always missing.")
    return codes


def parse_figures(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Formats of figures, each once."""
    formats = tuple(dict.fromkeys(name.strip().lower() for name in value.split(","))) if value is not None else ()
    if unknown := [name for name in formats if name not in FIGURE_FORMATS]:
        refuse(f"one or more of {', '.join(FIGURE_FORMATS)}, with commas", unknown[0], "Choose among them.")
    return formats


def parse_k_range(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    low, high = (parse_whole(end) for end in (value.partition(":")[0], value.partition(":")[2]))
    if low is None or high is None or not 2 <= low <= high:
        refuse("two whole numbers LOW:HIGH with 2 ≤ LOW ≤ HIGH", value, "Write 2:10, for example.")
    return low, high


def parse_resolutions(ctx: click.Context, param: click.Parameter, value: str | None) -> list[float] | None:
    """Numbers > 0."""
    if value is None:
        return None
    try:
        numbers = [float(text) for text in value.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0 < number < float("inf") for number in numbers):
        refuse("numbers above 0, with commas", value, "Write 0.5,1,2, for example.")
    return numbers


def parse_delimiter(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    delimiter = "\t" if value in ("tab", "\\t") else value
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        refuse("a single character, or the word tab", value, "Write --delimiter ';', for example.")
    return delimiter


def parse_roles(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str] | None:
    roles: dict[str, str] = {}
    for text in value:
        column, equals, role = text.rpartition("=")
        kind, colon, order = role.partition(":")
        if not equals or not (role in ROLES or (kind == "ordered" and colon and "<" in order)):
            advice = suggestion(role, ROLES) or "Write zip=category, for example."
            refuse(f"COLUMN=ROLE, with one of the roles {', '.join(ROLES)}", text, advice)
        if column in roles:
            refuse("given once for each column", text, "Leave one of its roles out.")
        roles[column] = role
    return roles or None


def check_size(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        from ensemblage.base.validation import check_bytes

        try:
            check_bytes(value, "--memory")
        except ValueError:
            refuse("a size", value, "Write 500MB or 4GB, for example.")
    return value


class TablePath(NonEmptyPath):
    """The path of a table; - is the text that standard input has."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            if not STANDARD_INPUT.exists():
                refuse("the name of a file on this system, which has no /dev/stdin", value, "Save the text as a file.")
            value = str(STANDARD_INPUT)
        return super().convert(value, param, ctx)


def parse_set(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, Any]:
    """Values of parameters by name, from NAME=VALUE."""
    chosen: dict[str, Any] = {}
    for text in value:
        name, equals, given = text.partition("=")
        if not (name and equals and given):
            refuse("NAME=VALUE", text, "Write --set n_init=10, for example.")
        if name in chosen:
            refuse("given once for each parameter", text, "Leave one of its values out.")
        chosen[name] = value_of(given)
    return chosen


WORDS: Mapping[str, Any] = {"none": None, "true": True, "false": False}


def value_of(text: str) -> Any:
    """A number, true, false, none, a list of such things with commas between them, or else the text."""
    if "," in text:
        return [value_of(part.strip()) for part in text.split(",")]
    number = parse_whole(text)
    if number is not None:
        return number
    try:
        return WORDS[text] if text in WORDS else float(text)
    except ValueError:
        return text


def text_of(value: Any) -> str:
    """How a value is written in the shell: `value_of` makes the same of it."""
    if isinstance(value, list):
        return ",".join(map(text_of, value))
    return next((word for word, meant in WORDS.items() if value is meant), str(value))
