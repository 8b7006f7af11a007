"""Graphs of rows: strong edges and best paths of a co-association matrix, walks, cores, and moves between communities.

Robust minimax similarity (Chang & Yeung 2008; Zhong et al. 2019) is of best paths whose weakest edge is strongest. An
edge counts as similarity times the weights of its ends. Rows stand for objects with equal labels: they carry counts.
Similarities are the entries of a matrix, or numbers of ``values`` where these are not empty.
"""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, is_set, jit
from ensemblage.kernels._table_rows import add_weighted_rows


@inner_jit
def similarity_of(values: Any, entry: Any) -> float:
    """Similarity for which an entry of the matrix stands."""
    if values.shape[0] == 0:
        own: float = np.float64(entry)
        return own
    of_level: float = values[np.int64(entry)]
    return of_level


@jit
def association(matrix: Any, values: Any, i: int, j: int) -> float:
    """Similarity of rows i and j."""
    similarity: float = similarity_of(values, matrix[i, j])
    return similarity


FEW = 64
"""Neighbours that are kept in a list; more of them are found by sorting."""

CHUNK = 64
"""Similarities whose largest is found first."""


@inner_jit
def small_sum(similarities: Any, values: Any, counts: Any, largest: Any) -> float:
    """Sum of the largest similarities of objects.

    similarities : IN (q,) of each row; their numbers, if values is not empty
    values : IN ascending
    counts : IN (q,) objects of each row
    largest : WORK (l,)
    """
    n, q = largest.shape[0], similarities.shape[0]
    largest[:] = 0
    for start in range(0, q, CHUNK):
        stop = min(q, start + CHUNK)
        # The compiler makes vectors of it, and few chunks have anything larger than what was found before.
        most = similarities[start]
        for b in range(start, stop):
            most = max(most, similarities[b])
        if similarity_of(values, most) <= largest[0]:
            continue
        for b in range(start, stop):
            value, n_others = similarity_of(values, similarities[b]), counts[b]
            while n_others > 0 and value > largest[0]:
                # Insert into the ascending list, drop its least.
                s = 0
                while s + 1 < n and largest[s + 1] < value:
                    largest[s] = largest[s + 1]
                    s += 1
                largest[s] = value
                n_others -= 1
    total: float = largest.sum()
    return total


@inner_jit
def large_sum(similarities: Any, values: Any, counts: Any, n_neighbors: int) -> float:
    """As `small_sum`, in a time that does not grow with the number of objects."""
    of_rows = np.empty(similarities.shape[0])
    for b in range(of_rows.shape[0]):
        of_rows[b] = similarity_of(values, similarities[b])
    order = np.argsort(of_rows)
    total, n_left = 0.0, n_neighbors
    for s in range(order.shape[0] - 1, -1, -1):
        n = min(n_left, counts[order[s]])
        total += n * of_rows[order[s]]
        n_left -= n
    return total


@jit
def point_weights(
    matrix: Any, values: Any, counts: Any, members: Any, n_neighbors: int, weights: Any, stop_flag: Any
) -> None:
    """matrix : IN (m, m)
    values : IN
    counts : IN (m,) objects of each row
    members : IN (q,) ascending rows to look at, no others are neighbours
    n_neighbors : IN
    weights : OUT (q,) sum of an object's largest similarities to other objects
    stop_flag : IN (1,)
    """
    q = members.shape[0]
    few = n_neighbors <= FEW
    largest = np.empty(n_neighbors if few else 0)
    some, others = np.empty(q, matrix.dtype), counts[members]
    for a in range(q):
        if is_set(stop_flag):
            return
        similarities = matrix[members[a]]
        if q < matrix.shape[0]:
            for b in range(q):
                some[b] = similarities[members[b]]
            similarities = some
        others[a] -= 1  # not of itself
        weights[a] = (
            small_sum(similarities, values, others, largest)
            if few
            else large_sum(similarities, values, others, n_neighbors)
        )
        others[a] += 1


@jit
def weakest_link(matrix: Any, values: Any, members: Any, weights: Any, best: Any, left: Any, stop_flag: Any) -> float:
    """The weakest edge of the maximum spanning tree of two rows or more (Prim).

    matrix : IN (m, m)
    values : IN
    members : IN (q,) rows of a cluster
    weights : IN (q,) their weights within it
    best : WORK (q,) -1; strongest edge of each to the tree
    left : WORK (q,) True; whether it is not in the tree
    stop_flag : IN (1,)
    """
    q = members.shape[0]
    a, weakest = 0, np.inf
    for _ in range(q - 1):
        if is_set(stop_flag):
            break
        left[a] = False
        nearest = -1
        for b in range(q):
            if left[b]:
                value = association(matrix, values, members[a], members[b])
                best[b] = max(best[b], value * weights[a] * weights[b])
                if nearest < 0 or best[b] > best[nearest]:
                    nearest = b
        weakest = min(weakest, best[nearest])
        a = nearest
    return weakest


