"""What a type checker says of a user's mistakes, and shows of results; more right calls are in test_shown.py."""

import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin

from ensemblage import ConsensusClustering
from ensemblage.consensus import EvidenceAccumulation, KMeansConsensus
from ensemblage.generation import RandomKPartitions
from ensemblage.ranking import DISCOTEC

WRONG = """
from ensemblage import ConsensusClustering, choose_k
from ensemblage.consensus import EvidenceAccumulation, KMeansConsensus
from ensemblage.generation import RandomKPartitions
from ensemblage.preprocessing import Preprocessor
from ensemblage.ranking import DISCOTEC

ConsensusClustering(3, quality="better")
KMeansConsensus(n_clusters="three")
choose_k([[0.0]], n_references="many")
ConsensusClustering(n_cluster=3)
KMeansConsensus(3, max_iters=10)
EvidenceAccumulation(3, threshold=0.5)
RandomKPartitions(partitions=10)
DISCOTEC(pairs=10)
Preprocessor(standardise=True)
ConsensusClustering(3).label_
"""

SHOWN = """
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from ensemblage import ConsensusClustering
from ensemblage.consensus import EvidenceAccumulation, KMeansConsensus
from ensemblage.generation import RandomKPartitions
from ensemblage.ranking import DISCOTEC

X = [[0.0], [1.0]]
assert_type(ConsensusClustering(3).fit(X).labels_, NDArray[np.int32])
assert_type(ConsensusClustering(3).fit(X).confidence_, NDArray[np.float64])
assert_type(KMeansConsensus(3).fit(X).labels_, NDArray[np.int32])
assert_type(KMeansConsensus(3).fit(X).objective_, float)
assert_type(EvidenceAccumulation(3).fit(X).confidence_, NDArray[np.float64])
assert_type(EvidenceAccumulation(3).fit(X).linkage_matrix_, NDArray[np.float64])
assert_type(EvidenceAccumulation(3).fit_predict(X), NDArray[np.int32])
assert_type(RandomKPartitions(10).fit(X).n_clusters_, NDArray[np.int64])
assert_type(DISCOTEC().fit(X).scores_, NDArray[np.float64])
assert_type(DISCOTEC().set_params(distance="tv").get_params(), dict[str, Any])
"""


def lines_of_mypy(tmp_path, script):
    """What mypy says of a script in strict mode."""
    pytest.importorskip("mypy")
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "script.py"]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout.splitlines()


@pytest.mark.slow
def test_wrong_parameters_and_attributes_are_refused(tmp_path):
    said = lines_of_mypy(tmp_path, WRONG)
    lines = {int(line.split(":")[1]) for line in said if ": error:" in line}
    calls = {i for i, line in enumerate(WRONG.splitlines(), 1) if ")" in line and line != ")"}
    assert lines == calls, said


@pytest.mark.slow
def test_results_have_types(tmp_path):
    assert lines_of_mypy(tmp_path, SHOWN) == ["Success: no issues found in 1 source file"]


def test_estimators_are_those_of_scikit_learn():
    """Their base classes are others for type checkers only."""
    for made in (ConsensusClustering(3), KMeansConsensus(3), EvidenceAccumulation()):
        assert isinstance(made, ClusterMixin)
        assert isinstance(made, BaseEstimator)
    assert isinstance(RandomKPartitions(), TransformerMixin)
    assert isinstance(DISCOTEC(), BaseEstimator)
