"""MCLA, HBGF, CSPA and HGPA: their graphs, their partitioners, what is missing."""

import ctypes
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from inspect import signature

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import rows_of
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, random_labels, with_equal_rows

from ensemblage import Ensemble
from ensemblage.consensus import CSPA, HBGF, HGPA, MCLA, EvidenceAccumulation, NegMM
from ensemblage.consensus.graphs._cspa import association_graph
from ensemblage.metrics._wat import weak_association_threshold

pymetis = pytest.importorskip("pymetis")

STREHL = np.array([[1, 2, 1, 1], [1, 2, 1, 2], [1, 2, 2, -1], [2, 3, 2, 1], [2, 3, 3, 2], [3, 1, 3, -1], [3, 1, 3, -1]])

SPECTRAL = [
    MCLA(3, partitioner="spectral"),
    HBGF(3),
    CSPA(3, partitioner="spectral"),
    HGPA(3, partitioner="spectral"),
    HGPA(3, partitioner="spectral", edge_weights="size"),
]
BALANCED = [
    MCLA(3),
    MCLA(3, recursive=True),
    MCLA(3, vertex_weights="equal", ties="first"),
    HBGF(3, partitioner="metis"),
    HBGF(3, partitioner="metis", recursive=False),
    HBGF(3, partitioner="metis", distinct=False),
    CSPA(3),
    CSPA(3, recursive=False, n_neighbors=None),
    CSPA(3, n_neighbors=20),
    CSPA(3, association_threshold="kmeans"),
    CSPA(3, distinct=False),
]


def fitted(model, labels, **parameters):
    return clone(model).set_params(random_state=0, **parameters).fit(labels)


# ---- all of them ----


@pytest.mark.parametrize("model", [*SPECTRAL, *BALANCED], ids=str)
def test_planted_clusters_are_found(model):
    labels, truth = planted_labels(n=300, p=12, k=3, noise=0.25, seed=1)
    assert adjusted_rand_score(truth, fitted(model, labels).labels_) > 0.95


@pytest.mark.parametrize("model", SPECTRAL, ids=str)
def test_clusters_of_unlike_sizes_are_found_without_balance(model):
    truth = np.repeat([0, 1, 2], [200, 70, 30])
    labels = np.column_stack([truth] * 12)
    noise = np.random.default_rng(0).random(labels.shape) < 0.2
    labels[noise] = np.random.default_rng(1).integers(3, size=noise.sum())
    assert adjusted_rand_score(truth, fitted(model, labels).labels_) > 0.95


@pytest.mark.parametrize("model", [*SPECTRAL, *BALANCED], ids=str)
def test_one_cluster(model):
    assert_array_equal(fitted(model, STREHL, n_clusters=1).labels_, 0)


@pytest.mark.parametrize("model", [*SPECTRAL, *BALANCED], ids=str)
def test_as_many_clusters_as_distinct_rows(model):
    labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert 1 <= fitted(model, labels, n_clusters=4).n_clusters_ <= 4


@pytest.mark.parametrize("model", [*SPECTRAL, *BALANCED], ids=str)
def test_a_graph_of_many_components(model):
    labels = np.repeat(np.arange(30), 4)[:, None]
    model = fitted(model, labels)
    assert (model.labels_ >= 0).all()
    assert model.n_clusters_ <= 3


@pytest.mark.parametrize("model", [*SPECTRAL, *BALANCED], ids=str)
def test_a_partition_without_weight_is_not_there(model):
    labels, _ = planted_labels(n=80, p=6, k=3, noise=0.4, missing=0.1, seed=3)
    labels = with_equal_rows(labels, 120)
    # A constant partition: leaving it out changes no distinct row.
    beside = np.column_stack([labels, np.zeros(len(labels), dtype=int)])
    if model.get_params().get("association_threshold") is not None:
        model = clone(model).set_params(association_threshold=0.3)
    with_it = fitted(model, beside, weights=[1, 1, 1, 1, 1, 1, 0])
    assert_array_equal(
        with_it.labels_[(labels >= 0).any(axis=1)], fitted(model, labels).labels_[(labels >= 0).any(axis=1)]
    )


