"""docs/SINGLE_CELLS.md does what it says: every block of Python and every command is run, one after another."""

import re
import shlex
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import make_blobs
from strategies import neighbour_graph

from ensemblage.cli import main

anndata = pytest.importorskip("anndata", reason="the extra anndata is not installed")
pytest.importorskip("graspologic_native", reason="the extra graphs is not installed")
PAGE = (Path(__file__).parents[1] / "docs" / "SINGLE_CELLS.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(python|sh|)\n(.*?)```", PAGE, flags=re.DOTALL)


def cells():
    """Some cells with what scanpy's have."""
    X, kind = make_blobs(200, centers=6, n_features=8, random_state=0)
    names = [f"cell{i}" for i in range(200)]
    obs = pd.DataFrame({"bulk_labels": pd.Categorical([f"kind {k}" for k in kind]), "n_counts": X[:, 0]}, index=names)
    adata = anndata.AnnData(X.astype(np.float32), obs=obs, obsm={"X_pca": X})
    adata.obsp["connectivities"] = neighbour_graph(X, 14)
    return adata


def leiden(adata, resolution, key_added, **options):
    graph = nx.from_scipy_sparse_array(adata.obsp["connectivities"])
    groups = nx.community.louvain_communities(graph, resolution=resolution, seed=0)
    number = {node: str(c) for c, group in enumerate(groups) for node in group}
    adata.obs[key_added] = pd.Categorical([number[node] for node in range(adata.n_obs)])


def stand_in():
    """As much of scanpy as the page uses, where it is not installed."""
    module = ModuleType("scanpy")
    module.datasets = SimpleNamespace(pbmc68k_reduced=cells)
    module.tl = SimpleNamespace(leiden=leiden)
    module.pl = SimpleNamespace(umap=lambda adata, color, show: [adata.obs[name] for name in color])
    return module


@pytest.fixture(params=["scanpy", "without scanpy"])
def scanpy(request, monkeypatch):
    if request.param == "scanpy":
        module = pytest.importorskip("scanpy", reason="scanpy is not installed: a stand-in has its part")
        pytest.importorskip("igraph", reason="scanpy's Leiden needs igraph")
    else:
        module = stand_in()
    monkeypatch.setitem(sys.modules, "scanpy", module)
    yield request.param
    if request.param == "scanpy":  # its figures stay open
        import matplotlib.pyplot as plt

        plt.close("all")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # scanpy and its friends
def test_the_page_runs(scanpy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, said = {}, []
    for language, text in BLOCKS:
        if language == "python":
            exec(text, names)
        elif language == "sh":
            for line in text.splitlines():
                program, *arguments = shlex.split(line)
                if program == "pip":
                    assert arguments == ["install", "-e", ".[anndata,graphs]", "scanpy"]
                    continue
                assert program == "ensemblage"
                result = CliRunner().invoke(main, arguments)
                assert result.exit_code == 0, result.stderr
                said.append(result.stdout)
        elif scanpy == "scanpy":  # what a command is said to answer
            assert " ".join(text.split()) in " ".join(said[-1].split())
    for name in ("sweep/report.html", "sweep/sweep.csv", "sweep/labels.csv", "out/report.html"):
        assert (tmp_path / name).exists()
    swept, python = anndata.read_h5ad(tmp_path / "with_consensus.h5ad"), names["adata"]
    assert swept.obs["consensus"].tolist() == python.obs["consensus"].tolist()
    combined = anndata.read_h5ad(tmp_path / "combined.h5ad")
    assert combined.obs["agreed"].tolist() == python.obs["agreed"].tolist()
    assert "consensus" in anndata.read_h5ad(tmp_path / "out" / "annotated.h5ad").obs
    assert set(python.uns["consensus"]["params"]) >= {"method", "n_clusters", "resolution", "stability"}
