"""Label rows as bitmaps: a map of each label, tile by tile where all of them would take much memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.threads import parallel_map, row_blocks, rows_per_call
from ensemblage.kernels._bitmaps import BLOCK_BITS, WORDS, fill_maps

logger = logging.getLogger(__name__)

TASK_ROWS = 256
"""Rows of one task, or fewer. Results do not depend on it."""
TILE_BYTES = 2**26
"""Bytes of the maps of a tile. Results do not depend on it."""


class Tile(NamedTuple):
    """The maps of some blocks."""

    first: int
    """The first block."""
    maps: NDArray[np.uint64]
    """(d + 2, k or k + 1, WORDS) the rows with each label, all rows, none."""
    members: NDArray[np.int64]
    """(k, WORDS) objects with each of the rows of a word."""
    stop: int
    """The rows before it are in this tile or in one before."""


class Bitmaps(NamedTuple):
    """Rows without missing labels, in increasing order of their objects."""

    codes: NDArray[Any]
    """(m, p)"""
    offsets: NDArray[np.int64]
    """(p,) first map of each partition."""
    n_labels: int
    """d"""
    places: NDArray[np.int64]
    """(m,) place of each row's bit; the rows of a word have equally many objects."""
    counts: NDArray[np.int64]
    """(m,) objects with each row."""

    @classmethod
    def of(cls, codes: NDArray[Any], counts: NDArray[np.int64]) -> Bitmaps:
        n_clusters = codes.max(axis=0).astype(np.int64) + 1
        starts = np.flatnonzero(np.diff(counts, prepend=-1))
        lengths = np.diff(starts, append=len(counts))
        words = np.cumsum(-(-lengths // 64)) + lengths // -64
        places = np.arange(len(counts)) + np.repeat(64 * words - starts, lengths)
        return cls(codes, np.cumsum(n_clusters) - n_clusters, int(n_clusters.sum()), places, counts)

    @property
    def block_bytes(self) -> int:
        return 8 * WORDS * (self.n_labels + 2)

    def tiles(self) -> Iterator[Tile]:
        """One after the other; each is made once."""
        n_blocks = int(self.places[-1]) // BLOCK_BITS + 1
        members = np.zeros((n_blocks, WORDS), dtype=np.int64)
        members.flat[self.places // 64] = self.counts
        size = max(1, TILE_BYTES // self.block_bytes)
        for first in range(0, n_blocks, size):
            last = min(first + size, n_blocks)
            start, stop = np.searchsorted(self.places, [first * BLOCK_BITS, last * BLOCK_BITS]).tolist()
            maps = maps_of(self.codes[start:stop], self.offsets, self.n_labels, self.places[start:stop], first)
            yield Tile(first, maps, members[first:last], stop)


def maps_of(
    codes: NDArray[Any],
    offsets: NDArray[np.int64],
    n_labels: int,
    places: NDArray[np.int64] | None = None,
    first: int = 0,
) -> NDArray[np.uint64]:
    """(d + 2, k, WORDS) the rows with each label, all rows, none; of the blocks from ``first`` to the last place.

    k is odd: so the maps of a block lie all over the sets of a cache. Those of a label lie one after the other: a
    kernel that goes through all blocks reads ahead.
    """
    places = np.arange(len(codes)) if places is None else places
    n_blocks = int(places[-1]) // BLOCK_BITS + 1 - first
    maps = np.zeros((n_labels + 2, n_blocks | 1, WORDS), dtype=np.uint64)
    fill_maps(codes, offsets, places, first, maps)
    return maps


MOST_BYTES = 2**28
"""Bytes of the maps where all are needed at once."""


def bytes_of_maps(m: int, n_labels: int) -> int:
    return 8 * WORDS * (n_labels + 2) * (-(-m // BLOCK_BITS) | 1)


def bitmaps_pay(bitmaps: Bitmaps) -> bool:
    """Whether the maps of one block fit into a tile: beyond, most bits of a map would be 0."""
    return bitmaps.block_bytes <= TILE_BYTES


def add_over_pairs(
    bitmaps: Bitmaps,
    kernel: Callable[..., None],
    arguments: Sequence[Any],
    zeros: Sequence[NDArray[np.int64]],
    operations: int,
    n_jobs: int | None = None,
) -> list[NDArray[np.int64]]:
    """``kernel(bitmaps, tile, *arguments, first, last, *sums)`` over all tiles and rows first … last - 1, added up.

    ``sums`` begin as ``zeros``; ``operations`` are those of a row and a word of 64 others.
    """
    m, total, lock = len(bitmaps.codes), [part.copy() for part in zeros], Lock()

    def add(tile: Tile, rows: slice) -> None:
        logger.info("pairs of label rows: %d to %d of %d with later ones", rows.start + 1, rows.stop, m)
        sums = [part.copy() for part in zeros]
        kernel(tuple(bitmaps), tuple(tile), *arguments, rows.start, rows.stop, *sums)
        with lock:
            for part, added in zip(total, sums, strict=True):
                part += added

    for tile in bitmaps.tiles():
        size = rows_per_call(len(tile.members) * WORDS * operations, TASK_ROWS)
        parallel_map(partial(add, tile), row_blocks(tile.stop, size), n_jobs)
    return total
