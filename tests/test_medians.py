"""Distances of partitions and their medians: R's clue on a worked example, naive twins, exhaustive search."""

import numpy as np
import pytest
from hypothesis import given, settings
from naive import partition_distance as by_definition
from numpy.testing import assert_allclose, assert_array_equal
from strategies import label_matrices

from ensemblage.metrics import partition_distance, partition_distances
from ensemblage.metrics._partition_distance import DISTANCES
from ensemblage.ranking import AverageDistance, make_ranker

E = np.array(
    [
        [1, 1, 1, 1, 2, 2, 2, 3, 3, 2],
        [1, 1, 1, 2, 2, 2, 2, 3, 3, 3],
        [1, 1, 2, 2, 2, 3, 3, 4, 4, 4],
        [1, 1, 1, 1, 1, 2, 2, 2, 2, 1],
    ]
).T
"""Four partitions of ten objects; the numbers below are those of R's clue 0.3-64."""
PAIRS = np.triu_indices(4, 1)
CLUE = {
    "euclidean": [2, 2.828427, 2.828427, 2.449490, 3.162278, 3.162278],
    "manhattan": [4, 8, 8, 6, 10, 10],
    "ba-a": [2, 4, 4, 3, 5, 5],
    "symdiff": [11, 13, 16, 8, 21, 17],
    "rand": np.array([11, 13, 16, 8, 21, 17]) / 45,
    "comembership": [4.690416, 5.099020, 5.656854, 4, 6.480741, 5.830952],
    "ba-c": [4, 5, 3, 3, 3, 4],
    "gv1": [2, 2.236068, 2, 1.732051, 2.449490, 2.236068],
    "vi": [0.865756, 1.075056, 0.936426, 0.659167, 1.352315, 1.075056],
    "ba-e": [0.575334, 0.614997, 0.702928, 0.423327, 0.868475, 0.690416],
}
SUMS = {"euclidean": [7.656854, 7.611767, 8.440195, 9.152982], "manhattan": [20, 20, 24, 28]}
MEDOIDS = {"euclidean": 1, "manhattan": 0, "comembership": 2, "vi": 2, "gv1": 1}


# ---- Distances ----


@pytest.mark.parametrize("kind", CLUE)
def test_distances_of_the_example(kind):
    distances = partition_distances(E, kind)
    assert_allclose(distances[PAIRS], CLUE[kind], atol=5e-7)
    assert_array_equal(distances, distances.T)
    assert_array_equal(np.diag(distances), 0)


@pytest.mark.parametrize("kind", MEDOIDS)
def test_medoids_of_the_example(kind):
    ranker = AverageDistance(kind).fit(E)
    assert ranker.order_[0] == MEDOIDS[kind]
    if kind in SUMS:
        assert_allclose(3 * ranker.scores_, SUMS[kind], atol=2e-6)


def test_every_kind_has_a_ranker():
    for kind in DISTANCES:
        assert make_ranker(f"distance-{kind}").kind == kind


@pytest.mark.parametrize("kind", DISTANCES)
@settings(max_examples=40, deadline=None)
@given(labels=label_matrices(max_partitions=4))
def test_distances_by_their_definitions(kind, labels):
    distances = partition_distances(labels, kind)
    p = labels.shape[1]
    for i in range(p):
        for j in range(p):
            expected = 0 if i == j else by_definition(labels[:, i], labels[:, j], kind)
            assert_allclose(distances[i, j], expected, atol=1e-9)


@pytest.mark.parametrize("kind", DISTANCES)
def test_names_of_labels_do_not_matter(kind):
    a, b = E[:, 0], np.array(list("abcddddeee"))
    swapped = np.array(["x", "z", "y"])[E[:, 0] - 1]
    assert partition_distance(a, b, kind) == partition_distance(swapped, b, kind) > 0
    assert partition_distance(a, swapped, kind) == 0


@pytest.mark.parametrize("kind", DISTANCES)
def test_no_common_object(kind):
    assert np.isnan(partition_distance([0, 1, -1, -1], [-1, -1, 0, 1], kind))


def test_weights_of_objects_are_no_matter_of_distances():
    """Distinct rows with counts give what the objects give."""
    labels = np.repeat(E, [3, 1, 4, 1, 5, 1, 2, 1, 1, 1], axis=0)
    for kind in DISTANCES:
        assert_allclose(partition_distances(labels, kind)[0, 1], by_definition(labels[:, 0], labels[:, 1], kind))


def test_what_is_refused():
    with pytest.raises(ValueError, match="kind of partition_distances must be one of 'euclidean'"):
        partition_distances(E, "cosine")
    with pytest.raises(ValueError, match="kind of partition_distance must be one of"):
        partition_distance(E[:, 0], E[:, 1], "cosine")
    wide = np.column_stack([np.arange(20_000), np.arange(20_000)])
    with pytest.raises(ValueError, match="must have at most 268,435,456 cells"):
        partition_distances(wide, "euclidean")
    assert partition_distances(wide, "vi")[0, 1] == 0
