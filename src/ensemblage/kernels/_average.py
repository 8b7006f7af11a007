"""Average linkage of label rows by the nearest-neighbour chain on cluster profiles: no pair matrix.

The mean similarity of two clusters is (Σ_f α_f β_f) / (Σ_f α_f λ_f) over the labels f: α counts the labels of one,
β and λ are tables of the other. For co-association β_f = w_t α'_f in partition t (Candel Eqs. 4, 5 and 14); with a
similarity Z of labels β_f = w_t Σ_g Z_fg α'_g. λ_f = w_t times the members of the other that t labels. Without missing
labels the denominator is Σ w |C| |C'|, and a candidate is left as soon as what is left of its sum cannot help it.

The mean similarity to a union lies between those to its parts. So the similarity of a cluster to its nearest one, once
found, bounds what it can have to any later one, and the nearest one stays the nearest as long as it is not merged.
Chains start where that bound is largest, and a search passes over all clusters whose bound is below what it has found.
"""

from typing import Any

import numpy as np

from ensemblage._jit import jit

SLACK = 1e-9
"""Relative rounding error allowed for when a sum is bounded."""


@jit
def fill_tables(
    labels: Any,  # IN labels of the cluster, ascending
    counts: Any,  # IN members with each label
    size: float,  # IN objects of the cluster
    offsets: Any,  # IN (p + 1,)
    weights: Any,  # IN (p,)
    similar: Any,  # IN flat similarities of labels, partition by partition (k_t, k_t); empty: 1 on the diagonal only
    starts: Any,  # IN (p,) where each partition's similarities begin
    beta: Any,  # OUT (d,)
    lam: Any,  # OUT (d,) 0 for missing
    rest: Any,  # OUT (d,) the most that a member's labels from this one's partition on can add
) -> None:
    p = weights.shape[0]
    beta[:] = 0
    e = 0
    for t in range(p):
        first, none = offsets[t], offsets[t + 1] - 1
        k = none - first
        members = size
        while e < labels.shape[0] and labels[e] <= none:
            f = labels[e]
            if f == none:
                members -= counts[e]
            elif similar.shape[0] == 0:
                beta[f] = weights[t] * counts[e]
            else:
                row = similar[starts[t] + (f - first) * k : starts[t] + (f - first + 1) * k]
                for g in range(k):
                    beta[first + g] += weights[t] * counts[e] * row[g]
            e += 1
        lam[first:none] = weights[t] * members
        lam[none] = 0
    left = 0.0
    for t in range(p - 1, -1, -1):
        most = 0.0
        for f in range(offsets[t], offsets[t + 1]):
            most = max(most, beta[f])
        left += most
        rest[offsets[t] : offsets[t + 1]] = left


@jit
def count_equal(
    columns: Any,  # IN (p, m) codes of single rows
    codes: Any,  # IN (p,) codes of a row
    start: int,
    stop: int,
    joined: Any,  # OUT (stop - start,) unsigned
) -> None:
    joined[:] = 0
    for t in range(columns.shape[0]):
        z, c = columns[t, start:stop], codes[t]
        for j in range(stop - start):
            joined[j] += z[j] == c


@jit
def nearest_single(
    codes: Any,  # IN (m, p) codes of the rows that are still alone, in any order
    left: int,  # IN how many are left
    rows: Any,  # IN (m,) row of each
    bound: Any,  # IN (m,) the most that the similarity of a cluster to another can be
    offsets: Any,
    total: float,  # IN Σ w · size of the cluster; 0: something is missing
    beta: Any,
    lam: Any,
    rest: Any,
    found: Any,  # IN/OUT (1,) best similarity so far
    nearest: int,  # IN best cluster so far
    itself: int,
    chained: Any,  # IN (m,) whether a row is on the chain
    before: int,  # IN the one row of the chain that may be found
) -> int:
    p = codes.shape[1]
    best = found[0]
    least = best * total * (1 - SLACK)
    for j in range(left):
        if bound[rows[j]] < best * (1 - SLACK):
            continue
        joined, labelled = 0.0, 0.0
        row = codes[j]
        if total > 0:
            t = 0
            hopeless = False
            while t < p:
                if joined + rest[offsets[t]] < least:
                    hopeless = True
                    break
                for s in range(t, min(t + 4, p)):
                    joined += beta[offsets[s] + row[s]]
                t += 4
            if hopeless:
                continue
            similarity = joined / total
        else:
            for t in range(p):
                f = offsets[t] + row[t]
                joined += beta[f]
                labelled += lam[f]
            similarity = joined / labelled if labelled > 0 else 0.0
        other = rows[j]
        if (
            (similarity > best or (similarity == best and other < nearest))
            and other != itself
            and (not chained[other] or other == before)
        ):
            best, nearest = similarity, other
            least = best * total * (1 - SLACK)
    found[0] = best
    return nearest


