"""scikit-learn without `scipy.stats`, which takes a fifth of the time of a small run and is hardly ever used."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

STATS = "scipy.stats"
TAKEN = ("chi2", "gmean", "rankdata", "spearmanr")
"""What modules of scikit-learn take from it when they are imported."""
USED = ("cluster", "manifold", "mixture", "model_selection", "preprocessing")
"""What a run needs of scikit-learn; these import all others that take something from `scipy.stats`."""


class PostponedName:
    """A function or distribution of `scipy.stats`, which is imported when this is called or asked for an attribute."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(STATS), self._name)(*args, **kwargs)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return getattr(getattr(import_module(STATS), self._name), attribute)


class PostponedStats(ModuleType):
    """Stands for `scipy.stats` while scikit-learn is imported; later it imports what it is asked for."""

    def __getattr__(self, attribute: str) -> Any:
        if sys.modules.get(STATS) is not self:
            return getattr(import_module(STATS), attribute)
        if attribute in TAKEN:
            return PostponedName(attribute)
        raise AttributeError(f"{STATS} is not imported yet: {attribute}")


def import_scikit_learn() -> None:
    """Import what a run needs of scikit-learn, without `scipy.stats`, unless either has been imported.

    The import of a scikit-learn that needs more of it fails here; it is then imported as usual, where it is needed.
    """
    if STATS in sys.modules or "sklearn" in sys.modules:
        return
    sys.modules[STATS] = PostponedStats(STATS)
    try:
        with suppress(Exception):
            for name in USED:
                import_module(f"sklearn.{name}")
    finally:
        del sys.modules[STATS]
