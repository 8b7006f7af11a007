"""One piece of work in a process of its own, ended when it takes too long or too much memory."""

from __future__ import annotations

import math
import multiprocessing
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple

from ensemblage.base.memory import give_back_freed
from ensemblage.base.threads import check_stopped

TICK = 0.2
"""Seconds between two looks at the time and the memory."""
WAITING = 3.0
"""Seconds of the clock to a second of the processor, at most: others may use the machine too."""
NOT_FINISHED = "not finished"
DIED = "the process died"


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


class OutOfTimeError(Exception):
    """The work was given up, as there is no more time for any."""


class Worker:
    """A process that does one piece of work after another; a new one takes its place if it must be ended.

    Parameters
    ----------
    limits : Limits
        Of one piece of work.
    end : float, optional
        ``time.monotonic()`` after which work is given up.
    """

    def __init__(self, limits: Limits, end: float = math.inf) -> None:
        self.limits = limits
        self.end = end
        self._process: Any = None
        self._pipe: Any = None

    def do(self, function: Callable[..., Any], *arguments: Any) -> Done:
        """The result of a function of a module, called there."""
        return next(self.each(function, arguments[:-1], arguments[-1:]))

    def each(self, function: Callable[..., Any], common: Sequence[Any], items: Sequence[Any]) -> Iterator[Done]:
        """The results of ``function(*common, item)``, one after the other; what is common is sent once.

        An item that ends the process takes none of the others with it.

        Raises
        ------
        OutOfTimeError
            If the end has come.
        Stopped
            In a thread whose work nobody waits for any more.
        """
        has_common = False
        for item in items:
            try:
                if not self._lives():
                    self._start()
                    has_common = False
                self._pipe.send((None if has_common else (function, common), item))
                has_common = True
            except (EOFError, OSError):
                self.close()
                yield Done(None, DIED, 0.0, 0.0)
            else:
                yield self._wait()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.join()
            self._pipe.close()

    def _lives(self) -> bool:
        return self._process is not None and self._process.is_alive()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _ENVIRONMENT, _one_thread():
            self._process.start()
        theirs.close()
        self._pipe.recv()  # what it imports is no part of the work

    def _wait(self) -> Done:
        """What the item gives that was sent last."""
        before, start, used = self._memory(), time.monotonic(), self._seconds()
        try:
            while not self._pipe.poll(TICK):
                check_stopped()
                passed, more = self._seconds_since(start, used), self._memory() - before
                if passed > self.limits.seconds or more > self.limits.gigabytes * 1000:
                    self.close()
                    is_late = passed > self.limits.seconds
                    limit = f"{self.limits.seconds:.0f} s" if is_late else f"{self.limits.gigabytes} GB"
                    return Done(None, f"{NOT_FINISHED}: more than {limit}", passed, more)
                if time.monotonic() > self.end:
                    self.close()
                    raise OutOfTimeError
            return Done(*self._pipe.recv())
        except (EOFError, OSError):
            passed = self._seconds_since(start, used)
            self.close()
            return Done(None, DIED, passed, 0.0)

    def _seconds_since(self, start: float, used: float) -> float:
        """Seconds of the processor; a part of the clock's where those are many more, or nothing else is known."""
        clock, processor = time.monotonic() - start, self._seconds()
        return max(processor - used, clock / WAITING) if processor else clock

    def _seconds(self) -> float:
        """Of the processor that the process has used; 0 where the system does not tell."""
        try:
            ticks = self._proc_text("stat").rpartition(")")[2].split()[11:13]
            return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        except (AttributeError, OSError, IndexError, ValueError):
            return 0.0

    def _proc_text(self, name: str) -> str:
        """What the system says of the process."""
        return Path(f"/proc/{self._process.pid}/{name}").read_text(encoding="utf-8")

    def _memory(self) -> float:
        """Megabytes that the process has now; 0 where the system does not tell."""
        try:
            return int(self._proc_text("statm").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        except (AttributeError, OSError, IndexError, ValueError):
            return 0.0


def _serve(pipe: Any) -> None:
    """Do what comes through the pipe until it is closed: its other end may be killed."""
    import signal
    import warnings

    from threadpoolctl import threadpool_limits

    from ensemblage_lab.benchmark import _entries  # noqa: F401

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asked ends this one
    Thread(target=_end_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")
    with threadpool_limits(1), suppress(EOFError, OSError):
        pipe.send("ready")
        while True:
            given, item = pipe.recv()
            if given is not None:
                function, common = given
            pipe.send(_measure(function, common, item))


def _end_with_parent() -> None:
    """Nobody guards time and memory when the process that asked was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _measure(function: Callable[..., Any], common: Sequence[Any], item: Any) -> Done:
    """The result of ``function(*common, item)``, or the first line of what it raised."""
    value, error = None, None
    before, start = _new_peak(), time.process_time()
    try:
        value = function(*common, item)
    except Exception as reason:  # shown in the table of failures
        error = f"{type(reason).__name__}: {''.join(str(reason).splitlines()[:1])}"
    return Done(value, error, time.process_time() - start, max(0.0, _peak() - before))


def _new_peak() -> float:
    """Give what is free back to the system, so that it is seen when it is taken again; megabytes that are left."""
    give_back_freed()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    return _peak()


def _peak() -> float:
    """Most megabytes that this process had since the last `_new_peak`; 0 where the system does not tell."""
    try:
        found = re.search(
            r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"), flags=re.MULTILINE
        )
    except OSError:
        return 0.0
    return int(found[1]) * 1024 / 1e6 if found else 0.0
