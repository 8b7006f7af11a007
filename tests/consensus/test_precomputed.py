"""Clusters from given similarities: those of the labels behind them, checks, what a threshold does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import planted_labels

from ensemblage import metrics
from ensemblage.consensus import CSPA, EvidenceAccumulation, KMeansConsensus, NegMM

LABELS = planted_labels(n=60, p=8, k=3, noise=0.2)[0]
S = metrics.coassociation(LABELS)
SPECTRAL = {"partitioner": "spectral", "random_state": 0}
MODELS = {
    "average": EvidenceAccumulation(3),
    "complete": EvidenceAccumulation(3, linkage="complete"),
    "single": EvidenceAccumulation(3, linkage="single"),
    "CSPA": CSPA(3, **SPECTRAL),
    "NegMM": NegMM(3, random_state=0),
    "NegMM, one threshold": NegMM(3, association_threshold=0.2, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_co_association_gives_the_clusters_of_its_labels(name):
    """Up to ties, which label rows break by their order and objects by theirs."""
    model = MODELS[name]
    of_labels = model.fit(LABELS).labels_.copy()
    of_pairs = model.fit_similarity(S)
    assert adjusted_rand_score(of_labels, of_pairs.labels_) > 0.9
    assert of_pairs.n_clusters_ == 3
    assert np.all(np.diff(np.bincount(of_pairs.labels_)) <= 0)


@pytest.mark.parametrize("kind", ["average", "complete", "single"])
def test_heights_are_those_of_scipy(kind):
    random = np.random.default_rng(0)
    similar = random.uniform(size=(40, 40))
    similar = (similar + similar.T) / 2
    model = EvidenceAccumulation(4, linkage=kind).fit_similarity(similar)
    theirs = linkage(squareform(1 - similar, checks=False), kind)
    assert_allclose(model.linkage_matrix_[:, 2], theirs[:, 2])
    assert_array_equal(model.linkage_matrix_[:, 3], theirs[:, 3])


def test_the_longest_lifetime_where_no_number_is_given():
    assert EvidenceAccumulation().fit_similarity(S).n_clusters_ == 3
    assert EvidenceAccumulation().fit_similarity(S).lifetimes_
    assert EvidenceAccumulation().fit_similarity(np.ones((1, 1))).labels_.tolist() == [0]


def test_confidence_object_by_object():
    model = EvidenceAccumulation(3).fit_similarity(S)
    for i, own in enumerate(model.labels_):
        means = []
        for c in range(3):
            members = [j for j in np.flatnonzero(model.labels_ == c) if j != i]
            means.append(S[i, members].mean())
        other = max(means[:own] + means[own + 1 :])
        assert model.cohesion_[i] == pytest.approx(means[own])
        assert model.confidence_[i] == pytest.approx(means[own] / (means[own] + other))
        assert means[model.runner_up_[i]] == pytest.approx(other)
    one = EvidenceAccumulation(1).fit_similarity(S)
    assert (one.confidence_ == 1).all()
    assert (one.runner_up_ == -1).all()
    alone = EvidenceAccumulation(2).fit_similarity(np.eye(2))
    assert alone.confidence_.tolist() == [1, 1]
    assert alone.cohesion_.tolist() == [0, 0]
    assert alone.runner_up_.tolist() == [1, 0]


@pytest.mark.parametrize("name", MODELS)
def test_sparse_and_dense_are_the_same_and_stay_as_they_are(name):
    model, sparse, dense = MODELS[name], csr_array(S), S.copy()
    first = model.fit_similarity(dense).labels_.copy()
    assert_array_equal(model.fit_similarity(sparse).labels_, first)
    assert_array_equal(dense, S)
    assert_array_equal(sparse.toarray(), S)


@pytest.mark.parametrize("name", MODELS)
def test_order_of_the_objects(name):
    order = np.random.default_rng(1).permutation(len(S))
    first = MODELS[name].fit_similarity(S).labels_.copy()
    other = MODELS[name].fit_similarity(S[np.ix_(order, order)]).labels_
    assert adjusted_rand_score(first[order], other) > 0.9


def test_metis_cuts_given_similarities():
    pytest.importorskip("pymetis")
    assert (
        adjusted_rand_score(
            MODELS["average"].fit_similarity(S).labels_, CSPA(3, random_state=0).fit_similarity(S).labels_
        )
        > 0.7
    )


def test_thresholds():
    weak = S.max(axis=1, where=~np.eye(len(S), dtype=bool), initial=0).min()
    assert EvidenceAccumulation(3, association_threshold=0.5).fit_similarity(S).association_threshold_ == 0.5
    heights = EvidenceAccumulation(3, association_threshold=0.5).fit_similarity(S).linkage_matrix_[:, 2]
    assert heights[-1] == 1 > EvidenceAccumulation(3).fit_similarity(S).linkage_matrix_[-1, 2]
    edges = CSPA(3, association_threshold=weak, **SPECTRAL).fit_similarity(S).n_edges_
    assert edges == np.count_nonzero(np.triu(S, 1) > weak)
    assert not hasattr(EvidenceAccumulation(3).fit_similarity(S), "association_threshold_")
    tried = NegMM(3, random_state=0).fit_similarity(S)
    assert tried.mm_index_ == min(candidate.mm_index for candidate in tried.candidates_)
    assert NegMM(3, association_threshold=0.25, random_state=0).fit_similarity(S).association_threshold_ == 0.25


def test_the_largest_neighbours():
    model = CSPA(3, n_neighbors=5, **SPECTRAL).fit_similarity(S)
    largest = np.argsort(-np.where(np.eye(len(S), dtype=bool), 0, S), axis=1, kind="stable")[:, :5]
    edges = {frozenset((i, j)) for i, row in enumerate(largest.tolist()) for j in row if S[i, j] > 0}
    assert model.n_edges_ == len(edges)


@pytest.mark.parametrize(
    ("similarity", "message"),
    [
        (S[:, :5], r"must be a square matrix\. Got shape \(60, 5\)"),
        (S[0], r"must be a square matrix\. Got shape \(60,\)"),
        (2 * S, r"must be from 0 to 1\. Got 2\. Divide them by the largest"),
        (S - 0.5, r"must be from 0 to 1\. Got -0\.5"),
        (np.triu(S), "must be symmetric"),
        (csr_array(np.triu(S)), "must be symmetric"),
        (np.where(np.eye(60), np.nan, S), "NaN"),
        ([["a", "b"], ["b", "a"]], r"must be numbers\. Got 'a'"),
        (np.ones((2, 2)), "n_clusters of .* must be ≤ the 2 objects"),
    ],
)
@pytest.mark.parametrize("name", ["average", "CSPA", "NegMM"])
def test_what_is_no_similarity_is_one_sentence(name, similarity, message):
    with pytest.raises(ValueError, match=message) as error:
        MODELS[name].fit_similarity(similarity)
    assert "\n" not in str(error.value)


def test_what_is_said_of_labels_is_refused():
    for model, name in (
        (EvidenceAccumulation(3, weights=np.ones(8)), "weights"),
        (EvidenceAccumulation(3, similarity="cts"), "similarity"),
        (EvidenceAccumulation(3, cluster_weights="eci"), "cluster_weights"),
        (EvidenceAccumulation(3, association_threshold="kmeans"), "association_threshold"),
        (NegMM(3, association_threshold="gmm"), "association_threshold of NegMM"),
        (CSPA(3, association_threshold="gmm"), "association_threshold"),
    ):
        with pytest.raises(ValueError, match=f"{name}.*if similarities are given"):
            model.fit_similarity(S)
    model = EvidenceAccumulation(3).fit_similarity(S)
    with pytest.raises(ValueError, match="must be fitted to labels"):
        model.association_shares(LABELS)
    assert not hasattr(KMeansConsensus(3), "fit_similarity")


def test_more_memory_than_allowed_is_refused():
    for name in ("average", "NegMM"):
        model = MODELS[name].__class__(3, max_bytes="4MB")
        with pytest.raises(ValueError, match="must fit into max_bytes = 4,000,000 bytes"):
            model.fit_similarity(S)


def test_a_fit_after_it_is_one_of_labels():
    model = EvidenceAccumulation(3).fit_similarity(S)
    assert_array_equal(model.fit(LABELS).confidence_, EvidenceAccumulation(3).fit(LABELS).confidence_)
    assert model.association_shares(LABELS).shape == (60, 3)
