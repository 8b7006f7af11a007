"""Variables in clusters against the rest: the numbers of a profile, which effects are large, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.text import one_line
from ensemblage.profiles._effects import Categories, Numbers, compare_categories, compare_numbers
from ensemblage.profiles._variables import NUMBERS, Variable
from ensemblage.profiles._words import LEAST_DELTA, LEAST_V, direction, frequency, phrase

_NAMED = 40
"""Characters of a name in a sentence."""


class ClusterComparison:
    """m variables in k clusters against the rest, those with an order first.

    Parameters
    ----------
    variables : of n objects
    clusters : (n,) the cluster of each object, k for none: it is left out
    k : number of clusters
    """

    def __init__(self, variables: list[Variable], clusters: NDArray[np.intp], k: int) -> None:
        ordered = [v for v in variables if v.kind in NUMBERS]
        categories = [v for v in variables if v.kind not in NUMBERS]
        is_inside = clusters < k
        # All are no copy.
        inside: slice | NDArray[np.intp] = slice(None) if is_inside.all() else np.flatnonzero(is_inside)
        self.variables = [*ordered, *categories]
        self.n_clusters, self.n_numbers, self.clusters = k, len(ordered), clusters
        self.numbers: Numbers = compare_numbers([v.values[inside] for v in ordered], clusters[inside], k)
        self.categories: list[Categories] = [
            compare_categories(v.values[inside], len(v.levels), clusters[inside], k) for v in categories
        ]

    def category(self, j: int) -> Categories | None:
        """What was found of variable j, if it is a category."""
        return None if j < self.n_numbers else self.categories[j - self.n_numbers]

    @cached_property
    def strengths(self) -> NDArray[np.float64]:
        """(m, k) effects on one scale: from 0 on they describe a cluster, 1 is the largest; −1 of single objects."""
        of_numbers = (np.abs(self.numbers.delta) - LEAST_DELTA) / (1 - LEAST_DELTA)
        of_categories = [(of.cramers_v - LEAST_V) / (1 - LEAST_V) for of in self.categories]
        found = np.vstack([of_numbers, *of_categories])
        found[:, self.is_single] = -1.0
        return np.where(np.isnan(found), -1.0, found)

    @cached_property
    def is_single(self) -> NDArray[np.bool_]:
        """(k,) which clusters have one object; every variable separates it, so that none describes it."""
        return np.asarray(np.bincount(self.clusters, minlength=self.n_clusters + 1)[: self.n_clusters] == 1)

    def order(self) -> list[int]:
        """The variables by decreasing strength in the cluster that each describes best."""
        order: list[int] = np.argsort(-self.strengths.max(axis=1, initial=-1.0), kind="stable").tolist()
        return order

    def drivers(self, c: int, most: int) -> str:
        """What describes cluster c: the strongest effects in words; nothing if none is large enough."""
        order = np.argsort(-self.strengths[:, c], kind="stable")
        found = [j for j in order.tolist() if self.strengths[j, c] >= 0]
        return phrase([self._driver(j, c) for j in found[:most]], max(0, len(found) - most))

    def _driver(self, j: int, c: int) -> tuple[str, str]:
        """A word, and what is so."""
        v, of = self.variables[j], self.category(j)
        name = one_line(v.name, _NAMED)
        if of is None:
            return direction(float(self.numbers.delta[j, c]), v.kind), name
        level = top_level(v, of, c)
        word = frequency(float(of.shares[c, level]), float(of.rest[c, level]))
        return word, name if v.is_yes_no else f"{name} {one_line(v.levels[level], _NAMED)}"


def repeats_clusters(values: NDArray[np.float64], members: Sequence[NDArray[np.intp]]) -> bool:
    """Whether clusters and the values of a variable are the same partition of the objects that have a value."""
    found = []
    for rows in members:
        known = values[rows][~np.isnan(values[rows])]
        if len(known) == 0 or known.min() < known.max():
            return False
        found.append(known[0])
    return 1 < len(members) < sum(map(len, members)) and len(set(found)) == len(members)


def top_level(v: Variable, of: Categories, c: int) -> int:
    """The category that the cluster has most of compared with the rest; of yes and no always yes."""
    if v.is_yes_no:
        return len(v.levels) - 1
    return int(np.argmax(np.nan_to_num(of.shares[c] - of.rest[c], nan=-np.inf)))


def label_of(cluster: Any) -> Any:
    """The label of a cluster as JSON can hold it."""
    return cluster if isinstance(cluster, int | str) else str(cluster)


def json_number(value: Any) -> Any:
    """What JSON can hold: None for a number that is none."""
    return (float(f"{value:.6g}") if np.isfinite(value) else None) if isinstance(value, float) else value
