"""Labels on disk to codes on disk, in two passes: which labels there are, then the code of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage._stored._scratch import Scratch, write_array
from ensemblage._stored._sources import Source
from ensemblage.labels._coding import CodedColumns, Coding, code_dtype
from ensemblage.labels._matrices import code_labels


def code_on_disk(source: Source, missing: int | None, scratch: Scratch, rows_at_once: int) -> CodedColumns:
    """The codes of `code_labels`, in a file of the scratch folder.

    The labels and their codes are those that the whole matrix would have in memory. O(n p) time, two passes; memory
    ``rows_at_once`` rows and the labels themselves.
    """
    categories = _categories(source, missing, rows_at_once)
    dtype = code_dtype(categories)
    coding = Coding(categories, None)
    n, p = source.shape
    scratch.check_room(n * p * dtype.itemsize)
    with scratch.writing("codes") as file:
        for batch in source.read(rows_at_once):
            write_array(file, coding.encode(code_labels(batch, None), warn=False))
    return CodedColumns(scratch.rows("codes", (n, p), dtype), categories, source.names)


def _categories(source: Source, missing: int | None, rows_at_once: int) -> tuple[NDArray[Any], ...]:
    # Whether a number means "missing" depends on the whole column: its values must be whole. So none does at first.
    found: list[NDArray[Any] | None] = [None] * source.shape[1]
    n_read = 0
    for batch in source.read(rows_at_once):
        n_read += len(batch)
        for j, labels in enumerate(code_labels(batch, None).categories):
            found[j] = union(found[j], labels, f"{(source.names[j] if source.names else j)!r} of {str(source.path)!r}")
    if n_read != source.shape[0]:
        raise ValueError(
            f"{str(source.path)!r} must hold the {source.shape[0]:,} rows that it announces. Got {n_read:,}. "
            "Save it again."
        )
    return tuple(without_missing(labels, missing) for labels in found if labels is not None)


def union(known: NDArray[Any] | None, new: NDArray[Any], title: str) -> NDArray[Any]:
    """The labels of two parts of a column."""
    if known is None or not len(known):
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


def without_missing(labels: NDArray[Any], missing: int | None) -> NDArray[Any]:
    """The labels of a whole column without the one that means missing, if they are whole numbers."""
    if labels.dtype.kind == "f" and (labels == np.floor(labels)).all():
        labels = labels.astype(np.int64) if (np.abs(labels) < 2**53).all() else labels
    elif labels.dtype.kind not in "iu":
        return labels
    return labels if missing is None else labels[labels != missing]
