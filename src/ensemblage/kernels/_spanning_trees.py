"""Spanning trees by Prim's algorithm: single linkage of label rows and of points.

Similarities of label rows are numbers of partitions, those that join a pair of those that label both, or sums over
tables of the labels. Rows are distinct and in order. Ties are the rule, so edges are totally ordered: by similarity,
then by (i, j) with i < j. Under a total order there is one tree.
"""

from typing import Any

import numpy as np

from ensemblage.kernels._bitmaps import (
    BLOCK_BITS,
    WORDS,
    count_in_planes,
    lowest_bit,
    mark_no_worse,
    number_at,
    number_maps,
)
from ensemblage.kernels._jit import inner_jit, is_set, jit
from ensemblage.kernels._linkage import fill_row_tables, sums_of_pair
from ensemblage.kernels._pairs import ROWS_AT_ONCE, count_joined, count_labelled
from ensemblage.kernels._vectors import EIGHT


@inner_jit
def lower_keys(
    columns: Any, missing: Any, rank: Any, shift: int, row: int, codes: Any, start: int, counters: Any, keys: Any
) -> Any:
    """Returns the lowest key.

    columns : IN (p, m) codes
    missing : IN (p,) code of the missing entry, or empty: nothing is missing
    rank : IN (p + 1, p + 1) rank of a similarity from its counts; p − the first one where nothing is missing
    row : IN the row that came into the tree, ...
    codes : IN (p,) ... and its codes
    start : IN first of the rows it is compared with
    counters : WORK (2, n or more) unsigned
    keys : IN/OUT (n,) the lower of each and of the row's
    """
    p, key_of, n = columns.shape[0], keys.dtype.type, keys.shape[0]
    joined, labelled = counters[0, :n], counters[1, :n]
    lowest = key_of(0) - key_of(1)
    count_joined(columns, codes, missing, start, joined)
    if missing.shape[0] == 0:
        for j in range(n):
            keys[j] = min(keys[j], (key_of(p - joined[j]) << key_of(shift)) | key_of(row))
            lowest = min(lowest, keys[j])
    else:
        count_labelled(columns, codes, missing, start, labelled)
        for j in range(n):
            keys[j] = min(keys[j], (key_of(rank[joined[j], labelled[j]]) << key_of(shift)) | key_of(row))
            lowest = min(lowest, keys[j])
    return lowest


