"""Lists and arrays of labels as arrays that have lost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.labels._checks import check_size


def as_matrix(labels: Any) -> NDArray[Any]:
    """An (n, p) array of what is given as rows of labels, n, p > 0."""
    if isinstance(labels, list | tuple):
        labels = _matrix_of_rows(labels) if len(labels) else np.empty((0, 1))
    matrix = labels if np.ma.isMaskedArray(labels) else np.asarray(labels)
    if matrix.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported: labels must be numbers, text or categories. Got complex numbers. "
            "Code them as text or whole numbers first."
        )
    if matrix.ndim != 2:
        raise ValueError(
            f"Labels must be a matrix. Expected 2D array, got {'scalar' if matrix.ndim == 0 else f'{matrix.ndim}D'} "
            "array instead. Reshape your data: one row per object, one column per partition "
            "(Ensemble.from_partitions takes label vectors)."
        )
    check_size(*matrix.shape)
    return matrix


def as_vector(labels: Any, position: int) -> NDArray[Any]:
    """An (n,) array of what is given as the labels of the partition of that number."""
    vector = labels if np.ma.isMaskedArray(labels) else _as_array(labels)
    if vector.ndim != 1:
        raise ValueError(
            f"Each partition must be a 1-D vector of labels. Got {vector.ndim} dimensions in partition {position}. "
            "Use Ensemble(labels) for a matrix with one column per partition."
        )
    return vector


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """A vector of Python objects, sequences among them."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _matrix_of_rows(rows: Sequence[Any]) -> NDArray[Any]:
    matrix = _as_array(rows)
    lengths = sorted({len(row) for row in rows if isinstance(row, list | tuple | np.ndarray)})
    if len(lengths) > 1:
        raise ValueError(
            f"Rows of a label matrix must be of equal length. Got rows of {lengths[0]} to {lengths[-1]} labels. "
            "Mark what a partition did not label as missing (None or -1)."
        )
    return matrix


def _as_array(labels: Any) -> NDArray[Any]:
    """NumPy's array, but of objects where it would turn numbers into text or lose digits, or rows are ragged."""
    if not isinstance(labels, list | tuple):
        return np.asarray(labels)
    try:
        array = np.asarray(labels)
    except ValueError:
        return object_array(labels)
    lossy = array.dtype.kind == "f" and bool((np.abs(array) >= 2**53).any())
    if array.dtype.kind in "iubf" and not lossy:
        return array
    return np.array(labels, dtype=object) if array.ndim else array
