"""Must-link and cannot-link pairs of objects: checked and closed, given to rows as units, kept by a method."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ensemblage.base.threads import locked_property
from ensemblage.base.validation import format_value

MOST_NAMED = 10
"""Objects that an error names."""


class ImpossiblePairs(ValueError):
    """Pairs of objects that cannot be kept; the message calls objects by their numbers, unless they have names."""

    def __init__(self, text: Callable[[Callable[[int], str]], str]) -> None:
        """text : of what an object is called, by its number, to the sentence"""
        super().__init__(text(str))
        self.text = text

    def with_names(self, names: Sequence[Any]) -> ValueError:
        return ValueError(self.text(lambda i: str(names[i])))


@dataclass(frozen=True)
class Links:
    """Groups of objects that belong together, and pairs of groups that do not."""

    group: NDArray[np.int64]
    """(n,) the first object of each object's group; an object that no must-link names is its own group."""
    apart: NDArray[np.int64]
    """(b, 2) groups that no cluster may hold both, the smaller number first; each pair once."""

    @classmethod
    def of(cls, n_objects: int, must_link: Any = None, cannot_link: Any = None) -> Self | None:
        """Check the pairs of ``n_objects`` objects and close them: who belongs to the same belongs together.

        None if there are no pairs. O(n + pairs).
        """
        must = check_pairs(must_link, "must_link", n_objects)
        cannot = check_pairs(cannot_link, "cannot_link", n_objects)
        if not len(must) + len(cannot):
            return None
        graph = coo_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n_objects, n_objects))
        component = connected_components(graph, directed=False)[1]
        group = np.unique(component, return_index=True)[1][component].astype(np.int64)
        impossible = np.flatnonzero(group[cannot[:, 0]] == group[cannot[:, 1]])
        if len(impossible):
            a, b = cannot[impossible[0]].tolist()
            raise ImpossiblePairs(
                lambda name: (
                    f"must_link and cannot_link must not contradict each other. Got the pair ({name(a)}, {name(b)}), "
                    f"which cannot_link keeps apart and must_link joins: {' – '.join(map(name, _chain(must, a, b)))}. "
                    "Leave one of these pairs out."
                )
            )
        apart = np.unique(np.sort(group[cannot], axis=1), axis=0)
        return cls(group, apart)

    @property
    def has_partner(self) -> NDArray[np.bool_]:
        """(n,) whether an object belongs together with another one."""
        return np.asarray(np.bincount(self.group, minlength=len(self.group))[self.group] > 1)

    @property
    def bound(self) -> NDArray[np.bool_]:
        """(n,) whether an object is in any pair."""
        is_apart = np.zeros(len(self.group), dtype=bool)
        is_apart[self.apart] = True
        return self.has_partner | is_apart[self.group]


