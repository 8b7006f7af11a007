"""How sure the place of each object is: `metrics.confidence`, and ``membership`` of every method."""

import naive
import numpy as np
import pytest
from hypothesis import example, given
from numpy.testing import assert_allclose, assert_array_equal
from representatives import of_families
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from strategies import few_starts, labels_and_clustering, planted_labels, random_labels, usual, with_equal_rows

from ensemblage import METHODS, ConsensusClustering, Ensemble, metrics
from ensemblage.consensus import CumulativeVoting, EvidenceAccumulation, KMeansConsensus
from ensemblage.metrics import verdicts
from ensemblage.metrics._confidence import Association, LinkAssociation, SoftAssociation, confidence_of_rows

WORKED = {
    "complete": (
        [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 1, 2], [1, 1, 2]],
        [0, 0, 0, 1, 1, 1],
        [0.740741, 0.740741, 0.481481, 0.259259, 0.629630, 0.629630],
        [0.074074, 0.074074, 0.246914, 0.395062, 0, 0],
        [1, 1, 0.702128, 0.396226, 1, 1],
        [0.833333, 0.833333, 0.666667, 0.333333, 0.666667, 0.666667],
    ),
    "missing": (
        [[0, 0, -1], [0, 0, 0], [0, -1, 1], [1, 0, 1], [1, 1, 2], [-1, 1, 2], [2, 2, 3]],
        [0, 0, 0, 1, 1, 1, 2],
        [1, 0.6, 0.5, 0.142857, 0.571429, 0.5, 1],
        [0.2, 0.090909, 0.25, 0.444444, 0, 0, 0],
        [1, 1, 0.666667, 0.272727, 1, 1, 1],
        None,
    ),
}


def coded(labels, partition, weights=None):
    """What confidence is counted from, with every object a row of its own."""
    ensemble, clusters = Ensemble(labels), np.asarray(partition)
    w = np.ones(ensemble.shape[1]) if weights is None else np.asarray(weights, dtype=float)
    counts, k = np.ones(len(ensemble), dtype=np.int64), int(clusters.max()) + 1
    return ensemble.rows, clusters, Association.of(ensemble.rows, counts, clusters, k, ensemble.offsets, w)


@pytest.mark.parametrize("case", WORKED)
def test_worked_example(case):
    labels, partition, own, other, confidence, cohesion = WORKED[case]
    rows, clusters, association = coded(labels, partition)
    shares = association.with_clusters(rows[:], clusters)
    placed = np.arange(len(clusters)), clusters
    assert_allclose(shares[placed], own, atol=5e-7)
    shares[placed] = 0
    assert_allclose(shares.max(axis=1), other, atol=5e-7)
    result = metrics.confidence(labels, partition)
    assert_allclose(result.confidence, confidence, atol=5e-7)
    if cohesion is not None:
        assert_allclose(result.cohesion, cohesion, atol=5e-7)


TIED = np.array([0, 0, 0, 0, 1, 1, 1, -1, -1, -1, -1, -1, 2, 2, 2, 2, 3, 3, 3])
"""Labels in which two clusters are equally sure but for rounding."""


@given(case=labels_and_clustering())
@example(
    case=(
        np.column_stack([np.zeros(19, dtype=int), TIED]),
        np.array([0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 2, 3, 0, 0, 0, 1, 3, 3]),
    )
)
def test_naive_twin(case):
    labels, partition = case
    found = metrics.confidence(labels, np.where(partition < 0, -1, partition))
    clusters = np.full(len(labels), -1)
    clusters[partition >= 0] = np.unique(partition[partition >= 0], return_inverse=True)[1]
    confidence, runner_up = naive.confidence(labels, clusters)
    assert_allclose(found.confidence, confidence, atol=1e-9)
    assert_allclose(found.cohesion, naive.cohesion(labels, partition), atol=1e-12)
    for i in np.flatnonzero(found.runner_up != runner_up):  # equal but for rounding
        keys = [naive.against_another(labels, clusters, i, a) for a in (found.runner_up[i], runner_up[i])]
        assert_allclose(*keys, atol=1e-9)


