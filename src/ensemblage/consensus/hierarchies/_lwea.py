"""LWEA: evidence accumulation in which each cluster is weighted by its reliability (Huang, Wang & Lai 2018).

1. The entropy of a cluster C by a partition says how much the partition breaks it up. H(C) is their sum over the p
   partitions, and the ensemble-driven cluster index ECI(C) = exp(-H(C) / (θ p)) (Eqs. 5 to 8).
2. Two objects of one cluster are as similar in its partition as its ECI says, those of different clusters not at all.
   The mean over the partitions is the locally weighted co-association, LWCA.
3. Average linkage of the LWCA is the consensus. LWGP cuts a graph with the same weights (`graphs/_hbgf.py`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ensemblage.consensus.hierarchies._hierarchy import Hierarchy, hierarchy_of
from ensemblage.consensus.hierarchies._linkages import Linkage
from ensemblage.consensus.hierarchies._row_similarity import RowSimilarity


def lwea(coassociation: RowSimilarity, eci: NDArray[np.float64], linkage: Linkage, max_bytes: int | str) -> Hierarchy:
    """LWEA; the paper's linkage is the average.

    ``eci`` is the weight of each label, (offsets[p],), 0 for missing: by `weights_by_entropy`, unless a user gave
    others.
    """
    return hierarchy_of(replace(coassociation, local=eci), linkage, max_bytes)