@pytest.mark.parametrize("model", [MCLA(), HBGF(), HGPA(partitioner="spectral")], ids=str)
def test_more_clusters_than_there_are_in_all_partitions(model):
    labels = [[0], [1], [0]]
    wide = np.column_stack([np.arange(6) % 2, np.arange(6) % 3, np.zeros(6, dtype=int)])
    with pytest.raises(ValueError, match=r"n_clusters of .* must be ≤ the 2 distinct label rows"):
        fitted(model, labels, n_clusters=3)
    with pytest.raises(ValueError, match=r"n_clusters of .* must be ≤ the 5 clusters of all partitions. Got 6"):
        fitted(model, wide, n_clusters=6, weights=[1, 1, 0])


@pytest.mark.parametrize("model", [MCLA(2), CSPA(2), HBGF(2, partitioner="metis"), HGPA(2)], ids=str)
def test_a_missing_partitioner_is_said_with_the_way_out(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    monkeypatch.setitem(sys.modules, "mtkahypar", None)
    with pytest.raises(ImportError, match=r"needs (pymetis|mtkahypar) .* give partitioner='spectral'"):
        model.fit(STREHL)
    assert model.set_params(partitioner="spectral").fit(STREHL).n_clusters_ == 2


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MCLA(2, partitioner="hmetis"), "partitioner of MCLA must be one of 'metis', 'spectral'"),
        (MCLA(2, imbalance=0), "imbalance of MCLA must be a number > 0, or None"),
        (MCLA(2, imbalance=10**400), "imbalance of MCLA must be a number > 0, or None. Got 1000"),
        (CSPA(2, n_init=0), "n_init of CSPA must be a whole number from 1 to 1,000. Got 0"),
        (CSPA(2, n_init=2**63), "n_init of CSPA must be a whole number from 1 to 1,000"),
        (CSPA(2, max_bytes="2 gallons"), "max_bytes of CSPA must be a number of bytes"),
        (NegMM(2, max_bytes="much"), "max_bytes of NegMM must be a number of bytes"),
        (MCLA(2, max_bytes=-1), "max_bytes of MCLA must be a number of bytes"),
        (MCLA(2, vertex_weights="none"), "vertex_weights of MCLA"),
        (MCLA(2, ties="last"), "ties of MCLA"),
        (CSPA(2, n_neighbors=0), "n_neighbors of CSPA"),
        (CSPA(2, n_neighbors="many"), "n_neighbors of CSPA must be .auto., or a whole number"),
        (CSPA(2, association_threshold=1), "association_threshold of CSPA"),
        (CSPA(2, association_threshold="em"), "association_threshold of CSPA must be one of"),
        (HGPA(2, edge_weights="none"), "edge_weights of HGPA"),
        (HGPA(2, cut_cost="soed"), "cut_cost of HGPA"),
        (HGPA(2, imbalance=-1), "imbalance of HGPA"),
        (HGPA(2, partitioner="metis"), "partitioner of HGPA must be one of 'mtkahypar', 'spectral'"),
    ],
)
def test_refuses(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(STREHL)


def test_tables_of_pairs_must_fit_though_their_edges_would():
    """Equal partitions have as few edges as there can be; 8 bytes for each cell of 45 tables are more than that."""
    labels = np.tile(np.arange(1_000)[:, None] % 100, 10)
    cells = 45 * 101**2
    with pytest.raises(ValueError, match=r"MCLA must fit into max_bytes .* Got 8,\d+,\d+ bytes for the pairs of 1,000"):
        MCLA(2, max_bytes=2**22 + 8 * cells).fit(labels)
    assert MCLA(2, max_bytes=2**23 + 8 * cells, random_state=0).fit(labels).n_clusters_ == 2


@pytest.mark.parametrize("n_threads", [1, 4])
def test_what_is_written_after_silent_cuts_is_heard(monkeypatch, n_threads):
    """Standard output of the process, where a library in C writes."""

    def part_graph(n_parts, vweights, **options):
        os.write(1, b"noise")
        time.sleep(0.001)
        return 0, np.arange(len(vweights)) % n_parts

    monkeypatch.setattr(pymetis, "part_graph", part_graph)
    reader, writer = os.pipe()
    stdout = os.dup(1)
    os.dup2(writer, 1)
    try:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(lambda seed: CSPA(2, n_init=1, random_state=seed).fit(STREHL), range(4 * n_threads)))
        os.write(1, b"heard")
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
        os.close(writer)
    with open(reader, "rb") as file:
        assert file.read() == b"heard"


