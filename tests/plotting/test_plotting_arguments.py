"""Illegal arguments of the figures end in one sentence."""

import inspect

import numpy as np
import pytest
import test_plotting
import test_plotting_diagnostics
import test_plotting_voting
from former import FORMER
from matplotlib.figure import Figure

from ensemblage import plotting
from ensemblage.base.renamed import INSTEAD
from ensemblage.consensus import KMeansConsensus
from ensemblage.consensus.diagnostics import Trace

pytestmark = FORMER

FIGURES = {
    **test_plotting.FIGURES,
    **test_plotting_diagnostics.FIGURES,
    **test_plotting_voting.FIGURES,
    "diagnostics": lambda ax: plotting.diagnostics(Trace("density", np.array([0.5, 0.6])), ax=ax),
    "model": lambda ax: plotting.model(KMeansConsensus(2, random_state=0).fit([[0, 0], [0, 0], [1, 1]]), ax=ax),
    "partition_strips": lambda ax: plotting.partition_strips([[0, 1], [1, 1]], ax=ax),
    "split_losses": lambda ax: plotting.split_losses([8.0, 2.0], ax=ax),
    "threshold_search": lambda ax: plotting.threshold_search([0.0, 0.1], [2.0, 1.5], ax=ax),
}


def test_every_figure_is_here():
    drawn = {name: getattr(plotting, name) for name in {*plotting.__all__, *INSTEAD["ensemblage.plotting"]}}
    with_ax = {name for name, draw in drawn.items() if callable(draw) and "ax" in inspect.signature(draw).parameters}
    assert set(FIGURES) == with_ax


@pytest.mark.core(3)
@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_ax_is_one_of_matplotlibs(draw):
    for ax in (5, "x", Figure().subplots(1, 2), Figure(), 0, []):
        with pytest.raises(TypeError, match=r"^ax must be one matplotlib Axes, or None .* Got .*\. Give what plt"):
            draw(ax)


@pytest.mark.parametrize("axes", [5, "x", Figure().subplots(1, 3), Figure().subplots(), (1, 2), "xy"], ids=repr)
def test_axes_are_two_of_matplotlibs(axes):
    with pytest.raises(TypeError, match=r"^(axes must be two matplotlib Axes|ax must be one)"):
        plotting.thresholded_matrices([[1, 0.2], [0.2, 1]], [0, 1], 0.3, axes=axes)


MATRIX = [[1, 0.5], [0.5, 1]]
MERGES = [[0, 1, 0.1, 2], [2, 3, 0.6, 3]]


@pytest.mark.parametrize(
    ("draw", "arguments", "message"),
    [
        ("partition_strips", ([0, 1],), r"labels of partition_strips must be numbers of shape \(n, r\)"),
        ("agreement", (5,), r"matrix of agreement must be numbers of shape \(p, p\)\. Got shape \(\)"),
        ("agreement", ([[1, 2]],), r"Got shape \(1, 2\)"),
        ("agreement", (np.empty((0, 0)),), r"with 1 or more rows"),
        ("agreement", ("x",), r"must be numbers of shape \(p, p\)\. Got 'x'"),
        ("agreement", (MATRIX, [1]), r"consensus_agreement of agreement must be numbers of shape \(2,\)\. Got shape"),
        ("association_histogram", ([0.5, 1],), r"counts of association_histogram must be whole numbers"),
        ("association_histogram", ([1],), r"with 2 or more rows"),
        ("cluster_sizes", (["a"],), r"sizes of cluster_sizes must be numbers of shape \(k,\)"),
        ("cluster_colors", ([0.5],), r"clusters of cluster_colors must be whole numbers"),
        ("confidence_by_cluster", ([0.5, 0.1], [0]), r"one per confidence, must be numbers of shape \(2,\)"),
        ("confidence_by_cluster", ([0.5], [np.nan]), r"must be whole numbers"),
        ("consensus_matrix", (MATRIX, [0]), r"partition of consensus_matrix must be numbers of shape \(2,\)"),
        ("consensus_matrix", ([], []), r"matrix of consensus_matrix must be numbers of shape \(r, r\)"),
        ("thresholded_matrices", ([1, 2], [0, 1], 0.1), r"matrix of thresholded_matrices"),
        ("dendrogram", (MERGES, [1, 1], [0, 0]), r"sizes of dendrogram must be numbers of shape \(3,\)"),
        ("dendrogram", (np.empty((0, 4)), [1], [0]), r"merges of dendrogram .* with 1 or more rows"),
        ("last_merges", (MERGES, [0, 0]), r"linkage_matrix of last_merges must be numbers of shape \(1, 4\)"),
        ("voting_dendrogram", (MERGES, [0]), r"clusters of voting_dendrogram must be numbers of shape \(3,\)"),
        ("scatter", ([[1], [2]], [0, 1]), r"points of scatter must be numbers of shape \(n, 2\)\. Got shape \(2, 1\)"),
        ("scatter", ([[1, 2]], [0, 1]), r"partition of scatter must be numbers of shape \(1,\)"),
        ("scatter", ([[1, 2]], [0], [1, 2]), r"confidence of scatter must be numbers of shape \(1,\)"),
        ("entropy_scatter", ([[1, 2]], [0, 1]), r"entropy of entropy_scatter must be numbers of shape \(1,\)"),
        ("membership", ([[1.0]], [1]), r"partition of membership must be columns of membership, below 1\. Got 1"),
        ("item_consensus_bars", ([[1.0]], [3]), r"must be columns of item_consensus, below 1\. Got 3"),
        ("estimated_clusters", ([],), r"counts of estimated_clusters .* with 1 or more rows"),
        ("split_losses", ([],), r"losses of split_losses .* with 1 or more rows"),
        ("threshold_search", ([0.1], [1, 2]), r"indices of threshold_search must be numbers of shape \(1,\)"),
        ("ranking_scores", (5,), r"scores of ranking_scores must be numbers of shape \(p,\)"),
    ],
)
def test_arrays_are_checked(draw, arguments, message):
    with pytest.raises(ValueError, match=message):
        getattr(plotting, draw)(*arguments)


@pytest.mark.parametrize("draw", ["lifetimes", "delta_areas", "stability_curves", "consensus_cdfs"])
@pytest.mark.parametrize("given", [5, [1, 2], {}], ids=repr)
def test_numbers_by_k_are_a_dict(draw, given):
    with pytest.raises(TypeError, match=r"must be a dict with at least one entry\. Got"):
        getattr(plotting, draw)(given)


def test_names_are_one_each():
    with pytest.raises(ValueError, match=r"names of agreement must be 2 entries\. Got 1\."):
        plotting.agreement(MATRIX, names=["a"])
    with pytest.raises(ValueError, match=r"names of ranking_scores must be 3 entries\. Got 1\."):
        plotting.ranking_scores([1, 2, 3], names=["a"])
    with pytest.raises(ValueError, match=r"errors of ranking_scores must be numbers of shape \(2,\)"):
        plotting.ranking_scores([1, 2], errors=[1])
