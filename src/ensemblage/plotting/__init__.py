"""Figures of an ensemble and its consensus: numbers and an ax go in, the ax comes out.

`model` draws a fitted model; `scatter`, `consensus_matrix`, `confidence_by_cluster` and `cluster_sizes` take one
instead of its numbers. A new figure shows itself, as SVG, where a notebook's cell ends with its ax. It has the style of
the sheet ``ensemblage.plotting.ensemblage``, which ``plt.style.use`` knows by this name; an ax that is given keeps the
style of its owner.

Every function draws on ``ax``, or on a new ``matplotlib.figure.Figure`` when there is none, and never touches
pyplot's global state. A cluster has the same colour in every figure (`cluster_colors`).
"""

from typing import TYPE_CHECKING

from ensemblage.base.renamed import former_names

from ._axes import PALETTE, cluster_colors
from ._clusters import cluster_sizes, confidence_by_cluster
from ._dendrograms import clustree, dendrogram, last_merges, voting_dendrogram
from ._diagnostics import diagnostics
from ._k_curves import (
    cluster_jaccards,
    consensus_cdfs,
    criteria_by_number,
    delta_areas,
    estimated_clusters,
    evidence_by_number,
    lifetimes,
    prediction_strengths,
    split_losses,
    stability_by_resolution,
    stability_curves,
)
from ._matrices import agreement, association_histogram, consensus_matrix, threshold_search, thresholded_matrices
from ._models import model
from ._partitions import partition_strips, ranking_scores
from ._profiles import profile_heat_map
from ._scatter import entropy_scatter, item_consensus_bars, membership, scatter

__all__ = [
    "PALETTE",
    "agreement",
    "association_histogram",
    "cluster_colors",
    "cluster_jaccards",
    "cluster_sizes",
    "clustree",
    "confidence_by_cluster",
    "consensus_cdfs",
    "consensus_matrix",
    "criteria_by_number",
    "delta_areas",
    "dendrogram",
    "diagnostics",
    "entropy_scatter",
    "estimated_clusters",
    "evidence_by_number",
    "item_consensus_bars",
    "last_merges",
    "lifetimes",
    "membership",
    "model",
    "partition_strips",
    "prediction_strengths",
    "profile_heat_map",
    "ranking_scores",
    "scatter",
    "split_losses",
    "stability_by_resolution",
    "stability_curves",
    "threshold_search",
    "thresholded_matrices",
    "voting_dendrogram",
]

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)
