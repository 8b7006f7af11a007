"""What can be done with every fitted consensus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score

from ensemblage.base.above import figure, page
from ensemblage.base.text import backend_of, to_frame
from ensemblage.base.validation import check_fitted
from ensemblage.consensus._saved import save_model
from ensemblage.io._anndata import as_table
from ensemblage.metrics import ensemble_ari, verdicts
from ensemblage.metrics._align import align_numbers
from ensemblage.metrics._confidence import Confidence

BY_RULE, BY_ASSOCIATION = "predict", "association"


@dataclass(frozen=True, eq=False)
class Assignment:
    """The clusters of new objects with their confidence; `assign` returns it."""

    labels: NDArray[np.int32]
    """(n,) cluster of each object; -1 where no partition labels it."""
    confidence: NDArray[np.float64]
    """(n,) for / (for + against), as in `metrics.confidence`, of one more object beside those that were fitted; NaN in
    no cluster."""
    runner_up: NDArray[np.int32]
    """(n,) the other cluster with the most support of the partitions, -1 if there is none."""
    by: str
    """Who decided: "predict", the method's own rule for new objects, or, of a method without one, "association": the
    cluster whose objects the partitions join the new one with most often."""

    @property
    def verdict(self) -> NDArray[Any]:
        """Word for each object: `metrics.verdicts` of the confidence."""
        return verdicts(self.confidence)


class Model:
    """A clusterer whose result can be kept, compared and shown."""

    labels_: NDArray[np.int32]
    confidence_: NDArray[np.float64]
    runner_up_: NDArray[np.int32]
    cohesion_: NDArray[np.float64]
    n_clusters_: int
    _cluster_numbers: NDArray[np.int64] | None = None

    @property
    def cluster_numbers_(self) -> NDArray[np.int64]:
        """(n_clusters_,) what people call each cluster: its own number, unless `align` has found an older one."""
        check_fitted(self)
        return np.arange(self.n_clusters_) if self._cluster_numbers is None else self._cluster_numbers

    def align(
        self,
        reference: ArrayLike | Any,
        *,
        ids: Sequence[Any] | None = None,
        reference_ids: Sequence[Any] | None = None,
    ) -> Self:
        """Number the clusters as an earlier partition does, as `align_labels` says.

        ``cluster_numbers_`` are these numbers. ``labels_``, and all else that counts clusters from 0, follows their
        order without gaps: it is the same as long as no cluster has come or gone.

        Parameters
        ----------
        reference : array-like of int, shape (n_reference,)
            Cluster of each object before; -1 in none.
        ids, reference_ids : sequence, optional
            Names of the objects that were fitted, and of those of the reference. Default: the same objects in the same
            order.

        Returns
        -------
        Self
            With other numbers, in ``predict`` and ``assign`` too.

        Raises
        ------
        NotFittedError
            If it is not fitted.
        ValueError
            If no object is in both, ids repeat, or the reference has no numbers.

        Examples
        --------
        >>> from ensemblage.consensus import KMeansConsensus
        >>> model = KMeansConsensus(2, random_state=0).fit([[0, 0], [0, 0], [0, 0], [1, 1], [1, 0]])
        >>> model.labels_
        array([0, 0, 0, 1, 1], dtype=int32)
        >>> model.align([1, 1, 1, 0, 0]).labels_
        array([1, 1, 1, 0, 0], dtype=int32)
        """
        check_fitted(self)
        clusters, found = align_numbers(self.labels_, reference, ids, reference_ids)
        # A method may have clusters without objects: their numbers are the last ones.
        numbers = found.max() + 1 + np.arange(self.n_clusters_)
        numbers[clusters.labels] = found
        self._renumber(np.argsort(np.argsort(numbers)))
        self._cluster_numbers = np.sort(numbers)
        return self

    def to_frame(self, X: Any = None, *, ids: Sequence[Any] | None = None) -> Any:
        """The clusters of the objects and their confidence, with the columns of the shell's labels.csv.

        Parameters
        ----------
        X : array-like, data frame or Ensemble, optional
            What was fitted: a data frame says of which library the result is, the index of one of pandas becomes that
            of the result.
        ids : sequence, optional
            Names of the objects. Default: the index of X, else numbers from 0.

        Returns
        -------
        data frame
            Of the library of X, or the first that is installed of pandas, polars and pyarrow; without any, a dict.
            ``id`` (not where the index says it), ``cluster`` (-1: none), ``confidence``, ``verdict``, ``runner_up``
            (-1: none) and ``runner_up_share``, 1 − confidence.

        Raises
        ------
        NotFittedError
            If it is not fitted.
        ValueError
            If X or ids are of another number of objects.

        Examples
        --------
        >>> from ensemblage.consensus import KMeansConsensus
        >>> model = KMeansConsensus(2, random_state=0).fit([[0, 0], [0, 0], [1, 1], [1, 0]])
        >>> model.to_frame(ids=["a", "b", "c", "d"]).round(2)
          id  cluster  confidence    verdict  runner_up  runner_up_share
        0  a        0         1.0       core          1              0.0
        1  b        0         1.0       core          1              0.0
        2  c        1         1.0       core          0              0.0
        3  d        1         0.6  undecided          0              0.4
        """
        check_fitted(self)
        X = as_table(X)
        n, numbers = len(self.labels_), np.append(self.cluster_numbers_, -1)
        names = list(ids) if ids is not None else self._ids(X)
        for given, length in (("X", n if X is None else n_rows(X)), ("ids", n if names is None else len(names))):
            if length != n:
                raise ValueError(
                    f"{given} of to_frame must have a row for each of the {n:,} objects that were fitted. Got "
                    f"{length:,}. Give these objects, or use assign for new ones."
                )
        runner_up = numbers[self.runner_up_]
        columns = {
            "id": list(range(n)) if names is None else names,
            "cluster": numbers[self.labels_],
            "confidence": self.confidence_,
            "verdict": verdicts(self.confidence_).tolist(),
            "runner_up": runner_up,
            "runner_up_share": np.where(runner_up < 0, np.nan, 1 - self.confidence_),
        }
        backend = backend_of(X)
        frame = to_frame(columns, backend)
        index = getattr(X, "index", None)
        return (
            frame
            if ids is not None or backend != "pandas" or index is None or isinstance(index, str)
            else frame.drop(columns="id").set_index(index)
        )

    def _ids(self, X: Any) -> list[Any] | None:
        """Names of the objects that a frame of pandas has, or a table that was made of one."""
        index = getattr(X, "index", None)
        if isinstance(index, str):
            return [str(name) for name in X[index].text.to_pylist()]
        return None if index is None or callable(index) else list(index)

    def plot(self, X: Any = None, kind: str | None = None, *, ax: Any = None) -> Any:
        """A picture of what was found, see `plotting.model`.

        Parameters
        ----------
        X : array-like, data frame or Ensemble, optional
            What was fitted: the features, or the label matrix.
        kind : {"clusters", "confidence", "sizes", "coassociation", "dendrogram", "entropy"}, optional
            Default: "clusters" of features, else "confidence".
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            Where it was drawn.
        """
        return figure(self, kind, ax=ax, X=as_table(X))

    def report(self, X: Any = None, path: str | PathLike[str] | None = None, **details: Any) -> Any:
        """The page of the model, which shows itself in a notebook.

        Parameters
        ----------
        X : array-like, data frame or Ensemble, optional
            What was fitted: the features, which the page draws, or the label matrix, without which there is none.
        path : path, optional
            Where to write it, too.
        **details
            Keyword parameters of `report.summarize`: ``ids``, ``truth``, ``ranking``, ``title``, ...

        Returns
        -------
        report.Report
            Its ``html``, ``summary`` and ``save(path)``.

        Raises
        ------
        NotFittedError
            If it is not fitted.
        TypeError, ValueError
            As `report.summarize`; or if X is missing.
        """
        check_fitted(self)
        made = page(self, as_table(X), **details)
        if path is not None:
            made.save(path)
        return made

    def _keep(self, n_clusters: int, labels: NDArray[np.int32], found: Confidence) -> None:
        """What ``fit`` found of each object; the clusters go by their own numbers."""
        self.n_clusters_, self._cluster_numbers, self.labels_ = n_clusters, None, labels
        self._take_confidence(found)

    def _take_confidence(self, found: Confidence) -> None:
        """Confidence, runner-up and cohesion of each object."""
        self.confidence_, self.runner_up_ = found.confidence, found.runner_up
        self.cohesion_ = found.cohesion

    def _take(self, found: Model) -> None:
        """What another model found of each object."""
        self.n_clusters_, self._cluster_numbers, self.labels_ = found.n_clusters_, found._cluster_numbers, found.labels_
        self.confidence_, self.runner_up_, self.cohesion_ = found.confidence_, found.runner_up_, found.cohesion_

    def _renumber(self, places: NDArray[np.int64]) -> None:
        """Give cluster c the number ``places[c]``, a permutation."""
        raise NotImplementedError

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a .npz file, for `ensemblage.load`.

        Its parameters and all that ``fit`` found, as arrays and JSON, without pickle; of ``progress`` nothing. What
        ``predict`` needs of a generator is in there too: the training features, where new objects get the label of the
        nearest one. The file is written under another name first and then renamed: it is never half written. One of
        that name is replaced.

        Parameters
        ----------
        path : path
            Of the file, whose name ends in .npz.

        Raises
        ------
        NotFittedError
            If it is not fitted.
        ValueError
            If the name does not end so, or a part of it is of neither ensemblage nor scikit-learn.
        """
        check_fitted(self)
        save_model(self, path)


def n_rows(X: Any) -> int:
    """How many objects an array, a frame or a list of rows has."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def score_of(clusters: NDArray[np.int32], y: Any, labels: Any, weights: Any) -> float:
    """Adjusted Rand index of clusters with known classes; without classes its weighted mean over the partitions.

    An object in no cluster, -1, is in one of its own kind beside classes, and left out beside partitions.
    """
    return ensemble_ari(labels, clusters, weights=weights) if y is None else float(adjusted_rand_score(y, clusters))
