"""The leaderboard: sets in the suites' layout, scores, limits of a cell, resuming, statistics."""

import csv
import gzip
import importlib.util
import itertools
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import test_own_consensus as own
from click.testing import CliRunner
from scipy.stats import wilcoxon
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from ensemblage import ConsensusClustering
from ensemblage.cli import main
from ensemblage.consensus import METHODS
from ensemblage_lab._benchmark import PLANS
from ensemblage_lab._store import Result, Store
from ensemblage_lab._worker import Done, Limits, OutOfTimeError, Worker
from ensemblage_lab.benchmark import Board, Request, _entries, benchmark, status
from ensemblage_lab.benchmark._board import Row, Scope, bootstrap, holm, nemenyi, signed_ranks
from ensemblage_lab.benchmark._entries import BASELINES, FEATURES, N_TRIED, RULES, Entry, entries_of, make_pool, solve
from ensemblage_lab.benchmark._kinds import Traits, traits_of
from ensemblage_lab.benchmark._run import GIVEN_UP, RESULTS, Unit, _choose_sets, _Run, _stays, _turn
from ensemblage_lab.benchmark._scores import clustering_accuracy, numbers_of, pack_labels, score, unpack_labels
from ensemblage_lab.benchmark._sets import copies, find_sets


def write_set(folder, name, X, *references):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(f"{path}.data.gz", "wt") as file:
        np.savetxt(file, X)
    for i, labels in enumerate(references):
        with gzip.open(f"{path}.labels{i}.gz", "wt") as file:
            np.savetxt(file, labels, fmt="%d")


@pytest.fixture
def suite(tmp_path):
    """Two batteries: two blobs with noise and a second reference, three blobs, a set that is broken."""
    random = np.random.default_rng(0)
    two = np.concatenate([random.normal(c, 0.3, (15, 2)) for c in (0, 5)])
    y = np.repeat([1, 2], 15)
    noisy = y.copy()
    noisy[3] = 0
    write_set(tmp_path / "suite" / "data", "a/two", two, noisy, np.arange(30) % 3 + 1)
    three = np.concatenate([random.normal(c, 0.3, (12, 2)) for c in (0, 5, 10)])
    write_set(tmp_path / "suite" / "data", "b/three", three, np.repeat([1, 2, 3], 12))
    write_set(tmp_path / "suite" / "data", "b/broken", three, np.ones(36))
    results = tmp_path / "suite" / "results"
    for method in ("one", "other", "third"):
        path = results / method / "b" / "three.result3.gz"
        path.parent.mkdir(parents=True)
        with gzip.open(path, "wt") as file:
            file.write('"x","y"\n' + "".join(f"{label},1\n" for label in np.repeat([1, 2, 3], 12)))
    return tmp_path / "suite"


# -- sets and scores ---------------------------------------------------------------------------------------------------


def test_sets_of_a_suite_and_of_a_folder(suite, tmp_path):
    two, broken, three = sorted(find_sets(suite), key=lambda one: (one.battery, one.name != "b/broken"))
    assert (two.name, two.battery, two.X.shape, two.k) == ("a/two", "a", (30, 2), 2)
    assert [len(np.unique(r)) for r in two.references] == [3, 3]
    assert sorted(three.published) == ["one", "other", "third"]
    assert two.published == {}
    with pytest.raises(ValueError, match="at least two classes"):
        _ = broken.X
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("x,y,label\n" + "".join(f"{7 * i % 5},{i * i},{'ab'[i % 2]}\n" for i in range(8)))
    (table,) = find_sets(None, [tmp_path])
    assert (table.name, table.k, table.X.shape) == (f"{tmp_path.name}/t", 2, (8, 2))
    assert table.fingerprint != two.fingerprint
    with pytest.raises(ValueError, match="data must be folders with"):
        find_sets(None, [suite / "results"])


def test_the_folder_of_a_set_is_its_battery(tmp_path):
    for folder, column in (("one", "label"), ("two", "class"), ("more/one", "label")):
        (tmp_path / folder).mkdir(parents=True)
        with gzip.open(tmp_path / folder / "t.csv.gz", "wt") as file:
            file.write(f"x,{column}\n" + "".join(f"{i * i / 7},{'ab'[i % 2]}\n" for i in range(8)))
    sets = find_sets(None, [tmp_path / "one", tmp_path / "two"])
    with pytest.raises(ValueError, match=r"data must be folders with <name>\.csv\.gz\. Got '.*tow', which has none"):
        find_sets(None, [tmp_path / "one", tmp_path / "tow"])  # a name mistyped
    assert [(one.name, one.k, one.X.shape) for one in sets] == [("one/t", 2, (8, 1)), ("two/t", 2, (8, 1))]
    with pytest.raises(ValueError, match=r"different names\. Got one twice"):
        find_sets(None, [tmp_path / "one", tmp_path / "more" / "one"])


