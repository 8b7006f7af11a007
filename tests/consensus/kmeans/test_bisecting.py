"""BisectingKMeansConsensus: the tree, its rules, and what can be read from it."""

import naive
import numpy as np
import pytest
from limits import limit
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from strategies import planted_labels, random_labels, with_equal_rows

from ensemblage import Ensemble, make_consensus
from ensemblage.consensus import BisectingKMeansConsensus, KMeansConsensus
from ensemblage.metrics import cluster_density, density, kmeans_loss

RULES = ["loss", "size", "density", "gain"]


@pytest.fixture(params=RULES)
def rule(request):
    return request.param


@pytest.mark.core(3)
def test_tree_is_consistent_with_itself(rule, missing):
    labels = with_equal_rows(random_labels(n=120, p=6, k=4, missing=missing, seed=1), 300)
    labels = labels[(labels >= 0).any(axis=1)]
    model = BisectingKMeansConsensus(9, split_rule=rule, random_state=0).fit(labels)
    assert len(model.splits_) == 8
    assert_array_equal(model.labels_at(9), model.labels_)
    assert_array_equal(model.labels_at(1), 0)
    assert model.objective_ == pytest.approx(kmeans_loss(labels, model.labels_))
    for k in range(1, 9):
        coarse, fine, split = model.labels_at(k), model.labels_at(k + 1), model.splits_[k - 1]
        pairs = np.unique(np.column_stack([coarse, fine]), axis=0)
        assert len(pairs) == k + 1  # one cluster in two, the others as they are
        assert (np.diff(np.bincount(coarse)) <= 0).all()
        assert split.gain == pytest.approx(density(labels, fine) - density(labels, coarse), abs=1e-12)
        assert split.loss - split.loss_after == pytest.approx(kmeans_loss(labels, coarse) - kmeans_loss(labels, fine))
        assert split.loss_after <= split.loss


def test_rule_chooses_the_part(rule):
    labels = random_labels(n=200, p=6, k=4, seed=2)
    model = BisectingKMeansConsensus(8, split_rule=rule, random_state=0).fit(labels)
    for k in range(2, 8):
        coarse, fine = model.labels_at(k), model.labels_at(k + 1)
        (chosen,) = [c for c in range(k) if len(np.unique(fine[coarse == c])) == 2]
        if rule == "size":
            value = np.bincount(coarse)
        elif rule == "density":
            value = -np.diag(cluster_density(labels, coarse))
        else:
            value = np.array([naive.kmeans_loss(labels[coarse == c], np.zeros(np.sum(coarse == c))) for c in range(k)])
        if rule != "gain":
            assert value[chosen] == pytest.approx(value.max())


def test_best_gain_is_the_best():
    """The first choice between two parts, each of them split alone."""
    labels = random_labels(n=80, p=5, k=4, seed=28)
    gains = {}
    for rule in RULES:
        model = BisectingKMeansConsensus(3, split_rule=rule, random_state=0).fit(labels)
        gains[rule] = (model.splits_[1].parent, model.splits_[1].gain)
    assert {parent for parent, _ in gains.values()} == {1, 2}  # the rules differ here
    assert gains["gain"][1] == max(gain for _, gain in gains.values())


def test_gain_on_the_toy():
    """{123}{45}{67}: S = .857143, {123}{4}{5}{67}: .642857; the loss falls, the density too."""
    toy = np.array([[1, 2, 1, 1], [1, 2, 1, 1], [1, 2, 2, 1], [2, 3, 2, 1], [2, 3, 2, 2], [3, 1, 3, 2], [3, 1, 3, 2]])
    model = BisectingKMeansConsensus(3, random_state=0).fit(toy)
    assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 2, 2])
    total = density(toy, np.zeros(7)) + sum(split.gain for split in model.splits_)
    assert total == pytest.approx(0.857143, abs=1e-6)
    assert model.objective_ == pytest.approx(2.333333, abs=1e-6)


def test_default_is_the_root_of_n():
    labels, _ = planted_labels(n=250, p=8, k=4, noise=0.5)
    labels[:10] = -1
    assert BisectingKMeansConsensus(random_state=0).fit(labels).n_clusters_ == 15
    few = np.repeat([[0, 0], [0, 1], [1, 1]], 30, axis=0)
    assert BisectingKMeansConsensus(random_state=0).fit(few).n_clusters_ == 3


@pytest.mark.parametrize("n", [1_000, 10_000])
def test_planted_clusters_are_found(n):
    labels, truth = planted_labels(n=n, p=20, k=4, noise=0.2, seed=1)
    model = BisectingKMeansConsensus(4, random_state=0).fit(labels)
    assert adjusted_rand_score(truth, model.labels_) >= 0.99


