"""`stability`: clusters found again in resamples and by members, against fpc's numbers and naive twins."""

import naive
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics import pairwise_distances
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import planted_labels, random_labels
from test_progress import Calls

from ensemblage import ConsensusClustering, Ensemble
from ensemblage.consensus import EvidenceAccumulation, KMeansConsensus
from ensemblage.generation import RandomKPartitions
from ensemblage.stability import cluster_stability, partition_stability
from ensemblage.stability._clusters import best_jaccard, cells_of, encode_noise
from ensemblage.stability._resamples import Axes, Scheme, check_data, fresh, gap_quantiles

IRIS = load_iris().data
TENTHS = [np.flatnonzero(np.arange(150) % 10 != r) for r in range(10)]
HALVES = [np.arange(0, 150, 2), np.arange(1, 150, 2)]
BLOBS, TRUTH = make_blobs(90, centers=[(0, 0), (0, 12), (12, 0)], random_state=0)
CLOUD = np.random.default_rng(0).normal(size=(60, 3)) * [1, 2, 5]
WARD = AgglomerativeClustering(3)


def in_order(found):
    """Rows by the first object of each cluster."""
    order = np.argsort([np.flatnonzero(found.labels == c)[0] for c in range(len(found.table))])
    return [found.table[c] for c in order], found.jaccard[order]


@pytest.mark.parametrize(
    ("linkage", "sizes", "means", "dissolved", "recovered"),
    [
        ("average", [50, 100], [0.991837, 0.995556], [0, 0], [10, 10]),
        ("average", [50, 64, 36], [1, 0.790808, 0.530155], [0, 0, 7], [10, 3, 3]),
        ("average", [50, 60, 4, 36], [1, 0.658048, 0.490496, 0.598741], [0, 6, 6, 6], [10, 4, 4, 4]),
        (
            "average",
            [50, 60, 4, 24, 12],
            [0.988889, 0.675758, 0.490496, 0.682138, 1],
            [0, 5, 6, 5, 0],
            [10, 4, 4, 5, 10],
        ),
        ("complete", [78, 72], [0.788510, 0.818034], [0, 0], [5, 4]),
        ("complete", [50, 72, 28], [1, 0.754407, 0.624247], [0, 1, 4], [10, 4, 4]),
        ("complete", [50, 60, 28, 12], [1, 0.865190, 0.856446, 0.932258], [0, 0, 0, 1], [10, 7, 8, 9]),
        (
            "complete",
            [29, 21, 60, 28, 12],
            [0.670096, 0.540700, 0.790398, 0.834579, 0.932258],
            [1, 7, 0, 2, 1],
            [3, 2, 6, 8, 9],
        ),
    ],
)  # fmt: skip
def test_as_fpc_on_iris(linkage, sizes, means, dissolved, recovered):
    estimator = AgglomerativeClustering(len(sizes), linkage=linkage)
    rows, _ = in_order(cluster_stability(estimator, IRIS, resamples=TENTHS, not_drawn="zero"))
    assert [row.size for row in rows] == sizes
    assert_allclose([row.mean_jaccard for row in rows], means, atol=5e-7)
    assert [row.dissolved for row in rows] == dissolved
    assert [row.recovered for row in rows] == recovered
    assert {row.n_compared for row in rows} == {10}


@pytest.mark.parametrize(
    ("k", "first", "second"),
    [
        (3, [1, 0.645833, 0.34], [1, 0.804878, 0.529412]),
        (4, [1, 0.630435, 1, 0.354167], [1, 0.461538, 0.133333, 0.529412]),
    ],
)
def test_as_fpc_on_halves_of_iris(k, first, second):
    _, jaccard = in_order(cluster_stability(AgglomerativeClustering(k, linkage="average"), IRIS, resamples=HALVES))
    assert_allclose(jaccard.T, [first, second], atol=5e-7)


# ---- The similarity itself ----


@pytest.mark.parametrize("seed", range(20))
def test_best_jaccard_is_that_of_sets(seed):
    rng = np.random.default_rng(seed)
    k, q = rng.integers(1, 6, size=2)
    before, after = rng.integers(-1, k, size=30), rng.integers(-1, q, size=30)
    before[:k] = np.arange(k)
    found, n_found = encode_noise(after.astype(np.int32))
    cells = cells_of(np.where(before < 0, k, before), found, np.ones(30, dtype=np.int64), k + 1, n_found + 1)
    assert_allclose(best_jaccard(cells, k, n_found), naive.best_jaccard(before, after))