def test_noise_is_not_scored_and_the_best_reference_counts(suite):
    (two,) = (one for one in find_sets(suite) if one.name == "a/two")
    labels = np.repeat([0, 1], 15)
    assert score(two.references, labels) == {"ari": 1, "ami": 1, "nca": 1}
    labels[3] = 1  # the noise
    assert score(two.references, labels)["ari"] == 1
    assert score(two.references, np.arange(30) % 3)["ari"] == 1
    labels[0] = -1
    assert score(two.references, labels)["ari"] < 1


def test_labels_are_kept_as_they_are():
    for n in (5, 70_000):
        labels = np.arange(n) % 3 - 1
        np.testing.assert_array_equal(unpack_labels(pack_labels(labels), n), labels)
    np.testing.assert_array_equal(unpack_labels(pack_labels(np.array([7, 7, -1, 2])), 4), [1, 1, -1, 0])
    numbers = numbers_of([np.array([1, 1, 2, 0])], np.array([0, 0, -1, 0]), np.array([0.5, 0.25]))
    assert (numbers["ari"], numbers["k"], numbers["best_member"], numbers["mean_member"]) == (1, 1, 0.5, 0.375)


def test_a_set_that_stands_twice_is_found(tmp_path):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 3)), np.repeat([1, 2, 3], 20)
    order = random.permutation(60)
    write_set(tmp_path, "a/one", X, y)
    write_set(tmp_path, "b/again", 10 * X[order][:, ::-1] + 5, y[order])
    write_set(tmp_path, "b/other", random.normal(size=(60, 3)), y)
    write_set(tmp_path, "b/classes", X, np.repeat([1, 2], [20, 40]))
    assert copies(find_sets(tmp_path)) == {"b/again": "a/one"}


