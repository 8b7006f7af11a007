"""Reading tables: what is found out about a file, and what is refused in one sentence."""

import csv
import gzip
import io
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensemblage import read_table
from ensemblage.io._features import features_of, members_of


def table_of(text, name="data.csv", **options):
    content = text if isinstance(text, bytes) else text.encode()
    return read_table(content, name=name, **options)


def features(text, **options):
    return features_of(table_of(text), standardize=False, **options)


def assert_table_or_sentence(content):
    message = "."
    try:
        features_of(table_of(content))
    except ValueError as error:
        message = str(error)
    assert message.endswith((".", "?"))
    assert "\n" not in message


def values(table):
    return np.column_stack([column.numbers for column in table.columns])


def said(result, part):
    return any(part in note for note in result.notes)


# -- delimiter, decimal mark, header ----------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends(delimiter, end):
    text = end.join(delimiter.join(row) for row in [("a", "b"), ("1", "2.5"), ("3", "-4e2")])
    table = table_of(text)
    assert table.names == ["a", "b"]
    np.testing.assert_array_equal(values(table), [[1, 2.5], [3, -400]])


def test_decimal_commas_between_semicolons_are_two_numbers():
    table = table_of("1,5;2,5\n3,5;4,5\n")
    np.testing.assert_array_equal(values(table), [[1.5, 2.5], [3.5, 4.5]])
    assert said(table, "1,5 is 1.5")


@pytest.mark.parametrize("delimiter", [";", "\t", "|", " "])
def test_decimal_comma_with_a_header(delimiter):
    table = table_of(f"a{delimiter}b\n1,5{delimiter}2\n3{delimiter}0,25\n")
    np.testing.assert_array_equal(values(table), [[1.5, 2], [3, 0.25]])


@pytest.mark.parametrize("rows", ["r1;x;1,5\nr2;y;2,25\n", '"r1";"x";1,5\n"r2";"y";2,25\n'])
def test_decimal_comma_below_a_header_without_the_row_names(rows):
    """As R writes it with sep=";" and dec=",": the comma splits header and rows as well, into other cells."""
    table = table_of("kind;size\n" + rows)
    assert table.names == ["row names", "kind", "size"]
    assert table["size"].numbers.tolist() == [1.5, 2.25]
    assert features_of(table).ids == ["r1", "r2"]


def test_spaces_around_text_are_no_part_of_it():
    table = table_of("a,b\nx , y\nz,y \n x,y\n")
    assert [column.cells() for column in table.columns] == [["x", "z", "x"], ["y", "y", "y"]]


def test_quoted_decimal_commas():
    np.testing.assert_array_equal(values(table_of('a,b\n"1,5",2\n"3,25",4\n')), [[1.5, 2], [3.25, 4]])


def test_two_decimal_marks_are_refused_with_both_places():
    with pytest.raises(ValueError, match=r"one decimal mark. Got 1,5 in line 2 and 2\.5 in line 3"):
        table_of("a;b\n1,5;1\n1;2.5\n")


def test_a_comma_that_may_stand_between_thousands_is_told():
    table = table_of('a,b\n"1,234",2\n"5,678",1\n')
    assert said(table, '1,234 may be a thousand or a fraction: it is read as 1234 (else: decimal=",")')
    np.testing.assert_array_equal(table["a"].numbers, [1234, 5678])
    table = table_of("a;b\n1,234;2\n5,678;1\n")
    assert said(table, 'it is read as 1.234 (else: decimal=".")')
    np.testing.assert_array_equal(table["a"].numbers, [1.234, 5.678])
    for mark, values in {".": [1234, 5678], ",": [1.234, 5.678]}.items():
        np.testing.assert_array_equal(table_of("a;b\n1,234;2\n5,678;1\n", decimal=mark)["a"].numbers, values)


def test_thousands_separators():
    np.testing.assert_array_equal(table_of('a,b\n"1,234.5",2\n').columns[0].numbers, [1234.5])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("5.1,3.5,setosa\n4.9,3,setosa\n", ["column_1", "column_2", "column_3"]),
        ("1,2\n3,4\n5,7\n", None),
        ("0,1\n3,4\n5,7\n", ["0", "1"]),  # a data frame's default names
        ("1,2,3\n3,4,9\n5,7,8\n", ["1", "2", "3"]),
        (",2019,2020\nx,4,9\ny,7,8\n", ["row names", "2019", "2020"]),
        ("sample,400.5,401.5\ns1,4,9\ns2,7,8\n", ["sample", "400.5", "401.5"]),
        ("red,blue\nblue,red\nred,blue\n", ["column_1", "column_2"]),
        ("first,second\nblue,red\nred,blue\n", ["first", "second"]),
    ],
)
def test_header_or_data(text, names):
    if names is None:
        names = ["1", "2"]
    assert table_of(text).names == names


