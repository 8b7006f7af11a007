"""Comparing rankings, and the partitions and pools on which the paper compares them."""

import csv

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from strategies import planted_labels

from ensemblage import Ensemble, ranking
from ensemblage.consensus import KMeansConsensus
from ensemblage.datasets import make_hub_partitions, make_partitions
from ensemblage.generation import make_pool
from ensemblage.ranking import DISCOTEC, AverageAgreement, InternalIndex


@pytest.fixture(scope="module")
def partitions():
    return make_partitions(n_partitions=20, random_state=0)


def test_rows_of_the_members(partitions):
    labels, truth = partitions
    members = ranking.compare_rankers(labels, truth=truth, rankers=["discotec", "anmi"]).partitions
    ranker = DISCOTEC().fit(labels)
    assert list(members) == ["member", "n_clusters", "discotec", "discotec rank", "anmi", "anmi rank", "ari"]
    assert_array_equal(members["discotec"], ranker.scores_)
    assert_array_equal(members["discotec rank"], ranker.ranks_)
    assert_array_equal(members["anmi"], AverageAgreement("nmi").fit(labels).scores_)
    assert_allclose(members["ari"], [adjusted_rand_score(truth, z) for z in labels.T])
    assert (members["n_clusters"] == 10).all()


def test_correlations_and_regrets(partitions):
    labels, truth = partitions
    names = ["discotec", "discotec-kl", "aari"]
    comparison = ranking.compare_rankers(labels, truth=truth, rankers=names)
    table, ari = comparison.summary.set_index("ranker"), np.array(comparison.partitions["ari"])
    for name in names:
        ranker = comparison.rankers[name]
        scores = ranker.scores_ if ranker.greater_is_better else -ranker.scores_
        assert table.kendall[name] == pytest.approx(scipy.stats.kendalltau(scores, ari)[0])
        assert table.pearson[name] == pytest.approx(scipy.stats.pearsonr(scores, ari)[0])
        assert table.selected_ari[name] == ari[scores.argmax()]
        assert table.selected[name] == f"partition_{scores.argmax()}"
    for column in ("kendall", "pearson", "selected_ari"):
        assert_allclose(table[f"{column}_regret"], table[column].max() - table[column])


def test_kendall_is_tau_b():
    """x = 12234, y = 13225: .6667, where tau-a would be .6 and tau-c .64."""

    class Given(DISCOTEC):
        def fit(self, *labels, **others):
            super().fit(*labels, **others)
            self.scores_ = -np.array([1.0, 2, 2, 3, 4])
            return self

    truth = np.repeat([0, 1, 2], 8)
    labels = np.column_stack([truth] * 5)
    labels[[0, 1, 8, 9, 16, 17], 0] = [1, 2, 0, 2, 0, 1]
    labels[0, 1] = 1
    labels[[0, 8], 2] = [1, 0]
    labels[:, 3] = (labels[:, 2] + 1) % 3
    compared = ranking.compare_rankers(labels, truth=truth, rankers={"given": Given()})
    ari = np.array(compared.partitions["ari"])
    assert scipy.stats.rankdata(ari).tolist() == [1, 4, 2.5, 2.5, 5]
    assert compared.summary.kendall[0] == pytest.approx(2 / 3)


def test_without_truth_or_features(partitions):
    comparison = ranking.compare_rankers(partitions[0])
    assert list(comparison.rankers) == ["discotec", "aari", "anmi"]
    assert list(comparison.summary) == ["ranker", "selected"]
    assert "ari" not in comparison.partitions


def test_with_features():
    X, y = load_iris(return_X_y=True)
    pool = make_pool(X, "kmeans", n_clusters=3, random_state=0)
    comparison = ranking.compare_rankers(pool.ensemble, X, y)
    assert list(comparison.rankers) == ["discotec", "aari", "anmi", "silhouette", "calinski_harabasz"]
    expected = InternalIndex("calinski_harabasz").fit(pool.ensemble, features=X)
    assert_array_equal(comparison.partitions["calinski_harabasz"], expected.scores_)


def test_equal_scores_have_no_correlation():
    z = np.arange(30) % 3
    summary = ranking.compare_rankers(np.column_stack([z, z, z]), truth=z, rankers=["aari"]).summary
    assert np.isnan(summary.kendall[0])
    assert np.isnan(summary.kendall_regret[0])
    assert summary.selected_ari[0] == 1


def test_members_without_a_score_are_left_out():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    noisy = [np.where(rng.random(150) < share, rng.integers(3, size=150), y) for share in (0.1, 0.3, 0.5, 0.8)]
    labels = np.column_stack([np.zeros(150, dtype=int), *noisy])
    with pytest.warns(UserWarning, match="cannot score 1 partition"):
        comparison = ranking.compare_rankers(labels, X, y, ["silhouette"])
    assert comparison.summary.kendall[0] == pytest.approx(
        ranking.compare_rankers(labels[:, 1:], X, y, ["silhouette"]).summary.kendall[0]
    )


