"""A label matrix that is made partition by partition on disk, and goes on where it was stopped."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ensemblage._version import __version__
from ensemblage.base.atomic import Place, atomic_write, only_user
from ensemblage.base.validation import check_flag, check_parameters, check_path, check_progress
from ensemblage.generation._base import BasePartitions, Failure, Partition, Recipe
from ensemblage.generation._clusterers import fold_warnings, run_all

WITHOUT_EFFECT = ("n_jobs", "on_error", "progress")
"""Parameters that no label depends on."""
ON_DISK = np.empty(0, dtype=np.int32)
"""Stands for labels that are in a file."""


def write_partitions(
    generator: BasePartitions,
    X: ArrayLike,
    path: str | PathLike[str],
    *,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Use it if partitions do not fit into memory: they are written one by one into a .npy file.

    The file is bitwise identical to what ``generator.fit_transform(X)`` returns. If Ctrl-C, a crash or a full disk
    stops the work, the same call continues with the partitions that are not finished. The generator itself stays
    unfitted.

    Parameters
    ----------
    generator : RandomKPartitions or another generator whose partitions do not depend on each other
        Its ``random_state`` must be a whole number.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The features. ``numpy.load(..., mmap_mode="r")`` leaves them on the disk if they are float32 or float64 in C
        order and the clusterer does not copy them: ``MiniBatchKMeans`` does not, ``KMeans`` does.
    path : path of a .npy file
        For the labels: n_samples by n_partitions, int32 in Fortran order; `Ensemble.open` reads it.
    overwrite : bool, default=False
        Whether to begin anew, whatever there is under that name.
    progress : callable, optional
        Called as ``progress(done, n_partitions)`` after every partition.

    Returns
    -------
    list of str
        Names of the partitions, as ``get_feature_names_out`` gives them.

    Raises
    ------
    TypeError
        If ``generator`` is not a generator of independent partitions.
    ValueError
        If the name does not end in .npy, ``random_state`` is not a whole number, the disk has no room, another process
        is writing the same file, or there is something under that name that was made of other data, with other
        parameters or other versions.

    Notes
    -----
    Beside ``labels.npy`` stand ``labels.npy.json``, which says what it was made of, and while it is not finished the
    folder ``labels.npy.parts`` with one file per finished partition. The disk needs 8 n p bytes meanwhile.

    Memory: per thread 4 n bytes of labels and what the clusterer takes, for ``MiniBatchKMeans`` about 40 n bytes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.cluster import MiniBatchKMeans
    >>> from sklearn.datasets import load_iris
    >>> from ensemblage import Ensemble
    >>> from ensemblage.generation import RandomKPartitions, write_partitions
    >>> generator = RandomKPartitions(3, estimator=MiniBatchKMeans(n_init=1), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "labels.npy"
    ...     names = write_partitions(generator, load_iris().data, path)
    ...     E = Ensemble.open(path, names=names)
    >>> E.shape, names[0]
    ((150, 3), 'minibatchkmeans_k7_0')
    """
    generator, files = _check_generator(generator), _Files.of(check_path(path, "path of write_partitions"))
    check_progress(progress, "progress of write_partitions")
    check_flag(overwrite, "overwrite of write_partitions")
    features: Any = generator._prepare(generator._validate(X, reset=True))
    n_rows, n_features = features.shape
    recipes, made_of = generator._recipes(n_rows, n_features), _identity(generator, features)
    with only_user(files.labels, files.lock):
        if overwrite:
            files.remove()
        names = files.read_finished_names(made_of, n_rows)
        if names is not None:
            return names
        try:
            files.begin(made_of, recipes, n_rows)
            make, reporting = partial(_write_one, generator, features, files), progress or generator.progress
            with fold_warnings():
                outcomes = run_all(make, recipes, generator.n_jobs, generator._is_fatal, reporting)
                names = [partition.recipe.name for partition in generator._drop_failures(outcomes, 3)]
            files.finish(made_of, names, n_rows)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
                raise
            raise files.full(error.strerror or "a full disk") from None
        return names


def _check_generator(generator: Any) -> BasePartitions:
    """An unfitted copy of the generator, if its partitions can be made one by one and again."""
    name = type(generator).__name__
    if not isinstance(generator, BasePartitions) or type(generator)._partitions is not BasePartitions._partitions:
        raise TypeError(
            "generator of write_partitions must make partitions that do not depend on each other. "
            f"Got {name}. Use RandomKPartitions, for example."
        )
    seed = getattr(generator, "random_state", None)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise ValueError(
            f"random_state of {name} must be a whole number for write_partitions, so that a stopped call can "
            f"continue. Got {seed!r}. Give random_state=0, for example."
        )
    check_parameters(generator)
    unfitted: BasePartitions = clone(generator)
    return unfitted


def _identity(generator: BasePartitions, X: Any) -> dict[str, str]:
    """All that the labels depend on, as text that people can compare."""
    parameters = {k: v for k, v in generator.get_params(deep=False).items() if k not in WITHOUT_EFFECT}
    return {
        "ensemblage": __version__,
        "scikit-learn": version("scikit-learn"),
        "X": f"{X.shape[0]} x {X.shape[1]} {X.dtype} {joblib.hash(X)}",
        "generator": type(generator).__name__,
        **{name: _describe(value) for name, value in parameters.items()},
    }


