"""Consensus on the edges of a graph: ECG, FastEnsemble, Lancichinetti & Fortunato; numbers of Zachary's karate club."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from limits import limit
from naive import ecg_weight, k_core, pair_association
from naive import joined_and_labelled as naive_joined
from numpy.testing import assert_allclose, assert_array_equal
from representatives import first_of
from scipy.sparse import csr_array
from sklearn.base import clone
from strategies import random_labels

from ensemblage import Ensemble, load
from ensemblage.consensus import CommunityConsensus
from ensemblage.generation import LeidenPartitions
from ensemblage.generation import _communities as generation_communities
from ensemblage.generation._communities import quality

KARATE = nx.karate_club_graph()
A = csr_array(nx.to_scipy_sparse_array(KARATE, weight=None, dtype=float))


def columns(text):
    """(34, 20) labels from lines of the labels, in base 36, and the seeds that gave them."""
    labels = np.empty((34, 20), dtype=int)
    for line in text.strip().splitlines():
        found, *seeds = line.split()
        labels[:, [int(seed) for seed in seeds]] = np.array([int(c, 36) for c in found])[:, None]
    return labels


LOUVAIN = columns("""
    0000111022100022102020233323322322  0 8
    0000111020100022102020233323322322  1 2 6 7 9 14
    0000111022100022102020223322322322  3 4 10 11 15 16
    0000111020100022102020223322322322  5 12 13 17 18
    0111000121001122012121233323322322  19
""")
FIRST_LEVEL = columns("""
    0000122033100033203030344434433433  0
    0011233141201144304040455545544544  1 2 9 14
    0000122034100044204040445544543544  3 4 11 16
    0011233141201144304040456655654644  5 12
    0011233141201144304040456576874844  6
    0100233040200044314141456675674644  7
    0000122034100034204030456675673634  8
    0000122033100033203030345544543533  10 15
    0100233040200044314141456655654644  13
    0100233040200055315151556655654655  17
    0011233141201155305050556655654655  18
    0122000232002233013131345564563533  19
