"""Kernels that count pairs: contingency tables, label counts per cluster, pair histograms."""

import naive
import numpy as np
import pytest
from hypothesis import given
from strategies import label_matrices, random_labels, twins

from ensemblage import Ensemble
from ensemblage.counting import _contingency, _pairs
from ensemblage.counting._contingency import contingency_tables, sums_with
from ensemblage.counting._pairs import label_count_squares, pair_histogram

pytestmark = pytest.mark.usefixtures("only_kernels")

SQUARES = np.empty(0, dtype=np.int64)


def tables_of(labels, n_jobs=None):
    codes, counts, _ = Ensemble(labels).distinct
    codes = codes[:]
    return contingency_tables(np.ascontiguousarray(codes.T), counts, Ensemble(labels).n_clusters, n_jobs)


@given(labels=label_matrices(max_objects=30))
def test_tables_of_all_pairs(labels):
    tables, ensemble = tables_of(labels), Ensemble(labels)
    coded = np.where(ensemble.codes == ensemble.n_clusters, -1, ensemble.codes.astype(int))
    for i in range(labels.shape[1]):
        for j in range(labels.shape[1]):
            if i != j:
                np.testing.assert_array_equal(tables.table(i, j), naive.contingency(coded[:, i], coded[:, j]))


def test_layout_of_the_tables():
    tables = tables_of([[0, 0, 0], [0, 1, -1], [1, 2, 0]])
    assert tables.starts.tolist() == [[-1, 0, 12], [-1, -1, 18], [-1, -1, -1]]
    assert len(tables.flat) == 3 * 4 + 3 * 2 + 4 * 2
    assert tables.table(1, 2).tolist() == [[1, 0], [0, 1], [1, 0], [0, 0]]
    assert tables.table(2, 1).tolist() == [[1, 0, 1, 0], [0, 1, 0, 0]]
    assert np.shares_memory(tables.table(2, 1), tables.flat)


def test_one_partition_has_no_tables():
    assert len(tables_of([[0], [1]]).flat) == 0


def test_threads_do_not_matter(missing):
    labels = random_labels(500, 8, 5, missing)
    np.testing.assert_array_equal(tables_of(labels, 1).flat, tables_of(labels, 3).flat)


def sums(labels, i, chosen, f=SQUARES):
    ensemble = Ensemble(labels)
    codes, counts, _ = ensemble.distinct
    codes = codes[:]
    columns, k = np.ascontiguousarray(codes.T), ensemble.n_clusters
    return sums_with(columns[i], columns, counts, (int(k[i]), k), np.array(chosen), f)


def naive_sums(a, b, f):
    table = naive.contingency(a, b)[:-1, :-1]
    return [f(table).sum(), f(table.sum(axis=1)).sum(), f(table.sum(axis=0)).sum(), table.sum()]


def test_sums_over_the_tables(missing):
    labels = twins(random_labels(40, 5, 4, missing), 90)
    f = np.arange(91) ** 3
    for other in (1, 3, 4):
        expected = naive_sums(labels[:, 0], labels[:, other], lambda table: table**2)
        assert sums(labels, 0, [1, 3, 4])[:, other].tolist() == expected
        expected = naive_sums(labels[:, 0], labels[:, other], lambda table: table**3)
        assert sums(labels, 0, [1, 3, 4], f)[:, other].tolist() == expected
    assert not sums(labels, 0, [1, 3, 4])[:, [0, 2]].any()


def test_tables_larger_than_the_data_are_sorted_instead(missing):
    """65,536 cells are the least that is counted by sorting."""
    labels = random_labels(700, 3, 500, missing)
    labels[:, 2] %= 3
    assert (Ensemble(labels).n_clusters[:2] > 255).all()
    for other in (1, 2):
        expected = naive_sums(labels[:, 0], labels[:, other], lambda table: table**2)
        assert sums(labels, 0, [1, 2])[:, other].tolist() == expected


def test_sums_by_sorting_of_partitions_that_share_nothing():
    a, b = np.array([0, 1, 2]), np.array([2, 2, 0])
    counts = np.ones(3, dtype=np.int64)
    assert _contingency._sums_by_sorting(a, b, counts, 2, 2, SQUARES) == [0, 0, 0, 0]


def test_sums_by_sorting_of_the_cells_beside_the_diagonal():
    a, b = np.array([0, 1, 1]), np.array([1, 0, 0])
    counts = np.array([2, 3, 4])
    assert _contingency._sums_by_sorting(a, b, counts, 2, 2, SQUARES) == [2**2 + 7**2, 2**2 + 7**2, 7**2 + 2**2, 9]


