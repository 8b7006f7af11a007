"""Every method and every ranking has its page; weights count in it; it refits nothing unasked."""

import json
import warnings

import numpy as np
import pytest
from strategies import planted_labels, usual
from test_report import Page

from ensemblage import METHODS, ConsensusClustering, Ensemble, report
from ensemblage.consensus import (
    CSPA,
    HBGF,
    LCE,
    PTA,
    PTGP,
    BipartiteVoting,
    BisectingKMeansConsensus,
    CumulativeVoting,
    EvidenceAccumulation,
    GreedyKMeansConsensus,
    KMeansConsensus,
    NegMM,
    SpectralEnsembleClustering,
)
from ensemblage.generation import RandomKPartitions
from ensemblage.metrics import cluster_density, coassociation, ensemble_ari
from ensemblage.ranking import DISCOTEC, RANKERS, AverageAgreement, make_ranker

N, P = 60, 8
WEIGHTS = np.array([3.0, 1, 1, 0.5, 1, 2, 1, 1])
WORDS = ("negmm-wat-kmeans", "negmm-wat-gmm")
"""Methods that count pairs, so that the weights must be equal."""


def ensemble_of(missing=0.0):
    labels = planted_labels(n=N, p=P, k=4, noise=0.3, missing=missing, seed=1)[0]
    if missing:
        labels[5] = -1
    return Ensemble(labels, names=[f"<b>{j}</b>" for j in range(P)])


def fitted(name, ensemble, **parameters):
    model = usual(name, 3, **parameters)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(ensemble)


def numbers_of(ensemble, model, **details):
    return json.loads(json.dumps(report.summarize(ensemble, model, **details), allow_nan=False))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_its_numbers(name):
    summary = numbers_of(ensemble_of(), fitted(name, ensemble_of()))
    assert summary["consensus"]["n_clusters"] == len(summary["clusters"])
    assert sum(c["size"] for c in summary["clusters"]) == N


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_its_page_with_missing_labels_weights_names_and_all_else(name, tmp_path):
    ensemble = ensemble_of(missing=0.15)
    weights = {} if name in WORDS else {"weights": WEIGHTS}
    model = fitted(name, ensemble, **weights)
    path = report.build(
        ensemble,
        model,
        features=np.random.default_rng(0).normal(size=(N, 3)),
        truth=np.arange(N) % 4,
        ranking=AverageAgreement().fit(ensemble),
        path=tmp_path / "page.html",
        json_path=tmp_path / "page.json",
    )
    html, summary = path.read_text(encoding="utf-8"), json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))
    Page(html)
    assert "<b>" not in html
    assert f"{model.n_clusters_} cluster{'s' * (model.n_clusters_ > 1)} in {N} objects" in html
    assert summary["consensus"]["n_unlabelled"] == 1
    assert "1 object without a label in any partition is in none." in html
    assert (">Weight</th>" in html) == ("weights from 0.5 to 3" in html) == bool(weights)


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranking_has_its_picture_and_its_own_text(name):
    ensemble, X = ensemble_of(), np.random.default_rng(0).normal(size=(N, 3))
    model = fitted("km", ensemble)
    summary = numbers_of(ensemble, model, ranking=make_ranker(name).fit(ensemble, features=X))
    ranking = summary["rankings"][0]
    assert ranking["description"].endswith(".")
    if name not in ("discotec", "discotec-kl"):
        return
    html = report.render(summary)
    assert ranking["description"] in html
    assert ("What DISCOTEC compares the partitions with" in html) == (name == "discotec")


def test_no_two_rankings_are_described_alike():
    ensemble, X = ensemble_of(), np.random.default_rng(0).normal(size=(N, 3))
    rankings = [make_ranker(name).fit(ensemble, features=X) for name in RANKERS if name != "discotec"]
    told = [r["description"] for r in numbers_of(ensemble, fitted("km", ensemble), ranking=rankings)["rankings"]]
    assert len(set(told)) == len(told)
    assert "Kullback" in told[list(RANKERS).index("discotec-kl") - 1]
    constrained = DISCOTEC("tv").fit(ensemble, must_link=[[0, 1]], cannot_link=[[0, 1]])
    described = numbers_of(ensemble, fitted("km", ensemble), ranking=constrained)["rankings"][0]["description"]
    assert described.endswith("The share of the constraints that it violates makes it worse.")


