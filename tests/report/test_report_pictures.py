"""Figures that the page makes by hand, its projection of the objects, and the answer at other numbers of clusters."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from pages import svgs_of
from scipy.cluster.hierarchy import fcluster
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score
from strategies import planted_labels

import ensemblage
from ensemblage import report
from ensemblage.consensus import ConsensusModes, EvidenceAccumulation, KMeansConsensus

RNG = np.random.default_rng(0)
CLASSES = np.repeat([0, 1, 2], 40)


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]


def rects(svg):
    return [element.attrib for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("rect")]


def summary_of(frame):
    """That of the classes, which the columns describe."""
    labels = np.column_stack([CLASSES] * 2)
    model = KMeansConsensus(3, random_state=0).fit(labels)
    return report.summarize(labels, model, profile=ensemblage.profile(CLASSES, frame))


@pytest.fixture(scope="module")
def described():
    return summary_of(pd.DataFrame({"a": CLASSES + RNG.normal(size=120), "b": RNG.normal(size=120)}))


def panel_svg(panel):
    """How the page draws a variable."""
    summary = summary_of(pd.DataFrame({"a": CLASSES}))
    summary["profile"]["panels"] = [panel]
    (svg,) = svgs_of(report.render(summary), "The variables that describe the clusters best")
    return svg


def heat_map_svg(summary, **parts):
    """How the page draws the means of the variables of some clusters."""
    heat_map = summary["profile"]["heat_map"] | parts
    summary = summary | {"profile": summary["profile"] | {"heat_map": heat_map}}
    (svg,) = svgs_of(report.render(summary), "Profiles of the clusters")
    return svg


def test_few_values_are_stacked_bars(tmp_path):
    frame = pd.DataFrame(
        {
            "grade": pd.Categorical(np.array(["low", "mid", "high"])[CLASSES], ["low", "mid", "high"], ordered=True),
            "count": CLASSES + (np.arange(120) % 4 == 0),
            "size": CLASSES + RNG.normal(size=120),
            "letter": np.array(list("abcdefghij"))[CLASSES * 3 + np.arange(120) % 4],
        }
    )
    found = {panel["variable"]: panel for panel in summary_of(frame)["profile"]["panels"]}
    assert found["size"]["stack"] is None
    assert found["grade"]["stack"]["levels"] == ["low", "mid", "high"]
    assert found["grade"]["stack"]["shares"] == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert found["count"]["stack"]["levels"] == ["0", "1", "2", "3"]
    assert found["count"]["stack"]["shares"][0] == [0.75, 0.25, 0, 0]
    letters = found["letter"]["stack"]
    assert len(letters["levels"]) == 7
    assert letters["levels"][-1] is None
    assert [sum(row) for row in letters["shares"]] == pytest.approx([1, 1, 1], abs=1e-4)
    drawn = panel_svg(found["count"])
    assert {"count", "75%", "25%", "0", "3"} <= set(texts(drawn))
    widths = [float(r["width"]) for r in rects(drawn) if r["height"] == "15"]
    assert sum(widths[:4]) == pytest.approx(sum(widths[4:8]), abs=0.3)
    assert "other" in texts(panel_svg(found["letter"]))
    report.save_figures(summary_of(frame), tmp_path)
    assert {"variable-0.svg", "profiles.svg"} <= {path.name for path in tmp_path.iterdir()}


def test_boxes_are_at_their_places():
    panel = {"variable": "<b>", "clusters": [0, "x"], "kind": "number", "shares": None}
    svg = panel_svg(panel | {"quantiles": [[0, 1, 2, 3, 4], [None] * 5]})
    assert "<b>" in texts(svg)
    box = next(r for r in rects(svg) if "stroke" in r)
    whole = next(e.attrib for e in ElementTree.fromstring(svg).iter() if e.get("stroke-width") == "1.5")
    length = float(whole["x2"]) - float(whole["x1"])
    assert float(box["x"]) - float(whole["x1"]) == pytest.approx(length / 4, abs=0.2)
    assert float(box["width"]) == pytest.approx(length / 2, abs=0.2)
    by_date = panel_svg(panel | {"quantiles": [[0, 100, 200, 300, 400], [None] * 5], "kind": "date"})
    assert any(re.fullmatch(r"19[67]\d-\d\d-\d\d", text or "") for text in texts(by_date))


def test_confidence_is_drawn_as_boxes_and_of_few_objects_one_by_one():
    clusters = np.repeat([0, 1], [40, 2])
    model = KMeansConsensus(2, random_state=0).fit(np.column_stack([clusters] * 2))
    summary = report.summarize(np.column_stack([clusters] * 2), model)
    quantiles = {"q5": 0.1, "q25": 0.2, "q50": 0.3, "q75": 0.4, "q95": 0.5}
    summary["clusters"][0]["confidence"] |= quantiles | {"values": None}
    summary["clusters"][1]["confidence"] |= {"values": [0.5, 0.75]}
    (svg,) = svgs_of(report.render(summary), "Confidence of each cluster")
    assert {"core", "border", "confidence", "0", "1"} <= set(texts(svg))
    assert svg.count("<circle") == 2
    (box,) = (r for r in rects(svg) if "stroke" in r)
    whole = next(e.attrib for e in ElementTree.fromstring(svg).iter() if e.get("stroke-width") == "1.5")
    assert float(box["width"]) == pytest.approx((float(whole["x2"]) - float(whole["x1"])) / 2, abs=0.2)


@pytest.mark.parametrize(
    ("low", "high"),
    [(3, 19_000), (-1.6, 1.7), (0.0007, 0.019), (3, 36_872), (1, 19), (0, 11), (0, 1), (0.013, 0.021), (-5, 1e6)],
)
def test_below_boxes_are_two_numbers_at_least_round_and_inside(low, high):
    row = [low, low + (high - low) / 4, (low + high) / 2, high - (high - low) / 4, high]
    panel = {"variable": "a", "clusters": [0], "quantiles": [row], "shares": None, "kind": "number", "levels": []}
    title, cluster, *ticks = texts(panel_svg(panel))
    assert (title, cluster) == ("a", "0")
    assert 2 <= len(ticks) <= 6
    values = [float(tick.replace("−", "-").replace(",", "")) for tick in ticks]
    assert all(low - 1e-9 <= value <= high + 1e-9 for value in values)
    assert np.diff(values) == pytest.approx(values[1] - values[0])
    assert len(f"{values[1] - values[0]:.6g}".strip("-0.").rstrip("0").replace(".", "").strip("0")) <= 2


def test_below_boxes_of_a_single_value_it_stands():
    panel = {"variable": "a", "clusters": [0], "shares": None, "kind": "number", "levels": [], "quantiles": [[3] * 5]}
    assert texts(panel_svg(panel)) == ["a", "0", "3"]


def test_wide_names_have_their_room(described):
    """Of the letters of DejaVu Sans, the widest font that pages are shown in, at 11 pixels."""
    widths = {"m": 10.72, "d": 6.98, "v": 6.51, "p": 6.98, "_": 5.5, "s": 5.73, "h": 6.97, "i": 3.06, "e": 6.77}
    widths |= {"r": 4.52, "b": 6.98, "W": 10.88, "M": 9.49, "N": 8.23, "7": 7.0, "t": 4.31, " ": 3.5}
    for name in ("mdvp_shimmer_db", "mmmm", "WMN 77", "hiss", "tee"):
        svg = heat_map_svg(described, z=[[1.0]], variables=[name], clusters=[0])
        shown = next(e for e in ElementTree.fromstring(svg).iter() if e.text == name)
        assert float(shown.get("x")) >= sum(widths[letter] for letter in name)


def test_letters_are_ten_pixels_high_on_a_phone():
    """Where 344 pixels are left of 390, what is wider than 376 units of 11 for a letter is scrolled."""
    labels = planted_labels(n=40, p=30, k=3, noise=0.1, seed=0)[0]
    for matrix in (labels, np.column_stack([CLASSES] * 3)):
        model = EvidenceAccumulation(3, linkage="average").fit(matrix)
        names = [f"a rather long name {j}" for j in range(matrix.shape[1])]
        ensemble = ensemblage.Ensemble(matrix, names=names)
        page = report.render(report.summarize(ensemble, model, features=RNG.normal(size=(len(matrix), 4))))
        for tag in re.findall(r"<svg xmlns=[^>]*>", page):  # those that are drawn here
            if "xlink" in tag:
                continue
            width = float(re.search(r'viewBox="0 0 ([\d.]+)', tag)[1])
            assert width <= 376 or "min-width" in tag, tag


def test_a_matrix_of_two_values_has_two_colours_beside_it():
    alike = np.column_stack([CLASSES] * 3)
    two, shares = (
        svgs_of(report.render(report.summarize(labels, model)), "How often two objects are together")[0]
        for labels in (alike, np.column_stack([alike, CLASSES == 0]))
        for model in [KMeansConsensus(3, random_state=0).fit(labels)]
    )
    assert [t for t in texts(two) if t in ("0.2", "0.8")] == []
    assert {"0.2", "0.8"} <= set(texts(shares))


def test_a_heat_map_has_its_numbers(described):
    z = [[1.24, None], [-0.04, -3.0]]
    svg = heat_map_svg(described, z=z, variables=["alcohol", "hue"], clusters=[0, 1])
    assert texts(svg) == ["0", "1", "alcohol", "+1.2", None, "hue", "0", "−3.0"]
    assert {element.get("font-size") for element in ElementTree.fromstring(svg).iter() if element.text} == {"11"}


def project(X, clusters):
    """The objects as the page shows them: all of them in the plane, the names of the axes, and a note."""
    labels = np.column_stack([clusters] * 2)
    model = KMeansConsensus(len(np.unique(clusters)), random_state=0).fit(labels)
    points = report.summarize(labels, model, features=X)["figures"]["points"]
    order = np.argsort(points["rows"])
    assert len(order) == len(X)
    return SimpleNamespace(
        rows=points["rows"],
        xy=np.array(points["xy"])[order],
        labels=(points["x_label"], points["y_label"]),
        note=points["notes"][0],
    )


def test_the_projection_that_shows_the_clusters_is_taken():
    """Clusters along a direction of little variance: discriminants, as scikit-learn's up to scale; else components."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(120, 3)) * 30, 5 * CLASSES + rng.normal(size=120)])
    found = project(X, CLASSES)
    assert found.labels == ("discriminant 1", "discriminant 2")
    assert "Gaps look wider than they are." in found.note
    theirs = LinearDiscriminantAnalysis(n_components=2).fit(X, CLASSES).transform(X)
    for j in range(2):
        assert abs(np.corrcoef(found.xy[:, j], theirs[:, j])[0, 1]) == pytest.approx(1, abs=1e-6)
    apart = np.column_stack([100 * CLASSES + rng.normal(size=120), rng.normal(size=(120, 3))])
    assert project(apart, CLASSES).labels[0].startswith("component 1")
    two = project(X, (CLASSES > 0).astype(int))
    assert np.isfinite(two.xy).all()
    assert np.linalg.matrix_rank(two.xy - two.xy.mean(axis=0)) == 2
    assert project(X, np.zeros(120, dtype=int)).labels[0].startswith("component 1")
    wide = rng.normal(size=(30, 200))  # discriminants of so few objects part anything
    assert project(wide, np.arange(30) % 3).labels[0].startswith("component 1")
    assert "first two features" in project(np.zeros((5, 3)), np.zeros(5, dtype=int)).note


