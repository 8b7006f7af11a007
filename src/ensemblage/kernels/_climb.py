"""Single rows of codes move between clusters while the density rises."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._slices import next_rows


class Climb(NamedTuple):
    """What the density of k clusters is made of."""

    alpha: NDArray[np.int64]
    """(d, k) objects of each cluster with each label."""
    labelled: NDArray[np.int64]
    """(p, k) objects of each cluster that the partition labels."""
    joined: NDArray[np.float64]
    """(k,) Σ w (Σ α² − labelled)."""
    pairs: NDArray[np.float64]
    """(k,) Σ w labelled (labelled − 1)."""
    sizes: NDArray[np.int64]
    """(k,) objects."""
    n_rows: NDArray[np.int64]
    """(k,) rows."""


@inner_jit
def weighted_density(size: Any, joined: Any, pairs: Any) -> Any:
    return size * joined / pairs if pairs > 0 else 0.0


@inner_jit
def weigh_labels(row: Any, offsets: Any, weights: Any, state: Any, alphas: Any, sizes: Any) -> float:
    """Returns the weight of the partitions that label the row.

    row : IN (p,) codes
    offsets : IN (p + 1,)
    weights : IN (p,)
    state : IN Climb
    alphas : OUT (k,) Σ w α of the row's labels
    sizes : OUT (k,) Σ w labelled of the partitions that label the row
    """
    alpha, labelled = state[0], state[1]
    total = 0.0
    alphas[:] = 0
    sizes[:] = 0
    for j in range(row.shape[0]):
        f = offsets[j] + row[j]
        if f < offsets[j + 1] - 1:
            w = weights[j]
            total += w
            for c in range(alphas.shape[0]):
                alphas[c] += w * alpha[f, c]
                sizes[c] += w * labelled[j, c]
    return total


@inner_jit
def move_row(row: Any, count: int, a: int, b: int, offsets: Any, state: Any) -> None:
    """Move a row with its objects from cluster a to b; the sums of the pairs are left as they are."""
    alpha, labelled, _, _, sizes, n_rows = state
    sizes[a] -= count
    sizes[b] += count
    n_rows[a] -= 1
    n_rows[b] += 1
    for j in range(row.shape[0]):
        f = offsets[j] + row[j]
        alpha[f, a] -= count
        alpha[f, b] += count
        if f < offsets[j + 1] - 1:
            labelled[j, a] -= count
            labelled[j, b] += count


@jit
def climb(
    codes: Any,
    counts: Any,
    clusters: Any,
    offsets: Any,
    weights: Any,
    state: Any,
    least: float,
    progress: Any,
    budget: int,
) -> bool:
    """One pass over the rows; returns whether rows are left to look at.

    With a row of q objects and weight w of the partitions that label it, a cluster gains 2 q Σ w α + w (q² − q) joined
    pairs and 2 q Σ w labelled + w (q² − q) pairs; it loses 2 q Σ w α − w (q² + q) and 2 q Σ w labelled − w (q² + q).

    codes : IN (m, p)
    counts : IN (m,) objects with that row
    clusters : IN/OUT (m,)
    offsets : IN (p + 1,)
    weights : IN (p,) float64
    state : IN/OUT Climb, as a plain tuple
    least : IN a row moves only if n S rises by more
    progress : WORK (2,) zeros; rows looked at, and how many of them moved
    budget : IN operations of this slice
    """
    _, _, joined, pairs, sizes, n_rows = state
    (m, p), k = codes.shape, sizes.shape[0]
    shared, known = np.empty(k), np.empty(k)
    first, last = next_rows(m, 2 * p * k, budget, progress)
    for i in range(first, last):
        a = clusters[i]
        if n_rows[a] < 2:
            continue
        q = np.float64(counts[i])
        weight = weigh_labels(codes[i], offsets, weights, state, shared, known)
        out_joined = joined[a] - 2 * q * shared[a] + weight * (q * q + q)
        out_pairs = pairs[a] - 2 * q * known[a] + weight * (q * q + q)
        loss = weighted_density(sizes[a], joined[a], pairs[a]) - weighted_density(sizes[a] - q, out_joined, out_pairs)
        best, b = least, -1
        for c in range(k):
            if c != a:
                in_joined = joined[c] + 2 * q * shared[c] + weight * (q * q - q)
                in_pairs = pairs[c] + 2 * q * known[c] + weight * (q * q - q)
                after = weighted_density(sizes[c] + q, in_joined, in_pairs)
                gain = after - weighted_density(sizes[c], joined[c], pairs[c]) - loss
                if gain > best:
                    best, b = gain, c
        if b < 0:
            continue
        joined[b] += 2 * q * shared[b] + weight * (q * q - q)
        pairs[b] += 2 * q * known[b] + weight * (q * q - q)
        joined[a], pairs[a] = out_joined, out_pairs
        move_row(codes[i], counts[i], a, b, offsets, state)
        clusters[i] = b
        progress[1] += 1
    return bool(last < m)
