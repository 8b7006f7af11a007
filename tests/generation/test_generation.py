"""Generators: features to a label matrix."""

import doctest
import inspect
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import Parallel, delayed, parallel_config
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    Birch,
    FeatureAgglomeration,
    KMeans,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info, threadpool_limits

from ensemblage.base import threads
from ensemblage.generation import DiversePartitions, MixedPartitions, RandomKPartitions, ResampledPartitions
from ensemblage.generation._kmeans import SphericalKMeans, _fill_empty, unit_rows

GENERATORS = [RandomKPartitions, ResampledPartitions]
EXPECTED_FAILURES = {
    "check_transformer_general": "transform labels the rows that fit_transform left out",
    "check_transformer_data_not_an_array": "transform labels the rows that fit_transform left out",
}


@parametrize_with_checks([RandomKPartitions(3)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        RandomKPartitions(3, k_min=2, k_max=3, estimator=AgglomerativeClustering()),
        RandomKPartitions(3, estimator=make_pipeline(StandardScaler(), GaussianMixture())),
        ResampledPartitions(3),
        ResampledPartitions(3, n_clusters=2, bootstrap=True, feature_fraction=0.6, estimator=AgglomerativeClustering()),
    ],
    expected_failed_checks=lambda e: EXPECTED_FAILURES if isinstance(e, ResampledPartitions) else {},
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_scikit_learn_of_more(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(200, 5, centers=4, cluster_std=0.6, random_state=3)


class Marked(ClusterMixin, BaseEstimator):
    """One cluster per row modulo k; fails or warns for chosen k, and notes what it saw."""

    def __init__(self, n_clusters=2, bad=(), wordy=(), error="no luck", log=None, random_state=None):
        self.n_clusters = n_clusters
        self.bad = bad
        self.wordy = wordy
        self.error = error
        self.log = log
        self.random_state = random_state

    def __sklearn_clone__(self):
        return Marked(**self.get_params(deep=False))  # shares the log

    def fit(self, X, y=None):
        if self.log is not None:
            self.log.append((self.n_clusters, self.random_state, X.shape))
        if self.n_clusters in self.wordy:
            warnings.warn(f"{self.n_clusters} is odd", ConvergenceWarning, stacklevel=2)
        if self.n_clusters in self.bad:
            raise RuntimeError(self.error)
        self.labels_ = np.arange(len(X)) % self.n_clusters
        return self


@pytest.mark.parametrize("make", GENERATORS)
def test_docstrings_examples_run(make):
    tests = doctest.DocTestFinder().find(make, globs={})
    assert sum(len(test.examples) for test in tests) > 0
    assert all(doctest.DocTestRunner().run(test).failed == 0 for test in tests)


# What is drawn


def test_labels_names_and_k_agree(blobs):
    X, _ = blobs
    generator = RandomKPartitions(30, random_state=0)
    labels = generator.fit_transform(X)
    assert labels.shape == (200, 30)
    assert labels.dtype == np.int32
    assert [len(np.unique(column)) for column in labels.T] == generator.n_clusters_.tolist()
    assert set(generator.n_clusters_) <= set(range(2, 15))
    assert len(set(generator.n_clusters_)) > 5
    assert list(generator.get_feature_names_out()) == [f"kmeans_k{k}_{i}" for i, k in enumerate(generator.n_clusters_)]
    assert [e.n_clusters for e in generator.estimators_] == generator.n_clusters_.tolist()
    assert len({e.random_state for e in generator.estimators_}) == 30


@pytest.mark.core(3)
@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, set(range(2, 15))),
        ({"k_cap": 5}, {2, 3, 4, 5}),
        ({"k_min": 7, "k_max": 8}, {7, 8}),
        ({"k_min": 6, "k_max": 6}, {6}),
        ({"k_min": "sqrt"}, {14}),  # Sinorina's setup 1
        ({"k_min": 1, "k_max": 1}, {1}),
    ],
)
def test_range_of_k(parameters, expected):
    generator = RandomKPartitions(200, estimator=Marked(), random_state=1, **parameters).fit(np.zeros((200, 1)))
    assert set(generator.n_clusters_) == expected


@pytest.mark.slow
def test_k_is_uniform():
    ks = RandomKPartitions(3000, k_min=2, k_max=4, estimator=Marked(), random_state=0).fit(np.zeros((9, 1))).n_clusters_
    assert np.abs(np.bincount(ks)[2:] - 1000).max() < 100


