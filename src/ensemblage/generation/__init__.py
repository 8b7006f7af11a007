"""Features to a label matrix: the generators of ensembles."""

from ensemblage.generation._random_k import RandomKPartitions
from ensemblage.generation._resampled import ResampledPartitions

__all__ = ["RandomKPartitions", "ResampledPartitions"]
