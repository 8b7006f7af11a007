"""Metrics against their naive twins, scikit-learn and worked numbers."""

from fractions import Fraction

import naive
import numpy as np
import pandas as pd
import pytest
from former import FORMER
from hypothesis import assume, given
from limits import limit
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from strategies import labels_and_clustering, planted_labels, random_labels, with_equal_rows

from ensemblage import Ensemble, metrics
from ensemblage.consensus import KMeansConsensus
from ensemblage.metrics import (
    cluster_density,
    coassociation,
    confidence,
    density,
    ensemble_ari,
    ensemble_nmi,
    kmeans_loss,
    mm_index,
)
from ensemblage.metrics._coassociation import association_counts

pytestmark = FORMER

# Li & Liu, Fig. 2: seven objects in four partitions.
LI = np.array([[1, 2, 1, 1], [1, 2, 1, 1], [1, 2, 2, 1], [2, 3, 2, 1], [2, 3, 2, 2], [3, 1, 3, 2], [3, 1, 3, 2]])
LI_CLUSTERS = np.array([0, 0, 0, 1, 1, 2, 2])

CLUSTERING_METRICS = [density, cluster_density, kmeans_loss, ensemble_nmi, ensemble_ari]
NAIVE = [(density, naive.density), (cluster_density, naive.cluster_density), (kmeans_loss, naive.kmeans_loss)]


# ---- Worked numbers ----


def test_worked_numbers_of_li_and_candel():
    assert density(LI, LI_CLUSTERS) == pytest.approx(0.857143, abs=5e-7)
    np.testing.assert_allclose(np.diag(cluster_density(LI, LI_CLUSTERS)), [5 / 6, 0.75, 1])
    assert kmeans_loss(LI, LI_CLUSTERS) == pytest.approx(7 / 3)
    assert density(LI, [0, 0, 0, 1, 2, 3, 3]) == pytest.approx(0.642857, abs=5e-7)
    assert kmeans_loss(LI, [0, 0, 0, 1, 2, 3, 3]) == pytest.approx(4 / 3)
    assert confidence(LI, LI_CLUSTERS).cohesion.mean() == pytest.approx(6 / 7)


def test_weights_of_sec_are_row_sums_of_the_coassociation():
    """Li's Fig. 2: w_i = Σ_j h_i · h_j, that is p times the row sum."""
    assert (4 * coassociation(LI)).sum(axis=1).tolist() == [12, 12, 13, 11, 10, 9, 9]


def test_category_utility_and_loss():
    """ALGORITHMS: n U_c = TSS(H) − loss = 17.142857 − 2.333333."""
    assert kmeans_loss(LI, np.zeros(7)) - kmeans_loss(LI, LI_CLUSTERS) == pytest.approx(14.809524, abs=5e-7)


def test_density_from_the_loss_of_each_cluster():
    """Candel: D(C) = 1 − L_C / (p (|C| − 1)) for |C| ≥ 2."""
    labels, truth = planted_labels(100, 6, 3)
    for c in range(3):
        members = np.where(truth == c, 0, -1)
        loss = kmeans_loss(labels, members)
        expected = 1 - loss / (6 * (np.sum(truth == c) - 1))
        assert density(labels, members) == pytest.approx(expected)


def test_ratios_of_sums_with_missing_labels():
    """Two blocks with equal label counts have equal density, though the means of n_ij / m_ij differ."""
    first = cluster_density([[0, 0], [0, -1], [0, 0], [1, -1]], [0, 0, 1, 1])[0, 1]
    second = cluster_density([[0, 0], [0, -1], [1, 0], [0, -1]], [0, 0, 1, 1])[0, 1]
    assert first == second == 3 / 5


# ---- Naive twins ----


@pytest.mark.parametrize(("fast", "slow"), NAIVE)
@pytest.mark.parametrize("weights", [None, [0.5, 2, 0, 1, 1.5]])
def test_naive_twins(fast, slow, weights, missing):
    labels = with_equal_rows(random_labels(60, 5, 4, missing), 90)
    partition = np.random.default_rng(0).integers(-1, 6, size=90)
    np.testing.assert_allclose(fast(labels, partition, weights=weights), slow(labels, partition, weights))


@pytest.mark.parametrize(("fast", "slow"), NAIVE)
@given(case=labels_and_clustering())
def test_naive_twins_on_small_ensembles(fast, slow, case):
    np.testing.assert_allclose(fast(*case), slow(*case), atol=1e-12)


@given(case=labels_and_clustering(missing=False))
def test_mean_cohesion_is_the_density(case):
    assert confidence(*case).cohesion.mean() == pytest.approx(density(*case))