@pytest.mark.parametrize("make", GENERATORS)
def test_same_seed_same_bits_for_any_number_of_threads(make, blobs):
    X = np.random.default_rng(0).normal(size=(2000, 6))
    labels = [make(8, n_jobs=n_jobs, random_state=5).fit_transform(X) for n_jobs in (None, 1, 2, 5, -1)]
    assert all(np.array_equal(labels[0], other) for other in labels[1:])
    assert not np.array_equal(labels[0], make(8, random_state=6).fit_transform(X))


@pytest.mark.parametrize("make", GENERATORS)
def test_random_state_may_be_a_source(make, blobs):
    X, _ = blobs
    source = np.random.RandomState(0)
    first, second = (make(3, random_state=source).fit_transform(X) for _ in range(2))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, make(3, random_state=np.random.RandomState(0)).fit_transform(X))


def test_more_partitions_keep_the_first_k():
    few, many = (RandomKPartitions(p, estimator=Marked(), random_state=0).fit(np.zeros((99, 1))) for p in (5, 50))
    assert few.n_clusters_.tolist() == many.n_clusters_[:5].tolist()


class Threads(ClusterMixin, BaseEstimator):
    """Notes how many native threads a base partition may use."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None):
        self.native_ = {(pool["prefix"], pool["num_threads"]) for pool in threadpool_info()}
        self.thread_ = threading.get_ident()
        self.labels_ = np.zeros(len(X), dtype=int)
        return self


def check_native_threads(n_jobs):
    before = [pool["num_threads"] for pool in threadpool_info()]
    generator = RandomKPartitions(8, estimator=Threads(), n_jobs=n_jobs).fit(np.zeros((9, 1)))
    assert {pool for e in generator.estimators_ for pool in e.native_ if pool[1] != 1} == set()
    assert (threading.get_ident() in {e.thread_ for e in generator.estimators_}) == (n_jobs == 1)
    assert [pool["num_threads"] for pool in threadpool_info()] == before


@pytest.mark.slow
def test_base_clusterings_have_one_native_thread_each_and_give_the_others_back():
    # In a process of its own: the pools are the process's, and other tests use them too.
    code = (
        "from test_generation import check_native_threads, check_ctrl_c, check_overlapping_fits\n"
        "check_native_threads(1); check_native_threads(2); check_ctrl_c(); check_overlapping_fits()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_joblib_may_choose_the_number_of_threads():
    with parallel_config("threading", n_jobs=2):
        generator = RandomKPartitions(8, estimator=Threads()).fit(np.zeros((9, 1)))
    assert threading.get_ident() not in {e.thread_ for e in generator.estimators_}


def test_base_clusterings_in_a_parallel_loop_have_one_thread():
    def thread_of_every_fit():
        generator = RandomKPartitions(8, estimator=Threads()).fit(np.zeros((9, 1)))
        return {e.thread_ for e in generator.estimators_}, threading.get_ident()

    for used, here in Parallel(n_jobs=2, prefer="threads")(delayed(thread_of_every_fit)() for _ in range(3)):
        assert used == {here}


# Weights of rows


def check_weighted_centres(generator, X, weights):
    """Every centre of every k-means is the mean of its rows, each as often as it counts."""
    labels = generator.fit_transform_counted(X, weights)
    for estimator, column in zip(generator.estimators_, labels.T, strict=True):
        for cluster in range(estimator.n_clusters):
            rows = column == cluster
            expected = np.average(X[rows], axis=0, weights=weights[rows])
            assert estimator.cluster_centers_[cluster] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("sample_size", ["auto", 20])
def test_rows_count_as_often_as_their_weight(sample_size):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(90, 2)), rng.integers(1, 50, size=90)
    kmeans = KMeans(n_init=1, tol=0)
    generator = RandomKPartitions(4, k_max=5, estimator=kmeans, sample_size=sample_size, random_state=0)
    check_weighted_centres(generator, X, weights)


def test_weights_of_drawn_rows():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(60, 2)), rng.integers(1, 50, size=60)
    generator = ResampledPartitions(3, n_clusters=3, estimator=KMeans(n_init=1, tol=0), random_state=0)
    check_weighted_centres(generator, X, weights)


def test_who_takes_no_weights_is_told():
    X = make_blobs(60, random_state=0)[0]
    generator = MixedPartitions(2, estimators=[KMeans(n_init=1), AgglomerativeClustering()])
    with pytest.warns(UserWarning, match="These cluster every row once: agglomerativeclustering"):
        generator.fit_transform_counted(X, np.ones(60))
    with pytest.raises(ValueError, match="sample_weight of DiversePartitions must be None"):
        DiversePartitions(2).fit_transform_counted(X, np.ones(60))
    with pytest.raises(ValueError, match="sample_weight of X must be whole numbers ≥ 0"):
        RandomKPartitions(2).fit_transform_counted(X, np.full(60, 0.5))


# Base clusterers of every kind


class Reduced(ClusterMixin, BaseEstimator):
    """A clusterer that wraps another one and has dimensions of its own."""

    def __init__(self, clusterer, n_components=2):
        self.clusterer = clusterer
        self.n_components = n_components

    def fit(self, X, y=None):
        self.labels_ = np.arange(len(X)) % 3
        return self


@pytest.mark.parametrize(
    ("estimator", "parameter"),
    [
        (KMeans(), "n_clusters"),
        (SpectralClustering(), "n_clusters"),  # has n_components too
        (GaussianMixture(), "n_components"),
        (Birch(n_clusters=KMeans()), "n_clusters"),
        (Reduced(KMeans()), "clusterer__n_clusters"),
        (Reduced(GaussianMixture()), "n_components"),
        (make_pipeline(PCA(2), KMeans()), "kmeans__n_clusters"),
        (make_pipeline(FeatureAgglomeration(2), PCA(2), GaussianMixture()), "gaussianmixture__n_components"),
        (make_pipeline(PCA(2), make_pipeline(PCA(1), KMeans())), "pipeline__kmeans__n_clusters"),
    ],
)
def test_parameter_of_k(estimator, parameter):
    X = make_blobs(30, 3, random_state=0)[0]
    (fitted,) = RandomKPartitions(1, k_min=3, k_max=3, estimator=estimator, n_jobs=1).fit(X).estimators_
    params, given = fitted.get_params(), estimator.get_params()
    numbers = [name for name in given if name.rpartition("__")[2] in ("n_clusters", "n_components")]
    assert params[parameter] == 3
    assert [name for name in numbers if params.get(name, given[name]) != given[name]] == [parameter]


@pytest.mark.parametrize("estimator", [DBSCAN(), make_pipeline(PCA(2), DBSCAN())])
def test_clusterers_without_a_parameter_of_k_are_refused(estimator):
    with pytest.raises(ValueError, match="must have a parameter n_clusters or n_components"):
        RandomKPartitions(1, estimator=estimator).fit(np.zeros((20, 3)))


def test_every_random_state_is_set_and_the_original_is_left_alone():
    original = make_pipeline(PCA(2, random_state=1), KMeans(3, random_state=1))
    X = make_blobs(30, 3, random_state=0)[0]
    of_seeds = [
        RandomKPartitions(2, k_min=5, k_max=5, estimator=original, n_jobs=1, random_state=seed).fit(X).estimators_
        for seed in (0, 0)
    ]
    clones = [of_seeds[0][0], of_seeds[1][0], of_seeds[0][1]]
    seeds = [(c.named_steps["pca"].random_state, c.named_steps["kmeans"].random_state) for c in clones]
    assert seeds[0] == seeds[1] != seeds[2]
    assert len({*seeds[0], *seeds[2]}) == 4
    assert clones[0].named_steps["kmeans"].n_clusters == 5
    assert original.named_steps["kmeans"].n_clusters == 3
    assert original.named_steps["pca"].random_state == 1


@pytest.mark.parametrize(
    ("kind", "estimator", "name"),
    [
        (np.asarray, None, "kmeans"),
        (csr_matrix, None, "kmeans"),
        (np.float32, None, "kmeans"),
        (csr_matrix, MiniBatchKMeans(n_init=1), "minibatchkmeans"),
        (csr_matrix, make_pipeline(StandardScaler(with_mean=False), KMeans(n_init=1)), "kmeans"),
        (np.asarray, AgglomerativeClustering(), "agglomerativeclustering"),
        (np.asarray, GaussianMixture(), "gaussianmixture"),
        (np.asarray, BayesianGaussianMixture(max_iter=1000), "bayesiangaussianmixture"),
        (np.asarray, SpectralClustering(gamma=0.1), "spectralclustering"),
    ],
)
def test_transform_of_training_rows_is_fit_transform(kind, estimator, name, blobs):
    X, y = kind(blobs[0]), blobs[1]
    generator = RandomKPartitions(3, k_min=4, k_max=4, estimator=estimator, on_error="raise", random_state=0)
    labels = generator.fit_transform(X)
    assert list(generator.get_feature_names_out()) == [f"{name}_k4_{i}" for i in range(3)]
    assert adjusted_rand_score(y, labels[:, 0]) > 0.5
    np.testing.assert_array_equal(generator.transform(X), labels)


def test_parameters_of_the_estimator_pass_through(blobs):
    X, _ = blobs
    generator = RandomKPartitions(4, estimator=KMeans(n_init=1, max_iter=1, init="random"), random_state=0).fit(X)
    assert {(e.max_iter, e.n_iter_, e.init) for e in generator.estimators_} == {(1, 1, "random")}


def test_noise_passes_through(blobs):
    X, _ = blobs
    dbscan = DBSCAN(eps=0.8)
    generator = ResampledPartitions(4, fraction=1.0, estimator=dbscan)
    labels = generator.fit_transform(X)
    np.testing.assert_array_equal(labels, np.column_stack([dbscan.fit_predict(X)] * 4))
    assert (labels == -1).any()
    assert list(generator.get_feature_names_out()) == [f"dbscan_{i}" for i in range(4)]
    assert generator.n_clusters_.tolist() == [labels.max() + 1] * 4
    np.testing.assert_array_equal(generator.transform(X), labels)


def test_rows_far_from_zero_find_their_nearest(blobs):
    X, _ = blobs
    generator = RandomKPartitions(2, estimator=AgglomerativeClustering(), random_state=0)
    labels = generator.fit_transform(X + 1e7)
    np.testing.assert_array_equal(generator.transform(X + 1e7), labels)


def test_new_rows_take_the_label_of_the_nearest_training_row(blobs):
    X, _ = blobs
    new = np.random.default_rng(0).uniform(X.min(), X.max(), size=(40, 5))
    generator = RandomKPartitions(3, estimator=AgglomerativeClustering(), random_state=0)
    labels = generator.fit_transform(X)
    nearest = pairwise_distances(new, X).argmin(axis=1)
    np.testing.assert_array_equal(generator.transform(new), labels[nearest])
    labels[:] = 0  # the caller's matrix is the caller's
    np.testing.assert_array_equal(generator.transform(new), generator.transform(X)[nearest])


# Resampling


@pytest.mark.parametrize("estimator", [None, AgglomerativeClustering()])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_rows_left_out_have_no_label(bootstrap, estimator, blobs):
    X, _ = blobs
    generator = ResampledPartitions(10, n_clusters=4, bootstrap=bootstrap, estimator=estimator, random_state=0)
    labels = generator.fit_transform(X)
    for column, rows in zip(labels.T, generator.estimators_samples_, strict=True):
        assert len(rows) == 160
        assert (len(set(rows)) == 160) == (not bootstrap)
        assert set(np.flatnonzero(column >= 0)) == set(rows)
    drawn = np.mean(labels >= 0)
    assert drawn == (0.8 if not bootstrap else pytest.approx(1 - np.exp(-0.8), abs=0.03))
    assert len({tuple(rows) for rows in generator.estimators_samples_}) == 10


def test_a_resample_is_clustered_as_it_is(blobs):
    X, _ = blobs
    generator = ResampledPartitions(3, n_clusters=4, feature_fraction=0.6, random_state=0)
    labels = generator.fit_transform(X)
    samples, features = generator.estimators_samples_, generator.estimators_features_
    for column, rows, columns, fitted in zip(labels.T, samples, features, generator.estimators_, strict=True):
        assert len(set(columns)) == 3
        np.testing.assert_array_equal(clone(fitted).fit_predict(X[rows][:, columns]), column[rows])
        np.testing.assert_array_equal(fitted.predict(X[:, columns])[rows], column[rows])


@pytest.mark.parametrize(
    ("kind", "estimator"), [(np.asarray, None), (csr_matrix, None), (np.asarray, AgglomerativeClustering())]
)
def test_transform_labels_rows_that_were_left_out(kind, estimator, blobs):
    X, y = kind(blobs[0]), blobs[1]
    generator = ResampledPartitions(5, n_clusters=4, estimator=estimator, feature_fraction=0.8, random_state=0)
    labels = generator.fit_transform(X)
    complete = generator.transform(X)
    assert (complete >= 0).all()
    np.testing.assert_array_equal(complete[labels >= 0], labels[labels >= 0])
    assert min(adjusted_rand_score(y, column) for column in complete.T) > 0.9


def test_nearest_row_is_sought_among_the_drawn_rows_and_features(blobs):
    X, _ = blobs
    generator = ResampledPartitions(
        4, n_clusters=30, fraction=0.5, feature_fraction=0.4, estimator=AgglomerativeClustering(), random_state=1
    )
    labels, complete = generator.fit_transform(X), generator.transform(X)
    for i, (rows, columns) in enumerate(
        zip(generator.estimators_samples_, generator.estimators_features_, strict=True)
    ):
        nearest = rows[pairwise_distances(X[:, columns], X[rows][:, columns]).argmin(axis=1)]
        np.testing.assert_array_equal(complete[:, i], labels[nearest, i])


def test_draws_do_not_depend_on_k(blobs):
    X, _ = blobs
    two, nine = (ResampledPartitions(5, n_clusters=k, random_state=0).fit(X) for k in (2, 9))
    np.testing.assert_array_equal(two.estimators_samples_, nine.estimators_samples_)


def test_estimator_keeps_its_own_k(blobs):
    X, _ = blobs
    generator = ResampledPartitions(2, estimator=KMeans(np.int64(5), n_init=1)).fit(X)
    assert list(generator.get_feature_names_out()) == ["kmeans_k5_0", "kmeans_k5_1"]
    assert generator.n_clusters_.tolist() == [5, 5]


@given(st.integers(2, 40), st.floats(0.01, 1), st.booleans(), st.integers(0, 1000))
def test_any_fraction_draws_its_part(n, fraction, bootstrap, seed):
    generator = ResampledPartitions(2, fraction=fraction, bootstrap=bootstrap, estimator=DBSCAN(), random_state=seed)
    labels = generator.fit_transform(np.zeros((n, 1)))
    drawn = generator.estimators_samples_[0]
    assert len(drawn) == max(1, round(fraction * n))
    assert labels.shape == (n, 2)
    assert set(np.flatnonzero(labels[:, 0] >= 0)) <= set(drawn)


# Spherical k-means


@pytest.fixture(scope="module")
def directions():
    """Three directions in space, rows of very different lengths."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = (np.eye(3, 6)[y] + rng.uniform(0, 0.2, size=(120, 6))) * rng.lognormal(0, 2, size=(120, 1))
    return X, y


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, np.float32])
def test_cosine_finds_directions(kind, directions):
    X, y = directions
    generator = RandomKPartitions(5, k_min=3, k_max=3, metric="cosine", random_state=0)
    labels = generator.fit_transform(kind(X))
    assert max(adjusted_rand_score(y, column) for column in labels.T) == 1
    assert list(generator.get_feature_names_out()) == [f"sphericalkmeans_k3_{i}" for i in range(5)]
    np.testing.assert_array_equal(generator.transform(kind(X * 1000)), labels)


