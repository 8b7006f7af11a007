"""MixedPartitions: Sinorina's ten algorithms, their stated rules, and failures that are named."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, MeanShift, estimate_bandwidth
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.estimator_checks import parametrize_with_checks

from ensemblage.consensus import CumulativeVoting
from ensemblage.generation import MixedPartitions

IRIS = load_iris().data
TEN = [
    "kmeans_k3_0",
    "minibatchkmeans_k3_1",
    "dbscan_2",
    "agglomerativeclustering_k3_3",
    "agglomerativeclustering_k3_4",
    "agglomerativeclustering_k3_5",
    "meanshift_6",
    "birch_k3_7",
    "gaussianmixture_k3_8",
    "bayesiangaussianmixture_k3_9",
]


class Broken(ClusterMixin, BaseEstimator):
    def fit(self, X, y=None):
        raise RuntimeError("no luck")


@pytest.mark.slow
@parametrize_with_checks([MixedPartitions(2, estimators=[KMeans(n_init=1), DBSCAN(), AgglomerativeClustering()])])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_ten_algorithms_one_partition_each():
    generator = MixedPartitions(3, random_state=0)
    labels = generator.fit_transform(IRIS)
    assert labels.shape == (150, 10)
    assert labels.dtype == np.int32
    assert generator.get_feature_names_out().tolist() == TEN
    assert [e.linkage for e in generator.estimators_[3:6]] == ["ward", "complete", "average"]
    assert [e.n_init for e in generator.estimators_[:2]] == [1, 1]
    assert labels[:, 2].min() == -1
    assert (np.delete(labels, 2, axis=1) >= 0).all()


def test_radii_follow_the_stated_rules():
    generator = MixedPartitions(3, min_samples=7, eps_quantile=0.8, random_state=0).fit(IRIS)
    dbscan, mean_shift = generator.estimators_[2], generator.estimators_[6]
    seventh = NearestNeighbors(n_neighbors=7).fit(IRIS).kneighbors(IRIS)[0][:, -1]
    assert dbscan.eps == pytest.approx(np.quantile(seventh, 0.8))
    assert dbscan.min_samples == 7
    assert len(dbscan.core_sample_indices_) == pytest.approx(0.8 * 150, abs=1)
    assert mean_shift.bandwidth == pytest.approx(estimate_bandwidth(IRIS, quantile=1 / 3))
    given = MixedPartitions(3, bandwidth_quantile=0.1, random_state=0).fit(IRIS)
    assert given.estimators_[6].bandwidth == pytest.approx(estimate_bandwidth(IRIS, quantile=0.1))


def test_number_of_clusters():
    by_root = MixedPartitions(random_state=0).fit(IRIS)
    assert by_root.n_clusters_[0] == by_root.estimators_[0].n_clusters == 12
    own = [KMeans(4, n_init=1), GaussianMixture(5), DBSCAN()]
    kept = MixedPartitions(None, estimators=own, random_state=0).fit(IRIS)
    assert kept.n_clusters_[:2].tolist() == [4, 5]
    assert MixedPartitions(2, estimators=own, random_state=0).fit(IRIS).n_clusters_[:2].tolist() == [2, 2]


def test_same_seed_same_bits_for_any_number_of_threads():
    runs = [MixedPartitions(4, n_jobs=n, random_state=3).fit_transform(IRIS) for n in (None, 2, 3)]
    assert_array_equal(runs[0], runs[1])
    assert_array_equal(runs[0], runs[2])
    assert not np.array_equal(runs[0], MixedPartitions(4, random_state=4).fit_transform(IRIS))


def test_given_radii_are_left_alone():
    own = [DBSCAN(eps=0.3), MeanShift(bandwidth=1.0)]
    generator = MixedPartitions(estimators=own).fit(IRIS)
    assert [generator.estimators_[0].eps, generator.estimators_[1].bandwidth] == [0.3, 1.0]


def test_a_failing_algorithm_is_named_and_left_out_or_raised():
    estimators = [KMeans(n_init=1), Broken()]
    with pytest.warns(FitFailedWarning, match="1 of 2 base partitions failed and are left out: broken_1: .*no luck"):
        labels = MixedPartitions(2, estimators=estimators, random_state=0).fit_transform(IRIS)
    assert labels.shape == (150, 1)
    with pytest.raises(ValueError, match="base partition broken_1 failed with RuntimeError: no luck"):
        MixedPartitions(2, estimators=estimators, on_error="raise").fit(IRIS)


def test_equal_objects_fail_the_radii_only():
    X = np.repeat([[0.0, 0.0], [5.0, 5.0]], 20, axis=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        generator = MixedPartitions(2, random_state=0).fit(X)
    (failed,) = [str(w.message) for w in caught if issubclass(w.category, FitFailedWarning)]
    assert "dbscan_2" in failed
    assert {"kmeans_k2_0", "gaussianmixture_k2_8"} <= set(generator.get_feature_names_out())


def test_new_rows_get_what_is_predicted_or_the_label_of_the_nearest():
    generator = MixedPartitions(3, random_state=0)
    labels = generator.fit_transform(IRIS)
    assert_array_equal(generator.transform(IRIS)[:, 2:7], labels[:, 2:7])
    new = IRIS + 1e-6
    assert_array_equal(generator.transform(new)[:, 2:6], labels[:, 2:6])
    assert_array_equal(generator.transform(new)[:, 0], generator.estimators_[0].predict(new))


def test_consensus_of_ten():
    X, truth = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=5)
    labels = MixedPartitions(4, random_state=0).fit_transform(X)
    assert adjusted_rand_score(truth, CumulativeVoting(4).fit(labels).labels_) > 0.95


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_clusters": None}, ValueError, "n_clusters of MixedPartitions must be given for its default algorithms"),
        ({"n_clusters": 151}, ValueError, "must be ≤ the 150 rows of X"),
        ({"n_clusters": "log"}, ValueError, "n_clusters of MixedPartitions must be .*, or 'sqrt'"),
        ({"n_clusters": 2.5}, ValueError, "n_clusters of MixedPartitions must be a whole number"),
        ({"estimators": []}, ValueError, "estimators of MixedPartitions must be a list of one or more"),
        ({"estimators": [KMeans]}, ValueError, "must be a list of one or more, each a scikit-learn clusterer"),
        ({"min_samples": 0}, ValueError, "min_samples of MixedPartitions must be"),
        ({"eps_quantile": 0}, ValueError, "eps_quantile of MixedPartitions must be"),
        ({"bandwidth_quantile": 1.5}, ValueError, "bandwidth_quantile of MixedPartitions must be"),
        ({"on_error": "ignore"}, ValueError, "on_error of MixedPartitions must be"),
    ],
)
def test_refuses(parameters, error, message):
    with pytest.raises(error, match=message):
        MixedPartitions(**parameters).fit(IRIS)
