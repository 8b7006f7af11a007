"""From request to page: what is not done yet is done, each result kept as soon as it is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._lock import only_user
from ensemblage._validation import check_whole
from ensemblage._version import __version__
from ensemblage.benchmark._board import Board, Row
from ensemblage.benchmark._entries import FEATURES, POOLS, Entry, entries_of, make_pool, solve
from ensemblage.benchmark._page import write_board
from ensemblage.benchmark._scores import aris, score
from ensemblage.benchmark._sets import BenchmarkSet, find_sets
from ensemblage.benchmark._worker import Done, Limits, Worker
from ensemblage.files._atomic import make_folder
from ensemblage.reproduce._store import Key, Made, Origin, Result, Store
from ensemblage.tables import Preprocessor

RESULTS = "benchmark.sqlite"
PROTOCOL = "1"
"""Grows when what is run changes; results of other protocols stay in the file and are not used."""
SMALL = 1_000
"""Objects of the sets of a quick run, at most."""
LEFT_OUT = 0.1
"""Share of the objects that is left out to see whether the answer stays."""
SECONDS_BETWEEN_LINES = 10.0


@dataclass(frozen=True)
class Request:
    """What to run.

    Attributes
    ----------
    output : Path
        Folder of the results and of the page.
    suite, data : Path, optional
        Folder of a public suite, folder of ``<name>.csv.gz`` with a column label.
    pools : tuple of str
        Of "random-k", "diverse", "both", "published".
    seeds : int
        Runs with seed 0, 1, ...; one more, of seed 0, leaves out a tenth of the objects.
    sets : tuple of str
        Names as "fcps/atom" or of a battery; empty: all.
    methods, consensus : tuple of str
        The user's classes as package.module:Class: of features, of label matrices.
    only : tuple of str
        Names of entries; empty: all.
    largest : int, optional
        Most objects of a set.
    limits : Limits
        Of one cell.
    retry : bool
        Do again what failed.
    """

    output: Path
    suite: Path | None = None
    data: Path | None = None
    pools: tuple[str, ...] = ("random-k", "diverse")
    seeds: int = 2
    sets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    consensus: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    largest: int | None = None
    limits: Limits = field(default_factory=Limits)
    retry: bool = False

    def check(self) -> None:
        """Refuse what cannot be run, before anything is."""
        check_whole(self.seeds, "seeds of a benchmark", 1, 100)
        unknown = [pool for pool in self.pools if pool not in POOLS]
        if unknown:
            raise ValueError(f"--pools must be among {', '.join(POOLS)}. Got {unknown[0]!r}. Choose of these.")


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
        return Key(self.experiment, self.set.name, f"{entry.name}, {entry.column}", self.seed)

    @property
    def pool_key(self) -> Key:
        return Key(self.experiment, self.set.name, "", self.seed)

    def rows(self) -> NDArray[np.intp]:
        """The objects that take part."""
        n = len(self.set.X)
        if not self.is_part:
            return np.arange(n)
        return np.sort(np.random.default_rng(self.seed).permutation(n)[: n - int(LEFT_OUT * n)])


def benchmark(request: Request, tell: Callable[[str], None]) -> Path:
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
    request.check()
    units = list(_units(request, tell))
    make_folder(request.output)
    start = time.perf_counter()
    with only_user(request.output), closing(Store(request.output / RESULTS, __version__)) as store:
        left = _left(units, store, request.retry)
        tell(f"{sum(len(todo) for _, todo in left):,} cells to do, {len(units):,} pools of sets")
        _do(left, store, request.limits, tell)
        board = _board(units, store)
        return write_board(board, request.output, time.perf_counter() - start)


def status(request: Request) -> list[tuple[str, str, str, str]]:
    """What is done: (pool, results, of so many, failed or not finished)."""
    request.check()
    units = list(_units(request, lambda text: None))
    with closing(Store(request.output / RESULTS, __version__, must_exist=True)) as store:
        found = _found(units, store)
    rows = []
    for experiment in dict.fromkeys(unit.experiment for unit in units):
        own = [unit.key(entry) for unit in units if unit.experiment == experiment for entry in unit.entries]
        known = [found[key] for key in own if key in found]
        failed = sum(result.error is not None for result in known)
        rows.append((experiment, str(len(known)), str(len(own)), str(failed)))
    return rows


def _units(request: Request, tell: Callable[[str], None]) -> Iterator[Unit]:
    """Everything that is asked for; sets that cannot be read are told and left out."""
    for one in find_sets(request.suite, request.data):
        if request.sets and one.name not in request.sets and one.battery not in request.sets:
            continue
        try:
            n = len(one.X)
        except (ValueError, OSError) as error:
            tell(f"{one.name}: left out, {error}")
            continue
        if request.largest is not None and n > request.largest:
            continue
        for pool in (FEATURES, *request.pools):
            if pool == "published" and len(one.published()) < 3:
                continue
            entries = entries_of(pool, request.methods, request.consensus)
            chosen = tuple(e for e in entries if not request.only or e.name in request.only)
            if not chosen:
                continue
            seeds = 1 if pool == "published" else request.seeds
            yield from (Unit(one, pool, seed, False, chosen) for seed in range(seeds))
            if pool != "published":
                yield Unit(one, pool, 0, True, chosen)


def _origin(unit: Unit) -> Origin:
    return Origin(unit.set.fingerprint, PROTOCOL)


def _found(units: list[Unit], store: Store) -> dict[Key, Result]:
    """The results that are there, of these data and this protocol."""
    stored = {name: store.results(name) for name in {unit.experiment for unit in units}}
    wanted = {(unit.key(entry), _origin(unit)) for unit in units for entry in unit.entries}
    return {
        key: result
        for results in stored.values()
        for (key, origin), result in results.items()
        if (key, origin) in wanted
    }


def _left(units: list[Unit], store: Store, retry: bool) -> list[tuple[Unit, list[Entry]]]:
    found = _found(units, store)
    done = {key for key, result in found.items() if result.error is None or not retry}
    left = [(unit, [entry for entry in unit.entries if unit.key(entry) not in done]) for unit in units]
    return [(unit, todo) for unit, todo in left if todo]


def _do(left: list[tuple[Unit, list[Entry]]], store: Store, limits: Limits, tell: Callable[[str], None]) -> None:
    """Run what is left; every result is on the disk before the next begins."""
    total, n_done, told = sum(len(todo) for _, todo in left), 0, time.monotonic()
    with closing(Worker(limits)) as worker:
        for unit, todo in left:
            rows = unit.rows()
            X = Preprocessor().fit_transform(unit.set.X[rows])
            members, failed = _members(unit, X, rows, store, worker)
            for entry in todo:
                done = failed or worker.do(solve, entry, X, members, unit.set.k, unit.seed)
                store.put(unit.key(entry), _origin(unit), _result(done, unit, rows, members))
                n_done += 1
                if time.monotonic() - told > SECONDS_BETWEEN_LINES:
                    told = time.monotonic()
                    tell(f"{n_done:,} of {total:,} cells: {unit.set.name}, {unit.experiment}, {entry.name}")


def _members(
    unit: Unit, X: NDArray[np.float64], rows: NDArray[np.intp], store: Store, worker: Worker
) -> tuple[NDArray[np.int64] | None, Done | None]:
    """The labels of the pool, of an earlier run or made now; why there are none."""
    if unit.pool == FEATURES:
        return None, None
    if unit.pool == "published":
        return np.column_stack(list(unit.set.published().values())), None
    stored = store.ensemble(unit.pool_key, _origin(unit))
    if stored is not None:
        return np.asarray(stored.labels), None
    done = worker.do(make_pool, unit.pool, X, unit.set.k, unit.seed)
    if done.value is None:
        return None, done._replace(error=f"no pool: {done.error}")
    store.put_ensemble(unit.pool_key, _origin(unit), Made(done.value, {"seconds": done.seconds}), done.seconds)
    return done.value, None


def _result(done: Done, unit: Unit, rows: NDArray[np.intp], members: NDArray[np.int64] | None) -> Result:
    """Scores of labels, and the labels, run-length free: one number per object."""
    if done.value is None:
        return Result(None, done.error, done.seconds)
    references = [reference[rows] for reference in unit.set.references]
    labels = np.unique(done.value, return_inverse=True)[1] if (done.value >= 0).all() else done.value
    numbers: dict[str, Any] = score(references, np.asarray(done.value))
    numbers |= {"k": len(np.unique(done.value[done.value >= 0])), "true_k": unit.set.k}
    numbers |= {"megabytes": done.megabytes, "labels": labels.tolist()}
    if members is not None:
        of_members = aris(references, members)
        numbers |= {"best_member": float(of_members.max()), "mean_member": float(of_members.mean())}
    return Result(numbers, None, done.seconds)


def _board(units: list[Unit], store: Store) -> Board:
    found = _found(units, store)
    rows = []
    for unit in units:
        objects = unit.rows()
        for entry in unit.entries:
            result = found.get(unit.key(entry))
            if result is not None:
                rows.append(Row(unit.set.name, unit.pool, entry, unit.seed, unit.is_part, objects, result))
    return Board(rows)