def test_large_tables_are_counted_by_sorting():
    rng = np.random.default_rng(0)
    a, b, counts = rng.integers(3, size=50), rng.integers(3, size=50), rng.integers(1, 4, size=50)
    small, large = cells_of(a, b, counts, 3, 3), cells_of(a, b, counts, 400, 400)
    for x, y in zip(small, large, strict=True):
        assert_array_equal(x, y)


def test_labels_of_any_size_are_numbered():
    found, n_found = encode_noise(np.array([7, -1, 2**31 - 1, 7], dtype=np.int32))
    assert len({found[0], found[2], found[3]}) == 2
    assert found[1] == n_found
    assert found.max() <= 4


def test_any_negative_number_is_noise():
    found, n_found = encode_noise(np.array([-5, -2]))
    assert (found.tolist(), n_found) == ([0, 0], 0)


# ---- Resamples ----


def scheme(name, X=CLOUD, fraction=None, keep=False):
    return Scheme(name, check_data(X, WARD, "cluster_stability"), fraction, keep)


def test_bootstrap_drops_duplicates_unless_they_are_kept():
    dropped, kept = scheme("bootstrap").draw(0), scheme("bootstrap", keep=True).draw(0)
    assert len(kept.objects) == len(CLOUD) > len(dropped.objects) == len(set(dropped.objects.tolist()))
    assert_array_equal(np.unique(kept.objects), dropped.objects)
    assert_array_equal(kept.X, CLOUD[kept.objects])
    assert len(scheme("bootstrap", fraction=0.1, keep=True).draw(0).objects) == 6


def test_subsamples_are_of_half_the_objects_or_the_fraction():
    assert len(set(scheme("subsample").draw(0).objects.tolist())) == 30
    assert len(scheme("subsample", fraction=0.8).draw(3).objects) == 48


def test_jitter_moves_along_the_principal_axes():
    drawn = scheme("jitter", fraction=0.5)
    gaps = np.diff(np.sort(drawn.axes.scores, axis=0), axis=0)
    assert_allclose(drawn.widths, np.median(gaps, axis=0))
    moved = np.vstack([drawn.draw(seed).X - CLOUD for seed in range(200)]) @ drawn.axes.directions.T
    assert_allclose(moved.std(axis=0), drawn.widths, rtol=0.05)
    assert_array_equal(drawn.draw(0).objects, np.arange(60))


def test_gaps_of_ties_do_not_count():
    assert_allclose(gap_quantiles(np.array([[0.0, 1], [0, 1], [2, 1], [6, 1]]), 0.5), [3, 0])


def test_noise_replaces_objects_within_four_deviations():
    drawn, replaced = scheme("noise", fraction=0.3), []
    for seed in range(100):
        resample = drawn.draw(seed)
        kept = resample.objects >= 0
        assert_array_equal(resample.X[kept], CLOUD[resample.objects[kept]])
        replaced.append(resample.X[~kept])
    assert np.vstack(replaced).shape[0] == pytest.approx(0.3 * 60 * 100, rel=0.1)
    scores = (np.vstack(replaced) - CLOUD.mean(axis=0)) @ drawn.axes.directions.T
    extent = 4 * np.sqrt(np.linalg.eigvalsh(np.cov(CLOUD.T))[::-1])
    assert_allclose(np.abs(scores).max(axis=0), extent, rtol=0.05)
    assert (np.abs(scores) <= extent * (1 + 1e-9)).all()
    assert_array_equal(CLOUD, np.random.default_rng(0).normal(size=(60, 3)) * [1, 2, 5])


def test_axes_of_more_features_than_objects():
    axes = Axes.of(np.random.default_rng(0).normal(size=(5, 20)))
    assert axes.scores.shape == (5, 5)
    assert axes.directions.shape == (5, 20)


# ---- The public function ----


