"""Spectral ensemble clustering: weighted k-means on codes against the matrices that it stands for."""

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

from ensemblage import make_consensus
from ensemblage.consensus import SpectralEnsembleClustering

TOY = np.array([[1, 2, 1, 1], [1, 2, 1, 1], [1, 2, 2, 1], [2, 3, 2, 1], [2, 3, 2, 2], [3, 1, 3, 2], [3, 1, 3, 2]])
TRIPLE = np.array([0, 0, 0, 1, 1, 2, 2])


def points_and_weights(labels):
    """(n, d) rows of the binary matrix, divided by (n,) the weights of the objects."""
    H = naive.binary_matrix(labels)
    w = H @ H.sum(axis=0)
    return H / w[:, None], w


def distances_to_centres(labels, clusters, k):
    """(n, k) weighted squared distance of every object to every centre; that of a cluster without objects is 0."""
    points, w = points_and_weights(labels)
    sums = [(w[clusters == c, None] * points[clusters == c]).sum(axis=0) for c in range(k)]
    centres = np.array([total / max(w[clusters == c].sum(), 1) for c, total in enumerate(sums)])
    return w[:, None] * ((points[:, None] - centres) ** 2).sum(axis=2)


def test_a_cluster_without_members_has_its_centroid_at_0():
    """The third cluster of the start has nothing but an object without any label."""
    labels = np.vstack([TOY, TOY[:3], [[-1] * 4]])
    start = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 2])
    expected = distances_to_centres(labels[:-1], start[:-1], 3)
    clusters = expected.argmin(axis=1)
    assert set(clusters) == {0, 1}
    clusters[expected.min(axis=1) == expected.min(axis=1).max()] = 2  # what is farthest from its own
    assert np.bincount(clusters)[2] == 2
    model = SpectralEnsembleClustering(3, init=start, max_iter=1).fit(labels)
    assert adjusted_rand_score(model.labels_[:-1], clusters) == 1
    assert model.labels_[-1] == -1


def test_an_empty_cluster_takes_the_row_that_is_farthest_by_all_partitions():
    """Two pairs of centres are equal, so that clusters 3 and 4 are empty; every row has two objects."""
    rows = np.unique(np.random.default_rng(10).integers(0, 4, size=(30, 5)), axis=0)
    labels, start = np.vstack([rows, rows]), np.append(np.arange(30) % 3, np.array([3, 4, 2])[np.arange(30) % 3])
    assert len(rows) == 30
    expected = distances_to_centres(labels, start, 5)[:30]
    clusters, own = expected.argmin(axis=1), expected.min(axis=1)
    farthest = np.argsort(-own)
    points, w = points_and_weights(labels)
    members = [points[start == c, : -len(np.unique(rows[:, -1]))] for c in range(3)]
    centres = np.array([np.average(group, axis=0, weights=w[start == c]) for c, group in enumerate(members)])
    by_the_first = w[:30] * ((points[:30, : centres.shape[1]] - centres[clusters]) ** 2).sum(axis=1)
    assert by_the_first.argmax() not in farthest[:2]  # the last partition decides
    assert clusters.max() == 2
    clusters[farthest[:2]] = [3, 4]
    model = SpectralEnsembleClustering(5, init=start, max_iter=1).fit(labels)
    assert_array_equal(model.labels_[:30], model.labels_[30:])
    assert adjusted_rand_score(model.labels_[:30], clusters) == 1


def test_toy_of_li():
    model = SpectralEnsembleClustering(3, init=TRIPLE).fit(TOY)
    assert_array_equal(model.labels_, TRIPLE)
    assert model.objective_ == pytest.approx(0.206464, abs=1e-6)
    assert model.normalized_association_ == pytest.approx(2.420420, abs=1e-6)
    weights = naive.binary_matrix(TOY) @ naive.binary_matrix(TOY).sum(axis=0)
    assert_array_equal(weights, [12, 12, 13, 11, 10, 9, 9])  # Fig. 2
    assert model.objective_ + model.normalized_association_ == pytest.approx((4 / weights).sum())
    assert (4 / weights).sum() == pytest.approx(2.626884, abs=1e-6)


