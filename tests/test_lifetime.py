"""The number of clusters by the longest lifetime."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

from ensemblage.consensus._lifetime import lifetimes, longest_lifetime


def test_worked_example():
    heights = [0.04445, 0.04804, 0.05498, 0.54306]
    assert lifetimes(heights) == pytest.approx({4: 0.00359, 3: 0.00694, 2: 0.48808})
    assert lifetimes(heights, include_singletons=True)[5] == 0.04445
    assert longest_lifetime(lifetimes(heights)) == 2


@given(st.lists(st.floats(0, 1), min_size=3, max_size=12))
def test_a_threshold_within_the_lifetime_gives_that_many_clusters(points):
    tree = linkage(np.array(points)[:, None], "single")
    for k, life in lifetimes(tree[:, 2], include_singletons=True).items():
        if life > 1e-9:
            start = tree[len(points) - k - 1, 2] if k < len(points) else 0.0
            assert fcluster(tree, start + life / 2, "distance").max() == k


def test_the_larger_number_wins_a_tie():
    assert longest_lifetime(lifetimes([1, 2, 3, 4])) == 4
    assert longest_lifetime(lifetimes([1, 2, 3, 4], include_singletons=True)) == 5


@pytest.mark.parametrize(("heights", "include"), [([], False), ([0.3], False), ([], True)])
def test_too_few_merges(heights, include):
    assert lifetimes(heights, include_singletons=include) == {}


def test_one_merge_is_enough_with_singletons():
    assert longest_lifetime(lifetimes([0.3], include_singletons=True)) == 2
