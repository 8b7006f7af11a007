"""Names of before 1.0: each works for one release, with a `FutureWarning` that says the new one."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

NAMES: Mapping[str, Mapping[str, str]] = {
    "ensemblage.consensus.evidence": {
        "Evidence": "ensemblage.consensus.diagnostics.Diagnostics",
        "evidence_from_dict": "ensemblage.consensus.diagnostics.diagnostics_from_dict",
        **{
            kind: f"ensemblage.consensus.diagnostics.{kind}"
            for kind in (
                "Candidates",
                "Cut",
                "Dendrogram",
                "Lifetimes",
                "Memberships",
                "PairCounts",
                "Splits",
                "Trace",
            )
        },
    },
    "ensemblage.metrics": {
        "Certainty": "ensemblage.metrics._confidence.Confidence",
        "certainty": "ensemblage.metrics.confidence",
    },
    "ensemblage.profiles": {"HonestMarkers": "ensemblage.profiles._selective.SelectiveMarkers"},
    "ensemblage.plotting": {"evidence": "ensemblage.plotting.diagnostics"},
}
"""By module: the former name, and where the object is now. A private module is that of a record that is returned."""


def former_names(module: str, found: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module that had other names: what ``found`` has, else a former name, with a warning."""
    moved = NAMES[module]

    def get(name: str) -> Any:
        if name in moved:
            place, new = moved[name].rsplit(".", 1)
            is_public = "._" not in place
            now = f"Use {place}.{new}." if is_public else "It is a record that is returned; nothing needs its class."
            _warn(f"{module}.{name} is a name of before 1.0 and goes with the next release. {now}", 3)
            return getattr(importlib.import_module(place), new)
        if found is not None:
            return found(name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get


class FormerName:
    """An attribute of a class under its former name: what the new one has, with a warning."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        _warn(
            f"{self.name} of {owner.__name__} is a name of before 1.0 and goes with the next release. Use {self.new}.",
            3,
        )
        return getattr(model, self.new)


def renamed_parameters(**new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function take parameters by their former names, ``old="new"``, with a warning."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        is_own = function.__name__ in ("__init__", "set_params")  # of an object, which says whose they are

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given: dict[str, Any] = kwargs
            for old in new_names.keys() & given.keys():
                new, owner = new_names[old], type(args[0]).__name__ if is_own else function.__qualname__
                if new in given:
                    raise TypeError(
                        f"{owner} must get {new} once. Got {new} and its former name {old}. Leave {old} out."
                    )
                _warn(f"{old} of {owner} is a name of before 1.0 and goes with the next release. Use {new}.", 3)
                given[new] = given.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate


def renamed_value(value: Any, subject: str, **new_names: str) -> Any:
    """The new name of a value that has a former one, ``old="new"``, with a warning; else the value."""
    if not (isinstance(value, str) and value in new_names):
        return value
    _warn(f"{subject} {value!r} is a name of before 1.0 and goes with the next release. Use {new_names[value]!r}.", 4)
    return new_names[value]


def renamed_fields(**new_names: str) -> Callable[[type[T]], type[T]]:
    """Let an estimator take, set and show parameters by their former names, ``old="new"``, with a warning.

    ``old_`` is the former name of an attribute ``new_``.
    """

    def decorate(cls: type[T]) -> type[T]:
        for name in ("__init__", "set_params"):
            setattr(cls, name, renamed_parameters(**new_names)(getattr(cls, name)))
        cls._former_parameters = {**getattr(cls, "_former_parameters", {}), **new_names}  # type: ignore[attr-defined]
        for old, new in new_names.items():
            setattr(cls, old, FormerField(old, new))
            setattr(cls, f"{old}_", FormerField(f"{old}_", f"{new}_"))
        return cls

    return decorate


class FormerField:
    """A parameter or attribute of an estimator by its former name."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            raise AttributeError(f"type object {owner.__name__!r} has no attribute {self.old!r}")
        value = getattr(model, self.new)
        _warn(
            f"{self.old} of {owner.__name__} is a name of before 1.0 and goes with the next release. Use {self.new}.", 3
        )
        return value

    def __set__(self, model: Any, value: Any) -> None:
        owner = type(model).__name__
        _warn(f"{self.old} of {owner} is a name of before 1.0 and goes with the next release. Use {self.new}.", 3)
        setattr(model, self.new, value)


def _warn(text: str, depth: int) -> None:
    """A FutureWarning at the caller of the caller."""
    warnings.warn(text, FutureWarning, stacklevel=depth)
