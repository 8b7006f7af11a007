"""Files that are never half written."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

from ensemblage._validation import check_path


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


@contextmanager
def atomic_write(path: str | PathLike[str], mode: str = "w", **options: Any) -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when the block ends without an error."""
    target = check_path(path, "The name of a file to write")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    try:
        with os.fdopen(handle, mode, **options) as file:
            yield file
        os.chmod(name, 0o666 & ~umask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def umask() -> int:
    """The permissions that the user withholds from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
