"""What is known of a consensus method, and all of them by name; `_registry` names them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ensemblage.base.references import Reference
from ensemblage.base.validation import format_value
from ensemblage.consensus._capabilities import Capabilities

if TYPE_CHECKING:
    from ensemblage.consensus._base import BaseConsensus


@dataclass(frozen=True)
class Alias:
    """Another name of a method, and who calls it so."""

    paper: str
    references: tuple[str | Reference, ...]


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
    when: str = ""
    """When to use it, in a few words: what it is made for, what it costs (docs/LEADERBOARD.md measures)."""
    references: tuple[str | Reference, ...] = ()
    """Its papers: keys of `ensemblage.base.references`, or papers that are not there."""
    theory: str = ""
    """The page of docs/site/theory that explains it."""
    place: str = ""
    """The place in the paper that its code is from; empty: `paper` says it."""
    read: tuple[str, ...] = ()
    """Functions and classes of `consensus` to read with the estimator, when the code is checked against the paper."""
    published: Mapping[str, Any] | None = None
    """Its settings in the tables of the paper that is reproduced with it, where they are not the defaults; None if no
    reproduced paper has it."""
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    """Its other names."""
    package: str = ""
    """The optional package without which it does nothing."""

    @property
    def capabilities(self) -> Capabilities:
        """What it takes and does, with its parameters."""
        return self.estimator(**self.parameters).capabilities

    @property
    def needs(self) -> str:
        """What the caller must give."""
        return "" if self.finds_k else "n_clusters"


class Methods(Mapping[str, Method]):
    """The methods by name: each is listed and counted once, and is found by its aliases, too."""

    def __init__(self) -> None:
        self._listed: dict[str, Method] = {}

    def register(self, methods: Mapping[str, Method]) -> None:
        """Add methods, which `make_consensus`, the shell and the documents know from then on."""
        self._listed |= methods

    def __getitem__(self, name: str) -> Method:
        """By an alias: the method, as the paper has it that calls it so."""
        if name in self._listed:
            return self._listed[name]
        method = self._listed[self.aliases[name]]
        alias = method.aliases[name]
        return replace(method, paper=alias.paper, references=alias.references)

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    @property
    def aliases(self) -> dict[str, str]:
        """The name under which the method of each alias is listed."""
        return {alias: name for name, method in self._listed.items() for alias in method.aliases}


METHODS = Methods()
"""The methods by the names they have in the literature."""


def names_of(estimator: BaseConsensus) -> list[str]:
    """The methods that an estimator is, by its class and parameters."""
    return [
        name
        for name, method in METHODS.items()
        if method.estimator is type(estimator)
        and all(repr(getattr(estimator, key)) == repr(value) for key, value in method.parameters.items())
    ]


def check_k(estimator: BaseConsensus, k: int | None) -> None:
    """Raise if an estimator has no use for a number of clusters, or without one no rule to find it."""
    able = estimator.capabilities
    if not (able.finds_n_clusters if k is None else able.takes_n_clusters):
        raise wrong_k(estimator, k)


def wrong_k(estimator: BaseConsensus, k: int | None) -> ValueError:
    """What `check_k` raises."""
    known = names_of(estimator)
    name = type(estimator).__name__ + (f" ({', '.join(known)})" if known else "")
    if k is not None:
        return ValueError(
            f"n_clusters of {name} must be None: the labels alone decide the number. Got {format_value(k)}. "
            "Leave it out, or use KMeansConsensus."
        )
    finders = ", ".join(name for name, method in METHODS.items() if method.finds_k)
    return ValueError(
        f"n_clusters of {name} must be given: it cannot estimate the number. Got None. Give a number of clusters, "
        f"or use a method that estimates it: {finders}."
    )
