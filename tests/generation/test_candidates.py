"""Candidate partitions: their kernels against scikit-learn and slow twins, their views, the generator of them."""

import naive
import numpy as np
import pytest
from limits import limit
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from scipy.spatial.distance import cdist
from scipy.stats import kurtosis, skew
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import (
    adjusted_rand_score,
    calinski_harabasz_score,
    davies_bouldin_score,
    silhouette_score,
)
from sklearn.mixture import GaussianMixture
from sklearn.utils.estimator_checks import parametrize_with_checks

from ensemblage import ConsensusClustering
from ensemblage.base.random import settled_rows
from ensemblage.choices import _partition_features
from ensemblage.choices._candidate_features import (
    AGREEMENT,
    DEFAULT,
    FAMILIES,
    OF_SET,
    Geometry,
    all_candidates,
    describe,
    describe_again,
    feature_names,
    numbers_beside,
    of_set,
)
from ensemblage.choices._chooser import choose_candidate
from ensemblage.choices._partition_features import (
    NAMES,
    OF_GAUSSIANS,
    OF_NEIGHBOURS,
    OF_SILHOUETTES,
    OF_TREE,
    measure_partitions,
)
from ensemblage.consensus import EvidenceAccumulation
from ensemblage.generation import ScaledPartitions, _diverse
from ensemblage.generation._candidates import FAMILIES as POOL_FAMILIES
from ensemblage.generation._candidates import (
    FULL,
    LATENT,
    WIDE,
    PoolCache,
    Space,
    _order_of_threads,
    candidate_pool,
    fit_mixture,
    larger_numbers,
    numbers_of_clusters,
    pairs_of,
)
from ensemblage.generation._genie import lumbermark
from ensemblage.generation._views import VIEWS, Scales, n_signals, principal_components
from ensemblage.kernels._partition_features import pair_agreement

IRIS, WINE = load_iris().data, load_wine().data
BLOBS, _ = make_blobs(200, 4, centers=4, cluster_std=2.0, random_state=3)
START = KMeans(3, n_init=1, random_state=0).fit_predict(IRIS).astype(np.int32)
NOT_BINARY = np.zeros(4, dtype=bool)


# -- mixtures and k-means ----------------------------------------------------------------------------------------------


@pytest.fixture(params=["NumPy", "kernels"])
def by_both(request, monkeypatch):
    """Few objects in NumPy, and as if they were many."""
    if request.param == "kernels":
        limit(monkeypatch, "operations that NumPy does", -1)


@pytest.mark.parametrize("family", ["kmeans", "full", "prior", "latent", "factor"])
def test_few_objects_get_the_clusters_of_the_kernels(monkeypatch, family):
    """The bits of k-means; the sums of a mixture differ by rounding, also where columns are copies or constant."""
    near = np.random.default_rng(0).normal(size=200) * 1e-7
    X = np.column_stack([BLOBS, BLOBS[:, 0] * 2, BLOBS[:, 1] + near, np.ones(200), BLOBS[:, 2] > 0, BLOBS[:, 3] * 1e-7])
    for features in (BLOBS, X, WINE):
        few = [getattr(Space(view, features, 9), family)(k) for view in ("own", "given") for k in (2, 5, 9)]
        with monkeypatch.context() as patch:
            limit(patch, "operations that NumPy does", -1)
            many = [getattr(Space(view, features, 9), family)(k) for view in ("own", "given") for k in (2, 5, 9)]
        np.testing.assert_array_equal(few, many)


def of_sklearn(X, start, shape, steps):
    """A mixture after so many steps from a partition; the ridge is next to nothing."""
    R = np.eye(start.max() + 1)[start]
    weights = R.sum(axis=0) / len(X)
    means = (R.T @ X) / R.sum(axis=0)[:, None]
    covariances = np.array([np.cov(X[start == c].T, bias=True) for c in range(len(means))])
    precisions = {
        "full": lambda: np.linalg.inv(covariances),
        "diag": lambda: 1 / np.array([np.diag(c) for c in covariances]),
    }[shape]()
    model = GaussianMixture(
        len(means), covariance_type=shape, weights_init=weights, means_init=means, precisions_init=precisions,
        max_iter=steps, tol=0, reg_covar=0,
    )  # fmt: skip
    return model.fit(X)


