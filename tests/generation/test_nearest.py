"""The nearest rows by cells: scikit-learn's, whatever the cells, the threads and the ties are."""

import naive
import numpy as np
import pytest
from limits import limit
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.neighbors import NearestNeighbors

from ensemblage.generation import RandomKPartitions, _dense_rows, _diverse, _nearest
from ensemblage.generation._dense_rows import are_dense
from ensemblage.generation._diverse import Objects
from ensemblage.generation._nearest import RowCells, clearly_nearest, have_ties, nearest_by_cells, slack_of_products


@pytest.fixture
def cells(monkeypatch):
    """Cells whatever the number of rows is."""
    limit(monkeypatch, "pairs of rows that are compared in cells", 0)


class EachAlone(ClusterMixin, BaseEstimator):
    """Every row is a cluster of its own, whatever their number should be."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None):
        self.labels_ = np.arange(len(X))
        return self


def nearest_rows(training, X):
    """The training row that is nearest to each row: whose label it has."""
    generator = RandomKPartitions(1, k_min=2, k_max=2, estimator=EachAlone(), n_jobs=1, random_state=0)
    return generator.fit(training).transform(X)[:, 0]


def rows_of(kind, n, d, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "clouds":
        return rng.normal(size=(3, d))[rng.integers(3, size=n)] * 5 + rng.normal(size=(n, d))
    return rng.integers(0, 3, size=(n, d)).astype(float) if kind == "whole" else rng.standard_t(1, size=(n, d))


@pytest.mark.parametrize("kind", ["clouds", "whole", "tails"])
@pytest.mark.parametrize(("n", "d", "k"), [(1, 2, 1), (5, 1, 7), (40, 3, 4), (120, 6, 2), (200, 17, 16)])
def test_cells_against_every_pair(kind, n, d, k):
    X, queries = rows_of(kind, n, d), rows_of(kind, 30, d, seed=1)
    for found, expected in zip(RowCells.of(X).nearest(queries, k), naive.nearest_rows(X, queries, k), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_cell_of_more_rows_than_are_compared_at_once(monkeypatch):
    monkeypatch.setattr(_nearest, "round", lambda of: 2, raising=False)
    X = rows_of("clouds", 2_000, 3)
    squares, nearest = RowCells.of(X).nearest(X[:20], 3)
    expected = naive.nearest_rows(X, X[:20], 3)
    np.testing.assert_array_equal(squares, expected[0])
    np.testing.assert_array_equal(nearest, expected[1])


@pytest.mark.parametrize(("n", "d"), [(500, 4), (12, 30)])
def test_all_rows_of_a_cell_lie_within_its_radius(n, d):
    """Which is no larger than it must be."""
    X = rows_of("clouds", n, d)
    of = RowCells.of(X)
    assert sorted(of.names) == list(range(n))
    np.testing.assert_array_equal(of.columns.T, X[of.names])
    for c, (first, last) in enumerate(zip(of.starts[:-1], of.starts[1:], strict=True)):
        farthest = np.linalg.norm(of.columns[:, first:last].T - of.centres[:, c], axis=1).max(initial=0)
        assert farthest <= of.radii[c] <= farthest * (1 + 1e-6)


def test_cells_that_are_far_are_left_out():
    X = rows_of("clouds", 500, 4)
    of = RowCells.of(X)
    radii = np.zeros_like(of.radii)  # a bound too high: rows are missed
    assert (of._replace(radii=radii).nearest(X[:50], 30)[0] != of.nearest(X[:50], 30)[0]).any()


@pytest.mark.parametrize("d", [3, 16, 40])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nearest_row_is_that_of_scikit_learn(cells, monkeypatch, d, n_jobs):
    X, queries = rows_of("clouds", 300, d), rows_of("clouds", 3_000, d, seed=1)
    expected = NearestNeighbors(n_neighbors=1).fit(X).kneighbors(queries, return_distance=False)[:, 0]
    np.testing.assert_array_equal(clearly_nearest(X, queries, n_jobs), expected)
    monkeypatch.setattr(NearestNeighbors, "kneighbors", None)
    np.testing.assert_array_equal(nearest_rows(X, queries), expected)


def test_rows_as_near_as_others_are_left_to_scikit_learn(cells):
    X = rows_of("clouds", 300, 3)
    copies, queries = np.vstack([X, X]), rows_of("clouds", 3_000, 3, seed=1)
    assert clearly_nearest(copies, queries) is None
    expected = NearestNeighbors(n_neighbors=1).fit(copies).kneighbors(queries, return_distance=False)[:, 0]
    np.testing.assert_array_equal(nearest_rows(copies, queries), expected)
    assert clearly_nearest(X + 1e9, queries + 1e9) is None  # products of such numbers are rounded too much
    assert have_ties(copies)
    assert not have_ties(X)


@pytest.mark.parametrize(("kind", "seen"), [("float32", False), ("wide", False), ("few", False), ("enough", True)])
def test_what_cells_are_for(monkeypatch, kind, seen):
    limit(monkeypatch, "pairs of rows that are compared in cells", 300 * 200 + (kind == "few"))
    X = rows_of("clouds", 300, 41 if kind == "wide" else 3)
    X = X.astype(np.float32) if kind == "float32" else X
    asked, search = [], NearestNeighbors.kneighbors
    monkeypatch.setattr(NearestNeighbors, "kneighbors", lambda *of, **more: asked.append(of) or search(*of, **more))
    np.testing.assert_array_equal(nearest_rows(X, X[:200]), np.arange(200))
    assert bool(asked) != seen


@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_numbers_whose_squares_are_none(cells, factor):
    X = factor * rows_of("clouds", 300, 3)
    expected = NearestNeighbors(n_neighbors=1).fit(X[:100]).kneighbors(X, return_distance=False)[:, 0]
    np.testing.assert_array_equal(nearest_rows(X[:100], X), expected)


@pytest.mark.core(3)
@pytest.mark.parametrize("kind", ["clouds", "whole", "tails", "copies"])
@pytest.mark.parametrize("d", [2, 10, 15, 16, 30])
def test_the_same_rows_are_dense(monkeypatch, kind, d):
    X = rows_of("clouds" if kind == "copies" else kind, 900, d)
    X = np.repeat(X[:300], 3, axis=0) if kind == "copies" else X
    expected = are_dense(X[::3], X, seed=0)
    limit(monkeypatch, "pairs of rows that are compared in cells", 0)
    for n_jobs in (1, 2):
        np.testing.assert_array_equal(are_dense(X[::3], X, 0, n_jobs), expected)


def test_rows_as_sparse_as_others_are_left_to_scikit_learn(cells, monkeypatch):
    """With many features, where the last bits of the distances decide which are kept."""
    asked = []

    def far(drawn, *of):
        asked.append(len(drawn))
        return np.arange(1.0, 1 + len(drawn))

    monkeypatch.setattr(_dense_rows, "_far", far)
    X = rows_of("clouds", 900, 20)
    are_dense(X[::3], X, seed=0)
    assert not asked
    monkeypatch.setattr(_dense_rows, "have_ties", lambda X: False)
    monkeypatch.setattr(_dense_rows, "slack_of_products", lambda X, squares: 0.5 * squares)
    are_dense(X[::3], X, seed=0)
    assert asked


def test_sparsity_is_beside_that_of_the_neighbours():
    """Copies are as sparse as usual; beside them, all others are sparse."""
    near = np.array([[1], [2], [0]])
    assert _dense_rows._sparsity(np.array([1.0, 2, 4]), near).tolist() == [0.5, 0.5, 4]
    assert _dense_rows._sparsity(np.array([0.0, 0, 2]), np.array([[1], [0], [0]])).tolist() == [1, 1, np.inf]


def test_which_rows_are_clearly_kept():
    """Of 75 rows the 60 least sparse, and of each of three cells of 25 the 20 least sparse."""
    sparsity, cells, errors = np.arange(1.0, 76), np.repeat([1, 2, 0], 25), np.zeros(75)
    assert _dense_rows._are_clearly_kept(sparsity, errors, cells)
    for i in (19, 44, 59, 69):  # ranks 20 in cells, and rank 60 of all
        assert not _dense_rows._are_clearly_kept(sparsity, np.where(np.arange(75) == i, 1 / (i + 1), 0), cells)
        assert not _dense_rows._are_clearly_kept(np.where(np.arange(75) == i, i + 2, sparsity), errors, cells)
    assert _dense_rows._are_clearly_kept(sparsity, np.where(np.arange(75) == 30, 0.01, 0), cells)


@pytest.mark.parametrize("d", [3, 15, 16, 30])
def test_neighbours_of_all_are_those_of_a_tree_or_of_products(monkeypatch, d):
    X = rows_of("clouds", 400, d)
    expected = NearestNeighbors(n_neighbors=9).fit(X).kneighbors(return_distance=False)
    assert (Objects(X).known_nearest(9) is None) == (d > _diverse.MOST_SEARCHED_BY_TREE)
    limit(monkeypatch, "pairs of rows that are compared in cells", 0)
    np.testing.assert_array_equal(Objects(X).known_nearest(9), expected)
    assert Objects(np.vstack([X, X[:1]])).known_nearest(9) is None
    assert (Objects(X + 1e9).known_nearest(9) is None) == (d > _diverse.MOST_SEARCHED_BY_TREE)


def test_slack_is_above_the_rounding_of_products():
    X = 1_000 + rows_of("clouds", 200, 40)
    squares, nearest = nearest_by_cells(X, X, 2)
    products = (X**2).sum(axis=1)
    by_products = products + products[nearest[:, 1]] - 2 * (X * X[nearest[:, 1]]).sum(axis=1)
    assert (np.abs(by_products - squares[:, 1]) < slack_of_products(X, squares[:, 1])).all()
    assert np.abs(by_products - squares[:, 1]).max() > 0