def test_squared_label_counts_of_rows_on_disk(tmp_path, monkeypatch):
    """Read once for as many clusters as there is room for."""
    monkeypatch.setattr(_pairs, "SMALL_TABLE", 0)
    labels = random_labels(60, 3, 5, 0.2)
    np.save(tmp_path / "labels.npy", labels)
    stored, ensemble = Ensemble.open(tmp_path / "labels.npy", scratch=tmp_path), Ensemble(labels)
    clusters = np.arange(60) % 7
    given = clusters, np.bincount(clusters), ensemble.offsets
    for room in (1, 40, 2**23):
        monkeypatch.setattr(_pairs, "LARGE_TABLE", room)
        for found, expected in zip(
            label_count_squares(stored.rows, *given), label_count_squares(ensemble.rows, *given), strict=True
        ):
            np.testing.assert_array_equal(found, expected)


def test_every_thread_has_tables_of_its_own_while_they_are_small():
    """Without random access: n_jobs sets of them, one set where that would be much."""
    seen, largest = [], _contingency.CELLS

    class Rows:
        def add(self, task, shapes, *others, n_jobs, **given):
            seen.append(n_jobs)
            return [np.zeros(*shapes)]

    for cells in (10, largest, largest + 1):
        _contingency._count_pairs(Rows(), SQUARES, SQUARES, SQUARES, np.array([0, cells]), 3)
    assert seen == [3, 3, 1]


@pytest.mark.parametrize("small_table", [0, 2**20])
@pytest.mark.parametrize("k", [1, 3, 40])
def test_squared_label_counts(missing, k, small_table, small_blocks, monkeypatch):
    """With and without a table; few large clusters and many small ones take different ways through the kernel."""
    monkeypatch.setattr(_pairs, "SMALL_TABLE", small_table)
    labels = random_labels(120, 4, 30, missing)
    clusters = np.random.default_rng(1).integers(-1, k, size=120)
    clusters[:k] = np.arange(k)
    sizes = np.bincount(clusters[clusters >= 0], minlength=k)
    ensemble = Ensemble(labels)
    squares, labelled = label_count_squares(ensemble.rows, clusters, sizes, ensemble.offsets)
    for c in range(k):
        for t in range(4):
            z = labels[(clusters == c) & (labels[:, t] >= 0), t]
            assert labelled[c, t] == len(z)
            assert squares[c, t] == (np.bincount(z) ** 2).sum()


@pytest.mark.parametrize("p", [3, 255, 256])
def test_counters_of_pairs_widen(p):
    """Two rows that agree in all of more than 255 partitions, and one that agrees in none."""
    codes = np.zeros((3, p + 1), dtype=np.uint8)
    codes[1, p] = 1
    codes[2] = 1
    histogram = pair_histogram(codes, np.ones(3, dtype=np.int64), np.full(p + 1, 2), complete=True)[:, 0]
    assert histogram[[0, 1, p]].tolist() == [1, 1, 1]
    assert histogram.sum() == 3


def test_pairs_across_blocks_are_counted_once(monkeypatch, missing, small_blocks):
    monkeypatch.setattr(_pairs, "PAIR_BLOCK", 16)
    labels = random_labels(150, 4, 6, missing)
    codes, counts, _ = Ensemble(labels).distinct
    codes = codes[:]
    histogram = pair_histogram(codes, counts, Ensemble(labels).n_clusters, complete=missing == 0)
    apart = (len(labels) ** 2 - (counts**2).sum()) // 2
    assert histogram.sum() == apart
    assert histogram.dtype == np.int64
    one_thread = pair_histogram(codes, counts, Ensemble(labels).n_clusters, missing == 0, n_jobs=1)
    np.testing.assert_array_equal(histogram, one_thread)


@pytest.mark.parametrize("k", [5, 300])
def test_cells_of_two_partitions(k):
    """Of a table, or sorted where a table would have far more cells than there are objects."""
    rng = np.random.default_rng(0)
    a, b, counts = rng.integers(6, size=60), rng.integers(6, size=60), rng.integers(1, 4, size=60)
    a[a == 5], b[b == 5] = k, k  # missing
    expected = np.zeros((k, k), dtype=np.int64)
    for i, j, count in zip(a, b, counts, strict=True):
        if i < k and j < k:
            expected[i, j] += count
    cells, members = _contingency.cells_of_pair(a, b, counts, k, k)
    np.testing.assert_array_equal(cells, np.flatnonzero(expected))
    np.testing.assert_array_equal(members, expected[expected > 0])


def test_pairs_are_the_same_with_bitmaps_and_without(monkeypatch):
    labels = random_labels(150, 4, 6)
    codes, counts, _ = Ensemble(labels).distinct
    given = codes[:], counts, Ensemble(labels).n_clusters, True
    expected = pair_histogram(*given)
    monkeypatch.setattr(_pairs, "bitmaps_pay", lambda _: False)
    np.testing.assert_array_equal(pair_histogram(*given), expected)
