"""The memetic search of SALSO, where no two starts agree: weights, missing labels, disk, threads, its parameters."""

import re

import naive
import numpy as np
import pytest
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from strategies import random_labels

from ensemblage import Ensemble
from ensemblage.base import threads
from ensemblage.consensus import SalsoConsensus
from ensemblage.kernels._partition_loss import (
    ID,
    NID,
    NVI,
    OMARI,
    PLAIN,
    PartitionLoss,
    PartitionTables,
    count_rows,
    place_rows,
    second_best,
    sum_tables,
)
from ensemblage.posterior import expected_loss

SEARCHED = [("gvi", 0.5), ("binder", 1), ("omari", 1), ("nvi", 1), ("id", 1), ("nid", 1)]
"""Losses with which no two of three starts agree on the noisy draws: one for each way to compute them."""
CASES = [*((loss, a, 0.2) for loss, a in SEARCHED), ("binder", 1, 0), ("nid", 1, 0)]
"""With the share of labels that are missing."""
WAYS = {
    ("gvi", 0.5, 0.2): ((37, 3.365244457), (38, 1.730649052)),
    ("binder", 1, 0.2): ((32, 0.193808808), (35, 0.135460974)),
    ("omari", 1, 0.2): ((37, 0.826752224), None),
    ("nvi", 1, 0.2): ((37, 0.754616915), (37, 0.507325131)),
    ("id", 1, 0.2): ((33, 1.687218307), (33, 0.953679196)),
    ("nid", 1, 0.2): ((33, 0.613142617), (36, 0.360926938)),
    ("binder", 1, 0): ((32, 0.2021875), (35, 0.146855378)),
    ("nid", 1, 0): ((35, 0.675582516), (37, 0.414189536)),
}
"""With equal weights of the objects, and with some of 30."""
EFFORT = {"n_init": 3, "n_rounds": 2, "n_searches": 2, "random_state": 1}


_KINDS = {"vi": PLAIN, "gvi": PLAIN, "binder": PLAIN, "omari": OMARI, "nvi": NVI, "id": ID, "nid": NID}


def noisy_draws(missing=0.0):
    """80 objects, 9 draws of five clusters; most labels are moved at random."""
    random, truth = np.random.default_rng(0), np.arange(80) % 5
    labels = np.where(random.random((80, 9)) < 0.8, random.integers(7, size=(80, 9)), truth[:, None])
    labels[random.random((80, 9)) < missing] = -1
    return labels


def searched(labels, sample_weight=None, **given):
    """The model of a fit that goes on after the starts of its first search."""
    model = SalsoConsensus(**EFFORT | given).fit(labels, sample_weight=sample_weight)
    assert len(model.losses_) == model.n_searches * model.n_init
    return model


def tables_of(clusters, labels, k, loss, a=1.0, weights=None):
    """What kernels get of (n, p) labels and clusters of the objects, k of them at most: all are different rows."""
    sizes = labels.max(axis=0) + 1
    n, d, kind = len(labels), int((sizes + 1).sum()), _KINDS[loss]
    codes, offsets = np.where(labels < 0, sizes, labels), np.concatenate([[0], np.cumsum(sizes + 1)])
    x, complete = np.arange(n + 1.0), (labels >= 0).all()
    g = x * x if loss in ("binder", "omari") else x * np.log2(np.maximum(x, 1))
    weights = np.ones(labels.shape[1]) if weights is None else np.asarray(weights, dtype=float)
    given = tuple(PartitionLoss(codes, np.ones(n, dtype=np.int64), offsets, weights, g, kind, float(a), 1e-9))
    gains = np.full((d if kind == PLAIN else 0, k), g[1])
    tables = PartitionTables(
        np.asarray(clusters, dtype=np.int32),
        np.zeros(k, dtype=np.int64),
        np.zeros((d, k + 1), dtype=np.int32),
        gains,
        np.zeros((1 if complete else labels.shape[1], k + 1), dtype=np.int64),
        np.zeros((0 if kind == PLAIN else labels.shape[1], 3)),
    )
    count_rows(np.arange(n), np.ones(n, dtype=np.int64), given, tuple(tables))
    return given, tuple(tables)


def assert_same(one, other):
    assert_array_equal(one.labels_, other.labels_)
    assert_array_equal(one.losses_, other.losses_)
    assert (one.objective_, one.n_iter_) == (other.objective_, other.n_iter_)


