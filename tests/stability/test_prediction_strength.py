"""`stability.prediction_strength`, against fpc's numbers and naive twins."""

import time

import naive
import numpy as np
import pandas as pd
import pytest
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    OPTICS,
    AgglomerativeClustering,
    BisectingKMeans,
    FeatureAgglomeration,
    KMeans,
    SpectralClustering,
)
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_progress import Calls

from ensemblage import ConsensusClustering
from ensemblage.generation import RandomKPartitions
from ensemblage.stability import prediction_strength
from ensemblage.stability._clusters import cells_of
from ensemblage.stability._resamples import check_data
from ensemblage.stability._strength import (
    both_directions,
    pairs_kept,
    random_halves,
    strength_of,
    transfer_labels,
    transfer_of,
)

IRIS = load_iris().data
EVEN, ODD = np.arange(0, 150, 2), np.arange(1, 150, 2)
BLOBS, _ = make_blobs(90, centers=[(0, 0), (0, 12), (12, 0)], random_state=0)
CLOUD = np.random.default_rng(0).normal(size=(60, 3)) * [1, 2, 5]
AVERAGE = AgglomerativeClustering(linkage="average")


@pytest.mark.parametrize(
    ("linkage", "transfer", "means"),
    [
        ("average", "centroid", [0.96, 0.819592, 0.444928, 0.464869]),
        ("average", "nearest", [1, 0.608156, 0.446135, 0.485294]),
        ("average", "average", [0.96, 0.798316, 0.454451, 0.463602]),
        ("ward", "centroid", [0.96, 0.611972, 0.505942, 0.469597]),
    ],
)
def test_as_fpc_on_iris(linkage, transfer, means):
    estimator = AgglomerativeClustering(linkage=linkage)
    found = prediction_strength(estimator, IRIS, range(2, 6), splits=[(EVEN, ODD)], transfer=transfer)
    assert_allclose(found.values[:, 0], means, atol=1.5e-6)
    assert found.transfer == transfer
    assert [row.standard_error for row in found.table] == [0] * 4


@pytest.mark.parametrize(
    ("k", "transfer", "even", "odd"),
    [
        (2, "centroid", [1, 0.96], [1, 0.96]),
        (3, "centroid", [1, 0.639184, 1], [1, 1, 1]),
        (4, "centroid", [1, 0.423188, 1, 1], [1, 1, 0.466667, 0.777778]),
        (5, "centroid", [1, 0.487685, 1, 0.485294, 1], [1, 0.529231, 0.615385, 1, 0.444444]),
        (2, "nearest", [1, 1], [1, 1]),
        (3, "nearest", [1, 0.716312, 1], [1, 1, 0.5]),
        (4, "nearest", [1, 0.392271, 1, 1], [1, 1, 0.752381, 0.5]),
        (5, "nearest", [1, 0.487685, 1, 0.470588, 1], [1, 0.556923, 1, 1, 0.5]),
    ],
)
def test_clusters_as_fpc_on_iris(k, transfer, even, odd):
    data = check_data(IRIS, AVERAGE, "prediction_strength")
    of_even, of_odd = both_directions(AVERAGE, data, (EVEN, ODD), transfer, {"n_clusters": k}, [0, 0])
    for strength, rows, expected in ((of_even, EVEN, even), (of_odd, ODD, odd)):
        labels = AgglomerativeClustering(k, linkage="average").fit_predict(IRIS[rows])
        in_order = np.argsort(np.unique(labels, return_index=True)[1])
        assert_allclose(strength.shares[in_order], expected, atol=5e-7)


@pytest.mark.parametrize("seed", range(20))
def test_pairs_kept_as_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    own, given = rng.integers(-1, 4, size=25), rng.integers(-1, 3, size=25)
    own[:4] = range(4)
    cells = cells_of(np.where(own < 0, 4, own), np.where(given < 0, 3, given), np.ones(25, dtype=np.int64), 5, 4)
    assert_allclose(pairs_kept(cells, 4, 3), naive.pairs_kept(own, given))


@pytest.mark.parametrize("kind", ["dense", "sparse", "distances"])
@pytest.mark.parametrize("transfer", ["centroid", "nearest", "average"])
def test_transfer_as_the_naive_twin(transfer, kind, monkeypatch):
    if kind == "distances" and transfer == "centroid":
        return
    limit(monkeypatch, "distances of a block", 100)
    rng = np.random.default_rng(0)
    rows, others, clusters = np.arange(35), np.arange(35, 60), rng.integers(-1, 4, size=35).astype(np.int32)
    estimator = AgglomerativeClustering(metric="precomputed", linkage="average") if kind == "distances" else AVERAGE
    X = {"dense": CLOUD, "sparse": csr_array(CLOUD), "distances": pairwise_distances(CLOUD)}[kind]
    found = transfer_labels(check_data(X, estimator, "x"), rows, clusters, others, transfer)
    assert_array_equal(found, naive.transferred(CLOUD[rows], clusters, CLOUD[others], transfer))
    assert found.dtype == np.int32


