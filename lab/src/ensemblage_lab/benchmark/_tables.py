"""The stored tables of a run, read again: what the page of the leaderboard is made of, without the data."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ensemblage_lab.benchmark._board import SETTINGS

SCHEMA = 1
"""Of the tables and of submissions: grows when a column or a key changes its meaning, or goes."""
FILES = ("leaderboard.csv", "scores.csv", "seconds.csv", "sets.csv", "run.json")
"""What the page needs of a run; points.json is read where it is there."""
POINTS = "points.json"
SCOPES = {"k is known": SETTINGS[0], "k is found": SETTINGS[1]}
"""The scopes of whole boards, by their titles."""


@dataclass(frozen=True)
class StoredSet:
    """A line of sets.csv."""

    name: str
    n: int
    m: int
    k: int
    kind: str

    @property
    def battery(self) -> str:
        """The first part of its name."""
        return self.name.partition("/")[0]


@dataclass(frozen=True)
class StoredLine:
    """One entry with one setting, over the sets."""

    entry: str
    pool: str
    kind: str
    """As `Entry` has them."""
    setting: str
    """ "k known" or "k found"."""
    scores: Mapping[str, float | None]
    """The adjusted Rand index by set; None where the entry failed or was not finished."""
    seconds: Mapping[str, float | None]
    """Of the processor, by set."""
    version: str = ""
    """Of a submitted method."""


@dataclass(frozen=True)
class StoredBoard:
    """The lines of a run, and its sets."""

    sets: Sequence[StoredSet]
    lines: Sequence[StoredLine]
    notes: Sequence[str]
    points: Mapping[str, Mapping[str, Sequence[int]]]
    """Of generated sets: whole numbers from 0 to 99 x and y, and the cluster, −1 for none."""


def check_schema(found: Any, subject: str) -> None:
    """Refuse what another version of the schema wrote."""
    if found != SCHEMA:
        got = "none" if found is None else repr(found)
        raise ValueError(
            f"{subject} must have schema {SCHEMA}. Got {got}. Make it with this version of ensemblage, or read it with "
            "the version that made it."
        )


def read_board(folder: Path) -> StoredBoard:
    """The tables of a folder.

    Raises
    ------
    ValueError
        If one is missing, or was written with another schema.
    """
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise ValueError(f"{folder} must hold the tables of a benchmark. It has no {missing[0]}. Run it anew.")
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    check_schema(run.get("schema"), str(folder / "run.json"))
    points = folder / POINTS
    seconds = {_key(row): row for row in _records(folder / "seconds.csv")}
    kinds = {_key(row): row["kind"] for row in _records(folder / "leaderboard.csv")}
    scores = [row for row in _records(folder / "scores.csv") if row["scope"] in SCOPES]
    tried = {name for row in scores for name, value in row.items() if "/" in name and value}
    sets = [_set_of(row) for row in _records(folder / "sets.csv") if row["set"] in tried]
    return StoredBoard(
        sets,
        [_line_of(row, kinds[_key(row)], seconds.get(_key(row), {}), sets) for row in scores],
        run["notes"],
        json.loads(points.read_text(encoding="utf-8")) if points.is_file() else {},
    )


def _records(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _key(row: Mapping[str, str]) -> tuple[str, str, str]:
    return row["scope"], row["entry"], row["pool"]


def _set_of(row: Mapping[str, str]) -> StoredSet:
    return StoredSet(row["set"], int(row["n_objects"]), int(row["n_features"]), int(row["n_classes"]), row["kind"])


def _line_of(scores: Mapping[str, str], kind: str, seconds: Mapping[str, str], sets: Iterable[StoredSet]) -> StoredLine:
    names = [one.name for one in sets]
    return StoredLine(
        scores["entry"],
        scores["pool"],
        kind,
        SCOPES[scores["scope"]],
        {name: _number(scores[name]) for name in names},
        {name: _number(seconds.get(name, "")) for name in names},
    )


def _number(text: str) -> float | None:
    value = float(text) if text else math.nan
    return None if math.isnan(value) else value
