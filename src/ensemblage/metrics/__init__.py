"""Numbers about partitions: density, k-means loss, agreement, co-association."""

from typing import TYPE_CHECKING

from ensemblage.base.renamed import former_names
from ensemblage.metrics._agreement import agreement_weights, ensemble_ari, ensemble_nmi
from ensemblage.metrics._align import align_labels, compare
from ensemblage.metrics._cluster_weights import cluster_weights
from ensemblage.metrics._coassociation import coassociation
from ensemblage.metrics._confidence import confidence, membership_entropy, verdicts
from ensemblage.metrics._density import cluster_density, density, kmeans_loss
from ensemblage.metrics._internal import INTERNAL_INDICES, internal_index
from ensemblage.metrics._monti import consensus_cdf, delta_area, item_consensus, pac
from ensemblage.metrics._partition_distance import (
    element_consistency,
    element_similarity,
    partition_distance,
    partition_distances,
)
from ensemblage.metrics._wat import mm_index

__all__ = [
    "INTERNAL_INDICES",
    "agreement_weights",
    "align_labels",
    "cluster_density",
    "cluster_weights",
    "coassociation",
    "compare",
    "confidence",
    "consensus_cdf",
    "delta_area",
    "density",
    "element_consistency",
    "element_similarity",
    "ensemble_ari",
    "ensemble_nmi",
    "internal_index",
    "item_consensus",
    "kmeans_loss",
    "membership_entropy",
    "mm_index",
    "pac",
    "partition_distance",
    "partition_distances",
    "verdicts",
]

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)
