"""Internal indices: how good a partition is, judged by the features of the objects."""

from ensemblage.metrics._internal._indices import INTERNAL_INDICES, InternalIndexInfo, internal_index

__all__ = ["INTERNAL_INDICES", "InternalIndexInfo", "internal_index"]
