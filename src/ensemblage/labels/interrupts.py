"""Long kernels end early when a flag is set: compiled code sees no Ctrl-C, but a byte that another thread writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

R = TypeVar("R")

OPERATIONS = 2**27
"""Elementary operations of a task, each about a nanosecond. Results do not depend on it (tests change it)."""
SHORT = 2**24
"""Operations of a kernel that Ctrl-C waits for: a thread of its own would cost a hundredth of its time."""
TICK = 0.1
"""Seconds after which the main thread looks for Ctrl-C, where a signal does not end its waiting (Windows)."""


class Stopped(Exception):
    """Another thread of the same call failed or was interrupted: its error is the one to raise."""


class StopFlag:
    """Tells the kernels of a call that nobody waits for them any more. It is never taken back."""

    def __init__(self) -> None:
        self.array = np.zeros(1, dtype=np.uint8)
        """What kernels read by `ensemblage.kernels._jit.is_set`."""
        self._inner: list[StopFlag] = []

    def set(self) -> None:
        """Set this flag and those of the calls within."""
        self.array[0] = 1
        for flag in tuple(self._inner):
            flag.set()

    def is_set(self) -> bool:
        """Whether it is."""
        return bool(self.array[0])

    @contextmanager
    def inner(self) -> Iterator[StopFlag]:
        """The flag of a call within: set with this one, and when the block is left, for whatever reason."""
        flag = StopFlag()
        self._inner.append(flag)
        if self.is_set():  # after it was listed: by now whoever sets this one sets that one, too
            flag.set()
        try:
            yield flag
        finally:
            flag.set()
            self._inner.remove(flag)


_NEVER = StopFlag()
_SET = StopFlag()
_SET.set()
_thread = threading.local()


def stop_flag() -> StopFlag:
    """The flag that stops the work of this thread."""
    found: StopFlag = getattr(_thread, "flag", _NEVER)
    return found


def check_stopped() -> None:
    """Raise `Stopped` in a thread whose work nobody waits for any more."""
    if stop_flag().is_set():
        raise Stopped


@contextmanager
def unless(flag: StopFlag) -> Iterator[None]:
    """Let this flag stop the work of this thread in the block."""
    outer = stop_flag()
    _thread.flag = flag
    try:
        yield
    finally:
        _thread.flag = outer


def run_interruptibly(kernel: Callable[..., R], *arguments: Any, operations: int) -> R:
    """``kernel(*arguments, flag)``, which ends early if the flag is set: then this raises `Stopped`, or Ctrl-C.

    A kernel of more than a few elementary ``operations`` has a thread of its own, where the main thread can wait.
    Named tuples of arrays are given to it as plain ones: numba's cache would pickle their class, and could not be read
    by a version where that has another name.
    """
    plain = [tuple(a) if isinstance(a, tuple) else a for a in arguments]
    if operations <= SHORT or threading.current_thread() is not threading.main_thread():
        result = kernel(*plain, stop_flag().array)
    else:
        kernel(*plain, _SET.array)  # compiles it, where Ctrl-C is seen; it does nothing else
        with ThreadPoolExecutor(1) as thread, stop_flag().inner() as flag:
            run = thread.submit(kernel, *plain, flag.array)
            while not wait([run], TICK).done:
                pass
        result = run.result()
    check_stopped()
    return result


def rows_per_call(operations: int, most: int) -> int:
    """How many rows, of so many elementary operations each, a task may take; from 1 to ``most``."""
    return max(1, min(most, OPERATIONS // max(1, int(operations))))
