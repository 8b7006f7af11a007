"""Data frames and series of any library: whether something is one, its columns by their names, and its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_NAMED = 5
"""Names that an error lists."""


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


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """A vector of Python objects, sequences among them."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def check_in_memory(labels: Any) -> None:
    """Refuse what has to be made an array or a data frame first."""
    for method in ("toarray", "collect"):
        if hasattr(labels, method):
            raise TypeError(
                "Labels must be a dense matrix or a data frame in memory: a sparse matrix has no labels, only zeros "
                f"and values. Got sparse or lazy data of type {type(labels).__name__}. Use labels.{method}()."
            )


def in_order(labels: Any, names: Sequence[str], owner: str) -> Any:
    """The columns of these names, in their order, of an ensemble or a data frame; None if it goes by position.

    So does what has no names, an array, and what has only numbers, as an ensemble or a frame that was made of an array.
    ``owner`` says in errors whose partitions they are.
    """
    frame = as_frame(labels)
    if frame is None and (isinstance(labels, np.ndarray) or not hasattr(labels, "names")):
        return None
    given = [str(name) for name in (labels.names if frame is None else frame.columns)]
    if set(given) != set(names) and (_are_numbers(given) or _are_numbers(names)):
        return None
    lost = [repr(name) for name in names if name not in given]
    if lost:
        shown_names = ", ".join(lost[:MOST_NAMED]) + f" or {len(lost) - MOST_NAMED} more" * (len(lost) > MOST_NAMED)
        raise ValueError(
            f"New label rows must have the {len(names)} partitions of {owner}, by their names. Got none named "
            f"{shown_names}. Rename the columns, or give an array in the order of the partitions."
        )
    places = [given.index(name) for name in names]
    if places == list(range(len(given))):
        return labels
    return labels.select(places) if frame is None else frame[:, places]


def _are_numbers(names: Sequence[str]) -> bool:
    """Whether names only say which column it is."""
    return any(list(names) == [f"{word}{j}" for j in range(len(names))] for word in ("partition_", ""))
