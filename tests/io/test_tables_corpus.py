"""A corpus of small nasty tables, made here, each with what must come out; plain ones as pandas and csv read them."""

import csv
import gzip
import io
import itertools
import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow
import pytest
from limits import limit
from shell import call as shell

from ensemblage import Ensemble, read_table
from ensemblage.io._features import features_of, members_of

NUMBERS = [[1.25, -3.5, 120.0], [2.5, 0.75, 45.5], [-0.125, 1e-3, 7.0]]
NAMES = ["größe", "b", "c"]


def plain_table(delimiter, decimal, quoting, end):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow(["name", *NAMES])
    for who, row in zip(["ann", "bob", "cid"], NUMBERS, strict=True):
        writer.writerow([who, *(f"{value:.5f}".rstrip("0").replace(".", decimal) + "0" for value in row)])
    return out.getvalue()


GRID = list(
    itertools.product(
        [",", ";", "\t", "|"],
        [".", ","],
        [csv.QUOTE_MINIMAL, csv.QUOTE_ALL],
        ["\n", "\r\n", "\r"],
        ["utf-8", "utf-8-sig", "utf-16", "cp1252"],
    )
)


@pytest.mark.parametrize(("delimiter", "decimal", "quoting", "end", "encoding"), GRID)
def test_plain_tables(delimiter, decimal, quoting, end, encoding):
    """Delimiters × decimal marks × quotes × line ends × encodings: 192 files."""
    text = plain_table(delimiter, decimal, quoting, end)
    table = read_table(text.encode(encoding), name="t.csv", encoding=encoding if encoding == "cp1252" else None)
    result = features_of(table, standardize=False)
    assert (result.names, result.ids) == (NAMES, ["ann", "bob", "cid"])
    np.testing.assert_array_equal(result.X, NUMBERS)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    assert [table[name].cells() for name in table.names] == [list(column) for column in zip(*rows[1:], strict=True)]
    pd = pytest.importorskip("pandas")
    if end != "\r":
        theirs = pd.read_csv(io.StringIO(text), sep=delimiter, decimal=decimal)
        np.testing.assert_array_equal(theirs[NAMES].to_numpy(), result.X)


