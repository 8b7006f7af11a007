"""Threads and forks: what is computed once, under a lock that a forked child does not inherit."""

import copy
import errno
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
from functools import partial

import joblib
import numpy as np
import pytest
from limits import limit
from sklearn.base import clone
from strategies import random_labels

from ensemblage import Ensemble, make_consensus
from ensemblage.base import threads
from ensemblage.base.threads import locked_property
from ensemblage.labels import disk

WHOLE_FITS = {
    "km": {"n_init": 3, "random_state": 0},
    "h-km": {"n_init": 2, "random_state": 0},
    "bv": {"n_init": 4, "random_state": 0},
    "negmm": {"random_state": 0},
    "majority": {},
}
"""Methods whose threads do different things."""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def at_the_same_time(*functions):
    """Results of functions that begin together, each in a thread of its own."""
    barrier, results = threading.Barrier(len(functions)), [None] * len(functions)

    def work(i):
        barrier.wait()
        try:
            results[i] = functions[i]()
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class Slow:
    def __init__(self):
        self.calls = 0

    @locked_property
    def value(self):
        """A value."""
        self.calls += 1
        time.sleep(0.1)
        return object()


def test_once_is_computed_by_one_thread():
    slow, other = Slow(), Slow()
    first, second, third = at_the_same_time(lambda: slow.value, lambda: slow.value, lambda: other.value)
    assert first is second is slow.value
    assert third is other.value is not first
    assert (slow.calls, other.calls) == (1, 1)
    assert Slow.value.__doc__ == "A value."


def test_once_has_no_part_in_copies():
    ensemble = Ensemble(random_labels())
    assert "_locks" not in pickle.dumps((ensemble, ensemble.distinct)).decode("latin-1")
    assert copy.deepcopy(ensemble).distinct is not ensemble.distinct


def test_a_lock_lives_as_long_as_its_object():
    slow = Slow()
    _ = slow.value
    key = id(slow), "value"
    assert key in threads._locks
    del slow
    assert key not in threads._locks


def test_properties_of_an_object_are_computed_at_once():
    class Pair:
        def __init__(self):
            self.both = threading.Barrier(2, timeout=20)

        @locked_property
        def one(self):
            return self.both.wait()

        @locked_property
        def other(self):
            return self.both.wait()

    pair = Pair()
    assert sorted(at_the_same_time(lambda: pair.one, lambda: pair.other)) == [0, 1]


def test_once_of_what_has_no_hash():
    class Settings(Slow):
        __hash__ = None

    assert Settings().value is not None


def test_an_error_is_not_kept():
    class Fails(Slow):
        @locked_property
        def value(self):
            self.calls += 1
            raise ValueError("no")

    fails = Fails()
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            _ = fails.value
    assert fails.calls == 2


@pytest.fixture
def slow_writing(monkeypatch):
    """Rows are written slowly: two threads that wrote the same file would meet."""
    real = disk.write_array

    def write(file, array):
        time.sleep(0.02)
        real(file, array)

    monkeypatch.setattr(disk, "write_array", write)
    limit(monkeypatch, "share of the memory for distinct rows on disk", 10**9)
    limit(monkeypatch, "rows that are sorted at once on disk", lambda *_: 23)


def test_two_threads_ask_a_stored_ensemble(tmp_path, slow_writing):
    labels = random_labels(90, 4, 5)
    np.save(tmp_path / "labels.npy", labels)
    E, expected = Ensemble.open(tmp_path / "labels.npy"), Ensemble(labels).distinct
    for found in at_the_same_time(lambda: E.distinct, lambda: E.distinct):
        assert found is E.distinct
        np.testing.assert_array_equal(found.codes[:], expected.codes)


def test_two_processes_may_find_the_rows_at_the_same_time(tmp_path, slow_writing):
    """As a forked child does, which has no part in its parent's locks: neither takes the other's files."""
    labels = random_labels(90, 4, 5)
    np.save(tmp_path / "labels.npy", labels)
    E, expected = Ensemble.open(tmp_path / "labels.npy"), Ensemble(labels).distinct
    without_lock = type(E).distinct._function
    results = at_the_same_time(*(lambda i=i: (time.sleep(i / 20), without_lock(E))[1] for i in range(4)))
    for found in results:
        for name in ("codes", "counts", "inverse"):
            np.testing.assert_array_equal(getattr(found, name)[:], getattr(expected, name))


