"""Data sets of the papers by name, and the generators of those they made."""

from typing import TYPE_CHECKING

from ensemblage.base.renamed import former_names
from ensemblage.datasets._load import UnavailableError, dataset_names, load_dataset
from ensemblage.datasets._papers import make_2d2k, make_8d5k, make_hub_partitions, make_partitions, make_two_gauss
from ensemblage.datasets._worlds import make_world

__all__ = [
    "UnavailableError",
    "dataset_names",
    "load_dataset",
    "make_2d2k",
    "make_8d5k",
    "make_hub_partitions",
    "make_partitions",
    "make_two_gauss",
    "make_world",
]

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)
