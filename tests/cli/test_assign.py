"""`ensemblage assign`: next month's rows in the clusters that a run found."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from shell import fail, succeed
from sklearn.datasets import load_iris, load_wine

import ensemblage
from ensemblage import ConsensusClustering
from ensemblage.generation import RandomKPartitions

IRIS = load_iris()


def mixed(n=90):
    rng = np.random.default_rng(0)
    group = np.arange(n) % 3
    return pd.DataFrame(
        {
            "who": [f"p{i}" for i in range(n)],
            "age": np.round(group * 20 + 20 + rng.normal(size=n) * 3, 2),
            "visits": np.round(group * 2 + rng.normal(size=n), 2),
            "pays by": np.array(["card", "cash", "bill"])[group],
            "class": group,
        }
    )


TABLES = {
    "iris": pd.DataFrame(IRIS.data, columns=["a", "b", "c", "d"]),
    "wine": pd.DataFrame(load_wine().data).add_prefix("x"),
    "mixed": mixed(),
}


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def of(rows, name):
    return [row[name] for row in rows]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return tmp_path_factory.mktemp("assign")


@pytest.fixture(scope="module", params=TABLES)
def done(request, here):
    """A table and the folder of its run."""
    data, out = here / f"{request.param}.csv", here / request.param
    TABLES[request.param].to_csv(data, index=False)
    succeed("run", data, "-k", 3, "--stability", 0, "-o", out)
    return data, out


@pytest.fixture(scope="module")
def people(here):
    data, out = here / "people.csv", here / "people"
    mixed().to_csv(data, index=False)
    succeed("run", data, "-k", 3, "--stability", 0, "--drop-column", "class", "-o", out)
    return out


def test_the_table_of_the_run_gets_the_labels_of_the_run(done, tmp_path):
    data, out = done
    result = succeed("assign", out, data, "-o", tmp_path / "again.csv")
    again, before = read(tmp_path / "again.csv"), read(out / "labels.csv")
    assert list(again[0]) == list(before[0])
    for name in ("id", "cluster"):
        assert of(again, name) == of(before, name)
    assert "decided" in result.stdout
    sizes = np.bincount(list(map(int, of(before, "cluster")))).tolist()
    assert f"assigned    {', '.join(map(str, sizes))} to the 3 clusters" in result.stdout


@pytest.mark.core(3)
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize(
    "options",
    [
        ["--generator", "random-k", "--partitions", 5],
        ["--generator", "subspace", "--partitions", 5, "--method", "acv"],
        pytest.param(["--generator", "projection", "--partitions", 5], marks=pytest.mark.slow),
        ["--generator", "genie", "--partitions", 5],
        pytest.param(["--generator", "mixed"], marks=pytest.mark.slow),
        ["--generator", "greedy"],
        ["--categories", "member"],
        pytest.param(["--quality", "best"], marks=pytest.mark.slow),
        ["--categories", "drop", "--no-standardize"],
    ],
    ids=lambda options: " ".join(map(str, options)),
)
def test_every_generator(options, tmp_path):
    table = mixed()
    table.to_csv(tmp_path / "t.csv", index=False)
    succeed("run", tmp_path / "t.csv", "-k", 3, "--stability", 0, "-o", tmp_path / "out", *options)
    succeed("assign", tmp_path / "out", tmp_path / "t.csv", "-o", tmp_path / "again.csv")
    assert of(read(tmp_path / "again.csv"), "cluster") == of(read(tmp_path / "out" / "labels.csv"), "cluster")


def test_columns_in_another_order_and_more_of_them(people, tmp_path):
    new = mixed().iloc[5:40:5]
    new[["pays by", "visits", "who", "age"]].assign(colour="red", city="Bonn").to_csv(tmp_path / "new.csv", index=False)
    result = succeed("assign", people, tmp_path / "new.csv", "-o", tmp_path / "a.csv")
    assert "new.csv: not used, for the run did not have them: 'colour', 'city'" in result.stderr
    labels = {row["id"]: row["cluster"] for row in read(people / "labels.csv")}
    assert {row["id"]: row["cluster"] for row in read(tmp_path / "a.csv")} == {who: labels[who] for who in new["who"]}


def test_one_row_alone(people, tmp_path):
    mixed().iloc[[7]].to_csv(tmp_path / "new.csv", index=False)
    succeed("assign", people, tmp_path / "new.csv", "-o", tmp_path / "a.csv")
    assert of(read(tmp_path / "a.csv"), "cluster") == of(read(people / "labels.csv"), "cluster")[7:8]


def test_missing_columns_are_refused(people, tmp_path):
    mixed().drop(columns=["age", "visits"]).to_csv(tmp_path / "new.csv", index=False)
    error = fail("assign", people, tmp_path / "new.csv", "-o", tmp_path / "a.csv")
    assert "X must have the columns that were fitted. It has no 'age', 'visits'. Add them." in error
    assert not (tmp_path / "a.csv").exists()


def test_unseen_categories_and_missing_values_are_told(people, tmp_path):
    new = mixed().iloc[:6]
    new["pays by"] = ["card", "cheque", "cash", "bill", "gold", "card"]
    new.loc[2, "age"] = np.nan
    new.to_csv(tmp_path / "new.csv", index=False)
    result = succeed("assign", people, tmp_path / "new.csv", "-o", tmp_path / "a.csv")
    assert "column 'pays by' has categories that the run did not have: 'cheque', 'gold'" in result.stderr
    assert "1 row with missing values in" in result.stderr
    assert "in none" in result.stdout
    assert of(read(tmp_path / "a.csv"), "cluster")[2] == "-1"
    assert list(read(tmp_path / "a.csv")[2].values()) == ["p2", "-1", "", "", "", ""]


def test_a_run_that_fills_fills_again(tmp_path):
    table = mixed()
    table.loc[[3, 8], "age"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    for rule, alike in (("median", 90), ("drop", 88)):
        out, again = tmp_path / rule, tmp_path / f"{rule}.csv"
        succeed("run", tmp_path / "t.csv", "-k", 3, "--stability", 0, "--impute", rule, "-o", out)
        succeed("assign", out, tmp_path / "t.csv", "-o", again)
        labels = {row["id"]: row["cluster"] for row in read(out / "labels.csv")}
        assert sum(labels.get(row["id"]) == row["cluster"] for row in read(again)) == alike


def test_reading_as_the_run_did(tmp_path):
    text = mixed()[["who", "age", "visits"]].to_csv(index=False, header=False, sep=";", decimal=",")
    (tmp_path / "t.csv").write_text(text.replace("p1;", "pä;"), encoding="latin-1")
    reading = ["--no-header", "--delimiter", ";", "--decimal", ",", "--encoding", "latin-1"]
    succeed("run", tmp_path / "t.csv", "-k", 3, "--stability", 0, "-o", tmp_path / "out", *reading)
    succeed("assign", tmp_path / "out", tmp_path / "t.csv", "-o", tmp_path / "a.csv")
    rows = read(tmp_path / "a.csv")
    assert of(rows, "cluster") == of(read(tmp_path / "out" / "labels.csv"), "cluster")
    assert rows[1]["id"] == "pä"


def test_the_model_of_a_run_is_a_python_object(done):
    data, out = done
    model = ensemblage.load(out / "model.npz")
    assert isinstance(model, ConsensusClustering)
    clusters = list(map(int, of(read(out / "labels.csv"), "cluster")))
    assert model.labels_.tolist() == clusters
    assert model.predict(pd.read_csv(data)).tolist() == clusters
    assert model.n_clusters == 3


def test_a_folder_of_combine(tmp_path):
    labels = pd.DataFrame(RandomKPartitions(6, random_state=0).fit_transform(IRIS.data)).add_prefix("p")
    ids = [f"i{i}" for i in range(150)]
    labels.assign(id=ids).to_csv(tmp_path / "labels.csv", index=False)
    TABLES["iris"].to_csv(tmp_path / "iris.csv", index=False)
    out = tmp_path / "out"
    succeed("combine", tmp_path / "labels.csv", "--id-column", "id", "-k", 3, "-o", out)
    error = fail("assign", out, tmp_path / "iris.csv", "-o", tmp_path / "a.csv")
    assert "must have a column of labels for each partition that" in error
    assert "give the folder of a run" in error
    assert type(ensemblage.load(out / "model.npz")).__name__ == "KMeansConsensus"
    labels.assign(id=ids)[::-1].to_csv(tmp_path / "new.csv", index=False)
    succeed("assign", out, tmp_path / "new.csv", "-o", tmp_path / "a.csv")
    before = read(out / "labels.csv")[::-1]
    assert of(read(tmp_path / "a.csv"), "cluster") == of(before, "cluster")
    assert of(read(tmp_path / "a.csv"), "id") == of(before, "id")


def test_refused(people, here, tmp_path):
    new = here / "people.csv"
    assert "must be the folder of a finished run" in fail("assign", tmp_path, new, "-o", tmp_path / "a.csv")
    assert "It is none" in fail("assign", tmp_path / "nowhere", new, "-o", tmp_path / "a.csv")
    assert "must end in .csv" in fail("assign", people, new, "-o", tmp_path / "a.npz")
    (tmp_path / "there.csv").write_text("mine", encoding="utf-8")
    assert "Existing files must not be overwritten" in fail("assign", people, new, "-o", tmp_path / "there.csv")
    assert (tmp_path / "there.csv").read_text(encoding="utf-8") == "mine"


def test_a_changed_model_is_refused(here, tmp_path):
    TABLES["iris"].to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "out"
    succeed("run", tmp_path / "t.csv", "-k", 3, "--stability", 0, "-o", out)
    model = out / "model.npz"
    model.write_bytes(model.read_bytes()[:-100])
    error = fail("assign", out, tmp_path / "t.csv", "-o", tmp_path / "a.csv")
    assert "must have the model.npz that the run wrote. It has another one" in error
    model.unlink()
    assert "It has none" in fail("assign", out, tmp_path / "t.csv", "-o", tmp_path / "a.csv")


def test_clusterings_of_distances_cannot(tmp_path):
    mixed().to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "out"
    succeed("run", tmp_path / "t.csv", "-k", 3, "--generator", "gower", "--partitions", 4, "-o", out)
    error = fail("assign", out, tmp_path / "t.csv", "-o", tmp_path / "a.csv")
    assert "Partitions of distances (gower) and those of an older version cannot." in error


def test_another_k_keeps_the_generator(tmp_path):
    """With --overwrite and another k the ensemble is used again, and the model with it."""
    TABLES["iris"].to_csv(tmp_path / "t.csv", index=False)
    command = ("run", tmp_path / "t.csv", "--generator", "random-k", "--partitions", 6, "-o", tmp_path / "out")
    succeed(*command, "-k", 3)
    assert "made by an earlier run" in succeed(*command, "-k", 2, "--overwrite").stderr
    succeed("assign", tmp_path / "out", tmp_path / "t.csv", "-o", tmp_path / "a.csv")
    assert of(read(tmp_path / "a.csv"), "cluster") == of(read(tmp_path / "out" / "labels.csv"), "cluster")
    assert ensemblage.load(tmp_path / "out" / "model.npz").n_clusters == 2


def test_threads_change_no_file(tmp_path):
    TABLES["iris"].to_csv(tmp_path / "t.csv", index=False)
    for jobs in (1, 2):
        succeed("run", tmp_path / "t.csv", "-k", 3, "--stability", 0, "--jobs", jobs, "-o", tmp_path / str(jobs))
    assert (tmp_path / "1" / "model.npz").read_bytes() == (tmp_path / "2" / "model.npz").read_bytes()
    record = json.loads((tmp_path / "1" / "summary.json").read_text(encoding="utf-8"))["run"]
    assert "model.npz" in record["files"]


def test_an_ensemble_for_a_combined_one(tmp_path):
    """By the names of its partitions."""
    labels = np.array([[0, 5], [0, 5], [0, 6], [1, 6], [1, 7], [1, 7]])
    E = ensemblage.Ensemble(labels, names=["a", "b"])
    E.save(tmp_path / "e.npz")
    E.select(["b", "a"]).save(tmp_path / "new.npz")
    E.select(["b"]).save(tmp_path / "less.npz")
    succeed("combine", tmp_path / "e.npz", "-k", 2, "-o", tmp_path / "out")
    succeed("assign", tmp_path / "out", tmp_path / "new.npz", "-o", tmp_path / "a.csv")
    found, before = read(tmp_path / "a.csv"), read(tmp_path / "out" / "labels.csv")
    assert [of(found, name) for name in ("id", "cluster")] == [of(before, name) for name in ("id", "cluster")]
    assert "none named 'a'" in fail("assign", tmp_path / "out", tmp_path / "less.npz", "-o", tmp_path / "b.csv")
    for option in ("--id-column", "--sheet"):
        told = fail("assign", tmp_path / "out", tmp_path / "new.npz", "-o", tmp_path / "b.csv", option, "a")
        assert told == f"error: {option} is for tables. Got new.npz. Leave it out."