def test_mean_of_the_resamples_in_which_it_was_drawn():
    resamples = [TRUTH == 0, np.arange(60), TRUTH < 2]
    skipped = cluster_stability(AgglomerativeClustering(1), BLOBS, TRUTH, resamples=resamples)
    assert [row.n_not_drawn for row in skipped.table] == [0, 1, 2]
    assert_array_equal(np.isnan(skipped.jaccard), [[False, False, False], [True, False, False], [True, False, True]])
    zero = cluster_stability(AgglomerativeClustering(1), BLOBS, TRUTH, resamples=resamples, not_drawn="zero")
    assert_array_equal(zero.jaccard, np.nan_to_num(skipped.jaccard))
    assert [row.n_not_drawn for row in zero.table] == [0, 1, 2]
    assert [row.n_compared for row in zero.table] == [3, 3, 3]
    row = skipped.table[1]
    assert row.mean_jaccard == np.nanmean(skipped.jaccard[1]) > zero.table[1].mean_jaccard
    assert row.standard_error == pytest.approx(np.nanstd(skipped.jaccard[1], ddof=1) / np.sqrt(2))
    assert "not drawn in 1" in row.sentence
    never = cluster_stability(AgglomerativeClustering(1), BLOBS, TRUTH, resamples=[TRUTH == 0]).table[2]
    assert np.isnan(never.mean_jaccard)
    assert never.verdict == "not drawn"
    assert "nothing is known" in never.sentence


def test_as_the_naive_twin_with_noise():
    found = cluster_stability(DBSCAN(0.5), IRIS, resamples=TENTHS)
    before = DBSCAN(0.5).fit_predict(IRIS)
    assert found.noise.size == (before == -1).sum() > 0
    for rows, jaccard in zip(TENTHS, found.jaccard.T, strict=True):
        assert_allclose(jaccard, naive.best_jaccard(before[rows], DBSCAN(0.5).fit_predict(IRIS[rows]))[:-1])
    means = np.mean([naive.best_jaccard(before[r], DBSCAN(0.5).fit_predict(IRIS[r]))[-1] for r in TENTHS])
    assert found.noise.mean_jaccard == pytest.approx(means)
    assert len(found.to_frame()) == len(found.table) + 1
    assert_array_equal(found.labels, before)
    assert found.noise.sentence.startswith(f"The noise ({found.noise.size} objects) is ")


def test_all_noise_is_no_cluster():
    found = cluster_stability(DBSCAN(0.001), BLOBS, n_resamples=3)
    assert found.table == []
    assert found.noise.mean_jaccard == 1
    assert found.sentence == "There is no cluster."
    assert found.plot().get_xlabel() == "cluster"
    assert "ClusterStability" in repr(found)


def test_objects_in_no_cluster_count_in_the_clusters_they_are_put_in():
    labels = np.where(np.arange(90) < 45, TRUTH, -1)
    found = cluster_stability(AgglomerativeClustering(3), BLOBS, labels, resamples=[np.arange(90)])
    expected = naive.best_jaccard(labels, AgglomerativeClustering(3).fit_predict(BLOBS))
    assert_allclose(found.jaccard[:, 0], expected[:-1])
    assert found.noise.mean_jaccard == 0


@pytest.mark.core(3)
@pytest.mark.parametrize("scheme", ["bootstrap", "subsample", "jitter", "noise"])
@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(3, n_init=2),
        WARD,
        GaussianMixture(3),
        make_pipeline(StandardScaler(), KMeans(3, n_init=2)),
        ConsensusClustering(3, generator=RandomKPartitions(5, k_max=6)),
    ],
    ids=lambda e: type(e).__name__,
)
def test_well_separated_clusters_are_very_stable(scheme, estimator):
    found = cluster_stability(estimator, BLOBS, scheme=scheme, n_resamples=5, random_state=0)
    assert [row.verdict for row in found.table] == ["very stable"] * 3
    assert found.jaccard.shape == (3, 5)
    assert sorted(row.size for row in found.table) == [30, 30, 30]


class Thirds:
    """Has ``fit_predict`` and nothing else."""

    def fit_predict(self, X):
        return np.arange(len(X)) * 3 // len(X)


def test_anything_with_fit_predict():
    assert len(cluster_stability(Thirds(), BLOBS, n_resamples=3).table) == 3