def test_two_objects_apart_do_not_draw_the_others_as_one_line():
    """A cluster of two, alone with a value of an indicator: discriminants are those of the large clusters."""
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=(122, 3)) * 5, np.append(5 * CLASSES, [0, 0]) + rng.normal(size=122)])
    rare = np.zeros(122)
    rare[-2:] = 8
    X = np.column_stack([X, rare + 1e-4 * rng.normal(size=122)])
    found = project(X, np.append(CLASSES, [3, 3]))
    assert found.labels[0] == "discriminant 1"
    spread = np.ptp(found.xy[:120], axis=0) / np.ptp(found.xy, axis=0)
    assert spread.min() > 0.3


class Umap:
    """What umap-learn is asked for: here the places are given."""

    def __init__(self, xy):
        self.xy, self.asked, self.__version__, self.__spec__ = xy, [], "0.0", SimpleNamespace(origin="umap/__init__.py")

    def UMAP(self, **asked):
        self.asked.append(asked)
        return self

    def fit_transform(self, scores):
        return self.xy


@pytest.fixture
def with_umap(monkeypatch):
    def install(xy):
        found = Umap(np.asarray(xy, dtype=np.float32))
        monkeypatch.setitem(sys.modules, "umap", found)
        return found

    return install


def test_umap_is_tried_where_two_linear_projections_do_not_show_the_clusters(with_umap):
    """Clusters of five dimensions that no plane shows: taken if a twentieth better."""
    signs = np.array(list(np.ndindex(2, 2, 2, 2, 2)))
    clusters = np.tile(np.arange(32), 10)
    X = 4.0 * signs[clusters] + np.random.default_rng(0).normal(size=(320, 5))
    theirs = np.column_stack([clusters, clusters]) + np.random.default_rng(0).normal(size=(320, 2)) / 9
    with_umap(np.zeros((320, 2)))
    umap = with_umap(theirs[project(X, clusters).rows])
    found = project(X, clusters)
    assert found.labels == ("UMAP 1", "UMAP 2")
    np.testing.assert_allclose(found.xy, np.asarray(theirs, dtype=np.float32), rtol=1e-4)
    assert "umap-learn 0.0" in found.note
    compared = (
        r"\d+% of the 10 nearest .* of its cluster, against \d+% on two principal components and \d+% on two linear"
    )
    assert re.search(compared, found.note)
    assert len(umap.asked) == 1
    assert umap.asked[0]["random_state"] == 0
    assert umap.asked[0]["precomputed_knn"][0].shape == (320, 15)
    with_umap(np.random.default_rng(1).normal(size=(320, 2)))
    worse = project(X, clusters)
    assert worse.labels[0] != "UMAP 1"
    assert re.search(r"UMAP shows the clusters hardly better: \d% of the 10 nearest .*, here \d+%\.$", worse.note)


