"""Figures show the numbers they are given, on the ax they are given, and nothing global changes."""

import io
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from former import FORMER
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from pages import svgs_of

from ensemblage import plotting, report
from ensemblage.consensus import KMeansConsensus

pytestmark = FORMER

PALETTE, UNLABELLED_COLOR = plotting.cluster_colors(range(32)), plotting.cluster_colors([-1])[0]

# Machado, Oliveira & Fernandes 2009, severity 1: what the colour-blind see of linear RGB.
BLINDNESS = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "normal": np.eye(3).tolist(),
}

FIGURES = {
    "agreement": lambda ax: plotting.agreement([[1, 0.5], [0.5, 1]], [0.8, 0.7], names=["a", "b"], ax=ax),
    "stability_by_resolution": lambda ax: plotting.stability_by_resolution(
        {0.5: 0.9, 1.0: 0.8}, {0.5: 1.0, 1.0: 0.5}, plateaus=[(0.5, 0.5), (1.0, 1.0)], best=0, ax=ax
    ),
    "clustree": lambda ax: plotting.clustree({2: [0, 0, 1, -1], 3: [0, 1, 2, -1]}, n_clusters=2, ax=ax),
    "criteria_by_number": lambda ax: plotting.criteria_by_number({"a": {2: 0.5, 3: 1.0}}, n_clusters=3, ax=ax),
    "evidence_by_number": lambda ax: plotting.evidence_by_number({2: -1.0}, {2: (-0.9, -0.8, -0.7)}, ax=ax),
    "cluster_sizes": lambda ax: plotting.cluster_sizes([3, 2], unlabelled=1, ax=ax),
    "confidence_by_cluster": lambda ax: plotting.confidence_by_cluster([0.5, 0.2, np.nan], [0, 1, -1], ax=ax),
    "consensus_matrix": lambda ax: plotting.consensus_matrix([[1, 0.5], [0.5, 1]], [1, 0], ax=ax),
    "profile_heat_map": lambda ax: plotting.profile_heat_map([[1.0, -0.5], [np.nan, 0.0]], ["a", "b"], ax=ax),
    "ranking_scores": lambda ax: plotting.ranking_scores([0.1, np.nan, 0.3], ax=ax),
    "scatter": lambda ax: plotting.scatter([[0, 0], [1, 2], [2, 1]], [0, 1, -1], [0.3, 0.9, np.nan], ax=ax),
}


def written(ax, **options):
    buffer = io.BytesIO()
    ax.figure.savefig(buffer, **{"format": "png", **options})
    return buffer.getvalue()


@pytest.mark.core(3)
@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_draws_on_the_ax_it_is_given(draw):
    ax = Figure().subplots()
    assert draw(ax) is ax
    assert written(ax)


@pytest.mark.core(3)
@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_makes_a_figure_of_its_own_that_pyplot_does_not_know(draw):
    import matplotlib.pyplot as plt

    before = dict(matplotlib.rcParams)
    ax = draw(None)
    assert written(ax)
    assert plt.get_fignums() == []
    assert dict(matplotlib.rcParams) == before


UNUSUAL = {
    "font.size": 22,
    "axes.facecolor": "black",
    "xtick.color": "yellow",
    "lines.linewidth": 9,
    "legend.frameon": True,
}


@pytest.mark.core(3)
@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_figures_have_one_style_whatever_the_settings_are(draw):
    """Ticks too, which are made only when a figure is rendered."""
    usual = written(draw(None))
    with matplotlib.rc_context(UNUSUAL):
        assert written(draw(None)) == usual


def test_an_ax_that_is_given_keeps_its_owners_style():
    with matplotlib.rc_context(UNUSUAL):
        ax = plotting.lifetimes({2: 0.5, 3: 0.1}, ax=Figure().subplots())
        assert ax.xaxis.label.get_fontsize() == 22
        assert ax.get_facecolor() == (0, 0, 0, 1)
    assert plotting.lifetimes({2: 0.5, 3: 0.1}).xaxis.label.get_fontsize() == 10