KM = KMeans(4, n_init=1)


def jaccard_of(estimator=KM, X=CLOUD, labels=None, **options):
    return cluster_stability(estimator, X, labels, **{"n_resamples": 6, "random_state": 0} | options).jaccard


@pytest.mark.parametrize(
    "options",
    [
        {"estimator": KMeans(4, n_init=1, max_iter=1)},
        {"X": CLOUD[::-1]},
        {"labels": np.arange(60) % 4},
        {"scheme": "subsample"},
        {"scheme": "jitter"},
        {"scheme": "noise"},
        {"n_resamples": 7},
        {"tuning": 0.5},
        {"resamples": [np.arange(40)] * 6},
        {"keep_duplicates": True},
        {"random_state": 1},
    ],
    ids=str,
)
def test_every_parameter_counts(options):
    assert not np.array_equal(jaccard_of(), jaccard_of(**options))


def test_fraction_counts_in_every_scheme():
    for name in ("subsample", "jitter", "noise"):
        assert not np.array_equal(jaccard_of(scheme=name), jaccard_of(scheme=name, tuning=0.3))


@pytest.mark.parametrize("scheme", ["bootstrap", "subsample", "jitter", "noise"])
def test_any_number_of_threads(scheme):
    first = cluster_stability(KM, CLOUD, scheme=scheme, n_resamples=8, random_state=3)
    second = cluster_stability(KM, CLOUD, scheme=scheme, n_resamples=8, random_state=3, n_jobs=3)
    assert repr(first) == repr(second)
    assert_array_equal(first.jaccard, second.jaccard)


def test_a_resample_and_its_clustering_have_seeds_of_their_own(monkeypatch):
    """Else what is drawn goes with how it is clustered."""
    drawn, clustered = [], []

    class Seeded(KMeans):
        def fit(self, X, y=None, sample_weight=None):
            clustered.append(self.random_state)
            return super().fit(X, y, sample_weight)

    draw = Scheme.draw
    monkeypatch.setattr(Scheme, "draw", lambda self, seed: (drawn.append(seed), draw(self, seed))[1])
    cluster_stability(Seeded(3, n_init=1), CLOUD, n_resamples=5, random_state=0, n_jobs=1)
    assert (len(drawn), len(clustered)) == (5, 6)
    assert len({*clustered, *(fresh(KMeans(), seed).random_state for seed in drawn)}) == 11


def test_the_first_resamples_stay_when_more_are_drawn():
    assert_array_equal(jaccard_of(n_resamples=9)[:, :6], jaccard_of())


def test_permuted_objects_and_other_names():
    labels = WARD.fit_predict(IRIS)
    found = cluster_stability(WARD, IRIS, labels, resamples=TENTHS)
    order = np.random.default_rng(0).permutation(150)
    place = np.argsort(order)
    names = np.array(["z", "y", "x"])[labels]
    again = cluster_stability(WARD, IRIS[order], names[order], resamples=[place[rows] for rows in TENTHS])
    assert [row.cluster for row in again.table] == ["x", "y", "z"]
    assert_array_equal(found.jaccard, again.jaccard[::-1])


