"""The transfer cut: worked examples, the explicit matrix against the labels alone, and its k-means."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import rows_of
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import block_diag, csr_array, diags_array, eye_array
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, twins
from worked import POINTS, E, partition

from ensemblage.consensus.graphs._transfer_cut import LabelGraph, MatrixGraph, transfer_cut
from ensemblage.consensus.kmeans._point_kmeans import best_kmeans, kmeans_of_points

ECI = [0.322372, 0.126243, 1, 0.563305, 0.172553, 0.317312, 1, 0.317312, 1, 0.317312, 0.090911, 0.153355]
"""Of the clusters of E, from the authors' code."""
ONES = [1, 0.835305, 0.605195, 0.306045, 0.165506, 0.056580, 0.031369, 0, 0, 0, 0, 0]
LOCAL = [1, 0.940661, 0.831315, 0.486659, 0.211669, 0.107082, 0.050156, 0, 0, 0, 0, 0]


def cut_by_labels(rows, S, k, seed):
    return transfer_cut(LabelGraph(rows, csr_array(S)), k, seed)


def cut_by_matrix(B, counts, k, seed):
    return transfer_cut(MatrixGraph(B, counts), k, seed)


def labels_of(rows, parts):
    return rows.of_objects(parts, -1)


@pytest.mark.parametrize(
    ("weights", "values", "k", "clusters", "inertia"),
    [
        (np.ones(12), ONES, 2, "1-5 6-10", 0.452061),
        (np.ones(12), ONES, 3, "1-4 5-7 8-10", 0.655490),
        (np.ones(12), ONES, 4, "1,2 3-5 6,7 8-10", 0.549191),
        (ECI, LOCAL, 2, "1-5 6-10", 0.389578),
        (ECI, LOCAL, 3, "1-4 5-7 8-10", 0.526427),
        (ECI, LOCAL, 4, "1,2 3-5 6,7 8-10", 0.348134),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_worked_labels(weights, values, k, clusters, inertia, seed):
    rows = rows_of(E)
    cut = cut_by_labels(rows, diags_array(np.array(weights)), k, seed)
    assert adjusted_rand_score(labels_of(rows, cut.parts), partition(clusters)) == 1
    assert_allclose(cut.inertia, inertia, atol=2e-6)
    assert_allclose(cut.values, values[:k], atol=2e-6)


def test_worked_matrix():
    centres = POINTS[[0, 3, 5, 8, 9]]
    squares = ((POINTS[:, None] - centres) ** 2).sum(axis=2)
    kept = squares <= np.sort(squares, axis=1)[:, [1]]
    sigma = np.sqrt(squares[kept]).mean()
    B = np.where(kept, np.exp(-squares / (2 * sigma**2)), 0)
    assert_allclose(B[6], [0, 0, 0.822833, 0.829028, 0], atol=1e-6)
    for form in (B, csr_array(B)):
        cut = cut_by_matrix(form, np.ones(12, dtype=np.int64), 3, seed=0)
        assert_array_equal(cut.parts[[0, 5, 9]][[0] * 5 + [1] * 4 + [2] * 3], cut.parts)
        assert_allclose(cut.inertia, 0.067874, atol=2e-6)
        assert_allclose(cut.values, [1, 0.999978, 0.952766], atol=2e-6)


@given(label_matrices(min_objects=4), st.integers(1, 4), st.integers(0, 5))
def test_of_labels_is_of_the_matrix(labels, k, seed):
    rows = rows_of(labels)
    k, random = min(k, len(rows)), np.random.default_rng(seed)
    blocks = [random.random((q, q)) * (random.random((q, q)) < 0.7) + np.eye(q) for q in rows.n_clusters]
    S = csr_array(block_diag([csr_array(block) for block in blocks]))
    B = rows.binary_matrix() @ csr_array(S)
    ours, whole = cut_by_labels(rows, S, k, seed), cut_by_matrix(B, rows.counts, k, seed)
    values, U = naive.transfer_cut(np.repeat(B.toarray(), rows.counts, axis=0), k)
    assert_allclose(ours.values, values, atol=1e-9)
    assert_allclose(whole.values, values, atol=1e-9)
    more = np.append(naive.transfer_cut(np.repeat(B.toarray(), rows.counts, axis=0), k + 1)[0], 0)
    if len(values) == k and more[k - 1] - more[k] > 1e-3:  # else the leading space is not unique
        assert_allclose(ours.inertia, whole.inertia, atol=1e-3)
        of_objects = np.repeat(ours.parts, rows.counts)
        assert_allclose(ours.inertia, naive.loss_of_points(U, of_objects), atol=1e-4)
    for cut in (ours, whole):
        of_objects = np.repeat(B.toarray(), rows.counts, axis=0)
        wanted = naive.normalized_association(of_objects, np.repeat(cut.parts, rows.counts))
        assert_allclose(cut.association, wanted, atol=1e-9)
        assert cut.association <= values.sum() + 1e-9


def test_many_clusters_are_never_a_square_matrix(monkeypatch):
    labels, _ = planted_labels(n=200, p=10, k=4, noise=0.3, missing=0.1, seed=2)
    rows = rows_of(labels)
    S = diags_array(np.random.default_rng(0).uniform(0.2, 1, 40))
    small = cut_by_labels(rows, S, 4, 0)
    limit(monkeypatch, "clusters whose products are a matrix", 10)
    limit(monkeypatch, "rows of which all eigenvectors are found", 5)
    large = cut_by_labels(rows, S, 4, 0)
    assert_allclose(large.values, small.values)
    assert adjusted_rand_score(small.parts, large.parts) == 1


def test_missing_labels_add_nothing():
    labels, _ = planted_labels(n=60, p=5, k=3, noise=0.2, missing=0.3, seed=4)
    labels[7] = -1
    rows = rows_of(labels)
    found = labels_of(rows, cut_by_labels(rows, eye_array(15), 3, 0).parts)
    assert found[7] == -1
    assert (np.delete(found, 7) >= 0).all()


def test_a_cluster_of_no_object_is_left_out():
    B = np.array([[1.0, 0, 0, 0], [0.9, 0.1, 0, 0], [0, 1, 0, 0.2], [0, 0.8, 0, 0.1]])
    counts = np.ones(4, dtype=np.int64)
    with_it, without = cut_by_matrix(B, counts, 2, 0), cut_by_matrix(B[:, [0, 1, 3]], counts, 2, 0)
    assert_allclose(with_it.values, without.values)
    assert_array_equal(with_it.parts, [0, 0, 1, 1] if with_it.parts[0] == 0 else [1, 1, 0, 0])


def test_an_object_without_weight_gets_a_part_all_the_same():
    cut = cut_by_matrix(np.array([[1.0, 0], [0, 1.0], [0, 0]]), np.ones(3, dtype=np.int64), 2, 0)
    assert cut.parts[0] != cut.parts[1]
    assert cut.parts[2] in (0, 1)


def test_kmeans_of_points_never_raises_its_loss():
    rng = np.random.default_rng(0)
    points, counts = rng.normal(size=(200, 3)).astype(np.float32), rng.integers(1, 5, size=200)
    clusters, centres = kmeans_of_points(points, counts, points[:4])
    means = np.array([np.average(points[clusters == c], axis=0, weights=counts[clusters == c]) for c in range(4)])
    assert_allclose(centres, means, rtol=1e-5)
    distances = ((points[:, None] - means) ** 2).sum(axis=2)
    assert_array_equal(clusters, distances.argmin(axis=1))


def test_more_starts_are_never_worse_and_counts_are_repetitions():
    rng = np.random.default_rng(1)
    points, counts = rng.normal(size=(120, 2)).astype(np.float32), rng.integers(1, 4, size=120)
    losses = []
    for n_init in (1, 5, 20):
        found = best_kmeans(points, counts, 6, n_init, np.random.RandomState(3))
        losses.append(found.inertia(points, counts))
        repeated = np.repeat(found.clusters, counts)
        assert_allclose(naive.loss_of_points(np.repeat(points, counts, axis=0), repeated), losses[-1], rtol=1e-4)
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > losses[-1]


def test_starts_on_a_sample(monkeypatch):
    labels, _ = planted_labels(n=400, p=8, k=4, noise=0.2, seed=3)
    rows = rows_of(twins(labels, 1_000))
    whole = cut_by_labels(rows, eye_array(32), 4, 0)
    limit(monkeypatch, "points that k-means starts on", 64)
    limit(monkeypatch, "points of a cluster that k-means starts on", 1)
    sampled = cut_by_labels(rows, eye_array(32), 4, 0)
    assert_allclose(sampled.inertia, whole.inertia, rtol=1e-3)
    assert adjusted_rand_score(sampled.parts, whole.parts) > 0.99


def test_lloyds_steps_end_where_no_point_moves():
    """The third centre is nearest to no point, and stays."""
    points, centres = np.array([[0.0], [-3], [9], [10]], dtype=np.float32), np.array([[0.0], [10], [50]])
    found = kmeans_of_points(points, np.ones(4, dtype=np.int64), centres)
    assert found.centres.ravel().tolist() == [-1.5, 9.5, 50]
    assert found.clusters.tolist() == [0, 0, 1, 1]
