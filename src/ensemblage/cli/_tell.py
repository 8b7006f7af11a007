"""What is said on stderr while a command works."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import click

from ensemblage.cli._errors import one_line, say


def tell(text: str) -> None:
    say(one_line(text))


def tell_notes(name: str, notes: Iterable[str]) -> None:
    for note in notes:
        tell(f"{name}: {note}")


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Record how long a stage takes."""
    start = time.perf_counter()
    yield
    seconds[stage] = round(time.perf_counter() - start, 3)


@contextmanager
def progress_bar(label: str, length: int, line: str | None = None) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal; elsewhere one line when the work begins."""
    if not sys.stderr.isatty():
        tell(f"{label}: {length if line is None else line} ...")
        yield lambda done, total: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr, show_pos=True) as bar:
        yield lambda done, total: bar.update(length * done // total - bar.pos)
