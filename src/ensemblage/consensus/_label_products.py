"""Products of the label matrix with itself, H' D H: how many objects every two labels share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from ensemblage.kernels._contingency import contingency
from ensemblage.labels.rows import Rows

MOST_DENSE = 3_000
"""Clusters up to which their d x d matrix is made."""


def label_products(rows: Rows, share: NDArray[np.float64]) -> Any:
    """H' diag(share) H of the labels, (d, d): an array, or an operator where that would be large."""
    shared = rows.codes.products(share)
    if shared is not None:
        return shared[np.ix_(rows.labels, rows.labels)]
    d = int(rows.n_clusters.sum())
    if d > MOST_DENSE:
        H = rows.binary_matrix(np.sqrt(share)[:, None])
        return LinearOperator((d, d), lambda x: H.T @ (H @ x.ravel()))
    return dense_label_products(rows, share)


def dense_label_products(rows: Rows, share: NDArray[Any]) -> NDArray[np.float64]:
    """`label_products` as an array, whatever its size."""
    columns, sizes, starts = np.ascontiguousarray(rows.codes[:].T), rows.n_clusters.tolist(), rows.starts
    products = np.zeros((starts[-1], starts[-1]))
    for j, b in enumerate(columns):
        of_j = slice(starts[j], starts[j + 1])
        products[of_j, of_j] = np.diag(np.bincount(b, weights=share, minlength=sizes[j])[: sizes[j]])
        for i, a in enumerate(columns[:j]):
            table = np.zeros((sizes[i] + 1) * (sizes[j] + 1), dtype=share.dtype)
            contingency(a, b, share, sizes[j] + 1, table)
            of_i, shared = slice(starts[i], starts[i + 1]), table.reshape(sizes[i] + 1, sizes[j] + 1)[:-1, :-1]
            products[of_i, of_j], products[of_j, of_i] = shared, shared.T
    return products


def products_through(products: Any, S: csr_array) -> Any:
    """S' P S of an array or operator P."""
    if isinstance(products, LinearOperator):
        return LinearOperator(products.shape, lambda x: S.T @ (products @ (S @ x.ravel())))
    return S.T @ (products @ S)


def scale_both_sides(products: Any, scale: NDArray[np.float64]) -> Any:
    """diag(scale) P diag(scale) of an array or operator P."""
    if isinstance(products, LinearOperator):
        return LinearOperator(products.shape, lambda x: scale * (products @ (scale * x.ravel())))
    return products * np.outer(scale, scale)
