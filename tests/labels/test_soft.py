"""Soft members: memberships instead of labels, against definitions written out, and against labels where they are."""

import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import naive
import numpy as np
import pytest
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from representatives import first_of
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from strategies import few_starts, planted_labels, random_labels, usual

import ensemblage
from ensemblage import METHODS, Ensemble, make_consensus
from ensemblage.consensus import CumulativeVoting, EuclideanMedian
from ensemblage.metrics import agreement_weights, coassociation, confidence, density

SOFT = ["acv", "majority", "gv3", "hbgf", "soft-euclidean", "hard-euclidean", "bv"]
"""The last two take their steps from the others."""
LEARNED = ("labels_", "confidence_", "cohesion_", "runner_up_", "objective_", "aggregate_", "membership_", "order_",
           "losses_", "entropy_", "mutual_information_", "lifetimes_")  # fmt: skip


def method(name, k=None, **parameters):
    model = few_starts(usual(name, k, **parameters))
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def soft_blocks(n=60, p=5, k=3, missing=0.0, seed=0):
    """Memberships near planted labels, (n, 2 to k + 1) each; rows of NaN where a partition says nothing."""
    random = np.random.default_rng(seed)
    labels = planted_labels(n=n, p=p, k=k, noise=0.2, seed=seed)[0]
    found = []
    for z in labels.T:
        width = random.integers(k, k + 2)
        block = random.dirichlet(np.full(width, 0.4), size=n) * 0.6
        block[np.arange(n), z] += 0.4
        block[random.random(n) < missing] = np.nan
        found.append(block)
    return found


def one_hot(labels):
    return [np.where(z[:, None] >= 0, (z[:, None] == np.arange(z.max() + 1)) * 1.0, np.nan) for z in labels.T]


def test_agreement_of_zeros_and_ones_is_that_of_labels():
    labels = random_labels(n=60, p=5, k=3, missing=0.2, seed=2)
    labels[:, 3:] = 0
    labels[30:, 2], labels[:30, 1] = -1, -1
    assert len(set(agreement_weights(labels).round(6))) >= 3
    labels[labels[:, 0] < 0, 0] = 0
    soft, hard = (
        method("acv", 3, weights="agreement").fit(X) for X in (Ensemble.from_memberships(one_hot(labels)), labels)
    )
    assert_allclose(np.sort(soft.aggregate_), np.sort(hard.aggregate_), atol=1e-9)  # clusters may change their places
    assert_allclose(soft.losses_, hard.losses_, atol=1e-9)


def test_of_equal_entropies_the_most_agreeing_leads():
    """As of labels: by the mean ARI with the others."""
    orders = set()
    for seed in range(5):
        truth, rng = np.arange(60) % 3, np.random.default_rng(seed)
        labels = np.column_stack([truth] * 5)
        for j, moved in enumerate((6, 3, 12, 9, 0)):
            chosen = rng.permutation(60)[:moved]
            labels[chosen, j] = rng.permutation(labels[chosen, j])  # as many of each
        of_labels = method("acv", 3).fit(labels).order_
        assert_array_equal(method("acv", 3).fit(Ensemble.from_memberships(one_hot(labels))).order_, of_labels)
        orders.add(tuple(of_labels.tolist()))
    assert len(orders) > 1


def joined_and_labelled(blocks):
    """(n, n, p) how far each partition joins each pair, and whether it says something of both."""
    joined = np.stack([np.nan_to_num(u) @ np.nan_to_num(u).T for u in blocks], axis=-1)
    known = np.stack([~np.isnan(u).any(axis=1) for u in blocks], axis=-1)
    return joined, (known[:, None] & known).astype(float)


@pytest.mark.core(3)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("name", first_of(SOFT, 5))
def test_zeros_and_ones_are_labels(name, missing):
    labels = planted_labels(n=80, p=7, k=4, noise=0.25, missing=missing, seed=1)[0]
    hard, soft = method(name, 4).fit(labels), method(name, 4).fit(Ensemble.from_memberships(one_hot(labels)))
    for attribute in LEARNED:
        if hasattr(hard, attribute) and (name, attribute) != ("bv", "order_"):  # passes may tie but for rounding
            found, expected = getattr(soft, attribute), getattr(hard, attribute)
            if isinstance(expected, dict):
                assert list(found) == list(expected)
                found, expected = list(found.values()), list(expected.values())
            assert_allclose(np.array(found), np.array(expected), atol=1e-8, err_msg=attribute)


