"""Normalised cut by what `fit` gives: the authors' offset, isolated objects, distinct rows against single objects."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg
from scipy.sparse import csr_array
from scipy.sparse import linalg as sparse_linalg
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels

from ensemblage import Ensemble
from ensemblage.consensus import CSPA, HBGF, NegMM
from ensemblage.kernels._graphs import walk_in_place


def cut(W, k, seed=0):
    """Clusters of the objects with these similarities."""
    model = CSPA(k, partitioner="spectral", n_neighbors=None, random_state=seed)
    return model.fit_similarity(np.asarray(W)).labels_


def cut_of_rows(labels, k, seed=0):
    return CSPA(k, partitioner="spectral", n_neighbors=None, random_state=seed).fit(labels)


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
THREE_CLIQUES = cliques((5, 0.9), (5, 0.8), (4, 0.3))


def apart(clusters, *groups):
    """Whether the objects of each group share a cluster, a different one for each, and there are no more clusters."""
    found = [set(clusters[[*group]]) for group in groups]
    return all(len(numbers) == 1 for numbers in found) and len(set().union(*found)) == len(groups) == len(set(clusters))


@pytest.mark.parametrize("diagonal", [0.0, 1.0])
def test_a_graph_without_any_edge(diagonal):
    assert_array_equal(np.unique(cut(diagonal * np.eye(4), 2)), [0, 1])


def test_objects_that_no_two_partitions_join():
    assert cut_of_rows(np.arange(5)[:, None] * [1, 1], 2).n_clusters_ == 2


def test_components_come_by_degree_and_isolated_objects_last():
    """Components by their leading eigenvalues, in which the offset counts: without it all would be 1."""
    values = np.linalg.eigvalsh(naive.random_walk(TWO_CLIQUES))[::-1]
    assert_allclose(values[:4], [0.8684, 0.8529, 0.75, 0.75], atol=5e-5)
    assert apart(cut(TWO_CLIQUES, 3), [0, 1, 2], [3, 4, 5], [6])
    assert apart(cut(TWO_CLIQUES, 4), [0, 1, 2], [3, 4, 5], [6], [7])
    # The leading eigenvalues of an isolated object, a strong and a weak pair: .75, .782 and .722.
    W = cliques((1, 0), (2, 0.3), (2, 0.3), (5, 0.8))
    W[3, 3] = W[4, 4] = 0.5
    groups = [5, 6, 7, 8, 9], [1, 2], [0], [3, 4]
    for k in (2, 3, 4):
        assert apart(cut(W, k), *groups[:k])


def test_objects_that_are_not_similar_to_themselves_have_the_offset_too():
    """The leading eigenvalues are .90, .79 (without the offset on the diagonal .58) and .75."""
    W = cliques((5, 0.8), (3, 0.7), (1, 0), (1, 0))
    W[[5, 6, 7], [5, 6, 7]] = 0
    assert_allclose(np.linalg.eigvalsh(naive.random_walk(W))[::-1][:3], [0.9038, 0.7917, 0.75], atol=5e-5)
    assert apart(cut(W, 3), range(5), range(5, 8), [8])
    assert len({*cut(W, 2)[:5]}) == len({*cut(W, 2)[5:8]}) == 1
    assert cut(W, 2)[0] != cut(W, 2)[5]


def test_components_of_distinct_rows_come_by_their_objects():
    """A cluster of c equal rows has the eigenvalue (c + ½) / (c + 1)."""
    labels = np.repeat(np.arange(5), [1, 2, 1, 3, 5])[:, None]
    groups = [7, 8, 9, 10, 11], [4, 5, 6], [1, 2], [0], [3]
    for k in (2, 3, 4, 5):
        assert apart(cut_of_rows(labels, k).labels_, *groups[:k])


def test_isolated_objects_go_where_they_were_most_similar_before():
    whole = TWO_CLIQUES.copy()
    whole[6, 3:6] = whole[3:6, 6] = 0.2
    whole[7, :3] = whole[:3, 7] = 0.1
    clusters = NegMM(2, association_threshold=0.2, random_state=0).fit_similarity(whole).labels_
    assert adjusted_rand_score(clusters, [0, 0, 0, 1, 1, 1, 1, 0]) == 1


def test_without_any_similarity_an_object_joins_the_lowest_cluster():
    assert len(set(cut(TWO_CLIQUES, 2)[6:])) == 1


def test_small_components_that_no_eigenvector_shows_are_placed_too():
    clusters = cut(cliques((5, 0.9), (5, 0.8), (2, 0.3)), 2)
    assert adjusted_rand_score(clusters[:10], np.repeat([0, 1], 5)) == 1
    assert set(clusters) == {0, 1}


@pytest.mark.parametrize("k", range(1, 9))
def test_more_clusters_than_objects_that_are_not_isolated(k):
    assert sorted(set(cut(TWO_CLIQUES, k))) == list(range(k))


def test_all_isolated():
    clusters = cut(np.eye(5), 3)
    assert sorted(np.bincount(clusters)) == [1, 1, 3]
    assert clusters[3] == clusters[4] == 0
    assert len(set(clusters[:3])) == 3


@given(label_matrices(missing=False, min_objects=2))
def test_distinct_rows_have_the_eigenvalues_of_the_objects(labels):
    """Those of vectors that tell equal rows apart are at most 1/6."""
    _, counts, inverse = Ensemble(labels).distinct
    W = naive.coassociation(labels)
    first = np.array([np.flatnonzero(inverse == row)[0] for row in range(len(counts))])
    of_rows = csr_array(W[np.ix_(first, first)] + 1e-300)  # every entry is there
    degrees = of_rows @ counts.astype(float) + 1
    arrays = of_rows.indptr, of_rows.indices, of_rows.data
    walk_in_place(*arrays, np.sqrt(counts / degrees), 0.5 / degrees, np.arange(len(counts)))
    found, expected = np.linalg.eigvalsh(of_rows.toarray()), np.linalg.eigvalsh(naive.random_walk(W))
    assert_allclose(found[found > 0.167], expected[expected > 0.167], atol=1e-9)


def by_component(W, seeds=range(3)):
    return [cut(W, 4, seed) for seed in seeds]


def test_iterative_and_dense_eigensolvers_agree(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=150)
    W = rng.random((150, 150)) * (rng.random((150, 150)) < np.where(truth[:, None] == truth, 0.5, 0.1))
    W = np.maximum(W, W.T)
    dense = by_component(W)
    limit(monkeypatch, "rows of which all eigenvectors are found", 10)
    for found, expected in zip(by_component(W), dense, strict=True):
        assert adjusted_rand_score(found, expected) == 1
        assert adjusted_rand_score(found, truth) > 0.9


@pytest.mark.parametrize("n", [90, 700])
@pytest.mark.parametrize("seed", range(5))
def test_planted_clusters_are_found(n, seed):
    labels, truth = planted_labels(n=n, p=12, k=4, noise=0.3, seed=seed)
    assert adjusted_rand_score(truth, cut_of_rows(labels, 4, seed).labels_) > 0.95


def test_same_seed_same_clusters():
    W = naive.coassociation(planted_labels(n=60, p=5, k=3, noise=0.6, seed=2)[0])
    assert_array_equal(cut(W, 6, 3), cut(W, 6, 3))


def no_convergence(*args, **kwargs):
    raise sparse_linalg.ArpackNoConvergence("", np.empty(0), np.empty(0))


def test_no_convergence_is_said(monkeypatch):
    monkeypatch.setattr(sparse_linalg, "eigsh", no_convergence)
    limit(monkeypatch, "rows of which all eigenvectors are found", 1)
    limit(monkeypatch, "rows of which all eigenvectors are found at last", 1)
    with pytest.raises(
        ValueError, match=r"2 eigenvectors of a spectral cut must converge\. They did not, for a graph of 10 vertices"
    ):
        cut(cliques((5, 0.9), (5, 0.8)), 2)


@pytest.mark.parametrize(("most_dense", "restarts"), [(10, 300), (9, 3_000)])
def test_iteration_has_an_end(monkeypatch, most_dense, restarts):
    """An eigenvalue that repeats may be found once only, however long one waits."""
    asked = []

    def eigsh(*_, maxiter, **__):
        asked.append(maxiter)
        return no_convergence()

    monkeypatch.setattr(sparse_linalg, "eigsh", eigsh)
    limit(monkeypatch, "rows of which all eigenvectors are found", 1)
    limit(monkeypatch, "rows of which all eigenvectors are found at last", most_dense)
    if most_dense < 10:
        with pytest.raises(ValueError, match="must converge"):
            cut(cliques((5, 0.9), (5, 0.8)), 2)
    else:
        cut(cliques((5, 0.9), (5, 0.8)), 2)
    assert asked == [restarts]


def test_where_iteration_does_not_converge_all_eigenvectors_are_found(monkeypatch):
    expected = cut(THREE_CLIQUES, 3)
    assert adjusted_rand_score(expected, np.repeat([0, 1, 2], [5, 5, 4])) == 1
    monkeypatch.setattr(sparse_linalg, "eigsh", no_convergence)
    limit(monkeypatch, "rows of which all eigenvectors are found", 1)
    assert_array_equal(cut(THREE_CLIQUES, 3), expected)


def test_nested_partitions_end(monkeypatch):
    """Hundreds of eigenvalues that are nearly equal: ARPACK would go on for an hour."""
    limit(monkeypatch, "restarts of the eigensolver", 10)
    labels = np.arange(300)[:, None] // np.arange(1, 7)
    model = HBGF(7, random_state=0).fit(labels)
    assert model.n_clusters_ == 7


@pytest.mark.parametrize("n_found", [0, 1, None])
def test_where_lapack_fails_on_a_part_it_is_asked_for_all(monkeypatch, n_found):
    """It may give fewer than it was asked for, or fail."""
    eigh, asked = linalg.eigh, []

    def fail(matrix, subset_by_index=None, **options):
        asked.append(subset_by_index)
        if subset_by_index is None:
            return eigh(matrix, **options)
        if n_found is None:
            raise linalg.LinAlgError("Internal Error.")
        return np.ones(n_found), np.ones((len(matrix), n_found))

    expected = cut(THREE_CLIQUES, 3)
    monkeypatch.setattr(linalg, "eigh", fail)
    assert_array_equal(cut(THREE_CLIQUES, 3), expected)
    assert asked == [(11, 13), None]


@given(st.integers(0, 50))
def test_discretisation_undoes_a_rotation(seed):
    """Components with the same eigenvalue: any rotation of their indicators are eigenvectors."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat([0, 1, 2], 12))
    W = np.where(truth[:, None] == truth, 0.6, 0.0) + rng.uniform(0, 1e-3, (36, 36))
    W = (W + W.T) / 2
    assert adjusted_rand_score(truth, cut(W, 3, seed)) == 1


@pytest.mark.parametrize("least", [0, 1e-9])
def test_rows_of_length_zero_have_no_cluster(least):
    """They are placed by their similarities, of NegMM those before the threshold."""
    whole = cliques((4, 0.9), (4, 0.8), (2, 0.3))
    whole[whole == 0] = least
    whole[8:, :4] = whole[:4, 8:] = 0.1
    whole[8:, 4:8] = whole[4:8, 8:] = 0.2
    clusters = NegMM(2, association_threshold=0.25, random_state=0).fit_similarity(whole).labels_
    assert adjusted_rand_score(clusters, np.repeat([0, 1, 1], [4, 4, 2])) == 1


@pytest.mark.parametrize("seed", range(10))
def test_the_first_rotation_is_of_nearly_orthogonal_rows(seed):
    """Many components: a start with two rows of one of them would end with another one split or lost."""
    W = cliques(*[(4, 0.9)] * 10)
    assert adjusted_rand_score(np.repeat(np.arange(10), 4), cut(W, 10, seed)) == 1