@pytest.mark.parametrize(("n", "m"), [(60, 2), (900, 2), (3_000, 1), (300, 100)])
def test_draws_of_one_distribution_are_no_copies(n, m):
    random, y = np.random.default_rng(0), np.repeat([1, 2, 3], n // 3)
    draws = [random.normal(size=(n, m)) + 3 * y[:, None] for _ in range(3)]
    written = draws[0].astype(np.float32).astype(np.float64)
    sets = [SimpleNamespace(name=i, whole=X, references=[y]) for i, X in enumerate([*draws, written])]
    assert copies(sets) == {3: 0}


def gz(path, data):
    path.write_bytes(gzip.compress(data))


def broken_sets(folder):
    """Sets that cannot be scored on, each in its own way."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.arange(12) % 2 + 1
    for name in ("one_line", "two_columns", "short", "words", "torn", "no_gzip", "one_class", "gone"):
        write_set(folder, f"b/{name}", X, y)
    gz(folder / "b" / "one_line.labels0.gz", b"1\n")
    gz(folder / "b" / "two_columns.labels0.gz", b"1 2\n" * 12)
    gz(folder / "b" / "short.labels0.gz", b"1\n2\n1\n")
    gz(folder / "b" / "words.data.gz", b"a b\n" * 12)
    torn = folder / "b" / "torn.data.gz"
    torn.write_bytes(torn.read_bytes()[:-20])
    (folder / "b" / "no_gzip.data.gz").write_bytes(b"1 2\n" * 12)
    write_set(folder, "b/one_class", X, y, 2 * np.ones(12))
    (folder / "b" / "gone.labels0.gz").unlink()
    write_set(folder, "a/fine", X, np.where(y == 2, -1, y), y)
    write_set(folder, "a/good", X + 1, np.r_[-1, y[1:]])
    return {f"b/{name}" for name in ("one_line", "two_columns", "short", "words", "torn", "no_gzip", "gone")}


def test_a_set_that_cannot_be_read_is_left_out_with_a_reason(tmp_path):
    broken = broken_sets(tmp_path / "suite")
    chosen = _choose_sets(Request(tmp_path / "out", tmp_path / "suite"))
    assert set(chosen.left_out) == broken | {"b/one_class", "a/fine"}
    assert all(chosen.left_out.values())
    assert list(chosen.sets) == ["a/good"]
    assert chosen.sets["a/good"].references[0].tolist()[:3] == [0, 2, 1]  # a class below 1 is noise


def test_results_of_a_suite_are_found_from_its_data_too(suite):
    found = {one.name: one for one in find_sets(suite / "data")}
    assert sorted(found["b/three"].published) == ["one", "other", "third"]


def test_kinds_of_sets():
    angle = np.linspace(0, np.pi, 40)
    moons = np.concatenate(
        [np.column_stack([np.cos(angle), np.sin(angle)]), np.column_stack([1 - np.cos(angle), 0.4 - np.sin(angle)])]
    )
    y = np.repeat([1, 2], 40)
    assert traits_of(moons, y).kinds()["shape"] == "long or bent"
    random = np.random.default_rng(0)
    blobs = np.concatenate([random.normal(c, 0.1, (n, 60)) for c, n in ((0, 50), (1, 10))])
    assert traits_of(blobs, np.repeat([1, 2], [50, 10])).kinds() == {
        "objects": "up to 300",
        "features": "more than 50",
        "classes": "2",
        "balance": "unbalanced",
        "shape": "compact",
    }
    # Noise does not count.
    assert traits_of(np.append(moons, [[50, 50]], axis=0), np.append(y, 0)) == traits_of(moons, y)
    assert traits_of(random.normal(size=(80, 2)), y).kinds()["shape"] == "overlapping"


def test_clustering_accuracy_is_that_of_the_best_matching():
    random = np.random.default_rng(0)
    for k, q in [(2, 2), (3, 2), (2, 4), (4, 4)]:
        classes, labels = random.integers(k, size=40), random.integers(q, size=40)
        classes[:k], labels[:q] = range(k), range(q)
        shares = [[np.mean(labels[classes == i] == j) for j in range(q)] + [0.0] * k for i in range(k)]
        best = max(
            sum(shares[i][s] for i, s in enumerate(order)) / k for order in itertools.permutations(range(q + k), k)
        )
        assert clustering_accuracy(classes, labels) == pytest.approx((best - 1 / k) / (1 - 1 / k))
    assert clustering_accuracy(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])) == 1


# -- entries -----------------------------------------------------------------------------------------------------------


def test_every_method_takes_part():
    for pool in ("random-k", "diverse", "both", "published"):
        entries = entries_of(pool)
        assert {e.name for e in entries if e.kind == "consensus" and e.knows_k} == set(METHODS)
        found = {e.name for e in entries if e.kind == "consensus" and not e.knows_k}
        assert found == {name for name, method in METHODS.items() if method.finds_k}
        assert any(e.kind == "selector" for e in entries)
    assert {e.name for e in entries_of(FEATURES)} == {*BASELINES, *RULES}


@pytest.mark.core(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*BASELINES, *RULES])
def test_baselines_find_blobs(name, monkeypatch):
    monkeypatch.setattr(_entries, "MOST_K", 5)
    monkeypatch.setattr(_entries, "choose_k", lambda X, ks, **settings: SimpleNamespace(best=3))  # it takes a while
    random = np.random.default_rng(0)
    X = np.concatenate([random.normal(c, 0.3, (15, 2)) for c in ((0, 0), (0, 5), (5, 0))])
    entry = Entry(name, "baseline", name in BASELINES)
    with threadpool_limits(1):
        labels = solve(entry, X, None, 3, 0)
        assert adjusted_rand_score(np.repeat([0, 1, 2], 15), labels) > 0.9
        np.testing.assert_array_equal(labels, solve(entry, X, None, 3, 0))


@pytest.mark.filterwarnings("ignore")
def test_entries_on_pools_and_from_outside():
    random = np.random.default_rng(0)
    X = np.concatenate([random.normal(c, 0.3, (20, 2)) for c in (0, 5)])
    truth = np.repeat([0, 1], 20)
    members = make_pool("random-k", X, 0)
    assert members.shape == (40, 50)
    assert (make_pool("random-k", X, 1) != members).any()
    assert make_pool("both", X, 0).shape[1] > 50
    for entry in (Entry("km", "consensus", True), Entry("sklearn.cluster:HDBSCAN", "clusterer", False)):
        labels = solve(entry, X, members if entry.kind == "consensus" else None, 2, 0)
        assert adjusted_rand_score(truth, labels) > 0.9
    np.testing.assert_array_equal(
        solve(Entry("sklearn.cluster:HDBSCAN", "clusterer", False), X, None, 2, 0), HDBSCAN(copy=True).fit_predict(X)
    )
    for name in ("discotec", "aari", "silhouette"):
        chosen = solve(Entry(name, "selector", False), X, members, 2, 0)
        assert any((chosen == column).all() for column in members.T)
    combiner = Entry("ensemblage.consensus:KMeansConsensus", "combiner", True)
    assert adjusted_rand_score(truth, solve(combiner, X, members, 2, 0)) > 0.9


@pytest.mark.slow
def test_the_input_is_that_of_the_command(tmp_path):
    """Another scale, a category, a gap: the default answers as `ensemblage run` does."""
    random = np.random.default_rng(3)
    y = np.arange(60) % 3
    rows = [
        f"{1000 * random.normal(3 * c):.3f},{random.normal(2 * c):.4f},{'rgb'[c if random.random() < 0.8 else 0]},{c}"
        for c in y
    ]
    rows[7] = "," + rows[7].split(",", 1)[1]
    text = "a,b,colour,label\n" + "\n".join(rows) + "\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    gz(tmp_path / "t.csv.gz", text.encode())
    (one,) = find_sets(None, [tmp_path])
    arguments = [
        "run",
        tmp_path / "t.csv",
        "-k",
        3,
        "--truth-column",
        "label",
        "--impute",
        "median",
        "-o",
        tmp_path / "o",
    ]
    done = CliRunner().invoke(main, [*map(str, arguments), "--seed", "0"])
    assert done.exit_code == 0, done.stderr
    with open(tmp_path / "o" / "labels.csv", newline="", encoding="utf-8") as file:
        labels = [int(row["cluster"]) for row in csv.DictReader(file)]
    assert solve(Entry("default", "baseline", True), one.whole, None, 3, 0).tolist() == labels


class Plain:
    """A user's class that is no estimator of scikit-learn; it labels with what it was told."""

    def __init__(self, n_clusters=2, random_state=None):
        self.told = n_clusters, random_state

    def fit(self, X):
        self.labels_ = np.resize([*range(self.told[0]), self.told[1]], len(X))
        return self


def test_classes_that_are_no_estimators_join_too():
    entry = next(e for e in entries_of(FEATURES, ("test_benchmark:Plain",)) if e.kind == "clusterer")
    assert entry.column == "k known"
    X = np.zeros((6, 2))
    assert solve(entry, X, None, 3, 9).tolist() == [0, 1, 2, 9, 0, 1]
    combiner = next(e for e in entries_of("both", (), ("test_benchmark:Plain",)) if e.kind == "combiner")
    assert solve(combiner, X, np.zeros((6, 3), dtype=int), 2, 9).tolist() == [0, 1, 9, 0, 1, 9]
    mixture = Entry("sklearn.mixture:GaussianMixture", "clusterer", True)
    points = np.random.default_rng(0).normal(size=(60, 2)) + 9 * (np.arange(60) % 3)[:, None]
    assert len(set(solve(mixture, points, None, 3, 0).tolist())) == 3
    (found,) = (e for e in entries_of(FEATURES, ("sklearn.cluster:HDBSCAN",)) if e.kind == "clusterer")
    assert found.column == "k found"


# -- limits ------------------------------------------------------------------------------------------------------------


def slow(seconds):
    time.sleep(seconds)
    return "done"


def large(megabytes):
    block = np.ones(int(megabytes * 125_000))
    time.sleep(0.5)
    return block[0]


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def briefly_large(megabytes):
    np.ones(int(megabytes * 125_000))


def dies_at(last, item):
    if item == last:
        os._exit(3)
    return item


def fails(of):
    raise ValueError("One sentence.\nAnd a second line.")


@pytest.mark.slow
def test_a_cell_ends_at_its_limits():
    worker = Worker(Limits(seconds=2, gigabytes=0.3))
    try:
        assert worker.do(slow, 0).value == "done"
        assert worker.do(fails, 0).error == "ValueError: One sentence."
        done = worker.do(slow, 30)
        assert (done.value, done.error) == (None, "not finished: more than 2 s")
        assert worker.do(large, 50).value == 1
        assert worker.do(large, 450).error == "not finished: more than 0.3 GB"
        # One that ends takes only its own item with it.
        done = list(worker.each(dies_at, (2,), [1, 2, 3]))
        assert [one.value for one in done] == [1, None, 3]
        assert done[1].error == "the process died"
    finally:
        worker.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of the memory is read from /proc")
def test_the_peak_of_memory_is_that_of_each_cell_however_short():
    worker = Worker(Limits())
    try:
        found = [done.megabytes for done in worker.each(briefly_large, (), [1, 200, 1, 100, 1])]
        np.testing.assert_allclose(found, [1, 200, 1, 100, 1], atol=3)
        assert worker.do(spin, 0.3).seconds == pytest.approx(0.3, abs=0.1)
        worker.limits = Limits(seconds=0.5)
        assert worker.do(spin, 20).error == "not finished: more than 0 s"
    finally:
        worker.close()


@pytest.mark.slow
def test_at_the_end_work_is_given_up():
    worker = Worker(Limits(), time.monotonic() + 600)
    try:
        assert worker.do(slow, 0).value == "done"
        worker.end = time.monotonic() + 1
        with pytest.raises(OutOfTimeError):
            worker.do(slow, 60)
        assert not worker._lives()
    finally:
        worker.close()


def test_what_was_not_finished_is_done_again_with_higher_limits(tmp_path):
    def stays(error, **asked):
        limits = Limits(asked.pop("seconds", 60.0), asked.pop("gigabytes", 4.0))
        return _stays(Result(None, error, 0.0), Request(tmp_path, limits=limits, **asked))

    for error in ("not finished: more than 60 s", "not finished: not tried with 60 s and 4 GB, as it was not on a/b"):
        assert [stays(error, seconds=s) for s in (30.0, 60.0, 61.0)] == [True, True, False]
    assert [stays("not finished: more than 4.0 GB", gigabytes=g) for g in (2.0, 4.0, 5.0)] == [True, True, False]
    assert [stays("no pool: not finished: more than 300 s", seconds=s) for s in (60.0, 61.0)] == [True, False]
    assert stays("ValueError: 60 s")
    assert not stays("ValueError: x", retry=True)
    assert not stays("not finished: more than 60 s", retry=True)
    assert _stays(Result({"ari": 1}, None, 0.0), Request(tmp_path, retry=True))


@pytest.mark.slow
def test_a_process_whose_run_was_killed_ends_quietly():
    worker = Worker(Limits())
    worker.do(slow, 0)
    worker._pipe.send(((slow, ()), 0.2))
    worker._pipe.close()
    worker._process.join(20)
    assert worker._process.exitcode == 0


# -- whole runs --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_its_files_and_the_rerun(suite, tmp_path):
    only = "k-means,km,acv,discotec,hdbscan,sklearn.cluster:HDBSCAN"
    arguments = ["benchmark", "--suite", str(suite), "--pools", "random-k,published", "--only", only]
    arguments += ["--seeds", "2", "--method", "sklearn.cluster:HDBSCAN", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.stderr
    assert "b/broken: left out" in done.stderr
    with open(tmp_path / "out" / "cells.csv", encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert {cell["set"] for cell in cells} == {"a/two", "b/three"}
    assert {cell["entry"] for cell in cells} == set(only.split(","))
    assert all(cell["error"] == "" and float(cell["ari"]) > 0.5 for cell in cells if cell["entry"] == "k-means")
    assert {cell["pool"] for cell in cells if cell["set"] == "b/three"} == {"features", "random-k", "published"}
    with gzip.open(tmp_path / "out" / "labels" / "km_random_k" / "b" / "three.result3.gz", "rt") as file:
        lines = file.read().split()
    assert (lines[0], len(lines), set(lines[1:])) == ('"km_random_k"', 37, {"1", "2", "3"})
    with open(tmp_path / "out" / "ranks.csv", newline="", encoding="utf-8") as file:
        ranks = [row for row in csv.DictReader(file) if row["scope"] == "k is known"]
    assert {row["entry"] for row in ranks} == {"k-means", "km on random-k", "acv on random-k"}
    assert sum(float(row["mean_rank"]) for row in ranks) == 6
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "k-means" in page
    assert "By battery (number of sets)" in page
    assert "Numbers of clusters" in page
    before = (tmp_path / "out" / "leaderboard.csv").read_text(encoding="utf-8")
    done = CliRunner().invoke(main, arguments)
    assert "0 cells to do" in done.stderr
    assert (tmp_path / "out" / "leaderboard.csv").read_text(encoding="utf-8") == before
    shown = CliRunner().invoke(main, [*arguments, "--status"])
    assert shown.exit_code == 0
    assert "random-k of a part" in shown.output


@pytest.mark.slow
def test_what_fails_counts_and_is_done_again(suite, tmp_path):
    told = []
    request = Request(
        tmp_path / "out",
        suite,
        pools=(),
        seeds=1,
        sets=("b/three",),
        methods=("test_benchmark:Fails",),
        only=("ward", "test_benchmark:Fails"),
    )
    benchmark(request, told.append)
    (pool, n, of, failed), *_ = status(request)
    assert (pool, n, of, failed) == ("features", "2", "2", "1")
    assert "RuntimeError: never" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "out" / RESULTS).exists()
    benchmark(request, told.append)
    *_, cells, submission = told
    assert cells.startswith("0 cells")
    assert submission.endswith("submission.json has the results of your methods")
    benchmark(Request(**{**vars(request), "retry": True}), told.append)
    assert any(text.startswith("2 cells") for text in told)


@pytest.mark.slow
def test_a_killed_run_goes_on(suite, tmp_path):
    only = "ward,average,km,acv,eac-single,hdbscan"
    arguments = [
        "benchmark",
        "--suite",
        str(suite),
        "--pools",
        "random-k",
        "--only",
        only,
        "--sets",
        "b",
        "--seeds",
        "1",
    ]
    arguments += ["-o", str(tmp_path / "out")]
    results = tmp_path / "out" / RESULTS
    running = subprocess.Popen([sys.executable, "-m", "ensemblage", *arguments], stderr=subprocess.DEVNULL)
    try:
        while n_results(results) < 3:
            assert running.poll() is None
            time.sleep(0.05)
    finally:
        running.kill()
        running.wait()
    n_before = n_results(results)
    assert not (tmp_path / "out" / "index.html").exists()
    done = CliRunner().invoke(main, [*arguments, "--minutes", "0"])
    assert done.exit_code == 0, done.stderr
    assert "cells are left: the same command goes on" in done.stderr
    assert "Not run yet" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    done = CliRunner().invoke(main, [*arguments, "--jobs", "2"])
    assert done.exit_code == 0, done.stderr
    assert f"{18 - n_before} cells to do" in done.stderr
    # The same labels as in one go.
    done = CliRunner().invoke(main, [*arguments[:-1], str(tmp_path / "again")])
    assert done.exit_code == 0, done.stderr
    files = sorted(path.relative_to(tmp_path / "out") for path in (tmp_path / "out" / "labels").rglob("*.gz"))
    assert len(files) == 5
    for file in files:
        assert (tmp_path / "out" / file).read_bytes() == (tmp_path / "again" / file).read_bytes()


def n_results(path):
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as file:
        if not file.execute("select 1 from sqlite_master where name = 'results'").fetchall():
            return 0
        return file.execute("select count(*) from results").fetchone()[0]


def test_what_was_not_finished_on_smaller_sets_is_not_tried(tmp_path):
    sets = [find_sets_of(tmp_path, f"a/s{n}", n) for n in (10, 12, 14, 16, 18)]
    narrow = find_sets_of(tmp_path, "a/narrow", 20, 1)
    entry = Entry("km", "consensus", True)
    units = [Unit(one, "random-k", 0, False, (entry,)) for one in sets]
    failed = Result(None, "not finished: more than 1 s", 1.0)
    found = {unit.key(entry): failed for unit in units[:GIVEN_UP]}

    def given_up(request, unit, entry=entry):
        # What was done before counts, though nothing of those sets is left.
        left, shapes = [(one, [entry]) for one in units[GIVEN_UP:]], {one.name: one.X.shape for one in sets}
        return _Run(request, None, left, found, shapes, print, 0.0)._why_skipped(unit, entry)

    request = Request(tmp_path, given_up=GIVEN_UP)
    assert given_up(request, units[3]) == (
        "not finished: not tried with 600 s and 4 GB, as it was not on a/s10, a/s12, a/s14"
    )
    assert given_up(request, Unit(sets[0], "random-k", 1, False, (entry,))).endswith("or more objects here")
    assert given_up(request, Unit(sets[3], "diverse", 0, False, (entry,))) is None
    assert given_up(request, units[3], Entry("acv", "consensus", True)) is None
    assert given_up(request, Unit(narrow, "random-k", 0, False, (entry,))) is None
    assert given_up(Request(tmp_path), units[3]) is None
    found.pop(units[0].key(entry))
    assert given_up(request, units[3]) is None


def test_what_is_run_of_which_set(suite, tmp_path):
    def runs(**asked):
        request = Request(tmp_path, suite, pools=("random-k", "both", "published"), **asked)
        units = _choose_sets(request).units(request)
        assert [_turn(unit) for unit in units] == sorted(map(_turn, units))
        return {(unit.set.name, unit.experiment, unit.seed) for unit in units}

    pools = {(name, pool, 0) for name in ("a/two", "b/three") for pool in (FEATURES, "random-k", "both")}
    once = pools | {("b/three", "published", 0)}
    again = {(name, pool, 1) for name in ("a/two", "b/three") for pool in (FEATURES, "random-k")}
    parts = {(name, f"{pool} of a part", 0) for name, pool, _ in again}
    assert runs() == once | again | parts
    assert runs(parts=False) == once | again
    assert runs(seeds=1) == once | parts
    assert runs(largest=30) == {run for run in once | again | parts if run[0] == "a/two"}
    small = {run for run in again | parts if run[0] == "a/two"}
    assert runs(large=30) == (once - {("b/three", "both", 0)}) | small
    assert PLANS["quick"] | {"parts": False, "seeds": 1, "largest": 1000} == PLANS["quick"]
    assert PLANS["full"] | {"large": 2000, "given_up": 3, "minutes": 120} == PLANS["full"]


def test_an_interruption_leaves_no_failures(tmp_path):
    one = find_sets_of(tmp_path, "a/s", 12)
    unit = Unit(one, "random-k", 0, False, (Entry("km", "consensus", True),))
    with closing(Store(tmp_path / RESULTS, "0")) as store:
        run = _Run(Request(tmp_path), store, [(unit, list(unit.entries))], {}, {}, print, 0.0)

        def ended(*_):
            run.stopped.set()
            return None, Done(None, "no pool: the process died", 0.0, 0.0)

        run._members = ended
        run.finish()
        assert store.results("random-k") == {}


def find_sets_of(folder, name, n, m=2):
    random = np.random.default_rng(n)
    write_set(folder, name, random.normal(size=(n, m)), np.arange(n) % 2 + 1)
    return next(one for one in find_sets(folder) if one.name == name)


class Fails:
    """An entry that works for nothing larger than the trial."""

    def get_params(self):
        return {}

    def set_params(self):
        return self

    def fit(self, X):
        return self

    def fit_predict(self, X):
        if len(X) > N_TRIED:
            raise RuntimeError("never")
        return np.zeros(len(X))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"pools": ("x",)}, "pools must be among"),
        ({"only": ("nonsense",)}, "only must name entries"),
        ({"sets": ("nonsense",)}, "sets must name sets or batteries, as a, b, a/two. Got 'nonsense'"),
        ({"methods": ("nonsense",)}, "methods must be package.module:Class"),
        ({"consensus": ("nonsense",)}, "consensus must be package.module:Class"),
    ],
)
def test_names_that_are_refused(asked, said, suite, tmp_path):
    with pytest.raises(ValueError, match=re.escape(said)):
        benchmark(Request(tmp_path / "out", suite, **asked), print)
    assert not (tmp_path / "out").exists()


