"""Ensemble: whatever labels come in, small integer codes, distinct rows and files come out."""

import copy
import os
import pickle
import zipfile
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from former import FORMER
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inside import rows_in_memory
from limits import limit
from scipy import sparse
from sklearn.base import clone
from strategies import label_matrices, planted_labels, random_labels, usual, with_equal_rows

from ensemblage import METHODS, Ensemble, datasets, metrics
from ensemblage.consensus import KMeansConsensus
from ensemblage.ranking import DISCOTEC, AverageAgreement

pytestmark = FORMER


def labels_of(ensemble):
    return np.asarray(ensemble, dtype=object).tolist()


def same(a, b):
    np.testing.assert_array_equal(a.codes, b.codes)
    assert a.codes.dtype == b.codes.dtype
    assert [c.tolist() for c in a.categories] == [c.tolist() for c in b.categories]
    assert [c.dtype.kind for c in a.categories] == [c.dtype.kind for c in b.categories]
    assert a.names == b.names
    assert a.missing == b.missing


# ---- Coding ----


def test_attributes():
    ensemble = Ensemble([[5, "b"], [3, "a"], [-1, "b"], [3, None]])
    assert ensemble.codes.tolist() == [[1, 1], [0, 0], [2, 1], [0, 2]]
    assert [c.tolist() for c in ensemble.categories] == [[3, 5], ["a", "b"]]
    assert ensemble.n_clusters.tolist() == [2, 2]
    assert ensemble.offsets.tolist() == [0, 3, 6]
    assert ensemble.names == ["partition_0", "partition_1"]
    assert (ensemble.shape, len(ensemble), ensemble.missing, ensemble.n_missing) == ((4, 2), 4, -1, 2)
    assert repr(ensemble) == "Ensemble(4 objects, 2 partitions of 2 clusters, 25 % missing)"
    assert repr(Ensemble([[0, 0], [1, 0]])) == "Ensemble(2 objects, 2 partitions of 1 to 2 clusters)"
    assert repr(Ensemble([[0]])) == "Ensemble(1 object, 1 partition of 1 cluster)"


def test_an_ensemble_does_not_change():
    ensemble = Ensemble([[5, "b"], [3, "a"]])
    for array in (ensemble.codes, ensemble.offsets, ensemble.n_clusters, *ensemble.categories):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    ensemble.names[0] = "other"
    assert ensemble.names == ["partition_0", "partition_1"]
    with pytest.raises(AttributeError):
        ensemble.names = ["a", "b"]
    assert ensemble[[0]].select(["partition_0"]).names == ["partition_0"]


@given(labels=label_matrices())
def test_labels_come_back(labels):
    np.testing.assert_array_equal(np.asarray(Ensemble(labels)), labels)


@given(labels=label_matrices())
def test_codes_number_the_sorted_labels(labels):
    ensemble = Ensemble(labels)
    for j, column in enumerate(labels.T):
        found = np.unique(column[column >= 0])
        assert ensemble.categories[j].tolist() == found.tolist()
        expected = np.where(column < 0, len(found), np.searchsorted(found, column))
        np.testing.assert_array_equal(ensemble.codes[:, j], expected)


INTEGERS = ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"]


@pytest.mark.parametrize("dtype", [*INTEGERS, "f2", "f4", "f8", ">f8", "O"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_type_of_number(dtype, order):
    labels = np.array([[0, 1, 1], [1, 1, 0], [1, 0, 0]])
    same(Ensemble(np.asarray(labels, dtype=dtype, order=order)), Ensemble(labels))


def test_read_only_and_strided_input():
    labels = random_labels(40, 6, 4, 0.2)
    labels.flags.writeable = False
    same(Ensemble(labels[::2, ::-2]), Ensemble(labels[::2, ::-2].copy()))


@pytest.mark.parametrize(("k", "dtype"), [(255, np.uint8), (256, np.uint16), (65_535, np.uint16), (65_536, np.int32)])
def test_codes_widen(k, dtype):
    labels = np.column_stack([np.arange(k + 1) % k, np.zeros(k + 1)]).astype(int)
    labels[-1] = -1
    ensemble = Ensemble(labels)
    assert ensemble.codes.dtype == dtype
    assert ensemble.n_clusters.tolist() == [k, 1]
    assert ensemble.codes[-1].tolist() == [k, 1]
    np.testing.assert_array_equal(np.asarray(ensemble), labels)
    assert len(ensemble.distinct.counts) == k + 1
    assert ensemble[: k // 2].codes.dtype == Ensemble(labels[: k // 2]).codes.dtype


@given(labels=hnp.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 3))))
def test_huge_ranges_of_integers(labels):
    ensemble = Ensemble(labels, missing=None)
    np.testing.assert_array_equal(np.asarray(ensemble), labels)


@given(column=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1).filter(any))
@example(column=[-(2**63), None])
@example(column=[2**63 - 1, None])
def test_integers_keep_their_digits_beside_missing_entries(column):
    """A float has 53 bits: neighbours from 2⁵³ on would become one cluster."""
    expected = [[None if value == -1 else value] for value in column]
    for labels in (
        [[value] for value in column],
        pd.DataFrame({"a": pd.array(column, dtype="Int64")}),
        pl.DataFrame({"a": pl.Series(column, dtype=pl.Int64)}),
        pa.table({"a": pa.array(column, pa.int64())}),
    ):
        ensemble = Ensemble(labels)
        table = [*ensemble.categories[0].tolist(), None]
        assert [[table[code]] for code in ensemble.codes[:, 0]] == expected


def test_unsigned_beside_signed_columns_keep_their_digits():
    frame = pd.DataFrame({"a": np.array([2**60 + 1, 2**60], dtype=np.uint64), "b": [-1, 0]})
    assert Ensemble(frame).categories[0].tolist() == [2**60, 2**60 + 1]
    big = Ensemble(np.array([[2**63 + 1], [2**63]], dtype=np.uint64))
    assert labels_of(big) == [[2**63 + 1], [2**63]]
    beside_text = pd.DataFrame({"a": np.array([2**63 + 1, 3], dtype=np.uint64), "b": ["x", "y"]})
    assert Ensemble(beside_text).categories[0].tolist() == [3, 2**63 + 1]


def test_lists_of_unlike_lengths_are_told():
    with pytest.raises(ValueError, match=r"must have .* per partition|must be|must have"):
        Ensemble([[0, 1], [2]])


