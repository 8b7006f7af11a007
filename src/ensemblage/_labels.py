"""Any label matrix to codes: integers by range, text by dictionary, other numbers by sorting."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage._parallel import map_rows
from ensemblage.kernels._coding import look_up_values, mark_values


class CodedColumns(NamedTuple):
    """A label matrix as codes; the code ``len(categories[j])`` means missing in column j."""

    codes: NDArray[Any]
    categories: tuple[NDArray[Any], ...]
    names: list[str] | None


class Coding(NamedTuple):
    """What is needed to code new rows as those of an ensemble."""

    categories: tuple[NDArray[Any], ...]
    missing: int | None

    def encode_labels(self, labels: Any) -> NDArray[Any]:
        """Codes of a label matrix; a label that is not in ``categories`` counts as missing, with one warning."""
        return self.encode(code_labels(labels, self.missing))

    def encode(self, new: CodedColumns) -> NDArray[Any]:
        """Codes of a label matrix that has a coding of its own."""
        p = len(self.categories)
        if new.codes.shape[1] != p:
            raise ValueError(
                f"New label rows must have the {p} partitions of the ensemble. "
                f"Got {new.codes.shape[1]}. Give one column per partition, in the same order."
            )
        codes, unseen = np.empty(new.codes.shape, dtype=code_dtype(self.categories)), 0
        for j, (known, found) in enumerate(zip(self.categories, new.categories, strict=True)):
            table = np.full(len(found) + 1, len(known), dtype=codes.dtype)
            if (known.dtype.kind == "U") == (found.dtype.kind == "U"):
                place = np.minimum(np.searchsorted(known, found), len(known) - 1)
                table[:-1] = np.where(known[place] == found, place, len(known))
            unseen += int(np.count_nonzero(table[:-1] == len(known)))
            codes[:, j] = table[new.codes[:, j]]
        if unseen:
            warnings.warn(
                f"{unseen} label{'s' * (unseen > 1)} not seen in fit count{'s' * (unseen == 1)} as missing.",
                UserWarning,
                stacklevel=3,
            )
        return codes


def code_labels(labels: Any, missing: int | None) -> CodedColumns:
    """Code a 2-D array-like or data frame of labels column by column."""
    if hasattr(labels, "toarray"):
        raise TypeError(
            "Labels must be a dense matrix: a sparse matrix has no labels, only zeros and values. "
            f"Got sparse data of type {type(labels).__name__}. Use labels.toarray()."
        )
    frame = _as_frame(labels)
    if frame is not None:
        columns, names = [_frame_column(frame[name]) for name in frame.columns], [str(c) for c in frame.columns]
        _check_size(len(frame), len(columns))
        if all(c.dtype.kind in "iub" for c in columns):
            return _code_integers(np.column_stack(columns), missing)._replace(names=names)
    else:
        matrix = _as_matrix(labels)
        if matrix.dtype.kind in "iub":
            return _code_integers(matrix, missing)
        columns, names = [matrix[:, j] for j in range(matrix.shape[1])], None
    titles = names or [str(j) for j in range(len(columns))]
    coded = [_code_column(column, title, missing) for column, title in zip(columns, titles, strict=True)]
    codes = np.column_stack([c.codes for c in coded])
    categories = tuple(c.categories[0] for c in coded)
    return CodedColumns(codes.astype(code_dtype(categories)), categories, names)


def code_dtype(categories: Sequence[NDArray[Any]]) -> np.dtype[Any]:
    """Smallest type that holds every code and the code for missing."""
    largest = max(len(c) for c in categories)
    return np.dtype(np.uint8 if largest <= 255 else np.uint16 if largest <= 65_535 else np.int32)


def code_matrix_of_codes(
    codes: NDArray[Any], categories: Sequence[NDArray[Any]], names: list[str] | None
) -> CodedColumns:
    """Code again after some rows went away: labels that no row has any more lose their code."""
    _check_size(*codes.shape)
    absent = np.array([len(c) for c in categories], dtype=np.int64)
    recoded = _code_integers(codes, absent)
    kept = tuple(c[k] for c, k in zip(categories, recoded.categories, strict=True))
    return CodedColumns(recoded.codes, kept, names)


def _check_size(n: int, p: int) -> None:
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

    frame = nw.from_native(labels, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _frame_column(series: Any) -> NDArray[Any]:
    import narwhals.stable.v1 as nw

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
        labels = _matrix_of_rows(labels)
    matrix = np.asarray(labels)
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
    _check_size(*matrix.shape)
    return matrix


def _matrix_of_rows(rows: Sequence[Any]) -> NDArray[Any]:
    lists = [row for row in rows if isinstance(row, list | tuple | np.ndarray)]
    lengths = sorted({len(row) for row in lists})
    if len(lists) < len(rows):
        return _objects(rows)
    if len(lengths) > 1:
        raise ValueError(
            f"Rows of a label matrix must be of equal length. Got rows of {lengths[0]} to {lengths[-1]} labels. "
            "Mark what a partition did not label as missing (None or -1)."
        )
    matrix = np.empty((len(rows), lengths[0] if lengths else 0), dtype=object)
    for i, row in enumerate(lists):
        matrix[i] = row
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


def _code_column(column: NDArray[Any], title: str, missing: int | None) -> CodedColumns:
    """Code one column of floats, text or objects."""
    if column.dtype.kind in "US":
        column = _objects(column.astype(str).tolist())
    if column.dtype.kind == "O":
        column = _numbers_or_text(column, title)
    if column.dtype.kind == "O":
        return _code_text(column)
    if column.dtype.kind in "iub":
        return _one_column(column, missing)
    if column.dtype.kind != "f":
        raise TypeError(
            f"Labels must be numbers, text or categories. Got {column.dtype} in partition {title!r}. "
            "Convert that column to text."
        )
    return _code_floats(column.astype(np.float64), title, missing)


def _one_column(values: NDArray[Any], absent: int | None) -> CodedColumns:
    return _code_integers(values.reshape(-1, 1), absent)


def _code_floats(values: NDArray[np.float64], title: str, missing: int | None) -> CodedColumns:
    unknown = np.isnan(values)
    if np.isinf(values).any():
        raise ValueError(
            f"Labels must be finite or missing (NaN). Got infinity in partition {title!r}. "
            "Replace it by a label of its own or by NaN."
        )
    known = values[~unknown]
    whole = bool(np.all(known == np.floor(known)) and np.all(np.abs(known) < 2**53))
    if not whole:
        return _by_sorting(values, None, unknown)
    integers = np.where(unknown, 0, values).astype(np.int64)
    absent = missing if missing is not None else int(known.min(initial=0)) - 1
    integers[unknown] = absent
    return _one_column(integers, absent)


def _numbers_or_text(column: NDArray[Any], title: str) -> NDArray[Any]:
    """An object column as numbers, or as text with None where it is missing."""
    kinds = {_kind(value) for value in {type(v): v for v in column}.values()}
    values = [None if _is_missing(v) else v for v in column]
    if "other" in kinds:
        odd = next(v for v in values if _kind(v) == "other")
        raise TypeError(
            f"Labels must be numbers, text or categories: each argument must be a string or a number. "
            f"Got {type(odd).__name__} in partition {title!r}. Convert that column to text."
        )
    found = {_kind(v) for v in values if v is not None}
    if len(found) > 1:
        raise ValueError(
            f"Labels of one partition must be all numbers or all text. Got both in partition {title!r}. "
            "Convert that column to text."
        )
    if found == {"text"}:
        return _objects([None if v is None else str(v) for v in values])
    if all(isinstance(v, int | np.integer) for v in values):
        return np.array([int(v) for v in values], dtype=np.int64)
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float | np.integer | np.floating | np.bool_):
        return "number"
    return "missing" if _is_missing(value) else "other"


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _code_text(column: NDArray[Any]) -> CodedColumns:
    seen = dict.fromkeys(column)
    labels = sorted(label for label in seen if label is not None)
    code_of: dict[str | None, int] = {label: code for code, label in enumerate(labels)}
    code_of[None] = len(labels)
    codes = np.fromiter(map(code_of.__getitem__, column), dtype=np.int32, count=len(column))
    return CodedColumns(codes, (np.array(labels, dtype=str),), None)
