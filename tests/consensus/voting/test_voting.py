"""Voting: relabelling, aggregation, JS-ALink, the number of clusters."""

import math
import tracemalloc
from itertools import combinations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from representatives import first_of
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, random_labels, with_equal_rows

from ensemblage import Ensemble
from ensemblage.consensus import BipartiteVoting, CumulativeVoting, MajorityVoting
from ensemblage.datasets import make_2d2k, make_8d5k
from ensemblage.generation import RandomKPartitions
from ensemblage.kernels._votes import log_of, whole
from ensemblage.labels.disk import BlockRows

# Ayad & Kamel, Sec. 2.4: the reference and the partition to relabel.
EXAMPLE = np.array([[0, 0, 1, 1, 2, 3, 4, 2, 3, 4], [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]]).T
METHODS = {
    "entropy": lambda k, **p: CumulativeVoting(k, **p),
    "divergence": lambda k, **p: CumulativeVoting(k, order="divergence", **p),
    "fixed": lambda k, **p: CumulativeVoting(k, voting="fixed", **p),
    "bipartite": lambda k, **p: BipartiteVoting(k, n_init=3, random_state=0, **p),
}


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


def sorted_columns(U):
    """The columns in an order that does not depend on what they are called."""
    return U[:, np.lexsort(np.round(U, 9))]


def largest(labels):
    """Clusters of the largest partition."""
    return max(len(np.unique(z[z >= 0])) for z in labels.T)


def dense(labels):
    """The labels of every partition numbered from 0 without gaps."""
    columns = [np.where(z < 0, -1, np.searchsorted(np.unique(z[z >= 0]), z)) for z in labels.T]
    return np.column_stack(columns)


several = label_matrices(max_objects=16, max_partitions=5).filter(lambda labels: labels.shape[1] > 1).map(dense)
complete = label_matrices(max_partitions=5, missing=False).filter(lambda labels: labels.shape[1] > 1).map(dense)


# ---- Relabelling ----


def test_worked_example_cumulative():
    model = CumulativeVoting(order="given").fit(EXAMPLE)
    W = np.array([[0.5, 0.5, 0, 0, 0], [0, 0, 1 / 3, 1 / 3, 1 / 3]])
    assert_array_equal(model.order_, [0, 1])
    columns = [model.aggregate_[EXAMPLE[:, 0] == c].mean(axis=0).argmax() for c in range(5)]
    second = 2 * model.aggregate_[:, columns] - np.eye(5)[EXAMPLE[:, 0]]
    assert_allclose(second, W[EXAMPLE[:, 1]], atol=1e-15)


def test_worked_example_losses():
    hardly = [1, 1e-15]  # the first partition alone is the aggregate
    cumulative = CumulativeVoting(order="given", weights=hardly).fit(EXAMPLE).losses_
    bipartite = BipartiteVoting(weights=hardly, random_state=0).fit(EXAMPLE).losses_
    assert_allclose(cumulative.mse, [0, 0.6], atol=1e-12)
    assert_allclose(bipartite.mse, [0, 1.2], atol=1e-12)
    assert_allclose(cumulative.error_rate, [0, 0.6], atol=1e-12)
    assert_allclose(bipartite.error_rate, [0, 0.6], atol=1e-12)


@given(several, st.sampled_from(["adaptive", "fixed"]))
def test_cumulative_losses_never_exceed_bipartite_ones(labels, voting):
    model = CumulativeVoting(1, voting=voting).fit(labels)
    for j, z in enumerate(labels.T):
        if (z >= 0).any():
            mse, error_rate = naive.voting_losses(model.aggregate_, z)[True]
            assert model.losses_.mse[j] <= mse + 1e-12
            assert model.losses_.error_rate[j] <= error_rate + 1e-12


@pytest.mark.parametrize("method", ["entropy", "bipartite"])
def test_losses_against_their_definition(method, missing):
    labels = random_labels(n=30, p=4, k=3, missing=missing, seed=2)
    model = METHODS[method](3).fit(labels)
    aggregate = model.aggregate_
    for j, z in enumerate(labels.T):
        mse, error_rate = naive.voting_losses(aggregate, z)[method == "bipartite"]
        assert model.losses_.mse[j] == pytest.approx(mse, abs=1e-9)
        assert model.losses_.error_rate[j] == pytest.approx(error_rate, abs=1e-9)


