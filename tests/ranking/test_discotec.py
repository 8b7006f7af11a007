"""DISCOTEC against its definition on the whole n × n grid, and what holds for it at any size."""

import pickle
from itertools import product

import naive
import numpy as np
import pytest
from hypothesis import given
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from representatives import first_of
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import (
    ON_FRACTIONS,
    label_matrices,
    labels_and_clustering,
    planted_labels,
    random_labels,
    with_equal_rows,
)

from ensemblage import Ensemble
from ensemblage.ranking import DISCOTEC

pytestmark = pytest.mark.usefixtures("only_kernels")

DISTANCES = ["binary", "tv", "kl", "hellinger"]
SIX_OBJECTS = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5]]).T
few_members = pytest.mark.filterwarnings("ignore:DISCOTEC needs at least 3 partitions")


@pytest.mark.core(3)
@few_members
@parametrize_with_checks([DISCOTEC()], expected_failed_checks=lambda estimator: ON_FRACTIONS)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


@pytest.fixture(params=DISTANCES)
def distance(request):
    return request.param


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        ("tv", [0.18056, 0.15278, 0.18056, 0.18056]),
        ("hellinger", [0.10775, 0.08742, 0.10775, 0.10775]),
        ("kl", [0.26301, 0.20198, 0.26301, 0.26301]),
        ("binary", [0.05556, 0.05556, 0.22222, 0.27778]),
    ],
)
def test_six_objects(distance, expected):
    ranker = DISCOTEC(distance).fit(SIX_OBJECTS)
    assert_allclose(ranker.scores_, expected, atol=5e-6)
    assert ranker.mean_association_ == pytest.approx(0.3472, abs=5e-5)
    assert not ranker.greater_is_better


@few_members
@given(labels=label_matrices(max_objects=25, max_partitions=6))
def test_scores_follow_the_definition(labels):
    for distance in DISTANCES:
        expected = [naive.discotec(labels, z, distance) for z in labels.T]
        assert_allclose(DISCOTEC(distance).fit(labels).scores_, expected, atol=1e-12)


@pytest.mark.core(3)
@pytest.mark.parametrize("p", [3, 20, 300])
def test_many_chunks_counts_and_members(distance, p, missing):
    labels = with_equal_rows(random_labels(350, p, 5, missing), 450)
    labels[40:90] = labels[40]
    expected = [naive.discotec(labels, z, distance) for z in labels.T[:2]]
    assert_allclose(DISCOTEC(distance).fit(labels).scores_[:2], expected, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("distance", "missing"),
    first_of(sorted(product(DISTANCES, (0.0, 0.3)), key=lambda case: case not in (("binary", 0.3), ("kl", 0.0))), 2),
)
def test_many_clusters(distance, missing):
    labels = random_labels(600, 4, 600, missing)
    expected = naive.discotec(labels, labels[:, 1], distance)
    assert_allclose(DISCOTEC(distance).fit(labels).scores_[1], expected, atol=1e-12)


def test_no_score_is_minus_0():
    """Equal partitions are at distance 0, which a table shows."""
    for distance in ("kl", "hellinger", "tv"):
        scores = DISCOTEC(distance).fit(np.zeros((6, 3), dtype=int)).scores_
        assert not (np.signbit(scores) & (scores == 0)).any()


@given(pair=labels_and_clustering(max_objects=25, max_partitions=6))
@few_members
def test_score_of_an_outsider(pair):
    labels, partition = pair
    for distance in DISTANCES:
        expected = naive.discotec(labels, partition, distance)
        assert_allclose(DISCOTEC(distance).fit(labels).score_labels(partition), expected, atol=1e-12)


def test_a_copy_of_a_member_has_its_score(distance, missing):
    labels = random_labels(120, 6, 4, missing)
    ranker = DISCOTEC(distance).fit(labels)
    for z, score in zip(labels.T, ranker.scores_, strict=True):
        renamed = np.where(z < 0, np.nan, 10.0 - z)
        assert ranker.score_labels(renamed) == score