def test_a_folder_called_umap_is_no_package(tmp_path, monkeypatch):
    (tmp_path / "umap").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    signs = np.array(list(np.ndindex(2, 2, 2, 2, 2)))
    clusters = np.tile(np.arange(32), 10)
    X = 4.0 * signs[clusters] + np.random.default_rng(0).normal(size=(320, 5))
    if not any((path / "umap" / "__init__.py").exists() for path in map(Path, sys.path)):
        assert project(X, clusters).labels[0] != "UMAP 1"


def test_umap_is_not_tried_where_it_is_not_needed(with_umap):
    apart = np.column_stack([100 * CLASSES + RNG.normal(size=120), RNG.normal(size=(120, 3))])
    noise = RNG.normal(size=(120, 4))
    umap = with_umap(np.zeros((120, 2)))
    for X, clusters in ((apart, CLASSES), (noise, np.zeros(120, dtype=int)), (noise[:40], np.arange(40) % 3)):
        assert not project(X, clusters).labels[0].startswith("UMAP")
    assert umap.asked == []


@pytest.mark.slow
def test_umap_itself():
    pytest.importorskip("umap")
    signs = np.array(list(np.ndindex(2, 2, 2, 2, 2)))
    clusters = np.tile(np.arange(32), 10)
    X = 4.0 * signs[clusters] + np.random.default_rng(0).normal(size=(320, 5))
    found, again = project(X, clusters), project(X, clusters)
    assert found.labels[0] == "UMAP 1"
    assert found.xy.tolist() == again.xy.tolist()


