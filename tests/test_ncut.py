"""Normalised cut: the authors' offset, isolated objects, distinct rows against single objects."""

import contextlib

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels

from ensemblage import CSPA, HBGF, Ensemble
from ensemblage.consensus.graphs import _ncut
from ensemblage.consensus.graphs._ncut import discretise, normalized_cut, orthogonal_rows, spectrum


def random_state(seed=0):
    return np.random.RandomState(seed)


def cliques(*cliques, diagonal=1.0):
    """A graph of cliques, (size, similarity) each."""
    n = sum(size for size, _ in cliques)
    W, start = np.zeros((n, n)), 0
    for size, similarity in cliques:
        W[start : start + size, start : start + size] = similarity
        start += size
    np.fill_diagonal(W, diagonal)
    return W


TWO_CLIQUES = cliques((3, 0.9), (3, 0.7), (1, 0), (1, 0))


def test_a_graph_without_any_edge():
    vectors = _ncut.embedding(csr_array((4, 4)), np.ones(4, dtype=np.int64), 2, np.random.RandomState(0))
    assert np.isfinite(vectors).all()


def test_objects_that_no_two_partitions_join():
    model = CSPA(2, partitioner="spectral", random_state=0).fit(np.arange(5)[:, None] * [1, 1])
    assert model.n_clusters_ == 2


def test_components_come_by_degree_and_isolated_objects_last():
    found = spectrum(csr_array(TWO_CLIQUES), np.ones(8, dtype=int), 4, random_state())
    assert_allclose(found.values, [0.8684, 0.8529, 0.75, 0.75], atol=5e-5)
    assert_allclose(found.vectors[:, 2:], np.eye(8)[:, 6:])


def test_isolated_objects_go_where_they_were_most_similar_before():
    whole = TWO_CLIQUES.copy()
    whole[6, 3:6] = whole[3:6, 6] = 0.2
    whole[7, :3] = whole[:3, 7] = 0.1
    clusters = normalized_cut(TWO_CLIQUES, np.ones(8, dtype=int), 2, random_state(), whole)
    assert adjusted_rand_score(clusters, [0, 0, 0, 1, 1, 1, 1, 0]) == 1


def test_without_any_similarity_an_object_joins_the_lowest_cluster():
    clusters = normalized_cut(TWO_CLIQUES, np.ones(8, dtype=int), 2, random_state())
    assert_array_equal(clusters[6:], 0)


def test_small_components_that_no_eigenvector_shows_are_placed_too():
    W = cliques((5, 0.9), (5, 0.8), (2, 0.3))
    clusters = normalized_cut(W, np.ones(12, dtype=int), 2, random_state())
    assert adjusted_rand_score(clusters[:10], np.repeat([0, 1], 5)) == 1
    assert set(clusters) == {0, 1}


@pytest.mark.parametrize("k", range(1, 9))
def test_more_clusters_than_objects_that_are_not_isolated(k):
    clusters = normalized_cut(TWO_CLIQUES, np.ones(8, dtype=int), k, random_state())
    assert sorted(set(clusters)) == list(range(k))


def test_all_isolated():
    clusters = normalized_cut(np.eye(5), np.ones(5, dtype=int), 3, random_state())
    assert sorted(clusters[:3]) == [0, 1, 2]
    assert_array_equal(clusters[3:], 0)


@given(label_matrices(missing=False, min_objects=2), st.integers(1, 3))
def test_distinct_rows_have_the_eigenvalues_of_the_objects(labels, k):
    codes, counts, inverse = Ensemble(labels).distinct
    codes = codes[:]
    k = min(k, len(codes))
    W = naive.coassociation(labels)
    first = np.array([np.flatnonzero(inverse == row)[0] for row in range(len(codes))])
    found = spectrum(csr_array(W[np.ix_(first, first)]), counts, k, random_state())
    assert_allclose(found.values, np.linalg.eigvalsh(naive.random_walk(W))[::-1][:k], atol=1e-9)


def test_iterative_and_dense_eigensolvers_agree(monkeypatch):
    rng = np.random.default_rng(0)
    W = rng.random((150, 150)) * (rng.random((150, 150)) < 0.2)
    W = csr_array(np.maximum(W, W.T))
    counts = rng.integers(1, 4, size=150)
    dense = spectrum(W.copy(), counts, 5, random_state())
    limit(monkeypatch, "rows of which all eigenvectors are found", 10)
    iterative = spectrum(W, counts, 5, random_state())
    assert_allclose(iterative.values, dense.values, atol=1e-10)
    assert_allclose(np.abs((iterative.vectors * dense.vectors).sum(axis=0)), 1, atol=1e-7)