def test_pairs_at_the_mean_count_as_joined():
    same = np.zeros((5, 3), dtype=int)
    assert_array_equal(DISCOTEC().fit(same).scores_, 0)
    halves = [[0, 0, 0, 0], [0, 0, 1, 1]] * 2  # C is 1/2 or 1; half of the pairs are 1/2 below the mean of 3/4
    labels = np.column_stack([*halves, [0, 1, 2, 3]])
    assert_allclose(DISCOTEC().fit(labels).scores_, [naive.discotec(labels, z) for z in labels.T], atol=1e-15)
    # 3 of 4 join every pair of different objects, the 4th none: with the diagonal the mean is above 3/4, so Q = I
    labels = np.column_stack([np.zeros((3, 4), dtype=int)[:, :3], [0, 1, 2]])
    assert_allclose(DISCOTEC().fit(labels).scores_, [2 / 3, 2 / 3, 2 / 3, 0])


@few_members
@given(labels=label_matrices(max_objects=25, max_partitions=4))
def test_renamed_copies_tie_exactly(labels):
    p = labels.shape[1]
    for distance in DISTANCES:
        ranker = DISCOTEC(distance).fit(np.column_stack([labels, np.where(labels < 0, -1, 10 - labels)]))
        assert_array_equal(ranker.scores_[:p], ranker.scores_[p:])
        assert_array_equal(ranker.ranks_[:p], ranker.ranks_[p:])


@pytest.mark.core(3)
@pytest.mark.parametrize("max_pairs", [10**10, 0])
def test_nothing_depends_on_threads_rows_or_blocks(distance, missing, max_pairs, monkeypatch):
    labels = with_equal_rows(random_labels(150, 6, 5, missing, seed=3), 400)
    options = {"max_pairs": max_pairs, "n_sampled_pairs": 100_000, "random_state": 5}
    expected = DISCOTEC(distance, n_jobs=1, **options).fit(labels)
    limit(monkeypatch, "objects of a task of pairs", 7)
    permuted = np.random.default_rng(0).permutation(labels)
    for other, n_jobs in [(labels, 2), (permuted, -1)]:
        ranker = DISCOTEC(distance, n_jobs=n_jobs, **options).fit(other)
        assert_array_equal(ranker.scores_, expected.scores_)
        assert_array_equal(ranker.standard_errors_, expected.standard_errors_)


def test_exact_scores_have_no_error():
    ranker = DISCOTEC().fit(SIX_OBJECTS)
    assert_array_equal(ranker.standard_errors_, 0)
    assert ranker.separated_.tolist() == [False, True, True]


@pytest.mark.core(3)
def test_random_pairs_come_close(distance, missing):
    labels = planted_labels(200, 6, 4, 0.3, missing)[0]
    exact = DISCOTEC(distance).fit(labels)
    ranker = DISCOTEC(distance, max_pairs=0, n_sampled_pairs=200_000, random_state=0).fit(labels)
    if distance == "tv" and not missing:
        assert_array_equal(ranker.scores_, exact.scores_)
        assert_array_equal(ranker.standard_errors_, 0)
        return
    deviations = (ranker.scores_ - exact.scores_) / ranker.standard_errors_
    assert (ranker.standard_errors_ > 0).all()
    assert np.abs(deviations).max() < 4


def test_standard_errors_are_those_of_repeated_draws():
    labels = planted_labels(60, 5, 3, 0.3, 0.2)[0]
    runs = [DISCOTEC("kl", max_pairs=0, n_sampled_pairs=500, random_state=s).fit(labels) for s in range(200)]
    spread = np.std([run.scores_ for run in runs], axis=0)
    assert_allclose(np.mean([run.standard_errors_ for run in runs], axis=0), spread, rtol=0.2)


def test_copies_are_not_separated_and_opposites_are():
    truth = np.arange(300) % 3
    noise = np.random.default_rng(0).integers(3, size=300)
    ranker = DISCOTEC(max_pairs=0, n_sampled_pairs=50_000, random_state=0)
    ranker.fit(np.column_stack([truth, truth, 2 - truth, noise]))
    assert ranker.order_.tolist() == [0, 1, 2, 3]
    assert ranker.separated_.tolist() == [False, False, True]


def test_sums_of_several_blocks_of_random_pairs(monkeypatch):
    labels = planted_labels(100, 4, 3, 0.3)[0]
    limit(monkeypatch, "pairs drawn at once", 1_000)
    ranker = DISCOTEC(max_pairs=0, n_sampled_pairs=20_500, random_state=0).fit(labels)
    assert np.abs(ranker.scores_ - DISCOTEC().fit(labels).scores_).max() < 0.02


