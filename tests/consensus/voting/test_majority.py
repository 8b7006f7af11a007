"""Majority voting after relabelling."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from limits import limit
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, random_labels

from ensemblage import Ensemble
from ensemblage.consensus import MajorityVoting


def test_renamed_partitions_agree():
    labels, truth = planted_labels(n=200, p=9, k=4, noise=0.3, seed=1)
    model = MajorityVoting(4).fit(labels)
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    assert adjusted_rand_score(MajorityVoting().fit(labels).labels_, model.labels_) == 1


def test_an_object_goes_where_most_partitions_put_it():
    reference = np.repeat([0, 1], [4, 3])
    moved = 1 - reference
    moved[0] = 0  # with the others of its former cluster renamed to 1
    stays = MajorityVoting(2).fit(np.column_stack([reference, reference, moved]))
    goes = MajorityVoting(2).fit(np.column_stack([reference, moved, moved]))
    assert stays.labels_[0] == stays.labels_[1] != stays.labels_[4]
    assert goes.labels_[0] == goes.labels_[4] != goes.labels_[1]


def test_weights_count():
    reference = np.repeat([0, 1], [4, 3])
    moved = reference.copy()
    moved[0] = 1
    labels = np.column_stack([reference, moved, moved])
    assert_array_equal(np.bincount(MajorityVoting(2).fit(labels).labels_), [4, 3])
    heard = MajorityVoting(2, weights=[3, 1, 1]).fit(labels)
    assert_array_equal(heard.labels_, reference)
    assert MajorityVoting(2, weights=[0, 1, 1]).fit(labels).reference_ == 1


def test_the_reference_has_enough_clusters():
    truth = np.arange(24) % 3
    labels = np.column_stack([np.arange(24) % 6, truth, np.zeros(24, dtype=int), truth])
    assert MajorityVoting(3).fit(labels).reference_ == 1
    assert MajorityVoting(4).fit(labels).reference_ == 0
    assert_array_equal(MajorityVoting(3).fit(labels).labels_, truth)


def with_giants(seed, n=240, k=4, clusters_of_good=4):
    """Noisy partitions into the true clusters or parts of them, and three with nearly all objects in one cluster."""
    labels, truth = planted_labels(n=n, p=9, k=k, noise=0.35, seed=seed)
    rng = np.random.default_rng(seed)
    labels = labels * (clusters_of_good // k) + rng.integers(clusters_of_good // k, size=labels.shape)
    giants = np.zeros((n, 3), dtype=int)
    for column in giants.T:
        column[rng.choice(n, k - 1, replace=False)] = np.arange(1, k)
    return np.column_stack([giants, labels]), truth


def medoid(labels, weights, k):
    """The partition with at least k clusters and the largest mean adjusted Rand index with all, where both label."""

    def agreement(a, b):
        both = (a >= 0) & (b >= 0)
        return adjusted_rand_score(a[both], b[both])

    mean = [np.average([agreement(a, b) for b in labels.T], weights=weights) for a in labels.T]
    enough = [len(np.unique(z[z >= 0])) >= k for z in labels.T]
    return int(np.argmax(np.where(enough, mean, -np.inf)))


def test_giant_clusters_do_not_lead():
    for seed in range(6):
        labels, truth = with_giants(seed)
        model = MajorityVoting(4).fit(labels)
        assert model.reference_ == medoid(labels, np.ones(12), 4) > 2
        assert adjusted_rand_score(truth, model.labels_) > np.mean([adjusted_rand_score(truth, z) for z in labels.T])


@pytest.mark.slow
def test_giant_clusters_do_not_lead_those_with_more_clusters():
    for seed in range(6):
        labels = with_giants(seed, clusters_of_good=8)[0]
        assert MajorityVoting(4).fit(labels).reference_ == medoid(labels, np.ones(12), 4) > 2


def test_the_reference_is_the_medoid(missing):
    for seed in range(6):
        labels = random_labels(n=40, p=6, k=4, missing=missing, seed=seed)
        weights = np.random.default_rng(seed).integers(1, 5, size=6)
        assert MajorityVoting(3).fit(labels).reference_ == medoid(labels, np.ones(6), 3)
        assert MajorityVoting(3, weights=weights).fit(labels).reference_ == medoid(labels, weights, 3)
        assert MajorityVoting(weights=weights).fit(labels).reference_ == medoid(labels, weights, 1)


def test_weights_decide_on_the_reference():
    a, b = planted_labels(n=60, p=2, k=3, noise=0.4, seed=0)[0].T
    labels = np.column_stack([a, a, a, b, b])
    assert MajorityVoting(3).fit(labels).reference_ == 0
    assert MajorityVoting(3, weights=[1, 1, 1, 2, 2]).fit(labels).reference_ == 3


def test_clusters_left_over_join_the_one_they_overlap():
    reference = np.repeat([0, 1], [6, 4])
    finer = np.array([0, 0, 0, 2, 2, 2, 1, 1, 1, 1])
    model = MajorityVoting(2).fit(np.column_stack([reference, finer, finer]))
    assert_array_equal(model.labels_, reference)


@given(label_matrices(min_objects=3), st.integers(1, 4))
def test_never_more_clusters_than_asked(labels, k):
    ensemble = Ensemble(labels)
    n_rows = len(np.unique(labels[(labels >= 0).any(axis=1)], axis=0))
    assume(k <= min(n_rows, ensemble.n_clusters.max()))
    model = MajorityVoting(k).fit(ensemble)
    assert 1 <= model.n_clusters_ <= k
    assert_array_equal(model.labels_ < 0, (labels < 0).all(axis=1))


def test_a_table_that_is_too_large_is_refused(monkeypatch):
    """Labels of all partitions, and one for missing in each, by those of the reference."""
    labels = [[0, 0], [0, 1], [1, 0], [1, 1]]
    limit(monkeypatch, "cells of the tables of voting", 18)
    assert MajorityVoting(2).fit(labels).n_clusters_ == 2
    limit(monkeypatch, "cells of the tables of voting", 17)
    with pytest.raises(
        ValueError, match=r"Voting must keep its contingency tables below 17 cells\. Got 18\. Leave out"
    ):
        MajorityVoting(2).fit(labels)


def test_refuses():
    labels = [[0, 0], [0, 1], [1, 0], [1, 1]]
    with pytest.raises(ValueError, match=r"must be ≤ the 2 clusters of the partition with the most\. Got 3"):
        MajorityVoting(3).fit(labels)