def test_only_a_full_disk_is_said_to_be_full(tmp_path, monkeypatch):
    np.save(tmp_path / "labels.npy", random_labels())
    E = Ensemble.open(tmp_path / "labels.npy", scratch=tmp_path)
    before = sorted(path.name for path in E.rows.scratch.path.iterdir())

    def fails(number):
        def write(*_):
            raise OSError(number, os.strerror(number), "a file")

        monkeypatch.setattr(disk, "write_array", write)

    fails(errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)) as caught:
        _ = E.distinct
    assert caught.value.errno == errno.EIO
    for number in (errno.ENOSPC, errno.EDQUOT):
        fails(number)
        with pytest.raises(ValueError, match="must have room for the coded labels. Got " + os.strerror(number)):
            _ = E.distinct
    assert sorted(path.name for path in E.rows.scratch.path.iterdir()) == before


# ---- Fork ----

FORK = """
import os, sys, tempfile, threading, time
import numpy as np
from ensemblage import Ensemble
from ensemblage.base import threads
from ensemblage.base.threads import parallel_map

labels = np.random.default_rng(0).integers(0, 4, (3000, 5))

def child(work):
    pid = os.fork()
    if not pid:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return "hangs"
"""


def run(code):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


INSIDE = """
    expected = Ensemble(labels).distinct.counts.sum()
    inside, leave = threading.Event(), threading.Event()
    real = MODULE.FUNCTION
    def slow(*arguments, **options):
        if threading.current_thread() is thread:
            inside.set()
            leave.wait(60)
        return real(*arguments, **options)
    MODULE.FUNCTION = slow
    thread = threading.Thread(target=lambda: E.distinct)
    thread.start()
    inside.wait(60)
    print(child(lambda: E.distinct.counts.sum() == expected))
    leave.set()
    thread.join()
    print(E.distinct.counts.sum() == expected, np.array_equal(E.distinct.codes[:][E.distinct.inverse], E.codes[:]))
"""


@needs_fork
def test_fork_while_a_thread_finds_the_distinct_rows():
    code = "import ensemblage.labels.blocks as module\nE = Ensemble(labels)\n" + textwrap.dedent(INSIDE)
    assert run(code.replace("MODULE", "module").replace("FUNCTION", "distinct_rows")) == ["0", "True", "True"]


@needs_fork
def test_fork_while_a_thread_finds_the_distinct_rows_on_disk():
    code = """
    import ensemblage.labels.disk as module
    module.SMALL_PART = 10**9
    folder = tempfile.mkdtemp()
    np.save(folder + "/labels.npy", labels)
    E = Ensemble.open(folder + "/labels.npy", scratch=folder)
    """
    code = textwrap.dedent(code) + textwrap.dedent(INSIDE)
    assert run(code.replace("MODULE", "module").replace("FUNCTION", "write_array")) == ["0", "True", "True"]


@needs_fork
def test_fork_while_a_thread_pads_the_votes_of_another_ensemble():
    """Python 3.11's cached_property has one lock for all objects of a class, which a child inherits as it is."""
    code = """
    import ensemblage.kernels._table_rows as module
    thread, real = None, module.whole_lanes
    inside, leave = threading.Event(), threading.Event()
    def slow(*arguments):
        if threading.current_thread() is thread:
            inside.set()
            leave.wait(60)
        return real(*arguments)
    module.whole_lanes = slow
    from ensemblage.consensus import BipartiteVoting
    def votes():
        return BipartiteVoting(3, n_jobs=1, random_state=0).fit(labels).labels_
    expected = votes()
    thread = threading.Thread(target=votes)
    thread.start()
    inside.wait(60)
    print(child(lambda: np.array_equal(votes(), expected)))
    leave.set()
    thread.join()
    """
    assert run(code) == ["0"]


@needs_fork
def test_a_child_does_not_remove_the_folder_of_its_parent():
    code = """
    folder = tempfile.mkdtemp()
    np.save(folder + "/labels.npy", labels)
    E = Ensemble.open(folder + "/labels.npy", scratch=folder)
    pid = os.fork()
    if not pid:
        sys.exit(0)
    os.waitpid(pid, 0)
    print(len(E.codes[:]), len(E.distinct.inverse))
    """
    assert run(code) == ["3000", "3000"]


@needs_fork
def test_threads_after_a_fork():
    """The child has a pool of its own, and no lock that a thread of its parent held."""
    code = """
    inside, leave = threading.Event(), threading.Event()
    def hold():
        with threads._blas_limit._lock:
            inside.set()
            leave.wait(60)
    assert parallel_map(abs, range(-5, 0), 2) == [5, 4, 3, 2, 1]
    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(60)
    def work():
        with threads.one_native_thread():
            return parallel_map(lambda i: (time.sleep(0.01), i * i)[1], range(8), 4) == [i * i for i in range(8)]
    print(child(work))
    leave.set()
    thread.join()
    """
    assert run(code) == ["0"]


