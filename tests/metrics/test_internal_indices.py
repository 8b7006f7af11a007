"""Internal indices against scikit-learn, other packages' numbers on iris, and their definitions."""

import naive
import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from limits import limit
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import ON_FRACTIONS

from ensemblage import Ensemble
from ensemblage.metrics import INTERNAL_INDICES, internal_index
from ensemblage.ranking import InternalIndex

LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])

# Iris with its three classes as clusters, by permetrics 2.0.0 (PyPI) ...
PERMETRICS = {
    "ball_hall": 29.765800000000002,
    "xie_beni": 0.21005107926527133,
    "davies_bouldin": 0.7513707094756733,
    "banfield_raftery": -91.15081556202303,
    "ksq_det_w": 0.029287052009763687,
    "det_ratio": 42.66460847884691,
    "calinski_harabasz": 487.33087637489984,
    "log_det_ratio": 563.0054602966432,
    "log_ss_ratio": 1.8916579037717416,
    "silhouette": 0.4672098158508373,
    "wgss": 89.29740000000001,
    "duda_hart": 0.28226343469226034,
    "hartigan": 0.46667185014366963,
    "dunn": 0.05848053214719304,  # its use_modified=False
}
# ... and by permetrics (use_normalized=False) and clusterval 1.0.5 (PyPI) where the published form is asked for.
PUBLISHED = {"ksq_det_w": 198871.89533949588, "pbm": 21.19061326184737, "dunn": 0.05848053214719304}


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def blobs():
    X, z = make_blobs(120, 3, centers=4, cluster_std=2.0, random_state=1)
    return X, (z + (np.arange(120) % 7 == 0)) % 5


@pytest.mark.parametrize("index", PERMETRICS)
def test_iris_by_permetrics(index, iris):
    assert internal_index(*iris, index, variant="ohl") == pytest.approx(PERMETRICS[index], rel=1e-9)


@pytest.mark.parametrize("index", PUBLISHED)
def test_iris_as_published(index, iris):
    assert internal_index(*iris, index) == pytest.approx(PUBLISHED[index], rel=1e-9)


@pytest.mark.parametrize("index", ["calinski_harabasz", "davies_bouldin", "silhouette"])
def test_scikit_learn_has_the_same(index, blobs):
    assert internal_index(*blobs, index) == pytest.approx(getattr(sklearn.metrics, f"{index}_score")(*blobs), rel=1e-12)


@pytest.mark.parametrize("index", sorted(naive.INTERNAL))
def test_definitions(index, blobs, iris):
    for X, z in (blobs, iris):
        assert internal_index(X, z, index) == pytest.approx(naive.INTERNAL[index](X, z), rel=1e-9)


def test_every_index_is_checked_against_something():
    assert set(naive.INTERNAL) | set(PUBLISHED) | {"calinski_harabasz", "davies_bouldin", "silhouette"} == set(
        INTERNAL_INDICES
    )
    assert len({info.acronym for info in INTERNAL_INDICES.values()}) == len(INTERNAL_INDICES) == 18


def test_five_points_on_a_line():
    z = [0, 0, 0, 1, 1]
    assert internal_index(LINE, z) == pytest.approx(0.87286, abs=5e-6)
    assert internal_index(LINE, z, variant="ohl") == pytest.approx(0.92228, abs=5e-6)
    assert internal_index(LINE, z, "wemmert_gancarski") == pytest.approx(0.93631, abs=5e-6)
    assert internal_index(LINE, z, "wemmert_gancarski", variant="ohl") == pytest.approx(1.86601, abs=5e-6)