NESTED = {"objects": [5, 5, 2], "clusters": [2, 4, 6, 3]}
"""Sizes of equal runs of objects: eigenvalues repeat, and ARPACK restarts with a random vector."""
BEYOND_DENSE = [
    ("HBGF(5, random_state=0)", "clusters"),
    ("HGPA(5, partitioner='spectral', random_state=0)", "clusters"),
    ("MCLA(5, partitioner='spectral', random_state=0)", "clusters"),
    ("CSPA(5, partitioner='spectral', random_state=0)", "objects"),
    ("NegMM(5, association_threshold=0.2, random_state=0)", "objects"),
    ("CSPA(5, random_state=0)", "objects"),
    ("MCLA(5, random_state=0)", "clusters"),
    ("HBGF(5, partitioner='metis', random_state=0)", "clusters"),
]
SAME_BITS = f"""
import hashlib, numpy as np
from ensemblage.consensus import *
for model, case in {BEYOND_DENSE!r}:
    labels = np.column_stack([np.arange(1000) // size for size in {NESTED!r}[case]])
    print(hashlib.sha256(eval(model).fit(labels).labels_).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.skipif("rng" not in signature(eigsh).parameters, reason="ARPACK's restarts have no seed before SciPy 1.17")
def test_the_same_bits_in_two_fits_and_two_processes():
    runs = [
        subprocess.run([sys.executable, "-c", SAME_BITS * 2], check=True, capture_output=True, text=True).stdout.split()
        for _ in range(2)
    ]
    first, second = runs[0][: len(BEYOND_DENSE)], runs[0][len(BEYOND_DENSE) :]
    assert len(first) == len(BEYOND_DENSE)
    assert first == second
    assert runs[0] == runs[1]


@pytest.mark.core(3)
@pytest.mark.parametrize("model", [*SPECTRAL, NegMM(3)], ids=str)
def test_nearly_unanimous_partitions_with_gaps(model):
    """Eigenvalues repeat: LAPACK may find no eigenvectors of a part of them (seed 28 with NegMM)."""
    for seed in range(20, 50):
        rng = np.random.default_rng(seed)
        n, p, k = rng.integers(6, 60), rng.integers(2, 7), rng.integers(2, 6)
        truth = rng.integers(k, size=n)
        labels = np.column_stack([truth] * p)
        labels[rng.random(labels.shape) < rng.choice([0.02, 0.05, 0.1, 0.2])] = -1
        if rng.random() < 0.5:
            moved = rng.random(labels.shape) < 0.02
            labels[moved] = rng.integers(k, size=moved.sum())
        most = min(5, len(rows_of(labels)), (labels.max(axis=0) + 1).sum())
        assert (fitted(model, labels, n_clusters=int(most)).labels_[(labels >= 0).any(axis=1)] >= 0).all()


@pytest.mark.parametrize(
    "model",
    [
        MCLA(2, imbalance=1e30),
        MCLA(2, imbalance=1e-300, max_bytes="2GB"),
        CSPA(2, imbalance=1e308, n_neighbors=2**63, max_bytes="1.5 GiB"),
        HBGF(2, partitioner="metis", imbalance=10**30),
        HGPA(2, imbalance=1e30),
        NegMM(2, n_neighbors=2**63, max_bytes="2GB"),
    ],
    ids=str,
)
def test_numbers_beyond_any_use_mean_no_limit(model):
    labels, _ = planted_labels(n=60, p=6, k=2, noise=0.1, seed=0)
    assert model.fit(labels).n_clusters_ <= 2


# ---- METIS ----


def given_to_metis(fit):
    """The graph with whole weights, dense, and the sizes of its vertices that a fit gives to METIS."""
    given = []

    def part_graph(n_parts, adjacency, vweights, eweights, **options):
        m = len(vweights)
        given.extend([csr_array((eweights, adjacency.adjacent, adjacency.adj_starts), (m, m)).toarray(), vweights])
        return 0, np.arange(m) % n_parts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pymetis, "part_graph", part_graph)
        fit()
    return given


def test_whole_weights():
    S = np.array([[1, 0.75, 0.5], [0.75, 1, 0.25], [0.5, 0.25, 1]])
    graph, _ = given_to_metis(lambda: CSPA(2, n_init=1).fit_similarity(S))
    assert_array_equal(graph[np.triu_indices(3, 1)], [25_000_000, 16_666_667, 8_333_333])


def test_edges_whose_weight_rounds_to_nothing_vanish():
    S = np.array([[1, 1, 1e-12], [1, 1, 0], [1e-12, 0, 1]])
    graph, _ = given_to_metis(lambda: CSPA(2, n_init=1).fit_similarity(S))
    assert_array_equal(graph, np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]) * 50_000_000)


@pytest.mark.parametrize("recursive", [False, True])
def test_parts_are_as_balanced_as_asked(recursive):
    labels = random_labels(n=400, p=6, k=4, seed=1)
    for imbalance in (0.01, 0.3):
        model = CSPA(4, recursive=recursive, imbalance=imbalance, distinct=False, random_state=0).fit(labels)
        assert np.bincount(model.labels_).max() <= 100 * (1 + imbalance) ** (2 if recursive else 1) + 1


def test_objects_with_equal_labels_part_only_where_they_may():
    labels = np.repeat([[0, 0], [1, 1]], [90, 30], axis=0)
    together = CSPA(2, random_state=0).fit(labels)
    assert_array_equal(np.bincount(together.labels_), [90, 30])
    for method in (CSPA, HBGF):
        model = method(2, partitioner="metis", distinct=False, random_state=0).fit(labels)
        assert np.bincount(model.labels_).max() < 70


def test_a_system_without_the_library_of_c(monkeypatch):
    """As on Windows, where CDLL(None) is a TypeError."""

    def fail(name):
        raise TypeError("bad argument type for built-in operation")

    expected = CSPA(2, random_state=0).fit(STREHL).labels_
    monkeypatch.setattr(ctypes, "CDLL", fail)
    assert_array_equal(CSPA(2, random_state=0).fit(STREHL).labels_, expected)


def test_metis_writes_nothing_to_standard_output(capfd):
    """One heavy row, many parts: METIS finds no vertex for some of them and says so in C."""
    labels = np.column_stack([np.append(np.zeros(500, dtype=int), np.arange(12))] * 2)
    sys.stdout.write("before ")
    model = CSPA(10, recursive=True, random_state=0).fit(labels)
    sys.stdout.write("after")
    assert capfd.readouterr().out == "before after"
    assert model.n_clusters_ <= 10


# ---- MCLA ----


def assert_meta_graph_is(expected, labels):
    """Of Jaccard similarities, as shares of their sum; and the sizes of the clusters."""
    graph, sizes = given_to_metis(lambda: MCLA(2).fit(labels))
    np.fill_diagonal(expected, 0)
    assert_allclose(graph / max(graph.sum(), 1), expected / max(expected.sum(), 1e-300), atol=1e-7)
    return sizes


def test_meta_graph_of_strehl():
    sizes = assert_meta_graph_is(naive.jaccard(np.where(STREHL > 0, STREHL - 1, -1)), STREHL)
    assert_array_equal(sizes, [3, 2, 2, 2, 3, 2, 2, 2, 3, 2, 2])


@pytest.mark.parametrize("seed", range(4))
def test_meta_clusters_of_strehl(seed):
    model = MCLA(3, random_state=seed).fit(STREHL)
    parts = np.concatenate(model.meta_clusters_)
    groups = {frozenset(np.flatnonzero(parts == g) + 1) for g in range(3)}
    assert groups == {frozenset({1, 5, 7}), frozenset({2, 6, 8, 10}), frozenset({3, 4, 9, 11})}
    expected = naive.association_with_parts(np.where(STREHL > 0, STREHL - 1, -1), parts)
    assert_allclose(expected[:, parts[0]], [1, 1, 2 / 3, 0, 0, 0, 0])
    assert_array_equal(model.labels_[[0, 0, 3, 5]], model.labels_[[1, 2, 3, 6]])


def test_ties_are_drawn_by_seed_or_go_to_the_first():
    drawn = [MCLA(3, random_state=seed).fit(STREHL) for seed in range(30)]
    side = [model.labels_[4] == model.labels_[3] for model in drawn]
    assert 5 < sum(side) < 25
    again = MCLA(3, random_state=0).fit(STREHL)
    assert_array_equal(again.labels_, drawn[0].labels_)
    for model in (MCLA(3, ties="first", random_state=seed).fit(STREHL) for seed in range(8)):
        parts = np.concatenate(model.meta_clusters_)
        expected = naive.association_with_parts(np.where(STREHL > 0, STREHL - 1, -1), parts)
        assert adjusted_rand_score(model.labels_, expected.round(9).argmax(axis=1)) == 1


@given(label_matrices(min_objects=4))
def test_meta_graph_is_the_naive_one(labels):
    labels = np.vstack([labels, labels.max() + 1 + np.zeros_like(labels[:1])])  # so that there are two rows
    codes = Ensemble(labels).codes.astype(int)
    codes = np.where(codes == Ensemble(labels).n_clusters, -1, codes)
    sizes = assert_meta_graph_is(naive.jaccard(codes), labels)
    assert_array_equal(sizes, naive.one_hot(codes).sum(axis=0))


def test_association_is_a_mean_not_a_sum():
    """One label in a part of one cluster beats two in a part of five."""
    from ensemblage.kernels._votes import assign_to_groups

    groups = np.empty(1, dtype=np.int64)
    group_of = np.array([0, -1, 1, -1, 1, -1])
    for capacity, winner in (([1.0, 5.0], 0), ([4.0, 5.0], 1)):
        assign_to_groups(
            np.zeros((1, 3), np.uint8),
            np.array([0, 2, 4, 6]),
            group_of,
            np.ones(6),
            np.array(capacity),
            np.zeros(1),
            groups,
        )
        assert groups[0] == winner


# ---- HBGF ----


def test_many_clusters_are_never_a_square_matrix(monkeypatch):
    labels, _ = planted_labels(n=200, p=10, k=4, noise=0.3, missing=0.1, seed=2)
    small = HBGF(4, random_state=0).fit(labels)
    limit(monkeypatch, "clusters whose products are a matrix", 10)
    limit(monkeypatch, "rows of which all eigenvectors are found", 5)
    large = HBGF(4, random_state=0).fit(labels)
    assert adjusted_rand_score(small.labels_, large.labels_) > 0.97


def test_hgpa_with_equal_hyperedges_is_hbgf():
    labels, _ = planted_labels(n=200, p=8, k=4, noise=0.5, seed=5)
    spectral = HGPA(4, partitioner="spectral", random_state=0).fit(labels)
    assert_array_equal(spectral.labels_, HBGF(4, random_state=0).fit(labels).labels_)


# ---- CSPA ----


def share_joined(labels, weights=None):
    """H H' / p without diagonal: a missing label joins with nobody."""
    joined = naive.joined_and_labelled(labels, weights)[0]
    np.fill_diagonal(joined, 0)
    return joined / (labels.shape[1] if weights is None else np.sum(weights))


