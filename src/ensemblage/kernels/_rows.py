"""Distinct rows of a code matrix: a hash table that compares whole rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._jit import jit


def pack_rows(codes: NDArray[Any]) -> NDArray[np.uint64]:
    """Pack each row of codes into big-endian 64-bit words, so that words compare as rows do.

    codes is (n, p) of uint8, uint16 or int32 (non-negative); the result is (n, ceil(p * itemsize / 8)).
    """
    n, p = codes.shape
    width = -(-p * codes.itemsize // 8) * 8
    padded = np.zeros((n, width // codes.itemsize), dtype=codes.dtype.newbyteorder(">"))
    padded[:, :p] = codes
    return padded.view(">u8").astype(np.uint64)


@jit
def group_rows(
    words: Any,  # IN (n, w) uint64
    table: Any,  # WORK (power of two > n,) int32 or int64, filled with -1
    group: Any,  # OUT (n,) number of the row's group, in order of first appearance
    first: Any,  # OUT (n,) first row of each group; the first n_groups entries count
) -> int:
    n, w = words.shape
    mask = np.uint64(table.shape[0] - 1)
    n_groups = 0
    for i in range(n):
        h = np.uint64(0x9E3779B97F4A7C15)
        for c in range(w):
            h = (h ^ words[i, c]) * np.uint64(0xBF58476D1CE4E5B9)
            h ^= h >> np.uint64(29)
        slot = (h ^ (h >> np.uint64(32))) & mask
        while True:
            g = table[slot]
            if g < 0:
                table[slot] = n_groups
                first[n_groups] = i
                group[i] = n_groups
                n_groups += 1
                break
            r = first[g]
            same = True
            for c in range(w):
                if words[r, c] != words[i, c]:
                    same = False
                    break
            if same:
                group[i] = g
                break
            slot = (slot + np.uint64(1)) & mask
    return n_groups


def distinct_rows(codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[Any]]:
    """Distinct rows of a code matrix in lexicographic order, how often each occurs, and the row's place among them.

    Returns ``(rows, counts, inverse)`` with ``rows[inverse] == codes``. O(n p) for the hashing, O(m log m) for the
    order of the m distinct rows; memory O(n p).
    """
    n = len(codes)
    index = np.int32 if n < 2**31 else np.int64
    words = pack_rows(codes)
    table = np.full(1 << int(2 * n - 1).bit_length(), -1, dtype=index)
    group, first = np.empty(n, dtype=index), np.empty(n, dtype=index)
    m = group_rows(words, table, group, first)
    del table
    first = first[:m]
    order = np.lexsort(words[first].T[::-1])
    rank = np.empty(m, dtype=index)
    rank[order] = np.arange(m, dtype=index)
    inverse = rank[group]
    return codes[first[order]], np.bincount(inverse, minlength=m), inverse
