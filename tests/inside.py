"""What methods cluster, for tests of their steps that no public call shows: the one file of the tests that makes it."""

import warnings

import numpy as np

import ensemblage
from ensemblage import Ensemble
from ensemblage.consensus.hierarchies._linkage import by_content
from ensemblage.labels.blocks import MemoryRows
from ensemblage.labels.rows import labelled_rows


def rows_of(labels, weights=None, sample_weight=None):
    """The distinct label rows of labels or of an ensemble, with their counts and the weights of the partitions."""
    ensemble = labels if isinstance(labels, Ensemble) else Ensemble(labels)
    weights = np.ones(ensemble.shape[1]) if weights is None else np.asarray(weights, dtype=float)
    return labelled_rows(ensemble, weights, sample_weight)


def rows_in_memory(codes):
    """Rows in memory of any (n, p) codes."""
    return MemoryRows(codes)


def numbered_by_content(labels, sample_weight=None):
    """Labels with the numbers that hierarchies give them: in lexicographic order the first rows are the first on ties.

    Every object has a label.
    """
    rows = by_content(rows_of(labels, sample_weight=sample_weight))[0]
    codes = rows.codes[:][rows.inverse].astype(int)
    return np.where(codes == rows.n_clusters, -1, codes)


def default_plan(X, *args, **options):
    """`ConsensusClustering.plan` by its name of before 1.0, which takes numbers to choose from and resamples, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return ensemblage.default_plan(X, *args, **options)