@given(label_matrices(min_objects=3), st.sampled_from([0.0, 0.25, 0.5]), st.booleans())
def test_association_graph(labels, threshold, weighted):
    weights = np.arange(1, labels.shape[1] + 1.0) if weighted else None
    rows = rows_of(labels, weights)
    codes = np.where(rows.codes[:] == rows.n_clusters, -1, rows.codes[:].astype(int))
    graph = association_graph(rows.codes[:], rows.n_clusters, rows.weights, threshold).toarray()
    joined, labelled = naive.joined_and_labelled(codes, weights)
    strong = joined > (threshold + 1e-12) * labelled
    assert_allclose(graph, np.where(strong, share_joined(codes, weights), 0))


@pytest.mark.parametrize("weighted", [False, True])
def test_neighbours_are_the_most_similar(missing, weighted):
    labels = random_labels(n=60, p=9, k=3, missing=missing, seed=1)
    weights = np.random.default_rng(0).random(9) if weighted else None
    rows = rows_of(labels, weights)
    codes = np.where(rows.codes[:] == rows.n_clusters, -1, rows.codes[:].astype(int))
    whole = share_joined(codes, weights)
    graph = association_graph(rows.codes[:], rows.n_clusters, rows.weights, 0.0, 7).toarray()
    assert_array_equal(graph, graph.T)
    assert_allclose(graph[graph > 0], whole[graph > 0])
    for i, row in enumerate(whole):
        kth = np.sort(row)[::-1][6]
        assert (graph[i, row > kth + 1e-12] > 0).all()
        assert (graph[i] > 0).sum() >= min(7, (row > 0).sum())
    assert (graph > 0).sum() <= 2 * 7 * len(rows)


