"""Figures of an ensemble and its consensus: numbers and an ax go in, the ax comes out.

Every function draws on ``ax``, or on a new ``matplotlib.figure.Figure`` when there is none, and never touches
pyplot's global state. A cluster has the same colour in every figure (`cluster_colors`).
"""

from ensemblage._docs import fill_docstrings

from ._agreement import agreement
from ._axes import printable
from ._colors import PALETTE, UNLABELLED_COLOR, cluster_colors
from ._confidence import confidence_boxes, confidence_by_cluster, confidence_quantiles
from ._evidence import association_histogram, dendrogram, last_merges, thresholded_matrices
from ._matrix import consensus_matrix
from ._monti import consensus_cdfs, delta_areas, item_consensus_bars, stability_curves
from ._ranking import ranking_scores
from ._records import evidence
from ._scatter import scatter
from ._sizes import cluster_sizes
from ._splits import split_losses
from ._threshold_search import threshold_search
from ._voting import entropy_scatter, estimated_clusters, lifetimes, membership, voting_dendrogram

__all__ = [
    "PALETTE",
    "UNLABELLED_COLOR",
    "agreement",
    "association_histogram",
    "cluster_colors",
    "cluster_sizes",
    "confidence_boxes",
    "confidence_by_cluster",
    "confidence_quantiles",
    "consensus_cdfs",
    "consensus_matrix",
    "delta_areas",
    "dendrogram",
    "entropy_scatter",
    "estimated_clusters",
    "evidence",
    "item_consensus_bars",
    "last_merges",
    "lifetimes",
    "membership",
    "printable",
    "ranking_scores",
    "scatter",
    "split_losses",
    "stability_curves",
    "threshold_search",
    "thresholded_matrices",
    "voting_dendrogram",
]

fill_docstrings(globals()[name] for name in __all__)
