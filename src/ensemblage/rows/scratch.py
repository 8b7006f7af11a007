"""A temporary folder that goes with the ensemble that uses it, or when the process is told to end.

A process that was killed leaves its folder; the next one that uses the same parent removes it.
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

from ensemblage._lock import LOCK, release, suppress_unsupported, take
from ensemblage._validation import check_path

PREFIX = "ensemblage-"
DEFAULT_MEMORY = 10**9
_locks: dict[Path, int | None] = {}
"""Every folder of this process, and the handle of its lock."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_locks.clear)  # a forked child leaves them to the process that made them


def remove_scratch(path: Path) -> None:
    """Remove a folder of this process; what a thread is still writing into it goes too."""
    if path not in _locks:
        return
    handle = _locks.pop(path)
    for _ in range(100):
        shutil.rmtree(path, ignore_errors=True)
        if handle is not None:  # on Windows a file that is open stays until now
            release(handle, path / LOCK)
            handle = None
        if not path.exists():
            return
        time.sleep(0.01)


def remove_all_scratch() -> None:
    """Remove every folder of this process, which is about to end without the usual clean-up."""
    for path in list(_locks):
        remove_scratch(path)


def _remove_left(parent: Path) -> None:
    """Remove the folders of processes that were killed: nobody has their locks."""
    for lock in parent.glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError):
            if lock.parent in _locks or not os.stat(lock).st_size:  # of this process, or about to be locked
                continue
            handle = take(lock)
            if handle is not None:
                _locks[lock.parent] = handle
                remove_scratch(lock.parent)


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
        except OSError as error:
            raise ValueError(
                f"scratch must be a folder that can be written. Got {str(parent)!r} ({error.strerror}). "
                "Name another one, or make it first."
            ) from None
        self._remove = weakref.finalize(self, remove_scratch, self.path)
        _remove_left(self.path.parent)

    def check_room(self, n_bytes: int) -> None:
        free = shutil.disk_usage(self.path).free
        if free < n_bytes:
            raise self._full(f"{free / 1e9:.1f} GB free of {n_bytes / 1e9:.1f} GB needed")

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """A new file of the folder."""
        try:
            with open(self.path / name, "wb", buffering=0) as file:
                yield file
        except OSError as error:
            (self.path / name).unlink(missing_ok=True)
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
