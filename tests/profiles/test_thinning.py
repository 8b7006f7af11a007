"""``run --thin-counts``: clusters of one part of each count, tests on the other; ``report --selective-markers``."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from pages import find

from ensemblage import profile
from ensemblage.cli import main
from ensemblage.preprocessing import thin_counts

SECTION = "The clusters and what describes them"


@pytest.fixture
def counts(tmp_path):
    """Two groups of 60 objects that differ in two of eight variables, with names."""
    random = np.random.default_rng(0)
    mean = np.where((np.arange(120) < 60)[:, None] & (np.arange(8) < 2), 60, 8)
    frame = pd.DataFrame(random.poisson(mean), columns=[f"g{j}" for j in range(8)])
    frame.insert(0, "name", [f"cell{i}" for i in range(120)])
    path = tmp_path / "counts.csv"
    frame.to_csv(path, index=False)
    return path


def run(path, *args, output="out"):
    options = ["-k", "2", "--generator", "random-k", "--partitions", "20", "--stability", "0"]
    return CliRunner().invoke(main, ["run", str(path), *options, "-o", str(path.parent / output), *args])


def rows_of(path, name="profile.csv"):
    with open(path.parent / "out" / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def summary_of(path):
    return json.loads((path.parent / "out" / "summary.json").read_text(encoding="utf-8"))


def test_markers_are_those_of_the_second_part(counts):
    result = run(counts, "--selective-markers", "--thin-counts")
    assert result.exit_code == 0, result.stderr
    rows = rows_of(counts)
    assert {row["test"] for row in rows} == {"thinned counts"}
    assert {row["other"] for row in rows} == {"rest"}
    assert {row["variable"] for row in rows if float(row["p_adjusted"]) <= 0.05} >= {"g0", "g1"}
    # described are the counts, not their logarithms or parts
    assert max(float(row["median"]) for row in rows if row["variable"] == "g0") > 50
    found = summary_of(counts)
    assert "Each cluster was compared with all others together" in found["profile"]["honest"]["sentence"]
    assert found["profile"]["honest"]["sentence"] in result.stderr
    assert ["part of g0", "number", "", "used"] in [list(use.values())[:4] for use in found["columns"]]
    page = find((counts.parent / "out" / "report.html").read_text(encoding="utf-8"), SECTION)
    assert found["profile"]["honest"]["sentence"] in page.sentences


@pytest.mark.parametrize(
    ("options", "dispersion"), [((), None), (("--dispersion", "2"), 2.0), (("--divide-by-depth",), None)]
)
def test_clusters_are_of_the_logarithms_of_the_first_part_and_markers_of_the_second(counts, options, dispersion):
    """An object without a count has none in either part, whatever its depth is divided by."""
    table = pd.read_csv(counts)
    table.iloc[5, 1:] = 0
    table.to_csv(counts, index=False)
    result = run(counts, "--selective-markers", "--thin-counts", "--seed", "3", *options)
    assert result.exit_code == 0, result.stderr
    assert ("both divided by the sums of their objects" in result.stderr) == ("--divide-by-depth" in options)
    values = table.iloc[:, 1:].to_numpy()
    parts = thin_counts(values, dispersion=dispersion, random_state=3)
    if "--divide-by-depth" in options:
        sums = [part.sum(axis=1) for part in parts]
        parts = [part * (depth.mean() / np.maximum(depth, 1))[:, None] for part, depth in zip(parts, sums, strict=True)]
    logs = pd.DataFrame(np.log1p(parts[0]), columns=[f"part of {name}" for name in table.columns[1:]])
    other = counts.parent / "first.csv"
    pd.concat([table["name"], logs], axis=1).to_csv(other, index=False)
    assert run(other, "--seed", "3", output="of_first").exit_code == 0
    found, expected = (pd.read_csv(counts.parent / name / "labels.csv") for name in ("out", "of_first"))
    pd.testing.assert_frame_equal(found, expected)
    markers = profile(found["cluster"], table.iloc[:, 1:], selective=True, thinned=parts[1]).selective.to_frame()
    columns = ["cluster", "variable", "difference", "p_value"]
    profiled = pd.read_csv(counts.parent / "out" / "profile.csv")
    order = ["cluster", "variable"]
    pd.testing.assert_frame_equal(
        profiled[columns].sort_values(order, ignore_index=True),
        markers[columns].sort_values(order, ignore_index=True),
        check_dtype=False,
        rtol=1e-4,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,type\na,x\nb,y\nc,x\n", "needs columns of counts. t.csv has none besides ids and classes"),
        ("name,type,g,h\na,x,0,0\nb,y,0,0\nc,x,0,0\n", "must have a column of numbers that vary"),
    ],
)
def test_a_table_without_counts_is_refused(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    roles = ["--id-column", "name", "--truth-column", "type"]
    result = run(tmp_path / "t.csv", *roles, "--selective-markers", "--thin-counts", "--divide-by-depth")
    assert result.exit_code == 2
    assert message in result.stderr


def test_another_dispersion_is_another_run(counts):
    options = ["--selective-markers", "--thin-counts", "--dispersion"]
    assert run(counts, *options, "0").exit_code == 0
    other = run(counts, *options, "2")
    assert other.exit_code == 2
    assert "dispersion" in other.stderr


def test_counts_of_a_table_with_row_names_have_none(counts):
    frame = pd.read_csv(counts, index_col="name")
    frame.to_csv(counts, index_label="")
    result = run(counts, "--selective-markers", "--thin-counts")
    assert result.exit_code == 0, result.stderr
    assert pd.read_csv(counts.parent / "out" / "labels.csv")["id"].tolist() == frame.index.tolist()
    assert {row["variable"] for row in rows_of(counts)} == set(frame.columns)


def test_roles_that_were_given_to_counts_are_not_those_of_their_parts(counts):
    result = run(counts, "--role", "g0=number", "--role", "name=id", "--selective-markers", "--thin-counts")
    assert result.exit_code == 0, result.stderr
    uses = {use["column"]: use for use in summary_of(counts)["columns"]}
    assert uses["part of g0"] | {"column": "part of g1"} == uses["part of g1"]
    assert uses["name"]["role"] == "id"
    assert {row["variable"] for row in rows_of(counts)} == {f"g{j}" for j in range(8)}


def test_known_classes_and_dropped_columns_are_not_split(counts):
    frame = pd.read_csv(counts)
    frame["type"], frame["weight"] = np.repeat(["a", "b"], 60), np.linspace(0, 1, 120)
    frame.to_csv(counts, index=False)
    options = ["--selective-markers", "--thin-counts", "--truth-column", "type", "--drop-column", "weight"]
    result = run(counts, *options)
    assert result.exit_code == 0, result.stderr
    assert {row["variable"] for row in rows_of(counts)} == {f"g{j}" for j in range(8)}
    assert summary_of(counts)["truth"]["ari"]["consensus"] > 0.4


def test_a_stopped_run_goes_on_and_new_objects_are_refused(counts):
    options = ["--selective-markers", "--thin-counts"]
    assert run(counts, *options).exit_code == 0
    made = (counts.parent / "out" / "profile.csv").read_bytes()
    (counts.parent / "out" / "profile.csv").unlink()
    assert run(counts, *options).exit_code == 0
    assert (counts.parent / "out" / "profile.csv").read_bytes() == made
    new = ["assign", str(counts.parent / "out"), str(counts), "-o", str(counts.parent / "new.csv")]
    result = CliRunner().invoke(main, new)
    assert result.exit_code == 2
    assert "clusters of one part of each count (--thin-counts)" in result.stderr


@pytest.mark.parametrize(
    ("cell", "got"),
    [("5.5", "5.5 in line 4"), ("-3", "-3 in line 4"), ("", "no value in line 4"), ("many", "text")],
)
def test_what_is_no_count_is_refused(counts, cell, got):
    lines = counts.read_text(encoding="utf-8").splitlines()
    cells = lines[3].split(",")
    cells[2] = cell
    counts.write_text("\n".join([*lines[:3], ",".join(cells), *lines[4:]]) + "\n", encoding="utf-8")
    result = run(counts, "--selective-markers", "--thin-counts")
    assert result.exit_code == 2
    assert (
        f"--thin-counts must have columns of counts, whole numbers ≥ 0. 'g1' of counts.csv has {got}" in result.stderr
    )
    assert "Add --drop-column" in result.stderr
    assert not (counts.parent / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--thin-counts"], "--thin-counts must go with --selective-markers"),
        (["--selective-markers", "--dispersion", "1"], "--dispersion must go with --thin-counts"),
        (["--selective-markers", "--divide-by-depth"], "--divide-by-depth must go with --thin-counts"),
        (["--selective-markers", "--thin-counts", "--without-columns"], "must go without --without-columns"),
        (["--selective-markers", "--thin-counts", "--dispersion", "-1"], "--dispersion must be a number of at least 0"),
        (
            ["--selective-markers", "--thin-counts", "--dispersion", "nan"],
            "--dispersion must be a number of at least 0",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(counts, options, message):
    result = run(counts, *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (counts.parent / "out").exists()


def test_categories_are_refused(counts):
    frame = pd.read_csv(counts).assign(kind=np.resize(["a", "b", "c"], 120))
    frame.to_csv(counts, index=False)
    result = run(counts, "--selective-markers", "--thin-counts")
    assert result.exit_code == 2
    assert "'kind' of counts.csv has text" in result.stderr


# ---- report --------------------------------------------------------------------------------------------------------


@pytest.fixture
def members(tmp_path):
    """Members, labels and features of 80 objects; x separates the clusters."""
    X = np.random.default_rng(0).normal(size=(80, 2))
    X[40:, 0] += 10
    labels = np.repeat([0, 1], 40)
    pd.DataFrame({"a": labels, "b": labels, "c": labels}).to_csv(tmp_path / "members.csv", index=False)
    pd.DataFrame({"cluster": labels}).to_csv(tmp_path / "labels.csv", index=False)
    pd.DataFrame(X, columns=["x", "y"]).to_csv(tmp_path / "features.csv", index=False)
    return tmp_path


def report(folder, *args):
    source = ["report", str(folder / "members.csv"), "--labels", str(folder / "labels.csv")]
    return CliRunner().invoke(main, [*source, "-o", str(folder / "page.html"), *args])


def test_the_page_of_an_ensemble_has_tests(members):
    result = report(members, "--features", str(members / "features.csv"), "--selective-markers")
    assert result.exit_code == 0, result.stderr
    section = find((members / "page.html").read_text(encoding="utf-8"), SECTION)
    assert any("2 of 4 comparisons of a variable show a difference" in sentence for sentence in section.sentences)
    assert "2 of 4 comparisons" in result.stderr
    (table,) = [table for table in section.tables if table.title == "Variables that differ, by tests that hold"]
    assert [row[2] for row in table.rows] == ["x", "x"]


def test_unasked_the_page_of_an_ensemble_has_no_tests(members):
    assert report(members, "--features", str(members / "features.csv")).exit_code == 0
    assert "tests that hold" not in (members / "page.html").read_text(encoding="utf-8")


def test_tests_need_features(members):
    result = report(members, "--selective-markers")
    assert result.exit_code == 2
    assert "--selective-markers must go with --features FILE" in result.stderr
    assert not (members / "page.html").exists()
