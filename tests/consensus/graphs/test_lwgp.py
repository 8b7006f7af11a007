"""Weights of clusters (ECI), and the methods that take them: LWEA, LWGP, k-means, the co-association matrix."""

import warnings

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import numbered_by_content
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, random_labels, with_equal_rows
from worked import E_MISSING, E, partition

from ensemblage import Ensemble, make_consensus
from ensemblage.consensus import HBGF, EvidenceAccumulation, KMeansConsensus
from ensemblage.metrics import cluster_weights, coassociation

ENTROPIES = [1.811278, 3.311278, 0, 0.918296, 2.811278, 1.836592, 0, 1.836592, 0, 1.836592, 3.836592, 3]
ECI = [0.322372, 0.126243, 1, 0.563305, 0.172553, 0.317312, 1, 0.317312, 1, 0.317312, 0.090911, 0.153355]
ENTROPIES_MISSING = [1.729574, 1.836592, 0, 0, 2.811278, 0.918296, 0, 1, 0, 0.918296, 3.703004, 3]
ROW_3 = [0.244147, 0.244147, 1, 0.182649, 0.102056, 0, 0, 0, 0, 0.022728]
ROW_10 = [0.022728] * 4 + [0.054289, 0.031561, 0.031561, 0.158656, 0.158656, 1]
ROW_3_MISSING = [0.479363, 0.479363, 1, 0.146030, 0.032943, 0, 0, 0, 0, 0.049414]
ROW_10_MISSING = [0.032943, 0.032943, 0.049414, 0.032943, 0.032943, 0, 0, 0.375536, 0.375536, 1]
HEIGHTS = [0.505853, 0.553005, 0.636962, 0.755853, 0.841344, 0.854806, 0.910533, 0.963921, 0.984765]


# ---- The weights ----


def test_worked_weights():
    found = cluster_weights(E)
    assert [len(local) for local in found] == [3, 3, 4, 2]
    assert_allclose(np.concatenate(found), ECI, atol=1e-6)
    assert_allclose(-0.4 * 4 * np.log(np.concatenate(found)), ENTROPIES, atol=2e-6)
    assert_allclose(-0.4 * 4 * np.log(np.concatenate(cluster_weights(E_MISSING))), ENTROPIES_MISSING, atol=2e-6)


@given(label_matrices(), st.sampled_from([0.2, 0.4, 1.0]), st.integers(0, 3))
def test_weights_are_those_of_the_definition(labels, theta, seed):
    w = np.random.default_rng(seed).integers(1, 4, labels.shape[1]) if seed else None
    found = np.concatenate(cluster_weights(labels, theta=theta, weights=w))
    assert_allclose(found, naive.cluster_weights(labels, theta, w), atol=1e-12)
    assert ((found > 0) & (found <= 1)).all()


def test_tables_far_larger_than_the_data_are_sorted():
    labels = np.random.default_rng(0).integers(-1, 400, (300, 3))
    labels[:100] = labels[100:200]
    labels[0] = 1_000
    found = np.concatenate(cluster_weights(labels))
    assert_allclose(found, naive.cluster_weights(labels, 0.4), atol=1e-12)


@pytest.mark.parametrize("part_in_memory", [1, 10**9])
def test_weights_of_labels_on_disk(tmp_path, monkeypatch, part_in_memory):
    """Distinct rows that fit the memory, and some that stay there."""
    limit(monkeypatch, "share of the memory for distinct rows on disk", part_in_memory)
    labels = random_labels(n=80, p=5, k=4, missing=0.2, seed=3)
    np.save(tmp_path / "labels.npy", labels)
    opened = Ensemble.open(tmp_path / "labels.npy")
    for local, other in zip(cluster_weights(opened), cluster_weights(labels), strict=True):
        assert_array_equal(local, other)
    on_disk = KMeansConsensus(3, cluster_weights="eci", random_state=0).fit(opened)
    assert_array_equal(on_disk.labels_, KMeansConsensus(3, cluster_weights="eci", random_state=0).fit(labels).labels_)


