"""``noise="vote"``: an object that most partitions call noise is in no cluster."""

import csv

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from limits import limit
from sklearn.cluster import DBSCAN, HDBSCAN

from ensemblage import METHODS, ConsensusClustering, Ensemble, load, make_consensus
from ensemblage.cli import main
from ensemblage.consensus import KMeansConsensus
from ensemblage.generation import MixedPartitions, ResampledPartitions
from ensemblage.preprocessing import Preprocessor

LABELS = np.array(
    [
        [0, 0, 0, 0],
        [0, 0, 0, -1],
        [0, 0, -1, -1],  # half of them is not most
        [1, -1, -1, -1],
        [-1, -1, -1, -1],
        [1, 1, 1, 1],
        [1, 1, 1, 1],
    ]
)


def test_what_most_call_noise_loses_all_labels():
    voted = np.asarray(Ensemble(LABELS, noise="vote"))
    assert (voted[3:5] == -1).all()
    kept = [0, 1, 2, 5, 6]
    assert (voted[kept] == LABELS[kept]).all()


def test_missing_is_the_default_and_as_before():
    for given in (Ensemble(LABELS), Ensemble(LABELS, noise="missing")):
        assert (np.asarray(given) == LABELS).all()


def naive(labels):
    """Row by row; None is no vote."""
    found = []
    for row in labels.tolist():
        said = [label for label in row if label is not None]
        lost = 2 * said.count(-1) > len(said)
        found.append([None if lost or label in (-1, None) else label for label in row])
    return found


@pytest.mark.parametrize("seed", range(5))
def test_votes_are_counted_as_row_by_row(seed):
    random = np.random.default_rng(seed)
    labels = random.integers(-1, 4, size=(60, 5)).astype(object)
    labels[random.random(size=labels.shape) < 0.2] = None
    voted = np.asarray(Ensemble(labels, noise="vote"), dtype=float)
    expected = np.array([[np.nan if label is None else label for label in row] for row in naive(labels)])
    np.testing.assert_array_equal(np.where(voted == -1, np.nan, voted), expected)


def test_what_is_missing_is_no_vote():
    labels = [[0, 0, None], [-1, None, None], [0, 1, 1], [1, 1, 1]]
    voted = Ensemble(labels, noise="vote")
    assert voted.n_missing == 1 + 3
    assert Ensemble(labels).n_missing == 1 + 3
    labels[1] = [-1, 0, None]
    assert Ensemble(labels, noise="vote").n_missing == 1 + 2


def test_any_number_is_noise_that_missing_names():
    labels = np.where(LABELS == -1, 99, LABELS)
    voted = Ensemble(labels, missing=99, noise="vote")
    np.testing.assert_array_equal(voted.codes, Ensemble(LABELS, noise="vote").codes)


@pytest.mark.parametrize("method", ["km", "acv", "bv", "eac-average", "hbgf", "negmm-wat-kmeans", "majority"])
def test_noise_stays_noise_in_a_consensus(method):
    assert method in METHODS
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1], 30)[:, None] * np.ones(6, dtype=int)
    labels[random.random(labels.shape) < 0.1] = -1
    labels[:5] = -1
    labels[:5, 0] = 0  # one of six thinks otherwise
    model = make_consensus(method, 2).fit(Ensemble(labels, noise="vote"))
    assert (model.labels_[:5] == -1).all()
    assert (model.labels_[5:] >= 0).all()
    assert np.isnan(model.confidence_[:5]).all()
    assert (make_consensus(method, 2).fit(Ensemble(labels)).labels_[:5] >= 0).all()


def test_frames_and_text_columns():
    frame = pd.DataFrame({"hdbscan": [0, 0, -1, -1, 1], "topic": [5, 5, -1, 7, 7], "group": ["a", "a", "a", "b", "b"]})
    voted = np.asarray(Ensemble(frame, noise="vote"))
    assert voted[2].tolist() == [None] * 3
    assert voted[3].tolist() == [None, 7, "b"]


