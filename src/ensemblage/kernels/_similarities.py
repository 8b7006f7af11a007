"""Similarities of rows with weights of the partitions or similarities of the labels: sums over tables of the labels."""

from typing import Any

import numpy as np

from ensemblage._jit import jit


@jit
def fill_row_tables(
    codes: Any,  # IN (p,) codes of a row
    offsets: Any,
    weights: Any,
    similar: Any,
    starts: Any,
    tables: Any,  # OUT (d, 2) weighted similarity of each label with the row's, and the weight if both are labelled
) -> None:
    for t in range(codes.shape[0]):
        begin, none = offsets[t], offsets[t + 1] - 1
        k, c = none - begin, np.int64(codes[t])
        for g in range(k + 1):
            tables[begin + g, 0] = 0
            tables[begin + g, 1] = weights[t] if c < k and g < k else 0.0
        if c == k:
            continue
        if similar.shape[0] == 0:
            tables[begin + c, 0] = weights[t]
        else:
            for g in range(k):
                tables[begin + g, 0] = weights[t] * similar[starts[t] + c * k + g]


@jit
def spanning_tree_of_similarities(
    codes: Any,  # IN (m, p) codes of the distinct rows
    offsets: Any,  # IN (p + 1,)
    weights: Any,  # IN (p,)
    similar: Any,  # IN as above
    starts: Any,  # IN (p,)
    edges: Any,  # OUT (m - 1, 2) rows of each edge, the smaller first
    similarities: Any,  # OUT (m - 1,)
) -> None:
    """Prim's algorithm; ties as in `spanning_tree_of_counts`."""
    m, p = codes.shape
    rows, tree_row, best = np.arange(m), np.zeros(m, np.int64), np.full(m, -1.0)
    tables = np.zeros((offsets[p], 2))
    place = 0
    for left in range(m - 1, 0, -1):
        u = rows[place]
        rows[place], tree_row[place], best[place] = rows[left], tree_row[left], best[left]
        fill_row_tables(codes[u], offsets, weights, similar, starts, tables)
        top, first, second = -1.0, m, m
        for s in range(left):
            v = rows[s]
            joined, labelled = 0.0, 0.0
            for t in range(p):
                pair = tables[offsets[t] + codes[v, t]]
                joined += pair[0]
                labelled += pair[1]
            value = joined / labelled if labelled > 0 else 0.0
            if value > best[s] or (value == best[s] and u < tree_row[s]):
                best[s], tree_row[s] = value, u
            if best[s] >= top:
                a, b = min(v, tree_row[s]), max(v, tree_row[s])
                if best[s] > top or a < first or (a == first and b < second):
                    top, first, second, place = best[s], a, b, s
        e = m - 1 - left
        edges[e, 0], edges[e, 1] = first, second
        similarities[e] = top


@jit
def fill_similarities(
    codes: Any,  # IN (m, p) codes of the distinct rows
    first: int,  # IN rows first ≤ i < last
    last: int,
    offsets: Any,  # IN (p + 1,)
    weights: Any,  # IN (p,)
    similar: Any,  # IN flat similarities of labels, partition by partition (k_t, k_t); empty: 1 on the diagonal only
    starts: Any,  # IN (p,) where each partition's similarities begin
    threshold: float,  # IN similarities up to it become 0; negative: none does
    members: Any,  # IN (m,) each similarity is multiplied by those of both rows
    matrix: Any,  # OUT condensed, as in SciPy
) -> None:
    m, p = codes.shape
    tables = np.zeros((offsets[p], 2))
    for i in range(first, last):
        fill_row_tables(codes[i], offsets, weights, similar, starts, tables)
        base = i * (2 * m - i - 1) // 2 - i - 1
        for j in range(i + 1, m):
            joined, labelled = 0.0, 0.0
            for t in range(p):
                pair = tables[offsets[t] + codes[j, t]]
                joined += pair[0]
                labelled += pair[1]
            value = joined / labelled if labelled > 0 else 0.0
            if value <= threshold:
                value = 0.0
            matrix[base + j] = value * members[i] * members[j]
