"""More objects than the default compares: some are drawn and clustered, the others get the labels of the nearest."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from inside import default_plan
from limits import limit
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from ensemblage import ConsensusClustering, load
from ensemblage.base.random import sample_rows, task_seeds
from ensemblage.choices._chooser import learned_weights
from ensemblage.cli import main
from ensemblage.generation import ScaledPartitions, _dense_rows
from ensemblage.generation._dense_rows import LEAST_OF_CELL, are_dense, dense_rows, drawn_rows, size_of_sample
from ensemblage.metrics import confidence

BLOBS, Y = make_blobs(1_200, 2, centers=[(0, 0), (0, 9), (9, 0)], random_state=0)
THREE = {"n_clusters": 3, "random_state": 0}
SECOND_SEED = int(task_seeds(0, 1)[0])
"""Of the second sample where 0 is that of the first."""


@pytest.fixture
def small(monkeypatch):
    """Of more than 1,000 objects 400 are drawn."""
    limit(monkeypatch, "objects all of which are clustered", 1_000)
    limit(monkeypatch, "objects clustered by different algorithms", 1_000)
    limit(monkeypatch, "objects drawn of more", 400)


# -- which objects are clustered ---------------------------------------------------------------------------------------


def kept_rows(*of, **options):
    return dense_rows(*of, **options)[0]


def test_few_rows_are_all_kept():
    np.testing.assert_array_equal(kept_rows(BLOBS, 1_200, 0), np.arange(1_200))
    assert size_of_sample(10_000) is None
    assert size_of_sample(10_001) == 5_000


def test_rows_at_the_edge_of_clusters_are_left_out():
    kept, drawn = kept_rows(BLOBS, 1_000, seed=3), sample_rows(1_200, 1_000, seed=3)
    assert (np.diff(kept) > 0).all()
    assert len(kept) == 800
    assert set(kept) < set(drawn)
    far = np.linalg.norm(BLOBS - np.array([(0, 0), (0, 9), (9, 0)])[Y], axis=1)
    assert np.quantile(far[kept], 0.99) < np.quantile(far[drawn], 0.97)
    np.testing.assert_array_equal(kept, kept_rows(BLOBS, 1_000, seed=3))
    assert set(kept) != set(kept_rows(BLOBS, 1_000, seed=4))


@pytest.mark.core(3)
@pytest.mark.parametrize("deviation", [0.3, 1, 2])
@pytest.mark.parametrize("m", [2, 5])
def test_a_cluster_of_twenty_drawn_objects_never_vanishes(m, deviation):
    """Beside two large clusters, whether denser or sparser than these."""
    rng = np.random.default_rng(m)
    X = rng.normal(size=(30_000, m))
    X[:15_000, 0] += 6
    rows, _ = drawn_rows(len(X), m, 5_000, 0)
    drawn = rng.choice(rows, 20, replace=False)
    small = np.append(drawn, rng.choice(np.setdiff1d(np.arange(len(X)), rows), 100, replace=False))
    X[small] = deviation * rng.normal(size=(120, m)) + 8 * (np.arange(m) == 1)
    assert np.isin(drawn, kept_rows(X, 5_000, 0)).sum() >= 15


def test_a_sparse_cluster_stays():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(2_000, 2)) * 0.1, rng.normal(size=(30, 2)) * 20 + 500])
    kept = kept_rows(X, len(X) - 1, seed=0)
    assert (kept >= 2_000).sum() >= LEAST_OF_CELL


def test_equal_rows_and_few_rows_have_a_sample_too():
    assert len(kept_rows(np.zeros((90, 2)), 60, seed=0)) == 48
    assert len(kept_rows(BLOBS[:10], 4, seed=0)) == 4


def test_neighbours_are_sought_among_some_of_very_many():
    rows, others = drawn_rows(50_000, 1_000, 5_000, seed=2)
    assert (len(rows), len(others)) == (5_000, 20_000)  # 10⁷ / 1,000 would be fewer
    assert set(rows) < set(others)
    np.testing.assert_array_equal(rows, sample_rows(50_000, 5_000, seed=2))
    rows, others = drawn_rows(50_000, 250, 5_000, seed=2)
    assert len(others) == 40_000
    np.testing.assert_array_equal(drawn_rows(50_000, 200, 5_000, seed=2)[1], np.arange(50_000))


def test_the_neighbours_of_some_say_what_is_sparse(monkeypatch):
    limit(monkeypatch, "objects among which neighbours are sought, at least", 400)
    limit(monkeypatch, "values among which neighbours are sought", 1_000)
    rows, others = drawn_rows(1_200, 2, 400, seed=0)
    kept = rows[are_dense(BLOBS[rows], BLOBS[others], seed=0)]
    np.testing.assert_array_equal(kept_rows(BLOBS, 400, seed=0), kept)
    assert len(others) == 500


# -- the generator -----------------------------------------------------------------------------------------------------


def test_every_object_gets_the_labels_of_the_nearest_that_was_clustered():
    made = ScaledPartitions(3, sample_size=300, random_state=1)
    labels = made.fit_transform(BLOBS)
    rows = kept_rows(BLOBS, 300, seed=1)
    some = ScaledPartitions(3, random_state=1).fit_transform(BLOBS[rows])
    nearest = NearestNeighbors(n_neighbors=1).fit(BLOBS[rows]).kneighbors(BLOBS, return_distance=False)[:, 0]
    np.testing.assert_array_equal(labels, some[nearest])
    np.testing.assert_array_equal(made.transform(BLOBS), labels)


def test_a_sample_of_all_objects_is_all_objects():
    all_, same = (ScaledPartitions(3, sample_size=n).fit_transform(BLOBS) for n in (None, 1_200))
    np.testing.assert_array_equal(all_, same)


@pytest.mark.parametrize("size", [1, 2.5, "many"])
def test_other_sizes_are_refused(size):
    with pytest.raises((TypeError, ValueError), match="sample_size of ScaledPartitions must be"):
        ScaledPartitions(3, sample_size=size).fit(BLOBS)


@pytest.mark.parametrize(("size", "k"), [(5, 10), (9, [10, 12]), (2, None), (2, 3)])
def test_a_sample_below_the_number_of_clusters(size, k):
    with pytest.raises(ValueError, match=rf"sample_size of ScaledPartitions must leave .*\. Got {size}, and"):
        ScaledPartitions(k, sample_size=size).fit(BLOBS)
    assert ScaledPartitions(10, sample_size=10).fit_transform(BLOBS).max() == 9


# -- the default -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_moons_of_many_objects():
    X, y = make_moons(20_001, noise=0.1, random_state=0)
    model = ConsensusClustering(2, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.ensemble_.shape[0] == len(model.labels_) == len(model.confidence_) == 20_001
    assert len(model.runner_up_) == len(model.cohesion_) == 20_001
    assert model.plan_.samples.value == {"the partitions": 5_000, "the weights of the partitions": 1_500}


@pytest.mark.slow
def test_a_cluster_of_a_hundredth_is_found():
    X, y = make_blobs([10_000, 11_000, 210], 3, centers=[(0, 0, 0), (12, 0, 0), (0, 12, 0)], random_state=0)
    labels = ConsensusClustering(3, random_state=0).fit_predict(X)
    assert adjusted_rand_score(y == 2, labels == labels[y == 2][0]) > 0.95


@pytest.mark.slow
def test_number_found_seeds_and_threads(small):
    one, more = (ConsensusClustering(random_state=0, n_jobs=jobs).fit(BLOBS) for jobs in (1, 2))
    assert one.n_clusters_ == 3
    assert adjusted_rand_score(Y, one.labels_) > 0.99
    np.testing.assert_array_equal(one.labels_, more.labels_)
    np.testing.assert_array_equal(one.confidence_, more.confidence_)
    assert one.chosen_ == more.chosen_
    other = ConsensusClustering(random_state=1).fit(BLOBS)
    assert (
        len(other.generator_._fit_X) != len(one.generator_._fit_X)
        or (other.generator_._fit_X != one.generator_._fit_X).any()
    )


def test_new_objects_and_a_saved_model(small, tmp_path):
    model = ConsensusClustering(**THREE).fit(BLOBS[:1_100])
    np.testing.assert_array_equal(model.predict(BLOBS[:1_100]), model.labels_)
    new = model.assign(BLOBS[1_100:])
    assert adjusted_rand_score(Y[1_100:], new.labels) > 0.98
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict(BLOBS[1_100:]), new.labels)
    assert str(again.plan_) == str(model.plan_)


# -- a second sample ---------------------------------------------------------------------------------------------------

OVERLAPPING, _ = make_blobs(1_200, 2, centers=[(0, 0), (0, 4), (4, 0)], random_state=0)


def test_the_confidence_is_that_of_the_partitions_of_two_samples(small):
    model = ConsensusClustering(**THREE).fit(OVERLAPPING)
    again = clone(model.generator_).set_params(random_state=SECOND_SEED).fit(model.preprocessor_.transform(OVERLAPPING))
    labels = np.column_stack([np.asarray(model.ensemble_), again.transform(model.preprocessor_.transform(OVERLAPPING))])
    weights = [*model.consensus_.weights, *learned_weights(again, model.chosen_)]
    expected = confidence(labels, model.labels_, weights=weights)
    np.testing.assert_allclose(model.confidence_, expected.confidence, rtol=1e-12)
    np.testing.assert_array_equal(model.runner_up_, expected.runner_up)
    np.testing.assert_allclose(model.cohesion_, expected.cohesion, rtol=1e-12)
    of_one = confidence(model.ensemble_, model.labels_, weights=model.consensus_.weights)
    assert (abs(of_one.confidence - model.confidence_) > 0.01).any()


def test_the_second_sample_changes_no_cluster(small):
    model = ConsensusClustering(**THREE).fit(OVERLAPPING)
    without = clone(model.consensus_).fit(model.ensemble_)
    np.testing.assert_array_equal(model.labels_, without.labels_)
    np.testing.assert_array_equal(model.predict(OVERLAPPING), without.labels_)
    assert (model.confidence_ != without.confidence_).any()


def test_new_objects_are_as_certain_as_the_same_ones_were(small, tmp_path):
    model = ConsensusClustering(**THREE).fit(OVERLAPPING)
    found = model.assign(OVERLAPPING)
    np.testing.assert_allclose(found.confidence, model.confidence_, atol=0.05)  # one object more beside them
    assert np.corrcoef(found.confidence, model.confidence_)[0, 1] > 0.999
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load(tmp_path / "model.npz").assign(OVERLAPPING).confidence, found.confidence)
    before = model.runner_up_.copy()
    model._renumber(np.array([2, 0, 1]))
    renumbered = model.assign(OVERLAPPING)
    np.testing.assert_array_equal(renumbered.confidence, found.confidence)
    np.testing.assert_array_equal(renumbered.runner_up, np.array([2, 0, 1])[found.runner_up])
    np.testing.assert_array_equal(model.runner_up_, np.array([2, 0, 1])[before])


def test_objects_are_drawn_once_for_each_sample(small, monkeypatch):
    drawn = []
    monkeypatch.setattr(_dense_rows, "drawn_rows", lambda *of: drawn.append(of) or drawn_rows(*of))
    model = ConsensusClustering(**THREE).fit(BLOBS)
    assert [seed for *_, seed in drawn] == [0, SECOND_SEED]
    assert "_made" not in vars(model.generator_)


def test_no_second_sample_of_few_objects_or_one_cluster(small):
    assert ConsensusClustering(**THREE).fit(BLOBS[:900])._second is None
    noise = np.random.default_rng(0).normal(size=(1_200, 2))
    model = ConsensusClustering(allow_one=True, random_state=0).fit(noise)
    assert model.n_clusters_ == 1
    assert model._second is None
    assert (model.confidence_ == 1).all()


@pytest.mark.slow
def test_the_shell_has_the_confidence_of_both(small, tmp_path):
    pd.DataFrame(OVERLAPPING, columns=["x", "y"]).to_csv(tmp_path / "x.csv", index=False)
    arguments = ["run", str(tmp_path / "x.csv"), "-k", "3", "--seed", "0", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    found, model = pd.read_csv(tmp_path / "out" / "labels.csv"), ConsensusClustering(**THREE).fit(OVERLAPPING)
    np.testing.assert_allclose(found["confidence"], model.confidence_, atol=1e-6)
    saved = load(tmp_path / "out" / "model.npz")
    of_saved = saved.assign(pd.DataFrame(OVERLAPPING, columns=["x", "y"]))
    np.testing.assert_array_equal(of_saved.confidence, model.assign(OVERLAPPING).confidence)


def test_the_plan_says_it(small):
    plan = default_plan(BLOBS, 3)
    assert plan.partitions.value == "ScaledPartitions(sample_size=400)"
    assert plan.samples.value == {"the partitions": 400}
    assert plan.samples.reason.startswith("Of 1,200 objects 400 are drawn.")
    assert "of another 400 say with these how certain each object is" in plan.samples.reason
    assert default_plan(BLOBS[:1_000], 3).samples.value == {}
    assert default_plan(BLOBS, 3, quality="best").partitions == plan.partitions


@pytest.mark.parametrize(
    ("X", "options", "reason"),
    [
        (BLOBS, {"quality": "fast"}, 'the quality "fast" was asked for'),
        (BLOBS, {"n_clusters": 201}, "1,200 objects cannot show more than 200 clusters"),
        (BLOBS, {"k_range": [2, 201]}, "1,200 objects cannot show more than 200 clusters"),
        (BLOBS, {"sample_weight": np.ones(1_200, dtype=int)}, "sample_weight was given"),
        (np.repeat(BLOBS[:300], 4, axis=0), {}, "more than half of the objects are copies of others"),
        (sparse.csr_array(BLOBS), {"n_clusters": 3}, "the features are sparse"),
    ],
)
def test_where_k_means_alone_clusters_many_objects(small, X, options, reason):
    plan = default_plan(X, **options)
    assert plan.partitions.value == "RandomKPartitions()"
    assert reason in plan.partitions.reason


def test_pairs_are_kept(small):
    model = ConsensusClustering(**THREE).fit(BLOBS, must_link=[[0, 1], [7, 8]])
    assert model.labels_[0] == model.labels_[1]


@pytest.mark.slow
def test_the_shell_does_the_same(small, tmp_path):
    table = pd.DataFrame(BLOBS, columns=["x", "y"])
    table.to_csv(tmp_path / "table.csv", index=False)
    options = ["-k", "3", "--seed", "5", "--stability", "2"]
    done = CliRunner().invoke(main, ["run", str(tmp_path / "table.csv"), *options, "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.stderr
    model, found = load(tmp_path / "out" / "model.npz"), pd.read_csv(tmp_path / "out" / "labels.csv")
    same = ConsensusClustering(3, random_state=5).fit(table)
    assert found["cluster"].tolist() == same.labels_.tolist()
    np.testing.assert_allclose(found["confidence"], same.confidence_, atol=1e-6)
    assert model.plan_.samples == same.plan_.samples
    assert model.plan_.partitions == same.plan_.partitions


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 4))])
def test_rings_do_not_depend_on_the_luck_of_a_sample(seed):
    """Spectral clustering finds the rings in the 1,500 compared objects, and cuts one of them in all that are kept."""
    random = np.random.default_rng(seed)
    rings = np.arange(30_000) % 3
    angles = random.uniform(0, 2 * np.pi, 30_000)
    radii = np.array([1, 3, 5])[rings] + random.normal(0, 0.15, 30_000)
    X = np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])
    assert adjusted_rand_score(ConsensusClustering(3, random_state=seed).fit(X).labels_, rings) > 0.98
