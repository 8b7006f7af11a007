"""Weights of single clusters: a parameter of the methods that can count each cluster by its own."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ensemblage.base.validation import Constraints
from ensemblage.consensus._base import BaseConsensus
from ensemblage.labels.rows import Rows
from ensemblage.metrics._cluster_weights import CLUSTER_WEIGHTS, check_cluster_weights, table_of_labels


class LocallyWeighted(BaseConsensus):
    """A method with ``cluster_weights``; a fitted one has ``cluster_weights_`` if that was given."""

    _parameter_constraints: ClassVar[Constraints] = {"cluster_weights": CLUSTER_WEIGHTS}

    cluster_weights: Any
    cluster_weights_: list[NDArray[np.float64]]

    def _forget_local_weights(self) -> None:
        """Those of an earlier fit."""
        self.__dict__.pop("cluster_weights_", None)

    def _local_weights(self, rows: Rows) -> NDArray[np.float64] | None:
        """(offsets[p],) weight of each label, 0 for missing; None: 1 for all."""
        self._forget_local_weights()
        if self.cluster_weights is None:
            return None
        voting = self._voting.tolist()
        name = type(self).__name__
        local = check_cluster_weights(self.cluster_weights, rows, rows.weights, name, voting, self.n_jobs)
        of_partitions = dict(zip(voting, local, strict=True))
        self.cluster_weights_ = [of_partitions.get(j, np.empty(0)) for j in range(self.n_features_in_)]
        return table_of_labels(local)
