"""Methods by name: those of the literature, and one of the user."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ensemblage import consensus, generation, ranking
from ensemblage.base.options import Message, Option
from ensemblage.consensus._registry import PUBLISHED
from ensemblage.labels.ensemble import Ensemble


@dataclass(frozen=True)
class PaperMethod:
    """A consensus method as a paper uses it."""

    name: str
    """A key of METHODS."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """What differs here from its published settings."""
    is_published: bool = True
    """Whether there are such settings; else ``changes`` are all."""

    def settings(self) -> dict[str, Any]:
        """Every parameter that is given to the method."""
        return {**(PUBLISHED.get(self.name, {}) if self.is_published else {}), **self.changes}


class MissingMethodError(ValueError):
    """A method that this version does not have."""


def fit_consensus(
    name: str, ensemble: Ensemble, n_clusters: int | None, seed: int, *, published: bool = True, **parameters: Any
) -> Any:
    """A consensus, fitted with this seed in one thread: an entry of METHODS, or "package.module:Class".

    A class of the user is called with ``n_clusters=`` and fitted to the plain label matrix.
    """
    if ":" in name:
        return _with_seed(import_method(name)(n_clusters=n_clusters), seed).fit(np.asarray(ensemble))
    if name not in consensus.METHODS:
        raise MissingMethodError(f"consensus method {name} is not available in this version")
    estimator = consensus.make_consensus(name, n_clusters, published=published, **parameters)
    return _with_seed(estimator, seed).fit(ensemble)


def make_ranker(name: str) -> Any:
    """A ranker: an entry of RANKERS, or "package.module:Class"."""
    if ":" in name:
        return import_method(name)()
    if name not in ranking.RANKERS:
        raise MissingMethodError(f"ranker {name} is not available in this version")
    return _with_seed(ranking.make_ranker(name), 0)


def make_generator(name: str, *arguments: Any, seed: int, **parameters: Any) -> Any:
    """A generator of ensemblage.generation with this seed in one thread."""
    found = getattr(generation, name, None)
    if found is None:
        raise MissingMethodError(f"{name} is not available in this version")
    return found(*arguments, n_jobs=1, random_state=seed, **parameters)


def import_method(name: str, option: str = "method") -> Any:
    """The class that "package.module:Class" names; ``option`` is what messages call it.

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
        rule = f" must be package.module:Class that can be imported. Got {name}: {reason}."
        raise ValueError(Message(Option(option), rule, " Install it, or set PYTHONPATH.")) from None
    if not (inspect.isclass(found) and hasattr(found, "fit")):
        rule = f" must name a class with a method fit. {name} is none. Name another."
        raise ValueError(Message(Option(option), rule))
    return found


def version_of(name: str) -> str:
    """The version of the package of the user's class; of a class of no installed package, the digest of its file.

    So an edited class is another one to a store of results.
    """
    package = name.partition(":")[0].partition(".")[0]
    distributions = importlib.metadata.packages_distributions().get(package)
    if distributions:
        return importlib.metadata.version(distributions[0])
    try:
        file = inspect.getsourcefile(import_method(name))
    except TypeError:  # a class of the interpreter's own session
        file = None
    return f"file {hashlib.sha256(Path(file).read_bytes()).hexdigest()[:8]}" if file else "unknown"


def kind_of(name: str) -> str:
    """Whether a class of the user is a "ranker" or a "consensus" method."""
    found = import_method(name)
    return "ranker" if hasattr(found, "greater_is_better") else "consensus"


def _with_seed(estimator: Any, seed: int) -> Any:
    known = estimator.get_params() if hasattr(estimator, "get_params") else {}
    chosen = {name: value for name, value in {"random_state": seed, "n_jobs": 1}.items() if name in known}
    return estimator.set_params(**chosen) if chosen else estimator
