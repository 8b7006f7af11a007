"""Features to a label matrix: the generators of ensembles."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensemblage.generation._diverse import DiversePartitions
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

_HOME = {
    "DiversePartitions": "_diverse",
    "Genie": "_genie",
    "GeniePartitions": "_genie",
    "GreedyPartitions": "_greedy",
    "LeidenPartitions": "_leiden",
    "MixedPartitions": "_mixed",
    "ProjectionPartitions": "_random_features",
    "RandomKPartitions": "_random_k",
    "ResampledPartitions": "_resampled",
    "ScaledPartitions": "_view_partitions",
    "SubspacePartitions": "_random_features",
    "USpec": "_uspec",
    "USpecPartitions": "_uspec",
    "make_pool": "_pools",
    "write_partitions": "_write_partitions",
}


def __getattr__(name: str) -> Any:
    # Lazy: methods need one of these modules, and together they import a fourth of scikit-learn.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
