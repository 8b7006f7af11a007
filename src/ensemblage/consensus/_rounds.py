"""Average linkage in rounds: promising clusters find their nearest one, then all that are each other's merge."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._lanes import LINE
from ensemblage.kernels._rounds import Profiles, find_nearest, merge_reciprocal, move_together
from ensemblage.rows.blocks import row_blocks
from ensemblage.rows.slices import check_stopped
from ensemblage.rows.threads import parallel_map

PROMISING = 0.3
"""Share of the clusters that are searched in a round: the nearest one of a less promising one is likely to be merged
before it is."""
CHANGED = 1 / 16
"""Share of the clusters that are new or searched until they are put in order again."""
EXACT = ((np.uint8, 2**8 - 1), (np.uint16, 2**16 - 1), (np.float32, 2**24), (np.float64, np.inf))
"""Types of the sums, and up to what whole numbers are exact in them."""


def merges_in_rounds(
    codes: NDArray[Any], counts: NDArray[np.int64], offsets: NDArray[np.int64], n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Pairs and similarities as in `merge_reciprocal`, a cluster after its parts, of rows with all labels.

    codes : (m, p)
    counts : (m,) objects of each row
    offsets : (p + 1,) first label of each partition
    """
    (m, p), d = codes.shape, int(offsets[-1])
    pairs, similarities = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    profiles = Profiles.of(codes, counts, offsets)
    queries, n_merges, n_changed = profiles.order.copy(), 0, 0
    while n_merges < m - 1:
        check_stopped()
        _find_partners(queries, p, d, profiles, n_jobs)
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


def _find_partners(queries: NDArray[np.int64], p: int, d: int, profiles: Profiles, n_jobs: int | None) -> None:
    """The nearest cluster of each of the clusters, for p partitions of d labels."""
    plain, largest = tuple(profiles), profiles.sizes.max()
    best, near = np.zeros(len(queries)), np.full(len(queries), len(profiles.order))

    def search(block: slice) -> None:
        """A group of clusters, type by type: the sums with small clusters have more lanes."""
        done = np.zeros(block.stop - block.start)
        for kind, most in EXACT:
            for part in row_blocks(len(done), LINE // np.dtype(kind).itemsize):
                lanes = slice(block.start + part.start, block.start + part.stop)
                to_size = np.floor(most / (p * profiles.sizes[queries[lanes]].max()))
                to_size = min(to_size, 1) if kind is np.uint8 else to_size
                if done[part.start] < min(to_size, largest):
                    table = np.zeros(d * LINE // np.dtype(kind).itemsize, dtype=kind)
                    find_nearest(queries[lanes], p, done[part.start], to_size, plain, table, best[lanes], near[lanes])
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
    move_together(tuple(profiles))
