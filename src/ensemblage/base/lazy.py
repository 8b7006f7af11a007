"""Functions of the packages above, imported when they are called.

Imports point downward: an ensemble that opens a file calls a registered function. `ensemblage/__init__.py` says where
the function is.
"""

import importlib
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
PLACES: dict[str, str] = {}
"""Of each function: "package.module.function"."""


class Registered(Generic[P, R]):
    """A function of a package above, called like that function."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        module, _, function = PLACES[self.name].rpartition(".")
        return cast(Callable[P, R], getattr(importlib.import_module(module), function))(*args, **kwargs)
