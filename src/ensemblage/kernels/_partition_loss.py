"""Search for the partition with the least expected loss: tables of its clusters with all draws, one row at a time.

The clusters of a partition have a table (offsets[p], K + 1) of objects by (label, cluster), whose last column counts
all rows that are placed. g is a table of x log₂ x or x². A row moves in O(p); all its targets cost O(K p).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.kernels._jit import inner_jit, jit

PLAIN, OMARI, NVI, ID, NID = 0, 1, 2, 3, 4
"""Kinds of losses. A plain one is a sum of g over clusters and cells: VI, Binder."""


class PartitionLoss(NamedTuple):
    """What a partition of m rows is compared with; kernels get it as a plain tuple, and read it."""

    codes: NDArray[Any]
    """(m, p) draws of the rows."""
    counts: NDArray[np.int64]
    """(m,) objects with that row."""
    offsets: NDArray[np.int64]
    """(p + 1,)"""
    weights: NDArray[np.float64]
    """(p,)"""
    g: NDArray[np.float64]
    """(≥ 3,) as in `g_of`."""
    kind: int
    a: float
    """The loss."""
    margin: float
    """By how much a move must lower the loss."""


class PartitionTables(NamedTuple):
    """A partition into K clusters and its tables with the draws; kernels get it as a plain tuple, and change it."""

    labels: NDArray[np.int32]
    """(m,) cluster of each row, -1 if it has none yet."""
    n_rows: NDArray[np.int64]
    """(K,) rows of each cluster."""
    table: NDArray[np.int32]
    """(offsets[p], K + 1) objects by (label, cluster); the last column: of all clusters."""
    gains: NDArray[np.float64]
    """(offsets[p], K) g(x + 1) - g(x) of each x of ``table``, 0 of all objects; (0, K) if g is no table of all objects,
    or the loss is no plain one.
    """
    totals: NDArray[np.int64]
    """(p, K + 1) objects of each cluster that each draw labels; (1, K + 1) where all label all."""
    sums: NDArray[np.float64]
    """(p, 3) u, v, t of the loss; (0, 3) for a plain one."""


@inner_jit
def g_of(g: Any, x: int) -> Any:
    """g : IN (≥ 3,) its first values; those after it are computed
    x : IN
    """
    if x < len(g):
        return g[x]
    return float(x) * float(x) if g[2] > 3 else float(x) * np.log2(float(x))


@inner_jit
def loss_of_draw(kind: int, u: float, v: float, t: float, n: float, g_n: float) -> float:
    """kind : IN OMARI, NVI, ID or NID
    u, v, t : IN sums of g over the clusters of a draw, over those of the partition, and over the cells
    n, g_n : IN objects that both label, and g of them
    """
    if kind == ID:
        return max(u, v) - t
    if kind == OMARI:
        u, v, t, pairs = (u - n) / 2, (v - n) / 2, (t - n) / 2, (g_n - n) / 2
        above, below = (u + v) / 2 - t, (u + v) / 2 - u * v / max(pairs, 1.0)
    elif kind == NVI:
        above, below = u + v - 2 * t, g_n - t
    else:
        above, below = max(u, v) - t, g_n - min(u, v)
    return above / below if below > 1e-9 else 0.0


@inner_jit
def add_row(i: int, k: int, q: int, cluster_in: int, loss: Any, tables: Any) -> None:
    """i, q : IN row, and its objects: negative ones are taken out
    k : IN column
    cluster_in : IN column of the sums that the totals of column k are in: 0 of all rows, 1 of clusters
    loss : IN PartitionLoss
    tables : IN/OUT PartitionTables
    """
    codes, _, offsets, _, g, _, _, _ = loss
    _, _, table, gains, totals, sums = tables
    complete, wanted, has_gains = totals.shape[0] == 1, len(sums) > 0, len(gains) > 0 and cluster_in == 1
    if complete:
        totals[0, k] += q
    for j in range(codes.shape[1]):
        row = offsets[j] + codes[i, j]
        if row == offsets[j + 1] - 1:
            continue
        own, total = table[row, k], totals[0, k] - q
        table[row, k] = own + q
        if has_gains:
            gains[row, k] = g[own + q + 1] - g[own + q] if own + q + 1 < len(g) else 0.0
        if not complete:
            total = totals[j, k]
            totals[j, k] = total + q
        if wanted:
            if cluster_in == 1:
                sums[j, 1] += g_of(g, total + q) - g_of(g, total)
                sums[j, 2] += g_of(g, own + q) - g_of(g, own)
            else:
                sums[j, 0] += g_of(g, own + q) - g_of(g, own)


@inner_jit
def add_plain_costs(i: int, q: int, own: int, loss: Any, tables: Any, costs: Any) -> None:
    """i, q, own : IN row, its objects and its cluster, -1 if it has none
    loss : IN PartitionLoss
    tables : IN PartitionTables
    costs : OUT (K',) by how much each cluster raises the loss, times its denominator, when the row comes to it
    """
    codes, _, offsets, weights, g, _, a, _ = loss
    _, _, table, gains, totals, _ = tables
    n_targets, complete = len(costs), totals.shape[0] == 1
    of_own, weight = 0.0, 0.0
    one = q == 1 and len(gains) > 0
    for k in range(n_targets):
        costs[k] = 0.0
    for j in range(codes.shape[1]):
        row, w = offsets[j] + codes[i, j], weights[j]
        if row == offsets[j + 1] - 1:
            continue
        weight += w
        if one:
            for k in range(n_targets):
                costs[k] -= w * gains[row, k]
        else:
            for k in range(n_targets):
                costs[k] -= w * (g_of(g, table[row, k] + q) - g_of(g, table[row, k]))
        if own >= 0:
            of_own -= w * (g_of(g, table[row, own]) - g_of(g, table[row, own] - q))
        if not complete:
            for k in range(n_targets):
                costs[k] += w * (1 - a / 2) * (g_of(g, totals[j, k] + q) - g_of(g, totals[j, k]))
            if own >= 0:
                of_own += w * (1 - a / 2) * (g_of(g, totals[j, own]) - g_of(g, totals[j, own] - q))
    if complete:
        for k in range(n_targets):
            costs[k] += weight * (1 - a / 2) * (g_of(g, totals[0, k] + q) - g_of(g, totals[0, k]))
        if own >= 0:
            of_own += weight * (1 - a / 2) * (g_of(g, totals[0, own]) - g_of(g, totals[0, own] - q))
    if own >= 0:
        costs[own] = of_own


@inner_jit
def add_costs_of_draws(i: int, q: int, own: int, loss: Any, tables: Any, costs: Any) -> None:
    """`add_plain_costs` of the other losses, draw by draw.

    costs : OUT (K',) weighted sum over the draws that label the row of the loss with it in each cluster
    """
    codes, _, offsets, weights, g, kind, _, _ = loss
    _, _, table, _, totals, sums = tables
    n_targets, complete, last = len(costs), totals.shape[0] == 1, table.shape[1] - 1
    for k in range(n_targets):
        costs[k] = 0.0
    for j in range(codes.shape[1]):
        row, here = offsets[j] + codes[i, j], 0 if complete else j
        if row == offsets[j + 1] - 1:
            continue
        u, v, t, n = sums[j, 0], sums[j, 1], sums[j, 2], totals[here, last]
        if own >= 0:
            v -= g_of(g, totals[here, own]) - g_of(g, totals[here, own] - q)
            t -= g_of(g, table[row, own]) - g_of(g, table[row, own] - q)
        else:
            u += g_of(g, table[row, last] + q) - g_of(g, table[row, last])
            n += q
        for k in range(n_targets):
            total, cell = totals[here, k], table[row, k]
            if k == own:
                total, cell = total - q, cell - q
            v_there, t_there = v + g_of(g, total + q) - g_of(g, total), t + g_of(g, cell + q) - g_of(g, cell)
            costs[k] += weights[j] * loss_of_draw(kind, u, v_there, t_there, n, g_of(g, n))


@jit
def place_rows(order: Any, loss: Any, tables: Any) -> int:
    """Put rows, one after the other, into the cluster with the least loss; returns how many have another one now.

    order : IN rows
    loss : IN PartitionLoss
    tables : IN/OUT PartitionTables
    """
    _, counts, _, weights, g, kind, _, margin = loss
    labels, n_rows, _, _, _, _ = tables
    K, n_moved = len(n_rows), 0
    found = weights[:0].repeat(0)
    for r in range(len(order)):
        i = order[r]
        q, own = counts[i], labels[i]
        n_targets, empty = 0, -1
        for k in range(K):
            if n_rows[k] > 0:
                n_targets = k + 1
            elif empty < 0:
                empty = k
        n_targets = max(n_targets, empty + 1)
        if len(found) < n_targets:
            found = g[:1].repeat(min(K, 2 * n_targets))
        costs = found[:n_targets]
        if kind == PLAIN:
            add_plain_costs(i, q, own, loss, tables, costs)
        else:
            add_costs_of_draws(i, q, own, loss, tables, costs)
        best = own
        for k in range(n_targets):
            if n_rows[k] > 0 and k != own and (best < 0 or costs[k] < costs[best] - margin):
                best = k
        if empty >= 0 and (best < 0 or costs[empty] < costs[best] - margin):
            best = empty
        if best == own:
            continue
        if own < 0:
            add_row(i, K, q, 0, loss, tables)
        else:
            add_row(i, own, -q, 1, loss, tables)
            n_rows[own] -= 1
        add_row(i, best, q, 1, loss, tables)
        n_rows[best] += 1
        labels[i] = best
        n_moved += 1
    return n_moved


@jit
def least_partition(loss: Any, tables: Any, best: Any) -> None:
    """The first of all partitions of the rows into at most K clusters, row by row, that has the least loss.

    loss : IN PartitionLoss
    tables : IN/OUT PartitionTables: labels of -1, zeros, no gains, and sums for any kind of loss
    best : OUT (m,) its clusters
    """
    _, counts, _, weights, g, kind, a, margin = loss
    labels, n_rows, _, _, totals, sums = tables
    m, K, least = len(labels), len(n_rows), np.inf
    n_used = np.zeros(m + 1, dtype=np.int64)  # clusters of the rows before each
    for row in range(m):
        add_row(row, K, counts[row], 0, loss, tables)
    i = 0
    while i >= 0:
        k = labels[i]
        if k >= 0:
            add_row(i, k, -counts[i], 1, loss, tables)
        k += 1
        if k > min(n_used[i], K - 1):
            labels[i] = -1
            i -= 1
            continue
        add_row(i, k, counts[i], 1, loss, tables)
        labels[i] = k
        if i < m - 1:
            n_used[i + 1] = max(n_used[i], k + 1)
            i += 1
            continue
        found = 0.0
        for j in range(len(sums)):
            u, v, t, n = sums[j, 0], sums[j, 1], sums[j, 2], totals[0 if totals.shape[0] == 1 else j, K]
            of_draw = (1 - a / 2) * v - t if kind == PLAIN else loss_of_draw(kind, u, v, t, n, g_of(g, n))
            found += weights[j] * of_draw
        if found < least - margin:
            least = found
            best[:] = labels


@jit
def second_best(loss: Any, tables: Any, targets: Any, margins: Any) -> None:
    """Of each row the best cluster other than its own, and by how much it raises the loss.

    loss : IN PartitionLoss
    tables : IN PartitionTables
    targets : OUT (m,) that cluster, an empty one if it is best; -1 if there is none
    margins : OUT (m,) weighted sum over the draws; ∞ if there is none
    """
    _, counts, _, _, g, kind, _, _ = loss
    labels, n_rows, _, _, _, _ = tables
    costs = g[:1].repeat(len(n_rows))
    for i in range(len(labels)):
        own = labels[i]
        if kind == PLAIN:
            add_plain_costs(i, counts[i], own, loss, tables, costs)
        else:
            add_costs_of_draws(i, counts[i], own, loss, tables, costs)
        targets[i], margins[i] = -1, np.inf
        for k in range(len(n_rows)):
            if k != own and costs[k] - costs[own] < margins[i]:
                targets[i], margins[i] = k, costs[k] - costs[own]


@jit
def count_rows(order: Any, signed: Any, loss: Any, tables: Any) -> None:
    """Count rows in the clusters that they have; with negative objects, take them out and give them none.

    order : IN rows
    signed : IN (m,) objects with each row, or their negatives
    loss : IN PartitionLoss
    tables : IN/OUT PartitionTables
    """
    labels, n_rows, _, _, _, _ = tables
    K = len(n_rows)
    for r in range(len(order)):
        i = order[r]
        k, q = labels[i], signed[i]
        if k < 0:
            continue
        add_row(i, K, q, 0, loss, tables)
        add_row(i, k, q, 1, loss, tables)
        n_rows[k] += 1 if q > 0 else -1
        if q < 0:
            labels[i] = -1


@jit
def sum_tables(loss: Any, tables: Any, sums: Any) -> None:
    """loss : IN PartitionLoss
    tables : IN PartitionTables
    sums : OUT (p, 3) u, v, t of each draw
    """
    _, _, offsets, _, g, _, _, _ = loss
    _, _, table, _, totals, _ = tables
    K = table.shape[1] - 1
    for j in range(len(sums)):
        u, v, t = 0.0, 0.0, 0.0
        here = 0 if totals.shape[0] == 1 else j
        for k in range(K):
            v += g_of(g, totals[here, k])
        for row in range(offsets[j], offsets[j + 1] - 1):
            u += g_of(g, table[row, K])
            for k in range(K):
                t += g_of(g, table[row, k])
        sums[j, 0], sums[j, 1], sums[j, 2] = u, v, t
