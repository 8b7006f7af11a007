"""Methods by name: those of the literature, and one of the user."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np

from ensemblage import consensus, generation, ranking
from ensemblage._ensemble import Ensemble


class MissingMethodError(ValueError):
    """A method that this version does not have."""


def fit_consensus(name: str, ensemble: Ensemble, n_clusters: int | None, seed: int, **parameters: Any) -> Any:
    """A consensus, fitted with this seed in one thread: an entry of METHODS, or "package.module:Class".

    A class of the user is called with ``n_clusters=`` and fitted to the plain label matrix.
    """
    if ":" in name:
        return _with_seed(import_method(name)(n_clusters=n_clusters), seed, {}).fit(np.asarray(ensemble))
    if name not in consensus.METHODS:
        raise MissingMethodError(f"consensus method {name} is not available in this version")
    return _with_seed(consensus.make_consensus(name, n_clusters), seed, parameters).fit(ensemble)


def make_ranker(name: str) -> Any:
    """A ranker: an entry of RANKERS, or "package.module:Class"."""
    if ":" in name:
        return import_method(name)()
    if name not in ranking.RANKERS:
        raise MissingMethodError(f"ranker {name} is not available in this version")
    return _with_seed(ranking.make_ranker(name), 0, {})


def make_generator(name: str, *arguments: Any, seed: int, **parameters: Any) -> Any:
    """A generator of ensemblage.generation with this seed in one thread."""
    return _by_name(generation, name)(*arguments, n_jobs=1, random_state=seed, **parameters)


def import_method(name: str) -> Any:
    """The class that "package.module:Class" names.

    Raises
    ------
    ValueError
        If it cannot be imported, or is not a class with a method ``fit``.
    """
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"--method must be package.module:Class that can be imported. Got {name}: {reason}. "
            "Install it, or set PYTHONPATH."
        ) from None
    if not (inspect.isclass(found) and hasattr(found, "fit")):
        raise ValueError(f"--method must name a class with a method fit. {name} is none. Name another.")
    return found


def kind_of(name: str) -> str:
    """Whether a class of the user is a "ranker" or a "consensus" method."""
    found = import_method(name)
    return "ranker" if hasattr(found, "greater_is_better") else "consensus"


def _by_name(package: Any, name: str) -> Any:
    found = getattr(package, name, None)
    if found is None:
        raise MissingMethodError(f"{name} is not available in this version")
    return found


def _with_seed(estimator: Any, seed: int, parameters: dict[str, Any]) -> Any:
    known = estimator.get_params() if hasattr(estimator, "get_params") else {}
    own = {"random_state": seed, "n_jobs": 1}
    chosen = {**{name: value for name, value in own.items() if name in known}, **parameters}
    return estimator.set_params(**chosen) if chosen else estimator
