"""Python objects to codes: a dictionary, so that only the distinct ones are looked at more closely."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import format_value
from ensemblage.ensemble._coding import CodedColumn
from ensemblage.ensemble._numbers import code_numbers


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
