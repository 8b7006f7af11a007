"""Workbooks of Excel and OpenDocument: what their cells come out as, and what is refused in one sentence."""

import datetime
import io
import re
import zipfile

import numpy as np
import pytest
from places import FILES

from ensemblage import read_table

OLD_EXCEL = FILES / "two_sheets.xls"
"""Written by xlwt: the sheet "one" with text, numbers, dates, truth values and formulas without results, and "two"."""
NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
)
MANIFEST = '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">{}</m:manifest>'


def cell(value, kind="string", attribute="string-value", shown="", formula=""):
    formula = formula and f' table:formula="{formula}"'
    return (
        f'<table:table-cell office:value-type="{kind}" office:{attribute}="{value}"{formula}>'
        f"<text:p>{shown or value}</text:p></table:table-cell>"
    )


def ods(sheets, manifest=""):
    """The bytes of a workbook of OpenDocument."""
    tables = "".join(
        f'<table:table table:name="{name}">'
        + "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", MANIFEST.format(manifest))
        archive.writestr(
            "content.xml",
            f"<office:document-content {NAMESPACES}><office:body><office:spreadsheet>{tables}"
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return out.getvalue()


ROWS = [
    [cell(name) for name in ("who", "x", "day", "at", "ok", "sum")],
    [
        cell("ann"),
        cell("1.5", "float", "value", "1,50"),
        cell("2024-01-02", "date", "date-value", "02.01.24"),
        cell("2024-01-02T03:04:05", "date", "date-value"),
        cell("true", "boolean", "boolean-value", "WAHR"),
        cell("3", "float", "value", formula="of:=[.B2]*2"),
    ],
    [
        cell("bob"),
        cell("0.5", "percentage", "value", "50%"),
        cell("2024-01-03", "date", "date-value", "03.01.24"),
        cell("2024-01-03T00:00:00", "date", "date-value"),
        cell("false", "boolean", "boolean-value", "FALSCH"),
        cell("1", "float", "value", formula="of:=[.B3]*2"),
    ],
]


def test_values_of_opendocument_and_not_how_they_are_shown():
    table = read_table(ods({"one": ROWS, "empty": []}), name="t.ods")
    assert table.roles == {"who": "id", "x": "number", "day": "date", "at": "date", "ok": "yes/no", "sum": "number"}
    assert table["day"].cells() == ["2024-01-02", "2024-01-03"]
    assert table["ok"].cells() == ["true", "false"]
    np.testing.assert_array_equal(table.features(categories="drop").X, [[1.5, 3], [0.5, 1]])


def test_sheets_of_opendocument():
    two = ods({"one": ROWS, "two": [[cell("a")], [cell("7", "float", "value")], [cell("8", "float", "value")]]})
    assert read_table(two, name="t.ods", sheet="two")["a"].cells() == ["7", "8"]
    with pytest.raises(ValueError, match=r"Got 2 with cells for t\.ods\. Its sheets are one, two\."):
        read_table(two, name="t.ods")
    with pytest.raises(ValueError, match=r"Got 'three' for t\.ods"):
        read_table(two, name="t.ods", sheet="three")


def test_old_excel():
    table = read_table(OLD_EXCEL, sheet="one")
    assert [column.cells() for column in table.columns] == [
        ["ann", "bob"],
        ["1.5", "2"],
        ["2024-01-02", "2024-01-03"],
        ["true", "false"],
    ]
    assert table.notes == ("left out, empty: sum",)
    with pytest.raises(ValueError, match=r"Got 2 with cells for two_sheets\.xls"):
        read_table(OLD_EXCEL)


def test_workbooks_with_a_password():
    encrypted = ods({"one": ROWS}, '<m:file-entry m:full-path="content.xml"><m:encryption-data/></m:file-entry>')
    with pytest.raises(ValueError, match=r"t\.ods must open without a password"):
        read_table(encrypted, name="t.ods")
    # A record FilePass behind the first record, as Excel writes it.
    old = OLD_EXCEL.read_bytes().replace(bytes.fromhex("e1000200b004"), bytes.fromhex("2f000200b004"), 1)
    with pytest.raises(ValueError, match=r"t\.xls must open without a password"):
        read_table(old, name="t.xls")


def workbook(sheets):
    """The bytes of a workbook of Excel."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_dates_times_and_truth_values_of_excel():
    day, at = datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, 4, 5)
    rows = [["day", "at", "time", "ok", "x"]]
    rows += [[day + datetime.timedelta(i), at, datetime.time(3, i), i == 0, i + 0.5] for i in range(3)]
    rows[2][1] = datetime.datetime(2024, 1, 3)
    table = read_table(workbook({"one": rows}), name="t.xlsx")
    assert table["day"].cells() == ["2024-01-02", "2024-01-03", "2024-01-04"]
    assert table["at"].cells() == ["2024-01-02 03:04:05", "2024-01-03 00:00:00", "2024-01-02 03:04:05"]
    assert table["time"].cells() == ["03:00:00", "03:01:00", "03:02:00"]
    assert table["ok"].cells() == ["true", "false", "false"]
    assert [table.roles[name] for name in ("day", "at", "ok", "x")] == ["date", "date", "yes/no", "number"]


def test_formulas_are_sought_in_the_sheet_that_is_read():
    """The files in a workbook are numbered as the sheets were made, not as they are shown."""
    content = workbook({"data": [["a", "b"], [1, 2], [3, 5]], "sums": [["a"], ["=1+1"], [2]]})
    swapped = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(swapped, "w") as new:
        for part in old.namelist():
            text = old.read(part)
            if part == "xl/workbook.xml":
                text = re.sub(rb"(<sheet [^>]*/>)(<sheet [^>]*/>)", rb"\2\1", text)
            new.writestr(part, text)
    assert read_table(swapped.getvalue(), name="t.xlsx", sheet="data")["b"].cells() == ["2", "5"]
    with pytest.raises(ValueError, match="Got none in cell A2"):
        read_table(swapped.getvalue(), name="t.xlsx", sheet="sums")
