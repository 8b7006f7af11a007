"""Weak-association thresholds against brute force, scikit-learn's mixtures and the notes' numbers."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.mixture import GaussianMixture
from strategies import planted_labels, random_labels
from test_sample_weight import assert_equals_repeated, matrix, seeded, weights_of

from ensemblage import Ensemble
from ensemblage.consensus import EvidenceAccumulation
from ensemblage.generation import RandomKPartitions
from ensemblage.kernels._pairs import add_weighted_pairs
from ensemblage.metrics import _wat
from ensemblage.metrics._wat import (
    Histogram,
    _add_diagonal,
    _Sample,
    association_histogram,
    fit_mixture,
    mixture_split,
    start_of_mixture,
    two_means_split,
    weak_association_threshold,
)


def ensembles():
    from sklearn.datasets import load_iris

    yield planted_labels(n=120, p=15, k=4, noise=0.3, seed=1)[0]
    yield planted_labels(n=100, p=12, k=3, noise=0.3, missing=0.3, seed=2)[0]
    yield random_labels(n=80, p=20, k=6, seed=3)
    yield RandomKPartitions(30, random_state=0).fit_transform(load_iris().data)


@pytest.fixture(params=range(4), ids=["planted", "missing", "random", "iris"])
def labels(request):
    return list(ensembles())[request.param]


def expanded(histogram):
    return np.repeat(histogram.values, histogram.counts)


def positive_associations(labels):
    matrix = naive.coassociation(labels)
    values = matrix[np.triu_indices(len(labels), 1)]
    return np.sort(values[values > 0])


def test_histogram_of_the_pairs(labels):
    assert_array_equal(expanded(association_histogram(Ensemble(labels))), positive_associations(labels))


@pytest.fixture(params=["unequal", "one is 0", "very small"])
def weights(request, labels):
    random = np.random.default_rng(0)
    w = random.uniform(0.1, 3, labels.shape[1])
    if request.param == "one is 0":
        w[1] = 0
    return w if request.param != "very small" else np.where(np.arange(len(w)) % 2, 1e-15, w)


@pytest.mark.core(3)
def test_kernel_of_weighted_pairs(labels, weights):
    E, n_bins = Ensemble(labels), 100
    codes, counts, _ = E.distinct
    decoded = np.where(codes[:] == E.n_clusters, -1, codes[:].astype(int))
    columns, absent = np.ascontiguousarray(codes[:].T), E.n_clusters.astype(codes.dtype)
    tally, largest = np.zeros(n_bins + 1, dtype=np.int64), np.zeros(n_bins + 1)
    add_weighted_pairs(columns, absent, weights, counts, 3, 40, np.empty((2, len(codes))), tally, largest)
    expected = naive.weighted_pairs(decoded, counts, weights, 3, 40, n_bins)
    assert_array_equal(tally, expected[0])
    assert_allclose(largest, expected[1], rtol=1e-12)


@pytest.mark.core(3)
@pytest.mark.parametrize("method", ["kmeans", "gmm"])
def test_weights_by_brute_force(labels, weights, method):
    matrix = naive.coassociation(labels, weights)
    values = matrix[np.triu_indices(len(labels), 1)]
    values, counts = np.unique(values[values > 0].round(14), return_counts=True)
    expected = naive.two_means_cut(values, counts) if method == "kmeans" else mixture_split(Histogram(values, counts))
    found = weak_association_threshold(labels, method, weights=weights)
    assert found == pytest.approx(expected, abs=2e-5)
    assert np.abs(values - found).min() < 1e-12  # one of the co-associations, not a rounded one


def test_equal_weights_are_no_weights(labels):
    w = np.full(labels.shape[1], 0.3)
    assert weak_association_threshold(labels, weights=w) == weak_association_threshold(labels)


def test_a_partition_of_weight_two_is_there_twice(labels):
    w = np.ones(labels.shape[1])
    w[0] = 2
    twice = np.column_stack([labels, labels[:, 0]])
    for options in ({}, {"include_diagonal": True}):
        found = weak_association_threshold(labels, weights=w, **options)
        assert found == pytest.approx(weak_association_threshold(twice, **options), abs=1e-12)


def test_weighted_pairs_drawn(labels):
    w = np.linspace(0.5, 2, labels.shape[1])
    exact = weak_association_threshold(labels, weights=w)
    assert abs(weak_association_threshold(labels, weights=w, max_pairs=2_000, random_state=0) - exact) < 0.1


def test_two_means_by_brute_force(labels):
    values, counts = np.unique(positive_associations(labels), return_counts=True)
    assert weak_association_threshold(labels) == naive.two_means_cut(values, counts)


@given(st.dictionaries(st.integers(1, 30), st.integers(1, 50), min_size=2, max_size=12))
def test_two_means_of_any_histogram(counts):
    values = np.array(sorted(counts)) / 30
    counts = np.array([counts[round(30 * v)] for v in values])
    tau = two_means_split(Histogram(values, counts))

    def loss(cut):
        low = values <= cut
        return sum((counts[p] * (values[p] - np.average(values[p], weights=counts[p])) ** 2).sum() for p in (low, ~low))

    assert tau < values[-1]
    assert loss(tau) <= min(loss(v) for v in values[:-1]) + 1e-9


@pytest.mark.parametrize("counts", [[1, 1], [1, 1_000], [1_000, 1]])
@pytest.mark.parametrize("value", [0.3, 0.5, 0.7])
def test_associations_that_differ_by_a_rounding_error_are_not_weak(value, counts):
    """Weighted sums of the same labels in another order: both means come out below both values."""
    histogram = Histogram(np.array([value, np.nextafter(value, 1)]), np.array(counts))
    assert mixture_split(histogram) == 0


def scikit_learns(histogram):
    start = start_of_mixture(histogram)
    model = GaussianMixture(
        2,
        weights_init=start.weights,
        means_init=start.means[:, None],
        precisions_init=(1 / start.variances)[:, None, None],
    )
    return model.fit(expanded(histogram)[:, None])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_mixture_is_scikit_learns(labels):
    histogram = association_histogram(Ensemble(labels))
    expected = scikit_learns(histogram)
    found = fit_mixture(histogram, start_of_mixture(histogram))
    assert_allclose(found.weights, expected.weights_, rtol=1e-6)
    assert_allclose(found.means, expected.means_[:, 0], rtol=1e-6)
    assert_allclose(found.variances, expected.covariances_[:, 0, 0], rtol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_mixture_threshold_from_scikit_learns_posteriors(labels):
    histogram = association_histogram(Ensemble(labels))
    model = scikit_learns(histogram)
    low = np.argmin(model.means_[:, 0])
    weak = model.predict_proba(histogram.values[:, None])[:, low] >= 0.5
    between = (histogram.values >= model.means_[low, 0]) & (histogram.values <= model.means_.max())
    assert weak_association_threshold(labels, "gmm") == histogram.values[weak & between].max()


def test_guard_of_the_notes():
    random = np.random.default_rng(0)
    values = np.concatenate([random.normal(0.30, 0.01, 900), random.uniform(0, 1, 300)])
    found, counts = np.unique(values, return_counts=True)
    histogram = Histogram(found, counts)
    mixture = fit_mixture(histogram, start_of_mixture(histogram))
    assert 0.31 < mixture_split(histogram) < 0.36
    assert mixture.variances.max() > 20 * mixture.variances.min()


def test_a_lower_group_of_one_value():
    histogram = Histogram(np.array([0.1, 0.9, 1.0]), np.array([900, 50, 50]))
    assert mixture_split(histogram) == 0.1


def test_the_diagonal_moves_the_threshold():
    labels = random_labels(n=200, p=20, k=10, seed=0)
    assert weak_association_threshold(labels) == 0.1
    assert weak_association_threshold(labels, "gmm") in (0.05, 0.1)
    # The notes have 0.40 for another draw: with the diagonal all other associations are weak.
    for method in ("kmeans", "gmm"):
        assert weak_association_threshold(labels, method, include_diagonal=True) == positive_associations(labels).max()


def test_with_the_diagonal_both_triangles_count():
    labels = planted_labels(n=50, p=8, k=3, noise=0.4, seed=4)[0]
    matrix = naive.coassociation(labels)
    values, counts = np.unique(matrix[matrix > 0], return_counts=True)
    assert weak_association_threshold(labels, include_diagonal=True) == naive.two_means_cut(values, counts)
    found = _add_diagonal(association_histogram(Ensemble(labels)), 50, True)
    assert_allclose(found.values, values)
    assert_array_equal(found.counts, counts)


@pytest.mark.parametrize("method", ["kmeans", "gmm"])
@pytest.mark.parametrize(
    "labels", [[[0, 1]], [[0], [1]], [[0], [0], [1]], [[0, 0], [0, 0]], [[0, 1], [1, 0]], [[0, -1], [-1, 0]]]
)
def test_fewer_than_two_values(method, labels):
    assert weak_association_threshold(labels, method) == 0.0


@pytest.mark.parametrize("include_diagonal", [False, True])
@pytest.mark.parametrize("method", ["kmeans", "gmm"])
def test_sampled_pairs(method, include_diagonal):
    labels = planted_labels(n=300, p=20, k=4, noise=0.25, seed=5)[0]
    options = {"strategy": method, "include_diagonal": include_diagonal, "return_error": True}
    exact, none = weak_association_threshold(labels, **options)
    sampled, error = weak_association_threshold(labels, **options, max_pairs=20_000, random_state=1)
    again = weak_association_threshold(labels, **options, max_pairs=20_000, random_state=1)
    assert none == 0
    assert (sampled, error) == again
    assert 0 <= error < 0.1
    assert abs(sampled - exact) <= 0.05 + 3 * error


def test_standard_error_is_that_of_repeated_samples():
    labels = planted_labels(n=200, p=60, k=4, noise=0.6, seed=5)[0]
    draws = [
        weak_association_threshold(labels, max_pairs=100, return_error=True, random_state=seed) for seed in range(60)
    ]
    taus, errors = np.array(draws).T
    assert 0.5 < errors.mean() / taus.std() < 2


def test_sampled_pairs_with_missing_labels():
    labels = planted_labels(n=300, p=10, k=4, noise=0.25, missing=0.3, seed=5)[0]
    sampled = weak_association_threshold(labels, max_pairs=30_000, random_state=0)
    assert abs(sampled - weak_association_threshold(labels)) < 0.1


@pytest.mark.parametrize("method", ["kmeans", "gmm"])
def test_evidence_accumulation_takes_it(method, labels):
    model = EvidenceAccumulation(3, linkage="single", association_threshold=method).fit(labels)
    assert model.association_threshold_ == weak_association_threshold(labels, method)
    assert (model.linkage_matrix_[:, 2] < 1 - model.association_threshold_).any()


def test_with_the_diagonal_a_sample_stands_for_all_entries_of_the_matrix():
    drawn = Histogram(np.array([0.4, 1.0]), np.array([6, 4]))
    found = _Sample(drawn, 5, True, 10).histogram()
    assert found.counts.sum() == 25
    assert_array_equal(found.counts, [12, 8 + 5])


@pytest.mark.parametrize(
    ("n", "options", "expected"),
    [(200_000, {}, None), (200_001, {}, 1_000_000), (1_500, {"max_pairs": 900_000}, 900_000)],
)
def test_more_than_max_pairs_are_a_million_drawn_or_fewer(n, options, expected, monkeypatch):
    drawn, histogram = [], Histogram(np.array([0.5, 1]), np.array([1, 1]))
    monkeypatch.setattr(_wat, "association_histogram", lambda *given: histogram)
    monkeypatch.setattr(_wat, "_drawn_histogram", lambda *given: drawn.append(given[4]) or histogram)
    assert weak_association_threshold(np.zeros((n, 1), dtype=int), **options) == 0.5
    assert drawn == ([] if expected is None else [expected])


@pytest.mark.parametrize("bad", [{"strategy": "otsu"}, {"max_pairs": 0}, {"max_pairs": 2.5}])
def test_bad_parameters(bad):
    with pytest.raises(ValueError, match="weak_association_threshold must be"):
        weak_association_threshold([[0], [1]], **bad)


@pytest.mark.parametrize("max_pairs", [1_000, 5_000])  # fewer than X has, and than the repeated rows have
@pytest.mark.parametrize("name", ["eac, threshold", "negmm-wat-kmeans"])
def test_pairs_that_are_drawn(name, max_pairs, monkeypatch):
    """Where pairs are drawn for a threshold, an object is drawn as often as it counts."""
    found = []

    def noted(way):
        whole = getattr(_wat, way)
        monkeypatch.setattr(_wat, way, lambda *given: found.append((way, whole(*given))) or found[-1][1])

    limit(monkeypatch, "pairs that are counted", max_pairs)
    limit(monkeypatch, "pairs that are drawn", max_pairs)
    noted("_drawn_histogram")
    noted("association_histogram")
    labels = matrix("missing")
    assert_equals_repeated(seeded(name), labels, weights_of("zeros", labels))
    (way, histogram), again = found
    assert way == again[0]
    assert_array_equal(histogram, again[1])
