"""The learned choice on the page, in its numbers and in what is cited."""

import copy
import json
import re
from html import unescape

import numpy as np
import pytest
from pages import Tree
from sklearn.datasets import make_blobs

from ensemblage import ConsensusClustering, Ensemble, cite, report
from ensemblage.choices._chooser import candidate_named, candidate_text
from ensemblage.consensus import KMeansConsensus

BLOBS = make_blobs(90, centers=[(0, 0), (0, 30), (30, 0)], random_state=0)[0]


def page_text(html):
    return Tree(html).root.text


def fitted(**given):
    return ConsensusClustering(**given, selection="learned", random_state=0).fit(BLOBS)


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture(scope="module")
def summary(model):
    return json.loads(json.dumps(model.report(BLOBS).summary))


@pytest.fixture
def changed(summary):
    """A copy of the summary whose choice may be changed."""
    return copy.deepcopy(summary)


def test_the_record_of_the_choice(model, summary):
    found, chosen = summary["chosen"], model.chosen_
    for name in ("n_clusters", "view", "family", "runner_up", "margin", "version", "sentence"):
        assert found[name] == getattr(chosen, name)
    assert found["is_clear"] is True
    assert found["rating"] == max(found["predicted"].values())
    assert found["predicted"] == {str(k): rating for k, rating in chosen.predicted.items()}
    weights = [entry["weight"] for entry in found["weights"]]
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1)
    assert {(w["view"], w["family"], w["k"]): w["weight"] for w in found["weights"]} == chosen.weights
    assert sum(member["weight"] for member in summary["members"]) == pytest.approx(sum(weights))


def test_the_page_is_the_same_of_the_parts(model, summary):
    parts = report.summarize(model.ensemble_, model.consensus_, features=BLOBS, chosen=model.chosen_)
    assert parts["chosen"] == summary["chosen"]
    assert report.summarize(model.ensemble_, model.consensus_)["chosen"] is None
    with pytest.raises(TypeError, match="chosen of report must be chosen_ of a ConsensusClustering"):
        report.summarize(model.ensemble_, model.consensus_, chosen=3)


def test_the_answer_quotes_the_choice(model, summary):
    text = page_text(report.render(summary))
    assert summary["headline"].startswith("3 clusters in 90 objects; ")
    assert summary["headline"].endswith(", is rated far less")
    assert text.index("fall into 3 clusters") < text.index(model.chosen_.sentence) < text.index("More on this")


def test_every_number_of_clusters_with_its_rating(summary):
    text = page_text(report.render(summary))
    section = text[text.index("How many clusters are there?") :]
    assert f"The best partition with 3 clusters is rated {summary['chosen']['rating']:.2f}" in section
    assert "that the trees predict of the best partition with k clusters" in section
    assert "It is not a probability, and not calibrated on real data." in section
    assert "true clusters that regression trees predict, 1 at most." in text
    assert "What each criterion names" not in text


def test_where_the_number_is_given_none_is_rated():
    text = page_text(fitted(n_clusters=4).report(BLOBS).html)
    assert "How many clusters are there?" not in text
    assert "How much does each partition weigh?" in text
    assert "whether there is structure at all was not tested" in text or "agree" in text


def test_without_clear_clusters_the_page_says_so(changed):
    changed["chosen"]["is_clear"] = False
    page = page_text(report.render(changed))
    assert "No clear clusters in 90 objects" in page
    assert page.index("No clear clusters were found") < page.index("were nevertheless divided into 3 clusters")
    assert "clusters, if any" in page
    assert "3 clusters live" in page
    assert not any(words in page for words in ("a clear choice", "a fair choice", "a close call"))
    assert "This compares numbers; it does not show that there are clusters." in page
    assert "synthetic sets without clusters are rated as high" in page


def test_one_cluster_without_clear_clusters(unclear):
    of_one = fitted(allow_one=True).report(BLOBS)
    assert of_one.summary["headline"] == "No clear clusters in 90 objects"
    assert "The 90 objects form a single cluster." in page_text(of_one.html)
    assert fitted(n_clusters=3).report(BLOBS).summary["headline"] == "3 clusters in 90 objects; the number was given"