@pytest.mark.core(3)
@pytest.mark.parametrize(("loss", "a", "missing"), CASES)
def test_weights_of_draws_are_copies(loss, a, missing):
    """The search takes the same way: three starts draw no draws at random."""
    labels, weights = noisy_draws(missing), np.random.default_rng(1).integers(1, 5, size=9)
    weighted = searched(labels, loss=loss, a=a, weights=weights)
    copies = searched(np.repeat(labels, weights, axis=1), loss=loss, a=a)
    assert_array_equal(weighted.labels_, copies.labels_)
    assert_allclose(weighted.losses_, copies.losses_, rtol=1e-12)
    assert weighted.n_iter_ == copies.n_iter_
    assert weighted.objective_ == pytest.approx(expected_loss(labels, weighted.labels_, loss, a=a, weights=weights))


@pytest.mark.core(3)
@pytest.mark.parametrize(("loss", "a", "missing"), CASES)
def test_weights_of_objects_are_copies(loss, a, missing):
    labels, weights = noisy_draws(missing), np.random.default_rng(1).integers(1, 5, size=80)
    weighted = searched(labels, weights, loss=loss, a=a)
    copies = searched(np.repeat(labels, weights, axis=0), loss=loss, a=a)
    assert_array_equal(np.repeat(weighted.labels_, weights), copies.labels_)
    assert_array_equal(weighted.losses_, copies.losses_)
    assert (weighted.objective_, weighted.n_iter_) == (copies.objective_, copies.n_iter_)


@pytest.mark.parametrize(
    ("seed", "way"),
    [(12, (53, 0.417471471)), (24, (57, 0.304988946)), (50, (52, 0.477540539)), (52, (52, 0.454340389))],
)
def test_clusters_are_matched_by_their_objects_when_partitions_are_recombined(seed, way):
    """Some rows have 200 objects. By rows instead of objects the search takes another way."""
    random = np.random.default_rng(seed)
    labels, weights = random.integers(4, size=(40, 7)), np.where(random.random(40) < 0.15, 200, 1)
    model = SalsoConsensus(loss="nid", n_init=3, n_rounds=6, n_searches=1, random_state=seed)
    model.fit(labels, sample_weight=weights)
    assert (model.n_iter_, round(model.objective_, 9)) == way


@pytest.mark.parametrize(("loss", "a"), SEARCHED)
def test_a_draw_of_one_label_changes_nothing(loss, a):
    """No partition of what it labels is worse than another."""
    labels = noisy_draws(0.2)
    expected = searched(labels, loss=loss, a=a)
    found = searched(np.c_[labels, np.where(np.arange(80) == 7, 0, -1)], loss=loss, a=a)
    assert_array_equal(found.labels_, expected.labels_)
    assert found.n_iter_ == expected.n_iter_


@pytest.mark.parametrize(("loss", "a"), SEARCHED)
def test_the_loss_with_missing_labels_is_that_of_the_result(loss, a):
    labels = noisy_draws(0.2)
    model = searched(labels, loss=loss, a=a)
    assert model.objective_ == expected_loss(labels, model.labels_, loss, a=a)
    assert model.objective_ == pytest.approx(naive.expected_loss(labels, model.labels_, loss, a), rel=1e-12)
    assert model.objective_ < model.losses_.min() - 1e-6  # lower than that of any start


@pytest.mark.core(3)
@pytest.mark.parametrize(("loss", "a", "missing"), CASES)
def test_disk_and_threads_change_nothing(loss, a, missing, tmp_path):
    labels = noisy_draws(missing).astype(np.int16)
    np.save(tmp_path / "draws.npy", labels)
    given = {"loss": loss, "a": a, "weights": np.arange(1, 10)}
    expected = searched(labels, np.arange(1, 81), n_jobs=1, **given)
    assert_same(searched(labels, np.arange(1, 81), n_jobs=2, **given), expected)
    assert_same(searched(Ensemble.open(tmp_path / "draws.npy"), np.arange(1, 81), n_jobs=1, **given), expected)


