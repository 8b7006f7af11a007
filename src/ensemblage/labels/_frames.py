"""Columns of data frames (pandas, polars, pyarrow) as arrays that have lost nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.labels._arrays import object_array


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
            "Columns of a data frame of labels must have distinct names. Got a name twice. Rename the columns."
        ) from None


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
