"""The only place that calls numba's compiler."""

import os
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core.compiler_lock import global_compiler_lock

P = ParamSpec("P")
R = TypeVar("R")


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a kernel on its first call: serial, without the GIL, cached on disk where that is possible.

    numba refuses to cache when neither the package's folder nor the user's home can be written;
    the kernel is then compiled anew in every process.
    """
    options: Any = {"nogil": True, "error_model": "numpy"}
    try:
        compiled: Callable[P, R] = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        compiled = numba.njit(**options)(function)
    return compiled


if hasattr(os, "register_at_fork"):
    # Forked while another thread compiles, a child would wait for the compiler's lock for ever: the fork waits instead.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
