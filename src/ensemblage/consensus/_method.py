"""What is known of a consensus method, and all of them by name; `_registry` names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ensemblage.base.parameters import parameter_constraints

if TYPE_CHECKING:
    from ensemblage.consensus._base import BaseConsensus


@dataclass(frozen=True)
class Method:
    """A consensus method of the literature: an estimator with some of its parameters set."""

    estimator: type[BaseConsensus]
    paper: str
    complexity: str
    """Time for n objects (mostly distinct label rows), p partitions, d = Σk_i clusters in all, k clusters (k₀ of the
    reference) and t iterations."""
    memory: str
    """What is taken beyond the labels and their distinct rows, in the same letters."""
    finds_k: str = ""
    """How the number of clusters is found where none is given; empty if one must be."""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def needs(self) -> str:
        """What the caller must give."""
        return "" if self.finds_k else "n_clusters"


_METHODS: dict[str, Method] = {}
METHODS: Mapping[str, Method] = MappingProxyType(_METHODS)
"""The methods by the names they have in the literature."""


def names_of(estimator: BaseConsensus) -> list[str]:
    """The methods that an estimator is, by its class and parameters."""
    return [
        name
        for name, method in METHODS.items()
        if method.estimator is type(estimator)
        and all(repr(getattr(estimator, key)) == repr(value) for key, value in method.parameters.items())
    ]


def check_finds_k(estimator: BaseConsensus) -> None:
    """Raise if an estimator without a number of clusters needs one: if its class has no rule for it, so that None is no
    value of the parameter.
    """
    if None in parameter_constraints(type(estimator))["n_clusters"]:
        return
    known = names_of(estimator)
    name = type(estimator).__name__ + (f" ({', '.join(known)})" if known else "")
    able = ", ".join(name for name, method in METHODS.items() if method.finds_k)
    raise ValueError(
        f"n_clusters of {name} must be given: it has no rule to find it. Got None. Give the number of clusters that "
        f"you want, or use a method that finds it: {able}."
    )
