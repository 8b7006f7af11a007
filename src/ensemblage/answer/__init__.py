"""The answer for a table: how many clusters, from which members, by which method, how sure."""

from ensemblage.answer._choose_k import choose_k
from ensemblage.answer._choose_resolution import choose_resolution
from ensemblage.answer._chooser import Chosen
from ensemblage.answer._consensus_clustering import ConsensusClustering
from ensemblage.answer._default_plan import default_plan
from ensemblage.answer._draws_summary import DrawsSummary, summarize_draws
from ensemblage.answer._k_choice import KChoice
from ensemblage.answer._method_comparison import MethodComparison, compare_methods
from ensemblage.answer._monti_choice import MontiChoice, choose_k_monti
from ensemblage.answer._plan import Plan
from ensemblage.answer._resolution_choice import ResolutionChoice
from ensemblage.answer._saved import load
from ensemblage.answer._to_anndata import to_anndata

__all__ = [
    "Chosen",
    "ConsensusClustering",
    "DrawsSummary",
    "KChoice",
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
