"""PTA and PTGP: the authors' numbers, a twin that writes the trajectories out, objects for rows, ties and memory."""

import tracemalloc

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, random_labels, with_equal_rows
from worked import E_MISSING, E, partition

from ensemblage import make_consensus
from ensemblage.consensus import PTA, PTGP
from ensemblage.consensus.diagnostics import Dendrogram, Lifetimes
from ensemblage.kernels._graphs import walk

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


def rows_of(labels):
    """The distinct label rows in lexicographic order, -1 the largest label; the row and the number of each object."""
    labels = np.asarray(labels)
    ranked = np.where(labels < 0, labels.max() + 1, labels)
    _, first, inverse, counts = np.unique(ranked, axis=0, return_index=True, return_inverse=True, return_counts=True)
    return labels[first], inverse.ravel(), counts


def naive_similarities(labels, n_neighbors, n_steps, weights=None):
    """(r, r) of the distinct rows, with 1 on the diagonal."""
    rows, _, counts = rows_of(labels)
    return naive.trajectory_similarities(naive.coassociation(rows, weights), counts, n_neighbors, n_steps)


def heights(labels, n_neighbors, n_steps, **options):
    """Of the merges of the distinct rows; those of objects with equal rows come first, at 0."""
    model = PTA(1, n_neighbors=n_neighbors, n_steps=n_steps, **options).fit(labels)
    duplicates = len(labels) - len(rows_of(labels)[0])
    assert not model.linkage_matrix_[:duplicates, 2].any()
    return model.linkage_matrix_[duplicates:, 2]


def naive_heights(similarities, method):
    """Of SciPy's linkage."""
    return linkage(squareform(1 - similarities, checks=False), method)[:, 2]


def least_gap(similarities):
    """Between two of the similarities: where none is 0, no linkage has ties."""
    return np.diff(np.sort(squareform(similarities - np.eye(len(similarities)), checks=False))).min()


# ---- The authors' numbers, which the twin has too ----


def test_similarities_of_the_sheet():
    found = naive_similarities(E, 2, 3)
    assert_allclose(found, PTS, atol=1e-6)
    for method in ("single", "average", "complete"):
        assert_allclose(heights(E, 2, 3, linkage=method), naive_heights(found, method), atol=1e-10)


def test_one_neighbour_and_one_step():
    found, expected = naive_similarities(E, 1, 1), np.zeros(7)
    expected[[0, 2]] = 1, 0.707107
    assert_allclose(found[0], expected, atol=1e-6)
    assert_allclose(heights(E, 1, 1, linkage="single"), naive_heights(found, "single"), atol=1e-10)


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
    B = naive.mean_similarity_to_clusters(naive_similarities(E, 2, 3), rows_of(E)[0] - 1)
    expected = [0.675047, 0.396640, 0.191830, 0.717521, 0.536438, 0.181267, 1, 0.571900, 0.328658, 0.181267, 0.577281,
                0.260244]  # fmt: skip
    assert_allclose(B[0], expected, atol=1e-6)
    for seed in range(8):
        two, three, five = (PTGP(k, n_neighbors=2, n_steps=3, random_state=seed).fit(E) for k in (2, 3, 5))
        assert adjusted_rand_score(two.labels_, partition("1-4 5-10")) == 1
        assert adjusted_rand_score(three.labels_, partition("1-4 5,8,9 6,7,10")) == 1
        assert_allclose(five.eigenvalues_, [1, 0.104351, 0.022192, 0.008134, 0.000402], atol=1e-6)


