"""The command line. What takes time to import is imported by the commands, so that ``--help`` answers at once."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import click

from ensemblage._version import __version__
from ensemblage.cli._data_commands import communities, generate, look, run, sweep
from ensemblage.cli._errors import OneSentenceGroup
from ensemblage.cli._label_commands import assign, combine, compare, rank, report, summarize
from ensemblage.cli._shared_options import TEXT


@click.group(
    "ensemblage",
    cls=OneSentenceGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="ensemblage")
def main() -> None:
    """Consensus clustering: combine many partitions of the same objects into one, with the confidence of each object.

    Start with: ensemblage run DATA.csv -o out

    Exit codes: 0 done, 2 refused, 128 + N ended by signal N (Ctrl-C: 130), 1 a defect of ensemblage.
    """


@click.command()
@click.argument("name", type=TEXT, required=False)
def methods(name: str | None) -> None:
    """List the consensus methods, for --method.

    With a NAME: other names, input and output of this method, and its parameters with their defaults, for --set.
    """
    from ensemblage.cli._methods import show_method, show_methods

    if name is None:
        show_methods()
    else:
        show_method(name)


@click.command()
@click.argument("name", type=TEXT)
@click.option("--bibtex", is_flag=True, help="Print only the BibTeX entries.")
def cite(name: str, bibtex: bool) -> None:
    """Print the papers behind a method.

    NAME is a method (km, eac-average, ...), a criterion of "rank --by" (discotec, ...), the class of a generator,
    WasabiModes, Dune, or a function of draws or elements (credible_ball, chips, ...).
    """
    from ensemblage import cite as citation_of

    found = citation_of(name)
    click.echo(found.bibtex if bibtex else found)


LAB = "ensemblage_lab"
LAB_COMMANDS = {
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


for command in (look, run, generate, combine, communities, sweep, summarize, compare, assign, rank, report):
    main.add_command(command)
for command in (methods, cite):
    main.add_command(command)

for name_of_lab, what in LAB_COMMANDS.items():
    main.add_command(LabCommand(name_of_lab, help=what))
