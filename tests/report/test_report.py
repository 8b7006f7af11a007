"""A report says what the numbers say, is one harmless file, and is the same for the same input."""

import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from pages import find
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, normalized_mutual_info_score
from strategies import planted_labels

from ensemblage import Ensemble, choose_k, plotting, report
from ensemblage.base.text import listing
from ensemblage.consensus import CumulativeVoting, KMeansConsensus
from ensemblage.metrics import cluster_density, coassociation, density, verdicts
from ensemblage.ranking import AverageAgreement

VOID = {"meta", "link", "br", "img", "input", "hr"}


def noisy_ensemble(n=120, p=9, k=3, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, k, n)
    labels = np.where(rng.random((n, p)) < 0.75, classes[:, None], rng.integers(0, k, (n, p)))
    labels[rng.random((n, p)) < missing] = -1
    return Ensemble(labels), classes


class Given:
    """A consensus of unknown origin."""

    def __init__(self, labels, confidence=None):
        self.labels_ = np.asarray(labels)
        self.confidence_ = np.full(len(labels), 0.5) if confidence is None else np.asarray(confidence)


class Page(HTMLParser):
    """Checks that elements are closed in order, and collects ids, texts and attributes."""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.tags, self.texts, self.attributes = [], [], [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def analysis():
    ensemble, classes = noisy_ensemble()
    consensus = KMeansConsensus(n_clusters=3, random_state=0).fit(ensemble)
    features = make_blobs(120, n_features=5, random_state=0)[0]
    details = {
        "features": features,
        "truth": classes,
        "ranking": [AverageAgreement().fit(ensemble), AverageAgreement(measure="nmi").fit(ensemble)],
        "seconds": {"consensus": 0.5},
        "settings": {"seed": 0},
    }
    return ensemble, consensus, details


@pytest.fixture(scope="module")
def summary(analysis):
    ensemble, consensus, details = analysis
    return report.summarize(ensemble, consensus, **details)


@pytest.fixture(scope="module")
def page(summary):
    return report.render(summary)


def test_numbers_are_those_of_the_metrics(analysis, summary):
    ensemble, consensus, _ = analysis
    labels = consensus.labels_
    assert summary["data"]["n_objects"] == 120
    assert [c["size"] for c in summary["clusters"]] == np.bincount(labels).tolist()
    assert summary["consensus"]["mean_cohesion"] == pytest.approx(density(ensemble, labels))
    assert summary["consensus"]["mean_confidence"] == pytest.approx(consensus.confidence_.mean())
    words = verdicts(consensus.confidence_)
    for c in summary["clusters"]:
        inside = words[labels == c["cluster"]].tolist()
        assert c["verdicts"] == {word: inside.count(word) for word in ("core", "border", "undecided")}
    shared = coassociation(ensemble)
    assert summary["consensus"]["between"] == pytest.approx(shared[labels[:, None] != labels].mean())
    between = cluster_density(ensemble, labels) - 2 * np.eye(3)
    assert [c["nearest"]["cluster"] for c in summary["clusters"]] == between.argmax(axis=1).tolist()
    ari = [adjusted_rand_score(labels, np.asarray(ensemble)[:, j]) for j in range(9)]
    assert [m["agreement"] for m in summary["members"]] == pytest.approx(ari)
    assert summary["agreement"]["consensus"] == pytest.approx(np.mean(ari))


def test_agreement_of_members_counts_each_pair_and_the_best_of_them(analysis, summary):
    columns = np.asarray(analysis[0]).T
    ari = np.array([[adjusted_rand_score(a, b) for a in columns] for b in columns])
    assert summary["agreement"]["others"] == pytest.approx(ari[~np.eye(9, dtype=bool)].mean())
    assert summary["agreement"]["best"] == pytest.approx(ari.mean(axis=1).max())
    assert summary["agreement"]["best_member"] == ari.mean(axis=1).argmax()


@pytest.mark.parametrize(
    ("key", "score"),
    [("ari", adjusted_rand_score), ("ami", adjusted_mutual_info_score), ("nmi", normalized_mutual_info_score)],
)
def test_comparison_with_classes(analysis, summary, key, score):
    ensemble, consensus, details = analysis
    members = [score(details["truth"], column) for column in np.asarray(ensemble).T]
    found = summary["truth"][key]
    assert found["consensus"] == pytest.approx(score(details["truth"], consensus.labels_))
    expected = [np.mean(members), np.std(members, ddof=1), np.max(members)]
    assert [found["mean"], found["sd"], found["best"]] == pytest.approx(expected)


def test_missing_classes_are_left_out_of_the_comparison():
    ensemble, classes = noisy_ensemble()
    consensus = KMeansConsensus(n_clusters=3, random_state=0).fit(ensemble)
    truth = ["abc"[c] for c in classes]
    truth[:20] = [None] * 20
    found = report.summarize(ensemble, consensus, truth=truth)["truth"]
    assert found["ari"]["consensus"] == pytest.approx(adjusted_rand_score(classes[20:], consensus.labels_[20:]))
    assert found["ami"]["consensus"] == pytest.approx(adjusted_mutual_info_score(classes[20:], consensus.labels_[20:]))


def test_least_certain_objects_and_where_else_they_could_be(analysis, summary):
    _, consensus, _ = analysis
    order = np.argsort(consensus.confidence_, kind="stable")[:50]
    assert [o["id"] for o in summary["least_certain"]] == [str(i) for i in order]
    for o, i in zip(summary["least_certain"], order, strict=True):
        assert o["runner_up"] == consensus.runner_up_[i]
        assert o["verdict"] == verdicts(consensus.confidence_[[i]])[0]


def test_what_a_consensus_of_unknown_origin_does_not_know_is_counted():
    ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [0, 1]])
    found = report.summarize(ensemble, Given([0, 0, 1, 1], [1.0, 0.9, 0.7, 0.2]), ids=["x", "y", "z", "odd"])
    assert [(o["id"], o["runner_up"]) for o in found["least_certain"]] == [("odd", 0), ("z", 0), ("y", 1), ("x", 1)]
    assert found["consensus"]["mean_cohesion"] == pytest.approx((1 + 1 + 0.5 + 0.5) / 4)


