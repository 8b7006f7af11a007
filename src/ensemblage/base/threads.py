"""Blocks of rows and the threads that work on them; BLAS and OpenMP held to one each.

Long kernels end early when a flag is set: compiled code sees no Ctrl-C, but a byte that another thread writes.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar, overload
from weakref import finalize

import numpy as np
from threadpoolctl import ThreadpoolController

from ensemblage.base.validation import Jobs, check_value

T = TypeVar("T")
R = TypeVar("R")

BLOCK_ROWS = 16_384
"""Rows of one task. Results do not depend on it (tests change it)."""

SUM_ROWS = 16_384
"""Rows of one partial float sum. Results do depend on it: it never changes."""

LEAST_ROWS = 8_192
"""Rows below which a thread is not worth totals of its own."""

OPERATIONS = 2**27
"""Elementary operations of a task, each about a nanosecond. Results do not depend on it (tests change it)."""
SHORT = 2**24
"""Operations of a kernel that Ctrl-C waits for: a thread of its own would cost a hundredth of its time."""
TICK = 0.1
"""Seconds after which the main thread looks for Ctrl-C, where a signal does not end its waiting (Windows)."""


def row_blocks(n_rows: int, size: int | None = None) -> list[slice]:
    """Consecutive slices of at most ``size`` rows (default ``BLOCK_ROWS``) that cover ``range(n_rows)``."""
    size = size or BLOCK_ROWS
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def parts_of(block: slice, size: int | None = None) -> list[slice]:
    """A slice of rows, cut like `row_blocks`: rows on disk are in memory only part by part."""
    return [slice(block.start + s.start, block.start + s.stop) for s in row_blocks(block.stop - block.start, size)]


_executor: ThreadPoolExecutor | None = None


def available_cores() -> int:
    """Cores this process may use, also by the quota of its container; ``OMP_NUM_THREADS`` lowers it, as loky and Dask
    workers rely on.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = min(len(affinity(0)) if affinity else os.cpu_count() or 1, _quota())
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


CONTROL_GROUP = Path("/sys/fs/cgroup")
NO_QUOTA = 2**31