def test_spherical_kmeans_is_a_fixed_point_and_beats_its_start(directions):
    X, _ = directions
    unit = unit_rows(X, "")
    fitted = SphericalKMeans(7, tol=0, random_state=0).fit(unit)
    np.testing.assert_allclose(np.linalg.norm(fitted.cluster_centers_, axis=1), 1)
    sums = np.stack([unit[fitted.labels_ == c].sum(axis=0) for c in range(7)])
    np.testing.assert_allclose(fitted.cluster_centers_, normalize(sums), atol=1e-12)
    np.testing.assert_array_equal((unit @ fitted.cluster_centers_.T).argmax(axis=1), fitted.labels_)
    objectives = [
        (unit * one.cluster_centers_[one.labels_]).sum()
        for one in (SphericalKMeans(7, tol=0, max_iter=i, random_state=0).fit(unit) for i in range(1, 9))
    ]
    assert (np.diff(objectives) > -1e-9).all()
    assert objectives[-1] > objectives[0]


def test_sparse_and_dense_spherical_kmeans_agree(directions):
    unit = unit_rows(directions[0], "")
    dense, sparse = (SphericalKMeans(4, random_state=1).fit(X) for X in (unit, csr_matrix(unit)))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_allclose(dense.cluster_centers_, sparse.cluster_centers_)


