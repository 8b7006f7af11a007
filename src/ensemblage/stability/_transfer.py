"""Objects of one half given to the clusters of the other half."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin
from sklearn.pipeline import Pipeline

from ensemblage.generation._clusterers import nearest_rows
from ensemblage.generation._sampled_kmeans import member_sums
from ensemblage.rows.blocks import row_blocks
from ensemblage.stability._refit import Data

TRANSFERS = ("auto", "predict", "centroid", "nearest", "average")
OF_LINKAGE = {"single": "nearest", "average": "average"}
"""How a hierarchical clustering tells clusters apart; centroids for all other linkages."""
CONNECTED = ("DBSCAN", "HDBSCAN", "OPTICS", "SpectralClustering")
"""Classes whose clusters are connected, of any shape: the nearest object decides."""
DISTANCES = 2**22
"""Distances that are held at a time."""


def transfer_of(estimator: Any, pairwise: bool) -> str:
    """What "auto" is for an estimator."""
    if hasattr(estimator, "predict") and not pairwise:
        return "predict"
    while isinstance(estimator, Pipeline):
        _, estimator = estimator.steps[-1]
    linkage = getattr(estimator, "linkage", None)
    if type(estimator).__name__ in CONNECTED:
        return "nearest"
    return OF_LINKAGE.get(str(linkage), "nearest" if pairwise else "centroid")


def transfer_labels(
    data: Data, rows: NDArray[np.intp], clusters: NDArray[np.int32], others: NDArray[np.intp], transfer: str
) -> NDArray[np.int32]:
    """(len(others),) cluster of other objects, by the clusters 0 to k - 1 of some; -1 for all where there is none.

    "centroid": of the cluster with the nearest mean; "nearest": of the nearest object; "average": of the cluster with
    the least mean distance to its objects. Objects in no cluster, -1, have no part in it.
    """
    rows, clusters = rows[clusters >= 0], clusters[clusters >= 0]
    if not len(rows):
        return np.full(len(others), -1, dtype=np.int32)
    k = int(clusters.max()) + 1
    if data.pairwise:
        return _assign_by_distances(data.cross_distances(others, rows), clusters, k, transfer)
    X, new = data.numbers[rows], data.numbers[others]
    if transfer == "centroid":
        sums, sizes = member_sums(X, clusters, k)
        return np.asarray(pairwise_distances_argmin(new, sums / sizes[:, None]), dtype=np.int32)
    if transfer == "nearest":
        return clusters[nearest_rows(X, new)]
    blocks = row_blocks(len(others), max(1, DISTANCES // len(rows)))
    return np.concatenate([_assign_by_distances(pairwise_distances(new[b], X), clusters, k, transfer) for b in blocks])


def _assign_by_distances(distances: Any, clusters: NDArray[np.int32], k: int, transfer: str) -> NDArray[np.int32]:
    """(m,) cluster of m objects by their (m, n) distances to those that have one."""
    distances = distances.toarray() if issparse(distances) else distances
    if transfer == "nearest":
        return np.asarray(clusters[distances.argmin(axis=1)])
    of_cluster = np.eye(k)[clusters]
    return np.asarray((distances @ of_cluster / of_cluster.sum(axis=0)).argmin(axis=1), dtype=np.int32)