@jit
def nearest_equal(
    columns: Any,  # IN (p, m) codes of the rows that are still alone, in any order
    left: int,
    rows: Any,
    row: int,  # IN the row itself, alone too
    codes: Any,  # IN (p,) its codes
    joined: Any,  # WORK (block,) unsigned
    found: Any,
    nearest: int,
    chained: Any,
    before: int,
) -> int:
    """`nearest_single` for a single row when every weight is 1, similarity is equality and nothing is missing."""
    p, width = columns.shape[0], joined.shape[0]
    best = found[0]
    for start in range(0, left, width):
        stop = min(start + width, left)
        counter = joined[: stop - start]
        count_equal(columns, codes, start, stop, counter)
        least = np.int64(np.ceil(best * p * (1 - SLACK)))
        for j in range(stop - start):
            if counter[j] >= least:
                similarity, other = counter[j] / p, rows[start + j]
                if (
                    (similarity > best or (similarity == best and other < nearest))
                    and other != row
                    and (not chained[other] or other == before)
                ):
                    best, nearest = similarity, other
                    least = np.int64(counter[j])
    found[0] = best
    return nearest


@jit
def nearest_cluster(
    labels: Any,  # IN flat, labels of the clusters of several rows
    counts: Any,  # IN flat, members with each label
    begin: Any,  # IN (m,) where the labels of a cluster begin
    length: Any,  # IN (m,) how many there are
    sizes: Any,  # IN (m,) objects
    clusters: Any,  # IN the clusters of several rows, in any order
    left: int,  # IN how many there are
    bound: Any,
    total: float,
    beta: Any,
    lam: Any,
    rest: Any,
    found: Any,
    nearest: int,
    itself: int,
    chained: Any,
    before: int,
) -> int:
    best = found[0]
    least = best * total * (1 - SLACK)
    for j in range(left - 1, -1, -1):
        c = clusters[j]
        if bound[c] < best * (1 - SLACK):
            continue
        joined, labelled, e, stop = 0.0, 0.0, begin[c], begin[c] + length[c]
        if total > 0:
            size = sizes[c]
            hopeless = False
            while e < stop:
                if joined + size * rest[labels[e]] < least * size:
                    hopeless = True
                    break
                for g in range(e, min(e + 8, stop)):
                    joined += counts[g] * beta[labels[g]]
                e += 8
            if hopeless:
                continue
            similarity = joined / (total * size)
        else:
            for g in range(e, stop):
                joined += counts[g] * beta[labels[g]]
                labelled += counts[g] * lam[labels[g]]
            similarity = joined / labelled if labelled > 0 else 0.0
        if (
            (similarity > best or (similarity == best and c < nearest))
            and c != itself
            and (not chained[c] or c == before)
        ):
            best, nearest = similarity, c
            least = best * total * (1 - SLACK)
    found[0] = best
    return nearest


@jit
def merged_labels(
    labels: Any,  # IN/OUT flat
    counts: Any,  # IN/OUT flat
    first: int,  # IN where the labels of one cluster begin
    n_first: int,
    second: int,  # IN where those of the other begin
    n_second: int,
    out: int,  # IN where those of both shall begin
) -> int:
    """Returns how many labels both have."""
    a, b, end_a, end_b, e = first, second, first + n_first, second + n_second, out
    while a < end_a or b < end_b:
        if b == end_b or (a < end_a and labels[a] < labels[b]):
            labels[e], counts[e] = labels[a], counts[a]
            a += 1
        elif a == end_a or labels[b] < labels[a]:
            labels[e], counts[e] = labels[b], counts[b]
            b += 1
        else:
            labels[e], counts[e] = labels[a], counts[a] + counts[b]
            a += 1
            b += 1
        e += 1
    return e - out


