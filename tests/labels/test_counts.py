"""`Ensemble.from_counts`: distinct rows with counts, of every source, give what all rows give, bit by bit."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from limits import limit
from numpy.testing import assert_array_equal
from places import ROOT
from strategies import few_starts, planted_labels, usual, with_equal_rows

from ensemblage import ConsensusClustering, Ensemble
from ensemblage.consensus import ConsensusModes, KMeansConsensus
from ensemblage.metrics import coassociation, confidence, density
from ensemblage.posterior import read_draws
from ensemblage.ranking import AverageAgreement, SelectPartitions

NAMES = ["l1", "l2", 'a "quoted" one', "l4", "l5"]
METHODS = ["km", "ecc", "h-km", "sec", "acv", "bv", "majority", "eac-average", "eac-single", "lwea", "lca", "k-modes"]


def frame(missing=0.1):
    """400 objects of 90 label rows; the second column is text, an empty cell a missing label."""
    rows, _ = planted_labels(n=90, p=5, k=3, noise=0.2, missing=missing, seed=2)
    labels = pd.DataFrame(with_equal_rows(rows, 400, seed=3), columns=NAMES)
    text = pd.Series([None if label < 0 else f"cluster {label}" for label in labels["l2"]], dtype=object)
    return labels.assign(l2=text)


def relation(labels):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(pa.Table.from_pandas(labels, preserve_index=False))


def in_batches(labels):
    return pa.Table.from_pandas(labels, preserve_index=False).to_reader(max_chunksize=30)


SOURCES = {
    "pandas": lambda labels: labels,
    "categories": lambda labels: labels.assign(l2=labels["l2"].astype("category")),
    "polars": pl.from_pandas,
    "lazy": lambda labels: pl.from_pandas(labels).lazy(),
    "categories of polars": lambda labels: pl.from_pandas(labels).with_columns(pl.col("l2").cast(pl.Categorical)),
    "arrow": lambda labels: pa.Table.from_pandas(labels, preserve_index=False),
    "stream": in_batches,
    "parts": lambda labels: [labels[:100], pl.from_pandas(labels[100:300]), in_batches(labels[300:])],
    "duckdb": relation,
}


def of_objects(E, model, labels):
    """Cluster and confidence of every object, by its labels."""
    found = {tuple(row[:-2]): row[-2:] for row in zip(*(c.to_pylist() for c in E.clusters(model).columns), strict=True)}
    rows = zip(*(pa.array(labels[name], from_pandas=True).to_pylist() for name in labels.columns), strict=True)
    return np.array([found[row] for row in rows]).T


@pytest.mark.core(3)
@pytest.mark.parametrize("source", SOURCES)
def test_rows_are_counted_where_they_are(source, monkeypatch):
    limit(monkeypatch, "rows with counts that are read at once", 64)
    labels = frame()
    E = Ensemble.from_counts(SOURCES[source](labels))
    expected = labels.value_counts(dropna=False)
    assert (len(E), E.n_objects, E.names, E.shape) == (len(expected), 400, NAMES, (len(expected), 5))
    rows = list(zip(*(column.to_pylist() for column in E.labels.columns), strict=True))
    known = {tuple(None if v != v else v for v in row): n for row, n in expected.items()}
    assert dict(zip(rows, E.counts.tolist(), strict=True)) == known


@pytest.mark.core(3)
@pytest.mark.parametrize("source", ["arrow", "lazy", "stream", "duckdb"])
@pytest.mark.parametrize("name", METHODS)
def test_the_consensus_of_all_objects(name, source):
    labels = frame()
    model = few_starts(usual(name, 3))
    model.set_params(**{key: 0 for key in model.get_params() if key == "random_state"})
    expected = model.fit(labels)
    clusters, confidence = expected.labels_, expected.confidence_
    E = Ensemble.from_counts(SOURCES[source](labels))
    found = of_objects(E, model.fit(E), labels)
    assert_array_equal(found[0], clusters)
    assert_array_equal(found[1], confidence)


@pytest.mark.parametrize("source", ["pandas", "lazy", "stream", "duckdb"])
def test_counts_of_a_query(source):
    labels = frame()
    groups = labels.value_counts(dropna=False).rename("n").reset_index()
    halves = pd.concat([groups.assign(n=groups["n"] // 2), groups.assign(n=groups["n"] - groups["n"] // 2)])
    for given in (groups, halves):
        E = Ensemble.from_counts(SOURCES[source](given), "n")
        assert (len(E), E.n_objects) == (len(groups), 400)
        model = KMeansConsensus(3, n_init=2, weights=[1, 2, 0, 1, 3], random_state=0)
        expected = model.fit(labels).labels_
        assert_array_equal(of_objects(E, model.fit(E), labels)[0], expected)


def test_as_sample_weight_of_a_stream():
    labels = frame()
    groups = labels.value_counts(dropna=False).rename("n").reset_index()
    rows, counts = groups[NAMES], groups["n"].to_numpy()
    by_weight = KMeansConsensus(3, n_init=2, random_state=0).fit(in_batches(rows), sample_weight=counts)
    E = Ensemble.from_counts(in_batches(rows), counts)
    counted = KMeansConsensus(3, n_init=2, random_state=0).fit(E)
    assert_array_equal(counted.labels_, by_weight.labels_)
    unweighted = KMeansConsensus(3, n_init=2, random_state=0).fit(rows)
    assert counted.objective_ != unweighted.objective_


def test_an_array_and_its_number_for_missing():
    labels = [[0, 0], [0, 0], [-1, 1], [0, 1]]
    E = Ensemble.from_counts(labels)
    assert (E.counts.tolist(), E.ensemble.n_clusters.tolist()) == ([2, 1, 1], [1, 2])
    assert Ensemble.from_counts(labels, missing=None).ensemble.n_clusters.tolist() == [2, 2]
    assert repr(E) == "Ensemble(3 rows of 4 objects, 2 partitions of 1 to 2 clusters, 16.7 % missing)"
    assert isinstance(E, Ensemble)


def test_the_join_in_sql():
    duckdb = pytest.importorskip("duckdb")
    labels, con = frame(), duckdb.connect()
    con.register("the labels", labels.assign(number=np.arange(len(labels))))
    E = Ensemble.from_counts(con.sql('SELECT * EXCLUDE number FROM "the labels"'))
    model = KMeansConsensus(3, n_init=2, random_state=0).fit(E)
    con.register("found", E.clusters(model))
    joined = con.sql(E.join_sql("the labels", "found")).df().sort_values("number")
    assert joined.columns.tolist() == [*NAMES, "number", "cluster", "confidence"]
    assert_array_equal(joined[["cluster", "confidence"]].T, of_objects(E, model, labels))


def test_the_join_in_polars():
    labels = pl.from_pandas(frame()).lazy()
    E = Ensemble.from_counts(labels)
    model = KMeansConsensus(3, n_init=2, random_state=0).fit(E)
    clusters = pl.from_arrow(E.clusters(model))
    joined = eval(E.join_polars(), {"labels": labels, "clusters": clusters}).collect()
    assert joined.columns == [*NAMES, "cluster", "confidence"]
    assert_array_equal(joined["cluster"], of_objects(E, model, frame())[0])


AB = pa.table({"a": [0, 1], "b": ["x", "y"]})
REFUSED = {
    "no such column": ((AB, "n"), "one number per row. Got 'n'. The columns are a, b."),
    "negative": ((AB.append_column("n", [[1, -2]]), "n"), "Got -2."),
    "fractional": ((AB, [1, 0.5]), "Got 0.5."),
    "missing": ((AB.append_column("n", [[1, None]]), "n"), "Got a missing one."),
    "text": ((AB.append_column("n", [["1", "x"]]), "n"), "Got a column of"),
    "too few": ((AB, [1]), "Got 1 counts and 2 rows"),
    "too many": ((AB, [1, 2, 3]), "Got 3 counts and 2 rows."),
    "nothing but 0": ((AB, [0, 0]), "Got a sum of 0."),
    "too large": ((AB, [2**31, 1]), "Got a sum of 2,147,483,649."),
    "order of a query": ((pl.from_arrow(AB).lazy(), [1, 2]), "counts of lazy rows must be the name of a column"),
    "columns": (([AB, AB.rename_columns(["a", "c"])],), "must have the same columns. Got a, c after a, b."),
    "types": (([AB, AB.set_column(0, "a", [["0"] * 2])],), "must have the same types. Got large_string after int64"),
    "no labels": ((AB.set_column(0, "a", [pa.nulls(2, pa.int64())]),), "nothing but missing labels in partition 'a'"),
    "features": ((AB.set_column(0, "a", [[0.5, 1.5]]),), "these look like features"),
    "lists": ((AB.set_column(0, "a", [[[0], [1]]]),), "Labels must be numbers, text or categories"),
    "no rows": ((AB[:0],), "at least one object"),
    "no partition": ((AB.select(["a"]), "a"), "at least one partition"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    given, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        Ensemble.from_counts(*given)


def test_what_counts_every_row_once_refuses_it():
    E = Ensemble.from_counts([[0, 0], [0, 0], [1, 1]])
    for take in (lambda: density(E, [0, 1]), lambda: AverageAgreement().fit(E), lambda: ConsensusModes().fit(E)):
        with pytest.raises(ValueError, match="must have no counts here"):
            take()
    with pytest.raises(ValueError, match="must have no counts here"):
        SelectPartitions(AverageAgreement(), 1).fit(E)
    labels = E.ensemble
    for take in (
        lambda: np.asarray(E),
        lambda: Ensemble(E),
        lambda: E[:2],
        lambda: E.select([0]),
        lambda: E.append_partitions(labels),
        lambda: labels.append_partitions(E),
        lambda: E.one_hot(),
        lambda: E.encode([[0, 0]]),
        lambda: E.save("labels.npz"),
        lambda: coassociation(E),
        lambda: confidence(E, [0, 1]),
        lambda: read_draws(E),
        lambda: KMeansConsensus(2, random_state=0).fit(E).assign(E),
    ):
        with pytest.raises(ValueError, match=r"must have no counts here.*Give its attribute ensemble"):
            take()
    with pytest.raises(ValueError, match="sample_weight must be None for an Ensemble whose rows have counts"):
        KMeansConsensus(2).fit(E, sample_weight=[1, 2])


def test_clusters_of_what_was_fitted_to_it():
    E = Ensemble.from_counts([[0, 0], [0, 0], [1, 1]])
    with pytest.raises(ValueError, match="one that is not fitted"):
        E.clusters(KMeansConsensus(2))
    with pytest.raises(ValueError, match="one of 3 rows"):
        E.clusters(KMeansConsensus(2).fit([[0, 0], [0, 0], [1, 1]]))
    named = Ensemble.from_counts(pa.table({"cluster": [0, 1]}))
    with pytest.raises(ValueError, match="Rename it in the query"):
        named.clusters(KMeansConsensus(2).fit(named))


def test_the_tutorial(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "site" / "tutorials" / "duckdb.md"
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
    assert "100_000_000" in code
    names = {}
    exec(code.replace("100_000_000", "100_000"), names)
    E, con = names["E"], names["con"]
    assert E.n_objects == 100_000
    table = con.sql("SELECT * FROM clustered ORDER BY object").fetchnumpy()
    matrix = np.column_stack([table[name] for name in E.names])
    expected = KMeansConsensus(5, random_state=0).fit(matrix)
    assert_array_equal(table["cluster"], expected.labels_)
    assert_array_equal(table["confidence"], expected.confidence_)
    by_polars = pl.read_parquet("clustered.parquet").sort("object")
    assert_array_equal(by_polars["cluster"], expected.labels_)


def test_counted_labels_are_no_features():
    counted = Ensemble.from_counts([[0, 0], [0, 1], [1, 1], [1, 1]])
    with pytest.raises(TypeError, match=r"must be a table of features.*3 rows of 4 objects.*Fit a consensus method"):
        ConsensusClustering(2).fit(counted)
