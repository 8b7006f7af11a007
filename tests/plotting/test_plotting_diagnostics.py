"""Figures of evidence accumulation and of Monti's consensus clustering show the numbers they are given."""

import io
from functools import cache

import numpy as np
import pytest
from former import FORMER
from matplotlib.figure import Figure
from strategies import planted_labels, with_equal_rows

from ensemblage import plotting
from ensemblage.consensus import EvidenceAccumulation
from ensemblage.metrics import consensus_cdf, delta_area, item_consensus
from ensemblage.metrics._coassociation import association_counts

pytestmark = FORMER

LABELS = with_equal_rows(planted_labels(n=80, p=20, k=3, noise=0.2, missing=0.1, seed=2)[0], 120)


@cache
def fitted():
    return EvidenceAccumulation(3).fit(LABELS)


@cache
def counts_of_pairs():
    return association_counts(LABELS)


FIGURES = {
    "association_histogram": lambda ax: plotting.association_histogram(
        counts_of_pairs(), thresholds={"kmeans": 0.4}, ax=ax
    ),
    "dendrogram": lambda ax: plotting.dendrogram(
        *plotting.last_merges(fitted().linkage_matrix_, fitted().labels_), ax=ax
    ),
    "consensus_cdfs": lambda ax: plotting.consensus_cdfs({2: consensus_cdf(LABELS)}, n_clusters=2, ax=ax),
    "delta_areas": lambda ax: plotting.delta_areas(delta_area({2: LABELS, 3: LABELS}), n_clusters=3, ax=ax),
    "stability_curves": lambda ax: plotting.stability_curves({2: 0.1, 3: 0.0}, {2: 0.2, 3: 0.2}, ax=ax),
    "item_consensus_bars": lambda ax: plotting.item_consensus_bars(
        item_consensus(LABELS, fitted().labels_), fitted().labels_, ax=ax
    ),
    "cluster_jaccards": lambda ax: plotting.cluster_jaccards([[1.0, np.nan], [0.4, 0.6]], names=["a", "b"], ax=ax),
    "prediction_strengths": lambda ax: plotting.prediction_strengths({2: 0.9, 3: 0.4}, {2: 0.1}, n_clusters=2, ax=ax),
}


@pytest.mark.core(3)
@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_draws_on_the_ax_it_is_given_or_on_its_own(draw):
    import matplotlib.pyplot as plt

    ax = Figure().subplots()
    assert draw(ax) is ax
    draw(None).figure.savefig(io.BytesIO())
    assert plt.get_fignums() == []


@pytest.mark.parametrize("labels", [LABELS, np.abs(LABELS)], ids=["missing", "complete"])
def test_histogram_has_every_pair_that_something_joins(labels):
    counts = association_counts(labels)
    joined = counts[1:].sum()
    bars = plotting.association_histogram(counts).patches
    assert sum(bar.get_height() for bar in bars) == joined


def test_bars_stand_on_the_multiples_of_one_partition():
    bars = plotting.association_histogram([100, 3, 0, 1, 6]).patches
    assert [bar.get_height() for bar in bars] == [3, 0, 1, 6]
    for bar, value in zip(bars, (0.25, 0.5, 0.75, 1), strict=True):
        assert bar.get_x() < value < bar.get_x() + bar.get_width()


def test_many_partitions_have_wider_bars():
    counts = np.ones(1001, dtype=int)
    bars = plotting.association_histogram(counts).patches
    assert len(bars) == 100
    assert sum(bar.get_height() for bar in bars) == 1000


def test_thresholds_are_lines_with_names():
    ax = plotting.association_histogram(counts_of_pairs(), thresholds={"kmeans": 0.4, "gmm": 0.25})
    assert [line.get_xdata()[0] for line in ax.lines] == [0.4, 0.25]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["kmeans: 0.4", "gmm: 0.25"]