@given(case=labels_and_clustering(missing=False))
def test_weights_add_up(case):
    """Candel Eq. 6: intra- and inter-weights together are all off-diagonal entries of A."""
    labels, partition = case
    sizes = np.bincount(np.unique(partition, return_inverse=True)[1])
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    total = (cluster_density(labels, partition) * pairs).sum()
    assert total == pytest.approx(coassociation(labels).sum() - len(labels))


@pytest.mark.parametrize(
    ("fast", "score"), [(ensemble_ari, adjusted_rand_score), (ensemble_nmi, normalized_mutual_info_score)]
)
@pytest.mark.parametrize("weights", [None, [0.5, 2, 0, 1]])
def test_agreement_with_a_clustering(fast, score, weights, missing):
    labels = random_labels(80, 4, 4, missing)
    partition = np.random.default_rng(0).integers(-1, 6, size=80)
    scores = [naive.agreement(np.column_stack([partition, z]), score)[0, 1] for z in labels.T]
    assert fast(labels, partition, weights=weights) == pytest.approx(np.average(scores, weights=weights))


@pytest.mark.parametrize("average_method", ["arithmetic", "geometric", "min", "max"])
def test_average_methods(average_method):
    labels = random_labels(80, 1, 4)
    partition = random_labels(80, 1, 3, seed=1)[:, 0]
    expected = normalized_mutual_info_score(labels[:, 0], partition, average_method=average_method)
    assert ensemble_nmi(labels, partition, average_method=average_method) == pytest.approx(expected, abs=1e-14)


@given(case=labels_and_clustering(max_partitions=1, missing=False))
def test_agreement_of_degenerate_partitions(case):
    """One cluster, singletons, one object: the conventions are scikit-learn's."""
    labels, partition = case
    assert ensemble_ari(labels, partition) == pytest.approx(adjusted_rand_score(labels[:, 0], partition), abs=1e-14)
    nmi = normalized_mutual_info_score(labels[:, 0], partition)
    assert ensemble_nmi(labels, partition) == pytest.approx(nmi, abs=1e-14)


def test_agreement_is_exact_where_it_is_perfect_or_nil():
    assert ensemble_nmi([[0], [0], [1], [1], [2]], ["c", "c", "a", "a", "b"]) == 1.0
    assert ensemble_nmi(np.repeat([[0], [1]], 3, axis=0), [0, 1, 2] * 2) == 0.0


@pytest.mark.parametrize("average_method", ["arithmetic", "geometric", "min", "max"])
def test_one_cluster_tells_nothing_by_any_mean_of_the_entropies(average_method):
    assert ensemble_nmi([[0], [0], [0]], [0, 1, 1], average_method=average_method) == 0.0
    assert ensemble_nmi([[0], [0], [0]], [1, 1, 1], average_method=average_method) == 1.0


def test_partitions_that_share_no_object_with_the_clustering_are_left_out():
    labels = [[0, -1], [0, -1], [1, -1], [-1, 0]]
    assert ensemble_ari(labels, [0, 0, 1, -1]) == 1.0
    assert np.isnan(ensemble_ari([[0], [-1]], [-1, 0]))


def test_baselines(missing):
    labels = random_labels(60, 5, 4, missing)
    off_diagonal = ~np.eye(5, dtype=bool)
    for metric, score in [("ari", adjusted_rand_score), ("nmi", normalized_mutual_info_score)]:
        agreement = naive.agreement(labels, score)
        per_member = agreement[off_diagonal].reshape(5, 4).mean(axis=1)
        expected = agreement[off_diagonal].mean(), per_member.max()
        np.testing.assert_allclose(metrics.ensemble_baselines(labels, metric), expected, atol=1e-14)
    densities = [naive.density(labels, z) for z in labels.T]
    np.testing.assert_allclose(metrics.ensemble_baselines(labels, "density"), (np.mean(densities), np.max(densities)))


def test_baselines_take_weights_and_average_method():
    labels = random_labels(60, 3, 4)
    w = np.array([1, 2, 5])

    def nmi(i, j):
        return normalized_mutual_info_score(labels[:, i], labels[:, j], average_method="min")

    scores = [(2 * nmi(0, 1) + 5 * nmi(0, 2)) / 7, (nmi(1, 0) + 5 * nmi(1, 2)) / 6, (nmi(2, 0) + 2 * nmi(2, 1)) / 3]
    result = metrics.ensemble_baselines(labels, "nmi", average_method="min", weights=w)
    np.testing.assert_allclose(result, (np.mean(scores), np.max(scores)))


