"""A column of labels to codes: numbers by their range, by sorting where that is too wide; objects by a dictionary."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option
from ensemblage.base.validation import format_value
from ensemblage.ensemble._checks import check_size
from ensemblage.ensemble._coding import CodedColumn, CodedColumns, code_dtype, stack_columns
from ensemblage.kernels._codes import look_up_values, mark_values
from ensemblage.kernels._jit import are_few
from ensemblage.rows.memory import MemoryRows
from ensemblage.rows.protocol import map_rows


def code_column(column: NDArray[Any], title: str, missing: int | None) -> CodedColumn:
    """Code an (n,) array; what is masked in it is missing."""
    values, absent = np.ma.getdata(column), np.ma.getmaskarray(column)
    if values.dtype.kind in "iubf":
        return code_numbers(values, absent, title, missing)
    if values.dtype.kind == "S":
        values = _decode_column(values, title)
    if values.dtype.kind in "UTO":
        objects = values.tolist()
        if absent.any():
            objects = [None if none else value for value, none in zip(objects, absent, strict=True)]
        return code_objects(objects, title, missing)
    raise TypeError(
        f"Labels must be numbers, text or categories. Got {values.dtype} in partition {title!r}. "
        "Convert that column to text."
    )


def _decode_column(values: NDArray[np.bytes_], title: str) -> NDArray[np.str_]:
    try:
        return np.char.decode(values, "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"Byte strings that are labels must be UTF-8 text. Got {format_value(error.object)} in partition "
            f"{title!r}. Decode that column, or code it as whole numbers."
        ) from None


def code_objects(values: list[Any], title: str, missing: int | None) -> CodedColumn:
    """Code a column of Python numbers or text; None, NaN and NA are missing."""
    try:
        distinct = list(dict.fromkeys(values))
    except TypeError:  # what has no hash is no label either
        distinct = values
    absent = np.array([_is_missing(value) for value in distinct], dtype=bool)
    if _are_text(distinct, title):
        coded = _code_text(distinct, absent)
    else:
        coded = code_numbers(_numbers(distinct, absent, title), absent, title, missing)
    code_of = dict(zip(distinct, coded.codes.tolist(), strict=True))
    codes = np.fromiter(map(code_of.__getitem__, values), dtype=np.int32, count=len(values))
    return CodedColumn(codes, coded.categories)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    if _is_missing(value):
        return "missing"
    return "number" if isinstance(value, int | float | np.integer | np.floating | np.bool_) else "other"


def _are_text(distinct: list[Any], title: str) -> bool:
    """Whether labels are text, all of them, rather than numbers."""
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
    return kinds == {"text"}


def _code_text(distinct: list[Any], absent: NDArray[np.bool_]) -> CodedColumn:
    labels = sorted(str(value) for value, none in zip(distinct, absent, strict=True) if not none)
    code_of = {label: code for code, label in enumerate(labels)}
    codes = [len(labels) if none else code_of[str(value)] for value, none in zip(distinct, absent, strict=True)]
    return CodedColumn(np.array(codes), np.array(labels, dtype=str))


def _numbers(distinct: list[Any], absent: NDArray[np.bool_], title: str) -> NDArray[Any]:
    """Numbers as an array, 0 where absent: int64 if all of them are whole, else float64."""
    numbers = [0 if none else value for value, none in zip(distinct, absent, strict=True)]
    whole = [value for value in numbers if isinstance(value, int | np.integer | np.bool_)]
    beyond = [value for value in whole if not -(2**63) <= value < 2**63]
    if beyond:
        raise ValueError(
            f"Whole numbers that are labels must be from −2⁶³ to 2⁶³ − 1. Got {format_value(beyond[0])} in partition "
            f"{title!r}. Convert that column to text."
        )
    return np.array(numbers, dtype=np.int64 if len(whole) == len(numbers) else np.float64)


def code_numbers(values: NDArray[Any], absent: NDArray[np.bool_], title: str, missing: int | None) -> CodedColumn:
    """Code (n,) whole numbers or truth values; what is ``absent``, NaN or equals ``missing`` is missing."""
    if values.dtype.kind != "f":
        return _code_integer_column(values, absent, missing)
    values = np.where(absent, np.nan, values).astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(
            f"Labels must be finite or missing (NaN). Got infinity in partition {title!r}. "
            "Replace it by a label of its own or by NaN."
        )
    absent = np.isnan(values)
    present = values[~absent]
    fractions = present[present != np.floor(present)]
    if len(fractions):
        raise ValueError(
            Message(
                "Labels must be whole numbers or text: these look like features. "
                f"Got {float(fractions[0]):g} in partition {title!r}. Cluster features with ",
                Option("ConsensusClustering"),
                ", or make clusterings of them with ",
                Option("DiversePartitions"),
                "; if these are labels, number them.",
            )
        )
    if (np.abs(present) >= 2**53).any():
        return _code_by_sorting(values, absent, missing)
    return _code_integer_column(np.where(absent, 0, values).astype(np.int64), absent, missing)


def code_integers(matrix: NDArray[Any], missing: Sequence[int | None]) -> CodedColumns:
    """Code an (n, p) matrix of whole numbers or truth values; ``missing[j]`` means missing in column j."""
    if matrix.dtype.kind == "b":
        matrix = matrix.view(np.uint8)
    lowest, highest = matrix.min(axis=0), matrix.max(axis=0)
    sizes = [int(high) - int(low) + 1 for low, high in zip(lowest, highest, strict=True)]
    if int(highest.max()) >= 2**62 or sum(sizes) > max(2**22, 4 * matrix.size):
        nowhere = np.zeros(len(matrix), dtype=bool)
        return stack_columns([_code_by_sorting(matrix[:, j], nowhere, m) for j, m in enumerate(missing)], None)
    if matrix.dtype == np.uint64 or not matrix.dtype.isnative:
        matrix = matrix.astype(np.int64)
    return _code_by_range(matrix, lowest.astype(np.int64), sizes, missing)


def _code_integer_column(values: NDArray[Any], absent: NDArray[np.bool_], missing: int | None) -> CodedColumn:
    """Code (n,) whole numbers or truth values; what is ``absent`` or equals ``missing`` is missing."""
    present = values[~absent]
    lowest, highest = int(present.min(initial=0)), int(present.max(initial=0))
    if lowest < -(2**62) or highest >= 2**62:
        return _code_by_sorting(values, absent, missing)
    filled = values.astype(np.int64)
    if absent.any():
        missing = lowest - 1 if missing is None else missing
        filled[absent] = missing
    codes, (categories,), _ = code_integers(filled[:, None], [missing])
    return CodedColumn(codes[:, 0], categories)


def _code_by_sorting(values: NDArray[Any], absent: NDArray[np.bool_], missing: int | None) -> CodedColumn:
    """Code (n,) numbers; what is ``absent`` or equals ``missing`` is missing."""
    if missing is not None:
        absent = absent | (values == missing)
    categories, inverse = np.unique(values[~absent], return_inverse=True)
    codes = np.full(len(values), len(categories), dtype=np.int32)
    codes[~absent] = inverse
    return CodedColumn(codes, categories)


def drop_unused_labels(coded: CodedColumns) -> CodedColumns:
    """Code again after some rows went away: labels that no row has any more lose their code."""
    check_size(*coded.codes.shape)
    codes, used, _ = code_integers(coded.codes[:], [len(c) for c in coded.categories])
    return CodedColumns(codes, tuple(c[u] for c, u in zip(coded.categories, used, strict=True)), coded.names)


def _code_by_range(
    matrix: NDArray[Any], lowest: NDArray[np.int64], sizes: Sequence[int], missing: Sequence[int | None]
) -> CodedColumns:
    """Code columns by a table of all numbers from ``lowest[j]`` to ``lowest[j] + sizes[j] - 1`` each."""
    ends = np.cumsum(sizes, dtype=np.int64)
    starts = ends - sizes
    present = np.zeros(ends[-1], dtype=np.uint8)
    few = are_few(64 * matrix.size)
    if few:
        places = starts + matrix - lowest
        present[places] = 1
    else:
        map_rows(mark_values, [matrix], lowest, starts, present)
    code_of = np.empty(len(present), dtype=np.int32)
    categories: list[NDArray[np.int64]] = []
    for low, start, end, number in zip(lowest.tolist(), starts, ends, missing, strict=True):
        if number is not None and 0 <= number - low < end - start:
            present[start + number - low] = 0
        found = np.flatnonzero(present[start:end])
        code_of[start:end] = len(found)
        code_of[start + found] = np.arange(len(found))
        categories.append(found + low)
    codes = np.empty(matrix.shape, dtype=code_dtype(categories))
    if few:
        codes[:] = code_of[places]
    else:
        map_rows(look_up_values, [matrix, codes], lowest, starts, code_of)
    return CodedColumns(MemoryRows(codes), tuple(categories), None)
