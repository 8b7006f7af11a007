"""The k-means methods: ``predict`` of the rows of ``fit`` is ``labels_``, ties and filled clusters included."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from strategies import random_labels

from ensemblage import (
    BisectingKMeansConsensus,
    Ensemble,
    EvidenceAccumulation,
    KMeansConsensus,
    SpectralEnsembleClustering,
    make_consensus,
)
from ensemblage.consensus._base import numbers_by_size

MODELS = {
    "km": lambda k, **given: make_consensus("km", k, **given),
    "ecc": lambda k, **given: make_consensus("ecc", k, **given),
    "qmi": lambda k, **given: make_consensus("qmi", k, **given),
    "sec": lambda k, **given: make_consensus("sec", k, **given),
    "h-km": lambda k, **given: make_consensus("h-km", k, **given),
}
for utility in ("category", "entropy", "cosine", "lp"):
    for normalized in (False, True):
        MODELS[f"kcc {utility} {normalized}"] = lambda k, utility=utility, normalized=normalized, **given: (
            KMeansConsensus(k, utility=utility, normalized=normalized, **given)
        )

# Few labels and many gaps: rows tie, and some are at distance 0 from several centroids.
ENSEMBLES = [
    random_labels(n, p, k, missing, seed)
    for seed, (n, p, k, missing) in enumerate(
        (n, p, k, missing)
        for n in (6, 12, 30)
        for p in (2, 3, 5)
        for k in (2, 3)
        for missing in (0.0, 0.2, 0.5)
        for _ in range(3)
    )
]


@pytest.mark.filterwarnings("ignore:Only .* clusters were made")
@pytest.mark.parametrize("name", MODELS)
def test_tie_heavy_ensembles(name):
    weights = np.random.default_rng(0).choice([0.1, 0.3, 1, 2], size=5)
    for seed, labels in enumerate(ENSEMBLES):
        m = len(np.unique(labels[(labels >= 0).any(axis=1)], axis=0))
        given = {"init": ["k-means++", "random"][seed % 2], "max_iter": [1, 2, 100][seed % 3], "tol": 0.1 * (seed % 5)}
        if seed % 4 == 0:
            given["weights"] = weights[: labels.shape[1]]
        for k in {2, min(4, m), m}:
            model = MODELS[name](k, n_init=2, random_state=seed, **given).fit(labels)
            predicted = model.predict(labels)
            assert predicted.dtype == model.labels_.dtype == np.int32
            assert_array_equal(predicted, model.labels_)
            assert_array_equal(np.unique(model.labels_[model.labels_ >= 0]), np.arange(model.n_clusters_))


def test_new_rows_of_a_single_cluster():
    found = EvidenceAccumulation(1).fit([[0, 0], [1, 0], [1, 1]]).assign([[0, 1], [None, 0], [None, None]])
    assert found.labels.tolist() == [0, 0, -1]
    assert found.runner_up.tolist() == [-1, -1, -1]


def test_clusters_of_one_size_are_numbered_by_their_first_rows():
    """Rows of clusters 2, 0, 1 and 0; all three have two objects."""
    assert_array_equal(numbers_by_size(np.array([2, 0, 1, 0]), np.array([2, 1, 2, 1])), [1, 2, 0])


def test_a_filled_cluster_in_a_tie():
    """All rows are at distance 0 from all centroids: what is known of them is the same."""
    labels = [[0, None], [None, 1], [0, 1], [0, 1]]
    for model in (KMeansConsensus(3, random_state=0), KMeansConsensus(3, utility="entropy", random_state=0)):
        model.fit(labels)
        assert model.n_clusters_ == 3
        assert_array_equal(model.predict(labels), model.labels_)


@pytest.mark.filterwarnings("ignore:Only .* clusters were made")
@pytest.mark.parametrize("model", [KMeansConsensus, SpectralEnsembleClustering, BisectingKMeansConsensus])
def test_unlabelled_rows_and_blocks(model, monkeypatch):
    from ensemblage.rows import blocks

    monkeypatch.setattr(blocks, "BLOCK_ROWS", 7)
    labels = random_labels(60, 3, 2, 0.4, seed=3)
    labels[5] = -1
    k = len(Ensemble(labels).distinct.counts) - 1
    fitted = model(k, random_state=0).fit(labels)
    assert fitted.labels_[5] == -1
    assert_array_equal(fitted.predict(labels), fitted.labels_)
