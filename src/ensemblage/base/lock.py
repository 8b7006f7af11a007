"""Locks between processes: one that writes to a place keeps the others out.

The system holds the lock for an open file and ends it with the process, however that ends: no lock is ever stale.
"""

from __future__ import annotations

import errno
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

fcntl: Any
msvcrt: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

LOCK = ".ensemblage-lock"
"""Name of the file in a folder that is in use; it goes when the folder is free."""
FAR = 2**30
"""The byte that is locked on Windows, where nobody can read a locked one: behind the text."""
HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextmanager
def only_user(place: Path, path: Path | None = None) -> Iterator[None]:
    """Keep other processes out of a folder that exists, or from a file whose lock is the file ``path``.

    Raises
    ------
    FileNotFoundError
        If the folder has just gone.
    ValueError
        If another process uses the place: says which.
    """
    path = path or place / LOCK
    handle = None
    with suppress_unsupported():
        handle = take(path)
        if handle is None:
            raise ValueError(
                f"Results must be written by one command at a time. {place} is in use by {_user(path)}. "
                "Wait for it to end, or name another place."
            )
    try:
        yield
    finally:
        if handle is not None:
            release(handle, path)


@contextmanager
def suppress_unsupported() -> Iterator[None]:
    """Where the file system has no locks, there is nothing to hold on to."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL):
            raise


def take(path: Path) -> int | None:
    """Lock a file, which is made if there is none: its open handle; None if another process has the lock.

    Raises
    ------
    OSError
        If the file cannot be opened, or the file system has no locks.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(handle)
            # Its user may have removed it after it was opened here: then it keeps nobody out.
            if _is_still(handle, path):
                os.ftruncate(handle, 0)
                os.write(handle, f"process {os.getpid()} on {platform.node()}".encode())
                return handle
        except OSError as error:
            os.close(handle)
            if error.errno in HELD:
                return None
            raise
        os.close(handle)


def release(handle: int, path: Path) -> None:
    """Give the lock back and remove its file."""
    if fcntl is None:  # an open file cannot be removed on Windows, and stays if another process has opened it meanwhile
        os.close(handle)
    with suppress(OSError):
        path.unlink(missing_ok=True)
    if fcntl is not None:
        os.close(handle)


def _lock(handle: int) -> None:
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        os.lseek(handle, FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)


def _is_still(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _user(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace") or "another process"
    return "another process"