# Text of a file, numbers of its column x, and what is said of it.
ONE_COLUMN = {
    "german excel": ("name;g;x\nP0;a;1,01\nP1;b;1,53\nP2;a;1,99\n", [1.01, 1.53, 1.99], "decimal mark is a comma"),
    "one decimal comma per row": ("name;x\nP0;1,01\nP1;1,53\n", [1.01, 1.53], "1,01 is 1.01"),
    "thousands and decimals": ('n,x\na,"89,564.34"\nb,"1,250.00"\n', [89564.34, 1250], "89,564.34 is 89564.34"),
    "dollars": ("n,x\na,$89564\nb,$7\n", [89564, 7], "$89564 is 89564"),
    "dollars below zero": ('n,x\na,-$1.50\nb,"$1,000.25"\n', [-1.5, 1000.25], None),
    "brackets below zero": ('n,x\na,(12.50)\nb,"3"\n', [-12.5, 3], None),
    "euros after": ("n;x\na;1.234,50 €\nb;12,00 €\n", [1234.5, 12], None),
    "currency by letters": ("n,x\na,12.50 USD\nb,EUR 3\n", [12.5, 3], None),
    "percent": ("n,x\na,45%\nb,7.5 %\n", [45, 7.5], "45% is 45"),
    "decimal comma percent": ("n;x\na;4,5%\nb;7,25%\n", [4.5, 7.25], None),
    "swiss": ("n;x\na;1'234.50\nb;12.00\n", [1234.5, 12], None),
    "french": ("n;x\na;1 234,50\nb;12,00\n", [1234.5, 12], None),
    "no-break spaces": ("n;x\na;1\u00a0234,50\nb;12\u202f345,25\n", [1234.5, 12345.25], None),
    "millions": ('n,x\na,"1,234,567"\nb,"2,000,000"\n', [1234567, 2000000], None),
    "german millions": ("n;x\na;1.234.567\nb;2.000.000\n", [1234567, 2000000], None),
    "groups by other columns": ("n;x;y\na;1.234;0,5\nb;5.678;1,25\n", [1234, 5678], None),
    "doubt between commas": ('n,x\na,"1,234"\nb,"5,678"\n', [1234, 5678], "may be a thousand or a fraction"),
    "doubt between semicolons": ("n;x\na;1,234\nb;5,678\n", [1.234, 5.678], "may be a thousand or a fraction"),
    "no doubt by a shorter one": ("n;x\na;1,234\nb;5,6\n", [1.234, 5.6], "decimal mark is a comma"),
    "no doubt by a point elsewhere": ('n,x,y\na,"1,234",0.5\nb,"5,678",1.5\n', [1234, 5678], None),
    "minus sign": ("n,x\na,−1.5\nb,2\n", [-1.5, 2], None),
    "plus sign": ("n,x\na,+1.5\nb,2\n", [1.5, 2], None),
    "exponents": ("n,x\na,1e3\nb,2.5E-2\n", [1000, 0.025], None),
    "exponents with commas": ("n;x\na;1,5e3\nb;2,5E-2\n", [1500, 0.025], None),
    "no digit before the point": ("n,x\na,.5\nb,5.\n", [0.5, 5], None),
    "sep line": ("sep=;\nn;x\na;1\nb;2\n", [1, 2], None),
    "sep line in quotes": ('"sep=|"\r\nn|x\r\na|1\r\nb|2\r\n', [1, 2], None),
    "sep line of commas": ("sep=,\nn,x\na;b,1\nc;d,2\n", [1, 2], None),
    "spaces around": ("n , x \na , 1 \nb , 2 \n", [1, 2], None),
    "spaces before quotes": ('n, "x"\na, "1"\nb, "2"\n', [1, 2], None),
    "delimiter in quotes": ('n,x\n"a, b",1\n"c,d",2\n', [1, 2], None),
    "quotes in quotes": ('n,x\n"a ""b""",1\nc,2\n', [1, 2], None),
    "line end in quotes": ('n,x\n"a\nb",1\nc,2\n', [1, 2], None),
    "an inch": ('n,x\n5" disk,1\n3" disk,2\n', [1, 2], None),
    "blank lines": ("\n\nn,x\n\na,1\n\n\nb,2\n\n", [1, 2], None),
    "no line end at the end": ("n,x\na,1\nb,2", [1, 2], None),
    "short header": ("x y\nr1 1 3\nr2 2 5\n", [1, 2], "one field shorter"),
    "runs of spaces": ("n   x\na   1\nb  22\n", [1, 22], None),
    "empty column at the end": ("n,x,\na,1,\nb,2,\n", [1, 2], "left out, empty"),
    "all-empty column": ("n,e,x\na,,1\nb,,2\n", [1, 2], "left out, empty: e"),
    "header with line end": ('n,"x"\na,1\nb,2\n', [1, 2], None),
    "semicolons in text": ("n,x\na;b,1\nc;d,2\n", [1, 2], None),
    "commas in text": ("n;x\na,b;1\nc,d;2\n", [1, 2], None),
    "times in text": ("n,x\n2024-01-01 10:00,1\n2024-01-02 11:00,2\n", [1, 2], None),
    "ids of digits with zeros": ("n,x\n007,1\n008,2\n", [1, 2], None),
    "names of other scripts": ("名前,x\n東京,1\n京都,2\n", [1, 2], None),
}


@pytest.mark.parametrize("case", ONE_COLUMN)
def test_numbers_of_a_column(case):
    text, expected, said = ONE_COLUMN[case]
    table = read_table(text.encode(), name="t.csv")
    np.testing.assert_array_equal(table["x"].numbers, expected)
    assert said is None or any(said in note for note in table.notes), table.notes