def test_progress_is_told_by_this_thread():
    calls = Calls()
    cluster_stability(KM, CLOUD, n_resamples=5, progress=calls, n_jobs=2)
    calls.check(5)
    with pytest.raises(ZeroDivisionError):
        cluster_stability(KM, CLOUD, n_resamples=5, progress=lambda done, total: 1 // 0)


class Picky(KMeans):
    """Refuses what has the first object."""

    def fit_predict(self, X, y=None, sample_weight=None):
        if len(X) < 60 and (CLOUD[0] == X).all(axis=1).any():
            raise ValueError("object 0 is not welcome")
        return super().fit_predict(X)


def test_failures_are_told():
    resamples = [np.arange(5, 50), np.arange(50), np.arange(10, 60)]
    with pytest.warns(
        FitFailedWarning, match=r"^1 of 3 resamples failed and are left out: resample 1 \(50 of 60"
    ) as told:
        found = cluster_stability(Picky(2, n_init=1), CLOUD, resamples=resamples)
    assert told[0].filename == __file__
    assert found.jaccard.shape == (2, 2)
    with pytest.raises(ValueError, match=r"must cluster every resample\. Got an error for resample 1 .*welcome\. Ch"):
        cluster_stability(Picky(2, n_init=1), CLOUD, resamples=resamples, on_error="raise")
    with pytest.raises(ValueError, match=r"must cluster at least one resample\. Got errors for all 1"):
        cluster_stability(Picky(2, n_init=1), CLOUD, resamples=resamples[1:2])


def test_an_estimator_that_cannot_cluster_x():
    with pytest.raises(
        ValueError, match=r"^The estimator of cluster_stability must cluster X\. Got ValueError: could not c"
    ):
        cluster_stability(KM, pd.DataFrame({"a": ["x", "y"] * 9}))


def test_missing_numbers_go_to_estimators_that_take_them():
    X = np.where(np.random.default_rng(0).random(BLOBS.shape) < 0.05, np.nan, BLOBS)
    estimator = make_pipeline(SimpleImputer(), KMeans(3, n_init=2))
    assert len(cluster_stability(estimator, X, n_resamples=3).table) == 3
    with pytest.raises(ValueError, match=r"^X of cluster_stability must be a matrix of finite numbers.*Got nan"):
        cluster_stability(estimator, X, scheme="jitter")


def test_sparse_and_float32():
    dense = jaccard_of(AgglomerativeClustering(3), BLOBS, TRUTH, scheme="subsample")
    assert_array_equal(
        dense, jaccard_of(AgglomerativeClustering(3), BLOBS.astype(np.float32), TRUTH, scheme="subsample")
    )
    sparse = jaccard_of(KMeans(3, n_init=2), csr_array(BLOBS), TRUTH, scheme="subsample")
    assert_array_equal(sparse, jaccard_of(KMeans(3, n_init=2), BLOBS, TRUTH, scheme="subsample"))
    with pytest.raises(ValueError, match=r"must be a dense matrix .* Got a sparse matrix\. Use scheme='bootstrap'"):
        jaccard_of(KM, csr_array(BLOBS), scheme="jitter")


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("scheme", ["bootstrap", "jitter"])
def test_data_frames(library, scheme):
    frame = library.DataFrame({"a": BLOBS[:, 0], "b": BLOBS[:, 1]})
    found = cluster_stability(WARD, frame, scheme=scheme, n_resamples=4, random_state=0)
    assert_array_equal(found.jaccard, jaccard_of(WARD, BLOBS, scheme=scheme, n_resamples=4))
    assert isinstance(found.to_frame(), library.DataFrame)
    assert list(found.to_frame().columns)[:3] == ["cluster", "size", "mean_jaccard"]


def test_data_frames_with_categories_go_to_estimators_that_read_them():
    frame = pd.DataFrame({"a": BLOBS[:, 0], "b": BLOBS[:, 1], "colour": np.array(["red", "blue", "green"])[TRUTH]})
    found = cluster_stability(
        ConsensusClustering(3, generator=RandomKPartitions(5)), frame, n_resamples=3, random_state=0
    )
    assert found.mean_jaccard.min() == 1
    with pytest.raises(ValueError, match=r"^X of cluster_stability must be a matrix of finite numbers"):
        cluster_stability(ConsensusClustering(3), frame, scheme="noise")


def test_distances_of_all_pairs():
    estimator = AgglomerativeClustering(3, metric="precomputed", linkage="average")
    found = cluster_stability(estimator, pairwise_distances(IRIS), resamples=TENTHS)
    features = cluster_stability(AgglomerativeClustering(3, linkage="average"), IRIS, resamples=TENTHS)
    assert_array_equal(found.jaccard, features.jaccard)
    with pytest.raises(ValueError, match=r"must be square .* Got shape \(150, 4\)"):
        cluster_stability(estimator, IRIS)
    with pytest.raises(ValueError, match=r"Got distances of all pairs\. Use scheme"):
        cluster_stability(estimator, pairwise_distances(IRIS), scheme="noise")


def test_estimators_keep_what_they_are():
    estimator = KMeans(3, n_init=1, random_state=7)
    cluster_stability(estimator, BLOBS, n_resamples=2)
    assert estimator.random_state == 7
    assert not hasattr(estimator, "labels_")


@pytest.mark.parametrize(
    ("mean", "word"),
    [(1, "very stable"), (0.85, "very stable"), (0.849, "stable"), (0.75, "stable"), (0.749, "doubtful"),
     (0.6, "doubtful"), (0.599, "unstable"), (0, "unstable"), (np.nan, "not drawn")],
)  # fmt: skip
def test_words(mean, word):
    """Of the share of a cluster's thousand objects that stay together; the others join the next one."""
    labels = np.repeat([0, 1], 1_000)
    member = labels.copy()
    member[0 if np.isnan(mean) else round(1_000 * mean) : 1_000] = -1 if np.isnan(mean) else 1
    found = partition_stability(labels, np.column_stack([member] * 2)).table[0]
    assert found.verdict == word


def test_sentences():
    row = in_order(cluster_stability(AgglomerativeClustering(3, linkage="average"), IRIS, resamples=TENTHS))[0][2]
    assert row.sentence == (
        f"Cluster {row.cluster} (36 objects) is unstable; mean Jaccard 0.53, dissolved in 7 and recovered in 3 of 10 "
        "given resamples."
    )
    doubtful = in_order(cluster_stability(AgglomerativeClustering(3, linkage="complete"), IRIS, resamples=TENTHS))[0][2]
    assert "is doubtful: there is a pattern, but which objects belong to it is open; mean" in doubtful.sentence


def test_the_record_is_frozen_and_draws_itself():
    found = cluster_stability(WARD, BLOBS, n_resamples=3)
    with pytest.raises(AttributeError):
        found.table = []
    ax = found.plot()
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "2"]
    assert found.plot(ax=ax) is ax


