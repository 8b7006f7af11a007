"""PTA and PTGP: the authors' numbers, a twin that writes the trajectories out, objects for rows, ties and memory."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import rows_of
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, random_labels, twins
from worked import E_MISSING, E, partition

from ensemblage import PTA, PTGP, make_consensus
from ensemblage.consensus.evidence import Dendrogram, Lifetimes
from ensemblage.consensus.hierarchies import _pta
from ensemblage.consensus.hierarchies._pta import (
    default_number,
    elite_graph,
    trajectory_similarities,
)

ORDER = [0, 1, 2, 3, 4, 6, 5]
"""The lexicographic numbers of the sheet's label rows of E: y6 is object 10, y7 the objects 8 and 9."""
PTS = np.array([
    [1, 0.435043, 0.590099, 0.690558, 0.328658, 0.170704, 0.191830],
    [0.435043, 1, 0.833577, 0.412705, 0.474519, 0.313735, 0.160552],
    [0.590099, 0.833577, 1, 0.598256, 0.526856, 0.476467, 0.372509],
    [0.690558, 0.412705, 0.598256, 1, 0.499007, 0.452184, 0.804015],
    [0.328658, 0.474519, 0.526856, 0.499007, 1, 0.885197, 0.433289],
    [0.170704, 0.313735, 0.476467, 0.452184, 0.885197, 1, 0.451419],
    [0.191830, 0.160552, 0.372509, 0.804015, 0.433289, 0.451419, 1],
])  # fmt: skip


def graph_of(labels, n_neighbors, weights=None, n_jobs=1):
    rows = rows_of(labels, weights)
    return rows, elite_graph(rows.codes[:], rows.n_clusters, rows.weights, rows.counts, n_neighbors, n_jobs)


def similarities_of(labels, n_neighbors, n_steps, **options):
    """(r, r) of the distinct rows, with 1 on the diagonal."""
    rows, graph = graph_of(labels, n_neighbors, **options)
    return rows, squareform(trajectory_similarities(graph, n_steps, 1), checks=False) + np.eye(len(rows))


def rows_with_holes(rows):
    """The codes of the distinct rows with -1 for missing."""
    codes = rows.codes[:].astype(int)
    return np.where(codes == rows.n_clusters, -1, codes)


# ---- The authors' numbers ----


def test_similarities_of_the_sheet():
    _, found = similarities_of(E, 2, 3)
    assert_allclose(found, PTS, atol=1e-6)


def test_one_neighbour_and_one_step():
    _, found = similarities_of(E, 1, 1)
    expected = np.zeros(7)
    expected[[0, 2]] = 1, 0.707107
    assert_allclose(found[0], expected, atol=1e-6)


def test_heights_of_the_sheet():
    model = PTA(3, n_neighbors=2, n_steps=3).fit(E)
    expected = [0, 0, 0, 0.114803, 0.166423, 0.195985, 0.487429, 0.541025, 0.606888]
    assert_allclose(model.linkage_matrix_[:, 2], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("linkages", "k", "clusters"),
    [
        (("average", "complete"), 2, "1-4 5-10"),
        (("average", "complete"), 3, "1-4 5,8,9 6,7,10"),
        (("average", "complete"), 4, "1,2 3,4 5,8,9 6,7,10"),
        (("single",), 2, "6,7,10 1-5,8,9"),
        (("single",), 3, "1,2,5,8,9 3,4 6,7,10"),
    ],
)
def test_clusters_of_the_sheet(linkages, k, clusters):
    for name in linkages:
        model = make_consensus(f"pta-{name}", k, n_neighbors=2, n_steps=3).fit(E)
        assert adjusted_rand_score(model.labels_, partition(clusters)) == 1


def test_cut_of_the_sheet():
    B = naive.mean_similarity_to_clusters(PTS, np.unique(E, axis=0) - 1)
    expected = [0.675047, 0.396640, 0.191830, 0.717521, 0.536438, 0.181267, 1, 0.571900, 0.328658, 0.181267, 0.577281,
                0.260244]  # fmt: skip
    assert_allclose(B[0], expected, atol=1e-6)
    for seed in range(8):
        two, three, five = (PTGP(k, n_neighbors=2, n_steps=3, random_state=seed).fit(E) for k in (2, 3, 5))
        assert adjusted_rand_score(two.labels_, partition("1-4 5-10")) == 1
        assert adjusted_rand_score(three.labels_, partition("1-4 5,8,9 6,7,10")) == 1
        assert_allclose(five.eigenvalues_, [1, 0.104351, 0.022192, 0.008134, 0.000402], atol=1e-6)