@pytest.mark.parametrize(("loss", "seed"), [("binder", 1), ("nvi", 1), ("nid", 5)])
def test_rounds_and_searches_lower_the_loss(loss, seed):
    starts, one, four, searches = (
        searched(noisy_draws(), loss=loss, n_rounds=n_rounds, n_searches=n_searches, random_state=seed)
        for n_rounds, n_searches in ((0, 1), (1, 1), (4, 1), (4, 3))
    )
    assert starts.objective_ == pytest.approx(starts.losses_.min(), rel=1e-12)
    losses = [model.objective_ for model in (starts, one, four, searches)]
    assert (np.diff(losses) < -1e-6).all()
    for model in (one, four, searches):
        assert_array_equal(model.losses_[:3], starts.losses_)


@pytest.mark.core(3)
@pytest.mark.parametrize(("loss", "a", "missing"), CASES)
def test_the_search_takes_its_way(loss, a, missing):
    """Sweeps of what is best, and its loss, as they were: rounds, recombinations, the pool, chains and their order."""
    for weights, way in zip((None, np.where(np.arange(80) % 7, 1, 30)), WAYS[loss, a, missing], strict=True):
        if way is not None:  # two starts agree
            model = searched(noisy_draws(missing), weights, loss=loss, a=a, n_init=4, n_rounds=3, n_searches=3)
            assert (model.n_iter_, round(model.objective_, 9)) == way


@pytest.mark.core(3)
@pytest.mark.parametrize(("loss", "a", "missing"), CASES)
def test_the_loss_that_a_search_ends_with_is_that_of_counting_anew(monkeypatch, loss, a, missing):
    """Of too many objects for a table of g that of the tables is told."""
    labels = noisy_draws(missing)
    for most, weights in ((2**22, np.arange(1, 10)), (40, np.arange(1, 10)), (40, None)):
        limit(monkeypatch, "objects whose logarithms are tabulated", most)
        model = searched(labels, loss=loss, a=a, weights=weights)
        found = expected_loss(labels, model.labels_, loss, a=a, weights=weights)
        assert model.objective_ == pytest.approx(found, rel=1e-11)


@pytest.mark.core(3)
@pytest.mark.parametrize(("loss", "a", "missing"), CASES)
def test_no_row_has_a_better_cluster_than_its_own(loss, a, missing):
    """Where starts end."""
    labels = np.repeat(noisy_draws(missing)[:30], 2, axis=0)
    for n_zealous in (0, 10):
        model = SalsoConsensus(5, loss=loss, a=a, n_init=4, n_rounds=0, max_zealous=n_zealous, random_state=0)
        found = model.fit(labels).labels_
        least = expected_loss(labels, found, loss, a=a)
        assert least == pytest.approx(model.losses_.min(), rel=1e-11)
        for i in range(0, 60, 2):
            for k in range(5):
                moved = found.copy()
                moved[i : i + 2] = k
                assert expected_loss(labels, moved, loss, a=a) >= least - 1e-9


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_nearly_all_objects_may_be_in_one_cluster(loss):
    """Each draw has another object alone: to have all in one cluster is best."""
    labels = np.eye(12, dtype=int)
    losses = SalsoConsensus(loss=loss, n_init=4, n_rounds=0, max_zealous=0, random_state=0).fit(labels).losses_
    assert_allclose(losses, expected_loss(labels, np.zeros(12, dtype=int), loss), rtol=1e-12)


def test_a_long_search_of_up_to_a_hundred_thousand_labels():
    """1,000 rows of 100 draws: 4 searches of 20 rounds; with one row more, one search of 3."""
    random = np.random.default_rng(0)
    labels = np.where(
        random.random((1_001, 100)) < 0.05, random.integers(3, size=(1_001, 100)), np.arange(1_001)[:, None] % 3
    )
    labels[:, 0] = np.arange(1_001) % 2 + 2 * labels[:, 0]
    labels[:, 1:11] = (np.arange(1_001)[:, None] >> np.arange(10)) % 2  # all rows are different
    given = {"n_init": 1, "max_zealous": 0, "max_iter": 2, "random_state": 0}
    for m, n_rounds, n_searches in ((1_000, 20, 4), (1_001, 3, 1)):
        found = SalsoConsensus(**given).fit(labels[:m])
        asked, other = (
            SalsoConsensus(n_rounds=n, n_searches=n_searches, **given).fit(labels[:m]) for n in (n_rounds, n_rounds - 1)
        )
        assert len(found.losses_) == n_searches
        assert_same(found, asked)
        assert found.n_iter_ != other.n_iter_
        assert len(SalsoConsensus(n_rounds=0, **given).fit(labels[:m]).losses_) == 1
        assert len(SalsoConsensus(n_searches=3, **given).fit(labels[:m]).losses_) == 3


