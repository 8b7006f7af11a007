"""k-means on rows that are features and labels at once: [X | binary matrix], the binary part as codes.

The squared distance of row i to centre c is Σ_t (x_it − F_tc)² + Σ_j w_j |h_ij − M_jc|² with F the mean features and M
the label proportions of the members. Everything is float64 and runs over the rows in order, in one thread.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._jit import inner_jit, is_set, jit


@inner_jit
def score_row(i: int, space: Any, features: Any, table: Any, score: Any) -> None:
    """i : IN a row
    space : IN (n, m) features, (n, u) codes, (u + 1,) offsets, (u,) weights
    features : IN (m, k) centres
    table : IN (d, k) squared distances of each label, weights included
    score : OUT (k,) squared distances
    """
    X, codes, offsets, _ = space
    x, row = X[i], codes[i]
    score[:] = 0
    for t in range(x.shape[0]):
        for c in range(score.shape[0]):
            difference = x[t] - features[t, c]
            score[c] += difference * difference
    for j in range(row.shape[0]):
        f = offsets[j] + row[j]
        for c in range(score.shape[0]):
            score[c] += table[f, c]


@inner_jit
def fill_table(weights: Any, offsets: Any, proportions: Any, table: Any) -> None:
    """weights : IN (u,)
    offsets : IN (u + 1,)
    proportions : IN (d, k)
    table : OUT (d, k)
    """
    length = np.empty(proportions.shape[1])
    for j in range(weights.shape[0]):
        length[:] = 0
        for f in range(offsets[j], offsets[j + 1]):
            for c in range(length.shape[0]):
                length[c] += proportions[f, c] * proportions[f, c]
        for f in range(offsets[j], offsets[j + 1]):
            for c in range(length.shape[0]):
                table[f, c] = weights[j] * (1 - 2 * proportions[f, c] + length[c])


@jit
def count_members(codes: Any, offsets: Any, labels: Any, counts: Any, sizes: Any) -> None:
    """codes : IN (n, u)
    offsets : IN (u + 1,)
    labels : IN (n,)
    counts : OUT (d, k) int64
    sizes : OUT (k,) int64
    """
    counts[:] = 0
    sizes[:] = 0
    for i in range(labels.shape[0]):
        sizes[labels[i]] += 1
        for j in range(codes.shape[1]):
            counts[offsets[j] + codes[i, j], labels[i]] += 1


@inner_jit
def move_member(row: Any, offsets: Any, old: int, new: int, counts: Any, sizes: Any) -> None:
    sizes[old] -= 1
    sizes[new] += 1
    for j in range(row.shape[0]):
        f = offsets[j] + row[j]
        counts[f, old] -= 1
        counts[f, new] += 1


@jit
def means(X: Any, labels: Any, counts: Any, sizes: Any, features: Any, proportions: Any) -> None:
    """X : IN (n, m)
    labels : IN (n,)
    counts : IN (d, k)
    sizes : IN (k,)
    features : OUT (m, k)
    proportions : OUT (d, k)
    """
    features[:] = 0
    for i in range(X.shape[0]):
        c = labels[i]
        for t in range(X.shape[1]):
            features[t, c] += X[i, t]
    for c in range(sizes.shape[0]):
        size = max(sizes[c], 1)
        for t in range(X.shape[1]):
            features[t, c] /= size
        for f in range(counts.shape[0]):
            proportions[f, c] = counts[f, c] / size


@inner_jit
def farthest_row(space: Any, labels: Any, sizes: Any, features: Any, table: Any, score: Any) -> int:
    """The row that lies farthest from its own centre, out of a cluster with two rows or more."""
    farthest, most = 0, -1.0
    for i in range(labels.shape[0]):
        if sizes[labels[i]] > 1:
            score_row(i, space, features, table, score)
            if score[labels[i]] > most:
                farthest, most = i, score[labels[i]]
    return farthest


@inner_jit
def hamerly_bound(first: float, second: float, rounding: float) -> Any:
    """How far the two nearest centres may come closer to each other before the row must be looked at again."""
    return np.sqrt(max(second - rounding, 0.0)) - np.sqrt(first + rounding)


@inner_jit
def two_least_of(score: Any) -> tuple[int, Any, Any]:
    """The nearest centre, the first one on ties, and the squared distances to it and to the next."""
    nearest, first, second = 0, score[0], np.inf
    for c in range(1, score.shape[0]):
        if score[c] < first:
            nearest, first, second = c, score[c], first
        elif score[c] < second:
            second = score[c]
    return nearest, first, second


@jit
def nearest_two(space: Any, features: Any, proportions: Any, labels: Any, first: Any, second: Any) -> None:
    """space : IN as a plain tuple
    features : IN (m, k) centres
    proportions : IN (d, k)
    labels : OUT (n,) nearest centre, the first one on ties
    first : OUT (n,) squared distance to it
    second : OUT (n,) squared distance to the next
    """
    _, _, offsets, weights = space
    table, score = np.empty_like(proportions), np.empty(features.shape[1])
    fill_table(weights, offsets, proportions, table)
    for i in range(labels.shape[0]):
        score_row(i, space, features, table, score)
        labels[i], first[i], second[i] = two_least_of(score)


@jit
def add_centre(
    space: Any, row: int, k: int, first: Any, second: Any, rounding: float, labels: Any, bounds: Any
) -> None:
    """space : IN as a plain tuple
    row : IN the row that becomes the last centre
    k : IN centres before
    first : IN (n,) squared distance to the nearest of them
    second : IN (n,) and to the next
    labels : IN/OUT (n,) nearest centre
    bounds : OUT (n,)
    """
    X, codes, _, weights = space
    x, own = X[row], codes[row]
    for i in range(X.shape[0]):
        distance = 0.0
        for t in range(x.shape[0]):
            difference = X[i, t] - x[t]
            distance += difference * difference
        for j in range(own.shape[0]):
            if codes[i, j] != own[j]:
                distance += 2 * weights[j]
        if distance < first[i]:
            labels[i] = k
            bounds[i] = hamerly_bound(distance, first[i], rounding)
        else:
            bounds[i] = hamerly_bound(first[i], min(second[i], distance), rounding)


@inner_jit
def drifts(
    before: Any, features: Any, before_proportions: Any, proportions: Any, offsets: Any, weights: Any, drift: Any
) -> None:
    """How much closer each centre and the one of the others that moved most may have come; OUT (k,)."""
    k = drift.shape[0]
    shift = np.zeros(k)
    for t in range(features.shape[0]):
        for c in range(k):
            shift[c] += (features[t, c] - before[t, c]) ** 2
    for j in range(weights.shape[0]):
        for f in range(offsets[j], offsets[j + 1]):
            for c in range(k):
                shift[c] += weights[j] * (proportions[f, c] - before_proportions[f, c]) ** 2
    for c in range(k):
        most = 0.0
        for other in range(k):
            if other != c:
                most = max(most, shift[other])
        drift[c] = (np.sqrt(shift[c]) + np.sqrt(most)) * (1 + 1e-12)


@inner_jit
def fill_empty(space: Any, run: Any, table: Any, score: Any) -> None:
    """An empty cluster takes the row farthest from its own centre.

    space : IN (X, codes, offsets, weights)
    run : IN/OUT Lloyd
    table : WORK (d, k)
    score : WORK (k,)
    """
    X, codes, offsets, weights = space
    labels, bounds, features, proportions, counts, sizes, _ = run
    for c in range(sizes.shape[0]):
        if sizes[c] == 0:
            fill_table(weights, offsets, proportions, table)
            i = farthest_row(space, labels, sizes, features, table, score)
            move_member(codes[i], offsets, labels[i], c, counts, sizes)
            labels[i], bounds[i] = c, -1
            means(X, labels, counts, sizes, features, proportions)


@jit
def assign(space: Any, table: Any, rounding: float, run: Any, score: Any, stop_flag: Any) -> int:
    """Move rows to their nearest centre, the first one on ties; skip rows whose nearest cannot have changed.

    Returns how many moved.

    space : IN
    table : IN (d, k)
    run : IN/OUT Lloyd
    score : WORK (k,)
    stop_flag : IN (1,)
    """
    X, codes, offsets, _ = space
    labels, bounds, features, _, counts, sizes, drift = run
    n_moved = 0
    for i in range(X.shape[0]):
        bounds[i] -= drift[labels[i]]
        if bounds[i] > 0:
            continue
        if is_set(stop_flag):
            break
        score_row(i, space, features, table, score)
        nearest, first, second = two_least_of(score)
        bounds[i] = hamerly_bound(first, second, rounding)
        if nearest != labels[i]:
            move_member(codes[i], offsets, labels[i], nearest, counts, sizes)
            labels[i] = nearest
            n_moved += 1
    return n_moved


class Lloyd(NamedTuple):
    """k-means of n rows while it runs."""

    labels: NDArray[np.int32]
    """(n,)"""
    bounds: NDArray[np.float64]
    """(n,) as of the centres below; negative = look at the row."""
    features: NDArray[np.float64]
    """(m, k) centres to which `bounds` belongs; those of the last assignment."""
    proportions: NDArray[np.float64]
    """(d, k)"""
    counts: NDArray[np.int64]
    """(d, k) members with each label."""
    sizes: NDArray[np.int64]
    """(k,)"""
    drift: NDArray[np.float64]
    """(k,) as `drifts` says."""

    @classmethod
    def of(
        cls, space: Any, labels: NDArray[np.int32], bounds: NDArray[np.float64], features: Any, proportions: Any
    ) -> Lloyd:
        """Before the first iteration."""
        _, codes, offsets, _ = space
        counts, sizes = np.empty(proportions.shape, dtype=np.int64), np.empty(features.shape[1], dtype=np.int64)
        count_members(codes, offsets, labels, counts, sizes)
        return cls(labels, bounds, features, proportions, counts, sizes, np.empty(len(sizes)))


@inner_jit
def copy_table(table: Any, copy: Any) -> None:
    """table : IN (d, k)
    copy : OUT (d, k); the loop compiles in a tenth of the time of an assignment of arrays
    """
    for f in range(table.shape[0]):
        for c in range(table.shape[1]):
            copy[f, c] = table[f, c]


@jit
def lloyd_mixed(space: Any, max_iter: int, rounding: float, run: Any, stop_flag: Any) -> int:
    """Lloyd's iterations from the means of the labels until no row moves; returns how many.

    An empty cluster takes the row farthest from its own centre; ``max_iter`` does not end the iterations (but n more
    would) as long as there is one. O(n (m + u) k) per iteration, much less when few rows
    move.

    space : IN (n, m) features, (n, u) codes, (u + 1,) offsets, (u,) weights
    rounding : IN error bound of a squared distance
    run : IN/OUT Lloyd, as a plain tuple
    stop_flag : IN (1,)
    """
    X, _, offsets, weights = space
    labels, _, features, proportions, counts, sizes, drift = run
    table, score = np.empty_like(proportions), np.empty(sizes.shape[0])
    before, before_proportions = np.empty_like(features), np.empty_like(proportions)
    n_iter, n_moved, most = 0, 1, max_iter + X.shape[0]
    while n_moved > 0 and n_iter < most and (n_iter < max_iter or sizes.min() == 0) and not is_set(stop_flag):
        n_iter += 1
        copy_table(features, before)
        copy_table(proportions, before_proportions)
        means(X, labels, counts, sizes, features, proportions)
        fill_empty(space, run, table, score)
        drifts(before, features, before_proportions, proportions, offsets, weights, drift)
        fill_table(weights, offsets, proportions, table)
        n_moved = assign(space, table, rounding, run, score, stop_flag)
    return n_iter


@jit
def loss_of(X: Any, offsets: Any, weights: Any, labels: Any, counts: Any, sizes: Any) -> float:
    """Sum of the squared distances of the rows to the means of their clusters."""
    features, nothing = np.empty((X.shape[1], sizes.shape[0])), np.empty((0, sizes.shape[0]))
    means(X, labels, counts[:0], sizes, features, nothing)
    loss = 0.0
    for i in range(X.shape[0]):
        for t in range(X.shape[1]):
            loss += (X[i, t] - features[t, labels[i]]) ** 2
    for j in range(weights.shape[0]):
        for c in range(sizes.shape[0]):
            squares = np.int64(0)
            for f in range(offsets[j], offsets[j + 1]):
                squares += counts[f, c] * counts[f, c]
            loss += weights[j] * (sizes[c] - squares / max(sizes[c], 1))
    return loss


@jit
def renumber(labels: Any, number: Any, renumbered: Any) -> None:
    """labels : IN (n,)
    number : WORK (k,) int64
    renumbered : OUT (n,) numbers by first appearance
    """
    number[:] = -1
    n_seen = 0
    for i in range(labels.shape[0]):
        c = labels[i]
        if number[c] < 0:
            number[c] = n_seen
            n_seen += 1
        renumbered[i] = number[c]
