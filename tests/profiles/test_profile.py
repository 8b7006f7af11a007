"""What describes each cluster: numbers against naive twins, words, figures, and the page."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from limits import limit
from pages import find
from scipy.sparse import csr_array
from scipy.stats import chi2_contingency, false_discovery_control, mannwhitneyu
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine

import ensemblage
from ensemblage import ConsensusClustering, plotting, profile, read_table, report
from ensemblage.cli import main
from ensemblage.consensus import KMeansConsensus

WINE = load_wine(as_frame=True)
TITLE = "The clusters and what describes them"


def random_table(seed=0, n=90, m=7, k=4, missing=0.1):
    """Columns with many ties, with gaps, and their clusters."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, m)) * rng.choice([1, 3, 20], m), 1)
    X[:, 0] = 3 + 2 * rng.integers(0, 2, n)
    X[rng.random((n, m)) < missing] = np.nan
    clusters = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))
    X[:, 1] += clusters
    return X, clusters


def naive_delta(x, y):
    """Over all pairs."""
    return float(np.sign(x[:, None] - y[None, :]).mean()) if len(x) and len(y) else np.nan


def naive_d(x, y):
    pooled = ((len(x) - 1) * x.var(ddof=1) + (len(y) - 1) * y.var(ddof=1)) / (len(x) + len(y) - 2)
    return (x.mean() - y.mean()) / np.sqrt(pooled)


class Given:
    """A consensus of unknown origin."""

    def __init__(self, labels):
        self.labels_, self.confidence_ = np.asarray(labels), np.ones(len(labels))


def summary_of(found, clusters):
    """The summary of a page with this profile; it survives JSON."""
    summary = report.summarize(np.column_stack([clusters, clusters]), Given(clusters), profile=found)
    return json.loads(json.dumps(summary, allow_nan=False))


def section_of(found, clusters):
    """What the page says of the clusters; None if nothing describes them."""
    return find(report.render(summary_of(found, clusters)), TITLE)


def rows_of(found):
    """Rows of the frame by cluster and variable."""
    return {(row.cluster, row.variable): row for row in found.to_frame().itertuples()}


@pytest.mark.parametrize("seed", range(5))
def test_numbers_are_those_of_all_pairs_and_of_numpy(seed):
    X, clusters = random_table(seed)
    for columns in ([0, 1, 2, 3], [4, 5, 6]):  # of so many the page has all distributions
        found = profile(clusters, pd.DataFrame({f"x{j}": X[:, j] for j in columns}), max_depth=0)
        rows, shown = rows_of(found), summary_of(found, clusters)["profile"]
        panels = {panel["variable"]: panel["quantiles"] for panel in shown["panels"]}
        standardised = dict(zip(shown["heat_map"]["variables"], shown["heat_map"]["z"], strict=True))
        for name, column in ((f"x{j}", X[:, j]) for j in columns):
            known = ~np.isnan(column)
            for c in range(4):
                x, y, row = column[known & (clusters == c)], column[known & (clusters != c)], rows[c, name]
                assert row.n == len(x)
                assert row.n_missing == (clusters == c).sum() - len(x)
                assert row.effect == pytest.approx(naive_delta(x, y), abs=1e-15)
                assert [row.q25, row.median, row.q75] == pytest.approx(np.quantile(x, [0.25, 0.5, 0.75]))
                assert panels[name][c] == pytest.approx(np.quantile(x, [0.05, 0.25, 0.5, 0.75, 0.95]))
                assert row.median_rest == pytest.approx(np.median(y))
                assert row.cohens_d == pytest.approx(naive_d(x, y))
                of_all = column[known]
                assert standardised[name][c] == pytest.approx((x.mean() - of_all.mean()) / of_all.std(), abs=5.1e-4)
                assert row.p_value == pytest.approx(mannwhitneyu(x, y, method="asymptotic").pvalue)


def test_blocks_change_nothing(monkeypatch):
    X, clusters = random_table(1)
    whole = profile(clusters, X)
    limit(monkeypatch, "values compared at once", 200)
    pd.testing.assert_frame_equal(profile(clusters, X).to_frame(), whole.to_frame())
    assert summary_of(profile(clusters, X), clusters)["profile"] == summary_of(whole, clusters)["profile"]


def test_many_clusters_and_those_without_a_value():
    rows = rows_of(profile([0, 0, 1, 1, 2], pd.DataFrame({"x": [1.0, 2.0, np.nan, np.nan, 5.0]}), max_depth=0))
    none = rows[1, "x"]
    assert np.isnan([none.effect, none.q25, none.median, none.q75, none.p_value]).all()
    assert (none.value, none.median_rest) == ("–", 2.0)
    one_each = rows_of(profile(np.arange(700), pd.DataFrame({"x": np.arange(700) + 0.5}), max_depth=0))
    assert [one_each[c, "x"].effect for c in (0, 699)] == [-1, 1]
    assert [one_each[350, "x"].q25, one_each[350, "x"].median, one_each[350, "x"].q75] == [350.5] * 3


