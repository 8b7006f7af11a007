"""Honest markers: p-values that hold although the clusters were made from the same objects."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse
from scipy.stats import kstest, ttest_ind
from sklearn.cluster import KMeans

import ensemblage
from ensemblage.profiles import HonestMarkers, thin_counts
from ensemblage.profiles._honest import nearest_clusters, welch_p_values
from ensemblage.stability._dip import unimodality_p_value


def cut(X, k, seed=0):
    return KMeans(k, n_init=2, random_state=seed).fit_predict(X)


def negative_binomial(random, n=200, m=20, mean=5.0, size=2.0):
    return random.negative_binomial(size, size / (size + mean), size=(n, m))


# ---- counts --------------------------------------------------------------------------------------------------------


def test_the_parts_sum_to_the_counts_and_have_their_shares():
    counts = np.random.default_rng(0).poisson(20, size=(500, 4))
    for share in (0.5, 0.2):
        first, second = thin_counts(counts, first_share=share, random_state=0)
        assert (first + second == counts).all()
        assert (first >= 0).all()
        assert (second >= 0).all()
        assert first.mean() / counts.mean() == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(("size", "dispersion"), [(2.0, None), (2.0, 0.5), (1e9, 0)])
def test_the_parts_are_independent(size, dispersion):
    counts = negative_binomial(np.random.default_rng(1), n=4000, m=10, size=size)
    first, second = thin_counts(counts, dispersion=dispersion, random_state=0)
    r = [np.corrcoef(first[:, j], second[:, j])[0, 1] for j in range(10)]
    assert np.mean(r) == pytest.approx(0, abs=0.02)


def test_the_dispersion_is_used():
    """Parts by Poisson of what is not Poisson vary together, by too large a dispersion against each other."""
    counts = negative_binomial(np.random.default_rng(1), n=4000, m=5)
    for dispersion, sign in ((0, 1), ([4.0] * 5, -1)):
        first, second = thin_counts(counts, dispersion=dispersion, random_state=0)
        assert sign * np.corrcoef(first[:, 0], second[:, 0])[0, 1] > 0.1


def test_sparse_counts_are_split_as_dense_ones():
    counts = np.random.default_rng(0).poisson(0.5, size=(50, 8))
    dense = thin_counts(counts, random_state=3)
    thin = thin_counts(csr_array(counts), random_state=3)
    for a, b in zip(dense, thin, strict=True):
        assert issparse(b)
        assert (a == b.toarray()).all()


@pytest.mark.parametrize("draw", ["poisson", "negative binomial"])
def test_p_values_of_thinned_counts_are_uniform_on_one_cloud(draw):
    p = []
    for seed in range(50):
        random = np.random.default_rng(seed)
        counts = random.poisson(5, size=(200, 20)) if draw == "poisson" else negative_binomial(random)
        first, second = thin_counts(counts, random_state=seed)
        found = ensemblage.profile(cut(np.log1p(first), 2), counts, honest=True, thinned=second, max_depth=0)
        p += [row.p_value for row in found.honest.table if row.cluster == 0]
    assert len(p) == 1000
    assert np.mean(np.array(p) <= 0.05) <= 0.08
    assert kstest(p, "uniform").pvalue > 0.001


def test_planted_markers_of_counts_are_found():
    random = np.random.default_rng(0)
    mean = np.full((200, 20), 5.0)
    mean[:100, :5] *= 4
    counts = random.negative_binomial(10, 10 / (10 + mean))
    first, second = thin_counts(counts, random_state=0)
    found = ensemblage.profile(cut(np.log1p(first), 2), counts, honest=True, thinned=second).honest
    assert {row.variable for row in found.markers} >= {f"x{j}" for j in range(5)}
    assert len({row.variable for row in found.markers}) <= 7
    assert {row.other for row in found.table} == {"rest"}
    assert {row.test for row in found.table} == {"thinned counts"}


def test_welch_is_scipys():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(20, 4)), random.normal(1, 2, size=(33, 4))
    np.testing.assert_allclose(welch_p_values(a, b), ttest_ind(a, b, equal_var=False).pvalue)


def test_names_of_thinned_counts_are_those_of_the_columns():
    frame = pd.DataFrame(np.random.default_rng(0).poisson(5, size=(60, 2)), columns=["A1", "B2"])
    _, second = thin_counts(frame, random_state=0)
    found = ensemblage.profile(np.arange(60) % 2, frame, honest=True, thinned=second)
    assert {row.variable for row in found.honest.table} == {"A1", "B2"}


# ---- other variables -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["normal", "uniform", "exponential"])
def test_the_dip_finds_hardly_any_marker_in_cuts_of_one_cloud(kind):
    p, naive = [], []
    for seed in range(20):
        X = getattr(np.random.default_rng(seed), kind)(size=(200, 5))
        found = ensemblage.profile(cut(X, 3, seed), X, honest=True, max_depth=0)
        p += [row.p_value for row in found.honest.table]
        naive += list(found.to_frame()["p_value"])
    assert np.mean(np.array(p) <= 0.05) <= 0.06
    assert np.mean(np.array(naive) <= 0.05) > 0.3


def test_variables_that_separate_two_clusters_are_found():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    X[100:, 0] += 6
    found = ensemblage.profile(cut(X, 2), X, honest=True).honest
    assert [row.variable for row in found.markers] == ["x0", "x0"]
    by_cluster = {row.cluster: row.difference for row in found.markers}
    assert by_cluster[0] == pytest.approx(-by_cluster[1])
    assert abs(by_cluster[0]) > 4
    row = found.table[0]
    assert row.p_value == unimodality_p_value(X[:, 0])
    assert row.p_adjusted == pytest.approx(4 * row.p_value)


def test_each_cluster_is_compared_with_the_nearest_one():
    X = np.r_[np.full(10, 0.0), np.full(10, 3.0), np.full(10, 9.0)][:, None]
    assert nearest_clusters(X, np.repeat([0, 1, 2], 10), 3) == [1, 0, 1]
    found = ensemblage.profile(np.repeat(["a", "b", "c"], 10), X + np.arange(30)[:, None] * 1e-3, honest=True).honest
    assert [(row.cluster, row.other) for row in found.table] == [("a", "b"), ("b", "a"), ("c", "b")]


def test_what_has_no_unimodal_values_in_one_cloud_is_left_out():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "gene": np.log1p(random.poisson(1, size=100) * random.lognormal(size=100)),
            "colour": ["red", "blue"] * 50,
            "x": random.normal(size=100),
        }
    )
    found = ensemblage.profile(np.arange(100) % 2, frame, honest=True).honest
    assert found.left_out == {
        "gene": "one value is too frequent: thin counts instead",
        "colour": "a category, which has no order",
    }
    assert {row.variable for row in found.table} == {"x"}


def test_missing_values_and_objects_in_no_cluster_are_left_out():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[5, 0] = np.nan
    labels = np.arange(60) % 2
    labels[10] = -1
    expected = X[np.setdiff1d(np.arange(60), [5, 10]), 0]
    table = ensemblage.profile(labels, X, honest=True).honest.table
    assert {row.p_value for row in table if row.variable == "x0"} == {unimodality_p_value(expected)}


# ---- the record ----------------------------------------------------------------------------------------------------


def test_unasked_nothing_is_tested():
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert ensemblage.profile(np.arange(40) % 2, X).honest is None


def test_the_record_says_that_the_rest_is_description():
    X = np.random.default_rng(0).normal(size=(40, 2))
    found = ensemblage.profile(np.arange(40) % 2, X, honest=True).honest
    assert isinstance(found, HonestMarkers)
    assert found.sentence == (
        "0 of 4 comparisons of a variable show a difference, at a false discovery rate of 0.05. Everything else in the "
        "profile is description: p-values of variables that the clusters were made from are too small."
    )
    assert repr(found) == f"HonestMarkers: {found.sentence}"
    assert list(found.to_frame().columns) == list(found.table[0]._fields)
    one = ensemblage.profile(np.zeros(40, dtype=int), X, honest=True).honest
    assert one.table == []


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1.5, 2], [0, 1]], {}, "X of thin_counts must be counts: whole numbers ≥ 0. Got 1.5"),
        ([[-1, 2], [0, 1]], {}, "Got -1"),
        ([[np.nan, 2], [0, 1]], {}, "Got nan"),
        ([1, 2], {}, "X of thin_counts must be numbers of shape"),
        ([["a", "b"], ["c", "d"]], {}, "X of thin_counts must be numbers of shape"),
        ([[1, 2], [0, 1]], {"first_share": 0}, "first_share of thin_counts must be a number > 0 and < 1"),
        ([[1, 2], [0, 1]], {"dispersion": -1}, "dispersion of thin_counts must be a number ≥ 0"),
        ([[1, 2], [0, 1]], {"dispersion": [1, 2, 3]}, "dispersion of thin_counts must be numbers of shape"),
        ([[1, 2], [0, 1]], {"dispersion": [1, -2]}, "dispersion of thin_counts must be numbers ≥ 0"),
    ],
)
def test_what_are_no_counts_is_refused(X, options, message):
    with pytest.raises(ValueError, match=message):
        thin_counts(X, **options)


def test_thinned_counts_that_do_not_fit_are_refused():
    X = np.random.default_rng(0).poisson(5, size=(40, 2))
    labels = np.arange(40) % 2
    for thinned, message in (
        (X[:, :1], "thinned of profile must have the 2 columns of X. Got 1"),
        (X[:20], "thinned of profile must be numbers of shape"),
        (X - 10, "thinned of profile must be numbers ≥ 0"),
    ):
        with pytest.raises(ValueError, match=message):
            ensemblage.profile(labels, X, honest=True, thinned=thinned)
    with pytest.raises(ValueError, match="thinned of profile must go with honest=True"):
        ensemblage.profile(labels, X, thinned=X)
    with pytest.raises(ValueError, match="honest of profile must be"):
        ensemblage.profile(labels, X, honest="yes")
