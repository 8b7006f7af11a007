"""Rankers: label matrix to an order of its partitions."""

from ensemblage.ranking._agreement import AverageAgreement

__all__ = ["AverageAgreement"]