@pytest.mark.parametrize(("loss", "a"), [("vi", 1), *SEARCHED])
def test_what_a_move_must_gain_is_in_the_unit_of_the_weights(loss, a):
    """Weights of draws in another unit, a power of two, are the same weights."""
    labels, weights = noisy_draws(), np.arange(1, 10)
    given = {"loss": loss, "a": a, "n_init": 4, "n_rounds": 0, "random_state": 0}
    expected = SalsoConsensus(weights=weights, **given).fit(labels)
    for unit in (2.0**-40, 2.0**40):
        assert_same(SalsoConsensus(weights=weights * unit, **given).fit(labels), expected)


@pytest.mark.parametrize(("loss", "times"), [("vi", 10_000_019), ("binder", 50_000_017)])
def test_a_move_must_gain_more_than_rounding(loss, times):
    """Of up to two thousand million objects ties are ties: so many copies of all take the same way."""
    for seed in range(12):
        random = np.random.default_rng(seed)
        labels, weights = random.integers(3, size=(12, 4)), random.integers(1, 4, size=12)
        labels = np.column_stack([labels, labels[:, ::-1]])
        model = SalsoConsensus(loss=loss, n_init=8, n_rounds=0, random_state=seed)
        once = model.fit(labels, sample_weight=weights).losses_
        assert_allclose(model.fit(labels, sample_weight=weights * times).losses_, once, atol=1e-9)


@pytest.mark.parametrize("p", [2, 100])
def test_the_memory_of_a_search_is_counted(p):
    """That of the tables of every start that runs at the same time."""
    labels = np.tile(np.arange(12)[:, None], p)
    labels[np.arange(p) % 12, np.arange(p)] = -1
    told = []
    for n_jobs in (1, 2):
        with pytest.raises(ValueError, match="max_bytes") as error:
            SalsoConsensus(11, loss="binder", n_jobs=n_jobs, max_bytes=1000).fit(labels)
        told.append(int(re.search(r"Got ([\d,]+) bytes", str(error.value))[1].replace(",", "")))
    tables = PartitionTables(*tables_of(np.zeros(12, dtype=int), labels, 11, "binder")[1])
    taken = sum(array.nbytes for array in tables)
    assert taken <= told[1] - told[0] <= 2 * taken


def test_a_search_can_be_stopped(monkeypatch):
    """Whoever waits for it no more is asked for in every sweep."""
    asked, flag = [], threads.stop_flag()
    monkeypatch.setattr(threads, "stop_flag", lambda: asked.append(1) or flag)
    model = SalsoConsensus(n_init=1, n_rounds=0, max_zealous=0, n_jobs=1, random_state=0).fit(noisy_draws())
    once = len(asked)
    limit(monkeypatch, "operations of a call of a kernel", 2 * 9 * 8 * 10)  # of ten rows
    again = SalsoConsensus(n_init=1, n_rounds=0, max_zealous=0, n_jobs=1, random_state=0).fit(noisy_draws())
    assert_array_equal(again.labels_, model.labels_)
    assert len(asked) - once >= 8 * model.n_iter_


# ---- The tables of kernels ----


@pytest.mark.core(3)
@pytest.mark.parametrize(("loss", "a"), [("vi", 1), ("gvi", 0.5), ("gvi", 1.5), *SEARCHED[1:]])
@pytest.mark.parametrize("missing", [0, 0.3])
def test_second_best_clusters_as_the_naive_twin(loss, a, missing):
    labels, weights = random_labels(n=16, p=6, k=3, missing=missing, seed=3), np.arange(1, 7)
    labels = np.unique(labels, axis=0)
    clusters = np.arange(len(labels)) % 3  # cluster 3 is empty
    given, tables = tables_of(clusters, labels, 4, loss, a, weights)
    targets, margins = np.empty(len(labels), dtype=np.int64), np.empty(len(labels))
    second_best(given, tables, targets, margins)
    expected = naive.second_best(clusters, 4, lambda c: expected_loss(labels, np.array(c), loss, a=a, weights=weights))
    for i, losses in enumerate(expected):
        assert targets[i] != clusters[i]
        assert_allclose(losses[targets[i]], min(losses.values()), rtol=1e-9)
    if loss not in ("vi", "gvi", "binder", "id") or not missing:
        of_twin = np.array([min(losses.values()) for losses in expected])
        assert_allclose(of_twin[np.argsort(margins)], np.sort(of_twin), rtol=1e-9)


