"""The command ``sweep``: a folder with the answer, its page, or a copy of a .h5ad file."""

import csv
import json
import sys

import numpy as np
import pytest
from shell import call, fail, succeed
from sklearn.datasets import make_blobs
from strategies import neighbour_graph

from ensemblage import Ensemble, load
from ensemblage.n_clusters import choose_resolution

COMMON = ["--algorithm", "louvain", "--resamples", "4", "--resolutions", "0.5,1,2"]
FILES = ["ensemble.npz", "labels.csv", "model.npz", "report.html", "summary.json", "sweep.csv"]


@pytest.fixture(scope="module")
def X():
    return make_blobs(150, centers=3, n_features=4, random_state=1)[0]


@pytest.fixture(scope="module")
def table(X, tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "points.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["who", "a", "b", "c", "d"])
        writer.writerows([f"object {i}", *row] for i, row in enumerate(X.tolist()))
    return path


def shell(*args):
    return call("sweep", *args)


def done(*args):
    return succeed("sweep", *args, *COMMON)


def refused(*args):
    return fail("sweep", *args)


def test_a_table_of_features(X, table, tmp_path):
    out = tmp_path / "out"
    result = done(table, "--no-standardize", "--color", "a", "-o", out)
    assert sorted(path.name for path in out.iterdir() if not path.name.startswith(".")) == FILES
    options = {"algorithm": "louvain", "n_resamples": 4, "random_state": 0, "standardize": False}
    choice = choose_resolution(X, [0.5, 1.0, 2.0], **options)
    assert f"answer      {choice.sentence}\n" in result.stdout
    with open(out / "labels.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows][:2] == ["object 0", "object 1"]
    assert [int(row["cluster"]) for row in rows] == choice.consensus.labels_.tolist()
    assert np.array_equal(load(out / "model.npz").confidence_, choice.consensus.confidence_)
    assert Ensemble.load(out / "ensemble.npz").shape == choice.ensemble.shape
    with open(out / "sweep.csv", encoding="utf-8", newline="") as file:
        assert [float(row["stability"]) for row in csv.DictReader(file)] == [row.stability for row in choice.table]
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))["sweep"]
    assert summary["sentence"] == choice.sentence
    assert summary["variable"]["name"] == "a"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "3 clusters at resolution" in page
    assert "coloured by the mean of a." in page
    assert "object 0" not in page


def test_finished_work_is_used_again_and_other_work_refused(table, tmp_path):
    done(table, "-o", tmp_path)
    before = (tmp_path / "report.html").read_bytes()
    assert "finished by an earlier run" in done(table, "-o", tmp_path).stderr
    assert (tmp_path / "report.html").read_bytes() == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sweep.csv").write_text("mine", encoding="utf-8")
    assert "overwritten unasked" in refused(table, "-o", tmp_path / "mine", *COMMON)
    assert "holds one with fraction" in refused(table, "-o", tmp_path, *COMMON, "--fraction", 0.5)
    done(table, "-o", tmp_path, "--fraction", 0.5, "--overwrite")
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["run"]["fraction"] == "0.5"


@pytest.mark.parametrize(
    "option",
    [
        ["--resolutions", "0.5,1,3"],
        ["--neighbors", "7"],
        ["--objective", "cpm"],
        ["--resamples", "5"],
        ["--fraction", "0.7"],
        ["--method", "eac-average"],
        ["--seed", "1"],
        ["--no-standardize"],
    ],
)
def test_every_option_counts(table, tmp_path, option):
    done(table, "-o", tmp_path / "a")
    result = shell(table, "-o", tmp_path / "b", *COMMON, *option)
    assert result.exit_code == 0, result.stderr
    a, b = ([(tmp_path / folder / name).read_bytes() for name in ("sweep.csv", "labels.csv")] for folder in "ab")
    if option[0] not in ("--method", "--no-standardize"):
        assert a != b
    settings = [json.loads((tmp_path / folder / "summary.json").read_text(encoding="utf-8"))["run"] for folder in "ab"]
    assert settings[0] != settings[1]


