"""The one loop: units of work over threads, each result on the disk before the next begins."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from ensemblage.base.atomic import make_folder, only_user
from ensemblage.base.threads import StopFlag, Stopped, check_stopped, one_native_thread, unless
from ensemblage_lab._store import Key, LabelMatrix, Origin, Result, Store
from ensemblage_lab._worker import Limits, OutOfTimeError, Worker

SECONDS_BETWEEN_LINES = 10.0

U = TypeVar("U")


@contextmanager
def open_store(folder: Path, name: str, version: str) -> Iterator[Store]:
    """The file of results of a folder that nobody else uses meanwhile; both are made where they are not there."""
    make_folder(folder)
    with only_user(folder):
        store = Store(folder / name, version)
        try:
            yield store
        finally:
            store.close()


class ProgressLines:
    """How much is done, told on a line now and then."""

    def __init__(self, announce: Callable[[str], None], total: int = 0) -> None:
        self.announce, self.total, self.done = announce, total, 0
        self._reported = time.monotonic()

    def count(self, line: Callable[[], str], *, last: bool = False) -> None:
        """One more is done; its line is told if the last one is seconds ago, or, with ``last``, if nothing is left."""
        self.done += 1
        now = time.monotonic()
        if now - self._reported > SECONDS_BETWEEN_LINES or (last and self.done == self.total):
            self._reported = now
            self.announce(line())


class Runner(ABC, Generic[U]):
    """Does units of work and keeps what they give. Nothing is kept of what ended because the run did.

    The calling thread works too. Ctrl-C and the first error stop the other threads within a long kernel, at their next
    result or look at their process.

    Parameters
    ----------
    store : Store
    n_jobs : int
        Threads.
    limits : Limits, optional
        Each thread has a process in which the work is done, ended at these limits. None: the threads do the work.
    end : float
        ``time.monotonic()`` after which no unit begins, and processes give up their work.
    """

    def __init__(self, store: Store, n_jobs: int, limits: Limits | None = None, end: float = math.inf) -> None:
        self.store, self.end = store, end
        self.stopped = StopFlag()
        self.lock = Lock()
        self._workers = [None if limits is None else Worker(limits, end) for _ in range(n_jobs)]

    @abstractmethod
    def do(self, work: U, worker: Worker | None) -> None:
        """Do a unit of work, in the process of the worker if there is one; results are given to `keep`."""

    def run(self, units: Sequence[U]) -> None:
        """Do all units, the first ones first.

        Raises
        ------
        BaseException
            The first error, of whichever thread.
        """
        left = iter(units)
        own, *others = self._workers
        with ThreadPoolExecutor(max(1, len(others))) as threads:
            helpers = [threads.submit(self._work, left, worker) for worker in others]
            try:
                self._work(left, own)
                wait(helpers, return_when=FIRST_EXCEPTION)
            finally:
                self.stopped.set()
        for helper in helpers:
            helper.result()

    def _work(self, left: Iterator[U], worker: Worker | None) -> None:
        try:
            with one_native_thread(), unless(self.stopped), suppress(Stopped):
                while not self.stopped.is_set() and time.monotonic() < self.end:
                    with self.lock:
                        work = next(left, None)
                    if work is None:
                        return
                    with suppress(OutOfTimeError):
                        self.do(work, worker)
        except BaseException:
            self.stopped.set()
            raise
        finally:
            if worker is not None:
                worker.close()

    def keep(self, key: Key, origin: Origin, result: Result) -> None:
        """Put a result on the disk.

        Raises
        ------
        Stopped
            If the run has ended meanwhile: what it gave may be no result.
        """
        check_stopped()
        self.store.put(key, origin, result)

    def label_matrix(self, key: Key, origin: Origin, make: Callable[[], tuple[LabelMatrix, float]]) -> LabelMatrix:
        """The label matrix that an earlier run made, or a new one, which is kept with the seconds that it took."""
        found = self.store.ensemble(key, origin)
        if found is None:
            found, seconds = make()
            check_stopped()
            self.store.put_ensemble(key, origin, found, seconds)
        return found
