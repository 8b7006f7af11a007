"""The pool of the default: mixtures, spectral cuts and Genie, each with about as many clusters as are asked for."""

from inspect import signature

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_iris, make_circles
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from ensemblage.generation import DiversePartitions, Genie
from ensemblage.generation._diverse import Embedding, Objects, connected_neighbours
from ensemblage.generation._genie import lumbermark

IRIS = load_iris().data
RINGS, RING = make_circles(300, factor=0.4, noise=0.03, random_state=0)
CLOUD = np.random.default_rng(0).normal(size=(500, 3))


def test_each_member_is_what_its_algorithm_gives_alone():
    made = DiversePartitions([2, 3, 4], random_state=0).fit(IRIS)
    labels = made.fit_transform(IRIS)
    names = made.get_feature_names_out().tolist()
    assert made.n_clusters_.tolist() == [2, 3, 4] * 4
    for estimator, column in zip(made.estimators_, labels.T, strict=True):
        if isinstance(estimator, GaussianMixture):
            np.testing.assert_array_equal(column, estimator.predict(IRIS))
            assert estimator.covariance_type == "full"
    for k in (2, 3, 4):
        genie = Genie(k, gini_threshold=0.3).fit(IRIS).labels_
        assert adjusted_rand_score(labels[:, names.index(f"genie_k{k}_{7 + k}")], genie) == 1


def test_spectral_cuts_are_those_of_scikit_learn():
    """Of connected graphs, where the eigenvectors are what they are; below and above the size of dense matrices."""
    for X in (CLOUD[:150], CLOUD):
        for size in (5, 10):
            other = SpectralClustering(
                4, affinity="nearest_neighbors", n_neighbors=size, assign_labels="cluster_qr", random_state=0
            )
            assert (
                adjusted_rand_score(Embedding.of(size, 4, Objects(X)).cut(4), other.fit_predict(X)) > 0.9
            )  # it counts loops