def test_empty_clusters_get_the_rows_farthest_from_their_centres():
    labels = np.array([1, 1, 1, 3, 3], dtype=np.int32)
    similarity = np.array([0.9, 0.3, 1.0, 0.5, 0.9])
    assert _fill_empty(labels, similarity, np.eye(4)).tolist() == [1, 0, 1, 2, 3]
    assert labels.tolist() == [1, 1, 1, 3, 3]


def test_cancelling_members_keep_their_centre():
    X = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    (center,) = SphericalKMeans(1, random_state=0).fit(X).cluster_centers_
    assert center.tolist() in X.tolist()


def test_fewer_directions_than_clusters_is_one_warning(directions):
    X = np.repeat(directions[0][[0, 40, 80]], 30, axis=0)
    with pytest.warns(ConvergenceWarning, match="Only 3 of 5 clusters have members") as caught:
        RandomKPartitions(6, k_min=5, k_max=5, metric="cosine", random_state=0).fit(X)
    assert len(caught) == 1


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_rows_of_zeros_have_no_cosine(kind, directions):
    X = directions[0].copy()
    X[[3, 8]] = 0
    generator = RandomKPartitions(2, metric="cosine")
    with pytest.raises(ValueError, match=r"zeros only in 2 of 120 rows, the first at index 3\. Drop them"):
        generator.fit(kind(X))
    generator.fit(kind(directions[0]))
    with pytest.raises(ValueError, match="zeros only"):
        generator.transform(kind(X))


