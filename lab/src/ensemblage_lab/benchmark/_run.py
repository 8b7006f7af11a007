"""From request to page: what is not done yet is done, each result kept as soon as it is there."""

from __future__ import annotations

import math
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ensemblage._version import __version__
from ensemblage.base.options import Message, Option
from ensemblage.base.validation import check_whole
from ensemblage_lab._methods import import_method
from ensemblage_lab._runner import ProgressLines, Runner, open_store
from ensemblage_lab._store import Key, LabelMatrix, Origin, Result, Store
from ensemblage_lab._worker import NOT_FINISHED, Done, Limits, Worker
from ensemblage_lab.benchmark._board import Board, Row
from ensemblage_lab.benchmark._entries import (
    FEATURES,
    N_TRIED,
    POOLS,
    Entry,
    answer,
    entries_of,
    make_pool,
    try_outside,
)
from ensemblage_lab.benchmark._kinds import Traits, traits_of
from ensemblage_lab.benchmark._page import write_board
from ensemblage_lab.benchmark._scores import aris
from ensemblage_lab.benchmark._sets import BenchmarkSet, copies, find_sets
from ensemblage_lab.benchmark._submission import write_submission

RESULTS = "benchmark.sqlite"
PROTOCOL = "5"
"""Grows when what is run changes; results of other protocols stay in the file and are not used."""
SMALL, LARGE = 1_000, 2_000
"""Objects of the sets of a quick run, at most; of those that get all that is asked for, in a full run."""
GIVEN_UP = 3
"""In a full run, what was not finished on so many sets is not tried on those with no fewer objects and features."""
FOR_POOLS = 5
"""A pool is made once and used by many: it may take so many times as long as a cell."""
LEFT_OUT = 0.1
"""Share of the objects that is left out to see whether the answer stays."""
NO_POOL, NOT_TRIED = "no pool", "not tried"


@dataclass(frozen=True)
class Request:
    """What to run.

    Attributes
    ----------
    output : Path
        Folder of the results and of the page.
    suite : Path, optional
        Folder of a public suite.
    data : tuple of Path
        Folders of ``<name>.csv.gz`` with a column label or class.
    generated : bool
        The sets that are made here, too. Without a suite and without data they are all there is.
    pools : tuple of str
        Of "random-k", "diverse", "both", "published". The last two are made once; the others with every seed.
    seeds : int
        Runs with seed 0, 1, ... Rankers, and rules that cluster for every number of clusters, get seed 0 only.
    parts : bool
        One more run, of seed 0, leaves out a tenth of the objects.
    sets : tuple of str
        Names as "fcps/atom" or of a battery; empty: all.
    methods, consensus : tuple of str
        The user's classes as package.module:Class: of features, of label matrices.
    only : tuple of str
        Names of entries; empty: all.
    largest : int, optional
        Most objects of a set.
    large : int, optional
        Objects of a set above which there is one seed, nothing is left out, and no pool "both".
    given_up : int, optional
        What was not finished on so many sets is not tried on those with no fewer objects and features, nor with other
        seeds; None: always tried.
    limits : Limits
        Of one cell; a pool may take five times as long.
    minutes : float, optional
        After these no cell begins; tables and page show the finished cells, and the same request continues.
    n_jobs : int
        Processes that work.
    retry : bool
        Do again what failed.
    """

    output: Path
    suite: Path | None = None
    data: tuple[Path, ...] = ()
    generated: bool = False
    pools: tuple[str, ...] = ("random-k", "diverse")
    seeds: int = 2
    parts: bool = True
    sets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    consensus: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    largest: int | None = None
    large: int | None = None
    given_up: int | None = None
    limits: Limits = field(default_factory=Limits)
    minutes: float | None = None
    n_jobs: int = 1
    retry: bool = False

    def check(self) -> None:
        """Refuse what cannot be run, before anything is."""
        check_whole(self.seeds, "seeds of a benchmark", 1, 100)
        check_whole(self.n_jobs, "n_jobs of a benchmark", 1, 64)
        unknown = [pool for pool in self.pools if pool not in POOLS]
        if unknown:
            got = f" must be among {', '.join(POOLS)}. Got {unknown[0]!r}. Choose among these."
            raise ValueError(Message(Option("pools"), got))
        for option, names in (("methods", self.methods), ("consensus", self.consensus)):
            for name in names:
                import_method(name, option)
        known = {entry.name for pool in (FEATURES, *self.pools) for entry in self.entries(pool)}
        unknown = [name for name in self.only if name not in known]
        if unknown:
            rule = f" must name entries of the pools that are asked for, as {', '.join(sorted(known)[:6])}."
            got = f" Got {unknown[0]!r}. The column entry of cells.csv has all names."
            raise ValueError(Message(Option("only"), rule, got))

    def entries(self, pool: str) -> list[Entry]:
        """All that get this pool, or the features."""
        return entries_of(pool, self.methods, self.consensus)

    def notes(self) -> list[str]:
        """What was run, in sentences."""
        seeds = f"{self.seeds} seeds" if self.seeds > 1 else "One seed"
        again = "a run without a tenth of the objects" if self.parts else "nothing left out"
        once = "one run of rankers, of rules that cluster for every k, and of the pools both and published"
        time, memory = f"{self.limits.seconds:.0f} seconds of the processor", f"{self.limits.gigabytes:.0f} GB"
        few = f"Sets of more than {self.large or 0:,} objects get one seed, no run on a part, no pool of both kinds."
        not_tried = (
            f"What was not finished on {self.given_up} sets is not tried on those with no fewer objects and features, "
            "nor with other seeds on the same: it counts as not finished."
        )
        return [
            f"{seeds}, and {again}; {once}. Sets that stand twice are taken once.",
            f"A cell has {time} and {memory}; making a pool has {FOR_POOLS} times the seconds.",
            *([few] if self.large is not None else []),
            *([not_tried] if self.given_up is not None else []),
        ]


