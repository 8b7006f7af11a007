"""Which splits are supported, and what is merged: the worked example of iris, single clouds, planted clusters."""

import naive
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import norm, poisson
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from ensemblage.stability import _splits, merge_unsupported, split_support
from ensemblage.stability._clusters import check_reference
from ensemblage.stability._dip import dip, drawn_from_cells, unimodality_p_value
from ensemblage.stability._splits import gaussian_test, random_halves, tree_of, windowed_values

IRIS = load_iris().data


def by_first_object(labels):
    firsts = np.unique(labels, return_index=True)[1]
    return np.argsort(np.argsort(firsts))[labels]


def ward(k, X=IRIS):
    return by_first_object(AgglomerativeClustering(k).fit_predict(X))


def tree(labels, X=IRIS):
    reference = check_reference(labels, len(X), "labels")
    return tree_of(X, reference, np.bincount(reference.clusters))


def planted(random, *centres, n=100, d=5):
    """n objects of unit variance around each centre on the first axis."""
    X = random.normal(size=(n * len(centres), d))
    X[:, 0] += np.repeat(centres, n)
    return X, np.repeat(np.arange(len(centres)), n)


# ---- the worked example --------------------------------------------------------------------------------------------

PAIRS = [
    (3, (50, 64, 36), (1, 2), None, (0.040825, 0.034792)),
    (3, (50, 64, 36), (0, 1), None, (0.150985, 0.137729)),
    (3, (50, 64, 36), (0, 2), None, (0.136247, 0.144392)),
    (5, (50, 38, 26, 24, 12), (0, 4), 18, (0.134705, 0.133815)),
    (5, (50, 38, 26, 24, 12), (2, 3), 25, (0.126405, 0.121557)),
    (5, (50, 38, 26, 24, 12), (1, 2), 32, (0.041664, 0.058457)),
]


@pytest.mark.parametrize(("k", "sizes", "pair", "n", "dips"), PAIRS)
def test_worked_pairs_of_iris(k, sizes, pair, n, dips):
    """Ward's clusters of iris; half 1 has the first, third, … object of each cluster."""
    labels = ward(k)
    assert tuple(np.bincount(labels)) == sizes
    in_half = np.zeros(150, dtype=bool)
    for c in range(k):
        in_half[np.flatnonzero(labels == c)[::2]] = True
    a, b = (np.flatnonzero(labels == c) for c in pair)
    a, b = (a, b) if len(a) >= len(b) else (b, a)
    values = [windowed_values(IRIS, a, b, half) for half in (in_half, ~in_half)]
    assert [dip(v) for v in values] == pytest.approx(dips, abs=1e-6)
    if n is not None:
        assert [len(v) for v in values] == [n, n]
    if pair == (1, 2) and k == 3:
        assert [unimodality_p_value(v) for v in values] == pytest.approx([0.81, 0.96], abs=0.02)
    if pair == (0, 4):
        assert [unimodality_p_value(v) for v in values] == pytest.approx([0.0039, 0.0043], abs=0.001)


def test_worked_tree_of_iris():
    root = tree(ward(3))
    assert sorted([root.left.clusters, root.right.clusters]) == [[0], [1, 2]]


@pytest.mark.parametrize("seed", range(5))
def test_the_tree_is_wards_of_the_means(seed):
    random = np.random.default_rng(seed)
    X, k = random.normal(size=(200, 3)), 12
    labels = np.r_[np.arange(k), random.integers(0, k, size=200 - k)]
    means = [X[labels == c].mean(axis=0) for c in range(k)]
    joins, found, waiting = naive.ward_tree(means, np.bincount(labels)), [], [tree(labels, X)]
    while waiting:
        node = waiting.pop()
        if node.left is not None:
            found.append(sorted([node.left.clusters, node.right.clusters]))
            waiting += [node.left, node.right]
    assert sorted(found) == sorted(sorted(join) for join in joins)


