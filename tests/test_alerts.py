"""Alerts: what of a table probably makes a wrong answer is told before anything is clustered, everywhere alike."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from test_cli import fail, succeed

from ensemblage import ConsensusClustering, Preprocessor
from ensemblage.io import read_table
from ensemblage.io._features import features_of


def groups(n=60, k=3, columns=2, seed=0):
    """(n, columns) numbers in k groups, and the groups."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    return (6 * labels[:, None] + rng.normal(size=(n, columns))).round(2), labels


def frame_of(n=60, **more):
    """A table of three groups with ids."""
    X, _ = groups(n)
    return pd.DataFrame({"shop": [f"s{i}" for i in range(n)], "sales": X[:, 0], "cost": X[:, 1], **more})


def with_sums(frame):
    return pd.concat(
        [frame, frame.sum(numeric_only=True).round(2).to_frame().T.assign(shop="Total")], ignore_index=True
    )


@pytest.fixture
def sums(tmp_path):
    path = tmp_path / "sums.csv"
    with_sums(frame_of()).to_csv(path, index=False)
    return path


ROW_OF_SUMS = "a row of sums: line 62, its 2 numbers are the sums of those above. Delete that row."


def test_an_alert_is_told_by_every_command_before_anything_is_clustered(sums, tmp_path):
    out = tmp_path / "out"
    quick = ("-k", 3, "--quality", "fast", "--stability", 0, "-o", out)
    refused = fail("run", sums, *quick, "--strict")
    assert refused == f"error: sums.csv must have no alerts with --strict. Got 1, the first: {ROW_OF_SUMS}"
    assert not out.exists()
    done = succeed("run", sums, *quick)
    assert done.stdout.splitlines()[0] == f"alert       {ROW_OF_SUMS}"
    assert f"sums.csv: alert: {ROW_OF_SUMS}" in done.stderr
    (alert,) = json.loads((out / "summary.json").read_text())["alerts"]
    parts = {"what": "a row of sums", "where": "line 62", "cure": "Delete that row.", "text": ROW_OF_SUMS}
    assert parts.items() <= alert.items()
    page = (out / "report.html").read_text()
    assert page.index(ROW_OF_SUMS) < page.index('id="answer"')
    again = fail("run", sums, *quick, "--strict")  # what was finished before has the alert, too
    assert again.endswith(ROW_OF_SUMS)
    assert f"alert       {ROW_OF_SUMS}" in succeed("look", sums).stdout
    assert f"alert: {ROW_OF_SUMS}" in succeed("generate", sums, "-o", tmp_path / "e.npz", "--partitions", 2).stderr


def test_a_table_without_alerts_may_be_strict(tmp_path):
    frame_of().to_csv(tmp_path / "t.csv", index=False)
    done = succeed(
        "run", tmp_path / "t.csv", "-k", 3, "--quality", "fast", "--stability", 0, "-o", tmp_path / "out", "--strict"
    )
    assert "alert:" not in done.stderr
    assert not done.stdout.startswith("alert")
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["alerts"] == []
    assert "Alerts" not in (tmp_path / "out" / "report.html").read_text()


def test_at_most_five_are_shown_then_their_number(monkeypatch, sums):
    from ensemblage.io import _alerts

    monkeypatch.setattr(_alerts, "CHECKS", _alerts.CHECKS[:1] * 7)
    shown = succeed("look", sums).stdout.splitlines()
    assert sum(line.startswith("alert ") for line in shown) == 6
    assert "alert       ... and 2 more" in shown


def test_python_is_told_the_same(sums):
    frame = with_sums(frame_of())
    told = ROW_OF_SUMS.replace("line 62", "row 61")
    for X, text in ((read_table(sums), ROW_OF_SUMS), (frame, told)):
        with pytest.warns(UserWarning, match="a row of sums") as caught:
            preprocessor = Preprocessor().fit(X)
        assert [str(warning.message) for warning in caught] == [text]
        assert preprocessor.notes_[0] == text
    with pytest.warns(UserWarning, match="a row of sums"):
        model = ConsensusClustering(3, quality="fast", random_state=0).fit(frame)
    assert model.preprocessor_.notes_[0] == told
    assert features_of(read_table(sums)).alerts[0].text == ROW_OF_SUMS
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Preprocessor().fit(frame_of())


# -- rows and layout ---------------------------------------------------------------------------------------------------