""")


def shares(labels):
    """The share of the partitions that join the ends of each edge, by the entries of A."""
    found = CommunityConsensus("fast-ensemble", n_init=1, random_state=0).fit(labels, edges=A).associations_
    assert_array_equal(found.indices, A.indices)
    return found.data


def with_values(graph, values):
    return csr_array((values, graph.indices.copy(), graph.indptr.copy()), shape=graph.shape)


@pytest.fixture
def runs(monkeypatch):
    """The graphs whose communities are looked for, as they are, and the seeds."""
    found, louvain = [], generation_communities._louvain

    def watched(graph, resolution, objective, seed, levels):
        found.append((graph.copy(), seed))
        return louvain(graph, resolution, objective, seed, levels)

    monkeypatch.setattr(generation_communities, "_louvain", watched)
    return found


def joined_shares(labels):
    """(n, n) shares of all pairs that some partition joins, of partitions of equal weight; else 0."""
    joined, labelled = naive_joined(labels)
    found = joined / np.maximum(labelled, 1)
    np.fill_diagonal(found, 0)
    return found


def kept_shares(shares, threshold):
    """Those of at least the threshold; of a node that has none its largest, the first on ties; both ways."""
    kept = np.where(shares >= threshold, shares, 0)
    for i in np.flatnonzero((shares < threshold).all(axis=1) & (shares > 0).any(axis=1)):
        kept[i, shares[i].argmax()] = shares[i].max()
    return np.maximum(kept, kept.T)


def tally(values):
    found, counts = np.unique(np.asarray(values), return_counts=True)
    return dict(zip(found.tolist(), (counts // 2).tolist(), strict=True))


def canonical(labels):
    return pd.factorize(np.asarray(labels))[0]


def assert_same_partition(labels, text):
    assert_array_equal(canonical(labels), canonical(list(text)))


def test_edge_counts_of_the_karate_club():
    counts = np.round(20 * shares(LOUVAIN)).astype(int)
    assert tally(counts) == {0: 12, 1: 4, 8: 1, 9: 2, 11: 4, 12: 1, 19: 9, 20: 45}
    expected = {(0, 1): 19, (0, 4): 1, (0, 8): 0, (2, 9): 12, (9, 33): 8, (23, 25): 9, (23, 29): 11, (31, 33): 0}
    matrix = with_values(A, counts + 1.0).toarray() - 1
    assert {pair: int(matrix[pair]) for pair in expected} == expected


def test_louvain_on_the_associations_gives_one_answer():
    """It is plain Louvain that FastEnsemble runs with a threshold of (nearly) 0."""
    model = CommunityConsensus("fast-ensemble", objective="modularity", min_association=1e-9, n_init=1)
    found = {tuple(model.set_params(random_state=seed).fit_predict(LOUVAIN, edges=A).tolist()) for seed in range(20)}
    assert len(found) == 1
    assert_same_partition(found.pop(), "0000111020100022102020233323322322")
    c = with_values(A, shares(LOUVAIN))
    c.eliminate_zeros()
    labels = canonical(list("0000111020100022102020233323322322"))
    assert quality(c, labels, 1.0, "modularity") == pytest.approx(0.625956, abs=1e-6)
    assert quality(A, labels, 1.0, "modularity") == pytest.approx(0.418803, abs=1e-6)


@pytest.mark.parametrize("algorithm", ["louvain", "leiden"])
@pytest.mark.parametrize("objective", ["modularity", "cpm"])
def test_fast_ensemble_of_the_karate_club(algorithm, objective):
    if algorithm == "leiden":
        pytest.importorskip("graspologic_native")
    model = CommunityConsensus("fast-ensemble", algorithm=algorithm, objective=objective, random_state=0)
    model.fit(LOUVAIN, edges=A)
    assert_same_partition(model.labels_, "0000111023100022102020245524522522")
    assert np.bincount(model.labels_).tolist() == [11, 11, 5, 4, 2, 1]
    kept = model.associations_.data >= 0.8
    assert kept.sum() == 2 * 54


@pytest.mark.filterwarnings("ignore:partitions in rows")
def test_a_share_that_equals_the_threshold_stays():
    """0.8 of 20, 50 and 100 partitions, where FastEnsemble's code drops the edge."""
    for p in (5, 10, 20, 50, 100):
        joined = np.zeros((2, p), dtype=int)
        joined[1, : p // 5] = 1
        assert CommunityConsensus("fast-ensemble", random_state=0).fit(joined, edges=[[0, 1]]).n_clusters_ == 1
        joined[1, p // 5] = 1
        assert CommunityConsensus("fast-ensemble", random_state=0).fit(joined, edges=[[0, 1]]).n_clusters_ == 2


@pytest.mark.parametrize(("threshold", "n_pairs", "total"), [(0.2, 181, 3066), (0.5, 160, 2894)])
def test_lf_of_all_pairs(threshold, n_pairs, total, runs):
    model = CommunityConsensus("lf", pairs="all", min_association=threshold, random_state=0).fit(LOUVAIN, edges=A)
    D = runs[0][0]
    assert D.nnz == 2 * n_pairs
    assert round(20 * D.data.sum()) == 2 * total
    if threshold == 0.2:
        assert set(tally(np.round(20 * D.data).astype(int))) == {6, 8, 9, 11, 12, 19, 20}
    assert_same_partition(model.labels_, "0000111020100022102020223322322322")
    assert (model.n_rounds_, model.converged_) == (1, True)


@pytest.mark.parametrize("threshold", [1e-9, 0.5, 0.8, 1.0])
def test_of_equally_strong_edges_the_first_one_is_kept(threshold, runs):
    labels = random_labels(30, 4, 5, 0.2)
    labels = labels[(labels >= 0).any(axis=1)]
    graph = csr_array(np.ones((len(labels), len(labels))) - np.eye(len(labels)))
    CommunityConsensus("lf", pairs="all", min_association=threshold, random_state=0).fit(labels, edges=graph)
    assert_allclose(runs[0][0].toarray(), kept_shares(joined_shares(labels), threshold))


def test_as_many_runs_as_were_asked_for(runs):
    CommunityConsensus("ecg", algorithm="louvain", n_init=3, random_state=0).fit(LOUVAIN, edges=A)
    seeds = [seed for _, seed in runs]
    assert len(seeds) == len(set(seeds)) == 3


def test_a_node_that_would_lose_all_keeps_its_strongest_edge(runs):
    """Shares of .3 and .1 on a path: the first edge is the strongest of its two nodes, the second of the last one."""
    labels = np.tile(np.arange(3)[:, None], 10)
    labels[1, :3], labels[2, 3] = 0, 1
    path = csr_array(nx.to_scipy_sparse_array(nx.path_graph(3), dtype=float))
    CommunityConsensus("lf", min_association=0.5, random_state=0).fit(labels, edges=path)
    assert_allclose(runs[0][0].toarray(), [[0, 0.3, 0], [0.3, 0, 0.1], [0, 0.1, 0]])


def test_fast_ensemble_drops_the_edges_below_the_threshold(runs):
    CommunityConsensus("fast-ensemble", min_association=0.55, random_state=0).fit(LOUVAIN, edges=A)
    expected = with_values(A, np.where(shares(LOUVAIN) >= 0.55, shares(LOUVAIN), 0))
    assert_allclose(runs[0][0].toarray(), expected.toarray())


def test_ecg_of_the_karate_club(runs):
    associations = shares(FIRST_LEVEL)
    counts = np.round(20 * associations).astype(int)
    assert tally(counts) == {0: 12, 1: 6, 6: 5, 8: 5, 11: 9, 12: 1, 13: 2, 14: 2, 16: 4, 19: 10, 20: 22}
    runs.clear()
    model = CommunityConsensus(n_init=50, random_state=0).fit(FIRST_LEVEL, edges=A)
    w = runs[0][0]
    assert [w[0, 1], w[0, 2], w[0, 4], w[0, 11]] == pytest.approx([0.81, 0.5725, 0.0975, 0.05])
    assert w.sum() / 2 == pytest.approx(47.3625)
    assert (0.05 + 0.95 * associations).sum() / 2 == pytest.approx(48.3125)
    assert model.csi_ == pytest.approx(0.698526, abs=1e-6)
    assert_same_partition(model.labels_, "0000111020100022102020233323322322")
    assert quality(w, model.labels_, 1.0, "modularity") == pytest.approx(0.611906, abs=1e-6)
    other = canonical(list("0000111020100022102020234433432422"))
    assert quality(w, other, 1.0, "modularity") == pytest.approx(0.608792, abs=1e-6)


def random_case(seed, n=40, p=7):
    random = np.random.default_rng(seed)
    dense = np.triu(random.random((n, n)) < 0.08, 1).astype(float)
    labels = random_labels(n=n, p=p, k=3, seed=seed)
    labels[random.random(labels.shape) < 0.4] = -1
    labels[:, 0] = np.arange(n) % 4
    return csr_array(dense + dense.T), labels, random.integers(1, 5, p).astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_associations_and_weights_are_those_of_the_slow_twins(seed, runs):
    graph, labels, weights = random_case(seed)
    given = {"weights": weights, "min_weight": 0.1, "algorithm": "louvain", "random_state": 0}
    model = CommunityConsensus(**given).fit(labels, edges=graph)
    dense, expected = graph.toarray(), np.zeros(graph.shape)
    for i, j in zip(*np.nonzero(dense), strict=True):
        expected[i, j] = pair_association(labels, weights, i, j)
    assert_allclose(model.associations_.toarray(), expected)
    assert_allclose(runs[0][0].toarray(), ecg_weight(dense, lambda i, j: expected[i, j], 0.1))
    for i in range(len(dense)):
        inside = [expected[i, j] for j in np.flatnonzero(dense[i]) if model.labels_[i] == model.labels_[j]]
        inside = [c for c in inside if not np.isnan(c)]
        assert_allclose(model.support_[i], np.mean(inside) if inside else np.nan)


def test_core_of_a_tree_with_a_ring(runs):
    graph = nx.cycle_graph(4)
    graph.add_edges_from([(3, 4), (4, 5), (6, 7)])
    dense = nx.to_numpy_array(graph)
    assert k_core(dense, 2) == {0, 1, 2, 3} == set(nx.k_core(graph, 2).nodes)
    CommunityConsensus(random_state=0).fit(np.zeros((8, 1), dtype=int), edges=csr_array(dense))
    assert runs[0][0].sum() == pytest.approx(8 + 6 * 0.05)


@pytest.mark.parametrize("method", ["ecg", "fast-ensemble", "lf"])
def test_same_bits_for_any_threads_and_blocks(method, monkeypatch):
    graph, labels, weights = random_case(1, n=200)
    expected = CommunityConsensus(method, weights=weights, n_jobs=1, random_state=0).fit(labels, edges=graph)
    limit(monkeypatch, "rows of a block", 17)
    model = CommunityConsensus(method, weights=weights, n_jobs=3, random_state=0).fit(labels, edges=graph)
    for attribute in ("labels_", "confidence_", "support_"):
        assert_array_equal(getattr(model, attribute), getattr(expected, attribute), err_msg=attribute)
    assert_array_equal(model.associations_.data, expected.associations_.data)


def test_order_of_the_nodes_does_not_matter():
    order = np.random.default_rng(0).permutation(34)
    model = CommunityConsensus("fast-ensemble", random_state=0).fit(LOUVAIN, edges=A)
    moved = CommunityConsensus("fast-ensemble", random_state=0).fit(LOUVAIN[order], edges=A[order][:, order])
    assert_array_equal(canonical(moved.labels_), canonical(model.labels_[order]))
    assert_allclose(moved.support_, model.support_[order])


RANDOM = random_case(5, n=120)
PARAMETERS = [
    ({}, "method", "ecg", "fast-ensemble"),
    ({"method": "lf"}, "method", "lf", "ecg"),
    ({}, "algorithm", "louvain", "label-propagation"),
    ({}, "objective", "modularity", "cpm"),
    ({}, "resolution", 1.0, 3.0),
    ({"method": "fast-ensemble"}, "resolution", None, 0.9),
    ({"method": "fast-ensemble"}, "min_association", None, 0.3),
    ({"method": "lf"}, "min_association", None, 0.9),
    ({}, "min_weight", 0.05, 0.9),
    ({"method": "lf"}, "pairs", "edges", "all"),
    ({}, "n_init", 1, 40),
    ({"method": "lf"}, "max_rounds", 1, 50),
    ({}, "weights", None, RANDOM[2]),
    ({"n_init": 1}, "random_state", 0, 1),
]


@pytest.mark.parametrize(("given", "name", "first", "second"), PARAMETERS)
def test_every_parameter_counts(given, name, first, second):
    graph, labels, _ = RANDOM
    models = [
        CommunityConsensus(**{"random_state": 0, **given, name: value}).fit(labels, edges=graph)
        for value in (first, second)
    ]
    assert not np.array_equal(models[0].labels_, models[1].labels_)


def test_leiden_is_another_algorithm():
    pytest.importorskip("graspologic_native")
    graph, labels, _ = RANDOM
    models = [
        CommunityConsensus(algorithm=a, n_init=1, random_state=0).fit(labels, edges=graph)
        for a in ("leiden", "louvain")
    ]
    assert not np.array_equal(models[0].labels_, models[1].labels_)


def test_all_pairs_must_fit():
    told = (
        r"CommunityConsensus must fit into max_bytes = 1,000 bytes. Got [\d,]* bytes for all .* give pairs='edges'\.$"
    )
    with pytest.raises(ValueError, match=told):
        CommunityConsensus("lf", pairs="all", max_bytes=1000).fit(LOUVAIN, edges=A)


def test_one_object_is_refused():
    with pytest.raises(ValueError, match=r"must have at least 2 objects, .* \(n_samples=1\)\. Got 1\. Give the labels"):
        CommunityConsensus().fit([[0, 0]], edges=[[0, 0]])


def test_an_object_that_nobody_labels_is_in_no_cluster():
    labels = LOUVAIN.copy()
    labels[5] = -1
    model = CommunityConsensus(random_state=0).fit(labels, edges=A)
    assert model.labels_[5] == -1
    assert np.isnan([model.confidence_[5], model.support_[5]]).all()
    assert np.isnan(model.associations_[[5]].data).all()


def test_the_names_of_the_nodes():
    names = [f"n{i}" for i in range(34)]
    edges = [(names[u], names[v]) for u, v in KARATE.edges]
    expected = CommunityConsensus(random_state=0).fit(LOUVAIN, edges=A).labels_
    by_nodes = CommunityConsensus(random_state=0).fit(LOUVAIN, edges=edges, nodes=names)
    assert_array_equal(by_nodes.labels_, expected)
    frame = pd.DataFrame(LOUVAIN, index=names)
    order = np.random.default_rng(0).permutation(34)
    by_index = CommunityConsensus(random_state=0).fit(frame.iloc[order], edges=edges)
    assert_allclose(by_index.support_, by_nodes.support_[order])
    assert by_index.to_frame(frame.iloc[order]).index.tolist() == [names[i] for i in order]


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        ([[0, 34]], {}, r"Nodes of edges .* must be among 0 to 33, the objects that have labels. Got 34. "),
        ([["a", "b"]], {}, r"must be among 0 to 33, .* Got 'a' and 1 others. .* names of the objects"),
        (csr_array((3, 3)), {}, r"must be a graph of the 34 objects that have labels. Got 3 nodes"),
        (csr_array((3, 4)), {}, r"must be a square matrix.* Got shape \(3, 4\)"),
        ([[0, 0]], {}, r"must have an edge between two nodes. Got 1 edge"),
        ([[0, 1, -2.0]], {}, r"Weights of edges .* must be finite numbers ≥ 0.* Got -2"),
        ([[0, 1, np.nan]], {}, r"Weights of edges .* must be finite numbers ≥ 0.* Got nan"),
        (None, {}, r"edges of CommunityConsensus must be given to fit.* Got None. Give the graph"),
        (A, {"nodes": 3}, r"nodes of CommunityConsensus must be the names of the objects, or None. Got 3. "),
        ([0, 1], {}, r"edges of CommunityConsensus must be a graph: a square sparse matrix, columns of node"),
        (A, {"nodes": ["a"]}, r"nodes of CommunityConsensus must be the names of the 34 objects. Got 1"),
        ([["a", "b"]], {"nodes": ["a"] * 34}, r"must be distinct. Got a name twice"),
        (A, {"min_association": 0}, r"min_association of CommunityConsensus must be a number > 0 and ≤ 1"),
        (A, {"method": "louvain"}, r"method of CommunityConsensus must be one of 'ecg', 'fast-ensemble', 'lf'"),
    ],
)
def test_refused(edges, options, message):
    names = {name: value for name, value in options.items() if name == "nodes"}
    model = CommunityConsensus(**{name: value for name, value in options.items() if name != "nodes"})
    with pytest.raises(ValueError, match=message):
        model.fit(LOUVAIN, edges=edges, **names)


