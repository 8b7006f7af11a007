"""How often the partitions join a row with the members of each cluster, without the row itself."""

from typing import Any

import numpy as np

from ensemblage._jit import inner_jit, jit
from ensemblage.kernels._lanes import LANES, add_weighted_rows, two_least


@jit
def associations_of_rows(
    codes: Any, clusters: Any, profile: Any, labelled: Any, offsets: Any, weights: Any, lift: Any,
    association: Any, cohesion: Any, pairs: Any,
) -> None:  # fmt: skip
    """codes : IN (m, p)
    clusters : IN (m,) cluster of each row, negative = none
    profile : IN (offsets[p], k) float64 label counts, the clusters side by side
    labelled : IN (p, k) float64, members that each partition labels
    offsets : IN (p + 1,) int64
    weights, lift : IN (p,) float64
    association : OUT (m, k) float64, share by lift of the members of a cluster that have the row's label; 0 where no
        partition labels both, -1 if no partition labels the row
    cohesion : OUT (m,) float64, the same by weight of the own cluster; NaN if there is none, or no partition labels it
    pairs : WORK (k,) float64
    """
    k = profile.shape[1]
    for i in range(codes.shape[0]):
        joined, own = association[i], clusters[i]
        joined[:] = 0.0
        pairs[:] = 0.0
        own_joined, own_pairs, plain_joined, plain_pairs, seen = 0.0, 0.0, 0.0, 0.0, False
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
                    plain_joined += weights[t] * (profile[f, own] - 1.0)
                    plain_pairs += weights[t] * (labelled[t, own] - 1.0)
        if own >= 0:
            joined[own] = own_joined
            pairs[own] = own_pairs
        cohesion[i] = np.nan
        if own >= 0 and seen:
            cohesion[i] = plain_joined / plain_pairs if plain_pairs > 0 else 0.0
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
def best_associations(
    codes: Any, clusters: Any, profile: Any, labelled: Any, offsets: Any, weights: Any, lift: Any, itself: float,
    shares: Any, told: Any,
) -> None:  # fmt: skip
    """As `associations_of_rows`, but only the association with the own cluster and with the best other one.

    itself : IN 1.0 if the rows are among those counted, else 0.0
    shares : OUT (2, m) float64 association with the own cluster (NaN in none, or if no partition labels the row) and
        with the best other one (0 where there is none)
    told : OUT ((m,) int32 that one, the first on ties, -1 where there is none; (m,) cohesion)
    """
    runner_up, cohesion = told
    k, p, columns = profile.shape[1], codes.shape[1], whole_lines(profile)
    width = columns.shape[0] // profile.shape[0]
    firsts, absent = np.empty(p, np.uint64), np.empty(p, np.int64)
    for t in range(p):
        firsts[t], absent[t] = offsets[t] * width, offsets[t + 1] - 1 - offsets[t]
    starts, u, w, known = np.empty(p, np.uint64), np.empty(p), np.empty(p), -1
    joined, pairs, own_pairs, plain_pairs = np.empty(width), np.empty(k), np.empty(k), np.empty(k)
    for i in range(codes.shape[0]):
        own, n_seen = clusters[i], 0
        for t in range(p):
            starts[t] = firsts[t] + np.uint64(codes[i, t]) * np.uint64(width)
            n_seen += codes[i, t] < absent[t]
        shares[0, i], shares[1, i], runner_up[i], cohesion[i] = np.nan, 0.0, -1, np.nan
        if own < 0 or n_seen == 0:
            continue
        if n_seen < p or known < p:
            for t in range(p):
                is_seen = codes[i, t] < absent[t]
                u[t], w[t] = lift[t] if is_seen else 0.0, weights[t] if is_seen else 0.0
            # Of the sums with the own cluster only those that are needed: of one, or until labels are missing of all.
            first, last = (own, own + 1) if n_seen < p else (0, k)
            pairs[:] = 0.0
            own_pairs[first:last] = 0.0
            plain_pairs[first:last] = 0.0
            for t in range(p):
                for c in range(k):
                    pairs[c] += u[t] * labelled[t, c]
                for c in range(first, last):
                    own_pairs[c] += u[t] * (labelled[t, c] - itself)
                    plain_pairs[c] += w[t] * (labelled[t, c] - itself)
            known = n_seen
        own_joined, plain_joined = 0.0, 0.0
        for t in range(p):
            with_own = columns[starts[t] + np.uint64(own)] - itself
            own_joined += u[t] * with_own
            plain_joined += w[t] * with_own
        shares[0, i] = own_joined / own_pairs[own] if own_pairs[own] > 0 else 0.0
        cohesion[i] = plain_joined / plain_pairs[own] if plain_pairs[own] > 0 else 0.0
        if k == 1:
            continue
        add_weighted_rows(columns, starts, u, joined)
        # Of the negative shares the least is looked for; where there are no pairs, 0 is divided.
        for c in range(k):
            joined[c] = -joined[c] / (pairs[c] if pairs[c] > 0 else 1.0)
        joined[own] = 1.0
        for c in range(k, width):
            joined[c] = np.inf
        best, _ = two_least(joined)
        shares[1, i] = -best
        for c in range(k):
            if joined[c] == best:
                runner_up[i] = c
                break


