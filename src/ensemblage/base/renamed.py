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
        "AverageAgreement": "ensemblage.ranking.AverageAgreement",
        "BipartiteVoting": "ensemblage.consensus.BipartiteVoting",
        "BisectingKMeansConsensus": "ensemblage.consensus.BisectingKMeansConsensus",
        "CSPA": "ensemblage.consensus.CSPA",
        "ComembershipMedian": "ensemblage.consensus.ComembershipMedian",
        "CommunityConsensus": "ensemblage.consensus.CommunityConsensus",
        "ConsensusModes": "ensemblage.consensus.ConsensusModes",
        "CumulativeVoting": "ensemblage.consensus.CumulativeVoting",
        "Discotec": "ensemblage.ranking.Discotec",
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
        "LCE": "ensemblage.consensus.LCE",
        "LatentClassConsensus": "ensemblage.consensus.LatentClassConsensus",
        "LeidenPartitions": "ensemblage.generation.LeidenPartitions",
        "MCLA": "ensemblage.consensus.MCLA",
        "MajorityVoting": "ensemblage.consensus.MajorityVoting",
        "MixedPartitions": "ensemblage.generation.MixedPartitions",
        "NegMM": "ensemblage.consensus.NegMM",
        "PTA": "ensemblage.consensus.PTA",
        "PTGP": "ensemblage.consensus.PTGP",
        "PosteriorDraws": "ensemblage.posterior.PosteriorDraws",
        "Preprocessor": "ensemblage.preprocessing.Preprocessor",
        "ProjectionPartitions": "ensemblage.generation.ProjectionPartitions",
        "RandomKPartitions": "ensemblage.generation.RandomKPartitions",
        "ResampledPartitions": "ensemblage.generation.ResampledPartitions",
        "SalsoConsensus": "ensemblage.consensus.SalsoConsensus",
        "SelectMembers": "ensemblage.ranking.SelectMembers",
        "SpectralEnsembleClustering": "ensemblage.consensus.SpectralEnsembleClustering",
        "SubspacePartitions": "ensemblage.generation.SubspacePartitions",
        "USpec": "ensemblage.generation.USpec",
        "USpecPartitions": "ensemblage.generation.USpecPartitions",
        "align_labels": "ensemblage.metrics.align_labels",
        "answer": "ensemblage.answer",
        "choose_resolution": "ensemblage.n_clusters.choose_resolution",
        "default_plan": "ensemblage.pipeline._default_plan.default_plan",
        "profiles": "ensemblage.profiles",
        "read_draws": "ensemblage.posterior.read_draws",
        "summarize_draws": "ensemblage.posterior.summarize_draws",
    },
    "ensemblage.answer": {
        "Chosen": "ensemblage.choices._chooser.LearnedSelection",
        "ConsensusClustering": "ensemblage.ConsensusClustering",
        "DrawsSummary": "ensemblage.choices._draws_summary.DrawsSummary",
        "KChoice": "ensemblage.choices._choice_records.KChoice",
        "MethodComparison": "ensemblage.consensus._method_comparison.MethodComparison",
        "MontiChoice": "ensemblage.choices._monti_choice.MontiChoice",
        "Plan": "ensemblage.choices._plan.Plan",
        "ResolutionChoice": "ensemblage.choices._choice_records.ResolutionChoice",
        "choose_k": "ensemblage.choose_k",
        "choose_k_monti": "ensemblage.choices._monti_choice.choose_k_monti",
        "choose_resolution": "ensemblage.n_clusters.choose_resolution",
        "compare_methods": "ensemblage.consensus.compare_methods",
        "default_plan": "ensemblage.pipeline._default_plan.default_plan",
        "load": "ensemblage.load",
        "summarize_draws": "ensemblage.posterior.summarize_draws",
        "to_anndata": "ensemblage.to_anndata",
    },
    "ensemblage.consensus.evidence": {
        "Candidates": "ensemblage.consensus.diagnostics.Candidates",
        "Cut": "ensemblage.consensus.diagnostics.Cut",
        "Dendrogram": "ensemblage.consensus.diagnostics.Dendrogram",
        "Evidence": "ensemblage.consensus.diagnostics.Diagnostics",
        "Lifetimes": "ensemblage.consensus.diagnostics.Lifetimes",
        "Memberships": "ensemblage.consensus.diagnostics.Memberships",
        "PairCounts": "ensemblage.consensus.diagnostics.PairCounts",
        "Splits": "ensemblage.consensus.diagnostics.Splits",
        "Trace": "ensemblage.consensus.diagnostics.Trace",
        "evidence_from_dict": "ensemblage.consensus.diagnostics.diagnostics_from_dict",
    },
    "ensemblage.io": {
        "Column": "ensemblage.tables.column.Column",
        "ColumnUse": "ensemblage.io._encoding.ColumnUse",
        "PosteriorDraws": "ensemblage.posterior.PosteriorDraws",
        "Preprocessor": "ensemblage.preprocessing.Preprocessor",
        "Table": "ensemblage.io._table.Table",
        "read_draws": "ensemblage.posterior.read_draws",
        "read_table": "ensemblage.read_table",
    },
    "ensemblage.metrics": {
        "Certainty": "ensemblage.metrics._confidence.Confidence",
        "certainty": "ensemblage.metrics.confidence",
        "chain_agreement": "ensemblage.posterior.chain_agreement",
        "chips": "ensemblage.posterior.chips",
        "compare_labels": "ensemblage.compare",
        "credible_ball": "ensemblage.posterior.credible_ball",
        "expected_loss": "ensemblage.posterior.expected_loss",
    },
    "ensemblage.plotting": {
        "evidence": "ensemblage.plotting.diagnostics",
    },
    "ensemblage.profiles": {
        "HonestMarkers": "ensemblage.profiles._selective.SelectiveMarkers",
        "Profile": "ensemblage.profiles._record.Profile",
        "profile": "ensemblage.profile",
        "thin_counts": "ensemblage.preprocessing.thin_counts",
    },
    "ensemblage.ranking": {
        "compare": "ensemblage.ranking.compare_rankers",
    },
}
"""By module: the former name, and where the object is now. A private module is that of a record that is returned."""
INSTEAD: Mapping[str, str] = {
    "choose_k_monti": 'Use choose_k with method="monti".',
    "default_plan": "Use ConsensusClustering(...).plan(X).",
}
"""What to use for a function that has become an option or a method."""