# Cells of a column named as the key says, and its role.
ROLES = {
    "customer_id": ([1017, 1003, 1024, 1009], "id"),
    "CustomerID": ([17, 3, 24, 9], "id"),
    "mass": ([17, 3, 24, 9], "number"),
    "zip": (["01067", "80331", "10115", "80331"], "code"),
    "serial": (["001", "002", "003", "003"], "code"),
    "cluster": ([1, 2, 1, 2], "code"),
    "sector_code": ([11, 12, 11, 12], "code"),
    "customer_id ": ([17, 3, 17, 9], "code"),
    "member": (["yes", "no", "yes", "no"], "yes/no"),
    "mitglied": (["Ja", "Nein", "Ja", "Ja"], "yes/no"),
    "flag": (["True", "False", "True", "True"], "yes/no"),
    "zero": ([0, 1, 1, 0], "number"),
    "size": (["S", "M", "L", "M"], "ordered"),
    "risk": (["low", "high", "medium", "low"], "ordered"),
    "city": (["Köln", "Ulm", "Ulm", "Köln"], "category"),
    "since": (["2024-01-02", "2023-12-31", "2024-01-02", "2022-02-02"], "date"),
    "seit": (["1.2.2024", "31.12.2023", "3.4.2024", "3.4.2024"], "date"),
    "time": (["2024-01-02T10:30:00Z", "2024-01-02 10:31", "2024-01-03 09:00:01.5", "2024-01-03"], "date"),
    "note": (["first one", "another", "more words", "another"], "text"),
    "same": (["x", "x", "x", "x"], "constant"),
    "level": ([5, 5, 5, 5], "constant"),
}


@pytest.mark.parametrize("name", ROLES)
def test_roles(name, tmp_path):
    cells, role = ROLES[name]
    rows = [("who", name, "y"), *zip(["ann", "bob", "cid", "dan"], cells, [0.5, 1.5, 2.25, 9], strict=True)]
    path = tmp_path / "t.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    table = read_table(path)
    assert table.roles[name.strip()] == role
    assert table.roles["y"] == "number"
    used = {feature.partition("=")[0] for feature in table.features().names}
    known = {"code", "category", "ordered", "yes/no", "number"}
    assert (name.strip() in used) == (role in known and name not in ("cluster", "zip", "serial", "customer_id "))
    if role in ("code", "id"):
        assert name.strip() in read_table(path, roles={name.strip(): "number", "who": "id"}).features().names


def test_mostly_empty():
    text = "n,x,rare\n" + "".join(f"a{i},{i * i},{i if i == 3 else ''}\n" for i in range(20))
    result = features_of(read_table(text.encode(), name="t.csv"))
    assert result.names == ["x"]
    assert result.columns[-1] == ("rare", "mostly empty", "1 of 20 cells hold something", "left out")


# A column of labels, and what the labels are.
LABELS = {
    "whole": (["1", "2", "1"], [1, 2, 1]),
    "with .0": (["1.0", "2", "1"], [1, 2, 1]),
    "missing": (["-1", "2", "2"], [None, 2, 2]),
    "missing with .0": (["-1.0", "2.0", "2.0"], [None, 2, 2]),
    "leading zeros": (["01", "1", "1"], ["01", "1", "1"]),
    "exponents": (["1e3", "1000", "1e3"], ["1e3", "1000", "1e3"]),
    "beyond the floats": ([str(2**53), str(2**53 + 1), str(2**53)], [2**53, 2**53 + 1, 2**53]),
    "beyond 64 bits": ([str(2**64), str(2**64 + 1), str(2**64)], [str(2**64), str(2**64 + 1), str(2**64)]),
    "fractions written twice": (["0.5", "0.50", "0.5"], ["0.5", "0.50", "0.5"]),
    "commas": (["1,5", "2,5", "1,5"], ["1,5", "2,5", "1,5"]),
    "NA": (["NA", "b", "b"], [None, "b", "b"]),
    "text": (["a", "b", "a"], ["a", "b", "a"]),
    "text and numbers": (["a", "1", "a"], ["a", "1", "a"]),
    "yes and no": (["yes", "no", "yes"], ["yes", "no", "yes"]),
    "dates": (["2024-01-01", "2024-01-02", "2024-01-01"], ["2024-01-01", "2024-01-02", "2024-01-01"]),
}


