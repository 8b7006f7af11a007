"""Minimum spanning trees of many points in few dimensions: Borůvka's algorithm with a k-d tree.

In each round every component finds its shortest edge to another one, and all of these are added. Edges are ordered by
squared length, then by their points (i, j) with i < j, as in `spanning_tree_of_points`: there is one tree, and both
find it. Squares are summed in the same order, so that the trees are bitwise equal.
"""

from typing import Any

import numpy as np

from ensemblage.kernels._dendrogram import root_of, unite_with_first
from ensemblage.kernels._jit import inner_jit, is_set, jit

POINTS_OF_LEAF = 8
"""Points of a leaf at most: a node with more has two children of the same size or of sizes that differ by one."""
NONE = -1


@jit
def sort_into_tree(points: Any, order: Any, starts: Any, lower: Any, upper: Any, least_name: Any) -> None:
    """A balanced k-d tree: node v has the children 2 v + 1 and 2 v + 2, split at the median of its widest feature.

    points : IN (n, m)
    order : IN/OUT (n,) int64, 0 … n - 1; the points of each node stand together
    starts : OUT (n_nodes, 2) int64, first point of each node, and the one after its last
    lower, upper : OUT (n_nodes, m) box of the points of each node
    least_name : OUT (n_nodes,) int64 least number of a point of each node
    """
    n, m = points.shape
    n_nodes = lower.shape[0]
    starts[0, 0], starts[0, 1] = 0, n
    for v in range(n_nodes):
        start, stop = starts[v, 0], starts[v, 1]
        lower[v], upper[v], least_name[v] = points[order[start]], points[order[start]], order[start]
        for i in range(start + 1, stop):
            least_name[v] = min(least_name[v], order[i])
            for f in range(m):
                value = points[order[i], f]
                lower[v, f], upper[v, f] = min(lower[v, f], value), max(upper[v, f], value)
        if 2 * v + 2 >= n_nodes:
            continue
        widest, middle = 0, (start + stop) // 2
        for f in range(1, m):
            if upper[v, f] - lower[v, f] > upper[v, widest] - lower[v, widest]:
                widest = f
        part_at_median(points[:, widest], order, start, stop, middle)
        starts[2 * v + 1, 0], starts[2 * v + 1, 1] = start, middle
        starts[2 * v + 2, 0], starts[2 * v + 2, 1] = middle, stop


