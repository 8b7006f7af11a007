"""Methods that compare pairs: from given similarities instead of label rows, and with weak associations taken away."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array

from ensemblage.base.features import features_checked
from ensemblage.base.memory import OVERHEAD, check_fits
from ensemblage.base.validation import Constraints
from ensemblage.consensus._base import BaseConsensus, numbers_by_size
from ensemblage.labels.blocks import MemoryRows
from ensemblage.labels.rows import Rows
from ensemblage.metrics._confidence import Confidence
from ensemblage.metrics._wat import association_threshold, threshold_constraints

ASYMMETRY = 1e-8
"""By which two entries of a pair may differ."""


class SimilarityConsensus(BaseConsensus):
    """A method that clusters by similarities of pairs, those of label rows or given ones."""

    _parameter_constraints: ClassVar[Constraints] = {}

    max_bytes: int | str

    def fit_similarity(self, similarities: ArrayLike | Any) -> Self:
        """Cluster objects by given similarities, as `fit` does by those of label rows.

        Parameters
        ----------
        similarities : array-like or sparse of shape (n_objects, n_objects)
            From 0 to 1 and symmetric: a co-association of `metrics.coassociation`, of another program, a kernel.

        Returns
        -------
        self
            ``labels_``, ``n_clusters_`` and what the class has of a fit; ``cohesion_`` is the mean similarity with the
            other members of the cluster, ``confidence_`` own / (own + other) of it and of the largest mean similarity
            with another cluster. Nothing that needs label rows: `predict`, ``association_shares``, ``diagnostics``.

        Raises
        ------
        ValueError
            If it is not square, symmetric, finite, from 0 to 1, if there are fewer objects than ``n_clusters``, the fit
            would take more than ``max_bytes``, or a parameter is for label rows.

        Notes
        -----
        Dense: 8 n² bytes for the similarities beside those that are given, and what the class says of a fit. CSPA works
        on the entries of a sparse matrix.

        Examples
        --------
        >>> from ensemblage import metrics
        >>> from ensemblage.consensus import EvidenceAccumulation
        >>> labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
        >>> model = EvidenceAccumulation(2).fit_similarity(metrics.coassociation(labels))
        >>> model.labels_
        array([0, 0, 0, 1, 1, 1], dtype=int32)
        """
        self._check_parameters()
        self._check_no_labels()
        S = self._check_similarity(similarities)
        n = S.shape[0]
        self._check_n_objects(n)
        self.__dict__.pop("_coding", None)  # of an earlier fit
        self.n_features_in_ = n
        no_labels = MemoryRows(np.empty((n, 0), dtype=np.uint8))
        rows = Rows(no_labels, np.ones(n, dtype=np.int64), np.zeros(1, dtype=np.int64), np.arange(n), np.empty(0))
        clusters = self._fit_similarity(S, rows)
        number = numbers_by_size(clusters, rows.counts)
        labels = number[clusters].astype(np.int32)
        self._keep(len(number), labels, confidence_by_similarity(S, labels))
        return self

    def _fit_similarity(self, S: Any, rows: Rows) -> NDArray[Any]:
        """(n,) clusters from 0 without gaps. S : (n, n) dense, or sparse where it takes such; not to be changed."""
        raise NotImplementedError

    def _check_no_labels(self) -> None:
        """What is said of label rows is refused."""
        if self.weights is not None:
            raise ValueError(
                f"weights of {type(self).__name__} must be None if similarities are given: there are no partitions. "
                f"Leave the weights out."
            )

    def _check_n_objects(self, n: int) -> None:
        k = int(self.n_clusters or 0)
        if k > n:
            raise ValueError(
                f"n_clusters of {type(self).__name__} must be ≤ the {n} objects of the similarities. Got {k}. "
                "Ask for fewer clusters."
            )

    def _check_similarity(self, similarities: Any) -> Any:
        """A copy as floats: dense, or of the entries that there are."""
        name = f"The similarities of {type(self).__name__}"
        shape = np.shape(similarities) if not issparse(similarities) else similarities.shape
        if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
            raise ValueError(f"{name} must be a square matrix. Got shape {shape}. Give a row and a column per object.")
        n = int(shape[0])
        advice = "Raise max_bytes, or take some of the objects."
        is_sparse = self._capabilities.sparse_similarities
        if not is_sparse:
            check_fits(
                OVERHEAD + 24 * n * n, self.max_bytes, type(self).__name__, f"{n:,} × {n:,} similarities", advice
            )
        with features_checked(name, similarities, None):
            S = check_array(similarities, accept_sparse="csr", dtype=np.float64, copy=True, input_name="similarities")
        entries = S.data if issparse(S) else S
        if entries.size and not (entries.min() >= 0 and entries.max() <= 1):
            worst = float(entries.min() if entries.min() < 0 else entries.max())
            raise ValueError(
                f"{name} must be from 0 to 1. Got {worst:.6g}. Divide them by the largest; of distances D give "
                "1 - D / D.max()."
            )
        if (asymmetry := abs(S - S.T).max()) > ASYMMETRY:
            raise ValueError(
                f"{name} must be symmetric. Got {asymmetry:.3g} between the entries of a pair. Give (S + S.T) / 2."
            )
        if is_sparse:
            return csr_array(S)
        return S.toarray() if issparse(S) else S


def number_given(threshold: Any, name: str) -> float:
    """A threshold that is a number: a rule finds one from labels."""
    if isinstance(threshold, str):
        raise ValueError(
            f"{name} must be a number if similarities are given: its rules need labels. Got {threshold!r}. "
            "Give a number."
        )
    return float(threshold)


def confidence_by_similarity(S: Any, labels: NDArray[np.int32]) -> Confidence:
    """Cohesion is the mean similarity with the other members, 0 if alone; confidence own / (own + other)."""
    n, sizes = len(labels), np.bincount(labels)
    k, everyone = len(sizes), np.arange(n)
    joined = csr_array((np.ones(n), (everyone, labels)), shape=(n, k))
    sums = np.asarray((S @ joined).todense()) if issparse(S) else np.asarray(S @ joined)
    itself = S.diagonal()
    sums[everyone, labels] -= itself
    others = np.tile(sizes.astype(np.float64), (n, 1))
    others[everyone, labels] -= 1
    means = sums / np.maximum(others, 1)
    cohesion = means[everyone, labels].copy()
    if k == 1:
        return Confidence(np.ones(n), np.full(n, -1, dtype=np.int32), cohesion)
    own = np.where(sizes[labels] == 1, itself, cohesion)
    means[everyone, labels] = -1
    runner_up = means.argmax(axis=1).astype(np.int32)
    other = means[everyone, runner_up]
    total = own + other
    confidence = np.where(total > 0, own / np.where(total > 0, total, 1), 0.5)
    return Confidence(confidence, runner_up, cohesion)


THRESHOLD_CONSTRAINTS: Constraints = {"association_threshold": [*threshold_constraints(), None]}


def threshold_of(model: Any, rows: Rows | None = None) -> float | None:
    """``association_threshold`` as a number, by the labels where a rule finds it; None: no association counts as 0.

    Without ``rows``, of given similarities, it must be a number. The model keeps it: ``association_threshold_``.
    """
    model.__dict__.pop("association_threshold_", None)  # of an earlier fit
    given = model.association_threshold
    if given is None:
        return None
    if rows is None:
        model.association_threshold_ = number_given(given, f"association_threshold of {type(model).__name__}")
    else:
        model.association_threshold_ = association_threshold(given, rows, model.random_state, model.n_jobs)
    return float(model.association_threshold_)
