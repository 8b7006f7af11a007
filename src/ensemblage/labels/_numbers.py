"""Numbers to codes: as whole numbers where all of a column are, else by sorting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.labels._coded import CodedColumn
from ensemblage.labels._integers import code_by_sorting, code_integer_column


def code_numbers(values: NDArray[Any], absent: NDArray[np.bool_], title: str, missing: int | None) -> CodedColumn:
    """Code (n,) numbers or truth values; what is ``absent`` or NaN is missing.

    So is what equals ``missing``, if all are whole.
    """
    if values.dtype.kind != "f":
        return code_integer_column(values, absent, missing)
    values = np.where(absent, np.nan, values).astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(
            f"Labels must be finite or missing (NaN). Got infinity in partition {title!r}. "
            "Replace it by a label of its own or by NaN."
        )
    absent = np.isnan(values)
    present = values[~absent]
    if (present != np.floor(present)).any():
        return code_by_sorting(values, absent, None)
    if (np.abs(present) >= 2**53).any():
        return code_by_sorting(values, absent, missing)
    return code_integer_column(np.where(absent, 0, values).astype(np.int64), absent, missing)
