"""What the sessions of `lab/guards` found to be unguarded."""

import inspect
import os
import sys
import threading
import time
import tracemalloc
import warnings
from functools import partial
from types import SimpleNamespace

import naive
import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from former import FORMER
from joblib import Parallel, delayed, parallel_config
from limits import limit
from places import FILES
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score
from strategies import random_labels, usual

import ensemblage
from ensemblage import (
    METHODS,
    Ensemble,
    choose_k,
    consensus,
    generation,
    metrics,
    plotting,
    preprocessing,
    ranking,
    read_table,
)
from ensemblage.base import threads
from ensemblage.base.threads import parallel_map, thread_count
from ensemblage.base.validation import parameter_constraints
from ensemblage.consensus import CSPA, BipartiteVoting, GreedyKMeansConsensus, KMeansConsensus, NegMM
from ensemblage.consensus.diagnostics import PairCounts
from ensemblage.generation import RandomKPartitions, make_pool
from ensemblage.io import _features
from ensemblage.io._features import features_of
from ensemblage.kernels import _pair_sums
from ensemblage.kernels._bitmaps import BLOCK_BITS
from ensemblage.kernels._jit import jit
from ensemblage.metrics import INTERNAL_INDICES, internal_index, membership_entropy
from ensemblage.metrics._coassociation import Associations
from ensemblage.metrics._wat import weights_of
from ensemblage.preprocessing import Preprocessor
from ensemblage.ranking import DISCOTEC, AverageAgreement, InternalIndex, SelectPartitions
from ensemblage.tables.column import label_values

pytestmark = FORMER


def test_a_kernel_has_its_name_before_two_threads_send_it():
    """numba names a kernel when it is first pickled, and fails an assertion where two threads do that at once."""

    @jit
    def kernel(x):
        return x + 1

    for made in (kernel, *(f for f in vars(_pair_sums).values() if hasattr(f, "py_func"))):
        assert made._MemoMixin__uuid is not None


# ---- Parameters ----

PARAMETERS = FILES / "parameters.txt"


def described_parameters():
    """A line for each parameter of each estimator: its default and what it may be."""
    lines = []
    packages = ensemblage, consensus, generation, ranking, preprocessing
    public = {name: getattr(package, name) for package in packages for name in package.__all__}
    for name, estimator in sorted(public.items()):
        if not hasattr(estimator, "get_params"):
            continue
        allowed = parameter_constraints(estimator)
        for parameter, found in inspect.signature(estimator).parameters.items():
            rules = " or ".join(rule.rule() if rule else "None" for rule in allowed.get(parameter, ()))
            default = "required" if found.default is found.empty else repr(found.default)
            lines.append(f"{name}.{parameter} = {default}: {rules}")
    return lines


def test_defaults_and_limits_of_parameters():
    """They are what users rely on; whoever means to change one runs this file, which writes them down."""
    assert described_parameters() == PARAMETERS.read_text(encoding="utf-8").splitlines()


# ---- Threads ----


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 5), (-1, 5), (-2, 4), (-5, 1), (-9, 1), (1, 1), (7, 7)])
def test_number_of_threads(monkeypatch, n_jobs, expected):
    monkeypatch.setattr(threads, "available_cores", lambda: 5)
    assert thread_count(n_jobs) == expected


def test_number_of_threads_by_the_configuration_of_joblib(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 5)
    with parallel_config("threading", n_jobs=2):
        assert [thread_count(n) for n in (None, 3, -1)] == [2, 3, 5]
    with parallel_config("threading", n_jobs=-2):
        assert thread_count(None) == 4
    in_a_loop = Parallel(n_jobs=2, prefer="threads")(delayed(thread_count)(n) for n in (None, 3, -1))
    assert in_a_loop == [1, 3, 5]
    assert Parallel(n_jobs=1)(delayed(thread_count)(None) for _ in range(2)) == [5, 5]


