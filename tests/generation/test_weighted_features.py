"""Features whose rows stand for several objects."""

import numpy as np
import pytest
from inside import default_plan
from sklearn.datasets import load_iris

from ensemblage import ConsensusClustering
from ensemblage.generation import DiversePartitions, GeniePartitions, MixedPartitions

X = load_iris().data
WEIGHTS = np.random.default_rng(0).integers(1, 40, size=len(X))


def test_generator_and_consensus_count_the_objects():
    model = ConsensusClustering(3, random_state=0).fit(X, sample_weight=WEIGHTS)
    features = model.preprocessor_.transform(X)
    for estimator, labels in zip(model.generator_.estimators_, np.asarray(model.ensemble_).T, strict=True):
        rows = labels == 0
        mean = np.average(features[rows], axis=0, weights=WEIGHTS[rows])
        assert estimator.cluster_centers_[0] == pytest.approx(mean, abs=0.02)
    sizes = np.bincount(model.labels_, weights=WEIGHTS)
    assert (np.diff(sizes) <= 0).all()  # clusters are numbered by the objects that they have
    plain = ConsensusClustering(3, quality="fast", random_state=0).fit(X)
    assert not np.array_equal(np.asarray(model.ensemble_), np.asarray(plain.ensemble_))


def test_weights_of_one_change_nothing_but_the_default_generator():
    weighted = ConsensusClustering(3, random_state=0).fit(X, sample_weight=np.ones(len(X)))
    plain = ConsensusClustering(3, quality="fast", random_state=0).fit(X)
    assert (np.asarray(weighted.ensemble_) == np.asarray(plain.ensemble_)).all()
    assert (weighted.labels_ == plain.labels_).all()
    assert (weighted.confidence_ == plain.confidence_).all()


@pytest.mark.slow
def test_the_plan_says_it():
    plan = default_plan(X, sample_weight=WEIGHTS)
    assert "sample_weight was given" in plan.partitions.reason
    assert "Each row counts once there." in plan.n_clusters.reason
    assert ConsensusClustering(random_state=0).fit(X, sample_weight=WEIGHTS).plan_ == plan


def test_none_ignores_weights_in_silence():
    for generator, message in [
        (GeniePartitions(5), "sample_weight must be None with GeniePartitions, which clusters every row once"),
        (
            DiversePartitions(3),
            "sample_weight of DiversePartitions must be None: none of its base clusterers takes weights",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            ConsensusClustering(3, generator=generator).fit(X, sample_weight=WEIGHTS)
    with pytest.warns(UserWarning, match="These cluster every row once: agglomerativeclustering, meanshift"):
        ConsensusClustering(3, generator=MixedPartitions(3), random_state=0).fit(X, sample_weight=WEIGHTS)


def test_rows_that_stand_for_nothing():
    weights = np.where(np.arange(len(X)) % 10 == 0, 0, WEIGHTS)
    model = ConsensusClustering(3, random_state=0).fit(X, sample_weight=weights)
    assert set(model.labels_) == {0, 1, 2}
    assert (np.bincount(model.labels_, weights=weights) > 0).all()


@pytest.mark.parametrize("weights", [np.full(150, 0.5), -np.ones(150), np.ones(149), np.zeros(150)])
def test_bad_weights(weights):
    with pytest.raises(ValueError, match="sample_weight of X must be whole numbers"):
        ConsensusClustering(3).fit(X, sample_weight=weights)