def test_single_objects_are_said_and_not_described():
    frame = pd.DataFrame(RNG.normal(size=(41, 4)), columns=list("abcd"))
    frame.iloc[40] = 50
    clusters = np.append(np.arange(40) % 2, 2)
    found = ensemblage.profile(clusters, frame)
    assert found.sentences[2] == "Cluster 2 (1 object, 2%): a single object, which is not described."
    labels = np.column_stack([clusters] * 2)
    summary = report.summarize(labels, KMeansConsensus(3, random_state=0).fit(labels), profile=found)
    assert summary["profile"]["clusters"][2]["in_short"] == "a single object, which is not described"
    table = re.search(r"The numbers behind the words.*?</table>", report.render(summary), re.DOTALL).group()
    assert "+" not in table
    assert table.count("<tr>") == 1 + 2 * 3


@pytest.fixture(scope="module")
def hierarchy():
    labels = planted_labels(n=120, p=15, k=4, noise=0.3, seed=1)[0]
    return labels, EvidenceAccumulation(4, linkage="average").fit(labels)


def other_numbers(labels, model):
    """By number of clusters, what the page has of other numbers; None if it has none."""
    found = report.summarize(labels, model)["other_numbers"]
    return found and {int(k): np.array(z) for k, z in found["labels"].items()}


@pytest.mark.parametrize("n_clusters", [2, 4, 6])
def test_cuts_of_the_hierarchy(hierarchy, n_clusters):
    labels = hierarchy[0]
    model = EvidenceAccumulation(n_clusters, linkage="average").fit(labels)
    found = other_numbers(labels, model)
    assert sorted(found) == [*range(max(2, n_clusters - 2), n_clusters + 3)]
    for k, of_cut in found.items():
        theirs = fcluster(model.linkage_matrix_, k, "maxclust")
        if theirs.max() == k:  # it makes fewer where heights are tied
            assert adjusted_rand_score(of_cut, theirs) == 1
        assert len(np.unique(of_cut)) == k <= of_cut.max() + 1 <= max(k, n_clusters)
    assert found[n_clusters].tolist() == model.labels_.tolist()