def test_what_means_missing_must_be_a_whole_number():
    for wrong in ("a", 1.5, True, 2**63):
        with pytest.raises(ValueError, match=r"missing must be a whole number or None\. Got"):
            Ensemble([[0], [1]], missing=wrong)


def test_floats_are_whole_as_long_as_they_are_exact():
    labels = [[2.0**53 - 1, 2.0**53], [3.0, 3.0]]
    assert [labels.dtype.kind for labels in Ensemble(labels).categories] == ["i", "f"]


@pytest.mark.parametrize("missing", [0, -7])
def test_missing_entries_are_given_back_as_they_were(missing):
    labels = np.array([[missing, 1], [2, missing], [2, 3]])
    np.testing.assert_array_equal(np.asarray(Ensemble(labels, missing=missing)), labels)


def test_missing_is_minus_one_in_columns_of_numbers_only():
    ensemble = Ensemble(np.array([[-1, -1], [2, 2.0**60], [np.nan, np.nan]]))
    assert [c.tolist() for c in ensemble.categories] == [[2], [2.0**60]]
    assert ensemble.codes[0].tolist() == [1, 1]
    assert Ensemble([["-1"], ["2"]]).categories[0].tolist() == ["-1", "2"]


FEATURES = np.array([[14.23, 1.0], [13.2, 2.0], [np.nan, 2.0]])
LOOK_LIKE_FEATURES = (
    r"whole numbers or text: these look like features\. Got 14\.23 in partition '{}'\. Cluster features with "
    r"ConsensusClustering, or make partitions of them with DiversePartitions; if these are labels, number them\."
)


@pytest.mark.parametrize("features", [FEATURES, FEATURES.tolist(), FEATURES.astype(object), np.float32(FEATURES)])
def test_features_are_no_labels(features):
    """14.23 was a label of its own, and no word said so."""
    with pytest.raises(ValueError, match=LOOK_LIKE_FEATURES.format(0)):
        Ensemble(features)
    with pytest.raises(ValueError, match=LOOK_LIKE_FEATURES.format(0)):
        KMeansConsensus(2).fit(features)
    with pytest.raises(ValueError, match=LOOK_LIKE_FEATURES.format(0)):
        KMeansConsensus(2).fit([[0, 0], [0, 1], [1, 1]]).predict(features)
    with pytest.raises(ValueError, match=LOOK_LIKE_FEATURES.format(1)):
        Ensemble.from_partitions([[0, 1, 1], np.array(features, dtype=float)[:, 0]])


def test_features_in_frames_and_files_are_no_labels(tmp_path):
    for frame in (pd.DataFrame(FEATURES, columns=["alcohol", "z"]), pl.DataFrame(FEATURES, schema=["alcohol", "z"])):
        with pytest.raises(ValueError, match=LOOK_LIKE_FEATURES.format("alcohol")):
            Ensemble(frame)
    pd.DataFrame(FEATURES, columns=["alcohol", "z"]).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ValueError, match="these look like features"):
        Ensemble.load(tmp_path / "x.csv")


def test_whole_floats_are_labels():
    ensemble = Ensemble(np.array([[3.0, 0.0], [1.0, np.nan], [3.0, 2.0]]))
    assert [c.tolist() for c in ensemble.categories] == [[1, 3], [0, 2]]
    assert ensemble.n_missing == 1


def test_missing_none_makes_minus_one_a_label():
    ensemble = Ensemble(np.array([[-1.0, 0], [np.nan, 0], [2, 1]]), missing=None)
    assert [c.tolist() for c in ensemble.categories] == [[-1, 2], [0, 1]]
    assert ensemble.n_missing == 1
    np.testing.assert_array_equal(np.asarray(ensemble), [[-1, 0], [np.nan, 0], [2, 1]])
    np.testing.assert_array_equal(np.asarray(Ensemble([[-1], [2]], missing=None)), [[-1], [2]])


def test_another_number_for_missing():
    ensemble = Ensemble([[0, "a"], [99, "a"], [-1, None]], missing=99)
    assert ensemble.categories[0].tolist() == [-1, 0]
    assert labels_of(ensemble) == [[0, "a"], [None, "a"], [-1, None]]
    assert np.asarray(Ensemble([[0], [99]], missing=99)).tolist() == [[0], [99]]


@pytest.mark.parametrize("nothing", [None, np.nan, float("nan"), pd.NA, pd.NaT, np.float32("nan")])
def test_everything_that_means_missing(nothing):
    ensemble = Ensemble([["a", 1, 5.0], [nothing, nothing, nothing]])
    assert ensemble.codes.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert Ensemble.from_partitions([["a", nothing]]).codes.tolist() == [[0], [1]]


def test_text_is_not_parsed():
    ensemble = Ensemble([["nan", "1"], ["", "01"], ["None", "1.0"]])
    assert [c.tolist() for c in ensemble.categories] == [["", "None", "nan"], ["01", "1", "1.0"]]


@given(column=st.lists(st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1))
def test_any_text(column):
    labels = np.array([[*column, "x"]], dtype=object).T
    assert labels_of(Ensemble(labels)) == labels.tolist()
    assert Ensemble(labels).categories[0].tolist() == sorted({*column, "x"} - {None})


TEXT_TYPES = ["U2", "S2", "O", *([np.dtypes.StringDType()] if hasattr(np.dtypes, "StringDType") else [])]  # NumPy 2


@pytest.mark.parametrize("dtype", TEXT_TYPES)
def test_every_type_of_text(dtype):
    labels = np.array([["b", "x"], ["a", "x"]], dtype=dtype)
    assert labels_of(Ensemble(labels)) == [["b", "x"], ["a", "x"]]


def test_text_that_numpy_would_cut():
    """NumPy drops NUL characters at the end: "a" and the text with one would be the same label."""
    for labels in ([["a\0"], ["a"]], pd.DataFrame({"0": ["a\0", "a"]})):
        with pytest.raises(ValueError, match=r"must not end in a NUL character, which NumPy drops. Got .* '0'\. Strip"):
            Ensemble(labels)
    with pytest.raises(ValueError, match="must not end in a NUL character"):
        Ensemble.from_partitions([["\0"]])
    with pytest.raises(ValueError, match="names must not end in a NUL character"):
        Ensemble([[0, 1]], names=["a", "a\0"])
    assert Ensemble([["a\0b"], ["a"]]).categories[0].tolist() == ["a", "a\0b"]


