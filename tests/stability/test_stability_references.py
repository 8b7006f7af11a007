"""What numbers of clusters are compared with: unimodal references, persistence of components, gaps."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from representatives import first_of
from scipy.spatial.distance import cdist
from scipy.stats import skew
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs

from ensemblage.base.random import task_seeds
from ensemblage.kernels._points import BLOCK, best_of_starts, iterate, spread_seeds
from ensemblage.kernels._squares import best_of_starts_by_squares, cores_by_squares, cores_of_points, nearest_of_rows
from ensemblage.stability._gap import Gaps, first_that_lasts, gaps, log_within, log_within_by_k
from ensemblage.stability._reference import UnimodalComponents, decreasing, half_mode, unimodal
from ensemblage.stability._structure import (
    N_STARTS,
    ClusterStatistics,
    SequentialTest,
    cluster_statistics,
    count_components,
    largest_deviations,
    pad_persistences,
    persistences,
    squares_of_pairs,
    structure_p_value,
)

IRIS = load_iris().data


def draws(X, n=40):
    reference = UnimodalComponents(X)
    return np.vstack([reference.draw(seed) for seed in range(n)])


def rng(seed=0):
    return np.random.default_rng(seed)


# ---- Unimodal components ----


def test_shortest_half():
    assert half_mode(np.array([-1.0, -1, 1, 1])) == 0  # more than half: both points
    assert half_mode(np.array([0.0, 1, 2, 10, 20])) == 1
    assert half_mode(np.array([0.0, 4])) == 2
    assert half_mode(np.array([0.0, 1, 5, 6, 9])) == 7  # [0, 5], [1, 6] and [5, 9]


def test_least_concave_majorant():
    shares, values = decreasing(np.array([3.0, 4.0, 4.0, 10.0]))
    assert_allclose(shares, [0, 0.5625, 0.75, 1])  # (0, 0), (4, 3/4), (10, 1); 3 lies on the first line
    assert_allclose(values, [0, 3, 4, 10])
    shares, values = decreasing(np.array([0.0, 0, 2]))
    assert_allclose(shares, [0, 2 / 3, 1])
    assert_allclose(values, [0, 0, 2])
    assert_allclose(decreasing(np.array([]))[1], [0, 0])
    assert_allclose(decreasing(np.zeros(3))[1], [0, 0])


@pytest.mark.parametrize("seed", range(10))
def test_the_majorant_is_concave_above_and_least(seed):
    distances = np.sort(rng(seed).gamma(0.5 + seed / 4, size=30).round(2))
    shares, values = decreasing(distances)
    if values[1] == 0:  # the share at 0
        shares, values = shares[1:], values[1:]
    ecdf = (distances <= values[:, None]).mean(axis=1)
    assert (shares >= ecdf - 1e-12).all()
    slopes = np.diff(shares)[np.diff(values) > 0] / np.diff(values)[np.diff(values) > 0]
    assert (np.diff(slopes) <= 1e-9).all()
    touches = np.isclose(shares, ecdf)
    bends = np.flatnonzero(~np.isclose(slopes[1:], slopes[:-1])) + 1
    assert touches[bends].all()


def test_two_points_become_a_uniform():
    shares, values = unimodal(np.repeat([-1.0, 1.0], 50))
    u = np.linspace(0, 1, 21)
    assert_allclose(np.interp(u, shares, values), 2 * u - 1, atol=1e-9)


def test_two_clusters_become_flat_between_their_means():
    x = np.concatenate([rng(0).normal(-4, 1, 500), rng(1).normal(4, 1, 500)])
    drawn = draws(x[:, None], 20)[:, 0]
    counts, _ = np.histogram(drawn, np.linspace(-4, 4, 9))
    assert counts.min() > 0.8 * counts.mean()
    middle, side = (np.abs(x) < 1).mean(), (np.abs(drawn) < 1).mean()
    assert middle < 0.01 < 0.12 < side


def test_covariance_stays():
    for d in (2, 6):
        root = rng(d).normal(size=(d, d))
        X = rng(1).normal(size=(500, d)) @ root + 7
        drawn = draws(X)
        scale = np.sqrt(np.diag(np.cov(X.T)))
        assert_allclose(np.cov(drawn.T) / np.outer(scale, scale), np.cov(X.T) / np.outer(scale, scale), atol=0.12)
        assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.1 * scale.max())


def test_skewness_and_tails_stay():
    x = rng(0).exponential(size=800)[:, None]
    assert skew(draws(x)[:, 0]) == pytest.approx(skew(x[:, 0]), rel=0.15)
    t = rng(0).standard_t(3, size=800)[:, None]
    assert np.abs(draws(t)).max() == pytest.approx(np.abs(t).max(), rel=0.2)
    far = [np.quantile(np.abs(x - np.median(x)), 0.99) for x in (t, draws(t))]
    assert far[0] == pytest.approx(far[1], rel=0.15)


def test_a_reference_on_the_features_has_their_shape():
    X = np.random.default_rng(0).normal(size=(30, 3))
    assert UnimodalComponents(X, rotated=False).draw(0).shape == X.shape


def test_a_reference_has_the_seed_and_shape_of_the_data():
    X = rng(0).normal(size=(9, 30))
    reference = UnimodalComponents(X)
    assert reference.draw(0).shape == X.shape
    assert_array_equal(reference.draw(5), UnimodalComponents(X).draw(5))
    assert not np.array_equal(reference.draw(5), reference.draw(6))
    moved = UnimodalComponents(X + 100).draw(5)
    assert_allclose(moved, reference.draw(5) + 100)
    constant = np.column_stack([X[:, :2], np.ones(9)])
    assert_allclose(UnimodalComponents(constant).draw(0)[:, 2], 1)


@pytest.mark.parametrize("d", [3, 12, 13, 200])
def test_what_wide_data_show_is_what_all_their_coordinates_show(d):
    X = rng(d).normal(size=(12, d)) + 3 * (np.arange(12) % 3)[:, None]
    found = cluster_statistics(X, 4, 7)
    log_w = log_within_by_k(X, range(1, 5), N_STARTS, int(task_seeds(7, 1)[0]))
    assert_allclose(found.log_within, log_w - log_w[0], rtol=1e-9)
    assert_allclose(found.persistences, pad_persistences(persistences(X), 3), rtol=1e-9)


# ---- Persistence ----


@pytest.mark.parametrize("seed", range(6))
def test_persistences_as_the_naive_twin(seed):
    X = make_blobs(40, n_features=3, centers=3, cluster_std=2, random_state=seed)[0]
    assert_allclose(persistences(X), naive.persistences(X, 5, 5))  # log2 40 = 5.3, .04 · 40 = 1.6


def test_more_objects_ask_for_more_members_and_neighbours():
    X = rng(0).normal(size=(150, 2))
    assert_allclose(persistences(X), naive.persistences(X, 7, 6))


def test_persistences_do_not_depend_on_order_or_unit():
    X = make_blobs(60, centers=3, random_state=1)[0]
    found = persistences(X)
    assert_allclose(persistences(X[::-1]), found)
    assert_allclose(persistences(5 * X + 3), found)
    assert_array_equal(found, np.sort(found)[::-1])


def test_three_far_clusters_of_any_shape_have_two_long_lives():
    X = make_blobs(150, centers=[(0, 0), (0, 30), (30, 0)], random_state=0)[0]
    found = persistences(X)
    assert found[1] > 1.5
    assert pad_persistences(found, len(found) + 2)[-2:].tolist() == [0, 0]
    assert pad_persistences(found, 1).tolist() == [found[0]]
    references = UnimodalComponents(X)
    largest = np.array([pad_persistences(persistences(references.draw(seed)), 1)[0] for seed in range(10)])
    assert count_components(found, largest) == 3


def test_equal_objects_have_finite_lives():
    X = np.repeat([[0.0], [1.0], [3.0]], 10, axis=0)
    assert_allclose(persistences(X), [np.log(2), 0])
    assert persistences(np.zeros((20, 2))).tolist() == []


# ---- Gaps ----


@pytest.mark.parametrize(
    ("k", "expected"),
    [(1, 5.830959), (2, 4.349936), (3, 3.681922), (4, 3.535529), (5, 3.346721), (6, 3.318349)],
)
def test_within_as_cluster(k, expected):
    """R's clusGap with d.power = 2, whose W is half of ours."""
    labels = AgglomerativeClustering(k, linkage="average").fit_predict(IRIS).astype(np.int32)
    assert log_within(IRIS, labels, k) - np.log(2) == pytest.approx(expected, abs=6e-7)


