"""Numbers to codes: whole ones by their range, others, or where that is too wide, by sorting."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.ensemble._checks import check_size
from ensemblage.ensemble._coding import CodedColumn, CodedColumns, code_dtype, stack_columns
from ensemblage.kernels._codes import look_up_values, mark_values
from ensemblage.kernels._jit import are_few
from ensemblage.rows.memory import MemoryRows
from ensemblage.rows.protocol import map_rows


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
            "Labels must be whole numbers or text: these look like features; use ConsensusClustering (ensemblage run) "
            "or a generator such as DiversePartitions on them. "
            f"Got {float(fractions[0]):g} in partition {title!r}. If they are labels, number them."
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
