"""Files that are never half written."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
    new = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    new.mkdir()
    try:
        yield new
        os.replace(new, target)
    except BaseException as error:
        shutil.rmtree(new, ignore_errors=True)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ValueError(
                f"The disk of the output must have room for it. Got {error.strerror} in {target.parent}, and nothing "
                "was kept. Name a folder on a larger disk."
            ) from None
        raise


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
