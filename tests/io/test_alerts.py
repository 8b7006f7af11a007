"""Alerts: what of a table probably makes a wrong answer is told before anything is clustered, everywhere alike."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from shell import fail, succeed
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from ensemblage import ConsensusClustering, read_table
from ensemblage.consensus import KMeansConsensus
from ensemblage.io._features import features_of, members_of
from ensemblage.preprocessing import FeatureBlocks, Preprocessor


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
    assert refused == f"error: sums.csv must have no alerts with --strict. Got {ROW_OF_SUMS}"
    assert not out.exists()
    done = succeed("run", sums, *quick)
    assert done.stdout.splitlines()[0] == f"alert       {ROW_OF_SUMS}"
    assert f"sums.csv: alert: {ROW_OF_SUMS}" in done.stderr
    (alert,) = json.loads((out / "summary.json").read_text())["alerts"]
    parts = {"what": "a row of sums", "where": "line 62", "cure": "Delete that row.", "text": ROW_OF_SUMS}
    assert parts.items() <= alert.items()
    page = (out / "report.html").read_text()
    assert page.index(ROW_OF_SUMS[1:]) < page.index('id="answer"')
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


def test_at_most_five_are_shown_then_their_number(sums, tmp_path):
    """Of a folder that is finished, whose summary has seven."""
    command = ("run", sums, "-k", 3, "--quality", "fast", "--stability", 0, "-o", tmp_path / "out")
    succeed(*command)
    path = tmp_path / "out" / "summary.json"
    summary = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**summary, "alerts": summary["alerts"] * 7}), encoding="utf-8")
    shown = succeed(*command).stdout.splitlines()
    assert sum(line.startswith("alert ") for line in shown) == 6
    assert shown[5] == "alert       ... and 2 more"


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


# -- a corpus of tables: what is alarming, what is not, and what is refused -------------------------------------------


def csv_of(frame):
    return frame.to_csv(index=False)


def with_blank(rows, n):
    lines = csv_of(frame_of()).splitlines()
    return "\n".join([*lines[:rows], *[",,"] * n, *lines[rows:]]) + "\n"


def repeated(ids):
    """A table of 120 rows of 40 persons or so in three groups."""
    X, _ = groups(120)
    return csv_of(pd.DataFrame({"customer_id": ids, "sales": X[:, 0], "cost": X[:, 1]}))


def genes(named="gene", ids=None, annotated=False):
    """Expression of 30 genes in 12 samples of two groups, in rows."""
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(30, 12)) + 5 * np.outer(np.arange(30) % 2, np.arange(12) % 2)).round(3)
    frame = pd.DataFrame(X, columns=[f"s{j}" for j in range(12)])
    if annotated:
        frame.insert(0, "start", np.arange(30) * 1000)
        frame.insert(0, "chromosome", [f"chr{i % 5}" for i in range(30)])
    frame.insert(0, named, ids or [f"G{i}" for i in range(30)])
    return csv_of(frame)


def counts(depth):
    """Counts of 25 species at 60 places, ``depth`` of them in all."""
    rng = np.random.default_rng(2)
    return csv_of(
        pd.DataFrame(rng.poisson(np.outer(depth, rng.dirichlet(np.full(25, 0.3)))), columns=[*map(str, range(25))])
    )


def with_gaps(share):
    rng = np.random.default_rng(3)
    frame = frame_of()
    for name in ("sales", "cost"):
        frame[name] = frame[name].mask(rng.permutation(60) < share * 60)
    return csv_of(frame)


COPIED = frame_of().drop(columns="shop").iloc[np.repeat(np.arange(12), 5)]
KINDS = pd.DataFrame({"a": list("xy" * 30), "b": list("uvw" * 20), "c": list("pqrs" * 15)})
TABLES = {
    "as it should be": (csv_of(frame_of()), {}, []),
    "sums": (csv_of(with_sums(frame_of())), {}, ["a row of sums"]),
    "sums with another name": (csv_of(with_sums(frame_of())).replace("Total", "s60"), {}, ["a row of sums"]),
    "sums without a name": (
        csv_of(with_sums(frame_of())).replace("Total", ""),
        {"drop_columns": ["shop"]},
        ["a row of sums"],
    ),
    "means": (csv_of(frame_of()) + "Mean,6.1,6.0\n", {}, ["a row of means"]),
    "sums of groups": (csv_of(frame_of()) + "Subtotal A,6.1,6.0\nSubtotal B,5.1,6.0\n", {}, ["rows of sums"]),
    "sums first": (csv_of(frame_of()).replace("s0,", "Total,"), {}, ["a row of sums"]),
    "numbers of customers that repeat": (
        csv_of(frame_of().assign(KdNr=np.r_[1001:1011, 5001:5011].repeat(3))),
        {},
        ["repeated ids"],
    ),
    "numbers of one length": (
        csv_of(frame_of().assign(pid=np.random.default_rng(0).choice(90_000, 60, replace=False) + 110_000)),
        {},
        ["perhaps ids"],
    ),
    "sums in German": (
        with_sums(frame_of())
        .assign(shop=lambda f: f["shop"].replace("Total", "Summe"))
        .to_csv(index=False, sep=";", decimal=","),
        {},
        ["a row of sums"],
    ),
    "a large last row": (csv_of(frame_of()) + "s60,40,40\n", {}, []),
    "0 and 1": (
        csv_of(pd.DataFrame({f"x{j}": (np.arange(40) == j) * 1 + (np.arange(40) == 39) for j in range(3)})),
        {},
        [],
    ),
    "blank rows at the end": (with_blank(61, 15), {}, []),
    "blank rows between": (with_blank(20, 3), {}, []),
    "rows with an id alone": (csv_of(frame_of()) + "a,,\nb,,\n", {}, ["rows without values"]),
    "a row with an id alone": (csv_of(frame_of()) + "a,,\n", {}, ["rows without values"]),
    "rows with an id alone, left out": (csv_of(frame_of()) + "a,,\nb,,\n", {"impute": "drop"}, []),
    "repeated numbers of customers": (repeated(np.arange(120) // 3 + 1001), {}, ["repeated ids"]),
    "repeated ids of text": (repeated([f"C{i % 24:03}" for i in range(120)]), {}, ["repeated ids"]),
    "repeated ids of patients": (
        repeated([f"P{i % 30}" for i in range(120)]).replace("customer_id", "patient"),
        {},
        ["repeated ids"],
    ),
    "repeated ids that do not matter": (repeated(np.arange(120) // 3), {"roles": {"customer_id": "drop"}}, []),
    "few groups": (repeated([f"C{i % 4}" for i in range(120)]).replace("customer_id", "region_id"), {}, []),
    "copies": (csv_of(COPIED.assign(sales=COPIED["sales"] + np.repeat(np.arange(12), 5))), {}, []),
    "copies of measurements": (csv_of(pd.concat([frame_of(150).drop(columns="shop")] * 5)), {}, ["copies"]),
    "few categories": (csv_of(KINDS), {}, []),
    "genes in rows": (genes(), {}, ["rows that look like genes"]),
    "genes in rows by their ids": (genes("id", [f"ENSG{i:011}" for i in range(30)]), {}, ["rows that look like genes"]),
    "probes in rows": (genes("name", [f"{i}_at" for i in range(30)]), {}, ["rows that look like genes"]),
    "genes are the objects": (genes(), {"roles": {"gene": "id"}}, []),
    "genes in columns": (genes(), {"transpose": True}, []),
    "genes in columns, without what is said of them": (
        genes(annotated=True),
        {"transpose": True, "roles": {"start": "drop"}},
        [],
    ),
    "counts": (counts(np.geomspace(50, 5000, 60)), {}, ["raw counts"]),
    "counts of equal sums": (counts(np.full(60, 500)), {}, []),
    "codes": (
        csv_of(frame_of().assign(cost=lambda f: f["cost"].where(f.index % 9 > 0, -999))),
        {},
        ["may mean missing"],
    ),
    "codes that were named": (
        csv_of(frame_of().assign(cost=lambda f: f["cost"].where(f.index % 9 > 0, -999))),
        {"missing": [-999], "impute": "knn"},
        [],
    ),
    "many gaps filled with medians": (
        with_gaps(0.4),
        {"impute": "median"},
        ["rows without values", "gaps filled with constants"],
    ),
    "few gaps": (csv_of(frame_of().assign(cost=lambda f: f["cost"].where(f.index != 7))), {}, []),
    "answers from 0 to 4": (
        csv_of(
            pd.DataFrame(
                np.minimum(np.random.default_rng(8).poisson(np.outer(np.linspace(0.1, 4, 60), np.ones(30))), 4)
            ).add_prefix("q")
        ),
        {},
        [],
    ),
}


def features_for(text, options):
    reading = {name: value for name, value in options.items() if name in ("transpose", "roles", "missing", "skip_rows")}
    given = {name: value for name, value in options.items() if name not in reading}
    return features_of(read_table(text.encode(), name="t.csv", **reading), **given)


@pytest.mark.parametrize("name", TABLES)
def test_alerts_of_a_corpus_of_tables(name):
    text, options, expected = TABLES[name]
    features = features_for(text, options)
    assert [alert.what for alert in features.alerts] == expected
    for alert in features.alerts:
        assert alert.text.count(". ") >= 1
        assert alert.text.endswith((".", ")."))


ROLES = {
    "blank rows at the end": {"shop": "id of the rows", "sales": "used", "cost": "used"},
    "repeated numbers of customers": {"customer_id": "left out: repeated ids", "sales": "used", "cost": "used"},
    "repeated ids of text": {"customer_id": "left out: repeated ids", "sales": "used", "cost": "used"},
    "few groups": {"region_id": "used: indicators of 4 categories", "sales": "used", "cost": "used"},
}


@pytest.mark.parametrize("name", ROLES)
def test_what_is_done_with_columns_of_the_corpus(name):
    text, options, _ = TABLES[name]
    assert {use.column: use.use for use in features_for(text, options).columns} == ROLES[name]


CLUSTERS = {
    "blank rows at the end": np.arange(60) % 3,
    "blank rows between": np.arange(60) % 3,
    "rows with an id alone, left out": np.arange(60) % 3,
    "repeated numbers of customers": np.arange(120) % 3,
    "genes in columns": np.arange(12) % 2,
    "genes in columns, without what is said of them": np.arange(12) % 2,
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_clusters_of_the_corpus(name):
    text, options, _ = TABLES[name]
    features, classes = features_for(text, {**options, "standardize": True}), CLUSTERS[name]
    labels = KMeans(classes.max() + 1, n_init=5, random_state=0).fit_predict(features.X)
    assert adjusted_rand_score(classes, labels) == 1


REFUSED = {
    "a word among numbers": (
        csv_of(frame_of()) + "s60,rotary,4\n",
        {},
        r'or make it categories: .*roles=\{"sales": "category"\}',
    ),
    "many gaps": (with_gaps(0.4), {}, r'Fill them with impute="knn", or leave'),
    "some gaps": (with_gaps(0.08), {}, r'Fill them with impute="median", or leave'),
    "a gene twice": (
        genes(ids=["A", "B", *"CDEFGHIJKLMNOPQRSTUVWXYZ", "A1", "A", "A2", "A3"]),
        {"transpose": True},
        r"rows of t.csv must have different names.*Got 'A' in lines 2 and 29\. Rename",
    ),
    "too many lines skipped": (csv_of(frame_of(3)), {"skip_rows": 9}, "nothing but blank lines|at least one row"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_to_do(name):
    text, options, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        features_for(text, options)


def test_what_follows_a_look_is_not_refused(tmp_path):
    frame = frame_of().assign(cost=lambda f: f["cost"].where(f.index % 5 > 0, -999))
    frame.to_csv(tmp_path / "t.csv", index=False)
    for options in ([], ["--missing", "-999"]):
        shown = succeed("look", tmp_path / "t.csv", *options).stdout.splitlines()[-1]
        assert shown.endswith("--missing -999 --impute knn -o out")


def test_dropped_columns_are_no_objects_in_the_shell(tmp_path):
    (tmp_path / "g.csv").write_text(genes(annotated=True))
    given = tmp_path / "g.csv", "--transpose", "--drop-column", "start"
    done = succeed("run", *given, "-k", 2, "--quality", "fast", "--stability", 0, "-o", tmp_path / "out")
    assert "left out, no objects: chromosome, start" in done.stderr
    labels = pd.read_csv(tmp_path / "out" / "labels.csv")
    assert labels["id"].tolist() == [f"s{j}" for j in range(12)]
    assert adjusted_rand_score(np.arange(12) % 2, labels["cluster"]) == 1
    succeed("assign", tmp_path / "out", tmp_path / "g.csv", "-o", tmp_path / "new.csv")
    assert pd.read_csv(tmp_path / "new.csv")["id"].tolist() == labels["id"].tolist()


# -- labels ------------------------------------------------------------------------------------------------------------


def clusterings(n=60, p=8, seed=0):
    """(n, p) partitions of three groups, each with names of its own and a few errors."""
    rng = np.random.default_rng(seed)
    columns = []
    for _ in range(p):
        labels = np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), np.arange(n) % 3)
        columns.append(rng.permutation(3)[labels])
    return np.column_stack(columns)


def numbered(labels):
    """Partitions numbered from their first object on, as draws are."""
    return np.column_stack([pd.factorize(column)[0] + 1 for column in labels.T])


FEATURES = np.clip(
    np.round(
        8
        + 4 * np.random.default_rng(4).normal(size=(200, 1))
        + np.arange(200)[:, None] % 2
        + 3 * np.random.default_rng(5).normal(size=(200, 9))
    ),
    0,
    16,
).astype(int)
LABELS = {
    "as they should be": (clusterings(), None),
    "three vectors": (list(clusterings(p=3).T), "partitions in rows"),
    "eight vectors": (clusterings().T, "partitions in rows"),
    "thirty vectors": (clusterings(p=30).T, "partitions in rows"),
    "vectors of text": (np.array(list("abc"))[clusterings(p=12).T], "partitions in rows"),
    "draws in rows": (numbered(clusterings(p=300)).T, "partitions in rows"),
    "draws": (numbered(clusterings(p=300)), None),
    "more partitions than objects": (clusterings(30, 90), None),
    "of many clusters": (
        np.column_stack([np.random.default_rng(j).permutation(12)[np.arange(200) % 12] for j in range(9)]),
        None,
    ),
    "features": (FEATURES, "features as labels"),
    "noise": (np.random.default_rng(6).integers(0, 10, (200, 9)), None),
}


@pytest.mark.parametrize("name", LABELS)
def test_alerts_of_label_matrices(name, tmp_path):
    labels, expected = LABELS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        KMeansConsensus(3, random_state=0).fit(labels)
    assert [str(warning.message).partition(":")[0] for warning in caught] == [expected] * bool(expected)
    frame = pd.DataFrame(np.asarray(labels)).add_prefix("c")
    frame.to_csv(tmp_path / "l.csv", index=False)
    if name == "three vectors":  # which differ in every row
        with pytest.raises(ValueError, match=r"If the rows are the partitions, turn the table\.$"):
            members_of(read_table(tmp_path / "l.csv"))
        return
    alerts = members_of(read_table(tmp_path / "l.csv")).alerts
    assert [alert.what for alert in alerts] == [expected] * bool(expected)


def test_labels_that_look_wrong_end_a_strict_combination(tmp_path):
    pd.DataFrame(clusterings().T).add_prefix("c").to_csv(tmp_path / "l.csv", index=False)
    said = fail("combine", tmp_path / "l.csv", "-k", 3, "-o", tmp_path / "out", "--strict")
    assert "Got partitions in rows: 8 rows and 60 columns, which are fewer objects than" in said


def test_counts_of_cells_are_told_with_what_normalises_them():
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(7)
    X = rng.poisson(np.outer(np.geomspace(20, 2000, 80), rng.dirichlet(np.full(40, 0.3)))).astype(np.float32)
    with pytest.warns(UserWarning, match=r"raw counts: .*sc\.pp\.normalize_total\(adata\); sc\.pp\.log1p\(adata\)\."):
        ConsensusClustering(3, quality="fast", random_state=0).fit(anndata.AnnData(X))


def test_alerts_of_tables_on_disk(tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    with_sums(frame_of()).to_parquet(parts / "a.parquet", index=False)
    features = FeatureBlocks.open(parts)
    with pytest.warns(UserWarning, match="a row of sums: row 61"):
        Preprocessor()._fit_blocks(features)
    succeed("run", parts, "-k", 3, "-o", tmp_path / "shown")
    (alert,) = json.loads((tmp_path / "shown" / "summary.json").read_text())["alerts"]
    assert alert["what"] == "a row of sums"
    assert "Got a row of sums: row 61" in fail("run", parts, "-k", 3, "--strict", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_copies_are_told_with_the_method_that_they_decide(tmp_path):
    pd.concat([frame_of(30).drop(columns="shop")] * 5).to_csv(tmp_path / "t.csv", index=False)
    done = succeed("run", tmp_path / "t.csv", "-k", 3, "--stability", 0, "-o", tmp_path / "out")
    assert "50 base partitions by random-k (more than half of the objects are copies of others)" in done.stderr
    assert done.stdout.startswith("alert       copies: 120 of 150 rows, each equal to another one")


def test_codes_are_told_beside_a_row_of_sums():
    frame = frame_of().assign(cost=lambda f: f["cost"].where(f.index % 9 > 0, -999))
    told = [alert.what for alert in features_of(read_table(csv_of(with_sums(frame)).encode(), name="t.csv")).alerts]
    assert told == ["a row of sums", "may mean missing"]


def test_ids_that_repeat_are_told_as_partitions():
    frame = pd.DataFrame({"id": np.arange(60) // 2 + 100, "a": np.arange(60) % 3, "b": np.arange(60) % 3})
    (told,) = members_of(read_table(csv_of(frame).encode(), name="t.csv")).alerts
    assert str(told.text).startswith("repeated ids: column 'id', it is a partition with 30 clusters")
    assert not members_of(read_table(csv_of(frame.assign(id=range(60))).encode(), name="t.csv")).alerts