def test_within_by_k():
    X = make_blobs(90, centers=[(0, 0), (0, 12), (12, 0)], random_state=0)[0]
    found = log_within_by_k(X, [1, 2, 3, 4], 4, 0)
    assert found[0] == pytest.approx(np.log(((X - X.mean(axis=0)) ** 2).sum()))
    assert (np.diff(found) < 0).all()
    assert_array_equal(found, log_within_by_k(X, [1, 2, 3, 4], 4, 0))
    assert_array_equal(found[2:], log_within_by_k(X, [3, 4], 4, 0))
    assert not np.array_equal(log_within_by_k(X, [9], 1, 0), log_within_by_k(X, [9], 1, 1))
    assert_allclose(found, log_within_by_k(X + 1e4, [1, 2, 3, 4], 4, 0), rtol=1e-6)
    many = log_within_by_k(X, [8, 9], 20, 0)
    assert (many <= log_within_by_k(X, [8, 9], 1, 0)).all()
    assert log_within_by_k(X[:3], [5], 1, 0)[0] == -np.inf


def work_of_iterate(n, k):
    return np.empty(n), np.empty(k, dtype=np.int64), np.empty(k * BLOCK), np.empty(BLOCK, dtype=np.int32)


@pytest.mark.parametrize("seed", range(6))
def test_iterations_as_of_scikit_learn(seed):
    X = rng(seed).normal(size=(80, 3 + seed))
    k = 2 + seed
    centres = X[rng(seed).choice(80, k, replace=False)].copy()
    model = KMeans(k, init=centres.copy(), n_init=1, tol=0).fit(X)
    labels = np.empty(80, dtype=np.int32)
    within = iterate(X, np.ascontiguousarray(X.T), centres, labels, *work_of_iterate(80, k), 300)
    assert within == pytest.approx(model.inertia_)
    assert_array_equal(labels, model.labels_)
    assert_allclose(centres, model.cluster_centers_)


