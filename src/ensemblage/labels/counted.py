"""An ensemble of distinct label rows and how many objects have each, as a database groups them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.frames import as_frame
from ensemblage.base.text import some
from ensemblage.base.validation import MOST_OBJECTS, format_value
from ensemblage.labels.coding import CodedColumns, as_matrix, check_size, code_labels
from ensemblage.labels.ensemble import Ensemble
from ensemblage.tables.arrow import arrow_array

RESULTS = ("cluster", "confidence")
"""Columns that `CountedEnsemble.clusters` adds to the labels."""


class CountedEnsemble(Ensemble):
    """What `Ensemble.from_counts` returns.

    Parameters
    ----------
    ensemble : Ensemble
        The rows, each once.
    counts : ndarray of shape (n_rows,), int64
        Objects with each row: ``sample_weight`` of a fit.
    labels : pyarrow.Table of shape (n_rows, n_partitions)
        The rows as they were given.
    """

    is_counted: ClassVar[bool] = True

    def __init__(self, ensemble: Ensemble, counts: NDArray[np.int64], labels: Any) -> None:
        self._set(ensemble.coded, None, ensemble.missing)
        self.ensemble, self.counts, self.labels = ensemble, counts, labels
        counts.flags.writeable = False

    @property
    def n_objects(self) -> int:
        """The sum of the counts."""
        return int(self.counts.sum())

    @property
    def _columns(self) -> CodedColumns:
        """Refused: who takes the rows alone would count each of them once."""
        raise ValueError(
            f"Label rows must have no counts here. Got {self!r}. Give its attribute ensemble, or fit a consensus "
            f"method to it."
        )

    @property
    def _kind_of_rows(self) -> str:
        m, n = len(self), self.n_objects
        return f"row{'s' * (m > 1)} of {n:,} object{'s' * (n > 1)}"

    def _repr_html_(self) -> None:
        """None: a notebook shows its line."""

    def clusters(self, model: Any) -> Any:
        """The cluster and the confidence of each row, beside its labels: what the objects are joined with.

        Parameters
        ----------
        model : estimator
            Fitted to this ensemble.

        Returns
        -------
        pyarrow.Table of shape (n_rows, n_partitions + 2)
            The labels as they were given, ``cluster`` and ``confidence``. DuckDB finds it by the name of its variable,
            ``polars.from_arrow`` and ``table.to_pandas()`` make other data frames of it.

        Raises
        ------
        ValueError
            If the model was fitted to something else, or a partition is named as one of the two columns.
        """
        labels = getattr(model, "labels_", None)
        if labels is None or len(labels) != len(self):
            got = "one that is not fitted" if labels is None else f"one of {len(labels):,} rows"
            raise ValueError(
                f"The model must be fitted to these {len(self):,} rows. Got {got}. Call model.fit(E) with this "
                "ensemble first."
            )
        taken = [name for name in RESULTS if name in self.labels.column_names]
        if taken:
            raise ValueError(
                f"Columns of labels must not be named {' or '.join(map(repr, RESULTS))}, as those of the result are. "
                f"Got {taken[0]!r}. Rename it in the query."
            )
        table = self.labels
        for name, values in zip(RESULTS, (labels, model.confidence_), strict=True):
            table = table.append_column(name, [np.asarray(values)])
        return table

    def join_sql(self, table: str = "labels", clusters_table: str = "clusters") -> str:
        """The SQL that gives every object the cluster and the confidence of its row.

        Parameters
        ----------
        table : str, default "labels"
            Name of the table of objects, in which the partitions are columns with the names that they have here.
        clusters_table : str, default "clusters"
            Name under which the database finds the table that `clusters` returned.

        Returns
        -------
        str
            A query of standard SQL, which takes two missing labels as equal: DuckDB, PostgreSQL, SQLite and others run
            it.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from ensemblage import Ensemble
        >>> print(Ensemble.from_counts(pa.table({"l1": [0, 1], "l2": [0, 1], "n": [3, 1]}), "n").join_sql("cells"))
        SELECT "cells".*, "clusters"."cluster", "clusters"."confidence"
        FROM "cells" LEFT JOIN "clusters"
          ON "cells"."l1" IS NOT DISTINCT FROM "clusters"."l1"
         AND "cells"."l2" IS NOT DISTINCT FROM "clusters"."l2"
        """
        objects, rows = quoted(table), quoted(clusters_table)
        columns = [quoted(name) for name in self.labels.column_names]
        equal = "\n AND ".join(f"{objects}.{name} IS NOT DISTINCT FROM {rows}.{name}" for name in columns)
        results = ", ".join(f"{rows}.{quoted(name)}" for name in RESULTS)
        return f"SELECT {objects}.*, {results}\nFROM {objects} LEFT JOIN {rows}\n  ON {equal}"

    def join_polars(self, table: str = "labels", clusters_table: str = "clusters") -> str:
        """The expression of Polars that gives every object the cluster and the confidence of its row.

        Parameters
        ----------
        table : str, default "labels"
            Name of the variable of the lazy frame whose rows are the objects.
        clusters_table : str, default "clusters"
            Name of the variable of the frame that ``polars.from_arrow`` made of what `clusters` returned.

        Returns
        -------
        str
            Python code.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from ensemblage import Ensemble
        >>> Ensemble.from_counts(pa.table({"l1": [0, 1], "l2": [0, 1], "n": [3, 1]}), "n").join_polars()
        "labels.join(clusters.lazy(), on=['l1', 'l2'], nulls_equal=True, how='left', maintain_order='left')"
        """
        keys = f"on={self.labels.column_names!r}, nulls_equal=True"
        return f"{table}.join({clusters_table}.lazy(), {keys}, how='left', maintain_order='left')"


def quoted(name: str) -> str:
    """An identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


