"""Must-link and cannot-link in a consensus: rows that form one unit, and units that no cluster holds both of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ensemblage._ensemble import Ensemble
from ensemblage._links import Links, named
from ensemblage.labels._coding import CodedColumns
from ensemblage.labels._numbers import drop_unused_labels
from ensemblage.rows.memory import MemoryRows

if TYPE_CHECKING:
    from ensemblage.consensus._base import Rows

MOST_STEPS = 100_000
"""Choices that are tried to keep the units of one component apart."""


@dataclass(frozen=True)
class Units:
    """What is assigned as one: the rows of a must-link group, or a row alone."""

    of_rows: NDArray[np.int64]
    """(m,) unit of each row; units are numbered by their first row."""
    apart: NDArray[np.int64]
    """(b, 2) units that no cluster may hold both, the smaller number first."""
    objects: NDArray[np.int64]
    """(q,) an object of each unit."""

    def __len__(self) -> int:
        return len(self.objects)

    @cached_property
    def bound(self) -> NDArray[np.intp]:
        """(b,) the rows that are not alone in their unit, or whose unit is kept apart from another."""
        is_bound = np.bincount(self.of_rows, minlength=len(self)) > 1
        is_bound[self.apart] = True
        return np.flatnonzero(is_bound[self.of_rows])

    def assign(self, costs: NDArray[np.float64], owner: str) -> NDArray[np.intp]:
        """(b,) cluster of each bound row, from what it costs in each, (b, k).

        A unit goes where its rows cost least together, the first one on ties. Units that are kept apart are placed in
        a fixed order, each in the best cluster that is left: `nearest_allowed`.
        """
        units, place = np.unique(self.of_rows[self.bound], return_inverse=True)
        sums = np.zeros((len(units), costs.shape[1]))
        np.add.at(sums, place, costs)
        clusters = sums.argmin(axis=1)
        pairs, components = self._pairs_of_components
        a, b = np.searchsorted(units, pairs).T
        # Where the nearest clusters of no pair are the same, each unit goes to its own.
        for c in np.unique(components[clusters[a] == clusters[b]]):
            some = slice(*np.searchsorted(components, [c, c + 1]))
            members, its_pairs = np.unique(np.column_stack([a[some], b[some]]), return_inverse=True)
            found = nearest_allowed(sums[members], its_pairs.reshape(-1, 2))
            if found is None:
                raise ValueError(
                    f"The clusters of {owner} must be enough to keep apart the objects that cannot_link says: "
                    f"{named(np.sort(self.objects[units[members]]))}. Got {costs.shape[1]}. Ask for more clusters, by "
                    "n_clusters, or leave pairs out."
                )
            clusters[members] = found
        return np.asarray(clusters[place])

    @cached_property
    def _pairs_of_components(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """``apart`` by the components that the pairs connect, and the component of each pair."""
        graph = coo_array((np.ones(len(self.apart)), self.apart.T), shape=(len(self), len(self)))
        component = connected_components(graph, directed=False)[1][self.apart[:, 0]]
        order = np.argsort(component, kind="stable")
        return self.apart[order], component[order]


def nearest_allowed(costs: NDArray[np.float64], apart: NDArray[np.int64]) -> NDArray[np.intp] | None:
    """(q,) cluster of each unit, from its costs in each, (q, k); those of a pair are never in the same.

    The next unit is the one with the fewest clusters left, on ties the one to which the second best of these costs most
    more than the best, then the first; it takes the cheapest of them, the first one on ties. Where none is left, the
    last choice is taken back. None if no way is found: there is none, or ``MOST_STEPS`` choices were tried. O(q² k)
    time where nothing is taken back.
    """
    q, k = costs.shape
    neighbours = [np.concatenate([apart[apart[:, 0] == u, 1], apart[apart[:, 1] == u, 0]]) for u in range(q)]
    clusters, taken = np.full(q, -1), np.zeros((q, k), dtype=np.int64)

    def choices(u: int) -> Iterator[int]:
        order = np.argsort(costs[u], kind="stable")
        yield from order[taken[u, order] == 0].tolist()

    def next_unit() -> int:
        units = np.flatnonzero(clusters < 0)
        left = np.count_nonzero(taken[units] == 0, axis=1)
        units = units[left == left.min()]
        if left.min() < 2:
            return int(units[0])
        best, second = np.partition(np.where(taken[units] == 0, costs[units], np.inf), 1, axis=1)[:, :2].T
        return int(units[(second - best).argmax()])

    path = [(u := next_unit(), choices(u))]
    for _ in range(MOST_STEPS):
        u, left = path[-1]
        if clusters[u] >= 0:  # it led nowhere
            taken[neighbours[u], clusters[u]] -= 1
            clusters[u] = -1
        if (c := next(left, None)) is None:
            path.pop()
            if not path:
                return None
            continue
        clusters[u] = c
        taken[neighbours[u], c] += 1
        if (clusters >= 0).all():
            return clusters
        path.append((u := next_unit(), choices(u)))
    return None


def linked_rows(rows: Rows, links: Links) -> Rows:
    """The rows, where objects of different must-link groups have a row each, equal or not, and which form units.

    Objects that no pair names still share a row. Equal rows stand in the order of the groups' first objects, those of
    no group first. O(n log n), 40 bytes per object meanwhile.
    """
    n, m = len(rows.inverse), len(rows)
    weights = np.ones(n, dtype=np.int64) if rows.sample_weight is None else rows.sample_weight
    keys = rows.inverse.astype(np.int64) * (n + 1) + np.where(links.bound, links.group + 1, 0)
    counted = (rows.inverse < m) & (weights > 0)
    kept, first, place = np.unique(keys[counted], return_index=True, return_inverse=True)
    counts = np.bincount(place, weights=weights[counted], minlength=len(kept)).astype(np.int64)
    inverse = np.minimum(np.searchsorted(kept, keys), len(kept) - 1)
    inverse = np.where(kept[inverse] == keys, inverse, len(kept))
    groups = kept % (n + 1) - 1
    of_groups = np.where(groups < 0, -1 - np.arange(len(kept)), groups)
    _, first_row, unit = np.unique(of_groups, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first_row))
    unit_of_group = np.full(n, -1)
    unit_of_group[groups[groups >= 0]] = number[unit[groups >= 0]]
    apart = unit_of_group[links.apart]
    apart = np.unique(np.sort(apart[(apart >= 0).all(axis=1)], axis=1), axis=0)
    objects = np.flatnonzero(counted)[first][np.sort(first_row)]
    units = Units(number[unit], apart, objects)
    return replace(rows, codes=rows.codes.take(kept // (n + 1)), counts=counts, inverse=inverse, units=units)


def with_common_labels(ensemble: Ensemble, links: Links, sample_weight: NDArray[np.int64] | None) -> Ensemble:
    """The ensemble in which every partition gives a must-link group the label that most of its objects have.

    Each object votes as often as it counts; of labels that tie it is the one that sorts first; a group that a partition
    does not label at all has none.
    """
    objects = np.flatnonzero(links.joined)
    codes = np.array(ensemble.rows[:])
    groups, place = np.unique(links.group[objects], return_inverse=True)
    weights = np.ones(len(objects)) if sample_weight is None else sample_weight[objects]
    for column, k in zip(codes.T, ensemble.n_clusters.tolist(), strict=True):
        votes = np.zeros((len(groups), k + 1))
        np.add.at(votes, (place, column[objects]), weights)
        none = ~votes[:, :k].any(axis=1)
        column[objects] = np.where(none, k, votes[:, :k].argmax(axis=1) if k else k)[place]
    coded = CodedColumns(MemoryRows(codes), ensemble.categories, ensemble.names)
    return Ensemble._of(drop_unused_labels(coded), ensemble.missing)


def shared_labels(labels: NDArray[np.int32], fitted: NDArray[np.bool_], links: Links) -> NDArray[Any]:
    """The labels, where objects that were not fitted have that of their must-link group, if it has one."""
    of_group = np.full(len(labels), -1, dtype=labels.dtype)
    known = fitted & (labels >= 0)
    of_group[links.group[known]] = labels[known]
    theirs = of_group[links.group]
    return np.where(~fitted & links.joined & (theirs >= 0), theirs, labels)
