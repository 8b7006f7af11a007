"""How the shell writes the options that messages of the library name."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

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
        return " ".join(f"{flag} {shlex.quote(f'{name}={each}')}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return f"{flag} {shlex.quote(','.join(map(str, value)))}"
    return f"{flag} {shlex.quote(str(value))}"


def shell_text(text: Any) -> str:
    """A message, or an error or warning with one, as the shell says it."""
    if isinstance(text, BaseException) and len(text.args) == 1:
        text = text.args[0]
    return text.spelled(option_text) if isinstance(text, Message) else str(text)
