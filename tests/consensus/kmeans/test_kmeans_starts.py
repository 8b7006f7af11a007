"""How many starts there are, and starts of KMeansConsensus on a sample of the distinct rows."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import rows_of
from limits import limit
from representatives import first_of
from strategies import planted_labels, random_labels

from ensemblage import METHODS, make_consensus
from ensemblage.consensus import KMeansConsensus
from ensemblage.consensus.kmeans._label_kmeans import number_of_starts, sample_counts


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_sampled_rows_stand_for_all(counts, size, seed):
    counts = np.array(counts)
    chosen, sampled = sample_counts(counts, size, np.random.RandomState(seed))
    assert len(chosen) <= max(size, 1)
    assert (np.diff(chosen) > 0).all()
    weight = next(w for w in range(1, 10_000) if np.minimum(counts, w).sum() <= size * w)
    heavy = counts >= weight
    assert set(np.flatnonzero(heavy)) <= set(chosen)
    np.testing.assert_array_equal(sampled[heavy[chosen]], counts[chosen][heavy[chosen]])
    assert (sampled[~heavy[chosen]] % weight == 0).all()
    # One of every so many objects, but for the last ones.
    assert 0 <= counts[~heavy].sum() - sampled[~heavy[chosen]].sum() + weight - 1 <= 2 * (weight - 1)


@pytest.mark.parametrize("block_rows", [1, 7, 10**6])
def test_a_sample_does_not_depend_on_blocks(block_rows, monkeypatch):
    limit(monkeypatch, "rows of a block", block_rows)
    for seed in range(60):
        random = np.random.default_rng(seed)
        counts = random.integers(seed % 2, 1 + random.integers(1, 40), random.integers(1, 50)) + (random.random() < 0.1)
        counts[0], size = 1 + 500 * (seed % 3), int(random.integers(1, 30))
        expected = naive.sampled_counts(counts, size, np.random.RandomState(seed))
        chosen, found = sample_counts(counts, size, np.random.RandomState(seed))
        np.testing.assert_array_equal(chosen, np.flatnonzero(expected))
        np.testing.assert_array_equal(found, expected[chosen])


def test_a_sample_has_every_row_as_often_as_it_has_objects():
    counts = np.array([1, 2, 5, 90, 1, 1, 3])
    total = np.zeros(7)
    for seed in range(4_000):
        chosen, sampled = sample_counts(counts, 4, np.random.RandomState(seed))
        total[chosen] += sampled
    np.testing.assert_allclose(total[3] / 4_000, 90)
    np.testing.assert_allclose(total / 4_000, counts, atol=0.25)


def test_up_to_the_limit_nothing_is_sampled(monkeypatch):
    labels = random_labels(n=600, p=6, k=5, seed=0)
    n_rows = len(np.unique(labels, axis=0))
    on_all = KMeansConsensus(4, random_state=0, init_size=None).fit(labels)
    for init_size in ("auto", n_rows):
        model = KMeansConsensus(4, random_state=0, init_size=init_size).fit(labels)
        assert model.init_size_ is None
        np.testing.assert_array_equal(model.labels_, on_all.labels_)
    limit(monkeypatch, "label rows that k-means starts on", n_rows - 1)
    limit(monkeypatch, "label rows of a cluster that k-means starts on", 1)
    assert KMeansConsensus(4, random_state=0).fit(labels).init_size_ < n_rows
    given = KMeansConsensus(4, random_state=0, init=np.arange(600) % 4).fit(labels)
    assert given.init_size_ is None


@pytest.mark.parametrize("utility", ["category", "entropy", "cosine", "lp"])
def test_the_best_start_is_finished_on_all_rows(utility):
    labels, _ = planted_labels(n=1_500, p=10, k=5, noise=0.4, missing=0.1, seed=1)
    on_all = KMeansConsensus(5, utility=utility, random_state=0, init_size=None).fit(labels)
    model = KMeansConsensus(5, utility=utility, random_state=0, init_size=400).fit(labels)
    assert 200 < model.init_size_ <= 400
    assert model.objective_ <= 1.01 * on_all.objective_
    np.testing.assert_array_equal(model.predict(labels), model.labels_)
    # A minimum on all rows: it does not get better from there.
    again = KMeansConsensus(5, utility=utility, init=model.labels_).fit(labels)
    assert again.objective_ == pytest.approx(model.objective_)
    for n_jobs in (1, 3):
        other = KMeansConsensus(5, utility=utility, random_state=0, init_size=400, n_jobs=n_jobs).fit(labels)
        np.testing.assert_array_equal(other.labels_, model.labels_)
        assert other.objective_ == model.objective_


def test_weights_of_objects_are_copies_of_them_in_a_sample_too():
    labels = random_labels(n=300, p=5, k=4, seed=0)
    counts = np.random.default_rng(0).integers(1, 5, size=300)
    options = {"n_clusters": 4, "random_state": 0, "init_size": 90}
    weighted = KMeansConsensus(**options).fit(labels, sample_weight=counts)
    copied = KMeansConsensus(**options).fit(np.repeat(labels, counts, axis=0))
    assert weighted.init_size_ == copied.init_size_
    np.testing.assert_array_equal(np.repeat(weighted.labels_, counts), copied.labels_)


def test_too_small_a_sample():
    labels = random_labels(n=300, p=5, k=4, seed=0)
    with pytest.raises(ValueError, match="init_size of KMeansConsensus must be ≥ the 4 clusters"):
        KMeansConsensus(4, init_size=3).fit(labels)
    model = KMeansConsensus(5, init_size=5, random_state=0).fit(labels)
    assert model.n_clusters_ == 5


@pytest.mark.parametrize("name", ["km", "qmi", "ecc", "kcc"])
def test_published_starts_run_on_all_rows(name):
    assert make_consensus(name, 3, published=True).init_size is None
    assert make_consensus(name, 3).init_size == "auto"
    assert "init_size" not in METHODS[name].published  # results that are stored are known by these


# ---- The number of starts ----


@pytest.mark.parametrize(("m", "p", "k", "expected"), [
    (100, 10, 4, 300), (100, 10, 5, 300), (100, 10, 6, 250), (1000, 10, 5, 30), (1000, 30, 10, 10), (10_000, 1, 9, 16),
])  # fmt: skip
def test_the_number_of_starts_is_a_function_of_rows_partitions_and_clusters(m, p, k, expected):
    labels = np.repeat(np.arange(m)[:, None], p, axis=1)
    rows = rows_of(labels)
    assert number_of_starts("auto", rows, k, 10) == expected
    assert number_of_starts("auto", rows, k, 20) == max(expected, 20)
    assert number_of_starts(7, rows, k, 10) == 7
    twice = rows_of(np.repeat(labels, 2, axis=0))
    assert number_of_starts("auto", twice, k, 10) == expected  # copies of objects are the same rows


NAMED = [("k-modes", "objective_", 1), ("lca", "log_likelihood_", -1), ("hard-euclidean", "objective_", 1),
         ("soft-euclidean", "objective_", 1)]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "attribute", "sign"), first_of(NAMED))
def test_small_problems_are_started_often_enough(name, attribute, sign):
    """On labels of which most are noise, with what a thousand starts find."""

    def loss(labels, n_init, seed=0):
        model = make_consensus(name, 4).set_params(n_init=n_init, random_state=seed, n_jobs=1)
        return sign * getattr(model.fit(labels), attribute)

    seeds = {"k-modes": (2, 3), "lca": (2, 4), "hard-euclidean": (2,), "soft-euclidean": (0,)}[name]
    for seed in seeds:
        labels = planted_labels(n=60, p=8, k=4, noise=0.6, seed=seed)[0]
        best = loss(labels, 1000, seed=1)
        assert loss(labels, "auto") == pytest.approx(best, rel=1e-6)
        if name != "soft-euclidean":
            assert loss(labels, 10 if name in ("k-modes", "lca") else 20) > best + 1e-6 * abs(best)


@pytest.mark.parametrize(("name", "attribute", "sign"), first_of(NAMED))
def test_auto_is_that_number_of_starts_and_the_default(name, attribute, sign):
    labels = planted_labels(n=60, p=8, k=4, noise=0.6, seed=0)[0]
    found = [
        make_consensus(name, 4).set_params(random_state=0, **n_init).fit(labels)
        for n_init in ({}, {"n_init": "auto"}, {"n_init": 300})
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.labels_, found[0].labels_)
        assert getattr(other, attribute) == getattr(found[0], attribute)


def test_starts_of_latent_classes_that_go_on_are_those_of_least_loss(monkeypatch):
    """While all 40 go on, nothing better is found here; while one does, something worse."""
    labels = planted_labels(n=60, p=8, k=4, noise=0.6, seed=4)[0]
    fit = lambda: make_consensus("lca", 4).set_params(n_init=40, random_state=0).fit(labels).log_likelihood_  # noqa: E731
    found = fit()
    limit(monkeypatch, "starts of latent classes that go on", 40)
    assert found <= fit() * (1 - 1e-9)
    assert found == pytest.approx(fit(), rel=1e-6)