def test_tables_of_pairs_of_zeros_and_ones_are_those_of_labels():
    """What voting adds up, each object as often as it counts."""
    labels, counts = random_labels(40, 4, 3, 0.2, seed=2), np.arange(40)
    soft, hard = (
        method("acv", 3).fit(X, sample_weight=counts) for X in (Ensemble.from_memberships(one_hot(labels)), labels)
    )
    for attribute in ("aggregate_", "membership_", "losses_", "linkage_matrix_"):
        assert_allclose(getattr(soft, attribute), getattr(hard, attribute), atol=1e-9, err_msg=attribute)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sums_over_blocks_of_memberships(monkeypatch, n_jobs):
    """The same by any blocks, and by as many threads as are allowed."""
    labels, counts = random_labels(40, 4, 3, 0.2, seed=2), np.arange(40)
    expected = method("acv", 3, n_jobs=n_jobs).fit(labels, sample_weight=counts)
    limit(monkeypatch, "rows of a partial sum of shares", 7)
    with mock.patch.object(
        ThreadPoolExecutor, "submit", autospec=True, side_effect=ThreadPoolExecutor.submit
    ) as submit:
        found = method("acv", 3, n_jobs=n_jobs).fit(Ensemble.from_memberships(one_hot(labels)), sample_weight=counts)
    assert submit.called == (n_jobs > 1)
    for attribute in ("aggregate_", "membership_", "losses_", "linkage_matrix_"):
        assert_allclose(getattr(found, attribute), getattr(expected, attribute), atol=1e-9, err_msg=attribute)


def test_memberships_side_by_side():
    E = Ensemble.from_memberships(one_hot(random_labels(40, 3, 3, 0.2, seed=2)))
    both = E.append_partitions(E)
    assert both.shape == (40, 6)
    assert_array_equal(both.offsets, [*E.offsets, *(E.offsets[-1] + E.offsets[1:])])
    assert_array_equal(np.hstack(both.memberships), np.hstack(2 * E.memberships))
    with pytest.raises(TypeError, match="have no codes"):
        both.rows.recode([], np.dtype(np.uint8))


