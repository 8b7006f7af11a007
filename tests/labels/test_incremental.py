"""Partitions that arrive one after the other: what is found is what `fit` finds in all of them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from strategies import planted_labels, random_labels

import ensemblage
from ensemblage import Ensemble, make_consensus
from ensemblage.labels.disk import StoredRows

NAMES = ["km", "ecc", "kcc", "qmi", "acv", "bv"]
LEARNED = ("labels_", "confidence_", "runner_up_", "cohesion_", "objective_", "aggregate_", "membership_", "order_",
           "losses_", "linkage_matrix_", "lifetimes_", "n_features_in_")  # fmt: skip


def method(name, k=3, **parameters):
    model = make_consensus(name, k, **parameters)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def labels_of(n=120, p=9, missing=0.1, seed=0):
    return planted_labels(n=n, p=p, k=4, noise=0.3, missing=missing, seed=seed)[0]


def assert_same(model, other):
    for attribute in LEARNED:
        if hasattr(other, attribute):
            assert_array_equal(getattr(model, attribute), getattr(other, attribute), err_msg=attribute)


@pytest.mark.core(3)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *((name, {}) for name in NAMES),
        ("acv", {"order": "given"}),
        ("acv", {"order": "given", "voting": "fixed"}),
        ("acv", {"order": "divergence"}),
        ("acv", {"weights": "agreement", "order": "given"}),
        ("km", {"weights": "agreement"}),
    ],
)
def test_equal_to_fit_on_all_in_that_order(name, parameters, missing):
    labels = labels_of(missing=missing)
    model = method(name, **parameters)
    for start, stop in ((0, 3), (3, 4), (4, 9)):
        assert model.add_partitions(labels[:, start:stop]) is model
        assert_same(model, method(name, **parameters).fit(labels[:, :stop]))
    assert_array_equal(model.assign(labels).labels, method(name, **parameters).fit(labels).assign(labels).labels)


def test_a_reference_with_too_few_clusters_is_replaced():
    labels = labels_of(missing=0)
    coarse = labels // 2
    model = method("acv", k=2, order="given").add_partitions(coarse[:, :3])
    assert_same(model.set_params(n_clusters=4).add_partitions(labels), method("acv", k=4, order="given").fit(
        np.column_stack([coarse[:, :3], labels])))  # fmt: skip


@pytest.mark.parametrize("name", ["km", "acv"])
def test_weights_and_pairs_are_those_of_the_call(name):
    labels, weights = labels_of(), np.random.default_rng(0).integers(0, 3, 120)
    order = {"order": "given"} if name == "acv" else {}
    pairs = {"must_link": [[0, 5]], "cannot_link": [[0, 9]]}
    model = method(name, **order).add_partitions(labels[:, :4], sample_weight=weights)
    assert_same(model, method(name, **order).fit(labels[:, :4], sample_weight=weights))
    model.add_partitions(labels[:, 4:6])
    assert_same(model, method(name, **order).fit(labels[:, :6]))
    model.add_partitions(labels[:, 6:], **pairs)
    assert_same(model, method(name, **order).fit(labels, **pairs))
    assert model.labels_[0] == model.labels_[5] != model.labels_[9]


@pytest.mark.parametrize("name", ["km", "acv", "bv"])
def test_a_saved_model_goes_on(name, tmp_path):
    labels = labels_of()
    model = method(name).add_partitions(Ensemble(labels[:, :5], names=list("abcde")))
    model.save(tmp_path / "model.npz")
    again = ensemblage.load(tmp_path / "model.npz").add_partitions(labels[:, 5:])
    assert_same(again, method(name).fit(labels))
    assert_array_equal(again.predict([[-1] * 8 + [0]]), method(name).fit(labels).predict([[-1] * 8 + [0]]))


def test_soft_partitions_arrive_too(tmp_path):
    blocks = [np.eye(4)[z] * 0.7 + 0.075 for z in labels_of(missing=0).T]
    model = (
        method("acv", order="given")
        .add_partitions(Ensemble.from_memberships(blocks[:4]))
        .add_partitions(Ensemble.from_memberships(blocks[4:]))
    )
    assert_same(model, method("acv", order="given").fit(Ensemble.from_memberships(blocks)))
    model.save(tmp_path / "model.npz")
    ensemblage.load(tmp_path / "model.npz").add_partitions(Ensemble.from_memberships(blocks[:1]))
    with pytest.raises(ValueError, match="all of labels or all of memberships"):
        model.add_partitions(labels_of())


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda m, x: m.fit(x).add_partitions(x),
            "must get its first partitions by add_partitions, since fit keeps no labels. Got a model",
        ),
        (lambda m, x: m.add_partitions(x).fit(x).add_partitions(x), "must get its first partitions by add_partitions"),
        (
            lambda m, x: m.add_partitions(x).add_partitions(x[:50]),
            r"partitions of the same 120 objects, .* Got Ensemble\(50",
        ),
        (
            lambda m, x: m.set_params(weights=[1] * 9).add_partitions(x),
            "weights of .* must be None or 'agreement' w",
        ),
    ],
)
@pytest.mark.parametrize("name", ["km", "acv", "bv"])
def test_where_it_is_not_possible(name, act, message):
    with pytest.raises(ValueError, match=message):
        act(method(name), labels_of())


def test_voting_begins_with_two_and_a_failure_changes_nothing():
    labels = labels_of()
    with pytest.raises(ValueError, match="must have at least 2 partitions that vote"):
        method("acv").add_partitions(labels[:, :1])
    model = method("acv").add_partitions(labels[:, :3])
    before = model.labels_
    with pytest.raises(ValueError, match="same 120 objects"):
        model.add_partitions(labels[:5])
    assert model.labels_ is before
    assert_same(model.add_partitions(labels[:, 3:]), method("acv").fit(labels))
    assert not hasattr(clone(model), "labels_")


def test_other_methods_have_none():
    assert not hasattr(make_consensus("eac-average", 3), "add_partitions")


@pytest.mark.parametrize("name", NAMES)
def test_more_partitions_are_not_more_rows(name):
    """scikit-learn's `partial_fit` takes more objects, and its checks look for that name."""
    assert not hasattr(method(name), "partial_fit")


