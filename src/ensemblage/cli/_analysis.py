"""The main job: read, make an ensemble, combine it, rank its members, write a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage import report
from ensemblage._version import __version__
from ensemblage.cli._answer import alerts_refused, spelled_alerts
from ensemblage.cli._compare import LabelTable, align_by, announce_numbers, check_align, read_labels
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
from ensemblage.cli._generation import GREEDY, INDEPENDENT, Generation
from ensemblage.cli._labels import check_copy, is_annotated_copy, write_cells, write_labels
from ensemblage.cli._methods import Consensus
from ensemblage.cli._progress import announce, announce_notes, progress_bar
from ensemblage.cli._report import repeated_command, write_profile
from ensemblage.cli._seconds import WRITE, Seconds
from ensemblage.cli._source import KINDS, InputFile, PairFiles, errors_with_ids
from ensemblage.consensus._saved import save_model
from ensemblage.io._features import Features, Members
from ensemblage.io._preprocessor import Preprocessor
from ensemblage.kernels._jit import on_first_compilation
from ensemblage.pipeline._consensus_clustering import model_of
from ensemblage.pipeline._describe import (
    COLUMNS,
    METHODS_COMPARED,
    PAGE,
    STABILITY,
    Wanted,
    describe,
    modes_of,
    n_left_out,
    summary_of,
)
from ensemblage.pipeline._run import CANDIDATES, CHOICE, MEMBERS, Progress, RunResult, Watch, run_on_labels
from ensemblage.report._object_table import remove_objects
from ensemblage.stability._records import MergedClusters

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
    selective_markers: bool
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
        of_run = settings.pop("without_columns", False), settings.pop("selective_markers", False)
        strict = settings.pop("strict")
        return cls(settings.pop("no_objects"), others, *of_run, old, PairFiles.of(settings), strict)

    def identity(self) -> dict[str, Any]:
        """What the results depend on of them."""
        of_page: dict[str, Any] = {NO_OBJECTS: True} if self.no_objects else {}
        of_page |= {"methods": ALL} if self.others else {}
        of_page |= {"without-columns": True} if self.without_columns else {}
        of_page |= {"honest_markers": True} if self.selective_markers else {}
        of_page |= {} if self.old is None else {"align": hashlib.sha256(self.old.content).hexdigest()}
        return {**of_page, **self.pair_files.identity()}

    def check_pairs(self, estimator: Any) -> None:
        """Refuse before the work an estimator that cannot keep the pairs."""
        if self.pair_files:
            self.pair_files.check(estimator, self.others)

    def announce_alerts(self, name: str, alerts: Sequence[Mapping[str, str]]) -> None:
        """Say what probably makes a wrong answer; with --strict refuse it."""
        announce_notes(name, [f"alert: {alert['text']}" for alert in alerts])
        if self.strict and alerts:
            raise alerts_refused(name, alerts[0]["text"])


@dataclass(frozen=True)
class AnalysisRequest:
    """What a command that fills a folder was asked for."""

    command: str
    source: InputFile
    consensus: Consensus
    options: CommonOptions


@dataclass(frozen=True)
class Analysed:
    """What was found, and what is still wanted."""

    found: RunResult
    objects: Features | Members
    """What the partitions were made of."""
    pairs: Mapping[str, NDArray[np.int64]]
    """What the consensus keeps."""
    wanted: Wanted
    preprocessor: Preprocessor | None = None
    """What makes the features of new objects, where they can be put into the partitions."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Those of the command that the data decided."""


class AnnouncedRun(Watch):
    """Says what is done, and how long it takes."""

    def __init__(self, seconds: Seconds, generation: Generation | None = None) -> None:
        super().__init__()
        self._seconds, self._generation = seconds, generation

    @contextmanager
    def step(
        self, name: str, total: int = 0, *, generator: Any = None, shape: tuple[int, ...] = ()
    ) -> Iterator[Progress | None]:
        with self._seconds.spent_on(name), self._bar(name, total, generator, shape) as progress:
            yield progress

    def _bar(
        self, name: str, total: int, generator: Any, shape: tuple[int, ...]
    ) -> AbstractContextManager[Progress | None]:
        """What says how far a step is, where it may take long."""
        given = self._generation
        if name == MEMBERS and given is not None and shape[1]:
            if given.generator == GREEDY:
                announce(f"base partitions: greedy k-means to {given.k} clusters ...")
                return nullcontext()
            return progress_bar(MEMBERS, given.n_steps(generator, shape), are_alike=given.generator in INDEPENDENT)
        if name == CHOICE:
            line = "against single clouds of the same shape, and in halves of the objects"
            return progress_bar(CHOICE, 100, line, are_alike=False)
        if name == CANDIDATES:
            line = "by several algorithms in several scales, rated by trees that learned on synthetic sets"
            return progress_bar("candidate partitions", 100, line, are_alike=False)
        if name == METHODS_COMPARED:
            return progress_bar(name, total, "on the same partitions", are_alike=False)
        if name == STABILITY:
            return progress_bar("resamples", total)
        if name == COLUMNS:
            some = f"{n} of {total:,} columns" if (n := n_left_out(total)) < total else None
            return progress_bar("without a column", n, some)
        return nullcontext()

    def announce(self, text: str) -> None:
        announce(text)


