"""The only place that calls numba's compiler."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from secrets import randbits
from typing import Any, ParamSpec, TypeVar

import numba
from llvmlite import ir
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel on its first call: serial, without the GIL, cached on disk where that is possible.

    numba refuses to cache when neither the package's folder nor the user's home can be written;
    the kernel is then compiled anew in every process.
    """
    return _compiled(function)


def inner_jit(function: Callable[P, R]) -> Callable[P, R]:
    """`jit` for what only kernels call. Without an entry for Python it compiles in two thirds of the time."""
    return _compiled(function, no_cpython_wrapper=True)


FEW_OPERATIONS = 2**23


def is_small_work(operations: int) -> bool:
    """Whether NumPy does as many operations in less time than it takes to compile a kernel for them."""
    return operations <= FEW_OPERATIONS


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to: to the compiler, arrays that can be are of another type."""
    view = array.view()
    view.flags.writeable = False
    return view


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    # Nobody calls kernels from C: without an entry for it they compile in four fifths of the time.
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        compiled: Callable[P, R] = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
    _name_files_apart(compiled)
    # numba names a kernel when it is first pickled. Two threads that send it to a Dask worker at once would both do so,
    # and the second would fail an assertion.
    getattr(compiled, "_uuid", None)
    return compiled


class Compiling:
    """How long kernels have been compiled in this process, as far as `on_first_compilation` listened."""

    def __init__(self) -> None:
        self._seconds, self._depth, self._since = 0.0, 0, 0.0

    @property
    def seconds(self) -> float:
        """Wall seconds so far."""
        return self._seconds + (time.perf_counter() - self._since if self._depth else 0.0)

    def begin(self) -> None:
        """A kernel is compiled, or one that a kernel calls: numba compiles one after another."""
        if not self._depth:
            self._since = time.perf_counter()
        self._depth += 1

    def end(self) -> None:
        self._depth -= 1
        if not self._depth:
            self._seconds += time.perf_counter() - self._since


compiling = Compiling()


@contextmanager
def on_first_compilation(call: Callable[[], None]) -> Iterator[None]:
    """Call ``call`` once, when a kernel is compiled here that the cache on the disk does not have.

    How long that takes is counted by `compiling`.
    """
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            compiling.begin()
            if not begun:
                begun.append(True)
                call()

        def on_end(self, event: Any) -> None:
            compiling.end()

    begun: list[bool] = []
    with event.install_listener("numba:compile", Listener()):
        yield


def _name_files_apart(compiled: Any) -> None:
    """Give every file of a kernel's cache a name that no other process gives: else one may run another's code.

    docs/numba_cache_names.md is the report of it, with a program that shows it.
    """
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    pattern = getattr(file, "_data_name_pattern", None)
    if file is not None and pattern is not None:
        file._data_name = lambda number: pattern.format(number=randbits(63))


@intrinsic  # type: ignore[untyped-decorator]
def _load(typing_context: Any, address: Any) -> Any:
    """The byte at an address. The load is atomic (C's memory_order_relaxed): the compiler moves it out of no loop."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(values[0], ir.IntType(8).as_pointer()), "monotonic", align=1)

    return types.uint8(address), code


@inner_jit
def is_set(stop_flag: Any) -> bool:
    """Whether a kernel is to return, its work undone. An ordinary read would be made once, before its loops.

    stop_flag : IN (1,) uint8; another thread sets it
    """
    return bool(_load(stop_flag.ctypes.data) != 0)


if hasattr(os, "register_at_fork"):
    # Forked while another thread compiles, a child would wait for the compiler's lock for ever: the fork waits instead.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