def test_few_neighbours_are_about_as_good():
    labels, truth = planted_labels(n=1500, p=15, k=4, noise=0.4, seed=0)
    scores = [
        adjusted_rand_score(truth, CSPA(4, n_neighbors=n, random_state=0).fit(labels).labels_) for n in (30, None)
    ]
    assert min(scores) > 0.9


def test_the_number_of_edges_is_told():
    model = CSPA(2, n_neighbors=None, random_state=0).fit(STREHL)
    rows = rows_of(STREHL)
    assert model.n_edges_ == np.count_nonzero(np.triu(share_joined(np.unique(STREHL, axis=0)))) <= len(rows) ** 2


def test_the_threshold_is_a_co_association_whatever_is_missing():
    """With half the labels missing a pair that all join that label it has n_ij / p = 1/4, and stays."""
    labels, _ = planted_labels(n=300, p=20, k=3, noise=0.2, missing=0.5, seed=0)
    rows = rows_of(labels)
    tau = weak_association_threshold(labels)
    association = naive.coassociation(np.where(rows.codes[:] == rows.n_clusters, -1, rows.codes[:].astype(int)))
    np.fill_diagonal(association, 0)
    for weights in (None, np.full(20, 0.7)):
        model = CSPA(3, association_threshold="kmeans", n_neighbors=None, weights=weights, random_state=0).fit(labels)
        assert model.association_threshold_ == tau
        assert model.n_edges_ == np.count_nonzero(np.triu(association) > tau + 1e-12) > 10_000
    graph = association_graph(rows.codes[:], rows.n_clusters, rows.weights, tau, 5).toarray()
    assert (association[graph > 0] > tau).all()
    weak = CSPA(3, association_threshold=0.05, random_state=0).fit(labels)
    assert weak.association_threshold_ == 0.05
    assert weak.n_edges_ > model.n_edges_
    assert not hasattr(weak.set_params(association_threshold=None).fit(labels), "association_threshold_")


