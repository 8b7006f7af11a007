"""How often the partitions join a row with the members of each cluster, without the row itself."""

from typing import Any

import numpy as np

from ensemblage._jit import jit


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
