"""Colour refinement of labels through the rows that have them. A colour is a hash of 64 bits; sums of them may wrap."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import jit


@jit
def mix(x: Any) -> Any:
    """A permutation of the unsigned 64-bit integers that spreads every bit (SplitMix64), of one number or an array."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@jit
def add_row_colours(codes: Any, counts: Any, marks: Any, offsets: Any, colours: Any, sums: Any) -> None:
    """codes : IN (n, p)
    counts : IN (n,) objects with that row
    marks : IN (n,) uint64, what the row's colour begins with
    offsets : IN (p + 1,)
    colours : IN (offsets[p],) uint64, colour of each label; 0 for missing
    sums : IN/OUT (offsets[p],) int64, colours of the label's objects
    """
    for i in range(codes.shape[0]):
        colour = marks[i]
        for j in range(codes.shape[1]):
            colour += colours[offsets[j] + codes[i, j]]
        share = np.int64(mix(colour)) * counts[i]
        for j in range(codes.shape[1]):
            sums[offsets[j] + codes[i, j]] += share
