"""What ``ensemblage run`` does: read a table, decide what is done with it, cluster it many times, combine that."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage import Ensemble, load, make_consensus
from ensemblage.answer import KChoice, Plan
from ensemblage.answer._chooser import Chosen
from ensemblage.answer._consensus_clustering import ConsensusClustering
from ensemblage.answer._default_plan import Wishes, check_n_clusters, plan_of, with_consensus
from ensemblage.answer._execution import (
    choice_of,
    chosen_of,
    generator_of,
    learned_weights,
    number_of_clusters,
    set_weights,
    weighed,
)
from ensemblage.answer._saved import save_model
from ensemblage.base.options import BY_CONSENSUS, LEARNED, Option
from ensemblage.cli._analysis import (
    AnalysisRequest,
    CommonOptions,
    ConsensusInput,
    analyse,
    clone_without_threads,
    plain_alerts,
)
from ensemblage.cli._annotate import check_annotated, check_folder, write_annotated
from ensemblage.cli._compare import check_align
from ensemblage.cli._consensus import Consensus
from ensemblage.cli._folder import ENSEMBLE, MODEL, Folder
from ensemblage.cli._generation import (
    DIVERSE,
    GOWER,
    INDEPENDENT,
    RANDOM_K,
    SCALED,
    Generation,
    learned_beside,
)
from ensemblage.cli._merging import check_mergeable
from ensemblage.cli._plan import plan_text
from ensemblage.cli._progress import progress_bar, tell, tell_notes
from ensemblage.cli._resampling import ResamplingPlan, check_resampling
from ensemblage.cli._seconds import WRITE, Seconds
from ensemblage.cli._source import FEATURE_OPTIONS, CellSource, Source
from ensemblage.cli._thinning import ThinnedCounts, Thinning
from ensemblage.cli._without_columns import check_without_columns, n_left_out
from ensemblage.generation._candidates import Made
from ensemblage.io import Preprocessor
from ensemblage.io._features import Features

CHOSEN = "km"
"""What combines the partitions where the number of clusters is looked for."""


def run_analysis(data: Path, output: Path, overwrite: bool, annotate: bool, **settings: Any) -> dict[str, Any]:
    """Do what ``ensemblage run`` does; the summary of the analysis."""
    request = RunRequest.of(data, settings)
    if annotate:
        check_annotated(request.source, output)
    if request.merges:
        check_folder(output, "--merge-unsupported")
    if request.options.honest_markers:
        check_folder(output, "--honest-markers")
    request.check_pairs()
    summary = analyse(
        AnalysisRequest("run", request.source, request.consensus, request.options),
        output,
        overwrite,
        request.identity(),
        partial(_consensus_input, request),
        request.n_partitions,
    )
    if annotate:
        seconds = summary["seconds"]
        with seconds.spent_on(WRITE) if isinstance(seconds, Seconds) else nullcontext():  # else of an earlier run
            written = write_annotated(request.source, output, overwrite)
        tell(f"{written}: the table with what was found beside")
    return summary


# -- what was asked ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunRequest:
    """What was asked of ``ensemblage run``."""

    source: Source
    k: int | None
    k_range: tuple[int, int] | None
    method: str | None
    """As it was named."""
    allow_one: bool
    n_resamples: int | None
    """None: the plan decides."""
    merges: bool
    """Whether clusters are merged whose splits no test supports."""
    thinning: Thinning | None
    """How counts are split, if they are."""
    generation: Generation
    consensus: Consensus
    may_choose_k: bool
    """Whether criteria may be asked for the number of clusters."""
    options: CommonOptions

    @classmethod
    def of(cls, data: Path, settings: dict[str, Any]) -> RunRequest:
        """All settings of the command, refused where they contradict each other."""
        k, k_range = settings.pop("k"), settings.pop("k_range")
        allow_one, n_resamples = settings.pop("allow_one"), settings.pop("stability")
        merges, thinning = settings.pop("merge_unsupported"), Thinning.of(settings)
        options = CommonOptions.of(settings)
        most = _largest_k(k, k_range)
        method, has_parameters = settings["method"], bool(settings["chosen"])
        is_learned = settings.get("selection") == LEARNED
        consensus = Consensus.of(most, settings)
        generation = Generation.of(most, settings, consensus.seed, consensus.n_jobs)
        # The default is the same by its own name, unless parameters make another method of it.
        may_choose_k = method is None or (not has_parameters and generation.may_take(method))
        if is_learned and has_parameters:
            raise learned_beside(Option("set"))
        if is_learned and method not in (None, generation.method):
            raise learned_beside(Option("method", method))
        if allow_one and (k is not None or (k_range is None and not may_choose_k)):
            given = "-k" if k is not None else f"--method {method}, which finds it by its own rule"
            raise ValueError(f"--allow-one must go without a given number of clusters. Got {given}. Leave one out.")
        consensus = replace(consensus, looks_for_k=most is None and may_choose_k)
        if method is None and not has_parameters:
            consensus = replace(consensus, method=generation.method)
        source = generation.source(Source.of(data, settings, *FEATURE_OPTIONS))
        generation.check()
        asked = k, k_range, method, allow_one, n_resamples, merges, thinning, generation, consensus, may_choose_k
        return cls(source, *asked, options)

    @property
    def most(self) -> int | None:
        """The largest number of clusters that is asked for."""
        return _largest_k(self.k, self.k_range)

    @property
    def n_partitions(self) -> int | None:
        """Of the ensemble, if that is known before the work begins."""
        return self.generation.partitions if self.generation.generator in INDEPENDENT else None

    def check_pairs(self) -> None:
        """Refuse before the work what cannot keep must-link and cannot-link pairs."""
        if self.options.pair_files:
            self.options.check_pairs(replace(self.consensus, k=2).estimator())

    @property
    def selection(self) -> str:
        """How partitions get their weights, if the data allow it: learned ones are for the default alone."""
        generation = self.generation
        is_default = generation.generator == DIVERSE and generation.is_chosen and not self.consensus.chosen
        is_default = is_default and self.method in (None, generation.method)
        return generation.selection if is_default else BY_CONSENSUS

    def wishes(self) -> Wishes:
        """What the plan is told of it."""
        has_parameters = bool(self.consensus.chosen)
        return Wishes(
            self.k,
            self.generation.wish(),
            self.method or (CHOSEN if has_parameters else None),
            self.generation.quality,
            self.allow_one,
            None if self.k_range is None else tuple(range(self.k_range[0], self.k_range[1] + 1)),
            self.n_resamples,
            is_default=self.method is None if has_parameters else None,
            is_anndata=isinstance(self.source, CellSource),
            member_weight=self.generation.member_weight,
            selection=self.selection,
        )

    def identity(self) -> dict[str, Any]:
        """What the results depend on beside the file and the consensus."""
        asked: dict[str, Any] = {"k": self.k}
        if self.k_range is not None:
            asked = {"k_range": f"{self.k_range[0]}:{self.k_range[1]}"}
        # Where the number cannot be looked for, a method that was named stays.
        asked |= {"k": "found"} if self.most is None and self.method is None else {}
        asked |= {"allow_one": True} if self.allow_one else {}
        asked |= {} if self.n_resamples is None else {"stability": self.n_resamples}
        asked |= {"merge_unsupported": True} if self.merges else {}
        asked |= {} if self.thinning is None else self.thinning.identity()
        asked |= self.options.identity()
        if self.generation.generator == DIVERSE:  # k is not only the consensus's
            found = "found" if self.may_choose_k else "different"
            near = asked.get("k_range", found) if self.k is None else self.k
            asked["diverse_k"] = f"{near} or 1" if self.allow_one else near
        asked |= {"selection": LEARNED} if self.selection == LEARNED else {}
        return {**self.generation.identity(), **asked}

    def settings_used(self, generation: Generation, consensus: Consensus) -> dict[str, Any]:
        """The settings that the data decided, None for those that did not count."""
        unused = [*self.generation.identity(), "diverse_k"] if generation.generator == RANDOM_K else []
        unused += ["diverse_k"] if generation.generator == SCALED else ["selection"]
        return {"k": self.k, **dict.fromkeys(unused), **generation.identity(), **consensus.identity()}


def _largest_k(k: int | None, k_range: tuple[int, int] | None) -> int | None:
    """The largest number of clusters that is asked for."""
    if k is not None and k_range is not None:
        raise ValueError(
            f"-k and --k-range must not be given together. Got {k} and {k_range[0]}:{k_range[1]}. Leave one out."
        )
    return k if k_range is None else k_range[1]


# -- what is done with a table -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decisions:
    """What is done with the features of a table."""

    features: Features
    preprocessor: Preprocessor
    """What makes them of new objects."""
    pairs: Mapping[str, NDArray[np.int64]]
    """What the consensus keeps."""
    plan: Plan
    generation: Generation
    consensus: Consensus


def _consensus_input(request: RunRequest, folder: Folder, content: bytes, seconds: Seconds) -> ConsensusInput:
    """The ensemble of a table that was read as ``content``, and what combines it."""
    with seconds.spent_on("read"):
        features, thinned = _read_features(request, content)
    request.options.tell_alerts(request.source.path.name, plain_alerts(features))
    tell_notes(request.source.path.name, features.notes)
    decisions = _decide(request, features)
    left_out = n_left_out(decisions.features) if request.options.without_columns else 0
    tell(plan_text(decisions.plan, decisions.generation, left_out))
    found = _with_consensus(request, decisions, _cluster(decisions, folder, seconds), seconds)
    return replace(found, thinned=thinned)


def _read_features(request: RunRequest, content: bytes) -> tuple[Features, ThinnedCounts | None]:
    """What is clustered; and the counts that markers are tested on, where those that are clustered were split."""
    source = request.source
    if request.thinning is None:
        return source.features(content), None
    table, thinned = request.thinning.split(source.features_table(content), source.roles(), request.generation.seed)
    return source.features_of(table), thinned


def _decide(request: RunRequest, features: Features) -> Decisions:
    """The plan for features and who executes it, refused where the data do not allow it."""
    name = request.source.path.name
    preprocessor = Preprocessor._of(features, request.source.given_roles, request.source.missing_codes)
    check_n_clusters(request.most, features.X, "-k", name)
    plan = plan_of(features.X, preprocessor, request.wishes())
    generation = request.generation.of_plan(plan)
    _check_data(request, features, generation)
    pairs = request.options.pairs(features.ids, name)
    check_resampling(generation, features, plan, request.n_resamples)
    check_without_columns(request.options.without_columns, generation, features, plan)
    if request.merges:
        check_mergeable(features, name)
    features = generation.tell_features(features, name)
    preprocessor.notes_ = (*map(str, (alert.text for alert in features.alerts)), *features.notes)
    consensus = replace(request.consensus, method=plan.combiner.value)
    consensus = _checked(consensus, plan, generation.weights(features, len(features.members) + 1) is not None)
    if consensus.chosen:
        plan = with_consensus(plan, make_consensus(consensus.method, **consensus.chosen))
    return Decisions(features, preprocessor, pairs, plan, generation, consensus)


def _check_data(request: RunRequest, features: Features, generation: Generation) -> None:
    """Refuse before the work begins what these features cannot have."""
    name = request.source.path.name
    generation.check_features(features, request.k_range is not None, name)
    check_align(request.options.old, features.ids)


def _checked(consensus: Consensus, plan: Plan, has_weights: bool) -> Consensus:
    """The consensus as the plan has it, refused where it cannot do that."""
    if has_weights:
        set_weights(consensus.estimator(), [1, 2])
    if plan.n_clusters.value is not None:
        return consensus
    by_own_rule = replace(consensus, looks_for_k=False)
    by_own_rule.check()
    return by_own_rule


class FoundNumber(NamedTuple):
    """The number of clusters, and who says so."""

    k: int | None
    """None: the consensus finds it."""
    k_choice: KChoice | None
    chosen: Chosen | None
    """Which gives the partitions their weights, too."""
    made: Made
    """What the generator need not make again."""


@dataclass(frozen=True)
class PlannedEnsemble:
    """The members that a plan made."""

    ensemble: Ensemble
    model: ConsensusClustering | None
    """Puts new objects into the ensemble; None where the base clusterings are of distances, or of an older version."""
    number: FoundNumber


def _cluster(decisions: Decisions, folder: Folder, seconds: Seconds) -> PlannedEnsemble:
    """Choose the number of clusters and make the members, each as the plan says."""
    generation = decisions.generation
    if generation.generator in (DIVERSE, SCALED):  # their members have about as many clusters
        number = _choose(decisions, seconds)
        ensemble, model = _generate(decisions, folder, replace(generation, k=number.k), seconds, number)
        if number.chosen is not None and model is not None:
            chosen = weighed(number.chosen, number.made, model.generator_, generation.n_jobs)
            number = number._replace(chosen=chosen)
    else:
        ensemble, model = _generate(decisions, folder, generation, seconds)
        number = _choose(decisions, seconds)
    if model is not None:
        model.plan_ = decisions.plan
    return PlannedEnsemble(ensemble, model, number)


def _choose(decisions: Decisions, seconds: Seconds) -> FoundNumber:
    """The number of clusters that was given, that most criteria name or that is rated highest, as the plan says."""
    plan, asked, X = decisions.plan, decisions.consensus, decisions.features.X
    choice, chosen, made = None, None, Made()
    if plan.chooses_k:
        line = "against single clouds of the same shape, and in halves of the objects"
        with (
            seconds.spent_on("number of clusters"),
            progress_bar("number of clusters", 100, line, are_alike=False) as callback,
        ):
            choice = choice_of(plan, X, asked.seed, asked.n_jobs, callback)
    if plan.is_learned:
        line = "by several algorithms in several scales, rated by trees that learned on synthetic sets"
        with (
            seconds.spent_on("candidates"),
            progress_bar("candidate partitions", 100, line, are_alike=False) as callback,
        ):
            chosen = chosen_of(plan, X, asked.seed, asked.n_jobs, callback, made)
    if (found := choice or chosen) is not None:
        tell(found.sentence)
    return FoundNumber(number_of_clusters(plan, choice, chosen), choice, chosen, made)


def _generate(
    decisions: Decisions,
    folder: Folder,
    generation: Generation,
    seconds: Seconds,
    number: FoundNumber | None = None,
) -> tuple[Ensemble, ConsensusClustering | None]:
    """The ensemble of an earlier run that was stopped, or a new one, saved before anything else is done; and what puts
    new objects into it."""
    if folder.has(ENSEMBLE):
        tell(f"{folder.path / ENSEMBLE}: made by an earlier run with the same settings")
        earlier = load(folder.path / MODEL) if folder.has(MODEL) else None  # an older version kept none
        ensemble = Ensemble.load(folder.path / ENSEMBLE)
        return ensemble, earlier if isinstance(earlier, ConsensusClustering) else None
    with seconds.spent_on("base clusterings"):
        chosen, made = (None, None) if number is None else (number.chosen, number.made)
        how = generation.k, generation.seed, generation.n_jobs
        planned = generator_of(decisions.plan, *how, chosen=chosen, made=made)
        ensemble, generator = generation.fit(decisions.features, planned)
    model = None
    with seconds.spent_on(WRITE):
        if generation.generator != GOWER:
            model = ConsensusClustering._from_generator(decisions.preprocessor, generator, generation.seed)
            # Not compressed: it is written again, with the consensus.
            folder.put(MODEL, partial(save_model, clone_without_threads(model), is_compressed=False))
        folder.put(ENSEMBLE, ensemble.save)
    return ensemble, model


def _with_consensus(
    request: RunRequest, decisions: Decisions, members: PlannedEnsemble, seconds: Seconds
) -> ConsensusInput:
    """The members with what combines them, its weights, and the steps that follow."""
    ensemble, model, plan = members.ensemble, members.model, decisions.plan
    k, choice, chosen, _ = members.number
    generation, consensus = decisions.generation, replace(decisions.consensus, k=k)
    if generation.generator == DIVERSE:
        generation = replace(generation, k=k)
    generator = None if model is None else model.generator_
    features = generation.tell_fewer(request.source.path.name, decisions.features, ensemble, generator)
    weights = generation.weights(features, ensemble.shape[1])
    if chosen is not None:
        weights = learned_weights(generator, chosen)
    again, is_asked = consensus.of_plan(plan), request.n_resamples is not None
    return ConsensusInput(
        ensemble,
        features,
        set_weights(consensus.of_plan(plan), weights),
        decisions.pairs,
        k_choice=choice,
        chosen=chosen,
        plan=plan,
        resampling=ResamplingPlan(generation, again, features, plan.stability.value, is_asked, seconds, chosen),
        settings=request.settings_used(generation, consensus),
        model=model,
        merges=request.merges,
    )
