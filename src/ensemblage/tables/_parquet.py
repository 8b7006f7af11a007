"""Parquet tables, by way of pyarrow (an optional dependency)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ensemblage.tables._cells import numbers
from ensemblage.tables._table import Column, Table

PANDAS_INDEX = "__index_level_0__"


def read_parquet(content: bytes, source: str, as_text: Collection[str] = ()) -> Table:
    """Read the columns of a Parquet file: numbers stay numbers, all else becomes text that is read as in a CSV file."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ValueError(
            f"Reading {source} needs pyarrow. It is not installed. Get it with: pip install 'ensemblage[parquet]'."
        ) from None
    try:
        frame = pq.read_table(pa.BufferReader(content))
        frame.validate(full=True)
    except Exception:  # pyarrow has no one error for a damaged file
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
    whole = pa.types.is_integer(kind)
    if not (whole or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)):
        text = ["" if v is None else str(v).strip() for v in values.to_pylist()]
        return Column(name, text, numbers(text))
    digits = np.array(values.cast(pa.float64(), safe=not whole).to_numpy(), dtype=np.float64)
    return Column(name, ["" if v is None else str(v) for v in values.to_pylist()] if as_text else None, digits)