@given(label_matrices(min_objects=2), st.integers(0, 99), st.booleans())
def test_loss_and_normalised_association_add_up(labels, seed, weighted):
    labels = labels[(labels >= 0).any(axis=1)]
    if not len(labels) or (labels < 0).all(axis=0).any():
        return
    labels = np.column_stack([np.unique(z, return_inverse=True)[1] - (z.min() < 0) for z in labels.T])
    weights = np.random.default_rng(seed).uniform(0.5, 2, size=labels.shape[1]) if weighted else None
    clusters = np.unique(np.random.default_rng(seed).integers(3, size=len(labels)), return_inverse=True)[1]
    if len(np.unique(labels, axis=0)) < clusters.max() + 1:
        return
    model = SpectralEnsembleClustering(clusters.max() + 1, weights=weights, init=clusters, max_iter=1).fit(labels)
    loss, association = naive.sec_loss(labels, model.labels_, weights)
    assert model.objective_ == pytest.approx(loss, abs=1e-9)
    assert model.normalized_association_ == pytest.approx(association)


def test_distances(missing):
    labels = random_labels(n=80, p=6, k=4, missing=missing, seed=3)
    labels = labels[(labels >= 0).any(axis=1)]
    model = SpectralEnsembleClustering(3, init=np.arange(len(labels)) % 3).fit(labels)
    expected = distances_to_centres(labels, model.labels_, 3)
    own = expected[np.arange(len(labels)), model.labels_]
    assert_allclose(own, expected.min(axis=1), atol=1e-6)
    assert model.objective_ == pytest.approx(own.sum())


@pytest.mark.parametrize("seed", range(4))
def test_against_scikit_learn_with_sample_weights(seed):
    labels = random_labels(n=300, p=7, k=5, seed=seed)
    start = np.random.default_rng(seed).integers(5, size=300)
    H = naive.binary_matrix(labels)
    w = H @ H.sum(axis=0)
    centres = np.array([H[start == c].sum(axis=0) / w[start == c].sum() for c in range(5)])
    theirs = KMeans(5, init=centres, n_init=1, tol=0).fit(H / w[:, None], sample_weight=w)
    ours = SpectralEnsembleClustering(5, init=start).fit(labels)
    assert adjusted_rand_score(theirs.labels_, ours.labels_) == 1
    assert ours.objective_ == pytest.approx(theirs.inertia_, rel=1e-5)


def test_objective_is_the_loss_of_the_labels(missing):
    labels = with_equal_rows(random_labels(n=100, p=6, k=4, missing=missing, seed=5), 250)
    labels = labels[(labels >= 0).any(axis=1)]
    weights = [1, 2, 0.5, 1, 1, 3]
    model = SpectralEnsembleClustering(4, weights=weights, random_state=0).fit(labels)
    loss, association = naive.sec_loss(labels, model.labels_, weights)
    assert model.objective_ == pytest.approx(loss)
    assert model.normalized_association_ == pytest.approx(association)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_planted_clusters_are_found(seed, init, missing):
    labels, truth = planted_labels(n=1_000, p=20, k=6, noise=0.3, missing=missing / 3, seed=seed)
    model = SpectralEnsembleClustering(6, init=init, random_state=seed).fit(labels)
    assert adjusted_rand_score(truth, model.labels_) >= 0.99
    assert_array_equal(model.predict(labels), model.labels_)


def test_threads_and_blocks_change_nothing(missing, monkeypatch):
    labels = random_labels(n=900, p=6, k=5, missing=missing, seed=1)
    whole = SpectralEnsembleClustering(5, random_state=0, n_jobs=1, n_init=3).fit(labels)
    limit(monkeypatch, "rows of a block", 37)
    blocks = SpectralEnsembleClustering(5, random_state=0, n_jobs=2, n_init=3).fit(labels)
    assert_array_equal(whole.labels_, blocks.labels_)
    assert whole.objective_ == blocks.objective_


def test_an_object_that_only_the_least_weight_labels():
    labels = [[0, 0], [0, 1], [-1, 2], [1, 0]]
    model = SpectralEnsembleClustering(3, weights=[1, 1e-300], random_state=0).fit(labels)
    assert model.n_clusters_ == 3
    assert np.isfinite(model.objective_)
    assert_array_equal(model.predict(labels), model.labels_)
    assert SpectralEnsembleClustering(2, weights=[1, 0], random_state=0).fit(labels).labels_[2] == -1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 6}, r"n_clusters of SpectralEnsembleClustering must be ≤ the 5 distinct label rows. Got 6"),
        ({"init": [0, 1]}, r"init of SpectralEnsembleClustering must label the 7 objects with 3 clusters"),
        ({"init": "best"}, r"init of SpectralEnsembleClustering must be one of"),
        ({"n_init": 0}, r"n_init of SpectralEnsembleClustering must be a whole number"),
    ],
)
def test_bad_input(parameters, message):
    with pytest.raises(ValueError, match=message):
        SpectralEnsembleClustering(**{"n_clusters": 3, **parameters}).fit(TOY)


def test_named_entry():
    assert isinstance(make_consensus("sec", 3), SpectralEnsembleClustering)
