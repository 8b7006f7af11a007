"""Partitions written one by one: the labels of fit_transform, and nothing done twice after a crash."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import FitFailedWarning

from ensemblage import Ensemble, __version__
from ensemblage import Ensemble as InMemory
from ensemblage.cli import main
from ensemblage.consensus import KMeansConsensus
from ensemblage.generation import (
    GreedyPartitions,
    MixedPartitions,
    ProjectionPartitions,
    RandomKPartitions,
    ResampledPartitions,
    SubspacePartitions,
    USpecPartitions,
    write_partitions,
)

P = 6


@pytest.fixture(scope="module")
def X():
    return make_blobs(2_500, 4, centers=5, random_state=0)[0]


def mini_batch(n_partitions=P, **options):
    estimator = MiniBatchKMeans(n_init=1, batch_size=256)
    # One after the other: tests count what is made until something stops it.
    one = {"estimator": estimator, "k_max": 9, "random_state": 3, "n_jobs": 1}
    return RandomKPartitions(n_partitions, **{**one, **options})


@pytest.fixture
def made(monkeypatch):
    """Names of the partitions that are made."""
    names, real = [], RandomKPartitions._partition

    def noted(self, X, sample_weight, recipe):
        names.append(recipe.name)
        return real(self, X, sample_weight, recipe)

    monkeypatch.setattr(RandomKPartitions, "_partition", noted)
    return names


GENERATORS = {
    "mini-batch": mini_batch(),
    "mini-batch in threads": mini_batch(n_jobs=3),
    "default": RandomKPartitions(4, k_max=5, random_state=0),
    "cosine": RandomKPartitions(3, k_max=5, metric="cosine", random_state=0),
    "subspace": SubspacePartitions(4, k_max=5, random_state=0),
    "projection": ProjectionPartitions(4, k_max=5, random_state=0),
    "uspec": USpecPartitions(4, k_min=3, k_max=6, n_representatives=20, random_state=0),
    "resampled": ResampledPartitions(4, n_clusters=3, feature_fraction=0.6, random_state=0),
    "mixed": MixedPartitions(3, estimators=[MiniBatchKMeans(n_init=1), MiniBatchKMeans(n_init=2)], random_state=0),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_the_labels_of_fit_transform(tmp_path, X, name):
    generator = GENERATORS[name]
    names = write_partitions(generator, X, tmp_path / "z.npy")
    assert not hasattr(generator, "estimators_")
    found, expected = np.load(tmp_path / "z.npy"), generator.fit_transform(X)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype
    assert names == list(generator.get_feature_names_out())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["z.npy", "z.npy.json"]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
@pytest.mark.parametrize("order", "CF")
def test_features_on_disk(tmp_path, X, dtype, order):
    np.save(tmp_path / "X.npy", np.asarray(X, dtype=dtype, order=order))
    write_partitions(mini_batch(), np.load(tmp_path / "X.npy", mmap_mode="r"), tmp_path / "z.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), mini_batch().fit_transform(X.astype(dtype)))


def test_sparse_features(tmp_path, X):
    sparse = csr_array(np.maximum(X, 0))
    write_partitions(mini_batch(), sparse, tmp_path / "z.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), mini_batch().fit_transform(sparse))


def test_consensus_of_what_was_written(tmp_path, X):
    names = write_partitions(mini_batch(), X, tmp_path / "z.npy")
    E, M = Ensemble.open(tmp_path / "z.npy", names=names), InMemory(mini_batch().fit_transform(X))
    assert E.names == names
    found, expected = (KMeansConsensus(5, n_init=2, random_state=0).fit(labels) for labels in (E, M))
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.confidence_, expected.confidence_)


# -- Going on ---------------------------------------------------------------------------------------------------------

STOPS = """
import sys, time
sys.path.insert(0, {tests!r})
import numpy as np
from test_generation_disk import mini_batch, write_partitions