# ---- Aggregation ----


@pytest.mark.parametrize("adaptive", [True, False], ids=["adaptive", "fixed"])
@pytest.mark.parametrize("weights", [None, [1.0, 0.5, 3.0, 2.0, 1.0]], ids=["equal", "weighted"])
def test_aggregate_against_its_definition(missing, adaptive, weights):
    labels = with_equal_rows(random_labels(n=40, p=5, k=6, missing=missing, seed=5), 80)
    model = CumulativeVoting(2, weights=weights, voting="adaptive" if adaptive else "fixed").fit(labels)
    expected = naive.cumulative_aggregate(
        labels, model.order_, None if weights is None else np.array(weights), adaptive
    )
    known = (labels >= 0).any(axis=1)
    assert_allclose(sorted_columns(model.aggregate_[known]), sorted_columns(expected[known]), atol=1e-12)


def test_aggregate_is_the_least_squares_solution():
    labels = random_labels(n=50, p=4, k=5, seed=1)
    model = CumulativeVoting(2).fit(labels)
    U0 = naive.indicator(labels[:, model.order_[0]])
    for i, j in enumerate(model.order_[1:], start=2):
        U = naive.indicator(labels[:, j])
        V = U @ np.linalg.lstsq(U, U0, rcond=None)[0]
        U0 = (i - 1) / i * U0 + V / i
    columns = np.lexsort(np.round(U0, 9))
    assert_allclose(model.aggregate_[:, np.lexsort(np.round(model.aggregate_, 9))], U0[:, columns], atol=1e-12)


@given(complete)
def test_column_means_are_those_of_the_reference(labels):
    model = CumulativeVoting(1).fit(labels)
    sizes = np.bincount(labels[:, model.order_[0]])
    assert_allclose(model.aggregate_.mean(axis=0), np.sort(sizes)[::-1] / len(labels), atol=1e-12)
    assert model.entropy_ == pytest.approx(naive.shannon(sizes / len(labels)), abs=1e-12)
    assert -1e-9 <= model.mutual_information_ <= model.entropy_ + 1e-9


def test_the_information_of_equal_partitions_is_their_entropy():
    z = np.repeat([0, 1, 2], [10, 20, 30])
    model = CumulativeVoting(3).fit(np.column_stack([z, (z + 1) % 3, 2 - z]))
    assert model.mutual_information_ == pytest.approx(naive.shannon(np.array([1, 2, 3]) / 6), abs=1e-12)
    assert model.entropy_ == pytest.approx(model.mutual_information_, abs=1e-12)


def test_reference_and_order():
    labels = planted_labels(n=200, p=6, k=5, noise=0.3, seed=4)[0]
    model = CumulativeVoting(2).fit(labels)
    entropies = [naive.shannon(np.bincount(z) / len(z)) for z in labels.T]
    assert_array_equal(model.order_, np.argsort(entropies)[::-1])
    assert_array_equal(CumulativeVoting(2, order="given").fit(labels).order_, np.arange(6))