def test_the_style_is_a_sheet_that_users_can_have():
    from matplotlib import style

    with style.context("ensemblage.plotting.ensemblage"):
        assert matplotlib.rcParams["svg.fonttype"] == "none"
        cycle = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
    assert [color.lstrip("#").lower() for color in cycle] == [to_hex(color).lstrip("#") for color in PALETTE[:8]]


NAMED = ("consensus_cdfs", "stability_curves", "criteria_by_number", "evidence_by_number", "stability_by_resolution")


@pytest.mark.core(3)
@pytest.mark.parametrize("name", ["association_histogram", *NAMED])
def test_legends_stand_off_the_curves(name):
    by_k = {k: 1 / k for k in range(2, 12)}
    draw = {
        "association_histogram": lambda: plotting.association_histogram([5, 4, 3], thresholds={"used": 0.4}),
        "consensus_cdfs": lambda: plotting.consensus_cdfs({k: ([0, 1], [0.5, 1]) for k in by_k}),
        "stability_curves": lambda: plotting.stability_curves(by_k, by_k),
        "criteria_by_number": lambda: plotting.criteria_by_number({f"criterion {j}": by_k for j in range(5)}),
        "evidence_by_number": lambda: plotting.evidence_by_number(by_k, dict.fromkeys(by_k, (0, 1, 2))),
        "stability_by_resolution": lambda: plotting.stability_by_resolution({0.5: 0.9, 1.0: 0.4}, {0.5: 1, 1.0: 0.9}),
    }
    ax = draw[name]()
    written(ax)
    legend, box = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.y0 >= box.y1
    assert 0 <= legend.x0 < legend.x1 <= ax.figure.bbox.x1
    assert legend.y1 <= ax.figure.bbox.y1


@pytest.mark.slow
def test_importing_plotting_does_not_import_matplotlib():
    code = "import sys, ensemblage.plotting; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def linear(color):
    c = np.array(to_rgb(color))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    to_lms = [
        [0.41222147, 0.53633254, 0.05144599],
        [0.2119035, 0.68069955, 0.10739696],
        [0.08830246, 0.28171884, 0.6299787],
    ]
    to_lab = [
        [0.21045426, 0.79361779, -0.00407205],
        [1.9779985, -2.42859221, 0.45059371],
        [0.02590404, 0.78277177, -0.80867577],
    ]
    return np.cbrt(np.clip(rgb, 0, None) @ np.transpose(to_lms)) @ np.transpose(to_lab)


@pytest.mark.parametrize("matrix", BLINDNESS.values(), ids=BLINDNESS)
def test_first_colors_differ_to_every_eye(matrix):
    seen = oklab(np.array([linear(c) for c in PALETTE[:8]]) @ np.transpose(matrix))
    distances = np.linalg.norm(seen[:, None] - seen[None], axis=-1) + np.eye(8)
    assert distances.min() > 0.05


def test_all_colors_are_distinct_and_stand_out_from_white():
    assert len(np.unique([*PALETTE, UNLABELLED_COLOR], axis=0)) == len(PALETTE) + 1
    np.testing.assert_array_equal(plotting.cluster_colors([32]), PALETTE[:1])
    luminance = np.array([linear(c) for c in PALETTE]) @ [0.2126, 0.7152, 0.0722]
    assert (1.05 / (luminance + 0.05)).min() > 1.8


def test_a_cluster_has_the_same_color_in_every_figure():
    color = tuple(plotting.cluster_colors([3])[0])
    assert plotting.cluster_sizes([9, 8, 7, 6]).patches[3].get_facecolor()[:3] == pytest.approx(color)
    strips = plotting.consensus_matrix(np.eye(4), [0, 1, 2, 3]).patches
    assert strips[3].get_facecolor()[:3] == pytest.approx(color)
    points = plotting.scatter(np.zeros((1, 2)), [3], [1.0]).collections[0]
    assert points.get_facecolors()[0][:3] == pytest.approx(color)
    boxes = plotting.confidence_by_cluster([0.5], [3]).collections[-1]
    assert boxes.get_facecolors()[0][:3] == pytest.approx(color)


