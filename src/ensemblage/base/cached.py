"""Properties that are computed once, by one thread, in every version of Python and after a fork."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload
from weakref import finalize

T = TypeVar("T")

_guard = threading.Lock()
_locks: dict[tuple[int, str], threading.RLock] = {}
"""By the id of the object, which need not be hashable, and the name of the property."""


class once(Generic[T]):
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
    def __get__(self, instance: None, owner: type) -> once[T]: ...
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


def _forget_locks() -> None:
    # Whoever held one of them is not in the child: what that thread computed there is computed anew.
    global _guard, _locks
    _guard, _locks = threading.Lock(), {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)