def median_splits(seed, n=200, p=12):
    """Two groups, and a split of the objects at the median of each of some features that tell them apart poorly."""
    truth = np.repeat([0, 1], n // 2)
    X = 3.0 * truth[:, None] + 2 * np.random.default_rng(seed).normal(size=(n, p))
    return (np.median(X, axis=0) < X).astype(int), truth


def equal_sizes(seed, n=200, p=12, k=4):
    """Planted groups of equal size, and partitions of that sort: more and more objects of each change places."""
    rng, truth = np.random.default_rng(seed), np.arange(n) % k
    columns = []
    for noise in rng.permutation(np.linspace(0.2, 0.8, p)):
        moved, z = np.flatnonzero(rng.random(n) < noise), truth.copy()
        z[moved] = truth[rng.permutation(moved)]
        columns.append(rng.permutation(k)[z])
    return np.column_stack(columns), truth


@pytest.mark.core(1)
@pytest.mark.parametrize(("planted", "k", "least"), [(median_splits, 2, 0.6), (equal_sizes, 4, 0.8)])
def test_partitions_of_equal_entropy_are_led_by_the_most_agreeing(planted, k, least):
    for seed in range(5):
        labels, truth = planted(seed)
        model = CumulativeVoting(k).fit(labels)
        agreement = [np.mean([adjusted_rand_score(a, b) for b in labels.T]) for a in labels.T]
        assert_array_equal(model.order_, np.argsort(agreement)[::-1])
        assert_array_equal(CumulativeVoting(k, order="divergence").fit(labels).order_[0], np.argmax(agreement))
        score = adjusted_rand_score(truth, model.labels_)
        assert score > least
        assert score > 1.5 * np.mean([adjusted_rand_score(truth, z) for z in labels.T])


def test_weights_count_in_the_agreement():
    labels = equal_sizes(0, p=5)[0]
    weights = np.array([1, 6, 1, 1, 4.0])
    agreement = [np.average([adjusted_rand_score(a, b) for b in labels.T], weights=weights) for a in labels.T]
    order = np.argsort(agreement)[::-1]
    assert_array_equal(CumulativeVoting(4, weights=weights).fit(labels).order_, order)
    assert (CumulativeVoting(4).fit(labels).order_ != order).any()
    twice = CumulativeVoting(4).fit(np.repeat(labels, weights.astype(int), axis=1))
    assert twice.order_[0] in (1 + np.arange(6))
    assert order[0] == 1


def test_reference_has_enough_clusters():
    balanced, lopsided = np.arange(100) % 3, np.array([3] + [2] + [1] * 9 + [0] * 89)
    labels = np.column_stack([balanced, lopsided])
    assert_array_equal(CumulativeVoting(2).fit(labels).order_, [0, 1])
    assert_array_equal(CumulativeVoting(4).fit(labels).order_, [1, 0])
    assert_array_equal(CumulativeVoting(4, order="given").fit(labels).order_, [1, 0])


def test_divergence_picks_the_least_divergent_partition():
    labels = random_labels(n=60, p=6, k=4, seed=3)
    order = CumulativeVoting(2, order="divergence").fit(labels).order_

    def divergence(done, j):
        U0, U = naive.cumulative_aggregate(labels, done), naive.indicator(labels[:, j])
        V = U @ np.linalg.lstsq(U, U0, rcond=None)[0]
        return np.where(U0 > 0, U0 * np.log(np.where(U0 > 0, U0, 1) / np.where(U0 > 0, V, 1)), 0).sum()

    for i in range(1, 6):
        candidates = {j: divergence(order[:i], j) for j in order[i:]}
        assert min(candidates, key=candidates.get) == order[i]


def test_bipartite_against_its_definition():
    labels = planted_labels(n=40, p=4, k=3, noise=0.3, seed=1)[0]
    labels[:4, 0] = 3
    for seed in range(4):
        model = BipartiteVoting(n_init=1, random_state=seed).fit(labels)
        expected = naive.bipartite_aggregate(labels, model.order_, 4)
        assert_allclose(sorted_columns(model.aggregate_), sorted_columns(expected), atol=1e-12)


def test_more_passes_are_never_worse():
    labels = random_labels(n=80, p=7, k=5, seed=8)
    objectives = [BipartiteVoting(2, n_init=s, random_state=3).fit(labels).objective_ for s in (1, 2, 5, 20)]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] < objectives[0]
    model = BipartiteVoting(2, random_state=3).fit(labels)
    assert model.objective_ == pytest.approx(model.losses_.mse.mean())


# ---- Extraction ----


def test_worked_example_hierarchy():
    model = CumulativeVoting().fit(EXAMPLE)
    assert_allclose(model.linkage_matrix_[:, 2], [0.130812, 0.160621, 0.160621, 0.693147], atol=5e-7)
    assert model.n_clusters_ == 2
    assert model.lifetimes_ == pytest.approx({4: 0.029809, 3: 0, 2: 0.532527}, abs=2e-6)
    assert_array_equal(np.bincount(model.labels_), [6, 4])
    assert model.entropy_ == pytest.approx(1.609438, abs=5e-7)
    assert model.mutual_information_ == pytest.approx(0.863966, abs=5e-7)
    assert CumulativeVoting(include_singletons=True).fit(EXAMPLE).lifetimes_[5] == pytest.approx(0.130812, abs=5e-7)


