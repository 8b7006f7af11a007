"""AnnData objects and .h5ad files: their parts, the matrix that is clustered, and columns of ``.obs`` as partitions.

Of a file each part is read when it is asked for.
"""

from __future__ import annotations

import importlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ensemblage.base.options import Message, Option, suggestion
from ensemblage.base.text import some
from ensemblage.base.validation import check_path, format_value
from ensemblage.io._alerts import NAMES
from ensemblage.tables.column import Column, code_texts
from ensemblage.io._column_role import Role
from ensemblage.io._table import Table
from ensemblage.labels.coding import check_missing, code_with_noise
from ensemblage.labels.ensemble import Ensemble


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


PCA, X = "X_pca", "X"
MOST_ENTRIES = 250_000_000
"""Of a matrix that is held densely: 2 GB."""


class Matrix(NamedTuple):
    """What is clustered."""

    values: NDArray[np.float64]
    """(n, m)"""
    names: list[str]
    """(m,)"""
    note: str
    """What it is, for people."""


def matrix_of(adata: Any, use: str | None = None) -> Matrix:
    """The matrix ``.obsm[use]``, or ``.X`` for "X". None: ``.obsm["X_pca"]`` if there is one, else ``.X``."""
    keys, source = list(adata.obsm), name_of(adata)
    if use is not None and not isinstance(use, str):
        raise TypeError(
            f"use must be the name of a matrix in .obsm, X, or None. Got {format_value(use)}. Leave it out for X_pca."
        )
    chosen = use if use is not None else PCA if PCA in keys else X
    if chosen != X and chosen not in keys:
        rule = f" must name a matrix in .obsm of {source}, or be X. Got {chosen!r}. In .obsm there is {some(keys)}."
        raise ValueError(Message(Option("use"), rule))
    found = adata.X if chosen == X else adata.obsm[chosen]
    if found is None:
        got = f"{source} must have a matrix to cluster. It has neither .X nor .obsm['{PCA}']. Name another with "
        raise ValueError(Message(got, Option("use"), "."))
    names = list(map(str, adata.var_names)) if chosen == X else [str(name) for name in getattr(found, "columns", [])]
    values = _dense(found, chosen, source)
    names = names or [f"{chosen}_{j}" for j in range(1, values.shape[1] + 1)]
    place = ".X" if chosen == X else f".obsm[{chosen!r}]"
    why = f", for there is no .obsm[{PCA!r}]" if use is None and chosen == X else ""
    return Matrix(values, names, f"clustered is {place}, {values.shape[1]:,} columns{why}")


def _dense(found: Any, chosen: str, source: str) -> NDArray[np.float64]:
    """The values as floats; a sparse matrix is made dense if it is not too large."""
    n, m = found.shape if len(found.shape) == 2 else (len(found), 1)
    if n * m > MOST_ENTRIES:
        raise ValueError(
            f"A matrix to cluster must have at most {MOST_ENTRIES:,} entries. {chosen} of {source} has {n:,} × {m:,}. "
            "Make principal components first (scanpy.pp.pca), and use X_pca."
        )
    values = found.toarray() if sparse.issparse(found) else found
    try:
        numbers = np.asarray(values, dtype=np.float64).reshape(n, m)
    except (TypeError, ValueError):
        got = f"{chosen} of {source} must hold numbers. It holds text. Name another with "
        raise ValueError(Message(got, Option("use"), ".")) from None
    return np.ascontiguousarray(numbers)


def as_table(X: Any) -> Any:
    """What is clustered of AnnData, as a table; else X as it is."""
    return table_of(X) if all(hasattr(X, name) for name in ("obs", "obsm", "n_obs")) else X