@jit
def best_by_links(
    codes: Any, clusters: Any, profile: Any, labelled: Any, complete: Any, offsets: Any, weights: Any, lift: Any,
    itself: float, work: Any, shares: Any, told: Any,
) -> None:  # fmt: skip
    """As `associations_of_rows`, but only of clusters that a row's labels occur in: the others have association 0.

    profile : IN (indptr (offsets[p] + 1,), columns, values float64), the label counts above 0, by label
    complete : IN (k,) sum of the lifts times ``labelled``, what is to be divided by if no label is missing
    itself : IN 1.0 if the rows are among those counted, else 0.0
    work : WORK ((k,) float64 zero, (k,) int64)
    shares : OUT (2, m) float64 association with the own cluster (NaN in none, or if no partition labels the row) and
        with the best other one (0 where there is none)
    told : OUT ((m,) int32 that one, the first on ties, -1 where there is none; (m,) cohesion)
    """
    runner_up, cohesion = told
    indptr, columns, values = profile
    joined, near = work
    k, p = labelled.shape[1], codes.shape[1]
    for i in range(codes.shape[0]):
        own, n_near, n_seen = clusters[i], 0, 0
        own_joined, own_pairs, plain_joined, plain_pairs = 0.0, 0.0, 0.0, 0.0
        for t in range(p):
            f = offsets[t] + codes[i, t]
            if f == offsets[t + 1] - 1:
                continue
            n_seen += 1
            u, with_own = lift[t], 0.0
            for s in range(indptr[f], indptr[f + 1]):
                c = columns[s]
                if c == own:
                    with_own = values[s]
                elif u > 0:
                    if joined[c] == 0:
                        near[n_near] = c
                        n_near += 1
                    joined[c] += u * values[s]
            if own >= 0:
                own_joined += u * (with_own - itself)
                own_pairs += u * (labelled[t, own] - itself)
                plain_joined += weights[t] * (with_own - itself)
                plain_pairs += weights[t] * (labelled[t, own] - itself)
        best, best_share = -1, 0.0
        for s in range(n_near):
            c, pairs = near[s], complete[near[s]]
            if n_seen < p:
                pairs = 0.0
                for t in range(p):
                    if offsets[t] + codes[i, t] < offsets[t + 1] - 1:
                        pairs += lift[t] * labelled[t, c]
            share = joined[c] / pairs
            joined[c] = 0.0
            if share > best_share or (share == best_share and best >= 0 and c < best):
                best, best_share = c, share
        shares[0, i], shares[1, i], runner_up[i], cohesion[i] = np.nan, 0.0, -1, np.nan
        if own >= 0 and n_seen > 0:
            shares[0, i] = own_joined / own_pairs if own_pairs > 0 else 0.0
            cohesion[i] = plain_joined / plain_pairs if plain_pairs > 0 else 0.0
            if k > 1:
                runner_up[i] = best if best >= 0 else (1 if own == 0 else 0)
                shares[1, i] = best_share
