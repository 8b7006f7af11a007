"""The learned choice: trees as arrays, what is shipped, and the estimator that uses it."""

import json
import os
from importlib.util import module_from_spec, spec_from_file_location
from unittest.mock import patch

import numpy as np
import pytest
from inside import default_plan
from limits import limit
from places import FILES, ROOT
from representatives import first_of
from sklearn.datasets import load_wine, make_blobs, make_moons
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import adjusted_rand_score

from ensemblage import ConsensusClustering, load
from ensemblage.base.random import settled_rows
from ensemblage.choices import _chooser
from ensemblage.choices._candidate_features import all_candidates, describe, feature_names
from ensemblage.choices._chooser import choose_candidate, learned_weights, trained_trees
from ensemblage.datasets import make_world
from ensemblage.generation import ScaledPartitions
from ensemblage.generation._candidates import numbers_of_clusters
from ensemblage.preprocessing import Preprocessor

KINDS = ("clouds", "shapes", "numbers", "categories", "mixed", "wide", "single")
CHOICES = FILES / "choices.json"
WINE = load_wine().data
BLOBS, Y = make_blobs(300, 4, centers=4, cluster_std=1.2, random_state=3)


def script():
    """The laboratory's train_chooser.py; at import it asks for one thread, which later processes would inherit."""
    path = ROOT / "lab" / "scripts" / "train_chooser.py"
    spec = spec_from_file_location("train_chooser", path)
    module = module_from_spec(spec)
    with patch.dict(os.environ):
        spec.loader.exec_module(module)
    return module


def test_trees_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(900, 12)), 4).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) ** 2 + np.nan_to_num(X[:, 1] * X[:, 2]) + np.isnan(X[:, 3])
    model = HistGradientBoostingRegressor(max_iter=40, max_leaf_nodes=12, random_state=0).fit(X, y)
    trees = script().trees_of(model)
    np.testing.assert_allclose(trees.predict(X), model.predict(X), atol=1e-12)
    np.testing.assert_allclose(trees.predict(X[:1]), model.predict(X[:1]), atol=1e-12)
    assert len(trees.roots) == 40


def test_shipped_trees_fit_the_features():
    trees, version, clear = trained_trees()
    assert version.startswith("2, ")
    assert 0.1 < clear < 0.6
    assert 0 <= trees.feature.max() < len(feature_names())
    assert len(trees.feature) < 20_000


def test_arrays_of_other_features_are_refused(monkeypatch):
    trained_trees.cache_clear()
    monkeypatch.setattr(_chooser, "feature_names", lambda: ["other"])
    with pytest.raises(RuntimeError, match="learned from other features"):
        trained_trees()
    monkeypatch.undo()
    trained_trees.cache_clear()


@pytest.mark.slow
def test_better_than_chance_on_worlds_that_it_has_not_seen():
    found = []
    for seed in range(300_000, 300_005):
        world = make_world("shapes", n_samples=200, random_state=seed)
        labels = ConsensusClustering(selection="learned", random_state=0).fit(world.X).labels_
        known = world.labels >= 0
        found.append(adjusted_rand_score(world.labels[known], labels[known]))
    assert np.mean(found) > 0.4


def test_clear_clusters_are_found_without_their_number():
    model = ConsensusClustering(selection="learned", random_state=0).fit(BLOBS)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(Y, model.labels_) > 0.95
    moons, y = make_moons(300, noise=0.05, random_state=0)
    assert adjusted_rand_score(y, ConsensusClustering(selection="learned", random_state=0).fit(moons).labels_) > 0.9


@pytest.mark.parametrize("k", first_of([11, 30, 2, 5], 2))
def test_a_number_that_is_given_is_kept(k):
    model = ConsensusClustering(k, selection="learned", random_state=0).fit(WINE)
    assert model.n_clusters_ == len(np.unique(model.labels_)) == k == model.chosen_.n_clusters
    assert model.choice_ is None


def test_numbers_to_choose_from():
    assert choose_candidate(BLOBS, ks=[2, 3]).n_clusters in (2, 3)
    assert set(choose_candidate(BLOBS, ks=[6, 7]).predicted) == {6, 7}
    with pytest.raises(ValueError, match="enough different rows for 5000 clusters"):
        choose_candidate(BLOBS, ks=[5000])
    plan = default_plan(BLOBS, selection="learned", k_range=[2, 3])
    assert plan.n_clusters.value == (2, 3)
    assert "Trees that learned" in plan.n_clusters.reason


@pytest.mark.slow
def test_numbers_between_those_on_the_list_are_looked_at():
    X, y = make_blobs(900, 2, centers=15, cluster_std=0.15, random_state=2)
    found = choose_candidate(X)
    assert found.n_clusters == 15  # 14 and 17 are on the list
    assert adjusted_rand_score(y, ConsensusClustering(selection="learned", random_state=0).fit(X).labels_) > 0.95