def test_byte_strings_are_utf_8():
    assert labels_of(Ensemble(np.array([["é".encode()], [b"b"]]))) == [["é"], ["b"]]
    with pytest.raises(ValueError, match=r"must be UTF-8 text\. Got b'\\xff' in partition '0'"):
        Ensemble(np.array([[b"\xff"], [b"b"]]))


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="polars of before has no such type")
def test_integers_of_128_bits():
    series = pl.Series([2**62, None, -3], dtype=pl.Int128)
    assert Ensemble(pl.DataFrame({"a": series})).categories[0].tolist() == [-3, 2**62]
    assert Ensemble.from_partitions([series]).codes.tolist() == [[1], [2], [0]]
    with pytest.raises(ValueError, match=r"must be from −2⁶³ to 2⁶³ − 1\. Got 1267650600228229401496703205376"):
        Ensemble(pl.DataFrame({"a": pl.Series([2**100], dtype=pl.Int128)}))


def test_masked_arrays():
    mask = [[False, True], [False, False], [True, False]]
    for dtype in (int, float, object, str):
        labels = np.ma.array(np.array([[0, 7], [1, 7], [7, 0]]).astype(dtype), mask=mask)
        assert Ensemble(labels).codes.tolist() == [[0, 2], [1, 1], [2, 0]]
    assert Ensemble.from_partitions(list(labels.T)).codes.tolist() == [[0, 2], [1, 1], [2, 0]]


def test_nested_lists_are_rows():
    expected = Ensemble(np.array([[0, 1], [0, 2], [1, 2]]))
    for labels in ([[0, 1], [0, 2], [1, 2]], ((0, 1), (0, 2), (1, 2)), [np.array([0, 1]), (0, 2), [1, 2]]):
        same(Ensemble(labels), expected)
    mixed = Ensemble([[2**60 + 1, 5.0], [2**60, 15.0]])
    assert [c.tolist() for c in mixed.categories] == [[2**60, 2**60 + 1], [5, 15]]


def test_an_ensemble_of_an_ensemble():
    first = Ensemble([[0, 5], [1, 4]], missing=5)
    second = Ensemble(first, names=["a", "b"])
    assert second.codes is first.codes
    assert (second.missing, second.names, first.names) == (5, ["a", "b"], ["partition_0", "partition_1"])
    with mock.patch.object(Ensemble, "__init__", side_effect=AssertionError("made another one")):
        assert metrics.confidence(first, [0, 1]).confidence.tolist() == [1, 1]


# ---- Data frames ----


def frames():
    text, numbers = ["x", "y", None, "x"], [1, 2, 2, None]
    yield "pandas", pd.DataFrame({"text": text, "number": numbers})
    yield "pandas str", pd.DataFrame({"text": pd.Series(text, dtype="str"), "number": pd.array(numbers, dtype="Int64")})
    yield "pandas object", pd.DataFrame({"text": text, "number": numbers}, dtype=object)
    yield "pandas categorical", pd.DataFrame({"text": pd.Categorical(text, ["y", "x", "z"]), "number": numbers})
    yield "pandas numbers as categories", pd.DataFrame({"text": text, "number": pd.Categorical(numbers)})
    yield "pandas pyarrow", pa.table({"text": text, "number": numbers}).to_pandas(types_mapper=pd.ArrowDtype)
    yield "pandas index", pd.DataFrame({"text": text, "number": numbers}, index=["d", "c", "b", "a"])
    yield "polars", pl.DataFrame({"text": text, "number": numbers})
    yield "polars Categorical", pl.DataFrame({"text": pl.Series(text, dtype=pl.Categorical), "number": numbers})
    yield "polars Enum", pl.DataFrame({"text": pl.Series(text, dtype=pl.Enum(["z", "y", "x"])), "number": numbers})
    yield "polars small", pl.DataFrame({"text": text, "number": pl.Series(numbers, dtype=pl.UInt8)})
    yield "pyarrow", pa.table({"text": text, "number": numbers})
    yield "pyarrow dictionary", pa.table({"text": pa.array(text).dictionary_encode(), "number": numbers})


@pytest.mark.parametrize("frame", [pytest.param(frame, id=name) for name, frame in frames()])
def test_data_frames(frame):
    ensemble = Ensemble(frame)
    assert ensemble.names == ["text", "number"]
    assert labels_of(ensemble) == [["x", 1], ["y", 2], [None, 2], ["x", None]]
    assert ensemble.categories[1].dtype.kind == "i"


@pytest.mark.parametrize(
    "dtype", ["int8", "uint16", "int64", "float32", "float64", "bool", "boolean", "Int8", "UInt64"]
)
def test_pandas_numbers(dtype):
    frame = pd.DataFrame({"a": [0, 1, 1], "b": [1, 1, 0]}).astype(dtype)
    assert Ensemble(frame).codes.tolist() == [[0, 1], [1, 1], [1, 0]]


def test_nullable_booleans():
    assert Ensemble(pd.DataFrame({"a": pd.array([True, None, False], dtype="boolean")})).codes.tolist() == [
        [1],
        [2],
        [0],
    ]
    assert Ensemble(pl.DataFrame({"a": [True, None, False]})).codes.tolist() == [[1], [2], [0]]


def test_names_of_columns_need_not_be_text():
    assert Ensemble(pd.DataFrame(np.zeros((2, 3), dtype=int))).names == ["0", "1", "2"]
    columns = pd.MultiIndex.from_tuples([("k", 2), ("k", 3)])
    assert Ensemble(pd.DataFrame([[0, 1]], columns=columns)).names == ["('k', 2)", "('k', 3)"]


def test_columns_of_one_name():
    with pytest.raises(ValueError, match="must have distinct names"):
        Ensemble(pd.DataFrame([[0, 1]], columns=["a", "a"]))


def test_names_replace_those_of_the_frame():
    assert Ensemble(pd.DataFrame({"a": [0]}), names=["b"]).names == ["b"]


# ---- from_partitions ----