def test_a_page_of_an_older_summary_knows_the_binary_score_by_its_name():
    ensemble = ensemble_of()
    for name, pictured in (("discotec", True), ("discotec-kl", False)):
        summary = numbers_of(ensemble, fitted("km", ensemble), ranking=make_ranker(name).fit(ensemble))
        ranking = summary["rankings"][0]
        del ranking["distance"]
        ranking["name"] = ranking["name"].replace("measure=", "distance=")  # as the parameter was called
        assert ("What DISCOTEC compares" in report.render(summary)) == pictured


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_every_mean_over_partitions_counts_them_with_their_weights(missing):
    ensemble = ensemble_of(missing)
    model = fitted("km", ensemble, weights=WEIGHTS)
    labels, w = model.labels_, WEIGHTS
    summary = numbers_of(ensemble, model)
    shares = cluster_density(ensemble, labels, weights=w) - 2 * np.eye(3)
    assert [c["nearest"]["share"] for c in summary["clusters"]] == pytest.approx(shares.max(axis=1).tolist())
    assert summary["agreement"]["consensus"] == pytest.approx(ensemble_ari(ensemble, labels, weights=w))
    assert [m["weight"] for m in summary["members"]] == w.tolist()
    threefold = numbers_of(ensemble, fitted("km", ensemble, weights=3 * w))
    assert [m["weight"] for m in threefold["members"]] == (3 * w).tolist()
    assert threefold["agreement"] == pytest.approx(summary["agreement"])

    known = np.asarray(ensemble) >= 0
    both = known[:, None] & known
    joined = both & (np.asarray(ensemble)[:, None] == np.asarray(ensemble))
    others = (labels[:, None] != labels) & (labels >= 0) & (labels[:, None] >= 0)
    assert summary["consensus"]["between"] == pytest.approx((joined[others] @ w).sum() / (both[others] @ w).sum())
    for row in summary["least_certain"]:
        i = int(row["id"])
        assert (row["runner_up"], row["confidence"]) == (model.runner_up_[i], model.confidence_[i])
    assert summary["consensus"]["mean_cohesion"] == pytest.approx(np.nanmean(model.cohesion_))
    drawn = sorted(v for row in summary["figures"]["matrix"]["percent"] for v in row)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No partition labels both")
        matrix = coassociation(ensemble, weights=w)[np.tril_indices(N)]
    assert drawn == sorted(np.round(100 * matrix).astype(int).tolist())
    ari = np.array([[ensemble_ari(ensemble.select([j]), z) for j in range(P)] for z in np.asarray(ensemble).T])
    assert summary["agreement"]["best"] == pytest.approx(np.average(ari, axis=1, weights=w).max())
    pairs = np.outer(w, w) * ~np.eye(P, dtype=bool)
    assert summary["agreement"]["others"] == pytest.approx((ari * pairs).sum() / pairs.sum())


def test_each_weighted_number_changes_with_the_weights():
    ensemble = ensemble_of()
    model = fitted("km", ensemble)
    summaries = []
    for weights in (None, WEIGHTS):
        model.set_params(weights=weights)
        summaries.append(numbers_of(ensemble, model))
    (plain, weighted) = summaries
    for path in (["consensus", "between"], ["agreement", "consensus"], ["agreement", "others"], ["agreement", "best"]):
        assert plain[path[0]][path[1]] != weighted[path[0]][path[1]]
    assert plain["clusters"][0]["nearest"]["share"] != weighted["clusters"][0]["nearest"]["share"]
    assert plain["figures"]["matrix"]["percent"] != weighted["figures"]["matrix"]["percent"]
    # What DISCOTEC compares with has no weights.
    ones = [sum(row.count("1") for row in s["figures"]["matrix"]["frequent"]) for s in summaries]
    assert ones[0] == ones[1]


