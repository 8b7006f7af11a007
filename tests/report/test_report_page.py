"""What is on the page of single objects and what is not; the answer in words; figures as files."""

import json
import re
from functools import cache

import numpy as np
import pytest
from former import former
from limits import limit
from pages import find
from sklearn.datasets import make_blobs
from strategies import planted_labels

from ensemblage import choose_k, cite, report
from ensemblage.cli import main
from ensemblage.consensus import CumulativeVoting, KMeansConsensus
from ensemblage.metrics import verdicts
from ensemblage.ranking import DISCOTEC

Report = former("report", "Report")


N = 150


def summary_of(m=5, n=N, noise=0.2, k=3, **details):
    labels, classes = planted_labels(n=n, p=10, k=k, noise=noise, seed=1)
    consensus = KMeansConsensus(k, random_state=0).fit(labels)
    X = make_blobs(n, m, random_state=0)[0] + 7 * np.eye(k, m)[classes]
    return report.summarize(labels, consensus, features=X, ids=[f"person-{i:04d}" for i in range(n)], **details)


def answer_of(summary):
    page = report.render(summary)
    return re.sub(r"<.*?>", "", page[page.index('id="answer"') : page.index("<details")]).strip()


def built_without_objects(summary, folder):
    """The numbers as JSON, and the page."""
    report.build(summary, path=folder / "r.html", json_path=folder / "r.json", include_objects=False)
    return [(folder / name).read_text(encoding="utf-8") for name in ("r.json", "r.html")]


@pytest.mark.parametrize("m", [2, 5])
def test_without_objects_no_id_and_no_single_value_is_anywhere(m, tmp_path):
    summary = summary_of(m)
    page = report.render(summary)
    assert page.count("person-") > N
    text, page = built_without_objects(summary, tmp_path)
    assert not json.loads(text)["objects_shown"]
    assert "person-" not in text + page
    assert '<script type="application/json">' not in page
    assert "left out of this page on purpose" in page
    assert ("The data, coloured by cluster" in page) == (m > 2)  # one or two features are drawn as they are
    assert ('"xy"' in text) == (m > 2)


def test_without_objects_notes_quote_no_id_and_small_clusters_have_no_medians(tmp_path):
    clusters = np.repeat([0, 1, 2], [80, 66, 4])
    labels = np.column_stack([clusters] * 4)
    X = np.column_stack([np.arange(N) + 0.125, clusters])
    note = (
        "ids such as '=person; 1' are formulas to a spreadsheet, and are written as they are: import them there as text"
    )
    notes = f"one note; {note}; another note"
    summary = report.summarize(labels, KMeansConsensus(3).fit(labels), features=X, settings={"notes": notes})
    assert summary["profile"]["clusters"][2]["rows"]
    text, page = built_without_objects(summary, tmp_path)
    private = json.loads(text)
    assert private["settings"]["notes"] == "one note; another note"
    assert [bool(cluster["rows"]) for cluster in private["profile"]["clusters"]] == [True, True, False]
    assert all(row[2] is None for row in private["profile"]["heat_map"]["z"])
    assert all(panel["quantiles"][2] == [None] * 5 for panel in private["profile"]["panels"])
    assert "What of the data is in this page" in page
    assert page == report.render(private)