ROWS_AT_ONCE = 1 << 20
"""Rows of a stream that are grouped together, at least."""
RULE = f"counts must be whole numbers ≥ 0, one per row of labels, with a sum from 1 to {MOST_OBJECTS:,}"


def counted_rows(rows: Any, counts: Any) -> tuple[Any, NDArray[np.int64]]:
    """The distinct label rows as an Arrow table, in the order of their first rows, and the sums of their counts."""
    import pyarrow as pa

    name, waiting, n_waiting, n_grouped = "", list[Any](), 0, 0
    for labels, counted in _parts(rows, counts):
        name = name or _name_beside(labels.column_names)
        waiting.append(labels.append_column(name, [counted]))
        n_waiting += len(counted)
        if n_waiting >= max(ROWS_AT_ONCE, 2 * n_grouped):
            waiting = [_sums(pa.concat_tables(waiting), name)]
            n_waiting = n_grouped = waiting[0].num_rows
    check_size(len(waiting), 1)
    table = _sums(pa.concat_tables(waiting), name)
    rows, counted = table.drop_columns([name]), np.asarray(table[name].to_numpy(), dtype=np.int64)
    check_size(*rows.shape)
    if not 0 < int(counted.sum()) <= MOST_OBJECTS:
        raise ValueError(f"{RULE}. Got a sum of {int(counted.sum()):,}. Give rows with counts above 0.")
    return rows, counted


def _sums(table: Any, name: str) -> Any:
    """The distinct rows of an Arrow table, the column of that name summed."""
    import pyarrow as pa

    keys = [column for column in table.column_names if column != name]
    check_size(table.num_rows, len(keys))
    try:
        sums = table.group_by(keys, use_threads=False).aggregate([(name, "sum")])
    except pa.ArrowNotImplementedError:
        code_labels(table.drop_columns([name]), -1)  # says what labels must be
        raise
    return sums.select([*keys, f"{name}_sum"]).rename_columns([*keys, name])


def _parts(rows: Any, counts: Any) -> Iterator[tuple[Any, NDArray[np.int64]]]:
    """Arrow tables of labels with the same columns, and the count of each row."""
    rows, counts = _grouped_by_engine(rows, counts)
    vector = None if counts is None or isinstance(counts, str) else _whole(counts)
    start, first = 0, None
    for table in _tables(rows):
        first = table.schema if first is None else first
        _check_schema(first, table.schema)
        stop = start + table.num_rows
        if isinstance(counts, str):
            if counts not in table.column_names:
                raise ValueError(
                    f"counts must be the name of a column, or one number per row. Got {counts!r}. The columns are "
                    f"{some(table.column_names, 5)}."
                )
            yield table.drop_columns([counts]), _whole(table[counts])
        elif vector is None:
            yield table, np.ones(table.num_rows, dtype=np.int64)
        else:
            _check_length(len(vector), stop, is_end=False)
            yield table, vector[start:stop]
        start = stop
    if vector is not None:
        _check_length(len(vector), start, is_end=True)


