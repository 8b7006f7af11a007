"""Objects by their squared distances of all pairs: k-means and core distances of few objects with many features.

The squared distance of an object i from the mean of a cluster c needs no feature: it is Σ_j d²(i, j) / |c| less
Σ_jl d²(j, l) / 2 |c|², j and l in c. So an iteration of Lloyd costs n operations per object that moved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._points import squared_distances

LINE = 8
"""Numbers that come into the cache together."""
PLACES_OF_KNOT = 4
"""Of a quantile function: with more places than knots the knot of a place is nearly always that which is looked for."""


@inner_jit
def spread_objects(squares: Any, uniforms: Any, least: Any, chosen: Any) -> None:
    """k-means++, as `spread_seeds`.

    squares : IN (n, n)
    uniforms : IN (k,) in [0, 1)
    least : WORK (n,)
    chosen : OUT (k,) int64, the objects that are centres
    """
    n = squares.shape[0]
    least[:] = 1.0
    for c in range(chosen.shape[0]):
        total = 0.0
        for i in range(n):
            total += least[i]
        passed, chosen[c] = uniforms[c] * total, n - 1
        for i in range(n):
            passed -= least[i]
            if passed < 0:
                chosen[c] = i
                break
        row = squares[chosen[c]]
        for i in range(n):
            if c == 0 or row[i] < least[i]:
                least[i] = row[i]


@inner_jit
def iterate_by_squares(
    squares: Any, chosen: Any, labels: Any, nearest: Any, least: Any, sums: Any, sizes: Any, max_iter: int
) -> float:
    """Lloyd's iterations until no label changes, as `iterate`; returns the sum of squared distances to the means.

    squares : IN (n, n)
    chosen : IN (k,) the objects that are the first centres
    labels : OUT (n,)
    nearest : WORK (n,)
    least : WORK (n,)
    sums : WORK (k, n) of the squared distances of each object to the members of each cluster
    sizes : WORK (k,) int64
    """
    n, k = squares.shape[0], chosen.shape[0]
    labels[:] = -1
    sums[:] = 0.0
    sizes[:] = 0
    total = 0.0
    for step in range(max_iter):
        least[:] = np.inf
        nearest[:] = 0
        for c in range(k):
            row, size, spread = squares[chosen[c]], 1.0, 0.0
            if step > 0:
                if sizes[c] == 0:  # there are fewer different objects than clusters
                    continue
                row, size = sums[c], np.float64(sizes[c])
                for i in range(n):
                    spread += row[i] if labels[i] == c else 0.0
                spread /= 2 * size * size
            for i in range(n):
                square = max(row[i] / size - spread, 0.0)
                if square < least[i]:
                    least[i], nearest[i] = square, c
        changed, total = False, 0.0
        sizes[:] = 0
        for i in range(n):
            changed = changed or labels[i] != nearest[i]
            total += least[i]
            sizes[nearest[i]] += 1
        if not changed:
            break
        for c in range(k):
            if sizes[c] == 0:
                farthest = 0
                for i in range(n):
                    if least[i] > least[farthest]:
                        farthest = i
                if least[farthest] > 0:
                    sizes[nearest[farthest]] -= 1
                    nearest[farthest], least[farthest], sizes[c] = c, 0.0, 1
        for i in range(n):
            before, now = labels[i], nearest[i]
            if before != now:
                row, gains = squares[i], sums[now]
                for j in range(n):
                    gains[j] += row[j]
                if before >= 0:
                    loses = sums[before]
                    for j in range(n):
                        loses[j] -= row[j]
                labels[i] = now
    return total


@jit
def best_of_starts_by_squares(squares: Any, uniforms: Any, max_iter: int, labels: Any) -> float:
    """`best_of_starts` of objects whose squared distances are given.

    squares : IN (n, n), symmetric, 0 on the diagonal
    uniforms : IN (n_init, k) in [0, 1)
    labels : OUT (n,) int32, of the best start
    """
    n, (n_init, k) = squares.shape[0], uniforms.shape
    chosen, least, sizes = np.empty(k, dtype=np.int64), np.empty(n), np.empty(k, dtype=np.int64)
    sums, found, nearest, best = np.empty((k, n)), np.empty_like(labels), np.empty_like(labels), np.inf
    for start in range(n_init):
        spread_objects(squares, uniforms[start], least, chosen)
        total = iterate_by_squares(squares, chosen, found, nearest, least, sums, sizes, max_iter)
        if total < best:
            best = total
            for i in range(n):
                labels[i] = found[i]
    return best


@inner_jit
def largest_of_least(row: Any, least: Any) -> float:
    """The largest of the smallest numbers of a row, as many as ``least``, (q,) WORK, has places."""
    q = least.shape[0]
    least[:] = np.inf
    for j in range(row.shape[0]):
        if row[j] < least[q - 1]:
            place = q - 1
            while place > 0 and row[j] < least[place - 1]:
                least[place] = least[place - 1]
                place -= 1
            least[place] = row[j]
    return least[q - 1]  # type: ignore[no-any-return]


@jit
def nearest_of_rows(distances: Any, nearest: Any, lengths: Any) -> None:
    """The places of the smallest numbers of each row, ascending, ties by place.

    distances : IN (n, m)
    nearest : OUT (n, k)
    lengths : OUT (n, k) the numbers
    """
    k = nearest.shape[1]
    for i in range(distances.shape[0]):
        row, found, least = distances[i], nearest[i], lengths[i]
        found[:] = 0
        least[:] = np.inf
        filled = 0
        for j in range(row.shape[0]):
            if filled == k and not row[j] < least[k - 1]:
                continue
            place = min(filled, k - 1)
            while place > 0 and row[j] < least[place - 1]:
                least[place], found[place] = least[place - 1], found[place - 1]
                place -= 1
            least[place], found[place] = row[j], j
            filled = min(filled + 1, k)


@jit
def cores_by_squares(squares: Any, least: Any, core: Any) -> None:
    """squares : IN (n, n)
    least : WORK (q + 1,)
    core : OUT (n,) squared distance to the q-th nearest other object
    """
    for i in range(squares.shape[0]):
        core[i] = largest_of_least(squares[i], least)


@jit
def cores_of_points(X: Any, least: Any, core: Any) -> None:
    """X : IN (n, d)
    least : WORK (q + 1,)
    core : OUT (n,) squared distance to the q-th nearest other object
    """
    n = X.shape[0]
    columns, squares = np.ascontiguousarray(X.T), np.empty((1, n))
    for i in range(n):
        squared_distances(columns, 0, X[i : i + 1], squares)
        core[i] = largest_of_least(squares[0], least)


@jit
def squares_of_products(products: Any, rounding: float) -> None:
    """Turn scalar products into squared distances; those below ``rounding`` times both squared lengths are 0.

    products : IN/OUT (n, n)
    """
    n = products.shape[0]
    lengths = np.empty(n)
    for i in range(n):
        lengths[i] = products[i, i]
    for i in range(n):
        for j in range(n):
            both = lengths[i] + lengths[j]
            square = both - 2 * products[i, j]
            products[i, j] = square if square > rounding * both else 0.0
        products[i, i] = 0.0


@jit
def fill_quantiles(knots: Any, values: Any, table: Any, places: Any) -> None:
    """What `draw_columns` needs of a column with m knots.

    knots : IN (m,) ascending from 0 to 1
    values : IN (m,) at the knots
    table : OUT (m, 4) knot, next knot or ∞, value, slope to the next
    places : OUT (q,) int32, the last knot that is not above b / q, for b from 0
    """
    m, place = knots.shape[0], 0
    for j in range(m):
        table[j, 0], table[j, 1], table[j, 2], table[j, 3] = knots[j], np.inf, values[j], 0.0
        if j < m - 1:
            table[j, 1] = knots[j + 1]
            table[j, 3] = (values[j + 1] - values[j]) / (knots[j + 1] - knots[j])
    q = places.shape[0]
    for b in range(q):
        while table[place, 1] <= b / q:
            place += 1
        places[b] = place


@jit
def draw_columns(shares: Any, table: Any, places: Any, ends: Any, drawn: Any) -> None:
    """Quantiles of each column, bitwise identical to `numpy.interp` between its knots; O(1) time for each number.

    shares : IN (n, r) in [0, 1)
    table : IN (ends[r], 4) of column after column, as `fill_quantiles` makes it
    places : IN (PLACES_OF_KNOT * ends[r],) of column after column, as many times its knots
    ends : IN (r + 1,) where those of each column begin, and their number
    drawn : OUT (n, r)
    """
    n, r = shares.shape
    columns = np.empty((LINE, n))
    for first in range(0, r, LINE):
        last = min(first + LINE, r)
        for i in range(n):
            for f in range(first, last):
                columns[f - first, i] = shares[i, f]
        # Column by column, whose knots stay in the cache.
        for f in range(first, last):
            column, knots = columns[f - first], table[ends[f] : ends[f + 1]]
            guide = places[PLACES_OF_KNOT * ends[f] : PLACES_OF_KNOT * ends[f + 1]]
            q = guide.shape[0]
            for i in range(n):
                share = column[i]
                j = guide[min(q - 1, int(share * q))]
                while knots[j, 0] > share:  # share · q was rounded up
                    j -= 1
                while knots[j, 1] <= share:
                    j += 1
                column[i] = knots[j, 3] * (share - knots[j, 0]) + knots[j, 2]
        for i in range(n):
            for f in range(first, last):
                drawn[i, f] = columns[f - first, i]