@pytest.mark.parametrize(
    ("labels", "names", "shared"),
    [
        ([[0, 0], [0, 0], [1, 1]], ["kmeans_k2_0", "kmeans_k2_1"], {"k": 2, "name": "kmeans"}),
        ([[0, 0], [0, 1], [1, 2]], ["ward", "kmeans_1"], {"k": None, "name": None}),
        ([[0, 0], [0, 1], [1, 2]], ["m0", "m1"], {"k": None, "name": None}),
    ],
)
def test_what_all_partitions_share_is_said(labels, names, shared):
    ensemble = Ensemble.from_partitions(list(zip(*labels, strict=True)), names=names)
    found = report.summarize(ensemble, Given([0, 0, 1]))
    assert found["consensus"]["shared"] == shared
    page = report.render(found)
    assert ("an error that all of them make cannot be seen" in page) == (shared["k"] is not None)


def test_summary_survives_json_and_gives_the_same_page(summary, page):
    assert report.render(json.loads(json.dumps(summary, allow_nan=False))) == page


def test_same_input_gives_the_same_bytes(analysis, tmp_path):
    ensemble, consensus, details = analysis
    paths = [report.build(ensemble, consensus, path=tmp_path / f"{i}.html", **details) for i in range(2)]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0.html", "1.html"]