# ---- Co-association ----


@pytest.mark.parametrize("weights", [None, [0.5, 2, 0, 1, 1.5]])
def test_coassociation(weights):
    labels = random_labels(60, 5, 4)
    result = coassociation(labels, weights=weights)
    np.testing.assert_allclose(result, naive.coassociation(labels, weights), atol=1e-14)
    assert (np.diag(result) == 1).all()


def test_coassociation_with_missing_labels():
    labels = random_labels(60, 6, 4, 0.3)
    never = naive.joined_and_labelled(labels)[1] == 0
    assert never.any()
    with pytest.warns(UserWarning, match=f"{never.sum()} of the 3,600 entries .* are 0"):
        result = coassociation(labels)
    np.testing.assert_allclose(result, naive.coassociation(labels), atol=1e-14)
    assert (result[never] == 0).all()


@pytest.mark.parametrize("rows", [[5, 3, 3], slice(10, 20), np.arange(60) % 7 == 0])
def test_coassociation_of_some_objects(rows):
    labels = random_labels(60, 5, 4)
    np.testing.assert_array_equal(coassociation(labels, objects=rows), coassociation(labels)[rows][:, rows])


def test_coassociation_refuses_what_does_not_fit():
    labels = Ensemble(np.zeros((100_000, 1), dtype=int))
    with pytest.raises(
        ValueError, match=r"max_bytes = 2\.1 GB\. Got 80\.0 GB for the matrix of 100,000 objects\. Use density"
    ):
        coassociation(labels)
    assert coassociation(labels, objects=[0, 1]).tolist() == [[1, 1], [1, 1]]
    with pytest.raises(ValueError, match=r"max_bytes = 71 bytes\. Got 4,[0-9,]+ bytes for the matrix of 3 objects"):
        coassociation(labels, objects=[0, 1, 2], max_bytes=71)


@given(case=labels_and_clustering())
def test_association_counts(case):
    np.testing.assert_array_equal(association_counts(case[0]), naive.association_counts(case[0]))


def test_association_counts_with_twins(missing, small_blocks):
    labels = with_equal_rows(random_labels(60, 5, 3, missing), 300)
    np.testing.assert_array_equal(association_counts(labels), naive.association_counts(labels))


def test_association_counts_of_one_object():
    assert association_counts([[0, 1]]).tolist() == [0, 0, 0]


def test_more_than_255_partitions(missing):
    labels = random_labels(20, 300, 2, missing)
    np.testing.assert_array_equal(association_counts(labels), naive.association_counts(labels))


@pytest.mark.slow
def test_more_than_255_clusters(missing):
    labels = random_labels(900, 2, 600, missing)
    partition = labels[:, 0] // 200
    assert (Ensemble(labels).n_clusters > 255).all()
    np.testing.assert_array_equal(association_counts(labels), naive.association_counts(labels))
    assert density(labels, partition) == pytest.approx(naive.density(labels, partition))


# ---- Invariances ----


@pytest.mark.parametrize("metric", CLUSTERING_METRICS)
@given(case=labels_and_clustering())
def test_order_and_names_do_not_matter(metric, case):
    """Bitwise: objects in another order, labels under other names."""
    labels, partition = case
    expected = metric(labels, partition)
    order = np.random.default_rng(len(labels)).permutation(len(labels))
    np.testing.assert_array_equal(metric(labels[order], partition[order]), expected)
    renamed = np.where(labels < 0, -1, 7 - labels)
    np.testing.assert_array_equal(metric(renamed, partition), expected)
    if metric is not cluster_density:
        np.testing.assert_array_equal(metric(labels, np.where(partition < 0, -1, 7 - partition)), expected)


@pytest.mark.parametrize("metric", CLUSTERING_METRICS)
def test_block_size_and_threads_do_not_matter(metric, missing, monkeypatch):
    labels = random_labels(500, 4, 5, missing)
    partition = random_labels(500, 1, 7, 0.1, seed=1)[:, 0]
    expected = metric(labels, partition)
    limit(monkeypatch, "rows of a block", 13)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    np.testing.assert_array_equal(metric(labels, partition), expected)


@pytest.mark.parametrize("metric", CLUSTERING_METRICS)
@given(case=labels_and_clustering())
def test_a_copy_of_every_partition_changes_no_mean(metric, case):
    labels, partition = case
    expected = metric(labels, partition) * (2 if metric is kmeans_loss else 1)
    np.testing.assert_allclose(metric(np.hstack([labels, labels]), partition), expected, atol=1e-12)