@pytest.mark.parametrize("include_singletons", [False, True])
@pytest.mark.parametrize("k", [1, 2])
def test_one_or_two_clusters_leave_nothing_to_choose(method, k, include_singletons):
    labels = np.where(planted_labels(n=60, p=5, k=2, noise=0.1, seed=2)[0] < k, 1, 0) * np.arange(60)[:, None] % 2
    labels = labels if k == 2 else np.ones_like(labels)
    model = method(None, include_singletons=include_singletons).fit(labels)
    assert model.n_clusters_ == k
    assert list(model.lifetimes_) == ([2] if k == 2 and include_singletons else [])
    assert_array_equal(model.labels_, method(k).fit(labels).labels_)


def test_a_reference_of_two_clusters_leaves_nothing_to_choose():
    balanced, lopsided = np.arange(100) % 2, np.array([2, 1] + [0] * 98)
    assert CumulativeVoting().fit(np.column_stack([balanced, lopsided])).n_clusters_ == 2


def test_divergences_against_their_definition(missing):
    labels = with_equal_rows(random_labels(n=50, p=5, k=7, missing=missing, seed=6), 90)
    labels = labels[(labels >= 0).any(axis=1)]
    model = CumulativeVoting(2).fit(labels)
    aggregate = model.aggregate_
    divergences = squareform(naive.js_divergences(aggregate), checks=False)
    assert_allclose(model.linkage_matrix_, linkage(divergences, "average"), atol=1e-9)
    conditional = np.mean([naive.shannon(u) for u in aggregate])
    assert model.mutual_information_ == pytest.approx(naive.shannon(aggregate.mean(axis=0)) - conditional, abs=1e-9)


# In the second the last merge loses less than the one before.
@pytest.mark.parametrize("ensemble", [{"n": 40, "p": 5, "k": 6, "seed": 11}, {"n": 6, "p": 2, "k": 3, "seed": 5}])
def test_bottleneck_loses_the_least_information(ensemble):
    labels = random_labels(**ensemble)
    model = CumulativeVoting(2, linkage="aib").fit(labels)
    U, lost = model.aggregate_, []
    columns = {c: U[:, c] for c in range(U.shape[1])}

    def information(columns):
        joint = np.column_stack(list(columns)) / len(U)
        return naive.shannon(joint.sum(axis=0)) + naive.shannon(joint.sum(axis=1)) - naive.shannon(joint.ravel())

    for step, (a, b, height, _) in enumerate(model.linkage_matrix_):
        losses = {}
        for pair in combinations(columns, 2):
            rest = [u for c, u in columns.items() if c not in pair]
            losses[pair] = information(columns.values()) - information([*rest, columns[pair[0]] + columns[pair[1]]])
        assert losses[tuple(sorted((int(a), int(b))))] == pytest.approx(min(losses.values()), abs=1e-9)
        lost.append(min(losses.values()))
        assert height == pytest.approx(max(lost), abs=1e-9)
        columns[U.shape[1] + step] = columns.pop(int(a)) + columns.pop(int(b))
    assert_array_equal(model.linkage_matrix_[-1, 3], U.shape[1])


def test_memberships_of_merged_clusters_add_up(method):
    labels = planted_labels(n=150, p=8, k=6, noise=0.3, seed=2)[0]
    fine, coarse = method(6).fit(labels), method(3).fit(labels)
    groups = cut_tree(fine.linkage_matrix_, 3)[:, 0]
    sums = np.column_stack([fine.aggregate_[:, groups == g].sum(axis=1) for g in range(3)])
    if method is not METHODS["bipartite"]:  # its best pass does not depend on k either
        assert_array_equal(fine.linkage_matrix_, coarse.linkage_matrix_)
    order = [np.argmin(np.abs(sums - m[:, None]).sum(axis=0)) for m in coarse.membership_.T]
    assert_allclose(coarse.membership_, sums[:, order], atol=1e-12)


# ---- The estimators ----