def test_the_last_block_of_random_pairs_is_what_is_left(monkeypatch):
    """One pair more than a block: a mean of 0s and 1s moves by 1 / 1,001 at most, errors as little."""
    labels = planted_labels(100, 4, 3, 0.3)[0]
    limit(monkeypatch, "pairs drawn at once", 1_000)
    one, two = (DISCOTEC(max_pairs=0, n_sampled_pairs=n, random_state=0).fit(labels) for n in (1_000, 1_001))
    for ranker, n in ((one, 1_000), (two, 1_001)):  # so many pairs, neither more nor fewer
        assert_allclose(n * ranker.scores_, np.rint(n * ranker.scores_), atol=1e-9)
    assert np.abs(one.scores_ - two.scores_).max() <= 1 / 1_001
    assert_allclose(two.standard_errors_, one.standard_errors_, rtol=0.01)


def test_an_outsider_by_random_pairs(distance, missing):
    """A copy of a member is compared on the pairs that the member was compared on."""
    labels = random_labels(120, 6, 4, missing)
    ranker = DISCOTEC(distance, max_pairs=0, n_sampled_pairs=5_000, random_state=0).fit(labels)
    for z, score in zip(labels.T, ranker.scores_, strict=True):
        assert ranker.score_labels(z) == score


def test_what_differs_on_few_pairs_is_told_apart_by_the_same_pairs():
    """Two members alike but for one object: their distances go up and down together from pair to pair."""
    labels, truth = planted_labels(300, 6, 3, 0.4)
    worse = truth.copy()
    worse[0] = (worse[0] + 1) % 3
    ranker = DISCOTEC("tv", max_pairs=0, n_sampled_pairs=20_000, random_state=0)
    labels[0, 0] = -1  # else "tv" is exact
    ranker.fit(np.column_stack([labels, truth, worse]))
    assert ranker.order_[:2].tolist() == [6, 7]
    assert ranker.scores_[7] - ranker.scores_[6] < ranker.standard_errors_.min()
    assert ranker.separated_[0]


def test_random_state_is_the_seed():
    labels = planted_labels(100, 4, 3, 0.3)[0]
    options = {"max_pairs": 0, "n_sampled_pairs": 1000}
    first, again, other = (DISCOTEC(**options, random_state=s).fit(labels).scores_ for s in (0, 0, 1))
    assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("p", [1, 2])
def test_few_members_warn(p):
    with pytest.warns(UserWarning, match=f"at least 3 partitions to find a consensus. Got {p}"):
        DISCOTEC().fit(SIX_OBJECTS[:, :p])


def test_two_members_are_equally_far(distance):
    with pytest.warns(UserWarning, match="at least 3"):
        scores = DISCOTEC(distance).fit(random_labels(40, 2, 3)).scores_
    assert distance == "binary" or scores[0] == pytest.approx(scores[1])


@pytest.mark.parametrize("max_pairs", [10**10, 0])
def test_kl_of_what_no_member_says_is_infinite(max_pairs):
    ranker = DISCOTEC("kl", max_pairs=max_pairs, n_sampled_pairs=1_000, random_state=0).fit(SIX_OBJECTS)
    assert np.isfinite(ranker.scores_).all()
    assert ranker.score_labels([0, 0, 0, 0, 0, 1]) == np.inf
    assert np.isfinite(DISCOTEC("kl").fit(SIX_OBJECTS[:, :3]).score_labels([0, 0, 0, 1, 1, 1]))


def test_pickle_and_a_consensus_beside_the_members():
    labels, truth = planted_labels(200, 8, 4, 0.3)
    ranker = pickle.loads(pickle.dumps(DISCOTEC().fit(labels)))
    assert ranker.score_labels(truth) < ranker.scores_.min()
    assert Ensemble(labels).select(ranker.order_[:3]).shape == (200, 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"measure": "euclid"}, r"measure of DISCOTEC must be one of 'binary', .* Got 'euclid'"),
        ({"max_pairs": -1}, "max_pairs of DISCOTEC must be a whole number ≥ 0. Got -1"),
        ({"n_sampled_pairs": 1}, "n_sampled_pairs of DISCOTEC must be a whole number from 2 to 1,000,000,000"),
        ({"n_jobs": 0}, "n_jobs of DISCOTEC must be"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        DISCOTEC(**parameters).fit(SIX_OBJECTS)


def test_bad_outsiders():
    ranker = DISCOTEC().fit(SIX_OBJECTS)
    with pytest.raises(ValueError, match=r"one entry for each of the 6 objects of the ensemble. Got 5"):
        ranker.score_labels([0, 0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"must label at least one object.*'labels'"):
        ranker.score_labels([-1] * 6)