@pytest.mark.parametrize("word", ["kmeans", "gmm"])
def test_words_with_unequal_weights_find_the_same_threshold_everywhere(word):
    labels, _ = planted_labels(n=60, p=5, k=3, noise=0.3, missing=0.2, seed=0)
    weights = np.array([1, 2, 0, 1, 0.3])
    tau = weak_association_threshold(labels, word, weights=weights)
    association = naive.coassociation(labels, weights)[np.triu_indices(60, 1)]
    for method in (CSPA, EvidenceAccumulation, NegMM):
        model = method(3, association_threshold=word, weights=weights).fit(labels)
        assert model.association_threshold_ == pytest.approx(tau, abs=1e-12)
        equal = method(3, association_threshold=word, weights=[2] * 5).fit(labels)
        assert equal.association_threshold_ == weak_association_threshold(labels, word)
    graph = CSPA(3, association_threshold=word, weights=weights, distinct=False).fit(labels)
    assert graph.n_edges_ == np.count_nonzero(association > tau + 1e-12)


def cut_of(labels, parts):
    """Share of the co-association, over objects, that a labeling cuts."""
    joined = naive.joined_and_labelled(labels)[0].astype(float)
    return joined[parts[:, None] != parts].sum() / joined.sum()


def test_more_runs_of_metis_cut_less_and_keep_the_balance():
    labels, _ = planted_labels(n=150, p=8, k=5, noise=0.7, seed=1)
    runs = [CSPA(5, n_init=n, random_state=3).fit(labels).labels_ for n in (1, 2, 4, 8, 16, 32)]
    cuts = [cut_of(labels, parts) for parts in runs]
    assert cuts == sorted(cuts, reverse=True)
    assert cuts[-1] < cuts[0]
    first = np.bincount(runs[0]).max()
    assert all(np.bincount(parts).max() <= max(first, 1.03 * 150 / 5) for parts in runs)
    assert_array_equal(CSPA(5, n_init=32, random_state=3).fit(labels).labels_, runs[-1])
    assert_array_equal(CSPA(5, random_state=3).fit(labels).labels_, runs[2])