def test_requests_that_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    done = CliRunner().invoke(main, ["benchmark", "--data", str(tmp_path / "empty"), "-o", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "--data must be folders with" in done.stderr


def test_a_part_leaves_out_a_tenth(suite):
    (two,) = (one for one in find_sets(suite) if one.name == "a/two")
    rows = Unit(two, "random-k", 0, True, ()).rows
    assert len(rows) == 27
    assert (np.diff(rows) > 0).all()


# -- statistics --------------------------------------------------------------------------------------------------------

KNOWN = Scope("k known", ("p",))


def row(name, entry, value, seed=0, pool="p", knows_k=True, part=False, labels=(0, 0, 1, 1), k=2):
    numbers = (
        None
        if value is None
        else {"ari": value, "ami": 0.5, "nca": 0.5, "k": k, "true_k": 2, "labels": pack_labels(np.array(labels))}
    )
    if numbers is not None:
        numbers |= {"megabytes": 1.0, "best_member": 0.9, "mean_member": 0.4}
    objects = np.arange(4)[: len(labels)]
    return Row(
        name,
        pool,
        Entry(entry, "consensus", knows_k),
        seed,
        part,
        objects,
        Result(numbers, None if numbers else "x", 2.0),
    )


def test_what_has_no_number_counts_as_zero():
    board = Board([row("a/1", "m", 0.8), row("a/2", "m", None), row("b/3", "m", 0.4)])
    (line,) = board.table(KNOWN)
    assert line.over_all == pytest.approx(0.4)
    assert line.over_common == pytest.approx(0.6)
    assert (line.n_sets, line.n_finished, line.n_common) == (3, 2, 2)
    assert line.regret == pytest.approx(0.9 - 0.6)
    assert line.gain == pytest.approx(0.6 - 0.4)
    assert (line.ami, line.nca) == pytest.approx((1 / 3, 1 / 3))
    assert (line.k_right, line.k_few, line.k_many) == pytest.approx((2 / 3, 0, 0))
    assert board.failures() == [("a/2", "p", "m", "x")]
    assert board.by_part(KNOWN)["m", "p"] == pytest.approx({"battery: a": 0.4, "battery: b": 0.4})
    # The members of the pool are known from another entry.
    others = [row(name, "other", 0.1) for name in board.sets]
    first, _ = Board([*board.rows, *others]).table(KNOWN)
    assert (first.entry, first.regret, first.gain) == ("m", pytest.approx(0.9 - 0.4), pytest.approx(0))
    (line,) = Board([row("a/1", "m", 0.8), row("a/1", "m", None, seed=1)]).table(KNOWN)
    assert (line.over_all, line.ami, line.k_right) == (0, 0, 0)


def test_members_are_means_over_the_seeds():
    rows = [row("a/1", "m", 0.8, seed=seed) for seed in (0, 1)]
    rows[1].result.numbers.update(best_member=0.5, mean_member=0.2)
    assert Board(rows).pools() == [("p", 1, pytest.approx(0.3), pytest.approx(0.7))]


def test_time_and_memory_are_of_the_first_seed():
    rows = [row("a/1", "m", 0.8), row("a/1", "m", 0.9, seed=1)]
    rows[1].result.numbers["megabytes"] = 50.0
    (line,) = Board([rows[0], rows[1]._replace(result=rows[1].result._replace(seconds=9.0))]).table(KNOWN)
    assert (line.seconds, line.most_seconds, line.megabytes, line.most_megabytes) == (2, 2, 1, 1)
    assert line.moved == pytest.approx(0.1)


def test_numbers_of_clusters_and_losses():
    rows = [row("a/1", "m", 0.8, k=2), row("a/2", "m", 0.5, k=5), row("a/3", "m", 0.4, k=1), row("a/4", "m", 0.2, k=2)]
    (line,) = Board(rows).table(KNOWN)
    assert (line.k_right, line.k_few, line.k_many, line.k_error, line.k_far) == (0.5, 0.25, 0.25, 0.5, 1.0)
    rows += [row(f"a/{i + 1}", "ward", v, pool=FEATURES) for i, v in enumerate((0.75, 0.45, 0.9, 0.6))]
    rows += [row(f"a/{i + 1}", "k-means", v, pool=FEATURES) for i, v in enumerate((0.1, 0.1, 0.1, 0.1))]
    scope = Scope("k known", (FEATURES, "p"))
    board = Board(rows)
    assert board.best_baseline(scope) == ("ward", FEATURES)
    assert [(loss.entry, loss.set) for loss in board.losses(scope)][:1] == [("k-means", "a/3")]
    assert {loss.set for loss in board.losses(scope) if loss.entry == "m on p"} == {"a/3", "a/4"}
    assert board.pools() == [("p", 4, 0.4, 0.9), (FEATURES, 4, 0.4, 0.9)]


def test_only_sets_that_all_were_tried_on_are_compared():
    rows = [row(f"a/{i}", "m", i / 10) for i in range(5)] + [row(f"a/{i}", "other", None) for i in range(4)]
    board = Board([*rows, row("a/1", "few", 1.0)])
    lines = board.table(KNOWN)
    means = [(line.entry, line.n_sets, line.over_all) for line in lines]
    assert means == [("m", 4, pytest.approx(0.15)), ("other", 4, 0.0)]
    # One that has a number on less than half of the sets does not say which are common.
    assert (lines[0].over_common, lines[0].n_common) == (pytest.approx(0.15), 4)
    assert board.incomplete_entries(KNOWN) == {"few on p": 1}


def test_stability_over_seeds_and_parts():
    rows = [
        row("a", "m", 0.5),
        row("a", "m", 0.5, seed=1, labels=(1, 1, 0, 0)),
        row("a", "m", 0.5, part=True, labels=(0, 1, 1)),
    ]
    (line,) = Board(rows).table(KNOWN)
    assert line.seeds == 1
    assert line.part == pytest.approx(adjusted_rand_score([0, 0, 1], [0, 1, 1]))


def test_comparisons_and_ranks():
    random = np.random.default_rng(0)
    values = {"x": random.random(12), "y": random.random(12) - 0.3, "z": random.random(12) - 0.6}
    rows = [row(f"a/{i}", name, float(v[i])) for name, v in values.items() for i in range(12)]
    compared = Board(rows).compare(KNOWN)
    assert [c.second for c in compared] == ["y on p", "z on p"]
    raw = [wilcoxon(values["x"] - values[name], zero_method="zsplit").pvalue for name in "yz"]
    assert [c.p_value for c in compared] == holm(raw)
    difference = values["x"] - values["y"]
    assert (compared[0].wins, compared[0].losses) == ((difference > 0.005).sum(), (difference < -0.005).sum())
    assert compared[0].wins + compared[0].ties + compared[0].losses == 12
    assert compared[0].low < compared[0].difference < compared[0].high
    ranks, critical = Board(rows).mean_ranks(KNOWN)
    assert sum(ranks.values()) == pytest.approx(6)
    assert critical == pytest.approx(nemenyi(3, 12))
    assert Board(rows).compare(Scope("k found", ("p",))) == []


def test_statistics():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert signed_ranks(np.zeros(5)) == 1
    # Demšar 2006, Table 5: q = 2.343 for three, 2.569 for four entries.
    assert nemenyi(3, 12) == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 12)), abs=1e-3)
    assert nemenyi(4, 14) == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)
    low, high = bootstrap(np.array([0.0, 1.0] * 50))
    assert low == pytest.approx(0.4, abs=0.03)
    assert high == pytest.approx(0.6, abs=0.03)


