"""Rankers against their definition, and as scikit-learn estimators."""

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import ON_FRACTIONS, label_matrices, planted_labels, random_labels

from ensemblage import Ensemble
from ensemblage.ranking import AverageAgreement

SCORES = {"ari": adjusted_rand_score, "nmi": normalized_mutual_info_score}


@parametrize_with_checks([AverageAgreement()], expected_failed_checks=lambda estimator: ON_FRACTIONS)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


@pytest.mark.parametrize("measure", ["ari", "nmi"])
def test_mean_over_the_others(measure, missing):
    labels = random_labels(80, 7, 4, missing)
    ranker = AverageAgreement(measure).fit(labels)
    expected = naive.agreement(labels, SCORES[measure])
    np.testing.assert_allclose(ranker.agreement_, expected, atol=1e-13)
    np.testing.assert_allclose(ranker.scores_, (expected.sum(axis=1) - 1) / 6, atol=1e-13)
    assert ranker.greater_is_better
    assert (np.diff(ranker.scores_[ranker.order_]) <= 0).all()
    np.testing.assert_array_equal(ranker.ranks_, rankdata(-ranker.scores_, method="min"))


@pytest.mark.parametrize("average_method", ["arithmetic", "geometric", "min", "max"])
def test_average_methods(average_method):
    labels = random_labels(80, 4, 3)

    def score(a, b):
        return normalized_mutual_info_score(a, b, average_method=average_method)

    ranker = AverageAgreement("nmi", average_method=average_method).fit(labels)
    np.testing.assert_allclose(ranker.agreement_, naive.agreement(labels, score), atol=1e-13)


def test_best_member_is_the_least_noisy():
    truth = planted_labels(300, 8, 4, 0.3)[1]
    labels = np.column_stack([planted_labels(300, 1, 4, noise, seed=j)[0] for j, noise in enumerate([0.5, 0.1, 0.3])])
    labels = np.column_stack([labels, truth])
    assert AverageAgreement().fit(labels).order_.tolist() == [3, 1, 2, 0]


@pytest.mark.parametrize("measure", ["ari", "nmi"])
@given(labels=label_matrices(max_objects=30, max_partitions=6).filter(lambda z: z.shape[1] > 1))
@pytest.mark.filterwarnings("ignore:AverageAgreement cannot score")
def test_renamed_copies_tie_exactly(measure, labels):
    copies = np.column_stack([labels, np.where(labels < 0, -1, 10 - labels)])
    ranker = AverageAgreement(measure).fit(copies)
    p = labels.shape[1]
    np.testing.assert_array_equal(ranker.scores_[:p], ranker.scores_[p:])
    np.testing.assert_array_equal(ranker.ranks_[:p], ranker.ranks_[p:])
    np.testing.assert_array_equal(ranker.agreement_, ranker.agreement_.T)


@pytest.mark.parametrize("measure", ["ari", "nmi"])
def test_rows_threads_and_names_do_not_matter(measure, missing, small_blocks):
    labels = random_labels(200, 6, 5, missing, seed=3)
    expected = AverageAgreement(measure, n_jobs=1).fit(labels)
    permuted = np.random.default_rng(0).permutation(labels)
    names = np.array(["e", "d", "c", "b", "a", None], dtype=object)
    for other, n_jobs in [(labels, 2), (labels, -1), (permuted, None), (names[labels], 2)]:
        ranker = AverageAgreement(measure, n_jobs=n_jobs).fit(other)
        np.testing.assert_array_equal(ranker.scores_, expected.scores_)
        np.testing.assert_array_equal(ranker.order_, expected.order_)


def test_members_without_score_come_last():
    labels = np.array([[0, 0, -1], [0, 0, -1], [1, 1, -1], [-1, -1, 0], [-1, -1, 1]])
    with pytest.warns(UserWarning, match=r"AverageAgreement cannot score 1 partition: third\. Ranked last"):
        ranker = AverageAgreement().fit(Ensemble(labels, names=["first", "second", "third"]))
    np.testing.assert_array_equal(ranker.scores_, [1, 1, np.nan])
    assert ranker.order_.tolist() == [0, 1, 2]
    assert ranker.ranks_.tolist() == [1, 1, 3]


def test_members_without_score_share_the_last_rank():
    with pytest.warns(UserWarning, match="cannot score 2 partitions"):
        ranker = AverageAgreement().fit([[0, -1], [-1, 0]])
    assert ranker.ranks_.tolist() == [1, 1]


def test_data_frames_keep_their_names():
    frame = pd.DataFrame({"one": [0, 0, 1], "two": ["x", "x", "y"], "three": [0, 1, 1]})
    ranker = AverageAgreement().fit(frame)
    assert ranker.names_in_[ranker.order_].tolist() == ["one", "two", "three"]
    assert ranker.feature_names_in_.tolist() == ["one", "two", "three"]
    assert ranker.n_features_in_ == 3


def test_an_ensemble_and_its_labels_are_the_same():
    labels = random_labels(50, 4, 3, 0.2)
    given_labels, given_ensemble = AverageAgreement().fit(labels), AverageAgreement().fit(Ensemble(labels))
    np.testing.assert_array_equal(given_labels.scores_, given_ensemble.scores_)


def test_one_object():
    assert AverageAgreement().fit([[0, 1, 2]]).scores_.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("parameters", "labels", "message"),
    [
        ({}, [[0], [1]], r"must have at least 2 partitions .* Got 1\."),
        ({"measure": "ami"}, [[0, 1], [1, 1]], "measure of AverageAgreement must be one of 'ari', 'nmi'. Got 'ami'"),
        ({"measure": "nmi", "average_method": "mean"}, [[0, 1], [1, 1]], "average_method .* Got 'mean'"),
        ({"n_jobs": 0}, [[0, 1], [1, 1]], "n_jobs of AverageAgreement must be"),
    ],
)
def test_errors(parameters, labels, message):
    with pytest.raises(ValueError, match=message):
        AverageAgreement(**parameters).fit(labels)


def test_clone_and_parameters():
    ranker = AverageAgreement("nmi", average_method="min", n_jobs=2)
    assert clone(ranker).get_params() == {"measure": "nmi", "average_method": "min", "n_jobs": 2}
