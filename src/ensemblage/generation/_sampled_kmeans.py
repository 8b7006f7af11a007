"""k-means of many rows that begins on some of them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.cluster import KMeans
from sklearn.utils import check_array, check_random_state

from ensemblage.kernels._points import add_members
from ensemblage.labels.threads import SUM_ROWS, row_blocks

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
    """scikit-learn's k-means on ``fit_on`` random rows, then ``N_STEPS`` of Lloyd's steps on all rows.

    ``labels_`` are those of ``predict``. Where a cluster has no row after the steps, which many equal rows and few far
    ones do, k-means runs on all rows. O(n m k) time for the steps; beside the sample it copies nothing of X.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        fit_on: int = ROWS_OF_SAMPLE,
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
        self.fit_on = fit_on

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        if X.shape[0] <= self.fit_on or sample_weight is not None:
            return super().fit(X, sample_weight=sample_weight)  # type: ignore[no-any-return]
        drawn = check_random_state(self.random_state).choice(X.shape[0], self.fit_on, replace=False)
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
        else:
            add_members(X[block], of_block, sums, sizes)
    return sums, sizes
