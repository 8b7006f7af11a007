import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import limit
from naive import assigned_rows as naive_assigned_rows
from naive import short_sums as naive_short_sums
from naive import step_of_kmeans
from naive import two_least as naive_two_least
from numpy.testing import assert_array_equal
from representatives import first_of
from strategies import random_labels

from ensemblage.consensus import KMeansConsensus
from ensemblage.kernels._jit import jit
from ensemblage.kernels._label_kmeans import ShortTable, assign_many_rows, assign_rows, limit_distances, lines_of_zeros
from ensemblage.kernels._neighbours import nth_largest
from ensemblage.kernels._points import move_points
from ensemblage.kernels._table_rows import (
    add_lines,
    add_table_rows,
    add_weighted_rows,
    check_look_ups,
    reaches,
    two_least,
    two_least_shorts,
    whole_lanes,
)
from ensemblage.kernels._vectors import LANES, LINE, SHORT_LANES

ORDERED = [
    (np.uint8, "C"), (np.uint16, "F"), (np.int64, "C"), (np.uint8, "F"), (np.uint16, "C"), (np.int64, "F"),
    (np.uint32, "C"), (np.uint32, "F"),
]  # fmt: skip
"""Types and orders of codes: kernels are compiled for each."""


@jit
def sums_of(table, codes, i, firsts, sums):
    add_table_rows(table, codes, i, firsts, sums)


@jit
def lines_of(table, labels, counts, begin, end, limits, size, sums):
    add_lines(table, labels, counts, begin, end, sums)
    return reaches(sums, limits, size)


@jit
def pair_of(values):
    return two_least(values)


@jit
def weighted_sums_of(table, codes, i, firsts, sums, weights):
    add_weighted_rows(table, codes, i, firsts, sums, weights)


@jit
def triple_of(sums):
    return two_least_shorts(sums)


@given(st.integers(1, 9), st.integers(0, 30), st.sampled_from([np.float32, np.float64]), st.integers(0, 2**32 - 1))
def test_sums_are_those_of_the_columns_in_the_order_of_the_starts(n_vectors, n_starts, dtype, seed):
    rng = np.random.default_rng(seed)
    width = n_vectors * LANES
    table = rng.normal(size=(12, width)).astype(dtype)
    chosen = rng.integers(12, size=n_starts)
    sums = np.full(width + 2, 7, dtype=dtype)
    codes, none = chosen[None].astype(np.uint8), np.zeros(n_starts, np.uint64)
    sums_of(table.reshape(-1), codes, 0, none, sums[1:-1])
    expected = np.zeros(width, dtype=dtype)
    for row in chosen:
        expected += table[row]
    np.testing.assert_array_equal(sums[1:-1], expected)
    assert sums[0] == sums[-1] == 7
    weights = rng.random(n_starts).astype(dtype)
    weighted_sums_of(table.reshape(-1), codes, 0, none, sums[1:-1], weights)
    expected[:] = 0
    for row, weight in zip(chosen, weights, strict=True):
        expected += weight * table[row]
    np.testing.assert_array_equal(sums[1:-1], expected)
    assert sums[0] == sums[-1] == 7


@pytest.mark.core(3)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("n_labels", [0, 1, 3, 4, 5, 8, 11])
def test_lines_are_weighted_sums_and_tell_whether_a_limit_is_reached(dtype, n_labels):
    rng = np.random.default_rng(n_labels)
    width = LINE // np.dtype(dtype).itemsize
    table = rng.integers(6, size=(20, width)).astype(dtype)
    labels = rng.integers(20, size=n_labels + 3).astype(np.uint16)
    counts = (
        np.ones(n_labels + 3, np.float32) if dtype is np.uint8 else rng.integers(1, 4, n_labels + 3).astype(np.float32)
    )
    sums = np.full(width + 2, 7, dtype=dtype)
    part = slice(2, 2 + n_labels)
    expected = (counts[part, None] * table[labels[part]]).sum(axis=0).astype(dtype)
    size = dtype(1 if dtype is np.uint8 else 2)
    for lane in (0, 1, width - 1):
        # One lane reaches its limit exactly; one more is too much.
        for more in (0, 1):
            limits = expected // size + dtype(1)
            limits[lane] = -(-int(expected[lane]) // int(size)) + more
            reached = lines_of(table.reshape(-1), labels, counts, 2, 2 + n_labels, limits, size, sums[1:-1])
            assert reached == bool((expected >= limits * size).any())
            np.testing.assert_array_equal(sums[1:-1], expected)
    assert sums[0] == sums[-1] == 7


@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.booleans())
def test_two_least(n_vectors, seed, with_infinity):
    rng = np.random.default_rng(seed)
    # Few values, so that the least is often there twice.
    values = rng.integers(rng.integers(1, 100), size=n_vectors * LANES).astype(np.float32)
    if with_infinity:
        values[rng.random(len(values)) < 0.9] = np.inf
    assert pair_of(values) == naive_two_least(values)


