"""What can be done with every fitted consensus."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ensemblage.consensus._saved import save_model
from ensemblage.metrics._align import aligned_numbers


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
        check_is_fitted(self)
        return np.arange(self.n_clusters_) if self._cluster_numbers is None else self._cluster_numbers

    def align(
        self,
        reference: ArrayLike | Any,
        *,
        ids: Sequence[Any] | None = None,
        reference_ids: Sequence[Any] | None = None,
    ) -> Self:
        """Number the clusters as an earlier clustering does, as `align_labels` says.

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
        >>> from ensemblage import KMeansConsensus
        >>> model = KMeansConsensus(2, random_state=0).fit([[0, 0], [0, 0], [0, 0], [1, 1], [1, 0]])
        >>> model.labels_
        array([0, 0, 0, 1, 1], dtype=int32)
        >>> model.align([1, 1, 1, 0, 0]).labels_
        array([1, 1, 1, 0, 0], dtype=int32)
        """
        check_is_fitted(self)
        clusters, found = aligned_numbers(self.labels_, reference, ids, reference_ids)
        # A method may have clusters without objects: their numbers are the last ones.
        numbers = found.max() + 1 + np.arange(self.n_clusters_)
        numbers[clusters.labels] = found
        self._renumber(np.argsort(np.argsort(numbers)))
        self._cluster_numbers = np.sort(numbers)
        return self

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
        check_is_fitted(self)
        save_model(self, path)