def test_json_is_what_the_page_is_made_of(analysis, summary, page, tmp_path):
    ensemble, consensus, details = analysis
    report.build(ensemble, consensus, path=tmp_path / "r.html", json_path=tmp_path / "r.json", **details)
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == summary
    report.build(summary, path=tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page


def test_page_loads_nothing(page, summary):
    parsed = Page(page)
    assert not {"link", "iframe", "img", "object", "base", "form"} & set(parsed.tags)
    assert not [name for name, _ in parsed.attributes if name.startswith("on")]
    links = [value for name, value in parsed.attributes if name in ("src", "href", "xlink:href", "action")]
    assert all(value.startswith(("#", "data:image/png;base64,")) for value in links)
    assert set(re.findall(r"https?://[^\"'\s<]+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
        *(re.search(r"https://doi.org/10\.\S+|$", entry["text"])[0] for entry in summary["references"]),  # to be copied
    }
    assert "@import" not in page
    assert not re.findall(r"url\((?!#)", page)
    assert not re.findall(r"\b(fetch|XMLHttpRequest|WebSocket|sendBeacon|EventSource|import)\b *\(", page)


def test_the_policy_of_the_page_forbids_the_network_and_scripts_and_styles_of_others(page):
    policy = dict(
        entry.strip().split(" ", 1)
        for entry in unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]).split(";")
    )
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["img-src"] == "data:"
    assert not {"connect-src", "frame-src", "font-src"} & set(policy)
    for source, tag in (("script-src", "script"), ("style-src-elem", "style")):
        [text] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy[source] == f"'sha256-{digest}'"
    assert page.index("Content-Security-Policy") < page.index("<style")


def data_of(page):
    """What the script is given."""
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)[1])


def test_the_script_is_given_all_objects_and_where_they_are_drawn(analysis, summary, page):
    _, consensus, _ = analysis
    data = data_of(page)
    assert data["ids"] == [str(i) for i in range(120)]
    assert data["cluster"] == consensus.labels_.tolist()
    assert data["confidence"] == pytest.approx(consensus.confidence_, abs=1e-5)
    assert [{"c": "core", "b": "border", "u": "undecided"}[v] for v in data["verdict"]] == list(
        verdicts(consensus.confidence_)
    )
    assert data["next"] == consensus.runner_up_.tolist()
    assert data["sizes"] == {str(c["cluster"]): c["size"] for c in summary["clusters"]}
    points = data["points"]
    assert sorted(points["row"]) == list(range(120))
    xy = np.array(summary["figures"]["points"]["xy"])
    for place, values, sign in ((points["x"], xy[:, 0], 1), (points["y"], xy[:, 1], -1)):
        assert 0 < min(place) < max(place) < 10_000
        assert np.corrcoef(place, sign * values)[0, 1] > 0.99999
    assert [consensus.labels_[row] for row in points["row"]] == summary["figures"]["points"]["clusters"]


def test_without_a_script_the_least_certain_objects_stand_there(page):
    static = page[page.index('data-table="objects"') :]
    assert "The 50 least certain objects" in static
    assert len(re.findall(r'<th scope="row">', static[: static.index("</section>")])) == 50
    assert "hidden" not in re.sub(r"<script.*?</script>|<style.*?</style>|aria-hidden", "", page, flags=re.DOTALL)


def test_ids_are_distinct_and_every_reference_has_its_own(page):
    ids = Page(page).ids
    assert len(ids) == len(set(ids)) > 0
    referred = {a or b for a, b in re.findall(r'url\(#([^)]*)\)|href="#([^"]*)"', page)}
    assert referred == set(ids)


def test_answer_comes_first_then_pictures_ranking_and_method(page):
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings == [
        "The answer",
        "The clusters and what describes them",
        "The objects",
        "Can I trust it?",
        "The partitions",
        "How it was made",
        "What of the data is in this page",
        "What next",
    ]
    links = re.findall(r'<a href="#(\w+)">(.*?)</a>', page)
    assert [text for _, text in links] == headings
    assert all(f'<section id="{name}">' in page for name, _ in links)
    assert "3 clusters in 120 objects" in page[: page.index("<h2>")]
    assert page.count("<figcaption") == 8
    assert len(re.findall(r"<svg (?!class)", page)) == 7 + 5  # one picture is a figure for each variable