@pytest.mark.parametrize("width", [1, 7, 8, 9, 20])
def test_whole_lanes_add_columns(width):
    table = np.arange(3 * width, dtype=np.float32).reshape(3, width)
    padded = whole_lanes(table, np.inf)
    assert padded.shape[1] % LANES == 0
    assert padded.shape[1] - width < LANES
    np.testing.assert_array_equal(padded[:, :width], table)
    assert np.isinf(padded[:, width:]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_tables_are_finite(bad):
    table = np.ones((3, 5), dtype=np.float32)
    table[1, 2] = bad
    with pytest.raises(ValueError, match=f"Distances and votes must be finite in float32. Got {bad}. Give weights"):
        whole_lanes(table, np.inf)


def test_tables_have_a_row_for_every_code():
    codes, offsets, table = np.zeros((4, 2), dtype=np.uint8), np.array([0, 3, 7]), np.zeros((7, LANES))
    check_look_ups(codes, offsets, table)
    for wrong in [(codes[:, :1], offsets, table), (codes, offsets, table[:6]), (codes, offsets, table[:, :5])]:
        with pytest.raises(ValueError, match="A table of 2 partitions must have 7 rows and a multiple of 8 columns"):
            check_look_ups(*wrong)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_assignment_ends_whatever_a_table_holds(value):
    """Checked tables hold no such number; the loop over the columns ends all the same."""
    codes, offsets, k = np.zeros((5, 2), dtype=np.uint8), np.array([0, 2, 4]), 3
    table = np.full((4, LANES), value, dtype=np.float32)
    base, slack, labels = np.zeros(5, np.float32), np.zeros(5, np.float32), np.full(5, -1, dtype=np.int32)
    assign_rows(codes, base, labels, slack, offsets, table, np.zeros(k, np.float32), np.float32(-1))
    assert ((labels >= 0) & (labels < k)).all()


@pytest.mark.core(3)
@pytest.mark.parametrize("n_vectors", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize(("dtype", "order"), first_of(ORDERED, 3))
def test_short_sums_are_those_of_the_columns(n_vectors, dtype, order):
    rng = np.random.default_rng(n_vectors)
    width, sizes = n_vectors * SHORT_LANES, np.array([1, 200, 3, 7] if dtype is np.uint8 else [1, 300, 3, 7])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    table = rng.integers(2**16 // 4, size=(offsets[-1], width)).astype(np.uint16)
    codes = np.asarray(rng.integers(sizes, size=(5, 4)), dtype=dtype, order=order)
    starts, sums = (offsets[:-1] * width).astype(np.uint64), np.full(width + 2, 7, dtype=np.uint16)
    expected = naive_short_sums(codes, starts.tolist(), table.reshape(-1), width)
    for i in range(len(codes)):
        sums_of(table.reshape(-1), codes, i, starts, sums[1:-1])
        np.testing.assert_array_equal(sums[1:-1], expected[i])
        assert sums[0] == sums[-1] == 7


@given(st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 100, 2**16]))
def test_two_least_shorts(n_vectors, seed, n_values):
    rng = np.random.default_rng(seed)
    sums = (2**16 - 1 - rng.integers(n_values, size=n_vectors * SHORT_LANES)).astype(np.uint16)
    assert triple_of(sums) == (*naive_two_least(sums), int(sums.argmin()))


def distances_of(rng, kind, sizes, k):
    """(d, k) tables as k-means has them: of proportions, of single rows, with weights that are far apart."""
    d, offsets = sizes.sum(), np.concatenate([[0], np.cumsum(sizes)])
    weights = 10.0 ** rng.integers(-6, 2, len(sizes)) if kind == "weights" else np.ones(len(sizes))
    tables = []
    for size, weight in zip(sizes, weights, strict=True):
        if kind == "rows":
            proportions = np.eye(size)[:, rng.integers(size, size=k)]
        elif kind == "entropy":
            proportions = rng.dirichlet(np.full(size, 0.1), k).T
            tables.append(-np.log2(proportions + 2.0**-52))
            continue
        else:
            proportions = rng.dirichlet(np.full(size, 0.5), k).T
        tables.append(weight * ((proportions**2).sum(axis=0) - 2 * proportions))
    table = np.concatenate(tables).astype(np.float32)
    table[offsets[1:] - 1] = 0  # missing
    assert len(table) == d
    return offsets, table


@pytest.mark.core(3)
@pytest.mark.parametrize("kind", ["proportions", "rows", "weights", "entropy"])
@pytest.mark.parametrize("k", [2, 3, 16, 17, 40, 70])
@pytest.mark.parametrize("p", [1, 2, 11])
def test_short_table_tells_the_nearest_centres(kind, k, p):
    rng = np.random.default_rng(p)
    sizes = rng.integers(2, 12, size=p)
    offsets, table = distances_of(rng, kind, sizes, k)
    table[:, k - 1] = table[:, 0]  # a tie
    n = 700
    codes = rng.integers(sizes, size=(n, p)).astype(np.uint8)
    rounding = float(8 * p * np.finfo(np.float32).eps * np.abs(table).max())
    short = ShortTable.of(table, offsets, rounding)
    assert short.cells.ctypes.data % LINE == 0
    nearest, rounded, exact = naive_assigned_rows(codes, offsets, table)
    sums = short.cells[offsets[:-1] + codes].sum(axis=1, dtype=np.int64)
    assert sums.max() == (2**16 - 1 if k % SHORT_LANES else sums[:, :k].max())
    assert sums[:, :k].max() + short.margin < 2**16 - 1
    # What the table promises of a sum, and of the difference of two.
    assert np.abs(float(short.least) + float(short.unit) * sums[:, :k] - exact).max() <= short.error
    if kind == "rows":
        assert short.margin == -1
    for a in range(k):
        told, farther = sums[:, :k] > sums[:, [a]] + short.margin, rounded > rounded[:, [a]]
        if short.margin < 0:  # of whole numbers: the order of the sums is that in float32, ties included
            np.testing.assert_array_equal(sums[:, :k] > sums[:, [a]], farther)
        else:
            assert farther[told].all()
    wide, base = whole_lanes(table, np.inf), np.full(n, 3 * np.abs(table).max() * p, dtype=np.float32)
    for assign, tables in ((assign_rows, (wide,)), (assign_many_rows, (wide, tuple(short)))):
        for error in (np.float32(-1), np.float32(rounding)):
            labels, bounds = np.full(n, -1, dtype=np.int32), np.zeros(n, dtype=np.float32)
            nothing = np.zeros(k, dtype=np.float32)
            moved = assign(codes, base, labels, bounds, offsets, *tables, nothing, error)
            assert moved == n
            np.testing.assert_array_equal(labels, nearest)
            if error < 0:
                continue
            two = np.sort(np.maximum(base[:, None] + exact, 0), axis=1)[:, :2]
            assert (bounds <= np.sqrt(two[:, 1]) - np.sqrt(two[:, 0]) + 1e-6 * np.sqrt(two[:, 1])).all()
            # Nothing has moved: nothing changes, and rows that have a bound are not looked at.
            assert assign(codes, base, labels, bounds, offsets, *tables, nothing, error) == 0


@pytest.mark.parametrize(
    ("table", "offsets"),
    [
        (np.zeros((4, 3)), [0, 2, 4]),
        (np.ones((4, 1)), [0, 2, 4]),
        (np.array([[0, 1e38], [1e38, 0]]), [0, 2]),
        (np.array([[0, 1e-38], [1e-38, 0]]), [0, 2]),
        (np.tile([[0.0, 1]], (60_000, 1)), range(60_001)),
    ],
)
def test_no_short_table_where_it_tells_nothing(table, offsets):
    assert ShortTable.of(table.astype(np.float32), np.array(offsets), 0.0) is None


def test_lines_begin_at_lines():
    for n in (1, 3):
        lines = lines_of_zeros(n, SHORT_LANES)
        assert lines.shape == (n, SHORT_LANES)
        assert lines.ctypes.data % LINE == 0
        assert not lines.any()


def naive_limits(codes, base, nearest, counts, offsets, table):
    """Row by row, and partition by partition, in the order of both."""
    distances, totals = np.empty((len(codes), LANES), dtype=np.float32), np.zeros(LANES)
    for i, row in enumerate(codes):
        score = np.zeros(LANES, dtype=np.float32)
        for j, code in enumerate(row):
            score += table[offsets[j] + int(code)]
        distances[i] = np.maximum(np.minimum(base[i] + score, nearest[i]), np.float32(0))
        totals += distances[i].astype(np.float64) * counts[i]
    return distances, totals


@pytest.mark.core(3)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 8, 9, 41])
@pytest.mark.parametrize(("dtype", "order"), first_of(ORDERED, 3))
def test_limits_of_four_objects_are_those_of_each(n, dtype, order):
    rng = np.random.default_rng(n)
    sizes = np.array([1, 200, 3, 7]) if dtype is np.uint8 else np.array([1, 300, 3, 7])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    codes = np.asarray(rng.integers(sizes, size=(n, 4)), dtype=dtype, order=order)
    # Of few values, so that distances tie, and some are below 0.
    table = rng.integers(-3, 3, size=(offsets[-1], LANES)).astype(np.float32) / 3
    base, nearest = rng.integers(4, size=n).astype(np.float32), rng.integers(4, size=n).astype(np.float32)
    nearest[::5] = np.inf
    counts = rng.integers(1, 9, size=n)
    around = np.full((n + 2, LANES), 7, dtype=np.float32)
    totals = np.full(LANES, 9.0)
    limit_distances(codes, base, nearest, counts, around[1 : n + 1], offsets, table, totals)
    distances, expected = naive_limits(codes, base, nearest, counts, offsets, table)
    np.testing.assert_array_equal(around[1 : n + 1], distances)
    np.testing.assert_array_equal(totals, expected)
    assert (around[[0, -1]] == 7).all()