@pytest.mark.parametrize("decimals", [None, 1])
def test_neighbours_are_looked_for_once(monkeypatch, decimals):
    """The graphs are those of a search for each, also where objects are as far away as others."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    X = X if decimals is None else X.round(decimals)
    objects = Objects(X)
    assert (objects.known_nearest(4) is None) == (decimals is not None)
    assert Objects(X[:30]).known_nearest(4) is None
    assert Objects(np.random.default_rng(0).normal(size=(300, 16))).known_nearest(4) is None
    assert objects.known_nearest(10) is None
    graphs, lumber = [connected_neighbours(objects, k) for k in (5, 10)], lumbermark(X, 6, objects.known_nearest(5))
    monkeypatch.setattr(Objects, "known_nearest", lambda objects, k: None)
    for graph, other in zip(graphs, (connected_neighbours(objects, k) for k in (5, 10)), strict=True):
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(graph, part), getattr(other, part))
    np.testing.assert_array_equal(lumber, lumbermark(X, 6))


def test_shapes_that_no_ellipse_is():
    labels = DiversePartitions([2], families=["spectral", "genie"]).fit_transform(RINGS)
    assert [adjusted_rand_score(RING, column) for column in labels.T] == [1, 1, 1]


def test_graphs_in_parts():
    """As many eigenvalues of 1 as parts: below and above the size of dense matrices every part is found."""
    random = np.random.default_rng(0)
    for size in (20, 100):
        truth = np.repeat(np.arange(6), size)
        X = random.normal(size=(6 * size, 2)) + 100 * np.c_[truth % 3, truth // 3]
        joined = connected_neighbours(Objects(X), 5)
        assert connected_components(joined)[0] == 1
        assert abs(joined - joined.T).max() == 0
        labels = DiversePartitions([6], families=["spectral"]).fit_transform(X)
        assert min(adjusted_rand_score(truth, column) for column in labels.T) > 0.95


@pytest.mark.parametrize(
    ("chosen", "ks"),
    [(None, [*range(2, 11), 12, 14, 17, 20]), (2, [2]), (5, [5]), ([5], [5]), ([7, 2], [2, 7])],
    ids=str,
)
def test_numbers_of_clusters(chosen, ks):
    made = DiversePartitions(chosen, families=["genie"]).fit(CLOUD)
    assert made.n_clusters_.tolist() == ks
    few = DiversePartitions(9, families=["genie"]).fit(CLOUD[:5])
    assert few.n_clusters_.tolist() == [5]


def test_families_and_their_order():
    made = DiversePartitions([2, 3, 4], families=["genie", "mixture"], random_state=0).fit(IRIS)
    assert [type(estimator).__name__ for estimator in made.estimators_] == ["Genie"] * 3 + ["GaussianMixture"] * 3


def test_standardized_too():
    X = CLOUD * [1, 1, 6]
    both = DiversePartitions([2, 3, 4], standardized_too=True, random_state=0).fit_transform(X)
    once = DiversePartitions([2, 3, 4], random_state=0).fit_transform(X)
    assert both.shape[1] == 24
    np.testing.assert_array_equal(both[:, 3:12], once[:, 3:])  # the mixtures have other seeds
    scaled = DiversePartitions([2, 3, 4], random_state=0).fit_transform((X - X.mean(0)) / X.std(0))
    np.testing.assert_array_equal(both[:, 15:], scaled[:, 3:])
    assert (both[:, 15:] != both[:, 3:12]).any()


@pytest.mark.parametrize(("n_features", "covariances"), [(50, "full"), (51, "diag")])
def test_mixtures_of_many_features_are_diagonal(n_features, covariances):
    X = np.random.default_rng(0).normal(size=(60, n_features))
    (mixture,) = DiversePartitions([2], families=["mixture"], random_state=0).fit(X).estimators_
    assert mixture.covariance_type == covariances


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_nothing(n_jobs):
    one, other = (
        DiversePartitions([3, 4, 5], random_state=3, n_jobs=jobs).fit_transform(CLOUD) for jobs in (1, n_jobs)
    )
    np.testing.assert_array_equal(one, other)


def test_seed():
    one, same, other = (DiversePartitions([5, 6, 7], random_state=seed).fit_transform(CLOUD) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert (one[:, :3] != other[:, :3]).any()
    np.testing.assert_array_equal(one[:, 3:], other[:, 3:])


@pytest.mark.parametrize("standardized_too", [False, True])
def test_units_change_no_mixture(standardized_too):
    """The ridge is a share of the variance of the features: of an absolute one small units left a single cluster."""
    settings = {"families": ["mixture"], "standardized_too": standardized_too, "random_state": 0}
    labels = DiversePartitions([2, 3, 4], **settings).fit_transform(IRIS)
    assert [len(np.unique(column)) for column in labels.T] == [2, 3, 4] * (1 + standardized_too)
    for unit in (1e-6, 1e-3, 1e6):
        np.testing.assert_array_equal(DiversePartitions([2, 3, 4], **settings).fit_transform(unit * IRIS), labels)


def test_units_change_nothing():
    """Bitwise for powers of two; of others rounding may decide between neighbours at equal distances."""
    labels = DiversePartitions([2, 3, 4], random_state=0).fit_transform(CLOUD)
    for unit in (2.0**-20, 1e-3, 1e6, 2.0**30):
        np.testing.assert_array_equal(DiversePartitions([2, 3, 4], random_state=0).fit_transform(unit * CLOUD), labels)
    iris = DiversePartitions([2, 3, 4], random_state=0).fit_transform(IRIS)
    np.testing.assert_array_equal(DiversePartitions([2, 3, 4], random_state=0).fit_transform(IRIS / 1024), iris)


def test_objects_that_are_all_the_same_have_a_mixture():
    with pytest.warns(ConvergenceWarning):
        labels = DiversePartitions([2], families=["mixture"], random_state=0).fit_transform(np.ones((30, 2)))
    assert len(np.unique(labels)) == 1


@pytest.mark.skipif("rng" not in signature(eigsh).parameters, reason="ARPACK's restarts have no seed before SciPy 1.17")
def test_repeated_eigenvalues_change_nothing_between_two_runs():
    """Points at equal distances: ARPACK leaves an invariant subspace by a random vector."""
    made = [
        DiversePartitions([2, 3, 4], families=["spectral"], random_state=0).fit_transform(np.eye(260)) for _ in range(2)
    ]
    np.testing.assert_array_equal(*made)


def test_new_rows():
    made = DiversePartitions([2, 3, 4], random_state=0)
    labels = made.fit_transform(IRIS)
    np.testing.assert_array_equal(made.transform(IRIS)[:, :3], labels[:, :3])
    np.testing.assert_array_equal(made.transform(IRIS[[101, 3]] + 1e-9), labels[[101, 3]])


def test_progress_and_failures(monkeypatch):
    told = []
    made = DiversePartitions([2, 3, 4], random_state=0, progress=lambda *done: told.append(done)).fit(IRIS)
    assert told == [(i, 6) for i in range(1, 7)]
    assert len(made.estimators_) == 12
    monkeypatch.setattr(Embedding, "of", lambda *_: 1 / 0)
    with pytest.warns(FitFailedWarning, match="spectralclustering_k2_1, spectralclustering_k2_2"):
        made = DiversePartitions([2], random_state=0).fit(IRIS)
    assert [type(estimator).__name__ for estimator in made.estimators_] == ["GaussianMixture", "Genie"]
    with pytest.raises(ValueError, match="spectralclustering_k2_1 failed with ZeroDivisionError"):
        DiversePartitions([2], random_state=0, on_error="raise").fit(IRIS)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"n_clusters": 0}, "n_clusters of DiversePartitions"),
        ({"n_clusters": [1]}, "n_clusters of DiversePartitions"),
        ({"families": ["ward"]}, "families of DiversePartitions"),
        ({"families": []}, "families of DiversePartitions"),
        ({"standardized_too": "yes"}, "standardized_too of DiversePartitions"),
    ],
)
def test_wrong_parameters(parameters, text):
    with pytest.raises(ValueError, match=text):
        DiversePartitions(**parameters).fit(IRIS)


@pytest.mark.parametrize(("n_rows", "expected"), [(1, [1]), (2, [2]), (3, [2]), (4, [2]), (9, [2, 3])])
def test_few_objects_have_two_clusters(n_rows, expected):
    assert DiversePartitions()._ks(n_rows) == expected
