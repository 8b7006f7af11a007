"""Constraints: how many each member violates, and what they do to a ranking."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import label_matrices, planted_labels, random_labels

from ensemblage.ranking import DISCOTEC, AverageAgreement

pytestmark = pytest.mark.filterwarnings("ignore:DISCOTEC needs", "ignore:AverageAgreement cannot score")


@st.composite
def labels_and_pairs(draw):
    labels = draw(label_matrices(min_objects=2, max_objects=15))
    n = len(labels)
    pair = st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True)
    return labels, draw(st.lists(pair, max_size=8)), draw(st.lists(pair, max_size=8))


@given(labels_and_pairs())
def test_violations_follow_the_definition(case):
    labels, must, cannot = case
    ranker = DISCOTEC().fit(labels, must_link=must, cannot_link=cannot)
    expected = [naive.violations(z, must, cannot) for z in labels.T]
    assert_allclose(ranker.violations_, expected)
    assert_allclose(ranker.scores_, DISCOTEC().fit(labels).scores_ + expected)


@given(labels=label_matrices(min_objects=3, max_objects=15), seed=st.integers(0, 99))
def test_known_labels_imply_all_pairs(labels, seed):
    known = np.random.default_rng(seed).integers(-1, 3, size=len(labels))
    known[0] = 0
    i, j = np.triu_indices(len(labels), 1)
    both, same = (known[i] >= 0) & (known[j] >= 0), known[i] == known[j]
    must, cannot = (np.column_stack([i, j])[both & kind] for kind in (same, ~same))
    by_pairs = DISCOTEC().fit(labels, must_link=must, cannot_link=cannot)
    by_labels = DISCOTEC().fit(labels, known_labels=known)
    assert_array_equal(by_labels.violations_, by_pairs.violations_)
    assert_array_equal(by_labels.scores_, by_pairs.scores_)


def test_known_labels_and_pairs_add_up():
    labels = random_labels(30, 4, 3, 0.2)
    known = np.full(30, None, dtype=object)
    known[[3, 5, 9]] = "a", "b", "a"
    both = DISCOTEC().fit(labels, must_link=[[0, 1]], known_labels=known)
    pairs = DISCOTEC().fit(labels, must_link=[[0, 1], [3, 9]], cannot_link=[[3, 5], [9, 5]])
    assert_array_equal(both.violations_, pairs.violations_)


@pytest.mark.parametrize("measure", ["ari", "nmi"])
def test_agreement_less_violations(measure):
    labels = random_labels(50, 5, 3)
    plain, ranker = AverageAgreement(measure).fit(labels), AverageAgreement(measure)
    ranker.fit(labels, must_link=[[0, 1], [2, 3]], cannot_link=[[4, 5]])
    assert_allclose(ranker.scores_, plain.scores_ - ranker.violations_)
    assert_array_equal(plain.violations_, 0)


def test_all_known_labels_put_the_truth_first():
    labels, truth = planted_labels(100, 6, 4, 0.4)
    ranker = DISCOTEC().fit(np.column_stack([labels, truth]), known_labels=truth)
    assert ranker.order_[0] == 6
    assert ranker.violations_[6] == 0


def test_who_is_separated_is_told_in_the_order_with_constraints():
    """Exact scores differ wherever they are not equal; the best by itself comes last."""
    labels = planted_labels(60, 4, 3, 0.3)[0]
    free = DISCOTEC().fit(labels)
    i, j = np.argwhere(labels[:, free.order_[0]] != labels[0, free.order_[0]])[0, 0], 0
    bound = DISCOTEC().fit(labels, must_link=[[i, j]])
    assert bound.order_[0] != free.order_[0]
    assert_array_equal(bound.separated_, np.diff(bound.scores_[bound.order_]) > 0)
    assert bound.separated_.any()


def test_contradictory_constraints_are_counted():
    labels = random_labels(10, 4, 3)
    ranker = DISCOTEC().fit(labels, must_link=[[0, 1]], cannot_link=[[1, 0]])
    assert_array_equal(ranker.violations_, 0.5)


def test_a_member_that_does_not_label_the_pair_violates_nothing():
    labels = np.array([[0, -1, 0], [1, -1, 0], [1, 0, 1], [0, 1, 1]])
    assert DISCOTEC().fit(labels, must_link=[[0, 1]]).violations_.tolist() == [1, 0, 0]


@pytest.mark.parametrize("empty", [None, [], np.empty((0, 2))])
def test_no_constraints(empty):
    labels = random_labels(10, 4, 3)
    assert_array_equal(DISCOTEC().fit(labels, must_link=empty, cannot_link=empty).violations_, 0)


def test_the_constraints_of_fit_count_for_outsiders():
    labels, truth = planted_labels(100, 6, 4, 0.4)
    free, bound = DISCOTEC().fit(labels), DISCOTEC().fit(labels, cannot_link=[[0, 4], [0, 1]])
    assert bound.score_labels(truth) == free.score_labels(truth) + 0.5


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (
            {"must_link": [[0, 10]]},
            r"must_link must be pairs of different objects, numbered from 0 to 9. Got object 10",
        ),
        ({"cannot_link": [[-1, 3]]}, "cannot_link must be .* Got object -1"),
        ({"must_link": [[4, 4]]}, r"Got the pair \(4, 4\)"),
        ({"must_link": [0, 1]}, r"Got int64 of shape \(2,\). Give an array of whole numbers of shape"),
        ({"must_link": [[0.5, 1]]}, "Got float64 of shape"),
        ({"known_labels": [0, 1]}, "known_labels must have one entry for each of the 10 objects. Got 2"),
        ({"known_labels": [-1] * 10}, "nothing but missing labels in 'known_labels'"),
    ],
)
def test_bad_constraints(constraints, message):
    with pytest.raises(ValueError, match=message):
        DISCOTEC().fit(random_labels(10, 4, 3), **constraints)