@jit
def strongest_bridges(matrix: Any, values: Any, clusters: Any, weights: Any, bridges: Any, stop_flag: Any) -> None:
    """matrix : IN (m, m)
    values : IN
    clusters : IN (m,) 0 … k - 1, negative = left out
    weights : IN (m,)
    bridges : IN/OUT (k,) strongest edge that leaves each cluster, 0 before
    stop_flag : IN (1,)
    """
    for i in range(clusters.shape[0]):
        if is_set(stop_flag):
            return
        c = clusters[i]
        if c < 0:
            continue
        strongest = 0.0
        for j in range(clusters.shape[0]):
            if clusters[j] != c and clusters[j] >= 0:
                strongest = max(strongest, association(matrix, values, i, j) * weights[i] * weights[j])
        bridges[c] = max(bridges[c], strongest)


@jit
def walk_in_place(indptr: Any, indices: Any, data: Any, scale: Any, offset: Any, number: Any) -> int:
    """Scale rows and columns and add to the diagonal, whose entries must all be there. Returns the entries kept.

    indptr : IN/OUT (m + 1,) where each row begins; afterwards the first r + 1 for the r rows kept
    indices : IN/OUT columns; afterwards those of the rows kept
    data : IN/OUT similarities; afterwards scaled, with the offset on the diagonal
    scale : IN (m,) float64
    offset : IN (m,) float64, added to the diagonal
    number : IN (m,) new number of each row, ascending; -1 = left out (nothing but its diagonal entry)
    """
    kept, row, start = 0, 0, indptr[0]
    for i in range(number.shape[0]):
        stop = indptr[i + 1]
        if number[i] >= 0:
            for s in range(start, stop):
                j = indices[s]
                value = scale[i] * data[s] * scale[j]
                if j == i:
                    value += offset[i]
                data[kept], indices[kept] = value, number[j]
                kept += 1
            row += 1
            indptr[row] = kept
        start = stop
    return kept


@jit
def mark_diagonal(indptr: Any, indices: Any, present: Any) -> None:
    """indptr : IN (m + 1,)
    indices : IN
    present : OUT (m,) bool, rows that have an entry on the diagonal
    """
    for i in range(present.shape[0]):
        present[i] = False
        for s in range(indptr[i], indptr[i + 1]):
            present[i] |= indices[s] == i


@jit
def count_entries(matrix: Any, tables: Any, stop_flag: Any) -> None:
    """matrix : IN (m, m) levels
    tables : IN/OUT (4, levels or more) int64, whose sum is the number of entries with each level
    stop_flag : IN (1,)
    """
    m = matrix.shape[0]
    for i in range(m):
        if is_set(stop_flag):
            return
        row = matrix[i]
        # Four tables: an entry need not wait for the one before, which often has the same level.
        for j in range(0, m - 3, 4):
            tables[0, row[j]] += 1
            tables[1, row[j + 1]] += 1
            tables[2, row[j + 2]] += 1
            tables[3, row[j + 3]] += 1
        for j in range(m - m % 4, m):
            tables[0, row[j]] += 1


@jit
def count_strong(matrix: Any, most: Any, degrees: Any, stop_flag: Any) -> None:
    """matrix : IN (m, m) levels or associations
    most : IN of the matrix's type; entries up to it are no edges, but the diagonal always is one
    degrees : OUT (m,) entries of each row
    stop_flag : IN (1,)
    """
    m = matrix.shape[0]
    for i in range(m):
        if is_set(stop_flag):
            return
        row, n_strong = matrix[i], np.int32(matrix[i, i] <= most)
        for j in range(m):
            n_strong = np.int32(n_strong + np.int32(row[j] > most))
        degrees[i] = n_strong


@jit
def fill_strong(matrix: Any, values: Any, most: Any, indices: Any, data: Any, stop_flag: Any) -> None:
    """matrix : IN (m, m) levels, or associations if values is empty
    values : IN association of each level
    most : IN as in count_strong
    indices : OUT columns, ascending in each row; there is room for one more than there are
    data : OUT float64 associations
    stop_flag : IN (1,)
    """
    m, n_found = matrix.shape[0], np.uint64(0)
    for i in range(m):
        if is_set(stop_flag):
            return
        row, start = matrix[i], n_found
        # No branch, which would be mispredicted: a column that is no edge is overwritten by the next. An index without
        # a sign needs no test for negative ones.
        for j in range(m):
            indices[n_found] = j
            n_found += np.uint64((row[j] > most) | (j == i))
        for s in range(start, n_found):
            data[s] = similarity_of(values, row[np.uint64(indices[s])])