@dataclass(frozen=True)
class Unit:
    """What is done with one pool of one set: the entries that get it, with one seed, on all or most objects."""

    set: BenchmarkSet
    pool: str
    seed: int
    is_part: bool
    entries: tuple[Entry, ...]

    @property
    def experiment(self) -> str:
        return f"{self.pool} of a part" if self.is_part else self.pool

    def key(self, entry: Entry) -> Key:
        return Key(self.experiment, self.set.name, entry.key, self.seed)

    @property
    def pool_key(self) -> Key:
        return Key(self.experiment, self.set.name, "", self.seed)

    @property
    def origin(self) -> Origin:
        return Origin(self.set.fingerprint, PROTOCOL)

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The objects that take part."""
        n = len(self.set.X)
        if not self.is_part:
            return np.arange(n)
        return np.sort(np.random.default_rng(self.seed).permutation(n)[: n - int(LEFT_OUT * n)])


def benchmark(request: Request, announce: Callable[[str], None]) -> Path:
    """Run what is not there yet and write tables and page.

    Parameters
    ----------
    request : Request
    tell : callable
        Gets lines about the progress.

    Returns
    -------
    pathlib.Path
        The page.

    Raises
    ------
    ValueError
        If there are no sets, a name is unknown, or the folder is in use.
    """
    start = time.monotonic()
    request.check()
    _try_outside(request)
    chosen = _choose_sets(request)
    for name, reason in chosen.left_out.items():
        announce(f"{name}: left out, {reason}")
    units = chosen.units(request)
    with open_store(request.output, RESULTS, __version__) as store:
        left = _units_to_do(units, store, request)
        announce(f"{sum(len(todo) for _, todo in left):,} cells to do, {len(units):,} pools of sets")
        if left and request.minutes != 0:
            again = {unit.key(entry) for unit, todo in left for entry in todo}
            found = {key: result for key, result in _stored_results(units, store).items() if key not in again}
            _Run(request, store, left, found, chosen.shapes, announce, start).finish()
        n_left = sum(len(todo) for _, todo in _units_to_do(units, store, replace(request, retry=False)))
        if n_left:
            without = (" without ", Option("retry", True)) if request.retry else ()
            announce(Message(f"{n_left:,} cells are left: the same command", *without, " goes on"))
        board = _board(units, store, _traits(chosen.sets, store))
        submission = write_submission(board.rows, request.limits, PROTOCOL, request.output)
        if submission is not None:
            announce(f"{submission} has the results of your methods")
        notes = [*request.notes(), *([f"Not run yet: {n_left:,} cells."] if n_left else [])]
        return write_board(board, chosen.sets, request.output, time.monotonic() - start, notes, chosen.left_out)


def _try_outside(request: Request) -> None:
    """Refuse a user's class that does not cluster a few objects within the limits."""
    entries = [*request.entries(FEATURES), *(request.entries("both") if request.consensus else [])]
    outside = [entry for entry in entries if entry.is_outside]
    with closing(Worker(request.limits)) as worker:
        for entry, done in zip(outside, worker.each(try_outside, (), outside), strict=True):
            if done.error is not None:
                option = Option("methods" if entry.kind == "clusterer" else "consensus")
                rule = f" must name classes that cluster {N_TRIED} objects: fit_predict, or labels_ after fit."
                got = f" Got {entry.name}: {done.error.rstrip('.')}. Correct the class, or name another."
                raise ValueError(Message(option, rule, got))


