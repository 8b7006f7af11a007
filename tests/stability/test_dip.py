"""The dip and its p-values, against linear programs, values of R's diptest, and samples of unimodal distributions."""

import naive
import numpy as np
import pytest
from representatives import first_of
from sklearn.datasets import load_iris

from ensemblage.stability._dip import dip, dip_p_value, null_quantiles, spread_ties, unimodality_p_value


@pytest.mark.parametrize("seed", first_of(range(12), 3))
def test_the_dip_is_the_least_distance_from_a_unimodal_distribution(seed):
    random = np.random.default_rng(seed)
    for n in range(2, 14):
        values = random.normal(size=n) + 4 * random.integers(0, 2, size=n)
        assert dip(values) == pytest.approx(naive.dip(values), abs=1e-9)


@pytest.mark.core(3)
@pytest.mark.parametrize("seed", range(12))
def test_the_dip_is_exact_for_ties(seed):
    random = np.random.default_rng(seed)
    for n in range(2, 14):
        values = random.integers(0, 6, size=n).astype(float)
        assert dip(values) == pytest.approx(naive.dip(values), abs=1e-9)


def test_the_dip_of_iris_is_that_of_diptest():
    found = [dip(column) for column in load_iris().data.T]
    assert found == pytest.approx([0.04025641, 0.04666667, 0.11897436, 0.09491228], abs=5e-9)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (range(1, 11), 0.05),
        ([0, 0.1, 0.2, 0.3, 2, 2.1, 2.2, 2.3], 0.2125),
        ([0, 1], 0.25),
        ([3], 0.5),
        ([3, 3, 3, 3], 0.125),
    ],
)
def test_worked_dips(values, expected):
    assert dip(np.array(values, dtype=float)) == pytest.approx(expected, abs=1e-12)


def test_the_dip_does_not_change_with_scale_place_direction_or_order():
    values = np.random.default_rng(0).normal(size=200).round(1)
    expected = dip(values)
    for others in (values * 8, values + 16, -values, values[::-1]):
        assert dip(others) == pytest.approx(expected, abs=1e-12)


def test_the_table_has_the_quantiles_of_the_sheet():
    """√n dip of uniform samples, 40,000 each, made without this code."""
    printed = {
        25: (0.3335, 0.4413, 0.4781, 0.5490),
        50: (0.3447, 0.4580, 0.4971, 0.5712),
        100: (0.3551, 0.4731, 0.5124, 0.5908),
        200: (0.3618, 0.4815, 0.5222, 0.6026),
        1000: (0.3714, 0.4932, 0.5330, 0.6193),
    }
    table = null_quantiles()
    for n, quantiles in printed.items():
        row = table.quantiles[np.flatnonzero(table.sizes == n)[0]]
        found = [row[np.flatnonzero(table.p_values == p)[0]] for p in (0.5, 0.1, 0.05, 0.01)]
        assert found == pytest.approx(quantiles, abs=0.004)


def test_the_p_values_of_iris_are_near_those_of_diptest():
    found = [dip_p_value(dip(column), 150) for column in load_iris().data.T]
    # Between the quantiles of .9 and .95 diptest interpolates p itself, not its logarithm.
    assert found[:2] == pytest.approx([0.0789, 0.0177], abs=0.004)
    assert max(found[2:]) == pytest.approx(1e-5)


def test_p_falls_with_the_dip_from_one_to_the_least_of_the_table():
    for n in (8, 13, 100, 12_345, 10**7):
        p = [dip_p_value(d, n) for d in np.linspace(1 / (2 * n), 0.25, 50)]
        assert p[0] == pytest.approx(1, abs=0.02)
        assert np.all(np.diff(p) <= 0)
        assert p[-1] >= 1e-5 - 1e-12


@pytest.mark.core(1)
@pytest.mark.parametrize("n", [17, 60, 400, 20_000])
def test_uniform_samples_have_uniform_p_values(n):
    random = np.random.default_rng(n)
    p = np.array([unimodality_p_value(random.random(n)) for _ in range(600)])
    for level in (0.05, 0.2, 0.5):
        assert (p <= level).mean() == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 600))


@pytest.mark.parametrize("draw", ["geometric", "poisson", "rounded", "binary"])
def test_a_grid_is_no_mode(draw):
    random = np.random.default_rng(1)
    samples = {
        "geometric": lambda: random.geometric(0.3, size=200),
        "poisson": lambda: random.poisson(2.0, size=200),
        "rounded": lambda: random.normal(size=200).round(1),
        "binary": lambda: random.integers(0, 2, size=200),
    }
    p = np.array([unimodality_p_value(samples[draw]().astype(float)) for _ in range(200)])
    assert (p <= 0.05).mean() <= 0.05


def test_two_modes_on_a_grid_are_found():
    values = np.r_[np.random.default_rng(0).poisson(3, size=100), np.random.default_rng(1).poisson(30, size=100)]
    assert unimodality_p_value(values.astype(float)) < 0.001


def test_ties_are_spread_over_a_step_of_the_grid():
    assert spread_ties(np.array([2.0, 1.0, 1.0])).tolist() == [0.75, 1.25, 2.0]
    # .1 · 3 is not .3: still one value.
    assert np.diff(spread_ties(np.array([0.1 * 3, 0.3, 0.1, 0.2]))).min() > 0.01
    assert spread_ties(np.array([5.0, 5.0])).tolist() == [5.0, 5.0]


def test_few_values_are_not_tested():
    assert unimodality_p_value(np.array([0.0, 0, 0, 0, 9, 9, 9])) == 1
    assert unimodality_p_value(np.repeat([0.0, 0.1, 9.0, 9.1], 3)) < 1
