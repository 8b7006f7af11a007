"""Long kernels end early when a flag is set; Ctrl-C sets it, and so does the failure of another thread."""

import importlib
import inspect
import itertools
import os
import pkgutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from limits import limit
from numba import njit
from numpy.lib.stride_tricks import as_strided
from numpy.testing import assert_array_equal
from scipy.sparse import linalg as sparse_linalg
from strategies import planted_labels, with_equal_rows

from ensemblage import kernels
from ensemblage.base.threads import (
    StopFlag,
    Stopped,
    check_stopped,
    parallel_map,
    rows_per_call,
    run_interruptibly,
    unless,
)
from ensemblage.consensus import CSPA, CumulativeVoting, EvidenceAccumulation, KMeansConsensus
from ensemblage.generation import GreedyPartitions
from ensemblage.kernels import _graphs
from ensemblage.kernels._average_linkage import Clusters, Compared, Nearest, average_chain
from ensemblage.kernels._bitmaps import BLOCK_BITS, WORDS, plane_count
from ensemblage.kernels._boruvka import join_components, sort_into_tree
from ensemblage.kernels._dendrogram import number_merges
from ensemblage.kernels._jit import is_set
from ensemblage.kernels._joint_kmeans import Lloyd, lloyd_mixed
from ensemblage.kernels._label_kmeans import Climb, climb
from ensemblage.kernels._linkage import COMPLETE, Chain, Condensed, LevelRows, complete_chain, condensed_chain
from ensemblage.kernels._pairs import ROWS_AT_ONCE
from ensemblage.kernels._spanning_trees import (
    POINTS_OF_BLOCK,
    grow_tree_of_bitmaps,
    spanning_tree_of_counts,
    spanning_tree_of_points,
    spanning_tree_of_similarities,
)
from ensemblage.metrics import coassociation, mm_index
from ensemblage.metrics._coassociation import association_counts
from ensemblage.ranking import DISCOTEC, InternalIndex

# ---- Every kernel that reads the flag, at work that takes it minutes ----

RANDOM = np.random.default_rng(0)
P = 10


def endless(value, *shape):
    """An array of a shape for which there is no memory: all of its entries are one."""
    return as_strided(np.array([value]), shape, [0] * len(shape))


def codes_of(m):
    return RANDOM.integers(4, size=(m, P), dtype=np.uint8)


def compared():
    return tuple(Compared(np.arange(P + 1) * 4, np.ones(P), np.ones(4 * P), np.empty(0), np.zeros(P, np.int64), True))


def of_merges(m, dtype=np.float64):
    return np.empty((m - 1, 2), np.int64), np.empty(m - 1, dtype)


def tree_of_counts(m=1_000_000):
    keys, counters = np.full(m, 2**32 - 1, np.uint32), np.empty((2, ROWS_AT_ONCE), np.uint8)
    given = codes_of(m).T.copy(), np.empty(0, np.uint8), np.arange(P, -1, -1)[:, None], 20
    return *given, np.arange(m), keys, counters, *of_merges(m, np.int64)


def tree_of_bitmaps(n=2**20):
    n_blocks, shift = n // BLOCK_BITS, 21
    maps, best = (
        np.zeros((4 * P + 2, n_blocks, WORDS), np.uint64),
        np.zeros((n_blocks, plane_count(P), WORDS), np.uint64),
    )
    maps[-2] = 2**64 - 1  # all rows
    keys = np.arange(1, n + 1, dtype=np.uint64) | np.uint64(P << 2 * shift)
    return codes_of(n + 1), np.arange(P) * 4, maps, np.arange(1, n + 1), keys, best, shift, 0, *of_merges(n + 1, int)


def tree_of_similarities(m=200_000):
    return codes_of(m), compared(), np.arange(m), np.zeros(m, np.int64), np.full(m, -1.0), *of_merges(m)


