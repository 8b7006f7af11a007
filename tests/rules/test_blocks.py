"""Every block of Python and every command of README and documents is run as it stands, page by page.

CONTRIBUTING says how a clone is set up, which these tests stand in.
"""

import contextlib
import io
import re
import shlex
import shutil
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph
from strategies import neighbour_graph
from texts import DOCS, DOCUMENTS, README, ROOT, SITE_PAGES, flat, texts_of

from ensemblage import ConsensusClustering, metrics
from ensemblage.cli import main

BLOCK = re.compile(r"^```(\{code-cell\} python|python|sh)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
LEFT_OUT = {
    "ensemblage reproduce ohl --quick --data DIR -o out": "its data sets are not in the repository",
    "ensemblage reproduce all --quick --data DIR -o out": "its data sets are not in the repository",
    "ensemblage reproduce candel -o out": "half an hour of processor time",
    "ensemblage benchmark --suite DIR -o out": "the suite is not in the repository",
    "ensemblage summarize fit.nc --variable z -o out": "the file is of ArviZ",
}
OF_A_CLONE = {"git": "wants a network", "cd": "into the clone", "python3": "an environment", "pip": "wants a network",
              "pytest": "these tests", "Rscript": "wants R", "python": "a script of the repository",
              "docker": "wants a container"}  # fmt: skip


TEXTS = {"README.md": README, **DOCUMENTS, **texts_of(DOCS.glob("default/*.md")), **SITE_PAGES}
PAGES = {name: text for name, text in TEXTS.items() if BLOCK.search(text)}
ROWS = re.findall(r"^\| `(ensemblage [^`]+)` \|", TEXTS["docs/site/howto/commands.md"], flags=re.MULTILINE)


def numbers(n):
    """Three clouds in five dimensions."""
    random = np.random.default_rng(0)
    return (random.normal(size=(n, 5)) + 4 * random.integers(0, 3, n)[:, np.newaxis]).astype(np.float32)


def labels(n=120):
    random = np.random.default_rng(0)
    return random.integers(0, 24, (n, 20)) // random.integers(1, 8, 20)


def files_of_the_reader():
    """What pages and commands take to be there, in the folder of the test."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(numbers(120), columns=list("abcde"), index=[f"row{i}" for i in range(120)])
    moved, mean = random.random((600, 40)) < 0.1, np.full((200, 10), 5)
    mean[:100, :3] = 20
    frame.to_csv("data.csv", index_label="id")
    frame[:5].to_csv("new.csv", index_label="id")
    for name in ("labels.csv", "ensemble.csv"):
        pd.DataFrame(labels()).add_prefix("run").to_csv(name, index=False)
    near = kneighbors_graph(numbers(120), 5).nonzero()
    pd.DataFrame(np.transpose(near)).to_csv("edges.csv", index=False, header=False)
    drawn = np.where(moved, random.integers(0, 3, (600, 40)), np.arange(40) % 3)
    pd.DataFrame(drawn).add_prefix("V").to_csv("draws.csv")
    counts = random.negative_binomial(5, 5 / (5 + mean))
    pd.DataFrame(counts).add_prefix("gene").to_csv("counts.csv", index=False)


def cells(name):
    anndata = pytest.importorskip("anndata", reason="the extra anndata is not installed")
    near = kneighbors_graph(numbers(120), 10)
    obs = pd.DataFrame(labels()[:, :3].astype(str), index=[f"cell{i}" for i in range(120)]).add_prefix("leiden_")
    adata = anndata.AnnData(numbers(120), obs=obs.astype("category"))
    adata.obsp["connectivities"] = near.maximum(near.T)
    adata.write_h5ad(name)


def run(name):
    shell(f"ensemblage run data.csv -k 3 -o {Path(name).parts[0]}")


MADE = {"cells.h5ad": cells, "out": run, "a/labels.csv": run, "b/labels.csv": run}
"""What commands of the shell's page read beside these files."""


def big(names, patch):
    np.save("X.npy", numbers(2_100))
    Path("people").mkdir()
    pd.DataFrame(numbers(2_100)).add_prefix("x").to_parquet("people/part0.parquet")
    np.save("big.npy", labels(2_100))
    distributed = pytest.importorskip("dask.distributed")
    small = partial(distributed.Client, n_workers=2, threads_per_worker=1, dashboard_address=":0")
    patch.setattr(distributed, "Client", small)


def ten_million(names, patch):
    big(names, patch)
    from dask.array import from_array
    from dask.distributed import Client

    names |= {"client": Client(), "array": from_array(np.load("big.npy"), chunks=(1_000, 20))}


def laboratory(*_):
    pytest.importorskip("ensemblage_lab", reason="the laboratory is not installed")


SCANPY = all(map(find_spec, ("scanpy", "igraph")))


def scanpy(names, patch):
    """Where it is not installed, as much of it as docs/SINGLE_CELLS.md uses."""
    anndata, networkx = pytest.importorskip("anndata"), pytest.importorskip("networkx")
    pytest.importorskip("graspologic_native", reason="the extra graphs is not installed")

    def some_cells():
        X, kind = make_blobs(200, centers=6, n_features=8, random_state=0)
        obs = pd.DataFrame({"bulk_labels": pd.Categorical([f"kind {k}" for k in kind]), "n_counts": X[:, 0]})
        obs.index = [f"cell{i}" for i in range(200)]
        adata = anndata.AnnData(X.astype(np.float32), obs=obs, obsm={"X_pca": X})
        adata.obsp["connectivities"] = neighbour_graph(X, 14)
        return adata

    def leiden(adata, resolution, key_added, **options):
        graph = networkx.from_scipy_sparse_array(adata.obsp["connectivities"])
        groups = networkx.community.louvain_communities(graph, resolution=resolution, seed=0)
        number = {node: str(c) for c, group in enumerate(groups) for node in group}
        adata.obs[key_added] = pd.Categorical([number[node] for node in range(adata.n_obs)])

    module = ModuleType("scanpy")
    module.datasets = SimpleNamespace(pbmc68k_reduced=some_cells)
    module.tl = SimpleNamespace(leiden=leiden)
    module.pl = SimpleNamespace(umap=lambda adata, color, show: [adata.obs[name] for name in color])
    if not SCANPY:
        patch.setitem(sys.modules, "scanpy", module)


def toy(names, patch):
    laboratory()
    shutil.copytree(ROOT / "lab" / "tests" / "toy", "lab/tests/toy")
    patch.setenv("TOY_LOG", "log")


BEFORE = {
    "docs/SCALE.md": big,
    "docs/SINGLE_CELLS.md": scanpy,
    "docs/site/howto/add_paper.md": toy,
    "docs/site/howto/page.md": lambda *_: run("out"),
    "docs/site/howto/submit_method.md": laboratory,
    "docs/site/tutorials/ten_million.md": ten_million,
}
"""What a page takes to be there beside the reader's files: names and a cluster of machines."""


def shell(text):
    """What the lines of a block answer; of those that are left out, whether the commands have such options."""
    answers = []
    for line in text.replace("\\\n", " ").splitlines():
        for part in line.split(" && "):
            program, *arguments = shlex.split(part, comments=True)
            if Path(program).name != "ensemblage":
                assert Path(program).name in OF_A_CLONE, part
            elif shlex.join(["ensemblage", *arguments]) in LEFT_OUT:
                command = main.commands[arguments[0]]
                if not command.hidden:  # of a laboratory that is not installed
                    options = getattr(command, "imported", lambda command=command: command)().params
                    known = {name for option in options for name in (*option.opts, *option.secondary_opts)}
                    assert {word for word in arguments if word.startswith("-")} <= known, part
            else:
                result = CliRunner().invoke(main, arguments)
                assert result.exit_code == 0, f"{part}\n{result.stderr}"
                answers.append(result.stdout)
    return answers


def readme(names, said):
    lines = [line for _, text in BLOCK.findall(README) for line in text.splitlines()]
    assert [line.removeprefix("# ") for line in lines if line.startswith("# ")] == said.splitlines()
    assert adjusted_rand_score(names["cultivar"], names["labels"]) > 0.85
    assert Path("report.html").exists()
    return ()


def in_python(names, said):
    code = re.search(r'`([^`]+)` says "', PAGES["docs/site/howto/python.md"])[1]
    choice = eval(code, {"ConsensusClustering": ConsensusClustering, "X": load_wine().data})
    yield f'says "{flat(choice.sentence)}"'


def single_cells(names, said):
    from anndata import read_h5ad

    assert all(map(Path.exists, map(Path, ("sweep/report.html", "sweep/sweep.csv", "sweep/labels.csv"))))
    assert Path("out/report.html").exists()
    assert "consensus" in read_h5ad("out/annotated.h5ad").obs
    for name, column in (("with_consensus", "consensus"), ("combined", "agreed")):
        assert read_h5ad(f"{name}.h5ad").obs[column].tolist() == names["adata"].obs[column].tolist()
    assert set(names["adata"].uns["consensus"]["params"]) >= {"method", "n_clusters", "resolution", "stability"}
    shown = re.findall(r"^```\n(.*?)^```", PAGES["docs/SINGLE_CELLS.md"], flags=re.DOTALL | re.MULTILINE)
    answers = flat(" ".join(names["answers"]))
    assert not SCANPY or all(flat(text) in answers for text in shown)
    return ()


def customers(names, said):
    named = re.findall("The criteria disagree: (.*?) are named", said)[-1]
    yield f"The criteria name {named}."


def own_labels(names, said):
    last = names["E"].names[names["agreement"].scores_.argmin()]
    yield f"{last.title()} is last by agreement"


def leiden(names, said):
    found = names["choice"].to_frame().set_index("resolution")["n_clusters"]
    words = {4: "four", 11: "eleven"}
    yield f"A resolution of 2.5 gives {words[found[2.5]]} clusters as readily as .3 gives {words[found[0.3]]}."
    wrong, verdict = names["wrong"], names["adata"].obs["consensus_verdict"]
    share = wrong.groupby(verdict, observed=True).mean()
    assert share["core"] < 0.05
    assert share["undecided"] == pytest.approx(0.5, abs=0.1)
    yield "hardly any core cell is on the wrong side, and about half of the undecided are"


def evidence(names, said):
    lives = names["eac"].lifetimes_
    few, many = (k for k in sorted(lives) if np.isclose(lives[k], max(lives.values())))
    yield f"With k unknown, {few} and {many} clusters have equally long lifetimes"
    yield f"and {many}, the larger, would be taken"


def links(names, said):
    weight = np.concatenate(metrics.cluster_weights(names["E"]))[10]
    yield f"split apart: {weight:.4f}.".replace(" 0.", " .")


def trajectories(names, said):
    height = names["pta"].linkage_matrix_[3, 2]
    yield f"at height $1 - {1 - height:.6f} = {height:.6f}$".replace(" 0.", " .")


def ranking(names, said):
    yield f"This tutorial ranks {names['E'].shape[1]} partitions"


FACTS = {
    "README.md": readme,
    "docs/SINGLE_CELLS.md": single_cells,
    "docs/site/howto/python.md": in_python,
    "docs/site/theory/evidence.md": evidence,
    "docs/site/theory/links.md": links,
    "docs/site/theory/trajectories.md": trajectories,
    "docs/site/tutorials/customers.md": customers,
    "docs/site/tutorials/labels.md": own_labels,
    "docs/site/tutorials/leiden.md": leiden,
    "docs/site/tutorials/ranking.md": ranking,
}
"""What a page says by hand of what its cells give."""


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # both of Dask
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("page", [pytest.param(p, marks=() if p == "README.md" else pytest.mark.slow) for p in PAGES])
def test_blocks_of_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples")
    files_of_the_reader()
    names, printed = {"answers": []}, io.StringIO()
    with mpl.rc_context(), contextlib.redirect_stdout(printed):
        try:
            BEFORE.get(page, lambda *_: None)(names, monkeypatch)
            for language, text in BLOCK.findall(PAGES[page]):
                if language == "sh":
                    names["answers"] += shell(text)
                else:
                    exec(re.sub(r"^[:%].*\n", "", text, flags=re.MULTILINE), names)
        finally:
            if "client" in names:
                names["client"].close()
            if plt := sys.modules.get("matplotlib.pyplot"):
                plt.close("all")
    for said in FACTS.get(page, lambda *_: ())(names, printed.getvalue()):
        assert said in flat(PAGES[page])


@pytest.mark.slow
@pytest.mark.parametrize("command", ROWS)
def test_commands_of_the_table_of_the_page(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files_of_the_reader()
    for name in MADE.keys() & shlex.split(command.partition(" -o ")[0]):
        MADE[name](name)
    shell(command)


def test_what_is_left_out_is_there():
    every = "\n".join(TEXTS.values())
    assert not [command for command in LEFT_OUT if command not in every]


def test_no_block_is_of_another_language():
    run = {"{code-cell} python", "{code-block} python", "python", "sh", "r", "sql", ""}
    known = run | {"{toctree}", "{warning}", "{include}", "{literalinclude}"}
    for page, text in TEXTS.items():
        opened = re.findall(r"^[ >]*```+(.*)", text, flags=re.MULTILINE)[::2]
        assert {re.split(r" [./]", language)[0] for language in opened} <= known, page