@pytest.mark.parametrize(("shape", "name"), [(FULL, "full"), (LATENT, "diag")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_mixtures_are_those_of_scikit_learn(shape, name, by_both):
    labels = START.copy()
    likelihood = fit_mixture(IRIS, NOT_BINARY, shape, 1e-9, 0.0, 11, 0.0, labels, 3)
    other = of_sklearn(IRIS, START, name, 10)  # whose start is an estimate already
    np.testing.assert_array_equal(labels, other.predict(IRIS))
    assert likelihood == pytest.approx(other.score(IRIS), abs=1e-4)


def naive_latent(X, is_binary, scale, degrees, steps, start, k):
    """Latent classes by loops: Bernoulli columns have one more object of the overall share."""
    R = np.eye(k)[start]
    for _ in range(steps):
        weights = R.sum(axis=0) + 1e-9
        logs = np.tile(np.log(weights / len(X)), (len(X), 1))
        for c in range(k):
            for f in range(X.shape[1]):
                mean = (R[:, c] @ X[:, f]) / weights[c]
                if is_binary[f]:
                    p = (R[:, c] @ X[:, f] + X[:, f].mean()) / (weights[c] + 1)
                    logs[:, c] += np.where(X[:, f] == 1, np.log(p), np.log(1 - p))
                else:
                    v = (R[:, c] @ (X[:, f] - mean) ** 2 + scale * X[:, f].var()) / (weights[c] + degrees)
                    logs[:, c] += -0.5 * np.log(2 * np.pi * v) - (X[:, f] - mean) ** 2 / (2 * v)
        R = np.exp(logs - logs.max(axis=1, keepdims=True))
        R /= R.sum(axis=1, keepdims=True)
    return R.argmax(axis=1)


def test_latent_classes_of_numbers_and_of_two_values(by_both):
    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, 120)
    X = np.column_stack(
        [z + rng.normal(size=120), z * 2 + rng.normal(size=120), rng.random((120, 3)) < 0.2 + 0.3 * z[:, None]]
    )
    X = np.ascontiguousarray(X, dtype=np.float64)
    is_binary = np.array([False, False, True, True, True])
    start = rng.integers(0, 3, 120).astype(np.int32)
    labels = start.copy()
    fit_mixture(X, is_binary, LATENT, 0.1, 3.0, 12, -np.inf, labels, 3)
    np.testing.assert_array_equal(labels, naive_latent(X, is_binary, 0.1, 3.0, 12, start, 3))
    assert adjusted_rand_score(z, labels) > 0.3


def test_the_prior_keeps_a_cluster_from_collapsing(by_both):
    X = np.vstack([IRIS, np.repeat(IRIS[:1], 20, axis=0)])
    start = np.concatenate([START, np.full(20, 3)]).astype(np.int32)
    sizes = []
    for scale, degrees in ((1e-9, 0.0), (4 ** (-2 / 4), 6.0)):
        labels = start.copy()
        assert np.isfinite(fit_mixture(X, NOT_BINARY, FULL, scale, degrees, 30, 0.0, labels, 4))
        sizes.append(np.bincount(labels, minlength=4)[3])
    assert sizes[0] <= 25 < sizes[1]


def test_more_steps_and_a_smaller_tolerance_raise_the_likelihood(by_both):
    def likelihood(steps, tolerance):
        return fit_mixture(IRIS, NOT_BINARY, FULL, 1e-4, 0.0, steps, tolerance, START.copy(), 3)

    assert likelihood(1, 0.0) < likelihood(5, 0.0) < likelihood(50, 0.0)
    assert likelihood(50, 0.05) < likelihood(50, 1e-9)


def test_k_means_starts_from_the_centres_of_wards_cut(by_both):
    space = Space("own", BLOBS, 7)
    start = AgglomerativeClustering(7).fit_predict(space.X)
    centres = np.array([space.X[start == c].mean(axis=0) for c in range(7)])
    expected = KMeans(7, init=centres, n_init=1, tol=0).fit_predict(space.X)
    assert adjusted_rand_score(expected, space.kmeans(7)) == 1
    assert adjusted_rand_score(expected, start) < 1


# -- views -------------------------------------------------------------------------------------------------------------


def test_pairs_by_the_sizes_of_a_set():
    assert len(pairs_of(10_000, 50)) == 12
    assert pairs_of(500, 51) == WIDE
    assert pairs_of(501, 51) == (*WIDE, ("deviation", "spectral10"))
    X = np.random.default_rng(0).normal(size=(501, 51)) * np.linspace(1, 3, 51)
    views = {c.view for c in candidate_pool(X, [2]).candidates}
    assert "deviation" in views  # where scales are kept, as "given" where they are not
    assert "deviation" not in {c.view for c in candidate_pool(X / X.std(axis=0), [2]).candidates}


def test_views_by_their_definitions():
    rng = np.random.default_rng(1)
    X = np.column_stack([np.exp(rng.normal(size=90)), 1000 * rng.normal(size=90), rng.integers(0, 2, 90)])
    views = {name: Scales.fit(name, X).transform(X) for name in VIEWS}
    for name, Y in views.items():
        np.testing.assert_allclose(Y.mean(axis=0), 0, atol=1e-9, err_msg=name)
        assert Y.var(axis=0).mean() == pytest.approx(1)
    assert views["own"][:, 1].std() / views["own"][:, 0].std() > 100
    deviations = views["deviation"].std(axis=0)
    assert deviations[0] == pytest.approx(deviations[1])
    assert deviations[2] / deviations[0] == pytest.approx(X[:, 2].std())  # of two values: as it was
    low, middle, high = np.percentile(X[:, 0], [25, 50, 75])
    drawn_in = np.arcsinh((X[:, 0] - middle) / ((high - low) / 2))
    assert np.corrcoef(views["robust"][:, 0], drawn_in)[0, 1] == pytest.approx(1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert np.corrcoef(views["logarithm"][:, 1], np.sign(Z[:, 1]) * np.log1p(abs(Z[:, 1])))[0, 1] == pytest.approx(1)
    C = X - X.mean(axis=0)
    correlations = np.corrcoef(C)
    Y = views["rows"] * Scales.fit("rows", X).spread
    np.testing.assert_allclose(((Y[:5, None] - Y[None, :5]) ** 2).sum(axis=2) / 6, 1 - correlations[:5, :5], atol=1e-9)


@pytest.mark.parametrize("name", VIEWS)
def test_views_do_not_depend_on_units_of_all_and_take_new_rows(name):
    fitted = Scales.fit(name, WINE)
    np.testing.assert_allclose(Scales.fit(name, 8 * WINE).transform(8 * WINE), fitted.transform(WINE), atol=1e-9)
    np.testing.assert_allclose(fitted.transform(WINE[:7]), fitted.transform(WINE)[:7], atol=1e-12)
    constant = np.column_stack([WINE, np.ones(len(WINE))])
    assert np.isfinite(Scales.fit(name, constant).transform(constant)).all()


@pytest.mark.parametrize("X", [WINE, WINE[:9], np.random.default_rng(0).normal(size=(20, 300))])
def test_principal_components_keep_distances(X):
    scores, values = principal_components(X, min(X.shape))
    np.testing.assert_allclose(cdist(scores, scores), cdist(X, X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(values[:3], np.sort(np.linalg.eigvalsh(np.cov(X.T, bias=True)))[::-1][:3], rtol=1e-8)
    few, _ = principal_components(X, 2)
    np.testing.assert_allclose(few, scores[:, :2])


def test_components_above_noise():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(80, 300))
    assert n_signals(principal_components(noise, 5)[1], 80, 300) <= 1
    signal = noise + 12 * rng.normal(size=(80, 3)) @ rng.normal(size=(3, 300)) / np.sqrt(3)
    assert n_signals(principal_components(signal, 5)[1], 80, 300) == 3


# -- the pool ----------------------------------------------------------------------------------------------------------


def test_families_are_what_they_are_called():
    space = Space("deviation", WINE, 5)
    ward = AgglomerativeClustering(3).fit_predict(space.X)
    assert adjusted_rand_score(space.ward(3), ward) == 1
    centres = np.array([space.X[ward == c].mean(axis=0) for c in range(3)])
    kmeans = KMeans(3, init=centres, n_init=1, tol=0).fit_predict(space.X)
    assert adjusted_rand_score(space.kmeans(3), kmeans) == 1
    labels = {name: getattr(space, name)(3) for name in POOL_FAMILIES}
    assert len({bytes(found) for found in labels.values()}) >= 8
    assert all(found.max() <= 2 and found.dtype == np.int32 for found in labels.values())


def test_numbers_of_clusters():
    assert numbers_of_clusters(30) == [2, 3, 4, 5]
    assert numbers_of_clusters(4) == [2, 3]
    assert numbers_of_clusters(200)[-1] == 14
    assert numbers_beside(12, numbers_of_clusters(400)) == [10, 12, 14]
    assert larger_numbers(100) == []
    assert larger_numbers(400) == [24, 28, 33, 39]
    assert larger_numbers(1_500) == [39, 47, 56, 67, 80, 95, 113, 135]
    assert larger_numbers(10_000)[-1] == 190
    assert numbers_beside(2, [2, 5]) == [2]


def test_a_view_that_is_another_one_again_is_left_out():
    X = (WINE - WINE.mean(axis=0)) / WINE.std(axis=0)
    assert {c.view for c in candidate_pool(X, [3]).candidates} == {"own", "robust"}
    assert {c.view for c in candidate_pool(WINE, [3]).candidates} == {"own", "deviation", "robust"}
    with_units = candidate_pool(X, [3], units=WINE.std(axis=0))
    assert {c.view for c in with_units.candidates} == {"own", "robust", "given"}
    found = {(c.view, c.family): labels for c, labels in zip(with_units.candidates, with_units.labels, strict=True)}
    (expected,) = candidate_pool(WINE, [3], [("own", "kmeans")]).labels
    assert adjusted_rand_score(expected, found["given", "kmeans"]) == 1


def test_the_pool_does_not_depend_on_threads_nor_much_on_the_order_of_rows():
    one, two = (candidate_pool(BLOBS, [2, 4, 7], n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)
    order = np.random.default_rng(0).permutation(len(BLOBS))
    other = candidate_pool(BLOBS[order], [2, 4, 7])
    agreement = [adjusted_rand_score(a[order], b) for a, b in zip(one.labels, other.labels, strict=True)]
    assert np.mean(agreement) > 0.98


@pytest.mark.parametrize("ks", [[3], [2, 4, 7], [5, 9]])
def test_what_is_known_of_a_pool_is_not_made_again(ks, monkeypatch):
    X = make_blobs(260, 4, centers=5, cluster_std=2.0, random_state=3)[0]
    pairs = [("own", "full"), ("own", "spectral10"), ("own", "genie3"), ("own", "lumbermark"), ("robust", "kmeans")]
    known, alone = candidate_pool(X, [2, 3, 4, 7]), candidate_pool(X, ks, pairs)
    made = []
    mixture = Space.mixture
    monkeypatch.setattr(Space, "mixture", lambda self, *of: made.append(of[-1]) or mixture(self, *of))
    again = candidate_pool(X, ks, pairs, made=known)
    assert again.candidates == alone.candidates
    np.testing.assert_array_equal(again.labels, alone.labels)
    assert made == [k for k in ks if k in (5, 9)]
    assert again.spaces["own"].objects is known.spaces["own"].objects


@pytest.mark.parametrize("k", [None, 3])
def test_the_generator_takes_what_the_choice_has_made(k, monkeypatch):
    """No mixture is fitted twice; without the choice the generator fits its own."""
    X, made, mixture = BLOBS, [], Space.mixture
    noted = lambda self, X, *of: made.append((X.tobytes(), *of)) or mixture(self, X, *of)  # noqa: E731
    monkeypatch.setattr(Space, "mixture", noted)
    model = ConsensusClustering(k, random_state=0, n_jobs=1).fit(X)
    assert "_made" not in vars(model.generator_)
    features, of_both = model.preprocessor_.transform(X), made.copy()
    assert len(set(of_both)) == len(of_both)
    made.clear()
    alone = clone(model.generator_).fit_transform(features)
    assert made
    assert set(made) <= set(of_both)
    np.testing.assert_array_equal(alone, model.generator_.transform(features))
    np.testing.assert_array_equal(np.asarray(model.ensemble_), alone)


def test_threads_begin_with_one_of_all_that_need_the_same():
    tasks = [("own", "kmeans"), ("own", "full"), ("own", "spectral5"), ("own", "spectral10"), ("given", "spectral10")]
    expected = [
        ("own", "spectral10"),
        ("given", "spectral10"),
        ("own", "kmeans"),
        ("own", "spectral5"),
        ("own", "full"),
    ]
    assert _order_of_threads(tasks) == expected


@pytest.mark.parametrize("d", [4, 20])
def test_a_sample_of_many_has_the_same_partitions(d, monkeypatch):
    """Its neighbours are found by the kernel that has drawn it, where it is the faster one."""
    X = make_blobs(300, d, centers=4, cluster_std=2.0, random_state=3)[0]
    pairs, asked = [("own", "spectral10"), ("own", "spectral5"), ("own", "lumbermark")], []
    by_cells = _diverse.nearest_by_cells
    monkeypatch.setattr(_diverse, "nearest_by_cells", lambda *of: asked.append(of) or by_cells(*of))
    alone = candidate_pool(X, [3, 5], pairs)
    assert not asked
    np.testing.assert_array_equal(candidate_pool(X, [3, 5], pairs, is_of_sample=True).labels, alone.labels)
    assert bool(asked) == (d <= 15)


def test_the_choice_leaves_candidates_of_all_objects_alone():
    made, of_some = PoolCache(), PoolCache()
    choose_candidate(BLOBS, 3, made=made)
    assert len(made.pool.labels[0]) == len(BLOBS)
    choose_candidate(np.repeat(BLOBS, 8, axis=0) + np.arange(1600)[:, None] / 1e6, 3, made=of_some)
    assert of_some.pool is None


def test_of_many_objects_those_that_ward_merges_are_drawn():
    X, y = make_blobs(3_000, 3, centers=5, random_state=1)
    space, order = Space("own", X, 5), np.random.default_rng(0).permutation(3_000)
    assert len(space.rows) == 2_500
    np.testing.assert_array_equal(np.sort(order[settled_rows(space.X[order], 2_500)]), space.rows)
    assert adjusted_rand_score(y, space.ward(5)) > 0.95
    told = []
    candidate_pool(X, [5], [("own", "ward"), ("own", "kmeans")], progress=lambda *done: told.append(done))
    assert told[-1] == (2, 2)


SUNFLOWER = (
    0.1
    * np.sqrt(np.arange(40) + 0.5)[:, None]
    * np.column_stack([np.cos(2.399963 * np.arange(40)), np.sin(2.399963 * np.arange(40))])
)
ANGLES = np.pi * np.arange(60) / 59
MOONS = np.vstack(
    [np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]), np.column_stack([1 - np.cos(ANGLES), 0.45 - np.sin(ANGLES)])]
)
MOONS[:, 1] += 0.03 * np.sin(37 * np.arange(120))


def test_lumbermark_finds_what_its_author_finds():
    """Labels of lumbermark 0.9.1; where edges of a tree are equally long, other ones may be cut."""
    three = np.vstack([SUNFLOWER + np.array(at) for at in ([0, 0], [2, 0], [1, 1.5])])
    np.testing.assert_array_equal(lumbermark(three, 3)[1], np.repeat([0, 1, 2], 40))
    np.testing.assert_array_equal(lumbermark(MOONS, 2)[0], np.repeat([0, 1], 60))
    assert sorted(np.unique(lumbermark(IRIS, 3)[1], return_counts=True)[1]) == [46, 50, 54]


@pytest.mark.parametrize("seed", range(4))
def test_lumbermark_is_its_slow_twin(seed):
    X, _ = make_blobs(70, 2, centers=4, cluster_std=1.5, random_state=seed)
    made = lumbermark(X, 6)
    for k in range(2, 7):
        expected = naive.lumbermark(X, k)
        if expected is None:
            assert len(made) < k - 1
            break
        assert adjusted_rand_score(expected, made[k - 2]) == 1
        assert len(np.unique(made[k - 2])) == k


def test_lumbermark_without_an_edge_to_cut():
    assert lumbermark(IRIS[:15], 4).shape == (0, 15)
    space = Space("own", IRIS[:15], 4)
    with pytest.raises(ValueError, match="No edge of the tree"):
        space.lumbermark(3)


# -- features of candidates --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def described():
    pool = all_candidates(BLOBS, [2, 3, 4, 5, 6])
    return pool, describe(pool, BLOBS)


def test_consensuses_are_those_of_evidence_accumulation(described):
    pool, ks = described[0], [2, 3, 4, 5, 6]
    for name, families in (("default", DEFAULT), ("all", set(POOL_FAMILIES))):
        for k in ks:
            members = [
                labels
                for (view, family, asked), labels in zip(pool.candidates, pool.labels, strict=True)
                if asked in numbers_beside(k, ks)
                and family in families
                and (name == "all" or (view == "own" and family != "latent"))
            ]
            expected = EvidenceAccumulation(k).fit(np.array(members).T).labels_
            if (name, k) == ("default", 6):  # pairs tie, and the names of labels decide in the pool
                continue
            np.testing.assert_array_equal(pool.labels[pool.candidates.index(("own", name, k))], expected)


def test_features_do_not_depend_on_threads(described):
    pool = all_candidates(BLOBS, [2, 3, 4, 5, 6], n_jobs=2)
    np.testing.assert_array_equal(pool.labels, described[0].labels)
    np.testing.assert_array_equal(describe(pool, BLOBS, n_jobs=2).X, described[1].X)


def test_other_labels_of_some_candidates_are_described_again(described):
    pool, known = described
    labels, changed = pool.labels.copy(), np.array([3, 10, 11])
    labels[changed] = labels[[10, 3, 20]]
    other = pool._replace(labels=labels)
    np.testing.assert_array_equal(describe_again(other, known, changed, 2).X, describe(other, BLOBS).X)
    np.testing.assert_array_equal(describe_again(pool, known, changed).X, known.X)


def column(described, name):
    return described[1].X[:, feature_names().index(name)]


def test_one_name_per_feature(described):
    names = feature_names()
    assert len(set(names)) == len(names) == described[1].X.shape[1]
    assert described[1].X.dtype == np.float32
    assert not np.isinf(described[1].X).any()


def test_what_is_known_of_the_objects():
    space = Space("own", BLOBS[:60], 3)
    found = dict(zip(OF_SET, of_set(BLOBS[:60], Geometry.of(space), None), strict=True))
    assert found["skewness"] == pytest.approx(np.abs(skew(BLOBS[:60])).mean())
    assert found["kurtosis"] == pytest.approx(kurtosis(BLOBS[:60], fisher=False).mean())
    assert found["log ratio of units"] == 0
    with_units = of_set(BLOBS[:60], Geometry.of(space), np.array([1.0, *[4] * (BLOBS.shape[1] - 1)]))
    assert with_units[-1] == pytest.approx(np.log(4))


def test_variances_of_zero_have_a_logarithm():
    found = _partition_features._log_diagonal(np.array([[[0.0, 3], [3, 4]]]))
    assert found == pytest.approx(np.log(1e-12) + np.log(4))


@pytest.mark.parametrize("name", ["silhouette", "log Davies-Bouldin", "log variance ratio"])
def test_indices_are_those_of_scikit_learn(described, name):
    pool, _ = described
    X = Geometry.of(pool.spaces["own"]).Z
    expected = {
        "silhouette": silhouette_score,
        "log Davies-Bouldin": lambda X, y: np.log(1e-3 + davies_bouldin_score(X, y)),
        "log variance ratio": lambda X, y: np.log(calinski_harabasz_score(X, y)),
    }[name]
    own = [i for i, c in enumerate(pool.candidates) if c.view == "own"]
    found = column(described, name)
    for i in own[::5]:
        assert found[i] == pytest.approx(expected(X, pool.labels[i]), abs=2e-4)


def test_agreement_is_the_adjusted_rand_index(described):
    pool, made = described
    for a, b in ((0, 1), (3, 40), (20, 7)):
        assert made.agreement[a, b] == pytest.approx(adjusted_rand_score(pool.labels[a], pool.labels[b]))
    shared = np.empty((1, 1))
    x, y = (np.array([labels], dtype=np.int32) for labels in ([0, 0, 0, 1, 1], [0, 0, 1, 1, 1]))
    pair_agreement(x, np.array([2]), y, np.array([2]), np.empty((1, 1)), shared)
    assert shared[0, 0] == 2 / 4  # of (0,1), (0,2), (1,2), (3,4) the other joins (0,1) and (3,4)


def test_paths_are_longest_edges_of_the_reachability_tree():
    space = Space("own", BLOBS[:60], 3)
    of = Geometry.of(space)
    D = cdist(of.Z, of.Z)
    core = np.sort(D, axis=1)[:, 5]
    R = np.maximum(D, np.maximum(core[:, None], core))
    np.fill_diagonal(R, 0)
    tree = minimum_spanning_tree(R).toarray()
    assert of.lengths.sum() == pytest.approx(tree.sum())
    tree = np.maximum(tree, tree.T)
    _, before = shortest_path(tree > 0, unweighted=True, return_predecessors=True)
    for a, b in ((0, 5), (17, 44), (3, 59)):
        longest, at = 0.0, b
        while at != a:
            longest, at = max(longest, tree[at, before[a, at]]), before[a, at]
        assert of.paths[list(of.rows).index(a), b] == pytest.approx(longest, rel=1e-5)


def test_neighbours_sizes_columns_and_tree_by_their_definitions(described):
    pool, _ = described
    of, i = Geometry.of(pool.spaces["own"]), 8
    labels = pool.labels[i]
    sizes = np.bincount(labels)
    p = sizes / sizes.sum()
    same = labels[of.nearest] == labels[:, None]
    cut = sum(labels[a] != labels[b] for a, b in of.pairs)
    X = of.X
    explained = sum(size * X[labels == c].mean(axis=0) ** 2 for c, size in enumerate(sizes)) / len(X)
    expected = {
        "least size": p.min() * len(p),
        "largest size": p.max() * len(p),
        "entropy": -(p * np.log(p)).sum() / np.log(len(p)),
        "nearest alike": same[:, 0].mean(),
        "5 nearest alike": same[:, :5].mean(),
        "15 nearest alike": same.mean(),
        "10 nearest alike above chance": (same[:, :10].mean() - (p**2).sum()) / (1 - (p**2).sum()),
        "pieces of the tree": (len(p) - 1) / cut,
        "best column": explained.max(),
        "mean column": explained.mean(),
    }
    for name, value in expected.items():
        assert column(described, name)[i] == pytest.approx(value, abs=2e-4), name


@pytest.mark.parametrize("X", [BLOBS[:70], IRIS[::2], np.random.default_rng(0).normal(size=(40, 1))])
def test_what_is_measured_of_partitions_as_by_their_slow_twins(X):
    space = Space("own", X, 6)
    labels = np.array([np.unique(space.kmeans(k), return_inverse=True)[1] for k in (2, 3, 6)], dtype=np.int32)
    labels[0, 0] = 2  # an object alone
    of = Geometry.of(space)
    made = dict(zip(NAMES, measure_partitions(labels, of).T, strict=True))
    for i, one in enumerate(labels):
        by_neighbours, cut, valley = naive.neighbour_features(of.nearest, of.sparsity, one)
        expected = [
            (OF_SILHOUETTES, naive.silhouette_features(of.distances, of.rows, one)),
            ([f"path {OF_SILHOUETTES[0]}"], naive.silhouette_features(of.paths, of.rows, one)[:1]),
            (OF_NEIGHBOURS[4:], by_neighbours),
            (OF_TREE, naive.tree_features(of.pairs, of.lengths, one)),
            (OF_GAUSSIANS, naive.gaussian_features(of.G, of.sparsity, one, cut, valley)),
        ]
        for names, values in expected:
            for name, value in zip(names, values, strict=True):
                assert made[name][i] == pytest.approx(value, abs=1e-9), name


def test_partitions_are_measured_alike_alone_and_together(described, monkeypatch):
    of = Geometry.of(described[0].spaces["own"])
    labels = described[0].labels[:12]
    together = measure_partitions(labels, of)
    limit(monkeypatch, "labels that are described at once", 5 * labels.shape[1])
    np.testing.assert_allclose(measure_partitions(labels, of), together, rtol=1e-13, atol=1e-13)
    assert measure_partitions(labels[:0], of).shape == (0, len(NAMES))


def test_ranks_and_what_is_known_of_the_set(described):
    pool, made = described
    asked = np.array([c.n_clusters for c in pool.candidates])
    silhouettes = column(described, "silhouette")
    for k in (2, 5):
        at = asked == k
        assert silhouettes[at][column(described, "silhouette, rank at k")[at].argmax()] == silhouettes[at].max()
        np.testing.assert_allclose(
            column(described, "silhouette, less median at k")[at],
            silhouettes[at] - np.median(silhouettes[at]),
            atol=2e-4,
        )
    assert (column(described, "log n") == np.float32(np.round(np.log(200), 4))).all()
    assert set(column(described, "k")) == {2, 3, 4, 5, 6}
    assert len(OF_SET) + len(AGREEMENT) + len(FAMILIES) + len(NAMES) < made.X.shape[1]


def test_features_do_not_depend_on_units(described):
    pool = all_candidates(1024 * BLOBS, [2, 3, 4, 5, 6])
    np.testing.assert_array_equal(pool.labels, described[0].labels)
    np.testing.assert_array_equal(describe(pool, 1024 * BLOBS).X, described[1].X)


# -- the generator -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@parametrize_with_checks([ScaledPartitions(2)])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([ScaledPartitions(2, sample_size=15)])
def test_scikit_learn_of_samples(estimator, check):
    check(estimator)


def test_partitions_and_their_names():
    made = ScaledPartitions([2, 3]).fit(WINE)
    names = made.get_feature_names_out()
    assert list(names[:3]) == ["own_kmeans_k2", "own_kmeans_k3", "own_full_k2"]
    assert made.algorithms_[0] == "own kmeans"
    assert made.n_clusters_.tolist() == [2, 3] * 10
    np.testing.assert_array_equal(made.transform(WINE), ScaledPartitions([2, 3]).fit_transform(WINE))
    wide = np.random.default_rng(0).normal(size=(40, 60))
    assert {tuple(pair.split()) for pair in ScaledPartitions(2).fit(wide).algorithms_} <= set(WIDE)
    most = 10 * len(numbers_of_clusters(len(WINE)))
    assert 0.9 * most < len(ScaledPartitions().fit(WINE).n_clusters_) <= most  # trees cannot always be cut so often


def test_new_rows_get_the_label_of_the_nearest_row_in_the_view():
    made = ScaledPartitions(3, algorithms=["own kmeans", "deviation kmeans"]).fit(WINE[::2])
    labels, fitted = made.transform(WINE[1::2]), made.transform(WINE[::2])
    for i, scale in enumerate((np.ones(13), WINE[::2].std(axis=0))):
        nearest = cdist(WINE[1::2] / scale, WINE[::2] / scale).argmin(axis=1)
        np.testing.assert_array_equal(labels[:, i], fitted[nearest, i])


def test_pairs_are_chosen_and_refused():
    made = ScaledPartitions(4, algorithms=["robust prior", "own ward", "own ward"]).fit(WINE)
    assert made.algorithms_ == ["robust prior", "own ward"]
    with pytest.raises(ValueError, match="units of ScaledPartitions must be 13 numbers above 0"):
        ScaledPartitions(4, units=np.ones(12)).fit(WINE)
    with pytest.raises(ValueError, match="algorithms of ScaledPartitions"):
        ScaledPartitions(4, algorithms=["own linkage"]).fit(WINE)
    with pytest.raises(ValueError, match="n_clusters of ScaledPartitions"):
        ScaledPartitions([1]).fit(WINE)
    assert set(ScaledPartitions(1).fit(WINE).n_clusters_) == {2}
    with pytest.raises(ValueError, match="different rows"):
        ScaledPartitions(2, algorithms=["own kmeans"]).fit(np.ones((30, 3)))


def test_the_seed_draws_objects_and_progress_is_told():
    X, _ = make_blobs(260, 2, centers=9, cluster_std=3, random_state=1)
    how = {"algorithms": ["own ward"], "sample_size": 150}
    one, same, other = (ScaledPartitions(9, random_state=seed, **how).fit_transform(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    told = []
    ScaledPartitions(2, progress=lambda *done: told.append(done), n_jobs=1).fit(IRIS)
    assert told[-1] == (10, 10)