def test_memberships(method, missing):
    labels = planted_labels(n=120, p=6, k=4, noise=0.25, missing=missing, seed=7)[0]
    labels[5] = -1
    model = method(4).fit(labels)
    known = np.arange(120) != 5
    for soft in (model.membership_, model.aggregate_):
        assert_allclose(soft[known].sum(axis=1), 1, atol=1e-12)
        assert (soft[known] >= 0).all()
        assert np.isnan(soft[5]).all()
    soft = model.membership_[known]
    assert_allclose(soft[np.arange(119), model.labels_[known]], soft.max(axis=1), atol=1e-12)
    assert_array_equal(model.predict_proba(labels), model.membership_)
    assert_array_equal(model.predict(labels), model.labels_)


def test_a_new_row_is_voted_on_by_the_labels_it_has():
    model = CumulativeVoting(2).fit(EXAMPLE)
    with pytest.warns(UserWarning, match="not"):
        soft = model.predict_proba([[0, 7], [9, 1], [9, 7]])
    assert_allclose(soft, [[0, 1], [1, 0], [np.nan, np.nan]], atol=1e-12)


@given(several, st.randoms(use_true_random=False))
def test_the_order_of_the_partitions_never_matters(labels, random):
    order = random.sample(range(labels.shape[1]), labels.shape[1])
    k = random.randint(1, largest(labels))
    for make in METHODS.values():
        whole, permuted = make(k).fit(labels), make(k).fit(labels[:, order])
        assert_array_equal(permuted.labels_, whole.labels_)
        assert_array_equal(permuted.aggregate_, whole.aggregate_)
        assert_array_equal(permuted.membership_, whole.membership_)
        assert_array_equal(permuted.linkage_matrix_, whole.linkage_matrix_)
        assert permuted.mutual_information_ == whole.mutual_information_
        assert_array_equal(permuted.losses_.mse, whole.losses_.mse[order])


def test_the_names_of_the_labels_never_matter(method, missing):
    labels = with_equal_rows(planted_labels(n=90, p=7, k=5, noise=0.3, missing=missing, seed=3)[0], 200)
    whole, other = method(3).fit(labels), method(3).fit(renamed(labels, np.random.default_rng(0)))
    assert_array_equal(other.labels_, whole.labels_)
    assert_array_equal(other.aggregate_, whole.aggregate_)
    assert_array_equal(other.linkage_matrix_, whole.linkage_matrix_)
    assert_array_equal(other.losses_, whole.losses_)


def renamed(labels, rng):
    return np.column_stack([np.where(z < 0, -1, rng.permutation(6)[z]) for z in labels.T])


def small_ensemble(rng):
    """A few objects with many ties and, mostly, gaps."""
    n, p, k = rng.integers(4, 13), rng.integers(2, 7), rng.integers(2, 5)
    labels = rng.integers(k, size=(n, p))
    labels[rng.random((n, p)) < rng.choice([0, 0.1, 0.3, 0.5])] = -1
    labels = labels[rng.integers(n, size=n)] if rng.random() < 0.3 else labels
    labels[rng.integers(n), (labels < 0).all(axis=0)] = 0
    return labels, rng.choice([0.3, 1, 2], size=p) if rng.random() < 0.3 else np.ones(p)


INVARIANT = {
    **METHODS,
    "lifetime": lambda k, **p: CumulativeVoting(**p),
    "aib": lambda k, **p: CumulativeVoting(k, linkage="aib", **p),
    "majority": lambda k, **p: MajorityVoting(**p),
    "majority of two": lambda k, **p: MajorityVoting(k, **p),
}


@pytest.mark.parametrize("seed", first_of(range(8)))
def test_neither_names_nor_places_matter(seed):
    """The order of the objects does where colour refinement leaves labels or partitions that it cannot tell apart."""
    rng, n_told_apart = np.random.default_rng(seed), 0
    for _ in range(20):
        labels, weights = small_ensemble(rng)
        if max(len(np.unique(z[z >= 0])) for z in labels.T) < 2 or len(np.unique(labels, axis=0)) < 3:
            continue
        objects, partitions = rng.permutation(len(labels)), rng.permutation(labels.shape[1])
        other_names, apart = renamed(labels, rng), naive.told_apart(labels, weights)
        n_told_apart += apart
        for make in INVARIANT.values():
            found = make(2, weights=weights, n_jobs=1).fit(labels).labels_
            assert_array_equal(make(2, weights=weights, n_jobs=1).fit(other_names).labels_, found)
            permuted = make(2, weights=weights[partitions], n_jobs=1).fit(other_names[:, partitions])
            assert_array_equal(permuted.labels_, found)
            if apart:
                assert_array_equal(make(2, weights=weights, n_jobs=1).fit(labels[objects]).labels_, found[objects])
    assert n_told_apart > 5


