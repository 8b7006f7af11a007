"""Long kernels run in slices: a compiled loop sees no Ctrl-C, but Python does between two slices."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

OPERATIONS = 2**27
"""Elementary operations of a slice, each about a nanosecond. Results do not depend on it (tests change it)."""

_thread = threading.local()


class Stopped(Exception):
    """Another thread of the same call failed or was interrupted: its error is the one to raise."""


def run_interruptibly(kernel: Callable[..., bool], *arguments: Any) -> None:
    """Call ``kernel(*arguments, OPERATIONS)`` until it returns that nothing is left to do.

    The kernel keeps its progress in arrays among its arguments. Named tuples of arrays are given to it as plain ones:
    numba's cache would pickle their class, and could not be read by a version where that has another name.
    """
    plain = [tuple(a) if isinstance(a, tuple) else a for a in arguments]
    while kernel(*plain, OPERATIONS):
        check_stopped()


def rows_per_call(operations: int, most: int) -> int:
    """How many rows, of so many elementary operations each, a kernel may take at a time; from 1 to ``most``."""
    return max(1, min(most, OPERATIONS // max(1, int(operations))))


def check_stopped() -> None:
    """Raise `Stopped` in a thread whose work nobody waits for any more."""
    if _is_stopped()():
        raise Stopped


@contextmanager
def unless(stopped: Callable[[], bool]) -> Iterator[None]:
    """Cancel this block when ``stopped()`` or an enclosing block is cancelled."""
    outer = _is_stopped()
    _thread.stopped = lambda: stopped() or outer()
    try:
        yield
    finally:
        _thread.stopped = outer


def _is_stopped() -> Callable[[], bool]:
    found: Callable[[], bool] = getattr(_thread, "stopped", _never)
    return found


def _never() -> bool:
    return False
