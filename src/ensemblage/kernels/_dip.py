"""Hartigan's dip: how far values are from the nearest unimodal distribution, exact for ties.

A distribution function that is convex up to an interval and concave behind it is sought: inside the interval is the
steepest part of both the greatest convex minorant and the least concave majorant of the observed one. Each round
narrows the interval.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit


@inner_jit
def hull(values: Any, heights: Any, low: int, high: int, sign: int, vertices: Any) -> int:
    """Vertices of the greatest convex minorant of some points, or of the least concave majorant; returns their number.

    values : IN (m,) ascending, all different
    heights : IN (m,)
    low : IN the first of the points ...
    high : IN ... and the last
    sign : IN 1 for the minorant, -1 for the majorant
    vertices : OUT (m,) from low to high
    """
    n = 0
    for j in range(low, high + 1):
        while n > 1:
            a, b = vertices[n - 2], vertices[n - 1]
            rise = (heights[j] - heights[b]) * (values[b] - values[a])
            if sign * (rise - (heights[b] - heights[a]) * (values[j] - values[b])) > 0:
                break
            n -= 1
        vertices[n] = j
        n += 1
    return n


@inner_jit
def height_at(x: float, a: int, b: int, values: Any, heights: Any) -> float:
    """The line through points a and b, at x."""
    if a == b:
        return float(heights[a])
    return float(heights[a] + (heights[b] - heights[a]) * (x - values[a]) / (values[b] - values[a]))


@inner_jit
def farthest_vertex(
    values: Any, heights: Any, others: Any, vertices: Any, n: int, of_other: Any, n_other: int, sign: int
) -> tuple[float, int]:
    """The largest distance of the vertices of a hull from the other hull, plus 1, and the first such vertex.

    values : IN (m,)
    heights : IN (m,) of the points of the hull
    others : IN (m,) of those of the other one
    vertices : IN (n or more,)
    of_other : IN (n_other or more,) from the same first to the same last point
    sign : IN 1 where the other hull lies above, -1 where it lies below
    """
    largest, at, g = -np.inf, vertices[0], 0
    for v in vertices[:n]:
        while g < n_other - 2 and of_other[g + 1] < v:
            g += 1
        b = of_other[min(g + 1, n_other - 1)]
        distance = sign * (height_at(values[v], of_other[g], b, values, others) - heights[v]) + 1
        if distance > largest:
            largest, at = distance, v
    return largest, at


@inner_jit
def farthest_point(
    values: Any, heights: Any, others: Any, vertices: Any, n: int, first: int, last: int, exempt: int, sign: int
) -> float:
    """The largest distance of some points from a hull, plus 1.

    values : IN (m,)
    heights : IN (m,) of the points of the hull
    others : IN (m,) of the other step of the same values
    vertices : IN (n or more,) of the hull
    first : IN the first of the points ...
    last : IN ... and the last
    exempt : IN the end of the interval, which the hull touches: compared by the step of the hull itself
    sign : IN 1 where the points lie above, -1 where they lie below
    """
    largest, g = 0.0, 0
    for j in range(first, last + 1):
        while g < n - 2 and vertices[g + 1] < j:
            g += 1
        b = vertices[min(g + 1, n - 1)]
        point = heights[j] if j == exempt else others[j]
        distance = sign * (point - height_at(values[j], vertices[g], b, values, heights)) + 1
        largest = max(largest, distance)
    return largest


@jit
def dip_of_steps(values: Any, before: Any, upto: Any, minorant: Any, majorant: Any) -> float:
    """2 n times the dip of n values.

    values : IN (m,) ascending, all different
    before : IN (m,) values less than each, plus 1
    upto : IN (m,) values up to each
    minorant : WORK (m,) int64
    majorant : WORK (m,) int64
    """
    low, high, dip = 0, values.shape[0] - 1, 1.0
    while low < high:
        n_minorant = hull(values, before, low, high, 1, minorant)
        n_majorant = hull(values, upto, low, high, -1, majorant)
        of_minorant, a = farthest_vertex(values, before, upto, minorant, n_minorant, majorant, n_majorant, 1)
        of_majorant, b = farthest_vertex(values, upto, before, majorant, n_majorant, minorant, n_minorant, -1)
        if of_minorant > of_majorant:
            b = majorant[np.searchsorted(majorant[:n_majorant], a)]
        else:
            a = minorant[np.searchsorted(minorant[:n_minorant], b, side="right") - 1]
        if max(of_minorant, of_majorant) <= dip:
            break
        if a > low:
            dip = max(dip, farthest_point(values, before, upto, minorant, n_minorant, low, a, a, 1))
        if b < high:
            dip = max(dip, farthest_point(values, upto, before, majorant, n_majorant, b, high, b, -1))
        if a == low and b == high:
            break
        low, high = a, b
    return dip
