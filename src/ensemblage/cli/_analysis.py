"""The main job: read, make an ensemble, combine it, rank its members, write a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray

from ensemblage import (
    METHODS,
    AverageAgreement,
    ConsensusModes,
    Discotec,
    Ensemble,
    report,
)
from ensemblage._version import __version__
from ensemblage.answer import KChoice, MethodComparison, Plan, compare_methods
from ensemblage.answer._chooser import Chosen
from ensemblage.answer._consensus_clustering import ConsensusClustering
from ensemblage.answer._saved import save_model
from ensemblage.answer._second_sample import SecondSample, has_second_sample, take_second_sample
from ensemblage.cli._annotate import check_copy, is_annotated_copy, write_cells
from ensemblage.cli._answer import alerts_refused, spelled_alerts
from ensemblage.cli._compare import LabelTable, align, check_align, identity_of, read_labels
from ensemblage.cli._consensus import Consensus
from ensemblage.cli._errors import INTERRUPTED, Interrupted
from ensemblage.cli._folder import (
    ENSEMBLE,
    FILES,
    LABELS,
    MODEL,
    NO_OBJECTS,
    PROFILE,
    REPORT,
    Folder,
    output_folder,
    temporary_folder,
)
from ensemblage.cli._labels import numbers_of, write_labels
from ensemblage.cli._merging import merged_clusters
from ensemblage.cli._pages import repeated_command
from ensemblage.cli._pairs import KINDS, PairFiles, errors_with_ids
from ensemblage.cli._profile import profile_of_features, write_profile
from ensemblage.cli._progress import progress_bar, tell, tell_notes
from ensemblage.cli._resampling import ResamplingPlan
from ensemblage.cli._seconds import WRITE, Seconds
from ensemblage.cli._source import Source
from ensemblage.cli._thinning import ThinnedCounts
from ensemblage.cli._without_columns import indices_without_columns
from ensemblage.counting._contingency import table_cells
from ensemblage.io._features import Features, Members
from ensemblage.kernels._jit import told_of_compiling
from ensemblage.report._object_table import remove_objects
from ensemblage.stability import MergedClusters

ALL = "all"
"""The --method that compares all of them."""


@dataclass(frozen=True)
class CommonOptions:
    """What ``run`` and ``combine`` are asked alike, beside what is read and what combines it."""

    no_objects: bool
    """Whether single objects stay out of the page."""
    others: bool
    """Whether all methods are compared."""
    without_columns: bool
    """Whether columns are left out in turn."""
    honest_markers: bool
    """Whether variables are tested with p-values that hold."""
    old: LabelTable | None
    """Clusters whose numbers are kept."""
    pair_files: PairFiles
    strict: bool
    """Whether alerts end the run."""

    @classmethod
    def of(cls, settings: dict[str, Any]) -> CommonOptions:
        """Take them out of the settings of a command; where all methods are compared, none is named."""
        others = settings["method"] == ALL
        if others:
            settings["method"] = None
        path = settings.pop("align")
        old = None if path is None else read_labels(path)
        of_run = settings.pop("without_columns", False), settings.pop("honest_markers", False)
        strict = settings.pop("strict")
        return cls(settings.pop("no_objects"), others, *of_run, old, PairFiles.of(settings), strict)

    def identity(self) -> dict[str, Any]:
        """What the results depend on of them."""
        of_page: dict[str, Any] = {NO_OBJECTS: True} if self.no_objects else {}
        of_page |= {"methods": ALL} if self.others else {}
        of_page |= {"without-columns": True} if self.without_columns else {}
        of_page |= {"honest_markers": True} if self.honest_markers else {}
        return {**of_page, **identity_of(self.old), **self.pair_files.identity()}

    def check_pairs(self, estimator: Any) -> None:
        """Refuse before the work an estimator that cannot keep the pairs."""
        if self.pair_files:
            self.pair_files.check(estimator, self.others)

    def tell_alerts(self, name: str, alerts: Sequence[Mapping[str, str]]) -> None:
        """Say what probably makes a wrong answer; with --strict refuse it."""
        tell_notes(name, [f"alert: {alert['text']}" for alert in alerts])
        if self.strict and alerts:
            raise alerts_refused(name, alerts[0]["text"])

    def pairs(self, ids: Sequence[str], name: str) -> dict[str, NDArray[np.int64]]:
        """The pairs by the numbers of the objects that the file ``name`` names so."""
        return self.pair_files.pairs(ids, name)


@dataclass(frozen=True)
class AnalysisRequest:
    """What a command that fills a folder was asked for."""

    command: str
    source: Source
    consensus: Consensus
    options: CommonOptions


@dataclass(frozen=True)
class ConsensusInput:
    """What is combined, and what else is known of it."""

    ensemble: Ensemble
    objects: Features | Members
    """What the ensemble was made of."""
    estimator: Any
    pairs: Mapping[str, NDArray[np.int64]]
    """What the consensus keeps."""
    k_choice: KChoice | None = None
    chosen: Chosen | None = None
    """What gave the partitions learned weights."""
    plan: Plan | None = None
    resampling: ResamplingPlan | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Those that the data decided."""
    model: ConsensusClustering | None = None
    """What made the ensemble of features."""
    merges: bool = False
    """Whether clusters are merged whose splits no test supports."""
    thinned: ThinnedCounts | None = None
    """The counts on which markers are tested, where the others made the ensemble."""


