"""Arrays in files: headers of .npy, and zips of arrays with a text in JSON. Nothing in them is ever executed."""

import errno
import json
import zipfile
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.atomic import atomic_write

HEAD = "head.json"
LEVEL = 1
"""Of zlib: 5 times as fast as its default on labels, and 6 to 14 % larger."""


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether the order is Fortran's, and type of the array; the file stands at its first byte afterwards.

    Raises
    ------
    ValueError
        If NumPy did not write it. Its parser evaluates the header as Python text, and a damaged one ends in any of the
        errors of Python's parser.
    """
    try:
        version = np.lib.format.read_magic(file)
        headers = np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0
        shape, fortran, dtype = headers[version != (1, 0)](file)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise ValueError(f"its header is damaged: {type(error).__name__}") from None
    if version not in ((1, 0), (2, 0), (3, 0)) or min(shape, default=0) < 0:
        raise ValueError("its header is damaged")
    return shape, bool(fortran), dtype


def is_damage(error: Exception) -> bool:
    """Whether an error says that a file is damaged, which ends in any error of the library that reads it: any but one
    of the system, or that the memory is full.
    """
    is_of_system = isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)
    return not (is_of_system or isinstance(error, MemoryError))


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array of the archive. No memory is taken for one whose header announces more than there is."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("it is compressed in another way")
    with archive.open(info) as member:
        shape, _, dtype = read_header(member)
        if prod(shape) * dtype.itemsize > info.file_size:
            raise ValueError(f"{name} is cut short")
    with archive.open(info) as member:
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    return array


def write_archive(path: Path, head: Any, arrays: Sequence[NDArray[Any]], *, is_compressed: bool = True) -> None:
    """Write numbered arrays, none of them of objects, and what JSON can hold. The same content makes the same bytes."""
    with atomic_write(path, "wb") as file, new_zip(file, is_compressed=is_compressed) as archive:
        with archive.open(HEAD, "w", force_zip64=True) as member:
            member.write(json.dumps(head, allow_nan=False, separators=(",", ":")).encode())
        for i, array in enumerate(arrays):
            with archive.open(f"{i}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def new_zip(file: IO[bytes], *, is_compressed: bool = True) -> zipfile.ZipFile:
    """An empty archive; members that are opened in it by name have no time."""
    if not is_compressed:
        return zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
    return zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL)


class Archive:
    """What `write_archive` wrote: the head, and the arrays when they are asked for.

    Every error of a damaged file is a ValueError; those of the disk stay what they are.
    """

    def __init__(self, path: Path) -> None:
        self._file = open(path, "rb")  # noqa: SIM115  # what the system says of the file is its own error
        try:
            self._archive = zipfile.ZipFile(self._file)
            self.head: Any = json.loads(self._archive.read(HEAD))
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: Any) -> None:
        self._archive.close()
        self._file.close()

    def array(self, number: int) -> NDArray[Any]:
        return read_array(self._archive, str(number))
