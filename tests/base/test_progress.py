"""`progress=`: told in order by the calling thread; an error in it ends the work; results do not depend on it."""

import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from strategies import planted_labels

from ensemblage import ConsensusClustering, choose_k
from ensemblage.consensus import GreedyKMeansConsensus, NegMM
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

X = make_blobs(60, n_features=3, random_state=0)[0]
LABELS = planted_labels(n=50, p=6, k=3, seed=0)[0]
MODELS = {
    "random-k": (RandomKPartitions(7, random_state=0), 7),
    "subspace": (SubspacePartitions(7, random_state=0), 7),
    "projection": (ProjectionPartitions(7, random_state=0), 7),
    "uspec": (USpecPartitions(7, random_state=0), 7),
    "resampled": (ResampledPartitions(7, n_clusters=3, random_state=0), 7),
    "mixed": (MixedPartitions(3, estimators=[KMeans(n_init=1), KMeans(n_init=2)], random_state=0), 2),
    "greedy": (GreedyPartitions(4, n_candidates=9, random_state=0), 27),
    "greedy, one cluster": (GreedyPartitions(1), 1),
    "gkcc": (GreedyKMeansConsensus(3, n_candidates=9, random_state=0), 18),
    "on features": (ConsensusClustering(3, generator=RandomKPartitions(6), random_state=0), 6),
    "negmm": (NegMM(3, distinct=False, random_state=0), 51),
    "negmm, one threshold": (NegMM(3, association_threshold=0.2, random_state=0), 1),
}


def fit(model):
    return model.fit(LABELS if isinstance(model, NegMM) else X)


def labels_of(model):
    return model.labels_ if hasattr(model, "labels_") else model.transform(X)


class Calls:
    """A function that keeps what it was called with, and in which thread."""

    def __init__(self):
        self.told, self.threads = [], set()

    def __call__(self, done, total):
        self.told.append((done, total))
        self.threads.add(threading.get_ident())

    def check(self, total, every=True):
        done = [done for done, _ in self.told]
        assert done == sorted(set(done))
        assert {of for _, of in self.told} == {total}
        assert self.told[-1] == (total, total)
        assert self.threads == {threading.get_ident()}
        assert not every or len(done) == total


@pytest.mark.core(3)
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_told_in_order(name, n_jobs):
    model, total = MODELS[name]
    calls, model = Calls(), clone(model).set_params(n_jobs=n_jobs)
    told = fit(clone(model).set_params(progress=calls.__call__))
    assert told.progress == calls.__call__
    calls.check(total, every=n_jobs == 1 or name not in ("greedy", "gkcc", "negmm"))
    assert_array_equal(labels_of(told), labels_of(fit(model)))


@pytest.mark.core(3)
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_an_error_passes_through(name, n_jobs):
    class GaveUpError(Exception):
        pass

    def give_up(done, total):
        calls.append(done)
        raise GaveUpError

    calls: list[int] = []
    fit(clone(MODELS[name][0]).set_params(n_jobs=n_jobs))  # the pool has its threads
    before = threading.active_count()
    with pytest.raises(GaveUpError):
        fit(clone(MODELS[name][0]).set_params(n_jobs=n_jobs, progress=give_up))
    assert len(calls) == 1
    end = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.02)
    assert threading.active_count() <= before


@pytest.mark.parametrize("name", MODELS)
def test_a_parameter_like_others(name):
    def progress(done, total):
        raise AssertionError("clone and get_params call nothing")

    model = clone(MODELS[name][0])
    assert model.get_params()["progress"] is None
    assert clone(model.set_params(progress=progress)).get_params()["progress"] is progress
    with pytest.raises(
        TypeError, match=r"^progress of \w+ must be a function, or None\. Got 3\. Give one, or leave it out\.$"
    ):
        fit(model.set_params(progress=3))


@pytest.mark.parametrize("n_references", [0, 2])
def test_choose_k(n_references):
    calls = Calls()
    options = {"n_partitions": 4, "n_references": n_references, "random_state": 0}
    choice = choose_k(X, [2, 3, 4], method="monti", progress=calls, **options)
    calls.check(12 * (1 + n_references))
    assert choice.table == choose_k(X, [2, 3, 4], method="monti", **options).table
    with pytest.raises(ZeroDivisionError):
        choose_k(X, [2, 3], method="monti", progress=lambda done, total: 1 // 0, **options)
    with pytest.raises(TypeError, match=r"^progress of choose_k must be a function"):
        choose_k(X, [2, 3], method="monti", progress="bar", **options)


def test_written_partitions(tmp_path):
    generator, calls = RandomKPartitions(5, random_state=0), []
    generator.set_params(progress=lambda done, total: calls.append((done, total)))
    write_partitions(generator, X, tmp_path / "a.npy")
    assert calls == [(i, 5) for i in range(1, 6)]
    # The same labels: another function, or none, makes nothing new.
    write_partitions(RandomKPartitions(5, random_state=0), X, tmp_path / "a.npy")
    assert_array_equal(np.load(tmp_path / "a.npy"), RandomKPartitions(5, random_state=0).fit_transform(X))


def test_a_generator_of_its_own_keeps_its_function():
    own, other = Calls(), Calls()
    generator = RandomKPartitions(4, progress=own.__call__)
    model = ConsensusClustering(2, generator=generator, progress=other.__call__, random_state=0).fit(X)
    model.generator_.progress.__self__.check(4)  # a clone of it: scikit-learn copies what a method belongs to
    assert other.told == []
