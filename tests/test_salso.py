"""The memetic search of SALSO, where no two starts agree: weights, missing labels, disk, threads, its parameters."""

from types import SimpleNamespace

import naive
import numpy as np
import pytest
from inside import rows_of
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from strategies import random_labels
from test_posterior import PL

from ensemblage import Ensemble, SalsoConsensus
from ensemblage.consensus.latent import _salso
from ensemblage.metrics import expected_loss

SEARCHED = [("gvi", 0.5), ("binder", 1), ("omari", 1), ("nvi", 1), ("id", 1), ("nid", 1)]
"""Losses with which no two of three starts agree on the noisy draws: one for each way to compute them."""
CASES = [*((loss, a, 0.2) for loss, a in SEARCHED), ("binder", 1, 0), ("nid", 1, 0)]
"""With the share of labels that are missing."""
EFFORT = {"n_init": 3, "n_rounds": 2, "n_searches": 2, "random_state": 1}


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


def assert_same(one, other):
    assert_array_equal(one.labels_, other.labels_)
    assert_array_equal(one.losses_, other.losses_)
    assert (one.objective_, one.n_iter_) == (other.objective_, other.n_iter_)


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


@pytest.mark.parametrize(("loss", "a", "missing"), CASES)
def test_weights_of_objects_are_copies(loss, a, missing):
    labels, weights = noisy_draws(missing), np.random.default_rng(1).integers(1, 5, size=80)
    weighted = searched(labels, weights, loss=loss, a=a)
    copies = searched(np.repeat(labels, weights, axis=0), loss=loss, a=a)
    assert_array_equal(np.repeat(weighted.labels_, weights), copies.labels_)
    assert_array_equal(weighted.losses_, copies.losses_)
    assert (weighted.objective_, weighted.n_iter_) == (copies.objective_, copies.n_iter_)


def test_clusters_are_matched_by_their_objects_when_partitions_are_recombined(monkeypatch):
    """Of one row with nine objects and three rows with one each, the nine decide."""
    limit(monkeypatch, "share of rows that SALSO mutates", 0)
    rows = rows_of(np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [9, 1, 1, 1], axis=0))
    search = _salso.Search(_salso.Draws(rows, "vi", 1.0), 2, np.random.RandomState(0))
    allocated = []
    monkeypatch.setattr(_salso.Search, "_allocate_again", lambda _, members: allocated.append(sorted(members.tolist())))
    monkeypatch.setattr(_salso.Search, "sweeten", lambda *_: 0)
    one, other = np.array([0, 0, 0, 1], dtype=np.int32), np.array([1, 0, 0, 1], dtype=np.int32)
    search.recombine(one, other, 100)
    assert allocated == [[1, 2, 3]]


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


@pytest.mark.parametrize(("n_init", "n_searches", "n_recombined"), [(3, 1, 6), (2, 1, 4), (3, 2, 18)])
def test_a_search_recombines_so_often(monkeypatch, n_init, n_searches, n_recombined):
    """In two rounds of ``n_init``; several searches in two more for their best partitions."""
    found, recombine = [], _salso.Search.recombine
    monkeypatch.setattr(_salso.Search, "recombine", lambda *given: found.append(recombine(*given)) or found[-1])
    searched(noisy_draws(), loss="nid", n_init=n_init, n_searches=n_searches)
    assert len(found) == n_recombined


def test_a_long_search_of_up_to_a_hundred_thousand_labels():
    for m, effort in ((1_000, (20, 4)), (1_001, (3, 1))):
        rows = SimpleNamespace(codes=np.empty((m, 100)))
        assert SalsoConsensus()._effort(rows) == effort
        assert SalsoConsensus(n_rounds=0)._effort(rows) == (0, effort[1])
        assert SalsoConsensus(n_searches=7)._effort(rows) == (effort[0], 7)


@pytest.mark.parametrize(("loss", "noise"), [("vi", 1e-15 * 6e6 * np.log2(6e6)), ("binder", 1e-15 * 6e6**2)])
def test_a_move_must_gain_more_than_rounding(loss, noise):
    """Of millions of objects, a share of the sum of all."""
    rows = rows_of(np.array([[0, 0], [0, 1], [1, 1]]), sample_weight=[1_000_000, 2_000_000, 3_000_000])
    assert _salso.Draws(rows, loss, 1.0).margin == pytest.approx(2 * noise)


def test_terms_of_all_numbers_of_objects_are_in_the_table():
    draws = _salso.Draws(rows_of(noisy_draws()), "vi", 1.0)
    assert_allclose(draws.g, [0, *(n * np.log2(n) for n in range(1, 81))])


def test_a_chain_begins_with_the_second_best_cluster(monkeypatch):
    """Whatever its number is; without chains nothing is swept."""
    search = _salso.Search(_salso.Draws(rows_of(noisy_draws()), "vi", 1.0), 3, np.random.RandomState(0))
    search.set_labels(np.arange(80) % 3)
    assert search.move_in_chains(0, 100) == 0
    moved = []
    targets = _salso.Targets((np.arange(80) + 1) % 3, np.arange(3))
    monkeypatch.setattr(search, "_second_best", lambda: targets)
    monkeypatch.setattr(search, "place", lambda _: moved.append(search.labels[:3].tolist()) or 0)
    search.move_in_chains(3, 1)
    assert [labels[i] for i, labels in enumerate(moved[::2])] == [1, 2, 0]


