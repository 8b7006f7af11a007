"""The output folder: finished work in it is used again, nothing foreign in it is touched, nothing is half written.

``summary.json`` records, under "run", what the folder was made of and the hash of every file written.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ensemblage._files import written_whole
from ensemblage.report._build import to_json

ENSEMBLE, LABELS, REPORT, SUMMARY = "ensemble.npz", "labels.csv", "report.html", "summary.json"
FILES = (ENSEMBLE, LABELS, REPORT, SUMMARY)
NOTHING_UNASKED = "Nothing that exists is overwritten unasked."


@dataclass
class Folder:
    """An output folder that is open for one run."""

    path: Path
    identity: Mapping[str, Any]
    """All that the results depend on, by the file that is made first of it."""
    summary: dict[str, Any] = field(default_factory=dict)
    """Of an earlier run with the same identity, if there was one."""
    hashes: dict[str, str] = field(default_factory=dict)
    """Of the files in the folder that this run may use."""

    def has(self, *names: str) -> bool:
        """Whether these files are finished."""
        return all(name in self.hashes for name in names)

    def put(self, name: str, write: Callable[[Path], object]) -> None:
        """Write a file under another name, record it, then rename it. What another analysis left goes first."""
        new = self.path / f".new-{name}"
        try:
            write(new)
            for stale in {*FILES, name} - {*self.hashes, SUMMARY}:
                (self.path / stale).unlink(missing_ok=True)
            self.hashes[name] = _hash(new)
            self.put_summary()
            os.replace(new, self.path / name)
        except BaseException:
            new.unlink(missing_ok=True)
            raise

    def put_summary(self) -> None:
        """Write what is known so far."""
        record = {**self.summary, "run": {**self.identity, "files": self.hashes}}
        with written_whole(self.path / SUMMARY, encoding="utf-8") as file:
            file.write(to_json(record))


@contextmanager
def output_folder(path: Path, identity: Mapping[str, Any], first: tuple[str, ...], overwrite: bool) -> Iterator[Folder]:
    """Open a folder; one that was made for nothing goes away again.

    With ``overwrite`` everything is made anew but for an ensemble that would be the same.

    Parameters
    ----------
    path : the folder
    identity : all that the results depend on
    first : the keys of ``identity`` that the ensemble depends on
    overwrite : bool
        Whether files of other origin may be replaced.
    """
    is_new = not path.exists()
    try:
        _make(path)
        yield _opened(path, identity, first, overwrite)
    finally:
        if is_new:
            with suppress(OSError):
                path.rmdir()


def _make(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise ValueError(f"The output must be a folder. {path} is a file. Name another one with -o.")
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        raise ValueError(
            f"The output must be a folder that can be written. {path} cannot: {error.strerror}. "
            "Name another one with -o."
        ) from None


def _opened(path: Path, identity: Mapping[str, Any], first: tuple[str, ...], overwrite: bool) -> Folder:
    present = [name for name in FILES if (path / name).exists()]
    summary = read_summary(path)
    record = summary.pop("run", {})
    recorded = record.pop("files", {})
    ours = {name: recorded[name] for name in present if name in recorded and _hash(path / name) == recorded[name]}
    foreign = [name for name in present if name not in ours and not (name == SUMMARY and record)]
    changed = [key for key in {**identity, **record} if record.get(key) != identity.get(key)] if record else []
    if foreign and not overwrite:
        raise ValueError(
            f"{NOTHING_UNASKED} {path / foreign[0]} is not (or no longer) what an earlier run wrote. "
            "Choose another folder, or add --overwrite."
        )
    if changed and not overwrite:
        raise ValueError(
            f"A folder holds one analysis. {path} holds one with {_differences(record, identity, changed)}. "
            "Choose another folder, or add --overwrite."
        )
    if not overwrite:
        return Folder(path, identity, summary, ours)
    kept = {ENSEMBLE: ours[ENSEMBLE]} if ENSEMBLE in ours and not set(first) & set(changed) else {}
    return Folder(path, identity, {}, kept)


def finished_folder(path: Path, overwrite: bool) -> Folder:
    """A folder that a run has finished, to make its page again."""
    summary = read_summary(path)
    if set(summary) <= {"run", "seconds"}:
        raise ValueError(f"{path} must be the folder of a finished run. It has no whole {SUMMARY}. Do the run first.")
    identity = summary.pop("run")
    hashes = identity.pop("files", {})
    page = path / REPORT
    if page.exists() and _hash(page) != hashes.get(REPORT) and not overwrite:
        raise ValueError(
            f"{NOTHING_UNASKED} {page} is not what the run wrote. Add --overwrite, or name a page with -o."
        )
    return Folder(path, identity, summary, hashes)


def read_summary(path: Path) -> dict[str, Any]:
    """The summary in a folder; empty if it is not one of ours."""
    try:
        summary = json.loads((path / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    run = summary.get("run") if isinstance(summary, dict) else None
    return summary if isinstance(run, dict) and isinstance(run.get("files", {}), dict) else {}


def _differences(record: Mapping[str, Any], identity: Mapping[str, Any], changed: list[str]) -> str:
    told = [f"{key} {_told(record.get(key))} instead of {_told(identity.get(key))}" for key in changed]
    return ", ".join(told)


def _told(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 20 else f"{text[:8]}..."


def _hash(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