def test_from_partitions():
    ensemble = Ensemble.from_partitions([[0, 0, 1], ["x", "y", None], [5.0, np.nan, 5.0]], names="abc")
    assert labels_of(ensemble) == [[0, "x", 5], [0, "y", None], [1, None, 5]]
    assert ensemble.names == ["a", "b", "c"]
    same(Ensemble.from_partitions(iter([np.array([0, -1])])), Ensemble([[0], [-1]]))
    assert Ensemble.from_partitions([[0, -1]], missing=None).n_clusters.tolist() == [2]


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["a", None, "b"]),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Categorical(["a", None, "b"]),
        pl.Series(["a", None, "b"]),
        pl.Series(["a", None, "b"], dtype=pl.Categorical),
        pa.chunked_array([["a", None, "b"]]),
        ("a", None, "b"),
        np.array(["a", None, "b"], dtype=object),
    ],
)
def test_label_vectors_of_any_kind(labels):
    assert Ensemble.from_partitions([labels]).codes.tolist() == [[0], [2], [1]]


@given(labels=label_matrices())
def test_from_partitions_is_the_matrix_by_columns(labels):
    same(Ensemble.from_partitions(list(labels.T)), Ensemble(labels))


# ---- Errors: one clear sentence each ----


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[0, -1], [1, -1]], r"label at least one object\. Got nothing but missing labels in partition 'partition_1'"),
        (pd.DataFrame({"a": [0], "b": [None]}), "missing labels in partition 'b'"),
        ([], "at least one object"),
        (np.empty((0, 3)), r"at least one object\. Found 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (pl.DataFrame({"a": []}), "at least one object"),
        ([[]], r"at least one partition\. Found 0 feature\(s\)"),
        (np.empty((3, 0)), "at least one partition"),
        (pd.DataFrame(index=[0, 1]), "at least one partition"),
        ([[0, 1], [0]], r"equal length\. Got rows of 1 to 2 labels"),
        ([0, 1, 2], "Expected 2D array, got 1D array"),
        ([[[0]]], "Expected 2D array, got 3D array"),
        (np.zeros((2, 2, 2)), "Expected 2D array, got 3D array"),
        (3, "Expected 2D array, got scalar array"),
        (pd.Series([0, 1]), "Expected 2D array, got 1D array"),
        ([[0, 0], [0, "a"]], "all numbers or all text. Got both in partition '1'"),
        (pd.DataFrame({"a": [0, "x"]}), "Got both in partition 'a'"),
        ([[0.5], [np.inf]], "Got infinity in partition '0'"),
        (np.array([[1j]]), "Complex data not supported"),
        ([[2**70], [None]], "must be from .* Got 1180591620717411303424 in partition '0'"),
        ([[-(2**63) - 1], [1]], "Got -9223372036854775809"),
    ],
)
def test_values_that_are_no_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        Ensemble(labels)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (sparse.eye(3), r"Got sparse or lazy data of type dia_matrix\. Use labels\.toarray\(\)"),
        (pl.LazyFrame({"a": [0]}), r"of type LazyFrame\. Use labels\.collect\(\)"),
        ([[{}], [0]], "Got dict in partition '0'"),
        (pl.DataFrame({"a": [[0], [1]]}), "Got list in partition 'a'"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), "Got Timestamp in partition 'a'"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), r"Got datetime64\[D\] in partition '0'"),
        ([[b"a"], [None]], "Got bytes in partition '0'"),
    ],
)
def test_types_that_are_no_labels(labels, message):
    with pytest.raises(TypeError, match=message):
        Ensemble(labels)


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ([], "at least one partition"),
        ([[]], "at least one object"),
        ([[0, 1], [0]], "same objects. Got label vectors of 1 to 2 objects"),
        ([[0, 1], [[0], [1]]], "1-D vector of labels. Got 2 dimensions in partition 1"),
        ([0, 1], "Got 0 dimensions in partition 0"),
        ([[0, "a"]], "all numbers or all text"),
        ([[-1, -1]], "label at least one object"),
    ],
)
def test_label_vectors_that_are_none(partitions, message):
    with pytest.raises(ValueError, match=message):
        Ensemble.from_partitions(partitions)


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], ["a", "a"], [1, "1"]])
def test_names_must_be_distinct_and_one_each(names):
    with pytest.raises(ValueError, match="names must be 2 distinct names, one per partition"):
        Ensemble([[0, 1]], names=names)


@pytest.mark.parametrize("missing", ["x", np.nan, -1.0, 2**64, [0]])
def test_missing_must_be_a_whole_number(missing):
    with pytest.raises(ValueError, match="missing must be a whole number or None"):
        Ensemble([[0]], missing=missing)
    with pytest.raises(ValueError, match="missing must be a whole number or None"):
        Ensemble.from_partitions([[0]], missing=missing)


# ---- Rows and partitions ----


def test_one_row():
    ensemble = Ensemble([[0, "a"], [1, None]])
    assert ensemble[0].tolist() == [0, "a"]
    assert ensemble[np.int64(-1)].tolist() == [1, None]
    with pytest.raises(IndexError):
        ensemble[2]


@pytest.mark.parametrize("rows", [slice(3, 9), [4, 2, 2], np.arange(20) % 3 == 0, np.array([7]), slice(None, None, -1)])
def test_some_rows(rows):
    labels = random_labels(20, 4, 5, 0.2)
    labels[7] = [4, 3, 2, 1]
    ensemble = Ensemble(labels, names=list("abcd"))
    same(ensemble[rows], Ensemble(labels[rows], names=list("abcd")))


def test_rows_and_partitions_at_once_are_refused():
    ensemble = Ensemble([[0, 1], [1, 1]])
    reverse = (slice(None), slice(None, None, -1))
    for index in [(0, 1), (slice(None), 0), (slice(None), slice(0, 1)), reverse, ([0, 1], [0, 1]), (0,), None]:
        with pytest.raises(IndexError, match=r"Use select\(partitions\)"):
            ensemble[index]


def test_no_rows_and_rows_that_a_partition_does_not_label():
    with pytest.raises(ValueError, match="at least one object"):
        Ensemble([[0]])[[]]
    ensemble = Ensemble([[0, 0], [0, -1], [-1, -1]])
    assert ensemble[[1]].n_clusters.tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"label at least one object\. Got nothing but missing labels"):
        ensemble[[2]]


def subset_with_empty_partitions():
    """A subset of the rows, and the labels of those partitions that label any of them."""
    labels, truth = planted_labels(60, 6, 3, 0.3, 0.2, seed=1)
    labels[:40, 2] = -1
    labels[5:, 4] = -1
    labels[:5, 4] = 0
    rows = np.arange(8, 38)
    subset = Ensemble(labels)[rows]
    assert subset.n_clusters.tolist() == [3, 3, 0, 3, 0, 3]
    return subset, Ensemble(labels[rows][:, [0, 1, 3, 5]]), truth[rows]