QUICK = ("-k", 3, "--quality", "fast", "--stability", 0)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".parquet"])
def test_rows_without_any_value_are_left_out_and_told(tmp_path, suffix):
    frame = frame_of().drop(columns="shop")
    path, blank = tmp_path / f"t{suffix}", pd.DataFrame({"sales": [None] * 3, "cost": [None] * 3}, dtype=float)
    rows = pd.concat([frame[:5], blank[:1], frame[5:], blank[1:]], ignore_index=True)
    if suffix == ".csv":
        rows.to_csv(path, index=False)
    elif suffix == ".parquet":
        rows.to_parquet(path)
    else:
        pd.concat([rows, frame[:0]]).to_excel(path, index=False)
    table = read_table(path)
    n_blank = 1 if suffix == ".xlsx" else 3  # a sheet ends with its last value
    where = f"{table.unit} {6 + (suffix != '.parquet')}"
    assert f"left out, without any value: {n_blank} row{'s' * (n_blank > 1)}, the first in {where}" in table.notes
    assert len(table) == 60
    assert table.where(5) == f"{table.unit} {7 + (suffix != '.parquet')}"
    done = succeed("run", path, *QUICK, "-o", tmp_path / "out")
    assert "left out, without any value" in done.stderr
    labels = pd.read_csv(tmp_path / "out" / "labels.csv")
    assert labels["id"].tolist() == [*range(1, 6), *range(7, 62)]
    succeed("assign", tmp_path / "out", path, "-o", tmp_path / "new.csv")
    new = pd.read_csv(tmp_path / "new.csv")
    assert new["id"].tolist() == labels["id"].tolist()
    assert new["cluster"].tolist() == labels["cluster"].tolist()
    if suffix == ".csv":
        assert len(read_table(rows)) == 63  # the rows of a frame are the caller's
        with pytest.warns(UserWarning, match="rows without values"):
            assert len(Preprocessor().fit_transform(rows)) == 63


def test_an_annotated_workbook_keeps_its_rows(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    frame = frame_of(30)
    for row, cells in enumerate([frame.columns, *frame.itertuples(index=False)]):
        for j, cell in enumerate(cells, start=1):
            sheet.cell(row + 3 + (row > 10), j, cell)
    book.save(tmp_path / "t.xlsx")
    succeed("run", tmp_path / "t.xlsx", *QUICK, "--annotate", "-o", tmp_path / "out")
    made = openpyxl.load_workbook(tmp_path / "out" / "annotated.xlsx").active
    assert [made.cell(row, 4).value for row in (2, 3)] == [None, "cluster"]
    assert made.cell(14, 4).value is None
    labels = pd.read_csv(tmp_path / "out" / "labels.csv")["cluster"].tolist()
    assert [made.cell(row, 4).value for row in (*range(4, 14), *range(15, 35))] == labels


ABOVE = {
    "title": "Sales report\n\n",
    "title with commas": "Sales report,,\n",
    "comments": "# made by hand\n# in Rome, in May, in 2024\n",
    "two headers": ",money,\n",
    "names twice": "money,money,money\n",
}


@pytest.mark.parametrize("above", ABOVE)
def test_lines_above_the_names_are_named_and_skipped(tmp_path, above):
    path = tmp_path / "t.csv"
    path.write_text(ABOVE[above] + frame_of(30).to_csv(index=False))
    n = ABOVE[above].count("\n")
    for command in (("look", path), ("run", path, *QUICK, "-o", tmp_path / "out")):
        said = fail(*command)
        assert f"in line {n + 1}" in said
        assert said.endswith(f"Add --skip-rows {n}.")
    with pytest.raises(ValueError, match=rf"Add skip_rows={n}\.$"):
        read_table(path)
    table = read_table(path, skip_rows=n)
    assert table.names == ["shop", "sales", "cost"]
    assert table.where(0) == f"line {n + 2}"
    assert "shop" in succeed("look", path, "--skip-rows", n).stdout
    pd.DataFrame(row.split(",") for row in path.read_text().splitlines()).to_excel(
        tmp_path / "t.xlsx", index=False, header=False
    )
    with pytest.raises(ValueError, match=rf"Add skip_rows={n}\.$"):
        read_table(tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx", skip_rows=n).names == table.names


def test_a_row_of_units_below_the_names(tmp_path):
    lines = frame_of(30).to_csv(index=False).splitlines()
    (tmp_path / "t.csv").write_text("\n".join([lines[0], ",EUR,EUR", *lines[1:]]))
    with pytest.raises(ValueError, match=r"must stand in one row.*line 2, too\. Delete line 2\.$"):
        read_table(tmp_path / "t.csv")


def test_lines_of_a_typed_file_cannot_be_skipped(tmp_path):
    frame_of(30).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="skip_rows must be used with text tables and workbooks"):
        read_table(tmp_path / "t.parquet", skip_rows=1)