def test_metrics_of_zeros_and_ones_are_those_of_labels():
    labels = random_labels(40, 6, 3, 0.2, seed=2)
    labels[:, 0] = np.maximum(labels[:, 0], 0)
    soft, clusters = Ensemble.from_memberships(one_hot(labels)), np.append(planted_labels(n=39, p=1, k=3, seed=0)[1], 3)
    weights = np.arange(1.0, 7)
    assert_allclose(density(soft, clusters, weights=weights), density(labels, clusters, weights=weights))
    found, expected = confidence(soft, clusters, weights=weights), confidence(labels, clusters, weights=weights)
    assert_allclose(found.confidence, expected.confidence)
    assert_allclose(found.cohesion, expected.cohesion)
    assert_array_equal(found.runner_up, expected.runner_up)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_allclose(coassociation(soft, weights=weights), coassociation(labels, weights=weights))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_coassociation_and_density_follow_the_definition(missing):
    given = soft_blocks(missing=missing, seed=3)
    weights, clusters = np.array([1.0, 2, 3, 4, 5]), planted_labels(n=60, p=1, k=3, seed=1)[1]
    joined, labelled = joined_and_labelled(given)
    joined, labelled = joined @ weights, labelled @ weights
    expected = np.where(labelled > 0, joined / np.where(labelled > 0, labelled, 1), 0)
    soft = Ensemble.from_memberships(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = coassociation(soft, weights=weights)
        rows = coassociation(soft, weights=weights, objects=[3, 9, 11])
    off = ~np.eye(60, dtype=bool)
    assert_allclose(found[off], expected[off])
    assert_allclose(rows, found[np.ix_([3, 9, 11], [3, 9, 11])])
    total = 0.0
    for c in range(3):
        members = np.flatnonzero(clusters == c)
        inside = np.ix_(members, members)
        pairs = ~np.eye(len(members), dtype=bool)
        total += len(members) * joined[inside][pairs].sum() / labelled[inside][pairs].sum()
    assert_allclose(density(soft, clusters, weights=weights), total / 60)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_confidence_follows_the_definition(missing):
    given, weights = soft_blocks(missing=missing, seed=4), np.array([1.0, 2, 3, 4, 5])
    clusters = planted_labels(n=60, p=1, k=3, seed=1)[1]
    clusters[clusters == 2] = np.where(np.arange((clusters == 2).sum()) == 0, 3, 2)
    joined, labelled = joined_and_labelled(given)
    off = ~np.eye(60, dtype=bool)
    u = weights * labelled[off].sum(axis=0) / joined[off].sum(axis=0)
    found = confidence(Ensemble.from_memberships(given), clusters, weights=weights)
    for i in range(60):
        if clusters[i] == 3:
            assert found.cohesion[i] == 0
            continue
        own, sure = np.flatnonzero((clusters == clusters[i]) & (np.arange(60) != i)), {}
        for c in set(range(4)) - {clusters[i]}:
            other = np.flatnonzero(clusters == c)
            with_own, with_other = joined[i, own][:, None], joined[i, other][None]
            without_own, without_other = labelled[i, own][:, None] - with_own, labelled[i, other][None] - with_other
            speaks_for, against = (
                (pairs.sum(axis=(0, 1)) * u).sum() for pairs in (with_own * without_other, without_own * with_other)
            )
            sure[c] = speaks_for / (speaks_for + against) if speaks_for + against > 0 else 0.5
        assert_allclose(found.confidence[i], min(sure.values()))
        assert sure[found.runner_up[i]] == pytest.approx(min(sure.values()))


@pytest.mark.parametrize("weights", [None, [1, 3, 1, 1, 2]])
def test_cumulative_voting_follows_the_definition(weights):
    given = soft_blocks(seed=5)
    model = method("acv", 3, order="given", weights=weights).fit(Ensemble.from_memberships(given))
    w = np.ones(5) if weights is None else np.array(weights, dtype=float)
    U, total = given[0].copy(), w[0]
    for block, weight in zip(given[1:], w[1:], strict=True):
        W = (block.T @ U) / block.sum(axis=0)[:, None]
        U = (total * U + weight * (block @ W)) / (total + weight)
        total += weight
    found = model.aggregate_
    order = np.argsort(-U.sum(axis=0))
    assert_allclose(found[:, np.argsort(-found.sum(axis=0))], U[:, order])
    assert_allclose(model.entropy_, naive.shannon(U.sum(axis=0) / len(U)))
    j = 2
    W = (given[j].T @ U) / given[j].sum(axis=0)[:, None]
    assert_allclose(model.losses_.mse[j], np.square(U - given[j] @ W).sum() / len(U))
    assert_array_equal(model.labels_, model.membership_.argmax(axis=1))


def test_bipartite_voting_and_medians_follow_the_definition():
    given = soft_blocks(n=30, p=4, k=3, seed=6)
    given = [block[:, :3] / block[:, :3].sum(axis=1, keepdims=True) for block in given]
    soft = Ensemble.from_memberships(given)
    for name in ("soft-euclidean", "hard-euclidean"):
        model = method(name, 3).fit(soft)
        best = naive.best_soft_median(given, hard=name.startswith("hard"))
        assert_allclose(model.objective_, best, rtol=1e-9)
    bv = method("bv", 3).fit(soft)
    U = bv.aggregate_
    assert_allclose(U.sum(axis=1), 1)
    matched = [naive.matched_to(block, U) for block in given]
    assert_allclose(np.mean(matched, axis=0), U)
    assert_allclose(bv.objective_, np.mean([np.square(U - V).sum() / len(U) for V in matched]))
    assert_allclose(bv.losses_.mse, [np.square(U - V).sum() / len(U) for V in matched])


def test_the_third_model_follows_the_definition():
    given = soft_blocks(n=30, p=4, k=3, missing=0.1, seed=7)
    model = method("gv3", 3).fit(Ensemble.from_memberships(given))
    joined, labelled = joined_and_labelled(given)
    M = np.nan_to_num(model.membership_)
    value = np.mean([(labelled[..., b] * (M @ M.T - joined[..., b]) ** 2).sum() for b in range(4)])
    assert_allclose(model.objective_, value)


@pytest.mark.parametrize("partitioner", ["spectral", "transfer"])
def test_hbgf_finds_what_mixtures_agree_on(partitioner):
    given, truth = soft_blocks(n=90, p=8, seed=8), planted_labels(n=90, p=8, k=3, noise=0.2, seed=8)[1]
    model = make_consensus("hbgf", 3, partitioner=partitioner, random_state=0).fit(Ensemble.from_memberships(given))
    assert adjusted_rand_score(truth, model.labels_) > 0.85


@pytest.mark.parametrize("name", first_of(SOFT, 3))
def test_threads_blocks_and_the_order_of_objects(name, monkeypatch):
    given = soft_blocks(n=200, p=6, missing=0.1, seed=9)
    one = method(name, 3, n_jobs=1).fit(Ensemble.from_memberships(given))
    limit(monkeypatch, "rows of a block", 32)
    two = method(name, 3, n_jobs=2).fit(Ensemble.from_memberships(given))
    assert_array_equal(one.labels_, two.labels_)
    assert_allclose(one.confidence_, two.confidence_)
    place = np.random.default_rng(0).permutation(200)
    moved = method(name, 3).fit(Ensemble.from_memberships([block[place] for block in given]))
    assert_array_equal(moved.labels_, one.labels_[place])


@pytest.mark.parametrize("name", first_of(SOFT, 3))
def test_prediction_saving_and_copies(name, tmp_path):
    given = soft_blocks(missing=0.1, seed=10)
    given[1] = np.column_stack([given[1], np.zeros(60)])  # a cluster without mass
    soft = Ensemble.from_memberships(given)
    model = method(name, 3).fit(soft)
    if hasattr(model, "predict"):
        assert_array_equal(model.predict(soft), model.labels_)
        assert_array_equal(model.predict(soft[5:9]), model.labels_[5:9])
    assert_allclose(model.association_shares(soft).sum(axis=1), 1)
    assert len(model.assign(soft[[1, 3]]).labels) == 2
    model.save(tmp_path / "model.npz")
    again = ensemblage.load(tmp_path / "model.npz")
    assert_array_equal(again.assign(soft).labels, model.assign(soft).labels)
    twice = method(name, 3).fit(soft[np.repeat(np.arange(60), 2)])
    assert_allclose(twice.confidence_.shape, 120)
    assert isinstance(model.diagnostics(soft), tuple)
    clone(model)
    with pytest.raises(ValueError, match=r"must be an Ensemble.from_memberships of partitions of \[.*\] clusters. Got"):
        model.assign(Ensemble.from_memberships(given[:3]) if name == "hbgf" else np.zeros((3, 5)))


@pytest.mark.core(1)
@pytest.mark.parametrize("name", ["acv", "bv", "soft-euclidean", "majority", "hbgf"])
def test_weights_of_partitions_and_of_objects(name):
    given = soft_blocks(seed=11)
    model = method(name, 3, weights=[1, 0, 2, 1, 0]).fit(Ensemble.from_memberships(given))
    other = method(name, 3, weights=[1, 2, 1]).fit(Ensemble.from_memberships([given[j] for j in (0, 2, 3)]))
    assert_array_equal(model.labels_, other.labels_)
    three = Ensemble.from_memberships(given).select([0, 2, 3])
    assert_array_equal(model.assign(Ensemble.from_memberships(given)).labels, other.assign(three).labels)
    assert (method(name, 3, weights="agreement").fit(Ensemble.from_memberships(given)).labels_ >= 0).all()


@pytest.mark.core(1)
@pytest.mark.parametrize("name", first_of(SOFT, 5))
def test_weights_of_objects_are_repeated_objects(name):
    given, weights = soft_blocks(missing=0.1, seed=13), np.random.default_rng(0).integers(0, 4, 60)
    soft = Ensemble.from_memberships(given)
    weighted = method(name, 3).fit(soft, sample_weight=weights)
    repeated = method(name, 3).fit(soft[np.repeat(np.arange(60), weights)])
    assert_array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)
    for attribute in ("confidence_", "runner_up_", "cohesion_"):
        assert_allclose(np.repeat(getattr(weighted, attribute), weights), getattr(repeated, attribute))
    left_out = weights == 0
    assert np.isnan(weighted.confidence_[left_out]).all()
    if hasattr(weighted, "predict"):
        assert_array_equal(weighted.labels_[left_out], weighted.predict(soft)[left_out])