def labels_of(ensemble):
    tables = [[*categories.tolist(), None] for categories in ensemble.categories]
    return [[table[code] for code in column] for table, column in zip(tables, ensemble.codes.T, strict=True)]


@pytest.mark.parametrize("case", LABELS)
def test_labels_are_the_same_by_every_way(case, tmp_path):
    cells, expected = LABELS[case]
    out = io.StringIO()
    csv.writer(out).writerows([["", "p", "q"], *zip(["r1", "r2", "r3"], cells, ["x", "y", "y"], strict=True)])
    path = tmp_path / "labels.csv"
    path.write_text(out.getvalue(), encoding="utf-8")
    loaded, combined = Ensemble.load(path), members_of(read_table(path)).ensemble
    for ensemble in (loaded, combined):
        assert ensemble.names == ["p", "q"]
        assert labels_of(ensemble) == [expected, ["x", "y", "y"]]


@pytest.mark.parametrize("values", [[1, 2, 1], [1.0, -1.0, 1.0], ["a", "b", None], [1, None, 2]])
def test_labels_of_typed_columns_are_those_of_their_csv(values, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"p": values, "q": [1, 2, 2]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    one, other = (members_of(read_table(tmp_path / name)).ensemble for name in ("t.csv", "t.parquet"))
    assert labels_of(one) == labels_of(other)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_columns_with_fractions_are_no_labels(name, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"p": [0.5, 1.5, 0.5], "q": [1, 2, 2]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(ValueError, match=r"these look like features.*Got 0\.5"):
        members_of(read_table(tmp_path / name))


REFUSED = {
    "two decimal marks": ("n;x;y\na;1,5;1.5\nb;2,5;2.5\n", "one decimal mark. Got 1,5 in line 2 and 1.5 in line 2"),
    "commas of two kinds": ("hoehe\n1,01\n1,53\n", "may be a decimal comma or a row name. Add delimiter="),
    "a fraction as a column": ("name,hoehe\nP0,1,01\nP1,1,53\n", "may be a decimal comma or a row name"),
    "an open quote": ('n,x\na,"1\nb,2\n', "unexpected end of data"),
    "too many cells": ("n,x\na,1\nb,2,3\n", "Got 3 in line 3"),
    "too few cells": ("n,x\na,1\nb\n", "Got 1 in line 3"),
    "too few cells below a quoted line end": ('n,x\n"a\nc",1\nb\n', "Got 1 in line 4"),
    "the same name twice": ("x,x\n1,2\n3,4\n", "Got 'x' 2 times"),
    "nothing": ("", "nothing but blank lines"),
    "a header": ("n,x\n", "at least one row below its header"),
    "JSON": ('[{"a": 1}, {"a": 2}]', "Got JSON"),
    "NUL": ("n,x\na\0,1\n", "NUL byte in line 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    text, message = REFUSED[case]
    with pytest.raises(ValueError, match=message) as error:
        read_table(text.encode(), name="t.csv")
    assert "\n" not in str(error.value)


def test_long_lines(monkeypatch):
    text = b"n,x\na,1\n" + b"b" * 12_000 + b",2\n"
    limit(monkeypatch, "bytes of a block of text", (1 << 10, 1 << 14))
    assert read_table(text, name="t.csv")["x"].numbers.tolist() == [1, 2]
    limit(monkeypatch, "bytes of a block of text", (1 << 10, 1 << 12))
    with pytest.raises(ValueError, match="must be shorter than 4,096 bytes"):
        read_table(text, name="t.csv")


def test_line_breaks_in_cells_of_a_file_of_many_blocks(monkeypatch):
    """Wherever a block ends: a break between quotes ends no row."""
    limit(monkeypatch, "bytes of a block of text", (1 << 10, 1 << 14))
    cells = ["\n".join("abcdefgh"[: i % 7 + 2]) for i in range(2_000)]
    table = read_table(("x,n\n" + "".join(f'"{c}",{i}\n' for i, c in enumerate(cells))).encode(), name="t.csv")
    assert table["x"].cells() == cells
    assert table["n"].numbers.tolist() == list(range(2_000))


def test_the_user_decides():
    text = b"hoehe\n1,01\n1,53\n"
    np.testing.assert_array_equal(read_table(text, name="t.csv", delimiter=";")["hoehe"].numbers, [1.01, 1.53])
    mixed = read_table(b"n;x;y\na;1,5;1.5\nb;2,5;2.5\n", name="t.csv", decimal=",")
    assert (mixed["x"].numbers is None, mixed["y"].numbers is None) == (False, True)


# -- other formats -----------------------------------------------------------------------------------------------------


def workbook(path, sheets):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("fastexcel")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


ROWS = [["name", "x", "group"], ["ann", 1.5, "a"], ["bob", 2, "b"], ["cid", -0.25, "a"]]


def test_workbooks(tmp_path):
    path = workbook(tmp_path / "t.xlsx", {"empty": [], "data": ROWS})
    table = read_table(path)
    assert table.roles == {"name": "id", "x": "number", "group": "category"}
    assert table.features(categories="drop").X.tolist() == [[1.5], [2.0], [-0.25]]


def test_workbooks_that_are_refused(tmp_path):
    two = workbook(tmp_path / "two.xlsx", {"one": ROWS, "two": ROWS})
    with pytest.raises(ValueError, match=r"Got 2 with cells for two\.xlsx\. Its sheets are one, two"):
        read_table(two)
    assert len(read_table(two, sheet="two")) == 3
    with pytest.raises(ValueError, match="Got 'three'"):
        read_table(two, sheet="three")
    with pytest.raises(ValueError, match=r"Got none in cell B2\. Open the workbook"):
        read_table(workbook(tmp_path / "f.xlsx", {"one": [["a", "b"], [1, "=A2+1"], [2, "=A3+1"]]}))
    with pytest.raises(ValueError, match="no cells at all"):
        read_table(workbook(tmp_path / "none.xlsx", {"one": []}))
    for content, message in [
        (b"PK\x03\x04" + bytes(50), "It is another kind of file, or damaged"),
        (b"\xd0\xcf\x11\xe0" + bytes(600) + "EncryptedPackage".encode("utf-16-le"), "It needs one"),
    ]:
        (tmp_path / "bad.xlsx").write_bytes(content)
        with pytest.raises(ValueError, match=message):
            read_table(tmp_path / "bad.xlsx")


def test_typed_files(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    frame = pa.table({"name": ["ann", "bob", "cid"], "x": [1.5, 2.0, None], "b": [True, False, True]})
    pyarrow.parquet.write_table(frame, tmp_path / "t.parquet")
    pyarrow.feather.write_feather(frame, tmp_path / "t.arrow")
    lines = [json.dumps(row) for row in frame.to_pylist()]
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "t.json").write_text(f"[{', '.join(lines)}]", encoding="utf-8")
    for name in ("t.parquet", "t.arrow", "t.jsonl", "t.json"):
        table = read_table(tmp_path / name)
        assert table.roles == {"name": "id", "x": "number", "b": "yes/no"}
        np.testing.assert_array_equal(table["x"].numbers, [1.5, 2, np.nan])
    pyarrow.parquet.write_table(pa.table({"x": [[1], [2]]}), tmp_path / "nested.parquet")
    with pytest.raises(ValueError, match="one value per cell"):
        read_table(tmp_path / "nested.parquet")


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_packed_files(suffix, tmp_path):
    pa = pytest.importorskip("pyarrow")
    text = b"n,x\na,1\nb,2\n"
    packed = gzip.compress(text) if suffix == "gz" else pa.Codec("zstd").compress(text, asbytes=True)
    path = tmp_path / f"t.csv.{suffix}"
    path.write_bytes(packed)
    assert read_table(path)["x"].numbers.tolist() == [1, 2]
    path.write_bytes(packed[:-4])
    with pytest.raises(ValueError, match="cut short or damaged"):
        read_table(path)
    path.write_bytes(text)
    with pytest.raises(ValueError, match=r"Rename it to t\.csv"):
        read_table(path)


def test_frames_keep_codes_as_text():
    table = read_table(b"who,zip,x\nann,01067,1\nbob,80331,2\ncid,80331,3\n", name="t.csv")
    frame = table.to_frame()
    assert frame.column("zip").to_pylist() == ["01067", "80331", "80331"]
    assert frame.column("x").to_pylist() == [1.0, 2.0, 3.0]


# -- the shell ---------------------------------------------------------------------------------------------------------


def test_roles_in_the_shell(tmp_path):
    text = "customer_id;cluster;revenue;x\n" + "".join(
        f"{i * 7};{i % 3};1.{i + 100:03},{i:02};{i},5\n" for i in range(12)
    )
    path, members = tmp_path / "t.csv", tmp_path / "members.csv"
    path.write_text(text, encoding="utf-8")
    done = shell("generate", path, "-o", members, "--partitions", 2, "--role", "cluster=number")
    assert done.exit_code == 0, done.stderr
    assert "id: column 'customer_id'" in done.stderr
    assert "left out" not in done.stderr
    done = shell("generate", path, "-o", members, "--partitions", 2, "--overwrite")
    assert "left out, its name says known classes: cluster (else: --role cluster=feature)" in done.stderr


def test_what_was_done_with_each_column_is_in_the_summary(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("who,city,x\n" + "".join(f"p{i},{'ab'[i % 2]},{i * i}\n" for i in range(12)), encoding="utf-8")
    done = shell("run", path, "-k", 2, "--partitions", 2, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    columns = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["columns"]
    assert [column["column"] for column in columns] == ["who", "city", "x"]
    assert [column["role"] for column in columns] == ["id", "category", "number"]
    assert [column["use"] for column in columns] == ["id of the rows", "used: indicators of 2 categories", "used"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Of 3 columns of the table, 2 were clustered." in page
    assert "used: indicators of 2 categories" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--role", "x"], "must be COLUMN=ROLE"),
        (["--role", "x=nonsense"], "must be COLUMN=ROLE"),
        (["--role", "z=id"], "--role must name a column of t.csv. Got 'z'"),
        (["--role", "who=id", "--role", "x=id"], "One column must be the id"),
        (["--role", "who=number"], "must hold numbers"),
        (["--delimiter", "ab"], "must be a single character"),
        (["--decimal", "x"], "--decimal"),
    ],
)
def test_options_that_are_refused(options, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("who,x,y\np,1,2\nq,2,3\nr,4,1\n", encoding="utf-8")
    done = shell("generate", path, "-o", tmp_path / "m.csv", *options)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_import_leaves_the_parsers_alone():
    code = "import sys, ensemblage; ensemblage.Ensemble; print({'pyarrow', 'fastexcel', 'polars'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# -- long cells and lines, and columns that are read as numbers at once ------------------------------------------------


@pytest.mark.parametrize("length", [300_000, pytest.param(200_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("row", [0, 1, 2, 150])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_long_quoted_cells(length, row, delimiter):
    """Longer than the limit of the csv module and than the sample, with line ends and quotes in them."""
    long = 'a, "b"; c\n' * (length // 10)
    rows = [[str(i), f"{i}.5", '"x, y; z"'] for i in range(200)]
    rows[row][2] = '"' + long.replace('"', '""') + '"'
    table = read_table("\n".join(map(delimiter.join, [["n", "x", "text"], *rows])).encode(), name="t.csv")
    assert table.names == ["n", "x", "text"]
    assert table["text"].cells()[row] == long.strip()
    np.testing.assert_array_equal(table["x"].numbers, np.arange(200) + 0.5)
    assert csv.field_size_limit() == 131_072  # which belongs to all


def test_a_quote_that_is_not_closed_before_a_long_file():
    with pytest.raises(ValueError, match=r"Line \d+ is not: unexpected end of data"):
        read_table(b'a,b\n1,2\n3,"4\n' + b"5,6\n" * 100_000, name="t.csv")


@pytest.mark.parametrize("start", [b"", b"a,b\n1,", b'a,b\n1,"', b"a,b\n" + b"1,2\n" * 50])
def test_lines_of_more_than_a_block(start, monkeypatch):
    """Refused in one sentence, in memory of a few times their size."""
    text = start + b"1" * (1 << 25) + b'"' * start.count(b'"')
    limit(monkeypatch, "bytes of a block of text", (1 << 16, 1 << 20))
    before = pyarrow.total_allocated_bytes()
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"A row of t.csv must be shorter than 1,048,576 bytes\."):
            read_table(text, name="t.csv")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak + pyarrow.default_memory_pool().max_memory() - before < 3 * len(text) + 100e6


def numbers_at_once(table):
    return [column.name for column in table.columns if column.read_again is not None]


def test_plain_numbers_are_read_at_once_and_their_text_on_demand():
    text = "who,x,n,zip\n" + "".join(f"p{i},{i}.50,{i},{i % 7:05}\n" for i in range(300))
    table = read_table(text.encode(), name="t.csv")
    assert numbers_at_once(table) == ["x"]  # n may hold codes, as zip does
    assert table["x"].cells()[:2] == ["0.50", "1.50"]
    np.testing.assert_array_equal(table["x"].numbers, np.arange(300) + 0.5)
    assert table.roles["zip"] == "code"
    whole = read_table(text.replace(",00", ",").replace(",0", ",5").encode(), name="t.csv")
    assert numbers_at_once(whole) == ["x", "n", "zip"]
    assert [table.names, whole.columns[3].cells()[:2]] == [["who", "x", "n", "zip"], ["500", "501"]]


@pytest.mark.parametrize("cell", ["x", "1,5", "1 5", "007", "1_0", "Na", "$2", "1.234.567"])
@pytest.mark.parametrize("row", [0, 250])
def test_an_odd_cell_far_below_is_read_as_near_the_top(cell, row):
    """The first rows say that a column holds plain numbers; a cell below that does not brings its text back."""
    tables = []
    for place in (0, row):
        cells = [f"{i};{i}.5;{i + 5}" for i in range(300)]
        cells[place] = f"7;{cell};{cell}"
        tables.append(read_table("\n".join(["i;x;n", *cells]).encode(), name="t.csv", decimal="."))
    top, below = tables
    assert top.roles == below.roles
    assert top["x"].text[0] == below["x"].text[row]
    assert top["x"].parsed.is_other[0] == below["x"].parsed.is_other[row]
    np.testing.assert_array_equal(top["x"].parsed.values[0], below["x"].parsed.values[row])


def test_labels_stay_text_where_they_look_like_numbers():
    text = "p,q\n" + "".join(f"{i % 3}.50,{i % 2}\n" for i in range(300)) + "1.5,-1\n"
    E = members_of(read_table(text.encode(), name="t.csv")).ensemble
    assert E.categories[0].tolist() == ["0.50", "1.5", "1.50", "2.50"]
    assert E.n_missing == 1


def test_text_that_is_no_unicode_is_refused():
    with pytest.raises(ValueError, match="could not be split into cells"):
        read_table(b"a,b\n1,x\n2,+2AA-\n", name="t.csv", encoding="utf-7")