@jit
def most_promising(bound: Any, rows: Any, n_alone: int, clusters: Any, n_clusters: int) -> int:
    """The cluster that may be most similar to another."""
    best, chosen = -1.0, -1
    for j in range(n_alone):
        if bound[rows[j]] > best:
            best, chosen = bound[rows[j]], rows[j]
    for j in range(n_clusters):
        if bound[clusters[j]] > best:
            best, chosen = bound[clusters[j]], clusters[j]
    return chosen


@jit
def move_together(
    labels: Any,  # IN/OUT flat
    counts: Any,  # IN/OUT flat
    begin: Any,  # IN/OUT
    length: Any,  # IN
    clusters: Any,  # IN
    n_clusters: int,
) -> int:
    """Close the gaps between the labels of the clusters; returns where they end."""
    order = np.argsort(begin[clusters[:n_clusters]])
    end = 0
    for i in order:
        c = clusters[i]
        for e in range(length[c]):
            labels[end + e] = labels[begin[c] + e]
            counts[end + e] = counts[begin[c] + e]
        begin[c] = end
        end += length[c]
    return end


@jit
def nearest_to(
    top: int,  # IN a cluster
    before: int,  # IN the one cluster of the chain that may be found
    codes: Any,
    columns: Any,
    sizes: Any,
    offsets: Any,
    weights: Any,
    similar: Any,
    starts: Any,
    complete: bool,
    labels: Any,
    counts: Any,
    begin: Any,
    length: Any,
    rows: Any,
    clusters: Any,
    place: Any,
    alone: Any,
    used: Any,  # IN (3,) rows alone, clusters, end of the labels
    bound: Any,
    chained: Any,
    tables: Any,  # WORK (3, d)
    joined: Any,  # WORK
    found: Any,  # IN/OUT (1,) similarity to `before`; to the nearest
) -> int:
    p = codes.shape[1]
    beta, lam, rest = tables[0], tables[1], tables[2]
    near = before if before >= 0 else sizes.shape[0]
    total = weights.sum() * sizes[top] if complete else 0.0
    own = codes[place[top]].copy() if alone[top] else codes[0]
    if alone[top]:
        own_labels, own_counts = np.empty(p, labels.dtype), np.full(p, sizes[top], counts.dtype)
        for t in range(p):
            own_labels[t] = offsets[t] + own[t]
        fill_tables(own_labels, own_counts, sizes[top], offsets, weights, similar, starts, beta, lam, rest)
    else:
        a, b = begin[top], begin[top] + length[top]
        fill_tables(labels[a:b], counts[a:b], sizes[top], offsets, weights, similar, starts, beta, lam, rest)
    near = nearest_cluster(
        labels, counts, begin, length, sizes, clusters, used[1], bound, total, beta, lam, rest, found, near, top,
        chained, before,
    )  # fmt: skip
    if alone[top] and columns.shape[0] > 0:
        return nearest_equal(columns, used[0], rows, top, own, joined, found, near, chained, before)
    return nearest_single(
        codes, used[0], rows, bound, offsets, total, beta, lam, rest, found, near, top, chained, before
    )


@jit
def take_out(
    c: int,  # IN a cluster that is about to be merged
    codes: Any,
    columns: Any,
    sizes: Any,
    offsets: Any,
    labels: Any,
    counts: Any,
    begin: Any,
    length: Any,
    rows: Any,
    clusters: Any,
    place: Any,
    alone: Any,
    used: Any,  # IN/OUT
) -> None:
    """Take it off its list; a row alone gets counts of its labels."""
    at = place[c]
    if not alone[c]:
        used[1] -= 1
        last = clusters[used[1]]
        clusters[at], place[last] = last, at
        return
    begin[c], length[c] = used[2], offsets.shape[0] - 1
    for t in range(length[c]):
        labels[used[2] + t], counts[used[2] + t] = offsets[t] + codes[at, t], sizes[c]
    used[2] += length[c]
    used[0] -= 1
    last = rows[used[0]]
    rows[at], place[last] = last, at
    codes[at] = codes[used[0]]
    for t in range(columns.shape[0]):
        columns[t, at] = columns[t, used[0]]