def combine_analysis(path: Path, output: Path, overwrite: bool, **settings: Any) -> dict[str, Any]:
    """Do what ``ensemblage combine`` does; the summary of the analysis."""
    options = CommonOptions.of(settings)
    wanted, source = Consensus.of(settings.pop("k"), settings), Source.of(path, settings, "missing", "noise")
    options.check_pairs(wanted.estimator())
    request = AnalysisRequest("combine", source, wanted, options)
    asked = {"seed": wanted.seed, "k": wanted.k, **options.identity()}
    return analyse(request, output, overwrite, asked, partial(_read_members, request))


def _read_members(request: AnalysisRequest, folder: Folder, content: bytes, seconds: Seconds) -> ConsensusInput:
    """The clusterings of a file that was read as ``content``, and what combines them."""
    name = request.source.path.name
    with seconds.spent_on("read"):
        members = request.source.members(content)
    request.options.tell_alerts(name, plain_alerts(members))
    tell_notes(name, members.notes)
    check_align(request.options.old, members.ids)
    pairs = request.options.pairs(members.ids, name)
    return ConsensusInput(members.ensemble, members, request.consensus.estimator(), pairs)


def analyse(
    request: AnalysisRequest,
    output: Path,
    overwrite: bool,
    asked: Mapping[str, Any],
    make: Callable[[Folder, bytes, Seconds], ConsensusInput],
    n_partitions: int | None = None,
) -> dict[str, Any]:
    """The summary of a folder: of an earlier run with the same settings, or made now from the bytes of the source.

    ``asked`` is what results depend on beside the source and the consensus; ``make`` takes the folder, the bytes and
    the durations of steps. Where the output is a .h5ad file, it is all that is written.
    """
    source, wanted, seconds = request.source, request.consensus, Seconds()
    wanted.check(n_partitions)
    if is_copy := is_annotated_copy(output):
        check_copy(source, output, overwrite)
    wanted.tell_memory()
    content = b"" if is_copy else source.read()
    made_of = {"command": request.command, "ensemblage": __version__, **source.identity(content)}
    identity = {**made_of, **asked, **wanted.identity()}

    def begin() -> None:
        tell("compiling once; later commands reuse the result")

    place = temporary_folder(output, identity) if is_copy else output_folder(output, identity, overwrite)
    with told_of_compiling(begin), place as folder, _interruptible(folder):
        if folder.has(*FILES[:-1], *[PROFILE] * request.options.honest_markers):
            tell(f"{folder.path}: finished by an earlier run with the same settings")
            request.options.tell_alerts(source.path.name, folder.summary.get("alerts", ()))
            return folder.summary
        seconds.started(folder.summary.get("seconds", {}))
        folder.summary["seconds"] = seconds
        summary = _finish(folder, request, make(folder, content, seconds), seconds)
        if is_copy:
            with seconds.spent_on(WRITE):
                write_cells(source, folder.path, output, overwrite)
        return summary


