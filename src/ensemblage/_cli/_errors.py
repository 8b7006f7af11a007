"""Errors and warnings of the command line: one sentence each on stderr."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

FAILED = 2


class Interrupted(Exception):
    """Ctrl-C: the message says what is kept."""


class OneSentenceGroup(click.Group):
    """A group of commands whose errors are one sentence and exit code 2, Ctrl-C too; no arguments show the help."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        args = list(sys.argv[1:] if args is None else args) or ["--help"]
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode, **extra)
        _accept_any_console()
        try:
            with _warnings_as_lines():
                result = super().main(args, prog_name, complete_var, False, **extra)
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "ensemblage"
            _fail(f"{error.format_message()} See {command} --help.")
        except click.ClickException as error:
            _fail(error.format_message())
        except Interrupted as error:
            _leave(str(error))
        except (click.Abort, KeyboardInterrupt):
            _leave("Interrupted. Nothing was written.")
        except MemoryError as error:
            _fail(f"Memory must hold the data and the ensemble. It does not: {error}. Use fewer rows or partitions.")
        except OSError as error:
            _fail(f"{error.filename or 'A file'} cannot be read or written: {error.strerror or error}.")
        except ValueError as error:
            _fail(str(error))
        sys.exit(result if isinstance(result, int) else 0)


def _fail(message: str) -> None:
    click.echo(f"error: {one_line(message)}", err=True)
    sys.exit(FAILED)


def _leave(message: str) -> None:
    """Exit at once: a usual exit takes the memory away under base clusterings that still run in other threads."""
    click.echo(one_line(message), err=True)
    sys.stdout.flush()
    os._exit(FAILED)


def _accept_any_console() -> None:
    """A console that has no ≤ shows a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def one_line(message: str) -> str:
    return " ".join(message.split())


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        click.echo(f"warning: {one_line(str(message))}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
