"""The only place that calls numba's compiler."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numba

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