# ---- what is found -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["normal", "uniform", "exponential"])
def test_cuts_of_a_single_cloud_are_merged(kind):
    left = []
    for seed in range(10):
        X = getattr(np.random.default_rng(seed), kind)(size=(300, 4))
        labels = KMeans(4, n_init=3, random_state=seed).fit_predict(X)
        left.append(len(merge_unsupported(labels, X, random_state=seed).groups))
    assert sum(k > 1 for k in left) <= 2


def test_planted_clusters_stay_and_their_parts_are_merged():
    X, classes = planted(np.random.default_rng(0), 0, 6, 12)
    over = KMeans(7, n_init=5, random_state=0).fit_predict(X)
    merged = merge_unsupported(over, X, random_state=0)
    assert len(merged.groups) == 3
    assert adjusted_rand_score(classes, merged.labels) > 0.98


def test_a_rare_cluster_stays_by_its_window():
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 5))
    X[950:, 0] += 7
    labels = np.repeat([0, 1], [950, 50])
    assert len(merge_unsupported(labels, X, random_state=0).groups) == 2


def test_the_window_is_an_interval_of_the_values_of_both_sides():
    """Of 40 values of the larger side and 5 of the other, one of which lies below the window."""
    X = np.r_[np.arange(80) / 10, np.repeat([9.0, 9.5, 10, 10.5, 0.05], 2)][:, None]
    a, b, in_half = np.arange(80), np.arange(80, 90), np.arange(90) % 2 == 0
    values = np.sort(windowed_values(X, a, b, in_half))
    along = values / values[-1] * 10.5  # in units of X
    np.testing.assert_allclose(along, [*np.arange(61, 80, 2) / 10, 9.0, 9.5, 10, 10.5][-14:], atol=1e-9)


def test_a_ring_around_another_is_merged_as_the_documentation_says():
    angle = np.linspace(0, 60, 600)
    radius = np.repeat([1.0, 4.0], 300)
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)] + np.random.default_rng(0).normal(size=(600, 2)) * 0.1
    assert len(merge_unsupported(np.repeat([0, 1], 300), X, random_state=0).groups) == 1


def test_below_a_split_without_support_nothing_is_tested():
    support = split_support(ward(5), IRIS, random_state=0)
    verdicts = [row.verdict for row in support.table]
    assert verdicts[:2] == ["supported", "not supported"]
    assert set(verdicts[2:]) == {"not tested"}
    assert np.isnan([row.p_value for row in support.table[2:]]).all()


def test_the_level_is_alpha_shared_by_the_objects_below():
    support = split_support(ward(3), IRIS, alpha=0.1, random_state=0)
    assert [row.level for row in support.table] == pytest.approx([0.1, 0.1 * 99 / 149])
    assert [row.n for row in support.table] == [150, 100]


def test_alpha_decides():
    X, classes = planted(np.random.default_rng(3), 0, 3.2, n=150, d=2)
    p = split_support(classes, X, random_state=0).table[0].p_value
    assert 1e-5 < p < 0.5
    for alpha, verdict in ((p * 1.01, "supported"), (p * 0.99, "not supported")):
        assert split_support(classes, X, alpha=alpha, random_state=0).table[0].verdict == verdict


def test_null_decides():
    """A uniform square is no Gaussian, and unimodal."""
    X = np.random.default_rng(0).uniform(size=(400, 2)) * [3, 1]
    labels = KMeans(2, n_init=3, random_state=0).fit_predict(X)
    assert split_support(labels, X, random_state=0).table[0].verdict == "not supported"
    assert split_support(labels, X, null="gaussian", random_state=0).table[0].verdict == "supported"


def test_the_gaussian_null_holds_its_level():
    p = []
    for seed in range(40):
        X = np.random.default_rng(seed).normal(size=(150, 3)) * [2, 1, 1]
        labels = KMeans(2, n_init=3, random_state=seed).fit_predict(X)
        p.append(gaussian_test(X, np.flatnonzero(labels), np.flatnonzero(1 - labels), seed))
    assert np.mean(np.array(p) <= 0.05) <= 0.15
    assert np.mean(np.array(p) <= 0.5) > 0.2


