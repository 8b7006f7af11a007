"""What is wished for beside a page: its figures as files, and to see it; and the command that repeats it."""

from __future__ import annotations

import shlex
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ensemblage import report
from ensemblage.cli._errors import ARGUMENTS
from ensemblage.cli._folder import REPORT
from ensemblage.cli._progress import tell
from ensemblage.io._formats import CELLS, format_of

FIGURES = "figures"
NOT_REPEATED = frozenset({"output", "overwrite", "open_page", "figures", "n_jobs", "annotate", "scratch", "key"})
"""Parameters that change nothing of what is found."""


@dataclass(frozen=True)
class PageWishes:
    """What to do when a page is done."""

    figures: Sequence[str]
    """Formats of files of its figures."""
    opens: bool
    overwrite: bool

    @classmethod
    def of(cls, settings: dict[str, Any]) -> PageWishes:
        """Take them out of the settings of a command."""
        return cls(settings.pop("figures"), settings.pop("open_page"), settings["overwrite"])

    def of_output(self, output: Path, no_objects: bool) -> PageWishes:
        """The same, refused where the output is a file of cells."""
        if format_of(output) is CELLS:
            self.refuse(no_objects, f"-o {output.name} writes none", "name a folder with -o")
        return self

    def refuse(
        self, no_objects: bool, why: str = "Labels on disk get none", advice: str = "combine them in memory"
    ) -> None:
        """Where no page is made, there is nothing to wish for."""
        given = {"--figures": self.figures, "--open": self.opens, "--no-objects": no_objects}
        if wished := [name for name, value in given.items() if value]:
            raise ValueError(f"{wished[0]} must go with a page. {why}. Leave it out, or {advice}.")

    def save_and_show(self, summary: Mapping[str, Any], folder: Path) -> None:
        """Save the figures of the page of a folder, and open it."""
        self.save(summary, folder)
        self.show(folder / REPORT)

    def save(self, summary: Mapping[str, Any], folder: Path) -> None:
        """Save the figures of a page."""
        if self.figures:
            files = report.save_figures(summary, folder / FIGURES, self.figures, overwrite=self.overwrite)
            tell(f"{folder / FIGURES}: {len(files)} files")

    def show(self, page: Path) -> None:
        """Open the page in the browser."""
        if self.opens and not webbrowser.open(page.resolve().as_uri()):
            tell(f"no browser was found: open {page}")


def repeated_command(inputs: Mapping[str, Path]) -> str | None:
    """The command that is being done, as it was typed but for what does not count; None outside of one.

    ``inputs`` are the files it reads, by parameter, with their folders as they were typed.
    """
    context = click.get_current_context(silent=True)
    arguments = None if context is None else context.meta.get(ARGUMENTS)
    if context is None or arguments is None:
        return None
    given, _, _ = context.command.make_parser(context).parse_args(list(arguments))
    words = ["ensemblage", str(context.info_name)]
    for parameter in context.command.get_params(context):
        name = str(parameter.name)
        if name in inputs:
            words.append(str(inputs[name]))
        elif isinstance(parameter, click.Option) and name in given and name not in NOT_REPEATED:
            words += _option_words(parameter, given[name])
    return shlex.join([*words, "-o", "out"])


def _option_words(option: click.Option, value: Any) -> list[str]:
    """An option with its value, as it is typed."""
    if option.is_flag:
        return [(option.opts if value else option.secondary_opts)[0]]
    values = value if option.multiple else [value]
    return [word for entry in values for word in (option.opts[0], str(entry))]
