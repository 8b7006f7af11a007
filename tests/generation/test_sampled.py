"""k-means of many rows that begins on a sample of them."""

import csv
from importlib.resources import files

import numpy as np
import pytest
from click.testing import CliRunner
from limits import limit
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances_argmin

from ensemblage.cli import main
from ensemblage.generation import ProjectionPartitions, RandomKPartitions, SubspacePartitions

KINDS = [RandomKPartitions, SubspacePartitions, ProjectionPartitions]


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(3_000, 6, centers=8, random_state=0)[0]


@pytest.fixture
def low_limits(monkeypatch):
    limit(monkeypatch, "rows of a sample for k-means", 300)
    limit(monkeypatch, "rows of a sample for each cluster", 5)


def sampled(X, k, size):
    """k-means into k clusters that begins on a sample."""
    (model,) = RandomKPartitions(1, k_min=k, k_max=k, sample_size=size, random_state=3).fit(X).estimators_
    assert type(model).__name__ == "SampledKMeans"
    return model


def test_auto_is_20_000_rows_of_100_000():
    at_most = {k: RandomKPartitions(k_max=k)._sample_size_of for k in (100, 101)}
    assert at_most[100](99_999) is None
    assert at_most[100](100_000) == 20_000
    assert at_most[101](100_000) is None
    assert at_most[101](101_000) == 20_200
    assert RandomKPartitions()._sample_size_of(100_000) == 20_000
    assert RandomKPartitions(estimator=KMeans(n_init=1))._sample_size_of(100_000) is None


@pytest.mark.parametrize("kind", KINDS)
def test_none_and_few_rows_are_scikit_learns(kind, blobs):
    (estimator,) = kind(1, random_state=0, sample_size=None).fit(blobs).estimators_
    assert type(estimator if kind is not ProjectionPartitions else estimator[-1]) is KMeans
    made = [kind(2, random_state=0, sample_size=size).fit(blobs) for size in (None, "auto", len(blobs))]
    assert [generator.sample_size_ for generator in made] == [None] * 3
    assert_array_equal(made[0].transform(blobs), made[1].transform(blobs))
    assert_array_equal(made[0].transform(blobs), made[2].transform(blobs))