# Failures, warnings, progress, Ctrl-C


def test_failures_are_named_and_left_out_and_names_keep_their_index():
    generator = RandomKPartitions(12, k_min=2, k_max=4, estimator=Marked(bad=(3,)), random_state=0)
    with pytest.warns(FitFailedWarning) as caught:
        labels = generator.fit_transform(np.zeros((20, 1)))
    whole = RandomKPartitions(12, k_min=2, k_max=4, estimator=Marked(), random_state=0).fit(np.zeros((20, 1)))
    good = np.flatnonzero(whole.n_clusters_ != 3)
    assert 0 < len(good) < 12
    assert labels.shape == (20, len(good))
    assert list(generator.get_feature_names_out()) == [f"marked_k{whole.n_clusters_[i]}_{i}" for i in good]
    assert generator.n_clusters_.tolist() == whole.n_clusters_[good].tolist()
    assert generator.transform(np.zeros((2, 1))).shape == (2, len(good))
    lost = ", ".join(f"marked_k3_{i}" for i in np.flatnonzero(whole.n_clusters_ == 3))
    assert [str(w.message) for w in caught] == [
        f"{12 - len(good)} of 12 base partitions failed and are left out: {lost}: RuntimeError: no luck"
    ]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failure_is_raised_as_asked(n_jobs):
    log = []
    generator = RandomKPartitions(
        500, k_min=3, k_max=3, estimator=Marked(bad=(3,), log=log), on_error="raise", n_jobs=n_jobs
    )
    with pytest.raises(ValueError, match=r"base partition marked_k3_0 failed with RuntimeError: no luck$") as caught:
        generator.fit(np.zeros((20, 1)))
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert len(log) < 500
    with pytest.raises(NotFittedError):
        generator.transform(np.zeros((20, 1)))


