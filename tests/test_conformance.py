"""scikit-learn's own checks over every estimator, and ours over every consensus method."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ensemblage import METHODS, ConsensusClustering, make_consensus

ON_COORDINATES = {"check_clustering": "it wants ARI > 0.4 on raw coordinates, which are no labels"}


def consensus_estimators():
    return {(m.estimator, tuple(sorted(m.parameters.items()))): make_consensus(name, 2) for name, m in METHODS.items()}


def expected_failures(estimator):
    return {} if isinstance(estimator, ConsensusClustering) else ON_COORDINATES


@parametrize_with_checks(
    [*consensus_estimators().values(), ConsensusClustering(2)], expected_failed_checks=expected_failures
)
def test_scikit_learn(estimator, check):
    check(estimator)