def test_weights_count_inside_an_estimator_on_features():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = ConsensusClustering(
        3, generator=RandomKPartitions(P), consensus=KMeansConsensus(weights=WEIGHTS), random_state=0
    ).fit(X)
    summary = numbers_of(model.ensemble_, model, features=X)
    assert summary["agreement"]["consensus"] == pytest.approx(
        ensemble_ari(model.ensemble_, model.labels_, weights=WEIGHTS)
    )
    assert summary["consensus"]["method"] == "ConsensusClustering"
    voting = ConsensusClustering(generator=RandomKPartitions(P), consensus="acv", random_state=0).fit(X)
    assert numbers_of(voting.ensemble_, voting)["choice"]["found"]
    greedy = GreedyKMeansConsensus(3, n_candidates=3, refine="density", random_state=0).fit(X)
    assert numbers_of(greedy.ensemble_, greedy)["evidence"][0]["values"] == greedy.consensus_.density_trace_


def test_the_evidence_shown_is_that_of_the_methods_own_kind():
    ensemble = ensemble_of()
    voting = ["Lifetimes", "Dendrogram", "Memberships"]
    expected = {
        EvidenceAccumulation(3, association_threshold=0.3): ["Dendrogram", "Lifetimes", "PairCounts"],
        CSPA(3, association_threshold=0.3, random_state=0, partitioner="spectral"): [],
        NegMM(3, random_state=0): ["Candidates"],
        LCE(3, random_state=0): ["Cut"],
        HBGF(3, partitioner="transfer", random_state=0): ["Cut"],
        HBGF(3, random_state=0): [],
        PTA(3): ["Dendrogram", "Lifetimes"],
        PTGP(3, random_state=0): ["Cut"],
        EvidenceAccumulation(3, cluster_weights="eci"): ["Dendrogram", "Lifetimes"],
        BisectingKMeansConsensus(3, random_state=0): ["Splits"],
        KMeansConsensus(3, refine="density", random_state=0): ["Trace"],
        CumulativeVoting(3): voting,
        BipartiteVoting(3): voting,
        SpectralEnsembleClustering(3, random_state=0): ["Cut"],
    }
    for model, kinds in expected.items():
        summary = numbers_of(ensemble, model.fit(ensemble))
        assert [record["kind"] for record in summary["evidence"]] == kinds
        assert (summary["choice"] is not None) == ("Lifetimes" in kinds)
    pairs = numbers_of(ensemble, EvidenceAccumulation(3).fit(ensemble))["evidence"][2]
    assert pairs["threshold"] is None
    weighted = EvidenceAccumulation(3, weights=WEIGHTS).fit(ensemble)
    assert [record["kind"] for record in numbers_of(ensemble, weighted)["evidence"]] == ["Dendrogram", "Lifetimes"]
    weighted = EvidenceAccumulation(3, weights=WEIGHTS, association_threshold=0.3).fit(ensemble)
    pairs = numbers_of(ensemble, weighted)["evidence"][2]
    assert (pairs["counts"], pairs["threshold"]) == ([], 0.3)


def test_nothing_is_fitted_again_unasked_and_the_page_says_how_often(monkeypatch):
    ensemble = Ensemble(planted_labels(n=N, p=12, k=5, noise=0.1, seed=2)[0])
    models = [EvidenceAccumulation().fit(ensemble), CumulativeVoting().fit(ensemble)]
    fits, fit = [], CumulativeVoting.fit
    for method in (EvidenceAccumulation, CumulativeVoting):
        monkeypatch.setattr(method, "fit", lambda self, X, y=None: fits.append(X.shape) or fit(self, X, y))
    for model in models:
        summary = numbers_of(ensemble, model)
        assert fits == []
        assert summary["choice"]["halves"] == []
        summary = numbers_of(ensemble, model, n_refits=3)
        assert fits == [(N, 6)] * 3
        assert len(summary["choice"]["halves"]) == 3
        html = report.render(summary)
        assert "the method was fitted again, to halves of the partitions: 3 ×." in html
        assert "3 refits" in html
        fits.clear()


