"""KMeansConsensus: KCC with every utility, its Lloyd iterations, and the climb of the exact density."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, random_labels, with_equal_rows

from ensemblage import Ensemble, make_consensus
from ensemblage.consensus import KMeansConsensus
from ensemblage.metrics import align_labels, density, kmeans_loss

TOY = np.array([[1, 2, 1, 1], [1, 2, 1, 1], [1, 2, 2, 1], [2, 3, 2, 1], [2, 3, 2, 2], [3, 1, 3, 2], [3, 1, 3, 2]])
TRIPLE = np.array([0, 0, 0, 1, 1, 2, 2])
ALL = ["category", "entropy", "cosine", "lp"]


# ---- What a utility is ----


@pytest.mark.parametrize(
    ("utility", "plain", "normalized"),
    [
        ("category", 2.115646, 5.778039),
        ("entropy", 4.975929, 3.457181),
        ("cosine", 1.325852, 2.190810),
        ("lp", 1.793744, 3.839140),
    ],
)
def test_utility_of_the_toy(utility, plain, normalized):
    for norm, value in [(False, plain), (True, normalized)]:
        model = KMeansConsensus(3, utility=utility, normalize=norm, init=TRIPLE).fit(TOY)
        assert model.utility_ == pytest.approx(value, abs=1e-6)
        assert_array_equal(model.labels_, TRIPLE)


def test_utility_of_a_partition_with_a_missing_label():
    """.48 on the five observed objects, times 5/6."""
    labels, clusters = np.array([[1], [1], [2], [2], [-1], [1]]), np.array([0, 0, 1, 1, 1, 0])
    one, two = (KMeansConsensus(k, init=np.minimum(clusters, k - 1)).fit(labels) for k in (1, 2))
    assert_array_equal(two.labels_, [0, 0, 1, 1, -1, 0])
    assert (one.objective_ - two.objective_) / 6 == pytest.approx(0.40)
    assert naive.kcc_utility(np.maximum(labels - 1, -1), clusters, "category") == pytest.approx(0.40)


@given(label_matrices(min_objects=2), st.sampled_from(ALL), st.booleans(), st.integers(0, 99))
def test_utility_of_any_clustering(labels, utility, normalized, seed):
    """After one iteration from random clusters."""
    labels = labels[(labels >= 0).any(axis=1)]
    if not len(labels) or (labels < 0).all(axis=0).any():
        return
    labels = np.column_stack([np.unique(z, return_inverse=True)[1] - (z.min() < 0) for z in labels.T])
    rows, of_row = np.unique(labels, axis=0, return_inverse=True)
    clusters = np.random.default_rng(seed).integers(3, size=len(rows))[of_row.ravel()]
    clusters = np.unique(clusters, return_inverse=True)[1]
    model = KMeansConsensus(clusters.max() + 1, utility=utility, normalize=normalized, init=clusters, max_iter=1)
    model.fit(labels)
    expected = naive.kcc_utility(labels, model.labels_, utility, normalized=normalized)
    assert model.utility_ == pytest.approx(expected, abs=1e-9)
    assert model.utility_ >= -1e-9


@pytest.mark.parametrize("utility", ALL)
def test_distances_and_loss(utility, missing):
    """Every object of every label row there may be is nearest to the centroid that the distances say."""
    labels = random_labels(n=50, p=6, k=4, missing=missing, seed=2)
    labels = labels[(labels >= 0).any(axis=1)]
    clusters = np.arange(len(labels)) % 3
    model = KMeansConsensus(3, utility=utility, init=clusters).fit(labels)
    expected = naive.kcc_distances(labels, model.labels_, utility)
    own = expected[np.arange(len(labels)), model.labels_]
    assert_allclose(own, expected.min(axis=1), rtol=1e-5, atol=1e-4)
    assert model.objective_ == pytest.approx(own.sum())


def test_cosine_is_lp_with_exponent_two():
    labels, _ = planted_labels(n=300, p=8, k=4, noise=0.4, missing=0.1)
    a = KMeansConsensus(4, utility="cosine", random_state=0).fit(labels)
    b = KMeansConsensus(4, utility="lp", exponent=2, random_state=0).fit(labels)
    assert a.objective_ == pytest.approx(b.objective_)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("exponent", [400, 1e16, 1e300])
def test_large_exponents_give_the_maximum_norm(exponent, normalized):
    """The distance of a label is 1 less [it is the most frequent one], the loss the members with other labels."""
    labels, _ = planted_labels(n=300, p=8, k=4, noise=0.4, missing=0.1)
    model = KMeansConsensus(4, utility="lp", exponent=exponent, normalize=normalized, random_state=0).fit(labels)
    assert_array_equal(np.unique(model.labels_), range(4))
    assert_array_equal(model.predict(labels), model.labels_)
    others, weights = np.zeros(8), np.ones(8)
    for j, z in enumerate(labels.T):
        weights[j] = np.bincount(z[z >= 0]).max() / np.sum(z >= 0) if normalized else 1
        for c in range(4):
            sizes = np.bincount(z[(model.labels_ == c) & (z >= 0)])
            others[j] += sizes.sum() - sizes.max()
    assert model.objective_ == pytest.approx(np.sum(others / weights), rel=0.01)


def test_weights_are_copies_of_partitions():
    labels, _ = planted_labels(n=200, p=3, k=3, noise=0.4)
    start = np.arange(200) % 3
    for utility in ALL:
        weighted = KMeansConsensus(3, utility=utility, init=start, weights=[2, 1, 0]).fit(labels)
        copied = KMeansConsensus(3, utility=utility, init=start).fit(labels[:, [0, 0, 1]])
        assert_array_equal(weighted.labels_, copied.labels_)
        assert weighted.objective_ == pytest.approx(copied.objective_)


def test_normalized_entropy_leaves_out_a_partition_of_one_cluster():
    labels, _ = planted_labels(n=90, p=4, k=3)
    with_constant = np.column_stack([labels, np.zeros(90, dtype=int)])
    start = np.arange(90) % 3
    a = KMeansConsensus(3, utility="entropy", normalize=True, init=start).fit(labels)
    b = KMeansConsensus(3, utility="entropy", normalize=True, init=start).fit(with_constant)
    assert a.objective_ == pytest.approx(b.objective_)
    assert np.isfinite(b.objective_)


@pytest.mark.parametrize(("smoothing", "bits"), [(np.finfo(float).eps, 52), (2**-10, 10)])
def test_label_that_a_cluster_has_not_seen_costs_52_bits(smoothing, bits):
    """Object 2 has a label that no object of cluster 0 has, or another one that half of its own cluster have: one bit,
    times the weight of that partition.
    """
    labels, start = [[0, 0], [0, 0], [1, 0], [1, 1]], [0, 0, 1, 1]
    for weight, cluster in ((bits - 0.05, 1), (bits + 0.05, 0)):
        model = KMeansConsensus(2, utility="entropy", smoothing=smoothing, weights=[1, weight], init=start, max_iter=1)
        found = model.fit(labels).labels_
        assert (found[2] == found[0]) == (cluster == 0)


# ---- Lloyd ----


@pytest.mark.parametrize("seed", range(4))
def test_category_against_scikit_learn_from_the_same_start(seed):
    labels = random_labels(n=400, p=7, k=5, seed=seed)
    ensemble, start = Ensemble(labels), np.random.default_rng(seed).integers(6, size=400)
    H = csr_matrix(ensemble.one_hot())
    H.indices, H.indptr = H.indices.astype(np.int32), H.indptr.astype(np.int32)
    centres = np.vstack([np.asarray(H[start == c].mean(axis=0)) for c in range(6)])
    theirs = KMeans(6, init=centres, n_init=1, tol=0).fit(H)
    ours = KMeansConsensus(6, init=start).fit(ensemble)
    assert adjusted_rand_score(theirs.labels_, ours.labels_) == 1
    assert ours.objective_ == pytest.approx(theirs.inertia_)


@pytest.mark.parametrize("utility", ALL)
def test_objective_is_the_loss_of_the_labels(utility, missing):
    labels = random_labels(n=150, p=6, k=4, missing=missing, seed=5)
    model = KMeansConsensus(4, utility=utility, random_state=1).fit(labels)
    known = model.labels_ >= 0
    assert model.utility_ == pytest.approx(naive.kcc_utility(labels[known], model.labels_[known], utility))
    if utility == "category":
        assert model.objective_ == pytest.approx(naive.kmeans_loss(labels, model.labels_))


@pytest.mark.parametrize("utility", ALL)
@pytest.mark.parametrize("normalized", [False, True])
def test_no_object_is_nearer_to_another_centroid(utility, normalized):
    labels = random_labels(n=120, p=6, k=4, missing=0.2, seed=7)
    labels = labels[(labels >= 0).any(axis=1)]
    model = KMeansConsensus(4, utility=utility, normalize=normalized, random_state=1).fit(labels)
    if not normalized:
        distances = naive.kcc_distances(labels, model.labels_, utility)
        own = distances[np.arange(len(labels)), model.labels_]
        assert_allclose(own, distances.min(axis=1), atol=1e-4)
    assert model.n_iter_ < 100


@pytest.mark.parametrize("utility", ALL)
def test_the_loss_falls_from_iteration_to_iteration(utility):
    labels = random_labels(n=500, p=8, k=5, missing=0.1, seed=3)
    start = np.random.default_rng(0).integers(6, size=500)
    losses = [KMeansConsensus(6, utility=utility, init=start, max_iter=t).fit(labels).objective_ for t in range(1, 15)]
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("utility", ["category", "cosine"])
@pytest.mark.parametrize("seed", range(3))
def test_bounds_change_nothing(utility, seed, missing):
    """A first iteration has none: first iterations, each from the clusters of the one before, do as the fit does."""
    labels = random_labels(n=700, p=6, k=5, missing=missing, seed=seed)
    options = {"utility": utility, "weights": np.random.default_rng(seed).uniform(0.1, 3, size=6)}
    steps = [np.arange(700) % 7]
    model = KMeansConsensus(7, init=steps[0], **options).fit(labels)
    while len(steps) < 3 or (steps[-1] != steps[-2]).any():
        one = KMeansConsensus(7, init=steps[-1], max_iter=1, **options).fit(labels)
        steps.append(align_labels(one.labels_, steps[-1]))  # with equal numbers ties go to the same cluster
    assert model.n_iter_ == len(steps) - 1 > 3
    assert_array_equal(model.labels_, one.labels_)
    assert model.objective_ == pytest.approx(one.objective_, rel=1e-12)


@pytest.mark.parametrize("utility", ALL)
def test_threads_and_blocks_change_nothing(utility, missing, monkeypatch):
    labels = random_labels(n=900, p=6, k=5, missing=missing, seed=1)
    whole = KMeansConsensus(5, utility=utility, random_state=0, n_jobs=1, n_init=3).fit(labels)
    limit(monkeypatch, "rows of a block", 37)
    blocks = KMeansConsensus(5, utility=utility, random_state=0, n_jobs=2, n_init=3).fit(labels)
    assert_array_equal(whole.labels_, blocks.labels_)
    assert_array_equal(whole.confidence_, blocks.confidence_)
    assert whole.objective_ == blocks.objective_
    assert_array_equal(whole.predict(labels), blocks.predict(labels))


@pytest.mark.parametrize("utility", ALL)
def test_permuted_objects_and_renamed_labels(utility, missing):
    labels = with_equal_rows(planted_labels(n=150, p=8, k=4, noise=0.2, missing=missing)[0], 400)
    model = KMeansConsensus(4, utility=utility, random_state=0).fit(labels)
    order = np.random.default_rng(0).permutation(400)
    permuted = KMeansConsensus(4, utility=utility, random_state=0).fit(labels[order])
    assert_array_equal(permuted.labels_, model.labels_[order])
    assert permuted.objective_ == model.objective_
    renamed, start = np.where(labels < 0, -1, 9 - labels), np.arange(400) % 4
    here, there = (KMeansConsensus(4, utility=utility, init=start).fit(z) for z in (labels, renamed))
    assert_array_equal(there.labels_, here.labels_)
    assert there.objective_ == pytest.approx(here.objective_)


@pytest.mark.parametrize("utility", ALL)
def test_twins_are_weights(utility):
    """Ten copies of the objects have the same clusters and ten times the loss."""
    labels, _ = planted_labels(n=60, p=6, k=3, noise=0.3)
    start = np.arange(60) % 3
    one = KMeansConsensus(3, utility=utility, init=start).fit(labels)
    ten = KMeansConsensus(3, utility=utility, init=np.tile(start, 10)).fit(np.tile(labels, (10, 1)))
    assert_array_equal(ten.labels_, np.tile(one.labels_, 10))
    assert ten.objective_ == pytest.approx(10 * one.objective_)
    assert ten.utility_ == pytest.approx(one.utility_)


@pytest.mark.core(3)
@pytest.mark.parametrize("n", [1_000, 10_000])
@pytest.mark.parametrize("seed", range(3))
def test_planted_clusters_are_found(n, seed):
    labels, truth = planted_labels(n=n, p=20, k=10, noise=0.3, seed=seed)
    model = KMeansConsensus(10, random_state=seed).fit(labels)
    assert adjusted_rand_score(truth, model.labels_) >= 0.99


@pytest.mark.parametrize("utility", ALL)
@pytest.mark.parametrize("normalized", [False, True])
def test_planted_clusters_are_found_by_every_utility(utility, normalized):
    labels, truth = planted_labels(n=1_000, p=20, k=6, noise=0.3, missing=0.1, seed=0)
    model = KMeansConsensus(6, utility=utility, normalize=normalized, random_state=0).fit(labels)
    assert adjusted_rand_score(truth, model.labels_) >= 0.99


def test_more_starts_lose_less():
    labels = random_labels(n=300, p=6, k=5)
    one, ten = (KMeansConsensus(8, n_init=r, init="random", random_state=0).fit(labels).objective_ for r in (1, 10))
    assert ten < one


def test_every_distinct_row_a_cluster():
    labels = random_labels(n=12, p=4, k=4)
    m = len(Ensemble(labels).distinct.counts)
    for init in ("random", "k-means++"):
        model = KMeansConsensus(m, init=init, random_state=0).fit(labels)
        assert model.n_clusters_ == m
        assert model.objective_ == 0


def test_empty_clusters_are_filled():
    """Two of the centres given are equal, so that one of them gets no row."""
    labels = np.repeat(np.eye(4, dtype=int), 5, axis=0)
    start = np.array([0, 1, 0, 1, 2] * 2 + [3] * 10)
    model = KMeansConsensus(4, init=start).fit(labels)
    assert model.n_clusters_ == 4
    assert model.objective_ == 0


def test_an_empty_cluster_gets_the_row_that_is_farthest_by_all_partitions():
    """Of two equal centres one is empty. By the second partition, (0, 1) is 2 · (3/4)² from its centre; by the first,
    (2, 2) is 2 · (5/8)² from its own.
    """
    rows, n_objects = np.array([[0, 0], [0, 1], [1, 2], [2, 2]]), [6, 2, 5, 3]
    start = [0, 0, 0, 1, 1, 1, 0, 1, *[2] * 8]
    model = KMeansConsensus(3, init=start).fit(np.repeat(rows, n_objects, axis=0))
    assert_array_equal(model.labels_, np.repeat([1, 2, 0, 0], n_objects))


def test_the_least_weight_tells_rows_apart_and_weight_zero_does_not():
    labels = [[0, 0], [0, 1], [0, 2], [1, 0]]
    model = KMeansConsensus(4, weights=[1, 1e-300], random_state=0).fit(labels)
    assert model.n_clusters_ == 4
    assert_array_equal(model.predict(labels), model.labels_)
    with pytest.raises(ValueError, match="must be ≤ the 2 distinct label rows"):
        KMeansConsensus(4, weights=[1, 0]).fit(labels)


def test_tol_stops_early():
    labels = random_labels(n=500, p=8, k=5, seed=3)
    start = np.random.default_rng(0).integers(6, size=500)
    exact = KMeansConsensus(6, init=start).fit(labels)
    early = KMeansConsensus(6, init=start, tol=0.01).fit(labels)
    assert early.n_iter_ < exact.n_iter_
    assert early.objective_ > exact.objective_


# ---- Given starts, bad input ----


def test_given_start_with_unassigned_objects_is_kept_where_it_is_best():
    labels, truth = planted_labels(n=100, p=9, k=4, noise=0.1)
    start = np.where(np.arange(100) < 60, truth, -1)
    model = KMeansConsensus(4, init=start).fit(labels)
    assert adjusted_rand_score(truth, model.labels_) == 1
    text = KMeansConsensus(4, init=[f"cluster {c}" for c in truth]).fit(labels)
    assert_array_equal(text.labels_, model.labels_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"init": [0, 1, 2]}, r"init of KMeansConsensus must label the 7 objects with 3 clusters. Got 3 labels"),
        ({"init": [0, 1, 0, 1, 0, 1, 0]}, r"Got 7 labels of 2 clusters"),
        (
            {"init": "best"},
            r"init of KMeansConsensus must be one of 'k-means\+\+', 'random', or a partition.* Got 'best'",
        ),
        ({"utility": "rand"}, rf"utility of KMeansConsensus must be one of {', '.join(map(repr, ALL))}\. Got 'rand'"),
        ({"exponent": 1}, r"exponent of KMeansConsensus must be a number > 1. Got 1"),
        ({"exponent": "5"}, r"exponent of KMeansConsensus must be a number > 1. Got '5'"),
        ({"smoothing": 0}, r"smoothing of KMeansConsensus must be a number > 0 and < 1. Got 0"),
        ({"smoothing": 1.0}, r"smoothing of KMeansConsensus must be a number > 0 and < 1"),
        ({"tol": -1}, r"tol of KMeansConsensus must be a number ≥ 0"),
        ({"tol": np.nan}, r"tol of KMeansConsensus must be a number ≥ 0"),
        ({"n_init": 0}, r"n_init of KMeansConsensus must be a whole number from 1 to 1,000,000"),
        ({"max_iter": 0}, r"max_iter of KMeansConsensus must be a whole number ≥ 1"),
        ({"refine": "loss"}, r"refine of KMeansConsensus must be 'density', or None. Got 'loss'"),
        ({"n_clusters": 6}, r"n_clusters of KMeansConsensus must be ≤ the 5 distinct label rows. Got 6. Ask for fewer"),
        ({"weights": [1, 1]}, r"weights of KMeansConsensus must be 4 numbers ≥ 0"),
        ({"weights": [0, 0, 0, 0]}, r"not all 0"),
    ],
)
def test_bad_input(parameters, message):
    with pytest.raises(ValueError, match=message):
        KMeansConsensus(**{"n_clusters": 3, **parameters}).fit(TOY)


@pytest.mark.parametrize("utility", ALL)
def test_identical_partitions(utility):
    z = np.repeat([0, 1, 2], [6, 5, 4])
    labels = np.column_stack([z] * 4)
    model = KMeansConsensus(3, utility=utility, random_state=0).fit(labels)
    assert_array_equal(model.labels_, z)
    assert model.objective_ == 0
    with pytest.raises(ValueError, match="must be ≤ the 3 distinct label rows"):
        KMeansConsensus(4, utility=utility).fit(labels)


@pytest.mark.parametrize("utility", ALL)
def test_objects_without_any_label(utility):
    labels, truth = planted_labels(n=100, p=5, k=3, noise=0.1)
    labels[::10] = -1
    model = KMeansConsensus(3, utility=utility, random_state=0).fit(labels)
    assert_array_equal(model.labels_ < 0, np.arange(100) % 10 == 0)
    known = model.labels_ >= 0
    assert adjusted_rand_score(truth[known], model.labels_[known]) > 0.95


# ---- predict ----


@pytest.mark.parametrize("utility", ALL)
@pytest.mark.parametrize("max_iter", [1, 2, 100])
def test_predict_gives_the_labels_of_fit(utility, max_iter):
    """Also on ties and where iterations are cut short."""
    labels = random_labels(n=300, p=3, k=3, missing=0.2, seed=4)
    model = KMeansConsensus(5, utility=utility, n_init=2, max_iter=max_iter, random_state=0).fit(labels)
    assert_array_equal(model.predict(labels), model.labels_)


def test_predict_counts_unseen_labels_as_missing():
    labels, _ = planted_labels(n=100, p=6, k=3, noise=0.1)
    model = KMeansConsensus(3, random_state=0).fit(labels)
    new = labels[:5].copy()
    new[:, 0] = 77
    known = labels[:5].copy()
    known[:, 0] = -1
    with pytest.warns(UserWarning, match="not seen"):
        predicted = model.predict(new)
    assert_array_equal(predicted, model.predict(known))
    assert_array_equal(model.predict(np.full((1, 6), -1)), [-1])


# ---- The exact density ----


def naive_single_moves(labels, partition):
    """Densities of all partitions in which one distinct row is in another cluster, no cluster being emptied."""
    inverse = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
    for row in np.unique(inverse):
        (own,) = np.unique(partition[inverse == row])
        if (inverse[partition == own] != row).any():
            for c in range(partition.max() + 1):
                yield density(labels, np.where(inverse == row, c, partition))


@given(label_matrices(min_objects=4, max_objects=12, min_partitions=2, missing=True), st.integers(0, 9))
def test_no_single_move_raises_a_refined_density(labels, seed):
    labels = labels[(labels >= 0).any(axis=1)]
    if (labels < 0).all(axis=0).any() or len(np.unique(labels, axis=0)) < 3:
        return
    plain = KMeansConsensus(3, random_state=seed).fit(labels)
    refined = KMeansConsensus(3, random_state=seed, refine="density").fit(labels)
    trace = refined.density_trace_
    assert trace[0] == pytest.approx(density(labels, plain.labels_), abs=1e-12)
    assert trace[-1] == pytest.approx(density(labels, refined.labels_), abs=1e-12)
    assert (np.diff(trace) > 0).all()
    assert refined.n_clusters_ == 3
    assert max(naive_single_moves(labels, refined.labels_), default=0) <= trace[-1] + 1e-9
    assert refined.objective_ >= plain.objective_ - 1e-9 or len(trace) > 1


def test_a_refit_without_refinement_has_no_density_trace():
    labels = random_labels(n=30, p=4, k=3)
    model = KMeansConsensus(3, refine="density", random_state=0).fit(labels)
    assert model.density_trace_
    assert not hasattr(model.set_params(refine=None).fit(labels), "density_trace_")


@pytest.mark.slow
def test_refinement_reaches_the_best_density_of_all_clusterings():
    """By brute force over all partitions of 8 objects into 3 clusters, k-means alone often misses it."""
    plain, refined, best = [], [], []
    for seed in range(12):
        labels = random_labels(n=8, p=4, k=3, seed=seed)
        best.append(naive.best_of_all(8, 3, lambda z, labels=labels: density(labels, z)))
        for found, refine in [(plain, None), (refined, "density")]:
            model = KMeansConsensus(3, refine=refine, random_state=0).fit(labels)
            found.append(density(labels, model.labels_))
    best, plain, refined = map(np.array, (best, plain, refined))
    assert (refined <= best + 1e-9).all()
    assert (refined >= plain - 1e-12).all()
    assert np.sum(refined > best - 1e-9) > np.sum(plain > best - 1e-9)


def test_density_of_the_toy():
    model = KMeansConsensus(3, init=TRIPLE, refine="density").fit(TOY)
    assert model.density_trace_ == [pytest.approx(0.857143, abs=1e-6)]
    assert kmeans_loss(TOY, model.labels_) == pytest.approx(2.333333, abs=1e-6)
    assert len(TOY) * 2.115646 == pytest.approx(17.142857 - model.objective_, abs=1e-5)


def test_refinement_with_weights_and_twins():
    labels = with_equal_rows(random_labels(n=60, p=5, k=4, missing=0.1, seed=1), 150)
    weights = [1, 0.5, 2, 0, 1]
    model = KMeansConsensus(6, refine="density", weights=weights, random_state=0).fit(labels)
    assert model.density_trace_[-1] == pytest.approx(density(labels, model.labels_, weights=weights), abs=1e-12)
    assert len(model.density_trace_) > 1
    moved = [density(labels, z, weights=weights) for z in _moved(labels, model.labels_)]
    assert max(moved) <= model.density_trace_[-1] + 1e-9


def _moved(labels, partition):
    inverse = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
    for row in np.unique(inverse):
        for c in range(partition.max() + 1):
            z = np.where(inverse == row, c, partition)
            if len(np.unique(z)) == len(np.unique(partition)):
                yield z


# ---- Names of the literature ----


def test_named_entries():
    assert make_consensus("ecc", 3).utility == "entropy"
    assert make_consensus("kcc", 3).init == "random"
    assert make_consensus("qmi", 3).get_params() == make_consensus("km", 3).get_params()