@pytest.mark.core(3)
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("k", [1, 2, 7, 8, 9, 40])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("everywhere", [True, False])
def test_kernels_and_memberships_of_zeros_and_ones_are_bitwise_identical(missing, k, counted, everywhere):
    """All add the same numbers in the same order."""
    rng = np.random.default_rng(k)
    ensemble = Ensemble(random_labels(300, 6, 5, missing))
    codes, counts, _ = ensemble.distinct
    clusters = rng.integers(-1 + everywhere, k, size=len(codes))
    clusters[: len(codes) // 2] = 0
    clusters[-1] = k - 1
    for weights in (np.ones(6), rng.random(6), np.array([1.0, 0, 2, 0, 0, 1e-9])):
        association = Association.of(codes, counts, clusters, k, ensemble.offsets, weights)
        H = np.zeros((len(codes), ensemble.offsets[-1]))
        np.put_along_axis(H, codes[:] + ensemble.offsets[:-1], 1, axis=1)
        expected = SoftAssociation(*association).assign_rows(H, clusters, counted)
        found = [association.assign_rows(codes[:], clusters, counted)]
        if (clusters >= 0).all():
            links = LinkAssociation.of(codes[:], counts, clusters, k, ensemble.offsets, weights)
            found.append(links.assign_rows(codes[:], clusters, counted))
        for of_kernel in found:
            for a, b in zip(of_kernel, expected, strict=True):
                assert_array_equal(a, b)
                assert a.dtype == b.dtype


@pytest.mark.core(1)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_weights_on_distinct_rows(missing):
    labels = with_equal_rows(random_labels(40, 5, 3, missing), 100)
    ensemble = Ensemble(labels)
    codes, counts, inverse = ensemble.distinct
    clusters = np.random.default_rng(0).integers(-1, 4, size=len(codes))
    weights = np.array([0.5, 2, 0, 1, 1.5])
    association = Association.of(codes, counts, clusters, 4, ensemble.offsets, weights)
    found = confidence_of_rows(codes, clusters, association)
    confidence, runner_up = naive.confidence(labels, clusters[inverse], weights)
    labelled = (labels[:, weights > 0] >= 0).any(axis=1)  # else nothing is known, ½
    assert_allclose(found.confidence[inverse][labelled], confidence[labelled])
    assert_array_equal(found.runner_up[inverse][labelled], runner_up[labelled])
    assert_allclose(found.cohesion[inverse], naive.cohesion(labels, clusters[inverse], weights))


def test_perfect_clusters_are_certain_however_fine_the_members():
    truth = np.repeat([0, 1, 2], [40, 30, 20])
    random = np.random.default_rng(0)
    fine = np.column_stack([10 * truth + random.integers(0, 9, 90) for _ in range(6)]).astype(str)
    found = metrics.confidence(fine, truth)
    assert_array_equal(found.confidence, 1.0)
    assert found.cohesion.max() < 0.3


@given(case=labels_and_clustering())
def test_a_partition_that_refines_or_coarsens_lowers_no_confidence(case):
    """Of objects that are not alone in their cluster: it adds nothing to what speaks against. 1 stays 1 exactly."""
    labels, partition = case
    clusters = np.unique(partition, return_inverse=True)[1] - (partition.min() < 0)
    rng = np.random.default_rng(len(labels))
    finer = np.where(clusters < 0, 99, 10 * clusters + rng.integers(3, size=len(labels)))
    coarser = np.append(rng.integers(2, size=clusters.max() + 1), 9)[clusters]
    before = metrics.confidence(labels, clusters)
    shared = before.confidence < 1
    for more in (finer, coarser):
        after = metrics.confidence(np.column_stack([labels, more]), clusters)
        several = np.append(np.bincount(clusters[clusters >= 0]), 0)[clusters] > 1
        kept = several & ~np.isnan(before.confidence)
        assert (after.confidence[kept] >= before.confidence[kept] - 1e-12).all()  # rounding
        assert_array_equal(after.confidence[kept & ~shared], 1.0)


def test_a_structure_that_all_partitions_refine_or_coarsen_is_core():
    truth = np.repeat([0, 1, 2, 3], [40, 30, 20, 10])
    finer = 10 * truth[:, None] + np.random.default_rng(0).integers(0, 3, (100, 4))
    coarser = np.column_stack([np.minimum(truth, 2), np.maximum(truth, 1), truth // 2])
    found = metrics.confidence(np.column_stack([truth, finer, coarser]), truth)
    assert_array_equal(found.confidence, 1.0)
    assert set(found.verdict) == {"core"}
    none_separates = metrics.confidence(np.minimum(truth, 2)[:, None], truth)
    assert_array_equal(none_separates.confidence[truth >= 2], 0.5)


def test_an_object_between_two_clusters_is_undecided():
    truth = np.repeat([0, 1, 2], 30)
    labels = np.column_stack([truth] * 8 + [np.minimum(truth, 1)] * 4 + [2 * truth + (np.arange(90) % 2)] * 4)
    labels[0, ::2] = labels[45, ::2]
    found = metrics.confidence(labels, truth)
    assert found.verdict[0] == "undecided"
    assert found.runner_up[0] == 1
    assert (found.verdict[1:] == "core").all()


def test_the_default_calls_what_it_finds_perfectly_core():
    X, classes = make_blobs(300, centers=[[0, 0], [10, 0], [0, 10]], random_state=0)
    model = ConsensusClustering(3, random_state=0).fit(X)
    assert adjusted_rand_score(classes, model.labels_) == 1
    assert {3, 4} <= set(model.ensemble_.n_clusters.tolist())
    assert (verdicts(model.confidence_) == "core").mean() >= 0.95


def test_splitting_labels_inside_the_clusters_changes_next_to_nothing():
    labels, truth = planted_labels(n=300, p=12, k=3, noise=0.15, seed=0)
    split = labels.copy()
    split[:, ::2] = 2 * labels[:, ::2] + np.random.default_rng(0).integers(0, 2, (300, 6))
    before, after = metrics.confidence(labels, truth), metrics.confidence(split, truth)
    assert np.abs(before.confidence - after.confidence).mean() < 0.05
    assert before.cohesion.mean() - after.cohesion.mean() > 0.15


def test_random_labels_are_a_toss_up():
    labels = random_labels(300, 50, 10)
    found = metrics.confidence(labels, random_labels(300, 1, 3, seed=1)[:, 0])
    assert 0.45 < found.confidence.mean() < 0.52


def test_singletons_one_cluster_and_nothing_known():
    alone = metrics.confidence([[0, 0], [0, 0], [1, 1]], [0, 0, 1])
    assert_array_equal(alone.confidence, 1.0)
    assert_array_equal(alone.cohesion, [1, 1, 0])
    joined_everywhere = metrics.confidence([[0, 0], [0, 0], [0, 0]], [0, 0, 1])
    assert joined_everywhere.confidence[2] == 0.0
    apart = metrics.confidence([[0, 0], [1, 1], [2, 2]], [0, 1, 2])
    assert_array_equal(apart.confidence, 1.0)
    never_joined = metrics.confidence([[0, 1], [1, 0], [2, 2], [3, 3]], [0, 0, 1, 1])
    assert_array_equal(never_joined.confidence, 0.5)
    one = metrics.confidence([[0, 0], [0, 1], [1, 1]], [0, 0, 0])
    assert_array_equal(one.confidence, 1.0)
    assert_array_equal(one.runner_up, -1)


def test_alone_in_a_cluster():
    """By the partitions that label the object, a partition weighs the more the fewer pairs it joins; none: nothing."""
    labels, partition = np.array([[0, 0, 0], [0, 0, 0], [1, -1, 0]]), np.array([0, 0, 1])
    assert_allclose(metrics.confidence(labels, partition).confidence[2], 0.75 / (0.75 + 0.25))
    labels = np.array([[0, 0, 0], [0, 1, 1], [1, 2, 1]])
    found = metrics.confidence(labels, partition).confidence
    assert_allclose(found, naive.confidence(labels, partition)[0])
    assert_allclose(found, metrics.confidence(labels[:, [0, 2]], partition).confidence)


def test_who_is_joined_with_nobody_belongs_to_all_clusters_alike():
    rows, clusters, association = coded([[0, 1], [1, 0], [2, 2], [3, 3]], [0, 0, 1, 1])
    assert_array_equal(association.memberships(rows[:], clusters), np.full((4, 2), 0.5))


def test_no_cluster_and_no_label():
    found = metrics.confidence([[0, 0], [0, 0], [1, 1], [1, 1], [-1, -1], [0, 1]], [0, 0, 1, 1, 1, -1])
    assert_array_equal(np.isnan(found.confidence), [0, 0, 0, 0, 1, 1])
    assert_array_equal(found.runner_up[4:], -1)
    assert found.verdict.tolist() == ["core"] * 4 + ["", ""]
    left_out = metrics.confidence([[0, 0], [0, 0], [1, 1], [1, 1], [0, 0]], [0, 0, 1, 1, -1])
    assert_array_equal(left_out.confidence[:4], 1.0)


def test_weights_count():
    labels, clusters = [[0, 0], [0, 1], [0, 0], [1, 1]], [0, 0, 0, 1]
    plain, first = metrics.confidence(labels, clusters), metrics.confidence(labels, clusters, weights=[1, 0])
    assert_array_equal(first.confidence, metrics.confidence(np.array(labels)[:, :1], clusters).confidence)
    assert plain.confidence[1] < first.confidence[1] == 1
    assert_array_equal(metrics.confidence(labels, clusters, weights=[3, 3]).confidence, plain.confidence)


def test_words_of_confidence():
    given = [1, 0.9, np.nextafter(0.9, 0), 0.75, np.nextafter(0.75, 0), 0, np.nan]
    assert verdicts(given).tolist() == ["core", "core", "border", "border", "undecided", "undecided", ""]
    with pytest.raises(ValueError, match="confidence of verdicts must be numbers"):
        verdicts(["sure"])


def test_the_same_for_any_number_of_threads(small_blocks):
    rows, clusters, association = coded(random_labels(300, 4, 5, 0.3), random_labels(300, 1, 7, 0.1, seed=1)[:, 0])
    one, four = (confidence_of_rows(rows, clusters, association, n_jobs) for n_jobs in (1, 4))
    for attribute in ("confidence", "runner_up", "cohesion"):
        assert_array_equal(getattr(one, attribute), getattr(four, attribute))


@pytest.mark.core(3)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("name", of_families(METHODS))
def test_every_method_has_memberships(name, missing):
    labels, _ = planted_labels(n=70, p=7, k=3, noise=0.2, missing=missing, seed=3)
    labels[5] = -1
    model = few_starts(usual(name, 3)).fit(labels)
    found = model.association_shares(labels)
    shares = naive.associations(labels, model.labels_)
    known = np.arange(70) != 5
    assert found.shape == (70, model.n_clusters_)
    assert np.isnan(found[5]).all()
    total = shares[known].sum(axis=1, keepdims=True)
    assert_allclose(
        found[known], np.where(total > 0, shares[known] / np.where(total > 0, total, 1), 1 / found.shape[1])
    )
    assert_array_equal(model.association_shares(Ensemble(labels), slice(10, 20)), found[10:20])
    assert_array_equal(model.association_shares(labels, [3, 60]), found[[3, 60]])
    confidence, runner_up = naive.confidence(labels, model.labels_)
    assert_allclose(model.confidence_, confidence, atol=1e-9)
    rows = np.flatnonzero(known)
    assert_allclose(shares[rows, model.runner_up_[rows]], shares[rows, runner_up[rows]], atol=1e-9)


def test_memberships_use_the_weights_of_partitions_and_of_objects():
    labels = planted_labels(n=60, p=5, k=3, noise=0.3, seed=6)[0]
    weights, w = [1, 2, 0, 1, 3], np.random.default_rng(0).integers(0, 3, 60)
    model = KMeansConsensus(3, weights=weights, random_state=0).fit(labels, sample_weight=w)
    repeated = KMeansConsensus(3, weights=weights, random_state=0).fit(np.repeat(labels, w, axis=0))
    found = model.association_shares(labels)
    assert_array_equal(np.repeat(found, w, axis=0), repeated.association_shares(np.repeat(labels, w, axis=0)))
    assert_allclose(found.sum(axis=1), 1)  # those of weight 0, too
    plain = KMeansConsensus(3, random_state=0).fit(labels)
    assert np.abs(plain.association_shares(labels) - found).max() > 0.01


def test_memberships_of_voting_are_kept_beside():
    labels = planted_labels(n=60, p=5, k=3, noise=0.3, seed=6)[0]
    model = CumulativeVoting(3).fit(labels)
    assert model.association_shares(labels).shape == model.membership_.shape
    assert np.abs(model.association_shares(labels) - model.membership_).max() > 0.01


def test_memberships_are_of_the_matrix_that_was_fitted():
    labels = planted_labels(n=60, p=5, k=3, noise=0.3, seed=6)[0]
    model = EvidenceAccumulation(3).fit(labels)
    with pytest.raises(ValueError, match=r"must be the label matrix that was fitted, of 60 objects\. Got 59"):
        model.association_shares(labels[1:])