def common_memberships(
    H: NDArray[np.float64], offsets: NDArray[np.int64], links: Links, sample_weight: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """The memberships, (n, offsets[p]), where every partition gives a must-link group the mean ones of its objects.

    Each counts as often as it does; those of which a partition says nothing do not count.
    """
    objects = np.flatnonzero(links.has_partner)
    groups, place = np.unique(links.group[objects], return_inverse=True)
    weights = np.ones(len(objects)) if sample_weight is None else sample_weight[objects]
    H, sums = H.copy(), np.zeros((len(groups), int(offsets[-1])))
    np.add.at(sums, place, H[objects] * weights[:, None])
    sums[:, offsets[1:] - 1] = 0
    known = np.add.reduceat(sums, offsets[:-1], axis=1)
    sums /= np.repeat(np.where(known > 0, known, 1), np.diff(offsets), axis=1)
    sums[:, offsets[1:] - 1] = known == 0
    H[objects] = sums[place]
    return H


def common_labels(
    codes: NDArray[Any], n_clusters: NDArray[np.int64], links: Links, sample_weight: NDArray[np.int64] | None
) -> NDArray[Any]:
    """The codes, (n, p), where every partition gives a must-link group the label that most of its objects have.

    Each object votes as often as it counts; of labels that tie it is the one that sorts first; a group that a partition
    does not label at all has none.
    """
    objects = np.flatnonzero(links.has_partner)
    codes = np.array(codes)
    groups, place = np.unique(links.group[objects], return_inverse=True)
    weights = np.ones(len(objects)) if sample_weight is None else sample_weight[objects]
    for column, k in zip(codes.T, n_clusters.tolist(), strict=True):
        votes = np.zeros((len(groups), k + 1))
        np.add.at(votes, (place, column[objects]), weights)
        none = ~votes[:, :k].any(axis=1)
        column[objects] = np.where(none, k, votes[:, :k].argmax(axis=1) if k else k)[place]
    return codes


def shared_labels(labels: NDArray[np.int32], fitted: NDArray[np.bool_], links: Links) -> NDArray[Any]:
    """The labels, where objects that were not fitted keep the pairs.

    They have the label of their must-link group: that of its fitted objects, else of its first one with a label. A
    group without fitted objects is in no cluster if that would be one with a group that it is kept apart from.
    """
    of_group, settled = np.full(len(labels), -1, dtype=labels.dtype), np.zeros(len(labels), dtype=bool)
    known = labels >= 0
    for objects in (np.flatnonzero(known & ~fitted), np.flatnonzero(known & fitted)):
        of_group[links.group[objects[::-1]]] = labels[objects[::-1]]
    settled[links.group[known & fitted]] = True
    for pair in links.apart[settled[links.apart].sum(axis=1) < 2].tolist():
        if of_group[pair[0]] == of_group[pair[1]]:
            of_group[pair[0] if settled[pair[1]] else pair[1]] = -1
    return np.where(~fitted & links.bound, of_group[links.group], labels)


def check_pairs(pairs: Any, name: str, n_objects: int) -> NDArray[np.int64]:
    """(a, 2) pairs of different objects, by their numbers."""
    rule = f"{name} must be pairs of different objects, numbered from 0 to {n_objects - 1}"
    try:
        checked = np.asarray([] if pairs is None else pairs)
    except ValueError:  # lists of unequal length
        raise ValueError(f"{rule}. Got {format_value(pairs)}. Give two row numbers per pair.") from None
    if checked.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if checked.dtype.kind not in "iu" or checked.ndim != 2 or checked.shape[1] != 2:
        raise ValueError(
            f"{rule}. Got {checked.dtype} of shape {checked.shape}. "
            "Give an array of whole numbers of shape (n_pairs, 2)."
        )
    outside = checked[(checked < 0) | (checked >= n_objects)]
    if len(outside):
        raise ValueError(f"{rule}. Got object {outside[0]}. Use row numbers, counted from 0.")
    itself = checked[checked[:, 0] == checked[:, 1]]
    if len(itself):
        raise ValueError(f"{rule}. Got the pair ({itself[0, 0]}, {itself[0, 1]}). Leave it out.")
    return checked.astype(np.int64)


def objects_text(objects: NDArray[np.int64], name: Callable[[int], str]) -> str:
    """The objects in a sentence, the first few of many."""
    some = ", ".join(map(name, objects[:MOST_NAMED].tolist()))
    return some + (f" and {len(objects) - MOST_NAMED} more" if len(objects) > MOST_NAMED else "")


def _chain(must: NDArray[np.int64], start: int, end: int) -> list[int]:
    """The shortest way from one object to another by pairs of ``must``."""
    neighbours: dict[int, list[int]] = {}
    for a, b in must.tolist():
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    came_from, queue = {start: start}, deque([start])
    while end not in came_from:
        here = queue.popleft()
        for there in neighbours[here]:
            if there not in came_from:
                came_from[there] = here
                queue.append(there)
    way = [end]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]


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

    @locked_property
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

    @locked_property
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
