"""A label vector of any type to codes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import format_value
from ensemblage.ensemble._coding import CodedColumn
from ensemblage.ensemble._numbers import code_numbers
from ensemblage.ensemble._objects import code_objects


def code_column(column: NDArray[Any], title: str, missing: int | None) -> CodedColumn:
    """Code an (n,) array; what is masked in it is missing."""
    values, absent = np.ma.getdata(column), np.ma.getmaskarray(column)
    if values.dtype.kind in "iubf":
        return code_numbers(values, absent, title, missing)
    if values.dtype.kind == "S":
        values = _decoded(values, title)
    if values.dtype.kind in "UTO":
        objects = values.tolist()
        if absent.any():
            objects = [None if none else value for value, none in zip(objects, absent, strict=True)]
        return code_objects(objects, title, missing)
    raise TypeError(
        f"Labels must be numbers, text or categories. Got {values.dtype} in partition {title!r}. "
        "Convert that column to text."
    )


def _decoded(values: NDArray[np.bytes_], title: str) -> NDArray[np.str_]:
    try:
        return np.char.decode(values, "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"Byte strings that are labels must be UTF-8 text. Got {format_value(error.object)} in partition "
            f"{title!r}. Decode that column, or code it as whole numbers."
        ) from None
