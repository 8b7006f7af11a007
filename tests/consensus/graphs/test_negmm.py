"""NegMM, its index, and the thresholds that it tries."""

from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from strategies import label_matrices, planted_labels, with_equal_rows

from ensemblage import Ensemble
from ensemblage.consensus import CSPA, NegMM
from ensemblage.consensus.graphs import _negmm
from ensemblage.metrics import mm_index
from ensemblage.metrics._coassociation import Associations
from ensemblage.metrics._wat import mm_index_of, weak_association_threshold, weights_of

ONES = np.ones(10, dtype=int)


def two_blocks():
    """Ten points: two blocks of similarity 0.9 and 0.8 and a bridge of 0.3."""
    S = np.zeros((10, 10))
    S[:5, :5], S[5:, 5:] = 0.9, 0.8
    S[4, 5] = S[5, 4] = 0.3
    np.fill_diagonal(S, 1)
    return S


def test_worked_example():
    S = Associations(two_blocks(), np.empty(0))
    assert_allclose(weights_of(S, ONES, np.zeros(10, dtype=int), 3), [1] * 5 + [0.8 / 0.9] * 5)
    assert mm_index_of(S, ONES, np.repeat([0, 1], 5), 3) == pytest.approx(0.62963, abs=5e-6)
    assert mm_index_of(S, ONES, np.repeat([0, 1], [4, 6]), 3) == pytest.approx(25.0)
    assert mm_index_of(S, ONES, np.repeat([0, 1], [3, 7]), 3) == np.inf


def by_ncut(R):
    """Bipartition of a cluster as the authors do it."""
    cut = CSPA(2, partitioner="spectral", random_state=0).fit_similarity(np.minimum(R, 1))
    return cut.labels_ == 0


def first_alone(R):
    return np.arange(len(R)) == 0


@pytest.mark.parametrize("cut", [by_ncut, first_alone])
@given(
    labels=label_matrices(min_objects=8, max_objects=16, max_clusters=3),
    seed=st.integers(0, 99),
    n_neighbors=st.integers(1, 3),
)
def test_index_is_that_of_the_paper_whatever_the_cut(cut, labels, seed, n_neighbors):
    rng = np.random.default_rng(seed)
    labels[(labels < 0).all(axis=1), 0] = 0
    partition = np.append([0, 1], rng.integers(-1, 2, size=len(labels) - 2))
    expected = naive.mm_index(naive.coassociation(labels), partition, cut, n_neighbors)
    assert mm_index(labels, partition, n_neighbors=n_neighbors) == pytest.approx(expected)


def test_weights_of_partitions():
    labels, truth = planted_labels(n=30, p=4, k=2, seed=1)
    repeated = np.column_stack([labels, labels[:, 0]])
    assert mm_index(labels, truth, weights=[2, 1, 1, 1]) == pytest.approx(mm_index(repeated, truth))


def test_a_cluster_that_falls_apart_is_infinitely_bad():
    labels = np.repeat([0, 1, 2], 5)[:, None]
    assert mm_index(labels, np.repeat([0, 0, 1], 5)) == np.inf
    assert mm_index(labels, np.repeat([0, 1, 2], 5)) == 0


def test_index_refuses():
    with pytest.raises(ValueError, match="n_neighbors of mm_index must be a whole number"):
        mm_index([[0], [1]], [0, 1], n_neighbors=0)
    with pytest.raises(ValueError, match="must fit into max_bytes"):
        mm_index(np.arange(10)[:, None], np.arange(10), max_bytes=100)


# ---- the method ----


@pytest.fixture
def planted():
    return planted_labels(n=120, p=10, k=3, noise=0.3, seed=4)


def test_planted_clusters_are_found(planted):
    labels, truth = planted
    for threshold in ("search", "kmeans", "gmm", 0.25):
        model = NegMM(3, association_threshold=threshold, random_state=0).fit(labels)
        assert adjusted_rand_score(truth, model.labels_) > 0.9
        assert model.mm_index_ == pytest.approx(mm_index(labels, model.labels_))


@pytest.mark.parametrize("n_partitions", [7, 100, 1000])
def test_equal_counts_fall_with_the_threshold(n_partitions):
    counts = np.arange(n_partitions + 1)
    levels = np.minimum.outer(counts, counts).astype(np.uint16)
    for s, threshold in enumerate(_negmm.THRESHOLDS):
        strong = _negmm.strong_graph(Associations(levels, counts / n_partitions), threshold).toarray()
        exact = [Fraction(int(c), n_partitions) > Fraction(s, 100) for c in counts]
        assert_array_equal(strong[-1, :-1] > 0, exact[:-1])


def symmetric_levels(m, n_levels, dtype, seed):
    """(m, m) symmetric numbers of levels, the largest on the diagonal; small ones are the most frequent."""
    rng = np.random.default_rng(seed)
    upper = np.triu(np.minimum(rng.integers(n_levels, size=(m, m)), rng.integers(n_levels, size=(m, m))), 1)
    return (upper + upper.T + (n_levels - 1) * np.eye(m, dtype=int)).astype(dtype)


