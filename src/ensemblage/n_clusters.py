"""How many clusters: the number of clusters of a table, the resolution of a graph."""

from ensemblage.choices._choose_k import choose_k
from ensemblage.choices._choose_resolution import choose_resolution

__all__ = ["choose_k", "choose_resolution"]
