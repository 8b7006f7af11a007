"""Data frames as tables: the same roles and features as from the file that they came from."""

import datetime
import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from ensemblage import read_table
from ensemblage.io._features import features_of, members_of

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

TEXT = b"""who,kind,size,ok,day,customer_id,x,y
ann,a,low,True,2024-01-01,17,1.5,3
bob,b,high,False,2024-01-02,12,,4
cid,a,low,True,2024-01-03,19,2.25,9
dan,b,mid,False,2024-01-04,11,-1,7
"""
FRAMES = {
    "pandas": lambda: pd.read_csv(io.BytesIO(TEXT), parse_dates=["day"]),
    "polars": lambda: pl.read_csv(TEXT, try_parse_dates=True),
    "pyarrow": lambda: pa.Table.from_pandas(pd.read_csv(io.BytesIO(TEXT), parse_dates=["day"])),
    "categories": lambda: pd.read_csv(io.BytesIO(TEXT), dtype={"kind": "category", "who": "category"}),
}


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_is_read_as_its_file(library):
    table, file = read_table(FRAMES[library]()), read_table(TEXT)
    assert table.roles == file.roles
    ours, its = table.features(impute="median"), file.features(impute="median")
    np.testing.assert_array_equal(ours.X, its.X)
    assert (ours.names, ours.ids, ours.columns) == (its.names, its.ids, its.columns)
    assert [column.cells() for column in table.columns][:6] == [column.cells() for column in file.columns][:6]
    assert read_table(FRAMES[library](), roles={"x": "drop"}).features(categories="drop").names == ["y"]


def test_the_index_of_a_pandas_frame_holds_row_names():
    frame = pd.read_csv(io.BytesIO(TEXT))[["who", "y"]]
    assert read_table(frame).index is None
    named = read_table(frame.set_index("who"))
    assert (named.index, named.features().ids) == ("who", ["ann", "bob", "cid", "dan"])
    filtered = read_table(frame[["y"]].iloc[1:])
    assert (filtered.index, filtered.features().ids) == ("row names", ["1", "2", "3"])
    levels = read_table(frame.assign(g=[1, 1, 2, 2]).set_index(["g", "who"]))
    assert levels.features().ids == ["1, ann", "1, bob", "2, cid", "2, dan"]
    taken = read_table(frame.set_index(frame.who))
    assert taken.names == ["row names", "who", "y"]


@pytest.mark.parametrize("levels", [["low", "mid", "high"], [3, 1, 2], [0.5, 0.25, 1.0]])
def test_ordered_categories_keep_their_order(levels):
    texts = [f"{level:g}" if isinstance(level, float) else str(level) for level in levels]
    ordered = pd.DataFrame({"c": pd.Categorical([levels[2], levels[0], None], categories=levels, ordered=True)})
    assert read_table(ordered)["c"].categories == texts
    assert read_table(ordered)["c"].cells() == [texts[2], texts[0], ""]
    assert read_table(ordered.astype({"c": pd.CategoricalDtype(levels)}))["c"].categories is None
    for write, name in ((parquet.write_table, "t.parquet"), (feather.write_feather, "t.arrow")):
        out = io.BytesIO()
        write(pa.Table.from_pandas(ordered), out)
        if levels[0] == "low" or name == "t.arrow":  # Parquet keeps dictionaries of text alone
            assert read_table(out.getvalue(), name=name)["c"].categories == texts


def test_an_enum_of_polars_is_ordered():
    frame = pl.DataFrame({"c": pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "a"]))})
    assert read_table(frame)["c"].categories == ["b", "a"]
    assert read_table(frame.cast(pl.Categorical))["c"].categories is None


def test_values_of_any_type():
    frame = pd.DataFrame(
        {
            "mixed": [1, "x", None],
            "gaps": pd.array([1, None, 3], dtype="Int64"),
            "decimals": [Decimal("1.5"), None, Decimal("2")],
            "date": [datetime.date(2024, 1, day) for day in (1, 2, 3)],
            "at": pd.to_datetime(["2024-01-01 00:00:00", "2024-01-01 03:04:05", None]),
            "time": [datetime.time(1, 2), None, datetime.time(3)],
            "month": pd.period_range("2020-01", periods=3, freq="M"),
            "bytes": [b"ab", b"\xff", None],
            7: [True, None, False],
        }
    )
    cells = {column.name: column.cells() for column in read_table(frame).columns}
    assert cells == {
        "mixed": ["1", "x", ""],
        "gaps": ["1", "", "3"],
        "decimals": ["1.5", "", "2"],
        "date": ["2024-01-01", "2024-01-02", "2024-01-03"],
        "at": ["2024-01-01 00:00:00", "2024-01-01 03:04:05", ""],
        "time": ["01:02:00", "", "03:00:00"],
        "month": ["2020-01", "2020-02", "2020-03"],
        "bytes": ["b'ab'", "b'\\xff'", ""],
        "7": ["True", "", "False"],
    }
    table = read_table(frame)
    np.testing.assert_array_equal(table["gaps"].numbers, [1, np.nan, 3])
    np.testing.assert_array_equal(table["decimals"].numbers, [1.5, np.nan, 2])
    objects = read_table(pl.DataFrame({"o": pl.Series([{1}, None], dtype=pl.Object)}))
    assert objects["o"].cells() == ["{1}", ""]


def test_text_of_numbers_in_a_frame():
    """As in the file: decimal commas, thousands and currency; it was text."""
    table = read_table(pd.DataFrame({"x": ["1,5", "2,25"], "y": ["$1", "$2"], "z": [0.5, 1.5]}))
    np.testing.assert_array_equal(table.features().X, [[1.5, 1, 0.5], [2.25, 2, 1.5]])
    assert "the decimal mark is a comma" in table.notes[0]
    point = read_table(pd.DataFrame({"x": ["1,500", "2,250"]}), decimal=".")
    np.testing.assert_array_equal(point["x"].numbers, [1500, 2250])


def test_labels_of_a_frame():
    frame = pd.DataFrame({"p": [1, 1, 2], "q": ["x", "y", "y"]}, index=["r1", "r2", "r3"])
    members = members_of(read_table(frame))
    assert members.ids == ["r1", "r2", "r3"]
    assert np.asarray(members.ensemble).tolist() == [[1, "x"], [1, "y"], [2, "y"]]


@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        (pl.DataFrame({"a": [[1], [2]]}), ValueError, r"one value per cell\. Got large_list<item: int64> in 'a'"),
        (pd.DataFrame({"a": [{"b": 1}]}), ValueError, r"one value per cell\. Got struct<b: int64> in 'a'"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, r"must have distinct names"),
        (pd.DataFrame({1: [1, 2], "1": [2, 3]}), ValueError, r"different names\. Got '1' 2 times"),
        (pd.DataFrame({"a": []}), ValueError, "at least one row"),
        (pd.DataFrame(), ValueError, "at least one row"),
        (pl.LazyFrame({"a": [1]}), TypeError, "Collect a lazy frame"),
        (np.ones((2, 2)), TypeError, "must be a path, the bytes of a file, or a data frame"),
        (pd.DataFrame({"a": [1.0, None, 3], "b": [1, 2, 4]}), ValueError, "Got 1, the first in row 2, column 'a'"),
    ],
)
def test_frames_that_are_refused(frame, error, message):
    with pytest.raises(error, match=message):
        features_of(read_table(frame))


def test_frames_are_not_transposed():
    with pytest.raises(ValueError, match=r"Got DataFrame\. Save the table as CSV"):
        read_table(pd.DataFrame({"a": [1, 2]}), transpose=True)