def test_weights_of_objects_are_refused():
    with pytest.raises(ValueError, match=r"must be fitted without sample_weight.* Leave sample_weight out"):
        CommunityConsensus().fit(LOUVAIN, sample_weight=np.ones(34, dtype=int), edges=A)
    for pairs in ("must_link", "cannot_link"):
        with pytest.raises(ValueError, match=r"must be None: communities follow the edges.* Leave them out"):
            CommunityConsensus().fit(LOUVAIN, **{pairs: [(0, 1)]}, edges=A)


def test_without_leiden_the_way_to_it_is_told(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "graspologic_native", None)
    with pytest.raises(ImportError, match=r'pip install ensemblage\[graphs\]`, or give algorithm="louvain"'):
        CommunityConsensus(algorithm="leiden").fit(LOUVAIN, edges=A)


def test_from_the_graph_to_the_consensus():
    generator = LeidenPartitions(16, resolutions=[1], affinity="precomputed", algorithm="louvain", levels=1)
    labels = Ensemble(generator.set_params(random_state=0).fit_transform(KARATE))
    model = CommunityConsensus(random_state=0).fit(labels, edges=KARATE)
    assert 3 <= model.n_clusters_ <= 5
    assert 0 < model.csi_ < 1


def test_saved_and_loaded(tmp_path):
    model = CommunityConsensus(random_state=0).fit(LOUVAIN, edges=A)
    model.save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    for attribute in ("labels_", "confidence_", "support_", "csi_"):
        assert_array_equal(getattr(loaded, attribute), getattr(model, attribute))
    assert_array_equal(loaded.associations_.toarray(), model.associations_.toarray())
    assert_array_equal(loaded.assign(LOUVAIN[:5]).labels, model.assign(LOUVAIN[:5]).labels)
    assert_array_equal(loaded.fit(LOUVAIN, edges=A).labels_, model.labels_)


