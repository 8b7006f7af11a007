"""Normalised cut (Shi & Malik 2000; Yu & Shi 2003) with the offset and the discretisation of the authors' ncut.m.

Objects with equal labels are one row with a count. That is exact: an eigenvector that tells them apart has the
eigenvalue 0.5 / (degree + 1), at most 1/6, and the leading ones have more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, eigh
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from ensemblage.base.random import eigsh_start
from ensemblage.kernels._graphs import mark_diagonal, walk_in_place
from ensemblage.labels.threads import check_stopped, row_blocks
from ensemblage.metrics._coassociation import Associations

OFFSET = 0.5
LEAST = 1e-6
"""Similarities below it are 0; so are rows of the embedding, relative to the longest."""
DENSE_ROWS = 400
"""Up to so many rows all eigenvectors cost less than a few by iteration."""
MOST_RESTARTS = 300
MOST_DENSE_ROWS = 3_000
"""Up to so many rows all eigenvectors are found where iteration has not come to an end by then, if that is allowed."""
RESTARTS_OF_LARGE = 3_000
"""Of more rows; where eigenvalues repeat, the second of a pair is found by rounding alone, or never."""
MOST_STEPS = 20
PLACED_ROWS = 64
"""Rows that are put into clusters at once."""


class NoConvergence(ValueError):
    """The iteration that finds eigenvectors did not end."""


class Spectrum(NamedTuple):
    """Leading eigenvalues, from the largest, and their eigenvectors."""

    values: NDArray[np.float64]
    """(k,)"""
    vectors: NDArray[np.float64]
    """(m, k)"""


def normalized_cut(
    graph: Any,
    counts: NDArray[np.int64],
    n_clusters: int,
    random: np.random.RandomState,
    whole: Any = None,
    may_be_dense: bool = True,
) -> NDArray[np.int64]:
    """Cluster of each row, numbered without gaps; now and then fewer than ``n_clusters``.

    ``graph`` is the (m, m) similarity of the rows, dense or sparse, its diagonal included; ``counts`` the objects of
    each row. A row outside the clusters that the eigenvectors show (isolated, or of a small component) goes to the one
    with the largest mean similarity in ``whole`` (default: ``graph``), ties to the lowest number. If ``whole`` is
    given, a sparse ``graph`` is overwritten. ``may_be_dense`` is as of `leading_eigenvectors`.
    """
    if n_clusters == 1:
        return np.zeros(len(counts), dtype=np.int64)
    W = csr_array(graph, dtype=np.float64, copy=whole is None)
    clusters = discretise(embedding(W, counts, n_clusters, random, may_be_dense), counts, random)
    del W
    found, placed = np.unique(clusters[clusters >= 0], return_inverse=True)
    clusters[clusters >= 0] = placed
    _place_others(clusters, len(found), counts, graph if whole is None else whole)
    return clusters


def cut_bytes(m: int, n_clusters: int) -> int:
    """Bytes that `normalized_cut` of m rows takes at most beyond a graph that it overwrites, while iteration ends."""
    if m <= max(DENSE_ROWS, 3 * n_clusters):
        return dense_bytes(m, n_clusters)
    return 8 * m * (2 * _n_lanczos(m, n_clusters) + 10 * n_clusters + PLACED_ROWS + 12)


def dense_bytes(m: int, n_clusters: int) -> int:
    """Bytes that all eigenvectors of m rows take."""
    return 8 * m * (5 * m + 8 * n_clusters)


def fallback_bytes(m: int, n_clusters: int) -> int:
    """Bytes that all eigenvectors take where iteration does not end; 0 for more rows, which have no such way out."""
    return dense_bytes(m, n_clusters) if m <= MOST_DENSE_ROWS else 0


def embedding(
    W: csr_array,
    counts: NDArray[np.int64],
    n_clusters: int,
    random: np.random.RandomState,
    may_be_dense: bool = True,
) -> NDArray[np.float64]:
    """(m, k) eigenvectors of the random walk, each of length √n over the objects; ``W`` is overwritten."""
    W.sum_duplicates()
    if W.nnz and W.data.min() < LEAST:
        W.data[np.abs(W.data) < LEAST] = 0
        W.eliminate_zeros()
    lengths = np.sqrt(counts * (W @ counts.astype(np.float64) + 2 * OFFSET))
    X = spectrum(W, counts, n_clusters, random, may_be_dense).vectors / lengths[:, None]
    return np.asarray(X * np.sqrt(counts.sum() / (counts @ X**2)))


def spectrum(
    W: csr_array,
    counts: NDArray[np.int64],
    n_clusters: int,
    random: np.random.RandomState,
    may_be_dense: bool = True,
) -> Spectrum:
    """Leading eigenvectors of D^-1/2 (W + I/2) D^-1/2 with D = diag(W 1 + 1), over objects that share their rows.

    An isolated object is an eigenvector of its own, with the eigenvalue 0.75 if its similarity to itself is 1: such
    vectors are not computed, and the first of the objects come first. ``W`` is overwritten.
    """
    W = _with_diagonal(W)
    degrees, own = W @ counts.astype(np.float64) + 2 * OFFSET, W.diagonal()
    scale, offset = np.sqrt(counts / degrees), OFFSET / degrees
    isolated = (counts == 1) & (np.diff(W.indptr) == 1)
    rest, alone = np.flatnonzero(~isolated), np.flatnonzero(isolated)[:n_clusters]
    number = np.where(isolated, -1, np.cumsum(~isolated) - 1)
    n_entries = walk_in_place(W.indptr, W.indices, W.data, scale, offset, number)
    walk = csr_array(
        (W.data[:n_entries], W.indices[:n_entries], W.indptr[: len(rest) + 1]), shape=(len(rest), len(rest))
    )
    found = leading_eigenvectors(walk, min(n_clusters, len(rest)), random, may_be_dense)
    values = np.concatenate([found.values, (scale * own * scale + offset)[alone]])
    vectors = np.zeros((len(counts), len(values)))
    vectors[rest, : len(found.values)] = found.vectors
    vectors[alone, len(found.values) + np.arange(len(alone))] = 1
    order = np.argsort(-values, kind="stable")[:n_clusters]
    return Spectrum(values[order], vectors[:, order])


def _with_diagonal(W: csr_array) -> csr_array:
    """The same array with an entry for each element of the diagonal, if only a 0."""
    present = np.empty(W.shape[0], dtype=np.bool_)
    mark_diagonal(W.indptr, W.indices, present)
    if present.all():
        return W
    W = csr_array(W + diags_array((~present).astype(np.float64)))
    diagonal = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr)) == W.indices
    W.data[np.flatnonzero(diagonal)[~present]] = 0
    return W


def _n_lanczos(m: int, k: int) -> int:
    """Vectors that ARPACK keeps."""
    return min(m, max(2 * k + 1, 40))


def leading_eigenvectors(matrix: Any, k: int, random: np.random.RandomState, may_be_dense: bool = True) -> Spectrum:
    """The k largest eigenvalues of a symmetric array, sparse array or linear operator, and their eigenvectors.

    Where iteration does not end, all eigenvectors of up to `MOST_DENSE_ROWS` rows are found if the matrix
    ``may_be_dense`` (`fallback_bytes`), else `NoConvergence` is raised. Raises `Stopped` where `check_stopped` does:
    many products of a large graph may take long.
    """
    m = matrix.shape[0]
    if k == 0:
        return Spectrum(np.empty(0), np.empty((m, 0)))
    if m <= max(DENSE_ROWS, 3 * k):
        values, vectors = _eigenvectors_of_dense(matrix @ np.eye(m), k)
    else:
        start, small = random.uniform(-1, 1, size=m), m <= MOST_DENSE_ROWS
        restarts = MOST_RESTARTS if small else RESTARTS_OF_LARGE

        def times(vector: NDArray[np.float64]) -> Any:
            check_stopped()
            return matrix @ vector

        product = LinearOperator((m, m), times, dtype=np.float64)
        options = {"ncv": _n_lanczos(m, k), "maxiter": restarts, **eigsh_start(start)}
        try:
            values, vectors = eigsh(product, k, which="LA", **options)
        except ArpackNoConvergence as error:
            if not small or not may_be_dense:
                raise NoConvergence(
                    f"The {k} eigenvectors of a spectral cut must converge. They did not, for a graph of {m:,} "
                    "vertices. Ask for fewer clusters, or remove fewer edges."
                ) from error
            values, vectors = _eigenvectors_of_dense(matrix @ np.eye(m), k)  # many eigenvalues are nearly equal
    order = np.argsort(-values, kind="stable")
    return Spectrum(values[order], vectors[:, order])


def _eigenvectors_of_dense(matrix: NDArray[np.float64], k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The k largest eigenvalues, in increasing order, and their eigenvectors."""
    m = len(matrix)
    try:
        values, vectors = eigh(matrix, subset_by_index=(m - k, m - 1))
    except LinAlgError:
        values = np.empty(0)
    if len(values) < k:
        # LAPACK finds some of the eigenvectors by inverse iteration, which can fail where eigenvalues repeat, or give
        # fewer without a word; all of them by divide and conquer, which does not.
        values, vectors = eigh(matrix, driver="evd")
    return values[-k:], vectors[:, -k:]