def test_defaults():
    assert [default_number(m) for m in (1, 15, 16, 36, 1000, 1600, 10**6)] == [2, 2, 2, 3, 15, 20, 20]
    model = PTA(2).fit(E)
    assert (model.n_neighbors_, model.n_steps_) == (2, 2)


# ---- A twin ----


@given(label_matrices(missing=True), st.integers(1, 6), st.integers(1, 4))
def test_naive_twin(labels, n_neighbors, n_steps):
    rows, found = similarities_of(labels, n_neighbors, n_steps)
    holes = rows_with_holes(rows)
    expected = naive.trajectory_similarities(naive.coassociation(holes), rows.counts, n_neighbors, n_steps)
    assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_weights_of_the_partitions(missing):
    labels = random_labels(60, 6, 4, missing=missing, seed=3)
    weights = np.array([1, 2.5, 0.3, 1, 4, 0.1])
    rows, found = similarities_of(labels, 3, 3, weights=weights)
    expected = naive.trajectory_similarities(naive.coassociation(rows_with_holes(rows), weights), rows.counts, 3, 3)
    assert_allclose(found, expected, atol=1e-10)
    _, plain = similarities_of(labels, 3, 3, weights=np.full(6, 7.0))
    assert_array_equal(plain, similarities_of(labels, 3, 3)[1])


@pytest.mark.parametrize("method", ["average", "complete", "single"])
def test_hierarchy_is_scipys(method):
    labels = random_labels(40, 8, 4, seed=5)
    rows, similarities = similarities_of(labels, 4, 3)
    assert len(rows) == 40
    model = PTA(3, linkage=method, n_neighbors=4, n_steps=3).fit(labels)
    distances = squareform(1 - similarities, checks=False)
    expected = linkage(distances, method)
    assert_allclose(model.linkage_matrix_[:, 2], expected[:, 2], atol=1e-9)
    order = rows.inverse  # of the objects among the rows
    ours = squareform(cophenet(model.linkage_matrix_))
    assert_allclose(ours, squareform(cophenet(expected))[np.ix_(order, order)], atol=1e-9)


def test_each_label_row_counts_once_in_the_mean_but_its_objects_in_the_walk():
    labels = planted_labels(30, 6, 3, noise=0.4, seed=2)[0]
    more = np.vstack([labels, labels[:10]])
    (rows, once), (_, twice) = similarities_of(labels, 3, 3), similarities_of(more, 3, 3)
    assert once.shape == twice.shape
    assert np.abs(once - twice).max() > 1e-3
    expected = linkage(squareform(1 - twice, checks=False), "average")
    heights = PTA(3, n_neighbors=3, n_steps=3).fit(more).linkage_matrix_[:, 2]
    assert_allclose(heights[-len(rows) + 1 :], expected[:, 2], atol=1e-9)


@pytest.mark.parametrize("width", [1, 8, 13, 32])
def test_walks_of_the_kernel_are_products(width):
    labels = twins(random_labels(80, 5, 4, missing=0.2, seed=7), 110)
    rows, graph = graph_of(labels, 4)
    assert rows.counts.max() > 1
    W = csr_array((graph.links, graph.neighbours.astype(int), graph.indptr), shape=(len(rows), len(rows))).toarray()
    P = naive.random_steps(W, rows.counts)
    points = np.random.RandomState(0).rand(width, len(rows)).T
    assert_allclose(graph.step()(points), P @ points, rtol=1e-12)
    assert_allclose(graph.step(back=True)(points), P.T @ points, rtol=1e-12)
    assert_array_equal(graph.step()(points)[:, :1], graph.step()(points[:, :1]))


# ---- Edges ----


@pytest.mark.parametrize("name", ["pta-average", "pta-complete", "pta-single", "ptgp"])
def test_rows_that_share_no_label_with_any(name):
    labels = np.repeat([[0, 0], [1, 1], [2, 2]], [5, 4, 3], axis=0)
    model = make_consensus(name, 3).fit(labels)
    assert_array_equal(model.labels_, labels[:, 0])
    _, similarities = similarities_of(labels, 2, 2)
    assert_array_equal(similarities, np.eye(3))