def status(request: Request) -> list[tuple[str, str, str, str]]:
    """What is done: (pool, results, of so many, failed or not finished)."""
    request.check()
    units = _choose_sets(request).units(request)
    with closing(Store(request.output / RESULTS, __version__, must_exist=True)) as store:
        found = _stored_results(units, store)
    rows = []
    for experiment in dict.fromkeys(unit.experiment for unit in units):
        own = [unit.key(entry) for unit in units if unit.experiment == experiment for entry in unit.entries]
        known = [found[key] for key in own if key in found]
        failed = sum(result.error is not None for result in known)
        rows.append((experiment, str(len(known)), str(len(own)), str(failed)))
    return rows


@dataclass(frozen=True)
class _Chosen:
    """The sets that are asked for."""

    sets: dict[str, BenchmarkSet]
    """Small ones first."""
    left_out: dict[str, str]
    """Why others are not scored on: they cannot be read, or stand twice."""

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Objects and features."""
        return {name: one.X.shape for name, one in self.sets.items()}

    def units(self, request: Request) -> list[Unit]:
        """Everything that is done, what comes first first."""
        return sorted((unit for one in self.sets.values() for unit in _units_of(one, request)), key=_turn)


def _choose_sets(request: Request) -> _Chosen:
    """The sets of the request's folders that it names, read, each once; an unknown name is refused."""
    only_generated = request.suite is None and not request.data
    sets = find_sets(request.suite, request.data, generated=request.generated or only_generated)
    left_out = {}
    names = {name for one in sets for name in (one.name, one.battery)}
    unknown = [name for name in request.sets if name not in names]
    if unknown:
        some = ", ".join([*sorted({one.battery for one in sets}), sets[0].name])
        got = f" must name sets or batteries, as {some}. Got {unknown[0]!r}. Look into the folder."
        raise ValueError(Message(Option("sets"), got))
    if request.sets:
        sets = [one for one in sets if one.name in request.sets or one.battery in request.sets]
    read = []
    for one in sets:
        try:
            n = len(one.X)
            if request.largest is None or n <= request.largest:
                _ = one.whole, one.published
                read.append(one)
        except Exception as error:  # a set that cannot be read must not end a run of hours
            said = str(error).partition("\n")[0]
            left_out[one.name] = said if isinstance(error, ValueError) else f"{type(error).__name__}: {said}"
    twice = copies(read)
    left_out |= {name: f"it is {other} again" for name, other in twice.items()}
    kept = sorted((one for one in read if one.name not in twice), key=lambda one: len(one.X))
    return _Chosen({one.name: one for one in kept}, left_out)


def _turn(unit: Unit) -> int:
    """What comes first if the time is short: every set once, then with other seeds; what is slow, last."""
    if any(entry.is_slow for entry in unit.entries):
        return 4
    return {"published": 1, "both": 3}.get(unit.pool, 2 if unit.is_part or unit.seed else 0)