MOST_COMPARED, MOST_OVERLAPS = 5 * 10**7, 10**7
"""Label rows × squared partitions, and cells of all contingency tables, up to which the modes of partitions are looked
for: a few seconds, and far less than `ConsensusModes` refuses."""


def _compare_methods(ensemble: Ensemble, consensus: Any, wanted: Consensus, seconds: Seconds) -> MethodComparison:
    """What every method makes of the partitions, asked for as many clusters as the answer has."""
    limit: dict[str, Any] = {} if wanted.memory is None else {"max_bytes": wanted.memory}
    line = "on the same partitions"
    with seconds.spent_on("methods"), progress_bar("methods", len(METHODS), line, are_alike=False) as callback:
        return compare_methods(
            ensemble,
            consensus.n_clusters_,
            random_state=wanted.seed,
            n_jobs=wanted.n_jobs,
            progress=callback,
            **limit,
        )


def _modes(request: AnalysisRequest, ensemble: Ensemble) -> ConsensusModes | None:
    """Whether partitions of any origin tell one story, where that does not take long."""
    p = ensemble.shape[1]
    if request.command != "combine" or p <= 2:
        return None
    are_few = len(ensemble.distinct.codes) * p**2 <= MOST_COMPARED and table_cells(ensemble.n_clusters) <= MOST_OVERLAPS
    return ConsensusModes(n_jobs=request.consensus.n_jobs).fit(ensemble) if are_few else None


@contextmanager
def _interruptible(folder: Folder) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        kept = [name for name in FILES if name in folder.hashes]
        if not kept:
            raise Interrupted(INTERRUPTED) from None
        raise Interrupted(
            f"Interrupted. {folder.path} keeps {', '.join(kept)}: the same command goes on from there."
        ) from None
    except ValueError:
        if folder.has(ENSEMBLE) and not folder.has(LABELS):
            tell(f"{folder.path} keeps {ENSEMBLE}: what follows with other settings goes on from there")
        raise


def clone_without_threads(model: Any) -> Any:
    """The model as it is whatever --jobs was: threads change no result, and so no file."""
    for part in (model, *(getattr(model, name, None) for name in ("generator_", "consensus_"))):
        known = {} if part is None else part.get_params()
        if part is not None:
            part.set_params(**{name: None for name in known if name.rpartition("__")[2] == "n_jobs"})
    return model


def _finish(folder: Folder, request: AnalysisRequest, given: ConsensusInput, seconds: Seconds) -> dict[str, Any]:
    """Combine the ensemble and fill the folder; the summary."""
    with seconds.spent_on("consensus"), errors_with_ids(given.objects.ids):
        consensus = given.estimator.fit(given.ensemble, **given.pairs)
    align(consensus, request.options.old, given.objects.ids)
    second = _second_sample(given, consensus, seconds)
    with seconds.spent_on("ranking"):
        # Of fewer than three members there is no consensus to measure them by.
        rankers = [Discotec(random_state=0), AverageAgreement()][given.ensemble.shape[1] < 3 :]
        ranking = [ranker.fit(given.ensemble) for ranker in rankers]
    merged = merged_clusters(given.objects, consensus, request.consensus.seed, seconds) if given.merges else None
    with seconds.spent_on(WRITE):
        _save(folder, given, consensus, merged, second)
    more = {**_more_of_page(request, given, consensus, seconds), "merged": merged}
    if request.options.honest_markers and more["profile"] is not None:
        with seconds.spent_on(WRITE):
            folder.put(PROFILE, partial(write_profile, found=more["profile"]))
    settings = _settings_of_page(folder, given) | request.options.pair_files.descriptions(given.pairs)
    with seconds.spent_on("report"):
        more |= {"ranking": ranking, "seconds": seconds, "modes": _modes(request, given.ensemble)}
        summary = _summary(request.source, given, consensus, settings, **more)
        folder.summary = remove_objects(summary) if request.options.no_objects else summary
        folder.put(REPORT, lambda path: report.build(folder.summary, path=path))
    folder.summary["seconds"] = seconds
    folder.put_summary()
    return folder.summary


