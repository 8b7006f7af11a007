# The public names, and where they are.

from ._diverse import DiversePartitions as DiversePartitions
from ._genie import Genie as Genie
from ._genie import GeniePartitions as GeniePartitions
from ._greedy import GreedyPartitions as GreedyPartitions
from ._leiden import LeidenPartitions as LeidenPartitions
from ._mixed import MixedPartitions as MixedPartitions
from ._pools import make_pool as make_pool
from ._random_k import RandomKPartitions as RandomKPartitions
from ._resampled import ProjectionPartitions as ProjectionPartitions
from ._resampled import ResampledPartitions as ResampledPartitions
from ._resampled import SubspacePartitions as SubspacePartitions
from ._uspec import USpec as USpec
from ._uspec import USpecPartitions as USpecPartitions
from ._view_partitions import ScaledPartitions as ScaledPartitions
from ._write_partitions import write_partitions as write_partitions

__all__: list[str]
