"""Parquet tables, by way of pyarrow (an optional dependency)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ensemblage._tables._table import Column, Table

PANDAS_INDEX = "__index_level_0__"


def read_parquet(content: bytes, source: str, as_text: Collection[str] = ()) -> Table:
    """Read the columns of a Parquet file; numbers stay numbers, everything else becomes text."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ValueError(
            f"Reading {source} needs pyarrow. It is not installed. Get it with: pip install 'ensemblage[parquet]'."
        ) from None
    try:
        frame = pq.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError):
        raise ValueError(
            f"{source} must be what its name says. It is not a (whole) Parquet file. Save the table again."
        ) from None
    names = frame.column_names
    columns = [_column(name, frame.column(j), j == 0 or name in as_text) for j, name in enumerate(names)]
    index = PANDAS_INDEX if PANDAS_INDEX in names else None
    return Table(source, columns, range(1, frame.num_rows + 1), "row", index, ())


def _column(name: str, values: Any, as_text: bool) -> Column:
    import pyarrow as pa

    kind = values.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)
    if not numeric:
        return Column(name, ["" if v is None else str(v).strip() for v in values.to_pylist()], None)
    numbers = np.array(values.cast(pa.float64()).to_numpy(), dtype=np.float64)
    text = ["" if v is None else str(v) for v in values.to_pylist()] if as_text else None
    return Column(name, text, numbers)