def test_no_number_is_too_large():
    values = np.array([1e300, -1e300, 1e308, 0.0, np.inf, 1.0])
    rows = rows_of(profile([0, 1, 0, 1, 0, 1], pd.DataFrame({"x": values}), max_depth=0))
    assert [rows[c, "x"].effect for c in (0, 1)] == [1, -1]
    assert [rows[c, "x"].median for c in (0, 1)] == [1e308, 0.0]


@pytest.mark.parametrize("seed", range(5))
def test_cramers_v_is_that_of_the_chi_square_of_scipy(seed):
    rng = np.random.default_rng(seed)
    clusters, codes = rng.integers(0, 3, 120), rng.integers(0, 4, 120).astype(float)
    codes[rng.random(120) < 0.1] = np.nan
    known = ~np.isnan(codes)
    # The last category does not occur.
    values = pd.Categorical.from_codes(np.where(known, codes, -1).astype(int), categories=list("abcde"))
    rows = rows_of(profile(clusters, pd.DataFrame({"x": values}), max_depth=0))
    for c in range(3):
        inside = np.bincount(codes[known & (clusters == c)].astype(int), minlength=4)
        outside = np.bincount(codes[known & (clusters != c)].astype(int), minlength=4)
        chi2 = chi2_contingency([inside, outside], correction=False).statistic
        row = rows[c, "x"]
        assert row.effect == pytest.approx(np.sqrt(chi2 / known.sum()))
        level = "abcd".index(row.category)
        assert level == np.argmax(inside / inside.sum() - outside / outside.sum())
        assert row.share == pytest.approx(inside[level] / inside.sum())
        assert row.share_rest == pytest.approx(outside[level] / outside.sum())


def test_categories_that_say_nothing():
    two = pd.DataFrame({"nothing": [None] * 4, "constant": ["a"] * 4, "both": list("aabb")}).astype("category")
    found = profile([0, 0, 1, 1], two)
    assert found.left_out.keys() == {"nothing", "constant"}
    assert [rows_of(found)[c, "both"].effect for c in (0, 1)] == [1, 1]
    assert np.isnan(rows_of(profile([0] * 4, two))[0, "both"].effect)


def test_adjusted_as_scipy_does():
    rng = np.random.default_rng(0)
    clusters = np.arange(90) % 3
    X = rng.normal(size=(90, 50)) + rng.normal(size=50) * (clusters[:, None] == 1)
    X[clusters == 1, 7] = np.nan  # without a p-value there
    frame = profile(clusters, X, max_depth=0).to_frame()
    for c in range(3):
        rows = frame[frame.cluster == c]
        assert len(rows) == 50
        known = rows.p_value.notna()
        assert known.sum() == 50 - (c == 1)
        assert rows.p_adjusted.notna().tolist() == known.tolist()
        np.testing.assert_allclose(rows.p_adjusted[known], false_discovery_control(rows.p_value[known]))
    assert rows_of(profile([0, 0, 1], pd.DataFrame({"x": ["a", "b", "b"]})))[0, "x"].p_adjusted != 0  # no number at all


def test_typical_objects_are_medoids():
    X, clusters = random_table(3, missing=0)
    for cluster in profile(clusters, X, features=X).clusters:
        rows = np.flatnonzero(clusters == cluster.cluster)
        away = [np.linalg.norm(X[rows] - X[i], axis=1).sum() for i in rows]
        assert cluster.by_all
        assert cluster.typical == str(rows[int(np.argmin(away))])
    many = np.random.default_rng(0).exponential(size=(5_010, 2))
    large, small = profile(np.arange(5_010) < 9, many, features=many, max_depth=0).clusters
    assert (large.by_all, small.by_all) == (False, True)
    assert large.typical == str(9 + int(np.argmin(((many[9:] - many[9:].mean(axis=0)) ** 2).sum(axis=1))))


def test_the_least_sure_are_so_by_the_simplified_silhouette():
    X, clusters = random_table(4, missing=0)
    means = np.stack([X[clusters == c].mean(axis=0) for c in range(4)])
    distances = np.linalg.norm(X[:, None] - means[None], axis=2)
    own = distances[np.arange(len(X)), clusters]
    distances[np.arange(len(X)), clusters] = np.inf
    other = distances.min(axis=1)
    nearness = (other - own) / np.maximum(other, own)
    for cluster in profile(clusters, X, features=X).clusters:
        rows = [i for i in np.flatnonzero(clusters == cluster.cluster) if str(i) != cluster.typical]
        assert cluster.border == [str(i) for i in sorted(rows, key=nearness.__getitem__)[:3]]
    assert profile(np.zeros(len(X)), X, features=X).clusters[0].border == []


