"""Features on disk and on a Dask cluster: what is found is what is found of the same array in memory, bit by bit."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from limits import limit
from numpy.testing import assert_array_equal
from representatives import first_of

from ensemblage import ConsensusClustering, load, profile
from ensemblage.cli import main
from ensemblage.labels.dask import LostWorkersError
from ensemblage.preprocessing import FeatureBlocks, Preprocessor

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
N, PARTS = 3_000, 4


def part(i, m=3):
    """3,000 objects around three centres; the second feature is in other units, the last one does not vary."""
    rng, centres = np.random.default_rng(i), np.random.default_rng(99).normal(0, 5, (3, m))
    X = centres[rng.integers(0, 3, N)] + rng.normal(size=(N, m))
    X[:, 1] *= 40
    X[:, -1] = 7
    return X


@pytest.fixture(scope="module")
def X():
    return np.concatenate([part(i) for i in range(PARTS)])


@pytest.fixture(scope="module", autouse=True)
def small_samples():
    """600 objects are drawn, and 300 for the trees: several algorithms cluster them quickly."""
    with pytest.MonkeyPatch.context() as patch:
        limit(patch, "objects drawn of more", 600)
        limit(patch, "objects compared by the trees", 300)
        yield


@pytest.fixture(scope="module")
def expected(X, small_samples):
    return ConsensusClustering(3, random_state=1).fit(X)


@pytest.fixture(scope="module")
def client():
    """Two workers in this process that send each other bytes, as processes do; those that are lost are processes."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    cluster = distributed.LocalCluster(**options, processes=False, protocol="tcp")
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks that cut the parts, and sums over as many rows."""
    limit(monkeypatch, "rows of a partial sum of features", 8_192)
    limit(monkeypatch, "rows of a block of features", 8_192)


def assert_same(features, model, expected, folder):
    """Clusters, confidence and what was learned are those of the array."""
    assert_array_equal(features.clusters(model), expected.labels_)
    features.write_clusters(model, folder)
    found = pq.read_table(folder / "clusters")
    assert found.column_names == ["cluster", "confidence", "verdict", "runner_up", "runner_up_share"]
    for name, values in {"cluster": "labels_", "confidence": "confidence_", "runner_up": "runner_up_"}.items():
        assert_array_equal(found[name], getattr(expected, values))
    assert (model.chosen_, model.plan_, model.n_clusters_) == (expected.chosen_, expected.plan_, expected.n_clusters_)
    assert model.preprocessor_.notes_ == expected.preprocessor_.notes_
    new = part(9)[:500]
    assert_array_equal(model.predict(new), expected.predict(new))


@pytest.mark.core(1)
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "kind", first_of(["float32", "wide", "fortran", "float64", "integers", "standardised", "as given"], 2)
)
def test_on_disk(kind, X, tmp_path):
    X = {"float32": X.astype(np.float32), "fortran": np.asfortranarray(X), "integers": (8 * X).astype(np.int32)}.get(
        kind, X
    )
    if kind == "wide":  # neighbours are found without a tree
        X = np.hstack([X, np.random.default_rng(0).normal(size=(len(X), 16))])
    options = {"standardised": {"standardize": True}, "as given": {"standardize": False}}.get(kind, {})
    np.save(tmp_path / "X.npy", X)
    features = FeatureBlocks.open(tmp_path / "X.npy", memory="1GB")
    assert repr(features) == f"FeatureBlocks(12,000 objects, {X.shape[1]} features, on disk)"
    model = ConsensusClustering(3, random_state=1, **options).fit(features)
    in_memory = ConsensusClustering(3, random_state=1, **options).fit(X)
    assert_array_equal(features.clusters(model), in_memory.labels_)
    if kind != "wide":
        assert_same(features, model, in_memory, tmp_path / "out")
    model.save(tmp_path / "model.npz")
    assert_array_equal(features.clusters(load(tmp_path / "model.npz")), in_memory.labels_)


@pytest.mark.core(1)
@pytest.mark.parametrize("kind", ["array", "table"])
def test_one_block_is_scaled_as_in_memory(kind, X, tmp_path):
    """Means have other last bits if they are summed row by row or column by column; an array and a table differ."""
    whole, path = (8 * X).astype(np.int32), tmp_path / f"X.{'npy' if kind == 'array' else 'parquet'}"
    if kind == "array":
        np.save(path, whole)
    else:
        whole = pd.DataFrame(whole, columns=list("abc"))
        whole.to_parquet(path)
    found = ConsensusClustering(3, random_state=1).fit(FeatureBlocks.open(path, memory="1GB"))
    in_memory = ConsensusClustering(3, random_state=1).fit(whole)
    assert_array_equal(found.generator_._fit_X, in_memory.generator_._fit_X)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["length 1", "edge"])
def test_scales_are_kept_on_disk_where_they_are_in_memory(kind, X, tmp_path):
    """Rows of unit length, and a column that few objects have: see test_preprocessor."""
    if kind == "edge":
        X = np.column_stack([X[:, 0], X[:, 1] / 40, 1e-3 * (np.arange(len(X)) % 100 == 99)])
    else:
        X = np.column_stack([X[:, :2] / 500, 1e-4 * np.sin(X[:, 0])])
        X[:, 1] = np.sqrt(1 - X[:, 0] ** 2 - (X[:, 2:] ** 2).sum(axis=1))
    np.save(tmp_path / "X.npy", X)
    found = Preprocessor().fit(X)
    on_disk = Preprocessor()
    on_disk._fit_blocks(FeatureBlocks.open(tmp_path / "X.npy", memory="1GB"))
    assert "keep their scales" in found.notes_[-1]
    assert on_disk.notes_ == found.notes_
    assert_array_equal(on_disk.transform(X), found.transform(X))


@pytest.mark.usefixtures("small_blocks")
def test_a_number_of_clusters_that_is_found(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    features = FeatureBlocks.open(tmp_path / "X.npy")
    model, in_memory = ConsensusClustering(random_state=2).fit(features), ConsensusClustering(random_state=2).fit(X)
    assert_same(features, model, in_memory, tmp_path / "out")
    other = ConsensusClustering(random_state=3).fit(features)
    assert not np.array_equal(other.generator_._fit_X, model.generator_._fit_X)


def test_few_objects_are_all_clustered(X, tmp_path):
    np.save(tmp_path / "X.npy", X[:600])
    features = FeatureBlocks.open(tmp_path / "X.npy")
    model, in_memory = ConsensusClustering(3, random_state=1).fit(features), ConsensusClustering(3, random_state=1)
    assert_same(features, model, in_memory.fit(X[:600]), tmp_path / "out")


def write_parts(folder, names=("a", "b", "c")):
    folder.mkdir()
    for i in range(PARTS):
        pq.write_table(pa.table(dict(zip(names, part(i).T, strict=True))), folder / f"part-{i}.parquet")
    return folder


@pytest.mark.usefixtures("small_blocks")
def test_parquet_parts(expected, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    features = FeatureBlocks.open(write_parts(tmp_path / "X"), scratch=scratch)
    model = ConsensusClustering(3, random_state=1).fit(features)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_array_equal(features.clusters(model), expected.labels_)
    assert len(list(scratch.iterdir())) == 2  # the cells, and the nearest of each object
    del features, model
    assert list(scratch.iterdir()) == []


@pytest.mark.usefixtures("small_blocks")
def test_what_is_found_of_an_array_lies_in_the_folder_that_is_named(X, expected, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    np.save(tmp_path / "X.npy", X)
    features = FeatureBlocks.open(tmp_path / "X.npy", scratch=scratch)
    model = ConsensusClustering(3, random_state=1).fit(features)
    assert_array_equal(features.clusters(model), expected.labels_)
    assert len(list(scratch.iterdir())) == 1
    del features, model
    assert list(scratch.iterdir()) == []


@pytest.mark.usefixtures("small_blocks")
def test_parquet_by_every_suffix(expected, tmp_path):
    write_parts(tmp_path / "X")
    for part in (tmp_path / "X").iterdir():
        part.rename(part.with_suffix(".pq" if part.stem == "part-0" else ".PARQUET"))
    features = FeatureBlocks.open(tmp_path / "X")
    assert_array_equal(features.clusters(ConsensusClustering(3, random_state=1).fit(features)), expected.labels_)
    assert FeatureBlocks.open(tmp_path / "X" / "part-0.pq").names == ["a", "b", "c"]


def test_profile(X, expected, tmp_path):
    features = FeatureBlocks.open(write_parts(tmp_path / "X"))
    model = ConsensusClustering(3, random_state=1).fit(features)
    found = features.profile(model).to_pandas().set_index(["cluster", "variable"])
    for cluster in range(3):
        own = X[expected.labels_ == cluster]
        for j, name in enumerate("ab"):
            row, values = found.loc[cluster, name], own[:, j]
            assert (row.n_objects, row.least, row.largest) == (len(own), values.min(), values.max())
            assert (row["median"], row.q25) == (np.median(values), np.quantile(values, 0.25))
            np.testing.assert_allclose([row["mean"], row.deviation], [values.mean(), values.std()], atol=1e-9)
            spread = X[:, j].std() or 1
            np.testing.assert_allclose(row.difference, (values.mean() - X[:, j].mean()) / spread, atol=1e-9)


# -- on a cluster ------------------------------------------------------------------------------------------------------


def frame_of(i):
    return pd.DataFrame(part(i), columns=["a", "b", "c"])


def given(kind, client):
    if kind == "delayed":
        delayed = pytest.importorskip("dask").delayed
        return [delayed(part)(i) for i in range(PARTS)]
    if kind == "dask array":
        da = pytest.importorskip("dask.array")
        return da.concatenate([da.from_array(part(i), chunks=(N, 3)) for i in range(PARTS)])
    if kind == "dask frame":
        return pytest.importorskip("dask.dataframe").from_map(frame_of, range(PARTS))
    if kind == "frames":
        return [client.submit(frame_of, i) for i in range(PARTS)]
    return [part(i) for i in range(PARTS)] if kind == "arrays" else [client.submit(part, i) for i in range(PARTS)]


@pytest.mark.core(1)
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", first_of(["dask array", "dask frame", "futures", "delayed", "frames", "arrays"], 2))
def test_on_a_cluster(kind, client, expected, tmp_path):
    features = FeatureBlocks.from_dask(given(kind, client), client=client)
    assert features.shape == (12_000, 3)
    assert features.names == (["a", "b", "c"] if "frame" in kind else None)
    model = ConsensusClustering(3, random_state=1).fit(features)
    found = profile(expected, np.concatenate([part(i) for i in range(PARTS)])).to_frame()
    described = features.profile(model).to_pandas()[found.columns]
    if "frame" in kind:
        assert_array_equal(features.clusters(model), expected.labels_)
        assert set(described.variable) == {"a", "b"}
    else:
        pd.testing.assert_frame_equal(described, found, check_dtype=False, check_exact=True)
        assert_same(features, model, expected, tmp_path / "out")


@pytest.mark.usefixtures("small_blocks")
def test_single_precision_on_a_cluster(X, client):
    features = FeatureBlocks.from_dask(np.array_split(X.astype(np.float32), 3), client=client)
    model = ConsensusClustering(3, random_state=1).fit(features)
    in_memory = ConsensusClustering(3, random_state=1).fit(X.astype(np.float32))
    assert_array_equal(features.clusters(model), in_memory.labels_)
    assert_array_equal(model.generator_._fit_X, in_memory.generator_._fit_X)


@pytest.mark.usefixtures("small_blocks")
def test_nothing_of_the_size_of_the_objects_comes_here(client, monkeypatch):
    features = FeatureBlocks.from_dask(given("futures", client), client=client)
    sizes, gather = [], distributed.Client.gather

    def measured(self, *arguments, **options):
        found = gather(self, *arguments, **options)
        sizes.append(max((np.size(array) for array in (found if isinstance(found, list) else [found])), default=0))
        return found

    limit(monkeypatch, "objects clustered by different algorithms", 500)  # that are looked for copies
    limit(monkeypatch, "objects all of which are clustered", 500)
    limit(monkeypatch, "objects among which neighbours are sought, at least", 500)
    limit(monkeypatch, "values among which neighbours are sought", 1_500)
    monkeypatch.setattr(distributed.Client, "gather", measured)
    ConsensusClustering(3, random_state=1).fit(features)
    assert max(sizes) < 12_000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("small_blocks")
def test_a_lost_worker_costs_its_blocks(expected, tmp_path):
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        features = FeatureBlocks.from_dask([client.submit(part, i) for i in range(PARTS)], client=client)
        before = client.run(os.getpid)
        source, calls = type(features._given), []
        reduce = source.reduce

        def losing(self, *arguments):
            calls.append(arguments)
            if len(calls) == 1:
                worker = next(iter(client.scheduler_info()["workers"]))
                client.submit(os._exit, 1, workers=[worker], retries=0, pure=False)
            return reduce(self, *arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(source, "reduce", losing)
            model = ConsensusClustering(3, random_state=1).fit(features)
        assert len(calls) > 1
        assert_same(features, model, expected, tmp_path / "out")
        assert set(client.run(os.getpid).values()) != set(before.values())


@pytest.mark.filterwarnings("ignore")
def test_lost_arrays_are_told_in_one_sentence():
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        features = FeatureBlocks.from_dask([part(i) for i in range(PARTS)], client=client)
        cluster.scale(0)
        deadline = time.monotonic() + 30
        while client.scheduler_info()["workers"] and time.monotonic() < deadline:
            time.sleep(0.05)
        cluster.scale(1)
        with pytest.raises(LostWorkersError, match="one was lost or ran out of memory"):
            ConsensusClustering(3).fit(features)


@pytest.mark.filterwarnings("ignore")
def test_a_client_that_is_closed(X):
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        features = FeatureBlocks.from_dask([part(i) for i in range(PARTS)], client=client)
    with pytest.raises(LostWorkersError, match=r"client must stay open .*\. Got one that is closed\. Connect again"):
        ConsensusClustering(3).fit(features)


DYING = """
import sys, time, distributed
if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        print(cluster.scheduler_address, flush=True)
        time.sleep(300)
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("during", ["fit", "write_clusters"])
def test_a_cluster_that_dies_leaves_nothing(during, tmp_path):
    (tmp_path / "cluster.py").write_text(DYING, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "cluster.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        client = distributed.Client(process.stdout.readline().strip())
        features = FeatureBlocks.from_dask([part(i) for i in range(PARTS)], client=client)
        model = ConsensusClustering(3, random_state=1)
        source, name = type(features._given), "reduce" if during == "fit" else "each"
        method = getattr(source, name)

        def dying(self, *arguments):
            os.killpg(process.pid, signal.SIGKILL)
            return method(self, *arguments)

        if during == "write_clusters":
            model.fit(features)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(source, name, dying)
            with pytest.raises(LostWorkersError, match=r"one was lost or ran out of memory\. Fit again|must stay open"):
                model.fit(features) if during == "fit" else features.write_clusters(model, tmp_path / "out")
        client.close()
    assert [path.name for path in tmp_path.iterdir()] == ["cluster.py"]


def fail(i):
    if i == 2:
        raise KeyError("no such\ncolumn")
    return part(i)


def test_a_task_that_fails_is_named_in_one_sentence(client):
    parts = [client.submit(fail, i, retries=0) for i in range(PARTS)]
    with pytest.raises(ValueError, match=r"Parts of features must be made without an error\. Got KeyError: .no such"):
        FeatureBlocks.from_dask(parts, client=client)


BAD_PARTS = {
    "columns": ([np.ones((3, 2)), np.ones((3, 3))], "same columns. Got 3 columns in part 1, and 2 columns in part 0."),
    "names": ([pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})], "same columns. Got b in part 1, and a in part 0."),
    "types": ([np.ones((3, 2)), np.ones((3, 2), int)], "same types. Got int64 in column 0 of part 1, and float64"),
    "categories": ([pd.DataFrame({"a": pd.Categorical(["x"])})], "must be numbers. Got category in column 'a' of part"),
    "text": ([pd.DataFrame({"a": [1], "b": ["x"]})], "must be numbers. Got "),
    "vectors": ([np.ones(3)], "must be matrices or frames, cut by rows."),
    "none": ([], "Parts of features must be at least one."),
    "no rows": ([np.ones((0, 3))], "must have rows and columns."),
}


