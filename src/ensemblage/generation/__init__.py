"""Features to a label matrix: the generators of ensembles."""

from typing import Any

from ensemblage.base.lazy import names_of_stub, public_value

_HOME = names_of_stub(__file__)

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    # Lazy: methods need one of these modules, and together they import a fourth of scikit-learn.
    return public_value(__name__, _HOME, name)


def __dir__() -> list[str]:
    return __all__
