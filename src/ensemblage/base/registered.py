"""What a package calls of those above it: it declares the function, `ensemblage/__init__.py` says where it is.

Imports point downward. A record that draws itself, or an ensemble that opens a file, calls a registered function; the
module that has it is imported at the first call.
"""

import importlib
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast

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


figure: Registered[..., Any] = Registered("figure")
html: Registered[[str, Any], str] = Registered("html")
page: Registered[..., Any] = Registered("page")