def test_a_cluster_without_objects_begins_again():
    X = np.array([[0.0], [1.0], [10.0]])
    centres, labels = np.array([[0.0], [500.0], [600.0]]), np.empty(3, dtype=np.int32)
    assert iterate(X, np.ascontiguousarray(X.T), centres, labels, *work_of_iterate(3, 3), 300) == 0
    assert len(set(labels.tolist())) == 3
    equal = np.ones((4, 1))
    assert best_of_starts(equal, np.full((2, 3), 0.5), 300, np.empty(4, dtype=np.int32)) == 0


def test_seeds_are_far_apart():
    X = np.array([[0.0], [0.0], [0.0], [5.0], [9.0]])
    for seed in range(20):
        centres = np.empty((3, 1))
        spread_seeds(X.T.copy(), rng(seed).random(3), np.empty(5), centres)
        assert sorted(centres.ravel()) == [0, 5, 9]
    first = np.empty((1, 1))
    spread_seeds(X.T.copy(), np.array([0.99]), np.empty(5), first)
    assert first[0, 0] == 9
    second = np.empty((2, 1))
    spread_seeds(X.T.copy(), np.array([0.0, 25.1 / 106]), np.empty(5), second)  # squared distances 0, 0, 0, 25, 81
    assert second[1, 0] == 9


@pytest.mark.parametrize("seed", range(6))
def test_k_means_by_squared_distances(seed):
    X, k = make_blobs(150, n_features=50, centers=4, cluster_std=3 + seed, random_state=seed)[0], 2 + 2 * seed
    uniforms, ours, theirs = rng(seed).random((3, k)), np.empty(150, dtype=np.int32), np.empty(150, dtype=np.int32)
    squares = squares_of_pairs(X)
    assert best_of_starts_by_squares(squares, uniforms, 300, ours) == pytest.approx(
        best_of_starts(X, uniforms, 300, theirs)
    )
    assert_array_equal(ours, theirs)


def test_k_means_by_squared_distances_as_the_naive_twin():
    X = make_blobs(60, n_features=45, centers=3, random_state=0)[0]
    uniforms, labels = rng(0).random((4, 3)), np.empty(60, dtype=np.int32)
    total, expected = naive.kmeans_of_starts(X, uniforms, 300)
    assert best_of_starts_by_squares(squares_of_pairs(X), uniforms, 300, labels) == pytest.approx(total)
    assert_array_equal(labels, expected)


