"""What a model and a record show of themselves: frames, pictures, pages, in a notebook too."""

import ast
import json
import pickle
import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from places import ROOT
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from ensemblage import ConsensusClustering, Ensemble, choose_k, plotting, ranking
from ensemblage.consensus import CumulativeVoting, EvidenceAccumulation, GreedyKMeansConsensus, KMeansConsensus
from ensemblage.generation import RandomKPartitions
from ensemblage.metrics import membership_entropy, verdicts

FRAME = load_iris(as_frame=True).data
FRAME.index = [f"iris {i}" for i in range(150)]
LABELS = RandomKPartitions(8, random_state=0).fit_transform(FRAME.to_numpy())
COLUMNS = ["cluster", "confidence", "verdict", "runner_up", "runner_up_share"]


@pytest.fixture(scope="module")
def model():
    return ConsensusClustering(3, random_state=0).fit(FRAME)


@pytest.fixture(scope="module")
def consensus():
    return EvidenceAccumulation(3).fit(LABELS)


def test_a_frame_with_the_index_of_the_data(model):
    found = model.to_frame(FRAME)
    assert list(found.columns) == COLUMNS
    assert_array_equal(found.index, FRAME.index)
    assert_array_equal(found["cluster"], model.labels_)
    assert_array_equal(found["confidence"], model.confidence_)
    assert_array_equal(found["verdict"], verdicts(model.confidence_))
    assert_array_equal(found["runner_up_share"], 1 - model.confidence_)


def test_frames_of_other_data(model, consensus):
    assert list(model.to_frame().columns) == ["id", *COLUMNS]
    assert model.to_frame(FRAME.to_numpy())["id"].tolist() == list(range(150))
    assert consensus.to_frame(LABELS, ids=list("ab") * 75)["id"].tolist() == list("ab") * 75
    polars = pytest.importorskip("polars")
    found = consensus.to_frame(polars.DataFrame(LABELS))
    assert isinstance(found, polars.DataFrame)
    assert found.columns == ["id", *COLUMNS]


def test_frames_refused(model):
    with pytest.raises(
        ValueError, match=r"X of to_frame must have a row for each of the 150 objects .* Got 10. .* use assign for new"
    ):
        model.to_frame(FRAME[:10])
    with pytest.raises(ValueError, match=r"ids of to_frame must have a row for each of the 150 objects .* Got 2"):
        model.to_frame(ids=["a", "b"])
    with pytest.raises(NotFittedError):
        KMeansConsensus(3).to_frame()


def test_numbers_of_an_earlier_run(consensus):
    aligned = EvidenceAccumulation(3).fit(LABELS).align(consensus.labels_ + 4)
    found = aligned.to_frame()
    assert_array_equal(found["cluster"], consensus.labels_ + 4)
    assert set(found["runner_up"]) <= {4, 5, 6}


@pytest.mark.core(3)
@pytest.mark.parametrize("kind", [None, "clusters", "confidence", "sizes", "coassociation", "dendrogram"])
def test_every_picture(model, consensus, kind):
    assert isinstance(model.plot(FRAME, kind), Axes)
    own = Figure().subplots()
    assert model.plot(FRAME, kind, ax=own) is own
    if kind == "clusters":
        with pytest.raises(ValueError, match=r"needs features, and a model of features"):
            consensus.plot(LABELS, kind)
        with pytest.raises(ValueError, match=r"needs features, .* Got no X"):
            model.plot(kind=kind)
    else:
        assert isinstance(consensus.plot(LABELS, kind), Axes)
        assert isinstance(model.plot(kind=kind), Axes)


def test_a_picture_by_its_former_name(consensus):
    with pytest.warns(FutureWarning, match="kind 'certainty' is a name of before 1.0 .* Use 'confidence'"):
        assert isinstance(consensus.plot(LABELS, "certainty"), Axes)


def test_pictures_refused(consensus):
    with pytest.raises(ValueError, match="kind of plot must be one of"):
        consensus.plot(LABELS, "pie")
    with pytest.raises(ValueError, match=r"X of plot must be the label matrix that EvidenceAccumulation was fitted to"):
        consensus.plot(kind="coassociation")
    with pytest.raises(ValueError, match=r"must be of a method that makes a hierarchy. Got KMeansConsensus"):
        KMeansConsensus(3).fit(LABELS).plot(LABELS, "dendrogram")
    with pytest.raises(NotFittedError):
        KMeansConsensus(3).plot(LABELS)


