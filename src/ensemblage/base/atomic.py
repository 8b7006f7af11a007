"""Files that are never half written, and locks between processes: one that writes to a place keeps the others out.

The system holds a lock for an open file and ends it with the process, however that ends: no lock is ever stale.
"""

from __future__ import annotations

import errno
import os
import platform
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple

from ensemblage.base.validation import check_path


def make_folder(path: Path) -> None:
    """Make the folder of an output unless it is there; an error if nothing can be written into it."""
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


class Place(NamedTuple):
    """Where a file is written: through symbolic links, with the permissions of the file that it replaces."""

    path: Path
    """Behind all links."""
    mode: int | None
    """Permissions of the file that is there; None if there is none: those of any new file then."""

    @classmethod
    def of(cls, path: Path) -> Place:
        target = Path(os.path.realpath(path))
        if target.is_symlink():  # links that lead in a circle
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        try:
            return cls(target, stat.S_IMODE(target.stat().st_mode) & 0o777)
        except FileNotFoundError:
            return cls(target, None)

    @contextmanager
    def new(self) -> Iterator[Path]:
        """A file beside the place, which it takes when the block ends without an error."""
        new = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        # The system withholds from a new file what the user's umask says; nobody else reads one that replaces another.
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if self.mode is None else 0o600))
        try:
            yield new
            self.take(new)
        except BaseException:
            new.unlink(missing_ok=True)
            raise

    @contextmanager
    def new_folder(self) -> Iterator[Path]:
        """A folder beside the place, which it takes when the block ends without an error and has freed the place."""
        new = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        new.mkdir(0o777 if self.mode is None else 0o700)
        try:
            yield new
            if self.mode is not None:
                os.chmod(new, self.mode)
            os.replace(new, self.path)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise

    def take(self, new: Path) -> None:
        """Move a finished file here."""
        if self.mode is not None:
            os.chmod(new, self.mode)
        try:
            os.replace(new, self.path)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with self.new() as beside:  # a link leads to another disk
                shutil.copyfile(new, beside)


@contextmanager
def new_folder(path: str | PathLike[str]) -> Iterator[Path]:
    """A folder beside a place where nothing is, which takes it when the block ends without an error."""
    target = check_path(path, "The name of a folder to write")
    if target.exists():
        raise ValueError(
            f"The output must be a new folder. {target} exists. Choose another name, or remove that folder first."
        )
    if not target.absolute().parent.is_dir():
        raise ValueError(f"The folder of the output must exist. {target.parent} does not. Make that folder first.")
    try:
        with Place(target, None).new_folder() as new:
            yield new
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ValueError(
            f"The disk of the output must have room for it. Got {error.strerror} in {target.parent}, and nothing "
            "was kept. Name a folder on a larger disk."
        ) from None


@contextmanager
def atomic_write(path: str | PathLike[str], mode: str = "w", **options: Any) -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when the block ends without an error.

    A symbolic link stays, and the file that it leads to is replaced. Its permissions stay too. What is no file, such as
    /dev/null, is written as it is.
    """
    target = check_path(path, "The name of a file to write")
    with ExitStack() as stack:
        try:
            is_file = not target.exists() or target.is_file()
            new = stack.enter_context(Place.of(target).new()) if is_file else target
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(target)) from None
        yield stack.enter_context(open(new, mode, **options))


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