def test_squared_distances_of_all_pairs():
    X = 1e3 + rng(0).normal(size=(60, 41))
    X[7] = X[3]
    squares = squares_of_pairs(X)
    assert_allclose(squares, cdist(X, X, "sqeuclidean"), rtol=1e-9, atol=1e-9)
    assert squares[3, 7] == squares[7, 3] == squares[5, 5] == 0
    assert_array_equal(squares, squares.T)
    assert squares_of_pairs(X[:, :39]) is None


def test_copies_by_squared_distances():
    """Fewer different objects than clusters: every cluster that has objects is one of them."""
    X = np.repeat(rng(0).normal(size=(3, 50)), 10, axis=0)
    squares, labels = squares_of_pairs(X), np.empty(30, dtype=np.int32)
    for k in (3, 5):
        assert best_of_starts_by_squares(squares, rng(k).random((4, k)), 300, labels) == pytest.approx(0, abs=1e-9)
        assert len(np.unique(labels.reshape(3, 10), axis=1).T) == len({tuple(row) for row in labels.reshape(3, 10).T})
        assert len(set(labels[::10].tolist())) == 3
    assert persistences(X, squares) == pytest.approx(persistences(X))


def test_persistences_by_squared_distances():
    X = make_blobs(200, n_features=45, centers=3, random_state=0)[0]
    assert_allclose(persistences(X, squares_of_pairs(X)), persistences(X), rtol=1e-9)


def test_core_distances():
    X = rng(0).normal(size=(70, 3))
    X[5] = X[6]
    core = np.empty(70)
    cores_of_points(X, np.empty(5), core)
    expected = np.sort(cdist(X, X, "sqeuclidean"), axis=1)[:, 4]
    assert_allclose(core, expected)
    cores_by_squares(cdist(X, X, "sqeuclidean"), np.empty(5), core)
    assert_allclose(core, expected)


def test_nearest_of_rows_is_a_stable_sort():
    distances = rng(0).integers(0, 12, size=(40, 30)).astype(float)
    distances[3] = np.inf
    nearest, lengths = np.empty((40, 7), dtype=np.int64), np.empty((40, 7))
    nearest_of_rows(distances, nearest, lengths)
    assert_array_equal(nearest, np.argsort(distances, axis=1, kind="stable")[:, :7])
    assert_array_equal(lengths, np.sort(distances, axis=1)[:, :7])


def test_draws_are_interpolated_as_numpy_does():
    X = rng(0).normal(size=(80, 11))
    X[:30] = X[:30].round()
    X[:, 4] = 1.0
    cloud, shares = UnimodalComponents(X, rotated=False), np.random.RandomState(3).random_sample(X.shape)
    expected = [np.interp(u, *unimodal(x)) for u, x in zip(shares.T, cloud.of_data.T, strict=True)]
    assert_array_equal(cloud.scores(3), np.column_stack(expected))


def test_the_best_start_counts_and_its_labels():
    X = make_blobs(120, centers=6, cluster_std=0.5, random_state=2)[0]
    uniforms, labels = rng(0).random((10, 6)), np.empty(120, dtype=np.int32)
    each = [best_of_starts(X, uniforms[i : i + 1], 300, labels) for i in range(10)]
    best = best_of_starts(X, uniforms, 300, labels)
    assert best == min(each) < max(each)
    assert log_within(X, labels, 6) == pytest.approx(np.log(best))
    assert best == pytest.approx(KMeans(6, n_init=20, random_state=0).fit(X).inertia_)


def test_gaps_as_in_the_paper():
    reference = rng(0).normal(size=(7, 4))
    found = gaps(np.arange(4.0), reference)
    assert_allclose(found.gap, reference.mean(axis=0) - np.arange(4))
    assert_allclose(found.s, np.sqrt(((reference - reference.mean(axis=0)) ** 2).mean(axis=0)) * np.sqrt(8 / 7))