def discretise(X: NDArray[np.float64], counts: NDArray[np.int64], random: np.random.RandomState) -> NDArray[np.int64]:
    """Cluster of each row of an embedding: the rotation that brings the rows closest to unit vectors; -1 for zeros."""
    length = np.sqrt((X**2).sum(axis=1))
    known = length > LEAST * length.max()
    rows, n_objects = X[known] / length[known, None], counts[known].astype(np.float64)
    weighted = rows * n_objects[:, None]
    rotation, value = orthogonal_rows(rows, n_objects, rows.shape[1], random).T, np.inf
    for _ in range(MOST_STEPS):
        nearest = np.argmax(rows @ rotation, axis=1)
        sums = [np.bincount(nearest, weights=column, minlength=rows.shape[1]) for column in weighted.T]
        left, singular, right = np.linalg.svd(np.array(sums).T)
        before, value = value, 2 * float(n_objects.sum() - singular.sum())
        if abs(before - value) < np.finfo(np.float64).eps * n_objects.sum():
            break
        rotation = right.T @ left.T
    clusters = np.full(len(X), -1, dtype=np.int64)
    clusters[known] = nearest
    return clusters


def orthogonal_rows(
    rows: NDArray[Any], counts: NDArray[Any], n_rows: int, random: np.random.RandomState
) -> NDArray[Any]:
    """Nearly orthogonal rows of a matrix: one of a random object, then again and again the least aligned one."""
    share = np.cumsum(counts)
    chosen = [int(np.searchsorted(share, random.uniform() * share[-1], side="right"))]
    aligned = np.zeros(len(rows))
    for _ in range(n_rows - 1):
        aligned += np.abs(rows @ rows[chosen[-1]])
        chosen.append(int(np.argmin(aligned)))
    return rows[chosen]


def _place_others(clusters: NDArray[np.int64], k: int, counts: NDArray[np.int64], whole: Any) -> None:
    """Put each row without a cluster where its mean similarity to the members is largest."""
    others, members = np.flatnonzero(clusters < 0), np.flatnonzero(clusters >= 0)
    if not len(others):
        return
    sizes = np.bincount(clusters[members], weights=counts[members], minlength=k)
    member_of = coo_array((counts[members] / sizes[clusters[members]], (members, clusters[members])), (len(counts), k))
    member_of = member_of.tocsr()
    for block in row_blocks(len(others), PLACED_ROWS):
        some = others[block]
        means = (whole.rows(some) if isinstance(whole, Associations) else whole[some]) @ member_of
        clusters[some] = np.argmax(means.toarray() if hasattr(means, "toarray") else means, axis=1)