def test_partitions_side_by_side_keep_their_names():
    first = Ensemble([[0, 0], [0, 9], [1, 1]], names=["a", "b"], missing=9)
    second = Ensemble.from_partitions([[0, 1, 1]], names=["c"])
    both = first.append_partitions(second)
    assert both.names == ["a", "b", "c"]
    assert both.missing == 9
    assert np.array_equal(np.asarray(both), [[0, 0, 0], [0, 9, 1], [1, 1, 1]])
    assert first.append_partitions(first).names == [f"partition_{j}" for j in range(4)]
    one = Ensemble.from_memberships([[[1, 0], [0.5, 0.5]]], names=["a"])
    other = Ensemble.from_memberships([[[0, 1], [0.2, 0.8]]], names=["b"])
    assert one.append_partitions(other).names == ["a", "b"]
    assert one.append_partitions(one).names == ["partition_0", "partition_1"]
    assert np.array_equal(one.append_partitions(other).memberships[1], other.memberships[0])
    for wrong in (first, Ensemble.from_memberships([[[1.0, 0]]]), 3):
        with pytest.raises(ValueError, match="must be of the same 2 objects, an Ensemble of memberships"):
            one.append_partitions(wrong)


def test_partitions_on_disk_behind_those_in_memory_stay_there(tmp_path, monkeypatch):
    labels, more = random_labels(3000, 2, 3, 0.2, seed=0), random_labels(3000, 3, 4, 0.2, seed=1)
    np.save(tmp_path / "more.npy", more)
    stored = Ensemble.open(tmp_path / "more.npy")
    expected = Ensemble(np.column_stack([labels, more]))
    read, n_read = StoredRows._read, []

    def counted(self, start, stop):
        n_read.append(stop - start)
        return read(self, start, stop)

    monkeypatch.setattr(StoredRows, "_read", counted)
    for both, other in (
        (Ensemble(labels).append_partitions(stored), expected),
        (stored.append_partitions(Ensemble(labels)), expected.select([2, 3, 4, 0, 1])),
    ):
        assert not n_read
        assert np.array_equal(both.codes[7:90], other.codes[7:90])
        assert n_read == [83]
        n_read.clear()
        assert np.array_equal(both.codes[[2000, 3]], other.codes[[2000, 3]])
        assert np.array_equal(both.distinct.codes[:], other.distinct.codes)
        assert np.array_equal(both.distinct.inverse, other.distinct.inverse)
        assert repr(both).startswith("Ensemble(3,000 objects on disk, 5 partitions")
        n_read.clear()
