"""LCE: links between the clusters of one partition, the refined matrix, its cut."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, random_labels, with_equal_rows
from worked import E, partition

from ensemblage import Ensemble, make_consensus
from ensemblage.consensus import LCE

WCT = {(0, 1): 0.559524, (1, 2): 0.666667, (3, 4): 0.592857, (3, 5): 0.125, (4, 5): 0.625, (6, 7): 0.933333}
WCT |= {(6, 9): 0.125, (7, 8): 0.566667, (7, 9): 0.291667, (8, 9): 0.566667, (10, 11): 0.75}
WTQ = {(0, 1): 1.412834, (1, 2): 1.253462, (3, 4): 1.370219, (3, 5): 0.363636, (4, 5): 1.227057, (6, 7): 1.242660}
WTQ |= {(6, 9): 0.363636, (7, 8): 0.907213, (7, 9): 0.821652, (8, 9): 0.863421, (10, 11): 1.755270}
STRENGTHS = [2.459524, 2.183333, 1.833333, 2.116667, 2.226190, 2.358333, 1.5, 1.666667, 1.5, 2.358333, 2.75, 2.466667]
ROW_1 = {
    "wct": [1, 0.479592, 0, 1, 0.508163, 0.107143, 1, 0.8, 0, 0.107143, 1, 0.642857],
    "wtq": [1, 0.643928, 0, 1, 0.624505, 0.165735, 1, 0.566368, 0, 0.165735, 1, 0.8],
}
CUTS = [
    ("wct", 2, "1-5 6-10", 0.300209, [1, 0.244258]),
    ("wct", 3, "1-4 5-7 8-10", 0.227721, [1, 0.244258, 0.036559]),
    ("wtq", 2, "1-5 6-10", 0.299701, [1, 0.180347]),
    ("wtq", 3, "1-4 5-7 8-10", 0.245082, [1, 0.180347, 0.044113]),
]


def refined(labels, name="wct", decay=0.8):
    """The refined matrix of all objects by the definition, (n, d)."""
    S = naive.cts(labels, decay, quality=name == "wtq")
    np.fill_diagonal(S, 1)
    H = Ensemble(labels).one_hot().toarray()
    same = np.repeat(np.eye(labels.shape[1], dtype=bool), Ensemble(labels).n_clusters, axis=0)
    return H @ (S * (same @ same.T))


@pytest.mark.parametrize(("quality", "wanted"), [(False, WCT), (True, WTQ)], ids=["wct", "wtq"])
def test_worked_links(quality, wanted):
    """Of clusters of one partition, as shares of the largest."""
    assert_allclose(naive.label_jaccard(E).sum(axis=1), STRENGTHS, atol=1e-6)
    links, largest = naive.cts(E, decay=1, quality=quality), max(wanted.values())
    expected = np.zeros_like(links)
    for (u, v), link in wanted.items():
        expected[u, v] = expected[v, u] = link / largest
    assert_allclose(links, expected, atol=1e-6)


@pytest.mark.parametrize(("name", "k", "groups", "inertia", "values"), CUTS)
def test_worked_cuts(name, k, groups, inertia, values):
    assert_allclose(refined(E, name)[0], ROW_1[name], atol=1e-6)
    model = make_consensus(f"lce-{name}", k, random_state=0).fit(E)
    assert adjusted_rand_score(model.labels_, partition(groups)) == 1
    assert_allclose(model.normalized_association_, naive.normalized_association(refined(E, name), model.labels_))
    found, U = naive.transfer_cut(refined(E, name), k)
    assert_allclose(found, values, atol=1e-6)
    assert_allclose(naive.loss_of_points(U, model.labels_), inertia, atol=2e-6)


@given(label_matrices(min_objects=3), st.sampled_from(["wct", "wtq"]), st.sampled_from([0.5, 0.8, 1.0]))
def test_the_refined_matrix_is_that_of_the_definition(labels, name, decay):
    """By what it says of the clusters: how much of their weight stays among their own objects."""
    labels = np.vstack([labels, labels.max() + 1 + np.zeros_like(labels[:1])])  # so that there are two clusters
    model = LCE(2, similarity=name, decay=decay, random_state=0).fit(labels)
    labelled = model.labels_ >= 0
    expected = naive.normalized_association(refined(labels, name, decay)[labelled], model.labels_[labelled])
    assert_allclose(model.normalized_association_, expected, atol=1e-9)


@pytest.mark.parametrize("name", ["wct", "wtq"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_clusters_are_a_good_cut_of_the_refined_matrix(name, missing):
    labels = with_equal_rows(planted_labels(n=80, p=6, k=3, noise=0.3, missing=missing, seed=2)[0], 160)
    labels[(labels < 0).all(axis=1)] = 0
    model = make_consensus(f"lce-{name}", 3, random_state=0).fit(labels)
    _, U = naive.transfer_cut(refined(labels, name), 3)
    loss = naive.loss_of_points(U, model.labels_)
    for moved in range(0, 160, 8):
        for c in range(3):
            other = model.labels_.copy()
            other[(labels == labels[moved]).all(axis=1)] = c
            assert loss <= naive.loss_of_points(U, other) + 1e-5


def test_weights_of_partitions_scale_their_blocks():
    labels = random_labels(n=50, p=4, k=3, seed=2)
    w = np.array([1, 3, 1, 2.0])
    model = LCE(3, weights=w, random_state=0).fit(labels)
    _, U = naive.transfer_cut(refined(labels) * np.repeat(w, 3), 3)
    assert naive.loss_of_points(U, model.labels_) <= naive.loss_of_points(U, LCE(3, random_state=0).fit(labels).labels_)


def test_links_are_refused_where_they_do_not_fit():
    with pytest.raises(ValueError, match=r"LCE must fit into max_bytes = 1,000 bytes"):
        LCE(2, max_bytes=1_000).fit(E)
    with pytest.raises(ValueError, match=r"decay of LCE must be a number > 0 and ≤ 1. Got 0"):
        LCE(2, decay=0).fit(E)
    with pytest.raises(ValueError, match=r"n_clusters of LCE must be ≤ the 2 clusters of all partitions. Got 3"):
        LCE(3).fit(np.array([[0, -1], [0, 0], [-1, 0]]))


def test_equal_partitions_have_no_links():
    labels = np.column_stack([np.repeat([0, 1, 2], [5, 4, 3])] * 2)
    assert_array_equal(LCE(3, random_state=0).fit(labels).labels_, labels[:, 0])
