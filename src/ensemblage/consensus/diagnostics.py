"""Intermediate results of a fitted consensus: records of a few kinds.

`BaseConsensus.diagnostics` returns them. Report, figures, JSON and command line go by their type, so that a new method
that returns records of these kinds is explained like the others.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.consensus._lifetime import longest_lifetime

SCHEMA = 2
"""Grows when a kind or a field is added; none is renamed or removed."""


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Intermediate results of a fitted consensus, in numbers."""

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON can hold it; numbers that are not finite are None.

        Returns
        -------
        dict
            ``kind`` (the name of the class), ``schema`` (a whole number that grows when fields are added), and an entry
            for each field.

        Examples
        --------
        >>> import numpy as np
        >>> from ensemblage.consensus.diagnostics import Trace
        >>> Trace("density", np.array([0.5, 0.75])).to_dict()
        {'kind': 'Trace', 'schema': 2, 'quantity': 'density', 'values': [0.5, 0.75]}
        """
        fields = {name: _plain(value) for name, value in vars(self).items()}
        return {"kind": type(self).__name__, "schema": SCHEMA, **fields}


def diagnostics_from_dict(record: dict[str, Any]) -> Diagnostics:
    """The record that `Diagnostics.to_dict` made a dict of, also after JSON; None among its numbers is NaN.

    Parameters
    ----------
    record : dict

    Returns
    -------
    Diagnostics

    Raises
    ------
    ValueError
        If it is of no kind that this version knows.

    Examples
    --------
    >>> from ensemblage.consensus.diagnostics import diagnostics_from_dict
    >>> diagnostics_from_dict({"kind": "Trace", "schema": 1, "quantity": "density", "values": [0.5, 0.75]})
    Trace(quantity='density', values=array([0.5 , 0.75]))
    """
    kinds = {kind.__name__: kind for kind in Diagnostics.__subclasses__()}
    kind = kinds.get(record.get("kind", ""))
    if kind is None:
        raise ValueError(
            f"A record of diagnostics must be of one of the kinds {', '.join(kinds)}. Got {record.get('kind')!r}. "
            "Use the version of ensemblage that made it, or a newer one."
        )
    types = typing.get_type_hints(kind)
    return kind(**{name: _value_of_type(record[name], type_) for name, type_ in types.items() if name in record})


def _plain(value: Any) -> Any:
    """Arrays, NumPy's numbers, dicts and lists as JSON can hold them; None for what is not finite."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _value_of_type(value: Any, type_: Any) -> Any:
    """What JSON holds of a field, as the field's type says."""
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if origin is NDArray:  # an alias with a name of its own, as NumPy 2.5 has it on Python 3.12
        return np.array(value, dtype=arguments[0])
    if origin is np.ndarray:
        (dtype,) = typing.get_args(arguments[1])
        return np.array(value, dtype=dtype)
    if origin is dict and arguments[0] is int:
        return {int(key): entry for key, entry in value.items()}
    return value


@dataclass(frozen=True, eq=False)
class Dendrogram(Diagnostics):
    """A hierarchy of merges, and the cluster to which each of its leaves went."""

    merges: NDArray[np.float64]
    """(leaves - 1, 4) in SciPy's format, as ``linkage_matrix_``."""
    sizes: NDArray[np.float64]
    """(leaves,) objects of each leaf; empty where objects belong to several."""
    clusters: NDArray[np.int64]
    """(leaves,) cluster of the consensus."""
    leaves: str
    """What a leaf is: "object", or "cluster" of a reference."""
    linkage: str
    """How the distance of two branches follows from their leaves: "single", "average", "complete", "aib"."""
    distance: str
    """What the heights are."""


@dataclass(frozen=True, eq=False)
class Lifetimes(Diagnostics):
    """How long each number of clusters lives in a hierarchy."""

    lifetimes: dict[int, float]
    n_clusters: int | None
    """The number that was asked for; None if the longest lifetime was to find one."""

    @property
    def chosen(self) -> int:
        """The number that was asked for, or that lives longest."""
        return self.n_clusters or longest_lifetime(self.lifetimes)


@dataclass(frozen=True, eq=False)
class PairCounts(Diagnostics):
    """How many pairs of objects have which co-association, and which of these counted as weak."""

    counts: NDArray[np.int64]
    """(p + 1,) pairs whose co-association is nearest to s / p."""
    parted_at: dict[str, float]
    """Where the positive ones fall into two groups, by each method of `weak_association_threshold`."""
    threshold: float | None
    """Those up to it were taken away; None if all were kept."""
    n_objects: int
    """Objects whose pairs were counted: all, or a random sample."""


@dataclass(frozen=True, eq=False)
class Candidates(Diagnostics):
    """Values of a parameter that were tried, and the score of the consensus with each; the least one won."""

    parameter: str
    values: NDArray[np.float64]
    """(c,) ascending"""
    score: str
    scores: NDArray[np.float64]
    """(c,) NaN where the consensus cannot be judged."""
    made: str = "partitions"
    """What differs from value to value."""


@dataclass(frozen=True, eq=False)
class Splits(Diagnostics):
    """The splits of a cluster in two that made the clusters, in their order."""

    size: NDArray[np.int64]
    """(k - 1,) objects of the cluster that was split."""
    loss: NDArray[np.float64]
    """(k - 1,) its k-means loss."""
    loss_after: NDArray[np.float64]
    """(k - 1,) that of its halves."""
    gain: NDArray[np.float64]
    """(k - 1,) in density."""

    @property
    def losses(self) -> NDArray[np.float64]:
        """(k,) loss of 1, 2, …, k clusters."""
        taken = np.concatenate([[0.0], np.cumsum(self.loss - self.loss_after)])
        losses: NDArray[np.float64] = np.maximum(self.loss[0] - taken, 0)
        return losses


@dataclass(frozen=True, eq=False)
class Trace(Diagnostics):
    """A quantity before and after each pass of a local search that raises it."""

    quantity: str
    values: NDArray[np.float64]
    """(passes + 1,)"""


@dataclass(frozen=True, eq=False)
class Memberships(Diagnostics):
    """Soft memberships of some of the objects."""

    membership: NDArray[np.float64]
    """(s, k) shares of the votes for each cluster; rows sum to 1, NaN where no partition votes."""
    clusters: NDArray[np.int64]
    """(s,) cluster of the consensus; -1 for none."""
    sizes: NDArray[np.float64]
    """(s,) how many objects each of them stands for."""


@dataclass(frozen=True, eq=False)
class Cut(Diagnostics):
    """What the best cut of a graph keeps within its parts."""

    criterion: str
    value: float
    bound: float
    """The largest value that any graph allows."""
