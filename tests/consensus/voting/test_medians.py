"""Distances of partitions and their medians: R's clue on a worked example, naive twins, exhaustive search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import comembership_loss, median_loss
from naive import partition_distance as by_definition
from numpy.testing import assert_allclose, assert_array_equal
from strategies import label_matrices, planted_labels, random_labels

from ensemblage import make_consensus
from ensemblage.consensus import BipartiteVoting, ComembershipMedian, EuclideanMedian
from ensemblage.metrics import partition_distance, partition_distances
from ensemblage.ranking import RANKERS, AverageDistance, make_ranker

DISTANCES = [name.removeprefix("distance-") for name in RANKERS if name.startswith("distance-")]
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


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 10, 1000])
def test_all_apart_and_all_together_differ_by_the_logarithm_of_their_number(n):
    assert partition_distance(np.arange(n), np.zeros(n), "vi") == pytest.approx(np.log(n), rel=1e-14)


def test_every_kind_has_a_ranker():
    for kind in DISTANCES:
        assert make_ranker(f"distance-{kind}").measure == kind


@pytest.mark.core(3)
@pytest.mark.parametrize("kind", DISTANCES)
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
    with pytest.raises(ValueError, match="measure of partition_distances must be one of 'euclidean'"):
        partition_distances(E, "cosine")
    with pytest.raises(ValueError, match="measure of partition_distance must be one of"):
        partition_distance(E[:, 0], E[:, 1], "cosine")
    wide = np.column_stack([np.arange(20_000), np.arange(20_000)])
    with pytest.raises(ValueError, match="must have at most 268,435,456 cells"):
        partition_distances(wide, "euclidean")
    assert partition_distances(wide, "vi")[0, 1] == 0


# ---- Euclidean medians ----


def test_soft_median_from_the_first_partition():
    """clue's SE with k = 3, started at P1: here the second start, after the partition with the largest entropy."""
    model = EuclideanMedian(3, n_init=2, leave_one_out=False).fit(E)
    assert EuclideanMedian(3, n_init=1, leave_one_out=False).fit(E).objective_ > 3.5
    assert model.objective_ == pytest.approx(3.25)
    M = model.membership_
    M = M[:, [M[0].argmax(), M[5].argmax(), M[7].argmax()]]
    third, twelfth = 1 / 3, 1 / 12
    expected = {0: (1, 0, 0), 2: (5 / 6, twelfth, twelfth), 3: (7 / 12, third, twelfth), 4: (third, 7 / 12, twelfth),
                5: (0, 1, 0), 7: (0, 0.25, 0.75), 9: (0.25, 0.25, 0.5)}  # fmt: skip
    for i, row in expected.items():
        assert_allclose(M[i], row, atol=1e-12)


@pytest.mark.core(3)
@pytest.mark.parametrize(
    ("name", "k", "objective"),
    [
        ("soft-euclidean", 2, 5.1875),
        ("soft-euclidean", 3, 19 / 6),
        ("soft-euclidean", 4, 3),
        ("hard-euclidean", 2, 6),
        ("hard-euclidean", 3, 4.5),
        ("hard-euclidean", 4, 4.5),
        ("hard-manhattan", 3, 4.5),
    ],
)
def test_global_optima_of_the_example(name, k, objective):
    model = make_consensus(name, k, random_state=0).fit(E)
    assert model.objective_ == pytest.approx(objective)


def test_hard_median_is_a_partition_of_three():
    assert EuclideanMedian(4, prototype="hard").fit(E).n_clusters_ == 3


@given(
    label_matrices(max_objects=12, max_partitions=4, max_clusters=3, min_partitions=2),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)
def test_objective_by_its_definition(labels, k, hard, weighted):
    labels = labels[(labels >= 0).any(axis=1)]
    k = min(k, max(len(set(z[z >= 0])) for z in labels.T))
    weights = np.arange(1.0, labels.shape[1] + 1) if weighted else None
    given = {"prototype": "hard" if hard else "soft", "n_init": 1, "weights": weights}
    for leave_one_out in (False, True):
        models = [EuclideanMedian(k, leave_one_out=leave_one_out, max_iter=n, **given) for n in (1, 2, 3, 100)]
        found = [model.fit(labels).objective_ for model in models]
        assert (np.diff(found) <= 0).all()  # no iteration raises it
    model = models[-1]
    assert model.objective_ <= EuclideanMedian(k, leave_one_out=False, **given).fit(labels).objective_
    M = np.eye(k)[model.labels_] if hard else model.membership_
    assert model.objective_ == pytest.approx(median_loss(labels, M, weights), abs=1e-8)


def test_tables_and_rows_agree():
    """Where one object is unlabelled by one partition, sums come from the rows; else from tables alone."""
    labels = random_labels(n=400, p=6, k=4, seed=1)
    some = labels.copy()
    some[0, 0] = -1
    given = {"n_init": 1, "max_iter": 1, "leave_one_out": False}
    tables, rows = (EuclideanMedian(4, **given).fit(z) for z in (labels, some))
    assert tables.objective_ == pytest.approx(rows.objective_, rel=0.01)
    # A partition that labels nothing but these says the same, and takes the other way.
    twice = np.vstack([labels, np.full((1, 6), -1)])
    assert EuclideanMedian(4, **given).fit(twice).objective_ == tables.objective_


