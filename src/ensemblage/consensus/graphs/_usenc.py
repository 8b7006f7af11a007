"""U-SENC, the consensus half: a graph of objects and clusters, cut by way of the clusters (Huang et al. 2020, Sec. 4).

1. The bipartite graph joins an object to the cluster that it has in each partition (Eqs. 15, 16).
2. The transfer cut of it is the consensus (Eqs. 17 to 19): eigenvectors of the graph of the clusters, carried over to
   the objects, and k-means of these.

The other half, many partitions by U-SPEC, is `generation/_uspec.py`.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import diags_array

from ensemblage.consensus.graphs._transfer_cut import TransferCut, cut_by_labels
from ensemblage.labels.rows import Rows


def u_senc(rows: Rows, n_clusters: int, seed: int, n_jobs: int | None = None) -> TransferCut:
    """The consensus of U-SENC; the edges of a partition count by its weight."""
    links = np.repeat(rows.weights, rows.n_clusters)
    return cut_by_labels(rows, diags_array(links), n_clusters, seed, n_jobs=n_jobs)