EVIL = "<script>alert('x')</script>&\"'$\\frac{$"


def test_names_are_harmless_everywhere(tmp_path):
    ensemble, classes = noisy_ensemble(p=4)
    names = [EVIL, "</svg><img src=x onerror=y>", 'id="z" url(#q) href="#w"', "{{ 7 * 7 }}"]
    ensemble = Ensemble(np.asarray(ensemble), names=names)
    consensus = KMeansConsensus(n_clusters=3, random_state=0).fit(ensemble)
    features = pd.DataFrame(make_blobs(120, 2, random_state=0)[0], columns=[EVIL, "</text><script>"])
    html = report.build(
        ensemble,
        consensus,
        features=features,
        ids=[EVIL] * 120,
        truth=[f"{EVIL}{c}" for c in classes],
        ranking=AverageAgreement().fit(ensemble),
        settings={EVIL: EVIL},
        seconds={EVIL: 1.0},
        versions={EVIL: EVIL},
        title=EVIL,
        path=tmp_path / "r.html",
    ).read_text(encoding="utf-8")
    parsed = Page(html)
    assert parsed.tags.count("script") == 2
    assert "img" not in parsed.tags
    assert "\\u003cscript\\u003e" in html
    assert data_of(html)["ids"] == [EVIL] * 120
    assert not [name for name, _ in parsed.attributes if name.startswith("on")]
    assert "49" not in re.findall(r">([^<]*)</td>", html)
    texts = "".join(parsed.texts)
    assert EVIL in texts
    assert 'id="z" url(#q) href="#w"' in texts


def test_names_of_any_script_and_broken_encoding_are_written(tmp_path):
    ensemble, _ = noisy_ensemble(p=5)
    names = ["细胞类型", "тип", "a\nb\x00c", "\udc80", "W" * 500]
    ensemble = Ensemble(np.asarray(ensemble), names=names)
    consensus = KMeansConsensus(n_clusters=3, random_state=0).fit(ensemble)
    ranking = AverageAgreement().fit(ensemble)
    path, numbers = tmp_path / "r.html", tmp_path / "r.json"
    report.build(ensemble, consensus, ranking=ranking, path=path, json_path=numbers)
    html = path.read_text(encoding="utf-8")
    assert "细胞类型" in html
    assert "\x00" not in html
    assert "W" * 100 not in html
    assert [m["name"] for m in json.loads(numbers.read_text(encoding="utf-8"))["members"]] == names


def test_nothing_is_half_written(analysis, tmp_path, monkeypatch):
    ensemble, consensus, _ = analysis
    path = tmp_path / "report.html"
    path.write_text("the user's own", encoding="utf-8")
    broken = {**report.summarize(ensemble, consensus), "members": []}
    with pytest.raises(IndexError):
        report.build(broken, path=path, json_path=tmp_path / "report.json")
    assert path.read_text(encoding="utf-8") == "the user's own"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("labels", "clusters"),
    [
        ([[0], [0], [1]], [0, 0, 1]),
        ([[0, 0], [0, 1]], [0, 0]),
        ([[0, 0]], [0]),
        ([[0, 1], [1, 0], [2, 2]], [0, 1, 2]),
        ([[0, -1], [0, -1], [-1, 1], [-1, -1]], [0, 0, 1, -1]),
        ([[0, 0]] * 400, [0] * 399 + [1]),
    ],
    ids=["one partition", "one cluster", "one object", "all alone", "nothing shared", "equal rows apart"],
)
def test_extreme_analyses_have_a_page(labels, clusters):
    ensemble = Ensemble(labels)
    confidence = np.where(np.asarray(clusters) < 0, np.nan, 0.5)
    features = np.column_stack([np.arange(len(clusters)), np.ones(len(clusters)), np.full(len(clusters), np.inf)])
    summary = report.summarize(ensemble, Given(clusters, confidence), features=features)
    Page(report.render(json.loads(json.dumps(summary, allow_nan=False))))


