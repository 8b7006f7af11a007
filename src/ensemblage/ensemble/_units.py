"""What a method assigns as one: the rows of a must-link group, where no cluster may hold two that cannot be linked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ensemblage.base.cached import once
from ensemblage.ensemble._links import ImpossiblePairs, objects_text

MOST_STEPS = 20_000
"""Choices that are tried to keep the units of one component apart."""
MOST_IN_CORE, STEPS_OF_CORE = 200, 1_000
"""Units of which those are looked for that cannot be kept apart, and steps for each of them."""


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

    @once
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
            clusters[members] = self._cheapest_apart(sums[members], its_pairs.reshape(-1, 2), units[members], owner)
        return np.asarray(clusters[place])

    def _cheapest_apart(
        self, costs: NDArray[np.float64], pairs: NDArray[np.int64], units: NDArray[np.int64], owner: str
    ) -> NDArray[np.intp]:
        """(q,) clusters of the units of a component: `nearest_allowed`, or where that gives up, of any way to keep them
        apart the clusters that cost least.
        """
        k = costs.shape[1]
        with suppress(GivenUp):
            if (found := nearest_allowed(costs, pairs)) is not None:
                return found
        neighbours = neighbours_of(pairs, len(units))
        core, easy = without_easy(neighbours, k)
        inside = np.searchsorted(core, pairs[np.isin(pairs, core).all(axis=1)])
        try:
            groups = nearest_allowed(np.zeros((len(core), k)), inside, alike=True)
        except GivenUp:
            hard = np.sort(self.objects[units[core]])
            raise ImpossiblePairs(
                lambda name: (
                    f"The clusters of {owner} must be enough for the cannot_link pairs. Got {k}, and no solution in "
                    f"{MOST_STEPS:,} steps for {objects_text(hard, name)}. Ask for more clusters, by "
                    "n_clusters, or leave pairs out."
                )
            ) from None
        if groups is None:
            wrong = np.sort(self.objects[units[core[impossible_core(inside, len(core), k)]]])
            raise ImpossiblePairs(
                lambda name: (
                    f"The clusters of {owner} must be enough to keep the cannot_link objects apart: "
                    f"{objects_text(wrong, name)}. Got {k}. Ask for more clusters, by n_clusters, or leave pairs out."
                )
            )
        of_groups = np.zeros((k, k))
        np.add.at(of_groups, groups, costs[core])
        clusters = np.full(len(units), -1)
        clusters[core] = linear_sum_assignment(of_groups)[1][groups]
        for u in easy[::-1]:
            others = clusters[neighbours[u]]
            free = np.setdiff1d(np.arange(k), others[others >= 0])
            clusters[u] = free[costs[u, free].argmin()]
        return clusters

    @once
    def _pairs_of_components(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """``apart`` by the components that the pairs connect, and the component of each pair."""
        graph = coo_array((np.ones(len(self.apart)), self.apart.T), shape=(len(self), len(self)))
        component = connected_components(graph, directed=False)[1][self.apart[:, 0]]
        order = np.argsort(component, kind="stable")
        return self.apart[order], component[order]


class GivenUp(Exception):
    """Neither a way nor that there is none was found in so many steps."""


def nearest_allowed(
    costs: NDArray[np.float64], apart: NDArray[np.int64], alike: bool = False, most_steps: int = MOST_STEPS
) -> NDArray[np.intp] | None:
    """(q,) cluster of each unit, from its costs in each, (q, k); those of a pair are never in the same.

    The next unit is the one with the fewest clusters left, on ties the one to which the second best of these costs most
    more than the best, then the first; it takes the cheapest of them, the first one on ties. Where none is left, the
    last choice is taken back. None if no way is found: there is none, or ``MOST_STEPS`` choices were tried. O(q² k)
    time where nothing is taken back.
    """
    q, k = costs.shape
    neighbours = neighbours_of(apart, q)
    clusters, taken = np.full(q, -1), np.zeros((q, k), dtype=np.int64)

    def choices(u: int) -> Iterator[int]:
        order = np.argsort(costs[u], kind="stable")
        if alike:
            order = order[: clusters.max() + 2]
        yield from order[taken[u, order] == 0].tolist()

    def next_unit() -> int:
        units = np.flatnonzero(clusters < 0)
        left = np.count_nonzero(taken[units] == 0, axis=1)
        units = units[left == left.min()]
        if left.min() < 2:
            return int(units[0])
        if alike:
            return int(max(units, key=lambda u: (np.count_nonzero(clusters[neighbours[u]] < 0), -u)))
        best, second = np.partition(np.where(taken[units] == 0, costs[units], np.inf), 1, axis=1)[:, :2].T
        return int(units[(second - best).argmax()])

    if not q:
        return clusters
    path = [(u := next_unit(), choices(u))]
    for _ in range(most_steps):
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
    raise GivenUp


def neighbours_of(apart: NDArray[np.int64], n_units: int) -> list[NDArray[np.int64]]:
    """The units that each is kept apart from."""
    both = np.vstack([apart, apart[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    return np.split(both[:, 1], np.searchsorted(both[:, 0], np.arange(1, n_units)))


def without_easy(neighbours: list[NDArray[np.int64]], k: int) -> tuple[NDArray[np.intp], list[int]]:
    """The units that have k or more neighbours among each other; and the others, each of which has fewer than k but for
    those before it: placed from the last to the first, they always find a cluster.
    """
    degrees = np.array([len(some) for some in neighbours])
    queue, easy, is_easy = np.flatnonzero(degrees < k).tolist(), list[int](), degrees < k
    while queue:
        u = queue.pop()
        easy.append(u)
        degrees[neighbours[u]] -= 1
        more = neighbours[u][(degrees[neighbours[u]] < k) & ~is_easy[neighbours[u]]]
        is_easy[more] = True
        queue += more.tolist()
    return np.flatnonzero(~is_easy), easy


def impossible_core(apart: NDArray[np.int64], n_units: int, k: int) -> NDArray[np.intp]:
    """Units that k clusters cannot keep apart, without those that are not needed for that, as far as is soon seen."""
    core = np.arange(n_units)
    for u in range(n_units if n_units <= MOST_IN_CORE else 0):
        rest = core[core != u]
        pairs = apart[np.isin(apart, rest).all(axis=1)]
        with suppress(GivenUp):
            if nearest_allowed(np.zeros((len(rest), k)), np.searchsorted(rest, pairs), True, STEPS_OF_CORE) is None:
                core = rest
    return core