@pytest.mark.parametrize("index", INTERNAL_INDICES)
@pytest.mark.parametrize("variant", ["published", "ohl"])
def test_direction(index, variant):
    """Five tight clusters that are far apart score better than the same with some objects in the wrong one."""
    X, z = make_blobs(100, 2, centers=[[0, 0], [0, 9], [9, 0], [9, 9], [20, 20]], cluster_std=0.5, random_state=0)
    wrong = np.where(np.arange(100) < 30, (z + 1) % 5, z)
    sign = 1 if INTERNAL_INDICES[index].better(variant) else -1
    if (index, variant) != ("ksq_det_w", "ohl"):  # scaled entries: W says nothing of its size any more
        assert sign * internal_index(X, z, index, variant=variant) > sign * internal_index(
            X, wrong, index, variant=variant
        )


@pytest.mark.parametrize("index", INTERNAL_INDICES)
@pytest.mark.parametrize("variant", ["published", "ohl"])
def test_names_of_clusters_do_not_matter(index, variant, blobs):
    X, z = blobs
    names = np.array(["e", "a", "d", "c", "b"])[z]
    assert internal_index(X, names, index, variant=variant) == pytest.approx(
        internal_index(X, z, index, variant=variant), rel=1e-9
    )


@pytest.mark.parametrize("index", INTERNAL_INDICES)
@pytest.mark.parametrize("variant", ["published", "ohl"])
def test_objects_without_a_cluster_are_left_out(index, variant, blobs):
    X, z = blobs
    partial = np.where(np.arange(120) % 3 == 0, -1, z)
    expected = internal_index(X[partial >= 0], z[partial >= 0], index, variant=variant)
    assert internal_index(X, partial, index, variant=variant) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("index", INTERNAL_INDICES)
def test_degenerate_clusterings_have_no_index(index, blobs):
    X, _ = blobs
    assert np.isnan(internal_index(X, np.zeros(120), index))
    assert np.isnan(internal_index(X, np.arange(120), index))


@pytest.mark.parametrize("index", ["det_ratio", "log_det_ratio"])
def test_singular_scatter(index):
    X = np.column_stack([LINE, LINE])
    assert np.isnan(internal_index(X, [0, 0, 0, 1, 1], index))


def test_banfield_raftery_of_a_singleton():
    z = [0, 0, 0, 0, 1]
    assert np.isnan(internal_index(LINE, z, "banfield_raftery"))
    assert internal_index(LINE, z, "banfield_raftery", variant="ohl") == 1e10


@pytest.mark.parametrize("most_kept", [1, 5, 60])
def test_c_index_of_more_distances_than_are_kept(most_kept, blobs, monkeypatch):
    X, z = blobs
    X = np.round(X)  # many equal distances
    expected = internal_index(X, z, "c_index")
    limit(monkeypatch, "distances that are kept", most_kept)
    limit(monkeypatch, "ranges of distances", 8)
    assert internal_index(X, z, "c_index") == pytest.approx(expected, rel=1e-9)


class OfRowNumbers(InternalIndex):
    """scikit-learn's checks give no features."""

    def fit(self, X, y=None):
        n = np.shape(X)[0] if np.ndim(X) else 0
        return super().fit(X, y, features=np.arange(n, dtype=float)[:, None])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:OfRowNumbers cannot score")
@parametrize_with_checks([OfRowNumbers("wgss")], expected_failed_checks=lambda estimator: ON_FRACTIONS)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def pool(blobs):
    X, z = blobs
    rng = np.random.default_rng(0)
    noisy = [np.where(rng.random(120) < share, rng.integers(5, size=120), z) for share in (0.5, 0.2, 0.9)]
    return X, np.column_stack([*noisy, np.where(rng.random(120) < 0.2, -1, z)])


@pytest.mark.parametrize("index", INTERNAL_INDICES)
@pytest.mark.parametrize("variant", ["published", "ohl"])
def test_ranker_scores_each_member(index, variant, pool):
    X, labels = pool
    ranker = InternalIndex(index, variant=variant).fit(labels, features=X)
    expected = [internal_index(X, z, index, variant=variant) for z in labels.T]
    assert_allclose(ranker.scores_, expected, rtol=1e-9)
    best = np.argmax(expected) if ranker.greater_is_better else np.argmin(expected)
    assert ranker.order_[0] == best


