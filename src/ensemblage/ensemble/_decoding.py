"""Codes back to labels, or to the binary matrix of the clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.ensemble._coding import CodedColumns

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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
