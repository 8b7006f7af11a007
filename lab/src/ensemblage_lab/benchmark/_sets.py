"""Data sets with known classes: folders of the public suites, and folders of .csv.gz files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ensemblage import read_table
from ensemblage.base.options import Message, Option
from ensemblage.io._features import features_of
from ensemblage.io._table import Table
from ensemblage.preprocessing import Preprocessor
from ensemblage_lab.benchmark._generated import GENERATED, GeneratedData
from ensemblage_lab.benchmark._kinds import kind_of

CLASSES = ("label", "class")
"""Names of the column of classes in a .csv.gz file; the first that is there."""
SAME = 0.95
"""Two sets are the same if their classes are of the same sizes and so many of the objects of one lie less than half as
far from one of the other as that lies from its next: of draws of one distribution few do."""


@dataclass(frozen=True)
class BenchmarkSet:
    """A data set by its files; it is read when it is asked for."""

    name: str
    """As "fcps/atom"."""
    path: Path
    results: Path | None = None
    """Where published labelings of the suite lie."""

    @property
    def battery(self) -> str:
        """The first part of its name."""
        return self.name.partition("/")[0]

    @cached_property
    def _table(self) -> Table | None:
        return read_table(self.path) if self.path.name.endswith(".csv.gz") else None

    @cached_property
    def _read(self) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]:
        return _of_suite(self.path) if self._table is None else _of_table(self.path, self._table)

    @property
    def X(self) -> NDArray[np.float64]:
        """(n, m) as they are given."""
        return self._read[0]

    @cached_property
    def whole(self) -> NDArray[np.float64]:
        """The features of all objects."""
        return self.features(np.arange(len(self.X)))

    def features(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """(n', m') what ``ensemblage run`` clusters if these objects are all; medians where a value is missing."""
        if self._table is None:
            return np.asarray(Preprocessor().fit_transform(self.X[rows]))
        classes = _class_column(self.path, self._table)
        return features_of(self._table.take(rows), truth_column=classes, impute="median", standardize="auto").X

    @cached_property
    def kind(self) -> str:
        """Its kind of data, as `kind_of` has them."""
        if self._table is None:
            return kind_of(len(self.X), [True] * self.X.shape[1])
        classes = _class_column(self.path, self._table)
        return kind_of(len(self.X), [c.is_numeric for c in self._table.columns if c.name != classes])

    @property
    def references(self) -> list[NDArray[np.int64]]:
        """(n,) each: classes from 1, 0 for noise, which is not scored."""
        return self._read[1]

    @property
    def k(self) -> int:
        """Number of classes of the first reference."""
        return len(np.unique(self.references[0][self.references[0] > 0]))

    @cached_property
    def published(self) -> dict[str, NDArray[np.int64]]:
        """The first labeling that each method published for this set and its number of classes."""
        if self.results is None:
            return {}
        files = sorted(self.results.glob(f"*/{self.name}.result{self.k}.gz"))
        found = {file.relative_to(self.results).parts[0]: _first_column(file) for file in files}
        return {name: labels for name, labels in found.items() if len(labels) == len(self.X)}

    @cached_property
    def fingerprint(self) -> str:
        """Of the features and the classes."""
        digest = hashlib.sha256(np.ascontiguousarray(self.X).tobytes())
        for reference in self.references:
            digest.update(reference.tobytes())
        return digest.hexdigest()[:16]


class GeneratedSet(BenchmarkSet):
    """A set of ``GENERATED``: it is made when it is asked for, and has no file."""

    @cached_property
    def _made(self) -> GeneratedData:
        return GENERATED[self.name]()

    @cached_property
    def _read(self) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]:
        return Preprocessor(standardize=False).fit_transform(self._made.X), [self._made.labels + 1]

    @cached_property
    def kind(self) -> str:
        X = self._made.X
        if isinstance(X, np.ndarray):
            return kind_of(len(X), [True] * X.shape[1])
        from pyarrow.types import is_floating, is_integer

        return kind_of(X.num_rows, [is_floating(t) or is_integer(t) for t in X.schema.types])

    def features(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        X = self._made.X
        return np.asarray(Preprocessor().fit_transform(X[rows] if isinstance(X, np.ndarray) else X.take(rows)))


def generated_sets() -> list[BenchmarkSet]:
    """The sets that need no file."""
    return [GeneratedSet(name, Path(name)) for name in GENERATED]


def find_sets(suite: Path | None, data: Sequence[Path] = (), *, generated: bool = False) -> list[BenchmarkSet]:
    """All sets of a suite (``data/<battery>/<set>.data.gz`` or ``<battery>/<set>.data.gz``) and of folders of .csv.gz.

    The name of a folder of .csv.gz is the battery of its sets. With ``generated`` the sets that are made here follow.

    Raises
    ------
    ValueError
        If there is none, a folder has none, or two folders have one name.
    """
    sets = []
    if suite is not None:
        root = suite / "data" if (suite / "data").is_dir() else suite
        near = [folder / "results" for folder in (suite, root.parent) if (folder / "results").is_dir()]
        results = near[0] if near else None
        for path in sorted(root.glob("*/*.data.gz")):
            sets.append(BenchmarkSet(f"{path.parent.name}/{path.name.removesuffix('.data.gz')}", path, results))
    for folder in data:
        battery = folder.resolve().name
        if any(one.battery == battery for one in sets):
            got = f" must be folders of different names. Got {battery} twice. Rename one."
            raise ValueError(Message(Option("data"), got))
        paths = sorted(folder.glob("*.csv.gz"))
        if not paths:
            got = f" must be folders with <name>.csv.gz. Got {str(folder)!r}, which has none. Name another."
            raise ValueError(Message(Option("data"), got))
        sets += [BenchmarkSet(f"{battery}/{path.name.removesuffix('.csv.gz')}", path) for path in paths]
    if generated:
        taken = {one.battery for one in sets} & {name.partition("/")[0] for name in GENERATED}
        if taken:
            got = f"Got {min(taken)}. Rename it."
            raise ValueError(f"Folders of sets must have other names than the batteries of generated sets. {got}")
        sets += generated_sets()
    if not sets:
        raise ValueError(
            Message(
                "A benchmark must have data sets: ",
                Option("suite"),
                " with <battery>/<set>.data.gz, or ",
                Option("data"),
                " with <name>.csv.gz. Got none. Name such a folder, or neither for the generated sets.",
            )
        )
    return sets


def _of_suite(path: Path) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]:
    X = np.loadtxt(path, dtype=np.float64, ndmin=2)
    stem = path.name.removesuffix(".data.gz")
    files = sorted(path.parent.glob(f"{stem}.labels*.gz"))
    references = [np.maximum(np.loadtxt(file, dtype=np.int64, ndmin=1), 0) for file in files]
    return X, _check_references(path, X, references)


def copies(sets: Sequence[BenchmarkSet]) -> dict[str, str]:
    """Sets that stand twice, however scaled and whatever the order of rows and columns: the name of the one before."""
    seen: dict[tuple[int, ...], list[tuple[str, cKDTree, NDArray[np.float64]]]] = {}
    found = {}
    for one in sets:
        X = one.whole
        # Sorted within each row, the order of the columns is no matter.
        values = np.sort((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), np.finfo(float).tiny), axis=1)
        alike = seen.setdefault((*X.shape, *np.sort(np.bincount(one.references[0])[1:])), [])
        for name, others, spaces in alike:
            distance, nearest = others.query(values)
            if np.mean(distance < spaces[nearest] / 2) >= SAME:
                found[one.name] = name
                break
        else:
            tree = cKDTree(np.unique(values, axis=0))
            alike.append((one.name, tree, tree.query(tree.data, k=2)[0][:, 1]))
    return found


def _of_table(path: Path, table: Table) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]:
    features = features_of(table, truth_column=_class_column(path, table), impute="median", standardize=False)
    classes = np.asarray(features.truth)
    known = [label is not None for label in classes]
    reference = np.zeros(len(classes), dtype=np.int64)
    reference[known] = np.unique(classes[known].astype(str), return_inverse=True)[1] + 1
    return features.X, _check_references(path, features.X, [reference])


def _class_column(path: Path, table: Table) -> str:
    """The name of the column of known classes."""
    for name in CLASSES:
        if name in table.names:
            return name
    some = " or ".join(map(repr, CLASSES))
    raise ValueError(f"{path.name} must have a column {some} of known classes. It has none. Give the column that name.")


def _check_references(
    path: Path, X: NDArray[np.float64], references: list[NDArray[np.int64]]
) -> list[NDArray[np.int64]]:
    if not references or any(reference.shape != (len(X),) for reference in references):
        raise ValueError(
            f"{path.name} must have one class per object. It has none, or another number of them. Leave the set out."
        )
    if min(len(np.unique(reference[reference > 0])) for reference in references) < 2:
        raise ValueError(f"{path.name} must have at least two classes. It has one. Leave the set out.")
    return references


def _first_column(path: Path) -> NDArray[np.int64]:
    table = read_table(path, has_header=True)
    return np.asarray(table.columns[0].numbers, dtype=np.int64)
