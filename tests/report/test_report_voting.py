"""What the report says of votes and of the number of clusters."""

import json

import numpy as np
import pytest
from pages import find
from strategies import planted_labels
from test_report import Page

from ensemblage import Ensemble, report
from ensemblage.consensus import BipartiteVoting, CumulativeVoting, KMeansConsensus
from ensemblage.metrics import membership_entropy


@pytest.fixture(scope="module")
def labels():
    labels = planted_labels(n=400, p=12, k=5, noise=0.25, missing=0.1, seed=2)[0]
    labels[7] = -1
    return labels


@pytest.mark.core(1)
@pytest.mark.parametrize("make", [CumulativeVoting, BipartiteVoting])
def test_summary_and_page(labels, make):
    model = make(3).fit(labels)
    points = np.random.default_rng(0).normal(size=(400, 2))
    summary = json.loads(report._build.to_json(report.summarize(labels, model, features=points)))
    assert dict(map(tuple, summary["choice"]["lifetimes"])) == pytest.approx(model.lifetimes_)
    assert not summary["choice"]["found"]
    shown = {record["kind"]: record for record in summary["evidence"]}
    assert all(len(row) == 3 for row in shown["Memberships"]["membership"])
    assert shown["Dendrogram"]["clusters"] == model.clusters_of_reference_.tolist()
    drawn = summary["figures"]["points"]["entropy"]
    entropies = sorted(h for h in drawn if h is not None)
    expected = membership_entropy(model.membership_)
    assert entropies == pytest.approx(sorted(expected[~np.isnan(expected)]), abs=6e-4)
    assert drawn.count(None) == 1
    html = report.render(summary)
    Page(html)
    for title in ("How long each number lives", "Which clusters are the same", "Where the votes are undecided"):
        assert title in html
    assert "3 clusters were asked for" in html


def test_the_number_that_was_found(labels):
    parts = np.random.default_rng(0).integers(3, size=labels.shape)
    labels = np.where(labels < 0, -1, 3 * labels + parts)
    model = CumulativeVoting().fit(labels)
    summary = report.summarize(labels, model)
    assert summary["choice"]["found"]
    assert summary["choice"]["lifetimes"][0][0] == model.n_clusters_
    assert "The longest was taken" in report.render(summary)
    assert "Where the votes are undecided" not in report.render(summary)  # there are no features
    summary = report.summarize(labels, model, n_refits=25)
    halves = summary["choice"]["halves"]
    assert len(halves) == 25
    assert halves.count(5) > 15
    assert halves == report.summarize(labels, model, n_refits=25)["choice"]["halves"]
    said = f"{halves.count(model.n_clusters_)} of 25 random halves of the partitions give {model.n_clusters_}, too."
    assert said in report.render(summary)
    weighted = CumulativeVoting(weights=[1.0] * 11 + [0.0]).fit(labels)
    assert len(report.summarize(labels, weighted, n_refits=7)["choice"]["halves"]) == 7


def test_halves_of_few_partitions_say_nothing(labels):
    few = labels[:, :7]
    assert report.summarize(few, CumulativeVoting().fit(few), n_refits=5)["choice"]["halves"] == []
    twos = np.column_stack([np.arange(40) % 4, *[np.arange(40) // (5 + j) % 2 for j in range(9)]])
    summary = report.summarize(twos, CumulativeVoting().fit(twos), n_refits=25)
    assert summary["choice"]["halves"] == []  # halves without the only partition of more than two clusters
    report.render(summary)


def test_a_summary_of_schema_1_keeps_its_pictures(labels):
    """As version 1 wrote it: votes, their entropies and the hierarchy stood among the figures."""
    model = CumulativeVoting(3).fit(labels)
    points = np.random.default_rng(0).normal(size=(400, 2))
    new = json.loads(report._build.to_json(report.summarize(labels, model, features=points)))
    older = json.loads(json.dumps({key: value for key, value in new.items() if key not in ("schema", "evidence")}))
    records = {record["kind"]: record for record in new["evidence"]}
    shares = np.array(records["Memberships"]["membership"], dtype=float)
    older["figures"]["voting"] = {
        "percent": [[None if np.isnan(share) else round(100 * share) for share in row] for row in shares.tolist()],
        "clusters": records["Memberships"]["clusters"],
        "sizes": records["Memberships"]["sizes"],
        "note": new["figures"]["matrix"]["note"],
        "merges": records["Dendrogram"]["merges"],
        "cluster_of_reference": records["Dendrogram"]["clusters"],
        "entropy": older["figures"]["points"].pop("entropy"),
    }
    html, of_new = report.render(older), report.render(new)
    for title in ("How long each number lives", "Which clusters are the same", "What the votes say of each object"):
        assert title in html
    assert "Where the votes are undecided" in html
    assert html.count("<svg") == of_new.count("<svg")


def test_other_methods_say_nothing_of_votes(labels):
    summary = report.summarize(labels, KMeansConsensus(3, random_state=0).fit(labels))
    assert summary["choice"] is None
    assert summary["evidence"] == []
    assert "How many clusters" not in report.render(summary)


def test_voting_without_a_hierarchy():
    model = CumulativeVoting(1).fit(Ensemble([[0, 0], [0, 0], [0, 0]]))
    summary = report.summarize(Ensemble([[0, 0], [0, 0], [0, 0]]), model)
    assert summary["choice"] is None
    assert "What the votes say of each object" in report.render(summary)


@pytest.mark.core(3)
@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize(
    ("lifetimes", "words"),
    [
        (
            [[3, 0.6], [2, 0.2]],
            "3 clusters live 3 times as long as the next best, 2 (0.600 against 0.200): a clear choice",
        ),
        ([[3, 0.3], [2, 0.2]], "a fair choice"),
        ([[3, 0.21], [2, 0.2]], "a close call"),
        ([[2, 0.2]], "the only number that the hierarchy offers"),
        ([[3, 0.2], [2, 0.0]], "3 clusters is the only number with a lifetime"),
        ([[3, 0.0], [2, 0.0]], "No number stands out"),
    ],
)
def test_how_clear_the_choice_is(lifetimes, words):
    k = lifetimes[0][0]
    labels = planted_labels(n=40, p=6, k=3, noise=0.1, seed=0)[0]
    summary = report.summarize(labels, CumulativeVoting(k).fit(labels))
    summary["choice"] |= {"found": True, "lifetimes": lifetimes, "halves": []}
    section = find(report.render(summary), "How many clusters, by the hierarchy of the partitions")
    assert words in section.sentences[0]