def stop(done, total):
    if done == 3:
        open({folder!r} + "/z.npy.parts/.half-written", "w").write("x")
        print("stopped", flush=True)
        time.sleep(600)

write_partitions(mini_batch(), np.load({folder!r} + "/X.npy"), {folder!r} + "/z.npy", progress=stop)
"""


def test_a_killed_run_goes_on(tmp_path, X, made):
    np.save(tmp_path / "X.npy", X)
    code = STOPS.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "stopped\n"
        process.kill()
    assert not (tmp_path / "z.npy").exists()
    finished = {path.stem for path in (tmp_path / "z.npy.parts").iterdir() if path.suffix == ".npy"}
    assert len(finished) == 3
    counts = []
    names = write_partitions(mini_batch(), X, tmp_path / "z.npy", progress=lambda *count: counts.append(count))
    assert set(made) == set(names) - finished
    assert counts == [(i + 1, P) for i in range(P)]
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), mini_batch().fit_transform(X))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["X.npy", "z.npy", "z.npy.json"]


def interrupted(path, X, n_done=2):
    def stop(done, total):
        if done == n_done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_partitions(mini_batch(), X, path, progress=stop)


def test_a_broken_part_is_made_again(tmp_path, X, made):
    interrupted(tmp_path / "z.npy", X)
    first, second = made
    part = tmp_path / "z.npy.parts" / f"{first}.npy"
    part.write_bytes(part.read_bytes()[:-3])
    made.clear()
    write_partitions(mini_batch(n_jobs=2, on_error="raise"), X, tmp_path / "z.npy")
    assert set(made) == {*mini_batch().fit(X).get_feature_names_out()} - {second}
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), mini_batch().fit_transform(X))


def test_finished_labels_are_left_alone(tmp_path, X, made):
    path = tmp_path / "z.npy"
    names, written = write_partitions(mini_batch(), X, path), path.stat().st_mtime_ns
    made.clear()
    assert write_partitions(mini_batch(), X, path) == names
    assert (made, path.stat().st_mtime_ns) == ([], written)
    path.unlink()
    write_partitions(mini_batch(), X, path)
    assert len(made) == P


def test_nothing_to_overwrite(tmp_path, X):
    """The same command does for the first time and for every other."""
    for _ in range(2):
        write_partitions(mini_batch(2), X, tmp_path / "z.npy", overwrite=True)
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), mini_batch(2).fit_transform(X))


OTHERS = {
    "random_state = 3, not 4": (mini_batch(random_state=4), 0),
    "k_max = 9, not 8": (mini_batch(k_max=8), 0),
    "n_partitions = 6, not 7": (mini_batch(7), 0),
    r"estimator = MiniBatchKMeans\(batch_size=256, n_init=1\) .* not MiniBatchKMeans\(n_init=1\)": (
        mini_batch(estimator=MiniBatchKMeans(n_init=1)),
        0,
    ),
    r"X = 2500 x 4 float64": (mini_batch(), 1e-9),
}


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("message", OTHERS)
def test_other_labels_are_refused(tmp_path, X, message, finished):
    path = tmp_path / "z.npy"
    if finished:
        write_partitions(mini_batch(), X, path)
    else:
        interrupted(path, X)
    generator, more = OTHERS[message]
    with pytest.raises(ValueError, match=message):
        write_partitions(generator, X + more, path)
    write_partitions(generator, X + more, path, overwrite=True)
    np.testing.assert_array_equal(np.load(path), generator.fit_transform(X + more))


def test_another_version_is_refused(tmp_path, X):
    interrupted(tmp_path / "z.npy", X)
    record = tmp_path / "z.npy.json"
    made_of = json.loads(record.read_text(encoding="utf-8"))["made of"]
    record.write_text(json.dumps({"made of": {**made_of, "ensemblage": "99"}}), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"ensemblage = 99, not {__version__}"):
        write_partitions(mini_batch(), X, tmp_path / "z.npy")


@pytest.mark.parametrize("name", ["z.npy", "z.npy.json"])
def test_what_somebody_else_wrote_stays(tmp_path, X, name):
    (tmp_path / name).write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="is not what write_partitions wrote"):
        write_partitions(mini_batch(), X, tmp_path / "z.npy")
    assert (tmp_path / name).read_text(encoding="utf-8") == "{}"


# -- What goes wrong --------------------------------------------------------------------------------------------------


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_keeps_what_is_finished(tmp_path, X, monkeypatch, made):
    path = tmp_path / "z.npy"
    with monkeypatch.context() as patch:
        saved, save = [], np.save
        patch.setattr(np, "save", lambda *a, **kw: (saved.append(1), save(*a, **kw) if len(saved) < 3 else full())[1])
        with pytest.raises(ValueError, match=r"must have room for the labels twice. Got No space left on device"):
            write_partitions(mini_batch(), X, path)
    assert (path.exists(), len(list((tmp_path / "z.npy.parts").iterdir()))) == (False, 2)
    made.clear()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(ValueError, match="what is finished is kept"):
            write_partitions(mini_batch(), X, path)
    assert (path.exists(), len(made)) == (False, P - 2)
    with monkeypatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1_000))
        with pytest.raises(ValueError, match=r"Got 1e-06 of 6e-05 GB"):
            write_partitions(mini_batch(), X, path)
    write_partitions(mini_batch(), X, path)
    assert len(made) == P - 2


def test_another_error_of_the_disk_is_not_said_to_be_a_full_one(tmp_path, X, monkeypatch):
    def broken(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output error"):
        write_partitions(mini_batch(2), X, tmp_path / "z.npy")


class Fails(ClusterMixin, BaseEstimator):
    """A clusterer that cannot make four clusters."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None):
        if self.n_clusters == 4:
            raise RuntimeError("not four")
        self.labels_ = np.arange(len(X)) % self.n_clusters
        return self