@pytest.mark.core(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("low_limits")
def test_auto_above_the_limit(kind, dtype, blobs):
    X = blobs.astype(dtype)
    generator = kind(5, random_state=0, n_jobs=2)
    labels = generator.fit_transform(X)
    assert generator.sample_size_ == 300
    assert [name.partition("_")[0] for name in generator.get_feature_names_out()] == ["kmeans"] * 5
    assert_array_equal(generator.transform(X), labels)
    assert_array_equal(kind(5, random_state=0, n_jobs=1).fit_transform(X), labels)
    assert_array_equal(kind(5, random_state=0, sample_size=300).fit_transform(X), labels)


def by_hand(X, k, size, seed):
    """The same steps in plain NumPy."""
    drawn = np.sort(np.random.RandomState(seed).choice(len(X), size, replace=False))
    centres = KMeans(k, n_init=1, random_state=seed).fit(X[drawn]).cluster_centers_
    for _ in range(3):
        labels = pairwise_distances_argmin(X, centres)
        centres = np.array([X[labels == c].mean(axis=0) for c in range(k)])
    return centres, pairwise_distances_argmin(X, centres)


def test_steps_are_lloyds(blobs):
    model = sampled(blobs, 8, 200)
    centres, labels = by_hand(blobs, 8, 200, model.random_state)
    np.testing.assert_allclose(model.cluster_centers_, centres)
    assert_array_equal(model.labels_, labels)
    assert_array_equal(model.predict(blobs), labels)
    assert model.inertia_ == pytest.approx(((blobs - centres[labels]) ** 2).sum())
    assert model.inertia_ < 1.05 * KMeans(8, n_init=10, random_state=0).fit(blobs).inertia_


def test_sparse_rows_in_any_order_of_memory(blobs):
    dense, sparse = sampled(blobs, 8, 200), sampled(csr_array(blobs), 8, 200)
    np.testing.assert_allclose(sparse.cluster_centers_, dense.cluster_centers_)
    columns = sampled(np.asfortranarray(blobs), 8, 200)
    assert_array_equal(columns.cluster_centers_, dense.cluster_centers_)


@pytest.mark.parametrize("n", [16_383, 16_384, 16_385])
def test_sums_of_members_over_blocks(n):
    """A partial sum has 16,384 rows, which never changes. Of whole numbers no sum depends on its order."""
    rng = np.random.default_rng(n)
    X = rng.integers(-9, 9, size=(n, 3)) + 50.0 * (np.arange(n)[:, None] % 5)
    for rows in (X, csr_array(X)):
        model = sampled(rows, 5, 200)
        centres, labels = by_hand(X, 5, 200, model.random_state)
        assert_array_equal(model.labels_, labels)
        np.testing.assert_allclose(model.cluster_centers_, centres, rtol=1e-14)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_cluster_without_rows_is_found_on_all():
    X = np.zeros((1_000, 2))
    X[:3] = [[1e6, 0], [0, 1e6], [1e6, 1e6]]  # of which a sample has none
    model = sampled(X, 4, 20)
    assert sorted(np.bincount(model.labels_)) == [1, 1, 1, 997]


@pytest.mark.parametrize(
    ("generator", "message"),
    [
        (RandomKPartitions(3, sample_size=4, k_max=9), "sample_size of Random.* must be ≥ the number of clusters.* 9"),
        (RandomKPartitions(3, sample_size=90, estimator=MiniBatchKMeans()), "that is not scikit-learn's KMeans"),
        (RandomKPartitions(3, sample_size=90, metric="cosine"), "that is not scikit-learn's KMeans"),
        (RandomKPartitions(3, sample_size="all"), "sample_size of RandomKPartitions must be a whole number ≥ 1"),
        (SubspacePartitions(3, sample_size=0), "sample_size of SubspacePartitions must be a whole number ≥ 1"),
    ],
)
def test_bad_values_get_one_sentence(generator, message, blobs):
    with pytest.raises(ValueError, match=message):
        generator.fit(blobs)


@pytest.mark.usefixtures("low_limits")
def test_another_clusterer_is_left_alone_by_auto(blobs):
    generator = RandomKPartitions(2, estimator=KMeans(n_init=1), random_state=0).fit(blobs)
    assert [type(estimator) for estimator in generator.estimators_] == [KMeans, KMeans]
    named = RandomKPartitions(2, estimator=KMeans(n_init=2), random_state=0, sample_size=200).fit(blobs)
    assert [type(estimator).__name__ for estimator in named.estimators_] == ["SampledKMeans"] * 2
    assert named.estimators_[0].n_init == 2


@pytest.mark.usefixtures("low_limits")
@pytest.mark.parametrize("suffix", ["npz", "npy"])
def test_the_shell_says_it(suffix, blobs, tmp_path):
    table, made = tmp_path / "points.csv", tmp_path / f"made.{suffix}"
    np.savetxt(table, blobs, delimiter=",", header="a,b,c,d,e,f", comments="")
    told = "points.csv: each k-means was fitted on 300 of the 3,000 rows, then 3 steps on all"
    common = ["generate", str(table), "--partitions", "2", "-o", str(made), "--overwrite"]
    assert told in CliRunner().invoke(main, common).stderr
    assert told.replace("300", "400") in CliRunner().invoke(main, [*common, "--sample-size", "400"]).stderr
    assert "each k-means" not in CliRunner().invoke(main, [*common, "--sample-size", "all"]).stderr
    refused = CliRunner().invoke(main, [*common, "--sample-size", "400", "--generator", "mixed"])
    assert refused.exit_code == 2
    assert "--sample-size must be" in refused.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("low_limits")
def test_the_page_says_it(blobs, tmp_path):
    table = tmp_path / "points.csv"
    np.savetxt(table, blobs, delimiter=",", header="a,b,c,d,e,f", comments="")
    command = ["run", str(table), "--partitions", "3", "-k", "8", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(main, command)
    assert done.stderr.count("each k-means was fitted on 300") == 1
    assert "each k-means was fitted on 300 of the 3,000 rows" in (tmp_path / "out" / "report.html").read_text(
        encoding="utf-8"
    )


def test_bad_option():
    refused = CliRunner().invoke(main, ["generate", "x.csv", "-o", "x.npz", "--sample-size", "some"])
    assert refused.exit_code == 2
    assert "--sample-size must be a number of rows, auto, or all" in refused.stderr


def test_the_papers_sets_are_clustered_whole():
    text = files("ensemblage.datasets").joinpath("printed.csv").read_text(encoding="utf-8")
    most = max(int(row["n_objects"]) for row in csv.DictReader(text.splitlines()) if row["n_objects"])
    assert RandomKPartitions(k_min=2, k_max=2)._sample_size_of(most) is None
