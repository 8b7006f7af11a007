"""`ConsensusClustering(consensus=own)`: any estimator with ``fit(labels)`` and ``labels_``, such as scikit-learn's."""

import numpy as np
import pytest
from inside import default_plan
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from ensemblage import ConsensusClustering, load, report
from ensemblage.generation import RandomKPartitions
from ensemblage.metrics import confidence

CLASSES = np.repeat([0, 1, 2], [40, 30, 20])
X = np.random.default_rng(0).normal(size=(90, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[CLASSES]
GENERATOR = RandomKPartitions(10, k_min=3, k_max=6)


def on_one_hot(clusterer):
    return make_pipeline(OneHotEncoder(sparse_output=False), clusterer)


class First(BaseEstimator):
    """The clusters of the first partition, by other numbers; keeps what it was given."""

    def __init__(self, n_clusters=None, n_jobs=None, leave_out=0, answer=None):
        self.n_clusters, self.n_jobs, self.leave_out, self.answer = n_clusters, n_jobs, leave_out, answer

    def fit(self, labels):
        self.given_ = np.array(labels)
        self.labels_ = 7 + 2 * self.given_[:, 0]
        self.labels_[: self.leave_out] = -1
        if self.answer is not None:
            self.labels_ = self.answer
        return self


class NoNumber(First):
    def __init__(self, leave_out=0, answer=None):
        super().__init__(leave_out=leave_out, answer=answer)

    n_jobs = None


OWN = {
    "KMeans": on_one_hot(KMeans(3, random_state=1)),
    "Agglomerative": on_one_hot(AgglomerativeClustering(3)),
    "Agglomerative by distance": on_one_hot(AgglomerativeClustering(n_clusters=None, distance_threshold=9.0)),
    "GaussianMixture": on_one_hot(GaussianMixture(3, covariance_type="spherical", random_state=0)),
    "First": First(),
}


def fitted(consensus, k=None, **given):
    return ConsensusClustering(k, **{"generator": GENERATOR, "random_state": 0, **given}, consensus=consensus).fit(X)


@pytest.mark.parametrize("name", OWN)
def test_an_estimator_of_labels_is_a_consensus(name):
    model = fitted(OWN[name])
    own, labels = clone(OWN[name]), np.asarray(model.ensemble_)
    alone = own.fit_predict(labels) if hasattr(own, "fit_predict") else own.fit(labels).labels_
    assert adjusted_rand_score(model.labels_, alone) == 1
    counts = np.bincount(model.labels_)
    assert (np.diff(counts) <= 0).all()
    assert model.n_clusters_ == len(counts)
    found = confidence(model.ensemble_, model.labels_)
    np.testing.assert_array_equal(model.confidence_, found.confidence)
    np.testing.assert_array_equal(model.runner_up_, found.runner_up)
    np.testing.assert_array_equal(model.cohesion_, found.cohesion)
    assert model.to_frame().shape == (len(X), 6)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.report(X).summary["consensus"]["n_clusters"] == model.n_clusters_


@pytest.mark.core(3)
@pytest.mark.parametrize("own", [on_one_hot(KMeans()), on_one_hot(AgglomerativeClustering()), GaussianMixture()])
@pytest.mark.parametrize("given", [{}, {"generator": None}], ids=["with a generator", "without one"])
def test_the_number_of_clusters_is_set(own, given):
    for k in (3, 4):
        assert fitted(own, k, **given).n_clusters_ == k
    assert "n_clusters=3" not in repr(own), "what is given is cloned"


def test_an_own_number_of_clusters_is_the_plan():
    plan = default_plan(X, consensus=AgglomerativeClustering(4))
    assert plan.n_clusters == (4, "The combiner was given with it.")
    assert fitted(AgglomerativeClustering(4)).n_clusters_ == 4


def test_what_it_gets_is_a_row_of_whole_numbers_for_each_object():
    model = fitted(First(), 3, n_jobs=1, generator=RandomKPartitions(4, k_min=3, k_max=3))
    own = model.consensus_.estimator_
    np.testing.assert_array_equal(own.given_, np.asarray(model.ensemble_))
    assert own.n_clusters == 3
    assert own.n_jobs == 1
    assert model.consensus.n_clusters is None, "what is given is cloned"


def test_missing_labels_and_objects_in_no_cluster_are_minus_one():
    labels = np.array([[0, 0], [0, -1], [1, 1], [-1, -1], [1, 1]])

    class Given(BaseEstimator):
        def fit_transform(self, X):
            return np.resize(labels, (len(X), 2))

        def get_feature_names_out(self):
            return ["a", "b"]

    model = fitted(NoNumber(leave_out=5), generator=Given())
    given = model.consensus_.estimator_.given_
    np.testing.assert_array_equal(given, np.resize(labels, (len(X), 2)))
    assert (model.labels_[:5] == -1).all()
    assert np.isnan(model.confidence_[:5]).all()
    assert model.labels_[5:10].tolist() == [0, 0, 1, -1, 1]


@pytest.mark.parametrize(
    ("own", "k", "given", "message"),
    [
        (DBSCAN(), 3, {}, r"DBSCAN as consensus must have one parameter n_clusters .* Got none\. Leave n_clusters out"),
        (NoNumber(answer=[0, 1]), None, {}, r"labels of NoNumber must be a whole number for each of the 90 objects"),
        (NoNumber(leave_out=90), None, {}, r"NoNumber must put an object into a cluster\. Got -1"),
        (First(), 2, {"sample_weight": [1] * 90}, r"sample_weight must be None with First as consensus"),
        (First(), 2, {"must_link": [[0, 1]]}, r"must_link must be None with First as consensus"),
        (First(), 2, {"cannot_link": [[0, 1]]}, r"cannot_link must be None with First as consensus"),
    ],
)
def test_what_cannot_be_is_one_sentence(own, k, given, message):
    with pytest.raises(ValueError, match=message):
        ConsensusClustering(k, generator=GENERATOR, consensus=own, random_state=0).fit(X, **given)


def test_two_steps_with_a_number_are_refused():
    twice = make_pipeline(KMeans(4), KMeans(3))
    with pytest.raises(ValueError, match=r"Got several: kmeans-1__n_clusters, kmeans-2__n_clusters\."):
        default_plan(X, 3, consensus=twice)


def test_a_model_of_scikit_learn_is_saved_and_another_is_refused_by_its_name(tmp_path):
    model = fitted(OWN["KMeans"], 3)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.assign(X[::3]).confidence, model.assign(X[::3]).confidence)
    with pytest.raises(ValueError, match=r"Got First in .*consensus.* of ConsensusClustering\."):
        fitted(First(), 3).save(tmp_path / "own.npz")


def test_a_report_takes_one_that_was_fitted_to_labels():
    labels = np.asarray(fitted(First()).ensemble_)
    own = AgglomerativeClustering(3).fit(labels)
    own.labels_ = np.unique(own.labels_, return_inverse=True)[1]
    summary = report.summarize(labels, own)
    assert summary["consensus"]["method"] == "AgglomerativeClustering"
    assert summary["consensus"]["mean_confidence"] == pytest.approx(confidence(labels, own.labels_).confidence.mean())