@pytest.mark.parametrize(("steps", "k"), [(1, 3), (2, 6)])
def test_rule_of_one_and_two_steps(steps, k):
    """One step as maxSE of R's cluster, "Tibs2001SEmax"."""
    found = Gaps(np.array([0.10, 0.35, 0.62, 0.60, 0.66, 0.70]), np.array([0.02, 0.02, 0.03, 0.03, 0.03, 0.03]))
    assert first_that_lasts(found, range(1, 7), steps) == k
    assert first_that_lasts(Gaps(np.array([1.0, 0.5]), np.zeros(2)), [1, 2]) == 1
    assert first_that_lasts(Gaps(np.array([0.1, 0.5]), np.zeros(2)), [4, 5]) == 5


# ---- Structure ----


def test_deviations_are_from_all_others():
    values = rng(0).normal(size=(9, 3))
    expected = []
    for i in range(9):
        others = [values[j] for j in range(9) if j != i]
        expected.append(max((values[i] - np.mean(others, axis=0)) / np.std(others, axis=0, ddof=1)))
    assert_allclose(largest_deviations(values), expected)
    assert_allclose(largest_deviations(5 * values + 3), expected)


def test_p_value_counts_the_references_that_deviate_as_much():
    references = rng(0).normal(size=(19, 4))
    assert structure_p_value(np.full(4, 50.0), references) == 1 / 20
    assert structure_p_value(references.min(axis=0) - 1, references) == 1
    values = np.vstack([references[3] + 0.1, references])
    largest = largest_deviations(values)
    assert structure_p_value(values[0], references) == (1 + (largest[1:] >= largest[0]).sum()) / 20


def test_p_values_of_exchangeable_sets_are_uniform():
    source = rng(1)
    found = [structure_p_value(*np.split(source.gumbel(size=(20, 6)), [1])) for _ in range(400)]
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(found) == pytest.approx(0.525, abs=0.05)


def test_columns_that_do_not_vary():
    references = np.column_stack([np.zeros(19), rng(0).normal(size=19)])
    assert structure_p_value(np.array([0.1, 0.0]), references) == 1 / 20
    assert structure_p_value(np.array([-0.1, 0.0]), references) > 0.05
    assert structure_p_value(np.zeros(1), np.zeros((19, 1))) == 1


# ---- References that come one by one ----


def sequential(rows, n_references):
    """The test of the first row against the others, to where it stops."""
    test = SequentialTest(rows[0], n_references)
    for row in rows[1:]:
        if test.stops(ClusterStatistics(np.array([0.0, *-row[:-2]]), np.array([row[-2], 0.0]))):
            break
    return test.result()


def exchangeable(source, n_references, above=0.0):
    """(1 + n, 5) rows, whose last persistence is the sum of all."""
    rows = source.gumbel(size=(1 + n_references, 5))
    rows[0] += above
    rows[:, -1] = rows[:, -2]
    return rows


@pytest.mark.parametrize("n_references", first_of([39, 99, 110]))
def test_a_test_that_stops_never_finds_more(n_references):
    source, both, drawn = rng(n_references), [], []
    for trial in range(120):
        rows = exchangeable(source, n_references, above=2.0 * (trial % 3))
        found = sequential(rows, n_references)
        whole = structure_p_value(rows[0], rows[1:])
        both.append((found.found, whole <= 0.05))
        drawn.append(found.n_references)
        assert found.n_left_out == n_references - found.n_references
        assert found.n_left_out or found.p_value == whole
        assert not (found.found and found.n_left_out)
    assert all(full or not early for early, full in both)
    assert np.mean([early == full for early, full in both]) >= 0.95
    assert np.mean(drawn[::3]) < 0.6 * n_references


def test_p_value_where_the_test_stops():
    """Of 99 references 5 must show as much; the fifth is the eighth: p = 5 / 8."""
    rows = np.zeros((100, 5))
    rows[:, 0] = rng(0).normal(size=100) / 100
    rows[0, 0], rows[[1, 2, 4, 6, 8], 0] = 1.0, 2.0
    found = sequential(rows, 99)
    assert (found.n_references, found.n_left_out, found.p_value) == (19, 80, 5 / 8)
    rows[8, 0] = 0.0
    assert sequential(rows, 99).n_references == 99


def test_few_references_are_all_drawn():
    rows = exchangeable(rng(0), 19)
    rows[0] = -5.0
    assert sequential(rows, 19).n_references == 19
    assert sequential(exchangeable(rng(0), 5), 5).n_references == 5
