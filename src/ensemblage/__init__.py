"""ensemblage: consensus clustering.

Many clusterings of the same objects go in; the clustering that they have in common, an order of the clusterings, and
for every object how far they agree on it come out.
"""

import importlib
import logging
from typing import Any

from ensemblage._version import __version__ as __version__
from ensemblage.base.registered import PLACES

_HOME = {
    "Ensemble": "ensemblage.labels.ensemble",
    "CountedEnsemble": "ensemblage.labels.counted",
    "SoftEnsemble": "ensemblage.labels.soft",
    "parallel_backend": "ensemblage.labels.dask",
    "RandomKPartitions": "ensemblage.generation",
    "Genie": "ensemblage.generation",
    "DiversePartitions": "ensemblage.generation",
    "GeniePartitions": "ensemblage.generation",
    "GreedyPartitions": "ensemblage.generation",
    "LeidenPartitions": "ensemblage.generation",
    "MixedPartitions": "ensemblage.generation",
    "ResampledPartitions": "ensemblage.generation",
    "SubspacePartitions": "ensemblage.generation",
    "ProjectionPartitions": "ensemblage.generation",
    "FeatureBlocks": "ensemblage.io._feature_blocks",
    "USpec": "ensemblage.generation",
    "USpecPartitions": "ensemblage.generation",
    "EuclideanMedian": "ensemblage.consensus",
    "EvidenceAccumulation": "ensemblage.consensus",
    "KMeansConsensus": "ensemblage.consensus",
    "BisectingKMeansConsensus": "ensemblage.consensus",
    "GreedyKMeansConsensus": "ensemblage.consensus",
    "SalsoConsensus": "ensemblage.consensus",
    "SpectralEnsembleClustering": "ensemblage.consensus",
    "CumulativeVoting": "ensemblage.consensus",
    "BipartiteVoting": "ensemblage.consensus",
    "CSPA": "ensemblage.consensus",
    "HGPA": "ensemblage.consensus",
    "KModesConsensus": "ensemblage.consensus",
    "LatentClassConsensus": "ensemblage.consensus",
    "MajorityVoting": "ensemblage.consensus",
    "NegMM": "ensemblage.consensus",
    "MCLA": "ensemblage.consensus",
    "HBGF": "ensemblage.consensus",
    "LCE": "ensemblage.consensus",
    "PTA": "ensemblage.consensus",
    "PTGP": "ensemblage.consensus",
    "ComembershipMedian": "ensemblage.consensus",
    "CommunityConsensus": "ensemblage.consensus",
    "ConsensusClustering": "ensemblage.answer",
    "ConsensusModes": "ensemblage.consensus",
    "METHODS": "ensemblage.consensus",
    "choose_k": "ensemblage.answer",
    "choose_resolution": "ensemblage.answer",
    "default_plan": "ensemblage.answer",
    "cite": "ensemblage.report._cite",
    "load": "ensemblage.answer",
    "make_consensus": "ensemblage.consensus",
    "align_labels": "ensemblage.metrics",
    "AverageAgreement": "ensemblage.ranking",
    "Discotec": "ensemblage.ranking",
    "InternalIndex": "ensemblage.ranking",
    "SelectMembers": "ensemblage.ranking",
    "profile": "ensemblage.profiles",
    "Preprocessor": "ensemblage.io",
    "PosteriorDraws": "ensemblage.io",
    "read_draws": "ensemblage.io",
    "read_table": "ensemblage.io",
    "summarize_draws": "ensemblage.answer",
    "to_anndata": "ensemblage.answer",
}
_PACKAGES = (
    "answer",
    "consensus",
    "datasets",
    "generation",
    "metrics",
    "plotting",
    "profiles",
    "ranking",
    "report",
    "stability",
)

__all__ = sorted([*_HOME, *_PACKAGES, "__version__"])  # noqa: PLE0605

# Silent, unless the user gives the loggers of the modules a handler.
logging.getLogger("ensemblage").addHandler(logging.NullHandler())

# What lower packages call of upper ones, imported when it is called.
PLACES.update(
    load_labels="ensemblage.io._formats.load_labels",
    save_labels="ensemblage.io._formats.save_labels",
    open_ensemble="ensemblage.io._out_of_core.open_ensemble",
    ensemble_on_cluster="ensemblage.io._out_of_core.ensemble_on_cluster",
    ensemble_of_anndata="ensemblage.io._anndata_labels.ensemble_of",
    ensemble_of_counts="ensemblage.io._counted_rows.ensemble_of_counts",
    features_of_parts="ensemblage.io._stored_cells.features_of_parts",
    features_on_workers="ensemblage.io._dask_features.features_on_cluster",
    clusters_of_blocks="ensemblage.answer._of_blocks.clusters_of_blocks",
    write_blocks="ensemblage.answer._of_blocks.write_blocks",
    describe_blocks="ensemblage.profiles._of_blocks.describe_blocks",
    features_of="ensemblage.io._features.features_of",
    figure="ensemblage.plotting._html.figure",
    html="ensemblage.plotting._html.html",
    save_model="ensemblage.answer._saved.save_model",
    page="ensemblage.report._notebook.report_of",
)


def __getattr__(name: str) -> Any:
    # Lazy: `import ensemblage` must not cost the second that scikit-learn takes.
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _PACKAGES:
        value = importlib.import_module(f"ensemblage.{name}")
    else:
        raise AttributeError(f"module 'ensemblage' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
