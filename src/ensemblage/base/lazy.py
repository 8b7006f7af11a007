"""Public names that are imported when they are used: the stub beside a package's ``__init__.py`` says where they are.

It is the one list of the names, for type checkers and for the package (SPEC 1 of Scientific Python, `lazy_loader`).
"""

import importlib
import re
import sys
from collections.abc import Mapping
from typing import Any

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
