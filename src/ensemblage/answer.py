"""The answer for a table: how many clusters, from which members, by which method, how sure."""

from ensemblage.choices._choice_records import KChoice, ResolutionChoice
from ensemblage.choices._choose_k import choose_k
from ensemblage.choices._choose_resolution import choose_resolution
from ensemblage.choices._chooser import LearnedSelection
from ensemblage.choices._draws_summary import DrawsSummary, summarize_draws
from ensemblage.choices._method_comparison import MethodComparison, compare_methods
from ensemblage.choices._monti_choice import MontiChoice, choose_k_monti
from ensemblage.choices._plan import Plan
from ensemblage.consensus._saved import load
from ensemblage.pipeline._consensus_clustering import ConsensusClustering
from ensemblage.pipeline._default_plan import default_plan
from ensemblage.pipeline._to_anndata import to_anndata

__all__ = [
    "ConsensusClustering",
    "DrawsSummary",
    "KChoice",
    "LearnedSelection",
    "MethodComparison",
    "MontiChoice",
    "Plan",
    "ResolutionChoice",
    "choose_k",
    "choose_k_monti",
    "choose_resolution",
    "compare_methods",
    "default_plan",
    "load",
    "summarize_draws",
    "to_anndata",
]