def test_limit_of_the_environment(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    for text, expected in (("", 6), ("2", 2), ("9", 6), ("0", 1), ("many", 6)):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert threads.available_cores() == expected


@pytest.fixture
def control_group(tmp_path, monkeypatch):
    """Files of a container's control group, and how many cores they leave of 8."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "CONTROL_GROUP", tmp_path)

    def cores(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text, encoding="ascii")
        threads._quota.cache_clear()
        return threads.available_cores()

    yield cores
    threads._quota.cache_clear()


@pytest.mark.parametrize(
    ("quota", "period", "expected"),
    [
        *(("150000", "100000", 2), ("200000", "100000", 2), ("50000", "100000", 1), ("900000", "100000", 8)),
        *(("max", "100000", 8), ("-1", "100000", 8), ("0", "100000", 8), ("what", "ever", 8)),
    ],
)
def test_the_quota_of_a_container(control_group, quota, period, expected):
    assert control_group({}) == 8
    assert control_group({"cpu/cpu.cfs_quota_us": f"{quota}\n", "cpu/cpu.cfs_period_us": f"{period}\n"}) == expected
    assert control_group({"cpu.max": "300000 100000\n"}) == 3  # version 2 goes before version 1
    assert control_group({"cpu.max": f"{quota} {period}\n"}) == expected


def test_no_more_threads_than_asked_for(monkeypatch):
    """The calling thread is one of them."""
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    monkeypatch.setattr(threads, "_executor", None)
    working, most, lock = [0], [0], threading.Lock()

    def task(_):
        with lock:
            working[0] += 1
            most[0] = max(most[0], working[0])
        time.sleep(0.02)
        with lock:
            working[0] -= 1

    parallel_map(task, range(12), 3)
    threads._executor.shutdown()
    assert most == [3]


def with_one_thread():
    """Calls of everything that takes ``n_jobs``, by name."""
    labels = Ensemble(random_labels(80, 5, 3))  # which is coded by all threads, whoever fits it
    calls, X = {}, np.random.default_rng(0).normal(size=(80, 3))
    assert len(labels.distinct.counts) > labels.n_missing == 0
    for name in METHODS:
        model = usual(name, 3)
        options = {"random_state": 0, "n_jobs": 1, "partitioner": "spectral"}
        calls[name] = model.set_params(**{o: v for o, v in options.items() if o in model.get_params()}).fit
    for ranker in (AverageAgreement(), AverageAgreement("ari"), DISCOTEC(), DISCOTEC("tv", max_pairs=0)):
        calls[str(ranker)] = ranker.set_params(n_jobs=1).fit
    for index in INTERNAL_INDICES:
        calls[index] = partial(InternalIndex(index, n_jobs=1).fit, features=X)
    for name in metrics.__all__:
        found = getattr(metrics, name)
        parameters = inspect.signature(found).parameters if inspect.isfunction(found) else {}
        required = [p for p, of in parameters.items() if of.default is of.empty]
        if "n_jobs" in parameters and required == ["labels"]:
            calls[f"metrics.{name}"] = partial(found, n_jobs=1)
    return [pytest.param(call, labels, id=name) for name, call in calls.items()]


@pytest.mark.parametrize(("call", "labels"), with_one_thread())
def test_one_thread_is_the_one_that_asks(monkeypatch, call, labels):
    """``n_jobs=1`` goes all the way down: nothing is given to the pool, however small the tasks."""
    monkeypatch.setattr(threads, "available_cores", lambda: 4)
    monkeypatch.setattr(threads, "_pool", lambda: pytest.fail("the pool is used"))
    limit(monkeypatch, "rows of a block", 7)
    call(labels)


@pytest.mark.parametrize("who", ["the caller", "a helper"])
def test_an_error_stops_the_other_threads(who):
    """At their next task; none of the many that are left is begun."""
    begun, lock, caller = [], threading.Lock(), threading.current_thread()
    both = threading.Barrier(2)

    def task(i):
        if i < 2:
            both.wait(30)  # one each
        mine = threading.current_thread() is caller
        if i < 2 and mine == (who == "the caller"):
            raise KeyError("the first error")
        with lock:
            begun.append(i)
        time.sleep(0.05)

    with pytest.raises(KeyError, match="the first error"):
        parallel_map(task, range(200), 2)
    assert len(begun) <= 3


# ---- Weights and counts ----


def test_the_passes_of_bvote_are_compared_with_weights():
    """Of several orders the one with the least mean error wins, and that mean has the weights of the partitions."""
    labels, w = random_labels(60, 6, 4, seed=3), np.array([9, 1, 1, 1, 1, 1.0])
    model = BipartiteVoting(3, weights=w, random_state=0).fit(labels)
    assert model.objective_ == pytest.approx(np.average(model.losses_.mse, weights=w))
    assert model.objective_ != pytest.approx(np.mean(model.losses_.mse), rel=1e-6)


def test_random_starts_follow_the_numbers_of_objects():
    """A row of almost all objects is a start of almost every run."""
    rows = np.array([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]])
    labels = np.repeat(rows, [996, 1, 1, 1, 1], axis=0)
    for init in ("random", "k-means++"):
        starts = []
        for seed in range(30):
            model = KMeansConsensus(1, init=init, n_init=1, max_iter=1, random_state=seed).fit(labels)
            starts.append(model._centroids.centroids[0])
        of_largest = sum(np.array_equal(np.flatnonzero(start), np.flatnonzero(starts[0])) for start in starts)
        assert of_largest >= 28, init


def test_confidence_counts_partitions_with_their_weights():
    labels = np.array([[0, 0], [0, 1], [0, 0], [1, 1]])
    model = KMeansConsensus(2, weights=[3, 1], random_state=0).fit(labels)
    assert model.labels_.tolist() == [0, 0, 0, 1]
    assert model.cohesion_.tolist() == [(3 + 4) / 8, 3 / 4, (3 + 4) / 8, 0]
    assert model.confidence_[1] > KMeansConsensus(2, random_state=0).fit(labels).confidence_[1]


def test_generators_use_their_seed():
    X = np.random.default_rng(0).normal(size=(60, 2))
    first, again, other = (RandomKPartitions(4, random_state=s).fit_transform(X) for s in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert metrics.ensemble_ari(Ensemble(first), first[:, 0]) <= 1


# ---- Tables ----


def written(folder, text):
    path = folder / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_role_must_be_one_there_is(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n3,4\n5,7\n")
    with pytest.raises(ValueError, match=r"roles must be one of .* Got 'x' for 'a'\."):
        features_of(read_table(path, roles={"a": "x"}))
    with pytest.raises(ValueError, match=r"Got 'number:1<3' for 'a'\."):
        features_of(read_table(path, roles={"a": "number:1<3"}))


def test_the_first_column_is_no_id_unless_it_counts_the_rows(tmp_path):
    assert read_table(written(tmp_path, "a,b\n1,5\n2,9\n3,7\n")).roles == {"a": "id", "b": "number"}
    assert read_table(written(tmp_path, "a,b\n1,5\n1,9\n1,7\n")).roles == {"a": "constant", "b": "number"}


def test_some_rows_of_a_column_are_read_again_as_the_whole_is(tmp_path):
    column = read_table(written(tmp_path, "a,b\n1.50,x\n2,y\n4,z\n"))["a"]
    assert column.take(np.array([0, 2])).cells() == ["1.50", "4"]
    of_frame = read_table(pd.DataFrame({"a": [1.5, 2, 4]}))["a"]
    assert of_frame.read_again is None
    assert of_frame.take(np.array([0, 2])).read_again is None


def test_the_scales_that_stay_are_told_where_gaps_are_filled():
    (note,) = Preprocessor(impute="mean").fit([[1, 5], [2, 9], [4, np.nan], [8, 7]]).notes_
    assert note.startswith("features keep their scales")


def test_distances_of_all_pairs_fit_to_the_byte(monkeypatch):
    limit(monkeypatch, "bytes of features", 8 * 5 * 5)
    assert _features.gower_distances(np.arange(10.0).reshape(5, 2)).shape == (5, 5)
    with pytest.raises(ValueError, match=r"at most 5 rows\. X has 6"):
        _features.gower_distances(np.arange(12.0).reshape(6, 2))


@pytest.mark.parametrize(("text", "has_header"), [("7,u\n1,u\nx,u\n", True), ("x,u\n1,u\nx,u\n", False)])
def test_a_number_above_numbers_and_text_is_a_name(tmp_path, text, has_header):
    """Unless it comes again: only a column of nothing but numbers has data wherever a number stands."""
    assert len(read_table(written(tmp_path, text))) == 3 - has_header


def test_only_unusual_separators_are_told(tmp_path):
    assert not [n for n in read_table(written(tmp_path, "a,b\n1,2\n3,4\n")).notes if "separated" in n]
    assert "cells are separated by semicolons" in read_table(written(tmp_path, "a;b\n1;2\n3;4\n")).notes


def test_the_first_missing_feature_is_told(tmp_path):
    table = read_table(written(tmp_path, "a,b\n1,2\n3,\n5,6\n,8\n9,10\n"))
    with pytest.raises(ValueError, match=r"Got 2, the first in line 3, column 'b'"):
        features_of(table)


@pytest.mark.parametrize(("impute", "expected"), [("median", 2.0), ("mean", 4.0)])
def test_what_fills_a_gap(tmp_path, impute, expected):
    """Of 1, 2 and 9 the median is no mean."""
    table = read_table(written(tmp_path, "a,b\n1,5\n2,6\n9,8\n,9\n"))
    assert features_of(table, impute=impute, standardize=False).X[3, 0] == expected


@pytest.mark.parametrize("number", [2**62, 2**63 - 1, -(2**63)])
def test_labels_up_to_64_bits_are_whole_numbers(number):
    assert label_values([str(number), "1"]) == [number, 1]
    assert label_values([str(2**63), "1"]) == [str(2**63), "1"]


def test_whole_labels_beside_fractions_are_numbers_as_far_as_floats_tell_them_apart():
    assert label_values([str(2**53 - 1), "0.5"]) == [2**53 - 1, 0.5]
    assert label_values([str(2**53 + 1), "0.5"]) == [str(2**53 + 1), "0.5"]


# ---- Labels ----


def test_the_least_number_may_mean_missing():
    """As any other of 64 bits."""
    ensemble = Ensemble([[-(2**63), 0], [1, 0], [2, 1]], missing=-(2**63))
    assert ensemble.n_clusters.tolist() == [2, 2]


def labels_of_parts(folder, *parts):
    """The labels that a folder of Parquet files has, one column each; 1 means missing."""
    for name, part in zip("abc", parts, strict=False):
        pyarrow.parquet.write_table(pyarrow.table({"p": part}), folder / f"{name}.parquet")
    return Ensemble.open(folder, missing=1).categories[0]


def test_unsigned_labels_of_parts_go_with_signed_ones(tmp_path):
    """Where they fit into 64 bits with a sign."""
    (tmp_path / "large").mkdir()
    unsigned, signed = np.array([4, 2], dtype=np.uint64), np.array([-3, 2])
    assert labels_of_parts(tmp_path, unsigned, signed).tolist() == [-3, 2, 4]
    large = np.array([2**63], dtype=np.uint64)
    assert labels_of_parts(tmp_path / "large", large, np.array([2])).tolist() == [2, 2**63]


@pytest.mark.parametrize("missing", [-(2**63) - 1, 2**63, 2**64 - 1])
def test_what_means_missing_has_64_bits_and_a_sign(missing):
    with pytest.raises(ValueError, match=r"missing must be a whole number or None\. Got"):
        Ensemble([[0, 1], [1, 1]], missing=missing)


@pytest.mark.parametrize(("largest", "kind"), [(2.0, "i"), (2.0**53 - 1, "i"), (2.0**53, "f")])
def test_whole_floats_of_a_part_are_whole_numbers_as_far_as_floats_tell_them_apart(largest, kind, tmp_path):
    """A part with a gap has floats, another part of the same column has whole numbers."""
    found = labels_of_parts(tmp_path, np.array([0, 1]), np.array([largest, np.nan, 1]))
    assert found.dtype.kind == kind
    assert found.tolist() == [0, largest]


def test_rows_that_are_no_rows_of_labels():
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        Ensemble([[[1], [2]], [3, 4]])


# ---- Metrics ----


def test_what_the_indices_of_ohl_and_lindsten_say_where_they_are_not_defined():
    """Objects on a line have no spread in the plane; a cluster of one object has none at all."""
    line = [[0, 0], [1, 0], [5, 0], [6, 0]]
    for name in ("det_ratio", "log_det_ratio"):
        assert internal_index(line, [0, 0, 1, 1], name, variant="ohl") == -1e10
    assert internal_index([[0], [1], [5]], [0, 0, 1], "banfield_raftery", variant="ohl") == 1e10


def test_equal_memberships_have_entropy_1():
    """Not a rounding error more."""
    assert all(0.999 < membership_entropy(np.full((1, k), (1 + 1e-9) / k))[0] <= 1 for k in range(2, 60))


@pytest.mark.parametrize("method", ["kmeans", "gmm"])
def test_one_association_has_no_weak_half(method):
    assert metrics.weak_association_threshold([[0, 1], [0, 1], [1, 0]], method) == 0


# ---- Ranking ----


@pytest.mark.parametrize("seed", [1, 2])
def test_negmm_takes_the_threshold_of_the_least_index(seed):
    """Which is not the least threshold here."""
    model = NegMM(3, association_threshold="search", random_state=0).fit(random_labels(30, 5, 3, seed=seed))
    best = min(model.candidates_, key=lambda candidate: candidate.mm_index)
    assert (model.association_threshold_, model.mm_index_) == (best.threshold, best.mm_index)
    assert best.threshold > min(candidate.threshold for candidate in model.candidates_)


@pytest.mark.parametrize(("max_pairs", "exact"), [(10, True), (9, False)])
def test_max_pairs_are_the_pairs_of_distinct_rows(max_pairs, exact):
    """Four distinct rows have ten, with themselves: as many are counted, one less and they are drawn."""
    labels = [[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 0], [1, 1, 0]]
    model = DISCOTEC("hellinger", max_pairs=max_pairs, random_state=0).fit(labels)
    assert (model.standard_errors_ == 0).all() == exact


@pytest.mark.parametrize("n_pairs", [2, 5, 7, 11])
def test_as_many_pairs_are_drawn_as_were_asked_for(monkeypatch, n_pairs):
    """Of complete labels each pair has labels, so the share of pairs on which two differ has that denominator."""
    limit(monkeypatch, "pairs drawn at once", 3)
    labels = random_labels(n=20, p=9, k=2, seed=0)
    numerators = n_pairs * DISCOTEC(max_pairs=0, n_sampled_pairs=n_pairs, random_state=0).fit(labels).scores_
    np.testing.assert_allclose(numerators, np.rint(numerators), atol=1e-9)
    assert len(set(np.rint(numerators))) > 1


def correlations(columns, truth, ranker, features=None):
    summary = ranking.compare_rankers(np.column_stack(columns), features, truth, [ranker]).summary
    return summary[["pearson", "kendall"]].to_numpy()[0]


A, B, ONE_CLUSTER = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0] * 6
ON_A_LINE = np.array([[0.0], [0.1], [0.2], [5], [5.1], [5.2]])


@pytest.mark.filterwarnings("ignore:InternalIndex cannot score")
def test_two_partitions_have_a_correlation():
    """The third has no score."""
    assert correlations([A, B, ONE_CLUSTER], A, "silhouette", ON_A_LINE) == pytest.approx([1, 1])
    assert np.isnan(correlations([A, ONE_CLUSTER], A, "silhouette", ON_A_LINE)).all()


@pytest.mark.parametrize(("ranker", "truth"), [("aari", A), ("silhouette", ONE_CLUSTER)], ids=["scores", "ARI"])
def test_what_does_not_vary_has_no_correlation(ranker, truth):
    """And nobody is warned of a division by 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(correlations([A, B], truth, ranker, ON_A_LINE)).all()


def test_selection_of_lists_and_of_frames_with_other_indices():
    labels = random_labels(30, 5, 3)
    selection = SelectPartitions(n_partitions=2).fit(labels)
    expected = labels[:, selection.selected_]
    assert np.array_equal(selection.transform(labels.tolist()), expected)
    assert np.array_equal(selection.transform(pd.DataFrame(labels, index=range(30, 0, -1))), expected)


def test_a_data_type_and_a_colormap_that_there_are_not():
    with pytest.raises(TypeError, match=r"dtype of one_hot must be a data type of NumPy\. Got 'x'\. Give one"):
        Ensemble([[0, 1], [1, 1]]).one_hot(dtype="x")
    for draw in (
        lambda: plotting.consensus_matrix(np.eye(2), [0, 1], cmap=3),
        lambda: plotting.agreement(np.eye(2), cmap=3),
    ):
        with pytest.raises(ValueError, match=r"cmap of .* must be a Colormap .* Got 3\. Give one"):
            draw()


# ---- Counting ----


def test_cells_of_the_tables_of_all_pairs(monkeypatch):
    """With the missing entry: 3 × 4 + 3 × 6 + 4 × 6."""
    labels = np.arange(30)[:, None] % [2, 3, 5]
    limit(monkeypatch, "cells of the tables of all pairs", 54)
    assert metrics.partition_distances(labels, "manhattan").shape == (3, 3)
    limit(monkeypatch, "cells of the tables of all pairs", 53)
    with pytest.raises(ValueError, match=r"at most 53 cells .* Got 54\."):
        metrics.partition_distances(labels, "manhattan")


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_squares_of_label_counts_by_any_way(monkeypatch, tmp_path, missing, where):
    """At once, cluster after cluster, and for rows on disk some clusters at a time."""
    labels, rng = random_labels(120, 4, 5, missing), np.random.default_rng(0)
    clusters = np.append(np.arange(9), rng.integers(9, size=111))
    np.save(tmp_path / "labels.npy", labels)
    ensemble = Ensemble(labels) if where == "memory" else Ensemble.open(tmp_path / "labels.npy", scratch=tmp_path)
    expected = [pytest.approx(naive.density(labels, clusters)), pytest.approx(naive.kmeans_loss(labels, clusters))]
    for small, large in ((2**20, 2**23), (0, 2**23), (0, 50), (0, 1)):
        limit(monkeypatch, "cells of a table of label counts", small)
        limit(monkeypatch, "cells of a table of label counts of rows elsewhere", large)
        assert [metrics.density(ensemble, clusters), metrics.kmeans_loss(ensemble, clusters)] == expected


def bytes_of(function):
    """The most that Python and NumPy hold at once in a call, beyond what they held before it; after another one."""
    function()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_table_of_some_clusters_has_no_others(monkeypatch, tmp_path):
    """All 300 clusters by 900 labels would take 2 MB."""
    labels, clusters = np.random.default_rng(0).integers(300, size=(1_500, 3)), np.arange(1_500) % 300
    np.save(tmp_path / "labels.npy", labels)
    ensemble = Ensemble.open(tmp_path / "labels.npy", scratch=tmp_path)
    limit(monkeypatch, "cells of a table of label counts", 0)
    limit(monkeypatch, "cells of a table of label counts of rows elsewhere", 2_000)
    assert bytes_of(lambda: metrics.density(ensemble, clusters)) < 2**20


def test_a_tile_has_the_maps_of_its_blocks_only(monkeypatch):
    """Of four blocks of rows, the last included, one at a time takes less than all."""
    ensemble, found = Ensemble(np.arange(4 * BLOCK_BITS)[:, None] // [1, 128] % 128), []
    n_bytes = 258 * BLOCK_BITS // 8  # of a block: a map of each of 256 labels, of all rows, and of none
    for room in (n_bytes, 2**26):
        limit(monkeypatch, "bytes of the bitmaps of a tile", room)
        found.append(bytes_of(lambda: metrics.association_counts(ensemble, n_jobs=1)))
    assert found[1] - found[0] > 2 * n_bytes


@pytest.mark.parametrize("k", [253, 254, 255, 256])
def test_two_missing_entries_are_no_equal_labels(k):
    """Where the codes fill a byte, too."""
    first = np.array([*range(k), -1, -1, 0, k - 1, k - 1])
    labels = np.column_stack([first, random_labels(n=len(first), p=2, k=3, seed=k)])
    expected = [naive.discotec(labels, z) for z in labels.T]
    np.testing.assert_allclose(DISCOTEC(n_jobs=1).fit(labels).scores_, expected)


@pytest.mark.parametrize(("imbalance", "expected"), [(None, [0, 0, 1, 1]), (0.9, [0, 0, 0, 1]), (0.4, [0, 0, 1, 1])])
def test_of_several_cuts_those_count_that_the_imbalance_allows(monkeypatch, imbalance, expected):
    """The second one cuts less, and its largest part is half as large again as the mean."""
    answers = iter([(10, [0, 0, 1, 1]), (1, [0, 0, 0, 1])])
    metis = SimpleNamespace(
        CSRAdjacency=lambda *_: None, Options=lambda **_: None, part_graph=lambda *_, **__: next(answers)
    )
    monkeypatch.setitem(sys.modules, "pymetis", metis)
    model = CSPA(2, imbalance=imbalance, n_init=2, random_state=0).fit_similarity(np.ones((4, 4)))
    assert adjusted_rand_score(model.labels_, expected) == 1


# ---- Sums over very many objects ----


@pytest.mark.parametrize("n_neighbors", [2, 64, 65, 90, 400])
def test_sums_of_the_largest_similarities(n_neighbors):
    """Kept in a list where they are few, else sorted."""
    labels, counts = np.arange(30)[:, None] // [2, 3, 5, 30] % 3, np.arange(1, 31)
    rows = Ensemble(labels).distinct
    counts = np.bincount(rows.inverse, weights=counts).astype(np.int64)
    similarity = metrics.coassociation(rows.codes)
    largest = [np.sort(np.repeat(s, counts - (np.arange(len(s)) == i)))[::-1] for i, s in enumerate(similarity)]
    expected = np.array([values[:n_neighbors].sum() for values in largest])
    found = weights_of(Associations(similarity, np.empty(0)), counts, np.zeros(len(counts)), n_neighbors)
    assert found == pytest.approx(expected / expected.max())


@pytest.mark.parametrize("n_neighbors", [100, 2**62])
def test_the_time_of_negmm_does_not_grow_with_the_weights_of_objects(n_neighbors):
    """1.8 × 10⁹ similarities are never written down."""
    labels, w = random_labels(60, 4, 4, seed=0), [3 * 10**7] * 60
    model = NegMM(2, association_threshold="gmm", n_neighbors=n_neighbors, random_state=0).fit(labels, sample_weight=w)
    assert np.isinf(model.mm_index_) == (n_neighbors == 2**62)


# ---- Bare errors that a fuzz found ----

HUGE = [[10**400, 1]] * 12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (lambda make=make: make().fit(HUGE), rf"X of {name} must be numbers up to 1\.8e\+308\. Got a larger whole")
            for name, make in {
                "RandomKPartitions": lambda: RandomKPartitions(2),
                "GreedyKMeansConsensus": lambda: GreedyKMeansConsensus(2),
                "Preprocessor": Preprocessor,
            }.items()
        ),
        (lambda: make_pool(HUGE, "kmeans"), r"X of make_pool must be numbers up to"),
        (lambda: choose_k(HUGE), r"X of choose_k must be numbers up to"),
        (lambda: choose_k(HUGE, method="monti"), r"X of choose_k must be numbers up to"),
        (lambda: plotting.cluster_colors([[1], [1, 2]]), r"clusters of cluster_colors must be numbers .* Got \[\[1\],"),
        (
            lambda: plotting.diagnostics(PairCounts([[1], [1, 2]], {}, None, 2)),
            r"counts of .* must be numbers of shape \(p \+ 1,\)",
        ),
        (
            lambda: plotting.ranking_scores([1, 2], greater_is_better=np.zeros((3, 3))),
            r"greater_is_better of ranking_scores must be True or False",
        ),
        (
            lambda: plotting.ranking_scores([1, 2], names={1, 2}),
            r"names of .* must be a list of 2 entries\. Got \{1",
        ),
        (
            lambda: plotting.partition_strips(np.empty((12, 0))),
            r"labels of partition_strips must have one partition or more\. Got shape \(12, 0\)",
        ),
        (lambda: plotting.agreement(np.eye(2), names={1, 2}), r"names of agreement must be a list of 2 entries"),
        (
            lambda: ranking.compare_rankers([[0], [1]], rankers=np.ma.masked),
            r"Rankers to compare must be a list .* Got masked",
        ),
    ],
)
def test_what_is_told_instead(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_colours_of_clusters_have_their_shape():
    for clusters in (3, [], [1, -1], [[1, 2], [3, 4]]):
        assert plotting.cluster_colors(clusters).shape == (*np.shape(clusters), 3)


@pytest.mark.parametrize("impute", ["median", "mean", "most-frequent"])
def test_gaps_of_a_sparse_matrix_are_filled(impute):
    """Zeros that are not written down count, and a column without any value comes back."""
    X = np.array([[0, 1, np.nan], [0, np.nan, np.nan], [5, 1, np.nan], [np.nan, 4, np.nan]])
    model = Preprocessor(impute=impute, standardize=False).fit(csr_array(X))
    found = model.transform(csr_array(X)).toarray()
    of = {"median": (0, 1), "mean": (5 / 3, 2), "most-frequent": (0, 1)}[impute]
    expected = np.where(np.isnan(X), [*of, 0], X)
    assert found == pytest.approx(expected)
    assert np.isfinite(Preprocessor(impute=impute).fit_transform(csr_array(X)).toarray()).all()
    assert len(model.get_feature_names_out()) == 3


def test_nearest_rows_of_a_sparse_matrix_are_not_looked_for():
    X = csr_array(np.array([[0, 1.0], [np.nan, 2], [3, 4]]))
    with pytest.raises(ValueError, match=r"X of Preprocessor must be dense for impute='knn'\. Got a sparse .* missing"):
        Preprocessor(impute="knn").fit(X)
    assert Preprocessor(impute="knn").fit_transform(X[[0, 2]]).shape == (2, 2)


if __name__ == "__main__":
    PARAMETERS.write_text("\n".join([*described_parameters(), ""]), encoding="utf-8")
