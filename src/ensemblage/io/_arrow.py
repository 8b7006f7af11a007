"""From what has types (Parquet, Arrow, JSON, data frames) to an Arrow table, and which of its columns are row names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ensemblage.io._archive import is_damage
from ensemblage.io._formats import Format

PANDAS_INDEX = "__index_level_0__"
ROW_NAMES = "row names"
"""What the unnamed first column is called."""


def read_typed(content: bytes, name: str, form: Format) -> tuple[Any, str | None]:
    """The Arrow table of a file, and the name of its column of row names."""
    with complete_file(name, form):
        table = form.function("table")(content)
        table.validate(full=True)
    return table, PANDAS_INDEX if PANDAS_INDEX in table.column_names else None


@contextmanager
def complete_file(name: str, form: Format) -> Iterator[None]:
    """Say what is wrong with a file that pyarrow cannot read."""
    try:
        yield
    except Exception as error:  # pyarrow has no one error for a damaged file
        if not is_damage(error):
            raise
        raise ValueError(
            f"{name} must be of the format of its name. It is not a complete {form.name} file. Save the table again."
        ) from None


def release_unused() -> None:
    """Give the system what Arrow's allocator keeps of the parts that a file was read in."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def parquet_columns(content: bytes) -> Any:
    """The Arrow table of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet

    return pyarrow.parquet.read_table(pa.BufferReader(content))


def arrow_columns(content: bytes) -> Any:
    """The Arrow table of an Arrow file, or of the first version of Feather."""
    import pyarrow as pa
    import pyarrow.feather

    return pyarrow.feather.read_table(pa.BufferReader(content))


def json_columns(content: bytes) -> Any:
    """The Arrow table of JSON lines, or of a list of records."""
    import pyarrow as pa
    import pyarrow.json

    if content.lstrip().startswith(b"["):
        return pa.Table.from_pylist(json.loads(content))
    return pyarrow.json.read_json(pa.BufferReader(content))


def arrow_table(frame: Any) -> tuple[Any, str | None]:
    """The Arrow table of a data frame of narwhals, and the name of its column of row names: the index, if any."""
    import pyarrow as pa

    names = [str(name) for name in frame.columns]
    columns = [arrow_array(series) for series in frame.iter_columns()]
    index = _row_names(frame)
    if index is None:
        return pa.table(columns, names), None
    name = ROW_NAMES if index.name is None or str(index.name) in names else str(index.name)
    return pa.table([arrow_array(index), *columns], [name, *names]), name


def _row_names(frame: Any) -> Any:
    """The index of a pandas frame as a series, if it does more than count the rows."""
    import narwhals.stable.v1 as nw

    if not frame.implementation.is_pandas():
        return None
    index = frame.to_native().index
    if index.nlevels > 1:
        index = index.map(lambda levels: ", ".join(map(str, levels)))
    counts = index.dtype.kind == "i" and index.tolist() == list(range(len(index)))
    return None if counts else nw.from_native(index.to_series(), series_only=True)


def arrow_array(series: Any) -> Any:
    """An Arrow array: of the type of the series, of text where it has none that Arrow knows."""
    import narwhals.stable.v1 as nw
    import pyarrow as pa

    try:
        values = series.to_arrow()
        if isinstance(series.dtype, nw.Enum) and pa.types.is_dictionary(values.type):  # ordered, which polars said late
            return pa.DictionaryArray.from_arrays(values.indices, values.dictionary, ordered=True)
        if not isinstance(values.type, pa.BaseExtensionType | pa.FixedSizeBinaryType):  # periods, objects of polars
            return values
    except (ValueError, TypeError, NotImplementedError, OverflowError):
        pass
    cells = zip(series.to_list(), series.is_null().to_list(), strict=True)
    return pa.array([None if gap else str(value) for value, gap in cells], pa.string())
