"""Options of the shell: how they are written in messages, and which values they take."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ensemblage.base.options import Message, Option

NAMES: Mapping[str, str] = {
    "has_header": "header",
    "roles": "role",
    "given_roles": "role",
    "drop_columns": "drop-column",
    "n_jobs": "jobs",
    "methods": "method",
    "missing_codes": "missing",
}
"""Options that are called otherwise than their parameters."""
ROLES = ("id", "number", "category", "ordered", "feature", "drop")
MOST_JOBS, MOST_PARTITIONS, MOST_RUNS, MOST_CLUSTERS = 1_000, 1_000_000, 1_000_000, 2**31 - 1
FIGURE_FORMATS = ("svg", "png", "pdf")
STANDARD_INPUT = Path("/dev/stdin")


def option_name(name: str) -> str:
    """How the option behind a parameter is written."""
    return f"--{NAMES.get(name, name).replace('_', '-')}"


def option_text(option: Option) -> str:
    """An option as it is typed: ``--impute median``, ``--role zip=category``, ``--no-header``."""
    flag, value = option_name(option.name), option.value
    if value is ...:
        return flag
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
        raise click.BadParameter(f"{quote(value)} is neither a number from 1 to {MOST_JOBS:,} nor all.", ctx, param)
    return jobs


def parse_fit_on(ctx: click.Context, param: click.Parameter, value: str) -> int | str | None:
    if value in ("auto", "all"):
        return None if value == "all" else value
    rows = parse_whole(value)
    if rows is None or rows < 1:
        raise click.BadParameter(f"{quote(value)} is neither a number of rows nor auto nor all.", ctx, param)
    return rows


def parse_missing(ctx: click.Context, param: click.Parameter, value: str) -> int | None:
    """The first whole number, or none, is the label; what else stands there means missing in the table."""
    codes = parse_codes(ctx, param, value) or []
    label = next((code for code in codes if code == "none" or parse_whole(code) is not None), None)
    if label is None:
        raise click.BadParameter(f"{quote(value)} holds neither a whole number nor none.", ctx, param)
    codes.remove(label)
    ctx.params["missing_codes"] = codes or None
    return None if label == "none" else parse_whole(label)


def parse_codes(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    """Values with commas between."""
    codes = [code.strip() for code in value.split(",")] if value is not None else None
    if codes is not None and not all(codes):
        raise click.BadParameter(f"{quote(str(value))} holds an empty value, which is missing always.", ctx, param)
    return codes


def parse_figures(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Formats of figures, each once."""
    formats = tuple(dict.fromkeys(name.strip().lower() for name in value.split(","))) if value is not None else ()
    if unknown := [name for name in formats if name not in FIGURE_FORMATS]:
        raise click.BadParameter(f"{quote(unknown[0])} is not among {', '.join(FIGURE_FORMATS)}.", ctx, param)
    return formats


def parse_k_range(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    low, high = (parse_whole(end) for end in (value.partition(":")[0], value.partition(":")[2]))
    if low is None or high is None or not 2 <= low <= high:
        raise click.BadParameter(f"{quote(value)} is no range of numbers ≥ 2 such as 2:10.", ctx, param)
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
        raise click.BadParameter(f"{quote(value)} is no list of numbers > 0 such as 0.5,1,2.", ctx, param)
    return numbers


def parse_delimiter(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    delimiter = "\t" if value in ("tab", "\\t") else value
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise click.BadParameter(f"{quote(delimiter)} is no single character, nor the word tab.", ctx, param)
    return delimiter


def parse_roles(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str] | None:
    roles: dict[str, str] = {}
    for text in value:
        column, equals, role = text.rpartition("=")
        kind, colon, order = role.partition(":")
        if not equals or not (role in ROLES or (kind == "ordered" and colon and "<" in order)):
            raise click.BadParameter(f"{quote(text)} is no COLUMN=ROLE with a role of {', '.join(ROLES)}.", ctx, param)
        if column in roles:
            raise click.BadParameter(f"{quote(column)} has two roles.", ctx, param)
        roles[column] = role
    return roles or None


def check_size(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        from ensemblage.base.validation import check_bytes

        try:
            check_bytes(value, "--memory")
        except ValueError:
            raise click.BadParameter(f"{quote(value)} is no size such as 500MB or 4GB.", ctx, param) from None
    return value


def parse_whole(text: str) -> int | None:
    """A whole number of 64 bits as people write it; None if the text is none. int() takes more than that: ²٣, 1_0."""
    number = int(text) if re.fullmatch(r"-?[0-9]{1,19}", text) else 2**63
    return number if -(2**63) <= number < 2**63 else None


def quote(value: str) -> str:
    return repr(value if len(value) <= 40 else f"{value[:40]}...")


class NonEmptyPath(click.Path):
    """A path; "" is what an unset variable of a shell leaves, and would be the folder one is in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("The name is empty.", param, ctx)
        return super().convert(value, param, ctx)


class TablePath(NonEmptyPath):
    """The path of a table; - is the text that standard input has."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            if not STANDARD_INPUT.exists():
                self.fail("- is standard input, which is no file on this system. Give the name of a file.", param, ctx)
            value = str(STANDARD_INPUT)
        return super().convert(value, param, ctx)


class NonEmptyText(click.types.StringParamType):
    """Text of at least one character."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(value, param, ctx) or self.fail("The name is empty.", param, ctx)
