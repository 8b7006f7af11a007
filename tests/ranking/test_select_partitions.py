"""The best members of an ensemble as a step of a pipeline."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import ON_FRACTIONS, planted_labels

from ensemblage import Ensemble
from ensemblage.consensus import KMeansConsensus
from ensemblage.ranking import DISCOTEC, AverageAgreement, InternalIndex, SelectPartitions


@parametrize_with_checks(
    [SelectPartitions(AverageAgreement(), 1)], expected_failed_checks=lambda estimator: ON_FRACTIONS
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def labels():
    good = planted_labels(n=80, p=6, k=3, noise=0.1, seed=0)[0]
    bad = np.random.default_rng(0).integers(3, size=(80, 4))
    return np.column_stack([bad[:, :2], good, bad[:, 2:]])


@pytest.mark.parametrize("ranker", [None, AverageAgreement(), DISCOTEC("kl", random_state=1)])
def test_the_first_of_the_ranking_are_kept_in_the_order_of_the_matrix(labels, ranker):
    select = SelectPartitions(ranker, 6).fit(labels)
    assert select.selected_.tolist() == [2, 3, 4, 5, 6, 7] == sorted(select.ranker_.order_[:6].tolist())
    np.testing.assert_array_equal(select.transform(labels), labels[:, 2:8])
    assert ranker is None or not hasattr(ranker, "order_")


@pytest.mark.parametrize(("n_partitions", "kept"), [(1, 1), (7, 7), (99, 10), (0.3, 3), (1.0, 10), (0.001, 1)])
def test_how_many(labels, n_partitions, kept):
    assert len(SelectPartitions(AverageAgreement(), n_partitions).fit(labels).selected_) == kept


def test_what_comes_in_goes_out(labels):
    names = [f"p{j}" for j in range(10)]
    select = SelectPartitions(AverageAgreement(), 6)
    for make in (pd.DataFrame, pl.DataFrame):
        out = select.fit(make(dict(zip(names, labels.T, strict=True)))).transform(
            make(dict(zip(names, labels.T, strict=True)))
        )
        assert type(out) is make
        assert list(out.columns) == names[2:8] == select.get_feature_names_out().tolist()
    ensemble = Ensemble(labels, names=names)
    assert select.fit_transform(ensemble).names == names[2:8]


def test_labels_may_be_text(labels):
    """In a list of lists, as in an array or a frame."""
    text = np.array(list("abcdefghijklmnopqrstuvwxyz"))[labels]
    select = SelectPartitions(AverageAgreement(), 4).fit(labels)
    for given in (text, text.tolist()):
        assert select.fit(given).transform(given).tolist() == text[:, select.selected_].tolist()


def test_a_lazy_frame_is_to_be_collected(labels):
    select = SelectPartitions(AverageAgreement(), 6).fit(labels)
    for take in (select.fit, select.transform):
        with pytest.raises(TypeError, match=r"Got sparse or lazy data of type LazyFrame\. Use labels\.collect\(\)"):
            take(pl.LazyFrame(labels))


def test_in_a_pipeline(labels):
    whole = make_pipeline(SelectPartitions(n_partitions=6), KMeansConsensus(3, random_state=0)).fit(labels)
    alone = KMeansConsensus(3, random_state=0).fit(labels[:, 2:8])
    np.testing.assert_array_equal(whole[-1].labels_, alone.labels_)
    np.testing.assert_array_equal(whole.predict(labels), alone.labels_)


def test_what_the_ranking_needs_is_passed_on(labels):
    X = np.random.default_rng(1).normal(size=(80, 2)) + 5 * labels[:, [2]]
    select = SelectPartitions(InternalIndex("silhouette"), 1).fit(labels, features=X)
    assert select.selected_.tolist() == [2]
    links = [[i, j] for i in range(20) for j in range(i) if labels[i, 0] == labels[j, 0]]
    assert SelectPartitions(AverageAgreement(), 1).fit(labels, must_link=links).ranker_.violations_[0] == 0


@pytest.mark.parametrize("n_partitions", [0, -1, 1.5, True, "all", None, np.nan])
def test_a_number_that_is_none(labels, n_partitions):
    with pytest.raises(ValueError, match=r"^n_partitions of SelectPartitions.* must be .*\. Got .*\. "):
        SelectPartitions(AverageAgreement(), n_partitions).fit(labels)


def test_the_rule_of_a_share_is_said(labels):
    rule = r"must be a whole number ≥ 1, or a number > 0 and ≤ 1\. Got 1\.5\. "
    with pytest.raises(ValueError, match=rule):
        SelectPartitions(AverageAgreement(), 1.5).fit(labels)


def test_what_is_no_ranking(labels):
    with pytest.raises(
        TypeError, match=r"^ranker of SelectPartitions must be a ranking estimator, or None\. Got 'ari'\. Give "
    ):
        SelectPartitions("ari").fit(labels)
