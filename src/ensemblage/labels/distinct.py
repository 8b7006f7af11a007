"""Distinct rows of a code matrix: a hash table that compares whole rows, then a sort of the distinct ones.

Rows that are read block by block become runs, the distinct rows of one block each. The runs are cut at regular samples
of all of them (Shi & Schaeffer, "Parallel sorting by regular sampling", 1992), so that every piece of the merge fits
the memory too, however the rows are distributed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import chain, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._codes import group_rows, pack_rows, sort_ties
from ensemblage.kernels._jit import are_few
from ensemblage.labels.threads import parallel_map, row_blocks

LONGEST_RUN = 4_096
"""Rows with the same first word that a Shell sort orders faster than NumPy sorts everything by every word."""


class DistinctRows(NamedTuple):
    """The distinct rows of a code matrix, in lexicographic order: ``codes[inverse]`` is the matrix."""

    codes: Any
    """(m, p) the distinct rows: `LabelRows`, an array in a run or of `distinct_rows`."""
    counts: NDArray[np.int64]
    """(m,) how often each occurs."""
    inverse: NDArray[Any]
    """(n,) the distinct row of each row."""

    def with_weights(self, weights: NDArray[np.int64]) -> DistinctRows:
        """Those that some row of weight > 0 is, with sums of the weights, (n,), as counts; m is the place of others."""
        counts = np.bincount(self.inverse, weights=weights, minlength=len(self.codes)).astype(np.int64)  # exact < 2⁵³
        kept = np.flatnonzero(counts)
        if len(kept) == len(counts):
            return self._replace(counts=counts)
        place = np.full(len(counts), len(kept), dtype=self.inverse.dtype)
        place[kept] = np.arange(len(kept))
        return DistinctRows(self.codes.take(kept), counts[kept], place[self.inverse])


def distinct_rows(codes: NDArray[Any], radices: NDArray[np.int64]) -> DistinctRows:
    """Distinct rows of an (n, p) array whose column j has codes below ``radices[j]``.

    O(n p) for the hashing, O(m log m) for the order of the m distinct rows; memory O(n p).
    """
    n, index = len(codes), _index_type(len(codes))
    if codes.size and are_few(128 * codes.size):
        return _distinct_by_sorting(codes)
    word, limits = words_of_columns(radices), radices.astype(np.uint64)
    words = np.empty((n, word[-1] + 1), dtype=np.uint64)
    parallel_map(lambda block: pack_rows(codes[block], limits, word, words[block]), row_blocks(n))
    table = np.full(1 << int(2 * n - 1).bit_length(), -1, dtype=index)
    group, first = np.empty(n, dtype=index), np.empty(n, dtype=index)
    m = group_rows(words, table, group, first)
    del table
    first = first[:m]
    words = words[first]
    # NumPy sorts one word far faster than several, and most rows differ in their first.
    order = np.argsort(words[:, 0])
    if not sort_ties(words, order, LONGEST_RUN):
        order = np.lexsort(words.T[::-1])
    rank = np.empty(m, dtype=index)
    rank[order] = np.arange(m, dtype=index)
    inverse = rank[group]
    return DistinctRows(np.take(codes, first[order], axis=0), np.bincount(inverse, minlength=m), inverse)


def order_of_rows(codes: NDArray[Any], radices: NDArray[np.int64]) -> NDArray[np.intp]:
    """(n,) the rows of an (n, p) array in lexicographic order; equal ones as they stand."""
    if are_few(128 * codes.size):
        return np.lexsort(codes.T[::-1])
    word = words_of_columns(radices)
    words = np.empty((len(codes), word[-1] + 1), dtype=np.uint64)
    pack_rows(codes, radices.astype(np.uint64), word, words)
    return np.lexsort(words.T[::-1])


def _distinct_by_sorting(codes: NDArray[Any]) -> DistinctRows:
    """`distinct_rows` without a kernel. O(p n log n)."""
    order = np.lexsort(codes.T[::-1])
    ordered = codes[order]
    is_new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    inverse = np.empty(len(codes), dtype=_index_type(len(codes)))
    inverse[order] = np.cumsum(is_new) - 1
    return DistinctRows(ordered[is_new], np.bincount(inverse), inverse)


def words_of_columns(radices: NDArray[np.int64]) -> NDArray[np.intp]:
    """(p,) the 64-bit word of each column: as many columns to a word as fit."""
    word, current, size = np.empty(len(radices), dtype=np.intp), 0, 1
    for j, radix in enumerate(radices.tolist()):
        size *= radix
        if size > 2**64:
            current, size = current + 1, radix
        word[j] = current
    return word


def _index_type(n_rows: int) -> Any:
    return np.int32 if n_rows < 2**31 else np.int64


class Runs(Protocol):
    """The distinct rows of consecutive blocks of rows, one run per block, where the rows lie."""

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """``function(run, *arguments)`` of every run, a `DistinctRows`; the results are brought here."""

    def merge(self, pieces: list[list[slice]]) -> Iterable[tuple[NDArray[np.int64], list[NDArray[Any]]]]:
        """`merge_piece` of every piece, the slices of all runs; the rows stay, their counts and places come here."""

    def merged_rows(self) -> Any:
        """(m, p) the rows of all pieces, one after the other, after `merge`."""


def merge_runs(runs: Runs, n_rows: int) -> DistinctRows:
    """The distinct rows of all runs of ``n_rows`` rows. Here are 8 bytes per row and 8 per row of a run."""
    sizes = runs.each(_size)
    n_runs, index = len(sizes), _index_type(n_rows)
    step = max(1, -(-sum(sizes) // n_runs) // (2 * n_runs))
    samples = sorted(chain.from_iterable(runs.each(_sample, step))) if n_runs > 1 else []
    edges = np.array(runs.each(_edges, samples[n_runs::n_runs]))
    pieces = [list(map(slice, *bounds)) for bounds in pairwise(edges.T.tolist())]
    places, n_distinct = [np.empty(size, dtype=index) for size in sizes], 0
    counts = np.empty(sum(sizes), dtype=np.int64)
    for piece, (of_piece, within) in zip(pieces, runs.merge(pieces), strict=True):
        for place, rows, part in zip(places, piece, within, strict=True):
            place[rows] = n_distinct + part
        counts[n_distinct : n_distinct + len(of_piece)] = of_piece
        n_distinct += len(of_piece)
    counts.resize(n_distinct, refcheck=False)
    inverse, start = np.empty(n_rows, dtype=index), 0
    for place, own in zip(places, runs.each(_inverse), strict=True):
        np.take(place, own, out=inverse[start : start + len(own)])
        start += len(own)
    return DistinctRows(runs.merged_rows(), counts, inverse)


def part_of_run(run: DistinctRows, rows: slice) -> tuple[NDArray[Any], NDArray[Any]]:
    """Some rows of a run, in memory, and their counts."""
    return run.codes[rows], run.counts[rows]


def merge_piece(
    radices: NDArray[np.int64], *parts: tuple[NDArray[Any], NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[np.int64], list[NDArray[Any]]]:
    """Distinct rows of the same piece of every run, their counts, and the place of each run's rows among them."""
    codes, weights = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    if len(parts) == 1:
        return codes, weights, [np.arange(len(codes))]
    rows, _, inverse = distinct_rows(codes, radices)
    counts = np.bincount(inverse, weights=weights, minlength=len(rows)).astype(np.int64)  # exact below 2⁵³
    return rows, counts, np.split(inverse, np.cumsum([len(part) for part, _ in parts])[:-1])


def _size(run: DistinctRows) -> int:
    return len(run.counts)


def _sample(run: DistinctRows, step: int) -> list[tuple[int, ...]]:
    return [tuple(row) for row in run.codes[::step].tolist()]


def _edges(run: DistinctRows, cuts: list[tuple[int, ...]]) -> list[int]:
    """Where the pieces of a run begin, which the cuts begin, and its end."""
    firsts = (bisect_left(range(_size(run)), cut, key=lambda i: tuple(run.codes[i].tolist())) for cut in cuts)
    return [0, *firsts, _size(run)]


def _inverse(run: DistinctRows) -> NDArray[Any]:
    return run.inverse