@pytest.mark.parametrize("name", ["acv", "bv", "majority", "soft-euclidean"])
def test_pairs(name):
    soft = Ensemble.from_memberships(soft_blocks(seed=12))
    found = method(name, 3).fit(soft, must_link=[[0, 1], [1, 2]], cannot_link=[[0, 5], [5, 6], [6, 0]]).labels_
    assert naive.keeps(found, [[0, 1], [1, 2]], [[0, 5], [5, 6], [6, 0]])


@pytest.mark.parametrize("name", ["gv3", "hbgf"])
def test_pairs_by_mean_memberships(name):
    given, weights = soft_blocks(seed=12), np.arange(60) % 3 + 1
    given[1][1] = np.nan
    given[2][:3] = np.nan
    common = [block.copy() for block in given]
    for block in common[:2] + common[3:]:
        known = [i for i in range(3) if not np.isnan(block[i]).any()]
        block[:3] = np.average(block[known], axis=0, weights=weights[known])
    model = method(name, 3).fit(Ensemble.from_memberships(given), sample_weight=weights, must_link=[[0, 1], [1, 2]])
    other = method(name, 3).fit(Ensemble.from_memberships(common), sample_weight=weights)
    assert_array_equal(model.labels_, other.labels_)
    assert_allclose(model.confidence_, other.confidence_)
    with pytest.raises(ValueError, match="it cannot keep objects apart"):
        model.fit(Ensemble.from_memberships(given), cannot_link=[[0, 1]])


