"""Communities of a graph: partitions by Leiden, Louvain and label propagation, and graphs as they are given."""

import networkx as nx
import numpy as np
import pytest
from naive import partition_quality
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks

from ensemblage import LeidenPartitions
from ensemblage.generation._communities import communities, quality

KARATE = nx.karate_club_graph()
A = csr_array(nx.to_scipy_sparse_array(KARATE, weight=None, dtype=float))
MODELS = [("modularity", 1.0), ("modularity", 2.5), ("cpm", 0.2)]
ALGORITHMS = ["leiden", "louvain", "label-propagation"]


@parametrize_with_checks([LeidenPartitions(4, n_neighbors=2, algorithm="louvain", random_state=0)])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("objective", "resolution"), MODELS)
def test_quality_is_that_of_all_pairs(objective, resolution):
    labels = communities(A, resolution, objective, 3, "louvain")
    expected = partition_quality(A.toarray(), labels, resolution, objective)
    assert_allclose(quality(A, labels, resolution, objective), expected)
    if objective == "modularity":
        groups = [set(np.flatnonzero(labels == c)) for c in range(labels.max() + 1)]
        assert_allclose(expected, nx.community.modularity(KARATE, groups, weight=None, resolution=resolution))
