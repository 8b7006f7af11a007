"""Communities of a graph: partitions by Leiden, Louvain and label propagation, and graphs as they are given."""

import re

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from naive import local_moves, partition_quality
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_matrix, csr_array
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from ensemblage import read_table
from ensemblage.generation import LeidenPartitions
from ensemblage.generation._communities import communities, quality, renumber_communities
from ensemblage.generation._graphs import as_graph
from ensemblage.kernels._graphs import move_nodes

KARATE = nx.karate_club_graph()
A = csr_array(nx.to_scipy_sparse_array(KARATE, weight=None, dtype=float))
W = csr_array(nx.to_scipy_sparse_array(KARATE, dtype=float))
MODELS = [("modularity", 1.0), ("modularity", 2.5), ("cpm", 0.2)]
ALGORITHMS = ["leiden", "louvain", "label-propagation"]


def needs(algorithm):
    if algorithm == "leiden":
        pytest.importorskip("graspologic_native")


def of_graph(**parameters):
    return LeidenPartitions(**{"affinity": "precomputed", "algorithm": "louvain", "random_state": 0, **parameters})


@pytest.mark.slow
@parametrize_with_checks([LeidenPartitions(4, n_neighbors=2, algorithm="louvain", random_state=0)])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("graph", [A, W], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(("objective", "resolution"), MODELS)
def test_quality_is_that_of_all_pairs(graph, objective, resolution):
    labels = communities(graph, resolution, objective, 3, "louvain")
    expected = partition_quality(graph.toarray(), labels, resolution, objective)
    assert_allclose(quality(graph, labels, resolution, objective), expected)
    if objective == "modularity":
        groups = [set(np.flatnonzero(labels == c)) for c in range(labels.max() + 1)]
        weight = "weight" if graph is W else None
        assert_allclose(expected, nx.community.modularity(KARATE, groups, weight=weight, resolution=resolution))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("power", [-1000, -1, 990])
def test_modularity_does_not_depend_on_the_unit_of_the_weights(algorithm, power):
    needs(algorithm)
    scaled = csr_array((np.ldexp(W.data, power), W.indices, W.indptr))
    assert_array_equal(communities(scaled, seed=3, algorithm=algorithm), communities(W, seed=3, algorithm=algorithm))


@pytest.mark.parametrize("seed", range(4))
def test_local_moves_are_those_of_the_slow_twin(seed):
    random = np.random.default_rng(seed)
    dense = np.triu(np.where(random.random((25, 25)) < 0.2, random.integers(1, 4, (25, 25)), 0), 1).astype(float)
    dense += dense.T
    graph, sizes = csr_array(dense), random.integers(1, 5, 25).astype(float)
    order, gamma = random.permutation(25), [0.0, 0.02, 0.1, 0.5][seed]
    labels, totals = np.arange(25), sizes.copy()
    work = np.zeros(25), np.empty(25, dtype=np.int64), np.ones(25, dtype=bool)
    arrays = graph.indptr, graph.indices, graph.data
    move_nodes(arrays, sizes, gamma, order, labels, totals, work, np.zeros(1, dtype=np.uint8))
    assert labels.tolist() == local_moves(dense, sizes, gamma, order)
    assert_allclose(totals, np.bincount(labels, sizes, minlength=25), atol=1e-9)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_same_seed_same_labels(algorithm):
    needs(algorithm)
    runs = [communities(A, 1.0, "modularity", seed, algorithm) for seed in [*range(10), *range(10)]]
    for first, second in zip(runs[:10], runs[10:], strict=True):
        assert_array_equal(first, second)
        assert_array_equal(first, renumber_communities(first))
        assert first.dtype == np.int32
    assert len({run.tobytes() for run in runs}) > 1


@pytest.mark.parametrize("algorithm", ["leiden", "louvain"])
@pytest.mark.parametrize(("objective", "resolution"), MODELS)
def test_nearly_as_good_as_the_best_of_networkx(algorithm, objective, resolution):
    needs(algorithm)
    best = max(
        quality(A, communities(A, resolution, objective, s, algorithm), resolution, objective) for s in range(20)
    )
    if objective == "modularity":
        runs = [nx.community.louvain_communities(KARATE, None, resolution, seed=s) for s in range(20)]
        expected = max(nx.community.modularity(KARATE, run, None, resolution) for run in runs)
        assert best >= expected - 1e-9
    else:
        assert best >= 0.39


def test_louvain_ends_where_no_node_gains():
    labels = communities(A, 1.0, "modularity", 0, "louvain")
    found = quality(A, labels, 1.0, "modularity")
    for c in range(labels.max()):
        merged = np.where(labels == c + 1, c, labels)
        assert quality(A, merged, 1.0, "modularity") <= found


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_components_and_isolated_nodes(algorithm):
    needs(algorithm)
    graph = csr_array(nx.to_scipy_sparse_array(nx.disjoint_union(nx.complete_graph(4), nx.empty_graph(2)), dtype=float))
    assert communities(graph, 1.0, "modularity", 0, algorithm).tolist() == [0, 0, 0, 0, 1, 2]
    assert communities(csr_array((3, 3)), 1.0, "modularity", 0, algorithm).tolist() == [0, 1, 2]


def test_first_level_is_finer():
    first = communities(A, 1.0, "modularity", 0, "louvain", 1)
    assert len(set(first)) > len(set(communities(A, 1.0, "modularity", 0, "louvain")))


@pytest.mark.parametrize(
    ("given", "name", "first", "second"),
    [
        ({}, "n_partitions", 4, 6),
        ({}, "resolutions", [0.5], [4.0]),
        ({}, "algorithm", "louvain", "label-propagation"),
        ({}, "objective", "modularity", "cpm"),
        ({}, "levels", None, 1),
        ({"resolutions": [2.0]}, "random_state", 0, 1),
    ],
)
def test_every_parameter_counts(given, name, first, second):
    made = [of_graph(**{"n_partitions": 5, **given, name: value}).fit_transform(A) for value in (first, second)]
    assert not np.array_equal(*made)


def test_neighbours_and_affinity_count():
    X = np.random.default_rng(0).normal(size=(60, 2))
    generators = [LeidenPartitions(3, n_neighbors=n, algorithm="louvain", random_state=0) for n in (3, 10)]
    first, second = (generator.fit_transform(X) for generator in generators)
    assert not np.array_equal(first, second)
    assert generators[0].graph_.nnz < generators[1].graph_.nnz
    assert_array_equal(generators[0].transform(X), first)
    square = csr_array(np.abs(X @ X.T))
    made = LeidenPartitions(3, n_neighbors=3, algorithm="louvain", random_state=0).fit_transform(square)
    assert not np.array_equal(made, of_graph(n_partitions=3).fit_transform(square))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_same_labels_for_any_threads(algorithm):
    needs(algorithm)
    expected = of_graph(n_partitions=12, algorithm=algorithm, n_jobs=1).fit_transform(A)
    assert_array_equal(of_graph(n_partitions=12, algorithm=algorithm, n_jobs=3).fit_transform(A), expected)


def test_resolutions_names_and_progress():
    told = []
    generator = of_graph(n_partitions=5, resolutions=[0.5, 4], progress=lambda *done: told.append(done)).fit(KARATE)
    assert generator.resolutions_.tolist() == [0.5, 0.5, 0.5, 4, 4]
    assert list(generator.get_feature_names_out()) == [
        "louvain_r0.5_0", "louvain_r0.5_1", "louvain_r0.5_2", "louvain_r4_3", "louvain_r4_4"
    ]  # fmt: skip
    assert told == [(i, 5) for i in range(1, 6)]
    assert generator.n_clusters_[0] < generator.n_clusters_[-1]
    assert generator.node_names_ == list(range(34))
    assert of_graph(n_partitions=2, resolutions=[1, 2, 3]).fit(A).resolutions_.tolist() == [1, 2]


def test_a_new_node_goes_where_most_of_its_edges_go():
    generator = of_graph(n_partitions=3).fit(A)
    labels = generator.fit_transform(A)
    links = np.zeros((3, 34))
    links[0, [0, 1, 2, 33]] = 1
    links[1, [0, 33]] = 1, 5
    found = generator.transform(csr_array(links))
    assert found.shape == (3, 3)
    assert_array_equal(found[1], labels[33])
    assert_array_equal(found[2], [-1, -1, -1])
    for j in range(3):
        assert found[0, j] == np.bincount(labels[[0, 1, 2, 33], j]).argmax()


def edge_table(tmp_path, text, name="edges.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


class Igraph:
    """What is asked of a graph of igraph, which is GPL and not installed."""

    class Attributes(dict):
        def attributes(self):
            return list(self)

    def __init__(self, directed=False):
        self.vs = self.Attributes(name=list("abc"))
        self.es = self.Attributes(weight=[2.0, 3.0])
        self.directed = directed

    def get_edgelist(self):
        return [(0, 1), (1, 2)]

    def vcount(self):
        return 3

    def is_directed(self):
        return self.directed


KARATE_EDGES = [(u, v) for u, v in nx.karate_club_graph().edges]


def named(pairs):
    return [(f"m{u}", f"m{v}") for u, v in pairs]


def written(pairs, header="", mark=","):
    return header + "".join(f"{u}{mark}{v}\n" for u, v in pairs)


@pytest.mark.parametrize(
    ("text", "n_edges"),
    [
        (written(KARATE_EDGES), 78),  # the first edge, 0,1, is what a data frame calls its columns, too
        (written(KARATE_EDGES, mark=" "), 78),
        (written([(u + 1, v + 1) for u, v in KARATE_EDGES], mark="\t"), 78),
        (written(KARATE_EDGES, "source,target\n"), 78),
        (written(KARATE_EDGES, "who,whom\n"), 78),  # nothing but a header stands above numbers
        (written(named(KARATE_EDGES)), 78),
        (written(named(KARATE_EDGES), "from;to\n", ";"), 78),
        (written(named(KARATE_EDGES), "Person 1,Person 2\n"), 78),
        ("ann,bob\ncid,dan\neve,fay\n", 3),  # names that come once
        ("node1,node2\nnode3,node4\n", 2),
        ("to,from\nfrom,ann\n", 2),  # a node of that name
        ("ann,bob,2\ncid,dan,1.5\n", 2),
        ("Freund,Freundin,Jahre\nann,bob,2\n", 1),
        ("0,1,2\n1,2,3\n", 2),
        (",a,b\n0,ann,bob\n1,bob,cid\n", 2),  # as pandas writes its rows' numbers
        ('"a" "b"\n"1" "ann" "bob"\n"2" "bob" "cid"\n', 2),  # as R does
    ],
)
def test_a_header_is_known_by_what_it_holds(tmp_path, text, n_edges):
    graph = as_graph(edge_table(tmp_path, text), "X")
    assert graph.matrix.nnz // 2 == n_edges


def test_an_edge_in_the_place_of_a_header_is_told_and_can_be_said(tmp_path):
    path = edge_table(tmp_path, "Freund,Feind\nann,bob\nbob,cid\n")
    graph = as_graph(path, "X")
    assert graph.matrix.nnz // 2 == 3
    assert any("the first row holds data" in note for note in graph.notes)
    assert as_graph(path, "X", has_header=True).matrix.nnz // 2 == 2
    path = edge_table(tmp_path, "from,to\nann,bob\nbob,cid\n")
    assert as_graph(path, "X").matrix.nnz // 2 == 2
    assert as_graph(path, "X", has_header=False).matrix.nnz // 2 == 3
    assert as_graph(read_table(path, has_header=False), "X").matrix.nnz // 2 == 3
    parquet = GIVEN["parquet"](tmp_path)
    assert as_graph(parquet, "X").matrix.nnz // 2 == 2


PATH = np.array([[0, 2.0, 0], [2, 0, 3], [0, 3, 0]])


def graphml(tmp_path):
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 2.0), ("b", "c", 3.0)])
    nx.write_graphml(graph, tmp_path / "graph.graphml")
    return tmp_path / "graph.graphml"


