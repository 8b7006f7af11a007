"""What ``ensemblage run`` does: read a table, decide what is done with it, cluster it many times, combine that."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import Ensemble, load, make_consensus
from ensemblage.base.options import BY_CONSENSUS, LEARNED, Option
from ensemblage.choices._plan import Plan
from ensemblage.cli._analysis import (
    Analysis,
    AnalysisRequest,
    AnnouncedRun,
    CommonOptions,
    forget_threads,
    open_analysis,
    plain_alerts,
)
from ensemblage.cli._compare import align_by, announce_numbers, check_align
from ensemblage.cli._folder import ENSEMBLE, MODEL
from ensemblage.cli._generation import (
    DIVERSE,
    GOWER,
    INDEPENDENT,
    RANDOM_K,
    SCALED,
    Generation,
    learned_beside,
    plan_text,
)
from ensemblage.cli._labels import check_annotated, check_folder, write_annotated
from ensemblage.cli._methods import Consensus
from ensemblage.cli._progress import announce, announce_notes
from ensemblage.cli._seconds import WRITE, Seconds
from ensemblage.cli._source import FEATURE_OPTIONS, CellFile, InputFile, errors_with_ids
from ensemblage.consensus._saved import save_model
from ensemblage.io._features import Features
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.pipeline._consensus_clustering import ConsensusClustering, model_of
from ensemblage.pipeline._decisions import PlanRequest, can_be_repeated, may_be_learned, plan_of
from ensemblage.pipeline._default_plan import check_n_clusters, check_plan, with_consensus
from ensemblage.pipeline._describe import (
    Thinned,
    Thinning,
    Wanted,
    describe,
    merge,
    n_left_out,
    places_of_columns,
    rank,
    split_counts,
)
from ensemblage.pipeline._run import GeneratedMembers, RunResult, Store, run

CHOSEN = "km"
"""What combines the partitions where the number of clusters is looked for."""


def run_analysis(data: Path, output: Path, overwrite: bool, annotate: bool, **settings: Any) -> dict[str, Any]:
    """Do what ``ensemblage run`` does; the summary of the analysis."""
    request = RunRequest.of(data, settings)
    request.check(output, annotate)
    source, options = request.source, request.options
    common = AnalysisRequest("run", source, request.consensus, options, request.identity())
    with open_analysis(common, output, overwrite) as analysis:
        if not analysis.is_finished:
            features, thinned = _read_features(request, analysis)
            decisions = _decide(request, features)
            features, generation, pairs = decisions.features, decisions.generation, decisions.pairs
            execution = decisions.consensus.settings(align_by(options.old, features.ids))
            watch, store = AnnouncedRun(analysis.seconds, generation), FolderStore(analysis, decisions)
            with errors_with_ids(features.ids):
                found = run(decisions.plan, generation.data(features, pairs), execution, watch, store)
            features = generation.announce_fewer(data.name, features, found.ensemble, store.generator_of(found))
            announce_numbers(found.consensus, options.old)
            ranking = rank(found.ensemble, watch)
            merged = merge(found.consensus, features, execution, watch) if request.merges else None
            analysis.write_clusters(found, features, store.model_of(found), merged)
            said = describe(found, features, decisions.plan, request.wanted(thinned), execution, watch)
            if options.selective_markers and said.profile is not None:
                analysis.write_profile(said.profile)
            shown = analysis.settings_shown(pairs, request.settings_used(decisions, found.number.k))
            analysis.write_page(found, features, ranking, said, shown, merged)
            analysis.write_copy()
    summary = analysis.folder.summary
    if annotate:
        seconds = summary["seconds"]
        with seconds.spent_on(WRITE) if isinstance(seconds, Seconds) else nullcontext():  # else of an earlier run
            written = write_annotated(source, output, overwrite)
        announce(f"{written}: the table with what was found beside")
    return summary


# -- what was asked ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunRequest:
    """What was asked of ``ensemblage run``."""

    source: InputFile
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
        merges, thinning = settings.pop("merge_unsupported"), _thinning_of(settings)
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
        source = generation.source(InputFile.of(data, settings, *FEATURE_OPTIONS))
        generation.check()
        return cls(
            source=source,
            k=k,
            k_range=k_range,
            method=method,
            allow_one=allow_one,
            n_resamples=n_resamples,
            merges=merges,
            thinning=thinning,
            generation=generation,
            consensus=consensus,
            may_choose_k=may_choose_k,
            options=options,
        )

    @property
    def most(self) -> int | None:
        """The largest number of clusters that is asked for."""
        return _largest_k(self.k, self.k_range)

    def check(self, output: Path, annotate: bool) -> None:
        """Refuse before the work what cannot be written, or cannot keep must-link and cannot-link pairs."""
        if annotate:
            check_annotated(self.source, output)
        if self.merges:
            check_folder(output, "--merge-unsupported")
        if self.options.selective_markers:
            check_folder(output, "--selective-markers")
        if self.options.pair_files:
            self.options.check_pairs(replace(self.consensus, k=2).estimator())
        self.consensus.check(self.generation.partitions if self.generation.generator in INDEPENDENT else None)

    def plan_request(self) -> PlanRequest:
        """What the plan gets of it."""
        has_parameters = bool(self.consensus.chosen)
        asked = PlanRequest(
            n_clusters=self.k,
            generator=self.generation.wish(),
            consensus=self.method or (CHOSEN if has_parameters else None),
            quality=self.generation.quality,
            allow_one=self.allow_one,
            k_range=None if self.k_range is None else tuple(range(self.k_range[0], self.k_range[1] + 1)),
            n_resamples=self.n_resamples,
            is_default=self.method is None if has_parameters else None,
            is_anndata=isinstance(self.source, CellFile),
            category_weight=self.generation.category_weight,
            selection=self.generation.selection,
        )
        return asked if may_be_learned(asked) else asked._replace(selection=BY_CONSENSUS)

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
        if self.thinning is not None:
            asked["thin_counts"] = True
            asked |= {} if self.thinning.dispersion is None else {"dispersion": self.thinning.dispersion}
            asked |= {"divide_by_depth": True} if self.thinning.by_depth else {}
        asked |= self.options.identity()
        if self.generation.generator == DIVERSE:  # k is not only the consensus's
            found = "found" if self.may_choose_k else "different"
            near = asked.get("k_range", found) if self.k is None else self.k
            asked["diverse_k"] = f"{near} or 1" if self.allow_one else near
        asked |= {"selection": LEARNED} if self.plan_request().selection == LEARNED else {}
        return {**self.generation.identity(), **asked}

    def settings_used(self, decisions: Decisions, k: int | None) -> dict[str, Any]:
        """The settings that the data decided, None for those that did not count; k clusters were found."""
        generation, consensus = decisions.generation, replace(decisions.consensus, k=k)
        if generation.generator == DIVERSE:
            generation = replace(generation, k=k)
        unused = [*self.generation.identity(), "diverse_k"] if generation.generator == RANDOM_K else []
        unused += ["diverse_k"] if generation.generator == SCALED else ["selection"]
        return {"k": self.k, **dict.fromkeys(unused), **generation.identity(), **consensus.identity()}

    def wanted(self, thinned: Thinned | None) -> Wanted:
        """What is said of the clusters; ``thinned`` are the counts that were split."""
        source, options = self.source, self.options
        return Wanted(
            resamples_are_asked=self.n_resamples is not None,
            all_methods=options.others,
            without_columns=options.without_columns,
            selective=options.selective_markers,
            described_by=source.described_by,
            left_out=(source.truth_column, *source.drop_columns),
            thinned=thinned,
        )


def _largest_k(k: int | None, k_range: tuple[int, int] | None) -> int | None:
    """The largest number of clusters that is asked for."""
    if k is not None and k_range is not None:
        raise ValueError(
            f"-k and --k-range must not be given together. Got {k} and {k_range[0]}:{k_range[1]}. Leave one out."
        )
    return k if k_range is None else k_range[1]


def _thinning_of(settings: dict[str, Any]) -> Thinning | None:
    """Take how counts are split out of the settings of a command; None if none is."""
    is_asked, dispersion = settings.pop("thin_counts"), settings.pop("dispersion")
    by_depth = settings.pop("divide_by_depth")
    given = {"--dispersion": dispersion is not None, "--divide-by-depth": by_depth}
    if not is_asked and (beside := [name for name, value in given.items() if value]):
        raise ValueError(f"{beside[0]} must go with --thin-counts. Got it alone. Add --thin-counts.")
    if not is_asked:
        return None
    if not settings["selective_markers"]:
        raise ValueError(
            "--thin-counts must go with --selective-markers, which tests the second parts. Got it alone. Add "
            "--selective-markers."
        )
    if settings["without_columns"]:
        raise ValueError("--thin-counts must go without --without-columns. Got both. Leave one out.")
    return Thinning(dispersion, by_depth)


# -- what is done with a table -----------------------------------------------------------------------------------------


def _read_features(request: RunRequest, analysis: Analysis) -> tuple[Features, Thinned | None]:
    """What is clustered; and the counts that markers are tested on, where those that are clustered were split."""
    source, name = request.source, request.source.path.name
    with analysis.seconds.spent_on("read"):
        if request.thinning is None:
            features, thinned = source.features(analysis.content), None
        else:
            table, seed = source.features_table(analysis.content), request.generation.seed
            first, thinned = split_counts(table, request.thinning, seed, **source.roles())
            features = source.features_of(first)
    request.options.announce_alerts(name, plain_alerts(features))
    announce_notes(name, features.notes)
    return features, thinned


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


def _decide(request: RunRequest, features: Features) -> Decisions:
    """The plan for features and who executes it, announced, or refused where the data do not allow it."""
    name = request.source.path.name
    preprocessor = Preprocessor._of(features, request.source.given_roles, request.source.missing_codes)
    check_n_clusters(request.most, features.X, "-k", name)
    plan = plan_of(features.X, preprocessor, request.plan_request())
    generation = request.generation.of_plan(plan)
    generation.check_features(features, request.k_range is not None, name)
    check_align(request.options.old, features.ids)
    pairs = request.options.pair_files.pairs(features.ids, name)
    _check_repeats(request, features, plan, generation)
    if request.merges and not features.X.shape[1]:
        raise ValueError(f"--merge-unsupported must have features. {name} has only distances or labels. Leave it out.")
    features = generation.announce_features(features, name)
    preprocessor.notes_ = (*map(str, (alert.text for alert in features.alerts)), *features.notes)
    consensus = replace(request.consensus, method=plan.combiner.value)
    if consensus.chosen:
        plan = with_consensus(plan, make_consensus(consensus.method, **consensus.chosen))
    check_plan(plan, is_weighted=bool(features.members and features.n_columns))
    n_columns = len(places_of_columns(features)) if request.options.without_columns else 0
    announce(plan_text(plan, generation, n_left_out(n_columns)))
    return Decisions(features, preprocessor, pairs, plan, generation, consensus)


def _check_repeats(request: RunRequest, features: Features, plan: Plan, generation: Generation) -> None:
    """Refuse to make again, on resamples or without a column, what cannot be."""
    asked = ["--stability"] * bool(request.n_resamples) + ["--without-columns"] * request.options.without_columns
    if asked and not can_be_repeated(features.X, features.members, plan.generator):
        raise ValueError(
            f"{asked[0]} must go with features and the generators diverse, random-k, subspace or projection. "
            f"Got {generation.generator}{' and categories as members' * bool(features.members)}. Leave it out."
        )
    if request.options.without_columns and len(places_of_columns(features)) < 2:
        raise ValueError("--without-columns needs at least two columns of features. Got one. Leave it out.")


class FolderStore(Store):
    """Keeps partitions in the folder of a run, with what puts new objects into them."""

    def __init__(self, analysis: Analysis, decisions: Decisions) -> None:
        self._folder, self._seconds = analysis.folder, analysis.seconds
        self._seed = decisions.generation.seed
        by_distance = decisions.generation.generator == GOWER
        self._preprocessor = None if by_distance else decisions.preprocessor
        """None where no new objects can be put into them: of distances, and where `load` finds them without a model."""

    def load(self) -> GeneratedMembers | None:
        folder = self._folder
        if not folder.has(ENSEMBLE):
            return None
        announce(f"{folder.path / ENSEMBLE}: made by an earlier run with the same settings")
        earlier = load(folder.path / MODEL) if folder.has(MODEL) else None
        ensemble = Ensemble.load(folder.path / ENSEMBLE)
        if isinstance(earlier, ConsensusClustering):
            return GeneratedMembers(ensemble, earlier.generator_)
        self._preprocessor = None
        return GeneratedMembers(ensemble, None)

    def save(self, members: GeneratedMembers) -> None:
        with self._seconds.spent_on(WRITE):
            if self._preprocessor is not None:
                model = forget_threads(model_of(self._preprocessor, members.generator, self._seed))
                # Not compressed: it is written again, with the consensus.
                self._folder.put(MODEL, partial(save_model, model, is_compressed=False))
            self._folder.put(ENSEMBLE, members.ensemble.save)

    def generator_of(self, found: RunResult) -> Any:
        """What puts new objects into the partitions, if anything can."""
        return None if self._preprocessor is None else found.generator

    def model_of(self, found: RunResult) -> Any:
        """The model that is saved: of tables if new objects can be put into the partitions, else of their labels."""
        if self._preprocessor is None:
            return found.consensus
        return model_of(self._preprocessor, found.generator, self._seed, found)