def test_other_models_have_pictures():
    greedy = GreedyKMeansConsensus(3, n_candidates=3, random_state=0).fit(FRAME.to_numpy())
    assert isinstance(greedy.plot(FRAME.to_numpy()), Axes)
    assert CumulativeVoting(3).fit(LABELS).plot(LABELS, "dendrogram").get_ylabel().startswith("Jensen")


def test_entropy_of_soft_memberships(model):
    soft = ConsensusClustering(consensus=CumulativeVoting(3), random_state=0).fit(FRAME)
    ax = soft.plot(FRAME, "entropy")
    assert_array_equal(ax.collections[-1].get_array(), np.sort(membership_entropy(soft.consensus_.membership_)))
    with pytest.raises(ValueError, match=r"needs a soft membership of every object. EvidenceAccumulation has none"):
        model.plot(FRAME, "entropy")
    with pytest.raises(ValueError, match=r"needs features"):
        soft.plot(kind="entropy")


def test_a_dendrogram_takes_a_model_or_its_merges(model, consensus):
    drawn = [
        plotting.dendrogram(consensus),
        plotting.dendrogram(consensus.linkage_matrix_, clusters=consensus.labels_),
        consensus.plot(LABELS, "dendrogram"),
    ]
    assert len({tuple(tuple(line.get_ydata()) for line in ax.lines) for ax in drawn}) == 1
    assert len(drawn[0].lines) == 39
    assert len(plotting.dendrogram(consensus, n_leaves=12).lines) == 11
    assert len(plotting.dendrogram(model).lines) == 39
    votes = CumulativeVoting(3).fit(LABELS)
    assert plotting.dendrogram(votes).get_ylabel() == votes.plot(LABELS, "dendrogram").get_ylabel()
    with pytest.raises(ValueError, match=r"must be of a method that makes a hierarchy. Got KMeansConsensus"):
        plotting.dendrogram(KMeansConsensus(3).fit(LABELS))
    with pytest.raises(ValueError, match=r"clusters of dendrogram must be numbers of shape \(150,\)"):
        plotting.dendrogram(consensus.linkage_matrix_)
    with pytest.raises(ValueError, match=r"n_leaves of dendrogram"):
        plotting.dendrogram(consensus, n_leaves=1)


def test_figures_take_models(model, consensus):
    points = FRAME.to_numpy()[:, :2]
    same = plotting.scatter(points, model.labels_, model.confidence_)
    assert plotting.scatter(points, model).texts[0].get_text() == same.texts[0].get_text()
    assert len(plotting.scatter(FRAME.to_numpy(), model).texts) == 3
    one, two = plotting.consensus_matrix(LABELS, consensus), plotting.consensus_matrix(model)
    assert one.images[0].get_array().shape == two.images[0].get_array().shape == (150, 150)
    sizes = [bar.get_height() for bar in plotting.cluster_sizes(model).patches]
    assert sizes == np.bincount(model.labels_).tolist()
    assert plotting.confidence_by_cluster(consensus).get_ylabel() == "confidence"
    with pytest.raises(ValueError, match="Give both: consensus_matrix"):
        plotting.consensus_matrix(consensus)


def test_many_objects_are_sampled():
    labels = RandomKPartitions(3, random_state=0).fit_transform(np.random.default_rng(0).normal(size=(3_000, 2)))
    ax = KMeansConsensus(4, random_state=0).fit(labels).plot(labels, "coassociation")
    assert ax.images[0].get_array().shape == (600, 600)


def test_an_ax_shows_its_figure(model):
    ax = model.plot(FRAME)
    shown = ax._repr_svg_()
    assert shown.startswith("<svg")
    assert "<text" in shown  # to search and to edit
    assert ax._repr_svg_() == shown
    assert pickle.loads(pickle.dumps(ax.figure)).axes[0]._repr_svg_() == shown
    assert not hasattr(Figure().subplots(), "_repr_svg_")  # a figure of somebody's own is shown as he likes