@pytest.mark.core(3)
@pytest.mark.parametrize("method", METHODS)
def test_consensus_of_a_subset_is_that_of_its_labels(method):
    subset, labels, _ = subset_with_empty_partitions()
    weights = np.array([1, 2, 1, 1, 3, 1.0]) if "wat" not in method else np.ones(6)

    def fitted(X, weights):
        model = usual(method, 3, weights=weights)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return model.fit(X)

    found, expected = fitted(subset, weights), fitted(labels, weights[[0, 1, 3, 5]])
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.confidence_, expected.confidence_)
    assert found.n_features_in_ == 6
    if hasattr(found, "predict"):
        np.testing.assert_array_equal(found.predict(subset), expected.predict(labels))


@pytest.mark.parametrize("metric", ["density", "cluster_density", "kmeans_loss", "ensemble_nmi", "ensemble_ari"])
@pytest.mark.filterwarnings("ignore:No partition labels both objects")
def test_metrics_of_a_subset_are_those_of_its_labels(metric):
    subset, labels, truth = subset_with_empty_partitions()
    found, expected = (getattr(metrics, metric)(X, truth) for X in (subset, labels))
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    for measure in ("nmi", "ari", "density"):
        found, expected = (metrics.ensemble_baselines(X, measure) for X in (subset, labels))
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    np.testing.assert_array_equal(metrics.coassociation(subset), metrics.coassociation(labels))


@pytest.mark.parametrize("ranker", [*map(DISCOTEC, ["binary", "tv", "kl", "hellinger"]), AverageAgreement()])
def test_rankers_put_empty_partitions_last(ranker):
    subset, labels, _ = subset_with_empty_partitions()
    expected = clone(ranker).fit(labels)
    with pytest.warns(UserWarning, match="cannot score 2 partitions: partition_2, partition_4"):
        found = clone(ranker).fit(subset)
    np.testing.assert_allclose(found.scores_[[0, 1, 3, 5]], expected.scores_, rtol=1e-12)
    assert sorted(found.order_[4:]) == [2, 4]


def test_a_subset_goes_everywhere(tmp_path):
    subset, _, _ = subset_with_empty_partitions()
    same(pickle.loads(pickle.dumps(subset)), subset)
    same(Ensemble(subset), subset)
    same(subset[::-1][::-1], subset)
    subset.save(tmp_path / "subset.npz")
    same(Ensemble.load(tmp_path / "subset.npz"), subset)
    assert subset.one_hot().shape == (30, 12)
    assert repr(subset).startswith("Ensemble(30 objects, 6 partitions of 0 to 3 clusters,")
    with pytest.raises(ValueError, match="must label at least one object"):
        subset.select([2, 4])


# ---- Arguments: whatever they are, one sentence ----


class Odd:
    """Does not even describe itself."""

    def __repr__(self):
        raise RuntimeError


