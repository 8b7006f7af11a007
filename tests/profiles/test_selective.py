"""Selective markers: p-values that hold although the clusters were made from the same objects."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from pages import find
from scipy.sparse import csr_array, issparse
from scipy.stats import kstest, norm, poisson, ttest_ind
from sklearn.cluster import KMeans

import ensemblage
from ensemblage import Ensemble, report
from ensemblage.cli import main
from ensemblage.consensus import KMeansConsensus
from ensemblage.preprocessing import thin_counts
from ensemblage.profiles._selective import SelectiveMarkers, has_mode_of_one_value, nearest_clusters, welch_p_values
from ensemblage.stability._dip import unimodality_p_value


def cut(X, k, seed=0):
    return KMeans(k, n_init=2, random_state=seed).fit_predict(X)


def negative_binomial(random, n=200, m=20, mean=5.0, size=2.0):
    return random.negative_binomial(size, size / (size + mean), size=(n, m))


# ---- counts --------------------------------------------------------------------------------------------------------


def test_the_parts_sum_to_the_counts_and_have_their_shares():
    counts = np.random.default_rng(0).poisson(20, size=(500, 4))
    for share in (0.5, 0.2):
        first, second = thin_counts(counts, first_share=share, random_state=0)
        assert (first + second == counts).all()
        assert (first >= 0).all()
        assert (second >= 0).all()
        assert first.mean() / counts.mean() == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(("size", "dispersion"), [(2.0, None), (2.0, 0.5), (1e9, 0)])
def test_the_parts_are_independent(size, dispersion):
    counts = negative_binomial(np.random.default_rng(1), n=4000, m=10, size=size)
    first, second = thin_counts(counts, dispersion=dispersion, random_state=0)
    r = [np.corrcoef(first[:, j], second[:, j])[0, 1] for j in range(10)]
    assert np.mean(r) == pytest.approx(0, abs=0.02)


def test_the_dispersion_is_used():
    """Parts by Poisson of what is not Poisson vary together, by too large a dispersion against each other."""
    counts = negative_binomial(np.random.default_rng(1), n=4000, m=5)
    for dispersion, sign in ((0, 1), ([4.0] * 5, -1)):
        first, second = thin_counts(counts, dispersion=dispersion, random_state=0)
        assert sign * np.corrcoef(first[:, 0], second[:, 0])[0, 1] > 0.1


def test_sparse_counts_are_split_as_dense_ones():
    counts = np.random.default_rng(0).poisson(0.5, size=(50, 8))
    dense = thin_counts(counts, random_state=3)
    thin = thin_counts(csr_array(counts), random_state=3)
    for a, b in zip(dense, thin, strict=True):
        assert issparse(b)
        assert (a == b.toarray()).all()


@pytest.mark.slow
@pytest.mark.parametrize("draw", ["poisson", "negative binomial"])
def test_p_values_of_thinned_counts_are_uniform_on_one_cloud(draw):
    p = []
    for seed in range(50):
        random = np.random.default_rng(seed)
        counts = random.poisson(5, size=(200, 20)) if draw == "poisson" else negative_binomial(random)
        first, second = thin_counts(counts, random_state=seed)
        found = ensemblage.profile(cut(np.log1p(first), 2), counts, selective=True, thinned=second, max_depth=0)
        p += [row.p_value for row in found.selective.table if row.cluster == 0]
    assert len(p) == 1000
    assert np.mean(np.array(p) <= 0.05) <= 0.08
    assert kstest(p, "uniform").pvalue > 0.001


def test_planted_markers_of_counts_are_found():
    random = np.random.default_rng(0)
    mean = np.full((200, 20), 5.0)
    mean[:100, :5] *= 4
    counts = random.negative_binomial(10, 10 / (10 + mean))
    first, second = thin_counts(counts, random_state=0)
    found = ensemblage.profile(cut(np.log1p(first), 2), counts, selective=True, thinned=second).selective
    assert {row.variable for row in found.markers} >= {f"x{j}" for j in range(5)}
    assert len({row.variable for row in found.markers}) <= 7
    assert {row.other for row in found.table} == {"rest"}
    assert {row.test for row in found.table} == {"thinned counts"}


def test_welch_is_scipys():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(20, 4)), random.normal(1, 2, size=(33, 4))
    np.testing.assert_allclose(welch_p_values(a, b), ttest_ind(a, b, equal_var=False).pvalue)


def test_names_of_thinned_counts_are_those_of_the_columns():
    frame = pd.DataFrame(np.random.default_rng(0).poisson(5, size=(60, 2)), columns=["A1", "B2"])
    _, second = thin_counts(frame, random_state=0)
    found = ensemblage.profile(np.arange(60) % 2, frame, selective=True, thinned=second)
    assert {row.variable for row in found.selective.table} == {"A1", "B2"}


# ---- other variables -----------------------------------------------------------------------------------------------


@pytest.mark.core(1)
@pytest.mark.parametrize("kind", ["normal", "uniform", "exponential"])
def test_the_dip_finds_hardly_any_marker_in_cuts_of_one_cloud(kind):
    p, naive = [], []
    for seed in range(20):
        X = getattr(np.random.default_rng(seed), kind)(size=(200, 5))
        found = ensemblage.profile(cut(X, 3, seed), X, selective=True, max_depth=0)
        p += [row.p_value for row in found.selective.table]
        naive += list(found.to_frame()["p_value"])
    assert np.mean(np.array(p) <= 0.05) <= 0.06
    assert np.mean(np.array(naive) <= 0.05) > 0.3


def test_variables_that_separate_two_clusters_are_found():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    X[100:, 0] += 6
    found = ensemblage.profile(cut(X, 2), X, selective=True).selective
    assert [row.variable for row in found.markers] == ["x0", "x0"]
    by_cluster = {row.cluster: row.difference for row in found.markers}
    assert by_cluster[0] == pytest.approx(-by_cluster[1])
    assert abs(by_cluster[0]) > 4
    row = found.table[0]
    assert row.p_value == unimodality_p_value(X[:, 0])
    assert row.p_adjusted == pytest.approx(4 * row.p_value)


def test_two_modes_in_both_clusters_are_no_difference():
    """Of a variable that the clusters have nothing to do with, and of one that is off in some objects of both."""
    random, labels = np.random.default_rng(0), np.repeat([0, 1], 150)
    X = random.normal(size=(300, 3))
    X[150:, 0] += 8
    X[:, 1] += 8 * random.integers(0, 2, size=300)
    X[:, 2] = np.where(random.integers(0, 2, size=300), X[:, 2] + 6, 0)
    assert unimodality_p_value(X[:, 1]) < 0.001
    found = ensemblage.profile(labels, X, selective=True).selective
    assert {row.variable for row in found.markers} == {"x0"}


def test_each_cluster_is_compared_with_the_nearest_one():
    X = np.r_[np.full(10, 0.0), np.full(10, 3.0), np.full(10, 9.0)][:, None]
    assert nearest_clusters(X, np.repeat([0, 1, 2], 10), 3) == [1, 0, 1]
    found = ensemblage.profile(
        np.repeat(["a", "b", "c"], 10), X + np.arange(30)[:, None] * 1e-3, selective=True
    ).selective
    assert [(row.cluster, row.other) for row in found.table] == [("a", "b"), ("b", "a"), ("c", "b")]


def test_what_has_no_unimodal_values_in_one_cloud_is_left_out():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "dose": np.r_[random.normal(size=70), np.full(30, 1.5)],
            "colour": ["red", "blue"] * 50,
            "x": random.normal(size=100),
        }
    )
    found = ensemblage.profile(np.arange(100) % 2, frame, selective=True).selective
    assert found.left_out == {
        "dose": "one value inside its range is too frequent, as one that stands for missing values",
        "colour": "a category, which has no order",
    }
    assert {row.variable for row in found.table} == {"x"}


FINE = {
    "one decimal": lambda X: X.round(1),
    "whole numbers": lambda X: X.round(),
    "five answers": lambda X: np.clip(X.round(), -2, 2),
    "counts": lambda X: poisson.ppf(norm.cdf(X), 2),
}
PILED = {
    "a limit": lambda X: np.maximum(X, np.quantile(X, 0.1, axis=0)),
    "a limit on a grid": lambda X: np.maximum(X.round(2), np.quantile(X, 0.1, axis=0).round(2)),
    "logarithms of counts": lambda X: np.log1p(poisson.ppf(norm.cdf(X), 2)),
    "round numbers": lambda X: np.where(X % 0.03 < 0.01, (20 * X).round(-1), (20 * X).round()),
}


@pytest.mark.core(3)
@pytest.mark.parametrize("kind", [*FINE, *PILED])
def test_values_that_many_objects_share_are_no_difference(kind):
    """Of one cloud: those that are a mode stand for a range of values, the others have no second mode."""
    p, n_spread, n_left_out = [], 0, 0
    for seed in range(5):
        X = (FINE | PILED)[kind](np.random.default_rng(seed).normal(size=(500, 4)))
        found = ensemblage.profile(cut(X, 3, seed), X, selective=True, max_depth=0).selective
        p += [row.p_value for row in found.table]
        n_spread += len(found.spread)
        n_left_out += len(found.left_out)
    assert np.mean(np.array(p) <= 0.05) <= 0.05
    assert n_left_out <= 4 * (kind == "round numbers")  # of which too few are a pile to be seen as a grid
    assert n_spread > 10 if kind in ("a limit", "a limit on a grid", "round numbers") else n_spread == 0


def test_two_modes_of_a_grid_are_a_difference():
    answers = np.r_[np.repeat([1, 2], [20, 40]), np.repeat([4, 5], [40, 20])]
    found = ensemblage.profile(np.repeat([0, 1], 60), answers[:, None], selective=True).selective
    assert [row.variable for row in found.markers] == ["x0", "x0"]


def test_a_value_is_too_frequent_beside_its_neighbours_alone():
    def is_mode(values):
        return has_mode_of_one_value(*np.unique(values, return_counts=True))

    grid = np.arange(100)
    assert not is_mode(np.repeat(grid, 3))
    assert is_mode(np.r_[np.repeat(grid, 3), np.full(20, 50)])
    assert not is_mode(np.r_[np.repeat(grid, 3), np.full(8, 50)])  # of 308: less than √308 / 2 = 8.8 more
    assert not is_mode(np.r_[np.repeat(grid, 3), np.repeat([48, 49, 50, 51], 20)])
    assert is_mode(np.r_[np.repeat(grid, 3), np.full(20, 50.5), [0.25]])  # on no grid


def test_missing_values_and_objects_in_no_cluster_are_left_out():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[5, 0] = np.nan
    labels = np.arange(60) % 2
    labels[10] = -1
    expected = X[np.setdiff1d(np.arange(60), [5, 10]), 0]
    table = ensemblage.profile(labels, X, selective=True).selective.table
    assert {row.p_value for row in table if row.variable == "x0"} == {unimodality_p_value(expected)}


# ---- the record ----------------------------------------------------------------------------------------------------


def test_unasked_nothing_is_tested():
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert ensemblage.profile(np.arange(40) % 2, X).selective is None


def test_the_record_says_that_the_rest_is_description():
    X = np.random.default_rng(0).normal(size=(40, 2))
    found = ensemblage.profile(np.arange(40) % 2, X, selective=True).selective
    assert isinstance(found, SelectiveMarkers)
    assert found.sentence == (
        "Each cluster was compared with its nearest one: 0 of 4 comparisons of a variable show a difference, at a "
        "false discovery rate of 0.05. Everything else in the profile is description: p-values of variables that the "
        "clusters were made from are too small."
    )
    assert repr(found) == f"SelectiveMarkers: {found.sentence}"
    assert list(found.to_frame().columns) == list(found.table[0]._fields)
    one = ensemblage.profile(np.zeros(40, dtype=int), X, selective=True).selective
    assert one.table == []


# ---- shell and page ------------------------------------------------------------------------------------------------

TABLE = "Variables that differ, by tests that hold"


def run(folder, *args, output="out"):
    """Two clusters that x separates and y and "kind" do not."""
    X = np.random.default_rng(0).normal(size=(120, 2))
    X[60:, 0] += 12
    frame = pd.DataFrame(X, columns=["x", "y"]).assign(kind=np.resize(["a", "b", "c"], 120))
    frame.to_csv(folder / "t.csv", index_label="id")
    options = ["--generator", "random-k", "--partitions", "20", "--stability", "0", "--drop-column", "kind"]
    return CliRunner().invoke(
        main, ["run", str(folder / "t.csv"), "-k", "2", *options, "-o", str(folder / output), *args]
    )


def test_tests_stand_in_a_file_and_on_the_page(tmp_path):
    result = run(tmp_path, "--selective-markers")
    assert result.exit_code == 0, result.stderr
    with open(tmp_path / "out" / "profile.csv", newline="", encoding="utf-8") as file:
        rows = {(row["cluster"], row["variable"]): row for row in csv.DictReader(file)}
    assert {variable for _, variable in rows} >= {"x", "y"}
    for cluster, other in (("0", "1"), ("1", "0")):
        x, y = rows[cluster, "x"], rows[cluster, "y"]
        assert (x["other"], x["test"]) == (other, "dip")
        assert float(x["p_adjusted"]) <= 0.05 < float(y["p_adjusted"])
        assert float(x["effect"]) * float(x["difference"]) > 0
    found = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["profile"]["honest"]
    assert [(row["cluster"], row["other"], row["variable"]) for row in found["rows"]] == [(0, 1, "x"), (1, 0, "x")]
    assert found["sentence"] in result.stderr
    section = find(
        (tmp_path / "out" / "report.html").read_text(encoding="utf-8"), "The clusters and what describes them"
    )
    assert found["sentence"] in section.sentences
    assert [row[2] for row in rows_of_tests(section)] == ["x", "x"]
    assert str(tmp_path / "out" / "profile.csv") in result.stdout


def test_a_file_that_went_is_made_again(tmp_path):
    assert run(tmp_path, "--selective-markers").exit_code == 0
    made = (tmp_path / "out" / "profile.csv").read_bytes()
    (tmp_path / "out" / "profile.csv").unlink()
    assert run(tmp_path, "--selective-markers").exit_code == 0
    assert (tmp_path / "out" / "profile.csv").read_bytes() == made
    again = run(tmp_path, "--selective-markers")
    assert "finished by an earlier run" in again.stderr
    other = run(tmp_path)
    assert other.exit_code == 2
    assert "honest_markers" in other.stderr
    assert run(tmp_path, "--overwrite").exit_code == 0
    assert not (tmp_path / "out" / "profile.csv").exists()


def test_unasked_the_page_has_no_tests(tmp_path):
    assert run(tmp_path).exit_code == 0
    assert not (tmp_path / "out" / "profile.csv").exists()
    assert "honest" not in json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["profile"]
    assert TABLE not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_copy_of_the_input_has_no_tests(tmp_path):
    result = run(tmp_path, "--selective-markers", output="x.h5ad")
    assert result.exit_code == 2
    assert "error: --selective-markers must go with a folder. Got -o " in result.stderr


def rows_of_tests(section):
    """The cells of the table of tests; none without it."""
    return next((table.rows for table in section.tables if table.title == TABLE), [])


def page_of(labels, X, **options):
    """The section of clusters on a page with a profile."""
    ensemble = Ensemble(np.column_stack([labels] * 3))
    consensus = KMeansConsensus(len(np.unique(labels)), random_state=0).fit(ensemble)
    tested = ensemblage.profile(consensus.labels_, X, selective=True, **options)
    summary = report.summarize(ensemble, consensus, profile=tested)
    return find(report.render(summary), "The clusters and what describes them")


def test_the_page_of_thinned_counts():
    random = np.random.default_rng(0)
    mean = np.where((np.arange(200) < 100)[:, None] & (np.arange(6) < 2), 40.0, 5.0)
    counts = random.poisson(mean)
    first, second = thin_counts(counts, dispersion=0, random_state=0)
    section = page_of(cut(np.log1p(first), 2), counts, thinned=second)
    assert {row[1] for row in rows_of_tests(section)} == {"rest"}
    assert {"x0", "x1"} <= {row[2] for row in rows_of_tests(section)}


def test_a_page_without_markers_says_so():
    section = page_of(np.arange(60) % 2, np.random.default_rng(0).normal(size=(60, 2)))
    assert any("0 of 4 comparisons" in sentence for sentence in section.sentences)
    assert not rows_of_tests(section)


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1.5, 2], [0, 1]], {}, "X of thin_counts must be counts: whole numbers ≥ 0. Got 1.5"),
        ([[-1, 2], [0, 1]], {}, "Got -1"),
        ([[np.nan, 2], [0, 1]], {}, "Got nan"),
        ([1, 2], {}, "X of thin_counts must be numbers of shape"),
        ([["a", "b"], ["c", "d"]], {}, "X of thin_counts must be numbers of shape"),
        ([[1, 2], [0, 1]], {"first_share": 0}, "first_share of thin_counts must be a number > 0 and < 1"),
        ([[1, 2], [0, 1]], {"dispersion": -1}, "dispersion of thin_counts must be a number ≥ 0"),
        ([[1, 2], [0, 1]], {"dispersion": [1, 2, 3]}, "dispersion of thin_counts must be numbers of shape"),
        ([[1, 2], [0, 1]], {"dispersion": [1, -2]}, "dispersion of thin_counts must be numbers ≥ 0"),
    ],
)
def test_what_are_no_counts_is_refused(X, options, message):
    with pytest.raises(ValueError, match=message):
        thin_counts(X, **options)


def test_thinned_counts_that_do_not_fit_are_refused():
    X = np.random.default_rng(0).poisson(5, size=(40, 2))
    labels = np.arange(40) % 2
    for thinned, message in (
        (X[:, :1], "thinned of profile must have the 2 columns of X. Got 1"),
        (X[:20], "thinned of profile must be numbers of shape"),
        (X - 10, "thinned of profile must be numbers ≥ 0"),
    ):
        with pytest.raises(ValueError, match=message):
            ensemblage.profile(labels, X, selective=True, thinned=thinned)
    with pytest.raises(ValueError, match="thinned of profile must go with selective=True"):
        ensemblage.profile(labels, X, thinned=X)
    with pytest.raises(ValueError, match="selective of profile must be"):
        ensemblage.profile(labels, X, selective="yes")
