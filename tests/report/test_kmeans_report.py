"""What figures and the report tell of the k-means family."""

import json

import numpy as np
import pytest
from pages import find
from strategies import planted_labels, random_labels

from ensemblage import plotting, report
from ensemblage.consensus import BisectingKMeansConsensus, KMeansConsensus
from ensemblage.consensus.diagnostics import Splits
from ensemblage.metrics import kmeans_loss


@pytest.fixture(scope="module")
def labels():
    return planted_labels(n=120, p=8, k=4, noise=0.3)[0]


def test_tree_in_the_report(labels, tmp_path):
    model = BisectingKMeansConsensus(6, random_state=0).fit(labels)
    summary = json.loads(json.dumps(report.summarize(labels, model)))
    (splits,) = model.diagnostics(labels)
    losses = splits.losses
    assert losses == pytest.approx([kmeans_loss(labels, model.labels_at(k)) for k in range(1, 7)])
    section = find(report.render(summary), "How the clusters were made")
    assert [len(table.rows) for table in section.tables] == [5]
    assert f"6 clusters leave {100 * losses[-1] / losses[0]:.0f}%" in section.pictures[0].sentences[1]
    page = report.build(summary, path=tmp_path / "page.html")
    assert "What each split took away" in page.read_text(encoding="utf-8")


@pytest.mark.usefixtures("no_figures")
def test_climb_in_the_report():
    labels = random_labels(n=80, p=6, k=4, seed=1)
    model = KMeansConsensus(6, refine="density", random_state=0).fit(labels)
    section = find(report.render(report.summarize(labels, model)), "How the clusters were made")
    rounds = len(model.density_trace_) - 1
    assert f"in {rounds} round{'s' * (rounds > 1)}." in section.sentences[0]
    model.density_trace_ = model.density_trace_[-1:]
    section = find(report.render(report.summarize(labels, model)), "How the clusters were made")
    assert section.sentences[0].startswith("No single move raises the density")


@pytest.mark.usefixtures("no_figures")
def test_other_methods_have_no_such_section(labels):
    model = KMeansConsensus(3, random_state=0).fit(labels)
    page = report.render(report.summarize(labels, model))
    assert find(page, "The partitions") is not None
    assert find(page, "How the clusters were made") is find(page, "The evidence") is None


def splits(losses):
    """The record of splits after which these losses are left."""
    before, after = np.array(losses[:-1]), np.array(losses[1:])
    return Splits(np.ones(len(before), dtype=int), before, after, np.zeros(len(before)))


def test_curve_of_the_losses():
    ax = plotting.diagnostics(splits([10.0, 4.0, 1.0, 0.0]))
    (line,) = ax.lines
    np.testing.assert_allclose(line.get_xydata(), [[1, 100], [2, 40], [3, 10], [4, 0]])
    assert plotting.diagnostics(splits([0.0, 0.0])).lines[0].get_ydata().tolist() == [0.0, 0.0]