def test_equal_clusters_are_numbered_by_their_first_objects(method):
    truth = np.array([2, 2, 0, 0, 1, 1])
    labels = np.column_stack([truth, truth, (truth + 1) % 3])
    assert_array_equal(method(3).fit(labels).labels_, [0, 0, 1, 1, 2, 2])
    assert_array_equal(MajorityVoting(3).fit(labels).labels_, [0, 0, 1, 1, 2, 2])


def test_threads_and_blocks_do_not_matter(method, monkeypatch):
    labels = planted_labels(n=400, p=6, k=5, noise=0.4, missing=0.1, seed=3)[0]
    one = method(3, n_jobs=1).fit(labels)
    limit(monkeypatch, "rows of a block", 7)
    limit(monkeypatch, "rows of an aggregated partition", 40)
    limit(monkeypatch, "rows of an aggregated partition whose logarithms are taken", 40)
    limit(monkeypatch, "rows of a thread", 11)
    other = method(3, n_jobs=2).fit(labels)
    for name in ("labels_", "aggregate_", "membership_", "linkage_matrix_"):
        assert_array_equal(getattr(other, name), getattr(one, name))
    assert_array_equal(other.losses_, one.losses_)
    assert other.mutual_information_ == one.mutual_information_


@pytest.mark.parametrize("order", ["entropy", "divergence"])
def test_weights(order):
    labels = planted_labels(n=100, p=5, k=4, noise=0.3, seed=9)[0]
    twice = CumulativeVoting(3, order=order).fit(np.column_stack([labels, labels[:, 2]]))
    weighted = CumulativeVoting(3, order=order, weights=[1, 1, 2, 1, 1]).fit(labels)
    assert_allclose(weighted.aggregate_, twice.aggregate_, atol=1e-12)
    without = CumulativeVoting(3, order=order).fit(labels[:, [0, 1, 3, 4]])
    left_out = CumulativeVoting(3, order=order, weights=[1, 1, 0, 1, 1]).fit(labels)
    assert_array_equal(left_out.aggregate_, without.aggregate_)
    assert_array_equal(left_out.labels_, without.labels_)


def test_an_object_that_only_a_weightless_partition_labels():
    labels = planted_labels(n=60, p=4, k=3, noise=0.1, seed=1)[0]
    labels[3, :3] = -1
    model = CumulativeVoting(3, weights=[1, 1, 1, 0]).fit(labels)
    assert model.labels_[3] == -1
    assert np.isnan(model.membership_[3]).all()
    assert np.isnan(model.confidence_[3])
    assert (np.delete(model.labels_, 3) >= 0).all()


def test_missing_labels_hardly_change_the_consensus():
    for seed in range(3):
        labels, _ = planted_labels(n=600, p=25, k=5, noise=0.2, seed=seed)
        holes = labels.copy()
        holes[np.random.default_rng(seed).random(labels.shape) < 0.2] = -1
        for make in METHODS.values():
            complete, with_holes = make(5).fit(labels), make(5).fit(holes)
            assert adjusted_rand_score(complete.labels_, with_holes.labels_) >= 0.95


def test_bipartite_recovers_noisy_permutations():
    labels, truth = planted_labels(n=500, p=15, k=6, noise=0.35, seed=1)
    assert adjusted_rand_score(truth, BipartiteVoting(6, random_state=0).fit(labels).labels_) > 0.97