@pytest.mark.filterwarnings("ignore:features as labels")  # its clusters are numbered alike
def test_very_many_clusters_are_drawn_in_part():
    n = 1_200
    labels = np.column_stack([np.arange(n), np.arange(n) // 2, np.arange(n) // 3])
    model = EvidenceAccumulation(1_150).fit(labels)
    summary = numbers_of(labels, model)
    assert len(summary["clusters"]) == 1_150
    assert len(summary["figures"]["matrix"]["clusters"]) <= 600
    assert "Dendrogram" not in [record["kind"] for record in summary["evidence"]]
    assert summary["clusters"][0]["nearest"] is None
    html = report.render(summary)
    assert "The first 200 of the 1,150 clusters are drawn." in html
    assert "The first 1,000 of 1,150." in html
    assert len(html) < 1_500_000


def test_of_more_clusters_than_are_drawn_the_largest_are():
    """300 objects are drawn in the consensus matrix."""
    clusters = np.concatenate([np.repeat(np.arange(300), 2), np.arange(300, 390)])
    matrix = numbers_of(clusters[:, None], KMeansConsensus(390, init=clusters).fit(clusters[:, None]))["figures"][
        "matrix"
    ]
    assert sorted(matrix["clusters"]) == list(range(300))
    assert matrix["sizes"] == [2.0] * 300


def test_a_single_cluster_and_a_single_object_are_written_in_the_singular():
    labels = [[0, 0], [0, 0], [0, 1]]
    html = report.render(numbers_of(labels, KMeansConsensus(1, random_state=0).fit(labels)))
    assert "1 cluster in 3 objects" in html
    assert "into 1 cluster of 3 objects." in html
    assert "1 clusters" not in html
    one = report.render(numbers_of([[0, 1]], KMeansConsensus(1, random_state=0).fit([[0, 1]])))
    assert "1 cluster in 1 object" in one
    assert "into 1 cluster of 1 object." in one


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"model": KMeansConsensus(2)}, TypeError, r"fitted estimator with labels_\. Got KMeans"),
        ({"model": "km"}, TypeError, r"Got 'km'\. Fit a consensus method"),
        ({"ids": 5}, TypeError, r"ids must have one entry .* Got 5\. Give a list\."),
        ({"ids": ["a"]}, ValueError, r"ids must have one entry for each of the 60 objects"),
        ({"truth": [0, 1]}, ValueError, r"one label for each of the 60 objects"),
        ({"features": np.zeros((N, 2, 2))}, ValueError, r"features must be a table .* Got 3 dimensions\."),
        ({"features": "X"}, ValueError, r"features must have one entry for each of the 60"),
        ({"ranking": DISCOTEC()}, TypeError, r"ranking of report must be a fitted ranker.* Got DISCOTEC\(\)\."),
        ({"ranking": "discotec"}, TypeError, r"ranking of report must be a fitted ranker"),
        ({"ranking": AverageAgreement().fit(np.eye(N, 3))}, ValueError, r"scores of the 8 partitions.* Got 3\."),
        ({"n_refits": -1}, ValueError, r"n_refits of report must be a whole number ≥ 0\. Got -1"),
        ({"n_refits": True}, ValueError, r"n_refits of report must be a whole number ≥ 0\. Got True"),
        (
            {"k_choice": 3},
            TypeError,
            r"k_choice of report must be what choose_k returned\. Got 3\.",
        ),
        ({"seconds": 3}, TypeError, r"seconds of report must be a dict\. Got 3\."),
        ({"settings": [1]}, TypeError, r"settings of report must be a dict\. Got \[1\]\."),
        ({"seconds": {"fit": "long"}}, ValueError, r"seconds of report must be numbers\. Got 'long'\."),
        ({"random_state": "x"}, ValueError, r"random_state must be None, a whole number .* Got 'x'\."),
    ],
)
def test_illegal_arguments_are_one_sentence(change, error, message):
    ensemble = ensemble_of()
    with pytest.raises(error, match=message):
        report.summarize(ensemble, **{"model": fitted("km", ensemble), **change})


@pytest.mark.parametrize("name", ["path", "json_path"])
@pytest.mark.parametrize("value", [5, [], b"x"])
def test_a_path_must_be_one(name, value, tmp_path):
    ensemble = ensemble_of()
    paths = {"path": tmp_path / "r.html", name: value}
    with pytest.raises(TypeError, match=rf"^{name} of report\.build must be a path\. Got .* Give a name as"):
        report.build(ensemble, fitted("km", ensemble), **paths)
    assert list(tmp_path.iterdir()) == []