def test_build_without_objects_keeps_them_out_of_page_and_numbers(tmp_path):
    labels = planted_labels(n=40, p=5, k=2, noise=0.1, seed=0)[0]
    consensus, ids = KMeansConsensus(2, random_state=0).fit(labels), [f"person-{i:04d}" for i in range(40)]
    paths = {"path": tmp_path / "r.html", "json_path": tmp_path / "r.json"}
    report.build(labels, consensus, ids=ids, include_objects=False, **paths)
    assert not any("person-" in path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    report.build(labels, consensus, ids=ids, **paths)
    assert all("person-" in path.read_text(encoding="utf-8") for path in tmp_path.iterdir())


@pytest.mark.slow
def test_of_very_many_objects_those_drawn_and_the_undecided_are_there(monkeypatch):
    limit(monkeypatch, "objects on a page", 100)
    limit(monkeypatch, "points of a figure", 60)
    labels, _ = planted_labels(n=400, p=10, k=3, noise=0.5, seed=1)
    consensus = KMeansConsensus(3, random_state=0).fit(labels)
    summary = report.summarize(labels, consensus, features=np.random.default_rng(0).normal(size=(400, 3)))
    shown = [int(name) for name in summary["objects"]["ids"]]
    assert shown == sorted(set(shown))
    assert set(np.flatnonzero(verdicts(consensus.confidence_) == "undecided")) <= set(shown)
    assert len(shown) < 400
    points = summary["figures"]["points"]
    assert [consensus.labels_[shown[row]] for row in points["rows"]] == points["clusters"]
    page = report.render(summary)
    assert f"This page has {len(shown):,} of the 400 objects" in page
    assert '"total":400' in page


def test_a_page_of_many_objects_with_long_names_stays_small():
    n = 30_000
    labels = planted_labels(n=n, p=4, k=3, noise=0.5, seed=0)[0]
    consensus = KMeansConsensus(3, n_init=1, random_state=0).fit(labels)
    summary = report.summarize(labels, consensus, ids=[f"{i} {'x' * 300}" for i in range(n)])
    assert 5_000 < len(summary["objects"]["ids"]) <= 10_004
    assert len(report.render(summary)) < 3_000_000


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&lt;", "\u2028\u2029", "<SCRIPT", "\\", '"'])
def test_data_cannot_leave_their_element(text):
    labels = [[0, 0], [0, 0], [1, 1], [1, 0]]
    ids = ["a", f"a{text}b", "b", f"b{text}{text}d"]
    page = report.render(report.summarize(labels, KMeansConsensus(2).fit(labels), ids=ids))
    (written,) = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert not set("<>&\u2028\u2029") & set(written)
    assert json.loads(written)["ids"] == [re.sub(r"\s+", " ", name) for name in ids]


def found_again(*words):
    rows = [
        {"cluster": c, "verdict": word, "mean_jaccard": 0.9, "recovered": 9, "dissolved": 0, "n_compared": 10}
        | {"n_not_drawn": 0}
        for c, word in enumerate(words)
    ]
    return {"sentence": "", "compared_with": "bootstraps", "n": 10, "table": rows, "jaccard": [[0.9] * 10] * len(words)}


STABLE = ("stable", "very stable", "stable")


@cache
def choices():
    """`choose_k` of three clusters, and of noise."""
    X = make_blobs(N, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]
    noise = np.random.default_rng(0).normal(size=(N, 2))
    return [choose_k(data, range(2, 5), n_references=19, random_state=0) for data in (X, noise)]


@cache
def numbers():
    return [summary_of(k_choice=choice)["number"] for choice in choices()]


def number_of(evidence, best=3):
    """What the page is told of a choice of this evidence."""
    return {**numbers()[evidence == "none"], "evidence": evidence, "best": best}


@pytest.mark.core(3)
@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize(
    ("core", "border", "undecided", "again", "evidence", "said"),
    [
        (
            0.8,
            0.2,
            0,
            None,
            None,
            "The partitions agree on this: 80% of the objects are core, 20% border, and none is",
        ),
        (0.7, 0.3, 0, None, None, "The partitions mostly agree on this"),
        (0.8, 0, 0.2, None, None, "The partitions agree only in part on this"),
        (0.5, 0, 0.5, None, None, "The partitions disagree on this"),
        (
            0.8,
            0.2,
            0,
            None,
            "clear",
            "This is certain: 80% of the objects are core, 20% border, and none is undecided.",
        ),
        (0.7, 0.3, 0, None, "clear", "This is fairly certain"),
        (0.9, 0, 0.1, None, "clear", "This is fairly certain"),
        (0.8, 0, 0.2, None, "clear", "This is only partly certain"),
        (0.5, 0, 0.5, None, "clear", "This is uncertain"),
        (
            1,
            0,
            0,
            None,
            "likely",
            "This is fairly certain: all objects are core; three of five criteria name this number",
        ),
        (1, 0, 0, STABLE, "ambiguous", "This is only partly certain"),
        (1, 0, 0, STABLE, "none", "This is uncertain"),
        (0.8, 0.2, 0, STABLE, "clear", "This is certain"),
        (0.8, 0.2, 0, STABLE, None, "This is fairly certain"),
        (0.8, 0.2, 0, ("stable", "doubtful", "stable"), "clear", "This is only partly certain"),
        (0.8, 0.2, 0, ("stable", "doubtful", "stable"), None, "This is only partly certain"),
        (0.8, 0.2, 0, ("unstable", "doubtful", "unstable"), "clear", "This is uncertain"),
    ],
)
def test_confidence_in_words(core, border, undecided, again, evidence, said):
    """Never on the agreement of the partitions alone, and never against the test for structure and the criteria."""
    summary = summary_of()
    summary["number"] = None if evidence is None else number_of(evidence)
    n = sum(c["size"] for c in summary["clusters"])
    for i, cluster in enumerate(summary["clusters"]):
        counts = [round(share * n) * (i == 0) for share in (core, border, undecided)]
        cluster["verdicts"] = dict(zip(("core", "border", "undecided"), counts, strict=True))
    summary["found_again"] = None if again is None else found_again(*again)
    answer = answer_of(summary)
    assert said in answer
    n_stable = sum(word in ("stable", "very stable") for word in again or ())
    reproduced = {0: "no cluster", 2: "2 of the 3 clusters", 3: "all 3 clusters"}.get(n_stable, "")
    assert ("reproduced" in answer) == (again is not None)
    assert again is None or reproduced in answer


def test_both_clusters_are_called_so():
    said = [answer_of(summary_of() | {"found_again": found_again(*["stable"] * n)}) for n in (1, 2, 3)]
    found = [re.search(r"reproduced (.*?)[.;]", text)[1] for text in said]
    assert found == ["the cluster", "both clusters", "all 3 clusters"]


@pytest.mark.usefixtures("no_figures")
def test_the_heading_says_what_the_test_for_structure_says():
    """On the page, in a notebook and in the numbers; and no sentence says that clusters were found."""
    summary = summary_of()
    assert summary["headline"] == "3 clusters in 150 objects; the number was given"
    for evidence, votes, said in (
        ("none", 0, "No clear structure in 150 objects"),
        ("clear", 5, "3 clusters in 150 objects; all five criteria"),
        ("clear", 4, "3 clusters in 150 objects; four of five criteria"),
        ("likely", 3, "Probably 3 clusters in 150 objects; three of five criteria"),
        ("ambiguous", 2, "Perhaps 3 clusters in 150 objects; the criteria disagree"),
    ):
        voters = zip(numbers()[0]["votes"], [3] * votes + [2] * (5 - votes), strict=True)
        summary["number"] = {**number_of(evidence), "votes": dict(voters)}
        assert f"<h1>{said}</h1>" in report.render(summary)
        assert repr(Report(summary)).startswith(f"Report({said};")
    answer = answer_of({**summary, "number": number_of("none")})
    assert answer.index("No clear structure was found") < answer.index("were nevertheless divided into 3 clusters")
    assert "was found in the data" not in answer
    disputed = answer_of({**summary, "number": number_of("ambiguous")})
    assert "the criteria disagree on the number of clusters" in disputed
    assert "found in the data" not in disputed
    labels = planted_labels(n=N, p=10, k=3, noise=0.2, seed=1)[0]
    of_noise = report.summarize(labels, KMeansConsensus(3, random_state=0).fit(labels), k_choice=choices()[1])
    assert of_noise["headline"] == "No clear structure in 150 objects"


@pytest.mark.usefixtures("no_figures")
def test_another_number_than_the_criteria_name_is_not_certain():
    disputed = {**summary_of(noise=0.05), "number": number_of("clear", best=5)}
    assert repr(Report(disputed)).startswith("Report(3 clusters in 150 objects; the criteria name 5;")
    answer = answer_of(disputed)
    assert "This is only partly certain" in answer
    assert "the criteria name 5 clusters" in answer


def test_no_sentence_is_false_in_the_dark():
    """The figures' colours are inverted there: nothing is said of dark and light, black and white."""
    labels = planted_labels(n=N, p=10, k=3, noise=0.2, seed=1)[0]
    model, X = CumulativeVoting(3).fit(labels), np.random.default_rng(0).normal(size=(N, 4))
    ranking = DISCOTEC().fit(labels)
    page = report.render(report.summarize(labels, model, features=X, ranking=ranking, k_choice=choices()[0]))
    text = re.sub(r"<(svg|style|script).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert "How soft are the clusters?" in text
    assert "In colour: pairs of objects" in text
    assert not re.findall(
        r"\b(?:dark|darker|light|lighter|black|white|pale|paler|bright|brighter)\b", text, re.IGNORECASE
    )


def test_no_cluster_is_next_best_where_none_is():
    """Where the confidence is written as 1.00, and half of a cluster is not above that."""
    labels = planted_labels(n=N, p=10, k=3, noise=0, seed=1)[0]
    labels[:3, 0] = (labels[:3, 0] + 1) % 3
    summary = report.summarize(labels, KMeansConsensus(3, random_state=0).fit(labels))
    page = report.render(summary)
    table = find(page, "The objects").tables[0]
    rows = {row[0]: row for row in table.rows}
    assert [row[4] == "–" for row in table.rows] == [row[2] == "1.00" for row in table.rows]
    assert 3 <= sum(row[4] == "–" for row in table.rows) < len(rows)
    [picture] = find(page, "Can I trust it?").pictures
    assert "is at 1.00." in " ".join(picture.sentences)


def test_the_clear_differences_that_are_not_named_are_counted():
    X = np.repeat([0, 1], 20)[:, None] * np.ones(30) + np.random.default_rng(0).normal(0, 0.1, (40, 30))
    labels = np.repeat([0, 1], 20)[:, None] * np.ones(4, dtype=int)
    page = report.render(report.summarize(labels, KMeansConsensus(2).fit(labels), features=X))
    assert "(and 25 more)" in page
    assert "Clear differences are counted, and the strongest of them named." in page


def test_where_the_number_of_clusters_comes_from_is_said():
    assert "as many as were asked for" in answer_of(summary_of(settings={"k": 3}))
    assert "clusters of" in answer_of(summary_of())
    assert "asked for" not in answer_of(summary_of())
    labels = planted_labels(n=90, p=8, k=4, noise=0.05, seed=0)[0]
    labels = 3 * labels + np.random.default_rng(0).integers(3, size=labels.shape)
    assert "a number that was found in the partitions" in answer_of(
        report.summarize(labels.astype(str), CumulativeVoting().fit(labels.astype(str)))
    )


def test_a_single_cluster_is_no_confidence():
    labels = np.zeros((30, 4), dtype=int)
    labels[0, 0] = 1
    summary = report.summarize(labels, KMeansConsensus(1, random_state=0).fit(labels))
    assert "core objects" not in report.render(summary)
    answer = answer_of(summary)
    assert "form a single cluster." in answer
    assert "with one cluster, each is in it" in answer
    assert "certain:" not in answer


def test_every_word_of_the_field_is_explained_once():
    page = report.render(summary_of())
    terms = re.findall(r"<dt>([^<]*)</dt><dd>", page[page.index("<main>") :])
    assert len(terms) == len(set(terms))
    assert {"Partition", "Consensus", "Co-association", "Confidence"} <= set(terms)
    before = page[page.index("<main>") : page.index('id="partitions"')]
    seen = re.sub(r"<details.*?</details>|<svg.*?</svg>", "", before, flags=re.DOTALL)
    assert not re.findall("consensus|co-association|KMeansConsensus", seen)


@pytest.mark.parametrize("features", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_figures_as_files(features, tmp_path):
    labels = planted_labels(n=N, p=10, k=3, noise=0.2, seed=1)[0]
    consensus = KMeansConsensus(3, random_state=0).fit(labels)
    summary = summary_of() if features else report.summarize(labels, consensus)
    files = report.save_figures(summary, tmp_path / "a", ["svg", "png", "pdf", "svg"])
    assert len(files) == len(set(files)) == 3 * len(re.findall("<svg (?!class)", report.render(summary)))
    kinds = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    assert all(path.read_bytes().startswith(kinds[path.suffix[1:]]) for path in files)
    again = report.save_figures(summary, tmp_path / "b", ["svg", "png", "pdf"])
    assert [path.read_bytes() for path in files] == [path.read_bytes() for path in again]
    report.save_figures(summary, tmp_path / "a", ["svg"], overwrite=False)
    files[0].write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError, match="another file"):
        report.save_figures(summary, tmp_path / "a", ["svg"], overwrite=False)
    rule = "formats of save_figures must be a list of one or more, each one of 'svg', 'png', 'pdf'. Got "
    for formats in (["gif"], "svg", [], np.nan, np.zeros((2, 2)), len):
        with pytest.raises((ValueError, TypeError), match=re.escape(rule)):
            report.save_figures(summary, tmp_path / "c", formats)
    assert not (tmp_path / "c").exists()


MADE_BY = {
    "diverse": ("by Gaussian mixtures, spectral clustering and Genie", "DiversePartitions"),
    "random-k": ("by k-means, each time into a random number of clusters", "RandomKPartitions"),
    "subspace": ("by k-means on random halves of the features", "SubspacePartitions"),
    "projection": ("by k-means on random projections of the features", "ProjectionPartitions"),
    "greedy": ("by k-means, each time with the features and the partitions before", "GreedyPartitions"),
    "mixed": ("by ten different algorithms", "MixedPartitions"),
    "genie": ("by Genie with several thresholds and numbers of clusters", "GeniePartitions"),
    "uspec": ("by spectral clustering by way of representatives", "USpecPartitions"),
    "gower": ("by average linkage of Gower's distances", None),
}


@pytest.mark.usefixtures("no_figures")
def test_every_generator_of_the_shell_is_written_of():
    """In the paragraph for a methods section, and with its papers."""
    [option] = [p for p in main.commands["run"].params if p.name == "generator"]
    assert set(MADE_BY) == set(option.type.choices)
    of_method = [paper.bibtex for paper in cite(KMeansConsensus(3)).references]
    for name, (words, cited) in MADE_BY.items():
        summary = summary_of(settings={"generator": name, "seed": 7})
        section = find(report.render(summary), "How it was made")
        text = section.copied[0]
        assert f"150 objects with 5 features were clustered 10 times {words}" in text
        assert text.endswith("seed 7.")
        papers = [r.bibtex for r in cite(cited).references] if cited else []
        assert [paper["bibtex"] for paper in summary["references"]] == list(dict.fromkeys(papers + of_method))
        assert all(paper.strip() in section.copied[-1] for paper in papers)
    of_none = find(report.render(summary_of()), "How it was made")
    assert of_none.copied[0].startswith("10 partitions of 150 objects")