def test_memberships_of_objects():
    labels = planted_labels(n=80, p=7, k=3, noise=0.3, missing=0.2, seed=2)[0]
    labels[4] = -1
    for name in ("soft-euclidean", "hard-euclidean", "gv3"):
        model = make_consensus(name, 3).fit(labels)
        M = model.membership_
        assert np.isnan(M[4]).all()
        known = model.labels_ >= 0
        assert_allclose(M[known].sum(axis=1), 1)
        if name != "hard-euclidean":
            assert_array_equal(M[known].argmax(axis=1), model.labels_[known])
        (record,) = model.diagnostics(labels, np.arange(10))
        assert record.membership.shape == (10, 3)


def test_more_columns_than_any_partition_has():
    for name in ("soft-euclidean", "gv3"):
        with pytest.raises(ValueError, match=r"n_clusters of .* must be ≤ the 4 clusters of the largest"):
            make_consensus(name, 5).fit(E)


def test_one_pass_of_bipartite_voting_is_dwh():
    """Dimitriadou, Weingessel & Hornik's voting of P1 to P4, as R's clue has it; columns as they stand there."""
    passes = (BipartiteVoting(n_init=1, random_state=seed).fit(E) for seed in range(1000))
    M = next(model.aggregate_ for model in passes if (model.order_ == np.arange(4)).all())
    columns = [M[0].argmax(), M[5].argmax(), M[7].argmax()]
    M = M[:, [*columns, *({0, 1, 2, 3} - set(columns))]]
    expected = {0: (1, 0, 0, 0), 2: (0.75, 0, 0, 0.25), 3: (0.5, 0.25, 0, 0.25), 4: (0.25, 0.5, 0, 0.25),
                5: (0, 1, 0, 0), 7: (0, 0.25, 0.75, 0), 9: (0.25, 0.25, 0.5, 0)}  # fmt: skip
    for i, row in expected.items():
        assert_allclose(M[i], row)


# ---- Median by co-memberships ----

SPREAD = 10.75
"""Squared distance of the four partitions' co-memberships from their mean."""


@pytest.mark.parametrize(
    ("labels", "loss"), [([0] * 4 + [1] * 3 + [2] * 3, 7.25), (E[:, 0], 9.25), (E[:, 1], 9.25), (E[:, 2], 8.25)]
)
def test_loss_of_hard_partitions(labels, loss):
    labels = np.unique(labels, return_inverse=True)[1]
    assert comembership_loss(E, np.eye(labels.max() + 1)[labels], np.ones(4)) - SPREAD == pytest.approx(loss)


def test_gv3_of_the_example():
    model = ComembershipMedian(3).fit(E)
    assert model.objective_ - SPREAD == pytest.approx(1.71286, abs=5e-6)
    assert_array_equal(model.labels_, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2])


def test_gv3_goes_on_while_a_step_gains_more_than_the_tolerance():
    labels = random_labels(n=60, p=6, k=3, seed=0)
    found = [ComembershipMedian(3, tol=tol).fit(labels) for tol in (1e-12, 1e-6, 0.1)]
    assert found[0].n_iter_ > found[1].n_iter_ > found[2].n_iter_
    assert found[0].objective_ <= found[1].objective_ < found[2].objective_


def comembership_slope(labels, M, weights):
    """(n, k) gradient of `comembership_loss`."""
    slope = np.zeros_like(M)
    for z, weight in zip(labels.T, weights / weights.sum(), strict=True):
        both = np.outer(z >= 0, z >= 0)
        slope += 4 * weight * (both * (M @ M.T - (z[:, None] == z))) @ M
    return slope


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("weights", [np.ones(6), np.array([1, 2, 1, 3, 1, 1.0])], ids=["equal", "weights"])
def test_the_loss_is_that_of_the_definition_and_no_direction_along_the_simplex_goes_down(missing, weights):
    labels = random_labels(n=100, p=6, k=3, missing=missing, seed=0)
    labels[(labels < 0).all(axis=1)] = 0
    model = ComembershipMedian(3, max_iter=5000, tol=1e-13, weights=weights).fit(labels)
    M = model.membership_
    assert_allclose(M.sum(axis=1), 1)
    assert (M >= 0).all()
    assert model.objective_ == pytest.approx(comembership_loss(labels, M, weights))
    slope = comembership_slope(labels, M, weights)
    along = slope - (M * slope).sum(axis=1, keepdims=True)  # from the object towards each corner
    assert along.min() > -1e-3 * np.abs(slope).max()


def test_matching_to_the_others_finds_better_medians():
    labels = random_labels(n=150, p=6, k=5, seed=0)
    for memberships in ("soft", "hard"):
        plain, refined = (
            EuclideanMedian(4, prototype=memberships, leave_one_out=refine, n_init=n, random_state=0).fit(labels)
            for refine, n in ((False, 50), (True, 7))
        )
        assert refined.objective_ < plain.objective_