def test_no_better_than_ten_starts_of_k_means():
    labels = random_labels(n=400, p=8, k=5, seed=4)
    km = KMeansConsensus(20, random_state=0).fit(labels).objective_
    worst = KMeansConsensus(20, init="random", n_init=1, max_iter=1, random_state=0).fit(labels).objective_
    assert km < BisectingKMeansConsensus(20, random_state=0).fit(labels).objective_ < worst


@pytest.mark.core(3)
def test_threads_and_blocks_change_nothing(rule, missing, monkeypatch):
    labels = random_labels(n=600, p=6, k=5, missing=missing, seed=1)
    one = BisectingKMeansConsensus(12, split_rule=rule, random_state=0, n_jobs=1).fit(labels)
    limit(monkeypatch, "rows of a block", 37)
    others = [
        BisectingKMeansConsensus(12, split_rule=rule, random_state=0, n_jobs=n_jobs).fit(labels) for n_jobs in (2, 5)
    ]
    for other in others:
        assert_array_equal(other.labels_, one.labels_)
        assert other.splits_ == one.splits_
        assert_array_equal(other.confidence_, one.confidence_)


def test_tree_does_not_depend_on_how_far_it_grows():
    labels = random_labels(n=300, p=6, k=5, seed=1)
    small, large = (BisectingKMeansConsensus(k, random_state=0).fit(labels) for k in (5, 20))
    assert small.splits_ == large.splits_[:4]
    assert_array_equal(large.labels_at(5), small.labels_)


def test_predict_goes_down_the_tree(rule, missing):
    labels = random_labels(n=300, p=3, k=3, missing=missing, seed=4)
    model = BisectingKMeansConsensus(8, split_rule=rule, max_iter=2, random_state=0).fit(labels)
    assert_array_equal(model.predict(labels), model.labels_)
    assert_array_equal(model.predict(np.full((2, 3), -1)), [-1, -1])
    with pytest.warns(UserWarning, match="not seen"):
        model.predict([[0, 0, 9]])


def test_twins_are_never_separated_and_every_row_can_be_alone():
    labels = with_equal_rows(random_labels(n=15, p=4, k=3), 60)
    m = len(Ensemble(labels).distinct.counts)
    model = BisectingKMeansConsensus(m, random_state=0).fit(labels)
    assert model.n_clusters_ == m
    assert model.objective_ == 0


def test_clusters_without_loss_are_not_split():
    """The rows (0, -) and (0, 0) differ, but no partition separates them."""
    labels = [[0, -1], [0, 0], [1, 0], [1, -1]]
    with pytest.warns(ConvergenceWarning, match="Only 2 of 4 clusters"):
        model = BisectingKMeansConsensus(4, random_state=0).fit(labels)
    assert_array_equal(model.labels_, [0, 0, 1, 1])


def test_permuted_objects(rule):
    labels = with_equal_rows(random_labels(n=100, p=5, k=4, missing=0.1), 200)
    order = np.random.default_rng(0).permutation(200)
    whole, permuted = (
        BisectingKMeansConsensus(7, split_rule=rule, random_state=0).fit(z) for z in (labels, labels[order])
    )
    for k in range(1, 8):
        assert_array_equal(permuted.labels_at(k), whole.labels_at(k)[order])


def test_weights():
    labels, _ = planted_labels(n=200, p=4, k=3, noise=0.3)
    weights = [1, 2, 0, 0.5]
    model = BisectingKMeansConsensus(6, weights=weights, random_state=0).fit(labels)
    assert model.objective_ == pytest.approx(kmeans_loss(labels, model.labels_, weights=weights))
    gain = density(labels, model.labels_, weights=weights) - density(labels, np.zeros(200), weights=weights)
    assert sum(split.gain for split in model.splits_) == pytest.approx(gain)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 9}, r"n_clusters of BisectingKMeansConsensus must be ≤ the 4 distinct label rows. Got 9"),
        ({"split_rule": "widest"}, r"split_rule of BisectingKMeansConsensus must be one of 'loss', 'size'"),
        ({"init": [0, 1]}, r"init of BisectingKMeansConsensus must be one of"),
        ({"n_init": 0}, r"n_init of BisectingKMeansConsensus must be a whole number"),
        ({"tol": -1.0}, r"tol of BisectingKMeansConsensus must be a number ≥ 0"),
    ],
)
def test_bad_input(parameters, message):
    labels = [[0, 0], [0, 1], [1, 0], [1, 1]]
    with pytest.raises(ValueError, match=message):
        BisectingKMeansConsensus(**{"n_clusters": 2, **parameters}).fit(labels)


def test_labels_at_more_clusters_than_there_are():
    model = make_consensus("h-km", 3, random_state=0).fit([[0, 0], [0, 1], [1, 0], [1, 1]])
    with pytest.raises(ValueError, match=r"n_clusters of labels_at must be a whole number from 1 to 3. Got 4"):
        model.labels_at(4)
