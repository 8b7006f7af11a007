"""Figures of an ensemble and its consensus: numbers and an ax go in, the ax comes out.

`model` draws a fitted model; `scatter`, `consensus_matrix`, `dendrogram`, `confidence_by_cluster` and `cluster_sizes`
take one instead of its numbers. A record that a function returns, such as that of `choose_k`, draws itself by its
``plot``, and `diagnostics` draws those of a fitted consensus. A new figure shows itself, as SVG, where a notebook's
cell ends with its ax. It has the style of the sheet ``ensemblage.plotting.ensemblage``, which ``plt.style.use`` knows
by this name; an ax that is given keeps the style of its owner.

Every function draws on ``ax``, or on a new ``matplotlib.figure.Figure`` when there is none, and never touches
pyplot's global state. A cluster has the same colour in every figure (`cluster_colors`).
"""

from typing import TYPE_CHECKING

from ensemblage.base.renamed import former_names

from ._axes import cluster_colors
from ._clusters import cluster_sizes, confidence_by_cluster
from ._dendrograms import clustree, dendrogram
from ._diagnostics import diagnostics
from ._matrices import agreement, consensus_matrix
from ._models import model
from ._partitions import partition_strips, ranking_scores
from ._profiles import profile_heat_map
from ._scatter import item_consensus_bars, membership, scatter

__all__ = [
    "agreement",
    "cluster_colors",
    "cluster_sizes",
    "clustree",
    "confidence_by_cluster",
    "consensus_matrix",
    "dendrogram",
    "diagnostics",
    "item_consensus_bars",
    "membership",
    "model",
    "partition_strips",
    "profile_heat_map",
    "ranking_scores",
    "scatter",
]

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)
