"""What is known about pairs of objects: that they belong together (must-link), or that they do not (cannot-link)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

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