@pytest.mark.parametrize("index", ["c_index", "dunn", "silhouette", "wgss"])
def test_threads_do_not_matter(index, pool):
    X, labels = pool
    one, two = (InternalIndex(index, n_jobs=n_jobs).fit(labels, features=X) for n_jobs in (1, 2))
    assert_array_equal(one.scores_, two.scores_)


def test_degenerate_members_come_last_and_are_named(pool):
    X, labels = pool
    ensemble = Ensemble(np.column_stack([np.zeros(120, dtype=int), labels]), names=["all in one", "a", "b", "c", "d"])
    with pytest.warns(UserWarning, match=r"InternalIndex cannot score 1 partition: all in one\. Ranked last"):
        ranker = InternalIndex().fit(ensemble, features=X)
    assert ranker.order_[-1] == 0


def test_violations_are_counted_but_not_added(pool):
    X, labels = pool
    free = InternalIndex().fit(labels, features=X)
    ranker = InternalIndex().fit(labels, features=X, must_link=[[0, 1], [2, 3]])
    assert_array_equal(ranker.scores_, free.scores_)
    assert ranker.violations_.max() > 0


@pytest.mark.parametrize(
    ("parameters", "features", "message"),
    [
        ({}, None, "features of InternalIndex must be given. Got None"),
        ({}, [[0.0]] * 4, "features must have one row for each of the 5 objects .* Got 4"),
        ({}, [[np.nan]] * 5, "must be a matrix of finite numbers, .* Got nan"),
        ({"measure": "SI"}, LINE, "measure of InternalIndex must be one of 'ball_hall', .* Got 'SI'"),
        ({"variant": "permetrics"}, LINE, "variant of InternalIndex must be one of 'published', 'ohl'"),
    ],
)
def test_bad_input(parameters, features, message):
    with pytest.raises(ValueError, match=message):
        InternalIndex(**parameters).fit([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1]], features=features)


def test_bad_names():
    with pytest.raises(ValueError, match="measure of internal_index must be one of"):
        internal_index(LINE, [0, 0, 0, 1, 1], "gap")
    with pytest.raises(ValueError, match="one label for each of the 5 objects"):
        internal_index(LINE, [0, 0, 1, 1])


@pytest.mark.parametrize("index", INTERNAL_INDICES)
def test_distances_of_all_objects_are_taken_once_for_all_members(monkeypatch, index):
    """They are what takes the time of these indices: no member asks for its own."""
    X, labels = make_blobs(40, random_state=0)[0], np.arange(40)[:, None] % [2, 3, 4]

    def fail(*_):
        pytest.fail("distances for one member")

    monkeypatch.setattr("ensemblage.metrics._internal._geometry.distance_sums", fail)
    monkeypatch.setattr("ensemblage.metrics._internal._geometry.SortedDistances", fail)
    assert len(InternalIndex(index).fit(labels, features=X).scores_) == 3


def test_features_in_lists_and_frames():
    X, labels = make_blobs(30, random_state=0)[0], np.arange(30)[:, None] % [2, 3]
    expected = InternalIndex("silhouette").fit(labels, features=X).scores_
    for given in (X.tolist(), pd.DataFrame(X, index=range(30, 0, -1))):
        assert_array_equal(InternalIndex("silhouette").fit(labels, features=given).scores_, expected)


@pytest.mark.parametrize(("n_unscored", "named"), [(5, r"0, .*_4\. Ranked"), (6, r"0, .*_4, \.\.\.\. Ranked")])
def test_five_of_those_without_a_score_are_named(n_unscored, named):
    X, labels = make_blobs(30, random_state=0)[0], np.zeros((30, n_unscored + 1), dtype=int)
    labels[:, -1] = np.arange(30) % 2
    with pytest.warns(UserWarning, match=f"cannot score {n_unscored} partitions: partition_{named} last"):
        InternalIndex("silhouette").fit(labels, features=X)