@pytest.mark.parametrize("case", BAD_PARTS)
def test_parts_that_are_refused(case, client):
    parts, message = BAD_PARTS[case]
    with pytest.raises(ValueError, match=re.escape(message)):
        FeatureBlocks.from_dask(parts, client=client)


def test_gaps_are_refused_where_they_are(client):
    with pytest.raises(ValueError, match=r"no missing and no infinite numbers .* Got some in column 'x1'\."):
        ConsensusClustering(3).fit(FeatureBlocks.from_dask([np.full((11_000, 2), [1, np.nan])], client=client))


# -- bad input ---------------------------------------------------------------------------------------------------------


def test_what_is_no_features(X, tmp_path):
    with pytest.raises(FileNotFoundError):
        FeatureBlocks.open(tmp_path / "none.npy")
    (tmp_path / "X.txt").write_text("1")
    with pytest.raises(ValueError, match=r"a \.npy file, a \.parquet file or a folder"):
        FeatureBlocks.open(tmp_path / "X.txt")
    np.save(tmp_path / "text.npy", [["a"]])
    with pytest.raises(ValueError, match=r"Got <U1 of shape \(1, 1\)"):
        FeatureBlocks.open(tmp_path / "text.npy")
    np.save(tmp_path / "X.npy", X)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "X.npy").read_bytes()[:-10])
    with pytest.raises(ValueError, match="Got 288,118 of 288,128 bytes"):
        FeatureBlocks.open(tmp_path / "cut.npy")
    with pytest.raises(ValueError, match=r"memory must be ≥ 0\.6 GB for 12,000 objects of 3 features.* Got 0\.3 GB"):
        FeatureBlocks.open(tmp_path / "X.npy", memory="300MB")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"must hold \.parquet files"):
        FeatureBlocks.open(tmp_path / "empty")