@pytest.mark.core(1)
@pytest.mark.parametrize(("m", "number"), [(1, 2), (15, 2), (16, 2), (36, 3), (1000, 15), (1600, 20), (1764, 20)])
def test_defaults(m, number):
    """By the number of distinct rows."""
    labels = np.repeat((np.arange(m)[:, None] // [1, 2, 7]).astype(str), 2, axis=0)
    for model in (PTA(1), PTGP(1, random_state=0)):
        model.fit(labels)
        assert (model.n_neighbors_, model.n_steps_) == (number, number)
    model = PTA(1, n_neighbors=1, n_steps=3).fit(labels)
    assert (model.n_neighbors_, model.n_steps_) == (1, 3)


# ---- A twin ----


@given(label_matrices(missing=True), st.integers(1, 6), st.integers(1, 4))
def test_naive_twin(labels, n_neighbors, n_steps):
    """Single linkage has the same heights in whatever order ties are merged."""
    labels = labels[(labels >= 0).any(axis=1)][:, (labels >= 0).any(axis=0)]
    rows, _, _ = rows_of(labels)
    if len(rows) < 2:
        return
    expected = naive_similarities(labels, n_neighbors, n_steps)
    found = heights(labels, n_neighbors, n_steps, linkage="single")
    assert_allclose(found, naive_heights(expected, "single"), atol=1e-9)
    numbered = np.column_stack([np.searchsorted(np.unique(row[row >= 0]), row) - (row < 0) for row in rows.T])
    B = naive.mean_similarity_to_clusters(expected, numbered)
    k = min(B.shape[1], len(rows))
    model = PTGP(k, n_neighbors=n_neighbors, n_steps=n_steps, random_state=0).fit(labels)
    assert_allclose(model.eigenvalues_, naive.transfer_cut(B, k)[0], atol=1e-7)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_weights_of_the_partitions(missing):
    labels = random_labels(60, 6, 4, missing=missing, seed=3)
    weights = np.array([1, 2.5, 0.3, 1, 4, 0.1])
    expected = naive_similarities(labels, 3, 3, weights)
    found = heights(labels, 3, 3, linkage="single", weights=weights)
    assert_allclose(found, naive_heights(expected, "single"), atol=1e-9)
    assert np.abs(found - heights(labels, 3, 3, linkage="single")).max() > 1e-3
    assert_array_equal(heights(labels, 3, 3, weights=np.full(6, 7.0)), heights(labels, 3, 3))


@pytest.mark.parametrize("method", ["average", "complete", "single"])
def test_hierarchy_is_scipys(method):
    labels = random_labels(40, 8, 4, seed=5)
    similarities = naive_similarities(labels, 4, 3)
    assert similarities.shape == (40, 40)
    assert least_gap(similarities) > 1e-9
    model = PTA(3, linkage=method, n_neighbors=4, n_steps=3).fit(labels)
    expected = linkage(squareform(1 - similarities, checks=False), method)
    assert_allclose(model.linkage_matrix_[:, 2], expected[:, 2], atol=1e-9)
    order = rows_of(labels)[1]  # of the objects among the rows
    ours = squareform(cophenet(model.linkage_matrix_))
    assert_allclose(ours, squareform(cophenet(expected))[np.ix_(order, order)], atol=1e-9)


def test_each_label_row_counts_once_in_the_mean_but_its_objects_in_the_walk():
    labels = planted_labels(30, 6, 3, noise=0.4, seed=2)[0]
    more = np.vstack([labels, labels[:10]])
    once, twice = naive_similarities(labels, 3, 3), naive_similarities(more, 3, 3)
    assert once.shape == twice.shape
    assert np.abs(once - twice).max() > 1e-3
    assert_allclose(heights(more, 3, 3), naive_heights(twice, "average"), atol=1e-9)


def test_walks_of_the_kernel_are_products():
    rng = np.random.RandomState(0)
    W = np.triu(np.where(rng.rand(80, 80) < 0.2, rng.rand(80, 80), 0), 1)
    W, counts, points = csr_array(W + W.T), rng.randint(1, 9, 80).astype(float), rng.rand(80, 32)
    out, walked = 1 / np.maximum(W @ counts, 1e-9), np.empty((80, 32))
    given = W.indptr.astype(np.int64), W.indices.astype(np.uint32), W.data * counts[W.indices], out
    walk(*given, np.zeros(80, dtype=np.uint64), points, walked)
    assert_allclose(walked, naive.random_steps(W.toarray(), counts) @ points, rtol=1e-12)
    few = np.empty((80, 8))
    walk(*given, np.zeros(80, dtype=np.uint64), points[:, :8].copy(), few)
    assert_array_equal(few, walked[:, :8])


# ---- Edges ----


@pytest.mark.parametrize("name", ["pta-average", "pta-complete", "pta-single", "ptgp"])
def test_rows_that_share_no_label_with_any(name):
    labels = np.repeat([[0, 0], [1, 1], [2, 2]], [5, 4, 3], axis=0)
    model = make_consensus(name, 3).fit(labels)
    assert_array_equal(model.labels_, labels[:, 0])
    assert_array_equal(naive_similarities(labels, 2, 2), np.eye(3))
    if name != "ptgp":
        assert_array_equal(heights(labels, 2, 2, linkage=name.removeprefix("pta-")), [1, 1])


def test_ties_are_neighbours_and_few_neighbours_are_all():
    """Of four rows each has the same co-association with the three others; the fifth has none."""
    labels = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 4]])
    found = heights(labels, 1, 1)
    assert_allclose(found, [1 / 3, 1 / 3, 1 / 3, 1], atol=1e-12)  # two of three neighbours in common
    assert_array_equal(heights(labels, 50, 1), found)


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
    labels = with_equal_rows(planted_labels(700, 9, 4, noise=0.4, missing=0.1, seed=0)[0], 900)
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
    dendrogram, lifetimes = model.diagnostics(E)
    assert isinstance(dendrogram, Dendrogram)
    assert isinstance(lifetimes, Lifetimes)
    assert lifetimes.chosen == model.n_clusters_
    assert_array_equal(dendrogram.merges, model.linkage_matrix_)


# ---- Refused ----


def test_memory_is_refused_before_it_is_taken():
    labels = planted_labels(2000, 12, 3, noise=0.7, seed=1)[0]
    with pytest.raises(ValueError, match=r"PTA must fit into max_bytes = 20,000,000 bytes.*1,988 label rows and"):
        PTA(3, max_bytes="20MB").fit(labels)
    # Of two partitions all rows that share a label tie.
    few = np.unique(random_labels(6000, 2, 60, seed=1), axis=0)
    with pytest.raises(ValueError, match=r"PTGP must fit into max_bytes.*elite neighbours of .* label rows. Raise"):
        PTGP(3, n_steps=1, n_jobs=1, max_bytes="13MB").fit(few)
    labels = (np.arange(17_000)[:, None] // [1, 2, 3]).astype(str)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"PTA must fit into max_bytes = 2.1 GB\. Got"):
        PTA(3).fit(labels)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 8 * 17_000**2 / 20


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
