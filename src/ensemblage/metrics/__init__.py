"""Numbers about partitions: density, k-means loss, agreement, co-association."""

from ensemblage.metrics._density import density

__all__ = ["density"]
