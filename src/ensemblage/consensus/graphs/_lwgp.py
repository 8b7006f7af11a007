"""LWGP: a graph of objects and clusters in which each cluster is weighted by its reliability (Huang, Wang & Lai 2018).

1. Every cluster C has its ensemble-driven cluster index, ECI(C) = exp(-H(C) / (θ p)) (Eqs. 5 to 8).
2. The locally weighted bipartite graph joins an object to the cluster that it has in each partition, by the ECI of that
   cluster.
3. The transfer cut of this graph is the consensus. LWEA makes a hierarchy with the same weights
   (`hierarchies/_lwea.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import diags_array

from ensemblage.consensus.graphs._transfer_cut import TransferCut, cut_by_labels
from ensemblage.labels.rows import Rows


def lwgp(rows: Rows, eci: Callable[[Rows], Any], n_clusters: int, seed: int, n_jobs: int | None = None) -> TransferCut:
    """LWGP; ``eci`` is as in `lwea`. The edges of a partition count by its weight, too."""
    links = np.repeat(rows.weights, rows.n_clusters) * eci(rows)[rows.labels]
    return cut_by_labels(rows, diags_array(links), n_clusters, seed, n_jobs=n_jobs)
