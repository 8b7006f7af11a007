"""A temporary folder that goes with the ensemble that uses it."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from ensemblage._rows import StoredRows
from ensemblage._validation import check_path


class Scratch:
    """A folder of its own; it is removed with the last object that holds on to it, by the process that made it."""

    def __init__(self, parent: str | PathLike[str] | None, outer: Scratch | None = None) -> None:
        self._outer = outer  # is not removed before this one
        if parent is not None:
            parent = check_path(parent, "scratch")
        try:
            self.path = Path(tempfile.mkdtemp(prefix="ensemblage-", dir=parent))
        except OSError as error:
            raise ValueError(
                f"scratch must be a folder that can be written. Got {str(parent)!r} ({error.strerror}). "
                "Name another one, or make it first."
            ) from None
        self._remove = weakref.finalize(self, _remove_folder, self.path, os.getpid())

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

    def rows(self, name: str, shape: tuple[int, int], dtype: np.dtype[Any]) -> StoredRows:
        return StoredRows(self.path / name, shape, dtype, keep=self)

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    @contextmanager
    def folder(self) -> Iterator[Scratch]:
        """A folder in this one, for work that another thread or a forked process may do at the same time."""
        inner = Scratch(self.path, self)
        try:
            yield inner
        except BaseException:
            inner._remove()
            raise


def _remove_folder(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child leaves it to the process that made it
        shutil.rmtree(path, ignore_errors=True)


def write_array(file: IO[bytes], array: np.ndarray[Any, Any]) -> None:
    """All of a contiguous array: a raw file may take less than it is given."""
    buffer = np.ascontiguousarray(array).data.cast("B")
    while len(buffer):
        buffer = buffer[file.write(buffer) :]