@pytest.mark.core(3)
@pytest.mark.parametrize("loss", ["vi", "binder", "omari", "nvi", "id", "nid"])
@pytest.mark.parametrize("missing", [0, 0.2])
def test_tables_are_kept_up_to_date(loss, missing):
    """After rows have moved they are those of counting anew."""
    labels = np.unique(random_labels(n=30, p=9, k=4, missing=missing, seed=1), axis=0)
    random = np.random.default_rng(0)
    given, tables = tables_of(random.integers(4, size=len(labels)), labels, 4, loss, 1.0, np.arange(1, 10))
    if len(tables[5]):
        sum_tables(given, tables, tables[5])
    for _ in range(3):
        place_rows(random.permutation(len(labels)), given, tables)
        some, ones = random.permutation(len(labels))[:9], np.ones(len(labels), dtype=np.int64)
        count_rows(some, -ones, given, tables)
        tables[0][some] = random.integers(4, size=9)
        count_rows(some, ones, given, tables)
    anew = tables_of(tables[0], labels, 4, loss, 1.0, np.arange(1, 10))[1]
    for found, expected in zip(tables[:5], anew[:5], strict=True):
        assert_array_equal(found, expected)
    if len(tables[5]):
        sums = np.empty_like(tables[5])
        sum_tables(given, tables, sums)
        assert_allclose(tables[5], sums, rtol=1e-9, atol=1e-9)


# ---- Few rows, and what ends a search ----


def few_draws(seed):
    """Four to nine objects; random draws, planted ones, or such of two partitions."""
    random = np.random.default_rng(seed)
    n, p, k = 4 + seed % 6, random.choice([2, 3, 5, 8]), random.integers(2, 6)
    one, other = random.integers(k, size=(2, n, 1))
    truth = (random.integers(k, size=(n, p)), one, np.where(random.random(p) < 0.5, one, other))[seed % 3]
    return np.where(random.random((n, p)) < 0.3, random.integers(k, size=(n, p)), truth)


FEW = [("vi", 1, "vi"), ("gvi", 0.5, "gvi .5"), ("gvi", 1.5, "gvi 1.5"), ("binder", 1, "binder")]
FEW += [("binder", 0.5, "binder .5"), ("binder", 1.5, "binder 1.5")]
FEW += [(loss, 1, loss) for loss in ("omari", "nvi", "id", "nid")]


def assert_least(labels, seed):
    """No partition of the objects into as many clusters has a lower loss."""
    partitions = naive.all_partitions(len(labels))
    n_clusters = min(max(len(set(draw)) for draw in labels.T), len(np.unique(labels, axis=0)))
    losses = naive.expected_losses(labels, partitions[partitions.max(axis=1) < n_clusters])
    for loss, a, name in FEW:
        found = SalsoConsensus(loss=loss, a=a, random_state=seed).fit(labels).objective_
        assert found == pytest.approx(losses[name].min(), abs=1e-9), (loss, a)


@pytest.mark.core(3)
@pytest.mark.parametrize(
    "seed", [0, 1, 2, 6, 7, 8, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(9, 103))]
)
def test_no_partition_of_few_objects_has_a_lower_loss(seed):
    """1,000 fits of ten losses, 60 of them quick ones."""
    assert_least(few_draws(seed), seed)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(9, 59))])
def test_the_search_of_few_objects_finds_the_least_loss(monkeypatch, seed):
    """Without comparing all partitions."""
    limit(monkeypatch, "partitions of rows that are all compared", 0)
    assert_least(few_draws(seed), seed)


@pytest.mark.core(3)
@pytest.mark.parametrize(("loss", "a"), [("vi", 1), ("gvi", 0.5), *SEARCHED[1:]])
@pytest.mark.parametrize("missing", [0, 0.3])
def test_all_partitions_as_the_naive_twin(loss, a, missing):
    labels = np.unique(random_labels(n=6, p=5, k=3, missing=missing, seed=1), axis=0)
    counts, weights = np.arange(1, len(labels) + 1), np.arange(1, 6)
    model = SalsoConsensus(3, loss=loss, a=a, weights=weights, random_state=0).fit(labels, sample_weight=counts)
    assert model.n_iter_ == 0  # all were compared
    every = [c for c in naive.all_partitions(len(labels)) if c.max() < 3]
    many = np.repeat(labels, counts, axis=0)
    losses = [naive.expected_loss(many, np.repeat(c, counts), loss, a, weights) for c in every]
    assert model.objective_ == pytest.approx(min(losses), abs=1e-12)


