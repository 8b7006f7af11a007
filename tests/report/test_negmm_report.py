"""What figures and the report tell of NegMM."""

import json

import numpy as np
import pytest
from pages import find
from strategies import planted_labels

from ensemblage import plotting, report
from ensemblage.consensus import HBGF, NegMM
from ensemblage.consensus.diagnostics import Candidates


@pytest.fixture(scope="module")
def labels():
    return planted_labels(n=60, p=10, k=3, noise=0.3, seed=1)[0]


def test_search_in_the_report(labels, tmp_path):
    model = NegMM(3, random_state=0).fit(labels)
    summary = json.loads(json.dumps(report.summarize(labels, model)))
    section = find(report.render(summary), "How the clusters were made")
    n = len(model.candidates_)
    told = f"{n} values for the threshold on the co-associations gave different graphs."
    assert section.sentences[0].startswith(told)
    assert f"The best was {model.association_threshold_:.3f} (MM index {model.mm_index_:.3f})" in section.sentences[0]
    page = report.build(summary, path=tmp_path / "page.html")
    assert "The values that were tried" in page.read_text(encoding="utf-8")


@pytest.mark.usefixtures("no_figures")
def test_single_threshold(labels):
    model = NegMM(3, association_threshold=0.2, random_state=0).fit(labels)
    section = find(report.render(report.summarize(labels, model)), "How the clusters were made")
    assert section.sentences == [f"The threshold on the co-associations was 0.200 (MM index {model.mm_index_:.3f})."]
    assert not section.pictures


@pytest.mark.usefixtures("no_figures")
def test_nothing_can_be_judged():
    labels = np.column_stack([[0, 0, 1, 1], [0, 0, 1, 2]])
    model = NegMM(2, random_state=0).fit(labels)
    assert model.mm_index_ == np.inf
    section = find(report.render(report.summarize(labels, model)), "How the clusters were made")
    assert "none could be judged" in section.sentences[0]
    assert "The smallest was kept, 0" in section.sentences[0]


@pytest.mark.usefixtures("no_figures")
def test_other_methods_have_no_such_section(labels):
    model = HBGF(3, random_state=0).fit(labels)
    assert model.diagnostics(labels) == ()
    assert find(report.render(report.summarize(labels, model)), "How the clusters were made") is None


def search(thresholds, indices):
    return Candidates("threshold", np.array(thresholds), "MM index", np.array(indices))


def test_figure_marks_the_least_index():
    ax = plotting.diagnostics(search([0.0, 0.1, 0.2, 0.3], [3.0, 1.0, 2.0, np.nan]))
    curve, marked, ticks = ax.lines
    np.testing.assert_allclose(curve.get_xydata(), [[0, 3], [0.1, 1], [0.2, 2]])
    np.testing.assert_allclose(marked.get_xydata(), [[0.1, 1]])
    assert ticks.get_xdata().tolist() == [0.3]
    assert [text.get_text() for text in ax.texts] == ["0.10"]
    assert len(plotting.diagnostics(search([0.0], [np.nan])).lines) == 2
