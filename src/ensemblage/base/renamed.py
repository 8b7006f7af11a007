"""Names of before 1.0: each works for one release, with a `FutureWarning` that says the new one."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

NAMES: Mapping[str, Mapping[str, str]] = {
    "ensemblage": {
        "align_labels": "ensemblage.metrics.align_labels",
        "AverageAgreement": "ensemblage.ranking.AverageAgreement",
        "BipartiteVoting": "ensemblage.consensus.BipartiteVoting",
        "BisectingKMeansConsensus": "ensemblage.consensus.BisectingKMeansConsensus",
        "choose_resolution": "ensemblage.n_clusters.choose_resolution",
        "ComembershipMedian": "ensemblage.consensus.ComembershipMedian",
        "CommunityConsensus": "ensemblage.consensus.CommunityConsensus",
        "ConsensusModes": "ensemblage.consensus.ConsensusModes",
        "CSPA": "ensemblage.consensus.CSPA",
        "CountedEnsemble": "ensemblage.labels.counted.CountedEnsemble",
        "CumulativeVoting": "ensemblage.consensus.CumulativeVoting",
        "default_plan": "ensemblage.pipeline._default_plan.default_plan",
        "Discotec": "ensemblage.ranking.DISCOTEC",
        "DiversePartitions": "ensemblage.generation.DiversePartitions",
        "EuclideanMedian": "ensemblage.consensus.EuclideanMedian",
        "EvidenceAccumulation": "ensemblage.consensus.EvidenceAccumulation",
        "FeatureBlocks": "ensemblage.preprocessing.FeatureBlocks",
        "Genie": "ensemblage.generation.Genie",
        "GeniePartitions": "ensemblage.generation.GeniePartitions",
        "GreedyKMeansConsensus": "ensemblage.consensus.GreedyKMeansConsensus",
        "GreedyPartitions": "ensemblage.generation.GreedyPartitions",
        "HBGF": "ensemblage.consensus.HBGF",
        "HGPA": "ensemblage.consensus.HGPA",
        "InternalIndex": "ensemblage.ranking.InternalIndex",
        "KMeansConsensus": "ensemblage.consensus.KMeansConsensus",
        "KModesConsensus": "ensemblage.consensus.KModesConsensus",
        "LatentClassConsensus": "ensemblage.consensus.LatentClassConsensus",
        "LCE": "ensemblage.consensus.LCE",
        "LeidenPartitions": "ensemblage.generation.LeidenPartitions",
        "MajorityVoting": "ensemblage.consensus.MajorityVoting",
        "MCLA": "ensemblage.consensus.MCLA",
        "MixedPartitions": "ensemblage.generation.MixedPartitions",
        "NegMM": "ensemblage.consensus.NegMM",
        "PosteriorDraws": "ensemblage.posterior.PosteriorDraws",
        "Preprocessor": "ensemblage.preprocessing.Preprocessor",
        "ProjectionPartitions": "ensemblage.generation.ProjectionPartitions",
        "PTA": "ensemblage.consensus.PTA",
        "PTGP": "ensemblage.consensus.PTGP",
        "RandomKPartitions": "ensemblage.generation.RandomKPartitions",
        "read_draws": "ensemblage.posterior.read_draws",
        "ResampledPartitions": "ensemblage.generation.ResampledPartitions",
        "SalsoConsensus": "ensemblage.consensus.SalsoConsensus",
        "SelectMembers": "ensemblage.ranking.SelectPartitions",
        "SoftEnsemble": "ensemblage.labels.soft.SoftEnsemble",
        "SpectralEnsembleClustering": "ensemblage.consensus.SpectralEnsembleClustering",
        "SubspacePartitions": "ensemblage.generation.SubspacePartitions",
        "summarize_draws": "ensemblage.posterior.summarize_draws",
        "USpec": "ensemblage.generation.USpec",
        "USpecPartitions": "ensemblage.generation.USpecPartitions",
    },
    "ensemblage.answer": {
        "choose_k": "ensemblage.choose_k",
        "choose_k_monti": "ensemblage.choices._monti_choice.choose_k_monti",
        "choose_resolution": "ensemblage.n_clusters.choose_resolution",
        "Chosen": "ensemblage.choices._chooser.LearnedSelection",
        "compare_methods": "ensemblage.consensus.compare_methods",
        "ConsensusClustering": "ensemblage.ConsensusClustering",
        "default_plan": "ensemblage.pipeline._default_plan.default_plan",
        "DrawsSummary": "ensemblage.choices._draws_summary.DrawsSummary",
        "KChoice": "ensemblage.choices._choice_records.KChoice",
        "load": "ensemblage.load",
        "MethodComparison": "ensemblage.consensus._method_comparison.MethodComparison",
        "MontiChoice": "ensemblage.choices._monti_choice.MontiChoice",
        "Plan": "ensemblage.choices._plan.Plan",
        "ResolutionChoice": "ensemblage.choices._choice_records.ResolutionChoice",
        "summarize_draws": "ensemblage.posterior.summarize_draws",
        "to_anndata": "ensemblage.to_anndata",
    },
    "ensemblage.consensus.evidence": {
        "Candidates": "ensemblage.consensus.diagnostics.Candidates",
        "Cut": "ensemblage.consensus.diagnostics.Cut",
        "Dendrogram": "ensemblage.consensus.diagnostics.Dendrogram",
        "Evidence": "ensemblage.consensus.diagnostics.Diagnostics",
        "evidence_from_dict": "ensemblage.consensus.diagnostics.diagnostics_from_dict",
        "Lifetimes": "ensemblage.consensus.diagnostics.Lifetimes",
        "Memberships": "ensemblage.consensus.diagnostics.Memberships",
        "PairCounts": "ensemblage.consensus.diagnostics.PairCounts",
        "Splits": "ensemblage.consensus.diagnostics.Splits",
        "Trace": "ensemblage.consensus.diagnostics.Trace",
    },
    "ensemblage.io": {
        "Column": "ensemblage.tables.column.Column",
        "ColumnUse": "ensemblage.io._encoding.ColumnUse",
        "PosteriorDraws": "ensemblage.posterior.PosteriorDraws",
        "Preprocessor": "ensemblage.preprocessing.Preprocessor",
        "read_draws": "ensemblage.posterior.read_draws",
        "read_table": "ensemblage.read_table",
        "Table": "ensemblage.io._table.Table",
    },
    "ensemblage.metrics": {
        "ChainAgreement": "ensemblage.metrics._chain_agreement.ChainAgreement",
        "Confidence": "ensemblage.metrics._confidence.Confidence",
        "CredibleBall": "ensemblage.metrics._posterior.CredibleBall",
        "LabelComparison": "ensemblage.metrics._align.LabelComparison",
        "PartialPartition": "ensemblage.metrics._posterior.PartialPartition",
        "association_counts": "ensemblage.metrics._coassociation.association_counts",
        "cluster_consensus": "ensemblage.metrics._monti.cluster_consensus",
        "ensemble_baselines": "ensemblage.metrics._agreement.ensemble_baselines",
        "split_rhat": "ensemblage.metrics._chain_agreement.split_rhat",
        "weak_association_threshold": "ensemblage.metrics._wat.weak_association_threshold",
        "Certainty": "ensemblage.metrics._confidence.Confidence",
        "certainty": "ensemblage.metrics.confidence",
        "chain_agreement": "ensemblage.posterior.chain_agreement",
        "chips": "ensemblage.posterior.chips",
        "compare_labels": "ensemblage.compare",
        "credible_ball": "ensemblage.posterior.credible_ball",
        "expected_loss": "ensemblage.posterior.expected_loss",
    },
    "ensemblage.plotting": {
        "association_histogram": "ensemblage.plotting._matrices.association_histogram",
        "cluster_jaccards": "ensemblage.plotting._k_curves.cluster_jaccards",
        "consensus_cdfs": "ensemblage.plotting._k_curves.consensus_cdfs",
        "criteria_by_number": "ensemblage.plotting._k_curves.criteria_by_number",
        "delta_areas": "ensemblage.plotting._k_curves.delta_areas",
        "entropy_scatter": "ensemblage.plotting._scatter.entropy_scatter",
        "estimated_clusters": "ensemblage.plotting._k_curves.estimated_clusters",
        "evidence": "ensemblage.plotting.diagnostics",
        "evidence_by_number": "ensemblage.plotting._k_curves.evidence_by_number",
        "last_merges": "ensemblage.plotting._dendrograms.last_merges",
        "lifetimes": "ensemblage.plotting._k_curves.lifetimes",
        "PALETTE": "ensemblage.plotting._axes.PALETTE",
        "prediction_strengths": "ensemblage.plotting._k_curves.prediction_strengths",
        "split_losses": "ensemblage.plotting._k_curves.split_losses",
        "stability_by_resolution": "ensemblage.plotting._k_curves.stability_by_resolution",
        "stability_curves": "ensemblage.plotting._k_curves.stability_curves",
        "threshold_search": "ensemblage.plotting._matrices.threshold_search",
        "thresholded_matrices": "ensemblage.plotting._matrices.thresholded_matrices",
        "voting_dendrogram": "ensemblage.plotting._dendrograms.voting_dendrogram",
    },
    "ensemblage.profiles": {
        "HonestMarkers": "ensemblage.profiles._selective.SelectiveMarkers",
        "Profile": "ensemblage.profiles._record.Profile",
        "profile": "ensemblage.profile",
        "thin_counts": "ensemblage.preprocessing.thin_counts",
    },
    "ensemblage.ranking": {
        "Comparison": "ensemblage.ranking._compare.Comparison",
        "Discotec": "ensemblage.ranking.DISCOTEC",
        "SelectMembers": "ensemblage.ranking.SelectPartitions",
        "compare": "ensemblage.ranking.compare_rankers",
    },
    "ensemblage.stability": {
        "member_stability": "ensemblage.stability.partition_stability",
        "ClusterStability": "ensemblage.stability._records.ClusterStability",
        "MergedClusters": "ensemblage.stability._records.MergedClusters",
        "PredictionStrength": "ensemblage.stability._records.PredictionStrength",
        "SplitSupport": "ensemblage.stability._records.SplitSupport",
    },
    "ensemblage.datasets": {
        "Dataset": "ensemblage.datasets._load.Dataset",
        "World": "ensemblage.datasets._worlds.World",
    },
    "ensemblage.report": {
        "Report": "ensemblage.report._build.Report",
    },
    "ensemblage.consensus": {
        "Assignment": "ensemblage.consensus._model.Assignment",
        "Capabilities": "ensemblage.consensus._capabilities.Capabilities",
        "Merge": "ensemblage.consensus.posterior._dune.Merge",
        "Method": "ensemblage.consensus._method.Method",
    },
}
"""By module: the former name, and where the object is now. What a private module has is a record that is returned, or
has another way in `INSTEAD`."""

_RECORDS = "plotting.diagnostics(record), of the records that diagnostics() of a fitted consensus returns"
_PLAN = {"default_plan": "ConsensusClustering(...).plan(X)"}
INSTEAD: Mapping[str, Mapping[str, str]] = {
    "ensemblage": {
        "CountedEnsemble": "Ensemble.from_counts",
        "SoftEnsemble": "Ensemble.from_memberships",
        **_PLAN,
    },
    "ensemblage.metrics": {
        "association_counts": "the PairCounts that diagnostics() of a fitted EvidenceAccumulation returns",
        "cluster_consensus": "the diagonal of metrics.cluster_density",
        "ensemble_baselines": "metrics.ensemble_nmi, metrics.ensemble_ari or metrics.density of each member",
        "split_rhat": "posterior.chain_agreement, which has it of partitions",
        "weak_association_threshold": "association_threshold='kmeans' of a method, which has association_threshold_",
    },
    "ensemblage.answer": {"choose_k_monti": 'choose_k(X, method="monti")', **_PLAN},
    "ensemblage.io": {"Column": "the columns of what read_table returns"},
    "ensemblage.plotting": {
        "PALETTE": "plotting.cluster_colors",
        "association_histogram": _RECORDS,
        "cluster_jaccards": "plot() of what stability.cluster_stability returns",
        "consensus_cdfs": "plot('cdf') of what choose_k(X, method='monti') returns",
        "criteria_by_number": "plot('criteria') of what choose_k returns",
        "delta_areas": "plot('delta_area') of what choose_k(X, method='monti') returns",
        "entropy_scatter": "plotting.model(model, X, 'entropy')",
        "estimated_clusters": "the page of a consensus, which has this figure",
        "evidence_by_number": "plot() of what choose_k returns",
        "last_merges": "plotting.dendrogram(model)",
        "lifetimes": _RECORDS,
        "prediction_strengths": "plot() of what stability.prediction_strength returns",
        "split_losses": _RECORDS,
        "stability_by_resolution": "plot('stability') of what choose_resolution returns",
        "stability_curves": "plot() of what choose_k(X, method='monti') returns",
        "threshold_search": _RECORDS,
        "thresholded_matrices": "plotting.consensus_matrix for each of the two matrices",
        "voting_dendrogram": "plotting.dendrogram(model)",
    },
}
"""By module: the former name of what became private, and what to use."""
MODULES = ("ensemblage.answer", "ensemblage.profiles")
"""Modules whose names have moved; they themselves come without a warning."""


def former_names(module: str, found: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module that had other names: what ``found`` has, else a former name, with a warning."""
    moved = NAMES[module]

    def get(name: str) -> Any:
        if f"{module}.{name}" in MODULES:
            return importlib.import_module(f"{module}.{name}")
        if name in moved:
            place, new = moved[name].rsplit(".", 1)
            if name in INSTEAD.get(module, {}):
                now = f"Use {INSTEAD[module][name]}."
            elif "._" not in place:
                now = f"Use {place}.{new}."
            else:
                now = "It is a record that is returned; nothing needs its class."
            _warn(f"{module}.{name} is a name of before 1.0 and goes with the next release. {now}", 3)
            return getattr(importlib.import_module(place), new)
        if found is not None:
            return found(name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get


class FormerName:
    """An attribute of a class under its former name: what the new one has, with a warning."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        _warn(
            f"{self.name} of {owner.__name__} is a name of before 1.0 and goes with the next release. Use {self.new}.",
            3,
        )
        return getattr(model, self.new)


def renamed_parameters(**new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function take parameters by their former names, ``old="new"``, with a warning."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        is_own = function.__name__ in ("__init__", "set_params")  # of an object, which says whose they are

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given: dict[str, Any] = kwargs
            for old in new_names.keys() & given.keys():
                new, owner = new_names[old], type(args[0]).__name__ if is_own else function.__qualname__
                if new in given:
                    raise TypeError(
                        f"{owner} must get {new} once. Got {new} and its former name {old}. Leave {old} out."
                    )
                _warn(f"{old} of {owner} is a name of before 1.0 and goes with the next release. Use {new}.", 3)
                given[new] = given.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate


def renamed_value(value: Any, subject: str, **new_names: str) -> Any:
    """The new name of a value that has a former one, ``old="new"``, with a warning; else the value."""
    if not (isinstance(value, str) and value in new_names):
        return value
    _warn(f"{subject} {value!r} is a name of before 1.0 and goes with the next release. Use {new_names[value]!r}.", 4)
    return new_names[value]


def renamed_fields(**new_names: str) -> Callable[[type[T]], type[T]]:
    """Let an estimator take, set and show parameters by their former names, ``old="new"``, with a warning.

    ``old_`` is the former name of an attribute ``new_``.
    """

    def decorate(cls: type[T]) -> type[T]:
        for name in ("__init__", "set_params"):
            setattr(cls, name, renamed_parameters(**new_names)(getattr(cls, name)))
        cls._former_parameters = {**getattr(cls, "_former_parameters", {}), **new_names}  # type: ignore[attr-defined]
        for old, new in new_names.items():
            for end in ("", "_"):
                field = FormerField(f"{new}{end}")
                field.__set_name__(cls, f"{old}{end}")
                setattr(cls, f"{old}{end}", field)
        return cls

    return decorate


class FormerField(FormerName):
    """The same, which can be set too: a parameter of an estimator."""

    def __set__(self, model: Any, value: Any) -> None:
        owner = type(model).__name__
        _warn(f"{self.name} of {owner} is a name of before 1.0 and goes with the next release. Use {self.new}.", 3)
        setattr(model, self.new, value)


def _warn(text: str, depth: int) -> None:
    """A FutureWarning at the caller of the caller."""
    warnings.warn(text, FutureWarning, stacklevel=depth)