ROWS = [1.5, [0.5], "z", {}, [[0]], [True], True, np.True_, np.nan, slice("a"), slice(None, None, 0), 10**400, [None]]
WRONG = {
    **{f"row {i}": (lambda E, rows=rows: E[rows]) for i, rows in enumerate([*ROWS, 5, -4, [0, 9], 2**63, b"x", Odd()])},
    **{f"partition {i}": (lambda E, s=s: E.select(s)) for i, s in enumerate([*ROWS, 5, -3, [0, 9], None, b"x", Odd()])},
    **{f"missing {i}": (lambda E, m=m: Ensemble([[0]], missing=m)) for i, m in enumerate(["x", True, 2**80, Odd()])},
    **{f"names {i}": (lambda E, n=n: Ensemble([[0, 1]], names=n)) for i, n in enumerate([5, [], [1], True, Odd()])},
    **{f"load {i}": (lambda E, p=p: Ensemble.load(p)) for i, p in enumerate([None, 5, b"x", "", "a\0.csv", [], Odd()])},
    **{f"open {i}": (lambda E, p=p: Ensemble.open(p)) for i, p in enumerate([None, 5, b"x", "", "a\0.npy", [], Odd()])},
    **{f"save {i}": (lambda E, p=p: E.save(p)) for i, p in enumerate([None, 5, b"x", "", "a\0.csv", [], Odd()])},
    **{f"data {i}": (lambda E, d=d: datasets.load_dataset(d)) for i, d in enumerate([None, 5, b"x", [], Odd()])},
    **{f"vectors {i}": (lambda E, z=z: Ensemble.from_partitions(z)) for i, z in enumerate([None, 5, "ab", [5], Odd()])},
    **{f"labels {i}": (lambda E, z=z: Ensemble(z)) for i, z in enumerate([None, 5, "ab", {}, [[10**400, 0.5]], Odd()])},
    **{f"new {i}": (lambda E, z=z: E.encode(z)) for i, z in enumerate([None, 5, "ab", {}, [[1]], [[{}, 0]], Odd()])},
    "folder of data": lambda E: datasets.load_dataset("iris", data_home=5),
    "load missing": lambda E: Ensemble.load("none.csv", missing="x"),
    "vectors missing": lambda E: Ensemble.from_partitions([[0]], missing=2**80),
    "surrogate": lambda E: Ensemble([["\ud800"]]).save("none.csv"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments_end_in_a_sentence(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, TypeError, IndexError)) as caught:
        WRONG[what](Ensemble([[0, "a"], [1, "b"], [-1, None]]))
    message = str(caught.value)
    assert ". Got" in message or ". Found" in message or ", got" in message, message
    assert message.endswith("."), message
    assert "\n" not in message
    assert len(message) < 400
    assert os.listdir() == []


@pytest.mark.parametrize(
    ("partitions", "expected"),
    [
        ([2, 0], [2, 0]),
        (1, [1]),
        ("b", [1]),
        (["c", "a"], [2, 0]),
        (np.array(["c"]), [2]),
        (slice(1, None), [1, 2]),
        ([True, False, True], [0, 2]),
        (-1, [2]),
        (np.array([0], dtype=np.uint8), [0]),
    ],
)
def test_select(partitions, expected):
    labels = random_labels(30, 3, 4, 0.2)
    selected = Ensemble(labels, names=list("abc")).select(partitions)
    same(selected, Ensemble(labels[:, expected], names=["abc"[j] for j in expected]))
    assert selected.codes.flags.c_contiguous


@pytest.mark.parametrize(
    ("partitions", "error", "message"),
    [
        (["z"], ValueError, r"Got 'z'\. The names are a, b, c\."),
        ([], ValueError, r"at least one\. Got none"),
        (slice(5, 9), ValueError, r"at least one\. Got none"),
        ([False] * 3, ValueError, r"at least one\. Got none"),
        (7, IndexError, "out of bounds"),
        ([0, 0], ValueError, "a name twice"),
    ],
)
def test_select_nothing_that_is_there(partitions, error, message):
    with pytest.raises(error, match=message):
        Ensemble([[0, 1, 2]], names=list("abc")).select(partitions)


@given(labels=label_matrices())
def test_one_hot(labels):
    ensemble = Ensemble(labels)
    dense = [labels[:, [j]] == c[None, :] for j, c in enumerate(ensemble.categories)]
    one_hot = ensemble.one_hot(np.int8)
    assert one_hot.dtype == np.int8
    np.testing.assert_array_equal(one_hot.toarray(), np.hstack(dense))


def test_array_protocol():
    ensemble = Ensemble([[0, 1], [1, -1]])
    assert np.asarray(ensemble).dtype == np.int64
    assert np.asarray(ensemble, dtype=float).tolist() == [[0, 1], [1, -1]]
    assert np.array(ensemble, copy=True).tolist() == [[0, 1], [1, -1]]
    with pytest.raises(ValueError, match="copy=False"):
        ensemble.__array__(copy=False)  # what NumPy 2 asks for with np.array(ensemble, copy=False)
    large = Ensemble([[2.0**60, 1], [np.nan, -1]])
    np.testing.assert_array_equal(np.asarray(large, dtype=float), [[2.0**60, 1], [np.nan, np.nan]])


@pytest.mark.parametrize(
    ("labels", "missing"),
    [
        ([[2**53, 2.0**60], [2**53 + 1, 2.0**61], [2**53 + 1, None]], -1),
        ([[-(2**53), 2.0**60], [-(2**53) - 1, 2.0**61], [0, None]], -1),
        ([[-(2**63), 0], [2**63 - 1, 1], [2**63 - 2, None]], None),
        ([[2**53, "a"], [2**53 + 1, "b"], [2**53 + 2, None]], -1),
    ],
)
def test_the_array_of_an_ensemble_keeps_what_floats_would_merge(labels, missing):
    ensemble = Ensemble(np.array(labels, dtype=object), missing=missing)
    assert np.asarray(ensemble).tolist() == labels
    same(Ensemble(np.asarray(ensemble), missing=missing), ensemble)
    assert [ensemble[i].tolist() for i in range(3)] == labels


def test_copies():
    ensemble = Ensemble(random_labels(30, 3, 4, 0.2))
    same(pickle.loads(pickle.dumps(ensemble)), ensemble)
    same(copy.deepcopy(ensemble), ensemble)


# ---- Coding new rows ----


def test_encode():
    ensemble = Ensemble([[0, "a", 5.0], [4, "b", 15.0], [2, "c", 25.0]])
    assert ensemble.encode([[4, "c", 15.0], [-1, None, np.nan]]).tolist() == [[2, 2, 1], [3, 3, 3]]
    same_codes = ensemble.encode(ensemble)
    np.testing.assert_array_equal(same_codes, ensemble.codes)
    assert same_codes.dtype == ensemble.codes.dtype


def test_encode_compares_signed_with_unsigned_whole_numbers():
    """As floats, 2⁶⁰ and 2⁶⁰ + 1 were one number."""
    known = np.array([2**60, 2**60 + 1, 2**60 + 2, 2**63 + 2], dtype=np.uint64).reshape(-1, 1)
    assert Ensemble(known).encode(known[:3].astype(np.int64)).ravel().tolist() == [0, 1, 2]
    assert Ensemble(known[:3].astype(np.int64)).encode(known[1:3]).ravel().tolist() == [1, 2]
    with pytest.warns(UserWarning, match="1 label not seen"):
        assert Ensemble(known[:3].astype(np.int64)).encode(known).ravel().tolist() == [0, 1, 2, 3]


def test_encode_labels_not_seen():
    ensemble = Ensemble([[0, "a"], [2, "b"]])
    with pytest.warns(UserWarning, match="3 labels not seen in fit count as missing") as caught:
        assert ensemble.encode([[1, "b"], [2, "z"], [7, "a"]]).tolist() == [[2, 1], [1, 2], [2, 0]]
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="1 label not seen in fit counts as missing"):
        assert ensemble.encode([[0, 5]]).tolist() == [[0, 2]]
    with pytest.warns(UserWarning, match="300 labels not seen"):
        assert (ensemble.encode([[j, "a"] for j in range(10, 310)])[:, 0] == 2).all()


def test_encode_wants_as_many_partitions():
    with pytest.raises(ValueError, match=r"must have the 2 partitions of the ensemble\. Got 1\."):
        Ensemble([[0, 1]]).encode([[0]])


@given(labels=label_matrices(), new=label_matrices())
@pytest.mark.filterwarnings("ignore:.* not seen in fit")
def test_encode_is_a_look_up(labels, new):
    p = min(labels.shape[1], new.shape[1])
    ensemble, new = Ensemble(labels[:, :p]), new[:, :p]
    codes = ensemble.encode(new)
    for j, known in enumerate(ensemble.categories):
        expected = [known.tolist().index(z) if z in known else len(known) for z in new[:, j]]
        assert codes[:, j].tolist() == expected


# ---- Distinct rows ----


def check_distinct(codes, radices):
    rows, counts, inverse = rows_in_memory(codes).distinct(radices)
    rows = rows[:]
    expected, expected_counts = np.unique(codes, axis=0, return_counts=True)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(counts, expected_counts)
    np.testing.assert_array_equal(rows[inverse], codes)
    assert rows.dtype == codes.dtype


@given(
    codes=hnp.arrays(
        st.sampled_from([np.uint8, np.uint16, np.int32]),
        st.tuples(st.integers(1, 30), st.integers(1, 25)),
        elements=st.integers(0, 3),
    )
)
def test_distinct_rows(codes):
    check_distinct(codes, np.full(codes.shape[1], 4))