def test_it_shows_itself_as_every_consensus_does():
    model = CommunityConsensus(random_state=0).fit(LOUVAIN, edges=A)
    assert str(model.report(LOUVAIN)).startswith("Report(4 clusters in 34 objects")
    assert model.to_frame()["cluster"].tolist() == model.labels_.tolist()
    assert model.association_shares(LOUVAIN).shape == (34, model.n_clusters_)


@pytest.mark.slow
@pytest.mark.parametrize("seed", first_of(range(3)))
def test_many_communities_are_as_certain_as_few(seed, monkeypatch, tmp_path):
    """The table without zeros gives the bits of the whole one."""
    graph, labels, weights = random_case(seed, n=150)
    few = CommunityConsensus("fast-ensemble", weights=weights, random_state=0).fit(labels, edges=graph)
    limit(monkeypatch, "numbers in a table of labels by communities", 0)
    many = CommunityConsensus("fast-ensemble", weights=weights, random_state=0).fit(labels, edges=graph)
    assert type(many._association) is not type(few._association)
    assert few.n_clusters_ > 10
    for attribute in ("labels_", "confidence_", "runner_up_", "cohesion_"):
        assert_array_equal(getattr(many, attribute), getattr(few, attribute), err_msg=attribute)
    assert_allclose(many.association_shares(labels), few.association_shares(labels))
    new = labels[::3, :].copy()
    new[:, 1:] = labels[1:-1:3][: len(new), 1:]
    for attribute in ("labels", "confidence", "runner_up"):
        assert_allclose(getattr(many.assign(new), attribute), getattr(few.assign(new), attribute))
    reference = np.arange(150) % 7
    assert_array_equal(many.align(reference).assign(new).labels, few.align(reference).assign(new).labels)
    many.save(tmp_path / "model.npz")
    assert_array_equal(load(tmp_path / "model.npz").assign(new).labels, many.assign(new).labels)


