"""ECPCS-HC and ECPCS-MC: clusters that are similar by random walks over all clusters."""

import naive
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, with_equal_rows
from worked import E_MISSING, E, partition

from ensemblage import Ensemble, make_consensus
from ensemblage.consensus import MCLA, EvidenceAccumulation

ONE_STEP = [1, 0.285811, 0, 0.546870, 0.277511, 0.054148, 0.671184, 0.564495, 0.068795, 0.054148, 0.589028, 0.038906]
TWENTY = [
    1,
    0.812422,
    0.627653,
    0.936381,
    0.840633,
    0.656113,
    0.948573,
    0.934652,
    0.734090,
    0.656113,
    0.949236,
    0.710553,
]
ROW_1 = [1, 1, 0.984471, 0.939799, 0.892905, 0.779025, 0.779025, 0.667732, 0.667732, 0.764535]
META_2 = [0, 1, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1]
"""Which of the 12 clusters of E are with the first one where two meta-clusters are cut."""


def test_worked_similarities():
    Z = naive.ecpcs(E)
    assert_allclose(Z[0], TWENTY, atol=1e-6)
    assert_allclose(Z[5, 9], 0.900562, atol=1e-6)  # equal clusters
    assert_allclose(naive.enhanced_association(E, Z)[0], ROW_1, atol=1e-6)
    assert_allclose(naive.ecpcs(E, steps=1)[0], ONE_STEP, atol=1e-6)


def assert_similarities_are_those_of_the_definition(labels):
    """By the heights of single linkage, which no tie changes."""
    expected = 1 - naive.enhanced_association(labels, np.clip(naive.ecpcs(labels), 0, 1))
    model = EvidenceAccumulation(1, linkage="single", similarity="ecpcs").fit(labels)
    assert_allclose(model.linkage_matrix_[:, 2], linkage(squareform(expected, checks=False), "single")[:, 2], atol=1e-9)


@given(label_matrices(min_objects=2))
def test_similarities_are_those_of_the_definition(labels):
    assert_similarities_are_those_of_the_definition(labels)


def test_worked_similarities_are_found():
    assert_similarities_are_those_of_the_definition(E)
    assert_similarities_are_those_of_the_definition(E_MISSING)


def test_worked_jaccard_of_missing_labels():
    jaccard = naive.label_jaccard(E_MISSING)
    assert_allclose(jaccard[3, 6], 1)  # {1, 2, 3} and {1, 2}: object 3 has no label in the third partition
    assert_allclose(jaccard[1, 4], 3 / 4)  # {5, 6, 7} and {4, 5, 6, 7}


@pytest.mark.parametrize(("k", "groups"), [(2, "1-5 6-10"), (3, "1-5 6,7 8-10"), (4, "1-5 6,7 8,9 10")])
def test_worked_hc(k, groups):
    model = make_consensus("ecpcs-hc", k).fit(E)
    assert isinstance(model, EvidenceAccumulation)
    assert adjusted_rand_score(model.labels_, partition(groups)) == 1


@pytest.mark.parametrize(("k", "groups"), [(2, "1-5 6-10"), (3, "1-4 5-7 8-10")])
@pytest.mark.parametrize("seed", range(5))
def test_worked_mc(k, groups, seed):
    model = make_consensus("ecpcs-mc", k, random_state=seed).fit(E)
    assert adjusted_rand_score(model.labels_, partition(groups)) == 1
    found = np.concatenate(model.meta_clusters_)
    if k == 2:
        assert_array_equal(found != found[0], META_2)
    else:  # the last cluster may go either way, as in the authors' code, and here the eighth
        assert_array_equal(found[[0, 3, 6]], found[10])
        assert_array_equal(found[[1, 4]], found[8])
        assert_array_equal(found[[2]], found[[5]])
        assert_array_equal(found[[2]], found[[9]])
        assert len(np.unique(found)) == 3
        assert found[11] in (found[1], found[2])
        assert found[7] in (found[0], found[1])


def test_worked_eigenvalues():
    found = np.linalg.eigvalsh(naive.random_walk(naive.ecpcs(E)))[::-1]
    assert_allclose(found[:4], [0.954381, 0.165660, 0.069208, 0.056233], atol=1e-6)


def test_objects_go_to_the_part_whose_clusters_they_are_in_most_of_all():
    labels = with_equal_rows(planted_labels(n=150, p=8, k=4, noise=0.3, missing=0.15, seed=1)[0], 300)
    labels[(labels < 0).all(axis=1)] = 0
    w = np.array([1, 2, 1, 1, 3, 1, 1, 1.0])
    model = make_consensus("ecpcs-mc", 4, random_state=0, weights=w).fit(labels)
    H = Ensemble(labels).one_hot().toarray()
    parts, votes = np.concatenate(model.meta_clusters_), np.repeat(w, Ensemble(labels).n_clusters)
    sizes = [H[:, parts == part].sum() for part in range(parts.max() + 1)]
    assert (np.diff(sizes) <= 0).all()  # so that the first of equals is the largest
    scores = np.array([H[:, parts == part] @ votes[parts == part] / votes[parts == part].sum() for part in range(4)])
    chosen = scores.argmax(axis=0)
    assert adjusted_rand_score(model.labels_, chosen) == 1


def test_walks_see_what_an_overlap_does_not():
    """Clusters 0 and 1 of the first partition are one in the others: their Jaccard similarity is 0, Z is not."""
    labels = np.array([[0, 0, 0]] * 5 + [[1, 0, 0]] * 5 + [[2, 1, 1]] * 10)
    Z = naive.ecpcs(labels)
    assert Z[0, 1] > 0.5
    assert Z[0, 2] < 1e-9
    model = make_consensus("ecpcs-mc", 2, random_state=0).fit(labels)
    assert_array_equal(model.labels_, np.repeat([0, 1], 10))


def test_clusters_without_neighbours_are_similar_to_none():
    labels = np.array([[0, -1], [0, -1], [1, 0], [1, 0], [2, 1], [2, 1]])
    assert_array_equal(naive.ecpcs(labels)[0], np.zeros(5))
    model = make_consensus("ecpcs-mc", 3, random_state=0).fit(labels)
    assert_array_equal(model.labels_[1:] == model.labels_[:-1], [True, False, True, False, True])


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"MCLA must fit into max_bytes = 1,000 bytes"):
        MCLA(2, similarity="ecpcs", partitioner="spectral", max_bytes=1_000).fit(E)
    with pytest.raises(ValueError, match=r"similarity of MCLA must be one of 'jaccard', 'ecpcs'"):
        MCLA(2, similarity="cts").fit(E)
    with pytest.raises(ValueError, match=r"n_clusters of MCLA must be ≤ the 2 clusters of all partitions"):
        make_consensus("ecpcs-mc", 3).fit(np.array([[0, -1], [0, 0], [-1, 0]]))
