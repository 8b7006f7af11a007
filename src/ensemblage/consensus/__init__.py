"""Consensus functions: label matrix to one clustering."""

from typing import Any

import ensemblage.consensus._registry  # noqa: F401 - imports every method
from ensemblage.base.lazy import names_of_stub, public_value

_HOME = names_of_stub(__file__)

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    return public_value(__name__, _HOME, name)


def __dir__() -> list[str]:
    return __all__
