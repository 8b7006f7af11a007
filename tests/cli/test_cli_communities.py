"""`ensemblage communities`: from the edges of a graph to a cluster of each node."""

import csv

import networkx as nx
import numpy as np
import pytest
from shell import fail, succeed

from ensemblage import Ensemble
from ensemblage.consensus import CommunityConsensus
from ensemblage.generation import LeidenPartitions

KARATE = nx.karate_club_graph()
NAMES = [f"m{i:02}" for i in range(34)]


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text(
        "from,to\n" + "".join(f"{NAMES[u]},{NAMES[v]}\n" for u, v in KARATE.edges) + "m01,m01\nm01,m00\n",
        encoding="utf-8",
    )
    return path


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def model_of(edges, method="ecg", algorithm="louvain", partitions=50, seed=0, resolution=1.0):
    generator = LeidenPartitions(
        partitions, resolutions=[resolution], affinity="precomputed", algorithm=algorithm, random_state=seed
    ).set_params(levels=1 if method == "ecg" else None)
    labels = generator.fit_transform(str(edges))
    model = CommunityConsensus(method, algorithm=algorithm, random_state=seed)
    model.set_params(resolution=None if method == "fast-ensemble" else resolution)
    return model.fit(labels, edges=str(edges), nodes=generator.node_names_)


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"method": "lf", "partitions": 20},
        {"method": "fast-ensemble", "algorithm": "label-propagation"},
        {"seed": 3, "resolution": 2.0},
    ],
)
def test_as_in_python(edges, tmp_path, chosen):
    options = [word for name, value in chosen.items() for word in (f"--{name}", value)]
    result = succeed("communities", edges, *options, "-o", tmp_path / "out.csv", "--jobs", 2)
    model, rows = model_of(edges, **chosen), rows_of(tmp_path / "out.csv")
    assert list(rows[0]) == ["id", "cluster", "confidence", "verdict", "runner_up", "runner_up_share"]
    assert [row["id"] for row in rows] == NAMES
    assert [int(row["cluster"]) for row in rows] == model.labels_.tolist()
    assert [float(row["confidence"]) for row in rows] == pytest.approx(model.confidence_.tolist(), abs=1e-5)
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert lines["graph"] == "34 nodes, 78 edges"
    assert lines["consensus"].startswith(f"{model.n_clusters_} cluster")
    assert ("CSI" in lines) == (chosen.get("method", "ecg") == "ecg")
    assert "edges.csv: 1 edge from a node to itself left out" in result.stderr
    assert "edges.csv: 1 edge stands there again, in either direction: a pair counts once" in result.stderr


def test_partitions_that_are_given(edges, tmp_path):
    order = np.random.default_rng(0).permutation(34)
    labels = np.column_stack([np.arange(34) < 17, np.arange(34) % 4]).astype(int)
    lines = [f"{NAMES[i]},{labels[i, 0]},{labels[i, 1]}\n" for i in order]
    (tmp_path / "labels.csv").write_text("node,a,b\n" + "".join(lines), encoding="utf-8")
    given = ["--labels", tmp_path / "labels.csv", "--id-column", "node", "-o", tmp_path / "out.csv"]
    succeed("communities", edges, *given)
    expected = CommunityConsensus(random_state=0).fit(labels[order], edges=str(edges), nodes=[NAMES[i] for i in order])
    rows = rows_of(tmp_path / "out.csv")
    assert [row["id"] for row in rows] == [NAMES[i] for i in order]
    assert [int(row["cluster"]) for row in rows] == expected.labels_.tolist()


def test_an_ensemble_without_names_is_in_the_order_of_the_nodes(edges, tmp_path):
    Ensemble((np.arange(34) % 3)[:, None]).save(tmp_path / "e.npz")
    succeed("communities", edges, "--labels", tmp_path / "e.npz", "-o", tmp_path / "out.csv")
    assert [row["id"] for row in rows_of(tmp_path / "out.csv")] == NAMES
    Ensemble((np.arange(20) % 3)[:, None]).save(tmp_path / "short.npz")
    told = fail("communities", edges, "--labels", tmp_path / "short.npz", "-o", tmp_path / "b.csv")
    assert "short.npz must have a row for each of the 34 nodes of edges.csv. It has 20." in told


def test_the_first_edge_is_no_header(tmp_path):
    edges = tmp_path / "karate.csv"
    edges.write_text("".join(f"{u},{v}\n" for u, v in KARATE.edges), encoding="utf-8")

    def n_edges(*options):
        told = succeed("communities", edges, *options, "-o", tmp_path / "out.csv", "--overwrite").stdout
        return told.split("nodes, ")[1].split(" ")[0]

    assert n_edges() == n_edges("--no-header") == "78"
    assert n_edges("--header") == "77"


def test_graphml(tmp_path):
    nx.write_graphml(KARATE, tmp_path / "karate.graphml")
    succeed("communities", tmp_path / "karate.graphml", "-o", tmp_path / "out.csv")
    assert [row["id"] for row in rows_of(tmp_path / "out.csv")] == [str(i) for i in range(34)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("from,to\n", "edges.csv must hold at least one row below its header."),
        ("from,to,weight\na,b,-1\nb,c,2\n", "Weights of edges.csv must be finite numbers ≥ 0, the larger, the closer."),
        ("from,to\na,a\nb,b\n", "edges.csv must have an edge between two nodes."),
        ("from\na\nb\n", "edges.csv must have the columns node, node and perhaps weight."),
    ],
)
def test_what_is_no_graph(tmp_path, text, told):
    (tmp_path / "edges.csv").write_text(text, encoding="utf-8")
    assert told in fail("communities", tmp_path / "edges.csv", "-o", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_nothing_is_overwritten_unasked(edges, tmp_path):
    (tmp_path / "out.csv").write_text("mine", encoding="utf-8")
    assert "exists. Name another file" in fail("communities", edges, "-o", tmp_path / "out.csv")
    succeed("communities", edges, "-o", tmp_path / "out.csv", "--overwrite")
    assert "must end in .csv" in fail("communities", edges, "-o", tmp_path / "out.txt")