def test_header_can_be_forced():
    text = "2019,2020\n1,2\n3,4\n"
    assert len(table_of(text)) == 3
    assert said(table_of(text), "the first row holds data")
    assert table_of(text, has_header=True).names == ["2019", "2020"]
    assert len(table_of("a,b\n1,2\n", has_header=False)) == 2


def test_short_header_and_unnamed_column_are_the_index():
    written_by_r = table_of('"a" "b"\n"r1" 1 2\n"r2" 3 4\n')
    assert written_by_r.index == "row names"
    assert said(written_by_r, "one field shorter")
    assert features_of(written_by_r).ids == ["r1", "r2"]
    assert features_of(table_of(",a\n10,1\n11,2\n")).ids == ["10", "11"]


def test_blank_lines_and_spaces_do_not_count():
    table = table_of("\n a , b \n\n 1 , 2 \n\n3,4\n\n")
    assert table.names == ["a", "b"]
    assert list(table.places()) == [4, 6]


def test_empty_columns_are_left_out():
    table = table_of("a,b,\n1,,\n2,,\n")
    assert table.names == ["a"]
    assert said(table, "left out, empty: b, column_3")


def test_cells_that_are_wanted_as_text_keep_their_zeros():
    table = table_of("x,code\n1,007\n2,012\n")
    assert list(table["code"].cells()) == ["007", "012"]
    assert list(table_of("code,x\n007,1.5\n012,2\n").columns[0].cells()) == ["007", "012"]


@given(
    st.lists(
        st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from([",", ";", "\t", "|"]),
    st.booleans(),
)
def test_numbers_come_back_as_they_were(rows, delimiter, quoted):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    writer.writerow(["a", "b", "c"])
    writer.writerows([[repr(v) for v in row] for row in rows])
    np.testing.assert_array_equal(values(table_of(out.getvalue())), rows)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=2, max_size=20))
def test_decimal_commas_come_back_as_they_were(rows):
    lines = [f"{x:.3f};{y:.2f}".replace(".", ",") for x, y in rows]
    expected = [[float(f"{x:.3f}"), float(f"{y:.2f}")] for x, y in rows]
    np.testing.assert_array_equal(values(table_of("\n".join(["a;b", *lines]))), expected)


@given(st.text(max_size=200))
def test_any_text_is_a_table_or_one_sentence(text):
    assert_table_or_sentence(text)


@given(st.binary(max_size=100))
def test_any_bytes_are_a_table_or_an_error(content):
    assert_table_or_sentence(content)


# -- what the file is -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_with_a_mark(encoding):
    assert table_of("é,b\n1,2\n3,4\n".encode(encoding)).names == ["é", "b"]


def test_latin_1_needs_a_word():
    content = "a,b\n1,2\né,4\n".encode("latin-1")
    with pytest.raises(ValueError, match=r"Got the byte 0xe9 in line 3.*encoding=\"latin-1\""):
        table_of(content)
    assert table_of(content, encoding="latin-1").columns[0].cells() == ["1", "é"]
    with pytest.raises(ValueError, match="Got 'klingon'"):
        table_of(content, encoding="klingon")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(20), "Got a PNG image"),
        ("packed.csv", gzip.compress(b"a,b\n1,2\n", mtime=0), "Got a gzip file. Rename it to packed.csv.gz"),
        ("plain.csv.gz", b"a,b\n1,2\n", "not gzip. Rename it to plain.csv"),
        ("cut.csv.gz", gzip.compress(b"a,b\n1,2\n" * 100, mtime=0)[:-12], "cut short or damaged"),
        ("book.csv", b"PK\x03\x04" + bytes(30), r"ZIP archive \(.xlsx"),
        ("nul.csv", b"a,b\n1,2\n3,\x004\n", "NUL byte in line 3"),
        ("nul.csv", b"\n\na\0", "NUL byte in line 3"),
        ("wide.csv", "a,b\n1,2\n".encode("utf-16-le"), 'add encoding="utf-16"'),
        ("table.csv", b"PAR1" + bytes(30), "Got a Parquet file"),
        ("empty.csv", b"", "empty.csv is empty"),
        ("empty.csv.gz", gzip.compress(b"", mtime=0), "nothing but blank lines"),
        ("blank.csv", b"\n \n", "nothing but blank lines"),
        ("header.csv", b"a,b\n", "at least one row below its header"),
        ("ragged.csv", b"a,b\n1,2\n3,4,5\n6,7\n", "2 fields, as the first one has. Got 3 in line 3"),
        ("title.csv", b"Customers\n\nid;x;y\na;1;2\nb;3;4\n", r"its 3 columns. Got one cell, 'Customers', .* line 3"),
        ("title.csv", b"Customers,,\nid,x,y\na,1,2\nb,3,4\n", r"names in line 2\. Add skip_rows=1\."),
        ("ragged.csv", b"a\n1\n2\n3,4\n", "1 field, as the first one has"),
        ("quote.csv", b'a,b\n1,2\n"3,4\n', "Line 3 is not: unexpected end of data"),
        ("twice.csv", b"a,b,a\n1,2,3\n4,5,6\n", "different names. Got 'a' 2 times"),
        ("table.parquet", b"a,b\n1,2\n", r"not a complete Parquet file"),
    ],
)
def test_files_that_are_not_tables(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / name)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(ValueError, match="is a folder"):
        read_table(tmp_path)


