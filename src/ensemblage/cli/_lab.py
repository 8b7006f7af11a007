"""The commands of the laboratory, a distribution of its own: listed where it is installed, imported when called."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import click

LAB = "ensemblage_lab"
COMMANDS = {
    "reproduce": "Repeat the experiments of a paper and compare.",
    "benchmark": "Score methods on sets with known classes.",
}
"""The laboratory's commands, as the list of commands describes them."""
GROUP = "ensemblage.commands"
"""The entry points that lead to them."""


class LabCommand(click.Command):
    """Stands for a command of the laboratory in the list of commands."""

    @property
    def hidden(self) -> bool:
        """Whether the laboratory is missing. Entry points are not read for that: the list of commands would wait."""
        return find_spec(LAB) is None

    @hidden.setter
    def hidden(self, value: bool) -> None:
        """The constructor of click sets it."""

    def make_context(self, *given: Any, **extra: Any) -> click.Context:
        """The context of the command itself, which is imported now."""
        return self.imported().make_context(*given, **extra)

    def imported(self) -> click.Command:
        """The command itself.

        Raises
        ------
        ValueError
            If the laboratory is not installed.
        """
        from importlib.metadata import entry_points

        for found in entry_points(group=GROUP, name=str(self.name)):
            command: click.Command = found.load()
            return command
        raise ValueError(
            f"ensemblage {self.name} is a command of the laboratory, which is not installed: type pip install -e lab "
            "in a clone of ensemblage."
        )