def _units_of(one: BenchmarkSet, request: Request) -> Iterator[Unit]:
    is_large = request.large is not None and len(one.X) > request.large
    for pool in (FEATURES, *request.pools):
        if (pool == "published" and len(one.published) < 3) or (pool == "both" and is_large):
            continue
        chosen = tuple(e for e in request.entries(pool) if not request.only or e.name in request.only)
        again = tuple(e for e in chosen if not e.is_once)
        for part in ([e for e in chosen if not e.is_slow], [e for e in chosen if e.is_slow]):
            if part:
                yield Unit(one, pool, 0, False, tuple(part))
        if again and pool not in ("published", "both") and not is_large:
            yield from (Unit(one, pool, seed, False, again) for seed in range(1, request.seeds))
            if request.parts:
                yield Unit(one, pool, 0, True, again)


def _stored_results(units: list[Unit], store: Store) -> dict[Key, Result]:
    """The results that are there, of these data and this protocol."""
    stored = {name: store.results(name) for name in {unit.experiment for unit in units}}
    wanted = {(unit.key(entry), unit.origin) for unit in units for entry in unit.entries}
    return {
        key: result
        for results in stored.values()
        for (key, origin), result in results.items()
        if (key, origin) in wanted
    }


def _units_to_do(units: list[Unit], store: Store, request: Request) -> list[tuple[Unit, list[Entry]]]:
    """What has no result that stays."""
    done = {key for key, result in _stored_results(units, store).items() if _stays(result, request)}
    left = [(unit, [entry for entry in unit.entries if unit.key(entry) not in done]) for unit in units]
    return [(unit, todo) for unit, todo in left if todo]


def _stays(result: Result, request: Request) -> bool:
    """Whether a result is not done again: what was not finished is, if there is more time or memory now."""
    if result.error is None:
        return True
    if NOT_FINISHED not in result.error:
        return not request.retry
    limits = request.limits if not result.error.startswith(NO_POOL) else _of_pools(request.limits)
    had = {unit: float(number) for number, unit in re.findall(r"([\d.]+) (s|GB)\b", result.error)}
    enough = had.get("s", limits.seconds) >= limits.seconds and had.get("GB", limits.gigabytes) >= limits.gigabytes
    return bool(had) and enough and not request.retry


def _of_pools(limits: Limits) -> Limits:
    return limits._replace(seconds=FOR_POOLS * limits.seconds)


