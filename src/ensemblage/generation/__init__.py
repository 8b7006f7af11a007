"""Features to a label matrix: the generators of ensembles."""

from ensemblage.generation._pools import Pool, make_pool
from ensemblage.generation._greedy import GreedyPartitions
from ensemblage.generation._random_k import RandomKPartitions
from ensemblage.generation._resampled import ResampledPartitions

__all__ = ["GreedyPartitions", "Pool", "RandomKPartitions", "ResampledPartitions", "make_pool"]