@pytest.mark.parametrize("longest", [1, 4096])
def test_order_of_rows_that_begin_alike(longest, monkeypatch):
    """Runs of the same first word, short enough to be sorted by themselves and too long for it."""
    limit(monkeypatch, "rows of the same first word", longest)
    codes = np.random.default_rng(0).integers(0, 100, (3000, 20)).astype(np.uint8)
    codes[:, :9] //= 90
    codes[:1000, :9] = 0
    check_distinct(codes, np.full(20, 100))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32])
def test_distinct_rows_at_the_limits_of_a_word(dtype):
    largest = {np.uint8: 255, np.uint16: 65_535, np.int32: 2**31 - 1}[dtype]
    codes = np.random.default_rng(0).choice([0, 1, largest - 1, largest], size=(500, 9)).astype(dtype)
    check_distinct(codes, np.full(9, largest + 1))


@pytest.mark.usefixtures("only_kernels")
@pytest.mark.parametrize(
    "radices", [[256] * 9, [255] * 9, [257] * 9, [2**32, 2**32, 2], [2**31] * 5, [256] * 25, [2] * 65]
)
def test_columns_share_a_word_while_they_fit(radices):
    """Columns that fill 64 bits to the last one, and one more."""
    last, random = np.array(radices) - 1, np.random.default_rng(0)
    codes = np.where(random.random((500, len(last))) < 0.1, random.integers(last + 1, size=(500, len(last))), last)
    check_distinct(codes.astype(np.min_scalar_type(last.max())), last + 1)


def test_distinct_rows_of_an_ensemble(missing, small_blocks):
    labels = with_equal_rows(random_labels(30, 4, 3, missing), 100)
    ensemble = Ensemble(labels)
    codes, counts, inverse = ensemble.distinct
    np.testing.assert_array_equal(codes[inverse], ensemble.codes)
    assert counts.sum() == 100
    assert ensemble.distinct is ensemble.distinct


@given(labels=label_matrices())
def test_a_permutation_of_the_rows_permutes_and_nothing_else(labels):
    order = np.random.default_rng(len(labels)).permutation(len(labels))
    first, second = Ensemble(labels), Ensemble(labels[order])
    np.testing.assert_array_equal(second.codes, first.codes[order])
    np.testing.assert_array_equal(second.distinct.codes, first.distinct.codes)
    np.testing.assert_array_equal(second.distinct.counts, first.distinct.counts)
    np.testing.assert_array_equal(second.distinct.inverse, first.distinct.inverse[order])


# ---- Files ----

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)


def draw_floats(most):
    return st.floats(None if most is None else -most, most, allow_nan=False, allow_infinity=False)


@st.composite
def ensembles(draw, text=TEXT, name=TEXT, most=None):
    n = draw(st.integers(1, 8))
    kinds = [
        st.integers(-(2**62), 2**62),
        st.integers(-1, 3),
        st.floats(-most if most else None, most, allow_nan=False, allow_infinity=False).map(np.floor).map(float),
        text,
    ]
    columns = []
    for _ in range(draw(st.integers(1, 4))):
        label = st.none() | draw(st.sampled_from(kinds))
        column = draw(st.lists(label, min_size=n, max_size=n))
        columns.append(column if set(column) - {None, -1, -1.0} else [*column[:-1], 0 if 0 in column else 3])
    columns = [[str(z) if any(isinstance(y, str) for y in c) and z is not None else z for z in c] for c in columns]
    names = draw(st.lists(name, min_size=len(columns), max_size=len(columns), unique=True))
    missing = draw(st.sampled_from([-1, None]))
    return Ensemble.from_partitions(columns, names=names, missing=missing)


