"""From columns of text to labels: one rule for files that `Ensemble.load` reads and tables that are combined."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.io._column import Column
from ensemblage.io._numbers import is_missing
from ensemblage.labels.coding import CodedColumn, CodedColumns, code_dtype, code_objects, stack_columns

WHOLE = re.compile(r"-?(0|[1-9][0-9]*)(\.0*)?")
FRACTION = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def code_columns(columns: Sequence[Column], missing: int | None) -> CodedColumns:
    """Each column as a partition."""
    return code_texts([column.name for column in columns], [column.distinct for column in columns], missing)


def code_texts(
    names: Sequence[str], numbered: Sequence[tuple[NDArray[np.int32], list[str]]], missing: int | None
) -> CodedColumns:
    """Each column as a partition, of (n,) the number of each object's text, and the texts: their number means none."""
    coded = [
        code_objects([*label_values(texts), None], name, missing)
        for name, (_, texts) in zip(names, numbered, strict=True)
    ]
    dtype = code_dtype([column.categories for column in coded])
    codes = [column.codes.astype(dtype)[numbers] for column, (numbers, _) in zip(coded, numbered, strict=True)]
    partitions = [CodedColumn(code, column.categories) for code, column in zip(codes, coded, strict=True)]
    return stack_columns(partitions, list(names))


def label_values(texts: Sequence[str]) -> list[Any]:
    """The labels that the distinct texts of a column are, None where they mean missing.

    Whole numbers if all are whole decimals (1, −1.0), numbers if all are decimals and no two the same number, else
    text: with leading zeros, with exponents, whole and beyond 64 bits.
    """
    filled = [text for text in texts if not is_missing(text)]
    if all(map(WHOLE.fullmatch, filled)):
        whole = {text: int(text.partition(".")[0]) for text in filled}
        if all(-(2**63) <= value < 2**63 for value in whole.values()):
            return [whole.get(text) for text in texts]
    if all(map(FRACTION.fullmatch, filled)):
        values = {text: float(text) for text in filled}
        beyond = any("." not in text and abs(value) >= 2**53 for text, value in values.items())
        if len(set(values.values())) == len(filled) and not beyond:
            return [values.get(text) for text in texts]
    return [None if is_missing(text) else text for text in texts]


def as_labels(column: Column) -> NDArray[np.object_]:
    """(n,) texts, None where they are missing."""
    codes, texts = column.distinct
    labels = np.array([*(None if is_missing(text) else text for text in texts), None], dtype=object)
    return labels[codes]
