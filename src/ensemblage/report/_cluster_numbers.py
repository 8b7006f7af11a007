"""The clusters of a page by the numbers that people know them by, those of ``labels.csv``."""

from collections.abc import Mapping
from typing import Any

import numpy as np

_OF_CLUSTERS = frozenset({"cluster", "runner_up"})
"""Keys of the number of a cluster, or of a list of them; "clusters", where it is one."""
_BY_THEMSELVES = frozenset({"profile", "found_again", "merged", "evidence", "number", "stability", "other_numbers"})
"""Parts whose clusters have their names already, or are columns."""


def numbers_of(consensus: Any) -> list[int] | None:
    """Number of each cluster, ascending; None where they count from 0."""
    numbers = getattr(consensus, "cluster_numbers_", None)
    return None if numbers is None or np.array_equal(numbers, np.arange(len(numbers))) else numbers.tolist()


def renumber_clusters(summary: dict[str, Any], numbers: list[int] | None) -> dict[str, Any]:
    """The summary with ``numbers`` for the places of clusters."""
    if numbers is None:
        return summary
    known = dict(enumerate(numbers))

    def named(value: Any) -> Any:
        if isinstance(value, list):
            return [named(one) for one in value]
        return known.get(value, value) if isinstance(value, int) else renamed(value)

    def renamed(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {
                key: named(value) if key in _OF_CLUSTERS or _are_numbers(key, value) else renamed(value)
                for key, value in part.items()
            }
        return [renamed(one) for one in part] if isinstance(part, list) else part

    return {key: value if key in _BY_THEMSELVES else renamed(value) for key, value in summary.items()}


def _are_numbers(key: str, value: Any) -> bool:
    return key == "clusters" and isinstance(value, list) and all(isinstance(one, int) for one in value)
