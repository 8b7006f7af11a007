"""Rankers: label matrix to an order of its partitions."""

from ensemblage.ranking._agreement import AverageAgreement
from ensemblage.ranking._discotec import Discotec
from ensemblage.ranking._internal import InternalIndex

__all__ = ["AverageAgreement", "Discotec", "InternalIndex"]
