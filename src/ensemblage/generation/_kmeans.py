"""k-means of many rows that begins on some of them, and spherical k-means.

Spherical k-means (Dhillon & Modha 2001) has the cosine as similarity.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils import check_array, check_random_state

from ensemblage.base.sklearn import BaseEstimator, ClusterMixin
from ensemblage.base.threads import SUM_ROWS, row_blocks
from ensemblage.kernels._jit import is_small_work
from ensemblage.kernels._points import add_members

N_STEPS = 3
"""Full steps. On mixtures and on noise, a third one took a tenth off the inertia above that of a full fit, a fifth one
hardly more."""
ROWS_OF_SAMPLE = 20_000
ROWS_OF_CLUSTER = 200
"""Of the sample, so that each cluster of it has a mean."""
LEAST_SAMPLES = 5
"""Samples that many rows must be: of fewer, a fit on all rows takes little longer than one on the sample."""


def auto_sample(n_rows: int, n_clusters: int) -> int | None:
    """Rows that "auto" fits on; None: all."""
    size = max(ROWS_OF_SAMPLE, ROWS_OF_CLUSTER * n_clusters)
    return size if n_rows >= LEAST_SAMPLES * size else None


class SampledKMeans(KMeans):  # type: ignore[misc]
    """scikit-learn's k-means on ``sample_size`` random rows, then ``N_STEPS`` of Lloyd's steps on all rows.

    ``labels_`` are those of ``predict``. Where a cluster has no row after the steps, which many equal rows and few far
    ones do, k-means runs on all rows. O(n m k) time for the steps; beside the sample it copies nothing of X.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        sample_size: int = ROWS_OF_SAMPLE,
        init: Any = "k-means++",
        n_init: Any = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
    ) -> None:
        super().__init__(
            n_clusters,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            verbose=verbose,
            random_state=random_state,
            copy_x=copy_x,
            algorithm=algorithm,
        )
        self.sample_size = sample_size

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        if X.shape[0] <= self.sample_size or sample_weight is not None:
            return super().fit(X, sample_weight=sample_weight)  # type: ignore[no-any-return]
        drawn = check_random_state(self.random_state).choice(X.shape[0], self.sample_size, replace=False)
        centers: NDArray[Any] = super().fit(X[np.sort(drawn)]).cluster_centers_
        for _ in range(N_STEPS):
            sums, sizes = member_sums(X, self.predict(X), self.n_clusters)
            if not sizes.all():
                return super().fit(X)  # type: ignore[no-any-return]
            self.cluster_centers_ = (sums / sizes[:, None]).astype(centers.dtype)
        self.labels_, self.inertia_ = self.predict(X), -self.score(X)
        self.n_iter_ += N_STEPS
        return self


def member_sums(X: Any, labels: NDArray[np.int32], n_clusters: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(k, m) sums of the rows of each cluster, dense or CSR, and (k,) their number."""
    sums, sizes = np.zeros((n_clusters, X.shape[1])), np.zeros(n_clusters, dtype=np.int64)
    for block in row_blocks(len(labels), SUM_ROWS):
        of_block = labels[block]
        if issparse(X):
            m = len(of_block)
            members = csr_array((np.ones(m), (of_block, np.arange(m))), shape=(n_clusters, m))
            sums += (members @ X[block]).toarray()
            sizes += np.bincount(of_block, minlength=n_clusters)
        elif is_small_work(64 * X.size):
            sums += np.column_stack([np.bincount(of_block, column, n_clusters) for column in X[block].T])
            sizes += np.bincount(of_block, minlength=n_clusters)
        else:
            add_members(X[block], of_block, sums, sizes)
    return sums, sizes


def unit_rows(X: Any, owner: str) -> Any:
    """Rows of X, dense or CSR, scaled to length one; a row of zeros, which has no direction, is an error."""
    zero = np.flatnonzero(np.asarray(abs(X).sum(axis=1)).ravel() == 0)
    if len(zero):
        raise ValueError(
            f"Rows must have a value other than 0 for metric='cosine' of {owner}. Got zeros only in {len(zero)} of "
            f"{X.shape[0]} rows, the first at index {zero[0]}. Drop them or use metric='euclidean'."
        )
    return normalize(X)


@dataclass(eq=False, repr=False)
class SphericalKMeans(ClusterMixin, BaseEstimator):
    """k-means on the unit sphere: seeds by k-means++, labels by the largest dot product, centres of length one.

    ``fit`` takes rows of length one (``unit_rows``); ``predict`` takes any, as a row's length changes none of its
    comparisons. It stops when the centres move less than ``tol`` times the mean variance of the features, as
    scikit-learn's k-means does. O(n m k) per iteration, O(k (n_block + m)) memory beside X and the labels.
    """

    n_clusters: int = 8
    _: KW_ONLY
    max_iter: int = 300
    tol: float = 1e-4
    random_state: Any = None

    def fit(self, X: Any, y: None = None) -> Self:
        centers, _ = kmeans_plusplus(X, self.n_clusters, random_state=check_random_state(self.random_state))
        mean = np.asarray(X.mean(axis=0)).ravel()
        still = self.tol * ((1 - float(mean @ mean)) / int(X.shape[1]))  # × mean variance: rows have length one
        moved, self.n_iter_ = np.inf, 0
        while moved > still and self.n_iter_ < self.max_iter:
            labels, similarity = _assign(X, centers)
            last, centers = centers, _mean_directions(X, _fill_empty(labels, similarity, centers), centers)
            moved, self.n_iter_ = float(((centers - last) ** 2).sum()), self.n_iter_ + 1
        self.cluster_centers_ = centers
        self.labels_ = self.predict(X)
        if (n_found := len(np.unique(self.labels_))) < self.n_clusters:
            text = f"Only {n_found} of {self.n_clusters} clusters have members: X may have too few distinct directions."
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        return _assign(X, self.cluster_centers_)[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _assign(X: Any, centers: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[Any]]:
    labels = np.empty(X.shape[0], dtype=np.int32)
    similarity = np.empty(X.shape[0], dtype=centers.dtype)
    for block in row_blocks(X.shape[0], SUM_ROWS):
        products = X[block] @ centers.T
        labels[block] = products.argmax(axis=1)
        similarity[block] = products.max(axis=1)
    return labels, similarity


def _fill_empty(labels: NDArray[np.int32], similarity: NDArray[Any], centers: NDArray[Any]) -> NDArray[np.int32]:
    """Give each empty cluster one of the rows that are farthest from their centres."""
    empty = np.flatnonzero(np.bincount(labels, minlength=len(centers)) == 0)
    if not len(empty):
        return labels
    labels = labels.copy()
    labels[np.argsort(similarity, kind="stable")[: len(empty)]] = empty
    return labels


def _mean_directions(X: Any, labels: NDArray[np.int32], centers: NDArray[Any]) -> NDArray[Any]:
    n = len(labels)
    members = csr_array((np.ones(n, dtype=X.dtype), (labels, np.arange(n))), shape=(len(centers), n))
    sums = members @ X
    sums = sums.toarray() if hasattr(sums, "toarray") else sums
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    # Members that cancel out have no mean direction: their centre stays.
    return np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1), centers)