def test_missing_labels_and_unlabelled_objects_are_told():
    ensemble, _ = noisy_ensemble(missing=0.3)
    labels = np.asarray(ensemble).copy()
    labels[:2] = -1
    consensus = KMeansConsensus(n_clusters=3, random_state=0).fit(labels)
    summary = report.summarize(labels, consensus, features=make_blobs(120, 3, random_state=0)[0])
    assert summary["consensus"]["n_unlabelled"] == 2
    assert summary["data"]["missing"] == pytest.approx((labels < 0).mean())
    assert sum(c["size"] for c in summary["clusters"]) == 118
    html = report.render(summary)
    assert "2 objects without a label in any partition are in none." in html
    assert ">Missing</th>" in html
    assert html.count("2 unlabelled") == 1


def test_sample_has_every_cluster_in_proportion():
    """300 of the objects in the matrix, 5,000 in the map of the features."""
    clusters = np.repeat([0, 1, 2, -1], [9000, 980, 5, 15])
    many = np.where(clusters < 0, -1, np.arange(10_000) % 401)  # so that not one object stands for each label row
    labels = np.column_stack([clusters] * 4 + [many])
    consensus = KMeansConsensus(3, init=clusters).fit(labels)
    assert_array_equal(consensus.labels_, clusters)
    first, again, other = (
        report.summarize(labels, consensus, features=np.arange(20_000).reshape(-1, 2), random_state=seed)["figures"]
        for seed in (0, 0, 1)
    )
    matrix, points = first["matrix"], first["points"]
    assert np.bincount(np.array(matrix["clusters"]) + 1).tolist() == [1, 270, 29, 1]
    for c in (-1, 0, 1, 2):
        sizes = np.array(matrix["sizes"])[np.array(matrix["clusters"]) == c]
        assert sizes.sum() == pytest.approx((clusters == c).sum(), abs=0.2)
    assert np.bincount(np.array(points["clusters"]) + 1).tolist() == [8, 4500, 490, 2]
    assert len(set(points["rows"])) == len(points["rows"])
    assert_array_equal(clusters[points["rows"]], points["clusters"])
    assert first == again
    assert set(other["points"]["rows"]) != set(points["rows"])


def test_matrix_of_few_different_rows_stands_for_all_objects():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (1000, 4))
    consensus = KMeansConsensus(n_clusters=2, random_state=0).fit(labels)
    matrix = report.summarize(labels, consensus)["figures"]["matrix"]
    assert sum(matrix["sizes"]) == 1000
    assert matrix["note"] == "All 1,000 objects are drawn; they have 16 different rows of labels."


def test_matrix_is_the_coassociation_of_the_rows_drawn():
    ensemble, _ = noisy_ensemble(n=40)
    consensus = KMeansConsensus(n_clusters=3, random_state=0).fit(ensemble)
    matrix = report.summarize(ensemble, consensus)["figures"]["matrix"]
    assert matrix["clusters"] == sorted(matrix["clusters"])
    shown = sorted(value for row in matrix["percent"] for value in row)
    assert shown == sorted(np.round(100 * coassociation(ensemble)[np.tril_indices(40)]).astype(int).tolist())


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, pl.DataFrame, csr_array, np.ndarray.tolist])
def test_features_of_every_kind(kind):
    ensemble, _ = noisy_ensemble()
    consensus = KMeansConsensus(n_clusters=3, random_state=0).fit(ensemble)
    values = make_blobs(120, 4, random_state=0)[0]
    expected = report.summarize(ensemble, consensus, features=values)["figures"]["points"]["xy"]
    assert report.summarize(ensemble, consensus, features=kind(values))["figures"]["points"]["xy"] == expected