@cache
def _quota() -> int:
    """Cores by the quota of the control group, rounded up, as joblib counts them: importing that takes 0.3 s."""
    limit = _words(CONTROL_GROUP / "cpu.max") or [  # of version 2, or of version 1
        *_words(CONTROL_GROUP / "cpu" / "cpu.cfs_quota_us"),
        *_words(CONTROL_GROUP / "cpu" / "cpu.cfs_period_us"),
    ]
    if len(limit) != 2 or not all(map(str.isdigit, limit)):  # "max", or −1
        return NO_QUOTA
    quota, period = map(int, limit)
    return -(-quota // period) if quota and period else NO_QUOTA


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return []


def thread_count(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``: -1 means every available core, -2 all but one; None what joblib's configuration says.

    That is the number of a ``joblib.parallel_config``, else every available core, and one in a task of joblib's or
    scikit-learn's parallel loops, whose other tasks have the other cores.
    """
    joblib = sys.modules.get("joblib.parallel")  # not imported: nobody has configured it
    if n_jobs is None and joblib is not None:
        backend, n_jobs = joblib.get_active_backend()
        n_jobs = 1 if n_jobs is None and backend.nesting_level else n_jobs
    if n_jobs is None:
        return available_cores()
    check_value(n_jobs, "n_jobs", [Jobs()])
    return int(n_jobs) if n_jobs > 0 else max(1, available_cores() + 1 + int(n_jobs))


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


class _Done:
    """The tasks of a map that are done, and a function that gets their number."""

    def __init__(self, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._total, self._progress, self._reported = total, progress, 0
        self._tasks: list[int] = []
        self.add = self._tasks.append  # whole in any thread

    def report(self) -> None:
        """By one thread; nothing if it knows."""
        n_done = len(self._tasks)
        if self._progress is not None and n_done > self._reported:
            self._reported = n_done
            self._progress(n_done, self._total)


def parallel_map(
    function: Callable[[T], R],
    tasks: Iterable[T],
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[R]:
    """``[function(task) for task in tasks]`` over threads; the calling thread works too.

    Results are in the order of the tasks. The first error, Ctrl-C included, stops the other threads at their next task
    or within `run_interruptibly`, and is raised. Ctrl-C is seen there or between two tasks of the calling thread: no
    task should be long. Safe to nest: a thread never waits for one that has not started. ``progress(done, total)`` is
    called by the calling thread, after each of its own tasks and at the end; ``done`` are those of all threads.
    """
    todo: Sequence[T] = list(tasks)
    n_threads = min(thread_count(n_jobs), len(todo)) if len(todo) > 1 else 1
    results: list[Any] = []
    if n_threads <= 1:
        for task in todo:
            results.append(function(task))
            if progress is not None:
                progress(len(results), len(todo))
        return results
    results = [None] * len(todo)
    counter, done = itertools.count(), _Done(len(todo), progress)
    helpers: list[Future[None]] = []

    def work(flag: StopFlag, report: Callable[[], None]) -> None:
        try:
            with unless(flag):
                while (i := next(counter)) < len(todo):
                    check_stopped()
                    results[i] = function(todo[i])
                    done.add(i)
                    report()
        except Stopped:
            # Why the flag is set is found below: by an error of another thread of ours, or by the flag around.
            if not flag.is_set():
                flag.set()
                raise
        except BaseException:
            flag.set()
            raise

    try:
        with stop_flag().inner() as flag:
            for _ in range(n_threads - 1):
                helpers.append(_pool().submit(work, flag, lambda: None))
            work(flag, done.report)
            _wait_for(helpers)
    finally:
        _wait_for(helpers)
    for helper in helpers:
        if not helper.cancelled():
            helper.result()
    check_stopped()
    done.report()
    return results


def _wait_for(helpers: Sequence[Future[None]]) -> None:
    """Until those that have started are done; the others never start."""
    for helper in helpers:
        if not helper.cancel():
            helper.exception()


class _BlasLimit:
    """BLAS held to one thread from the first user's entry to the last one's exit, in whatever order they leave.

    Its limit is the process's. Two overlapping fits, or a clustering that Ctrl-C left running, would each restore what
    they found, and the last to leave found 1.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forker: int | None = None
        self._users = 0

    def __enter__(self) -> ThreadpoolController:
        with self._lock:
            if self._users == 0:
                self._controller = ThreadpoolController()
                self._limiter = self._controller.limit(limits=1, user_api="blas")
            self._users += 1
            return self._controller

    def before_fork(self) -> None:
        """Let a thread finish that looks for the libraries: the child would inherit the linker's lock as it is."""
        if self._lock.acquire(timeout=1):
            self._forker = threading.get_ident()

    def after_fork(self) -> None:
        """In the parent."""
        if self._forker == threading.get_ident():
            self._forker = None
            self._lock.release()

    def forget_lock(self) -> None:
        """For a forked child: BLAS stays held to one thread where a thread of the parent held it."""
        self._lock, self._forker = threading.Lock(), None

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limiter.restore_original_limits()


_blas_limit = _BlasLimit()


@contextmanager
def one_native_thread() -> Iterator[None]:
    """Hold BLAS and OpenMP to one thread: their results may depend on the number of threads."""
    # OpenMP keeps its limit per thread: each worker needs its own.
    with _blas_limit as native, native.limit(limits=1, user_api="openmp"):
        yield


_guard = threading.Lock()
_locks: dict[tuple[int, str], threading.RLock] = {}
"""By the id of the object, which need not be hashable, and the name of the property."""


class locked_property(Generic[T]):
    """A property computed at its first use; threads that ask meanwhile wait for it.

    Python's own `cached_property` has no lock from 3.12 on, and before it has one that a forked child inherits locked,
    if another thread was inside. Each property of each object has a lock of its own, so that threads compute several at
    once; it is none of the object's attributes, so that copies and pickles need not know of it.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> locked_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        values = instance.__dict__  # once it has the value, Python finds it there and does not come here
        with _lock_of(instance, self._name):
            if self._name not in values:
                values[self._name] = self._function(instance)
        return values[self._name]


def _lock_of(instance: Any, name: str) -> threading.RLock:
    key = id(instance), name
    with _guard:
        if key not in _locks:
            _locks[key] = threading.RLock()
            finalize(instance, _locks.pop, key, None).atexit = False
        return _locks[key]


def _pool() -> ThreadPoolExecutor:
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(max_workers=max(1, available_cores()), thread_name_prefix="ensemblage")
    return _executor


def _forget_threads() -> None:
    # A forked child inherits the pool but none of its threads, and locks that they may have held: what they computed
    # there is computed anew.
    global _executor, _guard, _locks
    _executor, _guard, _locks = None, threading.Lock(), {}
    _blas_limit.forget_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_blas_limit.before_fork, after_in_parent=_blas_limit.after_fork, after_in_child=_forget_threads
    )
