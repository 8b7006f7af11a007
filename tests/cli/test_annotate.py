"""``run --annotate``: the whole input table with what was found of each row beside, in its own format."""

import csv
import json
import sys

import numpy as np
import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner

from ensemblage.cli import main

ADDED = ["cluster", "confidence", "verdict", "runner_up", "runner_up_share"]


def frame(n=30):
    random = np.random.default_rng(0)
    group = np.repeat([0, 1], n // 2)
    return pd.DataFrame(
        {
            "who": [f"p {i}; ü" for i in range(n)],
            "size": (10 * group + random.normal(size=n)).round(2),
            "weight": (5 * group + random.normal(size=n)).round(3),
            "remark": [None if i % 3 else f"said: {i}" for i in range(n)],
            "empty": [None] * n,
        }
    )


def annotated(path, *args):
    command = ["run", str(path), "-k", "2", "--partitions", "5", "--annotate", "-o", str(path.parent / "out"), *args]
    result = CliRunner().invoke(main, [*command, "--stability", "0"], catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    with open(path.parent / "out" / "labels.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_german_export(tmp_path):
    given = frame()
    given.to_csv(tmp_path / "kunden.csv", sep=";", decimal=",", index=False, encoding="cp1252")
    labels = annotated(tmp_path / "kunden.csv", "--encoding", "cp1252")
    raw = (tmp_path / "out" / "annotated.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    found = pd.read_csv(tmp_path / "out" / "annotated.csv", sep=";", decimal=",", encoding="utf-8-sig")
    for column in ("who", "size", "weight"):
        assert found[column].tolist() == given[column].tolist()
    assert found["remark"].fillna("").tolist() == given["remark"].fillna("").tolist()
    assert list(found.columns) == [*given.columns, *ADDED]
    assert found["cluster"].tolist() == [int(row["cluster"]) for row in labels]
    assert found["confidence"].tolist() == [float(row["confidence"]) for row in labels]
    assert found["verdict"].tolist() == [row["verdict"] for row in labels]


def test_rows_that_were_left_out_have_empty_cells(tmp_path):
    given = frame()
    given.loc[[3, 7], "size"] = None
    given.to_csv(tmp_path / "t.tsv", sep="\t", index=False)
    labels = annotated(tmp_path / "t.tsv", "--impute", "drop")
    found = pd.read_csv(tmp_path / "out" / "annotated.tsv", sep="\t")
    assert np.flatnonzero(found["cluster"].isna()).tolist() == [3, 7]
    assert found["cluster"].dropna().astype(int).tolist() == [int(row["cluster"]) for row in labels]
    assert len(found) == 30


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "jsonl"])
def test_typed_tables(tmp_path, suffix):
    given = frame().drop(columns="empty")
    path = tmp_path / f"t.{suffix}"
    if suffix == "parquet":
        given.to_parquet(path, index=False)
    elif suffix == "arrow":
        given.to_feather(path)
    else:
        given.to_json(path, orient="records", lines=True)
    labels = annotated(path)
    read = {"parquet": pd.read_parquet, "arrow": pd.read_feather}.get(suffix, lambda p: pd.read_json(p, lines=True))
    found = read(tmp_path / "out" / f"annotated.{suffix}")
    assert list(found.columns) == [*given.columns, *ADDED]
    np.testing.assert_allclose(found["size"], given["size"], rtol=1e-12)
    assert found["runner_up"].tolist() == [int(row["runner_up"]) for row in labels]


def test_a_workbook_stays_as_it_is(tmp_path):
    given = frame()
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(list(given.columns))
    for row in given.astype(object).where(given.notna(), None).itertuples(index=False):
        sheet.append(list(row))
    sheet["A1"].font = openpyxl.styles.Font(bold=True)
    book.create_sheet("notes").append(["mine"])
    book.save(tmp_path / "t.xlsx")
    labels = annotated(tmp_path / "t.xlsx", "--sheet", sheet.title)
    made = openpyxl.load_workbook(tmp_path / "out" / "annotated.xlsx")
    assert made.sheetnames == book.sheetnames
    assert made.active["A1"].font.bold
    found = list(made.active.values)
    assert list(found[0]) == [*given.columns, *ADDED]
    assert [row[5] for row in found[1:]] == [int(row["cluster"]) for row in labels]
    assert [row[1] for row in found[1:]] == given["size"].tolist()


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    frame().to_excel(tmp_path / "t.xlsx", index=False)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    command = ["run", str(tmp_path / "t.xlsx"), "-k", "2", "--annotate", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 2
    assert "Run `pip install ensemblage[excel]`, or save the table as CSV." in done.stderr
    assert not (tmp_path / "out").exists()


def test_names_that_are_taken_stay(tmp_path):
    given = frame().rename(columns={"weight": "confidence"})
    given.to_csv(tmp_path / "t.csv", index=False)
    annotated(tmp_path / "t.csv")
    found = pd.read_csv(tmp_path / "out" / "annotated.csv")
    assert found["confidence"].tolist() == given["confidence"].tolist()
    assert found["confidence_found"].between(0, 1).all()


def test_again_and_what_is_in_the_way(tmp_path):
    frame().to_csv(tmp_path / "t.csv", index=False)
    annotated(tmp_path / "t.csv")
    path = tmp_path / "out" / "annotated.csv"
    before = path.read_bytes()
    annotated(tmp_path / "t.csv")  # finished: the same table again
    assert path.read_bytes() == before
    path.write_text("mine", encoding="utf-8")
    command = ["run", str(tmp_path / "t.csv"), "-k", "2", "--partitions", "5", "--annotate", "--stability", "0"]
    result = CliRunner().invoke(main, [*command, "-o", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "overwritten unasked" in result.stderr
    assert path.read_text(encoding="utf-8") == "mine"


def test_what_cannot_be_annotated_is_said_before_the_work(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(frame().drop(columns="empty").to_dict("records")), encoding="utf-8")
    result = CliRunner().invoke(main, ["run", str(tmp_path / "t.json"), "--annotate", "-o", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "--annotate must be used with a text table" in result.stderr
    assert not (tmp_path / "out").exists()