@pytest.mark.parametrize("p", [2, 100])
def test_the_memory_of_a_search_is_counted(p):
    """That of the tables of every start that runs at the same time."""
    labels = np.tile(np.arange(12)[:, None], p)
    labels[np.arange(p) % 12, np.arange(p)] = -1
    rows = rows_of(labels)
    search = _salso.Search(_salso.Draws(rows, "binder", 1.0), 11, np.random.RandomState(0))
    taken = sum(array.nbytes for array in search.tables)
    one, two = (SalsoConsensus(loss="binder", n_jobs=n)._bytes(rows, 11).n_bytes for n in (1, 2))
    assert taken <= two - one <= 2 * taken


def test_a_search_can_be_stopped(monkeypatch):
    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr(_salso, "check_stopped", stop)
    with pytest.raises(KeyboardInterrupt):
        searched(noisy_draws())


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


@pytest.mark.parametrize(("loss", "a"), [("vi", 1), ("gvi", 0.5), *SEARCHED[1:]])
@pytest.mark.parametrize("missing", [0, 0.3])
def test_all_partitions_as_the_naive_twin(loss, a, missing):
    labels = np.unique(random_labels(n=6, p=5, k=3, missing=missing, seed=1), axis=0)
    counts, weights = np.arange(1, len(labels) + 1), np.arange(1, 6)
    draws = _salso.Draws(rows_of(labels, weights, sample_weight=counts), loss, a)
    found = _salso.least_of_all(draws, 3)
    every = [c for c in naive.all_partitions(len(labels)) if c.max() < 3]
    many = np.repeat(labels, counts, axis=0)
    losses = [naive.expected_loss(many, np.repeat(c, counts), loss, a, weights) for c in every]
    assert found.loss == pytest.approx(min(losses), abs=1e-12)
    assert draws.expected_loss(found.labels) == pytest.approx(min(losses), abs=1e-12)


def test_few_rows_of_many_draws_are_searched(monkeypatch):
    labels, compared, compare = few_draws(3), [], _salso.least_partition
    monkeypatch.setattr(_salso, "least_partition", lambda *given: compared.append(1) or compare(*given))
    most_compared = _salso.N_PARTITIONS[len(np.unique(labels, axis=0))] * labels.shape[1]
    for most, n_rounds, n in ((most_compared, None, 1), (most_compared, 0, 1), (most_compared - 1, None, 1)):
        limit(monkeypatch, "partitions of rows that are all compared", most)
        model = SalsoConsensus(n_rounds=n_rounds, random_state=0).fit(labels)
        assert len(compared) == n
        assert (model.n_iter_ == 0) == (most == most_compared and n_rounds is None)


def test_a_single_cluster_and_the_best_draw_are_starts():
    labels = noisy_draws()
    draws = _salso.Draws(rows_of(labels), "vi", 1.0)
    search = _salso.Search(draws, 7, np.random.RandomState(0))
    search.start(_salso.ONE)
    assert not search.labels.any()
    search.start(_salso.BEST_DRAW)
    assert search.loss() == pytest.approx(min(expected_loss(labels, draw) for draw in labels.T))


def test_of_many_draws_some_are_compared(monkeypatch):
    limit(monkeypatch, "draws that are compared for a start", 3)
    drawn = []
    draw = _salso.Search._draw
    monkeypatch.setattr(_salso.Search, "_draw", lambda self, j: drawn.append(j) or draw(self, j))
    _salso.Search(_salso.Draws(rows_of(noisy_draws()), "vi", 1.0), 7, np.random.RandomState(0)).start(_salso.BEST_DRAW)
    assert len(set(drawn)) == len(drawn) == 3


def test_rounds_of_shakes_until_one_lowers_nothing(monkeypatch):
    """From a single cluster; each round begins with the best one of the round before."""
    draws, shaken, shake = _salso.Draws(rows_of(noisy_draws()), "binder", 1.0), [], _salso.Search.shake

    def watched(search, n_shakes, max_iter):
        shaken.append(search.loss())
        return shake(search, n_shakes, max_iter)

    monkeypatch.setattr(_salso.Search, "shake", watched)
    labels = np.zeros(80, dtype=np.int32)
    start = _salso.Run(draws.expected_loss(labels), labels, 1)
    for n_rounds in (1, 2, 20):
        shaken.clear()
        found = _salso.shaken(draws, _salso.Settings(7, 3, 10, n_rounds, 1, 100, 1), [start], 0)
        rounds = np.array(shaken).reshape(-1, 3)
        assert (rounds == rounds[:, :1]).all()
        assert (np.diff(rounds[:, 0]) < -1e-9).all()
        least = min(run.loss for run in found)
        assert len(rounds) == n_rounds or (len(rounds) < n_rounds and least >= rounds[-1, 0] - 1e-9)
        assert least < start.loss
    assert 2 < len(rounds) < 20


@pytest.mark.parametrize(("most", "n_shaken"), [(80, 4), (79, 0)])
def test_starts_that_agree_are_shaken_unless_rows_are_many(monkeypatch, most, n_shaken):
    shaken = []
    limit(monkeypatch, "labels up to which results are shaken", most)
    monkeypatch.setattr(_salso, "agree", lambda _: True)
    monkeypatch.setattr(_salso.Search, "shake", lambda _, n_shakes, max_iter: shaken.append(n_shakes) or 0)
    SalsoConsensus(n_init=4, random_state=0).fit(noisy_draws())
    assert shaken == [_salso.N_SHAKES] * n_shaken


def test_a_shake_leaves_a_partition_that_no_move_of_a_row_leaves():
    found = []
    for n_shakes in (0, 40):
        search = _salso.Search(_salso.Draws(rows_of(PL), "id", 1.0), 8, np.random.RandomState(1))
        search.start(2)
        search.sweeten(100)
        before = search.loss()
        assert (search.shake(n_shakes, 100) > 0) == (n_shakes > 0)
        assert search.loss() <= before
        found.append(search.loss())
    assert found[1] < found[0] - 1e-6