def tree_of_points(n=500_000, m=3):
    X, keys = RANDOM.normal(size=(n, m)), np.full(n - 1, np.inf)
    left = np.arange(1, n), keys, keys.view(np.int64), np.zeros(n - 1, np.int64)
    return X[1:].T.copy(), *left, X[0].copy(), np.empty(POINTS_OF_BLOCK), *of_merges(n)


def points_in_boxes(n=200_000, m=30, n_leaves=2**13):
    X, order, n_nodes = RANDOM.normal(size=(n, m)), np.arange(n), 2 * n_leaves - 1
    starts, least_name = np.empty((n_nodes, 2), np.int64), np.empty(n_nodes, np.int64)
    boxes = np.empty((n_nodes, m)), np.empty((n_nodes, m))
    sort_into_tree(X, order, starts, *boxes, least_name)
    best = np.full(n, -1), np.zeros(n), np.empty(n), np.empty((n, 2), np.int64)
    return X[order], order, starts, *boxes, least_name, np.arange(n), np.empty(n_nodes, np.int64), *best, *of_merges(n)


def many_merges(n=10**12):
    merged = as_strided(np.empty(4), (n, 4), [0, 8])
    return as_strided(np.arange(2), (n, 2), [0, 8]), np.arange(2), np.arange(2), np.ones(2, np.int64), merged


def mixed_points(n=300_000, k=100):
    space = RANDOM.normal(size=(n, 20)), codes_of(n)[:, :2].copy(), np.arange(3) * 4, np.ones(2)
    labels = RANDOM.integers(k, size=n, dtype=np.int32)
    lloyd = Lloyd.of(space, labels, np.full(n, -1.0), np.empty((20, k)), np.empty((8, k)))
    return space, 10**9, 0.0, tuple(lloyd)


