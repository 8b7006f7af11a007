"""The minimax similarity index of Zhong et al. 2019 (Sinorina et al. 2022, Sec. 3)."""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.base.memory import MAX_BYTES, check_fits
from ensemblage.base.validation import check_weights, check_whole
from ensemblage.kernels._graphs import point_weights, strongest_bridges, weakest_link
from ensemblage.labels.ensemble import Ensemble, as_ensemble
from ensemblage.labels.threads import run_interruptibly, thread_count
from ensemblage.metrics._clustering import code_clustering
from ensemblage.metrics._coassociation import Associations, association_bytes, bytes_per_pair, compact_associations


def mm_index(
    labels: ArrayLike | Any,
    clustering: ArrayLike | Any,
    *,
    n_neighbors: int = 3,
    weights: ArrayLike | None = None,
    max_bytes: int | str = MAX_BYTES,
) -> float:
    """Use it to compare cuts of a consensus graph: the MM index, small for dense and distant clusters.

    Parameters
    ----------
    labels : array-like, data frame or Ensemble of shape (n_objects, n_partitions)
        The ensemble. -1 and NaN mean missing.
    clustering : array-like of shape (n_objects,)
        Cluster of each object. Objects with -1 or NaN are in no cluster and left out.
    n_neighbors : int, default 3
        The l of the paper, which gives no value; 3 is that of the authors' code. An object counts by its l largest
        co-associations: few neighbours, little weight.
    weights : array-like of shape (n_partitions,), optional
        Weights of the partitions, ≥ 0. Default: equal.
    max_bytes : int or str, default 2 GiB
        Most memory to take beyond the labels, in bytes or as "4GB": m² bytes for m distinct label rows, 2 m² with
        missing labels and 8 m² with unequal weights. The default allows 46,000, 32,000 and 16,000 rows.

    Returns
    -------
    float
        ≥ 0, the less the better. Infinite if a cluster has ``n_neighbors`` objects or fewer, or falls apart: some of
        its members are joined by no chain of positive co-associations within it. 0 for a single cluster that does not.

    Raises
    ------
    ValueError
        If the clustering has another number of objects or assigns none, it would take more than ``max_bytes``, or the
        weights do not fit.

    Notes
    -----
    The paper cuts each cluster in two by Ncut and takes the least robust similarity across. Robust similarity is an
    ultrametric, so that is the least one in the cluster whatever the cut: the weakest edge of a maximum spanning tree.
    For the same reason the cohesion is the strongest edge that leaves the cluster. No cut, no paths: O(m² (p + k)).

    References
    ----------
    N. C. R. Sinorina, H. J. Hamilton, S. Zilles, "Efficient removal of weak associations in consensus clustering",
    ICAART 2022, Sec. 3, Eqs. 2-6.
    C. Zhong et al., "Ensemble clustering based on evidence extracted from the co-association matrix", Pattern
    Recognition 92, 2019.

    Examples
    --------
    >>> from ensemblage.metrics import mm_index
    >>> labels = [[0, 0, 0, 0]] * 4 + [[0, 0, 0, 1], [1, 1, 1, 1]] + [[1, 1, 1, 1]] * 4
    >>> round(mm_index(labels, [0] * 5 + [1] * 5), 3), mm_index(labels, [0] * 4 + [1] * 6)
    (0.521, 9.5625)
    """
    ensemble = as_ensemble(labels)
    check_whole(n_neighbors, "n_neighbors of mm_index", 1)
    w = check_weights(weights, ensemble.shape[1], "mm_index")
    clusters, _ = code_clustering(clustering, len(ensemble))
    codes, clusters, counts = _rows_of_clusters(ensemble, clusters)
    m, p = codes.shape
    per_pair = bytes_per_pair(codes, ensemble.n_clusters, w)
    needed = association_bytes(m, p, codes.dtype.itemsize, per_pair, thread_count(None)) + m * (2 * p + 64)
    check_fits(needed, max_bytes, "mm_index", f"the co-associations of {m:,} label rows", "Raise max_bytes.")
    similarity = compact_associations(codes, ensemble.n_clusters, w)
    return mm_index_of(similarity, counts, clusters, n_neighbors)


def _rows_of_clusters(
    ensemble: Ensemble, clusters: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct pairs of label row and cluster: their codes, clusters and numbers of objects."""
    codes, _, inverse = ensemble.distinct
    placed = np.flatnonzero(clusters >= 0)
    k = int(clusters.max()) + 1
    pairs, counts = np.unique(inverse[placed].astype(np.int64) * k + clusters[placed], return_counts=True)
    return codes[pairs // k], pairs % k, counts


def mm_index_of(
    similarity: Associations,
    counts: NDArray[np.int64],
    clusters: NDArray[Any],
    n_neighbors: int,
    weights: NDArray[np.float64] | None = None,
) -> float:
    """`mm_index` of clusters of m rows; ``clusters`` has -1 for none.

    ``weights`` are those of `weights_of`; None computes them.
    """
    sizes = np.bincount(clusters[clusters >= 0], counts[clusters >= 0])
    if (sizes <= n_neighbors).any():
        return float("inf")
    bridges, stability = np.zeros((2, len(sizes)))
    everywhere = weights_of(similarity, counts, clusters, n_neighbors) if weights is None else weights
    operations = 2 * similarity.matrix.size
    run_interruptibly(strongest_bridges, *similarity, clusters, everywhere, bridges, operations=operations)
    for c in range(len(sizes)):
        stability[c] = _stability(similarity, counts, np.flatnonzero(clusters == c), n_neighbors)
    if stability.min() <= 0:
        return float("inf")
    return fsum(bridges / stability)


def weights_of(
    similarity: Associations, counts: NDArray[np.int64], clusters: NDArray[Any], n_neighbors: int
) -> NDArray[np.float64]:
    """Weight of each row among all rows in a cluster (of any clustering that leaves out the same rows)."""
    rows = np.flatnonzero(clusters >= 0)
    weights = np.zeros(len(counts))
    weights[rows] = _weights_within(similarity, counts, rows, n_neighbors)
    return weights


def _weights_within(
    similarity: Associations, counts: NDArray[np.int64], rows: NDArray[np.intp], n_neighbors: int
) -> NDArray[np.float64]:
    """(q,) sum of each row's largest similarities to others of these rows, over the largest such sum."""
    weights = np.empty(len(rows))
    # An object has no more neighbours than there are objects.
    n_neighbors, operations = min(n_neighbors, int(counts.sum())), 8 * len(rows) ** 2
    run_interruptibly(point_weights, *similarity, counts, rows, n_neighbors, weights, operations=operations)
    highest = weights.max()
    return weights / highest if highest > 0 else weights


def _stability(similarity: Associations, counts: NDArray[np.int64], rows: NDArray[np.intp], n_neighbors: int) -> float:
    """Least robust minimax similarity within a cluster: the weakest edge of its maximum spanning tree."""
    weights, q = _weights_within(similarity, counts, rows, n_neighbors), len(rows)
    if q == 1:
        return float(similarity.rows(rows)[0, rows[0]] * weights[0] * weights[0])
    tree = np.full(q, -1.0), np.ones(q, dtype=np.bool_)
    return run_interruptibly(weakest_link, *similarity, rows, weights, *tree, operations=2 * q * q)
