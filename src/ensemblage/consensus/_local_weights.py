"""Weights of single clusters: the parameter ``cluster_weights`` of the methods that count each cluster by its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensemblage.labels.rows import Rows
from ensemblage.metrics._cluster_weights import check_cluster_weights, table_of_labels


def local_weights(model: Any, rows: Rows) -> NDArray[np.float64] | None:
    """(offsets[p],) weight of each label, 0 for missing; None: 1 for all. The model keeps ``cluster_weights_``."""
    model.__dict__.pop("cluster_weights_", None)  # of an earlier fit
    if model.cluster_weights is None:
        return None
    voting, name = model._voting.tolist(), type(model).__name__
    local = check_cluster_weights(model.cluster_weights, rows, rows.weights, name, voting, model.n_jobs)
    of_partitions = dict(zip(voting, local, strict=True))
    model.cluster_weights_ = [of_partitions.get(j, np.empty(0)) for j in range(model.n_features_in_)]
    return table_of_labels(local)