@pytest.mark.parametrize("error", ["", "two\nlines"])
def test_all_failing_raises(error):
    told = "no message" if not error else "two"
    with pytest.raises(ValueError, match=f"At least one .* All 3 failed: .*_2: RuntimeError: {told}$"):
        RandomKPartitions(3, k_min=3, k_max=3, estimator=Marked(bad=(3,), error=error)).fit(np.zeros((20, 1)))


@pytest.mark.parametrize("result", [np.zeros(19, int), np.zeros((20, 1), int), np.zeros(20), np.array(["a"] * 20)])
def test_results_that_are_no_labels_are_failures(result):
    class Odd(Marked):
        def fit_predict(self, X, y=None):
            return result

        def __sklearn_clone__(self):
            return Odd()

    with pytest.raises(ValueError, match="one whole number for each of the 20 rows"):
        RandomKPartitions(2, estimator=Odd()).fit(np.zeros((20, 1)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_are_folded(n_jobs):
    X = np.repeat([[0.0], [1.0], [2.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning) as caught:
        RandomKPartitions(20, k_min=5, k_max=5, n_jobs=n_jobs, random_state=0).fit(X)
    assert len(caught) == 1
    assert "distinct clusters (3)" in str(caught[0].message)
    assert str(caught[0].message).endswith("(And 19 more like it from other base partitions.)")


def test_what_scikit_learn_says_by_mistake_is_not_told():
    """Its threads clear the list of filters while others read it."""

    class Wordy(Marked):
        def fit(self, X, y=None):
            mistaken = "`sklearn.utils.parallel.delayed` should be used with `sklearn.utils.parallel.Parallel`"
            warnings.warn(mistaken, UserWarning, stacklevel=1)
            warnings.warn("of interest", UserWarning, stacklevel=1)
            return super().fit(X)

        def __sklearn_clone__(self):
            return Wordy()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RandomKPartitions(1, k_min=2, k_max=2, estimator=Wordy()).fit(np.zeros((9, 1)))
    assert [str(warning.message) for warning in caught] == ["of interest"]


def test_a_single_warning_is_left_as_it_is():
    generator = RandomKPartitions(1, k_min=3, k_max=3, estimator=Marked(wordy=(3,)))
    with pytest.warns(ConvergenceWarning, match="^3 is odd$"):
        generator.fit(np.zeros((9, 1)))


def test_users_filters_still_hold():
    generator = RandomKPartitions(4, k_min=3, k_max=3, estimator=Marked(wordy=(3,)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        generator.fit(np.zeros((9, 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        with pytest.raises(ConvergenceWarning):
            generator.fit(np.zeros((9, 1)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_is_told_in_the_callers_thread(n_jobs):
    told = []
    generator = RandomKPartitions(5, estimator=Marked(bad=(2,)), k_min=2, k_max=3, n_jobs=n_jobs, random_state=0)
    generator.set_params(progress=lambda done, total: told.append((done, total, threading.get_ident())))
    with pytest.warns():
        generator.fit(np.zeros((9, 1)))
    assert told == [(i, 5, threading.get_ident()) for i in range(1, 6)]
    with pytest.warns():
        generator.set_params(progress=None).fit(np.zeros((9, 1)))
    assert len(told) == 5


@pytest.mark.core(1)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_and_leaves_nothing_changed(n_jobs):
    log, state = [], (warnings.filters[:], warnings.showwarning, [p["num_threads"] for p in threadpool_info()])

    def interrupt(done, total):
        if done == 3:
            raise KeyboardInterrupt

    generator = RandomKPartitions(2000, estimator=Marked(log=log, wordy=range(99)), n_jobs=n_jobs, progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        generator.fit(np.zeros((100, 1)))
    assert len(log) < 2000
    assert state == (warnings.filters[:], warnings.showwarning, [p["num_threads"] for p in threadpool_info()])
    assert not hasattr(generator, "estimators_")


class SlowBlas(Marked):
    """Limits BLAS itself for a while, as scikit-learn's k-means does."""

    def fit(self, X, y=None):
        with threadpool_limits(1):
            if self.log is not None:
                self.log.append(self.n_clusters)
            time.sleep(0.2)
        return super().fit(X)

    def __sklearn_clone__(self):
        return SlowBlas(**self.get_params(deep=False))


def native_threads():
    return [(pool["prefix"], pool["num_threads"]) for pool in threadpool_info()]


def check_ctrl_c():
    """A clustering that it left running gives the threads back."""
    before, log = native_threads(), []

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RandomKPartitions(50, estimator=SlowBlas(log=log), n_jobs=2, progress=interrupt).fit(np.zeros((9, 1)))
    while threads._blas_limit._users:
        time.sleep(0.01)
    assert len(log) < 10
    assert native_threads() == before


def check_overlapping_fits():
    before = native_threads()
    with ThreadPoolExecutor(2) as pool:
        for n_partitions in (1, 2):
            pool.submit(RandomKPartitions(n_partitions, estimator=SlowBlas()).fit, np.zeros((9, 1)))
            time.sleep(0.1)
    assert native_threads() == before


def test_warnings_of_a_fit_in_another_thread_are_left_alone():
    generator = RandomKPartitions(3, k_min=3, k_max=3, estimator=Marked(wordy=(3,)))
    with pytest.warns(ConvergenceWarning) as caught, ThreadPoolExecutor(1) as pool:
        pool.submit(generator.fit, np.zeros((9, 1)))
    assert [str(w.message) for w in caught] == ["3 is odd"] * 3


# scikit-learn's manners


@pytest.mark.parametrize("make", GENERATORS)
def test_data_frames_in_and_out(make, blobs):
    X = pd.DataFrame(blobs[0], columns=list("abcde"), index=[f"row {i}" for i in range(200)])
    generator = make(3, random_state=0).set_output(transform="pandas")
    labels = generator.fit_transform(X)
    assert list(labels.columns) == list(generator.get_feature_names_out())
    assert labels.index.equals(X.index)
    assert (labels.dtypes == np.int32).all()
    assert list(generator.feature_names_in_) == list("abcde")
    np.testing.assert_array_equal(labels, make(3, random_state=0).fit_transform(blobs[0]))
    assert generator.transform(X).index.equals(X.index)


@pytest.mark.parametrize("make", GENERATORS)
def test_in_a_pipeline(make, blobs):
    X, _ = blobs
    generator = make(3, random_state=0)
    labels = make_pipeline(StandardScaler(), generator).fit_transform(X)
    np.testing.assert_array_equal(labels, clone(generator).fit_transform(StandardScaler().fit_transform(X)))


@pytest.mark.parametrize("make", GENERATORS)
def test_init_only_stores(make):
    names = inspect.signature(make).parameters
    values = {name: object() for name in names}
    assert make(**values).get_params(deep=False) == values
    assert all(p.kind is p.KEYWORD_ONLY for name, p in names.items() if name != "n_partitions")


@pytest.mark.parametrize(
    ("generator", "error", "message"),
    [
        (
            RandomKPartitions(0),
            ValueError,
            r"n_partitions of RandomKPartitions must be a whole number from 1 to 1,000,000\. Got 0\.",
        ),
        (
            RandomKPartitions(2.5),
            ValueError,
            r"n_partitions of RandomKPartitions must be a whole .* Got 2\.5",
        ),
        (RandomKPartitions(True), ValueError, "Got True"),
        (RandomKPartitions(k_min=5, k_max=4), ValueError, r"must be ≥ its k_min\. Got k_min=5 and k_max=4\. Lower"),
        (RandomKPartitions(k_min=5), ValueError, r"Got k_min=5 and k_max='sqrt', which is 4 for 20 rows"),
        (RandomKPartitions(k_max=21), ValueError, r"k_max of RandomKPartitions must be ≤ the 20 rows .* Got 21\."),
        (RandomKPartitions(k_max="log"), ValueError, r"k_max of RandomKPartitions must be .*, or 'sqrt'\. Got 'log'\."),
        (RandomKPartitions(k_min=0), ValueError, r"k_min of RandomKPartitions must be a whole number ≥ 1, .* Got 0\."),
        (RandomKPartitions(k_cap=0), ValueError, r"k_cap of RandomKPartitions must be a whole number ≥ 1"),
        (RandomKPartitions(metric="cityblock"), ValueError, r"must be one of 'euclidean', 'cosine'\. Got 'cityblock'"),
        (RandomKPartitions(metric="cosine", estimator=KMeans()), ValueError, "Leave one of them out"),
        (RandomKPartitions(estimator=DBSCAN()), ValueError, r"n_clusters or n_components\. Got DBSCAN\(\)\. Use Res"),
        (RandomKPartitions(estimator="kmeans"), TypeError, r"must be a scikit-learn clusterer .* Got 'kmeans'\."),
        (RandomKPartitions(estimator=KMeans), TypeError, "must be a scikit-learn clusterer"),
        (RandomKPartitions(estimator=PCA()), TypeError, "must be a scikit-learn clusterer"),
        (
            RandomKPartitions(on_error="ignore"),
            ValueError,
            r"on_error of .* must be one of 'warn', 'raise'\. Got 'i",
        ),
        (RandomKPartitions(n_jobs=0), ValueError, "n_jobs of RandomKPartitions must be"),
        (
            ResampledPartitions(0),
            ValueError,
            "n_partitions of ResampledPartitions must be a whole number from 1 to 1,000,000",
        ),
        (
            ResampledPartitions(fraction=0),
            ValueError,
            r"fraction of ResampledPartitions must be a number .* Got 0\.",
        ),
        (ResampledPartitions(fraction=80), ValueError, r"must be a number > 0 and ≤ 1\. Got 80\."),
        (ResampledPartitions(fraction="most"), ValueError, "must be a number > 0"),
        (
            ResampledPartitions(feature_fraction=1.1),
            ValueError,
            "feature_fraction of Resampled.* must be a number",
        ),
        (ResampledPartitions(n_clusters=17), ValueError, r"must be ≤ the 16 rows it draws\. Got 17 .* fraction=0\.8"),
        (ResampledPartitions(n_clusters=3, estimator=DBSCAN()), ValueError, "Leave n_clusters out"),
        (ResampledPartitions(n_clusters=0), ValueError, "n_clusters of ResampledPartitions must be a whole number ≥ 1"),
    ],
)
def test_bad_parameters_get_one_sentence(generator, error, message):
    with pytest.raises(error, match=message):
        generator.fit(np.random.default_rng(0).normal(size=(20, 3)))


@pytest.mark.parametrize("make", GENERATORS)
def test_bad_data_gets_one_sentence(make):
    gaps = (
        r"X of (\w+) must have no missing numbers\. Got 1 NaN, the first in row 0 and column 1, counted from 0\. Fill"
    )
    with pytest.raises(ValueError, match=gaps):
        make().fit([[0.0, np.nan], [1, 2]])
    with pytest.raises(ValueError, match="minimum of 2"):
        make().fit([[0.0, 1.0]])
    with pytest.raises(ValueError, match="expecting 5 features"):
        make(1, random_state=0).fit(np.random.default_rng(0).normal(size=(20, 5))).transform(np.eye(4))
