"""The output folder: finished work in it is used again, nothing foreign in it is touched, nothing is half written.

``summary.json`` records, under "run", what the folder was made of and the hash of every file written. One command at a
time uses a folder; what it is writing lies in a folder of its own in there, whose name begins with ``.new-``.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2.exceptions import TemplateError

from ensemblage.base.atomic import Place, make_folder, only_user
from ensemblage.report._build import to_json
from ensemblage.report._summary import SCHEMA

MODEL, ENSEMBLE, LABELS, REPORT, SUMMARY = "model.npz", "ensemble.npz", "labels.csv", "report.html", "summary.json"
FILES = (MODEL, ENSEMBLE, LABELS, REPORT, SUMMARY)
SWEEP, PROFILE, PROBABILITIES, BALL = "sweep.csv", "profile.csv", "probabilities.csv", "ball.csv"
"""What "sweep", ``--selective-markers`` and "summarize" write beside them."""
ALL_FILES = (*FILES, SWEEP, PROFILE, PROBABILITIES, BALL)
GENERATED = frozenset({MODEL, ENSEMBLE})
"""Files that exist before the partitions are combined: the model has no consensus yet."""
NEW = ".new-"
NO_OBJECTS = "no_objects"
AFTER_ENSEMBLE = frozenset(
    {
        *("k", "k_range", "method", "methods", "set", "allow_one", "stability", "align"),
        *("must_link", "cannot_link", "merge_unsupported", "honest_markers", NO_OBJECTS),
    }
)
"""Of what a run depends on: what its ensemble does not."""
NOTHING_UNASKED = "Existing files must not be overwritten unasked."


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
    places: dict[str, Place] = field(default_factory=dict)
    """Of the files as they were before any of them went: what replaces them has their permissions."""

    def has(self, *names: str) -> bool:
        """Whether these files are finished."""
        return all(name in self.hashes for name in names)

    def put(self, name: str, write: Callable[[Path], object]) -> None:
        """Write a file elsewhere, record it, then move it here. What another analysis left goes first.

        A process that is killed in between leaves no file whose record is another one's.
        """
        with self._new(name) as new:
            write(new)
            written = file_hash(new)
            kept = {known for known in self.hashes if known != name or self.hashes[name] == written}
            for stale in {*ALL_FILES, name} - {*kept, SUMMARY}:
                self._place(stale).path.unlink(missing_ok=True)
            self.hashes[name] = written
            self.put_summary()
            self._place(name).take(new)

    def put_summary(self) -> None:
        """Write what is known so far."""
        record = {"schema": SCHEMA, **self.summary, "run": {**self.identity, "files": self.hashes}}
        with self._new(SUMMARY) as new:
            # The name of an input need not be text: what is none of it is escaped, as JSON does.
            new.write_text(to_json(record), encoding="utf-8", errors="backslashreplace")
            self._place(SUMMARY).take(new)

    def _place(self, name: str) -> Place:
        if name not in self.places:
            self.places[name] = Place.of(self.path / name)
        return self.places[name]

    @contextmanager
    def _new(self, name: str) -> Iterator[Path]:
        """Where to write a file before it moves here; its folder goes again."""
        with tempfile.TemporaryDirectory(prefix=NEW, dir=self.path, ignore_cleanup_errors=True) as own:
            yield Path(own) / name


class TemporaryFolder(Folder):
    """A folder that goes again: only the model is put into it, of which something else is written."""

    def put(self, name: str, write: Callable[[Path], object]) -> None:
        if name == MODEL:
            write(self.path / name)

    def put_summary(self) -> None:
        """Nothing is kept."""


@contextmanager
def temporary_folder(target: Path, identity: Mapping[str, Any]) -> Iterator[TemporaryFolder]:
    """A folder beside a file that is written of what an analysis finds, and of nothing else."""
    with tempfile.TemporaryDirectory(prefix=NEW, dir=target.parent, ignore_cleanup_errors=True) as own:
        yield TemporaryFolder(Path(own), identity)


@contextmanager
def output_folder(path: Path, identity: Mapping[str, Any], overwrite: bool) -> Iterator[Folder]:
    """Open a folder for one command alone; one that was made for nothing goes away again.

    With ``overwrite`` everything is made anew but for an ensemble that would be the same.

    Parameters
    ----------
    path : the folder
    identity : all that the results depend on
    overwrite : bool
        Whether files of other origin may be replaced.
    """
    is_new = not path.exists()
    try:
        with _lock_folder(path):
            yield _open_folder(path, identity, overwrite)
    finally:
        if is_new:
            with suppress(OSError):
                path.rmdir()


@contextmanager
def _lock_folder(path: Path) -> Iterator[None]:
    """Make a folder if need be, keep other commands out of it, and remove what killed ones were writing."""
    while True:
        with ExitStack() as stack:
            make_folder(path)
            try:
                stack.enter_context(only_user(path))
            except FileNotFoundError:  # another command made it for nothing, and took it away again
                continue
            for left in path.glob(f"{NEW}*"):
                if left.is_dir() and not left.is_symlink() and all(map(_is_half_written, left.iterdir())):
                    shutil.rmtree(left, ignore_errors=True)
                elif left.is_file() and left.name.removeprefix(NEW) in FILES:  # as version 0.1 left it
                    left.unlink(missing_ok=True)
            yield
            return


def _is_half_written(path: Path) -> bool:
    """Whether a file has a name of ours, or one that `atomic_write` gives it meanwhile."""
    is_ours = any(path.name == name or path.name.startswith(f".{name}.") for name in ALL_FILES)
    return is_ours and path.is_file()


def _open_folder(path: Path, identity: Mapping[str, Any], overwrite: bool) -> Folder:
    present = [name for name in ALL_FILES if (path / name).exists()]
    summary = read_summary(path)
    record = summary.pop("run", {})
    recorded = record.pop("files", {})
    ours = {
        name: recorded[name]
        for name in present
        if name in recorded and (path / name).is_file() and file_hash(path / name) == recorded[name]
    }
    foreign = [name for name in present if name not in ours and not (name == SUMMARY and record)]
    changed = [key for key in {**identity, **record} if record.get(key) != identity.get(key)] if record else []
    if ENSEMBLE in ours and GENERATED.issuperset(ours) and AFTER_ENSEMBLE.issuperset(changed):
        changed = []  # nothing depends on them yet: the earlier run was stopped, or refused
    if foreign and not overwrite:
        raise ValueError(
            f"{NOTHING_UNASKED} {path / foreign[0]} is not (or no longer) what an earlier run wrote. "
            "Choose another folder, or add --overwrite."
        )
    if changed and not overwrite:
        raise ValueError(
            f"A folder must hold only one analysis. {path} holds one {_difference(record, identity, changed)}. "
            "Choose another folder, or add --overwrite."
        )
    if not overwrite:
        return Folder(path, identity, summary, ours)
    keeps = ENSEMBLE in ours and AFTER_ENSEMBLE.issuperset(changed)
    kept = {name: hashed for name, hashed in ours.items() if name in GENERATED and keeps}
    return Folder(path, identity, {}, kept)


def _difference(record: Mapping[str, Any], identity: Mapping[str, Any], changed: list[str]) -> str:
    """What sets an analysis apart, as a person has typed it: files by their names, and nothing that follows from it."""
    inputs, others = {"input"} & {*changed}, [key for key in changed if key not in ("input", "diverse_k")]
    parts = ["of another input, or of this one before it was changed"] if inputs else []
    with_ = [
        f"another file for {key}"
        if _isfile_hash(record.get(key)) and _isfile_hash(identity.get(key))
        else f"{key} {_short_text(record.get(key))} instead of {_short_text(identity.get(key))}"
        for key in others
    ]
    parts += [f"with {', '.join(with_)}"] if with_ else []
    return ", ".join(parts)


@contextmanager
def open_finished_folder(path: Path, overwrite: bool) -> Iterator[Folder]:
    """Open a folder that a run has finished for one command alone, to make its page again."""
    with _lock_folder(path):
        summary = read_finished_summary(path)
        identity = summary.pop("run")
        hashes = identity.pop("files", {})
        page = path / REPORT
        if page.exists() and file_hash(page) != hashes.get(REPORT) and not overwrite:
            raise ValueError(
                f"{NOTHING_UNASKED} {page} is not what the run wrote. Add --overwrite, or name a page with -o."
            )
        yield Folder(path, identity, summary, hashes)


def read_finished_summary(path: Path) -> dict[str, Any]:
    """The summary in a folder that a run has finished."""
    summary = read_summary(path)
    if set(summary) <= {"schema", "run", "seconds"}:
        raise ValueError(
            f"{path} must be the folder of a finished run. It has no complete {SUMMARY}. Run first, or "
            f"name another folder."
        )
    if (command := summary["run"].get("command")) in ("sweep", "summarize"):
        raise ValueError(
            f"{path} must be the folder of run or combine. It is one of {command}, whose page is {REPORT}."
        )
    return summary


def check_finished_files(path: Path, *names: str) -> dict[str, Any]:
    """What a finished folder was made of, if these files in it are as they were written."""
    if not path.is_dir():
        raise ValueError(
            f"{path} must be the folder of a finished run. It is none. Name the folder that ensemblage run -o made."
        )
    record: dict[str, Any] = read_finished_summary(path)["run"]
    for name in names:
        is_there = (path / name).is_file()
        if not is_there or file_hash(path / name) != record.get("files", {}).get(name):
            got = "another one" if is_there else "none"
            raise ValueError(
                f"{path} must have the {name} that the run wrote. It has {got}. Do the run again with --overwrite."
            )
    return record


def read_summary(path: Path) -> dict[str, Any]:
    """The summary in a folder; empty if it is not one of ours.

    Raises
    ------
    ValueError
        If a newer version has written it.
    """
    try:
        summary = json.loads((path / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(summary, dict) or not _are_dicts(summary.get("run"), summary.get("seconds", {})):
        return {}
    schema = summary.get("schema", 1)
    if not _are_dicts(summary["run"].get("files", {})) or not isinstance(schema, int):
        return {}
    if schema > SCHEMA:
        raise ValueError(
            f"{SUMMARY} must be of a schema that this version knows, at most {SCHEMA}. Got {schema} in {path}. "
            "Use the version of ensemblage that wrote it, or a newer one."
        )
    return {"schema": schema, **summary}


def _are_dicts(*values: Any) -> bool:
    return all(isinstance(value, dict) for value in values)


@contextmanager
def check_summary_unchanged(path: Path) -> Iterator[None]:
    """Whatever goes wrong with a summary that was read back is that it was changed: a run writes it whole."""
    try:
        yield
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TemplateError,
        TypeError,
        ValueError,
    ) as error:
        raise ValueError(
            f"{path / SUMMARY} must be unchanged since the run. It was changed or is damaged "
            f"({type(error).__name__}: {str(error)[:80]}). Do the run again with --overwrite."
        ) from None


def _isfile_hash(value: Any) -> bool:
    return re.fullmatch("[0-9a-f]{64}", str(value)) is not None


def _short_text(value: Any) -> str:
    text = "none" if value is None else "a file" if _isfile_hash(value) else str(value)
    return text if len(text) <= 60 else f"{text[:8]}..."


def file_hash(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_suffix(path: Path, *suffixes: str) -> None:
    if path.suffix.lower() not in suffixes:
        raise ValueError(
            f"The name of the output must end in {' or '.join(suffixes)}. Got {path}. Choose a name with that ending."
        )


def check_free(path: Path, overwrite: bool) -> None:
    """The output is a new file, or may be replaced, in a folder that is there."""
    if path.is_dir():
        raise ValueError(f"The output must be a file. {path} is a folder. Name a file in that folder.")
    if path.exists() and not overwrite:
        raise ValueError(f"{NOTHING_UNASKED} {path} exists. Name another file, or add --overwrite.")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"The folder of the output must exist. {path.parent} does not. Make that folder first.")