def test_few_rows_of_many_draws_are_searched(monkeypatch):
    """Of m rows there are as many partitions as Bell's number says."""
    bell = [1, 1, 2, 5, 15, 52, 203, 877, 4140, 21147]
    for m in range(4, 10):
        labels = np.arange(m)[:, None] // [1, 2, 3]
        for most, n_rounds in ((3 * bell[m], None), (3 * bell[m], 0), (3 * bell[m] - 1, None)):
            limit(monkeypatch, "partitions of rows that are all compared", most)
            model = SalsoConsensus(n_rounds=n_rounds, random_state=0).fit(labels.astype(str))
            assert (model.n_iter_ == 0) == (most == 3 * bell[m] and n_rounds is None)


def first_sweep(labels, start, seed, **given):
    """The loss of a start after a single sweep, which does not raise it."""
    given = {"n_init": start + 1, "n_rounds": 0, "max_zealous": 0, "max_iter": 1, "random_state": seed} | given
    return SalsoConsensus(**given).fit(labels).losses_[start]


def test_a_single_cluster_is_a_start():
    """Here it is the best partition; from random clusters no single sweep leads there."""
    labels = noisy_draws()
    single = expected_loss(labels, np.zeros(80, dtype=int))
    for seed in range(10):
        assert first_sweep(labels, 1, seed) == pytest.approx(single, rel=1e-12)


def test_the_best_draw_is_a_start(monkeypatch):
    """The bits of a number are as unlike as can be, so that no row leaves its cluster; one of them is there twice."""
    bits = (np.arange(64)[:, None] >> np.array([3, 0, 1, 0, 2, 4, 5])) % 2

    def found():
        return [round(first_sweep(bits, 3, seed, loss="omari"), 9) for seed in range(40)]

    best, other = (round(expected_loss(bits, bits[:, j], "omari"), 9) for j in (1, 0))
    assert set(found()) == {best}
    limit(monkeypatch, "draws that are compared for a start", 6)
    assert set(found()) == {best}  # one of six different ones is the best
    limit(monkeypatch, "draws that are compared for a start", 1)
    assert set(found()) == {best, other}
    limit(monkeypatch, "draws that are compared for a start", 32)
    limit(monkeypatch, "labels up to which searches are long", bits.size - 1)
    assert set(found()) == {best, other}  # of more labels any draw is


SHAKEN = [(24, 20, 3, 5, "vi", 2), (57, 15, 8, 5, "id", 2), (31, 23, 8, 4, "id", 2), (12, 25, 3, 5, "nvi", 3)]
"""Seeds, objects, draws, clusters, losses and starts that agree, and are not the best."""


@pytest.mark.parametrize(("seed", "n", "p", "k", "loss", "n_init"), SHAKEN)
def test_starts_that_agree_are_shaken_unless_rows_are_many(monkeypatch, seed, n, p, k, loss, n_init):
    """Round by round, until one lowers nothing: more rounds than are needed change nothing."""
    random = np.random.default_rng(seed)
    n, p, k = random.integers(14, 32), random.choice([3, 5, 8]), random.integers(3, 6)
    labels = random.integers(k, size=(n, p))
    given = {"loss": loss, "n_init": n_init, "random_state": seed}
    models = [SalsoConsensus(n_rounds=n_rounds, **given).fit(labels) for n_rounds in (0, 1, 2, 5, 20, 21)]
    least = [model.objective_ for model in models]
    assert all(len(model.losses_) == n_init for model in models)
    assert least[0] == pytest.approx(np.sort(models[0].losses_)[1], abs=1e-9)
    assert least[1] < least[0] - 1e-6
    assert (np.diff(least) < 1e-9).all()
    assert (least[4] < least[1] - 1e-6) == (seed in (31, 57))  # a second round lowers what the first has found
    assert_same(models[5], models[4])
    m = len(np.unique(labels, axis=0))
    for most in (m, m - 1):
        limit(monkeypatch, "labels up to which results are shaken", most)
        assert SalsoConsensus(n_rounds=20, **given).fit(labels).objective_ == least[4 if most == m else 0]