def test_gzip(tmp_path):
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"a\tb\n1\t2\n3\t4\n", mtime=0))
    np.testing.assert_array_equal(values(read_table(tmp_path / "a.tsv.gz")), [[1, 2], [3, 4]])


def test_parquet(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1, None, 3], "kind": ["a", "b", "b"], "y": [0.5, 1, 2]}, index=["r1", "r2", "r3"])
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    result = features_of(table, truth_column="kind", impute="mean", standardize=False)
    np.testing.assert_array_equal(result.X, [[1, 0.5], [2, 1], [3, 2]])
    assert (result.ids, result.truth.tolist()) == (["r1", "r2", "r3"], ["a", "b", "b"])


def parquet_table(tmp_path, **columns):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    return read_table((tmp_path / "t.parquet").read_bytes(), name="t.parquet")


def test_numbers_of_parquet_in_any_type(tmp_path):
    """Decimals and text of digits are features, as in a CSV file; they ended in a StopIteration."""
    ones = [Decimal("1.5"), Decimal("2"), Decimal("-3")]
    table = parquet_table(tmp_path, a=ones, b=["1.5", "2", "-3"], c=["x", "1", "2"])
    X = features_of(table, standardize=False, drop_columns=["c"]).X
    np.testing.assert_array_equal(X, [[1.5, 1.5], [2, 2], [-3, -3]])
    with pytest.raises(ValueError, match=r"Column 'c' of t.parquet must hold numbers.*Got 'x' in row 1"):
        features_of(table)


def test_labels_of_a_table_keep_their_digits(tmp_path):
    labels = np.array([2**63, 2**63 + 1, 2**63], dtype=np.uint64)
    for table in (
        parquet_table(tmp_path, a=labels),
        table_of("a,b\n9223372036854775808,1\n9223372036854775809,1\n9223372036854775808,2\n"),
    ):
        E = members_of(table).ensemble
        assert E.categories[0].tolist() == ["9223372036854775808", "9223372036854775809"]
        assert E.codes[:, 0].tolist() == [0, 1, 0]
    assert features_of(parquet_table(tmp_path, a=labels, b=[1, 2, 3])).X.shape == (3, 1)


@given(st.lists(st.tuples(st.integers(-5, 99), st.floats(-9, 9), st.sampled_from("xyz")), min_size=2, max_size=30))
def test_quotes_change_nothing(rows):
    plain = "n,v,t\n" + "".join(f"{n},{v!r},{t}\n" for n, v, t in rows)
    quoted = plain.replace("n,v,t", '"n","v",t')
    fast, careful = table_of(plain), table_of(quoted)
    for one, other in zip(fast.columns, careful.columns, strict=True):
        assert (one.numbers is None) == (other.numbers is None)
        assert one.cells() == other.cells()
        if one.numbers is not None:
            np.testing.assert_array_equal(one.numbers, other.numbers)


def test_half_of_the_cells_make_a_column_of_numbers():
    table = table_of("n;x\na;1,5\nb;2,5\nc;unknown\n")
    assert table["x"].is_numeric
    np.testing.assert_array_equal(table["x"].parsed.values, [1.5, 2.5, np.nan])


def test_a_row_name_before_codes_is_no_decimal_comma():
    table = table_of("a,b\nr1,2,x\nr2,4,05\n")
    assert [column.cells() for column in table.columns][1:] == [["2", "4"], ["x", "05"]]


