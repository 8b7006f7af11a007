"""What labels are given as (data frames, series, arrays, lists) as arrays that have lost nothing."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.ensemble._checks import check_size


def as_frame(labels: Any) -> Any:
    """A data frame of narwhals, or None if ``labels`` is none."""
    if isinstance(labels, np.ndarray | list | tuple):
        return None
    import narwhals.stable.v1 as nw

    try:
        frame = nw.from_native(labels, eager_only=True, pass_through=True)
        return frame if isinstance(frame, nw.DataFrame) and frame.columns is not None else None
    except nw.exceptions.DuplicateError:
        raise ValueError(
            "Columns of a data frame must have distinct names. Got a name twice. Rename the columns."
        ) from None


def without_stream(labels: Any) -> Any:
    """The Arrow table of a stream that is no data frame, such as a relation of DuckDB; all else as it is."""
    if not hasattr(labels, "__arrow_c_stream__") or as_frame(labels) is not None:
        return labels
    import pyarrow as pa

    return pa.RecordBatchReader.from_stream(labels).read_all()


def as_series(labels: Any) -> Any:
    """A series of narwhals, or None if ``labels`` is none."""
    if isinstance(labels, np.ndarray | list | tuple):
        return None
    import narwhals.stable.v1 as nw

    series = nw.from_native(labels, series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None


def series_values(series: Any) -> NDArray[Any]:
    """A column as an array: integers with gaps masked (NumPy would make them floats), all but numbers as objects."""
    import narwhals.stable.v1 as nw

    if str(series.dtype) in ("Int128", "UInt128"):  # which NumPy has not
        return object_array(series.to_list())
    if series.dtype.is_integer() and series.null_count():
        return np.ma.array(series.fill_null(0).to_numpy(), mask=series.is_null().to_numpy())
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        values: NDArray[Any] = np.asarray(series.to_numpy())
        return values
    return object_array(series.to_list())


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
