"""One piece of work in a process of its own, ended when it takes too long or too much memory."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

TICK = 0.2
"""Seconds between two looks at the time and the memory."""
WAITING = 3.0
"""Seconds of the clock to a second of the processor, at most: others may use the machine too."""
NOT_FINISHED = "not finished"


_ENVIRONMENT = Lock()


@contextmanager
def _one_thread() -> Iterator[None]:
    """The environment of a process whose libraries use one thread, also those that forget a limit set later."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class Limits(NamedTuple):
    """Of one piece of work."""

    seconds: float = 600.0
    """Of the processor, where the system tells it."""
    gigabytes: float = 4.0


class Done(NamedTuple):
    """What a piece of work gave, or why it gave nothing."""

    value: Any
    error: str | None
    seconds: float
    """Of the processor."""
    megabytes: float
    """Largest memory beyond what the process had before, where the system tells it."""


class Worker:
    """A process that does one piece of work after another; a new one takes its place if it must be ended."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._process: Any = None
        self._pipe: Any = None

    def do(self, function: Callable[..., Any], *arguments: Any) -> Done:
        """The result of a function of a module, called there."""
        return next(self.each(function, arguments[:-1], arguments[-1:]))

    def each(self, function: Callable[..., Any], common: Sequence[Any], items: Sequence[Any]) -> Iterator[Done]:
        """The results of ``function(*common, item)``, one after the other; what is common is sent once.

        The process does not wait until a result is taken. One that is ended takes only its own item with it.
        """
        left = list(items)
        while left:
            for done, goes_on in self._each_until_end(function, common, left):
                left = left[1:]
                yield done
                if not goes_on:
                    break

    def _each_until_end(
        self, function: Callable[..., Any], common: Sequence[Any], items: Sequence[Any]
    ) -> Iterator[tuple[Done, bool]]:
        """Results, and whether the process lives on: up to the last item or the one at which it ended."""
        if self._process is None or not self._process.is_alive():
            self._start()
        self._pipe.send((function, common, items))
        for _ in items:
            done = self._wait()
            yield done, self._process is not None

    def _wait(self) -> Done:
        """The next result."""
        before, start, used = self._memory(), time.monotonic(), self._seconds()
        most = before
        while not self._pipe.poll(TICK):
            most = max(most, self._memory())
            passed = self._passed(start, used)
            if passed > self.limits.seconds or most - before > self.limits.gigabytes * 1000:
                self.close()
                limit = (
                    f"{self.limits.seconds:.0f} s" if passed > self.limits.seconds else f"{self.limits.gigabytes} GB"
                )
                return Done(None, f"{NOT_FINISHED}: more than {limit}", passed, most - before)
            if not self._process.is_alive() and not self._pipe.poll():
                self.close()
                return Done(None, "the process died", passed, most - before)
        try:
            value, error, seconds = self._pipe.recv()
        except (EOFError, OSError):
            self.close()
            return Done(None, "the process died", time.monotonic() - start, most - before)
        return Done(value, error, seconds, max(most, self._memory()) - before)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _ENVIRONMENT, _one_thread():
            self._process.start()
        theirs.close()
        self._pipe.poll(None)  # what it imports is no part of the work
        self._pipe.recv()

    def _passed(self, start: float, used: float) -> float:
        """Seconds of the processor; a part of the clock's where those are many more, or nothing else is known."""
        clock, processor = time.monotonic() - start, self._seconds()
        return max(processor - used, clock / WAITING) if processor else clock

    def _seconds(self) -> float:
        """Of the processor that the process has used; 0 where the system does not tell."""
        try:
            ticks = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError, ValueError):
            return 0.0

    def _memory(self) -> float:
        """Megabytes that the process has now; 0 where the system does not tell."""
        status = Path(f"/proc/{self._process.pid}/statm")
        try:
            return int(status.read_text().split()[1]) * 4096 / 1e6
        except (OSError, IndexError, ValueError):
            return 0.0


def _serve(pipe: Any) -> None:
    """Do what comes through the pipe until it is closed: its other end may be killed."""
    import signal
    import warnings

    from threadpoolctl import threadpool_limits

    from ensemblage.benchmark import _entries  # noqa: F401

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asked ends this one
    warnings.simplefilter("ignore")
    pipe.send("ready")
    with threadpool_limits(1), suppress(EOFError, OSError):
        while True:
            function, common, items = pipe.recv()
            for item in items:
                start = time.process_time()
                try:
                    value, error = function(*common, item), None
                except Exception as reason:  # shown in the table of failures
                    said = str(reason).splitlines()[:1]
                    value, error = None, f"{type(reason).__name__}: {''.join(said)}"
                pipe.send((value, error, time.process_time() - start))