def former_names(module: str, found: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module that had other names: what ``found`` has, else a former name, with a warning."""
    moved = NAMES[module]

    def get(name: str) -> Any:
        if moved.get(name) == f"{module}.{name}":  # a module, whose names warn
            return importlib.import_module(moved[name])
        if name in moved:
            place, new = moved[name].rsplit(".", 1)
            record = "It is a record that is returned; nothing needs its class."
            now = INSTEAD.get(name, record if "._" in place else f"Use {place}.{new}.")
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
            setattr(cls, old, FormerField(old, new))
            setattr(cls, f"{old}_", FormerField(f"{old}_", f"{new}_"))
        return cls

    return decorate


class FormerField:
    """A parameter or attribute of an estimator by its former name."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            raise AttributeError(f"type object {owner.__name__!r} has no attribute {self.old!r}")
        value = getattr(model, self.new)
        _warn(
            f"{self.old} of {owner.__name__} is a name of before 1.0 and goes with the next release. Use {self.new}.", 3
        )
        return value

    def __set__(self, model: Any, value: Any) -> None:
        owner = type(model).__name__
        _warn(f"{self.old} of {owner} is a name of before 1.0 and goes with the next release. Use {self.new}.", 3)
        setattr(model, self.new, value)


def _warn(text: str, depth: int) -> None:
    """A FutureWarning at the caller of the caller."""
    warnings.warn(text, FutureWarning, stacklevel=depth)
