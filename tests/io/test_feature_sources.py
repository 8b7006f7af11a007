"""An array, a file, cells of Parquet parts and parts on a cluster: what is asked of one is asked of all."""

from operator import add

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from limits import limit
from numpy.testing import assert_array_equal

from ensemblage import read_table
from ensemblage.preprocessing import FeatureBlocks, Preprocessor

N = 20_000
X = np.random.default_rng(0).normal(size=(N, 3)) * [1, 2, 3]
SOURCES = ["memory", "memory by column", "C order", "Fortran order", "float32", "Parquet", "cluster"]


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(params=SOURCES)
def source(request, tmp_path, monkeypatch):
    """Features in two blocks, but for those in memory."""
    limit(monkeypatch, "rows of a block of features", 16_384)
    kind = request.param
    table = pa.table(dict(zip("abc", X.T, strict=True)))
    if kind.startswith("memory"):
        made, _ = Preprocessor(standardize=False)._fit_table(read_table(table))
        made.by_column = kind != "memory"
        return made
    if kind == "cluster":
        client = request.getfixturevalue("client")
        return FeatureBlocks.from_dask(np.array_split(X, 3), client=client)._given
    if kind == "Parquet":
        (tmp_path / "X").mkdir()
        pq.write_table(table, tmp_path / "X" / "part.parquet")
        features = FeatureBlocks.open(tmp_path / "X")
        fitted = Preprocessor(standardize=False)
        fitted._fit_blocks(features)
        return fitted._numbers_of(features)
    order = np.asfortranarray if kind == "Fortran order" else np.ascontiguousarray
    np.save(tmp_path / "X.npy", order(X, dtype=np.float32 if kind == "float32" else None))
    return FeatureBlocks.open(tmp_path / "X.npy")._given


def values(source):
    """(n, 3) what is in it."""
    rows = source[np.arange(N)]
    assert_array_equal(rows, X.astype(rows.dtype))
    return rows


def total(block, factor):
    return (np.rint(1_000 * block).astype(np.int64) * factor).sum(axis=0)


def count(state, block, more=None):
    """(rows so far, rows in which the other block has the same first value)."""
    n, n_same = state
    return n + len(block), n_same + (0 if more is None else int((block[:, 0] == more[:, 0]).sum()))


def lengths(block, start):
    return start, len(block)


def first_two(block, start):
    return block[:, :2]


def doubled(block):
    return 2 * block


def test_rows_and_columns(source):
    whole = values(source)
    assert (len(source), source.shape) == (N, (N, 3))
    assert_array_equal(source[np.array([7, 3, N - 1])], whole[[7, 3, N - 1]])
    assert_array_equal(source[:, 1], whole[:, 1])
    some = source.columns([2, 0])
    assert some.shape == (N, 2)
    assert_array_equal(some[np.arange(5)], whole[:5][:, [2, 0]])
    assert_array_equal(some[:, 0], whole[:, 2])
    assert_array_equal(some.columns([1])[np.arange(5)], whole[:5, :1])
    assert some.by_column == source.by_column


def test_functions_of_blocks(source):
    whole = values(source)
    assert_array_equal(source.reduce(total, add, 3), total(whole, 3))
    starts, sizes = zip(*source.each(lengths), strict=True)
    assert starts == ((0,) if type(source).__name__ == "MemoryFeatures" else (0, 16_384))
    assert sum(sizes) == N
    assert source.fold(count, (0, 0)) == (N, 0)


def test_what_is_made_of_features(source):
    whole = values(source)
    made = source.columns([1, 2]).transformed(doubled, 2)
    assert made.shape == (N, 2)
    assert_array_equal(made[np.arange(N)], 2 * whole[:, 1:])
    assert_array_equal(made.reduce(total, add, 1), total(2 * whole[:, 1:], 1))
    kept = source.kept(first_two, whole.dtype, 2)
    assert_array_equal(kept[np.arange(N)], whole[:, :2])
    assert source.fold(count, (0, 0), beside=kept) == (N, N)
