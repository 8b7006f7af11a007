"""Whether clusters are reproduced and apart: in resamples and members, splits between them, numbers of clusters."""

from typing import TYPE_CHECKING

from ensemblage.base.renamed import former_names
from ensemblage.stability._clusters import cluster_stability, partition_stability
from ensemblage.stability._splits import merge_unsupported, split_support
from ensemblage.stability._strength import prediction_strength

__all__ = [
    "cluster_stability",
    "merge_unsupported",
    "partition_stability",
    "prediction_strength",
    "split_support",
]

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)
