"""Latent classes: the expectation step of a mixture of products of multinomials, on distinct label rows."""

from typing import Any

import numpy as np

from ensemblage.kernels._jit import jit


@jit
def expect_rows(codes: Any, counts: Any, offsets: Any, log_prior: Any, table: Any, sums: Any, shares: Any) -> float:
    """Add what is expected of every class; returns the log-likelihood of the objects.

    codes : IN (n, p)
    counts : IN (n,) objects with that row
    offsets : IN (p + 1,)
    log_prior : IN (k,)
    table : IN (d, k) log-probability of each label in each class; 0 for a missing entry
    sums : IN/OUT (d, k) expected objects of each class with each label
    shares : IN/OUT (k,) expected objects of each class
    """
    n, p = codes.shape
    k = log_prior.shape[0]
    z, total_log = np.empty(k), 0.0
    for i in range(n):
        for g in range(k):
            z[g] = log_prior[g]
        for j in range(p):
            f = offsets[j] + codes[i, j]
            for g in range(k):
                z[g] += table[f, g]
        most, total = z[0], 0.0
        for g in range(1, k):
            most = max(most, z[g])
        for g in range(k):
            z[g] = np.exp(z[g] - most)
            total += z[g]
        total_log += counts[i] * (most + np.log(total))
        for g in range(k):
            z[g] *= counts[i] / total
            shares[g] += z[g]
        for j in range(p):
            f = offsets[j] + codes[i, j]
            for g in range(k):
                sums[f, g] += z[g]
    return total_log
