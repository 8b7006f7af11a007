"""What is imported when it is used: public names of a package, and functions of the packages above.

The stub beside a package's ``__init__.py`` is the one list of its public names, for type checkers and for the package
(SPEC 1 of Scientific Python, `lazy_loader`). Imports point downward: a record that draws itself, or an ensemble that
opens a file, calls a registered function. `ensemblage/__init__.py` says where the function is; its module is imported
at the first call.
"""

import importlib
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, cast

LINE = re.compile(r"^from ([\w.]+) import (\w+) as \2$", re.MULTILINE)


def names_of_stub(file: str) -> dict[str, str]:
    """Name → module that has it, from the lines ``from module import name as name`` of the stub of ``__init__.py``."""
    with open(file.rpartition(".")[0] + ".pyi", encoding="utf-8") as stub:
        text = stub.read()
    return {name: module for module, name in LINE.findall(text)}


def public_value(package: str, homes: Mapping[str, str], name: str) -> Any:
    """The public name of a package, which has it from then on; its ``__getattr__`` calls this."""
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module = importlib.import_module(homes[name])
    # A package whose stub says `from package import part` has this part as a folder.
    value = importlib.import_module(f"{package}.{name}") if homes[name] == package else getattr(module, name)
    setattr(sys.modules[package], name, value)
    return value


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
