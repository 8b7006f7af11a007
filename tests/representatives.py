"""Cases that stand for the others where a test is of what all share; the others are slow, and run at night."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

METHODS_OF_FAMILIES = ("acv", "cspa", "eac-average", "h-km", "hbgf", "km", "lca", "salso-vi")
"""Of voting, graphs, hierarchies, k-means and models, with and without a rule for new objects."""
RANKERS_OF_FAMILIES = ("aari", "discotec-tv", "silhouette")


def of_families(names: Iterable[str]) -> list[Any]:
    """Parameters of a test: the methods that stand for their families, and the others for the night."""
    return [
        name
        if name in METHODS_OF_FAMILIES or name in RANKERS_OF_FAMILIES
        else pytest.param(name, marks=pytest.mark.slow)
        for name in names
    ]


def represented(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Items of tests of nearly all methods whose method others stand for: no test has to say it."""
    from ensemblage import METHODS

    of_tests = defaultdict(list)
    for item in items:
        given = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if names := [value for value in given if isinstance(value, str) and value in METHODS]:
            of_tests[item.path, item.originalname].append((names[0], item))
    return [
        item
        for found in of_tests.values()
        if len({name for name, _ in found}) > len(METHODS) / 2
        for name, item in found
        if name not in METHODS_OF_FAMILIES
    ]


def first_of(values: Iterable[Any], n: int = 1) -> list[Any]:
    """Parameters of a test: the first n, and the others for the night."""
    return [
        value if i < n else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)
        for i, value in enumerate(values)
    ]


def beyond_the_core(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Items of tests marked ``core(n)`` but for n of their cases, spread over all."""
    of_tests = defaultdict(list)
    for item in items:
        if (mark := item.get_closest_marker("core")) and not item.get_closest_marker("slow"):
            of_tests[item.path, item.originalname, mark.args[0]].append(item)
    # Multiples of the golden ratio: even steps would meet one value of a parameter again and again.
    golden = (5**0.5 - 1) / 2
    return [
        item
        for (_, _, n), cases in of_tests.items()
        for kept in [{int(len(cases) * (i * golden % 1)) for i in range(n)}]
        for place, item in enumerate(cases)
        if place not in kept
    ]
