"""Any label matrix to codes: integers by range, text by dictionary, other numbers by sorting."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage._validation import shown
from ensemblage.kernels._coding import look_up_values, mark_values
from ensemblage.rows.memory import as_rows
from ensemblage.rows.protocol import map_rows


class CodedColumns(NamedTuple):
    """A label matrix as codes; the code ``len(categories[j])`` means missing in column j."""

    codes: Any
    """(n, p), an array in memory or `LabelRows`."""
    categories: tuple[NDArray[Any], ...]
    names: list[str] | None

    def select(self, columns: NDArray[np.intp]) -> CodedColumns:
        """Some of the columns, by number."""
        names = None if self.names is None else [self.names[j] for j in columns]
        return CodedColumns(as_rows(self.codes).columns(columns), tuple(self.categories[j] for j in columns), names)


class Coding(NamedTuple):
    """What is needed to code new rows as those of an ensemble."""

    categories: tuple[NDArray[Any], ...]
    missing: int | None

    def encode_labels(self, labels: Any) -> Any:
        """Codes of a label matrix; a label that is not in ``categories`` counts as missing, with one warning."""
        return self.encode(code_labels(labels, self.missing))

    def encode(self, new: CodedColumns) -> Any:
        """Codes of a label matrix that has a coding of its own."""
        p = len(self.categories)
        if new.codes.shape[1] != p:
            raise ValueError(
                f"New label rows must have the {p} partitions of the ensemble. "
                f"Got {new.codes.shape[1]}. Give one column per partition, in the same order."
            )
        tables = self._tables(new)
        unseen = sum(
            int(np.count_nonzero(table[:-1] == len(c))) for table, c in zip(tables, self.categories, strict=True)
        )
        if unseen:
            warnings.warn(
                f"{unseen} label{'s' * (unseen > 1)} not seen in fit count{'s' * (unseen == 1)} as missing.",
                UserWarning,
                stacklevel=3,
            )
        return as_rows(new.codes).recode(tables, code_dtype(self.categories))

    def known_codes(self, new: CodedColumns) -> Any:
        """`encode` without a word about labels that are not there: they are known to mean missing."""
        return as_rows(new.codes).recode(self._tables(new), code_dtype(self.categories))

    def _tables(self, new: CodedColumns) -> list[NDArray[Any]]:
        """For each column: our code of each of its codes."""
        tables = []
        for known, found in zip(self.categories, new.categories, strict=True):
            table = np.full(len(found) + 1, len(known), dtype=code_dtype(self.categories))
            if len(known) and (known.dtype.kind == "U") == (found.dtype.kind == "U"):
                if {known.dtype.kind, found.dtype.kind} == {"i", "u"}:
                    # NumPy searches int64 among uint64 as floats, which have 53 bits.
                    known, found = known.astype(object), found.astype(object)
                place = np.minimum(np.searchsorted(known, found), len(known) - 1)
                table[:-1] = np.where(known[place] == found, place, len(known))
            tables.append(table)
        return tables


def code_labels(labels: Any, missing: int | None) -> CodedColumns:
    """Code a 2-D array-like or data frame of labels column by column."""
    for method in ("toarray", "collect"):
        if hasattr(labels, method):
            raise TypeError(
                "Labels must be a dense matrix or a data frame in memory: a sparse matrix has no labels, only zeros "
                f"and values. Got sparse or lazy data of type {type(labels).__name__}. Use labels.{method}()."
            )
    frame = _as_frame(labels)
    if frame is not None:
        check_size(*frame.shape)
        return code_columns([_frame_column(c) for c in frame.iter_columns()], [str(c) for c in frame.columns], missing)
    matrix = _as_matrix(labels)
    if matrix.dtype.kind in "iub" and not np.ma.isMaskedArray(matrix):
        return _code_integers(matrix, missing)
    return code_columns([matrix[:, j] for j in range(matrix.shape[1])], None, missing)


def code_columns(columns: Sequence[NDArray[Any]], names: list[str] | None, missing: int | None) -> CodedColumns:
    """Code label vectors of equal length; what is masked in them is missing."""
    check_size(len(columns[0]) if columns else 0, len(columns))
    if all(c.dtype.kind in "iub" and not np.ma.isMaskedArray(c) for c in columns):
        matrix = np.column_stack(columns)
        if matrix.dtype.kind in "iub":  # int64 and uint64 make float64
            return _code_integers(matrix, missing)._replace(names=names)
    titles = names or [str(j) for j in range(len(columns))]
    coded = [code_column(column, title, missing) for column, title in zip(columns, titles, strict=True)]
    categories = tuple(c.categories[0] for c in coded)
    codes = np.column_stack([c.codes for c in coded])
    return CodedColumns(codes.astype(code_dtype(categories)), categories, names)


def label_vector(labels: Any, position: int) -> NDArray[Any]:
    """One partition's labels as a 1-D array, masked where a data frame's column has nothing."""
    series = _as_series(labels)
    if series is not None:
        return _frame_column(series)
    vector = labels if np.ma.isMaskedArray(labels) else _array(labels)
    if vector.ndim != 1:
        raise ValueError(
            f"Each partition must be a 1-D vector of labels. Got {vector.ndim} dimensions in partition {position}. "
            "Use Ensemble(labels) for a matrix with one column per partition."
        )
    return vector


def _array(labels: Any) -> NDArray[Any]:
    """NumPy's array, but of objects where it would turn numbers into text or lose digits, or rows are ragged."""
    if not isinstance(labels, list | tuple):
        return np.asarray(labels)
    try:
        array = np.asarray(labels)
    except ValueError:
        return _objects(labels)
    lossy = array.dtype.kind == "f" and bool((np.abs(array) >= 2**53).any())
    if array.dtype.kind in "iubf" and not lossy:
        return array
    return np.array(labels, dtype=object) if array.ndim else array


