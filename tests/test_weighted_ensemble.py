"""Ensembles whose objects count several times: `fit` with ``sample_weight`` makes them, and no public call returns one.

What it is for is in test_sample_weight.py: every method, against repeated rows.
"""

import numpy as np
import pytest
from inside import sample_weight_of, weighted
from numpy.testing import assert_array_equal
from strategies import planted_labels, random_labels

from ensemblage import Ensemble, SoftEnsemble
from ensemblage.stability import member_stability


def test_partitions_beside_others_keep_the_weights_of_the_objects():
    labels, more = random_labels(40, 3, 4, 0.2, seed=0), random_labels(40, 2, 3, 0.2, seed=1)
    counts = np.random.default_rng(0).integers(0, 4, size=40)
    first = weighted(Ensemble(labels), counts)
    expected = Ensemble(np.repeat(np.column_stack([labels, more]), counts, axis=0))
    for other in (Ensemble(more), weighted(Ensemble(more), counts)):
        both = first.append_partitions(other)
        assert np.array_equal(sample_weight_of(both), counts)
        assert np.array_equal(both.distinct.codes[:], expected.distinct.codes[:])
        assert np.array_equal(both.distinct.counts, expected.distinct.counts)
    ones = weighted(Ensemble(more), np.ones(40, dtype=np.int64))
    assert Ensemble(labels).append_partitions(ones).shape == (40, 5)
    for one, second in ((first, ones), (Ensemble(labels), first)):
        with pytest.raises(ValueError, match=r"count every object as often as these do\. Got other weights\."):
            one.append_partitions(second)


def test_memberships_beside_others_and_some_of_them_keep_the_weights_of_the_objects():
    blocks = [np.random.default_rng(j).dirichlet(np.ones(3), size=20) for j in range(2)]
    counts = np.random.default_rng(0).integers(0, 4, size=20)
    first, second = (
        SoftEnsemble._of(SoftEnsemble([block]).rows, [name], counts) for block, name in zip(blocks, "ab", strict=True)
    )
    both = first.append_partitions(second)
    assert np.array_equal(sample_weight_of(both), counts)
    assert np.array_equal(sample_weight_of(first.append_partitions(SoftEnsemble(blocks[1:]))), counts)
    with pytest.raises(ValueError, match="must count every object as often as these do"):
        SoftEnsemble(blocks[1:]).append_partitions(first)
    mask = counts > 1
    for rows in (slice(3, 17, 2), mask, np.flatnonzero(mask)[::-1], [5, 5, -1]):
        assert np.array_equal(sample_weight_of(both[rows]), counts[rows])
        assert np.array_equal(both[rows].rows.H, both.rows.H[rows])
    assert sample_weight_of(SoftEnsemble(blocks)[:5]) is None


@pytest.mark.parametrize("rows", [slice(3, 37, 2), slice(None), list(range(5, 30)), np.arange(40) % 3 > 0])
def test_some_objects_keep_their_weights(rows):
    labels, counts = random_labels(40, 3, 4, 0.2, seed=0), np.random.default_rng(0).integers(0, 4, size=40)
    some = weighted(Ensemble(labels), counts)[rows]
    assert np.array_equal(sample_weight_of(some), counts[rows])
    expected = Ensemble(np.repeat(labels[rows], counts[rows], axis=0))
    assert np.array_equal(some.distinct.codes[:], expected.distinct.codes[:])
    assert np.array_equal(some.distinct.counts, expected.distinct.counts)
    assert np.array_equal(weighted(Ensemble(labels), counts)[4], Ensemble(labels)[4])


def test_objects_that_count_repeatedly():
    labels, truth = planted_labels(n=30, p=4, k=3, seed=0)
    weight = np.random.default_rng(0).integers(1, 4, size=30)
    found = member_stability(truth, weighted(Ensemble(labels), weight))
    repeated = member_stability(np.repeat(truth, weight), np.repeat(labels, weight, axis=0))
    assert_array_equal(found.jaccard, repeated.jaccard)
    assert [r.size for r in found.table] == [r.size for r in repeated.table]
