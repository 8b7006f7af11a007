"""Errors and warnings of the command line: one sentence each on stderr.

Exit codes: 0 done, 1 a defect of ensemblage, 2 what the user can mend or Ctrl-C, 128 + N another signal N.
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

DEFECT, FAILED = 1, 2
TRACEBACK = "ENSEMBLAGE_TRACEBACK"
"""Environment variable: if it is set, a defect shows where it is."""
INTERRUPTED = "Interrupted. Nothing was written."


ARGUMENTS = "ensemblage.arguments"
"""Where a context keeps what was typed after the name of its command."""


class Interrupted(Exception):
    """Ctrl-C: the message says what is kept."""


class OneSentenceGroup(click.Group):
    """A group of commands whose errors are one sentence and exit code 2, Ctrl-C too; no arguments show the help."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        ctx.meta[ARGUMENTS] = args[1:]
        return super().resolve_command(ctx, args)

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
        args = list(sys.argv[1:] if args is None else args) or ["--help"]
        extra.setdefault("color", colored())
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode, **extra)
        _open_closed_streams()
        _accept_any_console()
        try:
            with _warnings_as_lines(), _signals_as_interrupts() as received:
                result = super().main(args, prog_name, complete_var, False, **extra)
                sys.stdout.flush()
        except (BrokenPipeError, SystemExit):  # click exits itself if nobody reads its help
            result = 0
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "ensemblage"
            _fail(f"{error.format_message()} See {command} --help.")
        except click.ClickException as error:
            _fail(error.format_message())
        except Interrupted as error:
            _leave(str(error), _code_of(received))
        except (click.Abort, KeyboardInterrupt):
            _leave(INTERRUPTED, _code_of(received))
        except MemoryError as error:
            _fail(f"Memory must hold the data and the ensemble. It does not: {error}. Use fewer rows or partitions.")
        except OSError as error:
            _fail(f"{error.filename or 'A file'} cannot be read or written: {error.strerror or error}.")
        except ValueError as error:
            _fail(str(error))
        except Exception as error:
            if received or isinstance(error.__cause__, KeyboardInterrupt):
                # Python 3.11 hides what is raised while a class is made (a module is being imported).
                _leave(INTERRUPTED, _code_of(received))
            if os.environ.get(TRACEBACK):
                raise
            _fail(
                f"This is a defect of ensemblage, not of what you gave ({type(error).__name__}: {error}). Please "
                f"report it, with what the same command says after: export {TRACEBACK}=1",
                DEFECT,
            )
        _flush()
        sys.exit(result if isinstance(result, int) else 0)


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


def _leave(message: str, code: int) -> NoReturn:
    """Exit at once: a usual exit takes the memory away under base clusterings that still run in other threads."""
    _ignore_signals()
    if "ensemblage.rows.scratch" in sys.modules:
        from ensemblage.rows.scratch import remove_all_scratch

        remove_all_scratch()
    say(one_line(message))
    with suppress(OSError):
        sys.stdout.flush()
    os._exit(code)


def _code_of(received: Sequence[int]) -> int:
    return 128 + received[-1] if received else FAILED


def say(text: str) -> None:
    """A line on stderr, if anybody reads it: nothing depends on that."""
    with suppress(OSError):
        click.echo(text, err=True, color=colored())


def colored() -> bool | None:
    """False if the user wants no colours (NO_COLOR is set and not empty), else what the terminal can."""
    return False if os.environ.get("NO_COLOR") else None


SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))
"""What ends a process unless it is told otherwise; Ctrl-C is Python's own affair."""


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

    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        for number, handler in before.items():
            if handler is signal.SIG_DFL:
                signal.signal(number, interrupt)
        yield received
    finally:
        for number, handler in before.items():
            if handler is signal.SIG_DFL:
                signal.signal(number, handler)


def _ignore_signals() -> None:
    """Nothing interrupts the clean-up."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, *SIGNALS):
            signal.signal(number, signal.SIG_IGN)


def _open_closed_streams() -> None:
    """What a shell has closed (2>&-) swallows what is written: else the next file that is opened would get it."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


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
        say(f"warning: {one_line(str(message))}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
