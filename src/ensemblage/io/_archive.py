"""A zip of arrays with a text in JSON that says what they are: exact, and nothing in it is ever executed."""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.atomic import atomic_write
from ensemblage.io._npz import read_array

HEAD = "head.json"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every member: the same content makes the same bytes."""


def write_archive(path: Path, head: Any, arrays: Sequence[NDArray[Any]]) -> None:
    """Write numbered arrays, none of them of objects, and what JSON can hold."""
    with atomic_write(path, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        with archive.open(_member(HEAD), "w", force_zip64=True) as member:
            member.write(json.dumps(head, allow_nan=False, separators=(",", ":")).encode())
        for i, array in enumerate(arrays):
            with archive.open(_member(f"{i}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, LONG_AGO)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


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