# -- transposing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("corner", ["gene,", ",", ""])
def test_transposed(corner):
    table = table_of(f"{corner}s1,s2\ng1,1,2\ng2,3,4\ng3,5,6\n", transpose=True)
    result = features_of(table, standardize=False)
    assert table.index == table.names[0]
    assert (result.ids, result.names) == (["s1", "s2"], ["g1", "g2", "g3"])
    np.testing.assert_array_equal(result.X, [[1, 3, 5], [2, 4, 6]])


def test_transposed_without_names():
    result = features_of(table_of("s1,s2,s3\n1,2,3\n4,5,7\n", transpose=True), standardize=False)
    assert result.ids == ["s1", "s2", "s3"]
    np.testing.assert_array_equal(result.X, [[1, 4], [2, 5], [3, 7]])


def test_wide_tables_get_a_hint_and_nothing_else():
    result = features("a,b,c\n1,2,3\n3,1,9\n")
    assert said(result, "transpose=True")
    assert result.X.shape == (2, 3)
    assert not said(features("a,b,c\n1,2,3\n3,1,9\n4,4,1\n"), "transpose=True")


# -- features ----------------------------------------------------------------------------------------------------------


def test_roles_are_found_and_told():
    result = features("who,kind,x,y\nann,a,1,5\nbob,b,2,5\ncid,a,4,5\n")
    assert (result.ids, result.names) == (["ann", "bob", "cid"], ["x", "kind=b"])
    assert said(result, "id: column 'who'")
    assert said(result, 'categories as indicators: kind (else: Preprocessor(roles={"kind": "drop"}))')
    assert said(result, "left out, constant: y")


def test_a_first_column_that_counts_is_the_id():
    result = features("Id,x\n1,5\n2,7\n3,6\n")
    assert (result.names, result.id_column) == (["x"], "Id")
    assert features("a,x\n2,5\n3,7\n4,6\n").names == ["a", "x"]


def test_truth_and_dropped_columns_are_never_features():
    result = features("x,y,z,label\n1,3,2,0\n2,1,3,1\n4,1,5,1\n", truth_column="label", drop_columns=["y"])
    assert result.names == ["x", "z"]
    assert result.truth.tolist() == ["0", "1", "1"]
    assert result.ids == ["1", "2", "3"]
    assert said(result, "the rows are numbered from 1")


def test_truth_may_have_gaps():
    assert features("x,t\n1,b\n2,\n5,a\n", truth_column="t").truth.tolist() == ["b", None, "a"]


@pytest.mark.parametrize(
    ("impute", "filled"), [("median", [[1, 4], [2, 5], [9, 4.5]]), ("mean", [[1, 4], [5, 5], [9, 4.5]]), ("drop", None)]
)
def test_missing_values(impute, filled):
    text = "x,y\n1,4\n" + ("NA,5\n" if impute != "median" else "2,5\n") + "9,?\n"
    if impute == "drop":
        result = features(text + "3,3\n", impute=impute)
        np.testing.assert_array_equal(result.X, [[1, 4], [3, 3]])
        assert result.ids == ["1", "4"]
    else:
        np.testing.assert_array_equal(features(text, impute=impute).X, filled)


def test_standardized():
    result = features_of(table_of("x,y\n1,400\n2,500\n9,100\n"))
    np.testing.assert_allclose(result.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(result.X.std(axis=0), 1)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,2\n", {}, "at least 2 complete rows to cluster. It has 1"),
        ("a,b\n1,2\n1,2\n", {}, "a column of numbers that vary"),
        ("a,b\nx,y\nx,z\nx,w\n", {}, "a column of numbers or categories beside its id"),
        ("a,b\n1,2\n3,x\n5,6\n7,8\n", {}, r"Column 'b' of data.csv must hold numbers.*Got 'x' in line 3"),
        (
            "a,b\n1,2\n2,-\n3,4\n4,-\n5,no\n6,7\n7,8\n",
            {},
            r"line 3, and 'no' in others\. .*Preprocessor.missing=\[\"-\", \"no\"\]",
        ),
        ("a,b\n1,2\n3,inf\n5,6\n", {}, "Got infinity in line 3"),
        ("a,b\n1,\n3,4\n5,6\n", {}, "Got 1, the first in line 2, column 'b'. Fill them with impute=\"median\""),
        ("a,b\n1,\n,4\n", {"impute": "drop"}, "at least 2 complete rows"),
        (
            "who,x\na,1\na,2\n",
            {"id_column": "who"},
            r"\(who\) must differ. Got 'a' in line 2 and line 3",
        ),
        (",x\na,1\na,2\n", {}, r"\(row names\) must differ"),
        ("who,x\na,1\n,2\n", {"id_column": "who"}, "Got none in line 3"),
        ("label,x\na,1\nb,2\n", {"truth_column": "lable"}, "truth_column must name .* Did you mean 'label'"),
        ("a,b\n1,2\n3,4\n", {"id_column": "zzz"}, "Its columns are a, b"),
        ("a,b\n1,2\n3,4\n", {"id_column": "a", "truth_column": "a"}, "one role"),
        ("a,t\n1,\n3,\n", {"truth_column": "t"}, "truth_column must name a column"),
        ("a,b\n1e308,2\n-1e308,4\n", {"standardize": True}, "too large"),
    ],
)
def test_features_that_are_refused(text, options, message):
    with pytest.raises(ValueError, match=message):
        features_of(table_of(text), **options)


