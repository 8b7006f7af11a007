"""Errors and warnings of the command line: one sentence each on stderr.

Exit codes: 0 done, 1 a defect of ensemblage, 2 what the user can mend; what a signal N ends, it ends as if nobody had
handled it, which a shell shows as 128 + N (Ctrl-C: 130).
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from ensemblage.base.options import NoteWarning, suggestion
from ensemblage.cli._options import FORMER_OPTIONS, shell_text
from ensemblage.cli._seconds import beginning

DEFECT, FAILED = 1, 2
TRACEBACK = "ENSEMBLAGE_TRACEBACK"
"""Environment variable: if it is set, a defect shows where it is."""
INTERRUPTED = "Interrupted. Nothing was written."


ARGUMENTS = "ensemblage.arguments"
"""Where a context keeps what was typed after the name of its command."""


class Interrupted(Exception):
    """Ctrl-C: the message says what is kept."""


class OneSentenceGroup(click.Group):
    """A group of commands whose errors are one sentence and exit code 2; no arguments show the help."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, typed = super().resolve_command(ctx, args)
        typed = _by_names_of_today(command, typed)
        ctx.meta[ARGUMENTS] = list(typed)  # the parser empties its own
        return name, command, typed

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted(INTERRUPTED) from None
        except BrokenPipeError:
            # The answer comes last: whoever reads the first lines of it only has all that was asked for.
            return 0

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        beginning.now()
        args = list(sys.argv[1:] if args is None else args) or ["--help"]
        extra.setdefault("color", color_choice())
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode, **extra)
        _prepare_streams()
        try:
            with _warnings_as_lines(), _signals_as_interrupts() as received:
                result = super().main(args, prog_name, complete_var, False, **extra)
                sys.stdout.flush()
        except (BrokenPipeError, SystemExit):  # click exits itself if nobody reads its help
            result = 0
        except click.UsageError as error:
            _fail(_usage_text(error))
        except click.ClickException as error:
            _fail(error.format_message())
        except Interrupted as error:
            _leave(str(error), received)
        except (click.Abort, KeyboardInterrupt):
            _leave(INTERRUPTED, received)
        except Exception as error:
            if received or isinstance(error.__cause__, KeyboardInterrupt):
                # What a library makes of an interrupt. Python 3.11 hides one while a class is made (in an import).
                _leave(INTERRUPTED, received)
            _fail_for(error)
        _flush()
        sys.exit(result if isinstance(result, int) else 0)


def _by_names_of_today(command: click.Command | None, typed: list[str]) -> list[str]:
    """What was typed, where an option of a command that has a former name has that of today; a line says so."""
    known = {option for parameter in getattr(command, "params", ()) for option in parameter.opts}
    found = []
    for i, word in enumerate(typed):
        name, equals, value = word.partition("=")
        if "--" in typed[:i] or FORMER_OPTIONS.get(name) not in known:
            found.append(word)
        else:
            new = FORMER_OPTIONS[name]
            say(f"warning: {name} is a name of before 1.0 and goes with the next release. Use {new}.")
            found.append(f"{new}{equals}{value}")
    return found


def _usage_text(error: click.UsageError) -> str:
    """What is wrong with what was typed, and whose help says more."""
    command = error.ctx.command_path if error.ctx else "ensemblage"
    text = error.format_message()
    if isinstance(error, click.MissingParameter) and error.param is not None:
        metavar = f" {error.param.metavar}" if isinstance(error.param, click.Option) and error.param.metavar else ""
        text = f"{_name(error.param)}{metavar} must be given. Got none."
    elif isinstance(error, click.BadParameter) and error.param is not None and error.message.startswith("must "):
        text = f"{_name(error.param)} {error.message}"
    elif isinstance(error, click.NoSuchOption):
        near = suggestion(error.option_name, error.possibilities or ())
        text = f"No such option: {error.option_name}. {near}".replace("'", "").rstrip()
    elif text.startswith("Got unexpected extra argument"):
        text += ". Leave it out, or put a name with spaces into quotes."
    return f"{text} See {command} --help."


def _name(parameter: click.Parameter) -> str:
    """How an option or an argument is named in messages: -k, --seed, DATA."""
    return parameter.opts[0] if isinstance(parameter, click.Option) else str(parameter.human_readable_name)


def _fail_for(error: Exception) -> NoReturn:
    """One sentence for an error of a command."""
    if isinstance(error, MemoryError):
        _fail(f"Memory must hold the data and the ensemble. It does not: {error}. Use fewer rows or partitions.")
    if isinstance(error, OSError):
        _fail(f"{error.filename or 'A file'} cannot be read or written: {shell_text(error.strerror or error)}.")
    is_advice = isinstance(error, ImportError) and error.name is None  # Python's own errors name the module
    if isinstance(error, ValueError) or is_advice:
        _fail(shell_text(error))
    if os.environ.get(TRACEBACK):
        raise error
    _fail(
        f"This is a defect of ensemblage, not of what you gave ({type(error).__name__}: {error}). Please report it, "
        f"with what the same command says after: export {TRACEBACK}=1",
        DEFECT,
    )


def _fail(message: str, code: int = FAILED) -> NoReturn:
    say(f"error: {one_line(message)}")
    _flush()
    sys.exit(code)


def _flush() -> None:
    """Write what is left to say before the interpreter does; nobody may be there any more to read it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _leave(message: str, received: Sequence[int]) -> NoReturn:
    """Clean up, then end by the signal that came: a usual exit would wait for base partitions in other threads."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main:
        for number in (signal.SIGINT, *SIGNALS):  # nothing interrupts the clean-up
            signal.signal(number, signal.SIG_IGN)
    if "ensemblage.labels.disk" in sys.modules:
        from ensemblage.labels.disk import remove_all_scratch

        remove_all_scratch()
    say(one_line(message))
    with suppress(OSError):
        sys.stdout.flush()
    number = received[-1] if received else signal.SIGINT
    if is_main:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
    sys.exit(128 + number)


def say(text: str) -> None:
    """A line on stderr, if anybody reads it: nothing depends on that."""
    with suppress(OSError):
        click.echo(text, err=True, color=color_choice())


def color_choice() -> bool | None:
    """False if the user wants no colours (NO_COLOR is set and not empty), else what the terminal can."""
    return False if os.environ.get("NO_COLOR") else None


SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))
"""What ends a process unless it is handled; Ctrl-C is Python's own affair."""


@contextmanager
def _signals_as_interrupts() -> Iterator[list[int]]:
    """Treat signals that end the process like Ctrl-C; those that came. Ignored ones (nohup) stay ignored."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def interrupt(number: int, _: Any) -> None:
        received.append(number)
        raise KeyboardInterrupt

    taken = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, interrupt)
        yield received
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _prepare_streams() -> None:
    """What a shell has closed (2>&-) swallows what is written; a console that has no ≤ shows a question mark."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # else the next file that is opened would get what is written
            mode = "w" if number else "r"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def one_line(message: str) -> str:
    return " ".join(message.split())


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        say(f"warning: {one_line(shell_text(message))}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoteWarning)
        warnings.showwarning = show
        yield