@pytest.mark.parametrize("name", sorted(set(METHODS) - {*SOFT, "lwgp", "u-senc"}))
def test_other_methods_name_those_that_count_by_memberships(name):
    with pytest.raises(ValueError, match=r"must be labels: it cannot use memberships\. Got Ensemble\(60 o"):
        method(name, 3).fit(Ensemble.from_memberships(soft_blocks()))


@pytest.mark.parametrize("name", first_of(SOFT, 5))
def test_a_cluster_of_next_to_no_mass_is_none(name):
    """As ``predict_proba`` gives for a component that lies far off: its mass has no reciprocal."""
    given = soft_blocks(n=60, p=4, missing=0.0, seed=2)
    far = [np.column_stack([block, np.full(60, 1.9e-310)]) for block in given]
    model = method(name, 3).fit(Ensemble.from_memberships(far))
    expected = method(name, 3).fit(Ensemble.from_memberships(given))
    assert_array_equal(model.labels_, expected.labels_)
    assert_allclose(model.confidence_, expected.confidence_)


def test_mixtures_with_labels_and_a_consensus_of_consensuses():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 2)) + np.repeat([[0, 0], [6, 0], [0, 6]], 40, axis=0)
    mixtures = [GaussianMixture(k, random_state=k).fit(X).predict_proba(X) for k in (3, 4, 5)]
    soft = Ensemble.from_memberships([*mixtures, np.repeat(["a", "b", "c"], 40)], names=["3", "4", "5", "known"])
    assert soft.names == ["3", "4", "5", "known"]
    first, second = method("acv", 3).fit(soft), EuclideanMedian(3, random_state=0).fit(soft)
    both = method("acv", 3).fit(Ensemble.from_memberships([first.membership_, second.membership_]))
    assert (naive.contingency(both.labels_, np.repeat([0, 1, 2], 40)) > 0).sum() == 3