class _Run(Runner[tuple[Unit, list[Entry]]]):
    """The cells that are left, each in a process with limits."""

    def __init__(
        self,
        request: Request,
        store: Store,
        left: list[tuple[Unit, list[Entry]]],
        found: dict[Key, Result],
        shapes: dict[str, tuple[int, ...]],
        announce: Callable[[str], None],
        start: float,
    ) -> None:
        end = math.inf if request.minutes is None else start + 60 * request.minutes
        super().__init__(store, request.n_jobs, request.limits, end)
        self.request, self.left = request, left
        self.progress = ProgressLines(announce, sum(len(todo) for _, todo in left))
        self.unfinished: dict[tuple[str, str], dict[str, tuple[int, ...]]] = defaultdict(dict)
        """By pool and method, the sets where it was not finished, with their numbers of objects and of features."""
        for key, result in found.items():
            self._note(key, result, shapes[key.dataset])

    def finish(self) -> None:
        """Do it all."""
        self.run(self.left)

    def do(self, work: tuple[Unit, list[Entry]], worker: Worker | None) -> None:
        """The entries of a unit that are left."""
        assert worker is not None
        unit, todo = work
        try:
            X = unit.set.features(unit.rows) if unit.is_part else unit.set.whole
        except ValueError as error:  # of a part; the whole was read before
            for entry in todo:
                self._keep(unit, entry, Result(None, f"ValueError: {error}", 0.0))
            return
        references = [reference[unit.rows] for reference in unit.set.references]
        members, failed = self._members(unit, X, worker)
        if failed is not None:
            for entry in todo:
                self._keep(unit, entry, Result(None, failed.error, failed.seconds))
            return
        of_members = None if members is None else aris(references, members)
        tried = []
        for entry in todo:
            given_up = self._why_skipped(unit, entry)
            if given_up is None:
                tried.append(entry)
            else:
                self._keep(unit, entry, Result(None, given_up, 0.0))
        common = (X, members, references, of_members, unit.set.k, unit.seed)
        for entry, done in zip(tried, worker.each(answer, common, tried), strict=True):
            result = Result(None, done.error, done.seconds)
            if done.value is not None:
                numbers, seconds = done.value
                result = Result({**numbers, "megabytes": done.megabytes}, None, seconds)
            self._keep(unit, entry, result)

    def _keep(self, unit: Unit, entry: Entry, result: Result) -> None:
        self.keep(unit.key(entry), unit.origin, result)
        cells = self.progress
        with self.lock:
            self._note(unit.key(entry), result, unit.set.X.shape)
            cell = f"{unit.set.name}, {unit.experiment}, {entry.name}"
            cells.count(lambda: f"{cells.done:,} of {cells.total:,} cells: {cell}")

    def _members(
        self, unit: Unit, X: NDArray[np.float64], worker: Worker
    ) -> tuple[NDArray[np.int64] | None, Done | None]:
        """The labels of the pool, of an earlier run or made now; why there are none."""
        if unit.pool == FEATURES:
            return None, None
        if unit.pool == "published":
            return np.column_stack(list(unit.set.published.values())), None

        def make() -> tuple[LabelMatrix, float]:
            worker.limits = _of_pools(self.request.limits)
            done = worker.do(make_pool, unit.pool, X, unit.seed)
            worker.limits = self.request.limits
            if done.value is None:
                raise _NoPoolError(done)
            return LabelMatrix(done.value.astype(np.int32), {"seconds": done.seconds}), done.seconds

        try:
            return np.asarray(self.label_matrix(unit.pool_key, unit.origin, make).labels, dtype=np.int64), None
        except _NoPoolError as failed:
            return None, failed.done._replace(error=f"{NO_POOL}: {failed.done.error}")

    def _why_skipped(self, unit: Unit, entry: Entry) -> str | None:
        """Why an entry is not tried, if it is not."""
        if self.request.given_up is None:
            return None
        key, shape = unit.key(entry), unit.set.X.shape
        with self.lock:
            of = self.unfinished[unit.pool, key.method]
            # A wide set is no smaller than one of more objects and few features.
            sets = [name for name, other in of.items() if all(np.less_equal(other, shape))]
        if unit.set.name not in sets and len(sets) < self.request.given_up:
            return None
        where = "with another seed or more objects here" if unit.set.name in sets else f"on {', '.join(sets)}"
        limits = f"{self.request.limits.seconds:.0f} s and {self.request.limits.gigabytes:.0f} GB"
        return f"{NOT_FINISHED}: {NOT_TRIED} with {limits}, as it was not {where}"

    def _note(self, key: Key, result: Result, shape: tuple[int, ...]) -> None:
        if result.error is not None and result.error.startswith(NOT_FINISHED) and NOT_TRIED not in result.error:
            self.unfinished[key.experiment.removesuffix(" of a part"), key.method][key.dataset] = shape


class _NoPoolError(Exception):
    """A pool that could not be made."""

    def __init__(self, done: Done) -> None:
        super().__init__(done.error)
        self.done = done


def _traits(sets: dict[str, BenchmarkSet], store: Store) -> dict[str, Traits]:
    """What the kinds of the sets go by, measured once."""
    stored = store.results("traits")
    found = {}
    for name, one in sets.items():
        key, origin = Key("traits", name, "", 0), Origin(one.fingerprint, PROTOCOL)
        if (known := stored.get((key, origin))) is None:
            traits = traits_of(one.whole, one.references[0])
            store.put(key, origin, known := Result(traits._asdict(), None, 0.0))
        found[name] = Traits(**(known.numbers or {}))
    return found


def _board(units: list[Unit], store: Store, traits: dict[str, Traits]) -> Board:
    found = _stored_results(units, store)
    rows = []
    for unit in units:
        for entry in unit.entries:
            result = found.get(unit.key(entry))
            if result is not None:
                rows.append(Row(unit.set.name, unit.pool, entry, unit.seed, unit.is_part, unit.rows, result))
    return Board(rows, traits)