def combine_analysis(path: Path, output: Path, overwrite: bool, **settings: Any) -> dict[str, Any]:
    """Do what ``ensemblage combine`` does; the summary of the analysis."""
    options = CommonOptions.of(settings)
    wanted, source = Consensus.of(settings.pop("k"), settings), InputFile.of(path, settings, "missing", "noise")
    options.check_pairs(wanted.estimator())
    request = AnalysisRequest("combine", source, wanted, options)
    asked = {"seed": wanted.seed, "k": wanted.k, **options.identity()}
    return analyse(request, output, overwrite, asked, partial(_combined, request))


def _combined(request: AnalysisRequest, folder: Folder, content: bytes, seconds: Seconds) -> Analysed:
    """The consensus of the partitions of a file that was read as ``content``."""
    name = request.source.path.name
    with seconds.spent_on("read"):
        members = request.source.several_members(content)
    request.options.announce_alerts(name, plain_alerts(members))
    announce_notes(name, members.notes)
    check_align(request.options.old, members.ids)
    pairs = request.options.pair_files.pairs(members.ids, name)
    wanted, old = request.consensus, request.options.old
    settings = wanted.settings(align_by(old, members.ids))
    with errors_with_ids(members.ids):
        found = run_on_labels(wanted.estimator(), members.ensemble, pairs, settings, AnnouncedRun(seconds))
    announce_numbers(found.consensus, old)
    return Analysed(found, members, pairs, Wanted(all_methods=request.options.others))


def analyse(
    request: AnalysisRequest,
    output: Path,
    overwrite: bool,
    asked: Mapping[str, Any],
    make: Callable[[Folder, bytes, Seconds], Analysed],
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
    wanted.announce_memory()
    content = b"" if is_copy else source.read()
    made_of = {"command": request.command, "ensemblage": __version__, **source.identity(content)}
    identity = {**made_of, **asked, **wanted.identity()}

    def begin() -> None:
        announce("compiling once; later commands reuse the result")

    place = temporary_folder(output, identity) if is_copy else output_folder(output, identity, overwrite)
    with on_first_compilation(begin), place as folder, _interruptible(folder):
        if folder.has(*FILES[:-1], *[PROFILE] * request.options.selective_markers):
            announce(f"{folder.path}: finished by an earlier run with the same settings")
            request.options.announce_alerts(source.path.name, folder.summary.get("alerts", ()))
            return folder.summary
        seconds.started(folder.summary.get("seconds", {}))
        folder.summary["seconds"] = seconds
        summary = _finish(folder, request, make(folder, content, seconds), seconds)
        if is_copy:
            with seconds.spent_on(WRITE):
                write_cells(source, folder.path, output, overwrite)
        return summary


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
            announce(f"{folder.path} keeps {ENSEMBLE}: what follows with other settings goes on from there")
        raise


def forget_threads(model: Any) -> Any:
    """The model itself, which is from then on what it is whatever --jobs was: threads change no result, and no file."""
    for part in (model, *(getattr(model, name, None) for name in ("generator_", "consensus_"))):
        known = {} if part is None else part.get_params()
        if part is not None:
            part.set_params(**{name: None for name in known if name.rpartition("__")[2] == "n_jobs"})
    return model


def _finish(folder: Folder, request: AnalysisRequest, given: Analysed, seconds: Seconds) -> dict[str, Any]:
    """Describe what was found and fill the folder; the summary."""
    found, objects, watch = given.found, given.objects, AnnouncedRun(seconds)
    settings = request.consensus.settings()

    def keep(merged: MergedClusters | None) -> None:
        with seconds.spent_on(WRITE):
            if not folder.has(ENSEMBLE):
                folder.put(ENSEMBLE, found.ensemble.save)
            model = found.consensus
            if given.preprocessor is not None:
                model = model_of(given.preprocessor, found.generator, settings.seed, found)
            folder.put(MODEL, partial(save_model, forget_threads(model)))
            folder.put(LABELS, lambda path: write_labels(path, objects.ids, found.consensus, merged))

    said = describe(found, objects, given.wanted, settings, watch, keep)
    if said.profile is not None and given.wanted.selective:
        with seconds.spent_on(WRITE):
            folder.put(PROFILE, partial(write_profile, found=said.profile))
    counting = {name: value for name, value in {**folder.identity, **given.settings}.items() if name not in KINDS}
    shown = {name: value for name, value in counting.items() if not (value is None or value is False or value == [])}
    shown |= request.options.pair_files.descriptions(given.pairs)
    name = request.source.path.name
    with watch.step(PAGE):
        summary = {
            **summary_of(
                found,
                objects,
                said,
                modes_of(found.ensemble, settings.n_jobs) if request.command == "combine" else None,
                seconds=seconds,
                settings={"file": name, **shown, "notes": "; ".join(objects.notes)},
                title=f"Consensus clustering of {name}",
                command=repeated_command(dict.fromkeys(("data", "ensemble"), request.source.path)),
            ),
            "alerts": plain_alerts(objects),
        }
        folder.summary = remove_objects(summary) if request.options.no_objects else summary
        folder.put(REPORT, lambda path: report.build(folder.summary, path=path))
    folder.summary["seconds"] = seconds
    folder.put_summary()
    return folder.summary


def plain_alerts(objects: Features | Members) -> list[dict[str, str]]:
    """What of the data probably makes a wrong answer, as summary.json has it."""
    return spelled_alerts(alert.as_dict() for alert in objects.alerts)
