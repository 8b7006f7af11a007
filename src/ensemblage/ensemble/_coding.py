"""Labels as codes, how new rows of labels are coded as those of an ensemble, and codes as labels again."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensemblage.rows.memory import MemoryRows
from ensemblage.rows.protocol import LabelRows

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class CodedColumn(NamedTuple):
    """A label vector as codes; the code ``len(categories)`` means missing."""

    codes: NDArray[Any]
    """(n,) whole numbers."""
    categories: NDArray[Any]
    """(k,) the distinct labels, sorted."""


class CodedColumns(NamedTuple):
    """A label matrix as codes; the code ``len(categories[j])`` means missing in column j."""

    codes: LabelRows
    """(n, p)"""
    categories: tuple[NDArray[Any], ...]
    names: list[str] | None

    def select(self, columns: NDArray[np.intp]) -> CodedColumns:
        """Some of the columns, by number."""
        names = None if self.names is None else [self.names[j] for j in columns]
        return CodedColumns(self.codes.columns(columns), tuple(self.categories[j] for j in columns), names)


def stack_columns(columns: Sequence[CodedColumn], names: list[str] | None) -> CodedColumns:
    """The label matrix of some label vectors."""
    categories = tuple(column.categories for column in columns)
    codes = np.empty((len(columns[0].codes), len(columns)), dtype=code_dtype(categories))
    for j, column in enumerate(columns):
        codes[:, j] = column.codes
    return CodedColumns(MemoryRows(codes), categories, names)


def code_dtype(categories: Sequence[NDArray[Any]]) -> np.dtype[Any]:
    """Smallest type that holds every code and the code for missing."""
    largest = max(len(c) for c in categories)
    return np.dtype(np.uint8 if largest <= 255 else np.uint16 if largest <= 65_535 else np.int32)


class Coding(NamedTuple):
    """The labels of an ensemble, by code."""

    categories: tuple[NDArray[Any], ...]
    missing: int | None
    """The number that means missing in new rows."""

    def encode(self, new: CodedColumns, *, warn: bool = True) -> LabelRows:
        """(n_new, p) codes of a label matrix that has a coding of its own.

        A label that is not in ``categories`` becomes missing, with one warning for all of them if ``warn``.
        """
        p = len(self.categories)
        if new.codes.shape[1] != p:
            raise ValueError(
                f"New label rows must have the {p} partitions of the ensemble. "
                f"Got {new.codes.shape[1]}. Give one column per partition, in the same order."
            )
        dtype = code_dtype(self.categories)
        tables = [_recoding(old, labels, dtype) for old, labels in zip(self.categories, new.categories, strict=True)]
        unseen = sum(int(np.count_nonzero(t[:-1] == len(c))) for t, c in zip(tables, self.categories, strict=True))
        if unseen and warn:
            warnings.warn(
                f"{unseen} label{'s' * (unseen > 1)} not seen in fit count{'s' * (unseen == 1)} as missing.",
                UserWarning,
                stacklevel=3,
            )
        return new.codes.recode(tables, dtype)


def _recoding(categories: NDArray[Any], labels: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """(len(labels) + 1,) the code among the k sorted ``categories`` of each label and of missing; k if it has none."""
    k = len(categories)
    table = np.full(len(labels) + 1, k, dtype=dtype)
    if k and (categories.dtype.kind == "U") == (labels.dtype.kind == "U"):
        if {categories.dtype.kind, labels.dtype.kind} == {"i", "u"}:
            # NumPy searches int64 among uint64 as floats, which have 53 bits.
            categories, labels = categories.astype(object), labels.astype(object)
        place = np.minimum(np.searchsorted(categories, labels), k - 1)
        table[:-1] = np.where(categories[place] == labels, place, k)
    return table


def decode(coded: CodedColumns, missing: int | None) -> NDArray[Any]:
    """(n, p) labels: integers if every label is one, floats if numbers that floats tell apart, else objects.

    Missing are ``missing`` among integers, NaN among floats (and integers without a ``missing``), None among objects.
    """
    codes = coded.codes.in_memory("An array of all labels", "ensemble.save")
    kinds = {labels.dtype.kind for labels in coded.categories}
    fill: Any
    dtype: np.dtype[Any]
    if kinds == {"i"} and (missing is not None or not _has_missing(codes, coded.categories)):
        fill, dtype = missing or 0, np.dtype(np.int64)
    elif kinds <= {"i", "f"} and not any(map(_are_beyond_floats, coded.categories)):
        fill, dtype = np.nan, np.dtype(np.float64)
    else:
        fill, dtype = None, np.dtype(object)
    decoded = np.empty(codes.shape, dtype=dtype)
    for j, labels in enumerate(coded.categories):
        label_of = np.empty(len(labels) + 1, dtype=dtype)
        label_of[:-1] = labels
        label_of[-1] = fill
        decoded[:, j] = label_of[codes[:, j]]
    return decoded


def _has_missing(codes: NDArray[Any], categories: tuple[NDArray[Any], ...]) -> bool:
    return any((codes[:, j] == len(labels)).any() for j, labels in enumerate(categories))


def _are_beyond_floats(labels: NDArray[Any]) -> bool:
    """Whether sorted labels are whole numbers that floats may round."""
    return labels.dtype.kind == "i" and len(labels) > 0 and bool(labels[0] <= -(2**53) or labels[-1] >= 2**53)


def one_hot(coded: CodedColumns, dtype: Any) -> csr_array:
    """(n, Σ k_j): 1 where an object is in a cluster; a missing entry has no 1."""
    from scipy.sparse import csr_array

    codes = coded.codes.in_memory("one_hot", "ensemble.codes")
    n_clusters = np.array([len(labels) for labels in coded.categories], dtype=np.int64)
    labelled = codes < n_clusters
    columns = (codes + (np.cumsum(n_clusters) - n_clusters))[labelled]
    indptr = np.concatenate([[0], np.cumsum(labelled.sum(axis=1))])
    shape = len(coded.codes), int(n_clusters.sum())
    return csr_array((np.ones(len(columns), dtype=dtype), columns, indptr), shape=shape)
