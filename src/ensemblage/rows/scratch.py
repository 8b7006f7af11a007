"""Temporary folder, removed with its ensemble or at exit.

A process that was killed leaves its folder; the next one that uses the same parent removes it, and nothing else. A
folder was left by us if three things hold: its name begins with ``PREFIX``; the file ``MARKER`` in it states that very
name; and all else in it was written by us, files whose names end in ``SUFFIX`` and folders made of these.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from ensemblage.base.lock import LOCK, release, suppress_unsupported, take
from ensemblage.base.validation import check_path

PREFIX = "ensemblage-scratch-"
MARKER = ".ensemblage-scratch"
SUFFIX = ".scratch"
DEFAULT_MEMORY = 10**9
_locks: dict[Path, int | None] = {}
"""Every folder of this process, and the handle of its lock."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_locks.clear)  # a forked child leaves them to the process that made them


def remove_scratch(path: Path) -> None:
    """Remove a folder of this process; what a thread is still writing into it goes too.

    Marker and lock go last, so that another process knows the folder if this one is killed here.
    """
    if path not in _locks:
        return
    handle = _locks.pop(path)
    for _ in range(100):
        if _is_emptied(path):
            with suppress(OSError):
                (path / MARKER).unlink(missing_ok=True)
            if handle is not None:
                release(handle, path / LOCK)
                handle = None
            with suppress(OSError):
                path.rmdir()
            if not path.exists():
                return
        time.sleep(0.01)
    if handle is not None:  # on Windows a file that is open stays: the next process may take the folder
        os.close(handle)


def remove_all_scratch() -> None:
    """Remove every folder of this process, which is about to end without the usual clean-up."""
    for path in reversed(list(_locks)):  # inner folders before those that they lie in
        remove_scratch(path)


def _is_emptied(path: Path) -> bool:
    """Remove all but marker and lock; whether nothing else is left."""
    with suppress(OSError):
        for entry in path.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name not in (MARKER, LOCK):
                entry.unlink(missing_ok=True)
    try:
        return {entry.name for entry in path.iterdir()} <= {MARKER, LOCK}
    except OSError:
        return not path.exists()


def _remove_left(parent: Path, user: int) -> None:
    """Remove the folders that killed processes of the same user left: nobody has their locks."""
    for path in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if path in _locks or path.lstat().st_uid != user or not _was_made_here(path):
                continue
            handle = take(path / LOCK)
            if handle is not None:
                _locks[path] = handle
                remove_scratch(path)


def _was_made_here(path: Path) -> bool:
    """Whether a folder is a temporary one, by its marker and by all that is in it."""
    is_marked = not path.is_symlink() and (path / MARKER).is_file() and (path / MARKER).read_bytes() == _mark(path)
    return is_marked and _holds_only_ours(path)


def _mark(path: Path) -> bytes:
    """Content of the marker: it names its folder, so that no copy and no folder of another name has it."""
    return f"Temporary folder {path.name} of ensemblage, which may remove it.\n".encode()


def _holds_only_ours(path: str | Path) -> bool:
    with os.scandir(path) as entries:
        return all(
            entry.name.startswith(PREFIX) and _holds_only_ours(entry.path)
            if entry.is_dir(follow_symlinks=False)
            else entry.is_file(follow_symlinks=False) and (entry.name in (MARKER, LOCK) or entry.name.endswith(SUFFIX))
            for entry in entries
        )


class Scratch:
    """A folder of its own; it is removed with the last object that holds on to it, by the process that made it.

    ``memory`` is what the process may take, in bytes, when it works there.
    """

    def __init__(
        self, parent: str | PathLike[str] | None, memory: int = DEFAULT_MEMORY, outer: Scratch | None = None
    ) -> None:
        self.memory = memory
        self._outer = outer  # is not removed before this one
        if parent is not None:
            parent = check_path(parent, "scratch")
        try:
            self.path: Path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
            _locks[self.path] = None
            with suppress_unsupported():
                _locks[self.path] = take(self.path / LOCK)
                (self.path / MARKER).write_bytes(_mark(self.path))  # from now on it may be removed, if nobody locks it
        except OSError as error:
            raise ValueError(
                f"scratch must be a folder that can be written. Got {str(parent)!r} ({error.strerror}). "
                "Name another one, or make it first."
            ) from None
        self._remove = weakref.finalize(self, remove_scratch, self.path)
        _remove_left(self.path.parent, self.path.stat().st_uid)

    def file(self, name: str) -> Path:
        """Where the file of that name lies."""
        return self.path / f"{name}{SUFFIX}"

    def check_room(self, n_bytes: int) -> None:
        free = shutil.disk_usage(self.path).free
        if free < n_bytes:
            raise self._full(f"{free / 1e9:.1f} GB free of {n_bytes / 1e9:.1f} GB needed")

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """A new file of the folder."""
        try:
            with open(self.file(name), "wb", buffering=0) as file:
                yield file
        except OSError as error:
            self.file(name).unlink(missing_ok=True)
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise self._full(error.strerror or "an error") from None

    def _full(self, got: str) -> ValueError:
        return ValueError(
            f"The temporary folder must have room for the coded labels. Got {got} in {self.path.parent}. "
            "Name a folder on a larger disk with scratch=."
        )

    @contextmanager
    def folder(self) -> Iterator[Scratch]:
        """A folder in this one, for work that another thread or a forked process may do at the same time."""
        with Scratch(self.path, self.memory, self).or_removed() as inner:
            yield inner

    @contextmanager
    def or_removed(self) -> Iterator[Scratch]:
        """This folder, which an error removes at once: who shows the error may hold on to what was there."""
        try:
            yield self
        except BaseException:
            self._remove()
            raise


def write_array(file: IO[bytes], array: np.ndarray[Any, Any]) -> None:
    """All of a contiguous array: a raw file may take less than it is given."""
    buffer = np.ascontiguousarray(array).data.cast("B")
    while len(buffer):
        buffer = buffer[file.write(buffer) :]