@given(ensemble=ensembles())
def test_npz_round_trip(ensemble, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "ensemble.npz"
    ensemble.save(path)
    same(Ensemble.load(path), ensemble)


@given(
    ensemble=ensembles(
        text=TEXT.map(lambda text: f"cluster {text}."), name=TEXT.map(lambda text: f"n{text}."), most=1e9
    )
)
def test_csv_round_trip(ensemble, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "ensemble.csv"
    ensemble.save(path)
    same(Ensemble.load(path, missing=ensemble.missing), ensemble)


@pytest.mark.parametrize("name", ["a;b", "a|b", "a\tb", 'a";"b', "a\n;b", "a,;b", ";", "a;b\r"])
@pytest.mark.parametrize("column", [["x;y", "z", None], [1, None, 2], ["x", "y", "z"], [5.0, -2.0, None]])
def test_the_name_of_one_partition_may_look_like_several(tmp_path, name, column):
    ensemble = Ensemble.from_partitions([column], names=[name.strip()])
    ensemble.save(tmp_path / "e.csv")
    same(Ensemble.load(tmp_path / "e.csv"), ensemble)


@pytest.mark.parametrize("suffix", ["npz", "csv", "NPZ"])
def test_large_files(suffix, tmp_path, missing, small_blocks):
    ensemble = Ensemble(random_labels(5000, 3, 400, missing), names=["a", "b,c", 'd"\ne'])
    ensemble.save(tmp_path / f"ensemble.{suffix}")
    same(Ensemble.load(str(tmp_path / f"ensemble.{suffix}")), ensemble)
    assert os.listdir(tmp_path) == [f"ensemble.{suffix}"]


def test_csv_is_plain(tmp_path):
    Ensemble([[0, "a,b"], [-1, None]], names=["x", "y"]).save(tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_text(encoding="utf-8") == 'x,y\n0,"a,b"\n,\n'
    Ensemble([[0], [-1]], names=["x"]).save(tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_text(encoding="utf-8") == 'x\n0\n""\n'


def loaded(tmp_path, content, **options):
    path = tmp_path / "labels.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Ensemble.load(path, **options)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("1\n2\n-1", [1, 2, None]),
        ("1\n\x202\n nan", [1, 2, None]),
        ("1.5\n2\n1e3", ["1.5", "2", "1e3"]),
        ("1\n2\n-1.0", [1, 2, None]),
        ("01\n1\n2", ["01", "1", "2"]),
        ("1\n1.0\n2", [1, 1, 2]),
        ("1_0\n10\n2", ["1_0", "10", "2"]),
        ("１\n1\n2", ["１", "1", "2"]),
        ("nan\nx\ny", [None, "x", "y"]),
        ("12345678901234567890\n12345678901234567891\n1", ["12345678901234567890", "12345678901234567891", "1"]),
        ("a\n''\n\"\"", ["a", "''", None]),
        ("a\nb\n  ", ["a", "b", None]),
        ("inf\n1\n2", ["inf", "1", "2"]),
    ],
)
def test_what_fields_of_a_csv_file_are(column, expected, tmp_path):
    ensemble = loaded(tmp_path, f"z\n{column}\n")
    table = [*ensemble.categories[0].tolist(), None]
    assert [table[code] for code in ensemble.codes[:, 0]] == expected
    assert {type(z) for z in table[:-1]} == {type(z) for z in expected if z is not None}


def test_csv_files_of_others(tmp_path):
    """A byte order mark, Windows line ends, no line end at the end, or too many."""
    expected = Ensemble([[0, "a"], [1, "b"]], names=["x", "y"])
    for content in ("\ufeffx,y\r\n0,a\r\n1,b\r\n", "x,y\n0,a\n1,b", 'x,y\n0,"a"\n1,b\n\n\n'):
        same(loaded(tmp_path, content), expected)
    assert loaded(tmp_path, "x\n-1\n0\n", missing=None).n_clusters.tolist() == [2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "nothing but blank lines"),
        ("x,y\n", "at least one row below its header"),
        ("x,y\n0,1\n0\n", r"must have 2 fields, as the first one has\. Got 1 in line 3"),
        ("x,x\n0,1\n", "different names"),
        ("x,y\n0,\n1,\n", "missing labels in partition 'y'"),
        (b"PK\x03\x04\xff\xfe", "must be a table with a header line"),
        ('x\n"' + "a" * 200_000, "must be a table with a header line"),
    ],
)
def test_files_that_are_no_csv(content, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        loaded(tmp_path, content)


def test_csv_has_no_place_for_blank_labels(tmp_path):
    for label in ("", " \t"):
        with pytest.raises(ValueError, match=r"Got a blank label in partition 'x'\. Use \.npz"):
            Ensemble([[label], ["a"]], names=["x"]).save(tmp_path / "e.csv")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("texts", [("1.0", "1"), ("-0", "0"), ("2", "2.00"), ("-1", "-1.0")])
def test_csv_has_no_place_for_labels_that_are_one_number(tmp_path, texts):
    ensemble = Ensemble([[text] for text in (*texts, "7")], names=["x"])
    with pytest.raises(
        ValueError, match=r"same whole number\. Got '.*' and '.*' in partition 'x'\. Use \.npz"
    ) as error:
        ensemble.save(tmp_path / "e.csv")
    assert all(repr(text) in str(error.value) for text in texts)
    assert os.listdir(tmp_path) == []
    ensemble.save(tmp_path / "e.npz")
    same(Ensemble.load(tmp_path / "e.npz"), ensemble)
    beside_text = Ensemble([[text] for text in (*texts, "no number")], names=["x"])
    beside_text.save(tmp_path / "e.csv")
    same(Ensemble.load(tmp_path / "e.csv"), beside_text)


def hostile_files(tmp_path):
    good = tmp_path / "good.npz"
    Ensemble(random_labels(500, 3, 4), names=list("abc")).save(good)
    parts = dict(np.load(good))
    yield "text", b"this is not a zip file"
    yield "empty", b""
    yield "pickle", pickle.dumps({"codes": 1})
    yield "truncated", good.read_bytes()[:-100]
    damaged = bytearray(good.read_bytes())
    damaged[300:400] = bytes(100)
    yield "damaged", bytes(damaged)
    for name, changes in {
        "pickled objects": {"names": np.array(["a", None, "c"], dtype=object)},
        "pickled codes": {"codes": np.array([[0, 0, 0]], dtype=object)},
        "no version": {"ensemblage_format": np.array("x")},
        "codes too large": {"codes": parts["codes"] + np.uint8(9)},
        "codes of another type": {"codes": parts["codes"].astype(np.int64)},
        "codes of one dimension": {"codes": parts["codes"][:, 0]},
        "no rows": {"codes": parts["codes"][:0]},
        "two names": {"names": parts["names"][:2]},
        "unsorted categories": {"categories_0": parts["categories_0"][::-1]},
        "twice the same category": {"categories_0": np.zeros(4, dtype=int)},
        "categories of two dimensions": {"categories_0": parts["categories_0"][None]},
        "two categories too few": {"categories_0": parts["categories_0"][:2]},
        "dates": {"categories_0": np.arange(4).astype("M8[D]")},
    }.items():
        np.savez(tmp_path / "other.npz", **(parts | changes))
        yield name, (tmp_path / "other.npz").read_bytes()
    del parts["categories_2"]
    np.savez(tmp_path / "other.npz", **parts)
    yield "a part too few", (tmp_path / "other.npz").read_bytes()
    with open(tmp_path / "array.npy", "wb") as file:
        np.save(file, np.zeros(3))
    yield "an array", (tmp_path / "array.npy").read_bytes()
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("codes.npy", b"nonsense")
    yield "another zip file", (tmp_path / "other.zip").read_bytes()


def test_hostile_files(tmp_path):
    for name, content in hostile_files(tmp_path):
        path = tmp_path / "hostile.npz"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"must be one that Ensemble\.save wrote\. Got .*hostile") as error:
            pytest.fail(f"{name}: {Ensemble.load(path)}")
        assert "\n" not in str(error.value), name


@pytest.mark.parametrize("name", ["labels.txt", "labels", "labels.npz.gz"])
def test_other_suffixes(name, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.npz or \.csv"):
        Ensemble([[0]]).save(tmp_path / name)
    with pytest.raises(ValueError, match=r"must end in \.npz or \.csv"):
        Ensemble.load(tmp_path / name)
    assert os.listdir(tmp_path) == []


def test_files_that_are_not_there(tmp_path):
    for name in ("none.csv", "none.npz"):
        with pytest.raises(FileNotFoundError):
            Ensemble.load(tmp_path / name)


@pytest.mark.parametrize("suffix", ["npz", "csv"])
def test_a_failed_save_leaves_the_old_file(suffix, tmp_path, monkeypatch):
    path = tmp_path / f"ensemble.{suffix}"
    Ensemble([[0], [1]]).save(path)
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr("numpy.lib.format.write_array_header_1_0", fail)  # of the codes, the last of the arrays
    monkeypatch.setattr("csv.writer", fail)
    with pytest.raises(OSError, match="disk full"):
        Ensemble([[5], [6]]).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]
