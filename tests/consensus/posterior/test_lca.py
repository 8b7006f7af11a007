"""Latent classes and k-modes against worked examples, naive twins, and what holds for any labels."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import bic, latent_classes, modes
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, random_labels

from ensemblage.consensus import KModesConsensus, LatentClassConsensus, MajorityVoting
from ensemblage.consensus.diagnostics import Candidates

E = np.array(
    [
        [1, 1, 1, 1, 2, 2, 2, 3, 3, 2],
        [1, 1, 1, 2, 2, 2, 2, 3, 3, 3],
        [1, 1, 2, 2, 2, 3, 3, 4, 4, 4],
        [1, 1, 1, 1, 1, 2, 2, 2, 2, 1],
    ]
).T
"""Four partitions of ten objects, seven distinct rows."""
MISS = E.copy()
MISS[2, 2] = MISS[9, 0] = -1
P2 = E[:, 1]


def parts(*sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def same(a, b):
    return adjusted_rand_score(a, b) == 1


# ---- Latent classes ----


def test_a_class_without_labels_in_a_partition_has_the_shares_of_all():
    """Two classes that 1,500 partitions keep apart: no object of the first belongs to the second in the least."""
    labels = np.zeros((10, 1_502), dtype=int)
    labels[6:, :1_500] = 1
    labels[:, -2] = [0, 0, 0, 1, -1, -1, 0, 1, 1, 1]
    labels[:, -1] = [0, 1, 1, 1, -1, -1, -1, -1, -1, -1]
    model = LatentClassConsensus(2, init=labels[:, 0]).fit(labels)
    classes = model._classes
    shares = np.exp(classes.table)
    assert_allclose(shares[classes.offsets[-3] :][:2], [[0.75, 0.25], [0.25, 0.75]], atol=1e-12)
    assert_allclose(shares[classes.offsets[-2] :][:2], [[0.25, 0.25], [0.75, 0.75]], atol=1e-12)


def test_lca_of_the_example():
    model = LatentClassConsensus(3, init=P2).fit(E)
    assert_allclose(model.log_likelihood_trace_[:4], [-29.817333, -24.523221, -24.103672, -23.899677], atol=5e-7)
    assert model.log_likelihood_ == pytest.approx(-23.549099, abs=5e-7)
    assert same(model.labels_, parts(4, 3, 3))
    classes = model._classes
    assert_allclose(np.exp(classes.log_prior), [0.4, 0.3, 0.3], atol=1e-6)
    last = np.exp(classes.table[:, 2])
    assert_allclose(last[classes.offsets[0] :][:3], [0, 1 / 3, 2 / 3], atol=1e-5)
    assert_allclose(last[classes.offsets[3] :][:2], [1 / 3, 2 / 3], atol=1e-5)


def test_lca_with_missing_labels():
    model = LatentClassConsensus(3, init=P2).fit(MISS)
    assert model.log_likelihood_ == pytest.approx(-20.593060, abs=5e-7)
    assert_allclose(np.exp(model._classes.log_prior), [0.3, 0.4, 0.3], atol=1e-6)
    assert same(model.labels_, parts(3, 4, 3))


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_ten_starts_find_the_best_classes(init):
    model = LatentClassConsensus(3, init=init, random_state=0).fit(E)
    assert model.log_likelihood_ == pytest.approx(-23.347744, abs=5e-7)


@pytest.mark.slow
def test_bic_finds_two_classes():
    model = LatentClassConsensus(random_state=0).fit(E)
    assert list(model.bic_) == [1, 2, 3, 4]
    assert_allclose(list(model.bic_.values()), [102.080494, 96.665522, 106.562700, 122.143499], atol=5e-6)
    assert model.n_clusters_ == 2
    (record,) = model.diagnostics(E)
    assert isinstance(record, Candidates)
    assert_array_equal(record.values, [1, 2, 3, 4])
    assert LatentClassConsensus(2, random_state=0).fit(E).diagnostics(E) == ()


@pytest.mark.slow
def test_bic_stops_where_it_only_rises():
    labels = np.column_stack([np.arange(40) % 20, np.repeat([0, 1], 20), np.repeat([0, 1], 20)])
    assert list(LatentClassConsensus(random_state=0).fit(labels).bic_) == [1, 2, 3, 4]


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.2]), st.booleans())
def test_lca_as_the_naive_twin(seed, missing, weighted):
    labels = planted_labels(n=30, p=4, k=3, noise=0.3, missing=missing, seed=seed)[0]
    labels[(labels < 0).all(axis=1)] = 0
    start = np.resize([0, 1, 2], 30)
    weights = np.array([1, 3, 2, 0.5]) if weighted else None
    model = LatentClassConsensus(3, init=start, max_iter=7, tol=0, weights=weights).fit(labels)
    trace, z, _ = latent_classes(labels, np.where(start[:, None] == np.arange(3), 0.8, 0.1), 8, weights)
    n = len(model.log_likelihood_trace_)
    assert n == 8 or trace[n] - trace[n - 1] < 1e-9
    assert_allclose(model.log_likelihood_trace_, trace[:n], rtol=1e-9)
    if n == 8:
        expected = model.predict_proba(labels)[:, model._number]
        assert_allclose(expected, z[:, np.unique(z.argmax(axis=1))] if expected.shape[1] < 3 else z, atol=1e-7)
    assert model.bic_[3] == pytest.approx(bic(labels, 3, model.log_likelihood_))


def test_the_likelihood_never_falls():
    labels = random_labels(n=200, p=8, k=4, missing=0.2, seed=3)
    assert (np.diff(LatentClassConsensus(4, random_state=0).fit(labels).log_likelihood_trace_) > 0).all()


def test_planted_classes_are_found():
    labels, truth = planted_labels(n=400, p=12, k=4, noise=0.3, missing=0.2, seed=1)
    model = LatentClassConsensus(random_state=0).fit(labels)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(truth, model.labels_) > 0.9


def test_probabilities_of_new_rows():
    model = LatentClassConsensus(3, init=P2).fit(E)
    new = np.array([[1, 1, 1, 1], [3, 3, -1, 2], [-1, -1, -1, -1], [3, 1, 4, 2]])
    membership = model.predict_proba(new)
    assert_allclose(membership.sum(axis=1), 1)
    assert_array_equal(membership.argmax(axis=1)[[0, 1, 3]], model.predict(new)[[0, 1, 3]])
    assert_allclose(membership[2], [0.4, 0.3, 0.3], atol=1e-6)
    assert_array_equal(model.predict(new)[2], -1)


def test_two_equal_partitions_weigh_as_one_of_weight_two():
    labels = random_labels(n=60, p=3, k=3, seed=5)
    start = np.arange(60) % 3
    doubled = LatentClassConsensus(3, init=start).fit(labels[:, [0, 0, 1, 2]])
    # Weights have mean 1: 4 votes on 3 partitions are 3, so it is the ratio that is the same, not the optimum.
    weighted = LatentClassConsensus(3, init=start, weights=[2, 1, 1]).fit(labels)
    again = LatentClassConsensus(3, init=start, weights=[4, 2, 2]).fit(labels)
    assert_array_equal(weighted.labels_, again.labels_)
    assert doubled.n_clusters_ == weighted.n_clusters_ == 3


def test_init_of_other_classes_is_refused():
    with pytest.raises(ValueError, match="init of LatentClassConsensus must label the 10 objects with 2 clusters"):
        LatentClassConsensus(2, init=P2).fit(E)
    assert LatentClassConsensus(init=P2).fit(E).n_clusters_ == 3


# ---- k-modes ----


def started_at(*objects):
    init = np.full(10, -1)
    init[np.array(objects) - 1] = np.arange(len(objects))
    return init


def test_k_modes_of_the_example():
    model = KModesConsensus(3, init=started_at(1, 6, 8)).fit(E)
    assert model.objective_ == 7
    assert_array_equal(model.labels_, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    offsets, found = model._utility.offsets, model._utility.centroids(profile_of(model))
    codes = [found[:, a : b - 1].argmax(axis=1) + 1 for a, b in itertools.pairwise(offsets)]
    assert_array_equal(np.transpose(codes), [[1, 1, 1, 1], [2, 2, 3, 2], [3, 3, 4, 2]])


def profile_of(model):
    """Label counts of the clusters of the example."""
    offsets = model._utility.offsets
    profile = np.zeros((3, offsets[-1]), dtype=np.int64)
    for row, cluster in zip(E - 1, model.labels_, strict=True):
        profile[cluster, offsets[:-1] + row] += 1
    return profile


def test_k_modes_from_another_start():
    model = KModesConsensus(3, init=started_at(1, 4, 8)).fit(E)
    assert model.objective_ == 8
    assert same(model.labels_, [0, 0, 0, 1, 1, 1, 1, 2, 2, 1])


@given(label_matrices(), st.integers(1, 4), st.booleans())
def test_k_modes_of_any_labels(labels, k, weighted):
    labels = labels[(labels >= 0).any(axis=1)][:, (labels >= 0).any(axis=0)]
    if labels.size == 0 or len(np.unique(labels, axis=0)) < k:
        return
    weights = np.arange(1, labels.shape[1] + 1) if weighted else None
    model = KModesConsensus(k, n_init=10, weights=weights, random_state=0).fit(labels)
    assert model.objective_ == pytest.approx(modes(labels, model.labels_, weights)[1])
    assert_array_equal(model.predict(labels), model.labels_)


def test_k_modes_is_nearest_where_it_ends():
    labels = random_labels(n=300, p=9, k=4, missing=0.1, seed=0)
    model = KModesConsensus(4, random_state=0).fit(labels)
    found, _ = modes(labels, model.labels_)
    costs = ((labels[:, None] >= 0) & (labels[:, None] != found)).sum(axis=2)
    assert_array_equal(costs[np.arange(300), model.labels_], costs.min(axis=1))


def test_modes_where_nothing_is_labelled():
    """The second partition labels none of the first cluster's: what is commonest of all stands in, here 1."""
    labels = np.array([[0, -1], [0, -1], [0, -1], [1, 1], [1, 1], [1, 0]])
    model = KModesConsensus(2, init=parts(3, 3)).fit(labels)
    assert_array_equal(model.labels_, parts(3, 3))
    assert model.objective_ == 1
    assert_array_equal(model.predict([[1, 0], [0, 0], [0, 1], [-1, 0], [-1, -1]]), [1, 0, 0, 0, -1])


def test_of_equally_common_labels_the_first_is_the_mode():
    labels = np.array([[0, 1], [0, 0], [1, 2], [1, 2], [1, 2]])
    model = KModesConsensus(2, init=parts(2, 3)).fit(labels)
    assert_array_equal(model.labels_, [1, 1, 0, 0, 0])
    assert_array_equal(model.predict([[1, 0], [1, 1]]), [1, 0])  # one of two labels is unlike each mode


# ---- Majority voting: its reference is the medoid by the adjusted Rand index ----


def test_majority_votes_with_the_medoid():
    model = MajorityVoting().fit(E)
    assert model.reference_ == 1
    # Two partitions put object 4 with 1 to 3, two with 5 to 7: it stays where the reference has it.
    assert same(model.labels_, parts(3, 4, 3))
