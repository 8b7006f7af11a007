"""Rows by the group of labels that most of their own labels belong to."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import jit


@jit
def assign_to_groups(
    codes: Any, offsets: Any, group_of: Any, votes: Any, capacity: Any, draws: Any, groups: Any
) -> None:
    """codes : IN (n, p)
    offsets : IN (p + 1,)
    group_of : IN (offsets[p],) group of each label, negative = none
    votes : IN (offsets[p],) float64, weight of each label
    capacity : IN (k,) float64, what a row's votes for a group are divided by; 0 = no group
    draws : IN (n,) in [0, 1), which of the groups that tie; 0 = the first
    groups : OUT (n,)
    """
    k = capacity.shape[0]
    share = np.empty(k)
    for i in range(codes.shape[0]):
        share[:] = 0
        for j in range(codes.shape[1]):
            f = offsets[j] + codes[i, j]
            if group_of[f] >= 0:
                share[group_of[f]] += votes[f]
        best, n_best = -1.0, 0
        for g in range(k):
            if capacity[g] > 0:
                share[g] /= capacity[g]
                if share[g] > best:
                    best, n_best = share[g], 1
                elif share[g] == best:
                    n_best += 1
        pick = np.int64(draws[i] * n_best)
        for g in range(k):
            if capacity[g] > 0 and share[g] == best:
                if pick == 0:
                    groups[i] = g
                    break
                pick -= 1