def test_ties_are_neighbours_and_few_neighbours_are_all():
    labels = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 4]])
    _, graph = graph_of(labels, 1)
    assert np.diff(graph.indptr).tolist() == [3, 3, 3, 3, 0]
    assert_array_equal(graph_of(labels, 50)[1].neighbours, graph.neighbours)


def test_missing_labels_of_the_example():
    for name in ("pta-average", "ptgp"):
        model = make_consensus(name, 2).fit(E_MISSING)
        assert model.n_clusters_ == 2
        unlabelled = np.vstack([E_MISSING, np.full((1, 4), -1)])
        again = make_consensus(name, 2).fit(unlabelled)
        assert_array_equal(again.labels_[:-1], model.labels_)
        assert again.labels_[-1] == -1


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_same_bits_for_any_threads_and_slices(monkeypatch, n_jobs):
    labels = twins(planted_labels(700, 9, 4, noise=0.4, missing=0.1, seed=0)[0], 900)
    one = PTA(4, n_jobs=1).fit(labels), PTGP(4, n_jobs=1, random_state=0).fit(labels)
    limit(monkeypatch, "operations of a call of a kernel", 20_000)
    more = PTA(4, n_jobs=n_jobs).fit(labels), PTGP(4, n_jobs=n_jobs, random_state=0).fit(labels)
    assert_array_equal(more[0].linkage_matrix_, one[0].linkage_matrix_)
    assert_array_equal(more[1].eigenvalues_, one[1].eigenvalues_)
    for a, b in zip(one, more, strict=True):
        assert_array_equal(a.labels_, b.labels_)
    limit(monkeypatch, "walks at once", 7)
    narrow = PTA(4, n_jobs=n_jobs).fit(labels)
    assert_array_equal(narrow.linkage_matrix_, one[0].linkage_matrix_)


def test_evidence():
    model = PTA(n_neighbors=2, n_steps=3).fit(E)
    dendrogram, lifetimes = model.evidence(E)
    assert isinstance(dendrogram, Dendrogram)
    assert isinstance(lifetimes, Lifetimes)
    assert lifetimes.chosen == model.n_clusters_
    assert_array_equal(dendrogram.merges, model.linkage_matrix_)


# ---- Refused ----


def test_memory_is_refused_before_it_is_taken(monkeypatch):
    labels = planted_labels(2000, 12, 3, noise=0.7, seed=1)[0]
    with pytest.raises(ValueError, match=r"PTA must fit into max_bytes = 20,000,000 bytes.*1,988 label rows and"):
        PTA(3, max_bytes="20MB").fit(labels)
    # Of two partitions all rows that share a label tie.
    few = np.unique(random_labels(6000, 2, 60, seed=1), axis=0)
    with pytest.raises(ValueError, match=r"PTGP must fit into max_bytes.*elite neighbours of .* label rows. Raise"):
        PTGP(3, n_steps=1, n_jobs=1, max_bytes="13MB").fit(few)
    monkeypatch.setattr(_pta, "walk", None)
    with pytest.raises(ValueError, match=r"PTA must fit into max_bytes = 2.1 GB\. Got"):
        PTA(3).fit((np.arange(17_000)[:, None] // [1, 2, 3]).astype(str))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PTA(8), "n_clusters of PTA must be ≤ the 7 distinct label rows. Got 8"),
        (PTA(2, linkage="ward"), "linkage of PTA must be one of 'single', 'average', 'complete'"),
        (PTA(2, n_neighbors=0), "n_neighbors of PTA must be a whole number ≥ 1"),
        (PTA(2, n_steps=0), "n_steps of PTA must be a whole number"),
        (PTGP(), "n_clusters of PTGP .* must be given"),
        (PTGP(8), "n_clusters of PTGP must be ≤ the 7 distinct label rows"),
        (PTGP(2, n_neighbors=1.5), "n_neighbors of PTGP must be a whole number ≥ 1, or None"),
        (PTGP(2, n_steps="many"), "n_steps of PTGP must be a whole number"),
        (PTGP(2, max_bytes=0), "max_bytes of PTGP must be a number of bytes"),
    ],
)
def test_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(E)


def test_more_clusters_than_labels():
    labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, -1]])
    with pytest.raises(ValueError, match="n_clusters of PTGP must be ≤ the 4 clusters of all partitions"):
        PTGP(5).fit(labels)
