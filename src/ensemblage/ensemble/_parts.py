"""A label matrix that comes in parts: which labels there are in all of them, then the codes of each part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.ensemble._coding import Coding
from ensemblage.ensemble._matrices import code_labels


def categories_of_part(part: Any) -> tuple[NDArray[Any], ...]:
    """The labels in each column of a part; a number that means "missing" is still one of them."""
    return code_labels(part, None).categories


def union_of_parts(
    of_parts: Iterable[tuple[NDArray[Any], ...]], titles: Sequence[str], missing: int | None
) -> tuple[NDArray[Any], ...]:
    """The labels in each column of all parts, as of one matrix; ``titles`` say in errors which column it is."""
    parts = iter(of_parts)
    found = list(next(parts))
    for part in parts:
        found = [_union(*labels) for labels in zip(found, part, titles, strict=True)]
    return tuple(_without_missing(labels, missing) for labels in found)


def codes_of_part(part: Any, categories: tuple[NDArray[Any], ...]) -> NDArray[Any]:
    """(n, p) codes of a part; those that the whole matrix would have."""
    codes: NDArray[Any] = Coding(categories, None).encode(code_labels(part, None), warn=False)[:]
    return codes


def _union(known: NDArray[Any], new: NDArray[Any], title: str) -> NDArray[Any]:
    """The labels of two parts of a column."""
    if not len(known):
        return new
    if not len(new) or np.array_equal(known, new):
        return known
    if "U" in (known.dtype.kind, new.dtype.kind) and known.dtype.kind != new.dtype.kind:
        raise ValueError(
            f"Labels of one partition must be all numbers or all text. Got both in partition {title}. "
            "Write that column as text in every part."
        )
    known, new = _signed(known), _signed(new)
    if "u" in (known.dtype.kind, new.dtype.kind):
        least = min(known[0], new[0])
        if "f" in (known.dtype.kind, new.dtype.kind) or least < 0:
            raise ValueError(
                f"Whole numbers that are labels must be from −2⁶³ to 2⁶³ − 1, or from 0 to 2⁶⁴ − 1. Got {least} and "
                f"{max(known[-1], new[-1])} in partition {title}. Convert that column to text in every part."
            )
        known, new = known.astype(np.uint64), new.astype(np.uint64)
    return np.union1d(known, new)


def _signed(labels: NDArray[Any]) -> NDArray[Any]:
    """Sorted labels, as int64 if they are unsigned and fit."""
    return labels.astype(np.int64) if labels.dtype.kind == "u" and labels[-1] < 2**63 else labels


def _without_missing(labels: NDArray[Any], missing: int | None) -> NDArray[Any]:
    """The labels of a whole column without the number that means missing."""
    return labels if missing is None or labels.dtype.kind == "U" else labels[labels != missing]