@pytest.mark.parametrize("n_leaves", [2, 3, 10, 500])
def test_last_merges_are_the_hierarchys(n_leaves):
    merges, sizes, clusters = plotting.last_merges(fitted().linkage_matrix_, fitted().labels_, n_leaves=n_leaves)
    k = min(max(n_leaves, 3), 120)
    assert merges.shape == (k - 1, 4)
    assert sizes.sum() == 120
    assert merges[-1, 3] == k
    np.testing.assert_array_equal(merges[:, 2], fitted().linkage_matrix_[120 - k :, 2])
    assert sorted(merges[:, :2].ravel()) == list(range(2 * k - 2))
    for c in range(3):
        assert sizes[clusters == c].sum() == np.count_nonzero(fitted().labels_ == c)


def test_unlabelled_objects_are_no_branches():
    labels = np.vstack([np.full((4, 20), -1), LABELS])
    model = EvidenceAccumulation(3).fit(labels)
    merges, sizes, clusters = plotting.last_merges(model.linkage_matrix_, model.labels_, n_leaves=6)
    expected = plotting.last_merges(fitted().linkage_matrix_, fitted().labels_, n_leaves=6)
    np.testing.assert_array_equal(merges, expected.merges)
    np.testing.assert_array_equal(sizes, expected.sizes)
    np.testing.assert_array_equal(clusters, expected.clusters)


def test_the_band_is_the_lifetime():
    ax = plotting.dendrogram(*plotting.last_merges(fitted().linkage_matrix_, fitted().labels_))
    (band,) = ax.patches
    heights = fitted().linkage_matrix_[:, 2]
    drawn = band.get_window_extent().transformed(ax.transData.inverted())  # a polygon before matplotlib 3.9
    assert drawn.y0 == pytest.approx(heights[-3])
    assert drawn.height == pytest.approx(heights[-2] - heights[-3])
    assert drawn.height == pytest.approx(fitted().lifetimes_[3])


def test_a_chain_of_many_merges_is_drawn():
    n = 20_000
    chain = np.column_stack(
        [np.r_[0, np.arange(n, 2 * n - 2)], np.arange(1, n), np.linspace(0, 1, n - 1), range(2, n + 1)]
    )
    ax = plotting.dendrogram(*plotting.last_merges(chain, np.zeros(n, dtype=int), n_leaves=5))
    assert len(ax.lines) == 4


def test_thresholded_matrices():
    matrix = np.array([[1, 0.3, 0.2], [0.3, 1, 0.8], [0.2, 0.8, 1]])
    before, after = plotting.thresholded_matrices(matrix, [0, 1, 1], 0.3)
    np.testing.assert_array_equal(before.images[0].get_array(), matrix)
    np.testing.assert_array_equal(after.images[0].get_array(), [[1, 0, 0], [0, 1, 0.8], [0, 0.8, 1]])
    fig = Figure()
    axes = tuple(fig.subplots(1, 2))
    assert plotting.thresholded_matrices(matrix, [0, 1, 1], 0.3, axes=axes) == axes


def test_curves_have_the_numbers_and_mark_the_choice():
    ax = plotting.consensus_cdfs({3: ([0, 1], [0.7, 1]), 2: ([0, 1], [0.5, 1])}, n_clusters=3)
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0.5, 1], [0.7, 1]]
    assert ax.lines[1].get_linewidth() > ax.lines[0].get_linewidth()
    ax = plotting.delta_areas({3: 0.2, 2: 0.5}, n_clusters=3)
    assert ax.lines[0].get_xdata()[0] == 3
    assert ax.lines[1].get_ydata().tolist() == [0.5, 0.2]


def test_items_are_ordered_by_cluster_and_stacked():
    consensus = np.array([[0.1, 0.7], [0.8, 0.1], [np.nan, np.nan], [0.9, 0.2]])
    bars = plotting.item_consensus_bars(consensus, [1, 0, -1, 0]).patches
    assert [round(bar.get_height(), 3) for bar in bars] == [0.9, 0.8, 0.1, 0.2, 0.1, 0.7]
    assert [round(bar.get_y(), 3) for bar in bars] == [0, 0, 0, 0.9, 0.8, 0.1]


def test_many_items_are_drawn_in_part():
    consensus = np.random.default_rng(0).random((1000, 2))
    ax = plotting.item_consensus_bars(consensus, np.arange(1000) % 2, most=50)
    assert len(ax.patches) == 100
