"""ECPCS-MC: clusters of clusters by propagated similarities (Huang, Wang, Peng, Lai & Kwoh 2021).

1. Two clusters are as similar as the trajectories of random walks that start at them, Z (Eqs. 6 to 11,
   `hierarchies/_ecpcs.py`).
2. The graph of all clusters with the weights Z is cut, by the normalised cut in the paper: a part is a meta-cluster.
3. An object goes to the meta-cluster with the largest mean indicator of its clusters (`vote`): of equal ones to the
   first in the paper, so that the largest comes first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ensemblage.consensus.hierarchies._ecpcs import propagate
from ensemblage.labels.rows import Rows
from ensemblage.labels.threads import one_native_thread


def ecpcs_mc(
    rows: Rows,
    n_clusters: int,
    cut: Callable[..., NDArray[np.int64]],
    vote: Callable[[NDArray[np.int64]], NDArray[np.int64]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Meta-cluster of each cluster, (d,), and of each row, (m,).

    ``cut`` gives the part of each vertex of a graph without loops that it gets with the weights of its loops,
    ``diagonal``; ``vote`` is step 3.
    """
    with one_native_thread():
        Z = propagate(rows)
    loops = np.diagonal(Z).copy()
    np.fill_diagonal(Z, 0)
    meta_clusters = by_size(cut(csr_array(Z), diagonal=loops), rows, n_clusters)
    return meta_clusters, vote(meta_clusters)


def by_size(meta_clusters: NDArray[np.int64], rows: Rows, n_clusters: int) -> NDArray[np.int64]:
    """Meta-clusters numbered by decreasing size: the summed objects of their clusters."""
    sizes = np.bincount(meta_clusters, weights=rows.label_sizes()[rows.labels], minlength=n_clusters)
    return np.argsort(np.argsort(-sizes, kind="stable"))[meta_clusters]