OPTIONS = {"estimator": KM, "X": CLOUD, "n_resamples": 2}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"estimator": KMeans}, TypeError, r"^estimator of cluster_stability must be a clusterer .* Got <class"),
        ({"X": CLOUD[:1]}, ValueError, r"^X of cluster_stability must have at least 2 rows\. Got 1"),
        ({"X": CLOUD[0]}, ValueError, r"^X of cluster_stability must be a matrix .* Got shape \(3,\)"),
        ({"X": [["a", "b"]] * 5}, ValueError, r"^X of cluster_stability must be a matrix .* Got \[\['a'"),
        ({"X": np.where(CLOUD > 9, np.nan, CLOUD)}, ValueError, r"must cluster X\. Got .*Input X contains NaN"),
        ({"X": np.where(CLOUD > 9, np.inf, CLOUD)}, ValueError, r"finite numbers.* Got inf\. Leave"),
        ({"partition": [1, 2]}, ValueError, r"^partition of cluster_stability must be one for each of the 60 "),
        ({"scheme": "boot"}, ValueError, r"^scheme of cluster_stability must be one of 'bootstrap', .* Got 'boot'"),
        ({"n_resamples": 0}, ValueError, r"^n_resamples of cluster_stability must be a whole number from 1"),
        ({"tuning": 0}, ValueError, r"^tuning of cluster_stability must be a number > 0 and ≤ 1\. Got 0"),
        ({"resamples": 5}, TypeError, r"^resamples of cluster_stability must be a list .* Got 5\. Give one"),
        ({"resamples": [[]]}, ValueError, r"^Every resample of cluster_stability must be .* Got \[\]\. Give"),
        ({"resamples": [[0, 60]]}, ValueError, r"^Every resample .* row numbers below 60, .* Got \[0, 60\]"),
        ({"resamples": [[0]], "tuning": 0.5}, ValueError, r"^resamples of .* must be None if scheme or tuning"),
        ({"resamples": [[0]], "scheme": "noise"}, ValueError, r"^resamples of .* must be None if scheme or"),
        ({"keep_duplicates": 1}, ValueError, r"^keep_duplicates of cluster_stability must be True or False"),
        ({"not_drawn": "nan"}, ValueError, r"^not_drawn of cluster_stability must be one of 'skip', 'zero'"),
        ({"on_error": "ignore"}, ValueError, r"^on_error of cluster_stability must be one of 'warn', 'raise'"),
        ({"n_jobs": 0}, ValueError, r"^n_jobs of cluster_stability must be"),
        ({"random_state": "x"}, ValueError, r"^random_state must be"),
        ({"progress": 3}, TypeError, r"^progress of cluster_stability must be a function"),
    ],
    ids=str,
)  # fmt: skip
def test_refused(options, error, message):
    with pytest.raises(error, match=message):
        cluster_stability(**OPTIONS | options)


