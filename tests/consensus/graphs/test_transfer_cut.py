"""The transfer cut by what `fit` gives: worked examples, the definition on all objects, and its k-means."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, random_labels, with_equal_rows
from worked import POINTS, E, partition

from ensemblage import Ensemble
from ensemblage.consensus import HBGF, PTGP
from ensemblage.metrics import cluster_weights

ECI = [0.322372, 0.126243, 1, 0.563305, 0.172553, 0.317312, 1, 0.317312, 1, 0.317312, 0.090911, 0.153355]
"""Of the clusters of E, from the authors' code."""
ONES = [1, 0.835305, 0.605195, 0.306045, 0.165506, 0.056580, 0.031369, 0, 0, 0, 0, 0]
LOCAL = [1, 0.940661, 0.831315, 0.486659, 0.211669, 0.107082, 0.050156, 0, 0, 0, 0, 0]


def weighted_matrix(labels, local=None):
    """B, (n, d): the weight of an object's cluster of each partition."""
    H = Ensemble(labels).one_hot().toarray().astype(float)
    return H if local is None else H * np.concatenate(local)


def cut(labels, k, local=None, seed=0, **parameters):
    return HBGF(k, partitioner="transfer", cluster_weights=local, random_state=seed, **parameters).fit(labels)


def random_weights(labels, seed, least=0.2):
    random = np.random.default_rng(seed)
    return [random.uniform(least, 1, k) for k in Ensemble(labels).n_clusters]


def check_points(B, clusters, k, tolerance=1e-4):
    """The clusters are a best k-means of the objects' points, if the leading eigenvectors are unique."""
    values, _ = naive.transfer_cut(B, k + 1)
    if len(values) <= k or values[k - 1] - values[k] < 1e-3:
        return
    _, U = naive.transfer_cut(B, k)
    best = KMeans(k, n_init=50, random_state=0).fit(U).inertia_
    assert naive.loss_of_points(U, clusters) <= best * (1 + tolerance) + tolerance


@pytest.mark.core(3)
@pytest.mark.parametrize(
    ("local", "values", "k", "clusters", "inertia"),
    [
        (None, ONES, 2, "1-5 6-10", 0.452061),
        (None, ONES, 3, "1-4 5-7 8-10", 0.655490),
        (None, ONES, 4, "1,2 3-5 6,7 8-10", 0.549191),
        (ECI, LOCAL, 2, "1-5 6-10", 0.389578),
        (ECI, LOCAL, 3, "1-4 5-7 8-10", 0.526427),
        (ECI, LOCAL, 4, "1,2 3-5 6,7 8-10", 0.348134),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_worked_labels(local, values, k, clusters, inertia, seed):
    local = None if local is None else np.split(np.array(local), [3, 6, 10])
    found, U = naive.transfer_cut(weighted_matrix(E, local), k)
    assert_allclose(found, values[:k], atol=2e-6)
    model = cut(E, k, local, seed)
    assert adjusted_rand_score(model.labels_, partition(clusters)) == 1
    assert_allclose(naive.loss_of_points(U, model.labels_), inertia, atol=2e-6)


def test_worked_matrix():
    """The twin, on features and representatives."""
    centres = POINTS[[0, 3, 5, 8, 9]]
    squares = ((POINTS[:, None] - centres) ** 2).sum(axis=2)
    kept = squares <= np.sort(squares, axis=1)[:, [1]]
    sigma = np.sqrt(squares[kept]).mean()
    B = np.where(kept, np.exp(-squares / (2 * sigma**2)), 0)
    assert_allclose(B[6], [0, 0, 0.822833, 0.829028, 0], atol=1e-6)
    values, U = naive.transfer_cut(B, 3)
    assert_allclose(naive.loss_of_points(U, np.repeat([0, 1, 2], [5, 4, 3])), 0.067874, atol=2e-6)
    assert_allclose(values, [1, 0.999978, 0.952766], atol=2e-6)


@pytest.mark.slow
@given(label_matrices(min_objects=4), st.integers(1, 4), st.integers(0, 5))
def test_of_labels_is_of_the_matrix(labels, k, seed):
    labels = labels[(labels >= 0).any(axis=1)]
    labels = np.vstack([labels, labels.max(initial=0) + 1 + np.zeros((1, labels.shape[1]), dtype=int)])
    k = min(k, len(np.unique(labels, axis=0)) - 1)
    if k == 0:
        return
    local = random_weights(labels, seed)
    B, model = weighted_matrix(labels, local), cut(labels, k, local, seed)
    assert_allclose(model.normalized_association_, naive.normalized_association(B, model.labels_), atol=1e-9)
    assert model.normalized_association_ <= naive.transfer_cut(B, k)[0].sum() + 1e-9
    check_points(B, model.labels_, k)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("k", [3, 5])
def test_of_trajectories_is_of_the_matrix(missing, k, monkeypatch):
    """PTGP: each label row counts once, and a partition by its weight."""
    labels, weights = random_labels(60, 5, 4, missing=missing, seed=4), np.array([1, 2.5, 0.3, 1, 4])
    labels = labels[(labels >= 0).any(axis=1)]
    rows, counts = np.unique(labels, axis=0, return_counts=True)
    similarity = naive.trajectory_similarities(naive.coassociation(rows, weights), counts, 3, 3)
    B = naive.mean_similarity_to_clusters(similarity, rows) * np.repeat(weights, Ensemble(labels).n_clusters)
    model = PTGP(k, n_neighbors=3, n_steps=3, weights=weights, random_state=0).fit(labels)
    assert_allclose(model.eigenvalues_, naive.transfer_cut(B, k)[0], atol=1e-9)
    clusters = model.labels_[[np.flatnonzero((labels == row).all(axis=1))[0] for row in rows]]
    assert_allclose(model.normalized_association_, naive.normalized_association(B, clusters), atol=1e-9)
    check_points(B, clusters, k)
    limit(monkeypatch, "walks to clusters at once", 7)
    narrow = PTGP(k, n_neighbors=3, n_steps=3, weights=weights, random_state=0).fit(labels)
    assert_array_equal(narrow.eigenvalues_, model.eigenvalues_)


def test_many_clusters_are_never_a_square_matrix(monkeypatch):
    """Where rows stand for different numbers of objects, and few of them have all labels."""
    labels, _ = planted_labels(n=60, p=10, k=4, noise=0.5, missing=0.3, seed=4)
    labels = np.repeat(labels, np.random.default_rng(0).choice([1, 30], 60), axis=0)
    local = random_weights(labels, 0)
    for partitioner in ("transfer", "spectral"):
        small = cut(labels, 4, local).set_params(partitioner=partitioner).fit(labels)
        with monkeypatch.context() as patch:
            limit(patch, "clusters whose products are a matrix", 10)
            limit(patch, "rows of which all eigenvectors are found", 5)
            large = cut(labels, 4, local).set_params(partitioner=partitioner).fit(labels)
        assert adjusted_rand_score(small.labels_, large.labels_) == 1


def test_missing_labels_add_nothing():
    labels, _ = planted_labels(n=60, p=5, k=3, noise=0.2, missing=0.3, seed=4)
    labels[7] = -1
    found = cut(labels, 3).labels_
    assert found[7] == -1
    assert (np.delete(found, 7) >= 0).all()


def test_a_cluster_of_no_weight_is_left_out():
    labels = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 2], [0, 2, 0, 1, 1, 2]]).T
    with_it = cut(labels, 2, [[1, 1], [1, 1, 0], [1, 0.5, 1]])
    labels[5, 1] = -1
    without = cut(labels, 2, [[1, 1], [1, 1], [1, 0.5, 1]])
    assert_allclose(with_it.normalized_association_, without.normalized_association_)
    assert_array_equal(with_it.labels_, [0, 0, 0, 1, 1, 1])
    assert_array_equal(without.labels_, with_it.labels_)


