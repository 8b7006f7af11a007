"""`score` and `predict_proba`, as scikit-learn's model selection and its users ask for them."""

import numpy as np
import pytest
from estimators import ESTIMATORS, FEATURES, LABELS, data_of, fitted, made
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

from ensemblage import ConsensusClustering, Ensemble
from ensemblage.consensus import KMeansConsensus
from ensemblage.metrics import ensemble_ari

CLASSES = np.arange(60) % 3
WITH_PROBABILITIES = ("BipartiteVoting", "CumulativeVoting", "EuclideanMedian", "LatentClassConsensus")
"""The methods whose model is soft; `ConsensusClustering` has it with one of them."""


@pytest.mark.core(3)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_who_predicts_scores_and_says_how_well(name):
    model = fitted(name)
    if not hasattr(model, "predict") or name == "USpec":  # one partition: there are no partitions to agree with
        assert not hasattr(model, "score")
        return
    X = data_of(name)
    found = model.predict(X)
    assert model.score(X, CLASSES) == adjusted_rand_score(CLASSES, found)
    assert model.score(X, found) == 1
    if hasattr(model, "generator_"):
        features = model.preprocessor_.transform(X) if hasattr(model, "preprocessor_") else X
        partitions = model.generator_.transform(features)
    else:
        partitions = X
    assert model.score(X) == pytest.approx(ensemble_ari(partitions, found))


def test_partitions_are_found_by_name_and_have_their_weights():
    weights = np.arange(1.0, 7)
    model = fitted("KMeansConsensus", frame=True, weights=weights)
    frame = data_of("KMeansConsensus", frame=True)
    expected = ensemble_ari(LABELS, model.predict(frame), weights=weights)
    assert model.score(frame.iloc[:, ::-1].assign(more="a")) == pytest.approx(expected)


def test_forms_of_labels():
    gaps = np.where(LABELS == 2, 99, LABELS)
    model = KMeansConsensus(2, random_state=0).fit(Ensemble(gaps, missing=99))
    assert model.score(gaps) == model.score(Ensemble(gaps, missing=99))
    soft = Ensemble.from_memberships([np.eye(3)[z] for z in LABELS.T])
    hard = fitted("BipartiteVoting")
    assert made("BipartiteVoting").fit(soft).score(soft) == pytest.approx(hard.score(LABELS))


def test_a_grid_search_finds_the_number_of_clusters():
    search = GridSearchCV(KMeansConsensus(random_state=0), {"n_clusters": [1, 2, 3, 5]}, cv=3).fit(LABELS)
    assert search.best_params_ == {"n_clusters": 3}
    assert search.predict(LABELS).shape == (60,)
    known = GridSearchCV(KMeansConsensus(random_state=0), {"n_clusters": [2, 3]}, cv=3).fit(LABELS, CLASSES)
    assert known.best_params_ == {"n_clusters": 3}
    features = ConsensusClustering(quality="fast", random_state=0)
    search = GridSearchCV(features, {"n_clusters": [1, 3]}, cv=2).fit(FEATURES)
    assert search.best_params_ == {"n_clusters": 3}


def test_who_has_probabilities():
    assert {name for name, cls in ESTIMATORS.items() if hasattr(cls, "predict_proba")} == {
        *WITH_PROBABILITIES,
        "ConsensusClustering",
    }


@pytest.mark.parametrize("name", WITH_PROBABILITIES)
def test_probabilities_sum_to_1_and_the_largest_is_what_is_predicted(name):
    model = fitted(name)
    for ask, X in (
        (model, LABELS),
        (ConsensusClustering(3, consensus=model, quality="fast", random_state=0), FEATURES),
    ):
        shares = ask.predict_proba(X) if ask is model else ask.fit(X).predict_proba(X)
        assert shares.shape[1] >= ask.n_clusters_, "clusters that no object came into have a column, too"
        assert_allclose(shares.sum(axis=1), 1)
        assert (shares >= 0).all()
        assert_array_equal(shares.argmax(axis=1), ask.predict(X))