def test_of_several_runs_the_least_cut_counts(monkeypatch):
    """A run that gives up the balance cuts nothing, and does not count."""
    answers = iter([(9, [0, 0, 1, 1]), (0, [0, 0, 0, 0]), (5, [0, 1, 1, 0]), (5, [0, 1, 0, 1]), (7, [1, 1, 0, 0])])
    monkeypatch.setattr(pymetis, "part_graph", lambda *args, **options: next(answers))
    model = CSPA(2, n_init=5, random_state=0).fit_similarity(np.ones((4, 4)))
    assert adjusted_rand_score(model.labels_, [0, 1, 1, 0]) == 1


# ---- HGPA ----


@pytest.mark.parametrize("parameters", [{}, {"cut_cost": "km1"}, {"edge_weights": "size"}, {"distinct": False}])
def test_mtkahypar(parameters):
    pytest.importorskip("mtkahypar")
    labels, truth = planted_labels(n=200, p=8, k=4, noise=0.02, seed=5)
    runs = [HGPA(4, random_state=1, **parameters).fit(labels) for _ in range(2)]
    assert_array_equal(runs[0].labels_, runs[1].labels_)
    assert adjusted_rand_score(truth, runs[0].labels_) > 0.5
    assert np.bincount(runs[0].labels_).max() <= 1.06 * 50


def test_cspa_checks_the_size_of_the_whole_graph():
    """Rows that one end counts among its neighbours are edges: more entries than were found."""
    labels = np.random.default_rng(0).integers(0, 4, size=(60, 6))
    model = CSPA(2, n_neighbors=5, random_state=0, n_jobs=1).fit(labels)
    assert model.n_edges_ > 60 * 5 / 2  # more than what the rows count among their neighbours
    bound, told = 1, ""
    while True:
        try:
            model.set_params(max_bytes=bound).fit(labels)
        except ValueError as error:
            told = str(error)
            bound = int(re.search(r"Got ([\d,]+) bytes", told)[1].replace(",", ""))
        else:
            break
    assert f"for at least {model.n_edges_} edges of 60 label rows" in told


def test_cspa_ends_when_its_edges_are_too_many():
    """The edges that were found when it ended are named, not all of them."""
    labels = planted_labels(n=1_500, p=8, k=2, noise=0.1, seed=0)[0]
    labels = np.column_stack([labels, np.arange(1_500)])
    n_edges = CSPA(2, n_neighbors=None, n_init=1, n_jobs=1, random_state=0).fit(labels).n_edges_
    with pytest.raises(ValueError, match="at least") as refused:
        CSPA(2, n_neighbors=None, association_threshold=0, n_jobs=1, max_bytes="20 MB").fit(labels)
    named = int(re.search(r"at least ([\d,]+) edges", str(refused.value))[1].replace(",", ""))
    assert 0 < named < n_edges / 2
