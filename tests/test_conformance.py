"""scikit-learn's own checks over every estimator, and ours over every consensus method."""

import pickle
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import planted_labels, twins

from ensemblage import (
    METHODS,
    BipartiteVoting,
    ConsensusClustering,
    CumulativeVoting,
    Ensemble,
    make_consensus,
)
from ensemblage.metrics import density

ON_COORDINATES = {"check_clustering": "it wants ARI > 0.4 on raw coordinates, which are no labels"}
SHUFFLED = {
    "check_sample_weight_equivalence_on_dense_data": "it shuffles the objects of a symmetric ensemble: every column is "
    "the same partition, so that the places of the objects break the ties"
}


def expected_failures(estimator):
    if isinstance(estimator, ConsensusClustering):
        return {}
    return ON_COORDINATES | (SHUFFLED if isinstance(estimator, BipartiteVoting | CumulativeVoting) else {})


NEEDS = {"cspa": "pymetis", "mcla": "pymetis", "hgpa": "mtkahypar"}
AVAILABLE = sorted(name for name in METHODS if name not in NEEDS or find_spec(NEEDS[name]))


def method_of(name, n_clusters=3, **parameters):
    """The method with a seed if it takes one."""
    method = make_consensus(name, n_clusters, **parameters)
    return method.set_params(random_state=0) if "random_state" in method.get_params() else method


def label_consensus():
    """One estimator per class and set of parameters, with the two clusters that scikit-learn's data has."""
    distinct = {(METHODS[name].estimator, repr(sorted(METHODS[name].parameters.items()))): name for name in AVAILABLE}
    return [make_consensus(name, 2) for name in distinct.values()]


@parametrize_with_checks(
    [*label_consensus(), ConsensusClustering(2)],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:.* not seen in fit count")  # its objects of weight 0 have labels of their own
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module", params=[0.0, 0.3], ids=["complete", "missing"])
def labels(request):
    """Planted labels in which many rows occur several times."""
    return twins(planted_labels(n=120, p=9, k=3, noise=0.15, missing=request.param, seed=1)[0], 300)


@pytest.fixture(params=AVAILABLE)
def name(request):
    return request.param


def test_attributes(name, labels):
    model = method_of(name).fit(labels)
    sizes = np.bincount(model.labels_[model.labels_ >= 0])
    assert model.labels_.shape == model.confidence_.shape == (300,)
    assert len(sizes) == model.n_clusters_ <= 3
    assert sizes.all()
    assert (np.diff(sizes) <= 0).all()
    assert np.all((model.confidence_ >= 0) & (model.confidence_ <= 1))


def test_mean_confidence_is_the_density(name):
    labels, _ = planted_labels(n=90, p=6, k=3, seed=3)
    model = method_of(name).fit(labels)
    assert np.mean(model.confidence_) == pytest.approx(density(labels, model.labels_), abs=1e-12)


def test_object_without_any_label(name, labels):
    with_empty = labels.copy()
    with_empty[7] = -1
    model = method_of(name).fit(with_empty)
    assert model.labels_[7] == -1
    assert np.isnan(model.confidence_[7])
    assert (np.delete(model.labels_, 7) >= 0).all()


def test_permuting_the_objects_permutes_the_labels(name, labels):
    order = np.random.default_rng(0).permutation(len(labels))
    whole, permuted = method_of(name).fit(labels), method_of(name).fit(labels[order])
    assert_array_equal(permuted.labels_, whole.labels_[order])
    assert_array_equal(permuted.confidence_, whole.confidence_[order])


def test_no_result_depends_on_threads_or_blocks(name, labels, monkeypatch):
    from ensemblage.rows import blocks

    one, two = method_of(name, n_jobs=1).fit(labels), method_of(name, n_jobs=2).fit(labels)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 11)
    blocks = method_of(name, n_jobs=2).fit(labels)
    for other in (two, blocks):
        assert_array_equal(other.labels_, one.labels_)
        assert_array_equal(other.confidence_, one.confidence_)


def test_the_form_of_the_labels_does_not_matter(name, labels):
    whole = method_of(name).fit(labels)
    columns = {f"member {j}": z for j, z in enumerate(labels.T)}
    text = {key: [None if v < 0 else f"cluster {v}" for v in z] for key, z in columns.items()}
    forms = [
        Ensemble(labels),
        np.where(labels < 0, np.nan, labels),
        labels.tolist(),
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pd.DataFrame(text),
        pl.DataFrame(text, schema=dict.fromkeys(text, pl.Categorical)),
    ]
    for form in forms:
        assert_array_equal(method_of(name).fit(form).labels_, whole.labels_)


