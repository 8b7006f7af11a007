"""Greedy partitions and GKCC against the stacked matrix that they stand for; subspaces and projections."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ensemblage.consensus import GreedyKMeansConsensus, KMeansConsensus
from ensemblage.generation import GreedyPartitions, ProjectionPartitions, SubspacePartitions
from ensemblage.generation._greedy_stages import Centres, Space, grow_stage
from ensemblage.metrics import kmeans_loss


def stacked(Z, columns, weight):
    """[Z | one-hot of the partitions], literally."""
    blocks = [Z] + [np.sqrt(weight) * np.eye(z.max() + 1)[z] for z in columns]
    return np.hstack(blocks)


def plain_lloyd(W, centres):
    """Lloyd until no row moves; distances row by row."""
    labels = None
    while True:
        distances = ((W[:, None, :] - centres) ** 2).sum(axis=2)
        new = distances.argmin(axis=1)
        if labels is not None and (new == labels).all():
            return labels, distances.min(axis=1).sum()
        labels = new
        centres = np.array([W[labels == c].mean(axis=0) for c in range(len(centres))])


def plain_gkcc(Z, n_clusters, candidates, augment="all", weight=1.0):
    """Algorithm 1 (corrected) on the stacked matrix: labels and losses of all partitions, stage by stage."""
    stages, losses, seen = [], [], []
    W, centres = Z, Z.mean(axis=0)[None]
    for k, rows in zip(range(2, n_clusters + 1), candidates, strict=True):
        found = [plain_lloyd(W, np.vstack([centres, W[i]])) for i in rows]
        stages.append([z for z, _ in found])
        losses.append([loss for _, loss in found])
        seen = {"all": seen + stages[-1], "last": stages[-1], None: []}[augment]
        winner = stages[-1][int(np.argmin(losses[-1]))]
        W = stacked(Z, seen, weight)
        settled, _ = plain_lloyd(W, np.array([W[winner == c].mean(axis=0) for c in range(k)]))
        centres = np.array([W[settled == c].mean(axis=0) for c in range(k)])
    return stages, losses, winner


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, 4, centers=7, cluster_std=3.0, random_state=3)[0]


@pytest.mark.core(3)
@pytest.mark.parametrize("augment", ["all", "last", None])
@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_against_the_stacked_matrix(blobs, augment, weight):
    model = GreedyPartitions(
        4, n_candidates=12, augment=augment, partition_weight=weight, standardize=True, random_state=1
    )
    labels = model.fit_transform(blobs)
    Z = StandardScaler().fit_transform(blobs)
    stages, losses, winner = plain_gkcc(Z, 4, model.candidates_.reshape(3, 12), augment, weight)
    assert_allclose(model.losses_, np.concatenate(losses))
    for found, expected in zip(labels.T, [z for stage in stages for z in stage], strict=True):
        assert adjusted_rand_score(expected, found) == 1
    assert_array_equal(model.labels_, labels[:, model.winner_])
    assert adjusted_rand_score(winner, model.labels_) == 1


def test_each_partition_is_scikit_learns_from_the_same_centres(blobs):
    """One stage of the augmented space, by KMeans on the stacked matrix."""
    model = GreedyPartitions(3, n_candidates=10, standardize=True, random_state=0)
    labels = model.fit_transform(blobs)
    Z = StandardScaler().fit_transform(blobs)
    W = stacked(Z, labels[:, :10].T, 1.0)
    winner = labels[:, np.argmin(model.losses_[:10])]
    settled = KMeans(2, init=np.array([W[winner == c].mean(axis=0) for c in range(2)]), n_init=1, tol=0).fit(W)
    for i, row in enumerate(model.candidates_[10:]):
        centres = np.vstack([settled.cluster_centers_, W[row]])
        theirs = KMeans(3, init=centres, n_init=1, tol=0).fit(W)
        assert adjusted_rand_score(theirs.labels_, labels[:, 10 + i]) == 1
        assert model.losses_[10 + i] == pytest.approx(theirs.inertia_)


def test_the_last_of_257_clusters_keeps_its_number():
    """256 is the first label that takes more than a byte."""
    X = np.arange(257.0)[:, None]
    space = Space(X, np.empty((257, 0), dtype=np.uint8), np.zeros(1, dtype=np.int64), np.empty(0))
    stage = grow_stage(space, Centres(X[:256].T.copy(), np.empty((0, 256))), np.array([256]), 10, 1)
    assert_array_equal(stage.best(), np.arange(257))


def test_the_bound_of_the_rounding_error_holds_for_heavy_partitions():
    """Where partitions weigh more than the features, too: distances to the nearest centre, as whole numbers give it."""
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(3, size=(60, 4)).astype(np.uint8), np.array([1e6, 3.0, 7e5, 11.0])
    space = Space(np.zeros((60, 1)), codes, np.array([0, 3, 6, 9, 12]), weights)
    clusters = (np.arange(60) % 7).astype(np.int32)
    found = space.nearest(space.centres(clusters, 7)).first
    one_hot = (codes[:, :, None] == np.arange(3)).reshape(60, 12).astype(int).tolist()
    members = [[row for row, c in zip(one_hot, clusters, strict=True) if c == k] for k in range(7)]
    centres = [[Fraction(sum(column), len(rows)) for column in zip(*rows, strict=True)] for rows in members]
    w = np.repeat(weights.astype(int), 3).tolist()
    exact = [
        min(sum(u * (x - c) ** 2 for u, x, c in zip(w, row, centre, strict=True)) for centre in centres)
        for row in one_hot
    ]
    error = max(abs(Fraction(a) - b) for a, b in zip(found.tolist(), exact, strict=True))
    assert 0 < error <= space.rounding


def test_global_k_means():
    """augment=None with every object tried is no worse than the best of 50 starts of k-means."""
    X = load_wine().data
    model = GreedyPartitions(4, n_candidates="all", augment=None, standardize=True).fit(X)
    Z = StandardScaler().fit_transform(X)
    assert model.losses_.shape == (3 * 178,)
    assert model.inertia_ == pytest.approx(model.losses_[model.winner_])
    assert model.inertia_ <= KMeans(4, n_init=50, random_state=0).fit(Z).inertia_ * 1.001
    nearest = ((X[:, None] / X.std(axis=0) - model.centers_ / X.std(axis=0)) ** 2).sum(axis=2).argmin(axis=1)
    assert_array_equal(nearest, model.labels_)


def test_second_cluster_of_a_line():
    """1-D {0, 1, 2, 9, 10, 11, 20}: all starts tried, the best 2-means is {0, 1, 2 | 9, 10, 11, 20}."""
    X = np.array([[0.0], [1], [2], [9], [10], [11], [20]])
    model = GreedyPartitions(2, n_candidates="all", augment=None).fit(X)
    assert_array_equal(model.labels_ == model.labels_[0], [1, 1, 1, 0, 0, 0, 0])
    assert_allclose(np.sort(model.centers_.ravel()), [1, 12.5])
    assert model.inertia_ == pytest.approx(2 + 77)


def test_shapes_and_names(blobs):
    model = GreedyPartitions(4, random_state=0)
    labels = model.fit_transform(blobs)
    assert labels.shape == (150, 59 * 3)
    assert labels.dtype == np.int32
    assert_array_equal(labels.max(axis=0) + 1, model.n_clusters_)
    assert_array_equal(np.unique(model.n_clusters_, return_counts=True), [[2, 3, 4], [59] * 3])
    names = model.get_feature_names_out()
    assert (names[0], names[-1]) == ("greedy_k2_0", "greedy_k4_58")
    assert all(len(np.unique(rows)) == 59 for rows in model.candidates_.reshape(3, 59))


@pytest.mark.parametrize("augment", ["all", "last", None])
def test_transform_of_the_same_rows(blobs, augment):
    model = GreedyPartitions(5, n_candidates=20, augment=augment, random_state=0)
    labels = model.fit_transform(blobs)
    assert_array_equal(model.transform(blobs), labels)
    assert_array_equal(model.transform(blobs[:7]), labels[:7])


@pytest.mark.parametrize("X", [load_iris().data, np.indices((5, 5, 2)).reshape(3, -1).T])
def test_transform_of_the_same_rows_with_ties(X):
    model = GreedyPartitions(5, random_state=0)
    labels = model.fit_transform(X)
    assert_array_equal(model.transform(X), labels)


def test_threads_change_nothing(blobs):
    one, two = (GreedyPartitions(4, n_jobs=j, random_state=0).fit_transform(blobs) for j in (1, 2))
    assert_array_equal(one, two)


def test_bounds_change_nothing(blobs, monkeypatch):
    """An infinite error bound makes every row be looked at."""
    fast = GreedyPartitions(5, random_state=0).fit(blobs)
    monkeypatch.setattr(Space, "rounding", property(lambda self: 1e9))
    slow = GreedyPartitions(5, random_state=0).fit(blobs)
    assert_array_equal(fast.losses_, slow.losses_)
    assert_array_equal(fast.labels_, slow.labels_)


def test_units_do_not_matter_when_standardised(blobs):
    a = GreedyPartitions(3, standardize=True, random_state=0).fit(blobs)
    b = GreedyPartitions(3, standardize=True, random_state=0).fit(blobs * [1000, 0.01, 1, 5] + 7)
    assert adjusted_rand_score(a.labels_, b.labels_) == 1
    assert a.inertia_ == pytest.approx(b.inertia_)


def test_constant_feature(blobs):
    with_constant = np.column_stack([blobs, np.full(150, 0.1)])
    a, b = (GreedyPartitions(3, standardize=True, random_state=0).fit(X) for X in (blobs, with_constant))
    assert_array_equal(a.labels_, b.labels_)


def test_number_of_candidates():
    assert GreedyPartitions.n_candidates_for() == 59
    assert GreedyPartitions.n_candidates_for(0.95, 0.05) == 59
    assert pytest.approx(0.95151, abs=1e-5) == 1 - 0.95**59
    assert GreedyPartitions.n_candidates_for(0.99, 0.5) == 7
    with pytest.raises(ValueError, match=r"p of n_candidates_for must be a number > 0 and < 1. Got 1"):
        GreedyPartitions.n_candidates_for(0.5, 1)


def test_as_many_candidates_as_objects_are_all(blobs):
    models = [GreedyPartitions(2, n_candidates=n, random_state=0).fit(blobs) for n in ("all", 150, 151)]
    for model in models:
        assert_array_equal(model.candidates_, np.arange(150))
        assert_array_equal(model.losses_, models[0].losses_)


def test_a_feature_whose_spread_is_too_small_for_a_float():
    X = np.column_stack([np.arange(12) % 2 * 1e-200, np.arange(12.0)])
    for found in (GreedyPartitions(2, n_candidates=3, standardize=True, random_state=0).fit_transform(X),):
        assert found.max() == 1


def test_more_candidates_than_objects():
    X = np.arange(12.0).reshape(6, 2)
    labels = GreedyPartitions(3, random_state=0).fit_transform(X)
    assert labels.shape == (6, 12)


def test_one_cluster(blobs):
    model = GreedyPartitions(1, standardize=True, random_state=0)
    assert_array_equal(model.fit_transform(blobs), np.zeros((150, 1)))
    assert model.inertia_ == pytest.approx(model.losses_[0]) == pytest.approx(150 * 4)
    assert_array_equal(model.transform(blobs), np.zeros((150, 1)))


def test_repeated_rows_fill_every_cluster():
    """A candidate on top of a centre has no members of its own: the farthest object takes its place."""
    X = np.repeat([[0.0, 0], [0, 1], [5, 5], [9, 0]], 10, axis=0)
    model = GreedyPartitions(4, random_state=0)
    labels = model.fit_transform(X)
    assert_array_equal([len(np.unique(z)) for z in labels.T], model.n_clusters_)
    assert model.inertia_ == pytest.approx(0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": None}, "n_clusters of GreedyPartitions must be a whole number ≥ 1. Got None"),
        ({"n_clusters": 0}, "n_clusters of GreedyPartitions must be a whole number ≥ 1. Got 0"),
        ({"n_clusters": 4}, r"n_clusters of GreedyPartitions must be ≤ the 3 distinct rows of X \(n_samples=6\)"),
        ({"n_candidates": 0}, "n_candidates of GreedyPartitions must be a whole number ≥ 1, or 'all'"),
        ({"n_candidates": "some"}, "n_candidates of GreedyPartitions must be a whole number ≥ 1, or 'all'"),
        ({"augment": "first"}, "augment of GreedyPartitions must be one of 'all', 'last', or None"),
        ({"partition_weight": -1}, "partition_weight of GreedyPartitions must be a number ≥ 0"),
        ({"max_iter": 0}, "max_iter of GreedyPartitions must be a whole number from 1 to"),
        ({"partition_weight": 1e308}, r"partition_weight of GreedyPartitions must be ≤ 1e\+140"),
    ],
)
@pytest.mark.parametrize("estimator", [GreedyPartitions, GreedyKMeansConsensus])
def test_bad_input(estimator, parameters, message):
    X = np.repeat([[0.0], [1.0], [2.0]], 2, axis=0)
    with pytest.raises(ValueError, match=message.replace("GreedyPartitions", estimator.__name__)):
        estimator(**{"n_clusters": 2, **parameters}).fit(X)


@pytest.mark.parametrize("estimator", [GreedyPartitions, GreedyKMeansConsensus])
@pytest.mark.parametrize("standardize", [False, True])
def test_features_are_looked_at_before_parameters(estimator, standardize):
    with pytest.raises(ValueError, match=f"X of {estimator.__name__} must have no missing numbers"):
        estimator(None).fit([[0.0], [np.nan]])
    with pytest.raises(ValueError, match=f"X of {estimator.__name__} must be between .* Got 1e\\+200"):
        estimator(2, standardize=standardize).fit([[0.0], [1e200], [1.0]])


# ---- GKCC ----


def test_gkcc_is_kcc_from_the_winner(blobs):
    model = GreedyKMeansConsensus(5, random_state=0).fit(blobs)
    generator = GreedyPartitions(5, random_state=0)
    labels = generator.fit_transform(blobs)
    assert_array_equal(np.asarray(model.ensemble_), labels)
    kcc = KMeansConsensus(5, init=generator.labels_).fit(labels)
    assert_array_equal(model.labels_, kcc.labels_)
    assert model.objective_ == pytest.approx(kmeans_loss(labels, model.labels_))
    assert model.objective_ <= kmeans_loss(labels, generator.labels_) + 1e-9
    assert_array_equal(model.predict(blobs), model.labels_)
    assert_array_equal(clone(model).fit(blobs).labels_, model.labels_)


def test_gkcc_finds_blobs_and_keeps_names():
    X, truth = make_blobs(300, 3, centers=5, random_state=1)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = GreedyKMeansConsensus(5, random_state=0).fit(frame)
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.ensemble_.names[:2] == ["greedy_k2_0", "greedy_k2_1"]
    assert np.all((model.confidence_ > 0) & (model.confidence_ <= 1))


@pytest.mark.parametrize(
    "parameters",
    [
        {"utility": "entropy"},
        {"utility": "entropy", "smoothing": 0.1},
        {"utility": "lp"},
        {"utility": "lp", "exponent": 2},
        {"normalize": True},
        {"refine": "density"},
    ],
)
def test_gkcc_with_other_consensus(blobs, parameters):
    model = GreedyKMeansConsensus(4, n_candidates=10, max_iter=2, random_state=0, **parameters).fit(blobs)
    kcc = KMeansConsensus(4, init=model.generator_.labels_, max_iter=2, **parameters).fit(model.ensemble_)
    assert_array_equal(model.labels_, kcc.labels_)
    assert model.objective_ == kcc.objective_
    assert_array_equal(model.consensus_._centroids.centroids, kcc._centroids.centroids)
    assert model.consensus_.get_params().items() >= parameters.items()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"utility": "rand"}, "utility of GreedyKMeansConsensus must be one of 'category'"),
        ({"exponent": 1}, "exponent of GreedyKMeansConsensus must be a number > 1"),
        ({"smoothing": 0}, "smoothing of GreedyKMeansConsensus must be a number > 0 and < 1"),
        ({"refine": "loss"}, "refine of GreedyKMeansConsensus must be 'density', or None"),
    ],
)
def test_gkcc_names_itself(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        GreedyKMeansConsensus(3, **parameters).fit(blobs)


def test_one_object_is_too_few():
    with pytest.raises(ValueError, match="X of GreedyKMeansConsensus must have at least 2 objects"):
        GreedyKMeansConsensus(1).fit(np.zeros((1, 2)))


# ---- Subspaces and projections ----


def test_each_partition_sees_its_own_features(blobs):
    noise = np.random.default_rng(0).normal(size=(150, 4))
    X = np.hstack([blobs, noise])
    model = SubspacePartitions(30, feature_fraction=0.25, k_min=3, k_max=3, random_state=0)
    labels = model.fit_transform(X)
    assert all(len(columns) == 2 for columns in model.estimators_features_)
    assert len({tuple(columns) for columns in model.estimators_features_}) > 10
    assert_array_equal(np.unique(np.concatenate(model.estimators_features_)), np.arange(8))
    for columns, estimator, z in zip(model.estimators_features_, model.estimators_, labels.T, strict=True):
        assert_array_equal(estimator.predict(X[:, columns]), z)
    assert_array_equal(model.transform(X), labels)


def test_all_features_are_no_subspace(blobs):
    model = SubspacePartitions(2, feature_fraction=1.0, random_state=0).fit(blobs)
    assert_array_equal(model.estimators_features_, [range(4)] * 2)


def test_projections_differ_and_have_the_dimensions_asked_for(blobs):
    for n_components, expected in [(3, 3), (0.5, 2), (1.0, 4), (1, 1), (0.01, 1)]:
        model = ProjectionPartitions(5, n_components=n_components, random_state=0)
        labels = model.fit_transform(blobs)
        matrices = [pipeline[0].components_ for pipeline in model.estimators_]
        assert all(matrix.shape == (expected, 4) for matrix in matrices)
        assert len({matrix.tobytes() for matrix in matrices}) == 5
        assert_array_equal(model.transform(blobs), labels)


@pytest.mark.parametrize("generator", [SubspacePartitions, ProjectionPartitions])
def test_what_they_share_with_other_generators(generator, blobs):
    labels = generator(12, k_min=2, k_max=5, random_state=0).fit_transform(blobs)
    assert_array_equal(generator(12, k_min=2, k_max=5, n_jobs=2, random_state=0).fit_transform(blobs), labels)
    k = labels.max(axis=0) + 1
    assert set(k) == {2, 3, 4, 5}
    model = generator(6, k_min=3, k_max=3, estimator=AgglomerativeClustering(), random_state=0)
    assert_array_equal(model.fit_transform(blobs), model.transform(blobs))
    assert model.get_feature_names_out()[0] == "agglomerativeclustering_k3_0"
    with pytest.raises(ValueError, match=f"k_max of {generator.__name__} must be ≤ the 150 rows"):
        generator(2, k_max=200).fit(blobs)


@pytest.mark.parametrize(
    ("generator", "message"),
    [
        (
            SubspacePartitions(feature_fraction=0.0),
            "feature_fraction of SubspacePartitions must be a number > 0",
        ),
        (
            ProjectionPartitions(n_components=5),
            "n_components of ProjectionPartitions must be ≤ the 4 features of X. Got 5",
        ),
        (
            ProjectionPartitions(n_components=1.5),
            r"n_components of ProjectionPartitions must be .* or a number > 0 and ≤ 1",
        ),
        (ProjectionPartitions(n_components=0), "n_components of ProjectionPartitions must be a whole number ≥ 1"),
    ],
)
def test_bad_subspaces(generator, message, blobs):
    with pytest.raises(ValueError, match=message):
        generator.fit(blobs)


@pytest.mark.slow
@parametrize_with_checks([GreedyKMeansConsensus(2, n_candidates=5)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([GreedyPartitions(2, n_candidates=5), SubspacePartitions(3), ProjectionPartitions(3)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_scikit_learn_of_partitions(estimator, check):
    check(estimator)