# -- labels ------------------------------------------------------------------------------------------------------------


def test_label_tables():
    members = members_of(table_of(",p,q,r\na,1,x,5.0\nb,1,NA,15.0\nc,-1,y,15.0\n"))
    assert members.ids == ["a", "b", "c"]
    assert members.ensemble.names == ["p", "q", "r"]
    assert np.asarray(members.ensemble).tolist() == [[1, "x", 5], [1, None, 15], [None, "y", 15]]


def test_a_table_of_features_has_no_members():
    with pytest.raises(ValueError, match=r"look like features\. Got 0\.5 in partition 'r'"):
        members_of(table_of(",p,r\na,1,0.5\nb,1,1.5\nc,-1,1.5\n"))


def test_minus_one_may_be_a_label():
    text = "p,q\n1,1\n1,-1\n-1,-1\n"
    assert members_of(table_of(text)).ensemble.n_missing == 3
    assert members_of(table_of(text), missing=None).ensemble.n_missing == 0


@pytest.mark.parametrize("ids", [["a", "b", "c", "d"], ["5", "3", "9", "7"], ["0.5", "1.5", "2.5", "3.5"]])
def test_a_first_column_that_differs_everywhere_is_the_id(ids):
    table = table_of("who,p,q\n" + "".join(f"{name},{i % 2},{i // 2}\n" for i, name in enumerate(ids)))
    if "." in ids[0]:  # a table of features
        with pytest.raises(ValueError, match="Column 'who'"):
            members_of(table)
        return
    members = members_of(table)
    assert (members.id_column, members.ids, members.ensemble.names) == ("who", ids, ["p", "q"])
    assert "id: column 'who', the first, which differs in every row" in members.notes
    left = members_of(table, drop_columns=("who",))
    assert (left.id_column, left.ids) == (None, ["1", "2", "3", "4"])


@pytest.mark.parametrize("ids", [["a", "b", "c", "d"], ["5", "3", "9", "7"], ["0.5", "1.5", "2.5", "3.5"]])
def test_a_column_that_differs_everywhere_is_no_member(ids):
    text = "p,who,q\n" + "".join(f"{i % 2},{name},{i // 2}\n" for i, name in enumerate(ids))
    with pytest.raises(ValueError, match=r"Column 'who'.*roles=\{\"who\": \"id\"\}"):
        members_of(table_of(text))
    assert members_of(table_of(text), id_column="who").ensemble.shape == (4, 2)


def test_a_table_of_ids_has_no_members():
    with pytest.raises(ValueError, match="must have a column of labels"):
        members_of(table_of("who\na\nb\n"), id_column="who")


@pytest.mark.parametrize("gap", ["", "NA", "?", "None", " na "])
def test_gaps_are_read_fast_and_slowly_alike(gap):
    rows = [["1", gap, "x"], [gap, gap, "y"], ["2.5", "3", gap], [gap, "4", "z"]]
    plain = "\n".join(",".join(row) for row in [["a", "b", "c"], *rows])
    fast, careful = table_of(plain), table_of(plain.replace("a,", '"a",'))
    for table in (fast, careful):
        np.testing.assert_array_equal(table["a"].numbers, [1, np.nan, 2.5, np.nan])
        np.testing.assert_array_equal(table["b"].numbers, [np.nan, np.nan, 3, 4])
        assert list(table["c"].cells()) == ["x", "y", gap.strip(), "z"]


def test_nothing_but_gaps():
    with pytest.raises(ValueError, match="All its cells are empty"):
        table_of("a,b\n,\n,\n")
