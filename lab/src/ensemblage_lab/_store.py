"""Results on disk: one SQLite file, one row per (experiment, data set, method, seed, version, data, protocol)."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FORMAT = 2
"""Of the file; another is refused. Rows of other versions of ensemblage and of other protocols stay in it and are not
used."""
SECONDS_TO_WAIT = 10.0
"""For another process that writes to the file."""
_TABLES = {
    "results": """(
        experiment text, dataset text, method text, seed integer, version text, data text,
        numbers text, error text, seconds real, finished real, protocol text,
        primary key (experiment, dataset, method, seed, version, data, protocol))""",
    "ensembles": """(
        experiment text, dataset text, seed integer, version text, data text,
        labels blob, dtype text, n_partitions integer, facts text, seconds real, protocol text,
        primary key (experiment, dataset, seed, version, data, protocol))""",
}


class Key(NamedTuple):
    """What one result is of."""

    experiment: str
    dataset: str
    method: str
    seed: int


class Origin(NamedTuple):
    """What a result was made from: fingerprints of the data and of the protocol."""

    data: str
    protocol: str


class Result(NamedTuple):
    """Numbers, or the error there were none for."""

    numbers: Mapping[str, Any] | None
    error: str | None
    seconds: float


class LabelMatrix(NamedTuple):
    """A label matrix and what was noted while it was made (JSON)."""

    labels: NDArray[Any]
    facts: Mapping[str, Any]


class Store:
    """The file of results. Every result is on disk when `put` returns; a killed process loses nothing before it."""

    def __init__(self, path: Path, version: str, *, must_exist: bool = False) -> None:
        if must_exist and not path.exists():
            raise ValueError(
                f"A folder with results must hold {path.name}. {path.parent} does not. Run the command first."
            )
        self.path = path
        self.version = version
        self._lock = threading.Lock()
        with self._one_voice():
            self._file = sqlite3.connect(path, check_same_thread=False, timeout=SECONDS_TO_WAIT)
            self._check_format()
            # A commit is safe from a kill and costs no wait for the disk.
            self._file.execute("pragma journal_mode = wal")
            self._file.execute("pragma synchronous = normal")
            self._make_tables()

    def _check_format(self) -> None:
        (found,) = self._file.execute("pragma user_version").fetchone()
        (tables,) = self._file.execute("select count(*) from sqlite_master").fetchone()
        if found != FORMAT and (found or tables):
            self._file.close()
            raise ValueError(
                f"{self.path} must be a results file of format {FORMAT}. Got format {found}, of another version "
                "of ensemblage. Name another folder with -o."
            )

    def _make_tables(self) -> None:
        with self._file:
            # All of it or nothing, and nobody else in between.
            self._file.execute("begin immediate")
            for name, columns in _TABLES.items():
                self._file.execute(f"create table if not exists {name} {columns}")
            self._file.execute(f"pragma user_version = {FORMAT}")

    @contextmanager
    def _one_voice(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, json.JSONDecodeError) as error:
            raise ValueError(
                f"{self.path} must be a results file that can be written. It cannot: {error}. "
                "End the process that uses it, or name another folder with -o."
            ) from None

    def close(self) -> None:
        self._file.close()

    def put(self, key: Key, origin: Origin, result: Result) -> None:
        """Keep a result; one of the same key and origin is replaced."""
        numbers = None if result.numbers is None else json.dumps(result.numbers, default=_plain)
        made = numbers, result.error, result.seconds, time.time()
        row = (*key, self.version, origin.data, *made, origin.protocol)
        with self._lock, self._one_voice(), self._file:
            self._file.execute("insert or replace into results values (?,?,?,?,?,?,?,?,?,?,?)", row)

    def results(self, experiment: str) -> dict[tuple[Key, Origin], Result]:
        """Every result of this version, by its key and origin."""
        query = (
            "select experiment, dataset, method, seed, data, protocol, numbers, error, seconds from results "
            "where experiment = ? and version = ?"
        )
        with self._lock, self._one_voice():
            rows = self._file.execute(query, (experiment, self.version)).fetchall()
            numbers = [json.loads(row[6]) if row[6] else None for row in rows]
        return {
            (Key(*row[:4]), Origin(*row[4:6])): Result(found, *row[7:])
            for row, found in zip(rows, numbers, strict=True)
        }

    def put_ensemble(self, key: Key, origin: Origin, made: LabelMatrix, seconds: float) -> None:
        """Keep a label matrix."""
        labels = np.ascontiguousarray(made.labels)
        packed = zlib.compress(labels.tobytes(), level=1)
        facts = json.dumps(dict(made.facts), default=_plain)
        place = (key.experiment, key.dataset, key.seed, self.version, origin.data)
        row = (*place, packed, labels.dtype.str, labels.shape[1], facts, seconds, origin.protocol)
        with self._lock, self._one_voice(), self._file:
            self._file.execute("insert or replace into ensembles values (?,?,?,?,?,?,?,?,?,?,?)", row)

    def ensemble(self, key: Key, origin: Origin) -> LabelMatrix | None:
        """The label matrix of an experiment, a data set and a seed, if it was made before."""
        query = (
            "select labels, dtype, n_partitions, facts from ensembles "
            "where experiment = ? and dataset = ? and seed = ? and version = ? and data = ? and protocol = ?"
        )
        place = (key.experiment, key.dataset, key.seed, self.version, *origin)
        with self._lock, self._one_voice():
            row = self._file.execute(query, place).fetchone()
        if row is None:
            return None
        try:
            labels = np.frombuffer(zlib.decompress(row[0]), dtype=np.dtype(row[1])).reshape(-1, row[2])
            return LabelMatrix(labels, json.loads(row[3]))
        except (zlib.error, TypeError, ValueError):  # it is damaged: made again, it takes the same place
            return None

    def other_versions(self) -> dict[str, int]:
        """Number of results of other versions of ensemblage."""
        query = "select version, count(*) from results where version != ? group by version order by version"
        with self._lock, self._one_voice():
            return dict(self._file.execute(query, (self.version,)).fetchall())


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    return value.tolist()
