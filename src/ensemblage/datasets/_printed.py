"""What the papers print of their data sets: names, shapes, numbers of classes."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


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
        return tuple(_printed_row(row) for row in csv.DictReader(file))


def _printed_row(row: Mapping[str, str]) -> Printed:
    k = row["n_classes"]
    sizes = int(row["n_objects"]), int(row["n_features"]), int(k) if k else None
    return Printed(row["paper"], row["printed"], row["name"], *sizes)


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