def test_failures(tmp_path, X):
    generator = RandomKPartitions(8, k_min=3, k_max=4, estimator=Fails(), random_state=0)
    with pytest.warns(FitFailedWarning, match="base partitions failed and are left out"):
        expected = generator.fit_transform(X)
    with pytest.warns(FitFailedWarning, match="base partitions failed and are left out") as caught:
        names = write_partitions(generator, X, tmp_path / "z.npy")
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), expected)
    assert names == list(generator.get_feature_names_out())
    generator.set_params(on_error="raise")
    with pytest.raises(ValueError, match="not four"):
        write_partitions(generator, X, tmp_path / "other.npy")
    assert not (tmp_path / "other.npy").exists()


@pytest.mark.parametrize(
    ("generator", "name", "error", "message"),
    [
        (
            mini_batch(random_state=None),
            "z.npy",
            ValueError,
            "random_state of RandomKPartitions must be a whole number",
        ),
        (mini_batch(), "z.csv", ValueError, "must be a .npy file"),
        (mini_batch(), "nowhere/z.npy", FileNotFoundError, "nowhere"),
        (GreedyPartitions(3), "z.npy", TypeError, "do not depend on each other. Got GreedyPartitions"),
        (MiniBatchKMeans(), "z.npy", TypeError, "Got MiniBatchKMeans"),
        (mini_batch(estimator=3), "z.npy", TypeError, "must be a scikit-learn clusterer"),
        (mini_batch(k_max=10**6), "z.npy", ValueError, "k_max of RandomKPartitions must be ≤ the 2500 rows"),
    ],
)
def test_refused(tmp_path, X, generator, name, error, message):
    with pytest.raises(error, match=message):
        write_partitions(generator, X, tmp_path / name)
    assert not list(tmp_path.iterdir())


# -- Command line -----------------------------------------------------------------------------------------------------


