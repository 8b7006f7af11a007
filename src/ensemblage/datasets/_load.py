"""Data sets by name: from a folder, from scikit-learn, generated, or from OpenML; and what the papers print of them."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import suggestion
from ensemblage.base.validation import check_path, format_value
from ensemblage.datasets._papers import make_2d2k, make_8d5k, make_two_gauss
from ensemblage.io._read import read_table
from ensemblage.io._table import Table
from ensemblage.tables.column import Column, as_labels

FOLDER_VARIABLE = "ENSEMBLAGE_DATA"
SUFFIXES = (".csv.gz", ".csv")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Objects with their features, and their classes if they are known."""

    name: str
    X: NDArray[np.float64]
    """(n_objects, n_features); NaN where the file has no value."""
    y: NDArray[np.int64] | None
    """(n_objects,) class of each object, numbered by the sorted names of the classes."""
    source: str
    """Where it came from."""
    notes: tuple[str, ...] = ()
    """Where it differs from what the papers print of it."""

    @property
    def n_classes(self) -> int | None:
        """Number of classes; None where they are not known."""
        return None if self.y is None else int(self.y.max()) + 1


class UnavailableError(ValueError):
    """A data set that is in no folder and cannot be downloaded."""


def load_dataset(name: str, data_home: str | PathLike[str] | None = None, *, download: bool = True) -> Dataset:
    """Use it to load a data set of the papers, by its name or by the name in print.

    Looked for in this order: a file ``<name>.csv.gz`` or ``<name>.csv`` in the folder, scikit-learn's own sets, the
    generators of the papers, OpenML.

    Parameters
    ----------
    name : str
        As in `dataset_names`, or the name of any file of that form in the folder. Case does not matter.
    data_home : path, optional
        Folder of the files: columns of numbers, and one named ``label``. Default: the environment variable
        ENSEMBLAGE_DATA, if it is set.
    download : bool, default True
        Whether to ask OpenML for sets that are nowhere else. scikit-learn keeps what it fetched.

    Returns
    -------
    Dataset
        ``X``, ``y``, ``source`` and ``notes``: where shape or number of classes are not what a paper prints.

    Raises
    ------
    TypeError
        If ``name`` is no text, or ``data_home`` no path.
    ValueError
        If there is no set of that name, its file is not of that form, or it cannot be fetched.

    Examples
    --------
    >>> from ensemblage import datasets
    >>> wine = datasets.load_dataset("wine")
    >>> wine.X.shape, wine.n_classes
    ((178, 13), 3)
    >>> datasets.load_dataset("Two Gauss").source
    'generated'
    """
    if not isinstance(name, str) or not name.strip():
        raise TypeError(f"name of a data set must be text. Got {format_value(name)}. dataset_names() lists the names.")
    folder = _folder(data_home)
    known = canonical_name(name)
    path = _file(folder, name) or _file(folder, known)
    if path is not None:
        X, y, source = *_read(path), path.name
    elif known in BUNDLED:
        X, y, source = *_load_bundled(BUNDLED[known]), "scikit-learn"
    elif known in GENERATED:
        X, y, source = *GENERATED[known](), "generated"
    else:
        X, y, source = *_fetch(name, known, folder, download), "OpenML"
    return Dataset(known, X, y, source, compare_with_papers(known, X, y))


def dataset_names() -> list[str]:
    """Use it to list the data sets of the papers, by the names of their files.

    Returns
    -------
    list of str
        In alphabetical order.

    Examples
    --------
    >>> from ensemblage import datasets
    >>> "ecoli" in datasets.dataset_names()
    True
    """
    return printed_names()


def _blobs() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    from sklearn.datasets import make_blobs

    X, y = make_blobs(650, centers=4, random_state=0)
    return X, y.astype(np.int64)


BUNDLED = {"iris": "load_iris", "wine": "load_wine", "digits": "load_digits", "wdbc": "load_breast_cancer"}
GENERATED: dict[str, Callable[[], tuple[NDArray[np.float64], NDArray[np.int64]]]] = {
    "2d2k": lambda: make_2d2k(random_state=0),
    "8d5k": lambda: make_8d5k(random_state=0),
    "two_gauss": lambda: make_two_gauss(random_state=0),
    "blobs": _blobs,
}
# Names of version 1 on OpenML. Features that are text are coded by their sorted values.
OPENML = {
    "advertisement": "Internet-Advertisements",
    "balance": "balance-scale",
    "breast_tissue": "breast-tissue",
    "breastcancer": "breast-w",
    "contraceptive": "cmc",
    "dermatology": "dermatology",
    "ecoli": "ecoli",
    "gisette": "gisette",
    "glass": "glass",
    "ionosphere": "ionosphere",
    "letter_recognition": "letter",
    "pendigits": "pendigits",
    "seeds": "seeds",
    "segmentation": "segment",
    "usps": "USPS",
    "yeast": "yeast",
}


def _folder(data_home: str | PathLike[str] | None) -> Path | None:
    named = data_home if data_home is not None else os.environ.get(FOLDER_VARIABLE) or None
    if named is None:
        return None
    folder = check_path(named, "data_home")
    if not folder.is_dir():
        raise ValueError(f"The folder of the data sets must exist. Got {folder}. Name another folder, or leave it out.")
    return folder


