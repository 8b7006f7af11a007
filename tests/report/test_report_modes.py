"""Whether the partitions tell one story, on the page and in the shell."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner
from limits import limit
from numpy.testing import assert_array_equal
from pages import find
from test_modes import GOLDEN, planted

from ensemblage import report
from ensemblage.cli import main
from ensemblage.consensus import ConsensusModes, KMeansConsensus


@pytest.fixture(scope="module")
def consensus():
    return KMeansConsensus(3, random_state=0).fit(GOLDEN)


def write(path, labels):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f"m{j}" for j in range(labels.shape[1])])
        writer.writerows(labels.tolist())
    return path


def test_two_stories_stand_on_the_page(consensus):
    modes = ConsensusModes().fit(GOLDEN)
    summary = report.summarize(GOLDEN, consensus, modes=modes)
    found = summary["modes"]
    assert found["sentence"] == modes.sentence
    assert [row["n_clusters"] for row in found["table"]] == [3, 2]
    assert [len(row["partitions"]) for row in found["table"]] == [5, 3]
    assert not found["table"][1]["nested"]
    assert report.render(json.loads(json.dumps(summary))) == report.render(summary)
    page = report.render(summary)
    assert "These partitions tell two stories: 5 of 8 the first, 3 the second." in page
    assert "a compromise that may be none of them" in page
    assert summary["headline"] == "3 clusters in 12 objects; the partitions tell several stories"
    assert "The answer is a compromise: see “Do they tell one story?” below." in find(page, "The answer").sentences[1]
    assert find(page, "What next").sentences[0].startswith("Read the clusters of each story")
    assert "Do they tell one story?" not in report.render(report.summarize(GOLDEN, consensus))


def test_each_story_says_what_splits_and_merges():
    """Against the answer, by its clusters, with a tree of the three."""
    area, diet = np.repeat([0, 1, 2], 40), np.tile([0, 1], 60)
    labels = np.column_stack([area] * 6 + [diet] * 3)
    model = KMeansConsensus(3, random_state=0).fit(labels[:, :6])
    modes = ConsensusModes(n_jobs=1).fit(labels)
    summary = report.summarize(labels, model, modes=modes)
    first, second = (row["against"] for row in summary["modes"]["table"])
    assert first == "the same clusters."
    split = "cluster 0 splits into 20 and 20; cluster 1 splits into 20 and 20; cluster 2 splits into 20 and 20"
    formed = "parts of clusters 0, 1 and 2 form one of 60"
    assert second == f"{split}; {formed}; {formed}."
    page = report.render(summary)
    part = find(page, "Do they tell one story?")
    table = next(t for t in part.tables if t.title == "What each story splits and merges")
    assert [row[:2] for row in table.rows] == [["story 1", "3"], ["story 2", "2"]]
    assert table.rows[1][2].startswith("Cluster 0 splits into 20 and 20")
    assert [p.title for p in part.pictures] == ["From the answer to each story"]
    assert page.count(">story 2</text>") == 1
    older = {**summary, "modes": {k: v for k, v in summary["modes"].items() if k != "labels"}}
    assert "From the answer to each story" not in report.render(older)


def told(other, model):
    """What the page says of a story beside the answer of a model of three clusters."""
    members = np.column_stack([np.repeat([0, 1, 2], [100, 100, 4])] * 3 + [np.tile([0, 1, 2], 68)] * 3)
    modes = ConsensusModes(n_jobs=1).fit(members)
    assert modes.n_modes_ == 2
    modes.labels_ = np.column_stack([modes.labels_[:, 0], other])
    return report.summarize(members, model, modes=modes)["modes"]["table"][1]["against"]


def test_small_parts_are_left_out_of_what_splits():
    """Of partitions that were not made of each other a twentieth of a cluster is no part, and a new one is."""
    answer = np.repeat([0, 1, 2], [100, 100, 4])
    other = answer.copy()
    other[:5] = 1
    model = KMeansConsensus(3, random_state=0).fit(np.column_stack([answer] * 3))
    assert_array_equal(model.labels_, answer)
    assert told(other, model) == "the same clusters, but for 5 objects."
    other[5:8] = 3  # three objects of cluster 0 are one of their own
    numbered = KMeansConsensus(3, random_state=0).fit(np.column_stack([answer] * 3)).align(answer + 7)
    assert told(other, numbered) == "cluster 7 splits into 92 and 3."
    other[-4:] = 1
    other[5:8] = 0
    assert told(other, model) == "clusters 1 and 2 merge into one of 109."
    assert told(answer, model) == "the same clusters."
    assert told(np.where(np.arange(204) < 1, -1, answer), model) == "the same clusters."


def test_one_story_is_a_sentence_without_a_table():
    labels = planted(0)
    model = KMeansConsensus(3, random_state=0).fit(labels)
    page = report.render(report.summarize(labels, model, modes=ConsensusModes().fit(labels)))
    assert "These partitions tell one story." in page
    assert "Agreement inside" not in page


@pytest.mark.usefixtures("no_figures")
def test_finer_ones_are_no_other_story():
    coarse, fine = np.repeat([0, 1], 40), np.repeat(np.arange(8), 10)
    others = {
        "finer": (fine, True),
        "across": (np.tile(np.arange(8), 10), False),
        "as many": (np.tile([0, 1], 40), False),
    }
    for other, nested in others.values():
        for first, second in ((coarse, other), (other, coarse)):
            labels = np.column_stack([first] * 5 + [second] * 5)
            model = KMeansConsensus(2, random_state=0).fit(labels)
            modes = ConsensusModes().fit(labels)
            assert modes.n_modes_ == 2
            page = report.render(report.summarize(labels, model, modes=modes))
            assert ("They differ in how fine they are" in page) == nested
            assert ("The consensus is a compromise" in page) != nested
            assert ("the partitions tell several stories" in page) != nested


def test_what_is_no_mode_of_these_partitions(consensus):
    with pytest.raises(TypeError, match="modes of report must be a fitted ConsensusModes"):
        report.summarize(GOLDEN, consensus, modes=3)
    with pytest.raises(ValueError, match=r"fitted on the 8 partitions of 12 objects\. Got 3 of 12"):
        report.summarize(GOLDEN, consensus, modes=ConsensusModes().fit(GOLDEN[:, :3]))


def test_combine_tells_the_stories_where_that_is_quick(tmp_path, monkeypatch):
    def combine(name):
        asked = ["combine", str(write(tmp_path / "labels.csv", GOLDEN)), "-k", "3", "-o", str(tmp_path / name)]
        done = CliRunner().invoke(main, asked, catch_exceptions=False)
        assert done.exit_code == 0, done.stderr
        return done.stdout

    assert "stories     These partitions tell two stories: 5 of 8 the first, 3 the second." in combine("out")
    assert "tell two stories" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    limit(monkeypatch, "rows compared for modes", 10)
    assert "These partitions tell" not in combine("other")


@pytest.mark.slow
def test_combine_of_very_many_clusters_does_without_stories(tmp_path):
    labels = np.random.default_rng(0).integers(0, 20_000, (20_000, 3))
    asked = ["combine", str(write(tmp_path / "labels.csv", labels)), "-k", "3", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(main, asked, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    assert "stories" not in done.stdout


def test_the_stories_are_looked_for_by_as_many_jobs_as_wanted(tmp_path, monkeypatch):
    asked_for = []

    fit = ConsensusModes.fit
    monkeypatch.setattr(ConsensusModes, "fit", lambda self, *given: asked_for.append(self.n_jobs) or fit(self, *given))
    asked = ["combine", str(write(tmp_path / "labels.csv", GOLDEN)), "-k", "3", "-o", str(tmp_path / "out")]
    assert CliRunner().invoke(main, [*asked, "--jobs", "2"], catch_exceptions=False).exit_code == 0
    assert asked_for == [2]
