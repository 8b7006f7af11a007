"""A look at a table before anything is clustered; and few gaps, which are filled and told."""

import numpy as np
import pandas as pd
import pytest
from shell import fail, succeed

from ensemblage import ConsensusClustering, load, read_table
from ensemblage.io._features import features_of
from ensemblage.preprocessing import Preprocessor

N = 100
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "name": [f"person {i}" for i in range(N)],
        "income": np.exp(3 * RNG.normal(size=N)).round(2),
        "height": RNG.normal(170, 9, N).round(1),
        "grade": RNG.choice(["low", "medium", "high"], N),
        "label": RNG.choice(["a", "b"], N),
    }
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    FRAME.to_csv(path, index=False)
    return path


def lines_of(result):
    return [line.split(None, 1) for line in result.stdout.splitlines() if line.strip()]


def test_each_column_and_the_command_that_follows(table):
    shown = succeed("look", table).stdout
    for column, role in (("name", "id"), ("income", "number"), ("grade", "ordered"), ("label", "category")):
        assert any(line.split()[:2] == [column, role] for line in shown.splitlines()), column
    assert "'income' has 98% of the variance of all numbers in their own units" in shown
    assert "would draw in the long tail of income" in shown
    assert shown.rstrip().endswith(f"ensemblage run {table} --truth-column label -o out")
    assert sorted(path.name for path in table.parent.iterdir()) == ["people.csv"]
    given = succeed("look", table, "--truth-column", "label", "--drop-column", "height").stdout
    assert given.rstrip().endswith(f"ensemblage run {table} --truth-column label --drop-column height -o out")
    assert "dominates" not in given


def test_codes_gaps_and_genes(tmp_path):
    coded = FRAME.assign(height=np.where(np.arange(N) % 9 == 0, 999, FRAME["height"]))
    coded.to_csv(tmp_path / "coded.csv", index=False)
    shown = succeed("look", tmp_path / "coded.csv").stdout
    assert "may mean missing: 999 in 'height' (12 cells), far from all other values of its column. " in shown
    assert "--truth-column label --missing 999 --impute knn -o out" in shown
    gaps = FRAME.assign(height=FRAME["height"].mask(np.arange(N) % 9 == 0))
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    shown = succeed("look", tmp_path / "gaps.csv").stdout
    assert "refused     The features of gaps.csv must have no missing values. Got 12" in shown
    assert shown.rstrip().endswith("--truth-column label --impute knn -o out")
    genes = pd.DataFrame(RNG.normal(size=(50, 4)), columns=list("abcd"))
    genes.insert(0, "gene_id", [f"g{i}" for i in range(50)])
    genes.to_csv(tmp_path / "genes.csv", index=False)
    shown = succeed("look", tmp_path / "genes.csv").stdout
    assert (
        "alert       rows that look like genes: column 'gene_id', its rows are clustered. If the objects are " in shown
    )
    assert shown.rstrip().endswith("--transpose -o out")
    for given in (["--transpose"], ["--role", "gene_id=id"]):
        assert "look like genes" not in succeed("look", tmp_path / "genes.csv", *given).stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--drop-column", "heights"], "--drop-column must name a column of people.csv. Got 'heights'. Did you mean"),
        (["--truth-column", "labels"], "--truth-column must name a column of people.csv. Got 'labels'."),
        (["--role", "incom=number"], "--role must name a column of people.csv. Got 'incom'."),
        (["--id-column", "name", "--drop-column", "name"], "A column must have one role."),
    ],
)
def test_names_that_are_none_are_refused(table, options, said):
    assert said in fail("look", table, *options)


def test_what_is_no_table(tmp_path):
    assert "does not exist" in fail("look", tmp_path / "nowhere.csv")
    (tmp_path / "empty.csv").write_text("")
    assert fail("look", tmp_path / "empty.csv")


@pytest.mark.parametrize(
    ("text", "role"), [("a\n1\n2\n3\n4\n", "number"), ("a,b\nx y,p q\nz u,r s\nv w,t u\n", "category")]
)
def test_where_nothing_can_be_clustered_no_command_follows(tmp_path, text, role):
    (tmp_path / "t.csv").write_text(text)
    shown = succeed("look", tmp_path / "t.csv").stdout
    assert f"Give a column a role: --role NAME={role}." in shown
    assert "ensemblage run" not in shown


