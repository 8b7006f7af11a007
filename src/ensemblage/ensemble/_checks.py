"""What a label matrix, its names and its number for missing must be."""

from collections.abc import Iterable, Sequence, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import MOST_OBJECTS, check_vector, format_value


def check_size(n: int, p: int) -> None:
    """Refuse a label matrix without objects or without partitions."""
    # The second sentences are scikit-learn's own, which its conformance checks look for.
    if p == 0:
        raise ValueError(
            f"A label matrix must have at least one partition. Found 0 feature(s) (shape=({n}, {p})) while a minimum "
            "of 1 is required. Give one column per partition."
        )
    if n == 0:
        raise ValueError(
            f"A label matrix must have at least one object. Found 0 sample(s) (shape=({n}, {p})) while a minimum "
            "of 1 is required. Give one row per object."
        )


def check_names(names: Any, p: int) -> list[str]:
    """One name per partition, as text."""
    are_several = isinstance(names, Iterable) and not (isinstance(names, np.ndarray) and names.ndim == 0)
    checked = [str(name) for name in names] if are_several else []
    if len(checked) != p or len(set(checked)) != p:
        got = "a name twice" if len(checked) == p else f"{len(checked)} names"
        got = got if are_several else format_value(names)
        raise ValueError(f"names must be {p} distinct names, one per partition. Got {got}. Name each partition once.")
    if any(name.endswith("\0") for name in checked):
        raise ValueError("names must not end in a NUL character, which NumPy drops. Got one that does. Strip it.")
    return checked


def check_missing(missing: Any) -> int | None:
    """The number that means missing, or None."""
    if missing is None:
        return None
    if isinstance(missing, int | np.integer) and not isinstance(missing, bool) and -(2**63) <= missing < 2**63:
        return int(missing)
    raise ValueError(
        f"missing must be a whole number or None. Got {format_value(missing)}. "
        "NaN, None and NA are always missing: leave missing out."
    )


def names_of_both(first: Sequence[str], second: Sequence[str]) -> list[str] | None:
    """Names of partitions side by side; None, for numbers, where one stands twice."""
    names = [*first, *second]
    return names if len(set(names)) == len(names) else None


def check_beside(other: Any, kind: type[Sized], n: int) -> None:
    """Refuse what is no ensemble, of this kind, of the same n objects."""
    if not isinstance(other, kind) or len(other) != n:
        raise ValueError(
            f"Partitions that are joined must be of the same {n:,} objects, of class {kind.__name__}. Got "
            f"{format_value(other)}. Convert them to one class."
        )


def check_labelled(categories: Sequence[NDArray[Any]], names: Sequence[str]) -> None:
    """Refuse an ensemble without any label."""
    if not any(map(len, categories)):
        raise ValueError(
            "A partition of an ensemble must label at least one object. Got nothing but missing labels in "
            f"{names[0]!r}{' and the others' * (len(names) > 1)}. Select objects that have labels."
        )


def check_each_labelled(categories: Sequence[NDArray[Any]], names: Sequence[str]) -> None:
    """Refuse a partition that labels nothing: not in a subset of the rows, but where labels come in."""
    for labels, name in zip(categories, names, strict=True):
        if not len(labels):
            raise ValueError(
                f"Every partition must label at least one object. Got nothing but missing labels in partition "
                f"{name!r}. Leave that partition out."
            )


def check_sample_weight(sample_weight: Any, n_objects: int) -> NDArray[np.int64]:
    """(n_objects,) whole numbers ≥ 0, not all 0, whose sum is a number of objects that kernels can count."""
    rule = (
        f"sample_weight of X must be whole numbers ≥ 0, one for each of the {n_objects:,} objects, not all zero, with "
        f"a sum of at most {MOST_OBJECTS:,}"
    )
    weights = check_vector(sample_weight, n_objects, rule, "Give one number per object.")
    wrong = weights[~((weights >= 0) & (weights == np.floor(weights)) & np.isfinite(weights))]
    if len(wrong):
        raise ValueError(f"{rule}. Got {wrong[0]:g}. Multiply all of them by the same factor and round them.")
    if not weights.any():
        raise ValueError(f"{rule}. Got nothing but 0. Leave sample_weight out to count every object once.")
    if weights.sum() > MOST_OBJECTS:
        raise ValueError(f"{rule}. Got a sum of {weights.sum():.17g}. Divide all by the same number and round them.")
    return weights.astype(np.int64)