def test_clone_and_pickle(name, labels):
    model = method_of(name).fit(labels)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.labels_, model.labels_)
    if hasattr(model, "predict"):
        assert_array_equal(again.predict(labels), model.predict(labels))


def test_predict_on_the_same_rows(name, labels):
    model = method_of(name).fit(labels)
    if not hasattr(model, "predict"):
        pytest.skip("the method does not predict")
    assert_array_equal(model.predict(labels), model.labels_)


def test_two_equal_partitions_are_found_again(name):
    truth = np.repeat([0, 1, 2], [30, 20, 10])
    model = method_of(name).fit(np.column_stack([truth, (truth + 1) % 3, 2 - truth]))
    assert_array_equal(model.labels_, truth)
    assert_array_equal(model.confidence_, 1.0)


@pytest.mark.parametrize("bad", [0, -1, 2.5, True, "3"])
def test_n_clusters_is_a_whole_number(name, labels, bad):
    with pytest.raises(ValueError, match=r"n_clusters of .* must be a whole number"):
        method_of(name, bad).fit(labels)


def test_more_clusters_than_rows(name):
    with pytest.raises(ValueError, match=r"n_clusters of .* must be"):
        method_of(name, 5).fit([[0, 0], [0, 0], [1, 1], [1, 0]])


def with_two_of_weight_0(labels):
    """Labels and weights: two partitions have weight 0, and they alone label object 5."""
    labels = labels.copy()
    labels[5, :7], labels[5, 7:] = -1, 1
    weights = np.array([1, 2, 1, 1, 3, 1, 1, 0, 0.0])
    weights = weights[[7, 0, 1, 2, 8, 3, 4, 5, 6]]
    return labels[:, [7, 0, 1, 2, 8, 3, 4, 5, 6]], weights


def assert_same_fit(model, other):
    for attribute in ("labels_", "confidence_", "linkage_matrix_", "objective_", "threshold_", "aggregate_"):
        if hasattr(other, attribute):
            assert_array_equal(getattr(model, attribute), getattr(other, attribute))


def test_a_partition_of_weight_0_is_left_out(name, labels):
    given, weights = with_two_of_weight_0(labels)
    if name.startswith("negmm-wat"):  # which refuses unequal weights
        weights = np.sign(weights)
    model = method_of(name, weights=weights).fit(given)
    selected = Ensemble(given).select(weights > 0)
    other = method_of(name, weights=weights[weights > 0]).fit(selected)
    assert model.n_features_in_ == 9
    assert model.labels_[5] == -1
    assert np.isnan(model.confidence_[5])
    assert_same_fit(model, other)
    if hasattr(model, "predict"):
        assert_array_equal(model.predict(given), model.labels_)
        assert_array_equal(model.predict(Ensemble(given)), other.predict(selected))


@pytest.mark.parametrize("name", ["km", "acv", "bv", "sec"])
def test_a_partition_of_weight_0_is_left_out_on_disk(name, labels, tmp_path):
    given, weights = with_two_of_weight_0(labels)
    np.save(tmp_path / "given.npy", given)
    stored = Ensemble.open(tmp_path / "given.npy", scratch=tmp_path)
    model, other = (method_of(name, weights=weights).fit(E) for E in (stored, given))
    assert_same_fit(model, other)
    assert_array_equal(model.predict(stored), other.labels_)


@pytest.mark.parametrize("name", ["acv", "bv", "majority", "mcla"])
def test_what_lists_the_partitions_has_their_given_numbers(name, labels):
    given, weights = with_two_of_weight_0(labels)
    voting = np.flatnonzero(weights)
    if name not in AVAILABLE:
        pytest.skip("needs a partitioner")
    model = method_of(name, weights=weights).fit(given)
    other = method_of(name, weights=weights[voting]).fit(given[:, voting])
    if name == "majority":
        assert model.reference_ == voting[other.reference_]
    elif name == "mcla":
        assert [len(parts) for parts in model.meta_clusters_] == [3 * (w > 0) for w in weights]
        assert_array_equal(np.concatenate(model.meta_clusters_), np.concatenate(other.meta_clusters_))
    else:
        assert_array_equal(model.order_, voting[other.order_])
        assert_array_equal(model.losses_.mse[voting], other.losses_.mse)
        assert np.isnan(model.losses_.mse[weights == 0]).all()