class Tags(HTMLParser):
    """Whether tags are closed in order, and what they hold."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.tags = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_an_ensemble_in_html():
    found = Tags(Ensemble(LABELS, names=["<script>", *(f"p{j}" for j in range(7))])._repr_html_())
    text = " ".join(found.text)
    assert "of 150 objects and 8 partitions" in text
    assert "<script>" in text
    assert [tag for tag, _ in found.tags].count("img") == 1
    assert not any(tag == "script" for tag, _ in found.tags)
    many = Tags(Ensemble(np.tile(LABELS, 20))._repr_html_())
    assert "… 148 more" in " ".join(many.text)
    alone = Tags(Ensemble([[0], [1], [-1]])._repr_html_())
    assert "33.3% missing" in " ".join(alone.text)
    assert "img" not in [tag for tag, _ in alone.tags]


def test_rankings_and_choices_in_html():
    found = Tags(ranking.compare_rankers(LABELS, rankers=["discotec", "aari"])._repr_html_())
    assert "2 rankings" in " ".join(found.text)
    choice = choose_k(FRAME.to_numpy(), random_state=0)
    text = " ".join(Tags(choice._repr_html_()).text)
    assert choice.sentence in text
    assert "silhouette" in text


def test_a_page(model, consensus, tmp_path):
    page = model.report(FRAME, path=tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    assert page.save(tmp_path / "again.html").read_bytes() == (tmp_path / "page.html").read_bytes()
    (style, _), (tag, attributes) = Tags(page._repr_html_()).tags
    assert (style, tag) == ("style", "iframe")
    assert unescape(attributes["srcdoc"]) == page.html or attributes["srcdoc"] == page.html
    assert re.search(r"\biris 1?\d?\d\b", page.html)  # objects have their names
    assert repr(page) == "Report(3 clusters in 150 objects; the number was given; .save(path) writes the page)"
    assert consensus.report(LABELS, title="By hand").summary["title"] == "By hand"
    with pytest.raises(ValueError, match="X of report must be the label matrix that EvidenceAccumulation was fitted"):
        consensus.report()
    assert model.report().summary["figures"]["points"] is None


def test_memberships_as_probabilities():
    voting = CumulativeVoting(3).fit(LABELS)
    assert_array_equal(voting.predict_proba(LABELS).argmax(axis=1), voting.predict(LABELS))
    X = FRAME.to_numpy()
    model = ConsensusClustering(3, consensus="acv", random_state=0).fit(X)
    shares = model.predict_proba(X)
    assert shares.shape == (150, 3)
    assert_array_equal(shares.argmax(axis=1), model.predict(X))
    assert not hasattr(KMeansConsensus(3).fit(LABELS), "predict_proba")
    assert not hasattr(ConsensusClustering(3).fit(X), "predict_proba")


SCRIPT = """
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from ensemblage import ConsensusClustering, Ensemble
from ensemblage.consensus import KMeansConsensus
from ensemblage.metrics import align_labels

X: NDArray[np.float64] = np.zeros((10, 2))
model = ConsensusClustering(3).fit(X)
assert_type(model.labels_, NDArray[np.int32])
assert_type(model.confidence_, NDArray[np.float64])
assert_type(model.runner_up_, NDArray[np.int32])
assert_type(model.n_clusters_, int)
assert_type(model.cluster_numbers_, NDArray[np.int64])
assert_type(model.predict(X), NDArray[np.int32])
assert_type(model.assign(X).confidence, NDArray[np.float64])
assert_type(KMeansConsensus(3).fit(X).labels_, NDArray[np.int32])
assert_type(KMeansConsensus(3).fit(X).align([0]).cohesion_, NDArray[np.float64])
assert_type(align_labels([0], [1]), NDArray[np.int64])
assert_type(Ensemble(X).names, list[str])
model.save("model.npz")
"""


@pytest.mark.slow
def test_types_of_a_users_script(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "Success: no issues found in 1 source file\n"


def test_pandas_categories_as_index():
    frame = pd.DataFrame({"x": [0.0, 0.1, 5.0, 5.1] * 10, "y": np.arange(40) % 7}, index=pd.RangeIndex(40, name="who"))
    found = ConsensusClustering(2, random_state=0).fit(frame).to_frame(frame)
    assert found.index.name == "who"


NOTEBOOK = ROOT / "examples" / "wine.ipynb"
SHOWN = {"KChoice": "html", "Ensemble": "html", "ShownAxes": "svg", "Comparison": "html", "Report": "html"}


@pytest.mark.slow
def test_the_notebook_runs_and_everything_shows_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, shown = {}, []
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            *lines, last = ast.parse("".join(cell["source"])).body
            exec(compile(ast.Module(lines, []), "cell", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if type(value).__name__ in SHOWN:
                shown.append(type(value).__name__)
                assert getattr(value, f"_repr_{SHOWN[shown[-1]]}_")()
    assert set(shown) == set(SHOWN)
