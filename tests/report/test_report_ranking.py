"""The ranking section of the page: errors, agreement by rank, what DISCOTEC compares with."""

import naive
import numpy as np
import pytest
from strategies import planted_labels

from ensemblage import Ensemble, plotting, report
from ensemblage.consensus import KMeansConsensus
from ensemblage.ranking import DISCOTEC, AverageAgreement


@pytest.fixture(scope="module")
def ensemble():
    members = [planted_labels(90, 1, 3, noise, seed=i)[0] for i, noise in enumerate((0.6, 0.1, 0.3, 0.2, 0.8))]
    return Ensemble(np.column_stack(members))


@pytest.fixture(scope="module")
def consensus(ensemble):
    return KMeansConsensus(3, random_state=0).fit(ensemble)


def square(rows):
    """The symmetric matrix whose lower triangle, diagonal included, has these rows."""
    full = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        assert len(row) == i + 1
        full[i, : i + 1] = full[: i + 1, i] = [np.nan if value is None else value for value in row]
    return full


def test_binarised_consensus(ensemble, consensus):
    matrix = report.summarize(ensemble, consensus)["figures"]["matrix"]
    joined, labelled = naive.joined_and_labelled(np.asarray(ensemble))
    shares = joined / labelled
    frequent = square([[float(bit) for bit in row] for row in matrix["frequent"]])
    assert matrix["mean"] == pytest.approx(shares.mean())
    assert frequent.sum() == (shares >= shares.mean()).sum()
    assert np.all((square(matrix["percent"]) >= 100 * shares.mean()) == frequent)


def test_pictures_of_discotec(ensemble, consensus):
    ranking = [DISCOTEC(random_state=0, n_jobs=1).fit(ensemble), AverageAgreement().fit(ensemble)]
    summary = report.summarize(ensemble, consensus, ranking=ranking)
    assert [r["name"] for r in summary["rankings"]] == ["DISCOTEC", "AverageAgreement"]
    assert summary["rankings"][0]["errors"] is None
    page = report.render(summary)
    for title in ("Scores by DISCOTEC", "How alike the partitions are", "What DISCOTEC compares the partitions with"):
        assert title in page
    assert "two standard errors" not in page
    without = report.render(report.summarize(ensemble, consensus, ranking=ranking[1]))
    assert "What DISCOTEC compares" not in without
    assert "How alike the partitions are" in without


def test_errors_of_sampled_scores(ensemble, consensus):
    ranking = DISCOTEC(max_pairs=0, n_sampled_pairs=1000, random_state=0).fit(ensemble)
    summary = report.summarize(ensemble, consensus, ranking=ranking)
    assert summary["rankings"][0]["errors"] == ranking.standard_errors_.tolist()
    assert "two standard errors" in report.render(summary)


@pytest.mark.parametrize("p", [5, 40])
def test_bars_reach_twice_the_error(p):
    scores, errors = np.linspace(1, 2, p), np.linspace(0.1, 0.2, p)
    ax = plotting.ranking_scores(scores, errors=errors)
    along = 0 if p == 5 else 1
    bars = [segment[:, along] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(np.sort([b.mean() for b in bars]), scores)
    np.testing.assert_allclose(np.sort([np.ptp(b) for b in bars]), 4 * errors)
    assert not plotting.ranking_scores(scores).collections
