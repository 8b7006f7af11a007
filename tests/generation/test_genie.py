"""Genie against a worked example, a naive twin, single linkage, and the generator of partitions from one tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import limit
from naive import genie, spanning_tree
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from ensemblage import Ensemble
from ensemblage.base import threads
from ensemblage.generation import Genie, GeniePartitions, _genie
from ensemblage.generation._genie import Tree, by_boruvka, by_prim

POINTS = np.array(
    [(0, 0), (1, 0.2), (0.3, 1.1), (1.2, 1.3), (0.6, 0.5), (6, 0.1), (7.1, 0.4), (6.4, 1.2), (7.3, 1.5), (3.2, 5.1),
     (4.1, 5.9), (9.7, 8.8)]
)  # fmt: skip
"""The example of the method's description: two groups, two points between, one far away."""
LENGTHS = [0.5, 0.670820, 0.781025, 0.921954, 0.948683, 1.063015, 1.140175, 1.204159, 4.294182, 4.947727, 6.306346]
PAIRS = [(2, 5), (3, 5), (1, 5), (3, 4), (8, 9), (7, 8), (6, 7), (10, 11), (4, 10), (4, 6), (11, 12)]
FIVE, FOUR, TWO = [0] * 5, [1] * 4, [2] * 2


@parametrize_with_checks([Genie()])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([GeniePartitions(4)])
def test_scikit_learn_of_partitions(estimator, check):
    check(estimator)


def test_spanning_tree_of_the_example():
    tree = Tree.of(POINTS)
    assert_array_equal(tree.pairs + 1, PAIRS)
    assert_allclose(tree.lengths, LENGTHS, atol=5e-7)


def test_merges_of_the_example():
    model = Genie(1, gini_threshold=0.3).fit(POINTS)
    expected = [0, 1 / 12, 1 / 6, 0.25, 1 / 3, 0.388889, 0.433333, 0.458333, 0.388889, 1 / 6, 1 / 3]
    assert_allclose(model.gini_, expected, atol=5e-7)
    assert_allclose(model.distances_, [*LENGTHS[:8], LENGTHS[10], LENGTHS[8], LENGTHS[9]], atol=5e-7)


@pytest.mark.parametrize(
    ("threshold", "k", "labels"),
    [
        (0.1, 2, [*FIVE, *FOUR, 0, 0, 0]),
        (0.3, 2, [*FIVE, *FOUR, 0, 0, 0]),
        (0.5, 2, [0] * 11 + [1]),
        (0.8, 2, [0] * 11 + [1]),
        (0.3, 3, [*FIVE, *FOUR, *TWO, 2]),
        (0.5, 3, [*FIVE, *FOUR, 0, 0, 2]),
        (0.3, 4, [*FIVE, *FOUR, *TWO, 3]),
        (0.5, 4, [*FIVE, *FOUR, *TWO, 3]),
    ],
)
def test_clusters_of_the_example(threshold, k, labels):
    assert_array_equal(Genie(k, gini_threshold=threshold).fit_predict(POINTS), labels)


@given(st.integers(0, 10**6), st.integers(2, 60), st.sampled_from([0, 0.1, 0.3, 0.5, 0.8, 1]), st.booleans(), st.data())
def test_as_the_naive_twin(seed, n, threshold, on_grid, data):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(n, 2)).astype(float) if on_grid else rng.normal(size=(n, 3))
    k = data.draw(st.integers(1, n))
    pairs, _ = spanning_tree(X)
    assert_array_equal(Tree.of(X).pairs, pairs)
    model = Genie(k, gini_threshold=threshold).fit(X)
    labels, lengths, gini = genie(X, k, threshold)
    assert_array_equal(model.labels_, labels)
    assert_allclose(model.distances_[: n - k], lengths, rtol=1e-14)
    assert_allclose(model.gini_[: n - k], gini, atol=1e-12)


def in_order(edges):
    """Pairs and squared lengths, the shortest edge first."""
    pairs, squares = edges
    order = np.lexsort((pairs[:, 1], pairs[:, 0], squares))
    return pairs[order], squares[order]


