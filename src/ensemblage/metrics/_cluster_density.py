"""Mean co-association within and between clusters (Candel, Eqs. 3 and 5)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.validation import check_weights
from ensemblage.ensemble._ensemble import as_ensemble
from ensemblage.metrics._clustering import code_clustering
from ensemblage.metrics._density import labelled_members, ratio


def cluster_density(
    labels: ArrayLike | Any, clustering: ArrayLike | Any, *, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Mean co-association within each cluster and between each two.

    Parameters
    ----------
    {compared}
    {weights}

    Returns
    -------
    ndarray of shape (k, k)
        Clusters in sorted order of their labels. The diagonal is D(C) (Eq. 3: pairs of different objects; 0 for a
        singleton), the rest D(C, C') (Eq. 5). With missing labels: (pairs joined) / (pairs labelled), both summed over
        the partitions; 0 where no partition labels a pair.

    {clustering_raises}

    Notes
    -----
    O(n p + k² d) time and O(k d + k²) memory for d clusters in all partitions.

    References
    ----------
    Candel, "Linear time evidence accumulation clustering with KMeans", Eqs. 3 and 5.

    Examples
    --------
    >>> from ensemblage.metrics import cluster_density
    >>> cluster_density([[0, 0], [0, 0], [1, 0], [1, 1]], ["b", "b", "a", "a"])
    array([[0.5 , 0.25],
           [0.25, 1.  ]])
    """
    ensemble = as_ensemble(labels)
    clusters, sizes = code_clustering(clustering, len(ensemble))
    w = check_weights(weights, ensemble.shape[1], "cluster_density")
    counts = np.ones(len(ensemble), dtype=np.int64)
    profile = ensemble.rows.profile(clusters, counts, ensemble.offsets, len(sizes))
    labelled = labelled_members(profile, ensemble.offsets)
    joined, pairs = np.zeros((2, len(sizes), len(sizes)))
    for t, weight in enumerate(w):
        members = labelled[:, t]
        joined += weight * _pairs(profile[:, ensemble.offsets[t] : ensemble.offsets[t + 1] - 1], members)
        pairs += weight * _pairs(members[:, None], members)
    return ratio(joined, pairs)


def _pairs(counts: NDArray[np.int64], members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs of members of two clusters (ordered pairs of different members of one) in the same columns of counts."""
    # Sums of whole numbers below 2⁵³ are exact in floating point, where BLAS is far faster.
    factor = counts.astype(np.float64) if int(members.max()) ** 2 < 2**53 else counts
    pairs = (factor @ factor.T).astype(np.int64)
    pairs[np.diag_indices_from(pairs)] -= members
    return pairs
