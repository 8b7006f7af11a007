"""Columns of ``.obs`` as partitions."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.options import Message, Option, suggestion
from ensemblage.base.text import some
from ensemblage.base.validation import format_value
from ensemblage.io._anndata_read import name_of, open_anndata
from ensemblage.io._labels import code_texts
from ensemblage.labels.coding import check_missing, code_with_noise
from ensemblage.labels.ensemble import Ensemble

LEIDEN = "leiden_*"
"""How scanpy's users name the clusterings of a sweep."""


def ensemble_of(
    source: Any, columns: str | Sequence[str] = LEIDEN, missing: int | None = -1, noise: str = "missing"
) -> Ensemble:
    """What `Ensemble.from_anndata` returns."""
    adata, missing = open_anndata(source), check_missing(missing)
    names = matching_columns(adata, columns)
    numbered = [_number_labels(adata.obs[name], name, name_of(adata)) for name in names]
    coded = code_with_noise(partial(code_texts, names), numbered, missing, noise)
    return Ensemble._of(coded, missing, is_new=True)


def matching_columns(adata: Any, columns: str | Sequence[str]) -> list[str]:
    """Names of columns of ``.obs``, in their order there for each pattern; each once."""
    asked: Any = [columns] if isinstance(columns, str) else columns
    if not isinstance(asked, Sequence) or not asked or not all(isinstance(name, str) for name in asked):
        raise TypeError(
            "columns must be the name of a column of .obs, a pattern such as 'leiden_*', or a list of such. "
            f"Got {format_value(columns)}. Give 'leiden_*', for example."
        )
    present = [str(name) for name in adata.obs.columns]
    found: dict[str, None] = {}
    for pattern in asked:
        matched = [pattern] if pattern in present else [name for name in present if fnmatchcase(name, pattern)]
        if not matched:
            rule = "match" if any(sign in pattern for sign in "*?[") else "name"
            got = f"Got {pattern!r}. {suggestion(pattern, present) or f'Its columns are {some(present)}.'}"
            raise ValueError(Message(Option("columns"), f" must {rule} columns of .obs of {name_of(adata)}. {got}"))
        found |= dict.fromkeys(matched)
    return list(found)


def _number_labels(column: Any, name: str, source: str) -> tuple[NDArray[np.int32], list[str]]:
    """(n,) number of each object's label, the number of labels where it has none; the labels as text.

    Categories, text, whole numbers and truth values are labels; numbers with fractions are measurements.
    """
    if getattr(column, "ndim", 1) != 1:
        raise ValueError(
            f"The columns of .obs of {source} must have different names. Got {name!r} more than once. Rename one of "
            f"them."
        )
    categories = column.astype("category").cat.remove_unused_categories()
    codes, values = categories.cat.codes.to_numpy(), categories.cat.categories
    if values.dtype.kind == "f":
        fractions = [value for value in values if not np.isfinite(value) or value != np.floor(value)]
        if fractions:
            raise ValueError(
                f"A column of clusters must hold categories, text or whole numbers. Got {fractions[0]:g} in .obs "
                f"{name!r} of {source}. Name only columns of clusterings."
            )
        values = values.astype(np.int64)
    texts = [str(value) for value in values]
    if len(column) > 2 and len(texts) == len(column):
        raise ValueError(
            f"A clustering must put some objects together. Got a different value for every object in .obs {name!r} of "
            f"{source}. Name only columns of clusterings."
        )
    return np.where(codes < 0, len(texts), codes).astype(np.int32), texts