def code_dtype(categories: Sequence[NDArray[Any]]) -> np.dtype[Any]:
    """Smallest type that holds every code and the code for missing."""
    largest = max(len(c) for c in categories)
    return np.dtype(np.uint8 if largest <= 255 else np.uint16 if largest <= 65_535 else np.int32)


def code_matrix_of_codes(
    codes: NDArray[Any], categories: Sequence[NDArray[Any]], names: list[str] | None
) -> CodedColumns:
    """Code again after some rows went away: labels that no row has any more lose their code."""
    check_size(*codes.shape)
    absent = np.array([len(c) for c in categories], dtype=np.int64)
    recoded = _code_integers(codes, absent)
    kept = tuple(c[k] for c, k in zip(categories, recoded.categories, strict=True))
    return CodedColumns(recoded.codes, kept, names)


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


def _as_frame(labels: Any) -> Any:
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


def _as_series(labels: Any) -> Any:
    if isinstance(labels, np.ndarray | list | tuple):
        return None
    import narwhals.stable.v1 as nw

    series = nw.from_native(labels, series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None


def _frame_column(series: Any) -> NDArray[Any]:
    """A column as an array: integers with gaps masked (NumPy would make them floats), all but numbers as objects."""
    import narwhals.stable.v1 as nw

    if str(series.dtype) in ("Int128", "UInt128"):  # which NumPy has not
        return _objects(series.to_list())
    if series.dtype.is_integer() and series.null_count():
        return np.ma.array(series.fill_null(0).to_numpy(), mask=series.is_null().to_numpy())
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        values: NDArray[Any] = np.asarray(series.to_numpy())
        return values
    return _objects(series.to_list())


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _as_matrix(labels: Any) -> NDArray[Any]:
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


def _matrix_of_rows(rows: Sequence[Any]) -> NDArray[Any]:
    matrix = _array(rows)
    lengths = sorted({len(row) for row in rows if isinstance(row, list | tuple | np.ndarray)})
    if len(lengths) > 1:
        raise ValueError(
            f"Rows of a label matrix must be of equal length. Got rows of {lengths[0]} to {lengths[-1]} labels. "
            "Mark what a partition did not label as missing (None or -1)."
        )
    return matrix


def _code_integers(matrix: NDArray[Any], absent: Any) -> CodedColumns:
    """Code integer columns; ``absent`` (one number, one per column, or None) is the value that means missing."""
    if matrix.dtype.kind == "b":
        matrix = matrix.view(np.uint8)
    lowest, highest = matrix.min(axis=0), matrix.max(axis=0)
    spans = [int(high) - int(low) + 1 for low, high in zip(lowest, highest, strict=True)]
    if int(highest.max()) >= 2**62 or sum(spans) > max(2**22, 4 * matrix.size):
        coded = [_by_sorting(matrix[:, j], _nth(absent, j)) for j in range(matrix.shape[1])]
        categories = tuple(c.categories[0] for c in coded)
        codes = np.column_stack([c.codes for c in coded]).astype(code_dtype(categories))
        return CodedColumns(codes, categories, None)
    if matrix.dtype == np.uint64 or not matrix.dtype.isnative:
        matrix = matrix.astype(np.int64)
    lowest = lowest.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(spans)]).astype(np.int64)
    present = np.zeros(starts[-1], dtype=np.uint8)
    map_rows(mark_values, [matrix], lowest, starts[:-1], present)
    code_of, categories = np.empty(len(present), dtype=np.int32), ()
    for j, span in enumerate(spans):
        seen = present[starts[j] : starts[j + 1]]
        value, column = _nth(absent, j), code_of[starts[j] : starts[j + 1]]
        missing_at = None if value is None else int(value) - int(lowest[j])
        if missing_at is not None and 0 <= missing_at < span:
            seen[missing_at] = 0
        found = np.flatnonzero(seen)
        column[:] = len(found)
        column[found] = np.arange(len(found))
        categories += (found + lowest[j],)
    codes = np.empty(matrix.shape, dtype=code_dtype(categories))
    map_rows(look_up_values, [matrix, codes], lowest, starts[:-1], code_of)
    return CodedColumns(codes, categories, None)


