"""``run --merge-unsupported``: before and after in labels.csv, summary.json and on the page."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from pages import find

from ensemblage import Ensemble, report
from ensemblage.cli import main
from ensemblage.consensus import KMeansConsensus
from ensemblage.stability import merge_unsupported


@pytest.fixture
def table(tmp_path):
    """Two clusters of 60 objects, far apart."""
    X = np.random.default_rng(0).normal(size=(120, 3))
    X[60:, 0] += 12
    path = tmp_path / "t.csv"
    pd.DataFrame(X, columns=["x", "y", "z"]).to_csv(path, index_label="id")
    return path


def run(path, *args, output="out"):
    options = ["--generator", "random-k", "--partitions", "20", "--stability", "0"]
    return CliRunner().invoke(main, ["run", str(path), *options, "-o", str(path.parent / output), *args])


def labels_of(path):
    with open(path.parent / "out" / "labels.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_parts_of_a_cluster_are_merged_and_the_clusters_stay(table):
    result = run(table, "-k", "4", "--merge-unsupported", "--annotate")
    assert result.exit_code == 0, result.stderr
    rows = labels_of(table)
    assert len({row["cluster"] for row in rows}) == 4
    after = [row["merged_cluster"] for row in rows]
    assert len(set(after[:60])) == len(set(after[60:])) == 1
    assert after[0] != after[60]
    for number in set(after):  # a merged cluster has the number of the first of its clusters
        assert number == min((row["cluster"] for row in rows if row["merged_cluster"] == number), key=int)
    annotated = pd.read_csv(table.parent / "out" / "annotated.csv")
    assert annotated["merged_cluster"].tolist() == [int(number) for number in after]
    found = json.loads((table.parent / "out" / "summary.json").read_text(encoding="utf-8"))
    assert found["merged"]["sentence"] == "4 clusters became 2; splits that a linear test does not support were merged."
    assert sorted(found["merged"]["sizes"]) == [60, 60]
    assert found["merged"]["sentence"] in result.stderr
    assert f"merged      {found['merged']['sentence']}" in result.stdout
    assert (found["merged"]["n_before"], found["merged"]["n_after"]) == (4, 2)
    assert found["headline"] == "4 clusters in 120 objects; the number was given; merging leaves 2 of 4"
    page = (table.parent / "out" / "report.html").read_text(encoding="utf-8")
    assert f"<h1>{found['headline']}</h1>" in page
    assert f"<p>{found['merged']['sentence']} The page describes the clusters before that.</p>" in page
    assert "the column merged_cluster of labels.csv" in page
    assert "splits" in found["seconds"]


def test_where_all_clusters_stay_the_heading_is_as_without(table):
    result = run(table, "-k", "2", "--merge-unsupported")
    found = json.loads((table.parent / "out" / "summary.json").read_text(encoding="utf-8"))
    assert found["headline"] == "2 clusters in 120 objects; the number was given"
    sentence = "All 2 clusters stay; every split is supported by a linear test."
    assert found["merged"]["sentence"] == sentence
    assert f"merged      {sentence}" in result.stdout
    page = (table.parent / "out" / "report.html").read_text(encoding="utf-8")
    assert f"<p>{sentence}</p>" in page
    assert "before that" not in page


def test_unasked_nothing_is_merged(table):
    assert run(table, "-k", "4").exit_code == 0
    assert "merged_cluster" not in labels_of(table)[0]
    assert "merged" not in json.loads((table.parent / "out" / "summary.json").read_text(encoding="utf-8"))
    assert "linear test" not in (table.parent / "out" / "report.html").read_text(encoding="utf-8")


def test_a_copy_of_the_input_is_refused(table):
    result = run(table, "-k", "2", "--merge-unsupported", output="x.h5ad")
    assert result.exit_code == 2
    assert "error: --merge-unsupported must go with a folder. Got -o " in result.stderr


def test_the_page_says_what_was_merged_and_why_and_never_that_it_is_not_real():
    X = np.random.default_rng(0).normal(size=(90, 2))
    X[60:, 0] += 12
    ensemble = Ensemble([[a, a, a] for a in np.repeat(["a", "b", "c"], 30)])
    consensus = KMeansConsensus(n_clusters=3, random_state=0).fit(ensemble)
    merged = merge_unsupported(consensus.labels_, X, random_state=0)
    summary = report.summarize(ensemble, consensus, features=X, merged=merged)
    text = report.render(summary)
    section = find(text, "Which splits does a linear test support?")
    assert section.sentences[0] == "3 clusters became 2; splits that a linear test does not support were merged."
    assert "not supported by a linear test" in section.sentences[1]
    assert "no straight line separates" in section.sentences[2]
    assert not any("real" in sentence for sentence in section.sentences)


def test_what_is_no_record_of_merging_is_refused():
    ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [1, 0]])
    consensus = KMeansConsensus(n_clusters=2, random_state=0).fit(ensemble)
    with pytest.raises(TypeError, match="merged of report must be what merge_unsupported returned"):
        report.summarize(ensemble, consensus, merged=[0, 1])