@pytest.mark.core(3)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float64])
@pytest.mark.parametrize("m", [1, 7, 64, 131])
def test_the_graph_keeps_what_is_above_the_threshold_and_the_diagonal(dtype, m):
    levels = symmetric_levels(m, 9, dtype, seed=m)
    levels[m // 2, m // 2] = 0  # a row that no partition labels
    values = np.arange(9) / 8
    S = values[levels.astype(int)]
    similarity = Associations(S, np.empty(0)) if dtype == np.float64 else Associations(levels, values)
    for threshold in (0, 0.125, 0.3, 0.99):
        graph = _negmm.strong_graph(similarity, threshold)
        kept = (threshold < S) | np.eye(m, dtype=bool)
        assert_array_equal(graph.toarray(), np.where(kept, S, 0))
        assert graph.nnz == kept.sum()
        assert graph.has_sorted_indices
    limits = np.array([0, 0.125, 0.2, 0.5, 1])
    assert_array_equal(similarity.counts_up_to(limits), [(limit >= S).sum() for limit in limits])


@pytest.mark.parametrize("n_neighbors", [1, 3, 64, 65, 500])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_weights_are_sums_of_the_largest_similarities_of_objects(dtype, n_neighbors):
    m, rng = 150, np.random.default_rng(0)
    levels, counts = symmetric_levels(m, 9, dtype, seed=1), rng.integers(1, 4, size=m)
    values, clusters = np.arange(9) / 8, rng.integers(-1, 1, size=m)
    S = values[levels.astype(int)]
    similarity = Associations(S, np.empty(0)) if dtype == np.float64 else Associations(levels, values)
    for given_clusters in (clusters, np.zeros(m, dtype=int)):
        rows = np.flatnonzero(given_clusters >= 0)
        expected = np.zeros(m)
        for i in rows:
            others = np.repeat(S[i, rows], counts[rows] - (rows == i))
            expected[i] = np.sort(others)[::-1][:n_neighbors].sum()
        assert_allclose(weights_of(similarity, counts, given_clusters, n_neighbors), expected / expected.max())


def test_the_search_has_51_thresholds():
    assert len(_negmm.THRESHOLDS) == 51
    assert _negmm.THRESHOLDS[0] == 0
    assert _negmm.THRESHOLDS[7] == 0.07
    assert _negmm.THRESHOLDS[-1] == 0.5


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_equal_graphs_are_cut_once(planted, missing):
    labels = planted[0].copy()
    labels[np.random.default_rng(0).random(labels.shape) < missing] = -1
    once = NegMM(3, random_state=1).fit(labels)
    always = NegMM(3, random_state=1, distinct=False).fit(labels)
    assert len(always.candidates_) == 51
    assert len(once.candidates_) == 6 if not missing else 6 < len(once.candidates_) < 51
    assert_array_equal(once.labels_, always.labels_)
    assert once.association_threshold_ == always.association_threshold_
    tried = {candidate.threshold: candidate for candidate in once.candidates_}
    for candidate in always.candidates_:
        same = tried[max(t for t in tried if t <= candidate.threshold)]
        assert_array_equal(candidate.labels, same.labels)
        assert candidate.mm_index == same.mm_index


def test_the_best_candidate_wins_the_smallest_threshold_on_ties(planted):
    model = NegMM(3, random_state=0, distinct=False).fit(planted[0])
    indices = [candidate.mm_index for candidate in model.candidates_]
    best = model.candidates_[int(np.argmin(indices))]
    assert model.association_threshold_ == best.threshold
    assert model.mm_index_ == min(indices)
    assert_array_equal(model.labels_, best.labels)


def test_all_candidates_infinite_keeps_the_smallest_threshold():
    labels = np.repeat([0, 1], [3, 3])[:, None]
    model = NegMM(2, random_state=0).fit(labels)
    assert model.mm_index_ == np.inf
    assert model.association_threshold_ == 0
    assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 1])


def test_the_threshold_of_the_words_is_the_metrics(planted):
    for word in ("kmeans", "gmm"):
        model = NegMM(3, association_threshold=word, random_state=0).fit(planted[0])
        assert model.association_threshold_ == weak_association_threshold(planted[0], word)
        assert len(model.candidates_) == 1


def test_objects_with_equal_labels_stay_together_and_count():
    labels = with_equal_rows(planted_labels(n=40, p=6, k=3, noise=0.4, seed=2)[0], 150)
    model = NegMM(4, random_state=0).fit(labels)
    _, _, row = Ensemble(labels).distinct
    assert all(len(set(model.labels_[row == r])) == 1 for r in set(row))
    assert model.mm_index_ == pytest.approx(mm_index(labels, model.labels_))


def test_a_threshold_that_isolates_nearly_everything(planted):
    model = NegMM(3, association_threshold=0.99, random_state=0).fit(planted[0])
    assert model.n_clusters_ <= 3
    assert (model.labels_ >= 0).all()


def test_one_cluster(planted):
    model = NegMM(1).fit(planted[0])
    assert_array_equal(model.labels_, 0)


def test_identical_partitions():
    truth = np.repeat([0, 1, 2], [9, 5, 4])
    model = NegMM(3, random_state=0).fit(np.column_stack([truth] * 4))
    assert_array_equal(model.labels_, truth)
    assert model.mm_index_ == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"association_threshold": "best"},
            "association_threshold of NegMM must be one of 'search', 'kmeans', 'gmm', or a number",
        ),
        ({"association_threshold": 1.0}, "association_threshold of NegMM must be .*, or a number ≥ 0 and < 1"),
        ({"association_threshold": -0.1}, "association_threshold of NegMM must be .* Got -0.1"),
        ({"n_neighbors": 0}, "n_neighbors of NegMM must be a whole number"),
        ({"max_bytes": 1000}, "must fit into max_bytes"),
    ],
)
def test_refuses(planted, parameters, message):
    with pytest.raises(ValueError, match=message):
        NegMM(3, **parameters).fit(planted[0])