def _nth(absent: Any, j: int) -> int | None:
    return int(absent[j]) if isinstance(absent, np.ndarray) else absent


def _by_sorting(values: NDArray[Any], absent: float | None, mask: NDArray[np.bool_] | None = None) -> CodedColumns:
    missing = np.zeros(len(values), dtype=bool) if mask is None else mask
    if absent is not None:
        missing = missing | (values == absent)
    categories, inverse = np.unique(values[~missing], return_inverse=True)
    codes = np.full(len(values), len(categories), dtype=np.int32)
    codes[~missing] = inverse
    return CodedColumns(codes, (categories,), None)


def code_column(column: NDArray[Any], title: str, missing: int | None) -> CodedColumns:
    """Code one column; what is masked in it is missing."""
    values, unknown = np.ma.getdata(column), np.ma.getmaskarray(column)
    if values.dtype.kind == "S":
        values = _decoded(values, title)
    if values.dtype.kind in "UT":
        values = _objects(values.tolist())
    if values.dtype.kind == "O":
        return code_objects(_without(values, unknown).tolist(), title, missing)
    if values.dtype.kind in "iub":
        return _code_known_integers(values, unknown, missing)
    if values.dtype.kind == "f":
        return _code_floats(np.where(unknown, np.nan, values).astype(np.float64), title, missing)
    raise TypeError(
        f"Labels must be numbers, text or categories. Got {values.dtype} in partition {title!r}. "
        "Convert that column to text."
    )


def _decoded(values: NDArray[np.bytes_], title: str) -> NDArray[np.str_]:
    try:
        return np.char.decode(values, "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"Byte strings that are labels must be UTF-8 text. Got {shown(error.object)} in partition {title!r}. "
            "Decode that column, or code it as whole numbers."
        ) from None


def _without(objects: NDArray[Any], unknown: NDArray[np.bool_]) -> NDArray[Any]:
    objects = objects.copy()
    objects[unknown] = None
    return objects


