import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import two_least as naive_two_least

from ensemblage._jit import jit
from ensemblage.kernels._lanes import LANES, add_table_rows, two_least, whole_lanes


@jit
def sums_of(table, starts, sums):
    add_table_rows(table, starts, sums)


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