@jit
def walk(indptr: Any, neighbours: Any, weights: Any, after: Any, zeros: Any, points: Any, walked: Any) -> None:
    """diag(after) times a sparse matrix times a matrix; the sums go in the order of the entries.

    indptr, neighbours, weights : IN the sparse matrix, (m, m) in CSR; neighbours are uint32
    after : IN (m,)
    zeros : IN (r,) uint64 zeros, as many as a row has entries at most
    points : IN (m, b) in C order, b a multiple of ``LANES``
    walked : OUT (m, b) in C order
    """
    table = points.ravel()
    for i in range(walked.shape[0]):
        entries, n = slice(indptr[i], indptr[i + 1]), indptr[i + 1] - indptr[i]
        add_weighted_rows(table, neighbours[entries].reshape(1, n), 0, zeros[:n], walked[i], weights[entries])
        for c in range(points.shape[1]):
            walked[i, c] *= after[i]


@jit
def count_joined_ends(
    indptr: Any, indices: Any, start: int, codes: Any, missing: Any, weights: Any, joined: Any, both: Any
) -> None:
    """Weight of the partitions that join the two nodes of each entry of a matrix, and of those that label both.

    indptr : IN (r + 1,) where each of r rows begins, of which the first is row ``start``
    indices : IN (nnz,) columns of all rows
    codes : IN (n, p) whole numbers
    missing : IN (p,) of the same type, what stands for no label
    weights : IN (p,) float64; sums of ones are whole, and those of others go in the order of the partitions
    joined, both : OUT (nnz,) float64; entries of these rows alone are written
    """
    p = codes.shape[1]
    for i in range(indptr.shape[0] - 1):
        row = codes[start + i]
        for s in range(indptr[i], indptr[i + 1]):
            other = codes[indices[s]]
            n_joined, n_both = 0.0, 0.0
            for j in range(p):
                labelled = (row[j] != missing[j]) & (other[j] != missing[j])
                n_joined += weights[j] * (labelled & (row[j] == other[j]))
                n_both += weights[j] * labelled
            joined[s], both[s] = n_joined, n_both


@jit
def peel(indptr: Any, indices: Any, least: int, degrees: Any, stack: Any) -> None:
    """Take out nodes with fewer than ``least`` neighbours until none is left: the others are the core.

    indptr, indices : IN a symmetric matrix without diagonal
    degrees : IN/OUT (n,) int64 neighbours of each node; afterwards those in the core, -1 of a node outside it
    stack : WORK (n,) int64
    """
    n_stacked = 0
    for i in range(degrees.shape[0]):
        if degrees[i] < least:
            degrees[i] = -1
            stack[n_stacked] = i
            n_stacked += 1
    while n_stacked > 0:
        n_stacked -= 1
        i = stack[n_stacked]
        for s in range(indptr[i], indptr[i + 1]):
            j = indices[s]
            if degrees[j] >= 0:
                degrees[j] -= 1
                if degrees[j] < least:
                    degrees[j] = -1
                    stack[n_stacked] = j
                    n_stacked += 1


@jit
def move_nodes(
    graph: Any, sizes: Any, gamma: float, order: Any, labels: Any, totals: Any, work: Any, stop_flag: Any
) -> None:
    """Move nodes between communities until no move gains anything.

    A node i gains w(i, c) - gamma * size(i) * size(c) in community c: w(i, c) is the weight of its edges into c, and
    neither counts i itself. It stays where that is as good as anywhere else, up to rounding; ties among others go to
    the first in an order of its own, by ``order[i]``. A node is looked at again when one of its neighbours has moved.

    graph : IN (indptr, indices, data) of a symmetric matrix; entries on the diagonal are passed over
    sizes : IN (n,) float64
    order : IN (n,) int64, a permutation: the nodes as they are visited
    labels : IN/OUT (n,) int64, community of each node, from 0 to n - 1
    totals : IN/OUT (n,) float64, sum of the sizes of each community
    work : WORK (float64 (n,) zero, int64 (n,), bool (n,) all True: nodes to look at)
    stop_flag : IN (1,)
    """
    indptr, indices, data = graph
    weight_to, near, active = work
    n, moves = order.shape[0], 1
    while moves > 0:
        moves = 0
        for place in range(n):
            i = order[place]
            if not active[i]:
                continue
            if is_set(stop_flag):
                return
            active[i] = False
            own, n_near, degree = labels[i], 0, 0.0
            for s in range(indptr[i], indptr[i + 1]):
                j = indices[s]
                if j != i and data[s] > 0:
                    c = labels[j]
                    if weight_to[c] == 0:
                        near[n_near] = c
                        n_near += 1
                    weight_to[c] += data[s]
                    degree += data[s]
            totals[own] -= sizes[i]
            stay = weight_to[own] - gamma * sizes[i] * totals[own]
            best, gain, best_rank = own, stay + 1e-12 * degree, n
            for t in range(n_near):
                c = near[t]
                here, rank = weight_to[c] - gamma * sizes[i] * totals[c], (c + order[i]) % n
                weight_to[c] = 0.0
                if here > gain or (here == gain and best != own and rank < best_rank):
                    best, gain, best_rank = c, here, rank
            totals[best] += sizes[i]
            if best != own:
                labels[i] = best
                moves += 1
                for s in range(indptr[i], indptr[i + 1]):
                    if labels[indices[s]] != best:
                        active[indices[s]] = True