GIVEN = {
    "csv": lambda path: edge_table(path, "from,to,weight\na,b,2\nb,c,3\n"),
    "tsv": lambda path: edge_table(path, "from\tto\tweight\na\tb\t2\nc\tb\t3\n", "edges.tsv"),
    "parquet": lambda path: (
        pl.DataFrame({"u": ["a", "b"], "v": ["b", "c"], "w": [2, 3]}).write_parquet(path / "e.parquet")
        or path / "e.parquet"
    ),
    "graphml": graphml,
    "pandas": lambda _: pd.DataFrame({"u": ["a", "b"], "v": ["b", "c"], "w": [2, 3]}),
    "polars": lambda _: pl.DataFrame({"u": ["a", "c"], "v": ["b", "b"], "w": [2, 3]}),
    "igraph": lambda _: Igraph(),
    "igraph, directed": lambda _: Igraph(directed=True),
    "networkx": lambda path: nx.read_graphml(graphml(path)),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_every_kind_of_graph_with_names(kind, tmp_path):
    graph = as_graph(GIVEN[kind](tmp_path), "X")
    assert_array_equal(graph.matrix.toarray(), PATH)
    assert list(graph.names) == ["a", "b", "c"]
    assert_array_equal(np.transpose(graph.ends()), [[0, 1], [1, 2]])
    moved = as_graph(GIVEN[kind](tmp_path), "X", ["c", "z", "a", "b"])
    assert moved.matrix[[2]][:, [3]].toarray() == 2
    assert moved.matrix[[0]][:, [3]].toarray() == 3
    assert moved.matrix.shape == (4, 4)


@pytest.mark.parametrize(
    "given", [csr_array(PATH), csc_matrix(PATH), [[0, 1, 2], [2, 1, 3]], nx.from_numpy_array(PATH)]
)
def test_every_kind_of_graph_without_names(given):
    graph = as_graph(given, "X")
    assert_array_equal(graph.matrix.toarray(), PATH)
    assert list(graph.names) == [0, 1, 2]
    assert graph.notes == ()


def test_whole_numbers_of_a_table_are_sorted_as_numbers(tmp_path):
    graph = as_graph(edge_table(tmp_path, "u,v\n10,9\n9,100\n"), "X")
    assert list(graph.names) == [9, 10, 100]
    assert list(as_graph(edge_table(tmp_path, "u,v\n010,9\n9,100\n"), "X").names) == ["010", "100", "9"]
    for n in (3, 4, 5):  # the last nodes may have no edges
        assert as_graph(edge_table(tmp_path, "u,v\n1,0\n1,2\n"), "X", range(n)).matrix.shape == (n, n)


def test_whole_numbers_with_gaps_and_as_names():
    triangle = as_graph([[0, 1], [1, 3], [3, 0]], "X")
    assert list(triangle.names) == [0, 1, 3]
    assert_array_equal(triangle.matrix.toarray(), 1 - np.eye(3))
    moved = as_graph([[0, 1], [1, 2]], "X", ["2", "0", "1"])
    assert_array_equal(moved.matrix.toarray(), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


def test_numbers_beside_text_are_text():
    graph = as_graph(pd.DataFrame({"u": [10, 9, 9], "v": ["a", "10", "b"]}), "X")
    assert list(graph.names) == ["10", "9", "a", "b"]
    assert_array_equal(np.transpose(graph.ends()), [[0, 1], [0, 2], [1, 3]])


def test_entries_of_a_matrix_that_stand_twice_are_added_up_and_left_as_they_are():
    given = csr_array(([3.0, -1.0, 4.0], [1, 1, 2], [0, 2, 3, 3]), shape=(3, 3))
    assert_array_equal(as_graph(given, "X").matrix.toarray(), [[0, 2, 0], [2, 0, 4], [0, 4, 0]])
    assert given.nnz == 3


def test_directed_loops_and_repeated_edges_are_told():
    directed = nx.DiGraph()
    directed.add_weighted_edges_from([(0, 1, 2.0), (1, 0, 5.0), (1, 2, 3.0), (2, 2, 9.0)])
    graph = as_graph(directed, "X")
    assert_array_equal(graph.matrix.toarray(), [[0, 5, 0], [5, 0, 3], [0, 3, 0]])
    assert graph.notes == (
        "1 edge from a node to itself left out",
        "directed edges taken as undirected, with the larger weight of the two directions",
    )
    again = as_graph([[0, 1], [1, 0], [0, 1], [1, 2]], "X")
    assert_array_equal(again.matrix.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert again.notes == ("2 edges stand there again, in either direction: a pair counts once",)
    summed = as_graph([[0, 1, 2], [1, 0, 5], [1, 2, 1]], "X")
    assert_array_equal(summed.matrix.toarray(), [[0, 7, 0], [7, 0, 1], [0, 1, 0]])
    assert summed.notes == ("1 edge stands there again, in either direction: weights are added",)
    assert as_graph(csr_array([[0, 1.0], [0, 0]]), "X").notes


def test_more_columns_are_told(tmp_path):
    graph = as_graph(edge_table(tmp_path, "from,to,weight,year\na,b,2,1\nb,c,3,2\n"), "X")
    assert graph.notes[-1] == "columns after the third not read: year"


REFUSED = [
    (
        "u\na\nb\n",
        "edges.csv must have the columns node, node and perhaps weight. Got 1 column. Save both nodes of each edge.",
    ),
    ("u,v,w\na,b,x\nb,c,y\n", "The third column of edges.csv, w, must be weights. Got 'x'. "),
    ("u,v,w\na,b,0\nb,c,-1\n", "Weights of X must be finite numbers ≥ 0, the larger, the closer. Got -1. "),
    ("u,v,w\na,b,\nb,c,1\n", "Weights of X must be finite numbers ≥ 0, the larger, the closer. Got nan. "),
    ("u,v\na,b\nb,\n", "Nodes of X must have names. Got an empty one. Name both ends of every edge."),
    ("u,v\na,a\nb,b\n", "X must have an edge between two nodes. Got 2 edges, none of them "),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_tables_that_are_refused(text, message, tmp_path):
    with pytest.raises(ValueError, match=re.escape(message)):
        as_graph(edge_table(tmp_path, text), "X")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[0.5, 1]], "Nodes of X must be whole numbers or text. Got 0.5. "),
        ([[0, 1e300]], "Nodes of X must be whole numbers or text. Got 1e+300. "),
        ([["a", "b", "c"]], "Weights of X must be finite numbers ≥ 0. Got "),
        (3, "X must be a graph: a square sparse matrix, columns of node, node and perhaps weight"),
        (pd.DataFrame({"u": [1, 2]}), "X must have the columns node, node and perhaps weight. Got one column. "),
        ([[0, 1, 2, 3]], "X must be a graph: a square sparse matrix, columns of node, node and perhaps weight"),
        (csr_array((2, 3)), "X must be a square matrix, with a row and a column per node. Got shape (2, 3). "),
        (csr_array((4, 4)), "X must have an edge between two nodes. Got 0 edges"),
        (nx.Graph(), "X must have an edge between two nodes. Got 0 edges"),
    ],
)
def test_graphs_that_are_refused(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        as_graph(given, "X")


@pytest.mark.parametrize("kind", ["networkx", "igraph"])
def test_graphs_without_edges_whose_nodes_have_names(kind):
    given = nx.empty_graph(["a", "b", "c"]) if kind == "networkx" else Igraph()
    if kind == "igraph":
        given.get_edgelist, given.es = list, Igraph.Attributes(weight=[])
    with pytest.raises(ValueError, match=r"X must have an edge between two nodes\. Got 0 edges"):
        as_graph(given, "X", ["c", "b", "a"])


def test_what_is_no_graphml(tmp_path):
    with pytest.raises(ValueError, match=r"bad.graphml must be GraphML. Got .*\. Save the graph again"):
        as_graph(edge_table(tmp_path, "<graphml><node", "bad.graphml"), "X")


def test_without_networkx_the_way_to_it_is_told(monkeypatch, tmp_path):
    import sys

    path = graphml(tmp_path)
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"pip install ensemblage\[graphs\]`, or write the edges as CSV"):
        as_graph(path, "X")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"resolutions": [0]}, "resolutions of LeidenPartitions must be a list of one or more, each a number > 0"),
        ({"algorithm": "infomap"}, "algorithm of LeidenPartitions must be one of 'leiden', 'louvain', 'label-prop"),
        ({"affinity": "graph"}, "affinity of LeidenPartitions must be one of 'nearest_neighbors', 'precomputed'"),
        ({"affinity": "nearest_neighbors", "n_neighbors": 34}, "n_neighbors of LeidenPartitions must be < the 34 rows"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        of_graph(**parameters).fit(A)


def test_planted_communities_are_found():
    planted = nx.planted_partition_graph(4, 30, 0.5, 0.05, seed=1)
    labels = of_graph(n_partitions=5, resolutions=[1.0]).fit_transform(planted)
    assert min(adjusted_rand_score(np.arange(120) // 30, column) for column in labels.T) > 0.95


def test_a_table_of_features_is_no_edge_list(tmp_path):
    (tmp_path / "wine.csv").write_text("a,b,c\n14.2,1.7,2\n13.1,1.8,3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"A column of nodes must hold names or whole numbers\. Got '14\.2' in a\."):
        as_graph(tmp_path / "wine.csv", "X")
