"""Average linkage in rounds: promising clusters find their nearest one, then all that are each other's merge."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._jit import are_few
from ensemblage.kernels._reciprocal_linkage import Profiles, compact_profiles, find_nearest, merge_reciprocal
from ensemblage.kernels._vectors import LINE
from ensemblage.labels.threads import check_stopped, parallel_map, row_blocks

PROMISING = 0.3
"""Share of the clusters that are searched in a round: the nearest one of a less promising one is likely to be merged
before it is."""
CHANGED = 1 / 16
"""Share of the clusters that are new or searched until they are put in order again."""
EXACT = ((np.uint8, 2**8 - 1), (np.uint16, 2**16 - 1), (np.float32, 2**24), (np.float64, np.inf))
"""Types of the sums, and up to what whole numbers are exact in them."""
LEVELS = ((np.uint8, 1), (np.uint16, 15))
"""Types of whole numbers that weights are rounded up to, and up to which product of the sizes sums fit."""


class Screen(NamedTuple):
    """What shows which clusters may be the nearest: sums of one type, of whole numbers or rounded."""

    kind: Any
    most: float
    """Product of the sizes of two clusters up to which no sum is too large."""
    unit: float
    """What a pair of weight 1 adds."""
    adds: NDArray[Any]
    """(d,) what a pair that shares the label adds, in these units."""


def screens_of(joins: NDArray[np.float64], offsets: NDArray[np.int64]) -> list[Screen]:
    """Screens for ever larger clusters: counts are exact, weights rounded up or little."""
    p, d = len(offsets) - 1, int(offsets[-1])
    if not len(joins):
        return [Screen(kind, most / p, 1.0, np.ones(d, dtype=kind)) for kind, most in EXACT]
    largest, screens = np.maximum.reduceat(joins, offsets[:-1]).sum() or 1.0, []
    for kind, product in LEVELS:
        # Each label of a pair adds less than 1 by the rounding.
        unit = (np.iinfo(kind).max // product - p) / largest
        if unit > 0:
            screens.append(Screen(kind, product, unit, np.ceil(joins * unit).astype(kind)))
    return [*screens, Screen(np.float32, np.inf, 1.0, joins.astype(np.float32))]


def merges_in_rounds(
    codes: NDArray[Any],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    n_jobs: int | None,
    joins: NDArray[np.float64] | None = None,
    whole: float = 0.0,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Pairs and similarities as in `merge_reciprocal`, a cluster after its parts, of rows with all labels.

    codes : (m, p)
    counts : (m,) objects of each row
    offsets : (p + 1,) first label of each partition
    joins : (d,) what a pair that shares the label adds; None: 1
    whole : what a pair would add that shares labels of weight 1 in every partition; p, if all have it
    """
    m, p = codes.shape
    if joins is None:
        joins, whole = np.empty(0), float(p)
    screens = screens_of(joins, offsets)
    if are_few(m * m * p // (LINE // 8)):
        # The kernel is compiled for each type of the sums, and the last one is right for all clusters.
        screens = screens[-1:]
    pairs, similarities = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    profiles = Profiles.of(codes, counts, offsets)
    queries, n_merges, n_changed = profiles.order.copy(), 0, 0
    while n_merges < m - 1:
        check_stopped()
        _find_partners(queries, screens, joins, whole, profiles, n_jobs)
        n_before, n_merges = n_merges, merge_reciprocal(tuple(profiles), pairs, similarities)
        n_changed += len(queries) + n_merges - n_before
        if n_changed > CHANGED * profiles.used[0]:
            _put_in_order(profiles)
            n_changed = 0
        order = profiles.order[: profiles.used[0]]
        unknown = np.flatnonzero(profiles.partner[order] < 0)
        queries = order[unknown[: max(LINE, np.searchsorted(unknown, PROMISING * len(order)))]]
        if not len(queries) and n_merges == n_before:
            # A circle of pairs whose similarities differ by less than a float64 tells.
            first = order[np.argmax(profiles.bound[order])]
            profiles.partner[profiles.partner[first]] = first
    return pairs, similarities


def _find_partners(
    queries: NDArray[np.int64],
    screens: list[Screen],
    joins: NDArray[np.float64],
    whole: float,
    profiles: Profiles,
    n_jobs: int | None,
) -> None:
    """The nearest cluster of each of the clusters."""
    plain, largest = tuple(profiles), profiles.sizes.max()
    best, near = np.zeros(len(queries)), np.full(len(queries), len(profiles.order))

    def search(block: slice) -> None:
        """A group of clusters, type by type: the sums with small clusters have more lanes."""
        done = np.zeros(block.stop - block.start)
        for kind, most, unit, adds in screens:
            width = LINE // np.dtype(kind).itemsize
            for part in row_blocks(len(done), width):
                lanes = slice(block.start + part.start, block.start + part.stop)
                some = queries[lanes]
                to_size = np.floor(most / profiles.sizes[some].max())
                to_size = min(to_size, 1.0) if kind is np.uint8 else to_size
                if done[part.start] < min(to_size, largest):
                    sizes, table = (done[part.start], to_size), np.zeros((len(adds) + 2) * width, dtype=kind)
                    find_nearest(some, whole, joins, unit, adds, sizes, plain, table, best[lanes], near[lanes])
                    done[part] = to_size

    parallel_map(search, row_blocks(len(queries), LINE), n_jobs)
    profiles.bound[queries], profiles.partner[queries] = best, near


def _put_in_order(profiles: Profiles) -> None:
    """The clusters by decreasing bound."""
    order, ceiling, used, bound = profiles.order, profiles.ceiling, profiles.used, profiles.bound
    left = order[: used[0]]
    left = left[bound[left] >= 0]
    left = left[np.argsort(-bound[left], kind="stable")]
    order[: len(left)], ceiling[: len(left)], used[0] = left, bound[left], len(left)
    compact_profiles(tuple(profiles))