def test_one_partition_has_weights_of_one():
    assert_array_equal(cluster_weights([[0], [0], [1]])[0], [1, 1])


def test_clusters_that_nobody_splits_or_knows_have_weights_of_one():
    """The logarithms of 48 objects in one cell leave a rounding error, which a small θ would make large."""
    assert_array_equal(cluster_weights(np.repeat([[0, 0], [1, 1]], 48, axis=0), theta=1e-6), np.ones((2, 2)))
    assert_array_equal(cluster_weights([[0, -1], [1, -1], [-1, 0]], weights=[0, 1])[0], [1, 1])


def test_weights_of_partitions_repeat_them_and_do_not_depend_on_their_unit():
    labels = random_labels(n=40, p=4, k=3, missing=0.2, seed=1)
    weighted = cluster_weights(labels, weights=[1, 2, 1, 3])
    repeated = cluster_weights(np.repeat(labels, [1, 2, 1, 3], axis=1))
    for local, place in zip(weighted, [0, 1, 3, 4], strict=True):
        assert_allclose(local, repeated[place])
    for local, other in zip(cluster_weights(labels, weights=[7] * 4), cluster_weights(labels), strict=True):
        assert_array_equal(local, other)


# ---- The co-association matrix ----


def test_worked_association():
    assert_allclose(coassociation(E, cluster_weights="eci")[[2, 9]], [ROW_3, ROW_10], atol=1e-6)
    found = coassociation(E_MISSING, cluster_weights="eci")
    assert_allclose(found[[2, 9]], [ROW_3_MISSING, ROW_10_MISSING], atol=1e-6)


@given(label_matrices(min_objects=2), st.integers(0, 3))
def test_association_is_that_of_the_definition(labels, seed):
    random = np.random.default_rng(seed)
    w = random.integers(1, 4, labels.shape[1]).astype(float)
    local = [random.random(k) for k in Ensemble(labels).n_clusters]
    local[0][0] = 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = coassociation(labels, weights=w, cluster_weights=local)
        wanted = naive.local_association(labels, np.concatenate(local), w)
        assert_allclose(found, wanted, atol=1e-12)
        assert_allclose(coassociation(labels, cluster_weights=[np.ones_like(z) for z in local]), coassociation(labels))


def test_association_by_the_kernel_is_the_same(only_kernels):
    local = cluster_weights(E_MISSING)
    wanted = naive.local_association(E_MISSING, np.concatenate(local), np.ones(4))
    assert_allclose(coassociation(E_MISSING, cluster_weights=local), wanted, atol=1e-12)


# ---- LWEA ----


def test_worked_lwea():
    tree = make_consensus("lwea").fit(E)
    assert_allclose(tree.linkage_matrix_[:, 2], HEIGHTS, atol=1e-6)
    assert_array_equal(tree.linkage_matrix_[:3, :2], [[0, 1], [7, 8], [5, 6]])
    assert tree.n_clusters_ == 7
    assert_allclose(tree.lifetimes_[7], HEIGHTS[3] - HEIGHTS[2], atol=2e-6)
    groups = {2: "1-5 6-10", 3: "1-5 6,7 8-10", 4: "1-3 4,5 6,7 8-10", 5: "1-3 4 5 6,7 8-10"}
    for k, text in groups.items():
        found = make_consensus("lwea", k).fit(E).labels_
        assert adjusted_rand_score(found, partition(text)) == 1


def heights_of_pairs(labels, local, w=None):
    """Heights and cuts of SciPy's average linkage of all objects."""
    w = np.ones(labels.shape[1]) if w is None else w
    distances = 1 - naive.local_association(labels, np.concatenate(local), w)
    np.fill_diagonal(distances, 0)
    return linkage(squareform(distances), "average")