def table_of(adata: Any, use: str | None = None, truth_column: str | None = None) -> Table:
    """The matrix as a table, its row names those of the objects; with known classes from ``.obs``."""
    import pyarrow as pa

    matrix, source = matrix_of(adata, use), name_of(adata)
    ids = [str(name) for name in adata.obs.index]
    columns = [Column(NAMES, pa.array(ids))]
    for name, values in zip(matrix.names, matrix.values.T, strict=True):
        columns.append(Column(name, pa.array(values, from_pandas=True)))
    if truth_column is not None:
        columns.append(classes_of(adata, truth_column))
    (double, count), *_ = Counter(column.name for column in columns).most_common(1)
    if count > 1:
        raise ValueError(
            f"The variables of {source} must have different names. Got {double!r} more than once. "
            "Call adata.var_names_make_unique() first."
        )
    table = Table(source, columns, lambda: range(1, len(ids) + 1), "row", NAMES, (matrix.note,))
    roles = {column.name: Role("number") for column in columns[1:]}
    table.found_roles = {NAMES: Role("id", "row names"), **roles}
    return table


def classes_of(adata: Any, name: str) -> Column:
    """A column of ``.obs`` with known classes."""
    import pyarrow as pa

    if name not in adata.obs.columns:
        rule, known = f" must name a column of .obs of {name_of(adata)}.", f"Its columns are {some(adata.obs.columns)}."
        raise ValueError(Message(Option("truth_column"), f"{rule} Got {name!r}. {known}"))
    return Column(name, pa.array([None if value != value else str(value) for value in adata.obs[name]], pa.string()))


LEIDEN = "leiden_*"
"""How scanpy's users name the clusterings of a sweep."""


def ensemble_of(
    source: Any, columns: str | Sequence[str] = LEIDEN, missing: int | None = -1, noise: str = "missing"
) -> Ensemble:
    """What `Ensemble.from_anndata` returns."""
    adata, missing = open_anndata(source), check_missing(missing)
    names = matching_columns(adata, columns)
    numbered = [_number_labels(adata.obs[name], name, name_of(adata)) for name in names]
    coded = code_with_noise(partial(code_texts, names), numbered, missing, noise)
    return Ensemble._of(coded, missing, is_new=True)


def matching_columns(adata: Any, columns: str | Sequence[str]) -> list[str]:
    """Names of columns of ``.obs``, in their order there for each pattern; each once."""
    asked: Any = [columns] if isinstance(columns, str) else columns
    if not isinstance(asked, Sequence) or not asked or not all(isinstance(name, str) for name in asked):
        raise TypeError(
            "columns must be the name of a column of .obs, a pattern such as 'leiden_*', or a list of such. "
            f"Got {format_value(columns)}. Give 'leiden_*', for example."
        )
    present = [str(name) for name in adata.obs.columns]
    found: dict[str, None] = {}
    for pattern in asked:
        matched = [pattern] if pattern in present else [name for name in present if fnmatchcase(name, pattern)]
        if not matched:
            rule = "match" if any(sign in pattern for sign in "*?[") else "name"
            got = f"Got {pattern!r}. {suggestion(pattern, present) or f'Its columns are {some(present)}.'}"
            raise ValueError(Message(Option("columns"), f" must {rule} columns of .obs of {name_of(adata)}. {got}"))
        found |= dict.fromkeys(matched)
    return list(found)


def _number_labels(column: Any, name: str, source: str) -> tuple[NDArray[np.int32], list[str]]:
    """(n,) number of each object's label, the number of labels where it has none; the labels as text.

    Categories, text, whole numbers and truth values are labels; numbers with fractions are measurements.
    """
    if getattr(column, "ndim", 1) != 1:
        raise ValueError(
            f"The columns of .obs of {source} must have different names. Got {name!r} more than once. Rename one of "
            f"them."
        )
    categories = column.astype("category").cat.remove_unused_categories()
    codes, values = categories.cat.codes.to_numpy(), categories.cat.categories
    if values.dtype.kind == "f":
        fractions = [value for value in values if not np.isfinite(value) or value != np.floor(value)]
        if fractions:
            raise ValueError(
                f"A column of clusters must hold categories, text or whole numbers. Got {fractions[0]:g} in .obs "
                f"{name!r} of {source}. Name only columns of clusterings."
            )
        values = values.astype(np.int64)
    texts = [str(value) for value in values]
    if len(column) > 2 and len(texts) == len(column):
        raise ValueError(
            f"A clustering must put some objects together. Got a different value for every object in .obs {name!r} of "
            f"{source}. Name only columns of clusterings."
        )
    return np.where(codes < 0, len(texts), codes).astype(np.int32), texts
