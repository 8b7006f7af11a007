"""Codes back to labels, or to the binary matrix of the clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.labels._coding import CodedColumns

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def decode(coded: CodedColumns, missing: int | None) -> NDArray[Any]:
    """(n, p) labels: integers if every label is one, floats if numbers, else objects.

    Missing are ``missing`` among integers, NaN among floats (and integers without a ``missing``), None among objects.
    """
    kinds = {labels.dtype.kind for labels in coded.categories}
    fill: Any
    dtype: np.dtype[Any]
    if kinds == {"i"} and (missing is not None or not _has_missing(coded)):
        fill, dtype = missing or 0, np.dtype(np.int64)
    elif kinds <= {"i", "f"}:
        fill, dtype = np.nan, np.dtype(np.float64)
    else:
        fill, dtype = None, np.dtype(object)
    decoded = np.empty(coded.codes.shape, dtype=dtype)
    for j, labels in enumerate(coded.categories):
        label_of = np.empty(len(labels) + 1, dtype=dtype)
        label_of[:-1] = labels
        label_of[-1] = fill
        decoded[:, j] = label_of[coded.codes[:, j]]
    return decoded


def _has_missing(coded: CodedColumns) -> bool:
    return any((coded.codes[:, j] == len(labels)).any() for j, labels in enumerate(coded.categories))


def one_hot(coded: CodedColumns, dtype: Any) -> csr_array:
    """(n, Σ k_j): 1 where an object is in a cluster; a missing entry has no 1."""
    from scipy.sparse import csr_array

    n_clusters = np.array([len(labels) for labels in coded.categories], dtype=np.int64)
    labelled = coded.codes < n_clusters
    columns = (coded.codes + (np.cumsum(n_clusters) - n_clusters))[labelled]
    indptr = np.concatenate([[0], np.cumsum(labelled.sum(axis=1))])
    shape = len(coded.codes), int(n_clusters.sum())
    return csr_array((np.ones(len(columns), dtype=dtype), columns, indptr), shape=shape)