def gaps(n_missing, n=N):
    x = RNG.normal(size=n)
    frame = pd.DataFrame({"x": x, "y": RNG.normal(size=n), "kind": pd.Categorical(["a", "b"] * (n // 2))})
    frame.loc[: n_missing - 1, "x"] = np.nan
    return frame


def test_few_gaps_are_filled_and_told():
    frame = gaps(5)
    preprocessor = Preprocessor(standardize=False)
    X = preprocessor.fit_transform(frame)
    assert (X[:5, 0] == frame["x"].median()).all()
    assert any(
        note.startswith("filled: 5 missing values in 1 column and 5 rows, at most 5% of a")
        for note in preprocessor.notes_
    )
    assert preprocessor.columns_[0].use == f"used; 5 missing (5.0%) filled with {frame['x'].median():.4g}"
    assert preprocessor.columns_[1].use == "used"
    new = pd.DataFrame({"x": [np.nan], "y": [1.0], "kind": ["a"]})
    assert preprocessor.transform(new)[0, 0] == frame["x"].median()
    np.testing.assert_array_equal(
        Preprocessor(impute="median").fit_transform(frame), Preprocessor().fit_transform(frame)
    )
    with pytest.raises(ValueError, match=r"must have no missing values\. Got 6, the first in row 1, column 'x'"):
        Preprocessor().fit(gaps(6))
    with pytest.raises(ValueError, match="missing"):  # of an array nothing is known
        Preprocessor().fit(frame[["x", "y"]].to_numpy())
    complete = Preprocessor().fit(gaps(0))
    with pytest.raises(ValueError, match="must have no missing values"):
        complete.transform(new)


def test_a_column_that_is_mostly_gaps_is_told_with_the_way_to_leave_it_out(tmp_path):
    """From more than half of the cells on, whatever is done about them; the page says it, too."""
    with pytest.warns(UserWarning, match="gaps filled with constants: 50% of 'x'"):
        assert not any("mostly gaps" in note for note in Preprocessor(impute="median").fit(gaps(50)).notes_)
    with pytest.warns(UserWarning, match="gaps filled with constants: 51% of 'x'"):
        preprocessor = Preprocessor(impute="median").fit(gaps(51))
    assert 'mostly gaps: x (51% missing); to leave it out: Preprocessor(roles={"x": "drop"})' in preprocessor.notes_
    assert preprocessor.columns_[0].use.endswith("; mostly gaps")
    with pytest.raises(
        ValueError,
        match=r"leave those rows out with X\.dropna\(\)\. Some columns are mostly gaps: x \(51% missing\); to leave",
    ):
        ConsensusClustering(2).fit(gaps(51))
    both = gaps(60)
    both["kind"] = both["kind"].mask(np.arange(N) < 70)
    with pytest.warns(UserWarning, match="gaps filled with constants: 60% of 'x'"):
        notes = Preprocessor(impute="median").fit(both).notes_
    told = 'mostly gaps: x (60% missing), kind (70% missing); to leave them out: Preprocessor(roles={"x": "drop", '
    assert any(note.startswith(told) for note in notes)
    path = tmp_path / "gaps.csv"
    gaps(81).to_csv(path, index=False)
    told = "mostly gaps: x (81% missing); to leave it out: --role x=drop"
    for rule in ("median", "drop"):
        assert told in succeed("look", path, "--impute", rule).stdout
    shown = succeed("look", path).stdout
    assert f"then        {told}" in shown
    assert f"--impute drop. Some columns are {told}." in shown
    options = ("--impute", "median", "-k", "2", "--stability", "0", "--quality", "fast", "-o", tmp_path / "out")
    assert told in succeed("run", path, *options).stderr
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "More than half of the cells are missing in x: see “What next”." in text
    assert "Leave out “x”, or find its values: more than half of its cells are missing." in text
    assert "--drop-column x -o out-filled" in text
    assert "Leave out" not in report_of_complete(tmp_path)


def report_of_complete(folder):
    gaps(0).to_csv(folder / "complete.csv", index=False)
    options = ("-k", "2", "--stability", "0", "--quality", "fast", "-o", folder / "complete")
    succeed("run", folder / "complete.csv", *options)
    return (folder / "complete" / "report.html").read_text(encoding="utf-8")


def test_without_complete_rows_the_column_is_told(tmp_path):
    path = tmp_path / "gaps.csv"
    gaps(99).to_csv(path, index=False)
    refused = fail("run", path, "--impute", "drop", "--role", "x=number", "-o", tmp_path / "out")
    assert "must have at least 2 complete rows" in refused
    assert "Some columns are mostly gaps: x (99% missing); to leave it out: --role x=drop." in refused


def test_few_gaps_of_an_ordered_column_become_the_most_frequent():
    grades = np.array(["low", "mid", "mid", "high"] * 25, dtype=object)
    grades[:3] = None
    frame = pd.DataFrame(
        {"grade": pd.Categorical(grades, ["low", "mid", "high"], ordered=True), "y": RNG.normal(size=N)}
    )
    found = features_of(read_table(frame), standardize=False)
    assert next(use.use for use in found.columns if use.column == "grade").endswith("3 missing (3.0%) filled with mid")


def test_a_model_of_a_table_with_few_gaps_is_saved(tmp_path):
    frame = gaps(3)
    model = ConsensusClustering(2, selection="consensus", quality="fast", random_state=0).fit(frame)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