def test_many_objects_are_sampled_and_the_page_says_so():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, (6000, 12))
    consensus = KMeansConsensus(n_clusters=4, n_init=1, max_iter=3, random_state=0).fit(labels)
    summary = report.summarize(labels, consensus, features=rng.normal(size=(6000, 2)))
    assert len(summary["figures"]["matrix"]["clusters"]) <= 304
    assert len(summary["figures"]["points"]["xy"]) <= 5004
    html = report.render(summary)
    assert re.search(r"3\d\d of the 6,000 objects are drawn, taken at random from each cluster in proportion", html)
    assert len(html) < 1_000_000


def test_many_members_are_drawn_in_part():
    ensemble, _ = noisy_ensemble(n=60, p=230)
    consensus = KMeansConsensus(n_clusters=3, random_state=0).fit(ensemble)
    summary = report.summarize(ensemble, consensus)
    drawn = summary["figures"]["agreement"]["members"]
    agreement = [summary["members"][j]["agreement"] for j in drawn]
    assert len(set(drawn)) == 200
    assert agreement == sorted(agreement, reverse=True)
    html = report.render(summary)
    assert "Of 230 partitions 200 are drawn" in html
    assert "215 more rows" in html


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ids": ["a"]}, r"ids must have one entry for each of the 120 objects of the ensemble\. Got 1\."),
        ({"features": np.zeros((7, 2))}, r"features must have one entry for each of the 120 objects"),
        ({"truth": [0, 1]}, r"one label for each of the 120 objects"),
        ({"features": np.full((120, 1), "text")}, r"features must be numbers\. Got text\."),
        ({"model": Given([0] * 5)}, r"labels_ of consensus must have one entry for each of the 120"),
        ({"model": Given([2] * 120)}, r"without gaps\. Got no object in cluster 0\."),
        ({"model": Given([-1] * 120)}, r"without gaps\. Got only unlabelled objects\."),
    ],
)
def test_what_does_not_fit_is_one_sentence(change, message):
    ensemble, _ = noisy_ensemble()
    with pytest.raises(ValueError, match=message):
        report.summarize(ensemble, **{"model": Given([0] * 120), **change})


def test_a_dict_that_is_no_summary_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must be one that report\.summarize made"):
        report.build({"a": 1}, path=tmp_path / "r.html")
    with pytest.raises(TypeError, match="Got other descriptions"):
        report.build({"format": 1}, title="x", path=tmp_path / "r.html")
    with pytest.raises(TypeError, match="fitted estimator"):
        report.build([[0], [1]], path=tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_a_summary_says_its_schema_and_older_ones_are_read(summary, page):
    assert next(iter(summary.items())) == ("schema", 10)
    older = {key: value for key, value in summary.items() if key != "schema"}
    assert report.render(older) == page
    with pytest.raises(ValueError, match=r"at most 10\. Got 11\. Use the version"):
        report.render({**summary, "schema": 11})


def test_the_users_matplotlib_settings_change_nothing(summary, page):
    import matplotlib

    with matplotlib.rc_context(
        {"figure.facecolor": "black", "font.size": 30, "svg.fonttype": "path", "text.usetex": True}
    ):
        assert report.render(summary) == page
        assert matplotlib.rcParams["font.size"] == 30


def test_svg_text_stays_text_and_untouched(tmp_path):
    name = 'id="patch_1" url(#x)'
    ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [1, 0]], names=[name, "b"])
    ranking = AverageAgreement().fit(ensemble)
    found = report.summarize(ensemble, KMeansConsensus(2).fit(ensemble), ranking=ranking)
    figures = re.findall(r"<svg (?!class).*?</svg>", report.render(found), re.DOTALL)
    svg = next(figure for figure in figures if f">{name}<" in unescape(figure))
    files = report.save_figures(found, tmp_path)
    on_white = next(text for file in files if f">{name}<" in (text := file.read_text(encoding="utf-8")))
    assert "<style" not in svg
    assert "<metadata" not in svg
    assert "#ffffff" in on_white
    assert "#ffffff" not in svg


