import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import two_least as naive_two_least

from ensemblage._jit import jit
from ensemblage.consensus._lanes import check_look_ups, whole_lanes
from ensemblage.kernels._assign import assign_rows, limit_distances
from ensemblage.kernels._lanes import LANES, LINE, add_lines, add_table_rows, two_least


@jit
def sums_of(table, starts, sums):
    add_table_rows(table, starts, sums)


@jit
def lines_of(table, labels, counts, begin, end, limits, size, sums):
    return add_lines(table, labels, counts, begin, end, limits, size, sums)


@jit
def pair_of(values):
    return two_least(values)


@given(st.integers(1, 9), st.integers(0, 30), st.sampled_from([np.float32, np.float64]), st.integers(0, 2**32 - 1))
def test_sums_are_those_of_the_columns_in_the_order_of_the_starts(n_vectors, n_starts, dtype, seed):
    rng = np.random.default_rng(seed)
    width = n_vectors * LANES
    table = rng.normal(size=(12, width)).astype(dtype)
    chosen = rng.integers(12, size=n_starts)
    sums = np.full(width + 2, 7, dtype=dtype)
    sums_of(table.reshape(-1), (chosen * width).astype(np.uint64), sums[1:-1])
    expected = np.zeros(width, dtype=dtype)
    for row in chosen:
        expected += table[row]
    np.testing.assert_array_equal(sums[1:-1], expected)
    assert sums[0] == sums[-1] == 7


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


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 8, 9, 41])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
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
