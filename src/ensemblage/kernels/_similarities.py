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
def sums_of_pair(codes: Any, offsets: Any, tables: Any) -> tuple[float, float]:
    """Weighted similarity of the labels of a row with those of the tables' row, and weight of what labels both."""
    joined, labelled = 0.0, 0.0
    for t in range(codes.shape[0]):
        pair = tables[offsets[t] + codes[t]]
        joined += pair[0]
        labelled += pair[1]
    return joined, labelled


@jit
def spanning_tree_of_similarities(
    codes: Any,  # IN (m, p) codes of the distinct rows
    offsets: Any,  # IN (p + 1,)
    weights: Any,  # IN (p,)
    similar: Any,  # IN flat similarities of labels, partition by partition (k_t, k_t); empty: 1 on the diagonal only
    starts: Any,  # IN (p,) where each partition's similarities begin
    rows: Any,  # WORK (m,) 0 … m - 1; the rows that are left come first
    tree_row: Any,  # WORK (m,) of each row left, the row of the tree that is most similar to it
    best: Any,  # WORK (m,) filled with -1; how similar
    progress: Any,  # WORK (2,) zeros; edges found, place of the row that comes into the tree next
    edges: Any,  # OUT (m - 1, 2) rows of each edge, the smaller first
    similarities: Any,  # OUT (m - 1,)
    budget: int,  # IN operations of this slice
) -> bool:
    """Prim's algorithm; ties as in `spanning_tree_of_counts`. Returns whether edges are left to find."""
    m, p = codes.shape
    tables = np.zeros((offsets[p], 2))
    e, place = progress[0], progress[1]
    while e < m - 1 and budget > 0:
        left = m - 1 - e
        budget -= offsets[p] + left * (2 + p)
        u = rows[place]
        rows[place], tree_row[place], best[place] = rows[left], tree_row[left], best[left]
        fill_row_tables(codes[u], offsets, weights, similar, starts, tables)
        top, first, second = -1.0, m, m
        for s in range(left):
            v = rows[s]
            joined, labelled = sums_of_pair(codes[v], offsets, tables)
            value = joined / labelled if labelled > 0 else 0.0
            if value > best[s] or (value == best[s] and u < tree_row[s]):
                best[s], tree_row[s] = value, u
            if best[s] >= top:
                a, b = min(v, tree_row[s]), max(v, tree_row[s])
                if best[s] > top or a < first or (a == first and b < second):
                    top, first, second, place = best[s], a, b, s
        edges[e, 0], edges[e, 1] = first, second
        similarities[e] = top
        e += 1
    progress[0], progress[1] = e, place
    return bool(e < m - 1)


@jit
def fill_similarities(
    codes: Any,  # IN (m, p) codes of the distinct rows
    first: int,  # IN rows first ≤ i < last
    last: int,
    offsets: Any,  # IN (p + 1,)
    weights: Any,  # IN (p,)
    similar: Any,  # IN as above
    starts: Any,  # IN (p,)
    threshold: float,  # IN similarities up to it become 0; negative: none does
    matrix: Any,  # OUT condensed, as in SciPy
) -> None:
    m, p = codes.shape
    tables = np.zeros((offsets[p], 2))
    for i in range(first, last):
        fill_row_tables(codes[i], offsets, weights, similar, starts, tables)
        base = i * (2 * m - i - 1) // 2 - i - 1
        for j in range(i + 1, m):
            joined, labelled = sums_of_pair(codes[j], offsets, tables)
            value = joined / labelled if labelled > 0 else 0.0
            matrix[base + j] = value if value > threshold else 0.0


@jit
def fill_sums(
    codes: Any,  # IN (m, p) codes of the distinct rows
    first: int,  # IN rows first ≤ i < last
    last: int,
    offsets: Any,  # IN (p + 1,)
    weights: Any,  # IN (p,)
    similar: Any,  # IN as above
    starts: Any,  # IN (p,)
    threshold: float,  # IN the sum of a pair that is no more similar becomes 0; negative: none does
    members: Any,  # IN (m,) float64, each sum is multiplied by those of both rows
    matrix: Any,  # OUT condensed, as in SciPy: weighted similarity of the labels of both rows
    known: Any,  # OUT condensed, weight of the partitions that label both; empty if nothing is missing
) -> None:
    m, p = codes.shape
    tables = np.zeros((offsets[p], 2))
    for i in range(first, last):
        fill_row_tables(codes[i], offsets, weights, similar, starts, tables)
        base = i * (2 * m - i - 1) // 2 - i - 1
        for j in range(i + 1, m):
            joined, labelled = sums_of_pair(codes[j], offsets, tables)
            if labelled == 0 or joined / labelled <= threshold:
                joined = 0.0
            matrix[base + j] = joined * (members[i] * members[j])
            if known.shape[0] > 0:
                known[base + j] = labelled * (members[i] * members[j])