def test_halves_by_any_numbers_of_rows():
    """Counted from the end, in any order, or by truth values."""
    X = make_blobs(40, random_state=0)[0]
    first = np.arange(40) % 2 == 0
    expected = prediction_strength(KMeans(n_init=1), X, [2, 3], splits=[(first, ~first)], random_state=0)
    rows = np.flatnonzero(first)[::-1].tolist()
    found = prediction_strength(
        KMeans(n_init=1), X, [2, 3], splits=[(rows, np.flatnonzero(~first) - 40)], random_state=0
    )
    assert [row.mean for row in found.table] == [row.mean for row in expected.table]


def test_nothing_is_transferred_from_noise():
    data = check_data(CLOUD, AVERAGE, "x")
    none = np.full(30, -1, dtype=np.int32)
    assert (transfer_labels(data, np.arange(30), none, np.arange(30, 60), "nearest") == -1).all()


@pytest.mark.parametrize(
    ("estimator", "transfer"),
    [
        (KMeans(), "predict"),
        (GaussianMixture(), "predict"),
        (ConsensusClustering(consensus="km"), "predict"),
        (AgglomerativeClustering(), "centroid"),
        (AgglomerativeClustering(linkage="complete"), "centroid"),
        (AgglomerativeClustering(linkage="average"), "average"),
        (AgglomerativeClustering(linkage="single"), "nearest"),
        (make_pipeline(StandardScaler(), AgglomerativeClustering(linkage="single")), "nearest"),
        (DBSCAN(), "nearest"),
        (HDBSCAN(), "nearest"),
        (OPTICS(), "nearest"),
        (SpectralClustering(), "nearest"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_auto_is(estimator, transfer):
    assert transfer_of(estimator, pairwise=False) == transfer


def test_random_halves():
    halves = random_halves(11, 5, 0)
    assert [(len(a), len(b)) for a, b in halves] == [(5, 6)] * 5
    for a, b in halves:
        assert_array_equal(np.sort(np.concatenate([a, b])), np.arange(11))
        assert_array_equal(a, np.sort(a))
    assert len({tuple(a) for a, _ in halves}) > 1


@pytest.mark.core(1)
@pytest.mark.parametrize(
    ("estimator", "transfer"),
    [
        (KMeans(n_init=5), "predict"),
        (GaussianMixture(n_init=3), "predict"),
        (BisectingKMeans(n_init=3), "predict"),
        (AgglomerativeClustering(linkage="complete"), "centroid"),
        (make_pipeline(StandardScaler(), AgglomerativeClustering()), "centroid"),
        (ConsensusClustering(generator=RandomKPartitions(20, k_max=6), consensus="km"), "predict"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_three_blobs_are_three_clusters(estimator, transfer):
    found = prediction_strength(estimator, BLOBS, [1, 2, 3, 4], n_splits=4, random_state=0)
    assert found.transfer == transfer
    assert found.table[0][:3] == (1, 1.0, 0.0)
    assert found.best == 3
    assert found.table[2].mean == 1 == found.table[2].agreement
    assert found.supported[-1] == 3
    assert found.values.shape == (4, 4)


def test_a_cluster_of_one_object_has_full_strength():
    far = np.vstack([BLOBS, [[100.0, 100.0], [-100.0, -100.0]]])
    splits = [(np.arange(0, 92, 2), np.arange(1, 92, 2))]
    found = prediction_strength(AgglomerativeClustering(linkage="single"), far, [4], splits=splits)
    assert found.transfer == "nearest"
    assert found.table[0].mean == 1


def test_the_numbers_of_the_table():
    found = prediction_strength(KMeans(n_init=1), CLOUD, [2, 5], n_splits=6, random_state=0)
    for row, values in zip(found.table, found.values, strict=True):
        assert row.mean == pytest.approx(values.mean())
        assert row.standard_error == pytest.approx(values.std(ddof=1) / np.sqrt(6))
        assert row.supported == (row.mean + row.standard_error > 0.8)
    assert found.supported == [row.k for row in found.table if row.supported]


def test_agreement_is_the_adjusted_rand_index():
    data = check_data(IRIS, AVERAGE, "x")
    strengths = both_directions(AVERAGE, data, (EVEN, ODD), "nearest", {"n_clusters": 4}, [0, 0])
    for strength, rows, others in zip(strengths, (EVEN, ODD), (ODD, EVEN), strict=True):
        own, other = (AgglomerativeClustering(4, linkage="average").fit_predict(IRIS[r]) for r in (rows, others))
        given = naive.transferred(IRIS[others], other, IRIS[rows], "nearest")
        assert strength.agreement == pytest.approx(adjusted_rand_score(own, given))
        assert_allclose(strength.shares, naive.pairs_kept(own, given))


def test_a_half_without_clusters_has_no_strength():
    data = check_data(CLOUD, DBSCAN(), "x")
    strength, _ = both_directions(DBSCAN(0.001), data, (np.arange(30), np.arange(30, 60)), "nearest", {}, [0, 0])
    assert strength.least == 0
    assert strength_of.__doc__


# ---- Parameters ----


def values(estimator=None, X=CLOUD, k_range=(3, 5), **options):
    estimator = KMeans(n_init=1) if estimator is None else estimator
    return prediction_strength(estimator, X, k_range, **{"n_splits": 4, "random_state": 0} | options).values


@pytest.mark.parametrize(
    "options",
    [
        {"estimator": KMeans(n_init=1, max_iter=1)},
        {"X": CLOUD[::-1]},
        {"k_range": (4, 6)},
        {"n_splits": 5},
        {"splits": [(np.arange(30), np.arange(30, 60))] * 4},
        {"transfer": "nearest"},
        {"random_state": 1},
    ],
    ids=str,
)
def test_every_parameter_counts(options):
    assert not np.array_equal(values(), values(**options))


def test_the_parameter_that_is_named():
    class Wrapped(KMeans):
        def __init__(self, groups=2, n_init=1, random_state=None):
            super().__init__(groups, n_init=n_init, random_state=random_state)
            self.groups = groups

        def fit(self, X, y=None, sample_weight=None):
            self.n_clusters = self.groups
            return super().fit(X)

        @classmethod
        def _get_param_names(cls):
            return ["groups", "n_init", "random_state"]

    assert_array_equal(values(Wrapped(), parameter="groups"), values(KMeans(n_init=1)))
    with pytest.raises(ValueError, match=r"must be the estimator's parameter .* Got .*Wrapped.*\. Name one of"):
        values(Wrapped())


def test_the_same_halves_for_every_k_and_threads():
    assert_array_equal(values(k_range=[3]), values(k_range=[3], n_jobs=3))
    deterministic = AgglomerativeClustering()
    assert_array_equal(values(deterministic, k_range=[5]), values(deterministic, k_range=[2, 3, 5])[2:])
    assert_array_equal(values(k_range=[5, 3, 3]), values(k_range=iter([3, 5])))


def test_permuted_objects():
    order = np.random.default_rng(0).permutation(150)
    place = np.argsort(order)
    for transfer in ("centroid", "nearest", "average"):
        options = {"k_range": [2, 3, 4], "transfer": transfer}
        found = values(AVERAGE, IRIS, splits=[(EVEN, ODD)], **options)
        assert_allclose(found, values(AVERAGE, IRIS[order], splits=[(place[ODD], place[EVEN])], **options))


def test_progress_is_told_by_this_thread():
    calls = Calls()
    values(k_range=[1, 2, 3], progress=calls, n_jobs=2)
    calls.check(8)


def test_sparse_frames_and_distances():
    km = KMeans(n_init=2)
    assert_array_equal(values(km, BLOBS), values(km, csr_array(BLOBS)))
    frame = pd.DataFrame(BLOBS, columns=["a", "b"])
    for transfer in ("predict", "nearest", "average", "centroid"):
        assert_array_equal(values(km, BLOBS, transfer=transfer), values(km, frame, transfer=transfer))
    assert isinstance(prediction_strength(km, frame, [2], n_splits=2).to_frame(), pd.DataFrame)
    by_distance = AgglomerativeClustering(metric="precomputed", linkage="average")
    options = {"k_range": [2, 3, 4], "transfer": "average"}
    assert_allclose(values(by_distance, pairwise_distances(IRIS), **options), values(AVERAGE, IRIS, **options))
    assert prediction_strength(by_distance, pairwise_distances(IRIS), [2], n_splits=1).transfer == "average"
    with pytest.raises(ValueError, match=r"must be 'nearest' or 'average' for distances .* Got 'centroid'"):
        values(by_distance, pairwise_distances(IRIS), transfer="centroid")
    mixed = pd.DataFrame({"a": BLOBS[:, 0], "colour": ["red", "blue", "green"] * 30})
    with pytest.raises(ValueError, match=r"^X of prediction_strength must be a matrix of finite numbers"):
        values(AVERAGE, mixed, transfer="nearest")


def test_sentences_and_figure():
    found = prediction_strength(KMeans(n_init=5), BLOBS, range(2, 6), n_splits=4, random_state=0)
    assert found.sentence in (
        "3 clusters are supported, of 2 to 5.",
        "2 and 3 clusters are supported, of 2 to 5; 3 are the most.",
    )
    assert repr(found).startswith(f"PredictionStrength: {found.sentence}\nk   mean  standard error  supported\n")
    assert found.plot().get_ylabel() == "prediction strength"
    none = prediction_strength(KMeans(n_init=1), CLOUD, [6, 9], n_splits=3, random_state=0)
    assert none.best is None
    assert none.sentence == "No number of clusters of 6 to 9 is supported."
    assert none.plot().get_xlabel() == "number of clusters"
    one = prediction_strength(KMeans(), CLOUD, [1], n_splits=3)
    assert one.sentence == "1 cluster is supported, of 1."
    assert one.best == 1
    with pytest.raises(AttributeError):
        one.table = []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"estimator": 5}, TypeError, r"^estimator of prediction_strength must be a clusterer .* Got 5"),
        ({"estimator": DBSCAN()}, ValueError, r"^parameter of prediction_strength must be .* Got DBSCAN\(\)\. Name"),
        ({"parameter": "k"}, ValueError, r"^parameter of prediction_strength must be .* and parameter='k'\. Name"),
        ({"X": [[1.0], ["a"]]}, ValueError, r"^X of prediction_strength must be a matrix"),
        ({"k_range": 3}, TypeError, r"^k_range of prediction_strength must be several numbers\. Got 3"),
        ({"k_range": []}, ValueError, r"^k_range of prediction_strength must hold at least one number"),
        ({"k_range": [31]}, ValueError, r"^Every k in k_range .* must be a whole number from 1 to 30\. Got 31"),
        ({"k_range": [0]}, ValueError, r"Got 0"),
        ({"n_splits": 0}, ValueError, r"^n_splits of prediction_strength must be"),
        ({"splits": 3}, TypeError, r"^splits of prediction_strength must be a list of pairs .* Got 3"),
        ({"splits": [[1, 2, 3]]}, TypeError, r"^splits of .* Got \[1, 2, 3\] among them"),
        ({"splits": [([0, 1], [1, 2])]}, ValueError, r"no row in common\. Got 2 and 2 rows, 1 of them in both"),
        ({"splits": [([], [1])]}, ValueError, r"^Every half of prediction_strength must be .* Got \[\]\. Give"),
        ({"transfer": "knn"}, ValueError, r"^transfer of prediction_strength must be one of 'auto', .* Got 'knn'"),
        ({"estimator": AVERAGE, "transfer": "predict"}, ValueError, r"another than 'predict' .* Got Agglomerative"),
        ({"n_jobs": 0}, ValueError, r"^n_jobs of prediction_strength must be"),
        ({"random_state": "x"}, ValueError, r"^random_state must be"),
        ({"progress": 3}, TypeError, r"^progress of prediction_strength must be a function"),
        ({"estimator": FeatureAgglomeration()}, TypeError, r"^estimator of prediction_strength must be a clusterer"),
    ],
    ids=str,
)
def test_refused(options, error, message):
    with pytest.raises(error, match=message):
        prediction_strength(**{"estimator": KMeans(n_init=1), "X": CLOUD, "n_splits": 2} | options)


def test_a_failure_is_told():
    class Broken(KMeans):
        def fit_predict(self, X, y=None, sample_weight=None):
            raise ArithmeticError("no luck")

    with pytest.raises(
        ValueError, match=r"^prediction_strength must .* Got ArithmeticError: no luck for k = 2 in split 0"
    ):
        prediction_strength(Broken(), CLOUD, [1, 2, 3], n_splits=2)


def test_a_failure_says_nothing_of_the_tasks_that_had_begun():
    class Slow(KMeans):
        def fit_predict(self, X, y=None, sample_weight=None):
            time.sleep(0.01)
            raise ArithmeticError("no luck")

    for _ in range(5):  # warnings are errors here
        with pytest.raises(ValueError, match="no luck"):
            prediction_strength(Slow(), CLOUD, [2, 3], n_splits=8, n_jobs=2)


@pytest.mark.parametrize("seed", range(30))
def test_agreement_is_bitwise_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    n, k = rng.integers(1, 60), rng.integers(1, 8)
    one = rng.integers(k, size=n)
    other = np.where(rng.random(n) < rng.choice([0.5, 1]), one, rng.integers(k, size=n))
    cells = cells_of(one, other, np.ones(n, dtype=np.int64), k, k)
    assert cells.adjusted_rand() == adjusted_rand_score(one, other)
