"""Records of diagnostics: to JSON and back, a figure each, and a new method that is explained by them alone."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from former import former
from pages import sections_of
from strategies import planted_labels

from ensemblage import METHODS, plotting, report
from ensemblage.cli import main
from ensemblage.consensus import EvidenceAccumulation, MajorityVoting
from ensemblage.consensus.diagnostics import (
    Candidates,
    Cut,
    Dendrogram,
    Diagnostics,
    Lifetimes,
    Memberships,
    PairCounts,
    Splits,
    Trace,
    diagnostics_from_dict,
)

Capabilities = former("consensus", "Capabilities")
Method = former("consensus", "Method")

RECORDS = [
    Dendrogram(
        np.array([[0, 1, 0.1, 2], [2, 3, 0.7, 3]]),
        np.ones(3),
        np.array([0, 0, 1]),
        "object",
        "single",
        "1 − similarity",
    ),
    Dendrogram(np.array([[0, 1, 0.1, 2]]), np.empty(0), np.array([0, 1]), "cluster", "average", "divergence"),
    Lifetimes({2: 0.5, 3: 0.25}, None),
    PairCounts(np.array([3, 0, 2, 1]), {"kmeans": 0.5}, 0.5, 4),
    Candidates("threshold", np.array([0.1, 0.2]), "MM index", np.array([0.5, np.nan])),
    Splits(np.array([9, 5]), np.array([8.0, 3.0]), np.array([4.0, 1.0]), np.array([0.1, 0.2])),
    Trace("density", np.array([0.5, 0.75])),
    Memberships(np.array([[0.75, 0.25], [np.nan, np.nan]]), np.array([0, -1]), np.ones(2)),
    Cut("normalized association", 1.75, 2.0),
]
kinds = pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)


def test_every_kind_is_here_and_they_are_eight_at_most():
    assert {type(record) for record in RECORDS} == set(Diagnostics.__subclasses__())
    assert len(Diagnostics.__subclasses__()) <= 8


@kinds
def test_json_and_back(record):
    text = json.dumps(record.to_dict(), allow_nan=False)
    back = diagnostics_from_dict(json.loads(text))
    assert type(back) is type(record)
    assert json.dumps(back.to_dict()) == text
    for name, value in vars(record).items():
        np.testing.assert_equal(getattr(back, name), value)
        if isinstance(value, np.ndarray):
            assert getattr(back, name).dtype == value.dtype


@pytest.mark.core(3)
@pytest.mark.usefixtures("no_figures")
@kinds
def test_a_figure_and_words(record):
    assert plotting.diagnostics(record).has_data()
    labels = np.array([[0, 0], [0, 0], [1, 1], [1, 0]])
    summary = report.summarize(labels, EvidenceAccumulation(2).fit(labels))
    with_it, without = (
        [part for section in sections_of(report.render({**summary, "evidence": found})) for part in section.walk()]
        for found in ([record.to_dict()], [])
    )
    (more,) = (part for part in with_it if part.title not in {other.title for other in without})
    assert more.sentences or more.pictures
    sentences = [*more.sentences, *(sentence for picture in more.pictures for sentence in picture.sentences)]
    assert all(sentence.endswith(".") for sentence in sentences)


def test_what_is_no_record():
    with pytest.raises(TypeError, match=r"A record of diagnostics must come from a fitted consensus\. Got 3\."):
        plotting.diagnostics(3)
    with pytest.raises(ValueError, match=r"one of the kinds Dendrogram, .*\. Got 'Toy'\."):
        diagnostics_from_dict({"kind": "Toy"})


def test_losses_after_splits():
    assert RECORDS[5].losses.tolist() == [8.0, 4.0, 2.0]


def test_memberships_are_those_of_the_objects_asked_for():
    labels = planted_labels(n=50, p=6, k=3, noise=0.3, seed=1)[0]
    model = METHODS["acv"].estimator(3).fit(labels)
    (votes,) = [record for record in model.diagnostics(labels, [7, 3]) if isinstance(record, Memberships)]
    np.testing.assert_array_equal(votes.membership, model.membership_[[7, 3]])
    assert votes.clusters.tolist() == model.labels_[[7, 3]].tolist()


class Parity(MajorityVoting.__base__):
    """A toy method: objects by the parity of their first label; it tells of a search with a toy score."""

    _capabilities = Capabilities(finds_n_clusters=True)

    def __init__(self, n_clusters=None, *, weights=None, n_jobs=None):
        self.n_clusters = n_clusters
        self.weights = weights
        self.n_jobs = n_jobs

    def _fit(self, rows):
        return np.unique(np.asarray(rows.codes[:])[:, 0] % 2, return_inverse=True)[1]

    def _diagnostics(self, ensemble, objects):
        return (Candidates("toy parameter", np.array([1.0, 2.0]), "toy score", np.array([0.5, 0.25])),)


def test_a_new_method_of_known_kinds_is_explained_everywhere(tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS._listed, "parity", Method(Parity, "no paper", "O(n)", "O(n)", "always two"))
    labels = planted_labels(n=40, p=5, k=2, noise=0.1, seed=0)[0]
    np.savetxt(tmp_path / "labels.csv", labels, fmt="%d", delimiter=",", header="a,b,c,d,e", comments="")
    result = CliRunner().invoke(
        main, ["combine", str(tmp_path / "labels.csv"), "--method", "parity", "-o", str(tmp_path / "out")]
    )
    assert result.exit_code == 0, result.output
    assert (
        "2 values for the toy parameter gave different partitions. The best was 2 (toy score 0.250), then 1 (0.500)"
        in result.output
    )
    (record,) = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["evidence"]
    assert (record["kind"], record["parameter"], record["scores"]) == ("Candidates", "toy parameter", [0.5, 0.25])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "The values that were tried" in page
    assert "toy score" in page
    (shown,) = Parity().fit(labels).diagnostics(labels)
    assert plotting.diagnostics(shown).get_xlabel() == "toy parameter"
    assert report.summarize(labels, Parity().fit(labels))["evidence"] == [record]


@pytest.mark.parametrize(
    "wrong", [np.array([0, 2, 0], dtype=np.int64), np.array([0, 255, 0], dtype=np.uint8), np.full(3, -1)]
)
def test_wrong_numbers_of_clusters_are_not_taken(wrong, monkeypatch):
    """A method that leaves gaps, or takes an unsigned -1 for none, would be silently wrong."""
    monkeypatch.setattr(Parity, "_fit", lambda self, rows: wrong[: len(rows)])
    with pytest.raises(ValueError, match="signed whole numbers from 0 without gaps"):
        Parity().fit([[0, 0], [1, 1], [2, 2]])