def matrix_of_pairs(m=300_000):
    condensed = Condensed(endless(0.5, m * (m - 1) // 2), np.empty(0), np.ones(m))
    return tuple(condensed), COMPLETE, tuple(Chain.of(m)), np.arange(m), *of_merges(m)


def rows_of_levels(m=40_000):
    rows = codes_of(m).T.copy(), np.empty(0, np.uint8), np.arange(1, P + 2, dtype=np.uint8)[:, None]
    return rows, tuple(LevelRows.of(m)), tuple(Chain.of(m)), *of_merges(m)


def label_profiles(m=200_000):
    rows, codes = Compared(*compared()), codes_of(m)
    clusters = Clusters.of(codes, np.ones(m, np.int64), rows)
    return tuple(rows), tuple(clusters), tuple(Chain.of(m)), tuple(Nearest.of(m)), *of_merges(m)


def rows_that_climb(m=10**12, k=100):
    counts, labelled = np.zeros((k, 4 * P), np.int64), np.zeros((k, P), np.int64)
    state = Climb(counts, labelled, *np.ones((2, k)), np.full(k, 9), np.full(k, 9))
    rows = as_strided(codes_of(1), (m, P), [0, 1]), endless(1, m), endless(np.int32(0), m)
    return *rows, np.arange(P + 1) * 4, np.ones(P), tuple(state), np.inf


M = 1_000_000
PAIRS = endless(np.uint8(0), M, M)
VALUES = np.array([0.5])


def edges_to_the_first(n=100_000):
    """Communities of a graph of a million edges at each node."""
    arrays = np.arange(n + 1) * M, endless(np.int32(0), n * M), endless(1.0, n * M)
    work = np.zeros(n), np.empty(n, np.int64), np.ones(n, np.bool_)
    return arrays, np.ones(n), 0.1, np.arange(n), np.arange(n), np.ones(n), work


KERNELS = {
    spanning_tree_of_counts: tree_of_counts,
    grow_tree_of_bitmaps: tree_of_bitmaps,
    spanning_tree_of_similarities: tree_of_similarities,
    spanning_tree_of_points: tree_of_points,
    join_components: points_in_boxes,
    number_merges: many_merges,
    lloyd_mixed: mixed_points,
    condensed_chain: matrix_of_pairs,
    complete_chain: rows_of_levels,
    average_chain: label_profiles,
    climb: rows_that_climb,
    _graphs.point_weights: lambda: (PAIRS, VALUES, np.ones(M, np.int64), np.arange(M), 5, np.empty(M)),
    _graphs.weakest_link: lambda: (PAIRS, VALUES, np.arange(M), np.ones(M), np.full(M, -1.0), np.ones(M, np.bool_)),
    _graphs.strongest_bridges: lambda: (PAIRS, VALUES, np.arange(M) % 5, np.ones(M), np.zeros(5)),
    _graphs.count_entries: lambda: (PAIRS, np.zeros((4, 1), np.int64)),
    _graphs.count_strong: lambda: (PAIRS, np.uint8(1), np.empty(M, np.int64)),
    _graphs.fill_strong: lambda: (PAIRS, VALUES, np.uint8(1), np.empty(M + 1, np.int32), np.empty(M + 1)),
    _graphs.move_nodes: edges_to_the_first,
}
"""Makers of arguments."""


def state_of(argument):
    """What is compared to see whether a kernel has changed it: of an array the first entries."""
    if isinstance(argument, tuple):
        return [state_of(part) for part in argument]
    if not isinstance(argument, np.ndarray):
        return argument
    return argument[: 1 if argument.size and 0 in argument.strides else 1000].copy()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_a_kernel_stops(kernel):
    arguments, stop_flag = KERNELS[kernel](), np.ones(1, np.uint8)
    before = state_of(arguments)
    kernel(*arguments, stop_flag)
    np.testing.assert_equal(state_of(arguments), before)  # it has returned at once
    stop_flag[0] = 0
    thread = threading.Thread(target=kernel, args=(*arguments, stop_flag), daemon=True)
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    stop_flag[0] = 1
    thread.join(20)
    assert not thread.is_alive()


def test_the_flag_is_read_each_time():
    """By a loop that writes nothing, out of which the compiler would move an ordinary read."""

    @njit(nogil=True)
    def count(n, stop_flag):
        total = 0
        for i in range(n):
            if is_set(stop_flag):
                return i
            total += i
        return -1

    stop_flag, found = np.ones(1, np.uint8), []
    assert count(10**15, stop_flag) == 0
    stop_flag[0] = 0
    thread = threading.Thread(target=lambda: found.append(count(10**15, stop_flag)), daemon=True)
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    stop_flag[0] = 1
    thread.join(20)
    assert 0 < found[0] < 10**15


def test_every_kernel_with_a_flag_is_tested():
    found = set()
    for module in pkgutil.iter_modules(kernels.__path__, f"{kernels.__name__}."):
        for name, kernel in vars(importlib.import_module(module.name)).items():
            if hasattr(kernel, "py_func") and "stop_flag" in inspect.signature(kernel.py_func).parameters:
                found.add(name)
    assert found - {"is_set", "assign"} == {kernel.__name__ for kernel in KERNELS}  # those two are called by kernels


# ---- The same results in tasks of one row, and with kernels in threads of their own ----


@pytest.fixture
def one_operation(monkeypatch):
    """Call the function as it is, and so that a task has one operation and each kernel a thread of its own."""

    def both(function):
        whole = function()
        with monkeypatch.context() as patch:
            limit(patch, "operations of a call of a kernel", 1)
            limit(patch, "operations that no thread of its own does", -1)
            return whole, function()

    return both


def labels_of(missing=0.0, n=60):
    return with_equal_rows(planted_labels(n=n, p=6, k=4, noise=0.4, missing=missing, seed=3)[0], n + n // 3)


@pytest.mark.parametrize("linkage", ["single", "average", "complete"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"association_threshold": 0.3},
        {"weights": [1, 2, 1, 3, 1, 1]},
        {"similarity": "cts", "association_threshold": 0.3},
    ],
    ids=["plain", "threshold", "weighted", "cts"],
)
def test_hierarchies(one_operation, linkage, parameters, missing):
    labels = labels_of(missing)
    fit = EvidenceAccumulation(linkage=linkage, **parameters).fit
    assert_array_equal(*one_operation(lambda: fit(labels).linkage_matrix_))


@pytest.mark.parametrize(
    "result",
    [
        lambda: association_counts(labels_of()),
        lambda: association_counts(labels_of(0.3)),
        lambda: coassociation(labels_of()),
        lambda: DISCOTEC().fit(labels_of(0.3)).scores_,
        lambda: DISCOTEC("kl").fit(labels_of()).scores_,
        lambda: InternalIndex("dunn").fit(labels_of(), features=features(80)).scores_,
        lambda: InternalIndex("mcclain_rao").fit(labels_of(), features=features(80)).scores_,
        lambda: mm_index(labels_of(), labels_of()[:, 0]),
        lambda: KMeansConsensus(4, refine="density", random_state=0).fit(labels_of(0.3)).labels_,
        lambda: GreedyPartitions(4, n_candidates=9, random_state=0).fit_transform(features(70)),
        lambda: GreedyPartitions(4, n_candidates=9, random_state=0).fit(features(70)).losses_,
        lambda: CSPA(3, partitioner="spectral", random_state=0).fit(labels_of()).labels_,
        lambda: CumulativeVoting(3).fit(labels_of(0.3)).membership_,
    ],
)
def test_results(one_operation, result):
    assert_array_equal(*one_operation(result))


def features(n):
    return np.random.default_rng(0).normal(size=(n, 3)) + 3 * (np.arange(n) % 4)[:, None]


def test_a_task_has_as_many_rows_as_it_may_take(monkeypatch):
    limit(monkeypatch, "operations of a call of a kernel", 1000)
    assert [rows_per_call(operations, 64) for operations in (0, 1, 100, 999, 10**9)] == [64, 64, 10, 1, 1]


# ---- Who runs a kernel, and who stops it ----

LONG = 10**12
"""Operations."""


def place_of(flag):
    return threading.current_thread(), bool(flag[0])


def until_stopped(flag):
    """A kernel that does not end by itself."""
    while not flag[0]:
        time.sleep(0.001)


def test_a_long_kernel_has_a_thread_where_the_main_thread_would_not_see_ctrl_c():
    calls = []
    here, known = threading.current_thread(), lambda flag: calls.append(place_of(flag))
    run_interruptibly(known, operations=1000)
    run_interruptibly(known, operations=LONG)
    assert calls[:2] == [(here, False), (here, True)]  # the second compiles the kernel, and is over at once
    assert calls[2][0] not in (here, *threading.enumerate())
    assert not calls[2][1]
    with ThreadPoolExecutor(1) as other:
        expected = other.submit(place_of, [False]).result()
        assert other.submit(run_interruptibly, place_of, operations=LONG).result() == expected


def test_a_kernel_is_given_plain_tuples_and_its_result_is_returned():
    given = Compared(*np.zeros((5, 1)), True)
    for operations in (1, LONG):
        assert run_interruptibly(lambda state, flag: type(state), given, operations=operations) is tuple


@pytest.mark.parametrize("operations", [1, LONG])
def test_an_error_in_a_kernel_is_raised(operations):
    def kernel(flag):
        if not flag[0]:
            raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        run_interruptibly(kernel, operations=operations)


needs_sigint = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")


@needs_sigint
@pytest.mark.parametrize("n_tasks", [1, 2])
def test_ctrl_c_stops_a_kernel_and_waits_for_it(n_tasks):
    ended = []

    def kernel(flag):
        until_stopped(flag)
        ended.append(threading.current_thread())

    def work():
        parallel_map(lambda _: run_interruptibly(kernel, operations=LONG), range(n_tasks), n_tasks)

    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    assert len(ended) == 1 + n_tasks  # one was the call that compiles
    check_stopped()  # the flag was of that call alone


@pytest.mark.parametrize("n_inner", [1, 4])
def test_an_error_stops_the_kernels_of_the_other_threads(n_inner):
    """The other thread's kernel never ends by itself; it may lie one `parallel_map` deeper."""
    started, calls = threading.Event(), itertools.count()

    def kernel(flag):
        started.set()
        until_stopped(flag)

    def task(i):
        if i == 1:
            started.wait(10)
            raise KeyError("the error of the second task")
        parallel_map(lambda _: run_interruptibly(kernel, operations=LONG), range(n_inner), 2)

    with pytest.raises(KeyError, match="the error of the second task"):
        parallel_map(task, range(2), 2)
    check_stopped()  # this thread's own work is not stopped
    assert parallel_map(lambda i: i + next(calls) * 0, range(5), 2) == list(range(5))


def test_an_error_that_is_caught_stops_nothing_around_it():
    def fail(i):
        raise KeyError(i)

    def task(i):
        with pytest.raises(KeyError):
            parallel_map(fail, range(2), 2)
        return run_interruptibly(lambda flag: i, operations=1)

    assert parallel_map(task, range(6), 2) == list(range(6))


def test_who_is_stopped_from_outside_says_so():
    flag = StopFlag()
    with unless(flag), pytest.raises(Stopped):
        parallel_map(lambda i: flag.set(), range(4), 2)
    with unless(flag), pytest.raises(Stopped):
        parallel_map(lambda i: i, range(4), 2)
    check_stopped()


def test_an_error_waits_for_the_tasks_that_run():
    """Who catches it may free or change what they work on."""
    both, ended = threading.Barrier(2), []

    def task(i):
        both.wait(60)
        if threading.current_thread() is threading.main_thread():
            raise KeyError(i)
        time.sleep(0.3)
        ended.append(i)

    with pytest.raises(KeyError):
        parallel_map(task, range(2), 2)
    assert len(ended) == 1


def test_progress_is_told_while_threads_work():
    told, both = [], threading.Barrier(2)
    parallel_map(lambda _: both.wait(60), range(6), 2, lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (6, 6)
    assert len(told) > 1


def test_a_search_for_eigenvectors_that_nobody_waits_for_ends_at_the_next_product(monkeypatch):
    products, flag, eigsh = [], StopFlag(), sparse_linalg.eigsh

    def watched(matrix, *arguments, **options):
        def times(vector):
            product = matrix @ vector
            products.append(product)
            if len(products) == 5:
                flag.set()
            return product

        return eigsh(sparse_linalg.LinearOperator(matrix.shape, times, dtype=np.float64), *arguments, **options)

    monkeypatch.setattr(sparse_linalg, "eigsh", watched)
    similarities = np.random.default_rng(0).random((500, 500))
    model = CSPA(3, partitioner="spectral", n_neighbors=None, random_state=0)
    with pytest.raises(Stopped), unless(flag):
        model.fit_similarity(np.maximum(similarities, similarities.T))
    assert len(products) == 5


FIT = """
import os, signal, sys, threading
import numpy as np
from ensemblage.consensus import EvidenceAccumulation
from ensemblage.generation import Genie
from ensemblage.ranking import DISCOTEC
from ensemblage.metrics._coassociation import association_counts
labels = np.random.default_rng(0).integers(4, size=(int(sys.argv[1]), 20))
{call}(labels[:50])  # kernels are compiled or loaded
print("started", flush=True)
{call}(labels)
print("finished", flush=True)
"""


@needs_sigint
@pytest.mark.parametrize(
    ("call", "n"),
    [
        ("EvidenceAccumulation(linkage='average').fit", 120_000),
        ("EvidenceAccumulation(linkage='single').fit", 300_000),
        ("EvidenceAccumulation(linkage='complete').fit", 35_000),
        ("association_counts", 400_000),
        ("DISCOTEC().fit", 600_000),
        ("Genie(3).fit", 600_000),
    ],
)
def test_ctrl_c_ends_a_fit_long_before_it_is_done(call, n):
    """On one core each of these takes 20 to 200 seconds; the test waits for 15."""
    command = [sys.executable, "-c", FIT.format(call=call), str(n)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "started\n"
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            out, error = process.communicate(timeout=15)
        finally:
            process.kill()
    assert "KeyboardInterrupt" in error
    assert out == ""