@jit
def average_chain(
    codes: Any,  # WORK (m, p) codes of the distinct rows
    columns: Any,  # WORK (p, m) the same; empty if rows may not be compared by equality of codes
    sizes: Any,  # WORK (m,) float64, objects with each row
    offsets: Any,  # IN (p + 1,) int64
    weights: Any,  # IN (p,) float64
    similar: Any,  # IN flat similarities of labels, or empty
    starts: Any,  # IN (p,)
    complete: bool,  # IN whether nothing is missing
    labels: Any,  # WORK integers to d, 2 m p + 8 p entries
    counts: Any,  # WORK floats that are exact to the number of objects, as many
    joined: Any,  # WORK (block,) unsigned
    pairs: Any,  # OUT (m - 1, 2) first rows of the two clusters of each merge, the smaller first
    similarities: Any,  # OUT (m - 1,)
) -> None:
    """Merges in the order of the chain. Ties: the smallest pair of first rows."""
    m, p = codes.shape
    tables, found = np.zeros((3, offsets[p])), np.empty(1)
    rows = np.arange(m)  # the rows that are still alone
    clusters = np.empty(m, np.int64)  # the clusters of several rows, by their first row
    place = np.arange(m)  # of a cluster in the one list or in the other
    used = np.array([m, 0, 0])
    alone, dead = np.ones(m, np.bool_), np.zeros(m, np.bool_)
    begin, length = np.zeros(m, np.int64), np.zeros(m, np.int64)
    bound, partner = np.full(m, np.inf), np.full(m, -1)
    born, searched = np.zeros(m, np.int64), np.zeros(m, np.int64)
    chain, links, chained = np.empty(m, np.int64), np.empty(m), np.zeros(m, np.bool_)
    n_chain, n_merges, first_searches = 0, 0, 0
    while n_merges < m - 1:
        # First every row finds its nearest one; then the most promising cluster starts a chain.
        if first_searches < m:
            top = first_searches
            first_searches += 1
        else:
            if n_chain == 0:
                chain[0], n_chain = most_promising(bound, rows, used[0], clusters, used[1]), 1
                chained[chain[0]] = True
            top = chain[n_chain - 1]
        before, link = (chain[n_chain - 2], links[n_chain - 2]) if n_chain > 1 else (-1, -1.0)
        near = partner[top]
        if near < 0 or dead[near] or born[near] > searched[top]:
            found[0] = link
            near = nearest_to(
                top, before, codes, columns, sizes, offsets, weights, similar, starts, complete, labels, counts, begin,
                length, rows, clusters, place, alone, used, bound, chained, tables, joined, found,
            )  # fmt: skip
            bound[top], partner[top], searched[top] = found[0], near, n_merges
        if n_chain == 0:
            continue
        # With rounded sums two clusters may not see each other alike: a chain never turns back.
        if near != before and not chained[near]:
            links[n_chain - 1], chain[n_chain] = bound[top], near
            chained[near] = True
            n_chain += 1
            continue
        n_chain -= 2
        chained[top], chained[before] = False, False
        first, second = min(top, before), max(top, before)
        pairs[n_merges, 0], pairs[n_merges, 1] = first, second
        similarities[n_merges] = link
        n_merges += 1
        if used[2] + 4 * p + length[first] + length[second] > labels.shape[0]:
            used[2] = move_together(labels, counts, begin, length, clusters, used[1])
        for c in (first, second):
            take_out(
                c, codes, columns, sizes, offsets, labels, counts, begin, length, rows, clusters, place, alone, used
            )
        n_both = merged_labels(labels, counts, begin[first], length[first], begin[second], length[second], used[2])
        begin[first], length[first] = used[2], n_both
        used[2] += n_both
        sizes[first] += sizes[second]
        alone[first], alone[second], dead[second] = False, False, True
        clusters[used[1]], place[first] = first, used[1]
        used[1] += 1
        bound[first], partner[first], born[first] = link, -1, n_merges
