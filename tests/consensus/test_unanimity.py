"""What no method may miss: partitions that agree are the consensus; one cluster; as many clusters as rows."""

import re
from contextlib import nullcontext
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from representatives import of_families
from strategies import few_starts, label_matrices, number_for, usual

from ensemblage import METHODS

AVAILABLE = sorted(name for name, method in METHODS.items() if not method.package or find_spec(method.package))
MAY_BE_FEWER = {"majority", "soft-euclidean", "hard-euclidean", "gv3", "bv"}
MAY_BE_FEWER |= {name for name in METHODS if name.startswith("salso")}
"""Where ``n_clusters`` is the most: a column of votes may be the largest of no object, a smaller loss may be enough."""
FEW = settings(max_examples=settings.default.max_examples // 5)


def clusters_of(name, k, labels):
    model = few_starts(usual(name, k))
    return (model.set_params(random_state=0) if "random_state" in model.get_params() else model).fit(labels).labels_


def same_partition(found, truth):
    return len(set(zip(found.tolist(), truth.tolist(), strict=True))) == len(set(found)) == len(set(truth))


def renamed(truth, p, random):
    """The partition p times, each time with other names."""
    return np.column_stack([np.array(random.sample(range(9), len(set(truth))))[truth] for _ in range(p)])


@st.composite
def agreeing(draw):
    """A partition of few objects in any order, and an ensemble of nothing else."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=5))
    random = draw(st.randoms(use_true_random=False))
    truth = np.repeat(np.arange(len(sizes)), sizes)
    random.shuffle(order := list(range(len(truth))))
    return truth[order], renamed(truth[order], draw(st.integers(2, 4)), random)


UNEQUAL = np.repeat(np.arange(3), [30, 7, 1])
TWELVE = np.array([[i % 4, i // 3, (i + i // 4) % 4] for i in range(12)])
"""Twelve different rows of twelve labels."""


def test_twelve_rows_are_different():
    assert len(np.unique(TWELVE, axis=0)) == sum(len(np.unique(z)) for z in TWELVE.T) == 12


def missed(name):
    """What a method misses in small cases."""
    if not same_partition(clusters_of(name, 3, np.column_stack([UNEQUAL, 2 - UNEQUAL, UNEQUAL])), UNEQUAL):
        yield "partitions that agree"
    if not number_for(name):
        return
    if clusters_of(name, 1, TWELVE).any():
        yield "one cluster"
    if name not in {*MAY_BE_FEWER, "acv"} and len(set(clusters_of(name, 12, TWELVE))) < 12:
        yield "as many clusters as rows"


@pytest.mark.parametrize("method", [pytest.param((name,), id=name) for name in AVAILABLE])
def test_no_method_misses_it(method):
    """All methods, in the core too: a tuple is no name, for which another would stand."""
    assert list(missed(*method)) == []


@pytest.mark.parametrize("name", of_families(AVAILABLE))
@FEW
@given(agreeing())
def test_partitions_that_agree_are_the_consensus(name, case):
    truth, labels = case
    assert same_partition(clusters_of(name, len(set(truth)), labels), truth)


@pytest.mark.parametrize("name", of_families(AVAILABLE))
@FEW
@given(label_matrices(missing=False, min_objects=2, max_objects=8, min_partitions=2))
def test_one_cluster_and_as_many_as_rows(name, labels):
    """Voting makes no more than the largest partition has, a graph of the clusters no more than all have."""
    if not number_for(name):
        return
    m, sizes = len(np.unique(labels, axis=0)), [len(np.unique(z)) for z in labels.T]
    assert not clusters_of(name, 1, labels).any()
    if name not in MAY_BE_FEWER and m <= (max(sizes) if name == "acv" else sum(sizes)):
        assert same_partition(clusters_of(name, m, labels), np.unique(labels, axis=0, return_inverse=True)[1].ravel())


@pytest.mark.parametrize("name", sorted(MAY_BE_FEWER))
def test_what_gives_fewer_says_so(name):
    told = METHODS[name].estimator.__doc__.split("n_clusters :")[1].split(" : ")[0]
    assert re.search("(?i)there may be fewer|at most; no more than", " ".join(told.split()))
    fewer = nullcontext() if name.startswith("salso") else pytest.raises(ValueError, match="must be ≤ the 2 clusters")
    with fewer:
        assert len(set(clusters_of(name, 3, [[0, 0], [0, 1], [1, 1]]))) < 3
