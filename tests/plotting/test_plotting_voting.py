"""Figures of voting show the numbers they are given."""

import matplotlib
import numpy as np
import pytest
from former import FORMER
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from ensemblage import plotting
from ensemblage.metrics import membership_entropy

pytestmark = FORMER

MERGES = np.array([[0, 1, 0.1, 2], [3, 4, 0.2, 2], [2, 5, 0.3, 3], [6, 7, 0.9, 5]])
FIGURES = {
    "lifetimes": lambda ax: plotting.lifetimes({4: 0.1, 3: 0.1, 2: 0.6}, n_clusters=2, ax=ax),
    "voting_dendrogram": lambda ax: plotting.voting_dendrogram(MERGES, [0, 0, 1, 1, 1], ax=ax),
    "membership": lambda ax: plotting.membership([[0.9, 0.1], [0.3, 0.7], [np.nan] * 2], [0, 1, -1], ax=ax),
    "estimated_clusters": lambda ax: plotting.estimated_clusters([5, 5, 4, 5], ax=ax),
    "entropy_scatter": lambda ax: plotting.entropy_scatter([[0, 0], [1, 1], [2, 0]], [0.2, np.nan, 1], ax=ax),
}


@pytest.mark.core(1)
@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_draws_where_it_is_told(draw, tmp_path):
    import matplotlib.pyplot as plt

    before, ax = dict(matplotlib.rcParams), Figure().subplots()
    assert draw(ax) is ax
    draw(None).figure.savefig(tmp_path / "figure.svg")
    assert plt.get_fignums() == []
    assert dict(matplotlib.rcParams) == before


def test_lifetimes_are_the_bars_and_the_choice_stands_out():
    ax = plotting.lifetimes({4: 0.1, 3: 0.2, 2: 0.6}, n_clusters=3)
    assert [bar.get_height() for bar in ax.patches] == [0.6, 0.2, 0.1]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2", "3", "4"]
    colors = [bar.get_facecolor() for bar in ax.patches]
    assert colors[1] != colors[0] == colors[2]


def test_of_many_lifetimes_the_longest_are_drawn():
    ax = plotting.lifetimes({k: 1 / k for k in range(2, 200)})
    assert len(ax.patches) == 15
    assert ax.patches[-1].get_height() == 1 / 16


def test_dendrogram_shades_the_lifetime_of_the_choice():
    ax = plotting.voting_dendrogram(MERGES, [0, 0, 1, 1, 1])
    (band,) = ax.patches
    drawn = band.get_window_extent().transformed(ax.transData.inverted())  # a polygon before matplotlib 3.9
    assert_allclose([drawn.y0, drawn.y1], [0.3, 0.9])
    assert len(ax.lines) == 4
    assert (
        len({line.get_color() if isinstance(line.get_color(), str) else tuple(line.get_color()) for line in ax.lines})
        == 3
    )
    whole = plotting.voting_dendrogram(MERGES, [0] * 5)
    assert not whole.patches


def test_memberships_are_ordered_by_cluster_and_confidence():
    shares = np.array([[0.2, 0.8], [0.6, 0.4], [0.9, 0.1], [0.4, 0.6]])
    (image,) = plotting.membership(shares, [1, 0, 0, 1]).images
    assert_array_equal(np.asarray(image.get_array()), shares[[2, 1, 0, 3]])


def test_pareto_chart_stops_at_the_share():
    runs = [5] * 15 + [4] * 5 + [6] * 3 + [9, 10]
    ax = plotting.estimated_clusters(runs)
    assert [bar.get_height() for bar in ax.patches] == [15, 5, 3, 1]
    right = next(a for a in ax.figure.axes if a is not ax)
    assert_allclose(right.lines[0].get_ydata(), [60, 80, 92, 96])
    assert len(plotting.estimated_clusters(runs, share=1.0).patches) == 5


def test_the_undecided_are_drawn_last():
    ax = plotting.entropy_scatter([[0, 0], [1, 1], [2, 2]], [0.7, np.nan, 0.1])
    assert_array_equal(ax.collections[-1].get_array(), [0.1, 0.7])
    assert_array_equal(ax.collections[-1].get_offsets(), [[2, 2], [0, 0]])


def test_entropy_is_relative_to_equal_memberships():
    shares = [[1 / 3] * 3, [0, 1, 0], [0.5, 0.5, 0], [np.nan] * 3]
    assert_allclose(membership_entropy(shares), [1, 0, np.log(2) / np.log(3), np.nan], atol=1e-12)
    assert_array_equal(membership_entropy([[1.0], [1.0]]), 0)