# ---- wherever labels come from ---------------------------------------------------------------------------------------


def many_labels(n, seed=0):
    """(n, 4) labels with noise; one label and one partition's only other label stand in objects that lose them."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, size=(n, 4))
    labels[random.random(labels.shape) < 0.4] = -1
    labels[n // 2] = [9, -1, -1, -1]
    return labels


def same_ensemble(found, labels, **options):
    expected = Ensemble(labels, noise="vote", **options)
    assert found.missing == expected.missing
    np.testing.assert_array_equal(found.codes[:], expected.codes)
    assert found.codes[:].dtype == expected.codes.dtype
    for a, b in zip(found.categories, expected.categories, strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("codes", "counts", "inverse"):
        np.testing.assert_array_equal(getattr(found.distinct, name)[:], getattr(expected.distinct, name)[:])


@pytest.fixture
def small_batches(monkeypatch):
    limit(monkeypatch, "rows that are coded at once", 7)


def test_on_disk(tmp_path, small_batches):
    labels = many_labels(100)
    np.save(tmp_path / "t.npy", labels)
    same_ensemble(Ensemble.open(tmp_path / "t.npy", noise="vote"), labels)
    np.save(tmp_path / "t.npy", np.where(labels < 0, 99, labels))
    same_ensemble(
        Ensemble.open(tmp_path / "t.npy", missing=99, noise="vote"), np.where(labels < 0, 99, labels), missing=99
    )
    np.testing.assert_array_equal(Ensemble.open(tmp_path / "t.npy", missing=99).codes[:], Ensemble(labels).codes)


def test_parquet_parts(tmp_path, small_batches):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(many_labels(60).astype(object), columns=list("abcd"))
    frame["text"] = np.where(np.arange(60) % 2 == 0, "x", "y")
    frame.loc[::7, "b"] = None
    frame["b"] = frame["b"].astype("Int64")
    for i, part in enumerate(np.array_split(np.arange(60), 3)):
        frame.iloc[part].to_parquet(tmp_path / f"part-{i}.parquet", index=False)
    same_ensemble(Ensemble.open(tmp_path, noise="vote"), frame)


def test_a_consensus_of_labels_on_disk_is_that_in_memory(tmp_path, small_batches):
    labels = many_labels(100)
    np.save(tmp_path / "t.npy", labels)
    stored, here = (
        KMeansConsensus(3, random_state=0).fit(E)
        for E in (Ensemble.open(tmp_path / "t.npy", noise="vote"), Ensemble(labels, noise="vote"))
    )
    assert (here.labels_ == -1).any()
    np.testing.assert_array_equal(stored.labels_, here.labels_)
    np.testing.assert_array_equal(stored.confidence_, here.confidence_)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_on_dask():
    distributed = pytest.importorskip("distributed")
    labels, options = many_labels(100), {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options, processes=False) as cluster, distributed.Client(cluster) as client:
        E = Ensemble.from_dask(np.array_split(labels, 5), client=client, noise="vote")
        same_ensemble(E, labels)
        found = KMeansConsensus(3, random_state=0).fit(E).labels_
        with pytest.raises(ValueError, match="missing must be a whole number, the label of noise"):
            Ensemble.from_dask([labels], client=client, missing=None, noise="vote")
    np.testing.assert_array_equal(found, KMeansConsensus(3, random_state=0).fit(Ensemble(labels, noise="vote")).labels_)


def test_partitions():
    labels = many_labels(50)
    same_ensemble(Ensemble.from_partitions((column for column in labels.T), noise="vote"), labels)
    texts = [["a", "b", "a"], [-1, 0, 1], [-1, 0, 0]]
    same_ensemble(Ensemble.from_partitions(texts, noise="vote"), pd.DataFrame(dict(zip("abc", texts, strict=True))))


def test_files(tmp_path):
    frame = pd.DataFrame(many_labels(50), columns=list("abcd"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    same_ensemble(Ensemble.load(tmp_path / "t.csv", noise="vote"), frame)
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    same_ensemble(Ensemble.load(tmp_path / "t.parquet", noise="vote"), frame)


def test_a_voted_ensemble_is_saved_as_it_is(tmp_path):
    E = Ensemble(LABELS, noise="vote")
    E.save(tmp_path / "t.npz")
    np.testing.assert_array_equal(np.asarray(Ensemble.load(tmp_path / "t.npz")), np.asarray(E))
    with pytest.raises(ValueError, match=r"noise of Ensemble.load must be 'missing' for a file that keeps"):
        Ensemble.load(tmp_path / "t.npz", noise="vote")


def test_counted_rows():
    pytest.importorskip("pyarrow")
    E = Ensemble.from_counts(LABELS, noise="vote")
    found = KMeansConsensus(2, random_state=0).fit(E)
    of_objects = KMeansConsensus(2, random_state=0).fit(Ensemble(LABELS, noise="vote"))
    assert (found.labels_ == -1).sum() == 2
    cluster_of = dict(zip(map(tuple, zip(*E.labels.to_pydict().values(), strict=True)), found.labels_, strict=True))
    assert [cluster_of[tuple(row)] for row in LABELS.tolist()] == of_objects.labels_.tolist()
    joined = E.clusters(found).to_pydict()
    assert joined["partition_0"] == E.labels.to_pydict()["partition_0"]  # as they were given
    with pytest.raises(ValueError, match="missing must be a whole number, the label of noise"):
        Ensemble.from_counts(LABELS, missing=None, noise="vote")


def test_obs_of_anndata():
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame(LABELS, columns=[f"leiden_{j}" for j in range(4)], index=[f"c{i}" for i in range(7)]).astype(str)
    adata = anndata.AnnData(np.zeros((7, 1)), obs=obs.astype("category"))
    np.testing.assert_array_equal(
        np.asarray(Ensemble.from_anndata(adata, noise="vote")), np.asarray(Ensemble(LABELS, noise="vote"))
    )


# ---- what generators leave out ---------------------------------------------------------------------------------------


def with_outliers():
    random = np.random.default_rng(0)
    clusters = [random.normal(centre, 0.3, size=(40, 2)) for centre in (0, 5)]
    return np.concatenate([*clusters, [[20.0, 20], [-20, 20], [20, -20]]])


def density_partitions():
    return MixedPartitions(None, estimators=[DBSCAN(eps=1.0), HDBSCAN(min_cluster_size=10, copy=True), DBSCAN(eps=1.5)])


def test_noise_of_a_generator(tmp_path):
    X = with_outliers()
    model = ConsensusClustering(2, generator=density_partitions(), standardize=False, noise="vote", random_state=0).fit(
        X
    )
    assert (model.labels_[-3:] == -1).all()
    assert np.unique(model.labels_[:80]).tolist() == [0, 1]
    voted = Ensemble(density_partitions().fit_transform(X), noise="vote")
    np.testing.assert_array_equal(model.ensemble_.codes, voted.codes)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.predict([[30.0, 30], [5, 5]]).tolist() == [-1, model.labels_[40]]
    model.save(tmp_path / "m.npz")
    assert load(tmp_path / "m.npz").predict([[30.0, 30]]).tolist() == [-1]


def test_one_partition_that_says_otherwise_is_outvoted():
    X, generator = with_outliers(), density_partitions()
    generator.estimators.append(DBSCAN(eps=100.0))
    options = {"generator": generator, "standardize": False, "random_state": 0}
    assert (ConsensusClustering(2, **options).fit(X).labels_[-3:] >= 0).all()
    model = ConsensusClustering(2, noise="vote", **options).fit(X)
    assert (model.labels_[-3:] == -1).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_where_generators_have_no_noise():
    X = with_outliers()
    with pytest.raises(ValueError, match="noise must be 'missing' with a generator that clusters some of the objects"):
        ConsensusClustering(2, generator=ResampledPartitions(5, n_clusters=2), noise="vote").fit(X)
    whole = ResampledPartitions(5, n_clusters=2, fraction=1.0)
    assert (ConsensusClustering(2, generator=whole, noise="vote", random_state=0).fit(X).labels_ >= 0).all()
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "c": ["a", "b"] * 41 + ["a"]})
    with pytest.raises(ValueError, match="noise must be 'missing' where categories are members"):
        ConsensusClustering(
            2, generator=density_partitions(), preprocessor=Preprocessor(categories="member"), noise="vote"
        ).fit(frame)
    with pytest.raises(ValueError, match="noise of ConsensusClustering must be"):
        ConsensusClustering(2, noise="cluster").fit(X)


def test_bad_input():
    with pytest.raises(ValueError, match="noise must be"):
        Ensemble(LABELS, noise="cluster")
    for make in (Ensemble, Ensemble.from_partitions):
        with pytest.raises(ValueError, match="missing must be a whole number, the label of noise"):
            make(LABELS, missing=None, noise="vote")
    with pytest.raises(ValueError, match="noise of an Ensemble must be 'missing' if it is made from another Ensemble"):
        Ensemble(Ensemble(LABELS), noise="vote")


# ---- shell -----------------------------------------------------------------------------------------------------------


def combined(path, *args):
    command = ["combine", str(path), "--method", "km", "-k", "2", "-o", str(path.parent / "out"), "--overwrite", *args]
    return CliRunner().invoke(main, command)


def test_combine(tmp_path):
    pd.DataFrame(LABELS, columns=["a", "b", "c", "d"]).to_csv(tmp_path / "t.csv", index=False)
    for args, n_noise in ((("--noise", "vote"), 2), ((), 1)):
        result = combined(tmp_path / "t.csv", *args)
        assert result.exit_code == 0, result.stderr
        with open(tmp_path / "out" / "labels.csv", newline="", encoding="utf-8") as file:
            clusters = [row["cluster"] for row in csv.DictReader(file)]
        assert clusters.count("-1") == n_noise


def test_combine_on_disk(tmp_path):
    np.save(tmp_path / "t.npy", LABELS)
    for args, n_noise in ((("--noise", "vote"), 2), ((), 1)):
        result = combined(tmp_path / "t.npy", *args, "-o", str(tmp_path / "found.npy"))
        assert result.exit_code == 0, result.stderr
        assert (np.load(tmp_path / "found.npy") == -1).sum() == n_noise
    result = combined(tmp_path / "t.npy", "--noise", "vote", "--missing", "none", "-o", str(tmp_path / "found.npy"))
    assert result.exit_code == 2
    assert "Got None" in result.stderr


def test_what_has_no_labels_is_refused(tmp_path):
    Ensemble(LABELS).save(tmp_path / "t.npz")
    result = combined(tmp_path / "t.npz", "--noise", "vote")
    assert result.exit_code == 2
    assert "--noise vote is for labels. Got a .npz file" in result.stderr
    pd.DataFrame(LABELS, columns=["a", "b", "c", "d"]).to_csv(tmp_path / "t.csv", index=False)
    result = combined(tmp_path / "t.csv", "--noise", "vote", "--missing", "none")
    assert result.exit_code == 2
    assert "Got None" in result.stderr


def test_cells(tmp_path):
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame(LABELS, columns=[f"leiden_{j}" for j in range(4)], index=[f"c{i}" for i in range(7)]).astype(str)
    anndata.AnnData(np.zeros((7, 1)), obs=obs.astype("category")).write_h5ad(tmp_path / "t.h5ad")
    result = combined(tmp_path / "t.h5ad", "--noise", "vote")
    assert result.exit_code == 0, result.stderr
    with open(tmp_path / "out" / "labels.csv", newline="", encoding="utf-8") as file:
        assert [row["cluster"] for row in csv.DictReader(file)].count("-1") == 2