# -- its page in the docs ----------------------------------------------------------------------------------------------


def test_the_page_is_that_of_the_tables():
    path = Path(__file__).parents[1] / "scripts" / "make_leaderboard.py"
    specification = importlib.util.spec_from_file_location("make_leaderboard", path)
    made = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(made)
    assert made.page().rstrip() + "\n" == made.PAGE.read_text(encoding="utf-8")
    assert all(file.stat().st_size <= 200_000 for file in made.TABLES.iterdir())


def test_tables_have_a_board_of_their_own():
    traits = {name: Traits(4, m, 2, 1.0, 1.0, 1.0) for name, m in (("a/plane", 2), ("a/space", 3), ("a/table", 4))}
    scores = {"a/plane": 0.9, "a/space": 0.7, "a/table": 0.1}
    rows = [row(name, "m", value, pool=FEATURES) for name, value in scores.items()]
    board = Board(rows, traits)
    assert [scope.title for scope in board.scopes()] == [
        *("k is known", "k is found", "k is known, tables", "k is found, tables")
    ]
    whole, _, tables, _ = (board.table(scope) for scope in board.scopes())
    assert [(line.n_sets, line.over_all) for line in (*whole, *tables)] == [(3, pytest.approx(1.7 / 3)), (1, 0.1)]
    assert len(Board(rows[:2], traits).scopes()) == 4, "the sets that are known count, tried or not"
    assert len(Board(rows[:2], {name: traits[name] for name in ("a/plane", "a/space")}).scopes()) == 2


