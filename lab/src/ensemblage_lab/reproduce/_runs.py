"""The data of a run, what is left to do, one ensemble after the other, and doing it."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ensemblage import datasets
from ensemblage.base.threads import thread_count
from ensemblage.datasets._load import Dataset
from ensemblage.labels.ensemble import Ensemble
from ensemblage_lab._methods import MissingMethodError
from ensemblage_lab._runner import ProgressLines, Runner
from ensemblage_lab._store import Key, LabelMatrix, Origin, Result, Store
from ensemblage_lab._worker import Worker
from ensemblage_lab.reproduce._experiment import Case, Experiment, Run
from ensemblage_lab.reproduce._protocol import protocol_of, protocol_of_ensemble


class Data:
    """The data sets of a run, each loaded once; those that cannot be had, with the reason."""

    def __init__(self, folder: Path | None, download: bool) -> None:
        self.folder, self.download = folder, download
        self.skipped: dict[str, str] = {}
        self._loaded: dict[str, Dataset] = {}
        self._given: dict[tuple[str, bool], tuple[Dataset, str]] = {}
        self._lock = threading.Lock()

    def get(self, name: str | None, keeps_gaps: bool = False) -> tuple[Dataset | None, str] | None:
        """The set and its fingerprint; None if it cannot be had. Complete rows only, unless gaps are to be kept."""
        if name is None:
            return None, ""
        with self._lock:
            if name not in self._loaded and name not in self.skipped:
                try:
                    self._loaded[name] = datasets.load_dataset(name, self.folder, download=self.download)
                except datasets.UnavailableError as error:
                    self.skipped[name] = str(error)
            if name in self._loaded and (name, keeps_gaps) not in self._given:
                given = self._loaded[name] if keeps_gaps else complete_rows(self._loaded[name])
                self._given[name, keeps_gaps] = given, _fingerprint(given)
            return self._given.get((name, keeps_gaps))

    def notes(self) -> dict[str, tuple[str, ...]]:
        """What is to say of the sets that were used, by their names."""
        told: dict[str, dict[str, None]] = {}
        for (name, _), (dataset, _) in sorted(self._given.items()):
            told.setdefault(name, {}).update(dict.fromkeys(dataset.notes))
        return {name: tuple(notes) for name, notes in told.items() if notes}


def complete_rows(dataset: Dataset) -> Dataset:
    """The objects without a missing feature, and a note if there are others; classes that are left are renumbered."""
    known = np.asarray(~np.isnan(dataset.X).any(axis=1))
    if known.all():
        return dataset
    if not known.any():
        raise ValueError(
            f"Data set {dataset.name} must have objects without missing features. Each of its {len(known):,} has some. "
            "Fill them in its file."
        )
    y = None if dataset.y is None else np.unique(dataset.y[known], return_inverse=True)[1].astype(np.int64)
    note = f"{np.count_nonzero(~known):,} of {len(known):,} objects have missing features and are left out."
    return replace(dataset, X=dataset.X[known], y=y, notes=(*dataset.notes, note))


def _fingerprint(dataset: Dataset) -> str:
    digest = hashlib.sha256(np.ascontiguousarray(dataset.X).tobytes())
    if dataset.y is not None:
        digest.update(dataset.y.tobytes())
    return digest.hexdigest()[:16]


class Plan(NamedTuple):
    """What is asked of one experiment."""

    experiment: Experiment
    cases: tuple[Case, ...]
    methods: tuple[str, ...]
    runs: int


@dataclass(frozen=True)
class Unit:
    """What is done with one ensemble."""

    experiment: Experiment
    case: Case
    data: str
    todo: tuple[tuple[str, int], ...]
    """(method, seed)"""
    seed: int
    """Of the ensemble."""


class Progress(ProgressLines):
    """How much is done, and how long the rest takes once each case has been done by each method."""

    def __init__(self, announce: Callable[[str], None], total: int = 0, n_jobs: int = 1) -> None:
        super().__init__(announce, total)
        self.failed, self.n_jobs = 0, n_jobs
        self.rest: dict[tuple[str, str, str], int] = defaultdict(int)
        """By experiment, case and method how many are left."""
        self.seconds: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        """What those took that are done."""

    def expect(self, unit: Unit) -> None:
        """Count what a unit will do; its ensemble is a cell of its own, without a method."""
        self.total += len(unit.todo)
        self.rest[unit.experiment.name, unit.case.name, ""] += 1
        for method, _ in unit.todo:
            self.rest[unit.experiment.name, unit.case.name, method] += 1

    def spent(self, cell: tuple[str, str, str], seconds: float) -> None:
        """Note how long something took."""
        self.rest[cell] -= 1
        self.seconds[cell].append(seconds)

    def finished(self, cell: tuple[str, str, str], seconds: float, failed: bool = False) -> None:
        """Count one result."""
        self.failed += failed
        self.spent(cell, seconds)
        self.count(lambda: str(self), last=True)

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        seconds = self.time_left()
        left = "" if not seconds else f", {_duration(seconds)} left"
        return f"{self.done:,} of {self.total:,} results{failed}{left}"

    def time_left(self) -> float | None:
        """Seconds; None while something is left whose like, the same method on the same case, was not done yet.

        The times of a method on other cases are no estimate: their sets may have a hundred times as many objects.
        """
        left = [cell for cell, count in self.rest.items() if count]
        if any(cell not in self.seconds for cell in left):
            return None
        return sum(self.rest[cell] * float(np.mean(self.seconds[cell])) for cell in left) / self.n_jobs


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{round(seconds)} s" if seconds < 90 else f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def units_of(plans: Iterable[Plan], store: Store, data: Data, retry: bool) -> tuple[list[Unit], int]:
    """What is left to do, first runs first, and how many results there are already."""
    units, kept = [], 0
    for plan in plans:
        known = store.results(plan.experiment.name)
        for case in plan.cases:
            loaded = data.get(case.dataset, plan.experiment.keeps_gaps)
            if loaded is None:
                continue
            origins = {m: Origin(loaded[1], protocol_of(plan.experiment, case, m)) for m in plan.methods}
            have = {pair for pair, result in known.items() if not (retry and result.error)}
            wanted = [(m, s) for s in range(plan.runs) for m in plan.methods]
            todo = [(m, s) for m, s in wanted if (Key(plan.experiment.name, case.name, m, s), origins[m]) not in have]
            kept += len(wanted) - len(todo)
            units += _split(plan.experiment, case, loaded[1], todo)
    return sorted(units, key=lambda unit: unit.seed), kept


def _split(experiment: Experiment, case: Case, data: str, todo: Sequence[tuple[str, int]]) -> list[Unit]:
    by_seed: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for method, seed in todo:
        by_seed[0 if experiment.one_ensemble else seed].append((method, seed))
    return [Unit(experiment, case, data, tuple(part), seed) for seed, part in by_seed.items()]


class Execution(Runner[Unit]):
    """Units that are left, done in threads of this process: a published number has no limits.

    Attributes
    ----------
    missing : dict of str to str
        The methods that this version does not have, with the reason.
    """

    def __init__(
        self, units: Sequence[Unit], store: Store, data: Data, n_jobs: int, announce: Callable[[str], None]
    ) -> None:
        n_threads = min(thread_count(n_jobs), max(1, len(units)))
        super().__init__(store, n_threads)
        self.data, self.missing = data, dict[str, str]()
        self.progress = Progress(announce, n_jobs=n_threads)
        for unit in units:
            self.progress.expect(unit)

    def do(self, work: Unit, worker: Worker | None) -> None:
        """Make the ensemble of a unit and measure what is left to do on it."""
        loaded = self.data.get(work.case.dataset, work.experiment.keeps_gaps)
        assert loaded is not None
        start = time.perf_counter()
        try:
            made = self._made(work, loaded[0])
            ensemble = Ensemble._made(made.labels, missing=None if work.experiment.noise_is_cluster else -1)
        except Exception as error:
            for method, seed in work.todo:
                self._keep(work, method, seed, error, 0.0)
            return
        finally:
            self.progress.spent((work.experiment.name, work.case.name, ""), time.perf_counter() - start)
        for method, seed in work.todo:
            run = Run(work.case, loaded[0], ensemble, made.facts, seed, work.experiment.consensus)
            start = time.perf_counter()
            outcome: Any
            try:
                outcome = work.experiment.measure(run, method)
            except Exception as error:
                outcome = error
            self._keep(work, method, seed, outcome, time.perf_counter() - start)

    def _keep(self, unit: Unit, method: str, seed: int, outcome: Any, seconds: float) -> None:
        cell = unit.experiment.name, unit.case.name, method
        if isinstance(outcome, MissingMethodError):
            self.missing[method] = str(outcome)
            with self.lock:
                self.progress.finished(cell, seconds)
            return
        error = f"{type(outcome).__name__}: {outcome}" if isinstance(outcome, Exception) else None
        origin = Origin(unit.data, protocol_of(unit.experiment, unit.case, method))
        self.keep(Key(*cell, seed), origin, Result(None if error else outcome, error, seconds))
        if error:
            self.progress.announce(f"{unit.experiment.name}, {unit.case.name}, {method}, seed {seed} failed: {error}")
        with self.lock:
            self.progress.finished(cell, seconds, bool(error))

    def _made(self, unit: Unit, dataset: Dataset | None) -> LabelMatrix:
        """The ensemble that an earlier run made, or a new one."""
        place = Key(unit.experiment.ensembles or unit.experiment.name, unit.case.name, "", unit.seed)
        origin = Origin(unit.data, protocol_of_ensemble(unit.experiment, unit.case))

        def make() -> tuple[LabelMatrix, float]:
            start = time.perf_counter()
            return unit.experiment.make(unit.case, dataset, unit.seed), time.perf_counter() - start

        return self.label_matrix(place, origin, make)