@needs_fork
def test_fork_while_a_thread_looks_for_libraries():
    """The linker has a lock of its own while it tells them, which a child would inherit as it is: the fork waits."""
    code = """
    linker, inside, real = threading.Lock(), threading.Event(), threads.ThreadpoolController
    def slow():
        with linker:
            inside.set()
            time.sleep(0.3)
            return real()
    def hold():
        with threads.one_native_thread():
            pass
    threads.ThreadpoolController = slow
    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(60)
    print(child(lambda: linker.acquire(timeout=5)))
    thread.join()
    print(threads._blas_limit._lock.locked())
    """
    assert run(code) == ["0", "False"]


@needs_fork
def test_fork_while_a_thread_compiles():
    code = """
    from numba.core.compiler_lock import global_compiler_lock
    import ensemblage.kernels._jit
    inside = threading.Event()
    def compile():
        with global_compiler_lock:
            inside.set()
            time.sleep(0.5)
    thread = threading.Thread(target=compile)
    thread.start()
    inside.wait(60)
    def work():
        with global_compiler_lock:
            return True
    print(child(work))
    thread.join()
    """
    assert run(code) == ["0"]


@needs_fork
@pytest.mark.parametrize("name", WHOLE_FITS)
def test_fork_inside_a_fit(name):
    """While its threads work, at five moments: the child fits by itself, and the fit of the parent goes on."""
    code = f"""
    from ensemblage import make_consensus
    labels = labels[:100]
    def fit(progress=None):
        model = make_consensus({name!r}, 4).set_params(**{WHOLE_FITS[name]!r}, n_jobs=2)
        if progress is not None and "progress" in model.get_params():
            model.set_params(progress=progress)
        return model.fit(labels).labels_
    expected, found, told = fit(), [], []
    def keep_fitting():
        while len(told) < 5:
            found.append(fit(lambda *_: time.sleep(0.01)))
    thread = threading.Thread(target=keep_fitting)
    thread.start()
    for i in range(5):
        time.sleep(0.003 * (1 + i))
        told.append(child(lambda: np.array_equal(fit(), expected)))
    thread.join()
    print(set(told), len(found) > 0, all(np.array_equal(z, expected) for z in found))
    """
    assert run(code) == ["{0}", "True", "True"]


# ---- Several fits at once ----


@pytest.mark.parametrize("stored", [False, True])
def test_fits_in_threads_of_one_ensemble(tmp_path, stored):
    """Nobody has asked it for its distinct rows before; on disk they are found once and read by all."""
    labels = random_labels(2000, 5, 4, 0.1)
    np.save(tmp_path / "labels.npy", labels)
    make = lambda name: make_consensus(name, 4).set_params(**WHOLE_FITS[name])  # noqa: E731
    names = [name for name in WHOLE_FITS if name != "negmm"] if stored else [*WHOLE_FITS]
    expected = [make(name).fit(labels) for name in names]
    for _ in range(3):
        E = Ensemble.open(tmp_path / "labels.npy", scratch=tmp_path) if stored else Ensemble(labels)
        found = at_the_same_time(*(partial(make(name).fit, E) for name in names * 2))
        for a, b in zip(found, expected * 2, strict=True):
            assert not isinstance(a, Exception), a
            np.testing.assert_array_equal(a.labels_, b.labels_)
            np.testing.assert_array_equal(a.confidence_, b.confidence_)


def fit_of_file(model, folder):
    return model.fit(Ensemble.open(folder / "labels.npy", scratch=folder))


def test_fits_in_processes(tmp_path):
    """Of joblib's loky: nothing is inherited, estimators and ensembles are pickled; labels on disk are opened there."""
    labels = random_labels(400, 5, 4, 0.1)
    np.save(tmp_path / "labels.npy", labels)
    models = {name: make_consensus(name, 4).set_params(**WHOLE_FITS[name], n_jobs=2) for name in WHOLE_FITS}
    expected = {name: clone(model).fit(labels) for name, model in models.items()}
    by_blocks = [name for name in WHOLE_FITS if name != "negmm"]
    parallel, E = joblib.Parallel(n_jobs=2, backend="loky"), Ensemble(labels)
    found = parallel(joblib.delayed(model.fit)(E) for model in models.values())
    found += parallel(joblib.delayed(fit_of_file)(models[name], tmp_path) for name in by_blocks)
    for name, model in zip([*models, *by_blocks], found, strict=True):
        np.testing.assert_array_equal(model.labels_, expected[name].labels_)
        np.testing.assert_array_equal(model.confidence_, expected[name].confidence_)
        if hasattr(model, "predict"):
            np.testing.assert_array_equal(model.predict(labels), expected[name].predict(labels))
    stored = Ensemble.open(tmp_path / "labels.npy", scratch=tmp_path)
    with pytest.raises(ValueError, match="needs all label rows in memory at once"):
        pickle.dumps(stored)