def _describe(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float | str | np.number):
        return str(value)
    # What an estimator shows of itself is not all that it is.
    return f"{' '.join(repr(value).split())} {joblib.hash(value)[:8]}"


def _write_one(generator: BasePartitions, X: Any, files: _Files, recipe: Recipe) -> Partition | Failure:
    if not files.has(recipe.name, X.shape[0]):
        # The fitted clusterer goes at once: it holds labels.
        outcome = generator._partition(X, None, recipe._replace(estimator=clone(recipe.estimator)))
        if isinstance(outcome, Failure):
            return outcome
        with atomic_write(files.part(recipe.name), "wb") as file:
            np.save(file, outcome.labels, allow_pickle=False)
    return Partition(recipe, ON_DISK)


class _Files(NamedTuple):
    """The files of a label matrix that is being made."""

    labels: Path
    json: Path
    parts: Path
    lock: Path
    place: Place
    """Of the labels."""

    @classmethod
    def of(cls, path: Path) -> _Files:
        if path.suffix.lower() != ".npy" or path.is_dir():
            raise ValueError(f"The file of write_partitions must be a .npy file. Got {str(path)!r}. Name one.")
        if not path.absolute().parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
        json_, parts, lock = (path.with_name(name.format(path.name)) for name in ("{}.json", "{}.parts", ".{}.lock"))
        return cls(path, json_, parts, lock, Place.of(path))

    def part(self, name: str) -> Path:
        return self.parts / f"{name}.npy"

    def has(self, name: str, n_rows: int) -> bool:
        return _shape(self.part(name)) == (n_rows,)

    def read_finished_names(self, made_of: Mapping[str, str], n_rows: int) -> list[str] | None:
        """Names of the partitions of an earlier run that finished; an error if there are other labels than these."""
        there = [path for path in (self.labels, self.parts, self.json) if path.exists()]
        if not there:
            return None
        before, names = self._read_json()
        if before is None:
            raise ValueError(
                f"Existing files must not be overwritten unasked. {there[0]} is not what write_partitions wrote. "
                "Name another file, or allow it to be overwritten."
            )
        other = sorted(name for name, _ in before.items() ^ made_of.items())
        if other:
            old, new = (of.get(other[0], "nothing") for of in (before, made_of))
            raise ValueError(
                f"A file of labels must be continued with the settings of its beginning. {self.labels} was written "
                f"with {other[0]} = {old}, not {new}. Name another file, or allow it to be overwritten."
            )
        return names if names is not None and _shape(self.labels) == (n_rows, len(names)) else None

    def _read_json(self) -> tuple[dict[str, str] | None, list[str] | None]:
        """What the labels were made of, and the names of the partitions if they are finished; None without."""
        try:
            record = json.loads(self.json.read_text(encoding="utf-8"))
            made_of = {str(name): str(value) for name, value in record["made of"].items()}
            return made_of, [str(name) for name in record["names"]] if "names" in record else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None, None

    def begin(self, made_of: Mapping[str, str], recipes: Sequence[Recipe], n_rows: int) -> None:
        self._write_json({"made of": made_of})
        self.parts.mkdir(exist_ok=True)
        for path in self.parts.iterdir():
            if path.name.startswith("."):
                path.unlink()  # what a killed run was writing
        missing = sum(not self.has(recipe.name, n_rows) for recipe in recipes)
        needed, free = 4 * n_rows * (missing + len(recipes)), shutil.disk_usage(self.parts).free
        if free < needed:
            raise self.full(f"{free / 1e9:.3g} of {needed / 1e9:.3g} GB")

    def finish(self, made_of: Mapping[str, str], names: list[str], n_rows: int) -> None:
        """Put the columns together; the file appears when it is whole."""
        whole = self.parts / "whole"
        header = {"descr": "<i4", "fortran_order": True, "shape": (n_rows, len(names))}
        with open(whole, "wb") as file:
            np.lib.format.write_array_header_1_0(file, header)
            for name in names:
                file.write(np.load(self.part(name), allow_pickle=False).astype("<i4", copy=False).data)
            file.flush()
            os.fsync(file.fileno())
        self.place.take(whole)
        self._write_json({"made of": made_of, "names": names})
        shutil.rmtree(self.parts)

    def full(self, got: str) -> ValueError:
        return ValueError(
            f"The disk must have room for the labels twice. Got {got} in {self.labels.absolute().parent}. "
            "Make room and do the same again: what is finished is kept."
        )

    def remove(self) -> None:
        shutil.rmtree(self.parts, ignore_errors=True)
        self.place.path.unlink(missing_ok=True)
        self.json.unlink(missing_ok=True)

    def _write_json(self, record: Mapping[str, Any]) -> None:
        with atomic_write(self.json, encoding="utf-8") as file:
            json.dump(record, file, indent=1)


def _shape(path: Path) -> tuple[int, ...] | None:
    """Shape of the array in a .npy file; None if there is no whole one."""
    try:
        shape: tuple[int, ...] = np.load(path, mmap_mode="r", allow_pickle=False).shape
        return shape
    except (OSError, ValueError, EOFError):
        return None