def test_weights_by_agreement_and_of_nothing():
    graph, labels, _ = RANDOM
    model = CommunityConsensus(weights="agreement", random_state=0).fit(labels, edges=graph)
    given = CommunityConsensus(weights=model._weights, random_state=0).fit(labels, edges=graph)
    assert_array_equal(model.associations_.data, given.associations_.data)
    only = CommunityConsensus(weights=[1, 1, 0, 0, 0, 0, 0], random_state=0).fit(labels, edges=graph)
    alone = CommunityConsensus(random_state=0).fit(labels[:, :2], edges=graph)
    assert_array_equal(only.associations_.data, alone.associations_.data)
    assert_array_equal(only.labels_, alone.labels_)


def test_labels_on_disk(tmp_path):
    np.save(tmp_path / "labels.npy", LOUVAIN.astype(np.int32))
    stored = Ensemble.open(tmp_path / "labels.npy", memory="1GB", scratch=tmp_path)
    expected = CommunityConsensus(random_state=0).fit(LOUVAIN, edges=A)
    model = CommunityConsensus(random_state=0).fit(stored, edges=A)
    assert_array_equal(model.labels_, expected.labels_)
    assert_array_equal(model.associations_.data, expected.associations_.data)


def test_partitions_that_label_different_nodes():
    """An edge of which no partition labels both ends has the least weight in ECG, and is dropped by FastEnsemble."""
    labels = np.array([[0, -1], [0, -1], [-1, 0], [-1, 0]])
    edges = [[0, 1], [1, 2], [2, 3]]
    model = CommunityConsensus("fast-ensemble", random_state=0).fit(labels, edges=edges)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert np.isnan(model.associations_[1, 2])
    assert model.support_.tolist() == [1, 1, 1, 1]
    assert CommunityConsensus(random_state=0).fit(labels, edges=edges).csi_ == pytest.approx(0.9)


def test_a_clone_is_fitted_to_another_graph():
    """The graph is data: no parameter has it, and nothing of it stays but what was learned."""
    model = CommunityConsensus(random_state=0).fit(LOUVAIN, edges=A)
    assert {"edges", "nodes"}.isdisjoint(model.get_params())
    half = clone(model).fit(LOUVAIN[:20], edges=A[:20, :20])
    assert half.associations_.shape == (20, 20)
    assert set(vars(half)) == set(vars(model))