def test_the_list_of_numbers_goes_on_where_the_best_is_at_its_end():
    centres = 8 * np.array([(i, j) for i in range(5) for j in range(5)])
    X, y = make_blobs(300, 2, centers=centres, cluster_std=0.5, random_state=0)
    assert numbers_of_clusters(300)[-1] == 17
    model = ConsensusClustering(random_state=0, n_jobs=2).fit(X)
    assert model.n_clusters_ == 25
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert "and with larger ones if the best is in the upper half" in model.plan_.n_clusters.reason
    assert max(choose_candidate(BLOBS).predicted) <= 17  # 4 clear clusters
    given = choose_candidate(X, ks=range(10, 18))
    assert given.n_clusters <= 17


def test_the_record_of_the_choice():
    model = ConsensusClustering(selection="learned", random_state=0).fit(WINE)
    chosen = model.chosen_
    assert sum(chosen.weights.values()) == pytest.approx(1)
    assert chosen.margin >= 0
    assert chosen.version == trained_trees().version
    assert chosen.predicted[chosen.n_clusters] == max(chosen.predicted.values())
    assert chosen.sentence.endswith(".")
    assert chosen.runner_up in chosen.sentence
    weights = model.consensus_.weights
    assert len(weights) == model.ensemble_.shape[1]
    names = [tuple(candidate) for candidate in model.generator_._candidates]
    assert max(zip(weights, names, strict=True))[1] == max(chosen.weights, key=chosen.weights.get)
    assert model.confidence_.mean() < 1


@pytest.mark.core(1)
@pytest.mark.parametrize("jobs", [2, -1])
def test_threads_change_nothing(jobs):
    one, more = (ConsensusClustering(selection="learned", random_state=0, n_jobs=n).fit(WINE) for n in (1, jobs))
    np.testing.assert_array_equal(one.labels_, more.labels_)
    np.testing.assert_array_equal(one.confidence_, more.confidence_)
    assert one.chosen_ == more.chosen_


def test_seeds_units_and_the_order_of_rows_change_little():
    first = ConsensusClustering(selection="learned", random_state=0).fit(WINE).labels_
    other = ConsensusClustering(selection="learned", random_state=7).fit(WINE).labels_
    np.testing.assert_array_equal(first, other)  # up to 1,500 objects nothing is random
    order = np.random.default_rng(0).permutation(len(WINE))
    moved = ConsensusClustering(selection="learned", random_state=0).fit(WINE[order]).labels_
    assert adjusted_rand_score(first[order], moved) > 0.95


@pytest.mark.slow
def test_of_many_objects_a_sample_is_compared():
    X, y = make_blobs(1_700, 3, centers=5, random_state=5)
    model = ConsensusClustering(selection="learned", random_state=0).fit(X)
    assert model.plan_.samples.value == {"the weights of the partitions": 1_500}
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert len(model.labels_) == 1_700


def test_what_is_answered_is_what_was_rated(monkeypatch):
    """Of many objects the partitions of all are rated on the compared ones, in the place of the candidates."""
    limit(monkeypatch, "objects compared by the trees", 150)
    model = ConsensusClustering(4, random_state=0, n_jobs=1).fit(BLOBS)
    X, k = model.preprocessor_.transform(BLOBS), 4
    compared = settled_rows(X, 150)
    pool = all_candidates(X[compared], sorted({*numbers_of_clusters(150), k}))
    partitions = dict(zip(model.generator_._candidates, model.generator_._labels[compared].T, strict=True))
    at = [i for i, of in enumerate(pool.candidates) if of in partitions]
    labels = pool.labels.copy()
    for i in at:
        labels[i] = np.unique(partitions[pool.candidates[i]], return_inverse=True)[1]
    assert (labels != pool.labels).any()
    X = describe(pool._replace(labels=labels), X[compared]).X
    rated = dict(zip(pool.candidates, np.round(trained_trees().trees.predict(X), 6), strict=True))
    best = max(rated[pool.candidates[i]] for i in at)
    expected = {tuple(pool.candidates[i]): np.exp((rated[pool.candidates[i]] - best) / 0.04) for i in at}
    total = sum(w for w in expected.values() if w >= 1e-3)
    assert sum(model.chosen_.weights.values()) == pytest.approx(1)
    for of, weight in model.chosen_.weights.items():
        assert weight == pytest.approx(expected[of] / total, rel=1e-9)
    np.testing.assert_array_equal(model.consensus_.weights, learned_weights(model.generator_, model.chosen_))


