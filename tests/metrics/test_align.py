"""Cluster numbers kept from run to run, and two partitions side by side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from representatives import of_families
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from strategies import planted_labels, usual

import ensemblage
from ensemblage import METHODS, ConsensusClustering, make_consensus
from ensemblage.consensus import GreedyKMeansConsensus
from ensemblage.consensus.diagnostics import Dendrogram, Memberships
from ensemblage.metrics import align_labels, compare

X = load_iris().data
NUMBERS = st.integers(-1, 4)


@given(st.lists(NUMBERS, min_size=1, max_size=30).filter(lambda z: max(z) >= 0), st.randoms(use_true_random=False))
def test_renamed_and_permuted(labels, random):
    """Other names and another order of the objects are undone."""
    labels = np.array(labels)
    names = list(range(labels.max() + 1))
    random.shuffle(names)
    renamed = np.append(names, -1)[labels]
    assert_array_equal(align_labels(renamed, labels), labels)
    order = list(range(len(labels)))
    random.shuffle(order)
    ids = [f"object {i}" for i in order]
    found = align_labels(renamed[order], labels, ids=ids, reference_ids=[f"object {i}" for i in range(len(labels))])
    assert_array_equal(found, labels[order])


def test_another_number_of_clusters():
    before = [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert align_labels([1, 1, 1, 0, 0, 0, 2, 2, 3], before).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3]
    assert align_labels([0, 0, 0, 0, 0, 0, 1, 1, 1], before).tolist() == [0, 0, 0, 0, 0, 0, 2, 2, 2]
    assert (
        align_labels([0, 0, 0, 1, 1, 1, -1, -1, -1], [7, 7, 7, 3, 3, 3, 1, 1, 1]).tolist()
        == [7] * 3 + [3] * 3 + [-1] * 3
    )


def test_partly_shared_objects():
    """A cluster of new objects alone gets a number that no old one has."""
    found = align_labels([0, 0, 1, 1, 2], [4, 4, 0], ids=list("abcde"), reference_ids=["c", "d", "x"])
    assert found.tolist() == [5, 5, 4, 4, 6]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"labels": [0, 1], "reference": [0, 1, 1]}, "without ids must be of the same objects. Got 2 and 3"),
        ({"labels": [0, 1], "reference": ["a", "b"]}, "must hold numbers of clusters. Got 'a'"),
        ({"labels": [0, 1], "reference": [0, 1], "ids": ["a", "b"]}, "in both partitions, or in none"),
        (
            {"labels": [0, 1], "reference": [0, 1], "ids": ["a", "a"], "reference_ids": ["a", "b"]},
            "Got 1 different of 2",
        ),
        ({"labels": [0, 1], "reference": [0, 1], "ids": ["a", "b"], "reference_ids": ["c", "d"]}, "none is in both"),
    ],
)
def test_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        align_labels(given.pop("labels"), given.pop("reference"), **given)


def assert_renumbered(model, before, order, labels):
    """All that a model tells is told by other numbers: cluster c is now ``order[c]``."""
    number = np.append(order, -1)
    assert_array_equal(model.labels_, number[before.labels_])
    assert_array_equal(model.runner_up_, number[before.runner_up_])
    assert_array_equal(model.confidence_, before.confidence_)
    assert_array_equal(model.cluster_numbers_, np.arange(model.n_clusters_))
    inverse = np.argsort(order)
    assert_allclose(model.association_shares(labels), before.association_shares(labels)[:, inverse], rtol=1e-12)
    one, two = model.assign(labels), before.assign(labels)
    assert_array_equal(one.confidence, two.confidence)
    if one.by == "predict":
        assert_array_equal(one.labels, number[two.labels])
        assert_array_equal(model.predict(labels), number[before.predict(labels)])
    if hasattr(model, "predict_proba"):
        assert_allclose(model.predict_proba(labels), before.predict_proba(labels)[:, inverse])
    if hasattr(model, "membership_"):
        assert_array_equal(model.membership_[:, : len(order)], before.membership_[:, : len(order)][:, inverse])
    for one, two in zip(model.diagnostics(labels), before.diagnostics(labels), strict=True):
        assert type(one) is type(two)
        if isinstance(one, Dendrogram):
            assert_array_equal(one.clusters, number[two.clusters])
        if isinstance(one, Memberships):
            assert_array_equal(one.clusters, number[two.clusters])
            assert_array_equal(one.membership[:, : len(order)], two.membership[:, : len(order)][:, inverse])


@pytest.mark.core(3)
@pytest.mark.parametrize("name", of_families(METHODS))
def test_every_method(name, tmp_path):
    labels, _ = planted_labels(90, 8, 3, 0.15, seed=1)
    path = tmp_path / "model.npz"
    usual(name, 3).fit(labels).save(path)
    model, before = ensemblage.load(path), ensemblage.load(path)
    k = model.n_clusters_
    order = np.roll(np.arange(k), 1)
    assert model.align(order[before.labels_]) is model
    assert_renumbered(model, before, order, labels)
    model.save(path)
    assert_array_equal(ensemblage.load(path).assign(labels).labels, model.assign(labels).labels)
    model.align(before.labels_)  # and back
    assert_renumbered(model, before, np.arange(k), labels)


def test_models_of_features():
    for model in (ConsensusClustering(3, random_state=0), GreedyKMeansConsensus(3, n_candidates=4, random_state=0)):
        before = model.fit(X).labels_
        predicted = model.predict(X)
        model.align(2 - before)
        assert_array_equal(model.labels_, 2 - before)
        assert_array_equal(model.predict(X), 2 - predicted)
        assert_array_equal(model.fit(X).labels_, before)  # a new fit has its own numbers
        assert model._cluster_numbers is None


def test_clusters_that_came_and_went():
    labels, truth = planted_labels(90, 8, 3, 0.1, seed=1)
    model = make_consensus("km", 3, random_state=0).fit(labels)
    reference = np.array([4, 9, 2])[truth]
    reference[truth == 2] = -1  # of it nothing is known
    model.align(reference)
    assert model.cluster_numbers_.tolist() == [4, 9, 10]
    assert_array_equal(model.cluster_numbers_[model.labels_][truth < 2], np.array([4, 9])[truth[truth < 2]])
    assert sorted(set(model.labels_.tolist())) == [0, 1, 2]
    assert_array_equal(model.predict(labels), model.labels_)


def test_compared():
    first, second = ["a", "a", "a", "b", "b", None], [1, 1, 0, 0, 0, 0]
    found = compare(first, second)
    assert found.table.tolist() == [[1, 2], [2, 0]]
    assert found.matched.tolist() == [1, 0]
    assert found.moved.tolist() == [False, False, True, False, False, True]
    assert found.ari == pytest.approx(adjusted_rand_score([0, 0, 0, 1, 1], [1, 1, 0, 0, 0]))
    again = compare(second, first)
    assert again.ari == pytest.approx(found.ari)
    assert_array_equal(again.moved, found.moved)
    assert_array_equal(again.table, found.table.T)


def test_compared_by_ids():
    found = compare([0, 1, 1], [5, 6, 6, 7], first_ids=["x", "y", "z"], second_ids=["z", "x", "w", "y"])
    assert found.n_objects == (3, 4)
    assert [place.tolist() for place in found.places] == [[0, 1, 2], [1, 3, 0]]
    assert found.clusters[0].tolist() == [0, 1, 1]
    assert found.moved.sum() == 1  # of y and z one is with its cluster
