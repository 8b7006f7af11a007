"""Cells of values that many objects share: limits of what is measured and round numbers are no modes."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

import ensemblage
from ensemblage.stability import merge_unsupported
from ensemblage.stability._dip import (
    are_frequent,
    cells_of,
    has_limits,
    limits_sentence,
    shared_values,
    spread_over_cells,
    unimodality_p_value,
)


def shared(values):
    return shared_values(*np.unique(values, return_counts=True))


def cells(values):
    """By value where its cell begins and ends."""
    distinct, counts = np.unique(values, return_counts=True)
    lower, upper, *_ = cells_of(distinct, counts, shared(values))
    return {value: (a, b) for value, a, b in zip(distinct, lower, upper, strict=True)}


def test_a_limit_is_frequent_and_more_so_than_the_value_beside():
    assert shared(np.repeat([0.0, 1, 2, 3], [9, 8, 9, 8]))[:2] == (True, False)
    assert shared(np.repeat([0.0, 1, 2, 3], [8, 9, 8, 9]))[:2] == (False, True)
    few = np.r_[np.zeros(5), np.arange(1, 100)]  # of 104 objects up to √104 / 2 = 5.1 may share a value
    assert not has_limits(few)
    assert has_limits(np.r_[few, 0.0])
    assert not has_limits(np.repeat([0.0, 1], [90, 10]))  # yes and no have none
    assert not has_limits(np.ones(50))


def test_frequent_values_and_their_sentence():
    assert are_frequent(np.array([5, 6, 89])).tolist() == [False, True, True]  # more than √100 / 2
    assert limits_sentence(0, "feature") == ""
    assert limits_sentence(2, "feature") == (
        "2 features have values that many objects share, such as limits of what was measured. In the tests they stand "
        "for ranges of values."
    )


def test_a_pile_inside_has_three_times_the_objects_of_the_values_beside():
    assert shared(np.repeat([0, 1, 2, 3.0], [6, 6, 20, 6])).piles.tolist() == [2]
    assert not len(shared(np.repeat([0, 1, 2, 3.0], [6, 6, 18, 6])).piles)


def test_the_cell_of_a_value_reaches_half_way_to_the_next():
    assert cells(np.repeat([0.0, 1, 4], [5, 9, 5])) == {0: (-0.5, 0.5), 1: (0.5, 2.5), 4: (2.5, 5.5)}


def test_the_cell_of_a_limit_reaches_twice_as_far_beyond_as_equally_many_others_on_this_side():
    values = np.r_[np.full(30, 2.0), np.arange(5.0, 105)]
    assert cells(values)[2] == (2 - 64, 4.5)  # the 30 nearest others lie up to 34
    assert cells(values)[5] == (4.5, 5.5)
    assert cells(-values)[-2] == (-4.5, -2 + 64)
    assert cells(np.r_[np.full(90, 0.0), np.arange(1.0, 11)])[0] == (-20, 0.5)  # all others


def test_round_numbers_reach_half_a_step_of_them():
    values = np.r_[np.arange(-25, 26), np.repeat([-20, -10, 0, 20], 15)].astype(float)
    found = cells(values)
    for round_number in (-20, -10, 0, 20):
        assert found[round_number] == (round_number - 5, round_number + 5)
    assert found[7] == (6.5, 7.5)
    assert has_limits(values)


def test_one_pile_inside_is_no_round_number():
    values = np.r_[np.arange(50), np.full(20, 30)].astype(float)
    assert shared(values).piles.tolist() == [30]
    assert cells(values)[30] == (29.5, 30.5)
    assert not has_limits(values)
    on_no_grid = np.r_[values, np.repeat([11.0, 20], 20)]
    assert not has_limits(on_no_grid)
    assert shared(on_no_grid).step == 0
    assert cells(on_no_grid)[20] == (19.5, 20.5)


def test_three_values_may_have_a_limit_and_three_piles_are_round_numbers():
    assert shared(np.repeat([0.0, 1, 2], [30, 10, 20]))[:2] == (True, True)
    values = np.r_[np.arange(-15, 16), np.repeat([-10, 0, 10], 15)].astype(float)
    assert shared(values).step == 10
    assert not shared(values[values < 5]).step  # two are on any grid


def test_objects_of_a_value_are_spread_evenly_over_its_cell():
    found = spread_over_cells(np.array([1.0, 0, 2, 1, 0, 1, 4]))
    np.testing.assert_allclose(np.sort(found), [-0.25, 0.25, 0.5 + 1 / 6, 1, 1.5 - 1 / 6, 2.25, 4])


def test_the_density_of_a_limit_falls_evenly_to_zero():
    values = np.r_[np.full(100, 0.0), np.linspace(1, 2, 200)]
    begins, ends = cells(values)[0]
    below = np.sort(spread_over_cells(values))[:100]
    share = (np.arange(100) + 0.5) / 100
    np.testing.assert_allclose(((below - begins) / (ends - begins)) ** 2, share)
    np.testing.assert_allclose(np.sort(spread_over_cells(-values))[::-1], -np.sort(spread_over_cells(values)))


LIMITED = {
    "floor": lambda x: np.maximum(x, np.quantile(x, 0.2)),
    "ceiling": lambda x: np.minimum(x, np.quantile(x, 0.8)),
    "both": lambda x: np.clip(x, *np.quantile(x, [0.1, 0.9])),
    "most below": lambda x: np.maximum(x, np.quantile(x, 0.8)),
    "tens": lambda x: np.where(np.arange(len(x)) % 3 == 0, (20 * x).round(-1), (20 * x).round()),
}


@pytest.mark.core(3)
@pytest.mark.parametrize("kind", LIMITED)
@pytest.mark.parametrize("n", [50, 400])
def test_the_only_feature_at_a_limit_is_one_cloud(kind, n):
    """The pile alone is no cluster, and no difference between clusters."""
    n_left, p = [], []
    for seed in range(6):
        x = LIMITED[kind](np.random.default_rng(seed).exponential(size=n))
        X = x[:, None] / x.std()
        labels = KMeans(3, n_init=2, random_state=seed).fit_predict(X)
        n_left.append(len(merge_unsupported(labels, X, random_state=seed).groups))
        found = ensemblage.profile(labels, X, selective=True, max_depth=0).selective
        p += [row.p_value for row in found.table]
    assert sum(k > 1 for k in n_left) <= 1
    assert sum(value <= 0.05 for value in p) <= 2


def test_clusters_with_a_limit_stay():
    x = np.random.default_rng(0).normal(size=400)
    x[200:] += 5
    x = np.maximum(x, -0.5)
    labels = np.repeat([0, 1], 200)
    merged = merge_unsupported(labels, x[:, None], random_state=0)
    assert len(merged.groups) == 2
    assert merged.support.note == (
        "1 feature has a value that many objects share, such as a limit of what was measured. In the tests it stands "
        "for a range of values."
    )
    found = ensemblage.profile(labels, x[:, None], selective=True).selective
    assert [row.variable for row in found.markers] == ["x0", "x0"]
    assert found.spread == ["x0"]
    assert "1 variable has a value that many objects share" in found.sentence
    assert unimodality_p_value(spread_over_cells(x)) == found.table[0].p_value


def test_clusters_that_are_off_in_several_features_stay():
    """Their values are all at the floor; by one feature alone they may be the tail of the others, as is documented."""
    random, labels = np.random.default_rng(0), np.repeat([0, 1], 100)
    X = random.normal(5, 1, size=(200, 6))
    X[:100, :3] = X[100:, 3:] = 0
    assert len(merge_unsupported(labels, X, random_state=0).groups) == 2
    assert len(merge_unsupported(labels, X[:, :1], random_state=0).groups) == 1