@pytest.mark.parametrize("metric", CLUSTERING_METRICS)
def test_weight_zero_leaves_a_partition_out(metric, missing):
    labels = random_labels(80, 4, 4, missing)
    partition = random_labels(80, 1, 3, seed=1)[:, 0]
    weighted = metric(labels, partition, weights=[1, 0, 1, 1])
    np.testing.assert_allclose(weighted, metric(labels[:, [0, 2, 3]], partition))


@given(case=labels_and_clustering())
def test_bounds(case):
    assert 0 <= density(*case) <= 1
    assert kmeans_loss(*case) >= 0
    nmi = ensemble_nmi(*case)
    assume(not np.isnan(nmi))
    assert 0 <= nmi <= 1


# ---- Sums that pass 2^63 ----


def test_weighted_sum_of_any_size():
    """Pairs of 2³¹ objects in three partitions are more than 64 bits count; and a cluster of one object has none."""
    labels, counts = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 2]]), [2**31 - 5, 3, 1]
    model = KMeansConsensus(3, refine="density", random_state=0).fit(labels, sample_weight=counts)
    assert model.labels_.tolist() == [0, 1, 2]
    assert model.density_trace_ == [pytest.approx(float(Fraction(2**31 - 5 + 3, 2**31 - 1)), rel=1e-12)]
    assert 3 * (2**31 - 5) * (2**31 - 6) > 2**63


# ---- What they are given ----


@pytest.mark.parametrize("metric", CLUSTERING_METRICS)
def test_clusterings_of_any_kind(metric):
    labels = random_labels(6, 3, 2)
    expected = metric(labels, [0, 0, 1, 1, 2, -1])
    text = ["a", "a", "b", "b", "c", None]
    for partition in (
        text,
        np.array(text, dtype=object),
        pd.Series(text),
        pd.Series(text, dtype="category"),
        pd.Series([0, 0, 1, 1, 2, None], dtype="Int64"),
        np.array([0, 0, 1, 1, 2, np.nan]),
    ):
        np.testing.assert_array_equal(metric(labels, partition), expected)
    np.testing.assert_array_equal(metric(Ensemble(labels), [0, 0, 1, 1, 2, -1]), expected)


@pytest.mark.parametrize("metric", CLUSTERING_METRICS)
@pytest.mark.parametrize(
    ("partition", "weights", "message"),
    [
        ([0, 1], None, r"one label for each of the 3 objects .* Got 2\."),
        ([[0], [1], [2]], None, "1-D"),
        ([-1, -1, None], None, "'partition'"),
        ([0, 1, 2], [1, 1, 1], "weights of .* must be 2 numbers"),
        ([0, 1, 2], [1, -1], "weights of .* must be 2 numbers"),
        ([0, 1, 2], [0, 0], "weights of .* must be 2 numbers"),
        ([0, 1, 2], [1, np.nan], "weights of .* must be 2 numbers"),
    ],
)
def test_errors(metric, partition, weights, message):
    with pytest.raises(ValueError, match=message):
        metric([[0, 0], [0, 1], [1, 1]], partition, weights=weights)


def test_errors_of_choices():
    with pytest.raises(ValueError, match=r"measure of ensemble_baselines must be one of .* Got 'ami'"):
        metrics.ensemble_baselines([[0, 0]], "ami")
    with pytest.raises(ValueError, match=r"at least 2 partitions\. Got 1\."):
        metrics.ensemble_baselines([[0], [1]])
    with pytest.raises(ValueError, match="average_method must be one of"):
        ensemble_nmi([[0], [1]], [0, 1], average_method="mean")


def test_a_partition_of_weight_0_is_left_out():
    labels, truth = planted_labels(n=60, p=6, k=3, noise=0.3, missing=0.3, seed=4)
    labels[5], labels[5, 4] = -1, 1
    weights = np.array([1, 2, 1, 0, 0, 3.0])
    selected, rest = Ensemble(labels).select(weights > 0), weights[weights > 0]
    for metric in (density, cluster_density, kmeans_loss, ensemble_nmi, ensemble_ari, mm_index):
        np.testing.assert_array_equal(metric(labels, truth, weights=weights), metric(selected, truth, weights=rest))
    for name in ("nmi", "ari", "density"):
        expected = metrics.ensemble_baselines(selected, name, weights=rest)
        assert metrics.ensemble_baselines(labels, name, weights=weights) == expected
    with pytest.warns(UserWarning, match="No partition labels both"):
        expected = coassociation(selected, weights=rest)
    with pytest.warns(UserWarning, match="No partition labels both"):
        found = coassociation(labels, weights=weights)
    np.testing.assert_array_equal(found, expected)
