"""AnnData: partitions in ``.obs`` as an ensemble, what is clustered, and what was found beside."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from limits import limit
from scipy import sparse
from shell import fail as refused
from shell import succeed as done

import ensemblage
from ensemblage import ConsensusClustering, Ensemble, choose_k, load, to_anndata
from ensemblage.consensus import KMeansConsensus
from ensemblage.generation import RandomKPartitions
from ensemblage.n_clusters import choose_resolution
from ensemblage.preprocessing import Preprocessor
from ensemblage.tables import h5ad

anndata = pytest.importorskip("anndata", reason="the extra anndata is not installed")
N = 60
KEYS = ["consensus", "consensus_confidence", "consensus_verdict", "consensus_runner_up"]


def cells(n=N):
    random = np.random.default_rng(0)
    kind = random.integers(0, 3, n)
    noisy = [np.where(random.random(n) < 0.1, random.integers(0, 3, n), kind) for _ in range(4)]
    obs = {f"leiden_{j / 5:g}": pd.Categorical(labels.astype(str)) for j, labels in enumerate(noisy, start=1)}
    obs["cell_type"] = pd.Categorical(np.array(["B", "NK", "T"])[kind])
    obs["n_counts"] = random.random(n)
    adata = anndata.AnnData(
        sparse.random(n, 7, 0.5, format="csr", random_state=0, dtype=np.float32),
        obs=pd.DataFrame(obs, index=[f"cell{i}" for i in range(n)]),
        obsm={"X_pca": 8.0 * np.eye(3)[kind] + random.normal(size=(n, 3)), "other": random.normal(size=(n, 2))},
        varm={"PCs": random.normal(size=(7, 3))},
        layers={"counts": random.integers(0, 9, (n, 7))},
        obsp={"connectivities": sparse.random(n, n, 0.1, format="csr", random_state=1)},
        uns={"neighbors": {"params": {"n_neighbors": 15}}, "colors": np.array(["#000000", "#ffffff"], dtype=object)},
    )
    adata.raw = adata.copy()
    return adata


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    cells().write_h5ad(path)
    return path


# Labels


def test_a_part_that_anndata_cannot_read_is_told(stored, tmp_path, monkeypatch):
    import h5py

    path = tmp_path / "newer.h5ad"
    shutil.copy(stored, path)
    with h5py.File(path, "a") as file:
        file["obs"].attrs["encoding-type"] = "of tomorrow"
    told = r"newer.h5ad must be a .h5ad file whose parts AnnData can read. It is not: .*of tomorrow.* Save it again"
    with pytest.raises(ValueError, match=told):
        Ensemble.from_anndata(path)
    assert "newer.h5ad must be a .h5ad file" in refused("combine", path, "-k", 2, "-o", tmp_path / "out.h5ad")

    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr("anndata.io.read_elem", full)
    with pytest.raises(MemoryError):  # nothing is wrong with the file
        Ensemble.from_anndata(stored)


def test_columns_are_partitions_in_memory_and_from_a_file(stored):
    adata = cells()
    names = [name for name in adata.obs if name.startswith("leiden_")]
    expected = np.column_stack([adata.obs[name].astype(int) for name in names])
    for source in (adata, stored, str(stored)):
        made = Ensemble.from_anndata(source)
        assert made.names == names
        assert np.array_equal(np.asarray(made), expected)


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ("leiden_0.4", ["leiden_0.4"]),
        (["cell_type", "leiden_0.[46]"], ["cell_type", "leiden_0.4", "leiden_0.6"]),
        (["leiden_0.6", "leiden_*"], ["leiden_0.6", "leiden_0.2", "leiden_0.4", "leiden_0.8"]),
    ],
)
def test_names_patterns_and_lists(columns, names):
    assert Ensemble.from_anndata(cells(), columns).names == names


def test_labels_are_those_of_a_csv_file(tmp_path):
    """Whole numbers in text are numbers, so that −1 means missing; unused categories are none."""
    adata = cells(5)
    adata.obs["a"] = pd.Categorical(["-1", "0", "10", "2", "2"], categories=["-1", "0", "10", "2", "77"])
    adata.obs["b"] = pd.Categorical(["x", None, "y", "y", "y"], categories=["z", "y", "x"])
    adata.obs["c"] = ["u", "u", "v", "v", "v"]
    adata.obs["d"] = [1.0, 2.0, np.nan, 1.0, 4.0]
    adata.obs["e"] = [True, False, True, True, True]
    adata.obs["f"] = np.array([5, 5, -1, 3, 3], dtype=np.int8)
    names = list("abcdef")
    adata.obs[names].to_csv(tmp_path / "labels.csv", index=False)
    for missing in (-1, None):
        made = Ensemble.from_anndata(adata, names, missing=missing)
        read = Ensemble.load(tmp_path / "labels.csv", missing=missing)
        assert np.array_equal(made.codes, read.codes)
        assert all(np.array_equal(a, b) for a, b in zip(made.categories, read.categories, strict=True))
    assert Ensemble.from_anndata(adata, "a").n_missing == 1
    assert Ensemble.from_anndata(adata, "a", missing=None).n_missing == 0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("leyden_*", r"columns must match columns of \.obs of adata\. Got 'leyden_\*'\. Did you mean 'leiden_0\."),
        ("leiden", r"columns must name columns of \.obs of adata\. Got 'leiden'"),
        ("n_counts", r"must hold categories, text or whole numbers\. Got 0\.\d+ in \.obs 'n_counts' of adata"),
        ("barcode", "must put some objects together. Got a different value for every object in .obs 'barcode'"),
    ],
)
def test_columns_that_are_no_clusterings(columns, message):
    adata = cells()
    adata.obs["barcode"] = adata.obs.index.to_numpy()
    with pytest.raises(ValueError, match=message):
        Ensemble.from_anndata(adata, columns)


def test_wrong_arguments():
    with pytest.raises(TypeError, match="columns must be the name of a column"):
        Ensemble.from_anndata(cells(), [3])
    with pytest.raises(TypeError, match="adata must be an AnnData object or the path"):
        Ensemble.from_anndata(np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"use_rep must name a graph in \.obsp, .*Got 3"):
        choose_resolution(cells(), use_rep=3)


# What is clustered


def fitted(X):
    return ConsensusClustering(3, generator=RandomKPartitions(5), standardize=False, random_state=0).fit(X)


def check_clustered(model, values, names, note):
    """What a model clustered: the values, whose names and description it has."""
    expected = fitted(values)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.confidence_, expected.confidence_)
    assert list(model.preprocessor_.get_feature_names_out()) == names
    assert note in model.preprocessor_.notes_


def test_principal_components_are_clustered_if_there_are_some():
    adata = cells()
    names = ["X_pca_1", "X_pca_2", "X_pca_3"]
    check_clustered(fitted(adata), adata.obsm["X_pca"], names, "clustered is .obsm['X_pca'], 3 columns")
    del adata.obsm["X_pca"]
    note = "clustered is .X, 7 columns, for there is no .obsm['X_pca']"
    check_clustered(fitted(adata), adata.X.toarray(), list(adata.var_names), note)


def test_frames_and_sparse_matrices():
    adata = cells()
    adata.obsm["X_pca"] = pd.DataFrame(
        {"u": range(N), "v": np.arange(N) % 5, "w": np.arange(N) % 7}, index=adata.obs.index
    )
    check_clustered(
        fitted(adata), adata.obsm["X_pca"].to_numpy(), list("uvw"), "clustered is .obsm['X_pca'], 3 columns"
    )
    places = cells().obsm["X_pca"]
    adata.obsm["X_pca"] = sparse.csr_matrix(places)
    names = ["X_pca_1", "X_pca_2", "X_pca_3"]
    check_clustered(fitted(adata), places, names, "clustered is .obsm['X_pca'], 3 columns")


def test_matrices_that_cannot_be_clustered(stored, tmp_path, monkeypatch):
    adata = cells()
    told = refused("run", stored, "--use-rep", "X_umap", "-o", tmp_path / "out")
    assert "--use-rep must name a matrix in .obsm of cells.h5ad" in told
    assert "Got 'X_umap'. In .obsm there is X_pca, other" in told
    limit(monkeypatch, "entries of a matrix of AnnData", 200)
    with pytest.raises(ValueError, match=r"at most 200 entries\. X of adata has 60 × 7"):
        choose_resolution(adata, use_rep="X")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="must have a matrix to cluster"):
        fitted(anndata.AnnData(obs=adata.obs))
    adata.obsm["X_pca"] = pd.DataFrame({"u": ["a"] * N}, index=adata.obs.index)
    with pytest.raises(ValueError, match="must hold numbers"):
        fitted(adata)
    del adata.obsm["X_pca"]
    adata.var_names = ["g"] * 7
    with pytest.raises(ValueError, match=r"different names\. Got 'g' more than once"):
        fitted(adata)


# Beside the objects


def test_what_was_found_stands_beside_the_objects():
    adata = cells()
    model = KMeansConsensus(3, random_state=0).fit(Ensemble.from_anndata(adata))
    before = list(adata.obs)
    assert to_anndata(model, adata) is None
    assert list(adata.obs) == [*before, *KEYS]
    assert list(adata.obs["consensus"].cat.categories) == ["0", "1", "2"]
    assert adata.obs["consensus"].astype(int).tolist() == model.labels_.tolist()
    assert adata.obs["consensus_runner_up"].astype(int).tolist() == model.runner_up_.tolist()
    assert np.array_equal(adata.obs["consensus_confidence"], model.confidence_)
    assert adata.obs["consensus_verdict"].tolist() == model.to_frame()["verdict"].tolist()
    assert adata.uns["consensus"]["params"]["n_clusters"] == 3
    assert adata.uns["consensus"]["params"]["random_state"] == 0
    assert adata.uns["consensus"]["ensemblage"] == ensemblage.__version__


def test_objects_without_a_cluster_and_numbers_of_an_earlier_run():
    adata = cells(5)
    labels = [[0, 0], [0, 0], [1, 1], [1, 1], [-1, -1]]
    model = KMeansConsensus(2, random_state=0).fit(labels).align([7, 7, 3, 3, 3])
    to_anndata(model, adata, "mine")
    assert adata.obs["mine"].tolist()[:4] == ["7", "7", "3", "3"]
    assert adata.obs["mine"].isna().tolist() == [False] * 4 + [True]
    assert adata.obs["mine_verdict"].isna().tolist() == [False] * 4 + [True]
    assert np.isnan(adata.obs["mine_confidence"].iloc[4])


def test_a_copy_leaves_the_object_as_it_is():
    adata = cells()
    model = KMeansConsensus(3, random_state=0).fit(Ensemble.from_anndata(adata))
    made = to_anndata(model, adata, copy=True)
    assert "consensus" not in adata.obs
    assert "consensus" not in adata.uns
    assert made.obs["consensus"].astype(int).tolist() == model.labels_.tolist()


def test_nothing_is_overwritten_unasked_but_what_an_earlier_call_wrote():
    adata = cells()
    model = KMeansConsensus(3, random_state=0).fit(Ensemble.from_anndata(adata))
    with pytest.raises(
        ValueError,
        match=r"one that ensemblage wrote\. Got 'cell_type' in \.obs\. Choose another key_added, or overwrite=True",
    ):
        to_anndata(model, adata, "cell_type")
    with pytest.raises(ValueError, match=r"Got 'neighbors' in \.uns"):
        to_anndata(model, adata, "neighbors")
    to_anndata(model, adata)
    to_anndata(KMeansConsensus(2, random_state=0).fit(Ensemble.from_anndata(adata)), adata)
    assert len(adata.obs["consensus"].cat.categories) == 2
    to_anndata(model, adata, "cell_type", overwrite=True)
    assert adata.obs["cell_type"].astype(int).tolist() == model.labels_.tolist()


def test_models_that_do_not_fit():
    adata = cells()
    model = KMeansConsensus(2, random_state=0).fit([[0], [1], [1]])
    with pytest.raises(ValueError, match=r"must have the 3 objects that were fitted\. Got 60"):
        to_anndata(model, adata)
    with pytest.raises(ValueError, match="key_added must be a name without a slash"):
        to_anndata(model, cells(3), "a/b")
    with pytest.raises(TypeError, match="must be an AnnData object"):
        to_anndata(model, "cells.h5ad")


def test_a_model_of_features_goes_through_a_file(tmp_path):
    adata = cells()
    model = ConsensusClustering(3, standardize=False, random_state=0).fit(adata.obsm["X_pca"])
    to_anndata(model, adata)
    adata.write_h5ad(tmp_path / "new.h5ad")
    read = anndata.read_h5ad(tmp_path / "new.h5ad")
    assert read.obs["consensus"].astype(int).tolist() == model.labels_.tolist()
    assert read.uns["consensus"]["params"]["method"] == "EvidenceAccumulation"


# Clusters of cells


@pytest.mark.core(1)
@pytest.mark.parametrize("k", [3, None])
def test_cells_are_clustered_as_the_shell_does(k, stored, tmp_path):
    adata = cells()
    model = ConsensusClustering(k, random_state=0).fit(adata)
    asked = () if k is None else ("-k", k)
    done("run", stored, *asked, "--seed", 0, "--stability", 0, "-o", tmp_path / "out")
    shells = load(tmp_path / "out" / "model.npz")
    np.testing.assert_array_equal(model.labels_, shells.labels_)
    np.testing.assert_array_equal(model.predict(adata), model.labels_)
    same = ConsensusClustering(k, standardize=False, random_state=0).fit(adata.obsm["X_pca"])
    np.testing.assert_array_equal(model.labels_, same.labels_)
    scaled = ConsensusClustering(k, standardize=True, random_state=0).fit(adata)
    assert scaled.preprocessor_.standardize is True
    assert "clustered is .obsm['X_pca'], 3 columns" in model.preprocessor_.notes_
    assert model.to_frame(adata)["id"].tolist() == list(adata.obs_names)
    assert "cell59" in model.report(adata).html
    assert model.plot(adata) is not None


def test_the_number_of_clusters_of_cells_is_that_of_the_model():
    adata = cells()
    model = ConsensusClustering(selection="consensus", random_state=3).fit(adata)
    choice = choose_k(adata, random_state=3)
    assert (choice.votes, choice.structure) == (model.choice_.votes, model.choice_.structure)


@pytest.mark.parametrize(
    "make", [lambda: RandomKPartitions(2), Preprocessor], ids=["RandomKPartitions", "Preprocessor"]
)
def test_others_say_what_of_cells_they_take(make):
    with pytest.raises(
        TypeError, match=r"Got AnnData\. Give a matrix of it, as X\.obsm\['X_pca'\], or give it to Consens"
    ):
        make().fit(cells())


# The shell


def equal(one, two):
    if sparse.issparse(one):
        return one.shape == two.shape and (one != two).nnz == 0
    return np.array_equal(np.asarray(one), np.asarray(two))


def check_kept(before, after, added=KEYS):
    """All that was there is there."""
    assert equal(before.X, after.X)
    assert equal(before.raw.X, after.raw.X)
    for part in ("layers", "obsm", "varm", "obsp"):
        assert list(getattr(before, part)) == list(getattr(after, part))
        assert all(equal(getattr(before, part)[key], getattr(after, part)[key]) for key in getattr(before, part))
    assert list(after.obs) == [*before.obs, *added]
    pd.testing.assert_frame_equal(before.obs, after.obs[list(before.obs)])
    pd.testing.assert_frame_equal(before.var, after.var)
    assert after.uns["neighbors"]["params"]["n_neighbors"] == 15
    assert after.uns["colors"].tolist() == before.uns["colors"].tolist()


def test_combine_writes_a_copy_with_all_that_was_there(stored, tmp_path):
    content = stored.read_bytes()
    result = done("combine", stored, "--columns", "leiden_*", "-k", 3, "-o", tmp_path / "out.h5ad")
    assert f"written     {tmp_path / 'out.h5ad'}\n" in result.stdout
    assert "combined are 4 columns of .obs: leiden_0.2, leiden_0.4, leiden_0.6, leiden_0.8" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["out.h5ad"]
    assert stored.read_bytes() == content
    made = anndata.read_h5ad(tmp_path / "out.h5ad")
    check_kept(cells(), made)
    model = KMeansConsensus(3, random_state=0).fit(Ensemble.from_anndata(stored))
    expected = to_anndata(model, cells(), copy=True)
    pd.testing.assert_frame_equal(made.obs, expected.obs)


def test_only_what_is_combined_is_read(stored, tmp_path, monkeypatch):
    read, parts = h5ad.File.read, []
    monkeypatch.setattr(h5ad.File, "read", lambda self, name: parts.append(name) or read(self, name))
    done("combine", stored, "-k", 3, "-o", tmp_path / "out.h5ad")
    assert set(parts) <= {"obs", "uns/consensus"}


def test_a_folder_as_of_any_table(stored, tmp_path):
    out = tmp_path / "out"
    done("combine", stored, "--columns", "leiden_0.2", "--columns", "leiden_0.[46]", "-k", 3, "-o", out)
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["data"]["n_partitions"] == 3
    assert (out / "labels.csv").read_text(encoding="utf-8").splitlines()[1].startswith("cell0,")
    assert (
        "finished by an earlier run"
        in done("combine", stored, "--columns", "leiden_0.2", "--columns", "leiden_0.[46]", "-k", 3, "-o", out).stderr
    )
    assert "holds one with columns" in refused("combine", stored, "--columns", "leiden_*", "-k", 3, "-o", out)


@pytest.mark.core(1)
@pytest.mark.parametrize("use", [None, "X_pca", "other", "X"])
def test_run_clusters_what_is_asked_for(stored, tmp_path, use):
    out = tmp_path / "out"
    asked = [] if use is None else ["--use-rep", use]
    common = ["-k", 3, "--quality", "fast", "--partitions", 5, "--stability", 0, "-o", out]
    result = done("run", stored, *asked, *common, "--truth-column", "cell_type", "--annotate")
    name = ".X" if use == "X" else f".obsm['{use or 'X_pca'}']"
    assert f"clustered is {name}" in result.stderr
    made = anndata.read_h5ad(out / "annotated.h5ad")
    check_kept(cells(), made)
    X = cells().X.toarray() if use == "X" else cells().obsm[use or "X_pca"]
    model = ConsensusClustering(
        3, quality="fast", generator=ensemblage.generation.RandomKPartitions(5), random_state=0, standardize=False
    )
    assert made.obs["consensus"].astype(int).tolist() == model.fit(X).labels_.tolist()
    before = (out / "annotated.h5ad").read_bytes()
    done("run", stored, *asked, *common, "--truth-column", "cell_type", "--annotate")  # finished, and the same
    assert (out / "annotated.h5ad").read_bytes() == before
    kept = load(out / "model.npz")
    assert np.array_equal(kept.labels_, model.labels_)
    assert np.array_equal(kept.confidence_, model.confidence_)
    columns = json.loads((out / "summary.json").read_text(encoding="utf-8"))["columns"]
    names = cells().var_names if use == "X" else [f"{use or 'X_pca'}_{j}" for j in range(1, X.shape[1] + 1)]
    assert [column["column"] for column in columns if column["use"] == "used"] == [*names]
    assert "ARI" in result.stdout


def test_clusters_of_components_are_described_by_genes(tmp_path, monkeypatch):
    adata = cells()
    kind = adata.obs["cell_type"].cat.codes.to_numpy()
    adata.X = sparse.csr_array(np.eye(7)[kind] * 3 + np.random.default_rng(0).random((N, 7)) / 10)
    adata.var_names = ["MS4A1", "NKG7", "CD3D", "a", "b", "c", "d"]
    adata.write_h5ad(tmp_path / "cells.h5ad")
    common = ["-k", 3, "--quality", "fast", "--partitions", 5, "--stability", 0, "--truth-column", "cell_type"]

    def described(name, *more):
        result = done("run", tmp_path / "cells.h5ad", *common, *more, "-o", tmp_path / name)
        profile = json.loads((tmp_path / name / "summary.json").read_text(encoding="utf-8"))["profile"]
        assert profile["not_clustered"] == []
        return result.stdout, {row["variable"] for cluster in profile["clusters"] for row in cluster["rows"]}

    told, variables = described("out")
    assert {"MS4A1", "NKG7", "CD3D"} <= variables <= set(adata.var_names)
    assert all(f"Higher {gene}" in told for gene in ("MS4A1", "NKG7", "CD3D"))
    assert described("genes", "--use-rep", "X")[1] <= set(adata.var_names)
    assert described("other", "--use-rep", "other")[1] <= set(adata.var_names)
    limit(monkeypatch, "values of an AnnData that are described", 7 * N - 1)
    assert described("large")[1] <= {"X_pca_1", "X_pca_2", "X_pca_3"}


def test_run_into_a_file_with_a_key_of_its_own(stored, tmp_path):
    done("run", stored, "-k", 3, "--key-added", "mine", "-o", tmp_path / "out.h5ad")
    made = anndata.read_h5ad(tmp_path / "out.h5ad")
    check_kept(cells(), made, [name.replace("consensus", "mine") for name in KEYS])
    assert made.uns["mine"]["params"]["n_clusters"] == 3


def test_standardize_is_only_as_it_is_said(stored, tmp_path):
    done("generate", stored, "--partitions", 5, "-o", tmp_path / "a.npz")
    done("generate", stored, "--partitions", 5, "--standardize", "-o", tmp_path / "b.npz")
    X = cells().obsm["X_pca"]
    generator = ensemblage.generation.RandomKPartitions(5, random_state=0)
    assert np.array_equal(np.asarray(Ensemble.load(tmp_path / "a.npz")), generator.fit_transform(X))
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    assert np.array_equal(np.asarray(Ensemble.load(tmp_path / "b.npz")), generator.fit_transform(scaled))


def test_rank_and_report_take_cells_too(stored, tmp_path):
    assert "leiden_0.4" in done("rank", stored, "--columns", "leiden_*").stdout
    done("combine", stored, "-k", 3, "-o", tmp_path / "out")
    done("report", stored, "--labels", tmp_path / "out" / "labels.csv", "-o", tmp_path / "page.html")
    assert "cells.h5ad" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_new_cells_are_assigned(stored, tmp_path):
    done("run", stored, "-k", 3, "--stability", 0, "-o", tmp_path / "run")
    done("assign", tmp_path / "run", stored, "-o", tmp_path / "again.csv")
    done("combine", stored, "-k", 3, "-o", tmp_path / "combined")
    done("assign", tmp_path / "combined", stored, "-o", tmp_path / "labels.csv")
    for folder, file in (("run", "again.csv"), ("combined", "labels.csv")):
        before, after = (pd.read_csv(path) for path in (tmp_path / folder / "labels.csv", tmp_path / file))
        assert before["id"].tolist() == after["id"].tolist()
        assert before["cluster"].tolist() == after["cluster"].tolist()
    message = refused("assign", tmp_path / "run", stored, "--decimal", ",", "-o", tmp_path / "new.csv")
    assert "--decimal is for tables" in message


def test_a_file_that_was_made_again_and_one_in_the_way(stored, tmp_path):
    out = tmp_path / "out.h5ad"
    done("combine", stored, "-k", 3, "-o", out)
    before = out.read_bytes()
    assert "overwritten unasked" in refused("combine", stored, "-k", 2, "-o", out)
    assert out.read_bytes() == before
    done("combine", stored, "-k", 2, "-o", out, "--overwrite")
    assert len(anndata.read_h5ad(out).obs["consensus"].cat.categories) == 2
    done("combine", out, "-k", 3, "-o", tmp_path / "again.h5ad")  # what an earlier command wrote may be replaced
    assert len(anndata.read_h5ad(tmp_path / "again.h5ad").obs["consensus"].cat.categories) == 3
    assert "--key-added" in refused("combine", stored, "--key-added", "cell_type", "-k", 3, "-o", tmp_path / "new.h5ad")
    assert not (tmp_path / "new.h5ad").exists()


def test_a_failure_leaves_nothing_behind(stored, tmp_path, monkeypatch):
    def fails(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anndata.io.write_elem", fails)
    assert "No space left" in refused("combine", stored, "-k", 3, "-o", tmp_path / "out.h5ad")
    assert not list(tmp_path.iterdir())


def test_rows_that_are_left_out_have_no_cluster(tmp_path):
    adata = cells()
    adata.obsm["X_pca"][[3, 7, 11, 13]] = np.nan  # more than the few that are filled
    adata.write_h5ad(tmp_path / "gaps.h5ad")
    assert "--impute" in refused("run", tmp_path / "gaps.h5ad", "-k", 3, "-o", tmp_path / "out.h5ad")
    done("run", tmp_path / "gaps.h5ad", "-k", 3, "--impute", "drop", "-o", tmp_path / "out.h5ad")
    found = anndata.read_h5ad(tmp_path / "out.h5ad").obs["consensus"]
    assert np.flatnonzero(found.isna()).tolist() == [3, 7, 11, 13]


def test_what_cannot_be_read_is_said_in_a_sentence(stored, tmp_path):
    out = tmp_path / "out.h5ad"
    (tmp_path / "no.h5ad").write_text("a,b\n1,2\n", encoding="utf-8")
    (tmp_path / "labels.csv").write_text("a,b\n1,2\n1,2\n2,2\n2,2\n", encoding="utf-8")
    assert "must be a .h5ad file that AnnData wrote" in refused("combine", tmp_path / "no.h5ad", "-o", out)
    assert "does not exist" in refused("run", tmp_path / "none.h5ad", "-o", out)
    assert "Got 'leyden_*'" in refused("combine", stored, "--columns", "leyden_*", "-o", out)
    assert "In .obsm there is" in refused("run", stored, "--use-rep", "X_umap", "-o", out)
    assert "--columns is for a .h5ad file" in refused("combine", tmp_path / "labels.csv", "--columns", "a", "-o", "x")
    assert "--use-rep is for a .h5ad file" in refused("run", tmp_path / "labels.csv", "--use-rep", "a", "-o", "x")
    assert "unless the input is a .h5ad file" in refused("combine", tmp_path / "labels.csv", "-o", out)
    assert "--drop-column is for tables" in refused("run", stored, "--drop-column", "a", "-o", out)
    assert "--annotate must go with a folder" in refused("run", stored, "--annotate", "-o", out)
    assert "--open must go with a page" in refused("combine", stored, "--open", "-o", out)
    assert "must name a column of .obs" in refused("run", stored, "--truth-column", "kind", "-o", out)
    assert not out.exists()


def test_without_anndata_it_is_said_how_to_install_it(stored, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    assert "pip install 'ensemblage[anndata]'" in refused("combine", stored, "-o", tmp_path / "out.h5ad")
    with pytest.raises(ValueError, match="It is not installed"):
        Ensemble.from_anndata(stored)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_file_of_an_old_anndata(tmp_path):
    """pbmc68k_reduced, as scanpy ships it, is of a version before 0.7: it is read whole."""
    scanpy = pytest.importorskip("scanpy", reason="scanpy, whose data set this is, is not installed")
    path = tmp_path / "pbmc.h5ad"
    shutil.copy(Path(scanpy.__file__).parent / "datasets" / "10x_pbmc68k_reduced.h5ad", path)
    done("run", path, "-k", 5, "--quality", "fast", "--stability", 0, "-o", tmp_path / "out.h5ad")
    made = anndata.read_h5ad(tmp_path / "out.h5ad")
    before = scanpy.datasets.pbmc68k_reduced()
    assert np.array_equal(made.X, before.X)
    assert list(made.obs) == [*before.obs, *KEYS]
    assert Ensemble.from_anndata(path, ["louvain", "bulk_labels"]).n_clusters.tolist() == [11, 10]
