"""Options: how messages name them, which words are near a wrong one, and the words of ``selection``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple


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


def suggestion(word: str, choices: Iterable[str]) -> str:
    """ "Did you mean ...?" with at most three choices; empty if none begins alike or is written like it.

    Examples
    --------
    >>> suggestion("eac", ["km", "eac-single", "eac-average"])
    "Did you mean 'eac-single' or 'eac-average'?"
    >>> suggestion("silhouet", ["dunn", "silhouette"])
    "Did you mean 'silhouette'?"
    >>> suggestion("ID", ["a", "d"])
    ''
    """
    import difflib

    def key(text: str) -> str:
        return "".join(letter for letter in text.lower() if letter.isalnum())

    typed, by_key = key(word), {key(choice): choice for choice in choices}
    long = [name for name in by_key if len(name) > 1]
    near = [typed] if typed and typed in by_key else [name for name in long if typed[1:] and name.startswith(typed)]
    if not near and typed:
        shorter = sorted((name for name in long if typed.startswith(name)), key=lambda name: (-len(name), name))
        near = list(dict.fromkeys([*shorter, *difflib.get_close_matches(typed, long, n=3, cutoff=0.65)]))
    found = [repr(by_key[name]) for name in near[:3]]
    listed = " or ".join(filter(None, [", ".join(found[:-1]), *found[-1:]]))
    return f"Did you mean {listed}?" if found else ""


LEARNED: Final = "learned"
BY_CONSENSUS: Final = "consensus"
SELECTIONS = (LEARNED, BY_CONSENSUS)
DEFAULT_SELECTION: Literal["learned", "consensus"] = "learned"
"""Of `ConsensusClustering` and ``ensemblage run``, and of what is written of them."""
