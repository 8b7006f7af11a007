"""The partition that a metric judges, as small integers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ensemblage.labels.ensemble import Ensemble


class Clustering(NamedTuple):
    """A partition as small integers."""

    clusters: NDArray[Any]
    """(n,) number of each object's cluster, in sorted order of the labels; -1 = not assigned."""
    sizes: NDArray[np.int64]
    """(k,) objects per cluster."""


def code_clustering(partition: ArrayLike | Any, n_objects: int) -> Clustering:
    """Number the clusters of the partition to be judged; -1, NaN and None mean "not assigned"."""
    coded = Ensemble.from_partitions([partition], names=["partition"])
    if len(coded) != n_objects:
        raise ValueError(
            f"partition must have one label for each of the {n_objects} objects of the ensemble. Got {len(coded)}. "
            "Mark objects without a cluster as -1."
        )
    k = int(coded.n_clusters[0])
    clusters = coded.codes[:, 0].astype(np.int32)
    sizes = np.bincount(clusters, minlength=k)[:k]
    clusters[clusters == k] = -1
    return Clustering(clusters, sizes)