def test_the_gaussian_null_is_99_samples_and_their_normal_distribution(monkeypatch):
    """Of at most 2,000 objects each, clustered from four starts, as is documented."""
    shapes, n_starts, shares = [], [], iter(np.linspace(0.4, 0.5, 99))

    def share_of(drawn, uniforms, *_):
        shapes.append(drawn.shape)
        n_starts.append(len(uniforms))
        return next(shares) * (drawn**2).sum()

    monkeypatch.setattr(_splits, "best_of_starts", share_of)
    X, labels = planted(np.random.default_rng(0), 0, 3, n=1050)
    p = gaussian_test(X, np.flatnonzero(labels == 0), np.flatnonzero(labels), 0)
    assert shapes == [(2000, 5)] * 99
    assert set(n_starts) == {4}
    means = np.stack([X[labels == c].mean(axis=0) for c in (0, 1)])
    within = KMeans(2, init=means, n_init=1, tol=0).fit(X).inertia_
    assert within < sum(((X[labels == c] - means[c]) ** 2).sum() for c in (0, 1)) - 1
    of_all, expected = ((X - X.mean(axis=0)) ** 2).sum(), np.linspace(0.4, 0.5, 99)
    assert p == pytest.approx(norm.cdf(within / of_all, expected.mean(), expected.std(ddof=1)))


@pytest.mark.parametrize(("k", "distance"), [(2, 3), (4, 4.5)])
def test_the_gaussian_null_finds_groups_that_are_near(k, distance):
    """Equally distant groups, of which the split itself leaves more than 2-means of a Gaussian does."""
    found = []
    for seed in range(4):
        labels, centres = np.arange(400) % k, np.zeros((k, 20))
        centres[np.arange(k), np.arange(k)] = distance / np.sqrt(2)
        X = np.random.default_rng(seed).normal(size=(400, 20)) + centres[labels]
        found.append(len(merge_unsupported(labels, X, null="gaussian", random_state=0).groups))
    assert found.count(k) >= 3


def test_halves_of_each_cluster():
    """The odd object is in either."""
    members = [np.arange(6), np.arange(6, 11), np.array([11])]
    sizes = {tuple(random_halves(members, 12, seed)[rows].sum() for rows in members) for seed in range(40)}
    assert sizes == {(3, odd, one) for odd in (2, 3) for one in (0, 1)}


def test_a_side_may_have_no_object_in_a_half():
    """Then the mean of the other side alone is the direction."""
    X = np.c_[np.arange(24.0), np.ones(24)]
    values = windowed_values(X, np.arange(16), np.arange(16, 24), np.arange(24) < 8)
    np.testing.assert_allclose(np.sort(values), np.sort(X[8:] @ -X[:8].mean(axis=0)))


def test_the_seed_deals_out_the_halves():
    X, labels = planted(np.random.default_rng(1), 0, 3, n=60)
    p = {split_support(labels, X, random_state=seed).table[0].p_value for seed in range(4)}
    assert len(p) > 1
    again = [split_support(labels, X, random_state=7).table[0].p_value for _ in range(2)]
    assert again[0] == again[1]


# ---- labels and features -------------------------------------------------------------------------------------------


def test_noise_stays_out_and_stays_noise():
    X, labels = planted(np.random.default_rng(0), 0, 8)
    far = np.r_[X, np.full((5, 5), 1e6)]
    noisy = np.r_[labels, np.full(5, -1)]
    merged = merge_unsupported(noisy, far, random_state=0)
    assert merged.labels.tolist() == [*merge_unsupported(labels, X, random_state=0).labels, *[-1] * 5]
    assert (merged.support.n_objects, merged.support.n_noise) == (200, 5)


def test_labels_of_the_result_are_numbered_by_first_objects():
    X, labels = planted(np.random.default_rng(0), 0, 8, 16)
    names = np.array(["z", "b", "a"])[labels]
    merged = merge_unsupported(names, X, random_state=0)
    assert merged.labels.tolist() == labels.tolist()
    assert merged.groups == [["z"], ["b"], ["a"]]
    assert merged.sizes == [100, 100, 100]


