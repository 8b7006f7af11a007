"""Counts by what the public functions make of them: contingency tables, label counts per cluster, pair histograms."""

from itertools import combinations

import naive
import numpy as np
import pytest
from hypothesis import given
from limits import limit
from strategies import label_matrices, random_labels, with_equal_rows

from ensemblage import Ensemble
from ensemblage.labels.disk import BlockRows
from ensemblage.metrics import density, kmeans_loss, partition_distances
from ensemblage.metrics._coassociation import association_counts

pytestmark = pytest.mark.usefixtures("only_kernels")

KINDS = ("manhattan", "symdiff", "vi")
"""Distances of whole tables, of squares of their cells, and of entropies."""


def distances(labels, kind):
    """By the definition."""
    p = labels.shape[1]
    pairs = [naive.partition_distance(labels[:, i], labels[:, j], kind) for i in range(p) for j in range(p) if i != j]
    found = np.zeros((p, p))
    found[~np.eye(p, dtype=bool)] = pairs
    return found


def stored(labels, folder):
    np.save(folder / "labels.npy", labels)
    return Ensemble.open(folder / "labels.npy", scratch=folder)


# ---- Contingency tables ----


@pytest.mark.parametrize("kind", KINDS)
@given(labels=label_matrices(max_objects=30))
def test_tables_of_all_pairs(kind, labels):
    np.testing.assert_allclose(partition_distances(labels, kind), distances(labels, kind), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_one_partition_has_no_tables(kind):
    assert partition_distances([[0], [1]], kind).tolist() == [[0]]


@pytest.mark.parametrize("kind", KINDS)
def test_threads_do_not_matter(missing, kind):
    labels = random_labels(500, 8, 5, missing)
    one, three = (partition_distances(labels, kind, n_jobs=n_jobs) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_count_as_often_as_they_are_there(missing, kind):
    labels = with_equal_rows(random_labels(40, 5, 4, missing), 90)
    np.testing.assert_allclose(partition_distances(labels, kind), distances(labels, kind), atol=1e-9)


@pytest.mark.parametrize("kind", ["symdiff", "vi"])
def test_tables_larger_than_the_data_are_sorted_instead(missing, kind):
    """65,536 cells are the least that is counted by sorting."""
    labels = with_equal_rows(random_labels(900, 3, 500, missing), 1100)
    labels[:, 2] %= 3
    assert (Ensemble(labels).n_clusters[:2] > 255).all()
    found = partition_distances(labels, kind)
    for i, j in combinations(range(3), 2):
        table = naive.contingency(labels[:, i], labels[:, j])[:-1, :-1]
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        if kind == "symdiff":
            expected = ((rows**2).sum() + (columns**2).sum() - 2 * (table**2).sum()) / 2
        else:
            joint, first, second = (naive.shannon(part.ravel() / table.sum()) for part in (table, rows, columns))
            expected = 2 * joint - first - second
        assert found[i, j] == pytest.approx(expected)


def test_sums_by_sorting_of_partitions_that_share_nothing():
    labels = np.full((600, 2), -1)
    labels[:300, 0] = labels[300:, 1] = np.arange(300)
    assert np.isnan(partition_distances(labels, "symdiff")[0, 1])


def test_every_thread_has_tables_of_its_own_while_they_are_small(tmp_path, monkeypatch):
    """Without random access: n_jobs sets of them, one set where that would be much."""
    limit(monkeypatch, "share of the memory for distinct rows on disk", 10**9)
    labels, threads, add = random_labels(300, 4, 5), [], BlockRows.add
    cells = 6 * 6 * 6  # of six tables

    def counted(self, function, shapes, *given, n_jobs=None, **others):
        if shapes == [(cells,)]:
            threads.append(n_jobs)
        return add(self, function, shapes, *given, n_jobs=n_jobs, **others)

    monkeypatch.setattr(BlockRows, "add", counted)
    for room in (cells, cells - 1):
        limit(monkeypatch, "cells of the tables that are counted at once", room)
        partition_distances(stored(labels, tmp_path), "manhattan", n_jobs=3)
    assert threads == [3, 1]


# ---- Label counts per cluster ----


@pytest.mark.core(3)
@pytest.mark.parametrize("small_table", [0, 2**20])
@pytest.mark.parametrize("k", [1, 3, 40])
def test_squared_label_counts(missing, k, small_table, small_blocks, monkeypatch):
    """With and without a table; few large clusters and many small ones take different ways through the kernel."""
    limit(monkeypatch, "cells of a table of label counts", small_table)
    labels = random_labels(120, 4, 30, missing)
    clusters = np.random.default_rng(1).integers(-1, k, size=120)
    clusters[:k] = np.arange(k)
    assert density(labels, clusters) == pytest.approx(naive.density(labels, clusters))
    assert kmeans_loss(labels, clusters) == pytest.approx(naive.kmeans_loss(labels, clusters))


def test_squared_label_counts_of_rows_on_disk(tmp_path, monkeypatch):
    """Read once for as many clusters as there is room for."""
    limit(monkeypatch, "cells of a table of label counts", 0)
    labels, clusters = random_labels(60, 3, 5, 0.2), np.arange(60) % 7
    for room in (1, 40, 2**23):
        limit(monkeypatch, "cells of a table of label counts of rows elsewhere", room)
        for metric in (density, kmeans_loss):
            assert metric(stored(labels, tmp_path), clusters) == metric(labels, clusters)


# ---- Pair histograms ----


@pytest.mark.parametrize("p", [3, 254, 255, 256, 257])
def test_counters_of_pairs_widen(p):
    """A hundred objects with each of three rows: two of them differ in one partition, the third in all."""
    labels = np.zeros((3, p), dtype=int)
    labels[1, p - 1] = 1
    labels[2] = 2
    histogram = association_counts(np.repeat(labels, 100, axis=0))
    assert histogram[[0, p - 1, p]].tolist() == [20_000, 10_000, 3 * 4_950]
    assert histogram.sum() == 44_850


@pytest.mark.parametrize("tile_bytes", [0, 2**26])
def test_pairs_across_blocks_are_counted_once(monkeypatch, missing, small_blocks, tile_bytes):
    """With bitmaps and without."""
    limit(monkeypatch, "rows that one row is compared with", 16)
    limit(monkeypatch, "bytes of the bitmaps of a tile", tile_bytes)
    labels = random_labels(150, 4, 6, missing)
    histogram = association_counts(labels)
    np.testing.assert_array_equal(histogram, naive.association_counts(labels))
    assert histogram.dtype == np.int64
    np.testing.assert_array_equal(histogram, association_counts(labels, n_jobs=1))