def _file(folder: Path | None, name: str) -> Path | None:
    if folder is None:
        return None
    wanted = {f"{name}{suffix}".lower() for suffix in SUFFIXES}
    return next((path for path in sorted(folder.iterdir(), reverse=True) if path.name.lower() in wanted), None)


def _read(path: Path) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    table = read_table(path, has_header=True, delimiter=",", decimal=".")
    features = [column for column in table.columns if column.name != "label"]
    text = next((column.name for column in features if column.numbers is None), None)
    if not features or text is not None or len(features) == len(table.columns):
        got = f"text in column {text}" if text is not None else f"the columns {', '.join(table.names[:5])}"
        raise ValueError(
            f"{path.name} must have columns of numbers and one named label. Got {got}. Change the file to that form."
        )
    X = np.column_stack([column.numbers for column in features if column.numbers is not None])
    return X, _classes(table)


def _classes(table: Table) -> NDArray[np.int64]:
    labels: Column = table["label"]
    values = as_labels(labels) if labels.numbers is None else labels.numbers
    return _number_classes(values, f"Column label of {table.source}")


def _number_classes(classes: NDArray[Any], subject: str) -> NDArray[np.int64]:
    """(n,) the place of each class among the sorted ones."""
    if _gaps(classes).any():
        raise ValueError(f"{subject} must be complete. It has missing values. Fill them.")
    return np.unique(classes, return_inverse=True)[1].astype(np.int64)


def _gaps(values: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) whether each value is None or NaN."""
    return np.array([value is None or value != value for value in values.tolist()], dtype=bool)


def _load_bundled(loader: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    from sklearn import datasets

    X, y = getattr(datasets, loader)(return_X_y=True)
    return X.astype(np.float64), y.astype(np.int64)


def _fetch(name: str, known: str, folder: Path | None, download: bool) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    place = f"put {known}.csv.gz into {folder or 'a folder and name that'}"
    if known not in OPENML:
        others = suggestion(name, printed_names()) or f"Known are {', '.join(printed_names())}."
        known_names = "" if known in printed_names() else f" {others}"
        raise UnavailableError(
            f"Data set {name} must be in the folder of data sets. It is not there, and it cannot be downloaded; "
            f"{place}.{known_names}"
        )
    if not download:
        raise UnavailableError(
            f"Data set {name} must be in a folder, or be downloaded. Got neither; {place}, or allow downloads."
        )
    from sklearn.datasets import fetch_openml

    try:
        X, y = fetch_openml(OPENML[known], version=1, as_frame=False, parser="liac-arff", return_X_y=True)
    except Exception as error:
        reason = " ".join(str(error).split())
        raise UnavailableError(
            f"Data set {name} must be downloaded from OpenML. It cannot: {reason}; {place}."
        ) from error
    return _numbers(X), _number_classes(np.asarray(y), f"The class of {name} on OpenML")


def _numbers(X: Any) -> NDArray[np.float64]:
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if dense.dtype != object:
        return dense.astype(np.float64)
    return np.column_stack([_codes(c) if _is_text(c) else c.astype(np.float64) for c in dense.T])


def _codes(column: NDArray[Any]) -> NDArray[np.float64]:
    """(n,) places of text among the sorted ones, NaN where there is none."""
    codes, gaps = np.full(len(column), np.nan), _gaps(column)
    codes[~gaps] = np.unique(column[~gaps].astype(str), return_inverse=True)[1]
    return codes


def _is_text(column: NDArray[Any]) -> bool:
    return any(isinstance(value, str) for value in column)


# -- what the papers print ---------------------------------------------------------------------------------------------


class Printed(NamedTuple):
    """One line of a paper's table of data sets."""

    paper: str
    printed: str
    name: str
    n_objects: int
    n_features: int
    n_classes: int | None


@cache
def printed_table() -> tuple[Printed, ...]:
    """Every data set of every paper."""
    with files("ensemblage.datasets").joinpath("printed.csv").open(encoding="utf-8") as file:
        return tuple(
            Printed(
                row["paper"],
                row["printed"],
                row["name"],
                int(row["n_objects"]),
                int(row["n_features"]),
                int(row["n_classes"]) if row["n_classes"] else None,
            )
            for row in csv.DictReader(file)
        )


def printed_names() -> list[str]:
    """Names of the data sets, sorted."""
    return sorted({line.name for line in printed_table()})


def canonical_name(name: str) -> str:
    """The name of the file for any name that a paper prints."""
    wanted = name.lower()
    if wanted in printed_names():
        return wanted
    return next((line.name for line in printed_table() if line.printed.lower() == wanted), wanted)


def compare_with_papers(name: str, X: NDArray[Any], y: NDArray[np.int64] | None) -> tuple[str, ...]:
    """One sentence per paper that prints another shape or number of classes."""
    n, d = X.shape
    k = None if y is None else int(y.max()) + 1
    return tuple(
        f"{line.paper.capitalize()} prints {_shape(line.n_objects, line.n_features, line.n_classes)}. "
        f"This copy is {_shape(n, d, k if line.n_classes is not None else None)}."
        for line in printed_table()
        if line.name == name and ((line.n_objects, line.n_features) != (n, d) or line.n_classes not in (None, k))
    )


def _shape(n: int, d: int, k: int | None) -> str:
    return f"{n} × {d}" if k is None else f"{n} × {d} of {k} classes"
