"""Which partitions join a row with members of its own cluster, and which with those of another; without the row."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import inner_jit, jit
from ensemblage.kernels._table_rows import add_weighted_rows
from ensemblage.kernels._vectors import LANES

ROUNDING = 1e-12
"""Share of the triples that are decided by rounding alone; shares that differ by no more are equal.

A share is a difference of sums over a sum: its rounding error is relative to 1, not to the share, which may be 0.
"""


@jit
def associations_of_rows(
    codes: Any, clusters: Any, profile: Any, labelled: Any, offsets: Any, lift: Any, association: Any, pairs: Any
) -> None:
    """codes : IN (m, p)
    clusters : IN (m,) cluster of each row, negative = none
    profile : IN (offsets[p], k) float64 label counts, the clusters side by side
    labelled : IN (p, k) float64, members that each partition labels
    offsets : IN (p + 1,) int64
    lift : IN (p,) float64
    association : OUT (m, k) float64, share by lift of the members of a cluster that have the row's label; 0 where no
        partition labels both, -1 if no partition labels the row
    pairs : WORK (k,) float64
    """
    k = profile.shape[1]
    for i in range(codes.shape[0]):
        joined, own = association[i], clusters[i]
        joined[:] = 0.0
        pairs[:] = 0.0
        own_joined, own_pairs, seen = 0.0, 0.0, False
        for t in range(codes.shape[1]):
            f = offsets[t] + codes[i, t]
            if f < offsets[t + 1] - 1:
                seen = True
                u = lift[t]
                for c in range(k):
                    joined[c] += u * profile[f, c]
                    pairs[c] += u * labelled[t, c]
                if own >= 0:
                    own_joined += u * (profile[f, own] - 1.0)
                    own_pairs += u * (labelled[t, own] - 1.0)
        if own >= 0:
            joined[own] = own_joined
            pairs[own] = own_pairs
        for c in range(k):
            if not seen:
                joined[c] = -1.0
            elif pairs[c] > 0:
                joined[c] /= pairs[c]
            else:
                joined[c] = 0.0


@inner_jit
def whole_lines(table: Any) -> Any:
    """The table, (d, k), flat, with columns of zeros up to a multiple of LANES."""
    d, k = table.shape
    width = -(-k // LANES) * LANES
    lines = np.zeros(d * width)
    for f in range(d):
        for c in range(k):
            lines[f * width + c] = table[f, c]
    return lines


@jit
def least_sure_cluster(
    codes: Any, clusters: Any, profile: Any, labelled: Any, sizes: Any, offsets: Any, weights: Any, lift: Any,
    itself: float, complete: bool, found: Any,
) -> None:  # fmt: skip
    """The least confidence of each row, for / (for + against), over the other clusters.

    for = Σ u α (ν − β), against = Σ u (ν_own − α) β: α are the members of the own cluster that have the row's label, β
    those of the other one, ν those that are labelled.

    codes : IN (m, p)
    clusters : IN (m,) cluster of each row, negative = none
    profile : IN (offsets[p], k) float64 label counts, the clusters side by side
    labelled : IN (p, k) float64, members that each partition labels
    sizes : IN (k,) int64 members of each cluster
    offsets : IN (p + 1,) int64
    weights, lift : IN (p,) float64
    itself : IN 1.0 if the rows are among those counted, else 0.0
    complete : IN whether every partition labels all members
    found : OUT ((m,) float64 confidence, of a row alone in its cluster the largest association, Σ u β / Σ u ν; NaN in
        none, or if no partition labels the row; (m,) int32 the other cluster, of equally sure ones that which shares
        most labels with both, then the first; -1 where there is none; (m,) float64 mean co-association with the own
        cluster, NaN in none)
    """
    confidence, runner_up, cohesion = found
    k, p, columns, rows = profile.shape[1], codes.shape[1], whole_lines(profile), whole_lines(labelled)
    width = columns.shape[0] // profile.shape[0]
    firsts, rows_of = np.empty(p, np.uint64), np.empty(p, np.uint64)
    for t in range(p):
        firsts[t], rows_of[t] = offsets[t] * width, t * width
    none, w, v = np.zeros((1, p), codes.dtype), np.empty(p), np.empty(p)
    joined, against, pairs, sure = np.empty(width), np.empty(width), np.empty(width), np.empty(k)
    for i in range(codes.shape[0]):
        own, n_seen = clusters[i], 0
        confidence[i], runner_up[i], cohesion[i] = np.nan, -1, np.nan
        if own < 0:
            continue
        alone = itself > 0 and sizes[own] == 1
        total, plain_joined, plain_pairs = 0.0, 0.0, 0.0
        for t in range(p):
            start = firsts[t] + np.uint64(codes[i, t]) * np.uint64(width)
            w[t] = v[t] = 0.0
            if codes[i, t] < offsets[t + 1] - 1 - offsets[t]:
                n_seen += 1
                alpha = max(columns[start + np.uint64(own)] - itself, 0.0)
                nu = labelled[t, own] - itself
                w[t] = lift[t] if alone else lift[t] * alpha
                v[t] = lift[t] if alone else lift[t] * max(nu - alpha, 0.0)
                total += w[t]
                plain_joined += weights[t] * alpha
                plain_pairs += weights[t] * nu
        if n_seen == 0:
            continue
        cohesion[i] = plain_joined / plain_pairs if plain_pairs > 0 else 0.0
        confidence[i] = 1.0
        if k == 1:
            continue
        add_weighted_rows(columns, codes, i, firsts, joined, w)
        add_weighted_rows(columns, codes, i, firsts, against, v)
        if complete:
            for c in range(k):
                pairs[c] = total * sizes[c]
        else:
            add_weighted_rows(rows, none, 0, rows_of, pairs, w)
        for c in range(k):
            speaks_for = max(pairs[c] - joined[c], 0.0)
            spoken = speaks_for + against[c]
            if alone:
                sure[c] = 0.0
            elif spoken <= ROUNDING * pairs[c]:
                sure[c] = 0.5
            else:
                sure[c] = speaks_for / spoken
        sure[own] = 2.0
        least, best, most = 2.0, -1, -1.0
        for c in range(k):
            least = min(least, sure[c])
        for c in range(k):
            if sure[c] <= least + ROUNDING:
                with_both = joined[c] / pairs[c] if pairs[c] > 0 else 0.0
                if with_both > most:
                    best, most = c, with_both
        confidence[i], runner_up[i] = most if alone else least, best


@jit
def least_sure_by_links(
    codes: Any, clusters: Any, profile: Any, labelled: Any, sizes: Any, offsets: Any, weights: Any, lift: Any,
    itself: float, complete: bool, partly: Any, work: Any, found: Any,
) -> None:  # fmt: skip
    """As `least_sure_cluster`, but only of clusters that a row's labels occur in: nothing joins it with the others.

    profile : IN (indptr (offsets[p] + 1,), columns, values float64), the label counts above 0, by label
    partly : IN clusters that some partition does not label at all: they are looked at, too
    work : WORK ((3, k) float64 zero, (k,) bool false, (k,) int64, (2, p) float64)
    """
    confidence, runner_up, cohesion = found
    indptr, columns, values = profile
    sums, is_near, near, given = work
    joined, against, sure, w, v = sums[0], sums[1], sums[2], given[0], given[1]
    k, p = labelled.shape[1], codes.shape[1]
    for i in range(codes.shape[0]):
        own, n_near, n_seen = clusters[i], 0, 0
        confidence[i], runner_up[i], cohesion[i] = np.nan, -1, np.nan
        if own < 0:
            continue
        alone = itself > 0 and sizes[own] == 1
        total, plain_joined, plain_pairs = 0.0, 0.0, 0.0
        for t in range(p):
            w[t] = v[t] = 0.0
            f = offsets[t] + codes[i, t]
            if f == offsets[t + 1] - 1:
                continue
            n_seen += 1
            alpha = 0.0
            for s in range(indptr[f], indptr[f + 1]):
                if columns[s] == own:
                    alpha = max(values[s] - itself, 0.0)
            nu = labelled[t, own] - itself
            w[t] = lift[t] if alone else lift[t] * alpha
            v[t] = lift[t] if alone else lift[t] * max(nu - alpha, 0.0)
            total += w[t]
            plain_joined += weights[t] * alpha
            plain_pairs += weights[t] * nu
        if n_seen == 0:
            continue
        cohesion[i] = plain_joined / plain_pairs if plain_pairs > 0 else 0.0
        confidence[i] = 1.0
        if k == 1:
            continue
        for t in range(p):
            f = offsets[t] + codes[i, t]
            if f == offsets[t + 1] - 1:
                continue
            for s in range(indptr[f], indptr[f + 1]):
                c = columns[s]
                if c != own:
                    if not is_near[c]:
                        is_near[c] = True
                        near[n_near] = c
                        n_near += 1
                    joined[c] += w[t] * values[s]
                    against[c] += v[t] * values[s]
        for c in partly:
            if c != own and not is_near[c]:
                is_near[c] = True
                near[n_near] = c
                n_near += 1
        # The first cluster, for one that is not near: nothing speaks against the own one there.
        first, of_far = 1 if own == 0 else 0, 0.0 if alone else (1.0 if total > 0 else 0.5)
        least = of_far
        for s in range(n_near):
            c, pairs = near[s], total * sizes[near[s]]
            if not complete:
                pairs = 0.0
                for t in range(p):
                    pairs += w[t] * labelled[t, c]
            speaks_for = max(pairs - joined[c], 0.0)
            spoken = speaks_for + against[c]
            if alone:
                sure[c] = 0.0
            elif spoken <= ROUNDING * pairs:
                sure[c] = 0.5
            else:
                sure[c] = speaks_for / spoken
            joined[c] = joined[c] / pairs if pairs > 0 else 0.0  # from here on the share joined with both
            least = min(least, sure[c])
        best, most = (first, 0.0) if of_far <= least + ROUNDING else (k, -1.0)
        for s in range(n_near):
            c = near[s]
            if sure[c] <= least + ROUNDING and (joined[c] > most or (joined[c] == most and c < best)):
                best, most = c, joined[c]
            joined[c] = against[c] = 0.0
            is_near[c] = False
        confidence[i], runner_up[i] = most if alone else least, best
