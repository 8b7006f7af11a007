"""Files that the last version with the former names wrote: each loads, predicts and gives the same labels."""

import json
import tarfile

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from places import FILES
from shell import say_version, succeed

import ensemblage
from ensemblage import Ensemble

pytestmark = pytest.mark.filterwarnings("ignore:The base clusterers were saved with scikit-learn")

RUN = ["run", "X.csv", "--partitions", 4, "--generator", "random-k", "--fit-on", 20, "--method", "km", "-k", 3]
RUN += ["--seed", 1, "-o", "run"]
SOURCE = {"default": "X", "pipeline": "X", "soft": "soft", "table": "table"}
"""What a model was fitted to, by its name; the others were fitted to the labels."""
NAMES = [
    *("acv", "bv", "communities", "cspa", "default", "eac", "ecc", "gv3", "h-km", "hbgf", "k-modes", "km", "lca"),
    *("lce-wct", "mcla", "negmm", "pipeline", "pta-average", "ptgp", "salso", "soft", "soft-euclidean", "table"),
]


@pytest.fixture(scope="module")
def former(tmp_path_factory):
    """The folder of these files."""
    folder = tmp_path_factory.mktemp("former")
    with tarfile.open(FILES / "former" / "files.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def objects_of(name, folder):
    """What the model of that name predicted: the objects that it was fitted to, last one first, but for a graph."""
    given = np.load(folder / "given.npz")
    match SOURCE.get(name):
        case "X":
            return given["X"][::-1]
        case "table":
            x = given["X"]
            return pd.DataFrame(x, columns=["a", "b"]).assign(c=[f"t{int(i)}" for i in x[:, 0] > 4])[::-1]
        case "soft":
            return Ensemble.from_memberships([block[::-1] for block in given["soft"]])
    return given["labels"] if name == "communities" else given["labels"][::-1]


def test_every_file_is_tested(former):
    assert sorted(path.stem.removeprefix("model-") for path in former.glob("model-*")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_model_predicts_the_same_labels(name, former, tmp_path):
    expected = json.loads((former / "labels.json").read_text(encoding="utf-8"))[name]
    model = ensemblage.load(former / f"model-{name}.npz")
    objects = objects_of(name, former)
    assert_array_equal(model.labels_, expected["labels"])
    assert_array_equal(model.assign(objects).labels, expected["of_new"])
    assert model.n_clusters_ == expected["n_clusters"]
    assert repr(model) == repr(type(model)(**model.get_params(deep=False)))
    model.save(tmp_path / "model.npz")
    again = ensemblage.load(tmp_path / "model.npz")
    assert vars(again).keys() == vars(model).keys()
    assert_array_equal(again.assign(objects).labels, expected["of_new"])


def test_an_ensemble(former):
    labels = np.load(former / "given.npz")["labels"]
    assert_array_equal(Ensemble.load(former / "ensemble.npz").codes, Ensemble(labels).codes)


def test_a_folder_of_a_run(former, monkeypatch):
    """A page is made of it, its model has its labels, and a run goes on in it."""
    monkeypatch.chdir(former)
    succeed("report", "run", "-o", "page.html")
    assert "3 clusters in 24 objects" in (former / "page.html").read_text(encoding="utf-8")
    kept = pd.read_csv(former / "run" / "labels.csv")
    model = ensemblage.load(former / "run" / "model.npz")
    X = pd.read_csv(former / "X.csv")
    assert_array_equal(model.assign(X).labels, kept["cluster"])
    say_version(former / "run", ensemblage.__version__)
    assert "made by an earlier run with the same settings" in succeed(*RUN).stderr
    assert_array_equal(pd.read_csv(former / "run" / "labels.csv")["cluster"], kept["cluster"])
