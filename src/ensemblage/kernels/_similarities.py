"""Similarities of rows with weights of the partitions or similarities of the labels: sums over tables of the labels."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit


@inner_jit
def fill_row_tables(codes: Any, compared: Any, tables: Any) -> None:
    """codes : IN (p,) codes of a row
    compared : IN Compared
    tables : OUT (d, 2) weighted similarity of each label with the row's, and the weight if both are labelled
    """
    offsets, weights, joins, similar, starts, _ = compared
    for t in range(codes.shape[0]):
        begin, none = offsets[t], offsets[t + 1] - 1
        k, c = none - begin, np.int64(codes[t])
        for g in range(k + 1):
            tables[begin + g, 0] = 0
            tables[begin + g, 1] = weights[t] if c < k and g < k else 0.0
        if c == k:
            continue
        if similar.shape[0] == 0:
            tables[begin + c, 0] = joins[begin + c]
        else:
            for g in range(k):
                tables[begin + g, 0] = weights[t] * similar[starts[t] + c * k + g]


@inner_jit
def sums_of_pair(codes: Any, offsets: Any, tables: Any) -> tuple[float, float, float]:
    """Weighted similarity of the labels of a row with those of the tables' row, weight of what labels both; ratio."""
    joined, labelled = 0.0, 0.0
    for t in range(codes.shape[0]):
        pair = tables[offsets[t] + codes[t]]
        joined += pair[0]
        labelled += pair[1]
    return joined, labelled, joined / labelled if labelled > 0 else 0.0


@jit
def spanning_tree_of_similarities(
    codes: Any,
    compared: Any,
    rows: Any,
    tree_row: Any,
    best: Any,
    progress: Any,
    edges: Any,
    similarities: Any,
    budget: int,
) -> bool:
    """Prim's algorithm; ties as in `spanning_tree_of_counts`. Returns whether edges are left to find.

    codes : IN (m, p) codes of the distinct rows
    compared : IN Compared, as a plain tuple
    rows : WORK (m,) 0 … m - 1; the rows that are left come first
    tree_row : WORK (m,) of each row left, the row of the tree that is most similar to it
    best : WORK (m,) filled with -1; how similar
    progress : WORK (2,) zeros; edges found, place of the row that comes into the tree next
    edges : OUT (m - 1, 2) rows of each edge, the smaller first
    similarities : OUT (m - 1,)
    budget : IN operations of this slice
    """
    (m, p), offsets = codes.shape, compared[0]
    tables = np.zeros((offsets[p], 2))
    e, place = progress[0], progress[1]
    while e < m - 1 and budget > 0:
        left = m - 1 - e
        budget -= offsets[p] + left * (2 + p)
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
        e += 1
    progress[0], progress[1] = e, place
    return bool(e < m - 1)


@jit
def fill_similarities(
    codes: Any, compared: Any, first: int, last: int, threshold: float, members: Any, matrix: Any, known: Any
) -> None:
    """codes : IN (m, p) codes of the distinct rows
    compared : IN Compared, as a plain tuple
    first : IN rows first ≤ i < last
    threshold : IN a pair that is no more similar gets 0; negative: none does
    members : IN (m,) float64, sums are multiplied by those of both rows; empty: ratios of the sums are meant
    matrix : OUT condensed, as in SciPy: weighted similarity of the labels of both rows, or similarity
    known : OUT condensed, weight of the partitions that label both; empty: not wanted
    """
    (m, p), offsets = codes.shape, compared[0]
    tables = np.zeros((offsets[p], 2))
    for i in range(first, last):
        fill_row_tables(codes[i], compared, tables)
        base = i * (2 * m - i - 1) // 2 - i - 1
        for j in range(i + 1, m):
            joined, labelled, similarity = sums_of_pair(codes[j], offsets, tables)
            value, pairs = similarity, 1.0
            if members.shape[0] > 0:
                value, pairs = joined, members[i] * members[j]
            matrix[base + j] = value * pairs if similarity > threshold else 0.0
            if known.shape[0] > 0:
                known[base + j] = labelled * pairs
