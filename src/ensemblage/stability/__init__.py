"""Is it found again? Clusters in resamples of the data and in the members of an ensemble; numbers of clusters."""

from ensemblage.base.docs import fill_docstrings
from ensemblage.stability._clusters import cluster_stability, member_stability
from ensemblage.stability._records import ClusterStability, PredictionStrength
from ensemblage.stability._strength import prediction_strength

__all__ = [
    "ClusterStability",
    "PredictionStrength",
    "cluster_stability",
    "member_stability",
    "prediction_strength",
]

fill_docstrings(globals()[name] for name in __all__)