def _grouped_by_engine(rows: Any, counts: Any) -> tuple[Any, Any]:
    """Lazy rows as an Arrow table, and their counts: GROUP BY, by the engine that has them, where there are none."""
    import narwhals as nw

    frame = nw.from_native(rows, pass_through=True)
    if not isinstance(frame, nw.LazyFrame):
        return rows, counts
    names = frame.collect_schema().names()
    if counts is None and names:
        counts = _name_beside(names)
        frame = frame.group_by(*names).agg(nw.len().alias(counts))
    elif counts is not None and not isinstance(counts, str):
        raise ValueError(
            "counts of lazy rows must be the name of a column: a query has no order of rows. Got "
            f"{format_value(counts)}. Make it a column of the query."
        )
    return frame.collect(backend="pyarrow").to_native(), counts


def _tables(rows: Any) -> Iterator[Any]:
    """Arrow tables of what is given as a frame, a stream, an array, or a sequence of frames or streams."""
    import pyarrow as pa

    frame = as_frame(rows)
    if frame is not None:
        yield _plain(pa.table([arrow_array(column) for column in frame.iter_columns()], list(map(str, frame.columns))))
    elif hasattr(rows, "__arrow_c_stream__"):
        for batch in pa.RecordBatchReader.from_stream(rows):
            yield _plain(pa.table(batch))
    elif isinstance(rows, list | tuple) and rows and all(map(_is_frame, rows)):
        for part in rows:
            yield from _tables(part)
    else:
        matrix = as_matrix(rows)
        names = [f"partition_{j}" for j in range(matrix.shape[1])]
        yield _plain(pa.table([pa.array(column) for column in matrix.T], names))


def _is_frame(part: Any) -> bool:
    return hasattr(part, "__arrow_c_stream__") or as_frame(part) is not None


def _plain(table: Any) -> Any:
    """The table with categories and views of text as plain text, so that all parts have one type."""
    import pyarrow as pa

    for j, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        kind = pa.large_string() if pa.types.is_string(kind) or pa.types.is_string_view(kind) else kind
        if kind != field.type:
            table = table.set_column(j, field.name, table.column(j).cast(kind))
    return table


def _check_schema(first: Any, schema: Any) -> None:
    """Refuse parts with other columns or types than the first."""
    if schema.names != first.names:
        got = f"{some(schema.names, 5)} after {some(first.names, 5)}"
        raise ValueError(f"Parts of label rows must have the same columns. Got {got}. Select the same in each part.")
    for name, known, got in zip(first.names, first.types, schema.types, strict=True):
        if known != got:
            raise ValueError(
                f"Parts of label rows must have the same types. Got {got} after {known} in column {name!r}. Cast that "
                "column in every part."
            )


def _whole(counts: Any) -> NDArray[np.int64]:
    """Counts, a vector or an Arrow column, as int64."""
    import pyarrow as pa

    try:
        column = counts if isinstance(counts, pa.ChunkedArray) else pa.array(np.asarray(counts))
        if column.null_count:
            raise ValueError(f"{RULE}. Got a missing one. Leave these rows out.")
        numbers = np.asarray(column.cast(pa.int64()).to_numpy(), dtype=np.int64)
    except (pa.ArrowException, TypeError):
        raise ValueError(f"{RULE}. Got {_wrong(counts)}. Count objects with count(*), or round the numbers.") from None
    if len(numbers) and numbers.min() < 0:
        raise ValueError(f"{RULE}. Got {int(numbers.min())}. Leave these rows out.")
    return numbers


def _wrong(counts: Any) -> str:
    """The first number that is not whole, or what the counts are."""
    try:
        numbers = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError):
        return f"a column of {counts.type}" if hasattr(counts, "type") else format_value(counts)
    wrong = numbers[numbers != np.floor(numbers)]
    return f"{wrong[0]:g}" if wrong.size else format_value(counts)


def _check_length(n_counts: int, n_rows: int, is_end: bool) -> None:
    if n_counts < n_rows or (is_end and n_counts != n_rows):
        raise ValueError(f"{RULE}. Got {n_counts:,} counts and {n_rows:,} rows{'' if is_end else ' or more'}.")


def _name_beside(names: list[str]) -> str:
    """A name for the counts that no column has."""
    return next(name for name in ("count" + "_" * i for i in range(len(names) + 1)) if name not in names)
