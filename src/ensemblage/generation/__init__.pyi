# The public names, and where they are.

from ensemblage.generation._diverse import DiversePartitions as DiversePartitions
from ensemblage.generation._genie import Genie as Genie
from ensemblage.generation._genie import GeniePartitions as GeniePartitions
from ensemblage.generation._greedy import GreedyPartitions as GreedyPartitions
from ensemblage.generation._leiden import LeidenPartitions as LeidenPartitions
from ensemblage.generation._mixed import MixedPartitions as MixedPartitions
from ensemblage.generation._pools import make_pool as make_pool
from ensemblage.generation._random_k import RandomKPartitions as RandomKPartitions
from ensemblage.generation._resampled import ProjectionPartitions as ProjectionPartitions
from ensemblage.generation._resampled import ResampledPartitions as ResampledPartitions
from ensemblage.generation._resampled import SubspacePartitions as SubspacePartitions
from ensemblage.generation._uspec import USpec as USpec
from ensemblage.generation._uspec import USpecPartitions as USpecPartitions
from ensemblage.generation._view_partitions import ScaledPartitions as ScaledPartitions
from ensemblage.generation._write_partitions import write_partitions as write_partitions

__all__: list[str]