@pytest.mark.core(1)
@pytest.mark.parametrize("k", [None, 4])
def test_of_many_objects_neither_seed_nor_order_nor_threads_decide(monkeypatch, k):
    limit(monkeypatch, "objects compared by the trees", 150)
    first = ConsensusClustering(k, random_state=0, n_jobs=1).fit(BLOBS)
    other = ConsensusClustering(k, random_state=1, n_jobs=2).fit(BLOBS)
    np.testing.assert_array_equal(first.labels_, other.labels_)
    np.testing.assert_array_equal(first.confidence_, other.confidence_)
    assert first.chosen_ == other.chosen_
    order = np.random.default_rng(0).permutation(len(BLOBS))
    moved = ConsensusClustering(k, random_state=0).fit(BLOBS[order])
    assert adjusted_rand_score(first.labels_[order], moved.labels_) > 0.95


@pytest.mark.parametrize(
    "options",
    [
        {"quality": "fast"},
        {"consensus": "km", "n_clusters": 3},
        {"n_clusters": 1},
    ],
)
def test_where_there_is_no_choice_it_is_as_without(options):
    learned, without = (
        ConsensusClustering(**options, selection=name, random_state=0).fit(WINE) for name in ("learned", "consensus")
    )
    np.testing.assert_array_equal(learned.labels_, without.labels_)
    assert learned.chosen_ is None


def test_very_many_clusters_are_not_rated():
    X, _ = make_blobs(600, 2, random_state=0)
    assert not default_plan(X, 250, selection="learned").is_learned
    assert default_plan(X, 200, selection="learned").is_learned
    with pytest.raises(ValueError, match=r"n_clusters.*Got 9999"):
        ConsensusClustering(9999, selection="learned").fit(WINE)
    with pytest.raises(ValueError, match=r"n_clusters of ConsensusClustering must be ≤ the 2 different rows of X"):
        ConsensusClustering(3).fit(np.repeat([[1.0, 2], [2, 3]], 9, axis=0))


def test_a_generator_that_is_given_has_no_learned_weights():
    X, _ = make_blobs(1_600, 2, random_state=0)
    plan = default_plan(X, 3, generator=ScaledPartitions(3), selection="learned")
    assert not plan.is_learned
    assert plan.samples.value == {}
    assert plan.votes.value == "equal votes"


def test_by_consensus_nothing_is_learned():
    model = ConsensusClustering(3, selection="consensus", random_state=0).fit(WINE)
    assert model.chosen_ is None
    assert not model.plan_.is_learned


@pytest.mark.parametrize(
    ("options", "is_one"), [({}, False), ({"allow_one": True}, True), ({"allow_one": True, "n_clusters": 4}, False)]
)
def test_one_cluster_is_an_answer_where_it_is_allowed(unclear, options, is_one):
    model = ConsensusClustering(**options, selection="learned", random_state=0).fit(BLOBS)
    assert (model.n_clusters_ == 1) == is_one
    assert model.choice_ is None


def test_clear_clusters_are_never_one():
    model = ConsensusClustering(selection="learned", allow_one=True, random_state=0).fit(BLOBS)
    assert model.n_clusters_ == 4


def test_pairs_of_objects_are_kept():
    pairs = [[0, 100], [1, 101]]
    model = ConsensusClustering(3, selection="learned", random_state=0).fit(WINE, must_link=pairs)
    assert all(model.labels_[a] == model.labels_[b] for a, b in pairs)


def test_new_objects_and_a_saved_model(tmp_path):
    model = ConsensusClustering(selection="learned", random_state=0).fit(WINE[::2])
    assert (model.predict(WINE[::2]) == model.labels_).mean() > 0.95
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict(WINE[1::2]), model.predict(WINE[1::2]))
    assert again.chosen_ == model.chosen_


def test_progress_is_told():
    told = []
    ConsensusClustering(3, selection="learned", random_state=0, progress=lambda *done: told.append(done)).fit(WINE)
    assert told
    assert all(done <= total for done, total in told)


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="selection of ConsensusClustering"):
        ConsensusClustering(selection="best").fit(WINE)


def choice(seed):
    """View, family and number of clusters that are chosen in a small world."""
    kind = KINDS[seed % len(KINDS)]
    preprocessor = Preprocessor(impute="median")
    X = make_world(kind, n_samples=120, random_state=seed).X
    units = ConsensusClustering(impute="median").plan(X).generator.units
    found = choose_candidate(preprocessor.fit_transform(X), units=units, n_jobs=1)
    return f"{found.view} {found.family} {found.n_clusters}"


@pytest.mark.parametrize("n", first_of([len(KINDS), None]))
def test_the_choices_of_a_fixed_list_are_those_of_other_versions(n):
    """`python tests/choices/test_chooser.py` writes the list, after a training. One world of each kind, or all."""
    known = json.loads(CHOICES.read_text(encoding="utf-8"))
    same = [choice(int(seed)) == chosen for seed, chosen in list(known.items())[:n]]
    assert np.mean(same) >= 0.95


if __name__ == "__main__":
    CHOICES.write_text(json.dumps({seed: choice(seed) for seed in range(400_000, 400_028)}, indent=1) + "\n", "utf-8")