def test_consensus_matrix_orders_rows_by_cluster_with_unlabelled_last():
    clusters = np.array([1, -1, 0, 1])
    matrix = np.arange(16).reshape(4, 4) / 16
    order = [2, 0, 3, 1]
    ax = plotting.consensus_matrix(matrix, clusters)
    np.testing.assert_array_equal(ax.images[0].get_array(), matrix[np.ix_(order, order)])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1", "unlabelled"]
    assert ax.get_yticks().tolist() == [0.5, 2, 3.5]


def test_consensus_matrix_draws_rows_as_wide_as_the_objects_they_stand_for():
    ax = plotting.consensus_matrix([[1, 0], [0, 0.5]], [0, 1], sizes=[3, 1])
    picture = ax.images[0].get_array()
    assert picture.mean() == pytest.approx((9 * 1 + 1 * 0.5) / 16)
    assert ax.images[0].get_extent() == [0, 4, 4, 0]


def test_consensus_matrix_of_many_rows_stays_a_small_picture():
    ax = plotting.consensus_matrix(np.ones((1500, 1500), dtype=np.float32), np.arange(1500) // 100)
    assert max(ax.images[0].get_array().shape) <= 600


def test_cluster_sizes_shows_unlabelled_objects_apart():
    ax = plotting.cluster_sizes([5, 2], unlabelled=4)
    assert [bar.get_height() for bar in ax.patches] == [5, 2, 4]
    assert ax.patches[2].get_facecolor()[:3] == pytest.approx(UNLABELLED_COLOR)
    assert "4 unlabelled" in [text.get_text() for text in ax.texts]


@given(st.lists(st.tuples(st.integers(-1, 4), st.one_of(st.floats(0, 1), st.just(np.nan))), min_size=1, max_size=60))
def test_quantiles_are_those_of_each_cluster(rows):
    clusters, confidence = (np.array(column) for column in zip(*rows, strict=True))
    *_, medians, points = plotting.confidence_by_cluster(confidence, clusters).collections
    boxes = {round(segment[:, 0].mean()): segment[0, 1] for segment in medians.get_segments()}
    shown = points.get_offsets()
    for c in range(clusters.max() + 1):
        values = np.sort(confidence[(clusters == c) & ~np.isnan(confidence)])
        is_small = len(values) <= 10
        np.testing.assert_allclose(shown[shown[:, 0] == c, 1], values if is_small else [])
        assert boxes.pop(c, None) == (None if is_small else pytest.approx(np.median(values)))
    assert not boxes


def test_the_summary_has_the_means_of_the_confidence():
    labels = np.random.default_rng(0).integers(0, 3, (60, 5))
    model = KMeansConsensus(3, random_state=0).fit(labels)
    for c, cluster in enumerate(report.summarize(labels, model)["clusters"]):
        assert cluster["confidence"]["mean"] == pytest.approx(model.confidence_[model.labels_ == c].mean())


def test_small_clusters_are_points_and_large_ones_boxes():
    confidence, clusters = np.linspace(0.1, 0.9, 25), np.array([0] * 20 + [1] * 5)
    ax = plotting.confidence_by_cluster(confidence, clusters)
    box = ax.patches[0]
    np.testing.assert_allclose([box.get_y(), box.get_y() + box.get_height()], np.percentile(confidence[:20], [25, 75]))
    np.testing.assert_allclose(ax.collections[-1].get_offsets()[:, 1], confidence[20:])
    assert len(ax.patches) == 1


def test_low_confidences_fill_the_axis_and_high_ones_end_at_one():
    assert plotting.confidence_by_cluster([0.1, 0.05], [0, 0]).get_ylim()[1] < 0.2
    assert plotting.confidence_by_cluster([0.1, 0.9], [0, 0]).get_ylim() == (0, 1.02)


def test_agreement_names_few_members_and_numbers_many():
    few = plotting.agreement(np.eye(3), [0.9, 0.5, 0.1], names=["x", "<b>$y$</b>", "z" * 80])
    labels = [t.get_text() for t in few.get_yticklabels()]
    assert labels[:3] == ["consensus", "x", "<b>$y$</b>"]
    assert len(labels[3]) == 24
    many = plotting.agreement(np.eye(120), np.ones(120), names=[f"m{i}" for i in range(120)])
    assert [t.get_text() for t in many.get_yticklabels()] == ["consensus", "20", "40", "60", "80", "100", "120"]
    np.testing.assert_array_equal(few.images[1].get_array(), [[0.9, 0.5, 0.1]])


def test_names_are_text_and_never_mathematics():
    ax = plotting.ranking_scores([0.1, 0.2], names=["$\\frac{$", "a\nb"])
    assert written(ax)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a b", "$\\frac{$"]


@pytest.mark.parametrize(("greater", "first"), [(True, "b"), (False, "c")])
def test_ranking_is_best_first_and_leaves_out_what_has_no_score(greater, first):
    ax = plotting.ranking_scores([np.nan, 0.9, 0.1], names=["a", "b", "c"], greater_is_better=greater)
    labels = [t.get_text() for t in ax.get_yticklabels()]
    assert labels[0] == first
    assert len(labels) == 2


def test_ranking_of_many_members_is_drawn_over_ranks():
    ax = plotting.ranking_scores(np.arange(100.0))
    assert ax.get_xlabel() == "rank (1 = best)"
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), np.arange(99, -1, -1))