def _second_sample(given: ConsensusInput, consensus: Any, seconds: Seconds) -> SecondSample | None:
    """What gives the consensus the certainty of two samples where the partitions are of one."""
    if given.model is None or not isinstance(given.objects, Features):
        return None
    generator, chosen = given.model.generator_, given.chosen
    if not has_second_sample(consensus, generator, chosen):
        return None
    with seconds.spent_on("second sample"):
        return take_second_sample(consensus, given.ensemble, generator, chosen, given.objects.X)


def _save(
    folder: Folder,
    given: ConsensusInput,
    consensus: Any,
    merged: MergedClusters | None,
    second: SecondSample | None,
) -> None:
    """The ensemble, the model and the labels."""
    if not folder.has(ENSEMBLE):
        folder.put(ENSEMBLE, given.ensemble.save)
    model = consensus
    if given.model is not None:
        model = given.model._set_consensus(given.ensemble, consensus, given.k_choice, given.chosen, second)
    folder.put(MODEL, partial(save_model, clone_without_threads(model)))
    folder.put(LABELS, lambda path: write_labels(path, given.objects.ids, consensus, merged))


def _more_of_page(request: AnalysisRequest, given: ConsensusInput, consensus: Any, seconds: Seconds) -> dict[str, Any]:
    """Further results for the page, by the parameters of `report.summarize`; None what was not asked for."""
    again, compared, profile, without = None, None, None, None
    if given.resampling is not None:
        again = given.resampling.stability(numbers_of(consensus)[consensus.labels_])
    if request.options.others:
        compared = _compare_methods(given.ensemble, consensus, request.consensus, seconds)
    if isinstance(given.objects, Features):
        with seconds.spent_on("profile"), parallel_config("threading", n_jobs=request.consensus.n_jobs):
            honest = request.options.honest_markers
            profile = profile_of_features(given.objects, consensus, request.source, honest, given.thinned)
        if profile is not None and profile.honest is not None:
            tell(profile.honest.sentence)
        if request.options.without_columns and given.resampling is not None:
            without = indices_without_columns(given.resampling, profile, consensus.labels_)
    more = {"cluster_stability": again, "method_comparison": compared, "profile": profile}
    return more | {"without_columns": without}


def _settings_of_page(folder: Folder, given: ConsensusInput) -> dict[str, Any]:
    """The settings of the command that count, and those that the data decided."""
    settings = {**folder.identity, **given.settings}
    told = ((name, value) for name, value in settings.items() if value is not None and value is not False)
    return {name: value for name, value in told if value != [] and name not in KINDS}


def _summary(
    source: Source, given: ConsensusInput, consensus: Any, settings: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """The analysis as the page and summary.json have it; ``more`` as `report.summarize` takes it."""
    objects, X = given.objects, given.objects.X if isinstance(given.objects, Features) else None
    summary = report.summarize(
        given.ensemble,
        consensus,
        features=X if X is not None and X.shape[1] else None,
        ids=objects.ids,
        truth=objects.truth,
        settings={"file": source.path.name, **settings, "notes": "; ".join(objects.notes)},
        column_uses=objects.columns,
        title=f"Consensus clustering of {source.path.name}",
        k_choice=given.k_choice,
        chosen=given.chosen,
        plan=given.plan,
        command=repeated_command({"data": source.path, "ensemble": source.path}),
        **more,
    )
    return {**summary, "alerts": plain_alerts(objects)}


def plain_alerts(objects: Features | Members) -> list[dict[str, str]]:
    """What of the data probably makes a wrong answer, as summary.json has it."""
    return spelled_alerts(alert.as_dict() for alert in objects.alerts)
