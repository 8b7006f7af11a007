"""What is said on stderr while a command works."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import click

from ensemblage.cli._errors import one_line, say
from ensemblage.cli._options import shell_text
from ensemblage.kernels._jit import compiling


def announce(text: str) -> None:
    say(one_line(shell_text(text)))


def announce_notes(name: str, notes: Iterable[str]) -> None:
    for note in notes:
        announce(f"{name}: {shell_text(note)}")


LONG = 10.0
"""Seconds of work after which a line says how long the rest may take."""
LEAST_SHARE = 0.25
"""Of the work that must be done before."""


class RemainingTime:
    """Called with what is done of all that is to do: says once about how long the rest takes, if the steps are alike.

    The pace is that after the first call in which something is done, without the time in which kernels were compiled.
    """

    def __init__(self, label: str) -> None:
        self._label, self._start, self._is_shown = label, time.perf_counter(), False
        self._first: tuple[int, float] | None = None
        """What was done then, and when that was."""

    def __call__(self, done: int, total: int) -> None:
        now = time.perf_counter()
        worked = now - compiling.seconds
        if self._first is None:
            self._first = (done, worked) if done else None
            return
        before, since = self._first
        enough = done > before and done >= LEAST_SHARE * total and now - self._start >= LONG
        if self._is_shown or not enough or done >= total:
            return
        self._is_shown = True
        rest, spent = duration((worked - since) * (total - done) / (done - before)), duration(now - self._start)
        announce(f"{self._label}: {done} of {total} done in {spent}, the rest takes about {rest}")


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, in round numbers."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


@contextmanager
def progress_bar(
    label: str, length: int, line: str | None = None, are_alike: bool = True
) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal; elsewhere one line when the work begins, and another how long the rest takes.

    Nothing is said of the rest where the steps are not alike.
    """
    if not sys.stderr.isatty():
        announce(f"{label}: {length if line is None else line} ...")
        yield RemainingTime(label) if are_alike else lambda done, total: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr, show_pos=True) as bar:
        yield lambda done, total: bar.update(length * done // total - bar.pos)