def _code_known_integers(values: NDArray[Any], unknown: NDArray[np.bool_], missing: int | None) -> CodedColumns:
    known = values[~unknown]
    lowest, highest = int(known.min(initial=0)), int(known.max(initial=0))
    if lowest < -(2**62) or highest >= 2**62:
        return _by_sorting(values, missing, unknown)
    filled = values.astype(np.int64)
    if unknown.any():
        missing = lowest - 1 if missing is None else missing
        filled[unknown] = missing
    return _code_integers(filled.reshape(-1, 1), missing)


def _code_floats(values: NDArray[np.float64], title: str, missing: int | None) -> CodedColumns:
    unknown = np.isnan(values)
    if np.isinf(values).any():
        raise ValueError(
            f"Labels must be finite or missing (NaN). Got infinity in partition {title!r}. "
            "Replace it by a label of its own or by NaN."
        )
    known = values[~unknown]
    if (known != np.floor(known)).any():
        return _by_sorting(values, None, unknown)
    if (np.abs(known) >= 2**53).any():
        return _by_sorting(values, missing, unknown)
    return _code_known_integers(np.where(unknown, 0, values).astype(np.int64), unknown, missing)


def code_objects(values: list[Any], title: str, missing: int | None) -> CodedColumns:
    """Code Python objects by a dictionary: only the distinct ones are looked at more closely."""
    try:
        distinct = list(dict.fromkeys(values))
    except TypeError:
        distinct = values
    kinds = {_kind(value) for value in distinct} - {"missing"}
    if "other" in kinds:
        odd = next(value for value in distinct if _kind(value) == "other")
        raise TypeError(
            f"Labels must be numbers, text or categories: each argument must be a string or a number. "
            f"Got {type(odd).__name__} in partition {title!r}. Convert that column to text."
        )
    if len(kinds) > 1:
        raise ValueError(
            f"Labels of one partition must be all numbers or all text. Got both in partition {title!r}. "
            "Convert that column to text."
        )
    if kinds == {"text"} and any(isinstance(value, str) and value.endswith("\0") for value in distinct):
        raise ValueError(
            f"Text labels must not end in a NUL character, which NumPy drops. Got one in partition {title!r}. "
            "Strip it, or code that column as whole numbers."
        )
    coded = _code_text(distinct) if kinds == {"text"} else code_column(_numbers(distinct, title), title, missing)
    code_of = dict(zip(distinct, coded.codes.ravel().tolist(), strict=True))
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.int32, count=len(values))
    return CodedColumns(codes, coded.categories, None)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if _is_missing(value):
        return "missing"
    return "number" if isinstance(value, int | float | np.integer | np.floating | np.bool_) else "other"


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _code_text(distinct: list[Any]) -> CodedColumns:
    labels = sorted(str(value) for value in distinct if not _is_missing(value))
    code_of = {label: code for code, label in enumerate(labels)}
    codes = [len(labels) if _is_missing(value) else code_of[str(value)] for value in distinct]
    return CodedColumns(np.array(codes), (np.array(labels, dtype=str),), None)


def _numbers(distinct: list[Any], title: str) -> NDArray[Any]:
    """Numbers as an array: integers, masked where missing, if all are; else floats."""
    unknown = [_is_missing(value) for value in distinct]
    known = [value for value in distinct if not _is_missing(value)]
    whole = [value for value in known if isinstance(value, int | np.integer | np.bool_)]
    beyond = [value for value in whole if not -(2**63) <= value < 2**63]
    if beyond:
        raise ValueError(
            f"Whole numbers that are labels must be from −2⁶³ to 2⁶³ − 1. Got {shown(beyond[0])} in partition "
            f"{title!r}. Convert that column to text."
        )
    if len(whole) < len(known):
        return np.array([np.nan if _is_missing(value) else value for value in distinct], dtype=np.float64)
    integers = np.array([0 if _is_missing(value) else int(value) for value in distinct], dtype=np.int64)
    return np.ma.array(integers, mask=unknown)