def test_an_object_without_weight_gets_a_part_all_the_same():
    found = cut([[0], [0], [1], [1], [2]], 2, [[1, 1, 0]]).labels_
    assert found[0] == found[1] != found[2] == found[3]
    assert found[4] in (0, 1)


@pytest.mark.core(3)
@pytest.mark.parametrize("seed", range(6))
def test_kmeans_of_the_points_is_the_best_of_its_starts(seed):
    """By counts: distinct rows stand for their objects. Few rows have 100 starts."""
    labels = np.repeat(random_labels(80, 6, 4, seed=seed), np.random.default_rng(seed).choice([1, 60], 80), axis=0)
    local = random_weights(labels, seed)
    B, found = weighted_matrix(labels, local), cut(labels, 6, local, seed).labels_
    check_points(B, found, 6, tolerance=5e-3)
    _, U = naive.transfer_cut(B, 6)
    means = np.array([U[found == c].mean(axis=0) for c in range(6)])
    distances = ((U[:, None] - means) ** 2).sum(axis=2)
    own = distances[np.arange(len(U)), found]
    assert (own <= distances.min(axis=1) + 1e-5).all()  # no step of k-means would move an object


def test_starts_on_a_sample(monkeypatch):
    labels, _ = planted_labels(n=400, p=8, k=4, noise=0.2, seed=3)
    labels = with_equal_rows(labels, 1_000)
    whole = cut(labels, 4)
    limit(monkeypatch, "points that k-means starts on", 64)
    limit(monkeypatch, "points of a cluster that k-means starts on", 1)
    sampled = cut(labels, 4)
    _, U = naive.transfer_cut(weighted_matrix(labels), 4)
    losses = [naive.loss_of_points(U, model.labels_) for model in (sampled, whole)]
    assert_allclose(*losses, rtol=1e-3)
    assert adjusted_rand_score(sampled.labels_, whole.labels_) > 0.99


def test_the_weights_of_the_clusters_are_those_that_are_reported():
    assert_allclose(np.concatenate(cut(E, 3, "eci").cluster_weights_), ECI, atol=1e-6)
    assert_allclose(np.concatenate(cluster_weights(E)), ECI, atol=1e-6)