@inner_jit
def first_edge_of_rank(rank: Any, shift: int, rows: Any, keys: Any, least: Any) -> tuple[Any, Any, int]:
    """The edge of that rank with the smallest (i, j), i < j: i, j, and the place of its row that is left.

    rank : IN lowest of all ranks
    rows : IN (n,) rows that are left
    keys : IN (n,) of their edges
    least : IN lowest key of each block
    """
    key_of, n = keys.dtype.type, rows.shape[0]
    mask = (key_of(1) << key_of(shift)) - key_of(1)
    first, second, place = np.int64(mask) + 1, np.int64(mask) + 1, 0
    for start in range(0, n, ROWS_AT_ONCE):
        if least[start // ROWS_AT_ONCE] >> key_of(shift) > rank:
            continue
        for j in range(start, min(start + ROWS_AT_ONCE, n)):
            if keys[j] >> key_of(shift) == rank:
                row = np.int64(keys[j] & mask)
                a, b = min(row, rows[j]), max(row, rows[j])
                if a < first or (a == first and b < second):
                    first, second, place = a, b, j
    return first, second, place


@jit
def spanning_tree_of_counts(
    columns: Any,
    missing: Any,
    rank: Any,
    shift: int,
    rows: Any,
    keys: Any,
    counters: Any,
    edges: Any,
    ranks: Any,
    stop_flag: Any,
) -> None:
    """Prim's algorithm.

    columns : WORK (p, m) codes
    missing : IN (p,) code of the missing entry, or empty: nothing is missing
    rank : IN (p + 1, p + 1) rank of a similarity from its counts; (p + 1, 1) if nothing is missing; 0 = highest
    shift : IN bits of a key that hold a row
    rows : WORK (m,) 0 … m - 1; the rows that are left come first
    keys : WORK (m,) unsigned, filled with its largest value; rank and tree row of the best edge of each row left
    counters : WORK (2, ROWS_AT_ONCE) unsigned, counts to p
    edges : OUT (m - 1, 2) rows of each edge, the smaller first
    ranks : OUT (m - 1,) rank of each edge
    stop_flag : IN (1,)
    """
    p, m = columns.shape
    least = np.empty(m // ROWS_AT_ONCE + 1, keys.dtype)
    place = 0
    for e in range(m - 1):
        if is_set(stop_flag):
            return
        left = m - 1 - e
        row, codes = rows[place], columns[:, place].copy()
        rows[place], keys[place] = rows[left], keys[left]
        for t in range(p):
            columns[t, place] = columns[t, left]
        for start in range(0, left, ROWS_AT_ONCE):
            stop = min(start + ROWS_AT_ONCE, left)
            part = keys[start:stop]
            least[start // ROWS_AT_ONCE] = lower_keys(columns, missing, rank, shift, row, codes, start, counters, part)
        lowest = least[0]
        for b in range(1, (left + ROWS_AT_ONCE - 1) // ROWS_AT_ONCE):
            lowest = min(lowest, least[b])
        lowest = lowest >> keys.dtype.type(shift)
        edges[e, 0], edges[e, 1], place = first_edge_of_rank(lowest, shift, rows[:left], keys[:left], least)
        ranks[e] = lowest


PART = 256
"""Rows whose lowest key is kept."""

JOINED = np.uint64(2**64 - 1)
"""Key of a row that is in the tree."""


@jit
def grow_tree_of_bitmaps(
    codes: Any,
    offsets: Any,
    maps: Any,
    rows: Any,
    keys: Any,
    best: Any,
    shift: int,
    row: int,
    edges: Any,
    ranks: Any,
    stop_flag: Any,
) -> int:
    """Some edges of `spanning_tree_of_counts` where nothing is missing; returns the row that came into the tree last.

    codes : IN (m, p)
    offsets : IN (p,) first map of each partition
    maps : IN/OUT (d + 2, n_blocks or more, WORDS) of n rows; rows that come into the tree leave the map of all rows
    rows : IN (n,) the rows
    keys : IN/OUT (n,) uint64 best edge of each row: p - the partitions that join it, its smaller row, the other
    best : IN/OUT (n_blocks, L, WORDS) planes of the partitions that join the best edges
    shift : IN bits of a key that hold a row
    row : IN the row that came into the tree last
    edges : OUT (q, 2) rows of each of the next edges, the smaller first
    ranks : OUT (q,) p - the partitions that join each edge
    stop_flag : IN (1,)
    """
    n_blocks, everything, p, n = best.shape[0], maps.shape[0] - 2, codes.shape[1], keys.shape[0]
    width, mask = np.uint64(shift), (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    numbers, planes = np.empty(p + -p % EIGHT, np.uint64), np.empty_like(best[0])
    marks = np.empty(WORDS, np.uint64)
    n_parts = BLOCK_BITS // PART
    least = np.full(n_blocks * n_parts, JOINED, np.uint64)
    for s in range((n + PART - 1) // PART):
        least[s] = lowest_key(keys, s * PART, min(s * PART + PART, n))
    for e in range(edges.shape[0]):
        if is_set(stop_flag):
            break
        number_maps(codes[row], offsets, maps, numbers)
        for k in range(n_blocks):
            count_in_planes(maps, k, numbers, planes)
            if mark_no_worse(planes, best[k], maps[everything, k], marks):
                lowest = least[k * n_parts : (k + 1) * n_parts]
                block = slice(k * BLOCK_BITS, min((k + 1) * BLOCK_BITS, n))
                lower_marked_keys(planes, marks, p, shift, row, rows[block], keys[block], best[k], lowest)
        part = np.int64(least.argmin())
        key, place = least[part], part * PART
        while keys[place] != key:
            place += 1
        edges[e, 0], edges[e, 1], ranks[e] = (key >> width) & mask, key & mask, key >> width >> width
        row, keys[place] = rows[place], JOINED
        maps[everything, place // BLOCK_BITS, place % BLOCK_BITS // 64] &= ~(np.uint64(1) << np.uint64(place % 64))
        least[part] = lowest_key(keys, part * PART, min(part * PART + PART, n))
    return row


@inner_jit
def lowest_key(keys: Any, start: Any, stop: Any) -> Any:
    """Least of some keys: several times as fast as NumPy's in a compiled function."""
    lowest = JOINED
    for j in range(start, stop):
        lowest = min(lowest, keys[j])
    return lowest


@inner_jit
def lower_marked_keys(
    planes: Any, marks: Any, p: int, shift: int, row: int, rows: Any, keys: Any, best: Any, least: Any
) -> None:
    """planes : IN (L, WORDS) partitions that join the row with those of a block
    marks : IN (WORDS,) rows whose best edge may be the one to this row
    p : IN
    shift : IN
    row : IN
    rows : IN (n,) of the block
    keys : IN/OUT (n,)
    best : IN/OUT (L, WORDS)
    least : IN/OUT lowest key of each PART rows
    """
    width, words = np.uint64(shift), np.uint64(0)
    for w in range(WORDS):
        words |= np.uint64(marks[w] != 0) << np.uint64(w)
    while words != 0:
        w = lowest_bit(words)
        words &= words - np.uint64(1)
        marked = marks[w]
        for g in range(planes.shape[0]):
            best[g, w] ^= (best[g, w] ^ planes[g, w]) & marked
        while marked != 0:
            bit = lowest_bit(marked)
            marked &= marked - np.uint64(1)
            place, rank = 64 * w + bit, p - number_at(planes, w, bit)
            a, b = min(row, rows[place]), max(row, rows[place])
            key = (((np.uint64(rank) << width) | np.uint64(a)) << width) | np.uint64(b)
            if key < keys[place]:
                keys[place] = key
                least[place // PART] = min(least[place // PART], key)


@jit
def fill_planes(numbers: Any, planes: Any) -> None:
    """numbers : IN (n,) int64
    planes : IN/OUT (n_blocks, L, WORDS) uint64, zeros; the bits of each
    """
    for i in range(numbers.shape[0]):
        for g in range(planes.shape[1]):
            bit = np.uint64((numbers[i] >> g) & 1)
            planes[i // BLOCK_BITS, g, i % BLOCK_BITS // 64] |= bit << np.uint64(i % 64)


@jit
def spanning_tree_of_similarities(
    codes: Any,
    compared: Any,
    rows: Any,
    tree_row: Any,
    best: Any,
    edges: Any,
    similarities: Any,
    stop_flag: Any,
) -> None:
    """Prim's algorithm; ties as in `spanning_tree_of_counts`.

    codes : IN (m, p) codes of the distinct rows
    compared : IN Compared, as a plain tuple
    rows : WORK (m,) 0 … m - 1; the rows that are left come first
    tree_row : WORK (m,) of each row left, the row of the tree that is most similar to it
    best : WORK (m,) filled with -1; how similar
    edges : OUT (m - 1, 2) rows of each edge, the smaller first
    similarities : OUT (m - 1,)
    stop_flag : IN (1,)
    """
    offsets, _, _, _, _, _ = compared
    m, p = codes.shape
    tables = np.zeros((offsets[p], 2))
    place = 0
    for e in range(m - 1):
        if is_set(stop_flag):
            return
        left = m - 1 - e
        u = rows[place]
        rows[place], tree_row[place], best[place] = rows[left], tree_row[left], best[left]
        fill_row_tables(codes[u], compared, tables)
        top, first, second = -1.0, m, m
        for s in range(left):
            v = rows[s]
            _, _, value = sums_of_pair(codes[v], offsets, tables)
            if value > best[s] or (value == best[s] and u < tree_row[s]):
                best[s], tree_row[s] = value, u
            if best[s] >= top:
                a, b = min(v, tree_row[s]), max(v, tree_row[s])
                if best[s] > top or a < first or (a == first and b < second):
                    top, first, second, place = best[s], a, b, s
        edges[e, 0], edges[e, 1], similarities[e] = first, second, top


POINTS_OF_BLOCK = 1024
"""Points whose distances are computed at a time."""


@jit
def spanning_tree_of_points(
    columns: Any,
    left: Any,
    keys: Any,
    bits: Any,
    nearest: Any,
    at: Any,
    distances: Any,
    pairs: Any,
    squares: Any,
    stop_flag: Any,
) -> None:
    """Minimum spanning tree by Prim, O(n² m) time.

    Edges are ordered by length, then by their points, so that there is one tree.

    columns : WORK (m, n - 1) features of the points but the first; those that are left stay in front
    left : WORK (n - 1,) int64 1 … n - 1; which points they are
    keys : WORK (n - 1,) infinite; squared distance to the tree
    bits : the memory of ``keys`` as int64: numbers ≥ 0 in the same order, whose least vectors find
    nearest : WORK (n - 1,) int64 zeros; point of the tree at that distance
    at : WORK (m,) the first point; that which came into the tree last
    distances : WORK (POINTS_OF_BLOCK,)
    pairs : OUT (n - 1, 2) int64 points of each edge, the smaller first, in the order in which they are found
    squares : OUT (n - 1,) their squared lengths
    stop_flag : IN (1,)
    """
    m, n_edges = columns.shape
    current = 0
    for e in range(n_edges):
        if is_set(stop_flag):
            return
        q = n_edges - e
        least = bits[0]
        for start in range(0, q, POINTS_OF_BLOCK):
            size = min(POINTS_OF_BLOCK, q - start)
            block = slice(start, start + size)
            distances[:] = 0.0
            for f in range(m):
                values, own = columns[f, block], at[f]
                for i in range(size):
                    distances[i] += (values[i] - own) ** 2
            key, near, key_bits = keys[block], nearest[block], bits[block]
            for i in range(size):
                # Of equally long edges of a point, the one to the smaller point comes first.
                closer = (distances[i] < key[i]) | ((distances[i] == key[i]) & (current < near[i]))
                key[i] = distances[i] if closer else key[i]
                near[i] = current if closer else near[i]
            for i in range(size):
                least = min(least, key_bits[i])
        best = first_edge_of_length(bits, q, least, left, nearest)
        current = left[best]
        pairs[e, 0], pairs[e, 1] = min(current, nearest[best]), max(current, nearest[best])
        squares[e] = keys[best]
        for f in range(m):
            at[f], columns[f, best] = columns[f, best], columns[f, q - 1]
        left[best], keys[best], nearest[best] = left[q - 1], keys[q - 1], nearest[q - 1]


@inner_jit
def first_edge_of_length(bits: Any, q: int, least: int, left: Any, nearest: Any) -> int:
    """Place of the first edge, by its smaller point and then its larger one, among the first q of the least length."""
    best, smaller, larger = -1, 0, 0
    for i in range(q):
        if bits[i] == least:
            a, b = left[i], nearest[i]
            if a > b:
                a, b = b, a
            if best < 0 or a < smaller or (a == smaller and b < larger):
                best, smaller, larger = i, a, b
    return best


@inner_jit
def join_nearest(current: int, squares: Any, core: Any, far: Any, close: Any, near: Any, is_in: Any) -> int:
    """Bring an object into the tree; returns the one that is joined next.

    squares : IN (n,) squared distances to it
    core : IN (n,) squared core distances
    far, close : IN/OUT (n,) the least mutual reachability to the tree, and the plain distance ...
    near : IN/OUT (n,) ... and to which object
    is_in : IN/OUT (n,) whether it is in the tree
    """
    is_in[current] = True
    next_one, first, second = -1, np.inf, np.inf
    for i in range(len(core)):
        if is_in[i]:
            continue
        d = squares[i]
        r = max(d, core[current], core[i])
        if r < far[i] or (r == far[i] and d < close[i]):
            far[i], close[i], near[i] = r, d, current
        if next_one < 0 or far[i] < first or (far[i] == first and close[i] < second):
            next_one, first, second = i, far[i], close[i]
    return next_one


def state_of_tree(n: int) -> tuple[Any, Any, Any, Any]:
    """The arrays of `join_nearest` before the first object is in the tree."""
    return np.full(n, np.inf), np.full(n, np.inf), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)


@jit
def mutual_reachability_tree(
    columns: Any,
    core: Any,
    squares: Any,
    far: Any,
    close: Any,
    near: Any,
    is_in: Any,
    pairs: Any,
    reach: Any,
    plain: Any,
) -> None:
    """Minimum spanning tree of the mutual reachability by Prim, ties by the plain distance: O(n² d) time.

    columns : IN (d, n)
    core : IN (n,) squared core distances
    squares : WORK (n,)
    far, close, near, is_in : WORK (n,) of `state_of_tree`
    pairs : OUT (n - 1, 2) int64 objects of each edge, in the order in which they were joined: the second one is new
    reach : OUT (n - 1,) max(core of both, squared distance) ...
    plain : OUT (n - 1,) ... and the squared distance
    """
    d, n = columns.shape
    current = near[0]  # zero
    for edge in range(n - 1):
        for i in range(n):
            squares[i] = 0.0
        for f in range(0, d - 1, 2):  # two at a time, added in their order
            own, other = columns[f, current], columns[f + 1, current]
            for i in range(n):
                squares[i] = squares[i] + (columns[f, i] - own) ** 2 + (columns[f + 1, i] - other) ** 2
        if d % 2:
            own = columns[d - 1, current]
            for i in range(n):
                squares[i] += (columns[d - 1, i] - own) ** 2
        current = join_nearest(current, squares, core, far, close, near, is_in)
        pairs[edge, 0], pairs[edge, 1] = near[current], current
        reach[edge], plain[edge] = far[current], close[current]


@jit
def mutual_reachability_tree_of_squares(
    squares: Any, core: Any, far: Any, close: Any, near: Any, is_in: Any, pairs: Any, reach: Any, plain: Any
) -> None:
    """`mutual_reachability_tree` of objects whose squared distances, (n, n), are given: O(n²) time."""
    current = near[0]
    for edge in range(squares.shape[0] - 1):
        current = join_nearest(current, squares[current], core, far, close, near, is_in)
        pairs[edge, 0], pairs[edge, 1] = near[current], current
        reach[edge], plain[edge] = far[current], close[current]


@jit
def cut_long_edges(
    pairs: Any,
    order: Any,
    parent: Any,
    below: Any,
    share: float,
    least: int,
    degree: Any,
    sizes: Any,
    top: Any,
    is_top: Any,
    clusters: Any,
) -> Any:
    """Cut the longest edge that leaves no small part, again and again; leaves of the tree have no size.

    Returns the number of partitions that were made: fewer than were asked for where no edge is left.

    pairs : IN (n - 1, 2) edges of a tree, the shortest first
    order : IN (n,) the objects with parents first ...
    parent : IN (n,) ... the parent of each ...
    below : IN (n - 1,) ... and the object that each edge joins to its parent
    share : IN with q clusters, a part has at least share / q of the objects that are no leaves ...
    least : IN ... and at least so many of them
    degree : WORK (n,) int64 zeros, edges of each object
    sizes, top, is_top : WORK (n,) int64 zeros, int64, False: objects below each that are no leaves; the first one of
        the part of each; which these are
    clusters : OUT (K, n) partitions with 2, ..., K + 1 clusters; a cluster has the number of one of its objects
    """
    n, n_inner = parent.shape[0], 0
    for e in range(n - 1):
        degree[pairs[e, 0]] += 1
        degree[pairs[e, 1]] += 1
    for i in range(n - 1, -1, -1):
        v = order[i]
        top[v] = order[0]
        if degree[v] > 1:
            n_inner += 1
            sizes[v] += 1
        if i > 0:
            sizes[parent[v]] += sizes[v]
    is_top[order[0]] = True
    for made in range(clusters.shape[0]):
        bound, cut = max(least, int(share * n_inner / (made + 2))), -1
        for e in range(n - 2, -1, -1):
            v = below[e]
            if is_top[v] or degree[pairs[e, 0]] == 1 or degree[pairs[e, 1]] == 1:
                continue
            if sizes[v] >= bound and sizes[top[v]] - sizes[v] >= bound:
                cut = v
                break
        if cut < 0:
            return made
        u = parent[cut]
        while True:
            sizes[u] -= sizes[cut]
            if is_top[u]:
                break
            u = parent[u]
        is_top[cut] = True
        for i in range(n):
            v = order[i]
            top[v] = v if is_top[v] else top[parent[v]]
            clusters[made, v] = top[v]
    return clusters.shape[0]
