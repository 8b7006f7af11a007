"""Products of the label matrix with itself, H' D H: how many objects every two labels share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

from ensemblage.counting._contingency import contingency_tables
from ensemblage.labels.blocks import MembershipRows
from ensemblage.labels.counts import shared_masses
from ensemblage.labels.rows import Rows

MOST_DENSE = 3_000
"""Clusters up to which their d x d matrix is made."""


def label_products(rows: Rows, share: NDArray[np.float64]) -> Any:
    """H' diag(share) H of the labels, (d, d): an array, or an operator where that would be large."""
    if isinstance(rows.codes, MembershipRows):
        return shared_masses(rows.codes, share)[np.ix_(rows.labels, rows.labels)]
    starts = rows.starts
    d = int(starts[-1])
    if d > MOST_DENSE:
        H = rows.binary_matrix(np.sqrt(share)[:, None])
        return LinearOperator((d, d), lambda x: H.T @ (H @ x.ravel()))
    tables = contingency_tables(np.ascontiguousarray(rows.codes[:].T), share, rows.n_clusters, 1)
    products = np.zeros((d, d))
    for j, column in enumerate(rows.codes[:].T):
        block = slice(starts[j], starts[j + 1])
        sums = np.bincount(column, weights=share, minlength=rows.n_clusters[j])[: rows.n_clusters[j]]
        products[block, block] = np.diag(sums)
        for i in range(j):
            across = tables.table(i, j)[:-1, :-1]
            products[starts[i] : starts[i + 1], block] = across
            products[block, starts[i] : starts[i + 1]] = across.T
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