def test_the_result_does_not_depend_on_threads():
    labels = planted_labels(n=3_000, p=9, k=6, noise=0.4, seed=2)[0]
    one, two = (EvidenceAccumulation(6, cluster_weights="eci", n_jobs=jobs).fit(labels) for jobs in (1, 2))
    assert_array_equal(one.linkage_matrix_, two.linkage_matrix_)


@pytest.mark.parametrize("seed", range(12))
def test_lwea_is_average_linkage_of_all_pairs(seed):
    labels = with_equal_rows(random_labels(n=60, p=7, k=4, seed=seed), 90, seed=seed)
    w = np.random.default_rng(seed).integers(1, 4, 7).astype(float) if seed % 2 else None
    model = EvidenceAccumulation(cluster_weights="eci", weights=w).fit(labels)
    wanted = heights_of_pairs(labels, cluster_weights(labels, weights=w), w)
    assert_allclose(model.linkage_matrix_[:, 2], wanted[:, 2], atol=1e-9)
    for k in (2, 3, 5):
        if wanted[-k + 1, 2] - wanted[-k, 2] > 1e-9:
            ours = EvidenceAccumulation(k, cluster_weights="eci", weights=w).fit(labels).labels_
            of_all = cut_tree(wanted, k).ravel()
            if len(np.unique(np.column_stack([labels, of_all]), axis=0)) == len(np.unique(labels, axis=0)):
                assert adjusted_rand_score(ours, of_all) == 1  # no equal rows are parted
    n_parted = 0
    for k in (15, 30, 60):
        if wanted[-k + 1, 2] - wanted[-k, 2] > 1e-9:
            ours = EvidenceAccumulation(k, cluster_weights="eci", weights=w, distinct=False).fit(labels)
            of_all = cut_tree(wanted, k).ravel()
            assert_allclose(ours.linkage_matrix_[:, 2], wanted[:, 2], atol=1e-9)
            assert adjusted_rand_score(ours.labels_, of_all) == 1
            n_parted += len(np.unique(np.column_stack([labels, of_all]), axis=0)) > len(np.unique(labels, axis=0))
    assert n_parted or wanted[-60 + 1, 2] - wanted[-60, 2] <= 1e-9


def test_objects_that_stand_alone_have_no_weights():
    with pytest.raises(ValueError, match=r"must have distinct=True with sample_weight"):
        EvidenceAccumulation(2, distinct=False).fit(E, sample_weight=np.full(10, 2))


@pytest.mark.parametrize("how", ["rounds", "chain"])
def test_large_clusters_and_many_rows(how):
    labels = with_equal_rows(planted_labels(n=300, p=12, k=5, noise=0.4, seed=1)[0], 20_000, seed=2)
    if how == "chain":
        labels[0, 0] = -1
    ensemble = Ensemble(labels)
    random = np.random.default_rng(0)
    local = [random.uniform(0.1, 1, k) for k in ensemble.n_clusters]  # no ties
    codes, counts = np.unique(labels, axis=0, return_counts=True)
    model = EvidenceAccumulation(cluster_weights=local).fit(codes, sample_weight=counts)
    _, heights = naive.local_linkage(codes, counts, np.concatenate(local))
    assert_allclose(model.linkage_matrix_[:, 2], heights, atol=1e-9)