def test_threads_change_nothing(table, tmp_path):
    for jobs in (1, 2):
        done(table, "-o", tmp_path / str(jobs), "--jobs", jobs)
    for name in ("labels.csv", "sweep.csv", "ensemble.npz", "model.npz"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_a_graph(X, tmp_path):
    graph = neighbour_graph(X, 14).tocoo()
    with open(tmp_path / "edges.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["from", "to", "weight"])
        edges = zip(graph.row.tolist(), graph.col.tolist(), graph.data.tolist(), strict=True)
        writer.writerows((f"n{i:03}", f"n{j:03}", w) for i, j, w in edges if i < j)
    done(tmp_path / "edges.csv", "--graph", "-o", tmp_path / "out")
    options = {"algorithm": "louvain", "n_resamples": 4, "random_state": 0}
    matrix = neighbour_graph(X, 14)
    choice = choose_resolution(matrix, [0.5, 1, 2], affinity="precomputed", **options)
    with open(tmp_path / "out" / "labels.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [f"n{i:03}" for i in range(150)]
    assert [int(row["cluster"]) for row in rows] == choice.consensus.labels_.tolist()
    assert "--impute is for features" in refused(
        tmp_path / "edges.csv", "--graph", "--impute", "mean", "-o", tmp_path / "no"
    )
    lines = (tmp_path / "edges.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "bare.csv").write_text("".join(lines[1:]), encoding="utf-8")
    for i, options in enumerate([(), ["--no-header"]]):
        done(tmp_path / "bare.csv", "--graph", *options, "-o", tmp_path / f"bare {i}")
        told = (tmp_path / f"bare {i}" / "labels.csv").read_bytes()
        assert told == (tmp_path / "out" / "labels.csv").read_bytes()
    assert "must be weights. Got 'weight'" in refused(
        tmp_path / "edges.csv", "--graph", "--no-header", "-o", tmp_path / "no"
    )
    assert "--color must go with a table" in refused(tmp_path / "edges.csv", "--graph", "--color", "a", "-o", tmp_path)


def test_cells(X, tmp_path):
    anndata = pytest.importorskip("anndata", reason="the extra anndata is not installed")
    import pandas as pd

    obs = pd.DataFrame({"depth": np.arange(150.0), "kind": ["a"] * 150}, index=[f"c{i}" for i in range(150)])
    adata = anndata.AnnData(np.ones((150, 2)), obs=obs, obsm={"X_pca": X})
    adata.write_h5ad(tmp_path / "cells.h5ad")
    options = {"algorithm": "louvain", "n_resamples": 4, "random_state": 0}
    choice = choose_resolution(adata, [0.5, 1, 2], **options)
    done(tmp_path / "cells.h5ad", "-o", tmp_path / "out", "--color", "depth")
    assert (tmp_path / "out" / "labels.csv").read_text(encoding="utf-8").splitlines()[1].startswith("c0,")
    result = done(tmp_path / "cells.h5ad", "-o", tmp_path / "out.h5ad", "--key-added", "found")
    assert f"written     {tmp_path / 'out.h5ad'}" in result.stdout
    made = anndata.read_h5ad(tmp_path / "out.h5ad")
    assert made.obs["found"].astype(int).tolist() == choice.consensus.labels_.tolist()
    assert made.uns["found"]["params"]["resolution"] == choice.resolution
    assert np.array_equal(made.obsm["X_pca"], X)
    assert "overwritten unasked" in refused(tmp_path / "cells.h5ad", "-o", tmp_path / "out.h5ad")
    assert "There are depth" in refused(tmp_path / "cells.h5ad", "-o", tmp_path / "new", "--color", "kind")
    assert "There are X_pca" in refused(tmp_path / "cells.h5ad", "-o", tmp_path / "new", "--use-rep", "X_umap")


@pytest.mark.parametrize(
    ("package", "command", "said"),
    [
        ("graspologic_native", ["sweep", "--algorithm", "leiden"], "ensemblage[graphs]`, or give --algorithm louvain"),
        ("mtkahypar", ["run", "--method", "hgpa", "-k", 3, "--partitions", 4], "ensemblage[hypergraph]`, if there is"),
    ],
)
def test_what_is_not_installed_is_said_and_no_defect(table, tmp_path, monkeypatch, package, command, said):
    monkeypatch.setitem(sys.modules, package, None)
    error = fail(*command, table, "-o", tmp_path / "out")
    assert said in error
    assert "defect" not in error


def test_known_classes_are_compared_with_and_never_clustered(X, table, tmp_path):
    classes = make_blobs(150, centers=3, n_features=4, random_state=1)[1]
    lines = table.read_text(encoding="utf-8").splitlines()
    told = ["kind", *(["abc"[c] for c in classes])]
    (tmp_path / "known.csv").write_text(
        "".join(f"{a},{b}\n" for a, b in zip(lines, told, strict=True)), encoding="utf-8"
    )
    result = done(tmp_path / "known.csv", "--truth-column", "kind", "-o", tmp_path / "known")
    done(table, "-o", tmp_path / "plain")
    assert "ARI         1.000 with the truth" in result.stdout
    assert "ARI with known classes" in (tmp_path / "known" / "report.html").read_text(encoding="utf-8")
    assert "ARI with known classes" not in (tmp_path / "plain" / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "known" / "sweep.csv").read_bytes() == (tmp_path / "plain" / "sweep.csv").read_bytes()


def test_one_cluster_everywhere(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 10))
    np.savetxt(tmp_path / "cloud.csv", X, delimiter=",", header=",".join("abcdefghij"), comments="")
    result = shell(tmp_path / "cloud.csv", "-o", tmp_path / "out", *COMMON[:4], "--resolutions", "0.01")
    assert result.exit_code == 0, result.stderr
    assert "There is one cluster" in result.stdout
    with open(tmp_path / "out" / "labels.csv", encoding="utf-8", newline="") as file:
        assert {row["cluster"] for row in csv.DictReader(file)} == {"0"}
    assert "One cluster at every resolution" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--resolutions", "a,b"], "--resolutions must be numbers above 0"),
        (["--resolutions", "1,-2"], "--resolutions must be numbers above 0"),
        (["--objective", "cpm"], "resolutions of choose_resolution must be given for cpm"),
        (["--neighbors", "150"], "must be < the 150 objects"),
        (["--method", "nobody"], "nobody"),
        (["--color", "size"], "--color must name a column of numbers"),
        (["--use-rep", "X_pca"], "--use-rep is for a .h5ad file"),
    ],
)
def test_what_is_refused(table, tmp_path, options, message):
    result = shell(table, "-o", tmp_path / "out", "--algorithm", "louvain", *options)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split())
    assert not (tmp_path / "out").exists()


def test_the_folder_is_none_of_a_run(table, tmp_path):
    done(table, "-o", tmp_path)
    assert "It is one of sweep" in fail("report", tmp_path)