def test_opacity_is_confidence_and_the_legend_says_so():
    ax = plotting.scatter([[0, 0], [1, 1], [2, 0], [3, 3]], [0, 0, 0, -1], [0.0, 0.25, 0.5, np.nan])
    alpha = ax.collections[0].get_facecolors()[:, 3]
    assert alpha[0] < alpha[1] < alpha[2] == 1
    assert ax.collections[0].get_facecolors()[3][:3] == pytest.approx(UNLABELLED_COLOR)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["0.00", "0.25", "0.50", "unlabelled"]
    assert ax.get_legend().get_title().get_text() == "confidence"


def test_every_cluster_is_named_at_one_of_its_objects():
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 25, 400)
    points = rng.normal(size=(400, 2))
    ax = plotting.scatter(points, clusters)
    assert sorted(int(text.get_text()) for text in ax.texts) == list(range(25))
    for text in ax.texts:
        assert (points[clusters == int(text.get_text())] == text.get_position()).all(axis=1).any()
    places = np.array([text.get_position() for text in ax.texts])
    assert len(np.unique(places, axis=0)) == 25


def test_ten_thousand_points_stay_a_small_svg():
    rng = np.random.default_rng(0)
    ax = plotting.scatter(rng.normal(size=(10_000, 2)), rng.integers(0, 5, 10_000), rng.random(10_000))
    assert len(written(ax, format="svg", dpi=144)) < 600_000


@pytest.mark.parametrize("ks", [(2, 3), (2, 4), range(2, 11), range(2, 15), (4,)])
def test_ticks_of_numbers_of_clusters_are_whole(ks):
    values = {k: 1 / k for k in ks}
    drawn = (
        plotting.delta_areas(values),
        plotting.criteria_by_number({"a": values}),
        plotting.split_losses(list(values.values())),
    )
    for ax in drawn:
        low, high = ax.get_xlim()
        shown = [tick for tick in ax.get_xticks() if low <= tick <= high]
        assert shown
        assert all(tick == int(tick) for tick in shown)
    if len(ks) == 1:  # the page draws no single number
        return
    labels = np.repeat([0, 1], 20)[:, None]
    summary = report.summarize(labels, KMeansConsensus(2, random_state=0).fit(labels))
    summary["chosen"] = {
        "sentence": "Chosen.",
        "n_clusters": min(ks),
        "is_clear": True,
        "rating": 0.9,
        "predicted": {str(k): value for k, value in values.items()},
        "weights": [{"view": "own", "family": "kmeans", "k": min(ks), "weight": 1.0}],
        "version": "1",
    }
    (svg,) = svgs_of(report.render(summary), "How each number of clusters is rated")
    below = re.findall(r'y="235.0"[^>]*>([^<]+)<', svg)
    assert 1 <= len(below) <= 8
    assert {*map(int, below)} <= {*range(min(ks), max(ks) + 1)}
    assert len(ks) < 4 or len(below) > 3
