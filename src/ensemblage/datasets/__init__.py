"""Data sets of the papers by name, and the generators of those they made."""

from ensemblage.datasets._load import Dataset, UnavailableError, dataset_names, load_dataset
from ensemblage.datasets._papers import make_2d2k, make_8d5k, make_hub_partitions, make_partitions, make_two_gauss
from ensemblage.datasets._worlds import World, make_world

__all__ = [
    "Dataset",
    "UnavailableError",
    "World",
    "dataset_names",
    "load_dataset",
    "make_2d2k",
    "make_8d5k",
    "make_hub_partitions",
    "make_partitions",
    "make_two_gauss",
    "make_world",
]
