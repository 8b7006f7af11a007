"""Distinct rows of a code matrix: a hash table that compares whole rows, then a sort of the distinct ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._rows import group_rows, pack_rows, sort_ties
from ensemblage.rows.protocol import map_rows


def words_of_columns(radices: NDArray[np.int64]) -> NDArray[np.intp]:
    """The 64-bit word of each column: as many columns to a word as fit."""
    word, current, size = np.empty(len(radices), dtype=np.intp), 0, 1
    for j, radix in enumerate(radices.tolist()):
        size *= radix
        if size > 2**64:
            current, size = current + 1, radix
        word[j] = current
    return word


LONGEST_RUN = 4_096
"""Rows with the same first word that a Shell sort orders faster than NumPy sorts everything by every word."""


def distinct_rows(
    codes: NDArray[Any], radices: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[Any]]:
    """Distinct rows of a code matrix in lexicographic order, how often each occurs, and the row's place among them.

    The codes of column j are below ``radices[j]``. Returns ``(rows, counts, inverse)`` with ``rows[inverse] == codes``.
    O(n p) for the hashing, O(m log m) for the order of the m distinct rows; memory O(n p).
    """
    n = len(codes)
    index: Any = np.int32 if n < 2**31 else np.int64
    word = words_of_columns(radices)
    words = np.empty((n, word[-1] + 1), dtype=np.uint64)
    map_rows(lambda rows, packed: pack_rows(rows, radices.astype(np.uint64), word, packed), (codes, words))
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
    return np.take(codes, first[order], axis=0), np.bincount(inverse, minlength=m), inverse