@pytest.mark.parametrize("change", [lambda X: X * 1e200, lambda X: X + 64.0, csr_array, lambda X: X.astype(np.float32)])
def test_scale_place_and_storage_of_the_features_do_not_matter(change):
    X, labels = planted(np.random.default_rng(0), 0, 4, 8)
    expected = split_support(labels, X, random_state=0)
    found = split_support(labels, change(X), random_state=0)
    assert [row.verdict for row in found.table] == [row.verdict for row in expected.table]
    assert [row.p_value for row in found.table] == pytest.approx([row.p_value for row in expected.table], rel=0.01)


def test_a_model_gives_its_labels():
    model = KMeans(3, n_init=5, random_state=0).fit(IRIS)
    of_model, of_labels = (merge_unsupported(given, IRIS, random_state=0) for given in (model, model.labels_))
    assert of_model.labels.tolist() == of_labels.labels.tolist()


def test_a_model_gives_the_numbers_that_it_shows_and_its_noise():
    X, labels = planted(np.random.default_rng(0), 0, 8, 16)
    model = KMeans(3)
    with pytest.raises(ValueError, match="KMeans must be fitted"):
        split_support(model, X)
    model.labels_, model.cluster_numbers_ = np.r_[labels[:-50], np.full(50, -1)], np.array([5, 7, 6])
    merged = merge_unsupported(model, X, random_state=0)
    assert merged.groups == [[5], [7], [6]]
    assert merged.labels.tolist() == model.labels_.tolist()


def test_one_cluster_has_no_split():
    merged = merge_unsupported(np.zeros(150, dtype=int), IRIS)
    assert merged.support.table == []
    assert merged.groups == [[0]]
    assert repr(merged).startswith("MergedClusters: The cluster stays.")
    assert repr(merged.support) == "SplitSupport: There is one cluster, and no split."


def test_sides_of_few_objects_are_not_supported():
    X, labels = planted(np.random.default_rng(0), 0, 100, n=7)
    for null in ("unimodal", "gaussian"):
        assert split_support(labels, X, null=null).table[0].p_value == 1


def test_equal_objects_are_one_cloud():
    for null in ("unimodal", "gaussian"):
        merged = merge_unsupported(np.arange(100) % 2, np.ones((100, 3)), null=null, random_state=0)
        assert len(merged.groups) == 1
        assert merged.support.table[0].p_value == 1


COARSE = {
    "whole numbers": lambda X: X.round(),
    "five answers": lambda X: np.clip(X.round(), -2, 2),
    "counts": lambda X: poisson.ppf(norm.cdf(X), 2),
    "logarithms of counts": lambda X: np.log1p(poisson.ppf(norm.cdf(X), 2)),
}


@pytest.mark.parametrize("kind", COARSE)
def test_values_that_many_objects_share_are_no_modes(kind):
    """On a line across two grids they would be."""
    left = []
    for seed in range(5):
        X = COARSE[kind](np.random.default_rng(seed).normal(size=(600, 2)))
        labels = KMeans(3, n_init=3, random_state=seed).fit_predict(X)
        left.append(len(merge_unsupported(labels, X, random_state=seed).groups))
    assert left == [1] * 5


def test_clusters_of_coarse_values_stay():
    X = np.random.default_rng(0).normal(size=(400, 2))
    X[200:] += 5
    assert len(merge_unsupported(np.repeat([0, 1], 200), X.round(), random_state=0).groups) == 2


def test_each_value_is_drawn_from_its_cell():
    random = np.random.default_rng(0)
    X = np.c_[np.resize([0, 1, 1, 2, 2, 2, 3, 3, 4], 300), random.normal(size=300), np.full(300, 2.0)]
    drawn, n_piled = drawn_from_cells(X, np.arange(300), 0)
    assert n_piled == 0
    assert (np.round(drawn[:, 0]) == X[:, 0]).all()
    assert len(np.unique(drawn[:, 0])) == 300
    assert drawn[:, 0].min() < -0.4
    assert drawn[:, 0].max() > 4.4
    assert (drawn[:, 1:] == X[:, 1:]).all()
    assert (drawn == drawn_from_cells(X, np.arange(300), 0)[0]).all()
    assert (drawn != drawn_from_cells(X, np.arange(300), 1)[0]).any()
    uneven = np.repeat([[0.0], [1.0], [10.0]], 50, axis=0)
    found = drawn_from_cells(uneven, np.arange(150), 0)[0].reshape(3, 50)
    assert found[0].min() >= -0.5
    assert found[1].min() >= 0.5
    assert 4 < found[1].max() <= 5.5
    assert found[2].min() >= 5.5
    assert 13 < found[2].max() <= 14.5
    normal = X[:, [1]]
    assert drawn_from_cells(normal, np.arange(300), 0)[0] is normal  # no copy


