"""A consensus by an estimator of the user's own: ``fit(labels)`` and ``labels_`` are all that is asked of it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ensemblage.base.validation import format_value
from ensemblage.consensus._base import BaseConsensus
from ensemblage.consensus._capabilities import Capabilities
from ensemblage.labels.rows import Rows, object_rows

NUMBERS_OF_CLUSTERS = ("n_clusters", "n_components")
"""What estimators call it."""


@dataclass(eq=False, repr=False)
class OwnConsensus(BaseConsensus):
    """What `ConsensusClustering` makes of a ``consensus`` that is none of the library's.

    The estimator is fitted to the (n, p) label matrix: a row for each object, in their order, whole numbers from 0 in
    each column, and -1 where a partition has no label. Its clusters are numbered by size, and the confidence is that of
    `metrics.confidence`.
    """

    _capabilities: ClassVar[Capabilities] = Capabilities(
        partition_weights=False, sample_weight=False, must_link=False, finds_n_clusters=True
    )

    estimator: Any
    _: KW_ONLY
    n_clusters: int | None = None
    n_jobs: int | None = None

    weights: Any = field(default=None, init=False)
    estimator_: Any = field(init=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> Self:
        """Find the consensus; weights and pairs of objects are refused, for the estimator gets labels alone."""
        for name, value in (("sample_weight", sample_weight), ("must_link", must_link), ("cannot_link", cannot_link)):
            if value is not None:
                raise ValueError(
                    f"{name} must be None with {type(self.estimator).__name__} as consensus: it is fitted to labels "
                    f"alone. Got {format_value(value)}. Leave it out, or use KMeansConsensus."
                )
        return super().fit(X)

    def _make_rows(self, rows: Rows) -> Rows:
        return object_rows(rows)

    def _fit(self, rows: Rows) -> NDArray[Any]:
        codes = rows.objects[:].astype(np.int64)
        self.estimator_ = clone(self.estimator)
        if self.n_clusters is not None:
            self.estimator_.set_params(**{parameter_for_k(self.estimator): self.n_clusters})
        if self.estimator.get_params().get("n_jobs", "none of its own") is None:
            self.estimator_.set_params(n_jobs=self.n_jobs)
        found = labels_by(self.estimator_, np.where(codes < rows.n_clusters, codes, -1))
        if (found < 0).all():
            raise ValueError(
                f"{type(self.estimator).__name__} must put an object into a cluster. Got -1, no cluster, for all "
                f"{len(found):,}. Change its parameters."
            )
        labelled = rows.inverse < len(rows)
        clusters = np.empty(len(rows), dtype=np.int64)
        clusters[rows.inverse[labelled]] = found[labelled]
        numbers = np.unique(clusters[clusters >= 0])
        return np.where(clusters < 0, -1, np.searchsorted(numbers, clusters))


def parameter_for_k(estimator: Any) -> str:
    """The parameter of an estimator, or of a step of it, that is the number of clusters."""
    own, steps = estimator.get_params(deep=False), sorted(estimator.get_params())
    names = [name for name in NUMBERS_OF_CLUSTERS if name in own]
    names = names or [name for name in steps if name.endswith("__n_clusters")]
    if len(names) != 1:
        got = f"several: {', '.join(names)}" if names else "none"
        raise ValueError(
            f"{type(estimator).__name__} as consensus must have one parameter n_clusters if n_clusters is given. Got "
            f"{got}. Leave n_clusters out, or give an estimator that takes it."
        )
    return names[0]


def labels_by(estimator: Any, X: NDArray[Any]) -> NDArray[np.int64]:
    """(n,) labels that an estimator gives the rows of X, by ``fit_predict`` or, without it, by ``fit`` and ``labels_``.

    They must be a whole number for each row.
    """
    given = np.asarray(estimator.fit_predict(X) if hasattr(estimator, "fit_predict") else estimator.fit(X).labels_)
    if given.shape != (len(X),) or given.dtype.kind not in "iufb" or (given != np.floor(given)).any():
        raise ValueError(
            f"The labels of {type(estimator).__name__} must be a whole number for each of the {len(X):,} objects. Got "
            f"shape {given.shape}, type {given.dtype}. Give one for each row of the labels, -1 for no cluster."
        )
    return given.astype(np.int64)