@pytest.mark.core(3)
@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0%"), (0.004, "<1%"), (0.5, "50%"), (0.994, ">99%"), (1.0, "100%"), (None, "–")],
)
def test_shares_are_exact_at_their_ends(share, text):
    """Here of lifetimes in the longest of them, if there is any."""
    labels = planted_labels(n=30, p=5, k=3, noise=0.1, seed=0)[0]
    found = report.summarize(labels, CumulativeVoting(3).fit(labels))
    found["choice"]["lifetimes"] = [[3, float(share is not None)], [2, share or 0.0]]
    section = find(report.render(found), "How many clusters, by the hierarchy of the partitions")
    assert section.tables[0].rows[1][2] == text


@pytest.mark.usefixtures("no_figures")
def test_words():
    ensemble = Ensemble([[0, 0], [0, 0], [1, 1], [1, 0]])
    found = report.summarize(ensemble, KMeansConsensus(2).fit(ensemble))
    for n, words in ((0, "0 partitions"), (1, "1 partition"), (2000, "2,000 partitions")):
        found["data"]["n_partitions"] = n
        (sentence,) = find(report.render(found), "The partitions").sentences
        assert sentence == f"The answer was combined from {words} of the same objects."
    assert [listing(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


def test_clusters_have_the_numbers_of_an_earlier_clustering():
    labels = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
    X = np.array([[0.0, 1], [0, 2], [0, 1], [5, 1], [5, 2], [6, 1]])
    model = CumulativeVoting(2).fit(labels)
    before = report.summarize(labels, model, features=X)
    assert before["consensus"]["numbers"] is None
    numbers = np.array([4, 9])[np.argsort(model.labels_[[0, -1]])]
    model.align(numbers[model.labels_])
    after = report.summarize(labels, model, features=X)
    assert after["objects"]["cluster"] == numbers[before["objects"]["cluster"]].tolist()
    assert after["objects"]["runner_up"] == numbers[before["objects"]["runner_up"]].tolist()
    assert after["figures"]["matrix"]["clusters"] == numbers[before["figures"]["matrix"]["clusters"]].tolist()
    assert [c["size"] for c in after["clusters"]] == [c["size"] for c in before["clusters"]]
    assert [c["sentence"].split(" (")[0] for c in after["profile"]["clusters"]] == ["Cluster 4", "Cluster 9"]
    page = report.render(after)
    assert "Clusters 4 and 9 are the hardest" in page or "The mean confidence is highest in cluster" in page
    assert "cluster 0" not in page


def test_columns_of_memberships_are_called_as_the_clusters():
    ax = plotting.membership([[0.9, 0.1], [0.4, 0.6]], [0, 1], names=[4, 9])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["4", "9"]
    with pytest.raises(ValueError, match="names of membership"):
        plotting.membership([[0.9, 0.1], [0.4, 0.6]], [0, 1], names=[4])


def test_points_have_the_clusters_of_every_number_that_was_looked_at():
    X, classes = make_blobs(60, centers=[(0, 0), (0, 9), (9, 0)], random_state=0)
    model = KMeansConsensus(3, random_state=0).fit(np.column_stack([classes] * 3))
    choice = choose_k(X, range(2, 5), n_references=19, random_state=0)
    points = report.summarize(np.column_stack([classes] * 3), model, features=X, k_choice=choice)["figures"]["points"]
    assert sorted(points["by_number"]) == ["2", "3", "4"]
    for k, clusters in points["by_number"].items():
        assert len(set(clusters)) == int(k)
        expected = choice.labels[int(k)][points["rows"]]  # of the same objects, in the order of the points
        assert adjusted_rand_score(expected, clusters) == 1
    # A part has the number of the answer's cluster that it is.
    assert adjusted_rand_score(points["by_number"]["3"], points["clusters"]) == 1
    assert points["by_number"]["3"] == points["clusters"]
    assert report.summarize(classes[:, None], model, features=X)["figures"]["points"]["by_number"] == {}