def test_the_ensemble_itself():
    given = soft_blocks(n=20, missing=0.2, seed=1)
    soft = Ensemble.from_memberships(given)
    for found, expected in zip(soft.memberships, given, strict=True):
        assert_allclose(found, expected)
    assert len(soft) == 20
    assert soft.shape == (20, 5)
    assert soft[3:5].shape == (2, 5)
    assert soft[[True] + [False] * 19].shape == (1, 5)
    assert soft.select(["partition_2", "partition_0"]).names == ["partition_2", "partition_0"]
    labels = np.asarray(soft.to_labels())
    for block, column in zip(given, labels.T, strict=True):
        known = ~np.isnan(block).any(axis=1)
        assert_array_equal(column[known], block[known].argmax(axis=1))
        assert (column[~known] == -1).all()
    assert re.fullmatch(r"Ensemble\(20 objects, 5 soft partitions of 3 to 4 clusters\)", repr(soft))
    with pytest.raises(ValueError, match="read-only"):
        soft.rows.H[0, 0] = 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [[[0.5, 0.6]]],
            r"memberships\[0\] must be numbers ≥ 0 .* Got \[0.5, 0.6\] for object 0, with sum 1.1",
        ),
        ([[[1.0, 0.0]], [[1.5, -0.5]]], r"memberships\[1\] must be numbers ≥ 0"),
        ([[[0.0, 0.0]]], r"Every partition must have memberships .* Got none in memberships\[0\]"),
        ([[[1.0], [1.0]], [[1.0]]], "Got blocks of 1 and 2 rows. Give a block per partition"),
        ([], "Got 0 without rows"),
        ([np.zeros((2, 2, 2))], r"Got shape \(2, 2, 2\)"),
        ([[["a", "b"]]], "Give the predict_proba of a mixture"),
        ([np.empty((0, 3))], "of at least one object|without rows"),
    ],
)
def test_wrong_memberships(given, message):
    with pytest.raises(ValueError, match=message):
        Ensemble.from_memberships(given)


def test_what_soft_members_exclude():
    soft = Ensemble.from_memberships(soft_blocks())
    for parameters in ({"partitioner": "metis"}, {"cluster_weights": "eci"}):
        with pytest.raises(ValueError, match=rf"{next(iter(parameters))} of HBGF must be .* with memberships"):
            make_consensus("hbgf", 3, **parameters).fit(soft)
    with pytest.raises(TypeError, match="memberships must be a sequence of blocks"):
        Ensemble.from_memberships("abc")
    with pytest.raises(ValueError, match="cluster_weights of coassociation must be None with memberships"):
        coassociation(soft, cluster_weights="eci")
    needed = 24 * 60**2 + 16 * 60 * int(soft.offsets[-1])
    assert coassociation(soft, max_bytes=needed).shape == (60, 60)
    with pytest.raises(ValueError, match=rf"must fit into .* Got {needed:,} bytes for the matrix of 60 objects"):
        coassociation(soft, max_bytes=needed - 1)
    with pytest.raises(ValueError, match=r"The ensemble must be one of labels. Got Ensemble\(60 .* Give soft.to_l"):
        ensemblage.ranking.DISCOTEC().fit(soft)


@pytest.mark.parametrize("name", ["acv", "soft-euclidean", "hbgf"])
def test_the_page_of_soft_partitions_shows_their_likeliest_clusters(name):
    soft = Ensemble.from_memberships(soft_blocks(), names=list("abcde"))
    model = method(name, 3).fit(soft)
    page = model.report(soft)
    assert page.summary["settings"]["memberships"].startswith("of soft partitions; they are shown")
    assert [member["name"] for member in page.summary["members"]] == list("abcde")
    assert "likeliest cluster of each object" in page.html
    assert len(model.to_frame(soft)) == 60


def test_labels_are_asked_for_in_one_sentence():
    soft = Ensemble.from_memberships(soft_blocks())
    labels = np.asarray(soft.to_labels())
    for act in (lambda: ensemblage.Ensemble(soft), lambda: method("km", 3).fit(labels).predict(soft)):
        with pytest.raises(ValueError, match=r"must be one of labels. Got Ensemble\(60 .* Give soft.to_labels"):
            act()


def test_clusters_without_objects_are_numbered_last():
    random = np.random.default_rng(0)
    shares = [random.dirichlet(np.full(k, 0.2), 60) * (np.arange(k) < k - 1) for k in (3, 4, 5)]
    soft = Ensemble.from_memberships([share / share.sum(axis=1, keepdims=True) for share in shares])
    model = CumulativeVoting(3).fit(soft)
    given, memberships = model.labels_, model.predict_proba(soft)
    assert model.n_clusters_ < memberships.shape[1]
    model.align(model.n_clusters_ - 1 - given)
    assert_array_equal(model.labels_, model.n_clusters_ - 1 - given)
    assert_array_equal(model.predict(soft), model.labels_)
    places = [*range(model.n_clusters_)[::-1], *range(model.n_clusters_, memberships.shape[1])]
    assert_array_equal(model.predict_proba(soft), memberships[:, places])