def test_what_has_no_other_numbers(hierarchy):
    labels = hierarchy[0]
    model = EvidenceAccumulation(4, linkage="average").fit(labels)
    model.labels_ = model.labels_.copy()
    model.labels_[0] = (model.labels_[0] + 1) % 4
    assert other_numbers(labels, model) is None  # no cut of it
    gaps = labels.copy()
    gaps[:5] = -1
    found = other_numbers(gaps, EvidenceAccumulation(4, linkage="average").fit(gaps))
    assert (found[3][:5] == -1).all()
    assert other_numbers(labels, KMeansConsensus(3, random_state=0).fit(labels)) is None


def test_what_splits_and_what_merges(hierarchy):
    labels, model = hierarchy
    X = RNG.normal(size=(120, 3))
    summary = report.summarize(labels, model, features=X)
    changes = {row["k"]: row["sentence"] for row in summary["other_numbers"]["changes"]}
    merged = np.array(summary["other_numbers"]["labels"]["3"])
    together = [
        c
        for c in range(4)
        if any((merged[model.labels_ == c][0] == merged[model.labels_ == d][0]) and c != d for d in range(4))
    ]
    size = int(np.isin(model.labels_, together).sum())
    assert changes[3] == f"clusters {together[0]} and {together[1]} merge into one of {size}."
    assert re.fullmatch(r"cluster \d splits into \d+ and \d+\.", changes[5])
    page = report.render(summary)
    assert "What splits, what merges" in page
    assert sorted(summary["figures"]["points"]["by_number"]) == ["2", "3", "5", "6"]
    assert summary["figures"]["points"]["by_number_of"] == "the same hierarchy"
    (svg,) = svgs_of(page, "From one number to the next")
    assert svg.count("<circle") == 2 + 3 + 4 + 5 + 6
    assert 'font-weight="600">4<' in svg
    numbered = EvidenceAccumulation(4, linkage="average").fit(labels).align(np.array([7, 5, 12, 9])[model.labels_])
    (svg,) = svgs_of(report.render(report.summarize(labels, numbered)), "From one number to the next")
    assert {"7", "5", "12", "9"} <= set(texts(svg))


def test_numbers_that_were_compared_say_what_splits_too():
    """Without a hierarchy of the answer: the k-means partitions of `choose_k`, against the answer."""
    X = np.concatenate([RNG.normal(size=(40, 2)) + place for place in ([0, 0], [12, 0], [0, 60])])
    labels = np.column_stack([CLASSES] * 3)
    model = KMeansConsensus(3, random_state=0).fit(labels)
    choice = ensemblage.choose_k(X, range(2, 6), n_references=19, random_state=0)
    summary = report.summarize(labels, model, features=X, k_choice=choice)
    found = summary["other_numbers"]
    assert [row["k"] for row in found["changes"]] == [2, 4, 5]
    assert found["made_by"] == "k-means"
    assert re.fullmatch(r"clusters \d and \d merge into one of 80\.", found["changes"][0]["sentence"])
    assert re.fullmatch(r"cluster \d splits into \d+ and \d+\.", found["changes"][1]["sentence"])
    assert "which were compared to find it" in report.render(summary)
    by_hierarchy = ensemblage.consensus.EvidenceAccumulation(3, linkage="average").fit(labels)
    points = report.summarize(labels, by_hierarchy, features=X, k_choice=choice)["figures"]["points"]
    assert points["by_number_of"] == "the same hierarchy"


def test_points_by_story():
    first, second = np.repeat([0, 1], 60), np.tile([0, 1], 60)
    labels = np.column_stack([first] * 5 + [second] * 5)
    modes = ConsensusModes(n_jobs=1).fit(labels)
    assert modes.n_modes_ == 2
    model = KMeansConsensus(2, random_state=0).fit(labels)
    points = report.summarize(labels, model, features=RNG.normal(size=(120, 3)), modes=modes)["figures"]["points"]
    stories = [points["by_number"][f"story {q}"] for q in (1, 2)]
    shown = np.array(points["rows"])
    assert {adjusted_rand_score(z, first[shown]) == 1 for z in stories} == {True, False}
