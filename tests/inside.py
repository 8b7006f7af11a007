"""What methods cluster, for tests of their steps that no public call shows: the one file of the tests that makes it."""

import numpy as np

from ensemblage import Ensemble
from ensemblage.ensemble._rows import labelled_rows


def rows_of(labels, weights=None, sample_weight=None):
    """The distinct label rows of labels or of an ensemble, with their counts and the weights of the partitions."""
    ensemble = labels if isinstance(labels, Ensemble) else Ensemble(labels)
    weights = np.ones(ensemble.shape[1]) if weights is None else np.asarray(weights, dtype=float)
    return labelled_rows(ensemble, weights, sample_weight)