# ---- Members ----


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_members_as_the_naive_twin(missing):
    labels, truth = planted_labels(n=60, p=7, k=4, missing=missing, seed=1)
    truth = np.where(np.arange(60) % 7 == 0, -1, truth)
    found = partition_stability(truth, labels)
    for column, jaccard in zip(labels.T, found.jaccard.T, strict=True):
        assert_allclose(jaccard, naive.best_jaccard(truth[column >= 0], column[column >= 0])[:-1])
    assert found.noise is None
    assert found.compared_with == "members"


def test_clusters_that_a_member_does_not_label():
    found = partition_stability([0, 0, 1, 1], [[0, 0], [0, 0], [-1, 1], [-1, 1]])
    assert found.table[1].n_not_drawn == 1
    assert "not labelled in 1" in found.table[1].sentence
    assert found.table[1].mean_jaccard == 1


def test_weights_of_members():
    labels, truth = planted_labels(n=60, p=4, k=3, seed=0)
    plain = partition_stability(truth, labels)
    found = partition_stability(truth, labels, weights=[1, 2, 0, 5])
    assert_allclose(found.mean_jaccard, plain.jaccard @ np.array([1, 2, 0, 5]) / 8)
    assert found.jaccard.shape == (3, 3)
    equal = partition_stability(truth, labels, weights=[3, 3, 3, 3])
    assert_allclose([row.standard_error for row in equal.table], plain.jaccard.std(axis=1, ddof=1) / 2)


def test_members_one_by_one_where_there_are_many_clusters():
    labels = random_labels(n=80, p=5, k=60, missing=0.2, seed=0)
    z = np.arange(80) % 70
    found = partition_stability(z, labels)
    for column, jaccard in zip(labels.T, found.jaccard.T, strict=True):
        kept = column >= 0
        expected = dict(zip(np.unique(z[kept]), naive.best_jaccard(z[kept], column[kept])[:-1], strict=True))
        assert_allclose(jaccard, [expected.get(c, np.nan) for c in range(70)])


def test_models_and_their_ensembles():
    labels, _ = planted_labels(n=60, p=5, k=3, seed=0)
    model = KMeansConsensus(3, random_state=0).fit(labels)
    assert repr(partition_stability(model, labels)) == repr(partition_stability(model.labels_, Ensemble(labels)))
    on_features = ConsensusClustering(3, generator=RandomKPartitions(5), random_state=0).fit(BLOBS)
    found = partition_stability(on_features)
    assert_array_equal(found.jaccard, partition_stability(on_features.labels_, on_features.ensemble_).jaccard)
    with pytest.raises(NotFittedError):
        partition_stability(EvidenceAccumulation(), labels)
    with pytest.raises(ValueError, match=r"^labels of partition_stability must be an ensemble, .* Got None\. Give"):
        partition_stability(model.labels_)
    with pytest.raises(ValueError, match=r"^partition of partition_stability must be one for each of the 60 objects"):
        partition_stability([0, 1], labels)
    with pytest.raises(ValueError, match=r"^weights of partition_stability must be 5 numbers"):
        partition_stability(model, labels, weights=[1, 2])
    with pytest.raises(ValueError, match=r" must be a 1-D vector of labels\. Got 0 dimensions"):
        partition_stability(None, labels)


def test_one_member_that_weighs_nearly_all():
    found = partition_stability([0, 0, 1], [[0, 0], [0, 1], [1, 1]], weights=[1e-300, 1.0])
    assert np.isnan(found.table[0].standard_error)
    assert found.table[0].mean_jaccard == pytest.approx(0.5)


def test_many_clusters_are_not_all_named():
    z = np.repeat(np.arange(60), 2)
    found = partition_stability(z, z[:, None])
    assert found.sentence == "60 clusters in 1 member: 60 of them very stable."
    assert repr(found).endswith("\n… 20 more")