@pytest.mark.core(1)
@pytest.mark.parametrize(
    ("make", "k_min", "k_max", "k", "least"), [(make_2d2k, 6, 20, 2, 0.85), (make_8d5k, 10, 30, 5, 0.97)]
)
def test_finds_the_number_of_clusters(make, k_min, k_max, k, least):
    """Figs. 1 and 2: 100 % of the runs."""
    scores = []
    for seed in range(4):
        X, y = make(seed)
        labels = RandomKPartitions(25, k_min=k_min, k_max=k_max, random_state=seed).fit_transform(X)
        model = CumulativeVoting().fit(labels)
        assert model.n_clusters_ == k
        assert max(model.lifetimes_, key=model.lifetimes_.get) == k
        scores.append(adjusted_rand_score(y, model.labels_))
    assert np.mean(scores) >= least


def test_no_floats_per_object_and_reference_cluster():
    labels = planted_labels(n=100_000, p=8, k=5, noise=0.3, seed=0)[0] * 5 + np.arange(100_000)[:, None] % 5
    ensemble = Ensemble(labels)
    assert len(ensemble.distinct) > 0
    CumulativeVoting(5).fit(ensemble)  # what is compiled in it would be counted
    tracemalloc.start()
    CumulativeVoting(5).fit(ensemble)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 100_000  # 25 reference clusters would take 200 bytes per object


# ---- Bad input ----


@pytest.mark.parametrize("estimator", [CumulativeVoting, BipartiteVoting])
class TestBadInput:
    def test_more_clusters_than_any_partition(self, estimator):
        with pytest.raises(ValueError, match=r"must be ≤ the 5 clusters of the largest partition.* Got 6"):
            estimator(6).fit(EXAMPLE)

    def test_one_partition(self, estimator):
        with pytest.raises(ValueError, match=r"at least 2 partitions that vote\. Got 1 \(n_features=1\)"):
            estimator(2).fit([[0], [1], [2]])
        with pytest.raises(ValueError, match="with a weight above 0"):
            estimator(2, weights=[0, 1]).fit(EXAMPLE)


@pytest.mark.parametrize("estimator", [CumulativeVoting, BipartiteVoting])
def test_a_column_of_names(estimator):
    names = np.arange(40_000)
    with pytest.raises(ValueError, match=r"Voting must keep its contingency tables .* Leave out the partitions"):
        estimator(2).fit(np.column_stack([names, names % 3]))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CumulativeVoting(2, order="random"), "order of CumulativeVoting must be one of"),
        (CumulativeVoting(2, voting="none"), "voting of CumulativeVoting must be one of"),
        (CumulativeVoting(2, linkage="single"), "linkage of CumulativeVoting must be one of"),
        (BipartiteVoting(2, n_init=0), "n_init of BipartiteVoting must be a whole number"),
    ],
)
def test_bad_parameters(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(EXAMPLE)


@given(st.floats(1e-300, 1e300))
def test_logarithm_to_a_few_units_in_the_last_place(x):
    assert abs(log_of(x) - math.log(x)) <= 4 * math.ulp(math.log(x))


@given(st.floats(-(2.0**51) + 1, 2.0**51 - 1))
def test_rounding_to_whole_numbers(x):
    assert whole(x) == round(x)


def test_votes_that_are_known_are_not_counted_again(tmp_path, monkeypatch):
    # no two clusters of a partition have the same size
    labels = planted_labels(n=3000, p=12, k=4, noise=0.3, missing=0.1, seed=0)[0]
    limit(monkeypatch, "share of the memory for distinct rows on disk", 10**9)
    np.save(tmp_path / "labels.npy", labels)
    E = Ensemble.open(tmp_path / "labels.npy")
    whole, more = (CumulativeVoting(3, order="given") for _ in range(2))
    more.add_partitions(E.select(range(10)))
    counted, add = [], BlockRows.add

    def watched(self, function, shapes, *shared, **options):
        if len(shared) == 3:  # a partition, others that it is compared with, and offsets
            counted.append(len(shared[1]))
        return add(self, function, shapes, *shared, **options)

    monkeypatch.setattr(BlockRows, "add", watched)
    more.add_partitions(E.select([10, 11]))
    known, counted[:] = sum(counted), []
    whole.fit(E)
    assert known == 2 * 10 + 1
    assert sum(counted) == 12 * 11 // 2
    for name in ("labels_", "aggregate_", "confidence_"):
        assert_array_equal(getattr(more, name), getattr(whole, name))