def test_rankers_by_name_instance_or_dict(partitions):
    labels, _ = partitions
    by_name = ranking.compare_rankers(labels, rankers=["discotec-tv", "aari"])
    assert_array_equal(
        by_name.partitions["aari"],
        ranking.compare_rankers(labels, rankers=[DISCOTEC("tv"), AverageAgreement()]).partitions["aari"],
    )
    assert list(ranking.compare_rankers(labels, rankers=[DISCOTEC("tv")]).rankers) == ["discotec-tv"]
    assert list(ranking.compare_rankers(labels, rankers="aari").rankers) == ["aari"]
    assert list(ranking.compare_rankers(labels, rankers={"mine": DISCOTEC("kl")}).partitions)[2] == "mine"


def test_given_rankers_stay_as_they_are(partitions):
    ranker = DISCOTEC()
    ranking.compare_rankers(partitions[0], rankers=[ranker])
    assert not hasattr(ranker, "scores_")


def test_constraints_reach_the_rankers(partitions):
    labels, truth = partitions
    comparison = ranking.compare_rankers(labels, rankers=["discotec", "aari"], known_labels=truth)
    assert_array_equal(comparison.partitions["discotec"], DISCOTEC().fit(labels, known_labels=truth).scores_)
    assert (comparison.rankers["aari"].violations_ > 0).all()


@pytest.mark.parametrize("library", [pd, pl])
def test_data_frame_of_the_callers_library(partitions, library):
    labels, truth = partitions
    frame = library.DataFrame({f"run {t}": z for t, z in enumerate(labels.T[:4])})
    comparison = ranking.compare_rankers(frame, truth=truth, rankers=["aari"])
    assert isinstance(comparison.partitions, library.DataFrame)
    assert isinstance(comparison.summary, library.DataFrame)
    assert list(comparison.partitions["member"]) == ["run 0", "run 1", "run 2", "run 3"]


def test_markdown_and_csv(partitions, tmp_path):
    labels, truth = partitions
    ensemble = Ensemble(labels[:, :3], names=["a|b", "c", "d"])
    comparison = ranking.compare_rankers(ensemble, truth=truth, rankers=["aari"])
    summary, members = comparison.to_markdown().strip().split("\n\n")
    assert summary.startswith("| ranker | selected | kendall |")
    assert members.splitlines()[2].startswith(r"| a\|b | 10 | ")
    comparison.to_csv(tmp_path / "members.csv")
    _, *rows = csv.reader((tmp_path / "members.csv").read_text(encoding="utf-8").splitlines())
    assert [float(row[2]) for row in rows] == list(comparison.partitions["aari"])
    assert [path.name for path in tmp_path.iterdir()] == ["members.csv"]


@pytest.mark.parametrize(
    ("rankers", "message"),
    [
        (["discotec", "best"], "The name of a ranker must be one of 36 names, such as 'discotec', .* Got 'best'"),
        (["aari", AverageAgreement()], "must have different names. Got aari twice"),
        (["silhouette"], "features of InternalIndex must be given"),
    ],
)
def test_bad_rankers(partitions, rankers, message):
    with pytest.raises(ValueError, match=message):
        ranking.compare_rankers(partitions[0], rankers=rankers)


def test_every_ranker_by_its_name():
    assert {"discotec", "discotec-kl", "aari", "anmi", "silhouette"} < set(ranking.RANKERS)
    for name in ranking.RANKERS:
        assert isinstance(ranking.make_ranker(name).greater_is_better, bool)


def test_the_best_members_and_weights_from_scores():
    labels, truth = planted_labels(300, 12, 4, 0.45)
    noise = np.random.default_rng(0).integers(4, size=(300, 12))
    ensemble = Ensemble(np.column_stack([labels, noise]))
    ranker = DISCOTEC().fit(ensemble)
    assert set(ranker.order_[:12]) == set(range(12))
    best = ensemble.select(ranker.order_[:12])
    weights = ranker.scores_.max() - ranker.scores_
    for fitted in (
        KMeansConsensus(4, random_state=0).fit(best),
        KMeansConsensus(4, weights=weights, random_state=0).fit(ensemble),
    ):
        assert adjusted_rand_score(truth, fitted.labels_) > 0.8


# ---- Ohl & Lindsten's partitions (Sec. 4.2) ----


def mean_kendall(names, runs, make):
    """Mean over seeds of Kendall's tau with the ARI, as in Figs. 1 and 2."""
    tables = [ranking.compare_rankers(labels, truth=truth, rankers=names) for labels, truth in map(make, range(runs))]
    return dict(zip(names, np.mean([table.ranker_columns["kendall"] for table in tables], axis=0), strict=True))


@pytest.mark.slow
def test_first_scenario():
    easy = mean_kendall(["discotec"], 20, lambda s: make_partitions(n_partitions=20, random_state=s))
    assert easy["discotec"] >= 0.85
    both = ["discotec", "discotec-kl"]
    mixed = mean_kendall(both, 20, lambda s: make_partitions(rho_max=0.5, random_state=s))
    assert mixed["discotec"] >= max(0.6, mixed["discotec-kl"])
    hard = mean_kendall(["discotec"], 20, lambda s: make_partitions(rho_max=0.2, random_state=s))
    assert abs(hard["discotec"]) < 0.2