@pytest.mark.parametrize("n", [90, 700])
@pytest.mark.parametrize("seed", range(5))
def test_planted_clusters_are_found(n, seed):
    labels, truth = planted_labels(n=n, p=12, k=4, noise=0.3, seed=seed)
    codes, counts, inverse = Ensemble(labels).distinct
    codes = codes[:]
    W = naive.coassociation(codes.astype(int))
    clusters = normalized_cut(csr_array(W), counts, 4, random_state(seed))[inverse]
    assert adjusted_rand_score(truth, clusters) > 0.95


def test_same_seed_same_clusters():
    W = naive.coassociation(planted_labels(n=60, p=5, k=3, noise=0.6, seed=2)[0])
    runs = [normalized_cut(W, np.ones(60, dtype=int), 6, random_state(3)) for _ in range(2)]
    assert_array_equal(*runs)


def no_convergence(*args, **kwargs):
    raise _ncut.ArpackNoConvergence("", np.empty(0), np.empty(0))


def test_no_convergence_is_said(monkeypatch):
    monkeypatch.setattr(_ncut, "eigsh", no_convergence)
    limit(monkeypatch, "rows of which all eigenvectors are found", 1)
    limit(monkeypatch, "rows of which all eigenvectors are found at last", 1)
    with pytest.raises(
        ValueError, match=r"2 eigenvectors of a spectral cut must converge\. They did not, for a graph of 10 vertices"
    ):
        normalized_cut(cliques((5, 0.9), (5, 0.8)), np.ones(10, dtype=int), 2, random_state())


@pytest.mark.parametrize(("most_dense", "restarts"), [(10, 300), (9, 3_000)])
def test_iteration_has_an_end(monkeypatch, most_dense, restarts):
    """An eigenvalue that repeats may be found once only, however long one waits."""
    asked = []

    def eigsh(*_, maxiter, **__):
        asked.append(maxiter)
        return no_convergence()

    monkeypatch.setattr(_ncut, "eigsh", eigsh)
    limit(monkeypatch, "rows of which all eigenvectors are found", 1)
    limit(monkeypatch, "rows of which all eigenvectors are found at last", most_dense)
    with contextlib.suppress(ValueError):
        normalized_cut(cliques((5, 0.9), (5, 0.8)), np.ones(10, dtype=int), 2, random_state())
    assert asked == [restarts]


def test_where_iteration_does_not_converge_all_eigenvectors_are_found(monkeypatch):
    matrix = cliques((5, 0.9), (5, 0.8), (4, 0.3))
    expected = _ncut.leading_eigenvectors(matrix, 3, random_state())
    monkeypatch.setattr(_ncut, "eigsh", no_convergence)
    limit(monkeypatch, "rows of which all eigenvectors are found", 1)
    found = _ncut.leading_eigenvectors(matrix, 3, random_state())
    assert_allclose(found.values, expected.values)
    assert_allclose(matrix @ found.vectors, found.vectors * found.values, atol=1e-12)


def test_nested_partitions_end(monkeypatch):
    """Hundreds of eigenvalues that are nearly equal: ARPACK would go on for an hour."""
    limit(monkeypatch, "restarts of the eigensolver", 10)
    labels = np.arange(300)[:, None] // np.arange(1, 7)
    model = HBGF(7, random_state=0).fit(labels)
    assert model.n_clusters_ == 7


def test_where_lapack_fails_on_a_part_it_is_asked_for_all(monkeypatch):
    eigh = _ncut.eigh

    def fail(matrix, subset_by_index=None, **options):
        if subset_by_index is not None:
            raise _ncut.LinAlgError("Internal Error.")
        return eigh(matrix, **options)

    matrix = cliques((5, 0.9), (5, 0.8), (4, 0.3))
    expected = _ncut.leading_eigenvectors(matrix, 3, random_state())
    monkeypatch.setattr(_ncut, "eigh", fail)
    found = _ncut.leading_eigenvectors(matrix, 3, random_state())
    assert_allclose(found.values, expected.values)
    assert_allclose(matrix @ found.vectors, found.vectors * found.values, atol=1e-12)


@given(st.integers(0, 50))
def test_discretisation_undoes_a_rotation(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=40)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    X = (np.eye(3)[truth] + 0.05 * rng.normal(size=(40, 3))) * rng.uniform(0.5, 2, size=(40, 1)) @ rotation
    assert adjusted_rand_score(truth, discretise(X, np.ones(40, dtype=int), random_state(seed))) == 1


def test_rows_of_length_zero_have_no_cluster():
    X = np.vstack([np.eye(2), np.zeros((1, 2)), np.full((1, 2), 1e-9)])
    assert_array_equal(discretise(X, np.ones(4, dtype=int), random_state()) < 0, [False, False, True, True])


def test_orthogonal_rows_are_the_least_aligned():
    rows = np.array([[1, 0], [0.9, 0.436], [0, 1.0]])
    for seed in range(5):
        first, second = orthogonal_rows(rows, np.ones(3), 2, random_state(seed))
        assert abs(first @ second) == np.abs(rows @ first).min()