@pytest.mark.parametrize(
    ("other", "evidence", "said"),
    [
        (0.2, "clear", "This is fairly certain: all objects are core."),
        (0.03, "likely", "This is fairly certain: all objects are core; 5 clusters are rated a little less"),
        (0.001, "ambiguous", "This is only partly certain: all objects are core; 5 clusters are rated about as high"),
    ],
)
def test_confidence_goes_by_the_next_number(changed, other, evidence, said):
    chosen = changed["chosen"]
    chosen["predicted"] = dict.fromkeys(chosen["predicted"], 0.0) | {"3": 0.9, "5": 0.9 - other}
    text = page_text(report.render(changed))
    assert said in text
    heading = {"clear": "3 clusters in 90 objects; the next best number, 5, is rated far less"}
    heading |= {"likely": "Probably 3 clusters in 90 objects; the next best number, 5, is rated a little less"}
    heading |= {"ambiguous": "Perhaps 3 clusters in 90 objects; the next best number, 5, is rated about as high"}
    assert heading[evidence] in text
    assert ("a number that was found in the data" in text) == (evidence != "ambiguous")


def test_the_methods_paragraph_names_what_weighs(changed):
    weights = (("own", "kmeans", 0.6), ("deviation", "ward", 0.395), ("own", "genie3", 0.005))
    changed["chosen"]["weights"] = [{"view": v, "family": f, "k": 3, "weight": w} for v, f, w in weights]
    text = page_text(report.render(changed))
    p = changed["data"]["n_partitions"]
    assert f"90 objects with 2 features were clustered {p} times by k-means and Ward's method, on " in text
    assert "standardised columns" in text
    assert f"trained on synthetic data alone (version {changed['chosen']['version']})" in text
    assert "by average linkage of the weighted co-association" in text
    assert "their number is that of the partition with the highest predicted index" in text


def test_families_of_another_version_keep_their_names(changed):
    changed["chosen"]["weights"] = [{"view": "polar", "family": "median", "k": 3, "weight": 1.0}]
    assert "by median, on polar" in page_text(report.render(changed))


def test_older_summaries_are_read(changed):
    del changed["chosen"]
    changed["schema"] = 6
    assert "3 clusters in 90 objects" in report.render(changed)


def test_what_is_cited(model):
    keys = {paper.key for paper in cite(model).references}
    assert {"friedman2001", "fred2005"} <= keys
    assert keys - {"fred2005"} == {paper.key for paper in cite(model.chosen_).references}
    unfitted = {paper.key for paper in cite(ConsensusClustering(generator=model.generator_)).references}
    assert "friedman2001" not in unfitted


def test_figures_of_a_model_are_as_before(model):
    assert model.plot() is not None
    assert np.isfinite(model.confidence_).all()


def test_sentences_name_partitions_in_words(summary):
    """Their names, such as own_lumbermark_k4, stand in tables and files alone."""
    codes = {member["name"] for member in summary["members"]}
    assert any(name.startswith("own_kmeans_k") for name in codes)
    html = report.render(summary)
    sentences = [re.sub(r"<[^>]+>", "", found) for found in re.findall(r"<p[^>]*>(.*?)</p>", html, flags=re.DOTALL)]
    assert len(sentences) > 20
    assert [text for text in sentences for name in codes if name in text] == []
    best = summary["members"][summary["agreement"]["best_member"]]["name"]
    assert any(candidate_text(candidate_named(best)) in unescape(text) for text in sentences)


def test_partitions_of_several_algorithms_on_one_view_are_not_called_one(summary):
    assert summary["consensus"]["shared"]["name"] is None
    labels = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    for names, said in ((["own_kmeans_k2", "robust_kmeans_k2"], "k-means"), (["own_kmeans_k2", "own_ward_k2"], None)):
        ensemble = Ensemble(labels, names=names)
        made = report.summarize(ensemble, KMeansConsensus(2, random_state=0).fit(ensemble))
        assert made["consensus"]["shared"]["name"] == said
