"""Features to a label matrix: the generators of ensembles."""

from ensemblage.base.docs import fill_docstrings
from ensemblage.generation._diverse import DiversePartitions
from ensemblage.generation._docs import PARTS
from ensemblage.generation._genie import Genie, GeniePartitions
from ensemblage.generation._greedy import GreedyPartitions
from ensemblage.generation._leiden import LeidenPartitions
from ensemblage.generation._mixed import MixedPartitions
from ensemblage.generation._pools import make_pool
from ensemblage.generation._random_features import ProjectionPartitions, SubspacePartitions
from ensemblage.generation._random_k import RandomKPartitions
from ensemblage.generation._resampled import ResampledPartitions
from ensemblage.generation._uspec import USpec, USpecPartitions
from ensemblage.generation._view_partitions import ScaledPartitions
from ensemblage.generation._write_partitions import write_partitions

__all__ = [
    "DiversePartitions",
    "Genie",
    "GeniePartitions",
    "GreedyPartitions",
    "LeidenPartitions",
    "MixedPartitions",
    "ProjectionPartitions",
    "RandomKPartitions",
    "ResampledPartitions",
    "ScaledPartitions",
    "SubspacePartitions",
    "USpec",
    "USpecPartitions",
    "make_pool",
    "write_partitions",
]

fill_docstrings((globals()[name] for name in __all__), PARTS)