@pytest.mark.core(3)
@pytest.mark.parametrize("utility", ["category", "entropy", "cosine", "lp"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_table_of_short_numbers_changes_nothing(utility, missing, monkeypatch):
    labels = random_labels(1500, 7, 9, missing)
    found = []
    for threshold, n_jobs in ((np.inf, 1), (0, 1), (0, 2)):
        limit(monkeypatch, "labels of a table of short numbers", (threshold, 0))
        model = KMeansConsensus(6, utility=utility, n_init=2, random_state=0, n_jobs=n_jobs).fit(labels)
        found.append([model.labels_, model.objective_, model.n_iter_, model.predict(labels)])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert_array_equal(a, b)


@pytest.mark.parametrize(("k", "q"), [(1, 1), (3, 2), (8, 8), (20, 20), (33, 5)])
def test_step_of_kmeans_is_the_slow_one(k, q):
    random = np.random.RandomState(k)
    points = random.normal(size=(200, q)).astype(np.float32).round(1)
    centres, counts = np.vstack([points[: k - 1], points[:1]]), random.randint(1, 5, size=200)
    clusters, sums = random.randint(k, size=200), np.empty((k, q + 1))
    found, expected, moved = step_of_kmeans(points, counts, centres, clusters)
    assert move_points(points, counts, centres, clusters, sums) == moved
    assert_array_equal(clusters, found)
    assert_array_equal(sums, expected)


# ---- The nth largest ----


@jit
def nth_of(values, n):
    return nth_largest(values, n)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1), min_size=1, max_size=30), st.data())
def test_the_nth_largest_number(values, data):
    n = data.draw(st.integers(1, len(values)))
    assert nth_of(np.array(values), n) == sorted(values, reverse=True)[n - 1]