@given(st.integers(0, 10**6), st.integers(2, 80), st.integers(1, 6), st.sampled_from(["any", "grid", "few", "one"]))
def test_boruvka_gives_the_tree_of_the_naive_twin(seed, n, m, kind):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) if kind == "any" else rng.integers(0, {"grid": 5, "few": 2, "one": 1}[kind], (n, m)) / 4
    pairs, lengths = spanning_tree(X)
    found, squares = in_order(by_boruvka(X))
    assert_array_equal(found, pairs)
    assert_allclose(np.sqrt(squares), lengths, rtol=1e-14)


@pytest.mark.core(3)
@pytest.mark.parametrize("n", [2, 8, 9, 16, 17, 2500])
@pytest.mark.parametrize("m", [1, 2, 5, 12])
@pytest.mark.parametrize("digits", [0, 1, 17])
def test_boruvka_and_prim_give_the_same_bits(n, m, digits):
    X = np.random.default_rng(n + m).normal(size=(n, m)).round(digits)
    for one, other in zip(in_order(by_boruvka(X)), in_order(by_prim(X)), strict=True):
        assert_array_equal(one, other)


def test_the_faster_of_both_makes_the_tree(monkeypatch):
    def refuse(X):
        raise AssertionError("not this one")

    limit(monkeypatch, "points of a long tree", 50)
    rng = np.random.default_rng(0)
    with monkeypatch.context() as patched:
        patched.setattr(_genie, "by_prim", refuse)
        Tree.of(rng.normal(size=(50, 4)))
    monkeypatch.setattr(_genie, "by_boruvka", refuse)
    Tree.of(rng.normal(size=(49, 4)))
    Tree.of(rng.normal(size=(79, 5)))
    with pytest.raises(AssertionError, match="not this one"):
        Tree.of(rng.normal(size=(80, 5)))


def test_threshold_one_is_single_linkage():
    X = make_blobs(500, centers=6, random_state=0)[0]
    model = Genie(5, gini_threshold=1).fit(X)
    hierarchy = linkage(X, "single")
    assert_allclose(model.distances_, hierarchy[:, 2], rtol=1e-12)
    assert adjusted_rand_score(model.labels_, fcluster(hierarchy, 5, "maxclust")) == 1
    assert_array_equal(np.sort(model.children_), np.sort(hierarchy[:, :2].astype(int)))


def test_more_than_one_block_of_points():
    X = np.random.default_rng(0).normal(size=(2500, 2))
    assert_allclose(np.sort(linkage(X, "single")[:, 2]), Tree.of(X).lengths, rtol=1e-12)


def test_children_are_a_hierarchy():
    model = Genie(3).fit(load_iris().data)
    assert_array_equal(np.sort(model.children_.ravel()), np.arange(2 * 150 - 2))
    members = [{i} for i in range(150)]
    for a, b in model.children_:
        members.append(members[a] | members[b])
    left = set(range(150 + 147)) - set(model.children_[:147].ravel())
    assert {frozenset(members[i]) for i in left} == {
        frozenset(np.flatnonzero(model.labels_ == c).tolist()) for c in range(3)
    }


@pytest.mark.parametrize("exponent", [-1000, -30, 0, 30, 1000])
def test_units_do_not_matter(exponent):
    scaled = np.ldexp(POINTS, exponent)
    tree = Tree.of(scaled)
    assert_array_equal(tree.pairs + 1, PAIRS)
    assert_array_equal(tree.lengths, np.ldexp(Tree.of(POINTS).lengths, exponent))


def test_equal_points():
    model = Genie(2).fit(np.ones((6, 3)))
    assert_array_equal(model.labels_, [0, 0, 0, 0, 0, 1])
    assert_array_equal(Genie(2).fit(np.zeros((4, 2))).distances_, [0, 0, 0])