PARQUET = {
    "columns": ({"a": [1.0], "c": [1.0]}, "same columns. Got a, c in part-9.parquet, and a, b, c in part-0.parquet."),
    "types": ({"a": [1], "b": [1.0], "c": [1.0]}, "same types. Got int64 in column 'a' of part-9.parquet, and double"),
}


@pytest.mark.parametrize("case", PARQUET)
def test_parts_that_differ(case, tmp_path):
    columns, message = PARQUET[case]
    folder, scratch = write_parts(tmp_path / "X"), tmp_path / "scratch"
    scratch.mkdir()
    pq.write_table(pa.table(columns), folder / "part-9.parquet")
    with pytest.raises(ValueError, match=re.escape(message)):
        FeatureBlocks.open(folder, scratch=scratch)
    assert list(scratch.iterdir()) == []


def test_damage_in_parts(tmp_path):
    (tmp_path / "X").mkdir()
    (tmp_path / "X" / "part.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match="which is not a complete Parquet file"):
        FeatureBlocks.open(tmp_path / "X")


REFUSED = {
    "impute": ({"impute": "mean"}, {}, "impute of ConsensusClustering must be None for features that are not in"),
    "weights": ({}, {"sample_weight": [1]}, "sample_weight of ConsensusClustering must be None"),
    "links": ({}, {"must_link": [[0, 1]]}, "must_link of ConsensusClustering must be None"),
    "many clusters": ({"n_clusters": 201}, {}, "n_clusters must be ≤ 200 for features that are not in memory"),
    "fast": ({"quality": "fast"}, {}, "must be clustered by the default"),
    "another consensus": ({"consensus": "km", "n_clusters": 3}, {}, "must be clustered by the default"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_features_on_disk_do_not_take(case, X, tmp_path):
    parameters, options, message = REFUSED[case]
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ValueError, match=re.escape(message)):
        ConsensusClustering(**parameters).fit(FeatureBlocks.open(tmp_path / "X.npy"), **options)


def test_models_of_something_else(X, expected, tmp_path):
    np.save(tmp_path / "X.npy", X[:11_000])
    features = FeatureBlocks.open(tmp_path / "X.npy")
    with pytest.raises(ValueError, match=r"fitted to these 11,000 objects\. Got a ConsensusClustering of others"):
        features.clusters(expected)
    with pytest.raises(ValueError, match="not fitted yet"):
        features.clusters(ConsensusClustering())


@pytest.fixture
def fitted(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    features = FeatureBlocks.open(tmp_path / "X.npy")
    return features, ConsensusClustering(3, random_state=1).fit(features)


def test_a_full_disk_leaves_nothing(fitted, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    features, model = fitted
    with pytest.raises(ValueError, match=r"must have room for it\. Got No space left on device"):
        features.write_clusters(model, tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_is_there_stays(fitted, tmp_path):
    (tmp_path / "out").mkdir()
    features, model = fitted
    with pytest.raises(ValueError, match="must be a new folder"):
        features.write_clusters(model, tmp_path / "out")
    with pytest.raises(ValueError, match="The folder of the output must exist"):
        features.write_clusters(model, tmp_path / "none" / "out")


# -- in the shell ------------------------------------------------------------------------------------------------------


def test_run_on_disk(X, expected, tmp_path):
    np.save(tmp_path / "X.npy", X)
    arguments = ["run", str(tmp_path / "X.npy"), "-k", "3", "--seed", "1", "--memory", "1GB", "-o"]
    result = CliRunner().invoke(main, [*arguments, str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert_array_equal(pq.read_table(tmp_path / "out" / "clusters")["cluster"], expected.labels_)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert [cluster["size"] for cluster in summary["clusters"]] == np.bincount(expected.labels_).tolist()
    assert_array_equal(load(tmp_path / "out" / "model.npz").predict(X[:50]), expected.predict(X[:50]))
    assert "written" in result.output


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--impute", "mean"], "--impute is for tables that fit into memory"),
        (["--memory", "100MB"], "--memory must be ≥"),
        (["-k", "300"], "must be ≤ 200"),
    ],
)
def test_run_on_disk_refuses(more, message, X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    before = sorted(tmp_path.iterdir())
    result = CliRunner().invoke(main, ["run", str(tmp_path / "X.npy"), *more, "-o", str(tmp_path / "out")])
    assert (result.exit_code, message in result.output) == (2, True), result.output
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
def test_a_killed_run_leaves_no_result(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    command = [sys.executable, "-m", "ensemblage", "run", str(tmp_path / "X.npy"), "-o", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("base partitions"):
            process.send_signal(signal.SIGKILL)
            break
    process.communicate()
    assert not (tmp_path / "out").exists()
    assert [path.name[:5] for path in Path(tmp_path).iterdir() if path.is_dir()] == [".out."]