def call(*args):
    result = CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def test_generate_on_the_command_line(tmp_path, X):
    data, labels = tmp_path / "X.npy", tmp_path / "z.npy"
    np.save(data, X)
    command = ("generate", data, "--partitions", 4, "-o", labels)
    code, out, err = call(*command)
    assert (code, out) == (0, f"{labels}: 2,500 objects, 4 partitions\n")
    assert "features as they are, mini-batch k-means" in err
    estimator = MiniBatchKMeans(n_init=1, batch_size=10_000)
    expected = RandomKPartitions(4, estimator=estimator, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(np.load(labels), expected)
    assert call(*command)[0] == 0
    code, _, err = call(*command, "--seed", 1)
    assert (code, "random_state = 0, not 1" in err) == (2, True)
    assert call(*command, "--seed", 1, "--overwrite")[0] == 0
    assert call("combine", labels, "-k", 3, "-o", tmp_path / "out.npy")[0] == 0


def test_spectral_clusterings_of_features_on_disk(tmp_path, X):
    np.save(tmp_path / "X.npy", X)
    command = ("generate", tmp_path / "X.npy", "--generator", "uspec", "--partitions", 3, "-o", tmp_path / "z.npy")
    code, _, err = call(*command)
    assert (code, "features as they are, U-SPEC" in err) == (0, True)
    expected = USpecPartitions(3, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), expected)


def test_a_table_to_a_npy_file(tmp_path, X):
    np.savetxt(tmp_path / "x.csv", X[:60], delimiter=",", header="a,b,c,d", comments="")
    for name in ("z.npy", "z.npz"):
        assert call("generate", tmp_path / "x.csv", "--partitions", 4, "-o", tmp_path / name)[0] == 0
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), np.asarray(Ensemble.load(tmp_path / "z.npz")))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["X.npy", "-o", "z.npz"], "must go to a .npy file"),
        (["X.npy", "-o", "z.npy", "--standardize"], "--standardize is for tables"),
        (["X.npy", "-o", "z.npy", "--drop-column", "a"], "--drop-column is for tables"),
        (["X.npy", "-o", "z.npy", "--no-header"], "--header is for tables"),
        (
            ["X.npy", "-o", "z.npy", "--generator", "mixed"],
            "must be one of random-k, subspace, projection, uspec. Got mixed",
        ),
        (
            ["X.npy", "-o", "z.npy", "--generator", "gower"],
            "must be one of random-k, subspace, projection, uspec. Got gower",
        ),
        (["bad.npy", "-o", "z.npy"], "must be one that numpy.save wrote"),
        (["vector.npy", "-o", "z.npy"], r"Got float64 of shape (3,)"),
        (["none.npy", "-o", "z.npy"], "none.npy cannot be read or written: No such file"),
    ],
)
def test_refused_on_the_command_line(tmp_path, X, monkeypatch, args, message):
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", X)
    np.save("vector.npy", np.ones(3))
    (tmp_path / "bad.npy").write_text("no array", encoding="utf-8")
    code, _, error = call("generate", *args)
    assert (code, message in error) == (2, True)
    assert not (tmp_path / "z.npy").exists()


def test_interrupted_on_the_command_line(tmp_path, X):
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys\n"
        "from ensemblage.cli import _generate as disk\n"
        "from contextlib import contextmanager\n"
        "def stop(done, total):\n"
        "    if done == 2: raise KeyboardInterrupt\n"
        "@contextmanager\n"
        "def bar(label, length): yield stop\n"
        "disk.progress_bar = bar\n"
        "from ensemblage.cli import main\n"
        "main(['generate', 'X.npy', '-o', 'z.npy', '--partitions', '4', '--jobs', '1'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.splitlines()[-1].startswith("Interrupted. z.npy.parts keeps the partitions that are finished")
    assert "names" not in json.loads((tmp_path / "z.npy.json").read_text(encoding="utf-8"))
    assert len(list((tmp_path / "z.npy.parts").iterdir())) == 2