def test_both_defaults_take_part():
    X = np.random.default_rng(0).normal(size=(40, 2)) + 9 * (np.arange(40) % 2)[:, None]
    for name, selection in (("default", "learned"), ("first default", "consensus")):
        for knows_k, k in ((True, 2), (False, None)):
            expected = ConsensusClustering(k, selection=selection, n_jobs=1, random_state=0).fit(X)
            assert solve(Entry(name, "baseline", knows_k), X, None, 2, 0).tolist() == expected.labels_.tolist()
            assert (expected.chosen_ is None) == (selection == "consensus")


@pytest.mark.parametrize(("option", "parts"), [((), True), (("--parts",), True), (("--no-parts",), False)])
def test_a_run_on_a_part_can_be_left_out(monkeypatch, suite, tmp_path, option, parts):
    asked = []
    monkeypatch.setattr("ensemblage_lab._benchmark.benchmark", lambda request, tell: asked.append(request) or tmp_path)
    done = CliRunner().invoke(main, ["benchmark", "--suite", str(suite), *option, "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.stderr
    assert [request.parts for request in asked] == [parts]


def test_an_estimator_of_labels_is_an_entry():
    members = np.asarray(own.fitted(own.First()).ensemble_)
    names = ("test_own_consensus:First", "test_own_consensus:NoNumber", "sklearn.mixture:GaussianMixture")
    entries = [entry for entry in entries_of("random-k", (), names) if entry.kind == "combiner"]
    assert [entry.column for entry in entries] == ["k known", "k found", "k known"]
    for entry in entries:
        assert solve(entry, own.X, members, 3, 0).shape == (len(own.X),)
