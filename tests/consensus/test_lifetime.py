"""The number of clusters by the longest lifetime."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster
from strategies import planted_labels

from ensemblage.consensus import BipartiteVoting, CumulativeVoting, EvidenceAccumulation


def hierarchy_of(heights):
    """Single linkage of points on a line, whose gaps are the heights of the merges."""
    places = np.concatenate([[0.0], np.cumsum(heights)])
    distances = np.minimum(np.abs(places[:, None] - places), 1)
    return EvidenceAccumulation(linkage="single").fit_similarity(1 - distances)


def test_worked_example():
    model = hierarchy_of([0.04445, 0.04804, 0.05498, 0.54306])
    assert model.lifetimes_ == pytest.approx({4: 0.00359, 3: 0.00694, 2: 0.48808})
    assert model.n_clusters_ == 2


@given(st.lists(st.floats(0, 1), min_size=3, max_size=12))
def test_a_threshold_within_the_lifetime_gives_that_many_clusters(heights):
    model = hierarchy_of(heights)
    tree = model.linkage_matrix_
    for k, life in model.lifetimes_.items():
        if life > 1e-9:
            assert fcluster(tree, tree[len(heights) - k, 2] + life / 2, "distance").max() == k
    if model.lifetimes_:  # else all merges are equally high
        assert model.n_clusters_ == max(model.lifetimes_, key=lambda k: (model.lifetimes_[k], k))


def test_the_larger_number_wins_a_tie():
    assert hierarchy_of([1 / 8, 2 / 8, 3 / 8, 4 / 8]).n_clusters_ == 4


@pytest.mark.parametrize("heights", [[], [0.3]])
def test_too_few_merges(heights):
    model = hierarchy_of(heights)
    assert (model.lifetimes_, model.n_clusters_) == ({}, len(heights) + 1)


@pytest.mark.parametrize("method", [CumulativeVoting, BipartiteVoting])
@pytest.mark.parametrize("include", [False, True])
def test_singletons_live_up_to_the_first_merge(method, include):
    model = method(include_singletons=include).fit(planted_labels(n=60, p=5, k=4, noise=0.3, seed=1)[0])
    heights = model.linkage_matrix_[:, 2]
    lives = np.diff(np.concatenate([[0.0] if include else [], heights]))
    expected = dict(zip(range(len(lives) + 1, 1, -1), lives.tolist(), strict=True))
    assert model.lifetimes_ == pytest.approx({k: life for k, life in expected.items() if life > 0})
