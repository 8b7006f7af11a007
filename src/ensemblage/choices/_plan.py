"""All that is decided before work begins, as a record that shows itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import groupby, zip_longest
from textwrap import wrap
from typing import Any, Generic, NamedTuple, TypeVar

from ensemblage.base.renamed import FormerName
from ensemblage.base.text import html_table

T = TypeVar("T")
VALUE_WIDTH, REASON_WIDTH = 40, 64
"""Characters of a line of the printed table."""
LEAST_RUN = 3
"""Numbers in a row that are written as a range."""


KEYS = {"partitions": "members", "votes": "certainty"}
"""What JSON calls decisions that have another name here: keys of files do not change."""


class Decision(NamedTuple, Generic[T]):
    """What was decided, and why."""

    value: T
    reason: str
    """Sentences, with the numbers that decided."""


@dataclass(frozen=True, repr=False)
class Plan:
    """All decisions before a fit, with their reasons; `ConsensusClustering.plan` makes it.

    Attributes
    ----------
    n_objects, n_features : int
        Shape of the features.
    roles : Decision of str
        How many columns are clustered.
    scales : Decision of str
        Whether features keep their scales: "kept", "standardised", "as given", "of its own" (the preprocessor's), or
        "none" (no feature is a number).
    n_clusters : Decision of int, tuple of int or None
        The number of clusters; those to choose from; None: the combiner finds it by its own rule.
    partitions : Decision of str
        Generator of the partitions; "none" where categories are the only members.
    combiner : Decision of str
        Name in `METHODS`, or the estimator.
    samples : Decision of dict of str to int
        Which steps look at a sample, and how many objects that has. Empty: all steps look at all objects.
    votes : Decision of str
        How the members vote on each object: "equal votes", "weighted votes", or "none" for one cluster.
    stability : Decision of int
        How many resamples of the objects are clustered again.
    """

    n_objects: int
    n_features: int
    roles: Decision[str]
    scales: Decision[str]
    n_clusters: Decision[int | tuple[int, ...] | None]
    partitions: Decision[str]
    combiner: Decision[str]
    samples: Decision[dict[str, int]]
    votes: Decision[str]
    stability: Decision[int]
    _: KW_ONLY
    k_range: tuple[int, ...] | None = None
    """The numbers to choose from, where they were given."""
    allow_one: bool = False
    """Whether one cluster is the answer where no structure is found."""
    is_learned: bool = False
    """Whether the partitions have learned weights."""
    generator: Any = field(default=None, compare=False)
    """What is executed: the unfitted generator ..."""
    consensus: Any = field(default=None, compare=False)
    """... and the unfitted consensus."""

    members, certainty = FormerName("partitions"), FormerName("votes")

    @property
    def decisions(self) -> dict[str, Decision[Any]]:
        """The decisions by the names of their fields, in the order in which they are made."""
        values = vars(self).items()
        return {name: value for name, value in values if isinstance(value, Decision)}

    @property
    def k(self) -> int | None:
        """The number of clusters that was given."""
        return self.n_clusters.value if isinstance(self.n_clusters.value, int) else None

    @property
    def chooses_k(self) -> bool:
        """Whether `choose_k` chooses the number of clusters."""
        return self.finds_k and not self.is_learned

    @property
    def finds_k(self) -> bool:
        """Whether the number of clusters is looked for before the partitions are combined."""
        return isinstance(self.n_clusters.value, tuple)

    def to_dict(self) -> dict[str, Any]:
        """The decisions as JSON can hold them.

        Returns
        -------
        dict of str to dict
            By the name of each decision its ``value`` and its ``reason``; ``n_objects`` and ``n_features``.
        """
        decisions = {
            KEYS.get(name, name): {"value": _plain(d.value), "reason": d.reason} for name, d in self.decisions.items()
        }
        return {"n_objects": self.n_objects, "n_features": self.n_features, **decisions}

    def _repr_html_(self) -> str:
        said = f"<b>Plan</b> for {self.n_objects:,} objects and {self.n_features:,} features"
        rows = [[name, value_text(decision.value), decision.reason] for name, decision in self.decisions.items()]
        return f"<div>{said}{html_table(['', 'decision', 'reason'], rows, is_text=True)}</div>"

    def __repr__(self) -> str:
        head = f"Plan for {self.n_objects:,} objects and {self.n_features:,} features"
        rows = [(name, value_text(d.value), d.reason) for name, d in self.decisions.items()]
        of_name, of_value = max(map(len, self.decisions)), min(VALUE_WIDTH, max(len(value) for _, value, _ in rows))
        lines = [head]
        for name, value, reason in rows:
            cells = zip_longest([name], wrap(value, of_value), wrap(reason, REASON_WIDTH), fillvalue="")
            lines += [f"{first:<{of_name}}  {second:<{of_value}}  {third}".rstrip() for first, second, third in cells]
        return "\n".join(lines)


def value_text(value: Any) -> str:
    """What was decided, for people."""
    if value is None:
        return "by the combiner"
    if isinstance(value, Mapping):
        return ", ".join(f"{n:,} for {step}" for step, n in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(_runs(value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """Ascending numbers, those without a gap as "2 to 10"."""
    for _, group in groupby(enumerate(numbers), lambda place: place[1] - place[0]):
        run = [k for _, k in group]
        yield from map(str, run) if len(run) < LEAST_RUN else (f"{run[0]} to {run[-1]}",)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
