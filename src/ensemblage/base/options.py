"""Options that messages name: by the parameter and its value, so that each front end spells them its own way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Option(NamedTuple):
    """A parameter, with a value or without one, or a name that has a command; as text it is spelled for Python."""

    name: str
    value: Any = ...
    """The ellipsis if the option itself is meant."""
    of: str = ""
    """The class that has the parameter, where the one that was called may have not."""

    def __str__(self) -> str:
        if (self.name, self.value) == ("impute", "drop"):  # a transformer keeps all rows
            return "X.dropna()"
        text = self.name if self.value is ... else f"{self.name}={_literal(self.value)}"
        return f"{self.of}({text})" if self.of else text


def of_columns(name: str, value: Any) -> Option:
    """What is said of single columns: a parameter of `Preprocessor`, which a clusterer has as its ``preprocessor``."""
    return Option(name, value, "Preprocessor")


class Message(str):
    """Text that names options; as text it is spelled for Python.

    Examples
    --------
    >>> message = Message("Fill them with ", Option("impute", "median"), ".")
    >>> str(message)
    'Fill them with impute="median".'
    >>> message.spelled(lambda option: f"--{option.name} {option.value}")
    'Fill them with --impute median.'
    """

    pieces: tuple[str | Option, ...]

    def __new__(cls, *pieces: str | Option) -> Message:
        message = super().__new__(cls, "".join(map(str, pieces)))
        message.pieces = pieces
        return message

    def spelled(self, spell: Callable[[Option], str]) -> str:
        """The text with every option as ``spell`` writes it."""
        return "".join(spell(piece) if isinstance(piece, Option) else piece for piece in self.pieces)


class Alert(NamedTuple):
    """What of the data probably makes a wrong answer.

    Examples
    --------
    >>> cure = Message("Add ", Option("roles", {"plot": "category"}), ".")
    >>> str(Alert("a code", "column plot", "it has 4 whole numbers", cure).text)
    'a code: column plot, it has 4 whole numbers. Add roles={"plot": "category"}.'
    """

    what: str
    where: str
    """A column or rows."""
    why: str
    cure: Message
    """A sentence with the option that settles it."""

    @property
    def text(self) -> Message:
        """All of it as sentences."""
        return Message(f"{self.what}: {self.where}, {self.why}. ", *self.cure.pieces)

    def as_dict(self) -> dict[str, str]:
        """Its fields and its ``text``, as JSON can hold them."""
        return {**self._asdict(), "text": self.text}


class NoteWarning(UserWarning):
    """A warning of what is a note, too: a front end that shows the notes leaves it out."""


def _literal(value: Any) -> str:
    """A value as the project's documents write it in Python."""
    if isinstance(value, str):
        return f'"{value}"' if value.isprintable() and not set(value) & {'"', "\\"} else repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)
