"""Long kernels in slices: the same results for any slice, and Ctrl-C is seen between two."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse.linalg import LinearOperator
from strategies import planted_labels, twins

from ensemblage import (
    CSPA,
    CumulativeVoting,
    Discotec,
    EvidenceAccumulation,
    GreedyPartitions,
    InternalIndex,
    KMeansConsensus,
)
from ensemblage.consensus.graphs._ncut import leading_eigenvectors
from ensemblage.labels import threads as slices
from ensemblage.labels.threads import Stopped, check_stopped, parallel_map, rows_per_call, run_interruptibly, unless
from ensemblage.metrics import association_counts, coassociation, mm_index


@pytest.fixture
def one_operation(monkeypatch):
    """Call the function as it is, and with slices of one operation."""

    def both(function):
        whole = function()
        with monkeypatch.context() as patch:
            patch.setattr(slices, "OPERATIONS", 1)
            return whole, function()

    return both


def labels_of(missing=0.0, n=60):
    return twins(planted_labels(n=n, p=6, k=4, noise=0.4, missing=missing, seed=3)[0], n + n // 3)


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
        lambda: Discotec().fit(labels_of(0.3)).scores_,
        lambda: Discotec("kl").fit(labels_of()).scores_,
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


def test_a_slice_has_as_many_rows_as_it_may_take(monkeypatch):
    monkeypatch.setattr(slices, "OPERATIONS", 1000)
    assert [rows_per_call(operations, 64) for operations in (0, 1, 100, 999, 10**9)] == [64, 64, 10, 1, 1]


def test_a_kernel_is_called_until_nothing_is_left(monkeypatch):
    monkeypatch.setattr(slices, "OPERATIONS", 7)
    budgets = []

    def kernel(state, budget):
        assert type(state) is tuple
        budgets.append(budget)
        return len(budgets) < 4

    from ensemblage.kernels._average_linkage import Compared

    run_interruptibly(kernel, Compared(*np.zeros((5, 1)), True))
    assert budgets == [7] * 4


# ---- Who is stopped ----


@pytest.mark.parametrize("n_inner", [1, 4])
def test_an_error_stops_the_slices_of_the_other_threads(n_inner):
    """The other thread's kernel never ends by itself; it may lie one `parallel_map` deeper."""
    started, calls = threading.Event(), itertools.count()

    def kernel(budget):
        started.set()
        next(calls)
        time.sleep(0.001)
        return True

    def task(i):
        if i == 1:
            started.wait(10)
            raise KeyError("the error of the second task")
        parallel_map(lambda _: run_interruptibly(kernel), range(n_inner), 2)

    with pytest.raises(KeyError, match="the error of the second task"):
        parallel_map(task, range(2), 2)
    check_stopped()  # this thread's own work is not stopped
    assert parallel_map(lambda i: i + next(calls) * 0, range(5), 2) == list(range(5))


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


def test_a_search_for_eigenvectors_that_nobody_waits_for_ends_at_the_next_product():
    products = []

    def times(vector):
        products.append(vector)
        return diagonal * vector

    diagonal = np.arange(1_000.0)
    operator = LinearOperator((1_000, 1_000), times, dtype=np.float64)
    with pytest.raises(Stopped), unless(lambda: len(products) == 5):
        leading_eigenvectors(operator, 3, np.random.RandomState(0))
    assert len(products) == 5


FIT = """
import os, signal, sys, threading
import numpy as np
from ensemblage import Discotec, EvidenceAccumulation
from ensemblage.metrics import association_counts
labels = np.random.default_rng(0).integers(4, size=(int(sys.argv[1]), 20))
{call}(labels[:50])  # kernels are compiled or loaded
print("started", flush=True)
{call}(labels)
print("finished", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize(
    ("call", "n"),
    [
        ("EvidenceAccumulation(linkage='average').fit", 120_000),
        ("EvidenceAccumulation(linkage='single').fit", 300_000),
        ("EvidenceAccumulation(linkage='complete').fit", 35_000),
        ("association_counts", 400_000),
        ("Discotec().fit", 600_000),
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
