"""`ensemblage compare`, and --align of run and combine."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from shell import fail, succeed
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, normalized_mutual_info_score
from test_assign import TABLES, mixed, of, read

import ensemblage
from ensemblage.generation import RandomKPartitions


def write(path, header, *columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(zip(*columns, strict=True))
    return path


def test_two_tables(tmp_path):
    ids = [f"o{i}" for i in range(12)]
    first, second = [0] * 6 + [1] * 6, [1] * 5 + [0] * 4 + [2] * 3
    order = np.random.default_rng(0).permutation(12)
    a = write(tmp_path / "a.csv", ["id", "cluster"], ids, first)
    b = write(tmp_path / "b.csv", ["cluster", "id"], np.array(second)[order], np.array(ids)[order])
    lines = succeed("compare", a, b, "-o", tmp_path / "moved.csv").stdout.splitlines()
    scores = [adjusted_rand_score, adjusted_mutual_info_score, normalized_mutual_info_score]
    ari, ami, nmi = (f"{score(first, second):.3f}" for score in scores)
    assert lines[:4] == [
        "objects     12 in both",
        f"agreement   ARI {ari}, AMI {ami}, NMI {nmi}",
        "moved       4 (33%) are in another cluster than the one that matches theirs: o5, o9, o10, o11",
        "new         cluster 2 of b.csv matches none",
    ]
    assert [line.split() for line in lines[5:8]] == [
        ["cluster", "of", "a.csv", "matches", "1", "0", "2"],
        ["0", "1", "5", "1", "0"],
        ["1", "0", "0", "3", "3"],
    ]
    assert read(tmp_path / "moved.csv") == [
        {"id": "o5", "a.csv": "0", "b.csv": "0"},
        *({"id": f"o{i}", "a.csv": "1", "b.csv": "2"} for i in (9, 10, 11)),
    ]


def test_partly_shared_objects_and_objects_in_none(tmp_path):
    a = write(tmp_path / "a.csv", ["who", "cluster"], list("abcdef"), [0, 0, 1, 1, -1, 1])
    b = write(tmp_path / "b.csv", ["who", "group"], list("bcdefxy"), ["x", "y", "y", "y", "", "x", "x"])
    assert "cluster" in fail("compare", a, write(tmp_path / "c.csv", ["id", "p", "q"], "abc", [0, 1, 1], [1, 0, 0]))
    result = succeed("compare", a, b, "--id-column", "who", "-o", tmp_path / "moved.csv")
    assert "5 in both, 1 only in a.csv, 2 only in b.csv" in result.stdout
    assert {row["id"]: (row["a.csv"], row["b.csv"]) for row in read(tmp_path / "moved.csv")} == {
        "e": ("", "y"),
        "f": ("1", ""),
    }


def test_tables_without_ids(tmp_path):
    a = write(tmp_path / "a.csv", ["cluster"], [0, 0, 1, 1, 0])
    b = write(tmp_path / "b.csv", ["cluster"], [1, 1, 0, 0, 0])
    assert "5 in both" in succeed("compare", a, b).stdout
    c = write(tmp_path / "c.csv", ["cluster"], [1, 1, 0])
    assert "without ids must be of the same objects. Got 5 and 3" in fail("compare", a, c)
    d = write(tmp_path / "d.csv", ["id", "cluster"], ["u", "v", "w", "x", "y"], [1, 1, 0, 0, 0])
    assert "matched by the numbers of their rows" in succeed("compare", a, d).stderr


def test_refused(tmp_path):
    a = write(tmp_path / "a.csv", ["id", "cluster"], list("abc"), [0, 0, 1])
    b = write(tmp_path / "b.csv", ["id", "cluster"], list("xyz"), [0, 0, 1])
    assert "none is in both" in fail("compare", a, b)
    assert "--column must name a column of a.csv. Got 'nothing'" in fail("compare", a, a, "--column", "nothing")
    assert "must end in .csv" in fail("compare", a, a, "-o", tmp_path / "moved.txt")
    (tmp_path / "there.csv").write_text("mine", encoding="utf-8")
    assert "Existing files must not be overwritten" in fail("compare", a, a, "-o", tmp_path / "there.csv")


def test_runs_of_one_table(tmp_path):
    table = mixed()
    table.to_csv(tmp_path / "t.csv", index=False)
    for name, k in (("one", 3), ("two", 2)):
        succeed("run", tmp_path / "t.csv", "-k", k, "--stability", 0, "-o", tmp_path / name)
    result = succeed("compare", tmp_path / "one" / "labels.csv", tmp_path / "two" / "labels.csv")
    assert "90 in both" in result.stdout
    assert "matches none" in result.stdout
    assert "moved       0 (0%)" in succeed("compare", *[tmp_path / "one" / "labels.csv"] * 2).stdout


@pytest.fixture
def months(tmp_path):
    """Two months of customers: some left, some came, and the largest group is another one."""
    table = mixed(120)
    first = table.iloc[:90]
    second = pd.concat([table.iloc[30:90], table.iloc[90:][table["class"][90:] == 2]])[::-1]
    for name, frame in (("first", first), ("second", second)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    succeed("run", tmp_path / "first.csv", "-k", 3, "--stability", 0, "--drop-column", "class", "-o", tmp_path / "1")
    return tmp_path


def given(months, k, output):
    data = months / "second.csv"
    return ["run", data, "-k", k, "--stability", 0, "--drop-column", "class", "-o", months / output]


def test_numbers_are_kept(months):
    old = {row["id"]: row["cluster"] for row in read(months / "1" / "labels.csv")}
    # Numbers as a third month would have them, so that they are no numbers by size.
    rows = [(who, {"0": 1, "1": 2, "2": 0}[cluster]) for who, cluster in old.items()]
    earlier = write(months / "earlier.csv", ["id", "cluster"], *zip(*rows, strict=True))
    result = succeed(*given(months, 3, "2"), "--align", earlier)
    assert "earlier.csv: 60 of the 70 objects are known from there" in result.stderr
    assert "numbers of clusters: kept 0, 1, 2" in result.stderr
    new = {row["id"]: row["cluster"] for row in read(months / "2" / "labels.csv")}
    assert all(new[who] == str(cluster) for who, cluster in rows if who in new)
    model = ensemblage.load(months / "2" / "model.npz")
    assert model.labels_.tolist() == [int(cluster) for cluster in new.values()]
    assert model.cluster_numbers_.tolist() == [0, 1, 2]
    succeed("assign", months / "2", months / "second.csv", "-o", months / "a.csv")
    assert of(read(months / "a.csv"), "cluster") == list(new.values())
    # The same command again finds it done; without --align it is another analysis.
    assert "finished by an earlier run" in succeed(*given(months, 3, "2"), "--align", earlier).stderr
    assert "A folder must hold only one analysis" in fail(*given(months, 3, "2"))


def test_clusters_that_came_and_went(months):
    rows = [(row["id"], int(row["cluster"]) + 5) for row in read(months / "1" / "labels.csv")]
    earlier = write(months / "earlier.csv", ["id", "cluster"], *zip(*rows, strict=True))
    result = succeed(*given(months, 4, "2"), "--align", earlier)
    assert "numbers of clusters: kept 5, 6, 7; new 8" in result.stderr
    new = {row["id"]: row["cluster"] for row in read(months / "2" / "labels.csv")}
    assert set(new.values()) == {"5", "6", "7", "8"}
    assert set(of(read(months / "2" / "labels.csv"), "runner_up")) <= {"5", "6", "7", "8"}
    assert "cluster 8" in result.stdout
    assert "cluster 0" not in result.stdout
    summary = json.loads((months / "2" / "summary.json").read_text(encoding="utf-8"))
    assert summary["objects"]["cluster"] == [int(number) for number in new.values()]
    assert [c["cluster"] for c in summary["clusters"]] == [5, 6, 7, 8]
    assert [c["cluster"] for c in summary["profile"]["clusters"]] == [5, 6, 7, 8]
    assert {c["nearest"]["cluster"] for c in summary["clusters"]} <= {5, 6, 7, 8}
    assert set(summary["figures"]["points"]["clusters"]) == {5, 6, 7, 8}
    result = succeed("assign", months / "2", months / "second.csv", "-o", months / "a.csv")
    assert "to the 4 clusters 5, 6, 7, 8" in result.stdout
    assert of(read(months / "a.csv"), "cluster") == list(new.values())
    result = succeed(*given(months, 2, "3"), "--align", earlier)
    assert "gone" in result.stderr


def test_combine_keeps_numbers_too(tmp_path):
    labels = RandomKPartitions(6, random_state=0).fit_transform(TABLES["iris"])
    ids = [f"i{i}" for i in range(150)]
    table = pd.DataFrame(labels).add_prefix("p").assign(id=ids)
    table.to_csv(tmp_path / "labels.csv", index=False)
    command = ["combine", tmp_path / "labels.csv", "--id-column", "id", "-k", 3]
    succeed(*command, "-o", tmp_path / "1")
    before = [(2 - int(row["cluster"])) for row in read(tmp_path / "1" / "labels.csv")]
    earlier = write(tmp_path / "earlier.csv", ["id", "cluster"], ids, before)
    succeed(*command, "-o", tmp_path / "2", "--align", earlier)
    assert [int(row["cluster"]) for row in read(tmp_path / "2" / "labels.csv")] == before


def test_what_cannot_be_aligned_is_refused_before_the_work(months):
    others = write(months / "others.csv", ["id", "cluster"], list("abc"), [0, 1, 1])
    error = fail(*given(months, 3, "2"), "--align", others)
    assert "none is in both" in error
    words = write(months / "words.csv", ["id", "cluster"], ["p30", "p31", "p32"], ["x", "y", "y"])
    assert "whose clusters are whole numbers" in fail(*given(months, 3, "2"), "--align", words)
    assert not (months / "2").exists()