TURN = 2 * np.pi * np.arange(5) / 5


@pytest.mark.parametrize(("typical", "border"), [(0, [1, 5, 4]), (1, [5, 4, 2])])  # not the typical one
def test_at_the_border_are_those_of_least_confidence(typical, border):
    confidence = np.array([1.0, 0.4, 0.6, 1.0, 0.5, 0.4, 0.9, 0.9])
    X = np.full((8, 2), 9.0)  # the others of the first cluster around the typical one
    X[typical], X[np.setdiff1d(np.arange(6), typical)] = 0, np.column_stack([np.cos(TURN), np.sin(TURN)])
    found = profile([0] * 6 + [1] * 2, X, features=X, confidence=confidence)
    assert [cluster.typical for cluster in found.clusters] == [str(typical), "6"]
    assert [cluster.border for cluster in found.clusters] == [list(map(str, border)), []]


def test_wine_in_words():
    found = profile(WINE.target, WINE.data, n_drivers=2)
    assert found.sentences[0] == "Cluster 0 (59 objects, 33%): higher proline and flavanoids (and 9 more)."
    assert [cluster.size for cluster in found.clusters] == [59, 71, 48]
    assert "higher proline" in repr(found)


def mixed(n=200, seed=0):
    """Two clusters that differ in age, card and a date, and not in noise."""
    rng = np.random.default_rng(seed)
    clusters = rng.permutation(np.repeat([0, 1], n // 2))
    days = rng.integers(0, 100, n) + 300 * clusters
    frame = pd.DataFrame(
        {
            "customer": [f"c{i:03}" for i in range(n)],
            "age": rng.normal(40 + 15 * clusters, 5).round(1),
            "card": np.where(rng.random(n) < np.where(clusters == 1, 0.1, 0.8), "yes", "no"),
            "city": np.where(rng.random(n) < np.where(clusters == 1, 0.7, 0.1), "Köln", rng.choice(["Ulm", "Jena"], n)),
            "since": (pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d"),
            "grade": rng.choice(["low", "medium", "high"], n),
            "noise": rng.normal(size=n),
            "one": 5,
            "remark": [f"some text {i * 7919 % n}" for i in range(n)],
        }
    )
    return frame, clusters


def test_kinds_of_variables_and_their_words():
    frame, clusters = mixed()
    found = profile(clusters, frame)
    of_one = found.clusters[1].drivers
    assert "later since" in of_one
    assert "higher age" in of_one
    assert "seldom card" in of_one
    assert "mostly city Köln" in of_one
    assert "noise" not in of_one
    assert "grade" not in of_one
    assert set(found.left_out) == {"customer", "one", "remark"}
    assert all(c.typical.startswith("c") for c in found.clusters)
    rows = {row.variable: row for row in found._rows(1)}
    assert rows["since"].kind == "date"
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", rows["since"].value)
    assert rows["card"].category == "yes"
    assert rows["card"].share == pytest.approx((frame.card[clusters == 1] == "yes").mean())
    assert rows["card"].share_rest == pytest.approx((frame.card[clusters == 0] == "yes").mean())
    assert rows["grade"].kind == "ordered"
    assert rows["grade"].value in ("low", "medium", "high")
    assert rows["age"].median == frame.age[clusters == 1].median()
    assert rows["age"].describes
    assert not rows["noise"].describes


def test_pandas_polars_tables_and_arrays_alike():
    frame, clusters = mixed()
    sentences = profile(clusters, frame).sentences
    assert profile(clusters, pl.from_pandas(frame)).sentences == sentences
    assert profile(clusters, read_table(frame)).sentences == sentences
    of_objects = profile(clusters, frame[["age", "card"]].to_numpy(dtype=object))
    assert of_objects.sentences[1].endswith("higher x0, seldom x1.")
    numbers = WINE.data.to_numpy()
    of_array, of_sparse = profile(WINE.target, numbers), profile(WINE.target, csr_array(numbers))
    assert of_array.sentences == of_sparse.sentences
    assert of_array.sentences[0].startswith("Cluster 0 (59 objects, 33%): higher x12, x6, x0 ")


def test_zeros_and_ones_are_no_and_yes():
    clusters = np.repeat([0, 1], 20)
    frame = pd.DataFrame({"smoker": 1 - clusters, "old": clusters == 1, "x": np.arange(40) % 7 + 0.5})
    frame.loc[0, "x"] = np.nan
    frame.loc[3, "smoker"] = 0
    found = profile(clusters, frame)
    assert found.clusters[1].drivers == "always old, never smoker"
    assert found.clusters[0].drivers == "never old, nearly always smoker"
    assert {row.value for row in found._rows(0)} >= {"1: 95%", "True: 0%"}
    of_array = profile(clusters, np.column_stack([clusters, np.arange(40) % 7]))
    assert of_array.clusters[1].drivers == "always x0"


def test_features_of_the_page_describe_the_clusters():
    labels = np.repeat([0, 1], 10)
    model = KMeansConsensus(2, random_state=0).fit(np.column_stack([labels] * 3))
    for features in (labels + 0.5, csr_array(np.column_stack([labels + 0.5] * 2)), [[x, 3] for x in range(20)]):
        found = report.summarize(model.labels_[:, None], model, features=features)["profile"]
        assert found["n_clusters"] == 2
        assert found["clusters"][0]["drivers"]


def test_frames_are_of_the_library_of_x():
    frame, clusters = mixed()
    assert isinstance(profile(clusters, frame).to_frame(), pd.DataFrame)
    table = profile(clusters, pl.from_pandas(frame)).to_frame()
    assert isinstance(table, pl.DataFrame)
    assert set(table.columns) >= {"cluster", "variable", "effect", "cohens_d", "p_adjusted", "describes"}
    assert len(table) == 2 * 6


def test_a_table_with_decimal_commas(tmp_path):
    path = tmp_path / "messwerte.csv"
    rows = [
        f"P{i};{i // 10},{i % 10};{'ja' if i < 20 else 'nein'};{'' if i % 7 else '3,5'};{1 + i % 3}" for i in range(40)
    ]
    path.write_text("Probe;Wert;aktiv;Rest;Gruppe\n" + "\n".join(rows), encoding="utf-8")
    clusters = np.arange(40) // 20
    found = profile(clusters, read_table(path))
    assert found.clusters[0].drivers == "lower Wert, always aktiv"
    assert found.clusters[1].drivers == "higher Wert, never aktiv"
    assert found.clusters[0].border[0].startswith("P")
    assert found.left_out == {"Probe": "id", "Rest": "constant"}
    assert {row.variable: row.clustered for row in found._rows(0)} == {"Wert": True, "aktiv": True, "Gruppe": False}
    assert found.rules.rules[0] == (0, "Wert ≤ 1.9", 20, 20) or found.rules.rules[0] == (0, "aktiv is ja", 20, 20)


def test_missing_values_are_left_out_and_counted():
    X, clusters = random_table(6, missing=0.3)
    found = profile(clusters, X)
    for c in range(4):
        for row in found._rows(c):
            column = X[:, int(row.variable[1:])]
            assert row.n == (~np.isnan(column[clusters == c])).sum()
            assert row.n + row.n_missing == (clusters == c).sum()


def test_objects_in_no_cluster_are_left_out():
    X, clusters = random_table(7)
    some = clusters.copy()
    some[::5] = -1
    inside = some >= 0
    found, alone = profile(some, X, max_depth=0), profile(some[inside], X[inside], max_depth=0)
    assert found.n_unlabelled == 18
    assert found.n_objects == 90
    for c in range(4):
        assert str(found._rows(c)) == str(alone._rows(c))  # NaN is NaN


def effects(found):
    """By label and variable."""
    return {(c.cluster, r.variable): r.effect for i, c in enumerate(found.clusters) for r in found._rows(i)}


def test_order_of_objects_and_labels_count_for_nothing():
    frame, clusters = mixed()
    found = profile(clusters, frame)
    order = np.random.default_rng(0).permutation(len(frame))
    shuffled = profile(clusters[order], frame.iloc[order].reset_index(drop=True))
    assert shuffled.sentences == found.sentences
    assert [c.typical for c in shuffled.clusters] == [c.typical for c in found.clusters]
    renamed = profile(np.array(["b", "a"])[clusters], frame)
    assert [c.cluster for c in renamed.clusters] == ["a", "b"]
    assert {("ba"[c], v): e for (c, v), e in effects(found).items()} == effects(renamed)


def test_monotone_transformations_leave_delta_and_the_shape_of_the_rules():
    data = WINE.data
    found, other = profile(WINE.target, data), profile(WINE.target, np.exp(data / data.max()) + 1)
    assert effects(found) == effects(other)
    assert [(r.cluster, r.n, r.n_right) for r in found.rules.rules] == [
        (r.cluster, r.n, r.n_right) for r in other.rules.rules
    ]
    assert found.rules.accuracy == other.rules.accuracy
    falling = profile(WINE.target, -data)
    assert {key: -effect for key, effect in effects(falling).items()} == pytest.approx(effects(found))


@pytest.mark.usefixtures("no_figures")
def test_one_cluster_and_constant_columns():
    found = profile([0, 0, 0, 0], pd.DataFrame({"x": [1.5, 2, 3, 4], "same": [1.5] * 4}))
    assert found.sentences == ["Cluster 0 (4 objects, 100%): there is no other cluster to compare it with."]
    assert found.left_out == {"same": "constant"}
    assert found.rules is None
    assert section_of(found, [0, 0, 0, 0]) is not None
    nothing = profile([0, 0, 1, 1], np.ones((4, 2)))
    assert nothing.sentences[0].endswith(": no single variable describes this cluster.")
    assert section_of(nothing, [0, 0, 1, 1]) is None
    assert len(nothing.to_frame()) == 0


def test_nothing_describes_what_was_cut_at_random():
    rng = np.random.default_rng(0)
    found = profile(rng.integers(0, 3, 600), rng.normal(size=(600, 5)))
    assert all(sentence.endswith(": no single variable describes this cluster.") for sentence in found.sentences)
    assert found.rules.balanced_accuracy < 0.45
    assert found.rules.constant_balanced == pytest.approx(1 / 3)


def test_a_model_tells_what_it_clustered_and_how_sure_it_is():
    frame, _ = mixed()
    model = ConsensusClustering(n_clusters=2, random_state=0).fit(frame)
    found = profile(model, frame)
    assert "partitions" in found.border_by
    only_the_typical = np.where(frame.customer == found.clusters[0].typical, 0.0, 1.0)
    doubtful = profile(model, frame, confidence=only_the_typical).clusters[0]
    assert doubtful.typical == found.clusters[0].typical
    assert doubtful.border == []  # who stands for a cluster is not said to be its least certain
    clustered = {row.variable: row.clustered for row in found._rows(0)}
    assert clustered == {"age": True, "card": True, "city": True, "noise": True, "grade": True, "since": False}
    of_0 = np.flatnonzero(model.labels_ == 0)
    least = of_0[np.argmin(model.confidence_[of_0])]
    assert not found.clusters[0].border or found.clusters[0].border[0] == frame.customer[least]
    assert not any("since" in rule.condition for rule in found.rules.rules)
    with pytest.raises(
        TypeError, match=r"^model_or_labels of profile must be a fitted model, or labels\. Got Consensus"
    ):
        profile(ConsensusClustering(), frame)
    assert profile(KMeans(2, random_state=0, n_init=1).fit(WINE.data), WINE.data).border_by.startswith(
        "the objects that are"
    )


def test_parameters_do_what_they_say():
    frame, clusters = mixed()
    found = profile(clusters, frame)
    assert profile(clusters, frame, ids=range(200, 400)).clusters[0].typical.startswith(("2", "3"))
    assert len(profile(clusters, frame, n_drivers=1).clusters[1].drivers.split(",")) == 1
    assert profile(clusters, frame, max_depth=0).rules is None
    assert profile(clusters, frame, max_depth=1).rules.depth == 1
    only = profile(clusters, frame, clustered=["noise"])
    assert [row.variable for row in only._rows(0) if row.clustered] == ["noise"]
    assert all("noise" in rule.condition for rule in only.rules.rules)
    one_line = np.arange(200.0)[:, None]
    middle = [int(np.median(np.flatnonzero(clusters == c))) for c in (0, 1)]
    by_place = profile(clusters, frame, features=one_line)
    assert all(abs(int(c.typical[1:]) - m) <= 2 for c, m in zip(by_place.clusters, middle, strict=True))
    sure = np.ones(200)
    sure[17] = 0.1
    assert profile(clusters, frame, confidence=sure).clusters[clusters[17]].border == ["c017"]
    hard = np.random.default_rng(0).normal(size=(200, 3))
    accuracies = {profile(clusters, hard, random_state=seed).rules.accuracy for seed in range(4)}
    assert len(accuracies) > 1
    assert profile(clusters, frame).sentences == found.sentences


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ids": ["a"]}, r"ids of profile must be one for each of the 200 rows of X\. Got 1"),
        ({"n_drivers": 0}, r"n_drivers of profile must be"),
        ({"max_depth": 9}, r"max_depth of profile must be"),
        ({"random_state": -1}, r"random_state of profile must be"),
        ({"features": [[1.0]]}, r"features of profile must be numbers of shape \(200, d\)"),
        ({"clustered": ["age", "Age"]}, r"clustered of profile must be columns of X\. Got 'Age'\. Its columns are age"),
        (
            {"features": np.full((200, 1), np.nan)},
            r"features of profile must be finite numbers in a column or more\. Got",
        ),
        ({"confidence": [1.0]}, r"confidence of profile must be numbers of shape \(200,\)"),
    ],
)
def test_wrong_parameters_in_one_sentence(arguments, message):
    frame, clusters = mixed()
    with pytest.raises(ValueError, match=message):
        profile(clusters, frame, **arguments)


def test_wrong_shapes_in_one_sentence():
    with pytest.raises(ValueError, match=r"^labels of profile must be one for each of the 3 rows of X\. Got 2"):
        profile([0, 1], np.arange(6.0).reshape(3, 2))
    with pytest.raises(ValueError, match=r"^X of profile must be a table .* Got \[1\.0, 2, 3\]"):
        profile([0, 1, 1], [1.0, 2, 3])


def number_of(text):
    return float(text.replace("−", "-").replace(",", ""))


def holds(condition, frame):
    """Whether a condition of a rule holds, row by row."""
    held = np.ones(len(frame), dtype=bool)
    for part in condition.split(" and "):
        between = re.fullmatch(r"(\S+) < (\w+) ≤ (\S+)", part)
        above = re.fullmatch(r"(\w+) > (\S+)", part)
        below = re.fullmatch(r"(\w+) ≤ (\S+)", part)
        value = re.fullmatch(r"(\w+) is (not )?(\S+)", part)
        if between:
            held &= (frame[between[2]] > number_of(between[1])) & (frame[between[2]] <= number_of(between[3]))
        elif above:
            held &= frame[above[1]] > number_of(above[2])
        elif below:
            held &= frame[below[1]] <= number_of(below[2])
        else:
            held &= (frame[value[1]] == value[3]) != bool(value[2])
    return held


@pytest.mark.parametrize("seed", range(4))
def test_rules_hold_as_they_are_written(seed):
    frame, clusters = mixed(seed=seed)
    three = np.where(frame["noise"] > 0.7, 2, clusters)
    used = frame[["age", "card", "city", "noise"]]
    rules = profile(three, used).rules
    held = np.stack([holds(rule.condition, used) for rule in rules.rules])
    assert (held.sum(axis=0) == 1).all()  # each object falls into one leaf
    for rule, rows in zip(rules.rules, held, strict=True):
        assert rule.n == rows.sum()
        assert rule.n_right == (three[rows] == rule.cluster).sum()
    assert 0.8 < rules.accuracy <= 1
    assert rules.n_objects == 200


def test_rules_say_where_missing_values_go():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    clusters = (x > 0).astype(int)
    frame = pd.DataFrame({"x": np.where(rng.random(300) < 0.2, np.nan, x), "kind": rng.choice(["a", "b", "c"], 300)})
    rules = profile(clusters, frame, max_depth=1).rules
    assert sum("or missing" in rule.condition for rule in rules.rules) == 1
    gaps = np.isnan(frame.x)
    only_gaps = profile(gaps.astype(int), frame, max_depth=1).rules
    assert {rule.condition for rule in only_gaps.rules} == {"x is known", "x is missing"}


@pytest.mark.parametrize(
    ("k", "said"), [(2, None), (3, "No rule names cluster 2."), (4, "No rule names clusters 2 and 3.")]
)
def test_the_page_says_which_clusters_no_rule_names(k, said):
    clusters = np.repeat(np.arange(4), [60, 60, 3, 3])
    clusters = clusters[clusters < k]
    frame = pd.DataFrame({"x": np.where(clusters == 0, 0.0, 5.0) + np.linspace(0, 1, len(clusters))})
    section = section_of(profile(clusters, frame, max_depth=1), clusters)
    (note,) = [
        table.sentences[0] for part in section.walk() for table in part.tables if table.title.startswith("Rules")
    ]
    assert note.endswith(said) if said else "No rule" not in note


def test_rules_of_many_objects_are_made_of_some(monkeypatch):
    limit(monkeypatch, "objects of the rules", 100)
    assert profile(WINE.target, WINE.data).rules.n_objects == 100
    limit(monkeypatch, "variables of the rules", 2)
    rules = profile(WINE.target, WINE.data).rules.rules
    assert len({name for rule in rules for name in WINE.feature_names if name in rule.condition.split()}) <= 2


def wide(n=60, m=300, seed=0):
    rng = np.random.default_rng(seed)
    clusters = np.repeat([0, 1, 2], n // 3)
    X = rng.normal(size=(n, m))
    for c in range(3):
        X[clusters == c, 10 * c : 10 * c + 5] += 3
    return pd.DataFrame(X, columns=[f"gene{j}" for j in range(m)]), clusters


@pytest.mark.usefixtures("no_figures")
def test_markers_of_wide_data():
    frame, clusters = wide()
    found = profile(clusters, frame)
    assert found.is_wide
    markers = found.markers(5)
    for c in range(3):
        assert set(markers.variable[markers.cluster == c]) == {f"gene{j}" for j in range(10 * c, 10 * c + 5)}
    assert (markers.p_adjusted < 0.05).all()
    assert (markers.effect > 0).all()
    section = section_of(found, clusters)
    table = next(table for table in section.tables if table.title == "Markers")
    assert "too small by construction" in table.sentences[0]
    assert [row[1] for row in table.rows[:5]] == markers.variable[:5].tolist()


def test_figures_draw_what_the_record_holds():
    frame, clusters = mixed()
    found = profile(clusters, frame)
    ax = found.plot()
    drawn = np.asarray(ax.images[0].get_array())
    names = [text.get_text() for text in ax.get_yticklabels()]
    values, yes = frame.age.to_numpy(), (frame.card == "yes").to_numpy()
    for c in (0, 1):
        expected = (values[clusters == c].mean() - values.mean()) / values.std()
        assert drawn[names.index("age"), c] == pytest.approx(expected, abs=1e-3)
        expected = (yes[clusters == c].mean() - yes.mean()) / yes.std()
        assert drawn[names.index("card: yes"), c] == pytest.approx(expected, abs=1e-3)
    axes = found.plot("variables")
    assert len(axes) == 6
    titles = [ax.get_title(loc="left") for ax in axes]
    box = axes[titles.index("age")].patches[0]
    low, high = np.quantile(values[clusters == 0], [0.25, 0.75])
    assert (box.get_y(), box.get_y() + box.get_height()) == pytest.approx((low, high), rel=1e-4)
    stacked = axes[titles.index("card")]
    assert [text.get_text() for text in stacked.get_legend().get_texts()] == ["no", "yes"]
    bars = [bar.get_height() for bar in stacked.patches[2:4]]
    assert bars == pytest.approx([yes[clusters == c].mean() for c in (0, 1)], rel=1e-4)
    with pytest.raises(ValueError, match=r"kind of Profile\.plot must be"):
        found.plot("pie")
    assert found.plot(ax=plotting.cluster_sizes([1])).get_xlabel() == "cluster"


def test_heat_map_says_above_and_below_without_colours():
    ax = plotting.profile_heat_map([[1.26, -0.51, 0.04], [np.nan, 2.5, -2.5]], ["a", "b"])
    assert [text.get_text() for text in ax.texts] == ["+1.3", "−0.5", "0", "+2.5", "−2.5"]
    many = plotting.profile_heat_map(np.linspace(-1, 1, 20)[None], ["a"])
    assert {text.get_text() for text in many.texts} == {"+", "−"}


def test_wrong_figures_in_one_sentence():
    with pytest.raises(ValueError, match=r"variables of profile_heat_map must be 1 entries\. Got 2"):
        plotting.profile_heat_map([[1.0]], ["a", "b"])


HOSTILE = "<script>alert('x')</script>&\"$\\frac{$"


def hostile():
    frame, _ = mixed()
    frame = frame.rename(columns={"age": HOSTILE, "card": "b<i>"})
    frame["city"] = frame["city"].replace("Köln", "<img src=x onerror=y>")
    frame["customer"] = [f"<b>{i}" for i in range(len(frame))]
    return frame


def test_no_text_of_the_data_becomes_html():
    frame = hostile()
    model = ConsensusClustering(n_clusters=2, random_state=0).fit(frame)
    found = profile(model, frame)
    page = report.render(report.summarize(model.ensemble_, model, profile=found))
    html = found._repr_html_()
    # The page's own scripts end where they should: what is left of the page has no element of the data.
    for text in (re.sub(r"<script\b.*?</script>", "", page, flags=re.DOTALL), html):
        for tag in ("<script", "</script", "<img", "<b>", "<i>"):
            assert tag not in text
        assert "&lt;img src=x onerror=y&gt;" in text
        assert "alert(" in text


def test_the_page_is_made_of_the_summary_alone():
    frame, _ = mixed()
    model = ConsensusClustering(n_clusters=2, random_state=0).fit(frame)
    found = profile(model, frame)
    summary = report.summarize(model.ensemble_, model, profile=found, ids=frame.customer)
    again = json.loads(json.dumps(summary, allow_nan=False))
    page = report.render(summary)
    assert report.render(again) == page
    assert page.index("The answer") < page.index("The clusters and what describes them")
    assert "Not used to find the clusters: since." in page
    for cluster in found.clusters:
        assert cluster.typical in page
    with pytest.raises(TypeError, match=r"profile of report must be what ensemblage\.profile returned\. Got 5"):
        report.summarize(model.ensemble_, model, profile=5)
    assert report.summarize(model.ensemble_, model)["profile"] is None


@pytest.mark.usefixtures("no_figures")
def test_without_ids_the_section_has_no_objects(tmp_path):
    frame, clusters = mixed()
    summary = summary_of(profile(clusters, frame), clusters)
    with_ids, without = (
        find(
            report.build(summary, path=tmp_path / "r.html", include_objects=objects).read_text(encoding="utf-8"), TITLE
        )
        for objects in (True, False)
    )
    for section, found in ((with_ids, True), (without, False)):
        cells = [cell for table in section.tables for row in table.rows for cell in row]
        assert any(re.search(r"c\d\d\d", cell) for cell in cells) == found


@pytest.mark.usefixtures("no_figures")
def test_many_clusters_are_in_a_table_and_some_in_figures():
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(250), 3)
    X = rng.normal(size=(750, 3)) + clusters[:, None]
    summary = summary_of(profile(clusters, X), clusters)
    shown, section = summary["profile"], find(report.render(summary), TITLE)
    words = next(table for table in section.tables if table.title == "Each cluster in words")
    assert len(words.rows) == 200
    assert "The first 200 of 250." in words.sentences[0]
    assert len(shown["heat_map"]["clusters"]) == 40


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (1065.0, "1,065"), (12.345678, "12.35"), (-0.5, "−0.5"), (123456.7, "123,457"),
        (0.001234, "0.001234"),
        (1e-9, "1e-09"), (1e20, "1e+20"), (float("nan"), "–"), (float("inf"), "inf"), (2.0, "2"),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(value, text):
    rows = rows_of(profile([0, 0, 1, 1], pd.DataFrame({"x": [value, value, 3.0, 4.0]}), max_depth=0))
    assert rows[0, "x"].value == text


@pytest.mark.parametrize(("low", "high", "text"), [
    (12.745, 12.755, "12.75"), (-1234568, -1234566, "−1,234,567"), (-0.2, 0, "−0.1"),
])  # fmt: skip
def test_thresholds_have_all_their_digits(low, high, text):
    found = profile(np.repeat([0, 1], 20), pd.DataFrame({"x": np.repeat([low, high], 20).astype(float)}))
    assert {rule.condition for rule in found.rules.rules} == {f"x ≤ {text}", f"x > {text}"}


def test_words():
    clusters, yes = np.repeat(np.arange(6), 1000), np.zeros(6000)
    for c, n in enumerate((0, 1, 500, 999, 1000)):
        yes[1000 * c : 1000 * c + n] = 1
    yes[5000:] = np.nan
    rows = rows_of(profile(clusters, pd.DataFrame({"x": yes}), max_depth=0))
    shares = [rows[c, "x"].value.split(": ")[1] for c in range(6)]
    assert shares == ["0%", "<1%", "50%", ">99%", "100%", "–"]
    half = np.repeat([0, 1], 20)
    signs = {"a": 1, "b": -1, "c": 1, "d": 1, "e": -1}
    frame = pd.DataFrame({name: sign * (3 + 2 * np.roll(half, i)) for i, (name, sign) in enumerate(signs.items())})
    drivers = [cluster.drivers for cluster in profile(half, frame, n_drivers=3).clusters]
    assert drivers[1] == "higher a and c, lower b (and 2 more)"
    assert profile(half, frame[["a"]] * 0 + np.tile([[1], [2]], (20, 1))).clusters[0].drivers == ""


@pytest.mark.parametrize("kind", ["category", "number"])
def test_clusters_that_are_one_column_again_are_told(kind, tmp_path):
    names = ["rot", "grün", "blau"] if kind == "category" else [3, 7, 5]
    frame = pd.DataFrame({"größe": [i * 37 % 47 for i in range(60)], "farbe": [names[i % 3] for i in range(60)]})
    clusters = np.arange(60) % 3
    sentence = "Clusters 0–2 are the same as the values of “farbe”."
    for labels in (clusters, (clusters + 1) % 3):
        assert ensemblage.profile(labels, frame).same_as == ["farbe"]
    gaps = frame.assign(farbe=frame["farbe"].where(frame.index > 4))
    assert ensemblage.profile(clusters, gaps).same_as == ["farbe"]
    moved = clusters.copy()
    moved[7] = 0
    assert ensemblage.profile(moved, frame).same_as == []
    assert ensemblage.profile(clusters // 2, frame).same_as == []  # two clusters of three values
    assert ensemblage.profile(clusters + 3 * (np.arange(60) > 30), frame).same_as == []  # six of three
    assert ensemblage.profile(np.zeros(60), frame).same_as == []
    assert (
        ensemblage.profile(np.arange(60), pd.DataFrame({"a": np.arange(60.0)})).same_as == []
    )  # nothing is put together
    two = ensemblage.profile(np.array(["a", "b"])[clusters // 2], frame.assign(x=clusters // 2))
    assert summary_of(two, clusters // 2)["profile"]["same_as"] == "Clusters a and b are the same as the values of “x”."
    assert summary_of(ensemblage.profile(clusters, frame), clusters)["profile"]["same_as"] == sentence
    if kind == "category":
        path = tmp_path / "t.csv"
        frame.to_csv(path, index=False)
        options = [
            "-k",
            "3",
            "--stability",
            "0",
            "--categories",
            "member",
            "--category-weight",
            "50",
            "--quality",
            "fast",
        ]
        done = CliRunner().invoke(main, ["run", str(path), *options, "-o", f"{tmp_path}/out"])
        assert f"the same    {sentence}" in done.stdout
        page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
        assert sentence in page
