"""What methods cluster, for tests of their steps that no public call shows: the one file of the tests that makes it."""

import numpy as np

from ensemblage import Ensemble
from ensemblage.consensus._base import labelled_rows
from ensemblage.ensemble._weighted import WeightedEnsemble, sample_weight_of

__all__ = ["rows_of", "sample_weight_of", "weighted"]


def rows_of(labels, weights=None, sample_weight=None):
    """The distinct label rows of labels or of an ensemble, with their counts and the weights of the partitions."""
    ensemble = labels if isinstance(labels, Ensemble) else Ensemble(labels)
    if sample_weight is not None:
        ensemble = weighted(ensemble, sample_weight)
    return labelled_rows(ensemble, np.ones(ensemble.shape[1]) if weights is None else np.asarray(weights, dtype=float))


def weighted(ensemble, sample_weight):
    """The ensemble whose objects count so often."""
    return WeightedEnsemble.of(ensemble, sample_weight)
