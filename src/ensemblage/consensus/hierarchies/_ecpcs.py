"""ECPCS: similarities of clusters by random walks over all of them (Huang, Wang, Peng, Lai & Kwoh 2021).

Eqs. 6 to 11, the propagation. The clusters of all partitions are the vertices of a graph, joined by their Jaccard
similarities. A walk goes from cluster to cluster in proportion to these. Its trajectory is the distributions after
1, 2, …, t steps, one after the other. Two clusters are as similar as the cosine of their trajectories, Z: also where
they share no object.

Eqs. 12 to 15, ECPCS-HC. Two objects are as similar as their clusters are, on average over the partitions: the enhanced
co-association. Average linkage of it is the consensus. ECPCS-MC cuts the graph of the clusters instead
(`graphs/_mcla.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ensemblage.consensus.hierarchies._hierarchy import Hierarchy, hierarchy_of
from ensemblage.consensus.hierarchies._label_similarity import blocks_of, cluster_jaccard
from ensemblage.consensus.hierarchies._linkages import Linkage
from ensemblage.consensus.hierarchies._row_similarity import RowSimilarity
from ensemblage.labels.rows import Rows

STEPS = 20
"""Length of the random walks."""


def ecpcs_hc(coassociation: RowSimilarity, linkage: Linkage, max_bytes: int | str) -> Hierarchy:
    """ECPCS-HC; the paper's linkage is the average."""
    Z = propagate(coassociation.rows)
    enhanced = replace(coassociation, labels=blocks_of(Z, coassociation.rows))
    return hierarchy_of(enhanced, linkage, max_bytes)


def propagate(rows: Rows) -> NDArray[np.float64]:
    """(d, d) Z of d clusters; one that no other partition's clusters overlap with has similarity 0, to itself too.

    O(d³ log t) time and four (d, d) matrices for walks of t = 20 steps.
    """
    jaccard = cluster_jaccard(rows)
    out = jaccard.sum(axis=1, keepdims=True)
    inner = trajectory_products(np.divide(jaccard, out, out=np.zeros_like(jaccard), where=out > 0), STEPS)
    norms = np.sqrt(np.diagonal(inner))
    lengths = np.where(norms > 0, norms, 1)
    return np.asarray(np.clip(inner / lengths[:, None] / lengths, 0, 1))


def trajectory_products(step: NDArray[np.float64], n_steps: int) -> NDArray[np.float64]:
    """Σ_{s = 1}^{n_steps} P^s (P^s)ᵀ by doubling: G_{a + b} = G_a + P^a G_b (P^a)ᵀ."""
    first = step @ step.T
    inner, power = first, step
    for bit in bin(n_steps)[3:]:
        inner, power = inner + power @ inner @ power.T, power @ power
        if bit == "1":
            inner, power = first + step @ inner @ step.T, power @ step
    return inner
