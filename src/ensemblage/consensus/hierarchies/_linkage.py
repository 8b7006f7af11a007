"""How similar label rows are, and their hierarchies by single, average and complete linkage.

Rows are numbered by their content (`by_content`), and a cluster by its smallest row. Of equally similar pairs of
clusters the one with the smallest numbers (i, j), i < j, is merged first; with single linkage the numbers are those of
the two rows that are most similar. So no result depends on the order of the objects.

Each linkage has one algorithm for each kind of similarity:

- single: a minimum spanning tree by Prim's algorithm; of counts, of counts in bitmaps, or of sums of floats.
- average: rounds of reciprocal nearest neighbours on label counts of clusters; where labels are missing or similar or
  partitions have weights, a chain of nearest neighbours on these counts; with a threshold, a chain on all pairs.
- complete: a chain on rows of bytes as long as they hold the different similarities and there is room, else on all
  pairs.

On a chain of nearest neighbours rows i and k may be similar by 0 for want of a partition that labels both: then {i, j}
is as similar to k as j was, under the smaller number i, and another equally similar pair may have gone first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.memory import MAX_BYTES
from ensemblage.base.threads import check_stopped, parallel_map, row_blocks, rows_per_call, run_interruptibly
from ensemblage.consensus._lifetime import Merges, cut
from ensemblage.consensus.diagnostics import Dendrogram, Diagnostics, Lifetimes
from ensemblage.consensus.hierarchies._few_rows import small_chain
from ensemblage.consensus.hierarchies._label_similarity import LabelSimilarity
from ensemblage.counting._bitmaps import MOST_BYTES, bytes_of_maps, maps_of
from ensemblage.kernels._average_linkage import Clusters, Compared, Nearest, average_chain
from ensemblage.kernels._bitmaps import BLOCK_BITS, WORDS, plane_count
from ensemblage.kernels._dendrogram import raise_heights
from ensemblage.kernels._jit import is_small_work
from ensemblage.kernels._linkage import (
    AVERAGE,
    COMPLETE,
    MOST_LEVELS,
    SINGLE,
    TILE,
    Chain,
    Condensed,
    LevelRows,
    complete_chain,
    condensed_chain,
    fill_levels,
    fill_similarities,
)
from ensemblage.kernels._pairs import ROWS_AT_ONCE
from ensemblage.kernels._reciprocal_linkage import Profiles, compact_profiles, find_nearest, merge_reciprocal
from ensemblage.kernels._spanning_trees import (
    JOINED,
    fill_planes,
    grow_tree_of_bitmaps,
    spanning_tree_of_counts,
    spanning_tree_of_similarities,
)
from ensemblage.kernels._vectors import LINE
from ensemblage.labels.blocks import MemoryRows, order_of_rows, recode
from ensemblage.labels.links import Units
from ensemblage.labels.rows import Rows

ROUNDING = 1e-12
"""A similarity this little above a threshold counts as equal to it."""
MOST_SINGLE = 10
"""Labels that are put first one at a time; then names decide in a whole partition."""
MOST_ROWS = 64
"""Rows of a matrix that a thread fills at a time, if a slice of the kernel allows so many."""
PROMISING = 0.3
"""Share of the clusters that are searched in a round: the nearest one of a less promising one is likely to be merged
before it is."""
CHANGED = 1 / 16
"""Share of the clusters that are new or searched until they are put in order again."""
EXACT = ((np.uint8, 2**8 - 1), (np.uint16, 2**16 - 1), (np.float32, 2**24), (np.float64, np.inf))
"""Types of the sums, and up to what whole numbers are exact in them."""
LEVELS = ((np.uint8, 1), (np.uint16, 15))
"""Types of whole numbers that weights are rounded up to, and up to which product of the sizes sums fit."""


# ---- The order of the rows ----


def by_content(rows: Rows) -> tuple[Rows, NDArray[np.intp], NDArray[np.intp]]:
    """The rows in the order of their content, with labels numbered so, too. O(m p + m log m) time as a rule; a copy.

    Returns the rows; (m,) the place of each among the rows as they were; (offsets[p],) the place of each label in a
    table over the labels as they were.
    """
    m, (numbers, codes, order) = len(rows), label_numbers(rows.codes[:], rows.counts, rows.n_clusters)
    labels = np.empty(rows.offsets[-1], dtype=np.intp)
    for start, number in zip(rows.offsets[:-1], numbers, strict=True):
        labels[start : start + len(number)] = start + np.argsort(number)
    rank = np.full(m + 1, m, dtype=rows.inverse.dtype)
    rank[order] = np.arange(m)
    units = rows.units
    if units is not None:
        of_rows = units.of_rows[order]
        by_first = np.argsort(np.unique(of_rows, return_index=True)[1])
        number = np.argsort(by_first)
        apart = np.unique(np.sort(number[units.apart], axis=1), axis=0)
        units = Units(number[of_rows], apart, units.objects[by_first])
    ordered = replace(rows.for_model(), codes=MemoryRows(codes[order]), counts=rows.counts[order], units=units)
    return replace(ordered, inverse=rank[np.minimum(rows.inverse, m)]), order, labels


def label_numbers(
    codes: NDArray[Any], counts: NDArray[np.int64], n_clusters: NDArray[np.int64]
) -> tuple[list[NDArray[np.int64]], NDArray[Any], NDArray[np.intp]]:
    """Number of each partition's labels, the missing entry last; the codes in these numbers; the order of the rows.

    The labels of a partition are ordered by decreasing size, and the rows by their labels, partition by partition. Of
    two labels as large, what rows they have decides, and so on, until nothing more is told apart: colour refinement
    (Weisfeiler & Leman). So neither names of labels nor the order of the objects matter, and copies of partitions or of
    all objects change nothing. What is still alike is so by a symmetry of the ensemble, as a rule, and any order of it
    is as good: one of these labels is put first, by its name, and what that tells apart is refined.

    codes : (m, p)
    counts : (m,) objects of each row
    n_clusters : (p,)
    """
    counts, numbers = counts // np.gcd.reduce(counts), []
    for column, k in zip(codes.T, n_clusters, strict=True):
        numbers.append(_ranks(np.append(-np.bincount(column, counts, k + 1)[:k], 1)))
    n_single, n_before = 0, 0
    while True:
        numbered = recode(codes, numbers, codes.dtype)
        order = order_of_rows(numbered, n_clusters + 1)
        n_numbers = np.array(list(map(np.max, numbers)))
        alike = np.flatnonzero(n_numbers < n_clusters)
        if not len(alike):
            return numbers, numbered, order
        n_found = int(n_numbers.sum())
        if n_found > n_before:
            # Labels have equal sums of random numbers if as many of their objects have the same rows so far.
            ordered, ranks = numbered[order], np.zeros(len(order), dtype=np.int64)
            ranks[order[1:]] = (ordered[1:] != ordered[:-1]).any(axis=1).cumsum()
            of_rows = np.random.RandomState(0).randint(2**62, size=len(order), dtype=np.int64)[ranks] * counts
            for j in alike:
                sums = np.zeros(n_clusters[j] + 1, dtype=np.int64)
                np.add.at(sums, codes[:, j], of_rows)
                numbers[j] = _ranks(sums, numbers[j])
        else:
            number = numbers[alike[0]]
            tied = np.flatnonzero(np.bincount(number)[number] > 1)
            by_name = np.arange(len(number))
            if n_single < MOST_SINGLE:
                by_name = (by_name != tied[number[tied].argmin()]).astype(np.int64)
            numbers[alike[0]] = _ranks(by_name, number)
            n_single += 1
        n_before = n_found


def _ranks(*keys: NDArray[Any]) -> NDArray[np.int64]:
    """Number of each element in the order of the keys, the last one first; equal ones have equal numbers."""
    order = np.lexsort(keys)
    is_new = np.zeros(len(order) - 1, dtype=np.bool_)
    for key in keys:
        is_new |= key[order[1:]] != key[order[:-1]]
    ranks = np.zeros(len(order), dtype=np.int64)
    ranks[order[1:]] = is_new.cumsum()
    return ranks


# ---- How similar rows are ----


class RowSimilarity(NamedTuple):
    """C(i, j) = Σ_t w_t s_t(i, j) / Σ_t w_t of two label rows, over the partitions t that label both."""

    codes: NDArray[Any]
    """(m, p)"""
    counts: NDArray[np.int64]
    """(m,) objects of each row."""
    compared: Compared
    """w and s: s_t is 1 if both rows have the same label of t, or its weight, else 0 or how similar their labels are.
    Where C is a number of partitions over another, all w are 1."""
    countable: bool
    """Whether C is a number of partitions over another."""
    has_local: bool
    """Whether labels have weights."""
    least: float
    """Similarities up to it are 0; negative: none is made so."""
    n_jobs: int | None

    @property
    def missing(self) -> NDArray[Any]:
        """Code of the missing entry of each partition; empty if there is none."""
        none = (np.diff(self.compared.offsets) - 1).astype(self.codes.dtype)
        return none[:0] if self.compared.complete else none


def row_similarity(
    codes: NDArray[Any],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    threshold: float | None = None,
    eci: NDArray[np.float64] | None = None,
    labels: LabelSimilarity | None = None,
    n_jobs: int | None = None,
) -> RowSimilarity:
    """C of (m, p) codes; ``eci`` is the weight of each label, (offsets[p],), 0 for missing."""
    flat, starts = (np.empty(0), np.zeros(len(weights), dtype=np.int64)) if labels is None else labels
    countable = labels is None and eci is None and bool((weights == weights[0]).all())
    if countable:
        weights = np.ones_like(weights)  # sums of them are whole numbers
    joins = np.repeat(weights, np.diff(offsets))
    joins[offsets[1:] - 1] = 0
    if eci is not None:
        joins = joins * eci
    complete = not (codes == np.diff(offsets) - 1).any()
    least = -1.0 if threshold is None else threshold + ROUNDING
    compared = Compared(offsets, weights, joins, flat, starts, complete)
    return RowSimilarity(codes, counts, compared, countable, eci is not None, least, n_jobs)


class Levels(NamedTuple):
    """The different similarities, numbered from the smallest."""

    values: NDArray[np.float64]
    of_counts: NDArray[np.int64]
    """(p + 1, p + 1) number of the similarity of a pair that c partitions join and l label: entry (c, l); (p + 1, 1) if
    nothing is missing."""


def levels_of(p: int, complete: bool) -> Levels:
    """The similarities there can be, by the partitions that join two rows and that label both."""
    joined = np.arange(p + 1)
    if complete:
        return Levels(joined / p, joined[:, None])
    pairs = np.minimum.outer(joined, joined) / np.maximum(joined, 1)
    values, index = np.unique(pairs, return_inverse=True)
    return Levels(values, index.reshape(p + 1, p + 1))


# ---- Single linkage ----


def single_linkage(C: RowSimilarity, room: int = MAX_BYTES) -> Merges:
    """Minimum spanning tree. O(m² p) time and O(m p) memory for m rows.

    Where counts of d labels decide and none is missing, O(m² p / 64) operations on bitmaps of m d / 8 bytes, if these
    are no more than ``MOST_BYTES`` and a quarter of ``room``.
    """
    m, p = C.codes.shape
    is_small = bytes_of_maps(m, int(C.compared.offsets[-1])) <= min(MOST_BYTES, room // 4)
    if not C.countable:
        pairs, similarities = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
        state = (np.arange(m), np.zeros(m, dtype=np.int64), np.full(m, -1.0), pairs, similarities)
        operations = m * (m + C.codes.size)
        run_interruptibly(spanning_tree_of_similarities, C.codes, C.compared, *state, operations=operations)
    elif C.compared.complete and is_small and p.bit_length() + 2 * (m - 1).bit_length() <= 64:
        pairs, similarities = _tree_of_bitmaps(C)
    else:
        pairs, similarities = _tree_of_counts(C)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -similarities))
    pairs, similarities = pairs[order], similarities[order]
    # All clusters that are left have similarity 0 to each other: the first one takes the others in turn.
    n_joined = int(np.count_nonzero(similarities > max(C.least, 0.0)))
    clusters = cut(Merges(pairs, similarities), m - n_joined)
    pairs[n_joined:, 0], pairs[n_joined:, 1] = 0, np.unique(clusters, return_index=True)[1][1:]
    similarities[n_joined:] = 0
    return Merges(pairs, 1 - similarities)


def _tree_of_counts(C: RowSimilarity) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Edges, (m - 1, 2), and similarities."""
    m, p = C.codes.shape
    levels = levels_of(p, C.compared.complete)
    most, bits = len(levels.values) - 1, (m - 1).bit_length()
    # The largest key stands for "no edge yet".
    key = np.uint32 if (most + 1) << bits < 2**32 else np.uint64
    keys = np.full(m, np.iinfo(key).max, dtype=key)
    counters = np.empty((2, ROWS_AT_ONCE), dtype=np.min_scalar_type(p))
    pairs, ranks = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1, dtype=np.int64)
    columns, rank = C.codes.T.copy(order="C"), most - levels.of_counts
    given = columns, C.missing, rank, bits, np.arange(m), keys, counters
    run_interruptibly(spanning_tree_of_counts, *given, pairs, ranks, operations=m * m * (2 + p // 8))
    return pairs, levels.values[most - ranks]


def _tree_of_bitmaps(C: RowSimilarity) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The same by maps of the rows that are left, made anew when a quarter of these is in the tree."""
    codes, offsets = C.codes, C.compared.offsets
    m, p = codes.shape
    bits = (m - 1).bit_length()
    pairs, ranks = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1, dtype=np.int64)
    rows, row, n_found = np.arange(1, m), 0, 0
    keys = rows.astype(np.uint64) | np.uint64(p << 2 * bits)  # the edge to row 0, joined by none
    while len(rows):
        maps = maps_of(codes[rows], offsets, int(offsets[-1]))
        best = np.zeros((-(-len(rows) // BLOCK_BITS), plane_count(p), WORDS), dtype=np.uint64)
        fill_planes(p - (keys >> np.uint64(2 * bits)).astype(np.int64), best)
        new = slice(n_found, min(m - 1, n_found + max(BLOCK_BITS, len(rows) // 4)))
        given, operations = (codes, offsets, maps, rows, keys, best, bits, row), len(rows) ** 2 * (8 + p) // 64
        row = run_interruptibly(grow_tree_of_bitmaps, *given, pairs[new], ranks[new], operations=operations)
        n_found, left = new.stop, keys != JOINED
        rows, keys = rows[left], keys[left]
        del maps, best  # before the next ones are made
    return pairs, levels_of(p, complete=True).values[p - ranks]


# ---- Average linkage ----


def average_linkage(C: RowSimilarity, room: int = MAX_BYTES) -> Merges:
    """Group average from the label counts of the clusters (Candel Eqs. 4, 5 and 14); Σ joined / Σ labelled.

    O(m² p) time as a rule, O(m p + d) memory for m rows and d labels. The mean similarity to a union lies between those
    to its parts, ratio of sums or not, so what are the nearest to each other merge, whatever else does before them.

    Where a threshold is applied pair by pair, one condensed matrix for m rows, two where labels are missing: a pair up
    to the threshold adds nothing to the first sum. Where the weights are equal both sums are counts, so ties are ties;
    sums of other weights go in a fixed order, that of the partitions and of the merges.
    """
    (m, p), (offsets, weights, joins, flat, starts, complete) = C.codes.shape, C.compared
    if C.least >= 0:
        condensed = _of_all_pairs(C, "average")
        # The sum of the weights as the kernels make it, one after the other.
        return merges_of_matrix(condensed, AVERAGE, scale=float(np.cumsum(weights)[-1]) if complete else 1.0)
    # Labels of many clusters tell most about a pair.
    order = np.argsort(1 - np.diff(offsets), kind="stable")
    of_partitions = np.split(joins, offsets[1:-1])
    joins = np.concatenate([of_partitions[t] for t in order])
    codes, weights = np.ascontiguousarray(C.codes[:, order]), weights[order]
    offsets = np.concatenate([[0], np.cumsum(np.diff(offsets)[order])])
    compared = Compared(offsets, weights, joins, flat, starts[order], complete)
    # Labels by their own weights stay in rounds, whose sums are in another order.
    if not (len(flat) or C.has_local) and is_small_work(2 * int(m * m * offsets[-1]) // 3):
        return _sort_merges(*small_chain(codes, C.counts, compared))
    if complete and (C.countable or C.has_local):
        of_labels = (np.empty(0), float(p)) if C.countable else (joins, float(weights.sum()))
        return _sort_merges(*_merges_in_rounds(codes, C.counts, offsets, *of_labels, C.n_jobs))
    pairs, similarities = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    state = (Clusters.of(codes, C.counts, compared), Chain.of(m), Nearest.of(m))
    run_interruptibly(average_chain, compared, *state, pairs, similarities, operations=m * codes.size)
    return _sort_merges(pairs, similarities)


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
    screens, p, d = list[Screen](), len(offsets) - 1, int(offsets[-1])
    if not len(joins):
        for kind, most in EXACT:
            screens.append(Screen(kind, most / p, 1.0, np.ones(d, dtype=kind)))
        return screens
    largest = np.maximum.reduceat(joins, offsets[:-1]).sum() or 1.0
    for kind, product in LEVELS:
        # Each label of a pair adds less than 1 by the rounding.
        unit = (np.iinfo(kind).max // product - p) / largest
        if unit > 0:
            screens.append(Screen(kind, product, unit, np.ceil(joins * unit).astype(kind)))
    return [*screens, Screen(np.float32, np.inf, 1.0, joins.astype(np.float32))]


def _merges_in_rounds(
    codes: NDArray[Any],
    counts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    joins: NDArray[np.float64],
    whole: float,
    n_jobs: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Promising clusters find their nearest one, then all that are each other's merge: in rounds.

    Returns pairs and similarities as in `merge_reciprocal`, a cluster after its parts, of rows with all labels.

    codes : (m, p)
    counts : (m,) objects of each row
    offsets : (p + 1,) first label of each partition
    joins : (d,) what a pair that shares the label adds; empty: 1
    whole : what a pair would add that shares labels of weight 1 in every partition; p, if all have it
    """
    (m, p), screens = codes.shape, screens_of(joins, offsets)
    if is_small_work(m * m * p // (LINE // 8)):
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
        order = profiles.order[: profiles.used[0]]
        if n_changed > CHANGED * len(order):  # the clusters by decreasing bound
            order = order[profiles.bound[order] >= 0]
            order = order[np.argsort(-profiles.bound[order], kind="stable")]
            n = profiles.used[0] = len(order)
            profiles.order[:n], profiles.ceiling[:n] = order, profiles.bound[order]
            compact_profiles(tuple(profiles))
            n_changed = 0
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


# ---- Complete linkage ----


def complete_linkage(C: RowSimilarity, room: int = MAX_BYTES) -> Merges:
    """The least similar pair of two clusters decides. O(m² p) time, one condensed matrix for m rows.

    Where there are few different similarities, a square matrix of bytes, if there is room: several times as fast.
    """
    m, p = C.codes.shape
    levels = levels_of(p, C.compared.complete)
    if not (C.countable and len(levels.values) <= MOST_LEVELS and m * (m + TILE) <= room):
        values = levels.values if C.countable else None
        return merges_of_matrix(_of_all_pairs(C, "complete"), COMPLETE, values=values)
    columns = C.codes.T.copy(order="C")
    level = np.where(levels.values[levels.of_counts] <= C.least, 0, levels.of_counts).astype(np.uint8) + 1
    pairs, found = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    compared = columns, C.missing, level.astype(np.uint8)
    run_interruptibly(complete_chain, compared, LevelRows.of(m), Chain.of(m), pairs, found, operations=m * m)
    return _sort_merges(pairs, levels.values[found.astype(np.int64) - 1])


# ---- All pairs of rows ----


class PairMatrices(NamedTuple):
    """The condensed matrices of all pairs of rows that a linkage keeps."""

    number: int
    dtype: Any = np.float64

    def n_bytes(self, m: int) -> int:
        """Of m rows."""
        return self.number * (m * (m - 1) // 2) * int(np.dtype(self.dtype).itemsize)


def pair_matrices(
    linkage: str, p: int, counts: NDArray[np.int64], complete: bool, countable: bool, thresholded: bool
) -> PairMatrices:
    """Complete linkage: the similarities. Average linkage with a threshold: the sums, and, if not ``complete``, what to
    divide them by.
    """
    if linkage == "complete":
        return PairMatrices(1, np.min_scalar_type(len(levels_of(p, complete).values)) if countable else np.float32)
    if linkage == "average" and thresholded:
        most = p * int(counts.sum()) ** 2 // 4
        return PairMatrices(1 if complete else 2, np.uint32 if countable and most < 2**32 else np.float64)
    return PairMatrices(0)


def _of_all_pairs(C: RowSimilarity, linkage: str) -> Condensed:
    """The matrices of complete linkage or of the average; numbers of `levels_of` or counts if C is countable."""
    (m, p), summed = C.codes.shape, linkage == "average"
    number, dtype = pair_matrices(linkage, p, C.counts, C.compared.complete, C.countable, thresholded=True)
    entries = m * (m - 1) // 2
    known = np.empty(entries if number == 2 else 0, dtype=dtype)
    condensed = Condensed(np.empty(entries, dtype=dtype), known, C.counts.astype(np.float64))
    if not C.countable:
        fill_sums(C, condensed.sizes if summed else np.empty(0), condensed)
        return condensed
    levels, columns = levels_of(p, C.compared.complete), C.codes.T.copy(order="C")
    level = np.arange(p + 1)[:, None] if summed else levels.of_counts
    level = np.where(levels.values[levels.of_counts] <= C.least, 0, level)
    members = C.counts if summed else np.ones(m, dtype=np.int64)

    def fill(rows: slice) -> None:
        counters = np.empty((2, ROWS_AT_ONCE), dtype=np.min_scalar_type(p))
        matrices = condensed.matrix, condensed.known
        fill_levels(columns, C.missing, level, members, rows.start, rows.stop, counters, *matrices)

    parallel_map(fill, row_blocks(m, rows_per_call(m * p, MOST_ROWS)), C.n_jobs)
    return condensed


def fill_sums(C: RowSimilarity, members: NDArray[np.float64], condensed: Condensed) -> None:
    """Sums over the pairs of ``members``, (m,), or similarities if there are none; 0 up to the threshold."""
    m, p = C.codes.shape
    compared = tuple(C.compared)

    def fill(rows: slice) -> None:
        matrices = condensed.matrix, condensed.known
        fill_similarities(C.codes, compared, rows.start, rows.stop, C.least, members, *matrices)

    parallel_map(fill, row_blocks(m, rows_per_call(m * p, MOST_ROWS)), C.n_jobs)


def merges_of_matrix(
    condensed: Condensed, linkage: int, *, scale: float = 1.0, values: NDArray[np.float64] | None = None
) -> Merges:
    """Merges of a matrix in units of 1 / ``scale``, or of numbers of ``values``; the matrix is used up."""
    m = len(condensed.sizes)
    pairs, found = np.empty((m - 1, 2), dtype=np.int64), np.empty(m - 1)
    state = (Chain.of(m), np.arange(m))
    run_interruptibly(condensed_chain, condensed, linkage, *state, pairs, found, operations=4 * m * m)
    return _sort_merges(pairs, found / scale if values is None else values[found.astype(np.int64)])


def _sort_merges(pairs: NDArray[np.int64], similarities: NDArray[np.float64]) -> Merges:
    """Merges of a chain from the most similar pair on."""
    heights = 1 - np.minimum(similarities, 1)
    if not _ascends(pairs, heights):  # by rounding
        raise_heights(pairs, np.zeros(len(pairs) + 1), heights)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], heights))
    if not _ascends(pairs, np.argsort(order)):
        order = np.argsort(heights, kind="stable")
    return Merges(pairs[order], heights[order])


def _ascends(pairs: NDArray[np.int64], values: NDArray[Any]) -> bool:
    """Whether the values of merges, (m - 1,), never decrease from a part to its merge; parts come first."""
    merges = np.argsort(pairs.ravel(), kind="stable")  # of each row, one after another
    rows, values = pairs.ravel()[merges], values[merges // 2]
    return bool((values[1:] >= values[:-1])[rows[1:] == rows[:-1]].all())


# ---- The linkages ----


@dataclass(frozen=True)
class Linkage:
    """How similar two clusters are, by the similarities of their pairs."""

    merges: Callable[[RowSimilarity, int], Merges]
    """Of similarities of label rows and the bytes that a faster way may take."""
    kernel: int
    """What `merges_of_matrix` takes."""
    reduce: Any
    """The ufunc that makes two similarities one; `numpy.add`: they are sums, to be divided by the number of pairs."""
    pairs: str
    """The pairs that decide, in words."""
    nearest: str | None
    """How a new object finds the cluster nearest by this linkage, as in `stability.prediction_strength`, if it can."""


LINKAGES = {
    "single": Linkage(single_linkage, SINGLE, np.maximum, "the most similar two of their objects", "nearest"),
    "average": Linkage(average_linkage, AVERAGE, np.add, "their objects on average", "average"),
    "complete": Linkage(complete_linkage, COMPLETE, np.minimum, "the least similar two of their objects", None),
}


def hierarchy_diagnostics(model: Any) -> list[Diagnostics]:
    """What a fitted method says of its hierarchy of the objects, cut where lifetimes are longest or as was asked."""
    found: list[Diagnostics] = []
    if len(model.linkage_matrix_):
        sizes, clusters = np.ones(len(model.labels_)), model.labels_.astype(np.int64)
        found.append(Dendrogram(model.linkage_matrix_, sizes, clusters, "object", model.linkage, "1 − similarity"))
    if model.lifetimes_:
        found.append(Lifetimes(model.lifetimes_, model.n_clusters))
    return found
