"""The folder of an analysis: what ``ensemblage combine`` does from top to bottom, and what ``run`` shares with it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
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
from ensemblage.kernels._jit import on_first_compilation
from ensemblage.pipeline._describe import (
    COLUMNS,
    METHODS_COMPARED,
    PAGE,
    STABILITY,
    Description,
    describe_of_labels,
    n_left_out,
    rank,
    summary_of,
)
from ensemblage.pipeline._run import CANDIDATES, CHOICE, MEMBERS, Progress, RunResult, Watch, run_on_labels
from ensemblage.profiles._record import Profile
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
        return cls(
            no_objects=settings.pop("no_objects"),
            others=others,
            without_columns=settings.pop("without_columns", False),
            selective_markers=settings.pop("selective_markers", False),
            old=old,
            pair_files=PairFiles.of(settings),
            strict=settings.pop("strict"),
        )

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
    asked: Mapping[str, Any]
    """What the results depend on beside the source and the consensus."""

    def identity(self, content: bytes) -> dict[str, Any]:
        """All that the results depend on, where the source was read as ``content``."""
        made_of = {"command": self.command, "ensemblage": __version__, **self.source.identity(content)}
        return {**made_of, **self.asked, **self.consensus.identity()}


def combine_analysis(path: Path, output: Path, overwrite: bool, **settings: Any) -> dict[str, Any]:
    """Do what ``ensemblage combine`` does; the summary of the analysis."""
    options = CommonOptions.of(settings)
    consensus, source = Consensus.of(settings.pop("k"), settings), InputFile.of(path, settings, "missing", "noise")
    options.check_pairs(consensus.estimator())
    consensus.check()
    asked = {"seed": consensus.seed, "k": consensus.k, **options.identity()}
    with open_analysis(AnalysisRequest("combine", source, consensus, options, asked), output, overwrite) as analysis:
        if analysis.is_finished:
            return analysis.folder.summary
        with analysis.seconds.spent_on("read"):
            members = source.several_members(analysis.content)
        options.announce_alerts(path.name, plain_alerts(members))
        announce_notes(path.name, members.notes)
        check_align(options.old, members.ids)
        pairs = options.pair_files.pairs(members.ids, path.name)
        execution = consensus.settings(align_by(options.old, members.ids))
        watch = AnnouncedRun(analysis.seconds)
        with errors_with_ids(members.ids):
            found = run_on_labels(consensus.estimator(), members.ensemble, pairs, execution, watch)
        announce_numbers(found.consensus, options.old)
        ranking = rank(found.ensemble, watch)
        analysis.write_clusters(found, members, found.consensus)
        said = describe_of_labels(found, options.others, execution, watch)
        analysis.write_page(found, members, ranking, said, analysis.settings_shown(pairs))
        analysis.write_copy()
        return analysis.folder.summary


# -- an open folder, and what is written into it -----------------------------------------------------------------------


@contextmanager
def open_analysis(request: AnalysisRequest, output: Path, overwrite: bool) -> Iterator[Analysis]:
    """Read the source and open the folder for this analysis alone; a later command goes on from what it keeps.

    Where the output is a .h5ad file, the folder is a temporary one, and the file is all that is written.
    """
    source, seconds = request.source, Seconds()
    is_copy = is_annotated_copy(output)
    if is_copy:
        check_copy(source, output, overwrite)
    request.consensus.announce_memory()
    content = b"" if is_copy else source.read()
    identity = request.identity(content)
    place = temporary_folder(output, identity) if is_copy else output_folder(output, identity, overwrite)
    compiles = partial(announce, "compiling once; later commands reuse the result")
    with on_first_compilation(compiles), place as folder, _interruptible(folder):
        is_finished = folder.has(*FILES[:-1], *[PROFILE] * request.options.selective_markers)
        if is_finished:
            announce(f"{folder.path}: finished by an earlier run with the same settings")
            request.options.announce_alerts(source.path.name, folder.summary.get("alerts", ()))
        else:
            seconds.started(folder.summary.get("seconds", {}))
            folder.summary["seconds"] = seconds
        yield Analysis(request, folder, content, seconds, is_finished, output if is_copy else None, overwrite)


@contextmanager
def _interruptible(folder: Folder) -> Iterator[None]:
    """Say what the folder keeps if the command is stopped or refused."""
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


@dataclass(frozen=True)
class Analysis:
    """An analysis whose folder is open."""

    request: AnalysisRequest
    folder: Folder
    content: bytes
    """The source as it was read."""
    seconds: Seconds
    is_finished: bool
    """Whether an earlier run has left nothing to do."""
    copy: Path | None
    """The .h5ad file that is written instead of a folder."""
    overwrite: bool

    def write_clusters(
        self, found: RunResult, objects: Features | Members, model: Any, merged: MergedClusters | None = None
    ) -> None:
        """Write partitions, model and labels: whoever stops what takes long after them has these."""
        with self.seconds.spent_on(WRITE):
            if not self.folder.has(ENSEMBLE):
                self.folder.put(ENSEMBLE, found.ensemble.save)
            self.folder.put(MODEL, partial(save_model, forget_threads(model)))
            self.folder.put(LABELS, lambda path: write_labels(path, objects.ids, found.consensus, merged))

    def write_profile(self, found: Profile) -> None:
        """Write the tests of the markers."""
        with self.seconds.spent_on(WRITE):
            self.folder.put(PROFILE, partial(write_profile, found=found))

    def settings_shown(
        self, pairs: Mapping[str, NDArray[np.int64]], decided: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The settings on the page: of ``decided``, which the data decided, None did not count.

        ``pairs`` are those that the consensus keeps.
        """
        given = {**self.folder.identity, **(decided or {})}
        counting = {name: v for name, v in given.items() if name not in KINDS}
        shown = {name: v for name, v in counting.items() if not (v is None or v is False or v == [])}
        return shown | self.request.options.pair_files.descriptions(pairs)

    def write_page(
        self,
        found: RunResult,
        objects: Features | Members,
        ranking: list[Any],
        said: Description,
        shown: Mapping[str, Any],
        merged: MergedClusters | None = None,
    ) -> None:
        """Write the page and the summary of all that was found; ``shown`` are the settings."""
        name, folder = self.request.source.path.name, self.folder
        with self.seconds.spent_on(PAGE):
            summary = {
                **summary_of(
                    found,
                    objects,
                    said,
                    ranking=ranking,
                    merged=merged,
                    seconds=self.seconds,
                    settings={"file": name, **shown, "notes": "; ".join(objects.notes)},
                    title=f"Consensus clustering of {name}",
                    command=repeated_command(dict.fromkeys(("data", "ensemble"), self.request.source.path)),
                ),
                "alerts": plain_alerts(objects),
            }
            folder.summary = remove_objects(summary) if self.request.options.no_objects else summary
            folder.put(REPORT, lambda path: report.build(folder.summary, path=path))
        folder.summary["seconds"] = self.seconds
        folder.put_summary()

    def write_copy(self) -> None:
        """Write the .h5ad file, if that is what was asked for."""
        if self.copy is not None:
            with self.seconds.spent_on(WRITE):
                write_cells(self.request.source, self.folder.path, self.copy, self.overwrite)


def forget_threads(model: Any) -> Any:
    """The model itself, which is from then on what it is whatever --jobs was: threads change no result, and no file."""
    for part in (model, *(getattr(model, name, None) for name in ("generator_", "consensus_"))):
        known = {} if part is None else part.get_params()
        if part is not None:
            part.set_params(**{name: None for name in known if name.rpartition("__")[2] == "n_jobs"})
    return model


def plain_alerts(objects: Features | Members) -> list[dict[str, str]]:
    """What of the data probably makes a wrong answer, as summary.json has it."""
    return spelled_alerts(alert.as_dict() for alert in objects.alerts)


# -- what is said meanwhile --------------------------------------------------------------------------------------------


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