def test_objects_in_no_cluster_have_no_part_in_the_cells():
    X = np.random.default_rng(0).normal(size=(200, 2)).round()
    labels = KMeans(3, n_init=3, random_state=0).fit_predict(X)
    expected = split_support(labels, X, random_state=0).table
    more = split_support(np.r_[labels, np.full(50, -1)], np.r_[X, np.full((50, 2), 0.25)], random_state=0).table
    assert [row.p_value for row in more] == [row.p_value for row in expected]


def test_components_of_anndata():
    anndata = pytest.importorskip("anndata")
    X, labels = planted(np.random.default_rng(0), 0, 8, 16)
    adata = anndata.AnnData(np.zeros((len(X), 1)))
    adata.obs["leiden"] = pd.Categorical((2 * labels + np.arange(len(X)) % 2).astype(str))
    adata.obsm["X_pca"] = X.astype(np.float32)
    merged = merge_unsupported(adata.obs["leiden"], adata.obsm["X_pca"], random_state=0)
    assert merged.groups == [["0", "1"], ["2", "3"], ["4", "5"]]
    assert adjusted_rand_score(labels, merged.labels) == 1
    frame = pd.DataFrame(adata.obsm["X_pca"], index=adata.obs.index).add_prefix("PC")
    assert (merge_unsupported(adata.obs["leiden"], frame, random_state=0).labels == merged.labels).all()


# ---- records -------------------------------------------------------------------------------------------------------


def test_records_say_why():
    merged = merge_unsupported(ward(3), IRIS, random_state=0)
    assert [type(found).__name__ for found in (merged, merged.support)] == ["MergedClusters", "SplitSupport"]
    assert merged.sentence == "3 clusters became 2; splits that a linear test does not support were merged."
    assert merged.merged == [[1, 2]]
    (reason,) = merged.reasons
    assert reason.startswith(
        "Clusters 1 and 2 were merged: the split of cluster 1 from cluster 2 is not supported by a linear test (p = "
    )
    assert merged.support.sentence == "1 of 2 splits is supported by a linear test."
    frame = merged.to_frame()
    assert list(frame["made_of"]) == ["0", "1, 2"]
    assert list(merged.support.to_frame()["verdict"]) == ["supported", "not supported"]
    for text in (merged.sentence, reason, merged.support.sentence):
        assert "real" not in text


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0}, "alpha of split_support must be a number > 0 and < 1. Got 0"),
        ({"alpha": 1.0}, "alpha of split_support must be a number > 0 and < 1. Got 1.0"),
        ({"null": "uniform"}, "null of split_support must be"),
        ({"partition": [0, 1]}, "partition of split_support must be one for each of the 150 objects. Got 2"),
        ({"X": IRIS[:, 0]}, "X of split_support must be a matrix of finite numbers"),
        ({"X": np.where(IRIS > 7, np.nan, IRIS)}, "X of split_support must be a matrix of finite numbers"),
        ({"partition": np.arange(150) * 0 - 1}, "partition"),
        ({"random_state": "now"}, "random_state"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(change, message):
    given = {"partition": ward(3), "X": IRIS, **change}
    with pytest.raises(ValueError, match=message):
        split_support(**given)


def test_too_many_clusters_are_refused():
    with pytest.raises(ValueError, match=r"at most 2,000 clusters\. Got 2,001\."):
        merge_unsupported(np.arange(2001), np.zeros((2001, 1)))
