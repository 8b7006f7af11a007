"""A partition of weight 2 is the partition twice, and copies of all objects change nothing, or the class says so."""

import re
from importlib.util import find_spec

import numpy as np
import pytest
from representatives import of_families
from strategies import few_starts, planted_labels, random_labels, usual, with_equal_rows

from ensemblage import METHODS

AVAILABLE = sorted(name for name, method in METHODS.items() if not method.package or find_spec(method.package))
COUNTS_NO_WEIGHTS = {"negmm-wat-kmeans", "negmm-wat-gmm"}
NOT_THE_PARTITION_TWICE = {
    "mcla": "2 is not the partition twice",
    "ecpcs-mc": "2 is not the partition twice",
    "lce-wct": "2 is not the partition twice",
    "lce-wtq": "2 is not the partition twice",
    "lca": "2 is not the partition twice",
    "hgpa": "a search may end elsewhere",
    "hbgf": "The others do not",
    "ecpcs-hc": "counts each partition once",
    "soft-euclidean": "may end elsewhere",
    "hard-euclidean": "may end elsewhere",
    "majority": "but for ties",
    "bv": "other orders are drawn",
}
"""What the class says of ``weights``, where 2 may give something else."""
NOT_THE_SAME_OF_COPIES = {
    **dict.fromkeys(["cspa", "hgpa", "mcla", "hbgf", "sec", "hard-euclidean"], "Copies of all objects"),
    **dict.fromkeys(["negmm", "negmm-wat-kmeans", "negmm-wat-gmm"], "Copies of all objects change the result"),
    **dict.fromkeys([name for name in METHODS if name.startswith("salso")], "Copies of all objects .* search"),
}
"""What the class, or its ``fit``, says of copies, where they may give something else."""
SETS = [
    *(planted_labels(n=40 + 20 * i, p=8, k=3, noise=0.25, seed=i)[0] for i in range(4)),
    *(random_labels(n=20 + 10 * i, p=5, k=3, seed=i) for i in range(4)),
    *(with_equal_rows(planted_labels(n=60, p=9, k=4, noise=0.3, missing=0.2, seed=i)[0], 120) for i in range(2)),
    *(random_labels(n=7, p=3, k=3, seed=i) for i in range(8)),
]


def clusters_of(name, labels, **parameters):
    k = 3 if len(np.unique(labels, axis=0)) > 10 else 2
    model = few_starts(usual(name, k, **parameters))
    return (model.set_params(random_state=0) if "random_state" in model.get_params() else model).fit(labels).labels_


def agree(found, other):
    return len(set(zip(found.tolist(), other.tolist(), strict=True))) == len(set(found)) == len(set(other))


def weights_are_copies(name, labels):
    weights = np.random.default_rng(1).integers(1, 4, size=labels.shape[1])
    twice = np.repeat(labels, weights, axis=1)
    return agree(clusters_of(name, labels, weights=weights), clusters_of(name, twice))


def copies_change_nothing(name, labels):
    return agree(clusters_of(name, np.repeat(labels, 3, axis=0))[::3], clusters_of(name, labels))


def said(name):
    estimator = METHODS[name].estimator
    return " ".join(f"{estimator.__doc__} {estimator.fit.__doc__}".split())


def methods(exceptions):
    return of_families(name for name in AVAILABLE if name not in exceptions)


@pytest.mark.core(3)
@pytest.mark.parametrize("name", methods(COUNTS_NO_WEIGHTS | NOT_THE_PARTITION_TWICE.keys()))
def test_weight_2_is_the_partition_twice(name):
    assert [i for i, labels in enumerate(SETS) if not weights_are_copies(name, labels)] == []


@pytest.mark.core(1)
@pytest.mark.parametrize("name", methods(NOT_THE_SAME_OF_COPIES))
def test_copies_of_all_objects_change_nothing(name):
    assert [i for i, labels in enumerate(SETS) if not copies_change_nothing(name, labels)] == []


EXCEPTIONS = [(weights_are_copies, NOT_THE_PARTITION_TWICE), (copies_change_nothing, NOT_THE_SAME_OF_COPIES)]


@pytest.mark.parametrize("exceptions", [NOT_THE_PARTITION_TWICE, NOT_THE_SAME_OF_COPIES], ids=["weights", "objects"])
def test_exceptions_are_told(exceptions):
    assert [name for name, words in exceptions.items() if not re.search(words, said(name))] == []


@pytest.mark.slow
@pytest.mark.parametrize(("holds", "exceptions"), EXCEPTIONS, ids=["weights", "objects"])
def test_exceptions_are_some(holds, exceptions):
    """One that has become none is to be told no longer. Of SALSO few losses can tell copies."""
    some = [name for name in exceptions if name in AVAILABLE and not name.startswith("salso")]
    assert [name for name in some if all(holds(name, labels) for labels in SETS)] == []
