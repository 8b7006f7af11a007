"""The library tells of long steps through `logging`, to whom asks for it only."""

import logging
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ensemblage.consensus import KMeansConsensus
from ensemblage.generation import GreedyPartitions, RandomKPartitions
from ensemblage.ranking import DISCOTEC

X = np.random.default_rng(0).normal(size=(30, 2))


def test_every_base_clustering_is_told(caplog):
    with caplog.at_level(logging.INFO, "ensemblage"):
        RandomKPartitions(3, random_state=0, n_jobs=2).fit(X)
    assert [r.getMessage() for r in caplog.records] == [f"base partition {i} of 3" for i in (1, 2, 3)]
    assert {r.name.rpartition(".")[0] for r in caplog.records} == {"ensemblage.generation"}


def test_fewer_clusters_than_were_asked_for_are_told(caplog):
    """Of three different objects no partition has five."""
    repeated = np.repeat(X[:3], 10, axis=0)
    for n_partitions in (2, 7):
        generator = RandomKPartitions(n_partitions, k_min=5, k_max=5, random_state=0)
        with caplog.at_level(logging.INFO, "ensemblage"), pytest.warns(ConvergenceWarning, match="distinct clusters"):
            generator.fit(repeated)
    few, many = [r.getMessage() for r in caplog.records if not r.getMessage().startswith("base partition ")]
    assert few == "fewer clusters than were asked for: kmeans_k5_0 has 3 of 5, kmeans_k5_1 has 3 of 5"
    assert many.endswith(", kmeans_k5_4 has 3 of 5, 2 more have fewer")


def test_stages_fits_and_blocks_of_pairs_are_told(caplog, only_kernels):
    with caplog.at_level(logging.INFO, "ensemblage"):
        labels = GreedyPartitions(3, n_candidates=4, random_state=0).fit_transform(X)
        KMeansConsensus(3, random_state=0).fit(labels)
        DISCOTEC().fit(labels)
    told = [r.getMessage() for r in caplog.records]
    assert told[:2] == [f"base partitions into {k} of 3 clusters, from 4 objects" for k in (2, 3)]
    assert any(text.startswith("KMeansConsensus: ") and text.endswith(" of 8 partitions") for text in told)
    assert any(text.startswith("pairs of label rows: 1 to ") for text in told)


def test_nothing_is_said_unasked():
    code = "import logging, ensemblage; logging.getLogger('ensemblage.x').warning('unasked')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""
