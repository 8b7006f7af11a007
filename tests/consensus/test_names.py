"""Neither names of labels nor copies decide between equally good hierarchies; nor does the order of the objects."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from inside import numbered_by_content
from limits import limit
from representatives import of_families
from strategies import label_matrices, planted_labels, random_labels, usual, with_equal_rows

from ensemblage import METHODS
from ensemblage.consensus import PTA, EvidenceAccumulation

HIERARCHIES = sorted(n for n, method in METHODS.items() if issubclass(method.estimator, EvidenceAccumulation | PTA))
DETERMINISTIC = sorted({*HIERARCHIES, *(n for n in METHODS if "random_state" not in usual(n, 2).get_params())})
"""Those whose result no seed changes, as long as no threshold is drawn."""
PATH = np.array([[2, 1], [1, 0], [0, 1], [0, 0]])
"""Each object shares a label with the next one, and what is read backwards is the same."""


def renamed(labels, random):
    names = [random.sample(range(9), 9) for _ in labels.T]
    return np.column_stack([np.where(z < 0, -1, np.take(new, z)) for z, new in zip(labels.T, names, strict=True)])


def same_partition(found, other):
    return len(set(zip(found.tolist(), other.tolist(), strict=True))) == len(set(found)) == len(set(other))


def are_symmetric(labels, found, other):
    """Whether an exchange of objects that changes no partition of the ensemble, but for names, takes one to the other.

    Objects are matched one after the other. Of a symmetry nothing is said where an object has no label.
    """
    n = len(labels)
    joined = (labels[:, None] == labels) & (labels >= 0)[:, None]
    known, together, others = labels >= 0, found[:, None] == found, other[:, None] == other

    def match(image):
        i = len(image)
        if i == n:
            return True
        for c in set(range(n)) - set(image):
            fits = (known[c] == known[i]).all() and (joined[c, image] == joined[i, :i]).all()
            if fits and (others[c, image] == together[i, :i]).all() and match([*image, c]):
                return True
        return False

    return match([])


def fitted(name, k, labels, **parameters):
    return usual(name, k, **parameters).fit(labels)


def number_of(labels, random):
    """A number of clusters that all methods can make."""
    return random.randint(1, min(len(np.unique(labels, axis=0)), max(len(np.unique(z[z >= 0])) for z in labels.T)))


@pytest.mark.parametrize("name", of_families(DETERMINISTIC))
@given(
    label_matrices(min_objects=2, max_objects=8, max_clusters=3, min_partitions=2), st.randoms(use_true_random=False)
)
def test_names_of_labels_do_not_matter(name, labels, random):
    """The clusters are the same, or those that a symmetry of the ensemble makes of them."""
    labels = labels[(labels >= 0).any(axis=1)]
    assume(len(np.unique(labels, axis=0)) > 1)
    k = number_of(labels, random)
    found, other = (fitted(name, k, given).labels_ for given in (labels, renamed(labels, random)))
    assert same_partition(found, other) or are_symmetric(labels, found, other)


@pytest.mark.parametrize("name", of_families(HIERARCHIES))
@pytest.mark.parametrize("make", [planted_labels, lambda **a: (random_labels(**a), None)], ids=["planted", "random"])
def test_whole_hierarchies_of_other_names(name, make, missing):
    """To the last bit, where no two labels are alike."""
    rng = np.random.default_rng(0)
    labels = with_equal_rows(make(n=40, p=6, k=4, missing=missing, seed=3)[0], 60)
    other = np.column_stack([np.where(z < 0, -1, rng.permutation(4)[z]) for z in labels.T])
    weights = rng.choice([0.3, 0.7, 1.0], size=6)
    for parameters in ({}, {"weights": weights}):
        one, two = fitted(name, 3, labels, **parameters), fitted(name, 3, other, **parameters)
        np.testing.assert_array_equal(one.linkage_matrix_, two.linkage_matrix_)
        assert same_partition(one.labels_, two.labels_)


@pytest.mark.parametrize("linkage", ["single", "average", "complete"])
def test_backwards(linkage):
    """No rule without names tells the two ends apart: the other name of each is that of the other end."""
    other = PATH.copy()
    other[:, 0] = 2 - other[:, 0]
    found, backwards = (EvidenceAccumulation(2, linkage=linkage).fit(labels).labels_ for labels in (PATH, other))
    assert same_partition(found, backwards) or same_partition(found, backwards[[1, 0, 3, 2]])
    assert are_symmetric(PATH, found, backwards)
    assert not are_symmetric(PATH, np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]))


@pytest.mark.parametrize("linkage", ["single", "average", "complete"])
def test_ties_go_by_the_sizes_of_labels(linkage):
    """All pairs of these rows are as similar as another: the largest labels come first, whatever they are called."""
    labels = np.repeat([["c", "c"], ["b", "b"], ["a", "a"]], [4, 3, 2], axis=0)
    found = EvidenceAccumulation(2, linkage=linkage).fit(labels)
    np.testing.assert_array_equal(found.labels_, [0] * 7 + [1] * 2)


@pytest.mark.parametrize("distinct", [True, False])
def test_given_weights_of_clusters_stay_with_them(distinct):
    labels, _ = planted_labels(n=30, p=4, k=3, noise=0.3, seed=1)
    local = [np.array([0.2, 0.5, 0.9])] * 4
    order = [np.random.default_rng(j).permutation(3) for j in range(4)]
    other = np.column_stack([new[z] for z, new in zip(labels.T, order, strict=True)])
    of_other = [weights[np.argsort(new)] for weights, new in zip(local, order, strict=True)]
    one = EvidenceAccumulation(3, cluster_weights=local, distinct=distinct).fit(labels)
    two = EvidenceAccumulation(3, cluster_weights=of_other, distinct=distinct).fit(other)
    np.testing.assert_array_equal(one.linkage_matrix_, two.linkage_matrix_)


@given(label_matrices(min_objects=4, max_objects=9), st.randoms(use_true_random=False))
def test_links_with_other_names(labels, random):
    """Of units the rows stay together, and those that are kept apart."""
    labels = labels[(labels >= 0).any(axis=1)]
    assume(len(labels) > 3)
    links = {"must_link": [[0, 1]], "cannot_link": [[1, 2]]}
    one, two = (EvidenceAccumulation().fit(given, **links) for given in (labels, renamed(labels, random)))
    for model in (one, two):
        assert model.labels_[0] == model.labels_[1] != model.labels_[2]
    np.testing.assert_allclose(sorted(one.linkage_matrix_[:3, 2]), sorted(two.linkage_matrix_[:3, 2]), atol=1e-12)


def test_many_rows_are_ordered_as_few(monkeypatch):
    labels = np.unique(random_labels(n=300, p=30, k=5, missing=0.1, seed=1), axis=0)
    counts = np.arange(1, len(labels) + 1)
    few = numbered_by_content(labels, counts)
    limit(monkeypatch, "operations that NumPy does", -1)
    np.testing.assert_array_equal(numbered_by_content(labels, counts), few)


def test_many_labels_alike_are_soon_ordered():
    """A column of ids: the names decide in all of it at once, after the first few."""
    labels = np.column_stack([np.arange(600) % 2, np.arange(600)[::-1]])
    assert fitted("eac-single", 2, labels).labels_.tolist() == [0, 1] * 300