@pytest.mark.parametrize("many", [10_000, 100])
def test_kernels_in_threads_of_their_own_give_the_same(monkeypatch, many):
    X = load_iris().data
    limit(monkeypatch, "points of a long tree", many)
    here = Genie(3).fit(X)
    limit(monkeypatch, "operations that no thread of its own does", -1)
    there = Genie(3).fit(X)
    assert_array_equal(here.labels_, there.labels_)
    assert_array_equal(here.children_, there.children_)


@pytest.mark.parametrize("many", [10_000, 10])
def test_a_fit_that_nobody_waits_for_ends(monkeypatch, many):
    limit(monkeypatch, "points of a long tree", many)
    flag = threads.StopFlag()
    flag.set()
    with threads.unless(flag), pytest.raises(threads.Stopped):
        Genie(3).fit(POINTS)


def test_partitions_are_those_of_the_clusterer():
    X = load_iris().data
    generator = GeniePartitions(30, k_max=9, gini_thresholds=(0.2, 0.6))
    labels = generator.fit_transform(X)
    assert labels.shape == (150, 16)
    assert labels.dtype == np.int32
    assert_array_equal(generator.n_clusters_, [*range(2, 10)] * 2)
    assert_array_equal(generator.gini_thresholds_, [0.2] * 8 + [0.6] * 8)
    for column, k, threshold in zip(labels.T, generator.n_clusters_, generator.gini_thresholds_, strict=True):
        assert_array_equal(column, Genie(int(k), gini_threshold=threshold).fit_predict(X))
    assert Ensemble(labels, names=list(generator.get_feature_names_out())).names[-1] == "genie_k9_g0.6"


@pytest.mark.parametrize("n_partitions", range(1, 12))
def test_as_many_as_asked_for(n_partitions):
    generator = GeniePartitions(n_partitions, k_max=5, gini_thresholds=(0.3, 0.5, 1.0)).fit(POINTS)
    assert len(generator.n_clusters_) == n_partitions
    pairs = set(zip(generator.gini_thresholds_.tolist(), generator.n_clusters_.tolist(), strict=True))
    assert len(pairs) == n_partitions
    assert set(generator.n_clusters_.tolist()) <= {2, 3, 4, 5}


def test_thresholds_given_twice_count_once():
    assert GeniePartitions(9, k_min=2, k_max=2, gini_thresholds=[0.3, 0.3]).fit_transform(POINTS).shape == (12, 1)


def test_new_rows_get_the_labels_of_the_nearest():
    X = load_iris().data
    generator = GeniePartitions(6)
    labels = generator.fit_transform(X)
    assert_array_equal(generator.transform(X + 1e-9), labels)
    labels[:] = 7  # of the caller alone
    assert generator.transform(X).max() < 12


def test_progress_is_told():
    told = []
    GeniePartitions(5, k_max=3, progress=lambda *done: told.append(done)).fit(POINTS)
    assert told == [(i, 5) for i in range(1, 6)]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Genie(13), r"n_clusters of Genie must be ≤ the 12 rows of X \(n_samples=12\). Got 13"),
        (Genie(0), "n_clusters of Genie must be a whole number ≥ 1. Got 0"),
        (Genie(2, gini_threshold=1.1), "gini_threshold of Genie must be a number ≥ 0 and ≤ 1. Got 1.1"),
        (GeniePartitions(0), "n_partitions of GeniePartitions must be a whole number from 1"),
        (GeniePartitions(gini_thresholds=[]), "gini_thresholds of GeniePartitions must be a list of one or more"),
        (GeniePartitions(gini_thresholds=[2]), "gini_thresholds of GeniePartitions must be a list of one or more"),
        (GeniePartitions(k_max=13), "k_max of GeniePartitions must be ≤ the 12 rows"),
        (GeniePartitions(k_min=4, k_max=3), "k_max of GeniePartitions must be ≥ its k_min"),
        (GeniePartitions(k_max="log"), "k_max of GeniePartitions must be a whole number ≥ 1, or 'sqrt'"),
    ],
)
def test_wrong_parameters(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(POINTS)


def test_huge_whole_numbers_are_refused():
    with pytest.raises(ValueError, match="X of Genie must be numbers up to"):
        Genie(2).fit([[10**400], [1]])