@inner_jit
def part_at_median(values: Any, order: Any, start: Any, stop: Any, middle: Any) -> None:
    """Reorder order[start:stop] so that no value before the place ``middle`` is larger than one from it on."""
    first, last = start, stop - 1
    while first < last:
        pivot = values[order[(first + last) // 2]]
        i, j = first, last
        while i <= j:
            while values[order[i]] < pivot:
                i += 1
            while values[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i, j = i + 1, j - 1
        if middle <= j:
            last = j
        elif middle >= i:
            first = i
        else:
            return


@inner_jit
def square_to_box(point: Any, low: Any, high: Any) -> Any:
    """Squared distance of a point to a box; as rounded, it exceeds that of no point in the box."""
    total = 0.0
    for f in range(point.shape[0]):
        beyond = max(low[f] - point[f], point[f] - high[f])
        if beyond > 0:
            total += beyond**2
    return total


@jit
def join_components(
    points: Any,
    names: Any,
    starts: Any,
    lower: Any,
    upper: Any,
    least_name: Any,
    component: Any,
    node_component: Any,
    nearest: Any,
    bound: Any,
    best: Any,
    best_pair: Any,
    pairs: Any,
    squares: Any,
    stop_flag: Any,
) -> None:
    """Borůvka's algorithm.

    points : IN (n, m) in the order of the tree
    names : IN (n,) int64 which points they are
    starts, lower, upper, least_name : IN the tree
    component : WORK (n,) int64 0 … n - 1; number of the component of each point
    node_component : WORK (n_nodes,) int64; component of all points of a node, NONE if they have several
    nearest : WORK (n,) int64 NONE; nearest point of another component when it was looked for, NONE if not found
    bound : WORK (n,) zeros; no point of another component is nearer than this, squared
    best : WORK (n,) squared length of the best edge of each component
    best_pair : WORK (n, 2) int64 places of its ends, the end in the component first
    pairs : OUT (n - 1, 2) int64 names of the ends of each edge, the smaller first
    squares : OUT (n - 1,) their squared lengths
    stop_flag : IN (1,)
    """
    n = points.shape[0]
    stack = np.empty(128, np.int64)
    squares_below = np.empty(128)
    n_found = 0
    while n_found < n - 1 and not is_set(stop_flag):
        begin_round(names, component, starts, node_component, nearest, bound, best, best_pair)
        for i in range(n):
            c = component[i]
            if nearest[i] == NONE and bound[i] <= best[c]:
                if is_set(stop_flag):
                    return
                look_for_nearest(
                    *(i, points, names, starts, lower, upper, least_name, component, node_component, nearest, bound),
                    *(best, best_pair, stack, squares_below),
                )
                if nearest[i] != NONE:
                    take_if_better(c, bound[i], i, nearest[i], names, best, best_pair)
        n_found += end_round(names, component, best, best_pair, pairs[n_found:], squares[n_found:])


@inner_jit
def begin_round(
    names: Any,
    component: Any,
    starts: Any,
    node_component: Any,
    nearest: Any,
    bound: Any,
    best: Any,
    best_pair: Any,
) -> None:
    """names : IN (n,)
    component : IN (n,)
    starts : IN (n_nodes, 2)
    node_component : OUT (n_nodes,)
    nearest : IN/OUT (n,) points that have come into the component of i are not nearest any more
    bound : IN (n,)
    best, best_pair : OUT of the points whose nearest is known
    """
    n_nodes = node_component.shape[0]
    for v in range(n_nodes - 1, -1, -1):
        if 2 * v + 2 < n_nodes:
            left, right = node_component[2 * v + 1], node_component[2 * v + 2]
            node_component[v] = left if left == right else NONE
            continue
        node_component[v] = component[starts[v, 0]]
        for i in range(starts[v, 0] + 1, starts[v, 1]):
            if component[i] != node_component[v]:
                node_component[v] = NONE
                break
    best[:] = np.inf
    for i in range(component.shape[0]):
        if nearest[i] == NONE:
            continue
        if component[nearest[i]] == component[i]:
            nearest[i] = NONE
        else:
            take_if_better(component[i], bound[i], i, nearest[i], names, best, best_pair)


@inner_jit
def take_if_better(c: Any, square: Any, i: Any, j: Any, names: Any, best: Any, best_pair: Any) -> None:
    """c : IN a component
    square, i, j : IN an edge of it, i in the component
    names : IN (n,)
    best, best_pair : IN/OUT its best edge
    """
    if square > best[c]:
        return
    if square == best[c]:
        a, b = min(names[i], names[j]), max(names[i], names[j])
        p, q = names[best_pair[c, 0]], names[best_pair[c, 1]]
        if (a, b) >= (min(p, q), max(p, q)):
            return
    best[c], best_pair[c, 0], best_pair[c, 1] = square, i, j


@inner_jit
def look_for_nearest(
    i: Any,
    points: Any,
    names: Any,
    starts: Any,
    lower: Any,
    upper: Any,
    least_name: Any,
    component: Any,
    node_component: Any,
    nearest: Any,
    bound: Any,
    best: Any,
    best_pair: Any,
    stack: Any,
    squares_below: Any,
) -> None:
    """The nearest point of another component, of equally near ones that with the least name, if its edge is no worse
    than the best one of the component.

    nearest, bound : OUT [i]: the point and its squared distance; NONE and the least that it may be if there is none
    stack, squares_below : WORK nodes to look into and their squared distances
    The other arguments are as in `join_components`.
    """
    n_nodes, m = lower.shape
    own, at = component[i], points[i]
    found, limit = NONE, best[own]
    # Of edges as long as the best one only those to a point with a name below this can come before it.
    name_limit = np.iinfo(np.int64).max
    if limit < np.inf:
        lower_end = min(names[best_pair[own, 0]], names[best_pair[own, 1]])
        name_limit = lower_end + 1 if names[i] > lower_end else name_limit
    stack[0], squares_below[0], height = 0, 0.0, 1
    while height > 0:
        height -= 1
        v = stack[height]
        if squares_below[height] > limit or node_component[v] == own:
            continue
        if squares_below[height] == limit and least_name[v] >= name_limit:
            continue
        if 2 * v + 2 < n_nodes:
            left, right = 2 * v + 1, 2 * v + 2
            to_left = square_to_box(at, lower[left], upper[left])
            to_right = square_to_box(at, lower[right], upper[right])
            # The nearer one is looked into first.
            if to_left < to_right or (to_left == to_right and least_name[left] < least_name[right]):
                left, right, to_left, to_right = right, left, to_right, to_left
            stack[height], squares_below[height] = left, to_left
            stack[height + 1], squares_below[height + 1] = right, to_right
            height += 2
            continue
        for j in range(starts[v, 0], starts[v, 1]):
            if component[j] == own:
                continue
            square = 0.0
            for f in range(m):
                square += (points[j, f] - at[f]) ** 2
            if square < limit or (square == limit and names[j] < name_limit):
                limit, found, name_limit = square, j, names[j]
    nearest[i], bound[i] = found, limit


@inner_jit
def end_round(names: Any, component: Any, best: Any, best_pair: Any, pairs: Any, squares: Any) -> int:
    """Add the best edge of each component; returns how many edges were added.

    names : IN (n,)
    component : IN/OUT (n,)
    best, best_pair : IN
    pairs, squares : OUT the first of them
    """
    n, n_added = component.shape[0], 0
    parent = np.arange(n)
    for c in range(n):
        if best[c] == np.inf:
            continue
        i, j = best_pair[c, 0], best_pair[c, 1]
        a, b = root_of(parent, component[i]), root_of(parent, component[j])
        if a == b:
            continue  # the other component has chosen the same edge
        unite_with_first(parent, a, b)
        pairs[n_added, 0], pairs[n_added, 1] = min(names[i], names[j]), max(names[i], names[j])
        squares[n_added] = best[c]
        n_added += 1
    for i in range(n):
        component[i] = root_of(parent, component[i])
    return n_added