@pytest.mark.parametrize("linkage_name", ["single", "average", "complete"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_every_linkage_counts_the_weights_of_clusters(linkage_name, missing):
    labels = random_labels(n=50, p=8, k=4, missing=missing, seed=3)
    labels[(labels < 0).all(axis=1)] = 0
    labels = numbered_by_content(np.unique(labels, axis=0))
    labels = labels[np.lexsort(np.where(labels < 0, 4, labels).T[::-1])]  # SciPy's ties go by the order of the rows
    local = cluster_weights(labels)
    model = EvidenceAccumulation(linkage=linkage_name, cluster_weights=local).fit(labels)
    distances = 1 - naive.local_association(labels, np.concatenate(local), np.ones(8))
    np.fill_diagonal(distances, 0)
    if linkage_name != "average" or not missing:  # SciPy's means are not ratios of sums
        wanted = linkage(squareform(distances), linkage_name)
        assert_allclose(model.linkage_matrix_[:, 2], wanted[:, 2], atol=1e-6)
    plain = EvidenceAccumulation(linkage=linkage_name).fit(labels)
    assert not np.allclose(plain.linkage_matrix_[:, 2], model.linkage_matrix_[:, 2])
    ones = EvidenceAccumulation(linkage=linkage_name, cluster_weights=[np.ones_like(z) for z in local]).fit(labels)
    assert_allclose(ones.linkage_matrix_[:, 2], plain.linkage_matrix_[:, 2], atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_ties_of_weighted_sums_are_those_of_counts(seed):
    labels = with_equal_rows(random_labels(n=150, p=5, k=3, seed=seed), 400, seed=seed)
    plain = EvidenceAccumulation().fit(labels)
    ones = EvidenceAccumulation(cluster_weights=[np.ones(3)] * 5).fit(labels)
    assert_array_equal(ones.linkage_matrix_[:, [0, 1, 3]], plain.linkage_matrix_[:, [0, 1, 3]])
    assert_allclose(ones.linkage_matrix_[:, 2], plain.linkage_matrix_[:, 2], atol=1e-12)
    assert ones.lifetimes_.keys() == plain.lifetimes_.keys()
    assert_array_equal(ones.labels_, plain.labels_)
    halves = EvidenceAccumulation(5, cluster_weights=[np.full(3, 0.5)] * 5).fit(labels)
    assert_array_equal(halves.labels_, EvidenceAccumulation(5).fit(labels).labels_)


def test_an_object_of_weight_2_is_there_twice():
    labels = random_labels(n=40, p=5, k=3, missing=0.1, seed=4)
    labels[(labels < 0).all(axis=1)] = 0
    w = np.random.default_rng(0).integers(0, 4, 40)
    weighted = EvidenceAccumulation(cluster_weights="eci").fit(labels, sample_weight=w)
    repeated = EvidenceAccumulation(cluster_weights="eci").fit(np.repeat(labels, w, axis=0))
    assert weighted.lifetimes_ == repeated.lifetimes_
    assert_array_equal(np.repeat(weighted.labels_, w), repeated.labels_)
    for ours, theirs in zip(weighted.cluster_weights_, repeated.cluster_weights_, strict=True):
        assert_array_equal(ours, theirs)
    gone = np.array([0, 1, 0, 1])  # the labels 0 of the first partition occur in objects of weight 0 alone
    labels = np.array([[0, 0], [1, 0], [0, 1], [2, 1]])
    with pytest.raises(ValueError, match=r"must have 2 numbers from 0 to 1 for partition 0. Got shape \(3,\)"):
        EvidenceAccumulation(2, cluster_weights=[[1, 1, 1], [1, 1]]).fit(labels, sample_weight=gone)


def test_a_threshold_is_on_the_weighted_associations():
    labels = np.unique(random_labels(n=40, p=6, k=3, seed=5), axis=0)
    local = cluster_weights(labels)
    model = EvidenceAccumulation(association_threshold=0.15, cluster_weights=local).fit(labels)
    association = naive.local_association(labels, np.concatenate(local), np.ones(6))
    distances = 1 - np.where(association > 0.15, association, 0)
    np.fill_diagonal(distances, 0)
    assert_allclose(model.linkage_matrix_[:, 2], linkage(squareform(distances), "average")[:, 2], atol=1e-9)


def test_missing_labels_never_put_a_merge_below_that_of_twins():
    for seed in range(10):
        labels = with_equal_rows(random_labels(n=25, p=4, k=3, missing=0.4, seed=seed), 60, seed=seed)
        model = EvidenceAccumulation(cluster_weights="eci").fit(labels)
        matrix = model.linkage_matrix_
        assert (np.diff(matrix[:, 2]) >= 0).all()
        for a, b, height, _ in matrix:
            for part in (int(a), int(b)):
                assert part < 60 or matrix[part - 60, 2] <= height
        _, inverse = np.unique(labels, axis=0, return_inverse=True)
        assert len(np.unique(np.column_stack([inverse.ravel(), model.labels_]), axis=0)) == inverse.max() + 1


# ---- LWGP and HBGF ----


@pytest.mark.parametrize(("k", "groups"), [(2, "1-5 6-10"), (3, "1-4 5-7 8-10"), (4, "1,2 3-5 6,7 8-10")])
def test_worked_lwgp(k, groups):
    for seed in range(3):
        found = make_consensus("lwgp", k, random_state=seed).fit(E)
        assert adjusted_rand_score(found.labels_, partition(groups)) == 1
        assert_allclose(np.concatenate(found.cluster_weights_), ECI, atol=1e-6)


def test_lwgp_is_the_cut_of_the_weighted_matrix():
    labels = with_equal_rows(planted_labels(n=80, p=6, k=3, noise=0.4, missing=0.1, seed=7)[0], 150)
    w = np.array([1, 2, 1, 3, 1, 1.0])
    local = np.concatenate(cluster_weights(labels, weights=w))
    model = make_consensus("lwgp", 3, weights=w, random_state=0).fit(labels)
    B = Ensemble(labels).one_hot().toarray() * local * np.repeat(w, Ensemble(labels).n_clusters)
    _, U = naive.transfer_cut(B, 3)
    loss = naive.loss_of_points(U, model.labels_)
    for seed in range(5):
        other = np.random.default_rng(seed).permutation(model.labels_)
        assert loss < naive.loss_of_points(U, other)
    for moved in range(0, 150, 10):
        for c in range(3):
            other = model.labels_.copy()
            other[(labels == labels[moved]).all(axis=1)] = c
            assert loss <= naive.loss_of_points(U, other) + 1e-6


@pytest.mark.parametrize("partitioner", ["spectral", "transfer", "metis"])
def test_every_cut_counts_the_weights_of_clusters(partitioner):
    if partitioner == "metis":
        pytest.importorskip("pymetis")
    truth, other = np.repeat([0, 1], 40), np.tile([0, 1], 40)
    labels = np.column_stack([truth, truth, other, other])
    for trusted, wanted in (([1, 1, 0.05, 0.05], truth), ([0.05, 0.05, 1, 1], other)):
        local = [np.full(2, weight) for weight in trusted]
        model = HBGF(2, partitioner=partitioner, cluster_weights=local, random_state=0).fit(labels)
        assert adjusted_rand_score(model.labels_, wanted) == 1


# ---- k-means ----


def test_kmeans_loss_is_that_of_scaled_columns():
    labels = planted_labels(n=90, p=5, k=3, noise=0.4, seed=3)[0]
    w = np.array([1, 2, 1, 1, 4.0])
    model = KMeansConsensus(3, cluster_weights="eci", weights=w, random_state=0).fit(labels)
    local = np.concatenate(cluster_weights(labels, weights=w))
    points = Ensemble(labels).one_hot().toarray() * np.sqrt(local * np.repeat(w, Ensemble(labels).n_clusters))
    assert_allclose(model.objective_, naive.loss_of_points(points, model.labels_))
    total = naive.loss_of_points(points, np.zeros(90, dtype=int))
    assert_allclose(90 * model.utility_, total - model.objective_)
    centres = np.array([points[model.labels_ == c].mean(axis=0) for c in range(3)])
    distances = ((points[:, None] - centres) ** 2).sum(axis=2)
    assert_allclose(distances[np.arange(90), model.labels_], distances.min(axis=1), atol=1e-6)
    assert_array_equal(model.predict(labels), model.labels_)


def test_kmeans_with_weights_of_one_is_plain():
    labels = planted_labels(n=90, p=5, k=3, noise=0.4, missing=0.2, seed=3)[0]
    plain = KMeansConsensus(3, random_state=0).fit(labels)
    ones = KMeansConsensus(3, random_state=0, cluster_weights=[np.ones(3)] * 5).fit(labels)
    assert_array_equal(ones.labels_, plain.labels_)
    assert_allclose([ones.objective_, ones.utility_], [plain.objective_, plain.utility_])


def test_kmeans_goes_with_the_clusters_that_count():
    truth, other = np.repeat([0, 1], 40), np.tile([0, 1], 40)
    labels = np.column_stack([truth, truth, other, other])
    local = [np.full(2, 0.1)] * 2 + [np.full(2, 1.0)] * 2
    assert (
        adjusted_rand_score(KMeansConsensus(2, cluster_weights=local, random_state=0).fit(labels).labels_, other) == 1
    )


# ---- What is refused, what is left out ----


@pytest.mark.parametrize(
    "model", [KMeansConsensus(2, random_state=0), HBGF(2, random_state=0), EvidenceAccumulation(2)]
)
def test_a_partition_of_weight_0_has_no_weights_of_clusters(model):
    local = [np.full(3, 0.5), np.full(3, 0.2), np.full(4, 1.0), np.full(2, 0.7)]
    model.set_params(cluster_weights=local, weights=[1, 0, 2, 1]).fit(E)
    assert [len(found) for found in model.cluster_weights_] == [3, 0, 4, 2]
    given, model.cluster_weights = model.labels_, [local[0], [], local[2], local[3]]
    with pytest.raises(ValueError, match=r"cluster_weights of .* must have 3 numbers from 0 to 1 for partition 1"):
        model.set_params(weights=None).fit(E)
    model.set_params(cluster_weights=None).fit(E)
    assert not hasattr(model, "cluster_weights_")
    assert given.shape == (10,)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (EvidenceAccumulation(similarity="cts", cluster_weights="eci"), "similarity='cts'"),
        (EvidenceAccumulation(association_threshold="gmm", cluster_weights="eci"), "must be a number where there are"),
        (KMeansConsensus(2, utility="entropy", cluster_weights="eci"), "utility='entropy'"),
        (KMeansConsensus(2, normalize=True, cluster_weights=0.2), "normalize=True"),
        (KMeansConsensus(2, refine="density", cluster_weights="eci"), "refine='density'"),
        (
            HBGF(2, cluster_weights=[[1] * 3, [1] * 3, [1] * 4, [1, 2]]),
            "from 0 to 1 for partition 3. Got 1 to 2",
        ),
        (HBGF(2, cluster_weights=[[0] * 3, [0] * 3, [0] * 4, [0] * 2]), "must not all be 0"),
        (HBGF(2, cluster_weights=[[1, 1, 1]]), "3 numbers from 0 to 1 for partition 1"),
        (HBGF(2, cluster_weights=[["a", 1, 1]] * 4), "3 numbers from 0 to 1 for partition 0"),
        (HBGF(2, cluster_weights="wat"), "must be 'eci', or a number > 0"),
    ],
)
def test_what_cannot_be_is_refused(model, sentence):
    with pytest.raises(ValueError, match=r"cluster_weights|association_threshold") as caught:
        model.fit(E)
    assert sentence in str(caught.value)


def test_theta_is_a_number_above_0():
    with pytest.raises(ValueError, match=r"theta of cluster_weights must be a number > 0. Got 0"):
        cluster_weights(E, theta=0)
    sharp = EvidenceAccumulation(3, cluster_weights=0.1).fit(E).cluster_weights_
    assert_allclose(np.concatenate(sharp), np.array(ECI) ** 4, atol=1e-5)


def test_where_every_number_of_clusters_parts_equal_rows():
    """One object counts so often that no level of the hierarchy of all objects is one of the distinct rows."""
    labels = [[-1, 0], [0, 0], [-1, -1], [0, -1]]
    counts = [1_000_009, 3, 14, 8]
    model = make_consensus("lwea", 2).fit(labels, sample_weight=counts)
    assert model.lifetimes_ == {}
    assert model.labels_.max() <= 1
