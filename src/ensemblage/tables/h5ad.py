"""AnnData objects and .h5ad files, of which each part is read when it is asked for."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from ensemblage.base.validation import check_path, format_value


def library() -> ModuleType:
    """The module ``anndata``."""
    try:
        return importlib.import_module("anndata")
    except ImportError:
        raise ValueError(
            "AnnData objects and .h5ad files need the package anndata. It is not installed. Install it with pip "
            "install 'ensemblage[anndata]'."
        ) from None


def open_anndata(source: Any) -> Any:
    """An AnnData object as it is, or the one in a .h5ad file."""
    if isinstance(source, str | PathLike):
        return open_file(check_path(source, "adata"))
    if not all(hasattr(source, name) for name in ("obs", "obsm", "n_obs")):
        raise TypeError(f"adata must be an AnnData object or the path of a .h5ad file. Got {format_value(source)}.")
    return source


def name_of(source: Any) -> str:
    """What messages call it."""
    return source.path.name if isinstance(source, File) else "adata"


def open_file(path: Path) -> Any:
    """What a .h5ad file holds, part by part; files of anndata before 0.7 are read whole."""
    anndata = library()
    import h5py

    if not path.is_file():
        got = "is a folder" if path.is_dir() else "does not exist"
        raise ValueError(f"The input must be a file. {path} {got}. Check its name and folder.")
    try:
        with h5py.File(path, "r") as file:
            is_old = isinstance(file.get("obs"), h5py.Dataset)
            is_whole = is_old or "obs" in file
    except (OSError, RuntimeError, KeyError):  # of h5py, where the table of its parts is broken
        is_whole = False
    if not is_whole:
        raise ValueError(
            f"{path.name} must be a .h5ad file that AnnData wrote. It is another kind of file, or damaged. Save it "
            f"again."
        )
    if not is_old:
        return File(path)
    with explain_damage(path), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return anndata.read_h5ad(path)


@contextmanager
def explain_damage(path: Path) -> Iterator[None]:
    """Say in one sentence that a part cannot be read; the libraries have an error of their own for each cause."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        why = str(error).strip().partition("\n")[0].rstrip(".")[:300]
        raise ValueError(
            f"{path.name} must be a .h5ad file whose parts AnnData can read. It is not: {why}. Save it again with "
            f"the installed version of anndata."
        ) from error


class File:
    """A .h5ad file. Nothing of it is in memory but what was asked for; it is open only while that is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def obs(self) -> Any:
        """Data frame of the objects."""
        return self.read("obs")

    @cached_property
    def var_names(self) -> Any:
        """Names of the variables."""
        return self.read("var").index

    @cached_property
    def obsm(self) -> Mapping[str, Any]:
        """Matrices with a row per object."""
        return Part(self, "obsm")

    @cached_property
    def obsp(self) -> Mapping[str, Any]:
        """Matrices of pairs of objects."""
        return Part(self, "obsp")

    @cached_property
    def uns(self) -> Mapping[str, Any]:
        """What else there is."""
        return Part(self, "uns")

    @property
    def X(self) -> Any:
        """The matrix, None if there is none."""
        return self.read("X") if self.has("X") else None

    @property
    def shape(self) -> tuple[int, int]:
        """Objects and variables."""
        return len(self.obs), len(self.var_names)

    @property
    def n_obs(self) -> int:
        """Objects."""
        return len(self.obs)

    def has(self, name: str) -> bool:
        """Whether there is such a part."""
        return bool(self._with(lambda file: name in file))

    def keys(self, name: str) -> list[str]:
        """What a part is made of."""
        return list(self._with(lambda file: sorted(file[name]) if name in file else []))

    def read(self, name: str) -> Any:
        """A part in memory."""
        from anndata.io import read_elem

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what newer versions write otherwise
            return self._with(lambda file: read_elem(file[name]))

    def _with(self, use: Callable[[Any], Any]) -> Any:
        import h5py

        with explain_damage(self.path), h5py.File(self.path, "r") as file:
            return use(file)


class Part(Mapping[str, Any]):
    """The members of a group of a file, each read when it is asked for."""

    def __init__(self, file: File, name: str) -> None:
        self._file, self._name = file, name

    def __getitem__(self, key: str) -> Any:
        if key not in self._file.keys(self._name):
            raise KeyError(key)
        return self._file.read(f"{self._name}/{key}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._file.keys(self._name))

    def __len__(self) -> int:
        return len(self._file.keys(self._name))