@pytest.mark.core(1)
@pytest.mark.parametrize("draw", ["paper", "code"])
def test_hubs_attract(draw):
    good = mean_kendall(["discotec"], 15, lambda s: make_hub_partitions(0, draw=draw, random_state=s))
    bad = mean_kendall(["discotec"], 15, lambda s: make_hub_partitions(1, draw=draw, random_state=s))
    assert good["discotec"] >= 0.85
    assert bad["discotec"] <= 0.4


def test_partitions_keep_as_much_as_they_should():
    labels, truth = make_partitions(20_000, 4, 6, 0.7, rho_min=0.7, random_state=0)
    kept = labels == truth[:, None]
    assert_allclose(kept.mean(axis=0), 0.7, atol=0.02)
    moved = (labels - truth[:, None])[~kept] % 4
    assert_allclose(np.bincount(moved) / len(moved), [0, 1 / 3, 1 / 3, 1 / 3], atol=0.02)
    assert_allclose(np.bincount(truth) / 20_000, 0.25, atol=0.02)


def test_hub_partitions_keep_their_hub():
    labels, truth = make_hub_partitions(0.25, n_samples=20_000, n_partitions=10, hubs=(0.0, 1.0), random_state=0)
    kept = (labels == truth[:, None]).mean(axis=0)
    assert (kept[:3] < 0.1).all()  # ceil(2.5) around a hub that keeps nothing
    assert ((kept[3:] > 0.18) & (kept[3:] < 0.92)).all()


@pytest.mark.parametrize("make", [make_partitions, make_hub_partitions])
def test_seeds(make):
    (first, truth), (again, _), (other, _) = make(random_state=1), make(random_state=1), make(random_state=2)
    assert first.shape == (200, 50)
    assert truth.max() == 9
    assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_partitions(rho_max=1.2), "rho_max of make_partitions must be a number from 0 to 1. Got 1.2"),
        (lambda: make_partitions(n_clusters=1), "n_clusters of make_partitions must be a whole number from 2 to"),
        (lambda: make_hub_partitions(-0.1), "bad_share of make_hub_partitions must be a number from 0 to 1"),
        (lambda: make_hub_partitions(draw="uniform"), "draw of make_hub_partitions must be one of 'paper', 'code'"),
    ],
)
def test_bad_settings(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- Ohl & Lindsten's pools (Sec. 4.3) ----


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


@pytest.mark.core(3)
@pytest.mark.parametrize(
    ("pool", "n_clusters", "members"),
    [
        ("kmeans", None, 95),
        ("agglomerative", None, 76),
        ("dbscan", None, 100),
        ("all", None, 271),
        ("kmeans", 3, 50),
        ("agglomerative", 3, 7),
        ("all", 3, 57),
    ],
)
def test_sizes_of_pools(pool, n_clusters, members, iris):
    made = make_pool(iris, pool, n_clusters=n_clusters, random_state=0)
    assert made.ensemble.shape[1] + len(made.dropped) == members
    assert (made.ensemble.n_clusters > 1).all()
    assert not made.ensemble.n_missing
    if n_clusters and pool != "all":
        assert (made.ensemble.n_clusters == 3).all()


def test_cut_trees_are_those_of_scikit_learn(iris):
    ensemble = make_pool(iris, "agglomerative").ensemble
    X = StandardScaler().fit_transform(iris)
    for name in ("single_k4", "ward_k11", "average_k20", "complete_k2"):
        linkage, k = name.split("_k")
        expected = AgglomerativeClustering(int(k), linkage=linkage).fit_predict(X)
        assert adjusted_rand_score(expected, np.asarray(ensemble.select([name]))[:, 0]) == 1


def test_degenerate_members_are_dropped_by_name():
    X = np.concatenate([np.random.default_rng(0).normal(size=(30, 2)), [[50.0, 50.0]]])
    made = make_pool(X, "dbscan")
    assert made.dropped
    assert set(made.dropped).isdisjoint(made.ensemble.names)
    assert made.ensemble.shape[1] + len(made.dropped) == 100


def test_pools_are_seeded_and_threads_do_not_matter(iris):
    first, again, other = (make_pool(iris, "kmeans", n_jobs=j, random_state=s) for j, s in ((1, 0), (2, 0), (1, 1)))
    assert_array_equal(first.ensemble.codes, again.ensemble.codes)
    assert (first.ensemble.codes != other.ensemble.codes).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: make_pool(X, "ward"), "pool of make_pool must be one of 'kmeans', .* Got 'ward'"),
        (lambda X: make_pool(X[:15]), "as many objects as clusters, 20. Got 15 objects"),
        (lambda X: make_pool(X, n_clusters=1), "n_clusters of make_pool must be a whole number ≥ 2"),
        (lambda X: make_pool(np.ones((30, 2)), "dbscan"), "All 100 members have one"),
    ],
)
def test_bad_pools(call, message, iris):
    with pytest.raises(ValueError, match=message):
        call(iris)
